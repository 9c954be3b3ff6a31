/* internal.h: what the files of the store share. */
#ifndef QP_STORE_INTERNAL_H
#define QP_STORE_INTERNAL_H

#include <sqlite3.h>
#include <zstd.h>

#include "store/store.h"

typedef struct {
    qp_buf methods; /* qp_builder_code */
    qp_buf paths;   /* qp_merge_path: indices, texts in the arena */
    qp_arena arena;
} qp_store_names;

typedef struct qp_cluster qp_cluster;

struct qp_store {
    qp_cluster *cluster; /* the store is on servers: cluster.h; or NULL */
    sqlite3 *db;
    qp_merge *known; /* of a writer: methods and paths, at their numbers - 1; NULL: not read */
    qp_store_names names; /* of a reader: the same, as far as they were needed */
};

/* ---- the database: store.c --------------------------------------------------------------- */

/* Note for qp_store_has_failed() that an error is about the store. @return false */
bool qp_store_note_failure(void);
/* What SQLite says. @return false */
bool qp_store_fail(const qp_store *s, qp_error *error);
/* @return false: see error */
bool qp_store_execute(const qp_store *s, const char *sql, qp_error *error);
/* @return finalize it; NULL: see error */
sqlite3_stmt *qp_store_prepare(const qp_store *s, const char *sql, qp_error *error);
/* Run a statement without rows to its end, and make it ready again. @return false: see error */
bool qp_store_step(const qp_store *s, sqlite3_stmt *st, qp_error *error);

void qp_store_bind_text(sqlite3_stmt *st, int at, const char *text);
/* Never NULL; until the next step. */
const char *qp_store_text(sqlite3_stmt *st, int column);

/* ---- methods and paths: names.c ---------------------------------------------------------- */

/* The tables of a method as bytes, and back. @return false: they are no tables, or no memory */
void qp_store_tables_write(const qp_builder_code *code, qp_buf *out);
bool qp_store_tables_read(const unsigned char *at, size_t n_bytes, qp_arena *arena,
                          qp_builder_code *code);

void qp_store_names_init(qp_store_names *names);
/* Add the methods and paths of the store after the first ones and those that names has.
 * @return false: see error, and names has none */
bool qp_store_names_read(const qp_store *s, size_t n_methods, size_t n_paths,
                         qp_store_names *names, qp_error *error);
void qp_store_names_fini(qp_store_names *names);

/* Bring s->known up to date, in a transaction. @return false: see error */
bool qp_store_learn(qp_store *s, qp_error *error);
/* Write what s->known has beyond the first ones. @return false: see error */
bool qp_store_names_write(const qp_store *s, size_t n_methods, size_t n_paths, qp_error *error);

/* ---- rows of profiles: import.c ----------------------------------------------------------- */

/* What a row says of a profile besides its figures. */
typedef struct {
    const char *file;
    uint64_t nonce, started_at, clears, dataset, ended_at;
    char service[QP_LABELS_BYTES], version[QP_LABELS_BYTES], host[QP_LABELS_BYTES];
    const char *labels, *unit, *clock;
    bool has_calls;
} qp_store_row;

typedef struct {
    qp_store *s;
    const qp_store_row *d;
    qp_merge *one;     /* the sum of the profile alone, or of several */
    const qp_model *m; /* whose requests that were kept whole are added; NULL: of a sum */
    qp_buf records, segment, counters;
    qp_buf members;                     /* of a sum on servers: uint64_t, see cluster.h */
    const struct qp_cluster_kept *kept; /* the same: its requests that were kept whole */
    uint64_t calls, self;
} qp_store_addition;

/* Fill calls and self. */
void qp_store_add_up(qp_store_addition *x);
/* Fill the records. @return false: see error */
bool qp_store_pack_records(qp_store_addition *x, qp_error *error);
/* Write the row, in a transaction. @return false: see error */
bool qp_store_put(qp_store_addition *x, qp_error *error);

