/* worker.c: one thread, asleep at a word of the live file, where another process can wake it, too.
 *
 * The queue is a ring of places that many threads fill and empty without a lock: the turn of a place
 * says whether it is free for the n-th deed, or holds it (after Vyukov's bounded queue). */
#include "record/worker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "record/config.h"

enum { STACK_BYTES = 1 << 20, N_PLACES = QPROF_TRG_QUEUE_SIZE };

static struct {
    pthread_t thread;
    uint32_t is_running; /* atomic, as all below */
    uint32_t must_stop;
    struct {
        uint64_t turn; /* n: free for deed n; n + 1: holds it */
        qp_deed deed;
    } places[N_PLACES];
    uint64_t n_added, n_taken;
} worker;

static void ring_bell(void)
{
    uint32_t *bell = &qp_run_head()->bell;
    qp_fetch_add(bell, 1);
    syscall(SYS_futex, bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static bool add(const qp_deed *deed)
{
    uint64_t n = qp_load(&worker.n_added);
    for (;;) {
        uint64_t turn = qp_observe(&worker.places[n % N_PLACES].turn);
        if (turn < n)
            return false;
        if (turn > n)
            n = qp_load(&worker.n_added);
        else if (qp_swap_if(&worker.n_added, &n, n + 1))
            break;
    }
    worker.places[n % N_PLACES].deed = *deed;
    qp_publish(&worker.places[n % N_PLACES].turn, n + 1);
    return true;
}

static bool take(qp_deed *deed)
{
    uint64_t n = qp_load(&worker.n_taken);
    for (;;) {
        uint64_t turn = qp_observe(&worker.places[n % N_PLACES].turn);
        if (turn <= n)
            return false;
        if (turn > n + 1)
            n = qp_load(&worker.n_taken);
        else if (qp_swap_if(&worker.n_taken, &n, n + 1))
            break;
    }
    *deed = worker.places[n % N_PLACES].deed;
    qp_publish(&worker.places[n % N_PLACES].turn, n + N_PLACES);
    return true;
}

static void *run(void *unused)
{
    uint32_t *bell = &qp_run_head()->bell;
    qp_deed deed;
    (void)unused;
    qp_here.is_worker = true;
    for (;;) {
        uint32_t heard = qp_observe(bell);
        bool is_last = qp_observe(&worker.must_stop);
        while (take(&deed))
            qp_watch_act(&deed);
        if (is_last)
            return NULL;
        qp_config_answer();
        syscall(SYS_futex, bell, FUTEX_WAIT, heard, NULL, NULL, 0);
    }
}

bool qp_worker_start(void)
{
    if (qp_load(&worker.is_running))
        return true;
    if (!qp_run.space.map.base) /* a configuration before the run, which starts it */
        return false;
    worker.n_added = worker.n_taken = 0;
    for (unsigned i = 0; i < N_PLACES; i++)
        worker.places[i].turn = i;
    qp_store(&worker.must_stop, 0);
    bool is_started = qp_own_thread_start(&worker.thread, run, STACK_BYTES);
    qp_publish(&worker.is_running, is_started);
    return is_started;
}

void qp_worker_add(const qp_deed *deed)
{
    if (qp_observe(&worker.is_running) && !qp_load(&worker.must_stop) && add(deed)) {
        ring_bell();
        return;
    }
    qp_count(&qp_run.space, QP_D_actions_dropped);
    if (qp_worker_dropped() == 1)
        qp_session_log("a deferred action was dropped: %d wait already", N_PLACES);
}

void qp_worker_reset(void)
{
    for (qp_deed unused; qp_observe(&worker.is_running) && take(&unused);)
        ;
}

void qp_worker_stop(void)
{
    uint32_t running = 1;
    qp_deed late;
    if (qp_here.is_worker || !qp_observe(&worker.is_running))
        return;
    qp_publish(&worker.must_stop, 1);
    ring_bell();
    if (!qp_swap_if(&worker.is_running, &running, 0))
        return;
    pthread_join(worker.thread, NULL);
    while (take(&late)) /* added while it ended */
        qp_watch_act(&late);
}

void qp_worker_forget(void)
{
    worker.is_running = 0;
}

uint64_t qp_worker_dropped(void)
{
    return qp_load(&qp_run_head()->diagnostics[QP_D_actions_dropped]);
}
