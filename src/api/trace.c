/* trace.c: the exported functions of traces. libcprof has none: they have no effect there, or are not
 * supported. */
#include "qprof.h"

#include "api/guard.h"
#include "record/ring/ring.h"
#include "record/stream/stream.h"
#include "record/tree/tree.h"

/* What a function adds to the trace of its thread: a record of an op, or a value. */
typedef struct {
    qp_trace_op op;
    uint32_t a, b;
    const char *type, *value, *comment;
    int64_t figure;
} detail;

static bool is_traced(void)
{
    return !QP_PRODUCT_IS_COVERAGE && qp_trace_users() && qp_is_running();
}

static void put(qprof_thread *th, const detail *d)
{
    if (d->op == QP_TRACE_CALL || d->op == QP_TRACE_RETURN)
        qp_trace_values_give(th, d->a, d->op == QP_TRACE_RETURN);
    if (d->op == QP_TRACE_VALUE)
        qp_trace_values_take(th, (int)d->a, d->type, d->value, d->comment);
    else if (d->op == QP_TRACE_COUNTER)
        qp_trace_counter(th, d->a, d->figure);
    else
        qp_trace_note(th, d->op, d->a, d->b);
}

/* Is this in the trace? Of a call and its return both are, or neither, also if recording stops or starts in
 * between: from its first announcement that is not, a frame keeps a bit for each of its announced calls that
 * has not returned, the newest in the lowest place. */
static bool is_told(qprof_thread *th, qprof_frame *top, qp_trace_op op, bool is_on)
{
    bool has_bits = top->flags & QP_FRAME_CALLS;
    if (op == QP_TRACE_CALL && (!is_on || top->flags)) {
        qp_stack_flag(th, top, QP_FRAME_CALLS);
        top->reserved = (has_bits ? top->reserved : 1) << 1 | is_on;
    } else if (op == QP_TRACE_RETURN && has_bits && top->reserved > 1) {
        is_on = top->reserved & 1;
        top->reserved >>= 1;
    } else if (op == QP_TRACE_RETURN)
        is_on |= qp_flags_are_traced(top->flags);
    return is_on;
}

/* @param th  held; NULL: no thread, which is counted already */
static void record(qprof_thread *th, const detail *d)
{
    uint32_t off = QP_HOOK_STOPPED | QP_HOOK_OFF;
    qprof_frame *top = th ? qp_event_begin(th) : NULL;
    if (top) {
        uint32_t gate = QPROF_LOAD(th->gate);
        if ((gate & QP_HOOK_TRACE) && is_told(th, top, d->op, !(gate & off)))
            put(th, d);
        qp_event_end(th, top);
    }
    if (th)
        qp_thread_drop();
}

static void record_plain(detail d)
{
    int host_errno = errno;
    if (is_traced())
        record(qp_guard_last(), &d);
    errno = host_errno;
}

static void record_vt(detail d, VthreadID vt)
{
    int host_errno = errno;
    if (is_traced())
        record(qp_guard_vt(vt), &d);
    errno = host_errno;
}

static int control(const char *function, int (*job)(const char *, qp_error *), const char *text)
{
    return QP_PRODUCT_IS_COVERAGE
               ? qp_guard_refuse(QPROF_E_UNSUPPORTED, "libcprof does not trace")
               : qp_guard_control(function, job, text);
}

void qprof_mark(const char *text)
{
    int host_errno = errno;
    if (!QP_PRODUCT_IS_COVERAGE && text && text[0] && qp_os_thread_here())
        qp_marker_add(qp_thread_current(), QP_MARKER_USER, text, 0, 0, 0);
    errno = host_errno;
}

void qprof_counter(const char *name, int64_t value)
{
    int host_errno = errno;
    detail d = {.op = QP_TRACE_COUNTER, .figure = value};
    d.a = is_traced() ? qp_texts_add(&qp_recorder.texts, name) : 0;
    if (d.a)
        record(qp_guard_last(), &d);
    errno = host_errno;
}

int qprof_trace_dump(const char *file)
{
    if (!QP_PRODUCT_IS_COVERAGE && !(file && file[0]))
        return qp_guard_refuse(QPROF_E_ARG, "qprof_trace_dump: no name");
    return control("qprof_trace_dump", qp_trace_dump, file);
}

