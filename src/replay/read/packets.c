/* packets.c: packets of a .qtrace file: where they are, and what they contain. Read index_packets,
 * then fill.
 *
 * The heads of all packets and the dictionary are read first, so that OS threads can be merged and all
 * names are known. Then packets of events are read one at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/os/checksum.h"
#include "format/layout.h"
#include "replay/read/source.h"

enum { SCAN_BYTES = 1 << 16, SUMS_TIMES_FILE = 4 };

/* ---- heads ------------------------------------------------------------------------------- */

static bool read_head(const qp_trace *t, uint64_t at, qp_packet *p)
{
    return qp_file_read_at(t->fd, p, sizeof *p, at) == sizeof *p &&
           p->magic == QP_PACKET_MAGIC && p->nonce == t->head.nonce &&
           p->kind <= QP_PACKET_PART;
}

static uint64_t end_of(const qp_packet *p, uint64_t at)
{
    return at + sizeof *p + qp_packet_padded(p->n_bytes);
}

/* The next place from `at` on where a packet seems to begin; UINT64_MAX: none. */
static uint64_t find_head(const qp_trace *t, uint64_t at)
{
    static const uint32_t magic = QP_PACKET_MAGIC;
    static char bytes[SCAN_BYTES];
    qp_packet p;
    uint64_t end_of_data;
    if (!qp_file_next_data(t->fd, at, t->info.n_bytes, &at, &end_of_data))
        return UINT64_MAX; /* parts that were removed are holes */
    for (size_t n; (n = qp_file_read_at(t->fd, bytes, sizeof bytes, at)) >= sizeof p;) {
        const char *end = bytes + n;
        for (const char *found = bytes;
             (found = memmem(found, (size_t)(end - found), &magic, sizeof magic)); found++)
            if (read_head(t, at + (uint64_t)(found - bytes), &p))
                return at + (uint64_t)(found - bytes);
        at += n - (sizeof magic - 1);
    }
    return UINT64_MAX;
}

/* ---- payloads ---------------------------------------------------------------------------- */

/* Bytes of a payload into a buffer that grows. @return false: not there, damaged, or no
 * memory */
static bool read_payload(qp_trace *t, uint64_t at, const qp_packet *p, unsigned char **bytes,
                         size_t *room)
{
    size_t n = qp_packet_padded(p->n_bytes);
    if (n > t->info.n_bytes)
        return false;
    if (n > *room || !*bytes) { /* also of a packet without bytes: callers count from a place */
        unsigned char *wider = qp_realloc(*bytes, n, 1);
        t->failed |= !wider;
        if (!wider)
            return false;
        *bytes = wider;
        *room = n;
    }
    return (!n || qp_file_read_at(t->fd, *bytes, n, at + sizeof *p) == n) &&
           qp_packet_sum(p, *bytes) == p->sum;
}

static bool is_whole(qp_trace *t, uint64_t at, const qp_packet *p)
{
    return read_payload(t, at, p, &t->scratch, &t->scratch_room);
}

/* ---- the dictionary ---------------------------------------------------------------------- */

static void take_name(qp_names *t, qp_names_kind kind, const qp_names_entry *e)
{
    const uint64_t *n = e->numbers;
    uint32_t cell = (uint32_t)n[0];
    switch (kind) {
    case QP_NAMES_METHOD:
        qp_names_add_method(t, cell,
                            &(qp_method_names){n[1], (uint32_t)n[2], (uint32_t)n[3],
                                               e->texts[0], e->texts[1], e->texts[2],
                                               e->texts[3]});
        break;
    case QP_NAMES_PATH:
        qp_names_add_path(t, cell, (uint32_t)n[1], (uint32_t)n[2]);
        break;
    case QP_NAMES_THREAD:
        qp_names_add_thread(t, cell,
                            &(qp_trace_thread){.ordinal = (uint32_t)n[1],
                                               .host_id = n[2],
                                               .vt_id = n[3],
                                               .system_id = n[4],
                                               .root_cell = (uint32_t)n[5]},
                            e->texts[0]);
        break;
    case QP_NAMES_TEXT:
        qp_names_add_text(t, cell, e->texts[0]);
    }
}

