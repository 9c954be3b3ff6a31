/* import.c: turns what an importer gathered into the bytes of a profile. Start reading at
 * write_all(). */
#include "model/import/import.h"

#include <stdlib.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/os/file.h"
#include "format/builder.h"
#include "model/import/gather.h"

enum { WORD_BITS = 64 };

static const size_t unpacked_max = (size_t)1 << 30;

/* What an import may take, for each byte, without --max-memory: docs/import.md has what honest ones need. */
static const uint64_t memory_least = 256ull << 20, memory_for_packed = 200,
                      memory_for_plain = 64;

/* ---- lines ------------------------------------------------------------------------------- */

static int by_method(const void *a, const void *b)
{
    const qp_import_line *x = a, *y = b;
    int order = QP_ORDER(x->method, y->method);
    return order ? order : QP_ORDER(x->line, y->line);
}

static int by_thread(const void *a, const void *b)
{
    const qp_import_line *x = a, *y = b;
    int order = QP_ORDER(x->thread, y->thread);
    return order ? order : by_method(a, b);
}

/* The line tables of all methods, one after the other: the line where a method is declared,
 * which is not code, then its lines. A method for which only that line is known gets no other
 * lines.
 * @return qp_line; failed: no memory */
static qp_buf make_tables(qp_import *im)
{
    qp_buf blocks = QP_BUF(qp_line);
    qp_import_line *lines = im->lines.items;
    size_t at = 0;
    if (im->lines.n)
        qsort(lines, im->lines.n, sizeof *lines, by_method);
    for (uint32_t i = 1; i <= im->methods.n && !blocks.failed; i++) {
        qp_import_method *m = QP_IMPORT_AT(im->methods, qp_import_method, i);
        size_t end = at;
        while (end < im->lines.n && lines[end].method == i)
            end++;
        bool has_lines = end > at && (lines[at].line != m->first_line ||
                                      lines[end - 1].line != m->first_line);
        m->first_block = (uint32_t)blocks.n;
        qp_line *declared = m->first_line ? qp_buf_add(&blocks) : NULL;
        if (declared)
            *declared = (qp_line){-1, (int32_t)m->first_line};
        for (int32_t offset = 0; has_lines && at < end; at++) {
            if (offset && lines[at].line == lines[at - 1].line)
                continue; /* of another thread */
            qp_line *l = qp_buf_add(&blocks);
            if (l)
                *l = (qp_line){offset++, (int32_t)lines[at].line};
        }
        m->n_blocks = (uint32_t)blocks.n - m->first_block;
        at = end;
    }
    return blocks;
}

/* The block of a line; the lines after the declaration ascend. n_blocks: none. */
static uint32_t block_of(const qp_import_method *m, const qp_line *blocks, uint32_t line)
{
    uint32_t first = m->first_line != 0, n = m->n_blocks - first;
    uint32_t at = first + (uint32_t)QP_SEARCH(blocks + first, n, line, line);
    return at < m->n_blocks && (uint32_t)blocks[at].line == line ? at : m->n_blocks;
}

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct {
    qp_import *im;
    qp_builder *b;
    const qp_line *blocks;
    uint32_t *order;  /* [nodes.n] nodes by thread, parents first */
    uint32_t *number; /* [nodes.n + 1] of a node in its thread */
    bool has_lines;
    size_t node, line; /* written so far, of order and of lines */
} writing;

static const qp_line *blocks_of(const writing *w, const qp_import_method *m)
{
    return m->n_blocks ? w->blocks + m->first_block : NULL;
}

static void write_methods(writing *w)
{
    for (uint32_t i = 1; i <= w->im->methods.n; i++) {
        const qp_import_method *m = QP_IMPORT_AT(w->im->methods, qp_import_method, i);
        qp_builder_method(w->b, &(qp_builder_code){.id = i,
                                                   .flags = QP_METHOD_REGISTERED,
                                                   .name = m->name,
                                                   .file = m->file,
                                                   .module = m->module,
                                                   .lines = blocks_of(w, m),
                                                   .n_lines = m->n_blocks});
    }
}

/* By thread, without changing the order within one. */
static bool sort_nodes(writing *w)
{
    const qp_import *im = w->im;
    size_t *next = qp_alloc_zeroed(im->threads.n + 2, sizeof *next);
    w->order = qp_alloc(im->nodes.n, sizeof *w->order);
    w->number = qp_alloc_zeroed(im->nodes.n + 1, sizeof *w->number);
    bool is_good = next && w->order && w->number;
    for (uint32_t i = 1; is_good && i <= im->nodes.n; i++)
        next[QP_IMPORT_AT(im->nodes, qp_import_node, i)->thread + 1]++;
    for (size_t t = 1; is_good && t <= im->threads.n; t++)
        next[t] += next[t - 1];
    for (uint32_t i = 1; is_good && i <= im->nodes.n; i++)
        w->order[next[QP_IMPORT_AT(im->nodes, qp_import_node, i)->thread]++] = i;
    qp_free(next);
    return is_good;
}

