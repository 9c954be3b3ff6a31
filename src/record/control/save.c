/* save.c: datasets. Read qp_save_copy first. A copy is written under a temporary name and appears
 * under its own name complete or not at all. Only the counts file and profiles of earlier runs are replaced. */
#include "record/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/place.h"
#include "base/os/thread.h"
#include "cover/merge.h"
#include "format/trace.h"
#include "record/clock/clock.h"
#include "record/pause/pause.h"

enum { COPY_BYTES = 64 * 1024 };

/* Metrics of the host, and waits for locks. */
static bool has_told(const qp_node_metrics *m)
{
    qp_cell cell = qp_observe(&m->values);
    const qp_node_values *v = cell ? qp_at(&qp_recorder.space, cell) : NULL;
    uint64_t any = 0;
    for (unsigned i = 0; v && i < QP_METRICS; i++)
        any |= qp_load(&v->sums[i]);
    const qp_lock_wait *w;
    for (qp_cell at = qp_observe(&m->waits); at; at = w->next) {
        w = qp_at(&qp_recorder.space, at);
        any |= qp_load(&w->n);
    }
    return any != 0;
}

static bool has_metrics(const qp_node_more *more)
{
    qp_cell cell = qp_observe(&more->metrics);
    const qp_node_metrics *m = cell ? qp_at(&qp_recorder.space, cell) : NULL;
    return m && (qp_load(&m->bytes) || qp_load(&m->objects) || qp_load(&m->freed_bytes) ||
                 qp_load(&m->freed_objects) || has_told(m));
}

/* Is the time of calls data, though no entry of them is? A call that was open at a clear has its time
 * since then; one that was open at a fork is its parent's. */
static bool has_times_alone(void)
{
    const qp_head *h = qp_recorder_head();
    return (h->time_mode == QP_TIME_EXACT || h->time_mode == QP_TIME_ADAPTIVE) &&
           h->clear_count != qp_recorder.clear_of_fork;
}

/* Visitors that stop where there is data. */
static bool has_no_calls(void *counts_times, QP_UNUSED qp_cell cell, const qp_node *n)
{
    qp_cell cell_of_more = qp_observe(&n->more);
    const qp_node_more *more = cell_of_more ? qp_at(&qp_recorder.space, cell_of_more) : NULL;
    return !qp_load(&n->n_calls) &&
           !(*(bool *)counts_times && n->parent && qp_load(&n->self)) &&
           !(more && (qp_load(&more->n_skips) || qp_load(&more->counts) ||
                      qp_load(&more->samples) || has_metrics(more)));
}

static bool has_no_counts(QP_UNUSED void *unused, qp_counter_block *b)
{
    for (uint32_t i = 0; b->kind == QP_COUNTER_BLOCK_COUNTS && i < b->n_values; i++)
        if (qp_load(&b->values[i]))
            return false;
    return true; /* times come with calls, or are old */
}

static bool has_annotation(void)
{
    for (qp_ref ref = qp_recorder_head()->notes; ref;) {
        const qp_note *n = qp_at_ref(&qp_recorder.space, ref);
        if (n->kind == QP_NOTE_ANNOTATION && n->dataset == qp_recorder_head()->dataset)
            return true;
        ref = n->next;
    }
    return false;
}

/* Is there a call on top whose time counts? A frame in no area has the path of its caller. */
static bool has_open_call(const qp_thread_record *r)
{
    uint64_t top = qp_load(&r->top) & ~QP_TOP_BUSY;
    qp_cell cell = (qp_cell)(top >> 6);
    if (cell && !(top & QP_TOP_TOKEN)) {
        const qp_frame *f = qp_at(&qp_recorder.space, cell);
        cell = (qp_cell)(qp_load(&f->node) >> 6);
    }
    if (!cell || cell >= qp_load(&qp_recorder_head()->n_cells))
        return false;
    const qp_node *n = qp_at(&qp_recorder.space, cell);
    return qp_load(&n->parent) != 0;
}

bool qp_save_has_calls(const qp_thread_record *r)
{
    bool counts_times = true;
    return !qp_walk_nodes(r, has_no_calls, &counts_times);
}

