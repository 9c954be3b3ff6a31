/* cluster_kept.c: requests that were kept whole, of a store on servers: arrays in the rows of profiles. See cluster.h. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/search.h"
#include "store/cluster.h"

void qp_cluster_kept_init(qp_cluster_kept *kept)
{
    *kept = (qp_cluster_kept){
        .numbers = QP_BUF(uint64_t), .heads = QP_BUF(char), .calls = QP_BUF(char)};
}

void qp_cluster_kept_fini(qp_cluster_kept *kept)
{
    qp_free(kept->numbers.items);
    qp_free(kept->heads.items);
    qp_free(kept->calls.items);
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool take_request(qp_cluster_kept *kept, const qp_kept_request *r,
                         const qp_kept_calls *calls)
{
    qp_buf head = QP_BUF(unsigned char), packed = QP_BUF(unsigned char);
    const bool is_good = qp_kept_head_write(r, &head) && qp_kept_calls_pack(calls, &packed) &&
                         qp_buf_add(&kept->numbers);
    qp_body_blob(&kept->heads, head.items, head.n);
    qp_body_blob(&kept->calls, packed.items, packed.n);
    qp_free(head.items);
    qp_free(packed.items);
    return is_good && !kept->heads.failed && !kept->calls.failed;
}

bool qp_cluster_kept_take(qp_cluster_kept *kept, const qp_model *m, qp_error *error)
{
    qp_kept_request *all = NULL;
    size_t n = 0;
    bool is_good = qp_model_kept_requests(m, &all, &n);
    for (size_t i = 0; is_good && i < n; i++) {
        qp_kept_calls calls;
        is_good = qp_model_kept_calls(m, &all[i], &calls) &&
                  (!calls.n || take_request(kept, &all[i], &calls));
        qp_kept_calls_fini(&calls);
    }
    qp_free(all);
    return is_good || qp_error_fail(error, "out of memory");
}

void qp_cluster_kept_put(const qp_cluster_kept *kept, qp_buf *body, uint64_t *last)
{
    const uint64_t *numbers = kept->numbers.items;
    const size_t n = kept->numbers.n;
    qp_body_count(body, n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = numbers[i] ? numbers[i] : ++*last;
        *last = number > *last ? number : *last;
        qp_body_number(body, number, sizeof number);
    }
    qp_body_count(body, n);
    qp_body_bytes(body, kept->heads.items, kept->heads.n);
    qp_body_count(body, n);
    qp_body_bytes(body, kept->calls.items, kept->calls.n);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* What a row has: [n] each, in the answer. */
typedef struct {
    uint64_t key, came;
    unsigned shard;
    const uint64_t *numbers;
    size_t n;
    qp_answer heads, calls; /* at their counts */
} kept_row;

static void skip_texts(qp_answer *a, size_t n)
{
    size_t n_bytes;
    a->is_bad |= qp_answer_count(a) != n;
    for (size_t i = 0; !a->is_bad && i < n; i++)
        qp_answer_bytes(a, &n_bytes);
}

static bool read_row(qp_answer *a, kept_row *to, bool has_texts, qp_arena *arena)
{
    to->key = qp_answer_number(a, sizeof to->key);
    to->came = qp_answer_number(a, sizeof to->came);
    to->numbers = qp_answer_numbers(a, arena, &to->n);
    if (has_texts) {
        to->heads = *a;
        skip_texts(a, to->n);
        to->calls = *a;
        skip_texts(a, to->n);
    }
    return to->numbers && !a->is_bad;
}

/* The rows of a shard that have requests, each once (FINAL). @param keys  "1,2,3" of their profiles; NULL: all
 * @param use  is called for each; without keys it has numbers alone @return false: see error */
static bool read_rows(qp_cluster *c, unsigned shard, const qp_buf *keys,
                      bool (*use)(void *to, const kept_row *row), void *to, qp_error *error)
{
    qp_shard *sh = &c->shards[shard];
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_arena arena;
    qp_arena_init(&arena);
    qp_body_format(&body,
                   "SELECT profile, number, request_numbers%s FROM %s.qprof_profile FINAL"
                   " WHERE notEmpty(request_numbers)",
                   keys ? ", request_heads, request_calls" : "", sh->database);
    if (keys) {
        qp_body_format(&body, " AND profile IN (");
        qp_body_bytes(&body, keys->items, keys->n);
        qp_body_format(&body, ")");
    }
    qp_body_format(&body, " FORMAT RowBinary");
    bool is_good = qp_shard_ask(sh, &body, &answer, error);
    qp_answer a = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&a)) {
        kept_row row = {.shard = shard};
        is_good = (read_row(&a, &row, keys, &arena) && use(to, &row)) ||
                  qp_shard_fail_answer(sh, error);
    }
    qp_arena_fini(&arena);
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const qp_kept_place *x = a, *y = b;
    return x->key != y->key ? QP_ORDER(x->key, y->key) : QP_ORDER(x->at, y->at);
}

