/* exit.h: included before every file of a build with --coverage: a process that ends by _exit(), as children of
 * tests do, writes down what it ran. */
#ifndef TESTS_LONG_GCOV_EXIT_H
#define TESTS_LONG_GCOV_EXIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <unistd.h>

void __gcov_dump(void);
#define _exit(status) (__gcov_dump(), _exit(status))

#endif
