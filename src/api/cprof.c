/* cprof.c: the call that libcprof alone has. */
#include "format/product.h"

#if QP_PRODUCT_IS_COVERAGE
#include <stdio.h>

#include "api/door.h"
#include "record/live_summary.h"

/* cprof.h cannot be included: in here its names are those of qprof.h, renamed. */
QPROF_API int cprof_live_summary(FILE *file);

int cprof_live_summary(FILE *file)
{
    int host_errno = errno;
    int fd = file && fflush(file) == 0 ? fileno(file) : -1;
    errno = host_errno;
    if (fd < 0)
        return qp_door_refuse(QPROF_E_ARG,
                              "cprof_live_summary: the stream is none, or not a file");
    if (qp_state() != QP_STATE_RUNNING)
        return qp_door_refuse(QPROF_E_STATE, "cprof_live_summary: not running");
    if (!qp_control_lock())
        return qp_door_refuse(QPROF_E_STATE, "cprof_live_summary: inside another call");
    if (qp_state() == QP_STATE_RUNNING)
        qp_live_summary_print(fd);
    qp_control_unlock();
    errno = host_errno;
    return 0;
}
#endif
