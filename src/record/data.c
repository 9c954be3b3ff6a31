/* data.c: the recording flag, clears and saves. Threads learn of a stop or a clear at their next
 * event (charge.c); the head says when it was, so that not a tick is charged wrongly. */
#include "record/data.h"

#include "base/atomic.h"
#include "record/charge.h"
#include "record/event.h"
#include "record/marks.h"
#include "record/names.h"
#include "record/save.h"
#include "record/thread.h"
#include "record/watch.h"

bool qp_data_is_recording(void)
{
    return qp_load(&qp_run_head()->flags) & QP_FLAG_RECORDING;
}

/* The calling thread looks at once, so that its own calls take effect where they stand; its time
 * is charged up to now, which for its own counters nobody else could do. */
void qp_data_sync_here(void)
{
    qprof_thread *th = qp_thread_current();
    if (qp_here.epoch != qp_run.epoch || !qp_is_open(th) || !qp_top_of(th))
        return;
    qprof_frame *top = qp_event_begin(th);
    if (top) {
        qp_charge(th, top, qp_charge_now(th));
        qp_event_end(th, top);
    }
}

static void tell_threads(void)
{
    qp_fence();
    qp_threads_set_hooks(QP_HOOK_SYNC);
    qp_data_sync_here();
}

/* Threads read what follows together, or again: see read_run_times(). */
static void begin_change(void)
{
    qp_store(&qp_run_head()->stop_change, qp_run_head()->stop_change + 1);
    qp_fence();
}

static void end_change(void)
{
    qp_publish(&qp_run_head()->stop_change, qp_run_head()->stop_change + 1);
}

static void change_stops(uint64_t total, uint64_t since)
{
    begin_change();
    qp_store(&qp_run_head()->stopped_total, total);
    qp_store(&qp_run_head()->stopped_since, since);
    end_change();
}

/* Stop or start the clocks when the flags have come to say so. */
static void follow_flags(uint32_t flags)
{
    qp_head *h = qp_run_head();
    bool runs = (flags & QP_FLAG_RECORDING) && !(flags & QP_FLAG_CLOSED);
    qp_fetch_or(&h->flags, flags);
    qp_fetch_and(&h->flags, flags | ~(uint32_t)(QP_FLAG_RECORDING | QP_FLAG_CLOSED));
    if (!runs)
        qp_session_gate();
    if (runs != !h->stopped_since) {
        uint64_t now = qp_charge_elapsed();
        uint64_t stood = (int64_t)(now - h->stopped_since) > 0 ? now - h->stopped_since : 0;
        if (runs)
            change_stops(h->stopped_total + stood, 0);
        else
            change_stops(h->stopped_total, now ? now : 1);
    }
    tell_threads();
}

bool qp_data_start(void)
{
    uint32_t flags = qp_load(&qp_run_head()->flags);
    if (flags & (QP_FLAG_RECORDING | QP_FLAG_DISABLED))
        return false;
    follow_flags(flags | QP_FLAG_RECORDING);
    return true;
}

bool qp_data_stop(void)
{
    uint32_t flags = qp_load(&qp_run_head()->flags);
    if (!(flags & QP_FLAG_RECORDING))
        return false;
    follow_flags(flags & ~(uint32_t)QP_FLAG_RECORDING);
    return true;
}

bool qp_data_gate(int open)
{
    uint32_t flags = qp_load(&qp_run_head()->flags);
    if (open >= 0 && !open != !!(flags & QP_FLAG_CLOSED))
        follow_flags(flags ^ QP_FLAG_CLOSED);
    return !(flags & QP_FLAG_CLOSED);
}

void qp_data_disable(void)
{
    qp_data_stop();
    qp_fetch_or(&qp_run_head()->flags, QP_FLAG_DISABLED);
}

void qp_data_clear(void)
{
    qp_head *h = qp_run_head();
    begin_change();
    qp_store(&h->clear_raw, h->stopped_since ? h->stopped_since : qp_charge_elapsed());
    qp_store(&h->clear_stopped, h->stopped_total);
    qp_publish(&h->clear_count, h->clear_count + 1);
    end_change();
    qp_store(&h->n_critical, 0);
    qp_contexts_clear();
    qp_marks_clear();
    qp_watch_later(QP_EVENT_CLEAR, 0);
    tell_threads();
    qp_session_cleared();
}

bool qp_data_save(const char *name, const char *label)
{
    char path[QP_PATH_MAX];
    qp_parse_error error = {0, ""};
    qp_head *h = qp_run_head();
    if (!qp_save_has_data())
        return false;
    qp_data_sync_here();
    qp_charge_calibrate();
    int code = qp_names_dataset(name, qp_run.n_datasets, path, sizeof path, &error);
    if (!code && qp_names_check_output(path, &error) != 0)
        code = QPROF_E_IO;
    if (!code)
        code = qp_save_copy(path, sizeof path, QP_SNAPSHOT, label);
    if (code) {
        qp_count(&qp_run.space, code == QPROF_E_IO ? QP_D_e_io : QP_D_e_option);
        qp_session_log("dataset not written: %s", error.message[0] ? error.message : path);
        return false;
    }
    if (!name)
        qp_run.n_datasets++;
    qp_watch_later(QP_EVENT_SAVE, 0);
    h->dataset++; /* annotations from now on belong to the next one */
    qp_save_run(qp_option_text(&qp_run.options, QP_OPT_run_at_save), path);
    if (qp_run.options.number[QP_OPT_clear_on_save])
        qp_data_clear();
    return true;
}
