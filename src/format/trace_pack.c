/* trace_pack.c: one record after the other, most of them in three or four bytes. Read
 * qp_pack_record first; qp_unpack_record is its mirror. */
#include "format/trace.h"

#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------- */

size_t qp_pack_varint(uint64_t value, unsigned char *out)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (unsigned char)(value | 0x80);
    out[n++] = (unsigned char)value;
    return n;
}

size_t qp_unpack_varint(const unsigned char *in, size_t n_bytes, uint64_t *value)
{
    uint64_t found = 0;
    for (size_t n = 0; n < n_bytes && n < QP_VARINT_MAX; n++) {
        uint64_t bits = in[n] & 0x7f;
        if (n == QP_VARINT_MAX - 1 && bits > 1)
            return 0;
        found |= bits << 7 * n;
        if (!(in[n] & 0x80)) {
            *value = found;
            return n + 1;
        }
    }
    return 0;
}

/* Small numbers of either sign are small. */
static uint32_t zigzag(uint32_t step)
{
    return step << 1 ^ (step >> 31 ? UINT32_MAX : 0);
}

static uint32_t unzigzag(uint32_t number)
{
    return number >> 1 ^ (number & 1 ? UINT32_MAX : 0);
}

/* ---- what both directions know ------------------------------------------------------------- */

static qp_pack_path path_of(const qp_pack_paths *paths, qp_cell path)
{
    return path ? paths->of(paths->to, path) : (qp_pack_path){0, 0};
}

/* Set the path that is on top after a record. */
static void follow(qp_pack_state *s, qp_trace_op op, const qp_trace_record *r)
{
    if (op == QP_TRACE_ENTRY && r->a)
        s->path = s->last = r->a;
    else if (op == QP_TRACE_EXIT || op == QP_TRACE_SWITCH)
        s->path = r->b;
    else if (op == QP_TRACE_SUSPEND)
        s->path = 0;
}

/* ---- to bytes ------------------------------------------------------------------------------ */

/* Is there nothing to say of it but its path, or not even that? */
static bool is_plain(const qp_pack_state *s, qp_trace_op op, const qp_trace_record *r,
                     const qp_pack_paths *paths)
{
    if (op == QP_TRACE_ENTRY)
        return r->b && path_of(paths, r->a).method == r->b;
    if (op != QP_TRACE_EXIT || r->a != 1)
        return false;
    const qp_pack_path top = path_of(paths, s->path);
    return top.method && top.caller == r->b;
}

static size_t pack_raw(const qp_trace_record *r, qp_trace_op op, unsigned char *out)
{
    out[0] = (unsigned char)op;
    size_t n = 1;
    if (op == QP_TRACE_TEXT) {
        for (unsigned i = 0; i < 7; i++)
            out[n++] = (unsigned char)(r->word >> 8 * i);
    }
    for (unsigned i = 0; i < 4; i++)
        out[n++] = (unsigned char)(r->a >> 8 * i);
    for (unsigned i = 0; i < 4; i++)
        out[n++] = (unsigned char)(r->b >> 8 * i);
    return n;
}

/* Small: usual records are packed by qp_packet_put_usual. */
__attribute__((cold)) size_t qp_pack_record(qp_pack_state *s, const qp_trace_record *r,
                                            const qp_pack_paths *paths, unsigned char *out)
{
    qp_trace_op op = qp_trace_op_of(r);
    if (!qp_trace_has_ticks(op))
        return pack_raw(r, op, out);
    uint64_t ticks = r->word & QP_TRACE_TICKS;
    if (ticks < s->ticks)
        ticks = s->ticks;
    bool plain = is_plain(s, op, r, paths);
    size_t n = 1;
    out[0] = (unsigned char)op;
    if (plain)
        out[0] |= QP_PACKED_PLAIN;
    if (ticks == s->ticks)
        out[0] |= QP_PACKED_NO_TICKS;
    else
        n += qp_pack_varint(ticks - s->ticks, out + n);
    if (op == QP_TRACE_ENTRY)
        n += qp_pack_varint(zigzag(r->a - s->last), out + n);
    else if (!plain)
        n += qp_pack_varint(r->a, out + n);
    if (!plain)
        n += qp_pack_varint(r->b, out + n);
    s->ticks = ticks;
    follow(s, op, r);
    return n;
}

/* ---- from bytes ---------------------------------------------------------------------------- */

/* Bytes that are left to read; NULL: there were too few. */
typedef struct {
    const unsigned char *at, *end;
} cursor;

static uint64_t take_varint(cursor *c, uint64_t max)
{
    uint64_t value = 0;
    size_t n = c->at ? qp_unpack_varint(c->at, (size_t)(c->end - c->at), &value) : 0;
    c->at = n && value <= max ? c->at + n : NULL;
    return c->at ? value : 0;
}

