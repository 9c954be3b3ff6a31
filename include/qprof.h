/* qprof.h: the interface between an interpreter (the host) and libqprof, from easy to hard.
 *
 * A host reports what it executes: methods, entries, exits, blocks. The library keeps a shadow
 * stack and a call tree for each thread in one file. The file is a readable profile at any
 * time: while the program runs, after a crash, and after qprof_shutdown().
 *
 *   hosting              the six hooks of QII
 *   embedding            what qprof/embed.h, the front door for a runtime, calls
 *   threads              names, virtual threads, handles for the inline event path
 *   names and lines      modules, line tables, the current method
 *   blocks and coverage  block times, counters in place, test contexts, sources
 *   control              what to send; start, stop, clear and save; options
 *   sampling             qprof/sampling.h: PC samples and call patterns
 *   requests             qprof/requests.h: what a server answers, by endpoint
 *   triggers             qprof/triggers.h, qprof/events.h: when and where to record or act
 *   traces               qprof/trace.h: events in order, with values
 *   diagnostics          texts of errors, counters of what went wrong
 *
 * Every function is safe in any state, on any thread, and with any argument that is NULL or a
 * valid pointer: a call that makes no sense is ignored and counted (qprof_diagnostic()). No
 * function changes errno, a signal, the floating-point environment or the working directory of
 * the host. None prints unless an option asks for it. Rules that all functions of a heading
 * share are below the heading. "Source:" names the profiler that a function comes from; QII is
 * the interpreter interface of Rational Quantify and PureCoverage.
 *
 * Guide: docs/embedding.md. What the figures mean: docs/measurement.md. */
#ifndef QPROF_H
#define QPROF_H

#include "qprof/base.h"
#include "qprof/inline.h" /* qprof_entry(), qprof_exit(): events without a call */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hosting: the six hooks -----------------------------------------------------------------
 *
 *     qprof_initialize(NULL, NULL);                  the interpreter starts
 *     qprof_register_method_id(id, "f", NULL, 0,     it loads a method: any id but 0, its name,
 *                              "a.src", NULL, 0);    class, flags, file and line table
 *     qprof_record_fn_entry(id, depth);              it enters the method
 *     qprof_record_bb_counts(block, 1);              optional: it executes a block
 *     qprof_record_fn_exit(depth - 1);               it returns, or unwinds, to the caller
 *     qprof_shutdown();                              it ends
 *
 * `depth` is any number that names a frame: its depth, its address or a counter. An exit names
 * the frame that RESUMES. If qprof_initialize() fails, the others do nothing.
 * Thread safety: any thread may call these functions. */

/** Start recording.
 *
 * Equivalent to qprof_initialize_ex() with version 0 and OS threads.
 *
 * @param initial_options  "-name=value ..." (docs/options.md); NULL or "" means the defaults
 *                         and the environment variable QPROF
 * @param callback         called once for each unknown method id, on the thread that entered
 *                         it, before the entry is recorded; no lock is held; may be NULL
 * @return 0 on success. On error the library stays uninitialized and qprof_error_text()
 *         describes the problem:
 *         - QPROF_E_STATE        already running, or called inside another call of the library
 *         - QPROF_E_OPTION       a known option has an invalid value
 *         - QPROF_E_SYNTAX       the options or a configuration file cannot be parsed
 *         - QPROF_E_UNSUPPORTED  the requested clock is not available on this machine
 *         - QPROF_E_MEMORY, QPROF_E_IO
 * Thread safety: any thread; if several call it at once, one succeeds. Cost: less than 1 ms.
 * Source: QII, initialize. */
QPROF_FN(int) qprof_initialize(const char *initial_options, void (*callback)(qprof_MethodID));

/* One entry of a line table: the code from code_offset up to the next entry's offset comes from
 * this line and is one block. If the first entry has a negative offset, it holds no code: it is
 * the line that declares the method. */
typedef struct {
    int code_offset;
    int line_number;
} qprof_LineInfo;

enum {
    QPROF_METHOD_FLAGS_NONE = 0,
    QPROF_METHOD_FLAGS_BLOCKS = 1, /* the method blocks the execution */
    QPROF_METHOD_FLAGS_WAITS = 2,  /* the method waits for a system call to return */
    QPROF_METHOD_FLAGS_INLINED = 4 /* its calls are part of the native code of their callers */
};

/* Methods that need no registration. */
#define QPROF_METHOD_GC       ((qprof_MethodID)UINTPTR_MAX - 15) /* <Garbage collector> */
#define QPROF_METHOD_COMPILER ((qprof_MethodID)UINTPTR_MAX - 14) /* <Compiler> */
#define QPROF_METHOD_LOADER   ((qprof_MethodID)UINTPTR_MAX - 13) /* <Loader> */
#define QPROF_METHOD_NATIVE   ((qprof_MethodID)UINTPTR_MAX - 12) /* <Native> */

