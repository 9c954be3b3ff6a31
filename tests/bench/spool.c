/* spool.c: how long a cut of the spool stops the host, for spool.sh.
 *
 * spool ROUNDS how: makes 262,143 call paths (16 MiB of nodes), then calls them at random in a loop that reads the clock after each
 * outermost call. In each round of half a second another thread asks once for what `how` names: "nothing", "cut" (the recorder's
 * thread does it), "clear" (qprof_save_data() and qprof_clear_data() on the asking thread). It prints the longest gap between two
 * readings of each round: median and longest of all rounds, and the calls of one second. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "qprof.h"

enum {
    FAN = 8,
    DEPTH = 6,
    N_PATHS = 7 << 15,
    ROUND_NS = 500000000,
    BUSY_NS = 400000000,
    SECOND_NS = 1000000000
};

static atomic_uint round_number;
static unsigned n_rounds;
static const char *how;

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * SECOND_NS + (uint64_t)at.tv_nsec;
}

static void *ask(void *unused)
{
    struct timespec half = {0, ROUND_NS};
    for (unsigned i = 0; i < n_rounds; i++) {
        atomic_store(&round_number, i + 1);
        if (strcmp(how, "cut") == 0) {
            kill(getpid(), SIGUSR1);
        } else if (strcmp(how, "clear") == 0) {
            qprof_save_data();
            qprof_clear_data();
        }
        nanosleep(&half, NULL);
    }
    atomic_store(&round_number, n_rounds + 1);
    return unused;
}

/* One of the paths: a digit of base 8 for each method; with 7 outermost methods they take 16 MiB. */
static void call(unsigned path)
{
    for (unsigned i = 0; i < DEPTH; i++)
        qprof_record_fn_entry(1 + i * FAN + (path >> 3 * (DEPTH - 1 - i)) % FAN, i + 1);
    for (unsigned i = DEPTH; i-- > 0;)
        qprof_record_fn_exit(i); /* the frame that resumes */
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
    pthread_t asking;
    sigset_t set;
    struct timespec pause = {0, 1000000};
    n_rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    how = argc > 2 ? argv[2] : "";
    uint64_t *longest = calloc(n_rounds + 2, sizeof *longest), n_calls = 0;
    if (!n_rounds || !longest || qprof_initialize("", NULL) != 0)
        return 1;
    for (unsigned path = 0; path < N_PATHS; path++)
        call(path);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1); /* for another thread than the one that is measured */
    pthread_create(&asking, NULL, ask, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    const struct sched_param first = {1};
    int is_first = pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) == 0;
    uint64_t random = 88172645463325252u, begun = 0, last = 0;
    for (unsigned r, before = 0; (r = atomic_load(&round_number)) <= n_rounds; before = r) {
        if (r != before)
            begun = last = now();
        for (uint64_t at; last - begun < BUSY_NS; n_calls++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            call((unsigned)(random % N_PATHS));
            at = now();
            if (at - last > longest[r])
                longest[r] = at - last;
            last = at;
        }
        nanosleep(&pause, NULL); /* a thread of this class may have at most 95 % of a second */
    }
    pthread_join(asking, NULL);
    qsort(longest + 1, n_rounds, sizeof *longest, compare);
    printf(
        "%-8s %4u rounds: median %7.3f ms, longest %7.3f ms; %.2f million calls a second%s\n",
        how, n_rounds, (double)longest[(n_rounds + 1) / 2] / 1e6,
        (double)longest[n_rounds] / 1e6,
        (double)n_calls * DEPTH * 1e3 / ((double)BUSY_NS * n_rounds),
        is_first ? "" : "; beside other programs");
    free(longest);
    return 0;
}
