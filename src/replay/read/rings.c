/* rings.c: records in the rings of a profile: the whole trace in overwrite mode; in stream mode those
 * that had not been written when the program died. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/model.h"
#include "replay/read/source.h"

enum { RING_PIECE = 4096 }; /* records handed out at a time */

static const qp_trace_record *slot(const qp_model_ring *r, uint64_t number)
{
    return &r->slots[number & (r->ring->n_slots - 1)];
}

static uint64_t oldest(const qp_ring *r)
{
    uint64_t kept = r->head >= r->n_slots ? r->head - r->n_slots + 1 : 0;
    return r->tail > kept && r->tail <= r->head ? r->tail : kept;
}

/* @return the time of the first of these records that has one; 0: none has */
static uint64_t begin_of(const qp_model_ring *r, uint64_t first)
{
    uint64_t ticks = 0;
    while (first < r->ring->head && !qp_trace_has_time(slot(r, first), &ticks))
        first++;
    return ticks;
}

/* @return the time of the last one; UINT64_MAX: none has */
static uint64_t end_of(const qp_model_ring *r, uint64_t first)
{
    uint64_t ticks = UINT64_MAX, next = r->ring->head;
    while (next > first && !qp_trace_has_time(slot(r, next - 1), &ticks))
        next--;
    return ticks;
}

/* Slots may have been written again while the ring was copied. @return the oldest record that is
 * sound */
static uint64_t oldest_sound(const qp_model_ring *r, int fd)
{
    uint64_t head, first = oldest(r->ring);
    size_t n = qp_file_read_at(fd, &head, sizeof head, (uint64_t)r->cell * QP_CELL);
    if (n == sizeof head && head > r->ring->head && head >= r->ring->n_slots) {
        uint64_t kept = head - r->ring->n_slots + 1;
        first = kept > first ? kept : first;
    }
    if (first >= r->ring->head)
        return r->ring->head;
    uint64_t newest = end_of(r, first), ticks;
    for (uint64_t i = first; i < r->ring->head; i++) { /* a snapshot does not tell */
        bool has_ticks = qp_trace_has_time(slot(r, i), &ticks);
        if (has_ticks && ticks <= newest)
            break;
        first = has_ticks ? i + 1 : first;
    }
    return first;
}

/* @return whose records are the first ones: the thread that is suspended, or that has the first
 * path */
static qp_cell first_thread(const qp_model *m, const qp_model_ring *r, uint64_t first)
{
    for (uint64_t i = first; i < r->ring->head; i++) {
        const qp_trace_record *s = slot(r, i);
        qp_trace_op op = qp_trace_op_of(s);
        uint32_t node = op == QP_TRACE_ENTRY ? qp_index_at(m->own, s->a, QP_TAG_NODE) : 0;
        if (node)
            return m->own->extras[m->nodes[node].thread].cell;
        if (op == QP_TRACE_SUSPEND)
            return s->a;
        if (op == QP_TRACE_SWITCH)
            return 0;
    }
    return r->ring->thread;
}

/* Take the rings of the model as they are now. @return how many have something new */
static size_t take_rings(qp_trace *t, const qp_model_ring *rings, size_t n)
{
    size_t n_new = 0;
    for (size_t i = 0; i < n && !t->failed; i++) {
        const qp_model_ring *r = &rings[i];
        uint64_t first = oldest_sound(r, t->rings_fd);
        uint32_t index = qp_trace_os_thread_of(t, (uint64_t)r->cell << 32);
        if (index == UINT32_MAX)
            break;
        qp_trace_os_thread *c = qp_trace_os_thread_at(t, index);
        c->ring = *r;
        c->ring_first = first;
        t->info.is_elsewhere |= t->fd < 0 && r->ring->tail;
        bool has_new = first < r->ring->head && r->ring->head > c->end_record;
        n_new += has_new;
        if (!has_new || (t->fd >= 0 && c->packets.n))
            continue; /* it follows its packets */
        if (!c->end_record)
            t->losses.n_overwritten += r->ring->tail ? 0 : first;
        c->next = begin_of(r, first);
        t->info.n_bytes += (r->ring->head - first) * sizeof(qp_trace_record);
        qp_trace_os_thread_wake(t, index);
    }
    return n_new;
}

