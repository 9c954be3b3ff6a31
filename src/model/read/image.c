/* image.c: see image.h. Files are copied and not mapped: one that is cut while it is mapped
 * would end the tool by a signal. */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/os/file.h"
#include "base/text/buf.h"
#include "format/space.h"
#include "format/trace.h"
#include "model/model.h"
#include "model/read/read.h"

enum {
    TEXT_MAX = 64 * 1024,
    STRETCHES_MAX = 1 << 16, /* with more holes than that they are read like data */
    CELLS_A_PAGE = 4096 / QP_CELL,
    PIECE_BYTES = 8 << 20
};

static const uint64_t max_file_bytes = (1ull << 32) * QP_CELL;

static bool set_size(qp_image *image, uint64_t n_bytes, qp_error *error)
{
    image->file_bytes = n_bytes;
    image->n_cells = (uint32_t)(n_bytes / QP_CELL);
    if (!n_bytes)
        return qp_error_fail(error, "the file is empty");
    image->bytes = qp_alloc_zeroed((size_t)n_bytes + QP_CELL, 1);
    return image->bytes || qp_error_fail(error, "there is not enough memory to read it");
}

/* In pieces, between which progress is shown. */
static void read_pieces(qp_image *image, int fd, qp_stretch s, const qp_progress *progress)
{
    for (uint64_t at = s.begin; at < s.end; at += PIECE_BYTES) {
        uint64_t n_bytes = s.end - at < PIECE_BYTES ? s.end - at : PIECE_BYTES;
        qp_progress_show(progress, (unsigned)(at * QP_IMAGE_PERCENT / image->file_bytes));
        qp_file_read_at(fd, image->bytes + at, (size_t)n_bytes, at);
    }
}

static bool read_stretches(qp_image *image, int fd, const qp_progress *progress)
{
    qp_buf found = QP_BUF(qp_stretch);
    qp_stretch s = {0, 0};
    while (qp_file_next_data(fd, s.end, image->file_bytes, &s.begin, &s.end)) {
        if (found.n == STRETCHES_MAX)
            s.end = image->file_bytes;
        qp_stretch *kept = qp_buf_add(&found);
        if (kept)
            *kept = s;
        read_pieces(image, fd, s, progress);
    }
    image->data = qp_buf_take(&found, &image->n_data);
    return image->data != NULL;
}

/* Before anything is allocated for a file, its head must be ours. */
static bool read_head_only(int fd, uint64_t n_bytes, qp_error *error)
{
    _Alignas(qp_head) unsigned char bytes[sizeof(qp_head)] = {0};
    qp_image head = {.bytes = bytes, .file_bytes = n_bytes};
    if (!n_bytes)
        return qp_error_fail(error, "the file is empty");
    qp_file_read_at(fd, bytes, sizeof bytes, 0);
    return qp_image_check_head(&head, error);
}

bool qp_image_read(qp_image *image, int fd, uint64_t max_bytes, const qp_progress *progress,
                   qp_error *error)
{
    uint64_t n_bytes;
    const char *why;
    *image = (qp_image){0};
    if (!qp_file_is_plain(fd, &n_bytes, &why))
        return qp_error_fail(error, "%s", why);
    if (!read_head_only(fd, n_bytes, error))
        return false;
    if (n_bytes > max_bytes || n_bytes >= max_file_bytes) {
        return qp_error_fail(error, "it is too large: %llu bytes", (unsigned long long)n_bytes);
    }
    if (!set_size(image, n_bytes, error) || !read_stretches(image, fd, progress)) {
        qp_image_fini(image);
        return qp_error_fail(error, "there is not enough memory to read it");
    }
    return true;
}

bool qp_image_copy(qp_image *image, const void *bytes, size_t n_bytes, qp_error *error)
{
    *image = (qp_image){0};
    if (!set_size(image, n_bytes, error))
        return false;
    memcpy(image->bytes, bytes, n_bytes);
    return qp_image_take(image, image->bytes, n_bytes, error);
}

bool qp_image_take(qp_image *image, void *bytes, size_t n_bytes, qp_error *error)
{
    *image = (qp_image){
        .bytes = bytes, .file_bytes = n_bytes, .n_cells = (uint32_t)(n_bytes / QP_CELL)};
    image->data = qp_alloc(1, sizeof *image->data);
    if (!image->data) {
        qp_image_fini(image);
        return qp_error_fail(error, "there is not enough memory to read it");
    }
    image->data[0] = (qp_stretch){0, n_bytes};
    image->n_data = 1;
    return true;
}

void qp_image_fini(qp_image *image)
{
    qp_free(image->bytes);
    qp_free(image->data);
    *image = (qp_image){0};
}

bool qp_image_check_head(const qp_image *image, qp_error *error)
{
    const qp_head *h = qp_image_head(image);
    size_t magic_bytes =
        image->file_bytes < sizeof h->magic ? image->file_bytes : sizeof h->magic;
    if (image->file_bytes >= sizeof h->magic &&
        memcmp(h->magic, QP_TRACE_MAGIC, sizeof h->magic) == 0)
        return qp_error_fail(error, "it is a raw trace, not a profile: use qprof trace");
    if (memcmp(h->magic, QP_MAGIC, magic_bytes) != 0)
        return qp_error_fail(error, "it is not a qprof profile");
    if (image->file_bytes < sizeof *h)
        return qp_error_fail(error, "it is cut off inside its head: nothing can be read");
    if (h->endian == __builtin_bswap32(QP_ENDIAN))
        return qp_error_fail(error, "it was recorded on a machine of the other byte order");
    if (h->endian != QP_ENDIAN)
        return qp_error_fail(error, "its head is damaged");
    if (h->major != QP_MAJOR && h->major != QP_MAJOR_CUT) {
        return qp_error_fail(error,
                             "its format is version %u.%u, this program reads version %d",
                             h->major, h->minor, QP_MAJOR);
    }
    /* the times of all that follows depend on it */
    if (qp_head_has_checksums(h) && h->checksum != qp_head_checksum(h))
        return qp_error_fail(error, "its head is damaged: the checksum does not match");
    return true;
}

qp_bytes qp_image_bytes(const qp_image *image)
{
    return (qp_bytes){(const char *)image->bytes, (uint64_t)image->n_cells * QP_CELL};
}

const char *qp_image_text(const qp_image *image, qp_ref ref)
{
    const qp_text *t = qp_bytes_at(qp_image_bytes(image), ref, sizeof *t);
    return t && t->n_bytes <= TEXT_MAX ? qp_bytes_text(qp_image_bytes(image), ref) : NULL;
}

uint32_t qp_image_skip_hole(const qp_image *image, uint32_t cell)
{
    if (cell % CELLS_A_PAGE || cell >= image->n_cells)
        return cell;
    uint64_t at = (uint64_t)cell * QP_CELL;
    size_t low = QP_SEARCH(image->data, image->n_data, end, at + 1);
    if (low == image->n_data)
        return image->n_cells;
    uint64_t begin = image->data[low].begin / QP_CELL;
    return begin <= cell ? cell : (uint32_t)begin;
}
