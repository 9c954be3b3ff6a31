/* fuzz_model.c: any bytes as a profile: read, checked and asked everything.
 *
 * Bytes that do not begin like a profile are made to, so that the reader gets beyond its first
 * look; headers of extents get their nonce, for the same reason. */
#include <stdint.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "format/layout.h"
#include "model/figures/figures.h"
#include "model/model.h"

enum { INPUT_MAX = 1 << 20 };

static void repair(unsigned char *bytes, size_t n_bytes)
{
    qp_head *h = (qp_head *)(void *)bytes;
    memcpy(h->magic, QP_MAGIC, sizeof h->magic);
    h->major = QP_MAJOR;
    h->endian = QP_ENDIAN;
    for (size_t cell = QP_HEAD_CELLS; (cell + 1) * QP_CELL <= n_bytes; cell++) {
        qp_extent *e = (qp_extent *)(void *)(bytes + cell * QP_CELL);
        if ((e->magic & 0xFF) != (QP_EXTENT_MAGIC & 0xFF))
            continue;
        e->magic = QP_EXTENT_MAGIC;
        e->self = (qp_cell)cell;
        e->nonce = h->nonce ^ cell;
        e->kind %= QP_EXTENT_BLOBS + 2;
    }
}

static void ask(const qp_model *m)
{
    size_t n;
    qp_check *checks;
    qp_pair *pairs;
    qp_model_file *files;
    uint32_t *path;
    if (qp_model_check(m, &checks, &n))
        qp_free(checks);
    if (qp_model_pairs(m, QP_ALL_THREADS, &pairs, &n))
        qp_free(pairs);
    if (qp_model_files(m, &files, &n))
        qp_free(files);
    if (qp_model_hottest_path(m, QP_ALL_THREADS, &path, &n))
        qp_free(path);
    for (uint32_t i = 0; i < m->n_methods && i < 64; i++) {
        qp_edge *edges;
        qp_line_figures *lines;
        qp_stack_suffix *suffixes;
        if (qp_model_callers(m, i, QP_ALL_THREADS, &edges, &n))
            qp_free(edges);
        if (qp_model_callees(m, i, QP_ALL_THREADS, &edges, &n))
            qp_free(edges);
        if (qp_model_stack_suffixes(m, i, QP_ALL_THREADS, 5, &suffixes, &n))
            qp_free(suffixes);
        if (qp_model_lines(m, m->methods[i].file, i, QP_ALL_THREADS, &lines, &n))
            qp_free(lines);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static _Alignas(64) unsigned char bytes[INPUT_MAX];
    qp_error error;
    if (n_bytes > sizeof bytes)
        return -1;
    memcpy(bytes, data, n_bytes);
    for (int is_repaired = 0; is_repaired < 2; is_repaired++) {
        qp_model *m;
        if (is_repaired && n_bytes >= sizeof(qp_head))
            repair(bytes, n_bytes);
        if (qp_model_load_bytes(bytes, n_bytes, NULL, &m, &error) == QP_LOAD_UNUSABLE)
            continue;
        ask(m);
        qp_model_free(m);
    }
    return 0;
}
