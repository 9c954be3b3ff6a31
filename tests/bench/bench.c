/* bench.c: what one entry and its exit cost, each row beside its floor in the same run.
 *
 *   qprof-bench [--json] [--rounds=N]  all rows, medians of N rounds taken in turn
 *   qprof-bench --count ROW PAIRS      ROW alone, PAIRS pairs: for instruction counts
 *   qprof-bench --load                 how long a million triggers take, by calls and by file
 *
 * A round takes all rows in turn, so that a busy machine hits a row and its floor alike. Each
 * mode needs a run of its own; the rows without one are timed before the first. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock_reads.h"
#include "qprof.h"

void bench_empty(uintptr_t a, uintptr_t b);

enum {
    ROUNDS_DEFAULT = 15,
    ROUNDS_MAX = 101,
    PAIRS = 200000,
    METHODS = 1000,
    METHODS_TRIGGERED = 10000,
    TRIGGERS = 1000000,
    FIRST_METHOD = 1
};

typedef enum {
    OFF,
    COUNTS,
    EXACT,
    ADAPTIVE,
    TRACED,
    ALLOCATING,
    ONCE,  /* coverage: whether code was executed */
    BRIEF, /* coverage of functions: blocks are not counted */
    TRIGGERED,
    APART,
    WATCHED,
    HIT,
    N_MODES
} mode;
typedef enum {
    NOTHING,
    CLOCKS,
    EMPTY,
    EXPORTED,
    EXPORTED_VT,
    INLINE,
    TOKENS,   /* the host keeps a token in its frame, no stack id */
    MEMORY,   /* one allocation, in a frame with a token */
    METRIC,   /* one value is added to a metric, in a frame with a token */
    BLOCK,    /* one block is counted, once */
    BLOCK_VT, /* the same by the _vt call */
    SWITCH    /* to another virtual thread and back */
} way;

typedef struct {
    const char *name;
    mode mode;
    way way;
    unsigned n_callees; /* called in turn */
    const char *floor;  /* row to subtract; NULL: none */
    double goal_ns;     /* of docs and design, above the floor; 0: none */
    double goal_waits;  /* the same where a clock read waits for earlier loads */
} row;

/* What a run is for. */
typedef enum { PLAIN, VIRTUAL, WITH_TOKENS, N_HOSTS } host_kind;

