/* toy_embed.c: a small interpreter with qprof/embed.h and everything that it has to report: calls, errors,
 * tail calls, natives, the collector, a generator, coroutines that yield, fail and are freed while they
 * run, a VM in a call of another one, a child. Its argument says what it gets wrong; 0: nothing. */
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "qprof/embed.h"

enum { /* mistake */
       LEAVE_NAMES_CALLER = 1,
       NO_UNWIND,
       TAIL_IS_A_CALL,
       NO_SWITCH,
       NO_SWITCH_BACK,
       NO_SUSPEND,
       NO_RESUME,
       NO_POP,
       DEFINED_EARLY,
       USED_UNLOADED,
       CHILD,
       CLOSED_EARLY,
       UNWOUND_LATE
};
static int mistake;

enum { MAIN, FIB, RAISE, TRY, HOP, SKIP, NATIVE, GENERATE, WORK, RUN, N_FUNCTIONS };
enum { YIELDS, FAILS, IS_FREED }; /* what a coroutine does */
static const char *const names[N_FUNCTIONS] = {"main", "fib",    "raise",    "try",  "hop",
                                               "skip", "native", "generate", "work", "run"};

typedef struct frame {
    struct frame *caller; /* NULL: outside of the VM, or the end of a coroutine's stack */
    qprof_token token;
} frame;

typedef struct {
    qprof_stack stack;
    ucontext_t place, back;
    jmp_buf *handler;
    int kind, has_failed;
    char memory[1 << 16];
} coroutine;

typedef struct {
    qprof_vm profile;
    qprof_MethodID ids[N_FUNCTIONS];
    qprof_stack *stack;   /* that runs */
    coroutine *coroutine; /* NULL: none */
    jmp_buf *handler;
    int depth;         /* of VMs that call each other */
    qprof_token piece; /* of the generator */
} vm;

static vm *running;

static void run_vm(int depth);
static void call(vm *m, frame *caller, int function, int n);

/* ---- calls ------------------------------------------------------------------------------- */

static frame enter(vm *m, frame *caller, int function)
{
    frame f = {caller, 0};
    f.token = qprof_enter(m->stack, caller ? caller->token : 0, m->ids[function]);
    return f;
}

static void leave(vm *m, const frame *f)
{
    const frame *named = mistake == LEAVE_NAMES_CALLER && f->caller ? f->caller : f;
    qprof_leave(m->stack, named->token);
}

static void fib(vm *m, frame *f, int n)
{
    for (int i = 1; n >= 2 && i <= 2; i++)
        call(m, f, FIB, n - i);
}

static void raise_error(vm *m, frame *f, int n)
{
    if (!n)
        longjmp(*m->handler, 1);
    call(m, f, RAISE, n - 1);
}

static void try_to(vm *m, frame *f, int function, int n)
{
    jmp_buf here, *outer = m->handler;
    m->handler = &here;
    if (!setjmp(here))
        call(m, f, function, n);
    else if (mistake != NO_UNWIND)
        qprof_unwind(m->stack, f->token);
    m->handler = outer;
}

static void tail_call(vm *m, frame *f)
{
    qprof_MethodID skip = m->ids[SKIP];
    f->token = mistake == TAIL_IS_A_CALL ? qprof_enter(m->stack, f->token, skip)
                                         : qprof_tail(m->stack, f->token, skip);
    call(m, f, FIB, 2);
}

static void native(vm *m, int n)
{
    frame f = {NULL, 0};
    qprof_push(m->stack, m->ids[NATIVE]);
    f.token = qprof_top(m->stack);
    call(m, &f, FIB, n);
    qprof_push(m->stack, QPROF_METHOD_GC);
    qprof_pop(m->stack, QPROF_METHOD_GC);
    if (n == 1 && m->depth)
        run_vm(m->depth - 1);
    if (mistake != NO_POP)
        qprof_pop(m->stack, m->ids[NATIVE]);
}

/* ---- a generator, which runs on the stack of its caller ---------------------------------------- */

static void generate(vm *m, frame *caller, int n)
{
    for (int i = 0; i < n; i++) {
        frame f = {caller, m->piece};
        if (!i)
            f = enter(m, caller, GENERATE);
        else if (mistake != NO_RESUME)
            f.token = qprof_resume(m->stack, caller->token, m->ids[GENERATE]);
        m->piece = f.token;
        call(m, &f, FIB, 2);
        if (i == n - 1)
            leave(m, &f);
        else if (mistake != NO_SUSPEND)
            qprof_suspend(m->stack, f.token);
        call(m, caller, FIB, 1);
    }
}

/* ---- coroutines -------------------------------------------------------------------------- */

static void yield(vm *m)
{
    coroutine *c = m->coroutine;
    swapcontext(&c->place, &c->back);
}

