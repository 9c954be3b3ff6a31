/* picture.c: see picture.h. Totals are a second implementation: no code of src/model is
 * used. */
#include "export/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct picture {
    qp_cover c;
    qp_cover_run run;
    void *owned[1 << 16]; /* everything that was allocated, but arrays that grow */
    size_t n_owned;
    qp_cover_file *files;
    qp_cover_dir *dirs;
    const char **contexts;
};

static void *keep(picture *p, void *memory)
{
    p->owned[p->n_owned++] = memory;
    return memory;
}

static char *keep_text(picture *p, const char *text, size_t n)
{
    return keep(p, strndup(text, n));
}

/* One more zeroed item at the end of an array. */
static void *add(void *array, size_t n, size_t bytes)
{
    char **items = array;
    if ((n & (n - 1)) == 0)
        *items = realloc(*items, (n ? 2 * n : 1) * bytes);
    memset(*items + n * bytes, 0, bytes);
    return *items + n * bytes;
}

picture *picture_new(void)
{
    picture *p = calloc(1, sizeof *p);
    p->run = (qp_cover_run){.what = "run.qprof",
                            .program = "qlua",
                            .label = "",
                            .script = "",
                            .labels = "",
                            .started_at = 1763600000123456789u,
                            .pid = 4711};
    p->c.runs = &p->run;
    p->c.n_runs = 1;
    p->c.grain = QP_GRAIN_LINE;
    p->c.is_coverage = true;
    return p;
}

void picture_free(picture *p)
{
    for (size_t i = 0; i < p->c.n_files; i++) {
        free((void *)p->files[i].functions);
        free((void *)p->files[i].lines);
        free((void *)p->files[i].blocks);
        free((void *)p->files[i].branches);
        free((void *)p->files[i].touches);
    }
    while (p->n_owned)
        free(p->owned[--p->n_owned]);
    free(p->files);
    free(p->dirs);
    free(p->contexts);
    free(p);
}

/* ---- what there is ----------------------------------------------------------------------- */

uint32_t picture_context(picture *p, const char *name)
{
    *(const char **)add(&p->contexts, p->c.n_contexts, sizeof *p->contexts) = name;
    return (uint32_t)p->c.n_contexts++;
}

/* The folder that n bytes of a path name, its parents first. */
static uint32_t dir_of(picture *p, const char *path, size_t n)
{
    while (n > 0 && path[n - 1] == '/')
        n--;
    for (size_t i = 0; i < p->c.n_dirs; i++)
        if (strlen(p->dirs[i].path) == n && memcmp(p->dirs[i].path, path, n) == 0)
            return (uint32_t)i;
    size_t parent_bytes = n;
    while (parent_bytes > 0 && path[parent_bytes - 1] != '/')
        parent_bytes--;
    uint32_t parent = n ? dir_of(p, path, parent_bytes) : 0;
    qp_cover_dir *dir = add(&p->dirs, p->c.n_dirs, sizeof *p->dirs);
    dir->path = keep_text(p, path, n);
    dir->parent = parent;
    dir->depth = n ? p->dirs[parent].depth + 1 : 0;
    return (uint32_t)p->c.n_dirs++;
}

void picture_file(picture *p, const char *path)
{
    const char *slash = strrchr(path, '/');
    uint32_t dir = dir_of(p, path, slash ? (size_t)(slash - path) : 0);
    qp_cover_file *f = add(&p->files, p->c.n_files++, sizeof *p->files);
    f->path = f->file = keep_text(p, path, strlen(path));
    f->name = slash ? f->path + (slash - path) + 1 : f->path;
    f->dir = dir;
}

static qp_cover_file *file(picture *p)
{
    return &p->files[p->c.n_files - 1];
}

uint32_t picture_function(picture *p, const char *name, uint64_t calls)
{
    qp_cover_file *f = file(p);
    qp_cover_function *x = add(&f->functions, f->n_functions, sizeof *x);
    x->name = keep_text(p, name, strlen(name));
    x->module = "qlua";
    x->calls = calls;
    x->is_hit = calls > 0;
    return f->n_functions++;
}

static qp_cover_function *function(qp_cover_file *f, uint32_t index)
{
    return (qp_cover_function *)&f->functions[index];
}

static qp_cover_line *line_of(qp_cover_file *f, uint32_t line)
{
    if (f->n_lines == 0 || f->lines[f->n_lines - 1].line != line) {
        qp_cover_line *l = add(&f->lines, f->n_lines++, sizeof *l);
        l->line = line;
        l->first_block = f->n_blocks;
        l->first_branch = f->n_branches;
    }
    return (qp_cover_line *)&f->lines[f->n_lines - 1];
}

