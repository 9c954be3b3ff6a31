/* profile_perfetto.c: a trace of Perfetto (protos/perfetto/trace): a stack sample a call path, weighted
 * by its own time, with its calls as a second counter. A virtual thread is an async context.
 *
 * What samples refer to stands once, before them, under the number of its method: name, file, frame.
 * Samples have a time and we have sums, so each stands where its own time ends. */
#include <string.h>

#include "base/alloc.h"
#include "export/perfetto.h"
#include "export/profile.h"
#include "export/protobuf.h"

/* Fields of the messages that are for samples alone. */
enum {
    INTERNED_FUNCTION = 5, /* interned_data/interned_data.proto */
    INTERNED_FRAME = 6,
    INTERNED_CALLSTACK = 7,
    INTERNED_FILE = 18,
    INTERNED_COUNTER = 50,
    INTERNED_ASYNC = 51,
    STRING_ID = 1, /* profiling/profile_common.proto */
    STRING_TEXT = 2,
    FRAME_ID = 1,
    FRAME_FUNCTION = 2,
    FRAME_FILE = 5,
    FRAME_LINE = 6,
    CALLSTACK_ID = 1,
    CALLSTACK_FRAME = 2,
    SAMPLE_TASK = 1, /* profiling/stack_sample.proto */
    SAMPLE_CALLSTACK = 6,
    SAMPLE_COUNTER = 10,
    SAMPLE_WEIGHT = 11,
    SAMPLE_MORE_COUNTERS = 13,
    SAMPLE_MORE_WEIGHTS = 14,
    TASK_PID = 2,
    TASK_TID = 3,
    TASK_ASYNC = 4,
    ASYNC_ID = 1,
    ASYNC_KIND = 3,
    ASYNC_NAME = 2,
    COUNTER_ID = 1,
    COUNTER_NAME = 2,
    COUNTER_UNIT = 3,
    COUNTER_UNIT_TEXT = 4
};

enum { UNIT_NANOSECONDS = 1, UNIT_COUNT = 9 };

typedef struct {
    const qp_model *m;
    qp_out *out;
    qp_measure measures[QP_MEASURES]; /* the last one is the weight */
    uint32_t n_measures;
    uint64_t pid;   /* 0 would be the idle task */
    bool has_begun; /* a packet was written */
    bool *is_used;  /* [n_methods] */
    bool *has_part; /* [n_threads] */
} perfetto;

/* ---- packets --------------------------------------------------------------------------------- */

static void put_before(qp_proto *p, const qp_proto *head)
{
    if (head->n > QP_PROTO_BYTES - p->n)
        return;
    memmove(p->bytes + head->n, p->bytes, p->n);
    memcpy(p->bytes, head->bytes, head->n);
    p->n += head->n;
}

/* Make p a field of a message around it; n_more bytes of it are still to follow. */
static void wrap(qp_proto *p, uint32_t field, size_t n_more)
{
    qp_proto head;
    qp_proto_init(&head);
    qp_proto_head(&head, field, p->n + n_more);
    put_before(p, &head);
}

/* A packet of fields, of which n_more bytes are still to be written. */
static void begin_packet(perfetto *x, qp_proto *fields, size_t n_more)
{
    qp_proto head;
    qp_proto_init(&head);
    qp_proto_count(&head, PACKET_SEQUENCE, SEQUENCE);
    qp_proto_count(&head, PACKET_FLAGS, x->has_begun ? STATE_NEEDED : STATE_CLEARED);
    put_before(fields, &head);
    wrap(fields, TRACE_PACKET, n_more);
    qp_out_bytes(x->out, (const char *)fields->bytes, fields->n);
    x->has_begun = true;
}

/* A message around another one: the field in it, and the id that stands before that. */
typedef struct {
    uint32_t field;
    uint64_t track; /* of a track descriptor; 0: none */
} level;

/* A packet that ends with a text in messages: `fields` is what stands before it in the innermost one,
 * `around` the ones around, from the inside out, ending with 0. @return false: no memory */
static bool write_text(perfetto *x, qp_proto *fields, uint32_t field, const char *text,
                       const level *around)
{
    size_t n;
    char *clean = qp_proto_text(text, &n);
    if (!clean)
        return false;
    qp_proto_head(fields, field, n);
    for (; around->field; around++) {
        qp_proto track;
        wrap(fields, around->field, n);
        qp_proto_init(&track);
        if (around->track)
            qp_proto_count(&track, TRACK_ID, around->track);
        put_before(fields, &track);
    }
    begin_packet(x, fields, n);
    qp_out_bytes(x->out, clean, n);
    qp_free(clean);
    return true;
}

