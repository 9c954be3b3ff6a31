/* counters.c: the counters of a profile's methods, as bytes that zstd makes small: what each block is, then the
 * values of all. Read qp_counters_write first: qp_counters_add is its mirror. */
#include "store/internal.h"
#include "store/pack.h"

bool qp_counters_write(const qp_merge *one, const uint32_t *methods, const uint32_t *paths,
                       qp_buf *out)
{
    const uint32_t n = (uint32_t)qp_merge_n_counters(one);
    uint64_t last_root = 0, last_method = 0;
    qp_pack_put(out, n);
    for (uint32_t i = 0; i < n; i++) {
        const qp_merge_counters c = qp_merge_counters_at(one, i);
        const uint64_t root = paths[c.root], method = methods[c.method];
        qp_pack_put(out, qp_pack_fold(root - last_root));
        qp_pack_put(out, qp_pack_fold(method - last_method));
        qp_pack_put(out, c.kind);
        qp_pack_put(out, c.n_values);
        last_root = root;
        last_method = method;
    }
    for (uint32_t i = 0; i < n; i++) {
        const qp_merge_counters c = qp_merge_counters_at(one, i);
        for (uint32_t k = 0; k < c.n_values; k++)
            qp_pack_put(out, c.values[k]);
    }
    return !out->failed;
}

/* What a block is. @return false: it is not valid */
static bool read_block(qp_cursor *c, qp_merge_counters *b, const qp_store_places *places)
{
    b->root += (uint32_t)qp_pack_unfold(qp_pack_take(c));
    b->method += (uint32_t)qp_pack_unfold(qp_pack_take(c));
    const uint64_t kind = qp_pack_take(c), n_values = qp_pack_take(c);
    b->kind = (uint32_t)kind;
    b->n_values = (uint32_t)n_values;
    return !c->is_bad && kind < QP_MERGE_COUNTER_KINDS && n_values <= UINT32_MAX &&
           b->root < places->n_paths && b->method < places->n_methods;
}

/* @param values  room for those of a block @return false: not valid, or no memory */
static bool read_values(qp_cursor *c, qp_merge_counters *b, qp_buf *values)
{
    if (b->n_values > (size_t)(c->end - c->at))
        return false;
    if (values->n <= b->n_values && !qp_buf_add_many(values, b->n_values + 1ul - values->n))
        return false;
    uint64_t *to = values->items;
    for (uint32_t k = 0; k < b->n_values; k++)
        to[k] = qp_pack_take(c);
    b->values = to;
    return !c->is_bad;
}

bool qp_counters_add(const void *bytes, size_t n_bytes, const qp_store_places *places,
                     qp_merge *sum)
{
    qp_cursor heads = {.at = bytes, .end = (const unsigned char *)bytes + n_bytes}, at;
    qp_buf values = QP_BUF(uint64_t);
    const size_t n = qp_pack_count(&heads);
    qp_merge_counters b = {.root = 0};
    at = heads;
    for (size_t i = 0; i < n && !at.is_bad; i++)
        at.is_bad |= !read_block(&at, &b, places);
    bool is_good = !at.is_bad;
    b = (qp_merge_counters){.root = 0};
    for (size_t i = 0; is_good && i < n; i++) {
        is_good = read_block(&heads, &b, places) && read_values(&at, &b, &values);
        qp_merge_counters put = b;
        if (sum && is_good) {
            put.root = places->paths[b.root];
            put.method = places->methods[b.method];
            is_good = put.root != QP_MERGE_NONE && put.method != QP_MERGE_NONE &&
                      qp_merge_counters_add(sum, &put);
        }
    }
    qp_free(values.items);
    return is_good && at.at == at.end;
}
