/* native.c: three programs that every native peer records, so that only the recording differs.
 *
 *   native BATCHES [off]
 *
 * PEER names a header of this folder with the calls of one peer; without it the program is not
 * instrumented, or the compiler does it. Prints the nanoseconds of a call, the median of BATCHES,
 * for each program, and how many calls were made, one warm-up batch each included.
 *
 * flat: one function in a loop. mixed: seven functions in turn, each of which calls two more,
 * three deep. recursion: fib. A function does no work of its own. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define APART        __attribute__((noinline)) /* neither inlined nor specialized */
#define NOT_RECORDED __attribute__((noinline, no_instrument_function, xray_never_instrument))
#else
#define APART        __attribute__((noipa))
#define NOT_RECORDED __attribute__((noipa, no_instrument_function))
#endif

/* A header may define these: */
#ifdef PEER
#include PEER
#endif
#ifndef FRAME
#define FRAME uintptr_t
#endif
#ifndef ENTER /* declares `here`, what the function passes on to its callees */
#define ENTER(method, caller) FRAME here = (caller) + 1
#define LEAVE(method, caller) ((void)0)
#endif
#ifndef BEGIN
#define BEGIN(is_off) ((void)(is_off))
#define OUTERMOST     1 /* what the loops pass to their callees */
#define END()         ((void)0)
#endif
#ifndef BATCH /* what the peer does once a batch, which is timed as well */
#define BATCH_BEGIN() ((void)0)
#define BATCH()       ((void)0)
#endif

enum {
    FLAT = 1,
    OUTER = 2, /* and the six that follow; so with the next two */
    MIDDLE = 9,
    INNER = 16,
    FIB = 23,

    BATCHES_MAX = 99,
    FLAT_CALLS = 100000,
    MIXED_ROUNDS = 5000,
    MIXED_CALLS = 21 * MIXED_ROUNDS,
    FIB_OF = 23,
    FIB_CALLS = 92735 /* 2 * fib(24) - 1 */
};

#define KEEP(value) __asm__ volatile("" : "+r"(value))

unsigned flat(unsigned n, FRAME caller);
unsigned fib(unsigned n, FRAME caller);

APART unsigned flat(unsigned n, FRAME caller)
{
    ENTER(FLAT, caller);
    KEEP(here);
    KEEP(n);
    LEAVE(FLAT, caller);
    return n;
}

#define CHAIN(i)                                                                               \
    unsigned inner_##i(unsigned n, FRAME caller);                                              \
    unsigned middle_##i(unsigned n, FRAME caller);                                             \
    unsigned outer_##i(unsigned n, FRAME caller);                                              \
    APART unsigned inner_##i(unsigned n, FRAME caller)                                         \
    {                                                                                          \
        ENTER(INNER + i, caller);                                                              \
        KEEP(here);                                                                            \
        KEEP(n);                                                                               \
        LEAVE(INNER + i, caller);                                                              \
        return n;                                                                              \
    }                                                                                          \
    APART unsigned middle_##i(unsigned n, FRAME caller)                                        \
    {                                                                                          \
        ENTER(MIDDLE + i, caller);                                                             \
        n = inner_##i(n, here) + 1;                                                            \
        KEEP(n);                                                                               \
        LEAVE(MIDDLE + i, caller);                                                             \
        return n;                                                                              \
    }                                                                                          \
    APART unsigned outer_##i(unsigned n, FRAME caller)                                         \
    {                                                                                          \
        ENTER(OUTER + i, caller);                                                              \
        n = middle_##i(n, here) + 1;                                                           \
        KEEP(n);                                                                               \
        LEAVE(OUTER + i, caller);                                                              \
        return n;                                                                              \
    }
CHAIN(0)
CHAIN(1)
CHAIN(2)
CHAIN(3)
CHAIN(4)
CHAIN(5)
CHAIN(6)

APART unsigned fib(unsigned n, FRAME caller)
{
    ENTER(FIB, caller);
    unsigned r = n < 2 ? n : fib(n - 1, here) + fib(n - 2, here);
    KEEP(r);
    LEAVE(FIB, caller);
    return r;
}

NOT_RECORDED static void run_flat(FRAME caller)
{
    for (unsigned i = 0; i < FLAT_CALLS; i++)
        flat(i, caller);
}

NOT_RECORDED static void run_mixed(FRAME caller)
{
    for (unsigned i = 0; i < MIXED_ROUNDS; i++) {
        outer_0(i, caller);
        outer_1(i, caller);
        outer_2(i, caller);
        outer_3(i, caller);
        outer_4(i, caller);
        outer_5(i, caller);
        outer_6(i, caller);
    }
}

NOT_RECORDED static void run_fib(FRAME caller)
{
    fib(FIB_OF, caller);
}

/* Time that passed, without that in which others used the core while the thread was ready to run. */
NOT_RECORDED static double now_ns(void)
{
    static int fd = -2;
    struct timespec t;
    char text[96] = "";
    unsigned long long waited = 0;
    if (fd == -2)
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (fd >= 0 && pread(fd, text, sizeof text - 1, 0) > 0)
        sscanf(text, "%*u %llu", &waited);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec - (double)waited;
}

NOT_RECORDED static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

NOT_RECORDED static void measure(const char *name, void (*run)(FRAME), unsigned calls,
                                 unsigned n_batches)
{
    double ns[BATCHES_MAX + 1];
    for (unsigned i = 0; i <= n_batches; i++) {
        double began = now_ns();
        BATCH_BEGIN();
        run(OUTERMOST);
        BATCH();
        ns[i] = (now_ns() - began) / calls;
    }
    qsort(ns + 1, n_batches, sizeof *ns, by_value); /* the first is the warm-up */
    printf("%s %.3f\n", name, ns[1 + n_batches / 2]);
}

NOT_RECORDED int main(int argc, char **argv)
{
    unsigned n_batches = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (n_batches < 1 || n_batches > BATCHES_MAX)
        return 2;
    BEGIN(argc > 2);
    measure("flat", run_flat, FLAT_CALLS, n_batches);
    measure("mixed", run_mixed, MIXED_CALLS, n_batches);
    measure("recursion", run_fib, FIB_CALLS, n_batches);
    END();
    printf("calls %lu\n", (n_batches + 1ul) * (FLAT_CALLS + MIXED_CALLS + FIB_CALLS));
    return 0;
}
