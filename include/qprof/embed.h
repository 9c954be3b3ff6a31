/* qprof/embed.h: the front door for a language runtime.
 *
 *     qprof_vm vm;                                    in the runtime's own VM or state
 *     qprof_vm_open(&vm, NULL);                       the VM begins
 *     id = qprof_define("f", NULL, "a.src", NULL, 0); it loads a function; 0 names none
 *     frame->token = qprof_enter(stack, caller->token, id);
 *     qprof_leave(stack, frame->token);               a call, and its end
 *     qprof_vm_close(&vm);                            the VM ends
 *
 * The token is a word of the host's own frame: the frame's place in the call tree. 0 in place of the
 * caller's token says that the call comes from outside of the VM. A host that keeps no token for a call
 * uses qprof_push() and qprof_pop(). One process may have any number of VMs, in turn, nested and in
 * threads; a VM may run on any OS thread, on one at a time. Nothing but a test happens while nothing is
 * recorded. Where the mode, triggers or traces need more than the code here, it calls the library.
 *
 * Guide: docs/embedding.md. */
#ifndef QPROF_EMBED_H
#define QPROF_EMBED_H

#include "qprof.h"

#if defined(QPROF_NO_INLINE)
#error "qprof/embed.h is in line: do not define QPROF_NO_INLINE"
#endif

/* A stack of calls: of a VM, or of one of its coroutines. It lies in the host's object and needs no
 * other memory until it records. It must not move before it ends. Only embed.h reads and writes it. */
typedef struct qprof_stack {
    qprof_thread *th; /* never NULL; closed until it first runs */
    /* Of the call from outside that mounted it, or of what the request that did is in; 0: neither did. */
    qprof_token first;
    qprof_thread *outside; /* what the OS thread was on before; NULL: it does not run */
    qprof_token
        top; /* of a handle that is shared: its top frame while it does not run; 0: none */
    uint64_t creator; /* the path that created it; 0: unknown */
    int is_begun;     /* mounted by qprof_begin(), and not by a switch */
} qprof_stack;

/* A VM. */
typedef struct qprof_vm {
    qprof_stack main;
    qprof_stack *running; /* of its stacks, the one that runs, or ran last */
    qprof_thread
        *shared; /* by those of its stacks that got no handle of their own; NULL: none */
    int run;     /* from qprof_open(); 0 or less: it is not recorded */
} qprof_vm;

/* ---- open and close ---------------------------------------------------------------------- */

/** Make a stack that does not run yet.
 *
 * Nothing is allocated.
 *
 * @param s  of a coroutine that is created
 * Thread safety: any thread. */
static inline void qprof_stack_new(qprof_stack *s)
{
    static qprof_thread closed; /* nothing writes to it */
    s->th = &closed;
    s->first = 0;
    s->outside = NULL;
    s->top = 0;
    s->creator = 0;
    s->is_begun = 0;
}

/** Make a stack for a coroutine that the running code creates.
 *
 * Reports show its time in the totals of the calls that are open on the stack that creates it. Nothing is
 * allocated.
 *
 * @param s     of the coroutine
 * @param from  the stack that runs
 * Thread safety: as qprof_enter(). Cost: a call of the library. */
static inline void qprof_stack_create(qprof_stack *s, const qprof_stack *from)
{
    qprof_stack_new(s);
    s->creator = qprof_thread_path(from->th);
}

/** Begin to use a VM with the recorder.
 *
 * The first one of a process begins the run.
 *
 * @param vm       any memory of the host; it must not move
 * @param options  see qprof_open()
 * @return 1 if the VM is recorded, 0 if no recording is asked for; else QPROF_E_*, and
 *         qprof_error_text() says why. The VM may use all functions in either case
 * Thread safety: any thread. Cost: less than 1 ms. */
