/* export.h: profiles, coverage and traces in the formats of other tools, for the rooms that use it.
 *
 * A new format is a file in profile/, coverage/, timeline/ or page/ that defines an exporter, a word
 * in one of the lists below, a case in tests/export/sums.sh and a row of docs/formats. Writers do not include this header: they do not know each other. */
#ifndef QP_EXPORT_EXPORT_H
#define QP_EXPORT_EXPORT_H

#include "base/text/error.h"
#include "export/shared/coverage.h"
#include "export/shared/profile.h"
#include "export/timeline/steps.h"

/* ---- profiles -------------------------------------------------------------------------------- */

#define QP_EXPORTERS(X)                                                                        \
    X(pprof)                                                                                   \
    X(callgrind)                                                                               \
    X(folded)                                                                                  \
    X(speedscope)                                                                              \
    X(dot)                                                                                     \
    X(quantify)                                                                                \
    X(csv)                                                                                     \
    X(json)                                                                                    \
    X(cpuprofile)                                                                              \
    X(chrome)                                                                                  \
    X(firefox)                                                                                 \
    X(perfetto)                                                                                \
    X(sqlite)                                                                                  \
    X(html)

#define QP_EXPORTER(name) extern const qp_exporter qp_export_##name;
QP_EXPORTERS(QP_EXPORTER)
#undef QP_EXPORTER

extern const qp_exporter *const qp_exporters[]; /* as listed; ends with NULL */

/** @return NULL: there is none of that name */
const qp_exporter *qp_exporter_named(const char *name);

/* ---- coverage -------------------------------------------------------------------------------- */

#define QP_COVER_EXPORTERS(X)                                                                  \
    X(lcov)                                                                                    \
    X(cobertura)                                                                               \
    X(gcovr)                                                                                   \
    X(sonarqube)                                                                               \
    X(luacov)                                                                                  \
    X(json)                                                                                    \
    X(purecov)                                                                                 \
    X(html)

#define QP_COVER_EXPORTER(name) extern const qp_cover_exporter qp_cover_##name;
QP_COVER_EXPORTERS(QP_COVER_EXPORTER)
#undef QP_COVER_EXPORTER

extern const qp_cover_exporter *const qp_cover_exporters[]; /* as listed; ends with NULL */

/** @return NULL: there is none of that name */
const qp_cover_exporter *qp_cover_exporter_named(const char *name);

/** Write coverage; fails for every exporter if the lines that it needs were not recorded.
 * @param o  NULL: defaults @return as qp_cover_exporter.write */
bool qp_cover_export(const qp_cover_exporter *x, const qp_cover *c, qp_out *out,
                     const qp_cover_export_options *o, qp_error *error);

/* ---- traces ---------------------------------------------------------------------------------- */

#define QP_TRACE_EXPORTERS(X)   X(chrome) X(perfetto) X(firefox)
#define QP_TRACE_EXPORTER(name) extern const qp_trace_exporter qp_trace_export_##name;
QP_TRACE_EXPORTERS(QP_TRACE_EXPORTER)
#undef QP_TRACE_EXPORTER

/** Write a trace. @return false: no memory */
bool qp_trace_export_write(const qp_trace_exporter *x, qp_trace_export *trace, qp_out *out);

#endif
