/* test_contexts.c tests record/control/contexts.c: every count belongs to one context, on every
 * thread, whatever is cleared, and the sums of all contexts are the counters. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/cover/cover.h"
#include "unit/play.h"

enum { F_LINE_0 = 10, F_LINE_1 = 11 };

static const qprof_LineInfo f_table[] = {{0, F_LINE_0}, {4, F_LINE_1}};

static void begin(play_ctx *p, const char *options)
{
    play_begin(p, options);
    play_register(p, "f", 0, f_table, 2);
}

/* ---- what was read ----------------------------------------------------------------------- */

static qp_cover_set *set_of(play_ctx *p)
{
    qp_error error;
    qp_cover_set *s = qp_cover_set_new();
    if (!qp_cover_set_add(s, p->m, "run.qprof", &(qp_cover_add_options){0}, &error))
        fail_msg("%s", error.text);
    return s;
}

static const qp_cover_method *method_of(const qp_cover_set *s, const char *name)
{
    for (size_t i = 0; i < s->n_methods; i++)
        if (!strcmp(s->methods[i].name, name))
            return &s->methods[i];
    fail_msg("no method %s", name);
    return NULL;
}

/* What a context has of f: calls and its two counters. All 0 where it has no share. */
static void assert_share(const qp_cover_set *s, const char *context, int64_t calls, int64_t v0,
                         int64_t v1)
{
    const qp_cover_method *m = method_of(s, "f");
    bool is_unnamed = !context[0]; /* it also has what no share has */
    int64_t found[3] = {is_unnamed ? (int64_t)m->calls : 0,
                        is_unnamed ? (int64_t)m->values[0] : 0,
                        is_unnamed ? (int64_t)m->values[1] : 0};
    for (size_t i = 0; i < m->n_shares; i++) {
        const qp_cover_share *share = &m->shares[i];
        bool is_named = s->contexts[share->context][0] != '\0';
        int sign = is_unnamed ? -is_named : !strcmp(s->contexts[share->context], context);
        found[0] += sign * share->calls;
        found[1] += sign * share->values[0];
        found[2] += sign * share->values[1];
    }
    assert_int_equal(found[0], calls);
    assert_int_equal(found[1], v0);
    assert_int_equal(found[2], v1);
}

static void assert_all(const qp_cover_set *s, uint64_t calls, uint64_t v0, uint64_t v1)
{
    const qp_cover_method *m = method_of(s, "f");
    assert_int_equal(m->calls, calls);
    assert_int_equal(m->values[0], v0);
    assert_int_equal(m->values[1], v1);
}

/* ---- claims ------------------------------------------------------------------------------ */

static void play_contexts(play_ctx *p)
{
    play(p, "f( #0*1 #1*3 )");
    assert_int_equal(qprof_context("a"), 0);
    play(p, "f( #0*2 )");
    assert_int_equal(qprof_context("b"), 0);
    play(p, "f( #0*5 #1*1 )");
    assert_int_equal(qprof_context("a"), 0);
    play(p, "f( #0*1 )");
    assert_int_equal(qprof_context(NULL), 0);
    play(p, "f( )");
}

static void assert_contexts(play_ctx *p)
{
    qp_cover_set *s = set_of(p);
    assert_share(s, "", 2, 1, 3);
    assert_share(s, "a", 2, 3, 0);
    assert_share(s, "b", 1, 5, 1);
    assert_all(s, 5, 9, 4);
    qp_cover_set_free(s);
}

static void counts_belong_to_the_context_of_their_moment(void **state)
{
    play_ctx *p = *state;
    begin(p, "-cover=hits");
    play_contexts(p);
    play_end(p);
    assert_contexts(p);
}

static void coverage_alone_has_the_same_contexts(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage");
    play_contexts(p);
    play_end(p);
    assert_contexts(p);
}

static void a_snapshot_gives_the_rest_to_the_context_in_force(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage");
    assert_int_equal(qprof_context("a"), 0);
    play(p, "f( #0*2 )");
    play_peek(p);
    qp_cover_set *s = set_of(p);
    assert_share(s, "a", 1, 2, 0);
    assert_share(s, "", 0, 0, 0);
    qp_cover_set_free(s);
}

