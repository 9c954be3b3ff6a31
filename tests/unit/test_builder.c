/* test_builder.c: profiles that the tool writes: what goes in comes out, whole or not at
 * all. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"
#include "format/builder.h"
#include "model/figures/figures.h"
#include "unit/files.h"

enum { FILE_BYTES = 1 << 16 };

static const qp_line two_blocks[] = {{0, 15}, {7, 16}};

/* One jump from block 1 back to block 0; block 0 falls into block 1. */
static const struct {
    uint32_t n_jumps, n_blocks;
    qp_jump jumps[1];
    unsigned char falls[2];
} loop = {1, 2, {{1, 0}}, {1, 0}};

/* Two threads. The first: main calls f 5 times, 2 more were skipped, with 9 units of counts; f
 * has 3 rounds of its loop. The second: f once. */
static void fill(qp_builder *b)
{
    qp_head *h = qp_builder_head(b);
    h->clock_source = QP_SOURCE_NS;
    h->grain = QP_GRAIN_LINE;
    h->flags = QP_FLAG_MIN_MAX;
    h->begun_raw = 1;
    h->end_raw = 1001;
    h->program = qp_builder_text(b, "program");
    qp_builder_note(b, QP_NOTE_ANNOTATION, "first");
    qp_builder_note(b, QP_NOTE_MESSAGE, "second");
    const qp_builder_code main_code = {.id = 1, .flags = QP_METHOD_REGISTERED, .name = "main"};
    const qp_builder_code f_code = {.id = 2,
                                    .flags = QP_METHOD_REGISTERED,
                                    .name = "f",
                                    .class_name = "K",
                                    .file = "f.lua",
                                    .lines = two_blocks,
                                    .n_lines = 2,
                                    .jumps = (const qp_jumps *)&loop};
    uint32_t main_method = qp_builder_method(b, &main_code);
    uint32_t f_method = qp_builder_method(b, &f_code);
    const qp_node once = {.n_calls = 1, .self = 100, .self_min = 100, .self_max = 100};
    const qp_node often = {.n_calls = 5, .self = 50, .self_min = 4, .self_max = 20};
    qp_thread_record r = {.state = QP_THREAD_ENDED, .n_lives = 1, .n_exits = 8};
    r.name = qp_builder_text(b, "first thread");
    qp_builder_thread(b, &r);
    uint32_t outer = qp_builder_node(b, 0, main_method, &once);
    qp_builder_node(b, outer, f_method, &often);
    qp_builder_node_more(b, 2, 9, 4, 0);
    uint64_t *counters = qp_builder_counter_block(b, QP_COUNTER_BLOCK_COUNTS, f_method, 2, 1);
    if (counters)
        counters[0] = 3;
    qp_builder_thread(b, &(qp_thread_record){.state = QP_THREAD_ALIVE, .n_exits = 1});
    qp_builder_node(b, 0, f_method, &once);
}

static qp_builder *filled(void)
{
    qp_builder *b = qp_builder_new(0);
    assert_non_null(b);
    fill(b);
    return b;
}

static void write_to(const char *path)
{
    qp_error error;
    qp_builder *b = filled();
    bool is_good = qp_builder_finish(b, path, &error);
    assert_string_equal(error.text, "");
    assert_true(is_good);
    qp_builder_free(b);
}

static void what_was_added_is_read_back(void **state)
{
    (void)state;
    write_to("run.qprof");
    qp_model *m = files_read("run.qprof");
    assert_string_equal(m->run.program, "program");
    assert_int_equal(m->run.n_notes, 2);
    assert_string_equal(m->run.notes[0].text, "first");
    assert_string_equal(m->run.notes[1].text, "second");
    assert_true(m->run.notes[1].is_message);
    assert_int_equal(m->n_threads, 3);
    assert_string_equal(m->threads[1].name, "first thread");
    assert_string_equal(m->threads[2].name, ".K.f_2.");
    assert_int_equal(m->threads[1].calls, 8);
    uint32_t f = qp_model_method_named(m, "K.f", NULL);
    const qp_figures *all = &m->methods[f].all;
    assert_int_equal(all->hits, 6);
    assert_int_equal(all->skips, 2);
    assert_int_equal(all->self, 150);
    assert_int_equal(all->min, 4);
    assert_int_equal(all->max, 100);
    assert_int_equal(all->counts, 9);
    assert_int_equal(all->pc_samples, 4);
    assert_string_equal(m->methods[f].file, "f.lua");
    assert_int_equal(m->nodes[QP_ROOT_NODE].f.total, 250);
    qp_model_free(m);
}

/* On the first thread f began 5 + 2 times and went round 3 times: 10 executions of either
 * block. */
static void counters_lie_with_their_thread(void **state)
{
    (void)state;
    write_to("run.qprof");
    qp_model *m = files_read("run.qprof");
    qp_block_figures *blocks;
    size_t n;
    assert_true(qp_model_blocks(m, qp_model_method_named(m, "K.f", NULL), 1, &blocks, &n));
    assert_int_equal(n, 2);
    assert_int_equal(blocks[0].count, 10);
    assert_int_equal(blocks[1].count, 10);
    assert_int_equal(blocks[1].line, 16);
    qp_free(blocks);
    qp_model_free(m);
}

static size_t bytes_of(const char *path, unsigned char *to)
{
    const char *why;
    int fd = qp_file_open(path, &why);
    assert_true(fd >= 0);
    size_t n = qp_file_read_at(fd, to, FILE_BYTES, 0);
    close(fd);
    return n;
}

