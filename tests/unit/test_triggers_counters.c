/* test_triggers_counters.c: counters in place of time: triggers 40 and 49 of the checklist.
 * What the machine counts is made to happen by hand: pages that are touched, waits. Not every
 * machine shows its processor's counters: there, the kernel's page faults replace what they
 * would count. */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/perf.h"
#include "machine.h"
#include "play.h"

enum { PAGES = 1024, THREADS = 3 };

/* ---- a machine that answers as wanted ---------------------------------------------------- */

static struct {
    bool is_wanted;        /* else the machine answers itself */
    int refused;           /* errno of every event; 0: the processor counts page faults */
    int refused_to_kernel; /* errno of every event that also counts in the kernel */
    uint64_t config, pinned, exclude_kernel; /* of the event that was asked for last */
} machine;

static int refusal_of(const struct perf_event_attr *event)
{
    qp_store(&machine.config, event->config);
    qp_store(&machine.pinned, event->pinned);
    qp_store(&machine.exclude_kernel, event->exclude_kernel);
    return machine.refused || event->exclude_kernel ? machine.refused
                                                    : machine.refused_to_kernel;
}

long __real_syscall(long number,
                    ...); /* NOLINT: the linker's names, see tests/CMakeLists.txt */
long __wrap_syscall(long number, ...); /* NOLINT */

/* In place of the one of the C library: it passes on six words, whatever the caller gave. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...) /* NOLINT */
{
    long args[6];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < 6; i++)
        args[i] = va_arg(list, long);
    va_end(list);
    struct perf_event_attr event;
    if (number == SYS_perf_event_open && machine.is_wanted) {
        event = *(const struct perf_event_attr *)args[0];
        int refused = refusal_of(&event);
        if (refused) {
            errno = refused;
            return -1;
        }
        event.type = PERF_TYPE_SOFTWARE;
        event.config = PERF_COUNT_SW_PAGE_FAULTS;
        args[0] = (long)&event;
    }
    return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static int end_machine(void **state)
{
    memset(&machine, 0, sizeof machine);
    return play_teardown(state);
}

/* The processor counts page faults: can it, on this machine? */
static bool begin_machine(void)
{
    int refused = qp_perf_choose(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
    machine.is_wanted = true;
    if (!refused)
        return true;
    print_message("perf_event_open is refused here (errno %d), which is what is tested\n",
                  refused);
    assert_int_equal(qprof_initialize("-clock=cache-misses", NULL), QPROF_E_UNSUPPORTED);
    assert_non_null(strstr(qprof_error_text(), "-clock=cache-misses: counter not supported: "));
    return false;
}

/* ---- counters ---------------------------------------------------------------------------- */

static long context_switches(void)
{
    struct rusage r;
    assert_int_equal(getrusage(RUSAGE_THREAD, &r), 0);
    return r.ru_nvcsw + r.ru_nivcsw;
}

/* The thread lets others run, so many times at least: a wait may be over before it begins. */
static void wait_often(unsigned n)
{
    const struct timespec t = {0, 100000};
    long end = context_switches() + n;
    while (context_switches() < end)
        nanosleep(&t, NULL);
}

static void counters_that_the_machine_has_not_are_refused(void **state) /* triggers 49 */
{
    static const char *const words[] = {"64k-aliasing", "split-loads", "split-stores",
                                        "store-forwards"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char option[64] = "-clock=";
        strcat(option, words[i]);
        assert_int_equal(qprof_initialize(option, NULL), QPROF_E_UNSUPPORTED);
        assert_non_null(strstr(qprof_error_text(), words[i]));
        assert_non_null(strstr(qprof_error_text(), "counter not supported"));
        assert_false(qprof_is_running());
    }
}

/* Own counts, counts with callees, and a stop: the rules of time. */
static void assert_rules_of_time(play_ctx *p, const char *clock, const char *unit)
{
    play_begin(p, clock);
    play(p, "a( b( )"); /* their paths: what the recorder touches itself */
    machine_touch(PAGES);
    play(p, "b(");
    machine_touch(2 * PAGES);
    play(p, ")");
    qprof_stop_recording();
    machine_touch(4 * PAGES);
    play(p, "b(");
    machine_touch(4 * PAGES);
    qprof_start_recording();
    machine_touch(8 * PAGES);
    play(p, ") )");
    play_end(p);
    qp_figures a = play_figures(p, QP_ALL_THREADS, "a"),
               b = play_figures(p, QP_ALL_THREADS, "b");
    assert_about(a.self, PAGES);
    assert_about(b.self, 10 * PAGES);
    assert_int_equal(a.total, a.self + b.self);
    assert_int_equal(b.total, b.self);
    assert_string_equal(p->m->run.unit, unit);
    assert_int_equal(play_file_diagnostic(p, "counter_unread"), 0);
    assert_int_equal(unlink("run.qprof"), 0);
}

static void page_faults_obey_the_rules_of_time(void **state) /* triggers 49 */
{
    assert_rules_of_time(*state, "-clock=soft-page-faults", "faults");
    assert_rules_of_time(*state, "-clock=page-faults", "faults");
}

static void counters_of_the_processor_obey_the_rules_of_time(void **state) /* triggers 49 */
{
    if (!begin_machine())
        return;
    assert_rules_of_time(*state, "-clock=cache-misses", "misses");
    assert_int_equal(machine.config, PERF_COUNT_HW_CACHE_MISSES);
    assert_int_equal(machine.pinned, 1);
    assert_rules_of_time(*state, "-clock=mispredicted-branches", "misses");
    assert_int_equal(machine.config, PERF_COUNT_HW_BRANCH_MISSES);
    machine.refused_to_kernel = EACCES;
    assert_rules_of_time(*state, "-clock=cache-misses", "misses");
    assert_int_equal(machine.exclude_kernel, 1);
    assert_int_equal(machine_counters(), 0);
}

static void counters_that_the_machine_refuses_are_explained(void **state) /* triggers 49 */
{
    static const int refusals[] = {EACCES, EPERM, ENOENT, ENOSYS, EMFILE};
    char why[120], wanted[200];
    (void)state;
    machine.is_wanted = true;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        machine.refused = refusals[i];
        qp_perf_explain(refusals[i], why, sizeof why);
        snprintf(wanted, sizeof wanted,
                 "-clock=mispredicted-branches: counter not supported: %s", why);
        errno = ERANGE;
        assert_int_equal(qprof_initialize("-clock=mispredicted-branches", NULL),
                         QPROF_E_UNSUPPORTED);
        assert_int_equal(errno, ERANGE);
        assert_string_equal(qprof_error_text(), wanted);
        assert_false(qprof_is_running());
    }
}

