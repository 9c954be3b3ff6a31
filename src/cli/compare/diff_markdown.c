/* diff_markdown.c: a comparison as the comment of a pull request: the verdict, then what decided it, then folded
 * details. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/table_text.h"
#include "base/text/text.h"
#include "cli/compare/diff.h"
#include "cli/show/show.h"

enum { ITEMS_MOST = 10 };

/* ---- names ----------------------------------------------------------------------------------- */

/* A text of the host as code, on one line. What could be markup is written as a number, and no site takes code
 * for the name of a user or of an issue. */
static void write_code(qp_out *out, const char *text)
{
    char shown[4096], line[sizeof shown + 4];
    qp_text_terminal(shown, sizeof shown, text, NULL);
    qp_text_fit(line, sizeof line, shown, QP_NAME_COLUMNS, 0);
    qp_out_text(out, "<code>");
    for (const char *byte = line; *byte; byte++) {
        if (ispunct((unsigned char)*byte) && !strchr("./-(),;=+'\"%?", *byte))
            qp_out_format(out, "&#%u;", (unsigned)(unsigned char)*byte);
        else
            qp_out_char(out, *byte);
    }
    qp_out_text(out, "</code>");
}

static void write_subject(const qp_comparison *c, qp_out *out, const qp_diff_row *row)
{
    char path[1024];
    if (row == c->diff->rows) {
        qp_out_text(out, "**the whole run**");
        return;
    }
    write_code(out, qp_diff_path(c, row, path, sizeof path));
    if (c->diff->kind != QP_DIFF_FUNCTIONS || !*row->file)
        return;
    const qp_model_method method = {.file = row->file, .first_line = row->line};
    qp_out_char(out, ' ');
    write_code(out, qp_view_place(path, sizeof path, &method));
}

static const char *subject_head(const qp_diff *d)
{
    return d->kind == QP_DIFF_PATHS     ? "Call path"
           : d->kind == QP_DIFF_THREADS ? "Thread"
                                        : "Function";
}

/* ---- what the gate found --------------------------------------------------------------------- */

static void write_item(const qp_comparison *c, qp_out *out, const qp_gate_item *item)
{
    const qp_figure_growth *g = &item->growth;
    const bool is_count = qp_gate_is_count(item);
    char number[QP_NUMBER_BYTES], change[QP_GATE_BYTES];
    qp_out_text(out, "| ");
    write_subject(c, out, &c->diff->rows[item->row]);
    qp_out_format(out, " | %s", qp_gate_figure(item));
    for (int side = 0; side < QP_DIFF_SIDES; side++) {
        const uint64_t value = (uint64_t)llround(g->sides[side]);
        qp_out_format(out, " | %s",
                      is_count ? qp_unit_count(number, value)
                               : qp_diff_value(c, number, value));
    }
    qp_out_format(out, " | %s", qp_gate_percent(c, item, change));
    qp_out_format(out, " | %s | %s |\n", qp_gate_limit(c, item, number),
                  qp_verdict_name(item->verdict));
}

static void write_items(const qp_comparison *c, qp_out *out)
{
    const qp_gate *gate = &c->gate;
    const size_t n = gate->n_items - gate->n_verdicts[QP_VERDICT_PASS];
    char number[QP_NUMBER_BYTES];
    if (!n)
        return;
    qp_out_format(out,
                  "\n| %s | Figure | Base | New | Change | Limit | Verdict |\n"
                  "|:--|:--|--:|--:|--:|--:|:--|\n",
                  subject_head(c->diff));
    for (size_t i = 0; i < n && i < ITEMS_MOST; i++)
        write_item(c, out, &gate->items[i]);
    if (n > ITEMS_MOST)
        qp_out_format(out, "\nand %s more\n", qp_unit_count(number, n - ITEMS_MOST));
}

static void write_varying(const qp_comparison *c, qp_out *out)
{
    const qp_gate *gate = &c->gate;
    char number[QP_NUMBER_BYTES];
    size_t n = 0, at = 0;
    for (const qp_gate_item *item; n < ITEMS_MOST && (item = qp_gate_varying(gate, &at));) {
        qp_out_format(out, "%s%s of ",
                      n++ ? ", " : "\nVary from run to run, and are judged by their noise: ",
                      qp_gate_figure(item));
        write_subject(c, out, &c->diff->rows[item->row]);
    }
    if (gate->n_varying > n)
        qp_out_format(out, " and %s more", qp_unit_count(number, gate->n_varying - n));
    if (n)
        qp_out_char(out, '\n');
}

/* ---- details --------------------------------------------------------------------------------- */

static void write_side(const qp_comparison *c, qp_out *out, qp_diff_side side)
{
    const qp_diff_runs *r = &c->runs[side];
    char number[QP_NUMBER_BYTES], moment[QP_MOMENT_BYTES];
    qp_out_text(out, side == QP_DIFF_BASE ? "- base: " : "- new: ");
    write_code(out, *r->script ? r->script : r->program);
    if (*r->labels) {
        qp_out_char(out, ' ');
        write_code(out, r->labels);
    }
    qp_out_format(out, ", %s, %s\n", qp_unit_things(number, c->diff->n_runs[side], "run"),
                  qp_header_moment(moment, r->started_at));
}

