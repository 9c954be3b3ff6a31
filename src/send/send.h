/* send.h: a body is sent to a server over HTTP, again and again until there is an answer. Redirects are not
 * followed, answers are bounded, and nothing of what a header says is ever in a message. */
#ifndef QP_SEND_SEND_H
#define QP_SEND_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/buf.h"
#include "base/text/error.h"

typedef enum {
    QP_SEND_TAKEN,     /* the server has it */
    QP_SEND_TOO_LARGE, /* it does not take as much */
    QP_SEND_REFUSED,   /* it will never take this body */
    QP_SEND_FAILED     /* no answer, or one that is about the server: try later */
} qp_send_result;

typedef struct {
    const char *url;  /* http:// or https://, checked by qp_sender_new() */
    const char *path; /* that is added to it: "/v1development/profiles" */
    const char *type; /* of the body */
    const char
        *answer_type; /* of answers that have a body; others are not from such a server */
    const char *answer_type_too; /* or this; NULL: none */
    size_t
        answer_bytes; /* that are needed of an answer, all of it; 0: QP_ANSWER_BYTES are read, and do */
    bool is_packed;      /* the body is compressed by gzip, and says so */
    const char *headers; /* "NAME: VALUE" a line, see qp_send_are_headers(); NULL: none */
    const char *ca_file; /* certificates that are trusted; NULL: those of the system */
    uint64_t timeout_ns; /* of one try */
    unsigned n_tries;    /* at most */
    /* What an answer of answer_type that is no success says. @return its beginning in the body; NULL: nothing */
    const char *(*explain)(const qp_buf *answer, size_t *n); /* NULL: all answers are texts */
    bool (*wait)(uint64_t until_ns); /* @return false: end the request, and do not try again */
} qp_send_options;

typedef struct qp_sender qp_sender;

/** May all lines be headers of a request? Those that the request needs itself are refused.
 * @param from  what they are called in messages @return false: see error, which is no part of a line */
bool qp_send_are_headers(const char *headers, const char *from, qp_error *error);

/* "libcurl 7.88.1 (OpenSSL/3.0.17)"; NULL: it was left out of this build. */
const char *qp_send_library(void);

/** @param o  texts are borrowed
 * @return free with qp_sender_free(); NULL: see error (one line) */
qp_sender *qp_sender_new(const qp_send_options *o, qp_error *error);
void qp_sender_free(qp_sender *s); /* takes NULL */

enum { QP_ANSWER_BYTES = 64 << 10 }; /* of an answer; what is longer is not read */

/** Send a body.
 * @param answer  an empty buffer of bytes, which receives what the server says if it took the body
 * @param error   unless taken: one line */
qp_send_result qp_send(qp_sender *s, const void *body, size_t n_bytes, qp_buf *answer,
                       qp_error *error);

/** After QP_SEND_FAILED: may it be the fault of the body alone, so that another one is worth a try? */
bool qp_send_may_be_body(const qp_sender *s);

/** Was the last request ended by wait()? The server may have the body all the same. */
bool qp_send_is_interrupted(const qp_sender *s);

/** Monotonic ns before which the server does not want to be asked again; 0: it has not said. */
uint64_t qp_send_not_before(const qp_sender *s);

#endif