/* A text of ours, which is short. */
static void add_text(qp_proto *p, uint32_t field, const char *text)
{
    qp_proto_head(p, field, strlen(text));
    for (; *text; text++)
        qp_proto_varint(p, (unsigned char)*text); /* ASCII: one byte each */
}

/* ---- what samples refer to ------------------------------------------------------------------- */

static uint64_t tid_of(const perfetto *x, uint32_t thread)
{
    return x->pid + x->m->threads[thread].ordinal - 1;
}

static bool write_process(perfetto *x)
{
    const level around[] = {{TRACK_PROCESS, PROCESS_TRACK}, {PACKET_TRACK, 0}, {0, 0}};
    qp_proto fields;
    qp_proto_init(&fields);
    qp_proto_count(&fields, PROCESS_PID, x->pid);
    return write_text(x, &fields, PROCESS_NAME, x->m->run.program, around);
}

static bool write_thread(perfetto *x, uint32_t thread)
{
    const qp_model_thread *th = &x->m->threads[thread];
    qp_proto fields;
    qp_proto_init(&fields);
    if (x->m->run.is_virtual) {
        const level around[] = {{INTERNED_ASYNC, 0}, {PACKET_INTERNED, 0}, {0, 0}};
        qp_proto_count(&fields, ASYNC_ID, th->ordinal);
        add_text(&fields, ASYNC_KIND, "virtual thread");
        return write_text(x, &fields, ASYNC_NAME, th->name, around);
    }
    const level around[] = {
        {TRACK_THREAD, PROCESS_TRACK + th->ordinal}, {PACKET_TRACK, 0}, {0, 0}};
    qp_proto_count(&fields, THREAD_PID, x->pid);
    qp_proto_count(&fields, THREAD_TID, tid_of(x, thread));
    return write_text(x, &fields, THREAD_NAME, th->name, around);
}

static void write_interned(perfetto *x, uint32_t field, qp_proto *message)
{
    wrap(message, field, 0);
    wrap(message, PACKET_INTERNED, 0);
    begin_packet(x, message, 0);
}

static uint32_t counter_id(qp_measure measure)
{
    return (uint32_t)measure + 1;
}

static void write_counter(perfetto *x, qp_measure measure)
{
    qp_proto counter;
    qp_proto_init(&counter);
    qp_proto_count(&counter, COUNTER_ID, counter_id(measure));
    add_text(&counter, COUNTER_NAME, qp_export_measure_name(x->m, measure));
    if (qp_measure_is_ns(measure, x->m))
        qp_proto_count(&counter, COUNTER_UNIT, UNIT_NANOSECONDS);
    else if (measure != QP_MEASURE_TIME)
        qp_proto_count(&counter, COUNTER_UNIT, UNIT_COUNT);
    else
        add_text(&counter, COUNTER_UNIT_TEXT, x->m->run.unit);
    write_interned(x, INTERNED_COUNTER, &counter);
}

