/* test_model_lines.c: executions and times of blocks, lines, files, sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

/* Three blocks; the first and the last lie on one line. */
static const qp_line three_blocks[] = {{0, 15}, {7, 16}, {12, 15}};

typedef struct {
    profile *p;
    qp_cell thread, method, node;
} world;

static world begin(uint64_t calls, uint64_t self)
{
    world w = {.p = profile_new()};
    w.thread = profile_thread(w.p);
    w.method = profile_method(w.p, 1, "f", NULL, "f.lua");
    ((qp_method *)profile_at(w.p, w.method))->lines = profile_lines(w.p, three_blocks, 3);
    w.node = profile_node(w.p, w.thread, 0, w.method, calls, self);
    return w;
}

static qp_block_figures *blocks_of(const qp_model *m)
{
    qp_block_figures *blocks;
    size_t n;
    assert_true(qp_model_blocks(m, profile_index(m, "f"), QP_ALL_THREADS, &blocks, &n));
    assert_int_equal(n, 3);
    return blocks;
}

static void assert_counts(const world *w, uint64_t first, uint64_t second, uint64_t third)
{
    qp_model *m = profile_load(w->p, QP_LOAD_CLEAN);
    qp_block_figures *blocks = blocks_of(m);
    assert_int_equal(blocks[0].count, first);
    assert_int_equal(blocks[1].count, second);
    assert_int_equal(blocks[2].count, third);
    assert_true(blocks[0].is_counted);
    qp_free(blocks);
    qp_model_free(m);
    profile_free(w->p);
}

static void counters_of_blocks_are_their_executions(void **state)
{
    (void)state;
    world w = begin(1, 0);
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_COUNTS, 3, 3)->values,
           (uint64_t[]){5, 0, 1ull << 40}, 3 * sizeof(uint64_t));
    assert_counts(&w, 5, 0, 1ull << 40);
}

/* A loop: block 0 tests and jumps to block 2 at the end, else falls into block 1, which jumps
 * back. Two calls with five rounds in all: 2 + 5 tests, 5 rounds, 2 ends. */
static void executions_follow_from_the_jumps(void **state)
{
    static const qp_jump jumps[] = {{0, 2}, {1, 0}, {-1, 1}};
    static const unsigned char falls[] = {1, 0, 0};
    (void)state;
    for (unsigned has_error = 0; has_error < 2; has_error++) {
        world w = begin(2 + has_error, 0);
        ((qp_method *)profile_at(w.p, w.method))->jumps =
            profile_jumps(w.p, jumps, 3, falls, 3);
        /* a third call ends by an error in its first round */
        memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_COUNTS, 3, 3)->values,
               (uint64_t[]){2, 5, has_error}, 3 * sizeof(uint64_t));
        assert_counts(&w, 7 + has_error, 5 + has_error, 2);
    }
}

/* The same loop, two calls: 7 tests, of which 2 jump; whatever is in block 1 jumps. */
static void jumps_know_how_often_they_are_taken(void **state)
{
    static const qp_jump jumps[] = {{0, 2}, {1, 0}, {-1, 1}};
    static const unsigned char falls[] = {1, 0, 0};
    (void)state;
    world w = begin(2, 0);
    ((qp_method *)profile_at(w.p, w.method))->jumps = profile_jumps(w.p, jumps, 3, falls, 3);
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_COUNTS, 3, 3)->values,
           (uint64_t[]){2, 5, 0}, 3 * sizeof(uint64_t));
    qp_model *m = profile_load(w.p, QP_LOAD_CLEAN);
    qp_jump_figures *found;
    size_t n;
    assert_true(qp_model_jumps(m, profile_index(m, "f"), QP_ALL_THREADS, &found, &n));
    assert_int_equal(n, 2); /* leaving the method is not a jump to another block */
    assert_int_equal(found[0].from_line, 15);
    assert_int_equal(found[0].to_line, 15);
    assert_true(found[0].is_conditional);
    assert_int_equal(found[0].taken, 2);
    assert_int_equal(found[0].executed, 7);
    assert_int_equal(found[1].from_line, 16);
    assert_int_equal(found[1].to_line, 15);
    assert_false(found[1].is_conditional);
    assert_int_equal(found[1].taken, 5);
    assert_int_equal(found[1].executed, 5);
    qp_free(found);
    qp_model_free(m);
    profile_free(w.p);
}

