/* qprof.h: the interpreter interface of libqprof.
 *
 * A host reports what it executes: threads, methods, entries, exits, blocks, counts. The library
 * keeps a shadow stack and a call tree for each thread in one file that is readable at any time:
 * while the program runs, after a crash, after qprof_shutdown().
 *
 * Every call is safe with any argument, in any state, on any thread: what makes no sense is
 * ignored and counted (qprof_diagnostic()). No call changes errno, a signal, the floating-point
 * environment or the working directory of the host, and none prints unless an option asks it to.
 * Guide: docs/embedding.md. What the figures mean: docs/measurement.md. */
#ifndef QPROF_H
#define QPROF_H

#include <stddef.h>
#include <stdint.h>

#include "qprof/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

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

typedef uintptr_t qprof_MethodID; /* 0: no method */
typedef uintptr_t qprof_StackID;  /* 0: no real frame */
typedef uintptr_t qprof_ThreadID;
typedef uintptr_t VthreadID; /* compared for equality only */
typedef uint64_t qprof_Counts;

/* One entry of a line table: code from code_offset up to the next entry's comes from this line. A
 * first entry at a negative offset has no code: it is where the method is declared. */
typedef struct {
    int code_offset;
    int line_number;
} qprof_LineInfo;

typedef struct {
    int version; /* 0 */
    const char *initial_options;
    void (*callback_get_method_info)(qprof_MethodID);
    int usingVirtualThreads;
} qprof_InitInfo;

enum {
    QPROF_METHOD_FLAGS_NONE = 0,
    QPROF_METHOD_FLAGS_BLOCKS = 1, /* the method blocks the execution */
    QPROF_METHOD_FLAGS_WAITS = 2   /* synchronous method that waits for a system return */
};

/* Pseudo-methods that may be entered without registration. */
#define QPROF_METHOD_GC       ((qprof_MethodID)UINTPTR_MAX - 15) /* <Garbage collector> */
#define QPROF_METHOD_COMPILER ((qprof_MethodID)UINTPTR_MAX - 14) /* <Compiler> */
#define QPROF_METHOD_LOADER   ((qprof_MethodID)UINTPTR_MAX - 13) /* <Loader> */
#define QPROF_METHOD_NATIVE   ((qprof_MethodID)UINTPTR_MAX - 12) /* <Native> */

enum {
    QPROF_E_ARG = -1,         /* bad argument */
    QPROF_E_VERSION = -2,     /* unsupported structure version */
    QPROF_E_STATE = -3,       /* not possible now */
    QPROF_E_OPTION = -4,      /* bad option value */
    QPROF_E_MEMORY = -5,      /* out of memory */
    QPROF_E_IO = -6,          /* file error */
    QPROF_E_SYNTAX = -7,      /* syntax error in a pattern or configuration */
    QPROF_E_UNSUPPORTED = -8, /* not available here */
    QPROF_E_NOTFOUND = -9,    /* unknown id or name */
    QPROF_E_LIMIT = -10       /* a maximum is reached */
};

/* What the host should send: bits of qprof_wants(). */
enum {
    QPROF_WANT_CALLS = 1 << 0,
    QPROF_WANT_LINES = 1 << 1,
    QPROF_WANT_BLOCKS = 1 << 2,
    QPROF_WANT_BLOCK_TIME = 1 << 3,
    QPROF_WANT_COUNTS = 1 << 4,
    QPROF_WANT_TRACE = 1 << 5,
    QPROF_WANT_PARAMETERS = 1 << 6,
    QPROF_WANT_SAMPLES = 1 << 7,
    QPROF_WANT_COVERAGE =
        1 << 8,                /* every method that exists is to be registered, called or not */
    QPROF_WANT_ALONE = 1 << 9, /* coverage alone: hosts with counters need send no entries */
    QPROF_WANT_STACK = 1 << 10,  /* samples alone: qprof_stack_entry() is enough */
    QPROF_WANT_SHADOW = 1 << 11, /* others look at the stack: it must be kept here */
    QPROF_WANT_GATE =
        1 << 12 /* what hosts count in place stands while qprof_is_counting() is 0 */
};

