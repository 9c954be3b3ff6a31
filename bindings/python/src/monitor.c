/* monitor.c: the events of calls and lines from Python 3.12 on, by sys.monitoring. The package registers
 * these functions, see _monitor.py. Their arguments begin with a code object and an offset, or a line.
 *
 * The events are those of all threads: each thread finds its watch by a variable of its own, and its
 * dictionary owns the watch. An event names the code, and no frame, of which a recursion has several: the
 * innermost is meant. */
#include "python.h"

#if HAS_MONITORING

static __thread watch *here;
static __thread line_watch *lines_here;

/* Threads that were started, and by which call; until they begin. */
static struct {
    uint64_t id, creator;
} started[64];
static unsigned n_started;
static uint64_t last_thread; /* the highest id that was seen */

void monitor_forget(const void *w)
{
    if (w == here)
        here = NULL;
    if (w == lines_here)
        lines_here = NULL;
}

/* ---- watches ----------------------------------------------------------------------------- */

static uint64_t creator_of(uint64_t id)
{
    for (unsigned i = 0; i < sizeof started / sizeof *started; i++) {
        if (started[i].id == id)
            return started[i].creator;
    }
    return 0;
}

/* A thread was started just now, and has run nothing yet, because it needs the GIL. */
static void note_started(uint64_t creator)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; thread; thread = PyThreadState_Next(thread)) {
        uint64_t id = PyThreadState_GetID(thread);
        if (id > last_thread) {
            started[n_started % 64].id = id;
            started[n_started++ % 64].creator = creator;
            last_thread = id;
        }
    }
}

/* Let the thread own its watch. @return 0: no memory */
static int keep(const char *name, PyObject *w)
{
    PyObject *threads = PyThreadState_GetDict();
    int is_ok = threads && PyDict_SetItemString(threads, name, w) == 0;
    PyErr_Clear();
    Py_DECREF(w);
    return is_ok;
}

static __attribute__((noinline)) watch *begin(int is_call)
{
    watch *w = calls_new_watch(creator_of(PyThreadState_GetID(PyThreadState_Get())));
    if (w == NULL)
        PyErr_Clear();
    if (w == NULL || !keep("qprof._recorder.Watch", (PyObject *)w))
        return NULL;
    here = w;
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame)
        calls_begin(w, frame, is_call);
    return w;
}

static watch *own(int is_call)
{
    if (here && here->run == recorder.run)
        return here;
    return recorder.is_on ? begin(is_call) : NULL;
}

static line_watch *own_lines(void)
{
    if (lines_here && lines_here->run == recorder.run)
        return lines_here;
    line_watch *w = recorder.is_on ? lines_new_watch() : NULL;
    if (w == NULL)
        PyErr_Clear();
    if (w == NULL || !keep("qprof._recorder.LineWatch", (PyObject *)w))
        return NULL;
    return lines_here = w;
}

void calls_watch_this(watch *w)
{
    here = w;
}

watch *calls_own_watch(void)
{
    return here && here->run == recorder.run ? here : NULL;
}

/* ---- calls ------------------------------------------------------------------------------- */

static void open_code(PyObject *code, int is_resume)
{
    watch *w = own(1);
    const code_info *info = w ? code_of((PyCodeObject *)code, NULL) : NULL;
    if (info)
        calls_open(w, code, info->id, is_resume, 0);
}

static PyObject *on_start(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    (void)self;
    if (n >= 2)
        open_code(arguments[0], 0);
    Py_RETURN_NONE;
}

static PyObject *on_resume(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    (void)self;
    if (n >= 2)
        open_code(arguments[0], 1);
    Py_RETURN_NONE;
}

/* @return the unit of an offset */
static int unit_of(PyObject *offset)
{
    return (int)(PyLong_AsLong(offset) / 2);
}

/* An exception is thrown into a generator, which may not have begun. */
static PyObject *on_throw(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    (void)self;
    if (n >= 2)
        open_code(arguments[0],
                  unit_of(arguments[1]) > ((PyCodeObject *)arguments[0])->_co_firsttraceable);
    Py_RETURN_NONE;
}

static PyObject *on_return(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    watch *w = own(0);
    (void)self;
    if (w && n >= 2)
        calls_return(w, arguments[0], (PyCodeObject *)arguments[0]);
    Py_RETURN_NONE;
}

static PyObject *on_call(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    const PyMethodDef *definition = n >= 3 ? cfunction_definition(arguments[2]) : NULL;
    watch *w = definition ? own(0) : NULL;
    (void)self;
    if (w)
        calls_open_c(w, definition, arguments[2]);
    Py_RETURN_NONE;
}

