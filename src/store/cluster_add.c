/* cluster_add.c: a profile becomes rows on one server, the last of which makes the others visible. See cluster.h; read
 * qp_cluster_add first. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/search.h"
#include "format/layout.h"
#include "model/read/read.h"
#include "store/cluster.h"

enum { MEMBER_WORDS = QP_RUN_WORDS + QP_STATE_WORDS, DAY_SECONDS = 86400 };
enum {
    ROWS_MOST = 1 << 18
}; /* of an INSERT: 29 MB; fewer than 1,048,576, which the server splits */

/* ---- hashes --------------------------------------------------------------------------------- */

/* The end of MurmurHash3: each bit of n is in all of them. */
static uint64_t mix(uint64_t n)
{
    n = (n ^ n >> 33) * 0xFF51AFD7ED558CCDu;
    n = (n ^ n >> 33) * 0xC4CEB9FE1A85EC53u;
    return n ^ n >> 33;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return qp_hash_bytes(hash, text, strlen(text) + 1);
}

/* Even: a list of methods has a flag in the lowest bit. Ids differ from run to run. */
uint64_t qp_cluster_hash_method(const qp_builder_code *code, const qp_buf *tables)
{
    const char *const texts[] = {code->name, code->class_name, code->module, code->file};
    const uint32_t flags = code->flags & ~(uint32_t)QP_METHOD_MISSED;
    uint64_t hash = QP_HASH_START;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = hash_text(hash, texts[i]);
    hash = qp_hash_bytes(hash, &flags, sizeof flags);
    return mix(qp_hash_bytes(hash, tables->items, tables->n)) & ~UINT64_C(1);
}

uint64_t qp_cluster_hash_root(const char *thread, uint64_t creator)
{
    return mix(mix(hash_text(QP_HASH_START, thread)) ^ creator);
}

uint64_t qp_cluster_hash_path(uint64_t parent, uint64_t method)
{
    return mix(mix(parent + 0x9E3779B97F4A7C15u) ^ method);
}

/* ---- what the servers have ------------------------------------------------------------------ */

/* Each of the answer's items of 8 bytes leads to 1. */
static bool learn_hashes(qp_shard *sh, const char *what, qp_dict *to, qp_error *error)
{
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_body_format(&body, "SELECT DISTINCT %s FROM %s.qprof_%s FORMAT RowBinary", what,
                   sh->database, what);
    bool is_good = qp_shard_ask(sh, &body, &answer, error);
    qp_answer a = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&a))
        is_good = qp_dict_put(to, qp_answer_number(&a, sizeof(uint64_t)), 1);
    if (a.is_bad)
        is_good = qp_shard_fail_answer(sh, error);
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

/* The last number, and whether there are sums, of one shard. */
static bool learn_rows(qp_cluster *c, qp_shard *sh, qp_error *error)
{
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_body_format(&body,
                   "SELECT max(number), toUInt64(countIf(notEmpty(members))),"
                   " max(last_request) FROM %s.qprof_profile UNION ALL SELECT max(number),"
                   " toUInt64(0), toUInt64(0) FROM %s.qprof_gone FORMAT RowBinary",
                   sh->database, sh->database);
    bool is_good = qp_shard_ask(sh, &body, &answer, error);
    qp_answer a = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&a)) {
        const uint64_t number = qp_answer_number(&a, sizeof number);
        c->has_sums |= qp_answer_number(&a, sizeof number) != 0;
        const uint64_t request = qp_answer_number(&a, sizeof request);
        c->last_number = number > c->last_number ? number : c->last_number;
        c->last_request = request > c->last_request ? request : c->last_request;
    }
    if (a.is_bad)
        is_good = qp_shard_fail_answer(sh, error);
    qp_free(body.items);
    qp_free(answer.items);
    return is_good && qp_shard_read_gone(c, sh, error);
}

/* A server whose answer is that it failed may take another profile; once more, and it is the server that is at fault. */
static bool fail_down(qp_shard *sh, const qp_error *error)
{
    if (sh->result != QP_SEND_FAILED)
        return false;
    sh->is_down = !qp_send_may_be_body(sh->sender) || ++sh->n_failed > 1;
    sh->why = *error;
    return false;
}

