/* test_qii_data.c: the data API, spec/qii.md section 11. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/play.h"

/* Initialise with names of datasets that begin with "data." */
static void begin_numbered(const char *options)
{
    char words[256];
    snprintf(words, sizeof words, "-filename-prefix=data.%%n %s", options);
    assert_int_equal(qprof_initialize(words, NULL), 0);
}

/* The i-th dataset of this test: numbers continue from test to test. */
static const char *dataset(unsigned i)
{
    static char name[32];
    for (unsigned number = 0; number < 1000; number++) {
        snprintf(name, sizeof name, "data.%u.qprof", number);
        if (play_file_exists(name) && i-- == 0)
            return name;
    }
    return "missing";
}

static void clearing_in_mid_call_keeps_the_stack(void **state) /* qii 32 */
{
    play_ctx *p = *state;
    static const qprof_LineInfo table[] = {{0, 1}, {4, 2}};
    play_begin(p, "");
    play_register(p, "main", 0, table, 2);
    play(p, "main( 10 +6 :0 #1*3 f( 5 +7");
    assert_int_equal(qprof_clear_data(), 1);
    assert_int_equal(qprof_current_method_id(), play_method(p, "f"));
    play(p, "3 +1 ) 4 g( 1 ) )");
    play_end(p);
    assert_flat(p, "main", 0, 8, 4); /* time, but no call */
    assert_flat(p, "f", 0, 3, 3);
    assert_flat(p, "g", 1, 1, 1);
    assert_path(p, "main>g", 1, 1);
    assert_counts(p, "main", 0, 1);
    assert_counts(p, "f", 1, 1);
    assert_min_max(p, "g", 1, 1);
    for (int i = 0; i < 2; i++) { /* no minimum, no maximum */
        qp_figures f = play_figures(p, QP_ALL_THREADS, i ? "f" : "main");
        assert_true(f.min > f.max);
    }
    assert_block(p, "main", 1, 0, 0, 0);
    assert_block(p, "main", 0, 0, 4, 8); /* its block continues from the clear */
}

static void time_since_a_clear_is_data_without_an_entry(void **state)
{
    play_ctx *p = *state;
    play_begin(p, "");
    play(p, "main( 10 f( 5 ");
    assert_int_equal(qprof_clear_data(), 1);
    play(p, "7 ");
    play_end(p);
    assert_flat(p, "main", 0, 7, 0);
    assert_flat(p, "f", 0, 7, 7);
}

static void it_is_data_after_its_calls_have_ended(void **state)
{
    play_ctx *p = *state;
    play_begin(p, "");
    play(p, "main( 10 f( 5 ");
    assert_int_equal(qprof_clear_data(), 1);
    play(p, "7 ) 2 ) 4 ");
    play_end(p);
    assert_flat(p, "main", 0, 9, 2);
    assert_flat(p, "f", 0, 7, 7);
}

static void time_that_is_not_recorded_is_no_data(void **state)
{
    play_ctx *p = *state;
    for (int i = 0; i < 2; i++) {
        begin_numbered("");
        play(p, "main( 10 ");
        i ? qprof_enable_profiling(0) : qprof_stop_recording();
        assert_int_equal(qprof_clear_data(), 1);
        play(p, "7 ");
        assert_int_equal(qprof_save_data(), 0);
        i ? qprof_enable_profiling(1) : qprof_start_recording();
        assert_int_equal(qprof_save_data(), 0); /* no time has passed */
        play(p, "3 ");
        assert_int_equal(qprof_save_data(), 1);
        play(p, ")");
        qprof_shutdown();
    }
}