static void take_names(qp_trace *t, const unsigned char *at, size_t n_bytes, uint32_t n_entries)
{
    const unsigned char *end = at + n_bytes;
    qp_names_kind kind;
    qp_names_entry e;
    for (size_t n; n_entries && at < end; n_entries--, at += n) {
        n = qp_names_unpack(at, (size_t)(end - at), &kind, &e);
        if (!n) {
            t->losses.n_damaged++;
            return;
        }
        if (e.numbers[0])
            take_name(&t->names, kind, &e);
    }
}

/* ---- the index --------------------------------------------------------------------------- */

static void add_events(qp_trace *t, uint64_t at, const qp_packet *p)
{
    uint64_t key = (uint64_t)p->ring << 32 | (p->ring ? 0 : p->os_thread);
    uint32_t index = qp_trace_os_thread_of(t, key);
    qp_trace_os_thread *c = index != UINT32_MAX ? qp_trace_os_thread_at(t, index) : NULL;
    qp_packet_place *place = c ? qp_buf_add(&c->packets) : NULL;
    t->failed |= !place;
    if (!place)
        return;
    *place = (qp_packet_place){at, p->first_record, p->first_ticks, p->n_records, t->n_gaps};
    if (c->is_waiting) {
        c->next = p->first_ticks;
        qp_trace_os_thread_wake(t, index);
    }
}

/* The recorder's counters, a varint each. */
static void take_counters(qp_trace *t, const unsigned char *bytes, size_t n_bytes)
{
    uint64_t count;
    for (unsigned i = 0; n_bytes && i <= QP_D_trace_unwritten; i++) {
        size_t n = qp_unpack_varint(bytes, n_bytes, &count);
        if (!n)
            return;
        if (i == QP_D_trace_lost)
            t->losses.n_unheld = count;
        if (i == QP_D_trace_unwritten)
            t->losses.n_unwritten = count;
        bytes += n;
        n_bytes -= n;
    }
}

static void take_clock(qp_trace *t, const unsigned char *payload, size_t n_bytes)
{
    uint64_t points[4]; /* tick_0, ns_0, tick_1, ns_1 */
    if (n_bytes < sizeof points)
        return;
    memcpy(points, payload, sizeof points);
    take_counters(t, payload + sizeof points, n_bytes - sizeof points);
    if (t->head.clock_source != QP_SOURCE_TSC || points[2] <= points[0] ||
        points[3] <= points[1])
        return;
    t->info.n_ticks = points[2] - points[0];
    t->info.n_ns = points[3] - points[1];
}

static void take_packet(qp_trace *t, uint64_t at, const qp_packet *p)
{
    if (p->kind == QP_PACKET_PART && !t->sequence) { /* the file begins here */
        t->losses.n_removed_bytes = t->losses.n_skipped_bytes;
        t->losses.n_skipped_bytes = 0;
    } else if (p->sequence > t->sequence + 1) {
        t->losses.n_packets += p->sequence - t->sequence - 1;
        t->n_gaps++;
    }
    t->sequence = p->sequence > t->sequence ? p->sequence : t->sequence;
    if (p->kind == QP_PACKET_EVENTS) {
        add_events(t, at, p);
        return;
    }
    if (!is_whole(t, at, p)) {
        t->losses.n_damaged++;
        return;
    }
    t->is_head_damaged |=
        p->first_record && p->first_record != qp_checksum_of(&t->head, sizeof t->head);
    if (p->kind == QP_PACKET_NAMES)
        take_names(t, t->scratch, p->n_bytes, p->n_records);
    else if (p->kind == QP_PACKET_CLOCK)
        take_clock(t, t->scratch, p->n_bytes);
    t->info.is_ended = p->kind == QP_PACKET_END;
    t->info.end_raw = t->info.is_ended ? p->first_ticks : 0;
}

