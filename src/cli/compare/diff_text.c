/* diff_text.c: a comparison for people: a head, then the largest changes. */
#include <stdio.h>
#include <string.h>

#include "base/text/table_text.h"
#include "base/text/text.h"
#include "cli/compare/diff.h"
#include "cli/show/show.h"

/* ---- the head -------------------------------------------------------------------------------- */

/* "base        qlua, 3 runs, 2026-11-21 05:22:10  (a1.qprof ... a3.qprof)" */
static void print_side(const qp_comparison *c, qp_diff_side side, const char *label)
{
    const qp_screen *s = &c->cli->screen;
    const qp_diff_runs *r = &c->runs[side];
    uint32_t n = c->diff->n_runs[side];
    char moment[QP_MOMENT_BYTES], count[QP_NUMBER_BYTES];
    qp_header_label(s, label);
    qp_header_program(s, r->program, r->script);
    if (*r->labels) {
        qp_out_text(s->out, ", ");
        qp_screen_name(s, r->labels, 80);
    }
    if (n > 1)
        qp_out_format(s->out, ", %s", qp_unit_things(count, n, "run"));
    qp_out_format(s->out, ", %s  (", qp_header_moment(moment, r->started_at));
    qp_screen_name(s, r->first_path, 0);
    if (n > 1) {
        qp_out_text(s->out, " ... ");
        qp_screen_name(s, r->last_path, 0);
    }
    qp_out_text(s->out, ")\n");
}

/* "incomplete  b.qprof was not completed: the program was killed" */
static void print_parts(const qp_comparison *c)
{
    const qp_screen *s = &c->cli->screen;
    for (int side = 0; side < QP_DIFF_SIDES; side++) {
        const qp_diff_runs *r = &c->runs[side];
        if (!r->part_path)
            continue;
        qp_header_label(s, "incomplete");
        qp_screen_name(s, r->part_path, 0);
        qp_out_format(s->out, " %s\n", r->part);
    }
}

static void print_measure(const qp_comparison *c)
{
    const qp_screen *s = &c->cli->screen;
    const qp_diff_runs *base = &c->runs[QP_DIFF_BASE], *new = &c->runs[QP_DIFF_NEW];
    bool is_mixed = base->has_modes || new->has_modes ||
                    strcmp(base->time_mode_text, new->time_mode_text) != 0;
    if (!c->diff->has_times)
        qp_header_line(s, "measured",
                       is_mixed ? "calls; not all runs have times" : "calls, no times");
    else if (is_mixed)
        qp_header_line(s, "measured",
                       "%s%s; base %s%s, new %s%s: times of different modes may differ by "
                       "themselves",
                       c->clock_text, c->is_time ? " time" : "", base->time_mode_text,
                       base->has_modes ? " and others" : "", new->time_mode_text,
                       new->has_modes ? " and others" : "");
    else
        qp_header_line(
            s, "measured", "%s%s, %s%s", c->clock_text, c->is_time ? " time" : "",
            base->time_mode_text,
            c->diff->is_by_run ? "; run times are compared (--elapsed: elapsed times)" : "");
    if (!c->diff->has_calls)
        qp_header_line(s, "calls", "were not counted in all runs: times are compared");
    if (base->has_programs || new->has_programs || strcmp(base->program, new->program) != 0)
        qp_header_line(s, "programs", "differ: equal names may belong to different functions");
}

