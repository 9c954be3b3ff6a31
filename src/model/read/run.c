/* run.c: the run as the head of a profile describes it, its diagnostics and notes. */
#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/text/wide.h"
#include "format/layout.h"
#include "model/model.h"
#include "model/read/read.h"

enum { NOTES_MAX = 1 << 20 };

/* ---- the run summary --------------------------------------------------------------------- */

/* The word of a number that a file has. */
#define WORD(words, i) ((i) < sizeof(words) / sizeof *(words) ? (words)[i] : "unknown")

static void describe_clock(qp_run_info *run, const qp_head *h)
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
    run->reads_text = h->flags & QP_FLAG_READS_WAIT      ? "wait"
                      : h->flags & QP_FLAG_READS_OVERLAP ? "overlap"
                                                         : "not-measured";
    run->grain = (qp_grain)h->grain;
    run->grain_text = WORD(grains, h->grain);
}

/* A profile of PC samples alone: each represents the time since the previous one. */
static void describe_interrupts(qp_run_info *run, const qp_head *h)
{
    uint32_t others = ~(uint32_t)(QP_COLLECT_SAMPLES | QP_COLLECT_STACK);
    run->is_stack_only = h->collect && !(h->collect & others);
    run->pc_period_ns = h->pc_period;
    run->is_pc_real = h->pc_kind == QP_PC_REAL;
    run->n_critical = h->n_critical;
    bool is_sum = h->flags & QP_FLAG_MERGED; /* a sum has the times */
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
    qp_run_info *run = &own->model.run;
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
    qp_run_info *run = &own->model.run;
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
    run->coarse_period = run->time_mode == QP_TIME_ADAPTIVE ? (double)h->coarse_period : 0;
    run->sample_period_reached_ns = h->n_passes ? h->sample_ns / h->n_passes : 0;
}

void qp_load_run(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    qp_run_info *run = &own->model.run;
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
    run->script = qp_load_text(own, h->script);
    run->arguments = qp_load_text(own, h->arguments);
    run->folder = qp_load_text(own, h->folder);
    run->host_version = qp_load_text(own, h->host_version);
    run->labels = qp_load_text(own, h->labels);
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
    run->has_waits = h->flags & QP_FLAG_WAITS;
    run->is_merged = h->flags & QP_FLAG_MERGED;
    run->is_imported = h->flags & QP_FLAG_IMPORTED;
    run->has_calls = !(h->flags & QP_FLAG_NO_CALLS) && !run->is_stack_only;
    run->is_profile = !h->collect || (h->collect & ~(QP_COLLECT_COVERAGE | QP_COLLECT_ONCE));
    run->has_paths = run->is_profile && !(h->flags & QP_FLAG_FROM_EDGES);
    run->is_coverage = h->collect & QP_COLLECT_COVERAGE;
    run->is_once = h->collect & QP_COLLECT_ONCE;
    run->has_memory = h->collect & QP_COLLECT_MEMORY;
    run->memory_limit_bytes = h->memory_limit;
    run->file_bytes =
        own->image.foreign_bytes ? own->image.foreign_bytes : own->image.file_bytes;
}

static uint64_t scaled(uint64_t value, uint64_t times, uint64_t by)
{
    return qp_product_share(value, times, by / 2, by ? by : 1);
}

/* Entries that no call path counts. Entries of methods that areas leave out are among them: then
 * those are lost that did not fit and are not at an <overflow>. */
static uint64_t lost_calls(const qp_model_private *own)
{
    uint64_t lost = 0, elsewhere = 0, at_overflow = 0;
    bool has_excluded = false;
    for (uint32_t i = 1; i < own->model.n_threads; i++) {
        const qp_model_thread *th = &own->threads[i];
        lost = qp_sum(lost, qp_sum(th->n_deep_total, th->n_dropped));
        elsewhere = qp_sum(elsewhere, th->n_overflowed);
    }
    for (uint32_t i = 1; i < own->model.n_methods; i++) {
        const qp_model_method *k = &own->methods[i];
        has_excluded |= (k->flags & QP_METHOD_EXCLUDED) != 0;
        at_overflow += k->flags & QP_METHOD_OVERFLOW ? k->all.calls : 0;
    }
    uint64_t n_unfit = qp_load_diagnostic(own, QP_D_tree_overflow);
    n_unfit -= at_overflow < n_unfit ? at_overflow : n_unfit;
    return qp_sum(lost, has_excluded && n_unfit < elsewhere ? n_unfit : elsewhere);
}

void qp_load_sums(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    qp_run_info *run = &own->model.run;
    run->total = run->unfolded_total = own->nodes[QP_ROOT_NODE].f.total;
    run->off = own->nodes[QP_ROOT_NODE].f.off_total;
    run->calls = own->methods[QP_ROOT_METHOD].all.calls;
    run->calls_lost = run->has_calls ? lost_calls(own) : 0;
    run->cost_caller_milliticks = qp_sum(h->cost_entry, h->cost_exit);
    run->cost_inside_milliticks = h->cost_inside;
    /* the cost of an outermost call to its caller, and that of a skip, is in no time, unless the caller is a method
     * in no area: its time is the root's */
    run->cost_total = run->cost_skipped = 0;
    for (uint32_t i = 1; i < own->model.n_nodes; i++) {
        const qp_figures *f = &own->nodes[i].f;
        bool is_in_it = i >= own->model.n_threads || !run->has_times || f->cost < f->self;
        run->cost_total = qp_sum(run->cost_total, is_in_it ? f->cost : f->self);
        uint64_t entry_and_exit = 2 * (uint64_t)own->threads[own->nodes[i].thread].skip_ticks;
        run->cost_skipped =
            qp_sum(run->cost_skipped, qp_product_share(f->skips, entry_and_exit, 8, 16));
    }
    if (run->has_times && run->cost_total > run->total) /* it is an estimate */
        run->cost_total = run->total;
    const uint64_t most =
        qp_product_share(run->wall, own->model.n_threads - 1, 0, 1); /* of all threads */
    const uint64_t rest = run->has_times && most > run->total ? most - run->total : most;
    if (run->cost_skipped > rest) /* so is this */
        run->cost_skipped = rest;
}

