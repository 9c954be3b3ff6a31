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

/* Reading the lines of one file. */
typedef struct {
    adjust_private *own;
    const char *name;
    uint64_t line;
} reading;

/* @param what  the bad part; NULL: the line @return false: no memory */
static bool skip(reading *r, const char *why, const char *what)
{
    char text[256];
    qp_text_format(text, sizeof text, "%s%.60s%s%s: the line is skipped", what ? "\"" : "",
                   what ? what : "", what ? "\" " : "", why);
    return add_warning(r->own, r->name, r->line, text);
}

/* A number at the beginning of a text, up to a maximum. @return what follows it; NULL: none */
static const char *number_at(const char *text, uint64_t max, uint64_t *n)
{
    const char *at = text;
    for (*n = 0; *at >= '0' && *at <= '9'; at++) {
        *n = *n * 10 + (uint64_t)(*at - '0');
        if (*n > max)
            return NULL;
    }
    return at > text ? at : NULL;
}

/* "4" or "15-23" */
static bool take_range(const char *text, qp_adjust_range *range)
{
    uint64_t first, last;
    const char *end = number_at(text, LINE_MAX_NUMBER, &first);
    last = first;
    if (end && *end == '-')
        end = number_at(end + 1, LINE_MAX_NUMBER, &last);
    range->first = (uint32_t)first;
    range->last = (uint32_t)last;
    return end && !*end && first && last >= first;
}

/* Add the ranges of a list, if all are good. @return false: no memory */
static bool add_list(reading *r, char *const *fields, uint64_t time, qp_annotation annotation)
{
    qp_buf ranges = QP_BUF(qp_adjust_range);
    char *list = fields[4], *word;
    bool is_ok = true;
    while (is_ok && (word = strsep(&list, " \t")) != NULL) {
        qp_adjust_range range = {.annotation = annotation, .is_block = *fields[3] == 'B'};
        if (*word && !take_range(word, &range)) {
            qp_free(ranges.items);
            return skip(r, "is not a line or a range of lines", word);
        }
        qp_adjust_range *to = *word ? qp_buf_add(&ranges) : NULL;
        if (to)
            *to = range;
        is_ok = !ranges.failed;
    }
    const qp_adjust_range *good = ranges.items;
    if (is_ok && !ranges.n)
        is_ok = skip(r, "there are no lines", NULL);
    for (size_t i = 0; is_ok && i < ranges.n; i++)
        is_ok = add_range(r->own, fields[0], time, good[i]);
    qp_free(ranges.items);
    return is_ok;
}

/* @param line  [n_bytes], ended by NUL; is changed @return false: no memory */
static bool take_line(reading *r, char *line, size_t n_bytes)
{
    char *fields[N_FIELDS];
    uint64_t time;
    size_t n;
    if (!n_bytes || *line == '#')
        return true;
    if (strlen(line) < n_bytes)
        return skip(r, "a byte 0 is not text", NULL);
    for (unsigned i = 0; i + 1 < N_FIELDS; i++) {
        fields[i] = strsep(&line, "\t");
        if (!line)
            return skip(r, "expected five fields separated by tabs", NULL);
    }
    fields[N_FIELDS - 1] = line;
    const char *what = fields[2], *style = fields[3];
    const char *end = number_at(fields[1], UINT64_MAX / 16, &time);
    qp_annotation annotation = word_at(what, strlen(what), &n);
    if (!*fields[0])
        return skip(r, "there is no file name", NULL);
    if (!end || *end)
        return skip(r, "is not a time in seconds since 1970", fields[1]);
    if (!annotation || what[n])
        return skip(r, "is not one of deadcode, tested, inspected", what);
    if (strcmp(style, "L") != 0 && strcmp(style, "B") != 0)
        return skip(r, "is not a style, L or B", style);
    return add_list(r, fields, time, annotation);
}

bool qp_adjust_read_text(qp_adjust *a, const char *text, size_t n_bytes, const char *name,
                         qp_error *error)
{
    reading r = {.own = a->own, .name = name};
    char *copy = qp_alloc_zeroed(n_bytes + 1, 1), *end = copy ? copy + n_bytes : NULL;
    bool is_ok = copy && (!n_bytes || memcpy(copy, text, n_bytes));
    error->text[0] = '\0';
    for (char *line = copy, *next; is_ok && (line < end || !r.line); line = next) {
        char *newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        char *stop = newline ? newline : end;
        next = stop + 1;
        if (stop > line && stop[-1] == '\r')
            stop--;
        *stop = '\0';
        if (r.line++)
            is_ok = take_line(&r, line, (size_t)(stop - line));
        else if ((size_t)(stop - line) != sizeof first_line - 1 ||
                 strcmp(line, first_line) != 0)
            is_ok = qp_error_fail(
                error, "%.300s: not an adjustments file: its first line is not \"%s\"", name,
                first_line);
    }
    qp_free(copy);
    show(a->own);
    if (!is_ok && !error->text[0])
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
        warn(s, s->line, "\"purecov: begin\" inside a block that has not ended: it is ignored");
        return;
    }
    s->open = annotation;
    s->begin = s->line;
}

static void end_block(scan *s, qp_annotation annotation)
{
    if (s->open != annotation) {
        warn(s, s->line,
             s->open ? "\"purecov: end\" of another type than the block: it is ignored"
                     : "\"purecov: end\" without a beginning: it is ignored");
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
