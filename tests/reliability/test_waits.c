/* test_waits.c: a host that is sampled waits as long as it wants to: none of its system calls
 * is interrupted. reliability.md R5. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "unit/play.h"

enum { WAIT_MS = 100 };

static const struct timespec waits = {0, WAIT_MS * 1000000};

/* Writes a byte to a descriptor after a while. */
static void *write_late(void *fd)
{
    nanosleep(&waits, NULL);
    return write(*(int *)fd, "x", 1) == 1 ? fd : NULL;
}

static int read_late(int to_read, int to_write)
{
    char byte;
    void *result;
    pthread_t writer;
    pthread_create(&writer, NULL, write_late, &to_write);
    ssize_t n = read(to_read, &byte, 1);
    int error = n < 0 ? errno : 0;
    pthread_join(writer, &result);
    return result && n == 1 ? 0 : error;
}

static int wait_nanosleep(void)
{
    return nanosleep(&waits, NULL) == 0 ? 0 : errno;
}

static int wait_sleep(void)
{
    return sleep(1) == 0 ? 0 : EINTR;
}

static int wait_poll(void)
{
    return poll(NULL, 0, WAIT_MS) == 0 ? 0 : errno;
}

static int wait_select(void)
{
    struct timeval time = {0, WAIT_MS * 1000};
    return select(0, NULL, NULL, NULL, &time) == 0 ? 0 : errno;
}

static int wait_read(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return errno;
    int error = read_late(ends[0], ends[1]);
    close(ends[0]);
    close(ends[1]);
    return error;
}

static int wait_receive(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return errno;
    int error = read_late(ends[0], ends[1]);
    close(ends[0]);
    close(ends[1]);
    return error;
}

static int wait_semaphore(void)
{
    sem_t semaphore;
    struct timespec until;
    sem_init(&semaphore, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    int error = sem_timedwait(&semaphore, &until) == 0 ? 0 : errno;
    sem_destroy(&semaphore);
    return error == ETIMEDOUT ? 0 : error;
}

static const struct {
    const char *name;
    int (*wait)(void);
} waiting[] = {
    {"nanosleep", wait_nanosleep},    {"sleep", wait_sleep}, {"poll", wait_poll},
    {"select", wait_select},          {"read", wait_read},   {"a socket", wait_receive},
    {"sem_timedwait", wait_semaphore}};

static void wait_in_all_ways(play_ctx *p, const char *options)
{
    play_begin(p, options);
    play(p, "a(");
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        uint64_t began = qp_clock_monotonic();
        int error = waiting[i].wait();
        if (error || qp_clock_monotonic() - began < WAIT_MS * 1000000ull * 9 / 10)
            fail_msg("%s: %s was interrupted: error %d", options, waiting[i].name, error);
    }
    play(p, ")");
    play_end(p);
}

static void no_wait_is_interrupted_by_the_wall_clock(void **state)
{
    play_ctx *p = *state;
    wait_in_all_ways(p, "-collect=samples '-pc=REAL 50'");
    assert_true(play_figures(p, QP_ALL_THREADS, "a").pc_samples > 0);
}

static void no_wait_is_interrupted_by_cpu_time(void **state)
{
    wait_in_all_ways(*state, "'-pc=VIRTUAL 50'");
}

static void no_wait_is_interrupted_by_sampled_times(void **state)
{
    wait_in_all_ways(*state, "-time=sampled -sample-period=50");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(no_wait_is_interrupted_by_the_wall_clock),
        PLAY_TEST(no_wait_is_interrupted_by_cpu_time),
        PLAY_TEST(no_wait_is_interrupted_by_sampled_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
