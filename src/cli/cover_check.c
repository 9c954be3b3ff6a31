/* cover_check.c: `qprof cover check`: is as much covered as a file of thresholds wants? */
#include <stdio.h>

#include "base/glob.h"
#include "base/json.h"
#include "base/table_text.h"
#include "base/unit.h"
#include "cli/cover.h"
#include "cli/cover_notes.h"
#include "cli/cover_thresholds.h"

/* ---- one threshold --------------------------------------------------------------------------- */

/* A threshold and the files that it is about. */
typedef struct {
    size_t n, n_failed;    /* files; of a threshold for all together: 1 */
    uint64_t n_hit, n_all; /* of the worst one */
} verdict;

/* What no file fits is a slip of the pen, or code that nothing loads any more: it is not covered. */
static bool has_failed(const verdict *v)
{
    return v->n == 0 || v->n_failed > 0;
}

/* Is the file one of the threshold's? One that has nothing to hit is not. */
static bool is_about(const qp_threshold *t, const qp_cover_file *f)
{
    uint64_t n_hit, n;
    qp_figure_of(&f->totals, t->figure, &n_hit, &n);
    return t->glob && n && qp_glob_fits_path(t->glob, f->path);
}

static verdict judge(const qp_threshold *t, const qp_cover *c)
{
    char why[QP_ERROR_BYTES];
    verdict v = {0};
    if (!t->glob) {
        v = (verdict){.n = 1,
                      .n_failed = !qp_figure_reaches(&c->totals, t->figure, t->percent, why)};
        qp_figure_of(&c->totals, t->figure, &v.n_hit, &v.n_all);
        return v;
    }
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        uint64_t n_hit, n;
        if (!is_about(t, f))
            continue;
        qp_figure_of(&f->totals, t->figure, &n_hit, &n);
        if (!v.n || qp_cover_percent(n_hit, n) < qp_cover_percent(v.n_hit, v.n_all)) {
            v.n_hit = n_hit;
            v.n_all = n;
        }
        v.n++;
        v.n_failed += !qp_figure_reaches(&f->totals, t->figure, t->percent, why);
    }
    return v;
}

/* A message for everything that is below the threshold. */
static void complain(const qp_cli *cli, const qp_threshold *t, const qp_cover *c)
{
    char why[QP_ERROR_BYTES];
    if (!t->glob && !qp_figure_reaches(&c->totals, t->figure, t->percent, why))
        qp_cli_warn(cli, "%s", why);
    for (size_t i = 0; t->glob && i < c->n_files; i++)
        if (is_about(t, &c->files[i]) &&
            !qp_figure_reaches(&c->files[i].totals, t->figure, t->percent, why))
            qp_cli_warn(cli, "%s: %s", c->files[i].path, why);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool print_text(const qp_cli *cli, const qp_thresholds *all, const qp_cover *c)
{
    char text[QP_NUMBER_BYTES];
    qp_table t;
    qp_table_init(&t);
    qp_table_column(&t, "Figure", QP_ALIGN_LEFT, 0);
    qp_table_column(&t, "Of", QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "Files", QP_ALIGN_RIGHT, 1);
    qp_table_column(&t, "Least %", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Limit", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Result", QP_ALIGN_LEFT, 0);
    for (size_t i = 0; i < all->n; i++) {
        const qp_threshold *x = &all->items[i];
        verdict v = judge(x, c);
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_figure_names[x->figure]);
        qp_table_name(&t, QP_STYLE_PLAIN, x->glob ? x->glob : "all files together");
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, x->glob ? v.n : c->n_files));
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_share(text, v.n_hit, v.n_all, 1));
        snprintf(text, sizeof text, "%g", x->percent);
        qp_table_plain(&t, QP_STYLE_PLAIN, text);
        qp_table_plain(&t, has_failed(&v) ? QP_STYLE_BAD : QP_STYLE_GOOD,
                       v.n == 0         ? "no such file"
                       : has_failed(&v) ? "FAILED"
                                        : "ok");
    }
    bool is_good = qp_table_print(&t, &cli->screen, 0);
    qp_table_fini(&t);
    return is_good;
}

