/* calls.c: the observers of calls and fibers, and the open calls of each fiber. Read on_begin() first.
 *
 * The engine announces the end of every observed call, also of those that an exception ends. What it does
 * not announce are calls that a fatal error has ended and that something in the middle has caught: they are
 * found by the next call, whose callers they are not. */
#include "recorder.h"

static fiber main_fiber;

/* ---- open calls -------------------------------------------------------------------------- */

static void close_top(fiber *c)
{
    qprof_token token = c->calls[--c->n_calls].token;
    if (QPROF_LIKELY(token))
        qprof_leave(c->stack, token);
}

static int has_room(fiber *c)
{
    if (QPROF_LIKELY(c->n_calls < c->n_room))
        return 1;
    size_t n = c->n_room ? 2 * c->n_room : 64;
    open_call *calls = realloc(c->calls, n * sizeof *calls);
    if (!calls)
        return 0;
    c->calls = calls;
    c->n_room = n;
    return 1;
}

static void open_one(fiber *c, const zend_execute_data *frame, qprof_MethodID id, int is_resume)
{
    qprof_token token = c->n_calls ? c->calls[c->n_calls - 1].token : 0;
    if (QPROF_UNLIKELY(!has_room(c)))
        return; /* its callees are then those of its caller */
    if (QPROF_LIKELY(recorder.has_calls))
        token =
            is_resume ? qprof_resume(c->stack, token, id) : qprof_enter(c->stack, token, id);
    c->calls[c->n_calls++] = (open_call){frame, token, 0};
}

/* End a call, and what is above it. One that is not known began before the run. */
static void close_one(fiber *c, const zend_execute_data *frame)
{
    size_t n = c->n_calls;
    while (n && c->calls[n - 1].frame != frame)
        n--;
    while (n && c->n_calls >= n)
        close_top(c);
}

static int is_caller(const zend_execute_data *frame, const zend_execute_data *of)
{
    for (of = of->prev_execute_data; of; of = of->prev_execute_data) {
        if (of == frame)
            return 1;
    }
    return 0;
}

/* End the calls that are no callers of this one. */
static void close_stale(fiber *c, const zend_execute_data *frame)
{
    while (c->n_calls) {
        const zend_execute_data *top = c->calls[c->n_calls - 1].frame;
        if (!top || top == frame->prev_execute_data || is_caller(top, frame))
            return;
        close_top(c);
    }
}

/* ---- events ------------------------------------------------------------------------------ */

/* Does a generator continue? It begins after the instruction that created it. */
static int is_resumed(const zend_execute_data *frame)
{
    const zend_op_array *code = &frame->func->op_array;
    if (QPROF_LIKELY(!(code->fn_flags & ZEND_ACC_GENERATOR)))
        return 0;
    return frame->opline <= code->opcodes || frame->opline >= code->opcodes + code->last ||
           frame->opline[-1].opcode != ZEND_GENERATOR_CREATE;
}

static void on_begin(zend_execute_data *frame)
{
    if (!recorder.is_on)
        return;
    fiber *c = recorder.running;
    if (QPROF_UNLIKELY(!recorder.has_calls && frame->func->type != ZEND_USER_FUNCTION))
        return;
    function *f = function_of(frame->func);
    if (c->n_calls && c->calls[c->n_calls - 1].frame != frame->prev_execute_data)
        close_stale(c, frame);
    if (QPROF_UNLIKELY(!f))
        return;
    int is_resume = is_resumed(frame);
    size_t n = c->n_calls;
    open_one(c, frame, f->id, is_resume);
    if (QPROF_UNLIKELY(f->is_counted && c->n_calls > n))
        lines_enter(f, &c->calls[n], frame, is_resume);
}

static void on_end(zend_execute_data *frame, zval *result)
{
    if (!recorder.is_on)
        return;
    fiber *c = recorder.running;
    if (QPROF_UNLIKELY(recorder.has_lines && result &&
                       frame->func->type == ZEND_USER_FUNCTION && c->n_calls &&
                       c->calls[c->n_calls - 1].frame == frame))
        lines_leave(&c->calls[c->n_calls - 1], frame);
    if (QPROF_LIKELY(c->n_calls && c->calls[c->n_calls - 1].frame == frame))
        close_top(c);
    else
        close_one(c, frame);
}

static int is_ours(const zend_function *called)
{
    return called->type == ZEND_INTERNAL_FUNCTION && called->internal_function.module &&
           strcmp(called->internal_function.module->name, "qprof") == 0;
}

static zend_observer_fcall_handlers on_first_call(zend_execute_data *frame)
{
    if (is_ours(frame->func))
        return (zend_observer_fcall_handlers){NULL, NULL};
    return (zend_observer_fcall_handlers){on_begin, on_end};
}

/* ---- fibers ------------------------------------------------------------------------------ */

static void begin_in_run(fiber *c)
{
    c->run = recorder.run;
    c->n_calls = 0;
    if (c->stack == &c->own)
        qprof_stack_create(&c->own, recorder.vm.running);
}

/* @return NULL: no memory */
static fiber *fiber_of(zend_fiber_context *context)
{
    fiber *c = context == EG(main_fiber_context) ? &main_fiber
                                                 : context->reserved[recorder.fiber_slot];
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c)
            return NULL;
        c->stack = &c->own;
        context->reserved[recorder.fiber_slot] = c;
    }
    if (c->run != recorder.run)
        begin_in_run(c);
    return c;
}

static void on_fiber(zend_fiber_context *context)
{
    context->reserved[recorder.fiber_slot] = NULL;
    if (recorder.is_on)
        fiber_of(context);
}

