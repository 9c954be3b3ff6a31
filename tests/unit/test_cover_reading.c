/* test_cover_reading.c: contexts, shares, bases and sources of a profile file, whole and
 * damaged. */
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/runs.h"

static run counted(void)
{
    run r = run_new(QP_COLLECT_PROFILE | QP_COLLECT_COVERAGE);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    run_calls(&r, m, 9);
    run_counts(&r, m, RUN_VALUES(9, 4));
    return r;
}

static qp_cell method_cell(const run *r)
{
    const qp_extent *e;
    for (qp_cell cell = QP_HEAD_CELLS;; cell += e->n_cells) {
        e = profile_at(r->p, cell);
        if (e->kind == QP_EXTENT_METHODS)
            return cell + 1;
    }
}

static qp_counter_block *bank_of(const run *r)
{
    const qp_extent *e;
    for (qp_cell cell = QP_HEAD_CELLS;; cell += e->n_cells) {
        e = profile_at(r->p, cell);
        if (e->kind == QP_EXTENT_BANKS)
            return profile_at(r->p, cell + 1);
    }
}

static qp_cover_set *set_of(run r, qp_load_status expected, const char *loss)
{
    qp_error error;
    qp_model *m = profile_load(r.p, expected);
    if (loss)
        assert_string_equal(m->losses[0], loss);
    qp_cover_set *s = runs_set();
    assert_true(qp_cover_set_add(s, m, "run.qprof", NULL, &error));
    qp_model_free(m);
    profile_free(r.p);
    return s;
}

/* What a bank held at the last clear is taken off. */
static void counters_begin_at_the_last_clear(void **state)
{
    (void)state;
    run r = counted();
    qp_counter_block *base = profile_share(r.p, 0, method_cell(&r), 0, 2, 2);
    base->kind = QP_COUNTER_BLOCK_BASE;
    memcpy(base->values, (uint64_t[]){7, 4}, sizeof(uint64_t[2]));
    bank_of(&r)->base = (qp_cell)(((unsigned char *)base - r.p->bytes) / QP_CELL);
    qp_model *m = profile_load(r.p, QP_LOAD_CLEAN);
    qp_block_figures *blocks;
    size_t n;
    assert_true(qp_model_blocks(m, profile_index(m, "f"), QP_ALL_THREADS, &blocks, &n));
    assert_int_equal(blocks[0].count, 2);
    assert_int_equal(blocks[1].count, 0);
    qp_free(blocks);
    qp_model_free(m);
    qp_cover *c = runs_picture(set_of(r, QP_LOAD_CLEAN, NULL), NULL);
    assert_int_equal(runs_line(runs_file(c, "a.lua"), 1)->count, 2);
    qp_cover_free(c);
}

static void a_base_that_is_none_is_a_loss(void **state)
{
    static const qp_cell bases[] = {1, QP_HEAD_CELLS, 0xFFFFFFFF, QP_HEAD_CELLS + 1};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        run r = counted();
        bank_of(&r)->base = bases[i];
        qp_cover_set *s =
            set_of(r, QP_LOAD_SALVAGED, "counters of blocks that could not be read: 1");
        assert_int_equal(s->methods[0].values[0], 9);
        qp_cover_set_free(s);
    }
}

/* Of two shares one names no context, or has other counters than its method. */
static void shares_that_do_not_fit_are_losses(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        run r = counted();
        qp_cell m = method_cell(&r), a = profile_context(r.p, "a");
        run_share(&r, a, m, 2, RUN_SIGNED(2, 1));
        qp_counter_block *bad = profile_share(r.p, a, m, 3, 2, 2);
        bad->context = i == 0 ? m : bad->context;
        bad->method = i == 1 ? a : bad->method;
        bad->n_values = i == 2 ? 0xFFFFFFFF : bad->n_values;
        bad->n_blocks = i == 3 ? 7 : bad->n_blocks;
        qp_cover_set *s =
            set_of(r, QP_LOAD_SALVAGED, "counters of contexts that could not be read: 1");
        assert_int_equal(s->methods[0].n_shares, 1);
        assert_int_equal(s->methods[0].shares[0].calls, 2);
        assert_int_equal(s->methods[0].shares[0].values[1], 1);
        qp_cover_set_free(s);
    }
}

static void half_written_records_are_losses(void **state)
{
    (void)state;
    run r = counted();
    ((qp_context *)profile_at(r.p, profile_context(r.p, "a")))->published = 77;
    ((qp_context *)profile_at(r.p, profile_context(r.p, "b")))->published = 0;
    profile_context(r.p, "c");
    qp_cover_set *s = set_of(r, QP_LOAD_SALVAGED, "contexts that could not be read: 1");
    assert_int_equal(s->n_contexts, 1); /* named, and nothing ran in it */
    assert_string_equal(s->contexts[0], "c");
    qp_cover_set_free(s);
    r = counted();
    ((qp_source_record *)profile_at(r.p, profile_source(r.p, "a.lua", 5)))->published = 77;
    profile_source(r.p, "b.lua", 6);
    s = set_of(r, QP_LOAD_SALVAGED, "digests of source files that could not be read: 1");
    assert_int_equal(s->n_texts, 1);
    assert_int_equal(s->texts[0].digest, 6);
    qp_cover_set_free(s);
}

/* Coverage alone: no call paths but one for each method and thread; figures of lines all the
 * same. */
static void a_profile_without_call_paths_has_lines(void **state)
{
    static const qp_jump jumps[] = {{0, 1}, {QP_JUMP_ENTRY, 0}};
    (void)state;
    run r = run_new(QP_COLLECT_COVERAGE);
    profile_head(r.p)->time_mode = QP_TIME_NONE;
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    run_jumps(&r, m, jumps, 2, "00");
    run_counts(&r, m, RUN_VALUES(3, 5));
    qp_model *model = profile_load(r.p, QP_LOAD_CLEAN);
    qp_line_figures *lines;
    size_t n;
    assert_false(model->run.is_profile);
    assert_int_equal(profile_find(model, "f")->all.calls, 5); /* of the counter */
    assert_int_equal(model->run.calls, 5);
    assert_int_equal(model->threads[1].calls, 5);
    assert_true(model->run.is_coverage);
    assert_true(qp_model_lines(model, "a.lua", 0, QP_ALL_THREADS, &lines, &n));
    assert_int_equal(lines[0].count, 5);
    assert_int_equal(lines[1].count, 3);
    qp_free(lines);
    qp_model_free(model);
    profile_free(r.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_begin_at_the_last_clear),
        cmocka_unit_test(a_base_that_is_none_is_a_loss),
        cmocka_unit_test(shares_that_do_not_fit_are_losses),
        cmocka_unit_test(half_written_records_are_losses),
        cmocka_unit_test(a_profile_without_call_paths_has_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
