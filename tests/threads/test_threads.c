/* test_threads.c: many OS threads, virtual threads that wander between them, and others that
 * stop, start, save, clear and shut down meanwhile. Also built with the thread sanitizer.
 *
 * Every thread counts what it did; afterwards the profile must say the same sum. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "qprof.h"
#include "unit/play.h"

enum { N_OS_THREADS = 4, N_VIRTUAL = 24, N_METHODS = 20, MAX_DEPTH = 40 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { N_TURNS = 4000, N_SWITCHES = 20000, N_CHURN = 10000 };
#else
enum { N_TURNS = 20000, N_SWITCHES = 20000, N_CHURN = 10000 };
#endif

/* One thread of the host: its stack is its own on every OS thread. */
typedef struct {
    VthreadID vt;
    uint64_t random, n_entries;
    unsigned depth;
    uint64_t ids[MAX_DEPTH];
} actor;

/* Actors that no OS thread runs, handed over under the lock. */
typedef struct {
    pthread_mutex_t lock;
    actor *waiting[N_VIRTUAL];
    unsigned n_waiting;
    unsigned n_turns_left;
    bool by_handle;
    pthread_barrier_t begun; /* every OS thread has an actor: each will come to another one */
} stage;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void record_entry(const actor *a, qprof_thread *handle, uint64_t method, uint64_t id)
{
    if (handle)
        qprof_entry(handle, method, id);
    else if (a->vt)
        qprof_record_fn_entry_vt(method, id, a->vt);
    else
        qprof_record_fn_entry(method, id);
}

static void record_exit(const actor *a, qprof_thread *handle, uint64_t id)
{
    if (handle)
        qprof_exit(handle, id);
    else if (a->vt)
        qprof_record_fn_exit_vt(id, a->vt);
    else
        qprof_record_fn_exit(id);
}

/* Some calls and returns of one actor. */
static void act(actor *a, qprof_thread *handle, unsigned n_events)
{
    for (unsigned i = 0; i < n_events; i++) {
        uint64_t r = next_random(&a->random);
        if (a->depth < MAX_DEPTH && r % 2) {
            a->ids[a->depth] = 10 + a->depth;
            record_entry(a, handle, 1 + r / 8 % N_METHODS, a->ids[a->depth++]);
            a->n_entries++;
        } else if (a->depth) {
            a->depth -= r % 16 ? 1 : a->depth;
            record_exit(a, handle, a->depth ? a->ids[a->depth - 1] : 0);
        }
    }
}

static actor *take_actor(stage *s)
{
    actor *a = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->n_turns_left && s->n_waiting) {
        s->n_turns_left--;
        a = s->waiting[0]; /* the one that waited longest */
        memmove(s->waiting, s->waiting + 1, --s->n_waiting * sizeof *s->waiting);
    }
    pthread_mutex_unlock(&s->lock);
    return a;
}

static void put_actor(stage *s, actor *a)
{
    pthread_mutex_lock(&s->lock);
    s->waiting[s->n_waiting++] = a;
    pthread_mutex_unlock(&s->lock);
}

static void *carry(void *on)
{
    stage *s = on;
    actor *a = take_actor(s);
    pthread_barrier_wait(&s->begun);
    for (; a; a = take_actor(s)) {
        qprof_thread *handle = NULL, *before = NULL;
        if (s->by_handle) {
            handle = qprof_thread_handle_vt(a->vt, QPROF_INLINE_VERSION);
            before = qprof_thread_mount(handle);
        }
        act(a, handle, 1 + (unsigned)(next_random(&a->random) % 40));
        if (handle)
            qprof_thread_mount(before);
        put_actor(s, a);
    }
    return NULL;
}

static void register_methods(void)
{
    for (uint64_t i = 1; i <= N_METHODS; i++)
        qprof_register_method_id(i, "m", NULL, 0, "f", NULL, 0);
}

/* A disturbing thread runs this until it is asked to end. */
typedef struct {
    bool is_over;
    bool stops, saves, clears, shuts_down, triggers;
    unsigned n_damaged;
} disturbance;

