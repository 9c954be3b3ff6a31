/* coverage.c: the exported functions of contexts and sources. */
#include "api/guard.h"
#include "record/control/control.h"

int qprof_context(const char *name)
{
    int code = qp_guard_begin("qprof_context");
    if (code)
        return code;
    return qp_guard_end(qp_contexts_switch(name) ? 0 : QPROF_E_MEMORY,
                        "qprof_context: out of memory");
}

int qprof_register_source(const char *file, const void *text, size_t n_bytes)
{
    if (!file || !file[0] || (n_bytes && !text))
        return qp_guard_refuse(QPROF_E_ARG, "qprof_register_source: no file name, or no text");
    int code = qp_guard_begin("qprof_register_source");
    if (code)
        return code;
    bool is_added = qp_sources_add(&qp_recorder.sources, file, text, n_bytes);
    return qp_guard_end(is_added ? 0 : QPROF_E_MEMORY, "qprof_register_source: out of memory");
}

const char *qprof_environment(void)
{
    return QP_PRODUCT_ENVIRONMENT;
}
