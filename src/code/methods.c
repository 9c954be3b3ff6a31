/* methods.c: the registry of methods. Read qp_methods_mention and qp_methods_register first. */
#include "code/code.h"

#include <string.h>

#include "base/atomic.h"
#include "base/containers/trie.h"
#include "format/layout.h"

enum { LINES_MAX = 1000000, N_RESERVED_IDS = 16 };

static const char pseudo_names[][20] = {"<Garbage collector>", "<Compiler>", "<Loader>",
                                        "<Native>"};

static bool is_reserved(uint64_t id)
{
    return id > UINTPTR_MAX - N_RESERVED_IDS;
}

bool qp_method_is_pseudo(uint64_t id)
{
    return is_reserved(id) &&
           id < UINTPTR_MAX - N_RESERVED_IDS + 1 + sizeof pseudo_names / sizeof *pseudo_names;
}

const char *qp_method_pseudo_name(uint64_t id)
{
    return pseudo_names[id - (UINTPTR_MAX - N_RESERVED_IDS + 1)];
}

bool qp_method_is_nameless(uint64_t id)
{
    return !id || (is_reserved(id) && !qp_method_is_pseudo(id));
}

static qp_method *record_at(const qp_methods *m, qp_cell cell)
{
    return qp_at(m->space, cell);
}

static uint64_t key_of(void *owner, uint32_t cell)
{
    const qp_methods *m = owner;
    return record_at(m, cell)->id;
}

static uint32_t block_of(void *owner)
{
    return qp_texts_block(((qp_methods *)owner)->texts);
}

static qp_trie index_of(qp_methods *m)
{
    return (qp_trie){m->space->map.base, key_of, block_of, m};
}

static qp_cell new_record(qp_methods *m, uint64_t id)
{
    qp_cell cell = qp_slab_take(m->space, &m->slab, QP_EXTENT_METHODS, 1, QP_RESERVE_ORDINARY);
    if (!cell)
        return 0;
    qp_method *r = record_at(m, cell);
    r->id = id;
    if (qp_method_is_pseudo(id)) {
        r->name = qp_texts_add(m->texts, qp_method_pseudo_name(id));
        r->flags = QP_METHOD_PSEUDO | QP_METHOD_REGISTERED;
    }
    return cell;
}

static void publish(qp_methods *m, qp_method *r)
{
    r->ordinal = (uint32_t)qp_fetch_add(&m->space->head->n_methods, 1) + 1;
    qp_publish(&r->published, 1);
}

bool qp_methods_begin(qp_methods *m, qp_space *space, qp_texts *texts)
{
    *m = (qp_methods){.space = space, .texts = texts};
    m->root = qp_texts_block(texts);
    m->anonymous = new_record(m, 0);
    m->overflow = new_record(m, 0);
    if (!m->root || !m->anonymous || !m->overflow)
        return false;
    qp_method *overflow = record_at(m, m->overflow);
    overflow->name = qp_texts_add(texts, "<overflow>");
    overflow->flags = QP_METHOD_PSEUDO | QP_METHOD_OVERFLOW | QP_METHOD_REGISTERED;
    publish(m, record_at(m, m->anonymous));
    publish(m, overflow);
    return true;
}

qp_cell qp_methods_find(qp_methods *m, uint64_t id)
{
    return qp_trie_get(index_of(m), m->root, id);
}

qp_cell qp_methods_mention(qp_methods *m, uint64_t id, bool *is_new)
{
    qp_cell known = qp_trie_get(index_of(m), m->root, id);
    *is_new = false;
    if (known)
        return known;
    qp_cell fresh = new_record(m, id);
    qp_cell agreed = fresh ? qp_trie_put(index_of(m), m->root, id, fresh) : 0;
    *is_new = agreed && agreed == fresh;
    if (*is_new)
        publish(m, record_at(m, fresh));
    return agreed;
}

bool qp_method_is_registered(const qp_methods *m, qp_cell method)
{
    return qp_observe(&record_at(m, method)->flags) & QP_METHOD_REGISTERED;
}

bool qp_method_miss(qp_methods *m, qp_cell method)
{
    uint32_t bit = QP_METHOD_MISSED;
    return !(qp_fetch_or(&record_at(m, method)->flags, bit) & bit);
}

