/* charge.c: modules as patterns name them, and the sums of the PC report. Matching:
 * charge_match.c. */
#include "model/charge.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "code/pc_command.h"
#include "model/charge_match.h"
#include "model/private.h"

bool qp_charge_is_command(const char *text, qp_parse_error *error)
{
    qp_pc_command command;
    return qp_pc_parse(text, &command, error) == QP_PARSE_OK;
}

char *qp_charge_command(char *to, const qp_run *run)
{
    *to = '\0';
    if (run->pc_period_ns)
        qp_text_format(to, QP_CHARGE_COMMAND_BYTES, "%s %llu",
                       run->is_pc_real ? "REAL" : "VIRTUAL",
                       (unsigned long long)run->pc_period_ns / 1000);
    return to;
}

bool qp_charge_is_procedure(const qp_model *m, uint32_t node)
{
    uint32_t method = m->nodes[node].method;
    return method != QP_ROOT_METHOD && !(m->methods[method].flags & QP_METHOD_PSEUDO);
}

/* ---- modules --------------------------------------------------------------------------------- */

struct qp_charge_texts {
    qp_arena arena;
};

const char *qp_charge_module(const char *class_name, const char *file, size_t *n_bytes)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    const char *name = *class_name ? class_name : base, *dot = strrchr(name, '.');
    bool has_suffix = !*class_name && dot && dot != base;
    *n_bytes = has_suffix ? (size_t)(dot - base) : strlen(name);
    return name;
}

const char *qp_charge_module_text(qp_arena *arena, const char *class_name, const char *file)
{
    size_t n;
    const char *name = qp_charge_module(class_name, file, &n);
    return name[n] ? qp_arena_format(arena, "%.*s", (int)n, name) : name;
}

/* Methods of a file come one after the other mostly. */
static bool name_modules(qp_charges *c)
{
    const qp_model *m = c->m;
    for (uint32_t i = 0; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i], *before = i ? k - 1 : NULL;
        bool is_same = before && before->file == k->file && !*before->class_name;
        c->modules[i] = is_same && !*k->class_name
                            ? c->modules[i - 1]
                            : qp_charge_module_text(&c->texts->arena, k->class_name, k->file);
        if (!c->modules[i])
            return false;
    }
    return true;
}

static bool is_known(const qp_charges *c, const qp_pattern *p, const qp_item *item)
{
    for (uint32_t i = 1; i < c->m->n_methods; i++)
        if (!(c->m->methods[i].flags & QP_METHOD_PSEUDO) &&
            qp_pattern_name_fits(p, item, c->modules[i], c->m->methods[i].bare_name))
            return true;
    return false;
}

/* The first name that fits nothing: a slip, mostly. */
static void find_unknown(qp_charges *c, const qp_pattern *p)
{
    enum { NAMES_LOOKED_AT = 32 };
    for (uint16_t i = 1; i < p->n_items && i <= NAMES_LOOKED_AT && !*c->unknown; i++) {
        const qp_item *item = &p->items[i];
        bool is_name = item->kind == QP_ITEM_MODULE || item->kind == QP_ITEM_PROCEDURE;
        if (is_name && !is_known(c, p, item))
            qp_text_format(c->unknown, sizeof c->unknown, "%.90s%s%.90s",
                           p->names + item->module, item->kind == QP_ITEM_MODULE ? "" : ".",
                           item->kind == QP_ITEM_MODULE ? "" : p->names + item->procedure);
    }
}

static bool begin(qp_charges *c)
{
    c->nodes = qp_alloc(c->m->n_nodes, sizeof *c->nodes);
    c->modules = qp_alloc(c->m->n_methods, sizeof *c->modules);
    c->texts = qp_alloc(1, sizeof *c->texts);
    if (c->texts)
        qp_arena_init(&c->texts->arena);
    return c->nodes && c->modules && c->texts && name_modules(c);
}

qp_charge_status qp_charges_init(qp_charges *c, const qp_model *m, const char *pattern,
                                 bool only_hit, qp_parse_error *error)
{
    qp_charge_status status = QP_CHARGE_OK;
    *c = (qp_charges){.m = m};
    qp_pattern *p = *pattern ? qp_alloc(1, sizeof *p) : NULL;
    if (p && qp_pattern_parse(p, pattern, error) != QP_PARSE_OK)
        status = QP_CHARGE_SYNTAX;
    else if ((*pattern && !p) || !begin(c) || (p && !qp_charge_match(c, p, only_hit)))
        status = QP_CHARGE_NO_MEMORY;
    if (p && status == QP_CHARGE_OK)
        find_unknown(c, p);
    for (uint32_t i = 0; status == QP_CHARGE_OK && !p && i < m->n_nodes; i++)
        c->nodes[i] = i;
    qp_free(p);
    return status;
}

