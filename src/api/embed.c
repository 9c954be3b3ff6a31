/* embed.c: what qprof/embed.h calls: users of the run; functions and stacks, whose ids the library
 * chooses. */
#include "api/guard.h"
#include "base/os/clock.h"
#include "record/clock/clock.h"
#include "record/control/control.h"

enum { WAIT_NS = 100000, CODE_MAX = 1 << 30 };

/* Ids of the library's own: above all addresses, and exact in a double. */
#define OWN_IDS ((uintptr_t)1 << (sizeof(uintptr_t) == 8 ? 52 : 31))

/* Take the control lock while no run is being ended by its last user. @return false: nested */
static bool lock_users(void)
{
    for (;;) {
        if (!qp_control_lock())
            return false;
        if (!qp_recorder.is_ending || !qp_is_running())
            return true;
        qp_control_unlock();
        qp_clock_sleep_until(qp_clock_monotonic() + WAIT_NS);
    }
}

/* Join the run that is on, or begin one. With the lock. @return 0 or QPROF_E_* */
static int join(const char *options, qp_error *error)
{
    if (qp_is_running() && qp_recorder.is_virtual)
        return 0;
    if (qp_is_running()) {
        qp_count(&qp_recorder.space, QP_D_wrong_mode);
        return qp_error_set(error, QPROF_E_STATE,
                            "a run without virtual threads is in progress");
    }
    const qprof_InitInfo info = {0, options, NULL, 1};
    int code = qp_recorder_begin(&info, error);
    qp_recorder.is_embedded = !code;
    return code;
}

/* One user less. With the lock, which is given back. */
static void leave(void)
{
    bool is_last = qp_recorder.is_embedded && !qp_recorder.n_users;
    qp_recorder.is_ending = is_last;
    qp_control_unlock();
    if (is_last)
        qp_recorder_end(false);
}

static int open_run(unsigned version, const char *options)
{
    qp_error error = {0};
    if (qp_thread_callbacks(__builtin_frame_address(0)) || !lock_users())
        return qp_guard_refuse(QPROF_E_STATE, "qprof_open: inside another call");
    int code = join(options, &error);
    if (code) {
        qp_control_unlock();
        return qp_guard_refuse(code, error.text[0] ? error.text : qprof_strerror(code));
    }
    int run = (int)qp_recorder.epoch;
    if (qp_guard_version("qprof_open", version)) {
        qp_recorder.n_users++;
        qp_control_unlock();
        return run;
    }
    leave();
    return QPROF_E_VERSION;
}

int qprof_open(unsigned version, const char *options)
{
    int host_errno = errno;
    int run = options || qp_config_is_asked_for() ? open_run(version, options) : 0;
    errno = host_errno;
    return run;
}

void qprof_close(int run)
{
    int host_errno = errno;
    if (run > 0 && !qp_thread_callbacks(__builtin_frame_address(0)) && lock_users()) {
        if ((uint32_t)run == qp_recorder.epoch && qp_recorder.n_users) {
            qp_recorder.n_users--;
            leave();
        } else {
            qp_control_unlock();
        }
    }
    errno = host_errno;
}

void qprof_measure_calls(qprof_calls_function execute, void *data, unsigned n, int is_native)
{
    int host_errno = errno;
    if (execute && qp_is_running() && qp_control_lock()) {
        qp_calibrate_host(execute, data, n, is_native);
        qp_control_unlock();
    }
    errno = host_errno;
}

uint64_t qprof_work_begin(void)
{
    return qp_is_running() && qp_cost_is_measured() ? qp_cost_now() : 0;
}

void qprof_work_end(uint64_t begun)
{
    if (begun && qp_is_running())
        qp_cost_add(qp_thread_current(), QP_COST_ONCE, begun);
}

