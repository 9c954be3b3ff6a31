/* help.h: help, man page and shell completion, all from the tables of flags. */
#ifndef QP_CLI_HELP_H
#define QP_CLI_HELP_H

#include "cli/args.h"

void qp_help_command(const qp_screen *s, const qp_command *command);
/* A text in lines that fit, each from column `indent` on; an end of line.
 * @param column  where the cursor is */
void qp_help_text(const qp_screen *s, const char *text, unsigned indent, unsigned column);
void qp_help_all(const qp_screen *s);

#endif
