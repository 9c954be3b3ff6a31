/* test_traces.c: disks that are full or slow, files that are taken away, descriptors that the
 * host closes, while a trace is written. reliability.md 2.11. The host continues, losses are
 * counted, and a message says what to do. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "qprof.h"
#include "record/ring/ring.h"
#include "unit/play.h"
#include "unit/told.h"
#include "unit/traces.h"

enum { CHILD_PASSED = 0, CHILD_FAILED = 1, CHILD_CANNOT = 77 };

#define CHECK(claim)                                                                           \
    do {                                                                                       \
        if (!(claim)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #claim);                        \
            return CHILD_FAILED;                                                               \
        }                                                                                      \
    } while (0)

static unsigned write_delay_us; /* of each write to a trace */
static bool write_is_held;      /* each write waits while this is set */

/* In the place of libc's. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    unsigned delay = __atomic_load_n(&write_delay_us, __ATOMIC_RELAXED);
    if (delay)
        usleep(delay);
    for (int i = 0; i < 5000 && __atomic_load_n(&write_is_held, __ATOMIC_RELAXED); i++)
        usleep(1000); /* not for ever: a claim may have failed */
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

/* Run in a child, so that limits, mounts and broken descriptors end with it. */
static void assert_in_child(int (*body)(play_ctx *), play_ctx *p)
{
    fflush(NULL);
    int child = fork();
    if (child == 0)
        _exit(body(p));
    int status = play_child_status(child);
    if (status == CHILD_CANNOT) {
        print_message("this machine does not allow it: not tested\n");
        skip();
    }
    assert_int_equal(status, CHILD_PASSED);
}

static bool begin(const char *options)
{
    char words[300];
    qprof_set_clock(NULL); /* the machine's: so records take the usual way */
    snprintf(words, sizeof words, "-output=run.qprof %s", options);
    if (qprof_initialize(words, NULL)) {
        fprintf(stderr, "%s\n", qprof_error_text());
        return false;
    }
    qprof_register_method_id(1, "main", NULL, 0, "f", NULL, 0);
    qprof_register_method_id(2, "f", NULL, 0, "f", NULL, 0);
    qprof_record_fn_entry(1, 1);
    return true;
}

/* n calls of f. */
static void record(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        qprof_record_fn_entry(2, 2);
        qprof_record_fn_exit(1);
    }
}

/* The same, with time for the writer. */
static void record_in_parts(unsigned n_parts, unsigned n)
{
    for (unsigned i = 0; i < n_parts; i++) {
        record(n);
        usleep(3000);
    }
}

static uint64_t count_of(const qp_model *m, const char *name)
{
    for (size_t i = 0; i < m->run.n_diagnostics; i++)
        if (strcmp(m->run.diagnostics[i].name, name) == 0)
            return m->run.diagnostics[i].count;
    return 0;
}

static bool has_message(const qp_model *m, const char *words)
{
    for (size_t i = 0; i < m->run.n_notes; i++)
        if (strstr(m->run.notes[i].text, words))
            return true;
    return false;
}

/* Every call is in the profile, and each record in one of the files or counted. */
static bool is_accounted(play_ctx *p, uint64_t n_calls, const char *const *files,
                         size_t n_files)
{
    uint64_t n_found = 0;
    play_read(p, "run.qprof");
    for (size_t i = 0; i < n_files; i++) {
        traces *t = traces_of_file(files[i]);
        n_found += t->n - t->n_lost; /* LOST records themselves: subtracted below */
        n_found += t->n_lost - traces_count(t, QP_TRACE_LOST);
        n_found -= traces_count(t, QP_TRACE_SWITCH);
        traces_free(t);
    }
    uint64_t unwritten = count_of(p->m, "trace_unwritten");
    bool is_right = p->m->run.calls == n_calls + 1 && count_of(p->m, "trace_lost") == 0 &&
                    n_found + unwritten >= 2 * n_calls + 1 &&
                    n_found + unwritten <= 2 * n_calls + 2;
    if (!is_right)
        fprintf(stderr, "calls %ju, found %ju, unwritten %ju, lost %ju\n",
                (uintmax_t)p->m->run.calls, (uintmax_t)n_found, (uintmax_t)unwritten,
                (uintmax_t)count_of(p->m, "trace_lost"));
    return is_right;
}

