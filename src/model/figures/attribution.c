/* attribution.c: matches a call pattern against all call paths, and sums up their PC samples.
 * Start reading at match_all() and enter_step_by_step().
 *
 * The pattern is expanded into threads, each a row of steps: names and stars. For each path and
 * step we know whether the step may end at the path's end, and which path the thread charges
 * then. Both follow from the same for the caller's path, so the cost of a path is the length of
 * the pattern, not the depth of the path. Where several bindings have one end, the one that the
 * nearest-activation rule prefers is kept: a star that may begin here begins here, a module's
 * run continues as long as it can.
 *
 * If the threads are too many to be expanded, each path is matched on its own. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "code/pattern.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

bool qp_attribution_is_command(const char *text, qp_error *error)
{
    qp_pc_command command;
    return qp_pc_parse(text, &command, error) == QP_PARSE_OK;
}

char *qp_attribution_command(char *to, const qp_run_info *run)
{
    *to = '\0';
    if (run->pc_period_ns)
        qp_text_format(to, QP_ATTRIBUTION_COMMAND_BYTES, "%s %llu",
                       run->is_pc_real ? "REAL" : "VIRTUAL",
                       (unsigned long long)run->pc_period_ns / 1000);
    return to;
}

bool qp_attribution_is_procedure(const qp_model *m, uint32_t node)
{
    uint32_t method = m->nodes[node].method;
    return method != QP_ROOT_METHOD && !(m->methods[method].flags & QP_METHOD_PSEUDO);
}

enum {
    STEPS_MAX = 1024,
    NOT_HERE = UINT32_MAX,      /* the step cannot end here */
    UNDECIDED = UINT32_MAX - 1, /* no colon so far: the path itself is charged */
};

typedef enum { CHARGES_NOTHING, CHARGES_CALLER, CHARGES_ITSELF } colon;

typedef struct {
    uint16_t item;
    bool is_first, is_last; /* of its thread */
    colon colon;            /* of the first colon of the thread only: later ones mean nothing */
} step;

typedef struct {
    qp_attributions *c;
    const qp_pattern *p;
    step steps[STEPS_MAX];
    uint32_t n_steps;
    uint16_t written[STEPS_MAX]; /* items of the thread that is being written out */
    uint32_t n_written;
    bool is_too_long, has_failed, only_hit;
    uint32_t *levels; /* [deepest + 1][n_steps] what a step charges, along the current path */
    uint32_t *path;   /* [deepest + 1] its nodes */
    void *scratch;    /* [n_scratch] */
    size_t n_scratch;
} matcher;

/* ---- writing out ------------------------------------------------------------------------- */

/* The rest of a thread to write: an item and, inside a thread, its siblings after it. */
typedef struct todo {
    uint16_t item;
    bool has_siblings;
    const struct todo *rest;
} todo;

static void add_thread(matcher *x)
{
    bool has_colon = false;
    if (x->n_steps + x->n_written > STEPS_MAX) {
        x->is_too_long = true;
        return;
    }
    for (uint32_t i = 0; i < x->n_written; i++) {
        const qp_item *item = &x->p->items[x->written[i]];
        step *s = &x->steps[x->n_steps++];
        *s = (step){x->written[i], i == 0, i + 1 == x->n_written, CHARGES_NOTHING};
        if (!has_colon && item->is_caller_charged)
            s->colon = CHARGES_CALLER;
        else if (!has_colon && item->is_charged)
            s->colon = CHARGES_ITSELF;
        has_colon |= s->colon != CHARGES_NOTHING;
    }
}

static void write_out(matcher *x, const todo *t)
{
    if (x->is_too_long)
        return;
    if (!t) {
        add_thread(x);
        return;
    }
    const qp_item *item = &x->p->items[t->item];
    const todo siblings = {item->next, true, t->rest};
    const todo *rest = t->has_siblings && item->next ? &siblings : t->rest;
    if (item->kind == QP_ITEM_THREAD) {
        write_out(x, &(todo){item->first, true, rest});
    } else if (item->kind == QP_ITEM_ANY) {
        for (uint16_t c = item->first; c; c = x->p->items[c].next)
            write_out(x, &(todo){c, false, rest});
    } else if (x->n_written == STEPS_MAX) {
        x->is_too_long = true;
    } else {
        x->written[x->n_written++] = t->item;
        write_out(x, rest);
        x->n_written--;
    }
}

