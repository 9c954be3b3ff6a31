/* show.h: what the commands that show a profile have in common: which part of it they show, its
 * figures, the head above a report, the function that a user names. */
#ifndef QP_CLI_SHOW_SHOW_H
#define QP_CLI_SHOW_SHOW_H

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/error.h"
#include "cli/core/cli.h"
#include "export/shared/profile.h"
#include "export/shared/run_rows.h"
#include "model/figures/figures.h"

/* ---- figures -------------------------------------------------------------------------------- */

typedef struct {
    const qp_model *m;
    uint32_t thread;                  /* QP_ALL_THREADS: all */
    uint64_t whole;                   /* ticks: 100 % */
    uint64_t whole_off;               /* the part of it off the processor */
    uint64_t whole_self, whole_total; /* the same of a function table's columns */
    uint64_t whole_run;
    qp_figures *flat; /* [n_methods] */
    uint64_t *node_self,
        *node_total; /* [n_nodes] ticks, less the cost; NULL: as in the model */
} qp_view;

/* @return false: no memory; qp_view_fini() is allowed then */
bool qp_view_init(qp_view *v, const qp_model *m, uint32_t thread, bool is_subtracted);
void qp_view_fini(qp_view *v);

uint64_t qp_view_self(const qp_view *v, uint32_t node);  /* ticks */
uint64_t qp_view_total(const qp_view *v, uint32_t node); /* ticks */

bool qp_view_is_time(const qp_model *m); /* else units of a counter */
/* What percentages are of: "time", or the unit: "bytes". */
const char *qp_view_noun(const qp_model *m);

/* "12.345 ms", "1,234 counts". `to` has QP_NUMBER_BYTES. @return to */
char *qp_view_amount(const qp_model *m, char *to, uint64_t ticks);

/* The same without the digits that the interval leaves open. @param half  of it; 0: exact */
char *qp_view_estimate(const qp_model *m, char *to, uint64_t ticks, uint64_t half);

/* Part of whole in percent; 0 of nothing. */
double qp_view_percent(uint64_t part, uint64_t whole);
/* Whether these are as much of the run, in percent, as --min-self and --min-total ask for. */
bool qp_view_is_enough(const qp_view *v, const qp_args *args, double self, uint64_t total);

/* One unit for a column whose largest figure is `ticks`. @param wanted  of --unit, or NULL */
qp_unit qp_view_unit(const qp_model *m, uint64_t ticks, const char *wanted);

/* Does the thread have calls or time? One that only carried virtual threads does not. */
bool qp_view_is_busy(const qp_model_thread *thread);
uint32_t qp_view_threads(const qp_model *m); /* how many have */

/* "fib.lua:3", "" without a file. @return to */
char *qp_view_place(char *to, size_t n_bytes, const qp_model_method *method);

/* ---- the head of a report ------------------------------------------------------------------- */

/* A few lines: program, time, mode, cost, losses; then an empty line.
 * @param path  of the profile */
void qp_header_text(const qp_screen *s, const qp_model *m, const char *path,
                    bool is_subtracted);

/* "qlua bench.lua": the program, and what it executed. */
void qp_header_program(const qp_screen *s, const char *program, const char *script);
/* The line of the run's labels, if it has any. */
void qp_header_labels(const qp_screen *s, const char *labels);

