/* trace_file.c: packets and the dictionary of a .qtrace file. Read qp_trace_sink_put first.
 *
 * A packet is written at its place by pwrite. Its sum shows whether it is whole; a part that
 * could not be written is overwritten by the next packet. Space is reserved before it is
 * needed, with some for the end of the trace, which is written even to a full disk. */
#include "record/stream/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/checksum.h"
#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/mapping.h"
#include "base/os/place.h"
#include "format/trace.h"
#include "record/clock/clock.h"

enum {
    EVENTS_BYTES = 64 * 1024,
    STEP_BYTES = 1 << 20, /* space is taken in such steps ... */
    END_BYTES = 4096,     /* ... and this much more, for the end */
    RINGS = 4096,
    NAMES_BYTES = 128 * 1024, /* a packet of names: new ones and those of the previous packet */
    FRESH_BYTES = 40 * 1024,  /* of new names: then they are written */
    TEXT_BYTES = 4096,        /* of one name */
    ENTRY_BYTES = 4 * (TEXT_BYTES + 3) + 6 * QP_VARINT_MAX
};

_Static_assert(2 * (FRESH_BYTES + ENTRY_BYTES) <= NAMES_BYTES,
               "the names of two packets fit one");

/* What the dictionary of the file stores for a cell: of a path its caller and method, which are
 * not in the head's cells; of an outermost path ROOT and no method; of a method METHOD, and
 * LATE while its name is unknown; of a thread the number of threads that had its record. */
enum { ROOT = 1, LATE = 1, METHOD = 1 };

typedef struct {
    qp_pack_state at;
    uint64_t next;    /* number of the record that comes next */
    uint64_t written; /* of the one that is not in the file yet */
    qp_cell thread;
} ring_state;

/* A packet that is being filled. */
typedef struct {
    qp_packet head;
    unsigned char bytes[];
} packet;

struct qp_trace_sink {
    int fd; /* -1: none */
    uint64_t device, inode;
    uint64_t n_bytes; /* of whole packets */
    uint64_t n_ready; /* of space that is taken */
    uint64_t part;    /* where the last of the parts begins, each ... */
    uint64_t n_part;  /* ... of half of -trace-limit */
    uint64_t sequence;
    uint32_t head_checksum;
    uint32_t n_names; /* packets of names so far */
    qp_sink_state state;
    uint32_t ring;     /* whose records the packet has */
    uint32_t n_before; /* bytes of names of the previous packet, n_entries_before names */
    uint32_t n_entries_before;
    uint32_t n_late; /* methods whose names may still come */
    size_t n_memory;
    qp_pack_path *known;  /* by cell */
    unsigned char *texts; /* bit i of byte c: ref 8 * c + i is known */
    ring_state rings[RINGS];
    packet *events, *names;
};

/* ---- the file ---------------------------------------------------------------------------- */

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

/* Locked while it is written, see qp_earlier_trace(). */
static int create(char *path, size_t n_bytes)
{
    char temporary[QP_PATH_MAX];
    const qp_head *h = qp_recorder_head();
    if (snprintf(temporary, sizeof temporary, "%s.tmp%llx", path,
                 (unsigned long long)h->nonce) >= (int)sizeof temporary)
        return -1;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    flock(fd, LOCK_EX | LOCK_NB);
    if (qp_place_file(temporary, path, n_bytes, qp_earlier_trace, h))
        return fd;
    int error = errno;
    close(fd);
    unlink(temporary);
    errno = error;
    return -1;
}

/* The largest file that the process may write. Reserving space does not check this limit. */
static uint64_t size_limit(void)
{
    struct rlimit limit;
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? limit.rlim_cur : UINT64_MAX;
}

/* Space after what is written: before it a part may have been removed. */
static bool reserve(const qp_trace_sink *s, uint64_t end)
{
    int error;
    do
        error = fallocate(s->fd, FALLOC_FL_KEEP_SIZE, (off_t)s->n_bytes,
                          (off_t)(end - s->n_bytes)) == 0
                    ? 0
                    : errno;
    while (error == EINTR);
    return !error || error == EOPNOTSUPP || error == ENOSYS; /* then writing shows it */
}

/* Reserve space up to `end` and some more. If that fails, only the end of the trace may use the
 * space that was kept for it. */