static void work(vm *m, frame *f)
{
    call(m, f, FIB, 3);
    yield(m);
    if (m->coroutine->kind == FAILS)
        call(m, f, RAISE, 2);
    call(m, f, FIB, 2);
}

static void begin_coroutine(void)
{
    vm *m = running;
    coroutine *c = m->coroutine;
    jmp_buf here;
    m->handler = c->handler = &here;
    if (!setjmp(here)) {
        call(m, NULL, WORK, 0);
    } else {
        c->has_failed = 1;
        if (mistake != UNWOUND_LATE)
            qprof_unwind(&c->stack, 0);
    }
    swapcontext(&c->place, &c->back);
}

static void resume(vm *m, coroutine *c)
{
    jmp_buf *handler = m->handler;
    qprof_stack *from = m->stack;
    if (mistake != NO_SWITCH)
        from = qprof_switch(&m->profile, &c->stack);
    m->stack = &c->stack;
    m->coroutine = c;
    m->handler = c->handler;
    swapcontext(&c->back, &c->place);
    if (c->kind == IS_FREED)
        qprof_stack_end(&m->profile, &c->stack);
    m->coroutine = NULL;
    m->stack = from;
    m->handler = handler;
    if (mistake != NO_SWITCH_BACK && mistake != NO_SWITCH)
        qprof_switch(&m->profile, from);
    if (mistake == UNWOUND_LATE)
        qprof_unwind(&c->stack, 0);
    if (c->has_failed)
        longjmp(*m->handler, 1);
}

static void run_coroutine(vm *m, frame *f, int kind)
{
    coroutine *c = calloc(1, sizeof *c);
    if (!c)
        exit(1);
    c->kind = kind;
    qprof_stack_create(&c->stack, m->stack);
    getcontext(&c->place);
    c->place.uc_stack.ss_sp = c->memory;
    c->place.uc_stack.ss_size = sizeof c->memory;
    makecontext(&c->place, begin_coroutine, 0);
    resume(m, c);
    call(m, f, FIB, 2);
    if (kind != IS_FREED)
        resume(m, c);
    qprof_stack_end(&m->profile, &c->stack);
    free(c);
}

/* ---- a program --------------------------------------------------------------------------- */

static void call(vm *m, frame *caller, int function, int n)
{
    frame f = enter(m, caller, function);
    if (function == FIB)
        fib(m, &f, n);
    else if (function == RAISE)
        raise_error(m, &f, n);
    else if (function == TRY)
        try_to(m, &f, n == FAILS ? RUN : RAISE, n);
    else if (function == HOP)
        tail_call(m, &f);
    else if (function == WORK)
        work(m, &f);
    else if (function == RUN)
        run_coroutine(m, &f, n);
    leave(m, &f);
}

static void program(vm *m)
{
    frame f = enter(m, NULL, MAIN);
    call(m, &f, FIB, 7);
    for (int i = 0; i < 4; i++) {
        call(m, &f, TRY, 2); /* raises an error two frames above it */
        call(m, &f, HOP, 0);
        native(m, i);
        generate(m, &f, 3);
        call(m, &f, RUN, YIELDS);
        call(m, &f, TRY, FAILS);
        call(m, &f, RUN, IS_FREED);
    }
    leave(m, &f);
}

static void define(vm *m)
{
    for (int f = 0; f < N_FUNCTIONS; f++)
        m->ids[f] = qprof_define(names[f], NULL, "toy.src", NULL, 0);
}

static void run_vm(int depth)
{
    vm *outer = running, *m = calloc(1, sizeof *m);
    if (!m)
        exit(1);
    if (mistake == DEFINED_EARLY)
        define(m);
    qprof_vm_open(&m->profile, NULL);
    if (outer)
        qprof_stack_create(&m->profile.main, outer->stack);
    running = m;
    m->stack = &m->profile.main;
    m->depth = depth;
    if (mistake != DEFINED_EARLY)
        define(m);
    if (mistake == CLOSED_EARLY)
        qprof_vm_close(&m->profile);
    program(m);
    if (!outer && fork() == 0) {
        if (mistake == CHILD)
            call(m, NULL, FIB, 3);
        _exit(0);
    }
    if (!outer)
        wait(NULL);
    qprof_unload(m->ids[FIB]);
    qprof_unload(0); /* of a function that was never defined */
    if (mistake == USED_UNLOADED)
        call(m, NULL, FIB, 3);
    qprof_vm_close(&m->profile);
    running = outer;
    free(m);
}

int main(int n, char **arguments)
{
    mistake = n > 1 ? (int)strtol(arguments[1], NULL, 10) : 0;
    run_vm(1);
    return 0;
}
