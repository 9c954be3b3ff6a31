/* clock.h: thread time outside of the inline path, and the counters and times of blocks.
 *
 * A thread's time is its clock's raw ticks minus an offset; time that must not be charged to it
 * is added to the offset. So every interval between two events is charged by one
 * subtraction. */
#ifndef QP_RECORD_CLOCK_CLOCK_H
#define QP_RECORD_CLOCK_CLOCK_H

#include "base/text/error.h"
#include "record/run/run.h"

/* ---- clocks: clock.c --------------------------------------------------------------------- */

/* Choose the clocks of the run by its options and write them into the head; the hooks that
 * follow from them go to qp_recorder.hooks.
 * @return 0, QPROF_E_UNSUPPORTED or QPROF_E_OPTION */
int qp_clock_begin(uint64_t (*given_clock)(void), qp_error *error);

/* The hooks of a thread whose events read the run's clock: which it is, and when to read it. */
uint32_t qp_clock_hooks(void);

/* Start to measure the calling OS thread. */
void qp_clock_begin_os_thread(void);
/* Raw ticks of the run's elapsed clock now. */
uint64_t qp_clock_elapsed(void);
/* Nanoseconds of that many of its ticks, by the calibration so far. */
uint64_t qp_clock_ns(uint64_t ticks);
/* Write the second point of the calibration. */
void qp_clock_calibrate(void);
/* Thread time now, never before the last event. */
uint64_t qp_clock_now(qprof_thread *th);
/* Charge the time up to now to the call path of a frame, which is the thread's top. */
void qp_clock(qprof_thread *th, const qprof_frame *top, uint64_t now);
/* A frame ends now; its time has been charged. */
void qp_clock_settle(qprof_thread *th, qprof_frame *f, uint64_t now);

/* The open call of a path begins; the caller's time has been charged, and the call is counted. It
 * has been cut: time went by that is not recorded. It ends. */
void qp_clock_begin_call(qprof_thread *th, qprof_node *n);
void qp_clock_cut_call(const qprof_thread *th, qprof_node *n);
void qp_clock_end_call(qprof_thread *th, qprof_node *n);

/* When recording was stopped and when data were cleared, all of one moment. */
typedef struct {
    uint64_t total, since;             /* of head.stopped_* */
    uint64_t clear_raw, clear_stopped; /* of the last clear */
    uint32_t clear_count;
} qp_run_times;
qp_run_times qp_clock_run_times(void);

static inline qp_clock_kind qp_attribution_kind(void)
{
    return (qp_clock_kind)qp_recorder_head()->clock_kind;
}

static inline bool qp_clock_is_timed(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) & (QP_HOOKS_EXACT | QPROF_HOOK_ADAPTIVE);
}

/* Is there one clock for all threads, which is paused while recording is stopped? If not, each
 * thread suspends its own. */
bool qp_clock_is_shared(void);

uint64_t qp_clock_raw_of(const qprof_thread *th, qp_clock_kind kind);

/* Raw ticks now, or at the moment when the thread's clock was stopped. */
uint64_t qp_clock_raw_now(const qprof_thread *th);

/* Where methods are timed by different clocks: charge the interval by the clock of top's
 * method. */
void qp_clock_by_class(qprof_thread *th, const qprof_frame *top);

/* ---- waiting: waits.c --------------------------------------------------------------------- */

/* Can the run tell time on the processor from time off it? Its options and clocks are known. */
bool qp_waits_are_known(const qp_head *h, bool has_classes);
/* Read the clocks of the calling OS thread for the first time. */
void qp_waits_begin_os_thread(void);
/* th is driven by the calling OS thread from now on. */
void qp_waits_begin(qprof_thread *th);
/* An interval of this length has been charged to a path: what part was the OS thread off? */
void qp_waits_charge(qprof_thread *th, qprof_node *n, uint64_t ticks);
/* Note in the records of all threads what is known of the time since their last events. */
void qp_waits_note_open(void);

/* ---- -time=adaptive: adaptive.c ---------------------------------------------------------- */

/* The run's clock has been chosen. */
void qp_adaptive_begin_run(void);
/* Find out what timing a call costs, and what one of no length seems to take, on a scratch thread
 * and path. */
void qp_adaptive_measure(qprof_thread *th, qprof_node *n);
/* Set the period of the coarse clock, which becomes longer as the run does. In ns.
 * @return 0: there is none, because only a thread itself can read this clock */
uint64_t qp_adaptive_period(uint64_t run_ns);
/* The coarse clock ticks for a thread, at that thread time. By one thread. */
void qp_adaptive_tick(const qprof_thread *th, uint64_t at);

