/* test_park.c: virtual threads that wait give their rows to others, and nothing is lost by that. Beyond
 * -thread-rows, figures are sums over threads: each is compared with what was done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/play.h"

enum { N_VTS = 40, MAX_DEPTH = 7, N_METHODS = 3, N_PATHS = 3280 /* (3^8 - 1) / 2 */ };

/* ---- what is worked out by hand --------------------------------------------------------------- */

static void calls_and_times_are_those_of_threads_with_rows(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact -thread-rows=2");
    play(p,
         "@a f( 1 g( 2 @b f( 4 @c h( 8 @d f( 16 @a ) 32 ) @b g( 64 ) 128 ) @c g( 256 ) ) @d )");
    play_end(p);
    assert_path(p, "f", 3, 1 + 4 + 16 + 32 + 128);
    assert_path(p, "f>g", 2, 2 + 64);
    assert_path(p, "h", 1, 8);
    assert_path(p, "h>g", 1, 256);
    assert_int_equal(p->m->run.calls, 7);
    assert_int_equal(p->m->n_threads - 1, 2);
}

static void one_exit_ends_calls_that_were_open_before_the_thread_was_parked(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact -thread-rows=1");
    play(p, "@a f( f( g( f( h( h( 1 @b g( 2 @c g( 2 @d g( 2 @a ^g 4 ) ) ) @b ) @c ) @d )");
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    play_end(p);
    assert_path(p, "f>f>g>f>h>h", 1, 1);
    assert_path(p, "f>f>g", 1, 4);
    assert_path(p, "g", 3, 6);
}

static void a_parked_thread_is_known(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact -thread-rows=1");
    play(p, "@a f( g( 1 @b h( 2 @c h( 3");
    assert_int_equal(qprof_current_method_id_vt(play_vt(p, "a")), play_method(p, "g"));
    assert_int_equal(qprof_current_method_id_vt(play_vt(p, "b")), play_method(p, "h"));
    qprof_thread_destroy_vt(play_vt(p, "a"));
    qprof_thread_destroy_vt(play_vt(p, "a"));
    assert_int_equal(qprof_diagnostic("unknown_thread"), 1); /* the second time */
    assert_int_equal(qprof_current_method_id_vt(play_vt(p, "a")), 0);
    play(p, "@b ) @c )");
    play_end(p);
    assert_path(p, "f>g", 1, 1);
    uint64_t n_destroyed = 0;
    for (uint32_t i = 1; i < p->m->n_threads; i++)
        n_destroyed += p->m->threads[i].n_destroyed_live;
    assert_int_equal(n_destroyed, 2);
}

static void a_thread_with_a_handle_keeps_its_row(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact -thread-rows=1");
    qprof_MethodID f = play_method(p, "f");
    qprof_record_fn_entry_vt(f, 1, 1);
    qprof_thread *th = qprof_thread_handle_vt(1, QPROF_INLINE_VERSION);
    for (uintptr_t vt = 2; vt < 20; vt++)
        qprof_record_fn_entry_vt(f, 1, vt);
    assert_ptr_equal(qprof_thread_handle_vt(1, QPROF_INLINE_VERSION), th);
    qprof_thread_mount(th);
    qprof_entry(th, f, 2);
    play_end(p);
    assert_path(p, "f", 19, 0);
    assert_path(p, "f>f", 1, 0);
}

/* The next thread on a row has done nothing yet when the calls of the one before are cleared. */
static void a_clear_forgets_what_was_done_on_a_row_before(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact -thread-rows=3");
    play(p, "@a f( 1 ) @b g( 2 @c h( 3 @d f( 4");
    qprof_thread_create_vt(1, play_vt(p, "a"));
    qprof_clear_data();
    play(p, "i( )");
    play_end(p);
    assert_int_equal(p->m->run.calls, 1);
    play_begin_vt(p, "-time=exact -thread-rows=1");
    play(p, "@a f( 1 )");
    qprof_thread_destroy_vt(play_vt(p, "a"));
    qprof_thread_create_vt(1, play_vt(p, "b"));
    qprof_clear_data();
    qprof_record_fn_entry_vt(play_method(p, "h"), 1, play_vt(p, "c"));
    play_end(p);
    assert_int_equal(p->m->run.calls, 1);
}

/* Its calls end where the thread was suspended, and not where its row is taken. */
static void what_a_thread_waited_before_it_was_parked_is_not_its_time(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=adaptive -thread-rows=1");
    play(p, "@a f( 2 @b g( 1000 @c h( 5");
    play(p, "@a 3 ) @b ) @c )");
    play_end(p);
    assert_int_equal(play_file_diagnostic(p, "clock_backwards"), 0);
    assert_true(play_figures(p, QP_ALL_THREADS, "f").total <= 2 + 3);
    assert_true(play_figures(p, QP_ALL_THREADS, "g").total <= 1000);
    assert_true(play_figures(p, QP_ALL_THREADS, "h").total <= 5 + 3);
}

