/* builder.h: a sealed profile, built record by record by the tool and written whole or not at all.
 *
 * Records have numbers, from 1 in the order in which they were added. 0 means none; calls return it
 * once memory or room has run out, which qp_builder_finish() reports. Equal calls make equal
 * bytes. */
#ifndef QP_FORMAT_BUILDER_H
#define QP_FORMAT_BUILDER_H

#include <stdbool.h>

#include "base/text/error.h"
#include "format/layout.h"

typedef struct qp_builder qp_builder;

/** An empty profile.
 * @param max_bytes  of the file; 0: what the format can hold, 256 GiB and 32 GiB of texts
 * @return NULL: no memory. Free with qp_builder_free(), which takes NULL */
qp_builder *qp_builder_new(uint64_t max_bytes);
void qp_builder_free(qp_builder *b);

/* The head, for the caller to fill; context: a number. Identity (magic to n_cells), state, notes,
 * n_threads and n_methods are the builder's. */
qp_head *qp_builder_head(qp_builder *b);

/* A text, each stored once; longer than 64 KiB it is cut. @return 0: NULL or "" */
qp_ref qp_builder_text(qp_builder *b, const char *text);

/* Notes are read in the order in which they were added. */
void qp_builder_note(qp_builder *b, qp_note_kind kind, const char *text);

/* A metric of the host; the first one has number 1. @param unit  NULL or "": none */
void qp_builder_metric(qp_builder *b, const char *name, const char *unit);

typedef struct {
    uint64_t id;
    uint32_t flags;                                /* QP_METHOD_* */
    const char *name, *class_name, *file, *module; /* NULL or "": none */
    const qp_line *lines;                          /* [n_lines] */
    uint32_t n_lines;
    const uint32_t *sizes; /* [n_lines] instructions of blocks; NULL: not known */
    const qp_jumps *jumps; /* NULL: none */
} qp_builder_code;

/* The ordinal is the number. */
uint32_t qp_builder_method(qp_builder *b, const qp_builder_code *m);

/* Begin a thread: call paths and counter blocks added from now on belong to it. Links, root, creator
 * and ordinal are the builder's.
 * @return its record, which may be filled until the next thread begins; NULL: no memory */
qp_thread_record *qp_builder_thread(qp_builder *b, const qp_thread_record *r);

/* The path that created the thread. @param thread  number of an earlier one @param node  a number in it */
void qp_builder_creator(qp_builder *b, uint32_t thread, uint32_t node);

/* A call path of the thread. @param parent  number of an earlier one of the thread; 0: its root
 * @param figures  n_calls, self, self_min, self_max; the rest is the builder's */
uint32_t qp_builder_node(qp_builder *b, uint32_t parent, uint32_t method,
                         const qp_node *figures);

/* Set skips, counts, PC samples and resumes of the newest call path; after qp_builder_thread(), of its root. */
void qp_builder_node_more(qp_builder *b, uint64_t n_skips, uint64_t counts, uint64_t samples,
                          uint64_t n_resumes);

/* Set the metrics of the same; after qp_builder_node_more(), if that is called. */
void qp_builder_node_metrics(qp_builder *b, const qp_node_metrics *metrics);

/* Set the sums of the host's metrics; directly after qp_builder_node_metrics(). */
void qp_builder_node_values(qp_builder *b, const qp_node_values *values);

/* Add the waits of the same for a lock; after these. @param wait  n, ns, longest_ns @param thread, node  number of the
 * holder's, perhaps of a later thread; 0: not known */
void qp_builder_node_wait(qp_builder *b, const char *lock, const qp_lock_wait *wait,
                          uint32_t thread, uint32_t node);

/* Set the requests of the same; after these, if they are called. */
void qp_builder_node_requests(qp_builder *b, const qp_node_requests *requests);

/* Counters of a method on the thread; zeroed. @return [n_values], until the next call; NULL: no
 * memory */
uint64_t *qp_builder_counter_block(qp_builder *b, qp_counter_block_kind kind, uint32_t method,
                                   uint32_t n_blocks, uint32_t n_values);

uint32_t qp_builder_context(qp_builder *b, const char *name, uint64_t n_switches);

/* What a context has of a method. @return as qp_builder_counter_block() */
int64_t *qp_builder_share(qp_builder *b, uint32_t context, uint32_t method, int64_t calls,
                          uint32_t n_blocks, uint32_t n_values);

void qp_builder_source(qp_builder *b, const char *path, uint64_t digest, uint64_t n_bytes);

/** Write the file, for its owner alone to read; nothing can be added afterwards.
 * @param error  one line: memory, size, or what is wrong with the path, which it names
 * @return false: see error; no file is left, and one that was there stays */
bool qp_builder_finish(qp_builder *b, const char *path, qp_error *error);

/** The same in memory. @param out  [*n_bytes] free with qp_free() @return false: see *why */
bool qp_builder_bytes(qp_builder *b, void **out, size_t *n_bytes, const char **why);

#endif
