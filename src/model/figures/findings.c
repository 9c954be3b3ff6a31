/* findings.c: what a run says first: sentences, each with its figure and the command that shows it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/shell.h"
#include "base/text/unit.h"
#include "model/figures/figures.h"

/* Percent of the run, and of the calls before, below which there is no sentence. */
static const double LEAST_PERCENT = 1, LEAST_CHANGE_PERCENT = 10, LEAST_PART_OFF = 0.25,
                    TIMES_THE_REST = 10;
enum { FUNCTIONS_COMPARED = 100 };

typedef struct {
    const qp_model *m;
    const char *path; /* of the profile */
    qp_run_finding all[2 * QP_FINDINGS_MOST];
    size_t n;
} findings;

/* ---- texts ----------------------------------------------------------------------------------- */

/* Append the name of a function, unless only some shells could read it. */
static void add_name(char *to, size_t n_bytes, const char *flag, const char *name)
{
    char value[QP_COMMAND_BYTES], word[QP_COMMAND_BYTES];
    size_t n = strlen(to);
    if (snprintf(value, sizeof value, "%s%s", flag, name) < (int)sizeof value &&
        qp_shell_word(word, sizeof word, value) && *word != '$' &&
        n + 1 + strlen(word) < n_bytes)
        snprintf(to + n, n_bytes - n, " %s", word);
}

/* Set the command: words, one with a name, then files.
 * @param flag, name, first  NULL: none @return false: the command has no room */
static bool set_command(qp_run_finding *f, const char *words, const char *flag,
                        const char *name, const char *first, const char *file)
{
    snprintf(f->command, sizeof f->command, "qprof %s", words);
    if (name)
        add_name(f->command, sizeof f->command, flag ? flag : "", name);
    return (!first || qp_shell_add_file(f->command, sizeof f->command, first)) &&
           qp_shell_add_file(f->command, sizeof f->command, file);
}

static qp_run_finding *begin(findings *to, double percent)
{
    qp_run_finding *f = &to->all[to->n++];
    *f = (qp_run_finding){.percent = percent};
    return f;
}

__attribute__((format(printf, 2, 3))) static void say(qp_run_finding *f, const char *format,
                                                      ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(f->text, sizeof f->text, format, list);
    va_end(list);
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part * 100.0 / (double)whole : 0;
}

/* The share as reports print it. */
static void set_percent(qp_run_finding *f, uint64_t part, uint64_t half, uint64_t whole)
{
    qp_unit_percent_estimate(f->figure, percent_of(part, whole), percent_of(half, whole));
    f->figure[strcspn(f->figure, " ")] = '\0';
}

/* " (w.lua:2)"; "" without a place */
static const char *place_of(const qp_model_method *k, char *to, size_t n_bytes)
{
    const char *slash = strrchr(k->file, '/');
    *to = '\0';
    if (*k->file && k->first_line)
        snprintf(to, n_bytes, " (%s:%" PRIu32 ")", slash ? slash + 1 : k->file, k->first_line);
    return to;
}

/* ---- one kind each --------------------------------------------------------------------------- */

static void find_lost(findings *to)
{
    const qp_run_info *run = &to->m->run;
    char all[QP_NUMBER_BYTES];
    uint64_t n_all = run->calls + run->calls_lost;
    double percent = percent_of(run->calls_lost, n_all);
    if (percent < LEAST_PERCENT)
        return;
    qp_run_finding *f = begin(to, percent);
    qp_unit_count(f->figure, run->calls_lost);
    say(f, "%s of %s calls have no place in this profile: it was full, or they were too deep",
        f->figure, qp_unit_count(all, n_all));
    to->n -= !set_command(f, "info", NULL, NULL, NULL, to->path);
}

/* The method with the largest value. @return 0: none has one */
static uint32_t largest(const qp_model *m, uint64_t (*value)(const qp_figures *f), uint32_t but)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < m->n_methods; i++)
        if (i != but && !qp_method_is_collector(m->methods[i].name) &&
            value(&m->methods[i].all) > (best ? value(&m->methods[best].all) : 0))
            best = i;
    return best;
}

