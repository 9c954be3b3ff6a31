/* trace_writer.c: the thread that takes records out of the rings and writes them. Read pass
 * first.
 *
 * It looks into the rings every few milliseconds. No thread wakes it, and only a shutdown waits
 * for it, for a limited time. Records that it cannot write are taken and counted, so that the
 * program continues undisturbed; later it tries again, in a new file if the old one is gone. */
#include "record/stream/trace_writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/thread.h"
#include "base/text/unit.h"
#include "format/trace.h"
#include "record/clock/clock.h"
#include "record/run/run.h"

enum {
    STACK_BYTES = 128 * 1024,
    RINGS = 4096,
    REST_NS = 1000000,     /* between two passes while there are records ... */
    IDLE_NS = 5000000,     /* ... and while there are none */
    PACKET_RECORDS = 4096, /* make a packet, and so do fewer after: */
    PACKET_NS = 100000000,
    CLOCK_NS = 1000000000,
    RETRY_NS = 250000000, /* after a failure; doubled each time, up to: */
    RETRY_MAX_NS = 2000000000,
    PATIENCE_NS = 2000000000, /* with a writer that makes no progress */
    LOOK_NS = 500000,
    STEP_RECORDS = 8192,
    COPY_RECORDS = 512
};
#define OVER UINT64_MAX

static struct {
    pthread_t thread;
    bool is_running;
    bool is_stuck; /* the thread of an earlier run is waiting for its disk */
    uint32_t must_stop;
    uint64_t n_asked, n_answered; /* passes that were requested and done; at the end OVER */
    uint64_t n_steps;             /* grows while the thread makes progress */
    uint64_t n_seen;              /* records, at the previous pass */
    const qp_trace_consumer *consumer;
    qp_trace_sink *sink; /* NULL: no stream, or its file could not be made again */
    char path[QP_PATH_MAX];
    uint64_t packet_due, clock_due, retry_due, retry_ns;
    bool has_failed;       /* since the last packet that was written */
    bool has_lagged;       /* it was logged that records are lost */
    uint32_t n_changes;    /* of rings, at the previous pass */
    uint64_t taken[RINGS]; /* by the stream */
    uint64_t heads[RINGS]; /* as of this pass */
} writer;

/* Has the run ended without waiting? Then nothing of it may be touched. */
static bool is_abandoned(void)
{
    return qp_load(&writer.is_stuck);
}

/* ---- failures ---------------------------------------------------------------------------- */

/* Log the first failure, and set the time of the next attempt. */
static void note_failure(uint64_t now)
{
    bool is_full = writer.sink && qp_trace_sink_state(writer.sink) == QP_SINK_FULL;
    if (!writer.has_failed)
        qp_recorder_log(is_full
                            ? "trace %s: no space left; records are lost until there is (free "
                              "some, or trace less)"
                            : "trace %s: removed, replaced or cut; records are lost until "
                              "another file can be made (check its folder)",
                        writer.path);
    writer.retry_ns = writer.has_failed ? 2 * writer.retry_ns : RETRY_NS;
    if (writer.retry_ns > RETRY_MAX_NS)
        writer.retry_ns = RETRY_MAX_NS;
    writer.has_failed = true;
    writer.retry_due = now + writer.retry_ns;
}

/* Determine a file: the pattern, or the name of the profile with another suffix.
 * @param pattern  NULL: none
 * @return 0; QPROF_E_OPTION: no name; QPROF_E_IO: no file can be made there */
static int find_name(const char *pattern, char path[QP_PATH_MAX], qp_error *error)
{
    int code = pattern && *pattern
                   ? qp_output_name(pattern, qp_recorder.n_datasets, path, QP_PATH_MAX, error)
                   : qp_output_trace_name(path, QP_PATH_MAX, error);
    return !code && qp_output_check(path, error) != 0 ? QPROF_E_IO : code;
}

/* Open the file of -trace-output. @return 0 or an error */
static int open_stream(qp_error *error)
{
    const char *pattern = qp_option_text(&qp_recorder.options, QP_OPT_trace_output);
    int code = find_name(*pattern ? pattern : NULL, writer.path, error);
    if (code)
        return code;
    writer.sink = qp_trace_sink_new(writer.path, sizeof writer.path);
    return writer.sink
               ? 0
               : qp_error_set(error, QPROF_E_IO, "%.120s: %s", writer.path, strerror(errno));
}

