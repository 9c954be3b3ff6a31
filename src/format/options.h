/* options.h: every option, in one table that yields the parser, the help and
 * docs/options.md.
 *
 * X(id, name, kind, default, values, help). values:
 * for WORD and SET the words, separated by '|'; for NUMBER and SIZE "low..high"; else
 * the name of the value in the help. */
#ifndef QP_FORMAT_OPTIONS_H
#define QP_FORMAT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"

/* One engine makes two libraries: this is the one that is being compiled. */
#if defined(QP_LIBCPROF)
#define QP_PRODUCT_ENVIRONMENT "CPROF"
#define QP_PRODUCT_SUFFIX      ".pcv"
#define QP_PRODUCT_SUMMARY     ".pcs"
#define QP_PRODUCT_EXPORT      ".pcx"
#define QP_PRODUCT_ORIGINAL    "PureCoverage"
#define QP_PRODUCT_COLLECT     "coverage"
#define QP_PRODUCT_IS_COVERAGE 1
#else
#define QP_PRODUCT_ENVIRONMENT "QPROF"
#define QP_PRODUCT_SUFFIX      ".qprof"
#define QP_PRODUCT_SUMMARY     ".qs"
#define QP_PRODUCT_EXPORT      ".qx"
#define QP_PRODUCT_ORIGINAL    "Quantify"
#define QP_PRODUCT_COLLECT     "profile"
#define QP_PRODUCT_IS_COVERAGE 0
#endif

#define QP_CLOCK_WORDS                                                                         \
    "elapsed|user|kernel|user+kernel|counts|context-switches|soft-page-faults|"                \
    "hard-page-faults|page-faults|mispredicted-branches|cache-misses|"                         \
    "64k-aliasing|split-loads|split-stores|store-forwards"

/* Why the last four are refused. */
#define QP_CLOCK_UNKNOWN "Linux has none of that kind"

#define QP_SIGNAL_WORDS                                                                        \
    "SIGHUP|SIGINT|SIGQUIT|SIGILL|SIGTRAP|SIGABRT|SIGBUS|SIGFPE|SIGSEGV|SIGSYS|SIGTERM|"       \
    "SIGXCPU|SIGALRM|SIGUSR1|SIGUSR2|SIGPIPE|SIGPROF"

