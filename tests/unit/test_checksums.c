/* test_checksums.c: in a finished file no changed bit passes for what was recorded. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/checksum.h"
#include "format/space.h"
#include "model/combine/combine.h"
#include "model/figures/figures.h"
#include "qprof/trace.h"
#include "replay/read/trace.h"
#include "unit/files.h"
#include "unit/play.h"

enum { EVERY_BIT = 1, EVERY_SEVENTH = 7, LARGE = 1 << 20 };

static unsigned char *bytes_of(const char *path, size_t *n)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    *n = (size_t)st.st_size;
    assert_true(*n && *n <= LARGE);
    unsigned char *bytes = aligned_alloc(64, (*n + 63) / 64 * 64);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, *n), *n);
    close(fd);
    return bytes;
}

static void flip(unsigned char *bytes, size_t bit)
{
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* RFC 3720, B.4: 32 bytes of zero, of one, ascending and descending, a stream each. */
static void the_sum_is_of_four_crc32c(void **state)
{
    static const uint32_t known[4] = {0x8A9136AA, 0x62A8AB43, 0x46DD794E, 0x113FDB5C};
    _Alignas(8) unsigned char bytes[4 * 32];
    uint32_t wanted = 0;
    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        unsigned char of_stream[4] = {0, 0xFF, (unsigned char)i, (unsigned char)(31 - i)};
        for (unsigned k = 0; k < 4; k++)
            bytes[i / 8 * 32 + k * 8 + i % 8] = of_stream[k];
    }
    for (unsigned k = 0; k < 4; k++)
        wanted = wanted * 0x9E3779B1u + known[k];
    assert_int_equal(qp_checksum_of(bytes, sizeof bytes), wanted);
}