static uint64_t off_of(const qp_figures *f)
{
    return f->off;
}

static uint64_t bytes_of(const qp_figures *f)
{
    return f->memory.bytes;
}

/* Has it much of the time off the processor, and lost the processor more than the others? Other programs
 * take it from whatever is running. */
static bool stands_out(const qp_run_info *run, const qp_figures *f)
{
    double off = (double)f->off, ran = (double)(f->self - f->off),
           rest_off = (double)run->off - off, rest_ran = (double)(run->total - run->off) - ran;
    return off >= LEAST_PART_OFF * (double)run->off &&
           off * rest_ran >= TIMES_THE_REST * rest_off * ran;
}

/* Time off the processor does not tell whether the thread waited or was ready while others ran. What the
 * host runs by itself waits for nothing; what has no source may be native and wait. */
static bool may_wait(const qp_run_info *run, const qp_model_method *k)
{
    return k->flags & (QP_METHOD_WAITS | QP_METHOD_BLOCKS) ||
           (!*k->file && stands_out(run, &k->all));
}

static void find_waits(findings *to)
{
    const qp_run_info *run = &to->m->run;
    uint32_t most = largest(to->m, off_of, 0);
    if (!run->has_waits || !qp_waits_are_shown(run->off, run->total) || !most)
        return;
    const qp_model_method *k = &to->m->methods[most];
    qp_run_finding *f = begin(to, percent_of(run->off, run->total));
    set_percent(f, run->off, 0, run->total);
    f->is_last = !may_wait(run, k);
    if (f->is_last)
        say(f, "%s %% was off the processor: waiting, or other programs ran", f->figure);
    else
        say(f, "%s %% was waiting, off the processor, %s in `%s`", f->figure,
            k->all.off * 2 >= run->off ? "most of it" : "the largest part", k->name);
    to->n -=
        !set_command(f, "report", "--filter=", f->is_last ? NULL : k->name, NULL, to->path);
}

/* The line of a method that allocated most. @return 0: no line did */
static uint32_t line_of_bytes(const qp_model *m, uint32_t method)
{
    qp_block_figures *blocks;
    size_t n;
    uint32_t line = 0;
    uint64_t most = 0;
    if (!qp_model_blocks(m, method, QP_ALL_THREADS, &blocks, &n))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (blocks[i].bytes > most && blocks[i].line > 0) {
            most = blocks[i].bytes;
            line = (uint32_t)blocks[i].line;
        }
    qp_free(blocks);
    return line;
}

static void find_collector(findings *to)
{
    const qp_run_info *run = &to->m->run;
    char line[32] = "", bytes[QP_NUMBER_BYTES];
    double percent = percent_of(run->collector, run->total);
    if (percent < LEAST_PERCENT || run->collector_half >= run->collector ||
        run->is_collector_charged)
        return;
    qp_run_finding *f = begin(to, percent);
    qp_unit_percent(f->figure, run->collector, run->total); /* as the head of reports */
    uint32_t most = run->has_memory ? largest(to->m, bytes_of, 0) : 0;
    const qp_model_method *k = &to->m->methods[most];
    uint32_t number = most ? line_of_bytes(to->m, most) : 0;
    uint32_t n_named = 0;
    if (number)
        snprintf(line, sizeof line, ", line %" PRIu32, number);
    if (most)
        say(f, "%s %% is garbage collection; most bytes come from `%s`%s: %s", f->figure,
            k->name, line, qp_unit_count(bytes, k->all.memory.bytes));
    else
        say(f, "%s %% is garbage collection; record with --allocations=yes to see whose bytes",
            f->figure);
    bool is_one =
        number && qp_model_method_named(to->m, k->name, &n_named) == most && n_named == 1;
    to->n -= !(is_one ? set_command(f, "annotate", NULL, k->name, NULL, to->path)
                      : set_command(f, most ? "report --sort=bytes --limit=1" : "report", NULL,
                                    NULL, NULL, to->path));
}

