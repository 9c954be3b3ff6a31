/* import_words.c: see import_words.h. */
#include "model/import_words.h"

#include <string.h>

#include "base/buf.h"

void qp_words_skip(qp_words *w)
{
    while (w->at < w->end && (*w->at == ' ' || *w->at == '\t'))
        w->at++;
}

bool qp_words_begin(const qp_words *w, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(w->end - w->at) >= n && memcmp(w->at, text, n) == 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool qp_words_number(qp_words *w, uint64_t *n)
{
    unsigned base = qp_words_begin(w, "0x") ? 16 : 10;
    const char *first = w->at += base == 16 ? 2 : 0;
    *n = 0;
    for (; w->at < w->end; w->at++) {
        int digit = digit_of(*w->at);
        if (digit < 0 || digit >= (int)base)
            break;
        if (__builtin_mul_overflow(*n, base, n) ||
            __builtin_add_overflow(*n, (uint64_t)digit, n))
            return false;
    }
    return w->at > first;
}

bool qp_words_next(qp_words *w, char to[QP_WORD_BYTES])
{
    qp_words_skip(w);
    const char *first = w->at;
    while (w->at < w->end && *w->at != ' ' && *w->at != '\t')
        w->at++;
    qp_text_format(to, QP_WORD_BYTES, "%.*s",
                   qp_words_cut((qp_words){first, w->at}, QP_WORD_BYTES), first);
    return w->at > first;
}

bool qp_words_line(qp_words *text, qp_words *line)
{
    if (text->at == text->end)
        return false;
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    *line = (qp_words){text->at, end ? end : text->end};
    text->at = end ? end + 1 : text->end;
    qp_words_skip(line);
    while (line->at < line->end && strchr(" \t\r", line->end[-1]) && line->end[-1])
        line->end--;
    return true;
}
