/* adjust_markers.c: markers in the text of a source. Read take_marker first. */
#include <string.h>

#include "model/adjust_set.h"

/* Going through a source. */
typedef struct {
    struct qp_adjust_private *own;
    const char *name;
    uint64_t time;
    uint32_t line;
    qp_cover_mark open; /* of the block that has begun */
    uint32_t begin;     /* its first line */
    size_t n_found;
    bool is_good;
} scan;

static void warn(scan *s, uint32_t line, const char *what)
{
    s->is_good = s->is_good && qp_adjust_warn(s->own, s->name, line, what);
}

static void add(scan *s, uint32_t first, uint32_t last, qp_cover_mark mark, bool is_block)
{
    s->n_found++;
    s->is_good = s->is_good && qp_adjust_add(s->own, s->name, s->time,
                                             (qp_adjust_range){first, last, mark, is_block});
}

static void begin_block(scan *s, qp_cover_mark mark)
{
    if (s->open) {
        warn(s, s->line,
             "\"purecov: begin\" inside a block that has not ended: it is not heeded");
        return;
    }
    s->open = mark;
    s->begin = s->line;
}

static void end_block(scan *s, qp_cover_mark mark)
{
    if (s->open != mark) {
        warn(s, s->line,
             s->open ? "\"purecov: end\" of another type than the block: it is not heeded"
                     : "\"purecov: end\" without a beginning: it is not heeded");
        return;
    }
    add(s, s->begin, s->line, mark, true);
    s->open = QP_MARK_NONE;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static bool take_word(const char **at, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - *at) <= n || memcmp(*at, word, n) != 0)
        return false;
    if ((*at)[n] != ' ' && (*at)[n] != '\t')
        return false;
    *at += n;
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    return true;
}

/* What follows "purecov:". "NOT deadcode" is no directive, nor is anything else that is not known. */
static void take_marker(scan *s, const char *at, const char *end)
{
    size_t n;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    bool is_begin = take_word(&at, end, "begin");
    bool is_end = !is_begin && take_word(&at, end, "end");
    qp_cover_mark mark = qp_adjust_word_at(at, (size_t)(end - at), &n);
    if (!mark || (at + n < end && is_word_char(at[n])))
        return;
    if (is_begin)
        begin_block(s, mark);
    else if (is_end)
        end_block(s, mark);
    else
        add(s, s->line, s->line, mark, false);
}

static void scan_line(scan *s, const char *line, uint32_t n_bytes)
{
    static const char word[] = "purecov:";
    enum { WORD_BYTES = sizeof word - 1 };
    const char *end = line + n_bytes;
    for (const char *at = line;; at += WORD_BYTES) {
        at = memmem(at, (size_t)(end - at), word, WORD_BYTES);
        if (!at)
            return;
        if (at == line || !is_word_char(at[-1]))
            take_marker(s, at + WORD_BYTES, end);
    }
}

size_t qp_adjust_scan(qp_adjust *a, const char *name, uint64_t time, const qp_source *source)
{
    scan s = {.own = a->own, .name = name, .time = time, .is_good = true};
    for (uint32_t i = 0; i < source->n_lines && s.is_good; i++) {
        s.line = i + 1;
        scan_line(&s, source->lines[i], source->line_bytes[i]);
    }
    if (s.open) {
        warn(&s, s.begin,
             "\"purecov: begin\" has no end: the block reaches to the end of the file");
        add(&s, s.begin, source->n_lines, s.open, true);
    }
    qp_adjust_show(a->own);
    return s.is_good ? s.n_found : SIZE_MAX;
}