/* Does a packet end where the next one begins, or with the file? If not, its sum decides. The number of
 * bytes that are summed is limited, because packets of a hostile file may overlap. */
static bool is_credible(qp_trace *t, uint64_t at, const qp_packet *p, uint64_t *sums_left)
{
    qp_packet next;
    uint64_t end = end_of(p, at);
    if (end > t->info.n_bytes)
        return false;
    if (end == t->info.n_bytes || read_head(t, end, &next))
        return true;
    if (p->n_bytes > *sums_left)
        return false;
    *sums_left -= p->n_bytes;
    return is_whole(t, at, p);
}

/* Index one packet, or skip what is in its place. @return false: it is not complete yet */
static bool index_one(qp_trace *t, uint64_t *sums_left)
{
    qp_packet p;
    bool is_head = read_head(t, t->indexed, &p);
    if (is_head && is_credible(t, t->indexed, &p, sums_left)) {
        take_packet(t, t->indexed, &p);
        t->indexed = end_of(&p, t->indexed);
        return true;
    }
    uint64_t found = find_head(t, t->indexed + 1);
    if (found == UINT64_MAX)
        return false;
    t->losses.n_damaged += is_head;
    t->losses.n_skipped_bytes += found - t->indexed;
    t->indexed = found;
    t->n_gaps++;
    return true;
}

static bool is_running(uint64_t pid)
{
    char path[64], text[16];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    return pid && qp_file_text(path, text, sizeof text);
}

static int by_record(const void *a, const void *b)
{
    const qp_packet_place *x = a, *y = b;
    return x->first_record != y->first_record ? (x->first_record < y->first_record ? -1 : 1)
                                              : (x->at < y->at ? -1 : x->at > y->at);
}

/* Packets may have been joined in another order. */
static void sort_places(qp_trace *t)
{
    for (uint32_t i = 0; i < t->os_threads.n; i++) {
        qp_trace_os_thread *c = qp_trace_os_thread_at(t, i);
        qp_packet_place *places = c->packets.items;
        size_t at = c->n_packets_read + 1;
        while (at < c->packets.n && places[at].first_record >= places[at - 1].first_record)
            at++;
        if (at < c->packets.n)
            qsort(places + c->n_packets_read, c->packets.n - c->n_packets_read, sizeof *places,
                  by_record);
    }
}

static bool index_packets(qp_trace *t)
{
    const char *unused;
    uint64_t before = t->indexed;
    qp_file_is_plain(t->fd, &t->info.n_bytes, &unused);
    uint64_t sums_left = SUMS_TIMES_FILE * t->info.n_bytes;
    while (t->indexed < t->info.n_bytes && !t->failed && index_one(t, &sums_left)) {
    }
    sort_places(t);
    t->losses.n_cut_bytes = t->info.n_bytes - t->indexed;
    t->info.program = t->head.program ? qp_names_text(&t->names, t->head.program) : "";
    t->info.is_live = !t->info.is_ended && is_running(t->info.pid);
    return t->indexed > before;
}

/* ---- unpacking --------------------------------------------------------------------------- */

static qp_pack_path path_of(void *to, qp_cell cell)
{
    qp_trace *t = to;
    const qp_path_entry *p = qp_names_path_entry_in(&t->names, t->paths, cell);
    return (qp_pack_path){p->caller_cell, p->method_cell};
}

/* A varint of one or two bytes, without a branch, which would be mispredicted. */
typedef struct {
    uint32_t value, n_bytes; /* n_bytes 3: it is longer */
} short_varint;

static inline short_varint read_short(const unsigned char *in)
{
    uint32_t is_long = in[0] >> 7;
    return (short_varint){(in[0] & 0x7fu) | (in[1] & (0u - is_long)) << 7,
                          1 + is_long + (is_long & in[1] >> 7)};
}

/* Unpack plain entries and exits of a few bytes, as nearly all are, with the result of
 * qp_unpack_record(). @return how many, up to another record or the end */
