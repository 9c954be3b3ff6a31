/* args.h: command lines. One table of flags for each command yields the parser, --help, the man
 * page and the shell completion. */
#ifndef QP_CLI_ARGS_H
#define QP_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/screen.h"

enum { QP_LIST_MOST = 64 };

typedef enum { QP_FORMAT_TEXT, QP_FORMAT_JSON, QP_FORMAT_CSV } qp_format;
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
        has_contexts, has_blocks, is_relative, is_lcov2;
    bool has_calls, has_counts, has_not_executed;
    double lines_under, branches_under, functions_under; /* percent; < 0: not given */
    const char *root, *adjustments, *git, *repo, *patch, *only, *thresholds, *test;
    qp_list include, exclude, contexts, areas, no_areas;
} qp_cover_args;

/* Flags of `qprof diff`. */
typedef struct {
    qp_list base, new;
    bool has_paths, has_legend, is_qxdiff, ignores_system;
    double slower; /* percent of --fail-if-slower; < 0: not given */
} qp_diff_args;

/* What of a profile is read, and left out: cli/fold.h. */
typedef struct {
    const char *focus, *when, *sample_index; /* NULL: not given */
    qp_list hide, hide_modules;
} qp_fold_args;

/* Flags of `qprof trace`; file: of `html --trace`. */
typedef struct {
    const char *since, *until, *file; /* NULL: not given */
    qp_list names;
    bool is_followed, has_histogram;
} qp_trace_args;

/* Values of all flags of all commands; each command's table fills its own. */
typedef struct {
    unsigned format, color, sort; /* positions in the words of the flag */
    bool help;
    bool is_forced, has_threads, has_subtract, has_skips, is_hottest, is_man, is_completion,
        has_list, is_calls, has_samples, has_callgrind_jumps;
    uint64_t limit; /* 0: none; UINT64_MAX: not given */
    uint64_t depth, count;
    uint64_t routes; /* frames of a call route; 0: none are shown; UINT64_MAX: not given */
    double min_percent, interval;
    const char *thread, *filter, *unit, *source_path; /* NULL: not given */
    unsigned time, granularity, percent;              /* UINT_MAX: not given */
    const char *clock, *output, *to, *pid, *lasts, *pc, *config;
    qp_cover_args cover;
    qp_diff_args diff;
    qp_fold_args fold;
    qp_trace_args trace;
    bool is_long;
    char **operands; /* [n_operands] of argv; for `run` options of the recorder */
    int n_operands;
    char **rest; /* [n_rest] behind "--", or from the first operand on for `run` */
    int n_rest;
} qp_args;

typedef enum {
    QP_FLAG_YES,     /* bool */
    QP_FLAG_TEXT,    /* const char * */
    QP_FLAG_LIST,    /* qp_list */
    QP_FLAG_NAMES,   /* qp_list; a ':' is part of a name */
    QP_FLAG_FILES,   /* the same; all words up to the next flag belong to it */
    QP_FLAG_COUNT,   /* uint64_t */
    QP_FLAG_REAL,    /* double, >= 0 */
    QP_FLAG_PERCENT, /* double, 0 to 100 */
    QP_FLAG_WORD     /* unsigned: which of `value`, which are separated by '|' */
} qp_flag_kind;

typedef struct {
    const char *name;
    char letter; /* 0: none */
    qp_flag_kind kind;
    const char *value;   /* what stands for it in the help, or the words */
    size_t at;           /* of qp_args */
    const char *initial; /* NULL: none */
    const char *help;
} qp_flag;

struct qp_cli;

/* A command, or a group of them: a group has no flags of its own, and its name is the first word of
 * its commands' names. */
typedef struct qp_command {
    const char *name;     /* as typed: "report", "cover report" */
    const char *operands; /* "[FILE]" */
    const char *summary;  /* one line */
    const char *about;    /* paragraphs of the help, lines broken */
    const qp_flag *flags; /* ends with a NULL name; NULL: a group */
    const char *examples; /* a line each */
    int (*run)(struct qp_cli *cli);
    bool writes_profile; /* to --output */
    bool takes_rest;     /* everything from the first operand on belongs to a program */
    const struct qp_command *const *subs;   /* of a group, ends with NULL */
    void (*print_more)(const qp_screen *s); /* what the help says behind the flags; or NULL */
} qp_command;

/* Flags that many commands have. */
#define QP_FLAG_AT(field) offsetof(qp_args, field)
#define QP_FLAGS_COMMON                                                                        \
    {"color",                                                                                  \
     0,                                                                                        \
     QP_FLAG_WORD,                                                                             \
     "auto|always|never",                                                                      \
     QP_FLAG_AT(color),                                                                        \
     NULL,                                                                                     \
     "colours; auto: on a terminal, unless NO_COLOR is set"},                                  \
        {"help", 'h', QP_FLAG_YES, NULL, QP_FLAG_AT(help), NULL, "this text"},                 \
    {                                                                                          \
        NULL, 0, QP_FLAG_YES, NULL, 0, NULL, NULL                                              \
    }
#define QP_FLAG_FORMAT                                                                         \
    {                                                                                          \
        "format", 0, QP_FLAG_WORD, "text|json|csv", QP_FLAG_AT(format), NULL,                  \
            "form of the output"                                                               \
    }
#define QP_FLAG_THREAD                                                                         \
    {                                                                                          \
        "thread", 0, QP_FLAG_TEXT, "N|NAME", QP_FLAG_AT(thread), NULL,                         \
            "only this thread, by number or name"                                              \
    }
#define QP_FLAG_SAMPLE_INDEX                                                                   \
    {                                                                                          \
        "sample-index", 0, QP_FLAG_TEXT, "NAME", QP_FLAG_AT(fold.sample_index), NULL,          \
            "which values of a profile of another tool are read: cpu, alloc_space, Ir, ..."    \
    }
#define QP_UNIT_WORDS "s|ms|us|ns"
#define QP_FLAG_UNIT                                                                           \
    {                                                                                          \
        "unit", 0, QP_FLAG_TEXT, QP_UNIT_WORDS, QP_FLAG_AT(unit), NULL,                        \
            "unit of times; default: the run's -time-unit or the one that fits"                \
    }
#define QP_FLAG_SUBTRACT                                                                       \
    {                                                                                          \
        "subtract-overhead", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(has_subtract), NULL,             \
            "take the recorder's own estimated cost off the times"                             \
    }
#define QP_FLAG_SOURCE_PATH                                                                    \
    {                                                                                          \
        "source-path", 0, QP_FLAG_TEXT, "DIR[:DIR]", QP_FLAG_AT(source_path), NULL,            \
            "where sources are, if not where the program found them"                           \
    }

/* Parse argv behind the command's name. argv is re-ordered.
 * @param error  receives one line
 * @return false: see error */
bool qp_args_parse(const qp_command *command, int argc, char **argv, qp_args *args, char *error,
                   size_t error_bytes);

/* The word of `words` ("a|b|c") nearest to `text`, if it is near enough to be meant.
 * @return bytes of it, *found points into words; 0: none */
size_t qp_args_nearest(const char *words, const char *text, const char **found);

/* Which word of `words` text is. @return -1: none */
int qp_args_word(const char *words, const char *text);

#endif
