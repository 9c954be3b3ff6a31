/* perfetto.c: a trace of Perfetto (protos/perfetto/trace).
 *
 * Of a profile: a stack sample for each call path, weighted by its self time, with its calls as a
 * second counter. Samples have a time and a profile has sums, so each is placed where its self time
 * ends. A virtual thread is an async context. Of a trace: slices on a track for each thread; a
 * virtual thread has a track of its own below the process, whichever OS thread drives it.
 *
 * Names are written once, before their first use, under the number of their method + 1. */
#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "export/shared/protobuf.h"
#include "export/timeline/steps.h"

/* Fields of messages, by file of protos/perfetto/trace. */

/* trace.proto, trace_packet.proto */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12 };
enum { PACKET_FLAGS = 13, PACKET_TRACK = 60, PACKET_SAMPLE = 135 };
/* track_event/{track,process,thread}_descriptor.proto */
enum { TRACK_ID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
/* interned_data/interned_data.proto */
enum { INTERNED_EVENT_NAME = 2, INTERNED_FUNCTION = 5, INTERNED_FRAME = 6 };
enum { INTERNED_CALLSTACK = 7, INTERNED_FILE = 18, INTERNED_COUNTER = 50, INTERNED_ASYNC = 51 };
/* profiling/profile_common.proto */
enum { STRING_ID = 1, STRING_TEXT = 2 };
enum { FRAME_ID = 1, FRAME_FUNCTION = 2, FRAME_FILE = 5, FRAME_LINE = 6 };
enum { CALLSTACK_ID = 1, CALLSTACK_FRAME = 2 };
/* profiling/stack_sample.proto */
enum { SAMPLE_TASK = 1, SAMPLE_CALLSTACK = 6, SAMPLE_COUNTER = 10, SAMPLE_WEIGHT = 11 };
enum { SAMPLE_MORE_COUNTERS = 13, SAMPLE_MORE_WEIGHTS = 14 };
enum { TASK_PID = 2, TASK_TID = 3, TASK_ASYNC = 4 };
enum { ASYNC_ID = 1, ASYNC_NAME = 2, ASYNC_KIND = 3 };
enum { COUNTER_ID = 1, COUNTER_NAME = 2, COUNTER_UNIT = 3, COUNTER_UNIT_TEXT = 4 };
/* track_event/track_event.proto */
enum { EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11, EVENT_NAME_HERE = 23 };
enum { EVENT_COUNTER = 30 };

enum { STATE_CLEARED = 1, STATE_NEEDED = 2 }; /* PACKET_FLAGS: the first packet, all others */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 }; /* EVENT_TYPE */
enum { UNIT_NANOSECONDS = 1, UNIT_COUNT = 9 };
enum { SEQUENCE = 1, PROCESS_TRACK = 1, THREAD_TRACKS = PROCESS_TRACK + 1 };
#define COUNTER_TRACKS (1ull << 33) /* after those of threads */

typedef struct {
    qp_out *out;
    qp_proto proto; /* the packet that is being written */
    bool has_begun; /* a packet was written */
    bool is_virtual;
    uint64_t pid; /* 0 would be the idle task */
} packets;

