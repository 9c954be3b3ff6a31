/* load.c: from a name to a model. Read qp_load_image first: it is the order of everything. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "format/diagnostics.h"
#include "model/import.h"
#include "model/live.h"
#include "model/private.h"

enum { NOTES_MAX = 1 << 20, COPIES_MAX = 3 };

static const uint64_t default_max_bytes = 64ull << 30;

/* ---- the run summary ------------------------------------------------------------------------- */

static const char *word(const char *const *words, size_t n, uint32_t i)
{
    return i < n ? words[i] : "unknown";
}
#define WORD(words, i) word(words, sizeof(words) / sizeof *(words), i)

static void describe_clock(qp_run *run, const qp_head *h)
{
    static const char *const modes[] = {"exact", "adaptive", "sampled", "none"};
    static const char *const clocks[] = {"elapsed",          "user",
                                         "kernel",           "user+kernel",
                                         "counts",           "context-switches",
                                         "soft-page-faults", "hard-page-faults",
                                         "page-faults",      "mispredicted-branches",
                                         "cache-misses",     "ignore"};
    static const char *const units[] = {"ns",     "ns",       "ns",     "ns",
                                        "counts", "switches", "faults", "faults",
                                        "faults", "misses",   "misses", "ns"};
    static const char *const sources[] = {"tsc", "monotonic", "counter", "host"};
    static const char *const grains[] = {"function", "basic-block", "line"};
    run->time_mode = h->time_mode <= QP_TIME_NONE ? (qp_time_mode)h->time_mode : QP_TIME_EXACT;
    run->time_mode_text = WORD(modes, h->time_mode);
    run->clock_kind = (qp_clock_kind)h->clock_kind;
    run->clock_text = WORD(clocks, h->clock_kind);
    run->unit = WORD(units, h->clock_kind);
    run->source_text = WORD(sources, h->clock_source);
    run->grain = (qp_grain)h->grain;
    run->grain_text = WORD(grains, h->grain);
}

/* Of interrupts alone: each stands for the time since the one before. */
static void describe_interrupts(qp_run *run, const qp_head *h)
{
    uint32_t others = ~(uint32_t)(QP_COLLECT_SAMPLES | QP_COLLECT_STACK);
    run->is_stack_only = h->collect && !(h->collect & others);
    run->pc_period_ns = h->pc_period;
    run->is_pc_real = h->pc_kind == QP_PC_REAL;
    run->n_critical = h->n_critical;
    bool is_sum = h->flags & QP_FLAG_MERGED; /* which has the times */
    if (!run->is_stack_only || !run->pc_period_ns ||
        (run->time_mode != QP_TIME_NONE && !is_sum))
        return;
    run->time_mode = QP_TIME_SAMPLED;
    run->time_mode_text = "sampled";
    run->clock_kind = run->is_pc_real ? QP_CLOCK_ELAPSED : QP_CLOCK_USER_KERNEL;
    run->clock_text = run->is_pc_real ? "elapsed" : "user+kernel";
}

/* Raw ticks of the run's clock on this machine now; 0: it cannot be read from here. */
static uint64_t read_clock(const qp_head *h)
{
    if (h->clock_kind != QP_CLOCK_ELAPSED)
        return 0;
    if (h->clock_source == QP_SOURCE_TSC)
        return qp_clock_has_tsc() ? qp_clock_tsc() : 0;
    return h->clock_source == QP_SOURCE_NS ? qp_clock_monotonic() : 0;
}

static void describe_state(qp_model_private *own)
{
    static const char *const states[] = {"live", "unsealed", "snapshot", "sealed"};
    const qp_head *h = qp_image_head(&own->image);
    qp_run *run = &own->model.run;
    if (h->state == QP_SEALED || h->state == QP_SNAPSHOT) {
        run->state = h->state == QP_SEALED ? QP_RUN_SEALED : QP_RUN_SNAPSHOT;
        own->now_raw = h->end_raw;
    } else {
        bool is_running = qp_live_is_running(h->pid, h->pid_start);
        run->state = is_running ? QP_RUN_LIVE : QP_RUN_CRASHED;
        own->now_raw = is_running ? read_clock(h) : 0;
    }
    run->state_text = states[run->state];
}