static uint64_t take_raw(cursor *c, unsigned n_bytes)
{
    uint64_t value = 0;
    if (!c->at || c->end - c->at < (ptrdiff_t)n_bytes) {
        c->at = NULL;
        return 0;
    }
    for (unsigned i = 0; i < n_bytes; i++)
        value |= (uint64_t)c->at[i] << 8 * i;
    c->at += n_bytes;
    return value;
}

static void unpack_raw(cursor *c, qp_trace_op op, qp_trace_record *r)
{
    r->word = op == QP_TRACE_TEXT ? take_raw(c, 7) : 0;
    r->a = (uint32_t)take_raw(c, 4);
    r->b = (uint32_t)take_raw(c, 4);
}

/* What follows the ticks. */
static void unpack_ab(const qp_pack_state *s, cursor *c, bool plain, const qp_pack_paths *paths,
                      qp_trace_op op, qp_trace_record *r)
{
    if (op == QP_TRACE_ENTRY) {
        r->a = s->last + unzigzag((uint32_t)take_varint(c, UINT32_MAX));
        r->b = plain ? path_of(paths, r->a).method : (uint32_t)take_varint(c, UINT32_MAX);
    } else if (op == QP_TRACE_EXIT && plain) {
        r->a = 1;
        r->b = path_of(paths, s->path).caller;
    } else {
        r->a = (uint32_t)take_varint(c, UINT32_MAX);
        r->b = (uint32_t)take_varint(c, UINT32_MAX);
    }
}

size_t qp_unpack_record(qp_pack_state *s, const unsigned char *in, size_t n_bytes,
                        const qp_pack_paths *paths, qp_trace_record *r)
{
    if (!n_bytes)
        return 0;
    qp_trace_op op = in[0] & 15;
    bool plain = in[0] & QP_PACKED_PLAIN;
    qp_trace_record found = {0};
    uint64_t ticks = s->ticks;
    cursor c = {in + 1, in + n_bytes};
    if (!qp_trace_has_ticks(op)) {
        unpack_raw(&c, op, &found);
    } else {
        if (!(in[0] & QP_PACKED_NO_TICKS))
            ticks += take_varint(&c, QP_TRACE_TICKS - s->ticks);
        found.word = ticks;
        unpack_ab(s, &c, plain, paths, op, &found);
    }
    if (!c.at)
        return 0;
    found.word |= (uint64_t)op << QP_TRACE_OP_SHIFT;
    s->ticks = ticks;
    follow(s, op, &found);
    *r = found;
    return (size_t)(c.at - in);
}

/* ---- the dictionary -------------------------------------------------------------------------- */

/* What an entry of each kind has. */
static const struct {
    uint8_t n_numbers, n_texts;
    uint8_t is_wide; /* bit i: number i may have 64 bits; others are cells, refs and flags */
} shapes[] = {[QP_NAMES_METHOD] = {4, 4, 1u << 1},
              [QP_NAMES_PATH] = {3, 0, 0},
              [QP_NAMES_THREAD] = {6, 1, 1u << 2 | 1u << 3 | 1u << 4},
              [QP_NAMES_TEXT] = {1, 1, 0}};

size_t qp_names_most(qp_names_kind kind, const qp_names_entry *e)
{
    size_t n = 1 + (size_t)QP_VARINT_MAX * (shapes[kind].n_numbers + shapes[kind].n_texts);
    for (unsigned i = 0; i < shapes[kind].n_texts; i++)
        n += e->texts[i].n_bytes;
    return n;
}

__attribute__((cold)) size_t qp_names_pack(qp_names_kind kind, const qp_names_entry *e,
                                           unsigned char *out)
{
    size_t n = 0;
    out[n++] = (unsigned char)kind;
    for (unsigned i = 0; i < shapes[kind].n_numbers; i++)
        n += qp_pack_varint(e->numbers[i], out + n);
    for (unsigned i = 0; i < shapes[kind].n_texts; i++) {
        n += qp_pack_varint(e->texts[i].n_bytes, out + n);
        memcpy(out + n, e->texts[i].bytes, e->texts[i].n_bytes);
        n += e->texts[i].n_bytes;
    }
    return n;
}

size_t qp_names_unpack(const unsigned char *in, size_t n_bytes, qp_names_kind *kind,
                       qp_names_entry *e)
{
    if (!n_bytes || in[0] >= sizeof shapes / sizeof *shapes)
        return 0;
    cursor c = {in + 1, in + n_bytes};
    *kind = (qp_names_kind)in[0];
    *e = (qp_names_entry){.numbers = {0}};
    for (unsigned i = 0; i < shapes[*kind].n_numbers; i++)
        e->numbers[i] =
            take_varint(&c, shapes[*kind].is_wide >> i & 1 ? UINT64_MAX : UINT32_MAX);
    for (unsigned i = 0; i < shapes[*kind].n_texts && c.at; i++) {
        size_t n = take_varint(&c, UINT64_MAX);
        bool is_there = c.at && n <= (size_t)(c.end - c.at);
        e->texts[i] = (qp_name){(const char *)c.at, n};
        c.at = is_there ? c.at + n : NULL;
    }
    return c.at ? (size_t)(c.at - in) : 0;
}

