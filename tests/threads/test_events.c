/* test_events.c: threads that add, delete, enable, chain and raise event triggers at the same
 * time. Also built with the thread sanitizer.
 *
 * Whatever becomes of the triggers that come and go, those that stay are hit once for each
 * event. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "unit/trg.h"

enum { N_RAISERS = 2, N_CHANGERS = 2, FIRST = 50000 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { N_ROUNDS = 500 };
#else
enum { N_ROUNDS = 5000 };
#endif

static pthread_barrier_t begun;
static int n_actions; /* atomic, as the next */
static int left, n_refused;

static int count_action(intptr_t by)
{
    __atomic_fetch_add(&n_actions, (int)by, __ATOMIC_RELAXED);
    return 0;
}

/* Raises events, and makes calls that some look at. @param number  of the thread, from 0 */
static void *raise_events(void *number)
{
    unsigned i = (unsigned)(uintptr_t)number;
    uintptr_t method = 1 + i;
    pthread_barrier_wait(&begun);
    for (unsigned n = 0; n < N_ROUNDS; n++) {
        qprof_record_fn_entry(method, 1);
        qprof_trg_event(FIRST + i);
        qprof_user_event(FIRST + 9);
        __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
        qprof_record_fn_exit(0);
    }
    return NULL;
}

static qprof_TrgID add_one(unsigned kind)
{
    static const unsigned actions[] = {QPROF_TRG_ACT_NONE, QPROF_TRG_ACT_FUNC,
                                       QPROF_TRG_ACT_FUNC, QPROF_TRG_ACT_MARK};
    return trg_add((trg){.event = kind % 2 ? QPROF_EV_FN_EXIT : FIRST + kind % N_RAISERS,
                         .object = kind % 2 ? 1 + kind % N_RAISERS : 0,
                         .is_conditional = kind % 3 == 0,
                         .kind = QPROF_TRG_COND_VAR,
                         .left = &left,
                         .op = QPROF_TRG_GRT,
                         .right = 10,
                         .is_one_shot = kind % 5 == 0,
                         .action = (int)actions[kind % 4],
                         .function = count_action,
                         .is_deferred = kind % 4 == 2,
                         .argument = 1});
}

static void *change_triggers(void *number)
{
    unsigned seed = (unsigned)(uintptr_t)number;
    char name[32];
    pthread_barrier_wait(&begun);
    for (unsigned n = 0; n < N_ROUNDS; n++) {
        qprof_TrgID a = add_one(seed * 7 + n), b = add_one(seed * 5 + n + 1);
        qprof_TrgInfo info;
        if (!a || !b) /* another call of the kind was under way, or too many are enabled */
            continue;
        snprintf(name, sizeof name, "t%u-%u", seed, n);
        qprof_trg_set_name(a, name);
        qprof_trg_chain_set(a, b);
        qprof_trg_narrow(a, QPROF_TRG_RATE, 1000);
        qprof_trg_narrow(a, QPROF_TRG_LONGER, n); /* refused, or not */
        qprof_trg_set_object(b, "m");             /* the same */
        qprof_trg_disable(b);
        qprof_trg_enable(b);
        qprof_trg_get(a, &info);
        qprof_trg_reset(a);
        if (qprof_trg_delete(a) != 0 || qprof_trg_delete(b) != 0)
            __atomic_fetch_add(&n_refused, 1, __ATOMIC_RELAXED);
        qprof_trg_on();
    }
    return NULL;
}

static void triggers_come_and_go_while_events_are_raised(void **state)
{
    play_ctx *p = *state;
    pthread_t threads[N_RAISERS + N_CHANGERS];
    qprof_TrgID stays[N_RAISERS + 1];
    trg_begin(p, "");
    for (uintptr_t i = 0; i < N_RAISERS; i++)
        qprof_register_method_id(1 + i, "m", NULL, 0, NULL, NULL, 0);
    for (unsigned i = 0; i < N_RAISERS; i++)
        stays[i] = trg_must((trg){.event = FIRST + i});
    stays[N_RAISERS] = trg_must((trg){.event = FIRST + 9});
    pthread_barrier_init(&begun, NULL, N_RAISERS + N_CHANGERS);
    for (uintptr_t i = 0; i < N_RAISERS + N_CHANGERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i < N_RAISERS ? raise_events : change_triggers,
                                        (void *)i),
                         0);
    for (unsigned i = 0; i < N_RAISERS + N_CHANGERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&begun);
    for (unsigned i = 0; i < N_RAISERS; i++)
        assert_hits(stays[i], N_ROUNDS);
    assert_hits(stays[N_RAISERS], N_RAISERS * N_ROUNDS);
    assert_int_equal(qprof_trg_enabled_count(), N_RAISERS + 1);
    assert_int_equal(qprof_trg_is_on(), 1);
    assert_int_equal(n_refused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(triggers_come_and_go_while_events_are_raised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
