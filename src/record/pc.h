/* pc.h: the PC command of a run. */
#ifndef QP_RECORD_PC_H
#define QP_RECORD_PC_H

#include "code/pc_command.h"
#include "record/session.h"

/* What -pc says goes into the head. @return 0, QPROF_E_SYNTAX, QPROF_E_LIMIT */
int qp_pc_begin(qp_parse_error *error);

#endif
