/* pc_command.h: the PC command: what kind of interrupts, how often, and which of them count. */
#ifndef QP_CODE_PC_COMMAND_H
#define QP_CODE_PC_COMMAND_H

#include "base/text/error.h"
#include "code/pattern.h"
#include "format/layout.h" /* qp_pc_kind */

enum { QP_PC_DEFAULT_US = 10000 };

typedef struct {
    qp_pc_kind kind;
    uint64_t period_us;
    bool is_raised; /* less was asked for than the shortest period */
    const char
        *pattern; /* [n_pattern] behind WHEN, without the ';'; NULL: every stack counts */
    size_t n_pattern;
} qp_pc_command;

/* "PC {VIRTUAL|REAL} {t} {WHEN pattern;}", the word PC optional. The pattern is parsed, too.
 * @return QP_PARSE_OK; QP_PARSE_SYNTAX, QP_PARSE_ROOM: see error */
qp_parse qp_pc_parse(const char *text, qp_pc_command *command, qp_error *error);

#endif
