/* read.h: the records from which a model was read, for the other rooms of the model and for
 * readers of raw traces. Everybody else includes model.h. */
#ifndef QP_MODEL_READ_READ_H
#define QP_MODEL_READ_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/error.h"
#include "format/layout.h"
#include "format/trace.h"
#include "model/model.h"

/* ---- the bytes of a file ----------------------------------------------------------------- */

typedef struct {
    uint64_t begin, end; /* bytes */
} qp_stretch;

typedef struct {
    unsigned char *bytes; /* zero where the file has holes */
    uint64_t file_bytes;
    uint64_t
        foreign_bytes; /* size of the other tool's file that this was imported from, or 0 */
    uint32_t n_cells;  /* whole ones */
    qp_stretch *data;  /* what is not a hole, ascending */
    size_t n_data;
} qp_image;

enum { QP_IMAGE_PERCENT = 40 }; /* the copying's part of the time that loading takes */

/* Copy a file, so that no other process can change or cut its bytes any more.
 * @param progress  may be NULL; ascends to QP_IMAGE_PERCENT
 * @param error     what is wrong with the file @return false: see error */
bool qp_image_read(qp_image *image, int fd, uint64_t max_bytes, const qp_progress *progress,
                   qp_error *error);
bool qp_image_copy(qp_image *image, const void *bytes, size_t n_bytes, qp_error *error);
/* The same without a copy. @param bytes  from qp_alloc(), a cell more, which is zero; the image's now */
bool qp_image_take(qp_image *image, void *bytes, size_t n_bytes, qp_error *error);
void qp_image_fini(qp_image *image);

/* Whether this reader knows the head's version. @return false: see error */
bool qp_image_check_head(const qp_image *image, qp_error *error);

static inline const qp_head *qp_image_head(const qp_image *image)
{
    return (const qp_head *)(const void *)image->bytes;
}

/* The bytes of a cell, which the caller knows to be in range. */
static inline const void *qp_image_cell(const qp_image *image, qp_cell cell)
{
    return image->bytes + (uint64_t)cell * QP_CELL;
}

/* For qp_bytes_at() and the like. */
qp_bytes qp_image_bytes(const qp_image *image);

/* The text at a reference; NULL: no text is there. */
const char *qp_image_text(const qp_image *image, qp_ref ref);

/* The first cell from this one on that does not lie in a hole, or n_cells. */
uint32_t qp_image_skip_hole(const qp_image *image, uint32_t cell);

/* ---- cuts of a spool: cut.c --------------------------------------------------------------- */

/* A profile in memory that may be written to. */
typedef struct {
    char *bytes;
    uint64_t n_bytes;
} qp_state_bytes;

/* Subtract from a state of a profile an earlier state of it: what is left is what a run that was cleared at the earlier
 * one would have, and the sums of all cuts of a run are those of its last state. Both are copies of a profile that was being
 * recorded: what a reader would leave out of the earlier one, as it was written at the moment of the copy, is not subtracted. The
 * earlier one is changed as well. @param before  n_bytes 0: nothing was recorded yet
 * @return false: nothing was counted in between, but for markers and user events */
bool qp_cut(qp_state_bytes now, qp_state_bytes before);

/* The state that a file has, or the later one of two. */
qp_state_bytes qp_image_state(const qp_image *image);
/* Make of a file of two states what was counted in between; other files stay. @return false: see error */
bool qp_image_cut(qp_image *image, qp_error *error);

/* ---- records ----------------------------------------------------------------------------- */

/* What may be missing in a file, and the line that reports it. */
#define QP_LOSSES(X)                                                                           \
    X(end, "bytes missing at the end of the file")                                             \
    X(nonce, "file identities repaired")                                                       \
    X(checksums, "extents left out because their checksums do not match")                      \
    X(stretches, "damaged stretches skipped")                                                  \
    X(extents, "extents with a damaged length")                                                \
    X(methods, "methods that could not be read")                                               \
    X(texts, "texts that could not be read")                                                   \
    X(tables, "line tables that could not be read")                                            \
    X(threads, "threads that could not be read")                                               \
    X(nodes, "call paths that could not be read")                                              \
    X(orphans, "call paths that lost their callers and are directly below their thread")       \
    X(more, "call paths whose skips, counts and samples could not be read")                    \
    X(stacks, "threads whose open frames could not all be read")                               \
    X(counter_blocks, "counters of blocks that could not be read")                             \
    X(notes, "annotations that could not be read")                                             \
    X(markers, "markers and counts of events that could not be read")                          \
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
    uint32_t n_used;  /* readable cells after the header */
    uint32_t n_cells; /* with the header, up to the end of the file */
} qp_model_extent;

