/* segment.c: the figures of a profile's call paths, column by column, as bytes that zstd makes small.
 *
 * Numbers are LEB128. Paths ascend, so that steps between them are small; of one call, the least and the
 * most are the average, and the differences from it are stored. Read qp_segment_write first:
 * qp_segment_read is its mirror. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/search.h"
#include "format/layout.h"
#include "format/trace.h"
#include "model/read/read.h"
#include "store/internal.h"
#include "store/pack.h"

enum { LEVEL = 7, UNPACKED_MOST = 1 << 30 };

void *qp_segment_room(qp_buf *b, size_t n)
{
    n = n ? n : 1;
    return b->n >= n || qp_buf_add_many(b, n - b->n) ? b->items : NULL;
}

/* ---- packing ------------------------------------------------------------------------------- */

bool qp_segment_pack(const void *bytes, size_t n_bytes, qp_buf *out)
{
    const size_t room = ZSTD_compressBound(n_bytes);
    ZSTD_CCtx *packer = ZSTD_createCCtx();
    void *to = packer ? qp_buf_add_many(out, room) : NULL;
    if (to) {
        ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 1);
        out->n = ZSTD_compress2(packer, to, room, bytes, n_bytes);
    }
    ZSTD_freeCCtx(packer);
    return to && !ZSTD_isError(out->n);
}

bool qp_segment_unpack(qp_segment *x, const void *packed, size_t n_packed)
{
    const unsigned long long n = packed ? ZSTD_getFrameContentSize(packed, n_packed) : 0;
    if (n == 0 || n > UNPACKED_MOST) /* what is unknown or damaged is even larger */
        return false;
    x->unpacker = x->unpacker ? x->unpacker : ZSTD_createDCtx();
    void *to = x->unpacker ? qp_segment_room(&x->bytes, (size_t)n) : NULL;
    x->n_bytes = (size_t)n;
    return to && ZSTD_decompressDCtx(x->unpacker, to, (size_t)n, packed, n_packed) == n;
}

void qp_segment_init(qp_segment *x)
{
    *x = (qp_segment){.method_room = QP_BUF(uint64_t),
                      .path_room = QP_BUF(uint32_t),
                      .bytes = QP_BUF(unsigned char)};
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        x->column_rooms[k] = QP_BUF(uint64_t);
}

void qp_segment_fini(qp_segment *x)
{
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        qp_free(x->column_rooms[k].items);
    qp_free(x->method_room.items);
    qp_free(x->path_room.items);
    qp_free(x->bytes.items);
    ZSTD_freeDCtx(x->unpacker);
}

/* ---- writing ------------------------------------------------------------------------------- */

typedef struct {
    uint32_t path, index; /* in s->known, in the sum */
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return QP_ORDER(x->path, y->path);
}

static uint64_t average_of(uint64_t hits, uint64_t self)
{
    return hits > 1 ? self / hits : self;
}

/* @param figures  [n][QP_PATH_COLUMNS] */
static void put_columns(qp_buf *out, const uint64_t *figures, size_t n)
{
    uint64_t any[QP_PATH_COLUMNS] = {0}, mask = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
            any[k] |= figures[i * QP_PATH_COLUMNS + k];
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        mask |= (uint64_t)(any[k] != 0) << k;
    qp_pack_put(out, mask);
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        for (size_t i = 0; mask >> k & 1 && i < n; i++)
            qp_pack_put(out, figures[i * QP_PATH_COLUMNS + k]);
}

static void put_methods(qp_buf *out, const qp_merge *one, const uint32_t *methods)
{
    const size_t n = qp_merge_n_methods(one);
    uint64_t last = 0;
    qp_pack_put(out, n);
    for (uint32_t i = 0; i < n; i++) {
        const bool is_missed = qp_merge_method_at(one, i).flags & QP_METHOD_MISSED;
        const uint64_t value = 2 * (methods[i] + 1ull) + is_missed;
        qp_pack_put(out, qp_pack_fold(value - last));
        last = value;
    }
}

