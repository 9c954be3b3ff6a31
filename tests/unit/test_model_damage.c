/* test_model_damage.c: profiles that are cut, hit, hostile, foreign, or no profiles at all. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/cover/cover.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

/* Something of everything: two threads, a class, lines, jumps, banks, a stack, notes, contexts
 * with shares, a source. */
static profile *sample(void)
{
    static const qp_line lines[] = {{0, 15}, {7, 16}, {12, 19}};
    static const qp_jump jumps[] = {{0, 2}, {-1, 1}};
    static const unsigned char falls[] = {1, 1, 0};
    profile *p = profile_new();
    qp_cell f = profile_method(p, 1, "f", "Klass", "f.lua"),
            g = profile_method(p, 2, "g", 0, 0);
    ((qp_method *)profile_at(p, f))->lines = profile_lines(p, lines, 3);
    ((qp_method *)profile_at(p, f))->jumps = profile_jumps(p, jumps, 2, falls, 3);
    for (unsigned i = 0; i < 2; i++) {
        qp_cell th = profile_thread(p);
        qp_cell outer = profile_node(p, th, 0, f, 3, 30);
        qp_cell inner = profile_node(p, th, outer, g, 5, 50);
        profile_more(p, th, inner)->n_skips = 1;
        qp_cell frames = profile_stack(p, th, (qp_cell[]){outer, inner}, 2);
        *(qp_frame *)profile_at(p, frames + 1) =
            (qp_frame){.node = (uint64_t)outer * QP_CELL, .flags = QP_FRAME_MARKED, .block = 1};
        profile_bank(p, th, f, QP_COUNTER_BLOCK_COUNTS, 2, 3)->values[0] = 1;
        profile_bank(p, th, f, QP_COUNTER_BLOCK_TIMES, 7, 3)->values[6] = 1;
        profile_balance(p, th, 9, 2);
    }
    qp_ref text = profile_text(p, "a note");
    qp_cell note = profile_extent(p, QP_EXTENT_BLOBS, 0, 1);
    *(qp_note *)profile_at(p, note) = (qp_note){.text = text};
    profile_head(p)->notes = note * (QP_CELL / 8);
    profile_head(p)->program = profile_text(p, "program");
    qp_cell context = profile_context(p, "a test");
    profile_share(p, context, f, 1, 2, 3)->values[1] = 1;
    profile_head(p)->context = profile_context(p, NULL);
    profile_source(p, "f.lua", 42);
    return p;
}

static void use_coverage(const qp_model *m)
{
    qp_error error;
    qp_cover_set *s = qp_cover_set_new();
    assert_true(qp_cover_set_add(s, m, "damaged", NULL, &error));
    qp_cover *c = qp_cover_derive(s, &(qp_cover_options){.is_unadjusted = true}, &error);
    assert_non_null(c);
    assert_true(c->totals.lines_hit <= c->totals.lines);
    qp_cover_free(c);
    qp_cover_set_free(s);
}

/* Ask a model everything there is to ask. */
static void use(const qp_model *m)
{
    qp_check *checks;
    size_t n;
    assert_true(qp_model_check(m, &checks, &n));
    qp_free(checks);
    for (uint32_t i = 0; i < m->n_methods; i++) {
        qp_edge *edges;
        qp_block_figures *blocks;
        qp_line_figures *lines;
        assert_true(qp_model_callers(m, i, QP_ALL_THREADS, &edges, &n));
        qp_free(edges);
        assert_true(qp_model_callees(m, i, QP_ALL_THREADS, &edges, &n));
        qp_free(edges);
        assert_true(qp_model_blocks(m, i, QP_ALL_THREADS, &blocks, &n));
        qp_free(blocks);
        assert_true(qp_model_lines(m, m->methods[i].file, 0, QP_ALL_THREADS, &lines, &n));
        qp_free(lines);
        assert_true(strlen(m->methods[i].name) < 1 << 20);
    }
    uint32_t *path;
    qp_pair *pairs;
    qp_model_file *files;
    assert_true(qp_model_hottest_path(m, QP_ALL_THREADS, &path, &n));
    qp_free(path);
    assert_true(qp_model_pairs(m, QP_ALL_THREADS, &pairs, &n));
    qp_free(pairs);
    assert_true(qp_model_files(m, &files, &n));
    qp_free(files);
    for (size_t i = 0; i < m->n_losses; i++)
        assert_null(strchr(m->losses[i], '\n'));
    use_coverage(m);
}

