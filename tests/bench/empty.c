/* empty.c: an exported call that does nothing, in a shared library of its own: the floor of
 * every exported call. */
#include <stdint.h>

__attribute__((visibility("default"))) void bench_empty(uintptr_t a, uintptr_t b);

void bench_empty(uintptr_t a, uintptr_t b)
{
    __asm__ volatile("" : : "r"(a), "r"(b));
}
