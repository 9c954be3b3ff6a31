/* private.h: what the files of this room share while a profile is loaded. */
#ifndef QP_MODEL_PRIVATE_H
#define QP_MODEL_PRIVATE_H

#include "base/buf.h"
#include "model/image.h"
#include "model/model.h"

/* What salvage may find missing, with the line that says so. */
#define QP_LOSSES(X)                                                                           \
    X(end, "bytes missing at the end of the file")                                             \
    X(nonce, "file identities repaired")                                                       \
    X(stretches, "damaged stretches skipped")                                                  \
    X(extents, "extents with a damaged length")                                                \
    X(methods, "methods that could not be read")                                               \
    X(texts, "texts that could not be read")                                                   \
    X(tables, "line tables that could not be read")                                            \
    X(threads, "threads that could not be read")                                               \
    X(nodes, "call paths that could not be read")                                              \
    X(orphans, "call paths that lost their callers and stand directly below their thread")     \
    X(more, "call paths whose skips, counts and samples could not be read")                    \
    X(stacks, "threads whose open frames could not all be read")                               \
    X(banks, "counters of blocks that could not be read")                                      \
    X(notes, "annotations that could not be read")                                             \
    X(marks, "marks and counts of events that could not be read")                              \
    X(contexts, "contexts that could not be read")                                             \
    X(shares, "counters of contexts that could not be read")                                   \
    X(sources, "digests of source files that could not be read")

typedef enum {
#define QP_X(name, text) QP_LOSS_##name,
    QP_LOSSES(QP_X)
#undef QP_X
        QP_LOSS_COUNT
} qp_loss;

/* An extent that could be read. */
typedef struct {
    qp_cell cell, owner;
    uint32_t kind;
    uint32_t n_used;  /* cells behind the header that may be looked at */
    uint32_t n_cells; /* with the header, as far as they are there */
} qp_span;

/* What a cell holds: two bits of kind above an index. */
typedef enum { QP_TAG_METHOD = 1, QP_TAG_THREAD, QP_TAG_NODE } qp_tag;
enum { QP_TAG_SHIFT = 30 };

/* A bank of counters that was checked. */
typedef struct {
    uint32_t method, thread;
    uint64_t calls; /* of the method on the thread */
    const qp_bank *bank;
    const uint64_t *base; /* [bank->n_values] to be taken off; NULL: nothing */
} qp_model_bank;

/* What a context has of the counters of a method, on all threads. */
typedef struct {
    uint32_t method, context; /* context: index into qp_model_private.contexts */
    const qp_bank *bank;
} qp_model_share;

typedef struct {
    const char *name; /* "": what ran while none was named */
    qp_cell cell;
} qp_model_context;

/* The text that a source file had when its code was loaded. */
typedef struct {
    const char *path;
    uint64_t digest, n_bytes;
} qp_model_text;

/* Block time that an open frame has not handed over yet. */
typedef struct {
    uint32_t method, thread, block;
    uint64_t self, total;
} qp_open_block;

/* What a thread's record says beyond qp_model_thread. */
typedef struct {
    qp_cell cell;
    bool is_cleared; /* its part of the last clear is still to do */
    uint64_t since;  /* thread time from which its top frame has not been charged yet ... */
    uint64_t now;    /* ... up to here */
} qp_thread_extra;

struct qp_model_private {
    qp_model model; /* what the caller sees */
    qp_image image;
    uint64_t n_losses[QP_LOSS_COUNT];
    uint64_t nonce;
    qp_span *spans; /* ascending */
    size_t n_spans;
    uint32_t *index_at; /* [image.n_cells] tag and index */
    qp_model_method *methods;
    qp_model_thread *threads;
    qp_thread_extra *extras; /* [n_threads] */
    qp_model_node *nodes;
    qp_cell *method_cells;  /* [n_methods]; the first record of each */
    qp_cell *node_cells;    /* [n_nodes]; 0: made by the reader */
    uint32_t *n_open_later; /* [n_nodes] adaptive: open calls behind the first 64 */
    uint64_t *open_ticks;   /* [n_nodes] adaptive: whole ticks of those that are timed */
    double *self_variance, *total_variance; /* [n_nodes], ticks squared; NULL if exact */
    uint32_t *frames;                       /* of all threads */
    qp_model_bank *banks;                   /* by method, then by thread */
    size_t n_banks;
    qp_model_share *shares; /* by method, then by context; none after a clear */
    size_t n_shares;
    qp_model_context *contexts; /* by cell */
    uint32_t n_contexts;
    qp_model_text *texts;
    size_t n_texts;
    qp_open_block *open_blocks;
    size_t n_open_blocks;
    char *names; /* made by the reader */
    size_t names_room, names_used;
    char *thread_names;
    qp_run_diagnostic *diagnostics;
    qp_run_note *notes;
    qp_run_mark *marks;
    qp_run_event *events;
    char *loss_texts;
    const char **losses;
    uint64_t now_raw;   /* raw ticks of the moment that counts as now; 0: none */
    qp_model *unfolded; /* what fold.c made this one of, its own now; NULL: it was read */
};

