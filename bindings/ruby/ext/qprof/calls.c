/* calls.c: Ruby's events, and the open calls of each fiber. Read on_event() first.
 *
 * A frame is known by its place on the stack of its fiber, which grows down. An event of a frame ends all that
 * is deeper, because not every end is announced: not that of frames which a stack overflow ends, and not
 * that of a continuation. The place of a C function is just below its caller's frame. A method made of a
 * block has two events at its beginning and its end, at one place: the block's are left out.
 *
 * Threads of Ruby are OS threads: each stays on the stack of its own fiber while others have the GVL. */
#include "recorder.h"

#include <pthread.h>
#include <string.h>

enum {
    CALLS = RUBY_EVENT_CALL | RUBY_EVENT_RETURN | RUBY_EVENT_C_CALL | RUBY_EVENT_C_RETURN |
            RUBY_EVENT_B_CALL | RUBY_EVENT_B_RETURN | RUBY_EVENT_CLASS | RUBY_EVENT_END |
            RUBY_EVENT_THREAD_END,
    /* where functions are counted and have no time */
    ENTRIES = RUBY_EVENT_CALL | RUBY_EVENT_B_CALL | RUBY_EVENT_CLASS | RUBY_EVENT_THREAD_END,
};
enum { BELOW_CALLER = 8 }; /* less than a frame has */

/* What ran last, on any OS thread: ec is asked about others only. */
static struct {
    const void *ec;
    fiber *fiber;
} last;

static ID id_record;
static unsigned n_threads;

void calls_forget_running(void)
{
    last.ec = NULL;
    last.fiber = NULL;
}

/* ---- fibers and threads ------------------------------------------------------------------ */

static void free_thread(void *record)
{
    thread *t = record;
    xfree(t);
}

static void free_fiber(void *record)
{
    fiber *f = record;
    if (last.fiber == f)
        calls_forget_running();
    if (recorder.is_on && f->run == recorder.run)
        qprof_stack_end(&recorder.vm, &f->stack);
    free(f->calls);
    xfree(f);
}

static void mark_fiber(void *record)
{
    rb_gc_mark(((fiber *)record)->thread_record);
}

static const rb_data_type_t thread_type = {
    .wrap_struct_name = "qprof thread",
    .function = {.dfree = free_thread},
};
static const rb_data_type_t fiber_type = {
    .wrap_struct_name = "qprof fiber",
    .function = {.dmark = mark_fiber, .dfree = free_fiber},
};

/* The record that a thread or fiber owns; nil: none, and it cannot have one */
static VALUE record_of(VALUE owner, const rb_data_type_t *type, size_t n_bytes)
{
    VALUE record = rb_attr_get(owner, id_record);
    if (NIL_P(record) && !OBJ_FROZEN(owner)) {
        void *data = xcalloc(1, n_bytes);
        record =
            rb_data_typed_object_wrap(0, data, type); /* no class: the program never sees it */
        rb_ivar_set(owner, id_record, record);
    }
    return record;
}

static VALUE thread_record(VALUE owner)
{
    VALUE record = record_of(owner, &thread_type, sizeof(thread));
    if (NIL_P(record))
        return Qnil;
    thread *t = RTYPEDDATA_DATA(record);
    if (t->run != recorder.run) {
        *t = (thread){.run = recorder.run, .number = ++n_threads};
        qprof_stack_new(&t->vm.main);
        t->vm.running = &t->vm.main;
        t->vm.run = recorder.vm.run;
    }
    return record;
}

/* The fiber that runs; Qfalse: it cannot be recorded */
static VALUE find_running(VALUE unused)
{
    (void)unused;
    VALUE owner = thread_record(rb_thread_current());
    VALUE record =
        NIL_P(owner) ? Qnil : record_of(rb_fiber_current(), &fiber_type, sizeof(fiber));
    if (NIL_P(record))
        return Qfalse;
    fiber *f = RTYPEDDATA_DATA(record);
    if (f->run != recorder.run) {
        f->run = recorder.run;
        f->thread = RTYPEDDATA_DATA(owner);
        f->thread_record = owner;
        f->n_calls = 0;
        qprof_stack_new(&f->stack);
        if (f->thread->running)
            qprof_stack_create(&f->stack, &f->thread->running->stack);
        else
            f->stack.creator = f->thread->creator;
    }
    return record;
}

