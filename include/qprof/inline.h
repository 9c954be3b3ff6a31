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

#define QPROF_INLINE_VERSION 5u

/* One call path of one thread. Only the thread that owns it writes; any thread may read. At most
 * one call of a path is open at a time: `begun` belongs to it. */
typedef struct qprof_node {
    uint64_t n_calls; /* entries that were recorded */
    uint64_t
        self; /* exact: ticks so far, callees excluded; adaptive: of timed calls, weighted */
    uint64_t self_min; /* of one finished call; adaptive: number of the call to be timed next */
    uint64_t self_max; /* of one finished call; adaptive: the library's own */
    uint64_t begun;  /* at the entry of the open call: self; adaptive: *tick, or of a timed call
                        * what only the library reads */
    uint64_t last;   /* offset of the callee called last; of the nil node while there is none */
    uint32_t next;   /* cell in the ring of the caller's callees, in the order of first calls */
    uint32_t parent; /* cell of the caller's node */
    uint32_t method; /* cell of the method record, which begins with the host's id */
    uint32_t more;   /* cell of further figures that few nodes need; 0: none */
} qprof_node;

/* What a call path did besides taking time. Written like qprof_node. */
typedef struct qprof_metrics {
    uint64_t bytes, objects;             /* allocated */
    uint64_t freed_bytes, freed_objects; /* while the path was on top */
    uint64_t off;                        /* library only */
    uint32_t values;                     /* cell of the sums of the host's metrics; 0: none */
    uint32_t reserved;
    uint64_t reserved2[2];
} qprof_metrics;

/* One activation on a shadow stack. */
typedef struct qprof_frame {
    uint64_t stack_id;  /* as given at entry */
    uint64_t node;      /* offset of the call path */
    uint64_t start;     /* exact: thread time of entry */
    uint64_t mark_at;   /* block times: thread time at the last mark; or the recorder's own */
    uint64_t mark_self; /* block times: self of the call at the last mark */
    uint64_t method_id; /* QPROF_HOOK_STACK: as given at entry; or the recorder's own */
    uint32_t flags;     /* QPROF_FRAME_*; 0 in every frame above qprof_thread.low */
    uint32_t low;       /* of a frame with flags: cell of the next one below; 0: none */
    uint32_t block;     /* block times: block of the last mark */
    uint32_t reserved;
} qprof_frame;

/* The part of a thread's record in the profile file that every event touches. */
typedef struct qprof_pulse {
    uint64_t top;    /* offset of the top frame, or a token; QPROF_TOP_BUSY during an event */
    uint64_t last;   /* thread time of the last event */
    uint64_t offset; /* raw ticks - offset = thread time; grows while the thread is suspended */
    uint64_t n_exits;      /* exits that popped at least one frame */
    uint64_t n_unwound;    /* further frames that such exits popped */
    uint64_t suspended_at; /* raw ticks when the clock was stopped; 0: it runs */
    uint64_t counts;       /* units of qprof_record_counts so far */
    uint32_t n_deep;       /* frames above the stored ones that are only counted */
    uint32_t index;        /* library only */
} qprof_pulse;

/* A thread's handle. A forked child that does not follow finds its memory zeroed: it is closed there. */
struct qprof_thread {
    uint32_t gate;      /* QPROF_GATE_* and QPROF_HOOK_*; 0: closed. Any thread may change it */
    uint32_t os_thread; /* ordinal of the OS thread that drives it; 0: none */
    uint64_t floor;     /* offset of the first frame of the chunk. Owner only, as all below */
    uint64_t span;      /* bytes from there to the frame above which no ordinary entry pushes */
    uint64_t low;       /* offset of the highest frame that no ordinary exit pops */
    qprof_pulse *pulse;
    char *base;           /* the mapping: cell i is at base + 64 * i */
    const uint64_t *tick; /* adaptive: thread time, written now and then */
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 4
    uint32_t unused[3]; /* the size of a handle is the same everywhere */
#endif
    uint64_t user; /* of the stacks that share it, the one that ran last; 0: it is not shared */
    uint32_t wants; /* QPROF_THREAD_*; the same for the whole run */
    uint32_t reserved;
    uint64_t own[7]; /* library only */
};

