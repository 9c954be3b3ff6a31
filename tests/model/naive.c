/* naive.c: see naive.h. Sections are those of spec/qii.md. */
#include "model/naive.h"

#include <stdlib.h>
#include <string.h>

#include "model/naive_rules.h"
#include "model/naive_tree.h"

const char *const naive_diagnostic_names[NAIVE_N_DIAGNOSTICS] = {
    "wrong_mode",     "exit_unknown_id",     "exit_empty_stack", "entry_zero_stack_id",
    "unknown_method", "method_reregistered", "bad_method_id",    "bb_out_of_range",
    "bb_no_frame",    "counts_no_frame",     "unknown_thread",   "unsorted_line_table"};

static void *more(void *p, size_t n, size_t bytes)
{
    p = realloc(p, n * bytes);
    if (!p)
        abort();
    return p;
}

void naive_init(naive *n, const naive_options *o, uint64_t now)
{
    memset(n, 0, sizeof *n);
    n->o = *o;
    n->now = now;
    n->is_recording = o->records;
    n->has_all_lines = true;
    n->current = -1;
}

void naive_fini(naive *n)
{
    for (size_t i = 0; i < n->n_threads; i++) {
        naive_tree_free(n->threads[i].root);
        naive_blocks_free(&n->threads[i]);
        free(n->threads[i].frames);
    }
    free(n->threads);
}

/* ---- blocks, section 9 ------------------------------------------------------------------- */

static void charge_block(naive_thread *th, naive_frame *f, uint64_t own, uint64_t callees)
{
    if (f->block < 0) {
        f->before_own += own;
        f->before_callees += callees;
    } else {
        naive_block *b = naive_block_of(th, f->method, f->block);
        b->self += own;
        b->total += own + callees;
    }
}

/* ---- time, section 9 --------------------------------------------------------------------- */

/* The innermost frame that is measured, of the outermost `depth`; NULL: none. */
static naive_frame *included(naive_thread *th, size_t depth)
{
    while (depth > 0 && th->frames[depth - 1].is_excluded)
        depth--;
    return depth ? &th->frames[depth - 1] : NULL;
}

static void charge(naive *n, naive_thread *th, uint64_t ticks)
{
    if (!naive_is_open(n, th) || !n->o.has_times || !th->depth || !ticks)
        return;
    naive_frame *top = included(th, th->depth);
    if (!top) {
        th->root->self += ticks;
        return;
    }
    n->may_have_data = true;
    n->has_data |= !n->o.is_estimated; /* of a call that was open at a clear, too */
    top->own += ticks;
    top->inclusive += ticks;
    top->node->self += ticks;
    charge_block(th, top, ticks, 0);
}

/* Time passes on the thread that runs, up to now; a clock that stepped back does not move. */
static void pass(naive *n, naive_thread *th, bool reads_the_clock)
{
    if (n->o.is_counts_clock)
        return;
    th->has_read |= reads_the_clock;
    if (n->now < th->seen) {
        uint64_t step = th->seen - n->now;
        n->n_backwards += reads_the_clock;
        n->n_backwards_at_most++;
        if (reads_the_clock && step > n->backwards_max)
            n->backwards_max = step;
        if (step > n->backwards_max_at_most)
            n->backwards_max_at_most = step;
    } else if (reads_the_clock) {
        charge(n, th, n->now - th->seen);
        th->seen = n->now;
    }
}

void naive_pass_current(naive *n)
{
    if (n->current >= 0)
        pass(n, &n->threads[n->current], true);
}

/* ---- threads, section 6 ------------------------------------------------------------------ */

static naive_thread *add_thread(naive *n, uint64_t key)
{
    if (n->n_threads == n->thread_room) {
        n->thread_room = n->thread_room ? 2 * n->thread_room : 16;
        n->threads = more(n->threads, n->thread_room, sizeof *n->threads);
    }
    naive_thread *th = &n->threads[n->n_threads++];
    memset(th, 0, sizeof *th);
    th->key = key;
    th->is_live = true;
    th->seen = n->now;
    th->root = naive_tree_root();
    th->is_enabled = !n->is_initially_off || !naive_triggers_are_used(n);
    return th;
}

naive_thread *naive_live(const naive *n, uint64_t vt)
{
    if (!n->o.is_virtual)
        return n->current >= 0 ? &n->threads[n->current] : NULL;
    for (size_t i = n->n_threads; i-- > 0;)
        if (n->threads[i].is_live && n->threads[i].key == vt)
            return &n->threads[i];
    return NULL;
}

void naive_mount(naive *n, uint64_t vt)
{
    naive_thread *th = naive_live(n, vt);
    if (!th)
        th = add_thread(n, vt);
    int index = (int)(th - n->threads);
    if (index != n->current) {
        naive_pass_current(n);
        n->current = index;
        th->seen = n->now;
        th->has_read = false;
    }
}

/* An event names a thread: it exists and runs from now on. */
static naive_thread *arrive(naive *n, uint64_t vt)
{
    naive_mount(n, vt);
    return &n->threads[n->current];
}

