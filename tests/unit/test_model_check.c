/* test_model_check.c: every invariant holds in a sound profile and is named when it is
 * broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

static const qp_line two_blocks[] = {{0, 1}, {5, 2}};

/* f calls g: 2 and 6 calls, g still open. */
typedef struct {
    profile *p;
    qp_cell thread, f, g, frames, method;
} world;

static world begin(void)
{
    world w = {.p = profile_new()};
    w.thread = profile_thread(w.p);
    w.method = profile_method(w.p, 1, "f", NULL, "f.lua");
    ((qp_method *)profile_at(w.p, w.method))->lines = profile_lines(w.p, two_blocks, 2);
    w.f = profile_node(w.p, w.thread, 0, w.method, 2, 20);
    w.g = profile_node(w.p, w.thread, w.f, profile_method(w.p, 2, "g", NULL, NULL), 6, 60);
    w.frames = profile_stack(w.p, w.thread, (qp_cell[]){w.f, w.g}, 2);
    ((qp_thread_record *)profile_at(w.p, w.thread))->last = 1000;
    profile_balance(w.p, w.thread, 8, 2);
    return w;
}

/* All checks but this one pass; NULL: all pass. */
static void assert_only_fails(world w, const char *name, qp_load_status expected)
{
    qp_model *m = profile_load(w.p, expected);
    qp_check *all;
    size_t n;
    assert_true(qp_model_check(m, &all, &n));
    for (size_t i = 0; i < n; i++) {
        bool is_it = name && strcmp(all[i].name, name) == 0;
        if (all[i].passed == is_it)
            fail_msg("%s %s: %s", all[i].name, is_it ? "passed" : "failed", all[i].detail);
        assert_int_equal(all[i].detail[0] != '\0', is_it);
    }
    qp_free(all);
    qp_model_free(m);
    profile_free(w.p);
}

static void a_sound_profile_passes_all(void **state)
{
    (void)state;
    assert_only_fails(begin(), NULL, QP_LOAD_CLEAN);
}

static void an_entry_without_an_end_is_found(void **state)
{
    (void)state;
    world w = begin();
    ((qp_thread_record *)profile_at(w.p, w.thread))->n_exits--;
    assert_only_fails(w, "accounting_identity", QP_LOAD_CLEAN);
}

/* Killed between counting an entry and showing its frame. */
static void an_unsealed_profile_may_have_one_event_in_flight(void **state)
{
    (void)state;
    for (unsigned missing = 1; missing <= 2; missing++) {
        world w = begin();
        profile_head(w.p)->state = QP_LIVE;
        ((qp_thread_record *)profile_at(w.p, w.thread))->n_exits -= missing;
        assert_only_fails(w, missing == 1 ? NULL : "accounting_identity", QP_LOAD_CLEAN);
    }
}

/* Killed in an unwinding of seven frames: all of them counted, none popped; but not eight. */
static void an_unwinding_in_flight_is_as_many_ends_as_it_says(void **state)
{
    (void)state;
    for (unsigned n = 7; n <= 8; n++) {
        world w = begin();
        qp_thread_record *r = profile_at(w.p, w.thread);
        profile_head(w.p)->state = QP_LIVE;
        r->n_unsettled = 7;
        r->n_unwound += n;
        assert_only_fails(w, n == 7 ? NULL : "accounting_identity", QP_LOAD_CLEAN);
    }
}

static void a_snapshot_may_drift_as_far_as_it_says(void **state)
{
    (void)state;
    for (unsigned missing = 4; missing <= 5; missing++) {
        world w = begin();
        qp_thread_record *r = profile_at(w.p, w.thread);
        profile_head(w.p)->state = QP_SNAPSHOT;
        r->n_exits -= missing;
        r->n_drift = 3;
        assert_only_fails(w, missing == 4 ? NULL : "accounting_identity", QP_LOAD_CLEAN);
    }
}

