/* request.c: what a request may be: its target, its Host, its token. Whatever is not plainly one of these is
 * refused. */
#include "http/http.h"

#include <string.h>
#include <strings.h>

/* ---- the target ---------------------------------------------------------------------------- */

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Paths are those of a table: none has a code or a folder above. */
static bool is_path(const char *path)
{
    if (*path != '/' || strstr(path, "..") || strstr(path, "//"))
        return false;
    for (const char *c = path; *c; c++)
        if (!is_alphanumeric(*c) && !strchr("/._-", *c))
            return false;
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decode a text where it stands. @return false: a code is not two digits, or is NUL */
static bool decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        int c = (unsigned char)*from;
        if (c == '%') {
            const int high = digit_of(from[1]), low = high < 0 ? -1 : digit_of(from[2]);
            c = high < 0 || low < 0 ? 0 : high * 16 + low;
            if (!c)
                return false;
            from += 2;
        }
        *to++ = *from == '+' && c == '+' ? ' ' : (char)c;
    }
    *to = '\0';
    return true;
}

static bool read_pair(qp_http_request *r, char *text, const char **why)
{
    char *equals = strchr(text, '=');
    if (!*text)
        return true;
    *why = "after '?' expected NAME=VALUE&NAME=VALUE, with %XX for other bytes than NUL";
    if (!equals)
        return false;
    if (r->n_pairs == QP_HTTP_PAIRS_MOST) {
        *why = "too many parameters: at most 100";
        return false;
    }
    *equals = '\0';
    r->pairs[r->n_pairs++] = (qp_http_pair){text, equals + 1};
    return decode(text) && decode(equals + 1);
}

unsigned qp_http_request_read(qp_http_request *r, const char *target, const char **why)
{
    enum { GOOD = 200, BAD = 400, LONG = 414 };
    const size_t n = strnlen(target, sizeof r->text);
    r->n_pairs = 0;
    *why = "the address is too long";
    if (n == sizeof r->text)
        return LONG;
    *why = "the address has bytes that addresses do not have";
    for (size_t i = 0; i < n; i++)
        if (target[i] <= ' ' || target[i] > '~' || target[i] == '#')
            return BAD;
    memcpy(r->text, target, n + 1);
    char *rest = strchr(r->text, '?');
    if (rest)
        *rest++ = '\0';
    r->path = r->text;
    *why = "not a path of this server";
    if (!is_path(r->path))
        return BAD;
    while (rest)
        if (!read_pair(r, strsep(&rest, "&"), why))
            return BAD;
    return GOOD;
}

/* ---- who asks ------------------------------------------------------------------------------ */

static bool is_port(const char *text)
{
    const size_t n = *text == ':' ? strspn(text + 1, "0123456789") : 0;
    return !*text || (n && n <= 5 && !text[n + 1]);
}

bool qp_http_host_is_local(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) == 0 && is_port(host + n))
            return true;
    }
    return false;
}

static int base64_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* @param to [QP_HTTP_TOKEN_BYTES * 2] @return false: not base64, or too long */
static bool unpack(const char *from, char *to)
{
    unsigned bits = 0, n_bits = 0;
    size_t n = 0;
    for (; *from && *from != '='; from++) {
        const int value = base64_of(*from);
        if (value < 0 || n == QP_HTTP_TOKEN_BYTES * 2 - 1)
            return false;
        bits = (bits << 6 | (unsigned)value) & 0xFFFF;
        n_bits += 6;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        to[n++] = (char)(bits >> n_bits & 0xFF);
    }
    to[n] = '\0';
    return from[strspn(from, "=")] == '\0';
}

/* All bytes of both are compared, whichever differ. */
static bool is_same(const char *text, const char *token)
{
    unsigned char a[QP_HTTP_TOKEN_BYTES] = {0}, b[QP_HTTP_TOKEN_BYTES] = {0};
    const size_t n = strlen(text), n_token = strlen(token);
    volatile unsigned differs = n != n_token || n >= sizeof a;
    memcpy(a, text, n < sizeof a ? n : sizeof a);
    memcpy(b, token, n_token < sizeof b ? n_token : sizeof b);
    for (size_t i = 0; i < sizeof a; i++)
        differs |= (unsigned)(a[i] ^ b[i]);
    return !differs;
}

bool qp_http_token_fits(const char *header, const char *token)
{
    static const char bearer[] = "Bearer ", basic[] = "Basic ";
    char text[QP_HTTP_TOKEN_BYTES * 2];
    if (!header)
        return false;
    if (strncasecmp(header, bearer, sizeof bearer - 1) == 0)
        return is_same(header + sizeof bearer - 1, token);
    if (strncasecmp(header, basic, sizeof basic - 1) != 0 ||
        !unpack(header + sizeof basic - 1, text))
        return false;
    const char *password = strchr(text, ':'); /* after any name */
    return password && is_same(password + 1, token);
}
