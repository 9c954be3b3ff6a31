/* cli.h: what all commands of the tool use: command lines, messages, output, the profile that a
 * command is about, other programs. Read qp_flag and qp_command first: one table of flags for each
 * command yields its parser, --help, the man page and the shell completion. */
#ifndef QP_CLI_CORE_CLI_H
#define QP_CLI_CORE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/os/screen.h"
#include "base/text/error.h"
#include "base/text/field.h"
#include "model/figures/figures.h"
#include "model/model.h"

enum { QP_LIST_MOST = 64, QP_MARK_BYTES = 4096 };

typedef enum { QP_FORMAT_TEXT, QP_FORMAT_JSON, QP_FORMAT_CSV, QP_FORMAT_MARKDOWN } qp_format;
typedef enum { QP_COLOR_AUTO, QP_COLOR_ALWAYS, QP_COLOR_NEVER } qp_color;

/* Values of a flag that may be given several times, or once with ':' between them. */
typedef struct {
    const char *items[QP_LIST_MOST]; /* [n] */
    size_t n;
} qp_list;

/* What percentages of a function table are of; in the order of --percent. */
#define QP_PERCENT_WORDS "run|rows"
enum { QP_PERCENT_OF_RUN, QP_PERCENT_OF_ROWS };

/* Flags of `qprof cover` and `qprof list`. */
typedef struct {
    unsigned view, annotations, by; /* positions in the words of the flag */
    unsigned partial;               /* the same; UINT_MAX: not given */
    bool has_functions, has_uncovered, is_unadjusted, is_forced, is_layered, has_only_missed,
        has_contexts, has_blocks, has_sums, is_relative, is_lcov2, is_gcovr7, is_no_lower;
    bool has_calls, has_counts, has_not_executed;
    double lines_under, branches_under, functions_under; /* percent; < 0: not given */
    const char *root, *adjustments, *git, *repo, *patch, *only, *thresholds, *test;
    qp_list include, exclude, contexts, areas, no_areas;
} qp_cover_args;

/* Flags of `qprof diff`. */
typedef struct {
    qp_list base, new;
    bool has_paths, has_legend, is_qxdiff, ignores_system, is_elapsed;
    double slower; /* percent of --fail-if-slower; < 0: not given */
    qp_list more;  /* of --fail-if-more */
} qp_diff_args;

/* The part of a profile that is shown: cli/show/collapse.c. */
typedef struct {
    const char *focus, *when, *sample_index, *metric, *max_memory; /* NULL: not given */
    qp_list hide, hide_modules, endpoints;
    bool joins_threads, joins_recursion, follows_creators, keeps_times;
    unsigned gc; /* QP_GC_* */
    bool
        may_lack_endpoint; /* some of the runs, but not all of them: they had no such request */
    bool has_endpoint;     /* set by loading: a run has an endpoint of the list */
} qp_collapse_args;

enum { QP_GC_APART, QP_GC_CALLER };

/* Flags of `qprof trace`; file: of `html --trace`. */
typedef struct {
    const char *since, *until, *file; /* NULL: not given */
    qp_list names;
    bool is_followed, has_histogram;
} qp_trace_args;

/* Flags of `qprof store` and `qprof push`. */
typedef struct {
    const char *service, *version, *since, *until, *before, *spool; /* NULL: not given */
    const char *base, *new;
    const char *every, *timeout, *header_file, *ca_file; /* of push */
    uint64_t tries;
    qp_list labels;
    unsigned by; /* position in the words of the flag */
    bool has_undated;
} qp_store_args;

/* Flags of `qprof requests`. */
typedef struct {
    bool is_list;         /* of the requests that were kept */
    uint64_t shown;       /* number of one of them; UINT64_MAX: not given */
    const char *trace_id; /* of one; NULL: not given */
} qp_kept_args;

/* Flags of `qprof serve`. */
typedef struct {
    const char *listen, *token, *token_file, *max_unread; /* NULL: not given */
    uint64_t port;
} qp_serve_args;

