/* test_clock_reads.c: whether reads of the processor's counter wait for earlier loads, and random
 * programs with both orders of clock and look-up, against a naive call tree. */
#include <string.h>
#include <unistd.h>

#include "unit/play.h"

enum { METHODS = 4, DEPTH_MAX = 7, PATHS_MAX = 20000, STEPS = 5000 };

typedef struct {
    int parent, method; /* parent -1: outermost */
    uint64_t calls, self_least;
} path;

typedef struct {
    play_ctx *p;
    qprof_thread *th;
    qprof_MethodID ids[METHODS];
    bool has_tokens;
    struct {
        int path;
        qprof_token token;
    } calls[DEPTH_MAX + 1]; /* from 1; 0 is below all */
    int depth;
    uint32_t seed;
    uint64_t begun, ended; /* ticks */
} host;

static path paths[PATHS_MAX];
static int n_paths;

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

static void enter(host *h)
{
    int method = (int)roll(h, METHODS), d = h->depth++;
    if (h->has_tokens)
        h->calls[d + 1].token = qprof_token_enter(h->th, h->calls[d].token, h->ids[method]);
    else
        qprof_entry(h->th, h->ids[method], (uintptr_t)d + 1);
    h->calls[d + 1].path = path_of(h->calls[d].path, method);
    paths[h->calls[d + 1].path].calls++;
}

static void leave(host *h)
{
    if (h->has_tokens)
        qprof_token_leave(h->th, h->calls[h->depth].token);
    else
        qprof_exit(h->th, (uintptr_t)h->depth - 1);
    h->depth--;
}

/* At least so many ticks belong to the call on top. */
static void spend(host *h)
{
    uint64_t from = qprof_ticks(), n = roll(h, 300), now;
    do
        now = qprof_ticks();
    while (now - from < n);
    paths[h->calls[h->depth].path].self_least += now - from;
}

static void perform(host *h)
{
    h->begun = qprof_ticks();
    h->calls[0].path = -1;
    h->calls[0].token = h->has_tokens ? qprof_token_top(h->th) : QPROF_NO_TOKEN;
    for (int i = 0; i < STEPS; i++) {
        if (!h->depth || (h->depth < DEPTH_MAX && roll(h, 2)))
            enter(h);
        else
            leave(h);
        if (h->depth)
            spend(h);
    }
    while (h->depth)
        leave(h);
    h->ended = qprof_ticks();
}

static void compare(const host *h)
{
    const qp_model *m = h->p->m;
    int of_node[PATHS_MAX], n_found = 0;
    uint64_t self = 0;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        int method = m->methods[n->method].name[0] - 'a';
        of_node[i] = path_of(n->parent < m->n_threads ? -1 : of_node[n->parent], method);
        const path *wanted = &paths[of_node[i]];
        assert_int_equal(n->f.hits, wanted->calls);
        if (m->run.time_mode == QP_TIME_EXACT)
            assert_true(n->f.self >= wanted->self_least);
        self += n->f.self;
        n_found++;
    }
    assert_int_equal(n_found, n_paths);
    if (m->run.time_mode == QP_TIME_EXACT)
        assert_true(self <= h->ended - h->begun);
}

/* @return false: this machine's counter is not used as a clock */
static bool begin(host *h, void **state, const char *options, const char *reads)
{
    char words[160];
    snprintf(words, sizeof words, "-output=run.qprof -elapsed-source=tsc %s%s%s", options,
             *reads ? " -clock-reads=" : "", reads);
    unlink("run.qprof"); /* of the run before */
    h->p = *state;
    h->p->n_methods = n_paths = 0;
    qprof_set_clock(NULL);
    int code = qprof_initialize(words, NULL);
    if (code == QPROF_E_UNSUPPORTED)
        return false;
    assert_int_equal(code, 0);
    for (int i = 0; i < METHODS; i++)
        h->ids[i] = play_method(h->p, (const char[]){(char)('a' + i), 0});
    h->th = qprof_thread_handle(QPROF_INLINE_VERSION);
    return true;
}

static void programs_equal_the_naive_tree_in_both_orders(void **state)
{
    static const char *const modes[] = {"-time=exact", "-time=adaptive",
                                        "-time=exact -collect=profile,trace",
                                        "-time=none -collect=profile,trace"};
    static const char *const orders[] = {"overlap", "wait"};
    for (uint32_t i = 0; i < 2 * 2 * sizeof modes / sizeof *modes; i++) {
        host h = {.has_tokens = i & 1, .seed = i};
        const char *order = orders[i >> 1 & 1], *mode = modes[i >> 2];
        if (!begin(&h, state, mode, order))
            skip();
        bool waits = QPROF_LOAD(h.th->gate) & QPROF_HOOK_WAITS;
        assert_int_equal(waits, strcmp(order, "wait") == 0);
        perform(&h);
        play_end(h.p);
        compare(&h);
        assert_string_equal(h.p->m->run.reads_text, order);
    }
}

static void what_was_measured_is_in_the_file(void **state)
{
    host h = {0};
    if (!begin(&h, state, "-time=exact", ""))
        skip();
    bool waits = QPROF_LOAD(h.th->gate) & QPROF_HOOK_WAITS;
    perform(&h);
    play_end(h.p);
    assert_string_equal(h.p->m->run.reads_text, waits ? "wait" : "overlap");
}

static void reads_of_another_clock_are_not_measured(void **state)
{
    play_ctx *p = play_run(state, "-time=exact -clock-reads=wait", "f( 5 )");
    assert_string_equal(p->m->run.reads_text, "not-measured");
    assert_flat(p, "f", 1, 5, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(programs_equal_the_naive_tree_in_both_orders),
        PLAY_TEST(what_was_measured_is_in_the_file),
        PLAY_TEST(reads_of_another_clock_are_not_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
