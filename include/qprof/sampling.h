/* qprof/sampling.h: PC sampling: where the time goes, at almost no cost. Guide:
 * docs/sampling.md.
 *
 * A sample is credited to the procedure that is running (shallow) and to all procedures that
 * are active (deep). A timer takes samples; so does qprof_pc_sample(). A call pattern may
 * restrict which samples count and which procedure is charged. In libcprof the functions exist
 * and return QPROF_E_UNSUPPORTED, 0 or NULL. */
#ifndef QPROF_SAMPLING_H
#define QPROF_SAMPLING_H

#include "qprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { QPROF_PC_VIRTUAL = 1, QPROF_PC_REAL = 2, QPROF_PC_DEEP = 4 };

typedef struct {
    uint64_t occurred, counted, skipped, critical, foreign; /* counted + skipped = occurred */
    int kind;                                               /* QPROF_PC_VIRTUAL or _REAL */
    unsigned long interval, measured;                       /* microseconds */
} qprof_PcTotals;

typedef struct qprof_PcPattern qprof_PcPattern;

/* ---- samples --------------------------------------------------------------------------------
 *
 * Thread safety: any thread may call these functions. Source: MAINSAIL MAINPM, the PC
 * command. */

/** Return what this machine can sample.
 *
 * @return QPROF_PC_* bits */
QPROF_FN(unsigned) qprof_pc_supported(void);

/** Take samples from now on. Possible before the first entry; replaces the previous command.
 *
 * @param text          "PC {VIRTUAL|REAL} {microseconds} {WHEN pattern ;}"; the word PC is
 *                      optional, and each keyword may be any prefix of itself
 * @param error_column  receives the column of a mistake, from 1; may be NULL
 * @return 0 on success; on error qprof_error_text() describes the problem:
 *         - QPROF_E_STATE   not running, or after the first entry
 *         - QPROF_E_SYNTAX  the text cannot be parsed
 *         - QPROF_E_LIMIT   the pattern is too large
 *         - QPROF_E_ARG     text is NULL */
QPROF_FN(int) qprof_pc_command(const char *text, int *error_column);

/** Stop the timer. Samples that were taken stay.
 *
 * @return 0; QPROF_E_STATE if no command is in force */
QPROF_FN(int) qprof_pc_off(void);

/** Take samples of the calling thread now, with or without a timer.
 *
 * @param n  number of samples
 * @return 0; QPROF_E_STATE if no command is in force */
QPROF_FN(int) qprof_pc_sample(unsigned n);

/** Begin or end a critical section of the calling OS thread. They nest.
 *
 * Samples in a critical section are not charged to any procedure. */
QPROF_FN(void) qprof_pc_enter_critical(void);
QPROF_FN(void) qprof_pc_leave_critical(void);

/* ---- hosts that walk their own stack --------------------------------------------------------
 *
 * A host whose qprof_wants() has QPROF_WANT_STACK but not QPROF_WANT_SHADOW need not report
 * entries and exits. It asks qprof_is_due() before the stack changes. If that returns 1, it
 * builds the path of its stack with qprof_path(), outermost call first, and credits it with
 * qprof_sample_path().
 *
 * Thread safety: the thread that uses the handle. */

/** Return the path of a callee.
 *
 * @param th    the handle of the thread
 * @param path  the caller's path, from this function; 0: the callee is outermost
 * @param id    the callee
 * @return the path, valid for this thread until shutdown; 0 if the handle is closed or there is
 *         no memory
 * Cost: one look-up. */
QPROF_FN(uint32_t) qprof_path(qprof_thread *th, uint32_t path, qprof_MethodID id);

/** Credit the samples that are waiting to a path.
 *
 * @param th    the handle of the thread
 * @param path  from qprof_path(); 0: the empty stack */
QPROF_FN(void) qprof_sample_path(qprof_thread *th, uint32_t path);

