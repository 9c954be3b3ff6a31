/* http.h: a small server of pages: it admits the requests that it may answer, and has each answered by a process
 * of its own, of limited memory and time, while others are served. Nothing is read from a file that a request
 * names. Built only where libmicrohttpd is: see qp_http_version(). */
#ifndef QP_HTTP_HTTP_H
#define QP_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"

/* ---- a request: request.c ----------------------------------------------------------------- */

enum { QP_HTTP_TARGET_BYTES = 8192, QP_HTTP_PAIRS_MOST = 100, QP_HTTP_TOKEN_BYTES = 256 };

typedef struct {
    const char *key, *value; /* decoded; may have any byte but NUL */
} qp_http_pair;

typedef struct {
    const char *path; /* as it was sent: letters, digits, and ".-_/" */
    qp_http_pair pairs[QP_HTTP_PAIRS_MOST];
    size_t n_pairs;
    char text[QP_HTTP_TARGET_BYTES + 1]; /* of all of these */
} qp_http_request;

/** Read the target of a request: "/path?key=value&...", with at most QP_HTTP_PAIRS_MOST pairs.
 * @param why  receives what is wrong with it, static text
 * @return 200, 400 or 414 */
unsigned qp_http_request_read(qp_http_request *r, const char *target, const char **why);

/** Is this the Host of a request that came to this machine under its own name, and not under one that a
 * stranger's name server points here? @param host  NULL: none */
bool qp_http_host_is_local(const char *host);

/** Whether `Authorization` has the token, as "Bearer TOKEN" or as the password of "Basic". What it takes depends
 * on the length of what was sent alone. @param header  NULL: none */
bool qp_http_token_fits(const char *header, const char *token);

/* ---- the server: server.c ----------------------------------------------------------------- */

typedef struct {
    const char *path, *type; /* type: of its content; path NULL ends a list */
    bool is_light;           /* is not held up by those that take long */
    const void *data;        /* the owner's */
} qp_http_route;

typedef struct {
    const char *listen; /* a numeric address; NULL: 127.0.0.1 and ::1 */
    uint16_t port;      /* 0: any */
    const char *token;  /* that requests need; NULL: none */
    const qp_http_route *routes;
    uint64_t max_memory; /* bytes that a process which answers may take */
    uint64_t max_unread; /* bytes of all answers that clients have not taken yet */
    /** Write the answer to standard output, and return its status. Called in a process of its own. */
    unsigned (*answer)(void *to, const qp_http_route *route, const qp_http_request *r);
    void (*ready)(void *to, const char *address); /* "http://127.0.0.1:8080/" */
    void *to;
} qp_http_service;

/** Serve until SIGINT or SIGTERM. @return false: see error (one line) */
bool qp_http_serve(const qp_http_service *service, qp_error *error);

/** @return the version of the library; NULL: this build has no server */
const char *qp_http_version(void);

#endif