static int continue_in_child(void)
{
    recorder.is_forked = 0;
    if (qprof_is_running())
        return 1;
    calls_unhook();
    recorder.is_on = 0;
    return 0;
}

/* Another fiber runs than at the last event. */
static __attribute__((noinline)) fiber *mount(const event_head *event)
{
    int state = 0;
    if (recorder.is_forked && !continue_in_child())
        return NULL;
    if (recorder.scratch) {
        if (rb_thread_current() != recorder.scratch_thread)
            return NULL;
        last.ec = event->ec;
        return last.fiber = recorder.scratch;
    }
    if (!recorder.is_on)
        return NULL;
    VALUE record = rb_protect(find_running, Qnil, &state);
    if (state)
        rb_set_errinfo(Qnil); /* no memory */
    if (state || !record)
        return NULL;
    fiber *f = RTYPEDDATA_DATA(record), *before = f->thread->running;
    if (f != before) {
        qprof_switch(&f->thread->vm, &f->stack);
        f->thread->running = f;
        if (before && !before->n_calls) /* a fiber that waits is in a call */
            qprof_stack_end(&f->thread->vm, &before->stack);
    }
    last.ec = event->ec;
    return last.fiber = f;
}

/* ---- open calls -------------------------------------------------------------------------- */

static int make_room(fiber *f)
{
    size_t n = f->n_room ? 2 * f->n_room : 64;
    open_call *calls = realloc(f->calls, n * sizeof *calls);
    if (!calls)
        return 0; /* its callees are then those of its caller */
    f->calls = calls;
    f->n_room = n;
    return 1;
}

static void open_one(fiber *f, uintptr_t place, const definition *of, int kind, int is_resume)
{
    const open_call *caller = f->n_calls ? &f->calls[f->n_calls - 1] : NULL;
    qprof_token token = caller ? caller->token : 0;
    int is_ours =
        kind == KIND_C && caller && !caller->is_recorded; /* this gem's code calls it */
    int is_recorded = of && of->id && !(is_ours && !recorder.scratch);
    if (f->n_calls == f->n_room && !make_room(f))
        return;
    if (is_recorded)
        token = is_resume ? qprof_resume(&f->stack, token, of->id)
                          : qprof_enter(&f->stack, token, of->id);
    f->calls[f->n_calls++] = (open_call){place, token, of, (char)kind, (char)is_recorded};
}

static inline void close_top(fiber *f)
{
    const open_call *call = &f->calls[--f->n_calls];
    if (call->is_recorded)
        qprof_leave(&f->stack, call->token);
}

static inline void close_deeper(fiber *f, uintptr_t place)
{
    while (f->n_calls && f->calls[f->n_calls - 1].place < place)
        close_top(f);
}

static void close_all(fiber *f)
{
    while (f->n_calls)
        close_top(f);
}

/* A frame ends that was open before the run. The event of a Ruby frame names its last line, and not its first. */
static __attribute__((noinline)) void close_unplaced(fiber *f, rb_trace_arg_t *arg, kind kind)
{
    const definition *of = NULL;
    size_t n = f->n_calls;
    VALUE frame;
    int line, of_kind = kind;
    if (kind == KIND_C)
        of = method_of(arg, kind);
    else if (rb_profile_frames(0, 1, &frame, &line) == 1)
        of = method_of_frame(frame, &of_kind);
    if (!of || of_kind != (int)kind) /* the block of a method */
        return;
    while (n && f->calls[n - 1].of != of)
        n--;
    while (n && f->n_calls >= n)
        close_top(f);
}

