/* merge.c: the rows of earlier runs. Read qp_merge_counts first.
 *
 * `old` is the earlier profile, `now` the later one as it was before; what is added is appended
 * through the same calls that record. Of what was there only the head changes.
 *
 * Functions return false, or 0, where there is no room, unless they say why in an error. */
#include "cover/merge.h"

#include <string.h>

#include "base/text/text.h"
#include "code/code.h"
#include "cover/checked.h"

enum { ROWS_MAX = 64, FIRST_CELLS = 16, THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL };

/* The run of a row: one that has saved and continues, or {0, 0}: all that have ended. */
typedef struct {
    uint64_t nonce, clear_count;
} run_key;

/* What becomes of a method of the old profile. */
typedef struct {
    qp_cell to;             /* method of the later profile; 0: it is left out */
    qp_cell counters, node; /* of the row that is being made; 0: none yet */
} target;

typedef struct {
    uint64_t key;     /* context and method */
    qp_cell counters; /* 0: free */
} share_slot;

typedef struct {
    qp_checked old, now;
    qp_space *space;
    qp_texts texts;
    qp_scratch scratch;
    qp_slab methods, threads, sources, context_slab;
    target *targets;   /* [old.n_methods + 1] */
    qp_cell *contexts; /* [old.n_contexts + 1] of the later profile */
    uint32_t n_new_contexts;
    share_slot *slots; /* [slot_mask + 1] shares of the row */
    uint32_t slot_mask;
    qp_cell rest; /* context of what no context of the old profile has; 0: no contexts */
    qp_cell nodes, counter_blocks; /* newest extents of the row */
    qp_cell shares;                /* of all rows */
} merge;

/* ---- what is the same in both ---------------------------------------------------------------- */

typedef enum {
    MATCH_NONE,   /* the later profile has no such method */
    MATCH_SAME,   /* names and code are the same */
    MATCH_ALIKE,  /* another line table, but as many blocks, and the same jumps */
    MATCH_CHANGED /* other blocks */
} match;

/* Without a table, an empty one. */
static const qp_lines *lines_of(const qp_checked *im, const qp_method *m)
{
    static const qp_lines none;
    return m->lines ? qp_bytes_lines(im->file, m->lines) : &none;
}

static int32_t first_line(const qp_lines *t)
{
    return t->n_lines ? t->lines[0].line : 0;
}

/* Look for a method of the old profile in the later one. Methods of one name that begin in one line
 * are versions of each other; so are two that alone have the name. Others are different ones, like
 * nameless functions of one file. @param found  of SAME and ALIKE */
static match find_method(const merge *g, uint32_t method, uint32_t *found)
{
    const qp_checked *old = &g->old, *now = &g->now;
    const qp_method *k = qp_checked_method(old, method);
    const qp_lines *lines = lines_of(old, k);
    const qp_jumps *jumps = qp_bytes_jumps(old->file, k->jumps);
    *found = 0;
    for (uint32_t i = qp_checked_find(old, method, now); i; i = now->next_alike[i]) {
        const qp_method *m = qp_checked_method(now, i);
        const qp_lines *its = lines_of(now, m);
        if (!qp_checked_same_name(old, method, now, i) || first_line(lines) != first_line(its))
            continue;
        *found = i;
        if (qp_lines_agree(lines->lines, lines->n_lines, its->lines, its->n_lines) &&
            qp_jumps_agree(jumps, qp_bytes_jumps(now->file, m->jumps)))
            return MATCH_SAME;
    }
    if (!*found && (qp_checked_namesakes(old, method, now, found) != 1 ||
                    qp_checked_namesakes(old, method, old, NULL) != 1))
        return MATCH_NONE;
    const qp_method *m = qp_checked_method(now, *found);
    return lines->n_lines == lines_of(now, m)->n_lines &&
                   qp_jumps_agree(jumps, qp_bytes_jumps(now->file, m->jumps))
               ? MATCH_ALIKE
               : MATCH_CHANGED;
}