static void write_counters(writing *w, uint32_t thread)
{
    const qp_import_line *lines = w->im->lines.items;
    while (w->line < w->im->lines.n && lines[w->line].thread == thread) {
        uint32_t method = lines[w->line].method;
        const qp_import_method *m = QP_IMPORT_AT(w->im->methods, qp_import_method, method);
        const qp_line *blocks = blocks_of(w, m);
        uint32_t n = m->n_blocks, n_values = 2 * n + (n + WORD_BITS - 1) / WORD_BITS;
        bool has_lines = n > (m->first_line != 0);
        w->has_lines |= has_lines;
        uint64_t *values = has_lines ? qp_builder_counter_block(w->b, QP_COUNTER_BLOCK_TIMES,
                                                                method, n, n_values)
                                     : NULL;
        for (; w->line < w->im->lines.n && lines[w->line].thread == thread &&
               lines[w->line].method == method;
             w->line++) {
            uint32_t k = values ? block_of(m, blocks, lines[w->line].line) : n;
            if (k == n)
                continue;
            values[2 * (size_t)k] += lines[w->line].self;
            values[2 * (size_t)k + 1] += lines[w->line].total;
            values[2 * (size_t)n + k / WORD_BITS] |= 1ull << k % WORD_BITS;
        }
    }
}

static void write_thread(writing *w, uint32_t thread)
{
    const qp_import *im = w->im;
    uint64_t n_calls = 0;
    const char *name = QP_IMPORT_AT(im->threads, qp_import_thread_row, thread)->name;
    qp_thread_record *th = qp_builder_thread(
        w->b, &(qp_thread_record){
                  .name = qp_builder_text(w->b, name), .state = QP_THREAD_ENDED, .n_lives = 1});
    for (; th && w->node < im->nodes.n; w->node++) {
        uint32_t i = w->order[w->node];
        const qp_import_node *n = QP_IMPORT_AT(im->nodes, qp_import_node, i);
        if (n->thread != thread)
            break;
        if (!n->method)
            continue;
        bool is_sampled = im->head.time_mode == QP_TIME_SAMPLED;
        const qp_node figures = {.n_calls = n->f.calls,
                                 .self = n->f.self,
                                 .self_min = UINT64_MAX,
                                 .self_max = is_sampled ? n->f.samples : 0};
        w->number[i] = qp_builder_node(w->b, w->number[n->parent], n->method, &figures);
        if (n->f.pc_samples)
            qp_builder_node_more(w->b, 0, 0, n->f.pc_samples, 0);
        n_calls += n->f.calls;
    }
    if (th)
        th->n_exits = n_calls; /* every call has ended */
    write_counters(w, thread);
}

static void write_head(const writing *w)
{
    const qp_import *im = w->im;
    qp_head *h = qp_builder_head(w->b);
    *h = im->head;
    h->collect = QP_COLLECT_PROFILE;
    h->flags |= QP_FLAG_IMPORTED | QP_FLAG_RECORDING;
    h->grain = w->has_lines ? QP_GRAIN_LINE : QP_GRAIN_FUNCTION;
    h->user_clock = h->wait_clock = h->clock_kind;
    h->program = qp_builder_text(w->b, im->program);
    h->version = qp_builder_text(w->b, im->recorder);
    for (uint32_t i = 1; i <= im->notes.n; i++)
        qp_builder_note(w->b, QP_NOTE_MESSAGE, *QP_IMPORT_AT(im->notes, const char *, i));
}

static void end(qp_import *im);

/* What was gathered goes as soon as it is written. @return NULL, or what prevented it */
static const char *write_all(qp_import *im, void **bytes, size_t *n_bytes)
{
    qp_buf blocks = make_tables(im);
    writing w = {.im = im, .b = qp_builder_new(0), .blocks = blocks.items};
    const char *why = "there is not enough memory to read it";
    bool is_written = false;
    if (w.b && !blocks.failed && sort_nodes(&w)) {
        write_methods(&w);
        if (im->lines.n)
            qsort(im->lines.items, im->lines.n, im->lines.item_bytes, by_thread);
        for (uint32_t t = 1; t <= im->threads.n; t++)
            write_thread(&w, t);
        write_head(&w);
        is_written = true;
    }
    qp_free(w.order);
    qp_free(w.number);
    qp_free(blocks.items);
    end(im);
    if (is_written)
        qp_builder_bytes(w.b, bytes, n_bytes, &why);
    qp_builder_free(w.b);
    return why;
}

