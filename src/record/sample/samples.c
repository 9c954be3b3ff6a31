/* samples.c: crediting PC samples to call paths. Read qp_samples_take first. */
#include "record/sample/sample.h"

#include "base/atomic.h"
#include "format/layout.h"
#include "record/clock/clock.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"

static bool is_stopped(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF);
}

/* ---- paths of frames that have none ------------------------------------------------------ */

static qp_cell record_of(uint64_t method)
{
    qp_methods *all = &qp_recorder.methods;
    bool is_new;
    if (qp_method_is_nameless(method))
        return all->anonymous;
    qp_cell cell = qp_methods_mention(all, method, &is_new);
    if (is_new && qp_recorder.callback && !qp_method_is_registered(all, cell))
        qp_store(&qp_recorder.has_unknown, true);
    if (!cell)
        qp_count(&qp_recorder.space, QP_D_method_limit);
    return cell ? cell : all->overflow;
}

qp_cell qp_samples_callee(qprof_thread *th, qp_cell parent, uint64_t method)
{
    uint64_t key = qp_method_is_nameless(method) ? 0 : method;
    if (qp_tree_is_overflow(th, parent))
        return parent;
    qp_cell cell = qp_tree_find(th, parent, key);
    if (!cell)
        cell = qp_tree_add(th, parent, record_of(method));
    if (!cell || qp_tree_is_overflow(th, cell))
        qp_count(&qp_recorder.space, QP_D_tree_overflow);
    return cell ? cell : parent;
}

/* Walk down to a frame whose path is known, like the root's, and up again. A frame that was
 * looked up keeps its path while it is open, so a deep stack costs much only once. */
qp_cell qp_samples_path(qprof_thread *th, qprof_frame *top)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    while (!c.f->node && qp_stack_down(th, &c))
        ;
    qp_cell path = qp_frame_path(c.f);
    while (c.f != top) {
        qp_stack_up(th, &c);
        if (!c.f->node)
            QPROF_STORE(c.f->node, (uint64_t)qp_samples_callee(th, path, c.f->method_id) << 6);
        path = qp_frame_path(c.f);
    }
    return path;
}

static qp_cell path_of(qprof_thread *th, qprof_frame *top)
{
    return top->node ? qp_frame_path(top) : qp_samples_path(th, top);
}

/* ---- frames in no area ------------------------------------------------------------------- */

enum { DEEPEST = 4096 }; /* frames that are looked at for one sample */

/* The outermost of the innermost frames that is in no area. @return NULL: none is */
static const qprof_frame *outermost_excluded(const qprof_thread *th)
{
    const qprof_frame *found = NULL, *f;
    uint64_t at = qp_own_of(th)->flagged;
    for (uint32_t n = 0; at && n < DEEPEST; n++, at = (uint64_t)f->low << 6) {
        f = QPROF_AT(th, qprof_frame, at);
        if (f->flags & QPROF_FRAME_EXCLUDED)
            found = f;
    }
    return found;
}

static qp_cell callee_by_record(qprof_thread *th, qp_cell parent, qp_cell record)
{
    if (qp_tree_is_overflow(th, parent))
        return parent;
    qp_cell cell = qp_tree_find(th, parent, qp_method_id(record));
    cell = cell ? cell : qp_tree_add(th, parent, record);
    return cell ? cell : parent;
}

/* The path of the top frame as if all methods were in areas: calls and times have another one. It is
 * made if need be, and has samples alone. */
static qp_cell path_of_all(qprof_thread *th, qprof_frame *top)
{
    const qprof_frame *first = outermost_excluded(th);
    if (!first || qp_recorder.options.number[QP_OPT_samples_in_areas])
        return path_of(th, top);
    qp_stack_cursor c = qp_stack_from(th, top);
    for (uint32_t n = 0; c.f != first && n < DEEPEST && qp_stack_down(th, &c); n++)
        ;
    qp_cell path = qp_frame_path(c.f); /* of its caller, if it is in no area */
    if (c.f->flags & QPROF_FRAME_EXCLUDED)
        path = callee_by_record(th, path, qp_frame_method(th, c.f));
    while (c.f != top) {
        qp_stack_up(th, &c);
        path = callee_by_record(th, path, qp_frame_method(th, c.f));
    }
    return path;
}

/* ---- crediting --------------------------------------------------------------------------- */

static bool is_critical_method(uint64_t method)
{
    static const qprof_MethodID of_word[] = {QPROF_METHOD_GC, QPROF_METHOD_COMPILER,
                                             QPROF_METHOD_LOADER};
    uint64_t words = qp_recorder.options.number[QP_OPT_pc_critical];
    for (unsigned i = 0; i < 3 && words != UINT64_MAX; i++)
        if (words >> i & 1 && method == of_word[i])
            return true;
    return false;
}

