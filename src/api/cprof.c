/* cprof.c: the function that only libcprof has. */
#include "format/options.h"

#if QP_PRODUCT_IS_COVERAGE
#include <stdio.h>

#include "api/guard.h"
#include "record/report/report.h"

/* Not from cprof.h: here its names are those of qprof.h, renamed. */
QPROF_FN(int) cprof_live_summary(FILE *file);

int cprof_live_summary(FILE *file)
{
    int host_errno = errno;
    int fd = file && fflush(file) == 0 ? fileno(file) : -1;
    errno = host_errno;
    if (fd < 0)
        return qp_guard_refuse(QPROF_E_ARG, "cprof_live_summary: no stream, or not of a file");
    int code = qp_guard_begin("cprof_live_summary");
    if (code)
        return code;
    qp_live_summary_print(fd);
    return qp_guard_end(0, "");
}
#endif