/* Were both collected in the same way, from the same sources? @return false: see error */
static bool agree(const qp_checked *old, const qp_checked *now, qp_error *error)
{
    const qp_source_record *r;
    char name[100];
    if (old->head->grain != now->head->grain)
        return qp_error_fail(error, "was collected with another -collection-granularity");
    if ((old->head->collect ^ now->head->collect) & QP_COLLECT_ONCE)
        return qp_error_fail(error, "was collected with another -cover");
    for (qp_cursor c = {0}; (r = qp_checked_next_source(old, &c)) != NULL;) {
        const char *path = qp_checked_text(old, r->path);
        const qp_source_record *its = qp_checked_source(now, path);
        if (its && (its->digest != r->digest || its->n_bytes != r->n_bytes))
            return qp_error_fail(error, "is of another version of %s",
                                 qp_plain(path, sizeof name, name, sizeof name));
    }
    return true;
}

/* ---- methods ------------------------------------------------------------------------------- */

static qp_ref copy_blob(merge *g, const void *from, uint64_t n_bytes)
{
    qp_ref ref = from ? qp_blob_take(g->space, &g->texts.blobs, n_bytes) : 0;
    if (ref)
        memcpy(qp_at_ref(g->space, ref), from, n_bytes);
    return ref;
}

static qp_ref copy_text(merge *g, qp_ref of_old)
{
    return qp_texts_add(&g->texts, qp_checked_text(&g->old, of_old));
}

/* A method that only the old profile has. @return 0: no room */
static qp_cell add_method(merge *g, const qp_method *m)
{
    enum { KEPT = 0xFF | QP_METHOD_REGISTERED | QP_METHOD_PSEUDO | QP_METHOD_OVERFLOW };
    qp_cell cell =
        qp_slab_take(g->space, &g->methods, QP_EXTENT_METHODS, 1, QP_RESERVE_RESERVED);
    if (!cell)
        return 0;
    const qp_lines *lines = qp_bytes_lines(g->old.file, m->lines);
    const qp_jumps *jumps = qp_bytes_jumps(g->old.file, m->jumps);
    uint64_t line_bytes = lines ? qp_lines_bytes(lines->n_lines, lines->flags) : 0;
    uint64_t jump_bytes = jumps ? qp_jumps_bytes(jumps->n_jumps, jumps->n_blocks) : 0;
    qp_method *copy = qp_at(g->space, cell);
    *copy = (qp_method){.id = m->id,
                        .flags = m->flags & KEPT,
                        .name = copy_text(g, m->name),
                        .class_name = copy_text(g, m->class_name),
                        .file = copy_text(g, m->file),
                        .module = copy_text(g, m->module),
                        .lines = copy_blob(g, lines, line_bytes),
                        .jumps = copy_blob(g, jumps, jump_bytes),
                        .ordinal = (uint32_t)++g->space->head->n_methods,
                        .published = 1};
    bool is_whole = !lines == !copy->lines && !jumps == !copy->jumps && !m->name == !copy->name;
    return is_whole ? cell : 0;
}

/* Find or make the method that each of the old ones adds to. */
static bool place_methods(merge *g, bool is_forced, qp_error *error)
{
    char name[100];
    for (uint32_t i = 1; i <= g->old.n_methods; i++) {
        uint32_t found;
        const qp_method *m = qp_checked_method(&g->old, i);
        match how = find_method(g, i, &found);
        if ((how == MATCH_ALIKE || how == MATCH_CHANGED) && !is_forced) {
            const char *text = qp_checked_text(&g->old, m->name);
            return qp_error_fail(error, "is of another version of the program: %s has changed",
                                 qp_plain(text, sizeof name, name, sizeof name));
        }
        if (how == MATCH_SAME || how == MATCH_ALIKE)
            g->targets[i].to = g->now.methods[found];
        else if (how == MATCH_NONE && !(g->targets[i].to = add_method(g, m)))
            return false;
    }
    return true;
}

