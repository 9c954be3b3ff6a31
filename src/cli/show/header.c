/* header.c: the block above every report, and the same as JSON. */
#include "cli/show/show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LABEL_COLUMNS = 12, ARGUMENTS_COLUMNS = 200 };

char *qp_header_moment(char *to, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    snprintf(to, QP_MOMENT_BYTES, "at an unknown time");
    if (ns && localtime_r(&seconds, &parts))
        strftime(to, QP_MOMENT_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
    return to;
}

void qp_header_label(const qp_screen *s, const char *label)
{
    qp_out_text(s->out, "  ");
    qp_screen_text(s, QP_STYLE_DIM, label);
    qp_out_repeat(s->out, ' ', LABEL_COLUMNS - strlen(label));
}

void qp_header_line(const qp_screen *s, const char *label, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    qp_header_label(s, label);
    qp_screen_name(s, text, 0);
    qp_out_char(s->out, '\n');
}

void qp_header_program(const qp_screen *s, const char *program, const char *script)
{
    qp_screen_name(s, *program ? program : "?", 60);
    qp_out_text(s->out, *script ? " " : "");
    qp_screen_name(s, script, 60);
}

void qp_header_labels(const qp_screen *s, const char *labels)
{
    if (!*labels)
        return;
    qp_header_label(s, "labels");
    qp_screen_name(s, labels, 0);
    qp_out_char(s->out, '\n');
}

static void print_title(const qp_screen *s, const qp_model *m, const char *path)
{
    const qp_run_info *run = &m->run;
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_header_program(s, run->program, run->script);
    qp_screen_style(s, QP_STYLE_PLAIN);
    char profiles[QP_NUMBER_BYTES];
    if (run->n_stored)
        qp_out_format(s->out, ", %s of a store",
                      qp_unit_things(profiles, run->n_stored, "profile"));
    else if (run->is_merged)
        qp_out_text(s->out, ", several runs");
    else if (run->pid)
        qp_out_format(s->out, ", process %" PRIu64, run->pid);
    if (*run->label) {
        qp_out_text(s->out, ", ");
        qp_screen_name(s, run->label, 60);
    }
    qp_out_text(s->out, "  (");
    qp_screen_name(s, path, 0);
    qp_out_text(s->out, ")\n");
}

/* What was executed, where, by what, and as what. */
static void print_names(const qp_screen *s, const qp_run_info *run)
{
    if (*run->arguments) {
        qp_header_label(s, "arguments");
        qp_screen_name(s, run->arguments, ARGUMENTS_COLUMNS);
        qp_out_char(s->out, '\n');
    }
    if (*run->folder || *run->host_version) {
        qp_header_label(s, "started");
        qp_out_text(s->out, *run->folder ? "in " : "by ");
        qp_screen_name(s, *run->folder ? run->folder : run->host_version, 0);
        if (*run->folder && *run->host_version) {
            qp_out_text(s->out, ", by ");
            qp_screen_name(s, run->host_version, 40);
        }
        qp_out_char(s->out, '\n');
    }
    qp_header_labels(s, run->labels);
}

static void print_run(const qp_screen *s, const qp_model *m)
{
    const qp_run_info *run = &m->run;
    char moment[QP_MOMENT_BYTES], number[QP_NUMBER_BYTES];
    qp_header_label(s, "recorded");
    qp_out_text(s->out, qp_header_moment(moment, run->started_at));
    if (qp_view_is_time(m) && run->wall)
        qp_out_format(s->out, ", for %s", qp_view_amount(m, number, run->wall));
    if (run->stopped && qp_view_is_time(m))
        qp_out_format(s->out, " (%s of it stopped)", qp_view_amount(m, number, run->stopped));
    if (run->state == QP_RUN_LIVE)
        qp_out_text(s->out, "; still running");
    if (run->state == QP_RUN_SNAPSHOT)
        qp_out_text(s->out, "; a snapshot");
    qp_out_text(s->out, "\n");
    if (run->state == QP_RUN_CRASHED) {
        qp_header_label(s, "unsealed");
        qp_screen_text(s, QP_STYLE_BAD, "the program was killed");
        qp_out_text(s->out, "; figures go up to each thread's last event\n");
    }
}

static void print_totals(const qp_screen *s, const qp_model *m)
{
    const qp_run_info *run = &m->run;
    char calls[QP_NUMBER_BYTES], functions[QP_NUMBER_BYTES], threads[QP_NUMBER_BYTES];
    char time[QP_NUMBER_BYTES];
    uint64_t n_called = 0;
    for (uint32_t i = 1; i < m->n_methods; i++)
        n_called += qp_figures_is_seen(&m->methods[i].all);
    qp_header_label(s, "totals");
    if (run->has_calls)
        qp_out_text(s->out, qp_unit_things(calls, run->calls + run->calls_lost, "call"));
    if (run->calls_lost)
        qp_out_format(s->out, ", %s of them lost,", qp_unit_count(calls, run->calls_lost));
    if (run->has_calls)
        qp_out_text(s->out, " of ");
    qp_out_format(s->out, "%s on %s", qp_unit_things(functions, n_called, "function"),
                  qp_unit_things(threads, qp_view_threads(m), "thread"));
    if (run->has_times)
        qp_out_format(s->out, ", %s in all", qp_view_amount(m, time, run->total));
    if (qp_run_has(run) & QP_HAS_WAITS)
        qp_out_format(s->out, ", %s (%s %%) of it waiting", qp_view_amount(m, calls, run->off),
                      qp_unit_percent(functions, run->off, run->total));
    qp_out_char(s->out, '\n');
}

/* Before any function: what the collector took is in no other line. */
static void print_collector(const qp_screen *s, const qp_model *m)
{
    const qp_run_info *run = &m->run;
    char time[QP_NUMBER_BYTES], half[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES],
        with[QP_NUMBER_BYTES], finalizers[64] = "";
    bool is_estimate = run->collector_half > 0;
    if (!run->has_times || !run->collector_total)
        return;
    if (run->collector_total > run->collector)
        snprintf(finalizers, sizeof finalizers, "; %s %% with finalizers",
                 qp_unit_percent(with, run->collector_total, run->total));
    qp_header_line(s, "collector", "%s %% of the %s (%s%s%s%s)%s%s",
                   qp_unit_percent(percent, run->collector, run->total), qp_view_noun(m),
                   qp_view_amount(m, time, run->collector), is_estimate ? " " : "",
                   is_estimate ? qp_screen_sign(s, QP_SIGN_HALF) : "",
                   is_estimate ? qp_view_amount(m, half, run->collector_half) : "", finalizers,
                   run->is_collector_charged ? "; included in its callers" : "");
}

/* The part of the run that is shown, if not all of it. */
static void print_fold(const qp_screen *s, const qp_model *m)
{
    const qp_run_info *run = &m->run;
    char part[QP_NUMBER_BYTES], whole[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES], of[512] = "";
    if (run->has_times)
        snprintf(of, sizeof of, ": %s of %s (%s %%)", qp_view_amount(m, part, run->total),
                 qp_view_amount(m, whole, run->unfolded_total),
                 qp_unit_percent(percent, run->total, run->unfolded_total));
    if (*run->focus) {
        qp_header_label(s, "focus");
        qp_screen_name(s, run->focus, 40);
        qp_out_format(s->out, "%s%s\n", run->has_times ? " and what it called" : "", of);
    }
    if (*run->when) {
        qp_header_label(s, "when");
        qp_screen_name(s, run->when, 60);
        qp_out_format(s->out, "%s\n", of);
    }
    if (run->n_hidden) {
        uint64_t lost = 0;
        for (uint32_t i = 1; i < m->n_threads; i++)
            lost += m->nodes[m->threads[i].root].f.self;
        qp_header_line(s, "hidden", "%s, collapsed into callers%s%s%s",
                       qp_unit_things(part, run->n_hidden, "function"), lost ? "; " : "",
                       lost ? qp_view_amount(m, whole, lost) : "",
                       lost ? " have none that is shown" : "");
    }
}

/* Of what another tool recorded: which one, and what it did not see. */
static void print_import(const qp_screen *s, const qp_run_info *run)
{
    if (!run->is_imported)
        return;
    qp_header_label(s, "imported");
    qp_out_text(s->out, "from ");
    qp_screen_name(s, run->version, 60);
    qp_out_text(s->out, run->has_calls ? "" : "; calls were not counted");
    qp_out_text(s->out, run->has_paths || !run->is_profile
                            ? ""
                            : "; call paths are estimated from callers and callees");
    qp_out_char(s->out, '\n');
}

static void print_measure(const qp_screen *s, const qp_model *m)
{
    const qp_run_info *run = &m->run;
    char wanted[QP_NUMBER_BYTES], reached[QP_NUMBER_BYTES], passes[QP_NUMBER_BYTES];
    const char *noun = qp_view_is_time(m) ? " time" : "";
    const char *calls = run->has_calls ? "exact calls" : "no calls";
    const bool has_source = !run->is_imported && *run->source_text;
    if (!run->has_times)
        qp_header_line(s, "measured", "%s, no times", calls);
    else if (run->is_estimated)
        qp_header_line(s, "measured", "%s; %s%s by %s estimate (%s: 95 %% interval)", calls,
                       run->clock_text, noun,
                       run->time_mode == QP_TIME_SAMPLED ? "sampled" : "adaptive",
                       qp_screen_sign(s, QP_SIGN_HALF));
    else
        qp_header_line(s, "measured", "%s%s%s%s%s%s", run->has_calls ? "exact calls and " : "",
                       run->clock_text, noun, has_source ? " (clock: " : "",
                       has_source ? run->source_text : "", has_source ? ")" : "");
    if (run->sample_period_ns && run->n_passes) {
        static const char *const nouns[][2] = {{"pass", "passes"}, {"sample", "samples"}};
        qp_header_line(s, "sampler", "%s %s, one in %s (requested: %s)",
                       qp_unit_count(passes, run->n_passes),
                       nouns[run->is_imported][run->n_passes != 1],
                       qp_unit_time(reached, run->sample_period_reached_ns),
                       qp_unit_time(wanted, run->sample_period_ns));
    }
}

static void print_marks(const qp_screen *s, const qp_run_info *run)
{
    char marks[QP_NUMBER_BYTES];
    if (!run->n_markers)
        return;
    qp_header_line(s, "fired", "%s; qprof info lists them",
                   qp_unit_things(marks, run->n_markers, "mark"));
}

static void print_cost(const qp_screen *s, const qp_model *m, bool is_subtracted)
{
    char number[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    const qp_run_info *run = &m->run;
    if (run->cost_total && run->has_times)
        qp_header_line(s, "overhead", "%s (%s %%) spent recording; %s the times below",
                       qp_view_amount(m, number, run->cost_total),
                       qp_unit_percent(percent, run->cost_total, run->total),
                       is_subtracted ? "subtracted from" : "included in");
    else if (run->cost_total)
        qp_header_line(s, "overhead", "%s (%s %%) spent recording",
                       qp_unit_time(number, qp_model_ns(m, run->cost_total)),
                       qp_unit_percent(percent, run->cost_total, run->wall));
    if (run->cost_skipped * 50 > run->total)
        qp_header_line(
            s, "skipped",
            "calls while recording was off cost about %s, which is in none of the times",
            qp_unit_time(number, qp_model_ns(m, run->cost_skipped)));
}

/* A run without calls shows no figures: only what the host did wrong explains it. */
static void print_mistakes(const qp_screen *s, const qp_model *m)
{
    for (size_t i = 0; !m->run.calls && i < m->run.n_diagnostics; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        if (d->kind == 'H')
            qp_header_line(s, "mistake", "%s: %s", d->name, d->text);
    }
}

/* Everything that is not normal, in one line. */
static void print_diagnostics(const qp_screen *s, const qp_model *m)
{
    char number[QP_NUMBER_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < m->run.n_diagnostics; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        if (d->kind == 'N')
            continue;
        if (n++ == 0)
            qp_header_label(s, "diagnostics");
        qp_out_text(s->out, n > 1 ? ", " : "");
        qp_screen_text(s, d->kind == 'L' ? QP_STYLE_BAD : QP_STYLE_PLAIN, d->name);
        qp_out_format(s->out, " %s", qp_unit_count(number, d->count));
    }
    if (n)
        qp_out_text(s->out, "; qprof info explains\n");
    print_mistakes(s, m);
    if ((n = qp_model_host_recorded(m)) > 0)
        qp_header_line(s, "integration", "%zu kind%s of mistakes; qprof check --host explains",
                       n, n == 1 ? "" : "s");
    if (m->n_losses) {
        qp_header_label(s, "damaged");
        qp_screen_name(s, m->losses[0], 0);
        if (m->n_losses > 1)
            qp_out_format(s->out, ", and %zu more; qprof info lists them", m->n_losses - 1);
        qp_out_char(s->out, '\n');
    }
}

/* What a sum has of its runs, if not all. */
static void print_parts(const qp_screen *s, const qp_run_info *run)
{
    char texts[2][QP_PARTS_BYTES];
    const qp_run_parts parts =
        run->is_merged ? qp_run_parts_of(run->notes, run->n_notes) : (qp_run_parts){0};
    for (size_t i = 0, n = qp_run_parts_texts(&parts, texts); i < n; i++) {
        qp_header_label(s, "incomplete");
        qp_screen_text(s, QP_STYLE_BAD, texts[i]);
        qp_out_text(s->out, "; qprof info lists them\n");
    }
}

void qp_header_text(const qp_screen *s, const qp_model *m, const char *path, bool is_subtracted)
{
    print_title(s, m, path);
    print_names(s, &m->run);
    print_run(s, m);
    print_totals(s, m);
    print_collector(s, m);
    print_fold(s, m);
    print_import(s, &m->run);
    print_measure(s, m);
    print_marks(s, &m->run);
    print_cost(s, m, is_subtracted);
    print_diagnostics(s, m);
    print_parts(s, &m->run);
    qp_out_char(s->out, '\n');
}
