/* ---- other tools: what the hooks feed while there is no collector -------------------------
 *
 * USDT probes, if <sys/sdt.h> is there when this file is compiled: function__entry, function__return,
 * resume and define of the provider qprof. A tracer that attaches counts itself in a semaphore, which is the
 * gate of the handle here: so events in line reach the probes from then on, and cost nothing before.
 * Native code: the map of perf, with QPROF_PERF_MAP=1, and an agent of Intel's JIT profiling API. */
#if defined(__has_include) && !defined(QPROF_STUB_NO_PROBES)
#if __has_include(<sys/sdt.h>)
#define HAS_PROBES 1
#endif
#endif

static qprof_pulse no_pulse = {.top = QPROF_TOP_BUSY}; /* so that all events go out of line */

#if defined(HAS_PROBES)
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GATE_COUNT "+2" /* the lower half of the gate */
#else
#define GATE_COUNT ""
#endif
#define SEMAPHORE(probe)                                                                       \
    extern unsigned short qprof_##probe##_semaphore __attribute__((visibility("hidden")));     \
    __asm__(".set qprof_" #probe "_semaphore, qprof_stub_handle" GATE_COUNT)
static qprof_thread closed __asm__("qprof_stub_handle")
    __attribute__((section(".probes"), used)) = {.pulse = &no_pulse};
SEMAPHORE(function__entry);
SEMAPHORE(function__return);
SEMAPHORE(resume);
SEMAPHORE(define);
#define PROBE4(probe, a, b, c, d)    STAP_PROBE4(qprof, probe, a, b, c, d)
#define PROBE5(probe, a, b, c, d, e) STAP_PROBE5(qprof, probe, a, b, c, d, e)
#define PROBE1(probe, a)             STAP_PROBE1(qprof, probe, a)
#else
static qprof_thread closed = {.pulse = &no_pulse}; /* nothing writes to it */
#define PROBE4(probe, a, b, c, d)    ((void)(a), (void)(b), (void)(c), (void)(d))
#define PROBE5(probe, a, b, c, d, e) ((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#define PROBE1(probe, a)             ((void)(a))
#endif

/* Ids from here: other than those of a collector, which may be loaded later. */
#define STUB_IDS ((uintptr_t)1 << (sizeof(uintptr_t) == 8 ? 51 : 30))

enum { UNKNOWN_FRAME = 2, FIRST_CHUNK = 256, N_CHUNKS = 16 };

/* What is known of a function. */
typedef struct {
    const char *file;
    int line; /* its first one; 0: unknown */
    char name[];
} named;

static named *
    *chunks[N_CHUNKS]; /* number k has FIRST_CHUNK << k places; a place is filled once */
static uint32_t n_named;

static named **place_of(uint32_t n, int makes)
{
    int k = 31 - __builtin_clz(n / FIRST_CHUNK + 1);
    size_t n_places = (size_t)FIRST_CHUNK << k;
    named **chunk = k < N_CHUNKS ? __atomic_load_n(&chunks[k], __ATOMIC_ACQUIRE) : NULL;
    if (!chunk && makes && k < N_CHUNKS) {
        named **made = calloc(n_places, sizeof *made);
        if (made && !__atomic_compare_exchange_n(&chunks[k], &chunk, made, 0, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE))
            free(made);
        else
            chunk = made;
    }
    return chunk ? &chunk[n - (n_places - FIRST_CHUNK)] : NULL;
}

static const named *named_of(uintptr_t id)
{
    static const named unknown = {.file = ""};
    named **place = id - STUB_IDS < __atomic_load_n(&n_named, __ATOMIC_ACQUIRE)
                        ? place_of((uint32_t)(id - STUB_IDS), 0)
                        : NULL;
    const named *known = place ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : NULL;
    return known ? known : &unknown;
}

static const char *jit_agent(void)
{
    return setting(sizeof(void *) == 8 ? "INTEL_JIT_PROFILER64" : "INTEL_JIT_PROFILER32");
}

/* May a tool ask for names? */
static int keeps_names(void)
{
#if defined(HAS_PROBES)
    return 1;
#else
    return setting("QPROF_PERF_MAP") || jit_agent();
#endif
}

static void show_name(uintptr_t id, const char *name, const char *class_name, const char *file)
{
    if (!QPROF_LOAD(closed.gate))
        return;
    name = name ? name : "";
    class_name = class_name ? class_name : "";
    file = file ? file : "";
    PROBE4(define, id, name, class_name, file);
}

/* @return an id; 0: names are not kept, or there is no memory */
static uintptr_t keep_name(const char *name, const char *class_name, const char *file,
                           const qprof_LineInfo *lines, int n_lines)
{
    const char *in = class_name && class_name[0] ? class_name : "";
    size_t name_bytes, file_bytes;
    named *made, **place;
    uint32_t n;
    int i;
    name = name ? name : "";
    file = file ? file : "";
    name_bytes = strlen(in) + strlen(name) + 2;
    file_bytes = strlen(file) + 1;
    if (!keeps_names() || !(made = malloc(sizeof *made + name_bytes + file_bytes)))
        return 0;
    snprintf(made->name, name_bytes, "%s%s%s", in, *in ? "." : "", name);
    made->file = memcpy(made->name + name_bytes, file, file_bytes);
    made->line = 0;
    for (i = 0; lines && i < n_lines && !made->line; i++)
        made->line = lines[i].line_number > 0 ? lines[i].line_number : 0;
    n = __atomic_fetch_add(&n_named, 1, __ATOMIC_ACQ_REL);
    place = place_of(n, 1);
    if (!place) {
        free(made);
        return 0;
    }
    __atomic_store_n(place, made, __ATOMIC_RELEASE);
    show_name(STUB_IDS + n, name, class_name, file);
    return STUB_IDS + n;
}

/* @param frame  token or stack id. @return the token of a call: its function */
static qprof_token entered(uintptr_t function, uint64_t frame)
{
    if (QPROF_LOAD(closed.gate) && function) {
        const named *known = named_of(function);
        const char *name = known->name;
        PROBE5(function__entry, function, name, known->file, known->line, frame);
        return function;
    }
    return QPROF_NO_TOKEN;
}

static void left(qprof_token function)
{
    if (QPROF_LOAD(closed.gate) && function != QPROF_NO_TOKEN) {
        const named *known = named_of((uintptr_t)function);
        const char *name = known->name;
        PROBE4(function__return, function, name, known->file, known->line);
    }
}

static void resumed(uint64_t frame)
{
    if (QPROF_LOAD(closed.gate))
        PROBE1(resume, frame);
}

/* A line of the map that perf reads: tools/perf/Documentation/jit-interface.txt of Linux. */
static void write_map(const char *name, const void *start, size_t n_bytes)
{
    static int owner; /* of the file: a forked child begins its own */
    char path[64], line[600];
    int fd, n, is_new = owner != (int)getpid();
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    if (is_new)
        unlink(path); /* of an earlier process */
    owner = (int)getpid();
    fd = open(path,
              O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (is_new ? O_CREAT | O_EXCL : 0),
              0600);
    n = snprintf(line, sizeof line, "%lx %lx %.512s\n", (unsigned long)(uintptr_t)start,
                 (unsigned long)n_bytes, name);
    if (fd >= 0 && write(fd, line, (size_t)n) != n)
        owner = 0; /* the next one begins again */
    if (fd >= 0)
        close(fd);
}

/* As jitprofiling.h of the ITT API describes a method that was loaded. */
typedef struct {
    unsigned id;
    const char *name;
    const void *start;
    unsigned n_bytes, n_lines;
    const void *lines;
    unsigned class_id;
    const char *class_name, *file;
} jit_method;

static void tell_agent(const named *of, const void *start, size_t n_bytes)
{
    enum { FIRST_ID = 1000, LOADED_METHOD = 13 };
    static unsigned (*notify)(unsigned, void *);
    static int is_tried;
    static uint32_t n_methods;
    jit_method m = {0};
    if (!is_tried) {
        void *agent = dlopen(jit_agent(), RTLD_LAZY);
        void *begin = agent ? dlsym(agent, "Initialize") : NULL;
        void *found = agent ? dlsym(agent, "NotifyEvent") : NULL;
        unsigned (*initialize)(void);
        memcpy(&initialize, &begin, sizeof begin);
        if (begin && found && initialize())
            memcpy(&notify, &found, sizeof found);
        is_tried = 1;
    }
    if (!notify)
        return;
    m.id = FIRST_ID + n_methods++;
    m.name = of->name;
    m.start = start;
    m.n_bytes = (unsigned)n_bytes;
    m.file = of->file[0] ? of->file : NULL;
    notify(LOADED_METHOD, &m);
}

static void show_code(uintptr_t id, const void *start, size_t n_bytes)
{
    static int is_busy; /* one thread at a time */
    const named *of = named_of(id);
    int host_errno = errno;
    if (!of->name[0] || !start || !n_bytes || n_bytes > UINT32_MAX)
        return;
    while (__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    if (setting("QPROF_PERF_MAP"))
        write_map(of->name, start, n_bytes);
    if (jit_agent())
        tell_agent(of, start, n_bytes);
    __atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
    errno = host_errno;
}