/* The label of a line of a head, padded. */
void qp_header_label(const qp_screen *s, const char *label);
/* A line of a head: the label, then a text of at most 2 KiB. */
void qp_header_line(const qp_screen *s, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum { QP_MOMENT_BYTES = 32 };

/* Local time "2026-11-21 05:22:10" of ns since 1970, or that it is not known.
 * @param to  [QP_MOMENT_BYTES] @return to */
char *qp_header_moment(char *to, uint64_t ns);

/* ---- the part that is shown ----------------------------------------------------------------- */

/* clang-format off */ /* a flag is one line or two */
#define QP_FLAG_WHEN                                                                           \
    QP_TEXT("when", 0, "PATTERN", fold.when,                                                   \
            "call pattern of the paths that are shown, charged as it says: 'm.f->*' is m.f and " \
            "all that it called")
#define QP_FLAG_METRIC                                                                         \
    QP_TEXT("metric", 0, "NAME", fold.metric,                                                  \
            "metric of the host in place of time, see qprof info; in formats of several values "   \
            "beside it")
#define QP_FLAG_ENDPOINT                                                                       \
    {"endpoint", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(fold.endpoints), NULL,                   \
     "endpoints whose requests, with all that they called, are shown as 100 %; may be repeated"}
#define QP_FLAG_SORT_REQUESTS                                                                  \
    QP_WORD("sort", 0, "total|requests|failed|cut|mean|slowest|name", sort, NULL,              \
            "figure by which the rows are sorted")
#define QP_FLAGS_COLLAPSE                                                                      \
    QP_FLAG_SAMPLE_INDEX, QP_FLAG_METRIC, QP_FLAG_ENDPOINT,                                    \
    QP_TEXT("focus", 0, "METHOD", fold.focus,                                                  \
            "method whose calls, with what they called, are shown as 100 %"),                  \
    {"hide", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(fold.hide), NULL,                            \
     "functions that are collapsed into their callers, by name; may be repeated"},             \
    {"hide-module", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(fold.hide_modules), NULL,             \
     "the same, by module or file"},                                                           \
    {"gc", 0, QP_FLAG_WORD, "apart|caller", QP_FLAG_AT(fold.gc), NULL,                         \
     "time of the garbage collector: its own row, or part of the function in which it began; "  \
     "finalizers are called by the same (default apart)"},                                      \
    QP_YES("collapse-recursion", 0, fold.joins_recursion,                                      \
           "a call of a function inside another call of it is shown at the outer one")
/* clang-format on */

/* clang-format off */
#define QP_FLAG_THREADS_APART                                                                  \
    QP_YES("threads", 0, has_threads,                                                          \
           "call paths of each thread apart; else threads that begin with the same function "   \
           "are merged, below the calls that created them")
#define QP_FLAG_MERGE_THREADS                                                                  \
    QP_YES("merge-threads", 0, fold.joins_threads,                                             \
           "merge threads in formats that have them apart")
/* clang-format on */

/* Print the mistake of a call pattern, with a caret below it. @return QP_EXIT_UNUSABLE */
int qp_collapse_refuse_pattern(const qp_cli *cli, const char *pattern, const qp_error *error);

/* Warn of a name of the pattern that is nowhere in the run. */
void qp_collapse_remark(const qp_cli *cli, const qp_attributions *c);

/* qp_cli_load(), and collapse what the flags choose. */
int qp_cli_load_collapsed(qp_cli *cli, const char *file, qp_model **m);
/* The same of a model that was loaded. @return false: a message was printed */
bool qp_collapse_apply(qp_cli *cli, qp_model **m);
/* After loading runs that may lack endpoints: whether one has them. @return false: a message was printed */
bool qp_collapse_has_endpoint(const qp_cli *cli);

/* What a command about one profile shows. */
typedef struct qp_subject {
    const qp_model *m;
    uint32_t thread;  /* of --thread; QP_ALL_THREADS: all */
    const char *name; /* the other operand, or NULL */
} qp_subject;

/* Run a command: load the profile among the operands and hand it to the command's `show`.
 * @return the higher of the exit statuses of both */
int qp_cli_show(qp_cli *cli);

/* ---- findings: findings.c -------------------------------------------------------------------- */

typedef struct {
    qp_run_finding all[QP_FINDINGS_MOST];
    size_t n;
} qp_finding_list;

typedef struct {
    double percent;
    const char *figure, *text, *command;
} qp_finding_row;
extern const qp_rows qp_finding_rows; /* of a qp_finding_list */

void qp_findings_find(const qp_model *m, const char *path, const qp_model *since,
                      const char *since_path, qp_finding_list *to);
/* Two lines each: the sentence, and the command. */
void qp_findings_print(const qp_screen *s, const qp_finding_list *list);

/* ---- the table of functions ------------------------------------------------------------------ */

/* What --sort takes, and what a function table can be sorted by, in the same order. */
#define QP_SORT_WORDS  "self|total|calls|avg|max|name"
#define QP_SORT_MEMORY "|bytes|bytes-total|objects" /* more, where memory was recorded */
#define QP_SORT_WORK   "|instructions"              /* where they are known */
typedef enum {
    QP_SORT_SELF,
    QP_SORT_TOTAL,
    QP_SORT_CALLS,
    QP_SORT_AVERAGE,
    QP_SORT_MAX,
    QP_SORT_NAME,
    QP_SORT_BYTES,
    QP_SORT_BYTES_TOTAL,
    QP_SORT_OBJECTS,
    QP_SORT_INSTRUCTIONS
} qp_sort;

/* A table of functions; the document of `qprof report`. */
typedef struct {
    qp_document about;
    qp_view v;
    uint32_t *methods; /* [n_all] sorted, by run time where it differs from the elapsed one */
    size_t n, n_all;   /* n: rows that are shown */
    size_t n_small;    /* left out by --min-self and --min-total */
} qp_functions;
extern const qp_rows qp_function_rows; /* of a qp_functions */

/* Choose the methods and what their percentages are of. Without times --sort=self means calls.
 * @param limit  rows that are shown at most; 0: all
 * @return false: no memory; qp_functions_fini() is allowed then */
bool qp_functions_init(qp_functions *f, const qp_args *args, const qp_model *m, uint32_t thread,
                       uint64_t limit);
void qp_functions_fini(qp_functions *f);

/* Print a table of rows; of none, why there are none. @return false: no memory */
bool qp_functions_print(const qp_cli *cli, const qp_functions *f);

/* ---- functions added up ------------------------------------------------------------------------ */

/* The words of `report --by`, in the same order. */
#define QP_BY_WORDS "function|file|class|module"
typedef enum { QP_BY_FUNCTION, QP_BY_FILE, QP_BY_CLASS, QP_BY_MODULE } qp_group_by;

/* A source file, class or module. Times in the run's unit. */
typedef struct {
    const char *name;
    uint64_t functions, calls, hits, skips, self, total, average;
    double self_percent, total_percent;
} qp_group;

typedef struct {
    qp_document about;
    qp_view v;
    qp_group_by by;
    qp_sort sort;
    qp_buf all;     /* qp_group, in order */
    size_t n;       /* rows that are shown */
    size_t n_small; /* left out by --min-self and --min-total */
    qp_arena texts;
} qp_groups;
extern const qp_rows qp_group_rows; /* of a qp_groups */

/* As qp_functions_init(), by args.cover.by, which is not FUNCTION. */
bool qp_groups_init(qp_groups *g, const qp_args *args, const qp_model *m, uint32_t thread,
                    uint64_t limit);
void qp_groups_fini(qp_groups *g);
/* @return false: no memory */
bool qp_groups_print(const qp_cli *cli, const qp_groups *g);

/* ---- PC samples ------------------------------------------------------------------------------- */

/* Samples of a line of a procedure, by whatever caller. */
typedef struct {
    const char *module, *procedure, *file;
    uint64_t line, samples;
} qp_line_samples;

typedef struct {
    /* Whether a method is in the report; NULL: all are. */
    bool (*is_listed)(const void *scope, const char *module, const qp_model_method *method);
    const void *scope;
    bool by_module;
    bool by_line;                               /* list lines as well */
    bool has_command;                           /* some run had a PC command */
    char command[QP_ATTRIBUTION_COMMAND_BYTES]; /* of all that had one */
    qp_buf rows;                                /* qp_attribution_row, of names in `names` */
    qp_buf lines;                               /* qp_line_samples, the same */
    qp_arena names;
    qp_attribution_totals totals;
    const char *kind, *pattern, *thread; /* of all runs; thread NULL: all of them */
    uint64_t interval_us, measured_us;   /* requested; average, 0: unknown */
    uint64_t passes, passes_ns;          /* of the samplers; 0: unknown */
} qp_pc_samples;

void qp_pc_samples_init(qp_pc_samples *s, bool by_module);
void qp_pc_samples_fini(qp_pc_samples *s);

/* Add a run that cli loaded, by the pattern of --when or else the run's own.
 * @return QP_EXIT_CLEAN, or QP_EXIT_UNUSABLE: a message was printed */
int qp_pc_samples_add(const qp_cli *cli, qp_pc_samples *s, const qp_model *m);

/* Join rows of one name after the last run, most shallow counts first. */
void qp_pc_samples_finish(qp_pc_samples *s);

/* Print two tables and a summary. @param most  rows of one table alone; 0: all of both
 * @return false: no memory */
bool qp_pc_samples_print(const qp_cli *cli, const qp_pc_samples *s, size_t most);
enum { QP_PC_SAMPLES_HAVE_LINES = 1 << 8 };
extern const qp_field qp_pc_samples_part[]; /* of a document: "rows", "statements", "summary" */

/* ---- functions and sources ------------------------------------------------------------------ */

/* By display name, bare name, a part that matches one only, or "file:line" (any line of it).
 * @return false: none or several, a message was printed */
bool qp_method_find(const qp_cli *cli, const qp_model *m, const char *name, uint32_t *method);

/* First and last line of its line table. @return false: it has none */
bool qp_method_range(const qp_model_method *method, uint32_t *first, uint32_t *last);

/* The function with most self time, or most calls, of those that have lines; 0: none was called. */
uint32_t qp_method_hottest(const qp_model *m);

/* Its name and place, a line. */
void qp_method_title(const qp_screen *s, const qp_model *m, uint32_t method);

/* A line without its end, tabs as blanks; "" where the source, which may be NULL, has none.
 * @param line  from 1 */
void qp_listing_line(char *to, size_t n_bytes, const qp_source *source, uint32_t line);

/* ---- sources of a page ------------------------------------------------------------------------- */

/* The sources of a page, for qp_page_sources: noted as they are written, and then printed. */
typedef struct {
    qp_buf names[4]; /* char *, by qp_text_state; of missing ones why */
    qp_dict seen;
    uint64_t n_repeated;
} qp_page_notes;

/* What a page writer needs: --source-path, --no-sources, and the notes. */
qp_page_sources qp_page_notes_begin(const qp_cli *cli, qp_page_notes *notes);
/* Print which sources the page has and lacks, if it was written, and free the notes.
 * @param page  its file; "-" or NULL: standard output, then in one line on standard error */
void qp_page_notes_end(const qp_cli *cli, const char *page, bool is_written,
                       qp_page_notes *notes);

/* ---- requests that were kept whole ---------------------------------------------------------- */

/* Of a request of a store. */
typedef struct {
    uint64_t number, profile;
    const char *service, *version, *host;
} qp_kept_origin;

typedef struct qp_kept_set {
    const qp_model *m;               /* NULL: of a store */
    const qp_kept_request *requests; /* [n] the slowest first */
    const qp_kept_origin *origins;   /* [n]; NULL: of a profile, their numbers count from 1 */
    size_t n;
    const char *none; /* a sentence, where n is 0 */
    /* The calls of one of them: as qp_model_kept_calls(). @return false: see error */
    bool (*calls_of)(const struct qp_kept_set *set, size_t i, qp_kept_calls *out,
                     qp_error *error);
    void *from; /* for it */
} qp_kept_set;

/* The list, or with --show or --trace-id one of them, as text, JSON, CSV or a timeline.
 * @return an exit status */
int qp_kept_show(qp_cli *cli, const qp_kept_set *set);

/* Does --endpoint choose it? Without the flag all are chosen. */
bool qp_kept_is_chosen(const qp_cli *cli, const char *endpoint);

/* Of JSON: the list, and one of them; of a profile, and of a store. */
extern const qp_field qp_kept_list_fields[], qp_kept_fields[], qp_kept_store_list_fields[],
    qp_kept_store_fields[];

/* Bytes as hexadecimal digits. @param to  [2 * n + 1] */
void qp_kept_hex(char *to, const uint8_t *bytes, size_t n);

/* clang-format off */ /* a flag is one line or two */
#define QP_FLAGS_KEPT_ONE                                                                      \
    {"show", 0, QP_FLAG_COUNT, "N", QP_FLAG_AT(kept.shown), NULL,                              \
     "calls of one of them in their order, with waits; by its number"},                        \
    QP_TEXT("trace-id", 0, "HEX", kept.trace_id, "the same, by its trace id")
/* clang-format on */

#endif
