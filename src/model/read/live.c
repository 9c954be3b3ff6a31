/* live.c: the places where recording processes put their files. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/buf.h"
#include "model/model.h"

enum { PATH_BYTES = 512, FIELD_START = 22 };

/* Field 22 of /proc/PID/stat; 0: no such process. Fields are counted after the name, which may
 * contain blanks and brackets.
 * @param has_ended  receives whether it only waits for its parent; NULL: not wanted */
static uint64_t look_at(uint64_t pid, bool *has_ended)
{
    char path[64], stat[2048];
    qp_text_format(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    qp_file_text(path, stat, sizeof stat);
    const char *at = strrchr(stat, ')');
    if (has_ended)
        *has_ended = at && at[1] && (at[2] == 'Z' || at[2] == 'X');
    for (unsigned field = 2; at && field < FIELD_START; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

static uint64_t start_of(uint64_t pid)
{
    return look_at(pid, NULL);
}

bool qp_live_is_running(uint64_t pid, uint64_t start)
{
    bool has_ended;
    return pid && start && look_at(pid, &has_ended) == start && !has_ended;
}

/* The user of a process; of one that has ended, this user. */
static unsigned owner_of(uint64_t pid)
{
    char path[64];
    struct stat st;
    qp_text_format(path, sizeof path, "/proc/%llu", (unsigned long long)pid);
    return stat(path, &st) == 0 ? (unsigned)st.st_uid : (unsigned)getuid();
}

bool qp_live_folder(unsigned i, unsigned uid, char *path, size_t n_bytes)
{
    const char *runtime = uid == (unsigned)getuid() ? getenv("XDG_RUNTIME_DIR") : NULL;
    if (i == 0 && uid != (unsigned)getuid())
        qp_text_format(path, n_bytes, "/run/user/%u/qprof-%u", uid, uid);
    else if (i == 0)
        qp_text_format(path, n_bytes, "%s/qprof-%u", runtime ? runtime : "", uid);
    else
        qp_text_format(path, n_bytes, "/dev/shm/qprof-%u", uid);
    return i < 2;
}

/* Where the process puts its file if neither folder can be used: its current folder. */
static bool find_beside(uint64_t pid, const char *name, char *path, size_t n_bytes)
{
    qp_text_format(path, n_bytes, "/proc/%llu/cwd/.%s-live", (unsigned long long)pid, name);
    if (access(path, R_OK) == 0)
        return true;
    qp_text_format(path, n_bytes, ".%s-live", name);
    return access(path, R_OK) == 0;
}

/* PID.START.qprof, or PID.START-RUN.qprof of a later run of the same process. */
static bool parse_name(const char *name, uint64_t *pid, uint64_t *start)
{
    char *end;
    *pid = strtoull(name, &end, 10);
    *start = *pid && *end == '.' ? strtoull(end + 1, &end, 10) : 0;
    if (*start && *end == '-')
        strtoull(end + 1, &end, 10);
    return *start && strcmp(end, ".qprof") == 0;
}

/* Call seen(to, path, pid, start) for all live files of a user. */
static void each_file(unsigned uid, void (*seen)(void *, const char *, uint64_t, uint64_t),
                      void *to)
{
    char folder[PATH_BYTES], path[PATH_BYTES];
    uint64_t pid, start;
    for (unsigned i = 0; qp_live_folder(i, uid, folder, sizeof folder); i++) {
        DIR *d = opendir(folder);
        for (const struct dirent *entry; d && (entry = readdir(d)) != NULL;) {
            qp_text_format(path, sizeof path, "%.255s/%.255s", folder, entry->d_name);
            if (parse_name(entry->d_name, &pid, &start))
                seen(to, path, pid, start);
        }
        if (d)
            closedir(d);
    }
}

/* The file that is looked for: that of the process that runs, else the newest one that a process
 * has left. */
typedef struct {
    uint64_t pid;   /* 0: of any process that has ended */
    uint64_t start; /* of the process that runs; 0: none */
    bool may_have_died;
    bool is_running;     /* the file in path is of the process that runs */
    uint64_t written_at; /* ns since 1970 */
    char path[PATH_BYTES];
} wanted_file;

static void prefer(void *to, const char *path, uint64_t pid, uint64_t start)
{
    wanted_file *w = to;
    struct stat st;
    bool is_running = w->start && start == w->start;
    bool is_wanted = w->pid ? pid == w->pid && (is_running || w->may_have_died)
                            : !qp_live_is_running(pid, start);
    if (!is_wanted || stat(path, &st) != 0 || (!w->pid && st.st_size == 0) ||
        access(path, R_OK) != 0)
        return;
    uint64_t written_at =
        (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    if (w->path[0] && (is_running < w->is_running ||
                       (is_running == w->is_running && written_at < w->written_at)))
        return;
    w->is_running = is_running;
    w->written_at = written_at;
    qp_text_format(w->path, sizeof w->path, "%s", path);
}

bool qp_live_path(uint64_t pid, bool may_have_died, char *path, size_t n_bytes)
{
    char name[64];
    wanted_file w = {.pid = pid, .start = start_of(pid), .may_have_died = may_have_died};
    each_file(owner_of(pid), prefer, &w);
    qp_text_format(path, n_bytes, "%s", w.path);
    if (path[0])
        return true;
    qp_text_format(name, sizeof name, "%llu.%llu.qprof", (unsigned long long)pid,
                   (unsigned long long)w.start);
    if (w.start && find_beside(pid, name, path, n_bytes))
        return true;
    path[0] = '\0';
    return false;
}

bool qp_live_left(char *path, size_t n_bytes)
{
    wanted_file w = {.pid = 0};
    each_file((unsigned)getuid(), prefer, &w);
    qp_text_format(path, n_bytes, "%s", w.path);
    return path[0] != '\0';
}

void qp_live_why(uint64_t pid, char *to, size_t n_bytes)
{
    char folder[PATH_BYTES];
    qp_text_format(to, n_bytes, "%s",
                   start_of(pid) ? "it is not recording: it has no live profile"
                                 : "no such process");
    for (unsigned i = 0;
         start_of(pid) && qp_live_folder(i, owner_of(pid), folder, sizeof folder); i++)
        if (access(folder, R_OK | X_OK) != 0 && errno == EACCES)
            qp_text_format(to, n_bytes, "%s: %s", folder, strerror(errno));
}

typedef struct {
    qp_buf found; /* qp_live_file */
    bool has_left;
} live_list;

static void list_file(void *to, const char *path, uint64_t pid, uint64_t start)
{
    live_list *list = to;
    bool is_running = qp_live_is_running(pid, start);
    qp_live_file *f = is_running || list->has_left ? qp_buf_add(&list->found) : NULL;
    if (!f)
        return;
    f->pid = pid;
    f->is_running = is_running;
    qp_text_format(f->path, sizeof f->path, "%s", path);
}

bool qp_live_list(bool has_left, qp_live_file **out, size_t *n)
{
    live_list list = {QP_BUF(qp_live_file), has_left};
    each_file((unsigned)getuid(), list_file, &list);
    *out = qp_buf_take(&list.found, n);
    return *out != NULL;
}
