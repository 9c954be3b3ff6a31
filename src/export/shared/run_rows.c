/* run_rows.c: what is written of a run, a thread, a method, whatever the form. */
#include "export/shared/run_rows.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the run --------------------------------------------------------------------------------- */

static void write_notes(qp_json *json, const void *row)
{
    const qp_run_row *r = row;
    for (size_t i = 0; i < r->run.n_notes; i++)
        qp_json_text(json, NULL, r->run.notes[i].text);
}

static void write_labels(qp_json *json, const void *row)
{
    qp_json_parts(json, ((const qp_run_row *)row)->run.labels);
}

#define AT(member) QP_FIELD_AT(qp_run_row, member)
const qp_field qp_run_fields[] = {
    {"program", NULL, "name of the program", QP_FIELD_NAME, AT(run.program)},
    {"script", NULL, "what the program executed, as it was given; \"\": unknown", QP_FIELD_NAME,
     AT(run.script)},
    {"arguments", NULL,
     "arguments of the script, or of the program, as words of a shell; null: none, not "
     "recorded, or left out",
     QP_FIELD_NAME, AT(run.arguments), .flags = QP_FIELD_NULLABLE},
    {"working_directory", NULL, "at the start; \"\": unknown", QP_FIELD_NAME, AT(run.folder)},
    {"interpreter", NULL, "name and version of the interpreter; \"\": unknown", QP_FIELD_NAME,
     AT(run.host_version)},
    {"labels", NULL, "NAME=VALUE; of several runs NAME=VALUE|VALUE", QP_FIELD_TEXTS,
     .write = write_labels},
    {"host", NULL, "name of the machine", QP_FIELD_NAME, AT(run.host)},
    {"module", NULL, "module of methods that name none", QP_FIELD_NAME, AT(run.module)},
    {"label", NULL, "label of the phase, \"\" without one", QP_FIELD_NAME, AT(run.label)},
    {"options", NULL, "options in force that were set", QP_FIELD_NAME, AT(run.options)},
    {"trace_file", NULL, "file in which its trace began, \"\" without one", QP_FIELD_NAME,
     AT(run.trace_file)},
    {"recorder", NULL, "version of libqprof", QP_FIELD_NAME, AT(run.version)},
    {"pid", NULL, "process id", QP_FIELD_COUNT, AT(run.pid)},
    {"dataset", NULL, "number of the dataset, from 0", QP_FIELD_COUNT, AT(run.dataset)},
    {"state", NULL,
     "sealed: ended well; snapshot: saved while running; live: running; unsealed: killed",
     QP_FIELD_WORD, AT(run.state_text), .words = "sealed|snapshot|live|unsealed"},
    {"started_at", NULL, "UTC, with nanoseconds", QP_FIELD_MOMENT, AT(run.started_at)},
    {"ended_at", NULL, "UTC, with nanoseconds; null while unknown", QP_FIELD_MOMENT,
     AT(run.ended_at)},
    {"unit", NULL,
     "unit of every time in this document: ns, counts, faults, switches, misses, bytes, "
     "objects, or that of "
     "--metric",
     QP_FIELD_NAME, AT(run.unit)},
    {"time", NULL, "how times were measured", QP_FIELD_WORD, AT(run.time_mode_text),
     .words = "exact|adaptive|sampled|none"},
    {"clock", NULL, "what was measured; with --metric its name", QP_FIELD_NAME,
     AT(run.clock_text)},
    {"clock_source", NULL, "source of the ticks", QP_FIELD_WORD, AT(run.source_text)},
    {"clock_reads", NULL, "reads of the processor's counter and the loads before them",
     QP_FIELD_WORD, AT(run.reads_text), .words = "overlap|wait|not-measured"},
    {"granularity", NULL, "finest detail", QP_FIELD_WORD, AT(run.grain_text),
     .words = "function|basic-block|line"},
    {"estimated", NULL, "times are estimates; *_half is half of their 95 % interval",
     QP_FIELD_YES, AT(run.is_estimated)},
    {"has_times", NULL, "false: counts only", QP_FIELD_YES, AT(run.has_times)},
    {"has_calls", NULL, "false: calls were not counted; calls, hits and skips are 0",
     QP_FIELD_YES, AT(run.has_calls)},
    {"has_paths", NULL,
     "false: call paths are estimated from callers and callees, or were not recorded",
     QP_FIELD_YES, AT(run.has_paths)},
    {"virtual_threads", NULL, "threads are virtual threads", QP_FIELD_YES, AT(run.is_virtual)},
    {"recording", NULL, "recording was on at the end", QP_FIELD_YES, AT(run.is_recording)},
    {"duration", NULL, "from start to end, in the run's unit", QP_FIELD_TIME, AT(duration)},
    {"stopped", NULL, "part of the duration in which recording was stopped", QP_FIELD_TIME,
     AT(stopped)},
    {"calls", NULL, "calls of all methods", QP_FIELD_COUNT, AT(run.calls)},
    {"calls_lost", NULL,
     "further calls that no method counts: no memory for their paths, or stacks too deep",
     QP_FIELD_COUNT, AT(run.calls_lost)},
    {"total", NULL, "time charged to methods, all threads, in the run's unit", QP_FIELD_TIME,
     AT(total)},
    {"waits_known", NULL, "*_run and *_off tell time on the processor from time off it",
     QP_FIELD_YES, AT(run.has_waits)},
    {"off", NULL, "part of total off the processor", QP_FIELD_TIME, AT(off)},
    {"collector", NULL, "part of total in the garbage collector", QP_FIELD_TIME, AT(collector)},
    {"collector_total", NULL, "the same with the finalizers that it called", QP_FIELD_TIME,
     AT(collector_total)},
    {"collector_half", NULL, "half of the 95 % interval of collector; 0: exact", QP_FIELD_TIME,
     AT(collector_half)},
    {"collector_in_callers", NULL,
     "the collector is no method; its time is that of the methods in which it began",
     QP_FIELD_YES, AT(run.is_collector_charged)},
    {"focus", NULL, "the method to whose calls the figures are limited; null: all calls",
     QP_FIELD_NAME, AT(run.focus), .flags = QP_FIELD_NULLABLE},
    {"when", NULL, "call pattern of --when", QP_FIELD_NAME, AT(run.when),
     .flags = QP_FIELD_NULLABLE},
    {"hidden", NULL, "methods that were called and are collapsed into their callers",
     QP_FIELD_COUNT, AT(run.n_hidden)},
    {"overhead", NULL, "estimated cost of recording, in the run's unit; times contain it",
     QP_FIELD_TIME, AT(overhead)},
    {"overhead_skipped", NULL,
     "estimated cost of skipped calls, in the run's unit; times do not contain it",
     QP_FIELD_TIME, AT(overhead_skipped)},
    {"sample_period_ns", NULL, "requested period of the sampler; 0: no sampler", QP_FIELD_COUNT,
     AT(run.sample_period_ns)},
    {"sample_period_reached_ns", NULL, "average period of the sampler; 0: unknown",
     QP_FIELD_COUNT, AT(run.sample_period_reached_ns)},
    {"samples", NULL, "passes of the sampler", QP_FIELD_COUNT, AT(run.n_passes)},
    {"pc_period_ns", NULL, "requested time between PC samples; 0: no PC command",
     QP_FIELD_COUNT, AT(run.pc_period_ns)},
    {"pc_clock", NULL, "clock of that period: elapsed, or user+kernel", QP_FIELD_WORD,
     AT(pc_clock), .flags = QP_FIELD_NULLABLE},
    {"memory_limit_bytes", NULL, "memory limit of the recorder", QP_FIELD_COUNT,
     AT(run.memory_limit_bytes)},
    {"file_bytes", NULL, "size of the profile", QP_FIELD_COUNT, AT(run.file_bytes)},
    {"notes", NULL, "annotations and messages, oldest first", QP_FIELD_TEXTS,
     .write = write_notes},
    {.key = NULL}};
