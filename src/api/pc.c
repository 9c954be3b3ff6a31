/* pc.c: the exported functions of PC sampling. */

#include "api/guard.h"
#include "record/control/control.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"

/* In libcprof the functions exist, as hosts may look up any name, and do nothing. */
static int unsupported(void)
{
    return qp_guard_refuse(QPROF_E_UNSUPPORTED, "libcprof does not sample");
}

unsigned qprof_pc_supported(void)
{
    return QP_PRODUCT_IS_COVERAGE ? 0 : QPROF_PC_VIRTUAL | QPROF_PC_REAL | QPROF_PC_DEEP;
}

/* ---- the command ------------------------------------------------------------------------- */

static int apply_command(const char *text, qp_error *error)
{
    qp_pc_command command;
    if (qp_load(&qp_recorder.has_entries)) {
        return qp_error_set(error, QPROF_E_STATE,
                            "qprof_pc_command: only before the first entry");
    }
    qp_parse parse = qp_pc_parse(text, &command, error);
    if (parse != QP_PARSE_OK)
        return parse == QP_PARSE_ROOM ? QPROF_E_LIMIT : QPROF_E_SYNTAX;
    error->column = 0;
    return qp_config_set(QP_OPT_pc, text, error);
}

int qprof_pc_command(const char *text, int *error_column)
{
    qp_error error = {0};
    if (error_column)
        *error_column = 0;
    if (QP_PRODUCT_IS_COVERAGE)
        return unsupported();
    if (!text)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_pc_command: no text");
    QP_TRY(qp_guard_begin("qprof_pc_command"));
    int code = apply_command(text, &error);
    if (code && error_column)
        *error_column = (int)error.column;
    return qp_guard_end(code, error.text);
}

int qprof_pc_off(void)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return unsupported();
    QP_TRY(qp_guard_begin("qprof_pc_off"));
    if (!qp_recorder.is_pc_on)
        return qp_guard_end(QPROF_E_STATE, "qprof_pc_off: no PC command is in force");
    qp_sampler_stop();
    qp_recorder.is_pc_on = false;
    qp_sampler_start(); /* -time=sampled continues */
    return qp_guard_end(0, "");
}

/* ---- samples ----------------------------------------------------------------------------- */

int qprof_pc_sample(unsigned n)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return unsupported();
    if (!qp_is_running() || !qp_recorder.is_pc_on)
        return qp_guard_refuse(QPROF_E_STATE, "qprof_pc_sample: no PC command is in force");
    int host_errno = errno;
    qprof_thread *th = qp_guard_last();
    qprof_frame *top = th ? qp_event_begin(th) : NULL;
    if (top) {
        qp_samples_add(th, top, n);
        qp_event_end(th, top);
    }
    if (th)
        qp_thread_drop();
    qp_event_triggers_settle();
    errno = host_errno;
    return 0;
}

/* A call path that a host names, or the thread's root. */
static qp_cell path_or_root(qprof_thread *th, uint32_t path)
{
    return path && qp_tree_holds(th, path) ? path : qp_record_of(th)->root;
}

uint32_t qprof_path(qprof_thread *th, uint32_t path, qprof_MethodID method)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return 0;
    int host_errno = errno;
    qprof_frame *top = qp_event_look(th);
    qp_cell found = 0;
    if (top) {
        found = qp_samples_callee(th, path_or_root(th, path), method);
        qp_event_end(th, top);
    }
    errno = host_errno;
    return found;
}

/* @param block  of the method on top; QP_NO_BLOCK: the samples are of the path */
static void take(qprof_thread *th, uint32_t path, int block)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return;
    int host_errno = errno;
    qprof_frame *top = qp_event_look(th);
    if (top) {
        qp_samples_take(th, top, block == QP_NO_BLOCK ? path_or_root(th, path) : 0, block);
        qp_event_end(th, top);
    }
    errno = host_errno;
}

void qprof_sample_path(qprof_thread *th, uint32_t path)
{
    take(th, path, QP_NO_BLOCK);
}

void qprof_sample_block(qprof_thread *th, int block)
{
    take(th, 0, block == QP_NO_BLOCK ? -1 : block);
}

void qprof_on_samples(void (*on)(void))
{
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_samples_on(on);
}

/* Credit the samples that wait: they were taken on this side of the border of a critical
 * section. */
static void settle_here(void)
{
    qprof_thread *th = qp_thread_current();
    if (!qp_is_open(th) || !qp_stack_is_idle(th))
        return;
    qprof_frame *top = qp_event_look(th);
    if (!top)
        return;
    bool walks_itself = (QPROF_LOAD(th->gate) & QPROF_HOOK_STACK) && !qp_stack_depth(th, top);
    if (!walks_itself) /* else only the host knows its stack */
        qp_samples_take(th, top, 0, QP_NO_BLOCK);
    qp_event_end(th, top);
}

static void change_critical(int by)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return;
    int host_errno = errno;
    qp_os_thread_slot *slot = qp_os_thread_here();
    if (slot && (by > 0 || slot->n_critical)) {
        uint32_t n = slot->n_critical + (uint32_t)by;
        if (!n || !slot->n_critical)
            settle_here();
        qp_store(&slot->n_critical, n);
    }
    errno = host_errno;
}

void qprof_pc_enter_critical(void)
{
    change_critical(1);
}

void qprof_pc_leave_critical(void)
{
    change_critical(-1);
}
