/* gather.h: what the importers gather from other tools' profiles.
 *
 * Items have numbers from 1 in the order in which they were added; 0 means none, and
 * is what a call returns without memory: add freely, qp_import.failed says so at the end. */
#ifndef QP_MODEL_IMPORT_GATHER_H
#define QP_MODEL_IMPORT_GATHER_H

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/error.h"
#include "model/import/import.h"

typedef struct {
    const char *name, *file, *module; /* "": none */
    uint32_t first_line;              /* where it is declared; 0: not known */
    uint32_t first_block, n_blocks;   /* its line table, once it is known */
} qp_import_method;

typedef struct {
    uint64_t calls, self, samples, pc_samples;
} qp_import_figures;

typedef struct {
    uint32_t parent, method; /* method 0: the root of a thread */
    uint32_t thread;
    qp_import_figures f;
} qp_import_node;

typedef struct {
    const char *name;
    uint32_t root; /* node */
} qp_import_thread_row;

/* What a line of a method has on a thread. */
typedef struct {
    uint32_t thread, method, line;
    uint64_t self, total;
    uint64_t stamp; /* for the importer: the last sample that was added to total */
} qp_import_line;

typedef struct {
    qp_arena texts;
    qp_buf methods; /* qp_import_method */
    qp_buf threads; /* qp_import_thread_row */
    qp_buf nodes;   /* qp_import_node, parents first */
    qp_buf lines;   /* qp_import_line */
    qp_dict child_of, pair_of, line_of;
    qp_dict thread_of; /* hash of the name */
    qp_import_figures sums;
    bool failed;        /* no memory */
    bool is_too_much;   /* a sum is beyond 2^63, or there are too many call paths */
    const char *wanted; /* the wanted sample type or event; NULL: choose */
    qp_head head;       /* of the run: flags, time_mode, clock_*, moments, pid */
    const char *program, *recorder;
    qp_buf notes; /* const char * */
} qp_import;

#define QP_IMPORT_AT(buf, type, number) ((type *)(buf).items + (number)-1)

/* Texts are not copied and must live as long as the import: see `texts`. */
uint32_t qp_import_method_add(qp_import *im, const qp_import_method *m);
/* The thread of that name. */
uint32_t qp_import_thread(qp_import *im, const char *name);
uint32_t qp_import_root(const qp_import *im, uint32_t thread);
/* The call path of a method below a node. */
uint32_t qp_import_child(qp_import *im, uint32_t parent, uint32_t method);
void qp_import_charge(qp_import *im, uint32_t node, const qp_import_figures *f);
/* @return until the next call; NULL: no memory, or line 0 */
qp_import_line *qp_import_line_of(qp_import *im, uint32_t thread, uint32_t method,
                                  uint32_t line);
void qp_import_note(qp_import *im, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* n_bytes as a text; NUL becomes '?'. @return NULL: no memory */
const char *qp_import_text(qp_import *im, const void *bytes, size_t n_bytes);
/* The last part of a path. */
const char *qp_import_base_name(const char *path);

/* The unit that a word of another tool means. */
typedef struct {
    bool is_time;
    uint64_t scale; /* to ns, of times */
} qp_import_unit;
qp_import_unit qp_import_unit_of(const char *word, size_t n);
/* The clock of the head: counts, CPU time or elapsed time. */
void qp_import_clock(qp_import *im, qp_import_unit unit, bool is_cpu);

/* Whether bytes look like the format; read them. @return false: see error */
bool qp_import_pprof_fits(const unsigned char *bytes, size_t n_bytes);
bool qp_import_pprof(qp_import *im, const unsigned char *bytes, size_t n_bytes,
                     qp_error *error);
bool qp_import_callgrind_fits(const unsigned char *bytes, size_t n_bytes);
bool qp_import_callgrind(qp_import *im, const unsigned char *bytes, size_t n_bytes,
                         qp_error *error);

/* Whether bytes look like coverage: PureCoverage's export, luacov's statistics. */
bool qp_import_cover_fits(const unsigned char *bytes, size_t n_bytes);
/* Read them. @param made  [*n_made] a profile; free with qp_free(). @return false: see error */
bool qp_import_cover(const unsigned char *bytes, size_t n_bytes, void **made, size_t *n_made,
                     qp_error *error);

/* ---- call graphs ------------------------------------------------------------------------- */

/* A function on a thread. */
typedef struct {
    uint32_t method;
    uint32_t thread; /* of a function without a caller */
    bool is_thread;  /* no function: what it called are the outermost functions of `thread` */
    uint64_t self;
    uint32_t first_line; /* where it is declared; 0: not known */
    uint32_t lines;      /* the newest of its lines; 0: none */
} qp_import_vertex;

typedef struct {
    uint32_t caller, callee; /* vertices */
    uint64_t calls, cost;    /* cost: of the callee, with what it called */
} qp_import_edge;

/* What a line of a vertex has. */
typedef struct {
    uint32_t line, next; /* next: of the same vertex; 0: none */
    uint64_t self, total;
} qp_import_cost;

typedef struct {
    qp_buf vertices; /* qp_import_vertex */
    qp_buf edges;    /* qp_import_edge, one for a pair */
    qp_buf costs;    /* qp_import_cost */
} qp_import_graph;

/** Make call paths of all calls. Own costs and calls are kept to the unit; what a function has
 * goes to its callers in proportion to what their calls of it cost. Memory that is missing:
 * im->failed */
void qp_import_paths(qp_import *im, const qp_import_graph *g);

#endif
