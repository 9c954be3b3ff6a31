/* diff_write.c: a comparison for programs: JSON, CSV, and the lines of Quantify's qxdiff. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/diff.h"

enum { PATH_MOST = 256 }; /* functions of a path that are written; the innermost */

static const char *const state_words[QP_DIFF_STATES] = {"alike", "changed", "new", "gone"};

static size_t limited(const qp_comparison *c)
{
    uint64_t limit = c->cli->args.limit;
    return limit && limit < c->n_rows ? (size_t)limit : c->n_rows;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_side(qp_json *json, const qp_comparison *c, qp_diff_side side,
                       const char *key, const qp_list *files)
{
    const qp_diff_runs *r = &c->runs[side];
    qp_json_begin(json, key, '{');
    qp_json_text(json, "program", r->program);
    qp_json_text(json, "time", r->has_modes ? "mixed" : r->time_mode_text);
    qp_json_moment(json, "started_at", r->started_at);
    qp_json_begin(json, "files", '[');
    for (size_t i = 0; i < files->n; i++)
        qp_json_text(json, NULL, files->items[i]);
    qp_json_end(json, ']');
    qp_json_end(json, '}');
}

static void write_figure(qp_json *json, const char *key, const qp_diff_figure *f)
{
    qp_json_begin(json, key, '{');
    qp_json_count(json, "base", f->sides[QP_DIFF_BASE]);
    qp_json_count(json, "new", f->sides[QP_DIFF_NEW]);
    qp_json_change(json, "change", qp_diff_change(f));
    qp_json_count(json, "noise", f->noise);
    qp_json_end(json, '}');
}

static void write_figures(qp_json *json, const qp_diff_row *row)
{
    write_figure(json, "calls", &row->calls);
    write_figure(json, "self", &row->self);
    write_figure(json, "total", &row->total);
}

/* The names on a path, outermost first. */
static void write_path(qp_json *json, const qp_diff *d, const qp_diff_row *row)
{
    const char *names[PATH_MOST];
    size_t n = 0;
    qp_json_count(json, "depth", row->depth);
    for (; row && n < PATH_MOST; row = row->parent ? &d->rows[row->parent] : NULL)
        names[n++] = row->name;
    qp_json_begin(json, "path", '[');
    while (n-- > 0)
        qp_json_text(json, NULL, names[n]);
    qp_json_end(json, ']');
}

static void write_row(qp_json *json, const qp_comparison *c, const qp_diff_row *row)
{
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "name", row->name);
    qp_json_text(json, "module", row->module);
    qp_json_text(json, "file", row->file);
    qp_json_count(json, "line", row->line);
    qp_json_text(json, "state", state_words[row->state]);
    qp_json_bool(json, "includes_hidden", row->has_hidden);
    if (c->diff->kind == QP_DIFF_PATHS)
        write_path(json, c->diff, row);
    write_figures(json, row);
    qp_json_end(json, '}');
}

