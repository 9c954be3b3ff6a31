/* help.h: help, man page and shell completion, all from the tables of flags. */
#ifndef QP_CLI_HELP_H
#define QP_CLI_HELP_H

#include "cli/args.h"

void qp_help_command(const qp_screen *s, const qp_command *command);
void qp_help_all(const qp_screen *s);

#endif