/** Describe a method. Everything is copied.
 *
 * Mistakes are counted as bad_method_id, method_reregistered (the second description is
 * ignored), unsorted_line_table and e_arg.
 *
 * @param id                 any number except 0 and the 16 highest, four of which are the methods
 *                           above and may be described; it must not be reused in a run
 * @param demangled_name     the name in all data; NULL counts as ""
 * @param class_name         NULL for none
 * @param flags              QPROF_METHOD_FLAGS_*
 * @param source_file        as reports show it; NULL counts as ""
 * @param line_number_table  [line_number_size] entries, sorted by code_offset; NULL for none
 * @param line_number_size   number of entries
 * Source: QII, register_method_id. */
QPROF_FN(void)
qprof_register_method_id(qprof_MethodID id, const char *demangled_name, const char *class_name,
                         int flags, const char *source_file,
                         const qprof_LineInfo *line_number_table, int line_number_size);

/** Record the entry of a method on the calling thread.
 *
 * A signal handler may record events if it leaves the stack as it found it. An event that
 * interrupts another event of the same thread is dropped and counted (reentrant).
 *
 * @param method    as registered; the callback is asked about an unknown one
 * @param stack_id  identifies the new frame, for the exit that resumes it: its depth, its
 *                  address or a counter; compared for equality only; 0 matches no exit
 * Cost: as qprof_entry(), and a call and a thread-local load. Source: QII, record_fn_entry. */
QPROF_FN(void) qprof_record_fn_entry(qprof_MethodID method, qprof_StackID stack_id);

/** Record that execution resumes in a frame: all frames above it end now.
 *
 * @param stack_id  as given when the RESUMING frame was entered (the innermost frame with that
 *                  id); 0: no frame resumes, and the whole stack ends. If no frame has the id,
 *                  a single open frame ends, as the method that the host's loop called; of
 *                  several all end (none with -unknown-exit=ignore) and the exit is counted, as
 *                  it is on an empty stack
 * Cost: as an entry. Source: QII, record_fn_exit. */
QPROF_FN(void) qprof_record_fn_exit(qprof_StackID stack_id);

/** Add executions to a block of the method on top of the stack.
 *
 * @param bb_num  index of the block in the method's line table, from 0
 * @param n       number of executions
 * Cost: about 5 ns. Source: QII, record_bb_counts. */
QPROF_FN(void) qprof_record_bb_counts(int bb_num, qprof_Counts n);

/** End the run: close all frames at one moment, finish the file and give it its output name.
 *
 * A process that exits without this call gets the same from an exit handler. A second call has
 * no effect. Source: QII, shutdown. */
QPROF_FN(void) qprof_shutdown(void);

/* ---- embedding ------------------------------------------------------------------------------
 *
 * What qprof/embed.h calls, the front door for a runtime. Include that header instead of calling these.
 * Thread safety: any thread may call these functions. */

/** Begin to use the recorder, and end it. Use qprof_vm_open() and qprof_vm_close().
 *
 * The first user begins a run with virtual threads; the last one ends it.
 *
 * @param version  QPROF_INLINE_VERSION
 * @param options  as for qprof_initialize(); NULL: record only if the environment variable of
 *                 qprof_environment() is set and not empty. Those of the first user count
 * @param run      as returned by qprof_open(); of a run that has ended: nothing happens
 * @return number of the run, above 0; 0: no recording is asked for; else as qprof_initialize(), and
 *         - QPROF_E_VERSION  the host was compiled with the inline header of another version: a file
 *                            is written that says so
 * Thread safety: any thread. Cost: less than 1 ms. */
QPROF_FN(int) qprof_open(unsigned version, const char *options);
QPROF_FN(void) qprof_close(int run);

/** Describe a function, and get an id for it. Everything is copied.
 *
 * @param name        the name in all data; NULL counts as ""
 * @param class_name  NULL for none
 * @param file        as reports show it; NULL counts as ""
 * @param lines       [n_lines] line table, sorted by code offset; NULL for none
 * @param n_lines     number of entries
 * @return the id, valid until the run ends; 0: nothing is recorded
 * Thread safety: any thread. */
QPROF_FN(qprof_MethodID)
qprof_define(const char *name, const char *class_name, const char *file,
             const qprof_LineInfo *lines, int n_lines);

