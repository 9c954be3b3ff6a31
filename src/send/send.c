/* send.c: tries, waits, and what answers mean. Read qp_send first. */
#include "send/send.h"

#include <string.h>
#include <strings.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/text/text.h"
#include "send/internal.h"

enum { URL_BYTES = 2048, SAID_BYTES = 200 };
static const uint64_t FIRST_WAIT_NS = 500000000, LONGEST_WAIT_NS = 30000000000u;
static const uint64_t LONGEST_ASKED_S = 60; /* of Retry-After, while a command waits */
static const uint64_t LONGEST_PAUSE_S = 3600;

/* A user's name and password would be in lists of processes, and in messages.
 * @return false: see error */
static bool is_url(const char *url, qp_error *error)
{
    const char *at = strncmp(url, "http://", 7) == 0    ? url + 7
                     : strncmp(url, "https://", 8) == 0 ? url + 8
                                                        : NULL;
    if (!at || !*at || *at == '/' || strlen(url) >= URL_BYTES)
        return qp_error_fail(error, "expected http://HOST:PORT or https://HOST:PORT");
    if (strchr(at, '@'))
        return qp_error_fail(error,
                             "a name or password in the address would be seen by others: "
                             "use --header-file=FILE");
    for (const char *c = at; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7F || strchr("?#\\\"<>", *c))
            return qp_error_fail(error, "a character in the address is not allowed there");
    return true;
}

const char *qp_header_next(const char **at, unsigned *number, size_t *n)
{
    while (**at) {
        const char *line = *at;
        const size_t n_line = strcspn(line, "\n");
        *n = n_line && line[n_line - 1] == '\r' ? n_line - 1 : n_line;
        *at += n_line + (line[n_line] == '\n');
        ++*number;
        if (*n && *line != '#')
            return line;
    }
    return NULL;
}

