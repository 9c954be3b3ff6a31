/* view.c: a trace that a command of `qprof trace` reads: opening it, choosing a part, reporting what
 * is missing. Read qp_trace_view_open() first. */
#include "cli/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/glob.h"
#include "base/text/unit.h"
#include "cli/show/show.h"

/* ---- which part ------------------------------------------------------------------------------ */

static bool take_time(const qp_trace_view *v, const char *flag, const char *text, uint64_t *raw)
{
    uint64_t ns;
    if (!text)
        return true;
    if (!qp_args_time(text, &ns))
        return qp_cli_refuse(
            v->cli, "--%s=%s: expected a time of the run: 1.5s, 200ms, 17us, 5ns", flag, text);
    *raw = qp_trace_raw(qp_trace_about(v->trace), ns);
    return true;
}

static bool take_pattern(qp_trace_view *v)
{
    const char *text = v->cli->args.fold.when;
    qp_error error;
    if (!text)
        return true;
    v->pattern = qp_alloc_zeroed(1, sizeof *v->pattern);
    if (!v->pattern) {
        qp_cli_fail_memory(v->cli);
        return false;
    }
    if (qp_pattern_parse(v->pattern, text, &error) == QP_PARSE_OK)
        return true;
    qp_collapse_refuse_pattern(v->cli, text, &error);
    return false;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_trace(qp_trace_view *v)
{
    qp_error error;
    char rest[QP_ERROR_BYTES];
    v->trace = qp_trace_open(v->paths[0], &error);
    bool is_open = v->trace && (!v->paths[1] || qp_trace_join(v->trace, v->paths[1], &error));
    if (is_open)
        return true;
    if (v->trace && qp_trace_rest(v->trace, rest, sizeof rest))
        qp_cli_fail(v->cli, "%s; the program was killed and left %s: specify that", error.text,
                    rest);
    else
        qp_cli_fail(v->cli, "%s", error.text);
    return false;
}

static bool refuse_usage(const qp_cli *cli, const char *what)
{
    return qp_cli_refuse(cli, "%s usage: qprof %s [options] %s", what, cli->command->name,
                         cli->command->operands);
}

static bool take_operands(qp_trace_view *v, const char **name)
{
    char **operands = v->cli->args.operands;
    int n = v->cli->args.n_operands, first = name != NULL;
    if (n < first + 1)
        return refuse_usage(v->cli, n < first ? "missing function;" : "missing trace;");
    if (n > first + 2)
        return refuse_usage(v->cli, "too many operands;");
    if (name)
        *name = operands[0];
    v->paths[0] = operands[first];
    v->paths[1] = n == first + 2 ? operands[first + 1] : NULL;
    return true;
}

bool qp_trace_view_open(qp_trace_view *v, qp_cli *cli, const char **name)
{
    const qp_args *a = &cli->args;
    *v = (qp_trace_view){.cli = cli, .window = {0, UINT64_MAX}};
    if (!take_operands(v, name))
        return false;
    snprintf(cli->path, sizeof cli->path, "%s", v->paths[0]);
    bool is_good = open_trace(v) && qp_output_is_free(cli, a->output, v->paths[0], NULL) &&
                   (!v->paths[1] || qp_output_is_free(cli, a->output, v->paths[1], NULL)) &&
                   take_time(v, "since", a->trace.since, &v->window.from) &&
                   take_time(v, "until", a->trace.until, &v->window.to) && take_pattern(v);
    if (is_good && v->window.from >= v->window.to) {
        qp_cli_fail(cli, "--until=%s is not later than --since=%s: the window is empty",
                    a->trace.until, a->trace.since ? a->trace.since : "0");
        is_good = false;
    }
    v->progress = qp_bar_begin(&v->bar, "reading", 1);
    if (!is_good)
        qp_trace_view_close(v);
    return is_good;
}

bool qp_trace_view_again(qp_trace_view *v)
{
    qp_trace_close(v->trace);
    qp_free(v->thread_is_chosen);
    v->thread_is_chosen = NULL;
    v->n_threads = 0;
    v->has_thread = false;
    return open_trace(v);
}

void qp_trace_view_close(qp_trace_view *v)
{
    qp_bar_end(&v->bar);
    qp_trace_close(v->trace);
    qp_free(v->pattern);
    qp_free(v->scratch);
    qp_free(v->thread_is_chosen);
    v->trace = NULL;
}

const qp_trace_method *qp_trace_view_method(const qp_trace_view *v, uint32_t number)
{
    return qp_names_method_at(qp_trace_names(v->trace), number);
}

static const qp_trace_thread *thread_at(const qp_trace_view *v, uint32_t number)
{
    return qp_names_thread_at(qp_trace_names(v->trace), number);
}

uint32_t qp_trace_view_ordinal(const qp_trace_view *v, uint32_t thread)
{
    return thread_at(v, thread)->ordinal;
}

char *qp_trace_view_thread(const qp_trace_view *v, uint32_t thread, char *to, size_t n_bytes)
{
    const qp_trace_thread *th = thread_at(v, thread);
    return qp_text_format(to, n_bytes, "%" PRIu32 " %s", th->ordinal, th->name);
}

uint64_t qp_trace_view_ns(const qp_trace_view *v, uint64_t ticks)
{
    return qp_trace_ns(qp_trace_about(v->trace), ticks);
}

uint64_t qp_trace_view_moment(const qp_trace_view *v, uint64_t raw)
{
    return qp_trace_moment(qp_trace_about(v->trace), raw);
}

void qp_trace_print_written(const qp_cli *cli, uint64_t n, const char *thing)
{
    char number[QP_NUMBER_BYTES];
    qp_screen_name(&cli->screen, cli->args.output, 0);
    qp_out_format(cli->screen.out, ": %s\n", qp_unit_things(number, n, thing));
}

/* ---- which calls ----------------------------------------------------------------------------- */

static bool is_thread_wanted(const qp_trace_view *v, uint32_t number)
{
    const qp_trace_thread *th = thread_at(v, number);
    const char *wanted = v->cli->args.thread;
    if (!wanted || strcmp(th->name, wanted) == 0)
        return true;
    return *wanted && wanted[strspn(wanted, "0123456789")] == '\0' &&
           strtoull(wanted, NULL, 10) == th->ordinal;
}

/* The answer is final once a call is known: it names a thread that has no name of its own. */
static bool is_thread_chosen(qp_trace_view *v, const qp_span_thread *th)
{
    if (!v->cli->args.thread)
        return true;
    if (th->number >= v->n_threads) {
        size_t n = ((size_t)th->number + 64) * 2;
        signed char *wider = qp_realloc(v->thread_is_chosen, n, 1);
        v->failed |= !wider;
        if (!wider)
            return false;
        memset(wider + v->n_threads, 0, n - v->n_threads);
        v->thread_is_chosen = wider;
        v->n_threads = n;
    }
    signed char *answer = &v->thread_is_chosen[th->number];
    if (!*answer && is_thread_wanted(v, th->number))
        *answer = 1;
    else if (!*answer && th->depth)
        *answer = -1;
    v->has_thread |= *answer > 0;
    return *answer > 0;
}

static bool is_name_chosen(const qp_trace_view *v, const qp_span_thread *th)
{
    const qp_list *globs = &v->cli->args.trace.names;
    const char *name =
        th->depth ? qp_trace_view_method(v, th->spans[th->depth - 1].method)->name : "";
    for (size_t i = 0; i < globs->n; i++)
        if (qp_glob_fits_name(globs->items[i], name))
            return true;
    return globs->n == 0;
}

typedef struct {
    const qp_trace_view *v;
    const qp_span_thread *th;
} stack_of;

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const stack_of *s = to;
    const qp_trace_method *m = qp_trace_view_method(s->v, s->th->spans[frame].method);
    return !(m->flags & QP_METHOD_PSEUDO) &&
           qp_pattern_name_fits(s->v->pattern, item, m->pattern_module, m->bare_name);
}

