/* kept.c: requests that were kept whole: a row each, with all of its calls. Read put_request first, and then
 * read_request, which is its mirror.
 *
 * A row needs nothing but itself: names are there as texts. Its sum covers all but its numbers and its calls, whose
 * packed bytes have one of their own. */
#include <string.h>

#include "base/containers/dict.h"
#include "model/read/read.h"
#include "store/cluster.h"
#include "store/pack.h"

/* ---- calls --------------------------------------------------------------------------------- */

typedef enum { DEPTH, METHOD, BEGIN, TOTAL, OFF, SUSPENDED, CALL_FIGURES } call_figure;

static uint64_t figure_of(const qp_kept_call *c, call_figure k)
{
    const uint64_t figures[] = {c->depth, c->method, c->begin, c->total, c->off, c->suspended};
    return figures[k];
}

/* Its length, then its bytes. */
static void put_text(qp_buf *out, const char *text)
{
    qp_pack_put(out, strlen(text));
    for (; *text; text++) {
        char *to = qp_buf_add(out);
        if (to)
            *to = *text;
    }
}

/* Number the methods in the order of their first calls, and write their names. */
static void put_names(qp_kept_call *calls, size_t n, qp_buf *out)
{
    qp_dict numbers;
    qp_buf names = QP_BUF(const char *);
    qp_dict_init(&numbers);
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = calls[i].method + UINT64_C(1);
        uint32_t number = qp_dict_get(&numbers, key);
        if (!number) {
            const char **name = qp_buf_add(&names);
            number = (uint32_t)names.n;
            if (name && qp_dict_put(&numbers, key, number))
                *name = calls[i].name;
            else
                out->failed = true;
        }
        calls[i].method = number - 1;
    }
    qp_pack_put(out, names.n);
    for (size_t i = 0; !out->failed && i < names.n; i++)
        put_text(out, ((const char *const *)names.items)[i]);
    qp_free(names.items);
    qp_dict_fini(&numbers);
}

/* Names, then a column for each figure, then the waits; a begin is the distance from the one before.
 * @param all  whose methods become numbers of names @return false: no memory */
static bool put_calls(const qp_kept_calls *all, qp_buf *out)
{
    qp_kept_call *calls = all->items;
    const size_t n = all->n;
    put_names(calls, n, out);
    qp_pack_put(out, n);
    for (unsigned k = 0; k < CALL_FIGURES; k++)
        for (size_t i = 0; i < n; i++)
            qp_pack_put(out, figure_of(&calls[i], (call_figure)k) -
                                 (k == BEGIN && i ? calls[i - 1].begin : 0));
    qp_pack_put(out, all->n_waits);
    for (size_t i = 0; i < all->n_waits; i++) {
        qp_pack_put(out, all->waits[i].begin - (i ? all->waits[i - 1].begin : 0));
        qp_pack_put(out, all->waits[i].duration);
        qp_pack_put(out, all->waits[i].is_off);
    }
    return !out->failed;
}

/* @return NULL: not valid, or no memory */
static const char *take_text(qp_cursor *c, qp_arena *arena)
{
    const size_t n = qp_pack_count(c);
    char *text = c->is_bad ? NULL : qp_arena_take(arena, n + 1, 1);
    if (!text)
        return NULL;
    memcpy(text, c->at, n);
    text[n] = '\0';
    c->at += n;
    return strlen(text) == n ? text : NULL;
}

/* What follows from the figures: calls below each, and sums with them. The first call is the outermost one.
 * @return false: their depths are none */
static bool add_below(qp_kept_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (i ? !calls[i].depth || calls[i].depth > calls[i - 1].depth + UINT64_C(1)
              : calls[i].depth)
            return false;
    for (size_t i = n; i--;) {
        qp_kept_call *c = &calls[i];
        c->off_total = c->off;
        c->suspended_total = c->suspended;
        for (size_t k = i + 1; k < n && calls[k].depth > c->depth;
             k += calls[k].n_below + (size_t)1) {
            c->n_below += calls[k].n_below + 1;
            c->off_total = qp_sum(c->off_total, calls[k].off_total);
            c->suspended_total = qp_sum(c->suspended_total, calls[k].suspended_total);
        }
    }
    return n > 0;
}

/* @return [*n] of the arena; NULL: not valid, or no memory */
static const char **take_names(qp_cursor *c, qp_arena *arena, size_t *n)
{
    *n = qp_pack_count(c);
    const char **names = qp_arena_take(arena, *n, sizeof *names);
    for (size_t i = 0; names && i < *n; i++)
        if ((names[i] = take_text(c, arena)) == NULL)
            return NULL;
    return names;
}