/** Give a function another name, in all data of the run.
 *
 * Triggers and areas have chosen it by the name that it had.
 *
 * @param id          from qprof_define() or qprof_register_method_id(); another id is counted as
 *                    bad_method_id, and nothing happens
 * @param name        NULL counts as ""
 * @param class_name  NULL for none
 * Thread safety: any thread. */
QPROF_FN(void)
qprof_rename(qprof_MethodID id, const char *name, const char *class_name);

/** Say where native code of a function lies, such as a compiler at run time makes.
 *
 * With -perf-map=yes or -jitdump=yes it is written for perf. Otherwise nothing happens.
 *
 * @param id       as for qprof_rename()
 * @param start    of the code, which is complete
 * @param n_bytes  of it, up to 1 GiB. An empty range, or a call from within another one, is counted
 * Thread safety: any thread; it writes to files. */
QPROF_FN(void) qprof_register_code(qprof_MethodID id, const void *start, size_t n_bytes);

/** Forget the id of a function whose code is unloaded: the id may be given to another function.
 *
 * What was recorded stays under its name.
 *
 * @param id  as above; no call of it is open, and no thread enters it meanwhile; 0: nothing happens
 * Thread safety: any thread. */
QPROF_FN(void) qprof_unload(qprof_MethodID id);

/** Make a virtual thread with an id of the library's own, outside of the range of hosts.
 *
 * Beyond -thread-rows threads that live at once the stacks of a VM share one, as qprof/embed.h does: then the
 * caller tells by qprof_token_restore() whose calls continue.
 *
 * @param shared   of the VM, NULL at first: a handle that its stacks share; NULL: this one is not shared
 * @param creator  qprof_thread_path() of the code that created it, which has its time in its total; 0: unknown
 * @return its handle, not mounted; never NULL, as for qprof_thread_handle()
 * Thread safety: only the OS thread that runs the VM. */
QPROF_FN(qprof_thread *) qprof_thread_new(qprof_thread **shared, uint64_t creator);

/** Return the call path on top of a thread, for the virtual threads that its code creates.
 *
 * @param th  any handle
 * @return a number for qprof_thread_new(), valid until shutdown and harmless afterwards; 0: nothing is recorded
 * Thread safety: only the thread that uses the handle. Cost: about 2 ns. */
QPROF_FN(uint64_t) qprof_thread_path(const qprof_thread *th);

/** End a virtual thread: its open frames end now, and its data stay. A shared one ends with its last user.
 *
 * @param th  any handle; a closed one: nothing happens */
QPROF_FN(void) qprof_thread_end(qprof_thread *th);

/* ---- threads --------------------------------------------------------------------------------
 *
 * A thread needs no announcement: its first event creates it. In virtual-thread mode use the
 * functions that end in _vt wherever one exists; a function of the other mode is ignored and
 * counted (wrong_mode). They name the virtual thread in their last parameter, vt, and mount it
 * on the calling OS thread: the one mounted before is suspended and its clock stops.
 *
 * Thread safety: any thread; one virtual thread must not be used by two OS threads at once. */

typedef struct {
    int version; /* 0 */
    const char *initial_options;
    void (*callback_get_method_info)(qprof_MethodID);
    int usingVirtualThreads; /* not 0: virtual-thread mode */
} qprof_InitInfo;

/** Start recording, with OS threads or virtual threads.
 *
 * @param info  read during the call; version must be 0
 * @return as qprof_initialize(), and:
 *         - QPROF_E_ARG      info is NULL
 *         - QPROF_E_VERSION  version is not 0
 * Cost: less than 1 ms. Source: QII, initialize_ex. */
QPROF_FN(int) qprof_initialize_ex(qprof_InitInfo *info);

/** End the run in virtual-thread mode. See qprof_shutdown().
 *
 * @param vt  ignored
 * Source: QII, shutdown_vt. */
QPROF_FN(void) qprof_shutdown_vt(VthreadID vt);

/** Bind the calling OS thread, or a virtual thread, to the host's thread id.
 *
 * @param id  shown in reports; binding an id again ends the thread that had it
 * @param vt  the virtual thread
 * Source: QII, thread_create. */
QPROF_FN(void) qprof_thread_create(qprof_ThreadID id);
QPROF_FN(void) qprof_thread_create_vt(qprof_ThreadID id, VthreadID vt);

/** State which virtual thread created another one: by the call on top of it.
 *
 * Reports show the time of a virtual thread below the calls that created it. qprof_thread_create_vt() assumes
 * the virtual thread that is mounted on the calling OS thread; other hosts call this function before the
 * first event.
 *
 * @param vt      the virtual thread, which is created if necessary
 * @param parent  the one that created it; 0: none
 * Thread safety: none of `parent` is recorded meanwhile. */
