/* qprof/inline.h: the event path that a host compiles into itself.
 *
 * A host that can keep a `qprof_thread *` calls qprof_entry() and qprof_exit() below instead of
 * the exported functions: no call, no thread-local look-up. The library compiles the same
 * bodies. The layouts here are part of the ABI: QPROF_INLINE_VERSION changes with them, and
 * qprof_thread_handle() gives a host of another version a handle whose gate never opens. Read
 * qprof_entry() and qprof_exit() first; everything else serves them. */
#ifndef QPROF_INLINE_H
#define QPROF_INLINE_H

#include <string.h>

#include "qprof/base.h"

#define QPROF_INLINE_VERSION 2u

/* One call path of one thread. Only the thread that owns it writes; any thread may read. */
typedef struct qprof_node {
    uint64_t method_id; /* the host's id; 0: anonymous, and the nil node */
    uint64_t n_calls;   /* entries that were recorded */
    uint64_t self;     /* ticks of finished calls, callees excluded; adaptive: of calls 1..64 */
    uint64_t self_min; /* of one finished call; adaptive: ticks of the sampled later calls */
    uint64_t self_max; /* of one finished call; adaptive: qprof_spread */
    uint32_t parent;   /* cell of the caller's node */
    uint32_t next;     /* ring of the caller's callees, in the order of their first calls */
    uint32_t last;     /* callee called last; the nil cell while there is none */
    uint32_t kids;     /* index of the callees once there are many; 0 before */
    uint32_t method;   /* cell of the method record */
    uint32_t more;     /* cell of further figures that few nodes need; 0: none */
} qprof_node;

/* What adaptive timing keeps in qprof_node.self_max. */
typedef struct qprof_spread {
    uint32_t n_timed; /* sampled calls after the first 64 */
    float squares;    /* sum of their squared ticks */
} qprof_spread;

/* One activation on a shadow stack. */
typedef struct qprof_frame {
    uint64_t stack_id; /* as given at entry */
    uint64_t self;     /* ticks so far, callees excluded */
    /* exact: thread time of entry; adaptive: twice that, + 1 of the first 64 calls; 0:
     * untimed */
    uint64_t start;
    uint32_t node;      /* cell of the call path */
    uint32_t flags;     /* QPROF_FRAME_*; not 0: the exit is not an ordinary one */
    uint64_t mark_at;   /* block times: thread time at the last mark */
    uint64_t mark_self; /* block times: self at the last mark */
    uint32_t block;     /* block times: block of the last mark; or the recorder's own */
    uint32_t reserved;
    uint64_t method_id; /* QPROF_HOOK_STACK: as given at entry; or the recorder's own */
} qprof_frame;

/* The part of a thread's record in the profile file that every event touches. */
typedef struct qprof_pulse {
    uint32_t top;    /* cell of the top frame, and QPROF_TOP_BUSY while an event is recorded */
    uint32_t n_deep; /* frames above the stored ones that are only counted */
    uint64_t last;   /* thread time of the last event */
    uint64_t offset; /* raw ticks - offset = thread time; grows while the thread is suspended */
    uint64_t n_exits;      /* exits that popped at least one frame */
    uint64_t n_unwound;    /* further frames that such exits popped */
    uint64_t suspended_at; /* raw ticks when the clock was stopped; 0: it runs */
    uint64_t counts;       /* units of qprof_record_counts so far */
    uint32_t index;        /* library only */
    uint32_t reserved;
} qprof_pulse;

/* A thread's handle. A forked child finds its memory zeroed, so the handle is closed there. */
struct qprof_thread {
    uint32_t gate;  /* QPROF_GATE_* and QPROF_HOOK_*; 0: closed. Any thread may change it */
    uint32_t floor; /* cell of the frame that no ordinary exit pops. Owner only, as all below */
    uint32_t span;  /* cells from there to the frame above which no ordinary entry pushes */
    uint32_t countdown; /* adaptive: calls until the next one that is timed */
    qprof_pulse *pulse;
    char *base;                   /* the mapping: cell i is at base + 64 * i */
    uint32_t os_thread;           /* ordinal of the OS thread that drives it; 0: none */
    uint32_t next_free;           /* library only */
    uint64_t deep_low, deep_high; /* library only */
    uint64_t n_searches;          /* library only */
};