/* Rules of some methods come, change and go; the gate is closed and opened. */
static void change_triggers(unsigned i)
{
    char name[16];
    snprintf(name, sizeof name, "r%u", i % 8);
    qprof_trigger *t = qprof_trigger_find(name);
    qprof_enable_profiling(i % 3 != 0);
    if (i % 64 == 63)
        qprof_area_set_checked(qprof_area_find("all-lines"), i % 128 == 127);
    if (!t) {
        t = qprof_trigger_create(name, i % 2 ? QPROF_TRIGGER_ON : QPROF_TRIGGER_OFF);
        qprof_trigger_set_pass(t, i % 5);
        qprof_trigger_set_work(t, i % 7);
        qprof_trigger_set_all_threads(t, i % 2);
        qprof_trigger_add_method(t, 1 + i % N_METHODS, 1);
        qprof_trigger_add_routine(t, i % 16 ? "m" : "glob:*", i % 9 == 0);
    } else if (i % 4) {
        qprof_trigger_check_routine(t, "m", i % 2);
    } else {
        qprof_trigger_destroy(t);
    }
    qprof_action *a = qprof_action_find("turn");
    if (!a && (a = qprof_action_create("turn", (int)(i % 2), QPROF_ON_EXIT)))
        qprof_action_add_method(a, 1 + i % N_METHODS, 1);
    else if (i % 4 == 0)
        qprof_action_destroy(a);
}

/* Save while others record. The copy must be as it was written, in what was changed in it as well. */
static void save_and_read(disturbance *d, unsigned i)
{
    static pthread_mutex_t reader = PTHREAD_MUTEX_INITIALIZER; /* it is made for one thread */
    char name[40];
    qp_model *m;
    qp_error error;
    qp_check *checks = NULL;
    size_t n = 0;
    snprintf(name, sizeof name, "snapshot-%lx.qprof", (unsigned long)pthread_self());
    if (qprof_save_data_to_file(name) > 0 && i % 128 == 0) {
        pthread_mutex_lock(&reader);
        qp_load_status status = qp_model_load(name, NULL, &m, &error);
        bool is_good = status != QP_LOAD_UNUSABLE && qp_model_check(m, &checks, &n);
        while (n && strcmp(checks[n - 1].name, "checksums") != 0)
            n--;
        is_good = is_good && n && checks[n - 1].passed && checks[n - 1].n_checked;
        d->n_damaged += !is_good;
        qp_free(checks);
        if (status != QP_LOAD_UNUSABLE)
            qp_model_free(m);
        pthread_mutex_unlock(&reader);
    }
    unlink(name);
}

static void *disturb(void *what)
{
    disturbance *d = what;
    for (unsigned i = 0; !__atomic_load_n(&d->is_over, __ATOMIC_ACQUIRE); i++) {
        if (d->stops && i % 2)
            qprof_stop_recording();
        if (d->stops)
            qprof_start_recording();
        if (d->saves && i % 16 == 0)
            save_and_read(d, i);
        if (d->clears && i % 8 == 0)
            qprof_clear_data();
        if (d->triggers)
            change_triggers(i);
        if (d->shuts_down && i == 200)
            qprof_shutdown();
        qprof_diagnostic("wrong_mode");
        qprof_register_method_id(1000 + i, "late", NULL, 0, "f", NULL, 0);
        sched_yield();
    }
    return NULL;
}

static uint64_t run_stage(bool by_handle, disturbance *d)
{
    static actor actors[N_VIRTUAL];
    pthread_t os_threads[N_OS_THREADS], other[2];
    stage s = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .n_turns_left = N_TURNS, .by_handle = by_handle};
    pthread_barrier_init(&s.begun, NULL, N_OS_THREADS);
    for (unsigned i = 0; i < N_VIRTUAL; i++) {
        actors[i] = (actor){.vt = 0x7000 + 16 * i, .random = 0x9E3779B97F4A7C15u * (i + 1)};
        s.waiting[s.n_waiting++] = &actors[i];
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&other[i], NULL, disturb, d);
    for (unsigned i = 0; i < N_OS_THREADS; i++)
        pthread_create(&os_threads[i], NULL, carry, &s);
    for (unsigned i = 0; i < N_OS_THREADS; i++)
        pthread_join(os_threads[i], NULL);
    __atomic_store_n(&d->is_over, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(other[i], NULL);
    assert_int_equal(d->n_damaged, 0);
    pthread_barrier_destroy(&s.begun);
    uint64_t n_entries = 0;
    for (unsigned i = 0; i < N_VIRTUAL; i++)
        n_entries += actors[i].n_entries;
    return n_entries;
}

