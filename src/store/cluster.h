/* cluster.h: a store on servers of ClickHouse: what its files share.
 *
 * Each server is a shard. It has its profiles whole: a row of figures for each call path in `qprof_sample`, the methods and
 * paths that they name, and last the profile's row in `qprof_profile`, which makes all of it visible. Names of methods and
 * paths are hashes of what they are, and a profile's key is the hash of its content: what is sent again makes
 * the same rows. Rows are never changed. A profile is hidden by a later state of its run, by an hour's sum that
 * has it as a member, or by its key in `qprof_gone`; and what is visible is decided over the rows of all shards:
 * read cluster_rows.c first. */
#ifndef QP_STORE_CLUSTER_H
#define QP_STORE_CLUSTER_H

#include "base/containers/dict.h"
#include "send/send.h"
#include "store/internal.h"

enum { QP_DATABASE_BYTES = 65, QP_RUN_WORDS = 3, QP_STATE_WORDS = 3 };

typedef struct {
    qp_sender *sender;
    char *url;     /* without the database */
    char *address; /* with it */
    char database[QP_DATABASE_BYTES];
    qp_send_result result;  /* of the last request */
    qp_dict methods, paths; /* of a writer: the hashes that it has -> 1 */
    bool is_learnt, is_down;
    unsigned n_failed; /* requests in a row that may have been at fault themselves */
    qp_error why;      /* it is down */
} qp_shard;

/* A row of `qprof_profile`. */
typedef struct {
    qp_store_profile p;
    uint64_t key;
    uint64_t run[QP_RUN_WORDS];     /* nonce, started_at, clears */
    uint64_t state[QP_STATE_WORDS]; /* dataset, ended_at, calls: the greatest is the last */
    uint64_t most;                  /* the largest sum of a column */
    uint32_t columns;               /* which have figures, a bit each */
    uint64_t came;                  /* number under which it came; p.number may differ */
    uint32_t age_s;                 /* since it came, by the server's clock */
    qp_time_mode mode;
    unsigned shard;
    bool is_gone, is_hidden;
    uint32_t hidden_s; /* for how long at least; UINT32_MAX: for good */
    const uint64_t
        *members; /* [n_members][QP_RUN_WORDS + QP_STATE_WORDS] of the sum of an hour */
    size_t n_members;
} qp_cluster_row;

/* What a profile has besides figures: packed as in the rows of SQLite, but for what counters name. */
typedef struct {
    const uint64_t *methods; /* [n_methods] hashes, + 1: entered before it was registered */
    const uint64_t *roots;   /* [n_roots] hashes of the roots that counters name */
    size_t n_methods, n_roots;
    const void *records, *counters;
    size_t n_record_bytes, n_counter_bytes;
} qp_cluster_parts;

/* Requests that were kept whole: as columns of arrays, but for the counts at their begins. */
typedef struct qp_cluster_kept {
    qp_buf numbers;      /* uint64_t: of the store; 0: they get new ones */
    qp_buf heads, calls; /* bytes: a text each */
} qp_cluster_kept;

/* Where one of them is. */
typedef struct {
    int64_t number;
    uint64_t key, came; /* of its profile */
    size_t at;          /* which of the profile */
    unsigned shard;
} qp_kept_place;

enum { QP_CLUSTER_PAGE = 64 }; /* profiles whose parts are in memory at a time */

typedef struct {
    uint64_t hash;
    uint32_t index; /* in the names of the store */
} qp_cluster_place;

struct qp_cluster {
    qp_shard *shards; /* [n_shards] */
    unsigned n_shards;
    qp_store_servers how; /* without its texts */
    /* of a reader */
    qp_buf rows;    /* qp_cluster_row: of all profiles, by number */
    qp_buf visible; /* the same: those that are visible, with numbers of their own */
    qp_arena arena;
    qp_buf methods, paths; /* qp_cluster_place, by hash; of the names of the store */
    bool has_names;
    qp_buf kept; /* qp_kept_place: of all profiles that are visible, by key and place */
    struct {
        qp_cluster_parts parts[QP_CLUSTER_PAGE];
        int64_t numbers[QP_CLUSTER_PAGE];
        size_t n;
        bool has_blobs;
        qp_arena arena;
    } page;
    /* of a writer */
    uint64_t last_number, last_request;
    qp_buf gone; /* uint64_t: keys, in order */
    bool is_learnt, has_sums;
};

/* ---- requests: cluster.c ------------------------------------------------------------------ */

qp_cluster *qp_cluster_open(const char *to, qp_store_access access, const qp_store_servers *how,
                            qp_error *error);
void qp_cluster_close(qp_cluster *c); /* takes NULL */