/* Where a metric of the host or what was allocated is in the place of time, the command shows it as well. */
static void add_metric(const qp_run_info *run, char *words, size_t n_bytes)
{
    if (run->clock_kind != QP_CLOCK_COUNTS)
        return;
    for (size_t i = 0; i < run->n_metrics; i++)
        if (strcmp(run->metrics[i].name, run->clock_text) == 0)
            add_name(words, n_bytes, "--metric=", run->metrics[i].name);
    if (strncmp(run->clock_text, "allocated ", 10) == 0)
        add_name(words, n_bytes, "--sample-index=", run->unit);
}

/* @param but  a method that was named before @return the method; 0: none is worth it */
static uint32_t find_function(findings *to, uint32_t but)
{
    char place[512], words[QP_COMMAND_BYTES] = "report";
    const qp_run_info *run = &to->m->run;
    uint32_t most = largest(to->m, qp_figures_self_run, but);
    const qp_model_method *k = &to->m->methods[most];
    bool has_waits = run->has_waits && qp_waits_are_shown(run->off, run->total);
    uint64_t self = qp_figures_self_run(&k->all);
    uint64_t value = has_waits ? self : k->all.self;
    uint64_t whole = has_waits ? run->total - run->off : run->total;
    if (!most || percent_of(self, run->total) < LEAST_PERCENT || k->all.self_half >= self)
        return 0;
    qp_run_finding *f = begin(to, percent_of(self, run->total));
    set_percent(f, value, has_waits ? 0 : k->all.self_half, whole);
    if (strcmp(run->unit, "ns") == 0)
        say(f, "%s %% of the %s is in `%s` itself%s", f->figure,
            has_waits ? "running time" : "time", k->name, place_of(k, place, sizeof place));
    else
        say(f, "`%s` itself has %s %% of the %s%s", k->name, f->figure, run->unit,
            place_of(k, place, sizeof place));
    add_metric(run, words, sizeof words);
    to->n -= !set_command(f, words, "--filter=", k->name, NULL, to->path);
    return most;
}

static void find_cost(findings *to)
{
    const qp_run_info *run = &to->m->run;
    double percent = percent_of(run->cost_total, run->total);
    if (percent < LEAST_PERCENT)
        return;
    qp_run_finding *f = begin(to, percent);
    qp_unit_percent(f->figure, run->cost_total, run->total);
    say(f, "recording cost %s %% of this run", f->figure);
    to->n -= !set_command(f, "report --subtract-overhead", NULL, NULL, NULL, to->path);
}

/* ---- since an earlier run -------------------------------------------------------------------- */

/* The same function of another run. @return 0: there is none, or several may be meant */
static uint32_t same_method(const qp_model *m, const qp_model_method *k)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        if (strcmp(m->methods[i].name, k->name) != 0 ||
            strcmp(m->methods[i].file, k->file) != 0)
            continue;
        if (found)
            return 0;
        found = i;
    }
    return found;
}

typedef struct {
    uint32_t method;
    uint64_t before, after;
    double percent; /* of the run: see weight_of */
} change;

/* What the changed calls of a method took, or would have taken, of the run's time; without times, how
 * many they are of the calls of the larger run. */
static double weight_of(const qp_model *m, const qp_model_method *k, const qp_model *since,
                        uint64_t size)
{
    uint64_t larger = m->run.calls > since->run.calls ? m->run.calls : since->run.calls;
    if (!m->run.has_times)
        return percent_of(size, larger);
    return percent_of(qp_figures_self_run(&k->all), m->run.total) * (double)size /
           (double)k->all.calls;
}