static void saving_twice_makes_two_datasets_that_overlap(void **state) /* qii 33 */
{
    play_ctx *p = *state;
    begin_numbered("");
    play(p, "main( 10 f( 5 )");
    assert_int_equal(qprof_save_data(), 1);
    play(p, "f( 6 ) 4");
    assert_int_equal(qprof_save_data(), 1);
    play_read(p, "data.0.qprof");
    assert_flat(p, "main", 1, 15, 10); /* as if the program had ended then */
    assert_flat(p, "f", 1, 5, 5);
    assert_int_equal(p->m->run.dataset, 0);
    assert_int_equal(p->m->run.state, QP_RUN_SNAPSHOT);
    play_read(p, "data.1.qprof");
    assert_flat(p, "main", 1, 25, 14);
    assert_flat(p, "f", 2, 11, 11);
    assert_int_equal(p->m->run.dataset, 1);
    qprof_shutdown();
    play_read(p, "data.2.qprof");
    assert_int_equal(p->m->run.state, QP_RUN_SEALED);
    assert_int_equal(play_count_files(".qprof"), 3);
}

static void a_snapshot_leaves_minimum_and_maximum_of_open_frames(void **state) /* qii 33 */
{
    play_ctx *p = play_start(state, "");
    play(p, "f( 7 ) f( 20");
    play_peek(p);
    assert_flat(p, "f", 2, 27, 27);
    assert_min_max(p, "f", 7, 7);
    play(p, "1 )");
    play_end(p);
    assert_min_max(p, "f", 7, 21);
}

static void with_clear_on_save_datasets_are_disjoint(void **state) /* qii 33 */
{
    play_ctx *p = *state;
    begin_numbered("-clear-on-save=yes");
    play(p, "main( 10 f( 5 )");
    assert_int_equal(qprof_save_data(), 1);
    play(p, "f( 6 ) 4 )");
    assert_int_equal(qprof_save_data(), 1);
    play_read(p, dataset(0));
    assert_flat(p, "main", 1, 15, 10);
    assert_flat(p, "f", 1, 5, 5);
    play_read(p, dataset(1));
    assert_flat(p, "main", 0, 10, 4);
    assert_flat(p, "f", 1, 6, 6);
    qprof_shutdown(); /* nothing happened since */
    assert_int_equal(play_count_files(".qprof"), 2);
}

static void an_annotation_is_in_the_next_dataset_only(void **state) /* qii 34 */
{
    play_ctx *p = *state;
    begin_numbered("");
    assert_int_equal(qprof_add_annotation(NULL), 0);
    assert_int_equal(qprof_add_annotation("four words of text"), 18);
    play(p, "f( 1 )");
    assert_int_equal(qprof_save_data(), 1);
    assert_int_equal(qprof_save_data(), 1);
    qprof_shutdown();
    for (int i = 0; i < 3; i++) {
        int n_found = 0;
        play_read(p, dataset((unsigned)i));
        for (size_t k = 0; k < p->m->run.n_notes; k++)
            n_found += !p->m->run.notes[k].is_message &&
                       strcmp(p->m->run.notes[k].text, "four words of text") == 0;
        assert_int_equal(n_found, i == 0);
    }
}

static void an_annotation_alone_is_data(void **state) /* qii 57 */
{
    (void)state;
    begin_numbered("");
    assert_int_equal(qprof_save_data(), 0);
    assert_int_equal(qprof_add_annotation("x"), 1);
    assert_int_equal(qprof_save_data(), 1);
    assert_int_equal(play_count_files(".qprof"), 1);
}

static void disabling_cannot_be_undone(void **state) /* qii 35 */
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 10");
    assert_int_equal(qprof_disable_recording(), 1);
    assert_int_equal(qprof_is_recording(), 0);
    assert_int_equal(qprof_start_recording(), 0);
    assert_int_equal(qprof_is_recording(), 0);
    assert_int_equal(qprof_is_running(), 1);
    play(p, "5 f( 5 ) )");
    play_end(p);
    assert_flat(p, "main", 1, 10, 10);
}

static void a_phase_is_saved_labelled_and_cleared(void **state) /* section 11 */
{
    play_ctx *p = *state;
    begin_numbered("");
    play(p, "main( 10 f( 5 )");
    assert_int_equal(qprof_new_phase("load"), 1);
    play(p, "g( 2 ) )");
    qprof_shutdown();
    play_read(p, dataset(0));
    assert_string_equal(p->m->run.label, "load");
    assert_flat(p, "main", 1, 15, 10);
    play_read(p, dataset(1));
    assert_string_equal(p->m->run.label, "");
    assert_flat(p, "main", 0, 2, 0);
    assert_flat(p, "g", 1, 2, 2);
    assert_absent(p, "f");
}

