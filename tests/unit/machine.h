/* machine.h: what a machine counts, made to happen by hand, and claims about it. */
#ifndef QP_TESTS_UNIT_MACHINE_H
#define QP_TESTS_UNIT_MACHINE_H

#include <stdint.h>

/* Touch so many new pages: each is a fault that needs no disk. */
void machine_touch(unsigned n_pages);

/* Found is wanted or up to a quarter more: a sanitizer touches pages of its own beside them. */
void assert_about(uint64_t found, uint64_t wanted);

/* Descriptors of this process that count events. */
int machine_counters(void);

#endif
