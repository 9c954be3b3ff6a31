/* open.c: the store of a command: a file, or servers, and how these are asked. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text/buf.h"
#include "cli/store/push.h"
#include "cli/store/store.h"
#include "send/send.h"

enum { HEADERS_BYTES = 64 << 10, TRIES_MOST = 1000, TRIES_USUAL = 5 };
static const uint64_t second_ns = 1000000000;
static const char variable[] = "QPROF_PUSH_HEADERS";

/* "30s" of a flag. @return false: a message was printed */
static bool read_time(const qp_cli *cli, const char *flag, const char *text, uint64_t *ns)
{
    return !text || (qp_args_time(text, ns) && *ns >= 1000000) ||
           qp_cli_refuse(cli, "--%s=%s: expected a time: 30s, 500ms, 1m", flag, text);
}

/* Credentials come from a file or the environment: arguments can be seen by everybody.
 * @return false: a message was printed */
static bool take_headers(const qp_cli *cli, char **owned, const char **headers)
{
    const char *file = cli->args.store.header_file, *why;
    struct stat st;
    qp_error error;
    size_t n;
    *headers = getenv(variable);
    if (file && stat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & (S_IRGRP | S_IROTH))
        return qp_cli_refuse(cli, "--header-file=%s: other users can read it (chmod 600)",
                             file);
    if (file)
        *headers = *owned = qp_text_file(file, HEADERS_BYTES, &n, &why);
    if (file && !*owned)
        return qp_cli_refuse(cli, "--header-file=%s: %s", file, why);
    return !*headers || qp_send_are_headers(*headers, file ? file : variable, &error) ||
           qp_cli_refuse(cli, "%s", error.text);
}

bool qp_servers_take(const qp_cli *cli, qp_store_servers *how, char **headers)
{
    enum { TIMEOUT_S = 30 };
    const qp_store_args *a = &cli->args.store;
    *headers = NULL;
    *how =
        (qp_store_servers){.ca_file = a->ca_file,
                           .timeout_ns = TIMEOUT_S * second_ns,
                           .n_tries = (unsigned)(a->tries < TRIES_MOST ? a->tries : TRIES_MOST),
                           .wait = qp_interrupt_sleep};
    return read_time(cli, "timeout", a->timeout, &how->timeout_ns) &&
           take_headers(cli, headers, &how->headers);
}

qp_store *qp_store_of(const char *path, qp_store_access access, qp_error *error)
{
    enum { TIMEOUT_S = 600 }; /* of the sum of many profiles */
    const qp_store_servers how = {.headers = getenv(variable),
                                  .timeout_ns = TIMEOUT_S * second_ns,
                                  .n_tries = TRIES_USUAL,
                                  .wait = qp_interrupt_sleep};
    if (!qp_store_is_on_servers(path))
        return qp_store_open(path, access, error);
    if (how.headers && !qp_send_are_headers(how.headers, variable, error))
        return NULL;
    return qp_store_connect(path, access, &how, error);
}