/* Of a page that a server shows. */
typedef struct {
    const char *home; /* the address of the page that leads to it; NULL: it is no such page */
    const char *name, *base_name; /* of what it shows */
    /* A page of this request alone, whose profile qp_kept_profile() made; else NULL */
    const qp_kept_request *request;
    const qp_kept_calls *calls;
} qp_page_args;

/* Values of all flags of all commands; each command's table fills its own. */
typedef struct {
    unsigned format, color, sort; /* positions in the words of the flag */
    bool help;
    bool is_forced, has_threads, has_subtract, has_skips, is_hottest, is_man, is_completing,
        has_list, is_calls, has_samples, has_callgrind_jumps, has_arguments, is_host, is_bytes,
        is_objects, has_no_sources, has_save, has_remove, is_replacing;
    uint64_t limit; /* 0: none; UINT64_MAX: not given */
    uint64_t depth, count;
    uint64_t suffixes; /* frames of a call route; 0: none are shown; UINT64_MAX: not given */
    double min_percent, min_total, interval;
    const char *thread, *filter, *unit; /* NULL: not given */
    qp_source_folders folders;          /* path: of --source-path */
    unsigned percent;                   /* UINT_MAX: not given */
    const char *stream; /* of run: the pipe that its profile goes to; NULL: none */
    const char *time, *granularity, *clock, *output, *to, *pid, *lasts, *pc, *config, *schema,
        *completion, *folder, *earlier;
    qp_cover_args cover;
    qp_diff_args diff;
    qp_collapse_args fold;
    qp_trace_args trace;
    qp_store_args store;
    qp_kept_args kept;
    qp_serve_args serve;
    qp_page_args page;
    bool is_long;
    char **operands; /* [n_operands] of argv; for `run` options of the recorder */
    int n_operands;
    char **rest; /* [n_rest] after "--"; of `run` from the first operand on */
    int n_rest;
} qp_args;

typedef enum {
    QP_FLAG_YES,     /* bool */
    QP_FLAG_TEXT,    /* const char * */
    QP_FLAG_LIST,    /* qp_list */
    QP_FLAG_NAMES,   /* qp_list; a ':' is part of a name */
    QP_FLAG_FILES,   /* the same; all words up to the next flag belong to it */
    QP_FLAG_LIMITS,  /* qp_list of texts as they are, also empty ones */
    QP_FLAG_COUNT,   /* uint64_t */
    QP_FLAG_REAL,    /* double, >= 0 */
    QP_FLAG_PERCENT, /* double, 0 to 100 */
    QP_FLAG_WORD,    /* unsigned: which of `value`, which are separated by '|' */
    QP_FLAG_ONE_OF   /* const char *: one of them */
} qp_flag_kind;

typedef struct {
    const char *name;
    char letter; /* 0: none */
    qp_flag_kind kind;
    const char *value;   /* its name in the help; of a WORD the words */
    size_t at;           /* of qp_args */
    const char *initial; /* NULL: none */
    const char *help;
} qp_flag;

struct qp_cli;
struct qp_subject;

/* The shape of a JSON document, docs/schema/NAME.json; a list ends with a NULL name. */
typedef struct {
    const char *name;
    const qp_field *fields;
} qp_schema;

/* A command, or a group of them: a group has no flags of its own, and its name is the first word of
 * its commands' names. */