/* ---- life ---------------------------------------------------------------------------------- */

/** Start a run. Same as qprof_initialize_ex with version 0 and system threads.
 *
 * @param initial_options  "-name=value …", docs/options.md; NULL or "": defaults and $QPROF
 * @param callback         asked once for each unknown method id, on the entering thread, before
 *                         the entry is recorded and with no lock held; may be NULL
 * @return 0; QPROF_E_STATE: already running; QPROF_E_OPTION: a known option has a bad value;
 *         QPROF_E_SYNTAX: the words or a configuration file cannot be read;
 *         QPROF_E_UNSUPPORTED: the machine has no such clock; QPROF_E_MEMORY, QPROF_E_IO. The
 *         library stays uninitialised then, and qprof_error_text() says what was wrong
 * Threads: any; one of several at once succeeds. Cost: under a millisecond. */
QPROF_API int _EXT_REF qprof_initialize(const char *initial_options,
                                        void (*callback)(qprof_MethodID));

/** Start a run. @param info  borrowed for the call; version must be 0
 * @return as qprof_initialize; QPROF_E_ARG: info is NULL; QPROF_E_VERSION: version is not 0 */
QPROF_API int _EXT_REF qprof_initialize_ex(qprof_InitInfo *info);

/** End the run: close all open frames at one time, seal the file, move it to its output name.
 * A process that exits without it gets the same from an exit handler. Threads: any; idempotent. */
QPROF_API void _EXT_REF qprof_shutdown(void);
QPROF_API void _EXT_REF qprof_shutdown_vt(VthreadID);

/** Value of an option in force. Name with or without hyphen; case, '-' and '_' do not matter.
 * @return const char * of text options, valid until shutdown; the value itself of yes/no options
 *         and numbers; NULL: unknown, or 0 */
QPROF_API void *_EXT_REF qprof_get_option(const char *name);

/** Which events the host should send: QPROF_WANT_* bits; 0 when not running. Sending others is
 * harmless. Ask again when qprof_changes() has grown. */
QPROF_API unsigned _EXT_REF qprof_wants(void);

/** How often in this run what qprof_wants() says, or which counters qprof_counter_bank() gives, has
 * become another: by a call of the host's, or by a configuration from outside; and, behind it, how
 * often the counters were zeroed, which the first number counts, too: frames that are open then are
 * joined where they stand.
 * @return where the two are, for hosts that look at every entry. Never NULL; they stay there
 * Threads: any. */
QPROF_API const uint32_t *_EXT_REF qprof_changes(void);

/* ---- threads ------------------------------------------------------------------------------- */

/** Bind the calling system thread to an id of the host's, or announce a virtual thread. A thread
 * that was never announced is known from its first event on. */
QPROF_API void _EXT_REF qprof_thread_create(qprof_ThreadID);
QPROF_API void _EXT_REF qprof_thread_create_vt(qprof_ThreadID, VthreadID);

/** Name the calling thread (the virtual thread last named by a _vt call there). Copied. */
QPROF_API void _EXT_REF qprof_set_thread_name(const char *);
QPROF_API void _EXT_REF qprof_set_thread_name_vt(const char *, VthreadID);

/** End a thread: its open frames are closed now, its data stay. The id may come again. */
QPROF_API void _EXT_REF qprof_thread_destroy(qprof_ThreadID);
QPROF_API void _EXT_REF qprof_thread_destroy_vt(VthreadID);

/** The handle of the calling thread, for qprof_entry() and qprof_exit().
 *
 * @param version  QPROF_INLINE_VERSION
 * @return never NULL; where it cannot be had (not running, other version, no memory) a handle
 *         whose gate is closed. Valid until shutdown, harmless for ever: ask again after it
 * Threads: the calling one drives it; nobody else may meanwhile. */
QPROF_API qprof_thread *_EXT_REF qprof_thread_handle(unsigned version);

/** The handle of a virtual thread, which is created if need be. Not mounted: see
 * qprof_thread_mount(). */
