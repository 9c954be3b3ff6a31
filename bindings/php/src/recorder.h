/* recorder.h: what the files of the PHP extension qprof share.
 *
 * PHP without threads (NTS): a process executes one request after the other. A fiber is a stack of the
 * recorder; the main program is one as well. */
#ifndef QPROF_PHP_RECORDER_H
#define QPROF_PHP_RECORDER_H

#if defined(HAVE_CONFIG_H)
#include <config.h>
#endif
#include <php.h>
#include <zend_extensions.h>
#include <zend_fibers.h>
#include <zend_observer.h>

#if defined(ZTS)
#error "PHP with threads (ZTS) is not supported"
#endif

#include "qprof/embed.h"

/* What is known of a function. Closures and requests that have the same code share it; it lives as long as
 * the process. */
typedef struct function {
    struct function *next; /* in its list of the table */
    uint64_t hash;
    char *name, *file; /* file NULL: an internal function */
    uint32_t first_line, last_line;
    unsigned run;      /* whose id it is; 0: of none */
    qprof_MethodID id; /* 0: not recorded */
} function;

/* A call that is open. */
typedef struct {
    const zend_execute_data *frame; /* NULL: of the engine itself, such as the collector */
    qprof_token token;
} open_call;

/* A fiber, or the main program. */
typedef struct {
    qprof_stack own, *stack; /* of the main program: that of the VM */
    open_call *calls;        /* [n_calls] of n_room, outermost first */
    size_t n_calls, n_room;
    unsigned run;
} fiber;

typedef struct {
    qprof_vm vm;
    fiber *running;
    unsigned run;      /* counts runs, from 1 */
    char is_on;        /* a run is on */
    char of_request;   /* it was started by the program, and ends with its request */
    char has_failed;   /* the options of the process are wrong */
    int function_slot; /* of functions, in their run-time caches */
    int fiber_slot;    /* of fibers, in the contexts of the engine */
} recorder_state;

extern recorder_state recorder;

/* ---- functions.c ------------------------------------------------------------------------- */

/** What is known of a function that is called.
 *
 * @return NULL: no memory */
function *functions_find(const zend_function *called);
void functions_free(void);

/* The same, where it is cached. */
static inline function *function_of(zend_function *called)
{
    void **slot = &ZEND_OP_ARRAY_EXTENSION(&called->common, recorder.function_slot);
    function *f = *slot;
    if (QPROF_UNLIKELY(!f || f->run != recorder.run))
        *slot = f = functions_find(called);
    return f;
}

/* ---- calls.c ----------------------------------------------------------------------------- */

/** Once, when the extension is loaded: observe calls and fibers. */
void calls_open(void);
/** A run begins.
 *
 * @param caller  the innermost of the frames that are open and continue in it; NULL: none */
void calls_begin(zend_execute_data *caller);
/** The run ends: so do the calls of the stack that runs. */
void calls_end(void);
/** A request begins or ends. */
void calls_reset(void);
void calls_close(void);

#endif