/* ---- blocks of samples ----------------------------------------------------------------------
 *
 * A host that registers line tables may say which block of the running method a sample belongs
 * to; reports then show the time of lines. When the library has taken samples it calls wake(),
 * which makes the interpreter ask at its next instruction, for example by a flag that its loop
 * tests anyway. If qprof_has_samples() returns 1 there, it answers with qprof_sample_block(). It
 * also asks before each entry and exit. Samples that meet another event belong to the method
 * alone. */

/** Be called when samples wait.
 *
 * @param wake  called by a thread of the library or in a signal handler, until the run ends. It may
 *              only set a flag; it must not call the library. NULL: nothing is called
 * Thread safety: any thread. */
QPROF_FN(void) qprof_on_samples(void (*wake)(void));

/** Credit the samples that are waiting to the method on top of the stack, and to a block of it.
 *
 * @param th     the handle of the thread
 * @param block  index of the block in the method's line table; another one is counted as
 *               bb_out_of_range
 * Thread safety: the thread that uses the handle. */
QPROF_FN(void) qprof_sample_block(qprof_thread *th, int block);

/* ---- figures --------------------------------------------------------------------------------
 *
 * They hold all threads, by the pattern in force.
 *
 * Thread safety: any thread. Cost: one look at every call path.
 * Source: MAINSAIL MAINPM, the LIST command. */

/** Return how many samples were taken. Those of a call that has made no event since are not in it yet: a
 * thread's next event credits them. `qprof list PID` counts them.
 *
 * @param totals  filled; unchanged on error
 * @return 0; QPROF_E_ARG; QPROF_E_STATE if no command was given; QPROF_E_MEMORY */
QPROF_FN(int) qprof_pc_totals(qprof_PcTotals *totals);

/** Return how many samples a procedure was credited with.
 *
 * @param id       a method that was called
 * @param shallow  receives the samples in which it was charged; may be NULL
 * @param deep     receives the samples in which it was active; may be NULL
 * @return 0; QPROF_E_NOTFOUND if the method is unknown; QPROF_E_STATE, QPROF_E_MEMORY */
QPROF_FN(int) qprof_pc_procedure(qprof_MethodID id, uint64_t *shallow, uint64_t *deep);

/** Write the report: every procedure by shallow and by deep count, and a summary.
 *
 * @param file  name of the file; "-": standard output; NULL: as -summary states, else standard
 *              output
 * @return 0; QPROF_E_STATE, QPROF_E_MEMORY, QPROF_E_IO */
QPROF_FN(int) qprof_pc_list(const char *file);

/* ---- call patterns --------------------------------------------------------------------------
 *
 * They need no run. Thread safety: any thread; a pattern may be shared. Source: MAINSAIL
 * MAINPM. */

/** Compile a call pattern.
 *
 * @param pattern       text of the pattern
 * @param error_column  receives the column of a mistake, from 1, or 0 if out of memory; may be
 *                      NULL
 * @return the pattern, to be released with qprof_pc_pattern_free(); NULL on error */
QPROF_FN(qprof_PcPattern *)
qprof_pc_pattern_compile(const char *pattern, int *error_column);

/** Return whether a stack matches a pattern, and which frame it charges.
 *
 * @param pattern  from qprof_pc_pattern_compile()
 * @param frames   [n] "module.procedure", outermost first; NULL is foreign code
 * @param n        number of frames
 * @param charged  receives the index of the frame, or -1 for foreign code; unchanged unless the
 *                 stack matches; may be NULL
 * @return 1 or 0; QPROF_E_ARG, QPROF_E_MEMORY */
QPROF_FN(int)
qprof_pc_pattern_match(const qprof_PcPattern *pattern, const char *const *frames, int n,
                       int *charged);

/** Release a pattern.
 *
 * @param pattern  may be NULL */
QPROF_FN(void) qprof_pc_pattern_free(qprof_PcPattern *pattern);

#ifdef __cplusplus
}
#endif
#endif
