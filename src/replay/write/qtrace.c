/* qtrace.c: packets of records, and before them what their cells mean. Read put_records
 * first. */
#include "replay/write/write.h"

#include <string.h>

#include "base/containers/alloc.h"
#include "base/os/checksum.h"
#include "format/trace.h"

enum { PACKET_BYTES = 1 << 16 };

/* A packet of events that is being filled. */
typedef struct {
    qp_packet head;
    qp_pack_state state;
    uint32_t thread;        /* driven now */
    unsigned char *payload; /* [PACKET_BYTES + QP_PACKED_MAX] NULL: none yet */
    uint64_t n_records;     /* of the OS thread, so far */
} filling;

typedef struct {
    qp_out *out;
    qp_names *names; /* what the cells of the records are */
    uint64_t nonce, sequence, head_checksum;
    uint32_t n_names;  /* NAMES packets */
    qp_buf os_threads; /* the packets that are being filled */
    qp_buf payload;    /* unsigned char, of a NAMES packet; entries since the last one: */
    uint32_t n_entries;
    qp_dict is_written[4]; /* by qp_names_kind: cells and refs in the file */
    uint64_t n_records;
    bool failed; /* no memory */
} writer;

/* ---- packets ----------------------------------------------------------------------------- */

/* @param payload  its padding, up to 7 bytes, may be written to */
static void write_packet(writer *w, qp_packet *p, unsigned char *payload)
{
    if (p->kind != QP_PACKET_EVENTS)
        p->first_record = w->head_checksum;
    size_t n = qp_packet_seal(p, payload, w->nonce, ++w->sequence);
    qp_out_bytes(w->out, (const char *)p, sizeof *p);
    qp_out_bytes(w->out, (const char *)payload, n);
}

static void write_names(writer *w)
{
    qp_packet p = {
        .kind = QP_PACKET_NAMES, .n_bytes = (uint32_t)w->payload.n, .n_records = w->n_entries};
    if (!w->n_entries || !qp_buf_add_many(&w->payload, 8))
        return;
    write_packet(w, &p, w->payload.items);
    w->n_names++;
    w->payload.n = 0;
    w->n_entries = 0;
}

static void write_events(writer *w, filling *f)
{
    if (!f->head.n_records)
        return;
    write_names(w);
    f->head.names = w->n_names;
    write_packet(w, &f->head, f->payload);
    f->head.n_records = 0;
}

/* ---- the dictionary ---------------------------------------------------------------------- */

static qp_name name_of(const char *text)
{
    return (qp_name){text, strlen(text)};
}

/* Is an entry in the file, or needs none? */
static bool is_set(const writer *w, qp_names_kind kind, uint32_t cell)
{
    return !cell || qp_dict_get(&w->is_written[kind], cell);
}

static void add_entry(writer *w, qp_names_kind kind, const qp_names_entry *e)
{
    size_t n = qp_names_most(kind, e);
    unsigned char *to = qp_buf_add_many(&w->payload, n);
    if (to)
        w->payload.n -= n - qp_names_pack(kind, e, to);
    w->failed |= !qp_dict_put(&w->is_written[kind], e->numbers[0], 1);
    w->n_entries++;
}

static void write_method(writer *w, uint32_t cell)
{
    if (is_set(w, QP_NAMES_METHOD, cell))
        return;
    const qp_trace_method *m = qp_names_method_at(w->names, qp_names_method(w->names, cell));
    add_entry(w, QP_NAMES_METHOD,
              &(qp_names_entry){{cell, m->id, m->flags, m->first_line},
                                {name_of(m->bare_name), name_of(m->class_name),
                                 name_of(m->file), name_of(m->module)}});
}

