/* pattern_match.c: whether a stack fits a pattern, and which frame is charged. Read
 * qp_pattern_match first.
 *
 * A position is a gap between frames: 0 is before the outermost, n after the innermost. An item
 * takes a set of positions where it may begin to the set where it may end, or back. Of the threads
 * that the pattern expands to, in their order, the first that fits is found by choosing, from left
 * to right, the first alternative from which the end can be reached. Its names are then bound from
 * the innermost frame outwards. */
#include <string.h>

#include "code/pattern.h"

typedef uint64_t word;

typedef struct {
    const qp_pattern *p;
    const qp_pattern_stack *stack;
    char *at;         /* the free part of the scratch */
    size_t n_words;   /* of a set */
    uint16_t *chosen; /* [n_chosen] names and stars of the thread that fits */
    uint32_t n_chosen;
} matcher;

/* ---- sets of positions ----------------------------------------------------------------------- */

static void *take(matcher *x, size_t n_bytes)
{
    char *taken = x->at;
    x->at += (n_bytes + 7) & ~(size_t)7;
    return taken;
}

static word *take_set(matcher *x)
{
    word *set = take(x, x->n_words * sizeof(word));
    memset(set, 0, x->n_words * sizeof(word));
    return set;
}

static bool has(const word *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}

static void put(word *set, uint32_t i)
{
    set[i / 64] |= (word)1 << i % 64;
}

static bool is_empty(const matcher *x, const word *set)
{
    for (size_t i = 0; i < x->n_words; i++)
        if (set[i])
            return false;
    return true;
}

