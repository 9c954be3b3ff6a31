/* test_embed_stacks.c: which stack of qprof/embed.h an OS thread is on, when errors, hosts and nested VMs
 * leave coroutines in other ways than by a yield. Times are in ns of a clock of the test's own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "unit/vm.h"

static uint64_t self_of(void **state, const char *name)
{
    return play_figures(*state, QP_ALL_THREADS, name).self;
}

static void assert_no_mistake(void **state)
{
    assert_int_equal(play_file_diagnostic(*state, "unmounted"), 0);
    assert_int_equal(play_file_diagnostic(*state, "clock_backwards"), 0);
}

/* A VM runs inside a call of another one. Its own call r resumes coroutine c, in which an error is raised
 * that r catches: the VM switches to the stack of r, which no switch has left. The outer call continues. */
static void an_error_that_leaves_a_coroutine_of_a_nested_vm(void **state)
{
    qprof_vm *outer = first_vm(exact), inner;
    qprof_MethodID a = define("a"), b = define("b"), r = define("r"), c = define("c");
    qprof_token ta = qprof_enter(&outer->main, 0, a);
    play_clock_add(10);
    assert_int_equal(qprof_vm_open(&inner, exact), 1);
    for (int uses_main = 0; uses_main < 2; uses_main++) {
        qprof_stack own, co, *s = uses_main ? &inner.main : &own;
        qprof_stack_new(&own);
        qprof_token tr = qprof_enter(s, 0, r);
        play_clock_add(1);
        qprof_stack_create(&co, s);
        qprof_switch(&inner, &co);
        qprof_enter(&co, 0, c);
        play_clock_add(2);
        qprof_switch(&inner, &co); /* it runs already */
        qprof_unwind(&co, 0);
        qprof_switch(&inner, s);
        qprof_unwind(s, tr);
        play_clock_add(4);
        qprof_leave(s, tr);
        assert_null(s->outside);
        assert_ptr_equal(qprof_thread_mount(outer->main.th), outer->main.th); /* it is on it */
        play_clock_add(20); /* of a, which called the VM */
        qprof_stack_end(&inner, &co);
        qprof_stack_end(&inner, &own);
    }
    qprof_vm_close(&inner);
    qprof_token tb = qprof_enter(&outer->main, ta, b);
    play_clock_add(3);
    qprof_leave(&outer->main, tb);
    qprof_leave(&outer->main, ta);
    qprof_vm_close(outer);
    play_end(*state);
    assert_int_equal(self_of(state, "a"), 50);
    assert_int_equal(self_of(state, "b"), 3);
    assert_int_equal(self_of(state, "r"), 10);
    assert_int_equal(self_of(state, "c"), 4);
    assert_no_mistake(state);
}

/* A coroutine is ended and freed while it runs; its creator continues, on the main stack or another. */
static void a_stack_that_ends_while_it_runs(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_MethodID a = define("a"), c = define("c");
    for (int uses_main = 0; uses_main < 2; uses_main++) {
        qprof_stack own, *co = malloc(sizeof *co), *s = uses_main ? &vm->main : &own;
        assert_non_null(co);
        qprof_stack_new(&own);
        qprof_token ta = qprof_enter(s, 0, a);
        qprof_stack_create(co, s);
        qprof_switch(vm, co);
        qprof_enter(co, 0, c);
        play_clock_add(5);
        qprof_stack_end(vm, co);
        memset(co, 0xa5, sizeof *co);
        free(co);
        qprof_switch(vm, s);
        play_clock_add(7);
        qprof_leave(s, ta);
        assert_null(s->outside);
        play_clock_add(100);
        qprof_stack_end(vm, &own);
    }
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(self_of(state, "a"), 14);
    assert_int_equal(self_of(state, "c"), 10);
    assert_no_mistake(state);
}

/* A coroutine returns to the host: the call that resumed it is suspended. The next call from outside
 * resumes the coroutine. The host says so by a switch and qprof_end(), or it forgets to. */
static void a_vm_that_returns_to_its_host_from_a_coroutine(void **state)
{
    for (int forgets = 0; forgets < 2; forgets++) {
        qprof_vm *vm = first_vm(exact);
        qprof_stack first, second, co;
        qprof_MethodID a = define("a"), b = define("b"), c = define("c"), d = define("d");
        qprof_stack_new(&first);
        qprof_stack_new(&second);
        qprof_enter(&first, 0, a);
        play_clock_add(1);
        qprof_stack_create(&co, &first);
        qprof_switch(vm, &co);
        qprof_token tc = qprof_enter(&co, 0, c);
        play_clock_add(2);
        if (!forgets) {
            qprof_switch(vm, &first);
            qprof_end(&first);
            play_clock_add(1000); /* of the host */
        }
        qprof_token tb = qprof_enter(&second, 0, b);
        play_clock_add(4);
        qprof_switch(vm, &co);
        qprof_token td = qprof_enter(&co, tc, d);
        play_clock_add(8);
        qprof_leave(&co, td);
        qprof_switch(vm, &second);
        play_clock_add(16);
        qprof_leave(&second, tb);
        assert_null(second.outside);
        qprof_stack_end(vm, &co);
        qprof_stack_end(vm, &first);
        qprof_vm_close(vm);
        play_end(*state);
        assert_int_equal(self_of(state, "a"), 1);
        assert_int_equal(self_of(state, "b"), 20);
        assert_int_equal(self_of(state, "c"), 2);
        assert_int_equal(self_of(state, "d"), 8);
        assert_no_mistake(state);
    }
}

