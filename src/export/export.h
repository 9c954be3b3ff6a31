/* export.h: profiles, coverage and traces in the formats of other tools, for the rooms that use it.
 *
 * A new format is a file in profile/, coverage/, timeline/ or page/, a word in a list of writers
 * (shared/profile.h, shared/coverage.h), a row of a table in registry.c, a case in
 * tests/export/sums.sh and a row of docs/formats. Writers do not include this header: they do not
 * know each other. */
#ifndef QP_EXPORT_EXPORT_H
#define QP_EXPORT_EXPORT_H

#include "base/text/error.h"
#include "export/shared/coverage.h"
#include "export/shared/profile.h"
#include "export/timeline/steps.h"

/* ---- profiles -------------------------------------------------------------------------------- */

typedef struct {
    const char *name;    /* of export --to= */
    const char *suffix;  /* of a file in this format, with its dot */
    const char *summary; /* who reads it; no capital, no full stop */
    const char *limits;  /* what we know and it cannot hold: nouns; "": nothing */
    qp_export_write *write;
    bool is_binary;     /* not for a terminal */
    bool has_measure;   /* of one value: `measure` says which */
    bool has_samples;   /* ... also samples, or PC samples */
    bool is_by_thread;  /* threads are apart unless they are merged on request */
    bool has_functions; /* also those that are on no call path: of coverage alone */
} qp_exporter;

extern const qp_exporter qp_exporters[]; /* by QP_EXPORTERS; ends without a name */

/* ---- coverage -------------------------------------------------------------------------------- */

typedef struct {
    const char *name;    /* of cover export --to= */
    const char *suffix;  /* of a file in this format, with its dot */
    const char *summary; /* who reads it; no capital, no full stop */
    const char *limits;  /* what we know and it cannot hold; "": nothing */
    qp_cover_write *write;
    bool needs_lines; /* without lines it would be empty */
} qp_cover_exporter;

extern const qp_cover_exporter
    qp_cover_exporters[];                  /* by QP_COVER_EXPORTERS; ends without a name */
extern const qp_field qp_cover_document[]; /* of the JSON, from a qp_cover */

/** @return NULL: there is none of that name */
const qp_cover_exporter *qp_cover_exporter_named(const char *name);

/** Write coverage; fails for every exporter if the lines that it needs were not recorded.
 * @param o  NULL: defaults @return as qp_cover_exporter.write */
bool qp_cover_export(const qp_cover_exporter *x, const qp_cover *c, qp_out *out,
                     const qp_cover_export_options *o, qp_error *error);

/* ---- traces ---------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    qp_steps_write *write;
    bool is_binary; /* not for a terminal */
} qp_trace_exporter;

extern const qp_trace_exporter qp_trace_exporters[]; /* chrome, perfetto, firefox */

/** Write a trace. @return false: no memory */
bool qp_trace_export_write(const qp_trace_exporter *x, qp_trace_export *trace, qp_out *out);

#endif