/* "45.000 ms -> 54.000 ms, +9.000 ms (+20.0 %)", after a label */
static void print_times(const qp_comparison *c, const char *label, const qp_diff_figure *f)
{
    const qp_screen *s = &c->cli->screen;
    char base[QP_NUMBER_BYTES], new[QP_NUMBER_BYTES], change[QP_NUMBER_BYTES],
        percent[QP_NUMBER_BYTES];
    bool has_times = c->diff->has_times;
    int64_t by = qp_diff_change(f);
    qp_header_label(s, label);
    if (has_times)
        qp_out_format(s->out, "%s -> %s, ", qp_diff_value(c, base, f->sides[QP_DIFF_BASE]),
                      qp_diff_value(c, new, f->sides[QP_DIFF_NEW]));
    else
        qp_out_format(s->out, "%s -> %s, ", qp_unit_count(base, f->sides[QP_DIFF_BASE]),
                      qp_unit_count(new, f->sides[QP_DIFF_NEW]));
    qp_screen_style(s, !qp_diff_is_outside(f) ? QP_STYLE_PLAIN
                       : by > 0               ? QP_STYLE_BAD
                                              : QP_STYLE_GOOD);
    if (by && has_times)
        qp_out_format(s->out, "%s (%s %%)", qp_diff_amount(c, change, by),
                      qp_diff_percent(percent, f));
    else if (by)
        qp_out_format(s->out, "%s %%", qp_diff_percent(percent, f));
    else
        qp_out_text(s->out, "no change");
    qp_screen_style(s, QP_STYLE_PLAIN);
    if (by && !qp_diff_is_outside(f))
        qp_out_text(s->out, ", which may be chance");
    qp_out_char(s->out, '\n');
}

static void print_whole(const qp_comparison *c)
{
    const qp_diff_row *whole = &c->diff->rows[0];
    if (c->diff->has_times)
        print_times(c, "total", &whole->total);
    else
        print_times(c, "calls", &whole->calls);
    if (c->diff->is_by_run)
        print_times(c, "running", &whole->total_run);
}

static void print_noise(const qp_comparison *c)
{
    const qp_screen *s = &c->cli->screen;
    char noise[QP_NUMBER_BYTES];
    if (!c->diff->has_times)
        return;
    if (c->diff->has_noise)
        qp_header_line(
            s, "noise", "%s %s of the %s; what may be chance is not listed",
            qp_screen_sign(s, QP_SIGN_HALF),
            qp_diff_value(c, noise, qp_diff_total(c->diff, &c->diff->rows[0])->noise),
            c->diff->is_by_run ? "run time" : "total");
    else
        qp_header_line(s, "noise",
                       "unknown with one run a side; specify several with --base and --new");
}

static const char *noun_of(const qp_diff *d)
{
    return d->kind == QP_DIFF_PATHS     ? "paths"
           : d->kind == QP_DIFF_THREADS ? "threads"
                                        : "functions";
}

static void print_states(const qp_comparison *c)
{
    static const char *const words[QP_DIFF_STATES] = {"alike", "changed", "new", "gone"};
    static const qp_diff_state order[] = {QP_DIFF_CHANGED, QP_DIFF_ADDED, QP_DIFF_GONE,
                                          QP_DIFF_ALIKE};
    const qp_screen *s = &c->cli->screen;
    char count[QP_NUMBER_BYTES];
    const char *between = "";
    qp_header_label(s, noun_of(c->diff));
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        uint32_t n = c->diff->n_states[order[i]];
        if (!n && order[i] != QP_DIFF_CHANGED)
            continue;
        qp_out_format(s->out, "%s%s %s", between, qp_unit_count(count, n), words[order[i]]);
        between = ", ";
        if (order[i] == QP_DIFF_CHANGED && c->n_small)
            qp_out_format(s->out,
                          " (%s of them by less than 0.1 %% of the time: not listed, "
                          "except with --limit=0)",
                          qp_unit_count(count, c->n_small));
    }
    qp_out_text(s->out, "\n");
}

/* "calls of f, bytes of g and 3 more" */
static void print_varying(const qp_comparison *c)
{
    enum { MOST = 5 };
    const qp_screen *s = &c->cli->screen;
    const qp_gate *gate = &c->gate;
    char subject[QP_GATE_BYTES], number[QP_NUMBER_BYTES];
    size_t n = 0, at = 0;
    for (const qp_gate_item *item; n < MOST && (item = qp_gate_varying(gate, &at));) {
        qp_out_text(s->out, n++ ? ", " : "");
        qp_screen_name(s, qp_gate_subject(c, item, subject), 0);
    }
    if (gate->n_varying > n)
        qp_out_format(s->out, " and %s more", qp_unit_count(number, gate->n_varying - n));
}

