/* marks.h: what is worth finding again. */
#ifndef QP_RECORD_MARKS_H
#define QP_RECORD_MARKS_H

#include "record/thread.h"

void qp_mark_add(const qprof_thread *th, qp_mark_kind kind, const char *name, uint32_t event,
                 uint64_t object, uint64_t value);

#endif
