/* clock.c: the one home of clock reads outside of the inline event path. */
#include "base/os/clock.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/os/file.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static uint64_t read_ns(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t qp_clock_monotonic(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t qp_clock_wall(void)
{
    return read_ns(CLOCK_REALTIME);
}

uint64_t qp_clock_process_cpu(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t qp_clock_thread_cpu(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t time_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

uint64_t qp_clock_thread_usage(qp_usage what)
{
    struct rusage u;
    if (getrusage(RUSAGE_THREAD, &u) != 0)
        return 0;
    switch (what) {
    case QP_USAGE_USER:
        return time_ns(u.ru_utime);
    case QP_USAGE_KERNEL:
        return time_ns(u.ru_stime);
    case QP_USAGE_SWITCHES:
        return (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
    case QP_USAGE_SOFT_FAULTS:
        return (uint64_t)u.ru_minflt;
    case QP_USAGE_HARD_FAULTS:
        return (uint64_t)u.ru_majflt;
    case QP_USAGE_FAULTS:
        return (uint64_t)(u.ru_minflt + u.ru_majflt);
    }
    return 0;
}

int qp_clock_id_of(int tid)
{
    enum { PER_THREAD = 4, SCHEDULED = 2 }; /* the kernel's encoding of a thread's CPU clock */
    return (int)(~(unsigned)tid << 3 | PER_THREAD | SCHEDULED);
}

uint64_t qp_clock_cpu_of(int tid)
{
    return read_ns((clockid_t)qp_clock_id_of(tid));
}

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
#else
    return false;
#endif
}

/* A virtual machine's clock that is computed from the counter: does the kernel call the counter reliable? */
static bool clock_is_of_tsc(const char *clock)
{
    char text[4096] = ""; /* more than the first processor */
    if (strcmp(clock, "kvm-clock\n") != 0 &&
        strcmp(clock, "hyperv_clocksource_tsc_page\n") != 0)
        return false;
    qp_file_text("/proc/cpuinfo", text, sizeof text);
    return strstr(text, " tsc_reliable") != NULL;
}

bool qp_clock_has_tsc(void)
{
    char clock[40] = "";
    if (!tsc_is_invariant())
        return false;
    qp_file_text("/sys/devices/system/clocksource/clocksource0/current_clocksource", clock,
                 sizeof clock);
    return strcmp(clock, "tsc\n") == 0 || clock_is_of_tsc(clock);
}

uint64_t qp_clock_tsc(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

void qp_clock_sleep_until(uint64_t monotonic_ns)
{
    struct timespec t = {(time_t)(monotonic_ns / 1000000000u),
                         (long)(monotonic_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}