/* ---- random programs --------------------------------------------------------------------------- */

typedef struct {
    uint64_t calls, self;
} tally;

/* A path is a number: 0 is the root, and callee k of path n is 3 n + k + 1. */
typedef struct {
    unsigned depth, paths[MAX_DEPTH + 1];
    uint64_t ids[MAX_DEPTH + 1];
} plain_stack;

typedef struct {
    plain_stack stacks[N_VTS];
    tally tallies[N_PATHS];
    int running; /* -1: none */
    uint64_t random, n_calls;
} plain;

static unsigned roll(plain *o, unsigned n)
{
    o->random = o->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(o->random >> 33) % n;
}

static void pass(plain *o, unsigned ns)
{
    plain_stack *s = o->running < 0 ? NULL : &o->stacks[o->running];
    if (s && s->depth)
        o->tallies[s->paths[s->depth]].self += ns;
    play_clock_add(ns);
}

static void step(plain *o, const qprof_MethodID *methods)
{
    int vt = (int)roll(o, N_VTS);
    plain_stack *s = &o->stacks[vt];
    uintptr_t host_vt = 0x1000 + 16 * (uintptr_t)vt;
    unsigned what = roll(o, 100);
    pass(o, roll(o, 5));
    if (what < 3) {
        qprof_thread_destroy_vt(host_vt);
        s->depth = 0;
        o->running = o->running == vt ? -1 : o->running;
        return;
    }
    o->running = vt;
    if (what < 55 && s->depth < MAX_DEPTH) {
        unsigned k = roll(o, N_METHODS);
        uint64_t id = roll(o, 8) ? 100 + s->depth : s->ids[s->depth] ? s->ids[s->depth] : 7;
        s->paths[s->depth + 1] = 3 * s->paths[s->depth] + k + 1;
        s->ids[++s->depth] = id; /* sometimes that of its caller */
        o->tallies[s->paths[s->depth]].calls++;
        o->n_calls++;
        qprof_record_fn_entry_vt(methods[k], id, host_vt);
        return;
    }
    unsigned to = what < 85 && s->depth ? s->depth - 1 : roll(o, s->depth + 1);
    uint64_t id = to ? s->ids[to] : 0;
    qprof_record_fn_exit_vt(id, host_vt);
    while (s->depth &&
           (!id || s->ids[s->depth] != id)) /* the topmost one with this id resumes */
        s->depth--;
}

static void compare(play_ctx *p, const plain *o)
{
    uint64_t self = 0;
    for (unsigned i = 1; i < N_PATHS; i++) {
        char path[2 * MAX_DEPTH + 2], *at = path + sizeof path - 1;
        *at = 0;
        for (unsigned n = i; n; n = (n - 1) / 3) {
            *--at = (char)('f' + (n - 1) % 3);
            if ((n - 1) / 3)
                *--at = '>';
        }
        if (o->tallies[i].calls)
            assert_path(p, at, o->tallies[i].calls, o->tallies[i].self);
        self += o->tallies[i].self;
    }
    assert_int_equal(p->m->run.calls, o->n_calls);
    assert_int_equal(p->m->run.total, self);
}

static void random_threads_lose_nothing(void **state)
{
    play_ctx *p = *state;
    char options[64];
    for (unsigned seed = 1; seed <= 60; seed++) {
        print_message("seed %u\r", seed);
        plain *o = calloc(1, sizeof *o);
        o->random = seed;
        o->running = -1;
        snprintf(options, sizeof options, "-time=exact -thread-rows=%u", 1 + roll(o, 6));
        play_begin_vt(p, options);
        const qprof_MethodID methods[] = {71, 72, 73};
        for (unsigned k = 0; k < N_METHODS; k++)
            qprof_register_method_id(methods[k], (char[]){(char)('f' + k), 0}, NULL, 0, NULL,
                                     NULL, 0);
        for (unsigned n = 100 + roll(o, 3000); n; n--)
            step(o, methods);
        if (roll(o, 2))
            play_peek(p);
        uint64_t n_conflicts = qprof_diagnostic("vt_conflict");
        play_end(p);
        assert_int_equal(n_conflicts, 0);
        compare(p, o);
        assert_true(p->m->n_threads - 1 <= 8); /* 1 or 2 more than rows asked for */
        free(o);
        remove("run.qprof");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(calls_and_times_are_those_of_threads_with_rows),
        PLAY_TEST(one_exit_ends_calls_that_were_open_before_the_thread_was_parked),
        PLAY_TEST(a_clear_forgets_what_was_done_on_a_row_before),
        PLAY_TEST(what_a_thread_waited_before_it_was_parked_is_not_its_time),
        PLAY_TEST(a_parked_thread_is_known),
        PLAY_TEST(a_thread_with_a_handle_keeps_its_row),
        PLAY_TEST(random_threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