/* Coverage alone: no call is open. A method made of a block begins twice. */
static void count_call(const fiber *f, const event_head *event, kind kind)
{
    static uintptr_t last_place;
    static const cover_function *last_function;
    const definition *of = method_of((rb_trace_arg_t *)event, kind);
    const cover_function *function = of ? of->cover : NULL;
    if (function &&
        !(kind == KIND_BLOCK && function == last_function && event->cfp == last_place))
        lines_enter(of->cover, f);
    last_function = kind == KIND_METHOD ? function : NULL;
    last_place = event->cfp;
}

static void call(fiber *f, const event_head *event, kind kind)
{
    const open_call *top;
    if (!recorder.has_calls && !recorder.scratch) {
        count_call(f, event, kind);
        return;
    }
    uintptr_t place = kind == KIND_C ? event->cfp - BELOW_CALLER : event->cfp;
    close_deeper(f, place);
    top = f->n_calls ? &f->calls[f->n_calls - 1] : NULL;
    if (top && top->place == place) {
        if (kind == KIND_BLOCK && top->kind == KIND_METHOD)
            return;
        close_top(f);
    }
    const definition *of = method_of((rb_trace_arg_t *)event, kind);
    if (of && of->cover)
        lines_enter(of->cover, f);
    open_one(f, place, of, kind, 0);
}

/* Of a thread that was created just now. */
static void note_creator(const fiber *f, const event_head *event, const definition *of)
{
    VALUE created = of->creates_thread == CREATES_SELF
                        ? event->self
                        : rb_tracearg_return_value((rb_trace_arg_t *)event);
    if (!RTEST(rb_obj_is_kind_of(created, rb_cThread)))
        return;
    VALUE record = thread_record(created);
    if (!NIL_P(record))
        ((thread *)RTYPEDDATA_DATA(record))->creator = qprof_thread_path(f->stack.th);
}

static void end_call(fiber *f, const event_head *event, kind kind)
{
    close_deeper(f, event->cfp);
    const open_call *top = f->n_calls ? &f->calls[f->n_calls - 1] : NULL;
    if (!top)
        return;
    if (top->place == NO_PLACE)
        close_unplaced(f, (rb_trace_arg_t *)event, kind);
    else if (top->place == event->cfp && !(kind == KIND_BLOCK && top->kind == KIND_METHOD))
        close_top(f);
}

/* It ends in its caller's frame, or in its own if an exception leaves it. */
static void end_c_call(fiber *f, const event_head *event)
{
    uintptr_t place = event->cfp - BELOW_CALLER;
    close_deeper(f, place);
    const open_call *top = f->n_calls ? &f->calls[f->n_calls - 1] : NULL;
    if (!top)
        return;
    if (top->place == NO_PLACE) {
        close_unplaced(f, (rb_trace_arg_t *)event, KIND_C);
    } else if (top->place == place ||
               (top->kind == KIND_C && top->place == place + recorder.frame_bytes)) {
        if (top->place == place && top->of && top->of->creates_thread)
            note_creator(f, event, top->of);
        close_top(f);
    }
}

static void end_thread(fiber *f)
{
    thread *t = f->thread;
    close_all(f);
    calls_forget_running();
    t->running = NULL;
    qprof_stack_end(&t->vm, &f->stack);
    f->run = 0;
}

/* ---- the hook ---------------------------------------------------------------------------- */

static void on_event(VALUE unused, const event_head *event)
{
    fiber *f = last.fiber;
    (void)unused;
    if (event->ec != last.ec && !(f = mount(event)))
        return;
    switch (event->event) {
    case RUBY_EVENT_CALL:
        call(f, event, KIND_METHOD);
        break;
    case RUBY_EVENT_C_CALL:
        call(f, event, KIND_C);
        break;
    case RUBY_EVENT_B_CALL:
        call(f, event, KIND_BLOCK);
        break;
    case RUBY_EVENT_CLASS:
        call(f, event, KIND_BODY);
        break;
    case RUBY_EVENT_RETURN:
        end_call(f, event, KIND_METHOD);
        break;
    case RUBY_EVENT_B_RETURN:
        end_call(f, event, KIND_BLOCK);
        break;
    case RUBY_EVENT_END:
        end_call(f, event, KIND_BODY);
        break;
    case RUBY_EVENT_C_RETURN:
        end_c_call(f, event);
        break;
    case RUBY_EVENT_LINE:
        lines_execute((rb_trace_arg_t *)event, f);
        break;
    case RUBY_EVENT_THREAD_END:
        if (f != recorder.scratch)
            end_thread(f);
        break;
    default:
        break;
    }
    if (recorder.pending) { /* what happened while Ruby code ran for us is the program's */
        int state = recorder.pending;
        recorder.pending = 0;
        rb_jump_tag(state);
    }
}