/* ---- disks ------------------------------------------------------------------------------- */

static int write_to_a_full_disk(play_ctx *p)
{
    static const char *const files[] = {"tiny/t.qtrace"};
    if (unshare(CLONE_NEWNS) || mkdir("tiny", 0700) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", "tiny", "tmpfs", 0, "size=256k"))
        return CHILD_CANNOT;
    CHECK(begin("-trace-output=tiny/t.qtrace -trace-buffer=32M"));
    record_in_parts(20, 20000);
    qprof_shutdown();
    traces *t = traces_of_file("tiny/t.qtrace");
    CHECK(t->has_end && !t->is_damaged); /* there was space left for it */
    CHECK(t->n_event_bytes > 100 * 1024);
    CHECK(t->diagnostics[QP_D_trace_unwritten] > 0);
    CHECK(is_accounted(p, 400000, files, 1));
    CHECK(count_of(p->m, "trace_unwritten") == t->diagnostics[QP_D_trace_unwritten]);
    CHECK(has_message(p->m, "no space left"));
    CHECK(has_message(p->m, "free some, or trace less"));
    return CHILD_PASSED;
}

static void a_full_disk_loses_records_and_says_so(void **state)
{
    assert_in_child(write_to_a_full_disk, *state);
}

static int write_where_nothing_can_be(play_ctx *p)
{
    if (unshare(CLONE_NEWNS) || mkdir("ro", 0700) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", "ro", "tmpfs", MS_RDONLY, NULL))
        return CHILD_CANNOT;
    CHECK(qprof_initialize("-output=run.qprof -trace-output=ro/t.qtrace", NULL) == QPROF_E_IO);
    CHECK(strstr(qprof_error_text(), "ro/t.qtrace: its folder cannot be written to"));
    CHECK(begin("-collect=profile,trace"));
    record(10);
    CHECK(qprof_trace_dump("ro/t.qtrace") == QPROF_E_IO);
    CHECK(strstr(qprof_error_text(), "ro/t.qtrace: its folder cannot be written to"));
    CHECK(qprof_trace_start("ro/T.PRF") == QPROF_E_IO);
    record(10);
    CHECK(qprof_trace_dump("t.qtrace") == 0);
    qprof_shutdown();
    traces *t = traces_of_file("t.qtrace");
    CHECK(traces_count(t, QP_TRACE_ENTRY) == 21);
    traces_free(t);
    play_read(p, "run.qprof");
    CHECK(p->m->run.calls == 21);
    return CHILD_PASSED;
}

static void a_read_only_folder_is_refused_with_the_reason(void **state)
{
    assert_in_child(write_where_nothing_can_be, *state);
}

static int write_when_there_is_space_again(play_ctx *p)
{
    static const char *const files[] = {"tiny/t.qtrace"};
    char zeros[4096] = "";
    if (unshare(CLONE_NEWNS) || mkdir("tiny", 0700) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", "tiny", "tmpfs", 0, "size=1m"))
        return CHILD_CANNOT;
    CHECK(begin("-trace-output=tiny/t.qtrace -trace-buffer=32M"));
    int fd = open("tiny/other", O_CREAT | O_WRONLY, 0600);
    while (write(fd, zeros, sizeof zeros) == sizeof zeros)
        ;
    record_in_parts(30, 20000);
    unlink("tiny/other");
    close(fd);
    sleep(1); /* a retry is due */
    record_in_parts(5, 1000);
    qprof_shutdown();
    traces *t = traces_of_file("tiny/t.qtrace");
    CHECK(t->has_end && t->n_missing > 0);
    CHECK(t->n_missing == t->diagnostics[QP_D_trace_unwritten]);
    CHECK(t->all[t->n - 1].number == 2 * 605000 + 1); /* SWITCH, main's entry, and all calls */
    CHECK(is_accounted(p, 605000, files, 1));
    return CHILD_PASSED;
}

static void a_disk_that_has_space_again_is_used_again(void **state)
{
    assert_in_child(write_when_there_is_space_again, *state);
}

static int write_beyond_the_limit(play_ctx *p)
{
    static const char *const files[] = {"t.qtrace"};
    CHECK(begin("-trace-output=t.qtrace"));
    record(10);
    usleep(300000);
    struct rlimit limit = {100000, 100000}; /* bytes of a file: beyond it SIGXFSZ */
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    record_in_parts(10, 20000);
    qprof_shutdown();
    traces *t = traces_of_file("t.qtrace");
    CHECK(t->n_bytes <= 100000 && t->n > 20);
    traces_free(t);
    (void)p, (void)files;
    return CHILD_PASSED; /* the profile is beyond the limit: it stays where it is */
}

static void a_limit_of_the_process_is_a_full_disk(void **state)
{
    assert_in_child(write_beyond_the_limit, *state);
}

/* How often the calling thread has waited for something. */
static long waits_of_thread(void)
{
    struct rusage r;
    return getrusage(RUSAGE_THREAD, &r) ? -1 : r.ru_nvcsw;
}

static void a_slow_disk_costs_records_and_not_the_host(void **state)
{
    play_ctx *p = *state;
    assert_true(begin("-trace-output=t.qtrace -trace-buffer=256K -trace-memory=256K"));
    record(20000);
    __atomic_store_n(&write_delay_us, 50000, __ATOMIC_RELAXED);
    long before = waits_of_thread();
    record(1000000);
    long n_waits = waits_of_thread() - before;
    __atomic_store_n(&write_delay_us, 0, __ATOMIC_RELAXED);
    unsigned n = 1020000;
    const uint64_t n_lost = qprof_diagnostic("trace_lost");
    for (; n < 1020100 && qprof_diagnostic("trace_lost") == n_lost; n += 10) {
        usleep(200000); /* until there is room to say what was lost */
        record(10);
    }
    qprof_shutdown();
    assert_in_range(n_waits, 0, 5); /* it never waits for a write, of which there are many */
    traces *t = traces_of_file("t.qtrace");
    assert_true(t->has_end && t->n_lost > 0);
    assert_int_equal(t->n_missing, 0);
    assert_int_equal(traces_count(t, QP_TRACE_EXIT) + t->n_lost, n);
    play_read(p, "run.qprof");
    assert_int_equal(count_of(p->m, "trace_lost"), t->n_lost);
    assert_int_equal(p->m->run.calls, n + 1);
    traces_free(t);
}

/* Each write waits from now on, and one does. */
static void hold_writes(void)
{
    __atomic_store_n(&write_is_held, true, __ATOMIC_RELAXED);
    record(100);
    usleep(200000);
}

static void release_writes(void)
{
    __atomic_store_n(&write_is_held, false, __ATOMIC_RELAXED);
}

static uint32_t n_rings(void)
{
    uint32_t n = 0;
    while (qp_trace_ring_at(n))
        n++;
    return n;
}

/* Calls while writing is held up: 16 MB of records. */
enum { HELD_CALLS = 500000 };

static void while_the_writer_is_held_up_further_rings_hold_everything(void **state)
{
    play_ctx *p = *state;
    assert_true(begin("-trace-output=t.qtrace -trace-buffer=256K"));
    hold_writes();
    assert_int_equal(n_rings(), 1);
    record(HELD_CALLS);
    assert_in_range(n_rings(), 60, 70); /* of 256 KiB */
    release_writes();
    record(HELD_CALLS); /* where rings are free again they are taken again */
    qprof_record_fn_exit(0);
    qprof_shutdown();
    const told x = tell("t.qtrace");
    assert_int_equal(x.n_calls, 1 + 100 + 2 * HELD_CALLS);
    assert_int_equal(x.n_incomplete + x.n_gaps + x.n_unmatched, 0);
    assert_int_equal(x.depth_max, 2);
    traces *t = traces_of_file("t.qtrace");
    assert_int_equal(t->n_lost + t->n_missing, 0);
    assert_int_equal(traces_count(t, QP_TRACE_EXIT), x.n_calls);
    play_read(p, "run.qprof");
    assert_int_equal(count_of(p->m, "trace_lost"), 0);
    assert_int_equal(p->m->run.calls, x.n_calls);
    traces_free(t);
}

static void virtual_threads_and_marks_are_in_further_rings_as_well(void **state)
{
    enum { ROUNDS = 30000, MARK_EVERY = 100 };
    (void)state;
    qprof_set_clock(NULL);
    qprof_InitInfo info = {.initial_options =
                               "-output=run.qprof -trace-output=t.qtrace -trace-buffer=16K",
                           .usingVirtualThreads = 1};
    assert_int_equal(qprof_initialize_ex(&info), 0);
    __atomic_store_n(&write_is_held, true, __ATOMIC_RELAXED);
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        uintptr_t vt = 7 + i % 3;
        qprof_record_fn_entry_vt(2, 2, vt);
        qprof_record_fn_entry_vt(3, 3, vt);
        if (i % MARK_EVERY == 0)
            qprof_mark("here");
        qprof_record_fn_exit_vt(2, vt);
        qprof_record_fn_exit_vt(0, vt);
    }
    assert_true(n_rings() > 10);
    release_writes();
    qprof_shutdown();
    const told x = tell("t.qtrace");
    assert_int_equal(x.n_calls, 2 * ROUNDS);
    assert_int_equal(x.n_markers, ROUNDS / MARK_EVERY);
    assert_int_equal(x.n_incomplete + x.n_gaps + x.n_unmatched, 0);
    assert_int_equal(x.depth_max, 2);
}

static void the_memory_of_all_rings_is_what_is_said(void **state)
{
    play_ctx *p = *state;
    assert_true(begin("-trace-output=t.qtrace -trace-buffer=256K -trace-memory=2M"));
    hold_writes();
    record(HELD_CALLS);
    const uint64_t n_lost = qprof_diagnostic("trace_lost");
    uint64_t n_bytes = 0;
    for (uint32_t i = 0; qp_trace_ring_at(i); i++)
        n_bytes += qp_trace_ring_at(i)->n_slots * sizeof(qp_trace_record);
    assert_in_range(n_bytes, 1700 * 1024, 2048 * 1024);
    assert_int_equal(n_lost, 0); /* it is counted once there is room again */
    release_writes();
    usleep(200000);
    record(10);
    qprof_shutdown();
    play_read(p, "run.qprof");
    assert_true(count_of(p->m, "trace_lost") > HELD_CALLS / 2);
    assert_true(has_message(p->m, "records are lost"));
    assert_true(has_message(p->m, "the buffers have their 2.0 MiB (-memory-limit for more"));
}

static void *release_soon(void *unused)
{
    usleep(300000);
    release_writes();
    return unused;
}

static void a_program_that_waits_loses_nothing(void **state)
{
    pthread_t thread;
    play_ctx *p = *state;
    assert_true(
        begin("-trace-output=t.qtrace -trace-buffer=256K -trace-memory=1M -trace-full=wait"));
    hold_writes();
    assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
    record(HELD_CALLS);
    pthread_join(thread, NULL);
    qprof_record_fn_exit(0);
    qprof_shutdown();
    const told x = tell("t.qtrace");
    assert_int_equal(x.n_calls, 1 + 100 + HELD_CALLS);
    assert_int_equal(x.n_incomplete + x.n_gaps + x.n_unmatched, 0);
    play_read(p, "run.qprof");
    assert_int_equal(count_of(p->m, "trace_lost"), 0);
    assert_true(has_message(p->m, "OS threads waited"));
    assert_true(has_message(p->m, "times contain it"));
}

static void a_wait_ends_and_then_records_are_counted(void **state)
{
    play_ctx *p = *state;
    assert_true(
        begin("-trace-output=t.qtrace -trace-buffer=256K -trace-memory=1M -trace-full=wait"));
    hold_writes();
    record(HELD_CALLS); /* one wait, in vain */
    assert_int_equal(qp_trace_waits_so_far().n, 1);
    assert_true(qp_trace_waits_so_far().ns >= QP_TRACE_WAIT_NS);
    release_writes();
    usleep(200000);
    record(10);
    qprof_shutdown();
    traces *t = traces_of_file("t.qtrace");
    play_read(p, "run.qprof");
    assert_true(count_of(p->m, "trace_lost") > HELD_CALLS / 2);
    assert_int_equal(count_of(p->m, "trace_lost"), t->n_lost);
    assert_int_equal(traces_count(t, QP_TRACE_EXIT) + t->n_lost, 100 + HELD_CALLS + 10);
    traces_free(t);
}

static void a_disk_that_hangs_does_not_keep_the_host(void **state)
{
    play_ctx *p = *state;
    assert_true(begin("-trace-output=t.qtrace"));
    record(1000);
    __atomic_store_n(&write_delay_us, 6000000, __ATOMIC_RELAXED);
    usleep(200000); /* now a write is under way */
    uint64_t start = qp_clock_monotonic();
    qprof_shutdown();
    uint64_t ns = qp_clock_monotonic() - start;
    __atomic_store_n(&write_delay_us, 0, __ATOMIC_RELAXED);
    assert_true(ns < 4000000000);
    play_read(p, "run.qprof");
    assert_int_equal(p->m->run.calls, 1001);
    assert_true(has_message(p->m, "timed out"));
    assert_int_equal(qprof_initialize("-trace-output=t.qtrace", NULL), QPROF_E_IO);
    assert_non_null(strstr(qprof_error_text(), "timed out"));
    sleep(6);
    assert_int_equal(qprof_initialize("-trace-output=t.qtrace", NULL), 0);
}

/* ---- files that are taken away ----------------------------------------------------------- */

static int lose_the_file(play_ctx *p)
{
    CHECK(begin("-trace-output=t.qtrace"));
    record_in_parts(3, 20000);
    usleep(200000);
    CHECK(rename("t.qtrace", "first.qtrace") == 0);
    record_in_parts(3, 20000);
    usleep(200000);
    CHECK(!play_file_exists("t.qtrace")); /* renamed: the trace continues in it */
    CHECK(link("first.qtrace", "kept") == 0 && unlink("first.qtrace") == 0);
    CHECK(unlink("kept") == 0);
    record_in_parts(3, 20000);
    sleep(1);
    record_in_parts(3, 20000);
    qprof_shutdown();
    traces *t = traces_of_file("t.qtrace"); /* a new one */
    CHECK(t->has_end && t->n > 0 && t->all[t->n - 1].number == 2 * 240000 + 1);
    traces_free(t);
    play_read(p, "run.qprof");
    CHECK(count_of(p->m, "trace_unwritten") > 0);
    CHECK(has_message(p->m, "removed, replaced or cut"));
    CHECK(has_message(p->m, "continues in /"));
    return CHILD_PASSED;
}

static void a_file_that_is_removed_is_made_again(void **state)
{
    assert_in_child(lose_the_file, *state);
}

static int lose_the_folder(play_ctx *p)
{
    CHECK(mkdir("folder", 0700) == 0);
    CHECK(begin("-trace-output=folder/t.qtrace"));
    record_in_parts(3, 20000);
    CHECK(unlink("folder/t.qtrace") == 0 && rmdir("folder") == 0);
    record_in_parts(3, 20000);
    usleep(600000);
    record_in_parts(3, 20000);
    qprof_shutdown();
    play_read(p, "run.qprof");
    CHECK(p->m->run.calls == 180001);
    CHECK(count_of(p->m, "trace_unwritten") >= 2 * 60000);
    CHECK(has_message(p->m, "check its folder"));
    return CHILD_PASSED;
}

static void a_folder_that_is_removed_loses_the_trace_and_nothing_else(void **state)
{
    assert_in_child(lose_the_folder, *state);
}

static int cut_the_file(play_ctx *p)
{
    CHECK(begin("-trace-output=t.qtrace"));
    record_in_parts(3, 20000);
    usleep(200000);
    CHECK(truncate("t.qtrace", 100) == 0);
    record_in_parts(3, 20000);
    sleep(1);
    record_in_parts(3, 20000);
    qprof_shutdown();
    traces *t = traces_of_file("t.qtrace.1");
    CHECK(t->has_end && t->all[t->n - 1].number == 2 * 180000 + 1);
    traces_free(t);
    struct stat st;
    CHECK(stat("t.qtrace", &st) == 0 && st.st_size == 100);
    play_read(p, "run.qprof");
    CHECK(count_of(p->m, "trace_unwritten") > 0);
    return CHILD_PASSED;
}

static void a_file_that_is_cut_is_left_alone(void **state)
{
    assert_in_child(cut_the_file, *state);
}

static int take_the_descriptor(play_ctx *p)
{
    struct stat st, trace;
    CHECK(begin("-trace-output=t.qtrace"));
    record_in_parts(3, 20000);
    usleep(200000);
    CHECK(stat("t.qtrace", &trace) == 0);
    int own = open("own", O_CREAT | O_RDWR, 0600), taken = -1;
    CHECK(write(own, "precious", 8) == 8);
    for (int fd = 0; fd < 2000; fd++)
        if (fstat(fd, &st) == 0 && st.st_ino == trace.st_ino && st.st_dev == trace.st_dev)
            taken = fd;
    CHECK(taken >= 1000); /* out of the way of hosts that close low descriptors */
    CHECK(dup2(own, taken) == taken);
    record_in_parts(3, 20000);
    sleep(1);
    record_in_parts(3, 20000);
    qprof_shutdown();
    CHECK(stat("own", &st) == 0 && st.st_size == 8); /* never a byte elsewhere */
    CHECK(fcntl(taken, F_GETFD) >= 0);               /* nor is it closed */
    traces *t = traces_of_file("t.qtrace.1");
    CHECK(t->has_end && t->all[t->n - 1].number == 2 * 180000 + 1);
    traces_free(t);
    (void)p;
    return CHILD_PASSED;
}

static void a_descriptor_of_the_host_is_left_alone(void **state)
{
    assert_in_child(take_the_descriptor, *state);
}

/* ---- forks ------------------------------------------------------------------------------- */

static void a_forked_child_writes_nothing_to_the_trace(void **state) /* R11 */
{
    play_ctx *p = *state;
    static const char *const files[] = {"t.qtrace"};
    assert_true(begin("-trace-output=t.qtrace"));
    record(1000);
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        record(50000);
        qprof_mark("child");
        qprof_shutdown();
        _exit(qprof_trace_dump("x.qtrace") == QPROF_E_STATE ? 0 : 1);
    }
    record(1000);
    assert_int_equal(play_child_status(child), 0);
    qprof_shutdown();
    assert_true(is_accounted(p, 2000, files, 1));
    assert_int_equal(count_of(p->m, "trace_unwritten"), 0);
}

static void a_child_that_is_followed_has_a_trace_of_its_own(void **state)
{
    play_ctx *p = *state;
    static const char *const files[] = {"t.qtrace"};
    if (!PLAY_CHILD_MAY_START_THREADS)
        skip();
    assert_true(begin("-trace-output=t.qtrace -follow-child-processes=yes"));
    record(1000);
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        record(500);
        qprof_shutdown();
        _exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
    record(1000);
    qprof_shutdown();
    assert_true(is_accounted(p, 2000, files, 1));
    traces *t = traces_of_file("t.qtrace.1");
    assert_true(t->has_end);
    assert_int_equal(traces_count(t, QP_TRACE_ENTRY), 500);
    traces_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_full_disk_loses_records_and_says_so),
        PLAY_TEST(a_read_only_folder_is_refused_with_the_reason),
        PLAY_TEST(a_disk_that_has_space_again_is_used_again),
        PLAY_TEST(a_limit_of_the_process_is_a_full_disk),
        PLAY_TEST(a_slow_disk_costs_records_and_not_the_host),
        PLAY_TEST(while_the_writer_is_held_up_further_rings_hold_everything),
        PLAY_TEST(virtual_threads_and_marks_are_in_further_rings_as_well),
        PLAY_TEST(the_memory_of_all_rings_is_what_is_said),
        PLAY_TEST(a_program_that_waits_loses_nothing),
        PLAY_TEST(a_wait_ends_and_then_records_are_counted),
        PLAY_TEST(a_disk_that_hangs_does_not_keep_the_host),
        PLAY_TEST(a_file_that_is_removed_is_made_again),
        PLAY_TEST(a_folder_that_is_removed_loses_the_trace_and_nothing_else),
        PLAY_TEST(a_file_that_is_cut_is_left_alone),
        PLAY_TEST(a_descriptor_of_the_host_is_left_alone),
        PLAY_TEST(a_forked_child_writes_nothing_to_the_trace),
        PLAY_TEST(a_child_that_is_followed_has_a_trace_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
