/* cluster_read.c: what profiles of a store on servers have: parts of each, and sums of their call paths, which the
 * servers compute. See cluster.h; read qp_cluster_sums first. */
#include <string.h>

#include "model/read/read.h"
#include "store/cluster.h"

/* ---- parts ---------------------------------------------------------------------------------- */

size_t qp_cluster_put_keys(qp_buf *body, const qp_cluster *c, unsigned shard,
                           const qp_store_profile *profiles, size_t n, uint64_t days[2])
{
    enum { DAY_SECONDS = 86400 };
    size_t n_keys = 0;
    for (size_t i = 0; i < n; i++) {
        const qp_cluster_row *row = qp_cluster_row_of(c, profiles[i].number);
        if (!row || row->shard != shard)
            continue;
        uint64_t day = row->p.ended_at / 1000000000 / DAY_SECONDS;
        day = day < UINT16_MAX ? day : UINT16_MAX;
        if (days) {
            days[0] = !n_keys || day < days[0] ? day : days[0];
            days[1] = !n_keys || day > days[1] ? day : days[1];
        }
        qp_body_format(body, n_keys++ ? ",%llu" : "%llu", (unsigned long long)row->key);
    }
    return n_keys;
}

static bool read_parts(qp_answer *a, qp_cluster_parts *to, qp_arena *arena, bool has_blobs)
{
    to->methods = qp_answer_numbers(a, arena, &to->n_methods);
    to->roots = qp_answer_numbers(a, arena, &to->n_roots);
    if (!has_blobs)
        return to->methods && to->roots && !a->is_bad;
    const unsigned char *records = qp_answer_bytes(a, &to->n_record_bytes),
                        *counters = qp_answer_bytes(a, &to->n_counter_bytes);
    to->records = qp_arena_copy(arena, records, to->n_record_bytes, 1);
    to->counters = qp_arena_copy(arena, counters, to->n_counter_bytes, 1);
    return to->methods && to->roots && to->records && to->counters && !a->is_bad;
}

/* The parts of those profiles of the page that a shard has. A profile that was sent twice may have two equal rows. */
static bool read_page(qp_cluster *c, unsigned shard, const qp_store_profile *p, qp_error *error)
{
    qp_shard *sh = &c->shards[shard];
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_body_format(&body,
                   "SELECT profile, methods, roots%s FROM %s.qprof_profile WHERE profile IN (",
                   c->page.has_blobs ? ", records, counters" : "", sh->database);
    bool is_good = true;
    if (qp_cluster_put_keys(&body, c, shard, p, c->page.n, NULL)) {
        qp_body_format(&body, ") FORMAT RowBinary");
        is_good = qp_shard_ask(sh, &body, &answer, error);
    }
    qp_answer a = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&a)) {
        qp_cluster_parts parts = {.n_methods = 0};
        const uint64_t key = qp_answer_number(&a, sizeof key);
        is_good = read_parts(&a, &parts, &c->page.arena, c->page.has_blobs) ||
                  qp_shard_fail_answer(sh, error);
        for (size_t i = 0; is_good && i < c->page.n; i++) {
            const qp_cluster_row *row = qp_cluster_row_of(c, p[i].number);
            if (row && row->key == key && row->shard == shard)
                c->page.parts[i] = parts;
        }
    }
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

static const qp_cluster_parts *find_parts(qp_cluster *c, int64_t number, bool has_blobs)
{
    for (size_t i = 0; i < c->page.n && (c->page.has_blobs || !has_blobs); i++)
        if (c->page.numbers[i] == number)
            return c->page.parts[i].methods ? &c->page.parts[i] : NULL;
    return NULL;
}

const qp_cluster_parts *qp_cluster_parts_of(qp_cluster *c, const qp_store_profile *p, size_t n,
                                            bool has_blobs, qp_error *error)
{
    const qp_cluster_parts *found = find_parts(c, p->number, has_blobs);
    if (found)
        return found;
    qp_arena_fini(&c->page.arena);
    qp_arena_init(&c->page.arena);
    memset(c->page.parts, 0, sizeof c->page.parts);
    c->page.has_blobs = has_blobs;
    c->page.n = n < QP_CLUSTER_PAGE ? n : QP_CLUSTER_PAGE;
    for (size_t i = 0; i < c->page.n; i++)
        c->page.numbers[i] = p[i].number;
    bool is_good = true;
    for (unsigned i = 0; is_good && i < c->n_shards; i++)
        is_good = read_page(c, i, p, error);
    found = is_good ? find_parts(c, p->number, has_blobs) : NULL;
    if (is_good && !found)
        qp_error_fail(error,
                      "%.200s, profile %lld of the store: another command has removed it",
                      p->file, (long long)p->number);
    if (!is_good)
        c->page.n = 0;
    return found;
}

