/* test_events_chain.c tests record/trigger/event_trigger.c: sequences, spec/events.md section
 * 5, as timelines.
 *
 * A timeline is what happens, a letter each: an event a, b or c; + or - and a letter: the
 * trigger of that name is enabled or disabled by hand; ! triggering on. Then, what each trigger
 * was hit by: the number of the event, from 1. */
#include <stdio.h>
#include <string.h>

#include "unit/trg.h"

enum { N_MAX = 4 };

typedef struct {
    char event; /* a, b, c, or * for any */
    bool is_disabled, is_one_shot;
    char chain; /* name of another one; 0: none */
} line;

typedef struct {
    line triggers[N_MAX]; /* named A, B, C, D; event 0: no more */
    const char *happens;
    const char *hits[N_MAX]; /* "1 3": by the first and the third event */
    bool stays_on;
} timeline;

static const timeline timelines[] = {
    {{{'a', 0, 1, 0}}, "aa", {"1"}, false},                                  /* events 21, 22 */
    {{{'a', 0, 1, 0}, {'b', 0, 0, 0}}, "aab", {"1", "3"}, true},             /* events 21 */
    {{{'a', 0, 1, 'B'}, {'b', 1, 0, 0}}, "bab", {"2", "3"}, true},           /* events 23 */
    {{{'a', 0, 1, 'B'}, {'a', 1, 0, 0}}, "aa", {"1", "2"}, true},            /* events 24, 25 */
    {{{'a', 0, 0, 'B'}, {'*', 1, 1, 0}}, "aab", {"1 2", "2"}, true},         /* events 24, 25 */
    {{{'a', 0, 1, 'B'}, {'b', 1, 1, 0}}, "ab+A!abb", {"1 3", "2 4"}, false}, /* events 26 */
    {{{'a', 0, 0, 'B'}, {'b', 1, 0, 0}}, "-A!b", {"", ""}, true},            /* events 27 */
    {{{'a', 0, 0, 'B'}, {'b', 1, 0, 0}}, "a-Ab", {"1", "2"}, true}, /* B stays enabled */
    {{{'a', 1, 0, 0}}, "a+Aa", {"2"}, true},                        /* events 44 */
    {{{'a', 0, 1, 0}}, "a+Aaa", {"1"}, false},                      /* events 45 */
    {{{'a', 0, 1, 0}}, "a+A!aa", {"1 2"}, false},                   /* events 45 */
    {{{'a', 0, 1, 'A'}}, "aaa", {"1 2 3"}, true}, /* it enables itself again */
    {{{'a', 0, 1, 'B'}, {'b', 1, 1, 'C'}, {'c', 1, 1, 'A'}},
     "cbabcaabc", /* round and round */
     {"3 6", "4 8", "5 9"},
     true},
    {{{'a', 0, 1, 'B'}, {'a', 1, 1, 'C'}, {'a', 1, 1, 'D'}, {'a', 1, 1, 0}},
     "aaaaa",
     {"1", "2", "3", "4"},
     false}};

static int n_events;
static char hits[N_MAX][64];

static int note_hit(intptr_t which)
{
    size_t n = strlen(hits[which]);
    snprintf(hits[which] + n, sizeof hits[which] - n, "%s%d", n ? " " : "", n_events);
    return 0;
}

static qprof_event_t event_of(char letter)
{
    return letter == '*' ? (qprof_event_t)QPROF_EV_ANY : 40001u + (unsigned)(letter - 'a');
}

static void add_triggers(const timeline *t, qprof_TrgID *all)
{
    for (int i = 0; i < N_MAX && t->triggers[i].event; i++)
        all[i] = trg_must((trg){.event = event_of(t->triggers[i].event),
                                .is_disabled = t->triggers[i].is_disabled,
                                .is_one_shot = t->triggers[i].is_one_shot,
                                .action = QPROF_TRG_ACT_FUNC,
                                .function = note_hit,
                                .argument = i});
    for (int i = 0; i < N_MAX && t->triggers[i].event; i++)
        if (t->triggers[i].chain)
            assert_int_equal(qprof_trg_chain_set(all[i], all[t->triggers[i].chain - 'A']), 0);
}

