/* cover_marks.c: adjustments of a picture: an adjustments file, and markers of the sources, which
 * are nearer to the code and win. */
#include <string.h>

#include "model/cover_picture.h"

enum { UNREAD_NAMED = sizeof((qp_cover_making *)0)->unread / sizeof(char *) };

static bool copy_warnings(qp_cover_making *x, const qp_adjust *a)
{
    bool is_ok = true;
    for (size_t i = 0; a && is_ok && i < a->n_warnings; i++)
        is_ok = qp_cover_warn(x, qp_arena_text(&x->own->arena, a->warnings[i]));
    return is_ok;
}

static bool read_adjustments(qp_cover_making *x)
{
    char error[QP_ERROR_BYTES];
    bool is_inside, is_ok = true;
    x->adjustments = qp_adjust_new();
    if (!x->adjustments)
        return false;
    if (!qp_adjust_read(x->adjustments, x->o->adjustments, error))
        is_ok = qp_cover_warn(x, qp_arena_text(&x->own->arena, error));
    size_t n = x->adjustments->n_files;
    x->names = qp_arena_take(&x->arena, n, sizeof *x->names);
    for (size_t i = 0; is_ok && x->names && i < n; i++) {
        x->names[i] =
            qp_paths_show(&x->paths, &x->arena, x->adjustments->files[i].name, &is_inside);
        is_ok = x->names[i] != NULL;
    }
    return is_ok && x->names && copy_warnings(x, x->adjustments);
}

bool qp_cover_marks_begin(qp_cover_making *x)
{
    if (x->o->is_unadjusted || x->set->grain == QP_GRAIN_FUNCTION)
        return true;
    x->markers = qp_adjust_new();
    return x->markers && (!x->o->adjustments || read_adjustments(x));
}

static void mark_lines(const qp_adjust_file *from, const qp_cover_file *f, qp_cover_line *lines)
{
    for (uint32_t i = 0; i < f->n_lines; i++) {
        qp_cover_mark mark = qp_adjust_mark(from, lines[i].line);
        lines[i].mark = mark ? mark : lines[i].mark;
    }
}

/* A file may be there under several spellings: the newest time of all of them counts. */
static void mark_adjusted(const qp_cover_making *x, const qp_cover_file *f,
                          qp_cover_line *lines)
{
    size_t n = x->adjustments ? x->adjustments->n_files : 0;
    uint64_t newest = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(x->names[i], f->path) == 0 && x->adjustments->files[i].time > newest)
            newest = x->adjustments->files[i].time;
    for (size_t i = 0; i < n; i++)
        if (strcmp(x->names[i], f->path) == 0 && x->adjustments->files[i].time == newest)
            mark_lines(&x->adjustments->files[i], f, lines);
}

/* Markers of a text that is not the recorded one would mark other lines than were meant. */
static bool mark_from_source(qp_cover_making *x, const qp_cover_file *f,
                             const qp_source *source, qp_cover_line *lines)
{
    if (f->digest && f->digest != source->digest) {
        qp_adjust *unheeded = qp_adjust_new();
        size_t n = unheeded ? qp_adjust_scan(unheeded, f->path, 0, source) : SIZE_MAX;
        qp_adjust_free(unheeded);
        const char *effect = n ? ": lines may have moved, and its markers are not heeded"
                               : ": lines may have moved";
        return n != SIZE_MAX &&
               qp_cover_warn(x, qp_arena_format(&x->own->arena,
                                                "%s has changed since it was recorded%s",
                                                f->path, effect));
    }
    size_t n = qp_adjust_scan(x->markers, f->path, 0, source);
    if (n && n != SIZE_MAX)
        mark_lines(&x->markers->files[x->markers->n_files - 1], f, lines);
    return n != SIZE_MAX;
}

bool qp_cover_mark_file(qp_cover_making *x, const qp_cover_file *f, qp_cover_line *lines)
{
    char error[QP_ERROR_BYTES];
    qp_source source;
    if (!x->markers || !f->n_lines)
        return true;
    mark_adjusted(x, f, lines);
    if (!qp_source_read(f->file, x->o->source_path, &source, error)) {
        if (x->n_unread < UNREAD_NAMED)
            x->unread[x->n_unread] = f->path;
        x->n_unread++;
        return true;
    }
    bool is_ok = mark_from_source(x, f, &source, lines);
    qp_source_fini(&source);
    return is_ok;
}

/* Without their markers the totals may be others: that is worth a line, but not one for each. */
static bool warn_unread(qp_cover_making *x)
{
    qp_arena *arena = &x->own->arena;
    size_t n = x->n_unread, n_named = n < UNREAD_NAMED ? n : UNREAD_NAMED;
    char *text =
        qp_arena_format(arena, "markers of %zu source%s are not known: ", n, n == 1 ? "" : "s");
    for (size_t i = 0; text && i < n_named; i++)
        text = qp_arena_format(arena, "%s%s%.100s", text, i ? ", " : "", x->unread[i]);
    if (text && n > n_named)
        text = qp_arena_format(arena, "%s and %zu more", text, n - n_named);
    if (text)
        text = qp_arena_format(arena, "%s cannot be read", text);
    return !n || qp_cover_warn(x, text);
}

bool qp_cover_marks_end(qp_cover_making *x, bool is_ok)
{
    is_ok = is_ok && warn_unread(x) && copy_warnings(x, x->markers);
    qp_adjust_free(x->adjustments);
    qp_adjust_free(x->markers);
    return is_ok;
}
