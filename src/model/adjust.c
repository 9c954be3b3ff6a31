/* adjust.c: marks of lines, collected, asked for and written. */
#include "model/adjust.h"

#include <string.h>

#include "base/alloc.h"
#include "model/adjust_set.h"

typedef struct qp_adjust_private adjust_private;

static const char *const words[] = {"", "deadcode", "tested", "inspected"};

enum { N_MARKS = sizeof words / sizeof *words };

qp_adjust *qp_adjust_new(void)
{
    adjust_private *own = qp_alloc_zeroed(1, sizeof *own);
    if (!own)
        return NULL;
    qp_buf_init(&own->files, sizeof(qp_adjust_file));
    qp_buf_init(&own->rooms, sizeof(size_t));
    qp_buf_init(&own->warnings, sizeof(char *));
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

void qp_adjust_show(adjust_private *own)
{
    own->adjust.files = own->files.items;
    own->adjust.n_files = own->files.n;
    own->adjust.warnings = own->warnings.items;
    own->adjust.n_warnings = own->warnings.n;
}

const char *qp_adjust_word(qp_cover_mark mark)
{
    return words[mark];
}

qp_cover_mark qp_adjust_word_at(const char *text, size_t n_left, size_t *n_bytes)
{
    for (unsigned i = 1; i < N_MARKS; i++) {
        *n_bytes = strlen(words[i]);
        if (*n_bytes <= n_left && memcmp(text, words[i], *n_bytes) == 0)
            return (qp_cover_mark)i;
    }
    return QP_MARK_NONE;
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* @return index + 1; 0: no memory */
static uint32_t file_named(adjust_private *own, const char *name)
{
    uint64_t hash = qp_hash_bytes(QP_HASH_START, name, strlen(name));
    uint32_t at = qp_dict_get(&own->names, hash);
    while (at && strcmp(((qp_adjust_file *)own->files.items)[at - 1].name, name) != 0)
        at = qp_dict_get(&own->names, ++hash);
    if (at)
        return at;
    char *copy = qp_arena_text(&own->arena, name);
    qp_adjust_file *f = copy && qp_buf_add(&own->rooms) ? qp_buf_add(&own->files) : NULL;
    if (!f || !qp_dict_put(&own->names, hash, (uint32_t)own->files.n))
        return 0;
    f->name = copy;
    return (uint32_t)own->files.n;
}

bool qp_adjust_add(adjust_private *own, const char *name, uint64_t time, qp_adjust_range range)
{
    uint32_t at = file_named(own, name);
    if (!at)
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

bool qp_adjust_warn(adjust_private *own, const char *file, uint64_t line, const char *what)
{
    char **to = qp_buf_add(&own->warnings);
    if (to)
        *to = qp_arena_format(&own->arena, "%s:%llu: %s", file, (unsigned long long)line, what);
    return to && *to;
}

/* ---- asking ---------------------------------------------------------------------------------- */

qp_cover_mark qp_adjust_mark(const qp_adjust_file *f, uint32_t line)
{
    qp_cover_mark found = QP_MARK_NONE;
    bool is_own = false;
    for (size_t i = 0; i < f->n_ranges; i++) {
        const qp_adjust_range *r = &f->ranges[i];
        if (line < r->first || line > r->last || (is_own && r->is_block))
            continue;
        found = r->mark;
        is_own = !r->is_block;
    }
    return found;
}

uint64_t qp_adjust_lines(const qp_adjust_file *f, qp_cover_mark mark, uint32_t n_lines)
{
    uint64_t n = 0;
    for (uint32_t line = 1; line <= n_lines; line++)
        n += qp_adjust_mark(f, line) == mark;
    return n;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_writable(const char *name)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return false;
    return name[0] != '\0';
}

/* The lines of one type and style. */
static void write_entry(const qp_adjust_file *f, qp_cover_mark mark, bool is_block, qp_out *out)
{
    bool has_any = false;
    for (size_t i = 0; i < f->n_ranges; i++) {
        const qp_adjust_range *r = &f->ranges[i];
        if (r->mark != mark || r->is_block != is_block)
            continue;
        if (!has_any) /* in column 1, '#' begins a comment */
            qp_out_format(out, "%s%s\t%llu\t%s\t%c\t", f->name[0] == '#' ? "./" : "", f->name,
                          (unsigned long long)f->time, words[mark], is_block ? 'B' : 'L');
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
        for (unsigned mark = 1; is_good && mark < N_MARKS; mark++) {
            write_entry(f, (qp_cover_mark)mark, false, out);
            write_entry(f, (qp_cover_mark)mark, true, out);
        }
    }
    return n_left_out;
}
