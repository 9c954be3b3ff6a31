/* toy.c: a small interpreter with everything that an integration has to report: calls, natives, errors,
 * tail calls, coroutines, counters in place, a clear. FRONT says how it reports, MISTAKE what it gets
 * wrong; 0: nothing. Read enter, leave, catch and switch_to first. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define QPROF_CHECKED
#include "qprof.h"

enum { IDS = 1, VIRTUAL_IDS, TOKENS }; /* FRONT */
enum {                                 /* MISTAKE */
       EXIT_NAMES_LEAVER = 1,
       NO_UNWIND,
       NO_TAIL,
       NO_SWITCH,
       NO_MOUNT,
       STACK_ID_TWICE,
       METHOD_ID_TWICE,
       UNREGISTERED,
       BLOCKS_FROM_ONE,
       STALE_COUNTERS,
       CHILD,
       /* of our own */
       NATIVE_ENDS_TWICE,
       OTHER_OS_THREAD,
       LINES_FROM_ZERO,
       EARLIER_COUNTERS,
       UNREPORTED_TAIL,
       BLOCK_BEYOND_END
};
#ifndef MISTAKE
#define MISTAKE 0
#endif

typedef struct frame {
    struct frame *caller;
    unsigned function, depth;
    qprof_token token;
} frame;

typedef struct {
    VthreadID vt;
    qprof_thread *th;
    frame *top;
    ucontext_t place, *back;
    char memory[1 << 16];
} stack;

enum {
    MAIN,
    FIB,
    RAISE,
    DEEP,
    HOP,
    SKIP,
    GENERATE,
    NATIVE,
    RESUME,
    TWICE,
    N_FUNCTIONS,
    N_LINES = 3
};
static const char *const names[N_FUNCTIONS] = {"main", "fib",      "raise",  "deep",   "hop",
                                               "skip", "generate", "native", "resume", "twice"};
static stack main_stack = {.vt = 1}, other_stack = {.vt = 2};
static stack *running = &main_stack;
static uint64_t *counters[N_FUNCTIONS], unused[N_LINES + 1];
static uint32_t seen_changes;
static jmp_buf *handler;

/* ---- names and lines --------------------------------------------------------------------- */

static qprof_MethodID id_of(unsigned function)
{
    if (MISTAKE == METHOD_ID_TWICE && function == TWICE)
        return FIB + 1;
    return function + 1;
}

static void load_functions(void)
{
    for (unsigned f = 0; f < N_FUNCTIONS; f++) {
        qprof_LineInfo lines[N_LINES];
        for (int i = 0; i < N_LINES; i++) /* every function has three lines and an empty one */
            lines[i] = (qprof_LineInfo){i, (int)f * 4 + i + (MISTAKE != LINES_FROM_ZERO)};
        if (MISTAKE != UNREGISTERED || f != HOP)
            qprof_register_method_id(id_of(f), names[f], NULL, 0, "toy.src", lines, N_LINES);
    }
}

/* Counts in place, and asks again when the library says so. */
static void line(unsigned function, int n)
{
    n += MISTAKE == BLOCKS_FROM_ONE;
    if (MISTAKE == BLOCK_BEYOND_END) {
        qprof_record_bb_counts(n + 1, 1);
        return;
    }
    if (qprof_is_counting(running->th) && counters[function])
        counters[function][n < N_LINES ? n : N_LINES - 1]++;
}

static void ask_for_counters(unsigned function)
{
    uint32_t changes = *qprof_changes();
    if (changes != seen_changes && MISTAKE != STALE_COUNTERS) {
        memset(counters, 0, sizeof counters);
        seen_changes = changes;
    }
    if (!counters[function])
        counters[function] = qprof_counter_bank(id_of(function));
}

/* ---- calls ------------------------------------------------------------------------------- */

static uintptr_t stack_id(const frame *f)
{
    if (MISTAKE == STACK_ID_TWICE)
        return f->function + 1;
    return f->depth;
}

static void report_exit(const stack *s, uintptr_t id)
{
    if (FRONT == IDS)
        qprof_record_fn_exit(id);
    else
        qprof_record_fn_exit_vt(id, s->vt);
}

