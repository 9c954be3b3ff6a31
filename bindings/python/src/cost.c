/* cost.c: what recording a call costs in Python's own loop, with all that the interpreter does because it is
 * watched. The recorder asks for calls of a function that does nothing, of Python and of C. They leave
 * nothing in the profile. */
#include "python.h"

enum { CALLS = 500 };

typedef struct {
    PyObject *
        loop; /* function of a function and a number, of the package: its own call is not recorded */
    PyObject *nothing;  /* what it calls */
    PyObject *turn;     /* function of 0 or 1: events off or on; NULL: a hook of the thread */
    qprof_MethodID *id; /* of `nothing` */
} measurement;

static void run_loop(const measurement *it)
{
    PyObject *result = PyObject_CallFunction(it->loop, "Oi", it->nothing, CALLS);
    Py_XDECREF(result);
}

static void turn(const measurement *it, int is_on)
{
    PyObject *result = it->turn ? PyObject_CallFunction(it->turn, "i", is_on) : NULL;
    Py_XDECREF(result);
}

static void execute(void *data, qprof_thread *th, qprof_token caller, qprof_MethodID function)
{
    const measurement *it = data;
    watch *w = function ? calls_new_watch(0) : NULL;
    if (w) {
        *it->id = function;
        w->stack.th = th;
        w->is_begun = 1;
        calls_open(w, it, 0, 0, 0);
        w->calls[0].token = caller;
        calls_watch_this(w);
        turn(it, 1);
    }
    run_loop(it);
    if (w) {
        turn(it, 0);
        calls_watch_this(NULL);
        Py_DECREF(w);
        *it->id = 0;
    }
    PyErr_Clear();
}

void cost_measure(PyObject *loop, PyObject *python_function, PyObject *c_function,
                  PyObject *switch_events)
{
    measurement it = {.loop = loop, .turn = switch_events == Py_None ? NULL : switch_events};
    code_info *info = code_of((PyCodeObject *)PyFunction_GET_CODE(python_function), NULL);
    const PyMethodDef *definition = cfunction_definition(c_function);
    cfunction *known = definition ? (cfunction *)cfunction_of(definition, c_function) : NULL;
    recorder.is_measuring = 1;
    if (info) {
        it.nothing = python_function;
        it.id = &info->id;
        qprof_measure_calls(execute, &it, CALLS, 0);
    }
    if (info && known) {
        it.nothing = c_function;
        it.id = &known->id;
        qprof_measure_calls(execute, &it, CALLS, 1);
    }
    recorder.is_measuring = 0;
}