static void print_gate(const qp_comparison *c)
{
    const qp_screen *s = &c->cli->screen;
    char summary[QP_GATE_BYTES];
    if (!c->limits.is_set)
        return;
    qp_header_line(s, "gate", "%s", qp_gate_summary(c, summary));
    if (!c->gate.n_varying)
        return;
    qp_header_label(s, "varying");
    print_varying(c);
    qp_out_text(s->out, ": judged by their noise\n");
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct {
    const qp_comparison *c;
    qp_table table;
    qp_unit time, plain; /* of the columns */
    qp_diff_sort about;  /* the figure in the first columns */
    char heads[5][32];
} listing;

/* The run time, and what more was waited; or the elapsed time. */
static const char *name_of(const listing *l, qp_diff_sort figure)
{
    static const char *const elapsed[] = {"Self", "Total", "Calls"}, *const run[] = {
                                                                         "Run", "Total run",
                                                                         "Calls"};
    const qp_diff *d = l->c->diff;
    bool is_thread = d->kind == QP_DIFF_THREADS && figure == QP_DIFF_SELF;
    return d->is_by_run ? run[figure] : is_thread ? "Time" : elapsed[figure];
}

/* Of what the listing is about: its own, or with what it called. */
static qp_diff_figure wait_of(const listing *l, const qp_diff_row *row)
{
    return l->about == QP_DIFF_TOTAL ? qp_diff_wait(&row->total, &row->total_run)
                                     : qp_diff_wait(&row->self, &row->self_run);
}

static qp_unit unit_of(const listing *l, qp_diff_sort about)
{
    return about == QP_DIFF_CALLS ? l->plain : l->time;
}

/* "+1.234" in the unit of a column. @return to */
static char *print_change(char *to, const qp_diff_figure *f, qp_unit unit)
{
    char number[QP_NUMBER_BYTES];
    int64_t change = qp_diff_change(f);
    qp_unit_number(number, qp_diff_size(change), unit);
    snprintf(to, QP_NUMBER_BYTES, "%s%.60s", change < 0 ? "-" : change > 0 ? "+" : "", number);
    return to;
}

static qp_style style_of(const qp_diff_figure *f)
{
    if (!qp_diff_is_outside(f))
        return QP_STYLE_DIM;
    return qp_diff_change(f) > 0 ? QP_STYLE_BAD : QP_STYLE_GOOD;
}

/* Another figure than the one that the listing is about. */
static bool has_more(const listing *l, qp_diff_sort figure)
{
    const qp_diff *d = l->c->diff;
    bool is_known = figure == QP_DIFF_CALLS ? d->has_calls : d->has_times;
    return l->about != figure && is_known &&
           (d->kind != QP_DIFF_THREADS || figure == QP_DIFF_CALLS);
}

static void begin_table(listing *l)
{
    const qp_comparison *c = l->c;
    uint64_t most = 0;
    for (size_t i = 0; i < c->n_rows; i++)
        for (int side = 0; side < QP_DIFF_SIDES; side++) {
            uint64_t value = c->diff->rows[c->rows[i]].total.sides[side];
            most = value > most ? value : most;
        }
    l->plain = qp_unit_for(0, false, NULL);
    l->time = qp_unit_for(most, c->is_time, c->cli->args.unit);
    l->about = !c->diff->has_times       ? QP_DIFF_CALLS
               : c->sort == QP_DIFF_NAME ? QP_DIFF_SELF
                                         : c->sort;
    const char *suffix = unit_of(l, l->about).suffix;
    snprintf(l->heads[0], sizeof l->heads[0], "%s%s", name_of(l, l->about), suffix);
    snprintf(l->heads[1], sizeof l->heads[1], "Base%s", suffix);
    snprintf(l->heads[2], sizeof l->heads[2], "New%s", suffix);
    snprintf(l->heads[3], sizeof l->heads[3], "%s",
             qp_screen_sign(&c->cli->screen, QP_SIGN_HALF));
    qp_table_init(&l->table);
    qp_table_column(&l->table,
                    c->diff->kind == QP_DIFF_PATHS     ? "Path"
                    : c->diff->kind == QP_DIFF_THREADS ? "Thread"
                                                       : "Function",
                    c->diff->kind == QP_DIFF_PATHS ? QP_KEEP_END : QP_KEEP_BEGIN, 0);
    qp_table_column(&l->table, l->heads[0], QP_ALIGN_RIGHT, 0);
    if (c->diff->has_noise)
        qp_table_column(&l->table, l->heads[3], QP_ALIGN_RIGHT, 3);
    qp_table_column(&l->table, "%", QP_ALIGN_RIGHT, 0);
    qp_table_column(&l->table, l->heads[1], QP_ALIGN_RIGHT, 1);
    qp_table_column(&l->table, l->heads[2], QP_ALIGN_RIGHT, 1);
    if (c->diff->is_by_run)
        qp_table_column(&l->table, "Wait", QP_ALIGN_RIGHT, 2);
    for (int f = QP_DIFF_SELF; f <= QP_DIFF_CALLS; f++)
        if (has_more(l, (qp_diff_sort)f))
            qp_table_column(&l->table, name_of(l, (qp_diff_sort)f), QP_ALIGN_RIGHT,
                            f == QP_DIFF_CALLS ? 2 : 4);
    if (c->diff->kind == QP_DIFF_FUNCTIONS)
        qp_table_column(&l->table, "File:Line", QP_KEEP_END, 5);
}

/* Figures are worth more than the beginnings of paths: room for five columns of them. */
static size_t path_columns(const qp_screen *s)
{
    enum { FIGURES = 46, NARROWEST = 24 };
    if (!s->n_columns || s->n_columns > QP_NAME_COLUMNS + FIGURES)
        return QP_NAME_COLUMNS;
    return s->n_columns > NARROWEST + FIGURES ? s->n_columns - FIGURES : NARROWEST;
}

static void add_row(listing *l, const qp_diff_row *row)
{
    char text[QP_NUMBER_BYTES], name[1024];
    const qp_diff_figure *f = qp_diff_main_figure(l->c, row);
    const qp_diff_figure *const more[] = {qp_diff_self(l->c->diff, row),
                                          qp_diff_total(l->c->diff, row), &row->calls};
    const qp_diff_figure wait = wait_of(l, row);
    qp_unit unit = unit_of(l, l->about);
    qp_table *t = &l->table;
    qp_diff_path(l->c, row, name, sizeof name);
    if (l->c->diff->kind == QP_DIFF_PATHS) {
        char fitted[QP_NAME_BYTES];
        qp_text_fit(fitted, sizeof fitted, name, path_columns(&l->c->cli->screen), 1);
        qp_table_cell(t, QP_STYLE_PLAIN, fitted);
    } else {
        qp_table_name(t, QP_STYLE_PLAIN, name);
    }
    qp_table_plain(t, style_of(f), print_change(text, f, unit));
    if (l->c->diff->has_noise)
        qp_table_plain(t, QP_STYLE_DIM, qp_unit_number(text, f->noise, unit));
    qp_table_plain(t, style_of(f),
                   row->state == QP_DIFF_ADDED  ? "new"
                   : row->state == QP_DIFF_GONE ? "gone"
                                                : qp_diff_percent(text, f));
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_number(text, f->sides[QP_DIFF_BASE], unit));
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_number(text, f->sides[QP_DIFF_NEW], unit));
    if (l->c->diff->is_by_run)
        qp_table_plain(t, style_of(&wait), print_change(text, &wait, l->time));
    for (int i = QP_DIFF_SELF; i <= QP_DIFF_CALLS; i++)
        if (has_more(l, (qp_diff_sort)i))
            qp_table_plain(t, style_of(more[i]),
                           print_change(text, more[i], unit_of(l, (qp_diff_sort)i)));
    if (l->c->diff->kind == QP_DIFF_FUNCTIONS) {
        qp_model_method method = {.file = row->file, .first_line = row->line};
        qp_table_name(t, QP_STYLE_DIM, qp_view_place(name, sizeof name, &method));
    }
}

