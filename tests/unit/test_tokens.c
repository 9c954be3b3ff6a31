/* test_tokens.c: calls of a host that keeps a token in each of its frames, against a naive call tree
 * of the same calls. */
#include <string.h>
#include <unistd.h>

#include "unit/play.h"

enum { METHODS = 5, DEPTH_MAX = 9, PATHS_MAX = 20000, STEPS = 6000 };

typedef struct {
    int parent, method; /* parent -1: outermost */
    uint64_t calls, skips, self;
} path;

static path paths[PATHS_MAX];
static int n_paths;

typedef struct {
    int path;
    qprof_token token;
} call;

typedef struct {
    play_ctx *p;
    qprof_thread *th;
    qprof_MethodID ids[METHODS];
    call calls[DEPTH_MAX];
    int depth;
    bool is_stopped, is_timed;
    uint32_t seed;
    qprof_token base; /* of no frame */
} host;

static uint32_t roll(host *h, uint32_t n)
{
    h->seed = h->seed * 1664525u + 1013904223u;
    return (h->seed >> 16) % n;
}

static int path_of(int parent, int method)
{
    for (int i = 0; i < n_paths; i++)
        if (paths[i].parent == parent && paths[i].method == method)
            return i;
    assert_true(n_paths < PATHS_MAX);
    paths[n_paths] = (path){.parent = parent, .method = method};
    return n_paths++;
}

static void note_call(host *h, int method)
{
    call *c = &h->calls[h->depth];
    c->path = path_of(h->depth ? h->calls[h->depth - 1].path : -1, method);
    *(h->is_stopped ? &paths[c->path].skips : &paths[c->path].calls) += 1;
    h->depth++;
}

static void enter(host *h)
{
    int method = (int)roll(h, METHODS);
    qprof_token caller = h->depth ? h->calls[h->depth - 1].token : h->base;
    h->calls[h->depth].token = qprof_token_enter(h->th, caller, h->ids[method]);
    note_call(h, method);
}

static void tail(host *h)
{
    int method = (int)roll(h, METHODS);
    call *c = &h->calls[--h->depth];
    c->token = qprof_token_tail(h->th, c->token, h->ids[method]);
    note_call(h, method);
}

static void pass_time(host *h)
{
    uint64_t ns = roll(h, 50);
    play_clock_add((int64_t)ns);
    if (h->depth && !h->is_stopped)
        paths[h->calls[h->depth - 1].path].self += ns;
}

static void step(host *h)
{
    pass_time(h);
    uint32_t kind = roll(h, 100);
    if (kind < 45 && h->depth < DEPTH_MAX) {
        enter(h);
    } else if (kind < 75 && h->depth) {
        h->depth--;
        qprof_token_leave(h->th, h->calls[h->depth].token);
    } else if (kind < 82 && h->depth) {
        h->depth = (int)roll(h, (uint32_t)h->depth + 1);
        qprof_token_unwind(h->th, h->depth ? h->calls[h->depth - 1].token : h->base);
    } else if (kind < 87 && h->depth) {
        tail(h);
    } else if (kind < 90 && h->depth > 1 && !h->is_timed) {
        h->depth -= 1 + (int)roll(h, (uint32_t)h->depth - 1); /* the host forgets to tell */
        enter(h);
    } else if (kind < 91) {
        qprof_token_leave(h->th, QPROF_NO_TOKEN);
    } else if (kind < 93) {
        h->is_stopped = !h->is_stopped;
        if (h->is_stopped)
            qprof_stop_recording();
        else
            qprof_start_recording();
    } else if (kind < 94) {
        assert_true(qprof_token_top(h->th) ==
                    (h->depth ? h->calls[h->depth - 1].token : h->base));
    }
}

static void compare(const host *h)
{
    const qp_model *m = h->p->m;
    int of_node[PATHS_MAX], n_found = 0;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        int method = m->methods[n->method].name[0] - 'a';
        of_node[i] = path_of(n->parent < m->n_threads ? -1 : of_node[n->parent], method);
        const path *wanted = &paths[of_node[i]];
        assert_int_equal(n->f.hits, wanted->calls);
        assert_int_equal(n->f.skips, wanted->skips);
        if (h->is_timed)
            assert_int_equal(n->f.self, wanted->self);
        n_found += wanted->calls || wanted->skips;
    }
    for (int i = 0; i < n_paths; i++)
        n_found -= paths[i].calls || paths[i].skips;
    assert_int_equal(n_found, 0);
}

