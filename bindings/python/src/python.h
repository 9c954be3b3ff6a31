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
    int first_resume;  /* offset at which a call begins; after it a generator continues */
    qprof_MethodID id; /* 0: not recorded */
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
    char has_open_frames;  /* frames that are open when recording begins are recorded as well */
    PyObject *own_folder;  /* whose functions are not recorded: this package's */
    PyObject *on_conflict; /* called with a text when another hook has replaced ours */
} recorder_state;

extern recorder_state recorder;
extern PyTypeObject watch_type;

/* ---- code.c ------------------------------------------------------------------------------ */

/** Once, when the module is loaded. @return 0: no memory */
int code_open(void);
/** A run begins: all ids are of earlier ones. */
int code_begin_run(void);
/** What is known of the code of a frame. @return NULL: no memory */
const code_info *code_of(PyFrameObject *frame);
/** What is known of a C function, until the next call. @return NULL: no memory */
const cfunction *cfunction_of(const PyCFunctionObject *function);

/* ---- calls.c ----------------------------------------------------------------------------- */

/** Give all threads that have none a hook.
 * @param creator  path of the code that created them; 0: unknown. @return 0 and an exception: no memory */
int calls_watch_all(uint64_t creator);
/** Take our hooks away. */
void calls_unwatch_all(void);
/** Whether another profiler has the hook of this thread. */
int calls_is_taken(void);

#endif