static void on_fiber_switch(zend_fiber_context *from, zend_fiber_context *to)
{
    (void)from;
    if (!recorder.is_on)
        return;
    fiber *c = fiber_of(to);
    if (!c)
        return; /* its calls are then those of the fiber that ran */
    recorder.running = c;
    qprof_switch(&recorder.vm, c->stack);
}

static void on_fiber_end(zend_fiber_context *context)
{
    fiber *c = context->reserved[recorder.fiber_slot];
    if (!c || c == &main_fiber)
        return;
    context->reserved[recorder.fiber_slot] = NULL;
    if (recorder.is_on && c->run == recorder.run)
        qprof_stack_end(&recorder.vm, &c->own);
    if (recorder.running == c)
        recorder.running = &main_fiber;
    free(c->calls);
    free(c);
}

/* ---- the engine's own work --------------------------------------------------------------- */

static zend_op_array *(*compile_before)(zend_file_handle *file, int type);
static int (*collect_before)(void);

/* A fatal error passes through. */
#define AS_CALL_OF(id, ...)                                                                    \
    do {                                                                                       \
        fiber *volatile in = recorder.running;                                                 \
        volatile size_t n = in->n_calls;                                                       \
        open_one(in, NULL, (id), 0);                                                           \
        zend_try                                                                               \
        {                                                                                      \
            __VA_ARGS__;                                                                       \
        }                                                                                      \
        zend_catch                                                                             \
        {                                                                                      \
            end_engine_call(in, n);                                                            \
            zend_bailout();                                                                    \
        }                                                                                      \
        zend_end_try();                                                                        \
        end_engine_call(in, n);                                                                \
    } while (0)

/* Leave n calls. The run may have ended meanwhile, by a destructor. */
static void end_engine_call(fiber *c, size_t n)
{
    while (recorder.is_on && recorder.running == c && c->n_calls > n)
        close_top(c);
}

static zend_op_array *compile(zend_file_handle *file, int type)
{
    zend_op_array *volatile code = NULL;
    if (!recorder.is_on)
        return compile_before(file, type);
    uint32_t n_functions = CG(function_table)->nNumUsed, n_classes = CG(class_table)->nNumUsed;
    if (recorder.has_lines)
        CG(compiler_options) |= ZEND_COMPILE_NO_JUMPTABLES;
    AS_CALL_OF(QPROF_METHOD_COMPILER, code = compile_before(file, type));
    lines_register_file(code, n_functions, n_classes);
    return code;
}

static int collect(void)
{
    volatile int n_freed = 0;
    if (!recorder.is_on)
        return collect_before();
    AS_CALL_OF(QPROF_METHOD_GC, n_freed = collect_before());
    return n_freed;
}

/* ---- begin and end ----------------------------------------------------------------------- */

void calls_open(void)
{
    main_fiber.stack = &recorder.vm.main;
    recorder.running = &main_fiber;
    recorder.function_slot = zend_get_op_array_extension_handle("qprof");
#if PHP_VERSION_ID >= 80400
    recorder.internal_slot = zend_get_internal_function_extension_handle("qprof");
#else
    recorder.internal_slot = recorder.function_slot;
#endif
    recorder.fiber_slot = zend_get_resource_handle("qprof");
    zend_observer_fcall_register(on_first_call);
    zend_observer_fiber_init_register(on_fiber);
    zend_observer_fiber_switch_register(on_fiber_switch);
    zend_observer_fiber_destroy_register(on_fiber_end);
    compile_before = zend_compile_file;
    zend_compile_file = compile;
    collect_before = gc_collect_cycles;
    gc_collect_cycles = collect;
}

void calls_close(void)
{
    zend_compile_file = compile_before;
    gc_collect_cycles = collect_before;
    free(main_fiber.calls);
    memset(&main_fiber, 0, sizeof main_fiber);
}

/* Is it the frame of a function that is observed? */
static int is_observed(const zend_execute_data *frame)
{
    return frame->func && ZEND_MAP_PTR(frame->func->common.run_time_cache) &&
           !(frame->func->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) &&
           !is_ours(frame->func);
}

/* The frames of this fiber that are open continue, outermost first. */
static void open_frames(fiber *c, zend_execute_data *innermost)
{
    size_t n = 0;
    for (zend_execute_data *at = innermost; at; at = at->prev_execute_data) {
        if (EG(active_fiber) && at == EG(active_fiber)->stack_bottom)
            break;
        n++;
    }
    for (; n > 0; n--) {
        zend_execute_data *at = innermost;
        for (size_t i = 1; i < n; i++)
            at = at->prev_execute_data;
        function *f = is_observed(at) ? function_of(at->func) : NULL;
        size_t n_calls = c->n_calls;
        if (f)
            open_one(c, at, f->id, 1);
        if (f && f->is_counted && c->n_calls > n_calls)
            lines_enter(f, &c->calls[n_calls], at, 1);
    }
}

void calls_begin(zend_execute_data *caller)
{
    zend_fiber_context *context = EG(current_fiber_context);
    fiber *c = context ? fiber_of(context) : &main_fiber;
    if (!c)
        c = &main_fiber;
    if (c->run != recorder.run)
        begin_in_run(c);
    recorder.running = c;
    if (recorder.vm.running != c->stack)
        qprof_switch(&recorder.vm, c->stack);
    open_frames(c, caller);
}

void calls_end(void)
{
    while (recorder.running->n_calls)
        close_top(recorder.running);
}

void calls_reset(void)
{
    if (recorder.is_on && recorder.running != &main_fiber)
        qprof_switch(&recorder.vm, main_fiber.stack);
    recorder.running = &main_fiber;
    if (recorder.is_on)
        calls_end();
}