static change change_of(const qp_model *m, uint32_t method, const qp_model *since)
{
    const qp_model_method *k = &m->methods[method];
    uint32_t other = same_method(since, k);
    change c = {method, other ? since->methods[other].all.calls : 0, k->all.calls, 0};
    uint64_t size = c.after > c.before ? c.after - c.before : c.before - c.after;
    if (c.before && c.after && percent_of(size, c.before) >= LEAST_CHANGE_PERCENT)
        c.percent = weight_of(m, k, since, size);
    return c;
}

static int compare_changes(const void *a, const void *b)
{
    const change *x = a, *y = b;
    return (x->percent < y->percent) - (x->percent > y->percent);
}

/* The change of calls that weighs most, among the functions that do. */
static void find_change(findings *to, const qp_model *since, const char *since_path)
{
    const qp_model *m = to->m;
    change *all = qp_alloc(m->n_methods, sizeof *all), best = {0};
    char from[QP_NUMBER_BYTES], until[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    for (uint32_t i = 0; all && i < m->n_methods; i++)
        all[i] = (change){i, 0, 0,
                          (double)(m->run.has_times ? qp_figures_self_run(&m->methods[i].all)
                                                    : m->methods[i].all.calls)};
    if (all)
        qsort(all, m->n_methods, sizeof *all, compare_changes);
    for (uint32_t i = 0; all && i < m->n_methods && i < FUNCTIONS_COMPARED; i++) {
        bool is_chance = qp_method_is_collector(m->methods[all[i].method].name);
        change c = all[i].method && !is_chance ? change_of(m, all[i].method, since) : best;
        best = c.percent > best.percent ? c : best;
    }
    qp_free(all);
    if (best.percent < LEAST_PERCENT)
        return;
    const qp_model_method *k = &m->methods[best.method];
    bool grew = best.after > best.before;
    uint64_t size = grew ? best.after - best.before : best.before - best.after;
    const char *slash = strrchr(since_path, '/');
    qp_run_finding *f = begin(to, best.percent);
    qp_unit_count(f->figure, size);
    say(f, "calls of `%s` %s by %s (%s %%) since %s, from %s to %s", k->name,
        grew ? "grew" : "fell", f->figure, qp_unit_percent(percent, size, best.before),
        slash ? slash + 1 : since_path, qp_unit_count(from, best.before),
        qp_unit_count(until, best.after));
    to->n -= !set_command(f, "diff", "--filter=", k->name, since_path, to->path);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int by_weight(const void *a, const void *b)
{
    const qp_run_finding *x = a, *y = b;
    return (x->percent < y->percent) - (x->percent > y->percent);
}

static int in_order(const void *a, const void *b)
{
    const qp_run_finding *x = a, *y = b;
    return x->is_last != y->is_last ? x->is_last - y->is_last : by_weight(x, y);
}

size_t qp_model_findings(const qp_model *m, const char *path, const qp_model *since,
                         const char *since_path, qp_run_finding out[QP_FINDINGS_MOST])
{
    findings f = {.m = m, .path = path};
    const qp_run_info *run = &m->run;
    if (*run->focus || *run->when || run->n_hidden)
        return 0; /* the commands show the whole run */
    if (run->has_calls)
        find_lost(&f);
    if (run->has_times && run->total) {
        find_waits(&f);
        find_collector(&f);
        uint32_t first = find_function(&f, 0);
        if (first)
            find_function(&f, first);
        find_cost(&f);
    }
    size_t n_most = f.n < QP_FINDINGS_MOST ? f.n : QP_FINDINGS_MOST, n_other = f.n;
    if (since && run->has_calls && since->run.has_calls)
        find_change(&f, since, since_path);
    qsort(f.all, n_other, sizeof f.all[0], by_weight);
    if (f.n > n_other) { /* it was asked for: it takes the place of what weighs least */
        n_most -= n_most == QP_FINDINGS_MOST;
        f.all[n_most++] = f.all[n_other];
    }
    qsort(f.all, n_most, sizeof f.all[0], in_order);
    f.n = n_most;
    memcpy(out, f.all, f.n * sizeof f.all[0]);
    return f.n;
}