static bool is_header(const char *line, size_t n)
{
    const char *colon = memchr(line, ':', n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' && line[i] != '\t')
            return false;
    return colon && colon > line && n < QP_HEADER_BYTES &&
           !memchr(line, ' ', (size_t)(colon - line));
}

/* @return the name of the header, if the request has it of its own; or NULL */
static const char *own_header(const char *line)
{
    static const char *const own[] = {"Host", "Content-Length", "Content-Type",
                                      "Content-Encoding", "Transfer-Encoding"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncasecmp(line, own[i], strlen(own[i])) == 0 && line[strlen(own[i])] == ':')
            return own[i];
    return NULL;
}

/* Lines that are no headers are named by their number: what they say may be a secret. */
bool qp_send_are_headers(const char *headers, const char *from, qp_error *error)
{
    unsigned number = 0;
    const char *line;
    for (size_t n; (line = qp_header_next(&headers, &number, &n));) {
        const char *own = own_header(line);
        if (!is_header(line, n))
            return qp_error_fail(error, "%.300s: line %u is not NAME: VALUE", from, number);
        if (own)
            return qp_error_fail(error, "%.300s: line %u: %s is set by qprof itself", from,
                                 number, own);
    }
    return true;
}

static char *join(const char *url, const char *path)
{
    size_t n = strlen(url);
    while (n > 0 && url[n - 1] == '/')
        n--;
    const size_t room = n + strlen(path) + 1;
    char *all = qp_alloc(room, 1);
    return all ? qp_text_format(all, room, "%.*s%s", (int)n, url, path) : NULL;
}

qp_sender *qp_sender_new(const qp_send_options *o, qp_error *error)
{
    if (!is_url(o->url, error))
        return NULL;
    qp_sender *s = qp_alloc_zeroed(1, sizeof *s);
    if (s) {
        s->o = *o;
        s->url = join(o->url, o->path);
        s->answer = QP_BUF(char);
        s->chance = qp_clock_monotonic() ^ (uintptr_t)s;
    }
    const bool is_good =
        s && s->url ? qp_request_init(s, error) : qp_error_fail(error, "out of memory");
    if (is_good)
        return s;
    qp_sender_free(s);
    return NULL;
}

void qp_sender_free(qp_sender *s)
{
    if (!s)
        return;
    qp_request_fini(s);
    qp_free(s->url);
    qp_free(s->answer.items);
    qp_free(s);
}

uint64_t qp_send_not_before(const qp_sender *s)
{
    return s->not_before;
}

/* With Retry-After the server says that it is busy itself. */
bool qp_send_may_be_body(const qp_sender *s)
{
    return s->is_unheard || (s->status >= 500 && !s->retry_after);
}

bool qp_send_is_interrupted(const qp_sender *s)
{
    return s->is_interrupted;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Of the answers that are no success these are about the address, the credentials or the moment, and not
 * about the body; so are redirects, and all from 500 on. */
static bool is_about_server(unsigned status)
{
    static const unsigned these[] = {401, 402, 403, 404, 405, 407,
                                     408, 421, 425, 426, 429, 431};
    for (size_t i = 0; i < sizeof these / sizeof *these; i++)
        if (status == these[i])
            return true;
    return status < 400 || status >= 500;
}

static bool is_worth_another_try(unsigned status)
{
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

/* A network that asks for a login first answers 200 with a page of its own. */
static bool is_of_such_a_server(const qp_sender *s)
{
    const char *const types[] = {s->o.answer_type, s->o.answer_type_too};
    for (size_t i = 0; i < 2; i++)
        if (types[i] && strcasecmp(types[i], s->type) == 0)
            return true;
    return false;
}

static bool is_success(const qp_sender *s)
{
    return s->status >= 200 && s->status < 300;
}

/* Of the address, without settings. */
static int shown_bytes(const qp_sender *s)
{
    enum { MOST = 250 };
    const size_t n = strcspn(s->url, "?");
    return n < MOST ? (int)n : MOST;
}

/* "the server answers 400: label name too long". @return false */
static bool tell(const qp_sender *s, qp_error *error)
{
    char said[SAID_BYTES];
    size_t n = 0, n_text = s->answer.n;
    const char *text = s->answer.items;
    if (is_success(s))
        return qp_error_fail(
            error, "%.*s answers %u with %s, which is no answer of such a server",
            shown_bytes(s), s->url, s->status,
            qp_plain(*s->type ? s->type : "a body", strlen(*s->type ? s->type : "a body"), said,
                     sizeof said));
    if (s->o.explain && is_of_such_a_server(s) && !(text = s->o.explain(&s->answer, &n_text)))
        n_text = 0;
    while (n < n_text && text[n] && text[n] != '\n' && text[n] != '\r')
        n++;
    qp_plain(n ? text : "", n, said, sizeof said);
    return qp_error_fail(error, "%.*s answers %u%s%s", shown_bytes(s), s->url, s->status,
                         *said ? ": " : "", said);
}

static qp_send_result judge(const qp_sender *s)
{
    return is_success(s)
               ? (s->answer.n && !is_of_such_a_server(s) ? QP_SEND_FAILED : QP_SEND_TAKEN)
           : s->status == 413           ? QP_SEND_TOO_LARGE
           : is_about_server(s->status) ? QP_SEND_FAILED
                                        : QP_SEND_REFUSED;
}

/* ---- tries ---------------------------------------------------------------------------------- */

/* Twice as long each time, and by chance up to half less, so that many hosts do not come at once. */
static uint64_t wait_ns(qp_sender *s, unsigned n_tried)
{
    uint64_t ns = FIRST_WAIT_NS;
    for (unsigned i = 1; i < n_tried && ns < LONGEST_WAIT_NS; i++)
        ns *= 2;
    ns = ns < LONGEST_WAIT_NS ? ns : LONGEST_WAIT_NS;
    s->chance = s->chance * 6364136223846793005u + 1442695040888963407u;
    ns -= (s->chance >> 33) % (ns / 2);
    const uint64_t asked = s->retry_after * 1000000000u;
    return asked > ns ? asked : ns;
}

/* @return false: the server asks for more time than a command waits */
static bool note_pause(qp_sender *s)
{
    const uint64_t pause = s->retry_after < LONGEST_PAUSE_S ? s->retry_after : LONGEST_PAUSE_S;
    s->retry_after = pause;
    s->not_before = pause ? qp_clock_monotonic() + pause * 1000000000u : 0;
    return pause <= LONGEST_ASKED_S;
}

qp_send_result qp_send(qp_sender *s, const void *body, size_t n_bytes, qp_buf *answer,
                       qp_error *error)
{
    for (unsigned n_tried = 1;; n_tried++) {
        qp_error why = {.text = ""};
        const bool is_whole = qp_request(s, body, n_bytes, &why);
        const bool is_patient = note_pause(s);
        const qp_send_result result = is_whole ? judge(s) : QP_SEND_FAILED;
        if (result == QP_SEND_TAKEN) {
            qp_free(answer->items);
            *answer = s->answer;
            s->answer = QP_BUF(char);
            return result;
        }
        if (is_whole)
            tell(s, error);
        else
            qp_error_fail(error, "%.*s: %.200s", shown_bytes(s), s->url, why.text);
        const bool is_over =
            s->is_interrupted || (is_whole ? !is_worth_another_try(s->status) : s->is_hopeless);
        if (is_over || !is_patient || n_tried >= s->o.n_tries ||
            !s->o.wait(qp_clock_monotonic() + wait_ns(s, n_tried)))
            return result;
    }
}