/* Later counters than those of a packet. */
static void take_counters(qp_trace *t)
{
    const qp_run_info *run = &t->model->run;
    for (size_t i = 0; i < run->n_diagnostics; i++)
        if (strcmp(run->diagnostics[i].name, "trace_lost") == 0)
            t->losses.n_unheld = run->diagnostics[i].count;
        else if (strcmp(run->diagnostics[i].name, "trace_unwritten") == 0)
            t->losses.n_unwritten = run->diagnostics[i].count;
}

static void describe(qp_trace *t)
{
    const qp_head *h = qp_image_head(&t->model->own->image);
    take_counters(t);
    bool has_ratio =
        h->clock_source == QP_SOURCE_TSC && h->tick_1 > h->tick_0 && h->ns_1 > h->ns_0;
    bool is_live = t->model->run.state == QP_RUN_LIVE;
    t->names.model = t->model;
    t->info.is_live = is_live;
    t->losses.of_profile = t->model->n_losses && !is_live ? t->model->losses[0] : NULL;
    t->info.end_raw = is_live ? 0 : t->model->own->now_raw;
    t->info.is_ended = t->model->run.state >= QP_RUN_SNAPSHOT;
    if (has_ratio) { /* better than what a packet has */
        t->info.n_ticks = h->tick_1 - h->tick_0;
        t->info.n_ns = h->ns_1 - h->ns_0;
    }
    if (t->fd >= 0)
        return; /* the rest is known from its file */
    t->info.kind = QP_TRACE_OF_RINGS;
    t->info.program = t->model->run.program;
    t->info.pid = t->model->run.pid;
    t->info.started_at = h->started_at;
    t->info.begun_raw = h->begun_raw;
    t->info.is_virtual = t->model->run.is_virtual;
}

/* A process of an earlier time may have left a profile under the same id. */
static bool is_same_run(const qp_trace *t, const qp_model *m)
{
    uint64_t nonce = qp_image_head(&m->own->image)->nonce;
    return (t->fd < 0 || t->head.nonce == nonce) &&
           (!t->model || qp_image_head(&t->model->own->image)->nonce == nonce);
}

/* @return false: see error */
static bool load(qp_trace *t, const char *what, size_t *n_new, qp_error *error)
{
    qp_model *m;
    qp_model_ring *rings;
    size_t n = 0;
    if (qp_model_load(what, NULL, &m, error) == QP_LOAD_UNUSABLE)
        return false;
    bool has_memory = qp_model_rings(m, &rings, &n);
    bool is_same = is_same_run(t, m);
    if (is_same && has_memory && n) {
        qp_model *old = t->model;
        t->model = m;
        describe(t);
        *n_new = take_rings(t, rings, n);
        m = old;
    } else {
        qp_error_fail(error, "%s: %s", what,
                      !has_memory ? "not enough memory"
                      : !is_same  ? "the profile of another run"
                                  : "no raw trace is in it; record one with -collect=trace");
    }
    qp_free(rings);
    qp_model_free(m);
    return is_same && has_memory && n;
}

static int open_file(const char *what)
{
    char path[QP_ERROR_BYTES];
    const char *why;
    bool is_file = access(what, F_OK) == 0;
    if (!is_file && !qp_live_path(strtoull(what, NULL, 10), true, path, sizeof path))
        return -1;
    return qp_file_open(is_file ? what : path, &why);
}

