/* words.c: words, numbers and KEY=VALUE of statements. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "config/words.h"

void qp_config_place(qp_config_reader *r, const char *at, unsigned *line, unsigned *column)
{
    if (!r->line || at < r->line_begin) {
        r->line = 1;
        r->line_begin = r->text;
    }
    for (const char *c = r->line_begin; (c = memchr(c, '\n', (size_t)(at - c))) != NULL;
         r->line_begin = ++c)
        r->line++;
    *line = r->line;
    *column = (unsigned)(at - r->line_begin) + 1;
}

qp_taken qp_config_refuse(qp_config_reader *r, const char *at, const char *format, ...)
{
    char text[sizeof r->error->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    qp_plain(text, strlen(text), r->error->text, sizeof r->error->text);
    qp_config_place(r, at, &r->error->line, &r->error->column);
    return QP_MISTAKE;
}

/* ---- words --------------------------------------------------------------------------------- */

size_t qp_config_continuation(const char *at, const char *end)
{
    if (*at != '\\' || at + 1 >= end)
        return 0;
    if (at[1] == '\n')
        return 2;
    return at[1] == '\r' && at + 2 < end && at[2] == '\n' ? 3 : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end) {
        size_t n = is_blank(*at) ? 1 : qp_config_continuation(at, end);
        if (!n)
            break;
        at += n;
    }
    return at;
}

/* The byte of a word at *at, which moves on. In quotes a '\' protects a quote or another '\'. */
static char word_byte(const char **at, const char *end, bool is_quoted)
{
    if (is_quoted && **at == '\\' && *at + 1 < end && ((*at)[1] == '"' || (*at)[1] == '\\'))
        ++*at;
    return *(*at)++;
}

qp_taken qp_config_word(const char **at, const char *end, char *to, size_t room,
                        const char **begin, const char **why)
{
    size_t n = 0;
    const char *c = *begin = *at = skip_blanks(*at, end), *quote = NULL;
    if (c >= end || *c == '\n' || *c == '#')
        return QP_NO_MORE;
    while (c < end && *c != '\n' &&
           (quote || (!is_blank(*c) && !qp_config_continuation(c, end)))) {
        if (*c == '"') {
            quote = quote ? NULL : c;
            c++;
            continue;
        }
        *begin = *c ? *begin : c;
        *why = *c == '\0' ? "a byte 0: this is not a text" : "the words here are too long";
        if (*c == '\0' || n + 1 >= room)
            return QP_MISTAKE;
        to[n++] = word_byte(&c, end, quote != NULL);
    }
    to[n] = '\0';
    *at = c;
    if (!quote)
        return QP_TAKEN;
    *begin = quote;
    *why = "this quote is not closed on its line: expected a second \"";
    return QP_MISTAKE;
}

qp_taken qp_config_take(qp_config_reader *r, const char *expected, qp_config_text *word)
{
    const char *why = "";
    word->text = r->head + r->n_head;
    qp_taken taken =
        qp_config_word(&r->at, r->end, word->text, sizeof r->head - r->n_head, &word->at, &why);
    if (taken == QP_MISTAKE)
        return qp_config_refuse(r, word->at, "%s", why);
    if (taken == QP_TAKEN)
        r->n_head += strlen(word->text) + 1;
    if (taken == QP_TAKEN && !word->text[0] && expected)
        return qp_config_refuse(r, word->at, "nothing: expected %s", expected);
    if (taken == QP_NO_MORE && expected)
        return qp_config_refuse(r, word->at, "the line ends: expected %s", expected);
    return taken;
}

qp_taken qp_config_end(qp_config_reader *r)
{
    qp_config_text word;
    qp_taken taken = qp_config_take(r, NULL, &word);
    if (taken == QP_TAKEN)
        return qp_config_refuse(r, word.at, "%.40s: expected the end of the line", word.text);
    return taken;
}

