/* diff_write.c: a comparison for programs: JSON, CSV, and the lines of Quantify's qxdiff. */
#include <math.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "cli/compare/diff.h"

enum { PATH_MOST = 256 }; /* functions of a path that are written; the innermost */

static const char *const state_words[QP_DIFF_STATES] = {"alike", "changed", "new", "gone"};

static size_t limited(const qp_comparison *c)
{
    uint64_t limit = c->cli->args.limit;
    return limit && limit < c->n_rows ? (size_t)limit : c->n_rows;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    qp_diff_figure f;
    int64_t change;
} figure_row;

#define AT(member) QP_FIELD_AT(figure_row, member)
static const qp_field figure_fields[] = {
    {"base", NULL, "median of the runs of base", QP_FIELD_COUNT, AT(f.sides[QP_DIFF_BASE])},
    {"new", NULL, "median of the runs of new", QP_FIELD_COUNT, AT(f.sides[QP_DIFF_NEW])},
    {"change", NULL, "new - base: less than 0 is an improvement", QP_FIELD_CHANGE, AT(change)},
    {"noise", NULL, "largest change that may be chance", QP_FIELD_COUNT, AT(f.noise)},
    {.key = NULL}};
#undef AT

enum { IS_PATH = 1, HAS_WAITS = 2, HAS_GATE = 4, HAS_HALF = 8 };

typedef struct {
    qp_diff_row row;
    figure_row calls, self, total, self_run, total_run;
    const char *state, *path; /* path: of CSV */
    const char *verdict;      /* "": it was not judged */
    const qp_diff *diff;
} diff_row;

static const char *const verdict_words[QP_VERDICTS] = {"pass", "fail", "cannot-tell"};
#define VERDICT_WORDS "pass|fail|cannot-tell"

static const char *verdict_of(const qp_comparison *c, const qp_diff_row *row)
{
    const uint32_t item = c->gate.of_rows ? c->gate.of_rows[row - c->diff->rows] : 0;
    return item ? verdict_words[c->gate.items[item - 1].verdict] : "";
}

static diff_row row_of(const qp_comparison *c, const qp_diff_row *row)
{
    return (diff_row){.row = *row,
                      .calls = {row->calls, qp_diff_change(&row->calls)},
                      .self = {row->self, qp_diff_change(&row->self)},
                      .total = {row->total, qp_diff_change(&row->total)},
                      .self_run = {row->self_run, qp_diff_change(&row->self_run)},
                      .total_run = {row->total_run, qp_diff_change(&row->total_run)},
                      .state = state_words[row->state],
                      .verdict = verdict_of(c, row),
                      .diff = c->diff};
}

/* The names on a path, outermost first. */
static void write_path(qp_json *json, const void *data)
{
    const diff_row *r = data;
    const qp_diff_row *row = &r->row;
    const char *names[PATH_MOST];
    size_t n = 0;
    for (; row && n < PATH_MOST; row = row->parent ? &r->diff->rows[row->parent] : NULL)
        names[n++] = row->name;
    while (n-- > 0)
        qp_json_text(json, NULL, names[n]);
}

#define AT(member) QP_FIELD_AT(diff_row, member)
static const qp_field figures_fields[] = {
    {"calls", NULL, "calls", QP_FIELD_OBJECT, AT(calls), .sub = figure_fields},
    {"self", NULL, "self time", QP_FIELD_OBJECT, AT(self), .sub = figure_fields},
    {"total", NULL, "time including called functions", QP_FIELD_OBJECT, AT(total),
     .sub = figure_fields},
    {"self_run", NULL, "part of self on the processor", QP_FIELD_OBJECT, AT(self_run),
     .sub = figure_fields, .flags = QP_FIELD_OPTIONAL, .needs = HAS_WAITS},
    {"total_run", NULL, "part of total on the processor", QP_FIELD_OBJECT, AT(total_run),
     .sub = figure_fields, .flags = QP_FIELD_OPTIONAL, .needs = HAS_WAITS},
    {.key = NULL}};