enum {
    QPROF_GATE_OPEN = 1u << 0,     /* events are recorded */
    QPROF_HOOK_EXACT = 1u << 1,    /* two clock reads a call, in line only of the TSC */
    QPROF_HOOK_ADAPTIVE = 1u << 2, /* a clock pair for some calls */
    QPROF_HOOK_TSC = 1u << 3,      /* the clock is the processor's own counter */
    QPROF_HOOK_WAITS = 1u << 4,    /* reading it waits for earlier loads */
    QPROF_HOOK_STACK = 1u << 5,    /* only the stack is kept; calls are not counted */
    /* from QPROF_HOOK_STACK on, every bit sends events out of line; this one does only that */
    QPROF_HOOK_COLD = 1u << 6,
    QPROF_HOOK_TOKENS = 1u << 7,   /* the top is a token: only the token calls are in line */
    QPROF_HOOK_SAMPLE = 1u << 8,   /* samples wait */
    QPROF_HOOK_STOPPED = 1u << 10, /* recording is stopped, and this thread knows it */
    QPROF_HOOK_OFF = 1u << 14,     /* the thread's status is disabled */
    QPROF_HOOK_STEPS = 1u << 21,   /* library only */
    QPROF_GATE_TOKENS = QPROF_GATE_OPEN | QPROF_HOOK_TOKENS,
    QPROF_GATE_CLOCK = QPROF_HOOK_TSC | QPROF_HOOK_WAITS,

    QPROF_THREAD_MEMORY = 1u << 0, /* allocations and frees are recorded */

    QPROF_FRAME_MARKED = 1u << 0,     /* has block marks to settle */
    QPROF_FRAME_SKIP = 1u << 1,       /* entered unrecorded */
    QPROF_FRAME_OVERFLOWED = 1u << 2, /* uses its caller's node: no memory for its own */
    QPROF_FRAME_ID = 1u << 3,         /* has a stack id, where others have tokens */
    QPROF_FRAME_ZERO = 1u << 4,       /* entered with stack id 0: no exit names it */
    QPROF_FRAME_FOLDED = 1u << 5,     /* shares the <overflow> of a caller */
    QPROF_FRAME_EXCLUDED = 1u << 6,   /* uses its caller's node: its method is in no area */
    QPROF_FRAME_HOOKED = 1u << 7,     /* a trigger, action or event trigger looks at its exit */
    QPROF_FRAME_RESTORE = 1u << 8,    /* its end restores the thread's status ... */
    QPROF_FRAME_RESTORE_ON = 1u << 9, /* ... to enabled */
    QPROF_FRAME_SAME = 1u << 11       /* has the stack id of its caller */
};
/* In pulse.top: farther from the floor than any span, and below every `low` as a signed number,
 * so that the checks that are there anyway find it. */
#define QPROF_TOP_BUSY  (1ull << 63)
/* In pulse.top, as in every token: the rest is the offset of a node. */
#define QPROF_TOP_TOKEN 1u

/* What follows calls the library by name: a host that finds the functions with dlsym defines
 * QPROF_NO_INLINE. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(QPROF_NO_INLINE)

#ifdef __cplusplus
extern "C" {
#else /* hosts of C89 may ask for these warnings */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif
/** Handle the rare cases of the functions below. Nothing else calls these.
 *
 * @param th      as there
 * @param method  as there
 * @param id      as there
 * @param node    offset of the call path that was entered
 * @param top     offset of its frame
 * @param n       the call path whose timing begins, or whose call ends
 * @param caller  as there
 * @param token   as there
 * @return a token, as there
 * Thread safety: only the thread that uses the handle. */
QPROF_FN(void) qprof_cold_entry(qprof_thread *th, qprof_MethodID method, qprof_StackID id);
QPROF_FN(void) qprof_cold_exit(qprof_thread *th, qprof_StackID id);
QPROF_FN(void)
qprof_cold_overtaken(qprof_thread *th, qprof_StackID id, uint64_t node, uint64_t top);
QPROF_FN(void) qprof_cold_begin_timing(qprof_thread *th, qprof_node *n);
QPROF_FN(void) qprof_cold_end_timing(qprof_thread *th, qprof_node *n);
QPROF_FN(qprof_token)
qprof_cold_enter(qprof_thread *th, qprof_token caller, qprof_MethodID method);
QPROF_FN(void) qprof_cold_leave(qprof_thread *th, qprof_token token);
QPROF_FN(qprof_token) qprof_cold_top(qprof_thread *th);
QPROF_FN(qprof_token) qprof_cold_find(qprof_thread *th, qprof_MethodID method);
QPROF_FN(qprof_token)
qprof_token_resume(qprof_thread *th, qprof_token caller, qprof_MethodID method);

