/* list_rows.c: what `qprof list` counts, of procedures and of statements. */
#include "cli/mainpm/mainpm.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/buf.h"
#include "model/cover/cover.h"
#include "model/figures/figures.h"

/* ---- collecting ------------------------------------------------------------------------------ */

/* A host that counts blocks need not tell of calls. */
static bool is_executed(const qp_cover_method *k)
{
    bool is = k->is_seen;
    for (uint32_t i = 0; !is && k->values && i < k->n_values; i++)
        is = k->values[i] > 0;
    return is;
}

bool qp_list_procedures(const qp_list_scope *scope, const qp_cover_set *set, qp_arena *arena,
                        qp_list_rows *to)
{
    qp_buf buf;
    qp_paths paths;
    qp_buf_init(&buf, sizeof(qp_list_row));
    if (!qp_paths_init(&paths, arena, NULL))
        return false;
    for (size_t i = 0; i < set->n_methods && !buf.failed; i++) {
        const qp_cover_method *k = &set->methods[i];
        const char *module = qp_attribution_module_text(arena, k->class_name, k->file);
        buf.failed |= !module;
        const qp_match_method method = {k->module, k->file, k->class_name, k->bare_name,
                                        k->name};
        bool is_due = module && qp_list_scope_has(scope, module, &method);
        qp_list_row *r = is_due ? qp_buf_add(&buf) : NULL;
        if (!r)
            continue;
        bool is_inside;
        *r = (qp_list_row){.module = module,
                           .procedure = *k->bare_name ? k->bare_name : k->name,
                           .file = qp_paths_show(&paths, arena, k->file, &is_inside),
                           .calls = k->calls,
                           .procedures = 1,
                           .procedures_called = k->calls > 0,
                           .executed = is_executed(k)};
        buf.failed |= r->file == NULL;
        for (uint32_t b = 0; b < k->n_blocks; b++)
            if (k->lines[b].line > 0 && (!r->line || (uint32_t)k->lines[b].line < r->line))
                r->line = (uint32_t)k->lines[b].line;
    }
    to->items = qp_buf_take(&buf, &to->n);
    return to->items != NULL;
}

/* A statement is what a procedure has on a line; blocks are sorted by line, then procedure. */
static void collect_from(const qp_list_scope *scope, const qp_cover_file *f, qp_arena *arena,
                         qp_buf *buf)
{
    for (uint32_t i = 0; i < f->n_blocks;) {
        const qp_cover_block *b = &f->blocks[i];
        const qp_cover_function *x = &f->functions[b->function];
        uint64_t count = 0;
        uint32_t end = i;
        for (; end < f->n_blocks && f->blocks[end].line == b->line &&
               f->blocks[end].function == b->function;
             end++)
            count = f->blocks[end].count > count ? f->blocks[end].count : count;
        i = end;
        const char *module = qp_attribution_module_text(arena, x->class_name, f->path);
        buf->failed |= !module;
        const qp_match_method method = {x->module, f->file, x->class_name, x->bare_name,
                                        x->name};
        bool is_due = module && qp_list_scope_has(scope, module, &method);
        qp_list_row *r = is_due ? qp_buf_add(buf) : NULL;
        if (r)
            *r = (qp_list_row){.module = module,
                               .procedure = *x->bare_name ? x->bare_name : x->name,
                               .file = f->path,
                               .line = b->line,
                               .statements = 1,
                               .executed = count > 0,
                               .executions = count};
    }
}

bool qp_list_statements(const qp_list_scope *scope, const qp_cover *c, qp_arena *arena,
                        qp_list_rows *to)
{
    qp_buf buf;
    qp_buf_init(&buf, sizeof(qp_list_row));
    for (size_t i = 0; i < c->n_files; i++)
        collect_from(scope, &c->files[i], arena, &buf);
    to->items = qp_buf_take(&buf, &to->n);
    return to->items != NULL;
}

/* ---- breaking down --------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const qp_list_row *x = a, *y = b;
    int c = strcmp(x->module, y->module);
    c = c ? c : strcmp(x->file, y->file);
    c = c ? c : strcmp(x->procedure, y->procedure);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

static int compare_counts(const void *a, const void *b)
{
    const qp_list_row *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    if (x->executions != y->executions)
        return x->executions < y->executions ? 1 : -1;
    return compare_places(a, b);
}

static bool is_one(const qp_list_row *a, const qp_list_row *b, unsigned by)
{
    return strcmp(a->module, b->module) == 0 &&
           (by == QP_LIST_BY_MODULE ||
            (strcmp(a->file, b->file) == 0 && strcmp(a->procedure, b->procedure) == 0));
}

/* Add up what belongs together at this level; most first. */
void qp_list_break_down(qp_list_rows *r, unsigned by)
{
    size_t n = 0;
    qsort(r->items, r->n, sizeof(qp_list_row), compare_places);
    for (size_t i = 0; i < r->n; i++) {
        qp_list_row *to = n ? &r->items[n - 1] : NULL, *from = &r->items[i];
        if (!to || by == QP_LIST_BY_STATEMENT || !is_one(to, from, by)) {
            r->items[n++] = *from;
            continue;
        }
        to->calls += from->calls;
        to->procedures += from->procedures;
        to->procedures_called += from->procedures_called;
        to->statements += from->statements;
        to->executed += from->executed;
        to->executions += from->executions;
    }
    r->n = n;
    qsort(r->items, r->n, sizeof(qp_list_row), compare_counts);
}
