/* option_help.c: what the options are for. Apart from their table, which the recorder carries. */
#include "format/options.h"

const char *const qp_option_help[QP_N_OPTIONS] = {
#define QP_X(id, name, kind, initial, values, help) help,
    QP_OPTIONS(QP_X)
#undef QP_X
};
