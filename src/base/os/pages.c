/* pages.c: whole mappings; untouched pages cost nothing. */
#include "base/os/pages.h"

#include <sys/mman.h>

void *qp_pages_take(size_t n_bytes)
{
    void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void qp_pages_drop(void *p, size_t n_bytes)
{
    if (p)
        munmap(p, n_bytes);
}
