/* cover.c: the coverage report, from the counters of a set. Start reading at
 * qp_cover_derive(). */
#include "model/cover/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/containers/search.h"
#include "base/text/glob.h"
#include "model/cover/internal.h"

/* Add a warning to the report. @return false: no memory */
static bool warn(qp_cover_making *x, char *text)
{
    char **to = text ? qp_buf_add(&x->own->warnings) : NULL;
    if (to)
        *to = text;
    return to != NULL;
}

/* ---- annotations ------------------------------------------------------------------------- */

enum { UNREAD_NAMED = sizeof((qp_cover_making *)0)->unread / sizeof(char *) };

static bool copy_warnings(qp_cover_making *x, const qp_adjust *a)
{
    bool is_ok = true;
    for (size_t i = 0; a && is_ok && i < a->n_warnings; i++)
        is_ok = warn(x, qp_arena_text(&x->own->arena, a->warnings[i]));
    return is_ok;
}

static bool read_adjustments(qp_cover_making *x)
{
    qp_error error;
    bool is_inside, is_ok = true;
    x->adjustments = qp_adjust_new();
    if (!x->adjustments)
        return false;
    if (!qp_adjust_read(x->adjustments, x->o->adjustments, &error))
        is_ok = warn(x, qp_arena_text(&x->own->arena, error.text));
    size_t n = x->adjustments->n_files;
    x->names = qp_arena_take(&x->arena, n, sizeof *x->names);
    for (size_t i = 0; is_ok && x->names && i < n; i++) {
        x->names[i] =
            qp_paths_show(&x->paths, &x->arena, x->adjustments->files[i].name, &is_inside);
        is_ok = x->names[i] != NULL;
    }
    return is_ok && x->names && copy_warnings(x, x->adjustments);
}

/* Read the adjustments file. @return false: no memory */
static bool begin_annotations(qp_cover_making *x)
{
    if (x->o->is_unadjusted || x->set->grain == QP_GRAIN_FUNCTION)
        return true;
    x->markers = qp_adjust_new();
    return x->markers && (!x->o->adjustments || read_adjustments(x));
}

static void annotate_lines(const qp_adjust_file *from, const qp_cover_file *f,
                           qp_cover_line *lines)
{
    for (uint32_t i = 0; i < f->n_lines; i++) {
        qp_annotation annotation = qp_adjust_annotation(from, lines[i].line);
        lines[i].annotation = annotation ? annotation : lines[i].annotation;
    }
}

/* Apply the adjustments file. A file may be in it under several spellings: the newest time
 * counts. */
static void annotate_adjusted(const qp_cover_making *x, const qp_cover_file *f,
                              qp_cover_line *lines)
{
    size_t n = x->adjustments ? x->adjustments->n_files : 0;
    uint64_t newest = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(x->names[i], f->path) == 0 && x->adjustments->files[i].time > newest)
            newest = x->adjustments->files[i].time;
    for (size_t i = 0; i < n; i++)
        if (strcmp(x->names[i], f->path) == 0 && x->adjustments->files[i].time == newest)
            annotate_lines(&x->adjustments->files[i], f, lines);
}

/* Apply a source's markers. In a changed text they would be on other lines, so they are
 * ignored. */
static bool annotate_from_source(qp_cover_making *x, const qp_cover_file *f,
                                 const qp_source *source, qp_cover_line *lines)
{
    if (f->digest && f->digest != source->digest) {
        qp_adjust *ignored = qp_adjust_new();
        size_t n = ignored ? qp_adjust_scan(ignored, f->path, 0, source) : SIZE_MAX;
        qp_adjust_free(ignored);
        const char *effect = n ? ": lines may have moved, and its markers are ignored"
                               : ": lines may have moved";
        return n != SIZE_MAX &&
               warn(x, qp_arena_format(&x->own->arena, "%s has changed since it was recorded%s",
                                       f->path, effect));
    }
    size_t n = qp_adjust_scan(x->markers, f->path, 0, source);
    if (n && n != SIZE_MAX)
        annotate_lines(&x->markers->files[x->markers->n_files - 1], f, lines);
    return n != SIZE_MAX;
}

