/* cover_paths.h: one spelling for each file. */
#ifndef QP_MODEL_COVER_PATHS_H
#define QP_MODEL_COVER_PATHS_H

#include "base/arena.h"
#include "model/model.h"

typedef struct {
    char *folder; /* the current one, absolute */
    char *root;   /* what paths are relative to, absolute */
} qp_paths;

/* @param root  NULL: the current folder @return false: no memory */
bool qp_paths_init(qp_paths *p, qp_arena *arena, const char *root);

/* A path as it is shown: '/' only, no '.', '//' nor '..', relative to the root if it lies below
 * it, else absolute. A relative path belongs to the current folder or, where that is outside the
 * root, to the root; if it begins with '..', to the current folder alone. A name in brackets, such as [string "a/b"], is no path and stays as it is.
 * @param is_inside  receives: it lies below the root @return NULL: no memory */
char *qp_paths_show(const qp_paths *p, qp_arena *arena, const char *path, bool *is_inside);

/* By bytes, with '/' before all others: what lies in a folder stands together. */
int qp_paths_compare(const char *a, const char *b);

/* Bytes of the folder part of a path, without the '/' behind it; 0: none. */
size_t qp_paths_folder(const char *path);

#endif