static void methods_whose_blocks_are_counted_have_no_jumps(void **state)
{
    (void)state;
    world w = begin(1, 0);
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_COUNTS, 3, 3)->values,
           (uint64_t[]){1, 1, 1}, 3 * sizeof(uint64_t));
    qp_model *m = profile_load(w.p, QP_LOAD_CLEAN);
    qp_jump_figures *found;
    size_t n;
    assert_true(qp_model_jumps(m, profile_index(m, "f"), QP_ALL_THREADS, &found, &n));
    assert_int_equal(n, 0);
    qp_free(found);
    qp_model_free(m);
    profile_free(w.p);
}

/* spec/qii.md section 9: entry@0, mark(2)@4, callee 6...16, mark(0)@20, mark(2)@25; the run
 * ends at 30 with the call still open. Block 2: 15 and 25, block 0: 5 and 5. */
static void time_since_the_last_mark_of_an_open_frame_counts(void **state)
{
    (void)state;
    world w = begin(1, 15);
    qp_counter_block *b = profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_TIMES, 7, 3);
    memcpy(b->values, (uint64_t[]){5, 5, 0, 0, 10, 20, 5}, 7 * sizeof(uint64_t));
    qp_cell frames = profile_stack(w.p, w.thread, &w.node, 1);
    *(qp_frame *)profile_at(w.p, frames + 1) = (qp_frame){.node = (uint64_t)w.node * QP_CELL,
                                                          .flags = QP_FRAME_MARKED,
                                                          .mark_at = 25,
                                                          .mark_self = 15,
                                                          .block = 2};
    ((qp_thread_record *)profile_at(w.p, w.thread))->last = 25;
    profile_head(w.p)->end_raw = PROFILE_START + 30;
    qp_model *m = profile_load(w.p, QP_LOAD_CLEAN);
    qp_block_figures *blocks = blocks_of(m);
    assert_int_equal(blocks[2].self, 15);
    assert_int_equal(blocks[2].total, 25);
    assert_int_equal(blocks[0].self, 5);
    assert_int_equal(blocks[0].total, 5);
    assert_true(blocks[0].is_timed && blocks[2].is_timed);
    assert_false(blocks[1].is_timed);
    assert_int_equal(profile_find(m, "f")->all.self, 20); /* = the sum of the blocks */
    qp_free(blocks);
    qp_model_free(m);
    profile_free(w.p);
}

/* Line 15 has blocks 0 (5 executions) and 2 (none): partially hit, its count is 5. */
static void a_line_has_the_highest_count_and_the_sum_of_times(void **state)
{
    (void)state;
    world w = begin(5, 30);
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_COUNTS, 3, 3)->values,
           (uint64_t[]){5, 3, 0}, 3 * sizeof(uint64_t));
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_TIMES, 7, 3)->values,
           (uint64_t[]){10, 12, 4, 4, 0, 0, 3}, 7 * sizeof(uint64_t));
    qp_model *m = profile_load(w.p, QP_LOAD_CLEAN);
    qp_line_figures *lines;
    size_t n;
    assert_true(qp_model_lines(m, "f.lua", 0, QP_ALL_THREADS, &lines, &n));
    assert_int_equal(n, 2);
    assert_int_equal(lines[0].line, 15);
    assert_int_equal(lines[0].n_blocks, 2);
    assert_int_equal(lines[0].n_missed, 1);
    assert_int_equal(lines[0].count, 5);
    assert_int_equal(lines[0].self, 10);
    assert_int_equal(lines[0].total, 12);
    assert_int_equal(lines[1].line, 16);
    assert_int_equal(lines[1].n_missed, 0);
    assert_int_equal(lines[1].self, 4);
    qp_free(lines);
    qp_model_file *files;
    assert_true(qp_model_files(m, &files, &n));
    assert_int_equal(n, 1);
    assert_string_equal(files[0].path, "f.lua");
    assert_int_equal(files[0].self, 30);
    qp_free(files);
    assert_int_equal(profile_find(m, "f")->first_line, 15);
    assert_true(profile_passes(m, "block_times"));
    qp_model_free(m);
    profile_free(w.p);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* f took 1000 ticks, exactly. Of 16 samples 12 are of block 0 and 4 of block 1: 750 and 250 ticks. Agresti and
 * Coull: (12 + 2) / (16 + 4) = 0.7; 1.96 * 1000 * sqrt(0.7 * 0.3 / 20) = 200.8, and the same for
 * the other. Line 15 has block 2 as well, which no sample found. */
