/* lines.c: the trace hook, which counts the lines of covered code. Read on_event() first.
 *
 * The counters belong to an OS thread, and lie in the profile. A frame that is not covered asks for no
 * events of its lines. What a frame executed last is kept in a list of the open frames, for the ways of
 * branches; a frame that is not in it, because it was open before, is added when it is met. */
#include "python.h"

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE
#endif
#include <internal/pycore_frame.h>
#include <opcode.h>

typedef struct {
    PyFrameObject *frame; /* borrowed: it is open */
    code_info *info;
    uint64_t *counters; /* NULL: it is not counted */
    uint32_t changes;   /* qprof_changes() when they were asked for */
    int last;           /* the block that it executes; 0: unknown */
} line_frame;

typedef struct {
    PyObject_HEAD line_frame *frames; /* [n_frames] of n_room */
    size_t n_frames, n_room;
    unsigned number; /* of the thread, in the order of their first events */
} line_watch;

static void watch_free(PyObject *self);

PyTypeObject line_watch_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "qprof._recorder.LineWatch",
    .tp_basicsize = sizeof(line_watch),
    .tp_dealloc = watch_free,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

static unsigned n_watches;

/* ---- counters ---------------------------------------------------------------------------- */

static uint64_t *counters_of(const line_watch *w, code_info *info)
{
    uint32_t changes = qprof_changes()[0];
    if (recorder.changes != changes) {
        recorder.wants = qprof_wants();
        recorder.changes = changes;
    }
    if (info->counted_by != w->number || info->changes != changes) {
        info->counters = qprof_counter_bank(info->id);
        info->counted_by = w->number;
        info->changes = changes;
    }
    return info->counters;
}

static int is_counting(void)
{
    if (!recorder.is_recording)
        return 0;
    if (!(recorder.wants & QPROF_WANT_GATE))
        return 1;
    const watch *calls = calls_own_watch();
    return calls == NULL || qprof_is_counting(calls->stack.th);
}

static int block_at(const code_info *info, int line)
{
    unsigned at = (unsigned)(line - info->first_line);
    return at < (unsigned)info->n_lines ? info->block_of_line[at] : 0;
}

/* The frame executes a block after the last one. @param block  0: it ends. */
static void count(const line_frame *f, int block)
{
    const code_info *info = f->info;
    if (!is_counting())
        return;
    for (int i = info->first_way[f->last]; i < info->first_way[f->last + 1]; i++) {
        if (info->way_to[i] == block) {
            f->counters[info->has_entry + info->n_blocks - 1 + i]++;
            return;
        }
    }
    if (block)
        f->counters[info->has_entry + block - 1]++;
}

/* ---- open frames ------------------------------------------------------------------------- */

static line_frame *push(line_watch *w, PyFrameObject *frame)
{
    if (w->n_frames == w->n_room) {
        size_t n = w->n_room ? 2 * w->n_room : 64;
        line_frame *frames = PyMem_RawRealloc(w->frames, n * sizeof *frames);
        if (frames == NULL)
            return NULL;
        w->frames = frames;
        w->n_room = n;
    }
    code_info *info = code_of(frame);
    line_frame *f = &w->frames[w->n_frames++];
    *f = (line_frame){.frame = frame, .info = info, .changes = qprof_changes()[0]};
    if (info && info->is_counted)
        f->counters = counters_of(w, info);
    if (info == NULL || info->n_lines == 0)
        frame->f_trace_lines = 0;
    return f;
}

static line_frame *find(line_watch *w, PyFrameObject *frame)
{
    size_t n = w->n_frames;
    if (n && w->frames[n - 1].frame == frame)
        return &w->frames[n - 1];
    while (n && w->frames[n - 1].frame != frame)
        n--;
    if (n == 0)
        return NULL;
    w->n_frames = n;
    return &w->frames[n - 1];
}

static int last_unit(const PyFrameObject *frame)
{
    return _PyInterpreterFrame_LASTI(frame->f_frame);
}

static void enter(line_watch *w, PyFrameObject *frame)
{
    line_frame *f = push(w, frame);
    if (f == NULL || f->counters == NULL)
        return;
    int at = last_unit(frame);
    if (at == f->info->first_resume && f->info->has_entry && is_counting())
        f->counters[0]++;
    if (at > f->info->first_resume) /* it continues where it was suspended */
        f->last = block_at(f->info, PyFrame_GetLineNumber(frame));
}

static void leave(line_watch *w, PyFrameObject *frame, PyObject *result)
{
    line_frame *f = find(w, frame);
    if (f == NULL)
        return;
    if (f->counters && result && f->last &&
        _Py_OPCODE(*frame->f_frame->prev_instr) == RETURN_VALUE)
        count(f, 0);
    w->n_frames--;
}

static void execute(line_watch *w, PyFrameObject *frame)
{
    line_frame *f = find(w, frame);
    if (f == NULL && (f = push(w, frame)) == NULL)
        return;
    if (f->changes != qprof_changes()[0] && f->info && f->info->is_counted) {
        f->counters = counters_of(w, f->info);
        f->changes = qprof_changes()[0];
    }
    if (f->counters == NULL)
        return;
    int block = block_at(f->info, frame->f_lineno); /* set for this event */
    if (block)
        count(f, block);
    f->last = block;
}

/* ---- the hook ---------------------------------------------------------------------------- */

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
    line_watch *w = (line_watch *)self;
    if (what == PyTrace_LINE)
        execute(w, frame);
    else if (what == PyTrace_CALL)
        enter(w, frame);
    else if (what == PyTrace_RETURN)
        leave(w, frame, argument);
    return 0;
}

/* As that of calls.c. */
static void watch_free(PyObject *self)
{
    line_watch *w = (line_watch *)self;
    const PyThreadState *thread = PyThreadState_Get();
    for (size_t i = 0; i < w->n_frames; i++)
        w->frames[i].frame->f_trace_lines = 1; /* as another hook expects it */
    if (recorder.is_on && thread->cframe->current_frame != NULL && w->n_frames)
        say_conflict("trace");
    PyMem_RawFree(w->frames);
    PyObject_Free(w);
}

/* ---- threads ----------------------------------------------------------------------------- */

static int watch_thread(PyThreadState *thread)
{
    line_watch *w = PyObject_New(line_watch, &line_watch_type);
    if (w == NULL)
        return 0;
    w->frames = NULL;
    w->n_frames = w->n_room = 0;
    w->number = ++n_watches;
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