/* Can records be written, or is it time for another attempt? */
static bool can_write(uint64_t now)
{
    qp_error error;
    if (!writer.has_failed)
        return true;
    if (now < writer.retry_due)
        return false;
    if (writer.sink && qp_trace_sink_state(writer.sink) != QP_SINK_GONE) {
        qp_trace_sink_retry(writer.sink);
        return true;
    }
    qp_trace_sink_free(writer.sink);
    writer.sink = NULL;
    if (open_stream(&error) == 0) {
        qp_recorder_log("trace: continues in %s", writer.path);
        return true;
    }
    note_failure(now);
    return false;
}

/* ---- a pass ------------------------------------------------------------------------------ */

static bool write_records(uint32_t i, qp_ring *ring, uint64_t from, uint64_t to)
{
    const qp_trace_record *slots = qp_trace_ring_records(ring);
    bool is_shared = qp_load(&writer.consumer) != NULL;
    while (from < to) {
        uint64_t slot = from & (ring->n_slots - 1), n = ring->n_slots - slot;
        n = n < to - from ? n : to - from;
        n = n < STEP_RECORDS ? n : STEP_RECORDS;
        if (!qp_trace_sink_put(writer.sink, i, from, &slots[slot], n))
            return false;
        from += n;
        if (!is_shared) /* what is in the file: its slots may be used again at once */
            qp_publish(&ring->tail, qp_trace_sink_written(writer.sink, i));
        qp_bump(&writer.n_steps, 1);
    }
    return qp_trace_sink_flush(writer.sink);
}

/* Write records [from, to) to the file, or count them. */
static void take_records(uint32_t i, qp_ring *ring, uint64_t from, uint64_t to, uint64_t now)
{
    uint64_t written = from;
    bool is_good = can_write(now), is_tried = is_good;
    if (is_tried)
        is_good = write_records(i, ring, from, to);
    if (is_abandoned())
        return;
    if (is_tried) {
        uint64_t in_file = is_good ? to : qp_trace_sink_written(writer.sink, i);
        written = in_file > from ? in_file : from;
        if (is_good)
            writer.has_failed = false;
        else
            note_failure(now);
    }
    qp_fetch_add(&qp_recorder_head()->diagnostics[QP_D_trace_unwritten], to - written);
    writer.taken[i] = to;
}

static void write_clock(uint64_t now)
{
    if (now < writer.clock_due || writer.has_failed)
        return;
    writer.clock_due = now + CLOCK_NS;
    if (!qp_trace_sink_clock(writer.sink) && !is_abandoned())
        note_failure(now);
}

/* Look at what the rings have. Of an OS thread that changes to another ring meanwhile all is
 * read that it left in the one before: it was earlier.
 * @return has an OS thread changed since the previous pass? Then rings that are left are due */
static bool look_at_rings(void)
{
    uint32_t before = writer.n_changes, now;
    do {
        now = qp_trace_changes();
        for (uint32_t i = 0; qp_trace_ring_at(i); i++)
            writer.heads[i] = qp_observe(&qp_trace_ring_at(i)->head);
        writer.n_changes = qp_trace_changes();
    } while (writer.n_changes != now);
    return now != before;
}

/* Write what is due of all rings. @return is any of them filling up? */
static bool write_rings(bool takes_all)
{
    uint64_t now = qp_clock_monotonic();
    bool is_due = look_at_rings() || takes_all || now >= writer.packet_due, is_filling = false;
    for (uint32_t i = 0; !is_abandoned() && qp_trace_ring_at(i); i++) {
        qp_ring *ring = qp_trace_ring_at(i);
        uint64_t from = writer.taken[i], to = writer.heads[i], n = to > from ? to - from : 0;
        is_filling |= n > ring->n_slots / 4;
        if (n >= PACKET_RECORDS || n > ring->n_slots / 4 || (n && is_due))
            take_records(i, ring, from, to, now);
    }
    if (is_due)
        writer.packet_due = now + PACKET_NS;
    if (!is_abandoned())
        write_clock(now);
    return is_filling;
}