static void an_open_frame_counts_on_for_the_next_context(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage");
    assert_int_equal(qprof_context("a"), 0);
    play(p, "f( #0*1");
    assert_int_equal(qprof_context("b"), 0);
    play(p, "#1*7 )");
    play_end(p);
    qp_cover_set *s = set_of(p);
    assert_share(s, "a", 1, 1, 0);
    assert_share(s, "b", 0, 0, 7);
    qp_cover_set_free(s);
}

static void a_clear_takes_everything_from_every_context(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage");
    assert_int_equal(qprof_context("a"), 0);
    play(p, "f( #0*2 #1*1 )");
    assert_int_equal(qprof_context("b"), 0);
    play(p, "f( #0*4 )");
    assert_int_equal(qprof_clear_data(), 1);
    play(p, "f( #1*6 )");
    assert_int_equal(qprof_context("a"), 0);
    play(p, "f( #0*1 )");
    play_end(p);
    qp_cover_set *s = set_of(p);
    assert_share(s, "a", 1, 1, 0);
    assert_share(s, "b", 1, 0, 6);
    assert_all(s, 2, 1, 6);
    qp_cover_set_free(s);
}

/* The counters of an OS thread that carries virtual threads have no stack beside them. */
static void a_clear_reaches_counters_that_only_the_host_touches(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-collect=coverage");
    play_register(p, "f", 0, f_table, 2);
    uint64_t *counters = qprof_counter_bank(play_method(p, "f"));
    assert_non_null(counters);
    counters[0] += 3;
    assert_int_equal(qprof_context("a"), 0);
    counters[0] += 2;
    assert_int_equal(qprof_clear_data(), 1);
    counters[0] += 1;
    counters[1] += 9;
    assert_int_equal(qprof_context("b"), 0);
    counters[1] += 4;
    play_end(p);
    qp_cover_set *s = set_of(p);
    assert_share(s, "", 0, 0, 0);
    assert_share(s, "a", 0, 1, 9);
    assert_share(s, "b", 0, 0, 4);
    const qp_cover_method *m = method_of(s, "f");
    assert_int_equal(m->values[0], 1);
    assert_int_equal(m->values[1], 13);
    qp_cover_set_free(s);
}

/* The first clear finds a thread without a stack, the second one with a stack. */
static void a_second_clear_does_not_count_from_the_first(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage");
    uint64_t *counters = qprof_counter_bank(play_method(p, "f"));
    counters[0] += 7;
    assert_int_equal(qprof_clear_data(), 1);
    play(p, "f(");
    counters[0] += 5;
    assert_int_equal(qprof_clear_data(), 1);
    counters[0] += 4;
    assert_int_equal(qprof_context("a"), 0);
    counters[0] += 2;
    play(p, ")");
    play_end(p);
    qp_cover_set *s = set_of(p);
    const qp_cover_method *m = method_of(s, "f");
    assert_int_equal(m->values[0], 6);
    assert_share(s, "a", 0, 2, 0);
    qp_cover_set_free(s);
}

static void once_says_whether_and_not_how_often(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage -cover=once");
    play(p, "f( #0*1 #0*5 ) f( #0*2 )");
    play_end(p);
    qp_cover_set *s = set_of(p);
    assert_true(s->is_once);
    assert_all(s, 2, 1, 0);
    qp_cover_set_free(s);
}

static void coverage_alone_keeps_no_paths_and_reads_no_clock(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage -time=exact");
    play(p, "f( 5 g( 7 f( 1 g( 2 ) ) ) ) g( f( ) )");
    play_end(p);
    assert_int_equal(p->m->run.time_mode, QP_TIME_NONE);
    assert_int_equal(p->m->run.total, 0);
    assert_path(p, "f", 3, 0);
    assert_path(p, "g", 3, 0);
    assert_int_equal(p->m->n_nodes, 4); /* the run, the thread, f, g */
}

static void contexts_that_find_no_room_leave_the_one_before(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage -memory-limit=1M");
    char name[32];
    int n = 0, code = 0;
    for (; n < 100000 && !code; n++) {
        snprintf(name, sizeof name, "test %d", n);
        code = qprof_context(name);
        play(p, "f( #0*1 )");
    }
    assert_int_equal(code, QPROF_E_MEMORY);
    play_end(p);
    qp_cover_set *s = set_of(p);
    const qp_cover_method *m = method_of(s, "f");
    int64_t calls = 0, hits = 0;
    for (size_t i = 0; i < m->n_shares; i++) {
        calls += m->shares[i].calls;
        hits += m->shares[i].values[0];
    }
    assert_int_equal(m->calls, n);
    assert_int_equal(calls, n);
    assert_int_equal(hits, n);
    qp_cover_set_free(s);
}

