/* merge_parts.h: what the files that merge profiles share. */
#ifndef QP_MODEL_MERGE_PARTS_H
#define QP_MODEL_MERGE_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/dict.h"
#include "model/banks.h"
#include "model/charge.h"
#include "model/merge.h"

enum { QP_MERGE_NONE = UINT32_MAX, QP_MERGE_N_PROPERTIES = 7 };

typedef struct {
    uint64_t id; /* of a placeholder */
    uint32_t flags;
    const char *name, *class_name, *file, *module;
    const qp_line *lines; /* [n_blocks] */
    uint32_t n_blocks;
    const qp_jumps *jumps;
    uint32_t next_same; /* a method whose identity has the same hash: index + 1; 0: none */
} qp_merge_method;

typedef struct {
    const char *name;
    qp_thread_record sums;         /* the terms of the accounting identity, n_lives, n_deep */
    uint32_t root;                 /* node */
    uint32_t last_node, last_bank; /* the newest ones, whose `before` leads to the others */
} qp_merge_thread;

/* A call path, or the root of a thread. */
typedef struct {
    uint32_t parent, method;
    uint32_t before; /* the thread's node added before this one; the root has itself */
    uint32_t number; /* while it is written */
    uint64_t hits, skips, counts, interrupts;
    uint64_t self; /* units of the sum: ns, counts, ... */
    uint64_t min,
        max; /* exact: of one call; sampled: max are samples; adaptive: lower and upper
                        * half of the variance of whole times */
} qp_merge_node;

typedef enum {
    QP_MERGE_BLOCKS,
    QP_MERGE_JUMPS,
    QP_MERGE_TIMES,
    QP_MERGE_BANK_KINDS
} qp_merge_kind;

typedef struct {
    uint32_t method;
    uint32_t before; /* the thread's bank added before this one; QP_MERGE_NONE: none */
    qp_merge_kind kind;
    uint32_t n_values;
    uint64_t *values;
} qp_merge_bank;

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
    QP_MERGE_PATTERN, /* behind the others: of the PC command, in which all agree */
    QP_MERGE_N_TEXTS
} qp_merge_head_text;

struct qp_merge {
    qp_arena arena;
    qp_head head;                                  /* of the sum, without texts and times */
    const char *first;                             /* name of the first profile, for messages */
    const char *properties[QP_MERGE_N_PROPERTIES]; /* in which all must agree with it */
    const char *texts_kept[QP_MERGE_N_TEXTS];
    char pc_command[QP_CHARGE_COMMAND_BYTES]; /* of all runs that have one; "": none so far */
    uint64_t wall, stopped;
    size_t n_runs;
    qp_buf methods, threads, nodes, banks, contexts, shares, texts; /* contexts: const char * */
    qp_buf notes;                                                   /* qp_run_note */
    qp_dict method_of;                      /* hash of identity: index + 1 */
    qp_dict thread_of, context_of, text_of; /* hash of the name, or path: index + 1 */
    qp_dict child_of;                       /* parent << 32 | method: node */
    qp_dict bank_of[QP_MERGE_BANK_KINDS];   /* thread << 32 | method: index + 1 */
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

/* The index that a name has in a table. Two names of one hash: the second is taken for new each
 * time. @return QP_MERGE_NONE: it has none */
uint32_t qp_merge_named(const qp_dict *table, const qp_buf *items, size_t name_at,
                        const char *name);

/* merge_head.c: compare with the profiles before. @return false: see error */
bool qp_merge_agrees(const qp_merge *s, const qp_model *m, const char *what, bool is_forced,
                     char error[QP_ERROR_BYTES]);
void qp_merge_add_head(qp_merge *s, const qp_model *m, const char *what);

/* merge_tree.c, merge_banks.c. @return false: no memory */
bool qp_merge_add_methods(qp_merge_addition *x);
bool qp_merge_add_threads(qp_merge_addition *x);
bool qp_merge_add_nodes(qp_merge_addition *x);
bool qp_merge_add_banks(qp_merge_addition *x);
bool qp_merge_add_contexts(qp_merge_addition *x);
bool qp_merge_add_texts(qp_merge_addition *x);

#endif