QPROF_API qprof_thread *_EXT_REF qprof_thread_handle_vt(VthreadID, unsigned version);

/** The calling system thread goes on with this virtual thread; the former one is parked and its
 * clock stands. What the _vt calls do by themselves, hosts with handles say.
 * @return the handle that was mounted before, to be mounted again; a closed one if none was
 * Cost: about a clock read. While another system thread, which has lost its processor, is letting this
 * one go it waits, for a second at most. */
QPROF_API qprof_thread *_EXT_REF qprof_thread_mount(qprof_thread *);

/* ---- methods ------------------------------------------------------------------------------- */

/** Describe a method. Everything is copied before the call returns.
 *
 * @param id                 not 0, not reserved but for the pseudo-methods; never re-used in a run
 * @param demangled_name     used in all data; NULL counts as ""
 * @param class_name         NULL: none
 * @param flags              QPROF_METHOD_FLAGS_*
 * @param source_file        as it is to be shown; NULL counts as ""
 * @param line_number_table  [line_number_size] sorted by code_offset; an entry is a basic block
 * Errors are counted: bad_method_id, method_reregistered (ignored), unsorted_line_table, e_arg.
 * Threads: any. */
QPROF_API void _EXT_REF qprof_register_method_id(qprof_MethodID id, const char *demangled_name,
                                                 const char *class_name, int flags,
                                                 const char *source_file,
                                                 const qprof_LineInfo *line_number_table,
                                                 int line_number_size);
QPROF_API void _EXT_REF qprof_register_method_id_vt(qprof_MethodID id,
                                                    const char *demangled_name,
                                                    const char *class_name, int flags,
                                                    const char *source_file,
                                                    const qprof_LineInfo *line_number_table,
                                                    int line_number_size, VthreadID);

/** Module of the methods that are registered from now on; NULL or "": the program's name. */
QPROF_API void _EXT_REF qprof_set_module(const char *name);

/** Line of a code offset, or -1. */
QPROF_API int _EXT_REF qprof_line_at(qprof_MethodID, int code_offset);
/** Index in the line table of a code offset, or -1. */
QPROF_API int _EXT_REF qprof_block_at(qprof_MethodID, int code_offset);

/** The method on top of the calling thread's shadow stack; 0: the stack is empty. */
QPROF_API qprof_MethodID _EXT_REF qprof_current_method_id(void);
QPROF_API qprof_MethodID _EXT_REF qprof_current_method_id_vt(VthreadID);

/* ---- events -------------------------------------------------------------------------------- */

/** A method is entered.
 *
 * A signal handler may record, too, if it leaves the stack as it found it; what it records inside
 * another event of its thread is dropped and counted (reentrant).
 * @param stack_id  names the new frame, for exits that come back to it; opaque, compared for
 *                  equality only; 0: matches nothing */
QPROF_API void _EXT_REF qprof_record_fn_entry(qprof_MethodID, qprof_StackID stack_id);
QPROF_API void _EXT_REF qprof_record_fn_entry_vt(qprof_MethodID, qprof_StackID stack_id,
                                                 VthreadID);

/** Execution is back in a frame: everything above it ends now.
 * @param stack_id  given at the entry of the frame that RESUMES, the innermost with that id;
 *                  0: no frame resumes, the whole stack ends. An id that is not on the stack
 *                  ends everything (-unknown-exit=ignore: nothing) and is counted when more
 *                  than one frame was open */
QPROF_API void _EXT_REF qprof_record_fn_exit(qprof_StackID stack_id);
QPROF_API void _EXT_REF qprof_record_fn_exit_vt(qprof_StackID stack_id, VthreadID);

/** Add n units to the metric "counts" of the call on top. With -clock=counts they are the time. */
QPROF_API void _EXT_REF qprof_record_counts(qprof_Counts n);
QPROF_API void _EXT_REF qprof_record_counts_vt(qprof_Counts n, VthreadID);

/** Block bb_num of the method on top was executed n more times.
 * @param bb_num  0-based index in the method's line table */
