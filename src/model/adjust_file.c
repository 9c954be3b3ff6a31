/* adjust_file.c: reading an adjustments file, which may be anything. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/adjust_set.h"

enum { N_FIELDS = 5, FILE_MAX = 64 << 20, LINE_MAX_NUMBER = INT32_MAX };

static const char first_line[] = "PureCoverage Adjustments File 1.0";

/* A field of a line; not ended by NUL. */
typedef struct {
    const char *text;
    size_t n_bytes;
} field;

/* Reading the lines of one file. */
typedef struct {
    struct qp_adjust_private *own;
    const char *name;
    uint64_t line;
} reading;

/* @return false: no memory */
static bool skip(reading *r, const char *why, field what)
{
    enum { SHOWN = 60 };
    char text[256];
    int n = what.n_bytes < SHOWN ? (int)what.n_bytes : SHOWN;
    if (what.text)
        qp_text_format(text, sizeof text, "\"%.*s\" %s: the line is skipped", n, what.text,
                       why);
    else
        qp_text_format(text, sizeof text, "%s: the line is skipped", why);
    return qp_adjust_warn(r->own, r->name, r->line, text);
}

/* A number at the beginning of a field, up to a maximum. @return its digits; 0: none */
static size_t number_at(field f, uint64_t max, uint64_t *n)
{
    size_t i = 0;
    *n = 0;
    for (; i < f.n_bytes && f.text[i] >= '0' && f.text[i] <= '9'; i++) {
        *n = *n * 10 + (uint64_t)(f.text[i] - '0');
        if (*n > max)
            return 0;
    }
    return i;
}

/* "4" or "15-23" */
static bool take_range(field f, qp_adjust_range *range)
{
    uint64_t first, last;
    size_t n = number_at(f, LINE_MAX_NUMBER, &first);
    if (!n || !first)
        return false;
    last = first;
    if (n < f.n_bytes && f.text[n] == '-') {
        field rest = {f.text + n + 1, f.n_bytes - n - 1};
        size_t n_rest = number_at(rest, LINE_MAX_NUMBER, &last);
        n = n_rest ? n + 1 + n_rest : n;
    }
    range->first = (uint32_t)first;
    range->last = (uint32_t)last;
    return n == f.n_bytes && last >= first;
}

/* The next word of a list; false: there is none. */
static bool next_word(field *list, field *word)
{
    while (list->n_bytes && (*list->text == ' ' || *list->text == '\t')) {
        list->text++;
        list->n_bytes--;
    }
    *word = (field){list->text, 0};
    while (word->n_bytes < list->n_bytes && list->text[word->n_bytes] != ' ' &&
           list->text[word->n_bytes] != '\t')
        word->n_bytes++;
    list->text += word->n_bytes;
    list->n_bytes -= word->n_bytes;
    return word->n_bytes > 0;
}

/* The ranges of a list. @param bad  receives what is none @return false: a bad one, or none */
static bool take_list(field list, qp_buf *ranges, field *bad)
{
    field word;
    *bad = (field){0};
    while (next_word(&list, &word)) {
        qp_adjust_range range = {0};
        *bad = word;
        if (!take_range(word, &range))
            return false;
        qp_adjust_range *to = qp_buf_add(ranges);
        if (to)
            *to = range;
    }
    return bad->text != NULL;
}

/* @return false: no memory */
static bool add_list(reading *r, const field *fields, uint64_t time, qp_cover_mark mark)
{
    qp_buf ranges;
    field bad;
    qp_buf_init(&ranges, sizeof(qp_adjust_range));
    bool is_good = take_list(fields[4], &ranges, &bad), is_ok = true;
    if (!is_good)
        is_ok = bad.text ? skip(r, "is not a line or a range of lines", bad)
                         : skip(r, "there are no lines", (field){0});
    char *name = qp_arena_take(&r->own->arena, fields[0].n_bytes + 1, 1);
    if (name)
        memcpy(name, fields[0].text, fields[0].n_bytes);
    is_ok = is_ok && name && !ranges.failed;
    const qp_adjust_range *list = ranges.items;
    for (size_t i = 0; is_good && is_ok && i < ranges.n; i++) {
        qp_adjust_range range = {list[i].first, list[i].last, mark, *fields[3].text == 'B'};
        is_ok = qp_adjust_add(r->own, name, time, range);
    }
    qp_free(ranges.items);
    return is_ok;
}