/* And keep the file open, which moves away when its program ends. */
static bool load_and_keep(qp_trace *t, size_t *n_new, qp_error *error)
{
    int before = t->rings_fd;
    t->rings_fd = open_file(t->profile);
    bool is_loaded = load(t, t->profile, n_new, error);
    int other = is_loaded && t->rings_fd >= 0 ? before : t->rings_fd;
    t->rings_fd = is_loaded && t->rings_fd >= 0 ? t->rings_fd : before;
    if (other >= 0)
        close(other);
    return is_loaded;
}

/* The program has ended: what was read at last may be from before; the file that we have open
 * is complete now, wherever it is. */
static void load_last(qp_trace *t, size_t *n_new)
{
    qp_error error;
    char path[64];
    qp_text_format(path, sizeof path, "/proc/self/fd/%d", t->rings_fd);
    t->info.is_live = false;
    if (t->rings_fd >= 0)
        load(t, path, n_new, &error);
}

bool qp_trace_rest(const qp_trace *t, char *path, size_t n_bytes)
{
    qp_error error;
    qp_model *m = NULL;
    const qp_trace_info *info = &t->info;
    bool is_missing = info->kind == QP_TRACE_OF_PACKETS && !info->is_ended && !info->is_live;
    bool is_there = is_missing && !t->model && qp_live_path(info->pid, true, path, n_bytes) &&
                    qp_model_load(path, NULL, &m, &error) != QP_LOAD_UNUSABLE &&
                    is_same_run(t, m);
    qp_model_free(m);
    return is_there;
}

static bool refresh(qp_trace *t)
{
    qp_error error;
    size_t n_new = 0;
    if (!t->info.is_live || t->fd >= 0) /* joined to a file: read once */
        return false;
    if (!load_and_keep(t, &n_new, &error) || !t->info.is_live)
        load_last(t, &n_new);
    return n_new;
}

static bool fill(qp_trace *t, qp_trace_os_thread *c)
{
    const qp_model_ring *r = &c->ring;
    if (!r->ring)
        return false;
    uint64_t first = c->end_record > c->ring_first ? c->end_record : c->ring_first;
    bool is_first = !c->end_record;
    if (first >= r->ring->head)
        return false;
    bool is_gap = !is_first && first > c->end_record, is_begun = c->ring_begun;
    uint32_t thread = (is_first || is_gap) && !is_begun ? first_thread(t->model, r, first) : 0;
    if ((is_gap || (is_first && (first || thread))) && !is_begun) {
        if (!qp_trace_batch(t, c))
            return false;
        uint64_t ticks = begin_of(r, first);
        if (!is_first)
            c->batch[c->n++] =
                qp_trace_make(QP_TRACE_LOST, ticks, (uint32_t)(first - c->end_record),
                              (uint32_t)((first - c->end_record) >> 32));
        c->batch[c->n++] = qp_trace_make(QP_TRACE_STACK, ticks, thread, 0);
        c->records = c->batch;
        c->ring_begun = true;
        return true;
    }
    uint32_t at = (uint32_t)first & (r->ring->n_slots - 1);
    uint64_t n = r->ring->head - first;
    n = n < r->ring->n_slots - at ? n : r->ring->n_slots - at;
    n = n < RING_PIECE ? n : RING_PIECE;
    c->records = r->slots + at;
    c->n = (size_t)n;
    c->end_record = first + n;
    c->ring_begun = false;
    t->position += n * sizeof(qp_trace_record);
    return true;
}

static void close_rings(qp_trace *t)
{
    if (t->rings_fd >= 0)
        close(t->rings_fd);
    qp_model_free(t->model);
}

bool qp_rings_open(qp_trace *t, const char *what, qp_error *error)
{
    static const qp_trace_source rings = {fill, refresh, close_rings};
    size_t n_new;
    t->sources[t->sources[0] != NULL] = &rings;
    bool is_file = access(what, F_OK) == 0;
    qp_text_format(t->profile, sizeof t->profile, "%s", what);
    if (!load_and_keep(t, &n_new, error))
        return false;
    if (!is_file && !t->info.is_live)
        load_last(t, &n_new);
    return true;
}
