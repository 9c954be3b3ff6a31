/* json.c: everything, as docs/schema/cover.json describes it. */
#include "base/text/field.h"
#include "export/shared/coverage.h"

#define AT(member) QP_FIELD_AT(qp_cover_totals, member)
static const qp_field totals_fields[] = {
    {"functions", NULL, "known ones", QP_FIELD_COUNT, AT(functions)},
    {"functions_hit", NULL, "hit ones", QP_FIELD_COUNT, AT(functions_hit)},
    {"lines", NULL, "with code", QP_FIELD_COUNT, AT(lines)},
    {"lines_hit", NULL, "hit ones, also partially", QP_FIELD_COUNT, AT(lines_hit)},
    {"lines_partial", NULL, "partially hit ones", QP_FIELD_COUNT, AT(lines_partial)},
    {"blocks", NULL, "basic blocks", QP_FIELD_COUNT, AT(blocks)},
    {"blocks_hit", NULL, "executed ones, and those of lines marked tested or inspected",
     QP_FIELD_COUNT, AT(blocks_hit)},
    {"branches", NULL, "ways of conditional jumps", QP_FIELD_COUNT, AT(branches)},
    {"branches_hit", NULL, "ways that were taken", QP_FIELD_COUNT, AT(branches_hit)},
    {"calls", NULL, "recorded calls", QP_FIELD_COUNT, AT(calls)},
    {"skips", NULL, "calls while recording was off", QP_FIELD_COUNT, AT(skips)},
    {.key = NULL}};
#undef AT

#define TOTALS(type)                                                                           \
    {                                                                                          \
        "totals", NULL, "sums without what is marked deadcode", QP_FIELD_OBJECT,               \
            QP_FIELD_AT(type, totals), .sub = totals_fields                                    \
    }

/* ---- a file ---------------------------------------------------------------------------------- */

#define AT(member) QP_FIELD_AT(qp_cover_line, member)
static const qp_field line_fields[] = {
    {"line", NULL, "number, from 1", QP_FIELD_COUNT, AT(line), .least = 1},
    {"hits", NULL, "executions of its most executed block, whatever its mark", QP_FIELD_COUNT,
     AT(count)},
    {"sum", NULL, "executions of all its blocks", QP_FIELD_COUNT, AT(sum)},
    {"hit", NULL, "it counts as hit: executed, or marked tested or inspected", QP_FIELD_YES,
     AT(is_hit)},
    {"partial", NULL, "only some of its blocks were executed", QP_FIELD_YES, AT(is_partial)},
    {"mark", NULL, "annotation; a line with deadcode is in no total", QP_FIELD_CHOICE,
     AT(annotation), .flags = QP_FIELD_NULLABLE, .words = "|deadcode|tested|inspected"},
    {"blocks", NULL, "blocks that begin on it", QP_FIELD_COUNT, AT(n_blocks)},
    {"blocks_hit", NULL, "executed ones; all of a line marked tested or inspected",
     QP_FIELD_COUNT, AT(n_blocks_hit)},
    {"branches", NULL, "ways of its conditional jumps", QP_FIELD_COUNT, AT(n_branches)},
    {"branches_hit", NULL, "ways that were taken", QP_FIELD_COUNT, AT(n_branches_hit)},
    {.key = NULL}};
#undef AT

static void write_lines(qp_json *json, const void *row)
{
    const qp_cover_file *f = row;
    for (uint32_t i = 0; i < f->n_lines; i++) {
        qp_cover_line l = f->lines[i];
        if (l.annotation == QP_ANNOTATION_TESTED || l.annotation == QP_ANNOTATION_INSPECTED)
            l.n_blocks_hit = l.n_blocks;
        qp_row_json(json, NULL, line_fields, QP_FIELDS_ALL, &l);
    }
}

#define AT(member) QP_FIELD_AT(qp_cover_function, member)
static const qp_field function_fields[] = {
    {"name", NULL, "display name", QP_FIELD_NAME, AT(name)},
    {"module", NULL, "module, \"\" without one", QP_FIELD_NAME, AT(module)},
    {"line", NULL, "first line of its line table; 0: none", QP_FIELD_COUNT, AT(first_line)},
    {"last_line", NULL, "last line of its line table; 0: none", QP_FIELD_COUNT, AT(last_line)},
    {"hits", NULL, "recorded calls", QP_FIELD_COUNT, AT(calls)},
    {"hit", NULL, "it counts as hit", QP_FIELD_YES, AT(is_hit)},
    {"dead", NULL, "all its lines are marked deadcode: it is in no total", QP_FIELD_YES,
     AT(is_dead)},
    TOTALS(qp_cover_function),
    {.key = NULL}};
#undef AT

#define AT(member) QP_FIELD_AT(qp_cover_block, member)
static const qp_field block_fields[] = {
    {"line", NULL, "number, from 1", QP_FIELD_COUNT, AT(line), .least = 1},
    {"function", NULL, "index into functions", QP_FIELD_COUNT, AT(function)},
    {"hits", NULL, "executions", QP_FIELD_COUNT, AT(count)},
    {.key = NULL}};
#undef AT

