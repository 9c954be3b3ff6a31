/* qprof/inline.h: the event path that a host compiles into itself.
 *
 * A host that can keep a `qprof_thread *` calls qprof_entry() and qprof_exit() below instead of
 * the exported functions: no call, no thread-local look-up. The library compiles the same bodies.
 * The layouts here are part of the ABI: QPROF_INLINE_VERSION changes with them, and
 * qprof_thread_handle() hands a host of another version a handle whose gate never opens.
 * Read qprof_entry and qprof_exit first; everything else serves them. */
#ifndef QPROF_INLINE_H
#define QPROF_INLINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define QPROF_INLINE_VERSION 2u

/* One call path of one thread. Written by the thread that owns it, read by anyone. */
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
    uint32_t more;     /* cell of what few nodes need; 0: none */
} qprof_node;

/* What adaptive timing keeps in qprof_node.self_max. */
typedef struct qprof_spread {
    uint32_t n_timed; /* sampled calls behind the first 64 */
    float squares;    /* sum of their squared ticks */
} qprof_spread;

/* One activation on a shadow stack. */
typedef struct qprof_frame {
    uint64_t stack_id; /* as given at entry */
    uint64_t own;      /* ticks so far, callees excluded */
    /* exact: thread time of entry; adaptive: twice that, + 1 of the first 64 calls; 0: untimed */
    uint64_t start;
    uint32_t node;     /* cell of the call path */
    uint32_t flags;    /* QPROF_FRAME_*; not 0: the exit is not an ordinary one */
    uint64_t mark_at;  /* block times: thread time at the last mark */
    uint64_t mark_own; /* block times: own at the last mark */
    uint32_t block;    /* block times: block of the last mark */
    uint32_t reserved;
    uint64_t method_id; /* QPROF_HOOK_STACK: as given at entry; node is 0 until it is sampled */
} qprof_frame;

/* The part of a thread's record in the profile file that every event touches. */
typedef struct qprof_pulse {
    uint32_t top;     /* cell of the top frame, and QPROF_TOP_BUSY while an event is recorded */
    uint32_t n_deep;  /* frames above the stored ones that are only counted */
    uint64_t last;    /* thread time of the last event */
    uint64_t offset;  /* raw ticks - offset = thread time; grows while its clock stands */
    uint64_t n_exits; /* exits that popped at least one frame */
    uint64_t n_unwound; /* further frames that such exits popped */
    uint64_t parked_at; /* raw ticks when the clock was stopped; 0: it runs */
    uint64_t counts;    /* units of qprof_record_counts so far */
    uint32_t index;     /* library only */
    uint32_t reserved;
} qprof_pulse;

/* A thread's handle. In memory that a forked child finds zeroed, hence closed. */
typedef struct qprof_thread {
    uint32_t gate;  /* QPROF_GATE_* and QPROF_HOOK_*; 0: closed. Any thread may change it */
    uint32_t floor; /* cell of the frame that no ordinary exit pops. Owner only, as all below */
    uint32_t span;  /* from there to the frame that no ordinary entry stands on */
    uint32_t countdown; /* adaptive: calls until the next one that is timed */
    qprof_pulse *pulse;
    char *base;                   /* the mapping: cell i is at base + 64 * i */
    uint32_t carrier;             /* ordinal of the system thread that drives it; 0: none */
    uint32_t next_free;           /* library only */
    uint64_t deep_low, deep_high; /* library only */
    uint64_t n_searches;          /* library only */
} qprof_thread;

enum {
    QPROF_GATE_OPEN = 1u << 0,     /* events are recorded */
    QPROF_HOOK_EXACT = 1u << 1,    /* two clock reads a call */
    QPROF_HOOK_ADAPTIVE = 1u << 2, /* a clock pair for some calls */
    QPROF_HOOK_TSC = 1u << 3,      /* the clock is the processor's own counter */
    QPROF_HOOK_STACK = 1u << 4,    /* no calls are counted: the stack is all that is kept */
    QPROF_HOOK_COLD = 1u << 5,     /* from here on: the event is recorded out of line */
    QPROF_HOOK_STOPPED = 1u << 10, /* recording is stopped, and this thread knows it */
    QPROF_HOOK_OFF = 1u << 14,     /* the thread's status is disabled */