static bool print_table(const qp_comparison *c)
{
    const qp_screen *s = &c->cli->screen;
    uint64_t limit = c->cli->args.limit;
    size_t n = limit && limit < c->n_rows ? (size_t)limit : c->n_rows;
    listing l = {.c = c};
    char count[QP_NUMBER_BYTES];
    begin_table(&l);
    for (size_t i = 0; i < n; i++)
        add_row(&l, &c->diff->rows[c->rows[i]]);
    bool is_good = qp_table_print(&l.table, s, 0);
    if (is_good && n < c->n_rows)
        qp_out_format(s->out, "and %s more; --limit=0 shows all\n",
                      qp_unit_count(count, c->n_rows - n));
    qp_table_fini(&l.table);
    return is_good;
}

/* The largest difference, if none is more than chance. */
static void print_largest(const qp_comparison *c)
{
    const qp_screen *s = &c->cli->screen;
    const qp_diff_row *rows = c->diff->rows, *most = &rows[1];
    char path[1024], change[QP_NUMBER_BYTES], noise[QP_NUMBER_BYTES];
    for (uint32_t i = 2; i < c->diff->n_rows; i++)
        if (qp_diff_size(qp_diff_change(qp_diff_main_figure(c, &rows[i]))) >
            qp_diff_size(qp_diff_change(qp_diff_main_figure(c, most))))
            most = &rows[i];
    const qp_diff_figure *f = qp_diff_main_figure(c, most);
    if (!qp_diff_change(f) || c->sort == QP_DIFF_CALLS)
        return;
    qp_out_text(s->out, "The largest is that of ");
    qp_screen_name(s, qp_diff_path(c, most, path, sizeof path), 0);
    qp_out_format(s->out, ": %s, %s %s. More runs a side see smaller changes.\n",
                  qp_diff_amount(c, change, qp_diff_change(f)), qp_screen_sign(s, QP_SIGN_HALF),
                  qp_diff_value(c, noise, f->noise));
}

