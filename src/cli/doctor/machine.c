/* machine.c: facts about this machine that matter to recordings. Read qp_facts_of_machine() first. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/os/clock_reads.h"
#include "base/os/file.h"
#include "base/os/mapping.h"
#include "base/os/perf.h"
#include "base/text/unit.h"
#include "cli/doctor/doctor.h"
#include "format/layout.h"
#include "format/options.h"
#include "model/model.h"

enum { PATH_BYTES = 4096, SLOW_READ_NS = 100, SMALL_PROFILE_BYTES = 64 << 10 };
#define NO_LIMIT UINT64_MAX

/* The first line of a file of the system. @return to; "" if there is none */
static const char *system_text(const char *path, char *to, size_t n_bytes)
{
    qp_file_text(path, to, n_bytes);
    to[strcspn(to, "\n")] = '\0';
    return to;
}

/* -memory-limit, as it is without the option. */
static uint64_t usual_memory(void)
{
    static qp_options o;
    qp_options_init(&o);
    return o.number[QP_OPT_memory_limit];
}

/* ---- clock and processor --------------------------------------------------------------------- */

static double measure_read(bool has_tsc)
{
    enum { ROUNDS = 30, READS = 1000 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begun = qp_clock_monotonic();
        for (int k = 0; k < READS; k++)
            has_tsc ? qp_clock_tsc() : qp_clock_monotonic();
        uint64_t took = qp_clock_monotonic() - begun;
        least = took < least ? took : least;
    }
    return (double)least / READS;
}