static void assert_virtual_threads(play_ctx *p, uint64_t n_entries)
{
    assert_int_equal(qprof_diagnostic("vt_conflict"), 0);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    assert_int_equal(qprof_diagnostic("exit_empty_stack"), 0);
    assert_true(qprof_diagnostic("vt_migrations") > 0);
    play_end(p);
    assert_int_equal(p->m->n_threads, N_VIRTUAL + 1);
    assert_int_equal(p->m->run.calls, n_entries);
}

static void begin_with(const char *options, bool is_virtual)
{
    qprof_InitInfo info = {0, options, NULL, is_virtual};
    qprof_set_clock(NULL);
    assert_int_equal(qprof_initialize_ex(&info), 0);
    register_methods();
}

static void begin(bool is_virtual)
{
    begin_with("-output=run.qprof", is_virtual);
}

static void virtual_threads_wander_and_every_call_is_counted(void **state) /* reliability 2.7 */
{
    disturbance d = {.saves = true};
    begin(true);
    assert_virtual_threads(*state, run_stage(false, &d));
}

/* Each mount parks a thread, and finds a row for another one that is parked. */
static void threads_without_rows_wander_and_every_call_is_counted(void **state)
{
    play_ctx *p = *state;
    disturbance d = {.saves = true};
    begin_with("-output=run.qprof -thread-rows=6", true);
    uint64_t n_entries = run_stage(false, &d);
    assert_int_equal(qprof_diagnostic("vt_conflict"), 0);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    assert_int_equal(qprof_diagnostic("exit_empty_stack"), 0);
    play_end(p);
    assert_true(p->m->n_threads < N_VIRTUAL);
    assert_int_equal(p->m->run.calls, n_entries);
}

static void clearing_meanwhile_keeps_the_accounts_of_threads_without_rows(void **state)
{
    play_ctx *p = *state;
    disturbance d = {.stops = true, .saves = true, .clears = true};
    begin_with("-output=run.qprof -thread-rows=6", true);
    uint64_t n_entries = run_stage(false, &d);
    qprof_add_annotation("there is something to write");
    play_end(p); /* checks the identity */
    assert_true(p->m->run.calls <= n_entries);
}

static void handles_wander_and_every_call_is_counted(void **state)
{
    disturbance d = {.saves = true};
    begin(true);
    assert_virtual_threads(*state, run_stage(true, &d));
}

static void calls_are_hits_or_skips_while_others_stop_and_start(void **state) /* qii 31, 56 */
{
    disturbance d = {.stops = true, .saves = true};
    begin(true);
    assert_virtual_threads(*state, run_stage(false, &d));
}

/* Calls outside of all areas have no row; the others are hits or skips, whatever rules do. */
static void rules_come_and_go_while_others_record(void **state) /* triggers 13, 14, 23, 38 */
{
    play_ctx *p = *state;
    for (int by_handle = 0; by_handle < 2; by_handle++) {
        disturbance d = {.stops = true, .saves = true, .triggers = true};
        begin(true);
        uint64_t n_entries = run_stage(by_handle, &d);
        qprof_add_annotation("there is something to write");
        play_end(p);
        uint64_t n_overflowed = 0;
        for (uint32_t i = 1; i < p->m->n_threads; i++)
            n_overflowed += p->m->threads[i].n_overflowed;
        assert_int_equal(p->m->run.calls + n_overflowed, n_entries);
        assert_int_equal(unlink("run.qprof"), 0);
    }
}

