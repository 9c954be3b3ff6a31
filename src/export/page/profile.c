/* profile.c: the page of a profile, or of two: flame graphs, functions, tree, sources.
 *
 * The page's program (web/src/profile) shows the JSON blocks after it; web/src/profile/data.ts reads
 * every block. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "export/page/profile.h"
#include "export/shared/gzip.h"
#include "model/figures/figures.h"

/* ---- what the first picture needs ------------------------------------------------------------ */

/* Times of call paths are ticks, so that the page adds them up exactly; it learns what a tick is from
 * the time of so many of them. */
#define TICKS ((uint64_t)1 << 50)

static void write_texts(qp_out *out, const qp_run_info *r, const char *name)
{
    const char *const texts[][2] = {{"fileName", name ? name : ""},
                                    {"program", r->program},
                                    {"label", r->label},
                                    {"script", r->script},
                                    {"arguments", r->arguments},
                                    {"folder", r->folder},
                                    {"interpreter", r->host_version},
                                    {"labels", r->labels},
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

static void write_numbers(qp_out *out, const qp_model *m, uint32_t n_runs)
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
                   {"callsLost", r->calls_lost},
                   {"off", r->has_waits ? qp_model_ns(m, r->off) : 0},
                   {"bytes", m->nodes[QP_ROOT_NODE].f.memory_total.bytes},
                   {"objects", m->nodes[QP_ROOT_NODE].f.memory_total.objects},
                   {"cost", qp_model_ns(m, r->cost_total)},
                   {"collector", qp_model_ns(m, r->collector)},
                   {"collectorTotal", qp_model_ns(m, r->collector_total)},
                   {"hidden", r->n_hidden},
                   {"fileBytes", r->file_bytes},
                   {"runs", n_runs},
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
    } claims[] = {{"isVirtual", r->is_virtual},
                  {"isEstimated", r->is_estimated},
                  {"isCollectorCharged", r->is_collector_charged},
                  {"isMerged", r->is_merged},
                  {"isImported", r->is_imported},
                  {"hasTimes", r->has_times},
                  {"hasCalls", r->has_calls},
                  {"hasWaits", r->has_waits},
                  {"hasMemory", r->has_memory},
                  {"hasTree", r->is_profile},
                  {"isFromEdges", r->is_profile && !r->has_paths}};
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

/* What was lost of the run, or of those that it is the sum of. */
static void write_losses(qp_out *out, const qp_model *m)
{
    char texts[2][QP_PARTS_BYTES];
    const char *const list[] = {texts[0], texts[1]};
    const qp_run_parts parts =
        m->run.is_merged ? qp_run_parts_of(m->run.notes, m->run.n_notes) : (qp_run_parts){0};
    qp_page_table(out, "losses");
    qp_page_texts(out, false, m->losses, m->n_losses);
    qp_page_texts(out, m->n_losses > 0, list, qp_run_parts_texts(&parts, texts));
    qp_page_close(out);
}

/* "key":{...}
 * @param n_runs  of those that are compared: on its side */
static void write_run(qp_out *out, const char *key, const qp_model *m, const char *name,
                      uint32_t n_runs)
{
    qp_out_format(out, "\"%s\":{", key);
    write_texts(out, &m->run, name);
    write_numbers(out, m, n_runs);
    write_claims(out, &m->run);
    write_diagnostics(out, &m->run);
    write_losses(out, m);
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

/* The run's root is one. */
static uint32_t n_nodes(const qp_html *page)
{
    return page->paths ? page->n_paths : page->m->n_nodes;
}

/* Pairs: an outermost path of a thread, and the path that created the thread. */
static void write_creators(qp_out *out, const qp_html *page)
{
    bool is_more = false;
    qp_out_text(out, ",\"creators\":[");
    for (uint32_t i = 1; i < n_nodes(page); i++) {
        uint32_t creator =
            page->paths ? page->paths[i].creator : qp_html_creator(page, page->m, i);
        if (creator)
            QP_PAGE_NUMBERS(out, is_more, i, creator);
        is_more |= creator > 0;
    }
    qp_out_char(out, ']');
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
                        qp_model_ns(m, f->total_half), f->hits, f->resumes);
        qp_page_close(out);
    }
    qp_page_close(out);
}

