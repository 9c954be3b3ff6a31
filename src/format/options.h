/* options.h: every option, in one table that yields the parser, the help and
 * docs/options.md.
 *
 * X(id, name, kind, default, values, help). values:
 * for WORD and SET the words, separated by '|'; for NUMBER and SIZE "low..high"; else
 * what stands for the value in the help. */
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
#define QP_PRODUCT_COLLECT     "coverage"
#define QP_PRODUCT_IS_COVERAGE 1
#else
#define QP_PRODUCT_ENVIRONMENT "QPROF"
#define QP_PRODUCT_SUFFIX      ".qprof"
#define QP_PRODUCT_COLLECT     "profile"
#define QP_PRODUCT_IS_COVERAGE 0
#endif

#define QP_CLOCK_WORDS                                                                         \
    "elapsed|user|kernel|user+kernel|counts|context-switches|soft-page-faults|"                \
    "hard-page-faults|page-faults|mispredicted-branches|cache-misses|"                         \
    "64k-aliasing|split-loads|split-stores|store-forwards"

/* Why the last four are refused everywhere. */
#define QP_CLOCK_UNKNOWN "Linux has none of that kind"

#define QP_OPTIONS(X)                                                                          \
    X(output, "output", TEXT, "", "FILE",                                                      \
      "the one file of the run; conversions as in -filename-prefix")                           \
    X(filename_prefix, "filename-prefix", TEXT, "%v.%p.%n", "PREFIX",                          \
      "name of a dataset without -output; .qprof is added. %v program, %p process, "           \
      "%n dataset number, %T thread, %t time, %d date, %h host, %V program's path, "           \
      "%% a percent sign")                                                                     \
    X(time, "time", WORD, "exact", "exact|adaptive|sampled|none",                              \
      "what times cost: two clock reads a call; some calls; a sampler; nothing")               \
    X(clock, "clock", WORD, "elapsed", QP_CLOCK_WORDS, "what is measured")                     \
    X(elapsed_source, "elapsed-source", WORD, "auto", "auto|tsc|monotonic",                    \
      "elapsed time from the processor's counter, where it can be trusted, or the system")     \
    X(time_user_functions, "time-user-functions", WORD, "",                                    \
      "elapsed|kernel|user+kernel|user|ignore",                                                \
      "clock of methods without flags; default: the -clock")                                   \
    X(time_blocking_functions, "time-blocking-functions", WORD, "",                            \
      "elapsed|kernel|user+kernel|user|ignore",                                                \
      "clock of methods that block or wait; default: the -clock")                              \
    X(measure_timed_calls, "measure-timed-calls", WORD, "",                                    \
      "elapsed-time|user+system|user|system", "other words for -time-blocking-functions")      \
    X(collection_granularity, "collection-granularity", WORD, "line",                          \
      "function|basic-block|line", "finest detail that is collected")                          \
    X(collect, "collect", SET, QP_PRODUCT_COLLECT, "profile|coverage|samples|stack|trace",     \
      "what goes into the file, separated by commas; libcprof: coverage by default")           \
    X(cover, "cover", WORD, "", "hits|once",                                                   \
      "collect coverage, too: how often code was executed, or whether")                        \
    X(cover_root, "cover-root", TEXT, "", "FOLDER",                                            \
      "sources outside it are not covered; default: everywhere")                               \
    X(cover_include, "cover-include", TEXT, "", "GLOBS",                                       \
      "only these sources are covered, as * ? [ ] and ** match their paths below -cover-root") \
    X(cover_exclude, "cover-exclude", TEXT, "", "GLOBS", "these sources are not covered")      \
    X(cover_unloaded, "cover-unloaded", BOOL, "no", "",                                        \
      "sources below -cover-root that the program never loads count, too, as missed")          \
    X(mark_partial_lines, "mark-partial-lines", WORD, "executed", "executed|not-executed",     \
      "what lines count as of which a part was executed")                                      \
    X(apply_adjustments, "apply-adjustments", BOOL, "yes", "",                                 \
      "reports heed the purecov: markers of sources and the -adjustments-file")                \
    X(adjustments_file, "adjustments-file", TEXT, "", "FILE", "adjustments of coverage")       \
    X(purecov_granularity, "purecov-granularity", WORD, "", "function|basic-block|line",       \
      "libcprof: another word for -collection-granularity")                                    \
    X(bb_counts, "bb-counts", WORD, "", "hits|once", "libcprof: another word for -cover")      \
    X(counts_file, "counts-file", TEXT, "", "FILE",                                            \
      "libcprof: the one file of all runs; each save and each end adds to it")                 \
    X(force_merge, "force-merge", BOOL, "no", "",                                              \
      "libcprof: add to a -counts-file of another version of the program, too")                \
    X(record_data, "record-data", BOOL, "yes", "",                                             \
      "record from the start; calls may change it later")                                      \
    X(record_min_max, "record-min-max", BOOL, "yes", "",                                       \
      "show minimum and maximum of every method")                                              \
    X(unknown_exit, "unknown-exit", WORD, "unroll", "unroll|ignore",                           \
      "what an exit does that names no open frame")                                            \
    X(sample_period, "sample-period", NUMBER, "1000", "50..3600000000",                        \
      "microseconds between two passes of the sampler of -time=sampled")                       \
    X(pc, "pc", TEXT, "", "COMMAND",                                                           \
      "sample: 'VIRTUAL or REAL, MICROSECONDS, WHEN PATTERN;', each part optional")            \
    X(pc_critical, "pc-critical", SET, "", "gc|compiler|loader",                               \
      "pseudo-methods in which an interrupt counts as in a critical section")                  \
    X(pc_signal, "pc-signal", BOOL, "no", "",                                                  \
      "let a signal's timer make the interrupts instead of a thread")                          \
    X(trace, "trace", TEXT, "no", "yes|no|FILE",                                               \
      "write a trace as the Xbase++ profiler's, to OUTFILE of the settings or to FILE.PRF")    \
    X(pri, "pri", TEXT, "", "FILE", "settings of that trace, lines KEY=VALUE")                 \
    X(trace_mode, "trace-mode", WORD, "", "stream|overwrite",                                  \
      "stream: collect a trace, too, and write all of it to -trace-output; overwrite: the "    \
      "last of it stays in the profile; default: as -trace-output is given or not")            \
    X(trace_output, "trace-output", TEXT, "", "FILE",                                          \
      "collect a trace, too, and write it to this file; conversions as in -filename-prefix; "  \
      "default of a stream: the profile's name, ending in .qtrace")                            \
    X(max_fields, "max-fields", NUMBER, "10", "1..1000",                                       \
      "fields of a value that a trace keeps; what separates them is U+001F")                   \
    X(max_route_depth, "max-route-depth", NUMBER, "0", "0..100",                               \
      "qprof detail shows the call routes of a function, cut at so many frames; 0: none")      \
    X(trace_buffer, "trace-buffer", SIZE, "4M", "16K..1G",                                     \
      "memory of a trace for each system thread, 16 bytes a record")                           \
    X(memory_limit, "memory-limit", SIZE, "256M", "1M..16G",                                   \
      "memory of the recorder; beyond it paths are folded")                                    \
    X(thread_rows, "thread-rows", NUMBER, "1000", "1..16000000",                               \
      "threads with rows of their own; later ones share those of ended threads")               \
    X(summary, "summary", TEXT, "none", "stderr|FILE|none",                                    \
      "short result at shutdown, the hottest methods and the losses: stderr, none, or a file") \
    X(clear_on_save, "clear-on-save", BOOL, "no", "", "clear the figures after each save")     \
    X(follow_child_processes, "follow-child-processes", BOOL, "no", "",                        \
      "a forked child records into a file of its own; else it records nothing")                \
    X(run_at_save, "run-at-save", TEXT, "", "COMMAND",                                         \
      "shell command after each save; %b is the dataset")                                      \
    X(run_at_exit, "run-at-exit", TEXT, "", "COMMAND",                                         \
      "shell command after shutdown; %b is the dataset")                                       \
    X(log_file, "log-file", TEXT, "none", "FILE",                                              \
      "messages; empty: standard error; none: only in the file")                               \
    X(program_name, "program-name", TEXT, "", "NAME",                                          \
      "program in file names and reports; default: its own")                                   \
    X(time_unit, "time-unit", WORD, "us", "s|ms|us|ns", "unit that reports show by default")   \
    X(percent_real_values, "percent-real-values", BOOL, "yes", "",                             \
      "reports: percentages are of the run's time; no: of the sum of all rows")                \
    X(show_non_hit, "show-non-hit", BOOL, "no", "",                                            \
      "reports show functions that had no calls but skips")                                    \
    X(source_path, "source-path", TEXT, "", "FOLDERS",                                         \
      "where reports look for sources; separated by ':'")                                      \
    X(config, "config", TEXT, "", "FILE",                                                      \
      "options from a file, as if they stood here, and triggers, actions, areas, event "       \
      "triggers")                                                                              \
    X(apply, "apply", BOOL, "no", "",                                                          \
      "take what qprof config apply hands in; with -config that is so anyway")

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
    QP_OPTION_WORD,
    QP_OPTION_SET /* some of the words, separated by ',' */
} qp_option_kind;