bool qp_save_has_data(void)
{
    const uint64_t *losses = qp_recorder_head()->diagnostics;
    const qp_thread_record *r;
    bool is_alone = has_times_alone(), counts_times = is_alone;
    counts_times |= qp_recorder_head()->time_mode == QP_TIME_SAMPLED;
    if (qp_load(&losses[QP_D_thread_nomem]) || qp_load(&losses[QP_D_out_of_memory]))
        return true; /* there were calls, though none could be recorded */
    for (uint32_t i = 0; (r = qp_walk_records(&i, true)) != NULL;)
        if (!qp_walk_nodes(r, has_no_calls, &counts_times) ||
            !qp_walk_counter_blocks(r, has_no_counts, NULL))
            return true;
    for (uint32_t i = 0; is_alone && (r = qp_walk_records(&i, false)) != NULL;)
        if (has_open_call(r) && qp_pause_has_run(r))
            return true;
    return has_annotation();
}

/* Copy what other threads may be writing. The race is intended: words are copied whole, and
 * readers check that they fit together. */
__attribute__((no_sanitize("thread"))) static void copy_live(void *to, const void *from,
                                                             size_t n_bytes)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const volatile word *source = from;
    word *target = to;
    for (const word *end = target + n_bytes / sizeof *target; target < end;) {
        target[0] = source[0]; /* a cell at a time, and 4 words of it */
        target[1] = source[1];
        target[2] = source[2];
        target[3] = source[3];
        target += 4;
        source += 4;
    }
}

/* Are there only zeros, as in the rings of a trace that was written elsewhere, or never
 * filled? */
static bool is_empty(const uint64_t *words, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes / sizeof *words; i++)
        if (words[i])
            return false;
    return true;
}

static uint64_t buffer[COPY_BYTES / sizeof(uint64_t)]; /* under the control lock */

static size_t piece_of(uint64_t at, uint64_t end)
{
    return end - at < COPY_BYTES ? (size_t)(end - at) : COPY_BYTES;
}

/* Holes are part of the sums of extents. */
static bool seal_hole(qp_sealer *sealer, uint64_t at, uint64_t end)
{
    bool is_good = true;
    memset(buffer, 0, piece_of(at, end));
    for (size_t n; is_good && at < end; at += n) {
        n = piece_of(at, end);
        is_good = qp_seal(sealer, buffer, at / QP_CELL, n / QP_CELL);
    }
    return is_good;
}

/* What is empty becomes a hole, and what is one already is not touched. */
static bool write_live(int fd, qp_sealer *sealer, uint64_t done, uint64_t n_bytes)
{
    qp_mapping *map = &qp_recorder.space.map;
    for (uint64_t at, end; qp_mapping_next_data(map, done, n_bytes, &at, &end); done = end) {
        if (!seal_hole(sealer, done, at))
            return false;
        for (size_t n; at < end; at += n) {
            n = piece_of(at, end);
            copy_live(buffer, map->base + at, n);
            if (!qp_seal(sealer, buffer, at / QP_CELL, n / QP_CELL))
                return false;
            bool is_hole = at + n < n_bytes && is_empty(buffer, n);
            if (!is_hole &&
                (lseek(fd, (off_t)at, SEEK_SET) < 0 || !qp_file_write(fd, buffer, n)))
                return false;
        }
    }
    return seal_hole(sealer, done, n_bytes) &&
           ftruncate(fd, (off_t)n_bytes) == 0; /* the end may be a hole */
}

/* ---- consistency of a copy while others record ------------------------------------------- */

typedef struct {
    uint64_t n_ended, n_cleared, n_lives; /* frames, entries, threads of the row */
    uint64_t top;
    uint64_t last; /* time of the newest event: tokens come and go without a trace */
    uint32_t n_deep;
    bool is_busy; /* in an event */
} pulse_state;