/* A column. @param most  that a value may be */
static void take_column(qp_cursor *c, qp_kept_call *calls, size_t n, call_figure k,
                        uint64_t most)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = qp_pack_take(c);
        c->is_bad |= value > most;
        if (k == DEPTH)
            calls[i].depth = (uint32_t)value;
        else if (k == METHOD)
            calls[i].method = (uint32_t)value;
        else if (k == BEGIN)
            calls[i].begin = value + (i ? calls[i - 1].begin : 0);
        else if (k == TOTAL)
            calls[i].total = value;
        else if (k == OFF)
            calls[i].off = value;
        else
            calls[i].suspended = value;
    }
}

/* @return false: no memory */
static bool take_waits(qp_cursor *c, qp_kept_calls *out)
{
    out->n_waits = qp_pack_count(c);
    out->waits = qp_alloc_zeroed(out->n_waits, sizeof *out->waits);
    for (size_t i = 0; out->waits && i < out->n_waits; i++) {
        qp_kept_wait *w = &out->waits[i];
        w->begin = qp_pack_take(c) + (i ? out->waits[i - 1].begin : 0);
        w->duration = qp_pack_take(c);
        w->is_off = qp_pack_take(c) != 0;
    }
    return out->waits;
}

/* @param out  free with qp_kept_calls_fini(); names are the arena's @return false: not valid, or no memory */
static bool take_calls(qp_cursor *c, qp_arena *arena, qp_kept_calls *out)
{
    size_t n_names;
    const char **names = take_names(c, arena, &n_names);
    *out = (qp_kept_calls){.n = qp_pack_count(c)};
    if (names && n_names && !c->is_bad)
        out->items = qp_alloc_zeroed(out->n, sizeof *out->items);
    for (unsigned k = 0; out->items && k < CALL_FIGURES; k++)
        take_column(c, out->items, out->n, (call_figure)k,
                    k == DEPTH    ? UINT32_MAX - 1
                    : k == METHOD ? n_names - 1
                                  : UINT64_MAX);
    if (!out->items || !take_waits(c, out) || c->is_bad || c->at != c->end ||
        !add_below(out->items, out->n))
        return false;
    for (size_t i = 0; i < out->n; i++)
        out->items[i].name = names[out->items[i].method];
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

enum { FAILED = 1, CUT = 2, HAS_TRACE = 4, N_NUMBERS = 11 };

static void numbers_of(const qp_kept_request *r, uint64_t to[N_NUMBERS])
{
    const uint64_t numbers[N_NUMBERS] = {r->elapsed_ns,
                                         r->begun_at,
                                         r->begun_ns,
                                         r->thread_ordinal,
                                         (r->has_failed ? FAILED : 0) | (r->is_cut ? CUT : 0) |
                                             (r->has_trace ? HAS_TRACE : 0),
                                         r->window,
                                         r->off_ns,
                                         r->suspended_ns,
                                         r->n_calls,
                                         r->n_before,
                                         r->n_after};
    memcpy(to, numbers, sizeof numbers);
}

static void put_head(qp_buf *out, const qp_kept_request *r)
{
    uint64_t numbers[N_NUMBERS];
    numbers_of(r, numbers);
    put_text(out, r->endpoint);
    put_text(out, r->thread);
    for (unsigned i = 0; i < N_NUMBERS; i++)
        qp_pack_put(out, numbers[i]);
}

static bool sum_of(const qp_kept_request *r, uint64_t *sum)
{
    qp_buf bytes = QP_BUF(unsigned char);
    put_head(&bytes, r);
    *sum = qp_hash_bytes(QP_HASH_START, bytes.items, bytes.n);
    *sum = qp_hash_bytes(*sum, r->trace, sizeof r->trace);
    *sum = qp_hash_bytes(*sum, r->span, sizeof r->span);
    const bool is_good = !bytes.failed;
    qp_free(bytes.items);
    return is_good;
}

static void take_numbers(const uint64_t n[N_NUMBERS], qp_kept_request *r)
{
    r->elapsed_ns = n[0];
    r->begun_at = n[1];
    r->begun_ns = n[2];
    r->thread_ordinal = n[3];
    r->has_failed = n[4] & FAILED;
    r->is_cut = n[4] & CUT;
    r->has_trace = n[4] & HAS_TRACE;
    r->window = (uint32_t)n[5];
    r->off_ns = n[6];
    r->suspended_ns = n[7];
    r->n_calls = n[8];
    r->n_before = n[9];
    r->n_after = n[10];
}

bool qp_kept_head_write(const qp_kept_request *r, qp_buf *out)
{
    uint64_t sum;
    put_head(out, r);
    char *to = sum_of(r, &sum) ? qp_buf_add_many(out, sizeof r->trace + sizeof r->span) : NULL;
    if (!to)
        return false;
    memcpy(to, r->trace, sizeof r->trace);
    memcpy(to + sizeof r->trace, r->span, sizeof r->span);
    qp_pack_put(out, sum);
    return !out->failed;
}

bool qp_kept_head_read(const void *bytes, size_t n_bytes, qp_arena *arena, qp_kept_request *r)
{
    uint64_t n[N_NUMBERS], sum;
    qp_cursor c = {.at = bytes, .end = (const unsigned char *)bytes + n_bytes};
    *r = (qp_kept_request){.endpoint = take_text(&c, arena), .thread = take_text(&c, arena)};
    if (!r->endpoint || !r->thread)
        return false;
    for (unsigned i = 0; i < N_NUMBERS; i++)
        n[i] = qp_pack_take(&c);
    take_numbers(n, r);
    if (c.is_bad || (size_t)(c.end - c.at) < sizeof r->trace + sizeof r->span)
        return false;
    memcpy(r->trace, c.at, sizeof r->trace);
    memcpy(r->span, c.at + sizeof r->trace, sizeof r->span);
    c.at += sizeof r->trace + sizeof r->span;
    return sum_of(r, &sum) && qp_pack_take(&c) == sum && !c.is_bad && c.at == c.end;
}

bool qp_kept_calls_pack(const qp_kept_calls *calls, qp_buf *out)
{
    qp_buf bytes = QP_BUF(unsigned char);
    const bool is_good = put_calls(calls, &bytes) && qp_segment_pack(bytes.items, bytes.n, out);
    qp_free(bytes.items);
    return is_good;
}

bool qp_kept_calls_unpack(const void *bytes, size_t n_bytes, uint64_t n_calls, qp_arena *arena,
                          qp_kept_calls *out)
{
    qp_segment packed;
    *out = (qp_kept_calls){.items = NULL};
    qp_segment_init(&packed);
    bool is_good = qp_segment_unpack(&packed, bytes, n_bytes);
    if (is_good) {
        qp_cursor c = {.at = packed.bytes.items};
        c.end = c.at + packed.n_bytes;
        is_good = take_calls(&c, arena, out) && out->n == n_calls + 1;
    }
    qp_segment_fini(&packed);
    return is_good;
}

static const char insert[] = "INSERT INTO slow (profile, endpoint, thread, elapsed, begun_at, "
                             "begun, ordinal, flags, window,"
                             " off, suspended, calls, before, after, trace, span, sum, steps)"
                             " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

/* @return false: see error */
static bool put_request(const qp_store *s, sqlite3_stmt *st, int64_t profile,
                        const qp_kept_request *r, const qp_kept_calls *calls, qp_error *error)
{
    uint64_t numbers[N_NUMBERS], sum;
    int at = 0;
    qp_buf packed = QP_BUF(unsigned char);
    bool is_good = (qp_kept_calls_pack(calls, &packed) && sum_of(r, &sum)) ||
                   qp_error_fail(error, "out of memory");
    if (is_good) {
        numbers_of(r, numbers);
        sqlite3_bind_int64(st, ++at, profile);
        qp_store_bind_text(st, ++at, r->endpoint);
        qp_store_bind_text(st, ++at, r->thread);
        for (unsigned i = 0; i < N_NUMBERS; i++)
            sqlite3_bind_int64(st, ++at, (int64_t)numbers[i]);
        sqlite3_bind_blob64(st, ++at, r->trace, sizeof r->trace, SQLITE_STATIC);
        sqlite3_bind_blob64(st, ++at, r->span, sizeof r->span, SQLITE_STATIC);
        sqlite3_bind_int64(st, ++at, (int64_t)sum);
        sqlite3_bind_blob64(st, ++at, packed.items, packed.n, SQLITE_STATIC);
        is_good = qp_store_step(s, st, error);
    }
    qp_free(packed.items);
    return is_good;
}

bool qp_store_put_kept(const qp_store *s, const qp_model *m, int64_t profile, qp_error *error)
{
    qp_kept_request *all;
    size_t n;
    if (!qp_model_kept_requests(m, &all, &n))
        return qp_error_fail(error, "out of memory");
    sqlite3_stmt *st = n ? qp_store_prepare(s, insert, error) : NULL;
    bool is_good = st || !n;
    for (size_t i = 0; is_good && i < n; i++) {
        qp_kept_calls calls;
        is_good = (qp_model_kept_calls(m, &all[i], &calls) ||
                   qp_error_fail(error, "out of memory")) &&
                  (!calls.n || put_request(s, st, profile, &all[i], &calls, error));
        qp_kept_calls_fini(&calls);
    }
    sqlite3_finalize(st);
    qp_free(all);
    return is_good;
}

/* ---- reading ------------------------------------------------------------------------------- */

#define COLUMNS                                                                                \
    "request, profile, endpoint, thread, elapsed, begun_at, begun, ordinal, flags, window, "   \
    "off, suspended, calls, before, after, trace, span, sum"
enum {
    REQUEST,
    PROFILE,
    ENDPOINT,
    THREAD,
    NUMBERS,
    TRACE = NUMBERS + N_NUMBERS,
    SPAN,
    SUM,
    STEPS
};

static void take_bytes(sqlite3_stmt *st, int column, void *to, int n)
{
    const void *bytes = sqlite3_column_blob(st, column);
    if (bytes && sqlite3_column_bytes(st, column) == n)
        memcpy(to, bytes, (size_t)n);
}

static bool fail_request(int64_t number, qp_error *error)
{
    qp_store_note_failure();
    return qp_error_fail(error, "request %lld of the store: damaged", (long long)number);
}

/* Texts are the statement's until the next step. @return false: see error */
static bool read_request(sqlite3_stmt *st, qp_kept_request *r, qp_error *error)
{
    uint64_t sum, n[N_NUMBERS];
    for (int i = 0; i < N_NUMBERS; i++)
        n[i] = (uint64_t)sqlite3_column_int64(st, NUMBERS + i);
    *r = (qp_kept_request){.endpoint = qp_store_text(st, ENDPOINT),
                           .thread = qp_store_text(st, THREAD)};
    take_numbers(n, r);
    take_bytes(st, TRACE, r->trace, sizeof r->trace);
    take_bytes(st, SPAN, r->span, sizeof r->span);
    if (!sum_of(r, &sum))
        return qp_error_fail(error, "out of memory");
    return sum == (uint64_t)sqlite3_column_int64(st, SUM) ||
           fail_request(sqlite3_column_int64(st, REQUEST), error);
}

/* @param profiles  [n] by their numbers @return NULL: it is none of them */
static const qp_store_profile *profile_of(const qp_store_profile *profiles, size_t n,
                                          int64_t number)
{
    size_t from = 0, to = n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (profiles[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from < n && profiles[from].number == number ? &profiles[from] : NULL;
}

/* @return false: no memory */
static bool keep(const qp_kept_request *r, int64_t number, const qp_store_profile *profile,
                 qp_buf *requests, qp_arena *arena)
{
    qp_store_kept *to = qp_buf_add(requests);
    if (!to)
        return false;
    *to = (qp_store_kept){.r = *r, .number = number, .profile = profile};
    to->r.endpoint = qp_arena_text(arena, r->endpoint);
    to->r.thread = qp_arena_text(arena, r->thread);
    return to->r.endpoint && to->r.thread;
}

bool qp_store_kept_requests(qp_store *s, const qp_store_profile *profiles, size_t n,
                            qp_buf *requests, qp_arena *arena, qp_error *error)
{
    int code = SQLITE_DONE;
    bool is_good = true;
    if (s->cluster)
        return qp_cluster_kept_requests(s->cluster, profiles, n, requests, arena, error);
    sqlite3_stmt *st = qp_store_prepare(
        s, "SELECT " COLUMNS " FROM slow ORDER BY elapsed DESC, request", error);
    while (st && is_good && (code = sqlite3_step(st)) == SQLITE_ROW) {
        qp_kept_request r;
        const qp_store_profile *p = profile_of(profiles, n, sqlite3_column_int64(st, PROFILE));
        if (!p)
            continue;
        is_good = read_request(st, &r, error) &&
                  (keep(&r, sqlite3_column_int64(st, REQUEST), p, requests, arena) ||
                   qp_error_fail(error, "out of memory"));
    }
    if (st && is_good && code != SQLITE_DONE)
        is_good = qp_store_fail(s, error);
    sqlite3_finalize(st);
    return st && is_good;
}

/* @return as qp_store_kept_calls() */
static bool read_calls(sqlite3_stmt *st, qp_arena *arena, qp_kept_calls *out, qp_error *error)
{
    qp_kept_request r;
    return read_request(st, &r, error) &&
           (qp_kept_calls_unpack(sqlite3_column_blob(st, STEPS),
                                 (size_t)sqlite3_column_bytes(st, STEPS), r.n_calls, arena,
                                 out) ||
            fail_request(sqlite3_column_int64(st, REQUEST), error));
}

bool qp_store_kept_calls(qp_store *s, int64_t number, qp_kept_calls *out, qp_arena *arena,
                         qp_error *error)
{
    bool is_good = false;
    if (s->cluster)
        return qp_cluster_kept_calls(s->cluster, number, out, arena, error);
    sqlite3_stmt *st =
        qp_store_prepare(s, "SELECT " COLUMNS ", steps FROM slow WHERE request = ?", error);
    *out = (qp_kept_calls){.items = NULL};
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, number);
    const int code = sqlite3_step(st);
    if (code == SQLITE_ROW)
        is_good = read_calls(st, arena, out, error);
    else if (code == SQLITE_DONE)
        qp_error_fail(error, "request %lld: another command has removed it", (long long)number);
    else
        qp_store_fail(s, error);
    sqlite3_finalize(st);
    return is_good;
}
