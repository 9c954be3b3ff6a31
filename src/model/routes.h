/* routes.h: by which ways a method was reached, and how often by each. */
#ifndef QP_MODEL_ROUTES_H
#define QP_MODEL_ROUTES_H

#include "model/model.h"

enum { QP_ROUTE_MOST_FRAMES = 100 }; /* also the limit of -max-route-depth */

/* All calls of a method whose stacks agree in their innermost frames. */
typedef struct {
    uint32_t node; /* the first of its call paths: its parents are the frames of the route */
    uint32_t n_frames; /* with the method's own; .root. is none */
    bool is_cut;       /* some of the stacks have more frames */
    uint64_t hits;     /* calls that were recorded, of all its call paths */
} qp_route;

/** The routes of a method, most hits first, then in the order of first calls. Calls that were only
 * skipped have none. Time: call paths of the method times frames; memory: some 60 bytes for each
 * of these call paths, however many frames.
 * @param thread    index, or QP_ALL_THREADS
 * @param n_frames  stacks are cut at so many frames, 1 to QP_ROUTE_MOST_FRAMES
 * @param out       [*n] free with qp_free()
 * @return false: no memory */
bool qp_model_routes(const qp_model *m, uint32_t method, uint32_t thread, uint32_t n_frames,
                     qp_route **out, size_t *n);

#endif