static bool meet(const matcher *x, const word *a, const word *b)
{
    for (size_t i = 0; i < x->n_words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

/* ---- one name or star ------------------------------------------------------------------------ */

static bool fits(const matcher *x, const qp_item *item, uint32_t frame)
{
    const qp_pattern_stack *s = x->stack;
    bool is_foreign = s->is_foreign && frame + 1 == s->n_frames;
    return !is_foreign && s->fits(s->to, item, frame);
}

/* Where the item may end that begins somewhere in `from`; added to `to`. */
static void step_ahead(const matcher *x, const qp_item *item, const word *from, word *to)
{
    bool is_inside = false; /* of a run of the module, or after the beginning of a star */
    for (uint32_t i = 0; i < x->stack->n_frames; i++) {
        if (item->kind == QP_ITEM_STAR) {
            is_inside |= has(from, i);
            if (is_inside)
                put(to, i);
            continue;
        }
        bool may_begin = has(from, i) || (is_inside && item->kind == QP_ITEM_MODULE);
        is_inside = may_begin && fits(x, item, i);
        if (is_inside)
            put(to, i + 1);
    }
    uint32_t n = x->stack->n_frames;
    if (item->kind == QP_ITEM_STAR && (is_inside || has(from, n)))
        put(to, n);
}

/* Where the item may begin that ends somewhere in `from`; added to `to`. */
static void step_back(const matcher *x, const qp_item *item, const word *from, word *to)
{
    uint32_t n = x->stack->n_frames;
    bool is_inside = item->kind == QP_ITEM_STAR && has(from, n);
    if (is_inside)
        put(to, n);
    for (uint32_t i = n; i-- > 0;) {
        if (item->kind == QP_ITEM_STAR) {
            is_inside |= has(from, i);
        } else {
            bool may_end = has(from, i + 1) || (is_inside && item->kind == QP_ITEM_MODULE);
            is_inside = may_end && fits(x, item, i);
        }
        if (is_inside)
            put(to, i);
    }
}

/* ---- items of items -------------------------------------------------------------------------- */

static const qp_item *item_at(const matcher *x, uint16_t index)
{
    return &x->p->items[index];
}

/* @return how many children; [n] in *children */
static uint32_t children_of(matcher *x, const qp_item *item, uint16_t **children)
{
    uint32_t n = 0;
    for (uint16_t c = item->first; c; c = item_at(x, c)->next)
        n++;
    *children = take(x, n * sizeof **children);
    n = 0;
    for (uint16_t c = item->first; c; c = item_at(x, c)->next)
        (*children)[n++] = c;
    return n;
}

typedef void stepper(const matcher *x, const qp_item *item, const word *from, word *to);

/* The same for any item: ahead or back. */
static void walk(matcher *x, uint16_t index, bool is_ahead, const word *from, word *to)
{
    const qp_item *item = item_at(x, index);
    char *mark = x->at;
    if (item->kind < QP_ITEM_THREAD) {
        stepper *step = is_ahead ? step_ahead : step_back;
        step(x, item, from, to);
    } else if (item->kind == QP_ITEM_ANY) {
        for (uint16_t c = item->first; c; c = item_at(x, c)->next)
            walk(x, c, is_ahead, from, to);
    } else {
        uint16_t *children;
        uint32_t n = children_of(x, item, &children);
        word *sets[2] = {take_set(x), take_set(x)};
        for (uint32_t i = 0; i < n; i++) {
            uint16_t c = children[is_ahead ? i : n - 1 - i];
            word *next = i + 1 == n ? to : sets[i % 2];
            if (next != to)
                memset(next, 0, x->n_words * sizeof(word));
            walk(x, c, is_ahead, i ? sets[(i + 1) % 2] : from, next);
        }
    }
    x->at = mark;
}

/* ---- the first thread that fits -------------------------------------------------------------- */

static void choose(matcher *x, uint16_t index, word *from, const word *goal);

static void choose_in_turn(matcher *x, const qp_item *thread, word *from, const word *goal)
{
    uint16_t *children;
    uint32_t n = children_of(x, thread, &children);
    const word **goals = take(x, n * sizeof *goals); /* of each child */
    goals[n - 1] = goal;
    for (uint32_t i = n - 1; i > 0; i--) {
        word *before = take_set(x);
        walk(x, children[i], false, goals[i], before);
        goals[i - 1] = before;
    }
    for (uint32_t i = 0; i < n; i++)
        choose(x, children[i], from, goals[i]);
}

static void choose_one(matcher *x, const qp_item *any, word *from, const word *goal)
{
    word *reached = take_set(x);
    for (uint16_t c = any->first; c; c = item_at(x, c)->next) {
        memset(reached, 0, x->n_words * sizeof(word));
        walk(x, c, true, from, reached);
        if (meet(x, reached, goal)) {
            choose(x, c, from, goal);
            return;
        }
    }
}

/* Add the names and stars of the first thread of an item that leads from `from` into `goal`, which
 * can be reached; `from` becomes where they end. */
static void choose(matcher *x, uint16_t index, word *from, const word *goal)
{
    const qp_item *item = item_at(x, index);
    char *mark = x->at;
    if (item->kind == QP_ITEM_THREAD) {
        choose_in_turn(x, item, from, goal);
    } else if (item->kind == QP_ITEM_ANY) {
        choose_one(x, item, from, goal);
    } else {
        word *to = take_set(x);
        step_ahead(x, item, from, to);
        memcpy(from, to, x->n_words * sizeof(word));
        x->chosen[x->n_chosen++] = index;
    }
    x->at = mark;
}

/* ---- binding --------------------------------------------------------------------------------- */

/* How many frames before `end` the item takes so that it begins in `starts`, which is possible: a
 * star as few, a module as many. */
static uint32_t frames_taken(const matcher *x, const qp_item *item, const word *starts,
                             uint32_t end)
{
    uint32_t n = 0, most = 0;
    if (item->kind == QP_ITEM_PROCEDURE)
        return 1;
    if (item->kind == QP_ITEM_STAR) {
        while (!has(starts, end - n))
            n++;
        return n;
    }
    while (n < end && fits(x, item, end - 1 - n)) {
        n++;
        most = has(starts, end - n) ? n : most;
    }
    return most;
}

typedef struct {
    uint32_t begin, end; /* positions */
} span;

static void bind(matcher *x, span *spans)
{
    const word **starts = take(x, x->n_chosen * sizeof *starts);
    word *set = take_set(x);
    for (uint32_t i = 0; i <= x->stack->n_frames; i++)
        put(set, i); /* callers of the first name are free */
    for (uint32_t i = 0; i < x->n_chosen; i++) {
        starts[i] = set;
        set = take_set(x);
        step_ahead(x, item_at(x, x->chosen[i]), starts[i], set);
    }
    uint32_t end = x->stack->n_frames;
    for (uint32_t i = x->n_chosen; i-- > 0;) {
        spans[i].end = end;
        end -= frames_taken(x, item_at(x, x->chosen[i]), starts[i], end);
        spans[i].begin = end;
    }
}

/* The first colon decides; without one the innermost frame is charged. */
static void charge(const matcher *x, const span *spans, int64_t *charged, uint32_t *n_deep)
{
    uint32_t n = x->stack->n_frames;
    for (uint32_t i = 0; i < x->n_chosen; i++) {
        const qp_item *item = item_at(x, x->chosen[i]);
        if (!item->is_caller_charged && !item->is_charged)
            continue;
        *n_deep = item->is_caller_charged ? spans[i].begin : spans[i].end;
        *charged = *n_deep ? (int64_t)*n_deep - 1 : QP_PATTERN_FOREIGN;
        return;
    }
    bool is_foreign = !n || x->stack->is_foreign;
    *charged = is_foreign ? QP_PATTERN_FOREIGN : (int64_t)n - 1;
    *n_deep = x->stack->is_foreign && n ? n - 1 : n;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static size_t set_words(uint32_t n_frames)
{
    return (size_t)n_frames / 64 + 1;
}

size_t qp_pattern_scratch(const qp_pattern *p, uint32_t n_frames)
{
    /* a set for each item while choosing, one while binding, and three for each group entered */
    size_t n_sets = 2 * (size_t)p->n_items + 6 * (size_t)QP_PATTERN_NESTING + 16;
    size_t lists = (size_t)p->n_items * (sizeof(span) + 8 * sizeof(void *));
    return n_sets * set_words(n_frames) * sizeof(word) + lists;
}

qp_pattern_answer qp_pattern_match(const qp_pattern *p, const qp_pattern_stack *stack,
                                   void *scratch, size_t n_bytes, int64_t *charged,
                                   uint32_t *n_deep)
{
    matcher x = {.p = p, .stack = stack, .at = scratch, .n_words = set_words(stack->n_frames)};
    if (n_bytes < qp_pattern_scratch(p, stack->n_frames))
        return QP_PATTERN_NO_MEMORY;
    word *goal = take_set(&x), *from = take_set(&x);
    put(goal, stack->n_frames);
    walk(&x, p->root, false, goal, from);
    if (is_empty(&x, from))
        return QP_PATTERN_NO;
    x.chosen = take(&x, p->n_items * sizeof *x.chosen);
    span *spans = take(&x, p->n_items * sizeof *spans);
    choose(&x, p->root, from, goal);
    bind(&x, spans);
    charge(&x, spans, charged, n_deep);
    return QP_PATTERN_YES;
}
