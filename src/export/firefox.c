/* firefox.c: see firefox.h. */
#include "export/firefox.h"

#include <inttypes.h>

#include "base/buf.h"

enum { PROCESSED_VERSION = 47, GECKO_VERSION = 28, CATEGORY = 0 };

/* ---- columns --------------------------------------------------------------------------------- */

static void write_same(qp_json *json, const char *key, size_t n, int64_t value)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_change(json, NULL, value);
    qp_json_end(json, ']');
}

static void write_nulls(qp_json *json, const char *key, size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_null(json, NULL);
    qp_json_end(json, ']');
}

static void write_flags(qp_json *json, const char *key, size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_bool(json, NULL, false);
    qp_json_end(json, ']');
}

void qp_firefox_series(qp_json *json, const char *key, size_t n, size_t first, size_t step)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_count(json, NULL, first + step * i);
    qp_json_end(json, ']');
}

static void write_lines(qp_json *json, const char *key, const qp_firefox_tables *t)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < t->n_functions; i++) {
        uint32_t line = t->function(t->of, i).line;
        if (line)
            qp_json_count(json, NULL, line);
        else
            qp_json_null(json, NULL);
    }
    qp_json_end(json, ']');
}

static void write_empty(qp_json *json, const char *table, const char *const *columns, size_t n)
{
    qp_json_begin(json, table, '{');
    for (size_t i = 0; i < n; i++)
        write_same(json, columns[i], 0, 0);
    qp_json_count(json, "length", 0);
    qp_json_end(json, '}');
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void write_strings(qp_json *json, const qp_firefox_tables *t)
{
    qp_json_begin(json, "stringArray", '[');
    for (size_t i = 0; i < t->n_functions; i++) {
        qp_json_text(json, NULL, t->function(t->of, i).name);
        qp_json_text(json, NULL, t->function(t->of, i).file);
    }
    qp_json_end(json, ']');
}

static void write_functions(qp_json *json, const qp_firefox_tables *t)
{
    size_t n = t->n_functions;
    qp_json_begin(json, "funcTable", '{');
    qp_firefox_series(json, "name", n, 0, 2);
    write_flags(json, "isJS", n);
    write_flags(json, "relevantForJS", n);
    write_same(json, "resource", n, -1);
    qp_firefox_series(json, "fileName", n, 1, 2);
    write_lines(json, "lineNumber", t);
    write_nulls(json, "columnNumber", n);
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

static void write_frames(qp_json *json, const qp_firefox_tables *t)
{
    size_t n = t->n_functions;
    qp_json_begin(json, "frameTable", '{');
    write_same(json, "address", n, -1);
    write_same(json, "inlineDepth", n, 0);
    write_same(json, "category", n, CATEGORY);
    write_same(json, "subcategory", n, 0);
    qp_firefox_series(json, "func", n, 0, 1);
    write_nulls(json, "nativeSymbol", n);
    write_same(json, "innerWindowID", n, 0);
    write_nulls(json, "implementation", n);
    write_lines(json, "line", t);
    write_nulls(json, "column", n);
    write_nulls(json, "optimizations", n);
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

static void write_stacks(qp_json *json, const qp_firefox_tables *t)
{
    size_t n = t->n_stacks;
    qp_json_begin(json, "stackTable", '{');
    qp_json_begin(json, "frame", '[');
    for (size_t i = 0; i < n; i++)
        qp_json_count(json, NULL, t->stack(t->of, i).function);
    qp_json_end(json, ']');
    qp_json_begin(json, "prefix", '[');
    for (size_t i = 0; i < n; i++) {
        uint32_t caller = t->stack(t->of, i).caller;
        if (caller)
            qp_json_count(json, NULL, caller - 1);
        else
            qp_json_null(json, NULL);
    }
    qp_json_end(json, ']');
    write_same(json, "category", n, CATEGORY);
    write_same(json, "subcategory", n, 0);
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

/* ---- what an exporter calls ------------------------------------------------------------------ */

void qp_firefox_meta(qp_json *json, const char *program, uint64_t started_at)
{
    qp_json_begin(json, "meta", '{');
    qp_json_decimal(json, "interval", 1, 3); /* how long the last sample is drawn, ms */
    qp_json_decimal(json, "startTime", started_at, 6);
    qp_json_count(json, "processType", 0);
    qp_json_text(json, "product", program);
    qp_json_text(json, "importedFrom", "qprof " QPROF_VERSION_TEXT);
    qp_json_count(json, "stackwalk", 1);
    qp_json_count(json, "version", GECKO_VERSION);
    qp_json_count(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    qp_json_bool(json, "symbolicated", true);
    qp_json_begin(json, "categories", '[');
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "name", "Function");
    qp_json_text(json, "color", "blue");
    qp_json_begin(json, "subcategories", '[');
    qp_json_text(json, NULL, "Other");
    qp_json_end(json, ']');
    qp_json_end(json, '}');
    qp_json_end(json, ']');
    write_same(json, "markerSchema", 0, 0);
    qp_json_end(json, '}');
    write_same(json, "libs", 0, 0);
    write_same(json, "pages", 0, 0);
}

void qp_firefox_thread(qp_json *json, uint64_t pid, uint32_t ordinal, const char *name,
                       bool is_main)
{
    char process[24], tid[48];
    qp_text_format(process, sizeof process, "%" PRIu64, pid);
    qp_text_format(tid, sizeof tid, "%s.%" PRIu32, process, ordinal);
    qp_json_text(json, "processType", "default");
    qp_json_count(json, "processStartupTime", 0);
    qp_json_null(json, "processShutdownTime");
    qp_json_count(json, "registerTime", 0);
    qp_json_null(json, "unregisterTime");
    write_same(json, "pausedRanges", 0, 0);
    qp_json_text(json, "name", name);
    qp_json_bool(json, "isMainThread", is_main);
    qp_json_text(json, "pid", process);
    qp_json_text(json, "tid", tid);
}

void qp_firefox_write(qp_json *json, const qp_firefox_tables *t)
{
    static const char *const markers[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    static const char *const resources[] = {"lib", "name", "host", "type"};
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"};
    write_empty(json, "markers", markers, sizeof markers / sizeof *markers);
    write_stacks(json, t);
    write_frames(json, t);
    write_functions(json, t);
    write_strings(json, t);
    write_empty(json, "resourceTable", resources, sizeof resources / sizeof *resources);
    write_empty(json, "nativeSymbols", symbols, sizeof symbols / sizeof *symbols);
}
