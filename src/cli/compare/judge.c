/* judge.c: the gates of a comparison, --fail-if-slower and --fail-if-more. Start reading at qp_diff_judge().
 *
 * Exact figures are compared as they are; the others by their noise: model/combine/growth.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "cli/compare/diff.h"

/* What --fail-if-more takes. */
#define MORE_WORDS "calls|bytes|objects|instructions"
static const char *const count_names[QP_DIFF_COUNTS] = {"calls", "bytes", "objects",
                                                        "instructions"};
static const qp_diff_measure counts[QP_DIFF_COUNTS] = {
    QP_DIFF_OF_COUNTED, QP_DIFF_OF_BYTES, QP_DIFF_OF_OBJECTS, QP_DIFF_OF_INSTRUCTIONS};

enum { SHARE = 100 /* of the time: less of it does not matter, unless --filter asks for it */ };
static const double varying_growth =
    0.1; /* of a count that varies: what may hide in its noise */

/* ---- the limits of --fail-if-more ------------------------------------------------------------ */

/* @return false: not a limit */
static bool read_limit(const char *text, size_t n, qp_diff_limit *to)
{
    char *end;
    double value = strtod(text, &end);
    bool is_number = n && *text >= '0' && *text <= '9' && isfinite(value) &&
                     strspn(text, "0123456789.") == (size_t)(end - text);
    *to = (qp_diff_limit){true, *end == '%', value};
    end += to->is_percent;
    return is_number && end == text + n && (to->is_percent || value == floor(value));
}

/* One "calls:0". @return false: a message was printed */
static bool add_limit(const qp_cli *cli, const char *word, size_t n, qp_diff_limits *to)
{
    char hint[QP_HINT_BYTES], name[32];
    const char *colon = memchr(word, ':', n);
    const int n_shown = n < 60 ? (int)n : 60;
    if (!colon)
        return qp_cli_refuse(
            cli, "--fail-if-more=%.*s: expected FIGURE:LIMIT, as in calls:0,bytes:2%%", n_shown,
            word);
    const size_t n_name = (size_t)(colon - word);
    snprintf(name, sizeof name, "%.*s", n_name < sizeof name ? (int)n_name : 31, word);
    const int which = qp_args_word(MORE_WORDS, name);
    if (which < 0)
        return qp_cli_refuse(
            cli, "--fail-if-more=%.*s: %s is not calls, bytes, objects, or instructions%s",
            n_shown, word, *name ? name : "\"\"",
            qp_args_hint(hint, MORE_WORDS, name, strlen(name), "", NULL));
    if (to->of[which].is_set)
        return qp_cli_refuse(cli, "--fail-if-more: %s has two limits", name);
    if (!read_limit(colon + 1, n - n_name - 1, &to->of[which]))
        return qp_cli_refuse(
            cli, "--fail-if-more=%.*s: expected a whole number or a percentage after the colon",
            n_shown, word);
    return true;
}

bool qp_diff_read_limits(const qp_cli *cli, qp_diff_limits *to)
{
    const qp_list *more = &cli->args.diff.more;
    *to = (qp_diff_limits){.slower = cli->args.diff.slower};
    to->is_set = to->slower >= 0 || more->n;
    for (size_t i = 0; i < more->n; i++)
        for (const char *text = more->items[i]; text;) {
            size_t n = strcspn(text, ",");
            if (!add_limit(cli, text, n, to))
                return false;
            text = text[n] ? text + n + 1 : NULL;
        }
    return true;
}