/* @param source  of the lines, by the map; 0: they are taken as they are */
static qp_ref copy_lines(qp_methods *m, const qp_method_info *info, qp_ref source)
{
    const qp_line *lines = info->lines;
    int64_t n_lines = info->n_lines;
    if (!lines || n_lines <= 0)
        return 0;
    bool is_cut = n_lines > LINES_MAX;
    uint32_t n = is_cut ? LINES_MAX : (uint32_t)n_lines;
    size_t n_bytes = qp_lines_bytes(n, 0);
    qp_ref ref = qp_blob_take(m->space, &m->texts->blobs, n_bytes);
    if (!ref)
        return 0;
    qp_lines *copy = qp_at_ref(m->space, ref);
    memcpy(copy->lines, lines, n * sizeof(qp_line));
    if (source)
        qp_source_map_apply(info->map, source, copy->lines, n);
    bool is_sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        if (copy->lines[i].line < 0)
            copy->lines[i].line = 0;
        if (i && copy->lines[i].code_offset < copy->lines[i - 1].code_offset)
            is_sorted = false;
    }
    copy->flags = (is_sorted ? 0 : QP_LINES_UNSORTED) | (is_cut ? QP_LINES_CUT : 0);
    qp_publish(&copy->n_lines, n);
    if (!is_sorted)
        qp_count(m->space, QP_D_unsorted_line_table);
    if (is_cut)
        qp_count(m->space, QP_D_line_table_truncated);
    return ref;
}

qp_registration qp_methods_register(qp_methods *m, const qp_method_info *info)
{
    bool is_pseudo = qp_method_is_pseudo(info->id);
    if (qp_method_is_nameless(info->id))
        return QP_BAD_ID;
    bool is_new;
    qp_cell cell = qp_methods_mention(m, info->id, &is_new);
    if (!cell)
        return QP_NO_ROOM;
    qp_method *r = record_at(m, cell);
    uint32_t flags = qp_observe(&r->flags);
    do {
        if ((flags & QP_METHOD_CLAIMED) || (!is_pseudo && (flags & QP_METHOD_REGISTERED)))
            return QP_KNOWN;
    } while (!qp_swap_if(&r->flags, &flags, flags | QP_METHOD_CLAIMED));
    qp_publish(&r->name, qp_texts_add(m->texts, info->name));
    qp_publish(&r->class_name, qp_texts_add(m->texts, info->class_name));
    qp_ref source = info->map ? qp_source_map_source(info->map, info->lines, info->n_lines) : 0;
    qp_publish(&r->file, source ? source : qp_texts_add(m->texts, info->file));
    qp_publish(&r->module, m->module);
    qp_ref lines = copy_lines(m, info, source);
    qp_publish(&r->lines, lines);
    qp_fetch_or(&r->flags,
                (uint32_t)QP_METHOD_REGISTERED |
                    (info->flags & (QP_METHOD_BLOCKS | QP_METHOD_WAITS | QP_METHOD_INLINED |
                                    QP_METHOD_PSEUDO | QP_METHOD_ENDPOINT)));
    return info->lines && info->n_lines > 0 && !lines ? QP_NO_ROOM : QP_REGISTERED;
}

/* The record of a method that the host has registered. */
static qp_method *registered(qp_methods *m, uint64_t id)
{
    qp_cell cell =
        qp_method_is_nameless(id) || qp_method_is_pseudo(id) ? 0 : qp_methods_find(m, id);
    return cell && qp_method_is_registered(m, cell) ? record_at(m, cell) : NULL;
}

bool qp_methods_rename(qp_methods *m, uint64_t id, const char *name, const char *class_name)
{
    qp_method *r = registered(m, id);
    if (!r)
        return false;
    qp_publish(&r->name, qp_texts_add(m->texts, name));
    qp_publish(&r->class_name, qp_texts_add(m->texts, class_name));
    return true;
}

bool qp_methods_unload(qp_methods *m, uint64_t id)
{
    qp_method *r = registered(m, id);
    if (r)
        qp_store(&r->id, 0);
    return r != NULL;
}