/* A call of the path begins, and is counted already; or it ends. th is in an event. */
void qp_adaptive_begin(qprof_thread *th, qprof_node *n);
void qp_adaptive_end(qprof_thread *th, qprof_node *n);
/* Data are cleared. */
void qp_adaptive_clear(const qprof_thread *th, qprof_node *n);
/* The path's call was open when data were cleared: time what follows. */
void qp_adaptive_resume(qprof_thread *th, qprof_node *n, uint64_t at);

/* ---- blocks: blocks.c -------------------------------------------------------------------- */

/* A counter block holds the counters of one method on one thread; a node knows its counter
 * blocks. */

/* Block bb of the method on top was executed n more times. top: not the root frame. */
void qp_blocks_count(qprof_thread *th, qprof_frame *top, int bb, uint64_t n);

/* Block bb of the method on top begins now. */
void qp_block_mark(qprof_thread *th, qprof_frame *top, int bb);

/* A block of a method ran while n samples were taken. */
void qp_blocks_sampled(qprof_thread *th, qp_cell method, int block, uint64_t n);

/* A block of a method allocated memory. */
void qp_blocks_allocated(qprof_thread *th, qp_cell method, int block, uint64_t bytes,
                         uint64_t objects);

/* Add n units to the call on top. */
void qp_blocks_units(qprof_thread *th, qprof_frame *top, uint64_t n);

/* Counters that the host increments: one a jump, or one a block. @return NULL: nothing to
 * count */
uint64_t *qp_blocks_counters(qprof_thread *th, qp_cell method);

/* Make a counter block like `from`, in the newest extent of its owner. @param thread  the owner;
 * 0: contexts. @return 0: no room */
qp_cell qp_counter_block_new(qp_cell *newest, qp_cell thread, const qp_counter_block *from);

/* Zero the thread's counter blocks. */
void qp_blocks_zero(qprof_thread *th);

/* ---- a block is counted and nothing else happens ------------------------------------------- */
/* Inline in src/api, which is compiled for speed. */

static inline qp_counter_block *qp_counter_block_at(const qprof_thread *th, qp_cell cell)
{
    return QPROF_CELL(th, qp_counter_block, cell);
}

/* Do areas exclude the blocks of the method from counting? */
static inline bool qp_blocks_are_excluded(qp_cell method)
{
    const qp_method *m = method ? qp_at(&qp_recorder.space, method) : NULL;
    return m && (qp_load(&m->flags) & (QP_METHOD_ROUTINE | QP_METHOD_EXCLUDED));
}

/* A counter has exceeded 64 bits: it stays at the largest value, and that is counted. */
void qp_blocks_saturate(uint64_t *counter);

/* Add in one instruction: a signal handler that counts cannot come between load and store. */
static inline void qp_blocks_add(uint64_t *counter, uint64_t n)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    bool is_over;
    __asm__("addq %2, %0" : "+m"(*counter), "=@ccc"(is_over) : "er"(n));
#else
    bool is_over = qp_fetch_add(counter, n) + n < n;
#endif
    if (QP_UNLIKELY(is_over))
        qp_blocks_saturate(counter);
}

/* Count n executions of a block of the method on top in the usual case, outside of any event: no
 * hook is set, and the node knows its counter block. @return false: nothing was done */
static inline bool qp_blocks_count_usual(qprof_thread *th, int bb, uint64_t n)
{
    const uint32_t timing = QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE | QPROF_HOOK_TSC |
                            QPROF_HOOK_WAITS | QPROF_HOOK_TOKENS | QP_HOOK_STEPS;
    if ((QPROF_LOAD(th->gate) & ~timing) != QPROF_GATE_OPEN || qp_load(&qp_is_triggering))
        return false;
    uint64_t top = QPROF_LOAD(th->pulse->top);
    if (!top || (top & QPROF_TOP_BUSY))
        return false;
    const qprof_frame *f = top & QPROF_TOP_TOKEN ? NULL : QPROF_AT(th, qprof_frame, top);
    const qprof_node *node =
        QPROF_AT(th, const qprof_node, f ? f->node : top - QPROF_TOP_TOKEN);
    if (!node->method) /* no call is open */
        return false;
    const qp_head *head = qp_recorder_head();
    if (head->grain == QP_GRAIN_FUNCTION)
        return true;
    if (!node->more || (f && (f->flags & (QPROF_FRAME_EXCLUDED | QPROF_FRAME_OVERFLOWED))) ||
        qp_blocks_are_excluded(node->method))
        return false;
    qp_cell counters = QPROF_CELL(th, qp_node_more, node->more)->counters;
    qp_counter_block *b = qp_counter_block_at(th, counters);
    if (!counters || (uint32_t)bb >= b->n_blocks || (uint32_t)bb >= b->n_values)
        return false;
    if (!(head->collect & QP_COLLECT_ONCE))
        qp_blocks_add(&b->values[bb], n);
    else if (!b->values[bb] && n)
        qp_store(&b->values[bb], 1);
    return true;
}

#endif