/* Write a path, and before it the callers that are not in the file yet. */
static void write_path(writer *w, uint32_t cell)
{
    qp_buf cells;
    qp_buf_init(&cells, sizeof cell);
    while (!is_set(w, QP_NAMES_PATH, cell)) {
        uint32_t *item = qp_buf_add(&cells);
        if (item)
            *item = cell;
        cell = qp_names_path_at(w->names, qp_names_path(w->names, cell))->caller_cell;
    }
    w->failed |= cells.failed;
    for (size_t i = cells.n; i-- > 0;) {
        uint32_t at = ((const uint32_t *)cells.items)[i];
        const qp_trace_path *p = qp_names_path_at(w->names, qp_names_path(w->names, at));
        write_method(w, p->method_cell);
        add_entry(w, QP_NAMES_PATH,
                  &(qp_names_entry){.numbers = {at, p->caller_cell, p->method_cell}});
    }
    qp_free(cells.items);
}

static void write_thread(writer *w, uint32_t cell)
{
    if (is_set(w, QP_NAMES_THREAD, cell))
        return;
    const qp_trace_thread *th = qp_names_thread_at(w->names, qp_names_thread(w->names, cell));
    add_entry(w, QP_NAMES_THREAD,
              &(qp_names_entry){
                  {cell, th->ordinal, th->host_id, th->vt_id, th->system_id, th->root_cell},
                  {name_of(th->given)}});
}

static void write_text(writer *w, uint32_t ref, const char *text)
{
    if (!is_set(w, QP_NAMES_TEXT, ref))
        add_entry(w, QP_NAMES_TEXT, &(qp_names_entry){{ref}, {name_of(text)}});
}

/* Write what a record refers to, unless it is in the file. */
static void write_references(writer *w, qp_trace_op op, const qp_trace_record *r)
{
    if (op == QP_TRACE_ENTRY) {
        write_path(w, r->a);
        write_method(w, r->b);
    } else if (op == QP_TRACE_EXIT || op == QP_TRACE_SWITCH || op == QP_TRACE_GATE) {
        write_path(w, r->b);
    } else if (op == QP_TRACE_SAMPLE) {
        write_path(w, r->a);
    } else if (op == QP_TRACE_CALL || op == QP_TRACE_RETURN) {
        write_method(w, r->a);
    } else if (op == QP_TRACE_MARKER || op == QP_TRACE_COUNTER) {
        write_text(w, r->a, qp_names_text(w->names, r->a));
    }
    if (op == QP_TRACE_SWITCH || op == QP_TRACE_SUSPEND)
        write_thread(w, r->a);
}

/* ---- records ----------------------------------------------------------------------------- */

static qp_pack_path path_of(void *to, qp_cell cell)
{
    qp_names *names = to;
    const qp_trace_path *p = qp_names_path_at(names, qp_names_path(names, cell));
    return (qp_pack_path){p->caller_cell, p->method_cell};
}

static filling *filling_of(writer *w, uint32_t os_thread)
{
    filling *f = qp_buf_at(&w->os_threads, os_thread);
    if (f && !f->payload)
        f->payload = qp_alloc(PACKET_BYTES + QP_PACKED_MAX + 8, 1);
    return f && f->payload ? f : NULL;
}

static void begin_events(filling *f, uint32_t os_thread, uint64_t ticks)
{
    f->state.ticks = ticks > f->state.ticks ? ticks : f->state.ticks;
    f->head = (qp_packet){.kind = QP_PACKET_EVENTS,
                          .first_record = f->n_records,
                          .first_ticks = f->state.ticks,
                          .os_thread = os_thread + 1,
                          .thread = f->thread,
                          .path = f->state.path};
    f->state.last = f->state.path;
}

/* A STACK record, which only readers make: the head of the next packet replaces it. */
static void set_stack(writer *w, filling *f, const qp_trace_record *r)
{
    write_events(w, f);
    if (!f->n_records)
        f->n_records = 1; /* those before it are missing */
    write_references(w, QP_TRACE_SWITCH, r);
    f->thread = r->a;
    f->state.path = r->b;
}