QPROF_FN(void) qprof_set_thread_parent_vt(VthreadID vt, VthreadID parent);

/** Name a thread.
 *
 * Without vt: the calling thread; in virtual-thread mode the virtual thread of the most recent
 * _vt call on this OS thread.
 *
 * @param name  copied
 * @param vt    the virtual thread
 * Source: QII, set_thread_name. */
QPROF_FN(void) qprof_set_thread_name(const char *name);
QPROF_FN(void) qprof_set_thread_name_vt(const char *name, VthreadID vt);

/** End a thread: its open frames are closed now and its data stay. The id may be used again.
 *
 * @param id  as given to qprof_thread_create()
 * @param vt  the virtual thread
 * Source: QII, thread_destroy. */
QPROF_FN(void) qprof_thread_destroy(qprof_ThreadID id);
QPROF_FN(void) qprof_thread_destroy_vt(VthreadID vt);

/** Describe a method. Methods belong to the run, so this equals qprof_register_method_id().
 *
 * @param id                 see qprof_register_method_id()
 * @param demangled_name     see there
 * @param class_name         see there
 * @param flags              see there
 * @param source_file        see there
 * @param line_number_table  see there
 * @param line_number_size   see there
 * @param vt                 ignored
 * Source: QII, register_method_id_vt. */
QPROF_FN(void)
qprof_register_method_id_vt(qprof_MethodID id, const char *demangled_name,
                            const char *class_name, int flags, const char *source_file,
                            const qprof_LineInfo *line_number_table, int line_number_size,
                            VthreadID vt);

/** Record an entry, an exit or executions of a block on a virtual thread.
 *
 * The same as qprof_record_fn_entry(), qprof_record_fn_exit() and qprof_record_bb_counts().
 *
 * @param method    the method that is entered
 * @param stack_id  of the new frame; of the frame that resumes
 * @param bb_num    index of the block
 * @param n         number of executions
 * @param vt        the virtual thread
 * Source: QII, record_fn_entry_vt, record_fn_exit_vt. */
QPROF_FN(void)
qprof_record_fn_entry_vt(qprof_MethodID method, qprof_StackID stack_id, VthreadID vt);
QPROF_FN(void) qprof_record_fn_exit_vt(qprof_StackID stack_id, VthreadID vt);
QPROF_FN(void) qprof_record_bb_counts_vt(int bb_num, qprof_Counts n, VthreadID vt);

/** Return the handle of the calling thread, for qprof_entry() and qprof_exit().
 *
 * @param version  QPROF_INLINE_VERSION
 * @return a handle, never NULL: a closed one, which ignores events, if the library is not
 *         running, has another version or no memory. It is valid until shutdown and
 *         harmless afterwards; ask again in the next run
 * Thread safety: only the calling thread may use the handle. */
QPROF_FN(qprof_thread *) qprof_thread_handle(unsigned version);

/** Return the handle of a virtual thread, which is created if necessary but not mounted.
 *
 * @param vt       the virtual thread
 * @param version  QPROF_INLINE_VERSION
 * @return as qprof_thread_handle() */
QPROF_FN(qprof_thread *) qprof_thread_handle_vt(VthreadID vt, unsigned version);

/** Mount a virtual thread on the calling OS thread.
 *
 * The previously mounted virtual thread is suspended and its clock stops. Functions ending in
 * _vt mount automatically; hosts that use handles call this function.
 *
 * @param th  from qprof_thread_handle_vt()
 * @return the handle that was mounted before, or a closed handle if there was none
 * Cost: about 6 ns, and a clock read with -time=exact or adaptive; more while anything is traced or
 * looked at by event triggers. If another OS thread is still releasing this virtual thread,
 * waits for at most one second. */
QPROF_FN(qprof_thread *) qprof_thread_mount(qprof_thread *th);

/* ---- names and lines ------------------------------------------------------------------------
 *
 * Thread safety: any thread may call these functions. */

/** Set the module of the methods that are registered from now on.
 *
 * @param name  copied; NULL or "" means the program's name */
QPROF_FN(void) qprof_set_module(const char *name);

/** Return the line of a code offset.
 *
 * @param id           a registered method
 * @param code_offset  any offset; one before the first entry belongs to the first
 * @return the line, or -1 if the method is unknown or has no line table */
QPROF_FN(int) qprof_line_at(qprof_MethodID id, int code_offset);

/** Return the block of a code offset.
 *
 * @param id           a registered method
 * @param code_offset  any offset, as for qprof_line_at()
 * @return the index in the line table, or -1 if the method is unknown or has no line table */
QPROF_FN(int) qprof_block_at(qprof_MethodID id, int code_offset);

