/* config_apply.h: handing a configuration to a process through its live profile. */
#ifndef QP_CLI_CONFIG_APPLY_H
#define QP_CLI_CONFIG_APPLY_H

#include "cli/cli.h"

/* Ask, wait for the answer, print it. @param pid  as typed
 * @return QP_EXIT_CLEAN; QP_EXIT_FAILED: it was refused; QP_EXIT_UNUSABLE: nobody can be asked */
int qp_config_apply(const qp_cli *cli, const char *pid, const char *file);

#endif
