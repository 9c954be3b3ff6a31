/* store.h: many profiles in one file: a SQLite database that has each profile exactly once, as columns of
 * figures, and the methods and call paths of all once: docs/store.md#format.
 *
 * A store may be damaged or hostile, as a profile may: whatever is read is checked. */
#ifndef QP_STORE_STORE_H
#define QP_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/error.h"
#include "model/combine/combine.h"
#include "model/figures/figures.h"

typedef struct qp_store qp_store;

typedef enum { QP_STORE_READ, QP_STORE_WRITE } qp_store_access;

/** Open a store.
 * @param access  QP_STORE_WRITE: it is made if there is none, and brought to the newest version
 * @return NULL: see error (one line without the path). Close with qp_store_close(), which takes NULL */
qp_store *qp_store_open(const char *path, qp_store_access access, qp_error *error);
void qp_store_close(qp_store *s);

/* How the servers of a store are asked. */
typedef struct {
    const char *headers, *ca_file; /* as of qp_send_options */
    uint64_t timeout_ns;
    unsigned n_tries;
    bool (*wait)(uint64_t until_ns);
    /* Of the profile that is imported: where it was sent before, as an address; NULL: nowhere, or not known. It goes to that
     * server, if it is among those of the store. Both are NULL: nothing is known of any. */
    const char *(*sent_to)(void *to);
    /* It is about to be sent to a server. @return false: see error, and it is not sent */
    bool (*note)(void *to, const char *address, qp_error *error);
    void *to;
} qp_store_servers;

/* Is it the address of a store on servers: "clickhouse:http://HOST:PORT/DATABASE,http://..."? */
bool qp_store_is_on_servers(const char *to);
/* Can it be one? @return false: see error, which has no part of it */
bool qp_store_is_address(const char *to, qp_error *error);
/** Open a store on servers, each of which has a part of its profiles.
 * @param to   addresses, separated by commas: of a reader those of all servers that were ever sent to
 * @param how  its texts are borrowed
 * @return as qp_store_open() */
qp_store *qp_store_connect(const char *to, qp_store_access access, const qp_store_servers *how,
                           qp_error *error);
/* After QP_IMPORT_FAILED: may another profile fare better, as another server takes it? */
bool qp_store_has_server(const qp_store *s);
/* Monotonic ns before which a server does not want to be asked again; 0: any time will do. */
uint64_t qp_store_not_before(const qp_store *s);

/** Whether a store of this process was damaged, or could not be read or written: then an error tells of the store,
 * and not of what was asked of it. */
bool qp_store_has_failed(void);

/* ---- importing --------------------------------------------------------------------------- */

typedef enum {
    QP_IMPORT_ADDED,
    QP_IMPORT_REPLACED, /* an earlier state of the same run, which it continues */
    QP_IMPORT_KNOWN,    /* nothing changed: the store has it, or a later state of the run */
    QP_IMPORT_REFUSED,  /* the file is not a whole profile: see error */
    QP_IMPORT_UNREAD,   /* it is not complete yet, or cannot be read now: see error */
    QP_IMPORT_FAILED    /* the store cannot be written: see error. It is as before */
} qp_import_result;

/** Load a profile that is whole, and whose process has ended.
 * @param is_damaged  whether it will never be a whole profile, if it is none
 * @return NULL: see error, which names the file */
qp_model *qp_store_load(const char *file, bool *is_damaged, qp_error *error);

/** Add a profile, whole or not at all: when it returns, it is on the disk.
 * @param calls  receives how many it has; may be NULL
 * @param error  one line that names the file, or without its path the store's problem */
qp_import_result qp_store_import(qp_store *s, const char *file, uint64_t *calls,
                                 qp_error *error);

/* ---- choosing ---------------------------------------------------------------------------- */

typedef struct {
    const char *service, *version; /* NULL: any */
    const char *const *labels;     /* [n_labels] "NAME=VALUE": all of them */
    size_t n_labels;
    uint64_t since, until; /* ns since 1970 of a profile's end: since <= end < until; 0: any */
    bool has_undated;      /* and profiles whose end is not known; else only if both are 0 */
} qp_store_filter;

typedef struct {
    int64_t number;
    uint64_t ended_at; /* ns since 1970; 0: unknown */
    const char *service, *version, *host, *labels, *file;
    const char *unit;                       /* of self: "ns", "counts", ... */
    const char *clock;                      /* "elapsed", "user+kernel", ...; "": unknown */
    bool has_calls;                         /* else calls is 0 and means nothing */
    uint64_t calls, self, n_paths, n_bytes; /* self: of all its paths, in its unit */
} qp_store_profile;

/** List the profiles that a filter chooses, in the order in which they came.
 * @param profiles  an empty buffer of qp_store_profile; texts are the arena's
 * @return false: see error */
bool qp_store_choose(qp_store *s, const qp_store_filter *filter, qp_buf *profiles,
                     qp_arena *arena, qp_error *error);

/** Add up profiles: the same as qp_merge_add() of each file.
 * @param is_forced  as of qp_merge_add()
 * @return free with qp_merge_free(); NULL: see error */
qp_merge *qp_store_sum(qp_store *s, const qp_store_profile *profiles, size_t n, bool is_forced,
                       qp_error *error);

/* ---- requests that were kept whole ---------------------------------------------------------- */

typedef struct {
    qp_kept_request r; /* node: means nothing */
    int64_t number;    /* of the store; it stays while the request is there */
    const qp_store_profile *profile;
} qp_store_kept;

/** List those of profiles, the slowest first.
 * @param profiles  [n] as qp_store_choose() gives them
 * @param requests  an empty buffer of qp_store_kept; texts are the arena's
 * @return false: see error */
bool qp_store_kept_requests(qp_store *s, const qp_store_profile *profiles, size_t n,
                            qp_buf *requests, qp_arena *arena, qp_error *error);

/** The calls of one of them, and its waits.
 * @param out  free with qp_kept_calls_fini(), also after a failure; names are the arena's
 * @return false: see error */
bool qp_store_kept_calls(qp_store *s, int64_t number, qp_kept_calls *out, qp_arena *arena,
                         qp_error *error);

/* ---- keeping ----------------------------------------------------------------------------- */

/** Check the database itself, its methods and paths, and profiles: whether their columns and records can be
 * read, and have the sums that were noted when they came.
 * @param show  is called for each mistake, with one line
 * @return how many mistakes there are */
size_t qp_store_check(qp_store *s, const qp_store_profile *profiles, size_t n,
                      void (*show)(void *to, const char *mistake), void *to);

typedef struct {
    size_t n_profiles, n_sums; /* so many became so many */
    size_t n_left;             /* that cannot be added up */
    char why[QP_ERROR_BYTES];  /* of the first of these */
} qp_store_rolled;

/** Replace the profiles of each hour that have the same labels, clock and unit by their sum. What they were is
 * remembered, so that importing one of them again changes nothing.
 * @return false: see error, and the store is as before */
bool qp_store_roll(qp_store *s, const qp_store_profile *profiles, size_t n,
                   qp_store_rolled *rolled, qp_error *error);

/** Remove profiles, all or none. @return false: see error */
bool qp_store_remove(qp_store *s, const qp_store_profile *profiles, size_t n, qp_error *error);

#endif