bool qp_segment_write(const qp_merge *one, const uint32_t *methods, const uint32_t *paths,
                      qp_buf *out)
{
    const size_t n = qp_merge_n_paths(one);
    const bool is_exact = qp_merge_time_mode(one) == QP_TIME_EXACT;
    place *places = qp_alloc(n, sizeof *places);
    uint64_t *figures = qp_alloc(n, QP_PATH_COLUMNS * sizeof *figures);
    if (places && figures) {
        for (uint32_t i = 0; i < n; i++)
            places[i] = (place){paths[i], i};
        qsort(places, n, sizeof *places, compare_places);
        qp_pack_put(out, qp_merge_time_mode(one));
        put_methods(out, one, methods);
        qp_pack_put(out, n);
        for (size_t i = 0; i < n; i++) {
            qp_merge_path path;
            uint64_t *f = figures + i * QP_PATH_COLUMNS;
            qp_merge_path_at(one, places[i].index, &path, f);
            const uint64_t average = average_of(f[QP_PATH_HITS], f[QP_PATH_SELF]);
            if (is_exact && !path.thread) {
                f[QP_PATH_LOW] = qp_pack_fold(average - f[QP_PATH_LOW]);
                f[QP_PATH_HIGH] = qp_pack_fold(f[QP_PATH_HIGH] - average);
            } else if (qp_merge_time_mode(one) != QP_TIME_ADAPTIVE) {
                f[QP_PATH_LOW] = 0; /* it says nothing */
            }
            qp_pack_put(out, places[i].path - (i ? places[i - 1].path : 0));
        }
        put_columns(out, figures, n);
    }
    qp_free(places);
    qp_free(figures);
    return places && figures && !out->failed;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool read_methods(qp_segment *x, qp_cursor *c, size_t n_methods)
{
    uint64_t last = 0;
    x->n_methods = qp_pack_count(c);
    x->methods = qp_segment_room(&x->method_room, x->n_methods);
    for (size_t i = 0; x->methods && i < x->n_methods; i++) {
        last += qp_pack_unfold(qp_pack_take(c));
        x->methods[i] = last;
        c->is_bad |= last / 2 - 1 >= n_methods;
    }
    return x->methods && !c->is_bad;
}

static bool read_paths(qp_segment *x, qp_cursor *c, size_t n_paths)
{
    uint64_t at = 0;
    x->n_paths = qp_pack_count(c);
    x->paths = qp_segment_room(&x->path_room, x->n_paths);
    for (size_t i = 0; x->paths && i < x->n_paths; i++) {
        uint64_t step = qp_pack_take(c);
        c->is_bad |= (i && !step) || step > n_paths;
        at += step;
        c->is_bad |= at >= n_paths;
        x->paths[i] = (uint32_t)at;
        if (c->is_bad)
            break;
    }
    return x->paths && !c->is_bad;
}

static void read_column(uint64_t *to, size_t n, qp_cursor *c)
{
    for (size_t i = 0; i < n; i++)
        to[i] = qp_pack_take(c);
}

/* Differences become what they were. */
static void restore(qp_segment *x)
{
    static const uint64_t none;
    const uint64_t *hits = x->columns[QP_PATH_HITS], *self = x->columns[QP_PATH_SELF];
    uint64_t *low = x->columns[QP_PATH_LOW], *high = x->columns[QP_PATH_HIGH];
    for (size_t i = 0; i < x->n_paths; i++) {
        const uint64_t average = average_of(hits ? hits[i] : none, self ? self[i] : none);
        low[i] = average - qp_pack_unfold(low[i]);
        high[i] = average + qp_pack_unfold(high[i]);
    }
}

bool qp_segment_read(qp_segment *x, size_t n_methods, size_t n_paths)
{
    qp_cursor c = {.at = x->bytes.items};
    c.end = c.at + x->n_bytes;
    const uint64_t mode = qp_pack_take(&c);
    c.is_bad |= mode > QP_TIME_NONE;
    x->mode = (qp_time_mode)mode;
    if (c.is_bad || !read_methods(x, &c, n_methods) || !read_paths(x, &c, n_paths))
        return false;
    const uint64_t mask = qp_pack_take(&c);
    const bool is_exact = x->mode == QP_TIME_EXACT;
    bool is_good = !c.is_bad && mask >> QP_PATH_COLUMNS == 0;
    for (unsigned k = 0; is_good && k < QP_PATH_COLUMNS; k++) {
        const bool is_there = mask >> k & 1, is_needed = is_exact && k >= QP_PATH_LOW;
        x->columns[k] =
            is_there || is_needed ? qp_segment_room(&x->column_rooms[k], x->n_paths) : NULL;
        is_good = x->columns[k] || !(is_there || is_needed);
        if (is_good && is_there)
            read_column(x->columns[k], x->n_paths, &c);
        else if (is_good && is_needed)
            memset(x->columns[k], 0, x->n_paths * sizeof *x->columns[k]);
        is_good = is_good && !c.is_bad;
    }
    if (is_good && is_exact)
        restore(x);
    return is_good && c.at == c.end;
}

static uint64_t sum_of(const uint64_t *column, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; column && i < n; i++)
        sum = qp_sum(sum, column[i]);
    return sum;
}

uint64_t qp_segment_calls(const qp_segment *x)
{
    return qp_sum(sum_of(x->columns[QP_PATH_HITS], x->n_paths),
                  sum_of(x->columns[QP_PATH_SKIPS], x->n_paths));
}

uint64_t qp_segment_self(const qp_segment *x)
{
    return sum_of(x->columns[QP_PATH_SELF], x->n_paths);
}