/* Annotate the lines of a file. @return false: no memory */
static bool annotate_file(qp_cover_making *x, const qp_cover_file *f, qp_cover_line *lines)
{
    qp_error error;
    qp_source source;
    if (!x->markers || !f->n_lines)
        return true;
    annotate_adjusted(x, f, lines);
    if (!qp_source_read(f->file, f->digest, &x->o->folders, &source, &error)) {
        if (x->n_unread < UNREAD_NAMED)
            x->unread[x->n_unread] = f->path;
        x->n_unread++;
        return true;
    }
    bool is_ok = annotate_from_source(x, f, &source, lines);
    qp_source_fini(&source);
    return is_ok;
}

/* Warn once of all sources without markers: totals may differ with them. */
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
    return !n || warn(x, text);
}

/* Free what begin_annotations() made, and warn. @return false: no memory */
static bool end_annotations(qp_cover_making *x, bool is_ok)
{
    is_ok = is_ok && warn_unread(x) && copy_warnings(x, x->markers);
    qp_adjust_free(x->adjustments);
    qp_adjust_free(x->markers);
    return is_ok;
}

/* ---- folders ----------------------------------------------------------------------------- */

static qp_cover_dir *dir_at(struct qp_cover_private *own, uint32_t i)
{
    return (qp_cover_dir *)own->dirs.items + i;
}

/* @return false: no memory */
static bool add_dir(struct qp_cover_private *own, const char *path, size_t n_bytes,
                    uint32_t parent)
{
    qp_cover_dir *d = qp_buf_add(&own->dirs);
    char *copy = qp_arena_take(&own->arena, n_bytes + 1, 1);
    if (!d || !copy)
        return false;
    memcpy(copy, path, n_bytes);
    bool is_root = own->dirs.n == 1;
    *d = (qp_cover_dir){
        .path = copy, .parent = parent, .depth = is_root ? 0 : dir_at(own, parent)->depth + 1};
    return true;
}

static bool is_inside(const qp_cover_dir *d, const char *path, size_t n_bytes)
{
    size_t n = strlen(d->path);
    return n <= n_bytes && memcmp(d->path, path, n) == 0 &&
           (n == n_bytes || !n || path[n] == '/');
}

/* The folder of a file, with those that it lies in. @param dir  that of the file before */
static bool find_dir(struct qp_cover_private *own, const char *path, uint32_t *dir)
{
    size_t n_bytes = qp_paths_folder(path);
    while (!is_inside(dir_at(own, *dir), path, n_bytes))
        *dir = dir_at(own, *dir)->parent;
    for (size_t n = strlen(dir_at(own, *dir)->path); n < n_bytes;) {
        n += path[n] == '/';
        n += strcspn(path + n, "/");
        if (!add_dir(own, path, n, *dir))
            return false;
        *dir = (uint32_t)own->dirs.n - 1;
    }
    return true;
}

/* List the folders of the files, with totals. @return false: no memory */
static bool draw_dirs(struct qp_cover_private *own)
{
    qp_cover_file *files = own->files.items;
    uint32_t dir = 0;
    bool is_ok = add_dir(own, "", 0, 0);
    for (size_t i = 0; is_ok && i < own->files.n; i++) {
        is_ok = find_dir(own, files[i].path, &dir);
        files[i].dir = dir;
    }
    if (!is_ok)
        return false;
    for (size_t i = 0; i < own->files.n; i++)
        qp_cover_totals_add(&dir_at(own, files[i].dir)->totals, &files[i].totals);
    for (uint32_t i = (uint32_t)own->dirs.n; i-- > 1;) {
        qp_cover_dir *d = dir_at(own, i), *parent = dir_at(own, d->parent);
        qp_cover_totals_add(&parent->totals, &d->totals);
        parent->totals.dirs++;
    }
    own->cover.totals = dir_at(own, 0)->totals;
    return true;
}

