/* hidden.h: included before every file of the libraries, so that the compiler knows that what one
 * file declares is defined in another one of the same library: it is called and read directly.
 *
 * Declarations of libc come first: they are not hidden. A header of the system that is missing here
 * fails when the library is linked. */
#ifndef QP_BASE_HIDDEN_H
#define QP_BASE_HIDDEN_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#pragma GCC visibility push(hidden)

/* Of these functions of include/qprof/inline.h, each library has one copy. */
#define QPROF_ONCE __attribute__((noinline))
#define QPROF_ELSEWHERE
#define qprof_timed_entry   qp_timed_entry
#define qprof_untimed_entry qp_untimed_entry
#define qprof_timed_exit    qp_timed_exit
#define qprof_untimed_exit  qp_untimed_exit

#endif
