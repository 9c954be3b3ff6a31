/* pc_charge.h: whom the interrupts so far are charged to, by the pattern of the PC command. */
#ifndef QP_RECORD_PC_CHARGE_H
#define QP_RECORD_PC_CHARGE_H

#include "record/session.h"

/* The interrupts of one call path. */
typedef struct {
    uint64_t n;
    bool is_counted;       /* false: the pattern skips them */
    const qp_cell *frames; /* [n_frames] methods, outermost first */
    uint32_t n_frames;
    int64_t charged; /* frame; QP_PATTERN_FOREIGN: foreignPcs */
    uint32_t n_deep; /* that many outermost frames were active for the one who is charged */
} qp_pc_charge;

/* Call `visit` for each path with interrupts, of all threads. Others may record meanwhile.
 * @return false: no memory */
bool qp_pc_each(void (*visit)(void *to, const qp_pc_charge *c), void *to);

/* Is it a procedure, which pseudo-methods are not? */
bool qp_pc_is_procedure(qp_cell method);

/* Names for patterns and reports. @return bytes of the module, *module points into a text */
int qp_pc_module(qp_cell method, const char **module);
const char *qp_pc_procedure_name(qp_cell method);

/* Write the report. @return 0, QPROF_E_MEMORY, QPROF_E_IO */
int qp_pc_list(int fd);

#endif
