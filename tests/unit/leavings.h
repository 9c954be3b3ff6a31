/* leavings.h: what a program would leave if it were killed now. It is stepped, one instruction
 * at a time, and its live file is looked at in between. */
#ifndef TESTS_UNIT_LEAVINGS_H
#define TESTS_UNIT_LEAVINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The instructions of a sanitizer are not those that users run, and ten times as many. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEPPED_IS_SANITIZED 1
#else
#define STEPPED_IS_SANITIZED 0
#endif

/* The main() of tests that step through instructions. @param is_ready false: nothing can be
 * tested */
#define STEPPED_MAIN(is_ready, ...)                                                            \
    int main(void)                                                                             \
    {                                                                                          \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                       \
        if (STEPPED_IS_SANITIZED) {                                                            \
            puts("with a sanitizer there is another event path: stepped through without one"); \
            return 77;                                                                         \
        }                                                                                      \
        unsetenv("QPROF");                                                                     \
        return (is_ready) ? cmocka_run_group_tests(tests, NULL, NULL) : 99;                    \
    }

/* The file as it is now, and as it was when it was looked at last, of a process that has
 * died. */
typedef struct {
    int fd, dead_fd;
    const unsigned char *now;
    unsigned char *dead;
    size_t n_bytes;
    char path[40]; /* of the latter */
} leavings;

void leavings_open(leavings *x, const char *live_file);
void leavings_close(leavings *x);

/* Has the file changed since the last look? */
bool leavings_look(leavings *x);

/* Let a stopped thread continue until it stops again. @param how PTRACE_SINGLESTEP, PTRACE_CONT
 * @return its status, as of waitpid() */
int leavings_step(pid_t thread, int how);
bool leavings_stopped_by(int status, int signal);

#endif
