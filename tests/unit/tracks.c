/* tracks.c: see tracks.h. */
#include "unit/tracks.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { METHODS = 1000, PATHS = 2000, THREADS = 100, TEXTS = 500, NONCE = 77 };

void track_init(track *t, uint64_t now)
{
    memset(t, 0, sizeof *t);
    t->now = now;
}

void track_fini(track *t)
{
    free(t->records);
}

static void put_word(track *t, uint64_t word, uint32_t a, uint32_t b)
{
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->records = realloc(t->records, t->room * sizeof *t->records);
        assert_non_null(t->records);
    }
    t->records[t->n++] = (qp_trace_record){word, a, b};
}

static void put(track *t, qp_trace_op op, uint32_t a, uint32_t b)
{
    put_word(t, (uint64_t)op << QP_TRACE_OP_SHIFT | t->now, a, b);
}

static unsigned index_of(char (*names)[32], unsigned *n, const char *name)
{
    for (unsigned i = 0; i < *n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    assert_true(*n < TRACK_NAMES);
    snprintf(names[*n], sizeof names[*n], "%s", name);
    return (*n)++;
}

static uint32_t method_of(track *t, const char *name)
{
    return t->cells + METHODS + index_of(t->methods, &t->n_methods, name);
}

/* The path on top of the thread, index + 1; 0: none. */
static unsigned top_of(const track *t)
{
    unsigned depth = t->depth[t->thread];
    return depth ? t->stacks[t->thread][depth - 1] : 0;
}

static uint32_t path_cell(const track *t, unsigned path)
{
    return path ? t->cells + PATHS + path - 1 : 0;
}

static void enter(track *t, const char *name)
{
    unsigned caller = top_of(t), method = index_of(t->methods, &t->n_methods, name), i = 0;
    while (i < t->n_paths && (t->paths[i].caller != caller || t->paths[i].method != method))
        i++;
    assert_true(i < TRACK_PATHS && t->depth[t->thread] < TRACK_DEPTH);
    t->paths[i].caller = caller;
    t->paths[i].method = method;
    t->n_paths += i == t->n_paths;
    t->stacks[t->thread][t->depth[t->thread]++] = i + 1;
    put(t, QP_TRACE_ENTRY, t->has_no_paths ? 0 : path_cell(t, i + 1),
        t->cells + METHODS + method);
}

static void leave(track *t, unsigned n, uint32_t flags)
{
    assert_true(t->depth[t->thread] >= n);
    t->depth[t->thread] -= n;
    put(t, QP_TRACE_EXIT, n | flags, t->has_no_paths ? 0 : path_cell(t, top_of(t)));
}

static void put_value(track *t, const char *text)
{
    char bytes[64] = "";
    size_t n = strlen(text) + 3;
    memcpy(bytes + 1, text, strlen(text));
    put(t, QP_TRACE_VALUE, 1, (uint32_t)n);
    for (size_t at = 0; at < n; at += QP_TRACE_TEXT_BYTES) {
        uint64_t word = 0;
        uint32_t a, b;
        memcpy(&word, bytes + at, 7);
        memcpy(&a, bytes + at + 7, 4);
        memcpy(&b, bytes + at + 11, 4);
        put_word(t, (uint64_t)QP_TRACE_TEXT << QP_TRACE_OP_SHIFT | word, a, b);
    }
}

static void play_sign(track *t, const char *word)
{
    const char *rest = word + 1;
    char name[32];
    switch (*word) {
    case '!':
        leave(t, (unsigned)atoi(rest), QP_TRACE_UNWOUND);
        return;
    case '@':
        t->thread = (unsigned)atoi(rest);
        t->n_threads = t->thread > t->n_threads ? t->thread : t->n_threads;
        put(t, QP_TRACE_SWITCH, t->cells + THREADS + t->thread,
            t->has_no_paths ? 0 : path_cell(t, top_of(t)));
        return;
    case '=':
        put(t, QP_TRACE_SUSPEND, t->cells + THREADS + t->thread, 0);
        return;
    case '-':
    case '+':
        put(t, QP_TRACE_GATE, *word == '+', 0);
        return;
    case '#':
        put(t, QP_TRACE_LOST, (uint32_t)atoi(rest), 0);
        return;
    case '?':
        put(t, QP_TRACE_CALL, method_of(t, rest), 12);
        return;
    case '~':
        put(t, QP_TRACE_RETURN, method_of(t, rest), 12);
        return;
    case '*':
        put(t, QP_TRACE_MARKER, t->cells + TEXTS + index_of(t->texts, &t->n_texts, rest),
            QP_MARKER_USER);
        return;
    case '$':
        snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "="), rest);
        put(t, QP_TRACE_COUNTER, t->cells + TEXTS + index_of(t->texts, &t->n_texts, name), 0);
        put_word(t, (uint64_t)QP_TRACE_DATA << QP_TRACE_OP_SHIFT,
                 (uint32_t)atoi(strchr(rest, '=') + 1), 0);
        return;
    case '&':
        put_value(t, rest);
        return;
    default:
        fail_msg("no word of a track: %s", word);
    }
}

