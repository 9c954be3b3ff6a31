/* test_moments.c: annotations and messages have the moment at which they were made. The clock is the test's. */
#include <unistd.h>

#include "model/combine/combine.h"
#include "unit/files.h"
#include "unit/play.h"

static void assert_note(const qp_model *m, size_t i, const char *text, bool is_message,
                        uint64_t at)
{
    assert_true(i < m->run.n_notes);
    const qp_run_note *note = &m->run.notes[i];
    assert_string_equal(note->text, text);
    assert_int_equal(note->is_message, is_message);
    assert_true(note->has_moment);
    assert_int_equal(note->at, at);
}

static void an_annotation_has_its_moment(void **state)
{
    static const char *const modes[] = {"-time=exact", "-time=none",
                                        "-time=exact -collect=profile,trace"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        unlink("run.qprof");
        play_ctx *p = play_start(state, modes[i]);
        play(p, "f( 10");
        assert_int_equal(qprof_add_annotation("one"), 3);
        play(p, "20 )");
        qprof_add_annotation("two");
        play(p, "5 g( )");
        play_end(p);
        assert_int_equal(p->m->run.n_notes, 2);
        assert_note(p->m, 0, "one", false, 10);
        assert_note(p->m, 1, "two", false, 30);
    }
}

/* What a call of the library refused stays with the moment of the call. */
static void a_message_has_its_moment(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -log-file=none");
    play(p, "f( 7");
    assert_int_not_equal(qprof_config_line("area"), 0);
    play(p, "20 )");
    play_end(p);
    assert_int_equal(p->m->run.n_notes, 1);
    assert_true(p->m->run.notes[0].is_message && p->m->run.notes[0].has_moment);
    assert_int_equal(p->m->run.notes[0].at, 7);
}

/* Moments count from the start of the run, also in the datasets that follow a clear. */
static void a_later_dataset_counts_from_the_start(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    play(p, "f( 10");
    qprof_add_annotation("one");
    assert_int_equal(qprof_new_phase("first"), 1);
    play(p, "20");
    qprof_add_annotation("two");
    play(p, ")");
    play_peek(p);
    assert_int_equal(p->m->run.n_notes, 1);
    assert_note(p->m, 0, "two", false, 30);
}

/* Runs do not begin at the same time. */
static void a_sum_has_no_moments(void **state)
{
    qp_merge *sum = qp_merge_new();
    qp_error error;
    play_ctx *p = play_start(state, "-time=exact");
    play(p, "f( 10");
    qprof_add_annotation("one");
    play(p, ")");
    play_end(p);
    assert_true(qp_merge_add(sum, p->m, "run", false, &error));
    qp_model *m = sum_finish(sum, "sum.qprof");
    for (size_t i = 0; i < m->run.n_notes; i++)
        assert_false(m->run.notes[i].has_moment);
    assert_string_equal(m->run.notes[m->run.n_notes - 1].text, "one");
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(an_annotation_has_its_moment),
        PLAY_TEST(a_message_has_its_moment),
        PLAY_TEST(a_later_dataset_counts_from_the_start),
        PLAY_TEST(a_sum_has_no_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
