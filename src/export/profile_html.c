/* profile_html.c: one self-contained page: flame graphs, functions, call tree, sources, threads; of
 * two runs, what changed between them.
 *
 * The page's program is web/src/profile; its data.ts is the other side of what is written here, in
 * html_tree.c, html_lines.c and html_diff.c. */
#include <inttypes.h>
#include <string.h>

#include "base/unit.h"
#include "export/html.h"
#include "export/page.h"

/* ---- what the first picture needs ------------------------------------------------------------ */

static void write_text_of(qp_out *out, const char *key, const char *text)
{
    qp_out_format(out, "\"%s\":", key);
    qp_page_text(out, text);
    qp_out_char(out, ',');
}

/* Figures of call paths are ticks, so that the page adds them up as exactly as we do; it learns
 * what a tick is from what so many of them are. Those of two runs are in the runs' unit already. */
#define TICKS ((uint64_t)1 << 50)

static void write_number_of(qp_out *out, const char *key, uint64_t n)
{
    qp_out_format(out, "\"%s\":%" PRIu64 ",", key, n);
}

static void write_bool_of(qp_out *out, const char *key, bool is_so)
{
    qp_out_format(out, "\"%s\":%s,", key, is_so ? "true" : "false");
}

static void write_words(qp_out *out, const qp_run *r)
{
    write_text_of(out, "program", r->program);
    write_text_of(out, "label", r->label);
    write_text_of(out, "host", r->host);
    write_text_of(out, "module", r->module);
    write_text_of(out, "options", r->options);
    write_text_of(out, "version", r->version);
    write_text_of(out, "state", r->state_text);
    write_text_of(out, "unit", r->unit);
    write_text_of(out, "mode", r->time_mode_text);
    write_text_of(out, "clock", r->clock_text);
    write_text_of(out, "source", r->source_text);
    write_text_of(out, "grain", r->grain_text);
    write_text_of(out, "focus", r->focus);
}

/* "key":{...} */
static void write_run(qp_out *out, const char *key, const qp_model *m, uint64_t ticks50)
{
    const qp_run *r = &m->run;
    uint64_t whole = r->has_times ? qp_model_ns(m, r->total) : r->calls;
    qp_out_format(out, "\"%s\":{", key);
    write_words(out, r);
    write_number_of(out, "ticks50", ticks50);
    write_number_of(out, "started", r->started_at / 1000000);
    write_number_of(out, "pid", r->pid);
    write_number_of(out, "wall", qp_model_ns(m, r->wall));
    write_number_of(out, "stopped", qp_model_ns(m, r->stopped));
    write_number_of(out, "total", whole);
    write_number_of(out, "calls", r->calls);
    write_number_of(out, "cost", qp_model_ns(m, r->cost_total));
    write_number_of(out, "hidden", r->n_hidden);
    write_number_of(out, "fileBytes", r->file_bytes);
    write_number_of(out, "passes", r->n_passes);
    write_number_of(out, "period", r->sample_period_reached_ns);
    write_bool_of(out, "isVirtual", r->is_virtual);
    write_bool_of(out, "isEstimated", r->is_estimated);
    write_bool_of(out, "isMerged", r->is_merged);
    qp_out_format(out, "\"hasTimes\":%s}", r->has_times ? "true" : "false");
}

enum { THREAD_ALIVE = 1, THREAD_PARKED = 2 };

static void write_threads(qp_out *out, const qp_model *m)
{
    qp_out_text(out, ",\"threads\":[");
    for (uint32_t i = 1; i < m->n_threads; i++) {
        const qp_model_thread *th = &m->threads[i];
        qp_out_text(out, i > 1 ? ",\n[" : "[");
        qp_page_text(out, th->name);
        qp_page_number(out, true, th->root);
        qp_page_number(out, true, qp_model_ns(m, th->total));
        qp_page_number(out, true, th->calls);
        qp_page_number(out, true, th->ordinal);
        qp_page_number(out, true, th->system_id);
        qp_page_number(out, true, th->n_lives);
        qp_page_number(out, true, th->depth);
        qp_page_number(out, true,
                       (th->is_alive ? THREAD_ALIVE : 0u) |
                           (th->is_parked ? THREAD_PARKED : 0u));
        qp_out_char(out, ']');
    }
    qp_out_char(out, ']');
}

static void write_methods(qp_out *out, const qp_model *m)
{
    qp_out_text(out, ",\"methods\":[");
    for (uint32_t i = 0; i < m->n_methods; i++) {
        const qp_model_method *x = &m->methods[i];
        const qp_figures *f = &x->all;
        bool has_min_max = m->run.has_min_max && f->min <= f->max;
        const uint64_t figures[] = {x->first_line,
                                    f->calls,
                                    qp_model_ns(m, f->self),
                                    qp_model_ns(m, f->total),
                                    has_min_max ? qp_model_ns(m, f->min) : 1,
                                    has_min_max ? qp_model_ns(m, f->max) : 0,
                                    qp_model_ns(m, f->self_half),
                                    qp_model_ns(m, f->total_half)};
        qp_out_text(out, i ? ",\n[" : "[");
        qp_page_text(out, x->name);
        qp_out_char(out, ',');
        qp_page_text(out, x->module);
        qp_out_char(out, ',');
        qp_page_text(out, x->file);
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
            qp_page_number(out, true, figures[k]);
        qp_out_char(out, ']');
    }
    qp_out_char(out, ']');
}