/* Numbers follow those of all servers that answer. @param sh  is needed @return false: see error */
static bool learn(qp_cluster *c, qp_shard *sh, qp_error *error)
{
    for (unsigned i = 0; !c->is_learnt && i < c->n_shards; i++) {
        qp_shard *each = &c->shards[i];
        if (!each->is_down && !learn_rows(c, each, error)) {
            each->is_down = true;
            each->why = *error;
        }
    }
    c->is_learnt = true;
    if (sh->is_down)
        return qp_error_fail(error, "%s", sh->why.text);
    if (!sh->is_learnt)
        sh->is_learnt = (learn_hashes(sh, "method", &sh->methods, error) &&
                         learn_hashes(sh, "path", &sh->paths, error)) ||
                        fail_down(sh, error);
    return sh->is_learnt;
}

/* ---- the profile as rows -------------------------------------------------------------------- */

typedef struct {
    qp_cluster *cluster;
    qp_shard *shard;
    qp_store_addition *x;
    uint64_t run[QP_RUN_WORDS], state[QP_STATE_WORDS];
    uint64_t key, number;
    unsigned day;
    uint64_t *methods, *paths; /* [n] of x->one: hashes; of a method even */
    uint32_t *indices;         /* [n methods] 0, 1, 2, ...: counters name methods by them */
    uint32_t *root_of;         /* [n paths] of a root: its index among `roots` */
    qp_buf roots;              /* uint64_t */
    uint64_t most;
    uint32_t columns;
    qp_buf new_methods, new_paths; /* uint32_t: those that the shard lacks */
    qp_buf counters;               /* bytes, before they are packed */
    qp_cluster_kept kept;
    uint64_t last_request;
} addition;

static size_t n_methods(const addition *a)
{
    return qp_merge_n_methods(a->x->one);
}

static size_t n_paths(const addition *a)
{
    return qp_merge_n_paths(a->x->one);
}

/* @return false: no memory */
static bool note(qp_buf *list, uint32_t i)
{
    uint32_t *to = qp_buf_add(list);
    if (to)
        *to = i;
    return to;
}

/* @return false: no memory */
static bool name_methods(addition *a)
{
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < n_methods(a); i++) {
        qp_buf tables = QP_BUF(unsigned char);
        const qp_builder_code code = qp_merge_method_at(a->x->one, i);
        qp_store_tables_write(&code, &tables);
        a->indices[i] = i;
        a->methods[i] = qp_cluster_hash_method(&code, &tables);
        is_good = !tables.failed &&
                  (qp_dict_get(&a->shard->methods, a->methods[i]) || note(&a->new_methods, i));
        qp_free(tables.items);
    }
    return is_good;
}

static uint64_t name_of_path(const addition *a, const qp_merge_path *path)
{
    return path->thread
               ? qp_cluster_hash_root(path->thread,
                                      path->creator ? a->paths[path->creator - 1] : 0)
               : qp_cluster_hash_path(a->paths[path->parent], a->methods[path->method]);
}

/* What a column has to say: the least of a call says nothing where calls are not timed one by one. */
static uint64_t figure_of(const addition *a, const uint64_t figures[QP_PATH_COLUMNS],
                          unsigned column)
{
    const qp_time_mode mode = qp_merge_time_mode(a->x->one);
    return column == QP_PATH_LOW && mode != QP_TIME_EXACT && mode != QP_TIME_ADAPTIVE
               ? 0
               : figures[column];
}

/* Also which columns there are. @return false: no memory */
static bool name_paths(addition *a)
{
    uint64_t sums[QP_PATH_COLUMNS] = {0};
    for (uint32_t i = 0; i < n_paths(a); i++) {
        qp_merge_path path;
        uint64_t figures[QP_PATH_COLUMNS];
        qp_merge_path_at(a->x->one, i, &path, figures);
        a->paths[i] = name_of_path(a, &path);
        if (!qp_dict_get(&a->shard->paths, a->paths[i]) && !note(&a->new_paths, i))
            return false;
        a->root_of[i] = (uint32_t)a->roots.n;
        uint64_t *root = path.thread ? qp_buf_add(&a->roots) : NULL;
        if (root)
            *root = a->paths[i];
        for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
            sums[k] = qp_sum(sums[k], figure_of(a, figures, k));
    }
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++) {
        a->columns |= (uint32_t)(sums[k] != 0) << k;
        a->most = sums[k] > a->most ? sums[k] : a->most;
    }
    return !a->roots.failed;
}

