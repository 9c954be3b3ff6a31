/* request.c: one request, by libcurl; without it there are none. Read qp_request first. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/os/clock.h"
#include "base/text/text.h"
#include "send/internal.h"

#ifdef QPROF_CURL
#include <curl/curl.h>

static const char user_agent[] = "qprof/" QPROF_VERSION_TEXT;

const char *qp_send_library(void)
{
    static char text[96];
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    qp_text_format(text, sizeof text, "libcurl %s (%s)", info->version,
                   info->ssl_version ? info->ssl_version : "without TLS");
    return text;
}

/* What is longer than it may be ends the transfer: the status is known by then. */
static size_t take_answer(char *bytes, size_t size, size_t n, void *data)
{
    qp_sender *s = data;
    const size_t most = s->o.answer_bytes ? s->o.answer_bytes : QP_ANSWER_BYTES;
    (void)size; /* it is 1 */
    s->is_cut = n > most - s->answer.n;
    void *to = !s->is_cut && n ? qp_buf_add_many(&s->answer, n) : NULL;
    if (to)
        memcpy(to, bytes, n);
    return to ? n : 0;
}

/* "120", or a date. What is neither is ignored; libcurl would take "120a" for 120. */
static uint64_t read_retry_after(const char *text)
{
    enum { DIGITS_MOST = 9 };
    const size_t n = strspn(text, "0123456789");
    if (n && !text[n])
        return n > DIGITS_MOST ? UINT32_MAX : strtoull(text, NULL, 10);
    const bool is_date = (*text >= 'A' && *text <= 'Z') && strchr(text, ':');
    const time_t date = is_date ? curl_getdate(text, NULL) : -1,
                 now = (time_t)(qp_clock_wall() / 1000000000);
    return date > now ? (uint64_t)(date - now) : 0;
}

static size_t take_header(char *bytes, size_t size, size_t n, void *data)
{
    static const char name[] = "Retry-After:";
    enum { NAME_BYTES = sizeof name - 1 };
    qp_sender *s = data;
    char text[64];
    (void)size; /* it is 1 */
    if (n < NAME_BYTES || strncasecmp(bytes, name, NAME_BYTES) != 0)
        return n;
    size_t from = NAME_BYTES, to = n;
    while (to > from && strchr(" \t\r\n", bytes[to - 1]))
        to--;
    while (from < to && strchr(" \t", bytes[from]))
        from++;
    s->retry_after = 0;
    if (to - from < sizeof text) {
        qp_text_format(text, sizeof text, "%.*s", (int)(to - from), bytes + from);
        s->retry_after = read_retry_after(text);
    }
    return n;
}

static void take_type(qp_sender *s)
{
    char *type = NULL;
    curl_easy_getinfo(s->curl, CURLINFO_CONTENT_TYPE, &type);
    qp_text_format(s->type, sizeof s->type, "%.*s", (int)strcspn(type ? type : "", "; \t"),
                   type ? type : "");
}

static bool add_header(qp_sender *s, const char *line)
{
    struct curl_slist *all = curl_slist_append(s->headers, line);
    s->headers = all ? all : s->headers;
    return all;
}

static bool add_headers(qp_sender *s, qp_error *error)
{
    char line[QP_HEADER_BYTES];
    const char *at = s->o.headers ? s->o.headers : "", *text;
    unsigned number = 0;
    for (size_t n; (text = qp_header_next(&at, &number, &n));)
        if (n >= sizeof line ||
            !add_header(s, qp_text_format(line, sizeof line, "%.*s", (int)n, text)))
            return qp_error_fail(error, "out of memory");
    return true;
}

/* libcurl asks each second at least, and at once after a signal. */
static int ask_whether_to_end(void *data, curl_off_t d_all, curl_off_t d, curl_off_t u_all,
                              curl_off_t u)
{
    qp_sender *s = data;
    (void)d_all, (void)d, (void)u_all, (void)u;
    s->is_interrupted = !s->o.wait(0);
    return s->is_interrupted;
}

bool qp_request_init(qp_sender *s, qp_error *error)
{
    char type[128];
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(s->curl = curl_easy_init()))
        return qp_error_fail(error, "libcurl cannot be used");
    qp_text_format(type, sizeof type, "Content-Type: %s", s->o.type);
    const bool is_good = add_header(s, type) && add_header(s, "Expect:") &&
                         (!s->o.is_packed || add_header(s, "Content-Encoding: gzip"));
    if (!is_good)
        return qp_error_fail(error, "out of memory");
    if (!add_headers(s, error))
        return false;
    CURL *curl = s->curl;
    bool is_set = curl_easy_setopt(curl, CURLOPT_URL, s->url) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075500
    is_set &= curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
    is_set &=
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS) == CURLE_OK;
#endif
    is_set &=
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, s->headers) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_USERAGENT, user_agent) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(s->o.timeout_ns / 1000000)) ==
            CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, ask_whether_to_end) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_XFERINFODATA, s) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HEADERDATA, s) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, s) == CURLE_OK;
    if (s->o.ca_file)
        is_set &= curl_easy_setopt(curl, CURLOPT_CAINFO, s->o.ca_file) == CURLE_OK;
    return is_set || qp_error_fail(error, "libcurl does not have what is needed");
}

void qp_request_fini(qp_sender *s)
{
    curl_slist_free_all(s->headers);
    curl_easy_cleanup(s->curl);
}

/* Would the same request fail for ever? */
static bool is_hopeless(CURLcode code)
{
    switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
        return true;
    default:
        return false;
    }
}

static bool is_silence(CURLcode code)
{
    return code == CURLE_OPERATION_TIMEDOUT || code == CURLE_GOT_NOTHING ||
           code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_PARTIAL_FILE;
}

bool qp_request(qp_sender *s, const void *body, size_t n_bytes, qp_error *error)
{
    char why[CURL_ERROR_SIZE] = "", plain[CURL_ERROR_SIZE];
    long status = 0;
    curl_off_t connected_us = 0;
    CURL *curl = s->curl;
    s->answer.n = 0;
    s->is_cut = false;
    s->retry_after = 0;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n_bytes);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    take_type(s);
    s->status = (unsigned)status;
    s->is_hopeless = is_hopeless(code);
    curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
    s->is_unheard = connected_us > 0 && is_silence(code);
    if (s->o.answer_bytes && s->status == 200 && (s->is_cut || s->answer.failed)) {
        s->is_hopeless = true;
        return qp_error_fail(error, "its answer is longer than this machine can take");
    }
    if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && s->status))
        return true;
    /* What libcurl says of these has milliseconds, so that it would be news each time. */
    const bool is_timed = code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT;
    const char *text = *why && !is_timed ? why : curl_easy_strerror(code);
    return qp_error_fail(error, "%s", qp_plain(text, strlen(text), plain, sizeof plain));
}

#else

const char *qp_send_library(void)
{
    return NULL;
}

bool qp_request_init(qp_sender *s, qp_error *error)
{
    (void)s;
    return qp_error_fail(error, "this qprof was built without libcurl, which sends to servers");
}

void qp_request_fini(qp_sender *s)
{
    (void)s;
}

bool qp_request(qp_sender *s, const void *body, size_t n_bytes, qp_error *error)
{
    (void)s, (void)body, (void)n_bytes;
    return qp_error_fail(error, "built without libcurl");
}
#endif
