/* cover_diff.h: the two things that `qprof cover diff` can do. */
#ifndef QP_CLI_COVER_DIFF_H
#define QP_CLI_COVER_DIFF_H

#include "cli/cover.h"
#include "model/cover_diff.h"

/* Coverage of the lines that --git or --patch says are changed. @return exit status */
int qp_cover_show_changes(qp_cli *cli);

#endif