void track_play(track *t, const char *events)
{
    char text[8192], *rest = text;
    snprintf(text, sizeof text, "%s", events);
    for (char *word; (word = strsep(&rest, " "));) {
        size_t n = strlen(word);
        if (n == 0)
            continue;
        if (*word >= '0' && *word <= '9') {
            t->now += strtoull(word, NULL, 10);
        } else if (strcmp(word, ")") == 0) {
            leave(t, 1, 0);
        } else if (word[n - 1] == '(') {
            word[n - 1] = '\0';
            enter(t, word);
        } else {
            play_sign(t, word);
        }
    }
}

void track_name(const track *t, qp_names *names)
{
    for (unsigned i = 0; i < t->n_methods; i++)
        qp_names_add_method(names, t->cells + METHODS + i,
                            &(qp_method_names){.id = i + 1,
                                               .flags = QP_METHOD_REGISTERED,
                                               .name = {t->methods[i], strlen(t->methods[i])}});
    for (unsigned i = 0; i < t->n_paths; i++)
        qp_names_add_path(names, t->cells + PATHS + i, path_cell(t, t->paths[i].caller),
                          t->cells + METHODS + t->paths[i].method);
    for (unsigned i = 1; i <= t->n_threads; i++)
        qp_names_add_thread(names, t->cells + THREADS + i, &(qp_trace_thread){.ordinal = i},
                            (qp_name){"", 0});
    for (unsigned i = 0; i < t->n_texts; i++)
        qp_names_add_text(names, t->cells + TEXTS + i,
                          (qp_name){t->texts[i], strlen(t->texts[i])});
}

/* ---- files ------------------------------------------------------------------------------- */

typedef struct {
    FILE *file;
    uint64_t sequence;
    const track *track;
} writer;

static qp_pack_path path_of(void *to, qp_cell cell)
{
    const track *t = ((const writer *)to)->track;
    unsigned i = cell - t->cells - PATHS;
    if (cell < t->cells + PATHS || i >= t->n_paths)
        return (qp_pack_path){0, 0};
    return (qp_pack_path){path_cell(t, t->paths[i].caller),
                          t->cells + METHODS + t->paths[i].method};
}

static void write_packet(writer *w, qp_packet *p, const unsigned char *payload)
{
    unsigned char padded[1 << 16] = {0};
    size_t n = qp_packet_padded(p->n_bytes);
    assert_true(n <= sizeof padded);
    memcpy(padded, payload, p->n_bytes);
    p->magic = QP_PACKET_MAGIC;
    p->nonce = NONCE;
    p->sequence = ++w->sequence;
    p->sum = qp_packet_sum(p, padded);
    fwrite(p, sizeof *p, 1, w->file);
    fwrite(padded, 1, n, w->file);
}

static size_t add_text(unsigned char *to, const char *text)
{
    size_t n = qp_pack_varint(strlen(text), to);
    memcpy(to + n, text, strlen(text));
    return n + strlen(text);
}