/** Return the method on top of the stack of the calling thread, or of a virtual thread.
 *
 * @param vt  the virtual thread
 * @return the method's id, or 0 if the stack is empty
 * Source: QII, current_method_id. */
QPROF_FN(qprof_MethodID) qprof_current_method_id(void);
QPROF_FN(qprof_MethodID) qprof_current_method_id_vt(VthreadID vt);

/* ---- blocks and coverage --------------------------------------------------------------------
 *
 * A block is an entry of a method's line table. A host reports executed blocks with
 * qprof_record_bb_counts(), or increments counters of the library in place: one a block, or
 * with qprof_register_jumps() one a jump.
 *
 * Thread safety: any thread may call these functions. */

/** Add units to the metric "counts" of the call on top of the stack.
 *
 * With -clock=counts these units are the time. No effect in libcprof.
 *
 * @param n   number of units
 * @param vt  the virtual thread
 * Source: QII, record_counts. */
QPROF_FN(void) qprof_record_counts(qprof_Counts n);
QPROF_FN(void) qprof_record_counts_vt(qprof_Counts n, VthreadID vt);

/** Begin a block of the method on top of the stack.
 *
 * The time up to the next begin or the exit of the call is charged to it. No effect in
 * libcprof.
 *
 * @param bb_num  index of the block in the method's line table
 * @param vt      the virtual thread
 * Source: QII, record_bb_time. */
QPROF_FN(void) qprof_record_bb_time(int bb_num);
QPROF_FN(void) qprof_record_bb_time_vt(int bb_num, VthreadID vt);

/* A jump between two blocks that the host counts. */
typedef struct {
    int from_block; /* or QPROF_JUMP_* */
    int to_block;
} qprof_JumpInfo;

enum {
    QPROF_JUMP_LEFT = -1,  /* counting ends in the middle of to_block */
    QPROF_JUMP_ENTRY = -2, /* the method is entered: the host also counts its calls */
    QPROF_JUMP_JOINED = -3 /* counting begins in the middle of to_block */
};

/** Describe how the blocks of a method follow each other, so that the host counts only jumps.
 *
 * Executions of block b are the sum of:
 *   - the calls of the method, if b is 0: of the call tree, or the count of the
 *     QPROF_JUMP_ENTRY
 *   - the counts of the jumps to b
 *   - if falls[b - 1]: the executions of block b - 1, less the jumps from it and its
 *     QPROF_JUMP_LEFT, plus its QPROF_JUMP_JOINED
 *
 * A block that has a jump and can fall into the next one is a branch, of which both ways are
 * known.
 *
 * @param id       a registered method with a line table
 * @param jumps    [n_jumps] jumps; counter k of qprof_counter_bank() counts jump k; copied
 * @param n_jumps  number of jumps
 * @param falls    [entries of the line table]; not 0 if execution can continue in the next
 *                 block; copied
 * @return 0 on success, else
 *         - QPROF_E_NOTFOUND  unknown method
 *         - QPROF_E_ARG       a block is out of range, or the jumps are already described
 *         - QPROF_E_STATE, QPROF_E_MEMORY */
QPROF_FN(int)
qprof_register_jumps(qprof_MethodID id, const qprof_JumpInfo *jumps, int n_jumps,
                     const unsigned char *falls);

/** Tell how many instructions of the host's machine each block of a method has.
 *
 * Where blocks are counted, the instructions that each function and line executed follow: an exact measure
 * of work, which does not depend on the machine.
 *
 * @param id              a registered method with a line table
 * @param n_instructions  [n_blocks] of the blocks in the order of that table; copied
 * @param n_blocks        entries of the line table
 * @return 0 on success, else
 *         - QPROF_E_NOTFOUND  unknown method
 *         - QPROF_E_ARG       it has another number of blocks, or its instructions are known
 *         - QPROF_E_STATE, QPROF_E_MEMORY
 * Thread safety: any thread. Cost: as the registration. */
QPROF_FN(int)
qprof_register_instructions(qprof_MethodID id, const unsigned *n_instructions, int n_blocks);

/** Return the calling OS thread's counters of a method, for the host to increment in place.
 *
 * They lie in the profile file. Increment them with plain stores, and only while
 * qprof_is_counting(); where that changes in the middle of a block, count a QPROF_JUMP_LEFT or
 * QPROF_JUMP_JOINED. Ask before the first call of the method on this OS thread, because a call
 * executes block 0.
 *
 * @param id  a registered method
 * @return [n_jumps] counters after qprof_register_jumps() succeeded, else one a block; NULL if
 *         not running, unknown method, nothing to count (by areas; without QPROF_WANT_BLOCKS
 *         unless the method has one jump, a QPROF_JUMP_ENTRY), or out of memory. Valid
 *         until shutdown; ask again when qprof_changes() has changed. The memory stays mapped
 *         until the next run begins
 * Thread safety: the counters belong to the calling OS thread. Cost: one look-up; keep the
 * pointer. */
