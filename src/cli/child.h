/* child.h: programs that the tool starts: the one under `qprof run`, and others for their output. */
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