/* ---- step by step ------------------------------------------------------------------------ */

static bool fits(const matcher *x, uint16_t item, uint32_t node)
{
    const qp_model *m = x->c->m;
    uint32_t method = m->nodes[node].method;
    return qp_attribution_is_procedure(m, node) &&
           qp_pattern_name_fits(x->p, &x->p->items[item], x->c->modules[method],
                                m->methods[method].bare_name);
}

/* The path that the thread charges if this step, a name, ends at `node`; NOT_HERE: it cannot.
 * @param previous  the same for the previous step at the caller @param same  for this step
 *                  there */
static uint32_t end_name(const matcher *x, const step *s, uint32_t previous, uint32_t same,
                         uint32_t node)
{
    bool is_run = x->p->items[s->item].kind == QP_ITEM_MODULE && same != NOT_HERE;
    if ((previous == NOT_HERE && !is_run) || !fits(x, s->item, node))
        return NOT_HERE;
    if (is_run) /* it began as early as it could */
        return s->colon == CHARGES_ITSELF ? node : same;
    return s->colon == CHARGES_CALLER   ? x->c->m->nodes[node].parent
           : s->colon == CHARGES_ITSELF ? node
                                        : previous;
}

/* @param before  NULL: the empty stack */
static void advance(const matcher *x, const uint32_t *before, uint32_t *after, uint32_t node)
{
    for (uint32_t i = 0; i < x->n_steps; i++) {
        const step *s = &x->steps[i];
        uint32_t here = s->is_first ? UNDECIDED : after[i - 1];
        uint32_t above = s->is_first ? UNDECIDED : before ? before[i - 1] : NOT_HERE;
        uint32_t same = before ? before[i] : NOT_HERE;
        if (x->p->items[s->item].kind == QP_ITEM_STAR)
            after[i] = here != NOT_HERE ? here : same;
        else
            after[i] = before ? end_name(x, s, above, same, node) : NOT_HERE;
    }
}

static void enter_step_by_step(matcher *x, uint32_t node)
{
    uint32_t depth = x->c->m->nodes[node].depth; /* a thread's root: 1 */
    uint32_t *after = x->levels + (size_t)depth * x->n_steps;
    advance(x, depth > 1 ? after - x->n_steps : NULL, after, node);
    uint32_t *charged = &x->c->nodes[node];
    *charged = QP_ATTRIBUTION_SKIPPED;
    for (uint32_t i = 0; i < x->n_steps && *charged == QP_ATTRIBUTION_SKIPPED; i++)
        if (x->steps[i].is_last && after[i] != NOT_HERE)
            *charged = after[i] == UNDECIDED ? node : after[i];
}

/* ---- path by path ------------------------------------------------------------------------ */

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const matcher *x = to;
    return fits(x, (uint16_t)(item - x->p->items), x->path[frame + 2]);
}

static void enter_path(matcher *x, uint32_t node)
{
    const qp_model_node *n = &x->c->m->nodes[node];
    uint32_t n_deep, n_frames = n->depth - 1, *charged = &x->c->nodes[node];
    bool is_foreign = n_frames && !qp_attribution_is_procedure(x->c->m, node);
    int64_t frame;
    x->path[n->depth] = node;
    *charged = QP_ATTRIBUTION_SKIPPED;
    if (x->only_hit && !n->f.pc_samples)
        return;
    const qp_pattern_stack stack = {n_frames, is_foreign, frame_fits, x};
    qp_pattern_answer match =
        qp_pattern_match(x->p, &stack, x->scratch, x->n_scratch, &frame, &n_deep);
    x->has_failed = match == QP_PATTERN_NO_MEMORY;
    if (match != QP_PATTERN_YES)
        return;
    bool is_itself = is_foreign && frame == QP_PATTERN_FOREIGN && n_deep + 1 == n_frames;
    *charged = is_itself ? node : x->path[n_deep + 1];
}

/* ---- all of it --------------------------------------------------------------------------- */

static uint32_t deepest(const qp_model *m)
{
    uint32_t most = 1;
    for (uint32_t i = 1; i < m->n_nodes; i++)
        most = m->nodes[i].depth > most ? m->nodes[i].depth : most;
    return most;
}