QPROF_FN(uint64_t *) qprof_counter_bank(qprof_MethodID id);

/** Switch to a context, for example a test: what any thread executes from now on belongs to it.
 *
 * Reusing a name resumes that context. Open frames keep the hits they have; what they execute
 * next belongs to the new context. Hosts that count jumps show where their frames are: they
 * increment the QPROF_JUMP_LEFT counter of each open frame before this call and its
 * QPROF_JUMP_JOINED after it.
 *
 * @param name  copied; NULL or "" means no context
 * @return 0 on success, else
 *         - QPROF_E_STATE   not running, or called inside another control function
 *         - QPROF_E_MEMORY  hits stay with the former context
 * Cost: one look at every counter block and call path; events cost nothing more. */
QPROF_FN(int) qprof_context(const char *name);

/** Record the text of a source file as it was when its code was loaded.
 *
 * Length and digest are kept. Reports use them to notice that a file has changed, and refuse to
 * merge counters of different texts. A later call replaces the text.
 *
 * @param file     as given to qprof_register_method_id()
 * @param text     the bytes of the file
 * @param n_bytes  number of bytes
 * @return 0, QPROF_E_ARG, QPROF_E_STATE or QPROF_E_MEMORY
 * Cost: one pass over the text. */
QPROF_FN(int) qprof_register_source(const char *file, const void *text, size_t n_bytes);

/** Tell which sources a generated file comes from, by its source map, version 3 or an index map of such.
 *
 * Functions of the file that are registered from now on have the file and the lines of their source: in
 * reports, coverage, traces and triggers. The first column of each generated line counts. Paths in the map
 * are relative to the folder of the file. A later call replaces the map.
 *
 * @param file     as given to qprof_register_method_id()
 * @param map      the JSON text; not kept
 * @param n_bytes  its length
 * @return 0, QPROF_E_ARG, QPROF_E_STATE, QPROF_E_MEMORY or QPROF_E_SYNTAX
 * Cost: one pass over the map; 8 bytes of the run's memory for each generated line. */
QPROF_FN(int) qprof_set_source_map(const char *file, const char *map, size_t n_bytes);

/* ---- control --------------------------------------------------------------------------------
 *
 * What a host asks and commands while a run is on. Time, calls and counts are recorded while
 * the recording flag is on; -record-data sets its first value.
 *
 * Thread safety: any thread; the functions that change a run wait for each other, and fail
 * inside a callback or action of the library. */

/* What the host should send: bits of qprof_wants(). */
enum {
    QPROF_WANT_CALLS = 1 << 0,          /* entries and exits */
    QPROF_WANT_LINES = 1 << 1,          /* line tables */
    QPROF_WANT_BLOCKS = 1 << 2,         /* qprof_record_bb_counts() */
    QPROF_WANT_BLOCK_TIME = 1 << 3,     /* qprof_record_bb_time() */
    QPROF_WANT_COUNTS = 1 << 4,         /* qprof_record_counts() */
    QPROF_WANT_TRACE = 1 << 5,          /* qprof_trace_call(), _return(), _line() */
    QPROF_WANT_PARAMETERS = 1 << 6,     /* qprof_trace_parameter(), _result() */
    QPROF_WANT_SAMPLES = 1 << 7,        /* <Native> frames, critical sections */
    QPROF_WANT_COVERAGE = 1 << 8,       /* registration of every method, called or not */
    QPROF_WANT_ALONE = 1 << 9,          /* coverage only: with counters in place, no entries */
    QPROF_WANT_STACK = 1 << 10,         /* samples only: qprof_stack_entry() suffices */
    QPROF_WANT_SHADOW = 1 << 11,        /* entries and exits: another program reads the stack */
    QPROF_WANT_GATE = 1 << 12,          /* counts in place only while qprof_is_counting() */
    QPROF_WANT_SAMPLE_BLOCKS = 1 << 13, /* qprof_on_samples(), qprof_sample_block() */
    QPROF_WANT_MEMORY = 1 << 14         /* qprof_record_alloc(), _free(), _resize() */
};

/** Return which events the host should send. Sending others is harmless.
 *
 * @return QPROF_WANT_* bits; 0 if not running. Ask again when qprof_changes() has changed */
QPROF_FN(unsigned) qprof_wants(void);

