/* request.c: requests: an endpoint is a method of a kind of its own, and a request a call of it by whatever is
 * on top when it begins. So the tree below the endpoint is its own, and no call costs more. Read
 * qp_request_begin and qp_request_end first.
 *
 * A request that ends with a frame below it needs no notice: readers count it as cut, because it was begun, is
 * open no more and was not ended. What is known of an open request lies with its path, of which at most one
 * call is open. */
#include "record/event/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/containers/dict.h"
#include "record/clock/clock.h"
#include "record/ring/ring.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

/* Of longer names this much is kept, and a hash. */
enum { NAME_BYTES = 256, KEPT_BYTES = 200, PROBES_MAX = 64 };

static const char others[] = "<other>";

static qp_method *method_at(qp_cell cell)
{
    return qp_at(&qp_recorder.space, cell);
}

/* ---- endpoints --------------------------------------------------------------------------- */

/* Its name as it is kept, in [NAME_BYTES]. @return its hash */
static uint64_t canonical(char *to, const char *name)
{
    size_t n = strlen(name);
    uint64_t hash = qp_hash_bytes(QP_HASH_START, name, n);
    if (n < NAME_BYTES)
        memcpy(to, name, n + 1);
    else
        snprintf(to, NAME_BYTES, "%.*s...#%016llx", (int)KEPT_BYTES, name,
                 (unsigned long long)hash);
    return hash;
}

/* The i-th id that an endpoint with this hash may have: of the upper half of the numbers, where no host has
 * addresses. */
static uintptr_t id_of(uint64_t hash, unsigned i)
{
    const uintptr_t top = ~(UINTPTR_MAX >> 1);
    return top | (((uintptr_t)(hash ^ hash >> 32) + i) & (UINTPTR_MAX >> 2));
}

/* Is it the endpoint of this name? One that is just being registered has none yet. */
static bool is_named(qp_cell method, const char *name)
{
    const qp_method *m = method_at(method);
    uint32_t flags = qp_observe(&m->flags);
    return !(flags & QP_METHOD_REGISTERED) ||
           ((flags & QP_METHOD_ENDPOINT) &&
            strcmp(qp_texts_of(&qp_recorder.texts, &m->name), name) == 0);
}

/* @return 0: no room, or another method has the id */
static qp_cell add_endpoint(uintptr_t id, const char *name)
{
    const qp_method_info info = {
        .id = id, .name = name, .flags = QP_METHOD_PSEUDO | QP_METHOD_ENDPOINT};
    if (qp_methods_register(&qp_recorder.methods, &info) == QP_NO_ROOM)
        return 0;
    qp_cell method = qp_methods_find(&qp_recorder.methods, id);
    if (method)
        qp_triggers_method(method);
    return method;
}

/* Is there room for one more? */
static bool may_add(void)
{
    uint64_t most = qp_recorder.options.number[QP_OPT_endpoints];
    return qp_load(&qp_recorder.n_endpoints) < most &&
           qp_fetch_add(&qp_recorder.n_endpoints, 1) < most;
}

/* The endpoint of a name; it is made if there is none. @return 0: it cannot be */
static qp_cell endpoint_of(const char *given)
{
    char name[NAME_BYTES];
    bool is_other = !given || !*given;
    if (is_other)
        qp_count(&qp_recorder.space, QP_D_e_arg);
    uint64_t hash = canonical(name, is_other ? others : given);
    is_other |= strcmp(name, others) == 0;
    for (unsigned i = 0; i < PROBES_MAX; i++) {
        uintptr_t id = id_of(hash, i);
        qp_cell method = qp_methods_find(&qp_recorder.methods, id);
        if (method && !is_named(method, name))
            continue;
        if (method)
            return method;
        if (is_other || may_add())
            return add_endpoint(id, name);
        qp_count(&qp_recorder.space, QP_D_endpoint_limit);
        return endpoint_of(others);
    }
    return 0;
}

/* ---- begin ------------------------------------------------------------------------------- */

/* The path of the top frame if it is a call of the endpoint, and its own: without room for one a frame has its
 * caller's, which may be an open request of the same endpoint. @return 0: it is not */
