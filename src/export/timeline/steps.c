/* steps.c: the steps of a profile, and those of a trace. */
#include "export/timeline/steps.h"

#include "base/containers/alloc.h"

/* ---- profiles -------------------------------------------------------------------------------- */

static qp_step_function function_of_profile(const qp_steps *from, uint32_t number)
{
    const qp_model_method *x = &from->m->methods[number];
    return (qp_step_function){x->name, x->module, x->file, x->first_line};
}

static qp_step_thread thread_of_profile(const qp_steps *from, uint32_t number)
{
    const qp_model_thread *x = &from->m->threads[number];
    return (qp_step_thread){qp_export_thread_name(from->m, number), x->ordinal};
}

static void walk_thread(const qp_steps *from, uint32_t thread, qp_step_take *take, void *to)
{
    void *data = NULL;
    uint32_t depth = 0;
    qp_path_walk w;
    qp_path_walk_init(&w, from->m, thread, from->measure);
    while (qp_path_walk_next(&w)) {
        uint32_t node = w.walk.node;
        const qp_model_node *n = &from->m->nodes[node];
        qp_step s = {.kind = w.walk.is_entry ? QP_STEP_ENTER : QP_STEP_LEAVE,
                     .thread = thread,
                     .function = n->method,
                     .at = qp_path_walk_at(&w),
                     .self = qp_path_self(from->m, node, from->measure),
                     .f = &n->f,
                     .data = &data};
        s.depth = w.walk.is_entry ? depth++ : --depth;
        take(to, &s);
    }
}

static bool play_profile(const qp_steps *from, qp_step_take *take, void *to)
{
    const qp_export_options o = {.thread = from->only, .measure = from->measure};
    for (uint32_t i = 1; i < from->m->n_threads; i++)
        if (qp_export_has_thread(from->m, i, &o))
            walk_thread(from, i, take, to);
    return true;
}