static int compare_numbers(const void *a, const void *b)
{
    const qp_kept_place *x = a, *y = b;
    return x->number != y->number ? QP_ORDER(x->number, y->number)
           : x->came != y->came   ? QP_ORDER(x->came, y->came)
                                  : compare_places(a, b);
}

typedef struct {
    qp_cluster *c;
    qp_dict visible; /* key -> index in c->visible + 1 */
} numbering;

static bool note_places(void *to, const kept_row *row)
{
    numbering *x = to;
    const uint32_t i = qp_dict_get(&x->visible, row->key);
    const qp_cluster_row *known = (const qp_cluster_row *)x->c->visible.items + i - 1;
    if (!i || known->shard != row->shard || known->came != row->came)
        return true;
    for (size_t at = 0; at < row->n; at++) {
        qp_kept_place *place = qp_buf_add(&x->c->kept);
        if (!place)
            return false;
        *place = (qp_kept_place){.number = (int64_t)row->numbers[at],
                                 .key = row->key,
                                 .came = row->came,
                                 .at = at,
                                 .shard = row->shard};
    }
    return true;
}

/* Commands that push at once may have given the same number to several requests: of these, all but the one that came first
 * get numbers after all others. */
static void part_numbers(qp_kept_place *places, size_t n)
{
    qsort(places, n, sizeof *places, compare_numbers);
    int64_t last = places[n - 1].number, before = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_taken = places[i].number == before;
        before = places[i].number;
        places[i].number = is_taken ? ++last : before;
    }
    qsort(places, n, sizeof *places, compare_places);
}

/* Fill c->kept. @return false: see error */
static bool number_requests(qp_cluster *c, qp_error *error)
{
    numbering x = {.c = c};
    const qp_cluster_row *rows = c->visible.items;
    bool is_good = true;
    qp_dict_init(&x.visible);
    for (size_t i = 0; is_good && i < c->visible.n; i++)
        is_good = qp_dict_put(&x.visible, rows[i].key, (uint32_t)i + 1) ||
                  qp_error_fail(error, "out of memory");
    c->kept.n = 0;
    for (unsigned i = 0; is_good && i < c->n_shards; i++)
        is_good = read_rows(c, i, NULL, note_places, &x, error);
    qp_dict_fini(&x.visible);
    if (is_good && c->kept.n)
        part_numbers(c->kept.items, c->kept.n);
    return is_good;
}

/* @return NULL: it is not of a profile that is visible */
static const qp_kept_place *place_of(const qp_cluster *c, const kept_row *row, size_t at)
{
    const qp_kept_place wanted = {.key = row->key, .at = at},
                        *found = c->kept.n ? bsearch(&wanted, c->kept.items, c->kept.n,
                                                     sizeof wanted, compare_places)
                                           : NULL;
    return found && found->shard == row->shard && found->came == row->came ? found : NULL;
}

/* ---- lists --------------------------------------------------------------------------------- */

typedef struct {
    const qp_cluster *c;
    const qp_store_profile *profiles;
    size_t n;
    qp_cluster_kept *kept; /* NULL: requests are listed */
    qp_buf *requests;
    qp_arena *arena;
    qp_dict places; /* key -> index in profiles + 1 */
} listing;

/* @return the profile of the row; NULL: it is a second row of it, which another command sent at the same time */
static const qp_store_profile *profile_of(const listing *x, const kept_row *row)
{
    const uint32_t i = qp_dict_get(&x->places, row->key);
    return i && place_of(x->c, row, 0) ? &x->profiles[i - 1] : NULL;
}

static bool copy(void *to, const kept_row *row)
{
    listing *x = to;
    qp_answer heads = row->heads, calls = row->calls;
    if (!profile_of(x, row))
        return true;
    qp_answer_count(&heads);
    qp_answer_count(&calls);
    for (size_t i = 0; i < row->n; i++) {
        size_t n;
        uint64_t *number = qp_buf_add(&x->kept->numbers);
        const qp_kept_place *place = place_of(x->c, row, i);
        if (!number || !place)
            return false;
        *number = (uint64_t)place->number;
        const unsigned char *bytes = qp_answer_bytes(&heads, &n);
        qp_body_blob(&x->kept->heads, bytes, n);
        bytes = qp_answer_bytes(&calls, &n);
        qp_body_blob(&x->kept->calls, bytes, n);
    }
    return !x->kept->heads.failed && !x->kept->calls.failed;
}

