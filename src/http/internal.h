/* internal.h: what the files of the server share. */
#ifndef QP_HTTP_INTERNAL_H
#define QP_HTTP_INTERNAL_H

#include <signal.h>
#include <sys/types.h>

#include "http/http.h"

/* ---- sockets: listen.c ------------------------------------------------------------------- */

enum { QP_HTTP_SOCKETS_MOST = 2, QP_HTTP_ADDRESS_BYTES = 96 };

typedef struct {
    int fds[QP_HTTP_SOCKETS_MOST]; /* [n] */
    size_t n;
    char address[QP_HTTP_ADDRESS_BYTES]; /* "http://127.0.0.1:8080/" */
} qp_http_sockets;

/* Listen where a service says. @return false: see error, and none is open */
bool qp_http_listen(qp_http_sockets *to, const qp_http_service *service, qp_error *error);
void qp_http_sockets_close(qp_http_sockets *s);

/* ---- a process that answers one request: worker.c ----------------------------------------- */

enum { QP_HTTP_ANSWER_SECONDS = 60 };

typedef struct {
    pid_t pid; /* 0: none runs */
    int status_pipe, body;
} qp_http_worker;

/* @param mask  of signals, for the process @return false: see error */
bool qp_http_worker_start(qp_http_worker *w, const qp_http_service *service,
                          const qp_http_route *route, const qp_http_request *r,
                          const sigset_t *mask, qp_error *error);
/* Wait for its end, which its pipe has shown.
 * @return the status of its answer, which is in w->body; 0: it has none, and w->body is closed */
unsigned qp_http_worker_end(qp_http_worker *w);
/* End it now. */
void qp_http_worker_stop(qp_http_worker *w);

#endif
