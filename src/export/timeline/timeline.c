/* timeline.c: the timeline of a raw trace: its calls as items, with the methods and threads of a
 * model.
 *
 * The trace is played each time items are asked for: only names are kept, and of a long one the sums by slices, which
 * will be asked for next. One that does not tell at its beginning where it ends is played once more, for that. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/containers/search.h"
#include "base/text/buf.h"
#include "export/timeline/steps.h"

typedef struct {
    const qp_model *m;
    const char *path, *profile;
    qp_timeline *t;
    qp_trace *names;   /* whose methods are known */
    uint32_t *methods; /* number in the trace -> index in the model; 0: none */
    size_t n_methods;
    qp_buf threads; /* the same of threads: uint32_t, 0: none; UNKNOWN until one has an item */
    qp_timeline_slices slices; /* made with the items; rows NULL: not made */
} source;

enum { UNKNOWN = UINT32_MAX };

/* Bytes of a trace that may have more calls than are drawn, so that slices will be asked for. */
enum { LONG_BYTES = 4 * QP_TIMELINE_CALLS };

/* Open the trace. A program that was killed left its last records in the profile. */
static qp_trace *open_trace(const source *s, qp_error *error)
{
    qp_error none; /* as if it had none */
    qp_trace *trace = qp_trace_open(s->path, error);
    const qp_trace_info *info = trace ? qp_trace_about(trace) : NULL;
    s->t->lacks_end = info && info->kind == QP_TRACE_OF_PACKETS && !info->is_ended &&
                      !info->is_live && !qp_trace_join(trace, s->profile, &none);
    return trace;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *name, const char *module, const char *file)
{
    uint64_t hash = qp_hash_bytes(QP_HASH_START, name, strlen(name) + 1);
    hash = qp_hash_bytes(hash, module, strlen(module) + 1);
    return qp_hash_bytes(hash, file, strlen(file) + 1);
}

static bool find_methods(source *s)
{
    const qp_names *names = qp_trace_names(s->names);
    qp_dict by_name = {0};
    s->n_methods = names->items[QP_NAMES_METHOD].n;
    s->methods = qp_alloc_zeroed(s->n_methods, sizeof *s->methods);
    bool is_good = s->methods != NULL;
    for (uint32_t i = 1; is_good && i < s->m->n_methods; i++) {
        const qp_model_method *x = &s->m->methods[i];
        is_good = qp_dict_put(&by_name, hash_of(x->name, x->module, x->file), i);
    }
    for (uint32_t i = 1; is_good && i < s->n_methods; i++) {
        const qp_trace_method *x = qp_names_method_at(names, i);
        s->methods[i] = qp_dict_get(&by_name, hash_of(x->name, x->module, x->file));
    }
    qp_dict_fini(&by_name);
    return is_good;
}

uint32_t qp_timeline_thread(const qp_model *m, const char *name, uint64_t ordinal)
{
    uint32_t alike = 0;
    for (uint32_t i = 1; i < m->n_threads; i++) {
        if (strcmp(m->threads[i].name, name) == 0)
            return i;
        if (m->threads[i].ordinal == ordinal)
            alike = i;
    }
    return alike;
}

/* A thread has its name from its first call on. */
static uint32_t find_thread(source *s, const qp_names *names, uint32_t number)
{
    while (s->threads.n <= number) {
        uint32_t *next = qp_buf_add(&s->threads);
        if (!next)
            return 0;
        *next = UNKNOWN;
    }
    uint32_t *index = (uint32_t *)s->threads.items + number;
    if (*index == UNKNOWN) {
        const qp_trace_thread *th = number ? qp_names_thread_at(names, number) : NULL;
        *index = th ? qp_timeline_thread(s->m, th->name, th->ordinal) : 0;
    }
    return *index;
}

/* ---- items ----------------------------------------------------------------------------------- */

typedef struct {
    source *s;
    const qp_names *names;
    qp_timeline_take *take;
    void *to;
    bool is_done;
} player;

/* Hand on a step as an item, if it is one: a call when it is left. */
static void hand(void *to, const qp_step *s)
{
    player *p = to;
    source *from = p->s;
    static const qp_timeline_kind kinds[] = {[QP_STEP_LEAVE] = QP_TIMELINE_CALL,
                                             [QP_STEP_PAUSE] = QP_TIMELINE_PAUSE,
                                             [QP_STEP_MARKER] = QP_TIMELINE_MARKER,
                                             [QP_STEP_COUNTER] = QP_TIMELINE_COUNTER};
    if (s->kind == QP_STEP_ENTER || s->kind == QP_STEP_LOST)
        return;
    qp_timeline_item item = {
        .kind = kinds[s->kind], .begin = s->at, .name = s->name, .value = s->value};
    /* a counter is of the run, whichever thread sets it */
    if (s->kind != QP_STEP_COUNTER)
        item.thread = find_thread(from, p->names, s->thread);
    if (s->kind == QP_STEP_PAUSE)
        item.duration = s->until - s->at;
    if (s->kind == QP_STEP_LEAVE) {
        item.method = s->function < from->n_methods ? from->methods[s->function] : 0;
        item.depth = s->depth;
        item.begin = s->begin;
        item.duration = s->at - s->begin;
        item.self = s->self;
    }
    if (!p->is_done && (item.kind != QP_TIMELINE_CALL || item.method))
        p->is_done = !p->take(p->to, &item);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    const qp_timeline_row *x = a, *y = b;
    int c = QP_ORDER(x->thread, y->thread);
    c = c ? c : QP_ORDER(x->slice, y->slice);
    return c ? c : QP_ORDER(x->method, y->method);
}