static const row rows[] = {
    {"loop", OFF, NOTHING, 1, NULL, 0, 0},
    {"clock-pair", EXACT, CLOCKS, 1, "loop", 0, 0},
    {"empty-calls", OFF, EMPTY, 1, "loop", 0, 0},
    {"off-exported", OFF, EXPORTED, 1, "empty-calls", 1.0, 1.0},
    {"off-inline", OFF, INLINE, 1, "loop", 0.5, 0.5},
    {"counts-exported", COUNTS, EXPORTED, 1, "loop", 5.0, 5.0},
    {"counts-inline", COUNTS, INLINE, 1, "loop", 2.5, 2.5},
    {"counts-token", COUNTS, TOKENS, 1, "loop", 1.2, 1.2},
    {"exact-exported", EXACT, EXPORTED, 1, "clock-pair", 3.0, 6.0},
    {"exact-inline", EXACT, INLINE, 1, "clock-pair", 1.5, 4.0},
    {"exact-token", EXACT, TOKENS, 1, "clock-pair", 0.5, 3.0},
    {"adaptive-exported", ADAPTIVE, EXPORTED, 1, "loop", 6.0, 6.0},
    {"adaptive-inline", ADAPTIVE, INLINE, 1, "loop", 3.5, 3.5},
    {"adaptive-token", ADAPTIVE, TOKENS, 1, "loop", 2.0, 2.0},
    {"traced-exported", TRACED, EXPORTED, 1, "clock-pair", 5.0, 8.0},
    {"traced-inline", TRACED, INLINE, 1, "clock-pair", 3.0, 6.0},
    /* calls of others than the two methods that a trigger names */
    {"triggers-exported", TRIGGERED, EXPORTED, 1, "counts-exported", 1.0, 1.0},
    {"triggers-inline", TRIGGERED, INLINE, 1, "counts-inline", 1.0, 1.0},
    /* the same with an event trigger; then the calls that one looks at: not hit, and hit */
    {"events-exported", APART, EXPORTED, 1, "counts-exported", 1.0, 1.0},
    {"events-inline", APART, INLINE, 1, "counts-inline", 1.0, 1.0},
    {"watched-inline", WATCHED, INLINE, 1, "counts-inline", 0, 0},
    {"hit-inline", HIT, INLINE, 1, "counts-inline", 0, 0},
    {"counts-vt", COUNTS, EXPORTED_VT, 1, "counts-exported", 1.5, 1.5},
    {"counts-7-exported", COUNTS, EXPORTED, 7, "counts-exported", 3.0, 3.0},
    {"counts-7-inline", COUNTS, INLINE, 7, "counts-inline", 3.0, 3.0},
    {"counts-7-token", COUNTS, TOKENS, 7, "counts-token", 3.0, 3.0},
    {"counts-1000-exported", COUNTS, EXPORTED, METHODS, "counts-exported", 15.0, 15.0},
    {"counts-1000-inline", COUNTS, INLINE, METHODS, "counts-inline", 15.0, 15.0},
    {"exact-7-inline", EXACT, INLINE, 7, "exact-inline", 3.0, 3.0},
    {"exact-7-token", EXACT, TOKENS, 7, "exact-token", 3.0, 3.0},
    {"exact-1000-inline", EXACT, INLINE, METHODS, "exact-inline", 15.0, 15.0},
    {"alloc-off", COUNTS, MEMORY, 1, "loop", 1.0, 1.0},
    {"alloc", ALLOCATING, MEMORY, 1, "loop", 2.0, 2.0},
    {"metric-off", OFF, METRIC, 1, "loop", 1.0, 1.0},
    {"metric", COUNTS, METRIC, 1, "loop", 2.0, 2.0},
    {"bb-counts", COUNTS, BLOCK, 1, "loop", 6.0, 6.0},
    {"bb-counts-once", ONCE, BLOCK, 1, "loop", 6.0, 6.0},
    {"bb-counts-functions", BRIEF, BLOCK, 1, "loop", 6.0, 6.0},
    {"bb-counts-vt", COUNTS, BLOCK_VT, 1, "loop", 8.0, 8.0},
    {"switches", COUNTS, SWITCH, 1, "loop", 15.0, 15.0},
    {"switches-exact", EXACT, SWITCH, 1, "clock-pair", 12.0, 12.0},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static double ns_of[N_ROWS][ROUNDS_MAX];

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the loops --------------------------------------------------------------------------- */

/* Each has its registers for itself. */
#define LOOP __attribute__((noinline)) void

static LOOP loop_nothing(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        __asm__ volatile("" : : "r"(i));
}

static LOOP loop_clocks(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t a = qprof_ticks();
        uint64_t b = qprof_ticks();
        __asm__ volatile("" : : "r"(a), "r"(b));
    }
}

static LOOP loop_empty(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bench_empty(1, 2);
        bench_empty(1, 2);
    }
}

/* The next of the callees that are called in turn. */
static inline uintptr_t next_of(uintptr_t method, uintptr_t n_callees)
{
    return method + 1 < FIRST_METHOD + 1 + n_callees ? method + 1 : FIRST_METHOD + 1;
}

static LOOP loop_exported(unsigned n, uintptr_t n_callees)
{
    uintptr_t m = FIRST_METHOD + 1;
    for (unsigned i = 0; i < n; i++, m = next_of(m, n_callees)) {
        qprof_record_fn_entry(m, 2);
        qprof_record_fn_exit(1);
    }
}

static LOOP loop_vt(unsigned n, uintptr_t n_callees)
{
    uintptr_t m = FIRST_METHOD + 1;
    for (unsigned i = 0; i < n; i++, m = next_of(m, n_callees)) {
        qprof_record_fn_entry_vt(m, 2, 7);
        qprof_record_fn_exit_vt(1, 7);
    }
}

static LOOP loop_inline(qprof_thread *th, unsigned n, uintptr_t n_callees)
{
    uintptr_t m = FIRST_METHOD + 1;
    for (unsigned i = 0; i < n; i++, m = next_of(m, n_callees)) {
        qprof_entry(th, m, 2);
        qprof_exit(th, 1);
    }
}

static qprof_token token_below; /* of the frame that calls */

static LOOP loop_tokens(qprof_thread *th, unsigned n, uintptr_t n_callees)
{
    uintptr_t m = FIRST_METHOD + 1;
    for (unsigned i = 0; i < n; i++, m = next_of(m, n_callees))
        qprof_token_leave(th, qprof_token_enter(th, token_below, m));
}

static LOOP loop_memory(qprof_thread *th, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        qprof_record_alloc(th, i);
}

static LOOP loop_metric(qprof_thread *th, unsigned n)
{
    const int metric = qprof_metric_create("rows", "rows");
    for (unsigned i = 0; i < n; i++)
        qprof_record_metric(th, metric, i);
}

