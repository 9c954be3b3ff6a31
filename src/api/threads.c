/* threads.c: the exported functions of threads and methods. */
#include <string.h>

#include "api/guard.h"
#include "code/code.h"
#include "record/clock/clock.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

static void count(qp_diagnostic what)
{
    qp_count(&qp_recorder.space, what);
}

/* ---- threads ----------------------------------------------------------------------------- */

/* Whether a function without _vt may proceed; counted if not. */
static bool plain_mode(void)
{
    return qp_guard_is_open(&qp_gate_plain) && qp_is_running();
}

static bool vt_mode(void)
{
    return qp_guard_is_open(&qp_gate_vt) && qp_is_running();
}

void qprof_thread_create(qprof_ThreadID id)
{
    int host_errno = errno;
    if (plain_mode())
        qp_thread_create(id);
    errno = host_errno;
}

void qprof_thread_create_vt(qprof_ThreadID id, VthreadID vt)
{
    int host_errno = errno;
    if (vt_mode()) {
        qprof_thread *same = vt ? qp_thread_known_vt(vt) : NULL;
        if (same && qp_load(&qp_record_of(same)->has_host_id)) /* bound already: it ends */
            qp_thread_destroy(same);
        qprof_thread *th = qp_thread_vt_of(vt, id, qp_thread_path_here());
        if (th) {
            qp_store(&qp_record_of(th)->host_id, (uint64_t)id);
            qp_publish(&qp_record_of(th)->has_host_id, 1);
        }
    }
    errno = host_errno;
}

void qprof_set_thread_parent_vt(VthreadID vt, VthreadID parent)
{
    int host_errno = errno;
    if (vt_mode() && vt) {
        const qprof_thread *creator = parent ? qp_thread_known_vt(parent) : NULL;
        qp_cell cell = creator ? qp_thread_path(creator) : 0;
        qprof_thread *th = qp_thread_vt_of(vt, 0, cell);
        if (parent && !creator)
            count(QP_D_unknown_thread);
        else if (th && qp_record_of(th)->n_lives == 1)
            qp_store(&qp_record_of(th)->creator, cell);
        else if (th && qp_record_of(th)->creator != cell) /* its row has the times of others */
            count(QP_D_creator_lost);
    }
    errno = host_errno;
}

static void name_thread(qprof_thread *th, const char *name)
{
    int host_errno = errno;
    if (th)
        qp_publish(&qp_record_of(th)->name, qp_texts_add(&qp_recorder.texts, name));
    errno = host_errno;
}

void qprof_set_thread_name(const char *name)
{
    qprof_thread *th = qp_guard_last();
    name_thread(th, name);
    if (th)
        qp_thread_drop();
}

void qprof_set_thread_name_vt(const char *name, VthreadID vt)
{
    if (vt_mode())
        name_thread(qp_thread_vt(vt, 0), name);
}

void qprof_thread_destroy(qprof_ThreadID id)
{
    int host_errno = errno;
    if (plain_mode()) {
        qprof_thread *th = qp_thread_find_host_id(id);
        if (th)
            qp_thread_destroy(th);
        else
            count(QP_D_unknown_thread);
    }
    errno = host_errno;
}

void qprof_thread_destroy_vt(VthreadID vt)
{
    int host_errno = errno;
    qprof_thread *th = qp_guard_known_vt(vt);
    if (th)
        qp_thread_destroy(th);
    errno = host_errno;
}

qprof_thread *qprof_thread_handle(unsigned version)
{
    int host_errno = errno;
    qprof_thread *th = NULL;
    if (qp_guard_version("qprof_thread_handle", version) && qp_is_running()) {
        qp_store(&qp_recorder.has_handles, true);
        th = qp_recorder.is_virtual ? qp_guard_last() : qp_thread_own();
        if (th)
            qp_thread_drop();
    }
    errno = host_errno;
    return th ? th : &qp_closed_thread;
}

qprof_thread *qprof_thread_handle_vt(VthreadID vt, unsigned version)
{
    int host_errno = errno;
    qprof_thread *th = NULL, *found;
    if (qp_guard_version("qprof_thread_handle_vt", version) && vt_mode()) {
        qp_store(&qp_recorder.has_handles, true);
        qp_fence();
        do { /* again if it was about to be parked */
            if ((found = th = qp_thread_vt(vt, 0)) != NULL)
                qp_thread_await(th);
        } while (found != (th = qp_thread_vt(vt, 0)));
    }
    errno = host_errno;
    return th ? th : &qp_closed_thread;
}