static void write_json(qp_out *out, const qp_thresholds *all, const qp_cover *c,
                       size_t n_failed)
{
    qp_json json;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_bool(&json, "passed", n_failed == 0);
    qp_json_begin(&json, "thresholds", '[');
    for (size_t i = 0; i < all->n; i++) {
        const qp_threshold *x = &all->items[i];
        char why[QP_ERROR_BYTES];
        verdict v = judge(x, c);
        qp_json_begin(&json, NULL, '{');
        qp_json_text(&json, "figure", qp_figure_names[x->figure]);
        qp_json_text(&json, "file", x->glob);
        qp_json_number(&json, "percent", x->percent);
        qp_json_bool(&json, "passed", !has_failed(&v));
        qp_json_count(&json, "hit", v.n_hit);
        qp_json_count(&json, "all", v.n_all);
        qp_json_begin(&json, "failed", '[');
        for (size_t k = 0; k < c->n_files; k++)
            if (is_about(x, &c->files[k]) &&
                !qp_figure_reaches(&c->files[k].totals, x->figure, x->percent, why))
                qp_json_text(&json, NULL, c->files[k].path);
        qp_json_end(&json, ']');
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

static int check_all(qp_cli *cli, const qp_thresholds *all, const qp_cover *c)
{
    size_t n_failed = 0, n_files = 0;
    bool is_good = true;
    qp_notes_form notes = (qp_notes_form)cli->args.cover.annotations;
    for (size_t i = 0; i < all->n; i++) {
        verdict v = judge(&all->items[i], c);
        n_failed += has_failed(&v);
        n_files += v.n;
        if (v.n == 0)
            qp_cli_warn(cli, "%s:%u: no file with %s fits %s", cli->args.cover.thresholds,
                        all->items[i].line, qp_figure_names[all->items[i].figure],
                        all->items[i].glob);
    }
    if (notes)
        qp_cover_notes(&cli->out, notes, c, NULL, NULL);
    else if (cli->args.format == QP_FORMAT_JSON)
        write_json(&cli->out, all, c, n_failed);
    else
        is_good = print_text(cli, all, c);
    qp_out_flush(&cli->out); /* the reasons stand behind the table */
    for (size_t i = 0; i < all->n; i++)
        complain(cli, &all->items[i], c);
    if (!is_good)
        return qp_cli_fail_memory(cli);
    return !n_files ? QP_EXIT_UNUSABLE : n_failed ? QP_EXIT_FAILED : QP_EXIT_CLEAN;
}

static int run_check(qp_cli *cli)
{
    qp_thresholds all;
    qp_cover *c;
    if (!qp_cover_operands(cli, NULL) || !qp_cover_notes_are_alone(cli) ||
        !qp_thresholds_read(cli, cli->args.cover.thresholds, &all))
        return QP_EXIT_UNUSABLE;
    int status = qp_cover_open(cli, cli->args.operands, cli->args.n_operands, &c);
    if (status != QP_EXIT_UNUSABLE) {
        int checked = check_all(cli, &all, c);
        status = checked > status ? checked : status;
        qp_cover_free(c);
    }
    qp_thresholds_free(&all);
    return status;
}

static const qp_flag flags[] = {{"thresholds", 0, QP_FLAG_TEXT, "FILE", QP_COVER_AT(thresholds),
                                 "coverage.thresholds", "the thresholds"},
                                QP_COVER_FLAG_NOTES,
                                QP_COVER_FLAGS_FILES,
                                QP_COVER_FLAGS_ADJUST,
                                QP_COVER_FLAG_FORCE,
                                QP_COVER_FLAG_FORMAT,
                                QP_FLAGS_COMMON};

const qp_command qp_command_cover_check = {
    .name = "cover check",
    .operands = "[FILE...]",
    .summary = "is enough covered? Thresholds from a file, notes for a CI",
    .about = "Compares coverage with the thresholds of a file; exit status 1 if one is not\n"
             "reached. A line of the file is a figure (lines, branches, functions) and the\n"
             "least percent of it, of all files together, or of each file that a glob fits:\n"
             "  lines 80\n"
             "  branches 70\n"
             "  file src/parser/** lines 95       # comments are allowed",
    .flags = flags,
    .examples = "qprof cover check\n"
                "qprof cover check --thresholds=ci/coverage run.qprof\n"
                "qprof cover check --annotations=github\n"
                "qprof cover check --annotations=gitlab >gl-code-quality-report.json",
    .run = run_check};