static inline int qprof_vm_open(qprof_vm *vm, const char *options)
{
    qprof_stack_new(&vm->main);
    vm->running = &vm->main;
    vm->shared = NULL;
    vm->run = qprof_open(QPROF_INLINE_VERSION, options);
    return vm->run > 0 ? 1 : vm->run;
}

/* ---- calls whose token the host keeps ---------------------------------------------------- */

/* Continue on a stack. @param entered  see qprof_switch_by(); or 0. @return what the OS thread was on */
static inline qprof_thread *qprof_stack_mount(qprof_stack *s, qprof_token entered)
{
    qprof_thread *th = s->th, *before;
    before = entered ? qprof_token_mount(th, entered) : qprof_thread_mount(th);
    if (QPROF_UNLIKELY(th->user && th->user != (uintptr_t)s)) {
        th->user = (uintptr_t)s;
        qprof_token_restore(th, s->top);
    }
    return before;
}

/** Mount a stack that is called from outside of the VM.
 *
 * qprof_enter() does it for a call whose caller has the token 0. A host whose calls are sampled from its own
 * stack does it itself.
 *
 * @param s  of a VM or coroutine
 * @return 1: until qprof_end(), or the end of the first call from outside; 0: it runs already, or nothing
 *         is recorded
 * Thread safety: as qprof_enter(). Cost: as qprof_switch(). */
static QPROF_APART int qprof_begin(qprof_stack *s)
{
    if (s->outside)
        return 0;
    if (!QPROF_LOAD(s->th->gate))
        s->th = qprof_thread_new(NULL, s->creator);
    if (!QPROF_LOAD(s->th->gate))
        return 0;
    s->outside = qprof_stack_mount(s, 0);
    return s->is_begun = 1;
}

/** Return to what the OS thread was on before qprof_begin().
 *
 * @param s  as there; one that does not run, or was resumed by a switch: nothing happens
 * Thread safety: as qprof_enter(). Cost: as qprof_switch(). */
static QPROF_APART void qprof_end(qprof_stack *s)
{
    s->first = 0;
    if (!s->is_begun)
        return;
    if (QPROF_UNLIKELY(s->th->user))
        s->top = qprof_token_top(s->th);
    qprof_thread_mount(s->outside);
    s->outside = NULL;
    s->is_begun = 0;
}

/* A call from outside of the VM. */
static QPROF_APART qprof_token qprof_enter_first(qprof_stack *s, qprof_MethodID function)
{
    qprof_token token;
    qprof_begin(s);
    if (!QPROF_LOAD(s->th->gate))
        return QPROF_NO_TOKEN;
    token = qprof_cold_enter(s->th, qprof_token_top(s->th), function); /* small: it is rare */
    if (s->is_begun && !s->first && token != QPROF_NO_TOKEN)
        s->first = token;
    return token;
}

/** Enter a function.
 *
 * @param s         the stack that runs
 * @param caller    token of the frame that calls; 0: the call comes from outside of the VM, or from code
 *                  without a token. Frames above the caller that the host has not left end now
 * @param function  from qprof_define()
 * @return the token of the new frame, never 0; QPROF_NO_TOKEN: it is not recorded
 * Thread safety: one OS thread at a time. Cost: about 1 ns, and a clock read with -time=exact. */
static inline qprof_token qprof_enter(qprof_stack *s, qprof_token caller,
                                      qprof_MethodID function)
{
    if (QPROF_UNLIKELY(!caller))
        return qprof_enter_first(s, function);
    return qprof_token_enter(s->th, caller, function);
}

/** Leave a frame: execution resumes in its caller. Frames above it end with it.
 *
 * @param s      the stack that runs
 * @param frame  from qprof_enter(); QPROF_NO_TOKEN: nothing happens
 * Thread safety: as qprof_enter(). Cost: the same. */
static inline void qprof_leave(qprof_stack *s, qprof_token frame)
{
    qprof_token_leave(s->th, frame);
    if (QPROF_UNLIKELY(frame == s->first))
        qprof_end(s);
}