static pulse_state pulse_of(const qp_thread_record *r)
{
    return (pulse_state){qp_load(&r->n_exits) + qp_load(&r->n_unwound) +
                             qp_load(&r->n_destroyed_live),
                         qp_load(&r->n_cleared),
                         qp_load(&r->n_lives),
                         qp_load(&r->top) & ~QP_TOP_BUSY,
                         qp_load(&r->last),
                         qp_load(&r->n_deep),
                         (qp_load(&r->top) & QP_TOP_BUSY) != 0};
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/* By how much the copy of a thread may be inconsistent, because its record and its nodes were
 * copied at different moments since `before`. 0: it recorded nothing meanwhile, and was in no
 * event. */
static uint64_t drift_of(pulse_state before, const qp_thread_record *r)
{
    pulse_state after = pulse_of(r);
    uint64_t n_ended = distance(before.n_ended, after.n_ended);
    uint64_t n_cleared = distance(before.n_cleared, after.n_cleared);
    if (!before.is_busy && !after.is_busy && !n_ended && !n_cleared &&
        after.n_lives == before.n_lives && after.top == before.top &&
        after.last == before.last && after.n_deep == before.n_deep)
        return 0;
    return 2 * n_ended + n_cleared + distance(before.top, after.top) / sizeof(qp_frame) +
           distance(before.n_deep, after.n_deep) + 2;
}

/* The records of threads were changed in the copy. */
static bool seal_threads_again(int fd, qp_sealer *sealer)
{
    const qp_extent *e;
    bool is_good = true;
    for (qp_cell cell = qp_slab_newest(&qp_recorder.threads); is_good && cell; cell = e->prev) {
        e = qp_at(&qp_recorder.space, cell);
        size_t n = (size_t)e->n_cells * QP_CELL; /* it fits: rows are few cells each */
        uint64_t at = (uint64_t)cell * QP_CELL;
        if (cell < sealer->n_cells)
            is_good = qp_file_read_at(fd, buffer, n, at) == n &&
                      qp_seal(sealer, buffer, cell, e->n_cells) &&
                      pwrite(fd, buffer, QP_CELL, (off_t)at) == QP_CELL;
    }
    return is_good;
}

/* Write into the copy how much each thread recorded while it was copied. */
static bool write_drifts(int fd, qp_sealer *sealer, const pulse_state *before,
                         uint32_t n_before, uint64_t n_bytes)
{
    bool has_drift = false;
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        const qprof_thread *th = qp_threads_at(i);
        if (!qp_observe(&th->pulse))
            continue;
        const qp_thread_record *r = qp_record_of(th);
        uint64_t drift = drift_of(i < n_before ? before[i] : (pulse_state){0}, r);
        off_t at = (off_t)((uint64_t)qp_record_cell(th) * QP_CELL +
                           offsetof(qp_thread_record, n_drift));
        if (!drift || (uint64_t)at >= n_bytes)
            continue;
        if (pwrite(fd, &drift, sizeof drift, at) != (ssize_t)sizeof drift)
            return false;
        has_drift = true;
    }
    return !has_drift || seal_threads_again(fd, sealer);
}

/* Threads whose state before the copy is known; for others all that they did counts as
 * meanwhile. */
enum { STATES_MAX = 16384 };

static bool write_profile(int fd, qp_head *h)
{
    qp_sealer sealer;
    static pulse_state before[STATES_MAX]; /* under the control lock */
    uint32_t n = 0;
    for (; n < STATES_MAX && qp_threads_at(n); n++)
        before[n] = qp_observe(&qp_threads_at(n)->pulse)
                        ? pulse_of(qp_record_of(qp_threads_at(n)))
                        : (pulse_state){0};
    uint64_t n_bytes = h->n_cells * QP_CELL;
    qp_seal_begin(&sealer, h, fd);
    bool is_good = write_live(fd, &sealer, sizeof *h, n_bytes);
    qp_seal_end(&sealer, h);
    return is_good && write_drifts(fd, &sealer, before, n, n_bytes) &&
           lseek(fd, 0, SEEK_SET) == 0 && qp_file_write(fd, h, sizeof *h);
}

/* ---- the counts file --------------------------------------------------------------------- */
/* The process that holds the lock of the named file may replace it. A process that has waited for
 * this lock finds another file under the name, and begins again. So no lock file can be left. The
 * file is never written to: a complete new one takes its name. */

enum { ROOM_LEAST = 1 << 20 }; /* of what is added, beyond the size of the file */

static const uint64_t patience_ns = 10000000000u, pause_ns = 2000000;

static bool is_counts_file(const char *path)
{
    char file[QP_PATH_MAX];
    qp_error unused;
    const char *pattern = qp_option_text(&qp_recorder.options, QP_OPT_counts_file);
    return pattern[0] &&
           qp_output_name(pattern, qp_recorder.n_datasets, file, sizeof file, &unused) == 0 &&
           strcmp(path, file) == 0;
}

static bool fail(qp_error *error, const char *what)
{
    qp_error_fail(error, "%s", what);
    return false;
}