    QPROF_FRAME_MARKED = 1u << 0,   /* has block marks to settle */
    QPROF_FRAME_SKIP = 1u << 1,     /* entered unrecorded */
    QPROF_FRAME_FOLDED = 1u << 2,   /* stands on its caller's node for want of memory */
    QPROF_FRAME_OLD = 1u << 3,      /* open across a clear: contributes time, but no call */
    QPROF_FRAME_ZERO = 1u << 4,     /* entered with stack id 0: no exit names it */
    QPROF_FRAME_PARTIAL = 1u << 5,  /* recording stopped during it: no minimum or maximum */
    QPROF_FRAME_EXCLUDED = 1u << 6, /* stands on its caller's node: its method is in no area */
    QPROF_FRAME_HOOKED = 1u << 7,   /* its exit is looked at */
    QPROF_FRAME_RESTORE = 1u << 8,  /* its end restores the thread's status ... */
    QPROF_FRAME_RESTORE_ON = 1u << 9, /* ... to enabled */

    QPROF_ADAPTIVE_FIRST = 64 /* calls of a path that are always timed */
};
/* In pulse.top: farther from the floor than any span, so that the check of the span finds it. */
#define QPROF_TOP_BUSY 0x80000000u

/* A host that finds the calls by dlsym defines QPROF_NO_INLINE: what follows needs a library to be
 * linked with. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(QPROF_NO_INLINE)

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) void qprof_cold_entry(qprof_thread *, uintptr_t,
                                                             uintptr_t);
__attribute__((visibility("default"))) void qprof_cold_exit(qprof_thread *, uintptr_t);
__attribute__((visibility("default"))) void qprof_cold_entry_time(qprof_thread *,
                                                                  qprof_frame *);
#ifdef __cplusplus
}
#endif

#define QPROF_LIKELY(c)           __builtin_expect(!!(c), 1)
#define QPROF_UNLIKELY(c)         __builtin_expect(!!(c), 0)
/* Relaxed: one writer, any number of readers, no reader waits for a second field. */
#define QPROF_LOAD(place)         __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define QPROF_STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
/* One instruction where there is one: nothing is lost to a signal handler that records. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define QPROF_ADD(place, n)  __asm__("addq %1, %0" : "+m"(place) : "er"((uint64_t)(n)) : "cc")
/* No longer busy, and one frame higher. */
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

/* A frame's node and no flags, in one store. */
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

/* Does this call take a clock reading? Exact: yes. Adaptive: the first calls of a path, and one
 * behind 16 to 47 later ones. */
static inline int qprof_entry_is_timed(qprof_thread *th, uint32_t hooks, const qprof_node *n)
{
    return (hooks & QPROF_HOOK_EXACT) || n->n_calls <= QPROF_ADAPTIVE_FIRST ||
           --th->countdown == 0;
}

