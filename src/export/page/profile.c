/* profile.c: the page of a profile, or of two: flame graphs, functions, tree, sources.
 *
 * The page's program (web/src/profile) shows the JSON blocks after it; web/src/profile/data.ts reads
 * every block. */
#include <inttypes.h>

#include "export/page/profile.h"

/* ---- what the first picture needs ------------------------------------------------------------ */

/* Times of call paths are ticks, so that the page adds them up exactly; it learns what a tick is from
 * the time of so many of them. */
#define TICKS ((uint64_t)1 << 50)

static void write_texts(qp_out *out, const qp_run_info *r, const char *name)
{
    const char *const texts[][2] = {{"fileName", name ? name : ""},
                                    {"program", r->program},
                                    {"label", r->label},
                                    {"host", r->host},
                                    {"module", r->module},
                                    {"options", r->options},
                                    {"version", r->version},
                                    {"state", r->state_text},
                                    {"unit", r->unit},
                                    {"mode", r->time_mode_text},
                                    {"clock", r->clock_text},
                                    {"source", r->source_text},
                                    {"grain", r->grain_text},
                                    {"focus", r->focus},
                                    {"when", r->when}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        qp_out_format(out, "\"%s\":", texts[i][0]);
        qp_page_text(out, texts[i][1]);
        qp_out_char(out, ',');
    }
}

static void write_numbers(qp_out *out, const qp_model *m)
{
    const qp_run_info *r = &m->run;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"ticks50", qp_model_ns(m, TICKS)},
                   {"started", r->started_at / 1000000},
                   {"pid", r->pid},
                   {"wall", qp_model_ns(m, r->wall)},
                   {"stopped", qp_model_ns(m, r->stopped)},
                   {"total", r->has_times ? qp_model_ns(m, r->total) : r->calls},
                   {"calls", r->calls},
                   {"cost", qp_model_ns(m, r->cost_total)},
                   {"hidden", r->n_hidden},
                   {"fileBytes", r->file_bytes},
                   {"passes", r->n_passes},
                   {"period", r->sample_period_reached_ns}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        qp_out_format(out, "\"%s\":%" PRIu64 ",", numbers[i].key, numbers[i].value);
}

static void write_claims(qp_out *out, const qp_run_info *r)
{
    const struct {
        const char *key;
        bool is_so;
    } claims[] = {
        {"isVirtual", r->is_virtual}, {"isEstimated", r->is_estimated},
        {"isMerged", r->is_merged},   {"isImported", r->is_imported},
        {"hasTimes", r->has_times},   {"hasCalls", r->has_calls},
        {"hasTree", r->is_profile},   {"isFromEdges", r->is_profile && !r->has_paths}};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        qp_out_format(out, "\"%s\":%s,", claims[i].key, claims[i].is_so ? "true" : "false");
}

static void write_diagnostics(qp_out *out, const qp_run_info *r)
{
    qp_out_text(out, "\"diagnostics\":[");
    for (size_t i = 0; i < r->n_diagnostics; i++) {
        const qp_run_diagnostic *d = &r->diagnostics[i];
        qp_page_row(out, i > 0);
        QP_PAGE_TEXTS(out, false, d->name, d->text);
        qp_page_number(out, true, d->count);
        qp_out_format(out, ",\"%c\"]", d->kind);
    }
    qp_out_text(out, "],\"notes\":[");
    for (size_t i = 0; i < r->n_notes; i++)
        qp_page_texts(out, i > 0, &(const char *){r->notes[i].text}, 1);
    qp_page_close(out);
}

/* "key":{...} */
static void write_run(qp_out *out, const char *key, const qp_model *m, const char *name)
{
    qp_out_format(out, "\"%s\":{", key);
    write_texts(out, &m->run, name);
    write_numbers(out, m);
    write_claims(out, &m->run);
    write_diagnostics(out, &m->run);
    qp_page_list(out, "losses", m->losses, m->n_losses);
    qp_out_char(out, '}');
}

enum { THREAD_ALIVE = 1, THREAD_SUSPENDED = 2 };

static void write_threads(qp_out *out, const qp_model *m)
{
    qp_page_table(out, "threads");
    for (uint32_t i = 1; i < m->n_threads; i++) {
        const qp_model_thread *th = &m->threads[i];
        qp_page_row(out, i > 1);
        qp_page_text(out, th->name);
        QP_PAGE_NUMBERS(out, true, th->root, qp_model_ns(m, th->total), th->calls, th->ordinal,
                        th->system_id, th->n_lives, th->depth,
                        (th->is_alive ? THREAD_ALIVE : 0u) |
                            (th->is_suspended ? THREAD_SUSPENDED : 0u));
        qp_page_close(out);
    }
    qp_page_close(out);
}

static void write_methods(qp_out *out, const qp_model *m)
{
    qp_page_table(out, "methods");
    for (uint32_t i = 0; i < m->n_methods; i++) {
        const qp_model_method *x = &m->methods[i];
        const qp_figures *f = &x->all;
        bool has_min_max = m->run.has_min_max && f->min <= f->max;
        qp_page_row(out, i > 0);
        QP_PAGE_TEXTS(out, false, x->name, x->module, x->file);
        QP_PAGE_NUMBERS(out, true, x->first_line, f->calls, qp_model_ns(m, f->self),
                        qp_model_ns(m, f->total), has_min_max ? qp_model_ns(m, f->min) : 1,
                        has_min_max ? qp_model_ns(m, f->max) : 0, qp_model_ns(m, f->self_half),
                        qp_model_ns(m, f->total_half), f->hits);
        qp_page_close(out);
    }
    qp_page_close(out);
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

static bool write_page(qp_out *out, const qp_html *page, qp_error *error)
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

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o, qp_error *error)
{
    qp_html page = {.m = m, .how = o, .timeline = o->base ? NULL : o->timeline};
    bool is_good = qp_page_is_there(&qp_page_profile, error) && qp_html_compare(&page, error) &&
                   write_page(out, &page, error);
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