static const qp_field row_fields[] = {
    {"name", NULL, "display name", QP_FIELD_NAME, AT(row.name)},
    {"module", NULL, "module as registered", QP_FIELD_NAME, AT(row.module)},
    {"file", NULL, "source as registered, \"\" without one", QP_FIELD_NAME, AT(row.file)},
    {"line", NULL, "first line, in the last run that has it; 0: unknown", QP_FIELD_COUNT,
     AT(row.line)},
    {"state", NULL,
     "judged by its own calls and time; alike: only its callees changed (--sort=total)",
     QP_FIELD_WORD, AT(state), .words = "alike|changed|new|gone"},
    {"includes_hidden", NULL, "self includes functions that --hide collapses into it",
     QP_FIELD_YES, AT(row.has_hidden)},
    {"depth", NULL, "paths: number of functions", QP_FIELD_COUNT, AT(row.depth), .least = 1,
     .flags = QP_FIELD_OPTIONAL, .needs = IS_PATH},
    {"path", NULL, "paths: names, outermost first; at most the innermost 256", QP_FIELD_TEXTS,
     .write = write_path, .flags = QP_FIELD_OPTIONAL, .needs = IS_PATH},
    {"", NULL, NULL, QP_FIELD_PART, .sub = figures_fields},
    {"verdict", NULL,
     "of its figures the worst, with --fail-if-slower or --fail-if-more; null: none was judged",
     QP_FIELD_WORD, AT(verdict), .words = VERDICT_WORDS,
     .flags = QP_FIELD_OPTIONAL | QP_FIELD_NULLABLE, .needs = HAS_GATE},
    {.key = NULL}};

static const qp_field csv_fields[] = {
    {"state", NULL, NULL, QP_FIELD_WORD, AT(state)},
    {"name", NULL, NULL, QP_FIELD_NAME, AT(path)},
    {"module", NULL, NULL, QP_FIELD_NAME, AT(row.module)},
    {"file", NULL, NULL, QP_FIELD_NAME, AT(row.file)},
    {"line", NULL, NULL, QP_FIELD_COUNT, AT(row.line)},
    {"base_calls", NULL, NULL, QP_FIELD_COUNT, AT(calls.f.sides[QP_DIFF_BASE])},
    {"new_calls", NULL, NULL, QP_FIELD_COUNT, AT(calls.f.sides[QP_DIFF_NEW])},
    {"change_calls", NULL, NULL, QP_FIELD_CHANGE, AT(calls.change)},
    {"noise_calls", NULL, NULL, QP_FIELD_COUNT, AT(calls.f.noise)},
    {"base_self", NULL, NULL, QP_FIELD_TIME, AT(self.f.sides[QP_DIFF_BASE])},
    {"new_self", NULL, NULL, QP_FIELD_TIME, AT(self.f.sides[QP_DIFF_NEW])},
    {"change_self", NULL, NULL, QP_FIELD_CHANGE, AT(self.change), .flags = QP_FIELD_UNIT},
    {"noise_self", NULL, NULL, QP_FIELD_TIME, AT(self.f.noise)},
    {"base_total", NULL, NULL, QP_FIELD_TIME, AT(total.f.sides[QP_DIFF_BASE])},
    {"new_total", NULL, NULL, QP_FIELD_TIME, AT(total.f.sides[QP_DIFF_NEW])},
    {"change_total", NULL, NULL, QP_FIELD_CHANGE, AT(total.change), .flags = QP_FIELD_UNIT},
    {"noise_total", NULL, NULL, QP_FIELD_TIME, AT(total.f.noise)},
    {"base_self_run", NULL, NULL, QP_FIELD_TIME, AT(self_run.f.sides[QP_DIFF_BASE]),
     .needs = HAS_WAITS},
    {"new_self_run", NULL, NULL, QP_FIELD_TIME, AT(self_run.f.sides[QP_DIFF_NEW]),
     .needs = HAS_WAITS},
    {"change_self_run", NULL, NULL, QP_FIELD_CHANGE, AT(self_run.change),
     .flags = QP_FIELD_UNIT, .needs = HAS_WAITS},
    {"noise_self_run", NULL, NULL, QP_FIELD_TIME, AT(self_run.f.noise), .needs = HAS_WAITS},
    {"base_total_run", NULL, NULL, QP_FIELD_TIME, AT(total_run.f.sides[QP_DIFF_BASE]),
     .needs = HAS_WAITS},
    {"new_total_run", NULL, NULL, QP_FIELD_TIME, AT(total_run.f.sides[QP_DIFF_NEW]),
     .needs = HAS_WAITS},
    {"change_total_run", NULL, NULL, QP_FIELD_CHANGE, AT(total_run.change),
     .flags = QP_FIELD_UNIT, .needs = HAS_WAITS},
    {"noise_total_run", NULL, NULL, QP_FIELD_TIME, AT(total_run.f.noise), .needs = HAS_WAITS},
    {"verdict", NULL, NULL, QP_FIELD_WORD, AT(verdict), .needs = HAS_GATE},
    {.key = NULL}};