/** Replace a frame by a tail call: the frame ends, and its caller calls the function.
 *
 * @param s         the stack that runs
 * @param frame     the frame that ends
 * @param function  from qprof_define()
 * @return as qprof_enter()
 * Thread safety: as qprof_enter(). Cost: of a leave and an enter. */
static inline qprof_token qprof_tail(qprof_stack *s, qprof_token frame, qprof_MethodID function)
{
    qprof_token token = qprof_token_tail(s->th, frame, function);
    if (QPROF_UNLIKELY(frame == s->first))
        s->first = token;
    return token;
}

/** Resume in a frame that catches an error: all frames above it end.
 *
 * @param s      the stack that runs
 * @param frame  token of the frame that catches; 0: the error leaves the VM, no frame is left;
 *               QPROF_NO_TOKEN: nothing happens
 * Thread safety: as qprof_enter(). Cost: a step for each frame that ends. */
static inline void qprof_unwind(qprof_stack *s, qprof_token frame)
{
    if (frame != QPROF_NO_TOKEN)
        qprof_token_unwind(s->th, frame ? frame : QPROF_NO_TOKEN);
    if (!frame)
        qprof_end(s);
}

/** Return the token of the frame on top, for code that calls and keeps no token of its own, or that will
 * catch an error.
 *
 * @param s  the stack that runs
 * @return the token; if nothing is recorded, QPROF_NO_TOKEN
 * Thread safety: as qprof_enter(). Cost: three instructions. */
static inline qprof_token qprof_top(qprof_stack *s)
{
    return qprof_token_top(s->th);
}

/* ---- requests ----------------------------------------------------------------------------- */

/** Begin a request of a server: what the stack does until its end belongs to the endpoint.
 *
 * It lies in the frame on top, and ends with it at the latest: see qprof_request_begin(). The host calls on
 * with the token of that frame, or, where there is none, with 0.
 *
 * @param s            the stack that runs, or one that does not: it is mounted until the end of the request
 * @param endpoint     as there
 * @param traceparent  see qprof_read_traceparent(); one that is wrong is ignored
 * Thread safety: as qprof_enter(). Cost: as there. */
static QPROF_APART void qprof_enter_request(qprof_stack *s, const char *endpoint,
                                            const char *traceparent)
{
    unsigned char trace[16], span[8];
    int has_ids = qprof_read_traceparent(traceparent, trace, span);
    qprof_token below = qprof_begin(s) ? qprof_top(s) : QPROF_NO_TOKEN;
    if (below != QPROF_NO_TOKEN)
        s->first = below; /* of no call: none that ends unmounts the stack */
    qprof_request_begin_of(s->th, endpoint, has_ids ? trace : NULL, has_ids ? span : NULL);
}

/** End the innermost request of a stack, with the frames that were entered in it.
 *
 * @param s           the stack that runs
 * @param has_failed  not 0: it is counted as failed
 * Thread safety: as qprof_enter(). Cost: as qprof_request_end(). */
static QPROF_APART void qprof_leave_request(qprof_stack *s, int has_failed)
{
    qprof_request_end_of(s->th, has_failed);
    if (s->is_begun && s->first && s->first == qprof_top(s) &&
        !QPROF_AT(s->th, qprof_node, s->first - QPROF_TOP_TOKEN)->parent)
        qprof_end(s); /* it was mounted by the request */
}

/* ---- metrics ------------------------------------------------------------------------------ */

/** Add to a metric of qprof_metric_create(), for the call on top. See qprof_record_metric().
 *
 * @param s       the stack that runs, or of the VM's stacks the one that ran last: qprof_vm.running
 * @param metric  as there
 * @param n       as there
 * Thread safety: as qprof_enter(). Cost: about 1 ns. */
static inline void qprof_add(qprof_stack *s, int metric, uint64_t n)
{
    qprof_record_metric(s->th, metric, n);
}

/* ---- memory ------------------------------------------------------------------------------- */

