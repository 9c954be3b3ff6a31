/* profile.c: see calls.h. */
#include "replay/calls/calls.h"

#include "base/containers/alloc.h"
#include "base/text/unit.h"
#include "format/builder.h"

/* What a thread's record holds besides its tree. */
typedef struct {
    uint32_t root; /* of its tree; the calls are below */
    uint64_t n_returned, n_unwound, n_unfinished;
} thread_sums;

typedef struct {
    qp_trace *trace;
    qp_calltree tree;
    qp_buf threads; /* thread_sums, by index of the thread */
    qp_builder *builder;
    uint32_t *methods; /* [n_methods] number -> the builder's; 0: not there yet */
    uint32_t *nodes;   /* [nodes of the tree] the same */
    bool failed;
} maker;

/* ---- reading ----------------------------------------------------------------------------- */

static thread_sums *sums_of(maker *m, const qp_span_thread *th)
{
    thread_sums *sums = qp_buf_at(&m->threads, th->index);
    if (sums && !sums->root)
        sums->root = qp_calltree_root(&m->tree, 0);
    m->failed |= !sums || !sums->root;
    return m->failed ? NULL : sums;
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    maker *m = to;
    const thread_sums *sums = sums_of(m, th);
    uint32_t caller = th->depth > 1 ? s[-1].tag : sums ? sums->root : 0;
    s->tag = m->failed || !caller ? 0 : qp_calltree_child(&m->tree, caller, s->method);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    maker *m = to;
    thread_sums *sums = sums_of(m, th);
    bool is_complete =
        !(s->flags & QP_SPAN_CUT) && s->n_gates == th->n_gates && end <= QP_END_UNWOUND;
    if (!sums || !s->tag)
        return;
    sums->n_returned += end == QP_END_RETURNED;
    sums->n_unwound += end == QP_END_UNWOUND || end == QP_END_LOST;
    sums->n_unfinished += end == QP_END_UNFINISHED;
    qp_calltree_add(&m->tree, s->tag, th, s, is_complete);
}

/* ---- writing ----------------------------------------------------------------------------- */

static uint32_t builder_method(maker *m, uint32_t method)
{
    const qp_trace_method *x = qp_names_method_at(qp_trace_names(m->trace), method);
    const qp_line line = {0, (int32_t)x->first_line};
    if (m->methods[method])
        return m->methods[method];
    const qp_builder_code code = {.id = x->id,
                                  .flags = x->flags,
                                  .name = x->bare_name,
                                  .class_name = x->class_name,
                                  .file = x->file,
                                  .module = x->module,
                                  .lines = &line,
                                  .n_lines = x->first_line != 0};
    return m->methods[method] = qp_builder_method(m->builder, &code);
}

static void add_node(maker *m, uint32_t root, uint32_t node)
{
    const qp_calltree_node *n = qp_calltree_at(&m->tree, node);
    uint32_t parent = n->parent == root ? 0 : m->nodes[n->parent];
    const qp_node figures = {
        .n_calls = n->calls, .self = n->self, .self_min = n->min, .self_max = n->max};
    m->nodes[node] =
        qp_builder_node(m->builder, parent, builder_method(m, n->method), &figures);
}

/* All below the root, callers first; without recursion. */
static void add_nodes(maker *m, uint32_t root)
{
    uint32_t node = qp_calltree_at(&m->tree, root)->first_child;
    while (node) {
        add_node(m, root, node);
        const qp_calltree_node *n = qp_calltree_at(&m->tree, node);
        uint32_t next = n->first_child ? n->first_child : n->next;
        while (!next && n->parent != root) {
            n = qp_calltree_at(&m->tree, n->parent);
            next = n->next;
        }
        node = next;
    }
}

static void add_thread(maker *m, const qp_span_thread *th, const thread_sums *sums)
{
    const qp_trace_thread *x = qp_names_thread_at(qp_trace_names(m->trace), th->number);
    const qp_thread_record record = {.host_id = x->host_id,
                                     .vt_id = x->vt_id,
                                     .has_host_id = x->host_id != 0,
                                     .system_id = x->system_id,
                                     .name = qp_builder_text(m->builder, x->name),
                                     .state = QP_THREAD_ENDED,
                                     .n_lives = 1,
                                     .n_exits = sums->n_returned,
                                     .n_unwound = sums->n_unwound,
                                     .n_destroyed_live = sums->n_unfinished};
    if (!qp_builder_thread(m->builder, &record)) {
        m->failed = true;
        return;
    }
    add_nodes(m, sums->root);
}

