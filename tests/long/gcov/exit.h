/* exit.h: included before every file of a build with --coverage: a process that ends by _exit(), as children of
 * tests do, or by a signal that it sends to itself, writes down what it ran. */
#ifndef TESTS_LONG_GCOV_EXIT_H
#define TESTS_LONG_GCOV_EXIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
#define _exit(status) (__gcov_dump(), _exit(status))
#define raise(number) (__gcov_dump(), __gcov_reset(), raise(number))
#define pthread_kill(thread, number)                                                           \
    (__gcov_dump(), __gcov_reset(), pthread_kill(thread, number))
#define kill(pid, number)                                                                      \
    ((pid) == getpid() ? (__gcov_dump(), __gcov_reset()) : (void)0, kill(pid, number))

#endif
