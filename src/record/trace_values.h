/* trace_values.h: values of parameters and results, of the methods that an area retrieves them for. */
#ifndef QP_RECORD_TRACE_VALUES_H
#define QP_RECORD_TRACE_VALUES_H

#include "record/thread.h"

/* The host hands in a parameter (number from 1) of the next call, or a result (0) of the top frame.
 * Within an event of th, which its carrier drives. */
void qp_trace_values_take(qprof_thread *th, int number, const char *type, const char *value,
                          const char *comment);

/* This method is about to be called, or entered (0: one of no interest): record what waits for it. */
void qp_trace_values_give(qprof_thread *th, qp_cell method);

#endif