qprof_MethodID qprof_define(const char *name, const char *class_name, const char *file,
                            const qprof_LineInfo *lines, int n_lines)
{
    static uint32_t n_defined;
    if (!qp_is_running())
        return 0;
    qprof_MethodID id = OWN_IDS + qp_fetch_add(&n_defined, 1);
    qprof_register_method_id(id, name, class_name, QPROF_METHOD_FLAGS_NONE, file, lines,
                             n_lines);
    return id;
}

void qprof_rename(qprof_MethodID id, const char *name, const char *class_name)
{
    int host_errno = errno;
    if (qp_is_running() && !qp_methods_rename(&qp_recorder.methods, id, name, class_name))
        qp_count(&qp_recorder.space, QP_D_bad_method_id);
    errno = host_errno;
}

void qprof_unload(qprof_MethodID id)
{
    if (id && qp_is_running() && !qp_methods_unload(&qp_recorder.methods, id))
        qp_count(&qp_recorder.space, QP_D_bad_method_id);
}

void qprof_register_code(qprof_MethodID id, const void *start, size_t n_bytes)
{
    if (!qp_is_running())
        return;
    int host_errno = errno;
    qp_cell cell = qp_methods_find(&qp_recorder.methods, id);
    if (!cell || !qp_method_is_registered(&qp_recorder.methods, cell))
        qp_count(&qp_recorder.space, QP_D_bad_method_id);
    else if (!start || !n_bytes || n_bytes > CODE_MAX)
        qp_count(&qp_recorder.space, QP_D_e_arg);
    else if (!qp_control_lock())
        qp_count(&qp_recorder.space, QP_D_e_state);
    else {
        qp_native_code_add(qp_at(&qp_recorder.space, cell), start, n_bytes);
        qp_control_unlock();
    }
    errno = host_errno;
}

uint64_t qprof_thread_path(const qprof_thread *th)
{
    qp_cell cell = th && qp_is_open(th) && qp_is_running() ? qp_thread_path(th) : 0;
    return cell ? (uint64_t)qp_recorder.epoch << 32 | cell : 0;
}

/* The path of a number from qprof_thread_path(). @return 0: of no path of this run */
static qp_cell path_of(uint64_t number)
{
    bool is_known = number >> 32 == qp_recorder.epoch && qp_fork_has_path((qp_cell)number);
    return is_known ? (qp_cell)number : 0;
}

void qprof_record_metric_of(qprof_thread *th, uint64_t path, int metric, uint64_t n)
{
    if (th && qp_is_open(th) && qp_is_running())
        qp_metric_add(th, path_of(path), metric, n);
}

uint64_t qprof_wait_begin(const qprof_thread *th)
{
    return th && qp_is_open(th) && qp_is_running() ? qp_clock_elapsed() : 0;
}

void qprof_wait_end(qprof_thread *th, uint64_t begun, const char *lock, uint64_t waiter,
                    uint64_t holder)
{
    int host_errno = errno;
    if (begun && th && qp_is_open(th) && qp_is_running() && qp_recorder_has_paths()) {
        uint64_t start = qp_recorder_head()->begun_raw, now = qp_clock_elapsed();
        if (begun - start > now - start)
            qp_count(&qp_recorder.space, QP_D_e_arg);
        else
            qp_lock_waited(th, lock && *lock ? lock : "(lock)", path_of(waiter),
                           path_of(holder), now - begun);
    }
    errno = host_errno;
}

qprof_thread *qprof_thread_new(qprof_thread **shared, uint64_t creator)
{
    static uint32_t n_made;
    int host_errno = errno;
    qprof_thread *th = NULL;
    if (qp_guard_is_open(&qp_gate_vt) && qp_is_running()) {
        th = qp_thread_new_stack(shared, OWN_IDS + qp_fetch_add(&n_made, 1), path_of(creator));
    }
    errno = host_errno;
    return th ? th : &qp_closed_thread;
}

void qprof_thread_end(qprof_thread *th)
{
    int host_errno = errno;
    if (th && qp_is_open(th) && qp_is_running())
        qp_thread_drop_user(th);
    errno = host_errno;
}