/* Records of one OS thread, in their order. @param os_thread  index from 0 */
static void put_records(writer *w, uint32_t os_thread, const qp_trace_record *records, size_t n)
{
    const qp_pack_paths paths = {path_of, w->names};
    filling *f = filling_of(w, os_thread);
    w->failed |= !f;
    for (size_t i = 0; f && i < n; i++) {
        const qp_trace_record *r = &records[i];
        qp_trace_op op = qp_trace_op_of(r);
        if (op == QP_TRACE_STACK) {
            set_stack(w, f, r);
            continue;
        }
        write_references(w, op, r);
        if (!f->head.n_records)
            begin_events(f, os_thread, qp_trace_has_ticks(op) ? r->word & QP_TRACE_TICKS : 0);
        qp_packet_put(&f->head, f->payload, &f->state, &f->thread, r, &paths);
        f->n_records++;
        w->n_records++;
        if (f->head.n_bytes >= PACKET_BYTES)
            write_events(w, f);
    }
    w->failed |= w->payload.failed;
}

/* ---- beginning and end ------------------------------------------------------------------- */

/* Begin a file. @return false: no memory; fini() is allowed then */
static bool begin(writer *w, qp_out *out, qp_names *names, const qp_trace_info *info)
{
    enum { PROGRAM = 1 }; /* a ref that no text of a profile has */
    *w = (writer){.out = out,
                  .names = names,
                  .nonce = (info->started_at ^ info->pid << 32) | 1,
                  .os_threads = QP_BUF(filling),
                  .payload = QP_BUF(char)};
    const qp_trace_file head = {.magic = QP_TRACE_MAGIC,
                                .endian = QP_ENDIAN,
                                .major = QP_TRACE_MAJOR,
                                .minor = QP_TRACE_MINOR,
                                .nonce = w->nonce,
                                .pid = info->pid,
                                .started_at = info->started_at,
                                .begun_raw = info->begun_raw,
                                .clock_source = info->n_ticks ? QP_SOURCE_TSC : QP_SOURCE_NS,
                                .is_virtual = info->is_virtual,
                                .program = *info->program ? PROGRAM : 0};
    w->head_checksum = qp_checksum_of(&head, sizeof head);
    qp_out_bytes(out, (const char *)&head, sizeof head);
    write_text(w, head.program, info->program);
    return !w->payload.failed && !w->failed;
}

static void fini(writer *w)
{
    for (size_t i = 0; i < w->os_threads.n; i++)
        qp_free(((filling *)w->os_threads.items)[i].payload);
    qp_free(w->os_threads.items);
    qp_free(w->payload.items);
    for (size_t i = 0; i < sizeof w->is_written / sizeof *w->is_written; i++)
        qp_dict_fini(&w->is_written[i]);
}

/* Write what is left, how ticks become time, and the end. @return false: no memory */
static bool end_all(writer *w, const qp_trace_info *info, uint64_t end_raw)
{
    uint64_t clock[4] = {0, 0, info->n_ticks, info->n_ns};
    qp_packet p = {.kind = QP_PACKET_CLOCK, .n_bytes = sizeof clock};
    for (size_t i = 0; i < w->os_threads.n; i++)
        write_events(w, (filling *)w->os_threads.items + i);
    write_names(w);
    write_packet(w, &p, (unsigned char *)clock);
    p = (qp_packet){.kind = QP_PACKET_END, .first_ticks = end_raw};
    write_packet(w, &p, (unsigned char *)clock);
    return !w->failed && !w->names->failed;
}

/* ---- a trace ----------------------------------------------------------------------------- */

/* A trace whose records do not count the frames that end is written from its calls: one OS thread for
 * each thread, and no thread is paused. */
typedef struct {
    writer *w;
    qp_qtrace_omitted *omitted;
} caller;