static void enter(stack *s, frame *f, unsigned function)
{
    frame *caller = s->top;
    stack *reported = MISTAKE == NO_SWITCH ? &main_stack : s;
    *f = (frame){caller, function, caller ? caller->depth + 1 : 1, 0};
    s->top = f;
    ask_for_counters(function);
    if (MISTAKE == UNREPORTED_TAIL && function == SKIP)
        return;
    if (FRONT == IDS)
        qprof_record_fn_entry(id_of(function), stack_id(f));
    else if (FRONT == VIRTUAL_IDS)
        qprof_record_fn_entry_vt(id_of(function), stack_id(f), reported->vt);
    else
        f->token = qprof_token_enter(reported->th,
                                     caller ? caller->token : qprof_token_top(reported->th),
                                     id_of(function));
}

static void leave(stack *s, frame *f)
{
    frame *caller = f->caller;
    stack *reported = MISTAKE == NO_SWITCH ? &main_stack : s;
    s->top = caller;
    if (FRONT == TOKENS)
        qprof_token_leave(reported->th, f->token);
    else if (MISTAKE == EXIT_NAMES_LEAVER)
        report_exit(reported, stack_id(f));
    else
        report_exit(reported, caller ? stack_id(caller) : 0);
    if (MISTAKE == NATIVE_ENDS_TWICE && f->function == NATIVE) {
        if (FRONT == TOKENS)
            qprof_token_leave(reported->th, f->token);
        else
            report_exit(reported, 12345);
    }
}

/* An error was caught in this frame. */
static void catch (stack *s, frame *f)
{
    s->top = f;
    if (MISTAKE == NO_UNWIND)
        return;
    if (FRONT == TOKENS)
        qprof_token_unwind(s->th, f->token);
    else
        report_exit(s, stack_id(f));
}

/* The frame ends, and its memory serves a function that its caller calls. */
static void tail_call(stack *s, frame *f, unsigned function)
{
    frame *caller = f->caller;
    if (MISTAKE == UNREPORTED_TAIL) {
        f->function = function;
        ask_for_counters(function);
        return;
    }
    if (MISTAKE != NO_TAIL)
        leave(s, f);
    s->top = caller;
    enter(s, f, function);
}

static void check_depth(const stack *s)
{
    unsigned depth = s->top ? s->top->depth : 0;
    if (FRONT == IDS)
        qprof_assert_depth(depth);
    else if (FRONT == VIRTUAL_IDS)
        qprof_assert_depth_vt(depth, s->vt);
    else
        qprof_assert_depth_of(s->th, depth);
}

/* ---- coroutines -------------------------------------------------------------------------- */

static void mount(stack *s)
{
    running = s;
    if (FRONT != IDS && (MISTAKE != NO_SWITCH || s == &main_stack) && MISTAKE != NO_MOUNT)
        qprof_thread_mount(s->th);
}

static void yield(void)
{
    mount(&main_stack);
    swapcontext(&other_stack.place, other_stack.back);
}

static void call(stack *s, unsigned function, int n);

static void run_other(void)
{
    call(&other_stack, GENERATE, 3);
    mount(&main_stack);
    setcontext(other_stack.back);
}

static void resume(void)
{
    ucontext_t here;
    other_stack.back = &here;
    mount(&other_stack);
    swapcontext(&here, &other_stack.place);
}

/* ---- functions --------------------------------------------------------------------------- */

static void try_to(stack *s, unsigned function, int n)
{
    frame *here = s->top;
    jmp_buf mine, *outer = handler;
    handler = &mine;
    if (setjmp(mine) == 0)
        call(s, function, n);
    else
        catch (s, here);
    handler = outer;
}

static void fib(stack *s, int n)
{
    if (n < 2)
        return;
    line(FIB, 1);
    call(s, FIB, n - 1);
    call(s, FIB, n - 2);
    line(FIB, 2);
}

static void generate(stack *s, int n)
{
    for (int i = 0; i < n; i++) {
        call(s, FIB, 2);
        line(GENERATE, 1);
        yield();
    }
}

