/* push.h: what the files of `qprof push` share: the folder, and the servers that profiles go to. */
#ifndef QP_CLI_STORE_PUSH_H
#define QP_CLI_STORE_PUSH_H

#include <sys/stat.h>

#include "cli/core/cli.h"
#include "store/store.h"

/* ---- the folder: spool.c ---------------------------------------------------------------------- */

enum { QP_SPOOL_NAMES = 20000 }; /* of one round */

/* Is it the name of a profile that is to be pushed? */
bool qp_spool_is_name(const char *name);

typedef struct {
    const char *path;
    int fd;          /* holds the lock; < 0: not open */
    bool is_limited; /* only files of this user can be removed from it */
} qp_spool;

typedef struct {
    const char *name;
    uint32_t failed; /* the round in which it was last tried in vain; 0: none */
} qp_spool_file;

typedef enum {
    QP_SPOOL_OPEN,
    QP_SPOOL_BUSY,    /* another push is at work there */
    QP_SPOOL_UNUSABLE /* a message was printed */
} qp_spool_state;

/* Open a folder for this push alone, if it may remove files from it. Two that send the same files at once
 * would send them twice, and so would one that cannot remove them. */
qp_spool_state qp_spool_open(const qp_cli *cli, const char *path, qp_spool *spool);
void qp_spool_close(qp_spool *spool);

/* The profiles of a folder, by name; of more than QP_SPOOL_NAMES any of them. Hidden ones are not complete.
 * @param files  an empty buffer of qp_spool_file, names of the arena
 * @return false: a message was printed */
bool qp_spool_list(const qp_cli *cli, const qp_spool *spool, qp_buf *files, qp_arena *arena);
/* What processes of this machine that were killed recorded after the last cut of their spool becomes one more profile of the folder.
 * @param say  receives why one stays, or is lost
 * @return of how many what they recorded is still where it was */
size_t qp_spool_take_left(const qp_spool *spool, void (*say)(void *to, const char *text),
                          void *to);
/* By their failures, those without one first; then by name. */
void qp_spool_sort(qp_buf *files);

/* Move a file to the folder `quarantine`, and say why.
 * @return false: it could not be moved */
bool qp_spool_set_aside(const qp_cli *cli, const qp_spool *spool, const char *name,
                        const char *why);

/* Remove a file that has arrived, unless another profile has taken its name.
 * @return false: a message was printed */
bool qp_spool_remove(const qp_cli *cli, const char *path, const struct stat *before);

/* ---- which server a file was sent to: placed.c -------------------------------------------------- */

typedef struct {
    const qp_spool *spool;
    qp_dict places; /* hash of a file's name -> where its address is in `kept`, + 1 */
    qp_buf kept;    /* bytes */
} qp_placed;

/* What the folder, which is open, has noted of files that are still there; the rest is removed from it.
 * @param p  zeroed, or read before @return false: it cannot be read, or written */
bool qp_placed_read(qp_placed *p, const qp_spool *spool);
void qp_placed_fini(qp_placed *p);
/* @return the address that was noted of a file; NULL: none */
const char *qp_placed_find(const qp_placed *p, const char *name);
/* @return false: it cannot be written, and nothing is noted */
bool qp_placed_note(const qp_placed *p, const char *name, const char *address);

/* ---- servers: push_server.c ---------------------------------------------------------------------- */

typedef struct qp_server qp_server;

typedef struct {
    uint64_t rest, all; /* what went to <other>, and the sum */
} qp_push_cut;

/* Does an address name a server that can be sent to: "pyroscope:http://HOST:PORT"? */
bool qp_server_is_named(const char *to);

/* How the flags want servers to be asked. @param headers  receives a buffer, or NULL
 * @return false: a message was printed */
bool qp_servers_take(const qp_cli *cli, qp_store_servers *how, char **headers);

/* @return free with qp_server_free(); NULL: a message was printed */
qp_server *qp_server_new(const qp_cli *cli, const char *to);
void qp_server_free(qp_server *s); /* takes NULL */

/* Send a profile. @param cut  its time is added to the first; its calls, if it has none, to the second @return QP_IMPORT_ADDED: the server has it; REFUSED, UNREAD, FAILED: see error */
qp_import_result qp_server_push(qp_server *s, const char *path, uint64_t *calls,
                                qp_push_cut cut[2], qp_error *error);

/* After QP_IMPORT_FAILED: see qp_send_may_be_body() and qp_send_is_interrupted(). */
bool qp_server_may_be_file(const qp_server *s);
bool qp_server_is_interrupted(const qp_server *s);

/* See qp_send_not_before(). */
uint64_t qp_server_not_before(const qp_server *s);

#endif