/* @param traced  path that a trace names: its calls are those of the areas */
static void credit(qprof_thread *th, qp_cell sampled, qp_cell traced, uint64_t n,
                   bool is_critical)
{
    if (is_critical || is_critical_method(qp_method_id(qp_node_at(th, sampled)->method))) {
        qp_fetch_add(&qp_recorder_head()->n_critical, n);
        return;
    }
    if (QPROF_LOAD(th->gate) & QP_HOOK_TRACE)
        qp_trace_note(th, QP_TRACE_SAMPLE, traced, (uint32_t)n);
    qp_node_more *more = qp_tree_more(th, sampled);
    qp_cell method = qp_node_at(th, sampled)->method;
    if (QP_UNLIKELY(qp_load(&qp_is_triggering)))
        qp_event_later(QP_EVENT_SAMPLE, qp_method_id(method));
    if (more)
        qp_bump(&more->samples, n);
    else
        qp_count(&qp_recorder.space, QP_D_sample_lost);
}

/* Credit `wait` to a path; 0: to that of the top frame. They were taken while the thread recorded, even
 * if it has been stopped since, or the command has changed. Areas divide times, and not samples.
 * @return the path of the samples; 0: nothing waits */
static qp_cell settle(qprof_thread *th, qprof_frame *top, qp_cell path, qp_ticks wait,
                      const qp_os_thread_slot *slot)
{
    if (!wait.n_passes)
        return 0;
    qp_cell sampled = path ? path : path_of_all(th, top);
    path = path ? path : path_of(th, top);
    if (wait.n_samples)
        credit(th, sampled, path, wait.n_samples, slot && qp_load(&slot->n_critical));
    qprof_node *node = qp_node_at(th, path);
    qp_node_metrics *metrics = wait.off && node->parent ? qp_tree_metrics(th, path) : NULL;
    if (metrics)
        qp_bump(&metrics->off, wait.off);
    if (qp_recorder_head()->time_mode == QP_TIME_SAMPLED && wait.ticks && node->parent) {
        QPROF_ADD(node->self, wait.ticks);
        QPROF_ADD(node->self_max, wait.n_passes);
    }
    return sampled;
}

static void (*wake)(void); /* the host's; NULL: none */

void qp_samples_on(void (*given)(void))
{
    __atomic_store_n(&wake, given, __ATOMIC_RELAXED);
}

void qp_samples_wake(void)
{
    void (*given)(void) = __atomic_load_n(&wake, __ATOMIC_RELAXED);
    if (given)
        given();
}

void qp_samples_note(qprof_thread *th, uint64_t ticks, uint64_t n_samples, uint64_t off)
{
    if (qp_load(&qp_recorder_head()->stopped_since) || (QPROF_LOAD(th->gate) & QP_HOOK_OFF))
        return;
    qp_waiting *wait = qp_thread_waiting(th, true);
    if (!wait) {
        qp_count(&qp_recorder.space, QP_D_sample_lost);
        return;
    }
    qp_fetch_add(&wait->n_passes, 1);
    qp_fetch_add(&wait->ticks, ticks);
    qp_fetch_add(&wait->n_samples, n_samples);
    qp_fetch_add(&wait->off, off);
    if (qp_is_open(th))
        qp_fetch_or(&th->gate, QP_HOOK_SAMPLE);
}

static qp_ticks take_ticks(const qprof_thread *th)
{
    qp_waiting *wait = qp_thread_waiting(th, false);
    if (!wait)
        return (qp_ticks){0};
    return (qp_ticks){__atomic_exchange_n(&wait->n_passes, 0, __ATOMIC_RELAXED),
                      __atomic_exchange_n(&wait->ticks, 0, __ATOMIC_RELAXED),
                      __atomic_exchange_n(&wait->n_samples, 0, __ATOMIC_RELAXED),
                      __atomic_exchange_n(&wait->off, 0, __ATOMIC_RELAXED)};
}

void qp_samples_take(qprof_thread *th, qprof_frame *top, qp_cell path, int block)
{
    qp_ticks wait = take_ticks(th);
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_SAMPLE);
    path = settle(th, top, path, wait, qp_here.slot);
    if (path && block != QP_NO_BLOCK)
        qp_blocks_sampled(th, qp_node_at(th, path)->method, block,
                          wait.ticks ? wait.n_passes : wait.n_samples);
}

void qp_samples_add(qprof_thread *th, qprof_frame *top, uint64_t n)
{
    if (!is_stopped(th))
        credit(th, path_of_all(th, top), path_of(th, top), n, qp_here.slot->n_critical != 0);
}

/* The clear of all data comes between them and the next event. */
void qp_samples_clear(void)
{
    const qprof_thread *th;
    for (uint32_t i = 0; (th = qp_threads_at(i)) != NULL; i++)
        take_ticks(th);
}

void qp_samples_end(void)
{
    qprof_thread *th;
    for (uint32_t i = 0; (th = qp_threads_at(i)) != NULL; i++) {
        uint64_t top = qp_observe(&th->pulse) ? QPROF_LOAD(th->pulse->top) : 0;
        uint32_t os_thread = qp_load(&th->os_thread);
        const qp_os_thread_slot *slot = os_thread ? qp_os_thread_at(os_thread) : NULL;
        if (!top || (top & QPROF_TOP_BUSY))
            continue;
        if (top & QPROF_TOP_TOKEN)
            settle(th, NULL, (qp_cell)(top >> 6), take_ticks(th), slot);
        else
            settle(th, QPROF_AT(th, qprof_frame, top), 0, take_ticks(th), slot);
    }
}