/* Where a file is not as it was written. */
typedef struct {
    qp_cell cell; /* 0: nowhere */
    uint32_t n_cells;
    uint32_t
        kind; /* qp_extent_kind, if that is not damaged; FREE: it does not begin as an extent */
} qp_damage;

/* The kind of record that begins at a cell: two bits above an index. */
typedef enum { QP_TAG_METHOD = 1, QP_TAG_THREAD, QP_TAG_NODE } qp_tag;
enum { QP_TAG_SHIFT = 30 };

/* A counter block that was checked. */
typedef struct {
    uint32_t method, thread;
    uint64_t calls; /* of the method on the thread */
    const qp_counter_block *counters;
    const uint64_t *base; /* [counters->n_values] at the last clear; NULL: all 0 */
} qp_model_counter_block;

/* The part of a method's counters that a context has, on all threads. */
typedef struct {
    uint32_t method, context; /* context: index into qp_model_private.contexts */
    const qp_counter_block *counters;
} qp_model_share;

typedef struct {
    const char *name; /* "": while no context was named */
    qp_cell cell;
} qp_model_context;

/* The text that a source file had when its code was loaded. */
typedef struct {
    const char *path;
    uint64_t digest, n_bytes;
} qp_model_text;

/* The requests of a path. */
typedef struct qp_model_requests {
    uint32_t node;
    qp_node_requests r;
} qp_model_requests;

/* What was added to the metrics of a path. */
typedef struct {
    uint32_t node;
    qp_node_values values;
} qp_model_values;

/* The waits of a path for a lock. */
typedef struct {
    uint32_t node, holder; /* holder: node; 0: not known */
    qp_cell holder_cell;
    const char *lock; /* "": others */
    uint64_t n, ns, longest_ns;
} qp_model_lock_wait;

/* Block time of an open frame that its counter block does not have yet. */
typedef struct {
    uint32_t method, thread, block;
    uint64_t self, total;
} qp_open_block;

/* What a thread's record holds beyond qp_model_thread. */
typedef struct {
    qp_cell cell;
    bool is_cleared; /* the thread has not applied the last clear yet */
    uint64_t since;  /* thread time from which its top frame has not been charged ... */
    uint64_t now;    /* ... up to here */
    uint64_t off;    /* ticks of that off the processor */
} qp_thread_extra;

