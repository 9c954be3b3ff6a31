/* signals.c: saves and clears that signals ask for: -save-data-on-signals and -api-handler-signals. Read
 * on_request and on_fatal first.
 *
 * Without these options no signal of the host is touched. A handler sets a flag and wakes the worker, which saves. What the host
 * installs later replaces a handler of these; at the end of the run the earlier action returns, if nothing was installed. */
#include "record/control/control.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/system.h"

/* In the order of QP_SIGNAL_WORDS. */
static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,
                              SIGBUS,  SIGFPE,  SIGSEGV, SIGSYS,  SIGTERM, SIGXCPU,
                              SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGPROF};

enum {
    N_SIGNALS = sizeof numbers / sizeof *numbers,
    FATAL = 0xfff, /* the first twelve end a program, and it does not ask for them */
    FAULTS =
        0x1e8 /* SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: an instruction raised it, and then runs again */
};

/* What the worker is to do. */
enum { SAVE = 1, CLEAR = 2, LAST = 4 };

static const uint64_t patience_ns = 5000000000u, pause_ns = 1000000;

static struct {
    uint32_t is_on;
    uint32_t wanted;   /* atomic: SAVE, CLEAR, LAST */
    uint32_t last;     /* index of the fatal signal */
    uint32_t is_saved; /* atomic */
    bool is_taken[N_SIGNALS], is_fatal[N_SIGNALS];
    struct sigaction before[N_SIGNALS];
    unsigned save, clear; /* of -api-handler-signals; N_SIGNALS: none */
} signals;

static unsigned index_of(int number)
{
    unsigned i = 0;
    while (i < N_SIGNALS && numbers[i] != number)
        i++;
    return i;
}