typedef struct qp_cover_private cover_private;

/* ---- which files ------------------------------------------------------------------------- */

static bool fits_any(const char *const *globs, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (qp_glob_fits_path(globs[i], path))
            return true;
    return false;
}

static bool is_wanted(const qp_cover_options *o, const char *path)
{
    return (!o->n_include || fits_any(o->include, o->n_include, path)) &&
           !fits_any(o->exclude, o->n_exclude, path);
}

/* Files left out because they are outside the root, for one warning. */
typedef struct {
    size_t n;
    const char *first;
} outsiders;

static bool warn_outside(qp_cover_making *x, const outsiders *out)
{
    qp_arena *arena = &x->own->arena;
    if (!out->n)
        return true;
    if (out->n == 1)
        return warn(x, qp_arena_format(arena, "%s lies outside %s: left out", out->first,
                                       x->paths.root));
    return warn(x, qp_arena_format(arena, "%s and %zu more lie outside %s: left out",
                                   out->first, out->n - 1, x->paths.root));
}

/* A file name that methods were registered with. */
typedef struct {
    const char *file, *path; /* path NULL: not wanted */
} spelling;

/* @return NULL: no memory */
static const spelling *find_spelling(qp_cover_making *x, qp_buf *known, qp_dict *index,
                                     const char *file, outsiders *out)
{
    size_t n = known->n;
    uint32_t at = qp_find_or_name(index, known, offsetof(spelling, file), &x->arena, file);
    spelling *s = at ? (spelling *)known->items + at - 1 : NULL;
    if (!s || known->n == n)
        return s;
    bool is_inside;
    const char *path = qp_paths_show(&x->paths, &x->own->arena, file, &is_inside);
    if (!path)
        return NULL;
    bool is_left_out = !is_inside && x->o->is_only_root && is_wanted(x->o, path);
    if (is_left_out && !out->n++)
        out->first = path;
    s->path = is_wanted(x->o, path) && !is_left_out ? path : NULL;
    return s;
}

static void find_extent(qp_cover_member *m)
{
    for (uint32_t i = 0; i < m->method->n_blocks; i++) {
        int32_t number = m->method->lines[i].line;
        uint32_t line = number > 0 ? (uint32_t)number : 0;
        if (line && (!m->first_line || line < m->first_line))
            m->first_line = line;
        if (line > m->last_line)
            m->last_line = line;
    }
}

/* Equal members are one function, whatever module or id they had. */
static int compare_functions(const qp_cover_member *a, const qp_cover_member *b)
{
    const qp_cover_method *x = a->method, *y = b->method;
    int order = qp_paths_compare(a->path, b->path);
    if (order)
        return order;
    if (a->first_line != b->first_line)
        return a->first_line < b->first_line ? -1 : 1;
    order = strcmp(x->name, y->name);
    if (order)
        return order;
    if (x->n_blocks != y->n_blocks)
        return x->n_blocks < y->n_blocks ? -1 : 1;
    return x->n_blocks ? memcmp(x->lines, y->lines, x->n_blocks * sizeof *x->lines) : 0;
}

/* Of one function, the more detailed counters first; then as the set has them. */
static int compare_members(const void *a, const void *b)
{
    const qp_cover_member *x = a, *y = b;
    int order = compare_functions(x, y);
    if (order)
        return order;
    uint32_t n = x->method->jumps ? x->method->jumps->n_jumps : 0;
    uint32_t m = y->method->jumps ? y->method->jumps->n_jumps : 0;
    if (n != m)
        return n > m ? -1 : 1;
    return (x->method > y->method) - (x->method < y->method);
}

/* If any function has a line table, those without one are not covered by the host; else the
 * host knows functions only. */