static bool is_stack_chosen(qp_trace_view *v, const qp_span_thread *th)
{
    stack_of stack = {v, th};
    const qp_pattern_stack frames = {th->depth, false, frame_fits, &stack};
    int64_t charged;
    uint32_t n_deep;
    if (!v->pattern)
        return true;
    size_t n = qp_pattern_scratch(v->pattern, th->depth);
    if (n > v->scratch_bytes) {
        qp_free(v->scratch);
        v->scratch = qp_alloc(n, 2);
        v->scratch_bytes = v->scratch ? 2 * n : 0;
        v->failed |= !v->scratch;
    }
    return v->scratch && qp_pattern_match(v->pattern, &frames, v->scratch, v->scratch_bytes,
                                          &charged, &n_deep) == QP_PATTERN_YES;
}

static bool is_call_chosen(qp_trace_view *v, const qp_span_thread *th)
{
    bool is_chosen = is_thread_chosen(v, th) && is_name_chosen(v, th) && is_stack_chosen(v, th);
    v->has_call |= is_chosen;
    return is_chosen;
}

static bool is_chosen(qp_trace_view *v, const qp_span_thread *th)
{
    return v->chooses_calls ? is_call_chosen(v, th) : is_thread_chosen(v, th);
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    qp_trace_view *v = to;
    if (v->inner.enter && is_chosen(v, th))
        v->inner.enter(v->inner.to, th, s);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    qp_trace_view *v = to;
    if (v->inner.leave && is_chosen(v, th))
        v->inner.leave(v->inner.to, th, s, end);
}

