/* show.c: pieces of the reports of `qprof cover`: head, percentages, limits, ranges of lines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/buf.h"
#include "base/text/unit.h"
#include "cli/cover/cover.h"
#include "cli/show/show.h"

/* ---- the head -------------------------------------------------------------------------------- */

static void print_runs(const qp_screen *s, const qp_cover *c)
{
    char moment[QP_MOMENT_BYTES];
    uint64_t newest = 0;
    for (size_t i = 0; i < c->n_runs; i++)
        newest = c->runs[i].started_at > newest ? c->runs[i].started_at : newest;
    qp_header_label(s, "recorded");
    qp_out_format(s->out, "%s%s%s\n", c->n_runs > 1 ? "last " : "",
                  qp_header_moment(moment, newest),
                  c->is_once ? "; whether code was executed, not how often" : "");
}

void qp_cover_header(const qp_cli *cli, const qp_cover *c)
{
    const qp_screen *s = &cli->screen;
    char count[QP_NUMBER_BYTES];
    if (c->n_runs == 0)
        return;
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_screen_name(s, *c->runs[0].program ? c->runs[0].program : "?", 40);
    qp_screen_style(s, QP_STYLE_PLAIN);
    if (c->n_runs > 1)
        qp_out_format(s->out, ", %s", qp_unit_things(count, c->n_runs, "run"));
    qp_out_text(s->out, "  (");
    qp_screen_name(s, c->runs[0].what, 0);
    qp_out_text(s->out, c->n_runs > 1 ? ", ...)\n" : ")\n");
    print_runs(s, c);
    if (cli->args.cover.contexts.n) {
        qp_header_label(s, "contexts");
        qp_out_text(s->out, "only hits of ");
        for (size_t i = 0; i < cli->args.cover.contexts.n; i++) {
            qp_out_text(s->out, i ? ", " : "");
            qp_screen_name(s, cli->args.cover.contexts.items[i], 60);
        }
        qp_out_char(s->out, '\n');
    }
    qp_out_char(s->out, '\n');
}

const char *qp_cover_context_name(const char *name)
{
    return *name ? name : "(no context)";
}

/* ---- percentages ----------------------------------------------------------------------------- */

const char *const qp_figure_names[QP_N_FIGURES] = {"lines", "branches", "functions"};

void qp_figure_of(const qp_cover_totals *t, qp_figure figure, uint64_t *n_hit, uint64_t *n)
{
    const uint64_t hits[] = {t->lines_hit, t->branches_hit, t->functions_hit},
                   all[] = {t->lines, t->branches, t->functions};
    *n_hit = hits[figure];
    *n = all[figure];
}

bool qp_figure_reaches(const qp_cover_totals *t, qp_figure figure, double limit, qp_error *why)
{
    uint64_t n_hit, n;
    qp_figure_of(t, figure, &n_hit, &n);
    why->text[0] = '\0';
    if (n == 0) {
        return qp_error_fail(why, "no %s were counted", qp_figure_names[figure]);
    }
    if (qp_cover_percent(n_hit, n) >= limit)
        return true;
    char reached[QP_NUMBER_BYTES], count[QP_NUMBER_BYTES];
    qp_unit_share(reached, n_hit, n, 2);
    return qp_error_fail(why, "%s %% of %s %s were hit, %.2f below %g", reached,
                         qp_unit_count(count, n), qp_figure_names[figure],
                         limit - atof(reached), limit);
}

void qp_cover_add_share(qp_table *t, uint64_t n_hit, uint64_t n, bool has_missed)
{
    char text[2 * QP_NUMBER_BYTES], a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES];
    snprintf(text, sizeof text, "%s/%s", qp_unit_count(a, n_hit), qp_unit_count(b, n));
    qp_table_plain(t, QP_STYLE_PLAIN, n ? text : "-");
    if (has_missed)
        qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(a, n - n_hit));
    qp_table_plain(t, qp_cover_percent_style(n_hit, n), qp_unit_share(a, n_hit, n, 1));
}

