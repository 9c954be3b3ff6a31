/* attach.h: samples a recording process by reading its live profile.
 *
 * The process is not stopped and not changed. A process that records call paths has the path of
 * each thread in one word. If it only keeps the stack (-collect=samples), the frames are copied
 * twice; if the copies differ, the sample is torn: it is repeated a few times, then counted and
 * left out. Critical sections are not known. */
#ifndef QP_MODEL_ATTACH_ATTACH_H
#define QP_MODEL_ATTACH_ATTACH_H

#include "base/text/error.h"
#include "model/model.h"

typedef struct qp_attach qp_attach;

/** Find and open the profile of a process.
 *
 * @param command  as of -pc: "REAL 1000", "VIRTUAL 500 WHEN a.b->*;"; "": "VIRTUAL 10000"
 * @param error    one line: no such process, the system's reason, a mistake in the command
 * @return NULL: see error. Free with qp_attach_free(), which takes NULL */
qp_attach *qp_attach_open(uint64_t pid, const char *command, qp_error *error);
void qp_attach_free(qp_attach *o);

/** Take an interrupt of each thread that is due one; call it once in each period.
 * @return false: the process has ended */
bool qp_attach_pass(qp_attach *o);

typedef struct {
    uint64_t period_ns;  /* asked for, and at least the shortest */
    uint64_t reached_ns; /* from pass to pass; 0: there were less than two */
    uint64_t n_passes, n_interrupts, n_torn;
    bool is_real;
    bool is_raised; /* a period below the shortest was asked for */
    bool is_hidden; /* it samples itself and keeps no stack that can be read */
} qp_attach_figures;
qp_attach_figures qp_attach_measure(const qp_attach *o);

typedef struct {
    uint32_t thread, method;   /* of the model; method 0: it has no record */
    const char *name, *caller; /* "": unknown; caller "" also of an outermost function */
} qp_attach_place;

/** Find what each thread is in now, whether it runs or waits. Call it last: it counts as samples.
 * @param m   receives the model, whose texts are in to; NULL: it cannot be read. Free it
 * @param to  [n_most] the threads that are in a function @return how many there are */
size_t qp_attach_now(qp_attach *o, qp_model **m, qp_attach_place *to, size_t n_most);

/** Write the PC samples as an ordinary sealed profile, or nothing.
 * @param n_missed  passes that were left out because they were late @return false: see error */
bool qp_attach_write(qp_attach *o, uint64_t n_missed, const char *path, qp_error *error);

#endif