/** Continue the calls of one of the stacks that share a handle; those of the one that ran are suspended.
 *
 * @param th     a handle; of one that is not shared: the same happens
 * @param token  what qprof_token_top() has returned when the stack was suspended; 0: it has no frame
 * Thread safety: only the thread that uses the handle. Cost: 10 ns for each frame of both stacks. */
QPROF_FN(void) qprof_token_restore(qprof_thread *th, qprof_token token);

/** Mount a virtual thread, by a function that does nothing else and was entered just now.
 *
 * With -time=exact the switch is at the entry, so that the clock is not read again. If the function is not
 * on top or has had time or callees, it is as any other switch.
 *
 * @param th       as for qprof_thread_mount()
 * @param entered  token of the function's frame; 0: as qprof_thread_mount()
 * @return as qprof_thread_mount()
 * Thread safety: only the thread that uses the handle. Cost: about 6 ns. */
QPROF_FN(qprof_thread *) qprof_token_mount(qprof_thread *th, qprof_token entered);

/** Resume in a frame that is not the caller of the one on top: all frames above it end.
 *
 * @param th     from qprof_thread_handle()
 * @param token  of the frame that resumes; QPROF_NO_TOKEN: none, the whole stack ends
 * Thread safety: only the thread that uses the handle. Cost: a step for each frame that ends. */
QPROF_FN(void) qprof_token_unwind(qprof_thread *th, qprof_token token);
#ifdef __cplusplus
}
#endif

#define QPROF_LIKELY(c)             __builtin_expect(!!(c), 1)
#define QPROF_UNLIKELY(c)           __builtin_expect(!!(c), 0)
/* Relaxed: one writer, any number of readers; no reader infers one field from another. */
#define QPROF_LOAD(place)           __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define QPROF_STORE(place, value)   __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
/* Who reads this value finds what was stored before it. */
#define QPROF_PUBLISH(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
/* One instruction where possible: a signal handler that records cannot come between. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define QPROF_ADD(place, n) __asm__("addq %1, %0" : "+m"(place) : "er"((uint64_t)(n)) : "cc")
#else
#define QPROF_ADD(place, n) QPROF_STORE(place, QPROF_LOAD(place) + (n))
#endif
/* The compiler may rely on it. */
#define QPROF_ASSUME(c)                                                                        \
    do {                                                                                       \
        if (!(c))                                                                              \
            __builtin_unreachable();                                                           \
    } while (0)
#define QPROF_APART   __attribute__((noinline, unused))
/* A signal handler of the host that records must find what is before it done, and nothing of what
 * is after it. */
#define QPROF_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#define QPROF_AT(th, type, offset) ((type *)(void *)((th)->base + (offset)))
/* Of a top that may be busy, and is then no offset: the address is made, and not used. */
#define QPROF_FRAME_AT(th, top)    ((qprof_frame *)((uintptr_t)(th)->base + (uintptr_t)(top)))
#define QPROF_CELL(th, type, cell) QPROF_AT(th, type, (uint64_t)(cell) << 6)
#define QPROF_OFFSET(th, pointer)  ((uint64_t)((char *)(pointer) - (th)->base))
#define QPROF_INDEX(th, pointer)   ((uint32_t)(QPROF_OFFSET(th, pointer) >> 6))

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

/* Is it the path of this method? */
static inline int qprof_is_of(const char *base, const qprof_node *n, uintptr_t method)
{
    const void *record = base + ((uint64_t)n->method << 6);
    return *(const uint64_t *)record == method;
}

/* The callee of p that the inline path may use: the one called last, or the next in the ring.
 * @return its offset; 0: look it up out of line */
