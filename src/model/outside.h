/* outside.h: sampling a recording process from outside, by its live profile alone.
 *
 * Nothing is asked of the process and nothing is done to it: its file is read. What records call
 * paths says in one word where it is; of what only keeps the stack (-collect=samples) the frames
 * are copied twice, and callers that differ are a torn sample: it is taken again a few times, then
 * counted and left out. Critical sections cannot be seen from here. */
#ifndef QP_MODEL_OUTSIDE_H
#define QP_MODEL_OUTSIDE_H

#include "model/model.h"

typedef struct qp_outside qp_outside;

/** Find and open the profile of a process.
 *
 * @param command  as of -pc: "REAL 1000", "VIRTUAL 500 WHEN a.b->*;"; "": "VIRTUAL 10000"
 * @param error    one line: no such process, what the system says of its file, a mistake in the
 *                 command
 * @return NULL: see error. Free with qp_outside_free(), which takes NULL */
qp_outside *qp_outside_open(uint64_t pid, const char *command, char error[QP_ERROR_BYTES]);
void qp_outside_free(qp_outside *o);

/** One interrupt for each thread that is due one; call it once in each period.
 * @return false: the process has ended */
bool qp_outside_pass(qp_outside *o);

typedef struct {
    uint64_t period_ns;  /* asked for, and at least the shortest */
    uint64_t reached_ns; /* from pass to pass; 0: there were less than two */
    uint64_t n_passes, n_interrupts, n_torn;
    bool is_real;
    bool is_raised; /* less than the shortest period was asked for */
    bool is_hidden; /* it samples itself, and keeps no stack that others could look at */
} qp_outside_figures;
qp_outside_figures qp_outside_measure(const qp_outside *o);

/** Write what was found as an ordinary profile of interrupts: sealed, whole or not at all.
 * @param n_missed  passes that came too late to be made @return false: see error */
bool qp_outside_write(qp_outside *o, uint64_t n_missed, const char *path,
                      char error[QP_ERROR_BYTES]);

#endif