static bool write_files(qp_out *out, const qp_html *page)
{
    qp_model_file *files;
    size_t n;
    if (!qp_model_files(page->m, &files, &n))
        return false;
    qp_page_table(out, "files");
    for (size_t i = 0; i < n; i++) {
        qp_page_row(out, i > 0);
        qp_page_text(out, files[i].path);
        QP_PAGE_NUMBERS(out, true, qp_model_ns(page->m, files[i].self), files[i].n_methods);
        qp_page_close(out);
    }
    qp_page_close(out);
    qp_free(files);
    return true;
}

/* A figure of a row; rows begin at 1, callers before callees. */
typedef uint64_t (*column)(const qp_html *page, uint32_t row);

#define COLUMN(name, value)                                                                    \
    static uint64_t name(const qp_html *page, uint32_t i)                                      \
    {                                                                                          \
        return value;                                                                          \
    }
COLUMN(node_parent, i - page->m->nodes[i].parent)
COLUMN(node_method, page->m->nodes[i].method)
COLUMN(node_calls, page->m->nodes[i].f.calls)
COLUMN(node_self, page->m->nodes[i].f.self)
COLUMN(node_off, page->m->nodes[i].f.off)
COLUMN(node_bytes, page->m->nodes[i].f.memory.bytes)
COLUMN(node_objects, page->m->nodes[i].f.memory.objects)
COLUMN(path_parent, i - page->paths[i].parent)
COLUMN(path_function, page->paths[i].method)
COLUMN(path_calls, page->paths[i].sides[QP_DIFF_NEW].calls)
COLUMN(path_self, page->paths[i].sides[QP_DIFF_NEW].self)
COLUMN(path_off, page->paths[i].sides[QP_DIFF_NEW].off)
COLUMN(path_bytes, page->paths[i].sides[QP_DIFF_NEW].bytes)
COLUMN(path_objects, page->paths[i].sides[QP_DIFF_NEW].objects)
COLUMN(base_calls, page->paths[i].sides[QP_DIFF_BASE].calls)
COLUMN(base_self, page->paths[i].sides[QP_DIFF_BASE].self)
COLUMN(base_off, page->paths[i].sides[QP_DIFF_BASE].off)
COLUMN(base_bytes, page->paths[i].sides[QP_DIFF_BASE].bytes)
COLUMN(base_objects, page->paths[i].sides[QP_DIFF_BASE].objects)

typedef enum { IN_ALL, WITH_WAITS, WITH_MEMORY } column_need;
typedef struct {
    column value;
    column_need need;
} column_of;

static const column_of of_one[] = {{node_parent, IN_ALL},       {node_method, IN_ALL},
                                   {node_calls, IN_ALL},        {node_self, IN_ALL},
                                   {node_off, WITH_WAITS},      {node_bytes, WITH_MEMORY},
                                   {node_objects, WITH_MEMORY}, {NULL, IN_ALL}};
static const column_of of_two[] = {{path_parent, IN_ALL},
                                   {path_function, IN_ALL},
                                   {path_calls, IN_ALL},
                                   {path_self, IN_ALL},
                                   {path_off, WITH_WAITS},
                                   {path_bytes, WITH_MEMORY},
                                   {path_objects, WITH_MEMORY},
                                   {base_calls, IN_ALL},
                                   {base_self, IN_ALL},
                                   {base_off, WITH_WAITS},
                                   {base_bytes, WITH_MEMORY},
                                   {base_objects, WITH_MEMORY},
                                   {NULL, IN_ALL}};