bool qp_steps_of_profile(const qp_model *m, const qp_export_options *o, qp_out *out,
                         qp_steps_write *write, qp_error *error)
{
    const qp_measure measure = qp_export_measure(m, o);
    const qp_steps from = {.program = m->run.program,
                           .pid = m->run.pid,
                           .started_at = m->run.started_at,
                           .is_virtual = m->run.is_virtual,
                           .is_ns = qp_measure_is_ns(measure, m),
                           .m = m,
                           .measure = measure,
                           .only = o->thread,
                           .function = function_of_profile,
                           .thread = thread_of_profile,
                           .play = play_profile};
    return write(&from, out) || qp_error_fail(error, "out of memory");
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void add_to_slices(void *slicer, const qp_trace_run *run)
{
    qp_slices_put(slicer, run);
}

bool qp_trace_export_play(qp_trace_export *x, const qp_span_sink *sink)
{
    qp_spans spans;
    const qp_span_sink chosen = x->choose ? x->choose(x->to, sink) : *sink;
    qp_trace_spans(x->trace, &spans, &chosen);
    spans.counts_from_call = false;
    spans.watch = x->slicer ? add_to_slices : NULL;
    spans.watcher = x->slicer;
    bool is_played = qp_trace_play(x->trace, &spans, x->window, x->progress);
    x->counts = spans.counts;
    x->end_raw = qp_trace_end_raw(x->trace, &spans, x->window);
    qp_spans_fini(&spans);
    return is_played;
}

static qp_step_function function_of_trace(const qp_steps *from, uint32_t number)
{
    const qp_trace_method *x = qp_names_method_at(qp_trace_names(from->trace->trace), number);
    return (qp_step_function){x->name, x->module, x->file, x->first_line};
}

static qp_step_thread thread_of_trace(const qp_steps *from, uint32_t number)
{
    const qp_trace_thread *x = qp_names_thread_at(qp_trace_names(from->trace->trace), number);
    return (qp_step_thread){x->name, x->ordinal};
}

typedef struct {
    const qp_trace_info *info;
    qp_step_take *take;
    void *to;
    qp_buf
        paused_ticks; /* uint64_t, by index of the thread: ticks of the pauses that were handed on */
    qp_timeline_limit *limit;
    uint64_t least, least_raw; /* the limit in ns, and ticks that are shorter for certain */
} player;

static void hand(player *p, qp_span_thread *th, qp_step step)
{
    step.thread = th->number;
    step.data = &th->data;
    p->take(p->to, &step);
}

static void hand_pause(player *p, qp_span_thread *th, uint64_t ticks)
{
    hand(p, th,
         (qp_step){.kind = QP_STEP_PAUSE,
                   .at = qp_trace_moment(p->info, th->paused_since),
                   .until = qp_trace_moment(p->info, th->paused_since + ticks)});
}

/* Hand on the pause that has just ended, if one has. @return false: no memory */
static bool pass_pause(player *p, qp_span_thread *th)
{
    while (p->paused_ticks.n <= th->index)
        if (!qp_buf_add(&p->paused_ticks))
            return false;
    uint64_t *paused_ticks = (uint64_t *)p->paused_ticks.items + th->index;
    if (th->paused_ticks > *paused_ticks)
        hand_pause(p, th, th->paused_ticks - *paused_ticks);
    *paused_ticks = th->paused_ticks;
    return true;
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    player *p = to;
    if (pass_pause(p, th) && !p->limit)
        hand(p, th,
             (qp_step){.kind = QP_STEP_ENTER,
                       .function = s->method,
                       .depth = th->depth - 1,
                       .at = qp_trace_moment(p->info, s->raw)});
}

enum {
    ROUNDING = 2
}; /* ns by which the difference of two moments may exceed that of their ticks */

static bool is_left_out(player *p, uint64_t ticks)
{
    if (!p->limit)
        return false;
    if (p->least != p->limit->least) {
        p->least = p->limit->least;
        p->least_raw = p->least < ROUNDING
                           ? 0
                           : qp_trace_raw(p->info, p->least - ROUNDING) - p->info->begun_raw;
    }
    p->limit->n_shorter += ticks < p->least_raw;
    return ticks < p->least_raw;
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    player *p = to;
    bool is_paused = th->is_suspended || th->is_off;
    if (!pass_pause(p, th) || (end != QP_END_UNFINISHED && is_left_out(p, th->raw - s->raw)))
        return;
    hand(p, th,
         (qp_step){.kind = QP_STEP_LEAVE,
                   .function = s->method,
                   .depth = th->depth - 1,
                   .at = qp_trace_moment(p->info, th->raw),
                   .begin = qp_trace_moment(p->info, s->raw),
                   .self = qp_trace_ns(p->info, qp_span_self(th, s)),
                   .is_paused = is_paused,
                   .until = qp_trace_moment(p->info, is_paused ? th->paused_since : th->raw)});
    if (end == QP_END_UNFINISHED && is_paused && th->depth == 1 && th->raw > th->paused_since)
        hand_pause(p, th, th->raw - th->paused_since);
}

static void take_event(void *to, qp_span_thread *th, const qp_span_event *e)
{
    player *p = to;
    bool is_counter = e->op == QP_TRACE_COUNTER, is_marker = e->op == QP_TRACE_MARKER;
    if (pass_pause(p, th) && (is_counter || is_marker || e->op == QP_TRACE_LOST))
        hand(p, th,
             (qp_step){.kind = is_counter  ? QP_STEP_COUNTER
                               : is_marker ? QP_STEP_MARKER
                                           : QP_STEP_LOST,
                       .at = qp_trace_moment(p->info, th->raw),
                       .name = e->name,
                       .value = e->value,
                       .counter = e->a});
}

static bool play_trace(const qp_steps *from, qp_step_take *take, void *to)
{
    player p = {.info = qp_trace_about(from->trace->trace),
                .take = take,
                .to = to,
                .limit = from->limit,
                .paused_ticks = QP_BUF(uint64_t)};
    const qp_span_sink sink = {&p, enter, leave, take_event};
    bool is_played = qp_trace_export_play(from->trace, &sink) && !p.paused_ticks.failed;
    qp_free(p.paused_ticks.items);
    return is_played;
}

qp_steps qp_steps_of_trace(qp_trace_export *x)
{
    const qp_trace_info *info = qp_trace_about(x->trace);
    return (qp_steps){.program = info->program,
                      .pid = info->pid,
                      .started_at = info->started_at,
                      .is_virtual = info->is_virtual,
                      .is_ns = true,
                      .trace = x,
                      .function = function_of_trace,
                      .thread = thread_of_trace,
                      .play = play_trace};
}