#define QP_OPTIONS(X)                                                                          \
    X(output, "output", TEXT, "", "FILE",                                                      \
      "file for the whole run; conversions as in -filename-prefix")                            \
    X(filename_prefix, "filename-prefix", TEXT, "%v.%p.%n", "PREFIX",                          \
      "name of a dataset without -output; .qprof is added. %v program, %p process, "           \
      "%n dataset number, %T thread, %t time, %d date, %h machine, %V program's path, "        \
      "%s script, %w working directory, %i version of the interpreter, %{NAME} value of a "    \
      "label, %% a percent sign")                                                              \
    X(time, "time", WORD, "exact", "exact|adaptive|sampled|none",                              \
      "timing mode: two clock reads for each call, for some calls, samples, no times")         \
    X(clock, "clock", WORD, "elapsed", QP_CLOCK_WORDS, "quantity that is measured")            \
    X(elapsed_source, "elapsed-source", WORD, "auto", "auto|tsc|monotonic",                    \
      "source of elapsed time: the processor's counter if it is reliable, or the "             \
      "system clock")                                                                          \
    X(clock_reads, "clock-reads", WORD, "auto", "auto|overlap|wait",                           \
      "whether reads of the processor's counter wait for earlier loads, which decides "        \
      "when an entry reads it; auto: measured at the start")                                   \
    X(time_user_functions, "time-user-functions", WORD, "",                                    \
      "elapsed|kernel|user+kernel|user|ignore",                                                \
      "clock of methods without flags; default: that of -clock")                               \
    X(time_blocking_functions, "time-blocking-functions", WORD, "",                            \
      "elapsed|kernel|user+kernel|user|ignore",                                                \
      "clock of methods that block or wait; default: that of -clock")                          \
    X(measure_timed_calls, "measure-timed-calls", WORD, "",                                    \
      "elapsed-time|user+system|user|system", "synonym of -time-blocking-functions")           \
    X(collection_granularity, "collection-granularity", WORD, "line",                          \
      "function|basic-block|line", "finest detail that is collected")                          \
    X(collect, "collect", SET, QP_PRODUCT_COLLECT, "profile|coverage|samples|stack|trace",     \
      "contents of the file, separated by commas; default of libcprof: coverage")              \
    X(cover, "cover", WORD, "", "hits|once",                                                   \
      "coverage as well: how often code was executed, or whether it was")                      \
    X(cover_root, "cover-root", TEXT, "", "FOLDER",                                            \
      "folder whose sources are covered; default: all sources are")                            \
    X(cover_include, "cover-include", TEXT, "", "GLOBS",                                       \
      "patterns of the sources that are covered, matched by * ? [ ] and ** with their "        \
      "paths below -cover-root")                                                               \
    X(cover_exclude, "cover-exclude", TEXT, "", "GLOBS",                                       \
      "patterns of sources that are not covered")                                              \
    X(cover_unloaded, "cover-unloaded", BOOL, "no", "",                                        \
      "sources below -cover-root that the program never loads counted as missed")              \
    X(mark_partial_lines, "mark-partial-lines", WORD, "executed", "executed|not-executed",     \
      "state of lines of which only a part was executed")                                      \
    X(apply_adjustments, "apply-adjustments", BOOL, "yes", "",                                 \
      "use of purecov: annotations in sources, and of adjustments files, in reports")          \
    X(adjustments_file, "adjustments-file", TEXT, "", "FILE",                                  \
      "adjustments of coverage; for reports that run with it in QPROF")                        \
    X(purecov_granularity, "purecov-granularity", WORD, "", "function|basic-block|line",       \
      "libcprof: synonym of -collection-granularity")                                          \
    X(bb_counts, "bb-counts", WORD, "", "hits|once", "libcprof: synonym of -cover")            \
    X(counts_file, "counts-file", TEXT, "", "FILE",                                            \
      "libcprof: one file for all runs; each save and each end adds to it")                    \
    X(force_merge, "force-merge", BOOL, "no", "",                                              \
      "libcprof: adding to a -counts-file of another version of the program")                  \
    X(allocations, "allocations", BOOL, "no", "",                                              \
      "bytes and objects that each call path allocates and frees, of hosts that report them")  \
    X(record_data, "record-data", BOOL, "yes", "",                                             \
      "recording from the start; calls may change it later")                                   \
    X(tail_calls, "tail-calls", WORD, "replace", "replace|keep",                               \
      "what a tail call of Lua does to the frame of its caller; keep: it stays until the "     \
      "callee returns, at most 200 in a chain")                                                \
    X(record_min_max, "record-min-max", BOOL, "yes", "",                                       \
      "minimum and maximum of every method in reports")                                        \
    X(unknown_exit, "unknown-exit", WORD, "unroll", "unroll|ignore",                           \
      "effect of an exit that names no open frame")                                            \
    X(sample_period, "sample-period", NUMBER, "1000", "50..3600000000",                        \
      "interval of the sampler of -time=sampled, in microseconds")                             \
    X(pc, "pc", TEXT, "", "COMMAND",                                                           \
      "PC samples: 'VIRTUAL or REAL, MICROSECONDS, WHEN PATTERN;', each part optional")        \
    X(pc_critical, "pc-critical", SET, "", "gc|compiler|loader",                               \
      "pseudo-methods in which a PC sample counts as one in a critical section")               \
    X(pc_signal, "pc-signal", BOOL, "no", "",                                                  \
      "PC samples from a signal's timer instead of a thread")                                  \
    X(samples_in_areas, "samples-in-areas", BOOL, "no", "",                                    \
      "PC samples of methods outside of the areas credited to their callers, as times are")    \
    X(trace, "trace", TEXT, "no", "yes|no|FILE",                                               \
      "trace in the format of the Xbase++ profiler, written to OUTFILE of the settings "       \
      "or to FILE.PRF")                                                                        \
    X(pri, "pri", TEXT, "", "FILE", "settings of -trace, lines KEY=VALUE")                     \
    X(trace_mode, "trace-mode", WORD, "", "stream|overwrite",                                  \
      "collecting a trace as well; stream: all of it is written to -trace-output; "            \
      "overwrite: the newest records stay in the profile; default: stream if "                 \
      "-trace-output is set")                                                                  \
    X(trace_output, "trace-output", TEXT, "", "FILE",                                          \
      "file of a trace, which is collected as well; conversions as in "                        \
      "-filename-prefix; default of a stream: the profile's name, ending in .qtrace")          \
    X(max_fields, "max-fields", NUMBER, "10", "1..1000",                                       \
      "maximum number of fields of a value in a trace; U+001F separates them")                 \
    X(max_route_depth, "max-route-depth", NUMBER, "0", "0..100",                               \
      "maximum number of frames of the call routes in qprof detail; 0: no call routes")        \
    X(trace_buffer, "trace-buffer", SIZE, "4M", "16K..1G",                                     \
      "memory of a trace for each OS thread; a record takes 16 bytes")                         \
    X(trace_memory, "trace-memory", SIZE, "16G", "16K..16G",                                   \
      "maximum memory of a trace for all OS threads, and at most half of -memory-limit; a "    \
      "buffer that is full while its file is written is followed by further ones")             \
    X(trace_limit, "trace-limit", SIZE, "1G", "1M..1024G",                                     \
      "disk space of a trace file; beyond it the oldest half is removed")                      \
    X(trace_full, "trace-full", WORD, "drop", "drop|wait",                                     \
      "full buffers of a trace that is written to a file; drop: records are dropped and "      \
      "counted; wait: the program waits for up to 1 s, then records are dropped and counted")  \
    X(check_host, "check-host", BOOL, "no", "",                                                \
      "a look at every event for mistakes of the host, for qprof check --host; slow")          \
    X(memory_limit, "memory-limit", SIZE, "256M", "1M..16G",                                   \
      "memory of the recorder; paths that do not fit are counted in <overflow>")               \
    X(thread_rows, "thread-rows", NUMBER, "1000", "1..16000000",                               \
      "maximum number of threads with rows of their own; later threads share those of "        \
      "ended threads, or one row")                                                             \
    X(endpoints, "endpoints", NUMBER, "1000", "1..1000000",                                    \
      "maximum number of endpoints; requests of further ones are counted in <other>")          \
    X(slowest, "slowest", TEXT, "", "N/TIME",                                                  \
      "requests of each endpoint that are kept whole: the slowest N that end in each TIME, "   \
      "for example 8/60s; N: of the whole run. They have a 64th of -memory-limit")             \
    X(summary, "summary", TEXT, "none", "stderr|FILE|none",                                    \
      "summary at shutdown, with the hottest methods and the losses: stderr, none, or "        \
      "a file")                                                                                \
    X(clear_on_save, "clear-on-save", BOOL, "no", "",                                          \
      "clearing of the figures after each save")                                               \
    X(spool, "spool", TEXT, "", "FOLDER",                                                      \
      "folder for a profile of each interval, which qprof push empties; conversions as in "    \
      "-filename-prefix")                                                                      \
    X(spool_every, "spool-every", TIME, "60s", "0..7d",                                        \
      "interval of -spool; 0: a profile of each save, and of the end")                         \
    X(spool_limit, "spool-limit", SIZE, "256M", "64K..1024G",                                  \
      "disk space for the profiles of a service in the folder of -spool; beyond it the "       \
      "oldest are removed")                                                                    \
    X(follow_child_processes, "follow-child-processes", BOOL, "no", "",                        \
      "recording of forked children, each into a file of its own")                             \
    X(perf_map, "perf-map", BOOL, "no", "",                                                    \
      "names of native code for perf, in /tmp/perf-PID.map")                                   \
    X(jitdump, "jitdump", BOOL, "no", "",                                                      \
      "names and bytes of native code for perf inject --jit, in jit-PID.dump")                 \
    X(save_data_on_signals, "save-data-on-signals", BOOL, "no", "",                            \
      "a dataset saved when a signal is about to end the program")                             \
    X(handle_signals, "handle-signals", SET, "", QP_SIGNAL_WORDS,                              \
      "further signals for -save-data-on-signals, also those with a handler of the host")      \
    X(ignore_signals, "ignore-signals", SET, "", "",                                           \
      "signals that -save-data-on-signals leaves alone")                                       \
    X(api_handler_signals, "api-handler-signals", TEXT, "", "SIGNAL,SIGNAL",                   \
      "a dataset saved when the first signal comes; figures cleared when the second does")     \
    X(call_trace, "call-trace", BOOL, "no", "",                                                \
      "each call in a trace: synonym of -trace-mode=stream")                                   \
    X(write_summary_file, "write-summary-file", TEXT, "no", "yes|no|FILE",                     \
      "text file with a summary of each dataset, written by qprof; conversions as in "         \
      "-filename-prefix; yes: the dataset's name, ending in " QP_PRODUCT_SUMMARY)              \
    X(write_export_file, "write-export-file", TEXT, "no", "yes|no|FILE",                       \
      "export file of each dataset in the format of " QP_PRODUCT_ORIGINAL                      \
      ", as in -write-summary-file; yes: ending in " QP_PRODUCT_EXPORT)                        \
    X(save_thread_data, "save-thread-data", SET, "composite", "stack|composite",               \
      "composite: summary and export files of all threads together; stack: of each thread, "   \
      "with .T and its number appended; datasets always have both")                            \
    X(run_at_save, "run-at-save", TEXT, "", "COMMAND",                                         \
      "shell command after each save; %b is the dataset, %s its summary, %x its export")       \
    X(run_at_exit, "run-at-exit", TEXT, "", "COMMAND",                                         \
      "shell command after shutdown, or the save by a signal that ends the program; %b, %s "   \
      "and %x as in -run-at-save")                                                             \
    X(log_file, "log-file", TEXT, "none", "FILE",                                              \
      "file for messages; empty: standard error; none: only in the profile")                   \
    X(quiet, "quiet", BOOL, "no", "",                                                          \
      "no lines on standard error about options of the variable QPROF and lost profiles")      \
    X(program_name, "program-name", TEXT, "", "NAME",                                          \
      "name of the program in file names and reports; default: its own")                       \
    X(labels, "labels", TEXT, "", "NAME=VALUE,...",                                            \
      "labels of the run, in addition to those of the variable QPROF_LABELS")                  \
    X(record_arguments, "record-arguments", BOOL, "yes", "",                                   \
      "arguments of the script or program stored in the profile")                              \
    X(time_unit, "time-unit", WORD, "us", "s|ms|us|ns|cycles",                                 \
      "default unit of times in reports; a cycle is 1 ns")                                     \
    X(percent_real_values, "percent-real-values", BOOL, "yes", "",                             \
      "reports: percentages of the run's time; no: of the sum of all rows")                    \
    X(show_non_hit, "show-non-hit", BOOL, "no", "",                                            \
      "functions in reports that have skips but no calls")                                     \
    X(source_path, "source-path", TEXT, "", "FOLDERS",                                         \
      "folders of sources, separated by ':'; for reports that run with it in QPROF")           \
    X(config, "config", TEXT, "", "FILE",                                                      \
      "file of options, which apply as if written here, and of triggers, actions, "            \
      "areas, event triggers")                                                                 \
    X(apply, "apply", BOOL, "no", "",                                                          \
      "accepting configurations from qprof config apply; always on with -config")