/* Charge the time up to now to the caller; what follows is the new frame's. */
static inline void qprof_entry_charge(qprof_thread *th, uint32_t hooks, qprof_frame *f,
                                      const qprof_node *n, uint64_t now)
{
    if (hooks & QPROF_HOOK_EXACT) {
        QPROF_ADD(f[-1].own, now - th->pulse->last);
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
        uint64_t own = f->own + (now - th->pulse->last);
        QPROF_ADD(n->self, own);
        if (own < n->self_min)
            QPROF_STORE(n->self_min, own);
        if (own > n->self_max)
            QPROF_STORE(n->self_max, own);
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

/* The end of an entry that takes a time. Out of line, so that the path without saves no register;
 * beside a clock read a jump is nothing. */
static QPROF_TIMED void qprof_entry_timed(qprof_thread *th, qprof_frame *f, qprof_node *n)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    QPROF_STORE(f->own, 0);
    uint64_t now = qprof_ticks() - th->pulse->offset; /* read last ... */
    if (QPROF_UNLIKELY(!(hooks & QPROF_HOOK_TSC) || (int64_t)(now - th->pulse->last) < 0)) {
        qprof_cold_entry_time(th, f);
        return;
    }
    qprof_entry_charge(th, hooks, f, n, now);
    QPROF_FENCE();
    QPROF_END_ENTRY(th->pulse->top);
}

/* qprof_entry of a thread whose gate, which was loaded, is not 0. Few values live at a time: a
 * call of it saves no register. */
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
    if (n->method_id != method) { /* callees called in turn: the next in the ring */
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

/** A method was entered on this thread.
 *
 * @param th      from qprof_thread_handle(); the calling thread is the one that drives it
 * @param method  as registered; an unknown one is asked for through the callback
 * @param id      stack id of the new frame, not 0
 * Threads: the driver of th. Cost: about 2 ns, and a clock read with -time=exact.
 * Source: qprof_record_fn_entry. */
static inline void qprof_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (gate)
        qprof_open_entry(th, gate, method, id);
}

/* An exit that takes a time. */
static QPROF_TIMED void qprof_exit_timed(qprof_thread *th, qprof_frame *f, uintptr_t id)
{
    qprof_pulse *pulse = th->pulse;
    uint32_t hooks = QPROF_LOAD(th->gate);
    uint64_t now = qprof_ticks() - pulse->offset; /* ... read first */
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

/* qprof_exit of a thread whose gate, which was loaded, is not 0. */
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

/** Execution goes on in the frame that was entered with this id: frames above it end.
 *
 * @param th  from qprof_thread_handle()
 * @param id  stack id of the frame that resumes; 0: none, the whole stack ends
 * Threads: the driver of th. Cost: as qprof_entry. Source: qprof_record_fn_exit. */
static inline void qprof_exit(qprof_thread *th, uintptr_t id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (gate)
        qprof_open_exit(th, gate, id);
}

/** Is what the top frame does to be counted? For a host that counts in place and was told
 * QPROF_WANT_GATE: the answer changes at entries, exits and control calls only.
 * Threads: the driver of th. Cost: three instructions. */
static inline int qprof_is_counting(const qprof_thread *th)
{
    return (QPROF_LOAD(th->gate) & (QPROF_GATE_OPEN | QPROF_HOOK_STOPPED | QPROF_HOOK_OFF)) ==
           QPROF_GATE_OPEN;
}

/* ---- only the stack ------------------------------------------------------------------------ */

/* Put a frame on the stack. @return 0: out of the ordinary, nothing was changed */
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

/* Take the top frame off. @return 0: out of the ordinary, nothing was changed */
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

/** Is an interrupt waiting, or anything else out of the ordinary? For a host that was told
 * QPROF_WANT_STACK, not QPROF_WANT_SHADOW, and can walk its own stack: it keeps none here, asks at
 * every entry and exit before the stack changes, and answers with qprof_sample_path(). A closed
 * handle, whose gate is 0, is always due and never sampled. Cost: two instructions. */
static inline int qprof_is_due(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) != (QPROF_GATE_OPEN | QPROF_HOOK_STACK);
}

/** qprof_entry for a host that was told QPROF_WANT_STACK: a loop of its own that uses these two
 * saves the test what else is recorded. As safe as qprof_entry whatever is recorded.
 * Cost: about 1 ns. */
static inline void qprof_stack_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QPROF_UNLIKELY(gate != (QPROF_GATE_OPEN | QPROF_HOOK_STACK) ||
                       !qprof_push(th, method, id))) {
        if (gate)
            qprof_cold_entry(th, method, id);
    }
}

/** qprof_exit, the same way. */
static inline void qprof_stack_exit(qprof_thread *th, uintptr_t id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QPROF_UNLIKELY(gate != (QPROF_GATE_OPEN | QPROF_HOOK_STACK) || !qprof_pop(th, id))) {
        if (gate)
            qprof_cold_exit(th, id);
    }
}

#endif /* GNU C */
#endif
