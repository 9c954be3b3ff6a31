/* trace.c: raw traces, as exported. In libcprof they have no effect. */
#include "qprof/trace.h"

#include "api/door.h"
#include "record/marks.h"
#include "record/trace_writer.h"

/* What a call says of the thread on which it is made. */
typedef enum {
    TRACED_CALL,
    TRACED_RETURN,
    TRACED_LINE,
    TRACED_VALUE,
    TRACED_COUNTER
} detail_kind;

typedef struct {
    detail_kind kind;
    qprof_MethodID callee;
    int line; /* VALUE: number */
    const char *type, *value, *comment;
    qp_ref name;
    int64_t figure;
} detail;

static bool is_traced(void)
{
    return !QP_PRODUCT_IS_COVERAGE && qp_trace_users() && qp_state() == QP_STATE_RUNNING;
}

/* The record of a method that may never report an entry of its own. */
static qp_cell method_of(qprof_MethodID id)
{
    bool is_new;
    qp_cell cell = qp_method_is_nameless(id) ? qp_run.methods.anonymous
                                             : qp_methods_mention(&qp_run.methods, id, &is_new);
    return cell ? cell : qp_run.methods.overflow;
}

static void put(qprof_thread *th, const detail *d)
{
    switch (d->kind) {
    case TRACED_CALL:
        qp_trace_note(th, QP_TRACE_CALL, method_of(d->callee), (uint32_t)d->line);
        break;
    case TRACED_RETURN:
        qp_trace_note(th, QP_TRACE_RETURN, method_of(d->callee), (uint32_t)d->line);
        break;
    case TRACED_LINE:
        qp_trace_note(th, QP_TRACE_LINE, (uint32_t)d->line, 0);
        break;
    case TRACED_VALUE:
        qp_trace_value(th, d->line, d->type, d->value, d->comment);
        break;
    case TRACED_COUNTER:
        qp_trace_counter(th, d->name, d->figure);
        break;
    }
}

/* @param th  held; NULL: none, which is counted */
static void record(qprof_thread *th, const detail *d)
{
    int host_errno = errno;
    qprof_frame *top = th ? qp_event_begin(th) : NULL;
    if (top) {
        if ((QPROF_LOAD(th->gate) & (QP_HOOK_TRACE | QP_HOOK_STOPPED)) == QP_HOOK_TRACE)
            put(th, d);
        qp_event_end(th, top);
    }
    if (th)
        qp_thread_drop();
    errno = host_errno;
}

static void record_plain(detail d)
{
    if (is_traced())
        record(qp_door_plain(), &d);
}

static void record_vt(detail d, VthreadID vt)
{
    if (is_traced())
        record(qp_door_vt(vt), &d);
}

void qprof_mark(const char *text)
{
    int host_errno = errno;
    if (!QP_PRODUCT_IS_COVERAGE && text && text[0] && qp_carrier_here())
        qp_mark_add(qp_thread_current(), QP_MARK_USER, text, 0, 0, 0);
    errno = host_errno;
}

void qprof_counter(const char *name, int64_t value)
{
    int host_errno = errno;
    detail d = {.kind = TRACED_COUNTER, .figure = value};
    d.name = is_traced() ? qp_texts_add(&qp_run.texts, name) : 0;
    errno = host_errno;
    if (d.name)
        record(qp_door_last(), &d);
}

int qprof_trace_dump(const char *file)
{
    qp_parse_error error = {0, ""};
    int host_errno = errno;
    if (QP_PRODUCT_IS_COVERAGE)
        return qp_door_refuse(QPROF_E_UNSUPPORTED, "libcprof records no traces");
    if (!file || !file[0])
        return qp_door_refuse(QPROF_E_ARG, "qprof_trace_dump: no name");
    if (qp_state() != QP_STATE_RUNNING || !qp_control_lock())
        return qp_door_refuse(QPROF_E_STATE,
                              "qprof_trace_dump: not running, or inside another call");
    int code = qp_trace_dump(file, &error);
    qp_control_unlock();
    errno = host_errno;
    return code ? qp_door_refuse(code, error.message) : 0;
}

/* ---- more about calls ------------------------------------------------------------------------ */

void qprof_trace_call(qprof_MethodID callee, int line)
{
    record_plain((detail){.kind = TRACED_CALL, .callee = callee, .line = line});
}

void qprof_trace_call_vt(qprof_MethodID callee, int line, VthreadID vt)
{
    record_vt((detail){.kind = TRACED_CALL, .callee = callee, .line = line}, vt);
}

void qprof_trace_return(qprof_MethodID callee, int line)
{
    record_plain((detail){.kind = TRACED_RETURN, .callee = callee, .line = line});
}

void qprof_trace_return_vt(qprof_MethodID callee, int line, VthreadID vt)
{
    record_vt((detail){.kind = TRACED_RETURN, .callee = callee, .line = line}, vt);
}

void qprof_trace_line(int line)
{
    record_plain((detail){.kind = TRACED_LINE, .line = line});
}

void qprof_trace_line_vt(int line, VthreadID vt)
{
    record_vt((detail){.kind = TRACED_LINE, .line = line}, vt);
}

void qprof_trace_parameter(int number, const char *type, const char *value, const char *comment)
{
    if (number > 0)
        record_plain((detail){.kind = TRACED_VALUE,
                              .line = number,
                              .type = type,
                              .value = value,
                              .comment = comment});
}

void qprof_trace_parameter_vt(int number, const char *type, const char *value,
                              const char *comment, VthreadID vt)
{
    if (number > 0)
        record_vt((detail){.kind = TRACED_VALUE,
                           .line = number,
                           .type = type,
                           .value = value,
                           .comment = comment},
                  vt);
}

void qprof_trace_result(const char *type, const char *value)
{
    record_plain((detail){.kind = TRACED_VALUE, .type = type, .value = value});
}

void qprof_trace_result_vt(const char *type, const char *value, VthreadID vt)
{
    record_vt((detail){.kind = TRACED_VALUE, .type = type, .value = value}, vt);
}
