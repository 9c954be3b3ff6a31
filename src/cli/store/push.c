/* push.c: `qprof push`: the profiles of a folder go into a store, and then from the folder. Read push_file
 * first. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text/unit.h"
#include "cli/store/store.h"

typedef struct {
    qp_cli *cli;
    qp_store *store;
    const char *spool;
    uint64_t n_pushed, n_known, n_aside, n_left, calls;
} pusher;

/* ---- the folder ----------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_profile_name(const char *name)
{
    return *name != '.' && strstr(name, ".qprof");
}

/* Would the store be taken for a profile of the folder? */
static bool is_among_profiles(const pusher *x, const char *store)
{
    char real[PATH_MAX], folder[PATH_MAX + 4];
    struct stat a, b;
    const char *path = realpath(store, real) ? real : store, *slash = strrchr(path, '/'),
               *name = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s.", (int)(name - path), path);
    return is_profile_name(name) && stat(folder, &a) == 0 && stat(x->spool, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The profiles that a recorder has finished appear under their names at once; hidden ones are not.
 * @param names  an empty buffer of const char * @return false: a message was printed */
static bool list_names(const pusher *x, qp_buf *names, qp_arena *arena)
{
    DIR *folder = opendir(x->spool);
    if (!folder)
        return qp_cli_refuse(x->cli, "%s: %s", x->spool,
                             errno == ENOENT ? "no such folder" : strerror(errno));
    bool is_good = true;
    for (struct dirent *entry = readdir(folder); entry && is_good; entry = readdir(folder)) {
        if (!is_profile_name(entry->d_name))
            continue;
        const char **name = qp_buf_add(names);
        if (name)
            *name = qp_arena_text(arena, entry->d_name);
        is_good = name && *name;
    }
    closedir(folder);
    if (is_good && names->n)
        qsort(names->items, names->n, sizeof(const char *), compare_names);
    return is_good || qp_cli_refuse(x->cli, "%s: not enough memory for its list", x->spool);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Move a file to the folder `quarantine`, under a name that is free there. */
static void set_aside(pusher *x, const char *path, const char *name, const char *why)
{
    enum { TRIES = 1000, NO_REPLACE = 1 }; /* RENAME_NOREPLACE, which musl lacks */
    char to[4096];
    bool is_moved = false;
    int n = snprintf(to, sizeof to, "%s/quarantine", x->spool);
    bool is_there = n < (int)sizeof to && (mkdir(to, 0700) == 0 || errno == EEXIST);
    for (int i = 0; is_there && !is_moved && i < TRIES; i++) {
        if (i)
            snprintf(to, sizeof to, "%s/quarantine/%s.%d", x->spool, name, i);
        else
            snprintf(to, sizeof to, "%s/quarantine/%s", x->spool, name);
        is_moved = syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, to, NO_REPLACE) == 0;
        is_there = is_moved || errno == EEXIST;
    }
    if (is_moved)
        qp_cli_warn(x->cli, "%s; moved to %s", why, to);
    else
        qp_cli_warn(x->cli, "%s; it cannot be moved to quarantine: %s", why, strerror(errno));
    x->n_aside += is_moved;
    x->n_left += !is_moved;
}

/* ---- pushing -------------------------------------------------------------------------------- */

/* Remove what is in the store, unless another profile has taken its name. */
static void remove_pushed(pusher *x, const char *path, const struct stat *before)
{
    struct stat now;
    if (lstat(path, &now) != 0 || !is_same(before, &now))
        return;
    if (unlink(path) == 0 || errno == ENOENT)
        return;
    qp_cli_warn(x->cli, "%s: is in the store, but cannot be removed: %s", path,
                strerror(errno));
    x->n_left++;
}

/* @return false: the store cannot be written, and a message was printed */
static bool push_file(pusher *x, const char *store, const char *name)
{
    char path[4096];
    qp_error error;
    struct stat before;
    uint64_t calls;
    if (snprintf(path, sizeof path, "%s/%s", x->spool, name) >= (int)sizeof path ||
        lstat(path, &before) != 0)
        return true; /* another push was faster */
    if (!S_ISREG(before.st_mode)) {
        qp_cli_warn(x->cli, "%s: not a file; it stays", path);
        x->n_left++;
        return true;
    }
    switch (qp_store_import(x->store, path, &calls, &error)) {
    case QP_IMPORT_ADDED:
    case QP_IMPORT_REPLACED:
        x->n_pushed++;
        x->calls += calls;
        remove_pushed(x, path, &before);
        break;
    case QP_IMPORT_KNOWN:
        x->n_known++;
        remove_pushed(x, path, &before);
        break;
    case QP_IMPORT_REFUSED:
        set_aside(x, path, name, error.text);
        break;
    case QP_IMPORT_UNREAD:
        if (access(path, F_OK) == 0) {
            qp_cli_warn(x->cli, "%s; it stays", error.text);
            x->n_left++;
        }
        break;
    case QP_IMPORT_FAILED:
        return qp_cli_refuse(x->cli, "%s: %s: %s stays, with all after it", store, error.text,
                             path);
    }
    return true;
}

static void print_result(const pusher *x)
{
    char text[QP_NUMBER_BYTES];
    qp_out *out = x->cli->screen.out;
    qp_screen_name(&x->cli->screen, x->spool, 0);
    qp_out_format(out, ": %s pushed", qp_unit_things(text, x->n_pushed, "profile"));
    if (x->n_pushed)
        qp_out_format(out, " with %s", qp_unit_things(text, x->calls, "call"));
    if (x->n_known)
        qp_out_format(out, ", %s in the store already", qp_unit_count(text, x->n_known));
    if (x->n_aside)
        qp_out_format(out, ", %s moved to quarantine", qp_unit_count(text, x->n_aside));
    if (x->n_left)
        qp_out_format(out, ", %s left", qp_unit_count(text, x->n_left));
    qp_out_char(out, '\n');
}

static int push_all(pusher *x, const char *store)
{
    qp_error error;
    qp_buf names = QP_BUF(const char *);
    qp_arena arena;
    qp_arena_init(&arena);
    int status = QP_EXIT_UNUSABLE;
    if (list_names(x, &names, &arena)) {
        x->store = qp_store_open(store, QP_STORE_WRITE, &error);
        bool is_good = x->store || qp_cli_refuse(x->cli, "%s: %s", store, error.text);
        for (size_t i = 0; is_good && i < names.n; i++)
            is_good = push_file(x, store, ((const char **)names.items)[i]);
        if (x->store)
            print_result(x);
        status = !is_good                  ? QP_EXIT_UNUSABLE
                 : x->n_aside || x->n_left ? QP_EXIT_FAILED
                                           : QP_EXIT_CLEAN;
        qp_store_close(x->store);
    }
    qp_free(names.items);
    qp_arena_fini(&arena);
    return status;
}

static int run_push(qp_cli *cli)
{
    static const char scheme[] = "sqlite:";
    const char *to = cli->args.to;
    pusher x = {.cli = cli, .spool = cli->args.store.spool};
    if (!x.spool || !to)
        return qp_cli_fail(cli, "missing %s; usage: qprof push --spool=DIR --to=sqlite:FILE",
                           x.spool ? "--to=sqlite:FILE" : "--spool=DIR");
    if (cli->args.n_operands)
        return qp_cli_fail(cli,
                           "%s: no operand is expected; usage: qprof push --spool=DIR "
                           "--to=sqlite:FILE",
                           cli->args.operands[0]);
    if (strncmp(to, scheme, sizeof scheme - 1) != 0 || !to[sizeof scheme - 1])
        return qp_cli_fail(cli, "--to=%s: expected sqlite:FILE", to);
    to += sizeof scheme - 1;
    if (is_among_profiles(&x, to))
        return qp_cli_fail(cli,
                           "%s: a store in the folder of profiles would be taken for one: give "
                           "it another name",
                           to);
    return push_all(&x, to);
}

const qp_command qp_command_push = {
    .name = "push",
    .operands = "--spool=DIR --to=sqlite:FILE",
    .summary = "profiles of a folder, moved to a store",
    .about =
        "Imports each profile of a folder (*.qprof) as `qprof store import` does, and removes "
        "the "
        "file when the store has it on the disk. Wherever it is interrupted, each profile "
        "is in the store once or still in the folder, or both, and the next push continues. "
        "Damaged files are named and moved to DIR/quarantine; what processes still record "
        "stays. Exit status 1: some were moved there, or stayed.",
    .flags = (const qp_flag[]){QP_TEXT("spool", 0, "DIR", store.spool, "folder of profiles"),
                               QP_TEXT("to", 0, "sqlite:FILE", to, "store, see qprof store"),
                               QP_FLAGS_COMMON},
    .examples = "qprof push --spool=/var/spool/app --to=sqlite:fleet.db",
    .run = run_push};