static __attribute__((noinline)) qprof_thread *mount(qprof_thread *th, qprof_token entered)
{
    int host_errno = errno;
    qprof_thread *before = NULL;
    uint64_t start = qp_here.until_timed < 0 ? qp_cost_start() : 0;
    if (start) {               /* nothing else is unusual, perhaps */
        qp_here.until_timed++; /* this one is not due again, even if the next one is */
        before = qp_thread_switch_by(th, entered);
    }
    if (!before && qp_is_running() && qp_recorder.is_virtual)
        before = qp_thread_mount(th);
    if (start && before && before != th)
        qp_cost_add(th, QP_COST_PART, start);
    if (before && before != th && qp_is_open(th) && qp_load(&qp_is_triggering))
        qp_event_triggers_raise(th, QP_EVENT_VT_SWITCH, qp_event_triggers_id(th), NULL);
    errno = host_errno;
    return before ? before : &qp_closed_thread;
}

qprof_thread *qprof_thread_mount(qprof_thread *th)
{
    qprof_thread *before = th ? qp_thread_switch(th) : &qp_closed_thread;
    return QP_LIKELY(before) ? before : mount(th, 0);
}

qprof_thread *qprof_token_mount(qprof_thread *th, qprof_token entered)
{
    qprof_thread *before = th ? qp_thread_switch_by(th, entered) : &qp_closed_thread;
    return QP_LIKELY(before) ? before : mount(th, entered);
}

/* ---- methods ----------------------------------------------------------------------------- */

_Static_assert(sizeof(qprof_LineInfo) == sizeof(qp_line), "one layout");
_Static_assert(sizeof(qprof_JumpInfo) == sizeof(qp_jump), "one layout");

/* An id that is registered again: for another method? */
enum {
    HOST_FLAGS =
        QPROF_METHOD_FLAGS_BLOCKS | QPROF_METHOD_FLAGS_WAITS | QPROF_METHOD_FLAGS_INLINED
};

static void note_twice(const qp_method_info *info)
{
    qp_cell cell = qp_methods_find(&qp_recorder.methods, info->id);
    const qp_method *m = cell ? qp_at(&qp_recorder.space, cell) : NULL;
    if (m && (qp_texts_add(&qp_recorder.texts, info->name) != qp_observe(&m->name) ||
              qp_texts_add(&qp_recorder.texts, info->file) != qp_observe(&m->file)))
        qp_host_note(QP_HOST_method_id_twice, NULL, cell, 0, 0);
}

void qprof_register_method_id(qprof_MethodID id, const char *demangled_name,
                              const char *class_name, int flags, const char *source_file,
                              const qprof_LineInfo *line_number_table, int line_number_size)
{
    if (!qp_is_running())
        return;
    int host_errno = errno;
    const qp_method_info info = {.id = id,
                                 .name = demangled_name,
                                 .class_name = class_name,
                                 .file = source_file,
                                 .flags = (unsigned)flags & HOST_FLAGS,
                                 .lines = (const qp_line *)(const void *)line_number_table,
                                 .n_lines = line_number_size,
                                 .map = qp_sources_map(&qp_recorder.sources, source_file)};
    if (line_number_size > 0 && !line_number_table)
        count(QP_D_e_arg);
    qp_registration result = qp_methods_register(&qp_recorder.methods, &info);
    if (result == QP_REGISTERED) {
        qp_triggers_method(qp_methods_find(&qp_recorder.methods, id));
        qp_event_triggers_raise(qp_event_triggers_here(), QP_EVENT_METHOD_REGISTER, id, NULL);
    } else {
        if (result == QP_KNOWN)
            note_twice(&info);
        count(result == QP_KNOWN    ? QP_D_method_reregistered
              : result == QP_BAD_ID ? QP_D_bad_method_id
                                    : QP_D_e_memory);
    }
    errno = host_errno;
}

