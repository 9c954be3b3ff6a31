/* table.c: see write.h. */
#include "replay/write/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/new_file.h"
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

/* ---- files: a table and its memo grow aside, and are moved to their places when they are whole -------- */

/* Of a table without a memo, only the first. */
typedef struct {
    int fds[2];
    qp_new_file files[2];
    char paths[2][QP_PRF_PATH_BYTES];
    unsigned n;
} files;

/* Begin both, so that a folder that cannot be written to is found at once. */
static bool begin_files(files *f, const char *path, bool has_memo, const char **why)
{
    qp_text_format(f->paths[0], sizeof f->paths[0], "%s", path);
    qp_prf_memo_path(path, f->paths[1]);
    for (f->n = 0; f->n < 1u + has_memo; f->n++) {
        if (!qp_new_file_begin(&f->files[f->n], f->paths[f->n], why))
            return false;
        qp_new_file_hide(&f->files[f->n]);
    }
    return true;
}

/* Begin the table in a folder of its own, without names: nothing is left of it if we are killed. */
static bool begin_aside(qp_prf *prf, files *f, const qp_prf_options *options, const char **why)
{
    char folder[] = "/var/tmp/qprof-XXXXXX", names[2][QP_PRF_PATH_BYTES];
    if (!mkdtemp(folder)) {
        *why = "no folder can be made in /var/tmp";
        return false;
    }
    qp_text_format(names[0], sizeof names[0], "%s/table.prf", folder);
    qp_prf_memo_path(names[0], names[1]);
    int wrong = qp_prf_open(prf, names[0], options);
    for (unsigned i = 0; i < f->n && !wrong; i++) {
        f->fds[i] = qp_file_open(names[i], why);
        wrong = f->fds[i] < 0 ? EIO : 0;
    }
    unlink(names[0]);
    unlink(names[1]);
    rmdir(folder);
    *why = qp_file_reason(wrong, true);
    return !wrong;
}

static void copy(files *f, unsigned which)
{
    enum { PIECE = 1 << 16 };
    static char bytes[PIECE];
    size_t n;
    for (uint64_t at = 0; (n = qp_file_read_at(f->fds[which], bytes, PIECE, at)) > 0; at += n)
        qp_out_bytes(&f->files[which].out, bytes, n);
}

/* @return false: see why; what was there before stays */
static bool end_files(files *f, bool is_whole, const char **why)
{
    for (unsigned i = 0; i < f->n && is_whole; i++)
        copy(f, i);
    if (is_whole && qp_file_read_error()) {
        *why = strerror(qp_file_read_error());
        is_whole = false;
    }
    for (unsigned i = f->n; i-- > 0;) { /* the memo first: a table without it lacks texts */
        if (is_whole)
            is_whole = qp_new_file_end(&f->files[i], why);
        else
            qp_new_file_drop(&f->files[i]);
    }
    return is_whole;
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
    const char *why = "not enough memory";
    table *t = qp_alloc_zeroed(1, sizeof *t);
    files *f = qp_alloc_zeroed(1, sizeof *f);
    bool is_begun = t && f && begin_files(f, path, !is_text, &why);
    bool is_whole = false;
    if (f)
        f->fds[0] = f->fds[1] = -1;
    if (is_begun && begin_aside(&t->prf, f, &options, &why)) {
        t->trace = trace;
        why = "not enough memory";
        is_whole = play(t, progress, counts);
        int wrong = qp_prf_close(&t->prf);
        if (wrong)
            why = qp_file_reason(wrong, true);
        is_whole = is_whole && !wrong;
    }
    if (f)
        is_whole = end_files(f, is_whole, &why);
    for (unsigned i = 0; f && i < 2; i++)
        if (f->fds[i] >= 0)
            close(f->fds[i]);
    qp_free(t);
    qp_free(f);
    return is_whole || qp_error_fail(error, "%s: %s", path, why);
}