static uint64_t pid_of(uint64_t pid)
{
    return pid ? pid : 1;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Begin a packet with a message as its field. */
static qp_proto *begin_packet(packets *p, uint32_t field)
{
    qp_proto_begin(&p->proto, TRACE_PACKET);
    qp_proto_count(&p->proto, PACKET_SEQUENCE, SEQUENCE);
    qp_proto_count(&p->proto, PACKET_FLAGS, p->has_begun ? STATE_NEEDED : STATE_CLEARED);
    p->has_begun = true;
    qp_proto_begin(&p->proto, field);
    return &p->proto;
}

static void end_packet(packets *p)
{
    qp_proto_end_all(&p->proto);
    qp_out_bytes(p->out, p->proto.bytes.items, p->proto.bytes.n);
    qp_proto_clear(&p->proto);
}

static void write_process(packets *p, const char *program)
{
    qp_proto *to = begin_packet(p, PACKET_TRACK);
    qp_proto_count(to, TRACK_ID, PROCESS_TRACK);
    qp_proto_begin(to, TRACK_PROCESS);
    qp_proto_count(to, PROCESS_PID, p->pid);
    qp_proto_text(to, PROCESS_NAME, program);
    end_packet(p);
}

static uint64_t tid_of(const packets *p, uint32_t ordinal)
{
    return p->pid + ordinal - 1;
}

static void write_thread(packets *p, uint64_t track, uint32_t ordinal, const char *name)
{
    qp_proto *to = begin_packet(p, PACKET_TRACK);
    qp_proto_count(to, TRACK_ID, track);
    qp_proto_count(to, TRACK_PARENT, PROCESS_TRACK);
    if (p->is_virtual) {
        qp_proto_text(to, TRACK_NAME, name);
    } else {
        qp_proto_begin(to, TRACK_THREAD);
        qp_proto_count(to, THREAD_PID, p->pid);
        qp_proto_count(to, THREAD_TID, tid_of(p, ordinal));
        qp_proto_text(to, THREAD_NAME, name);
    }
    end_packet(p);
}

/* Begin a packet with an entry of the dictionary. */
static qp_proto *begin_interned(packets *p, uint32_t field)
{
    qp_proto_begin(begin_packet(p, PACKET_INTERNED), field);
    return &p->proto;
}

static void write_string(packets *p, uint32_t field, uint64_t id, const char *text)
{
    qp_proto *to = begin_interned(p, field);
    qp_proto_count(to, STRING_ID, id);
    qp_proto_text(to, STRING_TEXT, text);
    end_packet(p);
}

/* ---- a profile: what samples refer to -------------------------------------------------------- */

typedef struct {
    packets p;
    const qp_model *m;
    qp_measure measures[QP_MEASURES]; /* the last one is the weight */
    uint32_t n_measures;
    bool *is_used;  /* [n_methods] */
    bool *has_part; /* [n_threads] */
} samples;

static void write_context(samples *x, const qp_model_thread *th, const char *name)
{
    qp_proto *to = begin_interned(&x->p, INTERNED_ASYNC);
    qp_proto_count(to, ASYNC_ID, th->ordinal);
    qp_proto_text(to, ASYNC_KIND, "virtual thread");
    qp_proto_text(to, ASYNC_NAME, name);
    end_packet(&x->p);
}

static uint32_t counter_id(qp_measure measure)
{
    return (uint32_t)measure + 1;
}

static void write_counter(samples *x, qp_measure measure)
{
    qp_proto *to = begin_interned(&x->p, INTERNED_COUNTER);
    qp_proto_count(to, COUNTER_ID, counter_id(measure));
    qp_proto_text(to, COUNTER_NAME, qp_export_measure_name(x->m, measure));
    if (qp_measure_is_ns(measure, x->m))
        qp_proto_count(to, COUNTER_UNIT, UNIT_NANOSECONDS);
    else if (measure != QP_MEASURE_TIME)
        qp_proto_count(to, COUNTER_UNIT, UNIT_COUNT);
    else
        qp_proto_text(to, COUNTER_UNIT_TEXT, x->m->run.unit);
    end_packet(&x->p);
}

static void write_method(samples *x, uint32_t method)
{
    const qp_model_method *f = &x->m->methods[method];
    uint64_t id = (uint64_t)method + 1;
    write_string(&x->p, INTERNED_FUNCTION, id, f->name);
    if (*f->file)
        write_string(&x->p, INTERNED_FILE, id, f->file);
    qp_proto *to = begin_interned(&x->p, INTERNED_FRAME);
    qp_proto_count(to, FRAME_ID, id);
    qp_proto_count(to, FRAME_FUNCTION, id);
    if (*f->file)
        qp_proto_count(to, FRAME_FILE, id);
    if (f->first_line)
        qp_proto_count(to, FRAME_LINE, f->first_line);
    end_packet(&x->p);
}

static void mark_used(samples *x, const qp_export_path *paths, size_t n_paths)
{
    uint32_t frames[QP_EXPORT_FRAMES];
    for (size_t i = 0; i < n_paths; i++) {
        for (uint32_t n = qp_export_frames(x->m, paths[i].node, frames); n-- > 0;)
            x->is_used[frames[n]] = true;
        x->has_part[x->m->nodes[paths[i].node].thread] = true;
    }
}

static void write_dictionary(samples *x)
{
    write_process(&x->p, x->m->run.program);
    for (uint32_t i = 0; i < x->n_measures; i++)
        write_counter(x, x->measures[i]);
    for (uint32_t i = 1; i < x->m->n_threads; i++) {
        const qp_model_thread *th = &x->m->threads[i];
        const char *name = qp_export_thread_name(x->m, i);
        if (x->has_part[i] && x->p.is_virtual)
            write_context(x, th, name);
        else if (x->has_part[i])
            write_thread(&x->p, PROCESS_TRACK + th->ordinal, th->ordinal, name);
    }
    for (uint32_t i = 0; i < x->m->n_methods; i++)
        if (x->is_used[i])
            write_method(x, i);
}

/* ---- a profile: samples ---------------------------------------------------------------------- */

static void write_callstack(samples *x, uint32_t id, const qp_export_path *path)
{
    uint32_t frames[QP_EXPORT_FRAMES];
    uint32_t n = qp_export_frames(x->m, path->node, frames);
    qp_proto *to = begin_interned(&x->p, INTERNED_CALLSTACK);
    qp_proto_count(to, CALLSTACK_ID, id);
    while (n-- > 0) /* outermost first */
        qp_proto_count(to, CALLSTACK_FRAME, (uint64_t)frames[n] + 1);
    end_packet(&x->p);
}

static uint64_t value_of(const samples *x, uint32_t i, const qp_export_path *path)
{
    return qp_measure_units(x->measures[i], x->m, qp_measure_self(x->measures[i], &path->f));
}

/* The counters that a sample has besides its weight, and their values. */
static void add_followers(const samples *x, const qp_export_path *path, qp_proto *to)
{
    if (x->n_measures < 2)
        return;
    qp_proto_begin(to, SAMPLE_MORE_COUNTERS);
    for (uint32_t i = 0; i + 1 < x->n_measures; i++)
        qp_proto_varint(to, counter_id(x->measures[i]));
    qp_proto_end(to);
    qp_proto_begin(to, SAMPLE_MORE_WEIGHTS);
    for (uint32_t i = 0; i + 1 < x->n_measures; i++)
        qp_proto_varint(to, value_of(x, i, path));
    qp_proto_end(to);
}

/* @param at  sum of the weights so far, this one's included */
static void write_sample(samples *x, uint32_t id, const qp_export_path *path, uint64_t at)
{
    uint32_t last = x->n_measures - 1;
    uint32_t ordinal = x->m->threads[x->m->nodes[path->node].thread].ordinal;
    qp_proto *to = begin_packet(&x->p, PACKET_SAMPLE);
    qp_proto_begin(to, SAMPLE_TASK);
    qp_proto_count(to, TASK_PID, x->p.pid);
    if (x->p.is_virtual)
        qp_proto_count(to, TASK_ASYNC, ordinal);
    else
        qp_proto_count(to, TASK_TID, tid_of(&x->p, ordinal));
    qp_proto_end(to);
    qp_proto_count(to, SAMPLE_CALLSTACK, id);
    qp_proto_count(to, SAMPLE_COUNTER, counter_id(x->measures[last]));
    qp_proto_count(to, SAMPLE_WEIGHT, value_of(x, last, path));
    add_followers(x, path, to);
    qp_proto_end(to);
    qp_proto_count(to, PACKET_TIME, qp_measure_units(x->measures[last], x->m, at));
    end_packet(&x->p);
}

bool qp_export_perfetto(const qp_model *m, qp_out *out, const qp_export_options *o,
                        qp_error *error)
{
    samples x = {.p = {.out = out, .is_virtual = m->run.is_virtual, .pid = pid_of(m->run.pid)},
                 .m = m};
    qp_export_path *paths = NULL;
    size_t n_paths = 0;
    uint64_t at = 0;
    qp_proto_init(&x.p.proto);
    x.n_measures = qp_export_measures(m, x.measures);
    x.is_used = qp_alloc_zeroed(m->n_methods, sizeof *x.is_used);
    x.has_part = qp_alloc_zeroed(m->n_threads, sizeof *x.has_part);
    bool is_good = x.is_used && x.has_part && qp_export_paths(m, o->thread, &paths, &n_paths);
    if (is_good) {
        mark_used(&x, paths, n_paths);
        write_dictionary(&x);
    }
    for (size_t i = 0; is_good && i < n_paths; i++) {
        at += qp_measure_self(x.measures[x.n_measures - 1], &paths[i].f);
        write_callstack(&x, (uint32_t)i + 1, &paths[i]);
        write_sample(&x, (uint32_t)i + 1, &paths[i], at);
    }
    is_good = is_good && !x.p.proto.bytes.failed;
    qp_proto_fini(&x.p.proto);
    qp_free(x.is_used);
    qp_free(x.has_part);
    qp_free(paths);
    return is_good || qp_error_fail(error, "out of memory");
}

/* ---- a trace: slices ------------------------------------------------------------------------- */

typedef struct {
    packets p;
    const qp_steps *from;
    bool failed;      /* no memory */
    qp_dict is_known; /* functions whose name was written, counters that have a track */
} slices;

static uint64_t track_of(const qp_step *s)
{
    return (uint64_t)THREAD_TRACKS + s->thread;
}

/* @return true once for each key */
static bool is_new(slices *x, uint64_t key)
{
    bool is_known = qp_dict_get(&x->is_known, key);
    x->failed |= !is_known && !qp_dict_put(&x->is_known, key, 1);
    return !is_known;
}

static void write_counter_track(slices *x, const qp_step *s)
{
    qp_proto *to = begin_packet(&x->p, PACKET_TRACK);
    qp_proto_count(to, TRACK_ID, COUNTER_TRACKS + s->counter);
    qp_proto_count(to, TRACK_PARENT, PROCESS_TRACK);
    qp_proto_text(to, TRACK_NAME, s->name);
    qp_proto_begin(to, TRACK_COUNTER);
    end_packet(&x->p);
}

/* Write what the event of a step refers to, unless it was written. */
static void introduce(slices *x, const qp_step *s)
{
    if (s->kind == QP_STEP_COUNTER) {
        if (is_new(x, COUNTER_TRACKS + s->counter))
            write_counter_track(x, s);
        return;
    }
    if (!*s->data) {
        const qp_step_thread th = x->from->thread(x->from, s->thread);
        *s->data = x;
        write_thread(&x->p, track_of(s), th.ordinal, th.name);
    }
    if (s->kind == QP_STEP_ENTER && is_new(x, s->function))
        write_string(&x->p, INTERNED_EVENT_NAME, (uint64_t)s->function + 1,
                     x->from->function(x->from, s->function).name);
}

static void write_event(slices *x, const qp_step *s)
{
    static const uint32_t types[] = {[QP_STEP_ENTER] = SLICE_BEGIN,
                                     [QP_STEP_LEAVE] = SLICE_END,
                                     [QP_STEP_MARKER] = INSTANT,
                                     [QP_STEP_COUNTER] = COUNTER,
                                     [QP_STEP_LOST] = INSTANT};
    bool is_counter = s->kind == QP_STEP_COUNTER;
    qp_proto *to = begin_packet(&x->p, PACKET_EVENT);
    qp_proto_count(to, EVENT_TYPE, types[s->kind]);
    qp_proto_count(to, EVENT_TRACK, is_counter ? COUNTER_TRACKS + s->counter : track_of(s));
    if (s->kind == QP_STEP_ENTER)
        qp_proto_count(to, EVENT_NAME, (uint64_t)s->function + 1);
    else if (is_counter)
        qp_proto_count(to, EVENT_COUNTER, s->value);
    else if (s->kind != QP_STEP_LEAVE)
        qp_proto_text(to, EVENT_NAME_HERE, s->name ? s->name : "records lost");
    qp_proto_end(to);
    qp_proto_count(to, PACKET_TIME, s->at);
    end_packet(&x->p);
}

static void take(void *to, const qp_step *s)
{
    slices *x = to;
    if (s->kind == QP_STEP_PAUSE)
        return;
    introduce(x, s);
    write_event(x, s);
}

bool qp_trace_export_perfetto(const qp_steps *from, qp_out *out)
{
    slices x = {.p = {.out = out, .is_virtual = from->is_virtual, .pid = pid_of(from->pid)},
                .from = from};
    qp_proto_init(&x.p.proto);
    write_process(&x.p, from->program);
    bool is_played = from->play(from, take, &x) && !x.failed && !x.p.proto.bytes.failed;
    qp_dict_fini(&x.is_known);
    qp_proto_fini(&x.p.proto);
    return is_played;
}
