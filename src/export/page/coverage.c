/* coverage.c: one self-contained page: folders, files, annotated sources, branches, contexts.
 *
 * The page's program (web/src/cover) shows the JSON blocks after it; web/src/cover/data.ts reads every
 * block. Each file has two, "d" for figures and "s" for its source, so that the browser parses only
 * those that are looked at. */
#include <inttypes.h>
#include <string.h>

#include "base/text/unit.h"
#include "export/page/page.h"
#include "export/shared/coverage.h"

/* In the order of totalNames in data.ts. */
static void write_totals(qp_out *out, const qp_cover_totals *t)
{
    qp_out_char(out, '[');
    QP_PAGE_NUMBERS(out, false, t->functions, t->functions_hit, t->lines, t->lines_hit,
                    t->lines_partial, t->branches, t->branches_hit, t->blocks, t->blocks_hit,
                    t->calls);
    qp_page_close(out);
}

/* ---- what the first picture needs ------------------------------------------------------------ */

static void write_runs(qp_out *out, const qp_cover *c)
{
    qp_page_table(out, "runs");
    for (size_t i = 0; i < c->n_runs; i++) {
        const qp_cover_run *r = &c->runs[i];
        qp_out_text(out, i ? ",{\"what\":" : "{\"what\":");
        qp_page_text(out, r->what);
        qp_out_text(out, ",\"program\":");
        qp_page_text(out, r->program);
        qp_out_text(out, ",\"label\":");
        qp_page_text(out, r->label);
        qp_out_text(out, ",\"script\":");
        qp_page_text(out, r->script);
        qp_out_text(out, ",\"labels\":");
        qp_page_text(out, r->labels);
        qp_out_format(out, ",\"started\":%" PRIu64 ",\"pid\":%" PRIu64 "}",
                      r->started_at / 1000000, r->pid);
    }
    qp_out_char(out, ']');
}

/* A row of "dirs" or "files". @param dir  of a folder: the one above it */
static void write_place(qp_out *out, bool is_more, const char *path, uint32_t dir,
                        const qp_cover_totals *t)
{
    qp_page_row(out, is_more);
    qp_page_text(out, path);
    qp_page_number(out, true, dir);
    qp_out_char(out, ',');
    write_totals(out, t);
    qp_page_close(out);
}

static void write_index(qp_out *out, const qp_cover *c)
{
    qp_page_block(out, "index");
    qp_out_format(
        out, "{\"version\":\"%s\",\"once\":%s,\"coverage\":%s,\"totals\":", QPROF_VERSION_TEXT,
        c->is_once ? "true" : "false", c->is_coverage ? "true" : "false");
    write_totals(out, &c->totals);
    qp_page_list(out, "contexts", c->contexts, c->n_contexts);
    qp_page_list(out, "warnings", c->warnings, c->n_warnings);
    write_runs(out, c);
    qp_page_table(out, "dirs");
    for (size_t i = 0; i < c->n_dirs; i++)
        write_place(out, i > 0, c->dirs[i].path, c->dirs[i].parent, &c->dirs[i].totals);
    qp_page_close(out);
    qp_page_table(out, "files");
    for (size_t i = 0; i < c->n_files; i++)
        write_place(out, i > 0, c->files[i].path, c->files[i].dir, &c->files[i].totals);
    qp_page_close(out);
    qp_out_char(out, '}');
    qp_page_block_end(out);
}

static void write_functions(qp_out *out, const qp_cover *c)
{
    bool is_more = false;
    qp_page_block(out, "functions");
    qp_out_char(out, '[');
    for (size_t i = 0; i < c->n_files; i++) {
        for (uint32_t k = 0; k < c->files[i].n_functions; k++) {
            const qp_cover_function *x = &c->files[i].functions[k];
            const qp_cover_totals *t = &x->totals;
            qp_page_row(out, is_more);
            is_more = true;
            QP_PAGE_TEXTS(out, false, x->name, x->module);
            QP_PAGE_NUMBERS(out, true, i, x->first_line, x->last_line, x->calls, x->is_hit,
                            x->is_dead, t->lines, t->lines_hit, t->branches, t->branches_hit);
            qp_page_close(out);
        }
    }
    qp_out_char(out, ']');
    qp_page_block_end(out);
}

