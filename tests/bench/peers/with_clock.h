/* with_clock.h: the programs read the clock at entry and exit and do nothing with it: the floor of
 * whatever times each call. LOADS dependent loads come before each read: CPUs differ in whether a
 * read waits for them. */
#if !defined __x86_64__ && !defined __aarch64__
#error "no counter of the processor is known here"
#endif

static inline uint64_t read_clock(void)
{
#ifdef __x86_64__
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}
#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    uint64_t began = read_clock();                                                             \
    __asm__ volatile("" : : "r"(began))
#define LEAVE(method, caller)                                                                  \
    uint64_t ended = read_clock();                                                             \
    __asm__ volatile("" : : "r"(ended))
