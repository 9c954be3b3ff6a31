/* module.c: the functions of qprof._recorder, which the package qprof calls. */
#include "python.h"

/* What start() returns. */
enum { RECORDS_NOTHING, RECORDS_CALLS, COVERS_ALONE };

recorder_state recorder;

static PyObject *fail(const char *text)
{
    PyErr_SetString(PyExc_RuntimeError, text);
    return NULL;
}

static void end_run(void)
{
    recorder.is_on = 0;
    lines_unwatch_all();
    calls_unwatch_all();
    qprof_vm_close(&recorder.vm);
}

static PyObject *start(PyObject *self, PyObject *arguments)
{
    const char *options;
    int has_open_frames, counts_lines;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "zpp", &options, &has_open_frames, &counts_lines))
        return NULL;
    if (recorder.is_on)
        return fail("qprof is recording already");
    if (calls_is_taken())
        return fail("another profiler has the profile hook of this thread (sys.setprofile)");
    if (!code_begin_run())
        return NULL;
    int opened = qprof_vm_open(&recorder.vm, options);
    if (opened < 0)
        return fail(qprof_error_text());
    if (opened == 0)
        return PyLong_FromLong(RECORDS_NOTHING);
    recorder.run++;
    recorder.has_open_frames = (char)has_open_frames;
    recorder.changes = qprof_changes()[0];
    recorder.wants = qprof_wants();
    recorder.is_recording = (char)qprof_is_recording();
    recorder.has_calls = !(recorder.wants & QPROF_WANT_ALONE);
    recorder.has_lines = counts_lines || (recorder.wants & QPROF_WANT_COVERAGE);
    if (recorder.has_lines && lines_is_taken()) {
        qprof_vm_close(&recorder.vm);
        return fail(
            "a debugger or another tracer has the trace hook of this thread (sys.settrace)");
    }
    recorder.is_on = 1;
    recorder.is_ending = 0;
    return PyLong_FromLong(recorder.has_calls ? RECORDS_CALLS : COVERS_ALONE);
}

/* The events begin. */
static PyObject *watch_threads(PyObject *self, PyObject *no_argument)
{
    (void)self;
    (void)no_argument;
    if ((recorder.has_calls && !calls_watch_all(0)) ||
        (recorder.has_lines && !lines_watch_all())) {
        end_run();
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The events end, and the run does not yet. */
static PyObject *unwatch(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    recorder.is_ending = 1;
    lines_unwatch_all();
    calls_unwatch_all();
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    if (!recorder.is_on)
        Py_RETURN_NONE;
    end_run();
    Py_RETURN_NONE;
}

/* A forked child records nothing, unless it follows. */
static PyObject *is_continued(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return PyBool_FromLong(qprof_is_running());
}

static PyObject *is_running(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return PyBool_FromLong(recorder.is_on);
}

static PyObject *pause_run(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    int is_changed = qprof_stop_recording();
    recorder.is_recording = (char)qprof_is_recording();
    return PyBool_FromLong(is_changed);
}

static PyObject *resume_run(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    int is_changed = qprof_start_recording();
    recorder.is_recording = (char)qprof_is_recording();
    return PyBool_FromLong(is_changed);
}

static PyObject *save(PyObject *self, PyObject *arguments)
{
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "z", &name))
        return NULL;
    return PyBool_FromLong(name ? qprof_save_data_to_file(name) : qprof_save_data());
}

static PyObject *context(PyObject *self, PyObject *arguments)
{
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "z", &name))
        return NULL;
    return PyBool_FromLong(qprof_context(name) == 0);
}

/* The stack of this thread. @return NULL: its calls are not recorded */
static qprof_stack *own_stack(void)
{
    watch *w = recorder.is_on ? calls_own_watch() : NULL;
    return w ? &w->stack : NULL;
}

static PyObject *enter_request(PyObject *self, PyObject *arguments)
{
    const char *endpoint, *traceparent;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sz", &endpoint, &traceparent))
        return NULL;
    qprof_stack *stack = own_stack();
    if (stack)
        qprof_enter_request(stack, endpoint, traceparent);
    Py_RETURN_NONE;
}

static PyObject *leave_request(PyObject *self, PyObject *arguments)
{
    int has_failed;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "p", &has_failed))
        return NULL;
    qprof_stack *stack = own_stack();
    if (stack)
        qprof_leave_request(stack, has_failed);
    Py_RETURN_NONE;
}

static PyObject *set_program(PyObject *self, PyObject *arguments)
{
    const char *script, *host, *words[256];
    PyObject *list;
    int n = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "zO!z", &script, &PyList_Type, &list, &host))
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list) && n < 256; i++) {
        words[n] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (words[n])
            n++;
        else
            PyErr_Clear();
    }
    qprof_set_program(script, n, words, host);
    Py_RETURN_NONE;
}

static PyObject *configure(PyObject *self, PyObject *arguments)
{
    PyObject *own_folder, *on_conflict, *is_covered;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "UOO", &own_folder, &on_conflict, &is_covered))
        return NULL;
    Py_XSETREF(recorder.is_covered, Py_NewRef(is_covered));
    Py_XSETREF(recorder.own_folder, Py_NewRef(own_folder));
    Py_XSETREF(recorder.on_conflict, Py_NewRef(on_conflict));
    Py_RETURN_NONE;
}

/* Without a frame of its own between the package and the program. */
static PyObject *execute(PyObject *self, PyObject *arguments)
{
    PyObject *code, *globals;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyCode_Type, &code, &PyDict_Type, &globals))
        return NULL;
    return PyEval_EvalCode(code, globals, globals);
}

