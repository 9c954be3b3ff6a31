/* merge_parts.c: the methods and call paths of a sum one by one, for a store. See combine.h. */
#include <string.h>

#include "model/combine/merge.h"

size_t qp_merge_n_methods(const qp_merge *s)
{
    return s->methods.n;
}

size_t qp_merge_n_paths(const qp_merge *s)
{
    return s->nodes.n;
}

qp_time_mode qp_merge_time_mode(const qp_merge *s)
{
    return (qp_time_mode)s->head.time_mode;
}

void qp_merge_expect(qp_merge *s, qp_time_mode mode)
{
    s->head.time_mode = mode;
}

qp_builder_code qp_merge_method_at(const qp_merge *s, uint32_t i)
{
    return QP_MERGE_AT(s->methods, const qp_merge_method, i)->code;
}

/* Where a node has the figures of each column. */
static const uint16_t places[QP_PATH_COLUMNS] = {
    [QP_PATH_HITS] = offsetof(qp_merge_node, hits),
    [QP_PATH_SKIPS] = offsetof(qp_merge_node, skips),
    [QP_PATH_RESUMES] = offsetof(qp_merge_node, resumes),
    [QP_PATH_COUNTS] = offsetof(qp_merge_node, counts),
    [QP_PATH_PC_SAMPLES] = offsetof(qp_merge_node, pc_samples),
    [QP_PATH_BYTES] = offsetof(qp_merge_node, memory.bytes),
    [QP_PATH_OBJECTS] = offsetof(qp_merge_node, memory.objects),
    [QP_PATH_FREED_BYTES] = offsetof(qp_merge_node, memory.freed_bytes),
    [QP_PATH_FREED_OBJECTS] = offsetof(qp_merge_node, memory.freed_objects),
    [QP_PATH_SELF] = offsetof(qp_merge_node, self),
    [QP_PATH_OFF] = offsetof(qp_merge_node, off),
    [QP_PATH_LOW] = offsetof(qp_merge_node, min),
    [QP_PATH_HIGH] = offsetof(qp_merge_node, max)};

static uint64_t *figure_of(qp_merge_node *n, unsigned column)
{
    return (uint64_t *)(void *)((char *)n + places[column]);
}

void qp_merge_path_at(const qp_merge *s, uint32_t i, qp_merge_path *path,
                      uint64_t figures[QP_PATH_COLUMNS])
{
    qp_merge_node *n = QP_MERGE_AT(s->nodes, qp_merge_node, i);
    const qp_merge_thread *th = QP_MERGE_AT(s->threads, const qp_merge_thread, n->thread);
    const bool is_root = n->parent == i;
    *path = (qp_merge_path){.parent = n->parent,
                            .method = n->method,
                            .thread = is_root ? th->name : NULL,
                            .creator = is_root ? th->creator : 0};
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        figures[k] = is_root ? 0 : *figure_of(n, k);
}

uint32_t qp_merge_put_method(qp_merge *s, const qp_builder_code *code)
{
    const qp_model_method k = {.name = code->name,
                               .bare_name = code->name,
                               .class_name = code->class_name,
                               .module = code->module,
                               .file = code->file,
                               .id = code->id,
                               .flags = code->flags,
                               .n_blocks = code->n_lines,
                               .lines = code->lines,
                               .sizes = code->sizes};
    return qp_merge_method_like(s, &k, code->jumps);
}

uint32_t qp_merge_put_path(qp_merge *s, const qp_merge_path *path)
{
    if (!path->thread)
        return qp_merge_node_below(s, path->parent, path->method);
    const uint32_t creator = path->creator;
    uint32_t thread = qp_merge_thread_named(
        s, path->thread, creator,
        creator ? QP_MERGE_AT(s->nodes, qp_merge_node, creator - 1)->thread : 0);
    return thread == QP_MERGE_NONE ? thread
                                   : QP_MERGE_AT(s->threads, qp_merge_thread, thread)->root;
}

/* ---- counters ---------------------------------------------------------------------------- */

_Static_assert((int)QP_MERGE_COUNTER_KINDS == (int)QP_MERGE_KINDS, "the kinds of counters");

size_t qp_merge_n_counters(const qp_merge *s)
{
    return s->counter_blocks.n;
}