static void the_instruction_and_the_table_agree(void **state)
{
    static uint64_t words[4 * 100];
    (void)state;
    for (unsigned i = 0; i < 4 * 100; i++)
        words[i] = (i + 1) * 0x9E3779B97F4A7C15u;
    for (unsigned n = 0; n <= 100; n++) {
        qp_checksum a, b;
        qp_checksum_begin(&a);
        qp_checksum_begin(&b);
        qp_checksum_add(&a, words, n * 32ul);
        qp_checksum_add_plainly(&b, words, n * 32ul);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

/* ---- profiles -------------------------------------------------------------------------------- */

static qp_load_status status_of(const unsigned char *bytes, size_t n)
{
    qp_model *m;
    qp_error error;
    qp_load_status status = qp_model_load_bytes(bytes, n, NULL, &m, &error);
    if (status != QP_LOAD_UNUSABLE)
        qp_model_free(m);
    return status;
}

/* What a crash of the machine leaves of a file that it had not written yet: cells of zeros. */
static void assert_zeros_are_found(const char *path, unsigned char *bytes, size_t n)
{
    unsigned char *all = malloc(n);
    assert_non_null(all);
    memcpy(all, bytes, n);
    for (size_t length = QP_CELL; length <= n; length *= 2)
        for (size_t at = QP_HEAD_BYTES; at < n; at += length) {
            size_t n_zero = length < n - at ? length : n - at;
            memset(bytes + at, 0, n_zero);
            bool is_same = memcmp(bytes, all, n) == 0;
            if (!is_same && status_of(bytes, n) == QP_LOAD_CLEAN)
                fail_msg("%s: zeros from byte %zu to %zu", path, at, at + n_zero);
            memcpy(bytes + at, all + at, n_zero);
        }
    free(all);
}

/* A flip that is not reported could change any number: there is none. */
static void assert_flips_are_found(const char *path, unsigned step)
{
    size_t n;
    unsigned char *bytes = bytes_of(path, &n);
    assert_true(qp_head_has_checksums((const qp_head *)(void *)bytes));
    assert_int_equal(status_of(bytes, n), QP_LOAD_CLEAN);
    for (size_t bit = 0; bit < 8 * n; bit += step) {
        flip(bytes, bit);
        if (status_of(bytes, n) == QP_LOAD_CLEAN)
            fail_msg("%s: bit %zu of byte %zu", path, bit % 8, bit / 8);
        flip(bytes, bit);
    }
    assert_zeros_are_found(path, bytes, n);
    free(bytes);
}

static void record(void **state, const char *options)
{
    static const qprof_LineInfo lines[] = {{0, 10}, {4, 11}, {8, 12}};
    play_ctx *p = play_start(state, options);
    play_register(p, "f", QPROF_METHOD_FLAGS_BLOCKS, lines, 3);
    play(p, "main( 5 f( :1 2 :2 #2*5 3 +7 g( 1 ) ) f( 3 ) 1 g( h( 4 ^main 1 )");
    qprof_mark("a marker");
    play(p, "main( 1 f( 2 ");
    play_end(p);
}

static void a_sealed_profile_keeps_no_changed_bit(void **state)
{
    record(state, "");
    assert_flips_are_found("run.qprof", EVERY_BIT);
}

static void a_snapshot_keeps_no_changed_bit(void **state)
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 5 f( 2 ) g( 1 ");
    assert_true(qprof_save_data_to_file("part.qprof") > 0);
    assert_flips_are_found("part.qprof", EVERY_SEVENTH);
}

static void sums_of_runs_keep_no_changed_bit(void **state)
{
    record(state, "");
    play_ctx *p = *state;
    qp_merge *s = qp_merge_new();
    sum_add(s, p->m, "a");
    sum_add(s, p->m, "b");
    qp_model_free(sum_finish(s, "sum.qprof"));
    assert_flips_are_found("sum.qprof", EVERY_SEVENTH);
}

static void files_without_checksums_are_read(void **state)
{
    size_t n;
    record(state, "");
    unsigned char *bytes = bytes_of("run.qprof", &n);
    qp_head *h = (qp_head *)(void *)bytes;
    h->minor = 0;
    h->flags &= ~(uint32_t)QP_FLAG_CHECKSUMS;
    h->checksum = 0;
    for (size_t cell = QP_HEAD_CELLS; cell < n / QP_CELL;) {
        qp_extent *e = (qp_extent *)(void *)(bytes + cell * QP_CELL);
        e->checksum = 0;
        cell += e->n_cells;
    }
    assert_int_equal(status_of(bytes, n), QP_LOAD_CLEAN);
    free(bytes);
}

/* Two methods in an extent each, and text in a third one. */
static void a_damaged_extent_is_left_out_and_named(void **state)
{
    profile *p = profile_new();
    qp_sealer sealer;
    qp_error error;
    qp_model *m;
    qp_check *checks;
    size_t n, i = 0;
    (void)state;
    qp_cell th = profile_thread(p);
    profile_node(p, th, 0, profile_method(p, 1, "first", NULL, NULL), 1, 10);
    profile_node(p, th, 0, profile_method(p, 2, "second", NULL, NULL), 1, 20);
    profile_balance(p, th, 2, 0);
    profile_head(p)->n_cells = p->n_cells;
    qp_seal_begin(&sealer, profile_head(p), -1);
    qp_seal(&sealer, p->bytes + QP_HEAD_BYTES, QP_HEAD_CELLS, p->n_cells - QP_HEAD_CELLS);
    qp_seal_end(&sealer, profile_head(p));
    assert_int_equal(status_of(p->bytes, profile_bytes(p)), QP_LOAD_CLEAN);
    qp_cell damaged = 0;
    for (qp_cell c = QP_HEAD_CELLS; c < p->n_cells;
         c += ((qp_extent *)profile_at(p, c))->n_cells)
        if (((qp_extent *)profile_at(p, c))->kind == QP_EXTENT_NODES)
            damaged = c; /* the last one: of "second" */
    ((qp_node *)profile_at(p, damaged + 1))->self ^= 1u << 20;
    assert_int_equal(qp_model_load_bytes(p->bytes, profile_bytes(p), NULL, &m, &error),
                     QP_LOAD_SALVAGED);
    assert_string_equal(m->losses[0],
                        "extents left out because their checksums do not match: 1");
    assert_int_equal(profile_find(m, "first")->all.self, 10);
    assert_int_equal(profile_find(m, "second")->all.self, 0);
    assert_true(qp_model_check(m, &checks, &n));
    while (i < n && strcmp(checks[i].name, "checksums") != 0)
        i++;
    assert_true(i < n && !checks[i].passed && checks[i].n_failed == 1);
    char wanted[200];
    snprintf(wanted, sizeof wanted,
             "the extent of call paths at bytes %u to %u is damaged and left out",
             damaged * QP_CELL,
             (damaged + ((qp_extent *)profile_at(p, damaged))->n_cells) * QP_CELL - 1);
    assert_string_equal(checks[i].detail, wanted);
    qp_free(checks);
    qp_model_free(m);
    profile_free(p);
}

/* Cells whose header was not written when they were copied, though records of it were, become zero. In
 * pieces of any size the same file comes about. */
static void cells_of_no_extent_become_zero(void **state)
{
    static const char zeros[8 * QP_CELL];
    profile *whole = profile_new(), *pieces = profile_new();
    qp_sealer sealer;
    size_t n;
    (void)state;
    qp_cell gap = profile_extent(whole, QP_EXTENT_AUX, 0, 7);
    memset(profile_at(whole, gap), 0x55, 7ul * QP_CELL);
    ((qp_extent *)profile_at(whole, gap - 1))->magic = 0;
    qp_cell th = profile_thread(whole);
    profile_node(whole, th, 0, profile_method(whole, 1, "f", NULL, NULL), 1, 10);
    profile_balance(whole, th, 1, 0);
    profile_head(whole)->n_cells = whole->n_cells;
    *pieces = *whole;
    qp_seal_begin(&sealer, profile_head(whole), -1);
    qp_seal(&sealer, whole->bytes + QP_HEAD_BYTES, QP_HEAD_CELLS,
            whole->n_cells - QP_HEAD_CELLS);
    qp_seal_end(&sealer, profile_head(whole));
    assert_memory_equal(profile_at(whole, gap - 1), zeros, sizeof zeros);

    int fd = open("sealed", O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    qp_seal_begin(&sealer, profile_head(pieces), fd);
    for (qp_cell c = QP_HEAD_CELLS, n_cells = 1; c < pieces->n_cells; c += n_cells++) {
        if (n_cells > pieces->n_cells - c)
            n_cells = pieces->n_cells - c;
        assert_true(qp_seal(&sealer, profile_at(pieces, c), c, n_cells));
        n = (size_t)n_cells * QP_CELL;
        assert_int_equal(pwrite(fd, profile_at(pieces, c), n, (off_t)c * QP_CELL), n);
    }
    qp_seal_end(&sealer, profile_head(pieces));
    assert_int_equal(pwrite(fd, pieces->bytes, QP_HEAD_BYTES, 0), QP_HEAD_BYTES);
    close(fd);
    unsigned char *bytes = bytes_of("sealed", &n);
    assert_int_equal(n, profile_bytes(whole));
    assert_memory_equal(bytes, whole->bytes, n);
    free(bytes);
    assert_flips_are_found("sealed", EVERY_SEVENTH);
    profile_free(whole);
    profile_free(pieces);
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Does reading it to its end say that something is wrong? */
static bool trace_is_suspicious(const char *path)
{
    static const qp_trace_losses none;
    qp_error error;
    qp_trace_run run;
    qp_trace *t = qp_trace_open(path, &error);
    if (!t)
        return true;
    while (qp_trace_next(t, &run)) {
    }
    bool is_good =
        qp_trace_about(t)->is_ended && memcmp(qp_trace_lost(t), &none, sizeof none) == 0;
    qp_trace_close(t);
    return !is_good;
}

static void assert_flips_of_a_trace_are_found(const char *path)
{
    size_t n;
    unsigned char *bytes = bytes_of(path, &n);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0 && !trace_is_suspicious(path));
    for (size_t bit = 0; bit < 8 * n; bit += EVERY_SEVENTH) {
        flip(bytes, bit);
        assert_int_equal(pwrite(fd, bytes + bit / 8, 1, (off_t)(bit / 8)), 1);
        if (!trace_is_suspicious(path))
            fail_msg("%s: bit %zu of byte %zu", path, bit % 8, bit / 8);
        flip(bytes, bit);
        assert_int_equal(pwrite(fd, bytes + bit / 8, 1, (off_t)(bit / 8)), 1);
    }
    close(fd);
    free(bytes);
}

static void a_trace_keeps_no_changed_bit(void **state)
{
    record(state, "-collect=profile,trace -trace-output=run.qtrace");
    assert_flips_of_a_trace_are_found("run.qtrace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_of_four_crc32c),
        cmocka_unit_test(the_instruction_and_the_table_agree),
        PLAY_TEST(a_sealed_profile_keeps_no_changed_bit),
        PLAY_TEST(a_snapshot_keeps_no_changed_bit),
        PLAY_TEST(sums_of_runs_keep_no_changed_bit),
        PLAY_TEST(files_without_checksums_are_read),
        PLAY_TEST(a_damaged_extent_is_left_out_and_named),
        PLAY_TEST(cells_of_no_extent_become_zero),
        PLAY_TEST(a_trace_keeps_no_changed_bit),
    };
#if defined(__SANITIZE_THREAD__)
    cmocka_set_test_filter("a_trace_*"); /* the others begin no thread */
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
