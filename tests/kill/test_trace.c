/* test_trace.c: a traced program is killed at 300 random moments in each mode: every packet
 * that was written and every ring's tail are read back, and at most the event in flight of each
 * thread is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/traces.h"
#include "unit/victim.h"

enum { N_KILLS = 300, MAX_DEPTH = 300 };

/* A ring of 2M holds all events of a thread. */
static const victim_plan plan = {.max_depth = MAX_DEPTH, .n_events = 100000};
static char folder[] = "/tmp/qprof-kill-XXXXXX";

/* Events of one ring, from wherever they are read. */
typedef struct {
    qp_cell ring;
    uint64_t host_id;
    uint64_t n_entries, n_exits;
    uint64_t next, ticks;
} ring_sum;

static ring_sum *sum_of(ring_sum *sums, qp_cell ring)
{
    unsigned i = 0;
    while (sums[i].ring && sums[i].ring != ring)
        i++;
    assert_true(i < VICTIM_THREADS);
    sums[i].ring = ring;
    return &sums[i];
}

/* Records follow each other without a gap; those that are here and there are taken once. */
static void add_events(ring_sum *sums, const traces *t, const traces *names)
{
    for (size_t i = 0; i < t->n; i++) {
        const qp_trace_record *r = &t->all[i].r;
        ring_sum *s = sum_of(sums, t->all[i].ring);
        if (t->all[i].number < s->next)
            continue;
        assert_int_equal(t->all[i].number, s->next);
        s->next++;
        assert_true((r->word & QP_TRACE_TICKS) >= s->ticks);
        s->ticks = r->word & QP_TRACE_TICKS;
        switch (qp_trace_op_of(r)) {
        case QP_TRACE_SWITCH:
            s->host_id = traces_name(names, QP_NAMES_THREAD, r->a)->numbers[2];
            break;
        case QP_TRACE_ENTRY:
            s->n_entries++;
            assert_int_equal(names->paths[r->a].method, r->b);
            break;
        case QP_TRACE_EXIT:
            s->n_exits++;
            assert_in_range(r->a & ~QP_TRACE_UNWOUND, 1, MAX_DEPTH);
            break;
        case QP_TRACE_LOST:
            break;
        default:
            fail_msg("record %zu has op %d", i, qp_trace_op_of(r));
        }
    }
}

static void assert_nothing_lost(const ring_sum *sums, uint64_t n_lost)
{
    for (unsigned i = 0; i < VICTIM_THREADS; i++) {
        const victim_tally *t = &victim->threads[i];
        const ring_sum *found = NULL;
        for (unsigned k = 0; k < VICTIM_THREADS; k++)
            if (sums[k].host_id == VICTIM_HOST_ID + i)
                found = &sums[k];
        victim_assert_between("entries", t->entries_done, found ? found->n_entries : 0,
                              t->entries_begun, n_lost);
        uint64_t n_lost_or_of_lost =
            n_lost ? t->exits_done : 0; /* of a lost entry there is no exit */
        victim_assert_between("exits", t->exits_done, found ? found->n_exits : 0,
                              t->exits_begun, n_lost_or_of_lost);
    }
}

static void rings_survive_kill_9(void **state) /* reliability 2.11 */
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned i = 0; i < N_KILLS; i++) {
        ring_sum sums[VICTIM_THREADS] = {{0}};
        victim_kill_after(victim_moment(i, &seed), "-collect=profile,trace -trace-buffer=2M",
                          &plan);
        traces *t = traces_of_profile(victim->live_file);
        add_events(sums, t, t);
        assert_nothing_lost(sums, 0);
        traces_free(t);
        unlink(victim->live_file);
    }
}

/* Only the last thousand are there, and nothing of what they replaced. */
static void a_ring_that_went_round_survives_kill_9(void **state)
{
    uint64_t seed = 2;
    (void)state;
    for (unsigned i = 0; i < N_KILLS / 4; i++) {
        uint64_t done = 0, begun = 0;
        victim_kill_after(victim_moment(i, &seed), "-collect=profile,trace -trace-buffer=16K",
                          &plan);
        traces *t = traces_of_profile(victim->live_file);
        unsigned n_rings = 0;
        for (size_t k = 0; k < t->n; k++) {
            bool is_first = !k || t->all[k].ring != t->all[k - 1].ring;
            n_rings += is_first;
            assert_true(is_first || (t->all[k].r.word & QP_TRACE_TICKS) >=
                                        (t->all[k - 1].r.word & QP_TRACE_TICKS));
            qp_trace_op op = qp_trace_op_of(&t->all[k].r);
            assert_true(op == QP_TRACE_ENTRY || op == QP_TRACE_EXIT || t->all[k].number == 0);
        }
        for (unsigned k = 0; k < VICTIM_THREADS; k++) {
            done += victim->threads[k].entries_done + victim->threads[k].exits_done;
            begun += victim->threads[k].entries_begun + victim->threads[k].exits_begun;
        }
        /* each ring begins with a SWITCH, which may be all that it has */
        victim_assert_between("events", done, t->ring_head - n_rings, begun, 0);
        traces_free(t);
        unlink(victim->live_file);
    }
}

static void streams_survive_kill_9(void **state) /* reliability 2.11 */
{
    uint64_t seed = 3;
    char options[200], file[100];
    unsigned n_full = 0;
    (void)state;
    snprintf(file, sizeof file, "%s/t.qtrace", folder);
    snprintf(options, sizeof options, "-trace-output=%s", file);
    for (unsigned i = 0; i < N_KILLS; i++) {
        ring_sum sums[VICTIM_THREADS] = {{0}};
        victim_kill_after(victim_moment(i, &seed) * 2, options, &plan);
        traces *written = traces_of_file(file), *left = traces_of_profile(victim->live_file);
        assert_int_equal(written->n_missing, 0);
        add_events(sums, written, written);
        add_events(sums, left, left);
        n_full += left->ring_lost > 0;
        assert_nothing_lost(sums, left->ring_lost);
        traces_free(written);
        traces_free(left);
        unlink(victim->live_file);
        unlink(file);
    }
    assert_in_range(n_full, 0, N_KILLS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_survive_kill_9),
        cmocka_unit_test(a_ring_that_went_round_survives_kill_9),
        cmocka_unit_test(streams_survive_kill_9),
    };
    unsetenv("QPROF");
    if (!victim_prepare() || !mkdtemp(folder))
        return 99;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
