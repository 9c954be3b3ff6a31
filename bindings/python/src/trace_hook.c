/* trace_hook.c: the events of lines up to Python 3.11, by the trace hook of each thread. Read on_event()
 * first. A frame that is not covered asks for no events of its lines. A frame that was open before is added
 * to the open frames when it is met. */
#include "python.h"

#if !HAS_MONITORING

#include <opcode.h>

/* ---- the hook ---------------------------------------------------------------------------- */

static line_frame *enter(line_watch *w, PyFrameObject *frame)
{
    code_info *info = code_of(frame_code(frame), frame);
    if (info == NULL || info->n_lines == 0)
        frame->f_trace_lines = 0;
    return lines_enter(w, frame, info, _PyInterpreterFrame_LASTI(frame->f_frame),
                       frame->f_lineno);
}

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
    line_watch *w = (line_watch *)self;
    if (what == PyTrace_CALL) {
        enter(w, frame);
    } else if (what == PyTrace_LINE) {
        line_frame *f = lines_find(w, frame);
        if (f || (f = enter(w, frame)) != NULL)
            lines_execute(w, f, frame->f_lineno);
    } else if (what == PyTrace_RETURN) {
        frame->f_trace_lines = 1;
        lines_leave(w, frame,
                    argument && _Py_OPCODE(*frame->f_frame->prev_instr) == RETURN_VALUE);
    }
    return 0;
}

/* ---- threads ----------------------------------------------------------------------------- */

static int watch_thread(PyThreadState *thread)
{
    line_watch *w = lines_new_watch();
    if (w == NULL)
        return 0;
    int failed = _PyEval_SetTrace(thread, on_event, (PyObject *)w);
    Py_DECREF(w);
    return failed == 0;
}

int lines_watch_all(void)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_tracefunc == NULL && !watch_thread(thread))
            return 0;
    }
    return 1;
}

/* @param frame  of the first call of the thread, whose event this is */
int lines_watch_this(PyFrameObject *frame)
{
    PyThreadState *thread = PyThreadState_Get();
    if (!recorder.is_on || !recorder.has_lines || !watch_thread(thread))
        return 0;
    enter((line_watch *)thread->c_traceobj, frame);
    return 1;
}

void lines_unwatch_all(void)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_tracefunc == on_event && _PyEval_SetTrace(thread, NULL, NULL) != 0)
            PyErr_Clear(); /* an audit hook forbids it */
    }
}

int lines_is_taken(void)
{
    const PyThreadState *thread = PyThreadState_Get();
    return thread->c_tracefunc != NULL && thread->c_tracefunc != on_event;
}

#endif