static void an_empty_dataset_is_not_written_and_uses_no_number(void **state) /* qii 57 */
{
    play_ctx *p = *state;
    begin_numbered("");
    assert_int_equal(qprof_save_data(), 0);
    assert_int_equal(qprof_save_data_to_file("other.qprof"), 0);
    assert_int_equal(qprof_new_phase("x"), 0);
    play(p, "f( 1 )");
    assert_int_equal(qprof_save_data(), 1);
    assert_int_equal(qprof_clear_data(), 1);
    assert_int_equal(qprof_save_data(), 0);
    qprof_shutdown();
    assert_int_equal(play_count_files(".qprof"), 1);
}

/* qii 57 left no file. But the author of a host who sees no file does not learn why. */
static void a_run_without_any_event_leaves_a_file_that_says_so(void **state)
{
    play_ctx *p = *state;
    play_begin(p, "");
    play_end(p);
    assert_int_equal(play_file_diagnostic(p, "no_events"), 1);
}

static void a_save_to_a_file_expands_its_name_and_keeps_the_number(void **state) /* qii 50 */
{
    play_ctx *p = *state;
    char name[64];
    unsigned number;
    begin_numbered("-program-name=prog");
    play(p, "f( 1 )");
    assert_int_equal(qprof_save_data_to_file("%v-%p-%n-%%.qprof"), 1);
    assert_int_equal(qprof_save_data(), 1);
    assert_int_equal(sscanf(dataset(0), "data.%u.qprof", &number), 1);
    snprintf(name, sizeof name, "prog-%d-%u-%%.qprof", (int)getpid(), number);
    assert_true(play_file_exists(name));
}

static void the_data_calls_do_nothing_while_not_running(void **state) /* section 4 */
{
    (void)state;
    assert_int_equal(qprof_is_running(), 0);
    assert_int_equal(qprof_is_recording(), 0);
    assert_int_equal(qprof_start_recording(), 0);
    assert_int_equal(qprof_stop_recording(), 0);
    assert_int_equal(qprof_disable_recording(), 0);
    assert_int_equal(qprof_clear_data(), 0);
    assert_int_equal(qprof_save_data(), 0);
    assert_int_equal(qprof_save_data_to_file("x.qprof"), 0);
    assert_int_equal(qprof_new_phase("x"), 0);
    assert_int_equal(qprof_add_annotation("x"), 0);
    assert_int_equal(qprof_load_config("x"), QPROF_E_STATE);
    assert_int_equal(qprof_config_line("-clock=elapsed"), QPROF_E_STATE);
    assert_null(qprof_get_option("clock"));
    assert_int_equal(play_count_files(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(saving_twice_makes_two_datasets_that_overlap), /* first: numbers from 0 */
        PLAY_TEST(clearing_in_mid_call_keeps_the_stack),
        PLAY_TEST(a_snapshot_leaves_minimum_and_maximum_of_open_frames),
        PLAY_TEST(with_clear_on_save_datasets_are_disjoint),
        PLAY_TEST(an_annotation_is_in_the_next_dataset_only),
        PLAY_TEST(an_annotation_alone_is_data),
        PLAY_TEST(disabling_cannot_be_undone),
        PLAY_TEST(a_phase_is_saved_labelled_and_cleared),
        PLAY_TEST(an_empty_dataset_is_not_written_and_uses_no_number),
        PLAY_TEST(a_run_without_any_event_leaves_a_file_that_says_so),
        PLAY_TEST(a_save_to_a_file_expands_its_name_and_keeps_the_number),
        PLAY_TEST(the_data_calls_do_nothing_while_not_running),
        PLAY_TEST(time_since_a_clear_is_data_without_an_entry),
        PLAY_TEST(it_is_data_after_its_calls_have_ended),
        PLAY_TEST(time_that_is_not_recorded_is_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
