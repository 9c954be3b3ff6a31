/* test_perf.c: a counter of the kernel for each thread. Every machine has the ones that the
 * kernel counts itself: page faults represent what a processor counts. Where perf_event_open is
 * forbidden, that is what is claimed instead. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/perf.h"
#include "unit/machine.h"
#include "unit/play.h"

enum { PAGES = 1024, THREADS = 3 };

static int choose_faults(void)
{
    return qp_perf_choose(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}

/* Does this machine let programs count? If not, it is refused as a whole. */
static bool can_count(void)
{
    uint64_t value = 7;
    char why[120] = "";
    int refused = choose_faults();
    if (!refused)
        return true;
    qp_perf_explain(refused, why, sizeof why);
    print_message("perf_event_open is refused here, which is what is tested: %s\n", why);
    assert_true(why[0]);
    qp_perf_attach();
    assert_false(qp_perf_read(&value));
    assert_int_equal(value, 0);
    assert_int_equal(machine_counters(), 0);
    return false;
}

static uint64_t reading(void)
{
    uint64_t value;
    assert_true(qp_perf_read(&value));
    return value;
}

static uint64_t counted_while_touching(unsigned n_pages)
{
    reading(); /* what it touches itself is not new any more */
    uint64_t before = reading();
    machine_touch(n_pages);
    return reading() - before;
}

static void a_thread_counts_from_when_it_is_attached(void **state)
{
    uint64_t value = 7;
    (void)state;
    if (!can_count())
        return;
    assert_false(qp_perf_read(&value)); /* chosen, not attached */
    assert_int_equal(value, 0);
    qp_perf_attach();
    assert_int_equal(machine_counters(), 1);
    assert_about(counted_while_touching(PAGES), PAGES);
    uint64_t old = reading();
    qp_perf_attach(); /* again, from 0 */
    assert_int_equal(machine_counters(), 1);
    assert_true(reading() < old);
    qp_perf_detach();
    qp_perf_detach();
    assert_int_equal(machine_counters(), 0);
    assert_false(qp_perf_read(&value));
    assert_int_equal(value, 0);
}

static void *count_own(void *n_pages)
{
    qp_perf_attach();
    uint64_t counted = counted_while_touching((unsigned)(uintptr_t)n_pages);
    qp_perf_detach();
    return (void *)(uintptr_t)counted;
}

static void threads_count_what_they_do_themselves(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    if (!can_count())
        return;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_own, (void *)((i + 1) * PAGES));
    for (uintptr_t i = 0; i < THREADS; i++) {
        void *counted;
        pthread_join(threads[i], &counted);
        assert_about((uintptr_t)counted, (i + 1) * PAGES);
    }
    assert_int_equal(machine_counters(), 0);
}

static int lowest_free(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

/* A host closes what it does not know; a pipe without a writer takes the number. */
static void a_descriptor_that_the_host_took_is_let_alone(void **state)
{
    int ends[2], fd = lowest_free();
    uint64_t value;
    (void)state;
    if (!can_count())
        return;
    qp_perf_attach();
    uint64_t last = reading();
    assert_int_equal(close(fd), 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(ends[0], fd);
    errno = ERANGE;
    assert_false(qp_perf_read(&value)); /* and does not wait for a writer */
    assert_int_equal(value, last);
    qp_perf_detach();
    assert_int_equal(errno, ERANGE);
    assert_int_equal(write(ends[1], "x", 1), 1); /* it is still open */
    close(ends[0]);
    close(ends[1]);
    qp_perf_attach();
    assert_int_equal(close(fd), 0);
    assert_false(qp_perf_read(&value)); /* nothing took it */
    qp_perf_detach();
    assert_int_equal(errno, ERANGE);
}

static pthread_barrier_t barrier;

static void *stay_attached(void *unused)
{
    (void)unused;
    qp_perf_attach();
    pthread_barrier_wait(&barrier); /* it counts */
    pthread_barrier_wait(&barrier); /* the child is over */
    qp_perf_detach();
    return NULL;
}

static int child_forgets(void)
{
    uint64_t value;
    qp_perf_forget();
    if (machine_counters() != 0 || qp_perf_read(&value))
        return 1;
    if (choose_faults())
        return 2;
    qp_perf_attach();
    uint64_t counted = counted_while_touching(PAGES);
    return counted < PAGES || counted > 2 * PAGES ? 3 : 0;
}

static void a_forked_child_closes_the_counters_of_all_threads(void **state)
{
    pthread_t other;
    (void)state;
    if (!can_count())
        return;
    pthread_barrier_init(&barrier, NULL, 2);
    qp_perf_attach();
    pthread_create(&other, NULL, stay_attached, NULL);
    pthread_barrier_wait(&barrier);
    assert_int_equal(machine_counters(), 2);
    fflush(NULL);
    int child = fork();
    if (child == 0)
        _exit(child_forgets());
    assert_int_equal(play_child_status(child), 0);
    assert_int_equal(machine_counters(), 2); /* the parent's own */
    assert_about(counted_while_touching(PAGES), PAGES);
    pthread_barrier_wait(&barrier);
    pthread_join(other, NULL);
    qp_perf_detach();
    assert_int_equal(machine_counters(), 0);
    pthread_barrier_destroy(&barrier);
}

static void every_refusal_says_what_to_do(void **state)
{
    static const struct {
        int refused;
        const char *why;
    } cases[] = {
        {ENOSYS, "this kernel has no perf_event_open, or a container hides it"},
        {ENOENT, "this machine has none; a virtual machine often hides it"},
        {EOPNOTSUPP, "this machine has none; a virtual machine often hides it"},
        {ENODEV, "this machine has none; a virtual machine often hides it"},
        {EMFILE, "perf_event_open fails with errno 24"},
    };
    char why[120],
        wanted[120] = "perf_event_open is forbidden here: permit it in the container";
    int level = 2;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_perf_explain(cases[i].refused, why, sizeof why);
        assert_string_equal(why, cases[i].why);
    }
    FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (f && fscanf(f, "%d", &level) == 1 && level > 2)
        snprintf(wanted, sizeof wanted,
                 "kernel.perf_event_paranoid is %d: set it to 2, or give CAP_PERFMON", level);
    if (f)
        fclose(f);
    qp_perf_explain(EACCES, why, sizeof why);
    assert_string_equal(why, wanted);
    qp_perf_explain(EPERM, why, sizeof why);
    assert_string_equal(why, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_counts_from_when_it_is_attached),
        cmocka_unit_test(threads_count_what_they_do_themselves),
        cmocka_unit_test(a_descriptor_that_the_host_took_is_let_alone),
        cmocka_unit_test(a_forked_child_closes_the_counters_of_all_threads),
        cmocka_unit_test(every_refusal_says_what_to_do),
    };
    return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