QPROF_API void _EXT_REF qprof_record_bb_counts(int bb_num, qprof_Counts n);
QPROF_API void _EXT_REF qprof_record_bb_counts_vt(int bb_num, qprof_Counts n, VthreadID);

/** Block bb_num of the method on top begins now: time up to the next mark or the exit is its. */
QPROF_API void _EXT_REF qprof_record_bb_time(int bb_num);
QPROF_API void _EXT_REF qprof_record_bb_time_vt(int bb_num, VthreadID);

/* ---- counters that the host increments itself ------------------------------------------------ */

/* A jump that the host counts, between two blocks (indices of the line table). */
typedef struct {
    int from_block; /* or QPROF_JUMP_* */
    int to_block;
} qprof_JumpInfo;

enum {
    QPROF_JUMP_LEFT = -1,  /* the method is left in mid-block; to_block is where */
    QPROF_JUMP_ENTRY = -2, /* the method is entered: the host counts its calls, too */
    QPROF_JUMP_JOINED = -3 /* it is counted from mid-block on; to_block is where */
};

/** Say how the blocks of a registered method follow each other, so that the host need count only
 * the jumps that it takes. Executions of block b = (b is 0 ? calls of the method : 0) + jumps
 * into b + what falls into it from block b - 1 (its executions less the jumps out of it and the
 * exits in mid-block, more what was joined there, if falls[b - 1]). The calls are those of the call tree or, where a jump is
 * a QPROF_JUMP_ENTRY, that counter's. A block that may go on in the next one and has a jump is a
 * branch: both its ways are known.
 *
 * @param jumps    [n_jumps] counter k of a bank counts jump k
 * @param falls    [entries of the line table] not 0: execution may go on in the next block
 * @return 0; QPROF_E_NOTFOUND: unknown method; QPROF_E_ARG: a block out of range, said twice;
 *         QPROF_E_STATE; QPROF_E_MEMORY. Copied. Threads: any. */
QPROF_API int _EXT_REF qprof_register_jumps(qprof_MethodID, const qprof_JumpInfo *jumps,
                                            int n_jumps, const unsigned char *falls);

/** The calling thread's counters of a method: [n_jumps] after qprof_register_jumps() returned 0,
 * else one a block. They lie in the profile file; the host increments them with plain stores, while
 * qprof_is_counting(). Where that changes in mid-block, QPROF_JUMP_LEFT and _JOINED say so.
 * Ask before the method's first call on this system thread: block 0 executes once a call.
 * @return NULL: not running, unknown method, nothing to count (as areas say), no memory. Valid until
 *         shutdown, but ask again when qprof_changes() has grown;
 *         the memory stays mapped until the next run has begun
 * Threads: the bank belongs to the calling system thread. Cost: a look-up; keep the pointer. */
QPROF_API uint64_t *_EXT_REF qprof_counter_bank(qprof_MethodID);

/* ---- coverage ------------------------------------------------------------------------------ */

/** What is executed from now on, on any thread, belongs to this context, for example a test.
 *
 * A name that comes again goes on where it stopped. Frames that are open keep their hits up to
 * here; what they do next is the new context's. Hosts that count jumps say where frames stand: 1 more
 * in their QPROF_JUMP_LEFT counters before this call, 1 more in those of _JOINED behind it.
 * @param name  copied; NULL or "": no context
 * @return 0; QPROF_E_STATE: not running, or called inside another control call; QPROF_E_MEMORY:
 *         hits stay with the former context
 * Threads: any. Cost: one look at every counter bank and call path; nothing is added to events. */
QPROF_API int _EXT_REF qprof_context(const char *name);

/** Say which text a source file had when its code was loaded: reports tell by it whether the
 * file has changed since, and refuse to merge counters of different texts. What is kept is its
 * length and a digest.
 * @param file  as given to qprof_register_method_id()
 * @return 0; QPROF_E_ARG, QPROF_E_STATE, QPROF_E_MEMORY. Said again: the last text counts.
 * Threads: any. Cost: a pass over the text. */
QPROF_API int _EXT_REF qprof_register_source(const char *file, const void *text,
                                             size_t n_bytes);

