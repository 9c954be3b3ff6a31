/* two.c: what a thread that records costs another one that records as well.
 *
 *   two ROUNDS      prints, for each way of recording, the time of two threads at once over that of one
 *
 * A round takes one thread alone, then two at once, each in processor time of its own, so that a busy
 * machine hits both alike; the row is the median of the rounds. The first row records nothing: what
 * two processors of this machine cost each other. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "qprof.h"

enum { PAIRS = 400000, METHODS = 8, ROUNDS_MAX = 101 };

static const struct {
    const char *name, *options; /* NULL: nothing is recorded */
    int is_exported;
} rows[] = {
    {"nothing", NULL, 0},
    {"counts, inline", "-time=none", 0},
    {"counts, exported", "-time=none", 1},
    {"adaptive, inline", "-time=adaptive", 0},
    {"exact, inline", "-time=exact", 0},
    {"exact and sampled, inline", "-time=exact '-pc=REAL 1000'", 0},
    {"traced, inline", "-collect=profile,trace -trace-mode=overwrite", 0},
    {"only the stack, exported", "-collect=stack", 1},
};

static int is_exported;
static pthread_barrier_t start, end;
static double alone, beside;

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double pairs(qprof_thread *th)
{
    double began = cpu_ns();
    for (uintptr_t i = 0; i < PAIRS; i++) {
        uintptr_t method = 2 + i % METHODS;
        if (is_exported) {
            qprof_record_fn_entry(method, 2);
            qprof_record_fn_exit(1);
        } else {
            qprof_entry(th, method, 2);
            qprof_exit(th, 1);
        }
    }
    return cpu_ns() - began;
}

static void *other(void *unused)
{
    qprof_record_fn_entry(1, 1);
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    pairs(th);
    pthread_barrier_wait(&start);
    pairs(th);
    pthread_barrier_wait(&end);
    qprof_record_fn_exit(0);
    return unused;
}

static void round_of(const char *options)
{
    char words[200];
    pthread_t thread;
    snprintf(words, sizeof words, "%s -output=/tmp/qprof-two-%%p.qprof",
             options ? options : "");
    if (options && qprof_initialize(words, NULL) != 0) {
        fprintf(stderr, "two: %s\n", qprof_error_text());
        exit(1);
    }
    qprof_record_fn_entry(1, 1);
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    pairs(th);
    alone = pairs(th);
    pthread_create(&thread, NULL, other, NULL);
    pthread_barrier_wait(&start);
    beside = pairs(th);
    pthread_barrier_wait(&end);
    pthread_join(thread, NULL);
    qprof_record_fn_exit(0);
    if (options) {
        qprof_clear_data(); /* nothing is kept */
        qprof_shutdown();
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ratios[ROUNDS_MAX], ns[ROUNDS_MAX];
    int n = argc > 1 ? atoi(argv[1]) : 21;
    if (n < 1 || n > ROUNDS_MAX)
        n = ROUNDS_MAX;
    unsetenv("QPROF");
    pthread_barrier_init(&start, NULL, 2);
    pthread_barrier_init(&end, NULL, 2);
    printf("%-28s %12s %14s\n", "two threads over one", "ns alone", "ratio, median");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        is_exported = rows[i].is_exported;
        for (int k = 0; k < n; k++) {
            round_of(rows[i].options);
            ns[k] = alone / PAIRS;
            ratios[k] = beside / alone;
        }
        qsort(ns, (size_t)n, sizeof *ns, by_value);
        qsort(ratios, (size_t)n, sizeof *ratios, by_value);
        printf("%-28s %12.2f %14.3f\n", rows[i].name, ns[n / 2], ratios[n / 2]);
    }
    return 0;
}
