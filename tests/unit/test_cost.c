/* test_cost.c: what recording costs is measured where it happens. */
#include <string.h>
#include <time.h>

#include "unit/vm.h"

enum { ROUNDS = 40000, CALLS = 500 };

/* A VM by the machine's clock, as programs have. */
static qprof_vm *begin(const char *options)
{
    static qprof_vm vm;
    unlink("run.qprof");
    qprof_set_clock(NULL);
    assert_int_equal(qprof_vm_open(&vm, options), 1);
    return &vm;
}

static void call(qprof_vm *vm, qprof_token main, qprof_MethodID f)
{
    qprof_leave(&vm->main, qprof_enter(&vm->main, main, f));
}

static void spin(uint64_t ns)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((uint64_t)(now.tv_sec - from.tv_sec) * 1000000000 + (uint64_t)now.tv_nsec <
           (uint64_t)from.tv_nsec + ns);
}

/* Four callees, which have been called in this order: after one, itself and the next one are found in line, and
 * the first after the last. Of the calls of f0 f2 f1 f3 three are out of line. One in 128 is timed, at random:
 * 940 of 120,000 tell how many there were within 2 % (one standard deviation). */
static void events_out_of_line_are_timed_now_and_then(void **state)
{
    static const char *const modes[] = {
        "-output=run.qprof -log-file=none -time=none",
        "-output=run.qprof -log-file=none -time=exact",
        "-output=run.qprof -log-file=none -time=exact -elapsed-source=monotonic",
    };
    for (size_t mode = 0; mode < 3; mode++) {
        qprof_vm *vm = begin(modes[mode]);
        qprof_MethodID f[4] = {define("f0"), define("f1"), define("f2"), define("f3")};
        qprof_token main = qprof_enter(&vm->main, 0, define("main"));
        for (int i = 0; i < 4; i++)
            call(vm, main, f[i]);
        for (int i = 0; i < ROUNDS; i++) {
            call(vm, main, f[0]);
            call(vm, main, f[2]);
            call(vm, main, f[1]);
            call(vm, main, f[3]);
        }
        qprof_leave(&vm->main, main);
        qprof_vm_close(vm);
        play_end(*state);
        play_ctx *p = *state;
        const qp_model_thread *th = &p->m->threads[1];
        /* no clock but the counter is read in line; -time=exact has it where it is reliable */
        int is_counter = strcmp(p->m->run.source_text, "monotonic") != 0;
        uint64_t n = mode > 0 && !is_counter ? 8 * ROUNDS : 3 * ROUNDS;
        assert_true(mode < 2 || !is_counter);
        assert_in_range(th->n_apart, n - n / 10, n + n / 10);
        assert_true(th->apart_ticks > 0);
        assert_in_range(p->m->run.cost_total, th->apart_ticks / 2, UINT64_MAX);
        assert_int_equal(p->m->run.calls, 4 * ROUNDS + 5);
    }
}

/* What a short run costs does not depend on chance: its first 15 events out of line are all timed. */
static void the_first_events_are_all_timed(void **state)
{
    qprof_vm *vm = begin("-output=run.qprof -log-file=none -elapsed-source=monotonic");
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    qprof_MethodID f = define("f");
    for (int i = 0; i < 6; i++)
        call(vm, main, f);
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    assert_int_equal(p->m->threads[1].n_apart, 14);
}

/* Nothing is known of the time that recording takes by the host's clock. */
static void a_clock_of_the_host_states_no_cost(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_MethodID f = define("f");
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    for (int i = 0; i < ROUNDS; i++)
        call(vm, main, f);
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    assert_int_equal(p->m->threads[1].n_apart, 0);
    assert_int_equal(p->m->run.cost_total, 0);
}

typedef struct {
    uint64_t n_plain, n_recorded;
} executions;

/* The host's loop: with events each call takes some 20 us more, which is its own cost. */
static void execute(void *data, qprof_thread *th, qprof_token caller, qprof_MethodID function)
{
    executions *n = data;
    n->n_plain += !function;
    n->n_recorded += function != 0;
    for (int i = 0; i < 20; i++) {
        if (function)
            spin(20000);
        qprof_token_leave(th, qprof_token_enter(th, caller, function));
    }
}

/* The cost of a call is at least what the host needs for it, in line and out of line; the calls leave no trace. */
static void the_cost_of_the_host_is_measured_in_its_loop(void **state)
{
    static const char *const modes[] = {
        "-output=run.qprof -log-file=none -time=none",
        "-output=run.qprof -log-file=none -time=adaptive",
        "-output=run.qprof -log-file=none -elapsed-source=monotonic",
    };
    for (size_t mode = 0; mode < 3; mode++) {
        executions n = {0};
        qprof_vm *vm = begin(modes[mode]);
        qprof_measure_calls(NULL, &n, 20, 0);
        qprof_measure_calls(execute, &n, 0, 0);
        assert_int_equal(n.n_plain + n.n_recorded, 0);
        qprof_measure_calls(execute, &n, 20, 0);
        assert_true(n.n_plain && n.n_plain == n.n_recorded);
        qprof_token main = qprof_enter(&vm->main, 0, define("main"));
        qprof_MethodID f = define("f");
        for (int i = 0; i < CALLS; i++)
            call(vm, main, f);
        qprof_leave(&vm->main, main);
        qprof_vm_close(vm);
        play_end(*state);
        play_ctx *p = *state;
        assert_int_equal(p->m->run.calls, CALLS + 1);
        assert_int_equal(p->m->n_methods, 5); /* and three of every run */
        assert_true(p->m->run.has_times ||
                    qp_model_ns(p->m, p->m->run.cost_total) >= 19000ull * CALLS);
        assert_true(qp_model_ns(p->m, p->m->run.cost_caller_milliticks) >= 19000000);
    }
}