/* Remove the row of a profile, and what belongs to it, in a transaction. @return false: see error */
bool qp_store_remove_row(const qp_store *s, int64_t number, qp_error *error);
/* Run a statement with a number as ?1, and if `second` is not 0 that as ?2. @return false: see error */
bool qp_store_run_for(const qp_store *s, const char *sql, int64_t number, int64_t second,
                      qp_error *error);

/* Add the requests that a profile kept whole, in a transaction: kept.c. @return false: see error */
bool qp_store_put_kept(const qp_store *s, const qp_model *m, int64_t profile, qp_error *error);

/* One of them as bytes, besides its calls. @return false: no memory */
bool qp_kept_head_write(const qp_kept_request *r, qp_buf *out);
/* Texts are the arena's. @return false: damaged, or no memory */
bool qp_kept_head_read(const void *bytes, size_t n_bytes, qp_arena *arena, qp_kept_request *r);
/* Its calls as bytes, packed. @return false: no memory */
bool qp_kept_calls_pack(const qp_kept_calls *calls, qp_buf *out);
/* @param n_calls  as the head has it
 * @param out      as qp_store_kept_calls() gives them @return false: damaged, or no memory */
bool qp_kept_calls_unpack(const void *bytes, size_t n_bytes, uint64_t n_calls, qp_arena *arena,
                          qp_kept_calls *out);

/* ---- the columns of a profile: segment.c ------------------------------------------------- */

typedef struct {
    qp_time_mode mode;
    size_t n_methods, n_paths;
    uint64_t
        *methods;    /* [n_methods] number * 2, + 1: it was entered before it was registered */
    uint32_t *paths; /* [n_paths] indices, ascending */
    uint64_t *columns[QP_PATH_COLUMNS]; /* [n_paths] each; NULL: nothing to add */
    /* memory that the next one uses again */
    qp_buf method_room, path_room, column_rooms[QP_PATH_COLUMNS], bytes;
    size_t n_bytes; /* that were unpacked */
    ZSTD_DCtx *unpacker;
} qp_segment;

/* @return room for n items, whose contents mean nothing; NULL: no memory */
void *qp_segment_room(qp_buf *b, size_t n);

void qp_segment_init(qp_segment *x);
void qp_segment_fini(qp_segment *x);

/* Pack bytes. @param out  an empty buffer of bytes @return false: no memory */
bool qp_segment_pack(const void *bytes, size_t n_bytes, qp_buf *out);
/* Unpack what qp_segment_pack() made, into x->bytes. @return false: damaged, or no memory */
bool qp_segment_unpack(qp_segment *x, const void *packed, size_t n_packed);

/* The columns of a sum as bytes. @param methods, paths  their indices in s->known
 * @param out  an empty buffer of bytes @return false: no memory */
bool qp_segment_write(const qp_merge *one, const uint32_t *methods, const uint32_t *paths,
                      qp_buf *out);
/* Read x->bytes: x->n_bytes of them. @param n_methods, n_paths  of the store @return false: damaged, or no memory */
bool qp_segment_read(qp_segment *x, size_t n_methods, size_t n_paths);

/* Hits and skips, and self time, of all paths. */
uint64_t qp_segment_calls(const qp_segment *x);
uint64_t qp_segment_self(const qp_segment *x);

/* ---- counters: counters.c ----------------------------------------------------------------- */

/* Where a sum has the methods and paths of a store: indices; QP_MERGE_NONE: it lacks them. */
typedef struct {
    const uint32_t *methods, *paths; /* [n_methods], [n_paths] */
    size_t n_methods, n_paths;
} qp_store_places;

/* The counters of a sum as bytes; see qp_segment_write(). */
bool qp_counters_write(const qp_merge *one, const uint32_t *methods, const uint32_t *paths,
                       qp_buf *out);
/* Add what that wrote. @param sum  NULL: only look whether it can be read
 * @return false: damaged, or no memory */
bool qp_counters_add(const void *bytes, size_t n_bytes, const qp_store_places *places,
                     qp_merge *sum);

#endif
