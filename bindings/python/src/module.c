/* module.c: the functions of qprof._recorder, which the package qprof calls. */
#include "python.h"

recorder_state recorder;

static PyObject *fail(const char *text)
{
    PyErr_SetString(PyExc_RuntimeError, text);
    return NULL;
}

static PyObject *start(PyObject *self, PyObject *arguments)
{
    const char *options;
    int has_open_frames;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "zp", &options, &has_open_frames))
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
        Py_RETURN_FALSE;
    recorder.run++;
    recorder.has_open_frames = (char)has_open_frames;
    recorder.is_on = 1;
    if (!calls_watch_all(0)) {
        recorder.is_on = 0;
        calls_unwatch_all();
        qprof_vm_close(&recorder.vm);
        return NULL;
    }
    Py_RETURN_TRUE;
}

static PyObject *stop(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    if (!recorder.is_on)
        Py_RETURN_NONE;
    recorder.is_on = 0;
    calls_unwatch_all();
    qprof_vm_close(&recorder.vm);
    Py_RETURN_NONE;
}

/* After a fork the child records nothing, unless it follows. */
static PyObject *forked(PyObject *self, PyObject *nothing)
{
    if (qprof_is_running())
        Py_RETURN_NONE;
    return stop(self, nothing);
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
    return PyBool_FromLong(qprof_stop_recording());
}

static PyObject *resume_run(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return PyBool_FromLong(qprof_start_recording());
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
    PyObject *own_folder, *on_conflict;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "UO", &own_folder, &on_conflict))
        return NULL;
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

static PyObject *version(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return PyUnicode_FromString(qprof_version());
}

static PyMethodDef functions[] = {
    {"start", start, METH_VARARGS, "start(options, has_open_frames): begin a run."},
    {"stop", stop, METH_NOARGS, "End the run and write its file."},
    {"forked", forked, METH_NOARGS, "To be called in a forked child."},
    {"is_running", is_running, METH_NOARGS, "Whether a run is on."},
    {"pause", pause_run, METH_NOARGS, "Record nothing from now on."},
    {"resume", resume_run, METH_NOARGS, "Record again."},
    {"save", save, METH_VARARGS, "save(name): write a dataset and continue."},
    {"context", context, METH_VARARGS, "context(name): what runs now belongs to it."},
    {"set_program", set_program, METH_VARARGS, "set_program(script, arguments, host)."},
    {"configure", configure, METH_VARARGS, "configure(own_folder, on_conflict)."},
    {"execute", execute, METH_VARARGS, "execute(code, globals): as exec()."},
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
    if (PyType_Ready(&watch_type) < 0)
        return NULL;
    if (!code_open()) {
        PyErr_SetString(PyExc_ImportError, "qprof: no place in code objects is free");
        return NULL;
    }
    return PyModule_Create(&definition);
}