typedef struct qp_command {
    const char *name;         /* as typed: "report", "cover report" */
    const char *operands;     /* "[FILE]" */
    const char *summary;      /* one line */
    const char *about;        /* a paragraph of the help */
    const qp_flag *flags;     /* ends with a NULL name; NULL: a group */
    const char *examples;     /* a line each */
    const qp_schema *schemas; /* of its --format=json; NULL: none */
    int (*run)(struct qp_cli *cli);
    /* of a command that shows one profile, whose `run` is qp_cli_show(): see cli/show/show.h */
    int (*show)(struct qp_cli *cli, const struct qp_subject *s);
    bool takes_name; /* of something in the profile, besides the profile */
    /* Call paths of all threads are shown as those of one, unless --threads or --thread is given. */
    enum { QP_THREADS_APART, QP_THREADS_JOINED, QP_THREADS_JOINED_IN_TEXT } threads;
    bool writes_profile; /* to --output */
    /* --output replaces files with this text in their first QP_MARK_BYTES, others only by
     * QP_FLAG_FORCE; NULL: all */
    const char *replaces;
    bool takes_rest; /* everything from the first operand on belongs to a program */
    const struct qp_command *const *subs;   /* of a group, ends with NULL */
    void (*print_more)(const qp_screen *s); /* the end of the help; or NULL */
} qp_command;

#define QP_FLAG_AT(member) offsetof(qp_args, member)

/* clang-format off */ /* a flag is one line or two */
#define QP_YES(name, letter, member, help)                                                     \
    {name, letter, QP_FLAG_YES, NULL, QP_FLAG_AT(member), NULL, help}
#define QP_TEXT(name, letter, value, member, help)                                             \
    {name, letter, QP_FLAG_TEXT, value, QP_FLAG_AT(member), NULL, help}
#define QP_ONE_OF(name, letter, words, member, help)                                           \
    {name, letter, QP_FLAG_ONE_OF, words, QP_FLAG_AT(member), NULL, help}
#define QP_COUNT(name, letter, member, initial, help)                                          \
    {name, letter, QP_FLAG_COUNT, "N", QP_FLAG_AT(member), initial, help}
#define QP_WORD(name, letter, words, member, initial, help)                                    \
    {name, letter, QP_FLAG_WORD, words, QP_FLAG_AT(member), initial, help}

/* Flags that many commands have; QP_FLAGS_COMMON is the end of each table. */
extern const qp_flag qp_flags_common[]; /* of commands that have no others */
#define QP_FLAGS_COMMON                                                                        \
    QP_WORD("color", 0, "auto|always|never", color, NULL,                                      \
            "use of colours; auto: on a terminal, unless NO_COLOR is set"),                    \
    QP_YES("help", 'h', help, "this text"),                                                    \
    {NULL, 0, QP_FLAG_YES, NULL, 0, NULL, NULL}
#define QP_FLAG_FORCE  QP_YES("force", 0, is_replacing, "replacement of a file that exists")
#define QP_FLAG_FORMAT QP_WORD("format", 0, "text|json|csv", format, NULL, "form of the output")
#define QP_FLAG_THREAD                                                                         \
    QP_TEXT("thread", 0, "N|NAME", thread, "thread that is shown, by number or name")
#define QP_FLAG_SAMPLE_INDEX                                                                   \
    QP_TEXT("sample-index", 0, "NAME", fold.sample_index,                                      \
            "values in place of time: bytes, objects; of another tool's profile: cpu, Ir, ..."),   \
        QP_FLAG_MAX_MEMORY
#define QP_FLAG_MAX_MEMORY                                                                     \
    QP_TEXT("max-memory", 0, "SIZE", fold.max_memory,                                          \
            "memory that reading a profile may take, as 512M or 4G (default: for one of another "  \
            "tool 256M and 64 times its size, unpacked)")
#define QP_UNIT_WORDS "s|ms|us|ns|cycles"
#define QP_FLAG_UNIT                                                                           \
    QP_ONE_OF("unit", 0, QP_UNIT_WORDS, unit,                                                  \
              "unit of times; a cycle is 1 ns (default: the run's -time-unit, or the one that fits)")
#define QP_FLAG_SUBTRACT                                                                       \
    QP_YES("subtract-overhead", 0, has_subtract, "times without the recorder's estimated cost")
#define QP_FLAG_SOURCE_PATH                                                                    \
    QP_TEXT("source-path", 0, "DIR[:DIR]", folders.path,                                       \
            "folders of sources that are not where the program found them")
