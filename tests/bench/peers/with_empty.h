/* with_empty.h: the programs call two functions of a library that do nothing. */
void bench_empty(uintptr_t a, uintptr_t b);

#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    bench_empty((method), here)
#define LEAVE(method, caller) bench_empty((caller), 0)
