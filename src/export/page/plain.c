/* plain.c: the profile page without JavaScript: which runs it is about, and the functions with most
 * self time or, of two runs, with the largest change of it. */
#include <string.h>

#include "base/text/unit.h"
#include "export/page/profile.h"

enum { PLAIN_ROWS = 50 };

typedef struct {
    qp_out *out;
    const qp_html *page;
    const qp_model *m;
    const qp_model *base; /* NULL: one run is shown */
    bool has_times, has_calls;
} plain;

/* ---- figures --------------------------------------------------------------------------------- */

static const char *figure_text(const plain *p, bool is_time, uint64_t value,
                               char text[QP_NUMBER_BYTES])
{
    bool is_ns = is_time && strcmp(p->m->run.unit, "ns") == 0;
    return is_ns ? qp_unit_time(text, value) : qp_unit_count(text, value);
}

static void write_figure(const plain *p, bool is_time, uint64_t value)
{
    char text[QP_NUMBER_BYTES];
    qp_out_format(p->out, "<td>%s</td>", figure_text(p, is_time, value, text));
}

static void write_change(const plain *p, bool is_time, uint64_t before, uint64_t after)
{
    char text[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    uint64_t size = after > before ? after - before : before - after;
    const char *sign = !size ? "" : after > before ? "+" : "&minus;";
    qp_out_format(p->out, "<td>%s%s", sign, figure_text(p, is_time, size, text));
    if (size && before && after)
        qp_out_format(p->out, " (%s%s %%)", sign, qp_unit_percent(percent, size, before));
    qp_out_text(p->out, "</td>");
}

/* What it was, what it is, and how much that is more; of one run what it is. */
static void write_sides(const plain *p, bool is_time, uint64_t before, uint64_t after)
{
    if (p->base)
        write_figure(p, is_time, before);
    write_figure(p, is_time, after);
    if (p->base)
        write_change(p, is_time, before, after);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool write_name(const plain *p, const char *name)
{
    qp_out_text(p->out, "<td>");
    bool is_good = !name || qp_page_name(p->out, name);
    qp_out_text(p->out, "</td>");
    return is_good;
}

/* A row of texts: what changes of them is seen. */
static bool write_names(const plain *p, const char *label, const char *before,
                        const char *after)
{
    qp_out_format(p->out, "<tr><th>%s</th>", label);
    bool is_good = (!p->base || write_name(p, before)) && write_name(p, after);
    qp_out_text(p->out, p->base ? "<td></td></tr>\n" : "</tr>\n");
    return is_good;
}

static void write_total(const plain *p, const char *label, bool is_time, uint64_t before,
                        uint64_t after)
{
    qp_out_format(p->out, "<tr><th>%s</th>", label);
    write_sides(p, is_time, before, after);
    qp_out_text(p->out, "</tr>\n");
}

static const char *title(const qp_run_info *run)
{
    return *run->label ? run->label : run->program;
}

/* Of several runs a side: medians. */
static void write_medians(const plain *p, const qp_diff *d)
{
    const qp_diff_row *whole = &d->rows[0];
    write_total(p, "Runs, of which medians are shown", false, d->n_runs[QP_DIFF_BASE],
                d->n_runs[QP_DIFF_NEW]);
    if (p->has_times)
        write_total(p, strcmp(p->m->run.unit, "ns") == 0 ? "Time" : "Counts", true,
                    whole->total.sides[QP_DIFF_BASE], whole->total.sides[QP_DIFF_NEW]);
    if (p->has_calls)
        write_total(p, "Calls", false, whole->calls.sides[QP_DIFF_BASE],
                    whole->calls.sides[QP_DIFF_NEW]);
}

static void write_totals(const plain *p)
{
    const qp_model *m = p->m, *base = p->base;
    if (p->has_times)
        write_total(p, strcmp(m->run.unit, "ns") == 0 ? "Time" : "Counts", true,
                    base ? qp_model_ns(base, base->run.total) : 0,
                    qp_model_ns(m, m->run.total));
    if (p->has_calls)
        write_total(p, "Calls", false, base ? base->run.calls : 0, m->run.calls);
    if (p->has_calls && (m->run.calls_lost || (base && base->run.calls_lost)))
        write_total(p, "Further calls, lost", false, base ? base->run.calls_lost : 0,
                    m->run.calls_lost);
}

static bool write_runs(const plain *p)
{
    const qp_model *m = p->m, *base = p->base;
    const qp_export_options *how = p->page->how;
    qp_out_text(p->out, "<table>\n");
    if (base)
        qp_out_text(p->out, "<tr><td></td><th>Before</th><th>After</th><th>Change</th></tr>\n");
    bool is_good = write_names(p, "Program", base ? title(&base->run) : NULL, title(&m->run));
    if (*m->run.script || (base && *base->run.script))
        is_good &= write_names(p, "Script", base ? base->run.script : NULL, m->run.script);
    if (*m->run.labels || (base && *base->run.labels))
        is_good &= write_names(p, "Labels", base ? base->run.labels : NULL, m->run.labels);
    if (how->name)
        is_good &= write_names(p, "Profile", how->base_name, how->name);
    if (*m->run.focus)
        is_good &= write_names(p, "Focus", NULL, m->run.focus);
    if (*m->run.when)
        is_good &= write_names(p, "When", NULL, m->run.when);
    const qp_diff *d = how->functions;
    if (base && d->n_runs[QP_DIFF_BASE] + d->n_runs[QP_DIFF_NEW] > QP_DIFF_SIDES)
        write_medians(p, d);
    else
        write_totals(p);
    qp_out_text(p->out, "</table>\n");
    return is_good;
}

/* ---- functions ------------------------------------------------------------------------------- */

enum { CALLS, SELF, TOTAL, FIGURES };

typedef struct {
    const char *name;
    uint64_t weight;
    uint64_t before[FIGURES], after[FIGURES];
} row;

/* What a function has called changes its total: of two runs that is left out. */
static bool has_figure(const plain *p, size_t figure)
{
    return figure == CALLS ? p->has_calls : p->has_times && (figure == SELF || !p->base);
}

static void fill_change(const plain *p, uint32_t i, row *to)
{
    const qp_diff_row *x = &p->page->functions->rows[i];
    const qp_diff_figure *figures[] = {&x->calls, &x->self, &x->total};
    int64_t change = qp_diff_change(p->has_times ? &x->self : &x->calls);
    to->name = x->name;
    to->weight = change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
    for (size_t k = 0; k < FIGURES; k++) {
        to->before[k] = figures[k]->sides[QP_DIFF_BASE];
        to->after[k] = figures[k]->sides[QP_DIFF_NEW];
    }
}

static void fill_method(const plain *p, uint32_t i, row *to)
{
    const qp_figures *f = &p->page->merged->methods[i].all;
    to->name = p->m->methods[i].name;
    to->weight = p->has_times ? f->self : f->calls;
    to->after[CALLS] = f->calls;
    to->after[SELF] = qp_model_ns(p->m, f->self);
    to->after[TOTAL] = qp_model_ns(p->m, f->total);
}

/* Put a row where it belongs among the first ones. @return how many there are */
static size_t place(row rows[PLAIN_ROWS], size_t n, const row *x)
{
    size_t at = n;
    while (at > 0 && rows[at - 1].weight < x->weight)
        at--;
    if (at == PLAIN_ROWS)
        return n;
    size_t n_after = n < PLAIN_ROWS ? n + 1 : n;
    memmove(rows + at + 1, rows + at, (n_after - at - 1) * sizeof *rows);
    rows[at] = *x;
    return n_after;
}

static size_t first_rows(const plain *p, row rows[PLAIN_ROWS])
{
    const qp_diff *d = p->page->functions;
    size_t n = 0;
    for (uint32_t i = 1; i < (d ? d->n_rows : p->m->n_methods); i++) {
        row x = {0};
        bool is_shown =
            d ? d->rows[i].state != QP_DIFF_ALIKE : qp_figures_is_seen(&p->m->methods[i].all);
        (d ? fill_change : fill_method)(p, i, &x);
        if (is_shown)
            n = place(rows, n, &x);
    }
    return n;
}

static void write_head(const plain *p)
{
    const char *const names[FIGURES] = {"Calls", "Self", "Total"};
    qp_out_text(p->out, "<table>\n<tr><th>Function</th>");
    for (size_t k = 0; k < FIGURES; k++) {
        if (!has_figure(p, k))
            continue;
        if (p->base)
            qp_out_format(p->out, "<th>%s before</th>", names[k]);
        qp_out_format(p->out, p->base ? "<th>%s</th><th>Change</th>" : "<th>%s</th>", names[k]);
    }
    qp_out_text(p->out, "</tr>\n");
}

static bool write_row(const plain *p, const row *x)
{
    qp_out_text(p->out, "<tr>");
    bool is_good = write_name(p, x->name);
    for (size_t k = 0; k < FIGURES; k++)
        if (has_figure(p, k))
            write_sides(p, k != CALLS, x->before[k], x->after[k]);
    qp_out_text(p->out, "</tr>\n");
    return is_good;
}

static bool write_functions(const plain *p)
{
    row rows[PLAIN_ROWS];
    size_t n = first_rows(p, rows);
    const char *what = p->has_times ? "self time" : "calls";
    const char *which = p->base ? "these changed most, in" : "these have most";
    qp_out_text(p->out,
                "<p>With JavaScript this page shows flame graphs, the call tree and all "
                "functions; ");
    if (n)
        qp_out_format(p->out, "%s %s.</p>\n", which, what);
    else
        qp_out_format(p->out, "%s.</p>\n", p->base ? "none changed" : "none was called");
    bool is_good = true;
    if (n)
        write_head(p);
    for (size_t i = 0; i < n && is_good; i++)
        is_good = write_row(p, &rows[i]);
    qp_out_text(p->out, n ? "</table>\n" : "");
    return is_good;
}

bool qp_html_plain(qp_out *out, const qp_html *page)
{
    const qp_model *base = page->how->base;
    const plain p = {.out = out,
                     .page = page,
                     .m = page->m,
                     .base = base,
                     .has_times = page->m->run.has_times && (!base || base->run.has_times),
                     .has_calls = page->m->run.has_calls && (!base || base->run.has_calls)};
    qp_out_format(out, "<noscript>\n<h1>%s</h1>\n", base ? "Profiles compared" : "Profile");
    bool is_good = write_runs(&p) && write_functions(&p);
    qp_out_text(out, "</noscript>\n");
    return is_good;
}
