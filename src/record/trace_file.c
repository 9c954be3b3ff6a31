/* trace_file.c: packets. Read qp_trace_sink_put first.
 *
 * A packet is written at its place by pwrite, its sum tells whether it is whole, and the next one
 * is put over a part that could not be written. Space is taken before it is needed, with some for
 * the end of the trace, which is written even to a full disk. */
#include "record/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/pages.h"
#include "record/charge.h"
#include "record/trace_file_parts.h"

enum {
    EVENTS_BYTES = 64 * 1024,
    STEP_BYTES = 1 << 20, /* space is taken in such steps ... */
    END_BYTES = 4096,     /* ... and this much more, for the end */
    MIN_FD = 1000,        /* out of the way of hosts that close low descriptors */
    NAMES_TRIED = 999
};

/* ---- the file ------------------------------------------------------------------------------- */

static bool is_ours(const qp_trace_sink *s, struct stat *st)
{
    return fstat(s->fd, st) == 0 && st->st_dev == s->device && st->st_ino == s->inode;
}

static void close_file(qp_trace_sink *s)
{
    struct stat st;
    if (s->fd >= 0 && is_ours(s, &st))
        close(s->fd);
    s->fd = -1;
}

void qp_trace_sink_free(qp_trace_sink *s)
{
    if (!s)
        return;
    close_file(s);
    qp_pages_drop(s, s->n_memory);
}

static int create(char *path, size_t n_bytes)
{
    size_t n = strlen(path);
    for (unsigned i = 0; i <= NAMES_TRIED; i++) {
        if (i && snprintf(path + n, n_bytes - n, ".%u", i) >= (int)(n_bytes - n))
            break;
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* What the process may write into a file at most; space that is only reserved does not obey it. */
static uint64_t size_limit(void)
{
    struct rlimit limit;
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? limit.rlim_cur : UINT64_MAX;
}

static bool reserve(int fd, uint64_t n_bytes)
{
    int error;
    do
        error = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)n_bytes) == 0 ? 0 : errno;
    while (error == EINTR);
    return !error || error == EOPNOTSUPP || error == ENOSYS; /* then writing will tell */
}

/* Space up to `end` and some more. Where that cannot be taken, what was kept for the end of the
 * trace may be used by it, and by nothing else. */
static bool take_space(qp_trace_sink *s, uint64_t end, bool is_end)
{
    uint64_t needed = end + (is_end ? 0 : END_BYTES), wanted = end + STEP_BYTES;
    if (needed <= s->n_ready)
        return true;
    uint64_t most = size_limit();
    if (wanted > most || !reserve(s->fd, wanted))
        wanted = needed;
    bool is_taken = wanted <= most && (wanted > needed || reserve(s->fd, needed));
    s->state = is_taken ? QP_SINK_GOOD : QP_SINK_FULL;
    s->n_ready = is_taken ? wanted : s->n_ready;
    return is_taken;
}

