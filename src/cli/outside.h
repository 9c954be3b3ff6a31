/* outside.h: `qprof run --pid`: sampling a process that records, from outside. */
#ifndef QP_CLI_OUTSIDE_H
#define QP_CLI_OUTSIDE_H

#include "cli/cli.h"

/* Sample the process of --pid for the time of --for, and write a profile.
 * @param path  receives its name @return false: a message was printed */
bool qp_outside_run(const qp_cli *cli, char *path, size_t n_bytes);

#endif
