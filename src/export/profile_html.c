/* profile_html.c: one self-contained page: flame graphs, functions, call tree, sources, threads; of
 * two runs, what changed between them.
 *
 * The page's program is web/src/profile; its data.ts is the other side of what is written here, in
 * html_tree.c, html_lines.c and html_diff.c; html_plain.c is for readers without it. */
#include <inttypes.h>

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
 * what a tick is from what so many of them are. */
#define TICKS ((uint64_t)1 << 50)

static void write_number_of(qp_out *out, const char *key, uint64_t n)
{
    qp_out_format(out, "\"%s\":%" PRIu64 ",", key, n);
}

static void write_bool_of(qp_out *out, const char *key, bool is_so)
{
    qp_out_format(out, "\"%s\":%s,", key, is_so ? "true" : "false");
}

static void write_words(qp_out *out, const qp_run *r, const char *name)
{
    write_text_of(out, "fileName", name ? name : "");
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
    write_text_of(out, "when", r->when);
}

static void write_numbers(qp_out *out, const qp_model *m)
{
    const qp_run *r = &m->run;
    write_number_of(out, "ticks50", qp_model_ns(m, TICKS));
    write_number_of(out, "started", r->started_at / 1000000);
    write_number_of(out, "pid", r->pid);
    write_number_of(out, "wall", qp_model_ns(m, r->wall));
    write_number_of(out, "stopped", qp_model_ns(m, r->stopped));
    write_number_of(out, "total", r->has_times ? qp_model_ns(m, r->total) : r->calls);
    write_number_of(out, "calls", r->calls);
    write_number_of(out, "cost", qp_model_ns(m, r->cost_total));
    write_number_of(out, "hidden", r->n_hidden);
    write_number_of(out, "fileBytes", r->file_bytes);
    write_number_of(out, "passes", r->n_passes);
    write_number_of(out, "period", r->sample_period_reached_ns);
}

static void write_claims(qp_out *out, const qp_run *r)
{
    write_bool_of(out, "isVirtual", r->is_virtual);
    write_bool_of(out, "isEstimated", r->is_estimated);
    write_bool_of(out, "isMerged", r->is_merged);
    write_bool_of(out, "isImported", r->is_imported);
    write_bool_of(out, "hasTimes", r->has_times);
    write_bool_of(out, "hasCalls", r->has_calls);
    write_bool_of(out, "hasTree", r->is_profile);
    write_bool_of(out, "isFromEdges", r->is_profile && !r->has_paths);
}

static void write_diagnostics(qp_out *out, const qp_run *r)
{
    qp_out_text(out, "\"diagnostics\":[");
    for (size_t i = 0; i < r->n_diagnostics; i++) {
        const qp_run_diagnostic *d = &r->diagnostics[i];
        qp_out_text(out, i ? ",\n[" : "[");
        qp_page_text(out, d->name);
        qp_out_char(out, ',');
        qp_page_text(out, d->text);
        qp_page_number(out, true, d->count);
        qp_out_format(out, ",\"%c\"]", d->kind);
    }
    qp_out_text(out, "],\"notes\":[");
    for (size_t i = 0; i < r->n_notes; i++) {
        if (i)
            qp_out_char(out, ',');
        qp_page_text(out, r->notes[i].text);
    }
    qp_out_char(out, ']');
}

/* "key":{...} */
static void write_run(qp_out *out, const char *key, const qp_model *m, const char *name)
{
    qp_out_format(out, "\"%s\":{", key);
    write_words(out, &m->run, name);
    write_numbers(out, m);
    write_claims(out, &m->run);
    write_diagnostics(out, &m->run);
    qp_page_texts(out, "losses", m->losses, m->n_losses);
    qp_out_char(out, '}');
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
                                    qp_model_ns(m, f->total_half),
                                    f->hits};
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

static bool write_index(qp_out *out, const qp_html *page)
{
    const qp_model *m = page->m;
    const qp_export_options *how = page->how;
    qp_page_block(out, "index");
    qp_out_char(out, '{');
    write_run(out, "run", m, how->name);
    if (page->paths) {
        qp_out_char(out, ',');
        write_run(out, "base", how->base, how->base_name);
        qp_html_changes(out, page);
    } else {
        write_methods(out, m);
        write_threads(out, m);
    }
    bool is_good = qp_html_files(out, page);
    qp_out_format(out, ",\"nodes\":%" PRIu32 ",\"hasTimeline\":%s}", qp_html_nodes(page),
                  page->timeline ? "true" : "false");
    qp_page_block_end(out);
    return is_good;
}

/* ---- the page -------------------------------------------------------------------------------- */

static bool write_page(qp_out *out, const qp_html *page, char error[QP_ERROR_BYTES])
{
    qp_page_begin(out, &qp_page_profile, page->paths ? "Profiles compared" : "Profile");
    if (!qp_html_plain(out, page))
        return qp_export_fails(error);
    qp_out_text(out, "<div id=\"app\"></div>\n");
    if (!write_index(out, page))
        return qp_export_fails(error);
    qp_page_script(out, &qp_page_profile);
    if (!qp_html_tree(out, page) || !qp_html_timeline(out, page) || !qp_html_sources(out, page))
        return qp_export_fails(error);
    qp_page_end(out);
    return true;
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    qp_html page = {.m = m, .how = o, .timeline = o->base ? NULL : o->timeline};
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
    .has_functions = true,
    .write = write};