static void put_event(writer *w, qp_span_thread *th, const qp_trace_record *r)
{
    const qp_trace_record drive = qp_trace_make(
        QP_TRACE_SWITCH, r->word, qp_names_thread_at(w->names, th->number)->ordinal, 0);
    if (!th->data)
        put_records(w, th->index, &drive, 1);
    th->data = w;
    put_records(w, th->index, r, 1);
}

/* An announced call begins at its announcement: the thread has no event in between. */
static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    const caller *c = to;
    const qp_trace_record r = qp_trace_make(
        QP_TRACE_ENTRY, s->raw, 0, (uint32_t)qp_names_method_at(c->w->names, s->method)->id);
    put_event(c->w, th, &r);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    const caller *c = to;
    uint64_t raw = s->flags & QP_SPAN_LEFT ? s->left : th->raw;
    const qp_trace_record r =
        qp_trace_make(QP_TRACE_EXIT, raw, end == QP_END_RETURNED ? 1 : 1 | QP_TRACE_UNWOUND, 0);
    if (end != QP_END_UNFINISHED)
        put_event(c->w, th, &r);
}

static void omit(void *to, qp_span_thread *th, const qp_span_event *e)
{
    const caller *c = to;
    bool is_announced = e->op == QP_TRACE_CALL || e->op == QP_TRACE_RETURN;
    (void)th;
    c->omitted->n_lines += e->op == QP_TRACE_LINE || (is_announced && e->b);
    c->omitted->n_values += e->op == QP_TRACE_VALUE;
}

static bool write_calls(qp_trace *t, writer *w, const qp_progress *progress,
                        qp_span_counts *counts, qp_qtrace_omitted *omitted)
{
    qp_spans x;
    caller c = {w, omitted};
    const qp_span_sink sink = {&c, enter, leave, omit};
    qp_trace_spans(t, &x, &sink);
    bool is_played = qp_trace_play(t, &x, NULL, progress);
    *counts = x.counts;
    counts->n_records = w->n_records;
    qp_spans_fini(&x);
    return is_played;
}

static void count_record(qp_span_counts *counts, const qp_trace_record *r)
{
    qp_trace_op op = qp_trace_op_of(r);
    if (qp_trace_has_ticks(op)) {
        counts->last = r->word & QP_TRACE_TICKS;
        counts->first = counts->first ? counts->first : counts->last;
    }
    if (op == QP_TRACE_LOST) {
        counts->n_lost += (uint64_t)r->b << 32 | r->a;
        counts->n_gaps++;
    }
}

static bool write_records(qp_trace *t, writer *w, const qp_progress *progress,
                          qp_span_counts *counts)
{
    const qp_trace_info *info = qp_trace_about(t);
    qp_trace_run run;
    qp_trace_ahead_begin(t);
    while (!w->failed && qp_trace_next(t, &run)) {
        put_records(w, run.os_thread, run.records, run.n);
        for (size_t i = 0; i < run.n; i++)
            count_record(counts, &run.records[i]);
        if (info->n_bytes)
            qp_progress_show(progress, (unsigned)(qp_trace_position(t) * 100 / info->n_bytes));
    }
    qp_trace_ahead_end(t);
    counts->n_records = w->n_records;
    return !qp_trace_failed(t);
}

bool qp_qtrace_write(qp_trace *t, qp_out *out, const qp_progress *progress,
                     qp_span_counts *counts, qp_qtrace_omitted *omitted)
{
    const qp_trace_info *info = qp_trace_about(t);
    writer w;
    *counts = (qp_span_counts){0};
    *omitted = (qp_qtrace_omitted){0};
    bool is_good =
        begin(&w, out, qp_trace_names(t), info) &&
        (info->kind == QP_TRACE_OF_XBASE ? write_calls(t, &w, progress, counts, omitted)
                                         : write_records(t, &w, progress, counts));
    uint64_t end = info->end_raw ? info->end_raw : counts->last;
    is_good = is_good && end_all(&w, info, end);
    fini(&w);
    return is_good;
}
