/* one_thread.c: pthread_create() of the programs that are left out of the build with the thread sanitizer
 * because they have one thread: see single_threaded in tests/CMakeLists.txt. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    (void)thread, (void)attributes, (void)run, (void)argument;
    fputs("this test begins a thread: remove it from single_threaded in tests/CMakeLists.txt\n",
          stderr);
    abort();
}
