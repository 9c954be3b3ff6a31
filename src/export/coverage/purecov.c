/* purecov.c: PureCoverage's export: nested records, a line each, fields between tabs.
 *
 * to, di, fi and fu hold what is unused and all, adjusted: marked lines count as the marks say.
 * A line shows TEST or INSP in place of its count, a dead one is not shown, a block is always shown
 * with its true count. A folder is listed if files lie in it, with these files only. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "export/shared/coverage.h"

static void write_name(qp_out *out, const char *keyword, const char *name)
{
    qp_out_text(out, keyword);
    qp_out_char(out, '\t');
    qp_text_line(out, name, "");
}

/* The count of those that were not used, then the count of all. */
static void write_unused(qp_out *out, uint64_t n_hit, uint64_t n)
{
    qp_out_format(out, "\t%" PRIu64 "\t%" PRIu64, n - n_hit, n);
}

static void write_totals(qp_out *out, const qp_cover_totals *t)
{
    write_unused(out, t->blocks_hit, t->blocks);
    write_unused(out, t->lines_hit, t->lines);
    write_unused(out, t->functions_hit, t->functions);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A line of a function and its blocks there, from f->blocks[at] on. @return the next block */
static uint32_t write_line(qp_out *out, const qp_cover_file *f, uint32_t at)
{
    const qp_cover_block *first = &f->blocks[at];
    const qp_cover_line *l = &f->lines[qp_cover_line_from(f, first->line)];
    uint32_t end = at;
    uint64_t count = 0;
    for (; end < f->n_blocks && f->blocks[end].line == first->line &&
           f->blocks[end].function == first->function;
         end++)
        count = f->blocks[end].count > count ? f->blocks[end].count : count;
    if (l->annotation == QP_ANNOTATION_TESTED || l->annotation == QP_ANNOTATION_INSPECTED)
        qp_out_format(out, "li\t%" PRIu32 "\t%s\n", l->line,
                      l->annotation == QP_ANNOTATION_TESTED ? "TEST" : "INSP");
    else if (qp_cover_is_live(l))
        qp_out_format(out, "li\t%" PRIu32 "\t%" PRIu64 "\n", l->line, count);
    for (; at < end; at++)
        qp_out_format(out, "bl\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\n", l->line, l->line,
                      f->blocks[at].count);
    return end;
}

static void write_function(qp_out *out, const qp_cover_file *f, uint32_t function)
{
    const qp_cover_function *x = &f->functions[function];
    write_name(out, "fu", x->name);
    write_unused(out, x->totals.blocks_hit, x->totals.blocks);
    write_unused(out, x->totals.lines_hit, x->totals.lines);
    qp_out_format(out, "\t%" PRIu64 "\n", x->calls);
    uint32_t line = x->first_line ? qp_cover_line_from(f, x->first_line) : f->n_lines;
    uint32_t at = line < f->n_lines ? f->lines[line].first_block : f->n_blocks;
    while (at < f->n_blocks && f->blocks[at].line <= x->last_line)
        at = f->blocks[at].function == function ? write_line(out, f, at) : at + 1;
    qp_out_text(out, "efu\n");
}

/* ---- folders and files ----------------------------------------------------------------------- */

static void write_file(qp_out *out, const qp_cover_file *f)
{
    write_name(out, "fi", f->name);
    write_totals(out, &f->totals);
    qp_out_char(out, '\n');
    for (uint32_t i = 0; i < f->n_functions; i++)
        write_function(out, f, i);
    qp_out_text(out, "efi\n");
}

/* @return how many folders have files */
static uint64_t count_dirs(const qp_cover *c, const uint32_t *order)
{
    uint64_t n = 0;
    qp_cover_totals t;
    for (size_t at = 0; at < c->n_files; n++)
        at = qp_cover_dir_end(c, order, at, &t);
    return n;
}

bool qp_cover_purecov(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                      qp_error *error)
{
    uint32_t *order = qp_cover_by_dir(c);
    (void)o;
    if (!order)
        return qp_error_fail(error, "out of memory");
    qp_out_text(out, "# PureCoverage export, by qprof " QPROF_VERSION_TEXT "\nto");
    write_totals(out, &c->totals);
    qp_out_format(out, "\t%zu\t%" PRIu64 "\n", c->n_files, count_dirs(c, order));
    for (size_t at = 0; at < c->n_files;) {
        qp_cover_totals t;
        size_t end = qp_cover_dir_end(c, order, at, &t);
        const char *path = c->dirs[c->files[order[at]].dir].path;
        write_name(out, "di", *path ? path : ".");
        write_totals(out, &t);
        qp_out_format(out, "\t%" PRIu64 "\n", t.files);
        for (; at < end; at++)
            write_file(out, &c->files[order[at]]);
        qp_out_text(out, "edi\n");
    }
    qp_free(order);
    return true;
}