/* A later call from outside continues the stack of an earlier one, which the VM ran last. */
static void a_call_that_continues_the_one_before_it(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_stack first, second;
    qprof_MethodID a = define("a"), b = define("b"), c = define("c");
    qprof_stack_new(&first);
    qprof_stack_new(&second);
    qprof_token ta = qprof_enter(&first, 0, a);
    play_clock_add(1);
    qprof_stack_create(&second, &first);
    qprof_switch(vm, &second);
    qprof_switch(vm, &first);
    qprof_end(&first);
    play_clock_add(1000);
    qprof_token tb = qprof_enter(&second, 0, b);
    play_clock_add(2);
    qprof_switch(vm, &first);
    assert_ptr_equal(qprof_thread_mount(first.th), first.th);
    qprof_token tc = qprof_enter(&first, ta, c);
    play_clock_add(4);
    qprof_leave(&first, tc);
    qprof_leave(&first, ta);
    qprof_switch(vm, &second);
    play_clock_add(8);
    qprof_leave(&second, tb);
    assert_null(second.outside);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(self_of(state, "a"), 1);
    assert_int_equal(self_of(state, "b"), 10);
    assert_int_equal(self_of(state, "c"), 4);
    assert_no_mistake(state);
}

/* The program ends inside a coroutine, as by exit(); or the coroutine is freed before the VM is closed. */
static void a_vm_that_is_closed_while_a_coroutine_runs(void **state)
{
    for (int is_freed = 0; is_freed < 2; is_freed++) {
        qprof_vm *vm = first_vm(exact);
        qprof_stack co;
        qprof_MethodID a = define("a"), c = define("c");
        qprof_enter(&vm->main, 0, a);
        play_clock_add(1);
        qprof_stack_create(&co, &vm->main);
        qprof_switch(vm, &co);
        qprof_enter(&co, 0, c);
        play_clock_add(100);
        if (is_freed)
            qprof_stack_end(vm, &co);
        qprof_vm_close(vm);
        play_end(*state);
        assert_int_equal(self_of(state, "a"), 1);
        assert_int_equal(self_of(state, "c"), 100);
        assert_no_mistake(state);
    }
}

static void *end_stack(void *stack)
{
    static qprof_vm vm = {.run = 1}; /* of which a collector's thread knows nothing else */
    vm.running = &vm.main;
    qprof_stack_end(&vm, stack);
    return NULL;
}

/* An OS thread that records nothing, as that of a collector, frees a coroutine with open calls. */
static void a_stack_that_another_os_thread_ends(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_stack co;
    pthread_t collector;
    qprof_MethodID a = define("a"), c = define("c");
    qprof_token ta = qprof_enter(&vm->main, 0, a);
    qprof_stack_create(&co, &vm->main);
    qprof_stack *from = qprof_switch(vm, &co);
    qprof_enter(&co, 0, c);
    play_clock_add(5);
    qprof_switch(vm, from);
    assert_int_equal(pthread_create(&collector, NULL, end_stack, &co), 0);
    assert_int_equal(pthread_join(collector, NULL), 0);
    play_clock_add(3);
    qprof_leave(&vm->main, ta);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(self_of(state, "a"), 3);
    assert_int_equal(self_of(state, "c"), 5);
    assert_int_equal(play_file_diagnostic(*state, "destroyed_live"), 1);
    assert_no_mistake(state);
}

/* Objects that a host allocates zeroed, and no handle at all. */
static void a_stack_of_zeros_is_a_new_one(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_stack co = {0}, never = {0};
    qprof_MethodID a = define("a"), c = define("c");
    qprof_token ta = qprof_enter(&vm->main, 0, a);
    qprof_stack *from = qprof_switch(vm, &co);
    qprof_token tc = qprof_enter(&co, 0, c);
    play_clock_add(3);
    qprof_leave(&co, tc);
    qprof_switch(vm, from);
    qprof_stack_end(vm, &co);
    qprof_stack_end(vm, &never);
    qprof_token_restore(NULL, ta);
    qprof_token_unwind(NULL, ta);
    assert_int_equal(qprof_token_resume(NULL, ta, a), QPROF_NO_TOKEN);
    qprof_leave(&vm->main, ta);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(self_of(state, "c"), 3);
    assert_no_mistake(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(an_error_that_leaves_a_coroutine_of_a_nested_vm),
        PLAY_TEST(a_stack_that_ends_while_it_runs),
        PLAY_TEST(a_vm_that_returns_to_its_host_from_a_coroutine),
        PLAY_TEST(a_call_that_continues_the_one_before_it),
        PLAY_TEST(a_vm_that_is_closed_while_a_coroutine_runs),
        PLAY_TEST(a_stack_that_another_os_thread_ends),
        PLAY_TEST(a_stack_of_zeros_is_a_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
