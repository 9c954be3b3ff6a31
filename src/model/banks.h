/* banks.h: the counters of the methods of a model, and the contexts' shares of them. */
#ifndef QP_MODEL_BANKS_H
#define QP_MODEL_BANKS_H

#include "model/private.h"

/* A method's jumps. @return NULL: its counters are those of blocks */
const qp_jumps *qp_bank_jumps(const qp_model_private *own, uint32_t method);

/* The first bank, or share, of a method or of a later one; own->banks + own->n_banks: none. */
const qp_model_bank *qp_bank_first(const qp_model_private *own, uint32_t method);
const qp_model_share *qp_share_first(const qp_model_private *own, uint32_t method);

/* Entries that a bank has counted. @return false: it counts none */
bool qp_bank_entries(const qp_model_private *own, const qp_model_bank *b, uint64_t *n);

/* Where no call paths were recorded: calls of the methods whose entries their hosts count.
 * @param out  [m->n_methods] figures from the call paths */
void qp_bank_calls(const qp_model *m, uint32_t thread, qp_figures *out);

/* A counter, since the last clear. */
static inline uint64_t qp_bank_value(const qp_model_bank *b, uint32_t k)
{
    return b->bank->values[k] - (b->base ? b->base[k] : 0);
}

#endif