/* Whether the runs have what is to be judged. @return false: a message was printed */
static bool has_figures(const qp_comparison *c)
{
    const qp_diff *d = c->diff;
    const qp_diff_limit *of = c->limits.of;
    if (c->limits.slower >= 0 && !d->has_times)
        return qp_cli_refuse(c->cli,
                             "--fail-if-slower needs times, and not all runs have them");
    if (of[QP_DIFF_COUNT_CALLS].is_set && !d->has_calls)
        return qp_cli_refuse(c->cli, "--fail-if-more=calls: not all runs counted calls");
    if ((of[QP_DIFF_COUNT_BYTES].is_set || of[QP_DIFF_COUNT_OBJECTS].is_set) && !d->has_memory)
        return qp_cli_refuse(c->cli,
                             "--fail-if-more: not all runs have allocations (record them with "
                             "-allocations=yes)");
    if (of[QP_DIFF_COUNT_INSTRUCTIONS].is_set && !d->has_instructions)
        return qp_cli_refuse(c->cli, "--fail-if-more=instructions: not known of %s",
                             d->kind == QP_DIFF_PATHS     ? "call paths"
                             : d->kind == QP_DIFF_THREADS ? "threads"
                             : c->cli->args.thread
                                 ? "one thread"
                                 : "all runs (they need counted blocks of a host that tells "
                                   "their instructions, as qlua does)");
    return true;
}

/* ---- what is judged -------------------------------------------------------------------------- */

bool qp_diff_fits_filter(const qp_cli *cli, const qp_diff_row *row)
{
    const char *filter = cli->args.filter;
    return !filter || strstr(row->name, filter) || strstr(row->file, filter);
}

static qp_diff_measure time_of(const qp_comparison *c, bool is_total)
{
    return c->diff->is_by_run ? (is_total ? QP_DIFF_OF_TOTAL_RUN : QP_DIFF_OF_SELF_RUN)
                              : (is_total ? QP_DIFF_OF_TOTAL : QP_DIFF_OF_SELF);
}

/* A function that base does not have has nothing to be compared with: its time is in that of the run. */
static void add_time(qp_gate *gate, const qp_comparison *c, uint32_t row)
{
    const qp_diff *d = c->diff;
    const bool is_filtered = c->cli->args.filter != NULL, is_total = is_filtered || !row;
    const qp_diff_figure *f = is_total ? qp_diff_total(d, &d->rows[row])
                                       : qp_diff_self(d, &d->rows[row]),
                         *whole = qp_diff_total(d, &d->rows[0]);
    const double base = (double)f->sides[QP_DIFF_BASE], new = (double)f->sides[QP_DIFF_NEW],
                 base_whole = (double)whole->sides[QP_DIFF_BASE],
                 all = base_whole + (double)whole->sides[QP_DIFF_NEW];
    if (base <= 0 || (!is_filtered && (base + new) * SHARE < all))
        return;
    qp_gate_item *item = &gate->items[gate->n_items++];
    *item = (qp_gate_item){.row = row, .measure = time_of(c, is_total)};
    item->growth = qp_diff_growth(d, row, item->measure);
    item->limit = item->least = log1p(c->limits.slower / 100);
    if (!is_total)
        item->least = fmax(item->limit, log1p(base_whole / SHARE / base));
}

static void judge_exact(qp_gate_item *item, const qp_diff_limit *limit)
{
    const double base = item->growth.sides[QP_DIFF_BASE],
                 more = item->growth.sides[QP_DIFF_NEW] - base;
    const double allowed = limit->is_percent ? base * limit->value / 100 : limit->value;
    item->verdict = more > 0 && more > allowed ? QP_VERDICT_FAIL : QP_VERDICT_PASS;
}

/* Of nothing nothing can grow; but a function that allocates nothing is judged as one that does. */
static bool has_count(const qp_comparison *c, const qp_gate_item *item)
{
    const qp_diff_figure *calls = &c->diff->rows[item->row].calls;
    const double *sides = item->growth.sides;
    bool is_memory = item->measure == QP_DIFF_OF_BYTES || item->measure == QP_DIFF_OF_OBJECTS;
    return sides[QP_DIFF_BASE] > 0 || sides[QP_DIFF_NEW] > 0 ||
           (is_memory && (calls->sides[QP_DIFF_BASE] || calls->sides[QP_DIFF_NEW]));
}