static void samples_divide_the_time_of_a_method(void **state)
{
    (void)state;
    world w = begin(1, 1000);
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_SAMPLES, 3, 3)->values,
           (uint64_t[]){12, 4, 0}, 3 * sizeof(uint64_t));
    qp_model *m = profile_read(w.p, QP_LOAD_CLEAN);
    qp_line_figures *lines;
    size_t n;
    assert_true(qp_model_lines(m, "f.lua", 0, QP_ALL_THREADS, &lines, &n));
    assert_int_equal(n, 2);
    assert_int_equal(lines[0].line, 15);
    assert_true(lines[0].is_sampled);
    assert_false(lines[0].is_timed);
    assert_false(lines[0].is_counted);
    assert_int_equal(lines[0].samples, 12);
    assert_int_equal(lines[0].self, 750);
    assert_int_equal(lines[0].self_half, 201);
    assert_int_equal(lines[0].total, 0);
    assert_int_equal(lines[1].self, 250);
    assert_int_equal(lines[1].self_half, 201);
    assert_true(profile_passes(m, "block_times"));
    qp_free(lines);
    qp_model_free(m);
}

/* The same samples where block 1 was marked for 40 ticks: what was measured counts. */
static void measured_times_of_blocks_take_precedence_over_samples(void **state)
{
    (void)state;
    world w = begin(1, 1000);
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_SAMPLES, 3, 3)->values,
           (uint64_t[]){12, 4, 0}, 3 * sizeof(uint64_t));
    memcpy(profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_TIMES, 7, 3)->values,
           (uint64_t[]){0, 0, 40, 50, 0, 0, 1u << 1}, 7 * sizeof(uint64_t));
    qp_model *m = profile_read(w.p, QP_LOAD_CLEAN);
    qp_block_figures *blocks = blocks_of(m);
    assert_int_equal(blocks[0].self, 0);
    assert_false(blocks[0].is_sampled);
    assert_int_equal(blocks[0].samples, 12);
    assert_int_equal(blocks[1].self, 40);
    assert_int_equal(blocks[1].total, 50);
    qp_free(blocks);
    qp_model_free(m);
}

static void sources_are_found_below_the_source_path(void **state)
{
    (void)state;
    char folder[] = "/tmp/qprof-test-XXXXXX", path[64], search[96];
    qp_error error;
    qp_source s;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.lua", folder);
    snprintf(search, sizeof search, "/nowhere::%s", folder);
    write_text(path, "one\r\n\nthree");
    assert_true(qp_source_read("/build/machine/src/a.lua", 0,
                               &(qp_source_folders){.path = search}, &s, &error));
    assert_string_equal(s.path, path);
    assert_int_equal(s.n_lines, 3);
    assert_int_equal(s.line_bytes[0], 3);
    assert_memory_equal(s.lines[0], "one", 3);
    assert_int_equal(s.line_bytes[1], 0);
    assert_int_equal(s.line_bytes[2], 5);
    qp_source_fini(&s);
    assert_false(qp_source_read("a.lua", 0, &(qp_source_folders){.path = NULL}, &s, &error));
    assert_non_null(strstr(error.text, "no such file"));
    assert_false(qp_source_read("/tmp", 0, &(qp_source_folders){.path = NULL}, &s, &error));
    assert_non_null(strstr(error.text, "directory"));
    assert_false(qp_source_read("", 0, &(qp_source_folders){.path = search}, &s, &error));
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_of_blocks_are_their_executions),
        cmocka_unit_test(executions_follow_from_the_jumps),
        cmocka_unit_test(jumps_know_how_often_they_are_taken),
        cmocka_unit_test(methods_whose_blocks_are_counted_have_no_jumps),
        cmocka_unit_test(time_since_the_last_mark_of_an_open_frame_counts),
        cmocka_unit_test(a_line_has_the_highest_count_and_the_sum_of_times),
        cmocka_unit_test(samples_divide_the_time_of_a_method),
        cmocka_unit_test(measured_times_of_blocks_take_precedence_over_samples),
        cmocka_unit_test(sources_are_found_below_the_source_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
