/* registry.c: the lists of exporters, and how one of them is found and called. */
#include <string.h>

#include "export/export.h"

/* ---- profiles -------------------------------------------------------------------------------- */

#define QP_EXPORTER(name) &qp_export_##name,
const qp_exporter *const qp_exporters[] = {QP_EXPORTERS(QP_EXPORTER) NULL};
#undef QP_EXPORTER

const qp_exporter *qp_exporter_named(const char *name)
{
    const qp_exporter *const *x = qp_exporters;
    while (*x && strcmp((*x)->name, name) != 0)
        x++;
    return *x;
}

/* ---- coverage -------------------------------------------------------------------------------- */

#define QP_COVER_EXPORTER(name) &qp_cover_##name,
const qp_cover_exporter *const qp_cover_exporters[] = {QP_COVER_EXPORTERS(QP_COVER_EXPORTER)
                                                           NULL};
#undef QP_COVER_EXPORTER

const qp_cover_exporter *qp_cover_exporter_named(const char *name)
{
    const qp_cover_exporter *const *x = qp_cover_exporters;
    while (*x && strcmp((*x)->name, name) != 0)
        x++;
    return *x;
}

bool qp_cover_export(const qp_cover_exporter *x, const qp_cover *c, qp_out *out,
                     const qp_cover_export_options *o, qp_error *error)
{
    static const qp_cover_export_options defaults = {0};
    error->text[0] = '\0';
    if (x->needs_lines && c->totals.lines == 0 && c->grain == QP_GRAIN_FUNCTION) {
        return qp_error_fail(error,
                             "%s is about lines, and these were not recorded: "
                             "-collection-granularity=function",
                             x->name);
    }
    return x->write(c, out, o ? o : &defaults, error);
}

/* ---- traces ---------------------------------------------------------------------------------- */

bool qp_trace_export_write(const qp_trace_exporter *x, qp_trace_export *trace, qp_out *out)
{
    const qp_steps from = qp_steps_of_trace(trace);
    return x->write(&from, out);
}