/* Of profiles. @return false: see error */
static bool read_profiles(qp_cluster *c, listing *x, bool (*use)(void *to, const kept_row *row),
                          qp_error *error)
{
    bool is_good = number_requests(c, error);
    qp_dict_init(&x->places);
    for (size_t i = 0; is_good && i < x->n; i++) {
        const qp_cluster_row *row = qp_cluster_row_of(c, x->profiles[i].number);
        is_good = (row && qp_dict_put(&x->places, row->key, (uint32_t)i + 1)) ||
                  qp_error_fail(error, "out of memory");
    }
    for (unsigned i = 0; is_good && i < c->n_shards; i++) {
        qp_buf keys = QP_BUF(char);
        if (qp_cluster_put_keys(&keys, c, i, x->profiles, x->n, NULL))
            is_good = keys.failed ? qp_error_fail(error, "out of memory")
                                  : read_rows(c, i, &keys, use, x, error);
        qp_free(keys.items);
    }
    qp_dict_fini(&x->places);
    return is_good;
}

bool qp_cluster_kept_read(qp_cluster *c, const qp_store_profile *profiles, size_t n,
                          qp_cluster_kept *kept, qp_error *error)
{
    listing x = {.c = c, .profiles = profiles, .n = n, .kept = kept};
    return read_profiles(c, &x, copy, error);
}

static bool list(void *to, const kept_row *row)
{
    listing *x = to;
    qp_answer heads = row->heads;
    const qp_store_profile *profile = profile_of(x, row);
    qp_answer_count(&heads);
    for (size_t i = 0; profile && i < row->n; i++) {
        size_t n;
        const unsigned char *bytes = qp_answer_bytes(&heads, &n);
        const qp_kept_place *place = place_of(x->c, row, i);
        qp_store_kept *request = qp_buf_add(x->requests);
        if (!request || !place || !qp_kept_head_read(bytes, n, x->arena, &request->r))
            return false;
        request->number = place->number;
        request->profile = profile;
    }
    return true;
}

static int compare_requests(const void *a, const void *b)
{
    const qp_store_kept *x = a, *y = b;
    return x->r.elapsed_ns != y->r.elapsed_ns ? QP_ORDER(y->r.elapsed_ns, x->r.elapsed_ns)
                                              : QP_ORDER(x->number, y->number);
}

bool qp_cluster_kept_requests(qp_cluster *c, const qp_store_profile *profiles, size_t n,
                              qp_buf *requests, qp_arena *arena, qp_error *error)
{
    listing x = {.c = c, .profiles = profiles, .n = n, .requests = requests, .arena = arena};
    if (!read_profiles(c, &x, list, error))
        return false;
    if (requests->n)
        qsort(requests->items, requests->n, sizeof(qp_store_kept), compare_requests);
    return true;
}

typedef struct {
    const qp_kept_place *place;
    qp_kept_calls *calls;
    bool is_found;
    qp_arena *arena;
} search;

static bool find(void *to, const kept_row *row)
{
    search *x = to;
    qp_answer heads = row->heads, calls = row->calls;
    qp_answer_count(&heads);
    qp_answer_count(&calls);
    for (size_t i = 0; row->came == x->place->came && i < row->n; i++) {
        size_t n_head, n_calls;
        qp_kept_request r;
        const unsigned char *head = qp_answer_bytes(&heads, &n_head),
                            *packed = qp_answer_bytes(&calls, &n_calls);
        if (i == x->place->at && !x->is_found && qp_kept_head_read(head, n_head, x->arena, &r))
            x->is_found = qp_kept_calls_unpack(packed, n_calls, r.n_calls, x->arena, x->calls);
    }
    return true;
}

bool qp_cluster_kept_calls(qp_cluster *c, int64_t number, qp_kept_calls *out, qp_arena *arena,
                           qp_error *error)
{
    search x = {.calls = out, .arena = arena};
    const qp_kept_place *places = c->kept.items;
    for (size_t i = 0; !x.place && i < c->kept.n; i++)
        x.place = places[i].number == number ? &places[i] : NULL;
    qp_buf key = QP_BUF(char);
    *out = (qp_kept_calls){.items = NULL};
    if (x.place)
        qp_body_format(&key, "%llu", (unsigned long long)x.place->key);
    const bool is_read = x.place && read_rows(c, x.place->shard, &key, find, &x, error);
    qp_free(key.items);
    if (is_read && !x.is_found)
        qp_store_note_failure();
    if ((is_read && !x.is_found) || !x.place)
        qp_error_fail(error, "request %lld of the store: damaged", (long long)number);
    return x.is_found;
}