#define AT(member) QP_FIELD_AT(qp_cover_branch, member)
static const qp_field branch_fields[] = {
    {"line", NULL, "number, from 1", QP_FIELD_COUNT, AT(line), .least = 1},
    {"block", NULL, "number of the jump on its line, from 0", QP_FIELD_COUNT, AT(block)},
    {"branch", NULL,
     "way of that jump, from 0; the last is the one without a jump, if it has one",
     QP_FIELD_COUNT, AT(way)},
    {"to_line", NULL, "line that it leads to; 0: not known", QP_FIELD_COUNT, AT(to_line)},
    {"function", NULL, "index into functions", QP_FIELD_COUNT, AT(function)},
    {"hits", NULL, "times it was taken", QP_FIELD_COUNT, AT(count)},
    {"reached", NULL, "the jump was executed at all", QP_FIELD_YES, AT(is_reached)},
    {.key = NULL}};
#undef AT

#define AT(member) QP_FIELD_AT(qp_cover_touch, member)
static const qp_field touch_fields[] = {
    {"line", NULL, "number, from 1", QP_FIELD_COUNT, AT(line), .least = 1},
    {"context", NULL, "index into contexts of the document", QP_FIELD_COUNT, AT(context)},
    {"hits", NULL, "executions of the line in that context", QP_FIELD_COUNT, AT(count)},
    {.key = NULL}};
#undef AT

static void write_touches(qp_json *json, const void *row)
{
    const qp_cover_file *f = row;
    for (size_t i = 0; i < f->n_touches; i++) {
        qp_cover_touch t = f->touches[i];
        t.line = f->lines[t.line].line;
        qp_row_json(json, NULL, touch_fields, QP_FIELDS_ALL, &t);
    }
}

#define AT(member)    QP_FIELD_AT(qp_cover_file, member)
#define ITEMS(member) QP_FIELD_ITEMS(qp_cover_file, member, n_##member)
static const qp_field file_fields[] = {
    {"path", NULL, "path as shown: relative to the root if it lies below it", QP_FIELD_NAME,
     AT(path)},
    {"file", NULL, "path as the host registered it", QP_FIELD_NAME, AT(file)},
    TOTALS(qp_cover_file),
    {"lines", NULL, "lines with code, ascending", QP_FIELD_ROWS, .sub = line_fields,
     .write = write_lines},
    {"functions", NULL, "functions by first line, then name", QP_FIELD_ROWS, ITEMS(functions),
     .sub = function_fields},
    {"blocks", NULL, "basic blocks by line", QP_FIELD_ROWS, ITEMS(blocks), .sub = block_fields},
    {"branches", NULL, "ways of conditional jumps by line", QP_FIELD_ROWS, ITEMS(branches),
     .sub = branch_fields},
    {"contexts", NULL, "contexts that hit a line, by line, then context", QP_FIELD_ROWS,
     .sub = touch_fields, .write = write_touches},
    {.key = NULL}};
#undef AT
#undef ITEMS

/* ---- the whole ------------------------------------------------------------------------------- */

static void write_labels(qp_json *json, const void *row)
{
    qp_json_parts(json, ((const qp_cover_run *)row)->labels);
}

#define AT(member) QP_FIELD_AT(qp_cover_run, member)
static const qp_field run_fields[] = {
    {"file", NULL, "profile", QP_FIELD_NAME, AT(what)},
    {"program", NULL, "name of the program", QP_FIELD_NAME, AT(program)},
    {"label", NULL, "label of the run, \"\" without one", QP_FIELD_NAME, AT(label)},
    {"script", NULL, "what the program executed; \"\": unknown", QP_FIELD_NAME, AT(script)},
    {"labels", NULL, "labels of the run, NAME=VALUE", QP_FIELD_TEXTS, .write = write_labels},
    {"pid", NULL, "process id", QP_FIELD_COUNT, AT(pid)},
    {"started_at", NULL, "UTC, with nanoseconds", QP_FIELD_MOMENT, AT(started_at)},
    {.key = NULL}};
#undef AT

static const qp_field dir_fields[] = {
    {"path", NULL, "path, \"\" of the root", QP_FIELD_NAME, QP_FIELD_AT(qp_cover_dir, path)},
    {"files", NULL, "files below it", QP_FIELD_COUNT, QP_FIELD_AT(qp_cover_dir, totals.files)},
    TOTALS(qp_cover_dir),
    {.key = NULL}};

#define AT(member)    QP_FIELD_AT(qp_cover, member)
#define ITEMS(member) QP_FIELD_ITEMS(qp_cover, member, n_##member)
const qp_field qp_cover_document[] = {
    {"runs", NULL, "runs that were added up", QP_FIELD_ROWS, ITEMS(runs), .sub = run_fields},
    {"granularity", NULL, "the coarsest of the runs", QP_FIELD_CHOICE, AT(grain),
     .words = "function|basic-block|line"},
    {"once", NULL, "some run tells whether code was executed, not how often: counts are 0 or 1",
     QP_FIELD_YES, AT(is_once)},
    {"complete", NULL, "every run also registered what was loaded and never called",
     QP_FIELD_YES, AT(is_coverage)},
    {"contexts", NULL, "names; \"\": no context", QP_FIELD_TEXTS, ITEMS(contexts)},
    {"warnings", NULL, "what was left out, and why, one line each", QP_FIELD_TEXTS,
     ITEMS(warnings)},
    TOTALS(qp_cover),
    {"dirs", NULL, "folders, parents before children", QP_FIELD_ROWS, ITEMS(dirs),
     .sub = dir_fields},
    {"files", NULL, "files by path", QP_FIELD_ROWS, ITEMS(files), .sub = file_fields},
    {.key = NULL}};
#undef AT
#undef ITEMS

bool qp_cover_json(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                   qp_error *error)
{
    (void)o;
    (void)error;
    qp_document_json(out, qp_cover_document, c);
    return true;
}
