/* qprof/samples_only.h: entries and exits when only the stack is kept, for samples. Part of qprof/inline.h,
 * which includes it. */
#ifndef QPROF_SAMPLES_ONLY_H
#define QPROF_SAMPLES_ONLY_H

#include "qprof/inline.h"

#if (defined(__GNUC__) || defined(__clang__)) && !defined(QPROF_NO_INLINE)

/* Push a frame. @return 0: not the ordinary case, nothing changed */
static inline int qprof_stack_push(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    qprof_frame *f = QPROF_FRAME_AT(th, top) + 1;
    if (QPROF_UNLIKELY(top - th->floor >= th->span || !method || !id || id == f[-1].stack_id))
        return 0;
    QPROF_STORE(th->pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    QPROF_STORE(f->stack_id, (uint64_t)id);
    QPROF_STORE(f->method_id, (uint64_t)method);
    QPROF_STORE(f->node, 0);
    QPROF_FENCE();
    QPROF_PUBLISH(th->pulse->top, top + sizeof(qprof_frame));
    return 1;
}

/* Pop the top frame. @return 0: not the ordinary case, nothing changed */
static inline int qprof_stack_pop(qprof_thread *th, uintptr_t id)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    const qprof_frame *f = QPROF_FRAME_AT(th, top);
    if (QPROF_UNLIKELY((int64_t)top <= (int64_t)th->low || f[-1].stack_id != id))
        return 0;
    QPROF_PUBLISH(th->pulse->top, top - sizeof(qprof_frame));
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

/** Return whether samples wait for a thread.
 *
 * For a host that knows which block of a method runs (qprof/sampling.h): it answers with
 * qprof_sample_block().
 *
 * @param th  from qprof_thread_handle()
 * @return 1 or 0
 * Thread safety: only the thread that uses the handle. Cost: two instructions. */
static inline int qprof_has_samples(const qprof_thread *th)
{
    return (QPROF_LOAD(th->gate) & QPROF_HOOK_SAMPLE) != 0;
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
                       !qprof_stack_push(th, method, id))) {
        if (gate)
            qprof_cold_entry(th, method, id);
    }
}

static inline void qprof_stack_exit(qprof_thread *th, qprof_StackID id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QPROF_UNLIKELY(gate != (QPROF_GATE_OPEN | QPROF_HOOK_STACK) ||
                       !qprof_stack_pop(th, id))) {
        if (gate)
            qprof_cold_exit(th, id);
    }
}

#endif
#endif