static uint64_t hash_numbers(uint64_t hash, const uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = mix(hash + 0x9E3779B97F4A7C15u) ^ numbers[i];
    return mix(hash);
}

/* Of all that the profile is, but for the name of its file. */
static uint64_t hash_content(const addition *a)
{
    const qp_store_row *d = a->x->d;
    const char *const texts[] = {d->service, d->version, d->host, d->labels, d->unit, d->clock};
    uint64_t hash = hash_numbers(QP_HASH_START, a->run, QP_RUN_WORDS);
    hash = hash_numbers(hash, a->state, QP_STATE_WORDS);
    hash = hash_numbers(hash, a->methods, n_methods(a));
    hash = qp_hash_bytes(hash, a->counters.items, a->counters.n);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = hash_text(hash, texts[i]);
    for (uint32_t i = 0; i < n_paths(a); i++) {
        qp_merge_path path;
        uint64_t figures[QP_PATH_COLUMNS];
        qp_merge_path_at(a->x->one, i, &path, figures);
        hash = hash_numbers(hash_numbers(hash, &a->paths[i], 1), figures, QP_PATH_COLUMNS);
    }
    return hash;
}

/* @return false: no memory */
static bool describe(addition *a)
{
    a->methods = qp_alloc(n_methods(a), sizeof *a->methods);
    a->indices = qp_alloc(n_methods(a), sizeof *a->indices);
    a->paths = qp_alloc(n_paths(a), sizeof *a->paths);
    a->root_of = qp_alloc(n_paths(a), sizeof *a->root_of);
    if (!a->methods || !a->indices || !a->paths || !a->root_of || !name_methods(a) ||
        !name_paths(a) || !qp_counters_write(a->x->one, a->indices, a->root_of, &a->counters) ||
        !qp_segment_pack(a->counters.items, a->counters.n, &a->x->counters))
        return false;
    a->key = hash_content(a);
    while (!a->key ||
           qp_cluster_is_gone(a->cluster, a->key)) /* it was removed, and comes back */
        a->key = mix(a->key + 1);
    return true;
}

/* ---- what is known of its run --------------------------------------------------------------- */

/* @return < 0, 0, > 0: as strcmp() */
static int compare_states(const uint64_t *a, const uint64_t *b)
{
    for (unsigned i = 0; i < QP_STATE_WORDS; i++)
        if (a[i] != b[i])
            return QP_ORDER(a[i], b[i]);
    return 0;
}

/* Rows of the run itself. */
static bool look_for_run(addition *a, qp_import_result *result, qp_error *error)
{
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_body_format(
        &body,
        "SELECT profile, dataset, ended_at, calls FROM %s.qprof_profile WHERE nonce ="
        " %llu AND started_at = %llu AND clears = %llu FORMAT RowBinary",
        a->shard->database, (unsigned long long)a->run[0], (unsigned long long)a->run[1],
        (unsigned long long)a->run[2]);
    bool is_good = qp_shard_ask(a->shard, &body, &answer, error);
    qp_answer in = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&in)) {
        uint64_t state[QP_STATE_WORDS];
        const uint64_t key = qp_answer_number(&in, sizeof key);
        for (unsigned i = 0; i < QP_STATE_WORDS; i++)
            state[i] = qp_answer_number(&in, sizeof *state);
        if (in.is_bad)
            is_good = qp_shard_fail_answer(a->shard, error);
        else if (!qp_cluster_is_gone(a->cluster, key) && *result != QP_IMPORT_KNOWN)
            *result =
                compare_states(state, a->state) >= 0 ? QP_IMPORT_KNOWN : QP_IMPORT_REPLACED;
    }
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

static bool is_member(const addition *a, const uint64_t *member)
{
    return memcmp(member, a->run, sizeof a->run) == 0;
}

