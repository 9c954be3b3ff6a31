/* registry.c: the lists of exporters, and how one of them is found and called. */
#include <string.h>

#include "export/export.h"

/* ---- profiles -------------------------------------------------------------------------------- */

const qp_exporter qp_exporters[] = {
    {"pprof", ".pb.gz", "go tool pprof, Pyroscope, Parca, Perfetto, speedscope",
     "lines of calls, counts of lines, paths deeper than 1,024 frames", qp_export_pprof,
     .is_binary = true},
    {"callgrind", ".callgrind", "KCachegrind, callgrind_annotate, PhpStorm",
     "the tree (callers and callees only), threads side by side, lines of calls, executions of "
     "callees, jumps (but see --callgrind-jumps), that calls were not counted (each caller has "
     "one)",
     qp_export_callgrind, .has_functions = true},
    {"folded", ".folded",
     "collapsed stacks: flamegraph.pl, inferno, speedscope, Perfetto, Firefox",
     "calls and PC samples beside times, files, lines, paths deeper than 1,024 frames",
     qp_export_folded, .has_measure = true, .has_samples = true},
    {"speedscope", ".speedscope.json", "speedscope, a flame graph in the browser",
     "calls and PC samples beside times, lines within functions", qp_export_speedscope,
     .has_measure = true, .has_samples = true},
    {"dot", ".dot", "Graphviz: the call graph of the 20 functions with most time",
     "the other functions, the tree (callers and callees only), threads side by side, lines, "
     "PC samples, names longer than 60 columns",
     qp_export_dot, .has_measure = true, .has_functions = true},
    {"quantify", ".qx",
     "the export file of Quantify: functions and their callers, tab-separated",
     "the tree (callers only), threads side by side, lines, modules, PC samples, that calls "
     "were not counted",
     qp_export_quantify, .has_functions = true},
    {"csv", ".csv", "spreadsheets and databases: a row a call path",
     "figures of lines and blocks, facts about the run", qp_export_csv, .is_by_thread = true},
    {"json", ".json",
     "jq, DuckDB and programs of yours: all of it, see docs/schema/export.json",
     "jumps between blocks", qp_export_json, .is_by_thread = true, .has_functions = true},
    {"cpuprofile", ".cpuprofile",
     "V8's profiles: Chrome's developer tools, VS Code, speedscope",
     "calls and PC samples beside times, threads side by side, lines of a single path, units "
     "other than time (1 is shown as 1 us)",
     qp_export_cpuprofile, .has_measure = true, .has_samples = true},
    {"chrome", ".trace.json", "trace events: Perfetto, Chrome's developer tools, speedscope",
     "lines within functions, units other than time (1 is shown as 1 us)", qp_export_chrome,
     .is_by_thread = true, .has_measure = true, .has_samples = true},
    {"firefox", ".firefox.json", "profiler.firefox.com: a processed profile",
     "calls and PC samples beside times, lines within functions", qp_export_firefox,
     .is_by_thread = true, .has_measure = true, .has_samples = true},
    {"perfetto", ".pftrace", "ui.perfetto.dev, trace_processor: weighted call stacks",
     "lines within functions, paths deeper than 1,024 frames", qp_export_perfetto,
     .is_by_thread = true, .is_binary = true},
    {"sqlite", ".sqlite",
     "a database: tables of functions, paths, threads, blocks; views top, callers, lines, "
     "stacks",
     "jumps between blocks, numbers above 2^63 - 1", qp_export_sqlite, .is_binary = true,
     .is_by_thread = true, .has_functions = true},
    {"html", ".html", "one page for any browser: flame graphs, functions, tree, sources",
     "samples, intervals of call paths, exact figures above 2^53", qp_export_html,
     .is_by_thread = true, .has_functions = true},
    {.name = NULL}};

/* ---- coverage -------------------------------------------------------------------------------- */

const qp_cover_exporter qp_cover_exporters[] = {
    {"lcov", ".info", "lcov and genhtml; Codecov, Coveralls and most editors",
     "blocks, contexts, functions without lines, whether a marked line ran, code of no file",
     qp_cover_lcov, true},
    {"cobertura", ".xml", "Cobertura XML: GitLab, Jenkins, Azure Pipelines, Codecov",
     "blocks, contexts, functions without lines, whether a marked line ran", qp_cover_cobertura,
     true},
    {"gcovr", ".json", "gcovr JSON 0.3 or 0.6: its HTML, CSV, Coveralls and other reports",
     "blocks, contexts, functions without lines, whether a marked line ran", qp_cover_gcovr,
     true},
    {"sonarqube", ".xml", "SonarQube's generic coverage data",
     "counts, functions, blocks, contexts", qp_cover_sonarqube, true},
    {"luacov", ".stats.out", "statistics of luacov: its reports, and adding to its runs",
     "which lines have code, lines after the millionth, branches, functions, blocks, contexts",
     qp_cover_luacov, true},
    {"json", ".json", "all figures, for programs of yours", "", qp_cover_json, false},
    {"purecov", ".pcx", "PureCoverage's export, for scripts that read it", "branches, contexts",
     qp_cover_purecov, false},
    {"html", ".html", "one page for any browser: folders, sources, branches, contexts, search",
     "exact counts above 2^53", qp_cover_html, false},
    {.name = NULL}};

const qp_cover_exporter *qp_cover_exporter_named(const char *name)
{
    const qp_cover_exporter *x = qp_cover_exporters;
    while (x->name && strcmp(x->name, name) != 0)
        x++;
    return x->name ? x : NULL;
}

bool qp_cover_export(const qp_cover_exporter *x, const qp_cover *c, qp_out *out,
                     const qp_cover_export_options *o, qp_error *error)
{
    static const qp_cover_export_options defaults = {0};
    error->text[0] = '\0';
    if (x->needs_lines && c->totals.lines == 0 && c->grain == QP_GRAIN_FUNCTION) {
        return qp_error_fail(error,
                             "%s is about lines, and these were not recorded: "
                             "-collection-granularity=function",
                             x->name);
    }
    return x->write(c, out, o ? o : &defaults, error);
}

/* ---- traces ---------------------------------------------------------------------------------- */

const qp_trace_exporter qp_trace_exporters[] = {{"chrome", qp_trace_export_chrome, false},
                                                {"perfetto", qp_trace_export_perfetto, true},
                                                {"firefox", qp_trace_export_firefox, false}};

bool qp_trace_export_write(const qp_trace_exporter *x, qp_trace_export *trace, qp_out *out)
{
    const qp_steps from = qp_steps_of_trace(trace);
    return x->write(&from, out);
}
