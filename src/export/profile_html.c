/* profile_html.c: one self-contained page: flame graph, functions, call tree, callers and callees.
 *
 * The page's program is web/src/profile; its data.ts is the other side of what is written here.
 * The call tree is too large for JSON: a million call paths are columns of varints, compressed. */
#include <inttypes.h>
#include <string.h>

#include "base/unit.h"
#include "export/gzip.h"
#include "export/page.h"
#include "export/profile.h"

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

static void write_run(qp_out *out, const qp_model *m)
{
    const qp_run *r = &m->run;
    qp_out_text(out, "\"run\":{");
    write_text_of(out, "program", r->program);
    write_text_of(out, "label", r->label);
    write_text_of(out, "state", r->state_text);
    write_text_of(out, "unit", r->unit);
    write_text_of(out, "mode", r->time_mode_text);
    write_text_of(out, "clock", r->clock_text);
    qp_out_format(out,
                  "\"ticks50\":%" PRIu64 ",\"started\":%" PRIu64 ",\"pid\":%" PRIu64
                  ",\"wall\":%" PRIu64 ",\"total\":%" PRIu64 ",\"calls\":%" PRIu64
                  ",\"cost\":%" PRIu64 ",\"hasTimes\":%s}",
                  qp_model_ns(m, TICKS), r->started_at / 1000000, r->pid,
                  qp_model_ns(m, r->wall), r->has_times ? qp_model_ns(m, r->total) : r->calls,
                  r->calls, qp_model_ns(m, r->cost_total), r->has_times ? "true" : "false");
}

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
                                    has_min_max ? qp_model_ns(m, f->max) : 0};
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

static void write_diagnostics(qp_out *out, const qp_model *m)
{
    bool is_more = false;
    qp_out_text(out, ",\"diagnostics\":[");
    for (size_t i = 0; i < m->run.n_diagnostics; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        if (d->kind == 'N')
            continue;
        qp_out_text(out, is_more ? ",[" : "[");
        qp_page_text(out, d->name);
        qp_out_char(out, ',');
        qp_page_text(out, d->text);
        qp_page_number(out, true, d->count);
        qp_out_char(out, ']');
        is_more = true;
    }
    qp_out_char(out, ']');
}

static void write_index(qp_out *out, const qp_model *m)
{
    qp_page_block(out, "index");
    qp_out_char(out, '{');
    write_run(out, m);
    write_threads(out, m);
    write_methods(out, m);
    write_diagnostics(out, m);
    qp_page_texts(out, "losses", m->losses, m->n_losses);
    qp_out_format(out, ",\"nodes\":%" PRIu32 "}", m->n_nodes);
    qp_page_block_end(out);
}

/* ---- the call tree --------------------------------------------------------------------------- */

/* Seven bits a byte, the lowest first; all but the last byte have the eighth set. */
static size_t put_varint(unsigned char *to, uint64_t n)
{
    size_t i = 0;
    for (; n >= 0x80; n >>= 7)
        to[i++] = (unsigned char)(n | 0x80);
    to[i++] = (unsigned char)n;
    return i;
}

static bool write_nodes(qp_out *out, const qp_model *m)
{
    qp_out_text(out, "<script type=\"application/gzip;base64\" id=\"nodes\">");
    qp_gzip *z = qp_gzip_new_base64(out);
    if (!z)
        return false;
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        unsigned char bytes[40];
        size_t n_bytes = put_varint(bytes, i - n->parent);
        n_bytes += put_varint(bytes + n_bytes, n->method);
        n_bytes += put_varint(bytes + n_bytes, n->f.calls);
        n_bytes += put_varint(bytes + n_bytes, n->f.self);
        qp_gzip_bytes(z, bytes, n_bytes);
    }
    qp_gzip_end(z);
    qp_page_block_end(out);
    return true;
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

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    (void)o;
    const qp_page *page = &qp_page_profile;
    if (!qp_page_is_there(page, error, QP_ERROR_BYTES))
        return false;
    qp_page_begin(out, page, "Profile");
    if (!write_plain_table(out, m))
        return qp_export_fails(error);
    qp_out_text(out, "<div id=\"app\"></div>\n");
    write_index(out, m);
    qp_page_script(out, page);
    if (!write_nodes(out, m))
        return qp_export_fails(error);
    qp_page_end(out);
    return true;
}

const qp_exporter qp_export_html = {
    .name = "html",
    .suffix = ".html",
    .summary = "one page for any browser: flame graph, functions, tree",
    .limits = "lines, blocks, samples, intervals",
    .write = write};