typedef enum {
#define QP_X(id, name, kind, initial, values, help) QP_OPT_##id,
    QP_OPTIONS(QP_X)
#undef QP_X
        QP_N_OPTIONS
} qp_option;

typedef enum {
    QP_OPTION_TEXT,
    QP_OPTION_BOOL,
    QP_OPTION_NUMBER,
    QP_OPTION_SIZE, /* bytes; K, M, G may follow */
    QP_OPTION_TIME, /* seconds; s, m, h, d may follow */
    QP_OPTION_WORD,
    QP_OPTION_SET /* some of the words, separated by ',' */
} qp_option_kind;

/* What the table has of an option. */
qp_option_kind qp_option_kind_of(qp_option which);
const char *qp_option_name(qp_option which);
const char *qp_option_initial(qp_option which);
/* The words, or the smallest and the largest number. */
const char *qp_option_values(qp_option which);
extern const char *const qp_option_help[QP_N_OPTIONS]; /* for the tool */

/* Values in force. Copyable: texts are offsets into the pool. */
typedef struct {
    uint64_t number[QP_N_OPTIONS]; /* BOOL, NUMBER, SIZE; WORD: which one, from 0;
                                      ~0: none; SET: bit i is word i */
    uint16_t text[QP_N_OPTIONS];   /* TEXT, WORD, SET: where in the pool */
    bool is_set[QP_N_OPTIONS];
    uint16_t n_pool;
    char pool[8192];
} qp_options;