static void every_term_of_the_identity_counts(void **state)
{
    (void)state;
    world w = begin();
    qp_thread_record *r = profile_at(w.p, w.thread);
    profile_more(w.p, w.thread, w.g)->n_skips = 5; /* 13 entries in the tree */
    r->n_deep_total = 7;
    r->n_overflowed = 11;
    r->n_dropped = 13;
    r->n_cleared = 17; /* 61 in all */
    r->n_deep = 3;     /* 5 open */
    r->n_exits = 20;
    r->n_unwound = 10;
    r->n_destroyed_live = 13; /* 61 with those that were dropped */
    assert_only_fails(w, NULL, QP_LOAD_CLEAN);
}

static void a_caller_stored_after_its_callee_is_found(void **state)
{
    (void)state;
    world w = begin();
    ((qp_node *)profile_at(w.p, w.f))->parent = w.g;
    qp_model *m = profile_load(w.p, QP_LOAD_SALVAGED);
    assert_false(profile_passes(m, "parents_first"));
    assert_false(profile_passes(m, "tree_reachable"));
    assert_true(profile_passes(m, "time_sum"));
    qp_model_free(m);
    profile_free(w.p);
}

static void frames_that_are_no_path_are_found(void **state)
{
    (void)state;
    world w = begin();
    ((qp_frame *)profile_at(w.p, w.frames + 1))->node = (uint64_t)w.g * QP_CELL;
    ((qp_frame *)profile_at(w.p, w.frames + 2))->node = (uint64_t)w.f * QP_CELL;
    assert_only_fails(w, "open_frames", QP_LOAD_CLEAN);
}

static void an_average_outside_its_bounds_is_found(void **state)
{
    (void)state;
    world w = begin();
    qp_thread_record *r = profile_at(w.p, w.thread);
    qp_cell h = profile_node(w.p, w.thread, 0, w.method, 4, 40);
    ((qp_node *)profile_at(w.p, h))->self_min = 11;
    ((qp_node *)profile_at(w.p, h))->self_max = 12;
    r->n_exits += 4;
    assert_only_fails(w, "min_max", QP_LOAD_CLEAN);
}

static void blocks_that_took_more_than_their_method_are_found(void **state)
{
    (void)state;
    world w = begin();
    qp_counter_block *b = profile_bank(w.p, w.thread, w.method, QP_COUNTER_BLOCK_TIMES, 5, 2);
    b->values[0] = 15;
    b->values[2] = 6; /* 21 of 20 */
    assert_only_fails(w, "block_times", QP_LOAD_CLEAN);
}

static void a_text_that_leads_nowhere_is_found(void **state)
{
    (void)state;
    world w = begin();
    ((qp_method *)profile_at(w.p, w.method))->file = 0x7FFFFFFF;
    assert_only_fails(w, "references", QP_LOAD_SALVAGED);
}

static void an_end_before_the_beginning_is_found(void **state)
{
    (void)state;
    world w = begin();
    profile_head(w.p)->started_at = 5;
    profile_head(w.p)->ended_at = 4;
    assert_only_fails(w, "time_order", QP_LOAD_CLEAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_profile_passes_all),
        cmocka_unit_test(an_entry_without_an_end_is_found),
        cmocka_unit_test(an_unsealed_profile_may_have_one_event_in_flight),
        cmocka_unit_test(an_unwinding_in_flight_is_as_many_ends_as_it_says),
        cmocka_unit_test(a_snapshot_may_drift_as_far_as_it_says),
        cmocka_unit_test(every_term_of_the_identity_counts),
        cmocka_unit_test(a_caller_stored_after_its_callee_is_found),
        cmocka_unit_test(frames_that_are_no_path_are_found),
        cmocka_unit_test(an_average_outside_its_bounds_is_found),
        cmocka_unit_test(blocks_that_took_more_than_their_method_are_found),
        cmocka_unit_test(a_text_that_leads_nowhere_is_found),
        cmocka_unit_test(an_end_before_the_beginning_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