static void describe_times(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    qp_run *run = &own->model.run;
    uint64_t end = own->now_raw;
    bool is_stopped = h->stopped_since && end > h->stopped_since;
    run->started_at = h->started_at;
    run->ended_at = h->ended_at;
    run->wall = end ? qp_ticks_between(h->begun_raw, end) : 0;
    run->stopped = h->stopped_total + (is_stopped ? end - h->stopped_since : 0);
    if (run->stopped > run->wall && end)
        run->stopped = run->wall;
    run->sample_period_ns = h->sample_period;
    run->n_passes = h->n_passes;
    run->sample_period_reached_ns = h->n_passes ? h->sample_ns / h->n_passes : 0;
}

static void describe_run(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    qp_run *run = &own->model.run;
    describe_state(own);
    describe_clock(run, h);
    describe_interrupts(run, h);
    run->is_estimated = run->time_mode == QP_TIME_ADAPTIVE || run->time_mode == QP_TIME_SAMPLED;
    run->has_times = run->time_mode != QP_TIME_NONE;
    describe_times(own);
    run->program = qp_load_text(own, h->program);
    run->options = qp_load_text(own, h->options);
    run->host = qp_load_text(own, h->host);
    run->module = qp_load_text(own, h->module);
    run->focus = run->when = "";
    run->label = qp_load_text(own, h->label);
    run->pc_pattern = qp_load_text(own, h->pc_pattern);
    run->trace_file = qp_load_text(own, h->trace_file);
    run->version = qp_load_text(own, h->version);
    run->pid = h->pid;
    run->dataset = h->dataset;
    run->pointer_bytes = h->pointer_bytes;
    run->is_virtual = h->flags & QP_FLAG_VIRTUAL;
    run->has_min_max = (h->flags & QP_FLAG_MIN_MAX) && run->time_mode == QP_TIME_EXACT;
    run->is_recording = h->flags & QP_FLAG_RECORDING;
    run->is_at_exit = h->flags & QP_FLAG_AT_EXIT;
    run->is_merged = h->flags & QP_FLAG_MERGED;
    run->is_imported = h->flags & QP_FLAG_IMPORTED;
    run->has_calls = !(h->flags & QP_FLAG_NO_CALLS) && !run->is_stack_only;
    run->is_profile = !h->collect || (h->collect & ~(QP_COLLECT_COVERAGE | QP_COLLECT_ONCE));
    run->has_paths = run->is_profile && !(h->flags & QP_FLAG_FROM_EDGES);
    run->is_coverage = h->collect & QP_COLLECT_COVERAGE;
    run->is_once = h->collect & QP_COLLECT_ONCE;
    run->memory_limit_bytes = h->memory_limit;
    run->file_bytes =
        own->image.foreign_bytes ? own->image.foreign_bytes : own->image.file_bytes;
}