static qp_load_status try_bytes(const void *bytes, size_t n_bytes)
{
    qp_model *m;
    qp_error error;
    qp_load_status status = qp_model_load_bytes(bytes, n_bytes, NULL, &m, &error);
    if (status == QP_LOAD_UNUSABLE) {
        assert_null(m);
        assert_true(error.text[0] != '\0');
        assert_null(strchr(error.text, '\n'));
    } else {
        assert_int_equal(status == QP_LOAD_SALVAGED, m->n_losses > 0);
        use(m);
        qp_model_free(m);
    }
    return status;
}

static void an_undamaged_profile_is_clean(void **state)
{
    (void)state;
    profile *p = sample();
    assert_int_equal(try_bytes(p->bytes, profile_bytes(p)), QP_LOAD_CLEAN);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_true(profile_passes(m, "accounting_identity"));
    assert_string_equal(m->run.program, "program");
    assert_int_equal(m->run.n_notes, 1);
    assert_string_equal(m->run.notes[0].text, "a note");
    qp_model_free(m);
}

static void a_profile_cut_at_any_byte_is_salvaged_or_refused(void **state)
{
    (void)state;
    profile *p = sample();
    for (size_t n = 0; n < profile_bytes(p); n++) {
        qp_load_status expected =
            n < QP_HEAD_CELLS * QP_CELL ? QP_LOAD_UNUSABLE : QP_LOAD_SALVAGED;
        unsigned char *exact = malloc(n ? n : 1); /* so that reads past the end are found */
        memcpy(exact, p->bytes, n);
        assert_int_equal(try_bytes(exact, n), expected);
        free(exact);
    }
    profile_free(p);
}

static void no_flipped_bit_does_harm(void **state)
{
    (void)state;
    profile *p = sample();
    for (size_t bit = 0; bit < profile_bytes(p) * 8; bit++) {
        p->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        try_bytes(p->bytes, profile_bytes(p));
        p->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    profile_free(p);
}

static void hostile_numbers_do_no_harm(void **state)
{
    static const uint32_t values[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 64};
    (void)state;
    profile *p = sample();
    for (size_t at = 40; at + 4 <= profile_bytes(p); at += 4)
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            uint32_t before;
            memcpy(&before, p->bytes + at, sizeof before);
            memcpy(p->bytes + at, &values[i], sizeof before);
            try_bytes(p->bytes, profile_bytes(p));
            memcpy(p->bytes + at, &before, sizeof before);
        }
    profile_free(p);
}

static void spliced_profiles_do_no_harm(void **state)
{
    (void)state;
    profile *p = sample(), *spliced = profile_new();
    uint64_t seed = 42;
    memcpy(spliced->bytes, p->bytes, sizeof p->bytes);
    for (unsigned i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t n = profile_bytes(p), from = (size_t)(seed >> 33) % n;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t to = 4096 + (size_t)(seed >> 33) % (n - 4096);
        size_t length = (size_t)(seed >> 20) % 256;
        length = from + length > n ? n - from : length;
        length = to + length > n ? n - to : length;
        memcpy(spliced->bytes + to, p->bytes + from, length);
        try_bytes(spliced->bytes, n);
        if (i % 8 == 7)
            memcpy(spliced->bytes, p->bytes, n);
    }
    profile_free(spliced);
    profile_free(p);
}

/* A lost extent in the middle: what follows it is found again. */
static void reading_resumes_after_a_damaged_stretch(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell f = profile_method(p, 1, "f", NULL, NULL),
            g = profile_method(p, 2, "g", NULL, NULL);
    qp_cell lost = profile_node(p, th, 0, f, 1, 10);
    profile_node(p, th, lost, g, 2, 20);
    memset(profile_at(p, lost - 1), 0xAA, QP_CELL);
    qp_model *m = profile_read(p, QP_LOAD_SALVAGED);
    assert_int_equal(profile_find(m, "f")->all.calls, 0);
    assert_int_equal(profile_find(m, "g")->all.calls, 2); /* below its thread now */
    assert_int_equal(profile_find(m, "g")->all.total, 20);
    assert_false(profile_passes(m, "tree_reachable"));
    assert_false(profile_passes(m, "extents"));
    qp_model_free(m);
}

