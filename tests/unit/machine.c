/* machine.c: what a machine counts, made to happen by hand. */
#include "unit/machine.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* Out of sight of the thread sanitizer, which touches two pages of its own beside each. */
__attribute__((no_sanitize("address", "thread"))) void machine_touch(unsigned n_pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, n_pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise(memory, n_pages * page, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < n_pages; i++)
        ((volatile char *)memory)[i * page] = 1;
    munmap(memory, n_pages * page);
}

void assert_about(uint64_t found, uint64_t wanted)
{
    if (found < wanted || found > wanted + wanted / 4)
        fail_msg("%lu is not about %lu", (unsigned long)found, (unsigned long)wanted);
}

int machine_counters(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char target[64] = "";
        n += readlinkat(dirfd(d), e->d_name, target, sizeof target - 1) > 0 &&
             !strcmp(target, "anon_inode:[perf_event]");
    }
    closedir(d);
    return n;
}
