/* rows.c: the rows of a table of coverage, in its order. Read qp_cover_rows_make first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "cli/cover/cover.h"

typedef enum { BY_NAME, BY_MISSED, BY_PERCENT, BY_LINES, BY_CALLS } order;

typedef struct {
    const qp_cover *c;
    order sort;
    bool has_functions;
    qp_buf rows;
} maker;

static void add_row(maker *m, qp_cover_row row)
{
    qp_cover_row *to = qp_buf_add(&m->rows);
    if (to)
        *to = row;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* What comes first is larger. */
static double key_of(const qp_cover_totals *t, order sort)
{
    switch (sort) {
    case BY_MISSED:
        return (double)(t->lines - t->lines_hit);
    case BY_PERCENT:
        return -qp_cover_percent(t->lines_hit, t->lines);
    case BY_LINES:
        return (double)t->lines;
    case BY_CALLS:
        return (double)t->calls;
    default:
        return 0;
    }
}

static int compare_keys(const qp_cover_totals *x, const qp_cover_totals *y, order sort)
{
    double a = key_of(x, sort), b = key_of(y, sort);
    return (a < b) - (a > b);
}

static int compare_files(const void *a, const void *b, void *data)
{
    const maker *m = data;
    const qp_cover_file *x = *(const qp_cover_file *const *)a,
                        *y = *(const qp_cover_file *const *)b;
    int by_key = compare_keys(&x->totals, &y->totals, m->sort);
    return by_key ? by_key : strcmp(x->path, y->path);
}

static int compare_functions(const void *a, const void *b, void *data)
{
    const maker *m = data;
    const qp_cover_function *x = *(const qp_cover_function *const *)a,
                            *y = *(const qp_cover_function *const *)b;
    int by_key = compare_keys(&x->totals, &y->totals, m->sort);
    return by_key ? by_key : (x > y) - (x < y); /* as in the file */
}

/* ---- files and functions --------------------------------------------------------------------- */

/* @param module  only this one's functions; NULL: all */
static void add_functions(maker *m, const qp_cover_file *f, const char *module, unsigned depth)
{
    size_t n = 0;
    const qp_cover_function **list = qp_alloc(f->n_functions, sizeof *list);
    if (!list) {
        m->rows.failed = true;
        return;
    }
    for (uint32_t i = 0; i < f->n_functions; i++)
        if (!module || strcmp(f->functions[i].module, module) == 0)
            list[n++] = &f->functions[i];
    qsort_r(list, n, sizeof(void *), compare_functions, m);
    for (size_t i = 0; i < n; i++)
        add_row(m, (qp_cover_row){.kind = QP_ROW_FUNCTION,
                                  .depth = depth,
                                  .path = f->path,
                                  .parent = "",
                                  .function = list[i],
                                  .totals = &list[i]->totals});
    qp_free(list);
}

static void add_file(maker *m, const qp_cover_file *f, unsigned depth, const char *parent)
{
    add_row(m, (qp_cover_row){.kind = QP_ROW_FILE,
                              .depth = depth,
                              .path = f->path,
                              .parent = parent,
                              .totals = &f->totals});
    if (m->has_functions)
        add_functions(m, f, NULL, depth + 1);
}