/* ---- diagnostics, notes ------------------------------------------------------------------ */

static void add_diagnostic(qp_run_diagnostic *to, size_t *n, const char *name, char kind,
                           const char *text, uint64_t count)
{
    if (count)
        to[(*n)++] = (qp_run_diagnostic){name, kind, text, count};
}

bool qp_load_diagnostics(qp_model_private *own)
{
    static const struct {
        const char *name, *kind, *text;
    } known[] = {
#define QP_X(name, kind, text) {#name, #kind, text},
        QP_DIAGNOSTICS(QP_X)
#undef QP_X
    };
    enum { N_KNOWN = sizeof known / sizeof *known, N_TERMS = 5 };
    _Static_assert((int)N_KNOWN <= (int)QP_N_DIAGNOSTICS, "the head has one counter each");
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
    for (unsigned i = 0; i < N_KNOWN; i++)
        add_diagnostic(own->diagnostics, &n, known[i].name, known[i].kind[0], known[i].text,
                       qp_load_diagnostic(own, i));
    add_diagnostic(own->diagnostics, &n, "spool_dropped", 'L',
                   "profiles removed from the folder of -spool because of -spool-limit",
                   qp_image_head(&own->image)->spool_dropped);
    own->model.run.diagnostics = own->diagnostics;
    own->model.run.n_diagnostics = n;
    return true;
}

bool qp_load_notes(qp_model_private *own)
{
    qp_buf found = QP_BUF(qp_run_note);
    const qp_head *h = qp_image_head(&own->image);
    const bool has_moments = h->minor >= 2 && !(h->flags & QP_FLAG_MERGED);
    const size_t n_bytes = h->minor >= 2 ? sizeof(qp_note) : offsetof(qp_note, at);
    const qp_note *note;
    uint64_t n_left = own->image.file_bytes / n_bytes; /* a circular list would never end */
    for (qp_ref ref = h->notes; ref; ref = note->next) {
        note = qp_bytes_at(qp_image_bytes(&own->image), ref, n_bytes);
        if (!note || n_left-- == 0 || found.n == NOTES_MAX) {
            own->n_losses[QP_LOSS_notes]++;
            break;
        }
        if (note->dataset != own->model.run.dataset)
            continue;
        qp_run_note *to = qp_buf_add(&found);
        if (to)
            *to = (qp_run_note){.is_message = note->kind == QP_NOTE_MESSAGE,
                                .text = qp_load_text(own, note->text)};
        if (to && has_moments && note->at) {
            to->has_moment = true;
            to->at = qp_ticks_between(h->begun_raw, note->at);
        }
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

/* ---- asking ------------------------------------------------------------------------------ */

uint64_t qp_model_ns(const qp_model *m, uint64_t ticks)
{
    const qp_head *h = qp_image_head(&m->own->image);
    if (m->own->has_units || h->clock_source != QP_SOURCE_TSC || h->tick_1 <= h->tick_0 ||
        h->ns_1 <= h->ns_0)
        return ticks;
    return scaled(ticks, h->ns_1 - h->ns_0, h->tick_1 - h->tick_0);
}

/* ---- freeing ----------------------------------------------------------------------------- */

static void free_all(void *const *memory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        qp_free(memory[i]);
}
#define FREE_ALL(memory) free_all(memory, sizeof(memory) / sizeof *(memory))

void qp_model_forget(qp_model_private *own)
{
    void *const all[] = {own->spans, own->index_at, own->methods, own->method_cells,
                         own->names, own->threads,  own->extras};
    FREE_ALL(all);
    qp_image_fini(&own->image);
    *own = (qp_model_private){0};
    own->model.own = own;
}

void qp_model_free_view(qp_model_private *own)
{
    void *const all[] = {
        own->nodes,         own->methods,        own->threads,         own->frames,
        own->self_variance, own->total_variance, own->joined_variance, own};
    FREE_ALL(all);
}

void qp_model_free(qp_model *m)
{
    while (m && m->own->uncollapsed) {
        qp_model *from = m->own->uncollapsed;
        qp_model_free_view(m->own);
        m = from;
    }
    if (!m)
        return;
    qp_model_private *own = m->own;
    void *const all[] = {
        own->nodes,          own->node_cells,    own->open_calls,     own->open_ticks,
        own->open_variance,  own->self_variance, own->total_variance, own->frames,
        own->counter_blocks, own->shares,        own->contexts,       own->texts,
        own->open_blocks,    own->thread_names,  own->diagnostics,    own->notes,
        own->markers,        own->events,        own->loss_texts,     own->losses,
        own->requests.items, own->values.items,  own->metrics,        own->metric_names,
        own->waits.items};
    FREE_ALL(all);
    qp_model_forget(own);
    qp_free(own);
}