static inline uint64_t qprof_callee(char *base, qprof_node *p, uintptr_t method)
{
    enum { METHOD_FLAGS_AT = 8, OUT_OF_LINE = 3u << 12 /* hooked, or in no area */ };
    uint64_t at = QPROF_LOAD(p->last);
    const qprof_node *n = (const qprof_node *)(void *)(base + at);
    if (QPROF_LIKELY(qprof_is_of(base, n, method))) {
        QPROF_ASSUME(at);
        return at;
    }
    at = (uint64_t)QPROF_LOAD(n->next) << 6;
    n = (const qprof_node *)(void *)(base + at);
    const char *record = base + ((uint64_t)n->method << 6);
    if (QPROF_UNLIKELY(
            *(const uint64_t *)(const void *)record != method ||
            (__atomic_load_n((const uint32_t *)(const void *)(record + METHOD_FLAGS_AT),
                             __ATOMIC_RELAXED) &
             OUT_OF_LINE)))
        return 0;
    QPROF_STORE(p->last, at);
    QPROF_ASSUME(at);
    return at;
}

/* Ticks since the last event that are charged out of line, because the thread may have waited: some
 * 20 us. A clock that went back shows more. */
#if defined(__aarch64__)
#define QPROF_LONG (1ull << 13)
#else
#define QPROF_LONG (1ull << 16)
#endif

/* Charge the time up to `now`, which is not before the last event, to the call path on top; later
 * time belongs to the next one. The thread is busy. */
static inline void qprof_charge(qprof_pulse *u, qprof_node *n, uint64_t now)
{
    QPROF_ADD(n->self, now - u->last);
    QPROF_STORE(u->last, now);
}

/* The open call of this path ends: note how much it had of its own. */
static inline void qprof_settle(qprof_node *n)
{
    uint64_t own = n->self - n->begun;
    if (own < n->self_min)
        QPROF_STORE(n->self_min, own);
    if ((int64_t)own > (int64_t)n->self_max) /* below 0: it gives none */
        QPROF_STORE(n->self_max, own);
}

/* Count a call whose time may be estimated; the thread is not busy.
 * @return 1: this call is to be timed */
static inline int qprof_count_untimed(const qprof_thread *th, qprof_node *n)
{
    QPROF_STORE(n->begun, QPROF_LOAD(*th->tick));
    QPROF_ADD(n->n_calls, 1);
    return n->n_calls >= n->self_min;
}

/* Where the frame of a call goes, and its path. at is 0: out of line. What the handle has is here
 * once: fences and stores would make the compiler load it again. */
typedef struct {
    uint64_t top, n_exits, at;
    qprof_pulse *u;
    char *base;
} qprof_place;

/* Choose the place of a call. A signal handler that records changes n_exits: it is read first. */
static inline qprof_place qprof_choose(const qprof_thread *th, uintptr_t method, uintptr_t id)
{
    qprof_place c = {0, 0, 0, th->pulse, th->base};
    c.n_exits = QPROF_LOAD(c.u->n_exits);
    QPROF_FENCE();
    c.top = QPROF_LOAD(c.u->top);
    const qprof_frame *below = QPROF_FRAME_AT(&c, c.top);
    if (QPROF_LIKELY(c.top - th->floor < th->span && id && id != below->stack_id && method))
        c.at = qprof_callee(c.base, QPROF_AT(&c, qprof_node, below->node), method);
    return c;
}

/* Push the frame of a call that is not timed. The stores are in the order in which a reader, or
 * the next run after a kill, may see them: the frame, the top, and later the count.
 * @return 0: a signal handler has recorded meanwhile, and the frame may not be this one */
static inline int qprof_push_untimed(const qprof_place *c, uintptr_t id)
{
    qprof_frame *f = QPROF_AT(c, qprof_frame, c->top) + 1;
    QPROF_STORE(f->stack_id, (uint64_t)id);
    QPROF_STORE(f->node, c->at);
    QPROF_PUBLISH(c->u->top, c->top + sizeof(qprof_frame));
    QPROF_FENCE();
    return QPROF_LOAD(c->u->n_exits) == c->n_exits;
}

#if defined(QPROF_ONCE) /* inside the library: record/event/fast.c has these for all files */
void qprof_timed_entry(qprof_thread *th, uint32_t gate, uintptr_t method, uintptr_t id);
void qprof_untimed_entry(qprof_thread *th, uintptr_t method, uintptr_t id);
void qprof_timed_exit(qprof_thread *th, uintptr_t id);
void qprof_untimed_exit(qprof_thread *th, uintptr_t id);
#else
#define QPROF_ONCE static QPROF_APART
#endif

#if !defined(QPROF_ELSEWHERE)
/* An entry that reads the clock: after the look-up and before the stores, so that the caller pays
 * for the one and the callee for the other; first where a read waits for earlier loads. */