#undef AT

qp_run_row qp_run_row_of(const qp_model *m)
{
    const qp_run_info *run = &m->run;
    return (qp_run_row){.run = *run,
                        .duration = qp_model_ns(m, run->wall),
                        .stopped = qp_model_ns(m, run->stopped),
                        .total = qp_model_ns(m, run->total),
                        .off = qp_model_ns(m, run->off),
                        .collector = qp_model_ns(m, run->collector),
                        .collector_total = qp_model_ns(m, run->collector_total),
                        .collector_half = qp_model_ns(m, run->collector_half),
                        .overhead = qp_model_ns(m, run->cost_total),
                        .overhead_skipped = qp_model_ns(m, run->cost_skipped),
                        .pc_clock = !run->pc_period_ns ? NULL
                                    : run->is_pc_real  ? "elapsed"
                                                       : "user+kernel"};
}

static void write_run(qp_json *json, const void *row)
{
    const qp_run_row run = qp_run_row_of(((const qp_document *)row)->m);
    qp_fields_json(json, qp_run_fields, QP_FIELDS_ALL, &run);
}

static void write_diagnostics(qp_json *json, const void *row)
{
    const qp_run_info *run = &((const qp_document *)row)->m->run;
    for (size_t i = 0; i < run->n_diagnostics; i++)
        qp_json_count(json, run->diagnostics[i].name, run->diagnostics[i].count);
}

