/* cover_picture.h: what the files that make the finished picture share. Read qp_cover_derive()
 * first. */
#ifndef QP_MODEL_COVER_PICTURE_H
#define QP_MODEL_COVER_PICTURE_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/adjust.h"
#include "model/cover.h"
#include "model/cover_paths.h"
#include "model/flow.h"

/* A method of the set that has a place in the picture. */
typedef struct {
    const qp_cover_method *method;
    const char *path;    /* as shown */
    uint32_t first_line; /* 0: no line table */
} qp_cover_member;

struct qp_cover_private {
    qp_cover cover; /* what the caller sees */
    qp_arena arena;
    qp_buf files, dirs, warnings;
};

/* Making a picture. */
typedef struct {
    struct qp_cover_private *own;
    const qp_cover_set *set;
    const qp_cover_options *o;
    qp_arena arena;           /* until the picture is finished */
    qp_cover_member *members; /* by path, first line, name, line table: what is equal adds up */
    size_t n_members;
    uint32_t none;      /* context of the set that is no context; n_contexts: not among them */
    uint32_t *contexts; /* [set->n_contexts + 1] index in the picture */
    bool *is_chosen;    /* [set->n_contexts + 1] */
    bool is_all_chosen;
    bool has_contexts; /* touches are wanted */
    qp_paths paths;
    qp_adjust *adjustments; /* of the adjustments file; NULL: none */
    qp_adjust *markers;     /* of the sources; NULL: not heeded */
    const char **names;     /* [adjustments->n_files] their paths, as shown */
    size_t n_unread;        /* sources that could not be read, the first of them */
    const char *unread[3];
} qp_cover_making;

/* A touch that does not know its line's index yet. */
typedef struct {
    uint32_t line, context;
    uint64_t count;
} qp_cover_hit;

/* A file while it is made. */
typedef struct {
    qp_cover_making *making;
    qp_buf functions; /* qp_cover_function */
    qp_buf blocks;    /* qp_cover_block, by function, then by index */
    qp_buf branches;  /* qp_cover_branch, by function, then by block and way */
    qp_buf hits;      /* qp_cover_hit */
} qp_cover_draft;

/* cover_function.c: add the function that these members are. @return false: no memory */
bool qp_cover_draw_function(qp_cover_draft *d, const qp_cover_member *members, size_t n);

/* By line, then by context. */
int qp_cover_compare_hits(const void *a, const void *b);

/* cover_lines.c: the lines of a file, from its blocks. @return false: no memory */
bool qp_cover_draw_lines(qp_cover_draft *d, qp_cover_file *f, qp_cover_line **lines);

/* cover_marks.c: adjustments. The first reads the adjustments file, the second marks the lines of
 * a file, the third gives everything back and warns. @return false: no memory */
bool qp_cover_marks_begin(qp_cover_making *x);
bool qp_cover_mark_file(qp_cover_making *x, const qp_cover_file *f, qp_cover_line *lines);
bool qp_cover_marks_end(qp_cover_making *x, bool is_ok);

/* Say something about the picture. @return false: no memory */
bool qp_cover_warn(qp_cover_making *x, char *text);

/* cover_totals.c: what follows from the marks of its lines. */
void qp_cover_total_file(const qp_cover_making *x, qp_cover_file *f, qp_cover_line *lines,
                         qp_cover_function *functions);

/* cover_dirs.c: the folders of the files, and totals. @return false: no memory */
bool qp_cover_draw_dirs(struct qp_cover_private *own);

static inline uint64_t qp_cover_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