static bool take_space(qp_trace_sink *s, uint64_t end, bool is_end)
{
    uint64_t needed = end + (is_end ? 0 : END_BYTES), wanted = end + STEP_BYTES;
    if (needed <= s->n_ready)
        return true;
    uint64_t most = size_limit();
    if (wanted > most || !reserve(s, wanted))
        wanted = needed;
    bool is_taken = wanted <= most && (wanted > needed || reserve(s, needed));
    s->state = is_taken ? QP_SINK_GOOD : QP_SINK_FULL;
    s->n_ready = is_taken ? wanted : s->n_ready;
    return is_taken;
}

static bool write_all(qp_trace_sink *s, const void *bytes, uint64_t n)
{
    size_t done;
    if (qp_file_write_at(s->fd, bytes, n, s->n_bytes, &done) != 0) {
        s->state = QP_SINK_FULL;
        return false;
    }
    s->n_bytes += n;
    return true;
}

/* @param is_end  it may use the last of the space */
static bool write_packet(qp_trace_sink *s, packet *p, bool is_end)
{
    struct stat st;
    if (qp_load(&s->state) != QP_SINK_GOOD)
        return false;
    if (!is_ours(s, &st) || !st.st_nlink || (uint64_t)st.st_size < s->n_bytes) {
        s->state = QP_SINK_GONE;
        return false;
    }
    uint64_t n = sizeof p->head +
                 qp_packet_seal(&p->head, p->bytes, qp_recorder_head()->nonce, s->sequence + 1);
    if (!take_space(s, s->n_bytes + n, is_end) || !write_all(s, p, n))
        return false;
    s->sequence++;
    return true;
}

static bool write_head(qp_trace_sink *s)
{
    const qp_head *h = qp_recorder_head();
    qp_trace_file f = {.endian = QP_ENDIAN,
                       .major = QP_TRACE_MAJOR,
                       .minor = QP_TRACE_MINOR,
                       .nonce = h->nonce,
                       .pid = h->pid,
                       .started_at = h->started_at,
                       .begun_raw = h->begun_raw,
                       .clock_source = h->clock_source,
                       .is_virtual = qp_recorder.is_virtual,
                       .program = h->program,
                       .host = h->host};
    memcpy(f.magic, QP_TRACE_MAGIC, sizeof f.magic);
    s->head_checksum = qp_checksum_of(&f, sizeof f);
    return take_space(s, sizeof f, false) && write_all(s, &f, sizeof f);
}

/* ---- the dictionary ---------------------------------------------------------------------- */

static bool write_names(qp_trace_sink *s)
{
    packet *p = s->names;
    uint32_t n_fresh = p->head.n_bytes - s->n_before;
    uint32_t n_entries = p->head.n_records - s->n_entries_before;
    if (!n_fresh)
        return true;
    p->head.kind = QP_PACKET_NAMES;
    p->head.first_record = s->head_checksum;
    if (!write_packet(s, p, false))
        return false;
    s->n_names++;
    memmove(p->bytes, p->bytes + s->n_before, n_fresh);
    s->n_before = p->head.n_bytes = n_fresh;
    s->n_entries_before = p->head.n_records = n_entries;
    return true;
}

/* @return false: no room, because the file cannot be written */
static bool add_entry(qp_trace_sink *s, qp_names_kind kind, const qp_names_entry *e)
{
    packet *p = s->names;
    if (p->head.n_bytes - s->n_before >= FRESH_BYTES && !write_names(s))
        return false;
    p->head.n_bytes += (uint32_t)qp_names_pack(kind, e, p->bytes + p->head.n_bytes);
    p->head.n_records++;
    return true;
}

static qp_name text_at(qp_ref ref)
{
    const char *text = qp_texts_at(&qp_recorder.texts, ref);
    return (qp_name){text, strnlen(text, TEXT_BYTES)};
}

static bool need_text(qp_trace_sink *s, qp_ref ref)
{
    unsigned char bit = (unsigned char)(1u << ref % 8);
    if (!ref || s->texts[ref / 8] & bit)
        return true;
    if (!add_entry(s, QP_NAMES_TEXT, &(qp_names_entry){{ref}, {text_at(ref)}}))
        return false;
    s->texts[ref / 8] |= bit;
    return true;
}