static host begin(void **state, const char *options, uint32_t seed)
{
    unlink("run.qprof"); /* of the run before */
    host h = {.p = play_start(state, options), .seed = seed};
    n_paths = 0;
    for (int i = 0; i < METHODS; i++)
        h.ids[i] = play_method(h.p, (const char[]){(char)('a' + i), 0});
    h.th = qprof_thread_handle(QPROF_INLINE_VERSION);
    h.base = qprof_token_top(h.th);
    return h;
}

static void programs_equal_the_naive_tree(void **state)
{
    static const struct {
        const char *options;
        bool is_timed, is_hooked; /* hooked: a trigger keeps the frames below one method */
    } modes[] = {{"-time=none", false, false},
                 {"-time=exact", true, false},
                 {"-time=adaptive", false, false},
                 {"-time=none -collect=profile,trace", false, false},
                 {"-time=exact -triggers=yes", true, false},
                 {"-time=exact", true, true},
                 {"-time=none", false, true},
                 {"-time=adaptive", false, true}};
    for (uint32_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        host h = begin(state, modes[i].options, 7 + i);
        h.is_timed = modes[i].is_timed;
        if (modes[i].is_hooked)
            assert_int_equal(qprof_trigger_add_method(
                                 qprof_trigger_create("t", QPROF_TRIGGER_ON), h.ids[0], 1),
                             0);
        for (int k = 0; k < STEPS; k++)
            step(&h);
        play_end(h.p);
        compare(&h);
        h.p->n_methods = 0;
    }
}

/* A token of an earlier run names nothing in this one. */
static void tokens_of_an_earlier_run_are_harmless(void **state)
{
    host h = begin(state, "-time=exact", 1);
    qprof_token old = qprof_token_enter(h.th, h.base, h.ids[0]);
    play_end(h.p);
    h.p->n_methods = 0; /* they are registered again */
    h = begin(state, "-time=exact", 1);
    qprof_token a = qprof_token_enter(h.th, old, h.ids[0]);
    qprof_token_leave(h.th, old | 64u << 8);
    qprof_token_unwind(h.th, 12345);
    qprof_token b = qprof_token_enter(h.th, a, h.ids[1]);
    qprof_token_leave(h.th, b);
    qprof_token_leave(h.th, a);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 2);
    play_end(h.p);
    assert_int_equal(play_figures(h.p, QP_ALL_THREADS, "a").calls, 1);
    assert_int_equal(play_figures(h.p, QP_ALL_THREADS, "b").calls, 1);
}

/* a(b( with tokens, c with a stack id in between: exits by id find it, and tokens below it. */
static void tokens_and_stack_ids_mix(void **state)
{
    host h = begin(state, "-time=none", 1);
    qprof_token a = qprof_token_enter(h.th, h.base, h.ids[0]);
    qprof_entry(h.th, h.ids[2], 77);
    qprof_token b = qprof_token_enter(h.th, qprof_token_top(h.th), h.ids[1]);
    qprof_token_leave(h.th, b);
    qprof_token_leave(h.th, a);
    b = qprof_token_enter(h.th, h.base, h.ids[1]);
    qprof_token_leave(h.th, b);
    play_end(h.p);
    const qp_model *m = h.p->m;
    uint32_t n_nodes = m->n_nodes - m->n_threads;
    assert_int_equal(n_nodes, 4); /* a, a c, a c b, b */
    assert_int_equal(m->nodes[m->n_threads + 2].depth, 4);
    assert_int_equal(play_figures(h.p, QP_ALL_THREADS, "b").calls, 2);
}

/* A thread ends with a( open for 7 and b( inside it for 5: both calls end with it, and the next
 * thread, which may have its row, begins with an empty stack. */
