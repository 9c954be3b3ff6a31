/* pc_none.c: PC sampling, as libcprof exports it: the calls exist and do nothing. */
#include "api/door.h"

#if QP_PRODUCT_IS_COVERAGE

static int refuse(void)
{
    return qp_door_refuse(QPROF_E_UNSUPPORTED, "libcprof does not sample");
}

unsigned qprof_pc_supported(void)
{
    return 0;
}

int qprof_pc_command(const char *text, int *error_column)
{
    (void)text;
    if (error_column)
        *error_column = 0;
    return refuse();
}

int qprof_pc_off(void)
{
    return refuse();
}

int qprof_pc_sample(unsigned n)
{
    (void)n;
    return refuse();
}

uint32_t qprof_path(qprof_thread *th, uint32_t path, qprof_MethodID method)
{
    (void)th, (void)path, (void)method;
    return 0;
}

void qprof_sample_path(qprof_thread *th, uint32_t path)
{
    (void)th, (void)path;
}

void qprof_pc_enter_critical(void)
{
}

void qprof_pc_leave_critical(void)
{
}

int qprof_pc_totals(qprof_PcTotals *totals)
{
    (void)totals;
    return refuse();
}

int qprof_pc_procedure(qprof_MethodID id, uint64_t *shallow, uint64_t *deep)
{
    (void)id, (void)shallow, (void)deep;
    return refuse();
}

int qprof_pc_list(const char *file)
{
    (void)file;
    return refuse();
}

qprof_PcPattern *qprof_pc_pattern_compile(const char *pattern, int *error_column)
{
    (void)pattern;
    if (error_column)
        *error_column = 0;
    refuse();
    return NULL;
}

int qprof_pc_pattern_match(const qprof_PcPattern *p, const char *const *frames, int n,
                           int *charged)
{
    (void)p, (void)frames, (void)n, (void)charged;
    return refuse();
}

void qprof_pc_pattern_free(qprof_PcPattern *p)
{
    (void)p;
}

#endif
