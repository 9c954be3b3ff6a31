/* interrupt.c: apart from the tests, because the rooms of the recorder and of the model do not meet. */
#include "unit/interrupt.h"

#include <errno.h>

#include "base/atomic.h"
#include "record/samples.h"

void interrupt_here(void)
{
    int host_errno = errno;
    qprof_thread *th = qp_observe(&qp_here.slot->current);
    if (th)
        qp_samples_note(th, 0, 1);
    errno = host_errno;
}