#undef AT

/* ---- the gate -------------------------------------------------------------------------------- */

typedef struct {
    qp_diff_row row;
    const char *figure, *limit, *verdict;
    uint64_t base, new, n_runs;
    double least, most; /* percent */
    bool varies;
} item_row;

#define AT(member) QP_FIELD_AT(item_row, member)
static const qp_field item_fields[] = {
    {"figure", NULL, "what was judged", QP_FIELD_WORD, AT(figure),
     .words =
         "self time|total time|self run time|total run time|calls|bytes|objects|instructions"},
    {"name", NULL, "display name; \"\": the whole run", QP_FIELD_NAME, AT(row.name)},
    {"file", NULL, "source as registered, \"\" without one", QP_FIELD_NAME, AT(row.file)},
    {"line", NULL, "first line; 0: unknown", QP_FIELD_COUNT, AT(row.line)},
    {"verdict", NULL, "of this figure", QP_FIELD_WORD, AT(verdict), .words = VERDICT_WORDS},
    {"base", NULL, "geometric mean of the runs of base", QP_FIELD_COUNT, AT(base)},
    {"new", NULL, "geometric mean of the runs of new", QP_FIELD_COUNT, AT(new)},
    {"least_percent", NULL,
     "lower end of the growth's interval: it is less in one of 100 comparisons; missing: one "
     "exact "
     "run a side does not tell, or a count that does not vary",
     QP_FIELD_PERCENT, AT(least), .flags = QP_FIELD_OPTIONAL | QP_FIELD_SIGNED,
     .needs = HAS_HALF},
    {"most_percent", NULL, "upper end: it is more in one of 100; at most a million is written",
     QP_FIELD_PERCENT, AT(most), .flags = QP_FIELD_OPTIONAL | QP_FIELD_SIGNED,
     .needs = HAS_HALF},
    {"limit", NULL, "growth that is allowed", QP_FIELD_NAME, AT(limit)},
    {"varies", NULL, "of a count: the runs of one side differ, and it is judged by its noise",
     QP_FIELD_YES, AT(varies)},
    {"runs_needed", NULL, "runs a side that would do; null: it has a verdict, or more than 64",
     QP_FIELD_COUNT, AT(n_runs), .flags = QP_FIELD_NULLABLE},
    {.key = NULL}};
#undef AT

static uint64_t runs_of(uint32_t n)
{
    return n && n <= QP_RUNS_MOST ? n : QP_FIELD_NONE;
}

/* What does not pass, and counts that vary. */
static void write_items(qp_json *json, const void *row);

typedef struct {
    const qp_comparison *c;
    const char *verdict;
    uint64_t n_judged, n_runs;
} gate_row;

#define AT(member) QP_FIELD_AT(gate_row, member)
static const qp_field gate_fields[] = {
    {"verdict", NULL, "of all figures the worst", QP_FIELD_WORD, AT(verdict),
     .words = VERDICT_WORDS},
    {"judged", NULL, "figures that were judged", QP_FIELD_COUNT, AT(n_judged)},
    {"runs_needed", NULL, "runs a side that would do; null: it has a verdict, or more than 64",
     QP_FIELD_COUNT, AT(n_runs), .flags = QP_FIELD_NULLABLE},
    {"figures", NULL, "figures that do not pass, the worst first, and counts that vary",
     QP_FIELD_ROWS, .sub = item_fields, .write = write_items},
    {.key = NULL}};