static qp_cell path_of(qprof_thread *th, qprof_frame *top, qp_cell endpoint)
{
    if (top->flags & (QPROF_FRAME_OVERFLOWED | QPROF_FRAME_FOLDED))
        return 0;
    qp_cell path = top->node ? qp_frame_path(top) : qp_samples_path(th, top);
    return qp_node_at(th, path)->method == endpoint ? path : 0;
}

static void copy_id(uint8_t *to, const unsigned char *id, size_t n)
{
    if (id)
        memcpy(to, id, n);
    else
        memset(to, 0, n);
}

/* Enter the endpoint above the frame on top: with a token, or with the stack id of that frame, by which the host
 * resumes in it. */
static void enter_endpoint(qprof_thread *th, uintptr_t id)
{
    const qp_thread_private *own = qp_own_of(th);
    uint64_t at = QPROF_LOAD(th->pulse->top);
    bool has_frame = at && !(at & (QPROF_TOP_BUSY | QPROF_TOP_TOKEN));
    const qprof_frame *top = has_frame ? QPROF_FRAME_AT(th, at) : NULL;
    if (own->uses_tokens && !(top && (top->flags & QPROF_FRAME_ID)))
        qp_event_enter_token(th, id);
    else
        qp_event_enter_id(th, id, top && top->stack_id ? (uintptr_t)top->stack_id : id);
}

/* No exit in line ends it: with the id of its caller, an exit means the endpoint's frame. */
static void guard_frame(qprof_thread *th, qprof_frame *top)
{
    const qp_thread_private *own = qp_own_of(th);
    if (!own->has_token && (!own->uses_tokens || (top->flags & QPROF_FRAME_ID)))
        qp_stack_flag(th, top, QPROF_FRAME_SAME);
}

/* Note what is known of the request that is on top. @return false: it is not */
static bool note_begin(qprof_thread *th, qp_cell endpoint, const unsigned char *trace,
                       const unsigned char *span)
{
    const uint32_t off = QP_HOOK_STOPPED | QP_HOOK_OFF;
    qprof_frame *top = qp_event_look(th);
    qp_cell path = top && !th->pulse->n_deep ? path_of(th, top, endpoint) : 0;
    qp_node_requests *r = path ? qp_tree_requests(th, path) : NULL;
    if (r) {
        r->is_counted = QPROF_LOAD(th->gate) & off ? QP_REQUEST_UNCOUNTED : QP_REQUEST_COUNTED;
        /* stacks that share a row may have several open requests of a path */
        r->begun = th->user ? 0 : qp_clock_elapsed();
        copy_id(r->trace, trace, sizeof r->trace);
        copy_id(r->span, span, sizeof r->span);
        qp_bump(&r->n_begun, r->is_counted == QP_REQUEST_COUNTED);
        r->first_step = 0;
        if (qp_kept_is_on() && r->begun && r->is_counted == QP_REQUEST_COUNTED)
            qp_steps_begin(th, path, r);
        guard_frame(th, top);
    }
    if (top)
        qp_event_end(th, top);
    return r != NULL;
}

void qp_request_begin(qprof_thread *th, const char *name, const unsigned char *trace,
                      const unsigned char *span)
{
    int host_errno = errno;
    qp_thread_private *own = qp_own_of(th);
    qp_cell endpoint = endpoint_of(name);
    if (endpoint)
        enter_endpoint(th, (uintptr_t)qp_method_id(endpoint));
    if (endpoint && qp_is_open(th) && note_begin(th, endpoint, trace, span)) {
        own->n_unbegun = 0;
    } else {
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
        own->n_unbegun = (uint8_t)(own->n_unbegun + (own->n_unbegun < UINT8_MAX));
    }
    errno = host_errno;
}

/* ---- end --------------------------------------------------------------------------------- */