/* ---- one file -------------------------------------------------------------------------------- */

enum { FLAG_HIT = 1, FLAG_PARTIAL = 2, FLAG_MARK = 4 /* times the mark */ };

static void write_lines(qp_out *out, const qp_cover_file *f)
{
    qp_out_text(out, "{\"lines\":[");
    for (uint32_t i = 0; i < f->n_lines; i++)
        qp_page_number(out, i > 0, f->lines[i].line);
    qp_out_text(out, "],\"counts\":[");
    for (uint32_t i = 0; i < f->n_lines; i++)
        qp_page_number(out, i > 0, f->lines[i].count);
    qp_out_text(out, "],\"flags\":[");
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        qp_page_number(out, i > 0,
                       (l->is_hit ? FLAG_HIT : 0u) | (l->is_partial ? FLAG_PARTIAL : 0u) |
                           FLAG_MARK * (unsigned)l->annotation);
    }
    qp_out_char(out, ']');
}

/* Lines of one block are left out: its count is the line's. */
static void write_blocks(qp_out *out, const qp_cover_file *f)
{
    bool is_more = false;
    qp_page_table(out, "blocks");
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        if (l->n_blocks < 2)
            continue;
        QP_PAGE_NUMBERS(out, is_more, i, l->n_blocks);
        for (uint32_t k = 0; k < l->n_blocks; k++)
            qp_page_number(out, true, f->blocks[l->first_block + k].count);
        is_more = true;
    }
    qp_out_char(out, ']');
}

static void write_branches(qp_out *out, const qp_cover_file *f)
{
    bool is_more = false;
    qp_page_table(out, "branches");
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        for (uint32_t k = 0; k < l->n_branches; k++) {
            const qp_cover_branch *b = &f->branches[l->first_branch + k];
            QP_PAGE_NUMBERS(out, is_more, i, b->block, b->way, b->to_line, b->count,
                            b->is_reached);
            is_more = true;
        }
    }
    qp_out_char(out, ']');
}

static void write_touches(qp_out *out, const qp_cover_file *f)
{
    qp_page_table(out, "touches");
    for (size_t i = 0; i < f->n_touches; i++) {
        QP_PAGE_NUMBERS(out, i > 0, f->touches[i].line, f->touches[i].context,
                        f->touches[i].count);
    }
    qp_out_text(out, "]}");
}

static void write_file(qp_out *out, const qp_cover *c, size_t i, const qp_page_sources *sources)
{
    qp_page_block_of(out, 'd', i);
    write_lines(out, &c->files[i]);
    write_blocks(out, &c->files[i]);
    write_branches(out, &c->files[i]);
    write_touches(out, &c->files[i]);
    qp_page_block_end(out);
    qp_page_block_of(out, 's', i);
    qp_page_source(out, &(qp_page_file){c->files[i].path, c->files[i].file, c->files[i].digest},
                   sources);
    qp_page_block_end(out);
}

/* ---- without JavaScript ---------------------------------------------------------------------- */

static void write_share(qp_out *out, uint64_t n_hit, uint64_t n)
{
    char percent[QP_NUMBER_BYTES], hit[QP_NUMBER_BYTES], all[QP_NUMBER_BYTES];
    qp_out_text(out, "<td>");
    if (n)
        qp_out_format(out, "%s %% (%s of %s)", qp_unit_share(percent, n_hit, n, 1),
                      qp_unit_count(hit, n_hit), qp_unit_count(all, n));
    qp_out_text(out, "</td>");
}

static bool write_plain_row(qp_out *out, const char *name, const qp_cover_totals *t)
{
    qp_out_text(out, "<tr><td>");
    bool is_good = qp_page_name(out, name);
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

bool qp_cover_html(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                   qp_error *error)
{
    const qp_page *page = &qp_page_cover;
    if (!qp_page_is_there(page, error))
        return false;
    qp_page_begin(out, page, "Coverage");
    if (!write_plain_table(out, c))
        return qp_error_fail(error, "out of memory");
    qp_out_text(out, "<div id=\"app\"></div>\n");
    write_index(out, c);
    write_functions(out, c);
    qp_page_script(out, page);
    for (size_t i = 0; i < c->n_files; i++)
        write_file(out, c, i, &o->sources);
    qp_page_end(out);
    return true;
}
