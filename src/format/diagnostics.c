/* diagnostics.c: names of the counters. */
#include "format/diagnostics.h"

const char qp_diagnostic_names[QP_D_COUNT][24] = {
#define QP_X(name, kind, text) #name,
    QP_DIAGNOSTICS(QP_X)
#undef QP_X
};

const char qp_diagnostic_kinds[] = {
#define QP_X(name, kind, text) #kind[0],
    QP_DIAGNOSTICS(QP_X)
#undef QP_X
        '\0'};