/* With the limits of genhtml. */
qp_style qp_cover_percent_style(uint64_t n_hit, uint64_t n)
{
    double percent = qp_cover_percent(n_hit, n);
    return n == 0          ? QP_STYLE_DIM
           : percent >= 90 ? QP_STYLE_GOOD
           : percent >= 75 ? QP_STYLE_WARM
                           : QP_STYLE_BAD;
}

int qp_cover_judge(const qp_cli *cli, const qp_cover_totals *t)
{
    const qp_cover_args *a = &cli->args.cover;
    const double limits[QP_N_FIGURES] = {a->lines_under, a->branches_under, a->functions_under};
    static const char *const flags[QP_N_FIGURES] = {"", "-branches", "-functions"};
    int status = QP_EXIT_CLEAN;
    for (qp_figure f = 0; f < QP_N_FIGURES; f++) {
        qp_error why;
        if (limits[f] < 0 || qp_figure_reaches(t, f, limits[f], &why))
            continue;
        qp_cli_warn(cli, "--fail-under%s: %s", flags[f], why.text);
        status = QP_EXIT_FAILED;
    }
    return status;
}

bool qp_cover_is_way_missed(const qp_cover_branch *b)
{
    return b->is_reached && !b->count;
}

char *qp_cover_way_text(const qp_cover_branch *b, char *to, size_t n_bytes)
{
    if (b->to_line)
        snprintf(to, n_bytes, "line %" PRIu32 " never continues at line %" PRIu32, b->line,
                 b->to_line);
    else
        snprintf(to, n_bytes,
                 "way %" PRIu32 " of branch %" PRIu32 " in line %" PRIu32 " was never taken",
                 b->way + 1, b->block + 1, b->line);
    return to;
}

/* ---- ranges of lines ------------------------------------------------------------------------- */

bool qp_cover_is_missed(const void *data, const qp_cover_file *f, size_t line)
{
    (void)data;
    return !f->lines[line].is_hit && f->lines[line].annotation != QP_ANNOTATION_DEADCODE;
}

size_t qp_cover_each_range(const qp_cover_file *f, const qp_cover_ranges *r)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_lines;) {
        size_t end = i;
        while (end < f->n_lines && r->wants(r->data, f, end))
            end++;
        if (end == i) {
            i++;
            continue;
        }
        r->show(r->to, f, f->lines[i].line, f->lines[end - 1].line);
        n++;
        i = end;
    }
    return n;
}

void qp_cover_show_item(qp_cover_list *list, const char *text)
{
    enum { DEFAULT_COLUMNS = 80 };
    unsigned most = list->s->n_columns ? list->s->n_columns : DEFAULT_COLUMNS;
    unsigned n = (unsigned)strlen(text);
    if (list->column && list->column + 2 + n + 1 > most) {
        qp_out_text(list->s->out, ",\n");
        list->column = 0;
    } else if (list->column) {
        qp_out_text(list->s->out, ", ");
        list->column += 2;
    }
    if (!list->column) {
        if (list->title) {
            qp_out_text(list->s->out, "  ");
            qp_screen_name(list->s, list->title, 0);
            qp_out_char(list->s->out, '\n');
            list->title = NULL;
        }
        qp_out_repeat(list->s->out, ' ', list->indent);
        list->column = list->indent;
    }
    qp_out_text(list->s->out, text);
    list->column += n;
}

void qp_cover_show_range(void *list, const qp_cover_file *f, uint32_t first, uint32_t last)
{
    char text[32];
    (void)f;
    if (first == last)
        snprintf(text, sizeof text, "%" PRIu32, first);
    else
        snprintf(text, sizeof text, "%" PRIu32 "-%" PRIu32, first, last);
    qp_cover_show_item(list, text);
}