static uint64_t scaled(uint64_t value, uint64_t times, uint64_t by)
{
    unsigned __int128 product = (unsigned __int128)value * times;
    unsigned __int128 result = by ? (product + by / 2) / by : product;
    return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

static void sum_up(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    qp_run *run = &own->model.run;
    run->total = run->unfolded_total = own->nodes[QP_ROOT_NODE].f.total;
    run->calls = own->methods[QP_ROOT_METHOD].all.calls;
    run->cost_caller_milliticks = qp_sum(h->cost_entry, h->cost_exit);
    run->cost_inside_milliticks = h->cost_inside;
    /* What an outermost call costs its caller, and a skip anybody, is in nobody's time. */
    uint64_t inside = own->methods[QP_ROOT_METHOD].all.hits, from_methods = inside;
    for (uint32_t i = 1; i < own->model.n_nodes; i++)
        if (own->nodes[i].depth == 2)
            from_methods -= own->nodes[i].f.hits;
    run->cost_total = qp_sum(scaled(run->cost_inside_milliticks, inside, 1000),
                             scaled(run->cost_caller_milliticks, from_methods, 1000));
    if (run->cost_total > run->total) /* an estimate, of the run's start */
        run->cost_total = run->total;
}

/* ---- diagnostics, notes ---------------------------------------------------------------------- */

static void add_diagnostic(qp_run_diagnostic *to, size_t *n, const char *name, char kind,
                           const char *text, uint64_t count)
{
    if (count)
        to[(*n)++] = (qp_run_diagnostic){name, kind, text, count};
}

static bool read_diagnostics(qp_model_private *own)
{
    static const struct {
        const char *name, *kind, *text;
    } known[] = {
#define QP_X(name, kind, text) {#name, #kind, text},
        QP_DIAGNOSTICS(QP_X)
#undef QP_X
    };
    enum { N_KNOWN = sizeof known / sizeof *known, N_TERMS = 4 };
    uint64_t unwound = 0, destroyed_live = 0, still_live = 0, dropped = 0;
    for (uint32_t i = 1; i < own->model.n_threads; i++) {
        const qp_model_thread *th = &own->threads[i];
        unwound = qp_sum(unwound, th->n_unwound);
        destroyed_live = qp_sum(destroyed_live, th->n_destroyed_live);
        still_live = qp_sum(still_live, th->n_still_live);
        dropped = qp_sum(dropped, th->n_dropped);
    }
    own->diagnostics = qp_alloc(N_KNOWN + N_TERMS, sizeof *own->diagnostics);
    if (!own->diagnostics)
        return false;
    size_t n = 0;
#define QP_X(name, text) add_diagnostic(own->diagnostics, &n, #name, 'N', text, name);
    QP_IDENTITY_TERMS(QP_X)
#undef QP_X
    for (unsigned i = 0; i < N_KNOWN && i < QP_N_DIAGNOSTICS; i++)
        add_diagnostic(own->diagnostics, &n, known[i].name, known[i].kind[0], known[i].text,
                       qp_load_diagnostic(own, i));
    own->model.run.diagnostics = own->diagnostics;
    own->model.run.n_diagnostics = n;
    return true;
}

static bool read_notes(qp_model_private *own)
{
    qp_buf found;
    const qp_note *note;
    qp_buf_init(&found, sizeof(qp_run_note));
    uint64_t n_left = own->image.file_bytes / sizeof *note; /* a ring would never end */
    for (qp_ref ref = qp_image_head(&own->image)->notes; ref; ref = note->next) {
        note = qp_image_blob(&own->image, ref, sizeof *note);
        if (!note || n_left-- == 0 || found.n == NOTES_MAX) {
            own->n_losses[QP_LOSS_notes]++;
            break;
        }
        if (note->dataset != own->model.run.dataset)
            continue;
        qp_run_note *to = qp_buf_add(&found);
        if (to)
            *to = (qp_run_note){note->kind == QP_NOTE_MESSAGE, qp_load_text(own, note->text)};
    }
    size_t n;
    own->notes = qp_buf_take(&found, &n);
    for (size_t i = 0; own->notes && i < n / 2; i++) { /* the newest came first */
        qp_run_note other = own->notes[i];
        own->notes[i] = own->notes[n - 1 - i];
        own->notes[n - 1 - i] = other;
    }
    own->model.run.notes = own->notes;
    own->model.run.n_notes = n;
    return own->notes != NULL;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void forget_records(qp_model_private *own)
{
    qp_free(own->spans);
    qp_free(own->index_at);
    qp_free(own->methods);
    qp_free(own->method_cells);
    qp_free(own->names);
    qp_free(own->threads);
    qp_free(own->extras);
    qp_image_fini(&own->image);
    *own = (qp_model_private){0};
    own->model.own = own;
}

void qp_model_free(qp_model *m)
{
    if (!m)
        return;
    qp_model_private *own = m->own;
    if (own->unfolded) {
        qp_fold_free(own);
        return;
    }
    qp_free(own->nodes);
    qp_free(own->node_cells);
    qp_free(own->n_open_later);
    qp_free(own->open_ticks);
    qp_free(own->self_variance);
    qp_free(own->total_variance);
    qp_free(own->frames);
    qp_free(own->banks);
    qp_free(own->shares);
    qp_free(own->contexts);
    qp_free(own->texts);
    qp_free(own->open_blocks);
    qp_free(own->thread_names);
    qp_free(own->diagnostics);
    qp_free(own->notes);
    qp_free(own->marks);
    qp_free(own->events);
    qp_free(own->loss_texts);
    qp_free(own->losses);
    forget_records(own);
    qp_free(own);
}

/* What is the same for all copies of a file that is being written. @return false: no memory */
static bool read_records(qp_model_private *own, const qp_load_options *o)
{
    describe_run(own);
    own->index_at = qp_alloc_zeroed(own->image.n_cells, sizeof *own->index_at);
    return own->index_at && qp_salvage_extents(own) &&
           qp_load_methods(own, o && o->merge_same) && qp_load_threads(own);
}

static bool read_tree(qp_model_private *own, const qp_progress *progress)
{
    enum { RECORDS_PERCENT = QP_IMAGE_PERCENT + 5, NODES_PERCENT = 65, DERIVED_PERCENT = 98 };
    qp_progress_show(progress, RECORDS_PERCENT);
    qp_run_state state = own->model.run.state;
    if (state == QP_RUN_LIVE ||
        state == QP_RUN_SNAPSHOT) /* what was being written is no damage */
        own->n_losses[QP_LOSS_stretches] = own->n_losses[QP_LOSS_extents] = 0;
    if (!qp_load_nodes(own) || !qp_load_frames(own))
        return false;
    qp_progress_show(progress, NODES_PERCENT);
    if (!qp_derive(own))
        return false;
    qp_progress_show(progress, DERIVED_PERCENT);
    if (!qp_load_thread_names(own) || !qp_load_contexts(own) || !qp_load_banks(own) ||
        !qp_derive_calls(own) || !qp_load_sources(own) || !read_diagnostics(own) ||
        !read_notes(own) || !qp_load_marks(own) || !qp_salvage_words(own))
        return false;
    sum_up(own);
    qp_progress_show(progress, 100);
    return true;
}

/* ---- a file that is being written ------------------------------------------------------------ */

/* How far a thread has come. */
typedef struct {
    qp_cell cell, top;
    uint64_t n_ended; /* frames */
    uint64_t n_deep;
} pulse;

static pulse read_pulse(int fd, qp_cell cell)
{
    qp_thread_record r;
    memset(&r, 0, sizeof r);
    qp_file_read_at(fd, &r, sizeof r, (uint64_t)cell * QP_CELL);
    return (pulse){cell, r.top & ~QP_TOP_BUSY, r.n_exits + r.n_unwound + r.n_destroyed_live,
                   r.n_deep};
}

/* Events that may lie between two moments: each frame that ended was perhaps entered, too. */
static uint64_t events_between(pulse a, pulse b)
{
    if (a.n_ended == b.n_ended && a.top == b.top && a.n_deep == b.n_deep)
        return 0;
    uint64_t opened = qp_ticks_between(a.top, b.top) + qp_ticks_between(a.n_deep, b.n_deep);
    return 2 * (b.n_ended - a.n_ended) + opened + 2;
}

/* Copy once more, between two looks at all threads. @return false: see error */
static bool copy_again(qp_model_private *own, int fd, const qp_load_options *o,
                       uint64_t max_bytes, bool *is_quiet, char *error)
{
    uint32_t n = own->model.n_threads;
    pulse *before = qp_alloc(n, sizeof *before);
    if (!before)
        return false;
    for (uint32_t i = 1; i < n; i++)
        before[i] = read_pulse(fd, own->extras[i].cell);
    forget_records(own);
    bool is_ok = qp_image_read(&own->image, fd, max_bytes, NULL, error) && read_records(own, o);
    for (uint32_t i = 1; is_ok && i < own->model.n_threads; i++)
        own->threads[i].n_drift =
            events_between((pulse){0}, read_pulse(fd, own->extras[i].cell));
    *is_quiet = true;
    for (uint32_t i = 1; is_ok && i < n; i++) {
        uint32_t thread = qp_index_at(own, before[i].cell, QP_TAG_THREAD);
        uint64_t drift = events_between(before[i], read_pulse(fd, before[i].cell));
        own->threads[thread].n_drift = thread ? drift : 0;
        *is_quiet = *is_quiet && !drift;
    }
    qp_free(before);
    return is_ok;
}

static bool follow_live(qp_model_private *own, int fd, const qp_load_options *o,
                        uint64_t max_bytes, char *error)
{
    bool is_ok = true, is_quiet = false;
    for (unsigned i = 0; is_ok && !is_quiet && i < COPIES_MAX; i++)
        is_ok = copy_again(own, fd, o, max_bytes, &is_quiet, error);
    return is_ok;
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* @param fd  of the file, to look at it again if it is live; -1: none */
static qp_load_status load_image(qp_model_private *own, int fd, const qp_load_options *o,
                                 uint64_t max_bytes, qp_model **out, char *error)
{
    bool is_ok = qp_image_check_head(&own->image, error) && read_records(own, o);
    if (is_ok && fd >= 0 && own->model.run.state == QP_RUN_LIVE)
        is_ok = follow_live(own, fd, o, max_bytes, error);
    if (!is_ok || !read_tree(own, o ? &o->progress : NULL)) {
        if (!error[0])
            qp_text_format(error, QP_ERROR_BYTES, "there is not enough memory to read it");
        qp_model_free(&own->model);
        return QP_LOAD_UNUSABLE;
    }
    *out = &own->model;
    return own->model.n_losses ? QP_LOAD_SALVAGED : QP_LOAD_CLEAN;
}

static qp_model_private *begin(qp_model **out, char *error)
{
    qp_model_private *own = qp_alloc_zeroed(1, sizeof *own);
    *out = NULL;
    error[0] = '\0';
    if (!own)
        qp_text_format(error, QP_ERROR_BYTES, "there is not enough memory to read it");
    else
        own->model.own = own;
    return own;
}

static void name_it(char *error, const char *name)
{
    char reason[QP_ERROR_BYTES];
    memcpy(reason, error, sizeof reason);
    if (reason[0])
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: %.200s", name, reason);
}

qp_load_status qp_model_load_fd(int fd, const char *name, const qp_load_options *o,
                                qp_model **out, char error[QP_ERROR_BYTES])
{
    uint64_t max_bytes = o && o->max_bytes ? o->max_bytes : default_max_bytes;
    qp_model_private *own = begin(out, error);
    qp_load_status status = QP_LOAD_UNUSABLE;
    bool is_foreign = qp_import_fits_file(fd), is_read = false;
    if (own && is_foreign)
        is_read = qp_import_read(&own->image, fd, o, max_bytes, error);
    else if (own)
        is_read = qp_image_read(&own->image, fd, max_bytes, o ? &o->progress : NULL, error);
    if (is_read)
        status = load_image(own, is_foreign ? -1 : fd, o, max_bytes, out, error);
    else if (own)
        qp_model_free(&own->model);
    name_it(error, name);
    return status;
}

qp_load_status qp_model_load_bytes(const void *bytes, size_t n_bytes, const qp_load_options *o,
                                   qp_model **out, char error[QP_ERROR_BYTES])
{
    qp_model_private *own = begin(out, error);
    if (!own)
        return QP_LOAD_UNUSABLE;
    bool is_read = qp_import_fits(bytes, n_bytes)
                       ? qp_import_copy(&own->image, bytes, n_bytes, o, error)
                       : qp_image_copy(&own->image, bytes, n_bytes, error);
    if (!is_read) {
        qp_model_free(&own->model);
        return QP_LOAD_UNUSABLE;
    }
    return load_image(own, -1, o, 0, out, error);
}

/* A process id; 0: it is none. */
static uint64_t pid_of(const char *text)
{
    uint64_t pid = 0;
    for (; *text >= '0' && *text <= '9' && pid < 1u << 30; text++)
        pid = pid * 10 + (uint64_t)(*text - '0');
    return *text ? 0 : pid;
}

qp_load_status qp_model_load(const char *what, const qp_load_options *o, qp_model **out,
                             char error[QP_ERROR_BYTES])
{
    char path[QP_ERROR_BYTES];
    const char *why = "";
    uint64_t pid = pid_of(what);
    int fd = qp_file_open(what, &why);
    *out = NULL;
    error[0] = '\0';
    if (fd < 0 && pid && access(what, F_OK) != 0) {
        if (qp_live_path(pid, true, path, sizeof path))
            fd = qp_file_open(path, &why);
        else
            why = "there is no such file, and no such process that records";
    }
    if (fd < 0) {
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: %s", what, why);
        return QP_LOAD_UNUSABLE;
    }
    qp_load_status status = qp_model_load_fd(fd, what, o, out, error);
    close(fd);
    return status;
}

/* ---- asking ---------------------------------------------------------------------------------- */

uint64_t qp_model_ns(const qp_model *m, uint64_t ticks)
{
    const qp_head *h = qp_image_head(&m->own->image);
    if (h->clock_source != QP_SOURCE_TSC || h->tick_1 <= h->tick_0 || h->ns_1 <= h->ns_0)
        return ticks;
    return scaled(ticks, h->ns_1 - h->ns_0, h->tick_1 - h->tick_0);
}