static pthread_barrier_t barrier;
static qprof_MethodID touching;

/* The method touches pages; the thread ends when all have done so. */
static void *record_touching(void *n_pages)
{
    qprof_record_fn_entry(touching, 1);
    qprof_record_fn_exit(0);
    qprof_record_fn_entry(touching, 1);
    machine_touch((unsigned)(uintptr_t)n_pages);
    qprof_record_fn_exit(0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void each_thread_has_a_counter_of_its_own_while_it_lives(void **state)
{
    play_ctx *p = *state;
    pthread_t threads[THREADS];
    if (!begin_machine())
        return;
    play_begin(p, "-clock=cache-misses");
    touching = play_method(p, "touching");
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record_touching, (void *)((i + 1) * PAGES));
    pthread_barrier_wait(&barrier);
    assert_true(machine_counters() >= THREADS);
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(machine_counters() <= 1); /* this thread's */
    play_end(p);
    assert_int_equal(machine_counters(), 0);
    assert_about(play_figures(p, QP_ALL_THREADS, "touching").self, 6 * PAGES); /* 1 + 2 + 3 */
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 1; i < p->m->n_threads; i++) {
        uint64_t self = play_figures(p, i, "touching").self;
        least = self && self < least ? self : least;
        most = self > most ? self : most;
    }
    assert_about(least, PAGES);
    assert_about(most, 3 * PAGES);
    pthread_barrier_destroy(&barrier);
}

static void a_thread_that_gets_no_counter_stands(void **state)
{
    play_ctx *p = *state;
    pthread_t thread;
    if (!begin_machine())
        return;
    play_begin(p, "-clock=cache-misses");
    touching = play_method(p, "touching");
    pthread_barrier_init(&barrier, NULL, 1);
    machine.refused = EMFILE;
    pthread_create(&thread, NULL, record_touching, (void *)(uintptr_t)PAGES);
    pthread_join(thread, NULL);
    play_end(p);
    assert_flat(p, "touching", 2, 0, 0);
    assert_true(play_file_diagnostic(p, "counter_unread") >= 4); /* two entries, two exits */
    pthread_barrier_destroy(&barrier);
}

static int follow(play_ctx *p)
{
    play(p, "b(");
    machine_touch(6 * PAGES);
    play(p, ")");
    int n_counters = machine_counters();
    qprof_shutdown();
    return n_counters != 1 || machine_counters() != 0;
}

