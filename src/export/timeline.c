/* timeline.c: the timeline of a raw trace: its calls as items, with the methods and threads of a model.
 *
 * The trace is played once to know all names, and once more whenever items are asked for: nothing of it
 * is kept but names. */
#include "export/timeline.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/dict.h"
#include "replay/trace.h"

typedef struct {
    const qp_model *m;
    const char *path;
    qp_trace *names;             /* that was played to its end: for its names */
    uint32_t *methods, *threads; /* number in the trace -> index in the model; 0: none */
    size_t n_methods, n_threads;
} source;

/* ---- which is which -------------------------------------------------------------------------- */

static uint64_t hash_of(const char *name, const char *module, const char *file)
{
    uint64_t hash = qp_hash_bytes(QP_HASH_START, name, strlen(name) + 1);
    hash = qp_hash_bytes(hash, module, strlen(module) + 1);
    return qp_hash_bytes(hash, file, strlen(file) + 1);
}

static bool find_methods(source *s)
{
    const qp_names *names = qp_trace_names(s->names);
    qp_dict by_name;
    qp_dict_init(&by_name);
    s->n_methods = names->methods.n;
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

/* By name; one that has no name of its own may be called otherwise in the model. */
static uint32_t thread_like(const qp_model *m, const qp_trace_thread *wanted)
{
    uint32_t alike = 0;
    for (uint32_t i = 1; i < m->n_threads; i++) {
        if (strcmp(m->threads[i].name, wanted->name) == 0)
            return i;
        if (m->threads[i].ordinal == wanted->ordinal)
            alike = i;
    }
    return alike;
}

static bool find_threads(source *s)
{
    const qp_names *names = qp_trace_names(s->names);
    s->n_threads = names->threads.n;
    s->threads = qp_alloc_zeroed(s->n_threads, sizeof *s->threads);
    for (uint32_t i = 1; s->threads && i < s->n_threads; i++)
        s->threads[i] = thread_like(s->m, qp_names_thread_at(names, i));
    return s->threads != NULL;
}

/* ---- playing --------------------------------------------------------------------------------- */

typedef struct {
    const source *s;
    const qp_trace_info *info;
    qp_timeline_take *take;
    void *to;
    qp_buf stood; /* uint64_t, by index of the thread: pauses that were handed on */
    bool is_done;
} player;

static void hand(player *p, const qp_span_thread *th, qp_timeline_item item)
{
    bool is_of_run = item.kind == QP_TIMELINE_COUNTER; /* whoever says what its value is */
    item.thread = is_of_run || th->number >= p->s->n_threads ? 0 : p->s->threads[th->number];
    if (!p->is_done)
        p->is_done = !p->take(p->to, &item);
}

static void hand_pause(player *p, const qp_span_thread *th, uint64_t raw, uint64_t ticks)
{
    hand(p, th,
         (qp_timeline_item){.kind = QP_TIMELINE_PAUSE,
                            .begin = qp_trace_moment(p->info, raw),
                            .duration = qp_trace_ns(p->info, ticks)});
}

/* Whenever a thread goes on, its trace says so. */
static void tell(void *to, qp_span_thread *th, const qp_span_event *e)
{
    player *p = to;
    while (p->stood.n <= th->index)
        if (!qp_buf_add(&p->stood))
            return;
    uint64_t *stood = (uint64_t *)p->stood.items + th->index;
    if (th->stood > *stood)
        hand_pause(p, th, th->stands_since, th->stood - *stood);
    *stood = th->stood;
    bool is_counter = e->op == QP_TRACE_COUNTER;
    if (is_counter || e->op == QP_TRACE_MARK)
        hand(p, th,
             (qp_timeline_item){.kind = is_counter ? QP_TIMELINE_COUNTER : QP_TIMELINE_MARK,
                                .begin = qp_trace_moment(p->info, th->raw),
                                .name = e->name,
                                .value = e->value});
}

static void leave(void *to, qp_span_thread *th, const qp_span *x, qp_span_end end)
{
    player *p = to;
    uint32_t method = x->method < p->s->n_methods ? p->s->methods[x->method] : 0;
    uint64_t begin = qp_trace_moment(p->info, x->raw);
    if (end == QP_END_UNFINISHED && (th->is_parked || th->is_off) && th->depth == 1 &&
        th->raw > th->stands_since)
        hand_pause(p, th, th->stands_since, th->raw - th->stands_since);
    if (method)
        hand(p, th,
             (qp_timeline_item){.kind = QP_TIMELINE_CALL,
                                .method = method,
                                .depth = th->depth - 1,
                                .begin = begin,
                                .duration = qp_trace_moment(p->info, th->raw) - begin});
}

/* @param t  NULL, or receives what is known of the whole @return false: no memory */
static bool play(qp_trace *trace, const qp_span_sink *sink, qp_timeline *t)
{
    qp_spans spans;
    const qp_trace_info *info = qp_trace_about(trace);
    qp_trace_spans(trace, &spans, sink);
    spans.counts_from_call = false;
    bool is_played = qp_trace_play(trace, &spans, NULL, NULL);
    if (t)
        *t = (qp_timeline){.begin = qp_trace_moment(info, spans.counts.first),
                           .end = qp_trace_moment(info, qp_trace_end_raw(trace, &spans, NULL)),
                           .n_lost = spans.counts.n_lost};
    qp_spans_fini(&spans);
    return is_played;
}

static bool each(void *from, qp_timeline_take *take, void *to)
{
    const source *s = from;
    char error[QP_ERROR_BYTES];
    qp_trace *trace = qp_trace_open(s->path, error);
    if (!trace)
        return false;
    player p = {.s = s, .info = qp_trace_about(trace), .take = take, .to = to};
    const qp_span_sink sink = {&p, NULL, leave, tell};
    qp_buf_init(&p.stood, sizeof(uint64_t));
    bool is_good = play(trace, &sink, NULL) && !p.stood.failed && !p.is_done;
    qp_free(p.stood.items);
    qp_trace_close(trace);
    return is_good;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void close_source(source *s)
{
    qp_trace_close(s->names);
    qp_free(s->methods);
    qp_free(s->threads);
    qp_free(s);
}

/* Where it is known who ran. */
static bool is_same_run(const qp_trace *trace, const qp_model *m)
{
    uint64_t pid = qp_trace_about(trace)->pid;
    return !pid || !m->run.pid || pid == m->run.pid;
}

bool qp_timeline_open(qp_timeline *t, const qp_model *m, const char *trace,
                      char error[QP_ERROR_BYTES])
{
    qp_trace *names = qp_trace_open(trace, error);
    source *s = names ? qp_alloc_zeroed(1, sizeof *s) : NULL;
    if (s)
        *s = (source){.m = m, .path = trace, .names = names};
    bool is_same = names && is_same_run(names, m);
    if (s && is_same && play(names, &(qp_span_sink){0}, t) && find_methods(s) &&
        find_threads(s)) {
        t->from = s;
        t->each = each;
        return true;
    }
    if (names)
        qp_text_format(error, QP_ERROR_BYTES, "%s: %s%s%.300s", trace,
                       is_same ? "not enough memory" : "it is the trace of another run",
                       !is_same && *m->run.trace_file ? "; that of this one is " : "",
                       is_same ? "" : m->run.trace_file);
    if (s)
        close_source(s);
    else
        qp_trace_close(names);
    return false;
}

void qp_timeline_close(qp_timeline *t)
{
    close_source(t->from);
}