static void add_list(maker *m)
{
    size_t n = m->c->n_files;
    const qp_cover_file **list = qp_alloc(n, sizeof *list);
    if (!list) {
        m->rows.failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        list[i] = &m->c->files[i];
    qsort_r(list, n, sizeof(void *), compare_files, m);
    for (size_t i = 0; i < n; i++)
        add_file(m, list[i], 0, "");
    qp_free(list);
}

/* ---- folders --------------------------------------------------------------------------------- */

/* First and next of the files of a folder: index + 1; 0: no more. */
typedef struct {
    uint32_t *first, *next; /* [n_dirs], [n_files] */
} links;

static bool link_files(links *l, const qp_cover *c)
{
    l->first = qp_alloc_zeroed(c->n_dirs, sizeof *l->first);
    l->next = qp_alloc_zeroed(c->n_files, sizeof *l->next);
    for (size_t i = c->n_files; l->first && l->next && i-- > 0;) {
        l->next[i] = l->first[c->files[i].dir];
        l->first[c->files[i].dir] = (uint32_t)i + 1;
    }
    return l->first && l->next;
}

/* A folder that holds nothing but another one gets no row: that one's row names both. What is below a
 * folder follows it in the list of folders. Depth is that of paths, at most half of their bytes.
 * @return the next folder that is not below it */
static uint32_t add_folder(maker *m, const links *l, uint32_t dir, unsigned depth,
                           const char *parent)
{
    const qp_cover_dir *d = &m->c->dirs[dir];
    uint32_t n_dirs = (uint32_t)m->c->n_dirs, next = dir + 1, n_below = 0;
    for (uint32_t i = next; i < n_dirs && m->c->dirs[i].depth > d->depth && n_below < 2; i++)
        n_below += m->c->dirs[i].parent == dir;
    if (dir && (l->first[dir] || n_below != 1)) {
        add_row(m, (qp_cover_row){.kind = QP_ROW_FOLDER,
                                  .depth = depth,
                                  .path = d->path,
                                  .parent = parent,
                                  .totals = &d->totals});
        depth++;
        parent = d->path;
    }
    while (next < n_dirs && m->c->dirs[next].depth > d->depth)
        next = add_folder(m, l, next, depth, parent);
    for (uint32_t at = l->first[dir]; at; at = l->next[at - 1])
        add_file(m, &m->c->files[at - 1], depth, parent);
    return next;
}

static void add_tree(maker *m)
{
    links l;
    if (!link_files(&l, m->c))
        m->rows.failed = true;
    else if (m->c->n_dirs)
        add_folder(m, &l, 0, 0, "");
    qp_free(l.first);
    qp_free(l.next);
}

/* ---- modules --------------------------------------------------------------------------------- */

/* The part of a module that is in one file: nearly always all of it. */
typedef struct {
    const char *module;
    const qp_cover_file *file;
    qp_cover_totals sum, module_sum; /* of its functions; of all parts of the module */
} part;

static int compare_modules(const void *a, const void *b)
{
    const part *x = a, *y = b;
    int by_name = strcmp(x->module, y->module);
    return by_name ? by_name : strcmp(x->file->path, y->file->path);
}

/* Those of a file, from part `begin` on: first one for each of its functions, then equal ones joined. */
static void find_parts(qp_buf *parts, const qp_cover_file *f)
{
    size_t begin = parts->n, n = 0;
    part *own = f->n_functions ? qp_buf_add_many(parts, f->n_functions) : NULL;
    if (!own)
        return;
    for (uint32_t i = 0; i < f->n_functions; i++)
        own[i] =
            (part){.module = f->functions[i].module, .file = f, .sum = f->functions[i].totals};
    qsort(own, f->n_functions, sizeof *own, compare_modules);
    for (uint32_t i = 0; i < f->n_functions; i++) {
        if (n && strcmp(own[n - 1].module, own[i].module) == 0)
            qp_cover_totals_add(&own[n - 1].sum, &own[i].sum);
        else
            own[n++] = own[i];
        own[n - 1].sum.files = 1;
    }
    /* a line on which two functions have code counts once in the file */
    if (n == 1)
        own[0].sum = f->totals;
    parts->n = begin + n;
}

static int compare_parts(const void *a, const void *b, void *data)
{
    const maker *m = data;
    const part *x = a, *y = b;
    int by_module = compare_keys(&x->module_sum, &y->module_sum, m->sort);
    by_module = by_module ? by_module : strcmp(x->module, y->module);
    if (by_module)
        return by_module;
    int by_key = compare_keys(&x->sum, &y->sum, m->sort);
    return by_key ? by_key : strcmp(x->file->path, y->file->path);
}

/* @return the parts, to which rows point; NULL: no memory */
static part *add_modules(maker *m)
{
    qp_buf buf;
    size_t n;
    qp_buf_init(&buf, sizeof(part));
    for (size_t i = 0; i < m->c->n_files; i++)
        find_parts(&buf, &m->c->files[i]);
    part *parts = qp_buf_take(&buf, &n);
    if (!parts)
        return NULL;
    qsort(parts, n, sizeof *parts, compare_modules);
    for (size_t begin = 0, end; begin < n; begin = end) {
        qp_cover_totals sum = {0};
        for (end = begin; end < n && strcmp(parts[end].module, parts[begin].module) == 0; end++)
            qp_cover_totals_add(&sum, &parts[end].sum);
        for (size_t i = begin; i < end; i++)
            parts[i].module_sum = sum;
    }
    qsort_r(parts, n, sizeof *parts, compare_parts, m);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(parts[i].module, parts[i - 1].module) != 0)
            add_row(m, (qp_cover_row){.kind = QP_ROW_MODULE,
                                      .path = parts[i].module,
                                      .parent = "",
                                      .totals = &parts[i].module_sum});
        add_row(m, (qp_cover_row){.kind = QP_ROW_FILE,
                                  .depth = 1,
                                  .path = parts[i].file->path,
                                  .parent = "",
                                  .totals = &parts[i].sum});
        if (m->has_functions)
            add_functions(m, parts[i].file, parts[i].module, 2);
    }
    return parts;
}

