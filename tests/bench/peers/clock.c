/* clock.c: does a read of the processor's clock wait for the loads before it?
 *
 * Prints the nanoseconds of two reads with 0, 2, 4 and 8 dependent loads before each, and of the loads
 * alone. Where a read waits, the loads add their whole latency; where not, nearly nothing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "with_clock.h"

enum { PAIRS = 20000, REPEATS = 101 };

static void *cell = &cell; /* points to itself */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A chain that begins anew: it does not wait for the chain before it. */
#define CHASE(n_loads)                                                                         \
    do {                                                                                       \
        void **at = &cell;                                                                     \
        __asm__ volatile("" : "+r"(at));                                                       \
        for (int k = 0; k < (n_loads); k++) {                                                  \
            at = (void **)*(void *volatile *)at;                                               \
        }                                                                                      \
        __asm__ volatile("" : : "r"(at));                                                      \
    } while (0)

#define READ()                                                                                 \
    do {                                                                                       \
        uint64_t ticks = read_clock();                                                         \
        __asm__ volatile("" : : "r"(ticks));                                                   \
    } while (0)

#define LOOP(name, before, n_loads)                                                            \
    __attribute__((noinline)) static void name(void)                                           \
    {                                                                                          \
        for (int i = 0; i < PAIRS; i++) {                                                      \
            before(n_loads);                                                                   \
            READ();                                                                            \
            before(n_loads);                                                                   \
            READ();                                                                            \
        }                                                                                      \
    }
LOOP(with_0, CHASE, 0)
LOOP(with_2, CHASE, 2)
LOOP(with_4, CHASE, 4)
LOOP(with_8, CHASE, 8)

/* One chain through all rounds: its latency. */
__attribute__((noinline)) static void loads_alone(void)
{
    void **at = &cell;
    for (int i = 0; i < PAIRS; i++)
        for (int k = 0; k < 16; k++)
            at = (void **)*(void *volatile *)at;
    __asm__ volatile("" : : "r"(at));
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } rows[] = {
        {"0", with_0}, {"2", with_2}, {"4", with_4}, {"8", with_8}, {"alone", loads_alone}};
    enum { N_ROWS = sizeof rows / sizeof *rows };
    static double ns[N_ROWS][REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (int i = 0; i < N_ROWS; i++) {
            double began = now_ns();
            rows[i].run();
            ns[i][repeat] = (now_ns() - began) / PAIRS;
        }
    }
    for (int i = 0; i < N_ROWS; i++) {
        qsort(ns[i], REPEATS, sizeof **ns, by_value);
        printf("%s %.3f\n", rows[i].name, ns[i][REPEATS / 10]);
    }
    return 0;
}