/* Sums of a shard that have the run as a member. */
static bool look_for_sums(addition *a, qp_shard *sh, qp_import_result *result, qp_error *error)
{
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_arena arena;
    qp_arena_init(&arena);
    qp_body_format(
        &body,
        "SELECT profile, members FROM %s.qprof_profile WHERE has(members, toUInt64(%llu))"
        " FORMAT RowBinary",
        sh->database, (unsigned long long)a->run[0]);
    bool is_good = qp_shard_ask(sh, &body, &answer, error);
    qp_answer in = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&in)) {
        size_t n;
        const uint64_t key = qp_answer_number(&in, sizeof key);
        const uint64_t *members = qp_answer_numbers(&in, &arena, &n);
        is_good = (members && !in.is_bad) || qp_shard_fail_answer(sh, error);
        for (size_t i = 0; is_good && i + MEMBER_WORDS <= n; i += MEMBER_WORDS)
            if (is_member(a, members + i) && !qp_cluster_is_gone(a->cluster, key))
                *result = compare_states(members + i + QP_RUN_WORDS, a->state) >= 0
                              ? QP_IMPORT_KNOWN
                              : QP_IMPORT_REFUSED;
    }
    qp_arena_fini(&arena);
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

/* A shard that is down is not asked for sums: whatever it has, a run that is in a sum is hidden.
 * @param result  receives ADDED if nothing is known of the run, or what follows of what is */
static bool look_up(addition *a, qp_import_result *result, qp_error *error)
{
    qp_cluster *c = a->cluster;
    bool is_good = true;
    for (unsigned i = 0; is_good && c->has_sums && !a->x->members.n && i < c->n_shards; i++)
        if (!c->shards[i].is_down)
            is_good = look_for_sums(a, &c->shards[i], result, error);
    if (is_good && *result == QP_IMPORT_REFUSED)
        qp_error_fail(error, "%.300s: an earlier state of its run is in the sum of an hour",
                      a->x->d->file);
    return is_good && (*result != QP_IMPORT_ADDED || look_for_run(a, result, error));
}

/* ---- sending -------------------------------------------------------------------------------- */

static void put_method(const addition *a, qp_buf *body, uint32_t at)
{
    const uint32_t i = ((const uint32_t *)a->new_methods.items)[at];
    const qp_builder_code code = qp_merge_method_at(a->x->one, i);
    qp_buf tables = QP_BUF(unsigned char);
    qp_store_tables_write(&code, &tables);
    qp_body_number(body, a->methods[i], sizeof(uint64_t));
    qp_body_number(body, a->number, sizeof(uint64_t));
    qp_body_number(body, i, sizeof(uint32_t));
    qp_body_number(body, code.flags & ~(uint32_t)QP_METHOD_MISSED, sizeof(uint32_t));
    qp_body_number(body, code.flags & QP_METHOD_REGISTERED ? 0 : code.id, sizeof(uint64_t));
    qp_body_text(body, code.name);
    qp_body_text(body, code.class_name);
    qp_body_text(body, code.module);
    qp_body_text(body, code.file);
    qp_body_blob(body, tables.items, tables.n);
    body->failed |= tables.failed;
    qp_free(tables.items);
}

static void put_path(const addition *a, qp_buf *body, uint32_t at)
{
    const uint32_t i = ((const uint32_t *)a->new_paths.items)[at];
    qp_merge_path path;
    uint64_t unused[QP_PATH_COLUMNS];
    qp_merge_path_at(a->x->one, i, &path, unused);
    qp_body_number(body, a->paths[i], sizeof(uint64_t));
    qp_body_number(body, path.thread ? 0 : a->paths[path.parent], sizeof(uint64_t));
    qp_body_number(body, path.thread ? 0 : a->methods[path.method], sizeof(uint64_t));
    qp_body_number(body, path.creator ? a->paths[path.creator - 1] : 0, sizeof(uint64_t));
    qp_body_number(body, path.thread != NULL, 1);
    qp_body_text(body, path.thread ? path.thread : "");
    qp_body_number(body, a->number, sizeof(uint64_t));
    qp_body_number(body, i, sizeof(uint32_t));
}

