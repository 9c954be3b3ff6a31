/* table.c: see write.h. */
#include "replay/write/write.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "xbase/xbase.h"

enum { PARAMS_BYTES = 4096, SYMBOL_BYTES = 64 };

typedef struct {
    qp_trace *trace;
    qp_prf prf;
    char params[PARAMS_BYTES]; /* of the next call */
    size_t n_params;
    uint32_t line; /* of the newest record that has one */
    uint64_t n_rows;
} table;

static void put_row(table *t, const qp_span_thread *th, char op, uint32_t method, uint32_t line)
{
    const qp_names *names = qp_trace_names(t->trace);
    const char *name = qp_names_method_at(names, method)->name;
    const qp_prf_row row = {.thread = qp_names_thread_at(names, th->number)->ordinal,
                            .line = line,
                            .time_ms =
                                qp_trace_moment(qp_trace_about(t->trace), th->raw) / 1000000,
                            .op = op,
                            .call = name,
                            .call_bytes = strlen(name),
                            .params = t->params,
                            .params_bytes = t->n_params};
    qp_prf_put(&t->prf, &row);
    t->n_rows++;
    t->n_params = 0;
    t->line = 0;
}

static uint32_t first_line(const table *t, const qp_span *s)
{
    return qp_names_method_at(qp_trace_names(t->trace), s->method)->first_line;
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    table *t = to;
    bool is_xbase = qp_trace_about(t->trace)->kind == QP_TRACE_OF_XBASE;
    if (!(s->flags & (QP_SPAN_CUT | QP_SPAN_FOREIGN)))
        put_row(t, th, 'I', s->method, is_xbase ? t->line : first_line(t, s));
}

/* Calls that did not return have no row. */
static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    table *t = to;
    if (end == QP_END_RETURNED && !(s->flags & QP_SPAN_FOREIGN))
        put_row(t, th, 'O', s->method, t->line ? t->line : first_line(t, s));
}

static void take_event(void *to, qp_span_thread *th, const qp_span_event *e)
{
    table *t = to;
    qp_names *names = qp_trace_names(t->trace);
    if (e->op == QP_TRACE_CALL || e->op == QP_TRACE_RETURN)
        put_row(t, th, e->op == QP_TRACE_CALL ? 'i' : 'o', qp_names_method(names, e->a), e->b);
    else if (e->op == QP_TRACE_LINE)
        t->line = e->a;
    else if (e->op == QP_TRACE_VALUE && t->n_params < PARAMS_BYTES - 1)
        t->n_params +=
            strlen(qp_text_format(t->params + t->n_params, PARAMS_BYTES - t->n_params, "%s%s",
                                  t->n_params ? ", " : "", e->text));
}

/* Of the run, or of the table that it was read from; if neither is known, today. */
static qp_dbf_day day_of(const qp_trace_info *info)
{
    uint64_t known = info->started_at ? info->started_at : info->changed_at;
    time_t at = (time_t)((known ? known : qp_clock_wall()) / 1000000000);
    struct tm day = {.tm_year = 70, .tm_mday = 1};
    gmtime_r(&at, &day);
    return (qp_dbf_day){(uint8_t)day.tm_year, (uint8_t)(day.tm_mon + 1), (uint8_t)day.tm_mday};
}

static bool play(table *t, const qp_progress *progress, qp_span_counts *counts)
{
    qp_spans x;
    const qp_span_sink sink = {t, enter, leave, take_event};
    qp_trace_spans(t->trace, &x, &sink);
    x.counts_from_call = false; /* each record at its own time */
    bool is_played = qp_trace_play_on(t->trace, &x, NULL, progress);
    *counts = x.counts;
    counts->n_records = t->n_rows;
    qp_spans_fini(&x);
    return is_played && !t->prf.error;
}

/* Nothing half-written stays. */
static void remove_table(const char *path, bool has_memo)
{
    char memo[QP_PRF_PATH_BYTES];
    qp_prf_memo_path(path, memo);
    unlink(path);
    if (has_memo)
        unlink(memo);
}

bool qp_trace_write_table(qp_trace *trace, const char *path, bool is_text,
                          const qp_progress *progress, qp_span_counts *counts, qp_error *error)
{
    const qp_prf_options options = {.is_text = is_text,
                                    .has_time = true,
                                    .has_line = true,
                                    .has_params = true,
                                    .symbol_bytes = SYMBOL_BYTES,
                                    .flush_every = 1000,
                                    .day = day_of(qp_trace_about(trace))};
    table *t = qp_alloc_zeroed(1, sizeof *t);
    bool is_new = access(path, F_OK) != 0;
    int wrong = t ? qp_prf_open(&t->prf, path, &options) : 0;
    bool is_open = t && !wrong, is_played = false;
    if (is_open) {
        t->trace = trace;
        is_played = play(t, progress, counts);
        wrong = qp_prf_close(&t->prf);
    }
    if (!is_played || wrong)
        qp_error_fail(error, "%s: %s", path, wrong ? strerror(wrong) : "not enough memory");
    if ((is_open || is_new) && (!is_played || wrong))
        remove_table(path, !is_text);
    qp_free(t);
    return is_played && !wrong;
}