/** Return two counters that change whenever the host's cached state becomes stale.
 *
 * The first increases when the result of qprof_wants() or of qprof_counter_bank() changes, and
 * when counters are cleared. The second increases only when counters are cleared. Hosts that
 * count in place poll them at function entry; frames that are open at that moment resume
 * mid-block.
 *
 * @return a pointer to [2] counters that is never NULL and stays valid for the life of the
 *         process
 * Cost: one load. */
QPROF_FN(const uint32_t *) qprof_changes(void);

/** Return whether a run is on.
 *
 * @return 1 or 0 */
QPROF_FN(int) qprof_is_running(void);

/** Return the recording flag of the run.
 *
 * @return 1 or 0
 * Source: the data API of Quantify. */
QPROF_FN(int) qprof_is_recording(void);

/** Switch the recording flag on or off.
 *
 * While it is off the stack is kept and calls count as skips, but no time is added.
 *
 * @return 1 if the flag changed, else 0
 * Source: the data API of Quantify. */
QPROF_FN(int) qprof_start_recording(void);
QPROF_FN(int) qprof_stop_recording(void);

/** Switch the recording flag off for the rest of the run.
 *
 * @return 1; 0 if not running
 * Source: the data API of Quantify. */
QPROF_FN(int) qprof_disable_recording(void);

/** Set all figures to zero. Stacks and methods stay; open frames continue from now.
 *
 * @return 1; 0 if not running
 * Cost: other threads clear their part at their next event. Source: the data API of
 * Quantify. */
QPROF_FN(int) qprof_clear_data(void);

/** Write a dataset and continue. Frames that are open count as if they ended now.
 *
 * @return 1 if it was written; 0 if not running, nothing to write, or a file error
 * Source: the data API of Quantify. */
QPROF_FN(int) qprof_save_data(void);

/** Write a dataset to a file. The number of the next dataset does not change.
 *
 * @param name  file name, with the conversions of docs/options.md
 * @return as qprof_save_data()
 * Source: the data API of Quantify. */
QPROF_FN(int) qprof_save_data_to_file(const char *name);

/** Write a dataset with a label, and clear.
 *
 * @param label  copied
 * @return as qprof_save_data(); always 0 in libcprof */
QPROF_FN(int) qprof_new_phase(const char *label);

/** Attach a text to the next dataset, with the moment of the call. A trace has it as well.
 *
 * @param text  copied
 * @return the length of the text; 0 if it is NULL, or not running
 * Source: the data API of Quantify. */
QPROF_FN(int) qprof_add_annotation(const char *text);

/** Name what the host executes, for reports and names of files.
 *
 * Best before the run, because a trace gets its file then. All is copied and also used by later runs;
 * another call replaces it. Without it reports show the arguments of the process.
 *
 * @param script       path of the program that the host executes, as it was given; NULL: none
 * @param n_arguments  its arguments; with -record-arguments=no no file contains them
 * @param arguments    [n_arguments]; a NULL ends them. 8 KB are kept
 * @param host         name and version of the host, for example "Lua 5.4.4"; NULL: unknown
 * @return 0 on success; QPROF_E_ARG: arguments is NULL and n_arguments is not 0, or less than 0;
 *         QPROF_E_STATE: inside a callback or another control function
 * Thread safety: any thread. Cost: not for hot paths. */
QPROF_FN(int)
qprof_set_program(const char *script, int n_arguments, const char *const *arguments,
                  const char *host);

/** Give the run labels.
 *
 * They are in addition to those of -labels and of the variable QPROF_LABELS.
 *
 * Of labels of the same name the host's is in force. At any time; another call replaces those of the
 * previous one.
 *
 * @param labels  "NAME=VALUE,NAME=VALUE", see docs/options.md; NULL: none
 * @return 0 on success; QPROF_E_STATE: inside a callback or another control function
 * Thread safety: any thread. Cost: not for hot paths. */
QPROF_FN(int) qprof_set_labels(const char *labels);

/** Return the value of an option that is in force.
 *
 * @param name  with or without its hyphen; case, '-' and '_' do not matter
 * @return a const char * for an option with text, valid until shutdown; the value itself, cast
 *         to a pointer, for a yes/no option or number; NULL if unknown, 0 or not running
 * Source: QII, get_option. */
QPROF_FN(void *) qprof_get_option(const char *name);

/** Apply the option lines of a file, or one line of options, before the first entry of a run.
 *
 * They take precedence over all other options; -memory-limit can only be lowered.
 *
 * @param file  name of a configuration file (docs/config.md)
 * @param text  one line of it
 * @return 0 on success. On error nothing is applied and qprof_error_text() names the place:
 *         - QPROF_E_STATE  not running, or after the first entry
 *         - QPROF_E_IO, QPROF_E_SYNTAX, QPROF_E_OPTION, QPROF_E_ARG */
