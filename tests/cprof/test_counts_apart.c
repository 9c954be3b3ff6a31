/* test_counts_apart.c tests record/control/counts.c and cover/: what cannot be added to a
 * -counts-file, be it another version or no profile at all, is left alone, and the run's data
 * are beside it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cover/merge.h"
#include "cprof/tally.h"

static const char counts[] = "-counts-file=all.pcv";

/* ---- other versions ---------------------------------------------------------------------- */

static void run_changed(const char *options, int line_1, const char *text)
{
    assert_int_equal(cprof_initialize(options, NULL), 0);
    tally_register(TALLY_F, "f", 10, line_1);
    assert_int_equal(cprof_register_source("a.x", text, strlen(text)), 0);
    tally_call(TALLY_F, 5, 2);
    cprof_shutdown();
}

static void a_changed_source_is_kept_apart(void **state)
{
    (void)state;
    run_changed(counts, 11, "one");
    run_changed(counts, 11, "one");
    run_changed(counts, 11, "two");
    tally_read("all.pcv");
    assert_tally("f", 10, 10, 4);
    tally_read("all.pcv.1");
    assert_tally("f", 5, 5, 2);
    assert_note("all.pcv is of another version of a.x");
}

static void a_changed_method_is_kept_apart(void **state)
{
    (void)state;
    tally_run(counts, 1, 1);
    assert_int_equal(cprof_initialize(counts, NULL), 0);
    tally_register(TALLY_F, "f", 10, 12);
    tally_call(TALLY_F, 2, 2);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 1, 1, 1);
    tally_read("all.pcv.1");
    assert_tally("f", 2, 2, 2);
    assert_note("f has changed");
}

static void force_merge_adds_equal_numbers_of_blocks(void **state) /* qii 45 */
{
    (void)state;
    run_changed(counts, 11, "one");
    run_changed("-counts-file=all.pcv -force-merge", 12, "two");
    tally_read("all.pcv");
    assert_tally("f", 10, 10, 4);
    assert_int_equal(play_count_files(""), 1);
}

static void force_merge_keeps_the_current_run_of_other_blocks(void **state) /* qii 45 */
{
    static const qprof_LineInfo three[] = {{0, 10}, {4, 11}, {8, 12}};
    (void)state;
    tally_run(counts, 7, 7);
    assert_int_equal(cprof_initialize("-counts-file=all.pcv -force-merge", NULL), 0);
    cprof_register_method_id(TALLY_F, "f", NULL, 0, "a.x", three, 3);
    tally_call(TALLY_F, 2, 1);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 2, 2, 1);
}

static void another_granularity_is_kept_apart(void **state)
{
    (void)state;
    tally_run(counts, 1, 1);
    tally_run("-counts-file=all.pcv -purecov-granularity=function", 2, 2);
    tally_read("all.pcv");
    assert_tally("f", 1, 1, 1);
    tally_read("all.pcv.1");
    assert_note("another -collection-granularity");
}

/* ---- damage ------------------------------------------------------------------------------ */

/* An obstacle at the name stays unchanged, and the run's data are complete next to it. */
static void assert_left_alone(const void *bytes, size_t n, const char *reason)
{
    size_t n_found;
    tally_write("all.pcv", bytes, n);
    tally_run(counts, 2, 1);
    unsigned char *found = tally_bytes("all.pcv", &n_found);
    assert_int_equal(n_found, n);
    assert_memory_equal(found, bytes, n);
    free(found);
    tally_read("all.pcv.1");
    assert_tally("f", 2, 2, 1);
    assert_note(reason);
    unlink("all.pcv.1");
}

static void what_is_no_profile_is_left_alone(void **state)
{
    static const char letter[] = "Dear reader, this file is somebody's.";
    (void)state;
    assert_left_alone(letter, sizeof letter, "all.pcv is not a profile");
    assert_left_alone("", 0, "all.pcv is not a profile");
}

static void a_damaged_file_is_left_alone(void **state)
{
    size_t n;
    (void)state;
    tally_run(counts, 2, 1);
    unsigned char *bytes = tally_bytes("all.pcv", &n);
    assert_left_alone(bytes, n - 64, "is damaged");
    bytes[4096 + 3] ^= 0x40; /* the magic of the first extent */
    assert_left_alone(bytes, n, "is damaged");
    bytes[4096 + 3] ^= 0x40;
    bytes[n - 64 - 1] ^= 1; /* of the last one: no number is impossible */
    assert_left_alone(bytes, n, "is damaged");
    bytes[n - 64 - 1] ^= 1;
    bytes[offsetof(qp_head, ended_at)] ^= 1;
    assert_left_alone(bytes, n, "is damaged");
    free(bytes);
}

static void a_live_file_is_left_alone(void **state)
{
    size_t n;
    (void)state;
    tally_run(counts, 2, 1);
    unsigned char *bytes = tally_bytes("all.pcv", &n);
    memset(bytes + offsetof(qp_head, state), 0, 4);
    assert_left_alone(bytes, n, "live file of a run");
    free(bytes);
}