static void add_count(qp_gate *gate, const qp_comparison *c, uint32_t row, int which)
{
    const qp_diff_limit *limit = &c->limits.of[which];
    qp_gate_item item = {.row = row, .measure = counts[which]};
    item.growth = qp_diff_growth(c->diff, row, item.measure);
    const double base = item.growth.sides[QP_DIFF_BASE];
    item.is_exact = !item.growth.varies;
    item.limit = item.least =
        log1p(limit->is_percent ? limit->value / 100 : limit->value / fmax(base, 1));
    if (!item.is_exact)
        item.least = fmax(item.limit, log1p(varying_growth));
    else
        judge_exact(&item, limit);
    if (has_count(c, &item))
        gate->items[gate->n_items++] = item;
}

static bool collect(qp_gate *gate, const qp_comparison *c)
{
    const qp_diff *d = c->diff;
    const bool has_slower = c->limits.slower >= 0;
    size_t n_figures = has_slower;
    for (int which = 0; which < QP_DIFF_COUNTS; which++)
        n_figures += c->limits.of[which].is_set;
    gate->items = qp_alloc(d->n_rows * n_figures, sizeof *gate->items);
    if (!gate->items)
        return false;
    if (has_slower && !c->cli->args.filter)
        add_time(gate, c, 0);
    for (uint32_t i = 1; i < d->n_rows; i++) {
        if (!qp_diff_fits_filter(c->cli, &d->rows[i]))
            continue;
        if (has_slower)
            add_time(gate, c, i);
        for (int which = 0; which < QP_DIFF_COUNTS; which++)
            if (c->limits.of[which].is_set)
                add_count(gate, c, i, which);
    }
    return true;
}

/* ---- what cannot be judged ------------------------------------------------------------------- */

/* @return false: nothing in it was called, or took time */
static bool has_anything(const qp_model *m)
{
    uint64_t n = 0;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const qp_figures *f = &m->methods[i].all;
        n |= m->run.has_calls ? f->hits : f->self | f->samples;
    }
    return n != 0;
}

bool qp_diff_can_judge(const qp_comparison *c, const qp_model *m, int status, uint32_t thread)
{
    const qp_cli *cli = c->cli;
    const qp_collapse_args *fold = &cli->args.fold;
    const bool is_part =
        fold->focus || fold->when || fold->endpoints.n || fold->hide.n || fold->hide_modules.n;
    char why[QP_WHY_BYTES];
    if (!qp_cli_is_whole(m, status, why))
        return qp_cli_refuse(cli, "nothing was checked: %s %s", cli->path, why);
    if (thread == QP_DIFF_NO_THREAD)
        return qp_cli_refuse(cli, "nothing was checked: %s has no thread %s", cli->path,
                             cli->args.thread);
    if (!has_anything(m))
        return qp_cli_refuse(cli, "nothing was checked: %s %s", cli->path,
                             is_part ? "has no function that is not hidden"
                                     : "recorded no call");
    return true;
}

/* With --filter: is there something of that name in new? */
static bool fits_new(const qp_comparison *c)
{
    const qp_diff *d = c->diff;
    size_t n = 0, n_new = 0;
    for (uint32_t i = 1; i < d->n_rows; i++) {
        bool fits = qp_diff_fits_filter(c->cli, &d->rows[i]);
        n += fits;
        n_new += fits && d->rows[i].state != QP_DIFF_GONE;
    }
    if (n_new)
        return true;
    return qp_cli_refuse(c->cli, "nothing was checked: --filter=%s matches no function%s",
                         c->cli->args.filter, n ? " of new" : "");
}