/** Record that a block of memory was allocated for the call on top.
 *
 * See qprof_record_alloc(). Memory that is allocated outside of all calls counts for the stack as a
 * whole, once it has run.
 *
 * @param s  the stack that runs, or of the VM's stacks the one that ran last: qprof_vm.running
 * @param bytes  as there
 * Thread safety: as qprof_enter(). Cost: about 1 ns; a test if allocations are not recorded. */
static inline void qprof_allocated(qprof_stack *s, uint64_t bytes)
{
    qprof_record_alloc(s->th, bytes);
}

/** Record that a block was freed, see qprof_record_free().
 *
 * @param s      as there
 * @param bytes  as there
 * Thread safety: as qprof_enter(). Cost: the same. */
static inline void qprof_freed(qprof_stack *s, uint64_t bytes)
{
    qprof_record_free(s->th, bytes);
}

/** Record that a block has another size, see qprof_record_resize().
 *
 * @param s          as there
 * @param old_bytes  as there
 * @param new_bytes  as there
 * Thread safety: as qprof_enter(). Cost: the same. */
static inline void qprof_resized(qprof_stack *s, uint64_t old_bytes, uint64_t new_bytes)
{
    qprof_record_resize(s->th, old_bytes, new_bytes);
}

/* ---- generators --------------------------------------------------------------------------- */

/** Continue a call that was suspended: a generator, or an async function, that runs above its caller.
 *
 * Its time and its callees count where it is resumed. It is counted as a resume and not as a call.
 * Minimum and maximum are of one piece: from the entry, or a resume, to the next suspend.
 *
 * @param s         the stack that runs
 * @param caller    as for qprof_enter()
 * @param function  of the call that continues
 * @return as qprof_enter(), until it is suspended or ends: qprof_suspend(), qprof_leave()
 * Thread safety: as qprof_enter(). Cost: about 2 ns more. */
static inline qprof_token qprof_resume(qprof_stack *s, qprof_token caller,
                                       qprof_MethodID function)
{
    qprof_token token;
    if (QPROF_UNLIKELY(!caller)) {
        qprof_begin(s);
        caller = qprof_top(s);
    }
    token = qprof_token_resume(s->th, caller, function);
    if (QPROF_UNLIKELY(s->is_begun && !s->first && token != QPROF_NO_TOKEN))
        s->first = token;
    return token;
}

/** Suspend a call, which qprof_resume() will continue. Execution is in the caller.
 *
 * @param s      the stack that runs
 * @param frame  from qprof_enter() or qprof_resume()
 * Thread safety: as qprof_enter(). Cost: of qprof_leave(). */
static inline void qprof_suspend(qprof_stack *s, qprof_token frame)
{
    qprof_leave(s, frame);
}

/* ---- calls whose token the library keeps ------------------------------------------------- */

/** Enter a function above whatever is on top: native code, the collector, a finalizer in it. They nest.
 *
 * @param s         the stack that runs
 * @param function  from qprof_define(), or QPROF_METHOD_GC and the like
 * Thread safety: as qprof_enter(). Cost: as there, and three instructions. */
static inline void qprof_push(qprof_stack *s, qprof_MethodID function)
{
    if (QPROF_UNLIKELY(!s->outside))
        qprof_enter_first(s, function);
    else
        qprof_token_enter(s->th, qprof_token_top(s->th), function);
}

/** Leave a function: its innermost frame ends, with all above it.
 *
 * @param s         the stack that runs
 * @param function  the one that ends. If no frame is of it, nothing happens, and it is counted as
 *                  exit_unknown_id
 * Thread safety: as qprof_enter(). Cost: the same. */
