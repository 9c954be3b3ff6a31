/* parked.c: what the sampler costs beside 10,000 parked virtual threads, for parked.sh.
 *
 * parked SECONDS THREADS busy|idle: each virtual thread is five calls deep and parked; one more
 * works, or sleeps. It prints the CPU time of the recorder's own threads in percent of the
 * elapsed time, how many interrupts came, and for comparison the CPU time of a thread that
 * wakes as often and does nothing. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qprof.h"

enum { DEPTH = 5, WORKER = 1, WORK = 100000, PERIOD_NS = 1000000, SECOND_NS = 1000000000 };

static volatile unsigned sink;

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static int read_line(const char *thread, const char *file, char *line, int n)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, file);
    FILE *f = fopen(path, "r");
    int is_read = f && fgets(line, n, f);
    if (f)
        fclose(f);
    return is_read;
}

/* CPU time of the threads with this name, ns. */
static unsigned long long time_of(const char *name)
{
    unsigned long long sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char line[128];
        if (read_line(task->d_name, "comm", line, sizeof line) && !strcmp(line, name) &&
            read_line(task->d_name, "schedstat", line, sizeof line))
            sum += strtoull(line, NULL, 10);
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

static void *wake(void *unused)
{
    struct timespec at;
    pthread_setname_np(pthread_self(), "waking");
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (;;) {
        at.tv_nsec += PERIOD_NS;
        if (at.tv_nsec >= SECOND_NS) {
            at.tv_nsec -= SECOND_NS;
            at.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    return unused;
}

static double percent(unsigned long long ns, uint64_t elapsed)
{
    return 100 * (double)ns / (double)elapsed;
}

int main(int argc, char **argv)
{
    qprof_InitInfo info = {.usingVirtualThreads = 1};
    double seconds = argc == 4 ? atof(argv[1]) : 0;
    uintptr_t n_threads = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    int is_idle = argc == 4 && strcmp(argv[3], "idle") == 0;
    pthread_t waking;
    if (qprof_initialize_ex(&info) != 0 || pthread_create(&waking, NULL, wake, NULL))
        return 1;
    qprof_register_method_id(1, "wait", NULL, 0, "parked", NULL, 0);
    qprof_register_method_id(2, "work", NULL, 0, "parked", NULL, 0);
    for (uintptr_t vt = WORKER + n_threads; vt > WORKER; vt--)
        for (uintptr_t depth = 1; depth <= DEPTH; depth++)
            qprof_record_fn_entry_vt(1, depth, vt);
    uint64_t begin = now(), end = begin + (uint64_t)(seconds * 1e9);
    unsigned long long before = time_of("qprof\n"), floor_before = time_of("waking\n");
    while (now() < end) {
        qprof_record_fn_entry_vt(2, 1, WORKER);
        for (unsigned i = 0; i < WORK && !is_idle; i++)
            sink += i;
        if (is_idle)
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        qprof_record_fn_exit_vt(0, WORKER);
    }
    unsigned long long used = time_of("qprof\n") - before;
    unsigned long long floor = time_of("waking\n") - floor_before;
    uint64_t elapsed = now() - begin;
    qprof_PcTotals totals;
    qprof_pc_totals(&totals);
    printf("%.2f %% of a core, %llu interrupts; a thread that only wakes: %.2f %%\n",
           percent(used, elapsed), (unsigned long long)totals.occurred,
           percent(floor, elapsed));
    qprof_shutdown_vt(WORKER);
    return 0;
}
