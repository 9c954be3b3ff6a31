/* test_apart.c: two threads that record write to no common cache line, nor to two that processors
 * fetch together. One thread records while the other waits, and what has changed in memory is
 * compared with what the other one changes. No timing decides. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/run/run.h"
#include "unit/play.h"

enum { PAIR = 128, CALLS = 5000, DEPTH = 12, METHODS = 9, MOST = 2000 };

extern char __data_start[],
    _end[]; /* all static data of the program, the recorder's included */

typedef struct {
    const char *from;
    size_t n_bytes;
    char *before;
} area;

/* Numbers of pairs of lines: addresses / PAIR. */
typedef struct {
    uintptr_t *at; /* [n] */
    size_t n;
} pairs;

typedef struct {
    pthread_t thread;
    uintptr_t vt; /* 0: plain events */
    const qprof_thread *handle;
    bool is_inline, counts_blocks;
    unsigned n_rounds; /* values that remain differ by round */
} actor;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turn; /* number of the actor that may play; 0: the test */
    bool is_over;
} stage = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- what a thread does ------------------------------------------------------------------- */

static void enter(const actor *a, uintptr_t method, uintptr_t id)
{
    if (a->is_inline)
        qprof_entry((qprof_thread *)(uintptr_t)a->handle, method, id);
    else if (a->vt)
        qprof_record_fn_entry_vt(method, id, a->vt);
    else
        qprof_record_fn_entry(method, id);
}

static void leave(const actor *a, uintptr_t id)
{
    if (a->is_inline)
        qprof_exit((qprof_thread *)(uintptr_t)a->handle, id);
    else if (a->vt)
        qprof_record_fn_exit_vt(id, a->vt);
    else
        qprof_record_fn_exit(id);
}

/* Calls of all depths, of the same paths each time. */
static void play_calls(actor *a)
{
    a->n_rounds++;
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned depth = 2 + i / METHODS % DEPTH;
        for (uintptr_t d = 2; d <= depth; d++) {
            enter(a, 1 + (d + i + a->n_rounds) % METHODS, d);
            if (a->counts_blocks)
                qprof_record_bb_counts(1, 1);
        }
        for (uintptr_t d = depth; d >= 2; d--)
            leave(a, d - 1);
    }
}

static void wait_for(int turn)
{
    pthread_mutex_lock(&stage.lock);
    while (stage.turn != turn)
        pthread_cond_wait(&stage.changed, &stage.lock);
    pthread_mutex_unlock(&stage.lock);
}

static void give(int turn)
{
    pthread_mutex_lock(&stage.lock);
    stage.turn = turn;
    pthread_cond_broadcast(&stage.changed);
    pthread_mutex_unlock(&stage.lock);
}

static actor actors[2];

static void *act(void *arg)
{
    actor *a = arg;
    int me = 1 + (int)(a - actors);
    wait_for(me);
    enter(a, 1, 1);
    a->handle = a->vt ? qprof_thread_handle_vt(a->vt, QPROF_INLINE_VERSION)
                      : qprof_thread_handle(QPROF_INLINE_VERSION);
    play_calls(a); /* all paths exist, the stack has its depth */
    for (;;) {
        give(0);
        wait_for(me);
        if (stage.is_over)
            break;
        play_calls(a);
    }
    leave(a, 0);
    give(0);
    return NULL;
}

/* ---- what has changed --------------------------------------------------------------------- */

/* All memory is read here: the space that AddressSanitizer keeps between variables, and what other
 * threads write meanwhile. */
#define READS_EVERYTHING __attribute__((no_sanitize("address"), no_sanitize("thread")))

READS_EVERYTHING static void remember(area *x, const void *from, size_t n_bytes)
{
    const volatile char *bytes = from; /* or the compiler calls a checked memcpy() */
    x->from = from;
    x->n_bytes = n_bytes;
    x->before = malloc(n_bytes);
    assert_non_null(x->before);
    for (size_t i = 0; i < n_bytes; i++)
        x->before[i] = bytes[i];
}

READS_EVERYTHING static void add_changes(pairs *to, area *x)
{
    for (size_t i = 0; i < x->n_bytes; i++)
        if (x->from[i] != x->before[i]) {
            uintptr_t pair = (uintptr_t)(x->from + i) / PAIR;
            if (!to->n || to->at[to->n - 1] != pair) {
                assert_true(to->n < MOST);
                to->at[to->n++] = pair;
            }
        }
    free(x->before);
}

