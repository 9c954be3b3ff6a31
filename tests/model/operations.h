/* operations.h: the operations of random programs. */
#ifndef QP_TESTS_OPERATIONS_H
#define QP_TESTS_OPERATIONS_H

#include "model/host.h"

typedef struct {
    uint8_t what, a, b, c;
} operation;

typedef struct {
    unsigned weight; /* of 256 */
    void (*run)(host *, operation);
    const char *name;
    bool is_event; /* of the running thread: time may pass before it */
} operation_kind;

/* What the callback does besides answering: a few events, some of them of another virtual thread. */
void operations_reenter(host *d, uint64_t random);

extern const operation_kind operations[]; /* weights add up to 256 */

#endif