static void execute_natively(void *data, qprof_thread *th, qprof_token caller,
                             qprof_MethodID function)
{
    executions *n = data;
    n->n_recorded += function != 0;
    for (int i = 0; i < 20; i++) {
        if (function)
            spin(50000);
        qprof_token_leave(th, qprof_token_enter(th, caller, function));
    }
}

/* Calls of functions without a file cost what the host's calls of native code do: some 30 us more here. */
static void native_calls_have_a_cost_of_their_own(void **state)
{
    executions n = {0};
    qprof_vm *vm = begin("-output=run.qprof -log-file=none -time=none");
    qprof_measure_calls(execute, &n, 20, 0);
    qprof_measure_calls(execute_natively, &n, 20, 1);
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    qprof_MethodID f = define("f"), native = qprof_define("native", NULL, NULL, NULL, 0);
    for (int i = 0; i < CALLS; i++) {
        call(vm, main, f);
        call(vm, main, native);
    }
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    assert_true(qp_model_ns(p->m, p->m->run.cost_total) >= CALLS * (19000ull + 49000));
    assert_true(qp_model_ns(p->m, p->m->run.cost_caller_milliticks) < 49000000);
}

/* Calls while recording is stopped take time that is not the run's. Besides them there are four events, of which
 * few are timed. */
static void calls_that_are_not_recorded_cost_nothing(void **state)
{
    qprof_vm *vm = begin("-output=run.qprof -log-file=none -time=exact");
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    qprof_MethodID f = define("f");
    call(vm, main, f);
    qprof_stop_recording();
    for (int i = 0; i < ROUNDS; i++)
        call(vm, main, f);
    qprof_start_recording();
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    assert_int_equal(p->m->run.calls, ROUNDS + 2);
    assert_in_range(p->m->threads[1].n_apart, 0, 4 * 128);
}

/* Calls of a method in no area are out of line, and belong to no call of the profile: between them, calls in line cost
 * what they always do. */
static void calls_in_no_area_are_in_the_cost(void **state)
{
    qprof_vm *vm = begin("-output=run.qprof -log-file=none -time=exact");
    assert_int_equal(qprof_config_line("area some exclude : g"), 0);
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    qprof_MethodID f = define("f"), g = define("g");
    for (int i = 0; i < ROUNDS; i++) {
        call(vm, main, f);
        call(vm, main, g);
    }
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    const qp_model_thread *th = &p->m->threads[1];
    const qp_run_info *run = &p->m->run;
    uint64_t in_line =
        ROUNDS / 1000 * (run->cost_caller_milliticks + run->cost_inside_milliticks);
    assert_int_equal(run->calls, ROUNDS + 1);
    bool is_counter = strcmp(run->source_text, "monotonic") != 0; /* else no call is in line */
    assert_true(!is_counter || th->n_apart <= 4 * 128);
    /* an interrupt in an event that 128 are estimated from is in the estimate 128 times */
    assert_in_range(th->apart_ticks, ROUNDS, 2 * run->total);
    /* each recorded call has an equal part of them, and that of main is in its caller, where no time is; rounded */
    uint64_t of_main = th->apart_ticks / ROUNDS + 4;
    uint64_t least = th->apart_ticks - of_main + (is_counter ? in_line - in_line / 10 : 0);
    assert_in_range(run->cost_total, least < run->total ? least : run->total, run->total);
}

/* Skipped calls are no part of the run's time, nor is what the recorder does in them: it is stated apart. */
static void calls_while_a_trigger_is_off_have_a_cost_of_their_own(void **state)
{
    qprof_vm *vm = begin("-output=run.qprof -log-file=none -time=exact");
    assert_int_equal(qprof_config_line("trigger quiet off : f"), 0);
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    qprof_MethodID f = define("f");
    for (int i = 0; i < ROUNDS; i++)
        call(vm, main, f);
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    const qp_run_info *run = &p->m->run;
    uint64_t skip = p->m->threads[1].skip_ticks;
    assert_int_equal(run->calls, ROUNDS + 1);
    assert_true(skip >= 16); /* an event takes a tick */
    uint64_t estimate = (ROUNDS * 2 * skip + 8) / 16, rest = run->wall - run->total;
    assert_int_equal(run->cost_skipped,
                     estimate < rest ? estimate : rest); /* not more than it can be */
}

/* Work that a host does to be recorded is a part of the cost. */
static void work_of_the_host_is_in_the_cost(void **state)
{
    qprof_vm *vm = begin("-output=run.qprof -log-file=none -time=none");
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    call(vm, main, define("f"));
    uint64_t begun = qprof_work_begin();
    spin(3000000);
    qprof_work_end(begun);
    qprof_work_end(0);
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    assert_int_equal(qprof_work_begin(), 0);
    qprof_work_end(begun);
    play_end(*state);
    play_ctx *p = *state;
    assert_true(qp_model_ns(p->m, p->m->threads[1].apart_ticks) >= 2900000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_out_of_line_are_timed_now_and_then, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(calls_while_a_trigger_is_off_have_a_cost_of_their_own,
                                        play_setup, play_teardown),
        cmocka_unit_test_setup_teardown(the_first_events_are_all_timed, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(native_calls_have_a_cost_of_their_own, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(a_clock_of_the_host_states_no_cost, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(the_cost_of_the_host_is_measured_in_its_loop,
                                        play_setup, play_teardown),
        cmocka_unit_test_setup_teardown(calls_that_are_not_recorded_cost_nothing, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(calls_in_no_area_are_in_the_cost, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(work_of_the_host_is_in_the_cost, play_setup,
                                        play_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