static bool write_all(qp_trace_sink *s, const void *bytes, uint64_t n)
{
    const char *at = bytes;
    for (uint64_t done = 0; done < n;) {
        ssize_t wrote = pwrite(s->fd, at + done, n - done, (off_t)(s->n_bytes + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            s->state = QP_SINK_FULL;
            return false;
        }
        done += (uint64_t)wrote;
    }
    s->n_bytes += n;
    return true;
}

/* @param is_end  it may use the last of the space */
bool qp_sink_write(qp_trace_sink *s, qp_sink_packet *p, bool is_end)
{
    struct stat st;
    size_t n_padded = qp_packet_padded(p->head.n_bytes);
    if (qp_load(&s->state) != QP_SINK_GOOD)
        return false;
    if (!is_ours(s, &st) || !st.st_nlink || (uint64_t)st.st_size < s->n_bytes) {
        s->state = QP_SINK_GONE;
        return false;
    }
    p->head.magic = QP_PACKET_MAGIC;
    p->head.nonce = qp_run_head()->nonce;
    p->head.sequence = s->sequence + 1;
    memset(p->bytes + p->head.n_bytes, 0, n_padded - p->head.n_bytes);
    p->head.sum = qp_packet_sum(&p->head, p->bytes);
    uint64_t n = sizeof p->head + n_padded;
    if (!take_space(s, s->n_bytes + n, is_end) || !write_all(s, p, n))
        return false;
    s->sequence++;
    return true;
}

static bool write_head(qp_trace_sink *s)
{
    const qp_head *h = qp_run_head();
    qp_trace_file f = {.endian = QP_ENDIAN,
                       .major = QP_TRACE_MAJOR,
                       .minor = QP_TRACE_MINOR,
                       .nonce = h->nonce,
                       .pid = h->pid,
                       .started_at = h->started_at,
                       .begun_raw = h->begun_raw,
                       .clock_source = h->clock_source,
                       .is_virtual = qp_run.is_virtual,
                       .program = h->program,
                       .host = h->host};
    memcpy(f.magic, QP_TRACE_MAGIC, sizeof f.magic);
    return take_space(s, sizeof f, false) && write_all(s, &f, sizeof f);
}

/* ---- events --------------------------------------------------------------------------------- */

static qp_pack_path path_of(void *sink, qp_cell path)
{
    const qp_trace_sink *s = sink;
    qp_pack_path known = s->known[path];
    return known.method ? known : (qp_pack_path){0, 0};
}

bool qp_trace_sink_flush(qp_trace_sink *s)
{
    qp_sink_packet *p = s->events;
    if (!p->head.n_records)
        return s->state == QP_SINK_GOOD;
    bool is_good = qp_sink_write_names(s);
    p->head.names = s->n_names;
    is_good = is_good && qp_sink_write(s, p, false);
    if (is_good)
        s->rings[s->ring].written = s->rings[s->ring].next;
    p->head.n_records = p->head.n_bytes = 0;
    return is_good;
}

/* An empty packet for records of a ring from a number on. */
static void begin_events(qp_trace_sink *s, uint32_t i, uint64_t first, const qp_trace_record *r)
{
    const qp_ring *ring = qp_trace_ring_at(i);
    qp_sink_ring *state = &s->rings[i];
    if (state->next != first) /* some are missing */
        *state = (qp_sink_ring){.next = first, .written = first};
    uint64_t ticks = r->word & QP_TRACE_TICKS;
    if (qp_trace_has_ticks(qp_trace_op_of(r)) && ticks > state->at.ticks)
        state->at.ticks = ticks;
    state->at.last = state->at.path;
    s->ring = i;
    s->events->head = (qp_packet){.kind = QP_PACKET_EVENTS,
                                  .first_record = first,
                                  .first_ticks = state->at.ticks,
                                  .carrier = qp_load(&ring->carrier),
                                  .ring = QPROF_INDEX(&qp_run.space.map, ring),
                                  .thread = state->thread,
                                  .path = state->at.path};
}

bool qp_trace_sink_put(qp_trace_sink *s, uint32_t i, uint64_t first, const qp_trace_record *r,
                       uint64_t n)
{
    const qp_pack_paths paths = {path_of, s};
    qp_sink_packet *p = s->events;
    qp_sink_ring *state = &s->rings[i];
    for (uint64_t k = 0; k < n; k++) {
        bool is_other = s->ring != i || state->next != first + k;
        if ((is_other || p->head.n_bytes > EVENTS_BYTES - QP_PACKED_MAX) && p->head.n_records &&
            !qp_trace_sink_flush(s))
            return false;
        if (!qp_sink_need(s, &r[k])) {
            p->head.n_records = p->head.n_bytes = 0;
            return false;
        }
        if (!p->head.n_records)
            begin_events(s, i, first + k, &r[k]);
        p->head.n_bytes +=
            (uint32_t)qp_pack_record(&state->at, &r[k], &paths, p->bytes + p->head.n_bytes);
        p->head.n_records++;
        state->next++;
        if (qp_trace_op_of(&r[k]) == QP_TRACE_SWITCH)
            state->thread = r[k].a;
        else if (qp_trace_op_of(&r[k]) == QP_TRACE_PARK)
            state->thread = 0;
    }
    return true;
}

/* ---- clock and end -------------------------------------------------------------------------- */

/* A packet without records, in the place of the events, which are written. */
static qp_sink_packet *other_packet(qp_trace_sink *s, qp_packet_kind kind)
{
    qp_sink_packet *p = s->events;
    uint64_t end = qp_observe(&qp_run_head()->end_raw); /* of the run; 0: not yet */
    p->head = (qp_packet){.kind = kind, .first_ticks = end ? end : qp_charge_elapsed()};
    return p;
}

static bool put_clock(qp_trace_sink *s, bool is_end)
{
    const qp_head *h = qp_run_head();
    qp_sink_packet *p = other_packet(s, QP_PACKET_CLOCK);
    /* at the end the head is right, and its profile is to agree; before, others may set it */
    const uint64_t points[] = {h->tick_0, h->ns_0, is_end ? h->tick_1 : qp_clock_tsc(),
                               is_end ? h->ns_1 : qp_clock_monotonic()};
    memcpy(p->bytes, points, sizeof points);
    p->head.n_bytes = sizeof points;
    for (unsigned i = 0; i < QP_D_COUNT; i++)
        p->head.n_bytes +=
            (uint32_t)qp_pack_varint(qp_load(&h->diagnostics[i]), p->bytes + p->head.n_bytes);
    return qp_sink_write(s, p, is_end);
}

bool qp_trace_sink_clock(qp_trace_sink *s)
{
    return qp_trace_sink_flush(s) && put_clock(s, false);
}

bool qp_trace_sink_finish(qp_trace_sink *s)
{
    qp_trace_sink_flush(s);
    qp_sink_add_late_names(s);
    qp_trace_sink_retry(s); /* the end has its space */
    bool is_good = put_clock(s, true) && qp_sink_write(s, other_packet(s, QP_PACKET_END), true);
    if (s->state != QP_SINK_GONE && ftruncate(s->fd, (off_t)s->n_bytes) != 0)
        is_good = false;
    close_file(s);
    return is_good;
}

/* ---- beginning ------------------------------------------------------------------------------ */

static qp_trace_sink *take_memory(void)
{
    uint64_t n_cells = qp_run.space.map.reserved_bytes / QP_CELL;
    size_t n_self = (sizeof(qp_trace_sink) + 63) / 64 * 64;
    size_t n_events = sizeof(qp_sink_packet) + EVENTS_BYTES,
           n_names = sizeof(qp_sink_packet) + QP_SINK_NAMES_BYTES;
    size_t n = n_self + n_events + n_names + n_cells * (sizeof(qp_pack_path) + 1);
    char *memory = qp_pages_take(n);
    if (!memory)
        return NULL;
    qp_trace_sink *s = (qp_trace_sink *)(void *)memory;
    s->fd = -1;
    s->n_memory = n;
    s->events = (qp_sink_packet *)(void *)(memory + n_self);
    s->names = (qp_sink_packet *)(void *)(memory + n_self + n_events);
    s->known = (qp_pack_path *)(void *)(memory + n_self + n_events + n_names);
    s->texts = (unsigned char *)(s->known + n_cells);
    return s;
}

static bool open_file(qp_trace_sink *s, char *path, size_t n_bytes)
{
    struct stat st;
    int fd = create(path, n_bytes);
    if (fd < 0)
        return false;
    s->fd = fcntl(fd, F_DUPFD_CLOEXEC, MIN_FD);
    if (s->fd >= 0)
        close(fd);
    else
        s->fd = fd;
    if (fstat(s->fd, &st) != 0)
        return false;
    s->device = st.st_dev;
    s->inode = st.st_ino;
    return true;
}

qp_trace_sink *qp_trace_sink_new(char *path, size_t n_bytes)
{
    qp_trace_sink *s = take_memory();
    if (!s)
        return NULL;
    if (open_file(s, path, n_bytes)) {
        if (write_head(s) && qp_sink_need_text(s, qp_run_head()->program) &&
            qp_sink_need_text(s, qp_run_head()->host) && qp_sink_write_names(s))
            return s;
        errno = ENOSPC;
        unlink(path);
    }
    int error = errno;
    qp_trace_sink_free(s);
    errno = error;
    return NULL;
}

qp_sink_state qp_trace_sink_state(const qp_trace_sink *s)
{
    return s->state;
}

uint64_t qp_trace_sink_written(const qp_trace_sink *s, uint32_t i)
{
    return s->rings[i].written;
}

void qp_trace_sink_abandon(qp_trace_sink *s)
{
    if (s)
        qp_store(&s->state, QP_SINK_GONE);
}

void qp_trace_sink_retry(qp_trace_sink *s)
{
    s->state = QP_SINK_GOOD;
}
