/* diff.c: `qprof cover diff`: two profiles compared, file by file. */
#include <stdio.h>

#include "base/text/json.h"
#include "base/text/unit.h"
#include "cli/cover/cover.h"

static const struct {
    const char *title, *word;
    qp_style style;
} changes[] = {[QP_CHANGE_WORSE] = {"Worse", "worse", QP_STYLE_BAD},
               [QP_CHANGE_IMPROVED] = {"Improved", "improved", QP_STYLE_GOOD},
               [QP_CHANGE_NEW] = {"New", "new", QP_STYLE_PLAIN},
               [QP_CHANGE_GONE] = {"Gone", "gone", QP_STYLE_DIM},
               [QP_CHANGE_NONE] = {"Unchanged", "none", QP_STYLE_PLAIN}};

/* ---- text ------------------------------------------------------------------------------------ */

/* Get the lines of a file or function; of one without lines, its functions. */
static void figure_of(const qp_cover_totals *t, uint64_t *n_hit, uint64_t *n)
{
    qp_figure_of(t, t->lines ? QP_FIGURE_LINES : QP_FIGURE_FUNCTIONS, n_hit, n);
}

static void add_side(qp_table *t, const qp_cover_totals *totals)
{
    char text[QP_NUMBER_BYTES];
    uint64_t n_hit, n;
    if (totals)
        figure_of(totals, &n_hit, &n);
    qp_table_plain(t, QP_STYLE_PLAIN, totals ? qp_unit_share(text, n_hit, n, 1) : "");
}

static void add_row(qp_table *t, qp_style style, const char *name, const qp_cover_totals *base,
                    const qp_cover_totals *now)
{
    char text[QP_NUMBER_BYTES] = "";
    uint64_t n_hit[2], n[2];
    qp_table_name(t, QP_STYLE_PLAIN, name);
    add_side(t, base);
    add_side(t, now);
    if (base && now) {
        figure_of(base, &n_hit[0], &n[0]);
        figure_of(now, &n_hit[1], &n[1]);
        snprintf(text, sizeof text, "%+.1f",
                 qp_cover_percent(n_hit[1], n[1]) - qp_cover_percent(n_hit[0], n[0]));
    }
    qp_table_plain(t, style, text);
}

static void add_functions(qp_table *t, const qp_cover_diff_file *f)
{
    char name[QP_NAME_BYTES];
    for (size_t i = 0; i < f->n_functions; i++) {
        const qp_cover_diff_function *x = &f->functions[i];
        snprintf(name, sizeof name, "  %s", x->now ? x->now->name : x->base->name);
        add_row(t, changes[x->change].style, name, x->base ? &x->base->totals : NULL,
                x->now ? &x->now->totals : NULL);
    }
}

static bool print_section(const qp_cli *cli, const qp_cover_diff *d, qp_cover_change change)
{
    static const qp_column columns[] = {{"File", QP_KEEP_END, 0},
                                        {"Was %", QP_ALIGN_RIGHT, 0},
                                        {"Is %", QP_ALIGN_RIGHT, 0},
                                        {"Change", QP_ALIGN_RIGHT, 0}};
    qp_table t;
    if (!d->n_changed[change])
        return true;
    qp_screen_text(&cli->screen, QP_STYLE_HEAD, changes[change].title);
    qp_out_text(cli->screen.out, "\n");
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < d->n_files; i++) {
        const qp_cover_diff_file *f = &d->files[i];
        if (f->change != change)
            continue;
        add_row(&t, changes[change].style, f->path, f->base ? &f->base->totals : NULL,
                f->now ? &f->now->totals : NULL);
        if (cli->args.cover.has_functions && f->base && f->now)
            add_functions(&t, f);
    }
    bool is_good = qp_table_end(&t, &cli->screen, 2);
    qp_out_char(cli->screen.out, '\n');
    return is_good;
}

