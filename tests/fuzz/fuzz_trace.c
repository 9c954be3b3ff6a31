/* fuzz_trace.c: whatever bytes a trace has: .qtrace, rings of a profile, tables, text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "replay/calls/calls.h"
#include "replay/write/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void take_line(void *to, const qp_span_thread *th, const qp_flow_line *line)
{
    (void)to;
    (void)th;
    (void)line;
}

/* Play the trace. @return records of it */
static uint64_t play(qp_trace *t, const qp_span_sink *sink, qp_spans *x)
{
    qp_trace_spans(t, x, sink);
    if (!qp_trace_play(t, x, NULL, NULL))
        abort(); /* there is memory enough for 4 KiB */
    return x->counts.n_records;
}

static void sum_up(const char *path)
{
    qp_error error;
    qp_spans x;
    qp_stats s;
    qp_trace *t = qp_trace_open(path, &error);
    if (!t) {
        if (!error.text[0] || strchr(error.text, '\n'))
            abort();
        return;
    }
    qp_stats_init(&s, true);
    const qp_span_sink sink = qp_stats_sink(&s);
    play(t, &sink, &x);
    qp_spans_fini(&x);
    qp_stats_fini(&s);
    qp_trace_close(t);
}

static void show_flow(const char *path)
{
    qp_error error;
    qp_spans x;
    qp_trace *t = qp_trace_open(path, &error);
    if (!t)
        return;
    qp_flow flow = {.line = take_line};
    const qp_span_sink sink = qp_flow_sink(&flow);
    play(t, &sink, &x);
    qp_flow_end(&flow, &x);
    qp_spans_fini(&x);
    qp_trace_close(t);
}

/* What is written again can be read again. */
static void convert(const char *path, const char *copy)
{
    static qp_out out;
    qp_error error;
    qp_span_counts counts;
    qp_qtrace_omitted omitted;
    qp_trace *t = qp_trace_open(path, &error);
    FILE *file = t ? fopen(copy, "wb") : NULL;
    if (file) {
        qp_out_init(&out, fileno(file));
        if (!qp_qtrace_write(t, &out, NULL, &counts, &omitted) || qp_out_close(&out) != 0)
            abort();
        fclose(file);
        sum_up(copy);
    }
    qp_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    char path[64], copy[64];
    snprintf(path, sizeof path, "/dev/shm/fuzz_trace.%d", (int)getpid());
    snprintf(copy, sizeof copy, "/dev/shm/fuzz_trace.%d.copy", (int)getpid());
    FILE *file = fopen(path, "wb");
    if (!file)
        return 0;
    fwrite(bytes, 1, n_bytes, file);
    fclose(file);
    sum_up(path);
    show_flow(path);
    convert(path, copy);
    unlink(path);
    unlink(copy);
    return 0;
}