qp_taken qp_config_choose(qp_config_reader *r, const qp_config_text *word, const char *words,
                          unsigned *which)
{
    char known[32];
    const char *at = words;
    for (*which = 0; *at; ++*which) {
        size_t n = strcspn(at, "|");
        snprintf(known, sizeof known, "%.*s", (int)n, at);
        if (qp_option_is(known, word->text, strlen(word->text)))
            return QP_TAKEN;
        at += n + (at[n] == '|');
    }
    return qp_config_refuse(r, word->at, "%.40s: expected %s", word->text, words);
}

qp_taken qp_config_take_one(qp_config_reader *r, const char *words, unsigned *which)
{
    qp_config_text word;
    qp_taken taken = qp_config_take(r, words, &word);
    return taken == QP_TAKEN ? qp_config_choose(r, &word, words, which) : taken;
}

qp_taken qp_config_take_name(qp_config_reader *r, const char **name)
{
    qp_config_text word;
    qp_taken taken = qp_config_take(r, "a name", &word);
    r->blame = word.at;
    *name = word.text;
    return taken;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static unsigned digit_of(char c)
{
    char lower = (char)(c | 0x20);
    return c >= '0' && c <= '9'           ? (unsigned)(c - '0')
           : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10
                                          : 99;
}

bool qp_config_number(const char *text, uint64_t *number)
{
    bool is_hex = text[0] == '0' && (text[1] | 0x20) == 'x';
    unsigned base = is_hex ? 16 : 10;
    text += is_hex ? 2 : 0;
    if (!*text)
        return false;
    for (*number = 0; *text; text++) {
        unsigned digit = digit_of(*text);
        if (digit >= base || *number > (UINT64_MAX - digit) / base)
            return false;
        *number = *number * base + digit;
    }
    return true;
}

bool qp_config_integer(const char *text, int64_t *number)
{
    uint64_t size;
    bool is_negative = *text == '-';
    if (!qp_config_number(text + is_negative, &size) || size > (uint64_t)INT64_MAX)
        return false;
    *number = is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

/* ---- KEY=VALUE ------------------------------------------------------------------------------ */

/* What may follow in a statement: "pass= work= or a :". */
static qp_taken refuse_key(qp_config_reader *r, const qp_config_text *word,
                           const qp_config_key *keys, unsigned n_keys, bool has_list)
{
    char all[160];
    size_t n = 0;
    for (unsigned i = 0; i < n_keys && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, " %s=", keys[i].name);
    return qp_config_refuse(r, word->at, "%.24s: expected%s%s", word->text, all,
                            has_list ? " or a : between blanks" : "");
}

static qp_taken take_key(qp_config_reader *r, qp_config_text *word, const qp_config_key *key,
                         qp_config_take_value *take, void *object)
{
    char *value = strchr(word->text, '=') + 1;
    const qp_config_text text = {value, word->at, key};
    if (!*value)
        return qp_config_refuse(r, word->at, "%s=: expected a value after the =", key->name);
    return take(r, &text, (char *)object + key->offset);
}

qp_taken qp_config_keys(qp_config_reader *r, const qp_config_key *keys, unsigned n_keys,
                        qp_config_take_value *take, bool has_list, void *object)
{
    qp_config_text word;
    uint32_t seen = 0;
    for (;;) {
        qp_taken taken = qp_config_take(r, NULL, &word);
        if (taken != QP_TAKEN)
            return taken;
        if (has_list && strcmp(word.text, ":") == 0)
            return QP_TAKEN;
        size_t n = strcspn(word.text, "=");
        unsigned i = 0;
        while (i < n_keys && !(word.text[n] && qp_option_is(keys[i].name, word.text, n)))
            i++;
        if (i == n_keys)
            return refuse_key(r, &word, keys, n_keys, has_list);
        if (seen >> i & 1)
            return qp_config_refuse(r, word.at, "%s=: given twice", keys[i].name);
        seen |= 1u << i;
        if (take_key(r, &word, &keys[i], take, object) != QP_TAKEN)
            return QP_MISTAKE;
    }
}