void qprof_register_method_id_vt(qprof_MethodID id, const char *demangled_name,
                                 const char *class_name, int flags, const char *source_file,
                                 const qprof_LineInfo *line_number_table, int line_number_size,
                                 VthreadID vt)
{
    (void)vt; /* methods belong to the run */
    qprof_register_method_id(id, demangled_name, class_name, flags, source_file,
                             line_number_table, line_number_size);
}

void qprof_set_module(const char *name)
{
    if (!qp_is_running())
        return;
    int host_errno = errno;
    qp_ref module = qp_texts_add(&qp_recorder.texts, name);
    qp_store(&qp_recorder.methods.module, module ? module : qp_recorder_head()->program);
    errno = host_errno;
}

int qprof_line_at(qprof_MethodID id, int code_offset)
{
    qp_cell method = qp_is_running() ? qp_methods_find(&qp_recorder.methods, id) : 0;
    return method ? qp_method_line_at(&qp_recorder.methods, method, code_offset) : -1;
}

int qprof_block_at(qprof_MethodID id, int code_offset)
{
    qp_cell method = qp_is_running() ? qp_methods_find(&qp_recorder.methods, id) : 0;
    return method ? qp_method_block_at(&qp_recorder.methods, method, code_offset) : -1;
}

static qprof_MethodID method_on_top(const qprof_thread *th)
{
    return th ? (qprof_MethodID)qp_stack_method(th) : 0;
}

qprof_MethodID qprof_current_method_id(void)
{
    if (!plain_mode())
        return 0;
    return qp_is_open(qp_here.plain) ? method_on_top(qp_here.plain) : 0;
}

qprof_MethodID qprof_current_method_id_vt(VthreadID vt)
{
    return vt_mode() ? method_on_top(qp_thread_known_vt(vt)) : 0;
}

int qprof_register_jumps(qprof_MethodID id, const qprof_JumpInfo *jumps, int n_jumps,
                         const unsigned char *falls)
{
    if (!qp_is_running())
        return qp_guard_refuse(QPROF_E_STATE, "qprof_register_jumps: not running");
    qp_cell method = qp_methods_find(&qp_recorder.methods, id);
    if (!method)
        return qp_guard_refuse(QPROF_E_NOTFOUND, "qprof_register_jumps: unknown method");
    int host_errno = errno;
    qp_jumps_result result = qp_method_set_jumps(
        &qp_recorder.methods, method, (const qp_jump *)(const void *)jumps, n_jumps, falls);
    errno = host_errno;
    if (result == QP_JUMPS_BAD)
        return qp_guard_refuse(QPROF_E_ARG,
                               "qprof_register_jumps: a block is out of range, the "
                               "method has no line table, or its jumps are already described");
    return result == QP_JUMPS_SET
               ? 0
               : qp_guard_refuse(QPROF_E_MEMORY, "qprof_register_jumps: out of memory");
}

int qprof_register_instructions(qprof_MethodID id, const unsigned *n_instructions, int n_blocks)
{
    static const char *const why[] = {
        [QP_SIZES_BAD] =
            "qprof_register_instructions: the method has another number of blocks, or its "
            "instructions are known",
        [QP_SIZES_NO_ROOM] = "qprof_register_instructions: out of memory"};
    if (!qp_is_running())
        return qp_guard_refuse(QPROF_E_STATE, "qprof_register_instructions: not running");
    qp_cell method = qp_methods_find(&qp_recorder.methods, id);
    if (!method)
        return qp_guard_refuse(QPROF_E_NOTFOUND, "qprof_register_instructions: unknown method");
    int host_errno = errno;
    qp_sizes_result result =
        qp_method_set_sizes(&qp_recorder.methods, method, n_instructions, n_blocks);
    errno = host_errno;
    return result == QP_SIZES_SET   ? 0
           : result == QP_SIZES_BAD ? qp_guard_refuse(QPROF_E_ARG, why[result])
                                    : qp_guard_refuse(QPROF_E_MEMORY, why[result]);
}

uint64_t *qprof_counter_bank(qprof_MethodID id)
{
    if (!qp_is_running())
        return NULL;
    int host_errno = errno;
    qp_cell method = qp_methods_find(&qp_recorder.methods, id);
    qprof_thread *th = method ? qp_thread_own() : NULL;
    uint64_t *counters = th ? qp_blocks_counters(th, method) : NULL;
    qp_store(&qp_recorder.has_counters, 1);
    errno = host_errno;
    return counters;
}
