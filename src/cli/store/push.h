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

/* The profiles of a folder, by name; of more than QP_SPOOL_NAMES any of them. Hidden ones are not complete.
 * @param names  an empty buffer of const char *, texts of the arena
 * @return false: a message was printed */
bool qp_spool_list(const qp_cli *cli, const char *spool, qp_buf *names, qp_arena *arena);

/* Move a file to the folder `quarantine`, and say why.
 * @return false: it could not be moved */
bool qp_spool_set_aside(const qp_cli *cli, const char *spool, const char *name,
                        const char *why);

/* Remove a file that has arrived, unless another profile has taken its name.
 * @return false: a message was printed */
bool qp_spool_remove(const qp_cli *cli, const char *path, const struct stat *before);

/* ---- servers: push_server.c ---------------------------------------------------------------------- */

typedef struct qp_server qp_server;

/* Does an address name a server that can be sent to: "pyroscope:http://HOST:PORT"? */
bool qp_server_is_named(const char *to);

/* @return free with qp_server_free(); NULL: a message was printed */
qp_server *qp_server_new(const qp_cli *cli, const char *to);
void qp_server_free(qp_server *s); /* takes NULL */

/* Send a profile. @return QP_IMPORT_ADDED: the server has it; REFUSED, UNREAD, FAILED: see error */
qp_import_result qp_server_push(qp_server *s, const char *path, uint64_t *calls,
                                qp_error *error);

/* See qp_send_not_before(). */
uint64_t qp_server_not_before(const qp_server *s);

#endif