static bool add_method(qp_trace_sink *s, qp_cell cell)
{
    const qp_method *m = qp_at(&qp_recorder.space, cell);
    bool is_late = !qp_method_is_registered(&qp_recorder.methods, cell);
    const qp_names_entry e = {
        {cell, m->id, qp_load(&m->flags), is_late ? 0 : qp_method_first_line(m)},
        {text_at(is_late ? 0 : m->name), text_at(is_late ? 0 : m->class_name),
         text_at(is_late ? 0 : m->file), text_at(is_late ? 0 : m->module)}};
    if (!add_entry(s, QP_NAMES_METHOD, &e))
        return false;
    s->n_late += is_late;
    s->known[cell] = (qp_pack_path){is_late ? LATE : 0, METHOD};
    return true;
}

static bool need_method(qp_trace_sink *s, qp_cell cell)
{
    return !cell || s->known[cell].method || add_method(s, cell);
}

static bool add_path(qp_trace_sink *s, qp_cell cell, qp_cell caller, qp_cell method)
{
    if (!add_entry(s, QP_NAMES_PATH, &(qp_names_entry){.numbers = {cell, caller, method}}))
        return false;
    s->known[cell] = (qp_pack_path){caller ? caller : ROOT, method};
    return true;
}

static bool add_thread(qp_trace_sink *s, qp_cell cell)
{
    const qp_thread_record *r = qp_at(&qp_recorder.space, cell);
    qp_cell root = qp_load(&r->root);
    uint32_t n_lives =
        qp_load(&r->n_lives); /* before the rest: a later life is written again */
    bool is_new = root && s->known[root].caller != ROOT;
    if (is_new && !add_path(s, root, 0, 0))
        return false;
    const qp_names_entry e = {{cell, r->ordinal, qp_load(&r->host_id), qp_load(&r->vt_id),
                               qp_load(&r->system_id), root},
                              {text_at(qp_observe(&r->name))}};
    if (!add_entry(s, QP_NAMES_THREAD, &e))
        return false;
    s->known[cell].method = n_lives;
    return true;
}

static bool need_thread(qp_trace_sink *s, qp_cell cell)
{
    const qp_thread_record *r = qp_at(&qp_recorder.space, cell);
    return !cell || s->known[cell].method == qp_load(&r->n_lives) || add_thread(s, cell);
}

/* Add the thread of an outermost path, if no record has named it. */
static bool need_owner(qp_trace_sink *s, qp_cell root)
{
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        const qprof_thread *th = qp_threads_at(i);
        if (qp_observe(&th->pulse) && qp_load(&qp_record_of(th)->root) == root)
            return need_thread(s, qp_record_cell(th));
    }
    return true;
}

/* Add a path after its callers. On the way up to a known one, each caller stores the next path
 * in `known`. */
static bool need_path(qp_trace_sink *s, qp_cell cell)
{
    qp_cell callee = 0;
    while (cell && !s->known[cell].method) {
        const qp_node *n = qp_at(&qp_recorder.space, cell);
        if (!n->parent) {
            if (s->known[cell].caller != ROOT && !need_owner(s, cell))
                return false;
            break;
        }
        s->known[cell].caller = callee;
        callee = cell;
        cell = n->parent;
    }
    while ((cell = callee)) {
        const qp_node *n = qp_at(&qp_recorder.space, cell);
        callee = s->known[cell].caller;
        if (!need_method(s, n->method) || !add_path(s, cell, n->parent, n->method))
            return false;
    }
    return true;
}

/* Put what a record names into the dictionary. @return false: the file cannot be written */
static bool need(qp_trace_sink *s, const qp_trace_record *r)
{
    switch (qp_trace_op_of(r)) {
    case QP_TRACE_ENTRY:
        return need_path(s, r->a) && need_method(s, r->b);
    case QP_TRACE_EXIT:
    case QP_TRACE_GATE:
        return need_path(s, r->b);
    case QP_TRACE_SWITCH:
        return need_thread(s, r->a) && need_path(s, r->b);
    case QP_TRACE_SUSPEND:
        return need_thread(s, r->a);
    case QP_TRACE_MARKER:
    case QP_TRACE_COUNTER:
        return need_text(s, r->a);
    case QP_TRACE_CALL:
    case QP_TRACE_RETURN:
        return need_method(s, r->a);
    case QP_TRACE_SAMPLE:
        return need_path(s, r->a);
    default:
        return true;
    }
}