void qp_charges_fini(qp_charges *c)
{
    qp_free(c->nodes);
    qp_free(c->modules);
    if (c->texts)
        qp_arena_fini(&c->texts->arena);
    qp_free(c->texts);
    *c = (qp_charges){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    const qp_charges *c;
    uint32_t thread;
    bool by_module;
    uint32_t *methods;   /* [n_methods - 1] in the order of their rows */
    uint32_t *row_of;    /* [n_methods] */
    uint32_t *n_open;    /* [rows] frames of it above us */
    uint64_t *below;     /* [n_nodes] interrupts while the node was active */
    qp_charge_row *rows; /* [n_rows]; one more, the last, of all that is not listed */
    size_t n_rows;
} listing;

static const char *procedure_of(const qp_model_method *k)
{
    return *k->bare_name ? k->bare_name : k->name; /* a placeholder has an id only */
}

static int compare_methods(const void *a, const void *b, void *data)
{
    const listing *l = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = strcmp(l->c->modules[x], l->c->modules[y]);
    if (!c && !l->by_module)
        c = strcmp(procedure_of(&l->c->m->methods[x]), procedure_of(&l->c->m->methods[y]));
    return c;
}

static void make_rows(listing *l)
{
    const qp_model *m = l->c->m;
    const uint32_t unlisted = m->n_methods - 1;
    uint32_t n = 0;
    l->rows[unlisted] = (qp_charge_row){0};
    for (uint32_t i = 1; i < m->n_methods; i++) {
        l->row_of[i] = unlisted;
        if (!l->c->is_listed || l->c->is_listed[i])
            l->methods[n++] = i;
    }
    qsort_r(l->methods, n, sizeof *l->methods, compare_methods, l);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t method = l->methods[i];
        if (!i || compare_methods(&l->methods[i - 1], &method, l) != 0)
            l->rows[l->n_rows++] =
                (qp_charge_row){l->c->modules[method],
                                l->by_module ? "" : procedure_of(&m->methods[method]), 0, 0};
        l->row_of[method] = (uint32_t)l->n_rows - 1;
    }
}

static void add_path(listing *l, uint32_t i, qp_charge_totals *t)
{
    const qp_model *m = l->c->m;
    uint64_t n = m->nodes[i].f.interrupts;
    uint32_t charged = l->c->nodes[i];
    if (!n || (l->thread != QP_ALL_THREADS && m->nodes[i].thread != l->thread))
        return;
    t->occurred = qp_sum(t->occurred, n);
    if (charged == QP_CHARGE_SKIPPED) {
        t->skipped = qp_sum(t->skipped, n);
        return;
    }
    t->counted = qp_sum(t->counted, n);
    l->below[charged] = qp_sum(l->below[charged], n);
    if (qp_charge_is_procedure(m, charged)) {
        uint64_t *shallow = &l->rows[l->row_of[m->nodes[charged].method]].shallow;
        *shallow = qp_sum(*shallow, n);
    } else {
        t->foreign = qp_sum(t->foreign, n);
    }
}

/* A path is deep in each row that it has a frame of: once, at the outermost one. */
static void enter_deep(void *context, uint32_t i)
{
    listing *l = context;
    if (!qp_charge_is_procedure(l->c->m, i))
        return;
    uint32_t row = l->row_of[l->c->m->nodes[i].method];
    if (l->n_open[row]++ == 0)
        l->rows[row].deep = qp_sum(l->rows[row].deep, l->below[i]);
}

static void leave_deep(void *context, uint32_t i)
{
    listing *l = context;
    if (qp_charge_is_procedure(l->c->m, i))
        l->n_open[l->row_of[l->c->m->nodes[i].method]]--;
}

static void add_up(listing *l, qp_charge_totals *t)
{
    const qp_model *m = l->c->m;
    size_t n = 0;
    if (l->thread == QP_ALL_THREADS) {
        t->critical = qp_sum(t->critical, m->run.n_critical);
        t->counted = qp_sum(t->counted, m->run.n_critical);
        t->occurred = qp_sum(t->occurred, m->run.n_critical);
    }
    for (uint32_t i = 1; i < m->n_nodes; i++)
        add_path(l, i, t);
    for (uint32_t i = m->n_nodes; i-- > 1;) /* callers have smaller indices */
        l->below[m->nodes[i].parent] = qp_sum(l->below[m->nodes[i].parent], l->below[i]);
    qp_walk(m, enter_deep, leave_deep, l);
    for (size_t i = 0; i < l->n_rows; i++)
        if (l->rows[i].deep)
            l->rows[n++] = l->rows[i];
    l->n_rows = n;
}

bool qp_charges_list(const qp_charges *c, uint32_t thread, bool by_module, qp_charge_row **rows,
                     size_t *n, qp_charge_totals *totals)
{
    uint32_t n_methods = c->m->n_methods;
    listing l = {.c = c,
                 .thread = thread,
                 .by_module = by_module,
                 .methods = qp_alloc(n_methods, sizeof *l.methods),
                 .row_of = qp_alloc_zeroed(n_methods, sizeof *l.row_of),
                 .n_open = qp_alloc_zeroed(n_methods, sizeof *l.n_open),
                 .below = qp_alloc_zeroed(c->m->n_nodes, sizeof *l.below),
                 .rows = qp_alloc(n_methods, sizeof *l.rows)};
    bool is_good = l.methods && l.row_of && l.n_open && l.below && l.rows;
    if (is_good) {
        make_rows(&l);
        add_up(&l, totals);
    } else {
        qp_free(l.rows);
        l.rows = NULL;
    }
    qp_free(l.methods);
    qp_free(l.row_of);
    qp_free(l.n_open);
    qp_free(l.below);
    *rows = l.rows;
    *n = l.n_rows;
    return is_good;
}
