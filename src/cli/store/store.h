/* store.h: the commands of `qprof store`, and what they choose of a store. */
#ifndef QP_CLI_STORE_STORE_H
#define QP_CLI_STORE_STORE_H

#include "cli/core/cli.h"
#include "store/store.h"

extern const qp_command qp_command_store_import, qp_command_store_list, qp_command_store_top,
    qp_command_store_tree, qp_command_store_export, qp_command_store_check,
    qp_command_store_remove, qp_command_store_diff, qp_command_store_series,
    qp_command_store_dead, qp_command_store_roll, qp_command_store_requests,
    qp_command_store_slow;

/* A store that is open, and the profiles of it that the flags choose. */
typedef struct {
    qp_store *store;
    qp_store_profile *profiles; /* [n] in the order in which they came */
    size_t n;
    qp_buf list;
    qp_arena arena;
} qp_choice;

/* Open a store, a file or one on servers. @return as qp_store_open() */
qp_store *qp_store_of(const char *path, qp_store_access access, qp_error *error);

/* Is a store the only operand? @return false: a message was printed */
bool qp_choice_is_usage(const qp_cli *cli);
/* Can the choice be read: its moments and labels? @return false: see error */
bool qp_choice_is_valid(const qp_store_args *a, qp_error *error);
/* Open the store, and choose. What is chosen may be nothing.
 * @return false: see error (one line without the path), and nothing is open */
bool qp_choice_open(qp_choice *c, const qp_cli *cli, qp_store_access access, qp_error *error);
void qp_choice_close(qp_choice *c);

/* Open the store and run a command on what is chosen. @return its exit status, or QP_EXIT_UNUSABLE */
int qp_choice_run(qp_cli *cli, qp_store_access access, int (*run)(qp_cli *cli, qp_choice *c));

/* The sum of profiles of the store, as a model.
 * @return as qp_model_load() */
qp_load_status qp_choice_sum(const qp_cli *cli, const qp_choice *c,
                             const qp_store_profile *profiles, size_t n, qp_model **out,
                             qp_error *error);

/* The same of all that the flags choose: for qp_cli.load. */
qp_load_status qp_choice_load(qp_cli *cli, const char *path, qp_model **out, qp_error *error);

/* Run a command for profiles of two sides, diff or html, on what --base and --new choose.
 * @return its exit status, or QP_EXIT_UNUSABLE */
int qp_choice_compare(qp_cli *cli, const qp_command *how);

/* ---- series and dead code: answers.c -------------------------------------------------------- */

typedef struct {
    const char *key;
    uint64_t profiles, n_counted; /* in n_counted of them calls were counted */
    uint64_t calls, calls_each;   /* of these; UINT64_MAX: there are none */
    uint64_t self, self_each;
} qp_series_row;

typedef struct {
    qp_series_row *rows; /* [n] by their keys; free with qp_free(), also after a failure */
    size_t n;
    const char *by, *unit; /* unit: of self */
} qp_series;

#define QP_SERIES_WORDS "day|hour|version|service|host"
enum { QP_SERIES_DAY, QP_SERIES_HOUR };

/* Add profiles up. @param by  position in the words; keys are c's
 * @return QP_EXIT_CLEAN; QP_EXIT_UNUSABLE: a message was printed */
int qp_series_make(const qp_cli *cli, qp_choice *c, unsigned by, qp_series *to);

/* List the requests that the profiles kept whole. @param requests  an empty buffer of qp_store_kept
 * @return false: a message was printed */
bool qp_choice_kept(const qp_cli *cli, qp_choice *c, qp_buf *requests);
/* Run a command that shows a profile on one that has the calls of one of them alone.
 * @return its exit status, or QP_EXIT_UNUSABLE */
int qp_choice_show_kept(qp_cli *cli, qp_choice *c, const qp_store_kept *k,
                        const qp_command *how);

bool qp_method_is_dead(const qp_model_method *k);
/* How many functions a model has, whether or not they were called. */
uint64_t qp_functions_known(const qp_model *m);

/* Read a moment: "2026-11-26", "2026-11-26T10:30", "2026-11-26T10:30:00.5", with or without "Z", in UTC; or
 * nanoseconds since 1970; or how long ago it was: "90s", "15m", "2h", "30d",
 * also with " ago" after it.
 * @param ns  since 1970 @return false: none of these */
bool qp_moment_read(const char *text, uint64_t now_ns, uint64_t *ns);

/* clang-format off */ /* a flag is two lines */
#define QP_STORE_FLAG_FORCE                                                                    \
    QP_YES("force-merge", 0, is_forced,                                                        \
           "sum of different versions of a source file; functions that differ are separate")
#define QP_STORE_FLAGS_CHOICE                                                                  \
    QP_TEXT("service", 0, "NAME", store.service,                                               \
            "profiles of this service: the label, or else the program"),                        \
    QP_TEXT("version", 0, "NAME", store.version, "profiles with this label `version`"),        \
    {"label", 0, QP_FLAG_NAMES, "NAME=VALUE", QP_FLAG_AT(store.labels), NULL,                  \
     "profiles with this label; may be repeated"},                                             \
    QP_TEXT("since", 0, "TIME", store.since,                                                   \
            "profiles that ended at this moment or later: 2026-11-26T10:30 in UTC, or 2h ago"),  \
    QP_TEXT("until", 0, "TIME", store.until, "profiles that ended before this moment")
/* clang-format on */

#endif