static inline uint64_t qp_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The index of a record of this kind at a cell; 0: there is none. */
static inline uint32_t qp_index_at(const qp_model_private *own, uint64_t cell, qp_tag tag)
{
    uint32_t entry = cell < own->image.n_cells ? own->index_at[cell] : 0;
    return entry >> QP_TAG_SHIFT == tag ? entry & ((1u << QP_TAG_SHIFT) - 1) : 0;
}

static inline void qp_index_put(qp_model_private *own, qp_cell cell, qp_tag tag, uint32_t index)
{
    own->index_at[cell] = (uint32_t)tag << QP_TAG_SHIFT | index;
}

/* Ticks from one thread time to another; 0 if the second is not later. */
static inline uint64_t qp_ticks_between(uint64_t from, uint64_t to)
{
    return (int64_t)(to - from) > 0 ? to - from : 0;
}

/* A text, "" and counted if it is damaged. */
const char *qp_load_text(qp_model_private *own, qp_ref ref);

/* salvage.c: find the extents. @return false: no memory */
bool qp_salvage_extents(qp_model_private *own);
/* The span that holds a cell in its used part; NULL: none. */
const qp_span *qp_salvage_span(const qp_model_private *own, uint64_t cell);
/* Put the losses into words. @return false: no memory */
bool qp_salvage_words(qp_model_private *own);

/* Visit the records of one kind of extents, a cell each, published or not. */
void qp_load_cells(qp_model_private *own, qp_extent_kind kind,
                   void (*read)(qp_model_private *own, qp_cell cell, qp_buf *to), qp_buf *to);

/* methods.c, tree.c, frames.c, banks.c, contexts.c, marks.c: read the records. @return false: no memory */
bool qp_load_methods(qp_model_private *own, bool merge_same);
bool qp_load_threads(qp_model_private *own);
bool qp_load_nodes(qp_model_private *own);
bool qp_load_frames(qp_model_private *own);
/* Children in the order of their indices, which is that of their first calls. */
void qp_link_children(qp_model_private *own);
bool qp_load_thread_names(qp_model_private *own);
bool qp_load_banks(qp_model_private *own);
bool qp_load_contexts(qp_model_private *own);
bool qp_load_sources(qp_model_private *own);
bool qp_load_marks(qp_model_private *own);
/* A carrier adds what it lost of a trace when it goes on recording, or ends; its ring knows before. */
uint64_t qp_load_diagnostic(const qp_model_private *own, unsigned i);
/* The context whose record is at a cell; n_contexts: there is none. */
uint32_t qp_context_at(const qp_model_private *own, qp_cell cell);

/* Visit all call paths below the root of the run, callers before callees; leave(i) comes after
 * everything below i. No recursion: paths may be millions of calls deep. */
typedef void (*qp_visit)(void *context, uint32_t node);
void qp_walk(const qp_model *m, qp_visit enter, qp_visit leave, void *context);

/* derive.c: totals, estimates, figures of methods. @return false: no memory */
bool qp_derive(qp_model_private *own);
/* The same where own times are final: totals and figures of methods. */
bool qp_derive_totals(qp_model_private *own);
/* Calls that only banks know; after them. */
bool qp_derive_calls(qp_model_private *own);

/* fold.c: the part of qp_model_free() that differs for a folded model. */
void qp_fold_free(qp_model_private *own);

#endif