static bool print_text(const qp_cli *cli, const qp_cover_diff *d, const qp_cover *base,
                       const qp_cover *now)
{
    char was[QP_NUMBER_BYTES], is[QP_NUMBER_BYTES];
    bool is_good = true;
    for (qp_cover_change change = 0; change < QP_CHANGE_NONE && is_good; change++)
        is_good = print_section(cli, d, change);
    qp_out_format(cli->screen.out,
                  "%zu of %zu files changed; %s %% of all lines became %s %%\n",
                  d->n_files - d->n_changed[QP_CHANGE_NONE], d->n_files,
                  qp_unit_share(was, base->totals.lines_hit, base->totals.lines, 1),
                  qp_unit_share(is, now->totals.lines_hit, now->totals.lines, 1));
    return is_good;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_side(qp_json *json, const char *key, const qp_cover_totals *t)
{
    if (!t) {
        qp_json_null(json, key);
        return;
    }
    qp_json_begin(json, key, '{');
    for (qp_figure f = 0; f < QP_N_FIGURES; f++) {
        uint64_t n_hit, n;
        char hit[32];
        qp_figure_of(t, f, &n_hit, &n);
        snprintf(hit, sizeof hit, "%s_hit", qp_figure_names[f]);
        qp_json_count(json, qp_figure_names[f], n);
        qp_json_count(json, hit, n_hit);
    }
    qp_json_end(json, '}');
}

static void write_functions(qp_json *json, const qp_cover_diff_file *f)
{
    qp_json_begin(json, "functions", '[');
    for (size_t i = 0; i < f->n_functions; i++) {
        const qp_cover_diff_function *x = &f->functions[i];
        const qp_cover_function *either = x->now ? x->now : x->base;
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "name", either->name);
        qp_json_count(json, "line", either->first_line);
        qp_json_text(json, "change", changes[x->change].word);
        write_side(json, "was", x->base ? &x->base->totals : NULL);
        write_side(json, "is", x->now ? &x->now->totals : NULL);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_json(qp_out *out, const qp_cover_diff *d, const qp_cover *base,
                       const qp_cover *now)
{
    qp_json json;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_begin(&json, "files", '[');
    for (size_t i = 0; i < d->n_files; i++) {
        const qp_cover_diff_file *f = &d->files[i];
        qp_json_begin(&json, NULL, '{');
        qp_json_text(&json, "path", f->path);
        qp_json_text(&json, "change", changes[f->change].word);
        write_side(&json, "was", f->base ? &f->base->totals : NULL);
        write_side(&json, "is", f->now ? &f->now->totals : NULL);
        write_functions(&json, f);
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_begin(&json, "totals", '{');
    write_side(&json, "was", &base->totals);
    write_side(&json, "is", &now->totals);
    qp_json_end(&json, '}');
    qp_json_end(&json, '}');
}

/* ---- the command ----------------------------------------------------------------------------- */

static int compare(qp_cli *cli)
{
    qp_cover *base, *now = NULL;
    bool is_good = true;
    int status = qp_cover_open(cli, cli->args.operands, 1, &base);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    int opened = qp_cover_open(cli, cli->args.operands + 1, 1, &now);
    status = opened > status ? opened : status;
    qp_cover_diff *d = status == QP_EXIT_UNUSABLE ? NULL : qp_cover_diff_new(base, now);
    if (d && cli->args.format == QP_FORMAT_JSON)
        write_json(&cli->out, d, base, now);
    else if (d)
        is_good = print_text(cli, d, base, now);
    if (status != QP_EXIT_UNUSABLE && (!d || !is_good))
        status = qp_cli_fail_memory(cli);
    qp_cover_diff_free(d);
    qp_cover_free(base);
    qp_cover_free(now);
    return status;
}

static int run_diff(qp_cli *cli)
{
    const qp_cover_args *a = &cli->args.cover;
    if (a->git && a->patch)
        return qp_cli_fail(cli, "--git and --patch cannot be combined");
    if (a->git || a->patch)
        return qp_cover_show_changes(cli);
    if (a->lines_under >= 0 || a->annotations || a->repo)
        return qp_cli_fail(cli, "%s applies to changed lines (use --git=REV or --patch=FILE)",
                           a->repo          ? "--repo"
                           : a->annotations ? "--annotations"
                                            : "--fail-under");
    if (cli->args.n_operands != 2)
        return qp_cli_fail(cli, "expected two profiles, an old and a new one; or one with "
                                "--git=REV or --patch=FILE");
    return compare(cli);
}

static const qp_flag flags[] = {
    {"git", 0, QP_FLAG_TEXT, "REV", QP_COVER_AT(git), NULL,
     "only lines that changed since this revision"},
    {"repo", 0, QP_FLAG_TEXT, "DIR", QP_COVER_AT(repo), NULL,
     "folder of the sources' repository; default: the current folder"},
    {"patch", 0, QP_FLAG_TEXT, "FILE|-", QP_COVER_AT(patch), NULL,
     "only lines that this patch changes, as git diff or diff -u writes it"},
    {"fail-under", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(lines_under), NULL,
     "limit of hit lines among the changed ones; exit status 1 below it"},
    {"functions", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_functions), NULL,
     "of two profiles: rows for functions that changed"},
    QP_COVER_FLAG_NOTES,
    QP_COVER_FLAGS_FILES,
    QP_COVER_FLAGS_ADJUST,
    QP_COVER_FLAG_FORCE,
    QP_COVER_FLAG_FORMAT,
    QP_FLAGS_COMMON};

const qp_command qp_command_cover_diff = {
    .name = "cover diff",
    .operands = "OLD NEW | --git=REV [FILE...]",
    .summary = "two profiles compared, or one for changed lines only",
    .about = "Compares the coverage of two profiles: files that got worse, improved, are new,\n"
             "or are gone. With --git or --patch it shows one profile's coverage of the lines\n"
             "that changed.",
    .flags = flags,
    .examples = "qprof cover diff old.qprof new.qprof\n"
                "qprof cover diff --git=main --fail-under=90\n"
                "git diff -U0 main | qprof cover diff --patch=- run.qprof\n"
                "qprof cover diff --git=main --annotations=github",
    .run = run_diff};
