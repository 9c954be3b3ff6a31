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
    uint32_t first_line, last_line, n_instructions;
    unsigned run;      /* whose id it is; 0: of none */
    qprof_MethodID id; /* 0: not recorded */
    /* counters; see blocks.c */
    char is_counted;  /* it has counters */
    char has_entry;   /* the first one is of its calls */
    uint32_t changes; /* qprof_changes() when they were asked for */
    uint64_t *counters;
    uint32_t n_ops;
    int n_blocks;   /* with the first, without the last one */
    int *block_of;  /* [n_ops] the block that begins with an instruction; 0: none */
    int *first_way; /* [n_blocks + 1] indices into way_to */
    int *way_to;    /* blocks; 0: out of the function */
} function;

/* A call that is open. */
typedef struct {
    const zend_execute_data *frame; /* NULL: of the engine itself, such as the collector */
    qprof_token token;
    int block; /* the block that it executes; 0: unknown */
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
    unsigned run;            /* counts runs, from 1 */
    char is_on;              /* a run is on */
    char of_request;         /* it was started by the program, and ends with its request */
    char has_calls;          /* calls are reported */
    char has_lines;          /* lines, or in a run of coverage alone calls, are counted */
    char has_failed;         /* the options of the process are wrong */
    unsigned wants;          /* QPROF_WANT_* */
    const uint32_t *changes; /* qprof_changes() */
    int function_slot;       /* of functions in PHP, in their run-time caches */
    int internal_slot;       /* of internal functions; until PHP 8.3 the same */
    int fiber_slot;          /* of fibers, in the contexts of the engine */
} recorder_state;

extern recorder_state recorder;

/* ---- functions.c ------------------------------------------------------------------------- */

/** What is known of a function that is called.
 *
 * @return NULL: no memory */
function *functions_find(const zend_function *called);
/** Was this code met in the run, as a function of whatever class? */
int functions_is_called(const zend_op_array *code);
void functions_free(void);

/* The same, where it is cached. */
static inline function *function_of(zend_function *called)
{
    int at = called->type == ZEND_INTERNAL_FUNCTION ? recorder.internal_slot
                                                    : recorder.function_slot;
    void **slot = &ZEND_OP_ARRAY_EXTENSION(&called->common, at);
    function *f = *slot;
    if (QPROF_UNLIKELY(!f || f->run != recorder.run))
        *slot = f = functions_find(called);
    return f;
}

/* ---- blocks.c ---------------------------------------------------------------------------- */

/** Find the blocks of a function, and its ways.
 *
 * @return its line table, [f->n_blocks + 1], to be freed; NULL: no memory */
qprof_LineInfo *blocks_find(const zend_op_array *code, function *f, int has_ways);
void blocks_forget(function *f);
/** Describe the counters of a function whose id is new. @return 0: it has none */
int blocks_register(const function *f);

/* ---- lines.c ----------------------------------------------------------------------------- */

/** A run that counts lines begins, or a request in it. */
void lines_begin(void);
/** A request has ended, and all of its code is gone. */
void lines_reset(void);
/** Let a function count its blocks when it is executed. */
void lines_prepare(const function *f, zend_op_array *code);
void lines_enter(function *f, open_call *call, const zend_execute_data *frame, int is_resume);
/** A call returns. */
void lines_leave(const open_call *call, const zend_execute_data *frame);
/** The functions that were declared since are known, though they are not called. */
void lines_register(uint32_t first_function, uint32_t first_class);
/** A file was compiled. */
void lines_register_file(zend_op_array *code, uint32_t first_function, uint32_t first_class);
void lines_end_request(void);

/* ---- cover.c ----------------------------------------------------------------------------- */

void cover_begin(void);
/** Is a file covered? */
int cover_has(const char *file);

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