static void hook(rb_event_flag_t events)
{
    rb_add_event_hook2((rb_event_hook_func_t)(void (*)(void))on_event, events, Qnil,
                       RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG);
}

void calls_hook(void)
{
    hook((recorder.has_calls ? CALLS : ENTRIES) | (recorder.has_lines ? RUBY_EVENT_LINE : 0));
}

void calls_unhook(void)
{
    rb_remove_event_hook((rb_event_hook_func_t)(void (*)(void))on_event);
}

/* ---- begin and end ----------------------------------------------------------------------- */

static fiber *running_now(void)
{
    int state = 0;
    VALUE record = rb_protect(find_running, Qnil, &state);
    if (state)
        rb_set_errinfo(Qnil);
    if (state || !record)
        return NULL;
    fiber *f = RTYPEDDATA_DATA(record);
    if (f->thread->running != f) {
        qprof_switch(&f->thread->vm, &f->stack);
        f->thread->running = f;
    }
    return f;
}

/* A frame of a block or of a rescue clause is shown as its method: the label tells them apart. */
static const definition *definition_of_open(VALUE frame, VALUE label, int *kind)
{
    const definition *of = method_of_frame(frame, kind);
    const char *text = RSTRING_PTR(label);
    if (strncmp(text, "rescue ", 7) == 0 || strncmp(text, "ensure ", 7) == 0)
        return NULL;
    return *kind == KIND_METHOD && strncmp(text, "block ", 6) == 0 ? NULL : of;
}

void calls_open_frames(VALUE labels)
{
    enum { MOST = 1024 };
    VALUE frames[MOST];
    int lines[MOST], kind;
    fiber *f = running_now();
    int n = f && recorder.has_calls ? rb_profile_frames(0, MOST, frames, lines) : 0;
    if (n - 1 > RARRAY_LEN(labels)) /* the first one is of the function that begins the run */
        n = (int)RARRAY_LEN(labels) + 1;
    while (n-- > 1) {
        VALUE label = RARRAY_AREF(labels, n - 1);
        const definition *of = RB_TYPE_P(label, RUBY_T_STRING)
                                   ? definition_of_open(frames[n], label, &kind)
                                   : NULL;
        if (of)
            open_one(f, NO_PLACE, of, kind, 1);
    }
}

void calls_open_main(const char *file)
{
    fiber *f = running_now();
    if (!f)
        return;
    const definition *of = method_main(file);
    if (recorder.has_calls)
        open_one(f, NO_PLACE, of, KIND_FILE, 0);
}

void calls_close_all(void)
{
    fiber *f = running_now();
    if (f)
        close_all(f);
    calls_forget_running();
}

/* ---- requests ---------------------------------------------------------------------------- */

void calls_enter_request(const char *endpoint, const char *traceparent)
{
    fiber *f = recorder.is_on && recorder.has_calls ? running_now() : NULL;
    if (f)
        qprof_enter_request(&f->stack, endpoint, traceparent);
}

void calls_leave_request(int has_failed)
{
    fiber *f = recorder.is_on && recorder.has_calls ? running_now() : NULL;
    if (f)
        qprof_leave_request(&f->stack, has_failed);
}

/* ---- what it costs ----------------------------------------------------------------------- */

enum { MEASURED_CALLS = 500 };

typedef struct {
    VALUE cost;
    const char *loop;
    definition *of;
} measurement;

static VALUE run_loop(VALUE data)
{
    const measurement *it = (const measurement *)data;
    return rb_funcall(it->cost, rb_intern(it->loop), 1, INT2FIX(MEASURED_CALLS));
}