/* Read a whole file. @param room  bytes to reserve after it. @return false: see why */
static bool read_whole(qp_mapping *m, int fd, uint64_t room, uint64_t *n_bytes, qp_error *error)
{
    const char *unused;
    *m = (qp_mapping){.fd = -1};
    if (!qp_file_is_plain(fd, n_bytes, &unused))
        return fail(error, "is not a plain file");
    if (*n_bytes > qp_recorder.options.number[QP_OPT_memory_limit])
        return fail(error, "is larger than -memory-limit");
    if (qp_mapping_open(m, NULL, *n_bytes + room + ROOM_LEAST) != 0)
        return fail(error, "cannot be added to: out of memory");
    if (m->limit_bytes > *n_bytes + room && qp_mapping_grow(m, *n_bytes) == QP_GROWN &&
        qp_file_read_at(fd, m->base, *n_bytes, 0) == *n_bytes)
        return true;
    qp_mapping_close(m);
    return fail(error, "cannot be read");
}

static bool open_dataset(qp_space *s, const char *path, uint64_t room, qp_error *error)
{
    uint64_t n_bytes;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail(error, "cannot be added to: the run's data were removed");
    *s = (qp_space){0};
    bool is_read = read_whole(&s->map, fd, room, &n_bytes, error);
    close(fd);
    s->head = (qp_head *)(void *)s->map.base;
    return is_read;
}

static bool write_dataset(const qp_space *s, const char *path, mode_t mode)
{
    qp_signal_hold hold;
    qp_sealer sealer;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    qp_seal_begin(&sealer, s->head, -1);
    qp_seal(&sealer, qp_at(s, QP_HEAD_CELLS), QP_HEAD_CELLS, s->head->n_cells - QP_HEAD_CELLS);
    qp_seal_end(&sealer, s->head);
    qp_signal_hold_begin(&hold, SIGXFSZ);
    bool is_written = qp_file_write(fd, s->map.base, s->head->n_cells * QP_CELL);
    qp_signal_hold_end(&hold);
    if (mode)
        fchmod(fd, mode);
    return close(fd) == 0 && is_written;
}

