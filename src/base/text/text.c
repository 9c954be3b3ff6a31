/* text.c: UTF-8 decoding and escaping. All bytes are shown, and none can control a terminal. */
#include "base/text/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

size_t qp_text_char(const char *bytes, size_t n_bytes, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)bytes;
    *code = b[0];
    if (b[0] < 0x80)
        return 1;
    size_t n = b[0] >= 0xF0 ? 3 : b[0] >= 0xE0 ? 2 : 1;
    uint32_t c = b[0] & (0x3Fu >> n);
    bool is_valid = b[0] >= 0xC2 && b[0] <= 0xF4 && n < n_bytes;
    for (size_t i = 1; is_valid && i <= n; i++) {
        is_valid = (b[i] & 0xC0) == 0x80;
        c = c << 6 | (b[i] & 0x3Fu);
    }
    if (!is_valid || c < smallest[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        *code = UINT32_MAX;
        return 1;
    }
    *code = c;
    return n + 1;
}

/* A character of a text. */
typedef struct {
    const char *bytes; /* [n] */
    size_t n, n_left;  /* in the text, from this character on */
    uint32_t code;     /* UINT32_MAX: a byte that begins no valid character */
} letter;

static letter before(const char *text, size_t n_bytes)
{
    return (letter){.bytes = text, .n_left = n_bytes};
}

/* @return false: the text ends */
static bool next(letter *c)
{
    c->bytes += c->n;
    c->n_left -= c->n;
    c->n = c->n_left ? qp_text_char(c->bytes, c->n_left, &c->code) : 0;
    return c->n != 0;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code <= 0x9F);
}

/* Marks and overrides that let a name look like another one. */
static bool turns_direction(uint32_t code)
{
    return code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

static size_t columns_of(uint32_t code)
{
    int n = code < 0x80 ? 1 : wcwidth((wchar_t)code);
    return n < 0 ? 1 : (size_t)n;
}

enum { PIECE_BYTES = 16 };

/* What is shown instead of a control character. @return bytes; 0: the character is shown */
static size_t escape(char piece[PIECE_BYTES], const letter *c)
{
    int n = 0;
    if (c->code == UINT32_MAX || is_control(c->code))
        n = snprintf(piece, PIECE_BYTES, "\\x%02X",
                     c->code == UINT32_MAX ? (unsigned char)*c->bytes : c->code);
    else if (turns_direction(c->code))
        n = snprintf(piece, PIECE_BYTES, "\\u{%04X}", c->code);
    return (size_t)n;
}

/* Small, as the next one: every host contains them. */
__attribute__((cold)) size_t qp_text_terminal(char *to, size_t room, const char *text,
                                              size_t *width)
{
    size_t n = 0, columns = 0;
    for (letter c = before(text, strlen(text)); next(&c);) {
        char piece[PIECE_BYTES];
        size_t escaped = escape(piece, &c), piece_bytes = escaped ? escaped : c.n;
        if (n + piece_bytes >= room)
            break;
        memcpy(to + n, escaped ? piece : c.bytes, piece_bytes);
        n += piece_bytes;
        columns += escaped ? escaped : columns_of(c.code);
    }
    to[n] = '\0';
    if (width)
        *width = columns;
    return n;
}

__attribute__((cold)) char *qp_plain(const char *name, size_t n, char *to, size_t room)
{
    size_t i = 0;
    for (; i < n && name[i] && i + 1 < room; i++)
        to[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7F ? '?' : name[i];
    to[i] = '\0';
    return to;
}

size_t qp_text_width(const char *text)
{
    size_t columns = 0;
    for (letter c = before(text, strlen(text)); next(&c);)
        columns += columns_of(c.code);
    return columns;
}

/* Bytes of the longest beginning of text that takes at most `width` columns. */
static size_t bytes_within(const char *text, size_t width)
{
    size_t columns = 0;
    letter c = before(text, strlen(text));
    while (next(&c) && (columns += columns_of(c.code)) <= width)
        ;
    return (size_t)(c.bytes - text);
}

void qp_text_fit(char *to, size_t room, const char *text, size_t width, int is_end)
{
    size_t whole = qp_text_width(text);
    if (whole <= width || width < 4)
        snprintf(to, room, "%s", text);
    else if (is_end)
        snprintf(to, room, "...%s", text + bytes_within(text, whole - width + 3));
    else
        snprintf(to, room, "%.*s...", (int)bytes_within(text, width - 3), text);
}

void qp_text_line(qp_out *out, const char *text, const char *special)
{
    for (letter c = before(text, strlen(text)); next(&c);) {
        char piece[PIECE_BYTES];
        size_t escaped = escape(piece, &c);
        if (escaped)
            qp_out_bytes(out, piece, escaped);
        else if (strchr(special, *c.bytes))
            qp_out_format(out, "\\x%02X", (unsigned char)*c.bytes);
        else
            qp_out_bytes(out, c.bytes, c.n);
    }
}

void qp_text_xml(qp_out *out, const char *text)
{
    for (letter c = before(text, strlen(text)); next(&c);) {
        uint32_t code = c.code;
        if (code == '\t' || code == '\n' || code == '\r' ||
            (code < 0x80 && strchr("&<>\"'", (int)code)))
            qp_out_format(out, "&#%u;", code);
        else if (code == UINT32_MAX || is_control(code) || code == 0xFFFE || code == 0xFFFF)
            qp_out_text(out, "\xEF\xBF\xBD");
        else
            qp_out_bytes(out, c.bytes, c.n);
    }
}

/* @param is_page  inside an element of a page: nothing in it may end that, or begin another */
static void write_json(qp_out *out, const char *text, size_t n_bytes, bool is_page)
{
    qp_out_char(out, '"');
    for (letter c = before(text, n_bytes); next(&c);) {
        uint32_t code = c.code;
        bool is_markup = code == '<' || code == '>' || code == '&';
        if (code == UINT32_MAX)
            qp_out_text(out, "\xEF\xBF\xBD");
        else if (is_control(code) ||
                 (is_page && (is_markup || code == 0x2028 || code == 0x2029)))
            qp_out_format(out, "\\u%04x", code);
        else if (code == '"' || code == '\\')
            qp_out_format(out, "\\%c", (char)code);
        else
            qp_out_bytes(out, c.bytes, c.n);
    }
    qp_out_char(out, '"');
}

void qp_text_json(qp_out *out, const char *text)
{
    write_json(out, text, strlen(text), false);
}

void qp_text_script(qp_out *out, const char *text, size_t n_bytes)
{
    write_json(out, text, n_bytes, true);
}

int qp_text_is_formula(const char *text)
{
    return *text && strchr("=+-@\t\r", *text);
}

void qp_text_csv(qp_out *out, const char *text)
{
    qp_out_char(out, '"');
    if (qp_text_is_formula(text))
        qp_out_char(out, '\'');
    for (letter c = before(text, strlen(text)); next(&c);) {
        bool is_text = c.code >= 0xA0 ? c.code != UINT32_MAX
                                      : !is_control(c.code) || strchr("\t\r\n", *c.bytes);
        if (*c.bytes == '"')
            qp_out_char(out, '"');
        qp_out_bytes(out, is_text ? c.bytes : "\xEF\xBF\xBD", is_text ? c.n : 3);
    }
    qp_out_char(out, '"');
}