static void write_losses(qp_json *json, const void *row)
{
    const qp_model *m = ((const qp_document *)row)->m;
    for (size_t i = 0; i < m->n_losses; i++)
        qp_json_text(json, NULL, m->losses[i]);
}

const qp_field qp_run_part[] = {
    {"run", NULL, "the run", QP_FIELD_OBJECT, .sub = qp_run_fields, .write = write_run},
    {"diagnostics", NULL, "counters that are not 0, by name", QP_FIELD_COUNTS,
     .write = write_diagnostics},
    {"losses", NULL, "unreadable parts of a damaged file; empty: all was read", QP_FIELD_TEXTS,
     .write = write_losses},
    {.key = NULL}};

/* ---- threads --------------------------------------------------------------------------------- */

#define AT(member) QP_FIELD_AT(qp_thread_row, member)
const qp_field qp_thread_fields[] = {
    {"number", "Thread", "number, from 1", QP_FIELD_COUNT, AT(thread.ordinal)},
    {"name", "Name", "name as set, or made up", QP_FIELD_NAME, AT(thread.name)},
    {"id", NULL, "the host's id, hexadecimal", QP_FIELD_WORD, AT(id_text),
     .words = "^0x[0-9a-f]+$"},
    {"system_id", NULL, "id of the OS thread", QP_FIELD_COUNT, AT(thread.system_id)},
    {"alive", NULL, "alive at the end of the run", QP_FIELD_YES, AT(thread.is_alive)},
    {"suspended", NULL, "a virtual thread that no OS thread runs", QP_FIELD_YES,
     AT(thread.is_suspended)},
    {"open_frames", "Open", "frames open at the end", QP_FIELD_COUNT, AT(thread.depth),
     .rank = 2},
    {"calls", "Calls", "calls of all its methods", QP_FIELD_COUNT, AT(thread.calls)},
    {"total", "Time", "time charged to its methods, in the run's unit", QP_FIELD_TIME,
     AT(total)},
    {"percent", "Time %", NULL, QP_FIELD_PERCENT, AT(percent), .flags = QP_FIELD_NO_JSON},
    {"state", "State", NULL, QP_FIELD_WORD, AT(state), .flags = QP_FIELD_NO_JSON, .rank = 1},
    {.key = NULL}};
#undef AT

void qp_thread_row_fill(qp_thread_row *row, const qp_model *m, uint32_t thread)
{
    const qp_model_thread *th = &m->threads[thread];
    *row = (qp_thread_row){.thread = *th,
                           .id_text = row->id,
                           .state = !th->is_alive      ? "ended"
                                    : th->is_suspended ? "suspended"
                                                       : "alive",
                           .total = qp_model_ns(m, th->total)};
    snprintf(row->id, sizeof row->id, "0x%" PRIx64, th->host_id);
    if (m->run.total)
        row->percent = (double)th->total * 100.0 / (double)m->run.total;
}