bool qp_cluster_methods(qp_cluster *c, const qp_store_profile *p, size_t n, qp_segment *x,
                        qp_error *error)
{
    const qp_cluster_row *row = qp_cluster_row_of(c, p->number);
    const qp_cluster_parts *parts = qp_cluster_parts_of(c, p, n, false, error);
    if (!parts || !row)
        return false;
    x->mode = row->mode;
    x->n_paths = 0;
    memset(x->columns, 0, sizeof x->columns);
    x->n_methods = parts->n_methods;
    x->methods = qp_segment_room(&x->method_room, x->n_methods);
    for (size_t i = 0; x->methods && i < x->n_methods; i++) {
        const uint64_t hash = parts->methods[i];
        const uint32_t at = qp_cluster_place_of(&c->methods, hash & ~UINT64_C(1));
        if (at == QP_MERGE_NONE)
            return qp_store_note_failure() ||
                   qp_error_fail(error,
                                 "%.200s, profile %lld of the store: damaged: it lacks a "
                                 "function that it names",
                                 p->file, (long long)p->number);
        x->methods[i] = 2 * (at + UINT64_C(1)) + (hash & 1);
    }
    return x->methods || qp_error_fail(error, "out of memory");
}

/* ---- sums ----------------------------------------------------------------------------------- */

static const char *const names[QP_PATH_COLUMNS] = {
    "hits",        "skips",         "resumes", "counts", "pc_samples", "bytes", "objects",
    "freed_bytes", "freed_objects", "self",    "off",    "low",        "high"};

typedef struct {
    unsigned shard;
    qp_time_mode mode;
    uint32_t columns;             /* some profile has figures there */
    bool is_split;                /* a sum may need more than 64 bits: halves are added */
    uint64_t n_rows, calls, self; /* that they have */
} question;

typedef enum { AS_SUM, AS_HALVES, AS_LEAST, AS_MOST } way;

static way way_of(const question *q, unsigned column)
{
    const bool is_pair = column == QP_PATH_LOW || column == QP_PATH_HIGH;
    if (q->mode == QP_TIME_EXACT && is_pair)
        return column == QP_PATH_LOW ? AS_LEAST : AS_MOST;
    return q->is_split || (q->mode == QP_TIME_ADAPTIVE && is_pair) ? AS_HALVES : AS_SUM;
}

/* Which profiles of the list the shard has. @return how many */
static size_t describe(const qp_cluster *c, question *q, const qp_store_profile *profiles,
                       size_t n)
{
    size_t n_of_shard = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const qp_cluster_row *row = qp_cluster_row_of(c, profiles[i].number);
        if (!row || row->shard != q->shard)
            continue;
        n_of_shard++;
        q->mode = row->mode;
        q->columns |= row->columns;
        q->n_rows += row->p.n_paths;
        q->calls = qp_sum(q->calls, row->p.calls);
        q->self = qp_sum(q->self, row->p.self);
        most = qp_sum(most, row->most);
    }
    if (q->mode == QP_TIME_EXACT || q->mode == QP_TIME_ADAPTIVE)
        q->columns |= 1u << QP_PATH_LOW | 1u << QP_PATH_HIGH;
    q->is_split = most == UINT64_MAX;
    return n_of_shard;
}

static void put_question(qp_buf *body, const qp_cluster *c, const question *q,
                         const qp_store_profile *profiles, size_t n, bool is_final)
{
    static const char *const forms[] = {
        [AS_SUM] = ", sum(%s)",
        [AS_HALVES] = ", sum(bitAnd(%s, 4294967295)), sum(bitShiftRight(%s, 32))",
        [AS_LEAST] = ", min(%s)",
        [AS_MOST] = ", max(%s)"};
    uint64_t days[2] = {0, 0};
    qp_buf keys = QP_BUF(char);
    qp_body_format(body, "SELECT path, count()");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        if (q->columns >> k & 1)
            qp_body_format(body, forms[way_of(q, k)], names[k], names[k]);
#pragma GCC diagnostic pop
    qp_cluster_put_keys(&keys, c, q->shard, profiles, n, days);
    qp_body_format(
        body,
        " FROM %s.qprof_sample%s WHERE day >= toDate(%llu) AND day <= toDate(%llu) AND"
        " profile IN (",
        c->shards[q->shard].database, is_final ? " FINAL" : "", (unsigned long long)days[0],
        (unsigned long long)days[1]);
    qp_body_bytes(body, keys.items, keys.n);
    qp_body_format(body, ") GROUP BY path FORMAT RowBinary");
    body->failed |= keys.failed;
    qp_free(keys.items);
}

/* @return how many paths an answer has; 0: none, or no memory for them, and then x->paths is NULL */
static size_t make_room(const question *q, qp_segment *x, size_t n_bytes)
{
    size_t row_bytes = 2 * sizeof(uint64_t);
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        if (q->columns >> k & 1)
            row_bytes += (way_of(q, k) == AS_HALVES ? 2 : 1) * sizeof(uint64_t);
    const size_t n = n_bytes / row_bytes;
    x->paths = qp_segment_room(&x->path_room, n);
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++) {
        const bool is_there = q->columns >> k & 1;
        x->columns[k] = is_there ? qp_segment_room(&x->column_rooms[k], n) : NULL;
        if (is_there && !x->columns[k])
            x->paths = NULL;
    }
    return x->paths ? n : 0;
}

