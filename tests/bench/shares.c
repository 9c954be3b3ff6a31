/* shares.c: a program whose shares are known, for accuracy.sh.
 *
 * shares SECONDS busy: a, b, c and d, called in turn by main, have 50, 30, 15 and 5 % of the
 * CPU
 *   time: they do the same, so many times.
 * shares SECONDS idle: main works half of the time in `work` and sleeps the other half in
 *   native code.
 * shares SECONDS ask: main works in `work` and, all 0.1 ms, asks in `ask` what CPU time it
 *   has used, a short system call; between, each 2 ms, `nap` sleeps for 0.2 ms.
 * It prints what its own clocks say of each, for other programs disturb the plan: name, percent
 * of the elapsed time, percent of the CPU time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qprof.h"

enum { MAIN = 1, A, B, C, D, WORK, ASK, NAP, NATIVE, N_NAMES };
enum { PARTS = 4, ROUND_NS = 10000000, ASK_EACH_NS = 100000, NAP_EACH = 20, NAP_NS = 200000 };
static const char *const names[N_NAMES] = {"",  "main", "a",   "b",   "c",
                                           "d", "work", "ask", "nap", "foreignPcs"};

static const unsigned shares[PARTS] = {50, 30, 15, 5};
static volatile unsigned sink;

static uint64_t now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void work(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sink += (unsigned)i;
}

/* How often it works in a nanosecond of CPU time. */
static double speed(void)
{
    enum { N = 20000000 };
    uint64_t begin = now(CLOCK_THREAD_CPUTIME_ID);
    work(N);
    return (double)N / (double)(now(CLOCK_THREAD_CPUTIME_ID) - begin);
}

static uint64_t elapsed[N_NAMES], cpu[N_NAMES];

static void enter(uintptr_t name)
{
    elapsed[name] -= now(CLOCK_MONOTONIC);
    cpu[name] -= now(CLOCK_THREAD_CPUTIME_ID);
    qprof_record_fn_entry(name == NATIVE ? QPROF_METHOD_NATIVE : name, 2);
}

static void leave(uintptr_t name)
{
    qprof_record_fn_exit(1);
    elapsed[name] += now(CLOCK_MONOTONIC);
    cpu[name] += now(CLOCK_THREAD_CPUTIME_ID);
}

static void busy(double each_ns)
{
    for (uintptr_t i = 0; i < PARTS; i++) {
        enter(A + i);
        work((uint64_t)(each_ns * ROUND_NS * shares[i] / 100));
        leave(A + i);
    }
}

static void idle(void)
{
    uint64_t begin = now(CLOCK_MONOTONIC);
    enter(WORK);
    while (now(CLOCK_MONOTONIC) - begin < ROUND_NS)
        work(1000);
    leave(WORK);
    uint64_t until = 2 * now(CLOCK_MONOTONIC) - begin; /* asleep as long as at work */
    struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    enter(NATIVE);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    leave(NATIVE);
}

static void ask(double each_ns)
{
    for (int i = 0; i < NAP_EACH; i++) {
        enter(WORK);
        work((uint64_t)(each_ns * ASK_EACH_NS));
        leave(WORK);
        enter(ASK);
        for (int k = 0; k < 3; k++)
            now(CLOCK_PROCESS_CPUTIME_ID);
        leave(ASK);
    }
    enter(NAP);
    nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    leave(NAP);
}

static void print_shares(void)
{
    double whole = 0, whole_cpu = 0;
    for (int i = A; i < N_NAMES; i++) {
        whole += (double)elapsed[i];
        whole_cpu += (double)cpu[i];
    }
    for (int i = A; i < N_NAMES; i++)
        printf("%s %.3f %.3f\n", names[i], 100 * (double)elapsed[i] / whole,
               100 * (double)cpu[i] / whole_cpu);
}

int main(int argc, char **argv)
{
    uint64_t lasts = argc == 3 ? strtoull(argv[1], NULL, 10) * 1000000000 : 0;
    if (!lasts || qprof_initialize("-program-name=shares", NULL) != 0)
        return 99;
    for (uintptr_t i = MAIN; i < NATIVE; i++)
        qprof_register_method_id(i, names[i], "m", 0, NULL, NULL, 0);
    double each_ns = speed();
    uint64_t begin = now(CLOCK_MONOTONIC);
    qprof_record_fn_entry(MAIN, 1);
    while (now(CLOCK_MONOTONIC) - begin < lasts) {
        if (strcmp(argv[2], "busy") == 0)
            busy(each_ns);
        else if (strcmp(argv[2], "ask") == 0)
            ask(each_ns);
        else
            idle();
    }
    qprof_record_fn_exit(0);
    qprof_shutdown();
    print_shares();
    return 0;
}
