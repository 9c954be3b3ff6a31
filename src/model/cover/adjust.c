/* adjust.c: annotations of lines, from markers in sources and from adjustments files. */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "model/cover/cover.h"
#include "model/cover/internal.h"

struct qp_adjust_private {
    qp_adjust adjust; /* what the caller sees */
    qp_arena arena;
    qp_buf files, warnings;
    qp_buf rooms;  /* size_t: ranges that a file has room for */
    qp_dict names; /* hash of a name: index of a file + 1 */
};

typedef struct qp_adjust_private adjust_private;

static const char *const words[] = {"", "deadcode", "tested", "inspected"};

enum { N_ANNOTATIONS = sizeof words / sizeof *words };

qp_adjust *qp_adjust_new(void)
{
    adjust_private *own = qp_alloc_zeroed(1, sizeof *own);
    if (!own)
        return NULL;
    own->files = QP_BUF(qp_adjust_file);
    own->rooms = QP_BUF(size_t);
    own->warnings = QP_BUF(char *);
    own->adjust.own = own;
    return &own->adjust;
}

void qp_adjust_free(qp_adjust *a)
{
    if (!a)
        return;
    adjust_private *own = a->own;
    qp_free(own->files.items);
    qp_free(own->rooms.items);
    qp_free(own->warnings.items);
    qp_dict_fini(&own->names);
    qp_arena_fini(&own->arena);
    qp_free(own);
}

/* The buffers may have moved. */
static void show(adjust_private *own)
{
    own->adjust.files = own->files.items;
    own->adjust.n_files = own->files.n;
    own->adjust.warnings = own->warnings.items;
    own->adjust.n_warnings = own->warnings.n;
}

/* The annotation whose word begins a text; QP_ANNOTATION_NONE: none.
 * @param n_bytes  receives the word's length */
static qp_annotation word_at(const char *text, size_t n_left, size_t *n_bytes)
{
    for (unsigned i = 1; i < N_ANNOTATIONS; i++) {
        *n_bytes = strlen(words[i]);
        if (*n_bytes <= n_left && memcmp(text, words[i], *n_bytes) == 0)
            return (qp_annotation)i;
    }
    return QP_ANNOTATION_NONE;
}

/* ---- collecting -------------------------------------------------------------------------- */

/* Add a range to the file of this name unless a newer one is known; what is older is dropped.
 * @return false: no memory */
static bool add_range(adjust_private *own, const char *name, uint64_t time,
                      qp_adjust_range range)
{
    uint32_t at = qp_find_or_name(&own->names, &own->files, offsetof(qp_adjust_file, name),
                                  &own->arena, name);
    if (!at || (own->rooms.n < at && !qp_buf_add(&own->rooms)))
        return false;
    qp_adjust_file *f = (qp_adjust_file *)own->files.items + at - 1;
    size_t *room = (size_t *)own->rooms.items + at - 1;
    if (time < f->time)
        return true;
    if (time > f->time) {
        f->time = time;
        f->n_ranges = 0;
    }
    if (f->n_ranges == *room) {
        size_t wider = *room ? 2 * *room : 4;
        qp_adjust_range *ranges = qp_arena_take(&own->arena, wider, sizeof *ranges);
        if (!ranges)
            return false;
        if (f->n_ranges)
            memcpy(ranges, f->ranges, f->n_ranges * sizeof *ranges);
        f->ranges = ranges;
        *room = wider;
    }
    f->ranges[f->n_ranges++] = range;
    return true;
}

/* @return false: no memory */
static bool add_warning(adjust_private *own, const char *file, uint64_t line, const char *what)
{
    char **to = qp_buf_add(&own->warnings);
    if (to)
        *to = qp_arena_format(&own->arena, "%s:%llu: %s", file, (unsigned long long)line, what);
    return to && *to;
}

/* ---- asking ------------------------------------------------------------------------------ */