static PyObject *trace_thread(PyObject *self, PyObject *arguments)
{
    PyObject *frame, *event, *argument;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!OO", &PyFrame_Type, &frame, &event, &argument))
        return NULL;
    if (!lines_watch_this((PyFrameObject *)frame))
        PyErr_Clear();
    Py_RETURN_NONE;
}

static PyObject *option(PyObject *self, PyObject *arguments)
{
    const char *name, *text;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "s", &name))
        return NULL;
    text = qprof_get_option(name);
    return PyUnicode_DecodeFSDefault(text ? text : "");
}

static PyObject *has_option(PyObject *self, PyObject *arguments)
{
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "s", &name))
        return NULL;
    return PyBool_FromLong(qprof_get_option(name) != NULL);
}

static PyObject *register_source(PyObject *self, PyObject *arguments)
{
    const char *file, *text;
    Py_ssize_t n;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sy#", &file, &text, &n))
        return NULL;
    qprof_register_source(file, text, (size_t)n);
    Py_RETURN_NONE;
}

static PyObject *register_code(PyObject *self, PyObject *arguments)
{
    PyObject *code;
    const char *module;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!s", &PyCode_Type, &code, &module))
        return NULL;
    if (recorder.is_on)
        code_register((PyCodeObject *)code, module);
    Py_RETURN_NONE;
}

/* What sys.monitoring needs where lines are counted. */
static PyObject *set_counted(PyObject *self, PyObject *arguments)
{
    PyObject *on_counted, *disable;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &on_counted, &disable))
        return NULL;
    Py_XSETREF(recorder.on_counted, Py_NewRef(on_counted));
    Py_XSETREF(recorder.disable, Py_NewRef(disable));
    Py_RETURN_NONE;
}

/* The code of a frame that is open already is covered as well. */
static PyObject *meet_frame(PyObject *self, PyObject *frame)
{
    (void)self;
    if (PyFrame_Check(frame))
        code_of(frame_code((PyFrameObject *)frame), (PyFrameObject *)frame);
    Py_RETURN_NONE;
}

static PyObject *nothing(PyObject *self, PyObject *no_argument)
{
    (void)self;
    (void)no_argument;
    Py_RETURN_NONE;
}

static PyObject *measure(PyObject *self, PyObject *arguments)
{
    PyObject *loop, *python_function, *c_function, *switch_events;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!O!O", &loop, &PyFunction_Type, &python_function,
                          &PyCFunction_Type, &c_function, &switch_events))
        return NULL;
    if (recorder.is_on)
        cost_measure(loop, python_function, c_function, switch_events);
    Py_RETURN_NONE;
}

static PyObject *wants_lines(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return PyBool_FromLong(recorder.is_on && recorder.has_lines);
}

static PyObject *version(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return PyUnicode_FromString(qprof_version());
}

static PyMethodDef functions[] = {
    {"start", start, METH_VARARGS,
     "start(options, has_open_frames, counts_lines): begin a run."},
    {"unwatch", unwatch, METH_NOARGS, "Let the events end."},
    {"stop", stop, METH_NOARGS, "End the run and write its file."},
    {"is_continued", is_continued, METH_NOARGS, "Whether a forked child records."},
    {"is_running", is_running, METH_NOARGS, "Whether a run is on."},
    {"pause", pause_run, METH_NOARGS, "Record nothing from now on."},
    {"resume", resume_run, METH_NOARGS, "Record again."},
    {"save", save, METH_VARARGS, "save(name): write a dataset and continue."},
    {"context", context, METH_VARARGS, "context(name): what runs now belongs to it."},
    {"enter_request", enter_request, METH_VARARGS,
     "enter_request(endpoint, traceparent): it belongs to this thread."},
    {"leave_request", leave_request, METH_VARARGS, "leave_request(has_failed)."},
    {"set_program", set_program, METH_VARARGS, "set_program(script, arguments, host)."},
    {"configure", configure, METH_VARARGS, "configure(own_folder, on_conflict, is_covered)."},
    {"execute", execute, METH_VARARGS, "execute(code, globals): as exec()."},
    {"trace_thread", trace_thread, METH_VARARGS, "The trace function of a new thread."},
    {"option", option, METH_VARARGS, "option(name): the text of an option; \"\": none."},
    {"has_option", has_option, METH_VARARGS, "has_option(name): is it yes?"},
    {"register_source", register_source, METH_VARARGS, "register_source(file, bytes)."},
    {"register_code", register_code, METH_VARARGS,
     "register_code(code, module): of a file that is not loaded."},
    {"set_counted", set_counted, METH_VARARGS, "set_counted(on_counted, disable)."},
    {"meet_frame", meet_frame, METH_O, "meet_frame(frame): one that is open already."},
    {"watch", watch_threads, METH_NOARGS, "Let the events begin."},
    {"nothing", nothing, METH_NOARGS, "A call of it is measured."},
    {"measure", measure, METH_VARARGS,
     "measure(loop, python_function, c_function, switch_events)."},
    {"wants_lines", wants_lines, METH_NOARGS, "Whether the run counts lines, or is coverage."},
    {"version", version, METH_NOARGS, "The version of the recorder."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "qprof._recorder",
    "The recorder. Use the package qprof.",
    -1,
    functions,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__recorder(void)
{
    if (PyType_Ready(&watch_type) < 0 || PyType_Ready(&line_watch_type) < 0)
        return NULL;
    if (!code_open()) {
        PyErr_SetString(PyExc_ImportError, "qprof: no place in code objects is free");
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddFunctions(module, monitor_functions) < 0)
        Py_CLEAR(module);
    return module;
}