qp_merge_counters qp_merge_counters_at(const qp_merge *s, uint32_t i)
{
    const qp_merge_counter_block *b =
        QP_MERGE_AT(s->counter_blocks, const qp_merge_counter_block, i);
    return (qp_merge_counters){
        .root = QP_MERGE_AT(s->threads, const qp_merge_thread, b->thread)->root,
        .method = b->method,
        .kind = b->kind,
        .n_values = b->n_values,
        .values = b->values};
}

/* After the times of lines there are bits: which lines have one. */
bool qp_merge_counters_add(qp_merge *s, const qp_merge_counters *c)
{
    const uint32_t thread = QP_MERGE_AT(s->nodes, const qp_merge_node, c->root)->thread;
    const uint32_t n_lines =
        QP_MERGE_AT(s->methods, const qp_merge_method, c->method)->code.n_lines;
    qp_merge_counter_block *to =
        qp_merge_block_of(s, thread, c->method, (qp_merge_kind)c->kind, c->n_values);
    if (!to || to->n_values != c->n_values)
        return false;
    const size_t n_times = 2 * (size_t)n_lines,
                 n = c->kind == QP_MERGE_TIMES && n_times < c->n_values ? n_times : c->n_values;
    for (size_t k = 0; k < n; k++)
        to->values[k] = qp_sum(to->values[k], c->values[k]);
    for (size_t k = n; k < c->n_values; k++)
        to->values[k] |= c->values[k];
    return true;
}

/* ---- figures ----------------------------------------------------------------------------- */

uint64_t qp_path_column_start(qp_time_mode mode, qp_path_column column)
{
    return column == QP_PATH_LOW && mode != QP_TIME_ADAPTIVE ? UINT64_MAX : 0;
}

void qp_variance_add(uint64_t *low, uint64_t *high, uint64_t more_low, uint64_t more_high)
{
    *low += more_low;
    const bool carry = *low < more_low;
    const bool is_over =
        more_high > UINT64_MAX - *high || (carry && more_high == UINT64_MAX - *high);
    *high = is_over ? UINT64_MAX : *high + more_high + carry;
    *low = is_over ? UINT64_MAX : *low;
}

static void add_column(uint64_t *to, const uint64_t *from, const uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[at[i]] = qp_sum(to[at[i]], from[i]);
}

static void keep_least(uint64_t *to, const uint64_t *from, const uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[at[i]] = from[i] < to[at[i]] ? from[i] : to[at[i]];
}

static void keep_most(uint64_t *to, const uint64_t *from, const uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[at[i]] = from[i] > to[at[i]] ? from[i] : to[at[i]];
}

void qp_path_columns_add(qp_time_mode mode, uint64_t *const to[QP_PATH_COLUMNS],
                         const uint64_t *const from[QP_PATH_COLUMNS], const uint32_t *at,
                         size_t n)
{
    const bool is_variance = mode == QP_TIME_ADAPTIVE;
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++) {
        if (!from[k] || (is_variance && k >= QP_PATH_LOW))
            continue;
        if (k == QP_PATH_LOW)
            keep_least(to[k], from[k], at, n);
        else if (k == QP_PATH_HIGH && mode == QP_TIME_EXACT)
            keep_most(to[k], from[k], at, n);
        else
            add_column(to[k], from[k], at, n);
    }
    const uint64_t *low = from[QP_PATH_LOW], *high = from[QP_PATH_HIGH];
    for (size_t i = 0; is_variance && (low || high) && i < n; i++)
        qp_variance_add(&to[QP_PATH_LOW][at[i]], &to[QP_PATH_HIGH][at[i]], low ? low[i] : 0,
                        high ? high[i] : 0);
}

void qp_merge_path_add(qp_merge *s, uint32_t i, const uint64_t figures[QP_PATH_COLUMNS])
{
    qp_merge_node *n = QP_MERGE_AT(s->nodes, qp_merge_node, i);
    qp_thread_record *sums = &QP_MERGE_AT(s->threads, qp_merge_thread, n->thread)->sums;
    uint64_t *to[QP_PATH_COLUMNS];
    const uint64_t *from[QP_PATH_COLUMNS];
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++) {
        to[k] = figure_of(n, k);
        from[k] = &figures[k];
    }
    qp_path_columns_add(qp_merge_time_mode(s), to, from, (const uint32_t[]){0}, 1);
    const uint64_t entries = qp_sum(figures[QP_PATH_HITS], figures[QP_PATH_RESUMES]);
    sums->n_overflowed -= entries < sums->n_overflowed ? entries : sums->n_overflowed;
}