/* Sources that only the old profile knows the text of. */
static bool place_sources(merge *g)
{
    const qp_source_record *r;
    for (qp_cursor c = {0}; (r = qp_checked_next_source(&g->old, &c)) != NULL;) {
        if (qp_checked_source(&g->now, qp_checked_text(&g->old, r->path)))
            continue;
        qp_cell cell =
            qp_slab_take(g->space, &g->sources, QP_EXTENT_SOURCES, 1, QP_RESERVE_RESERVED);
        if (!cell)
            return false;
        qp_source_record *copy = qp_at(g->space, cell);
        *copy = (qp_source_record){.path = copy_text(g, r->path),
                                   .digest = r->digest,
                                   .n_bytes = r->n_bytes,
                                   .published = 1};
    }
    return true;
}

/* ---- contexts ------------------------------------------------------------------------------ */

/* The context of a name in the later profile, made if need be. @return 0: no room */
static qp_cell context_named(merge *g, const char *name)
{
    for (uint32_t i = 1; i <= g->now.n_contexts; i++) {
        const qp_context *c = qp_checked_at(&g->now, g->now.contexts[i]);
        if (strcmp(qp_checked_text(&g->now, c->name), name) == 0)
            return g->now.contexts[i];
    }
    qp_cell cell =
        qp_slab_take(g->space, &g->context_slab, QP_EXTENT_CONTEXTS, 1, QP_RESERVE_RESERVED);
    if (!cell)
        return 0;
    qp_context *c = qp_at(g->space, cell);
    *c = (qp_context){.name = qp_texts_add(&g->texts, name),
                      .ordinal = g->now.n_contexts + ++g->n_new_contexts,
                      .published = 1};
    return c->name || !*name ? cell : 0;
}

/* If either profile has contexts, all that was counted is given to one, if only to the unnamed. */
static bool place_contexts(merge *g)
{
    qp_head *h = g->space->head;
    if (!h->context && !g->old.n_contexts)
        return true;
    qp_cell unnamed = 0;
    for (uint32_t i = 1; i <= g->old.n_contexts; i++) {
        const qp_context *c = qp_checked_at(&g->old, g->old.contexts[i]);
        g->contexts[i] = context_named(g, qp_checked_text(&g->old, c->name));
        if (!g->contexts[i])
            return false;
        if (!c->name)
            unnamed = g->contexts[i];
    }
    if (!unnamed && !(unnamed = context_named(g, "")))
        return false;
    uint32_t current = g->old.head->context ? g->old.index_of[g->old.head->context] : 0;
    g->rest = current ? g->contexts[current] : unnamed;
    if (!h->context) {
        h->context = unnamed;
        h->context_clears = h->clear_count;
    }
    return true;
}

/* ---- counter blocks --------------------------------------------------------------------------------- */

static qp_counter_block *new_block(merge *g, qp_counter_block_kind kind, qp_cell row,
                                   qp_cell method, const qp_counter_block *like, qp_cell *cell)
{
    bool is_share = kind == QP_COUNTER_BLOCK_SHARE;
    qp_cell *newest = is_share ? &g->shares : &g->counter_blocks;
    uint32_t n_cells = 1 + (like->n_values + 7) / 8;
    *cell = qp_cells_take(g->space, newest, is_share ? QP_EXTENT_SHARES : QP_EXTENT_BANKS,
                          is_share ? 0 : row, n_cells, FIRST_CELLS, QP_RESERVE_RESERVED);
    if (!*cell)
        return NULL;
    qp_counter_block *b = qp_at(g->space, *cell);
    *b = (qp_counter_block){.n_cells = n_cells,
                            .kind = kind,
                            .method = method,
                            .n_values = like->n_values,
                            .n_blocks = like->n_blocks,
                            .row = is_share ? row : 0};
    qp_cells_publish(g->space, *newest, n_cells);
    return b;
}

