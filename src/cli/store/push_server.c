/* push_server.c: profiles for the servers of others: which requests they take, and what their answers mean
 * for a file. Read qp_server_push first. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/dict.h"
#include "base/text/text.h"
#include "cli/store/push.h"
#include "export/shared/profile.h"
#include "format/layout.h"
#include "model/figures/figures.h"
#include "model/read/read.h"
#include "send/send.h"

typedef struct {
    const char *scheme, *path, *type;
    const char *answer_type_too;
    bool is_packed;
    qp_export_message *write;
    qp_export_limits limits;
} protocol;

/* Limits of Pyroscope as it comes: samples, frames and bytes of a profile. OTLP states none for a profile,
 * and 64 MiB for a request; a collector takes 20. */
static const protocol protocols[] = {
    {"pyroscope:",
     "/push.v1.PusherService/Push",
     "application/proto",
     "application/json",
     false,
     qp_export_pyroscope,
     {.n_samples = 16000, .depth = 1000, .n_bytes = 4 << 20}},
    {"otlp:",
     "/v1development/profiles",
     "application/x-protobuf",
     NULL,
     true,
     qp_export_otlp,
     {.n_samples = 100000, .depth = QP_EXPORT_FRAMES, .n_bytes = 16 << 20}},
};
enum { N_PROTOCOLS = sizeof protocols / sizeof *protocols };

struct qp_server {
    const protocol *protocol;
    qp_sender *sender;
    char *headers; /* NULL: none */
};

static const protocol *protocol_of(const char *to)
{
    for (size_t i = 0; i < N_PROTOCOLS; i++)
        if (strncmp(to, protocols[i].scheme, strlen(protocols[i].scheme)) == 0)
            return &protocols[i];
    return NULL;
}

bool qp_server_is_named(const char *to)
{
    return protocol_of(to);
}

/* ---- answers of OTLP -------------------------------------------------------------------------- */

/* The next field of a message. @return where it begins; NULL: that was all, or it is damaged */
static const unsigned char *next_field(const unsigned char **at, const unsigned char *end,
                                       uint64_t *key, uint64_t *value)
{
    uint64_t *const to[] = {key, value};
    for (size_t i = 0; i < 2; i++) {
        unsigned shift = 0;
        *to[i] = 0;
        do {
            if (*at == end || shift > 63)
                return NULL;
            *to[i] |= (uint64_t)(**at & 0x7F) << shift;
            shift += 7;
        } while (*(*at)++ & 0x80);
    }
    const unsigned char *begin = *at;
    const bool is_text = (*key & 7) == 2;
    if ((is_text && *value > (size_t)(end - begin)) || (!is_text && (*key & 7) != 0))
        return NULL;
    *at += is_text ? *value : 0;
    return begin;
}

/* What is no success has a Status as its body. */
static const char *explain_status(const qp_buf *answer, size_t *n)
{
    enum { STATUS_MESSAGE = 2 };
    uint64_t key, value;
    const unsigned char *at = answer->items, *end = at + answer->n, *begin;
    while (at && (begin = next_field(&at, end, &key, &value)))
        if (key == (STATUS_MESSAGE << 3 | 2)) {
            *n = value;
            return (const char *)begin;
        }
    return NULL;
}

/* ---- setting up ----------------------------------------------------------------------------- */

qp_server *qp_server_new(const qp_cli *cli, const char *to)
{
    qp_error error;
    qp_server *s = qp_alloc_zeroed(1, sizeof *s);
    if (!s)
        return qp_cli_fail_memory(cli), NULL;
    s->protocol = protocol_of(to);
    qp_send_options o = {.url = to + strlen(s->protocol->scheme),
                         .path = s->protocol->path,
                         .type = s->protocol->type,
                         .answer_type = s->protocol->type,
                         .answer_type_too = s->protocol->answer_type_too,
                         .explain =
                             s->protocol->write == qp_export_otlp ? explain_status : NULL,
                         .is_packed = s->protocol->is_packed,
                         .wait = qp_interrupt_sleep};
    qp_store_servers how;
    bool is_good = qp_servers_take(cli, &how, &s->headers);
    if (is_good) {
        o.ca_file = how.ca_file;
        o.headers = how.headers;
        o.timeout_ns = how.timeout_ns;
        o.n_tries = how.n_tries;
        s->sender = qp_sender_new(&o, &error);
        is_good =
            s->sender || qp_cli_refuse(cli, "--to=%s: %s",
                                       strchr(to, '@') ? s->protocol->scheme : to, error.text);
    }
    if (is_good)
        return s;
    qp_server_free(s);
    return NULL;
}

void qp_server_free(qp_server *s)
{
    if (!s)
        return;
    qp_sender_free(s->sender);
    qp_free(s->headers);
    qp_free(s);
}