static bool choose_members(qp_cover_making *x)
{
    bool has_tables = false;
    for (size_t i = 0; i < x->set->n_methods && !has_tables; i++)
        has_tables = x->set->methods[i].n_blocks > 0;
    qp_buf known = QP_BUF(spelling);
    qp_dict index = {0};
    outsiders out = {0};
    x->members = qp_arena_take(&x->arena, x->set->n_methods, sizeof *x->members);
    bool is_ok = x->members && qp_paths_init(&x->paths, &x->own->arena, x->o->root);
    for (size_t i = 0; is_ok && i < x->set->n_methods; i++) {
        const qp_cover_method *c = &x->set->methods[i];
        if (!c->file[0] || (has_tables && !c->n_blocks))
            continue;
        const spelling *s = find_spelling(x, &known, &index, c->file, &out);
        is_ok = s != NULL;
        if (!s || !s->path)
            continue;
        x->members[x->n_members] = (qp_cover_member){c, s->path, 0, 0};
        find_extent(&x->members[x->n_members++]);
    }
    is_ok = is_ok && warn_outside(x, &out);
    qp_free(known.items);
    qp_dict_fini(&index);
    if (is_ok && x->n_members)
        qsort(x->members, x->n_members, sizeof *x->members, compare_members);
    return is_ok;
}

/* ---- contexts ---------------------------------------------------------------------------- */