static void note_slowest(qp_node_requests *r, uint64_t ns)
{
    const qp_head *h = qp_recorder_head();
    if (ns <= r->slowest_ns)
        return;
    qp_store(&r->slowest_ns, 0); /* a reader finds no mixture of two requests */
    qp_signal_fence();
    qp_store(&r->slowest_at, h->started_at + qp_clock_ns(r->begun - h->begun_raw));
    memcpy(r->slowest_trace, r->trace, sizeof r->trace);
    memcpy(r->slowest_span, r->span, sizeof r->span);
    qp_signal_fence();
    qp_publish(&r->slowest_ns, ns);
}

/* A request of this path ends. */
static void note_end(qprof_thread *th, qp_cell path, bool has_failed)
{
    const qp_node_more *more = QPROF_CELL(th, qp_node_more, qp_node_at(th, path)->more);
    bool has_record = qp_node_at(th, path)->more && more->requests;
    qp_node_requests *r = has_record ? QPROF_CELL(th, qp_node_requests, more->requests) : NULL;
    if (!r || r->is_counted != QP_REQUEST_COUNTED)
        return;
    const uint64_t now = r->begun ? qp_clock_elapsed() : 0;
    if (r->first_step && qp_steps_of(th)->open == path)
        qp_steps_end(th, r, now, has_failed ? QP_KEPT_FAILED : 0);
    if (!th->user)
        r->is_counted = QP_REQUEST_UNCOUNTED;
    if (r->begun) {
        uint64_t ns = qp_clock_ns(now - r->begun);
        qp_bump(&r->n_timed, 1);
        qp_bump(&r->elapsed_ns, ns);
        note_slowest(r, ns);
    }
    qp_bump(&r->n_failed, has_failed);
    qp_bump(&r->n_ended, 1);
}

/* Where a token is on top. @return false: no request is open */
static bool end_path(qprof_thread *th, qprof_frame *top, bool has_failed)
{
    qp_cell at = qp_frame_path(top);
    while (at && !qp_method_is_endpoint(qp_node_at(th, at)->method))
        at = qp_node_at(th, at)->parent;
    if (!at)
        return false;
    note_end(th, at, has_failed);
    qp_event_end_calls(th, top, qp_node_at(th, at)->parent, qp_clock_now(th));
    return true;
}

/* Where frames are kept. */
static bool end_frames(qprof_thread *th, qprof_frame **top, bool has_failed)
{
    qp_stack_cursor c = qp_stack_from(th, *top);
    uint64_t depth = qp_stack_depth(th, *top), n = 0;
    while (n < depth && !qp_method_is_endpoint(qp_request_method(th, c.f))) {
        qp_stack_down(th, &c);
        n++;
    }
    if (n == depth)
        return false;
    const uint32_t shared = QPROF_FRAME_OVERFLOWED | QPROF_FRAME_FOLDED;
    if (c.f->node && !(c.f->flags & shared))
        note_end(th, qp_frame_path(c.f), has_failed);
    qp_event_pop(th, top, n + 1);
    return true;
}

void qp_request_end(qprof_thread *th, bool has_failed)
{
    qp_thread_private *own = qp_own_of(th);
    if (own->n_unbegun) {
        own->n_unbegun--;
        return;
    }
    int host_errno = errno;
    qprof_frame *top = qp_event_begin(th);
    uint64_t n_unwound = th->pulse->n_unwound;
    if (top &&
        !(own->has_token ? end_path(th, top, has_failed) : end_frames(th, &top, has_failed)))
        qp_count(&qp_recorder.space, QP_D_request_unbegun);
    if (top && qp_stack_fold(th, top))
        top = qp_stack_floor(th);
    if (top)
        qp_event_left(th, top, n_unwound);
    qp_event_triggers_settle();
    errno = host_errno;
}

void qp_request_resume(qprof_thread *th, qp_cell endpoint)
{
    enter_endpoint(th, (uintptr_t)qp_method_id(endpoint));
    qprof_frame *top = qp_event_look(th);
    qp_node_requests *r = top && qp_method_is_endpoint(qp_request_method(th, top))
                              ? qp_tree_requests(th, qp_frame_path(top))
                              : NULL;
    if (r) {
        r->is_counted = QP_REQUEST_COUNTED;
        r->begun = 0;
        guard_frame(th, top);
    }
    if (top)
        qp_event_end(th, top);
}
