/* push.c: `qprof push`: the profiles of a folder go into a store or to a server, and then from the folder.
 * Read push_file first. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/dict.h"
#include "base/os/clock.h"
#include "base/text/unit.h"
#include "cli/store/push.h"
#include "export/shared/profile.h"

#define TARGETS                                                                                \
    "sqlite:FILE, clickhouse:http://HOST:PORT/DATABASE,..., pyroscope:http://HOST:PORT or "    \
    "otlp:http://HOST:PORT"
static const char usage[] = "usage: qprof push --spool=DIR --to=TARGET";

typedef struct {
    qp_cli *cli;
    const char *spool;
    qp_spool folder;      /* open during a round */
    const char *to;       /* as messages name it */
    const char *file;     /* of the store; NULL: a server */
    qp_store *store;      /* open during a round */
    bool is_on_servers;   /* the store is */
    qp_store_servers how; /* these are asked */
    char *headers;
    qp_placed placed;    /* of such a store: where files were sent */
    const char *name;    /* of the file that is sent */
    uint64_t not_before; /* monotonic ns, see qp_store_not_before() */
    qp_server *server;   /* NULL: a store */
    uint64_t n_pushed, n_known, n_aside, n_left, calls; /* of this round */
    bool is_more;  /* it has taken something, and there may be more than a round takes */
    bool is_busy;  /* another push is at work in the folder */
    bool is_stuck; /* what has arrived cannot be removed: it would be sent again and again */
    qp_push_cut cut[2];        /* of this round: time, calls */
    uint64_t every_ns;         /* 0: one round */
    qp_dict said, said_before; /* hashes of the reasons of this round, and of the one before */
    uint32_t n_rounds;
    qp_dict failed; /* hash of a name -> the round in which it was tried in vain */
    const char *
        suspect; /* tried in vain, which may be its own fault: the next file will tell; or NULL */
    qp_error why; /* of the suspect */
} pusher;