/* Sentences about the run, each with its command. */
static void write_findings(qp_out *out, const qp_html *page)
{
    static qp_run_finding all[QP_FINDINGS_MOST];
    const qp_export_options *how = page->how;
    size_t n = how->name && !how->home /* their commands name a file */
                   ? qp_model_findings(page->merged, how->name,
                                       how->base_name ? how->base : NULL, how->base_name, all)
                   : 0;
    qp_page_table(out, "findings");
    for (size_t i = 0; i < n; i++) {
        qp_page_row(out, i > 0);
        QP_PAGE_TEXTS(out, false, all[i].text, all[i].command);
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
    const uint32_t *n_runs = page->paths ? how->functions->n_runs : (const uint32_t[]){1, 1};
    write_run(out, "run", m, how->name, n_runs[QP_DIFF_NEW]);
    if (page->paths) {
        qp_out_char(out, ',');
        write_run(out, "base", how->base, how->base_name, n_runs[QP_DIFF_BASE]);
        qp_html_changes(out, page);
    } else {
        write_methods(out, page->merged);
        write_threads(out, m);
    }
    write_creators(out, page);
    bool is_good = write_files(out, page);
    write_findings(out, page);
    qp_out_text(out, ",\"home\":");
    qp_page_text(out, how->home ? how->home : "");
    qp_out_format(out, ",\"nodes\":%" PRIu32 ",\"hasTimeline\":%s,\"isApart\":%s}",
                  n_nodes(page), page->timeline ? "true" : "false",
                  how->is_apart ? "true" : "false");
    qp_page_block_end(out);
    return is_good;
}

/* ---- the call tree --------------------------------------------------------------------------- */

/* A million call paths are too large for JSON. The column of each figure is written as a whole,
 * because columns compress best. */
static bool write_tree(qp_out *out, const qp_html *page)
{
    uint32_t n = n_nodes(page);
    qp_out_text(out, "<script type=\"application/gzip;base64\" id=\"nodes\">");
    qp_gzip *z = qp_gzip_new(out, true);
    if (!z)
        return false;
    const qp_html_content has = qp_html_content_of(page);
    for (const column_of *c = page->paths ? of_two : of_one; c->value; c++) {
        if ((c->need == WITH_WAITS && !has.has_waits) ||
            (c->need == WITH_MEMORY && !has.has_memory))
            continue;
        for (uint32_t i = 1; i < n; i++)
            qp_gzip_varint(z, c->value(page, i));
    }
    qp_gzip_end(z);
    qp_page_block_end(out);
    return true;
}

/* ---- sources: the blocks of each function, and the texts ------------------------------------- */

enum { FLAG_COUNTED = 1, FLAG_TIMED = 2, FLAG_SAMPLED = 4 };

/* Times are ticks, so that the page adds up those of a line exactly. */
static bool write_blocks(qp_out *out, const qp_model *m, uint32_t method)
{
    qp_block_figures *blocks;
    size_t n;
    if (!qp_model_blocks(m, method, QP_ALL_THREADS, &blocks, &n))
        return false;
    bool is_more = false;
    qp_out_char(out, '[');
    qp_page_text(out, m->methods[method].name);
    qp_out_text(out, ",[");
    for (size_t i = 0; i < n; i++) {
        const qp_block_figures *b = &blocks[i];
        if (b->line <= 0)
            continue;
        QP_PAGE_NUMBERS(out, is_more, (uint64_t)b->line,
                        (b->is_counted ? FLAG_COUNTED : 0u) | (b->is_timed ? FLAG_TIMED : 0u) |
                            (b->is_sampled ? FLAG_SAMPLED : 0u),
                        b->count, b->self, b->total, b->self_half);
        is_more = true;
    }
    qp_out_text(out, "]]");
    qp_free(blocks);
    return true;
}

/* Methods by their file: those of a file in a row. */
typedef struct {
    qp_dict first;  /* hash of the file's name -> method */
    uint32_t *next; /* [n_methods] the next one of the same hash; 0: none */
} by_file;

static uint64_t file_key(const char *file)
{
    return qp_hash_bytes(QP_HASH_START, file, strlen(file));
}

/* @return false: no memory */
static bool find_methods(by_file *f, const qp_model *m)
{
    *f = (by_file){.next = qp_alloc_zeroed(m->n_methods, sizeof *f->next)};
    bool is_good = f->next != NULL;
    for (uint32_t i = m->n_methods; is_good && i-- > 1;) {
        uint64_t key = file_key(m->methods[i].file);
        f->next[i] = qp_dict_get(&f->first, key);
        is_good = qp_dict_put(&f->first, key, i);
    }
    return is_good;
}

static bool write_source_lines(qp_out *out, const qp_model *m, const by_file *f,
                               const char *file)
{
    bool is_more = false, is_good = true;
    qp_out_char(out, '[');
    for (uint32_t i = qp_dict_get(&f->first, file_key(file)); i && is_good; i = f->next[i]) {
        const qp_model_method *x = &m->methods[i];
        if (!x->n_blocks || strcmp(x->file, file) != 0)
            continue;
        qp_out_text(out, is_more ? ",\n" : "");
        is_good = write_blocks(out, m, i);
        is_more = true;
    }
    qp_out_char(out, ']');
    return is_good;
}

/* @return the name relative to the root, if the file lies below it */
static const char *shown(const char *file, const char *root)
{
    size_t n = root ? strlen(root) : 0;
    bool is_below = n && strncmp(file, root, n) == 0 && file[n] == '/';
    return is_below ? file + n + 1 : file;
}

static bool write_sources(qp_out *out, const qp_html *page)
{
    const qp_export_options *how = page->how;
    qp_model_file *files;
    by_file methods;
    size_t n;
    bool is_known = find_methods(&methods, page->m);
    bool is_good = qp_model_files(page->m, &files, &n) && is_known;
    for (size_t i = 0; is_good && i < n; i++) {
        const char *file = files[i].path;
        qp_page_block_of(out, 'l', i);
        is_good = write_source_lines(out, page->m, &methods, file);
        qp_page_block_end(out);
        qp_page_block_of(out, 's', i);
        qp_page_source(
            out, &(qp_page_file){shown(file, how->root), file, qp_model_digest(page->m, file)},
            &how->sources);
        qp_page_block_end(out);
    }
    qp_free(files);
    qp_free(methods.next);
    qp_dict_fini(&methods.first);
    return is_good;
}

/* ---- the page -------------------------------------------------------------------------------- */

static bool write_page(qp_out *out, const qp_html *page, qp_error *error)
{
    qp_page_begin(out, &qp_page_profile, page->paths ? "Profiles compared" : "Profile");
    if (!qp_html_plain(out, page))
        return qp_error_fail(error, "out of memory");
    qp_out_text(out, "<div id=\"app\"></div>\n");
    if (!write_index(out, page))
        return qp_error_fail(error, "out of memory");
    qp_page_script(out, &qp_page_profile);
    if (!write_tree(out, page) || !qp_html_timeline(out, page) || !write_sources(out, page))
        return qp_error_fail(error, "out of memory");
    qp_page_end(out);
    return true;
}

bool qp_export_html(const qp_model *m, qp_out *out, const qp_export_options *o, qp_error *error)
{
    qp_html page = {.m = m, .how = o, .timeline = o->base ? NULL : o->timeline};
    page.merged = o->is_apart ? m : qp_model_joined(m);
    bool is_good = qp_page_is_there(&qp_page_profile, error) &&
                   (page.merged || qp_error_fail(error, "out of memory")) &&
                   qp_html_compare(&page, error) && write_page(out, &page, error);
    qp_html_compare_end(&page);
    qp_model_joined_end(page.merged, m);
    return is_good;
}