QPROF_ONCE void qprof_timed_entry(qprof_thread *th, uint32_t gate, uintptr_t method,
                                  uintptr_t id)
{
    uint64_t now = gate & QPROF_HOOK_WAITS ? qprof_ticks() : 0;
    const qprof_place c = qprof_choose(th, method, id);
    if (QPROF_UNLIKELY(!c.at)) {
        qprof_cold_entry(th, method, id);
        return;
    }
    qprof_pulse *u = c.u;
    qprof_node *n = QPROF_AT(&c, qprof_node, c.at);
    qprof_frame *f = QPROF_AT(&c, qprof_frame, c.top) + 1;
    if (!(gate & QPROF_HOOK_WAITS))
        now = qprof_ticks();
    now -= u->offset;
    QPROF_STORE(u->top, c.top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    if (QPROF_UNLIKELY(QPROF_LOAD(u->n_exits) != c.n_exits || now - u->last >= QPROF_LONG)) {
        QPROF_STORE(u->top, c.top);
        qprof_cold_entry(th, method, id);
        return;
    }
    QPROF_STORE(f->stack_id, (uint64_t)id);
    QPROF_STORE(f->node, c.at);
    QPROF_STORE(f->start, now);
    QPROF_ADD(n->n_calls, 1);
    qprof_charge(u, QPROF_AT(&c, qprof_node, f[-1].node), now);
    QPROF_STORE(n->begun, n->self);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, c.top + sizeof(qprof_frame));
}

/* An entry whose time may be estimated. */
QPROF_ONCE void qprof_untimed_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    const qprof_place c = qprof_choose(th, method, id);
    if (QPROF_UNLIKELY(!c.at))
        qprof_cold_entry(th, method, id);
    else if (QPROF_UNLIKELY(!qprof_push_untimed(&c, id)))
        qprof_cold_overtaken(th, id, c.at, c.top + sizeof(qprof_frame));
    else if (QPROF_UNLIKELY(qprof_count_untimed(th, QPROF_AT(&c, qprof_node, c.at))))
        qprof_cold_begin_timing(th, QPROF_AT(&c, qprof_node, c.at));
}
#endif

/* qprof_entry() of a thread whose gate, already loaded, is not 0. */
static inline void qprof_open_entry(qprof_thread *th, uint32_t gate, uintptr_t method,
                                    uintptr_t id)
{
    if (QPROF_UNLIKELY(gate != QPROF_GATE_OPEN)) {
        if (gate >= QPROF_HOOK_STACK)
            qprof_cold_entry(th, method, id);
        else if (gate & QPROF_HOOK_EXACT)
            qprof_timed_entry(th, gate, method, id);
        else
            qprof_untimed_entry(th, method, id);
        return;
    }
    const qprof_place c = qprof_choose(th, method, id);
    if (QPROF_UNLIKELY(!c.at))
        qprof_cold_entry(th, method, id);
    else if (QPROF_UNLIKELY(!qprof_push_untimed(&c, id)))
        qprof_cold_overtaken(th, id, c.at, c.top + sizeof(qprof_frame));
    else
        QPROF_ADD(QPROF_AT(&c, qprof_node, c.at)->n_calls, 1);
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

/* Is it the end of the frame on top alone, and in line? */
static inline int qprof_ends_top(const qprof_thread *th, uint64_t top, uintptr_t id)
{
    const qprof_frame *f = QPROF_FRAME_AT(th, top);
    return (int64_t)top > (int64_t)th->low && f[-1].stack_id == id;
}

#if !defined(QPROF_ELSEWHERE)
/* An exit that reads the clock, first: the caller pays for the rest. */
QPROF_ONCE void qprof_timed_exit(qprof_thread *th, uintptr_t id)
{
    uint64_t now = qprof_ticks();
    qprof_pulse *u = th->pulse;
    uint64_t top = QPROF_LOAD(u->top);
    now -= u->offset;
    if (QPROF_UNLIKELY(!qprof_ends_top(th, top, id) || now - u->last >= QPROF_LONG)) {
        qprof_cold_exit(th, id);
        return;
    }
    qprof_node *n = QPROF_AT(th, qprof_node, QPROF_FRAME_AT(th, top)->node);
    QPROF_STORE(u->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    qprof_charge(u, n, now);
    qprof_settle(n);
    QPROF_ADD(u->n_exits, 1);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, top - sizeof(qprof_frame));
}

/* An exit whose time may be estimated. */
QPROF_ONCE void qprof_untimed_exit(qprof_thread *th, uintptr_t id)
{
    qprof_pulse *u = th->pulse;
    uint64_t top = QPROF_LOAD(u->top);
    if (QPROF_UNLIKELY(!qprof_ends_top(th, top, id))) {
        qprof_cold_exit(th, id);
        return;
    }
    qprof_node *n = QPROF_AT(th, qprof_node, QPROF_FRAME_AT(th, top)->node);
    if (QPROF_UNLIKELY(n->begun != QPROF_LOAD(*th->tick))) {
        qprof_cold_end_timing(th, n);
        return;
    }
    QPROF_ADD(u->n_exits, 1);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, top - sizeof(qprof_frame));
}
#endif

