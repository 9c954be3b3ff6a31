/* option_help.c: the help of the options, for the tool alone: in options.c its texts would become a
 * part of every host. */
#include "format/options.h"

const char *const qp_option_help[QP_N_OPTIONS] = {
#define QP_X(id, name, kind, initial, values, help) help,
    QP_OPTIONS(QP_X)
#undef QP_X
};