qp_annotation qp_adjust_annotation(const qp_adjust_file *f, uint32_t line)
{
    qp_annotation found = QP_ANNOTATION_NONE;
    bool is_own = false;
    for (size_t i = 0; i < f->n_ranges; i++) {
        const qp_adjust_range *r = &f->ranges[i];
        if (line < r->first || line > r->last || (is_own && r->is_block))
            continue;
        found = r->annotation;
        is_own = !r->is_block;
    }
    return found;
}

uint64_t qp_adjust_lines(const qp_adjust_file *f, qp_annotation annotation, uint32_t n_lines)
{
    uint64_t n = 0;
    for (uint32_t line = 1; line <= n_lines; line++)
        n += qp_adjust_annotation(f, line) == annotation;
    return n;
}

/* ---- writing ----------------------------------------------------------------------------- */

static bool is_writable(const char *name)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return false;
    return name[0] != '\0';
}

/* The lines of one type and style. */
static void write_entry(const qp_adjust_file *f, qp_annotation annotation, bool is_block,
                        qp_out *out)
{
    bool has_any = false;
    for (size_t i = 0; i < f->n_ranges; i++) {
        const qp_adjust_range *r = &f->ranges[i];
        if (r->annotation != annotation || r->is_block != is_block)
            continue;
        if (!has_any) /* in column 1, '#' begins a comment */
            qp_out_format(out, "%s%s\t%llu\t%s\t%c\t", f->name[0] == '#' ? "./" : "", f->name,
                          (unsigned long long)f->time, words[annotation], is_block ? 'B' : 'L');
        qp_out_format(out, has_any ? " %u" : "%u", r->first);
        if (r->last != r->first)
            qp_out_format(out, "-%u", r->last);
        has_any = true;
    }
    if (has_any)
        qp_out_char(out, '\n');
}

size_t qp_adjust_write(const qp_adjust *a, qp_out *out)
{
    size_t n_left_out = 0;
    qp_out_text(out, "PureCoverage Adjustments File 1.0\n"
                     "# file, time, type, style (L lines, B blocks), lines\n");
    for (size_t i = 0; i < a->n_files; i++) {
        const qp_adjust_file *f = &a->files[i];
        bool is_good = is_writable(f->name);
        n_left_out += !is_good;
        for (unsigned annotation = 1; is_good && annotation < N_ANNOTATIONS; annotation++) {
            write_entry(f, (qp_annotation)annotation, false, out);
            write_entry(f, (qp_annotation)annotation, true, out);
        }
    }
    return n_left_out;
}

/* ---- the file ---------------------------------------------------------------------------- */

enum { N_FIELDS = 5, FILE_MAX = 64 << 20, LINE_MAX_NUMBER = INT32_MAX };

static const char first_line[] = "PureCoverage Adjustments File 1.0";

/* A field of a line; not ended by NUL. */
typedef struct {
    const char *text;
    size_t n_bytes;
} field;

