/* qprof_stub.c: the functions of qprof's headers for a runtime that ships without a profiler.
 *
 * Compile this one file into the runtime, beside the headers. It looks for a collector, libqprof.so.1,
 * when the runtime first begins a run, and forwards all calls to it. Without one every function returns
 * what the library returns while it does not run; handles are closed, so events in line are a load and a
 * branch. Needs libc and dlopen(). Guide: docs/stub.md.
 *
 *   QPROF_COLLECTOR=/path/libqprof.so.1   the collector; else libqprof.so.1 as the system finds it
 *   QPROF_COLLECTOR_VERBOSE=1             one line on standard error: which one, or why none
 *   QPROF_PERF_MAP=1                      without a collector: names of native code for perf
 *
 * Programs that run with more rights than their user ignore these variables. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include "qprof.h"

typedef void (*any_function)(void);

enum { NOT_TRIED, LOADING, LOADED, NONE };

static const uint32_t changes[2]; /* qprof_changes() */
static int state;                 /* NOT_TRIED, ... */
static int loader;                /* the process that is LOADING */
static char reason[512];          /* why there is no collector; written before state is NONE */

static int is_privileged(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

static const char *setting(const char *name)
{
    const char *text = is_privileged() ? NULL : getenv(name);
    return text && text[0] ? text : NULL;
}

#include "tools.h" /* made by stub/make.sh of tools.c: what the hooks feed without a collector */

#include "forwarders.h" /* made by stub/make.sh: names, functions[N_FUNCTIONS], forward() */

/* What an ELF header says of the machine. @return 0: it is none */
static int read_machine(const char *path, unsigned char head[20])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int is_elf = fd >= 0 && read(fd, head, 20) == 20 && !memcmp(head, "\177ELF", 4);
    if (fd >= 0)
        close(fd);
    return is_elf;
}

static void no_collector(const char *path, const char *problem)
{
    const char *shown = problem ? problem : "cannot be loaded";
    unsigned char its[20], ours[20];
    if (path[0] == '/' && read_machine(path, its) && read_machine("/proc/self/exe", ours) &&
        (memcmp(its + 4, ours + 4, 2) || memcmp(its + 18, ours + 18, 2)))
        snprintf(
            reason, sizeof reason,
            "no collector: %s: wrong architecture: %d-bit code for machine %d, and the program "
            "is %d-bit code for machine %d",
            path, its[4] * 32, its[18] | its[19], ours[4] * 32, ours[18] | ours[19]);
    else if (strstr(shown, path)) /* of dlerror() */
        snprintf(reason, sizeof reason, "no collector: %s", shown);
    else
        snprintf(reason, sizeof reason, "no collector: %s: %s", path, shown);
}

/* @return 0: refused, and reason says why */
static int bind_all(const char *path, void *library, any_function found[N_FUNCTIONS])
{
    const char *name = names;
    char text[128];
    int i;
    for (i = 0; i < N_FUNCTIONS; i++, name += strlen(name) + 1) {
        int is_needed = name[0] == '!';
        void *address;
        snprintf(text, sizeof text, "qprof_%s", name + is_needed);
        address = dlsym(library, text);
        memcpy(&found[i], &address, sizeof address);
        if (!address && is_needed) {
            memmove(text + 15, text, strlen(text) + 1);
            memcpy(text, "missing symbol ", 15);
            no_collector(path, text);
            return 0;
        }
    }
    return 1;
}

static int is_of_this_version(const char *path, const any_function found[N_FUNCTIONS])
{
    const char *version = ((const char *(*)(void))found[AT_version])();
    char text[128];
    if (strtol(version, NULL, 10) == QPROF_STUB_MAJOR)
        return 1;
    snprintf(text, sizeof text, "wrong version: %s, and the program needs %d.*", version,
             QPROF_STUB_MAJOR);
    no_collector(path, text);
    return 0;
}

static int look_up(void)
{
    const char *named = setting("QPROF_COLLECTOR");
    const char *path = named ? named : "libqprof.so.1";
    any_function found[N_FUNCTIONS];
    void *library;
    int i;
    if (named && named[0] != '/') {
        no_collector(path, "QPROF_COLLECTOR is not an absolute path");
        return NONE;
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        no_collector(path, dlerror());
        return NONE;
    }
    if (!bind_all(path, library, found) || !is_of_this_version(path, found)) {
        dlclose(library);
        return NONE;
    }
    for (i = 0; i < N_FUNCTIONS; i++)
        __atomic_store_n(&functions[i], found[i], __ATOMIC_RELEASE);
    if (setting("QPROF_COLLECTOR_VERBOSE"))
        fprintf(stderr, "qprof: collector %s, version %s\n", path, qprof_version());
    return LOADED;
}

/* Look for the collector, once. Other threads that begin a run wait. A child that was forked meanwhile
 * has none: nothing in it will finish the work. */
static void load(void)
{
    int host_errno = errno, expected = NOT_TRIED;
    if (__atomic_compare_exchange_n(&state, &expected, LOADING, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        int result;
        __atomic_store_n(&loader, (int)getpid(), __ATOMIC_RELEASE);
        result = look_up();
        if (result == NONE && setting("QPROF_COLLECTOR_VERBOSE"))
            fprintf(stderr, "qprof: %s\n", reason);
        __atomic_store_n(&state, result, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == LOADING) {
        int by = __atomic_load_n(&loader, __ATOMIC_ACQUIRE);
        if (by && by != (int)getpid())
            break;
        sched_yield();
    }
    errno = host_errno;
}

/* ---- what begins a run, and its errors ---------------------------------------------------- */

static int is_asked_for(void)
{
    return setting("QPROF") || setting("CPROF");
}

int qprof_open(unsigned version, const char *options)
{
    if (!options && !is_asked_for())
        return 0;
    load();
    return functions[AT_open] ? FUNCTION(open)(version, options) : QPROF_E_NOTFOUND;
}

int qprof_initialize(const char *initial_options, void (*callback)(qprof_MethodID))
{
    load();
    return functions[AT_initialize] ? FUNCTION(initialize)(initial_options, callback)
                                    : QPROF_E_NOTFOUND;
}

int qprof_initialize_ex(qprof_InitInfo *info)
{
    load();
    return functions[AT_initialize_ex] ? FUNCTION(initialize_ex)(info) : QPROF_E_NOTFOUND;
}

void qprof_set_clock(uint64_t (*now)(void))
{
    load();
    if (functions[AT_set_clock])
        FUNCTION(set_clock)(now);
}

int qprof_set_program(const char *script, int n_arguments, const char *const *arguments,
                      const char *host)
{
    if (is_asked_for())
        load();
    return functions[AT_set_program]
               ? FUNCTION(set_program)(script, n_arguments, arguments, host)
               : QPROF_E_STATE;
}

int qprof_set_labels(const char *labels)
{
    if (is_asked_for())
        load();
    return functions[AT_set_labels] ? FUNCTION(set_labels)(labels) : QPROF_E_STATE;
}

const char *qprof_error_text(void)
{
    int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    return now == LOADED    ? FUNCTION(error_text)()
           : now == LOADING ? "no collector: the process was forked while it was being loaded"
           : now == NONE    ? reason
                            : "";
}