/* Would the store be taken for a profile of the folder? */
static bool is_among_profiles(const pusher *x, const char *store)
{
    char real[PATH_MAX], folder[PATH_MAX + 4];
    struct stat a, b;
    const char *path = realpath(store, real) ? real : store, *slash = strrchr(path, '/'),
               *name = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s.", (int)(name - path), path);
    return qp_spool_is_name(name) && stat(folder, &a) == 0 && stat(x->spool, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* ---- a file --------------------------------------------------------------------------------- */

static void remove_pushed(pusher *x, const char *path, const struct stat *before)
{
    const bool is_removed = qp_spool_remove(x->cli, path, before);
    x->n_left += !is_removed;
    x->is_stuck |= x->server && !is_removed;
}

static void set_aside(pusher *x, const char *name, const char *why)
{
    const bool is_moved = qp_spool_set_aside(x->cli, &x->folder, name, why);
    x->n_aside += is_moved;
    x->n_left += !is_moved;
}

static const char *sent_to(void *to)
{
    const pusher *x = to;
    return qp_placed_find(&x->placed, x->name);
}

static bool note(void *to, const char *address, qp_error *error)
{
    const pusher *x = to;
    return qp_placed_note(&x->placed, x->name, address) ||
           qp_error_fail(error, "where it is sent cannot be noted in the folder: %s",
                         strerror(errno));
}

static uint64_t hash_of(const char *name)
{
    return qp_hash_bytes(QP_HASH_START, name, strlen(name));
}

/* What stays is named in the first of the rounds in which it does. */
static bool is_news(pusher *x, const char *text)
{
    qp_dict_put(&x->said, hash_of(text), 1);
    return !qp_dict_get(&x->said_before, hash_of(text));
}

static uint64_t not_before(const pusher *x)
{
    return x->server  ? qp_server_not_before(x->server)
           : x->store ? qp_store_not_before(x->store)
                      : x->not_before;
}

/* @return "", or when the next round begins, if the server asked for more time */
static const char *next_try(const pusher *x, char to[64])
{
    const uint64_t second_ns = 1000000000, now = qp_clock_monotonic(), least = not_before(x);
    *to = '\0';
    if (x->every_ns && least > now + x->every_ns)
        snprintf(to, 64, "; next try in %llu s",
                 (unsigned long long)((least - now + second_ns - 1) / second_ns));
    return to;
}

static void say_all_stay(pusher *x, const char *why, const char *name)
{
    char when[64];
    if (is_news(x, why))
        qp_cli_warn(x->cli, "%s: %s/%s stays, with all after it%s", why, x->spool, name,
                    next_try(x, when));
}

/* Each file has its server, and others may be up. @return as take_failure() */
static bool take_failure_of_store(pusher *x, const char *name, const qp_error *error)
{
    if (!qp_interrupt_sleep(0))
        return false;
    qp_dict_put(&x->failed, hash_of(name), x->n_rounds);
    if (!qp_store_has_server(x->store)) {
        say_all_stay(x, error->text, name);
        return false;
    }
    const bool is_first =
        !qp_dict_get(&x->said, hash_of(error->text)); /* of this server's files */
    if (is_news(x, error->text) && is_first)
        qp_cli_warn(x->cli, "%s: %s/%s stays, and others may stay", error->text, x->spool,
                    name);
    x->n_left++;
    return true;
}

/* One file that a server cannot take must not keep all others back: only where the next one fails too it is
 * the server that is at fault. @return false: nothing can be pushed now */
static bool take_failure(pusher *x, const char *name, const qp_error *error)
{
    if (x->is_on_servers)
        return take_failure_of_store(x, name, error);
    if (!x->server) {
        qp_error why;
        qp_error_fail(&why, "%s: %s", x->file, error->text);
        say_all_stay(x, why.text, name);
        return false;
    }
    if (qp_server_is_interrupted(x->server))
        return false;
    qp_dict_put(&x->failed, hash_of(name), x->n_rounds);
    if (!x->suspect && qp_server_may_be_file(x->server)) {
        x->suspect = name;
        x->why = *error;
        return true;
    }
    say_all_stay(x, error->text, x->suspect ? x->suspect : name);
    x->suspect = NULL;
    return false;
}

/* The server takes another file. */
static void pass_over_suspect(pusher *x)
{
    if (!x->suspect)
        return;
    if (is_news(x, x->suspect))
        qp_cli_warn(x->cli, "%s: %s/%s stays, others are taken", x->why.text, x->spool,
                    x->suspect);
    x->suspect = NULL;
    x->n_left++;
}

/* @return false: nothing can be pushed now, and a message was printed */
static bool push_file(pusher *x, const char *name)
{
    char path[4096];
    qp_error error;
    struct stat before;
    uint64_t calls = 0;
    if (snprintf(path, sizeof path, "%s/%s", x->spool, name) >= (int)sizeof path ||
        lstat(path, &before) != 0)
        return true; /* another push was faster */
    const bool is_foreign = x->folder.is_limited && before.st_uid != geteuid();
    if (!S_ISREG(before.st_mode) || is_foreign) {
        if (is_news(x, path))
            qp_cli_warn(x->cli, "%s: %s; it stays", path,
                        is_foreign ? "a file of another user, which this one cannot remove"
                                   : "not a file");
        x->n_left++;
        return true;
    }
    x->name = name;
    switch (x->server ? qp_server_push(x->server, path, &calls, x->cut, &error)
                      : qp_store_import(x->store, path, &calls, &error)) {
    case QP_IMPORT_ADDED:
    case QP_IMPORT_REPLACED:
        pass_over_suspect(x);
        x->n_pushed++;
        x->calls += calls;
        remove_pushed(x, path, &before);
        break;
    case QP_IMPORT_KNOWN:
        x->n_known++;
        remove_pushed(x, path, &before);
        break;
    case QP_IMPORT_REFUSED:
        set_aside(x, name, error.text);
        break;
    case QP_IMPORT_UNREAD:
        if (access(path, F_OK) == 0) {
            if (is_news(x, error.text))
                qp_cli_warn(x->cli, "%s; it stays", error.text);
            x->n_left++;
        }
        break;
    case QP_IMPORT_FAILED:
        return take_failure(x, name, &error);
    }
    return !x->is_stuck;
}

/* ---- a round ---------------------------------------------------------------------------------- */

static void print_result(const pusher *x)
{
    char text[QP_NUMBER_BYTES];
    qp_out *out = x->cli->screen.out;
    qp_screen_name(&x->cli->screen, x->spool, 0);
    qp_out_format(out, ": %s pushed", qp_unit_things(text, x->n_pushed, "profile"));
    if (x->n_pushed)
        qp_out_format(out, " with %s", qp_unit_things(text, x->calls, "call"));
    for (size_t i = 0; i < 2; i++)
        if (x->cut[i].rest)
            qp_out_format(out, ", %.1f %% of the %s went to " QP_EXPORT_REST,
                          100.0 * (double)x->cut[i].rest / (double)x->cut[i].all,
                          i ? "calls" : "time");
    if (x->n_known)
        qp_out_format(out, ", %s in the store already", qp_unit_count(text, x->n_known));
    if (x->n_aside)
        qp_out_format(out, ", %s moved to quarantine", qp_unit_count(text, x->n_aside));
    if (x->n_left)
        qp_out_format(out, ", %s left", qp_unit_count(text, x->n_left));
    qp_out_char(out, '\n');
    qp_out_flush(out);
}

/* A store is open for a round only: what it knows of methods and paths takes memory. */
static bool open_target(pusher *x)
{
    qp_error error;
    if (x->server)
        return true;
    x->store = x->is_on_servers ? qp_store_connect(x->file, QP_STORE_WRITE, &x->how, &error)
                                : qp_store_open(x->file, QP_STORE_WRITE, &error);
    if (!x->store && x->is_on_servers && is_news(x, error.text))
        qp_cli_warn(x->cli, "%s: all in %s stays", error.text, x->spool);
    return x->store || x->is_on_servers || qp_cli_refuse(x->cli, "%s: %s", x->file, error.text);
}

/* Those that failed before come last. @return false: nothing more can be pushed, and a message was printed */
static bool push_files(pusher *x, qp_buf *files, bool is_again)
{
    bool is_good = true;
    qp_spool_file *all = files->items;
    for (size_t i = 0; x->failed.n && i < files->n; i++)
        all[i].failed = qp_dict_get(&x->failed, hash_of(all[i].name));
    qp_spool_sort(files);
    for (size_t i = 0; is_good && i < files->n && (!is_again || qp_interrupt_sleep(0)); i++)
        is_good = push_file(x, all[i].name);
    if (x->suspect) {
        say_all_stay(x, x->why.text, x->suspect);
        is_good = false;
    }
    x->suspect = NULL;
    const bool is_interrupted = x->server ? qp_server_is_interrupted(x->server)
                                          : x->is_on_servers && !qp_interrupt_sleep(0);
    return is_good || is_interrupted;
}

static void say_left(void *to, const char *text)
{
    pusher *x = to;
    if (is_news(x, text))
        qp_cli_warn(x->cli, "%s", text);
}

/* @return false: nothing can be sent, and a message was printed */
static bool read_placed(pusher *x)
{
    return !x->is_on_servers || qp_placed_read(&x->placed, &x->folder) ||
           qp_cli_refuse(x->cli,
                         "%s: nothing is sent, as where it went cannot be noted in it: %s",
                         x->spool, strerror(errno));
}

/* @param is_again  one of many: a signal ends it, and nothing to say is not said
 * @return the exit status */
static int push_listed(pusher *x, bool is_again)
{
    qp_buf files = QP_BUF(qp_spool_file);
    qp_arena arena;
    int status = QP_EXIT_UNUSABLE;
    qp_arena_init(&arena);
    x->n_left += qp_spool_take_left(&x->folder, say_left, x);
    if (qp_spool_list(x->cli, &x->folder, &files, &arena) && open_target(x)) {
        const bool is_good =
            (x->store || x->server) && read_placed(x) && push_files(x, &files, is_again);
        if (is_good && x->is_on_servers)
            qp_placed_read(&x->placed, &x->folder); /* nothing is left where all has arrived */
        if (!is_again || x->n_pushed || x->n_known || x->n_aside)
            print_result(x);
        x->is_more = files.n == QP_SPOOL_NAMES && x->n_pushed + x->n_known + x->n_aside;
        status = !is_good && !x->server && !x->is_on_servers ? QP_EXIT_UNUSABLE
                 : !is_good || x->n_aside || x->n_left       ? QP_EXIT_FAILED
                                                             : QP_EXIT_CLEAN;
        x->not_before = x->store ? qp_store_not_before(x->store) : 0;
        qp_store_close(x->store);
        x->store = NULL;
    }
    qp_free(files.items);
    qp_arena_fini(&arena);
    return status;
}

/* @return see push_listed() */
static int push_round(pusher *x, bool is_again)
{
    const bool was_busy = x->is_busy;
    x->n_pushed = x->n_known = x->n_aside = x->n_left = x->calls = 0;
    x->is_more = x->is_busy = false;
    memset(x->cut, 0, sizeof x->cut);
    x->n_rounds++;
    qp_dict_fini(&x->said_before);
    x->said_before = x->said;
    qp_dict_init(&x->said);
    int status = QP_EXIT_UNUSABLE;
    switch (qp_spool_open(x->cli, x->spool, &x->folder)) {
    case QP_SPOOL_OPEN:
        status = push_listed(x, is_again);
        break;
    case QP_SPOOL_BUSY:
        x->is_busy = true;
        status = QP_EXIT_FAILED;
        if (!was_busy)
            qp_cli_fail(x->cli, "another push is at work in %s%s", x->spool,
                        is_again ? "; this one waits" : "");
        break;
    case QP_SPOOL_UNUSABLE:
        break;
    }
    qp_spool_close(&x->folder);
    if (status == QP_EXIT_CLEAN) { /* nothing that failed is left */
        qp_dict_fini(&x->failed);
        qp_dict_init(&x->failed);
    }
    return status;
}

/* Rounds until a signal comes. The clock of the day has no part in it. What a server asks for is waited for.
 * @return the exit status of the last round */
static int push_for_ever(pusher *x, uint64_t every_ns)
{
    const uint64_t second_ns = 1000000000;
    int status;
    x->every_ns = every_ns;
    qp_interrupt_take();
    do {
        const uint64_t begun = qp_clock_monotonic();
        status = push_round(x, true);
        uint64_t next = begun + (x->is_busy && every_ns > second_ns ? second_ns : every_ns);
        const uint64_t least = not_before(x);
        next = next > least ? next : least;
        if (status != QP_EXIT_UNUSABLE && x->is_more)
            next = 0;
        if (x->is_stuck || !qp_interrupt_sleep(next))
            return status;
    } while (true);
}

static int push_once(pusher *x)
{
    int status = push_round(x, false);
    while (status == QP_EXIT_CLEAN && x->is_more)
        status = push_round(x, false);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------ */

static bool take_servers(pusher *x)
{
    const bool is_good = qp_servers_take(x->cli, &x->how, &x->headers);
    x->how.sent_to = sent_to;
    x->how.note = note;
    x->how.to = x;
    return is_good;
}

/* @return false: wrong usage, a message was printed */
static bool take_target(pusher *x)
{
    static const char scheme[] = "sqlite:";
    qp_cli *cli = x->cli;
    const char *to = cli->args.to;
    if (strncmp(to, scheme, sizeof scheme - 1) == 0 && to[sizeof scheme - 1]) {
        x->file = to + sizeof scheme - 1;
        return !is_among_profiles(x, x->file) ||
               qp_cli_refuse(cli,
                             "%s: a store in the folder of profiles would be taken for one: "
                             "give it another name",
                             x->file);
    }
    if (qp_store_is_on_servers(to)) {
        qp_error error;
        x->file = to;
        x->is_on_servers = true;
        return (qp_store_is_address(to, &error) ||
                qp_cli_refuse(cli, "--to: %s", error.text)) &&
               take_servers(x);
    }
    if (!qp_server_is_named(to))
        return qp_cli_refuse(cli, "--to=%s: expected " TARGETS, to);
    x->server = qp_server_new(cli, to);
    return x->server;
}

static int run_push(qp_cli *cli)
{
    uint64_t every = 0;
    const qp_store_args *a = &cli->args.store;
    pusher x = {.cli = cli, .spool = a->spool, .to = cli->args.to};
    if (!x.spool || !x.to)
        return qp_cli_fail(cli, "missing %s; %s",
                           x.spool ? "--to=TARGET: " TARGETS : "--spool=DIR", usage);
    if (cli->args.n_operands)
        return qp_cli_fail(cli, "%s: no operand is expected; %s", cli->args.operands[0], usage);
    if (a->every && (!qp_args_time(a->every, &every) || every < 1000000000))
        return qp_cli_fail(cli, "--every=%s: expected a time of 1s or more: 60s, 5m, 1d",
                           a->every);
    if (!a->tries)
        return qp_cli_fail(cli, "--tries=0: expected at least 1");
    if (!take_target(&x))
        return QP_EXIT_UNUSABLE;
    qp_dict_init(&x.failed);
    qp_dict_init(&x.said);
    qp_dict_init(&x.said_before);
    const int status = a->every ? push_for_ever(&x, every) : push_once(&x);
    qp_dict_fini(&x.said);
    qp_dict_fini(&x.said_before);
    qp_dict_fini(&x.failed);
    qp_placed_fini(&x.placed);
    qp_server_free(x.server);
    qp_free(x.headers);
    return status;
}

const qp_command qp_command_push = {
    .name = "push",
    .operands = "--spool=DIR --to=TARGET",
    .summary = "profiles of a folder, moved to a store or a server",
    .about =
        "Imports each profile of a folder (*.qprof) as `qprof store import` does, or sends it "
        "to "
        "a server, and removes the file when the store has it on the disk, or the server has "
        "taken it. Wherever it is interrupted, each profile has arrived or is still in the "
        "folder, or both, and the next push continues: a store has each profile once, a server "
        "at "
        "least once. Damaged files, and those that the server refuses, are named and moved to "
        "DIR/quarantine; what processes still record stays. Exit status 1: some were moved "
        "there, or stayed.\n\nTargets: " TARGETS ".",
    .flags =
        (const qp_flag[]){
            QP_TEXT("spool", 0, "DIR", store.spool, "folder of profiles"),
            QP_TEXT("to", 0, "TARGET", to, "store or server, see above"),
            QP_TEXT("every", 0, "TIME", store.every,
                    "push again and again, as 60s, until SIGINT or SIGTERM"),
            QP_COUNT("tries", 0, store.tries, "5", "of a server, until all the rest stays"),
            QP_TEXT("timeout", 0, "TIME", store.timeout,
                    "of a try, with the answer (default 30s)"),
            QP_TEXT("header-file", 0, "FILE", store.header_file,
                    "lines NAME: VALUE for a server, such as Authorization; else the variable "
                    "QPROF_PUSH_HEADERS"),
            QP_TEXT("ca-file", 0, "FILE", store.ca_file,
                    "certificates that https trusts (default: those of the system)"),
            QP_FLAGS_COMMON},
    .examples =
        "qprof push --spool=/var/spool/app --to=sqlite:fleet.db\n"
        "qprof push --spool=/var/spool/app --to=otlp:https://collector:4318 --every=60s",
    .run = run_push};
