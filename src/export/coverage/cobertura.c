/* cobertura.c: Cobertura's XML, as coverage-04.dtd wants it.
 *
 * The source folder is "." and files are relative to it: what CI services can map to a
 * repository. A class is a file, a package is a folder. A method has one line, the one it begins
 * on, with its calls: readers that list methods take them from there. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "export/shared/coverage.h"

/* name="value" */
static void write_attribute(qp_out *out, const char *name, const char *value)
{
    qp_out_format(out, " %s=\"", name);
    qp_text_xml(out, value);
    qp_out_char(out, '"');
}

/* A part of 1, rounded down so that only all are 1; of nothing 1. */
static void write_rate(qp_out *out, const char *name, uint64_t n_hit, uint64_t n)
{
    if (n_hit == n)
        qp_out_format(out, " %s=\"1\"", name);
    else
        qp_out_format(out, " %s=\"0.%04" PRIu64 "\"", name, n_hit * 10000 / n);
}

static void write_rates(qp_out *out, const qp_cover_totals *t)
{
    write_rate(out, "line-rate", t->lines_hit, t->lines);
    write_rate(out, "branch-rate", t->branches_hit, t->branches);
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* The ways of each jump on the line. */
static void write_conditions(qp_out *out, const qp_cover_branch *b, uint32_t n)
{
    qp_out_text(out, "<conditions>");
    for (uint32_t i = 0; i < n;) {
        uint32_t block = b[i].block, n_ways = 0, n_hit = 0;
        for (; i < n && b[i].block == block; i++, n_ways++)
            n_hit += b[i].count > 0;
        qp_out_format(
            out, "<condition number=\"%" PRIu32 "\" type=\"jump\" coverage=\"%" PRIu32 "%%\"/>",
            block, n_hit * 100 / n_ways);
    }
    qp_out_text(out, "</conditions>");
}

static void write_line(qp_out *out, const qp_cover_file *f, const qp_cover_line *l)
{
    qp_out_format(out, "<line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"", l->line,
                  qp_cover_hits(l->is_hit, l->count));
    if (l->n_branches == 0) {
        qp_out_text(out, "/>\n");
        return;
    }
    qp_out_format(
        out, " branch=\"true\" condition-coverage=\"%" PRIu32 "%% (%" PRIu32 "/%" PRIu32 ")\">",
        l->n_branches_hit * 100 / l->n_branches, l->n_branches_hit, l->n_branches);
    write_conditions(out, f->branches + l->first_branch, l->n_branches);
    qp_out_text(out, "</line>\n");
}

static void write_methods(qp_out *out, const qp_cover_file *f, const char *const *names)
{
    qp_out_text(out, "<methods>\n");
    for (uint32_t i = 0; i < f->n_functions; i++) {
        const qp_cover_function *x = &f->functions[i];
        uint32_t line = qp_cover_start_line(f, x);
        if (!line)
            continue;
        qp_out_text(out, "<method");
        write_attribute(out, "name", names[i]);
        qp_out_text(out, " signature=\"\"");
        write_rates(out, &x->totals);
        qp_out_format(out,
                      " complexity=\"0\"><lines><line number=\"%" PRIu32 "\" hits=\"%" PRIu64
                      "\"/></lines></method>\n",
                      line, qp_cover_hits(x->is_hit, x->calls));
    }
    qp_out_text(out, "</methods>\n");
}

static bool write_class(qp_out *out, const qp_cover_file *f)
{
    const char **names = qp_cover_names(f);
    if (!names)
        return false;
    qp_out_text(out, "<class");
    write_attribute(out, "name", f->name);
    write_attribute(out, "filename", f->path);
    write_rates(out, &f->totals);
    qp_out_text(out, " complexity=\"0\">\n");
    write_methods(out, f, names);
    qp_out_text(out, "<lines>\n");
    for (uint32_t i = 0; i < f->n_lines; i++)
        if (qp_cover_is_live(&f->lines[i]))
            write_line(out, f, &f->lines[i]);
    qp_out_text(out, "</lines>\n</class>\n");
    qp_cover_names_free(f, names);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void begin_coverage(qp_out *out, const qp_cover *c)
{
    const qp_cover_totals *t = &c->totals;
    qp_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<!DOCTYPE coverage SYSTEM "
                     "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
                     "<coverage");
    write_rates(out, t);
    qp_out_format(out,
                  " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64
                  "\" branches-covered=\"%" PRIu64 "\" branches-valid=\"%" PRIu64
                  "\" complexity=\"0\" version=\"qprof " QPROF_VERSION_TEXT
                  "\" timestamp=\"%" PRIu64 "\">\n",
                  t->lines_hit, t->lines, t->branches_hit, t->branches, qp_cover_timestamp(c));
    qp_out_text(out, "<sources><source>.</source></sources>\n<packages>\n");
}

/* A package is called as its folder, with dots; "." is the root. @return false: no memory */
static bool begin_package(qp_out *out, const char *path, const qp_cover_totals *t)
{
    char *name = qp_alloc_text(*path ? path + (*path == '/') : ".");
    for (char *slash = name; slash && (slash = strchr(slash, '/'));)
        *slash = '.';
    if (!name)
        return false;
    qp_out_text(out, "<package");
    write_attribute(out, "name", name);
    write_rates(out, t);
    qp_out_text(out, " complexity=\"0\">\n<classes>\n");
    qp_free(name);
    return true;
}

bool qp_cover_cobertura(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                        qp_error *error)
{
    uint32_t *order = qp_cover_by_dir(c);
    bool is_written = order != NULL;
    (void)o;
    begin_coverage(out, c);
    for (size_t at = 0; is_written && at < c->n_files;) {
        qp_cover_totals t;
        size_t end = qp_cover_dir_end(c, order, at, &t);
        is_written = begin_package(out, c->dirs[c->files[order[at]].dir].path, &t);
        for (; is_written && at < end; at++)
            is_written = write_class(out, &c->files[order[at]]);
        qp_out_text(out, "</classes>\n</package>\n");
    }
    qp_out_text(out, "</packages>\n</coverage>\n");
    qp_free(order);
    return is_written || qp_error_fail(error, "out of memory");
}
