/* diff.c: `qprof cover diff`: two profiles compared, file by file. */
#include <stdio.h>

#include "base/text/unit.h"
#include "cli/cover/cover.h"

#define CHANGE_WORDS "worse|improved|new|gone|none"
static const struct {
    const char *title;
    qp_style style;
} changes[] = {[QP_CHANGE_WORSE] = {"Worse", QP_STYLE_BAD},
               [QP_CHANGE_IMPROVED] = {"Improved", QP_STYLE_GOOD},
               [QP_CHANGE_NEW] = {"New", QP_STYLE_PLAIN},
               [QP_CHANGE_GONE] = {"Gone", QP_STYLE_DIM},
               [QP_CHANGE_NONE] = {"Unchanged", QP_STYLE_PLAIN}};

/* ---- text ------------------------------------------------------------------------------------ */

/* Get the lines of a file or function; of one without lines, its functions. */
static void figure_of(const qp_cover_totals *t, uint64_t *n_hit, uint64_t *n)
{
    qp_figure_of(t, t->lines ? QP_FIGURE_LINES : QP_FIGURE_FUNCTIONS, n_hit, n);
}

static void add_side(qp_table *t, const qp_cover_totals *totals, qp_figure figure)
{
    char text[QP_NUMBER_BYTES];
    uint64_t n_hit, n;
    if (totals)
        qp_figure_of(totals, figure, &n_hit, &n);
    qp_table_plain(t, QP_STYLE_PLAIN, totals ? qp_unit_share(text, n_hit, n, 1) : "");
}

static double change_of(const qp_cover_diff_row *row, qp_figure figure)
{
    uint64_t n_hit[2], n[2];
    qp_figure_of(row->was, figure, &n_hit[0], &n[0]);
    qp_figure_of(row->is, figure, &n_hit[1], &n[1]);
    return qp_cover_percent(n_hit[1], n[1]) - qp_cover_percent(n_hit[0], n[0]);
}

/* The figure that a row is about: the lines unless others changed and lines did not. */
static qp_figure figure_of_row(const qp_cover_diff *d, const qp_cover_diff_row *row)
{
    const qp_cover_totals *t = row->is ? row->is : row->was;
    bool is_pair = row->was && row->is;
    const qp_figure usual =
        t->lines && (d->has_lines || !is_pair) ? QP_FIGURE_LINES : QP_FIGURE_FUNCTIONS;
    if (!is_pair || row->change == QP_CHANGE_NONE || change_of(row, usual) != 0)
        return usual;
    bool has_functions = d->has_functions && change_of(row, QP_FIGURE_FUNCTIONS) != 0;
    bool has_branches = d->has_branches && change_of(row, QP_FIGURE_BRANCHES) != 0;
    return has_functions ? QP_FIGURE_FUNCTIONS : has_branches ? QP_FIGURE_BRANCHES : usual;
}

static void add_row(qp_table *t, const qp_cover_diff *d, const qp_cover_diff_row *row,
                    const char *indent)
{
    char text[QP_NUMBER_BYTES] = "", name[QP_NAME_BYTES];
    const qp_figure figure = figure_of_row(d, row);
    snprintf(name, sizeof name, "%s%s", indent, row->name);
    qp_table_name(t, QP_STYLE_PLAIN, *indent ? name : row->name);
    add_side(t, row->was, figure);
    add_side(t, row->is, figure);
    if (row->was && row->is)
        snprintf(text, sizeof text, "%+.1f", change_of(row, figure));
    qp_table_plain(t, changes[row->change].style, text);
    qp_table_plain(t, QP_STYLE_DIM, figure == QP_FIGURE_LINES ? "" : qp_figure_names[figure]);
}

static bool print_section(const qp_cli *cli, const qp_cover_diff *d, qp_cover_change change)
{
    static const qp_column columns[] = {{"File", QP_KEEP_END, 0},
                                        {"Was %", QP_ALIGN_RIGHT, 0},
                                        {"Is %", QP_ALIGN_RIGHT, 0},
                                        {"Change", QP_ALIGN_RIGHT, 0},
                                        {"", QP_KEEP_BEGIN, 0}};
    bool has_functions = cli->args.cover.has_functions;
    qp_table t;
    if (!d->n_changed[change])
        return true;
    qp_screen_text(&cli->screen, QP_STYLE_HEAD, changes[change].title);
    qp_out_text(cli->screen.out, "\n");
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < d->n_files; i++) {
        const qp_cover_diff_row *f = &d->files[i];
        if (f->change != change)
            continue;
        add_row(&t, d, f, "");
        for (size_t k = 0; has_functions && f->was && f->is && k < f->n_functions; k++)
            add_row(&t, d, &f->functions[k], "  ");
    }
    bool is_good = qp_table_end(&t, &cli->screen, 2);
    qp_out_char(cli->screen.out, '\n');
    return is_good;
}

