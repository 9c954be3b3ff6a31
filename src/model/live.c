/* live.c: the places where recording processes put their files. */
#include "model/live.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

enum { PATH_BYTES = 512, FIELD_START = 22 };

/* Field 22 of /proc/PID/stat; 0: no such process. Fields are counted behind the name, which may
 * hold blanks and brackets itself. */
static uint64_t start_of(uint64_t pid)
{
    char path[64], stat[2048];
    qp_text_format(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    qp_file_text(path, stat, sizeof stat);
    const char *at = strrchr(stat, ')');
    for (unsigned field = 2; at && field < FIELD_START; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

bool qp_live_is_running(uint64_t pid, uint64_t start)
{
    return pid && start && start_of(pid) == start;
}

/* Folder i of the ones that are looked through; false: there are no more. */
static bool folder_at(unsigned i, char *path, size_t n_bytes)
{
    unsigned uid = (unsigned)getuid();
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (i == 0)
        qp_text_format(path, n_bytes, "%s/qprof-%u", runtime ? runtime : "", uid);
    else
        qp_text_format(path, n_bytes, "/dev/shm/qprof-%u", uid);
    return i < 2;
}

/* Where the process would put its file if neither folder could be had: its own folder. */
static bool find_beside(uint64_t pid, const char *name, char *path, size_t n_bytes)
{
    qp_text_format(path, n_bytes, "/proc/%llu/cwd/.%s-live", (unsigned long long)pid, name);
    if (access(path, R_OK) == 0)
        return true;
    qp_text_format(path, n_bytes, ".%s-live", name);
    return access(path, R_OK) == 0;
}

bool qp_live_path(uint64_t pid, char *path, size_t n_bytes)
{
    char folder[PATH_BYTES], name[64];
    uint64_t start = start_of(pid);
    qp_text_format(name, sizeof name, "%llu.%llu.qprof", (unsigned long long)pid,
                   (unsigned long long)start);
    for (unsigned i = 0; start && folder_at(i, folder, sizeof folder); i++) {
        qp_text_format(path, n_bytes, "%s/%s", folder, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    if (start && find_beside(pid, name, path, n_bytes))
        return true;
    path[0] = '\0';
    return false;
}

static void list_folder(const char *folder, qp_buf *found)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;
    while (d && (entry = readdir(d)) != NULL) {
        char *end;
        uint64_t pid = strtoull(entry->d_name, &end, 10);
        uint64_t start = *end == '.' ? strtoull(end + 1, &end, 10) : 0;
        if (strcmp(end, ".qprof") != 0 || !qp_live_is_running(pid, start))
            continue;
        qp_live_file *f = qp_buf_add(found);
        if (!f)
            break;
        f->pid = pid;
        qp_text_format(f->path, sizeof f->path, "%.255s/%.255s", folder, entry->d_name);
    }
    if (d)
        closedir(d);
}

bool qp_live_list(qp_live_file **out, size_t *n)
{
    char folder[PATH_BYTES];
    qp_buf found;
    qp_buf_init(&found, sizeof(qp_live_file));
    for (unsigned i = 0; folder_at(i, folder, sizeof folder); i++)
        list_folder(folder, &found);
    *out = qp_buf_take(&found, n);
    return *out != NULL;
}
