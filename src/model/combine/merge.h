/* merge.h: the sum of profiles, for the files that merge them. */
#ifndef QP_MODEL_COMBINE_MERGE_H
#define QP_MODEL_COMBINE_MERGE_H

#include <stdint.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "format/builder.h"
#include "model/combine/combine.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

enum { QP_MERGE_N_PROPERTIES = 7 };

typedef struct {
    qp_builder_code code; /* id: of a placeholder */
    uint32_t next_same;   /* a method whose identity has the same hash: index + 1; 0: none */
    uint32_t number;      /* while it is written; 0: it is left out */
} qp_merge_method;

/* Of one name and one creator in all runs. */
typedef struct {
    const char *name;
    uint32_t creator;               /* node + 1; 0: none */
    uint32_t creator_thread;        /* that it is in; its number is smaller */
    qp_thread_record sums;          /* the terms of the accounting identity, n_lives, n_deep */
    uint32_t root;                  /* node */
    uint32_t last_node, last_block; /* the newest ones, whose `before` leads to the others */
} qp_merge_thread;

/* Waits of a path for a lock. */
typedef struct qp_merge_wait {
    struct qp_merge_wait *next;
    const char *lock;
    uint32_t holder; /* node + 1; 0: not known */
    uint64_t n, ns, longest_ns;
} qp_merge_wait;

/* A call path, or the root of a thread. */
typedef struct {
    uint32_t parent, method;
    uint32_t before; /* the thread's node added before this one; the root has itself */
    uint32_t thread; /* index */
    uint32_t number; /* while it is written; before: whether it is, see write_nodes() */
    uint64_t hits, skips, resumes, counts, pc_samples;
    qp_memory memory;
    qp_node_values *values;      /* NULL: none */
    struct qp_merge_wait *waits; /* newest first; NULL: none */
    qp_node_requests *requests;  /* NULL: none */
    uint64_t self, off;          /* units of the sum: ns, counts, ... */
    uint64_t min,
        max; /* exact: of one call; sampled: max are samples; adaptive: lower and upper
                        * half of the variance of whole times */
} qp_merge_node;

typedef enum {
    QP_MERGE_BLOCKS,
    QP_MERGE_JUMPS,
    QP_MERGE_TIMES,
    QP_MERGE_SAMPLES,
    QP_MERGE_MEMORY,
    QP_MERGE_KINDS
} qp_merge_kind;

typedef struct {
    uint32_t method, thread;
    uint32_t before; /* the thread's counter block added before this one; QP_MERGE_NONE: none */
    qp_merge_kind kind;
    uint32_t n_values;
    uint64_t *values;
} qp_merge_counter_block;

typedef struct {
    uint32_t method, context;
    uint32_t n_values; /* 0: calls only */
    int64_t calls;
    uint64_t *values; /* signed, modulo 2^64 */
} qp_merge_share;

typedef struct {
    const char *path;
    uint64_t digest, n_bytes; /* 0: not known, or several */
} qp_merge_text;

/* Texts of a run that the sum keeps. */
typedef enum {
    QP_MERGE_PROGRAM,
    QP_MERGE_OPTIONS,
    QP_MERGE_HOST,
    QP_MERGE_MODULE,
    QP_MERGE_LABEL,
    QP_MERGE_VERSION,
    QP_MERGE_SCRIPT,
    QP_MERGE_ARGUMENTS,
    QP_MERGE_FOLDER,
    QP_MERGE_HOST_VERSION,
    QP_MERGE_LABELS,  /* the values of all runs: qp_labels_join() */
    QP_MERGE_PATTERN, /* last: of the PC command, in which all agree */
    QP_MERGE_N_TEXTS
} qp_merge_head_text;

