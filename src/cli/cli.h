/* cli.h: what all commands share: their table, the screen, errors, loading a profile. */
#ifndef QP_CLI_CLI_H
#define QP_CLI_CLI_H

#include "cli/args.h"
#include "model/model.h"

/* Exit status of the tool. */
enum { QP_EXIT_CLEAN = 0, QP_EXIT_SALVAGED = 1, QP_EXIT_FAILED = 1, QP_EXIT_UNUSABLE = 2 };

typedef struct qp_cli {
    const qp_command *command;
    qp_args args;
    qp_screen screen; /* on out */
    qp_out out;       /* standard output */
    char path[4096];  /* of the profile that was loaded, for messages */
    unsigned line;    /* of the commands of a prompt that messages are about; 0: none */
} qp_cli;

extern const qp_command qp_command_run, qp_command_report, qp_command_tree, qp_command_detail,
    qp_command_annotate, qp_command_info, qp_command_check, qp_command_cover, qp_command_list,
    qp_command_diff, qp_command_merge, qp_command_export, qp_command_html, qp_command_pm,
    qp_command_top, qp_command_trace, qp_command_config, qp_command_help;
extern const qp_command *const qp_commands[]; /* ends with NULL */

/* The command that words name: "report", or "cover" and "report".
 * @param n_taken  how many of the words are its name
 * @return a group where its command was not named; NULL: a message was printed */
const qp_command *qp_cli_command(const qp_cli *cli, int n, char *const *words, int *n_taken);

/* ---- messages ------------------------------------------------------------------------------ */

/* "qprof report: …" on standard error, escaped, one line. @return QP_EXIT_UNUSABLE */
int qp_cli_fail(const qp_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same as a remark. */
void qp_cli_warn(const qp_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int qp_cli_fail_memory(const qp_cli *cli);
/* Two lines behind a message: the line of `text` that a byte is in, and a caret below it.
 * @param column  from 1 */
void qp_cli_point(const char *text, unsigned column);

/* ---- profiles ------------------------------------------------------------------------------ */

/* Is it surely meant as a profile: by its name, its first bytes, or as the id of a process? */
bool qp_cli_is_profile(const char *text);

/* Tell the profile among at most two operands from the name of something in it; either may come
 * first. @param name  NULL: the command takes none. *file NULL: none was given
 * @return false: wrong usage, a message was printed */
bool qp_cli_operands(const qp_cli *cli, const char **name, const char **file);

/* Load a profile; `file` NULL: the newest *.qprof, *.pcv or *.qv of the current folder.
 * @return QP_EXIT_CLEAN; QP_EXIT_SALVAGED: said so on standard error; QP_EXIT_UNUSABLE: no model,
 *         said why */
int qp_cli_load(qp_cli *cli, const char *file, qp_model **model);

/* --thread: index of the thread. @return false: no such thread, a message was printed */
bool qp_cli_thread(const qp_cli *cli, const qp_model *m, uint32_t *thread);
/* The same, without a message. */
bool qp_cli_thread_named(const qp_cli *cli, const qp_model *m, uint32_t *thread);

/* Is --unit a unit? @return false: a message was printed */
bool qp_cli_unit_is_good(const qp_cli *cli);

#endif