static bool is_still(int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

typedef enum { LOCKED, ABSENT, REFUSED } lock_result;

static lock_result lock_file(const char *path, int *fd, qp_error *error)
{
    uint64_t until = qp_clock_monotonic() + patience_ns;
    for (;;) {
        *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (*fd < 0 && errno == ENOENT)
            return ABSENT;
        if (*fd < 0) {
            fail(error, errno == ELOOP ? "is a symbolic link" : "cannot be opened");
            return REFUSED;
        }
        bool is_held = flock(*fd, LOCK_EX | LOCK_NB) == 0;
        if (is_held && is_still(*fd, path))
            return LOCKED;
        bool is_busy = is_held || errno == EWOULDBLOCK || errno == EINTR;
        close(*fd);
        if (!is_busy || qp_clock_monotonic() > until) {
            fail(error, is_busy ? "is locked by other processes" : "cannot be locked");
            return REFUSED;
        }
        if (!is_held)
            qp_clock_sleep_until(qp_clock_monotonic() + pause_ns);
    }
}

/* Replace the counts file by the sum of both. @param fd  the counts file, locked */
static bool replace(int fd, const char *temporary, const char *path, qp_error *error)
{
    char sum[QP_PATH_MAX];
    struct stat st;
    uint64_t old_bytes;
    qp_mapping old;
    qp_space now;
    if (fstat(fd, &st) != 0 || snprintf(sum, sizeof sum, "%s+", temporary) >= (int)sizeof sum)
        return fail(error, "cannot be read");
    if (!read_whole(&old, fd, 0, &old_bytes, error))
        return false;
    bool is_done = open_dataset(&now, temporary, 2 * old_bytes, error);
    if (is_done) {
        bool is_forced = qp_recorder.options.number[QP_OPT_force_merge] == 1;
        is_done = qp_merge_counts(&now, old.base, old_bytes, is_forced, error);
        if (is_done && (!write_dataset(&now, sum, st.st_mode & 0777) || !is_still(fd, path) ||
                        rename(sum, path) != 0)) {
            unlink(sum);
            is_done = fail(error, "cannot be replaced");
        }
        qp_mapping_close(&now.map);
    }
    qp_mapping_close(&old);
    return is_done;
}

/* Become the counts file, without replacing a file. @return false: see errno */
static bool become(const char *temporary, const char *path)
{
    struct stat st;
    if (link(temporary, path) == 0)
        return true;
    if (errno != EPERM && errno != EOPNOTSUPP) /* else: a file system without links */
        return false;
    if (lstat(path, &st) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(temporary, path) == 0;
}

/* Write the dataset from memory again; the file is the only copy, and remains if there is no
 * space. */
static void rewrite(const qp_space *s, const char *path)
{
    char fresh[QP_PATH_MAX];
    if (snprintf(fresh, sizeof fresh, "%s+", path) < (int)sizeof fresh &&
        (!write_dataset(s, fresh, 0) || rename(fresh, path) != 0))
        unlink(fresh);
}

/* Note in the dataset why it is not in the counts file. */
static void note(const char *temporary, const char *path, const qp_error *error)
{
    qp_error text, unused;
    qp_space s;
    qp_error_set(&text, 0,
                 "-counts-file=%.200s %.200s; this run's counts have a file of their own", path,
                 error->text);
    qp_recorder_log("%s", text.text);
    if (!open_dataset(&s, temporary, 0, &unused))
        return;
    qp_texts texts = {.space = &s};
    qp_ref words = qp_texts_add(&texts, text.text);
    qp_ref ref = words ? qp_blob_take(&s, &texts.blobs, sizeof(qp_note)) : 0;
    if (ref) {
        qp_note *n = qp_at_ref(&s, ref);
        *n = (qp_note){s.head->notes, words, QP_NOTE_MESSAGE, s.head->dataset, 0};
        s.head->notes = ref;
        rewrite(&s, temporary);
    }
    qp_mapping_close(&s.map);
}

/* Add a dataset that has just been written to the counts file: it becomes that file, or the sum of
 * both replaces the file. @param temporary  the dataset; removed afterwards
 * @return false: the counts file is unchanged; the dataset remains, with a note that explains it */
static bool add_to_counts(const char *temporary, const char *path)
{
    qp_error why = {0};
    int fd;
    for (;;) {
        lock_result result = lock_file(path, &fd, &why);
        bool is_done = false;
        if (result == LOCKED) {
            is_done = replace(fd, temporary, path, &why);
            close(fd);
        } else if (result == ABSENT) {
            is_done = become(temporary, path);
            if (!is_done && errno == EEXIST)
                continue; /* another process was faster */
            if (!is_done)
                fail(&why, "cannot be made");
        }
        if (is_done)
            unlink(temporary);
        else
            note(temporary, path, &why);
        return is_done;
    }
}

/* ---- naming ------------------------------------------------------------------------------ */

bool qp_save_write(int fd, qp_head *h, qp_file_state state, const char *label, const char *live,
                   uint32_t cut)
{
    qp_signal_hold hold;
    if (state == QP_SNAPSHOT)
        qp_waits_note_open();
    copy_live(h, qp_recorder_head(), sizeof *h);
    h->state = state;
    h->label = qp_texts_add(&qp_recorder.texts, label);
    if (live) {
        h->major = QP_MAJOR_CUT;
        h->spool = qp_texts_add(&qp_recorder.texts, live);
        h->cut = cut;
    }
    h->n_cells =
        qp_observe(&qp_recorder_head()->n_cells); /* what is claimed later is not copied */
    if (state == QP_SNAPSHOT) {
        h->end_raw = qp_clock_elapsed();
        h->ended_at = qp_clock_wall();
    }
    qp_signal_hold_begin(&hold, SIGXFSZ);
    bool is_written = write_profile(fd, h);
    qp_signal_hold_end(&hold);
    return is_written;
}

int qp_save_copy(char *path, size_t n_bytes, qp_file_state state, const char *label)
{
    char temporary[QP_PATH_MAX];
    qp_head h;
    if (snprintf(temporary, sizeof temporary, "%s.tmp%ld-%llx", path, (long)getpid(),
                 (unsigned long long)qp_recorder_head()->nonce) >= (int)sizeof temporary)
        return QPROF_E_IO;
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return QPROF_E_IO;
    bool is_written = qp_save_write(fd, &h, state, label, NULL, 0);
    if (close(fd) != 0)
        is_written = false;
    bool is_counts = QP_PRODUCT_IS_COVERAGE && is_counts_file(path);
    if (is_written &&
        ((is_counts && add_to_counts(temporary, path)) ||
         qp_place_file(temporary, path, n_bytes, is_counts ? NULL : qp_earlier_profile, &h)))
        return 0;
    unlink(temporary);
    return QPROF_E_IO;
}