/* Log once that records are lost because this thread lags. */
static void note_lag(void)
{
    uint64_t n_lost = 0;
    for (uint32_t i = 0; !writer.has_lagged && qp_trace_ring_at(i); i++)
        n_lost += qp_load(&qp_trace_ring_at(i)->n_lost);
    if (!n_lost)
        return;
    writer.has_lagged = true;
    char size[QP_NUMBER_BYTES];
    qp_recorder_log(
        "trace: records are lost: their file is slow, and the buffers have their %s "
        "(-memory-limit for more, or -trace-full=wait)",
        qp_unit_size(size, qp_trace_memory()));
}

/* Let slots that all consumers have read be reused. */
static void free_slots(bool is_stream, const qp_trace_consumer *consumer)
{
    for (uint32_t i = 0; qp_trace_ring_at(i); i++) {
        qp_ring *ring = qp_trace_ring_at(i);
        uint64_t tail = is_stream ? writer.taken[i] : qp_load(&ring->head);
        uint64_t cursor = consumer ? consumer->cursor(i) : tail;
        qp_publish(&ring->tail, cursor < tail ? cursor : tail);
    }
}

static bool pass(bool takes_all)
{
    bool is_stream = qp_trace_users() & QP_TRACE_FOR_STREAM, is_filling = false;
    uint64_t until = qp_clock_elapsed();
    if (is_stream)
        is_filling = write_rings(takes_all);
    if (is_abandoned())
        return false;
    if (is_filling)
        qp_trace_prepare_ring();
    note_lag();
    const qp_trace_consumer *consumer = qp_observe(&writer.consumer);
    if (consumer)
        consumer->pass(until);
    free_slots(is_stream, consumer);
    qp_bump(&writer.n_steps, 1);
    return is_filling;
}

/* Has anything been recorded since the previous pass? */
static bool is_busy(void)
{
    uint64_t n = 0;
    for (uint32_t i = 0; qp_trace_ring_at(i); i++)
        n += qp_load(&qp_trace_ring_at(i)->head);
    bool is_more = n != writer.n_seen;
    writer.n_seen = n;
    return is_more;
}

static void *run(void *unused)
{
    (void)unused;
    for (bool is_last = false; !is_last;) {
        uint64_t asked = qp_observe(&writer.n_asked);
        is_last = qp_observe(&writer.must_stop);
        bool is_filling = pass(is_last || asked != writer.n_answered);
        is_last |= is_abandoned();
        qp_publish(&writer.n_answered, asked);
        if (!is_last && !is_filling)
            qp_clock_sleep_until(qp_clock_monotonic() + (is_busy() ? REST_NS : IDLE_NS));
    }
    if (writer.sink && !is_abandoned() && !qp_trace_sink_finish(writer.sink) && !is_abandoned())
        note_failure(qp_clock_monotonic());
    if (is_abandoned())
        qp_trace_sink_free(writer.sink);
    qp_publish(&writer.n_answered, OVER);
    return NULL;
}

/* ---- the thread -------------------------------------------------------------------------- */

static int start_thread(void)
{
    if (writer.is_running)
        return 0;
    writer.must_stop = 0;
    writer.n_asked = writer.n_answered = 0;
    writer.is_running = qp_own_thread_start(&writer.thread, run, STACK_BYTES);
    if (writer.is_running)
        return 0;
    return QPROF_E_UNSUPPORTED;
}

/* Wait for a pass. @return false: the thread makes no progress */
static bool wait_for(uint64_t answer)
{
    uint64_t steps = qp_load(&writer.n_steps), since = qp_clock_monotonic();
    while (qp_observe(&writer.n_answered) < answer) {
        uint64_t now = qp_clock_monotonic();
        if (qp_load(&writer.n_steps) != steps) {
            steps = qp_load(&writer.n_steps);
            since = now;
        }
        if (now - since > PATIENCE_NS)
            return false;
        qp_clock_sleep_until(now + LOOK_NS);
    }
    return true;
}

