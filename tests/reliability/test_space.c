/* test_space.c: how much address space a run takes, and what it does where there is little. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/pool.h"
#include "base/containers/stable.h"
#include "base/os/mapping.h"
#include "unit/play.h"

enum { MIB = 1 << 20, FEW = 2 * MIB };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 }; /* they reserve terabytes, and memory for each thread */
#else
enum { IS_SANITIZED = 0 };
#endif

/* The address space of this process. */
static uint64_t space_bytes(void)
{
    unsigned long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%lu", &pages), 1);
    fclose(in);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that a system without overcommitment sets aside: of private memory that can be written. */
static uint64_t committed_bytes(void)
{
    char line[512], access[8];
    uint64_t sum = 0;
    FILE *in = fopen("/proc/self/maps", "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && access[1] == 'w' &&
            access[3] == 'p')
            sum += to - from;
    }
    fclose(in);
    return sum;
}

static void call(qprof_MethodID method)
{
    qprof_record_fn_entry(method, 1);
    qprof_record_fn_exit(0);
}

/* Pointers into a run stay valid during the next one: replace the memory of earlier runs by that of
 * small ones. */
static void forget_runs(play_ctx *p)
{
    for (int i = 0; i < 2; i++) {
        play_begin(p, "-memory-limit=1M");
        qprof_shutdown(); /* nothing was recorded: no file */
    }
}

/* ---- how much ---------------------------------------------------------------------------- */

static void use_everything(play_ctx *p)
{
    qprof_MethodID f = play_method(p, "f");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
    assert_int_equal(qprof_trigger_add_routine(t, "g", 1), 0);
    assert_true(qprof_trg_add(QPROF_EV_FN_EXIT, QPROF_TRG_ENABLE, QPROF_TRG_CTX_ANY, 0, f,
                              QPROF_TRG_COND_NO, 0, NULL, 0, 0, 0, NULL, QPROF_TRG_ACT_NONE,
                              NULL, 0, 0) != 0);
    qprof_trg_on();
    call(f);
}

static void a_run_reserves_at_most_twice_its_memory_limit(void **state) /* issue 15, part 9 */
{
    if (IS_SANITIZED)
        skip();
    static const unsigned limits[] = {8, 64, 256};
    static const char *const options[] = {"", "-trace -time=sampled",
                                          "-trace-mode=stream -time=sampled '-pc=REAL 1000'",
                                          "-collect=coverage,profile"};
    char words[160];
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 4; k++) {
            forget_runs(*state);
            uint64_t before = space_bytes(), committed = committed_bytes();
            snprintf(words, sizeof words, "%s -memory-limit=%uM", options[k], limits[i]);
            play_begin(*state, words);
            use_everything(*state);
            assert_in_range(space_bytes() - before, 0, 2 * (uint64_t)limits[i] * MIB);
            assert_in_range(committed_bytes() - committed, 0,
                            FEW + (uint64_t)limits[i] * MIB / 2);
            play_end(*state);
            assert_int_equal(qprof_diagnostic("memory_reduced"), 0);
        }
}

static void a_plain_run_commits_little(void **state)
{
    if (IS_SANITIZED)
        skip();
    uint64_t committed = committed_bytes();
    play_begin(*state, "");
    call(play_method(*state, "f"));
    assert_in_range(committed_bytes() - committed, 0, FEW);
    play_end(*state);
}

static void runs_that_follow_each_other_do_not_pile_up(void **state)
{
    if (IS_SANITIZED)
        skip();
    enum { RUNS = 8 };
    forget_runs(*state);
    uint64_t before = space_bytes();
    for (int i = 0; i < RUNS; i++) {
        play_begin(*state, "-memory-limit=64M");
        call(play_method(*state, "f"));
        assert_in_range(space_bytes() - before, 60 * MIB, 2 * 64 * MIB);
        play_end(*state);
    }
}

/* ---- where there is little ---------------------------------------------------------------- */

/* The exit status of a child that records with so much more address space. */
static int status_with(play_ctx *p, uint64_t more_bytes)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const struct rlimit limit = {space_bytes() + more_bytes, RLIM_INFINITY};
        int status = 0;
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            _exit(99);
        if (qprof_initialize("-output=run.qprof", NULL) != 0)
            _exit(50);
        if (qprof_config_line("-time-unit=ms") != 0) /* which puts all options in force again */
            _exit(52);
        for (uintptr_t i = 1; i <= 2000; i++)
            call(i);
        if (qprof_diagnostic("memory_reduced") != 1)
            status = 51;
        qprof_shutdown();
        _exit(status);
    }
    (void)p;
    return play_child_status(child);
}

static void little_address_space_makes_a_smaller_run(void **state) /* as under ulimit -v */
{
    static const unsigned more[] = {400, 64, 16, 8};
    play_ctx *p = *state;
    if (IS_SANITIZED)
        skip();
    for (unsigned i = 0; i < sizeof more / sizeof *more; i++) {
        assert_int_equal(status_with(p, (uint64_t)more[i] * MIB), 0);
        play_read(p, "run.qprof");
        assert_int_equal(p->m->run.calls, 2000);
        assert_in_range(p->m->run.memory_limit_bytes, 1 * MIB, 255 * MIB);
        assert_int_equal(p->m->run.n_notes, 1);
        assert_non_null(strstr(p->m->run.notes[0].text, "because address space is limited"));
        remove("run.qprof");
    }
}

