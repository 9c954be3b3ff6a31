/* test_creators.c: the time of coroutines is below the calls that created them, whichever rows they have. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/figures/figures.h"
#include "unit/vm.h"

/* Run a stack until it ends: g( 3 ), in `ns` more. */
static void run_once(qprof_vm *vm, qprof_stack *s, qprof_MethodID g, int ns)
{
    qprof_stack *before = qprof_switch(vm, s);
    qprof_token t = qprof_enter(s, qprof_top(s), g);
    play_clock_add(3 + ns);
    qprof_leave(s, t);
    qprof_switch(vm, before);
}

/* main( a( creates 3 stacks ) b( creates 3 ) ), which run in turn or are all alive at once; then b creates one
 * more. With few rows as well, the time of each is below the function that created it. */
static void time_is_below_the_creator(void **state)
{
    static const struct {
        const char *options;
        bool in_turn;
        unsigned rows; /* with that of main */
    } cases[] = {
        {"", true, 8},
        {"", false, 8},
        {"-thread-rows=2", true, 3},  /* main, one a creator */
        {"-thread-rows=2", false, 4}, /* main, the first of a, those shared of a and of b */
        {"-thread-rows=1", false, 3},
        {"-collect=profile,trace", false, 8}};
    char options[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(options, sizeof options, "-output=run.qprof -log-file=none -time=exact %s",
                 cases[i].options);
        qprof_vm *vm = first_vm(options);
        qprof_MethodID f[2] = {define("a"), define("b")}, g = define("g");
        qprof_stack stacks[2][3], last;
        qprof_token main = qprof_enter(&vm->main, 0, define("main"));
        for (unsigned k = 0; k < 6; k++) {
            qprof_token t = qprof_enter(&vm->main, main, f[k % 2]);
            qprof_stack_create(&stacks[k % 2][k / 2], &vm->main);
            play_clock_add(1);
            qprof_leave(&vm->main, t);
            if (!cases[i].in_turn)
                continue;
            run_once(vm, &stacks[k % 2][k / 2], g, k % 2 ? 10 : 0);
            qprof_stack_end(vm, &stacks[k % 2][k / 2]);
        }
        for (unsigned k = 0; k < 6 && !cases[i].in_turn; k++)
            run_once(vm, &stacks[k % 2][k / 2], g, k % 2 ? 10 : 0);
        for (unsigned k = 0; k < 6 && !cases[i].in_turn; k++)
            qprof_stack_end(vm, &stacks[k % 2][k / 2]);
        qprof_token t = qprof_enter(&vm->main, main, f[1]);
        qprof_stack_create(&last, &vm->main);
        run_once(vm, &last, g, 20);
        qprof_stack_end(vm, &last);
        qprof_leave(&vm->main, t);
        qprof_leave(&vm->main, main);
        qprof_vm_close(vm);
        play_end(*state);
        play_ctx *p = *state;
        assert_int_equal(p->m->n_threads - 1, cases[i].rows);
        assert_int_equal(play_file_diagnostic(p, "creator_lost"), 0);
        assert_true(qp_model_join_threads(&p->m));
        assert_path(p, "main>a>g", 3, 9);
        assert_path(p, "main>b>g", 4, 62); /* 3 of 13, 23 */
        assert_flat(p, "main", 1, 77, 0);
        assert_flat(p, "a", 3, 12, 3);
        assert_flat(p, "b", 4, 65, 3);
    }
}

/* More than 8 creators of stacks that share rows: the rest has none, which is counted. */
static void too_many_creators_are_counted(void **state)
{
    enum { CREATORS = 12 };
    qprof_vm *vm = first_vm("-output=run.qprof -log-file=none -time=exact -thread-rows=1");
    qprof_MethodID g = define("g");
    qprof_stack stacks[CREATORS];
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    for (int k = 0; k < CREATORS; k++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", k);
        qprof_token t = qprof_enter(&vm->main, main, define(name));
        qprof_stack_create(&stacks[k], &vm->main);
        qprof_leave(&vm->main, t);
        run_once(vm, &stacks[k], g, 0);
    }
    for (int k = 0; k < CREATORS; k++)
        qprof_stack_end(vm, &stacks[k]);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    assert_int_equal(p->m->n_threads - 1, 10); /* main, 8, and one of no creator */
    assert_int_equal(play_file_diagnostic(p, "creator_lost"), CREATORS - 8);
    assert_true(qp_model_join_threads(&p->m));
    assert_flat(p, "main", 1, 24, 0);
    assert_path(p, "g", 4, 12);
    assert_path(p, "main>f0>g", 1, 3);
}

/* A creator of another run is none. */
static void creators_end_with_their_run(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_stack co;
    qprof_token t = qprof_enter(&vm->main, 0, define("main"));
    qprof_stack_create(&co, &vm->main);
    qprof_leave(&vm->main, t);
    qprof_vm_close(vm);
    assert_true(co.creator != 0);
    assert_int_equal(qprof_thread_path(co.th), 0);
    assert_int_equal(qprof_thread_path(NULL), 0);
    vm = first_vm(exact);
    t = qprof_enter(&vm->main, 0, define("main"));
    run_once(vm, &co, define("g"), 0);
    qprof_leave(&vm->main, t);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    assert_true(qp_model_join_threads(&p->m));
    assert_path(p, "g", 1, 3);
    assert_flat(p, "main", 1, 0, 0);
}

/* Virtual threads of QII: the mounted one creates those of qprof_thread_create_vt(); of others the host says it. */
static void hosts_state_creators(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact");
    play(p, "@a main( 2 spawn( 1");
    qprof_thread_create_vt(7, play_vt(p, "b"));
    play(p, ") 4");
    qprof_set_thread_parent_vt(play_vt(p, "c"), play_vt(p, "a"));
    qprof_set_thread_parent_vt(play_vt(p, "d"), 12345); /* not known */
    play(p, "@b g( 5 ) @c h( 7 ) @d i( 9 ) @e j( 11 ) @a )");
    qprof_set_thread_parent_vt(play_vt(p, "e"), 0);
    play_end(p);
    assert_int_equal(play_file_diagnostic(p, "unknown_thread"), 1);
    assert_true(qp_model_join_threads(&p->m));
    assert_flat(p, "main", 1, 19, 6); /* 2 + 4, 1, 5, 7 */
    assert_path(p, "main>spawn>g", 1, 5);
    assert_path(p, "main>h", 1, 7);
    assert_path(p, "i", 1, 9);
    assert_path(p, "j", 1, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(time_is_below_the_creator),
        PLAY_TEST(too_many_creators_are_counted),
        PLAY_TEST(creators_end_with_their_run),
        PLAY_TEST(hosts_state_creators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