static void write_threads(qp_json *json, const void *row)
{
    const qp_document *d = row;
    qp_thread_row thread;
    for (uint32_t i = 1; i < d->m->n_threads; i++) {
        if (d->thread != QP_ALL_THREADS && d->thread != i)
            continue;
        qp_thread_row_fill(&thread, d->m, i);
        qp_row_json(json, NULL, qp_thread_fields, QP_FIELDS_ALL, &thread);
    }
}

const qp_field qp_threads_part[] = {{"threads", NULL, "threads by number", QP_FIELD_ROWS,
                                     .sub = qp_thread_fields, .write = write_threads},
                                    {.key = NULL}};

/* ---- figures and methods --------------------------------------------------------------------- */

unsigned qp_run_has(const qp_run_info *run)
{
    bool has_halves = run->has_times && run->is_estimated;
    bool has_extremes = run->has_times && run->has_min_max && !run->is_estimated;
    return (run->has_calls ? QP_HAS_CALLS : 0) | (run->has_times ? QP_HAS_TIMES : 0) |
           (has_halves ? QP_HAS_HALVES : 0) | (has_extremes ? QP_HAS_EXTREMES : 0) |
           (run->has_memory ? QP_HAS_MEMORY : 0) |
           (run->has_instructions ? QP_HAS_INSTRUCTIONS : 0) |
           (run->has_waits && qp_waits_are_shown(run->off, run->total) ? QP_HAS_WAITS : 0);
}

unsigned qp_run_has_any(const qp_run_info *run)
{
    return QP_FIELDS_ALL & ~(run->has_memory ? 0u : (unsigned)QP_HAS_MEMORY) &
           ~(run->has_instructions ? 0u : (unsigned)QP_HAS_INSTRUCTIONS) &
           ~(run->has_waits ? 0u : (unsigned)QP_HAS_WAITS);
}

/* A figure of a qp_figures, where memory was recorded. */
#define MEMORY(key, title, help, member, kind, place)                                          \
    {                                                                                          \
        key, title, help, kind, QP_FIELD_AT(qp_figures, member),                               \
            .flags = QP_FIELD_OPTIONAL, .rank = (place), .needs = QP_HAS_MEMORY                \
    }
const qp_field qp_memory_fields[] = {
    MEMORY("bytes", "Bytes", "bytes allocated by the method itself", memory.bytes,
           QP_FIELD_COUNT, 1),
    MEMORY("bytes_total", "Bytes total", "bytes including the methods it called",
           memory_total.bytes, QP_FIELD_COUNT, 2),
    MEMORY("objects", "Objects", "blocks of memory allocated by the method itself",
           memory.objects, QP_FIELD_COUNT, 3),
    MEMORY("objects_total", "Objects total", "blocks including the methods it called",
           memory_total.objects, QP_FIELD_COUNT, 4),
    MEMORY("freed_bytes", "Freed", "bytes freed while it was on top of the stack",
           memory.freed_bytes, QP_FIELD_COUNT, 5),
    MEMORY("freed_bytes_total", "Freed total", "bytes including the methods it called",
           memory_total.freed_bytes, QP_FIELD_COUNT, 6),
    MEMORY("freed_objects", "Freed objects", "blocks freed while it was on top of the stack",
           memory.freed_objects, QP_FIELD_COUNT, 5),
    MEMORY("freed_objects_total", "Freed objects total",
           "blocks including the methods it called", memory_total.freed_objects, QP_FIELD_COUNT,
           6),
    {.key = NULL}};
#undef MEMORY

