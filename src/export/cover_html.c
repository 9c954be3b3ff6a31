/* cover_html.c: one self-contained page: folders, files, annotated sources, branches, contexts.
 *
 * The page's program (web/src/cover) shows what stands in JSON blocks behind it; web/src/cover/data.ts
 * is the other side of every block. Each file has two, "d" for figures and "s" for its source, so
 * that the browser parses what is looked at and no more. Nothing but numbers and texts escaped by
 * qp_text_script() and qp_text_xml() goes into the page. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"
#include "base/unit.h"
#include "export/cover.h"
#include "export/page.h"

/* ---- JSON in a script element ---------------------------------------------------------------- */

static void begin_block(qp_out *out, const char *kind, size_t number)
{
    qp_out_format(out, "<script type=\"application/json\" id=\"%s%zu\">", kind, number);
}

static void begin_named_block(qp_out *out, const char *id)
{
    qp_out_format(out, "<script type=\"application/json\" id=\"%s\">", id);
}

static void end_block(qp_out *out)
{
    qp_out_text(out, "</script>\n");
}

static void write_text(qp_out *out, const char *text)
{
    qp_text_script(out, text, strlen(text));
}

/* A comma before every item but the first. */
static void separate(qp_out *out, size_t index)
{
    if (index)
        qp_out_char(out, ',');
}

/* @param is_more  something stands before it in its list */
static void write_number(qp_out *out, bool is_more, uint64_t n)
{
    qp_out_format(out, is_more ? ",%" PRIu64 : "%" PRIu64, n);
}

static void write_texts(qp_out *out, const char *key, const char *const *texts, size_t n)
{
    qp_out_format(out, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        separate(out, i);
        write_text(out, texts[i]);
    }
    qp_out_char(out, ']');
}

/* In the order of totalNames in data.ts. */
static void write_totals(qp_out *out, const qp_cover_totals *t)
{
    const uint64_t figures[] = {
        t->functions, t->functions_hit, t->lines,  t->lines_hit,  t->lines_partial,
        t->branches,  t->branches_hit,  t->blocks, t->blocks_hit, t->calls};
    qp_out_char(out, '[');
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        write_number(out, i > 0, figures[i]);
    qp_out_char(out, ']');
}

/* ---- what the first picture needs ------------------------------------------------------------ */

static void write_runs(qp_out *out, const qp_cover *c)
{
    qp_out_text(out, ",\"runs\":[");
    for (size_t i = 0; i < c->n_runs; i++) {
        const qp_cover_run *r = &c->runs[i];
        qp_out_text(out, i ? ",{\"what\":" : "{\"what\":");
        write_text(out, r->what);
        qp_out_text(out, ",\"program\":");
        write_text(out, r->program);
        qp_out_text(out, ",\"label\":");
        write_text(out, r->label);
        qp_out_format(out, ",\"started\":%" PRIu64 ",\"pid\":%" PRIu64 "}",
                      r->started_at / 1000000, r->pid);
    }
    qp_out_char(out, ']');
}

static void write_dirs(qp_out *out, const qp_cover *c)
{
    qp_out_text(out, ",\"dirs\":[");
    for (size_t i = 0; i < c->n_dirs; i++) {
        qp_out_text(out, i ? ",\n[" : "[");
        write_text(out, c->dirs[i].path);
        qp_out_format(out, ",%" PRIu32 ",", c->dirs[i].parent);
        write_totals(out, &c->dirs[i].totals);
        qp_out_char(out, ']');
    }
    qp_out_char(out, ']');
}

static void write_files(qp_out *out, const qp_cover *c)
{
    qp_out_text(out, ",\"files\":[");
    for (size_t i = 0; i < c->n_files; i++) {
        qp_out_text(out, i ? ",\n[" : "[");
        write_text(out, c->files[i].path);
        qp_out_format(out, ",%" PRIu32 ",", c->files[i].dir);
        write_totals(out, &c->files[i].totals);
        qp_out_char(out, ']');
    }
    qp_out_char(out, ']');
}

static void write_index(qp_out *out, const qp_cover *c)
{
    begin_named_block(out, "index");
    qp_out_format(
        out, "{\"version\":\"%s\",\"once\":%s,\"coverage\":%s,\"totals\":", QPROF_VERSION_TEXT,
        c->is_once ? "true" : "false", c->is_coverage ? "true" : "false");
    write_totals(out, &c->totals);
    write_texts(out, "contexts", c->contexts, c->n_contexts);
    write_texts(out, "warnings", c->warnings, c->n_warnings);
    write_runs(out, c);
    write_dirs(out, c);
    write_files(out, c);
    qp_out_char(out, '}');
    end_block(out);
}