/* Append to a body. */
void qp_body_format(qp_buf *body, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void qp_body_number(qp_buf *body, uint64_t n, unsigned n_bytes);
void qp_body_count(qp_buf *body, uint64_t n); /* LEB128 */
void qp_body_text(qp_buf *body, const char *text);
void qp_body_bytes(qp_buf *body, const void *bytes, size_t n_bytes);
void qp_body_blob(qp_buf *body, const void *bytes, size_t n_bytes);
void qp_body_numbers(qp_buf *body, const uint64_t *numbers, size_t n);

/* Send a body, a statement. @param answer  an empty buffer of bytes; NULL: it has none
 * @return false: see error, and sh->result */
bool qp_shard_ask(qp_shard *sh, qp_buf *body, qp_buf *answer, qp_error *error);

/* An answer in the format RowBinary. What is taken after its end is 0 or "", and is_bad. */
typedef struct {
    const unsigned char *at, *end;
    bool is_bad;
} qp_answer;

qp_answer qp_answer_of(const qp_buf *bytes);
bool qp_answer_is_over(const qp_answer *a);
uint64_t qp_answer_number(qp_answer *a, unsigned n_bytes);
size_t qp_answer_count(qp_answer *a); /* of things of at least a byte */
const unsigned char *qp_answer_bytes(qp_answer *a, size_t *n_bytes);
/* Copies; of a text what comes before a NUL. @return NULL: no memory */
const char *qp_answer_text(qp_answer *a, qp_arena *arena);
const uint64_t *qp_answer_numbers(qp_answer *a, qp_arena *arena, size_t *n);
/* @return false: see error, which says that the shard's answer is not valid */
bool qp_shard_fail_answer(const qp_shard *sh, qp_error *error);

/* ---- hashes: cluster_add.c ---------------------------------------------------------------- */

uint64_t qp_cluster_hash_method(const qp_builder_code *code, const qp_buf *tables);
/* @param creator  hash of the path that created the thread; 0: none */
uint64_t qp_cluster_hash_root(const char *thread, uint64_t creator);
uint64_t qp_cluster_hash_path(uint64_t parent, uint64_t method);

/* ---- writing: cluster_add.c --------------------------------------------------------------- */

qp_import_result qp_cluster_add(qp_store_addition *x, qp_error *error);

/* ---- reading: cluster_rows.c, cluster_names.c, cluster_read.c ------------------------------- */

/* Read the rows of all profiles of all shards, and decide which are visible. @return false: see error */
bool qp_cluster_rows_read(qp_cluster *c, qp_error *error);
/* Add the keys of profiles that were removed. @return false: see error */
bool qp_shard_read_gone(qp_cluster *c, qp_shard *sh, qp_error *error);
bool qp_cluster_is_gone(const qp_cluster *c, uint64_t key);
/* The row of a visible profile; NULL: there is none. */
const qp_cluster_row *qp_cluster_row_of(const qp_cluster *c, int64_t number);

/* Read the names of all shards. @return false: see error */
bool qp_cluster_names_read(qp_cluster *c, qp_store_names *names, qp_error *error);
/* @return the index; UINT32_MAX: no such hash */
uint32_t qp_cluster_place_of(const qp_buf *places, uint64_t hash);

/* What a profile has besides. @param p  in a list of n from it on, whose next ones are read with it
 * @param has_blobs  else its records and counters are not read @return NULL: see error */
const qp_cluster_parts *qp_cluster_parts_of(qp_cluster *c, const qp_store_profile *p, size_t n,
                                            bool has_blobs, qp_error *error);
/* "1,2,3": the keys of those profiles that a shard has.
 * @param days  receives the first and the last day; NULL: not wanted @return how many there are */
size_t qp_cluster_put_keys(qp_buf *body, const qp_cluster *c, unsigned shard,
                           const qp_store_profile *profiles, size_t n, uint64_t days[2]);
/* Fill x->mode and x->methods, and no paths. @return false: see error */
bool qp_cluster_methods(qp_cluster *c, const qp_store_profile *p, size_t n, qp_segment *x,
                        qp_error *error);
/* Fill x->paths and x->columns with the sums of those profiles that a shard has.
 * @return false: see error */
bool qp_cluster_sums(qp_cluster *c, unsigned shard, const qp_store_profile *profiles, size_t n,
                     qp_segment *x, qp_error *error);

/* ---- requests that were kept whole: cluster_kept.c -------------------------------------------- */

void qp_cluster_kept_init(qp_cluster_kept *kept);
void qp_cluster_kept_fini(qp_cluster_kept *kept);
/* Those of a model, without numbers; or of profiles. @return false: see error */
bool qp_cluster_kept_take(qp_cluster_kept *kept, const qp_model *m, qp_error *error);
bool qp_cluster_kept_read(qp_cluster *c, const qp_store_profile *profiles, size_t n,
                          qp_cluster_kept *kept, qp_error *error);
/* Append the columns to a profile's row. @param last  number of the store; is counted up for those without one */
void qp_cluster_kept_put(const qp_cluster_kept *kept, qp_buf *body, uint64_t *last);
/* As qp_store_kept_requests(), qp_store_kept_calls(). */
bool qp_cluster_kept_requests(qp_cluster *c, const qp_store_profile *profiles, size_t n,
                              qp_buf *requests, qp_arena *arena, qp_error *error);
bool qp_cluster_kept_calls(qp_cluster *c, int64_t number, qp_kept_calls *out, qp_arena *arena,
                           qp_error *error);

/* ---- keeping: cluster_keep.c ---------------------------------------------------------------- */

/* Remove profiles, all or none. @return false: see error */
bool qp_cluster_remove(qp_cluster *c, const qp_store_profile *profiles, size_t n,
                       qp_error *error);
/* Put the sum of these profiles in their place. @param d  of x @return false: see error */
bool qp_cluster_replace(qp_store_addition *x, qp_store_row *d, const qp_store_profile *profiles,
                        size_t n, qp_error *error);
/* Delete the rows of what is hidden. @return false: see error */
bool qp_cluster_clean(qp_cluster *c, qp_error *error);

#endif
