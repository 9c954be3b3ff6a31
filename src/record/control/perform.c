/* perform.c: the actions of triggers and event triggers, and the thread that performs deferred ones.
 * Read perform_now and run first. Each action is performed in no event and without a lock. The thread
 * sleeps at a word of the live file, where another process can also wake it.
 *
 * The queue is a ring of places that many threads fill and empty without a lock: the turn of a
 * place shows whether it is free for the n-th request, or holds it (Vyukov's bounded queue). */
#include "record/control/control.h"

#include <string.h>
#include <unistd.h>

#include "base/os/system.h"
#include "base/os/thread.h"
#include "record/stream/stream.h"

enum { STACK_BYTES = 1 << 20, N_PLACES = QPROF_TRG_QUEUE_SIZE };

static struct {
    pthread_t thread;
    uint32_t is_running; /* atomic, as all below */
    uint32_t must_stop;
    struct {
        uint64_t turn; /* n: free for request n; n + 1: holds it */
        qp_action_request request;
    } places[N_PLACES];
    uint64_t n_added, n_taken;
} worker;

/* Change the whole run. @return QPROF_E_STATE: this thread is inside another change, nothing is
 * done */
static int change(qp_data_change_kind kind, const char *name)
{
    if (!qp_control_lock())
        return QPROF_E_STATE;
    if (qp_state() == QP_STATE_RUNNING)
        qp_data_change(kind, NULL, name);
    qp_control_unlock();
    return 0;
}

static void dump(const char *name)
{
    qp_error error = {0};
    if (!qp_control_lock())
        return;
    int code = qp_state() == QP_STATE_RUNNING ? qp_trace_dump(NULL, &error) : 0;
    if (code) {
        qp_count(&qp_recorder.space, code == QPROF_E_STATE ? QP_D_e_state : QP_D_e_io);
        qp_recorder_log("event trigger %.80s: dump: %s", name, error.text);
    }
    qp_control_unlock();
}

/* ---- actions of the library -------------------------------------------------------------- */

#define LIBRARY(X)                                                                             \
    X("save", SAVE)                                                                            \
    X("clear", CLEAR)                                                                          \
    X("new-phase", NEW_PHASE)                                                                  \
    X("enable-profiling", OPEN_GATE)                                                           \
    X("disable-profiling", CLOSE_GATE)                                                         \
    X("disable-recording", DISABLE)

#define QP_X(name, kind)                                                                       \
    static int library_##kind(intptr_t unused)                                                 \
    {                                                                                          \
        (void)unused;                                                                          \
        return change(QP_DATA_##kind, NULL);                                                   \
    }
LIBRARY(QP_X)
#undef QP_X

static const struct {
    const char *name;
    int (*function)(intptr_t argument);
} library[] = {
#define QP_X(name, kind) {name, library_##kind},
    LIBRARY(QP_X)
#undef QP_X
};

enum { N_LIBRARY = sizeof library / sizeof *library };

int (*qp_event_action_find(const char *name))(intptr_t argument)
{
    for (unsigned i = 0; i < N_LIBRARY; i++)
        if (qp_option_is(library[i].name, name, strlen(name)))
            return library[i].function;
    return NULL;
}

const char *qp_event_action_name(int (*function)(intptr_t argument))
{
    for (unsigned i = 0; i < N_LIBRARY; i++)
        if (library[i].function == function)
            return library[i].name;
    return function ? "function" : NULL;
}

/* Perform an action now. Takes the control lock. */
static void perform_now(const qp_action_request *request)
{
    static const uint8_t changes[] = {[QPROF_TRG_ACT_START] = QP_DATA_START,
                                      [QPROF_TRG_ACT_STOP] = QP_DATA_STOP,
                                      [QPROF_TRG_ACT_SNAPSHOT] = QP_DATA_SAVE,
                                      [QP_ACT_CLEAR] = QP_DATA_CLEAR};
    const char *name = qp_event_trigger_text(request->name);
    bool is_call =
        request->action == QPROF_TRG_ACT_FUNC || request->action == QPROF_TRG_ACT_LIB;
    if (is_call && request->function)
        request->function(request->argument);
    else if (request->action == QPROF_TRG_ACT_DUMP)
        dump(name);
    else if (changes[request->action]) /* the marker is in the profile already */
        change((qp_data_change_kind)changes[request->action], name);
}

/* ---- the worker -------------------------------------------------------------------------- */

void (*qp_worker_on_bell)(void);
uint64_t (*qp_worker_on_time)(void);

void qp_worker_wake(void)
{
    uint32_t *bell = &qp_recorder_head()->bell;
    qp_fetch_add(bell, 1);
    qp_system_bell_ring(bell, INT32_MAX);
}

static bool add(const qp_action_request *request)
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
    worker.places[n % N_PLACES].request = *request;
    qp_publish(&worker.places[n % N_PLACES].turn, n + 1);
    return true;
}

static bool take(qp_action_request *request)
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
    *request = worker.places[n % N_PLACES].request;
    qp_publish(&worker.places[n % N_PLACES].turn, n + N_PLACES);
    return true;
}

static void *run(QP_UNUSED void *unused)
{
    uint32_t *bell = &qp_recorder_head()->bell;
    qp_action_request request;
    qp_here.is_worker = true;
    for (;;) {
        uint32_t heard = qp_observe(bell);
        bool is_last = qp_observe(&worker.must_stop);
        while (take(&request))
            perform_now(&request);
        qp_signals_perform();
        if (is_last)
            return NULL;
        qp_worker_on_bell();
        qp_system_bell_wait(bell, heard, qp_worker_on_time());
    }
}

bool qp_worker_start(void)
{
    if (qp_load(&worker.is_running))
        return true;
    if (!qp_recorder.space.map.base) /* a configuration before the run, which will start it */
        return false;
    worker.n_added = worker.n_taken = 0;
    for (unsigned i = 0; i < N_PLACES; i++)
        worker.places[i].turn = i;
    qp_store(&worker.must_stop, 0);
    bool is_started = qp_own_thread_start(&worker.thread, run, STACK_BYTES);
    qp_publish(&worker.is_running, is_started);
    return is_started;
}

void qp_worker_perform(const qp_action_request *request)
{
    if (!request->is_deferred) {
        perform_now(request);
        return;
    }
    if (qp_observe(&worker.is_running) && !qp_load(&worker.must_stop) && add(request)) {
        qp_worker_wake();
        return;
    }
    qp_count(&qp_recorder.space, QP_D_actions_dropped);
    if (qp_load(&qp_recorder_head()->diagnostics[QP_D_actions_dropped]) == 1)
        qp_recorder_log("a deferred action was dropped: the queue is full (%d)", N_PLACES);
}

void qp_worker_reset(void)
{
    for (qp_action_request unused; qp_observe(&worker.is_running) && take(&unused);)
        ;
}

void qp_worker_stop(void)
{
    uint32_t running = 1;
    qp_action_request late;
    if (qp_here.is_worker || !qp_observe(&worker.is_running))
        return;
    qp_publish(&worker.must_stop, 1);
    qp_worker_wake();
    if (!qp_swap_if(&worker.is_running, &running, 0))
        return;
    pthread_join(worker.thread, NULL);
    while (take(&late)) /* added while it ended */
        perform_now(&late);
}

bool qp_worker_forget(void)
{
    bool was_running = worker.is_running;
    worker.is_running = 0;
    return was_running;
}
