/* kept.h: requests that were kept whole, for `qprof requests`. */
#ifndef QP_CLI_PROFILE_KEPT_H
#define QP_CLI_PROFILE_KEPT_H

#include "cli/show/show.h"

/* `qprof requests --slowest`, --show, --trace-id. @return an exit status */
int qp_kept_show(qp_cli *cli, const qp_subject *s);

/* Say how many requests were kept, if any was. @return false: no memory */
bool qp_kept_hint(const qp_cli *cli, const qp_model *m);

extern const qp_field qp_kept_list_fields[], qp_kept_fields[];

/* Bytes as hexadecimal digits. @param to  [2 * n + 1] */
void qp_requests_hex(char *to, const uint8_t *bytes, size_t n);

#endif
