/* serve.h: what the files of `qprof serve` share. */
#ifndef QP_CLI_SERVE_SERVE_H
#define QP_CLI_SERVE_SERVE_H

#include "cli/core/cli.h"
#include "http/http.h"

/* ---- answer.c ----------------------------------------------------------------------------- */

extern const qp_http_route qp_serve_routes[];

/* Answer a request, on standard output. @param to  qp_cli, whose store is `operands[0]` @return the status */
unsigned qp_serve_answer(void *to, const qp_http_route *route, const qp_http_request *r);

/* The last line that was printed as a message, without the name of the command. @return to */
char *qp_serve_message(char *to, size_t room);

/* ---- pages.c ------------------------------------------------------------------------------ */

/* Commands whose output is a page, for the requests that name them; each has flags for what may be chosen. */
extern const qp_command qp_serve_start, qp_serve_window, qp_serve_diff, qp_serve_dead,
    qp_serve_slow, qp_serve_request;

/* A page with a message alone. */
void qp_serve_trouble(qp_cli *cli, const char *message);

#endif