/* Whether a method has counts that are in no share. */
static bool has_rest(const qp_cover_method *c)
{
    qp_wide calls = c->calls;
    for (size_t i = 0; i < c->n_shares; i++)
        calls -= c->shares[i].calls;
    for (uint32_t k = 0; calls <= 0 && c->values && k < c->n_values; k++) {
        qp_wide n = c->values[k];
        for (size_t i = 0; i < c->n_shares; i++)
            n -= c->shares[i].values[k];
        if (n > 0)
            return true;
    }
    return calls > 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_chosen(const qp_cover_options *o, const char *name)
{
    for (size_t i = 0; i < o->n_contexts; i++)
        if (qp_glob_fits_name(o->contexts[i], name))
            return true;
    return !o->n_contexts;
}

/* The names, by name; that of no context if something has none. @return false: no memory */
static bool list_contexts(qp_cover_making *x, const char ***out, size_t *n)
{
    const char **names = qp_arena_take(&x->own->arena, x->set->n_contexts + 1, sizeof *names);
    if (!names)
        return false;
    *n = 0;
    x->none = 0;
    while (x->none < x->set->n_contexts && x->set->contexts[x->none][0])
        x->none++;
    bool has_none =
        x->none < x->set->n_contexts || !x->set->n_contexts; /* or is not asked for */
    for (size_t i = 0; !has_none && i < x->n_members; i++)
        if (has_rest(x->members[i].method)) {
            names[(*n)++] = "";
            has_none = true;
        }
    for (size_t i = 0; i < x->set->n_contexts; i++)
        if (!(names[(*n)++] = qp_arena_text(&x->own->arena, x->set->contexts[i])))
            return false;
    qsort(names, *n, sizeof *names, compare_names);
    *out = names;
    return true;
}

static bool choose_contexts(qp_cover_making *x, qp_error *error)
{
    size_t n_set = x->set->n_contexts, n, n_chosen = 0;
    const char **names;
    x->contexts = qp_arena_take(&x->arena, n_set + 1, sizeof *x->contexts);
    x->is_chosen = qp_arena_take(&x->arena, n_set + 1, sizeof *x->is_chosen);
    if (!x->contexts || !x->is_chosen || !list_contexts(x, &names, &n))
        return false;
    for (size_t i = 0; i <= n_set; i++) {
        const char *name = i < n_set ? x->set->contexts[i] : "";
        const char **at = n ? bsearch(&name, names, n, sizeof *names, compare_names) : NULL;
        x->contexts[i] = at ? (uint32_t)(at - names) : 0;
        x->is_chosen[i] = is_chosen(x->o, name);
        n_chosen += at && x->is_chosen[i];
    }
    x->has_contexts = n > 0;
    x->is_all_chosen = n_chosen == n;
    x->own->cover.contexts = names;
    x->own->cover.n_contexts = n;
    if (!n_chosen && x->o->n_contexts)
        qp_error_fail(error,
                      n ? "no context fits \"%.200s\": %zu are known"
                        : "no context fits \"%.200s\": no run has named any (%zu)",
                      x->o->contexts[0], n);
    return !error->text[0];
}

/* ---- files ------------------------------------------------------------------------------- */

static const qp_cover_text *text_of(const qp_cover_set *s, const char *file)
{
    for (size_t i = 0; i < s->n_texts; i++)
        if (strcmp(s->texts[i].path, file) == 0)
            return &s->texts[i];
    return NULL;
}

/* Number of members from `first` on that compare equal. */
static size_t count_equal(const qp_cover_making *x, size_t first, size_t end,
                          int compare(const qp_cover_member *, const qp_cover_member *))
{
    size_t n = 1;
    while (first + n < end && compare(&x->members[first], &x->members[first + n]) == 0)
        n++;
    return n;
}

static int compare_paths(const qp_cover_member *a, const qp_cover_member *b)
{
    return qp_paths_compare(a->path, b->path);
}

static bool fill_file(qp_cover_draft *d, qp_cover_file *f)
{
    qp_cover_line *lines;
    qp_arena *arena = &d->making->own->arena;
    f->n_functions = (uint32_t)d->functions.n;
    qp_cover_function *functions =
        qp_arena_copy(arena, d->functions.items, d->functions.n, sizeof(qp_cover_function));
    if (!functions || !qp_cover_draw_lines(d, f, &lines) || !annotate_file(d->making, f, lines))
        return false;
    f->functions = functions;
    qp_cover_total_file(d->making, f, lines, functions);
    return true;
}

/* One file of the members from `first` on. @param n  of them @return false: no memory */
static bool draw_file(qp_cover_making *x, size_t first, size_t n)
{
    qp_cover_draft d = {x, QP_BUF(qp_cover_function), QP_BUF(qp_cover_block),
                        QP_BUF(qp_cover_branch), QP_BUF(qp_cover_hit)};
    const char *file = x->members[first].method->file, *path = x->members[first].path;
    size_t folder_bytes = qp_paths_folder(path);
    const qp_cover_text *text = text_of(x->set, file);
    qp_cover_file *f = qp_buf_add(&x->own->files);
    bool is_ok = f != NULL;
    if (is_ok)
        *f = (qp_cover_file){.path = path,
                             .name = path + folder_bytes + (path[folder_bytes] == '/'),
                             .file = qp_arena_text(&x->own->arena, file),
                             .digest = text ? text->digest : 0};
    for (size_t i = first, n_equal; is_ok && i < first + n; i += n_equal) {
        n_equal = count_equal(x, i, first + n, compare_functions);
        is_ok = qp_cover_draw_function(&d, &x->members[i], n_equal);
    }
    is_ok = is_ok && f->file && fill_file(&d, f);
    qp_free(d.functions.items);
    qp_free(d.blocks.items);
    qp_free(d.branches.items);
    qp_free(d.hits.items);
    return is_ok;
}

static bool draw_files(qp_cover_making *x)
{
    bool is_ok = true;
    for (size_t i = 0, n; is_ok && i < x->n_members; i += n) {
        n = count_equal(x, i, x->n_members, compare_paths);
        is_ok = draw_file(x, i, n);
    }
    return is_ok;
}

/* ---- the report -------------------------------------------------------------------------- */

static bool copy_runs(qp_cover_making *x)
{
    qp_arena *arena = &x->own->arena;
    const qp_cover_set *s = x->set;
    qp_cover_run *runs = qp_arena_copy(arena, s->runs, s->n_runs, sizeof *runs);
    bool is_ok = runs != NULL;
    for (size_t i = 0; is_ok && i < s->n_runs; i++) {
        runs[i].what = qp_arena_text(arena, s->runs[i].what);
        runs[i].program = qp_arena_text(arena, s->runs[i].program);
        runs[i].label = qp_arena_text(arena, s->runs[i].label);
        runs[i].script = qp_arena_text(arena, s->runs[i].script);
        runs[i].labels = qp_arena_text(arena, s->runs[i].labels);
        is_ok = runs[i].what && runs[i].program && runs[i].label && runs[i].script &&
                runs[i].labels;
    }
    for (size_t i = 0; is_ok && i < s->n_warnings; i++)
        is_ok = warn(x, qp_arena_text(arena, s->warnings[i]));
    x->own->cover.runs = runs;
    x->own->cover.n_runs = s->n_runs;
    return is_ok;
}

static void show(cover_private *own, const qp_cover_set *s)
{
    qp_cover *c = &own->cover;
    c->files = own->files.items;
    c->n_files = own->files.n;
    c->dirs = own->dirs.items;
    c->n_dirs = own->dirs.n;
    c->warnings = own->warnings.items;
    c->n_warnings = own->warnings.n;
    c->grain = s->grain;
    c->is_once = s->is_once;
    c->is_coverage = s->is_coverage;
    c->has_calls = s->has_calls;
}

qp_cover *qp_cover_derive(const qp_cover_set *s, const qp_cover_options *o, qp_error *error)
{
    static const qp_cover_options defaults;
    qp_cover_making x = {.set = s, .o = o ? o : &defaults};
    error->text[0] = '\0';
    x.own = qp_alloc_zeroed(1, sizeof *x.own);
    if (x.own) {
        x.own->cover.own = x.own;
        x.own->files = QP_BUF(qp_cover_file);
        x.own->dirs = QP_BUF(qp_cover_dir);
        x.own->warnings = QP_BUF(char *);
    }
    bool is_ok = x.own && copy_runs(&x) && choose_members(&x) && choose_contexts(&x, error) &&
                 begin_annotations(&x) && draw_files(&x) && draw_dirs(x.own);
    is_ok = end_annotations(&x, is_ok);
    qp_arena_fini(&x.arena);
    if (is_ok) {
        show(x.own, s);
        return &x.own->cover;
    }
    if (!error->text[0])
        qp_error_fail(error, "there is not enough memory for a report");
    if (x.own)
        qp_cover_free(&x.own->cover);
    return NULL;
}

void qp_cover_free(qp_cover *c)
{
    if (!c)
        return;
    cover_private *own = c->own;
    qp_free(own->files.items);
    qp_free(own->dirs.items);
    qp_free(own->warnings.items);
    qp_arena_fini(&own->arena);
    qp_free(own);
}

/* ---- asking ------------------------------------------------------------------------------ */

double qp_cover_percent(uint64_t n_hit, uint64_t n)
{
    return n ? 100.0 * (double)n_hit / (double)n : 100.0;
}

/* Whether a path ends with these complete parts. */
static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), n_end = strlen(end);
    return n_end && n_end < n && path[n - n_end - 1] == '/' &&
           strcmp(path + n - n_end, end) == 0;
}

size_t qp_cover_file_named(const qp_cover *c, const char *name, size_t *n_found)
{
    enum { PASSES = 3 };
    size_t found = c->n_files, n = 0;
    for (unsigned pass = 0; !n && pass < PASSES; pass++)
        for (size_t i = 0; i < c->n_files; i++) {
            const qp_cover_file *f = &c->files[i];
            bool fits = pass == 0   ? strcmp(f->path, name) == 0
                        : pass == 1 ? strcmp(f->file, name) == 0
                                    : ends_with(f->path, name) || ends_with(f->file, name);
            found = fits && !n ? i : found;
            n += fits;
        }
    if (n_found)
        *n_found = n;
    return found;
}

uint32_t qp_cover_line_from(const qp_cover_file *f, uint32_t line)
{
    return (uint32_t)QP_SEARCH(f->lines, f->n_lines, line, line);
}