static PyObject *on_c_return(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    const PyMethodDef *definition = n >= 3 ? cfunction_definition(arguments[2]) : NULL;
    watch *w = definition ? own(0) : NULL;
    (void)self;
    if (w) {
        if (w->n_calls && w->calls[w->n_calls - 1].starts_thread)
            note_started(qprof_thread_path(w->stack.th));
        calls_close(w, definition);
    }
    Py_RETURN_NONE;
}

/* ---- lines ------------------------------------------------------------------------------- */

/* @return 1: the code is covered */
static int enter(PyObject *const *arguments, int unit)
{
    line_watch *w = own_lines();
    code_info *info = w ? code_of((PyCodeObject *)arguments[0], NULL) : NULL;
    if (info == NULL || !info->is_counted)
        return 0;
    int line = unit > info->first_resume
                   ? PyCode_Addr2Line((PyCodeObject *)arguments[0], unit * 2)
                   : 0;
    lines_enter(w, arguments[0], info, unit, line);
    return 1;
}

/* Code that is not covered is not told again. */
static PyObject *on_line_start(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    (void)self;
    if (n < 2 || enter(arguments, ((PyCodeObject *)arguments[0])->_co_firsttraceable))
        Py_RETURN_NONE;
    return Py_NewRef(recorder.disable);
}

static PyObject *on_line_resume(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    (void)self;
    if (n >= 2)
        enter(arguments, unit_of(arguments[1]));
    Py_RETURN_NONE;
}

static PyObject *on_line(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    line_watch *w = own_lines();
    (void)self;
    if (w && n >= 2) {
        line_frame *f = lines_find(w, arguments[0]);
        if (f == NULL) { /* it was open before */
            code_info *info = code_of((PyCodeObject *)arguments[0], NULL);
            f = info ? lines_enter(w, arguments[0], info, INT_MAX, 0) : NULL;
        }
        if (f)
            lines_execute(w, f, (int)PyLong_AsLong(arguments[1]));
    }
    Py_RETURN_NONE;
}

static PyObject *on_line_return(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    line_watch *w = own_lines();
    (void)self;
    if (w && n >= 2)
        lines_leave(w, arguments[0], 1);
    Py_RETURN_NONE;
}

static PyObject *on_line_leave(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    line_watch *w = own_lines();
    (void)self;
    if (w && n >= 2)
        lines_leave(w, arguments[0], 0);
    Py_RETURN_NONE;
}

#define EVENT(name, text)                                                                      \
    {                                                                                          \
#name, (PyCFunction)(void (*)(void))(name), METH_FASTCALL, text                        \
    }

PyMethodDef monitor_functions[] = {
    EVENT(on_start, "PY_START"),
    EVENT(on_resume, "PY_RESUME"),
    EVENT(on_throw, "PY_THROW"),
    EVENT(on_return, "PY_RETURN, PY_YIELD, PY_UNWIND"),
    EVENT(on_call, "CALL"),
    EVENT(on_c_return, "C_RETURN, C_RAISE"),
    EVENT(on_line_start, "PY_START of lines"),
    EVENT(on_line_resume, "PY_RESUME, PY_THROW of lines"),
    EVENT(on_line, "LINE"),
    EVENT(on_line_return, "PY_RETURN of lines"),
    EVENT(on_line_leave, "PY_YIELD, PY_UNWIND of lines"),
    {NULL, NULL, 0, NULL},
};

/* ---- what the package does itself -------------------------------------------------------- */

int calls_watch_all(uint64_t creator)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    (void)creator;
    for (; thread; thread = PyThreadState_Next(thread)) {
        if (PyThreadState_GetID(thread) > last_thread)
            last_thread = PyThreadState_GetID(thread);
    }
    return 1;
}

void calls_unwatch_all(void)
{
    watch *w = calls_own_watch();
    if (w)
        calls_close_all(w);
}

int calls_is_taken(void)
{
    return 0;
}

int lines_watch_all(void)
{
    return 1;
}

int lines_watch_this(PyFrameObject *frame)
{
    (void)frame;
    return 1;
}

void lines_unwatch_all(void)
{
}

int lines_is_taken(void)
{
    return 0;
}

#else

void monitor_forget(const void *w)
{
    (void)w;
}

PyMethodDef monitor_functions[] = {{NULL, NULL, 0, NULL}};

#endif