static void stop_thread(void)
{
    if (!writer.is_running)
        return;
    qp_publish(&writer.must_stop, 1);
    writer.is_running = false;
    if (wait_for(OVER)) {
        pthread_join(writer.thread, NULL);
        return;
    }
    pthread_detach(writer.thread);
    qp_store(&writer.is_stuck, true);
    qp_trace_sink_abandon(writer.sink);
    qp_recorder_log("trace %s: write timed out; the last records are lost", writer.path);
}

/* ---- control calls ----------------------------------------------------------------------- */

/* Log what an OS thread gets if that is less than -trace-buffer asks for. */
static void note_buffer(void)
{
    char size[QP_NUMBER_BYTES], most[QP_NUMBER_BYTES];
    uint64_t given = qp_trace_ring_bytes();
    if (qp_recorder.options.is_set[QP_OPT_trace_buffer] &&
        given < qp_recorder.options.number[QP_OPT_trace_buffer])
        qp_recorder_log(
            "-trace-buffer: an OS thread gets %s, a power of 2 and at most a quarter "
            "of %s (-trace-memory, at most half of -memory-limit)",
            qp_unit_size(size, given), qp_unit_size(most, qp_trace_memory()));
}

/* Log how long the program has waited for room. */
static void note_waits(void)
{
    const qp_trace_waits waits = qp_trace_waits_so_far();
    if (waits.n)
        qp_recorder_log("trace: OS threads waited %llu times for room, %llu ms in all; times "
                        "contain it",
                        (unsigned long long)waits.n, (unsigned long long)(waits.ns / 1000000));
}

int qp_trace_start(qp_error *error)
{
    uint64_t mode = qp_recorder.options.number[QP_OPT_trace_mode];
    bool has_output = qp_option_text(&qp_recorder.options, QP_OPT_trace_output)[0] != '\0';
    if (!(qp_recorder_head()->collect & QP_COLLECT_TRACE))
        return 0;
    if (mode == QP_TRACE_OVERWRITE && has_output) {
        return qp_error_set(
            error, QPROF_E_OPTION,
            "-trace-output and -trace-mode=overwrite cannot be combined (the latter keeps the "
            "trace in the profile)");
    }
    note_buffer();
    if (mode == QP_TRACE_OVERWRITE || (mode == UINT64_MAX && !has_output)) {
        qp_trace_add_user(QP_TRACE_FOR_RINGS);
        return 0;
    }
    if (writer.is_stuck && qp_observe(&writer.n_answered) != OVER) {
        return qp_error_set(error, QPROF_E_IO,
                            "-trace-mode=stream: writing the previous trace timed out");
    }
    memset(&writer, 0, sizeof writer);
    int code = open_stream(error);
    if (code)
        return code;
    qp_publish(&qp_recorder_head()->trace_file, qp_texts_add(&qp_recorder.texts, writer.path));
    qp_trace_add_user(QP_TRACE_FOR_STREAM);
    return start_thread();
}

bool qp_trace_is_stream(const char *path)
{
    return (qp_trace_users() & QP_TRACE_FOR_STREAM) && strcmp(path, writer.path) == 0;
}

/* Clear the rings whose records were all taken, so that the profile does not hold them twice.
 * An event that began before the end may still be writing its record: the race is intended. */
__attribute__((no_sanitize("thread"))) static void clear_slots(void)
{
    for (uint32_t i = 0; qp_trace_ring_at(i); i++) {
        qp_ring *ring = qp_trace_ring_at(i);
        volatile qp_trace_record *slots = qp_trace_ring_records(ring);
        uint64_t head = qp_load(&ring->head);
        bool is_taken = qp_load(&ring->tail) == head;
        for (uint32_t k = 0; is_taken && k < ring->n_slots && k < head; k++)
            slots[k] = (qp_trace_record){0, 0, 0};
    }
}

void qp_trace_stop(void)
{
    qp_trace_end(); /* before the stream writes the losses for the last time */
    stop_thread();
    if (!writer.is_stuck) {
        qp_trace_sink_free(writer.sink);
        writer.sink = NULL;
        writer.consumer = NULL;
    }
    if (!(qp_trace_users() & QP_TRACE_FOR_RINGS))
        clear_slots();
    note_waits();
    qp_trace_drop_user(QP_TRACE_FOR_RINGS | QP_TRACE_FOR_STREAM | QP_TRACE_FOR_XBASE);
}