/* Killed between claiming an extent and writing it: nothing was lost. */
static void a_claimed_gap_is_no_damage(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_head(p)->state = QP_LIVE;
    qp_cell gap = profile_extent(p, QP_EXTENT_AUX, 0, 7);
    memset(profile_at(p, gap - 1), 0, QP_CELL);
    profile_method(p, 1, "f", NULL, NULL);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_non_null(profile_find(m, "f"));
    qp_model_free(m);
}

static void unknown_extents_are_skipped(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell unknown = profile_extent(p, (qp_extent_kind)77, 0, 3);
    memset(profile_at(p, unknown), 0xFF, 3 * QP_CELL);
    profile_method(p, 1, "f", NULL, NULL);
    profile_head(p)->minor = 9;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_non_null(profile_find(m, "f"));
    qp_model_free(m);
}

/* Texts that overlap could be the names of many methods: what we make of them stays bounded. */
static void long_shared_names_cost_no_memory(void **state)
{
    (void)state;
    profile *p = profile_new();
    enum { LONG = 60000, METHODS = 500 };
    char *name = malloc(LONG + 1);
    memset(name, 'x', LONG);
    name[LONG] = '\0';
    qp_ref text = profile_text(p, name);
    qp_cell cells = profile_extent(p, QP_EXTENT_METHODS, 0, METHODS);
    for (uint32_t i = 0; i < METHODS; i++)
        *(qp_method *)profile_at(p, cells + i) = (qp_method){
            .flags = QP_METHOD_REGISTERED, .name = text, .class_name = text, .published = 1};
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_int_equal(m->n_methods, METHODS + 1);
    qp_model_free(m);
    free(name);
}

static void assert_refused(profile *p, const char *why)
{
    qp_model *m;
    qp_error error;
    assert_int_equal(qp_model_load_bytes(p->bytes, profile_bytes(p), NULL, &m, &error),
                     QP_LOAD_UNUSABLE);
    assert_non_null(strstr(error.text, why));
    profile_free(p);
}

static void foreign_versions_and_machines_are_refused(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_head(p)->major = 1;
    assert_refused(p, "version 1.0, this program reads version 2");
    p = profile_new();
    profile_head(p)->endian = 0x04030201u;
    assert_refused(p, "byte order");
    p = profile_new();
    p->bytes[0] = 'X';
    assert_refused(p, "not a qprof profile");
}

/* ---- what is not a file ------------------------------------------------------------------ */

static void assert_no_profile(const char *path, const char *why)
{
    qp_model *m;
    qp_error error;
    assert_int_equal(qp_model_load(path, NULL, &m, &error), QP_LOAD_UNUSABLE);
    assert_null(m);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, why));
}

static void what_is_no_plain_file_is_refused_at_once(void **state)
{
    (void)state;
    char folder[] = "/tmp/qprof-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_no_profile(folder, "directory");
    assert_no_profile("/dev/zero", "device");
    snprintf(path, sizeof path, "%s/none", folder);
    assert_no_profile(path, "no such file");
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_no_profile(path, "pipe");
    unlink(path);
    snprintf(path, sizeof path, "%s/empty", folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_no_profile(path, "empty");
    if (ftruncate(fd, (off_t)1 << 40) == 0) /* 1 TB of nothing */
        assert_no_profile(path, "not a qprof profile");
    close(fd);
    unlink(path);
    rmdir(folder);
}

/* A profile in front of a terabyte of hole: too large; of a GB: read, and not slowly. */
static void holes_cost_nothing(void **state)
{
    (void)state;
    profile *p = sample();
    char path[] = "/tmp/qprof-test-XXXXXX";
    qp_error error;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, p->bytes, profile_bytes(p)), profile_bytes(p));
    if (ftruncate(fd, (off_t)1 << 40) == 0)
        assert_no_profile(path, "too large");
    if (ftruncate(fd, (off_t)1 << 30) == 0) {
        qp_model *m;
        assert_int_equal(qp_model_load(path, NULL, &m, &error), QP_LOAD_CLEAN);
        assert_int_equal(m->n_threads, 3);
        qp_model_free(m);
    }
    close(fd);
    unlink(path);
    profile_free(p);
}

