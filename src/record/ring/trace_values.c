/* trace_values.c: values that wait for their call. Read qp_trace_values_take first.
 *
 * A host passes the parameters before the call, and only the call shows the method; the result of a call that
 * it announced has its method in the return. Waiting values belong to one OS thread and to the
 * state of the thread at that moment: any entry or exit makes them invalid. The Xbase++ trace takes
 * all values at once. */
#include "record/ring/ring.h"

#include <string.h>

#include "record/tree/tree.h"
#include "record/trigger_list/trigger_list.h"

uint32_t qp_trace_wants_values;

/* More than is recorded of a text, which is cut at the end of a character. */
enum { VALUE_BYTES = 2048, TEXT_BYTES = 320, ROOM = 8000, FIELD_END = 0x1f };
static const char ellipsis[] = "\xe2\x80\xa6";

/* A cell and those after it. A value is its number in four bytes and three texts with their
 * NUL. */
typedef struct {
    const qprof_thread *th; /* NULL: nothing waits */
    uint64_t n_ended;       /* frames of it, when the values were taken */
    uint64_t top;           /* its top then */
    bool is_result;         /* for a return; else for a call */
    uint32_t n_bytes;
    char bytes[ROOM];
} waiting;

static uint64_t ended(const qprof_thread *th)
{
    return th->pulse->n_exits + th->pulse->n_unwound;
}

static uint64_t top_of(const qprof_thread *th)
{
    return QPROF_LOAD(th->pulse->top) & ~QPROF_TOP_BUSY;
}

static waiting *waiting_here(void)
{
    const qp_os_thread_slot *slot = qp_os_thread_here();
    return slot && slot->values ? qp_pool_at(qp_triggers_pool(0), slot->values) : NULL;
}

/* Is it still for the thread's next call? */
static bool is_for_next(const waiting *w, const qprof_thread *th)
{
    return w->th == th && w->top == top_of(th) && w->n_ended == ended(th);
}

static waiting *begin_waiting(const qprof_thread *th, bool is_result)
{
    qp_os_thread_slot *slot = qp_os_thread_here();
    if (slot && !slot->values)
        slot->values = qp_pool_take(qp_triggers_pool(0), sizeof(waiting));
    waiting *w = waiting_here();
    if (!w || (is_for_next(w, th) && w->is_result == is_result))
        return w;
    w->th = th;
    w->n_ended = ended(th);
    w->top = top_of(th);
    w->is_result = is_result;
    w->n_bytes = 0;
    return w;
}

/* Does the method's area retrieve its values? */
static bool is_retrieved(qp_cell method)
{
    const qp_method *m = method ? qp_at(&qp_recorder.space, method) : NULL;
    return m && (qp_load(&m->flags) & QP_METHOD_VALUES);
}

/* Cut a value after -max-fields fields. @return value, or the cut one in `to` */
static const char *cut_fields(const char *value, char to[VALUE_BYTES])
{
    uint64_t left = qp_recorder.options.number[QP_OPT_max_fields];
    const char *end = value;
    for (; left && (end = strchr(end, FIELD_END)) != NULL; left--)
        end++;
    size_t n = end ? (size_t)(end - value) : 0;
    if (!end || n + sizeof ellipsis > VALUE_BYTES)
        return value;
    memcpy(to, value, n);
    memcpy(to + n, ellipsis, sizeof ellipsis);
    return to;
}

static bool keep(waiting *w, const void *bytes, size_t n)
{
    if (w->n_bytes + n > ROOM)
        return false;
    memcpy(w->bytes + w->n_bytes, bytes, n);
    w->n_bytes += (uint32_t)n;
    return true;
}

static bool keep_text(waiting *w, const char *text, size_t most)
{
    return keep(w, text, strnlen(text, most - 1)) && keep(w, "", 1);
}

void qp_trace_values_take(qprof_thread *th, int number, const char *type, const char *value,
                          const char *comment)
{
    char cut[VALUE_BYTES];
    if (qp_load(&qp_trace_wants_values)) {
        qp_trace_value(th, number, type, value, comment);
        return;
    }
    value = value ? cut_fields(value, cut) : "";
    if (!number && is_retrieved(qp_stack_method_record(th, top_of(th)))) {
        qp_trace_value(th, 0, type, value, comment);
        return;
    }
    waiting *w = qp_load(&qp_triggers.want_values) ? begin_waiting(th, !number) : NULL;
    uint32_t before = w ? w->n_bytes : 0;
    bool is_kept =
        w && keep(w, &number, sizeof number) && keep_text(w, type ? type : "", TEXT_BYTES) &&
        keep_text(w, value, VALUE_BYTES) && keep_text(w, comment ? comment : "", TEXT_BYTES);
    if (w && !is_kept)
        w->n_bytes = before;
}

void qp_trace_values_give(qprof_thread *th, qp_cell method, bool has_returned)
{
    waiting *w = waiting_here();
    if (!w || !w->th || w->is_result != has_returned)
        return;
    bool is_given = is_for_next(w, th) && is_retrieved(method);
    for (uint32_t at = 0; is_given && at < w->n_bytes;) {
        int number;
        const char *type = w->bytes + at + sizeof number;
        const char *value = type + strlen(type) + 1;
        const char *comment = value + strlen(value) + 1;
        memcpy(&number, w->bytes + at, sizeof number);
        qp_trace_value(th, number, type, value, comment);
        at = (uint32_t)(comment + strlen(comment) + 1 - w->bytes);
    }
    w->th = NULL;
}