/* qprof_exit() of a thread whose gate, already loaded, is not 0. */
static inline void qprof_open_exit(qprof_thread *th, uint32_t gate, uintptr_t id)
{
    qprof_pulse *u = th->pulse;
    uint64_t top;
    if (QPROF_UNLIKELY(gate != QPROF_GATE_OPEN)) {
        if (gate >= QPROF_HOOK_STACK)
            qprof_cold_exit(th, id);
        else if (gate & QPROF_HOOK_EXACT)
            qprof_timed_exit(th, id);
        else
            qprof_untimed_exit(th, id);
        return;
    }
    top = QPROF_LOAD(u->top);
    if (QPROF_UNLIKELY(!qprof_ends_top(th, top, id))) {
        qprof_cold_exit(th, id);
        return;
    }
    QPROF_ADD(u->n_exits, 1);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, top - sizeof(qprof_frame));
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

/* ---- tokens ------------------------------------------------------------------------------ */

/* The callee of the token on top that the inline path may use.
 * @return its offset; 0: look it up out of line */
static inline uint64_t qprof_token_callee(const qprof_pulse *u, char *base, qprof_token caller,
                                          uintptr_t method)
{
    if (QPROF_UNLIKELY(QPROF_LOAD(u->top) != caller || !method))
        return 0;
    void *p = base + (caller - QPROF_TOP_TOKEN);
    return qprof_callee(base, (qprof_node *)p, method);
}

/* The token to which a frame returns.
 * @return 0: ask out of line */
static inline qprof_token qprof_token_caller(const qprof_pulse *u, char *base,
                                             qprof_token token)
{
    if (QPROF_UNLIKELY(QPROF_LOAD(u->top) != token))
        return 0;
    const void *n = base + (token - QPROF_TOP_TOKEN);
    uint64_t parent = (uint64_t)((const qprof_node *)n)->parent << 6;
    return QPROF_LIKELY(parent) ? parent | QPROF_TOP_TOKEN : 0;
}

static QPROF_APART qprof_token qprof_begin_timing(qprof_thread *th, qprof_node *n,
                                                  qprof_token token)
{
    qprof_cold_begin_timing(th, n);
    return token;
}

/* An entry of a thread whose calls are not only counted in line: where their time may be estimated;
 * where each is timed. */
static QPROF_APART qprof_token qprof_untimed_enter(qprof_thread *th, uint32_t gate,
                                                   qprof_token caller, uintptr_t method)
{
    qprof_pulse *u = th->pulse;
    char *base = th->base;
    uint64_t at = 0;
    if (QPROF_LIKELY((gate & ~(uint32_t)QPROF_GATE_CLOCK) ==
                     (QPROF_GATE_TOKENS | QPROF_HOOK_ADAPTIVE)))
        at = qprof_token_callee(u, base, caller, method);
    if (QPROF_UNLIKELY(!at))
        return qprof_cold_enter(th, caller, method);
    qprof_node *n = (qprof_node *)(void *)(base + at);
    QPROF_PUBLISH(u->top, at | QPROF_TOP_TOKEN);
    if (QPROF_UNLIKELY(qprof_count_untimed(th, n)))
        return qprof_begin_timing(th, n, at | QPROF_TOP_TOKEN);
    return at | QPROF_TOP_TOKEN;
}