#define AT(member)   QP_FIELD_AT(qp_figures_row, member)
#define HALF(member) QP_FIELD_HALF(qp_figures_row, member)
const qp_field qp_figures_fields[] = {
    {"calls", "Calls", "hits + skips", QP_FIELD_COUNT, AT(f.calls), .needs = QP_HAS_CALLS},
    {"hits", "Hits", "calls that were recorded", QP_FIELD_COUNT, AT(f.hits)},
    {"skips", "Skips", "calls while recording was off", QP_FIELD_COUNT, AT(f.skips)},
    {"resumes", "Resumes", "how often a suspended call was continued; no part of calls",
     QP_FIELD_COUNT, AT(f.resumes)},
    {"self", "Self", "time in the method itself, in the run's unit", QP_FIELD_TIME, AT(f.self),
     HALF(f.self_half), .needs = QP_HAS_TIMES},
    {"total", "Total", "time including the methods it called, recursion counted once",
     QP_FIELD_TIME, AT(f.total), HALF(f.total_half), .rank = 1, .needs = QP_HAS_TIMES},
    {"self_run", "Run", "part of self on the processor", QP_FIELD_TIME, AT(self_run),
     HALF(f.self_half), .rank = 3, .flags = QP_FIELD_OPTIONAL,
     .needs = QP_HAS_TIMES | QP_HAS_WAITS},
    {"self_off", "Wait", "part of self off the processor: waiting, or while others ran",
     QP_FIELD_TIME, AT(f.off), HALF(f.self_half), .rank = 1, .flags = QP_FIELD_OPTIONAL,
     .needs = QP_HAS_TIMES | QP_HAS_WAITS},
    {"total_run", "Total run", "part of total on the processor", QP_FIELD_TIME, AT(total_run),
     HALF(f.total_half), .rank = 3, .flags = QP_FIELD_OPTIONAL,
     .needs = QP_HAS_TIMES | QP_HAS_WAITS},
    {"total_off", "Total wait", "part of total off the processor", QP_FIELD_TIME,
     AT(f.off_total), HALF(f.total_half), .rank = 3, .flags = QP_FIELD_OPTIONAL,
     .needs = QP_HAS_TIMES | QP_HAS_WAITS},
    {"average", "Avg", "average self time of one call", QP_FIELD_SPAN, AT(average),
     HALF(average_half), .rank = 4, .needs = QP_HAS_TIMES | QP_HAS_CALLS},
    {"min", "Min", "self time of the shortest complete call; null: none", QP_FIELD_SPAN,
     AT(f.min), .flags = QP_FIELD_NULLABLE, .rank = 6, .needs = QP_HAS_EXTREMES},
    {"max", "Max", "self time of the longest complete call; null: none", QP_FIELD_SPAN,
     AT(f.max), .flags = QP_FIELD_NULLABLE, .rank = 5, .needs = QP_HAS_EXTREMES},
    {"self_half", "±", "half of the 95 % interval of self; 0: exact", QP_FIELD_TIME,
     AT(f.self_half), HALF(f.self_half), .rank = 3, .needs = QP_HAS_HALVES},
    {"total_half", "±", "half of the 95 % interval of total; 0: exact", QP_FIELD_TIME,
     AT(f.total_half), HALF(f.total_half), .rank = 4, .needs = QP_HAS_HALVES},
    {"counts", NULL, "units of qprof_record_counts in the method itself", QP_FIELD_COUNT,
     AT(f.counts)},
    {"counts_total", NULL, "units including the methods it called", QP_FIELD_COUNT,
     AT(f.counts_total)},
    {"samples", NULL, "samples that found it on top of the stack", QP_FIELD_COUNT,
     AT(f.samples)},
    {"samples_total", NULL, "samples that found it on the stack", QP_FIELD_COUNT,
     AT(f.samples_total)},
    {"pc_samples", NULL, "PC samples that found it on top of the stack", QP_FIELD_COUNT,
     AT(f.pc_samples)},
    {"pc_samples_total", NULL, "PC samples that found it on the stack", QP_FIELD_COUNT,
     AT(f.pc_samples_total)},
    {"", NULL, NULL, QP_FIELD_PART, AT(f), .sub = qp_memory_fields},
    {.key = NULL}};