static inline void qprof_pop(qprof_stack *s, qprof_MethodID function)
{
    qprof_thread *th = s->th;
    qprof_token top;
    if (!QPROF_LOAD(th->gate))
        return;
    top = qprof_token_top(th);
    if (QPROF_UNLIKELY(
            (top & 63) != QPROF_TOP_TOKEN ||
            !qprof_is_of(th->base, QPROF_AT(th, qprof_node, top - QPROF_TOP_TOKEN), function)))
        top = qprof_cold_find(th, function);
    qprof_leave(s, top);
}

/* ---- coroutines -------------------------------------------------------------------------- */

/** Continue on another stack of the same machine, by a native function that was entered just now.
 *
 * It is the same as qprof_switch(), but that the time since the function was entered is of the other
 * stack, and no clock is read. Only for functions that do nothing before they switch, as those with which
 * a language resumes a coroutine and yields.
 *
 * @param vm        as for qprof_switch()
 * @param to        as there
 * @param function  token of its frame, which is on top of the stack that runs; 0: as qprof_switch()
 * @return as there
 * Thread safety: as qprof_enter(). Cost: about 7 ns. */
static inline qprof_stack *qprof_switch_by(qprof_vm *vm, qprof_stack *to, qprof_token function)
{
    qprof_stack *from = vm->running;
    qprof_thread *before;
    if (vm->run <= 0 || (from == to && to == &vm->main && !to->outside))
        return from;
    if (QPROF_UNLIKELY(!to->th))
        qprof_stack_new(to);
    vm->running = to;
    if (QPROF_UNLIKELY(from->th->user))
        from->top = qprof_token_top(from->th);
    if (to == &vm->main && !to->outside) { /* from outside the host resumed `from` */
        before = qprof_thread_mount(from->outside);
    } else {
        if (!QPROF_LOAD(to->th->gate))
            to->th = qprof_thread_new(&vm->shared, to->creator); /* its user is no stack */
        before = qprof_stack_mount(to, function);
        if (from != to && from->outside)
            before = from->outside;
        /* else the OS thread was on it, or it resumed `from` itself */
        if (before != to->th || (from != to && !to->is_begun))
            to->outside = before;
    }
    if (from != to && !from->is_begun)
        from->outside = NULL;
    return from;
}

/** Continue on another stack of the same machine.
 *
 * This is neither a call nor a return: the clock of the stack that ran stops, and that of the other one
 * runs again.
 *
 * @param vm  the VM
 * @param to  of a coroutine from qprof_stack_create(), one that this function has returned, or one that
 *            qprof_enter() began and that is open; memory of zeros is as from qprof_stack_new()
 * @return the stack that ran before, to which the host switches back
 * Thread safety: as qprof_enter(). Cost: about 7 ns, and a clock read with -time=exact. */
static inline qprof_stack *qprof_switch(qprof_vm *vm, qprof_stack *to)
{
    return qprof_switch_by(vm, to, 0);
}

/** End a stack: its open frames end, and its data stay.
 *
 * @param vm  the VM
 * @param s   of a coroutine that is freed, or ends. If it runs, the host switches to another one now
 * Thread safety: as qprof_enter(). */
static inline void qprof_stack_end(qprof_vm *vm, qprof_stack *s)
{
    if (vm->running == s) {
        vm->running = &vm->main;
        if (s->outside)
            qprof_thread_mount(s->outside);
    }
    if (vm->run > 0 && s->th && QPROF_LOAD(s->th->gate))
        qprof_thread_end(s->th);
    qprof_stack_new(s);
}

/** End the use of a VM with the recorder.
 *
 * The last one of a process ends the run and writes its file.
 *
 * @param vm  from qprof_vm_open(); a second call has no effect
 * Thread safety: any thread. */
static inline void qprof_vm_close(qprof_vm *vm)
{
    if (vm->run <= 0)
        return;
    if (vm->main.is_begun) {
        qprof_stack_mount(&vm->main, 0); /* a coroutine may run */
        qprof_unwind(&vm->main, 0);
    }
    qprof_stack_end(vm, &vm->main);
    qprof_close(vm->run);
    vm->run = 0;
}

#endif