static QPROF_APART qprof_token qprof_timed_enter(qprof_thread *th, uint32_t gate,
                                                 qprof_token caller, uintptr_t method)
{
    uint64_t now = gate & QPROF_HOOK_WAITS ? qprof_ticks() : 0, at = 0;
    qprof_pulse *u = th->pulse;
    char *base = th->base;
    if (QPROF_LIKELY((gate & ~(uint32_t)QPROF_GATE_CLOCK) ==
                     (QPROF_GATE_TOKENS | QPROF_HOOK_EXACT)))
        at = qprof_token_callee(u, base, caller, method);
    if (QPROF_UNLIKELY(!at))
        return qprof_cold_enter(th, caller, method);
    qprof_node *n = (qprof_node *)(void *)(base + at);
    if (!(gate & QPROF_HOOK_WAITS))
        now = qprof_ticks();
    now -= u->offset;
    QPROF_STORE(u->top, caller | QPROF_TOP_BUSY);
    QPROF_FENCE();
    if (QPROF_UNLIKELY(now - u->last >= QPROF_LONG)) {
        QPROF_STORE(u->top, caller);
        return qprof_cold_enter(th, caller, method);
    }
    QPROF_ADD(n->n_calls, 1);
    qprof_charge(u, (qprof_node *)(void *)(base + (caller - QPROF_TOP_TOKEN)), now);
    QPROF_STORE(n->begun, n->self);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, at | QPROF_TOP_TOKEN);
    return at | QPROF_TOP_TOKEN;
}

/* The same for an exit. */
static QPROF_APART void qprof_untimed_leave(qprof_thread *th, uint32_t gate, qprof_token token)
{
    qprof_pulse *u = th->pulse;
    char *base = th->base;
    qprof_token caller = 0;
    if (QPROF_LIKELY((gate & ~(uint32_t)QPROF_GATE_CLOCK) ==
                     (QPROF_GATE_TOKENS | QPROF_HOOK_ADAPTIVE)))
        caller = qprof_token_caller(u, base, token);
    if (QPROF_UNLIKELY(!caller)) {
        qprof_cold_leave(th, token);
        return;
    }
    qprof_node *n = (qprof_node *)(void *)(base + (token - QPROF_TOP_TOKEN));
    if (QPROF_UNLIKELY(n->begun != QPROF_LOAD(*th->tick)))
        qprof_cold_end_timing(th, n);
    else
        QPROF_PUBLISH(u->top, caller);
}

static QPROF_APART void qprof_timed_leave(qprof_thread *th, uint32_t gate, qprof_token token)
{
    uint64_t now = qprof_ticks();
    qprof_pulse *u = th->pulse;
    char *base = th->base;
    qprof_token caller = 0;
    now -= u->offset;
    if (QPROF_LIKELY((gate & ~(uint32_t)QPROF_GATE_CLOCK) ==
                     (QPROF_GATE_TOKENS | QPROF_HOOK_EXACT)))
        caller = qprof_token_caller(u, base, token);
    if (QPROF_UNLIKELY(!caller || now - u->last >= QPROF_LONG)) {
        qprof_cold_leave(th, token);
        return;
    }
    qprof_node *n = (qprof_node *)(void *)(base + (token - QPROF_TOP_TOKEN));
    QPROF_STORE(u->top, token | QPROF_TOP_BUSY);
    QPROF_FENCE();
    qprof_charge(u, n, now);
    qprof_settle(n);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, caller);
}

/** Enter a method, for a host that keeps one word in each of its own frames.
 *
 * The word replaces the stack id: it names the call path, and the library keeps no frame. Calls with
 * tokens and calls with stack ids may be mixed on a thread, at the price of the rare case. Where
 * triggers, traces, block times or the like look at a call, it is handled out of line, with the same
 * meaning.
 *
 * @param th      from qprof_thread_handle()
 * @param caller  token of the frame that calls; QPROF_NO_TOKEN: there is none, or it is unknown
 * @param method  as for qprof_entry()
 * @return the token of the new frame, valid until it ends; QPROF_NO_TOKEN: it is not recorded.
 *         Frames above `caller` that the host has not ended end now
 * Thread safety: only the thread that uses the handle. Cost: about 1 ns, and a clock read with
 * -time=exact. */
