/* test_events_random.c tests record/trigger/event_trigger.c: random lists of event triggers
 * against a transcription of spec/events.md, sections 3 to 5. Both sides note each hit with the
 * number of its event; statuses, counts and the triggering bit are compared after each step.
 * Read naive_check first. */
#include <stdio.h>
#include <string.h>

#include "unit/trg.h"

enum { RUNS = 2000, STEPS = 150, LIST_MAX = 70, METHODS = 3, DEPTH_MAX = 6, NOBODY = -1 };

/* What an action does to the trigger `target`, besides noting its hit. */
typedef enum {
    DO_NOTHING,
    DO_ENABLE,
    DO_DISABLE,
    DO_DELETE,
    DO_CHAIN,
    DO_RAISE,
    N_DOES
} request;

typedef struct {
    qprof_TrgID id;
    qprof_event_t event;
    uintptr_t object;
    bool is_alive, is_doomed, is_enabled, begins_enabled, is_one_shot, is_conditional;
    int chain, op, right, target;
    request request;
    unsigned n_enabled; /* how often: a status that was seen is another one later */
    uint64_t hits;
} naive;

static struct {
    naive all[LIST_MAX];
    int n;
    bool is_on;
    unsigned n_enabled;
    int acting; /* whose action runs; NOBODY */
} list;

static int variable;
static uint64_t seed;
static char noted[2][8192]; /* [0]: by the transcription, [1]: by the library */
static unsigned n_events;