static void run(const char *happens, qprof_TrgID *all)
{
    for (const char *c = happens; *c; c++) {
        if (*c == '+') {
            assert_int_equal(qprof_trg_enable(all[*++c - 'A']), 0);
        } else if (*c == '-') {
            assert_int_equal(qprof_trg_disable(all[*++c - 'A']), 0);
        } else if (*c == '!') {
            assert_int_equal(qprof_trg_on(), 0);
        } else {
            n_events++;
            qprof_trg_event(event_of(*c));
        }
    }
}

static void timelines_hold(void **state) /* events 21 to 27, 44, 45 */
{
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof timelines / sizeof *timelines; i++) {
        const timeline *t = &timelines[i];
        qprof_TrgID all[N_MAX] = {NULL};
        memset(hits, 0, sizeof hits);
        n_events = 0;
        play_begin(p, "");
        add_triggers(t, all);
        assert_int_equal(qprof_trg_on(), 0);
        run(t->happens, all);
        for (int k = 0; k < N_MAX && t->triggers[k].event; k++)
            if (strcmp(hits[k], t->hits[k]) != 0)
                fail_msg("%s: %c was hit by %s", t->happens, 'A' + k, hits[k]);
        assert_int_equal(qprof_trg_is_on(), t->stays_on);
        qprof_shutdown();
    }
}

static void a_chain_to_one_that_is_gone_is_none(void **state) /* events 29 */
{
    qprof_TrgInfo info;
    trg_begin(*state, "");
    qprof_TrgID b = trg_must((trg){.event = E2, .is_disabled = 1});
    qprof_TrgID a = trg_must((trg){.event = E, .chain = b});
    assert_int_equal(qprof_trg_delete(b), 0);
    assert_int_equal(qprof_trg_get(a, &info), 0);
    assert_null(info.chain);
    qprof_trg_event(E);
    assert_hits(a, 1);
    qprof_TrgID c = trg_must((trg){.event = E2, .is_disabled = 1});
    assert_int_equal(qprof_trg_chain_set(a, c), 0); /* nothing to be cleared first */
    qprof_trg_event(E);
    assert_int_equal(trg_is_enabled(c), 1);
}

static void a_chain_that_finds_no_room_is_no_error(void **state) /* section 5 */
{
    trg_begin(*state, "");
    qprof_TrgID full = trg_must((trg){.event = E2, .is_disabled = 1});
    qprof_TrgID a = trg_must((trg){.event = E, .chain = full});
    for (unsigned i = 1; i < QPROF_TRG_MAX_ENABLED; i++)
        trg_must((trg){.event = 40000});
    qprof_trg_event(E);
    assert_hits(a, 1);
    assert_int_equal(trg_is_enabled(full), 0);
}

static void a_one_shot_makes_room_for_its_chain(void **state)
{
    trg_begin(*state, "");
    qprof_TrgID next = trg_must((trg){.event = E2, .is_disabled = 1});
    qprof_TrgID a = trg_must((trg){.event = E, .is_one_shot = 1, .chain = next});
    for (unsigned i = 1; i < QPROF_TRG_MAX_ENABLED; i++)
        trg_must((trg){.event = 40000});
    qprof_trg_event(E);
    assert_hits(a, 1);
    assert_int_equal(trg_is_enabled(a), 0);
    assert_int_equal(trg_is_enabled(next), 1);
    assert_int_equal(qprof_trg_enabled_count(), QPROF_TRG_MAX_ENABLED);
    qprof_trg_event(E2);
    assert_hits(next, 1);
}

static void a_million_can_wait(void **state) /* issue: 1 million triggers */
{
    enum { N = 1000000 };
    trg_begin(*state, "");
    qprof_TrgID last = NULL;
    for (unsigned i = 0; i < N; i++)
        last = trg_must((trg){.event = E, .is_disabled = 1, .object = i});
    assert_int_equal(qprof_trg_enable(last), 0);
    qprof_trg_event(E);
    assert_hits(last, 0); /* a user event has no object */
    assert_int_equal(qprof_trg_delete(last), 0);
    assert_int_equal(qprof_trg_enabled_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(timelines_hold),
        PLAY_TEST(a_chain_to_one_that_is_gone_is_none),
        PLAY_TEST(a_chain_that_finds_no_room_is_no_error),
        PLAY_TEST(a_one_shot_makes_room_for_its_chain),
        PLAY_TEST(a_million_can_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
