/* trace.h: raw traces as timelines in the formats of others, with their real times.
 *
 * Each exporter is a file src/export/trace_NAME.c. Calls are written as they are read: memory does not
 * grow with the trace, but for firefox. */
#ifndef QP_EXPORT_TRACE_H
#define QP_EXPORT_TRACE_H

#include "base/out.h"
#include "replay/trace.h"

typedef struct {
    qp_trace *trace; /* open, and not read yet */
    const qp_trace_window *window;
    const qp_progress *progress;
    /* A sink that is told of less: the threads that are wanted. */
    qp_span_sink (*choose)(void *to, const qp_span_sink *inner);
    void *to;
    qp_span_counts counts; /* what was in it, afterwards */
} qp_trace_export;

typedef struct {
    const char *name, *suffix;
    const char *summary; /* who reads it */
    bool is_binary;      /* not for a terminal */
    /* @return false: no memory */
    bool (*write)(qp_trace_export *x, qp_out *out);
} qp_trace_exporter;

#define QP_TRACE_EXPORTERS(X)   X(chrome) X(perfetto) X(firefox)
#define QP_TRACE_EXPORTER(name) extern const qp_trace_exporter qp_trace_export_##name;
QP_TRACE_EXPORTERS(QP_TRACE_EXPORTER)
#undef QP_TRACE_EXPORTER

/* Play the trace, all records at their own times, for a writer. @return false: no memory */
bool qp_trace_export_play(qp_trace_export *x, const qp_span_sink *sink);

/* ns from the run's start to the beginning of a call. */
uint64_t qp_trace_export_begin(const qp_trace_export *x, const qp_span *s);

#endif