static void write_functions(qp_out *out, const qp_cover *c)
{
    bool is_more = false;
    begin_named_block(out, "functions");
    qp_out_char(out, '[');
    for (size_t i = 0; i < c->n_files; i++) {
        for (uint32_t k = 0; k < c->files[i].n_functions; k++) {
            const qp_cover_function *x = &c->files[i].functions[k];
            const qp_cover_totals *t = &x->totals;
            qp_out_text(out, is_more ? ",\n[" : "[");
            is_more = true;
            write_text(out, x->name);
            qp_out_char(out, ',');
            write_text(out, x->module);
            const uint64_t figures[] = {i,           x->first_line,  x->last_line, x->calls,
                                        x->is_hit,   x->is_dead,     t->lines,     t->lines_hit,
                                        t->branches, t->branches_hit};
            for (size_t j = 0; j < sizeof figures / sizeof *figures; j++)
                write_number(out, true, figures[j]);
            qp_out_char(out, ']');
        }
    }
    qp_out_char(out, ']');
    end_block(out);
}

/* ---- one file -------------------------------------------------------------------------------- */

enum { FLAG_HIT = 1, FLAG_PARTIAL = 2, FLAG_MARK = 4 /* times the mark */ };

static void write_lines(qp_out *out, const qp_cover_file *f)
{
    qp_out_text(out, "{\"lines\":[");
    for (uint32_t i = 0; i < f->n_lines; i++)
        write_number(out, i > 0, f->lines[i].line);
    qp_out_text(out, "],\"counts\":[");
    for (uint32_t i = 0; i < f->n_lines; i++)
        write_number(out, i > 0, f->lines[i].count);
    qp_out_text(out, "],\"flags\":[");
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        write_number(out, i > 0,
                     (l->is_hit ? FLAG_HIT : 0u) | (l->is_partial ? FLAG_PARTIAL : 0u) |
                         FLAG_MARK * (unsigned)l->mark);
    }
    qp_out_char(out, ']');
}

/* Lines of one block are left out: its count is the line's. */
static void write_blocks(qp_out *out, const qp_cover_file *f)
{
    bool is_more = false;
    qp_out_text(out, ",\"blocks\":[");
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        if (l->n_blocks < 2)
            continue;
        write_number(out, is_more, i);
        write_number(out, true, l->n_blocks);
        for (uint32_t k = 0; k < l->n_blocks; k++)
            write_number(out, true, f->blocks[l->first_block + k].count);
        is_more = true;
    }
    qp_out_char(out, ']');
}

static void write_branches(qp_out *out, const qp_cover_file *f)
{
    bool is_more = false;
    qp_out_text(out, ",\"branches\":[");
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        for (uint32_t k = 0; k < l->n_branches; k++) {
            const qp_cover_branch *b = &f->branches[l->first_branch + k];
            const uint64_t figures[] = {i,          b->block, b->way,
                                        b->to_line, b->count, b->is_reached};
            for (size_t j = 0; j < sizeof figures / sizeof *figures; j++)
                write_number(out, is_more || j, figures[j]);
            is_more = true;
        }
    }
    qp_out_char(out, ']');
}

static void write_touches(qp_out *out, const qp_cover_file *f)
{
    qp_out_text(out, ",\"touches\":[");
    for (size_t i = 0; i < f->n_touches; i++) {
        write_number(out, i > 0, f->touches[i].line);
        write_number(out, true, f->touches[i].context);
        write_number(out, true, f->touches[i].count);
    }
    qp_out_text(out, "]}");
}

static bool has_parent_step(const char *path)
{
    for (; path; path = strchr(path, '/')) {
        path += *path == '/';
        if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || !path[2]))
            return true;
    }
    return false;
}

/* A page is sent to others, and a profile may come from anybody: a file that the profile's maker
 * may not have seen is shown only where the user said that sources are. */
static bool is_ours_to_show(const qp_cover_file *f, const qp_source *s)
{
    if (f->digest && f->digest == s->digest)
        return true;
    bool is_below = f->path[0] != '/' || strcmp(s->path, f->file) != 0;
    return is_below && !has_parent_step(f->path) && !has_parent_step(f->file);
}