/* Add names that were unknown when they were needed, and threads, which may have been named. */
static bool add_late_names(qp_trace_sink *s)
{
    bool is_good = true;
    for (uint32_t i = 0; is_good && qp_threads_at(i); i++) {
        const qprof_thread *th = qp_threads_at(i);
        if (qp_observe(&th->pulse) && s->known[qp_record_cell(th)].method)
            is_good = add_thread(s, qp_record_cell(th));
    }
    uint64_t n_cells = s->n_late ? qp_load(&qp_recorder_head()->n_cells) : 0;
    for (qp_cell cell = 0; is_good && cell < n_cells; cell++)
        if (s->known[cell].caller == LATE && s->known[cell].method == METHOD &&
            qp_method_is_registered(&qp_recorder.methods, cell))
            is_good = add_method(s, cell);
    return is_good && write_names(s);
}

/* ---- clock ------------------------------------------------------------------------------- */

/* A packet without records, in the buffer of the events, which have been written. */
static packet *other_packet(qp_trace_sink *s, qp_packet_kind kind)
{
    packet *p = s->events;
    uint64_t end = qp_observe(&qp_recorder_head()->end_raw); /* of the run; 0: not yet */
    p->head = (qp_packet){.kind = kind,
                          .first_record = s->head_checksum,
                          .first_ticks = end ? end : qp_clock_elapsed()};
    return p;
}

static bool put_clock(qp_trace_sink *s, bool is_end)
{
    const qp_head *h = qp_recorder_head();
    packet *p = other_packet(s, QP_PACKET_CLOCK);
    /* at the end the head's second point, so that the profile agrees; before that others may
     * set it */
    const uint64_t points[] = {h->tick_0, h->ns_0, is_end ? h->tick_1 : qp_clock_tsc(),
                               is_end ? h->ns_1 : qp_clock_monotonic()};
    memcpy(p->bytes, points, sizeof points);
    p->head.n_bytes = sizeof points;
    for (unsigned i = 0; i < QP_D_COUNT; i++)
        p->head.n_bytes +=
            (uint32_t)qp_pack_varint(qp_load(&h->diagnostics[i]), p->bytes + p->head.n_bytes);
    return write_packet(s, p, is_end);
}

/* ---- events ------------------------------------------------------------------------------ */

static qp_pack_path path_of(void *sink, qp_cell path)
{
    const qp_trace_sink *s = sink;
    qp_pack_path known = s->known[path];
    return known.method ? known : (qp_pack_path){0, 0};
}

static bool put_program(qp_trace_sink *s)
{
    return need_text(s, qp_recorder_head()->program) &&
           need_text(s, qp_recorder_head()->host) && write_names(s);
}

/* Remove the part before the last one, and begin another one, whose dictionary is empty. Where the file
 * system cannot remove it, the file is full. */
static bool begin_part(qp_trace_sink *s)
{
    const off_t head = sizeof(qp_trace_file), n = (off_t)s->part - head;
    const uint64_t n_cells = qp_load(&qp_recorder_head()->n_cells);
    if (n && fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, head, n) != 0) {
        s->state = QP_SINK_FULL;
        return false;
    }
    s->part = s->n_bytes;
    memset(s->known, 0, n_cells * sizeof *s->known);
    memset(s->texts, 0, n_cells);
    s->n_late = s->n_before = s->n_entries_before = 0;
    s->names->head.n_bytes = s->names->head.n_records = 0;
    bool is_good =
        write_packet(s, other_packet(s, QP_PACKET_PART), false) && put_clock(s, false);
    s->events->head.n_bytes = 0;
    return is_good && put_program(s);
}

bool qp_trace_sink_flush(qp_trace_sink *s)
{
    packet *p = s->events;
    if (!p->head.n_records)
        return s->state == QP_SINK_GOOD;
    bool is_good = write_names(s);
    p->head.names = s->n_names;
    is_good = is_good && write_packet(s, p, false);
    if (is_good)
        s->rings[s->ring].written = s->rings[s->ring].next;
    p->head.n_records = p->head.n_bytes = 0;
    if (is_good && s->n_bytes - s->part >= s->n_part)
        is_good = begin_part(s);
    return is_good;
}