static naive_frame pop(naive_thread *th)
{
    naive_frame f = th->frames[--th->depth];
    if (f.is_excluded)
        return f;
    if (f.is_hit && f.is_complete) {
        if (f.own < f.node->min)
            f.node->min = f.own;
        if (f.own > f.node->max)
            f.node->max = f.own;
    }
    naive_frame *caller = included(th, th->depth);
    if (caller) {
        caller->inclusive += f.inclusive;
        charge_block(th, caller, 0, f.inclusive);
    }
    return f;
}

void naive_destroy(naive *n, uint64_t key)
{
    naive_thread *th = naive_live(n, key);
    if (!th || (!n->o.is_virtual && (!th->is_bound || th->key != key))) {
        n->diagnostics[NAIVE_UNKNOWN_THREAD]++;
        return;
    }
    if (n->current == (int)(th - n->threads)) {
        naive_pass_current(n);
        n->current = -1;
    }
    th->n_destroyed_live += th->depth;
    while (th->depth) {
        naive_frame f = pop(th);
        naive_triggers_restore(n, th, &f);
    }
    th->is_live = false;
}

void naive_create(naive *n, uint64_t key)
{
    naive_thread *th = naive_live(n, key);
    if (th && th->is_bound)
        naive_destroy(n, key);
    if (!th || !th->is_live)
        th = add_thread(n, key);
    th->is_bound = true; /* one that was met in an event is bound now */
    if (!n->o.is_virtual)
        n->current = (int)(th - n->threads);
}

/* ---- methods, section 7 ------------------------------------------------------------------ */

static bool is_pseudo(uint64_t id)
{
    return id >= UINT64_MAX - 15 && id <= UINT64_MAX - 12;
}

static bool is_bad(uint64_t id)
{
    return id == 0 || id > UINT64_MAX - 12;
}

static naive_method *find_method(naive *n, uint64_t id)
{
    for (size_t i = 0; i < n->n_methods; i++)
        if (n->methods[i].id == id)
            return &n->methods[i];
    return NULL;
}

static naive_method *add_method(naive *n, uint64_t id)
{
    naive_method *m = &n->methods[n->n_methods++];
    *m = (naive_method){id, false, 0};
    return m;
}

void naive_register(naive *n, uint64_t id, int n_blocks, bool is_sorted)
{
    naive_method *m = find_method(n, id);
    if (is_bad(id)) {
        n->diagnostics[NAIVE_BAD_METHOD_ID]++;
        return;
    }
    if (m && m->is_registered) {
        n->diagnostics[NAIVE_METHOD_REREGISTERED]++;
        return;
    }
    if (!m)
        m = add_method(n, id);
    m->is_registered = true;
    m->n_blocks = n_blocks;
    n->diagnostics[NAIVE_UNSORTED_LINE_TABLE] += !is_sorted;
}

static uint64_t resolve(naive *n, uint64_t id)
{
    if (is_bad(id)) {
        n->diagnostics[NAIVE_BAD_METHOD_ID]++;
        return 0;
    }
    if (!find_method(n, id) && !is_pseudo(id)) {
        if (n->o.answer_blocks >= 0) {
            naive_register(n, id, n->o.answer_blocks, true);
        } else {
            add_method(n, id);
            n->diagnostics[NAIVE_UNKNOWN_METHOD]++;
        }
    }
    return id;
}

/* ---- events, section 8 ------------------------------------------------------------------- */

void naive_entry(naive *n, uint64_t vt, uint64_t method, uint64_t id)
{
    method = resolve(n, method);
    naive_thread *th = arrive(n, vt);
    pass(n, th, true);
    naive_frame entered = {.method = method, .id = id, .block = -1};
    naive_triggers_enter(n, th, method, &entered);
    entered.is_excluded = naive_triggers_level(n, method) == NAIVE_NOTHING;
    bool is_hit = naive_is_open(n, th) && !entered.is_excluded;
    entered.is_hit = entered.is_complete = is_hit;
    naive_node *above = th->depth ? th->frames[th->depth - 1].node : th->root;
    entered.node = entered.is_excluded ? above : naive_tree_child(above, method);
    if (th->depth == th->room) {
        th->room = th->room ? 2 * th->room : 64;
        th->frames = more(th->frames, th->room, sizeof *th->frames);
    }
    th->frames[th->depth++] = entered;
    th->n_excluded += entered.is_excluded;
    entered.node->n_hits += is_hit;
    entered.node->n_skips += !is_hit && !entered.is_excluded;
    th->n_entries += is_hit;
    n->may_have_data = true;
    n->has_data |= !entered.is_excluded;
    n->diagnostics[NAIVE_ENTRY_ZERO_STACK_ID] += id == 0;
}

/* How many frames stay when execution resumes in the frame with this id. */
static size_t depth_after(naive *n, naive_thread *th, uint64_t id)
{
    if (id == 0)
        return 0;
    for (size_t depth = th->depth; depth > 0; depth--)
        if (th->frames[depth - 1].id == id)
            return depth;
    if (th->depth == 0)
        n->diagnostics[NAIVE_EXIT_EMPTY_STACK]++;
    if (th->depth <= 1)
        return 0;
    n->diagnostics[NAIVE_EXIT_UNKNOWN_ID]++;
    return n->o.ignores_unknown_exits ? th->depth : 0;
}