/* The fields of an entry. @return false: no memory */
static bool take_entry(reading *r, const field *fields)
{
    uint64_t time;
    size_t n;
    field what = fields[2], style = fields[3];
    qp_cover_mark mark = qp_adjust_word_at(what.text, what.n_bytes, &n);
    if (!fields[0].n_bytes || memchr(fields[0].text, '\0', fields[0].n_bytes))
        return skip(r, "there is no file name", (field){0});
    if (number_at(fields[1], UINT64_MAX / 16, &time) != fields[1].n_bytes || !fields[1].n_bytes)
        return skip(r, "is not a time in seconds since 1970", fields[1]);
    if (!mark || n != what.n_bytes)
        return skip(r, "is not one of deadcode, tested, inspected", what);
    if (style.n_bytes != 1 || (*style.text != 'L' && *style.text != 'B'))
        return skip(r, "is not a style, L or B", style);
    return add_list(r, fields, time, mark);
}

static bool take_line(reading *r, const char *line, size_t n_bytes)
{
    field fields[N_FIELDS];
    const char *end = line + n_bytes;
    if (!n_bytes || *line == '#')
        return true;
    for (unsigned i = 0; i < N_FIELDS; i++) {
        const char *tab = i + 1 < N_FIELDS ? memchr(line, '\t', (size_t)(end - line)) : end;
        if (!tab)
            return skip(r, "five fields, separated by tabs, are wanted", (field){0});
        fields[i] = (field){line, (size_t)(tab - line)};
        line = tab < end ? tab + 1 : end;
    }
    return take_entry(r, fields);
}

bool qp_adjust_read_text(qp_adjust *a, const char *text, size_t n_bytes, const char *name,
                         char error[QP_ERROR_BYTES])
{
    reading r = {.own = a->own, .name = name};
    bool is_ok = true;
    error[0] = '\0';
    for (size_t at = 0; is_ok && (at < n_bytes || !r.line);) {
        const char *newline = n_bytes ? memchr(text + at, '\n', n_bytes - at) : NULL;
        size_t length = newline ? (size_t)(newline - text) - at : n_bytes - at;
        size_t n = length && text[at + length - 1] == '\r' ? length - 1 : length;
        if (r.line++) {
            is_ok = take_line(&r, text + at, n);
        } else if (n != sizeof first_line - 1 || memcmp(text, first_line, n) != 0) {
            qp_text_format(error, QP_ERROR_BYTES,
                           "%.300s: no adjustments file: its first line is not \"%s\"", name,
                           first_line);
            return false;
        }
        at += length + 1;
    }
    qp_adjust_show(a->own);
    if (!is_ok)
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: there is not enough memory to read it",
                       name);
    return is_ok;
}

bool qp_adjust_read(qp_adjust *a, const char *path, char error[QP_ERROR_BYTES])
{
    const char *why = "";
    uint64_t n_bytes = 0;
    int fd = qp_file_open(path, &why);
    bool is_plain = fd >= 0 && qp_file_is_plain(fd, &n_bytes, &why);
    if (is_plain && n_bytes > FILE_MAX)
        why = "it is too large for an adjustments file";
    char *text = is_plain && n_bytes <= FILE_MAX ? qp_alloc((size_t)n_bytes, 1) : NULL;
    if (is_plain && n_bytes <= FILE_MAX && !text)
        why = "there is not enough memory to read it";
    size_t n_read = text ? qp_file_read_at(fd, text, (size_t)n_bytes, 0) : 0;
    if (fd >= 0)
        close(fd);
    if (!text) {
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: %.200s", path, why);
        return false;
    }
    bool is_ok = qp_adjust_read_text(a, text, n_read, path, error);
    qp_free(text);
    return is_ok;
}