#define QP_FLAG_NO_SOURCES                                                                     \
    QP_YES("no-sources", 0, has_no_sources, "a page without the texts of sources")
#define QP_FLAGS_SIDES                                                                         \
    {"base", 0, QP_FLAG_FILES, "FILE...", QP_FLAG_AT(diff.base), NULL,                         \
     "the runs before, up to the next option"},                                                \
        {"new", 0, QP_FLAG_FILES, "FILE...", QP_FLAG_AT(diff.new), NULL, "the runs after"}
#define QP_FLAG_SINCE                                                                          \
    QP_TEXT("since", 0, "FILE", earlier, "profile of an earlier run, whose calls are compared")
#define QP_FLAG_FILTER                                                                         \
    QP_TEXT("filter", 0, "TEXT", filter, "text that a function has in its name or file")
/* clang-format on */

/* Parse the words after the command's name. argv is re-ordered.
 * @param error  receives one line
 * @return false: see error */
bool qp_args_parse(const qp_command *command, int argc, char **argv, qp_args *args,
                   qp_error *error);

/* The flag of a name, [n]. @return NULL: none */
const qp_flag *qp_flag_named(const qp_command *command, const char *name, size_t n);

enum { QP_WORDS_BYTES = 2048, QP_HINT_BYTES = 256 };

/* Append a word to `words` ("a|b"). */
void qp_args_add_word(char words[QP_WORDS_BYTES], const char *word);

/* The end of a message about a word that is not one of `words`: " (similar: BEFOREa)" with the nearest
 * one; " (OTHERWISE)" if none is near, "" without OTHERWISE. @param n  bytes of text @return to */
char *qp_args_hint(char to[QP_HINT_BYTES], const char *words, const char *text, size_t n,
                   const char *before, const char *otherwise);

/* Which word of `words` text is. @return -1: none */
int qp_args_word(const char *words, const char *text);

/* Read "1.5s" as ns; units: ns, us, ms, s, m, h, d; without one: seconds. At most 31 years.
 * @return false: not a time */
bool qp_args_time(const char *text, uint64_t *ns);

/* ---- a run of the tool ---------------------------------------------------------------------- */

/* Exit status of the tool. */
enum {
    QP_EXIT_CLEAN = 0,
    QP_EXIT_SALVAGED = 1,
    QP_EXIT_FAILED = 1,
    QP_EXIT_UNUSABLE = 2,
    QP_EXIT_UNSURE = 3
};

typedef struct qp_cli {
    const qp_command *command;
    const qp_command *const *commands; /* all of them; ends with NULL */
    qp_args args;
    qp_screen screen; /* on out */
    qp_out out;       /* standard output */
    char path[4096];  /* of the profile that was loaded, for messages */
    bool has_options; /* those of the first run that was loaded are taken */
    bool is_again;    /* the profile was loaded before: what is damaged in it was reported */
    unsigned line;    /* of the commands of a prompt that messages are about; 0: none */
    /* What qp_cli_load() calls, in place of qp_model_load(), for a command whose profiles are in no file of
     * their own; NULL: none. */
    qp_load_status (*load)(struct qp_cli *cli, const char *what, qp_model **out,
                           qp_error *error);
    void *load_data; /* the command's */
} qp_cli;

/* All of the tool. @return its exit status */
int qp_cli_main(int argc, char **argv);

/* The commands, each in a file of its name. */
extern const qp_command qp_command_run, qp_command_report, qp_command_tree, qp_command_detail,
    qp_command_annotate, qp_command_info, qp_command_check, qp_command_cover, qp_command_list,
    qp_command_diff, qp_command_merge, qp_command_export, qp_command_html, qp_command_pm,
    qp_command_list_live, qp_command_top, qp_command_trace, qp_command_config,
    qp_command_summary, qp_command_version, qp_command_doctor, qp_command_store,
    qp_command_push, qp_command_serve, qp_command_help, qp_command_requests, qp_command_locks;