/** The environment variable that this library reads its options from, "QPROF" or "CPROF": a host
 * that records only when asked to looks there. Static. */
QPROF_API const char *_EXT_REF qprof_environment(void);

/* ---- PC sampling --------------------------------------------------------------------------- */

/* Interrupts that a timer makes, or qprof_pc_sample(), are credited to the procedure that is
 * running (shallow) and to all that are active (deep): docs/sampling.md. */

enum { QPROF_PC_VIRTUAL = 1, QPROF_PC_REAL = 2, QPROF_PC_DEEP = 4 };

typedef struct {
    uint64_t occurred, counted, skipped, critical, foreign; /* counted + skipped = occurred */
    int kind;                                               /* QPROF_PC_VIRTUAL or _REAL */
    unsigned long interval, measured;                       /* microseconds */
} qprof_PcTotals;

typedef struct qprof_PcPattern qprof_PcPattern;

/** What this machine can do: QPROF_PC_* bits. */
QPROF_API unsigned _EXT_REF qprof_pc_supported(void);

/** Sample from now on: "PC {VIRTUAL|REAL} {microseconds} {WHEN pattern ;}", the word PC optional,
 * keywords by any prefix. Before the first entry; replaces the command before.
 * @param error_column  receives where a mistake is, from 1; may be NULL
 * @return 0; QPROF_E_STATE: not running, or too late; QPROF_E_SYNTAX; QPROF_E_LIMIT: the pattern
 *         is too large; QPROF_E_ARG. qprof_error_text() says what was wrong */
QPROF_API int _EXT_REF qprof_pc_command(const char *text, int *error_column);
/** No timer from now on; what was counted stays. @return 0; QPROF_E_STATE */
QPROF_API int _EXT_REF qprof_pc_off(void);

/** n interrupts on the calling thread, now; with and without a running timer.
 * @return 0; QPROF_E_STATE: no PC command is in force */
QPROF_API int _EXT_REF qprof_pc_sample(unsigned n);

/** The path of a callee, for a host that walks its own stack when qprof_is_due().
 * @param path  of the caller, from this call; 0: it is outermost
 * @return the path, valid for the thread until shutdown; 0: closed handle, no room
 * Threads: the driver of th. Cost: a look-up. */
QPROF_API uint32_t _EXT_REF qprof_path(qprof_thread *th, uint32_t path, qprof_MethodID);
/** Credit the interrupts that wait to this path; 0: to the empty stack. */
QPROF_API void _EXT_REF qprof_sample_path(qprof_thread *th, uint32_t path);

/** What the calling system thread does between the two is a critical section: interrupts there
 * are charged to no procedure. They nest. */
QPROF_API void _EXT_REF qprof_pc_enter_critical(void);
QPROF_API void _EXT_REF qprof_pc_leave_critical(void);

/** Figures so far, by the pattern in force, all threads. @return 0; QPROF_E_ARG; QPROF_E_STATE: no
 * PC command; QPROF_E_MEMORY; QPROF_E_NOTFOUND: unknown method. Cost: a look at every path */
QPROF_API int _EXT_REF qprof_pc_totals(qprof_PcTotals *);
QPROF_API int _EXT_REF qprof_pc_procedure(qprof_MethodID, uint64_t *shallow, uint64_t *deep);

/** Write the report: every procedure, by shallow and by deep count, and the summary.
 * @param file  NULL: where -summary says, else standard output; "-": standard output
 * @return 0; QPROF_E_STATE; QPROF_E_MEMORY; QPROF_E_IO */
QPROF_API int _EXT_REF qprof_pc_list(const char *file);

/** Compile a call pattern. @return NULL: a mistake at *error_column (from 1), or no memory (0).
 * Free with qprof_pc_pattern_free(), which takes NULL. Needs no run. Threads: any. */
QPROF_API qprof_PcPattern *_EXT_REF qprof_pc_pattern_compile(const char *pattern,
                                                             int *error_column);
/** Does a stack count, and whom does it charge?
 * @param frames   [n] "module.procedure", outermost first; NULL: foreign code
 * @param charged  index of the frame, -1: foreignPcs; untouched unless 1 is returned; may be NULL
 * @return 1, 0; QPROF_E_ARG; QPROF_E_MEMORY */