void qp_diff_write_json(const qp_comparison *c, qp_out *out)
{
    static const char *const kinds[] = {"functions", "paths", "threads"};
    const qp_diff *d = c->diff;
    qp_json json;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    write_side(&json, c, QP_DIFF_BASE, "base", &c->cli->args.diff.base);
    write_side(&json, c, QP_DIFF_NEW, "new", &c->cli->args.diff.new);
    qp_json_text(&json, "unit", c->unit_text);
    qp_json_text(&json, "clock", c->clock_text);
    qp_json_bool(&json, "has_times", d->has_times);
    qp_json_bool(&json, "has_calls", d->has_calls);
    qp_json_bool(&json, "has_noise", d->has_noise);
    qp_json_text(&json, "compared", kinds[d->kind]);
    qp_json_begin(&json, "whole", '{');
    write_figures(&json, &d->rows[0]);
    qp_json_end(&json, '}');
    qp_json_begin(&json, "states", '{');
    for (int i = 0; i < QP_DIFF_STATES; i++)
        qp_json_count(&json, state_words[i], d->n_states[i]);
    qp_json_end(&json, '}');
    qp_json_begin(&json, "rows", '[');
    for (size_t i = 0; i < limited(c); i++)
        write_row(&json, c, &d->rows[c->rows[i]]);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void qp_diff_write_csv(const qp_comparison *c, qp_out *out)
{
    static const char *const names[] = {"calls", "self", "total"};
    char path[1024];
    qp_out_text(out, "state,name,module,file,line");
    for (int i = 0; i < 3; i++) {
        const char *blank = i ? "_" : "", *unit = i ? c->unit_text : "";
        qp_out_format(out, ",base_%s%s%s,new_%s%s%s,change_%s%s%s,noise_%s%s%s", names[i],
                      blank, unit, names[i], blank, unit, names[i], blank, unit, names[i],
                      blank, unit);
    }
    qp_out_text(out, "\r\n");
    for (size_t i = 0; i < limited(c); i++) {
        const qp_diff_row *row = &c->diff->rows[c->rows[i]];
        const qp_diff_figure *const figures[] = {&row->calls, &row->self, &row->total};
        qp_out_format(out, "%s,", state_words[row->state]);
        qp_text_csv(out, qp_diff_path(c, row, path, sizeof path));
        qp_out_char(out, ',');
        qp_text_csv(out, row->module);
        qp_out_char(out, ',');
        qp_text_csv(out, row->file);
        qp_out_format(out, ",%" PRIu32, row->line);
        for (int k = 0; k < 3; k++)
            qp_out_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64,
                          figures[k]->sides[QP_DIFF_BASE], figures[k]->sides[QP_DIFF_NEW],
                          qp_diff_change(figures[k]), figures[k]->noise);
        qp_out_text(out, "\r\n");
    }
}

/* ---- qxdiff ---------------------------------------------------------------------------------- */

/* "+1,234" @return to */
static char *signed_count(char *to, int64_t change)
{
    to[0] = change < 0 ? '-' : '+';
    qp_unit_count(to + 1, qp_diff_size(change));
    return to;
}

static void write_line(const qp_comparison *c, qp_out *out, const qp_diff_row *row)
{
    char calls[QP_NUMBER_BYTES], time[QP_NUMBER_BYTES], path[1024];
    qp_out_format(out, "%c ",
                  row->state == QP_DIFF_ADDED  ? '+'
                  : row->state == QP_DIFF_GONE ? '-'
                                               : '!');
    qp_text_line(out, qp_diff_path(c, row, path, sizeof path), "");
    if (c->diff->has_calls)
        qp_out_format(out, "  %s calls", signed_count(calls, qp_diff_change(&row->calls)));
    if (c->diff->has_times)
        qp_out_format(out, "  %s %s", signed_count(time, qp_diff_change(&row->self)),
                      c->unit_text);
    qp_out_char(out, '\n');
}

void qp_diff_write_qxdiff(const qp_comparison *c, qp_out *out)
{
    char number[QP_NUMBER_BYTES], change[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    const qp_diff_row *whole = &c->diff->rows[0];
    bool has_times = c->diff->has_times;
    const qp_diff_figure *f = has_times ? &whole->total : &whole->calls;
    if (c->cli->args.diff.has_legend)
        qp_out_text(out, "- only in base   + only in new   ! in both, and changed\n"
                         "Differences are new - base: less than 0 is an improvement.\n");
    for (size_t i = 0; i < limited(c); i++)
        write_line(c, out, &c->diff->rows[c->rows[i]]);
    qp_out_format(out, "%s; %s %s, %s %% of the total\n",
                  qp_unit_things(number, c->n_rows, "difference"),
                  signed_count(change, qp_diff_change(f)), has_times ? c->unit_text : "calls",
                  qp_diff_percent(percent, f));
}