/* What only one of the profiles knows. */
static void print_unknown(qp_out *out, const qp_cover_diff *d, bool is_either_called)
{
    const bool is_known[] = {[QP_FIGURE_LINES] = d->has_lines,
                             [QP_FIGURE_BRANCHES] = d->has_branches,
                             [QP_FIGURE_FUNCTIONS] = d->has_functions || !is_either_called};
    for (unsigned i = 0; i < QP_N_FIGURES; i++)
        if (!is_known[i])
            qp_out_format(out, "%s were not compared: only one of the profiles has them\n",
                          qp_figure_names[i]);
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
    if (base->n_files && now->n_files)
        print_unknown(cli->screen.out, d, base->has_calls || now->has_calls);
    return is_good;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define AT(member) QP_FIELD_AT(qp_cover_totals, member)
static const qp_field side_fields[] = {
    {"lines", NULL, "with code", QP_FIELD_COUNT, AT(lines)},
    {"lines_hit", NULL, "hit ones", QP_FIELD_COUNT, AT(lines_hit)},
    {"branches", NULL, "ways of conditional jumps", QP_FIELD_COUNT, AT(branches)},
    {"branches_hit", NULL, "ways that were taken", QP_FIELD_COUNT, AT(branches_hit)},
    {"functions", NULL, "known ones", QP_FIELD_COUNT, AT(functions)},
    {"functions_hit", NULL, "hit ones", QP_FIELD_COUNT, AT(functions_hit)},
    {.key = NULL}};
#undef AT

#define AT(member) QP_FIELD_AT(qp_cover_diff_row, member)
static const qp_field sides_fields[] = {
    {"was", NULL, "figures of the old profile; null: it has none", QP_FIELD_OBJECT, AT(was),
     .flags = QP_FIELD_NULLABLE, .sub = side_fields},
    {"is", NULL, "figures of the new profile; null: it has none", QP_FIELD_OBJECT, AT(is),
     .flags = QP_FIELD_NULLABLE, .sub = side_fields},
    {.key = NULL}};

static const qp_field change_fields[] = {
    {"change", NULL,
     "of the share of its hit lines; where that is equal, of its functions, then of its "
     "branches; what one profile does not know is not compared",
     QP_FIELD_CHOICE, AT(change), .words = CHANGE_WORDS},
    {"", NULL, NULL, QP_FIELD_PART, .sub = sides_fields},
    {.key = NULL}};

static const qp_field function_fields[] = {
    {"name", NULL, "display name", QP_FIELD_NAME, AT(name)},
    {"line", NULL, "first line; 0: unknown", QP_FIELD_COUNT, AT(line)},
    {"", NULL, NULL, QP_FIELD_PART, .sub = change_fields},
    {.key = NULL}};

static const qp_field file_fields[] = {
    {"path", NULL, "path as shown", QP_FIELD_NAME, AT(name)},
    {"", NULL, NULL, QP_FIELD_PART, .sub = change_fields},
    {"functions", NULL, "functions that changed", QP_FIELD_ROWS,
     QP_FIELD_ITEMS(qp_cover_diff_row, functions, n_functions), .sub = function_fields},
    {.key = NULL}};
#undef AT

typedef struct {
    qp_cover_diff d;
    qp_cover_diff_row totals;
} document;

static const qp_field document_fields[] = {
    {"files", NULL, "files by change, then by path", QP_FIELD_ROWS,
     QP_FIELD_ITEMS(document, d.files, d.n_files), .sub = file_fields},
    {"totals", NULL, "sums of all files", QP_FIELD_OBJECT, QP_FIELD_AT(document, totals),
     .sub = sides_fields},
    {.key = NULL}};

/* ---- --fail-if-lower ------------------------------------------------------------------------- */

static uint64_t missed_of(const qp_cover_totals *t)
{
    uint64_t n_hit = 0, n = 0;
    if (t)
        figure_of(t, &n_hit, &n);
    return n - n_hit;
}

static const qp_cover_diff_row *worst_file(const qp_cover_diff *d)
{
    const qp_cover_diff_row *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < d->n_files; i++) {
        const uint64_t was = missed_of(d->files[i].was), is = missed_of(d->files[i].is);
        if (is > was && is - was > most) {
            most = is - was;
            worst = &d->files[i];
        }
    }
    return worst;
}