/* ---- both ends of a call ----------------------------------------------------------------- */

/* The method is new if the callee does not report entries of its own. */
static detail call_of(qp_trace_op op, qprof_MethodID callee, int line)
{
    bool is_new;
    qp_cell cell = 0;
    if (is_traced())
        cell = qp_method_is_nameless(callee)
                   ? qp_recorder.methods.anonymous
                   : qp_methods_mention(&qp_recorder.methods, callee, &is_new);
    return (detail){
        .op = op, .a = cell ? cell : qp_recorder.methods.overflow, .b = (uint32_t)line};
}

void qprof_trace_call(qprof_MethodID callee, int line)
{
    record_plain(call_of(QP_TRACE_CALL, callee, line));
}

void qprof_trace_call_vt(qprof_MethodID callee, int line, VthreadID vt)
{
    record_vt(call_of(QP_TRACE_CALL, callee, line), vt);
}

void qprof_trace_return(qprof_MethodID callee, int line)
{
    record_plain(call_of(QP_TRACE_RETURN, callee, line));
}

void qprof_trace_return_vt(qprof_MethodID callee, int line, VthreadID vt)
{
    record_vt(call_of(QP_TRACE_RETURN, callee, line), vt);
}

void qprof_trace_line(int line)
{
    record_plain((detail){.op = QP_TRACE_LINE, .a = (uint32_t)line});
}

void qprof_trace_line_vt(int line, VthreadID vt)
{
    record_vt((detail){.op = QP_TRACE_LINE, .a = (uint32_t)line}, vt);
}

void qprof_trace_parameter(int number, const char *type, const char *value, const char *comment)
{
    if (number > 0)
        record_plain((detail){QP_TRACE_VALUE, (uint32_t)number, 0, type, value, comment, 0});
}

void qprof_trace_parameter_vt(int number, const char *type, const char *value,
                              const char *comment, VthreadID vt)
{
    if (number > 0)
        record_vt((detail){QP_TRACE_VALUE, (uint32_t)number, 0, type, value, comment, 0}, vt);
}

void qprof_trace_result(const char *type, const char *value)
{
    record_plain((detail){QP_TRACE_VALUE, 0, 0, type, value, NULL, 0});
}

void qprof_trace_result_vt(const char *type, const char *value, VthreadID vt)
{
    record_vt((detail){QP_TRACE_VALUE, 0, 0, type, value, NULL, 0}, vt);
}

/* ---- Xbase++ traces ---------------------------------------------------------------------- */

static int control_file(const char *function, int (*job)(const char *, qp_error *),
                        const char *file)
{
    return file ? control(function, job, file)
                : qp_guard_refuse(QPROF_E_ARG, "the file name is NULL");
}

static int stop(QP_UNUSED const char *unused, qp_error *error)
{
    return qp_trace_xbase_stop(error);
}

static int flush(QP_UNUSED const char *unused, qp_error *error)
{
    return qp_trace_xbase_flush(error);
}

int qprof_trace_set(const char *key, const char *value)
{
    qp_error error = {0};
    if (QP_PRODUCT_IS_COVERAGE)
        return control("qprof_trace_set", NULL, NULL);
    if (!key || !value)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_trace_set: key or value is NULL");
    QP_TRY(qp_guard_begin("qprof_trace_set"));
    return qp_guard_end(qp_trace_xbase_set(key, value, &error), error.text);
}

const char *qprof_trace_get(const char *key)
{
    return !QP_PRODUCT_IS_COVERAGE && key && qp_is_running() ? qp_trace_xbase_get(key) : NULL;
}

int qprof_trace_load(const char *pri_file)
{
    return control_file("qprof_trace_load", qp_trace_xbase_load, pri_file);
}

int qprof_trace_save(const char *pri_file)
{
    return control_file("qprof_trace_save", qp_trace_xbase_save, pri_file);
}

int qprof_trace_start(const char *prf_file)
{
    return control("qprof_trace_start", qp_trace_xbase_start, prf_file);
}

int qprof_trace_stop(void)
{
    return control("qprof_trace_stop", stop, NULL);
}

int qprof_trace_flush(void)
{
    return control("qprof_trace_flush", flush, NULL);
}
