/* diff.h: what the files of a comparison share: diff.c adds runs, diff_rows.c makes rows of them. */
#ifndef QP_MODEL_COMBINE_DIFF_H
#define QP_MODEL_COMBINE_DIFF_H

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "model/combine/combine.h"

/* A row of one run. */
typedef struct qp_diff_sample {
    struct qp_diff_sample *next;
    qp_diff_side side;
    uint32_t run;
    uint64_t figures[QP_DIFF_MEASURES];
    double self_variance, total_variance; /* of estimates */
} qp_diff_sample;

/* What is compared under one name. Of a function, in the run added last. */
typedef struct {
    const char *name, *module, *file;
    uint32_t line, next;   /* next: of the same hash; of functions not used */
    uint64_t shape, calls; /* of functions, see qp_pair_item */
} qp_diff_identity;

typedef struct {
    uint32_t identity, parent;
    bool has_hidden;
    qp_diff_sample *samples; /* the newest first */
} qp_diff_entry;

struct qp_diff_private {
    qp_diff diff;
    bool ignores_system, is_estimated;
    char unit[16], clock[32];        /* of all runs; "": none was added yet */
    qp_arena arena;                  /* texts and samples */
    qp_buf identities;               /* identity; 0 is the whole run's */
    qp_buf entries;                  /* entry; 0 is the whole run */
    qp_buf groups;                   /* group */
    qp_dict by_name;                 /* hash of an identity -> the newest one with it */
    qp_dict by_stem;                 /* hash of a group -> the newest one with it, + 1 */
    qp_dict by_path;                 /* parent entry, identity -> entry */
    uint32_t *newest[QP_DIFF_SIDES]; /* identity of each method of the newest run; NULL: none */
};

/* Of the estimate that a figure of a run is; 0: it is exact. */
double qp_diff_variance(const qp_diff_sample *s, qp_diff_measure measure);

#endif
