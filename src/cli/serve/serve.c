/* serve.c: `qprof serve`: a store in a browser. Here are its options; answer.c says what each address shows. */
#include "cli/serve/serve.h"
#include "cli/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/unit.h"
#include "export/page/page.h"
#include "store/store.h"

enum {
    TOKEN_LEAST = 16,
    ROOM = 2 * QP_HTTP_TOKEN_BYTES, /* one that is too long is not cut */
    DEFAULT_MEMORY_MB = 2048,
    DEFAULT_UNREAD_MB = 1024
};

static void print_address(void *to, const char *address)
{
    qp_cli *cli = to;
    qp_out_format(&cli->out, "%s\n", address);
    qp_out_flush(&cli->out); /* before a process has a copy of it */
}

/* The first line of the file. @param to [ROOM] @return false: a message was printed */
static bool read_token(const qp_cli *cli, const char *path, char *to)
{
    const char *why;
    struct stat st;
    const int fd = qp_file_open(path, &why);
    if (fd < 0)
        return qp_cli_refuse(cli, "%s: %s", path, why);
    const size_t n = qp_file_read_at(fd, to, ROOM - 1, 0);
    const bool is_open = fstat(fd, &st) == 0 && st.st_mode & (S_IRGRP | S_IROTH);
    close(fd);
    to[n] = '\0';
    to[strcspn(to, "\r\n")] = '\0';
    if (is_open)
        qp_cli_warn(cli, "%s: other users can read it (chmod 600)", path);
    return true;
}

/* @param room [ROOM] @return false: a message was printed */
static bool take_token(const qp_cli *cli, char *room, const char **token)
{
    const qp_serve_args *a = &cli->args.serve;
    *token = a->token;
    if (a->token && a->token_file)
        return qp_cli_refuse(cli, "--token and --token-file: expected one of them");
    if (a->token_file && !read_token(cli, a->token_file, room))
        return false;
    if (a->token_file)
        *token = room;
    if (!*token)
        return !a->listen || qp_cli_refuse(cli,
                                           "--listen=%s: with --listen a token is needed "
                                           "(--token-file=FILE); without both, only programs "
                                           "of this machine can ask",
                                           a->listen);
    char length[QP_NUMBER_BYTES];
    const size_t n = strlen(*token);
    for (size_t i = 0; i < n; i++)
        if ((*token)[i] <= ' ' || (*token)[i] > '~')
            return qp_cli_refuse(cli, "the token has a byte that is no letter, digit or sign");
    return (n >= TOKEN_LEAST && n < QP_HTTP_TOKEN_BYTES) ||
           qp_cli_refuse(cli, "the token is too %s: it has %s, and %d to %d are needed",
                         n < TOKEN_LEAST ? "short" : "long", qp_unit_things(length, n, "byte"),
                         (int)TOKEN_LEAST, QP_HTTP_TOKEN_BYTES - 1);
}

/* A store that is not there is a mistake of the command line; what becomes of it later is shown on the pages. */
static bool can_serve(const qp_cli *cli)
{
    qp_error error;
    const char *path = cli->args.operands[0];
    if (!qp_http_version() || !qp_page_is_there(&qp_page_store, &error)) {
        if (!qp_http_version())
            qp_http_serve(&(qp_http_service){.port = 0}, &error);
        return qp_cli_refuse(cli, "%s", error.text);
    }
    if (cli->args.serve.port > UINT16_MAX)
        return qp_cli_refuse(cli, "--port=%llu: expected a number up to 65535",
                             (unsigned long long)cli->args.serve.port);
    if (qp_store_is_on_servers(path) &&
        !qp_store_is_address(path, &error)) /* it may have a password */
        return qp_cli_refuse(cli, "%s", error.text);
    qp_store *s = qp_store_of(path, QP_STORE_READ, &error);
    qp_store_close(s);
    return s || qp_cli_refuse(cli, "%s: %s", path, error.text);
}

static int run_serve(qp_cli *cli)
{
    static char room[ROOM];
    qp_error error;
    qp_http_service service = {.listen = cli->args.serve.listen,
                               .port = (uint16_t)cli->args.serve.port,
                               .routes = qp_serve_routes,
                               .answer = qp_serve_answer,
                               .ready = print_address,
                               .to = cli};
    if (cli->args.n_operands != 1)
        return qp_cli_fail(cli, "expected one store; usage: qprof %s %s", cli->command->name,
                           cli->command->operands);
    if (!can_serve(cli) || !take_token(cli, room, &service.token) ||
        !qp_cli_max_memory(cli, &service.max_memory) ||
        !qp_cli_size(cli, "max-unread", cli->args.serve.max_unread, &service.max_unread))
        return QP_EXIT_UNUSABLE;
    if (!service.max_unread)
        service.max_unread = (uint64_t)DEFAULT_UNREAD_MB << 20;
    if (!service.max_memory)
        service.max_memory = (uint64_t)DEFAULT_MEMORY_MB << 20;
    return qp_http_serve(&service, &error) ? QP_EXIT_CLEAN : qp_cli_fail(cli, "%s", error.text);
}

const qp_command qp_command_serve = {
    .name = "serve",
    .operands = "STORE",
    .summary = "a store in a browser: series, flame graphs, what changed, dead code",
    .about =
        "Serves pages about a store until Ctrl-C: calls and time by day, hour, version, "
        "service "
        "or host; and of the profiles that you choose the flame graph, what changed between "
        "two "
        "versions, and functions that none called. Prints the address. Only programs of this "
        "machine can ask, unless --listen is given, which needs a token. A store is only read, "
        "and profiles that are imported meanwhile are seen.",
    .flags =
        (const qp_flag[]){
            QP_COUNT("port", 0, serve.port, "7700", "port; 0: any that is free"),
            QP_TEXT(
                "listen", 0, "ADDRESS", serve.listen,
                "address at which other machines can ask, as 192.0.2.1 or ::; needs a token"),
            QP_TEXT("token-file", 0, "FILE", serve.token_file,
                    "file whose first line is the token that requests need"),
            QP_TEXT(
                "token", 0, "TEXT", serve.token,
                "the token itself, which other users of this machine can see in the list of "
                "processes"),
            QP_TEXT(
                "max-memory", 0, "SIZE", fold.max_memory,
                "memory that the answer to one request may take, as 512M or 4G (default 2G)"),
            QP_TEXT("max-unread", 0, "SIZE", serve.max_unread,
                    "disk space for all answers that have not been read yet (default 1G)"),
            QP_FLAGS_COMMON},
    .examples = "qprof serve fleet.db\n"
                "qprof serve --port=0 fleet.db\n"
                "qprof serve --listen=192.0.2.1 --token-file=token fleet.db",
    .run = run_serve};
