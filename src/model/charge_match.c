/* charge_match.c: a pattern goes down the tree with the paths. Read qp_charge_match and step first.
 *
 * The pattern is written out into its threads, each a row of steps: names and stars. For each path
 * and step we know whether the step may end where the path ends, and whom the thread charges then.
 * Both follow from the same of the caller's path, so that a path costs what the pattern is long and
 * not what the path is deep. Where several bindings lead to one end, the one that the nearest
 * activation rule prefers is kept: a star that may begin here begins here, a module's run goes on
 * as long as it can.
 *
 * A pattern whose threads are too many to be written out is matched path by path. */
#include "model/charge_match.h"

#include "base/alloc.h"
#include "model/private.h"

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
    qp_charges *c;
    const qp_pattern *p;
    step steps[STEPS_MAX];
    uint32_t n_steps;
    uint16_t written[STEPS_MAX]; /* items of the thread that is being written out */
    uint32_t n_written;
    bool is_too_long, has_failed, only_hit;
    uint32_t *levels; /* [deepest + 1][n_steps] whom a step charges, of the path being walked */
    uint32_t *path;   /* [deepest + 1] its nodes */
    void *scratch;    /* [n_scratch] */
    size_t n_scratch;
} matcher;

/* ---- writing out ----------------------------------------------------------------------------- */

/* What of a thread still has to be written: an item, inside a thread with those behind it. */
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

/* ---- step by step ---------------------------------------------------------------------------- */

static bool fits(const matcher *x, uint16_t item, uint32_t node)
{
    const qp_model *m = x->c->m;
    uint32_t method = m->nodes[node].method;
    return qp_charge_is_procedure(m, node) &&
           qp_pattern_name_fits(x->p, &x->p->items[item], x->c->modules[method],
                                m->methods[method].bare_name);
}

static uint32_t decide(const step *s, uint32_t so_far, uint32_t caller, uint32_t node)
{
    return s->colon == CHARGES_CALLER ? caller : s->colon == CHARGES_ITSELF ? node : so_far;
}

/* Whom the thread charges if this step, a name, ends with `node`.
 * @param previous  the same of the step before it, at the caller. @param same  of this step there */
static uint32_t end_name(const matcher *x, const step *s, uint32_t previous, uint32_t same,
                         uint32_t node)
{
    bool is_run = x->p->items[s->item].kind == QP_ITEM_MODULE && same != NOT_HERE;
    if ((previous == NOT_HERE && !is_run) || !fits(x, s->item, node))
        return NOT_HERE;
    if (is_run) /* it began as early as it could */
        return s->colon == CHARGES_ITSELF ? node : same;
    return decide(s, previous, x->c->m->nodes[node].parent, node);
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

static void enter_step_by_step(void *context, uint32_t node)
{
    matcher *x = context;
    uint32_t depth = x->c->m->nodes[node].depth; /* a thread's root: 1 */
    uint32_t *after = x->levels + (size_t)depth * x->n_steps;
    advance(x, depth > 1 ? after - x->n_steps : NULL, after, node);
    uint32_t *charged = &x->c->nodes[node];
    *charged = QP_CHARGE_SKIPPED;
    for (uint32_t i = 0; i < x->n_steps && *charged == QP_CHARGE_SKIPPED; i++)
        if (x->steps[i].is_last && after[i] != NOT_HERE)
            *charged = after[i] == UNDECIDED ? node : after[i];
}

/* ---- path by path ---------------------------------------------------------------------------- */

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const matcher *x = to;
    return fits(x, (uint16_t)(item - x->p->items), x->path[frame + 2]);
}

static void enter_path(void *context, uint32_t node)
{
    matcher *x = context;
    const qp_model_node *n = &x->c->m->nodes[node];
    uint32_t n_deep, n_frames = n->depth - 1, *charged = &x->c->nodes[node];
    bool is_foreign = n_frames && !qp_charge_is_procedure(x->c->m, node);
    int64_t frame;
    x->path[n->depth] = node;
    *charged = QP_CHARGE_SKIPPED;
    if (x->has_failed || (x->only_hit && !n->f.interrupts))
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

/* ---- all of it ------------------------------------------------------------------------------- */

static uint32_t deepest(const qp_model *m)
{
    uint32_t most = 1;
    for (uint32_t i = 1; i < m->n_nodes; i++)
        most = m->nodes[i].depth > most ? m->nodes[i].depth : most;
    return most;
}

static void leave_nothing(void *context, uint32_t node)
{
    (void)context;
    (void)node;
}

static bool walk(matcher *x)
{
    const qp_model *m = x->c->m;
    size_t n_levels = (size_t)deepest(m) + 1;
    write_out(x, &(todo){x->p->root, false, NULL});
    if (!x->is_too_long) {
        x->levels = qp_alloc(n_levels, x->n_steps * sizeof *x->levels);
        if (x->levels)
            qp_walk(m, enter_step_by_step, leave_nothing, x);
        return x->levels != NULL;
    }
    x->n_scratch = qp_pattern_scratch(x->p, (uint32_t)n_levels);
    x->scratch = qp_alloc(x->n_scratch, 1);
    x->path = qp_alloc(n_levels, sizeof *x->path);
    if (x->scratch && x->path)
        qp_walk(m, enter_path, leave_nothing, x);
    return x->scratch && x->path && !x->has_failed;
}

bool qp_charge_match(qp_charges *c, const qp_pattern *p, bool only_hit)
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
