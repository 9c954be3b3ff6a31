/* marks.c: what is worth finding again. */
#include "record/marks.h"

void qp_mark_add(const qprof_thread *th, qp_mark_kind kind, const char *name, uint32_t event,
                 uint64_t object, uint64_t value)
{
    (void)th, (void)kind, (void)name, (void)event, (void)object, (void)value;
}