/* One of these, in a frame with a token. */
static LOOP in_frame(void (*loop)(qprof_thread *, unsigned), qprof_thread *th, unsigned n)
{
    qprof_token token = qprof_token_enter(th, token_below, FIRST_METHOD + 1);
    loop(th, n);
    qprof_token_leave(th, token);
}

static LOOP loop_block(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        qprof_record_bb_counts(1, 1);
}

static LOOP loop_block_vt(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        qprof_record_bb_counts_vt(1, 1, 7);
}

/* Both threads have an open frame. */
static LOOP loop_switch(qprof_thread *th, unsigned n)
{
    qprof_thread *other = qprof_thread_handle_vt(8, QPROF_INLINE_VERSION);
    qprof_record_fn_entry_vt(FIRST_METHOD, 1, 8);
    for (unsigned i = 0; i < n; i++) {
        qprof_thread_mount(th);
        qprof_thread_mount(other);
    }
    qprof_record_fn_exit_vt(0, 8);
    qprof_thread_mount(th);
}

static void run_loop(const row *r, qprof_thread *th, unsigned n)
{
    switch (r->way) {
    case NOTHING:
        loop_nothing(n);
        break;
    case CLOCKS:
        loop_clocks(n);
        break;
    case EMPTY:
        loop_empty(n);
        break;
    case EXPORTED:
        loop_exported(n, r->n_callees);
        break;
    case EXPORTED_VT:
        loop_vt(n, r->n_callees);
        break;
    case INLINE:
        loop_inline(th, n, r->n_callees);
        break;
    case TOKENS:
        loop_tokens(th, n, r->n_callees);
        break;
    case METRIC:
        in_frame(loop_metric, th, n);
        break;
    case MEMORY:
        in_frame(loop_memory, th, n);
        break;
    case BLOCK:
        loop_block(n);
        break;
    case BLOCK_VT:
        loop_block_vt(n);
        break;
    case SWITCH:
        loop_switch(th, n);
        break;
    }
}

/* ---- the clock of --count ---------------------------------------------------------------- */

static bool is_counting;

/* The library's open(). Instructions are counted with the processor's counter for a clock, also
 * where the kernel does not trust it or where there is no /sys to ask: the figures are then
 * those of every machine. */
int open(const char *path, int flags, ...)
{
    static const char source[] =
        "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    bool is_new = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
    va_list words;
    va_start(words, flags);
    unsigned permissions = is_new ? va_arg(words, unsigned) : 0;
    va_end(words);
    if (!is_counting || strcmp(path, source) != 0)
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, permissions);
    int fd = memfd_create("clocksource", MFD_CLOEXEC);
    if (fd >= 0 && pwrite(fd, "tsc\n", 4, 0) != 4) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- event triggers ---------------------------------------------------------------------- */

/* @param longer_ns  0: every call is a hit */
static void watch(uintptr_t method, uint64_t longer_ns)
{
    qprof_TrgID t = qprof_trg_add(QPROF_EV_FN_EXIT, QPROF_TRG_ENABLE, QPROF_TRG_CTX_ANY, 0,
                                  method, QPROF_TRG_COND_NO, 0, NULL, 0, 0, 0, NULL,
                                  QPROF_TRG_ACT_NONE, NULL, 0, 0);
    qprof_trg_narrow(t, QPROF_TRG_LONGER, longer_ns);
    qprof_trg_on();
}

/* ---- a run for a mode -------------------------------------------------------------------- */

/* Have a method that calls.
 * @return the handle of its thread */
static qprof_thread *begin_stack(host_kind host)
{
    if (host == VIRTUAL) {
        qprof_record_fn_entry_vt(FIRST_METHOD, 1, 7);
        return qprof_thread_handle_vt(7, QPROF_INLINE_VERSION);
    }
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    if (host == WITH_TOKENS)
        token_below = qprof_token_enter(th, qprof_token_top(th), FIRST_METHOD);
    else
        qprof_record_fn_entry(FIRST_METHOD, 1);
    return th;
}