static void clearing_meanwhile_keeps_the_accounts(void **state) /* qii 32 */
{
    play_ctx *p = *state;
    disturbance d = {.stops = true, .saves = true, .clears = true};
    begin(true);
    uint64_t n_entries = run_stage(true, &d);
    qprof_add_annotation("there is something to write");
    play_end(p); /* checks the identity */
    uint64_t n_cleared = 0;
    for (uint32_t i = 1; i < p->m->n_threads; i++)
        n_cleared += p->m->threads[i].n_cleared;
    assert_true(p->m->run.calls <= n_entries);
    assert_true(n_cleared <= n_entries);
}

static void shutting_down_meanwhile_keeps_what_was_recorded(void **state) /* reliability 2.2 */
{
    play_ctx *p = *state;
    disturbance d = {.saves = true, .shuts_down = true};
    begin(true);
    qprof_record_fn_entry_vt(1, 1, 0x99); /* gives the save something to write */
    qprof_record_fn_exit_vt(0, 0x99);
    uint64_t n_entries = 1 + run_stage(true, &d);
    qprof_shutdown();
    play_read(p, "run.qprof");
    assert_true(p->m->run.calls <= n_entries);
}

/* ---- OS threads -------------------------------------------------------------------------- */

static void *act_alone(void *one)
{
    actor *a = one;
    qprof_thread *handle = a->random % 2 ? qprof_thread_handle(QPROF_INLINE_VERSION) : NULL;
    act(a, handle, 6000);
    return NULL;
}

static void system_threads_are_counted_while_others_save(void **state)
{
    play_ctx *p = *state;
    actor actors[N_OS_THREADS];
    pthread_t threads[N_OS_THREADS], other;
    disturbance d = {.stops = true, .saves = true};
    uint64_t n_entries = 0;
    begin(false);
    pthread_create(&other, NULL, disturb, &d);
    for (unsigned i = 0; i < N_OS_THREADS; i++) {
        actors[i] = (actor){.random = 77 + i};
        pthread_create(&threads[i], NULL, act_alone, &actors[i]);
    }
    for (unsigned i = 0; i < N_OS_THREADS; i++) {
        pthread_join(threads[i], NULL);
        n_entries += actors[i].n_entries;
    }
    __atomic_store_n(&d.is_over, true, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
    /* a stop that is seen late may meet an event in progress; it does not set later ones
     * back */
    assert_in_range(qprof_diagnostic("clock_backwards"), 0, n_entries / 1000);
    play_end(p);
    assert_int_equal(p->m->run.calls, n_entries);
    assert_int_equal(p->m->n_threads, N_OS_THREADS + 1);
}

static void *live_briefly(void *id)
{
    qprof_thread_create((qprof_ThreadID)id);
    qprof_record_fn_entry(1, 1);
    qprof_record_fn_entry(2, 2);
    qprof_record_fn_exit(1);
    qprof_record_fn_exit(0);
    qprof_thread_destroy((qprof_ThreadID)id);
    return NULL;
}

static void ten_thousand_threads_in_turn_share_rows_and_lose_nothing(void **state) /* C15 */
{
    play_ctx *p = *state;
    uint64_t n_lives = 0;
    begin(false);
    for (uintptr_t i = 1; i <= N_CHURN; i += N_OS_THREADS) {
        pthread_t threads[N_OS_THREADS];
        for (uintptr_t k = 0; k < N_OS_THREADS; k++)
            assert_int_equal(pthread_create(&threads[k], NULL, live_briefly, (void *)(i + k)),
                             0);
        for (uintptr_t k = 0; k < N_OS_THREADS; k++)
            pthread_join(threads[k], NULL);
    }
    assert_int_equal(qprof_diagnostic("thread_nomem"), 0);
    play_end(p);
    assert_int_equal(p->m->run.calls, 2 * N_CHURN);
    assert_true(p->m->n_threads <= 1000 + N_OS_THREADS + 1);
    for (uint32_t i = 1; i < p->m->n_threads; i++)
        n_lives += p->m->threads[i].n_lives;
    assert_int_equal(n_lives, N_CHURN);
}

/* ---- beginning and end at once ----------------------------------------------------------- */

static void *initialise_at_once(void *n_started)
{
    int code = qprof_initialize("-output=run.qprof", NULL);
    if (code == 0)
        __atomic_fetch_add((int *)n_started, 1, __ATOMIC_SEQ_CST);
    return code && code != QPROF_E_STATE ? n_started : NULL;
}

static void *shut_down_at_once(void *unused)
{
    (void)unused;
    qprof_shutdown();
    return NULL;
}

static void
of_many_that_initialise_at_once_one_succeeds(void **state) /* reliability 2.1, 2.2 */
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[N_OS_THREADS];
        void *failed;
        int n_started = 0;
        for (unsigned i = 0; i < N_OS_THREADS; i++)
            pthread_create(&threads[i], NULL, initialise_at_once, &n_started);
        for (unsigned i = 0; i < N_OS_THREADS; i++) {
            pthread_join(threads[i], &failed);
            assert_null(failed);
        }
        assert_int_equal(n_started, 1);
        for (unsigned i = 0; i < N_OS_THREADS; i++)
            pthread_create(&threads[i], NULL, shut_down_at_once, NULL);
        for (unsigned i = 0; i < N_OS_THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(qprof_is_running(), 0);
    }
}

