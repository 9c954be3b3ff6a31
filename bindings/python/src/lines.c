/* lines.c: the open frames of covered code, and the counters of their lines. Their events come from
 * trace_hook.c or monitor.c.
 *
 * The counters belong to an OS thread, and lie in the profile. What a frame executed last is kept, for the
 * ways of branches. */
#include "python.h"

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

line_frame *lines_enter(line_watch *w, const void *what, code_info *info, int unit, int line)
{
    if (w->n_frames == w->n_room) {
        size_t n = w->n_room ? 2 * w->n_room : 64;
        line_frame *frames = PyMem_RawRealloc(w->frames, n * sizeof *frames);
        if (frames == NULL)
            return NULL;
        w->frames = frames;
        w->n_room = n;
    }
    line_frame *f = &w->frames[w->n_frames++];
    *f = (line_frame){.what = what, .info = info, .changes = qprof_changes()[0]};
    if (info == NULL || !info->is_counted || (f->counters = counters_of(w, info)) == NULL)
        return f;
    if (unit == info->first_resume && info->has_entry && is_counting())
        f->counters[0]++;
    if (unit > info->first_resume) /* it continues where it was suspended */
        f->last = block_at(info, line);
    return f;
}

line_frame *lines_find(line_watch *w, const void *what)
{
    size_t n = w->n_frames;
    while (n && w->frames[n - 1].what != what)
        n--;
    if (n == 0)
        return NULL;
    w->n_frames = n;
    return &w->frames[n - 1];
}

void lines_leave(line_watch *w, const void *what, int is_return)
{
    const line_frame *f = lines_find(w, what);
    if (f == NULL)
        return;
    if (is_return && f->counters && f->last)
        count(f, 0);
    w->n_frames--;
}

void lines_execute(line_watch *w, line_frame *f, int line)
{
    if (f->changes != qprof_changes()[0] && f->info && f->info->is_counted) {
        f->counters = counters_of(w, f->info);
        f->changes = qprof_changes()[0];
    }
    if (f->counters == NULL)
        return;
    int block = block_at(f->info, line);
    if (block)
        count(f, block);
    f->last = block;
}

/* ---- threads ----------------------------------------------------------------------------- */

line_watch *lines_new_watch(void)
{
    line_watch *w = PyObject_New(line_watch, &line_watch_type);
    if (w == NULL)
        return NULL;
    w->frames = NULL;
    w->n_frames = w->n_room = 0;
    w->number = ++n_watches;
    w->run = recorder.run;
    return w;
}

static void watch_free(PyObject *self)
{
    line_watch *w = (line_watch *)self;
    monitor_forget(w);
    if (!HAS_MONITORING && recorder.is_on && !recorder.is_ending && w->run == recorder.run &&
        w->n_frames && is_in_python())
        say_conflict("trace");
#if !HAS_MONITORING
    for (size_t i = 0; i < w->n_frames; i++) /* they are open; another hook expects it */
        ((PyFrameObject *)w->frames[i].what)->f_trace_lines = 1;
#endif
    PyMem_RawFree(w->frames);
    PyObject_Free(w);
}

PyTypeObject line_watch_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "qprof._recorder.LineWatch",
    .tp_basicsize = sizeof(line_watch),
    .tp_dealloc = watch_free,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};