static pairs changes_of(int actor_number)
{
    pairs made = {malloc(MOST * sizeof(uintptr_t)), 0};
    area file, handles[2], statics;
    assert_non_null(made.at);
    remember(&file, qp_recorder.space.map.base, qp_recorder.space.map.n_ready_bytes);
    for (int i = 0; i < 2; i++)
        remember(&handles[i], actors[i].handle, PAIR);
    remember(&statics, __data_start, (size_t)(_end - __data_start));
    give(actor_number);
    wait_for(0);
    add_changes(&made, &file);
    for (int i = 0; i < 2; i++)
        add_changes(&made, &handles[i]);
    add_changes(&made, &statics);
    return made;
}

/* Of what the test itself writes. */
static bool is_of_the_test(uintptr_t pair)
{
    return (pair >= (uintptr_t)&stage / PAIR && pair <= (uintptr_t)(&stage + 1) / PAIR) ||
           (pair >= (uintptr_t)actors / PAIR && pair <= (uintptr_t)(actors + 2) / PAIR);
}

static void compare(const pairs *one, const pairs *other, const char *what)
{
    for (size_t i = 0; i < one->n; i++)
        for (size_t k = 0; k < other->n; k++)
            if (one->at[i] == other->at[k] && !is_of_the_test(one->at[i])) {
                uintptr_t at = one->at[i] * PAIR, base = (uintptr_t)qp_recorder.space.map.base;
                fail_msg("%s: both threads write to address %#jx, byte %jd of the file", what,
                         (uintmax_t)at, (intmax_t)(at - base));
            }
}

/* ---- claims ------------------------------------------------------------------------------- */

static void start(int i, bool with_vt)
{
    actors[i] = (actor){.vt = with_vt ? 100 + (uintptr_t)i : 0};
    assert_int_equal(pthread_create(&actors[i].thread, NULL, act, &actors[i]), 0);
    give(1 + i);
    wait_for(0);
}

static void check(play_ctx *p, const char *options, bool with_vt)
{
    static const qprof_LineInfo table[] = {{1, 0}, {2, 4}};
    pairs made[2];
    char what[160];
    (with_vt ? play_begin_vt : play_begin)(p, options);
    for (uintptr_t i = 1; i <= METHODS; i++)
        qprof_register_method_id(i, "m", "C", 0, "file", table, 2);
    stage.is_over = false;
    for (int i = 0; i < 2; i++)
        start(i, with_vt);
    for (unsigned kind = 0; kind < 3; kind++) {
        for (int i = 0; i < 2; i++) {
            actors[i].is_inline = kind == 1;
            actors[i].counts_blocks = kind == 2 && !with_vt;
        }
        for (int i = 0; i < 2; i++) { /* counters of blocks are made in the first round */
            give(1 + i);
            wait_for(0);
        }
        for (int i = 0; i < 2; i++)
            made[i] = changes_of(1 + i);
        assert_true(made[0].n > 1 && made[1].n > 1);
        snprintf(what, sizeof what, "%s, %s", options, kind == 1 ? "inline" : "exported");
        compare(&made[0], &made[1], what);
        free(made[0].at);
        free(made[1].at);
    }
    stage.is_over = true;
    for (int i = 0; i < 2; i++) {
        give(1 + i);
        wait_for(0);
        pthread_join(actors[i].thread, NULL);
    }
    qprof_shutdown();
}

static void threads_that_count_write_to_lines_of_their_own(void **state)
{
    check(*state, "-time=none", false);
}

static void threads_with_exact_times_write_to_lines_of_their_own(void **state)
{
    check(*state, "-time=exact -clock=elapsed", false);
}

static void threads_with_adaptive_times_write_to_lines_of_their_own(void **state)
{
    check(*state, "-time=adaptive -clock=elapsed", false);
}

static void threads_that_are_traced_write_to_lines_of_their_own(void **state)
{
    check(*state, "-collect=profile,trace -trace-mode=overwrite -trace-buffer=16K", false);
}

static void threads_that_are_covered_write_to_lines_of_their_own(void **state)
{
    check(*state, "-time=none -collect=profile,coverage", false);
}

static void virtual_threads_write_to_lines_of_their_own(void **state)
{
    check(*state, "-time=exact", true);
    check(*state, "-collect=profile,trace -trace-mode=overwrite -trace-buffer=16K", true);
}

static void threads_whose_stack_alone_is_kept_write_to_lines_of_their_own(void **state)
{
    check(*state, "-collect=samples '-pc=REAL 3600000000'", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(threads_that_count_write_to_lines_of_their_own),
        PLAY_TEST(threads_with_exact_times_write_to_lines_of_their_own),
        PLAY_TEST(threads_with_adaptive_times_write_to_lines_of_their_own),
        PLAY_TEST(threads_that_are_traced_write_to_lines_of_their_own),
        PLAY_TEST(threads_that_are_covered_write_to_lines_of_their_own),
        PLAY_TEST(virtual_threads_write_to_lines_of_their_own),
        PLAY_TEST(threads_whose_stack_alone_is_kept_write_to_lines_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