/* Two OS threads drive one virtual thread: a mistake of the host that must stay harmless. */
static void *drive_the_same(void *vt)
{
    for (unsigned i = 0; i < 20000; i++) {
        qprof_record_fn_entry_vt(1 + i % 3, 10 + i % 20, (VthreadID)vt);
        qprof_record_fn_exit_vt(10 + (i + 7) % 20, (VthreadID)vt);
    }
    return NULL;
}

static void two_os_threads_that_drive_one_virtual_thread_do_no_harm(void **state) /* 2.7 */
{
    play_ctx *p = *state;
    pthread_t threads[2];
    begin(true);
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, drive_the_same, (void *)0x1234);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    play_end(p);
    assert_true(p->m->run.calls <= 40000);
}

/* The same with several: each call switches, to a thread that was released or taken from the other
 * OS thread. */
static void *switch_among_the_same(void *seed)
{
    uint64_t random = (uintptr_t)seed;
    for (unsigned i = 0; i < N_SWITCHES; i++) {
        VthreadID vt = 0x1234 + next_random(&random) % 3;
        qprof_record_fn_entry_vt(1 + i % 3, 10, vt);
        if (i % 2)
            qprof_record_fn_exit_vt(0, vt);
    }
    return NULL;
}

static void calls_of_os_threads_that_share_virtual_threads_are_counted_or_refused(void **state)
{
    static const char *const options[] = {"-output=run.qprof",
                                          "-output=run.qprof -thread-rows=1"};
    play_ctx *p = *state;
    pthread_t threads[2];
    for (unsigned k = 0; k < 2; k++) {
        begin_with(options[k], true);
        for (uintptr_t i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, switch_among_the_same, (void *)(i + 1));
        for (unsigned i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        uint64_t n_refused = (uint64_t)qprof_diagnostic("vt_conflict");
        play_end(p);
        assert_true(p->m->run.calls <= 2 * N_SWITCHES);
        assert_true(p->m->run.calls + n_refused >= 2 * N_SWITCHES);
        assert_int_equal(unlink("run.qprof"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(virtual_threads_wander_and_every_call_is_counted),
        PLAY_TEST(threads_without_rows_wander_and_every_call_is_counted),
        PLAY_TEST(clearing_meanwhile_keeps_the_accounts_of_threads_without_rows),
        PLAY_TEST(handles_wander_and_every_call_is_counted),
        PLAY_TEST(calls_are_hits_or_skips_while_others_stop_and_start),
        PLAY_TEST(rules_come_and_go_while_others_record),
        PLAY_TEST(clearing_meanwhile_keeps_the_accounts),
        PLAY_TEST(shutting_down_meanwhile_keeps_what_was_recorded),
        PLAY_TEST(system_threads_are_counted_while_others_save),
        PLAY_TEST(ten_thousand_threads_in_turn_share_rows_and_lose_nothing),
        PLAY_TEST(of_many_that_initialise_at_once_one_succeeds),
        PLAY_TEST(two_os_threads_that_drive_one_virtual_thread_do_no_harm),
        PLAY_TEST(calls_of_os_threads_that_share_virtual_threads_are_counted_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