static void put_sample(const addition *a, qp_buf *body, uint32_t i)
{
    qp_merge_path path;
    uint64_t figures[QP_PATH_COLUMNS];
    qp_merge_path_at(a->x->one, i, &path, figures);
    qp_body_number(body, a->key, sizeof(uint64_t));
    qp_body_number(body, a->paths[i], sizeof(uint64_t));
    qp_body_number(body, a->day, sizeof(uint16_t));
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        qp_body_number(body, figure_of(a, figures, k), sizeof *figures);
}

/* Rows of a table. What is too much for a server, or for what is in front of it, is sent in smaller parts. */
static bool send_rows(const addition *a, const char *table, size_t n,
                      void (*put)(const addition *a, qp_buf *body, uint32_t i), qp_error *error)
{
    uint32_t most = ROWS_MOST;
    for (uint32_t i = 0; i < n;) {
        qp_buf body = QP_BUF(char);
        const uint32_t part = n - i < most ? (uint32_t)n - i : most;
        qp_body_format(&body, "INSERT INTO %s.qprof_%s FORMAT RowBinary\n", a->shard->database,
                       table);
        for (uint32_t k = i; k < i + part; k++)
            put(a, &body, k);
        const bool is_good = qp_shard_ask(a->shard, &body, NULL, error);
        qp_free(body.items);
        if (!is_good && (a->shard->result != QP_SEND_TOO_LARGE || part == 1))
            return false;
        i += is_good ? part : 0;
        most = is_good ? most : part / 2;
    }
    return true;
}

static bool send_profile(addition *a, qp_error *error)
{
    const qp_store_row *d = a->x->d;
    const qp_store_addition *x = a->x;
    const char *const texts[] = {d->service, d->version, d->host, d->labels,
                                 d->file,    d->unit,    d->clock};
    qp_buf body = QP_BUF(char);
    qp_body_format(&body,
                   "INSERT INTO %s.qprof_profile (profile, number, nonce, started_at, clears,"
                   " dataset, ended_at, day, service, version, host, labels, file, unit, clock,"
                   " has_calls, calls, self, paths, mode, columns, most, bytes, methods, roots,"
                   " records, counters, members, request_numbers, request_heads,"
                   " request_calls, last_request) FORMAT RowBinary\n",
                   a->shard->database);
    const uint64_t numbers[] = {a->key,    a->number,  d->nonce,   d->started_at,
                                d->clears, d->dataset, d->ended_at};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        qp_body_number(&body, numbers[i], sizeof *numbers);
    qp_body_number(&body, a->day, sizeof(uint16_t));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        qp_body_text(&body, texts[i]);
    qp_body_number(&body, d->has_calls, 1);
    qp_body_number(&body, x->calls, sizeof(uint64_t));
    qp_body_number(&body, x->self, sizeof(uint64_t));
    qp_body_number(&body, n_paths(a), sizeof(uint64_t));
    qp_body_number(&body, qp_merge_time_mode(x->one), 1);
    qp_body_number(&body, a->columns, sizeof(uint32_t));
    qp_body_number(&body, a->most, sizeof(uint64_t));
    qp_body_number(&body, x->records.n + x->counters.n, sizeof(uint64_t));
    for (uint32_t i = 0; i < n_methods(a); i++)
        a->methods[i] |= (qp_merge_method_at(x->one, i).flags & QP_METHOD_MISSED) != 0;
    qp_body_numbers(&body, a->methods, n_methods(a));
    qp_body_numbers(&body, a->roots.items, a->roots.n);
    qp_body_blob(&body, x->records.items, x->records.n);
    qp_body_blob(&body, x->counters.items, x->counters.n);
    qp_body_numbers(&body, x->members.items, x->members.n);
    qp_cluster_kept_put(x->kept ? x->kept : &a->kept, &body, &a->last_request);
    qp_body_number(&body, a->last_request, sizeof(uint64_t));
    const bool is_good = qp_shard_ask(a->shard, &body, NULL, error);
    qp_free(body.items);
    return is_good;
}