static void write_change(const qp_comparison *c, qp_out *out, const qp_diff_row *row)
{
    const qp_diff_figure *f = qp_diff_main_figure(c, row);
    const bool is_count = c->sort == QP_DIFF_CALLS;
    char number[QP_NUMBER_BYTES];
    qp_out_text(out, "| ");
    write_subject(c, out, row);
    for (int side = 0; side < QP_DIFF_SIDES; side++)
        qp_out_format(out, " | %s",
                      is_count ? qp_unit_count(number, f->sides[side])
                               : qp_diff_value(c, number, f->sides[side]));
    if (row->state == QP_DIFF_ADDED || row->state == QP_DIFF_GONE)
        qp_out_format(out, " | %s", row->state == QP_DIFF_ADDED ? "new" : "gone");
    else
        qp_out_format(out, " | %s %%", qp_diff_percent(number, f));
    if (c->diff->has_calls && !is_count)
        qp_out_format(out, qp_diff_change(&row->calls) ? " | %+lld" : " | %lld",
                      (long long)qp_diff_change(&row->calls));
    qp_out_text(out, " |\n");
}

static void write_changes(const qp_comparison *c, qp_out *out)
{
    static const char *const heads[] = {[QP_DIFF_SELF] = "self",
                                        [QP_DIFF_TOTAL] = "total",
                                        [QP_DIFF_CALLS] = "calls",
                                        [QP_DIFF_NAME] = "self"};
    const uint64_t limit = c->cli->args.limit;
    const size_t n = limit && limit < c->n_rows ? (size_t)limit : c->n_rows;
    const bool has_calls = c->diff->has_calls && c->sort != QP_DIFF_CALLS;
    char number[QP_NUMBER_BYTES];
    if (!n)
        return;
    qp_out_format(out, "\n| %s | Base %s | New %s | Change |%s\n|:--|--:|--:|--:|%s\n",
                  subject_head(c->diff), heads[c->sort], heads[c->sort],
                  has_calls ? " Calls |" : "", has_calls ? "--:|" : "");
    for (size_t i = 0; i < n; i++)
        write_change(c, out, &c->diff->rows[c->rows[i]]);
    if (n < c->n_rows)
        qp_out_format(out, "\nand %s more\n", qp_unit_count(number, c->n_rows - n));
}

/* "2 changed, 1 new, 0 gone" */
static void write_states(const qp_diff *d, qp_out *out)
{
    char changed[QP_NUMBER_BYTES], added[QP_NUMBER_BYTES], gone[QP_NUMBER_BYTES];
    qp_out_format(out, "%ss: %s changed, %s new, %s gone", subject_head(d),
                  qp_unit_count(changed, d->n_states[QP_DIFF_CHANGED]),
                  qp_unit_count(added, d->n_states[QP_DIFF_ADDED]),
                  qp_unit_count(gone, d->n_states[QP_DIFF_GONE]));
}

static void write_parts(const qp_comparison *c, qp_out *out)
{
    for (int side = 0; side < QP_DIFF_SIDES; side++) {
        const qp_diff_runs *r = &c->runs[side];
        if (!r->part_path)
            continue;
        qp_out_text(out, "\n**Incomplete:** ");
        write_code(out, r->part_path);
        qp_out_format(out, " %s\n", r->part);
    }
}

void qp_diff_write_markdown(const qp_comparison *c, qp_out *out)
{
    const qp_diff *d = c->diff;
    const qp_diff_figure *f = d->has_times ? qp_diff_total(d, &d->rows[0]) : &d->rows[0].calls;
    char summary[QP_GATE_BYTES], base[QP_NUMBER_BYTES], new[QP_NUMBER_BYTES],
        number[QP_NUMBER_BYTES];
    qp_out_text(out, "### qprof: ");
    if (c->limits.is_set)
        qp_out_text(out, qp_gate_summary(c, summary));
    else
        write_states(d, out);
    qp_out_char(out, '\n');
    write_parts(c, out);
    write_items(c, out);
    write_varying(c, out);
    qp_out_format(out, "\n%s: %s → %s (%s %%",
                  !d->has_times  ? "Calls"
                  : d->is_by_run ? "Run time"
                                 : "Time",
                  d->has_times ? qp_diff_value(c, base, f->sides[QP_DIFF_BASE])
                               : qp_unit_count(base, f->sides[QP_DIFF_BASE]),
                  d->has_times ? qp_diff_value(c, new, f->sides[QP_DIFF_NEW])
                               : qp_unit_count(new, f->sides[QP_DIFF_NEW]),
                  qp_diff_percent(number, f));
    if (d->has_times)
        qp_out_format(out, "; noise %s%s", d->has_noise ? "± " : "unknown with one run a side",
                      d->has_noise ? qp_diff_value(c, number, f->noise) : "");
    qp_out_text(out, ")\n\n<details><summary>");
    write_states(d, out);
    qp_out_text(out, "</summary>\n\n");
    write_side(c, out, QP_DIFF_BASE);
    write_side(c, out, QP_DIFF_NEW);
    write_changes(c, out);
    qp_out_text(out, "\n</details>\n");
}