static void add_processor(qp_facts *f, bool has_tsc)
{
    enum { ROUNDS = 2000 };
    char text[8192], kind[128] = "unknown";
    qp_clock_reads least = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    qp_file_text("/proc/cpuinfo", text, sizeof text);
    const char *name = strstr(text, "model name"), *colon = name ? strchr(name, ':') : NULL;
    if (colon && colon[1])
        snprintf(kind, sizeof kind, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    for (int i = 0; has_tsc && i < ROUNDS; i++)
        qp_clock_reads_add(&least);
    qp_fact_add(f, "processor", "%s, %ld online%s", kind, sysconf(_SC_NPROCESSORS_ONLN),
                !has_tsc                      ? ""
                : qp_clock_reads_wait(&least) ? "; a clock read waits for loads before it"
                                              : "; clock reads overlap with loads before them");
}

static void add_clock(qp_facts *f)
{
    char source[64];
    bool has_tsc = qp_clock_has_tsc();
    double ns = measure_read(has_tsc);
    if (has_tsc)
        qp_fact_add(f, "clock",
                    "the processor's counter; a read takes %.1f ns, a call needs two", ns);
    else
        qp_fact_add(
            f, "clock",
            "the system's clock (%s), as the processor's counter is not reliable here; a "
            "read takes %.1f ns, a call needs two",
            system_text("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        source, sizeof source),
            ns);
    if (ns > SLOW_READ_NS)
        qp_fact_advise(f, QP_FACT_NOTE,
                       "record with qprof run --time=adaptive, which reads the clock for some "
                       "calls only");
    add_processor(f, has_tsc);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void add_address_space(qp_facts *f)
{
    char size[QP_NUMBER_BYTES], share[QP_NUMBER_BYTES], all[QP_NUMBER_BYTES];
    uint64_t space = qp_mapping_address_space(), usual = usual_memory();
    uint64_t reserved = qp_mapping_share(usual, space);
    if (space == NO_LIMIT)
        qp_fact_add(f, "addresses", "no limit of address space; a recording reserves %s",
                    qp_unit_size(all, usual));
    else
        qp_fact_add(f, "addresses", "address space is limited to %s; a recording reserves %s",
                    qp_unit_size(size, space), qp_unit_size(share, reserved));
    if (reserved < usual)
        qp_fact_advise(f, QP_FACT_NOTE,
                       "calls on new paths are only counted when this is full: raise ulimit -v "
                       "to have %s",
                       qp_unit_size(all, usual));
}

static void add_file_size(qp_facts *f)
{
    struct rlimit limit;
    char size[QP_NUMBER_BYTES];
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        qp_fact_add(f, "file size", "no limit");
        return;
    }
    qp_fact_add(f, "file size", "files are limited to %s", qp_unit_size(size, limit.rlim_cur));
    if (limit.rlim_cur < SMALL_PROFILE_BYTES)
        qp_fact_advise(f, QP_FACT_PROBLEM, "no profile fits: raise ulimit -f");
    else if (limit.rlim_cur < usual_memory())
        qp_fact_advise(f, QP_FACT_NOTE,
                       "profiles and traces end there: raise ulimit -f, or set "
                       "-memory-limit below it");
}

/* The memory limit of a control group and of those above it. @return NO_LIMIT: none is known */
static uint64_t limit_of_groups(const char *root, const char *group, const char *file)
{
    char path[PATH_BYTES], text[64];
    uint64_t least = NO_LIMIT;
    int n = snprintf(path, sizeof path / 2, "%s%s", root, group);
    for (size_t at = n > 0 ? strlen(path) : 0; at >= strlen(root); at--) {
        if (path[at] && path[at] != '/')
            continue;
        snprintf(path + at, sizeof path - at, "/%s", file);
        uint64_t limit = qp_file_text(path, text, sizeof text) && *text >= '0' && *text <= '9'
                             ? strtoull(text, NULL, 10)
                             : NO_LIMIT;
        least = limit < least ? limit : least;
        path[at] = '\0';
    }
    return least < (uint64_t)1 << 60 ? least
                                     : NO_LIMIT; /* version 1 has a large number for none */
}

static uint64_t group_limit(void)
{
    char text[4096];
    uint64_t least = NO_LIMIT;
    qp_file_text("/proc/self/cgroup", text, sizeof text);
    for (char *line = text, *next; line && *line; line = next) { /* 0::PATH, or N:memory:PATH */
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        char *kind = strchr(line, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;
        if (!path)
            continue;
        uint64_t limit =
            kind + 1 == path ? limit_of_groups("/sys/fs/cgroup", path + 1, "memory.max")
            : strncmp(kind + 1, "memory:", 7) == 0
                ? limit_of_groups("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes")
                : NO_LIMIT;
        least = limit < least ? limit : least;
    }
    return least;
}

static void add_memory(qp_facts *f)
{
    char overcommit[16], maps[24], size[QP_NUMBER_BYTES], all[QP_NUMBER_BYTES];
    static const char *const kinds[] = {"heuristic", "always", "strict"};
    uint64_t limit = group_limit();
    unsigned kind = (unsigned)atoi(
        system_text("/proc/sys/vm/overcommit_memory", overcommit, sizeof overcommit));
    system_text("/proc/sys/vm/max_map_count", maps, sizeof maps);
    qp_fact_add(f, "memory", "%s%s; overcommit %s (%s); %s mappings a process",
                limit == NO_LIMIT ? "no limit by a control group"
                                  : "a control group limits it to ",
                limit == NO_LIMIT ? "" : qp_unit_size(size, limit), overcommit,
                kind < 3 ? kinds[kind] : "unknown", *maps ? maps : "unknown");
    if (limit < 2 * usual_memory())
        qp_fact_advise(f, QP_FACT_NOTE,
                       "a recording takes up to %s of it: set a lower -memory-limit",
                       qp_unit_size(all, usual_memory()));
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef enum {
    RECORDS,
    CANNOT_OPEN, /* the recorder tries the next place */
    CANNOT_GROW  /* nothing is recorded */
} trial;

/* Is a file limited to less than a recording begins with? Then that is why it has no space. */
static bool are_files_short(void)
{
    enum { FIRST_BYTES = 256 << 10 };
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < FIRST_BYTES;
}

/* Begin as the recorder does: a file in a folder, mapped and grown. @param folder  NULL: memory alone
 * @param is_own  only if it belongs to this user alone; it is made
 * @return errno explains */
static trial try_recording(const char *folder, bool is_own)
{
    static qp_mapping map;
    char path[PATH_BYTES];
    struct stat st;
    bool is_new = is_own && mkdir(folder, 0700) == 0;
    if (is_own && (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
                   (st.st_mode & 077))) {
        errno = errno ? errno : EACCES;
        return CANNOT_OPEN;
    }
    snprintf(path, sizeof path, "%s/.doctor.%ld", folder ? folder : "", (long)getpid());
    int error = qp_mapping_open(&map, folder ? path : NULL,
                                qp_mapping_share(usual_memory(), qp_mapping_address_space()));
    trial result = error ? CANNOT_OPEN : RECORDS;
    if (!error && qp_mapping_grow(&map, QP_HEAD_BYTES) != QP_GROWN)
        result = CANNOT_GROW;
    if (!error)
        qp_mapping_close(&map);
    if (folder)
        unlink(path);
    if (is_new)
        rmdir(folder);
    errno = error == ENOSPC && are_files_short() ? EFBIG : error;
    return result;
}

static const char *free_space(const char *folder, char *to)
{
    struct statvfs fs;
    char size[QP_NUMBER_BYTES];
    *to = '\0';
    if (statvfs(folder, &fs) == 0)
        snprintf(to, QP_NUMBER_BYTES, ", %s free",
                 qp_unit_size(size, (uint64_t)fs.f_bavail * fs.f_frsize));
    return to;
}

static bool is_short_of_space(const char *folder)
{
    struct statvfs fs;
    return statvfs(folder, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < usual_memory();
}

/* Folders of live files, then the folder of the profile, then memory alone.
 * @param why  [128] receives why the first is not used; "" @return NULL: memory alone */
static const char *place_of_live_files(trial *result, char *folder, size_t n_bytes, char *why)
{
    for (unsigned i = 0; qp_live_folder(i, (unsigned)geteuid(), folder, n_bytes); i++) {
        if (strrchr(folder, '/') == folder)
            continue; /* no XDG_RUNTIME_DIR */
        errno = 0;
        *result = try_recording(folder, true);
        if (*result != CANNOT_OPEN)
            return folder;
        if (!*why)
            snprintf(why, 128, "; %.60s: %s", folder, strerror(errno));
    }
    *result = try_recording(".", false);
    if (*result != CANNOT_OPEN)
        return ".";
    *result = try_recording(NULL, false);
    return NULL;
}

static void add_live_files(qp_facts *f)
{
    char text[512], parent[512], room[QP_NUMBER_BYTES], why[128] = "";
    trial result;
    const char *folder = place_of_live_files(&result, text, sizeof text, why);
    bool is_shared = folder && strcmp(folder, ".") == 0;
    snprintf(parent, sizeof parent, "%s", folder ? folder : ".");
    if (strrchr(parent, '/'))
        *strrchr(parent, '/') = '\0';
    qp_fact_add(f, "live files", "%s%s%s",
                !folder     ? "none can be written"
                : is_shared ? "beside the profile, in this folder"
                            : folder,
                folder ? free_space(parent, room) : "", why);
    if (result != RECORDS)
        qp_fact_advise(f, QP_FACT_PROBLEM,
                       "there is no room for the first MiB of a recording: raise ulimit -f and "
                       "ulimit -v, or free memory and disk");
    else if (!folder)
        qp_fact_advise(f, QP_FACT_NOTE,
                       "a program that is killed loses its profile: let XDG_RUNTIME_DIR name a "
                       "folder of your own");
    else if (is_short_of_space(parent))
        qp_fact_advise(f, QP_FACT_NOTE,
                       "a recording ends where it is full; in a container: docker run "
                       "--shm-size=1g");
    else if (is_shared)
        qp_fact_advise(f, QP_FACT_NOTE,
                       "programs may wait for the disk: let XDG_RUNTIME_DIR name a folder of "
                       "your own");
}

static void add_left_files(qp_facts *f)
{
    qp_live_file *files = NULL;
    struct stat st;
    char left[QP_NUMBER_BYTES], size[QP_NUMBER_BYTES], running[QP_NUMBER_BYTES];
    uint64_t n_left = 0, n_bytes = 0, n_running = 0;
    size_t n = 0;
    if (!qp_live_list(true, &files, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        n_running += files[i].is_running;
        if (files[i].is_running || stat(files[i].path, &st) != 0)
            continue;
        n_left++;
        n_bytes += (uint64_t)st.st_blocks * 512;
    }
    qp_free(files);
    qp_fact_add(f, "recordings", "%s now; %s left by killed programs, %s",
                qp_unit_amount(running, n_running, "processes"),
                qp_unit_things(left, n_left, "profile"), qp_unit_size(size, n_bytes));
    if (n_left)
        qp_fact_advise(
            f, QP_FACT_NOTE,
            "qprof list-live --save moves them here, qprof list-live --remove deletes "
            "them");
}

static void add_folder(qp_facts *f)
{
    char folder[PATH_BYTES] = "", room[QP_NUMBER_BYTES];
    bool is_there = getcwd(folder, sizeof folder) != NULL;
    if (is_there && access(".", W_OK | X_OK) == 0) {
        qp_fact_add(f, "folder", "profiles can be written to %.400s%s", folder,
                    free_space(".", room));
        if (is_short_of_space("."))
            qp_fact_advise(f, QP_FACT_NOTE, "name a file elsewhere: qprof run -o FILE");
        return;
    }
    qp_fact_add(f, "folder", "profiles cannot be written to %.400s: %s",
                is_there ? folder : "the current folder", strerror(errno));
    qp_fact_advise(
        f, QP_FACT_PROBLEM,
        "change to a folder of your own, or name a file elsewhere: qprof run -o FILE");
}

/* ---- options and rights ---------------------------------------------------------------------- */

static void keep_unknown(void *to, const char *name)
{
    char *unknown = to;
    if (!*unknown)
        snprintf(unknown, 64, "%.63s", name);
}

static qp_parse pass_over(void *unused, qp_options *o, const char *file, qp_error *error)
{
    (void)unused, (void)o;
    if (access(file, R_OK) == 0)
        return QP_PARSE_OK;
    qp_error_fail(error, "-config=%s: %s", file, strerror(errno));
    return QP_PARSE_SYNTAX;
}

/* Can profiles be written where -output says? A folder with a conversion is not known here. */
static void check_output(qp_facts *f, const char *output)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(output, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - output) : 0, output);
    if (*folder && !strchr(folder, '%') && access(folder, W_OK | X_OK) != 0)
        qp_fact_advise(f, QP_FACT_PROBLEM,
                       "-output=%.200s: profiles cannot be written there: %s", output,
                       strerror(errno));
}

static void add_variable(qp_facts *f)
{
    static qp_options o;
    char unknown[64] = "";
    const qp_option_events events = {
        .unknown = keep_unknown, .config = pass_over, .to = unknown};
    const char *words = getenv("QPROF");
    qp_error error = {0};
    if (!words) {
        qp_fact_add(f, "QPROF", "not set: programs record under qprof run");
        return;
    }
    qp_fact_add(f, "QPROF", "'%.400s': each program with the library records", words);
    qp_options_init(&o);
    if (qp_options_parse(&o, words, &events, &error) != QP_PARSE_OK)
        qp_fact_advise(f, QP_FACT_PROBLEM,
                       "%.200s: correct it (qprof run --options), or unset QPROF", error.text);
    else if (*unknown)
        qp_fact_advise(f, QP_FACT_NOTE, "%s is no option (qprof run --options lists them)",
                       unknown);
    else
        check_output(f, qp_option_text(&o, QP_OPT_output));
}

static void add_rights(qp_facts *f)
{
    char level[16], scope[16], why[160];
    int refused = qp_perf_choose(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES);
    system_text("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
    system_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    qp_fact_add(f, "counters",
                "-clock=cache-misses and mispredicted-branches %s (perf_event_paranoid %s)",
                refused ? "cannot be used" : "can be used", *level ? level : "unknown");
    if (refused) {
        qp_perf_explain(refused, why, sizeof why);
        qp_fact_advise(f, QP_FACT_NOTE, "%s; all other clocks work", why);
    }
    qp_fact_add(
        f, "run --pid",
        "reads the live files of programs of this user; ptrace is not used (ptrace_scope %s)",
        *scope ? scope : "none");
}

void qp_facts_of_machine(qp_facts *f)
{
    add_clock(f);
    add_address_space(f);
    add_file_size(f);
    add_memory(f);
    add_live_files(f);
    add_left_files(f);
    add_folder(f);
    add_variable(f);
    add_rights(f);
}
