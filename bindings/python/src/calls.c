/* calls.c: the profile hook, and the open calls of each thread. Read on_event() first.
 *
 * Events of a thread nest, but not all of them arrive: frames that are open when recording begins had no
 * call, and the program may replace our hook. So a return names its frame, what is above it in the list
 * ends too, and the return of a frame that is not in the list is none of ours. */
#include "python.h"

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE
#endif
#include <internal/pycore_frame.h>

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
static inline void open_one(watch *w, const void *what, qprof_MethodID id, int is_resume,
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

static inline void close_one(watch *w, const void *what)
{
    size_t n = w->n_calls;
    while (n && w->calls[n - 1].what != what)
        n--;
    while (n && w->n_calls >= n)
        close_top(w);
}

static void open_frame(watch *w, PyFrameObject *frame, int is_resume)
{
    const code_info *info = code_of(frame);
    if (info == NULL)
        return;
    if (_PyInterpreterFrame_LASTI(frame->f_frame) > info->first_resume)
        is_resume = 1;
    open_one(w, frame, info->id, is_resume, 0);
}

/* Frames that were open before: they continue, which is no call. @param frame  the innermost, or NULL */
static void open_frames_from(watch *w, PyFrameObject *frame)
{
    if (frame == NULL)
        return;
    PyFrameObject *back = PyFrame_GetBack(frame);
    open_frames_from(w, back);
    Py_XDECREF(back);
    open_frame(w, frame, 1);
}

static void begin(watch *w, PyFrameObject *frame, int what)
{
    w->is_begun = 1;
    if (!recorder.has_open_frames)
        return;
    if (what != PyTrace_CALL) {
        open_frames_from(w, frame);
        return;
    }
    PyFrameObject *back = PyFrame_GetBack(frame);
    open_frames_from(w, back);
    Py_XDECREF(back);
}

/* ---- the hook ---------------------------------------------------------------------------- */

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
    watch *w = (watch *)self;
    if (!w->is_begun)
        begin(w, frame, what);
    if (what == PyTrace_CALL) {
        open_frame(w, frame, 0);
    } else if (what == PyTrace_RETURN) {
        close_one(w, frame);
    } else if (PyCFunction_Check(argument)) {
        const PyCFunctionObject *function = (const PyCFunctionObject *)argument;
        if (what == PyTrace_C_CALL) {
            const cfunction *known = cfunction_of(function);
            if (known)
                open_one(w, function->m_ml, known->id, 0, known->starts_thread);
            return 0;
        }
        if (w->n_calls && w->calls[w->n_calls - 1].starts_thread) {
            /* the new thread has run nothing yet, because it needs the GIL */
            if (!calls_watch_all(qprof_thread_path(w->stack.th)) ||
                (recorder.has_lines && !lines_watch_all()))
                PyErr_Clear();
        }
        close_one(w, function->m_ml);
    }
    return 0;
}

/* ---- threads ----------------------------------------------------------------------------- */

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

/* The hook's object is freed when its thread ends, and when another hook replaces ours, which only code
 * that runs can do. */
static void watch_free(PyObject *self)
{
    watch *w = (watch *)self;
    const PyThreadState *thread = PyThreadState_Get();
    if (recorder.is_on) {
        int is_replaced = thread->cframe->current_frame != NULL && w->n_calls != 0;
        while (w->n_calls)
            close_top(w);
        qprof_stack_end(&recorder.vm, &w->stack);
        if (is_replaced)
            say_conflict("profile");
    }
    PyMem_RawFree(w->calls);
    PyObject_Free(w);
}

static int watch_thread(PyThreadState *thread, uint64_t creator)
{
    watch *w = PyObject_New(watch, &watch_type);
    if (w == NULL)
        return 0;
    qprof_stack_new(&w->stack);
    w->stack.creator = creator;
    w->calls = NULL;
    w->n_calls = w->n_room = 0;
    w->is_begun = 0;
    int failed = _PyEval_SetProfile(thread, on_event, (PyObject *)w);
    Py_DECREF(w);
    return failed == 0;
}

int calls_watch_all(uint64_t creator)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_profilefunc == NULL && !watch_thread(thread, creator))
            return 0;
    }
    return 1;
}

watch *calls_own_watch(void)
{
    const PyThreadState *thread = PyThreadState_Get();
    return thread->c_profilefunc == on_event ? (watch *)thread->c_profileobj : NULL;
}

void calls_unwatch_all(void)
{
    watch *w =
        calls_own_watch(); /* those of other threads stay open: the recorder counts them */
    while (w && w->n_calls)
        close_top(w);
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_profilefunc == on_event && _PyEval_SetProfile(thread, NULL, NULL) != 0)
            PyErr_Clear(); /* an audit hook forbids it */
    }
}

int calls_is_taken(void)
{
    const PyThreadState *thread = PyThreadState_Get();
    return thread->c_profilefunc != NULL && thread->c_profilefunc != on_event;
}