static inline qprof_token qprof_token_enter(qprof_thread *th, qprof_token caller,
                                            qprof_MethodID method)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QPROF_UNLIKELY(gate != QPROF_GATE_TOKENS))
        return gate & QPROF_HOOK_EXACT ? qprof_timed_enter(th, gate, caller, method)
               : gate                  ? qprof_untimed_enter(th, gate, caller, method)
                                       : QPROF_NO_TOKEN;
    qprof_pulse *u = th->pulse;
    char *base = th->base;
    uint64_t at = qprof_token_callee(u, base, caller, method);
    if (QPROF_UNLIKELY(!at))
        return qprof_cold_enter(th, caller, method);
    QPROF_PUBLISH(u->top, at | QPROF_TOP_TOKEN);
    QPROF_ADD(((qprof_node *)(void *)(base + at))->n_calls, 1);
    return at | QPROF_TOP_TOKEN;
}

/** Leave a frame: execution resumes in its caller. Frames above it end with it.
 *
 * @param th     from qprof_thread_handle()
 * @param token  of the frame that ends; QPROF_NO_TOKEN: nothing happens
 * Thread safety: as qprof_token_enter(). Cost: the same. */
static inline void qprof_token_leave(qprof_thread *th, qprof_token token)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QPROF_UNLIKELY(gate != QPROF_GATE_TOKENS)) {
        if (gate & QPROF_HOOK_EXACT)
            qprof_timed_leave(th, gate, token);
        else if (gate)
            qprof_untimed_leave(th, gate, token);
        return;
    }
    qprof_pulse *u = th->pulse;
    qprof_token caller = qprof_token_caller(u, th->base, token);
    if (QPROF_UNLIKELY(!caller))
        qprof_cold_leave(th, token);
    else
        QPROF_PUBLISH(u->top, caller);
}

/** Return the token of the frame on top; of no frame: the token that begins a stack.
 *
 * A host keeps it in the frames that are not recorded, from which recorded ones are called.
 *
 * @param th  from qprof_thread_handle()
 * @return the token; QPROF_NO_TOKEN: nothing is recorded
 * Thread safety: as qprof_token_enter(). Cost: three instructions; a call in the rare case. */
static inline qprof_token qprof_token_top(qprof_thread *th)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    uint64_t top = gate & QPROF_HOOK_TOKENS ? QPROF_LOAD(th->pulse->top) : QPROF_TOP_BUSY;
    return QPROF_LIKELY(!(top & QPROF_TOP_BUSY)) ? top : qprof_cold_top(th);
}

/** Replace a frame by a tail call: the frame ends, and its caller calls the method.
 *
 * @param th      from qprof_thread_handle()
 * @param token   of the frame that ends
 * @param method  as for qprof_entry()
 * @return as qprof_token_enter()
 * Thread safety: as qprof_token_enter(). Cost: of one exit and one entry. */
static inline qprof_token qprof_token_tail(qprof_thread *th, qprof_token token,
                                           qprof_MethodID method)
{
    qprof_token_leave(th, token);
    return qprof_token_enter(th, qprof_token_top(th), method);
}

/* The figures of the call path on top. @return NULL: not the usual case, ask out of line */
static inline qprof_metrics *qprof_top_metrics(const qprof_thread *th)
{
    enum { METRICS_AT = 56 /* in what node.more names */ };
    const uint32_t usual = QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE | QPROF_GATE_CLOCK |
                           QPROF_HOOK_TOKENS | QPROF_HOOK_STEPS;
    uint64_t at;
    uint32_t more, cell;
    if (QPROF_UNLIKELY((QPROF_LOAD(th->gate) & ~usual) != QPROF_GATE_OPEN))
        return NULL;
    at = QPROF_LOAD(th->pulse->top);
    if (QPROF_UNLIKELY((int64_t)at <= 0)) /* no stack yet, or busy */
        return NULL;
    at = QPROF_LIKELY(at & QPROF_TOP_TOKEN) ? at - QPROF_TOP_TOKEN
                                            : QPROF_LOAD(QPROF_AT(th, qprof_frame, at)->node);
    more = QPROF_LOAD(QPROF_AT(th, qprof_node, at)->more);
    if (QPROF_UNLIKELY(!at || !more))
        return NULL;
    cell = QPROF_LOAD(*QPROF_AT(th, uint32_t, ((uint64_t)more << 6) + METRICS_AT));
    return QPROF_LIKELY(cell) ? QPROF_CELL(th, qprof_metrics, cell) : NULL;
}

#include "qprof/memory.h"       /* allocations and frees */
#include "qprof/metrics.h"      /* what the host counts by call path */
#include "qprof/samples_only.h" /* when only the stack is kept */

#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif
#endif /* GNU C */
#endif