static qprof_thread *begin(mode m, host_kind host)
{
    static const char *const options[N_MODES] = {
        [OFF] = "",
        [COUNTS] = "-time=none",
        [EXACT] = "-time=exact",
        [ADAPTIVE] = "-time=adaptive",
        [TRACED] = "-collect=profile,trace",
        [ALLOCATING] = "-time=none -allocations=yes",
        [ONCE] = "-time=none -cover=once",
        [BRIEF] = "-time=none -cover=hits -collection-granularity=function",
        [TRIGGERED] = "-time=none",
        [APART] = "-time=none",
        [WATCHED] = "-time=none",
        [HIT] = "-time=none"};
    char words[160];
    if (m == OFF)
        return qprof_thread_handle(QPROF_INLINE_VERSION);
    snprintf(words, sizeof words, "%s%s -summary=none -output=/tmp/qprof-bench-%%p.qprof",
             options[m], is_counting ? " -elapsed-source=tsc -clock-reads=overlap" : "");
    qprof_InitInfo info = {0, words, NULL, host == VIRTUAL};
    if (qprof_initialize_ex(&info) != 0) {
        fprintf(stderr, "qprof-bench: %s\n", qprof_error_text());
        exit(1);
    }
    static const qprof_LineInfo blocks[] = {{0, 1}, {4, 2}};
    qprof_register_method_id(FIRST_METHOD, "m", NULL, 0, "bench", blocks, 2);
    for (uintptr_t i = 1; i <= (m >= TRIGGERED ? METHODS_TRIGGERED : METHODS); i++)
        qprof_register_method_id(FIRST_METHOD + i, "m", NULL, 0, "bench", NULL, 0);
    if (m == TRIGGERED) {
        qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
        qprof_trigger_add_method(t, METHODS_TRIGGERED - 1, 1);
        qprof_trigger_add_method(t, METHODS_TRIGGERED, 1);
    }
    if (m >= APART)
        watch(m == APART ? METHODS_TRIGGERED : FIRST_METHOD + 1, m == HIT ? 0 : 1000000000);
    return begin_stack(host);
}

/* Nothing is kept: a run that was cleared and has no open frame writes no file. */
static void end(mode m, host_kind host)
{
    if (m == OFF)
        return;
    if (host == VIRTUAL)
        qprof_record_fn_exit_vt(0, 7);
    else
        qprof_record_fn_exit(0);
    qprof_clear_data();
    if (host == VIRTUAL)
        qprof_shutdown_vt(7);
    else
        qprof_shutdown();
}

static host_kind host_of(way w)
{
    bool is_virtual = w == EXPORTED_VT || w == BLOCK_VT || w == SWITCH;
    return is_virtual                                  ? VIRTUAL
           : w == TOKENS || w == MEMORY || w == METRIC ? WITH_TOKENS
                                                       : PLAIN;
}

static bool has_rows(mode m, host_kind host)
{
    for (unsigned i = 0; i < N_ROWS; i++)
        if (rows[i].mode == m && host_of(rows[i].way) == host)
            return true;
    return false;
}

static void time_row(unsigned i, qprof_thread *th, unsigned round)
{
    run_loop(&rows[i], th, 2 * METHODS);
    uint64_t start = now_ns();
    run_loop(&rows[i], th, PAIRS);
    ns_of[i][round] = (double)(now_ns() - start) / PAIRS;
}

static void time_round(unsigned round, mode from, mode to)
{
    for (mode m = from; m <= to; m++) {
        for (host_kind host = PLAIN; host < N_HOSTS; host++) {
            if (!has_rows(m, host))
                continue;
            qprof_thread *th = begin(m, host);
            for (unsigned i = 0; i < N_ROWS; i++)
                if (rows[i].mode == m && host_of(rows[i].way) == host)
                    time_row(i, th, round);
            end(m, host);
        }
    }
}

/* ---- figures ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, unsigned n)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static unsigned row_named(const char *name)
{
    for (unsigned i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return i;
    return N_ROWS;
}

/* Median of the differences to the floor, pair by pair. */
static double above_floor(unsigned i, unsigned n_rounds)
{
    double steps[ROUNDS_MAX];
    unsigned floor = rows[i].floor ? row_named(rows[i].floor) : N_ROWS;
    for (unsigned k = 0; k < n_rounds; k++)
        steps[k] = ns_of[i][k] - (floor < N_ROWS ? ns_of[floor][k] : 0);
    return median(steps, n_rounds);
}

static bool waits; /* a read of the clock, for earlier loads */

static void find_whether_reads_wait(void)
{
    enum { TRIES = 1000 };
    qp_clock_reads least = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (int i = 0; i < TRIES; i++)
        qp_clock_reads_add(&least);
    waits = qp_clock_reads_wait(&least);
}

static double goal_of(const row *r)
{
    return waits ? r->goal_waits : r->goal_ns;
}

static void print_text(unsigned n_rounds)
{
    printf("clock reads: %s\n", waits ? "wait for earlier loads" : "overlap earlier loads");
    printf("%-22s %10s %12s %10s  %s\n", "row", "ns", "above floor", "goal", "floor");
    for (unsigned i = 0; i < N_ROWS; i++) {
        printf("%-22s %10.2f %12.2f ", rows[i].name, median(ns_of[i], n_rounds),
               above_floor(i, n_rounds));
        if (rows[i].goal_ns > 0)
            printf("%10.1f  %s\n", goal_of(&rows[i]), rows[i].floor);
        else
            printf("%10s  %s\n", "", rows[i].floor ? rows[i].floor : "");
    }
}