#undef AT
#undef HALF

static qp_figures_row figures_row(const qp_model *m, const qp_figures *f)
{
    qp_figures_row row = {.f = *f,
                          .average = qp_model_ns(m, qp_figures_average(f)),
                          .average_total = qp_model_ns(m, qp_figures_average_total(f))};
    bool has_extremes = f->min <= f->max;
    row.self_run = qp_model_ns(m, qp_figures_self_run(f));
    row.total_run = qp_model_ns(m, qp_figures_total_run(f));
    row.f.off = qp_model_ns(m, f->off);
    row.f.off_total = qp_model_ns(m, f->off_total);
    row.f.self = qp_model_ns(m, f->self);
    row.f.total = qp_model_ns(m, f->total);
    row.f.min = has_extremes ? qp_model_ns(m, f->min) : QP_FIELD_NONE;
    row.f.max = has_extremes ? qp_model_ns(m, f->max) : QP_FIELD_NONE;
    row.f.self_half = qp_model_ns(m, f->self_half);
    row.f.total_half = qp_model_ns(m, f->total_half);
    row.average_half = f->hits ? row.f.self_half / f->hits : 0;
    row.average_total_half = f->hits ? row.f.total_half / f->hits : 0;
    return row;
}

void qp_figures_row_blank(qp_figures_row *row, const qp_run_info *run)
{
    if (!run->has_calls)
        row->f.calls = row->f.hits = row->f.skips = row->f.resumes = QP_FIELD_NONE;
    if (!run->has_min_max)
        row->f.min = row->f.max = QP_FIELD_NONE;
    if (!run->pc_period_ns)
        row->f.pc_samples = QP_FIELD_NONE;
    if (!run->has_memory)
        row->f.memory = row->f.memory_total =
            (qp_memory){QP_FIELD_NONE, QP_FIELD_NONE, QP_FIELD_NONE, QP_FIELD_NONE};
}

const qp_field qp_method_name_fields[] = {
    {"name", "Function", "display name", QP_FIELD_NAME, QP_FIELD_AT(qp_model_method, name)},
    {"file", NULL, "source as registered, \"\" without one", QP_FIELD_NAME,
     QP_FIELD_AT(qp_model_method, file)},
    {"line", NULL, "first line; 0: unknown", QP_FIELD_COUNT,
     QP_FIELD_AT(qp_model_method, first_line)},
    {.key = NULL}};

#define AT(member) QP_FIELD_AT(qp_method_row, member)
const qp_field qp_method_fields[] = {
    {"name", "Function", "display name", QP_FIELD_NAME, AT(method.name), .flags = QP_FIELD_HOT},
    {"class", NULL, "class, \"\" without one", QP_FIELD_NAME, AT(method.class_name)},
    {"module", "Module", "module as registered", QP_FIELD_NAME, AT(method.module), .rank = 3},
    {"file", NULL, "source as registered, \"\" without one", QP_FIELD_NAME, AT(method.file)},
    {"line", NULL, "first line; 0: unknown", QP_FIELD_COUNT, AT(method.first_line)},
    {"type", "Measured", "type of measurement", QP_FIELD_WORD, AT(method.type), .rank = 3},
    {"includes_hidden", "", "self includes functions that are collapsed into it", QP_FIELD_YES,
     AT(method.has_hidden), .flags = QP_FIELD_HOT, .words = "+"},
    {"", NULL, NULL, QP_FIELD_PART, AT(figures), .sub = qp_figures_fields},
    {"instructions", "Instructions", "of the host's machine, executed by the method itself",
     QP_FIELD_COUNT, AT(method.instructions), .flags = QP_FIELD_OPTIONAL, .rank = 4,
     .needs = QP_HAS_INSTRUCTIONS},
    {.key = NULL}};
#undef AT

qp_method_row qp_method_row_of(const qp_model *m, uint32_t method, const qp_figures *f)
{
    return (qp_method_row){m->methods[method], figures_row(m, f)};
}