static size_t unpack_plain(qp_trace *t, qp_trace_os_thread *c, qp_trace_record *r,
                           size_t n_most)
{
    const unsigned char *at = c->payload + c->payload_at, *end = c->payload + c->n_payload;
    qp_pack_state s = c->state;
    size_t n = 0;
    for (; n < n_most && end - at >= QP_PACKED_MAX; n++) {
        unsigned op = at[0] & 15u, has_ticks = !(at[0] & QP_PACKED_NO_TICKS);
        short_varint step = read_short(at + 1);
        step.value &= 0u - has_ticks;
        step.n_bytes &= 0u - has_ticks;
        if (!(at[0] & QP_PACKED_PLAIN) || step.n_bytes > 2 ||
            step.value > QP_TRACE_TICKS - s.ticks)
            break;
        const unsigned char *rest = at + 1 + step.n_bytes;
        if (op == QP_TRACE_ENTRY) {
            short_varint change = read_short(rest);
            uint32_t path = s.last + (change.value >> 1 ^ (0u - (change.value & 1)));
            if (change.n_bytes > 2 || !path)
                break;
            rest += change.n_bytes;
            s.path = s.last = r[n].a = path;
            r[n].b = qp_names_path_entry_in(&t->names, t->paths, path)->method_cell;
        } else if (op == QP_TRACE_EXIT) {
            r[n].a = 1;
            s.path = r[n].b = qp_names_path_entry_in(&t->names, t->paths, s.path)->caller_cell;
        } else {
            break;
        }
        s.ticks += step.value;
        r[n].word = (uint64_t)op << QP_TRACE_OP_SHIFT | s.ticks;
        at = rest;
    }
    c->payload_at = (size_t)(at - c->payload);
    c->state = s;
    return n;
}

/* Read the next packet of an OS thread that is whole and new. @return false: none */
static bool begin_packet(qp_trace *t, qp_trace_os_thread *c, qp_packet *p)
{
    while (c->n_packets_read < c->packets.n && !t->failed) {
        qp_packet_place *place = (qp_packet_place *)c->packets.items + c->n_packets_read++;
        bool is_read = read_head(t, place->at, p) &&
                       read_payload(t, place->at, p, &c->payload, &c->payload_room);
        t->read.position += sizeof *p + p->n_bytes;
        if (is_read && place->first_record + place->n_records > c->end_record)
            return true;
        t->read.n_damaged += !is_read;
    }
    return false;
}

/* Put the state after missing records, or at the beginning. @return records in the batch */
static size_t put_state(qp_trace_os_thread *c, const qp_packet *p, bool is_first)
{
    size_t n = 0;
    uint64_t n_lost = p->first_record > c->end_record ? p->first_record - c->end_record : 0;
    if (!is_first)
        c->batch[n++] = qp_trace_make(QP_TRACE_LOST, p->first_ticks, (uint32_t)n_lost,
                                      (uint32_t)(n_lost >> 32));
    if (!is_first || p->first_record || p->thread) /* else nothing is missing or open */
        c->batch[n++] = qp_trace_make(QP_TRACE_STACK, p->first_ticks, p->thread, p->path);
    return n;
}

/* @return records in the batch */
static size_t enter_packet(qp_trace *t, qp_trace_os_thread *c)
{
    qp_packet p;
    size_t n = 0;
    bool is_first = !c->end_record && !c->n_left && !c->payload;
    if (!begin_packet(t, c, &p))
        return 0;
    const qp_packet_place *place =
        (const qp_packet_place *)c->packets.items + c->n_packets_read - 1;
    bool is_gap = place->n_gaps != c->n_gaps || p.first_record > c->end_record;
    if (is_first || is_gap)
        n = put_state(c, &p, is_first);
    c->n_gaps = place->n_gaps;
    c->state = (qp_pack_state){p.first_ticks, p.path, p.path};
    c->n_payload = p.n_bytes;
    c->payload_at = 0;
    c->n_left = p.n_records;
    c->n_known = c->end_record > p.first_record ? c->end_record - p.first_record : 0;
    c->end_record = p.first_record + p.n_records;
    return n;
}

