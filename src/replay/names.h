/* names.h: what the records of a trace refer to: methods, call paths, threads, texts.
 *
 * Records name them by cell; here they have numbers from 1 on, and 0 is what is not known. A path's
 * number is larger than its caller's. Entries come from the trace itself as it is read, or are looked
 * up in a profile when they are first asked for. Memory: what was named, not how often. */
#ifndef QP_REPLAY_NAMES_H
#define QP_REPLAY_NAMES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/dict.h"
#include "model/model.h"

enum { QP_PATH_ROOT = 1 }; /* the path on which nothing is called yet */

typedef struct {
    const char *name;                                   /* to be shown */
    const char *bare_name, *class_name, *file, *module; /* "" where there is none */
    const char *pattern_module;                         /* what call patterns call its module */
    uint64_t id;
    uint32_t flags;      /* QP_METHOD_* */
    uint32_t first_line; /* 0: not known */
} qp_trace_method;

typedef struct {
    uint32_t parent; /* 0: of the root, or not known */
    uint32_t method; /* 0: of the root */
    uint32_t depth;  /* of the root 0 */
    uint32_t caller_cell, method_cell;
} qp_trace_path;

typedef struct {
    const char *name;  /* to be shown */
    const char *given; /* as the host set it; "" */
    uint64_t host_id, vt_id, system_id;
    uint32_t ordinal;   /* from 1 */
    uint32_t root_cell; /* of the path on which it calls nothing; 0: not known */
    bool is_started;    /* the name, if it was made here, has the start method */
} qp_trace_thread;

/* What records want of a path, and a table of those that were asked for last: cell & its mask.
 * 4096: measured by tests/bench/trace_stat.sh. */
typedef struct {
    uint32_t cell, number;
    uint32_t caller_cell, method_cell;
} qp_path_entry;
enum { QP_PATH_CACHE = 4096 };

typedef struct {
    qp_arena texts;
    qp_buf methods, paths, threads; /* item 0 is what is not known */
    qp_buf strings;                 /* const char * */
    qp_dict by_cell[4];             /* cell -> number, of each of these */
    qp_dict thread_of_root;         /* cell of a root path -> cell of its thread */
    const qp_model *model;          /* what is not known is asked for here; NULL: nowhere */
    qp_path_entry cache[QP_PATH_CACHE];
    bool failed; /* no memory */
} qp_names;

/* @return false: no memory; qp_names_fini() is allowed then */
bool qp_names_init(qp_names *t, const qp_model *model);
void qp_names_fini(qp_names *t);

/* Say what a cell or ref is; of methods and threads what is said last counts. Texts are copied. */
typedef struct {
    const char *bytes;
    size_t n_bytes;
} qp_name;
typedef struct {
    uint64_t id;
    uint32_t flags, first_line;
    qp_name name, class_name, file, module;
} qp_method_names;
uint32_t qp_names_add_method(qp_names *t, uint32_t cell, const qp_method_names *m);
uint32_t qp_names_add_path(qp_names *t, uint32_t cell, uint32_t parent_cell,
                           uint32_t method_cell);
uint32_t qp_names_add_thread(qp_names *t, uint32_t cell, const qp_trace_thread *th,
                             qp_name given);
uint32_t qp_names_add_text(qp_names *t, uint32_t ref, qp_name text);

/* The number of what is at a cell or ref; 0: it was not said. */
uint32_t qp_names_method(qp_names *t, uint32_t cell);
const qp_path_entry *qp_names_path_miss(qp_names *t, uint32_t cell);
uint32_t qp_names_thread(qp_names *t, uint32_t cell);
/* Cell of the thread whose path this is; 0: not known. */
uint32_t qp_names_path_thread(qp_names *t, uint32_t path_cell);
const char *qp_names_text(qp_names *t, uint32_t ref); /* "?" of one that is not known */

/* Until the next path is asked for; all 0: it was not said. */
static inline const qp_path_entry *qp_names_path_entry(qp_names *t, uint32_t cell)
{
    const qp_path_entry *e = &t->cache[cell & (QP_PATH_CACHE - 1)];
    return e->cell == cell ? e : qp_names_path_miss(t, cell);
}

static inline uint32_t qp_names_path(qp_names *t, uint32_t cell)
{
    return qp_names_path_entry(t, cell)->number;
}

static inline const qp_trace_method *qp_names_method_at(const qp_names *t, uint32_t number)
{
    return (const qp_trace_method *)t->methods.items + number;
}

static inline const qp_trace_path *qp_names_path_at(const qp_names *t, uint32_t number)
{
    return (const qp_trace_path *)t->paths.items + number;
}

static inline const qp_trace_thread *qp_names_thread_at(const qp_names *t, uint32_t number)
{
    return (const qp_trace_thread *)t->threads.items + number;
}

/* A thread without a name of its own begins with this method. */
void qp_names_start(qp_names *t, uint32_t thread, uint32_t method);

#endif