static void without_address_space_there_is_no_run_and_no_harm(void **state)
{
    if (IS_SANITIZED)
        skip();
    for (uint64_t more = 0; more < 4 * MIB; more += 256 << 10) {
        int status = status_with(*state, more);
        assert_true(status == 0 || status == 50);
        remove("run.qprof");
    }
}

static void a_run_takes_a_quarter_of_a_limited_address_space(void **state)
{
    (void)state;
    assert_int_equal(qp_mapping_share(256 * MIB, UINT64_MAX), 256 * MIB);
    assert_int_equal(qp_mapping_share(256 * MIB, 400 * MIB), 100 * MIB);
    assert_int_equal(qp_mapping_share(64 * MIB, 400 * MIB), 64 * MIB);
    assert_int_equal(qp_mapping_share(UINT64_C(16) << 30, UINT64_C(2) << 30), 512 * MIB);
    assert_int_equal(qp_mapping_share(256 * MIB, 1), MIB); /* which will be refused */
}

/* ---- memory without a file ---------------------------------------------------------------- */

static void memory_without_a_file_is_committed_as_it_grows(void **state)
{
    if (IS_SANITIZED)
        skip();
    (void)state;
    qp_mapping m;
    uint64_t committed = committed_bytes();
    assert_int_equal(qp_mapping_open(&m, NULL, 256 * MIB), 0);
    assert_in_range(committed_bytes() - committed, 0, MIB);
    assert_int_equal(qp_mapping_grow(&m, 10 * MIB), QP_GROWN);
    memset(m.base, 1, 10 * MIB);
    assert_in_range(committed_bytes() - committed, 10 * MIB, 11 * MIB);
    qp_mapping_detach(&m);
    qp_mapping_trim(&m);
    assert_int_equal(m.reserved_bytes, 10 * MIB);
    assert_int_equal(m.base[10 * MIB - 1], 1);
    qp_mapping_close(&m);
    assert_in_range(committed_bytes(), 0, committed);
}

/* ---- containers that take space as they grow ---------------------------------------------- */

static void items_of_an_array_stay_where_they_are(void **state)
{
    enum { N = 100000 };
    static qp_stable s = {.item_bytes = 128};
    (void)state;
    assert_null(qp_stable_at(&s, 0));
    uint32_t *first = qp_stable_make(&s, 0);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t *item = qp_stable_make(&s, i);
        assert_non_null(item);
        assert_int_equal(*item, 0);
        *item = i + 1;
    }
    assert_ptr_equal(qp_stable_at(&s, 0), first);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(*(uint32_t *)qp_stable_at(&s, i), i + 1);
    assert_null(qp_stable_at(&s, 1024 * 127)); /* parts of 1,024, 2,048, ... hold 130,048 */
    assert_null(qp_stable_make(&s, QP_STABLE_MOST));
}

static void cells_of_a_pool_are_its_own(void **state)
{
    enum { N = 60000, CELLS = 3 };
    static qp_pool pool;
    static uint32_t cells[N];
    const char text[64] = "";
    (void)state;
    assert_int_equal(qp_pool_cell(&pool, text, 1), 0);
    for (unsigned round = 0; round < 2; round++) { /* the second finds the parts of the first */
        for (uint32_t i = 0; i < N; i++) {
            cells[i] = qp_pool_take(&pool, CELLS * 64);
            uint64_t *item = qp_pool_at(&pool, cells[i]);
            for (unsigned k = 0; k < CELLS * 8; k++) {
                assert_int_equal(item[k], 0);
                item[k] = i + 1;
            }
        }
        for (uint32_t i = 0; i < N; i++) {
            const uint64_t *item = qp_pool_at(&pool, cells[i]);
            assert_int_equal(item[0], i + 1);
            assert_int_equal(item[CELLS * 8 - 1], i + 1);
            assert_int_equal(qp_pool_cell(&pool, item, CELLS), cells[i]);
            assert_int_equal(qp_pool_cell(&pool, item + 8, CELLS), 0); /* inside an item */
            assert_int_equal(qp_pool_cell(&pool, item + 1, 1), 0);
        }
        qp_pool_clear(&pool);
        assert_int_equal(qp_pool_cell(&pool, qp_pool_at(&pool, cells[0]), CELLS), 0);
    }
    uint32_t large = qp_pool_take(&pool, 20 * MIB);
    memset(qp_pool_at(&pool, large), 1, 20 * MIB);
    uint32_t ref = qp_pool_text(&pool, "a text", 6);
    assert_string_equal(qp_pool_text_at(&pool, ref), "a text");
    assert_string_equal(qp_pool_text_at(&pool, 0), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_run_reserves_at_most_twice_its_memory_limit),
        PLAY_TEST(a_plain_run_commits_little),
        PLAY_TEST(runs_that_follow_each_other_do_not_pile_up),
        PLAY_TEST(little_address_space_makes_a_smaller_run),
        PLAY_TEST(without_address_space_there_is_no_run_and_no_harm),
        PLAY_TEST(a_run_takes_a_quarter_of_a_limited_address_space),
        PLAY_TEST(memory_without_a_file_is_committed_as_it_grows),
        PLAY_TEST(items_of_an_array_stay_where_they_are),
        PLAY_TEST(cells_of_a_pool_are_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
