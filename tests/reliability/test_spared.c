/* test_spared.c: what once hurt a host and must not again: forked children that still hold
 * pointers, limits and closed pipes at the end of a run, ids that mean another program. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "qprof.h"

/* Run in a child. @return its exit status, or -1: a signal ended it */
static int status_of(int (*run)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void begin(const char *options)
{
    static const qprof_LineInfo lines[] = {{0, 1}, {4, 2}};
    unsetenv("QPROF");
    assert_int_equal(qprof_initialize(options, NULL), 0);
    qprof_register_method_id(1, "main", NULL, 0, "a.src", lines, 2);
    qprof_record_fn_entry(1, 1);
}

static uint64_t *counters;

static int increment_the_bank(void)
{
    counters[0]++;
    counters[1] += 2;
    return 0;
}

static void a_forked_child_may_increment_a_counter_bank(void **state)
{
    (void)state;
    begin("-output=bank.qprof");
    counters = qprof_counter_bank(1);
    assert_non_null(counters);
    counters[0] = 5;
    assert_int_equal(status_of(increment_the_bank), 0);
    assert_int_equal(counters[0], 5); /* the parent's is its own */
    qprof_shutdown();
}

static int count_live_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char link[300], target[300] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%.255s", e->d_name);
        if (readlink(link, target, sizeof target - 1) > 0 && strstr(target, "/qprof-"))
            n++;
    }
    if (d)
        closedir(d);
    return n;
}

static void a_forked_child_keeps_no_descriptor_of_the_live_file(void **state)
{
    (void)state;
    begin("-output=fork.qprof");
    if (!qprof_live_file()[0])
        skip();
    assert_int_equal(count_live_descriptors(), 1);
    assert_int_equal(status_of(count_live_descriptors), 0);
    qprof_shutdown();
}

static void *announce_and_end_id_0(void *unused)
{
    (void)unused;
    qprof_thread_create(0);
    qprof_record_fn_entry(1, 1);
    qprof_thread_destroy(0);
    return NULL;
}

static void id_0_means_the_thread_that_announced_it(void **state)
{
    pthread_t other;
    (void)state;
    begin("-output=zero.qprof");
    assert_int_equal(pthread_create(&other, NULL, announce_and_end_id_0, NULL), 0);
    pthread_join(other, NULL);
    assert_int_equal(qprof_current_method_id(), 1);
    assert_int_equal(qprof_diagnostic("destroyed_live"), 1);
    qprof_shutdown();
}

static int end_over_the_file_size_limit(void)
{
    const struct rlimit small = {16 * 1024, 16 * 1024};
    begin("-output=limit.qprof");
    for (uintptr_t i = 2; i < 2000; i++)
        qprof_register_method_id(i, "a method with a name", NULL, 0, "a.src", NULL, 0);
    setrlimit(RLIMIT_FSIZE, &small);
    qprof_shutdown();
    return qprof_diagnostic("e_io") == 1 && access("limit.qprof", F_OK) != 0 ? 0 : 1;
}

static void a_profile_over_the_file_size_limit_spares_the_host(void **state)
{
    (void)state;
    assert_int_equal(status_of(end_over_the_file_size_limit), 0);
}

static int end_on_a_closed_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    close(ends[0]);
    dup2(ends[1], 2);
    signal(SIGPIPE, SIG_DFL);
    begin("-output=pipe.qprof -summary=stderr");
    qprof_shutdown();
    return 0;
}

static void a_summary_without_a_reader_spares_the_host(void **state)
{
    (void)state;
    assert_int_equal(status_of(end_on_a_closed_pipe), 0);
}

static void a_thread_that_saw_a_stop_records_in_the_next_run(void **state)
{
    (void)state;
    for (int run = 0; run < 3; run++) {
        begin("-output=again.qprof");
        qprof_record_fn_entry(1, 0); /* an id that keeps the thread off the usual path */
        qprof_stop_recording();
        assert_int_equal(qprof_current_method_id(), 1);
        qprof_shutdown();
        assert_int_equal(qprof_diagnostic("still_live"), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forked_child_may_increment_a_counter_bank),
        cmocka_unit_test(a_forked_child_keeps_no_descriptor_of_the_live_file),
        cmocka_unit_test(id_0_means_the_thread_that_announced_it),
        cmocka_unit_test(a_profile_over_the_file_size_limit_spares_the_host),
        cmocka_unit_test(a_summary_without_a_reader_spares_the_host),
        cmocka_unit_test(a_thread_that_saw_a_stop_records_in_the_next_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