/* What a context has of a method in this row. @return NULL: no room */
static qp_counter_block *share_of(merge *g, qp_cell row, qp_cell context, qp_cell method,
                                  const qp_counter_block *like)
{
    uint64_t key = (uint64_t)context << 32 | method;
    uint32_t at = (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32) & g->slot_mask;
    while (g->slots[at].counters && g->slots[at].key != key)
        at = (at + 1) & g->slot_mask;
    if (g->slots[at].counters)
        return qp_at(g->space, g->slots[at].counters);
    qp_counter_block *b =
        new_block(g, QP_COUNTER_BLOCK_SHARE, row, method, like, &g->slots[at].counters);
    g->slots[at].key = key;
    if (b)
        b->context = context;
    return b;
}

/* @param sign  1, or UINT64_MAX to take off */
static bool add_to_share(merge *g, qp_cell row, qp_cell context, qp_cell method,
                         const qp_counter_block *from, uint64_t calls, uint64_t sign)
{
    qp_counter_block *to = share_of(g, row, context, method, from);
    if (!to)
        return false;
    to->calls += sign * calls;
    for (uint32_t i = 0; to->n_values == from->n_values && i < to->n_values; i++)
        to->values[i] += sign * from->values[i];
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool is_same(run_key a, run_key b)
{
    return a.nonce == b.nonce && a.clear_count == b.clear_count;
}

/* The run that a row of the old profile belongs to. @param is_ours  receives: this run saved it */
static run_key key_of_row(const merge *g, qp_cell row, bool *is_ours)
{
    const qp_head *old = g->old.head, *now = g->space->head;
    const qp_thread_record *r = row ? qp_checked_at(&g->old, row) : NULL;
    run_key key = {0, 0};
    if (r && r->has_host_id == QP_ROW_EARLIER)
        key = (run_key){r->host_id, r->vt_id};
    else if (old->state == QP_SNAPSHOT)
        key = (run_key){old->nonce, old->clear_count};
    *is_ours = key.nonce == now->nonce && key.clear_count == now->clear_count;
    return key.nonce == now->nonce ? (run_key){0, 0} : key; /* before a clear: that is over */
}

/* Does what this row counted go into the row of this key? */
static bool belongs(const merge *g, qp_cell row, run_key key)
{
    bool is_ours;
    run_key own = key_of_row(g, row, &is_ours);
    return !is_ours && is_same(own, key);
}

/* The same of an extent of a thread; what the thread had before a clear does not count. */
static bool extent_counts(const merge *g, qp_cell extent, run_key key)
{
    qp_cell thread = ((const qp_extent *)qp_checked_at(&g->old, extent))->owner;
    if (!qp_checked_is_thread(&g->old, thread) || !belongs(g, thread, key))
        return false;
    const qp_thread_record *r = qp_checked_at(&g->old, thread);
    return r->clear_count == g->old.head->clear_count;
}

static qp_node *new_node(merge *g, qp_cell row, qp_cell parent, qp_cell method, qp_cell *cell)
{
    *cell = qp_cells_take(g->space, &g->nodes, QP_EXTENT_NODES, row, 1, FIRST_CELLS,
                          QP_RESERVE_RESERVED);
    if (!*cell)
        return NULL;
    bool is_exact = g->space->head->time_mode == QP_TIME_EXACT;
    qp_node *n = qp_at(g->space, *cell);
    *n = (qp_node){.self_min = is_exact ? QP_NO_MIN : 0,
                   .parent = parent,
                   .next = QP_NIL_NODE,
                   .last = (uint64_t)QP_NIL_NODE * QP_CELL,
                   .method = method};
    qp_cells_publish(g->space, g->nodes, 1);
    return n;
}

/* Its entries that resumed none. */
static uint64_t calls_of(const qp_checked *im, const qp_node *n)
{
    const qp_node_more *more =
        n->more && n->more < im->n_cells ? qp_checked_at(im, n->more) : NULL;
    uint64_t n_resumes = more ? more->n_resumes : 0;
    return n_resumes < n->n_calls ? n->n_calls - n_resumes : 0;
}

static bool add_calls(merge *g, qp_cell row, run_key key)
{
    const qp_node *from;
    qp_thread_record *r = qp_at(g->space, row);
    for (qp_cursor c = {0};
         (from = qp_checked_next(&g->old, QP_EXTENT_NODES, 1, &c)) != NULL;) {
        if (!from->n_calls || !qp_checked_is_method(&g->old, from->method) ||
            !extent_counts(g, c.extent, key))
            continue;
        target *t = &g->targets[g->old.index_of[from->method]];
        if (!t->to)
            continue;
        qp_node *n =
            t->node ? qp_at(g->space, t->node) : new_node(g, row, r->root, t->to, &t->node);
        if (!n)
            return false;
        uint64_t n_calls = calls_of(&g->old, from);
        n->n_calls += n_calls;
        r->n_exits += n_calls;
    }
    return true;
}

static bool add_block(merge *g, qp_cell row, const qp_counter_block *from)
{
    target *t = &g->targets[g->old.index_of[from->method]];
    const qp_counter_block *base = from->base ? qp_checked_at(&g->old, from->base) : NULL;
    if (!t->to)
        return true;
    qp_counter_block *to = t->counters ? qp_at(g->space, t->counters) : NULL;
    if (!to || to->n_values != from->n_values)
        to = new_block(g, QP_COUNTER_BLOCK_COUNTS, row, t->to, from, &t->counters);
    if (!to)
        return false;
    for (uint32_t i = 0; i < to->n_values; i++)
        to->values[i] += from->values[i] - (base ? base->values[i] : 0);
    return true;
}

static bool add_blocks(merge *g, qp_cell row, run_key key)
{
    const qp_counter_block *from;
    bool is_good = true;
    for (qp_cursor c = {0};
         is_good && (from = qp_checked_next_counters(&g->old, QP_EXTENT_BANKS,
                                                     QP_COUNTER_BLOCK_COUNTS, &c)) != NULL;)
        is_good = !extent_counts(g, c.extent, key) || add_block(g, row, from);
    return is_good;
}

/* All that the row has goes to the rest ... */
static bool share_rest(merge *g, qp_cell row)
{
    static const qp_counter_block no_values;
    for (uint32_t i = 1; i <= g->old.n_methods; i++) {
        const target *t = &g->targets[i];
        const qp_counter_block *b = t->counters ? qp_at(g->space, t->counters) : &no_values;
        const qp_node *n = t->node ? qp_at(g->space, t->node) : NULL;
        if ((t->counters || n) &&
            !add_to_share(g, row, g->rest, t->to, b, n ? n->n_calls : 0, 1))
            return false;
    }
    return true;
}

/* ... and from there to the contexts that have it. */
static bool add_shares(merge *g, qp_cell row, run_key key)
{
    const qp_counter_block *from;
    if (g->old.head->context_clears != g->old.head->clear_count)
        return true;
    for (qp_cursor c = {0};
         (from = qp_checked_next_counters(&g->old, QP_EXTENT_SHARES, QP_COUNTER_BLOCK_SHARE,
                                          &c)) != NULL;) {
        qp_cell method = g->targets[g->old.index_of[from->method]].to;
        qp_cell context = g->contexts[g->old.index_of[from->context]];
        if (!method || !belongs(g, from->row, key))
            continue;
        if (!add_to_share(g, row, context, method, from, from->calls, 1) ||
            !add_to_share(g, row, g->rest, method, from, from->calls, UINT64_MAX))
            return false;
    }
    return true;
}

static void forget_row(merge *g)
{
    g->nodes = g->counter_blocks = 0;
    for (uint32_t i = 0; i <= g->old.n_methods; i++)
        g->targets[i].counters = g->targets[i].node = 0;
    memset(g->slots, 0, ((size_t)g->slot_mask + 1) * sizeof *g->slots);
}

static bool add_row(merge *g, run_key key)
{
    qp_head *h = g->space->head;
    qp_cell row = qp_slab_take(g->space, &g->threads, QP_EXTENT_THREADS, THREAD_CELLS,
                               QP_RESERVE_RESERVED);
    if (!row)
        return false;
    forget_row(g);
    qp_thread_record *r = qp_at(g->space, row);
    *r = (qp_thread_record){
        .has_host_id = QP_ROW_EARLIER,
        .host_id = key.nonce,
        .vt_id = key.clear_count,
        .name = qp_texts_add(&g->texts, key.nonce ? "an earlier save" : "earlier runs"),
        .ordinal = ++h->n_threads,
        .state = QP_THREAD_ENDED,
        .n_lives = 1,
        .clear_count = h->clear_count,
        .stopped_seen = h->stopped_total};
    if (!new_node(g, row, 0, 0, &r->root) || !add_calls(g, row, key) ||
        !add_blocks(g, row, key) ||
        (g->rest && (!share_rest(g, row) || !add_shares(g, row, key))))
        return false;
    r->nodes = g->nodes;
    r->counter_blocks = g->counter_blocks;
    return true;
}

/* Runs that the old profile has rows of. @return how many; ROWS_MAX + 1: too many */
static unsigned list_keys(const merge *g, run_key keys[ROWS_MAX])
{
    unsigned n = 0;
    bool is_ours;
    for (qp_cursor c = {0}; qp_checked_next(&g->old, QP_EXTENT_THREADS, THREAD_CELLS, &c);) {
        if (!qp_checked_is_thread(&g->old, c.cell))
            continue;
        run_key key = key_of_row(g, c.cell, &is_ours);
        unsigned k = 0;
        while (k < n && !is_same(keys[k], key))
            k++;
        if (is_ours || k < n)
            continue;
        if (n == ROWS_MAX)
            return ROWS_MAX + 1;
        keys[n++] = key;
    }
    return n;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static bool take_tables(merge *g)
{
    uint64_t n_slots = 2ull * (qp_checked_count(&g->old, QP_EXTENT_SHARES) + g->old.n_methods);
    for (g->slot_mask = 63; g->slot_mask < n_slots;)
        g->slot_mask = g->slot_mask * 2 + 1;
    g->targets = qp_scratch_take(&g->scratch, g->old.n_methods + 1ull, sizeof *g->targets);
    g->contexts = qp_scratch_take(&g->scratch, g->old.n_contexts + 1ull, sizeof *g->contexts);
    g->slots = qp_scratch_take(&g->scratch, g->slot_mask + 1ull, sizeof *g->slots);
    return g->targets && g->contexts && g->slots;
}

static bool add_all(merge *g, bool is_forced, qp_error *error)
{
    run_key keys[ROWS_MAX];
    if (!is_forced && !agree(&g->old, &g->now, error))
        return false;
    if (!take_tables(g) || !place_methods(g, is_forced, error) || !place_sources(g) ||
        !place_contexts(g))
        return false;
    g->space->head->collect |= g->old.head->collect & QP_COLLECT_ONCE;
    unsigned n = list_keys(g, keys);
    if (n > ROWS_MAX)
        return qp_error_fail(error,
                             "cannot be added to: it has saves of more than %d runs that never "
                             "ended",
                             ROWS_MAX);
    bool is_good = true;
    for (unsigned i = 0; is_good && i < n; i++)
        is_good = add_row(g, keys[i]);
    return is_good;
}

bool qp_merge_counts(qp_space *to, const char *old, uint64_t n_bytes, bool is_forced,
                     qp_error *error)
{
    enum { SCRATCH_FACTOR = 3, SCRATCH_LEAST = 1 << 20 };
    merge g = {.space = to, .texts = {.space = to}};
    uint64_t now_bytes = to->head->n_cells * QP_CELL;
    error->text[0] = '\0';
    bool is_done =
        qp_scratch_open(&g.scratch, SCRATCH_FACTOR * (n_bytes + now_bytes) + SCRATCH_LEAST) &&
        qp_checked_open(&g.old, old, n_bytes, &g.scratch, error) &&
        qp_checked_open(&g.now, to->map.base, now_bytes, &g.scratch, error) &&
        add_all(&g, is_forced, error);
    qp_scratch_close(&g.scratch);
    return is_done || (error->text[0] ? false
                                      : qp_error_fail(error, "cannot be added to: there is not "
                                                             "enough memory"));
}
