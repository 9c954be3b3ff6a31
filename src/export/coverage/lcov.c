/* lcov.c: tracefiles of lcov (geninfo's manual, "TRACEFILE FORMAT").
 *
 * By default what lcov 1.16 reads without loss: numeric branches, functions without their ends.
 * lcov 2 gets ends of functions and names of branches. Neither gets FNL and FNA, which 1.16 does
 * not know and 2 does not need. */
#include <inttypes.h>
#include <string.h>

#include "base/text/text.h"
#include "export/shared/coverage.h"

/* Letters and digits only: lcov 1.16 changes the others, with a warning. */
static void write_test(qp_out *out, const char *name)
{
    qp_out_text(out, "TN:");
    for (; *name; name++) {
        bool is_plain = (*name >= '0' && *name <= '9') || (*name >= 'A' && *name <= 'Z') ||
                        (*name >= 'a' && *name <= 'z');
        qp_out_char(out, is_plain ? *name : '_');
    }
    qp_out_char(out, '\n');
}

static void write_path(qp_out *out, const qp_cover_file *f, const char *root)
{
    qp_out_text(out, "SF:");
    if (root && f->path[0] != '/') {
        qp_text_line(out, root, "");
        qp_out_char(out, '/');
    }
    qp_text_line(out, f->path, "");
    qp_out_char(out, '\n');
}

/* A comma would end the name. */
static void write_name(qp_out *out, const char *name)
{
    qp_text_line(out, name, ",");
    qp_out_char(out, '\n');
}

static void write_functions(qp_out *out, const qp_cover_file *f, const char *const *names,
                            bool is_lcov2)
{
    uint32_t n = 0, n_hit = 0;
    for (uint32_t i = 0; i < f->n_functions; i++) {
        uint32_t line = qp_cover_start_line(f, &f->functions[i]);
        if (!line)
            continue;
        qp_out_format(out, "FN:%" PRIu32 ",", line);
        if (is_lcov2)
            qp_out_format(out, "%" PRIu32 ",", f->functions[i].last_line);
        write_name(out, names[i]);
    }
    for (uint32_t i = 0; i < f->n_functions; i++) {
        const qp_cover_function *x = &f->functions[i];
        if (!qp_cover_start_line(f, x))
            continue;
        n++;
        n_hit += x->is_hit;
        qp_out_format(out, "FNDA:%" PRIu64 ",", qp_cover_hits(x->is_hit, x->calls));
        write_name(out, names[i]);
    }
    qp_out_format(out, "FNF:%" PRIu32 "\nFNH:%" PRIu32 "\n", n, n_hit);
}

/* "-": its condition was never evaluated. A name is made of the way, for it must be the only one,
 * and of where it leads, for it is read by people. */
static void write_branch(qp_out *out, const qp_cover_branch *b, bool is_lcov2)
{
    qp_out_format(out, "BRDA:%" PRIu32 ",%" PRIu32 ",", b->line, b->block);
    if (is_lcov2 && b->to_line)
        qp_out_format(out, "way %" PRIu32 " to line %" PRIu32, b->way, b->to_line);
    else
        qp_out_format(out, "%" PRIu32, b->way);
    if (b->is_reached)
        qp_out_format(out, ",%" PRIu64 "\n", b->count);
    else
        qp_out_text(out, ",-\n");
}

static void write_branches(qp_out *out, const qp_cover_file *f, bool is_lcov2)
{
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        if (!qp_cover_is_live(l))
            continue;
        for (uint32_t k = 0; k < l->n_branches; k++)
            write_branch(out, &f->branches[l->first_branch + k], is_lcov2);
    }
    if (f->totals.branches)
        qp_out_format(out, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", f->totals.branches,
                      f->totals.branches_hit);
}

static void write_lines(qp_out *out, const qp_cover_file *f)
{
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        if (qp_cover_is_live(l))
            qp_out_format(out, "DA:%" PRIu32 ",%" PRIu64 "\n", l->line,
                          qp_cover_hits(l->is_hit, l->count));
    }
    qp_out_format(out, "LF:%" PRIu64 "\nLH:%" PRIu64 "\n", f->totals.lines,
                  f->totals.lines_hit);
}

/* Code that was never in a file, as Lua or qlua names it, `[string "return 1"]` or
 * `[string from a.lua:1]`: genhtml stops where a file does not exist. */
static bool is_in_memory(const qp_cover_file *f)
{
    size_t n = strlen(f->path);
    return strncmp(f->path, "[string ", 8) == 0 && f->path[n - 1] == ']';
}

bool qp_cover_lcov(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                   qp_error *error)
{
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        if (is_in_memory(f))
            continue;
        const char **names = qp_cover_names(f);
        if (!names)
            return qp_error_fail(error, "out of memory");
        write_test(out, qp_cover_test_name(c, o));
        write_path(out, f, o->root);
        write_functions(out, f, names, o->is_lcov2);
        write_branches(out, f, o->is_lcov2);
        write_lines(out, f);
        qp_out_text(out, "end_of_record\n");
        qp_cover_names_free(f, names);
    }
    return true;
}