static unsigned below(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void note(int side, int which)
{
    size_t n = strlen(noted[side]);
    snprintf(noted[side] + n, sizeof noted[side] - n, " %u:%d", n_events, which);
}

/* ---- the transcription ------------------------------------------------------------------- */

static bool naive_enable(naive *t)
{
    if (t->is_enabled)
        return true;
    if (list.n_enabled == QPROF_TRG_MAX_ENABLED)
        return false;
    t->is_enabled = true;
    t->n_enabled++;
    list.n_enabled++;
    return true;
}

static void naive_disable(naive *t)
{
    if (!t->is_enabled)
        return;
    t->is_enabled = false;
    if (--list.n_enabled == 0)
        list.is_on = false;
}

static void naive_remove(naive *t)
{
    t->is_alive = false;
    for (int i = 0; i < list.n; i++)
        if (list.all[i].chain == (int)(t - list.all))
            list.all[i].chain = NOBODY;
    naive_disable(t);
    if (!list.n_enabled)
        list.is_on = false;
}

static void naive_deed(naive *t)
{
    naive *target = &list.all[t->target];
    if (t->target >= list.n || !target->is_alive)
        return;
    if (t->request == DO_ENABLE)
        naive_enable(target);
    else if (t->request == DO_DISABLE)
        naive_disable(target);
    else if (t->request == DO_DELETE && target == t)
        t->is_doomed = true;
    else if (t->request == DO_DELETE)
        naive_remove(target);
    else if (t->request == DO_CHAIN && t->chain == NOBODY)
        t->chain = t->target;
}

static bool naive_holds(const naive *t)
{
    int left = variable, right = t->right;
    const bool results[] = {
        left == right, left != right,       left<right, left <= right, left> right,
        left >= right, (left | right) != 0, (left & right) != 0};
    return !t->is_conditional || results[t->op];
}

static void naive_hit(naive *t)
{
    t->hits++;
    note(0, (int)(t - list.all));
    naive_deed(t);
    if (t->chain != NOBODY)
        naive_enable(&list.all[t->chain]);
    if (t->is_one_shot && t->chain != (int)(t - list.all)) /* else it re-enables itself */
        naive_disable(t);
}

static void naive_check(qprof_event_t event, uintptr_t object)
{
    unsigned seen[LIST_MAX];
    int n = list.n;
    if (!list.is_on)
        return;
    for (int i = 0; i < n; i++)
        seen[i] = list.all[i].is_alive && list.all[i].is_enabled ? list.all[i].n_enabled : 0;
    for (int i = 0; i < n; i++) {
        naive *t = &list.all[i];
        bool is_candidate = seen[i] && t->is_alive && t->is_enabled && t->n_enabled == seen[i];
        if (is_candidate && (t->event == event || t->event == QPROF_EV_ANY) &&
            (!t->object || t->object == object) && naive_holds(t))
            naive_hit(t);
    }
    for (int i = 0; i < n; i++)
        if (list.all[i].is_alive && list.all[i].is_doomed)
            naive_remove(&list.all[i]);
}

/* ---- the library ------------------------------------------------------------------------- */

static int act(intptr_t which)
{
    const naive *t = &list.all[which], *target = &list.all[t->target];
    note(1, (int)which);
    if (t->request == DO_RAISE)
        qprof_trg_event(E);
    if (t->target >= list.n || !target->id)
        return 0;
    if (t->request == DO_ENABLE)
        qprof_trg_enable(target->id);
    else if (t->request == DO_DISABLE)
        qprof_trg_disable(target->id);
    else if (t->request == DO_DELETE)
        qprof_trg_delete(target->id);
    else if (t->request == DO_CHAIN)
        qprof_trg_chain_set(t->id, target->id);
    return 0;
}

static void add(void)
{
    static const qprof_event_t events[] = {
        E,           E, E2, E2, E2 + 1, QPROF_EV_FN_ENTRY, QPROF_EV_FN_EXIT, QPROF_EV_UNWIND,
        QPROF_EV_ANY};
    naive *t = &list.all[list.n];
    if (list.n == LIST_MAX)
        return;
    *t = (naive){.event = events[below(sizeof events / sizeof *events)],
                 .is_alive = true,
                 .begins_enabled = below(3) > 0,
                 .is_one_shot = below(3) == 0,
                 .is_conditional = below(4) == 0,
                 .chain = list.n && below(3) == 0 ? (int)below((unsigned)list.n) : NOBODY,
                 .op = (int)below(8),
                 .right = (int)below(5) - 2,
                 .target = (int)below(LIST_MAX / 4),
                 .request = below(2) ? (request)below(N_DOES) : DO_NOTHING};
    bool is_of_calls = t->event < E || t->event == QPROF_EV_ANY;
    t->object = is_of_calls && below(2) ? 1 + below(METHODS) : 0;
    if (t->chain != NOBODY && !list.all[t->chain].is_alive)
        t->chain = NOBODY;
    t->id = trg_add((trg){.event = t->event,
                          .is_disabled = !t->begins_enabled,
                          .object = t->object,
                          .is_conditional = t->is_conditional,
                          .kind = QPROF_TRG_COND_VAR,
                          .left = &variable,
                          .op = t->op,
                          .right = t->right,
                          .is_one_shot = t->is_one_shot,
                          .chain = t->chain == NOBODY ? NULL : list.all[t->chain].id,
                          .action = QPROF_TRG_ACT_FUNC,
                          .function = act,
                          .argument = list.n});
    bool has_room = !t->begins_enabled || naive_enable(t);
    assert_int_equal(t->id != NULL, has_room);
    list.n += has_room;
}

/* ---- steps ------------------------------------------------------------------------------- */

static struct {
    uintptr_t methods[DEPTH_MAX];
    unsigned depth;
} stack;

static void enter(void)
{
    uintptr_t method = 1 + below(METHODS);
    if (stack.depth == DEPTH_MAX)
        return;
    naive_check(QPROF_EV_FN_ENTRY, method);
    stack.methods[stack.depth++] = method;
    qprof_record_fn_entry(method, stack.depth);
}

static void leave(void)
{
    unsigned left = stack.depth ? below(stack.depth) : 0;
    bool is_unwound = stack.depth > left + 1;
    if (!stack.depth)
        return;
    while (stack.depth > left)
        naive_check(QPROF_EV_FN_EXIT, stack.methods[--stack.depth]);
    if (is_unwound)
        naive_check(QPROF_EV_UNWIND, left ? stack.methods[left - 1] : 0);
    qprof_record_fn_exit(left);
}

static void raise_event(void)
{
    qprof_event_t event = E + below(3);
    naive_check(event, 0);
    qprof_trg_event(event);
}

static naive *any(void)
{
    naive *t = list.n ? &list.all[below((unsigned)list.n)] : NULL;
    return t && t->is_alive ? t : NULL;
}

static void change_one(void)
{
    naive *t = any(), *other = any();
    if (!t)
        return;
    switch (below(6)) {
    case 0:
        assert_int_equal(qprof_trg_enable(t->id), naive_enable(t) ? 0 : QPROF_E_LIMIT);
        break;
    case 1:
        naive_disable(t);
        assert_int_equal(qprof_trg_disable(t->id), 0);
        break;
    case 2:
        naive_remove(t);
        assert_int_equal(qprof_trg_delete(t->id), 0);
        break;
    case 3:
        t->chain = NOBODY;
        assert_int_equal(qprof_trg_chain_set(t->id, NULL), 0);
        break;
    case 4:
        if (other && t->chain == NOBODY)
            t->chain = (int)(other - list.all);
        if (other)
            qprof_trg_chain_set(t->id, other->id);
        break;
    default:
        t->hits = 0;
        if (!t->begins_enabled)
            naive_disable(t);
        assert_int_equal(qprof_trg_reset(t->id),
                         t->begins_enabled && !naive_enable(t) ? QPROF_E_LIMIT : 0);
    }
}

static void change_triggering(void)
{
    bool has_some = false;
    for (int i = 0; i < list.n; i++)
        has_some |= list.all[i].is_alive;
    if (below(4)) {
        assert_int_equal(qprof_trg_on(), has_some ? 0 : QPROF_E_STATE);
        list.is_on |= has_some;
    } else {
        qprof_trg_off();
        list.is_on = false;
    }
}

static void compare(unsigned run, unsigned step)
{
    assert_true(strlen(noted[0]) < sizeof noted[0] - 100);
    if (strcmp(noted[0], noted[1]) != 0)
        fail_msg("run %u, step %u: expected%s, got%s", run, step, noted[0], noted[1]);
    if (qprof_trg_is_on() != list.is_on || qprof_trg_enabled_count() != list.n_enabled)
        fail_msg("run %u, step %u: on %d, expected %d; %u enabled, expected %u", run, step,
                 qprof_trg_is_on(), list.is_on, qprof_trg_enabled_count(), list.n_enabled);
    for (int i = 0; i < list.n; i++) {
        const naive *t = &list.all[i];
        qprof_TrgInfo info;
        int code = qprof_trg_get(t->id, &info);
        if (code != (t->is_alive ? 0 : QPROF_E_NOTFOUND) ||
            (t->is_alive &&
             (info.hits != t->hits || info.status != t->is_enabled ||
              info.chain != (t->chain == NOBODY ? NULL : list.all[t->chain].id))))
            fail_msg("run %u, step %u: trigger %d differs", run, step, i);
    }
}

static void random_lists_do_what_the_spec_says(void **state)
{
    for (unsigned run = 0; run < RUNS; run++) {
        seed = run;
        memset(&list, 0, sizeof list);
        memset(&stack, 0, sizeof stack);
        play_begin(*state, "-time=none -memory-limit=256M");
        for (uintptr_t method = 1; method <= METHODS; method++) {
            qprof_register_method_id(method, "m", NULL, 0, NULL, NULL, 0);
            qprof_record_fn_entry(method, 1);
            qprof_record_fn_exit(0);
        }
        for (unsigned step = 0; step < STEPS; step++) {
            static void (*const steps[])(void) = {
                enter,       enter, leave,      raise_event,
                raise_event, add,   change_one, change_triggering};
            n_events = step;
            noted[0][0] = noted[1][0] = '\0';
            variable = (int)below(5) - 2;
            steps[step < 8 ? 5 : below(8)]();
            compare(run, step);
        }
        qprof_shutdown();
        remove("run.qprof");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {PLAY_TEST(random_lists_do_what_the_spec_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
