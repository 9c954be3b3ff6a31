/* interrupt.c: see interrupt.h. */
#include "cli/core/cli.h"

#include <signal.h>
#include <stddef.h>

#include "base/os/clock.h"

static volatile sig_atomic_t has_come;

static void note(int number)
{
    (void)number;
    has_come = 1;
}

void qp_interrupt_take(void)
{
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool qp_is_interrupted(void)
{
    return has_come;
}

bool qp_interrupt_sleep(uint64_t until)
{
    while (!has_come && qp_clock_monotonic() < until)
        qp_clock_sleep_until(until);
    return !has_come;
}
