/* python.h: what the files of the extension module qprof._recorder share.
 *
 * Everything here runs with the GIL held. Events come from profile_hook.c and trace_hook.c up to Python
 * 3.11, and from monitor.c in newer versions; calls.c and lines.c do with them what is to be done. A thread
 * has a watch for its calls, with its stack in the recorder, and one for its lines. */
#ifndef QPROF_PYTHON_H
#define QPROF_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stdint.h>

#if PY_VERSION_HEX >= 0x030c0000
#define HAS_MONITORING 1
#else
#define HAS_MONITORING 0
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#endif

#include "qprof/embed.h"

/* A call that is open. */
typedef struct {
    const void *what;  /* FRAME_OF_CALL(); of a C function its PyMethodDef */
    qprof_token token; /* of this call, or if it is not recorded of one below it; 0: none */
    char is_recorded, starts_thread;
} open_call;

/* A thread of Python. */
typedef struct {
    PyObject ob_base;
    qprof_stack stack;
    open_call *calls; /* [n_calls] of n_room, outermost first */
    size_t n_calls, n_room;
    unsigned run;
    char is_begun;       /* the frames that were open before are in it, or left out */
    unsigned n_left_out; /* of them generators that may still return */
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

/* An open frame of covered code. */
typedef struct {
    const void *what; /* FRAME_OF_CALL() */
    code_info *info;
    uint64_t *counters; /* NULL: it is not counted */
    uint32_t changes;   /* qprof_changes() when they were asked for */
    int last;           /* the block that it executes; 0: unknown */
} line_frame;

/* The open frames of a thread. */
typedef struct {
    PyObject ob_base;
    line_frame *frames; /* [n_frames] of n_room */
    size_t n_frames, n_room;
    unsigned number; /* of the thread, in the order of their first events */
    unsigned run;
} line_watch;

/* What is known of a C function. */
typedef struct {
    const PyMethodDef *definition; /* NULL: a free slot */
    qprof_MethodID id;             /* 0: not recorded */
    char starts_thread;
} cfunction;

typedef struct {
    qprof_vm vm;
    unsigned run;          /* counts runs, from 1 */
    char is_measuring;     /* what recording costs */
    char is_on, is_ending; /* is_ending: our hooks are taken away */
    char has_open_frames;  /* functions that are open at the start are recorded as well */
    char has_calls;        /* calls are reported */
    char has_lines;        /* lines, or in a run of coverage alone calls, are counted */
    char is_recording;     /* not paused */
    unsigned wants;        /* QPROF_WANT_* */
    uint32_t changes;      /* qprof_changes() when they were asked for */
    PyObject *own_folder;  /* whose functions are not recorded: this package's */
    PyObject
        *is_covered; /* function of a file, a module, and 1 if all of the file's code is met */
    PyObject *on_counted; /* called with each code object that has counters; or NULL */
    PyObject *disable;    /* sys.monitoring.DISABLE */
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
/** What is known of a code object.
 * @param frame  in which it runs; NULL: the current one. @return NULL: no memory */
code_info *code_of(PyCodeObject *code, PyFrameObject *frame);
/** Register a code object that may never run, and what it defines. */
void code_register(PyCodeObject *code, const char *module);
/** The definition of a C function. @return NULL: what is called is none */
const PyMethodDef *cfunction_definition(PyObject *called);
/** What is known of a C function, until the next call. @return NULL: no memory */
const cfunction *cfunction_of(const PyMethodDef *definition, PyObject *called);

/* The code of a frame, which keeps it. */
static inline PyCodeObject *frame_code(PyFrameObject *frame)
{
#if HAS_MONITORING
    PyCodeObject *code = PyFrame_GetCode(frame);
    Py_DECREF(code);
    return code;
#else
    return frame->f_frame->f_code;
#endif
}

/* What tells a call from others in the list of open calls: events of sys.monitoring know no frame. */
#if HAS_MONITORING
#define FRAME_OF_CALL(frame, code) ((const void *)(code))
#else
#define FRAME_OF_CALL(frame, code) ((const void *)(frame))
#endif

/* ---- calls.c ----------------------------------------------------------------------------- */

/** The watch of a thread that begins. @return NULL and an exception: no memory */
watch *calls_new_watch(uint64_t creator);
/** The frames that are open already continue, which is no call.
 * @param frame  the innermost; is_call: it is just being called, and not one of them */
void calls_begin(watch *w, PyFrameObject *frame, int is_call);
/** @param id  0: the call is not recorded, but what it calls is */
void calls_open(watch *w, const void *what, qprof_MethodID id, int is_resume,
                char starts_thread);
/** A C function is called. */
void calls_open_c(watch *w, const PyMethodDef *definition, PyObject *called);
void calls_open_frame(watch *w, PyFrameObject *frame, int is_resume);
/** @return 0: it is not open */
int calls_close(watch *w, const void *what);
/** Code returns, yields or is left by an exception. @param what  FRAME_OF_CALL() */
void calls_return(watch *w, const void *what, PyCodeObject *code);
void calls_close_all(watch *w);
/** Tell the user that another hook has replaced ours. No exception passes. */
void say_conflict(const char *hook);
int is_in_python(void);

/* ---- profile_hook.c, monitor.c ----------------------------------------------------------- */

/** Give all threads that have none a hook.
 * @param creator  path of the code that created them; 0: unknown. @return 0 and an exception: no memory */
int calls_watch_all(uint64_t creator);
/** Take our hooks away. */
void calls_unwatch_all(void);
/** Watch this thread by a watch; NULL: no more. */
void calls_watch_this(watch *w);
/** The watch of this thread. @return NULL: it has none */
watch *calls_own_watch(void);
/** Whether another profiler has the hook of this thread. */
int calls_is_taken(void);
/** A thread ends. */
void monitor_forget(const void *w);
extern PyMethodDef monitor_functions[];

/* ---- cost.c ------------------------------------------------------------------------------ */

/** Measure what calls cost. @param switch_events  function of 1 and 0, or Py_None: of hooks */
void cost_measure(PyObject *loop, PyObject *python_function, PyObject *c_function,
                  PyObject *switch_events);

/* ---- blocks.c ---------------------------------------------------------------------------- */

/** Find the lines of a code object.
 * @param lines  receives [info->n_blocks + 1], to be freed with PyMem_RawFree. @return 0: none */
int blocks_find(PyCodeObject *code, code_info *info, int has_ways, qprof_LineInfo **lines);
/** Describe the counters of a code object whose id is new. */
int blocks_register(const code_info *info);

/* ---- lines.c, trace_hook.c ----------------------------------------------------------------------------- */

extern PyTypeObject line_watch_type;
/** A function begins or continues. @param unit  at which it is. @return its open frame; NULL: no memory */
line_frame *lines_enter(line_watch *w, const void *what, code_info *info, int unit, int line);
/** @param is_return  else it is suspended, or an exception leaves it */
void lines_leave(line_watch *w, const void *what, int is_return);
line_frame *lines_find(line_watch *w, const void *what);
void lines_execute(line_watch *w, line_frame *f, int line);
line_watch *lines_new_watch(void);
int lines_watch_all(void);
int lines_watch_this(PyFrameObject *frame);
void lines_unwatch_all(void);
int lines_is_taken(void);

#endif