static void print_none(const qp_comparison *c)
{
    uint32_t n = c->diff->n_rows - 1 - c->diff->n_states[QP_DIFF_ALIKE];
    qp_out_text(c->cli->screen.out, c->n_small ? "All differences are smaller.\n"
                                    : n > 0    ? "No difference matches the filter.\n"
                                    : c->diff->n_rows == 1 ? "No function was called.\n"
                                    : c->diff->has_noise
                                        ? "No difference is more than chance.\n"
                                        : "No differences.\n");
    if (n == 0 && c->diff->n_rows > 1 && c->diff->has_noise)
        print_largest(c);
}

static void print_legend(const qp_comparison *c)
{
    qp_out_text(
        c->cli->screen.out,
        "\nDifferences are new - base: less than 0 is an improvement. Base and New are\n"
        "medians of the runs; a change up to its ± may be chance. new: only in new;\n"
        "gone: only in base. Columns without a unit of their own are changes.\n");
}

bool qp_diff_print(const qp_comparison *c)
{
    bool is_good = true;
    print_side(c, QP_DIFF_BASE, "base");
    print_side(c, QP_DIFF_NEW, "new");
    print_parts(c);
    print_measure(c);
    print_whole(c);
    print_noise(c);
    print_states(c);
    print_gate(c);
    qp_out_char(c->cli->screen.out, '\n');
    if (c->n_rows)
        is_good = print_table(c);
    else
        print_none(c);
    if (is_good && c->cli->args.diff.has_legend)
        print_legend(c);
    return is_good;
}
