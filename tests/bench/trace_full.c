/* trace_full.c: calls at full speed, traced into a file. Used by trace_full.sh.
 *
 *   trace_full CALLS "OPTIONS"
 *
 * Seven calls in turn: three deep, then four beside each other. Prints the calls, the ns of one, and the records
 * that were lost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "qprof.h"
#include "qprof/inline.h"

enum { MAIN = 1, DEEP = 10, FLAT = 20, N_DEEP = 3, N_FLAT = 4, FRAME_MAIN = 1, FRAME = 100 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void call_seven(qprof_thread *th, uintptr_t round)
{
    for (uintptr_t k = 0; k < N_DEEP; k++)
        qprof_entry(th, DEEP + (k + round) % 5, FRAME + k);
    for (uintptr_t k = N_DEEP; k-- > 0;)
        qprof_exit(th, k ? FRAME + k - 1 : FRAME_MAIN);
    for (uintptr_t k = 0; k < N_FLAT; k++) {
        qprof_entry(th, FLAT + k, FRAME);
        qprof_exit(th, FRAME_MAIN);
    }
}

int main(int n_words, char **words)
{
    if (n_words != 3 || qprof_initialize(words[2], NULL) != 0) {
        fprintf(stderr, "trace_full CALLS \"OPTIONS\": %s\n",
                n_words == 3 ? qprof_error_text() : "");
        return 2;
    }
    uintptr_t n = (uintptr_t)strtoull(words[1], NULL, 10) / (N_DEEP + N_FLAT);
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_record_fn_entry(MAIN, FRAME_MAIN);
    double since = now_ns();
    for (uintptr_t i = 0; i < n; i++)
        call_seven(th, i);
    double ns = now_ns() - since;
    qprof_record_fn_exit(0);
    uintptr_t n_calls = n * (N_DEEP + N_FLAT);
    printf("%" PRIuPTR " calls, %.1f ns each\n", n_calls, ns / (double)n_calls);
    qprof_shutdown();
    return 0;
}