QPROF_FN(int) qprof_load_config(const char *file);
QPROF_FN(int) qprof_config_line(const char *text);

/** Return the name of the environment variable that holds this library's options.
 *
 * A host that records only when asked to looks there.
 *
 * @return "QPROF", or "CPROF" in libcprof; a constant */
QPROF_FN(const char *) qprof_environment(void);

/** Replace the machine's clock before a run, for tests.
 *
 * @param now  returns nanoseconds on any thread, and may jump; NULL restores the machine's
 *             clock */
QPROF_FN(void) qprof_set_clock(uint64_t (*now)(void));

#ifdef __cplusplus
}
#endif

/* ---- sampling ---------------------------------------------------------------------------- */
#include "qprof/cost.h"     /* what recording costs the host */
#include "qprof/sampling.h" /* PC samples and call patterns */

/* ---- requests ---------------------------------------------------------------------------- */
#include "qprof/requests.h" /* requests of a server, by endpoint */

/* ---- metrics ----------------------------------------------------------------------------- */
#include "qprof/metrics.h" /* what the host counts, by call path */

/* ---- locks ------------------------------------------------------------------------------- */
#include "qprof/locks.h" /* waits for locks, by waiter and holder */

/* ---- triggers ---------------------------------------------------------------------------- */
#include "qprof/events.h"   /* event triggers: when an event happens, do this */
#include "qprof/triggers.h" /* record only while these methods run, or only these methods */

/* ---- traces ------------------------------------------------------------------------------ */
#include "qprof/trace.h" /* events in order, with values */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- diagnostics ----------------------------------------------------------------------------
 *
 * Thread safety: any thread may call these functions. */

/** Return the text of an error code.
 *
 * @param code  QPROF_E_*
 * @return a constant; never NULL */
QPROF_FN(const char *) qprof_strerror(int code);

/** Return what was wrong in the last call of this thread that failed.
 *
 * @return one line, valid until the next such call of the thread; "" if none failed */
QPROF_FN(const char *) qprof_error_text(void);

/** Return how often something went wrong or was repaired.
 *
 * @param name  a name of docs/diagnostics.md
 * @return the count of this run, or after shutdown of the last one; 0 for an unknown name */
QPROF_FN(uint64_t) qprof_diagnostic(const char *name);

typedef struct {
    const char *name; /* a constant */
    uint64_t count;
} qprof_Diagnostic;

/** List all diagnostics that are not 0.
 *
 * @param out    [n_max] filled; may be NULL if n_max is 0
 * @param n_max  room in out
 * @return how many there are, which may be more than n_max */
QPROF_FN(size_t) qprof_diagnostics(qprof_Diagnostic *out, size_t n_max);

/** State how many calls are open: the host's own depth. Hosts use the macros below.
 *
 * A difference is a mistake of the integration; it is counted with its first place, and
 * `qprof check --host` shows it. Calls that were entered before the run do not count.
 *
 * @param n   frames that the host has entered and not left, on the thread on which it runs; with vt:
 *            on the virtual thread; with th: on the thread of the handle, which it drives
 * @param vt  the virtual thread, which is mounted
 * @param th  from qprof_thread_handle() or qprof_thread_handle_vt()
 * Cost: a call; with tokens a step for each open call. */
QPROF_FN(void) qprof_check_depth(unsigned n);
QPROF_FN(void) qprof_check_depth_vt(unsigned n, VthreadID vt);
QPROF_FN(void) qprof_check_depth_of(qprof_thread *th, unsigned n);

/* In checked builds of the host, which define QPROF_CHECKED before they include this file. */
#if defined(QPROF_CHECKED)
#define qprof_assert_depth(n)        qprof_check_depth((unsigned)(n))
#define qprof_assert_depth_vt(n, vt) qprof_check_depth_vt((unsigned)(n), (vt))
#define qprof_assert_depth_of(th, n) qprof_check_depth_of((th), (unsigned)(n))
#else
#define qprof_assert_depth(n)        ((void)0)
#define qprof_assert_depth_vt(n, vt) ((void)0)
#define qprof_assert_depth_of(th, n) ((void)0)
#endif

/** Return the version of the library.
 *
 * @return "MAJOR.MINOR.PATCH" */
QPROF_FN(const char *) qprof_version(void);

/** Return the path of this run's live profile.
 *
 * @return the path; "" if there is none (not running, or no file could be created) */
QPROF_FN(const char *) qprof_live_file(void);

#ifdef __cplusplus
}
#endif
#endif