void naive_exit(naive *n, uint64_t vt, uint64_t id)
{
    naive_thread *th = arrive(n, vt);
    size_t depth = depth_after(n, th, id);
    pass(n, th, depth < th->depth);
    th->n_popping_exits += depth < th->depth;
    th->n_popped += th->depth - depth;
    while (th->depth > depth) {
        naive_frame f = pop(th);
        naive_triggers_exit(n, th, &f);
    }
}

void naive_counts(naive *n, uint64_t vt, uint64_t count)
{
    naive_thread *th = arrive(n, vt);
    pass(n, th, false);
    if (!th->depth) {
        n->diagnostics[NAIVE_COUNTS_NO_FRAME]++;
        return;
    }
    if (!naive_is_open(n, th))
        return;
    th->frames[th->depth - 1].node->counts += count;
    n->may_have_data = true;
    if (n->o.is_counts_clock)
        charge(n, th, count);
}

/* The frame that a block event is about; NULL: it is ignored. */
static naive_frame *block_frame(naive *n, naive_thread *th, int block)
{
    if (!th->depth) {
        n->diagnostics[NAIVE_BB_NO_FRAME]++;
        return NULL;
    }
    naive_frame *f = &th->frames[th->depth - 1];
    naive_method *m = find_method(n, f->method);
    if (f->is_excluded || naive_triggers_level(n, f->method) != NAIVE_LINES)
        return NULL;
    if (block < 0 || block >= (m ? m->n_blocks : 0)) {
        n->diagnostics[NAIVE_BB_OUT_OF_RANGE]++;
        return NULL;
    }
    return f;
}

void naive_bb_counts(naive *n, uint64_t vt, int block, uint64_t count)
{
    naive_thread *th = arrive(n, vt);
    pass(n, th, false);
    if (!count)
        return;
    naive_frame *f = block_frame(n, th, block);
    if (f && naive_is_open(n, th)) {
        naive_block_of(th, f->method, block)->count += count;
        n->has_data = true;
    }
}

void naive_bb_time(naive *n, uint64_t vt, int block)
{
    naive_thread *th = arrive(n, vt);
    naive_frame *f = block_frame(n, th, block);
    pass(n, th, f != NULL);
    if (!f)
        return;
    n->may_have_data = true;
    bool is_first = f->block < 0;
    f->block = block;
    if (naive_is_open(n, th))
        naive_block_of(th, f->method, block)->is_marked = true;
    if (is_first) {
        charge_block(th, f, f->before_own, f->before_callees);
        f->before_own = f->before_callees = 0;
    }
}

uint64_t naive_current_method(const naive *n, uint64_t vt)
{
    naive_thread *th = naive_live(n, vt);
    return th && th->depth ? th->frames[th->depth - 1].method : 0;
}

/* ---- data, section 11 -------------------------------------------------------------------- */

bool naive_stop(naive *n)
{
    if (!n->is_recording)
        return false;
    naive_pass_current(n);
    n->is_recording = false;
    for (size_t i = 0; i < n->n_threads; i++)
        for (size_t k = 0; k < n->threads[i].depth; k++)
            n->threads[i].frames[k].is_complete = false;
    return true;
}

bool naive_start(naive *n)
{
    if (n->is_recording || n->is_disabled)
        return false;
    naive_pass_current(n);
    n->is_recording = true;
    return true;
}

void naive_disable(naive *n)
{
    naive_stop(n);
    n->is_disabled = true;
}

static void clear_thread(naive_thread *th)
{
    naive_tree_clear(th->root);
    for (size_t k = 0; k < th->depth; k++) {
        naive_frame *f = &th->frames[k];
        f->is_complete = false;
        f->own = f->inclusive = f->before_own = f->before_callees = 0;
    }
    naive_blocks_free(th);
}

void naive_clear(naive *n)
{
    naive_pass_current(n);
    for (size_t i = 0; i < n->n_threads; i++)
        clear_thread(&n->threads[i]);
    n->has_data = n->may_have_data = false;
}

/* Open frames: what they have run so far is callee time of the blocks that called them. */
static void derive_frames(naive_thread *th)
{
    for (naive_block *b = th->blocks; b; b = b->next)
        b->open_callees = 0;
    uint64_t inclusive = 0;
    for (size_t k = th->depth; k-- > 0;) {
        naive_frame *f = &th->frames[k];
        f->node->is_open = true;
        if (f->block >= 0)
            naive_block_of(th, f->method, f->block)->open_callees += inclusive;
        inclusive += f->inclusive;
    }
}

void naive_derive(naive *n)
{
    naive_pass_current(n);
    for (size_t i = 0; i < n->n_threads; i++) {
        naive_tree_derive(n->threads[i].root);
        derive_frames(&n->threads[i]);
    }
}
