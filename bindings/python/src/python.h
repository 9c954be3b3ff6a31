/* python.h: what the files of the extension module qprof._recorder share.
 *
 * Everything here runs with the GIL held. A thread's watch is the object of its profile hook: it has the
 * thread's stack in the recorder, and the tokens of its open calls. */
#ifndef QPROF_PYTHON_H
#define QPROF_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stdint.h>

#include "qprof/embed.h"

/* A call that is open. */
typedef struct {
    const void *what; /* its frame; of a C function its PyMethodDef */
    qprof_token
        token; /* of the innermost call that is recorded: this one, or one below it; 0: none */
    char is_recorded, starts_thread;
} open_call;

/* A thread of Python. */
typedef struct {
    PyObject_HEAD qprof_stack stack;
    open_call *calls; /* [n_calls] of n_room, outermost first */
    size_t n_calls, n_room;
    char is_begun; /* the frames that were open before are in it */
} watch;

/* What is known of a code object. It lives as long as the code object. */
typedef struct {
    unsigned run;      /* whose id it is; 0: of none */
    int first_resume;  /* unit at which a call begins; after it a generator continues */
    qprof_MethodID id; /* 0: not recorded */
    /* counters; see blocks.c */
    char is_counted;     /* it has counters */
    char has_entry;      /* the first one is of its calls */
    unsigned counted_by; /* the thread whose counters are known; 0: none */
    uint32_t changes;    /* qprof_changes() when they were asked for */
    uint64_t *counters;
    int n_blocks; /* with the first, without the last one */
    int first_line, n_lines;
    int *block_of_line; /* [n_lines] from first_line on; 0: none */
    int *first_way;     /* [n_blocks + 1] indices into way_to */
    int *way_to;        /* blocks; 0: out of the code */
} code_info;

/* What is known of a C function. */
typedef struct {
    const PyMethodDef *definition; /* NULL: a free slot */
    qprof_MethodID id;             /* 0: not recorded */
    char starts_thread;
} cfunction;

typedef struct {
    qprof_vm vm;
    unsigned run; /* counts runs, from 1 */
    char is_on;
    char has_open_frames; /* frames that are open when recording begins are recorded as well */
    char has_calls;       /* calls are reported */
    char has_lines; /* executions of lines, or in a run of coverage alone calls, are counted */
    char is_recording; /* not paused */
    unsigned wants;    /* QPROF_WANT_* */
    uint32_t changes;  /* qprof_changes() when they were asked for */
    PyObject *
        is_covered; /* function of a file, a module, and whether all of the file's code is met */
    PyObject *own_folder; /* whose functions are not recorded: this package's */
    PyObject
        *on_conflict; /* called when another hook has replaced ours: "profile" or "trace" */
} recorder_state;

extern recorder_state recorder;
extern PyTypeObject watch_type;

/* ---- code.c ------------------------------------------------------------------------------ */

/** Once, when the module is loaded. @return 0: no memory */
int code_open(void);
/** A run begins: all ids are of earlier ones. */
int code_begin_run(void);
/** What is known of the code of a frame. @return NULL: no memory */
code_info *code_of(PyFrameObject *frame);
/** Register a code object that may never run, and what it defines. */
void code_register(PyCodeObject *code, const char *module);
/** What is known of a C function, until the next call. @return NULL: no memory */
const cfunction *cfunction_of(const PyCFunctionObject *function);

/* ---- calls.c ----------------------------------------------------------------------------- */

/** Give all threads that have none a hook.
 * @param creator  path of the code that created them; 0: unknown. @return 0 and an exception: no memory */
int calls_watch_all(uint64_t creator);
/** Take our hooks away. */
void calls_unwatch_all(void);
/** The watch of this thread. @return NULL: it has none */
watch *calls_own_watch(void);
/** Whether another profiler has the hook of this thread. */
int calls_is_taken(void);
/** Tell the user that another hook has replaced ours. No exception passes. */
void say_conflict(const char *hook);

/* ---- blocks.c ---------------------------------------------------------------------------- */

/** Find the lines of a code object.
 * @param lines  receives [info->n_blocks + 1], to be freed with PyMem_RawFree. @return 0: none */
int blocks_find(PyCodeObject *code, code_info *info, int has_ways, qprof_LineInfo **lines);
/** Describe the counters of a code object whose id is new. */
int blocks_register(const code_info *info);

/* ---- lines.c ----------------------------------------------------------------------------- */

extern PyTypeObject line_watch_type;
int lines_watch_all(void);
int lines_watch_this(PyFrameObject *frame);
void lines_unwatch_all(void);
int lines_is_taken(void);

#endif
