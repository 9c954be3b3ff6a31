/* trace_perfetto.c: a trace of Perfetto (protos/perfetto/trace): slices on a track for each thread. A
 * virtual thread is a track of its own below the process, whichever carrier drives it.
 *
 * Names stand once, before their first use, under the number of their method. */
#include <string.h>

#include "base/alloc.h"
#include "export/perfetto.h"
#include "export/protobuf.h"
#include "export/trace.h"

/* Fields of the messages that are for slices alone. */
enum {
    INTERNED_EVENT_NAME = 2, /* interned_data/interned_data.proto */
    EVENT_NAME_ID = 1,       /* track_event/track_event.proto */
    EVENT_NAME_TEXT = 2,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_NAME_HERE = 23,
    EVENT_COUNTER = 30,
    BEGIN = 1, /* TrackEvent.Type */
    END = 2,
    INSTANT = 3,
    COUNTER = 4
};

enum { THREAD_TRACKS = PROCESS_TRACK + 1 };
#define COUNTER_TRACKS (1ull << 33) /* behind those of threads */

typedef struct {
    qp_trace_export *x;
    qp_out *out;
    uint64_t pid;     /* 0 would be the idle task */
    bool has_begun;   /* a packet was written */
    bool failed;      /* no memory */
    qp_dict is_known; /* methods whose name was written, counters that have a track */
} perfetto;

/* A packet of one field, a message. */
static void write_packet(perfetto *p, uint64_t at, uint32_t field, const qp_proto *message)
{
    qp_proto packet, head;
    qp_proto_init(&packet);
    if (field == PACKET_EVENT)
        qp_proto_count(&packet, PACKET_TIME, at);
    qp_proto_count(&packet, PACKET_SEQUENCE, SEQUENCE);
    qp_proto_message(&packet, field, message);
    qp_proto_count(&packet, PACKET_FLAGS, p->has_begun ? STATE_NEEDED : STATE_CLEARED);
    p->has_begun = true;
    qp_proto_init(&head);
    qp_proto_head(&head, TRACE_PACKET, packet.n);
    qp_out_bytes(p->out, (const char *)head.bytes, head.n);
    qp_out_bytes(p->out, (const char *)packet.bytes, packet.n);
}

/* A text of unknown origin, cut to what a message has room for. */
static void add_text(perfetto *p, qp_proto *to, uint32_t field, const char *text)
{
    enum { TEXT_MOST = QP_PROTO_BYTES / 2 };
    size_t n;
    char *clean = qp_proto_text(text, &n);
    p->failed |= !clean;
    if (!clean)
        return;
    while (n > TEXT_MOST || (n && n == TEXT_MOST && (clean[n] & 0xC0) == 0x80))
        n = n > TEXT_MOST ? TEXT_MOST : n - 1; /* at a whole character */
    qp_proto_head(to, field, n);
    if (n <= sizeof to->bytes - to->n) {
        memcpy(to->bytes + to->n, clean, n);
        to->n += n;
    }
    qp_free(clean);
}

/* ---- tracks and names ------------------------------------------------------------------------ */

static void write_process(perfetto *p)
{
    qp_proto track, process;
    qp_proto_init(&process);
    qp_proto_count(&process, PROCESS_PID, p->pid);
    add_text(p, &process, PROCESS_NAME, qp_trace_about(p->x->trace)->program);
    qp_proto_init(&track);
    qp_proto_count(&track, TRACK_ID, PROCESS_TRACK);
    qp_proto_message(&track, TRACK_PROCESS, &process);
    write_packet(p, 0, PACKET_TRACK, &track);
}

static uint64_t track_of(const qp_span_thread *th)
{
    return (uint64_t)THREAD_TRACKS + th->number;
}

static void write_thread(perfetto *p, qp_span_thread *th)
{
    const qp_trace_thread *x = qp_names_thread_at(qp_trace_names(p->x->trace), th->number);
    qp_proto track, thread;
    if (th->own)
        return;
    th->own = p;
    qp_proto_init(&track);
    qp_proto_count(&track, TRACK_ID, track_of(th));
    qp_proto_count(&track, TRACK_PARENT, PROCESS_TRACK);
    if (qp_trace_about(p->x->trace)->is_virtual) {
        add_text(p, &track, TRACK_NAME, x->name);
    } else {
        qp_proto_init(&thread);
        qp_proto_count(&thread, THREAD_PID, p->pid);
        qp_proto_count(&thread, THREAD_TID, p->pid + x->ordinal - 1);
        add_text(p, &thread, THREAD_NAME, x->name);
        qp_proto_message(&track, TRACK_THREAD, &thread);
    }
    write_packet(p, 0, PACKET_TRACK, &track);
}