struct qp_model_private {
    qp_model model; /* what the caller sees */
    qp_image image;
    uint64_t n_losses[QP_LOSS_COUNT];
    uint64_t nonce;
    qp_model_extent *spans; /* ascending */
    size_t n_spans;
    qp_damage first_damage; /* of n_losses[QP_LOSS_checksums] and [QP_LOSS_stretches] */
    bool has_checksums;
    uint32_t *index_at; /* [image.n_cells] tag and index */
    qp_model_method *methods;
    qp_model_thread *threads;
    qp_thread_extra *extras; /* [n_threads] */
    qp_model_node *nodes;
    qp_cell *method_cells; /* [n_methods]; the first record of each */
    qp_cell *node_cells;   /* [n_nodes]; 0: made by the reader */
    uint32_t *open_calls;  /* [n_nodes] adaptive: open calls */
    uint64_t *open_ticks;  /* [n_nodes] adaptive: their ticks so far ... */
    double *open_variance; /* [n_nodes] ... if the coarse clock alone shows them */
    double *self_variance, *total_variance; /* [n_nodes], ticks squared; NULL if exact */
    double *joined_variance; /* [n_nodes] joined, adaptive: of threads below; else NULL */
    bool has_units;          /* figures are no times: qp_model_choose() */
    uint32_t *frames;        /* of all threads */
    qp_model_counter_block *counter_blocks; /* by method, then by thread */
    size_t n_counter_blocks;
    qp_model_share *shares; /* by method, then by context; none after a clear */
    size_t n_shares;
    qp_model_context *contexts; /* by cell */
    uint32_t n_contexts;
    qp_model_text *texts;
    size_t n_texts;
    qp_buf values;   /* qp_model_values; of a collapsed model: as the next */
    qp_buf waits;    /* qp_model_lock_wait; the same */
    qp_buf requests; /* qp_model_requests; of a collapsed model: of the one that was read */
    qp_open_block *open_blocks;
    size_t n_open_blocks;
    char *names; /* made by the reader */
    size_t names_room, names_used;
    char *thread_names;
    qp_run_diagnostic *diagnostics;
    qp_run_metric *metrics; /* [QP_METRICS] */
    char *metric_names;
    qp_run_note *notes;
    qp_run_marker *markers;
    qp_run_event *events;
    char *loss_texts;
    const char **losses;
    uint64_t now_raw;      /* raw ticks of the moment that counts as now; 0: none */
    qp_model *uncollapsed; /* the model that this is a view of, owned; NULL: it was read */
};

/* Saturates. */
static inline uint64_t qp_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The index + 1 of the item that has a name; 0: none, and *hash is a free key for it.
 * @param table    keys -> index + 1: the hash of a name or, if that is taken, the next number
 * @param name_at  offset of the name, const char *, in an item */
uint32_t qp_find_named(const qp_dict *table, const qp_buf *items, size_t name_at,
                       const char *name, uint64_t *hash);

/* The same; an item without a name is added if there is none, with a copy of the name. 0: no memory. */
uint32_t qp_find_or_name(qp_dict *table, qp_buf *items, size_t name_at, qp_arena *arena,
                         const char *name);

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

/* A text; "" if it is damaged, which is counted. */
const char *qp_load_text(qp_model_private *own, qp_ref ref);

/* Find the extents. @return false: no memory */
bool qp_salvage_extents(qp_model_private *own);
/* The span that holds a cell in its used part; NULL: none. */
const qp_model_extent *qp_salvage_extent(const qp_model_private *own, uint64_t cell);
/* Describe the losses in model.losses. @return false: no memory */
bool qp_salvage_words(qp_model_private *own);

/* How many records of so many cells each the extents of a kind have at most. */
uint64_t qp_count_records(const qp_model_private *own, qp_extent_kind kind, uint32_t cells);
/* Visit the records of one kind of extents, a cell each, published or not. */
void qp_load_cells(qp_model_private *own, qp_extent_kind kind,
                   void (*read)(qp_model_private *own, qp_cell cell, qp_buf *to), qp_buf *to);

/* The run, as its head describes it. */
void qp_load_run(qp_model_private *own);
/* The run's totals, from derived nodes and methods. */
void qp_load_sums(qp_model_private *own);

/* Read the records of one kind each. @return false: no memory */
bool qp_load_methods(qp_model_private *own, bool merge_same);
bool qp_load_threads(qp_model_private *own);
bool qp_load_nodes(qp_model_private *own);
/* Where threads were created; a cycle of them is broken. */
bool qp_load_creators(qp_model_private *own);
bool qp_load_frames(qp_model_private *own);
/* Add the PC samples that no event has credited yet; after the frames. */
void qp_load_waiting(qp_model_private *own);
/* Children in the order of their indices, which is that of their first calls. */
void qp_link_children(qp_model_private *own);
bool qp_load_thread_names(qp_model_private *own);
bool qp_load_counter_blocks(qp_model_private *own);
bool qp_load_contexts(qp_model_private *own);
bool qp_load_sources(qp_model_private *own);
bool qp_load_markers(qp_model_private *own);
bool qp_load_diagnostics(qp_model_private *own);
bool qp_load_notes(qp_model_private *own);
/* The metrics of the host; after the call paths. */
bool qp_load_metrics(qp_model_private *own);