/* Rows of methods and threads of the model: those that it lacks are left out. A thread of the model may
 * be several of the trace, so that rows may be alike. */
static bool take_rows(source *from, const qp_names *names, const qp_slices *s,
                      qp_timeline_slices *out)
{
    const qp_slice_row *rows = s->rows.items;
    *out =
        (qp_timeline_slices){.width = s->width, .rows = qp_alloc(s->rows.n, sizeof *out->rows)};
    for (size_t i = 0; out->rows && i < s->rows.n; i++) {
        const qp_slice_row *r = &rows[i];
        uint32_t method = r->method < from->n_methods ? from->methods[r->method] : 0;
        uint32_t thread = find_thread(from, names, r->thread);
        if (method)
            out->rows[out->n_rows++] = (qp_timeline_row){r->slice, thread,  method,  r->began,
                                                         r->ended, r->self, r->total};
    }
    if (out->n_rows)
        qsort(out->rows, out->n_rows, sizeof *out->rows, compare_rows);
    return out->rows != NULL;
}

/* ---- playing --------------------------------------------------------------------------------- */

/* The slices of what was played into them. */
static void end_slices(source *s, qp_trace *trace, qp_slicer *x, qp_slices *slices)
{
    if (x && qp_slices_end(x) && !take_rows(s, qp_trace_names(trace), slices, &s->slices))
        s->slices = (qp_timeline_slices){0};
    qp_slices_fini(slices);
}

static bool each(void *from, qp_timeline_take *take, void *to, qp_timeline_limit *limit)
{
    source *s = from;
    qp_error error;
    qp_slices slices = {0};
    qp_trace_export x = {.trace = open_trace(s, &error)};
    if (!x.trace)
        return false;
    if (limit && !s->slices.rows && qp_trace_about(x.trace)->n_bytes >= LONG_BYTES)
        x.slicer = qp_slices_begin(&slices, x.trace, s->t->begin, s->t->end);
    player p = {.s = s, .names = qp_trace_names(x.trace), .take = take, .to = to};
    qp_steps steps = qp_steps_of_trace(&x);
    steps.limit = limit;
    bool is_good = steps.play(&steps, hand, &p) && !p.is_done && !s->threads.failed;
    s->t->n_lost = x.counts.n_lost;
    end_slices(s, x.trace, x.slicer, &slices);
    qp_trace_close(x.trace);
    return is_good;
}

static bool slice(void *from, qp_timeline_slices *out)
{
    source *s = from;
    qp_error error;
    qp_slices slices;
    *out = s->slices;
    s->slices.rows = NULL;
    if (out->rows)
        return true;
    qp_trace *trace = open_trace(s, &error);
    if (!trace)
        return false;
    bool is_good = qp_slices_play(&slices, trace, s->t->begin, s->t->end) &&
                   take_rows(s, qp_trace_names(trace), &slices, out);
    qp_slices_fini(&slices);
    qp_trace_close(trace);
    return is_good;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void close_source(source *s)
{
    qp_trace_close(s->names);
    qp_free(s->methods);
    qp_free(s->threads.items);
    qp_free(s->slices.rows);
    qp_free(s);
}

/* Whether both are of one process, as far as their process ids are known. */
static bool is_same_run(const qp_trace *trace, const qp_model *m)
{
    uint64_t pid = qp_trace_about(trace)->pid;
    return !pid || !m->run.pid || pid == m->run.pid;
}

/* Find out where the trace begins and ends. @return false: no memory */
static bool survey(qp_trace *trace, qp_timeline *t)
{
    const qp_trace_info *info = qp_trace_about(trace);
    uint64_t first, end;
    bool is_good = true;
    if (!qp_trace_extent(trace, &first, &end)) {
        qp_trace_export x = {.trace = trace};
        is_good = qp_trace_export_play(&x, &(qp_span_sink){0});
        first = x.counts.first;
        end = x.end_raw;
    }
    t->begin = qp_trace_moment(info, first);
    t->end = qp_trace_moment(info, end);
    t->n_removed_bytes = qp_trace_lost(trace)->n_removed_bytes;
    return is_good;
}

bool qp_timeline_open(qp_timeline *t, const qp_model *m, const char *profile, const char *trace,
                      qp_error *error)
{
    source *s = qp_alloc_zeroed(1, sizeof *s);
    if (!s)
        return qp_error_fail(error, "%s: not enough memory", trace);
    *t = (qp_timeline){0};
    *s = (source){
        .m = m, .path = trace, .profile = profile, .t = t, .threads = QP_BUF(uint32_t)};
    s->names = open_trace(s, error);
    bool is_same = s->names && is_same_run(s->names, m);
    if (is_same && survey(s->names, t) && find_methods(s)) {
        t->from = s;
        t->each = each;
        t->slice = slice;
        t->ns_of_ticks = qp_trace_ns(qp_trace_about(s->names), QP_TIMELINE_TICKS);
        return true;
    }
    if (s->names)
        qp_error_fail(error, "%s: %s%s%.300s", trace,
                      is_same ? "not enough memory" : "the trace of another run",
                      !is_same && *m->run.trace_file ? "; that of this one is " : "",
                      is_same ? "" : m->run.trace_file);
    close_source(s);
    return false;
}

void qp_timeline_close(qp_timeline *t)
{
    close_source(t->from);
}