static bool has_handler(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static bool serves(void)
{
    return qp_observe(&signals.is_on) && qp_state() == QP_STATE_RUNNING;
}

/* The host's handler from before is called afterwards. */
static void on_request(int number, siginfo_t *info, void *context)
{
    int host_errno = errno;
    unsigned i = index_of(number);
    const struct sigaction *before = &signals.before[i];
    if (serves()) {
        qp_fetch_or(&signals.wanted, i == signals.save ? SAVE : CLEAR);
        qp_worker_wake();
    }
    errno = host_errno;
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (has_handler(before))
        before->sa_handler(number);
}

/* Save, then let what was in force before act on the signal: the end of the program, or the host's handler.
 * The thread waits here, so that the program does not end meanwhile. */
static void on_fatal(int number, siginfo_t *info, QP_UNUSED void *context)
{
    int host_errno = errno;
    unsigned i = index_of(number);
    bool is_fault = (FAULTS >> i & 1) && info->si_code > 0;
    uint64_t until = qp_clock_monotonic() + patience_ns;
    if (serves() && !qp_here.is_worker) {
        qp_store(&signals.last, i);
        qp_store(&signals.is_saved, 0);
        qp_fetch_or(&signals.wanted, LAST);
        qp_worker_wake();
        while (!qp_observe(&signals.is_saved) && qp_clock_monotonic() < until)
            qp_clock_sleep_until(qp_clock_monotonic() + pause_ns);
    }
    sigaction(number, &signals.before[i], NULL);
    errno = host_errno;
    if (!is_fault)
        pthread_kill(pthread_self(), number); /* when this handler has returned */
}

/* ---- on the worker ----------------------------------------------------------------------- */

/* The live file of a program that ends now would be read as a second profile of the same calls. Where a handler of the
 * host follows, the program may continue; if that ends it, the run ends as usual. */
static void save_last(void)
{
    char text[64], name[32];
    uint32_t i = qp_load(&signals.last);
    qp_option_nth(qp_option_values(QP_OPT_handle_signals), i, name, sizeof name);
    snprintf(text, sizeof text, "saved on signal %s", name);
    qp_data_change(QP_DATA_ANNOTATE, NULL, text);
    bool ends = !has_handler(&signals.before[i]);
    bool is_saved = qp_data_change(ends ? QP_DATA_SAVE_LAST : QP_DATA_SAVE, NULL, NULL);
    if (is_saved && ends && qp_recorder.space.map.path[0])
        unlink(qp_recorder.space.map.path);
}

void qp_signals_perform(void)
{
    uint32_t wanted = __atomic_exchange_n(&signals.wanted, 0, __ATOMIC_ACQ_REL);
    if (wanted && qp_control_lock()) {
        bool runs = qp_state() == QP_STATE_RUNNING;
        if (runs && wanted & SAVE)
            qp_data_change(QP_DATA_SAVE, NULL, NULL);
        if (runs && wanted & CLEAR)
            qp_data_change(QP_DATA_CLEAR, NULL, NULL);
        if (runs && wanted & LAST)
            save_last();
        qp_control_unlock();
    }
    if (wanted & LAST)
        qp_publish(&signals.is_saved, 1);
}

/* ---- the run ----------------------------------------------------------------------------- */

/* A signal that is ignored ends nothing; one with a handler of the host is its own, unless it is named. */
static void take(unsigned i, bool is_fatal, bool is_named)
{
    struct sigaction action = {.sa_sigaction = is_fatal ? on_fatal : on_request,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction *before = &signals.before[i];
    sigfillset(&action.sa_mask);
    if (i >= N_SIGNALS || signals.is_taken[i] || sigaction(numbers[i], NULL, before) != 0)
        return;
    bool is_hosts = has_handler(before);
    if (is_fatal && (is_hosts ? !is_named : before->sa_handler == SIG_IGN))
        return;
    signals.is_fatal[i] = is_fatal;
    signals.is_taken[i] = sigaction(numbers[i], &action, NULL) == 0;
}

/* "SIGa,SIGb": save, clear; the second may be missing. */
static int parse_requests(const char *text, qp_error *error)
{
    char word[32];
    unsigned *to[] = {&signals.save, &signals.clear};
    uint64_t which = 0;
    signals.save = signals.clear = N_SIGNALS;
    for (unsigned i = 0; *text; i++) {
        size_t n = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        if (i == 2 || n >= sizeof word ||
            !qp_option_word(qp_option_values(QP_OPT_handle_signals), word, &which))
            return qp_error_set(
                error, QPROF_E_OPTION, "-api-handler-signals: \"%.40s\" is not one of %s", text,
                i == 2 ? "two signals" : qp_option_values(QP_OPT_handle_signals));
        *to[i] = (unsigned)which;
        text += n + (text[n] == ',');
    }
    return 0;
}

int qp_signals_begin(qp_error *error)
{
    const uint64_t *options = qp_recorder.options.number;
    int code =
        parse_requests(qp_option_text(&qp_recorder.options, QP_OPT_api_handler_signals), error);
    bool saves = options[QP_OPT_save_data_on_signals];
    uint64_t more = options[QP_OPT_handle_signals], less = options[QP_OPT_ignore_signals];
    more = more == UINT64_MAX ? 0 : more;
    less = less == UINT64_MAX ? 0 : less;
    if (code || (!saves && signals.save == N_SIGNALS) || !qp_worker_start())
        return code;
    memset(signals.is_taken, 0, sizeof signals.is_taken);
    take(signals.save, false, true);
    take(signals.clear, false, true);
    for (unsigned i = 0; saves && i < N_SIGNALS; i++)
        if ((FATAL | more) & ~less & UINT64_C(1) << i)
            take(i, true, more >> i & 1);
    qp_publish(&signals.is_on, 1);
    return 0;
}

void qp_signals_end(void)
{
    struct sigaction now;
    if (!qp_load(&signals.is_on))
        return;
    qp_publish(&signals.is_on, 0);
    for (unsigned i = 0; i < N_SIGNALS; i++) {
        void (*ours)(int, siginfo_t *, void *) = signals.is_fatal[i] ? on_fatal : on_request;
        if (signals.is_taken[i] && sigaction(numbers[i], NULL, &now) == 0 &&
            (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == ours)
            sigaction(numbers[i], &signals.before[i], NULL);
        signals.is_taken[i] = false;
    }
}