/* Free the image and what qp_load_methods() and qp_load_threads() read: it can be read
 * again. */
void qp_model_forget(qp_model_private *own);
/* Free a collapsed model, but not the one that it is a view of. */
void qp_model_free_view(qp_model_private *own);

/* A diagnostic of the head. Records that a trace lost: of the rings if they know of more,
 * because an OS thread adds to the head only when it resumes recording, or ends. */
uint64_t qp_load_diagnostic(const qp_model_private *own, unsigned i);
/* The context whose record is at a cell; n_contexts: there is none. */
uint32_t qp_context_at(const qp_model_private *own, qp_cell cell);

/* ---- counters ---------------------------------------------------------------------------- */

/* A method's jumps. @return NULL: its counters are those of blocks */
const qp_jumps *qp_counter_block_jumps(const qp_model_private *own, uint32_t method);

/* The first counter block, or share, of a method or of a later one; the end of the array:
 * none. */
const qp_model_counter_block *qp_counter_block_first(const qp_model_private *own,
                                                     uint32_t method);
const qp_model_share *qp_share_first(const qp_model_private *own, uint32_t method);

/* Entries that a block has counted. @return false: it counts none */
bool qp_counter_block_entries(const qp_model_private *own, const qp_model_counter_block *b,
                              uint64_t *n);

/* Replace calls from the call paths by counted entries, if no call paths were recorded.
 * @param out  [m->n_methods] figures */
void qp_counter_block_calls(const qp_model *m, uint32_t thread, qp_figures *out);

/* Adaptive: the record of a path's timing. @return NULL: it has none, or none that can be read */
const qp_node_timing *qp_timing_of(const qp_model_private *own, uint32_t node);
/* The value of a counter since the last clear. */
static inline uint64_t qp_counter_block_value(const qp_model_counter_block *b, uint32_t k)
{
    return b->counters->values[k] - (b->base ? b->base[k] : 0);
}

/* ---- requests that are kept whole --------------------------------------------------------- */

/* A kept request whose records are all there, so far as they were kept. */
typedef struct {
    qp_cell cell;
    const qp_kept *at; /* valid as the model */
    uint32_t node;     /* of its path */
} qp_model_kept;

/* @param out  [*n] in the order of the file; free with qp_free() @return false: no memory */
bool qp_load_kept(const qp_model_private *own, qp_model_kept **out, size_t *n);

/* What happens in a kept request, in ticks of the run's clock. */
typedef struct {
    qp_kept_step what; /* 0: another path is on top */
    uint32_t node;     /* that path */
    uint64_t ticks;    /* of it: when; else how long */
} qp_model_step;

/* Its steps, as far as they are sound. @param out  [*n] free with qp_free() @return false: no memory */
bool qp_load_kept_steps(const qp_model_private *own, const qp_model_kept *k,
                        qp_model_step **out, size_t *n);

/* ---- rings ------------------------------------------------------------------------------- */

/* A ring of a raw trace that has all of its slots. */
typedef struct {
    qp_cell cell; /* of `ring` */
    const qp_ring *ring;
    const qp_trace_record *slots; /* [ring->n_slots], a power of two; valid as the model */
} qp_model_ring;

/* @param out  [*n] in the order of the file; free with qp_free() @return false: no memory */
bool qp_model_rings(const qp_model *m, qp_model_ring **out, size_t *n);

/* ---- profiles of other processes: left.c ---------------------------------------------------- */

/* Open one without waiting or following a link. @return -1: not possible */
int qp_live_open(const char *path);
/* The head of a profile. @return false: the file is not one, and the head all 0 */
bool qp_live_head(const char *path, qp_head *to);
/* A text of a profile. @return to; "" if there is none */
const char *qp_live_text(const char *path, qp_ref ref, char *to, size_t n_bytes);

/* What a process that was killed recorded after the last cut of its spool: a cut as its recorder would have made it.
 * @param live, state  their files, which stay
 * @param to  receives the profile; qp_image_fini() @return false: see error */
bool qp_live_remainder(const char *live, const char *state, qp_image *to, qp_error *error);

#endif