/* Fewer lines that were hit make the share lower as well: it fails only if more lines are missed. */
static int judge(const qp_cli *cli, const qp_cover_diff *d, const qp_cover_totals *base,
                 const qp_cover_totals *now, int status)
{
    char was[QP_NUMBER_BYTES], is[QP_NUMBER_BYTES], more[QP_NUMBER_BYTES];
    uint64_t hit[2], all[2];
    figure_of(base, &hit[0], &all[0]);
    figure_of(now, &hit[1], &all[1]);
    size_t n_common = 0;
    for (size_t i = 0; i < d->n_files; i++)
        n_common += d->files[i].was && d->files[i].is;
    if (all[0] && all[1] && !n_common)
        return qp_cli_fail(cli,
                           "--fail-if-lower: no file is in both profiles: nothing was checked");
    if (!all[0] || !all[1] || !base->lines != !now->lines)
        return qp_cli_fail(cli, "--fail-if-lower: no coverage%s in %s: nothing was checked",
                           all[0] && all[1] ? " of lines" : "",
                           cli->args.operands[all[0] && (base->lines || !now->lines) ? 1 : 0]);
    const uint64_t missed[2] = {all[0] - hit[0], all[1] - hit[1]};
    const bool is_lower = (double)hit[1] * (double)all[0] < (double)hit[0] * (double)all[1];
    if (!is_lower || missed[1] <= missed[0])
        return status;
    const qp_cover_diff_row *worst = worst_file(d);
    qp_cli_warn(cli, "lower: %s %% of all %s became %s %%, %s more are missed%s%s",
                qp_unit_share(was, hit[0], all[0], 2), base->lines ? "lines" : "functions",
                qp_unit_share(is, hit[1], all[1], 2),
                qp_unit_count(more, missed[1] - missed[0]), worst ? "; most of them in " : "",
                worst ? worst->name : "");
    return QP_EXIT_FAILED;
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
        qp_document_json(&cli->out, document_fields,
                         &(document){*d, {.was = &base->totals, .is = &now->totals}});
    else if (d)
        is_good = print_text(cli, d, base, now);
    if (status != QP_EXIT_UNUSABLE && (!d || !is_good))
        status = qp_cli_fail_memory(cli);
    else if (d && cli->args.cover.is_no_lower)
        status = judge(cli, d, &base->totals, &now->totals, status);
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
    if (a->is_no_lower && (a->git || a->patch))
        return qp_cli_fail(cli, "--fail-if-lower compares two profiles; for changed lines use "
                                "--fail-under");
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

const qp_command qp_command_cover_diff = {
    .name = "cover diff",
    .operands = "OLD NEW | --git=REV [FILE...]",
    .summary = "two profiles compared, or one for changed lines only",
    .about = "Compares the coverage of two profiles: files that got worse, improved, are new,\n"
             "or are gone. With --git or --patch it shows one profile's coverage of the lines\n"
             "that changed.",
    .flags =
        (const qp_flag[]){
            {"git", 0, QP_FLAG_TEXT, "REV", QP_COVER_AT(git), NULL,
             "only lines that changed since this revision"},
            {"repo", 0, QP_FLAG_TEXT, "DIR", QP_COVER_AT(repo), NULL,
             "folder of the sources' repository; default: the current folder"},
            {"patch", 0, QP_FLAG_TEXT, "FILE|-", QP_COVER_AT(patch), NULL,
             "only lines that this patch changes, as git diff or diff -u writes it"},
            {"fail-under", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(lines_under), NULL,
             "limit of hit lines among the changed ones; exit status 1 below it"},
            {"fail-if-lower", 0, QP_FLAG_YES, NULL, QP_COVER_AT(is_no_lower), NULL,
             "exit status 1 if a smaller part of all lines is hit than in the old profile, and "
             "more "
             "lines are missed"},
            {"functions", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_functions), NULL,
             "of two profiles: rows for functions that changed"},
            QP_COVER_FLAG_NOTES,
            QP_COVER_FLAGS,
            QP_COVER_FLAG_FORMAT,
            QP_FLAGS_COMMON},
    .schemas = (const qp_schema[]){{"cover-diff", document_fields},
                                   {"cover-changes", qp_cover_changes_document},
                                   {.name = NULL}},
    .examples = "qprof cover diff old.qprof new.qprof\n"
                "qprof cover diff --fail-if-lower old.qprof new.qprof\n"
                "qprof cover diff --git=main --fail-under=90\n"
                "git diff -U0 main | qprof cover diff --patch=- run.qprof\n"
                "qprof cover diff --git=main --annotations=github",
    .run = run_diff};
