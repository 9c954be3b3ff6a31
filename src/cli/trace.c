/* trace.c: `qprof trace`: its commands, and what they have in common. */
#include "cli/trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/glob.h"
#include "base/unit.h"
#include "cli/fold.h"
#include "cli/output.h"

/* ---- which part ------------------------------------------------------------------------------ */

#define LONGEST_NS 1e18 /* 31 years: more is no time of a run */

/* "1.5s" in ns; without a unit: seconds. @return false: it is no time */
static bool read_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value) || value < 0 || !isdigit((unsigned char)*text))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && value * units[i].ns < LONGEST_NS) {
            *ns = (uint64_t)llround(value * units[i].ns);
            return true;
        }
    return false;
}

static bool take_time(const qp_trace_view *v, const char *flag, const char *text, uint64_t *raw)
{
    uint64_t ns;
    if (!text)
        return true;
    if (!read_time(text, &ns)) {
        qp_cli_fail(v->cli, "--%s=%s: expected a time of the run: 1.5s, 200ms, 17us, 5ns", flag,
                    text);
        return false;
    }
    *raw = qp_trace_raw(qp_trace_about(v->trace), ns);
    return true;
}

static bool take_pattern(qp_trace_view *v)
{
    const char *text = v->cli->args.fold.when;
    qp_parse_error error;
    if (!text)
        return true;
    v->pattern = qp_alloc_zeroed(1, sizeof *v->pattern);
    if (!v->pattern) {
        qp_cli_fail_memory(v->cli);
        return false;
    }
    if (qp_pattern_parse(v->pattern, text, &error) == QP_PARSE_OK)
        return true;
    qp_fold_refuse_pattern(v->cli, text, &error);
    return false;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_trace(qp_trace_view *v)
{
    char error[QP_ERROR_BYTES], rest[QP_ERROR_BYTES];
    v->trace = qp_trace_open(v->paths[0], error);
    bool is_open = v->trace && (!v->paths[1] || qp_trace_join(v->trace, v->paths[1], error));
    if (is_open)
        return true;
    if (v->trace && qp_trace_rest(v->trace, rest, sizeof rest))
        qp_cli_fail(v->cli, "%s; its program was killed and left %s: name that", error, rest);
    else
        qp_cli_fail(v->cli, "%s", error);
    return false;
}

static bool refuse_usage(const qp_cli *cli, const char *what)
{
    qp_cli_fail(cli, "%s usage: qprof %s [options] %s", what, cli->command->name,
                cli->command->operands);
    return false;
}

/* What does the command take? */
static bool take_operands(qp_trace_view *v, const char **name)
{
    char **operands = v->cli->args.operands;
    int n = v->cli->args.n_operands, first = name != NULL;
    if (n < first + 1)
        return refuse_usage(v->cli, n < first ? "which function?" : "which trace?");
    if (n > first + 2)
        return refuse_usage(v->cli, "a trace and the profile that it belongs to are the most;");
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
                   take_time(v, "since", a->trace.since, &v->window.from) &&
                   take_time(v, "until", a->trace.until, &v->window.to) && take_pattern(v);
    if (is_good && v->window.from >= v->window.to) {
        qp_cli_fail(cli, "--until=%s is not later than --since=%s: nothing lies between",
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
    qp_free(v->thread_is_meant);
    v->thread_is_meant = NULL;
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
    qp_free(v->thread_is_meant);
    v->trace = NULL;
}

char *qp_trace_thread_text(const qp_trace_view *v, uint32_t thread, char *to, size_t n_bytes)
{
    const qp_trace_thread *th = qp_names_thread_at(qp_trace_names(v->trace), thread);
    return qp_text_format(to, n_bytes, "%" PRIu32 " %s", th->ordinal, th->name);
}

/* ---- which calls ----------------------------------------------------------------------------- */

static bool is_thread_wanted(const qp_trace_view *v, uint32_t number)
{
    const qp_trace_thread *th = qp_names_thread_at(qp_trace_names(v->trace), number);
    const char *wanted = v->cli->args.thread;
    if (!wanted || strcmp(th->name, wanted) == 0)
        return true;
    return *wanted && wanted[strspn(wanted, "0123456789")] == '\0' &&
           strtoull(wanted, NULL, 10) == th->ordinal;
}

/* Asked until a call is known, by which a thread is named that has no name of its own. */
static bool is_thread_meant(qp_trace_view *v, const qp_span_thread *th)
{
    if (!v->cli->args.thread)
        return true;
    if (th->number >= v->n_threads) {
        size_t n = ((size_t)th->number + 64) * 2;
        signed char *wider = qp_realloc(v->thread_is_meant, n, 1);
        v->failed |= !wider;
        if (!wider)
            return false;
        memset(wider + v->n_threads, 0, n - v->n_threads);
        v->thread_is_meant = wider;
        v->n_threads = n;
    }
    signed char *answer = &v->thread_is_meant[th->number];
    if (!*answer && is_thread_wanted(v, th->number))
        *answer = 1;
    else if (!*answer && th->depth)
        *answer = -1;
    v->has_thread |= *answer > 0;
    return *answer > 0;
}

static bool is_name_meant(const qp_trace_view *v, const qp_span_thread *th)
{
    const qp_list *globs = &v->cli->args.trace.names;
    const char *name = th->depth ? qp_names_method_at(qp_trace_names(v->trace),
                                                      th->spans[th->depth - 1].method)
                                       ->name
                                 : "";
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
    const qp_trace_method *m =
        qp_names_method_at(qp_trace_names(s->v->trace), s->th->spans[frame].method);
    return !(m->flags & QP_METHOD_PSEUDO) &&
           qp_pattern_name_fits(s->v->pattern, item, m->pattern_module, m->bare_name);
}

static bool is_stack_meant(qp_trace_view *v, const qp_span_thread *th)
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

static bool is_call_meant(qp_trace_view *v, const qp_span_thread *th)
{
    bool is_meant = is_thread_meant(v, th) && is_name_meant(v, th) && is_stack_meant(v, th);
    v->has_call |= is_meant;
    return is_meant;
}

static void enter_thread(void *to, qp_span_thread *th, qp_span *s)
{
    qp_trace_view *v = to;
    if (v->inner.enter && is_thread_meant(v, th))
        v->inner.enter(v->inner.to, th, s);
}

static void leave_thread(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    qp_trace_view *v = to;
    if (v->inner.leave && is_thread_meant(v, th))
        v->inner.leave(v->inner.to, th, s, end);
}

static void tell_thread(void *to, qp_span_thread *th, const qp_span_event *e)
{
    qp_trace_view *v = to;
    if (v->inner.event && is_thread_meant(v, th))
        v->inner.event(v->inner.to, th, e);
}

static void enter_call(void *to, qp_span_thread *th, qp_span *s)
{
    qp_trace_view *v = to;
    if (v->inner.enter && is_call_meant(v, th))
        v->inner.enter(v->inner.to, th, s);
}

static void leave_call(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    qp_trace_view *v = to;
    if (v->inner.leave && is_call_meant(v, th))
        v->inner.leave(v->inner.to, th, s, end);
}

static void tell_call(void *to, qp_span_thread *th, const qp_span_event *e)
{
    qp_trace_view *v = to;
    if (v->inner.event && is_call_meant(v, th))
        v->inner.event(v->inner.to, th, e);
}

qp_span_sink qp_trace_view_threads(qp_trace_view *v, const qp_span_sink *inner)
{
    if (!v->cli->args.thread)
        return *inner;
    v->inner = *inner;
    return (qp_span_sink){v, enter_thread, leave_thread, tell_thread};
}

qp_span_sink qp_trace_view_calls(qp_trace_view *v, const qp_span_sink *inner)
{
    if (!v->pattern && !v->cli->args.trace.names.n)
        return qp_trace_view_threads(v, inner);
    v->inner = *inner;
    return (qp_span_sink){v, enter_call, leave_call, tell_call};
}

/* ---- playing --------------------------------------------------------------------------------- */

/* One line for each thing that is missing. @return is something damaged? */
static bool remark_on_damage(const qp_trace_view *v)
{
    const qp_trace_losses *lost = qp_trace_lost(v->trace);
    char number[QP_NUMBER_BYTES];
    if (lost->n_packets)
        qp_cli_warn(v->cli, "%s: %s missing", v->paths[0],
                    qp_unit_things(number, lost->n_packets, "packet"));
    if (lost->n_damaged)
        qp_cli_warn(v->cli, "%s: %s damaged and left out", v->paths[0],
                    qp_unit_things(number, lost->n_damaged,
                                   qp_trace_about(v->trace)->kind == QP_TRACE_OF_XBASE
                                       ? "row"
                                       : "packet"));
    if (lost->n_skipped_bytes)
        qp_cli_warn(v->cli, "%s: %s between packets skipped", v->paths[0],
                    qp_unit_size(number, lost->n_skipped_bytes));
    if (lost->n_cut_bytes && !qp_trace_about(v->trace)->is_live)
        qp_cli_warn(v->cli, "%s: the last packet is not whole: %s left out", v->paths[0],
                    qp_unit_size(number, lost->n_cut_bytes));
    return lost->n_packets || lost->n_damaged || lost->n_skipped_bytes ||
           (lost->n_cut_bytes && !qp_trace_about(v->trace)->is_live);
}

/* Nothing is shown of what is not there; it may be a slip of the pen. */
static void remark_on_choice(const qp_trace_view *v)
{
    if ((v->pattern || v->cli->args.trace.names.n) && !v->has_call)
        qp_cli_warn(v->cli, "%s: no call in it fits %s; qprof trace stat -n 0 shows all",
                    v->paths[0], v->pattern ? "--when" : "--name");
}

static void remark_on_losses(const qp_trace_view *v, const qp_span_counts *counts)
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

static void remark_on_end(const qp_trace_view *v)
{
    const qp_trace_info *info = qp_trace_about(v->trace);
    char rest[QP_ERROR_BYTES];
    if (info->kind != QP_TRACE_OF_PACKETS || info->is_ended)
        return;
    if (qp_trace_rest(v->trace, rest, sizeof rest))
        qp_cli_warn(v->cli,
                    "%s: not closed: its program was killed; what it had not written is in %s: "
                    "name that, too",
                    v->paths[0], rest);
    else
        qp_cli_warn(v->cli, "%s: not closed: its program %s", v->paths[0],
                    info->is_live ? "is still running" : "was killed");
}

int qp_trace_view_remark(const qp_trace_view *v, const qp_span_counts *counts)
{
    const qp_trace_info *info = qp_trace_about(v->trace);
    char at[QP_NUMBER_BYTES];
    bool is_damaged = remark_on_damage(v);
    remark_on_choice(v);
    if (info->is_elsewhere)
        qp_cli_warn(v->cli,
                    "%s: its records went to its trace file, FILE.qtrace: read that; here are "
                    "only those that were not written yet",
                    v->paths[0]);
    else
        remark_on_losses(v, counts);
    if (qp_trace_lost(v->trace)->n_overwritten && counts->n_records)
        qp_cli_warn(v->cli, "%s: a flight recorder: it begins %s after the start", v->paths[0],
                    qp_unit_time(at, qp_trace_moment(info, counts->first)));
    remark_on_end(v);
    if (v->cli->args.thread && !v->has_thread)
        return qp_cli_fail(v->cli,
                           "%s: nothing of a thread %s is in it; qprof trace stat "
                           "--threads shows all",
                           v->paths[0], v->cli->args.thread);
    return is_damaged ? QP_EXIT_SALVAGED : QP_EXIT_CLEAN;
}

int qp_trace_view_play(qp_trace_view *v, qp_spans *x)
{
    bool is_played = qp_trace_play(v->trace, x, &v->window, &v->progress) && !v->failed;
    qp_bar_end(&v->bar);
    if (!is_played)
        return qp_cli_fail_memory(v->cli);
    return qp_trace_view_remark(v, &x->counts);
}

/* ---- the group ------------------------------------------------------------------------------- */

static const qp_command *const subs[] = {&qp_command_trace_dump,    &qp_command_trace_stat,
                                         &qp_command_trace_flow,    &qp_command_trace_slow,
                                         &qp_command_trace_profile, &qp_command_trace_export,
                                         &qp_command_trace_convert, &qp_command_trace_rebuild,
                                         &qp_command_trace_remark,  NULL};

const qp_command qp_command_trace = {
    .name = "trace",
    .operands = "COMMAND ...",
    .summary = "raw traces: what happened, in order",
    .about =
        "A raw trace is the record of every call and return. These commands read it from a\n"
        ".qtrace file (also packed by zstd), from the rings of a profile (a flight recorder:\n"
        "live, left by a crash, or sealed), and from the DBF and delimited files of the\n"
        "Xbase++ profiler, in one file or in packets. FILE may be the id of a process.\n"
        "A .qtrace file of a program that was killed goes on in the rings of its profile:\n"
        "name both.",
    .examples = "qprof trace stat run.qtrace\n"
                "qprof trace slow handle_request run.qtrace\n"
                "qprof trace dump -f 4242",
    .subs = subs};
