/* test_deep.c: calls beyond the frames that fit are counted, and the stack is exact again below them. A
 * random host walks up and down around the limit of its memory; after each step the recorder must have as many
 * open calls as the host. */
#include <string.h>
#include <unistd.h>

#include "record/run/run.h"
#include "unit/play.h"

enum { CALLS_MAX = 60000, STEPS = 6000, SPREAD = 40 };

typedef struct {
    qprof_thread *th;
    bool has_tokens;
    qprof_token tokens[CALLS_MAX + 1]; /* of the call at a depth, from 1; or: its stack id */
    unsigned depth;
    unsigned stored; /* frames that fit */
    uint64_t n_entries, n_exits, n_ended;
    uint32_t seed;
} host;

static uint32_t roll(host *h, uint32_t n)
{
    h->seed = h->seed * 1664525u + 1013904223u;
    return (h->seed >> 16) % n;
}

static void assert_depth(const host *h)
{
    qprof_check_depth(h->depth);
    const qp_finding *f = &qp_recorder_head()->findings[QP_HOST_wrong_depth];
    if (f->count)
        fail_msg("seed %u: %u calls are open, found %u", h->seed, h->depth, (unsigned)f->found);
    if (h->depth <= h->stored) /* there is room for all */
        assert_int_equal(h->th->pulse->n_deep, 0);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
}

static uintptr_t id_of(unsigned depth)
{
    return depth ? 1000 + 16 * (uintptr_t)depth : 0;
}

static void enter(host *h)
{
    assert_true(h->depth < CALLS_MAX);
    unsigned d = ++h->depth;
    uintptr_t method = 1 + d % 3;
    if (h->has_tokens)
        h->tokens[d] = qprof_token_enter(h->th, h->tokens[d - 1], method);
    else
        qprof_entry(h->th, method, id_of(d));
    h->n_entries++;
}

static void leave_to(host *h, unsigned depth)
{
    if (!h->has_tokens)
        qprof_exit(h->th, id_of(depth));
    else if (depth == h->depth - 1)
        qprof_token_leave(h->th, h->tokens[h->depth]);
    else
        qprof_token_unwind(h->th, depth ? h->tokens[depth] : QPROF_NO_TOKEN);
    h->n_exits++;
    h->n_ended += h->depth - depth;
    h->depth = depth;
}

/* An error was caught in the call on top, which continues. */
static void stay(host *h)
{
    if (h->has_tokens)
        qprof_token_unwind(h->th, h->tokens[h->depth]);
}

/* Of the frames that are only counted, an exit by a stack id ends one; a token names each of them. */
static void leave_several(host *h)
{
    unsigned to = h->depth - 1 - roll(h, SPREAD);
    bool is_named = h->has_tokens || to <= h->stored;
    leave_to(h, is_named ? to : h->depth - 1);
}

static void climb(host *h)
{
    while (!qprof_diagnostic("depth_overflow"))
        enter(h);
    h->stored = h->depth - 1;
    assert_true(h->stored > 100);
    assert_depth(h);
}

static void walk(host *h)
{
    for (int i = 0; i < STEPS; i++) {
        uint32_t kind = roll(h, 100), most = h->depth < h->stored ? 85 : 55;
        if (kind < most && h->depth < h->stored + SPREAD)
            enter(h);
        else if (kind < 97)
            leave_to(h, h->depth - 1);
        else
            leave_several(h);
        stay(h);
        assert_depth(h);
    }
}

static void run(void **state, const char *options, bool has_tokens, uint32_t seed)
{
    static host h;
    unlink("run.qprof");
    play_ctx *p = play_start(state, options);
    h = (host){.th = qprof_thread_handle(QPROF_INLINE_VERSION),
               .has_tokens = has_tokens,
               .seed = seed};
    h.tokens[0] = qprof_token_top(h.th);
    for (uintptr_t method = 1; method <= 3; method++)
        qprof_register_method_id(method, "f", "", 0, "", NULL, 0);
    climb(&h);
    walk(&h);
    while (h.depth > h.stored)
        leave_to(&h, h.depth - 1);
    leave_to(&h, h.stored / 2);
    assert_depth(&h);
    if (has_tokens)
        leave_to(&h, 0);
    else
        while (h.depth)
            leave_to(&h, h.depth - 1);
    assert_depth(&h);
    enter(&h);
    assert_depth(&h);
    leave_to(&h, 0);
    if (strstr(options, "samples")) { /* of which there is none, so there will be no file */
        qprof_shutdown();
        return;
    }
    play_end(p);
    const qp_model_thread *t = &p->m->threads[1];
    assert_true(t->n_deep_total > STEPS / 20);
    assert_int_equal(t->n_exits + t->n_unwound, h.n_ended);
    assert_int_equal(t->n_exits, h.n_exits);
}

static void frames_with_stack_ids(void **state)
{
    run(state, "-time=exact -memory-limit=1M", false, 1);
    run(state, "-time=none -memory-limit=1M", false, 2);
    run(state, "-time=adaptive -memory-limit=1M", false, 3);
}

static void frames_with_tokens(void **state)
{
    run(state, "-time=exact -memory-limit=1M -collect=profile,trace", true, 4);
    run(state, "-time=none -memory-limit=1M -collect=profile,trace", true, 5);
}

static void frames_of_samples_alone(void **state)
{
    run(state, "-collect=samples -memory-limit=1M", false, 6);
    run(state, "-collect=samples -memory-limit=1M", true, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(frames_with_stack_ids),
        PLAY_TEST(frames_with_tokens),
        PLAY_TEST(frames_of_samples_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