/* @return is it new? */
static bool is_new(perfetto *p, uint64_t key)
{
    bool is_known = qp_dict_get(&p->is_known, key);
    p->failed |= !is_known && !qp_dict_put(&p->is_known, key, 1);
    return !is_known;
}

static void write_name(perfetto *p, uint32_t method)
{
    qp_proto interned, name;
    if (!is_new(p, method))
        return;
    qp_proto_init(&name);
    qp_proto_count(&name, EVENT_NAME_ID, (uint64_t)method + 1);
    add_text(p, &name, EVENT_NAME_TEXT,
             qp_names_method_at(qp_trace_names(p->x->trace), method)->name);
    qp_proto_init(&interned);
    qp_proto_message(&interned, INTERNED_EVENT_NAME, &name);
    write_packet(p, 0, PACKET_INTERNED, &interned);
}

static void write_counter(perfetto *p, uint32_t ref, const char *name)
{
    qp_proto track, counter;
    if (!is_new(p, COUNTER_TRACKS + ref))
        return;
    qp_proto_init(&track);
    qp_proto_init(&counter);
    qp_proto_count(&track, TRACK_ID, COUNTER_TRACKS + ref);
    qp_proto_count(&track, TRACK_PARENT, PROCESS_TRACK);
    add_text(p, &track, TRACK_NAME, name);
    qp_proto_message(&track, TRACK_COUNTER, &counter);
    write_packet(p, 0, PACKET_TRACK, &track);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void begin_event(qp_proto *event, uint32_t type, uint64_t track)
{
    qp_proto_init(event);
    qp_proto_count(event, EVENT_TYPE, type);
    qp_proto_count(event, EVENT_TRACK, track);
}

static uint64_t now(const perfetto *p, const qp_span_thread *th)
{
    return qp_trace_moment(qp_trace_about(p->x->trace), th->raw);
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    perfetto *p = to;
    qp_proto event;
    write_thread(p, th);
    write_name(p, s->method);
    begin_event(&event, BEGIN, track_of(th));
    qp_proto_count(&event, EVENT_NAME, (uint64_t)s->method + 1);
    write_packet(p, qp_trace_export_begin(p->x, s), PACKET_EVENT, &event);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    perfetto *p = to;
    qp_proto event;
    (void)s;
    (void)end;
    begin_event(&event, END, track_of(th));
    write_packet(p, now(p, th), PACKET_EVENT, &event);
}

static void tell(void *to, qp_span_thread *th, const qp_span_event *e)
{
    perfetto *p = to;
    qp_proto event;
    if (e->op == QP_TRACE_COUNTER) {
        write_counter(p, e->a, e->name);
        begin_event(&event, COUNTER, COUNTER_TRACKS + e->a);
        qp_proto_count(&event, EVENT_COUNTER, e->value);
    } else if (e->op == QP_TRACE_MARK || e->op == QP_TRACE_LOST) {
        write_thread(p, th);
        begin_event(&event, INSTANT, track_of(th));
        add_text(p, &event, EVENT_NAME_HERE, e->name ? e->name : "records lost");
    } else {
        return;
    }
    write_packet(p, now(p, th), PACKET_EVENT, &event);
}

static bool write(qp_trace_export *x, qp_out *out)
{
    perfetto p = {.x = x, .out = out, .pid = qp_trace_about(x->trace)->pid};
    const qp_span_sink sink = {&p, enter, leave, tell};
    p.pid = p.pid ? p.pid : 1;
    qp_dict_init(&p.is_known);
    write_process(&p);
    bool is_played = qp_trace_export_play(x, &sink) && !p.failed;
    qp_dict_fini(&p.is_known);
    return is_played;
}

const qp_trace_exporter qp_trace_export_perfetto = {.name = "perfetto",
                                                    .suffix = ".pftrace",
                                                    .summary =
                                                        "ui.perfetto.dev: tracks with slices",
                                                    .is_binary = true,
                                                    .write = write};