/* Reading the lines of one file. */
typedef struct {
    adjust_private *own;
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
    return add_warning(r->own, r->name, r->line, text);
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

/* Read the ranges of a list. @param bad  receives a bad one @return false: a bad one, or
 * none */
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
static bool add_list(reading *r, const field *fields, uint64_t time, qp_annotation annotation)
{
    qp_buf ranges = QP_BUF(qp_adjust_range);
    field bad;
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
        qp_adjust_range range = {list[i].first, list[i].last, annotation,
                                 *fields[3].text == 'B'};
        is_ok = add_range(r->own, name, time, range);
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
    qp_annotation annotation = word_at(what.text, what.n_bytes, &n);
    if (!fields[0].n_bytes || memchr(fields[0].text, '\0', fields[0].n_bytes))
        return skip(r, "there is no file name", (field){0});
    if (number_at(fields[1], UINT64_MAX / 16, &time) != fields[1].n_bytes || !fields[1].n_bytes)
        return skip(r, "is not a time in seconds since 1970", fields[1]);
    if (!annotation || n != what.n_bytes)
        return skip(r, "is not one of deadcode, tested, inspected", what);
    if (style.n_bytes != 1 || (*style.text != 'L' && *style.text != 'B'))
        return skip(r, "is not a style, L or B", style);
    return add_list(r, fields, time, annotation);
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
                         qp_error *error)
{
    reading r = {.own = a->own, .name = name};
    bool is_ok = true;
    error->text[0] = '\0';
    for (size_t at = 0; is_ok && (at < n_bytes || !r.line);) {
        const char *newline = n_bytes ? memchr(text + at, '\n', n_bytes - at) : NULL;
        size_t length = newline ? (size_t)(newline - text) - at : n_bytes - at;
        size_t n = length && text[at + length - 1] == '\r' ? length - 1 : length;
        if (r.line++) {
            is_ok = take_line(&r, text + at, n);
        } else if (n != sizeof first_line - 1 || memcmp(text, first_line, n) != 0) {
            return qp_error_fail(error,
                                 "%.300s: no adjustments file: its first line is not \"%s\"",
                                 name, first_line);
        }
        at += length + 1;
    }
    show(a->own);
    if (!is_ok)
        qp_error_fail(error, "%.300s: there is not enough memory to read it", name);
    return is_ok;
}

bool qp_adjust_read(qp_adjust *a, const char *path, qp_error *error)
{
    const char *why;
    size_t n_bytes;
    char *text = qp_text_file(path, FILE_MAX, &n_bytes, &why);
    if (!text)
        return qp_error_fail(error, "%.300s: %.200s", path, why);
    bool is_ok = qp_adjust_read_text(a, text, n_bytes, path, error);
    qp_free(text);
    return is_ok;
}

/* ---- markers ----------------------------------------------------------------------------- */

/* The state of a scan. */
typedef struct {
    adjust_private *own;
    const char *name;
    uint64_t time;
    uint32_t line;
    qp_annotation open; /* of the block that has begun */
    uint32_t begin;     /* its first line */
    size_t n_found;
    bool is_good;
} scan;

static void warn(scan *s, uint32_t line, const char *what)
{
    s->is_good = s->is_good && add_warning(s->own, s->name, line, what);
}

static void add(scan *s, uint32_t first, uint32_t last, qp_annotation annotation, bool is_block)
{
    s->n_found++;
    s->is_good = s->is_good && add_range(s->own, s->name, s->time,
                                         (qp_adjust_range){first, last, annotation, is_block});
}

static void begin_block(scan *s, qp_annotation annotation)
{
    if (s->open) {
        warn(s, s->line,
             "\"purecov: begin\" inside a block that has not ended: it is not heeded");
        return;
    }
    s->open = annotation;
    s->begin = s->line;
}

static void end_block(scan *s, qp_annotation annotation)
{
    if (s->open != annotation) {
        warn(s, s->line,
             s->open ? "\"purecov: end\" of another type than the block: it is not heeded"
                     : "\"purecov: end\" without a beginning: it is not heeded");
        return;
    }
    add(s, s->begin, s->line, annotation, true);
    s->open = QP_ANNOTATION_NONE;
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

/* Read what follows "purecov:". Unknown words, and "NOT deadcode", are ignored. */
static void take_marker(scan *s, const char *at, const char *end)
{
    size_t n;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    bool is_begin = take_word(&at, end, "begin");
    bool is_end = !is_begin && take_word(&at, end, "end");
    qp_annotation annotation = word_at(at, (size_t)(end - at), &n);
    if (!annotation || (at + n < end && is_word_char(at[n])))
        return;
    if (is_begin)
        begin_block(s, annotation);
    else if (is_end)
        end_block(s, annotation);
    else
        add(s, s->line, s->line, annotation, false);
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
    show(a->own);
    return s.is_good ? s.n_found : SIZE_MAX;
}