static void body(stack *s, unsigned function, int n)
{
    if (function == FIB) {
        fib(s, n);
    } else if (function == RAISE) {
        if (n)
            call(s, RAISE, n - 1);
        else
            longjmp(*handler, 1);
    } else if (function == DEEP) {
        if (n)
            call(s, DEEP, n - 1);
        call(s, NATIVE, 0);
    } else if (function == SKIP) {
        call(s, FIB, 1);
    } else if (function == GENERATE) {
        generate(s, n);
    } else if (function == RESUME) {
        resume();
    } else if (function == NATIVE) {
        call(s, FIB, 1); /* a native function that calls back */
    }
}

static void call(stack *s, unsigned function, int n)
{
    frame f;
    enter(s, &f, function);
    if (function != NATIVE && function != RESUME)
        line(function, 0);
    body(s, function, n);
    if (function == HOP) {
        tail_call(s, &f, SKIP);
        line(SKIP, 0);
        body(s, SKIP, 0);
    }
    leave(s, &f);
}

static void coroutines(stack *s)
{
    if (FRONT == IDS)
        return;
    getcontext(&other_stack.place);
    other_stack.place.uc_stack.ss_sp = other_stack.memory;
    other_stack.place.uc_stack.ss_size = sizeof other_stack.memory;
    other_stack.top = NULL;
    makecontext(&other_stack.place, run_other, 0);
    for (int i = 0; i < 4; i++) {
        call(s, RESUME, 0);
        call(s, FIB, 2);
    }
}

static void fork_child(stack *s)
{
    pid_t child = fork();
    if (child == 0) {
        if (MISTAKE == CHILD)
            call(s, DEEP, 1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void *use_handle(void *of)
{
    qprof_thread *th = of;
    qprof_entry(th, id_of(FIB), 1000);
    qprof_exit(th, 1);
    return NULL;
}

static void program(stack *s)
{
    frame f;
    enter(s, &f, MAIN);
    line(MAIN, 0);
    call(s, FIB, 8);
    check_depth(s);
    call(s, NATIVE, 0);
    for (int i = 0; i < 3; i++) {
        try_to(s, RAISE, i);
        call(s, DEEP, 4);
        check_depth(s);
    }
    call(s, HOP, 0);
    call(s, TWICE, 0);
    call(s, HOP, 0);
    coroutines(s);
    fork_child(s);
    if (MISTAKE == STALE_COUNTERS || MISTAKE == 0)
        qprof_clear_data();
    for (int i = 0; i < 3; i++)
        call(s, FIB, 3);
    check_depth(s);
    if (MISTAKE == OTHER_OS_THREAD && FRONT == IDS) {
        pthread_t t;
        pthread_create(&t, NULL, use_handle, s->th);
        pthread_join(t, NULL);
    }
    leave(s, &f);
}

static void run(void)
{
    qprof_InitInfo info = {0, NULL, NULL, FRONT != IDS};
    if (qprof_initialize_ex(&info) != 0)
        fprintf(stderr, "toy: %s\n", qprof_error_text());
    load_functions();
    if (FRONT == IDS) {
        main_stack.th = qprof_thread_handle(QPROF_INLINE_VERSION);
    } else {
        main_stack.th = qprof_thread_handle_vt(1, QPROF_INLINE_VERSION);
        other_stack.th = qprof_thread_handle_vt(2, QPROF_INLINE_VERSION);
        mount(&main_stack);
    }
    program(&main_stack);
    if (FRONT == IDS)
        qprof_shutdown();
    else
        qprof_shutdown_vt(1);
}

int main(void)
{
    run();
    if (MISTAKE != EARLIER_COUNTERS) {
        for (unsigned f = 0; f < N_FUNCTIONS; f++)
            counters[f] = NULL;
    } else {
        for (unsigned f = 0; f < N_FUNCTIONS; f++)
            counters[f] = unused; /* memory of its own: what a host keeps may be unmapped */
    }
    seen_changes = 0;
    run();
    return 0;
}