/* The recorder asks for calls of a method that does nothing, with and without the hook. */
static void execute(void *data, qprof_thread *th, qprof_token caller, qprof_MethodID function)
{
    measurement *it = data;
    fiber scratch = {.n_calls = 0};
    int state = 0;
    qprof_stack_new(&scratch.stack);
    scratch.stack.th = th;
    if (function && make_room(&scratch)) {
        scratch.calls[scratch.n_calls++] = (open_call){NO_PLACE, caller, NULL, KIND_BODY, 0};
        it->of->id = function;
        recorder.scratch = &scratch;
        recorder.scratch_thread = rb_thread_current();
        calls_forget_running();
        hook(CALLS);
    }
    rb_protect(run_loop, (VALUE)it, &state);
    if (recorder.scratch) {
        calls_unhook();
        recorder.scratch = NULL;
        it->of->id = 0;
        free(scratch.calls);
        calls_forget_running();
    }
    if (state)
        recorder.pending = state;
}

void calls_measure(VALUE cost)
{
    measurement of_ruby = {cost, "of_ruby", &nothing_of_ruby};
    measurement of_c = {cost, "of_c", &nothing_of_c};
    qprof_measure_calls(execute, &of_ruby, MEASURED_CALLS, 0);
    qprof_measure_calls(execute, &of_c, MEASURED_CALLS, 1);
}

/* ---- is this Ruby known? ---------------------------------------------------------------- */

enum { PROBED = 6 };

static struct {
    int n, is_wrong;
    event_head heads[PROBED];
} probe;

static void on_probe(VALUE unused, const event_head *event)
{
    rb_trace_arg_t *arg = (rb_trace_arg_t *)event;
    (void)unused;
    if (probe.n == PROBED || rb_tracearg_event_flag(arg) != event->event ||
        rb_tracearg_self(arg) != event->self)
        probe.is_wrong = 1;
    else
        probe.heads[probe.n++] = *event;
}

static VALUE run_probe(VALUE text)
{
    return rb_eval_string((const char *)text);
}

/* Two C functions and a block: the second function is called from the block, two frames deeper. */
static int has_known_events(void)
{
    static const rb_event_flag_t events[PROBED] = {RUBY_EVENT_C_CALL,   RUBY_EVENT_B_CALL,
                                                   RUBY_EVENT_C_CALL,   RUBY_EVENT_C_RETURN,
                                                   RUBY_EVENT_B_RETURN, RUBY_EVENT_C_RETURN};
    static const char is_deep[PROBED] = {0, 1, 1, 1, 1, 0};
    rb_event_hook_func_t function = (rb_event_hook_func_t)(void (*)(void))on_probe;
    int state = 0;
    rb_thread_add_event_hook2(rb_thread_current(), function,
                              RUBY_EVENT_C_CALL | RUBY_EVENT_B_CALL | RUBY_EVENT_C_RETURN |
                                  RUBY_EVENT_B_RETURN,
                              Qnil, RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG);
    rb_protect(run_probe, (VALUE) "catch(1) { |x| x.inspect }", &state);
    rb_thread_remove_event_hook(rb_thread_current(), function);
    if (state)
        rb_set_errinfo(Qnil);
    if (state || probe.is_wrong || probe.n != PROBED)
        return 0;
    uintptr_t outer = probe.heads[0].cfp, inner = probe.heads[1].cfp;
    recorder.frame_bytes = (outer - inner) / 2;
    for (int i = 0; i < PROBED; i++) {
        if (probe.heads[i].event != events[i] || probe.heads[i].ec != probe.heads[0].ec ||
            probe.heads[i].cfp != (is_deep[i] ? inner : outer))
            return 0;
    }
    return outer > inner && recorder.frame_bytes > BELOW_CALLER && recorder.frame_bytes < 256;
}

static void child_begins(void)
{
    recorder.is_forked = 1;
    calls_forget_running();
}

int calls_open(void)
{
    id_record = rb_intern("qprof record");
    return has_known_events() && pthread_atfork(NULL, NULL, child_begins) == 0;
}
