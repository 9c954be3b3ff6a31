/* test_apply.c: files of 1000 rules replace each other while threads make calls that the rules are about,
 * and register methods. Also built with the thread sanitizer.
 *
 * What files have made would be 140 MB in the end: it is freed, calls are counted all the same, and
 * the host's own trigger works as before. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "unit/trg.h"

enum {
    N_FILES = 1000,
    N_FIRST = 50,
    N_RULES = 1000,
    N_RECORDERS = 2,
    N_NEW = 200,
    MB_MAX = 32,
    N_BURST = 500
};
enum { HOT = 1, RARE, NEW };

static int is_over; /* atomic */
static uint64_t n_bursts[N_RECORDERS];

/* A trigger that counts calls and never acts, an action, an area by pattern, and names of no method. */
static void write_rules(const char *file, const char *prefix)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fprintf(out, "trigger %s off pass=1000000000000 : hot\n", prefix);
    fprintf(out, "action %s enable exit : rare\n", prefix);
    fprintf(out, "area %s include : glob:* regex:^%s$\n", prefix, prefix);
    for (unsigned i = 3; i < N_RULES; i++)
        fprintf(out, "trigger %s%u off : %s%u new%u\n", prefix, i, prefix, i, i);
    assert_int_equal(fclose(out), 0);
}

/* Bursts of calls. What acts leaves a marker, and is called in few of them. */
static void *record(void *number)
{
    uint64_t n = 0;
    for (; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); n++) {
        if (n % N_BURST == 0) {
            qprof_record_fn_entry(RARE, 1);
            qprof_record_fn_exit(0);
        }
        for (unsigned i = 0; i < N_BURST; i++) {
            qprof_record_fn_entry(HOT, 1);
            qprof_record_fn_exit(0);
        }
        usleep(200);
    }
    n_bursts[(uintptr_t)number] = n;
    return NULL;
}

/* Methods that the rules do not name, because their numbers are higher, are compared with them. */
static void *register_methods(void *unused)
{
    char name[24];
    for (unsigned i = 0; i < N_NEW && !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
        snprintf(name, sizeof name, "new%u", N_RULES + i);
        qprof_register_method_id(NEW + i, name, NULL, 0, "file", NULL, 0);
        usleep(5000);
    }
    return unused;
}

/* Memory of this process, MB. */
static unsigned resident(void)
{
    unsigned all, n = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%u %u", &all, &n), 2);
    fclose(f);
    return (unsigned)(n * (uint64_t)sysconf(_SC_PAGESIZE) >> 20);
}

static unsigned apply_files(unsigned n)
{
    char text[256];
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(trg_apply(i % 2 ? "one.conf" : "two.conf", text), 0);
    return resident();
}

QP_UNUSED static void files_that_are_replaced_are_freed(void **state)
{
    write_rules("one.conf", "o");
    write_rules("two.conf", "t");
    play_begin(*state, "-apply");
    unsigned first = apply_files(N_FIRST), last = apply_files(N_FILES - N_FIRST);
    if (last > first + MB_MAX)
        fail_msg("%u MB, then %u MB", first, last);
}

static void they_are_freed_while_threads_record(void **state)
{
    play_ctx *p = *state;
    pthread_t threads[N_RECORDERS + 1];
    write_rules("one.conf", "o");
    write_rules("two.conf", "t");
    play_begin(p, "-apply");
    qprof_register_method_id(HOT, "hot", NULL, 0, NULL, NULL, 0);
    qprof_register_method_id(RARE, "rare", NULL, 0, NULL, NULL, 0);
    qprof_trigger *mine = qprof_trigger_create("mine", QPROF_TRIGGER_OFF);
    assert_int_equal(qprof_trigger_add_routine(mine, "rare", 1), 0);
    is_over = 0;
    for (uintptr_t i = 0; i <= N_RECORDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i < N_RECORDERS ? record : register_methods, (void *)i),
                         0);
    unsigned first = apply_files(N_FIRST), last = apply_files(N_FILES - N_FIRST);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i <= N_RECORDERS; i++)
        pthread_join(threads[i], NULL);
    play_end(p);
    if (last > first + MB_MAX)
        fail_msg("%u MB, then %u MB", first, last);
    uint64_t n_rare = 0;
    for (unsigned i = 0; i < N_RECORDERS; i++)
        n_rare += (n_bursts[i] + N_BURST - 1) / N_BURST;
    assert_skips(p, "hot", (n_bursts[0] + n_bursts[1]) * N_BURST, 0);
    assert_skips(p, "rare", 0, n_rare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef __SANITIZE_THREAD__
        PLAY_TEST(files_that_are_replaced_are_freed),
#endif
        PLAY_TEST(they_are_freed_while_threads_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
