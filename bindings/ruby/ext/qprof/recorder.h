/* recorder.h: what the files of the Ruby extension qprof/recorder share.
 *
 * Everything here runs with the GVL held. Ruby's events come to calls.c, which keeps the open calls of each
 * fiber; methods.c knows what is called, and lines.c counts lines. Nothing here raises. */
#ifndef QPROF_RUBY_RECORDER_H
#define QPROF_RUBY_RECORDER_H

#include <ruby.h>
#include <ruby/debug.h>
#include <stdint.h>

#include "qprof/embed.h"

/* How the argument of an event begins, since Ruby 2.1. Init_recorder() tries whether it does. */
typedef struct {
    rb_event_flag_t event;
    const void *ec; /* of the fiber that runs */
    uintptr_t
        cfp; /* of the innermost frame; of a C function's events mostly its caller's. Stacks grow down */
    VALUE self;
} event_head;

/* ---- what is recorded -------------------------------------------------------------------- */

typedef enum {
    KIND_METHOD,
    KIND_C,
    KIND_BLOCK,
    KIND_BODY, /* of a class or module */
    KIND_FILE  /* what is in a file and in none of the others */
} kind;

/* A function of a covered file: all of its lines are counted. */
typedef struct cover_function {
    qprof_MethodID id;
    int kind, first_line;
    char is_claimed;     /* it was called, and has the name of that call */
    char has_entry;      /* the first counter is of its calls */
    unsigned counted_by; /* the thread whose counters are known; 0: none */
    uint32_t changes;    /* qprof_changes() when they were asked for */
    uint64_t *counters;
} cover_function;

enum { CREATES_NOTHING, CREATES_SELF, CREATES_RESULT };

/* A method, block or body. What has the same kind, name, file and first line shares it. */
typedef struct {
    qprof_MethodID id; /* 0: not recorded, because it is of this gem */
    cover_function *cover;
    char creates_thread; /* CREATES_* */
} definition;

/* A call that is open. */
typedef struct {
    uintptr_t place; /* where its frame is; NO_PLACE: it was open before the run */
    qprof_token
        token; /* of the innermost call that is recorded: this one, or one below; 0: none */
    const definition *of;
    char kind, is_recorded;
} open_call;

#define NO_PLACE UINTPTR_MAX

/* A thread of Ruby. */
typedef struct {
    qprof_vm vm;      /* its main stack is not used: each fiber has one of its own */
    unsigned number;  /* 1, 2, ... */
    unsigned run;     /* whose vm it is */
    uint64_t creator; /* path of the call that created it; 0: unknown */
    struct fiber *running;
} thread;

/* A fiber, or what a thread executes outside of its fibers. */
typedef struct fiber {
    qprof_stack stack;
    open_call *calls; /* [n_calls] of n_room, outermost first */
    size_t n_calls, n_room;
    thread *thread;
    VALUE thread_record; /* owns `thread` */
    unsigned run;
} fiber;

typedef struct {
    qprof_vm vm;  /* opens and closes the run */
    unsigned run; /* counts runs, from 1 */
    char is_on, has_calls, has_lines;
    char is_recording;  /* not paused */
    char is_forked;     /* this process is a child that has had no event yet */
    unsigned wants;     /* QPROF_WANT_* */
    uint32_t changes;   /* qprof_changes() when they were asked for */
    size_t frame_bytes; /* of Ruby's frames */
    fiber *scratch;     /* receives all events while costs are measured; NULL: they are not */
    VALUE scratch_thread;
    int pending; /* what a call of Ruby code has raised, for rb_jump_tag(); 0: nothing */
} recorder_state;

extern recorder_state recorder;

/* ---- calls.c ----------------------------------------------------------------------------- */

/** Once. @return 0: this Ruby has other events */
int calls_open(void);
void calls_hook(void);
void calls_unhook(void);
/** Calls that are open continue: of this fiber. @param labels  of its frames but for the innermost C function */
void calls_open_frames(VALUE labels);
/** The program's own code begins, outside of all methods. */
void calls_open_main(const char *file);
/** End what is open in this fiber. */
void calls_close_all(void);
/** A request begins in the method that runs, and ends there. */
void calls_enter_request(const char *endpoint, const char *traceparent);
void calls_leave_request(int has_failed);
/** The next event asks which fiber runs. */
void calls_forget_running(void);
void calls_measure(VALUE cost);

/* ---- methods.c --------------------------------------------------------------------------- */

void methods_open(void);
/** A run begins: no method is known. */
void methods_begin_run(void);
/** Code below this folder, and methods of this class, are not recorded. */
void methods_set_own(VALUE folder, VALUE recorder_class);
/** What an event is of. @return NULL: no memory */
const definition *method_of(rb_trace_arg_t *arg, kind kind);
/** The same for a frame of rb_profile_frames(). @param kind  receives KIND_*. @return NULL: it is of this gem */
const definition *method_of_frame(VALUE frame, int *kind);
const definition *method_main(const char *file);
/** Of what is measured: of Ruby and of C. */
extern definition nothing_of_ruby, nothing_of_c;

/* ---- lines.c ----------------------------------------------------------------------------- */

typedef struct cover_file cover_file;

void lines_open(void);
void lines_begin_run(void);
/** What is known of a file. Code of Ruby runs, and other threads may, if it was not met yet.
 * @return NULL: it is not covered */
cover_file *lines_file(VALUE path);
/** A function of the file that has this first line; NULL: none */
cover_function *lines_function(cover_file *file, int kind, int first_line);
/** A line begins. */
void lines_execute(rb_trace_arg_t *arg, const fiber *f);
/** A function is called. */
void lines_enter(cover_function *c, const fiber *f);
void lines_mark(void);
void lines_set_chooser(VALUE chooser);
/** Register what the program has not loaded. */
VALUE lines_add_file(VALUE self, VALUE path);

#endif
