/* diff.c: compares two coverage reports, and reads a patch to find the coverage of its
 * lines. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/wide.h"
#include "model/cover/cover.h"
#include "model/figures/figures.h"

struct qp_cover_diff_private {
    qp_cover_diff diff; /* what the caller sees */
    qp_arena arena;
    qp_buf files;
};

/* Functions that changed. */
typedef struct {
    qp_buf rows; /* qp_cover_diff_row */
    bool has_branches;
} changed_functions;

/* Hit of all. */
typedef struct {
    uint64_t n_hit, n;
} share;

static share branches_of(const qp_cover_totals *t)
{
    return (share){t->branches_hit, t->branches};
}

static share functions_of(const qp_cover_totals *t)
{
    return (share){t->functions_hit, t->functions};
}

/* Of a file without lines, its functions. */
static share lines_of(const qp_cover_totals *t)
{
    return t->lines ? (share){t->lines_hit, t->lines} : functions_of(t);
}

static share share_of_function(const qp_cover_function *k)
{
    return k->totals.lines ? (share){k->totals.lines_hit, k->totals.lines}
                           : (share){k->is_hit, 1};
}

/* Without lines, all are hit. */
static qp_cover_change change_of(share base, share now)
{
    if (!base.n)
        base = (share){1, 1};
    if (!now.n)
        now = (share){1, 1};
    qp_product before = qp_product_of(base.n_hit, now.n);
    qp_product after = qp_product_of(now.n_hit, base.n);
    return qp_product_less(after, before)   ? QP_CHANGE_WORSE
           : qp_product_less(before, after) ? QP_CHANGE_IMPROVED
                                            : QP_CHANGE_NONE;
}

/* Lines first; where they are alike, functions and then branches. */
static qp_cover_change change_of_file(const qp_cover_diff *d, const qp_cover_totals *base,
                                      const qp_cover_totals *now)
{
    qp_cover_change change = QP_CHANGE_NONE;
    if (d->has_lines && (d->has_functions || (base->lines && now->lines)))
        change = change_of(lines_of(base), lines_of(now));
    if (change == QP_CHANGE_NONE && d->has_functions)
        change = change_of(functions_of(base), functions_of(now));
    if (change == QP_CHANGE_NONE && d->has_branches)
        change = change_of(branches_of(base), branches_of(now));
    return change;
}

static qp_cover_change change_of_function(const qp_cover_function *base,
                                          const qp_cover_function *now, bool has_branches)
{
    qp_cover_change change = change_of(share_of_function(base), share_of_function(now));
    if (change == QP_CHANGE_NONE)
        change = change_of((share){base->is_hit, 1}, (share){now->is_hit, 1});
    if (change == QP_CHANGE_NONE && has_branches)
        change = change_of(branches_of(&base->totals), branches_of(&now->totals));
    return change;
}

/* ---- functions --------------------------------------------------------------------------- */

/* What did not change is left out. @return false: no memory */
static bool add_function(changed_functions *found, const qp_cover_function *base,
                         const qp_cover_function *now)
{
    const qp_cover_function *either = now ? now : base;
    qp_cover_diff_row row = {.name = either->name,
                             .line = either->first_line,
                             .change = base ? QP_CHANGE_GONE : QP_CHANGE_NEW,
                             .was = base ? &base->totals : NULL,
                             .is = now ? &now->totals : NULL};
    if (base && now) {
        const share before = share_of_function(base), after = share_of_function(now),
                    was = branches_of(&base->totals), is = branches_of(&now->totals);
        if (before.n_hit == after.n_hit && before.n == after.n && base->is_hit == now->is_hit &&
            (!found->has_branches || (was.n_hit == is.n_hit && was.n == is.n)))
            return true;
        row.change = change_of_function(base, now, found->has_branches);
    }
    qp_cover_diff_row *to = qp_buf_add(&found->rows);
    if (to)
        *to = row;
    return to != NULL;
}

static int compare_stems(const char *a, const char *b)
{
    const qp_name_stem x = qp_name_stem_of(a), y = qp_name_stem_of(b);
    int order = memcmp(x.text, y.text, x.n < y.n ? x.n : y.n);
    order = order ? order : (x.n > y.n) - (x.n < y.n);
    return order ? order : x.is_bracketed - y.is_bracketed;
}