static bool walk(matcher *x)
{
    size_t n_levels = (size_t)deepest(x->c->m) + 1;
    write_out(x, &(todo){x->p->root, false, NULL});
    if (!x->is_too_long) {
        x->levels = qp_alloc(n_levels, x->n_steps * sizeof *x->levels);
        x->has_failed = !x->levels;
    } else {
        x->n_scratch = qp_pattern_scratch(x->p, (uint32_t)n_levels);
        x->scratch = qp_alloc(x->n_scratch, 1);
        x->path = qp_alloc(n_levels, sizeof *x->path);
        x->has_failed = !x->scratch || !x->path;
    }
    for (qp_walk w = {.m = x->c->m}; !x->has_failed && qp_walk_next(&w);)
        if (w.is_entry)
            (x->is_too_long ? enter_path : enter_step_by_step)(x, w.node);
    return !x->has_failed;
}

static bool match_all(qp_attributions *c, const qp_pattern *p, bool only_hit)
{
    matcher *x = qp_alloc_zeroed(1, sizeof *x);
    if (!x)
        return false;
    x->c = c;
    x->p = p;
    x->only_hit = only_hit;
    bool is_done = walk(x);
    qp_free(x->levels);
    qp_free(x->path);
    qp_free(x->scratch);
    qp_free(x);
    return is_done;
}

/* ---- modules ----------------------------------------------------------------------------- */

const char *qp_attribution_module(const char *class_name, const char *file, size_t *n_bytes)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    const char *name = *class_name ? class_name : base, *dot = strrchr(name, '.');
    bool has_suffix = !*class_name && dot && dot != base;
    *n_bytes = has_suffix ? (size_t)(dot - base) : strlen(name);
    return name;
}

const char *qp_attribution_module_text(qp_arena *arena, const char *class_name,
                                       const char *file)
{
    size_t n;
    const char *name = qp_attribution_module(class_name, file, &n);
    return name[n] ? qp_arena_format(arena, "%.*s", (int)n, name) : name;
}

/* Methods of a file come one after the other mostly. */
static bool name_modules(qp_attributions *c)
{
    const qp_model *m = c->m;
    for (uint32_t i = 0; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i], *before = i ? k - 1 : NULL;
        bool is_same = before && before->file == k->file && !*before->class_name;
        c->modules[i] = is_same && !*k->class_name
                            ? c->modules[i - 1]
                            : qp_attribution_module_text(&c->texts, k->class_name, k->file);
        if (!c->modules[i])
            return false;
    }
    return true;
}

static bool is_known(const qp_attributions *c, const qp_pattern *p, const qp_item *item)
{
    for (uint32_t i = 1; i < c->m->n_methods; i++)
        if (!(c->m->methods[i].flags & QP_METHOD_PSEUDO) &&
            qp_pattern_name_fits(p, item, c->modules[i], c->m->methods[i].bare_name))
            return true;
    return false;
}

/* Find the first name in the pattern that fits nothing: probably misspelt. */
static void find_unknown(qp_attributions *c, const qp_pattern *p)
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

static bool begin(qp_attributions *c)
{
    c->nodes = qp_alloc(c->m->n_nodes, sizeof *c->nodes);
    c->modules = qp_alloc(c->m->n_methods, sizeof *c->modules);
    return c->nodes && c->modules && name_modules(c);
}

qp_attribution_status qp_attributions_init(qp_attributions *c, const qp_model *m,
                                           const char *pattern, bool only_hit, qp_error *error)
{
    qp_attribution_status status = QP_ATTRIBUTION_OK;
    *c = (qp_attributions){.m = m};
    qp_pattern *p = *pattern ? qp_alloc(1, sizeof *p) : NULL;
    if (p && qp_pattern_parse(p, pattern, error) != QP_PARSE_OK)
        status = QP_ATTRIBUTION_SYNTAX;
    else if ((*pattern && !p) || !begin(c) || (p && !match_all(c, p, only_hit)))
        status = QP_ATTRIBUTION_NO_MEMORY;
    if (p && status == QP_ATTRIBUTION_OK)
        find_unknown(c, p);
    for (uint32_t i = 0; status == QP_ATTRIBUTION_OK && !p && i < m->n_nodes; i++)
        c->nodes[i] = i;
    qp_free(p);
    return status;
}

