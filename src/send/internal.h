/* internal.h: what the files of the room share: one request. */
#ifndef QP_SEND_INTERNAL_H
#define QP_SEND_INTERNAL_H

#include "send/send.h"

struct qp_sender {
    qp_send_options o;
    char *url;            /* with the path */
    void *curl;           /* CURL * */
    void *headers;        /* struct curl_slist * */
    uint64_t not_before;  /* see qp_send_not_before() */
    uint64_t chance;      /* of the next wait */
    unsigned status;      /* of the last answer; 0: none came */
    char type[64];        /* of the last answer, without parameters; "": it did not say */
    uint64_t retry_after; /* s, of the last answer; 0: it did not say */
    bool is_hopeless;     /* the last request cannot be better the next time */
    bool is_unheard;      /* there was a connection, but no whole answer came */
    bool is_interrupted;  /* by wait() */
    bool is_cut;          /* the last answer is longer than what is read of one */
    qp_buf answer;        /* bytes: its body, or the beginning of it */
};

enum { QP_HEADER_BYTES = 8192 };
/* The next line that is neither empty nor a comment. @param number  0 at first @return NULL: that was all */
const char *qp_header_next(const char **at, unsigned *number, size_t *n);

/* @return false: see error */
bool qp_request_init(qp_sender *s, qp_error *error);
void qp_request_fini(qp_sender *s);
/* One try: status, retry_after, answer. @return false: no whole answer came, see error */
bool qp_request(qp_sender *s, const void *body, size_t n_bytes, qp_error *error);

#endif