void picture_block(picture *p, uint32_t line, uint32_t function_index, uint64_t count)
{
    qp_cover_file *f = file(p);
    qp_cover_function *x = function(f, function_index);
    qp_cover_line *l = line_of(f, line);
    qp_cover_block *b = add(&f->blocks, f->n_blocks++, sizeof *b);
    *b = (qp_cover_block){line, function_index, count, count == 0};
    l->n_blocks++;
    l->n_blocks_hit += count > 0;
    l->count = count > l->count ? count : l->count;
    l->sum += count;
    l->is_hit = l->n_blocks_hit > 0;
    l->is_partial = l->is_hit && l->n_blocks_hit < l->n_blocks;
    x->first_line = x->first_line ? x->first_line : line;
    x->last_line = line;
}

static void add_way(qp_cover_file *f, const qp_cover_branch *branch)
{
    qp_cover_line *l = line_of(f, branch->line);
    qp_cover_branch *b = add(&f->branches, f->n_branches++, sizeof *b);
    *b = *branch;
    l->n_branches++;
    l->n_branches_hit += branch->count > 0;
}

void picture_jump(picture *p, uint32_t line, uint32_t block, uint32_t function_index,
                  bool is_reached, uint64_t jumped, uint64_t went_on)
{
    qp_cover_branch b = {.line = line, .block = block, .function = function_index};
    b.is_reached = is_reached;
    b.to_line = line + 2;
    b.count = jumped;
    add_way(file(p), &b);
    b.way = 1;
    b.to_line = 0;
    b.count = went_on;
    add_way(file(p), &b);
}

void picture_mark(picture *p, uint32_t line, qp_annotation mark)
{
    qp_cover_file *f = file(p);
    qp_cover_line *l = line_of(f, line);
    l->annotation = mark;
    l->is_hit |= mark == QP_ANNOTATION_TESTED || mark == QP_ANNOTATION_INSPECTED;
    for (uint32_t i = 0; i < l->n_blocks; i++)
        ((qp_cover_block *)f->blocks)[l->first_block + i].is_missed &= !l->is_hit;
}

void picture_touch(picture *p, uint32_t line, uint32_t context, uint64_t count)
{
    qp_cover_file *f = file(p);
    qp_cover_touch *t = add(&f->touches, f->n_touches++, sizeof *t);
    while (f->lines[t->line].line != line)
        t->line++;
    t->context = context;
    t->count = count;
}

/* ---- totals ------------------------------------------------------------------------------ */

static void sum_line(qp_cover_totals *t, const qp_cover_file *f, const qp_cover_line *l)
{
    if (l->annotation == QP_ANNOTATION_DEADCODE)
        return;
    t->lines++;
    t->lines_hit += l->is_hit;
    t->lines_partial += l->is_partial;
    for (uint32_t i = 0; i < l->n_blocks; i++) {
        t->blocks++;
        t->blocks_hit += !f->blocks[l->first_block + i].is_missed;
    }
    t->branches += l->n_branches;
    t->branches_hit += l->n_branches_hit;
}

/* The same of the blocks and branches that belong to one function. */
static void sum_function(qp_cover_file *f, uint32_t index)
{
    qp_cover_function *x = function(f, index);
    qp_cover_totals *t = &x->totals;
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        uint32_t n = 0, n_hit = 0;
        if (l->annotation == QP_ANNOTATION_DEADCODE)
            continue;
        for (uint32_t k = l->first_block; k < l->first_block + l->n_blocks; k++)
            if (f->blocks[k].function == index) {
                n++;
                n_hit += !f->blocks[k].is_missed;
            }
        t->blocks += n;
        t->blocks_hit += n_hit;
        t->lines += n > 0;
        t->lines_hit += n_hit > 0;
        t->lines_partial += n_hit > 0 && n_hit < n;
        for (uint32_t k = l->first_branch; k < l->first_branch + l->n_branches; k++)
            if (f->branches[k].function == index) {
                t->branches++;
                t->branches_hit += f->branches[k].count > 0;
            }
    }
    x->is_dead = x->first_line && t->lines == 0;
    t->functions = !x->is_dead;
    t->functions_hit = x->is_hit && !x->is_dead;
    t->calls = x->calls;
}

const qp_cover *picture_done(picture *p)
{
    dir_of(p, "", 0);
    for (size_t i = 0; i < p->c.n_files; i++) {
        qp_cover_file *f = &p->files[i];
        f->totals.files = 1;
        for (uint32_t k = 0; k < f->n_lines; k++)
            sum_line(&f->totals, f, &f->lines[k]);
        for (uint32_t k = 0; k < f->n_functions; k++) {
            sum_function(f, k);
            f->totals.functions += f->functions[k].totals.functions;
            f->totals.functions_hit += f->functions[k].totals.functions_hit;
            f->totals.calls += f->functions[k].calls;
        }
        qp_cover_totals_add(&p->c.totals, &f->totals);
        for (uint32_t dir = f->dir;; dir = p->dirs[dir].parent) {
            qp_cover_totals_add(&p->dirs[dir].totals, &f->totals);
            if (dir == 0)
                break;
        }
    }
    p->c.files = p->files;
    p->c.dirs = p->dirs;
    p->c.contexts = p->contexts;
    p->c.totals.dirs = p->c.n_dirs;
    return &p->c;
}