static void write_names(writer *w, const track *t)
{
    unsigned char bytes[1 << 16];
    size_t n = 0;
    qp_packet p = {.kind = QP_PACKET_NAMES};
    for (unsigned i = 0; i < t->n_methods; i++, p.n_records++) {
        const uint64_t flags = *t->methods[i] ? QP_METHOD_REGISTERED : 0;
        const uint64_t numbers[] = {t->cells + METHODS + i, i + 1, flags, 10 + i};
        bytes[n++] = QP_NAMES_METHOD;
        for (int k = 0; k < 4; k++)
            n += qp_pack_varint(numbers[k], bytes + n);
        n += add_text(bytes + n, t->methods[i]);
        n += add_text(bytes + n, "");
        n += add_text(bytes + n, "app.lua");
        n += add_text(bytes + n, "");
    }
    for (unsigned i = 0; i < t->n_paths; i++, p.n_records++) {
        bytes[n++] = QP_NAMES_PATH;
        n += qp_pack_varint(t->cells + PATHS + i, bytes + n);
        n += qp_pack_varint(path_cell(t, t->paths[i].caller), bytes + n);
        n += qp_pack_varint(t->cells + METHODS + t->paths[i].method, bytes + n);
    }
    for (unsigned i = 1; i <= t->n_threads; i++, p.n_records++) {
        const uint64_t numbers[] = {t->cells + THREADS + i, i, 50 + i, 0, 900 + i, 0};
        bytes[n++] = QP_NAMES_THREAD;
        for (int k = 0; k < 6; k++)
            n += qp_pack_varint(numbers[k], bytes + n);
        n += add_text(bytes + n, "");
    }
    for (unsigned i = 0; i < t->n_texts; i++, p.n_records++) {
        bytes[n++] = QP_NAMES_TEXT;
        n += qp_pack_varint(t->cells + TEXTS + i, bytes + n);
        n += add_text(bytes + n, t->texts[i]);
    }
    p.n_bytes = (uint32_t)n;
    write_packet(w, &p, bytes);
}

/* Where the OS thread is before a record. */
static void state_at(const track *t, size_t at, qp_packet *p)
{
    for (size_t i = 0; i < at; i++) {
        qp_trace_op op = qp_trace_op_of(&t->records[i]);
        if (qp_trace_has_ticks(op))
            p->first_ticks = t->records[i].word & QP_TRACE_TICKS;
        if (op == QP_TRACE_ENTRY)
            p->path = t->records[i].a;
        if (op == QP_TRACE_EXIT || op == QP_TRACE_SWITCH)
            p->path = t->records[i].b;
        if (op == QP_TRACE_SWITCH)
            p->thread = t->records[i].a;
        if (op == QP_TRACE_SUSPEND)
            p->thread = p->path = 0;
    }
}

static void write_events(writer *w, const track *t, unsigned os_thread, size_t from, size_t to)
{
    unsigned char bytes[1 << 15];
    qp_packet p = {.kind = QP_PACKET_EVENTS,
                   .os_thread = os_thread,
                   .ring = 8000 + os_thread,
                   .first_record = from,
                   .first_ticks = t->records[0].word & QP_TRACE_TICKS,
                   .n_records = (uint32_t)(to - from)};
    state_at(t, from, &p);
    qp_pack_state state = {p.first_ticks, p.path, p.path};
    const qp_pack_paths paths = {path_of, w};
    size_t n = 0;
    w->track = t;
    for (size_t i = from; i < to; i++) {
        assert_true(n + QP_PACKED_MAX < sizeof bytes);
        n += qp_pack_record(&state, &t->records[i], &paths, bytes + n);
    }
    p.n_bytes = (uint32_t)n;
    write_packet(w, &p, bytes);
}

void track_write(const track *const *tracks, unsigned n, const char *path, unsigned per_packet,
                 uint64_t end, track_places *places)
{
    writer w = {.file = fopen(path, "wb")};
    assert_non_null(w.file);
    const qp_trace_file head = {.magic = QP_TRACE_MAGIC,
                                .endian = QP_ENDIAN,
                                .major = QP_TRACE_MAJOR,
                                .minor = QP_TRACE_MINOR,
                                .nonce = NONCE,
                                .started_at = 1700000000000000000u,
                                .clock_source = QP_SOURCE_NS};
    fwrite(&head, sizeof head, 1, w.file);
    for (unsigned i = 0; i < n; i++)
        write_names(&w, tracks[i]);
    bool has_more = true;
    for (size_t from = 0; has_more; from += per_packet) {
        has_more = false;
        for (unsigned i = 0; i < n; i++) {
            size_t left = from < tracks[i]->n ? tracks[i]->n - from : 0;
            if (!left)
                continue;
            if (places)
                places->packets[places->n_packets++] = (uint64_t)ftell(w.file);
            write_events(&w, tracks[i], i + 1, from,
                         from + (left < per_packet ? left : per_packet));
            has_more |= left > per_packet;
        }
    }
    if (end) {
        qp_packet p = {.kind = QP_PACKET_END, .first_ticks = end};
        write_packet(&w, &p, (const unsigned char *)"");
    }
    if (places)
        places->n_bytes = (uint64_t)ftell(w.file);
    assert_int_equal(fclose(w.file), 0);
}