static void a_destroyed_thread_ends_its_calls(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact");
    qprof_MethodID a = play_method(p, "a"), b = play_method(p, "b");
    for (VthreadID vt = 1; vt <= 2; vt++) {
        qprof_thread *th = qprof_thread_handle_vt(vt, QPROF_INLINE_VERSION);
        qprof_thread_mount(th);
        qprof_token token = qprof_token_enter(th, qprof_token_top(th), a);
        play_clock_add(7);
        qprof_token_enter(th, token, b);
        play_clock_add(5);
        qprof_thread_destroy_vt(vt);
    }
    play_end(p);
    assert_flat(p, "a", 2, 24, 14);
    assert_flat(p, "b", 2, 10, 10);
    assert_min_max(p, "a", 7, 7);
    assert_min_max(p, "b", 5, 5);
    for (uint32_t t = 1; t < p->m->n_threads; t++) {
        assert_int_equal(p->m->threads[t].n_frames, 0);
        if (p->m->threads[t].n_in_tree)
            assert_int_equal(p->m->threads[t].n_destroyed_live, 2);
    }
}

/* A thread that begins on the row of an ended one is as any other: a( b( c( and an error that a catches, then b(. */
static void a_thread_on_a_used_row_has_its_tokens(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=none -thread-rows=1");
    qprof_MethodID a = play_method(p, "a"), b = play_method(p, "b"), c = play_method(p, "c");
    for (VthreadID vt = 1; vt <= 3; vt++) {
        qprof_thread *th = qprof_thread_handle_vt(vt, QPROF_INLINE_VERSION);
        qprof_thread_mount(th);
        if (vt > 1) /* its events are in line from the first one on */
            assert_int_equal(th->pulse->top & QPROF_TOP_TOKEN, QPROF_TOP_TOKEN);
        qprof_token ta = qprof_token_enter(th, qprof_token_top(th), a);
        qprof_token_enter(th, qprof_token_enter(th, ta, b), c);
        qprof_token_unwind(th, ta);
        assert_true(qprof_token_top(th) == ta);
        qprof_token_leave(th, qprof_token_enter(th, ta, b));
        qprof_token_leave(th, ta);
        qprof_thread_destroy_vt(vt);
    }
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    play_end(p);
    assert_path(p, "a", 3, 0);
    assert_path(p, "a>b", 6, 0);
    assert_path(p, "a>b>c", 3, 0);
}

/* Frames are made where something looks at them, and only for as long. */
static void frames_are_given_up_when_tokens_suffice(void **state)
{
    host h = begin(state, "-time=none -unknown-exit=ignore", 1);
    for (int i = 0; i < 3; i++) {
        qprof_token a = qprof_token_enter(h.th, h.base, h.ids[0]);
        qprof_token again = qprof_token_enter(h.th, a, h.ids[0]);
        qprof_exit(h.th, 77); /* of no frame */
        assert_int_equal(h.th->pulse->top & QPROF_TOP_TOKEN, 0);
        qprof_token_leave(h.th, again);
        assert_int_equal(h.th->pulse->top & QPROF_TOP_TOKEN, QPROF_TOP_TOKEN);
        qprof_entry(h.th, h.ids[2], 77);
        assert_int_equal(h.th->pulse->top & QPROF_TOP_TOKEN, 0);
        qprof_token_unwind(h.th, a);
        qprof_token b = qprof_token_enter(h.th, a, h.ids[1]);
        assert_int_equal(h.th->pulse->top & QPROF_TOP_TOKEN, QPROF_TOP_TOKEN);
        qprof_token_leave(h.th, b);
        qprof_token_leave(h.th, a);
    }
    play_end(h.p);
    assert_path(h.p, "a>b", 3, 0);
    assert_path(h.p, "a>c", 3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(programs_equal_the_naive_tree),
        PLAY_TEST(tokens_of_an_earlier_run_are_harmless),
        PLAY_TEST(tokens_and_stack_ids_mix),
        PLAY_TEST(a_destroyed_thread_ends_its_calls),
        PLAY_TEST(a_thread_on_a_used_row_has_its_tokens),
        PLAY_TEST(frames_are_given_up_when_tokens_suffice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