static void write_source(qp_out *out, const qp_cover_file *f, const char *source_path)
{
    qp_source s;
    char why[QP_ERROR_BYTES];
    bool is_there = qp_source_read(f->file, source_path, &s, why);
    if (is_there && !is_ours_to_show(f, &s)) {
        qp_text_format(why, sizeof why,
                       "%.300s: it is outside the root, and not the text that was recorded",
                       f->file);
        qp_source_fini(&s);
        is_there = false;
    }
    qp_out_text(out, "{\"missing\":");
    write_text(out, is_there ? "" : why);
    qp_out_format(out, ",\"changed\":%s,\"lines\":[",
                  is_there && f->digest && f->digest != s.digest ? "true" : "false");
    for (uint32_t i = 0; is_there && i < s.n_lines; i++) {
        separate(out, i);
        qp_text_script(out, s.lines[i], s.line_bytes[i]);
    }
    qp_out_text(out, "]}");
    if (is_there)
        qp_source_fini(&s);
}

static void write_file(qp_out *out, const qp_cover *c, size_t i, const char *source_path)
{
    begin_block(out, "d", i);
    write_lines(out, &c->files[i]);
    write_blocks(out, &c->files[i]);
    write_branches(out, &c->files[i]);
    write_touches(out, &c->files[i]);
    end_block(out);
    begin_block(out, "s", i);
    write_source(out, &c->files[i], source_path);
    end_block(out);
}

/* ---- without JavaScript ---------------------------------------------------------------------- */

/* A name as on a terminal: controls and turned writing directions spelled out. */
static bool write_name(qp_out *out, const char *name)
{
    size_t room = strlen(name) * 4 + 1; /* "\xNN" for a byte is the longest */
    char *safe = qp_alloc(room, 1);
    if (!safe)
        return false;
    qp_text_terminal(safe, room, name, NULL);
    qp_text_xml(out, safe);
    qp_free(safe);
    return true;
}

static void write_share(qp_out *out, uint64_t n_hit, uint64_t n)
{
    char percent[QP_NUMBER_BYTES], hit[QP_NUMBER_BYTES], all[QP_NUMBER_BYTES];
    qp_out_text(out, "<td>");
    if (n)
        qp_out_format(out, "%s %% (%s of %s)", qp_unit_percent(percent, n_hit, n),
                      qp_unit_count(hit, n_hit), qp_unit_count(all, n));
    qp_out_text(out, "</td>");
}

static bool write_plain_row(qp_out *out, const char *name, const qp_cover_totals *t)
{
    qp_out_text(out, "<tr><td>");
    bool is_good = write_name(out, name);
    qp_out_text(out, "</td>");
    write_share(out, t->lines_hit, t->lines);
    write_share(out, t->functions_hit, t->functions);
    write_share(out, t->branches_hit, t->branches);
    qp_out_text(out, "</tr>\n");
    return is_good;
}

static bool write_plain_table(qp_out *out, const qp_cover *c)
{
    qp_out_text(
        out,
        "<noscript>\n<h1>Coverage</h1>\n"
        "<p>With JavaScript this page shows folders, sources, branches and contexts.</p>\n"
        "<table>\n<tr><th>File</th><th>Lines</th><th>Functions</th><th>Branches</th></tr>\n");
    bool is_good = write_plain_row(out, "All", &c->totals);
    for (size_t i = 0; i < c->n_files && is_good; i++)
        is_good = write_plain_row(out, c->files[i].path, &c->files[i].totals);
    qp_out_text(out, "</table>\n</noscript>\n");
    return is_good;
}

/* ---- the page -------------------------------------------------------------------------------- */

static bool write(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    const qp_page *page = &qp_page_cover;
    if (!page->script.text) {
        qp_text_format(error, QP_ERROR_BYTES,
                       "this build of qprof has no HTML pages: install nodejs and npm, then "
                       "configure and build it again");
        return false;
    }
    qp_out_bytes(out, page->head.text, page->head.n_bytes);
    qp_out_text(out, "<title>Coverage</title>");
    qp_out_bytes(out, page->style.text, page->style.n_bytes);
    qp_out_text(out, "</head>\n<body>\n");
    if (!write_plain_table(out, c))
        return qp_cover_export_fails(error);
    qp_out_text(out, "<div id=\"app\"></div>\n");
    write_index(out, c);
    write_functions(out, c);
    qp_out_bytes(out, page->script.text, page->script.n_bytes);
    qp_out_char(out, '\n');
    for (size_t i = 0; i < c->n_files; i++)
        write_file(out, c, i, o->source_path);
    qp_out_text(out, "</body>\n</html>\n");
    return true;
}

const qp_cover_exporter qp_cover_html = {
    .name = "html",
    .suffix = ".html",
    .summary = "one page for any browser: folders, sources, branches, contexts, search",
    .limits = "exact counts above 2^53",
    .needs_lines = false,
    .write = write};