static void contexts_outside_of_a_run_are_refused(void **state)
{
    play_ctx *p = *state;
    assert_int_equal(qprof_context("early"), QPROF_E_STATE);
    begin(p, "");
    play(p, "f( )");
    play_end(p);
    assert_int_equal(qprof_context("late"), QPROF_E_STATE);
}

static void a_forked_child_knows_the_code_of_its_parent(void **state)
{
    play_ctx *p = *state;
    begin(p, "-collect=coverage -follow-child-processes");
    assert_int_equal(qprof_register_source("score", "text", 4), 0);
    play(p, "f( #0*2 )");
    pid_t child = fork();
    if (!child) {
        play(p, "f( #1*7 ) f( )");
        qprof_shutdown();
        _exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
    play_end(p);
    char name[64];
    snprintf(name, sizeof name, "run.qprof.%d", (int)child);
    play_read(p, name);
    qp_cover_set *s = set_of(p);
    assert_all(s, 2, 0, 7);
    assert_int_equal(method_of(s, "f")->lines[1].line, F_LINE_1);
    assert_int_equal(s->n_texts, 1);
    assert_int_equal(s->texts[0].n_bytes, 4);
    assert_int_equal(play_file_diagnostic(p, "unknown_method"), 0);
    qp_cover_set_free(s);
}

/* ---- several OS threads ------------------------------------------------------------------ */

enum { N_WORKERS = 2, N_ROUNDS = 20000 };

static qprof_MethodID shared_method;

static void *count_lines(void *unused)
{
    uint64_t *counters = qprof_counter_bank(shared_method);
    for (int i = 0; counters && i < N_ROUNDS; i++) {
        qprof_record_fn_entry(shared_method, 1);
        __atomic_store_n(&counters[0], counters[0] + 1, __ATOMIC_RELAXED);
        qprof_record_bb_counts(1, 2);
        qprof_record_fn_exit(0);
    }
    return unused;
}

static void threads_lose_no_count_while_contexts_change(void **state)
{
    play_ctx *p = *state;
    pthread_t workers[N_WORKERS];
    begin(p, "-collect=coverage");
    shared_method = play_method(p, "f");
    for (int i = 0; i < N_WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, count_lines, NULL), 0);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(qprof_context(i % 3 ? "odd" : "even"), 0);
    for (int i = 0; i < N_WORKERS; i++)
        pthread_join(workers[i], NULL);
    play_end(p);
    qp_cover_set *s = set_of(p);
    const qp_cover_method *m = method_of(s, "f");
    int64_t calls = 0, first = 0, second = 0;
    for (size_t i = 0; i < m->n_shares; i++) {
        calls += m->shares[i].calls;
        first += m->shares[i].values[0];
        second += m->shares[i].values[1];
    }
    assert_all(s, N_WORKERS * N_ROUNDS, N_WORKERS * N_ROUNDS, 2 * N_WORKERS * N_ROUNDS);
    assert_int_equal(calls, N_WORKERS * N_ROUNDS);
    assert_int_equal(first, N_WORKERS * N_ROUNDS);
    assert_int_equal(second, 2 * N_WORKERS * N_ROUNDS);
    qp_cover_set_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(counts_belong_to_the_context_of_their_moment),
        PLAY_TEST(coverage_alone_has_the_same_contexts),
        PLAY_TEST(a_snapshot_gives_the_rest_to_the_context_in_force),
        PLAY_TEST(an_open_frame_counts_on_for_the_next_context),
        PLAY_TEST(a_clear_takes_everything_from_every_context),
        PLAY_TEST(a_clear_reaches_counters_that_only_the_host_touches),
        PLAY_TEST(a_second_clear_does_not_count_from_the_first),
        PLAY_TEST(once_says_whether_and_not_how_often),
        PLAY_TEST(coverage_alone_keeps_no_paths_and_reads_no_clock),
        PLAY_TEST(contexts_that_find_no_room_leave_the_one_before),
        PLAY_TEST(contexts_outside_of_a_run_are_refused),
        PLAY_TEST(a_forked_child_knows_the_code_of_its_parent),
        PLAY_TEST(threads_lose_no_count_while_contexts_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