/* Halves of 32 bits, whose sums are exact, as one number that is UINT64_MAX if it is larger. */
static uint64_t join_halves(uint64_t low, uint64_t high)
{
    high += low >> 32;
    return high >> 32 ? UINT64_MAX : high << 32 | (low & UINT32_MAX);
}

/* A variance of 128 bits, of which `low` wraps around. */
static void join_variance(const uint64_t low[2], const uint64_t high[2], uint64_t *to_low,
                          uint64_t *to_high)
{
    const uint64_t upper = low[1] + (low[0] >> 32), carry = upper >> 32;
    *to_low = upper << 32 | (low[0] & UINT32_MAX);
    *to_high = qp_sum(join_halves(high[0], high[1]), carry);
    if (*to_high == UINT64_MAX)
        *to_low = UINT64_MAX;
}

static void read_figures(qp_answer *a, const question *q, qp_segment *x, size_t i)
{
    uint64_t halves[QP_PATH_COLUMNS][2] = {{0}};
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++) {
        if (!(q->columns >> k & 1))
            continue;
        halves[k][0] = qp_answer_number(a, sizeof **halves);
        if (way_of(q, k) == AS_HALVES)
            halves[k][1] = qp_answer_number(a, sizeof **halves);
        x->columns[k][i] =
            way_of(q, k) == AS_HALVES ? join_halves(halves[k][0], halves[k][1]) : halves[k][0];
    }
    if (q->mode == QP_TIME_ADAPTIVE)
        join_variance(halves[QP_PATH_LOW], halves[QP_PATH_HIGH], &x->columns[QP_PATH_LOW][i],
                      &x->columns[QP_PATH_HIGH][i]);
}

/* @param n_rows  receives of how many rows these are the sums @return false: see error */
static bool read_sums(qp_cluster *c, const question *q, const qp_buf *answer, qp_segment *x,
                      uint64_t *n_rows, qp_error *error)
{
    qp_shard *sh = &c->shards[q->shard];
    qp_answer a = qp_answer_of(answer);
    x->n_paths = make_room(q, x, answer->n);
    *n_rows = 0;
    if (!x->paths)
        return qp_error_fail(error, "out of memory");
    for (size_t i = 0; i < x->n_paths; i++) {
        const uint64_t hash = qp_answer_number(&a, sizeof hash);
        const uint32_t at = qp_cluster_place_of(&c->paths, hash);
        *n_rows += qp_answer_number(&a, sizeof *n_rows);
        if (at == QP_MERGE_NONE)
            return qp_store_note_failure() ||
                   qp_error_fail(error, "%.200s/%s: damaged: call path %llx is not there",
                                 sh->url, sh->database, (unsigned long long)hash);
        x->paths[i] = at;
        read_figures(&a, q, x, i);
    }
    return (!a.is_bad && a.at == a.end) || qp_shard_fail_answer(sh, error);
}

/* Do the sums have what was noted of each profile when it came? */
static bool is_complete(const question *q, const qp_segment *x, uint64_t n_rows)
{
    return n_rows == q->n_rows && qp_segment_calls(x) == q->calls &&
           qp_segment_self(x) == q->self;
}

/* Rows that were sent twice are there twice until the server has merged them, or is asked to look (FINAL),
 * which takes longer. How many rows there should be is known, and so whether that is needed. */
bool qp_cluster_sums(qp_cluster *c, unsigned shard, const qp_store_profile *profiles, size_t n,
                     qp_segment *x, qp_error *error)
{
    question q = {.shard = shard};
    uint64_t n_rows;
    bool is_good = true, is_done = false;
    x->n_paths = x->n_methods = 0;
    memset(x->columns, 0, sizeof x->columns);
    if (!describe(c, &q, profiles, n))
        return true;
    for (int is_final = 0; is_good && is_final <= 1 && !is_done; is_final++) {
        qp_buf body = QP_BUF(char), answer = QP_BUF(char);
        put_question(&body, c, &q, profiles, n, is_final);
        is_good = qp_shard_ask(&c->shards[shard], &body, &answer, error) &&
                  read_sums(c, &q, &answer, x, &n_rows, error);
        is_done = is_good && is_complete(&q, x, n_rows);
        qp_free(body.items);
        qp_free(answer.items);
    }
    x->mode = q.mode;
    return is_done ||
           (is_good && (qp_store_note_failure() ||
                        qp_error_fail(error,
                                      "%.200s/%s: damaged: its call paths do not have the sums "
                                      "that profiles came with",
                                      c->shards[shard].url, c->shards[shard].database)));
}