static void print_json(unsigned n_rounds)
{
    printf("{\"unit\":\"ns\",\"clock_reads\":\"%s\",\"rounds\":%u,\"pairs\":%d,\"rows\":[\n",
           waits ? "wait" : "overlap", n_rounds, PAIRS);
    for (unsigned i = 0; i < N_ROWS; i++) {
        printf("{\"name\":\"%s\",\"ns\":%.3f,\"floor\":", rows[i].name,
               median(ns_of[i], n_rounds));
        printf(rows[i].floor ? "\"%s\"" : "null", rows[i].floor);
        printf(",\"above_floor\":%.3f,\"goal\":", above_floor(i, n_rounds));
        printf(rows[i].goal_ns > 0 ? "%.1f" : "null", goal_of(&rows[i]));
        printf("}%s\n", i + 1 < N_ROWS ? "," : "");
    }
    printf("]}\n");
}

static int usage(void)
{
    fprintf(stderr, "usage: qprof-bench [--json] [--rounds=N]\n"
                    "       qprof-bench --count ROW PAIRS\n"
                    "       qprof-bench --load\n");
    return 2;
}

static int count(const char *name, const char *pairs)
{
    unsigned i = row_named(name);
    long n = strtol(pairs, NULL, 10);
    if (i == N_ROWS || n < 0)
        return usage();
    is_counting = true;
    host_kind host = host_of(rows[i].way);
    qprof_thread *th = begin(rows[i].mode, host);
    run_loop(&rows[i], th, (unsigned)n);
    end(rows[i].mode, host);
    return 0;
}

/* ---- a million triggers ------------------------------------------------------------------ */

typedef struct {
    uint64_t ns;
    clock_t processor;
} moment;

static moment now(void)
{
    return (moment){now_ns(), clock()};
}

static void say_load(const char *how, moment began, int code)
{
    printf("%-8s %d triggers in %.2f s, %.2f s of the processor%s\n", how, TRIGGERS,
           (double)(now_ns() - began.ns) / 1e9,
           (double)(clock() - began.processor) / CLOCKS_PER_SEC, code ? ": failed" : "");
}

static int load(void)
{
    char file[64], options[160], name[24];
    int code = 0;
    snprintf(file, sizeof file, "/tmp/qprof-bench-%ld.conf", (long)getpid());
    FILE *out = fopen(file, "w");
    for (int i = 0; out && i < TRIGGERS; i++)
        fprintf(out, "trigger t%d off : f%d\n", i, i);
    if (!out || fclose(out) != 0)
        return 1;
    begin(COUNTS, PLAIN);
    moment began = now();
    for (int i = 0; i < TRIGGERS && !code; i++) {
        snprintf(name, sizeof name, "t%d", i);
        qprof_trigger *t = qprof_trigger_create(name, QPROF_TRIGGER_OFF);
        code = t ? qprof_trigger_add_routine(t, name, 1) : 1;
    }
    say_load("calls", began, code);
    end(COUNTS, PLAIN);
    snprintf(options, sizeof options, "-summary=none -config=%s", file);
    began = now();
    int code_of_file = qprof_initialize(options, NULL);
    say_load("file", began, code_of_file);
    qprof_shutdown();
    remove(file);
    return code || code_of_file;
}

int main(int argc, char **argv)
{
    unsigned n_rounds = ROUNDS_DEFAULT;
    bool is_json = false;
    unsetenv("QPROF");
    if (argc == 4 && strcmp(argv[1], "--count") == 0)
        return count(argv[2], argv[3]);
    if (argc == 2 && strcmp(argv[1], "--load") == 0)
        return load();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            is_json = true;
        else if (strncmp(argv[i], "--rounds=", 9) == 0)
            n_rounds = (unsigned)strtoul(argv[i] + 9, NULL, 10);
        else
            return usage();
    }
    if (n_rounds < 1 || n_rounds > ROUNDS_MAX)
        return usage();
    find_whether_reads_wait();
    for (unsigned round = 0; round < n_rounds; round++) /* off: before anything was on */
        time_round(round, OFF, OFF);
    for (unsigned round = 0; round < n_rounds; round++)
        time_round(round, COUNTS, N_MODES - 1);
    (is_json ? print_json : print_text)(n_rounds);
    return 0;
}