/* The command that words name: "report", or "cover" and "report".
 * @param n_taken  how many of the words are its name
 * @return a group where its command was not named; NULL: a message was printed */
const qp_command *qp_cli_command(const qp_cli *cli, int n, char *const *words, int *n_taken);

/* ---- messages ------------------------------------------------------------------------------ */

/* "qprof report: …" on standard error, escaped, one line. @return QP_EXIT_UNUSABLE */
int qp_cli_fail(const qp_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same. @return false */
#define qp_cli_refuse(...) (qp_cli_fail(__VA_ARGS__), false)
/* The same, as a remark. */
#define qp_cli_warn(...)   ((void)qp_cli_fail(__VA_ARGS__))
int qp_cli_fail_memory(const qp_cli *cli);
/* Print two lines after a message: the line of `text` that has a byte, and a caret below it.
 * @param column  from 1 */
void qp_cli_point(const char *text, unsigned column);

/* ---- profiles ------------------------------------------------------------------------------ */

/* Does a text name a profile: by its suffix, by the first bytes of the file, or as a process id? */
bool qp_cli_is_profile(const char *text);

/* Tell the profile among at most two operands from the name of something in it; either may come
 * first. @param name  NULL: the command takes none. *file NULL: none was given
 * @return false: wrong usage, a message was printed */
bool qp_cli_operands(const qp_cli *cli, const char **name, const char **file);

/* Load a profile; `file` NULL: the newest *.qprof, *.pcv or *.qv of the current folder.
 * @return QP_EXIT_CLEAN; QP_EXIT_SALVAGED: the file is damaged, a remark was printed;
 *         QP_EXIT_UNUSABLE: no model, a message was printed */
int qp_cli_load(qp_cli *cli, const char *file, qp_model **model);
/* The bytes that a flag says, as "512M". @param text  NULL: 0 @return false: a message was printed */
bool qp_cli_size(const qp_cli *cli, const char *flag, const char *text, uint64_t *n_bytes);
/* The bytes of --max-memory; 0: not given. @return false: a message was printed */
bool qp_cli_max_memory(const qp_cli *cli, uint64_t *n_bytes);

/* Is all in a profile that its program did?
 * @param status  of loading it @param why  receives why not: "is damaged", "was killed before it ended", ... */
enum { QP_WHY_BYTES = 256 };
bool qp_cli_is_whole(const qp_model *m, int status, char why[QP_WHY_BYTES]);

/* --thread: index of the thread. @return false: no such thread, a message was printed */
bool qp_cli_thread(const qp_cli *cli, const qp_model *m, uint32_t *thread);
/* The same, without a message. */
bool qp_cli_thread_named(const qp_cli *cli, const qp_model *m, uint32_t *thread);

/* ---- help ----------------------------------------------------------------------------------- */

void qp_help_command(const qp_screen *s, const qp_command *command);
/* A text in lines that fit, each from column `indent` on; an end of line.
 * @param column  where the cursor is */
void qp_help_text(const qp_screen *s, const char *text, unsigned indent, unsigned column);
void qp_help_all(const qp_cli *cli);
/* "-o, --output=FILE". @return as snprintf() */
int qp_flag_name(char *to, size_t n_bytes, const qp_flag *f);
/* "report" of "cover report" */
const char *qp_command_word(const qp_command *command);
extern const char *const qp_help_concepts;

/* The man page of a command; NULL: of qprof. The page of the recorder's options. All as files. */
void qp_manual_page(const qp_cli *cli, qp_out *out, const qp_command *command);
void qp_manual_options(qp_out *out);
int qp_manual_files(const qp_cli *cli, const char *folder);

/* A script for a shell. */
void qp_completion_script(qp_out *out, const char *shell);
/* Print what can complete the last of the words of a command line: "WORD<tab>TEXT", a line each;
 * ":program": any program; nothing: a file. */
void qp_complete(const qp_cli *cli, int n, char *const *words);

/* ---- the output file ------------------------------------------------------------------------ */

/* One rule for files that exist, qp_output_is_free(); a file is written whole or not at all. */

/* "-", or not given. */
bool qp_output_is_standard(const char *path);
/* A pipe, as in -o >(gzip), a terminal or another device: what was written there cannot be taken back. */
bool qp_output_is_stream(const char *path);

/* May the command write a file there? Refused are its inputs and the sources of the program, by
 * whatever name, and without --force any other file that has content, except what the command
 * replaces. qp_cli_load() asks this of --output for whatever it loads.
 * @param input  what the command reads; NULL: nothing
 * @param m      what was loaded from it; NULL: nothing
 * @return false: a message was printed */
bool qp_output_is_free(const qp_cli *cli, const char *path, const char *input,
                       const qp_model *m);

/* Writes all of an output. @return false: see error (one line) */
typedef bool qp_output_writer(const void *data, qp_out *out, qp_error *error);

/* Write to a file or, as qp_output_is_standard(), to standard output.
 * @return QP_EXIT_CLEAN; QP_EXIT_UNUSABLE: a message was printed, and no file is left */
int qp_output_write(qp_cli *cli, const char *path, qp_output_writer *write, const void *data);

/* Which of `words` ("lcov|json") --to is. @return -1: none, a message was printed */
int qp_output_format(const qp_cli *cli, const char *words);

/* A report in each form of --format. */
typedef struct {
    bool (*text)(const qp_cli *cli, const void *data); /* @return false: no memory */
    const qp_field *document;                          /* of JSON; data is its row */
    void (*csv)(qp_cli *cli, const void *data);
} qp_forms;

/* Print data in the form that the user wants.
 * @return QP_EXIT_CLEAN; QP_EXIT_UNUSABLE: no memory, a message was printed */
int qp_output_print(qp_cli *cli, const qp_forms *forms, const void *data);

/* ---- long work and interrupts --------------------------------------------------------------- */

typedef struct {
    const char *what;         /* "reading" */
    unsigned n_done, n_parts; /* of equal parts, whose percents are shown */
    uint64_t begun;           /* monotonic ns */
    bool is_shown;
} qp_bar;

/* @return the callback of a load; valid as long as b */
qp_progress qp_bar_begin(qp_bar *b, const char *what, unsigned n_parts);
/* Take it off the screen. */
void qp_bar_end(const qp_bar *b);

/* From now on SIGINT and SIGTERM only end qp_interrupt_sleep(). */
void qp_interrupt_take(void);

/* Sleep up to a monotonic time, ns. @return false: a signal came */
bool qp_interrupt_sleep(uint64_t until);

/* ---- other programs ------------------------------------------------------------------------- */

typedef struct {
    pid_t pid;
    int status;          /* as of waitpid */
    uint64_t started_at; /* ns since 1970; its QPROF_RUN, and qp_head.run_at of its profiles */
    char live[512];      /* the live file that it left; "": it sealed it or had none */
} qp_child;

/* Ignore the signals of writes that fail, in the tool but not in the programs that it starts. */
void qp_child_ignore_signals(void);

/* Run a program to its end; signals that reach the tool are passed on to it.
 * @param options  the value of its QPROF
 * @return false: it could not be started, a message was printed */
bool qp_child_run(const qp_cli *cli, char **argv, const char *options, qp_child *child);

/* What a program printed. */
typedef struct {
    char *text; /* [n_bytes] and NUL; free with qp_free() */
    size_t n_bytes;
    char complaint[512]; /* first line of its standard error; "" */
    int status;          /* as of waitpid */
} qp_child_output;

/* Run a program to its end and take its output; it reads nothing.
 * @param argv  ends with NULL; found in PATH, no shell is between
 * @return 0, or why not: errno of starting it, ENOMEM */
int qp_child_read(char *const *argv, qp_child_output *o);

#endif