void qp_attributions_fini(qp_attributions *c)
{
    qp_free(c->nodes);
    qp_free(c->modules);
    qp_arena_fini(&c->texts);
    *c = (qp_attributions){0};
}

/* ---- rows -------------------------------------------------------------------------------- */

typedef struct {
    const qp_attributions *c;
    uint32_t thread;
    bool by_module;
    uint32_t *methods;        /* [n_methods - 1] in the order of their rows */
    uint32_t *row_of;         /* [n_methods] */
    uint32_t *n_open;         /* [rows] frames of it above us */
    uint64_t *below;          /* [n_nodes] PC samples while the node was active */
    qp_attribution_row *rows; /* [n_rows]; one more, the last, of all that is not listed */
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
    l->rows[unlisted] = (qp_attribution_row){0};
    for (uint32_t i = 1; i < m->n_methods; i++) {
        l->row_of[i] = unlisted;
        if (!l->c->is_listed || l->c->is_listed[i])
            l->methods[n++] = i;
    }
    qsort_r(l->methods, n, sizeof *l->methods, compare_methods, l);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t method = l->methods[i];
        if (!i || compare_methods(&l->methods[i - 1], &method, l) != 0)
            l->rows[l->n_rows++] = (qp_attribution_row){
                l->c->modules[method], l->by_module ? "" : procedure_of(&m->methods[method]), 0,
                0};
        l->row_of[method] = (uint32_t)l->n_rows - 1;
    }
}

static void add_path(listing *l, uint32_t i, qp_attribution_totals *t)
{
    const qp_model *m = l->c->m;
    uint64_t n = m->nodes[i].f.pc_samples;
    uint32_t charged = l->c->nodes[i];
    if (!n || (l->thread != QP_ALL_THREADS && m->nodes[i].thread != l->thread))
        return;
    t->occurred = qp_sum(t->occurred, n);
    if (charged == QP_ATTRIBUTION_SKIPPED) {
        t->skipped = qp_sum(t->skipped, n);
        return;
    }
    t->counted = qp_sum(t->counted, n);
    l->below[charged] = qp_sum(l->below[charged], n);
    if (qp_attribution_is_procedure(m, charged)) {
        uint64_t *shallow = &l->rows[l->row_of[m->nodes[charged].method]].shallow;
        *shallow = qp_sum(*shallow, n);
    } else {
        t->foreign = qp_sum(t->foreign, n);
    }
}

static void add_up(listing *l, qp_attribution_totals *t)
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
    /* a path is deep in each row that it has a frame of: once, at the outermost one */
    for (qp_walk w = {.m = m}; qp_walk_next(&w);) {
        uint32_t row = l->row_of[m->nodes[w.node].method];
        if (!qp_attribution_is_procedure(m, w.node))
            continue;
        if (w.is_entry && l->n_open[row] == 0)
            l->rows[row].deep = qp_sum(l->rows[row].deep, l->below[w.node]);
        l->n_open[row] += w.is_entry ? 1 : -1;
    }
    for (size_t i = 0; i < l->n_rows; i++)
        if (l->rows[i].deep)
            l->rows[n++] = l->rows[i];
    l->n_rows = n;
}

bool qp_attributions_list(const qp_attributions *c, uint32_t thread, bool by_module,
                          qp_attribution_row **rows, size_t *n, qp_attribution_totals *totals)
{
    uint32_t n_methods = c->m->n_methods;
    qp_arena tables = {0};
    listing l = {.c = c,
                 .thread = thread,
                 .by_module = by_module,
                 .methods = qp_arena_take(&tables, n_methods, sizeof *l.methods),
                 .row_of = qp_arena_take(&tables, n_methods, sizeof *l.row_of),
                 .n_open = qp_arena_take(&tables, n_methods, sizeof *l.n_open),
                 .below = qp_arena_take(&tables, c->m->n_nodes, sizeof *l.below),
                 .rows = qp_alloc(n_methods, sizeof *l.rows)};
    bool is_good = l.methods && l.row_of && l.n_open && l.below && l.rows;
    if (is_good) {
        make_rows(&l);
        add_up(&l, totals);
    } else {
        qp_free(l.rows);
        l.rows = NULL;
    }
    qp_arena_fini(&tables);
    *rows = l.rows;
    *n = l.n_rows;
    return is_good;
}