/* Begin an empty packet for records of a ring from a number on. */
static void begin_events(qp_trace_sink *s, uint32_t i, uint64_t first, const qp_trace_record *r)
{
    const qp_ring *ring = qp_trace_ring_at(i);
    ring_state *state = &s->rings[i];
    if (state->next != first) /* some are missing */
        *state = (ring_state){.next = first, .written = first};
    uint64_t ticks = r->word & QP_TRACE_TICKS;
    if (qp_trace_has_ticks(qp_trace_op_of(r)) && ticks > state->at.ticks)
        state->at.ticks = ticks;
    state->at.last = state->at.path;
    s->ring = i;
    s->events->head = (qp_packet){.kind = QP_PACKET_EVENTS,
                                  .first_record = first,
                                  .first_ticks = state->at.ticks,
                                  .os_thread = qp_load(&ring->os_thread),
                                  .ring = QPROF_INDEX(&qp_recorder.space.map, ring),
                                  .thread = state->thread,
                                  .path = state->at.path};
}

bool qp_trace_sink_put(qp_trace_sink *s, uint32_t i, uint64_t first, const qp_trace_record *r,
                       uint64_t n)
{
    const qp_pack_paths paths = {path_of, s};
    packet *p = s->events;
    ring_state *state = &s->rings[i];
    for (uint64_t k = 0; k < n; k++) {
        bool is_other = s->ring != i || state->next != first + k;
        if ((is_other || p->head.n_bytes > EVENTS_BYTES - QP_PACKED_MAX) && p->head.n_records &&
            !qp_trace_sink_flush(s))
            return false;
        if (p->head.n_records) {
            size_t n_usual = qp_packet_put_usual(&p->head, p->bytes, EVENTS_BYTES, &state->at,
                                                 r + k, n - k, s->known);
            state->next += n_usual;
            k += n_usual;
            if (k == n)
                break;
            if (p->head.n_bytes > EVENTS_BYTES - QP_PACKED_MAX && !qp_trace_sink_flush(s))
                return false;
        }
        bool is_new = !p->head.n_records; /* its head names these two */
        if ((is_new && !(need_path(s, state->at.path) && need_thread(s, state->thread))) ||
            !need(s, &r[k])) {
            p->head.n_records = p->head.n_bytes = 0;
            return false;
        }
        if (is_new)
            begin_events(s, i, first + k, &r[k]);
        qp_packet_put(&p->head, p->bytes, &state->at, &state->thread, &r[k], &paths);
        state->next++;
    }
    return true;
}

/* ---- clock and end ----------------------------------------------------------------------- */

bool qp_trace_sink_clock(qp_trace_sink *s)
{
    return qp_trace_sink_flush(s) && put_clock(s, false);
}

bool qp_trace_sink_finish(qp_trace_sink *s)
{
    qp_trace_sink_flush(s);
    add_late_names(s);
    qp_trace_sink_retry(s); /* for the end, space is reserved */
    bool is_good = put_clock(s, true) && write_packet(s, other_packet(s, QP_PACKET_END), true);
    if (s->state != QP_SINK_GONE && ftruncate(s->fd, (off_t)s->n_bytes) != 0)
        is_good = false;
    close_file(s);
    return is_good;
}

/* ---- beginning --------------------------------------------------------------------------- */

static qp_trace_sink *take_memory(void)
{
    uint64_t n_cells = qp_recorder.space.map.reserved_bytes / QP_CELL;
    size_t n_self = (sizeof(qp_trace_sink) + 63) / 64 * 64;
    size_t n_events = sizeof(packet) + EVENTS_BYTES, n_names = sizeof(packet) + NAMES_BYTES;
    size_t n = n_self + n_events + n_names + n_cells * (sizeof(qp_pack_path) + 1);
    char *memory = qp_pages_take(n);
    if (!memory)
        return NULL;
    qp_trace_sink *s = (qp_trace_sink *)(void *)memory;
    s->fd = -1;
    s->n_memory = n;
    s->events = (packet *)(void *)(memory + n_self);
    s->names = (packet *)(void *)(memory + n_self + n_events);
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
    s->fd = qp_file_raise(fd);
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
        s->part = sizeof(qp_trace_file);
        s->n_part = qp_recorder.options.number[QP_OPT_trace_limit] / 2;
        if (write_head(s) && put_program(s))
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
