/* native_code.c: where the native code of functions lies, for perf: a map of names, and a dump with
 * the code. Read qp_native_code_add first.
 *
 * Formats: tools/perf/Documentation/jit-interface.txt and jitdump-specification.txt of Linux. A file is
 * opened for each function: a host may close descriptors that it does not know. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "record/control/control.h"

enum {
    NAME_BYTES = 512,
    DUMP_MAGIC = 0x4A695444,
    DUMP_VERSION = 1,
    DUMP_LOAD = 0, /* kind of record: code is loaded */
#if defined(__x86_64__)
    MACHINE = 62
#elif defined(__i386__)
    MACHINE = 3
#elif defined(__aarch64__)
    MACHINE = 183
#elif defined(__s390x__)
    MACHINE = 22
#else
    MACHINE = 0
#endif
};

typedef struct {
    uint32_t magic, version, n_bytes, machine, reserved, pid;
    uint64_t at, flags;
} dump_head;

typedef struct {
    uint32_t kind, n_bytes;
    uint64_t at;
    uint32_t pid, tid;
    uint64_t run_address, code_address, code_bytes, number;
} dump_load; /* the name and the code follow */

_Static_assert(sizeof(dump_head) == 40 && sizeof(dump_load) == 56, "as specified");

/* A file of this process. */
typedef struct {
    const char *name; /* with the process's number */
    pid_t owner;      /* of the file that was begun; a forked child begins its own */
} native_file;

static native_file map = {.name = "/tmp/perf-%d.map"}, dump = {.name = "jit-%d.dump"};

/* @return the descriptor; -1: it cannot be opened. *is_new: nothing is in the file */
static int open_file(native_file *f, char *path, size_t n_bytes, bool *is_new)
{
    pid_t pid = getpid();
    *is_new = f->owner != pid;
    snprintf(path, n_bytes, f->name, (int)pid);
    if (*is_new)
        unlink(path); /* of an earlier process */
    int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (*is_new ? O_CREAT | O_EXCL : 0);
    int fd = open(path, flags, 0600);
    f->owner = fd < 0 ? f->owner : pid;
    return fd;
}

static bool write_whole(int fd, const void *bytes, size_t n_bytes)
{
    return write(fd, bytes, n_bytes) == (ssize_t)n_bytes;
}

/* perf finds a dump by the page that its process has mapped of it. */
static bool begin_dump(int fd)
{
    dump_head h = {DUMP_MAGIC,         DUMP_VERSION,         sizeof h, MACHINE, 0,
                   (uint32_t)getpid(), qp_clock_monotonic(), 0};
    return write_whole(fd, &h, sizeof h) &&
           mmap(NULL, sizeof h, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
}

static bool write_load(int fd, const char *name, const void *start, size_t n_bytes)
{
    static uint64_t n_loads;
    const size_t name_bytes = strlen(name) + 1;
    const uint64_t address = (uintptr_t)start;
    dump_load r = {DUMP_LOAD,
                   (uint32_t)(sizeof r + name_bytes + n_bytes),
                   qp_clock_monotonic(),
                   (uint32_t)getpid(),
                   (uint32_t)qp_here.system_id,
                   address,
                   address,
                   n_bytes,
                   n_loads++};
    return write_whole(fd, &r, sizeof r) && write_whole(fd, name, name_bytes) &&
           write_whole(fd, start, n_bytes);
}

static bool write_line(int fd, const char *name, const void *start, size_t n_bytes)
{
    char line[NAME_BYTES + 64];
    int n = snprintf(line, sizeof line, "%llx %zx %s\n", (unsigned long long)(uintptr_t)start,
                     n_bytes, name);
    return write_whole(fd, line, (size_t)n);
}

static void add_to(native_file *f, const char *name, const void *start, size_t n_bytes)
{
    char path[64];
    bool is_new, is_written = false;
    int fd = open_file(f, path, sizeof path, &is_new);
    if (fd >= 0) {
        is_written = f == &map
                         ? write_line(fd, name, start, n_bytes)
                         : (!is_new || begin_dump(fd)) && write_load(fd, name, start, n_bytes);
        close(fd);
    }
    if (is_written)
        return;
    qp_count(&qp_recorder.space, QP_D_e_io);
    qp_recorder_log("%s: cannot be written; perf will not name native code", path);
}

void qp_native_code_add(const qp_method *m, const void *start, size_t n_bytes)
{
    char name[NAME_BYTES];
    const char *class_name = qp_texts_of(&qp_recorder.texts, &m->class_name);
    snprintf(name, sizeof name, "%s%s%s", class_name, *class_name ? "." : "",
             qp_texts_of(&qp_recorder.texts, &m->name));
    for (char *c = name; *(c += strcspn(c, "\n\r"));)
        *c = ' ';
    if (qp_recorder.options.number[QP_OPT_perf_map])
        add_to(&map, name, start, n_bytes);
    if (qp_recorder.options.number[QP_OPT_jitdump])
        add_to(&dump, name, start, n_bytes);
}