enum {
    QPROF_GATE_OPEN = 1u << 0,     /* events are recorded */
    QPROF_HOOK_EXACT = 1u << 1,    /* two clock reads a call */
    QPROF_HOOK_ADAPTIVE = 1u << 2, /* a clock pair for some calls */
    QPROF_HOOK_TSC = 1u << 3,      /* the clock is the processor's own counter */
    QPROF_HOOK_STACK = 1u << 4,    /* only the stack is kept; calls are not counted */
    /* from QPROF_HOOK_STACK on, every bit sends events out of line; this one does only that */
    QPROF_HOOK_COLD = 1u << 5,
    QPROF_HOOK_STOPPED = 1u << 10, /* recording is stopped, and this thread knows it */
    QPROF_HOOK_OFF = 1u << 14,     /* the thread's status is disabled */

    QPROF_FRAME_MARKED = 1u << 0,     /* has block marks to settle */
    QPROF_FRAME_SKIP = 1u << 1,       /* entered unrecorded */
    QPROF_FRAME_OVERFLOWED = 1u << 2, /* uses its caller's node: no memory for its own */
    QPROF_FRAME_OLD = 1u << 3,        /* open across a clear: contributes time, but no call */
    QPROF_FRAME_ZERO = 1u << 4,       /* entered with stack id 0: no exit names it */
    QPROF_FRAME_PARTIAL = 1u << 5,    /* recording stopped during it: no minimum or maximum */
    QPROF_FRAME_EXCLUDED = 1u << 6,   /* uses its caller's node: its method is in no area */
    QPROF_FRAME_HOOKED = 1u << 7,     /* a trigger, action or event trigger looks at its exit */
    QPROF_FRAME_RESTORE = 1u << 8,    /* its end restores the thread's status ... */
    QPROF_FRAME_RESTORE_ON = 1u << 9, /* ... to enabled */

    QPROF_ADAPTIVE_FIRST = 64 /* calls of a path that are always timed */
};
/* In pulse.top: farther from the floor than any span, so that the check of the span finds
 * it. */
#define QPROF_TOP_BUSY 0x80000000u

/* What follows calls the library by name: a host that finds the functions with dlsym defines
 * QPROF_NO_INLINE. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(QPROF_NO_INLINE)

#ifdef __cplusplus
extern "C" {
#endif
/** Handle the rare cases of the functions below. Nothing else calls these.
 *
 * @param th      as there
 * @param method  as there
 * @param id      as there
 * @param f       the frame that was pushed
 * Thread safety: only the thread that uses the handle. */
QPROF_FN(void) qprof_cold_entry(qprof_thread *th, qprof_MethodID method, qprof_StackID id);
QPROF_FN(void) qprof_cold_exit(qprof_thread *th, qprof_StackID id);
QPROF_FN(void) qprof_cold_entry_time(qprof_thread *th, qprof_frame *f);
#ifdef __cplusplus
}
#endif

#define QPROF_LIKELY(c)           __builtin_expect(!!(c), 1)
#define QPROF_UNLIKELY(c)         __builtin_expect(!!(c), 0)
/* Relaxed: one writer, any number of readers; no reader infers one field from another. */
#define QPROF_LOAD(place)         __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define QPROF_STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
/* One instruction where possible: a signal handler that records cannot come between. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define QPROF_ADD(place, n)  __asm__("addq %1, %0" : "+m"(place) : "er"((uint64_t)(n)) : "cc")
/* Clear QPROF_TOP_BUSY and move the top up by one frame. */
#define QPROF_END_ENTRY(top) __asm__("addl $0x80000001, %0" : "+m"(top) : : "cc")
#else
#define QPROF_ADD(place, n) QPROF_STORE(place, QPROF_LOAD(place) + (n))
#define QPROF_END_ENTRY(top)                                                                   \
    __atomic_store_n(&(top), (QPROF_LOAD(top) & ~QPROF_TOP_BUSY) + 1, __ATOMIC_RELEASE)