/* Did each limit find something? @return false: a message was printed */
static bool has_items(const qp_comparison *c)
{
    size_t n_times = 0, n[QP_DIFF_COUNTS] = {0};
    for (size_t i = 0; i < c->gate.n_items; i++) {
        n_times += !qp_gate_is_count(&c->gate.items[i]);
        for (int which = 0; which < QP_DIFF_COUNTS; which++)
            n[which] += c->gate.items[i].measure == counts[which];
    }
    if (c->limits.slower >= 0 && !n_times)
        return qp_cli_refuse(c->cli,
                             "nothing was checked: --fail-if-slower: base has no time%s",
                             c->cli->args.filter ? " of it" : "");
    for (int which = 0; which < QP_DIFF_COUNTS; which++)
        if (c->limits.of[which].is_set && !n[which])
            return qp_cli_refuse(c->cli,
                                 "nothing was checked: --fail-if-more: no function has %s",
                                 count_names[which]);
    return true;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

bool qp_gate_is_count(const qp_gate_item *item)
{
    return item->measure < QP_DIFF_OF_SELF || item->measure > QP_DIFF_OF_TOTAL_RUN;
}

const char *qp_gate_figure(const qp_gate_item *item)
{
    static const char *const names[QP_DIFF_MEASURES] = {
        [QP_DIFF_OF_SELF] = "self time",         [QP_DIFF_OF_TOTAL] = "total time",
        [QP_DIFF_OF_SELF_RUN] = "self run time", [QP_DIFF_OF_TOTAL_RUN] = "total run time",
        [QP_DIFF_OF_COUNTED] = "calls",          [QP_DIFF_OF_BYTES] = "bytes",
        [QP_DIFF_OF_OBJECTS] = "objects",        [QP_DIFF_OF_INSTRUCTIONS] = "instructions"};
    return names[item->measure];
}

const qp_gate_item *qp_gate_varying(const qp_gate *gate, size_t *at)
{
    while (*at < gate->n_items) {
        const qp_gate_item *item = &gate->items[(*at)++];
        if (!item->is_exact && qp_gate_is_count(item))
            return item;
    }
    return NULL;
}

/* What a gate prints first: failures, then what is not certain, the largest growth before others. */
static int compare_items(const void *a, const void *b)
{
    static const int order[] = {
        [QP_VERDICT_FAIL] = 0, [QP_VERDICT_UNSURE] = 1, [QP_VERDICT_PASS] = 2};
    const qp_gate_item *x = a, *y = b;
    const double cost_x = x->growth.sides[QP_DIFF_NEW] - x->growth.sides[QP_DIFF_BASE],
                 cost_y = y->growth.sides[QP_DIFF_NEW] - y->growth.sides[QP_DIFF_BASE];
    if (x->verdict != y->verdict)
        return order[x->verdict] - order[y->verdict];
    if (x->measure != y->measure)
        return x->measure < y->measure ? -1 : 1;
    if (cost_x != cost_y)
        return cost_x < cost_y ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

static void count_verdicts(qp_gate *gate)
{
    for (size_t i = 0; i < gate->n_items; i++) {
        const qp_gate_item *item = &gate->items[i];
        gate->n_verdicts[item->verdict]++;
        gate->n_varying += qp_gate_is_count(item) && !item->is_exact;
        if (item->verdict == QP_VERDICT_UNSURE && item->n_runs > gate->n_runs)
            gate->n_runs = item->n_runs;
    }
    gate->verdict = gate->n_verdicts[QP_VERDICT_FAIL]     ? QP_VERDICT_FAIL
                    : gate->n_verdicts[QP_VERDICT_UNSURE] ? QP_VERDICT_UNSURE
                                                          : QP_VERDICT_PASS;
}

/* Of each row the first of its items: the worst. */
static bool mark_rows(qp_gate *gate, const qp_diff *d)
{
    gate->of_rows = qp_alloc_zeroed(d->n_rows, sizeof *gate->of_rows);
    for (size_t i = gate->n_items; gate->of_rows && i-- > 0;)
        gate->of_rows[gate->items[i].row] = (uint32_t)i + 1;
    return gate->of_rows != NULL;
}

int qp_diff_judge(qp_comparison *c)
{
    qp_gate *gate = &c->gate;
    const qp_diff *d = c->diff;
    if (!c->limits.is_set)
        return QP_EXIT_CLEAN;
    if (!has_figures(c))
        return QP_EXIT_UNUSABLE;
    if (c->cli->args.filter && !fits_new(c))
        return QP_EXIT_UNUSABLE;
    if (!collect(gate, c))
        return qp_cli_fail_memory(c->cli);
    if (!has_items(c))
        return QP_EXIT_UNUSABLE;
    const uint32_t n_base = d->n_runs[QP_DIFF_BASE], n_new = d->n_runs[QP_DIFF_NEW];
    qp_gate_judge(gate->items, gate->n_items, n_base > n_new ? n_base : n_new);
    if (gate->n_items)
        qsort(gate->items, gate->n_items, sizeof *gate->items, compare_items);
    count_verdicts(gate);
    return mark_rows(gate, d) ? QP_EXIT_CLEAN : qp_cli_fail_memory(c->cli);
}

void qp_gate_fini(qp_gate *gate)
{
    qp_free(gate->items);
    qp_free(gate->of_rows);
}

/* ---- messages -------------------------------------------------------------------------------- */

const char *qp_verdict_name(qp_verdict verdict)
{
    return verdict == QP_VERDICT_FAIL     ? "fail"
           : verdict == QP_VERDICT_UNSURE ? "cannot tell"
                                          : "pass";
}

/* "12 runs a side would do" */
static char *describe_runs(const qp_comparison *c, char to[96])
{
    const uint32_t n = c->gate.n_runs;
    if (n > QP_RUNS_MOST)
        snprintf(to, 96, "more than %d runs a side would be needed: compare longer ones",
                 QP_RUNS_MOST);
    else
        snprintf(to, 96, "%u runs a side would do", n);
    return to;
}

char *qp_gate_summary(const qp_comparison *c, char to[QP_GATE_BYTES])
{
    const qp_gate *gate = &c->gate;
    char all[QP_NUMBER_BYTES], number[QP_NUMBER_BYTES], runs[96];
    qp_unit_count(all, gate->n_items);
    qp_unit_count(number, gate->n_verdicts[gate->verdict]);
    if (gate->verdict == QP_VERDICT_PASS)
        snprintf(to, QP_GATE_BYTES, "pass: none of %s figures grew by more than its limit",
                 all);
    else if (gate->verdict == QP_VERDICT_FAIL)
        snprintf(to, QP_GATE_BYTES, "fail: %s of %s figures grew by more than the limit",
                 number, all);
    else
        snprintf(to, QP_GATE_BYTES,
                 "cannot tell: %s of %s figures may have grown by more than the limit; %s",
                 number, all, describe_runs(c, runs));
    return to;
}

static qp_diff_limit limit_of(const qp_comparison *c, const qp_gate_item *item)
{
    qp_diff_limit limit = {true, true, c->limits.slower};
    for (int i = 0; i < QP_DIFF_COUNTS; i++)
        limit = counts[i] == item->measure ? c->limits.of[i] : limit;
    return limit;
}

/* "self time of hot", "calls of hot", "total time" of the whole run */
char *qp_gate_subject(const qp_comparison *c, const qp_gate_item *item, char to[QP_GATE_BYTES])
{
    const char *name = qp_gate_figure(item);
    char path[512];
    if (item->row)
        snprintf(to, QP_GATE_BYTES, "%s of %s", name,
                 qp_diff_path(c, &c->diff->rows[item->row], path, sizeof path));
    else
        snprintf(to, QP_GATE_BYTES, "%s", name);
    return to;
}

static const double most_percent = 1e6; /* of an interval's end: more is as good as unknown */

double qp_gate_end(const qp_gate_item *item, int sign)
{
    const double end = expm1(item->growth.log + sign * item->half) * 100;
    return end < most_percent ? end : most_percent;
}

/* "22.9 to 29.1 %"; "": it is exact, or unknown. @return to */
static char *describe_interval(const qp_gate_item *item, char to[64])
{
    const double most = qp_gate_end(item, 1);
    *to = '\0';
    if (item->half > 0 && most < most_percent)
        snprintf(to, 64, "%.1f to %.1f %%", qp_gate_end(item, -1), most);
    else if (item->half > 0)
        snprintf(to, 64, "%.1f to more than 1,000,000 %%", qp_gate_end(item, -1));
    return to;
}

/* "2.0", with as many digits as show that it is not 0 and, where it is, more than the limit. @return to */
static char *describe_percent(const qp_comparison *c, const qp_gate_item *item, bool is_signed,
                              char to[QP_NUMBER_BYTES])
{
    enum { DIGITS = 6 };
    const qp_diff_limit limit = limit_of(c, item);
    const double value = expm1(item->growth.log) * 100;
    const bool is_more = limit.is_percent && value > limit.value;
    for (int digits = 1; digits <= DIGITS; digits++) {
        snprintf(to, QP_NUMBER_BYTES, is_signed ? "%+.*f" : "%.*f", digits, value);
        const double shown = strtod(to, NULL);
        if ((shown != 0 || fabs(value) < 1e-9) && (!is_more || shown > limit.value))
            break;
    }
    return to;
}

char *qp_gate_percent(const qp_comparison *c, const qp_gate_item *item, char to[QP_GATE_BYTES])
{
    char percent[QP_NUMBER_BYTES], interval[64];
    if (!(item->growth.sides[QP_DIFF_BASE] > 0))
        snprintf(to, QP_GATE_BYTES, "new");
    else if (*describe_interval(item, interval))
        snprintf(to, QP_GATE_BYTES, "%s %% (%s)", describe_percent(c, item, true, percent),
                 interval);
    else
        snprintf(to, QP_GATE_BYTES, "%s %%", describe_percent(c, item, true, percent));
    return to;
}

/* "26.0 % (22.9 to 29.1 %; 50.000 ms -> 63.000 ms)", "1, 50.0 % (2 -> 3)" */
char *qp_gate_growth(const qp_comparison *c, const qp_gate_item *item, char to[QP_GATE_BYTES])
{
    const qp_figure_growth *g = &item->growth;
    char base[QP_NUMBER_BYTES], new[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES], interval[64],
        more[QP_NUMBER_BYTES + 4] = "";
    const bool is_count = qp_gate_is_count(item);
    const uint64_t sides[] = {(uint64_t)llround(g->sides[QP_DIFF_BASE]),
                              (uint64_t)llround(g->sides[QP_DIFF_NEW])};
    if (is_count && item->is_exact)
        snprintf(more, sizeof more, "%s, ",
                 qp_unit_count(base, sides[1] > sides[0] ? sides[1] - sides[0] : 0));
    if (sides[0])
        snprintf(to, QP_GATE_BYTES, "%s%s %% (%s%s%s -> %s)", more,
                 describe_percent(c, item, false, percent), describe_interval(item, interval),
                 item->half > 0 ? "; " : "",
                 is_count ? qp_unit_count(base, sides[0]) : qp_diff_value(c, base, sides[0]),
                 is_count ? qp_unit_count(new, sides[1]) : qp_diff_value(c, new, sides[1]));
    else
        snprintf(to, QP_GATE_BYTES, "%s (%s -> %s)", qp_unit_count(base, sides[1]), "0",
                 qp_unit_count(new, sides[1]));
    return to;
}

char *qp_gate_limit(const qp_comparison *c, const qp_gate_item *item, char to[QP_NUMBER_BYTES])
{
    const qp_diff_limit limit = limit_of(c, item);
    snprintf(to, QP_NUMBER_BYTES, limit.is_percent ? "%g %%" : "%.0f", limit.value);
    return to;
}

static const char *varying_text(const qp_gate_item *item)
{
    return qp_gate_is_count(item) && !item->is_exact ? ", which vary from run to run," : "";
}

static void print_failure(const qp_comparison *c, const qp_gate_item *item)
{
    char subject[QP_GATE_BYTES], growth[QP_GATE_BYTES], limit[QP_NUMBER_BYTES];
    qp_cli_warn(c->cli, "%s: %s%s grew by %s, more than %s",
                qp_gate_is_count(item) ? "more" : "slower", qp_gate_subject(c, item, subject),
                varying_text(item), qp_gate_growth(c, item, growth),
                qp_gate_limit(c, item, limit));
}

/* One line: the figure that costs most, and what would settle it. */
static void print_unsure(const qp_comparison *c, const qp_gate_item *item)
{
    char subject[QP_GATE_BYTES], growth[QP_GATE_BYTES], limit[QP_NUMBER_BYTES], runs[96],
        others[64] = "", number[QP_NUMBER_BYTES];
    const uint64_t n = c->gate.n_verdicts[QP_VERDICT_UNSURE];
    if (n > 1)
        snprintf(others, sizeof others, "; nor is it certain of %s",
                 qp_unit_things(number, n - 1, "other figure"));
    qp_gate_subject(c, item, subject);
    qp_gate_growth(c, item, growth);
    qp_gate_limit(c, item, limit);
    if (item->half < 0)
        qp_cli_warn(
            c->cli,
            "cannot tell: %s grew by %s, more than %s, but one run a side does not show "
            "what of it is noise; compare %u runs a side with --base and --new%s",
            subject, growth, limit, c->gate.n_runs, others);
    else
        qp_cli_warn(c->cli, "cannot tell: %s%s may have grown by more than %s: by %s; %s%s",
                    subject, varying_text(item), limit, growth, describe_runs(c, runs), others);
}

/* All runs of one side were before those of the other: what changed on the machine in between looks as if
 * it was the program's. */
static bool is_in_blocks(const qp_comparison *c)
{
    const qp_diff_runs *base = &c->runs[QP_DIFF_BASE], *new = &c->runs[QP_DIFF_NEW];
    return c->diff->n_runs[QP_DIFF_BASE] > 1 && c->diff->n_runs[QP_DIFF_NEW] > 1 &&
           base->started_at && new->started_at &&
           (base->last_at < new->first_at || new->last_at < base->first_at);
}

int qp_gate_print(const qp_comparison *c, int status)
{
    enum { FAILURES_MOST = 10 };
    const qp_gate *gate = &c->gate;
    const uint64_t n_failed = gate->n_verdicts[QP_VERDICT_FAIL];
    for (size_t i = 0; i < n_failed && i < FAILURES_MOST; i++)
        print_failure(c, &gate->items[i]);
    if (n_failed > FAILURES_MOST)
        qp_cli_warn(c->cli, "and %u more figures", (unsigned)(n_failed - FAILURES_MOST));
    if (gate->n_verdicts[QP_VERDICT_UNSURE])
        print_unsure(c, &gate->items[n_failed]);
    if (c->limits.slower >= 0 && is_in_blocks(c)) {
        bool is_base = c->runs[QP_DIFF_BASE].last_at < c->runs[QP_DIFF_NEW].first_at;
        qp_cli_warn(c->cli,
                    "all runs of %s came before those of %s: alternate them, so that "
                    "other load on the machine affects both",
                    is_base ? "base" : "new", is_base ? "new" : "base");
    }
    return n_failed                                            ? QP_EXIT_FAILED
           : gate->verdict == QP_VERDICT_UNSURE && status == 0 ? QP_EXIT_UNSURE
                                                               : status;
}
