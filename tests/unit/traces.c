/* traces.c: reading traces the simple way. */
#include "unit/traces.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_RINGS = 256 };

enum { PADDING = 64 }; /* zeros after the last byte */

/* Maps a file that does not change, for most of a live file is holes. Ended by unmap_whole(). */
static unsigned char *map_whole(const char *path, size_t *n)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        fail_msg("cannot open %s", path);
    *n = (size_t)st.st_size;
    unsigned char *bytes =
        mmap(NULL, *n + PADDING, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(bytes != MAP_FAILED);
    if (*n)
        assert_true(mmap(bytes, *n, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == bytes);
    close(fd);
    return bytes;
}

static void unmap_whole(unsigned char *bytes, size_t n)
{
    munmap(bytes, n + PADDING);
}

static void add(traces *t, const qp_trace_record *r, qp_cell ring, uint64_t number)
{
    if (t->n == t->n_room)
        t->all = realloc(t->all, (t->n_room = 2 * t->n_room + 4096) * sizeof *t->all);
    t->all[t->n++] = (traced){*r, ring, number};
    if (qp_trace_op_of(r) == QP_TRACE_LOST)
        t->n_lost += r->a | (uint64_t)r->b << 32;
}

/* ---- names ------------------------------------------------------------------------------- */

static void add_name(traces *t, const trace_name *name)
{
    if (t->n_names == t->n_names_room) {
        t->n_names_room = 2 * t->n_names_room + 4096;
        t->names = realloc(t->names, t->n_names_room * sizeof *t->names);
    }
    t->names[t->n_names++] = *name;
    if (name->kind != QP_NAMES_PATH)
        return;
    qp_cell cell = (qp_cell)name->numbers[0];
    if (cell >= t->n_paths) {
        t->paths = realloc(t->paths, (2 * (size_t)cell + 1) * sizeof *t->paths);
        memset(t->paths + t->n_paths, 0,
               (2 * (size_t)cell + 1 - t->n_paths) * sizeof *t->paths);
        t->n_paths = 2 * cell + 1;
    }
    t->paths[cell] = (qp_pack_path){(qp_cell)name->numbers[1], (qp_cell)name->numbers[2]};
}

const trace_name *traces_name(const traces *t, qp_names_kind kind, uint64_t number)
{
    for (size_t i = t->n_names; i-- > 0;)
        if (t->names[i].kind == kind && t->names[i].numbers[0] == number)
            return &t->names[i];
    return NULL;
}

static void read_names(traces *t, const unsigned char *at, const unsigned char *end, uint32_t n)
{
    static const unsigned n_numbers[] = {4, 3, 6, 1}, n_texts[] = {4, 0, 1, 1};
    while (at < end) {
        trace_name name = {.kind = *at++};
        uint64_t length;
        assert_in_range(name.kind, 0, 3);
        if (n_texts[name.kind])
            name.texts = calloc(4, sizeof *name.texts);
        for (unsigned i = 0; i < n_numbers[name.kind]; i++)
            at += qp_unpack_varint(at, (size_t)(end - at), &name.numbers[i]);
        for (unsigned i = 0; i < n_texts[name.kind]; i++) {
            at += qp_unpack_varint(at, (size_t)(end - at), &length);
            assert_true(length <= (uint64_t)(end - at));
            snprintf(name.texts[i], sizeof *name.texts, "%.*s", (int)length, (const char *)at);
            at += length;
        }
        add_name(t, &name);
        n--;
    }
    assert_int_equal(n, 0);
}

static qp_pack_path path_of(void *to, qp_cell path)
{
    const traces *t = to;
    return path < t->n_paths ? t->paths[path] : (qp_pack_path){0, 0};
}

/* ---- packets ----------------------------------------------------------------------------- */

typedef struct {
    qp_cell ring;
    uint64_t next;
} ring_end;

static void read_events(traces *t, const qp_packet *p, const unsigned char *at, ring_end *ends)
{
    qp_pack_state s = {p->first_ticks, p->path, p->path};
    const qp_pack_paths paths = {path_of, t};
    size_t left = p->n_bytes;
    unsigned i = 0;
    while (ends[i].ring && ends[i].ring != p->ring)
        i++;
    assert_true(i < N_RINGS);
    assert_true(p->first_record >= ends[i].next);
    assert_int_equal(p->names, t->n_names_packets);
    t->n_missing += p->first_record - ends[i].next;
    for (uint32_t k = 0; k < p->n_records; k++) {
        qp_trace_record r;
        size_t n = qp_unpack_record(&s, at, left, &paths, &r);
        assert_true(n > 0);
        add(t, &r, p->ring, p->first_record + k);
        at += n;
        left -= n;
    }
    assert_int_equal(left, 0);
    ends[i] = (ring_end){p->ring, p->first_record + p->n_records};
    t->n_event_bytes += sizeof *p + qp_packet_padded(p->n_bytes);
}

static void read_clock(traces *t, const qp_packet *p, const unsigned char *at)
{
    size_t left = p->n_bytes - 32;
    at += 32;
    for (unsigned i = 0; i < QP_D_COUNT && left; i++) {
        size_t n = qp_unpack_varint(at, left, &t->diagnostics[i]);
        at += n;
        left -= n;
    }
}

static int by_ring(const void *a, const void *b)
{
    const traced *x = a, *y = b;
    if (x->ring != y->ring)
        return x->ring < y->ring ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

traces *traces_of_file(const char *path)
{
    traces *t = calloc(1, sizeof *t);
    size_t n;
    unsigned char *bytes = map_whole(path, &n);
    static ring_end ends[N_RINGS];
    memset(ends, 0, sizeof ends);
    t->n_bytes = n;
    assert_true(n >= sizeof(qp_trace_file) && memcmp(bytes, QP_TRACE_MAGIC, 8) == 0);
    for (size_t at = sizeof(qp_trace_file); at < n;) {
        qp_packet p;
        memcpy(&p, bytes + at, n - at < sizeof p ? n - at : sizeof p);
        const unsigned char *payload = bytes + at + sizeof p;
        if (n - at < sizeof p || p.magic != QP_PACKET_MAGIC || p.n_bytes > n - at - sizeof p ||
            qp_packet_padded(p.n_bytes) > n - at - sizeof p ||
            qp_packet_sum(&p, payload) != p.sum) {
            t->is_damaged = true;
            break;
        }
        assert_false(t->has_end);
        assert_int_equal(p.sequence, ++t->n_packets);
        t->n_names_packets += p.kind == QP_PACKET_NAMES;
        if (p.kind == QP_PACKET_NAMES)
            read_names(t, payload, payload + p.n_bytes, p.n_records);
        else if (p.kind == QP_PACKET_EVENTS)
            read_events(t, &p, payload, ends);
        else if (p.kind == QP_PACKET_CLOCK)
            read_clock(t, &p, payload);
        t->has_end = p.kind == QP_PACKET_END;
        at += sizeof p + qp_packet_padded(p.n_bytes);
    }
    unmap_whole(bytes, n);
    if (t->n)
        qsort(t->all, t->n, sizeof *t->all, by_ring);
    return t;
}

/* ---- rings ------------------------------------------------------------------------------- */

static void read_ring(traces *t, const unsigned char *file, qp_cell cell)
{
    const qp_ring *ring = (const qp_ring *)(const void *)(file + (size_t)cell * QP_CELL);
    const qp_trace_record *slots = (const qp_trace_record *)(const void *)(ring + 1);
    uint64_t from = ring->head >= ring->n_slots ? ring->head + 1 - ring->n_slots : 0;
    t->ring_head += ring->head;
    t->ring_lost += ring->n_lost;
    for (from = from > ring->tail ? from : ring->tail; from < ring->head; from++)
        add(t, &slots[from & (ring->n_slots - 1)], cell, from);
}

/* Names as the file's dictionary would have them. */
static void read_record(traces *t, const unsigned char *file, const qp_extent *e, qp_cell cell)
{
    const unsigned char *record = file + (size_t)cell * QP_CELL;
    trace_name name = {.numbers = {cell}};
    if (e->kind != QP_EXTENT_NODES)
        name.texts = calloc(4, sizeof *name.texts);
    if (e->kind == QP_EXTENT_NODES) {
        const qp_node *n = (const void *)record;
        name.kind = QP_NAMES_PATH;
        name.numbers[1] = n->parent;
        name.numbers[2] = n->method;
        t->n_calls += n->n_calls;
    } else if (e->kind == QP_EXTENT_METHODS) {
        const qp_method *m = (const void *)record;
        const qp_text *text = (const void *)(file + (size_t)m->name * 8);
        name.kind = QP_NAMES_METHOD;
        if (!m->published) {
            free(name.texts);
            return;
        }
        snprintf(name.texts[0], sizeof *name.texts, "%s", m->name ? text->bytes : "");
    } else {
        const qp_thread_record *r = (const void *)record;
        name.kind = QP_NAMES_THREAD;
        name.numbers[1] = r->ordinal;
        name.numbers[2] = r->host_id;
    }
    add_name(t, &name);
}

traces *traces_of_profile(const char *path)
{
    traces *t = calloc(1, sizeof *t);
    size_t n;
    unsigned char *file = map_whole(path, &n);
    const qp_head *h = (const void *)file;
    for (uint64_t cell = QP_HEAD_CELLS; cell < h->n_cells;) {
        const qp_extent *e = (const void *)(file + cell * QP_CELL);
        if (e->magic != QP_EXTENT_MAGIC || e->self != cell) {
            cell++;
            continue;
        }
        uint32_t step = e->kind == QP_EXTENT_THREADS ? sizeof(qp_thread_record) / QP_CELL : 1;
        bool has_names = e->kind == QP_EXTENT_NODES || e->kind == QP_EXTENT_METHODS ||
                         e->kind == QP_EXTENT_THREADS;
        for (uint32_t i = 1; has_names && i <= e->n_used; i += step)
            read_record(t, file, e, (qp_cell)(cell + i));
        if (e->kind == QP_EXTENT_RING && e->n_used)
            read_ring(t, file, (qp_cell)cell + 1);
        cell += e->n_cells;
    }
    unmap_whole(file, n);
    return t;
}

void traces_free(traces *t)
{
    for (size_t i = 0; i < t->n_names; i++)
        free(t->names[i].texts);
    free(t->all);
    free(t->names);
    free(t->paths);
    free(t);
}

size_t traces_count(const traces *t, qp_trace_op op)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += qp_trace_op_of(&t->all[i].r) == op;
    return n;
}

/* ---- words ------------------------------------------------------------------------------- */

static const char *text_of(const traces *t, qp_names_kind kind, uint64_t number)
{
    const trace_name *n = traces_name(t, kind, number);
    return n ? n->texts[0] : "?";
}

static unsigned long ordinal_of(const traces *t, qp_cell thread)
{
    const trace_name *n = traces_name(t, QP_NAMES_THREAD, thread);
    return n ? (unsigned long)n->numbers[1] : 0;
}

static void print_record(const traces *t, const qp_trace_record *r, char *out, size_t n)
{
    switch (qp_trace_op_of(r)) {
    case QP_TRACE_ENTRY:
        snprintf(out, n, "%s(", text_of(t, QP_NAMES_METHOD, r->b));
        break;
    case QP_TRACE_EXIT:
        snprintf(out, n, r->a == 1 ? ")" : ")%u%s", r->a & ~QP_TRACE_UNWOUND,
                 r->a & QP_TRACE_UNWOUND ? "!" : "");
        break;
    case QP_TRACE_SWITCH:
        snprintf(out, n, "@%lu", ordinal_of(t, r->a));
        break;
    case QP_TRACE_SUSPEND:
        snprintf(out, n, "park%lu%s", ordinal_of(t, r->a), r->b ? "." : "");
        break;
    case QP_TRACE_GATE:
        snprintf(out, n, "gate%u", r->a);
        break;
    case QP_TRACE_MARKER:
        snprintf(out, n, "mark%u:%s", r->b, text_of(t, QP_NAMES_TEXT, r->a));
        break;
    case QP_TRACE_COUNTER:
        snprintf(out, n, "%s=", text_of(t, QP_NAMES_TEXT, r->a));
        break;
    case QP_TRACE_CALL:
        snprintf(out, n, "call:%s:%u", text_of(t, QP_NAMES_METHOD, r->a), r->b);
        break;
    case QP_TRACE_RETURN:
        snprintf(out, n, "return:%s:%u", text_of(t, QP_NAMES_METHOD, r->a), r->b);
        break;
    case QP_TRACE_LINE:
        snprintf(out, n, "line%u", r->a);
        break;
    case QP_TRACE_VALUE:
        snprintf(out, n, "value%u:%u", r->a, r->b);
        break;
    case QP_TRACE_SAMPLE:
        snprintf(out, n, "sample%u", r->b);
        break;
    case QP_TRACE_LOST:
        snprintf(out, n, "lost%u", r->a);
        break;
    case QP_TRACE_DATA:
        snprintf(out, n, "%lld", (long long)(r->a | (uint64_t)r->b << 32));
        break;
    case QP_TRACE_TEXT:
    case QP_TRACE_NONE:
        break;
    }
}

/* Bytes of a TEXT record, NUL shown as '|'. */
static void print_text(const qp_trace_record *r, char *out)
{
    for (unsigned i = 0; i < QP_TRACE_TEXT_BYTES; i++) {
        uint64_t word = i < 7    ? r->word >> 8 * i
                        : i < 11 ? r->a >> 8 * (i - 7)
                                 : r->b >> 8 * (i - 11);
        *out++ = (char)word ? (char)word : '|';
    }
    *out = '\0';
}

const char *traces_text(const traces *t, uint64_t origin)
{
    static char text[65536];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < t->n && n + 200 < sizeof text; i++) {
        const qp_trace_record *r = &t->all[i].r;
        char word[128] = "";
        print_record(t, r, word, sizeof word);
        if (qp_trace_op_of(r) == QP_TRACE_TEXT)
            print_text(r, word);
        if (qp_trace_has_ticks(qp_trace_op_of(r)))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld ", n ? " " : "",
                                  (long long)((r->word & QP_TRACE_TICKS) - origin));
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", word);
    }
    return text;
}