#endif
#define QPROF_TIMED   __attribute__((noinline, unused))
/* A signal handler of the host that records must find the flag before the change. */
#define QPROF_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#define QPROF_CELL(th, type, cell) ((type *)(void *)((th)->base + ((uint64_t)(cell) << 6)))
#define QPROF_INDEX(th, pointer)   ((uint32_t)((uint64_t)((char *)(pointer) - (th)->base) >> 6))

typedef uint64_t __attribute__((may_alias)) qprof_word;

/* Set a frame's node and clear its flags, in one store. */
static inline void qprof_frame_begin(qprof_frame *f, uint32_t node)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    __atomic_store_n((qprof_word *)(void *)&f->node, (uint64_t)node, __ATOMIC_RELAXED);
#else
    QPROF_STORE(f->node, node);
    QPROF_STORE(f->flags, 0);
#endif
}

static inline uint64_t qprof_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0; /* QPROF_HOOK_TSC is never set there */
#endif
}

/* Return whether this call reads the clock. Exact: yes. Adaptive: the first calls of a path,
 * and later one call in 17 to 48. */
static inline int qprof_entry_is_timed(qprof_thread *th, uint32_t hooks, const qprof_node *n)
{
    return (hooks & QPROF_HOOK_EXACT) || n->n_calls <= QPROF_ADAPTIVE_FIRST ||
           --th->countdown == 0;
}

/* Charge the time up to now to the caller; time from now on belongs to the new frame. */
static inline void qprof_entry_charge(qprof_thread *th, uint32_t hooks, qprof_frame *f,
                                      const qprof_node *n, uint64_t now)
{
    if (hooks & QPROF_HOOK_EXACT) {
        QPROF_ADD(f[-1].self, now - th->pulse->last);
        QPROF_STORE(f->start, now);
    } else {
        uint64_t is_first = n->n_calls <= QPROF_ADAPTIVE_FIRST;
        QPROF_STORE(f->start, now << 1 | is_first);
        if (!is_first) /* decorrelated from the program by the clock's last digits */
            th->countdown = 17 + (uint32_t)(now * 0x9E3779B97F4A7C15u >> 59);
    }
    QPROF_STORE(th->pulse->last, now);
}

/* Charge the time up to now to the frame, and the frame to its call path. */
static inline void qprof_exit_charge(qprof_thread *th, uint32_t hooks, qprof_frame *f,
                                     uint64_t now)
{
    qprof_node *n = QPROF_CELL(th, qprof_node, f->node);
    if (hooks & QPROF_HOOK_EXACT) {
        uint64_t self = f->self + (now - th->pulse->last);
        QPROF_ADD(n->self, self);
        if (self < n->self_min)
            QPROF_STORE(n->self_min, self);
        if (self > n->self_max)
            QPROF_STORE(n->self_max, self);
    } else if (f->start & 1) {
        QPROF_ADD(n->self, now - (f->start >> 1));
    } else {
        uint64_t ticks = now - (f->start >> 1);
        uint64_t word = n->self_max;
        qprof_spread spread;
        memcpy(&spread, &word, sizeof spread);
        spread.n_timed++;
        spread.squares += (float)ticks * (float)ticks;
        memcpy(&word, &spread, sizeof word);
        QPROF_ADD(n->self_min, ticks);
        QPROF_STORE(n->self_max, word);
    }
    QPROF_STORE(th->pulse->last, now);
}

/* The end of an entry that reads the clock. Out of line, so that the path without saves no
 * register; next to a clock read a jump costs nothing. */
static QPROF_TIMED void qprof_entry_timed(qprof_thread *th, qprof_frame *f, qprof_node *n)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    QPROF_STORE(f->self, 0);
    uint64_t now = qprof_ticks() - th->pulse->offset; /* last: the caller pays for the above */
    if (QPROF_UNLIKELY(!(hooks & QPROF_HOOK_TSC) || (int64_t)(now - th->pulse->last) < 0)) {
        qprof_cold_entry_time(th, f);
        return;
    }
    qprof_entry_charge(th, hooks, f, n, now);
    QPROF_FENCE();
    QPROF_END_ENTRY(th->pulse->top);
}

