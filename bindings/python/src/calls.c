/* calls.c: the open calls of each thread. Their events come from profile_hook.c or monitor.c.
 *
 * Events of a thread nest, but not all of them arrive: frames that are open when recording begins had no
 * call, and the program may replace our hook. So a return names its frame, what is above it in the list
 * ends too, and the return of a frame that is not in the list is none of ours. */
#include "python.h"

static void watch_free(PyObject *self);

PyTypeObject watch_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "qprof._recorder.Watch",
    .tp_basicsize = sizeof(watch),
    .tp_dealloc = watch_free,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

/* ---- open calls -------------------------------------------------------------------------- */

static int make_room(watch *w)
{
    size_t n = w->n_room ? 2 * w->n_room : 64;
    open_call *calls = PyMem_RawRealloc(w->calls, n * sizeof *calls);
    if (calls == NULL)
        return 0; /* its callees are then those of its caller */
    w->calls = calls;
    w->n_room = n;
    return 1;
}

/* @param id  0: the call is not recorded, but what it calls is */
void calls_open(watch *w, const void *what, qprof_MethodID id, int is_resume,
                char starts_thread)
{
    qprof_token token = w->n_calls ? w->calls[w->n_calls - 1].token : 0;
    if (w->n_calls == w->n_room && !make_room(w))
        return;
    if (id)
        token =
            is_resume ? qprof_resume(&w->stack, token, id) : qprof_enter(&w->stack, token, id);
    w->calls[w->n_calls++] = (open_call){what, token, id != 0, starts_thread};
}

static void close_top(watch *w)
{
    const open_call *call = &w->calls[--w->n_calls];
    if (call->is_recorded)
        qprof_leave(&w->stack, call->token);
}

void calls_open_c(watch *w, const PyMethodDef *definition, PyObject *called)
{
    const cfunction *known = cfunction_of(definition, called);
    int is_ours =
        w->n_calls && !w->calls[w->n_calls - 1].is_recorded; /* the package called it */
    qprof_MethodID id = known && (!is_ours || recorder.is_measuring) ? known->id : 0;
    if (known)
        calls_open(w, definition, id, 0, known->starts_thread);
}

int calls_close(watch *w, const void *what)
{
    size_t n = w->n_calls;
    while (n && w->calls[n - 1].what != what)
        n--;
    while (n && w->n_calls >= n)
        close_top(w);
    return n != 0;
}

void calls_open_frame(watch *w, PyFrameObject *frame, int is_resume)
{
    PyCodeObject *code = frame_code(frame);
    const code_info *info = code_of(code, frame);
    if (info == NULL)
        return;
    if (PyFrame_GetLasti(frame) > info->first_resume * 2)
        is_resume = 1;
    calls_open(w, FRAME_OF_CALL(frame, code), info->id, is_resume, 0);
}

static int is_generator(const PyCodeObject *code)
{
    return (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
}

/* A generator or coroutine returns that was not announced: it continued, which is a resume; its time is its caller's by
 * now. CPython tells of none after a `yield from` whose inner one has caught an exception that was thrown into both, up
 * to 3.11, and where the handler of a signal raises one as the generator continues. */
static __attribute__((noinline)) void count_resume(watch *w, PyCodeObject *code)
{
    const code_info *info = code_of(code, NULL);
    if (w->n_left_out) {
        w->n_left_out--;
    } else if (info && info->id) {
        calls_open(w, code, info->id, 1, 0);
        calls_close(w, code);
    }
}

void calls_return(watch *w, const void *what, PyCodeObject *code)
{
    if (!calls_close(w, what) && is_generator(code))
        count_resume(w, code);
}

/* Frames that were open before: they continue, which is no call. @param frame  the innermost, or NULL */
static void open_frames_from(watch *w, PyFrameObject *frame)
{
    if (frame == NULL)
        return;
    PyFrameObject *back = PyFrame_GetBack(frame);
    open_frames_from(w, back);
    Py_XDECREF(back);
    calls_open_frame(w, frame, 1);
}

void calls_begin(watch *w, PyFrameObject *frame, int is_call)
{
    w->is_begun = 1;
    PyFrameObject *from = is_call ? PyFrame_GetBack(frame) : (PyFrameObject *)Py_NewRef(frame);
    if (recorder.has_open_frames) {
        open_frames_from(w, from);
        Py_XDECREF(from);
        return;
    }
    while (from) {
        PyFrameObject *back = PyFrame_GetBack(from);
        w->n_left_out += is_generator(frame_code(from));
        Py_DECREF(from);
        from = back;
    }
}

void calls_close_all(watch *w)
{
    while (w->n_calls)
        close_top(w);
}

watch *calls_new_watch(uint64_t creator)
{
    watch *w = PyObject_New(watch, &watch_type);
    if (w == NULL)
        return NULL;
    qprof_stack_new(&w->stack);
    w->stack.creator = creator;
    w->calls = NULL;
    w->n_calls = w->n_room = 0;
    w->is_begun = 0;
    w->n_left_out = 0;
    w->run = recorder.run;
    return w;
}

void say_conflict(const char *hook)
{
    PyObject *type, *value, *trace;
    if (recorder.on_conflict == NULL)
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *result = PyObject_CallFunction(recorder.on_conflict, "s", hook);
    if (result == NULL)
        PyErr_WriteUnraisable(recorder.on_conflict);
    Py_XDECREF(result);
    PyErr_Restore(type, value, trace);
}

/* Whether code runs; not so where a thread ends. */
int is_in_python(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    Py_XDECREF(frame);
    return frame != NULL;
}

/* The hook's object is freed when its thread ends, and when another hook replaces ours, which only code
 * that runs can do. */
static void watch_free(PyObject *self)
{
    watch *w = (watch *)self;
    monitor_forget(w);
    if (recorder.is_on && !recorder.is_ending && !recorder.is_measuring &&
        w->run == recorder.run) {
        int is_replaced = !HAS_MONITORING && is_in_python() && w->n_calls != 0;
        calls_close_all(w);
        qprof_stack_end(&recorder.vm, &w->stack);
        if (is_replaced)
            say_conflict("profile");
    }
    PyMem_RawFree(w->calls);
    PyObject_Free(w);
}