/* ---- the rows -------------------------------------------------------------------------------- */

bool qp_cover_rows_make(qp_cover_rows *rows, const qp_args *args, const qp_cover *c)
{
    maker m = {.c = c, .sort = (order)args->sort, .has_functions = args->cover.has_functions};
    *rows = (qp_cover_rows){0};
    qp_buf_init(&m.rows, sizeof(qp_cover_row));
    if (args->cover.view == QP_VIEW_MODULE) {
        rows->own = add_modules(&m);
        m.rows.failed |= rows->own == NULL;
    } else if (m.sort == BY_NAME) {
        add_tree(&m);
    } else {
        add_list(&m);
    }
    add_row(&m,
            (qp_cover_row){.kind = QP_ROW_ALL, .path = "", .parent = "", .totals = &c->totals});
    rows->items = qp_buf_take(&m.rows, &rows->n);
    if (rows->items)
        return true;
    qp_cover_rows_free(rows);
    return false;
}

void qp_cover_rows_free(qp_cover_rows *rows)
{
    qp_free(rows->items);
    qp_free(rows->own);
}

/* "parse:12"; the name that hosts give to functions without one may already end in the line. */
static void name_function(const qp_cover_function *x, char *to, size_t n_bytes)
{
    char line[16];
    snprintf(line, sizeof line, ":%" PRIu32, x->first_line);
    size_t n = strlen(x->name), n_line = strlen(line);
    bool has_line = n >= n_line && strcmp(x->name + n - n_line, line) == 0;
    snprintf(to, n_bytes, "%s%s", x->name, has_line || !x->first_line ? "" : line);
}

void qp_cover_row_name(const qp_cover_row *row, char *to, size_t n_bytes)
{
    size_t n_parent = strlen(row->parent);
    switch (row->kind) {
    case QP_ROW_ALL:
        snprintf(to, n_bytes, "Total");
        return;
    case QP_ROW_MODULE:
        snprintf(to, n_bytes, "%s", *row->path ? row->path : "(no module)");
        return;
    case QP_ROW_FUNCTION:
        name_function(row->function, to, n_bytes);
        return;
    default:
        snprintf(to, n_bytes, "%s%s", row->path + (n_parent ? n_parent + 1 : 0),
                 row->kind == QP_ROW_FOLDER ? "/" : "");
    }
}