struct qp_merge {
    qp_arena arena;
    qp_head head;                                  /* of the sum, without texts and times */
    const char *first;                             /* name of the first profile, for messages */
    const char *properties[QP_MERGE_N_PROPERTIES]; /* in which all must agree with it */
    const char *texts_kept[QP_MERGE_N_TEXTS];
    char pc_command
        [QP_ATTRIBUTION_COMMAND_BYTES]; /* of all runs that have one; "": none so far */
    uint64_t wall, stopped;
    size_t n_runs;
    qp_buf methods, threads, nodes, counter_blocks, contexts, shares,
        texts;                         /* contexts: const char * */
    qp_buf notes;                      /* qp_run_note */
    qp_run_metric metrics[QP_METRICS]; /* without their sums */
    unsigned n_metrics;
    qp_dict method_of;                      /* hash of identity: index + 1 */
    qp_dict thread_of, context_of, text_of; /* hash of the name, or path: index + 1 */
    qp_dict child_of;                       /* parent << 32 | method: node */
    qp_dict block_of[QP_MERGE_KINDS];       /* thread << 32 | method: index + 1 */
    qp_dict share_of;                       /* context << 32 | method: index + 1 */
    bool is_spoilt;                         /* no memory: something is missing */
};

/* A profile that is being added. */
typedef struct {
    qp_merge *s;
    const qp_model *m;
    uint32_t *methods, *threads; /* [m->n_methods], [m->n_threads]: indices of the sum */
    uint32_t *nodes;             /* [m->n_nodes] */
    uint32_t *contexts;          /* [m->own->n_contexts] */
} qp_merge_addition;

#define QP_MERGE_AT(buf, type, i) ((type *)(buf).items + (i))

static inline uint64_t qp_merge_key(uint32_t above, uint32_t below)
{
    return (uint64_t)above << 32 | below;
}

/* The index + 1 of the text of a source; 0: none, and *hash is free for it. */
static inline uint32_t qp_merge_text_of(const qp_merge *s, const char *path, uint64_t *hash)
{
    return qp_find_named(&s->text_of, &s->texts, offsetof(qp_merge_text, path), path, hash);
}

/* A method of the sum that is the same, or a new one. @return index; QP_MERGE_NONE: no memory */
uint32_t qp_merge_method_like(qp_merge *s, const qp_model_method *k, const qp_jumps *jumps);
/* A thread of this name. @param creator  node of the sum + 1, of creator_thread; 0: none
 * @return the same */
uint32_t qp_merge_thread_named(qp_merge *s, const char *name, uint32_t creator,
                               uint32_t creator_thread);
/* The call path of a method below another path. @return the same */
uint32_t qp_merge_node_below(qp_merge *s, uint32_t parent, uint32_t method);

/* The counter block of the sum; it is made if there is none. NULL: no memory. */
qp_merge_counter_block *qp_merge_block_of(qp_merge *s, uint32_t thread, uint32_t method,
                                          qp_merge_kind kind, uint32_t n_values);

/* Add to a number of 128 bits, which stays at the largest one. */
void qp_variance_add(uint64_t *low, uint64_t *high, uint64_t more_low, uint64_t more_high);

/* Add the records of one kind. @return false: no memory */
bool qp_merge_add_methods(qp_merge_addition *x);
bool qp_merge_add_threads(qp_merge_addition *x); /* with their call paths */
bool qp_merge_add_requests(qp_merge_addition *x);
bool qp_merge_add_metrics(qp_merge_addition *x);
bool qp_merge_add_lock_waits(qp_merge_addition *x);
bool qp_merge_add_counter_blocks(qp_merge_addition *x);
bool qp_merge_add_contexts(qp_merge_addition *x);
bool qp_merge_add_texts(qp_merge_addition *x);

/* ---- origins ----------------------------------------------------------------------------- */

enum { QP_ORIGIN_BYTES = 8192 };

/* A run. NULL or "": not known. */
typedef struct {
    const char *what; /* file name */
    const char *program, *label, *options;
    const char *state;   /* how it ended, if not properly */
    uint64_t started_at; /* ns since 1970; 0: not known */
    uint64_t pid;        /* 0: not known */
} qp_origin;

/* "merged from a.qprof (program, process 17, started 2026-01-02 03:04:05 UTC)". @return to */
char *qp_origin_text(char to[QP_ORIGIN_BYTES], const qp_origin *o);

/* What the runs have in common: their one text, or the word for several of them.
 * @param known  NULL: this is the first run's */
const char *qp_origin_common(const char *known, const char *text, const char *several);

#endif