#undef AT

static void write_items(qp_json *json, const void *row)
{
    const qp_comparison *c = ((const gate_row *)row)->c;
    for (size_t i = 0; i < c->gate.n_items; i++) {
        const qp_gate_item *item = &c->gate.items[i];
        const bool varies = qp_gate_is_count(item) && !item->is_exact;
        if (item->verdict == QP_VERDICT_PASS && !varies)
            continue;
        char limit[QP_NUMBER_BYTES];
        const item_row r = {.row = c->diff->rows[item->row],
                            .figure = qp_gate_figure(item),
                            .limit = qp_gate_limit(c, item, limit),
                            .verdict = verdict_words[item->verdict],
                            .base = (uint64_t)llround(item->growth.sides[QP_DIFF_BASE]),
                            .new = (uint64_t)llround(item->growth.sides[QP_DIFF_NEW]),
                            .n_runs = runs_of(item->n_runs),
                            .least = qp_gate_end(item, -1),
                            .most = qp_gate_end(item, 1),
                            .varies = varies};
        qp_row_json(json, NULL, item_fields, item->half < 0 ? 0 : HAS_HALF, &r);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

typedef struct {
    qp_diff_runs runs;
    const char *script, *time, *part;
    const qp_list *files;
} side_row;

static void write_files(qp_json *json, const void *row)
{
    const qp_list *files = ((const side_row *)row)->files;
    for (size_t i = 0; i < files->n; i++)
        qp_json_text(json, NULL, files->items[i]);
}

static void write_labels(qp_json *json, const void *row)
{
    qp_json_parts(json, ((const side_row *)row)->runs.labels);
}

#define AT(member) QP_FIELD_AT(side_row, member)
static const qp_field side_fields[] = {
    {"program", NULL, "name of the program", QP_FIELD_NAME, AT(runs.program)},
    {"script", NULL, "what it executed in the first run; \"\": unknown", QP_FIELD_NAME,
     AT(script)},
    {"labels", NULL, "NAME=VALUE; of several runs NAME=VALUE|VALUE", QP_FIELD_TEXTS,
     .write = write_labels},
    {"time", NULL, "how times were measured", QP_FIELD_WORD, AT(time),
     .words = "exact|adaptive|sampled|none|mixed"},
    {"started_at", NULL, "start of the first run, UTC, with nanoseconds", QP_FIELD_MOMENT,
     AT(runs.started_at)},
    {"files", NULL, "the profiles", QP_FIELD_TEXTS, .write = write_files},
    {"incomplete", NULL,
     "what is missing in the first run that is damaged, was killed, or lost calls; "
     "null: all are whole",
     QP_FIELD_NAME, AT(part), .flags = QP_FIELD_NULLABLE},
    {.key = NULL}};
#undef AT

typedef struct {
    const qp_comparison *c;
    qp_diff diff;
    diff_row whole;
    side_row base, new;
    gate_row gate;
    const char *unit, *clock, *compared;
} document;

static unsigned has_of(const qp_comparison *c)
{
    return (c->diff->kind == QP_DIFF_PATHS ? IS_PATH : 0) |
           (c->diff->has_waits ? HAS_WAITS : 0) | (c->limits.is_set ? HAS_GATE : 0);
}

static void write_rows(qp_json *json, const void *row)
{
    const qp_comparison *c = ((const document *)row)->c;
    for (size_t i = 0; i < limited(c); i++) {
        diff_row r = row_of(c, &c->diff->rows[c->rows[i]]);
        qp_row_json(json, NULL, row_fields, has_of(c), &r);
    }
}

#define AT(member) QP_FIELD_AT(document, member)
static const qp_field state_fields[] = {
    {"alike", NULL, "rows", QP_FIELD_COUNT, AT(diff.n_states[QP_DIFF_ALIKE])},
    {"changed", NULL, "rows", QP_FIELD_COUNT, AT(diff.n_states[QP_DIFF_CHANGED])},
    {"new", NULL, "rows", QP_FIELD_COUNT, AT(diff.n_states[QP_DIFF_ADDED])},
    {"gone", NULL, "rows", QP_FIELD_COUNT, AT(diff.n_states[QP_DIFF_GONE])},
    {.key = NULL}};

const qp_field qp_diff_document[] = {
    {"base", NULL, "runs of the base", QP_FIELD_OBJECT, AT(base), .sub = side_fields},
    {"new", NULL, "runs that are compared with it", QP_FIELD_OBJECT, AT(new),
     .sub = side_fields},
    {"unit", NULL, "unit of every time in this document", QP_FIELD_WORD, AT(unit),
     .words = "ns|counts|faults|switches"},
    {"clock", NULL, "what was measured", QP_FIELD_WORD, AT(clock)},
    {"has_times", NULL, "false: not all runs have times, and only calls are compared",
     QP_FIELD_YES, AT(diff.has_times)},
    {"has_calls", NULL, "false: not all runs counted calls, and only times are compared",
     QP_FIELD_YES, AT(diff.has_calls)},
    {"has_noise", NULL, "false: one run a side with exact times, whose noise is unknown",
     QP_FIELD_YES, AT(diff.has_noise)},
    {"waits_known", NULL,
     "all runs tell run time from waiting: self_run and total_run are there", QP_FIELD_YES,
     AT(diff.has_waits)},
    {"judged_by_run", NULL,
     "states and order follow run times, as at least 1 % of one side's time was waiting",
     QP_FIELD_YES, AT(diff.is_by_run)},
    {"compared", NULL, "kind of the rows", QP_FIELD_WORD, AT(compared),
     .words = "functions|paths|threads"},
    {"whole", NULL, "all functions together", QP_FIELD_OBJECT, AT(whole),
     .sub = figures_fields},
    {"gate", NULL, "what --fail-if-slower and --fail-if-more found", QP_FIELD_OBJECT, AT(gate),
     .sub = gate_fields, .flags = QP_FIELD_OPTIONAL, .needs = HAS_GATE},
    {"states", NULL, "number of rows of each state, listed or not", QP_FIELD_OBJECT,
     .bytes = sizeof(document), .sub = state_fields},
    {"rows", NULL, "differences that fit the filter, in the order of --sort", QP_FIELD_ROWS,
     .sub = row_fields, .write = write_rows},
    {.key = NULL}};
#undef AT

static side_row side_of(const qp_comparison *c, qp_diff_side side, const qp_list *files)
{
    const qp_diff_runs *r = &c->runs[side];
    return (side_row){*r, c->runs[side].script, r->has_modes ? "mixed" : r->time_mode_text,
                      c->runs[side].part, files};
}

void qp_diff_write_json(const qp_comparison *c, qp_out *out)
{
    static const char *const kinds[] = {"functions", "paths", "threads"};
    const document d = {
        .c = c,
        .diff = *c->diff,
        .whole = row_of(c, &c->diff->rows[0]),
        .base = side_of(c, QP_DIFF_BASE, &c->cli->args.diff.base),
        .new = side_of(c, QP_DIFF_NEW, &c->cli->args.diff.new),
        .gate = {c, verdict_words[c->gate.verdict], c->gate.n_items, runs_of(c->gate.n_runs)},
        .unit = c->unit_text,
        .clock = c->clock_text,
        .compared = kinds[c->diff->kind]};
    qp_json json;
    qp_json_init(&json, out);
    qp_row_json(&json, NULL, qp_diff_document, has_of(c), &d);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void qp_diff_write_csv(const qp_comparison *c, qp_out *out)
{
    char path[1024];
    qp_csv csv;
    qp_csv_begin(&csv, out, csv_fields, NULL, has_of(c), c->unit_text);
    for (size_t i = 0; i < limited(c); i++) {
        diff_row row = row_of(c, &c->diff->rows[c->rows[i]]);
        row.path = qp_diff_path(c, &row.row, path, sizeof path);
        qp_csv_row(&csv, &row);
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