static int compare_functions(const void *a, const void *b)
{
    const qp_cover_function *const *x = a, *const *y = b;
    int order = compare_stems((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

/* By the names without lines; namesakes in their order, which is that of their lines. @return NULL: no
 * memory */
static const qp_cover_function **sort_functions(const qp_cover_file *f)
{
    size_t n = f ? f->n_functions : 0;
    const qp_cover_function **sorted = qp_alloc(n, sizeof *sorted);
    for (size_t i = 0; sorted && i < n; i++)
        sorted[i] = &f->functions[i];
    if (sorted && n)
        qsort(sorted, n, sizeof *sorted, compare_functions);
    return sorted;
}

static int compare_lines(const void *a, const void *b)
{
    const qp_cover_diff_row *x = a, *y = b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->name, y->name);
}

/* How many at the beginning have the name of the first. */
static size_t count_namesakes(const qp_cover_function **f, size_t n)
{
    size_t i = n > 0;
    while (i < n && compare_stems(f[0]->name, f[i]->name) == 0)
        i++;
    return i;
}

static qp_pair_item item_of(const qp_cover_function *f)
{
    const uint64_t numbers[] = {f->totals.lines, f->totals.blocks, f->totals.branches,
                                f->last_line - f->first_line};
    return (qp_pair_item){f->name, qp_hash_bytes(QP_HASH_START, numbers, sizeof numbers) | 1,
                          0};
}

/* Namesakes of both reports, whose lines may have moved. */
static bool pair_namesakes(changed_functions *found, const qp_cover_function **base,
                           size_t n_base, const qp_cover_function **now, size_t n_now)
{
    qp_pair_item *a = qp_alloc(n_base, sizeof *a), *b = qp_alloc(n_now, sizeof *b);
    uint32_t *to = qp_alloc(n_now, sizeof *to), next = 0;
    bool is_ok = a && b && to;
    for (size_t i = 0; is_ok && i < n_base; i++)
        a[i] = item_of(base[i]);
    for (size_t i = 0; is_ok && i < n_now; i++)
        b[i] = item_of(now[i]);
    is_ok = is_ok && qp_pair_functions(a, (uint32_t)n_base, b, (uint32_t)n_now, to);
    for (size_t i = 0; is_ok && i < n_now; i++) {
        bool is_new = to[i] == QP_PAIR_NONE;
        while (is_ok && !is_new && next < to[i])
            is_ok = add_function(found, base[next++], NULL);
        is_ok = is_ok && add_function(found, is_new ? NULL : base[next], now[i]);
        next += !is_new;
    }
    while (is_ok && next < n_base)
        is_ok = add_function(found, base[next++], NULL);
    qp_free(a);
    qp_free(b);
    qp_free(to);
    return is_ok;
}

static bool pair_functions(changed_functions *found, const qp_cover_file *base,
                           const qp_cover_file *now)
{
    const qp_cover_function **a = sort_functions(base), **b = sort_functions(now);
    size_t n = base ? base->n_functions : 0, m = now ? now->n_functions : 0, i = 0, k = 0;
    bool is_ok = a && b;
    while (is_ok && (i < n || k < m)) {
        int order = i == n ? 1 : k == m ? -1 : compare_stems(a[i]->name, b[k]->name);
        size_t n_base = order <= 0 ? count_namesakes(a + i, n - i) : 0,
               n_now = order >= 0 ? count_namesakes(b + k, m - k) : 0;
        is_ok = pair_namesakes(found, a + i, n_base, b + k, n_now);
        i += n_base;
        k += n_now;
    }
    qp_free(a);
    qp_free(b);
    return is_ok;
}

/* ---- files ------------------------------------------------------------------------------- */

static bool add_file(struct qp_cover_diff_private *own, const qp_cover_file *base,
                     const qp_cover_file *now)
{
    changed_functions found = {QP_BUF(qp_cover_diff_row), own->diff.has_branches};
    qp_buf *const functions = &found.rows;
    qp_cover_diff_row *f = qp_buf_add(&own->files);
    bool is_ok = f && (!own->diff.has_functions || pair_functions(&found, base, now));
    if (is_ok) {
        *f = (qp_cover_diff_row){
            .name = (now ? now : base)->path,
            .change = !base  ? QP_CHANGE_NEW
                      : !now ? QP_CHANGE_GONE
                             : change_of_file(&own->diff, &base->totals, &now->totals),
            .was = base ? &base->totals : NULL,
            .is = now ? &now->totals : NULL,
            .n_functions = functions->n};
        if (functions->n)
            qsort(functions->items, functions->n, functions->item_bytes, compare_lines);
        f->functions =
            qp_arena_copy(&own->arena, functions->items, functions->n, sizeof *f->functions);
        own->diff.n_changed[f->change]++;
        is_ok = f->functions != NULL;
    }
    qp_free(functions->items);
    return is_ok;
}

static int compare_files(const void *a, const void *b)
{
    const qp_cover_diff_row *x = a, *y = b;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    return qp_paths_compare(x->name, y->name);
}

/* Both reports have their files in the same order. */
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

/* Does either both have any of a figure, or neither? */
static bool is_alike(uint64_t base, uint64_t now)
{
    return !base == !now;
}

qp_cover_diff *qp_cover_diff_new(const qp_cover *base, const qp_cover *now)
{
    struct qp_cover_diff_private *own = qp_alloc_zeroed(1, sizeof *own);
    if (!own)
        return NULL;
    own->diff.own = own;
    own->files = QP_BUF(qp_cover_diff_row);
    own->diff.has_lines = is_alike(base->totals.lines, now->totals.lines);
    own->diff.has_branches = is_alike(base->totals.branches, now->totals.branches);
    own->diff.has_functions = base->has_calls && now->has_calls;
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

/* ---- changed lines ----------------------------------------------------------------------- */

/* @param missed  [*n_missed] stretches of the file so far */
static void count_span(qp_cover_changed *row, qp_patch_span span, qp_patch_span *missed)
{
    const qp_cover_file *f = row->file;
    bool was_missed = false; /* the previous line with code was missed */
    for (uint32_t i = qp_cover_line_from(f, span.first);
         i < f->n_lines && f->lines[i].line <= span.last; i++) {
        const qp_cover_line *l = &f->lines[i];
        if (l->annotation == QP_ANNOTATION_DEADCODE)
            continue;
        row->n_lines++;
        row->n_hit += l->is_hit;
        row->n_partial += l->is_partial;
        if (!l->is_hit && !was_missed)
            missed[row->n_missed++].first = l->line;
        if (!l->is_hit)
            missed[row->n_missed - 1].last = l->line;
        was_missed = !l->is_hit;
    }
}

static int compare_path(const void *path, const void *file)
{
    return qp_paths_compare(path, ((const qp_cover_file *)file)->path);
}

static const qp_cover_file *file_of(const qp_cover *c, const char *path)
{
    return c->n_files ? bsearch(path, c->files, c->n_files, sizeof *c->files, compare_path)
                      : NULL;
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
        const qp_cover_file *file = file_of(c, from->path);
        *row = (qp_cover_changed){from->path, from, file, file != NULL, .missed = missed};
        for (size_t k = 0; k < from->n_spans; k++) {
            row->n_changed += from->spans[k].last - from->spans[k].first + 1ull;
            if (row->file)
                count_span(row, from->spans[k], missed);
        }
        missed += row->n_missed;
    }
    return true;
}

/* ---- patches ----------------------------------------------------------------------------- */

enum { PATH_BYTES = 4096 };

struct qp_patch_private {
    qp_patch patch; /* what the caller sees */
    qp_arena arena;
    qp_buf files;
};

/* Reading a patch. */
typedef struct {
    struct qp_patch_private *own;
    uint32_t line;               /* of the patch */
    uint64_t old_left, new_left; /* lines that the hunk still has on each side */
    uint64_t at;                 /* line of the new text */
    char old_path[PATH_BYTES];
    bool has_old;  /* "---" came, "+++" must follow */
    bool has_file; /* hunks belong to the last file */
    qp_buf spans;  /* of that file */
    qp_error *error;
} reading;

/* A line of the patch, without its end. */
typedef struct {
    const char *text;
    size_t n_bytes;
} part;

static bool fail(reading *r, const char *what)
{
    return qp_error_fail(r->error, "line %u of the patch: %s", r->line, what);
}

static bool begins_with(part l, const char *word)
{
    size_t n = strlen(word);
    return l.n_bytes >= n && memcmp(l.text, word, n) == 0;
}

/* ---- paths ------------------------------------------------------------------------------- */

static unsigned char escaped(char c)
{
    static const char names[] = "abtnvfr", codes[] = "\a\b\t\n\v\f\r";
    const char *at = c ? strchr(names, c) : NULL;
    return (unsigned char)(at ? codes[at - names] : c);
}

/* A path between quotes, with the escapes of C. @return false: the second quote is missing */
static bool unquote(part l, char *to)
{
    size_t n = 0;
    for (size_t i = 1; i < l.n_bytes && l.text[i] != '"'; i++) {
        unsigned char c = (unsigned char)l.text[i];
        if (c == '\\' && i + 1 < l.n_bytes) {
            c = (unsigned char)l.text[++i];
            unsigned code = 0, n_digits = 0;
            while (n_digits < 3 && i < l.n_bytes && l.text[i] >= '0' && l.text[i] <= '7') {
                code = code * 8 + (unsigned)(l.text[i++] - '0');
                n_digits++;
            }
            i -= n_digits > 0;
            c = n_digits ? (unsigned char)code : escaped((char)c);
        }
        to[n++] = (char)c;
        if (n == PATH_BYTES - 1)
            return false;
    }
    to[n] = '\0';
    return l.n_bytes > 1 && memchr(l.text + 1, '"', l.n_bytes - 1);
}

/* What follows "--- " or "+++ "; a tab separates a time. */
static bool take_path(reading *r, part l, char *to)
{
    const char *tab = memchr(l.text, '\t', l.n_bytes);
    size_t n = tab ? (size_t)(tab - l.text) : l.n_bytes;
    if (l.n_bytes && l.text[0] == '"')
        return unquote(l, to) || fail(r, "the path's quotes are not closed, or it is too long");
    if (!n || n >= PATH_BYTES)
        return fail(r, n ? "the path is too long" : "there is no path");
    memcpy(to, l.text, n);
    to[n] = '\0';
    return true;
}

static bool is_nothing(const char *path)
{
    return strcmp(path, "/dev/null") == 0;
}

/* "a/" and "b/", or what git writes with mnemonic prefixes. */
static bool has_prefix(const char *path)
{
    return path[0] && strchr("abciow", path[0]) && path[1] == '/' && path[2];
}

/* Both sides have a prefix, not the same one; where a side is nothing, the other's is the
 * usual. */
static size_t prefix_bytes(const char *old_path, const char *new_path)
{
    enum { PREFIX = 2 };
    if (is_nothing(old_path))
        return has_prefix(new_path) && new_path[0] != 'a' ? PREFIX : 0;
    if (is_nothing(new_path))
        return has_prefix(old_path) && old_path[0] != 'b' ? PREFIX : 0;
    return has_prefix(old_path) && has_prefix(new_path) && old_path[0] != new_path[0] ? PREFIX
                                                                                      : 0;
}

/* ---- files ------------------------------------------------------------------------------- */

static bool end_file(reading *r)
{
    if (!r->has_file)
        return true;
    struct qp_patch_private *own = r->own;
    qp_patch_file *f = (qp_patch_file *)own->files.items + own->files.n - 1;
    f->n_spans = r->spans.n;
    f->spans = qp_arena_copy(&own->arena, r->spans.items, r->spans.n, sizeof(qp_patch_span));
    r->spans.n = 0;
    r->has_file = false;
    return f->spans && !r->spans.failed;
}

static bool begin_file(reading *r, part l)
{
    char path[PATH_BYTES];
    if (!end_file(r) || !take_path(r, l, path))
        return false;
    bool is_gone = is_nothing(path);
    size_t n_prefix = prefix_bytes(r->old_path, path);
    const char *shown = (is_gone ? r->old_path : path) + n_prefix;
    qp_patch_file *f = qp_buf_add(&r->own->files);
    if (f)
        *f = (qp_patch_file){.path = qp_arena_text(&r->own->arena, shown), .is_gone = is_gone};
    r->has_old = false;
    r->has_file = f && f->path;
    return r->has_file;
}

/* ---- hunks ------------------------------------------------------------------------------- */

/* "12" or "12,3" after a sign. @return false: neither */
static bool take_numbers(part *l, char sign, uint64_t *first, uint64_t *n)
{
    uint64_t *to = first;
    size_t i = 0, n_digits = 0;
    *first = 0;
    *n = 1;
    if (!l->n_bytes || l->text[i++] != sign)
        return false;
    for (; i < l->n_bytes; i++) {
        char c = l->text[i];
        if (c == ',' && to == first && n_digits) {
            to = n;
            *n = n_digits = 0;
        } else if (c >= '0' && c <= '9' && *to < UINT32_MAX) {
            *to = *to * 10 + (uint64_t)(c - '0');
            n_digits++;
        } else {
            break;
        }
    }
    l->text += i;
    l->n_bytes -= i;
    return n_digits && *first < UINT32_MAX && *n < UINT32_MAX;
}

static bool begin_hunk(reading *r, part l)
{
    uint64_t old_first;
    part rest = {l.text + 3, l.n_bytes - 3};
    bool is_good = take_numbers(&rest, '-', &old_first, &r->old_left);
    if (is_good && rest.n_bytes && *rest.text == ' ')
        rest = (part){rest.text + 1, rest.n_bytes - 1};
    is_good = is_good && take_numbers(&rest, '+', &r->at, &r->new_left);
    if (!is_good || !begins_with(rest, " @@"))
        return fail(r, "not a hunk (expected \"@@ -1,2 +3,4 @@\")");
    if (!r->has_file)
        return fail(r, "a hunk before the name of a file");
    return true;
}

static bool add_line(reading *r)
{
    qp_patch_span *last = r->spans.n ? (qp_patch_span *)r->spans.items + r->spans.n - 1 : NULL;
    uint32_t line = r->at < UINT32_MAX ? (uint32_t)r->at : UINT32_MAX;
    if (last && line <= last->last)
        return fail(r, "hunks are not in ascending order");
    if (last && last->last + 1 == line) {
        last->last = line;
        return true;
    }
    qp_patch_span *fresh = line ? qp_buf_add(&r->spans) : NULL;
    if (fresh)
        *fresh = (qp_patch_span){line, line};
    return fresh || (!line && fail(r, "line 0"));
}

/* A line of content. An empty one is an empty line of context whose blank was lost on the
 * way. */
static bool take_content(reading *r, part l)
{
    char sign = l.n_bytes ? l.text[0] : ' ';
    if (sign == '\\') /* no newline at the end of the file */
        return true;
    bool is_old = sign == '-' || sign == ' ', is_new = sign == '+' || sign == ' ';
    if ((!is_old && !is_new) || (is_old && !r->old_left) || (is_new && !r->new_left))
        return fail(r, "the hunk has other lines than its head says");
    if (sign == '+' && !add_line(r))
        return false;
    r->old_left -= is_old;
    r->new_left -= is_new;
    r->at += is_new;
    return true;
}

static bool take_line(reading *r, part l)
{
    if (r->old_left || r->new_left)
        return take_content(r, l);
    if (r->has_old && !begins_with(l, "+++ "))
        return fail(r, "expected \"+++\" after \"---\"");
    if (r->has_old)
        return begin_file(r, (part){l.text + 4, l.n_bytes - 4});
    if (begins_with(l, "--- ")) {
        r->has_old = true;
        return take_path(r, (part){l.text + 4, l.n_bytes - 4}, r->old_path);
    }
    if (begins_with(l, "@@ "))
        return begin_hunk(r, l);
    if (begins_with(l, "@@@"))
        return fail(r, "a combined diff of a merge is not understood: compare with one parent");
    return true; /* "diff --git", "index", a message */
}

qp_patch *qp_patch_read(const char *text, size_t n_bytes, qp_error *error)
{
    struct qp_patch_private *own = qp_alloc_zeroed(1, sizeof *own);
    reading *r = qp_alloc_zeroed(1, sizeof *r);
    error->text[0] = '\0';
    bool is_ok = own && r;
    if (own)
        own->patch.own = own;
    if (is_ok) {
        own->files = QP_BUF(qp_patch_file);
        r->spans = QP_BUF(qp_patch_span);
        r->own = own;
        r->error = error;
    }
    for (size_t at = 0; is_ok && at < n_bytes;) {
        const char *newline = memchr(text + at, '\n', n_bytes - at);
        size_t length = newline ? (size_t)(newline - text) - at : n_bytes - at;
        bool has_return = length && text[at + length - 1] == '\r';
        r->line++;
        is_ok = take_line(r, (part){text + at, length - has_return});
        at += length + 1;
    }
    if (is_ok && (r->old_left || r->new_left))
        is_ok = fail(r, "the patch ends inside a hunk");
    is_ok = is_ok && end_file(r);
    if (r)
        qp_free(r->spans.items);
    qp_free(r);
    if (is_ok) {
        own->patch.files = own->files.items;
        own->patch.n_files = own->files.n;
        return &own->patch;
    }
    if (!error->text[0])
        qp_error_fail(error, "there is not enough memory to read the patch");
    qp_patch_free(own ? &own->patch : NULL);
    return NULL;
}

void qp_patch_free(qp_patch *p)
{
    if (!p)
        return;
    struct qp_patch_private *own = p->own;
    qp_free(own->files.items);
    qp_arena_fini(&own->arena);
    qp_free(own);
}