static void note_names(addition *a)
{
    for (size_t i = 0; i < n_methods(a); i++)
        qp_dict_put(&a->shard->methods, a->methods[i] & ~UINT64_C(1), 1);
    for (size_t i = 0; i < n_paths(a); i++)
        qp_dict_put(&a->shard->paths, a->paths[i], 1);
}

/* The profile's row comes last: until then nothing of it is visible. */
static bool send_all(addition *a, qp_error *error)
{
    if (!send_rows(a, "method", a->new_methods.n, put_method, error) ||
        !send_rows(a, "path", a->new_paths.n, put_path, error))
        return false;
    note_names(a);
    return send_rows(a, "sample", n_paths(a), put_sample, error) && send_profile(a, error);
}

/* Which server follows from the run: a later state of it is sent where the earlier one is. But what may be on a server in part, or
 * whose answer is not known, is sent to that one again, however many there are by now. */
static qp_shard *choose_shard(const addition *a, bool *is_noted)
{
    const qp_cluster *c = a->cluster;
    const char *before = a->x->m && c->how.sent_to ? c->how.sent_to(c->how.to) : NULL;
    *is_noted = true;
    for (unsigned i = 0; before && i < c->n_shards; i++)
        if (strcmp(c->shards[i].address, before) == 0)
            return &c->shards[i];
    *is_noted = !a->x->m || !c->how.note;
    return &c->shards[hash_numbers(QP_HASH_START, a->run, QP_RUN_WORDS) % c->n_shards];
}

static qp_import_result add(addition *a, qp_error *error)
{
    qp_import_result result = QP_IMPORT_ADDED;
    bool is_noted;
    a->shard = choose_shard(a, &is_noted);
    if (!learn(a->cluster, a->shard, error))
        return QP_IMPORT_FAILED;
    a->number = a->cluster->last_number + 1;
    if (!describe(a)) {
        qp_error_fail(error, "out of memory");
        return QP_IMPORT_FAILED;
    }
    if (a->x->m && !qp_cluster_kept_take(&a->kept, a->x->m, error))
        return QP_IMPORT_FAILED;
    a->last_request = a->cluster->last_request;
    const bool is_asked = look_up(a, &result, error);
    if (is_asked && (result == QP_IMPORT_KNOWN || result == QP_IMPORT_REFUSED))
        return result;
    if (is_asked && !is_noted &&
        !a->cluster->how.note(a->cluster->how.to, a->shard->address, error))
        return QP_IMPORT_FAILED;
    if (is_asked && send_all(a, error)) {
        a->cluster->last_number++;
        a->cluster->last_request = a->last_request;
        a->shard->n_failed = 0;
        a->cluster->has_sums |= a->x->members.n != 0;
        return result;
    }
    if (a->shard->result == QP_SEND_FAILED || a->shard->result == QP_SEND_TAKEN) {
        fail_down(a->shard, error);
        return QP_IMPORT_FAILED;
    }
    const qp_error why = *error;
    qp_error_fail(error, "%.200s: %.300s", a->x->d->file, why.text);
    return QP_IMPORT_REFUSED;
}

qp_import_result qp_cluster_add(qp_store_addition *x, qp_error *error)
{
    const qp_store_row *d = x->d;
    qp_cluster *c = x->s->cluster;
    addition a = {.cluster = c,
                  .x = x,
                  .run = {d->nonce, d->started_at, d->clears},
                  .state = {d->dataset, d->ended_at, x->calls},
                  .day = (unsigned)(d->ended_at / 1000000000 / DAY_SECONDS),
                  .roots = QP_BUF(uint64_t),
                  .new_methods = QP_BUF(uint32_t),
                  .new_paths = QP_BUF(uint32_t),
                  .counters = QP_BUF(unsigned char)};
    a.day = a.day < UINT16_MAX ? a.day : UINT16_MAX;
    qp_cluster_kept_init(&a.kept);
    const qp_import_result result = add(&a, error);
    qp_cluster_kept_fini(&a.kept);
    qp_free(a.methods);
    qp_free(a.indices);
    qp_free(a.paths);
    qp_free(a.root_of);
    qp_free(a.roots.items);
    qp_free(a.new_methods.items);
    qp_free(a.new_paths.items);
    qp_free(a.counters.items);
    return result;
}