static void every_failing_allocation_is_an_error_and_no_leak(void **state)
{
    (void)state;
    profile *p = sample();
    qp_model *m;
    qp_error error;
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (uint64_t n = 1;; n++) {
            qp_alloc_fail_after(n, for_ever);
            qp_load_status status =
                qp_model_load_bytes(p->bytes, profile_bytes(p), NULL, &m, &error);
            bool is_done = qp_alloc_count() < n;
            qp_alloc_fail_after(0, false);
            assert_int_equal(status, is_done ? QP_LOAD_CLEAN : QP_LOAD_UNUSABLE);
            qp_model_free(m);
            if (is_done)
                break;
            assert_non_null(strstr(error.text, "memory"));
        }
    profile_free(p);
}

/* Question i about a model. @return false: it ran out of memory */
static bool ask(const qp_model *m, unsigned i)
{
    void *answer = NULL;
    size_t n;
    qp_figures rows[8];
    bool is_ok = true;
    if (i == 0)
        is_ok = qp_model_callees(m, 1, QP_ALL_THREADS, (qp_edge **)&answer, &n);
    else if (i == 1)
        is_ok = qp_model_callers(m, 1, QP_ALL_THREADS, (qp_edge **)&answer, &n);
    else if (i == 2)
        is_ok = qp_model_pairs(m, QP_ALL_THREADS, (qp_pair **)&answer, &n);
    else if (i == 3)
        is_ok = qp_model_hottest_path(m, QP_ALL_THREADS, (uint32_t **)&answer, &n);
    else if (i == 4)
        is_ok = qp_model_lines(m, "f.lua", 0, QP_ALL_THREADS, (qp_line_figures **)&answer, &n);
    else if (i == 5)
        is_ok = qp_model_files(m, (qp_model_file **)&answer, &n);
    else if (i == 6)
        is_ok = qp_model_check(m, (qp_check **)&answer, &n);
    else if (i == 7)
        is_ok =
            qp_model_stack_suffixes(m, 1, QP_ALL_THREADS, 5, (qp_stack_suffix **)&answer, &n);
    else
        is_ok = qp_model_flat(m, QP_ALL_THREADS, rows);
    qp_free(answer);
    return is_ok;
}

static void every_question_may_run_out_of_memory(void **state)
{
    enum { QUESTIONS = 9 };
    (void)state;
    for (uint32_t mode = QP_TIME_EXACT; mode <= QP_TIME_SAMPLED; mode++) {
        profile *p = sample();
        profile_head(p)->time_mode = mode;
        qp_model *m = profile_load(p, QP_LOAD_CLEAN);
        for (unsigned i = 0; i < QUESTIONS; i++)
            for (uint64_t n = 1;; n++) {
                qp_alloc_fail_after(n, true);
                bool is_ok = ask(m, i);
                bool is_done = qp_alloc_count() < n;
                qp_alloc_fail_after(0, false);
                assert_true(is_ok || !is_done);
                if (is_done)
                    break;
            }
        qp_model_free(m);
        profile_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_undamaged_profile_is_clean),
        cmocka_unit_test(a_profile_cut_at_any_byte_is_salvaged_or_refused),
        cmocka_unit_test(no_flipped_bit_does_harm),
        cmocka_unit_test(hostile_numbers_do_no_harm),
        cmocka_unit_test(spliced_profiles_do_no_harm),
        cmocka_unit_test(reading_resumes_after_a_damaged_stretch),
        cmocka_unit_test(a_claimed_gap_is_no_damage),
        cmocka_unit_test(unknown_extents_are_skipped),
        cmocka_unit_test(long_shared_names_cost_no_memory),
        cmocka_unit_test(foreign_versions_and_machines_are_refused),
        cmocka_unit_test(what_is_no_plain_file_is_refused_at_once),
        cmocka_unit_test(holes_cost_nothing),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
        cmocka_unit_test(every_question_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
