/* interrupt.h: an interrupt of the PC command for the calling system thread, as a timer makes it. */
#ifndef QP_TESTS_INTERRUPT_H
#define QP_TESTS_INTERRUPT_H

/* From a signal handler, too. */
void interrupt_here(void);

#endif
