/* import_graph.h: call paths, estimated from who called whom. */
#ifndef QP_MODEL_IMPORT_GRAPH_H
#define QP_MODEL_IMPORT_GRAPH_H

#include "model/import_parts.h"

/* A function on a thread. */
typedef struct {
    uint32_t method;
    uint32_t thread; /* where it stands if nobody called it */
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

/** Make call paths of all calls. Own costs and calls are kept to the unit; what a function has goes
 * to its callers in proportion to what their calls of it cost. Memory that is missing: im->failed */
void qp_import_paths(qp_import *im, const qp_import_graph *g);

#endif