/* "N" of a diagnostic is normal, what is not is a reason to look. */
static void write_diagnostics(qp_out *out, const qp_model *m)
{
    qp_out_text(out, ",\"diagnostics\":[");
    for (size_t i = 0; i < m->run.n_diagnostics; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        qp_out_text(out, i ? ",\n[" : "[");
        qp_page_text(out, d->name);
        qp_out_char(out, ',');
        qp_page_text(out, d->text);
        qp_page_number(out, true, d->count);
        qp_out_format(out, ",\"%c\"]", d->kind);
    }
    qp_out_text(out, "],\"notes\":[");
    for (size_t i = 0; i < m->run.n_notes; i++) {
        if (i)
            qp_out_char(out, ',');
        qp_page_text(out, m->run.notes[i].text);
    }
    qp_out_char(out, ']');
}

static bool write_index(qp_out *out, const qp_html *page)
{
    const qp_model *m = page->m;
    qp_page_block(out, "index");
    qp_out_char(out, '{');
    write_run(out, "run", m, page->paths ? TICKS : qp_model_ns(m, TICKS));
    if (page->paths) {
        qp_out_char(out, ',');
        write_run(out, "base", page->how->base, TICKS);
        qp_html_changes(out, page);
    } else {
        write_methods(out, m);
    }
    write_threads(out, m);
    write_diagnostics(out, m);
    qp_page_texts(out, "losses", m->losses, m->n_losses);
    bool is_good = qp_html_files(out, page);
    qp_out_format(out, ",\"nodes\":%" PRIu32 "}", qp_html_nodes(page));
    qp_page_block_end(out);
    return is_good;
}

/* ---- without JavaScript ---------------------------------------------------------------------- */

enum { PLAIN_ROWS = 50 };

static uint64_t weight_of(const qp_model *m, uint32_t method)
{
    const qp_figures *f = &m->methods[method].all;
    return m->run.has_times ? f->self : f->calls;
}

/* Put a method where it belongs among the first rows. @return how many there are */
static size_t place(const qp_model *m, uint32_t rows[PLAIN_ROWS], size_t n, uint32_t method)
{
    size_t at = n;
    while (at > 0 && weight_of(m, rows[at - 1]) < weight_of(m, method))
        at--;
    if (at == PLAIN_ROWS)
        return n;
    size_t n_after = n < PLAIN_ROWS ? n + 1 : n;
    memmove(rows + at + 1, rows + at, (n_after - at - 1) * sizeof *rows);
    rows[at] = method;
    return n_after;
}

static void write_time(qp_out *out, const qp_model *m, uint64_t ticks)
{
    char text[QP_NUMBER_BYTES];
    bool is_time = strcmp(m->run.unit, "ns") == 0;
    uint64_t value = qp_model_ns(m, ticks);
    qp_out_format(out, "<td>%s</td>",
                  is_time ? qp_unit_time(text, value) : qp_unit_count(text, value));
}

static bool write_plain_table(qp_out *out, const qp_model *m)
{
    uint32_t rows[PLAIN_ROWS];
    size_t n = 0;
    for (uint32_t i = 1; i < m->n_methods; i++)
        n = m->methods[i].all.calls ? place(m, rows, n, i) : n;
    qp_out_text(out, "<noscript>\n<h1>Profile</h1>\n"
                     "<p>With JavaScript this page shows a flame graph, the call tree and all "
                     "functions; these have most time of their own.</p>\n<table>\n"
                     "<tr><th>Function</th><th>Calls</th><th>Self</th><th>Total</th></tr>\n");
    bool is_good = true;
    for (size_t i = 0; i < n && is_good; i++) {
        const qp_model_method *x = &m->methods[rows[i]];
        char calls[QP_NUMBER_BYTES];
        qp_out_text(out, "<tr><td>");
        is_good = qp_page_name(out, x->name);
        qp_out_format(out, "</td><td>%s</td>", qp_unit_count(calls, x->all.calls));
        write_time(out, m, x->all.self);
        write_time(out, m, x->all.total);
        qp_out_text(out, "</tr>\n");
    }
    qp_out_text(out, "</table>\n</noscript>\n");
    return is_good;
}

/* ---- the page -------------------------------------------------------------------------------- */

static bool write_page(qp_out *out, const qp_html *page, char error[QP_ERROR_BYTES])
{
    qp_page_begin(out, &qp_page_profile, page->paths ? "Profiles compared" : "Profile");
    if (!write_plain_table(out, page->m))
        return qp_export_fails(error);
    qp_out_text(out, "<div id=\"app\"></div>\n");
    if (!write_index(out, page))
        return qp_export_fails(error);
    qp_page_script(out, &qp_page_profile);
    if (!qp_html_tree(out, page) || !qp_html_sources(out, page))
        return qp_export_fails(error);
    qp_page_end(out);
    return true;
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    qp_html page = {.m = m, .how = o};
    bool is_good = qp_page_is_there(&qp_page_profile, error, QP_ERROR_BYTES) &&
                   qp_html_compare(&page, error) && write_page(out, &page, error);
    qp_html_compare_end(&page);
    return is_good;
}

const qp_exporter qp_export_html = {
    .name = "html",
    .suffix = ".html",
    .summary = "one page for any browser: flame graphs, functions, tree, sources",
    .limits = "samples, intervals of call paths, exact figures above 2^53",
    .write = write};
