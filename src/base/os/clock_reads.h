/* clock_reads.h: does a read of the processor's counter wait for the loads before it?
 *
 * Two reads are timed with no load before them, and with eight before each, of which each needs the
 * one before. Where a read waits, the loads add their latency; where not, nearly nothing. The
 * recorder, the bench and the page of peers measure it here. */
#ifndef QP_BASE_OS_CLOCK_READS_H
#define QP_BASE_OS_CLOCK_READS_H

#include <stdbool.h>
#include <stdint.h>

enum { QP_CLOCK_READS_PAIRS = 16 };

/* Ticks of the fastest round of each kind, QP_CLOCK_READS_PAIRS pairs. */
typedef struct {
    uint64_t without, with, alone;
} qp_clock_reads;

/* Raw ticks of the processor's counter; 0: none is known. */
static inline uint64_t qp_clock_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

/* Ticks of a round of pairs: n loads of which each needs the one before, then a read. The first load
 * needs the read before it, so that no load overlaps that read. @param reads  false: loads alone */
static __attribute__((noinline, unused)) uint64_t qp_clock_round(unsigned n, bool reads)
{
    void *cell = &cell;
    void *volatile *at = &cell;
    uintptr_t none = 0;
    __asm__ volatile("" : "+r"(none)); /* the compiler does not know what it is */
    uint64_t start = qp_clock_counter(), ticks = 0;
    for (unsigned i = 0; i < 2 * QP_CLOCK_READS_PAIRS; i++) {
        for (unsigned k = 0; k < n; k++)
            at = *at;
        if (!reads)
            continue;
        __asm__ volatile("" : : "r"(at));
        ticks = qp_clock_counter();
        at = &cell + ((uintptr_t)ticks & none);
    }
    __asm__ volatile("" : : "r"(at));
    return (reads ? ticks : qp_clock_counter()) - start;
}

/* One round more of each kind. */
static inline void qp_clock_reads_add(qp_clock_reads *least)
{
    uint64_t without = qp_clock_round(0, true), with = qp_clock_round(8, true),
             alone = qp_clock_round(8, false);
    least->without = without < least->without ? without : least->without;
    least->with = with < least->with ? with : least->with;
    least->alone = alone < least->alone ? alone : least->alone;
}

/* Is it more than half of what the loads take alone? */
static inline bool qp_clock_reads_wait(const qp_clock_reads *least)
{
    return (int64_t)(least->with - least->without) > (int64_t)(least->alone / 2);
}

#endif
