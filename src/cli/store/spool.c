/* spool.c: the folder that `qprof push` empties: its profiles, and those that are set aside: see push.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/store/push.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool qp_spool_is_name(const char *name)
{
    return *name != '.' && strstr(name, ".qprof");
}

/* The profiles that a recorder has finished appear under their names at once; hidden ones are not. */
bool qp_spool_list(const qp_cli *cli, const char *spool, qp_buf *names, qp_arena *arena)
{
    DIR *folder = opendir(spool);
    if (!folder)
        return qp_cli_refuse(cli, "%s: %s", spool,
                             errno == ENOENT ? "no such folder" : strerror(errno));
    bool is_good = true;
    for (struct dirent *entry = readdir(folder); entry && is_good && names->n < QP_SPOOL_NAMES;
         entry = readdir(folder)) {
        if (!qp_spool_is_name(entry->d_name))
            continue;
        const char **name = qp_buf_add(names);
        if (name)
            *name = qp_arena_text(arena, entry->d_name);
        is_good = name && *name;
    }
    closedir(folder);
    if (is_good && names->n)
        qsort(names->items, names->n, sizeof(const char *), compare_names);
    return is_good || qp_cli_refuse(cli, "%s: not enough memory for its list", spool);
}

bool qp_spool_set_aside(const qp_cli *cli, const char *spool, const char *name, const char *why)
{
    enum { TRIES = 1000, NO_REPLACE = 1 }; /* RENAME_NOREPLACE, which musl lacks */
    char path[4096], to[4096];
    bool is_moved = false;
    snprintf(path, sizeof path, "%s/%s", spool, name);
    int n = snprintf(to, sizeof to, "%s/quarantine", spool);
    bool is_there = n < (int)sizeof to && (mkdir(to, 0700) == 0 || errno == EEXIST);
    for (int i = 0; is_there && !is_moved && i < TRIES; i++) {
        if (i)
            snprintf(to, sizeof to, "%s/quarantine/%s.%d", spool, name, i);
        else
            snprintf(to, sizeof to, "%s/quarantine/%s", spool, name);
        is_moved = syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, to, NO_REPLACE) == 0;
        is_there = is_moved || errno == EEXIST;
    }
    if (is_moved)
        qp_cli_warn(cli, "%s; moved to %s", why, to);
    else
        qp_cli_warn(cli, "%s; it cannot be moved to quarantine: %s", why, strerror(errno));
    return is_moved;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool qp_spool_remove(const qp_cli *cli, const char *path, const struct stat *before)
{
    struct stat now;
    if (lstat(path, &now) != 0 || !is_same(before, &now))
        return true;
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    return qp_cli_refuse(cli, "%s: has arrived, but cannot be removed: %s", path,
                         strerror(errno));
}