static void pass_event(void *to, qp_span_thread *th, const qp_span_event *e)
{
    qp_trace_view *v = to;
    if (v->inner.event && is_chosen(v, th))
        v->inner.event(v->inner.to, th, e);
}

qp_span_sink qp_trace_view_sink(qp_trace_view *v, const qp_span_sink *inner)
{
    v->chooses_calls = v->pattern || v->cli->args.trace.names.n;
    if (!v->chooses_calls && !v->cli->args.thread)
        return *inner;
    v->inner = *inner;
    return (qp_span_sink){v, enter, leave, pass_event};
}

/* ---- playing --------------------------------------------------------------------------------- */

/* Print a line for each kind of damage. @return is something damaged? */
static bool report_damage(const qp_trace_view *v)
{
    const qp_trace_losses *lost = qp_trace_lost(v->trace);
    const qp_trace_info *info = qp_trace_about(v->trace);
    bool is_table = info->kind == QP_TRACE_OF_XBASE;
    const char *piece = is_table ? "row" : "packet";
    uint64_t n_cut = info->is_live ? 0 : lost->n_cut_bytes;
    char number[QP_NUMBER_BYTES];
    if (lost->n_packets)
        qp_cli_warn(v->cli, "%s: %s missing", v->paths[0],
                    qp_unit_things(number, lost->n_packets, "packet"));
    if (lost->n_unread_packets)
        qp_cli_warn(v->cli, "%s: %s beside it cannot be read, and may not be a link",
                    v->paths[0], qp_unit_things(number, lost->n_unread_packets, "packet"));
    if (lost->n_unread_texts)
        qp_cli_warn(v->cli,
                    "%s: parameters of %s cannot be read from the .PRV file beside it "
                    "(missing, cut, or a link)",
                    v->paths[0], qp_unit_things(number, lost->n_unread_texts, "row"));
    if (lost->n_damaged)
        qp_cli_warn(v->cli, "%s: %s damaged and left out", v->paths[0],
                    qp_unit_things(number, lost->n_damaged, piece));
    if (lost->n_skipped_bytes)
        qp_cli_warn(v->cli, "%s: %s between packets skipped", v->paths[0],
                    qp_unit_size(number, lost->n_skipped_bytes));
    if (n_cut)
        qp_cli_warn(v->cli, "%s: it is cut: %s %s", v->paths[0], qp_unit_size(number, n_cut),
                    is_table ? "of its rows are missing" : "of its last packet left out");
    if (lost->of_profile)
        qp_cli_warn(v->cli, "%s: the profile is damaged (%s)",
                    v->paths[1] ? v->paths[1] : v->paths[0], lost->of_profile);
    return lost->n_packets || lost->n_unread_packets || lost->n_unread_texts ||
           lost->n_damaged || lost->n_skipped_bytes || n_cut || lost->of_profile;
}

