/* victim.c: calls and returns of three threads, each in its own way, and the one who kills
 * them. */
#include "unit/victim.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "qprof.h"

enum { N_METHODS = 40, MAX_EVENTS = 30000 /* of all threads, before the kill is sent */ };

victim_page *victim;
static const victim_plan *plan;

#define BUMP(counter) __atomic_fetch_add(&(counter), 1, __ATOMIC_SEQ_CST)
#define READ(counter) __atomic_load_n(&(counter), __ATOMIC_SEQ_CST)

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- the program that will be killed ----------------------------------------------------- */

static void enter(victim_tally *t, uint64_t method, uint64_t depth, qprof_thread *handle)
{
    BUMP(t->entries_begun);
    if (handle)
        qprof_entry(handle, method, 100 + depth);
    else
        qprof_record_fn_entry(method, 100 + depth);
    BUMP(t->entries_done);
}

static void leave(victim_tally *t, uint64_t id, qprof_thread *handle)
{
    BUMP(t->exits_begun);
    if (handle)
        qprof_exit(handle, id);
    else
        qprof_record_fn_exit(id);
    BUMP(t->exits_done);
}

static void *record(void *number)
{
    uintptr_t index = (uintptr_t)number;
    victim_tally *t = &victim->threads[index];
    uint64_t state = 88172645463325252u + index, depth = 0;
    qprof_thread_create(VICTIM_HOST_ID + index);
    qprof_thread *handle = index ? qprof_thread_handle(QPROF_INLINE_VERSION) : NULL;
    for (uint64_t i = 0; !plan->n_events || i < plan->n_events; i++) {
        uint64_t r = next_random(&state);
        if (depth < plan->max_depth && r % 100 < 54) {
            enter(t, 1 + r / 128 % N_METHODS, depth++, handle);
        } else if (depth) {
            depth -= r % 1000 < 3 ? depth : 1;
            leave(t, depth ? 100 + depth - 1 : 0, handle);
        }
        BUMP(victim->n_events);
    }
    for (;;)
        pause();
    return NULL;
}

static void run_program(const char *options)
{
    pthread_t thread;
    if (qprof_initialize(options, NULL))
        victim->has_failed = 1;
    for (uint64_t i = 1; i <= N_METHODS; i++)
        qprof_register_method_id(i, "method", NULL, 0, "file", NULL, 0);
    snprintf(victim->live_file, sizeof victim->live_file, "%s", qprof_live_file());
    __atomic_store_n(&victim->is_ready, 1, __ATOMIC_SEQ_CST);
    for (uintptr_t i = 0; i < VICTIM_THREADS; i++)
        if (pthread_create(&thread, NULL, record, (void *)i))
            victim->has_failed = 1;
    if (plan->meanwhile)
        plan->meanwhile();
    for (;;)
        pause();
}

/* ---- the one who kills ------------------------------------------------------------------- */

bool victim_prepare(void)
{
    void *page =
        mmap(NULL, sizeof *victim, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED)
        victim = page;
    return victim;
}

void victim_kill_after(uint64_t n_events, const char *options, const victim_plan *plan_of_it)
{
    int status = 0;
    memset(victim, 0, sizeof *victim);
    plan = plan_of_it;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_program(options);
    assert_true(child > 0);
    while (!READ(victim->is_ready) || READ(victim->n_events) < n_events)
        sched_yield();
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(victim->has_failed, 0);
}

uint64_t victim_moment(unsigned i, uint64_t *seed)
{
    uint64_t moment = next_random(seed) % MAX_EVENTS;
    return i % 8 == 0 ? moment % 16 : moment;
}

void victim_assert_between(const char *what, uint64_t done, uint64_t recorded, uint64_t begun,
                           uint64_t n_lost)
{
    if (recorded + n_lost < done || recorded > begun)
        fail_msg("%s: %ju recorded, but %ju were done and %ju begun", what, (uintmax_t)recorded,
                 (uintmax_t)done, (uintmax_t)begun);
}