uint64_t qp_server_not_before(const qp_server *s)
{
    return qp_send_not_before(s->sender);
}

bool qp_server_may_be_file(const qp_server *s)
{
    return qp_send_may_be_body(s->sender);
}

bool qp_server_is_interrupted(const qp_server *s)
{
    return qp_send_is_interrupted(s->sender);
}

/* ---- a profile -------------------------------------------------------------------------------- */

/* The same for the same file, so that a server may tell that it has it. */
static void identify(const qp_model *m, unsigned char id[QP_EXPORT_ID_BYTES])
{
    const qp_head *h = qp_image_head(&m->own->image);
    const uint64_t rest[] = {m->run.started_at, h->clear_count, m->run.dataset, m->run.ended_at,
                             m->run.calls};
    const uint64_t hash = qp_hash_bytes(QP_HASH_START ^ h->nonce, rest, sizeof rest);
    memcpy(id, &h->nonce, sizeof h->nonce);
    memcpy(id + sizeof h->nonce, &hash, sizeof hash);
}

/* A server that speaks OTLP may answer 200, and say that it left profiles out: ExportProfilesPartialSuccess.
 * @return false: see error */
static bool is_all_taken(const protocol *p, const qp_buf *answer, qp_error *error)
{
    uint64_t key, value;
    char said[200] = "";
    const unsigned char *at = answer->items, *end = at + answer->n, *inner;
    if (p->write != qp_export_otlp || !answer->n ||
        !(inner = next_field(&at, end, &key, &value)) || key != (1 << 3 | 2))
        return true;
    uint64_t n_rejected = 0;
    const unsigned char *text;
    for (end = inner + value; (text = next_field(&inner, end, &key, &value));) {
        if (key == (1 << 3 | 0))
            n_rejected = value;
        if (key == (2 << 3 | 2))
            qp_plain((const char *)text, value, said, sizeof said);
    }
    return n_rejected == 0 ||
           qp_error_fail(error, "the server left it out%s%s", *said ? ": " : "", said);
}

/* Cut further while the server says that it is too much. */
static qp_send_result send_cut(qp_server *s, const qp_model *m, qp_push_cut *cut,
                               qp_error *error)
{
    unsigned char id[QP_EXPORT_ID_BYTES];
    qp_export_limits limits = s->protocol->limits;
    qp_send_result result = QP_SEND_TOO_LARGE;
    identify(m, id);
    for (bool is_last = false; result == QP_SEND_TOO_LARGE && !is_last;) {
        qp_buf body = QP_BUF(unsigned char), answer = QP_BUF(char);
        is_last = limits.n_samples <= 1;
        if (!s->protocol->write(m, id, &limits, &body, error)) {
            result = qp_alloc_has_failed() ? QP_SEND_FAILED : QP_SEND_REFUSED;
            is_last = true;
        } else {
            result = qp_send(s->sender, body.items, body.n, &answer, error);
        }
        if (result == QP_SEND_TAKEN && !is_all_taken(s->protocol, &answer, error))
            result = QP_SEND_REFUSED;
        cut->all += result == QP_SEND_TAKEN ? limits.all : 0;
        cut->rest += result == QP_SEND_TAKEN ? limits.rest : 0;
        limits.n_samples = limits.n_samples > 1 ? limits.n_samples / 2 : 1;
        qp_free(body.items);
        qp_free(answer.items);
    }
    return result;
}

/* Call paths of all threads are below one root, as in reports. */
qp_import_result qp_server_push(qp_server *s, const char *path, uint64_t *calls,
                                qp_push_cut cut[2], qp_error *error)
{
    bool is_damaged = false;
    qp_error why = {.text = ""};
    qp_model *m = qp_store_load(path, &is_damaged, error);
    if (!m)
        return is_damaged ? QP_IMPORT_REFUSED : QP_IMPORT_UNREAD;
    const bool is_profile = m->run.is_profile;
    qp_send_result result = QP_SEND_REFUSED;
    *calls = m->run.calls;
    if (!is_profile)
        qp_error_fail(&why, "it has only coverage, and no call paths");
    else if (!qp_model_join_threads(&m)) {
        qp_error_fail(&why, "out of memory");
        result = QP_SEND_FAILED;
    } else
        result = send_cut(s, m, &cut[!m->run.has_times], &why);
    qp_model_free(m);
    if (result == QP_SEND_FAILED)
        qp_error_fail(error, "%s", why.text);
    else
        qp_error_fail(error, "%.200s: %.300s", path, why.text);
    return result == QP_SEND_TAKEN    ? QP_IMPORT_ADDED
           : result == QP_SEND_FAILED ? QP_IMPORT_FAILED
                                      : QP_IMPORT_REFUSED;
}