static void report_losses(const qp_trace_view *v, const qp_span_counts *counts)
{
    uint64_t n_places, n = qp_trace_missing(v->trace, counts, &v->window, &n_places);
    uint64_t n_unwritten = qp_trace_lost(v->trace)->n_unwritten;
    char records[QP_NUMBER_BYTES], places[QP_NUMBER_BYTES], number[QP_NUMBER_BYTES];
    char unwritten[128] = "";
    if (n_unwritten)
        qp_text_format(unwritten, sizeof unwritten, " (%s in the run could not be written)",
                       qp_unit_count(number, n_unwritten));
    if (n)
        qp_cli_warn(v->cli, "%s: %s lost in %s%s: calls around them may be cut", v->paths[0],
                    qp_unit_things(records, n, "record"),
                    qp_unit_things(places, n_places, "place"), unwritten);
}

static void report_end(const qp_trace_view *v)
{
    const qp_trace_info *info = qp_trace_about(v->trace);
    char rest[QP_ERROR_BYTES];
    if (info->kind != QP_TRACE_OF_PACKETS || info->is_ended)
        return;
    if (qp_trace_rest(v->trace, rest, sizeof rest))
        qp_cli_warn(v->cli,
                    "%s: not closed: the program was killed; specify %s as well for its last "
                    "records",
                    v->paths[0], rest);
    else
        qp_cli_warn(v->cli, "%s: not closed: the program %s", v->paths[0],
                    info->is_live ? "is still running" : "was killed");
}

int qp_trace_view_report(const qp_trace_view *v, const qp_span_counts *counts)
{
    char at[QP_NUMBER_BYTES], size[QP_NUMBER_BYTES];
    bool is_damaged = report_damage(v);
    if ((v->pattern || v->cli->args.trace.names.n) && !v->has_call)
        qp_cli_warn(v->cli, "%s: no call matches %s; qprof trace stat -n 0 lists all",
                    v->paths[0], v->pattern ? "--when" : "--name");
    if (qp_trace_about(v->trace)->is_elsewhere)
        qp_cli_warn(v->cli,
                    "%s: most records are in the trace file, FILE.qtrace: specify that; the "
                    "profile holds only those that were not written yet",
                    v->paths[0]);
    else
        report_losses(v, counts);
    if (qp_trace_lost(v->trace)->n_overwritten && counts->n_records)
        qp_cli_warn(v->cli, "%s: a flight recorder: begins %s after the start", v->paths[0],
                    qp_unit_time(at, qp_trace_view_moment(v, counts->first)));
    if (qp_trace_lost(v->trace)->n_removed_bytes && counts->n_records)
        qp_cli_warn(v->cli,
                    "%s: begins %s after the start: the first %s were removed (-trace-limit)",
                    v->paths[0], qp_unit_time(at, qp_trace_view_moment(v, counts->first)),
                    qp_unit_size(size, qp_trace_lost(v->trace)->n_removed_bytes));
    report_end(v);
    if (v->cli->args.thread && !v->has_thread)
        return qp_cli_fail(v->cli,
                           "%s: no record of a thread %s; qprof trace stat --threads lists all",
                           v->paths[0], v->cli->args.thread);
    return is_damaged ? QP_EXIT_SALVAGED : QP_EXIT_CLEAN;
}

int qp_trace_view_play(qp_trace_view *v, qp_spans *x, const qp_span_sink *inner)
{
    const qp_span_sink sink = qp_trace_view_sink(v, inner);
    qp_trace_spans(v->trace, x, &sink);
    bool is_played = qp_trace_play(v->trace, x, &v->window, &v->progress) && !v->failed;
    qp_bar_end(&v->bar);
    return is_played ? qp_trace_view_report(v, &x->counts) : qp_cli_fail_memory(v->cli);
}