typedef enum { QP_PARSE_OK, QP_PARSE_SYNTAX, QP_PARSE_VALUE, QP_PARSE_ROOM } qp_parse;

/* What the parser hands on. */
typedef struct {
    void (*unknown)(void *to, const char *name);
    /* -config: 0, or a qp_parse with *error filled. NULL: not allowed here */
    qp_parse (*config)(void *to, qp_options *o, const char *file, qp_error *error);
    /* -pri: 0, or not 0 with *error filled. NULL: it is only kept */
    int (*pri)(void *to, const char *file, qp_error *error);
    void (*clamped)(void *to, const char *name);
    void *to;
} qp_option_events;

/* All defaults. */
void qp_options_init(qp_options *o);

/* Parse "-name=value …" into o, which is changed up to the mistake: hand in a
 * copy. Unknown names and those of the other library are ignored. */
qp_parse qp_options_parse(qp_options *o, const char *words, const qp_option_events *events,
                          qp_error *error);

/* Set one option to the text of a value, which for TEXT may hold anything. */
qp_parse qp_option_set(qp_options *o, qp_option which, const char *value, qp_error *error);

/* @param name  with or without '-'; case, '-' and '_' do not matter
 * @return QP_N_OPTIONS: unknown */
qp_option qp_option_find(const char *name, size_t n_bytes);