/* ---- the whole --------------------------------------------------------------------------- */

static void begin(qp_import *im, const qp_load_options *o)
{
    *im = (qp_import){.wanted = o ? o->sample_type : NULL,
                      .methods = QP_BUF(qp_import_method),
                      .threads = QP_BUF(qp_import_thread_row),
                      .nodes = QP_BUF(qp_import_node),
                      .lines = QP_BUF(qp_import_line),
                      .notes = QP_BUF(const char *)};
}

static void end(qp_import *im)
{
    qp_buf *const all[] = {&im->methods, &im->threads, &im->nodes, &im->lines, &im->notes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        qp_free(all[i]->items);
    qp_dict_fini(&im->child_of);
    qp_dict_fini(&im->pair_of);
    qp_dict_fini(&im->line_of);
    qp_dict_fini(&im->thread_of);
    qp_arena_fini(&im->texts);
    *im = (qp_import){.wanted = NULL};
}

static bool import_plain(qp_image *image, const void *bytes, size_t n_bytes,
                         const qp_load_options *o, qp_error *error)
{
    qp_import im;
    void *made = NULL;
    size_t n_made = 0;
    if (qp_import_cover_fits(bytes, n_bytes))
        return qp_import_cover(bytes, n_bytes, &made, &n_made, error) &&
               qp_image_take(image, made, n_made, error);
    begin(&im, o);
    bool is_read = qp_import_callgrind_fits(bytes, n_bytes)
                       ? qp_import_callgrind(&im, bytes, n_bytes, error)
                   : qp_import_pprof_fits(bytes, n_bytes)
                       ? qp_import_pprof(&im, bytes, n_bytes, error)
                       : qp_error_fail(error, "unpacked, it is no profile that can be read");
    if (is_read && im.is_too_much)
        is_read =
            qp_error_fail(error, "its figures or call paths are more than a profile can hold");
    const char *why = im.failed ? "there is not enough memory to read it" : NULL;
    if (is_read && !why)
        why = write_all(&im, &made, &n_made);
    if (is_read)
        is_read =
            why ? qp_error_fail(error, "%s", why) : qp_image_take(image, made, n_made, error);
    end(&im);
    return is_read;
}

bool qp_import_copy(qp_image *image, const void *bytes, size_t n_bytes,
                    const qp_load_options *o, qp_error *error)
{
    void *plain;
    size_t n_plain;
    const char *why;
    bool is_read, is_limited = o && o->max_memory;
    *image = (qp_image){0};
    if (n_bytes > unpacked_max)
        return qp_error_fail(error, "it is too large");
    if (qp_inflate_fits(bytes, n_bytes)) {
        if (!is_limited)
            qp_alloc_limit_change(memory_least + memory_for_packed * n_bytes);
        if (!qp_inflate(bytes, n_bytes, unpacked_max, &plain, &n_plain, &why))
            return qp_error_fail(error, "%s", why);
        if (!is_limited)
            qp_alloc_limit_change(memory_least + memory_for_plain * n_plain);
        is_read = import_plain(image, plain, n_plain, o, error);
        qp_free(plain);
    } else {
        if (!is_limited)
            qp_alloc_limit_change(memory_least + memory_for_plain * n_bytes);
        is_read = import_plain(image, bytes, n_bytes, o, error);
    }
    image->foreign_bytes = n_bytes;
    return is_read;
}

bool qp_import_read(qp_image *image, int fd, const qp_load_options *o, uint64_t max_bytes,
                    qp_error *error)
{
    uint64_t n_bytes;
    const char *why;
    *image = (qp_image){0};
    if (!qp_file_is_plain(fd, &n_bytes, &why))
        return qp_error_fail(error, "%s", why);
    if (n_bytes > max_bytes || n_bytes > unpacked_max)
        return qp_error_fail(error, "it is too large");
    void *bytes = qp_alloc((size_t)n_bytes, 1);
    if (!bytes)
        return qp_error_fail(error, "there is not enough memory to read it");
    size_t n = qp_file_read_at(fd, bytes, (size_t)n_bytes, 0);
    bool is_read = qp_import_copy(image, bytes, n, o, error);
    qp_free(bytes);
    return is_read;
}

bool qp_import_fits(const void *bytes, size_t n_bytes)
{
    return n_bytes > 0 &&
           (qp_inflate_fits(bytes, n_bytes) || qp_import_callgrind_fits(bytes, n_bytes) ||
            qp_import_cover_fits(bytes, n_bytes) || qp_import_pprof_fits(bytes, n_bytes));
}

bool qp_import_fits_file(int fd)
{
    unsigned char bytes[QP_IMPORT_SNIFF_BYTES];
    return qp_import_fits(bytes, qp_file_read_at(fd, bytes, sizeof bytes, 0));
}
