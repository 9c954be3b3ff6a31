/* pc_signal.c: the only use of a signal in the library, for -pc-signal. Read on_signal first.
 *
 * It takes a real-time signal that has its default action and keeps the handler for ever: a
 * signal that arrives after the timers are gone finds a handler that does nothing. */
#include "record/sample/sample.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/atomic.h"
#include "base/os/clock.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int signal_number; /* 0: none was taken yet */
static uint32_t is_on;

/* This OS thread's timer has expired: how long has that taken? The sum of the times is always that of the
 * expiries that are counted, also while the run lasts. */
static void note_pass(qp_os_thread_slot *slot)
{
    bool is_real = qp_recorder_head()->pc_kind == QP_PC_REAL;
    uint64_t now = is_real ? qp_clock_monotonic() : qp_clock_thread_cpu();
    uint64_t before = qp_load(&slot->timer_seen);
    qp_store(&slot->timer_seen, now);
    qp_fetch_add(&qp_recorder_head()->sample_ns, now > before ? now - before : 0);
    qp_fetch_add(&qp_recorder_head()->n_passes, 1);
}

static void on_signal(QP_UNUSED int number, siginfo_t *info, QP_UNUSED void *context)
{
    int host_errno = errno;
    bool is_ours = info->si_code == SI_TIMER && info->si_value.sival_ptr == &is_on;
    if (is_ours && qp_observe(&is_on) && qp_here.epoch == qp_recorder.epoch && qp_here.slot) {
        qprof_thread *th = qp_observe(&qp_here.slot->current);
        if (th) {
            qp_samples_note(th, 0, 1, 0);
            qp_samples_wake();
        }
        note_pass(qp_here.slot);
    }
    errno = host_errno;
}

/* An unused signal. @return 0: none */
static int free_signal(void)
{
    struct sigaction action;
    for (int number = SIGRTMAX - 1; number > SIGRTMIN; number--)
        if (sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
            action.sa_handler == SIG_DFL)
            return number;
    return 0;
}

bool qp_pc_signal_begin(void)
{
    if (!signal_number) {
        struct sigaction action = {.sa_sigaction = on_signal,
                                   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        int number = free_signal();
        sigfillset(&action.sa_mask);
        if (!number || sigaction(number, &action, NULL) != 0)
            return false;
        signal_number = number;
    }
    qp_publish(&is_on, 1);
    for (uint32_t i = 1; qp_os_thread_at(i); i++)
        qp_pc_signal_arm(qp_os_thread_at(i));
    return true;
}

void qp_pc_signal_end(void)
{
    if (!qp_load(&is_on))
        return;
    qp_publish(&is_on, 0);
    for (uint32_t i = 1; qp_os_thread_at(i); i++)
        qp_pc_signal_disarm(qp_os_thread_at(i));
}

void qp_pc_signal_arm(qp_os_thread_slot *slot)
{
    uint64_t period = qp_recorder_head()->pc_period;
    timer_t timer;
    if (!qp_load(&is_on) || qp_observe(&slot->state) != QP_OS_THREAD_ALIVE)
        return;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number};
    event.sigev_value.sival_ptr = &is_on;
    event.sigev_notify_thread_id = (int)slot->system_id;
    bool is_real = qp_recorder_head()->pc_kind == QP_PC_REAL;
    int id = (int)slot->system_id;
    clockid_t clock = is_real ? CLOCK_MONOTONIC : (clockid_t)qp_clock_id_of(id);
    if (timer_create(clock, &event, &timer) != 0) {
        qp_count(&qp_recorder.space, QP_D_sampler_unavailable);
        return;
    }
    const struct timespec step = {(time_t)(period / 1000000000), (long)(period % 1000000000)};
    const struct itimerspec times = {step, step};
    qp_store(&slot->timer_seen, is_real ? qp_clock_monotonic() : qp_clock_cpu_of(id));
    timer_settime(timer, 0, &times, NULL);
    slot->timer = timer;
    qp_publish(&slot->has_timer, 1);
}

void qp_pc_signal_disarm(qp_os_thread_slot *slot)
{
    uint32_t has_timer = 1;
    if (qp_swap_if(&slot->has_timer, &has_timer, 0))
        timer_delete(slot->timer);
}

void qp_pc_signal_forget(void)
{
    qp_store(&is_on, 0);
    for (uint32_t i = 1; qp_os_thread_at(i); i++)
        qp_store(&qp_os_thread_at(i)->has_timer, 0);
}

void qp_pc_signal_hold(bool is_held)
{
    static QP_THREAD_LOCAL struct {
        bool is_held;
        sigset_t before;
    } here;
    sigset_t ours;
    if (is_held && signal_number) {
        sigemptyset(&ours);
        sigaddset(&ours, signal_number);
        here.is_held = pthread_sigmask(SIG_BLOCK, &ours, &here.before) == 0;
    } else if (!is_held && here.is_held) {
        pthread_sigmask(SIG_SETMASK, &here.before, NULL);
        here.is_held = false;
    }
}