/* A packet of a ring that was cut may lack the thread of its records: their paths name it. */
static void find_thread(qp_trace *t, qp_trace_os_thread *c)
{
    qp_trace_record *state = NULL;
    for (size_t i = 0; i < c->n; i++) {
        qp_trace_record *r = &c->batch[i];
        qp_trace_op op = qp_trace_op_of(r);
        if (op == QP_TRACE_STACK && !r->a)
            state = r;
        if (op == QP_TRACE_LOST && !state)
            continue;
        if (!state || op == QP_TRACE_SWITCH)
            return;
        if (op == QP_TRACE_SUSPEND)
            state->a = r->a;
        else if (op == QP_TRACE_ENTRY || (op == QP_TRACE_STACK && r->b))
            state->a =
                qp_names_path_thread(&t->names, t->paths, op == QP_TRACE_ENTRY ? r->a : r->b);
        if (state->a)
            return;
    }
}

/* Records to the batch. @return false: the packet is damaged, and its rest is left out */
static bool unpack(qp_trace *t, qp_trace_os_thread *c)
{
    qp_trace_record *r = &c->batch[c->n];
    size_t n_room = QP_BATCH_RECORDS - c->n, n_most = c->n_left < n_room ? c->n_left : n_room;
    size_t n = c->n_known ? 0 : unpack_plain(t, c, r, n_most);
    c->n += n;
    c->n_left -= (uint32_t)n;
    if (n)
        return true;
    const qp_pack_paths paths = {path_of, t};
    size_t n_bytes = qp_unpack_record(&c->state, c->payload + c->payload_at,
                                      c->n_payload - c->payload_at, &paths, r);
    c->payload_at += n_bytes;
    if (!n_bytes) {
        t->read.n_damaged++;
        c->n_left = 0;
        return false;
    }
    c->n_left--;
    if (c->n_known)
        c->n_known--;
    else
        c->n += qp_trace_op_of(r) != QP_TRACE_NONE;
    return true;
}

static bool fill(qp_trace *t, qp_trace_os_thread *c)
{
    if (!qp_trace_batch(t, c))
        return false;
    while (c->n == 0 && !t->failed) {
        if (!c->n_left && !(c->n = enter_packet(t, c)) && !c->n_left)
            return false;
        while (c->n_left && c->n < QP_BATCH_RECORDS && unpack(t, c)) {
        }
    }
    find_thread(t, c);
    c->records = c->batch;
    return c->n > 0;
}

/* ---- opening ----------------------------------------------------------------------------- */

static void close_packets(qp_trace *t)
{
    qp_free(t->scratch);
    close(t->fd);
}

bool qp_packets_open(qp_trace *t, int fd, qp_error *error)
{
    static const qp_trace_source packets = {fill, index_packets, close_packets};
    t->sources[0] = &packets;
    t->fd = fd;
    if (qp_file_read_at(fd, &t->head, sizeof t->head, 0) != sizeof t->head) {
        return qp_error_fail(error, "%s: cut within its first %zu bytes", t->path,
                             sizeof t->head);
    }
    if (t->head.endian != QP_ENDIAN || t->head.major != QP_TRACE_MAJOR) {
        return qp_error_fail(
            error, "%s: a trace of version %u.%u%s; this qprof reads version %d", t->path,
            t->head.major, t->head.minor,
            t->head.endian != QP_ENDIAN ? " of another kind of processor" : "", QP_TRACE_MAJOR);
    }
    t->info.kind = QP_TRACE_OF_PACKETS;
    t->info.pid = t->head.pid;
    t->info.started_at = t->head.started_at;
    t->info.begun_raw = t->head.begun_raw;
    t->info.is_virtual = t->head.is_virtual;
    t->indexed = sizeof t->head;
    index_packets(t);
    if (t->is_head_damaged) /* the times of all records depend on it */
        return qp_error_fail(error, "%s: its header is damaged: the checksum does not match",
                             t->path);
    return true;
}
