/* cover_diff.c: the four sections of pc_diff, functions, and what a patch touches. */
#include "model/cover_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/dict.h"
#include "model/cover_paths.h"

struct qp_cover_diff_private {
    qp_cover_diff diff; /* what the caller sees */
    qp_arena arena;
    qp_buf files;
};

/* Hit of all. */
typedef struct {
    uint64_t n_hit, n;
} share;

static share share_of_file(const qp_cover_file *f)
{
    const qp_cover_totals *t = &f->totals;
    return t->lines ? (share){t->lines_hit, t->lines} : (share){t->functions_hit, t->functions};
}

static share share_of_function(const qp_cover_function *k)
{
    return k->totals.lines ? (share){k->totals.lines_hit, k->totals.lines}
                           : (share){k->is_hit, 1};
}

static double percent(share s)
{
    return qp_cover_percent(s.n_hit, s.n);
}

/* Of nothing all is hit. */
static qp_cover_change change_of(share base, share now)
{
    if (!base.n)
        base = (share){1, 1};
    if (!now.n)
        now = (share){1, 1};
    unsigned __int128 before = (unsigned __int128)base.n_hit * now.n;
    unsigned __int128 after = (unsigned __int128)now.n_hit * base.n;
    return after < before   ? QP_CHANGE_WORSE
           : after > before ? QP_CHANGE_IMPROVED
                            : QP_CHANGE_NONE;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool is_equal(share a, share b)
{
    return a.n_hit == b.n_hit && a.n == b.n;
}

/* What did not change is left out. @return false: no memory */
static bool add_function(qp_buf *found, const qp_cover_function *base,
                         const qp_cover_function *now)
{
    qp_cover_diff_function row = {.base = base, .now = now};
    if (base && now) {
        share before = share_of_function(base), after = share_of_function(now);
        if (is_equal(before, after) && base->is_hit == now->is_hit)
            return true;
        row.change = change_of(before, after);
    } else {
        row.change = base ? QP_CHANGE_GONE : QP_CHANGE_NEW;
    }
    qp_cover_diff_function *to = qp_buf_add(found);
    if (to)
        *to = row;
    return to != NULL;
}

static int compare_names(const void *a, const void *b)
{
    const qp_cover_function *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

/* By name; namesakes in their order, which is that of their lines. @return NULL: no memory */
static const qp_cover_function **sort_functions(const qp_cover_file *f)
{
    size_t n = f ? f->n_functions : 0;
    const qp_cover_function **sorted = qp_alloc(n, sizeof *sorted);
    for (size_t i = 0; sorted && i < n; i++)
        sorted[i] = &f->functions[i];
    if (sorted && n)
        qsort(sorted, n, sizeof *sorted, compare_names);
    return sorted;
}

static uint32_t line_of(const qp_cover_diff_function *k)
{
    return k->now ? k->now->first_line : k->base->first_line;
}

static int compare_lines(const void *a, const void *b)
{
    uint32_t x = line_of(a), y = line_of(b);
    if (x != y)
        return x < y ? -1 : 1;
    const qp_cover_diff_function *k = a, *l = b;
    return strcmp((k->now ? k->now : k->base)->name, (l->now ? l->now : l->base)->name);
}

static bool pair_functions(qp_buf *found, const qp_cover_file *base, const qp_cover_file *now)
{
    const qp_cover_function **a = sort_functions(base), **b = sort_functions(now);
    size_t n = base ? base->n_functions : 0, m = now ? now->n_functions : 0, i = 0, j = 0;
    bool is_ok = a && b;
    while (is_ok && (i < n || j < m)) {
        int order = i == n ? 1 : j == m ? -1 : strcmp(a[i]->name, b[j]->name);
        is_ok = add_function(found, order <= 0 ? a[i] : NULL, order >= 0 ? b[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
    qp_free(a);
    qp_free(b);
    return is_ok;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool add_file(struct qp_cover_diff_private *own, const qp_cover_file *base,
                     const qp_cover_file *now)
{
    qp_buf functions;
    qp_buf_init(&functions, sizeof(qp_cover_diff_function));
    qp_cover_diff_file *f = qp_buf_add(&own->files);
    bool is_ok = f && pair_functions(&functions, base, now);
    if (is_ok) {
        share before = base ? share_of_file(base) : (share){0, 0};
        share after = now ? share_of_file(now) : (share){0, 0};
        *f = (qp_cover_diff_file){.path = (now ? now : base)->path,
                                  .base = base,
                                  .now = now,
                                  .base_percent = percent(before),
                                  .now_percent = percent(after),
                                  .n_functions = functions.n};
        f->change = !base ? QP_CHANGE_NEW : !now ? QP_CHANGE_GONE : change_of(before, after);
        if (functions.n)
            qsort(functions.items, functions.n, functions.item_bytes, compare_lines);
        f->functions =
            qp_arena_copy(&own->arena, functions.items, functions.n, sizeof *f->functions);
        own->diff.n_changed[f->change]++;
        is_ok = f->functions != NULL;
    }
    qp_free(functions.items);
    return is_ok;
}

static int compare_files(const void *a, const void *b)
{
    const qp_cover_diff_file *x = a, *y = b;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    return qp_paths_compare(x->path, y->path);
}

/* Both pictures have their files in the same order. */
static bool pair_files(struct qp_cover_diff_private *own, const qp_cover *base,
                       const qp_cover *now)
{
    size_t i = 0, j = 0;
    bool is_ok = true;
    while (is_ok && (i < base->n_files || j < now->n_files)) {
        int order = i == base->n_files ? 1
                    : j == now->n_files
                        ? -1
                        : qp_paths_compare(base->files[i].path, now->files[j].path);
        is_ok = add_file(own, order <= 0 ? &base->files[i] : NULL,
                         order >= 0 ? &now->files[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
    return is_ok;
}

qp_cover_diff *qp_cover_diff_new(const qp_cover *base, const qp_cover *now)
{
    struct qp_cover_diff_private *own = qp_alloc_zeroed(1, sizeof *own);
    if (!own)
        return NULL;
    own->diff.own = own;
    qp_buf_init(&own->files, sizeof(qp_cover_diff_file));
    if (!pair_files(own, base, now)) {
        qp_cover_diff_free(&own->diff);
        return NULL;
    }
    if (own->files.n)
        qsort(own->files.items, own->files.n, own->files.item_bytes, compare_files);
    own->diff.files = own->files.items;
    own->diff.n_files = own->files.n;
    return &own->diff;
}

void qp_cover_diff_free(qp_cover_diff *d)
{
    if (!d)
        return;
    struct qp_cover_diff_private *own = d->own;
    qp_free(own->files.items);
    qp_arena_fini(&own->arena);
    qp_free(own);
}

/* ---- changed lines --------------------------------------------------------------------------- */

/* @param missed  [*n_missed] stretches of the file so far */
static void count_span(qp_cover_changed *row, qp_patch_span span, qp_patch_span *missed)
{
    const qp_cover_file *f = row->file;
    bool is_going_on = false; /* the line with code before this one was missed, too */
    for (uint32_t i = qp_cover_line_from(f, span.first);
         i < f->n_lines && f->lines[i].line <= span.last; i++) {
        const qp_cover_line *l = &f->lines[i];
        if (l->mark == QP_MARK_DEADCODE)
            continue;
        row->n_lines++;
        row->n_hit += l->is_hit;
        row->n_partial += l->is_partial;
        if (!l->is_hit && !is_going_on)
            missed[row->n_missed++].first = l->line;
        if (!l->is_hit)
            missed[row->n_missed - 1].last = l->line;
        is_going_on = !l->is_hit;
    }
}

static const qp_cover_file *file_of(const qp_cover *c, const char *path)
{
    size_t low = 0, high = c->n_files;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = qp_paths_compare(c->files[middle].path, path);
        if (order == 0)
            return &c->files[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* How many stretches there can be at most: of lines with code in the spans. */
static size_t room_for_missed(const qp_cover *c, const qp_patch *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_files; i++) {
        const qp_cover_file *f = file_of(c, p->files[i].path);
        for (size_t k = 0; f && k < p->files[i].n_spans; k++) {
            qp_patch_span span = p->files[i].spans[k];
            n += qp_cover_line_from(f, span.last) - qp_cover_line_from(f, span.first) + 1;
        }
    }
    return n;
}

bool qp_cover_changes(const qp_cover *c, const qp_patch *p, qp_cover_changed **out, size_t *n)
{
    size_t rows_bytes = p->n_files * sizeof **out;
    size_t n_missed = room_for_missed(c, p);
    *n = 0;
    *out = qp_alloc_zeroed(rows_bytes + n_missed * sizeof(qp_patch_span), 1);
    if (!*out)
        return false;
    qp_patch_span *missed = (qp_patch_span *)(void *)((char *)*out + rows_bytes);
    for (size_t i = 0; i < p->n_files; i++) {
        const qp_patch_file *from = &p->files[i];
        if (from->is_gone)
            continue;
        qp_cover_changed *row = &(*out)[(*n)++];
        *row =
            (qp_cover_changed){.patch = from, .file = file_of(c, from->path), .missed = missed};
        for (size_t k = 0; k < from->n_spans; k++) {
            row->n_changed += from->spans[k].last - from->spans[k].first + 1ull;
            if (row->file)
                count_span(row, from->spans[k], missed);
        }
        missed += row->n_missed;
    }
    return true;
}