/* ---- call paths and blocks ------------------------------------------------------------------- */

#define AT(member) QP_FIELD_AT(qp_path_row, member)
const qp_field qp_path_fields[] = {
    {"id", NULL, "number, greater than its parent's", QP_FIELD_COUNT, AT(id), .least = 1},
    {"parent", NULL, "id of the caller; 0: the run", QP_FIELD_COUNT, AT(node.parent)},
    {"method", NULL, "id in methods; 0: the root of a thread", QP_FIELD_COUNT, AT(method)},
    {"thread", NULL, "number of the thread", QP_FIELD_COUNT, AT(thread), .least = 1},
    {"open", NULL, "has an open frame", QP_FIELD_YES, AT(node.is_open)},
    {"includes_hidden", NULL, "self includes functions that are collapsed into it",
     QP_FIELD_YES, AT(node.has_hidden)},
    {"depth", NULL, NULL, QP_FIELD_COUNT, AT(node.depth), .flags = QP_FIELD_NO_JSON},
    {"outermost", NULL, NULL, QP_FIELD_YES, AT(node.is_outermost), .flags = QP_FIELD_NO_JSON},
    {"thread_name", NULL, NULL, QP_FIELD_NAME, AT(thread_name), .flags = QP_FIELD_NO_JSON},
    {"function", NULL, NULL, QP_FIELD_NAME, AT(function.name), .flags = QP_FIELD_NO_JSON},
    {"class", NULL, NULL, QP_FIELD_NAME, AT(function.class_name), .flags = QP_FIELD_NO_JSON},
    {"module", NULL, NULL, QP_FIELD_NAME, AT(function.module), .flags = QP_FIELD_NO_JSON},
    {"file", NULL, NULL, QP_FIELD_NAME, AT(function.file), .flags = QP_FIELD_NO_JSON},
    {"line", NULL, NULL, QP_FIELD_COUNT, AT(function.first_line), .flags = QP_FIELD_NO_JSON},
    {"", NULL, NULL, QP_FIELD_PART, AT(figures), .sub = qp_figures_fields},
    {.key = NULL}};
#undef AT

qp_path_row qp_path_row_of(const qp_model *m, uint32_t path, uint32_t method)
{
    const qp_model_node *n = &m->nodes[path];
    const qp_model_thread *th = &m->threads[n->thread];
    return (qp_path_row){
        path, method, th->ordinal, th->name, *n, m->methods[n->method], figures_row(m, &n->f)};
}

#define AT(member) QP_FIELD_AT(qp_block_figures, member)
const qp_field qp_block_fields[] = {
    {"line", NULL, NULL, QP_FIELD_CHANGE, AT(line)},
    {"offset", NULL, "offset in its code; -1: the header of a function, no code",
     QP_FIELD_CHANGE, AT(code_offset)},
    {"count", NULL, "executions; null: not counted", QP_FIELD_COUNT, AT(count),
     .flags = QP_FIELD_NULLABLE},
    {"timed", NULL, "self and total were measured", QP_FIELD_YES, AT(is_timed)},
    {"self", NULL, "self time, in the run's unit", QP_FIELD_TIME, AT(self)},
    {"total", NULL, "time including called methods", QP_FIELD_TIME, AT(total)},
    {"sampled", NULL, "self is an estimate; total is not known", QP_FIELD_YES, AT(is_sampled)},
    {"self_half", NULL, "half of the 95 % interval of self, in the run's unit", QP_FIELD_TIME,
     AT(self_half)},
    {"samples", NULL, "samples while it ran itself", QP_FIELD_COUNT, AT(samples)},
    {.key = NULL}};
#undef AT

qp_block_figures qp_block_row_of(const qp_model *m, const qp_block_figures *block)
{
    qp_block_figures row = *block;
    row.count = row.is_counted ? row.count : QP_FIELD_NONE;
    row.self = qp_model_ns(m, row.self);
    row.total = qp_model_ns(m, row.total);
    row.self_half = qp_model_ns(m, row.self_half);
    return row;
}