/* Short texts lie in the table: a pointer in it would cost a library four times its size. */
typedef struct {
    char name[32], initial[12];
    qp_option_kind kind;
    const char *values;
} qp_option_spec;

extern const qp_option_spec qp_option_table[QP_N_OPTIONS];
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
    /* -pri: the same; NULL: it is only kept */
    qp_parse (*pri)(void *to, const char *file, qp_error *error);
    void (*clamped)(void *to, const char *name);
    void *to;
} qp_option_events;

/* All defaults. */
void qp_options_init(qp_options *o);

/* Parse "-name=value …" into o, which is changed up to the mistake: hand in a
 * copy. Unknown names and those of the other library are no mistake. */
qp_parse qp_options_parse(qp_options *o, const char *words, const qp_option_events *events,
                          qp_error *error);

/* Set one option to the text of a value, which for TEXT may hold anything. */
qp_parse qp_option_set(qp_options *o, qp_option which, const char *value, qp_error *error);

/* @param name  with or without '-'; case, '-' and '_' do not matter
 * @return QP_N_OPTIONS: unknown */
qp_option qp_option_find(const char *name, size_t n_bytes);

/* Is a name the one that is known? Case, '-' and '_' do not matter. */
bool qp_option_is(const char *known, const char *name, size_t n_bytes);

const char *qp_option_text(const qp_options *o, qp_option which);

/* All options that were set, as words that parse back. @return bytes written,
 * less the NUL */
size_t qp_options_print(const qp_options *o, char *out, size_t n_bytes);

/* ---- names of files: %p, %n ... ------------------------------------------------------------- */

/* What names are made of, besides host and time. */
typedef struct {
    const char *program, *program_path;
    long pid, thread; /* as the system numbers them */
    uint32_t dataset;
} qp_name_facts;

/* What a conversion yields, now: letters, digits, '.', '_' and '-' (%t: ':', too), so that a
 * program's name never becomes a path. @return false: it is no conversion */
bool qp_name_convert(const qp_name_facts *facts, char letter, char *out, size_t n_bytes);

#endif
