/* qprof/base.h: the types, error codes and macros that all public headers share. */
#ifndef QPROF_BASE_H
#define QPROF_BASE_H

#include <stddef.h>
#include <stdint.h>

/* A client may define _EXT_REF, which precedes the name of every function. */
#ifndef _EXT_REF
#define _EXT_REF
#endif
#ifndef QPROF_API
#if defined(__GNUC__) || defined(__clang__)
#define QPROF_API __attribute__((visibility("default")))
#else
#define QPROF_API
#endif
#endif
#define QPROF_FN(type) QPROF_API type _EXT_REF /* declares an exported function */

typedef uintptr_t qprof_MethodID; /* a method of the host; 0: no method */
typedef uintptr_t qprof_StackID;  /* a frame of one thread; 0: no frame */
typedef uintptr_t qprof_ThreadID; /* a thread, as the host names it */
typedef uintptr_t VthreadID;      /* a virtual thread; compared for equality only */
typedef uint64_t qprof_Counts;
typedef uint64_t qprof_token; /* a frame of one thread, given by the library */
#define QPROF_NO_TOKEN                                                                         \
    ((qprof_token)3073) /* of no frame; the nil node, see docs/formats/qprof.md */

typedef struct qprof_thread qprof_thread; /* a thread's handle: qprof/inline.h */

/* Error codes. Functions that return int return 0 or one of these unless they state otherwise;
 * qprof_error_text() describes the last error of the calling thread. */
enum {
    QPROF_E_ARG = -1,         /* invalid argument */
    QPROF_E_VERSION = -2,     /* unsupported structure version */
    QPROF_E_STATE = -3,       /* not possible now */
    QPROF_E_OPTION = -4,      /* invalid option value */
    QPROF_E_MEMORY = -5,      /* out of memory */
    QPROF_E_IO = -6,          /* file error */
    QPROF_E_SYNTAX = -7,      /* syntax error in a pattern or configuration */
    QPROF_E_UNSUPPORTED = -8, /* not available here */
    QPROF_E_NOTFOUND = -9,    /* unknown id or name */
    QPROF_E_LIMIT = -10       /* a maximum is reached */
};

#endif
