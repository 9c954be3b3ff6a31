/* test_triggers_counters.c: counters in place of time: triggers 40 and 49 of the checklist. What the
 * machine counts is made to happen by hand: pages that are touched, waits. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "play.h"

enum { PAGES = 1024 };

/* Touch so many new pages: each is a fault that needs no disk. Out of sight of the thread sanitizer,
 * which touches two pages of its own beside each. */
__attribute__((no_sanitize("thread", "address"))) static void touch(unsigned n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise(memory, n * page, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < n; i++)
        ((volatile char *)memory)[i * page] = 1;
    munmap(memory, n * page);
}

/* The thread lets others run, so many times at least. */
static void wait_often(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct timespec t = {0, 100000};
        nanosleep(&t, NULL);
    }
}

/* A sanitizer touches pages of its own beside them. */
static void assert_about(uint64_t found, uint64_t wanted)
{
    if (found < wanted || found > wanted + wanted / 4)
        fail_msg("%lu is not about %lu", (unsigned long)found, (unsigned long)wanted);
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
static void page_faults_obey_the_rules_of_time(void **state) /* triggers 49 */
{
    static const char *const clocks[] = {"-clock=soft-page-faults", "-clock=page-faults"};
    play_ctx *p = *state;
    for (size_t i = 0; i < 2; i++) {
        play_begin(p, clocks[i]);
        play(p, "a( b( )"); /* their paths: what the recorder touches itself */
        touch(PAGES);
        play(p, "b(");
        touch(2 * PAGES);
        play(p, ")");
        qprof_stop_recording();
        touch(4 * PAGES);
        play(p, "b(");
        touch(4 * PAGES);
        qprof_start_recording();
        touch(8 * PAGES);
        play(p, ") )");
        play_end(p);
        qp_figures a = play_figures(p, QP_ALL_THREADS, "a"),
                   b = play_figures(p, QP_ALL_THREADS, "b");
        assert_about(a.self, PAGES);
        assert_about(b.self, 10 * PAGES);
        assert_int_equal(a.total, a.self + b.self);
        assert_int_equal(b.total, b.self);
        assert_string_equal(p->m->run.unit, "faults");
        assert_int_equal(unlink("run.qprof"), 0);
    }
}

static void a_thread_that_is_off_counts_nothing(void **state) /* triggers 44, 49 */
{
    play_ctx *p = *state;
    play_begin(p, "-clock=soft-page-faults");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "quiet", 1);
    play(p, "a( quiet( )");
    touch(PAGES);
    play(p, "quiet(");
    touch(8 * PAGES);
    play(p, ")");
    touch(2 * PAGES);
    play(p, ")");
    play_end(p);
    assert_about(play_figures(p, QP_ALL_THREADS, "a").self, 3 * PAGES);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "quiet").self, 0);
}

static void context_switches_obey_the_rules_of_time(void **state) /* triggers 49 */
{
    enum { WAITS = 40 };
    play_ctx *p = *state;
    play_begin(p, "-clock=context-switches");
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
    play_ctx *p = *state;
    play_begin(p, "");
    play(p, "A( 2000000000 A( 2000000000 A( 2000000000 A( 2000000000 ) ) ) )");
    play_end(p);
    assert_flat(p, "A", 4, 8000000000, 8000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(counters_that_the_machine_has_not_are_refused),
        PLAY_TEST(page_faults_obey_the_rules_of_time),
        PLAY_TEST(a_thread_that_is_off_counts_nothing),
        PLAY_TEST(context_switches_obey_the_rules_of_time),
        PLAY_TEST(four_calls_deep_are_eight_seconds_once),
    };
    return cmocka_run_group_tests_name("triggers, counters", tests, NULL, NULL);
}