QPROF_API int _EXT_REF qprof_pc_pattern_match(const qprof_PcPattern *,
                                              const char *const *frames, int n, int *charged);
QPROF_API void _EXT_REF qprof_pc_pattern_free(qprof_PcPattern *);

/* ---- data ---------------------------------------------------------------------------------- */

QPROF_API int _EXT_REF qprof_is_running(void);   /* 1 / 0 */
QPROF_API int _EXT_REF qprof_is_recording(void); /* 1 / 0: the run-wide recording flag */

/** Change the recording flag. Stopped: the stack is kept and calls count as skips, but no time
 * is added. @return 1 if it changed, else 0 */
QPROF_API int _EXT_REF qprof_start_recording(void);
QPROF_API int _EXT_REF qprof_stop_recording(void);
/** Off for the rest of the run. @return 1; 0: not running */
QPROF_API int _EXT_REF qprof_disable_recording(void);

/** Zero all figures; open frames go on from now; stacks and methods stay. @return 1; 0: not
 * running. Other threads do their part at their next event. */
QPROF_API int _EXT_REF qprof_clear_data(void);

/** Write a dataset: everything up to now, open frames as if they ended now; recording goes on.
 * @return 1 written, 0 not (not running, nothing to write, file error) */
QPROF_API int _EXT_REF qprof_save_data(void);
/** The same to a file name, with the conversions of docs/options.md; numbers stay as they are. */
QPROF_API int _EXT_REF qprof_save_data_to_file(const char *name);
/** Save, labelled, and clear. @return 1 / 0 as qprof_save_data */
QPROF_API int _EXT_REF qprof_new_phase(const char *label);
/** Attach a text to the next dataset. @return its length; 0 for NULL or when not running */
QPROF_API int _EXT_REF qprof_add_annotation(const char *);

/* ---- configuration, diagnostics ------------------------------------------------------------ */

/** Apply option lines of a file, or one line, as the strongest source. Before the first entry;
 * -memory-limit can only be lowered.
 * @return 0; QPROF_E_STATE: not running, or too late; QPROF_E_IO; QPROF_E_SYNTAX;
 *         QPROF_E_OPTION. Nothing is applied on error; qprof_error_text() says where it is */
QPROF_API int _EXT_REF qprof_load_config(const char *file);
QPROF_API int _EXT_REF qprof_config_line(const char *text);

/** Use this clock instead of the machine's. Before initialise; NULL: the machine's again.
 * @param now  nanoseconds, any thread, may jump. For tests */
QPROF_API void _EXT_REF qprof_set_clock(uint64_t (*now)(void));

/** How often something went wrong or was repaired; names in docs/diagnostics.md. 0: never, or an
 * unknown name. After shutdown: the figure of the last run. */
QPROF_API uint64_t _EXT_REF qprof_diagnostic(const char *name);

typedef struct {
    const char *name; /* static */
    uint64_t count;
} qprof_Diagnostic;

/** All counters that are not 0. @param out  [n_max] filled; may be NULL if n_max is 0
 * @return how many there are, which may be more than n_max */
QPROF_API size_t _EXT_REF qprof_diagnostics(qprof_Diagnostic *out, size_t n_max);

/** Text of a QPROF_E_* code; never NULL. */
QPROF_API const char *_EXT_REF qprof_strerror(int code);
/** What the last failed call on this thread disliked, one line; "" if none failed. */
QPROF_API const char *_EXT_REF qprof_error_text(void);
/** "MAJOR.MINOR.PATCH" */
QPROF_API const char *_EXT_REF qprof_version(void);
/** Where the live profile of this run is; "": nowhere (not running, or no file could be had). */
QPROF_API const char *_EXT_REF qprof_live_file(void);

#ifdef __cplusplus
}
#endif

#include "qprof/events.h"   /* when something happens, do this */
#include "qprof/trace.h"    /* what happened, in order */
#include "qprof/triggers.h" /* when and where to record */
#endif