/* ---- packets ------------------------------------------------------------------------------- */

/* The turn lets every bit of a word come to every bit of the sum. */
static uint32_t add_words(uint32_t sum, const void *words, size_t n_bytes)
{
    const unsigned char *at = words;
    for (size_t i = 0; i + 4 <= n_bytes; i += 4) {
        uint32_t word;
        memcpy(&word, at + i, sizeof word);
        sum = ((sum << 5 | sum >> 27) ^ word) * 0x9E3779B1u;
    }
    return sum;
}

uint32_t qp_packet_sum(const qp_packet *p, const void *payload)
{
    qp_packet head = *p;
    head.sum = 0;
    return add_words(add_words(0, &head, sizeof head), payload, qp_packet_padded(p->n_bytes));
}

size_t qp_packet_seal(qp_packet *p, unsigned char *payload, uint64_t nonce, uint64_t sequence)
{
    size_t n = qp_packet_padded(p->n_bytes);
    memset(payload + p->n_bytes, 0, n - p->n_bytes);
    p->magic = QP_PACKET_MAGIC;
    p->nonce = nonce;
    p->sequence = sequence;
    p->sum = qp_packet_sum(p, payload);
    return n;
}

void qp_packet_put(qp_packet *p, unsigned char *payload, qp_pack_state *s, qp_cell *thread,
                   const qp_trace_record *r, const qp_pack_paths *paths)
{
    qp_trace_op op = qp_trace_op_of(r);
    p->n_bytes += (uint32_t)qp_pack_record(s, r, paths, payload + p->n_bytes);
    p->n_records++;
    if (op == QP_TRACE_SWITCH)
        *thread = r->a;
    else if (op == QP_TRACE_SUSPEND)
        *thread = 0;
}

enum { SHORT_BITS = 14 }; /* of a number that takes at most two bytes */

/* 1 if a short number is not 0. */
static inline uint32_t is_some(uint32_t value)
{
    return (value + (1u << SHORT_BITS) - 1) >> SHORT_BITS;
}

/* Put a short number as a varint; 2 bytes are written. @return 1 if it takes both */
static inline uint32_t put_short(unsigned char *out, uint32_t value)
{
    uint32_t high = value >> 7, is_wide = (high + 0x7f) >> 7;
    out[0] = (unsigned char)((value & 0x7f) | is_wide << 7);
    out[1] = (unsigned char)high;
    return is_wide;
}

/* x where all bits of the mask are set, y where none is. */
static inline uint32_t choose(uint32_t mask, uint32_t x, uint32_t y)
{
    return y ^ ((x ^ y) & mask);
}

/* No processor can predict whether a call returns or calls, or whether a number has one byte or
 * two: so nothing branches on it. `entry` has all bits set for an entry, none for an exit. */
size_t qp_packet_put_usual(qp_packet *p, unsigned char *payload, size_t room, qp_pack_state *s,
                           const qp_trace_record *r, size_t n, const qp_pack_path *known)
{
    unsigned char *out = payload + p->n_bytes;
    const unsigned char *last_place = payload + room - QP_PACKED_MAX;
    const qp_trace_record *first = r, *end = r + n;
    qp_pack_state at = *s;
    for (; r < end && out <= last_place; r++) {
        const uint32_t op = (uint32_t)(r->word >> QP_TRACE_OP_SHIFT);
        const uint32_t entry = 0u - (op == QP_TRACE_ENTRY);
        const uint64_t passed = (r->word & QP_TRACE_TICKS) - at.ticks;
        const uint32_t step = zigzag(r->a - at.last) & entry;
        const qp_pack_path path = known[choose(entry, r->a, at.path)];
        const uint64_t unusual = (choose(entry, path.method, path.caller) ^ r->b) |
                                 (((op ^ QP_TRACE_EXIT) | (r->a ^ 1)) & ~entry) |
                                 ((passed | step) >> SHORT_BITS);
        if (unusual || !path.method)
            break;
        const uint32_t has_passed = is_some((uint32_t)passed);
        *out++ = (unsigned char)(op | QP_PACKED_PLAIN | (has_passed ^ 1) << 4);
        out += has_passed + put_short(out, (uint32_t)passed);
        out += (1 & entry) + put_short(out, step);
        at.ticks += passed;
        at.path = choose(entry, r->a, r->b);
        at.last = choose(entry, r->a, at.last);
    }
    *s = at;
    p->n_bytes = (uint32_t)(out - payload);
    p->n_records += (uint32_t)(r - first);
    return (size_t)(r - first);
}
