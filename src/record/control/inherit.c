/* inherit.c: registering the parent's methods in a forked child, which has the parent's code
 * but not its file. The parent may be extending the file meanwhile: what is published does not
 * change. */
#include "record/control/control.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "format/layout.h"
#include "record/run/run.h"
#include "record/trigger/trigger.h"

typedef struct {
    const char *bytes;
    uint64_t n_bytes;
} parent_file;

/* The bytes at a ref; NULL: not all of them are in the file. */
static const void *blob_at(const parent_file *p, qp_ref ref, uint64_t n_bytes)
{
    uint64_t at = (uint64_t)ref * 8;
    return ref && at + n_bytes <= p->n_bytes ? p->bytes + at : NULL;
}

static const char *text_at(const parent_file *p, qp_ref ref)
{
    const qp_text *t = blob_at(p, ref, sizeof *t);
    return t && blob_at(p, ref, offsetof(qp_text, bytes) + (uint64_t)t->n_bytes + 1) ? t->bytes
                                                                                     : NULL;
}

static void add_jumps(const parent_file *p, const qp_method *m, uint32_t n_blocks)
{
    const qp_jumps *j = blob_at(p, qp_observe(&m->jumps), QP_JUMPS_HEAD);
    uint64_t jump_bytes = j ? (uint64_t)j->n_jumps * sizeof(qp_jump) : 0;
    if (j && j->n_blocks == n_blocks &&
        blob_at(p, m->jumps, qp_jumps_bytes(j->n_jumps, n_blocks)))
        qp_method_set_jumps(&qp_recorder.methods, qp_methods_find(&qp_recorder.methods, m->id),
                            j->jumps, j->n_jumps, (const unsigned char *)j->jumps + jump_bytes);
}

static void add_method(const parent_file *p, const qp_method *m)
{
    const qp_lines *t = blob_at(p, qp_observe(&m->lines), QP_LINES_HEAD);
    bool has_lines = t && blob_at(p, m->lines, qp_lines_bytes(t->n_lines, t->flags));
    const qp_method_info info = {.id = m->id,
                                 .name = text_at(p, m->name),
                                 .class_name = text_at(p, m->class_name),
                                 .file = text_at(p, m->file),
                                 .flags = m->flags & (QP_METHOD_BLOCKS | QP_METHOD_WAITS),
                                 .lines = has_lines ? t->lines : NULL,
                                 .n_lines = has_lines ? t->n_lines : 0};
    qp_ref module = qp_recorder.methods.module,
           own = qp_texts_add(&qp_recorder.texts, text_at(p, m->module));
    qp_recorder.methods.module = own ? own : module;
    bool is_new = qp_methods_register(&qp_recorder.methods, &info) == QP_REGISTERED;
    if (is_new && has_lines)
        add_jumps(p, m, t->n_lines);
    if (is_new)
        qp_triggers_method(qp_methods_find(&qp_recorder.methods, m->id));
    qp_recorder.methods.module = module;
}

static void add_extent(const parent_file *p, const qp_extent *e)
{
    for (uint32_t i = 1; i < e->n_cells; i++) {
        const void *cell = (const char *)e + (uint64_t)i * QP_CELL;
        const qp_method *m = cell;
        const qp_source_record *r = cell;
        bool is_method = e->kind == QP_EXTENT_METHODS && qp_observe(&m->published) &&
                         qp_observe(&m->flags) & QP_METHOD_REGISTERED;
        if (is_method)
            add_method(p, m);
        else if (e->kind == QP_EXTENT_SOURCES && qp_observe(&r->published) &&
                 text_at(p, r->path))
            qp_sources_put(&qp_recorder.sources, text_at(p, r->path), r->digest, r->n_bytes);
    }
}

void qp_inherit_methods(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size < QP_HEAD_BYTES)
        return;
    parent_file p = {.n_bytes = (uint64_t)st.st_size};
    void *bytes = mmap(NULL, p.n_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return;
    p.bytes = bytes;
    uint64_t n_cells = p.n_bytes / QP_CELL, cell = QP_HEAD_CELLS;
    while (cell < n_cells) { /* skip a gap, where the parent is about to put an extent */
        const qp_extent *e = (const void *)(p.bytes + cell * QP_CELL);
        bool is_extent = qp_observe(&e->magic) == QP_EXTENT_MAGIC && e->self == cell &&
                         e->n_cells && e->n_cells <= n_cells - cell;
        if (is_extent)
            add_extent(&p, e);
        cell += is_extent ? e->n_cells : 1;
    }
    munmap(bytes, p.n_bytes);
}
