/* child.h: the program under `qprof run`. */
#ifndef QP_CLI_CHILD_H
#define QP_CLI_CHILD_H

#include <sys/types.h>

#include "cli/recorder.h"

typedef struct {
    pid_t pid;
    int status;          /* as of waitpid */
    uint64_t started_at; /* ns since 1970 */
    char live[512];      /* the live file that it left behind; "" if it sealed it or had none */
} qp_child;

/* Run a program to its end; signals that reach the tool are handed on to it.
 * @return false: it could not be started, a message was printed */
bool qp_child_run(const qp_cli *cli, char **argv, const qp_recorder_words *words,
                  qp_child *child);

#endif