/* Against the pages that a fork itself touches, a few hundred under the thread sanitizer. */
static void a_followed_child_counts_from_its_own_beginning(void **state)
{
    play_ctx *p = *state;
    char file[64];
    if (!begin_machine())
        return;
    play_begin(p, "-clock=cache-misses -follow-child-processes=yes");
    play(p, "a( b( )");
    machine_touch(4 * PAGES);
    fflush(NULL);
    int child = fork();
    if (child == 0)
        _exit(follow(p));
    assert_int_equal(play_child_status(child), 0);
    play(p, ")");
    play_end(p);
    assert_about(play_figures(p, QP_ALL_THREADS, "a").self, 4 * PAGES);
    snprintf(file, sizeof file, "run.qprof.%d", child);
    play_read(p, file);
    assert_about(play_figures(p, QP_ALL_THREADS, "b").self, 6 * PAGES);
}

/* It has neither the memory of the run nor the pages of its counters. */
static void a_raw_clone_reads_no_counter(void **state)
{
    play_ctx *p = *state;
    if (!begin_machine())
        return;
    play_begin(p, "-clock=cache-misses");
    play(p, "a( b( )");
    fflush(NULL);
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); /* no fork handlers run */
    if (child == 0) {
        play(p, "b(");
        machine_touch(4 * PAGES);
        play(p, ") )");
        qprof_shutdown();
        _exit(0);
    }
    assert_int_equal(play_child_status((int)child), 0);
    machine_touch(PAGES);
    play(p, ")");
    play_end(p);
    assert_about(play_figures(p, QP_ALL_THREADS, "a").self, PAGES);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "b").calls, 1);
}

/* The host closes what it does not know: the counter does not move, and every report says
 * so. */
static void a_counter_that_the_host_closes_stands(void **state)
{
    play_ctx *p = *state;
    if (!begin_machine())
        return;
    play_begin(p, "-clock=cache-misses");
    play(p, "a( b( )");
    machine_touch(PAGES);
    play(p, "b( ) c(");
    for (int fd = 3; machine_counters(); fd++)
        close(fd);
    machine_touch(4 * PAGES);
    errno = ERANGE;
    play(p, ") )");
    assert_int_equal(errno, ERANGE);
    play_end(p);
    assert_about(play_figures(p, QP_ALL_THREADS, "a").self, PAGES);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "c").self, 0);
    assert_true(play_file_diagnostic(p, "counter_unread") >= 2); /* exits of c and a */
}

static void a_thread_that_is_off_counts_nothing(void **state) /* triggers 44, 49 */
{
    play_ctx *p = play_start(state, "-clock=soft-page-faults");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "quiet", 1);
    play(p, "a( quiet( )");
    machine_touch(PAGES);
    play(p, "quiet(");
    machine_touch(8 * PAGES);
    play(p, ")");
    machine_touch(2 * PAGES);
    play(p, ")");
    play_end(p);
    assert_about(play_figures(p, QP_ALL_THREADS, "a").self, 3 * PAGES);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "quiet").self, 0);
}

static void context_switches_obey_the_rules_of_time(void **state) /* triggers 49 */
{
    enum { WAITS = 40 };
    play_ctx *p = play_start(state, "-clock=context-switches");
    play(p, "a( b(");
    wait_often(WAITS);
    play(p, ")");
    wait_often(2 * WAITS);
    play(p, ") c( )");
    play_end(p);
    qp_figures a = play_figures(p, QP_ALL_THREADS, "a"),
               b = play_figures(p, QP_ALL_THREADS, "b");
    assert_true(b.self >= WAITS && a.self >= 2 * WAITS); /* and those that others force */
    assert_int_equal(a.total, a.self + b.self);
    assert_string_equal(p->m->run.unit, "switches");
}

static void four_calls_deep_are_eight_seconds_once(void **state) /* triggers 40 */
{
    play_ctx *p =
        play_run(state, "", "A( 2000000000 A( 2000000000 A( 2000000000 A( 2000000000 ) ) ) )");
    assert_flat(p, "A", 4, 8000000000, 8000000000);
}

#define COUNTER_TEST(f) cmocka_unit_test_setup_teardown(f, play_setup, end_machine)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(counters_that_the_machine_has_not_are_refused),
        PLAY_TEST(page_faults_obey_the_rules_of_time),
        COUNTER_TEST(counters_of_the_processor_obey_the_rules_of_time),
        COUNTER_TEST(counters_that_the_machine_refuses_are_explained),
        COUNTER_TEST(each_thread_has_a_counter_of_its_own_while_it_lives),
        COUNTER_TEST(a_thread_that_gets_no_counter_stands),
        COUNTER_TEST(a_followed_child_counts_from_its_own_beginning),
        COUNTER_TEST(a_raw_clone_reads_no_counter),
        COUNTER_TEST(a_counter_that_the_host_closes_stands),
        PLAY_TEST(a_thread_that_is_off_counts_nothing),
        PLAY_TEST(context_switches_obey_the_rules_of_time),
        PLAY_TEST(four_calls_deep_are_eight_seconds_once),
    };
    return cmocka_run_group_tests_name("triggers, counters", tests, NULL, NULL);
}
