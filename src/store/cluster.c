/* cluster.c: the servers of a store: addresses, the schema, requests and answers. See cluster.h. */
#include "store/cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "format/trace.h"

static const char scheme[] = "clickhouse:";
enum { VERSION = 1, SHARDS_MOST = 256, SQL_BYTES = 2048 };
static const size_t ANSWER_BYTES = (size_t)1 << 31;

/* Errors come before any of the answer, and statements may be long: lists of profiles. */
static const char path[] = "/?wait_end_of_query=1&buffer_size=1048576&max_query_size=1000000000"
                           "&max_ast_elements=100000000&max_expanded_ast_elements=100000000";
static const char type[] = "application/octet-stream";

/* ---- bodies --------------------------------------------------------------------------------- */

void qp_body_bytes(qp_buf *body, const void *bytes, size_t n_bytes)
{
    void *to = n_bytes ? qp_buf_add_many(body, n_bytes) : NULL;
    if (to)
        memcpy(to, bytes, n_bytes);
}

void qp_body_format(qp_buf *body, const char *format, ...)
{
    char text[SQL_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    body->failed |= n < 0 || n >= (int)sizeof text;
    qp_body_bytes(body, text, strlen(text));
}

/* Lowest byte first. */
void qp_body_number(qp_buf *body, uint64_t n, unsigned n_bytes)
{
    unsigned char *to = qp_buf_add_many(body, n_bytes);
    for (unsigned i = 0; to && i < n_bytes; i++)
        to[i] = (unsigned char)(n >> 8 * i);
}

void qp_body_count(qp_buf *body, uint64_t n)
{
    unsigned char bytes[QP_VARINT_MAX];
    qp_body_bytes(body, bytes, qp_pack_varint(n, bytes));
}

void qp_body_text(qp_buf *body, const char *text)
{
    const size_t n = strlen(text);
    qp_body_count(body, n);
    qp_body_bytes(body, text, n);
}

void qp_body_blob(qp_buf *body, const void *bytes, size_t n_bytes)
{
    qp_body_count(body, n_bytes);
    qp_body_bytes(body, bytes, n_bytes);
}

void qp_body_numbers(qp_buf *body, const uint64_t *numbers, size_t n)
{
    qp_body_count(body, n);
    for (size_t i = 0; i < n; i++)
        qp_body_number(body, numbers[i], sizeof *numbers);
}

/* ---- answers -------------------------------------------------------------------------------- */

qp_answer qp_answer_of(const qp_buf *bytes)
{
    const unsigned char *at = bytes->items;
    return (qp_answer){.at = at, .end = at + bytes->n};
}

bool qp_answer_is_over(const qp_answer *a)
{
    return a->is_bad || a->at == a->end;
}

uint64_t qp_answer_number(qp_answer *a, unsigned n_bytes)
{
    uint64_t n = 0;
    a->is_bad |= (size_t)(a->end - a->at) < n_bytes;
    for (unsigned i = 0; !a->is_bad && i < n_bytes; i++)
        n |= (uint64_t)*a->at++ << 8 * i;
    return n;
}

/* @param item_bytes  of each of what is counted */
static size_t take_count(qp_answer *a, size_t item_bytes)
{
    uint64_t n = 0;
    const size_t n_bytes =
        a->is_bad ? 0 : qp_unpack_varint(a->at, (size_t)(a->end - a->at), &n);
    a->is_bad |= !n_bytes || n > (size_t)(a->end - a->at - n_bytes) / item_bytes;
    a->at += a->is_bad ? 0 : n_bytes;
    return a->is_bad ? 0 : (size_t)n;
}

size_t qp_answer_count(qp_answer *a)
{
    return take_count(a, 1);
}

const unsigned char *qp_answer_bytes(qp_answer *a, size_t *n_bytes)
{
    *n_bytes = take_count(a, 1);
    const unsigned char *bytes = a->at;
    a->at += *n_bytes;
    return bytes;
}

const char *qp_answer_text(qp_answer *a, qp_arena *arena)
{
    size_t n;
    const unsigned char *bytes = qp_answer_bytes(a, &n);
    char *text = qp_arena_take(arena, n + 1, 1);
    if (text && n)
        memcpy(text, bytes, n);
    return text;
}

const uint64_t *qp_answer_numbers(qp_answer *a, qp_arena *arena, size_t *n)
{
    *n = take_count(a, sizeof(uint64_t));
    uint64_t *numbers = qp_arena_take(arena, *n, sizeof *numbers);
    for (size_t i = 0; numbers && i < *n; i++)
        numbers[i] = qp_answer_number(a, sizeof *numbers);
    return numbers;
}

bool qp_shard_fail_answer(const qp_shard *sh, qp_error *error)
{
    qp_store_note_failure();
    return qp_alloc_has_failed() ? qp_error_fail(error, "out of memory")
                                 : qp_error_fail(error, "%.200s/%s: its answer is not valid",
                                                 sh->url, sh->database);
}

bool qp_shard_ask(qp_shard *sh, qp_buf *body, qp_buf *answer, qp_error *error)
{
    qp_buf unused = QP_BUF(char);
    sh->result = QP_SEND_FAILED;
    if (body->failed)
        return qp_error_fail(error, "out of memory");
    sh->result = qp_send(sh->sender, body->items, body->n, answer ? answer : &unused, error);
    qp_free(unused.items);
    return sh->result == QP_SEND_TAKEN || qp_store_note_failure();
}

/* ---- the schema ----------------------------------------------------------------------------- */

/* Step i brings a database of version i to version i + 1. Append only. Statements of a step are separated by NUL, and each of
 * them may be run again; a "%s" is the database. */
#define QP_NEXT "\0"
static const char *const steps[] = {
    "CREATE TABLE IF NOT EXISTS %s.qprof_method (method UInt64, number UInt64, at UInt32, "
    "flags UInt32,"
    " id UInt64, name String, class String, module String, file String, tables String)"
    " ENGINE = ReplacingMergeTree ORDER BY (method, number)" QP_NEXT
    "CREATE TABLE IF NOT EXISTS %s.qprof_path (path UInt64, parent UInt64, method UInt64, "
    "creator UInt64,"
    " is_root UInt8, thread String, number UInt64, at UInt32)"
    " ENGINE = ReplacingMergeTree ORDER BY (path, number)" QP_NEXT
    "CREATE TABLE IF NOT EXISTS %s.qprof_sample (profile UInt64, path UInt64, day Date, hits "
    "UInt64,"
    " skips UInt64, resumes UInt64, counts UInt64, pc_samples UInt64, bytes UInt64, objects "
    "UInt64,"
    " freed_bytes UInt64, freed_objects UInt64, self UInt64, off UInt64, low UInt64, high "
    "UInt64)"
    " ENGINE = ReplacingMergeTree PARTITION BY day ORDER BY (profile, path)" QP_NEXT
    "CREATE TABLE IF NOT EXISTS %s.qprof_gone (profile UInt64, number UInt64)"
    " ENGINE = ReplacingMergeTree ORDER BY profile" QP_NEXT
    "CREATE TABLE IF NOT EXISTS %s.qprof_profile (profile UInt64, number UInt64, nonce UInt64,"
    " started_at UInt64, clears UInt64, dataset UInt64, ended_at UInt64, day Date, service "
    "String,"
    " version String, host String, labels String, file String, unit String, clock String,"
    " has_calls UInt8, calls UInt64, self UInt64, paths UInt64, mode UInt8, columns UInt32,"
    " most UInt64, bytes UInt64, methods Array(UInt64), roots Array(UInt64), records String,"
    " counters String, members Array(UInt64), request_numbers Array(UInt64), "
    "request_heads Array(String), request_calls Array(String), last_request UInt64, came "
    "DateTime DEFAULT now())"
    " ENGINE = ReplacingMergeTree PARTITION BY day ORDER BY (profile, number)" QP_NEXT};
_Static_assert(sizeof steps / sizeof *steps == VERSION, "a step for each version");

/* A statement without an answer. */
static bool run(qp_shard *sh, const char *format, qp_error *error)
{
    qp_buf body = QP_BUF(char);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    qp_body_format(&body, format, sh->database);
#pragma GCC diagnostic pop
    const bool is_good = qp_shard_ask(sh, &body, NULL, error);
    qp_free(body.items);
    return is_good;
}

/* @param format  of a statement whose answer is one number of 8 bytes */
static bool ask_number(qp_shard *sh, qp_buf *body, uint64_t *n, qp_error *error)
{
    qp_buf answer = QP_BUF(char);
    bool is_good = qp_shard_ask(sh, body, &answer, error);
    qp_answer a = qp_answer_of(&answer);
    *n = is_good ? qp_answer_number(&a, sizeof *n) : 0;
    is_good = is_good && (!a.is_bad || qp_shard_fail_answer(sh, error));
    qp_free(answer.items);
    body->n = 0;
    return is_good;
}

/* @param version  receives 0 where there is no store. @return false: see error */
static bool read_version(qp_shard *sh, uint64_t *version, qp_error *error)
{
    qp_buf body = QP_BUF(char);
    qp_body_format(&body,
                   "SELECT count() FROM system.tables WHERE database = '%s' AND name ="
                   " 'qprof_version' FORMAT RowBinary",
                   sh->database);
    bool is_good = ask_number(sh, &body, version, error);
    if (is_good && *version) {
        qp_body_format(&body,
                       "SELECT toUInt64(max(version)) FROM %s.qprof_version FORMAT RowBinary",
                       sh->database);
        is_good = ask_number(sh, &body, version, error);
    }
    qp_free(body.items);
    return is_good &&
           (*version <= VERSION ||
            qp_error_fail(
                error,
                "%.200s/%s: made by a newer qprof: its version is %llu, this one reads "
                "up to %d",
                sh->url, sh->database, (unsigned long long)*version, (int)VERSION));
}

/* Killed at any place, or done by several at once, it can be done again. */
static bool migrate(qp_shard *sh, uint64_t version, qp_error *error)
{
    bool is_good = run(sh, "CREATE DATABASE IF NOT EXISTS %s", error) &&
                   run(sh,
                       "CREATE TABLE IF NOT EXISTS %s.qprof_version (version UInt32) ENGINE ="
                       " ReplacingMergeTree ORDER BY version",
                       error);
    for (uint64_t i = version; is_good && i < VERSION; i++)
        for (const char *sql = steps[i]; is_good && *sql; sql += strlen(sql) + 1)
            is_good = run(sh, sql, error);
    qp_buf body = QP_BUF(char);
    qp_body_format(&body, "INSERT INTO %s.qprof_version FORMAT RowBinary\n", sh->database);
    qp_body_number(&body, VERSION, sizeof(uint32_t));
    is_good = is_good && qp_shard_ask(sh, &body, NULL, error);
    qp_free(body.items);
    return is_good;
}

static bool prepare(qp_shard *sh, qp_store_access access, qp_error *error)
{
    uint64_t version;
    if (!read_version(sh, &version, error))
        return false;
    if (access == QP_STORE_WRITE)
        return version == VERSION || migrate(sh, version, error);
    return version == VERSION ||
           qp_error_fail(error, "%.200s/%s: %s", sh->url, sh->database,
                         version
                             ? "made by an older qprof (the next import brings it up to date)"
                             : "not a store of qprof");
}

/* ---- addresses ------------------------------------------------------------------------------ */

bool qp_store_is_on_servers(const char *to)
{
    return strncmp(to, scheme, sizeof scheme - 1) == 0;
}

/* Names go into statements as they are. */
static bool is_database(const char *name, size_t n)
{
    bool is_good = n > 0 && n < QP_DATABASE_BYTES && (*name < '0' || *name > '9');
    for (size_t i = 0; is_good && i < n; i++)
        is_good = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                  (name[i] >= '0' && name[i] <= '9') || name[i] == '_';
    return is_good;
}

/* "http://HOST:PORT/DATABASE" @return where the database begins; 0: see error */
static size_t find_database(const char *to, size_t n, qp_error *error)
{
    size_t at = n;
    while (at > 0 && to[at - 1] != '/')
        at--;
    if (memchr(to, '@', n))
        qp_error_fail(error, "a name or password in the address would be seen by others: use "
                             "the variable QPROF_PUSH_HEADERS");
    else if (at > sizeof "http://" && strncmp(to, "http", 4) == 0 &&
             is_database(to + at, n - at))
        return at;
    else
        qp_error_fail(error, "expected http://HOST:PORT/DATABASE, the database of letters, "
                             "digits and _");
    return 0;
}

bool qp_store_is_address(const char *to, qp_error *error)
{
    bool is_good = qp_store_is_on_servers(to);
    for (const char *at = to + sizeof scheme - 1; is_good && at; at = strchr(at, ',')) {
        at += *at == ',';
        is_good = find_database(at, strcspn(at, ","), error) != 0;
    }
    return is_good;
}

static bool open_shard(qp_shard *sh, const char *to, size_t n, qp_store_access access,
                       const qp_store_servers *how, qp_error *error)
{
    const size_t n_url = find_database(to, n, error);
    if (!n_url)
        return false;
    sh->url = qp_alloc(n_url, 1);
    sh->address = qp_alloc(n + 1, 1);
    if (!sh->url || !sh->address)
        return qp_error_fail(error, "out of memory");
    qp_text_format(sh->address, n + 1, "%.*s", (int)n, to);
    qp_text_format(sh->url, n_url, "%.*s", (int)n_url - 1, to);
    qp_text_format(sh->database, sizeof sh->database, "%.*s", (int)(n - n_url), to + n_url);
    const qp_send_options o = {.url = sh->url,
                               .path = path,
                               .type = type,
                               .answer_type = type,
                               .answer_bytes = ANSWER_BYTES,
                               .headers = how->headers,
                               .ca_file = how->ca_file,
                               .timeout_ns = how->timeout_ns,
                               .n_tries = how->n_tries,
                               .wait = how->wait};
    sh->sender = qp_sender_new(&o, error);
    if (!sh->sender)
        return false;
    if (prepare(sh, access, error))
        return true;
    sh->is_down = access == QP_STORE_WRITE && sh->result == QP_SEND_FAILED;
    sh->why = *error;
    return sh->is_down;
}

qp_cluster *qp_cluster_open(const char *to, qp_store_access access, const qp_store_servers *how,
                            qp_error *error)
{
    qp_cluster *c = qp_alloc_zeroed(1, sizeof *c);
    bool is_good = c || qp_error_fail(error, "out of memory");
    if (is_good) {
        c->rows = c->visible = QP_BUF(qp_cluster_row);
        c->methods = c->paths = QP_BUF(qp_cluster_place);
        c->gone = QP_BUF(uint64_t);
        c->kept = QP_BUF(qp_kept_place);
        c->how = *how;
        c->how.headers = c->how.ca_file = NULL;
        c->shards = qp_alloc_zeroed(SHARDS_MOST, sizeof *c->shards);
        is_good = c->shards || qp_error_fail(error, "out of memory");
    }
    for (const char *at = to + sizeof scheme - 1; is_good && at; at = strchr(at, ',')) {
        at += *at == ',';
        is_good = c->n_shards < SHARDS_MOST
                      ? open_shard(&c->shards[c->n_shards++], at, strcspn(at, ","), access, how,
                                   error)
                      : qp_error_fail(error, "more than %d servers", (int)SHARDS_MOST);
    }
    unsigned n_down = 0;
    for (unsigned i = 0; is_good && i < c->n_shards; i++)
        n_down += c->shards[i].is_down;
    if (is_good && n_down == c->n_shards)
        is_good = qp_error_fail(error, "%s", c->shards[0].why.text);
    if (is_good)
        return c;
    qp_cluster_close(c);
    return NULL;
}

void qp_cluster_close(qp_cluster *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->n_shards; i++) {
        qp_sender_free(c->shards[i].sender);
        qp_free(c->shards[i].url);
        qp_free(c->shards[i].address);
        qp_dict_fini(&c->shards[i].methods);
        qp_dict_fini(&c->shards[i].paths);
    }
    qp_free(c->shards);
    qp_free(c->rows.items);
    qp_free(c->visible.items);
    qp_free(c->methods.items);
    qp_free(c->paths.items);
    qp_free(c->gone.items);
    qp_free(c->kept.items);
    qp_arena_fini(&c->arena);
    qp_arena_fini(&c->page.arena);
    qp_free(c);
}

bool qp_store_has_server(const qp_store *s)
{
    bool is_up = false;
    for (unsigned i = 0; s->cluster && i < s->cluster->n_shards; i++)
        is_up |= !s->cluster->shards[i].is_down;
    return is_up;
}

uint64_t qp_store_not_before(const qp_store *s)
{
    uint64_t latest = 0;
    for (unsigned i = 0; s->cluster && i < s->cluster->n_shards; i++) {
        const uint64_t at = qp_send_not_before(s->cluster->shards[i].sender);
        latest = at > latest ? at : latest;
    }
    return latest;
}
