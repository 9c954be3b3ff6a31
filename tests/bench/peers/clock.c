/* clock.c: does a read of the processor's clock wait for the loads before it?
 *
 * Prints the nanoseconds of two reads with 0, 2, 4 and 8 dependent loads before each, and of 16 loads
 * alone; then whether a read waits. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/os/clock_reads.h"

enum { ROUNDS = 20001 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static const struct {
        const char *name;
        unsigned n_loads;
        bool reads;
    } rows[] = {
        {"0", 0, true}, {"2", 2, true}, {"4", 4, true}, {"8", 8, true}, {"alone", 8, false}};
    enum { N_ROWS = sizeof rows / sizeof *rows };
    static uint64_t ticks[N_ROWS][ROUNDS];
    double began = now_ns();
    uint64_t first = qp_clock_counter();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N_ROWS; i++)
            ticks[i][round] = qp_clock_round(rows[i].n_loads, rows[i].reads);
    double tick_ns = (now_ns() - began) / (double)(qp_clock_counter() - first);
    for (int i = 0; i < N_ROWS; i++) {
        qsort(ticks[i], ROUNDS, sizeof **ticks, by_value);
        printf("%s %.3f\n", rows[i].name,
               (double)ticks[i][ROUNDS / 10] * tick_ns / QP_CLOCK_READS_PAIRS);
    }
    const qp_clock_reads least = {
        .without = ticks[0][0], .with = ticks[3][0], .alone = ticks[4][0]};
    printf("waits %d\n", qp_clock_reads_wait(&least));
    return 0;
}
