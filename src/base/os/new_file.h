/* new_file.h: writing a file whole or not at all. */
#ifndef QP_BASE_OS_NEW_FILE_H
#define QP_BASE_OS_NEW_FILE_H

#include <stdbool.h>

#include "base/text/out.h"

enum { QP_NEW_FILE_PATH_BYTES = 4096 };

/* 72 KiB: not on the stack. */
typedef struct {
    qp_out out; /* write here; errors are found by qp_new_file_end() */
    char path[QP_NEW_FILE_PATH_BYTES];
    char temporary[QP_NEW_FILE_PATH_BYTES]; /* next to it; "": it has no name yet */
} qp_new_file;

/* Begin a file that appears at `path` when it is complete. A directory, a device or a symbolic link
 * that is there is refused; a plain file will be replaced.
 * @param why  receives what is wrong, static text
 * @return false: see why; nothing is left */
bool qp_new_file_begin(qp_new_file *s, const char *path, const char **why);

/* Let only its owner read it, as the recorder does with profiles. */
void qp_new_file_hide(qp_new_file *s);

/* The file is complete. @return false: see why; nothing is left, and what was there before stays */
bool qp_new_file_end(qp_new_file *s, const char **why);

/* Drop the file: nothing is left, and what was there before stays. */
void qp_new_file_drop(qp_new_file *s);

#endif
