/* profile_hook.c: the events of calls up to Python 3.11, by the profile hook of each thread. Read
 * on_event() first. */
#include "python.h"

#if !HAS_MONITORING

/* ---- the hook ---------------------------------------------------------------------------- */

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
    watch *w = (watch *)self;
    if (!w->is_begun)
        calls_begin(w, frame, what == PyTrace_CALL);
    if (what == PyTrace_CALL) {
        calls_open_frame(w, frame, 0);
    } else if (what == PyTrace_RETURN) {
        calls_return(w, frame, frame_code(frame));
    } else if (PyCFunction_Check(argument)) {
        const PyCFunctionObject *function = (const PyCFunctionObject *)argument;
        if (what == PyTrace_C_CALL) {
            calls_open_c(w, function->m_ml, argument);
            return 0;
        }
        if (w->n_calls && w->calls[w->n_calls - 1].starts_thread) {
            /* the new thread has run nothing yet, because it needs the GIL */
            if (!calls_watch_all(qprof_thread_path(w->stack.th)) ||
                (recorder.has_lines && !lines_watch_all()))
                PyErr_Clear();
        }
        calls_close(w, function->m_ml);
    }
    return 0;
}

/* ---- threads ----------------------------------------------------------------------------- */

static int watch_thread(PyThreadState *thread, uint64_t creator)
{
    watch *w = calls_new_watch(creator);
    if (w == NULL)
        return 0;
    int failed = _PyEval_SetProfile(thread, on_event, (PyObject *)w);
    Py_DECREF(w);
    return failed == 0;
}

void calls_watch_this(watch *w)
{
    if (_PyEval_SetProfile(PyThreadState_Get(), w ? on_event : NULL, (PyObject *)w) != 0)
        PyErr_Clear();
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
    if (w)
        calls_close_all(w);
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

#endif
