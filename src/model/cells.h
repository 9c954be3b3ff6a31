/* cells.h: from the cells of a profile to the model that was read of it, for those who read records
 * of other kinds that refer to them: raw traces. Not for folded models. */
#ifndef QP_MODEL_CELLS_H
#define QP_MODEL_CELLS_H

#include "format/trace.h"
#include "model/model.h"

/* The node, method, thread whose record is at a cell; 0: there is none. */
uint32_t qp_model_node_at(const qp_model *m, qp_cell cell);
uint32_t qp_model_method_at(const qp_model *m, qp_cell cell);
uint32_t qp_model_thread_at(const qp_model *m, qp_cell cell);
/* NULL: there is none. Valid as long as the model. */
const char *qp_model_text_at(const qp_model *m, qp_ref ref);

/* And back; 0: the reader made it. */
qp_cell qp_model_node_cell(const qp_model *m, uint32_t node);
qp_cell qp_model_method_cell(const qp_model *m, uint32_t method);
qp_cell qp_model_thread_cell(const qp_model *m, uint32_t thread);

/* The head as it was read; valid as long as the model. */
const qp_head *qp_model_head(const qp_model *m);
/* Raw ticks of the moment up to which the model counts; 0: each thread's last event. */
uint64_t qp_model_now(const qp_model *m);

/* A ring of a raw trace, whose slots are all there. */
typedef struct {
    qp_cell cell; /* of `ring` */
    const qp_ring *ring;
    const qp_trace_record
        *slots; /* [ring->n_slots], a power of two; valid as long as the model */
} qp_model_ring;

/* @param out  [*n] in the order of the file; free with qp_free() @return false: no memory */
bool qp_model_rings(const qp_model *m, qp_model_ring **out, size_t *n);

#endif