int qp_trace_demand(const qp_trace_consumer *consumer)
{
    if (!consumer)
        qp_trace_drop_user(QP_TRACE_FOR_XBASE);
    qp_trace_drain();
    qp_publish(&writer.consumer, consumer);
    qp_trace_drain(); /* the last pass of the previous consumer has ended */
    if (!consumer)
        return 0;
    int code = start_thread();
    if (!code)
        qp_trace_add_user(QP_TRACE_FOR_XBASE);
    return code;
}

void qp_trace_drain(void)
{
    if (!writer.is_running)
        return;
    uint64_t wanted = qp_load(&writer.n_asked) + 1;
    qp_publish(&writer.n_asked, wanted);
    wait_for(wanted);
}

/* ---- what the rings hold ----------------------------------------------------------------- */

/* Copy records that their owner may be writing: the race is intended. @return how many of the
 * first ones have been overwritten meanwhile */
__attribute__((no_sanitize("thread"))) static uint64_t
copy_records(const qp_ring *ring, uint64_t from, uint64_t n, qp_trace_record *to)
{
    const volatile qp_trace_record *slots = qp_trace_ring_records(ring);
    for (uint64_t i = 0; i < n; i++) {
        const volatile qp_trace_record *r = &slots[(from + i) & (ring->n_slots - 1)];
        to[i] = (qp_trace_record){r->word, r->a, r->b};
    }
    qp_fence();
    uint64_t end = qp_observe(&ring->head) + 1;
    uint64_t oldest = end > ring->n_slots ? end - ring->n_slots : 0;
    return oldest <= from ? 0 : oldest - from < n ? oldest - from : n;
}

/* Skip TEXT and DATA that continue a lost record: without it they have no meaning and no time.
 * @return how many of the first n are lost */
static uint64_t skip_rests(const qp_trace_record *r, uint64_t n_gone, uint64_t n)
{
    while (n_gone < n && !qp_trace_has_ticks(qp_trace_op_of(&r[n_gone])))
        n_gone++;
    return n_gone;
}

static bool dump_ring(qp_trace_sink *s, uint32_t i)
{
    const qp_ring *ring = qp_trace_ring_at(i);
    qp_trace_record copy[COPY_RECORDS];
    uint64_t to = qp_observe(&ring->head);
    uint64_t from = to >= ring->n_slots ? to + 1 - ring->n_slots : 0;
    bool is_gap = from > 0;
    while (from < to) {
        uint64_t n = to - from < COPY_RECORDS ? to - from : COPY_RECORDS;
        uint64_t n_gone = copy_records(ring, from, n, copy);
        if (is_gap || n_gone)
            n_gone = skip_rests(copy, n_gone, n);
        is_gap = n_gone == n;
        if (!qp_trace_sink_put(s, i, from + n_gone, copy + n_gone, n - n_gone))
            return false;
        from += n;
    }
    return qp_trace_sink_flush(s);
}

int qp_trace_dump(const char *pattern, qp_error *error)
{
    char path[QP_PATH_MAX];
    if (qp_trace_users() != QP_TRACE_FOR_RINGS)
        return qp_error_set(error, QPROF_E_STATE, "%s",
                            qp_trace_users() ? "the trace is already being written to a file"
                                             : "no trace is recorded: -collect=profile,trace");
    int code = find_name(pattern, path, error);
    if (code)
        return code;
    qp_clock_calibrate();
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    qp_trace_sink *s = qp_trace_sink_new(path, sizeof path);
    bool is_good = s != NULL;
    for (uint32_t i = 0; is_good && qp_trace_ring_at(i); i++)
        is_good = dump_ring(s, i);
    if (is_good)
        is_good = qp_trace_sink_finish(s);
    int why = s ? ENOSPC : errno;
    qp_trace_sink_free(s);
    qp_signal_hold_end(&hold);
    if (is_good)
        return 0;
    if (s)
        unlink(path);
    qp_error_fail(error, "%.120s: %s", path, strerror(why));
    return why == ENOMEM ? QPROF_E_MEMORY : QPROF_E_IO;
}

void qp_trace_forget(void)
{
    qp_trace_sink_free(writer.sink);
    memset(&writer, 0, sizeof writer);
}
