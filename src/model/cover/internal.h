/* internal.h: shared by the files that make the coverage report. Start reading at
 * qp_cover_derive(). */
#ifndef QP_MODEL_COVER_INTERNAL_H
#define QP_MODEL_COVER_INTERNAL_H

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "model/cover/cover.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

/* A method of the set that is in the report. */
typedef struct {
    const qp_cover_method *method;
    const char *path;               /* as shown */
    uint32_t first_line, last_line; /* of its line table; 0: none */
} qp_cover_member;

struct qp_cover_private {
    qp_cover cover; /* what the caller sees */
    qp_arena arena;
    qp_buf files, dirs, warnings;
};

/* A report while it is made. */
typedef struct {
    struct qp_cover_private *own;
    const qp_cover_set *set;
    const qp_cover_options *o;
    qp_arena arena;           /* until the report is finished */
    qp_cover_member *members; /* by path, first line, name, line table: what is equal adds up */
    size_t n_members;
    uint32_t none;      /* context of the set that is no context; n_contexts: not among them */
    uint32_t *contexts; /* [set->n_contexts + 1] index in the report */
    bool *is_chosen;    /* [set->n_contexts + 1] */
    bool is_all_chosen;
    bool has_contexts; /* touches are wanted */
    qp_paths paths;
    qp_adjust *adjustments; /* of the adjustments file; NULL: none */
    qp_adjust *markers;     /* of the sources; NULL: ignored */
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

/* Add the function that these members make up. @return false: no memory */
bool qp_cover_draw_function(qp_cover_draft *d, const qp_cover_member *members, size_t n);

/* Make the lines of a file from its blocks. @return false: no memory */
bool qp_cover_draw_lines(qp_cover_draft *d, qp_cover_file *f, qp_cover_line **lines);

/* Fill the totals of a file and of its functions, whose lines are annotated. */
void qp_cover_total_file(const qp_cover_making *x, qp_cover_file *f, qp_cover_line *lines,
                         qp_cover_function *functions);

#endif