/* Texts and frames are numbered as their methods, from 1. @return false: no memory */
static bool write_method(perfetto *x, uint32_t method)
{
    const level around_name[] = {{INTERNED_FUNCTION, 0}, {PACKET_INTERNED, 0}, {0, 0}};
    const level around_file[] = {{INTERNED_FILE, 0}, {PACKET_INTERNED, 0}, {0, 0}};
    const qp_model_method *f = &x->m->methods[method];
    uint64_t id = (uint64_t)method + 1;
    qp_proto name, file, frame;
    qp_proto_init(&name);
    qp_proto_count(&name, STRING_ID, id);
    file = name;
    qp_proto_init(&frame);
    qp_proto_count(&frame, FRAME_ID, id);
    qp_proto_count(&frame, FRAME_FUNCTION, id);
    if (*f->file)
        qp_proto_count(&frame, FRAME_FILE, id);
    if (f->first_line)
        qp_proto_count(&frame, FRAME_LINE, f->first_line);
    bool is_written = write_text(x, &name, STRING_TEXT, f->name, around_name) &&
                      (!*f->file || write_text(x, &file, STRING_TEXT, f->file, around_file));
    write_interned(x, INTERNED_FRAME, &frame);
    return is_written;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void write_callstack(perfetto *x, uint32_t id, const qp_export_path *path)
{
    uint32_t frames[QP_EXPORT_FRAMES];
    uint32_t n = qp_export_frames(x->m, path->node, frames);
    qp_proto callstack;
    qp_proto_init(&callstack);
    qp_proto_count(&callstack, CALLSTACK_ID, id);
    while (n-- > 0) /* outermost first */
        qp_proto_count(&callstack, CALLSTACK_FRAME, (uint64_t)frames[n] + 1);
    write_interned(x, INTERNED_CALLSTACK, &callstack);
}

static uint64_t value_of(const perfetto *x, uint32_t i, const qp_export_path *path)
{
    return qp_measure_units(x->measures[i], x->m, qp_measure_own(x->measures[i], &path->f));
}

/* What a sample has besides its weight. */
static void add_followers(const perfetto *x, const qp_export_path *path, qp_proto *sample)
{
    qp_proto counters, weights;
    qp_proto_init(&counters);
    qp_proto_init(&weights);
    for (uint32_t i = 0; i + 1 < x->n_measures; i++) {
        qp_proto_varint(&counters, counter_id(x->measures[i]));
        qp_proto_varint(&weights, value_of(x, i, path));
    }
    if (!counters.n)
        return;
    qp_proto_message(sample, SAMPLE_MORE_COUNTERS, &counters);
    qp_proto_message(sample, SAMPLE_MORE_WEIGHTS, &weights);
}

/* @param at  sum of the weights so far, this one's included */
static void write_sample(perfetto *x, uint32_t id, const qp_export_path *path, uint64_t at)
{
    uint32_t thread = x->m->nodes[path->node].thread, last = x->n_measures - 1;
    qp_proto sample, part;
    qp_proto_init(&part);
    qp_proto_count(&part, TASK_PID, x->pid);
    if (x->m->run.is_virtual)
        qp_proto_count(&part, TASK_ASYNC, x->m->threads[thread].ordinal);
    else
        qp_proto_count(&part, TASK_TID, tid_of(x, thread));
    qp_proto_init(&sample);
    qp_proto_message(&sample, SAMPLE_TASK, &part);
    qp_proto_count(&sample, SAMPLE_CALLSTACK, id);
    qp_proto_count(&sample, SAMPLE_COUNTER, counter_id(x->measures[last]));
    qp_proto_count(&sample, SAMPLE_WEIGHT, value_of(x, last, path));
    add_followers(x, path, &sample);
    qp_proto_init(&part);
    qp_proto_count(&part, PACKET_TIME, qp_measure_units(x->measures[last], x->m, at));
    qp_proto_message(&part, PACKET_SAMPLE, &sample);
    begin_packet(x, &part, 0);
}

static void mark_used(perfetto *x, const qp_export_path *paths, size_t n_paths)
{
    uint32_t frames[QP_EXPORT_FRAMES];
    for (size_t i = 0; i < n_paths; i++) {
        for (uint32_t n = qp_export_frames(x->m, paths[i].node, frames); n-- > 0;)
            x->is_used[frames[n]] = true;
        x->has_part[x->m->nodes[paths[i].node].thread] = true;
    }
}

/* @return false: no memory */
static bool write_dictionary(perfetto *x)
{
    bool is_written = write_process(x);
    for (uint32_t i = 0; i < x->n_measures; i++)
        write_counter(x, x->measures[i]);
    for (uint32_t i = 1; is_written && i < x->m->n_threads; i++)
        if (x->has_part[i])
            is_written = write_thread(x, i);
    for (uint32_t i = 0; is_written && i < x->m->n_methods; i++)
        if (x->is_used[i])
            is_written = write_method(x, i);
    return is_written;
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    perfetto x = {.m = m, .out = out};
    qp_export_path *paths = NULL;
    size_t n_paths = 0;
    uint64_t at = 0;
    x.n_measures = qp_export_measures(m, x.measures);
    x.pid = m->run.pid ? m->run.pid : 1;
    x.is_used = qp_alloc_zeroed(m->n_methods, sizeof *x.is_used);
    x.has_part = qp_alloc_zeroed(m->n_threads, sizeof *x.has_part);
    bool is_written =
        x.is_used && x.has_part && qp_export_paths(m, o->thread, &paths, &n_paths);
    if (is_written) {
        mark_used(&x, paths, n_paths);
        is_written = write_dictionary(&x);
    }
    for (size_t i = 0; is_written && i < n_paths; i++) {
        at += qp_measure_own(x.measures[x.n_measures - 1], &paths[i].f);
        write_callstack(&x, (uint32_t)i + 1, &paths[i]);
        write_sample(&x, (uint32_t)i + 1, &paths[i], at);
    }
    qp_free(x.is_used);
    qp_free(x.has_part);
    qp_free(paths);
    return is_written || qp_export_fails(error);
}

const qp_exporter qp_export_perfetto = {
    .name = "perfetto",
    .suffix = ".pftrace",
    .summary = "ui.perfetto.dev, trace_processor: weighted call stacks",
    .limits = "lines within functions, paths deeper than 1,024 frames",
    .is_binary = true,
    .write = write};