static void describe(maker *m, const qp_spans *x, const qp_trace_window *window,
                     uint64_t end_raw)
{
    uint64_t places, missing = qp_trace_missing(m->trace, &x->counts, window, &places);
    const qp_trace_info *info = qp_trace_about(m->trace);
    qp_head *h = qp_builder_head(m->builder);
    uint64_t wall = end_raw > info->begun_raw ? end_raw - info->begun_raw : 0;
    h->flags = QP_FLAG_RECORDING | QP_FLAG_MIN_MAX | (info->is_virtual ? QP_FLAG_VIRTUAL : 0);
    h->time_mode = QP_TIME_EXACT;
    h->clock_kind = h->user_clock = h->wait_clock = QP_CLOCK_ELAPSED;
    h->clock_source = info->n_ticks ? QP_SOURCE_TSC : QP_SOURCE_NS;
    h->tick_1 = info->n_ticks;
    h->ns_1 = info->n_ns;
    h->grain = QP_GRAIN_LINE;
    h->pointer_bytes = sizeof(void *);
    h->pid = info->pid;
    h->started_at = info->started_at;
    h->ended_at = info->started_at ? info->started_at + qp_trace_ns(info, wall) : 0;
    h->begun_raw = info->begun_raw;
    h->end_raw = end_raw;
    h->collect = QP_COLLECT_PROFILE;
    bool is_table = info->kind == QP_TRACE_OF_XBASE;
    h->flags |= is_table ? QP_FLAG_IMPORTED : 0;
    h->program = qp_builder_text(m->builder, info->program);
    h->version = qp_builder_text(m->builder, is_table ? "the Xbase++ profiler, in milliseconds"
                                                      : QPROF_VERSION_TEXT);
    qp_builder_note(m->builder, QP_NOTE_MESSAGE,
                    "made from a raw trace by qprof trace profile");
    if (places) {
        char text[128], records[QP_NUMBER_BYTES], at[QP_NUMBER_BYTES];
        qp_text_format(text, sizeof text, "the trace is not complete: %s missing in %s",
                       qp_unit_things(records, missing, "record"),
                       qp_unit_things(at, places, "place"));
        qp_builder_note(m->builder, QP_NOTE_MESSAGE, text);
    }
}

static bool write_all(maker *m, const qp_spans *x, const qp_trace_window *window,
                      const char *path, qp_error *error)
{
    size_t n_methods = qp_trace_names(m->trace)->items[QP_NAMES_METHOD].n;
    m->builder = qp_builder_new(0);
    m->methods = qp_alloc_zeroed(n_methods, sizeof *m->methods);
    m->nodes = qp_alloc_zeroed(m->tree.nodes.n, sizeof *m->nodes);
    bool has_memory = m->builder && m->methods && m->nodes;
    if (has_memory)
        describe(m, x, window, qp_trace_end_raw(m->trace, x, window));
    for (size_t i = 0; has_memory && i < m->threads.n; i++) {
        const thread_sums *sums = (const thread_sums *)m->threads.items + i;
        if (sums->root)
            add_thread(m, qp_spans_thread(x, i), sums);
    }
    if (!has_memory || m->failed)
        qp_error_fail(error, "%s: not enough memory", path);
    return has_memory && !m->failed && qp_builder_finish(m->builder, path, error);
}

bool qp_trace_profile(qp_trace *t, const qp_trace_window *window, const char *path,
                      const qp_progress *progress, qp_span_counts *counts, qp_error *error)
{
    maker m = {.trace = t, .threads = QP_BUF(thread_sums)};
    qp_spans x;
    qp_calltree_init(&m.tree);
    const qp_span_sink sink = {.to = &m, .enter = enter, .leave = leave};
    qp_trace_spans(t, &x, &sink);
    bool is_read = qp_trace_play(t, &x, window, progress) && !m.failed && !m.tree.failed;
    *counts = x.counts;
    if (!is_read)
        qp_error_fail(error, "%s: not enough memory", path);
    bool is_written = is_read && write_all(&m, &x, window, path, error);
    qp_spans_fini(&x);
    qp_calltree_fini(&m.tree);
    qp_free(m.threads.items);
    qp_free(m.methods);
    qp_free(m.nodes);
    qp_builder_free(m.builder);
    return is_written;
}