static void equal_calls_make_equal_bytes(void **state)
{
    static unsigned char a[FILE_BYTES], b[FILE_BYTES];
    (void)state;
    write_to("a.qprof");
    write_to("b.qprof");
    size_t n = bytes_of("a.qprof", a);
    assert_int_equal(bytes_of("b.qprof", b), n);
    assert_memory_equal(a, b, n);
    const qp_head *h = (const qp_head *)(const void *)a;
    assert_int_equal(h->n_cells * QP_CELL, n);
    assert_int_equal(h->n_methods, 2);
    assert_int_equal(h->n_threads, 2);
}

static void a_text_is_stored_once(void **state)
{
    (void)state;
    qp_builder *b = qp_builder_new(0);
    qp_ref ref = qp_builder_text(b, "text");
    assert_true(ref != 0);
    assert_int_equal(qp_builder_text(b, "text"), ref);
    assert_int_not_equal(qp_builder_text(b, "texts"), ref);
    assert_int_equal(qp_builder_text(b, ""), 0);
    assert_int_equal(qp_builder_text(b, NULL), 0);
    qp_builder_free(b);
}

static void contexts_shares_and_sources_have_their_extents(void **state)
{
    static unsigned char bytes[FILE_BYTES];
    qp_error error;
    (void)state;
    qp_builder *b = filled();
    uint32_t context = qp_builder_context(b, "a test", 1);
    qp_builder_share(b, context, 2, -1, 2, 1)[0] = -7;
    qp_builder_source(b, "f.lua", 0xFEED, 12);
    assert_true(qp_builder_finish(b, "run.qprof", &error));
    qp_builder_free(b);
    size_t n_cells = bytes_of("run.qprof", bytes) / QP_CELL;
    const qp_extent *e = NULL;
    unsigned n_seen = 0;
    for (size_t at = QP_HEAD_CELLS; at < n_cells; at += e->n_cells) {
        e = (const qp_extent *)(const void *)(bytes + at * QP_CELL);
        const void *first = e + 1;
        assert_int_equal(e->self, at);
        if (e->kind == QP_EXTENT_CONTEXTS)
            context = e->self + 1;
        if (e->kind == QP_EXTENT_SHARES) {
            const qp_counter_block *share = first;
            assert_int_equal(share->kind, QP_COUNTER_BLOCK_SHARE);
            assert_int_equal(share->context, context);
            assert_true((int64_t)share->calls == -1 && (int64_t)share->values[0] == -7);
            n_seen++;
        }
        if (e->kind == QP_EXTENT_SOURCES) {
            assert_int_equal(((const qp_source_record *)first)->digest, 0xFEED);
            n_seen++;
        }
    }
    assert_int_equal(n_seen, 2);
}

static void assert_refused(const char *path, const char *why)
{
    qp_error error;
    char expected[512];
    qp_builder *b = filled();
    assert_false(qp_builder_finish(b, path, &error));
    snprintf(expected, sizeof expected, "%s: %s", path, why);
    assert_string_equal(error.text, expected);
    qp_builder_free(b);
}

static void what_is_in_the_way_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("elsewhere", "link"), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_refused("folder", "is a directory");
    assert_refused("link", "is a symbolic link; name the file itself");
    assert_refused("pipe", "is not a plain file");
    assert_refused("nowhere/run.qprof", "no such folder");
    assert_refused("", "no name was given");
    assert_int_equal(files_count(), 3);
}

static void a_plain_file_is_replaced(void **state)
{
    (void)state;
    FILE *old = fopen("run.qprof", "w");
    assert_non_null(old);
    fclose(old);
    write_to("run.qprof");
    struct stat st;
    assert_int_equal(stat("run.qprof", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600); /* as the recorder's */
    qp_model_free(files_read("run.qprof"));
    assert_int_equal(files_count(), 1);
}

/* The head alone has 64 cells. */
static void a_profile_larger_than_allowed_is_refused(void **state)
{
    qp_error error;
    (void)state;
    qp_builder *b = qp_builder_new(70 * QP_CELL);
    fill(b);
    assert_false(qp_builder_finish(b, "run.qprof", &error));
    assert_string_equal(error.text, "run.qprof: it would be too large for a profile");
    qp_builder_free(b);
    assert_int_equal(files_count(), 0);
}

static void without_memory_there_is_no_file(void **state)
{
    qp_error error;
    bool is_done = false;
    (void)state;
    for (uint64_t n = 1; !is_done; n++) {
        qp_alloc_fail_after(n, n % 2);
        qp_builder *b = qp_builder_new(0);
        if (b)
            fill(b);
        is_done = b && qp_builder_finish(b, "run.qprof", &error);
        qp_alloc_fail_after(0, false);
        qp_builder_free(b);
        assert_int_equal(files_count(), is_done);
        if (b && !is_done)
            assert_string_equal(error.text,
                                "run.qprof: there is not enough memory to write it");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(what_was_added_is_read_back),
        FILES_TEST(counters_lie_with_their_thread),
        FILES_TEST(equal_calls_make_equal_bytes),
        FILES_TEST(a_text_is_stored_once),
        FILES_TEST(contexts_shares_and_sources_have_their_extents),
        FILES_TEST(what_is_in_the_way_is_refused),
        FILES_TEST(a_plain_file_is_replaced),
        FILES_TEST(a_profile_larger_than_allowed_is_refused),
        FILES_TEST(without_memory_there_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
