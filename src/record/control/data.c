/* data.c: the recording flag, clears and saves. Read follow_flags first.
 *
 * Threads apply a stop or a clear at their next event (pause.c). The head holds its time, so
 * that no tick is charged wrongly. */
#include "record/control/control.h"

#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/ring/ring.h"
#include "record/run/run.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

void qp_data_sync_here(void)
{
    qprof_thread *th = qp_thread_current();
    if (qp_here.epoch != qp_recorder.epoch || !qp_is_open(th) || !qp_stack_is_idle(th))
        return;
    qprof_frame *top = qp_event_begin(th);
    if (top) {
        qp_clock(th, top, qp_clock_now(th));
        qp_event_end(th, top);
    }
}

static void tell_threads(void)
{
    qp_fence();
    qp_threads_set_hooks(QP_HOOK_SYNC);
    qp_data_sync_here();
}

/* Begin a change of times that threads read together: see qp_clock_run_times(). */
static void begin_change(void)
{
    qp_store(&qp_recorder_head()->stop_change, qp_recorder_head()->stop_change + 1);
    qp_fence();
}

static void end_change(void)
{
    qp_publish(&qp_recorder_head()->stop_change, qp_recorder_head()->stop_change + 1);
}

static void change_stops(uint64_t total, uint64_t since)
{
    begin_change();
    qp_store(&qp_recorder_head()->stopped_total, total);
    qp_store(&qp_recorder_head()->stopped_since, since);
    end_change();
}

/* Set the flags, and stop or start the clocks as they require. */
static void follow_flags(uint32_t flags)
{
    qp_head *h = qp_recorder_head();
    bool runs = (flags & QP_FLAG_RECORDING) && !(flags & QP_FLAG_CLOSED);
    qp_fetch_or(&h->flags, flags);
    qp_fetch_and(&h->flags, flags | ~(uint32_t)(QP_FLAG_RECORDING | QP_FLAG_CLOSED));
    if (!runs)
        qp_recorder_gate();
    if (runs != !h->stopped_since) {
        uint64_t now = qp_clock_elapsed();
        uint64_t pause = (int64_t)(now - h->stopped_since) > 0 ? now - h->stopped_since : 0;
        if (runs)
            change_stops(h->stopped_total + pause, 0);
        else
            change_stops(h->stopped_total, now ? now : 1);
    }
    tell_threads();
}

static bool start(void)
{
    uint32_t flags = qp_load(&qp_recorder_head()->flags);
    if (flags & (QP_FLAG_RECORDING | QP_FLAG_DISABLED))
        return false;
    follow_flags(flags | QP_FLAG_RECORDING);
    return true;
}

static bool stop(void)
{
    uint32_t flags = qp_load(&qp_recorder_head()->flags);
    if (!(flags & QP_FLAG_RECORDING))
        return false;
    follow_flags(flags & ~(uint32_t)QP_FLAG_RECORDING);
    return true;
}

bool qp_data_gate(int open)
{
    uint32_t flags = qp_load(&qp_recorder_head()->flags);
    if (open >= 0 && !open != !!(flags & QP_FLAG_CLOSED))
        follow_flags(flags ^ QP_FLAG_CLOSED);
    return !(flags & QP_FLAG_CLOSED);
}

void qp_data_begin_clear(void)
{
    qp_head *h = qp_recorder_head();
    begin_change();
    qp_store(&h->clear_raw, h->stopped_since ? h->stopped_since : qp_clock_elapsed());
    qp_store(&h->clear_stopped, h->stopped_total);
    qp_publish(&h->clear_count, h->clear_count + 1);
    end_change();
    qp_store(&h->n_critical, 0);
    qp_contexts_clear();
    qp_markers_clear();
    qp_kept_clear();
    qp_samples_clear();
}

static void clear(void)
{
    qp_data_begin_clear();
    qp_event_later(QP_EVENT_CLEAR, 0);
    tell_threads();
    qp_recorder_cleared();
}

/* With -spool the file is a cut. */
static int save_to(const char *name, const char *label, char *path, qp_error *error)
{
    if (!name && qp_spool_is_on())
        return qp_spool_cut(QP_SNAPSHOT, label, path) ? 0 : QPROF_E_IO;
    int code = qp_output_name(name, qp_recorder.n_datasets, path, QP_PATH_MAX, error);
    if (!code && qp_output_check(path, error) != 0)
        code = QPROF_E_IO;
    return code ? code : qp_save_copy(path, QP_PATH_MAX, QP_SNAPSHOT, label);
}

static bool save(const char *name, const char *label, bool is_last)
{
    char path[QP_PATH_MAX];
    qp_error error = {0};
    qp_head *h = qp_recorder_head();
    bool is_cut = !name && qp_spool_is_on();
    qp_data_sync_here();
    if (!is_cut && !qp_save_has_data())
        return false;
    qp_clock_calibrate();
    qp_saved saved = {path, qp_recorder.n_datasets, qp_load(&h->n_threads), true, is_last};
    int code = save_to(name, label, path, &error);
    if (code && is_cut)
        return false;
    if (code) {
        qp_count(&qp_recorder.space, code == QPROF_E_IO ? QP_D_e_io : QP_D_e_option);
        qp_recorder_log("dataset not written: %s", error.text[0] ? error.text : path);
        return false;
    }
    if (!name)
        qp_recorder.n_datasets++;
    qp_event_later(QP_EVENT_SAVE, 0);
    qp_recorder.has_saved = true;
    h->dataset += !is_cut; /* later annotations belong to the next one */
    qp_after_save(&saved);
    if (!is_cut && qp_recorder.options.number[QP_OPT_clear_on_save])
        clear();
    return true;
}

bool qp_data_change(qp_data_change_kind kind, const char *file, const char *label)
{
    bool is_done = true;
    switch (kind) {
    case QP_DATA_NO_CHANGE:
        return false;
    case QP_DATA_START:
        return start();
    case QP_DATA_STOP:
        return stop();
    case QP_DATA_DISABLE:
        stop();
        qp_fetch_or(&qp_recorder_head()->flags, QP_FLAG_DISABLED);
        return true;
    case QP_DATA_ANNOTATE:
        return qp_recorder_note(QP_NOTE_ANNOTATION, label);
    case QP_DATA_OPEN_GATE:
    case QP_DATA_CLOSE_GATE:
        return qp_data_gate(kind == QP_DATA_OPEN_GATE);
    case QP_DATA_SAVE:
    case QP_DATA_SAVE_LAST:
        return save(file, label, kind == QP_DATA_SAVE_LAST);
    case QP_DATA_NEW_PHASE:
        is_done = save(file, label, false);
        if (qp_spool_is_on())
            return is_done;
        break;
    case QP_DATA_CLEAR:
        break;
    }
    if (is_done)
        clear();
    return is_done;
}

uint64_t qp_data_on_time(void)
{
    if (!qp_spool_wait_ns() && qp_control_lock()) {
        if (qp_state() == QP_STATE_RUNNING)
            save(NULL, NULL, false);
        qp_spool_set_due();
        qp_control_unlock();
    }
    return qp_spool_wait_ns();
}