static const qp_lines *lines_of(const qp_methods *m, qp_cell method)
{
    qp_ref ref = qp_observe(&record_at(m, method)->lines);
    return ref ? qp_at_ref(m->space, ref) : NULL;
}

uint32_t qp_method_n_blocks(const qp_methods *m, qp_cell method)
{
    const qp_lines *t = lines_of(m, method);
    return t ? t->n_lines : 0;
}

int qp_method_block_at(const qp_methods *m, qp_cell method, int code_offset)
{
    const qp_lines *t = lines_of(m, method);
    if (!t)
        return -1;
    if (!(t->flags & QP_LINES_UNSORTED)) {
        uint32_t low = 0,
                 high = t->n_lines; /* entries below low start at or before the offset */
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (t->lines[middle].code_offset <= code_offset)
                low = middle + 1;
            else
                high = middle;
        }
        return low ? (int)low - 1 : 0;
    }
    int best = -1, first = 0; /* what a stable sort would find */
    for (uint32_t i = 0; i < t->n_lines; i++) {
        int32_t offset = t->lines[i].code_offset;
        if (offset < t->lines[first].code_offset)
            first = (int)i;
        if (offset <= code_offset && (best < 0 || offset >= t->lines[best].code_offset))
            best = (int)i;
    }
    return best < 0 ? first : best;
}

int qp_method_line_at(const qp_methods *m, qp_cell method, int code_offset)
{
    int block = qp_method_block_at(m, method, code_offset);
    return block < 0 ? -1 : lines_of(m, method)->lines[block].line;
}

qp_jumps_result qp_method_set_jumps(qp_methods *m, qp_cell method, const qp_jump *jumps,
                                    int64_t n_jumps, const unsigned char *falls)
{
    uint32_t n_blocks = qp_method_n_blocks(m, method);
    qp_method *r = record_at(m, method);
    if (!n_blocks || !falls || n_jumps < 0 || n_jumps > LINES_MAX || (n_jumps && !jumps) ||
        qp_load(&r->jumps) || !qp_jumps_fit(jumps, (uint64_t)n_jumps, n_blocks))
        return QP_JUMPS_BAD;
    size_t jump_bytes = (size_t)n_jumps * sizeof(qp_jump);
    qp_ref ref =
        qp_blob_take(m->space, &m->texts->blobs, qp_jumps_bytes((uint32_t)n_jumps, n_blocks));
    if (!ref)
        return QP_JUMPS_NO_ROOM;
    qp_jumps *copy = qp_at_ref(m->space, ref);
    copy->n_jumps = (uint32_t)n_jumps;
    copy->n_blocks = n_blocks;
    if (n_jumps)
        memcpy(copy->jumps, jumps, jump_bytes);
    memcpy((char *)copy->jumps + jump_bytes, falls, n_blocks);
    uint32_t none = 0;
    return qp_swap_if(&r->jumps, &none, ref) ? QP_JUMPS_SET : QP_JUMPS_BAD;
}

qp_sizes_result qp_method_set_sizes(qp_methods *m, qp_cell method, const uint32_t *sizes,
                                    int64_t n)
{
    qp_method *r = record_at(m, method);
    qp_ref known = qp_observe(&r->lines);
    const qp_lines *t = known ? qp_at_ref(m->space, known) : NULL;
    if (!t || !sizes || n != t->n_lines || (t->flags & QP_LINES_SIZED))
        return QP_SIZES_BAD;
    uint64_t n_bytes = qp_lines_bytes(t->n_lines, 0);
    qp_ref ref =
        qp_blob_take(m->space, &m->texts->blobs, qp_lines_bytes(t->n_lines, QP_LINES_SIZED));
    if (!ref)
        return QP_SIZES_NO_ROOM;
    qp_lines *copy = qp_at_ref(m->space, ref);
    memcpy(copy, t, n_bytes);
    memcpy((char *)copy + n_bytes, sizes, t->n_lines * sizeof *sizes);
    copy->flags |= QP_LINES_SIZED;
    return qp_swap_if(&r->lines, &known, ref) ? QP_SIZES_SET : QP_SIZES_BAD;
}