/* qprof_entry() of a thread whose gate, already loaded, is not 0. Few values live at a time, so
 * that calling it saves no register. */
static inline void qprof_open_entry(qprof_thread *th, uint32_t gate, uintptr_t method,
                                    uintptr_t id)
{
    uint32_t top = QPROF_LOAD(th->pulse->top);
    if (QPROF_UNLIKELY(gate >= QPROF_HOOK_STACK || top - th->floor >= th->span || !method ||
                       !id)) {
        qprof_cold_entry(th, method, id);
        return;
    }
    qprof_frame *f = QPROF_CELL(th, qprof_frame, top) + 1;
    qprof_node *p = QPROF_CELL(th, qprof_node, f[-1].node);
    uint32_t cell = QPROF_LOAD(p->last);
    qprof_node *n = QPROF_CELL(th, qprof_node, cell);
    if (n->method_id != method) { /* callees called in turn: try the next in the ring */
        cell = QPROF_LOAD(n->next);
        n = QPROF_CELL(th, qprof_node, cell);
        if (QPROF_UNLIKELY(n->method_id != method)) {
            qprof_cold_entry(th, method, id);
            return;
        }
        QPROF_STORE(p->last, cell);
    }
    QPROF_STORE(th->pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    QPROF_STORE(f->stack_id, (uint64_t)id);
    qprof_frame_begin(f, cell);
    QPROF_ADD(n->n_calls, 1);
    if (gate != QPROF_GATE_OPEN) {
        if (qprof_entry_is_timed(th, gate, n)) {
            qprof_entry_timed(th, f, n);
            return;
        }
        QPROF_STORE(f->start, 0);
    }
    QPROF_FENCE();
    QPROF_END_ENTRY(th->pulse->top);
}

/** Record the entry of a method on this thread.
 *
 * @param th      from qprof_thread_handle()
 * @param method  as registered; the callback is asked about an unknown one
 * @param id      stack id of the new frame, not 0
 * Thread safety: only the thread that uses the handle. Cost: about 2 ns, and a clock read with
 * -time=exact. Source: qprof_record_fn_entry(). */
static inline void qprof_entry(qprof_thread *th, qprof_MethodID method, qprof_StackID id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (gate)
        qprof_open_entry(th, gate, method, id);
}

/* An exit that reads the clock. */
static QPROF_TIMED void qprof_exit_timed(qprof_thread *th, qprof_frame *f, uintptr_t id)
{
    qprof_pulse *pulse = th->pulse;
    uint32_t hooks = QPROF_LOAD(th->gate);
    uint64_t now = qprof_ticks() - pulse->offset; /* first: the caller pays for the rest */
    if (QPROF_UNLIKELY(!(hooks & QPROF_HOOK_TSC) || (int64_t)(now - pulse->last) < 0)) {
        qprof_cold_exit(th, id);
        return;
    }
    uint32_t top = QPROF_INDEX(th, f);
    QPROF_STORE(pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    qprof_exit_charge(th, hooks, f, now);
    QPROF_ADD(pulse->n_exits, 1);
    QPROF_FENCE();
    QPROF_STORE(pulse->top, top - 1);
}

/* qprof_exit() of a thread whose gate, already loaded, is not 0. */
static inline void qprof_open_exit(qprof_thread *th, uint32_t gate, uintptr_t id)
{
    uint32_t top = QPROF_LOAD(th->pulse->top);
    qprof_frame *f = QPROF_CELL(th, qprof_frame, top);
    if (QPROF_UNLIKELY(gate >= QPROF_HOOK_STACK || top - th->floor - 1 >= th->span ||
                       f[-1].stack_id != id || f->stack_id == id || f->flags)) {
        qprof_cold_exit(th, id);
        return;
    }
    if (gate != QPROF_GATE_OPEN && ((gate & QPROF_HOOK_EXACT) || f->start)) {
        qprof_exit_timed(th, f, id);
        return;
    }
    QPROF_ADD(th->pulse->n_exits, 1);
    QPROF_FENCE();
    QPROF_STORE(th->pulse->top, top - 1);
}

/** Record that execution resumes in a frame: all frames above it end now.
 *
 * @param th  from qprof_thread_handle()
 * @param id  stack id of the frame that resumes; 0: none, the whole stack ends
 * Thread safety: only the thread that uses the handle. Cost: as qprof_entry().
 * Source: qprof_record_fn_exit(). */
static inline void qprof_exit(qprof_thread *th, qprof_StackID id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (gate)
        qprof_open_exit(th, gate, id);
}

/** Return whether a host that counts in place should count what the top frame executes.
 *
 * Needed if qprof_wants() has QPROF_WANT_GATE. The result changes only at entries, exits and
 * control functions.
 *
 * @param th  from qprof_thread_handle()
 * @return 1 or 0
 * Thread safety: only the thread that uses the handle. Cost: three instructions. */
static inline int qprof_is_counting(const qprof_thread *th)
{
    return (QPROF_LOAD(th->gate) & (QPROF_GATE_OPEN | QPROF_HOOK_STOPPED | QPROF_HOOK_OFF)) ==
           QPROF_GATE_OPEN;
}

/* ---- when only the stack is kept --------------------------------------------------------- */

/* Push a frame. @return 0: not the ordinary case, nothing changed */
static inline int qprof_push(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    uint32_t top = QPROF_LOAD(th->pulse->top);
    if (QPROF_UNLIKELY(top - th->floor >= th->span || !method || !id))
        return 0;
    qprof_frame *f = QPROF_CELL(th, qprof_frame, top) + 1;
    QPROF_STORE(th->pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    QPROF_STORE(f->stack_id, (uint64_t)id);
    QPROF_STORE(f->method_id, (uint64_t)method);
    qprof_frame_begin(f, 0);
    QPROF_FENCE();
    QPROF_END_ENTRY(th->pulse->top);
    return 1;
}

/* Pop the top frame. @return 0: not the ordinary case, nothing changed */
static inline int qprof_pop(qprof_thread *th, uintptr_t id)
{
    uint32_t top = QPROF_LOAD(th->pulse->top);
    const qprof_frame *f = QPROF_CELL(th, qprof_frame, top);
    if (QPROF_UNLIKELY(top - th->floor - 1 >= th->span || f[-1].stack_id != id ||
                       f->stack_id == id || f->flags))
        return 0;
    QPROF_STORE(th->pulse->top, top - 1);
    return 1;
}

/** Return whether samples are waiting.
 *
 * For a host that walks its own stack (qprof/sampling.h): it asks at every entry and exit,
 * before the stack changes, and answers with qprof_sample_path().
 *
 * @param th  from qprof_thread_handle()
 * @return 1 if samples wait or a hook of another kind is set, and always for a closed handle,
 *         which is never sampled; else 0
 * Thread safety: only the thread that uses the handle. Cost: two instructions. */
static inline int qprof_is_due(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) != (QPROF_GATE_OPEN | QPROF_HOOK_STACK);
}

/** Record an entry or an exit when only the stack is kept: qprof_wants() has QPROF_WANT_STACK.
 *
 * The same as qprof_entry() and qprof_exit() in effect, whatever is recorded, and faster in
 * this case.
 *
 * @param th      from qprof_thread_handle()
 * @param method  as for qprof_entry()
 * @param id      as for qprof_entry() or qprof_exit()
 * Thread safety: only the thread that uses the handle. Cost: about 1 ns. */
static inline void qprof_stack_entry(qprof_thread *th, qprof_MethodID method, qprof_StackID id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QPROF_UNLIKELY(gate != (QPROF_GATE_OPEN | QPROF_HOOK_STACK) ||
                       !qprof_push(th, method, id))) {
        if (gate)
            qprof_cold_entry(th, method, id);
    }
}

static inline void qprof_stack_exit(qprof_thread *th, qprof_StackID id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QPROF_UNLIKELY(gate != (QPROF_GATE_OPEN | QPROF_HOOK_STACK) || !qprof_pop(th, id))) {
        if (gate)
            qprof_cold_exit(th, id);
    }
}

#endif /* GNU C */
#endif