static void a_link_is_not_followed(void **state)
{
    struct stat st;
    (void)state;
    tally_run("-counts-file=real.pcv", 1, 0);
    assert_int_equal(symlink("real.pcv", "link.pcv"), 0);
    assert_int_not_equal(cprof_initialize("-counts-file=link.pcv", NULL), 0);
    assert_int_equal(lstat("link.pcv", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    tally_read("real.pcv");
    assert_tally("f", 1, 1, 0);
}

static void no_memory_loses_nothing(void **state)
{
    (void)state;
    tally_run(counts, 2, 1);
    struct stat st;
    assert_int_equal(stat("all.pcv", &st), 0);
    assert_int_equal(truncate("all.pcv", 2 << 20), 0); /* a hole after the data */
    tally_run("-counts-file=all.pcv -memory-limit=1M", 3, 0);
    tally_read("all.pcv.1");
    assert_tally("f", 3, 3, 0);
    assert_note("larger than -memory-limit");
}

/* As files of older recorders are. */
static void drop_checksums(unsigned char *bytes)
{
    qp_head *h = (qp_head *)(void *)bytes;
    h->flags &= ~(uint32_t)QP_FLAG_CHECKSUMS;
    h->checksum = 0;
}

/* A profile with a bit of everything, in memory with free space after it. */
static qp_space load(const char *path, size_t room)
{
    size_t n;
    qp_space s = {0};
    unsigned char *bytes = tally_bytes(path, &n);
    assert_int_equal(qp_mapping_open(&s.map, NULL, n + room), 0);
    assert_int_equal(qp_mapping_grow(&s.map, n), QP_GROWN);
    memcpy(s.map.base, bytes, n);
    s.head = (qp_head *)(void *)s.map.base;
    free(bytes);
    return s;
}

static void make_rich(const char *options)
{
    static const qprof_JumpInfo jumps[] = {{QPROF_JUMP_ENTRY, 0}, {0, 0}};
    static const unsigned char falls[] = {1, 0};
    tally_begin(options);
    tally_register(TALLY_G, "g", 20, 21);
    cprof_register_jumps(TALLY_G, jumps, 2, falls);
    cprof_register_source("a.x", "text", 4);
    ++*cprof_counter_bank(TALLY_G);
    cprof_context("a");
    tally_call(TALLY_F, 3, 1);
    cprof_context("b");
    ++*cprof_counter_bank(TALLY_G);
    cprof_save_data();
    cprof_clear_data();
    tally_call(TALLY_F, 3, 1);
    cprof_shutdown();
}

static void any_damage_is_harmless(void **state)
{
    enum { TRIES = 3000 };
    unsigned random = 12345;
    size_t n, n_merged = 0;
    (void)state;
    make_rich(counts);
    make_rich(counts);
    unsigned char *old = tally_bytes("all.pcv", &n);
    drop_checksums(old);
    tally_run("-output=now.pcv", 3, 1);
    for (unsigned i = 0; i < TRIES; i++) {
        qp_error why = {0};
        unsigned char *damaged = malloc(n); /* exactly: sanitizers detect reads past it */
        qp_space now = load("now.pcv", 4 << 20);
        memcpy(damaged, old, n);
        for (unsigned k = 0; k < 1 + i % 4;) { /* words that say something */
            static const uint32_t words[] = {0, 1, 0xFFFFFFFF, 64};
            random = random * 1103515245 + 12345;
            unsigned char *at = damaged + (random >> 3) % n / 4 * 4;
            if (!memcmp(at, &words[0], 4))
                continue;
            memcpy(at, &words[random >> 30], 4);
            k++;
        }
        size_t n_shown = i % 50 ? n : random % n;
        ((qp_head *)(void *)damaged)->state = i % 2 ? QP_SNAPSHOT : QP_SEALED;
        if (qp_merge_counts(&now, (const char *)damaged, n_shown, i % 3 == 0, &why))
            n_merged++;
        else
            assert_int_not_equal(strlen(why.text), 0);
        qp_mapping_close(&now.map);
        free(damaged);
    }
    free(old);
    assert_in_range(n_merged, TRIES / 10, TRIES * 9 / 10); /* both ways were taken */
    tally_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_changed_source_is_kept_apart),
        PLAY_TEST(a_changed_method_is_kept_apart),
        PLAY_TEST(force_merge_adds_equal_numbers_of_blocks),
        PLAY_TEST(force_merge_keeps_the_current_run_of_other_blocks),
        PLAY_TEST(another_granularity_is_kept_apart),
        PLAY_TEST(what_is_no_profile_is_left_alone),
        PLAY_TEST(a_damaged_file_is_left_alone),
        PLAY_TEST(a_live_file_is_left_alone),
        PLAY_TEST(a_link_is_not_followed),
        PLAY_TEST(no_memory_loses_nothing),
        PLAY_TEST(any_damage_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