/* Is a name the one that is known? Case, '-' and '_' do not matter. */
bool qp_option_is(const char *known, const char *name, size_t n_bytes);

/* The option that differs from a name, which begins with '-', in one letter or two neighbours, or
 * continues it. @return "": none */
const char *qp_option_nearest(const char *name);

const char *qp_option_text(const qp_options *o, qp_option which);

/* All options that were set, as words that parse back. @return bytes written,
 * less the NUL */
size_t qp_options_print(const qp_options *o, char *out, size_t n_bytes);

/* ---- names of files: %p, %n ... ------------------------------------------------------------- */

/* What names are made of, besides machine and time. NULL and "": unknown. */
typedef struct {
    const char *program, *program_path, *script, *folder, *host, *labels;
    long pid, thread; /* as the system numbers them */
    uint32_t dataset;
} qp_name_facts;

/* Expand a conversion to letters, digits, '.', '_' and '-' (%t: and ':'), so that no name ever becomes a
 * path; what is not known is "unknown".
 * @param at  after the percent sign. @return after the conversion; NULL: it is none */
const char *qp_name_convert(const qp_name_facts *facts, const char *at, char *out,
                            size_t n_bytes);

/* @param labels  NAME=VALUE, separated by commas. @return a label, which ends at a comma; NULL: none */
const char *qp_name_label(const char *labels, const char *name, size_t n);

/* Which of "a|b|c" the value is, and the other way. @return false: none */
bool qp_option_word(const char *words, const char *value, uint64_t *which);
void qp_option_nth(const char *words, uint64_t which, char *out, size_t n_bytes);

#endif
