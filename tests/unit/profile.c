/* profile.c: see profile.h. */
#include "unit/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"

profile *profile_new(void)
{
    profile *p = aligned_alloc(64, sizeof *p);
    assert_non_null(p);
    memset(p, 0, sizeof *p);
    p->n_cells = QP_HEAD_CELLS;
    qp_head *h = profile_head(p);
    memcpy(h->magic, QP_MAGIC, sizeof h->magic);
    h->major = QP_MAJOR;
    h->endian = QP_ENDIAN;
    h->head_bytes = QP_HEAD_CELLS * QP_CELL;
    h->state = QP_SEALED;
    h->nonce = 0x5EED5EED12345678u;
    h->clock_source = QP_SOURCE_NS;
    h->grain = QP_GRAIN_LINE;
    h->flags = QP_FLAG_MIN_MAX | QP_FLAG_RECORDING;
    h->pointer_bytes = 8;
    h->pid = 4000000000u; /* no such process */
    h->pid_start = 1;
    h->begun_raw = PROFILE_START;
    h->end_raw = PROFILE_START + 1000;
    h->started_at = 1;
    h->ended_at = 2;
    h->n_cells = p->n_cells;
    return p;
}

void profile_free(profile *p)
{
    free(p);
}

qp_head *profile_head(profile *p)
{
    return (qp_head *)(void *)p->bytes;
}

void *profile_at(profile *p, qp_cell cell)
{
    return p->bytes + (size_t)cell * QP_CELL;
}

size_t profile_bytes(const profile *p)
{
    return (size_t)p->n_cells * QP_CELL;
}

qp_cell profile_extent(profile *p, qp_extent_kind kind, qp_cell owner, uint32_t n)
{
    qp_cell self = p->n_cells;
    assert_true(self + 1 + n <= PROFILE_CELLS);
    p->n_cells += 1 + n;
    profile_head(p)->n_cells = p->n_cells;
    *(qp_extent *)profile_at(p, self) = (qp_extent){.magic = QP_EXTENT_MAGIC,
                                                    .self = self,
                                                    .n_cells = 1 + n,
                                                    .kind = kind,
                                                    .owner = owner,
                                                    .n_used = n,
                                                    .nonce = profile_head(p)->nonce ^ self};
    return self + 1;
}

static void *blob(profile *p, size_t n_bytes, qp_ref *ref)
{
    qp_cell cell =
        profile_extent(p, QP_EXTENT_BLOBS, 0, (uint32_t)((n_bytes + QP_CELL - 1) / QP_CELL));
    *ref = cell * (QP_CELL / 8);
    return profile_at(p, cell);
}

qp_ref profile_text(profile *p, const char *text)
{
    qp_ref ref;
    size_t n = strlen(text);
    qp_text *t = blob(p, sizeof t->n_bytes + n + 1, &ref);
    t->n_bytes = (uint32_t)n;
    memcpy((char *)t + sizeof t->n_bytes, text, n + 1);
    return ref;
}

qp_ref profile_lines(profile *p, const qp_line *lines, uint32_t n)
{
    qp_ref ref;
    qp_lines *t = blob(p, offsetof(qp_lines, lines) + n * sizeof *lines, &ref);
    t->n_lines = n;
    memcpy(t->lines, lines, n * sizeof *lines);
    return ref;
}

qp_ref profile_jumps(profile *p, const qp_jump *jumps, uint32_t n_jumps,
                     const unsigned char *falls, uint32_t n_blocks)
{
    qp_ref ref;
    qp_jumps *t = blob(p, offsetof(qp_jumps, jumps) + n_jumps * sizeof *jumps + n_blocks, &ref);
    t->n_jumps = n_jumps;
    t->n_blocks = n_blocks;
    memcpy(t->jumps, jumps, n_jumps * sizeof *jumps);
    memcpy((char *)t->jumps + n_jumps * sizeof *jumps, falls, n_blocks);
    return ref;
}

qp_cell profile_method(profile *p, uint64_t id, const char *name, const char *class_name,
                       const char *file)
{
    qp_ref names[] = {profile_text(p, name), class_name ? profile_text(p, class_name) : 0,
                      file ? profile_text(p, file) : 0};
    qp_cell cell = profile_extent(p, QP_EXTENT_METHODS, 0, 1);
    *(qp_method *)profile_at(p, cell) =
        (qp_method){.id = id,
                    .flags = QP_METHOD_REGISTERED,
                    .name = names[0],
                    .class_name = names[1],
                    .file = names[2],
                    .ordinal = (uint32_t)++profile_head(p)->n_methods,
                    .published = 1};
    return cell;
}

static qp_cell new_node(profile *p, qp_cell thread)
{
    qp_cell cell = profile_extent(p, QP_EXTENT_NODES, thread, 1);
    qp_node *n = profile_at(p, cell);
    n->self_min = QP_NO_MIN;
    return cell;
}

qp_cell profile_thread(profile *p)
{
    qp_cell cell = profile_extent(p, QP_EXTENT_THREADS, 0, sizeof(qp_thread_record) / QP_CELL);
    qp_cell root = new_node(p, cell);
    qp_thread_record *r = profile_at(p, cell);
    r->ordinal = ++profile_head(p)->n_threads;
    r->n_lives = 1;
    r->root = root;
    r->offset = PROFILE_START;
    r->state = QP_THREAD_ALIVE;
    return cell;
}

qp_cell profile_node(profile *p, qp_cell thread, qp_cell parent, qp_cell method, uint64_t calls,
                     uint64_t self)
{
    const qp_thread_record *r = profile_at(p, thread);
    qp_cell cell = new_node(p, thread);
    qp_node *n = profile_at(p, cell);
    n->parent = parent ? parent : r->root;
    n->method = method;
    n->n_calls = calls;
    n->self = self;
    return cell;
}

qp_cell profile_call(profile *p, qp_cell thread, qp_cell parent, uint64_t method_id,
                     const char *name, uint64_t calls, uint64_t self)
{
    qp_cell method = profile_method(p, method_id, name, NULL, NULL);
    return profile_node(p, thread, parent, method, calls, self);
}

qp_node_more *profile_more(profile *p, qp_cell thread, qp_cell node)
{
    qp_cell cell = profile_extent(p, QP_EXTENT_AUX, thread, 1);
    ((qp_node *)profile_at(p, node))->more = cell;
    return profile_at(p, cell);
}

qp_node_timing *profile_timing(profile *p, qp_cell thread, qp_cell node)
{
    qp_node_more *more = profile_more(p, thread, node);
    more->timing = profile_extent(p, QP_EXTENT_AUX, thread, 1);
    return profile_at(p, more->timing);
}

qp_node_metrics *profile_metrics(profile *p, qp_cell thread, qp_node_more *more)
{
    more->metrics = profile_extent(p, QP_EXTENT_AUX, thread, 1);
    return profile_at(p, more->metrics);
}

qp_cell profile_stack(profile *p, qp_cell thread, const qp_cell *nodes, uint32_t n)
{
    qp_cell cell = profile_extent(p, QP_EXTENT_FRAMES, thread, n + 4);
    qp_thread_record *r = profile_at(p, thread);
    ((qp_frame *)profile_at(p, cell))->node = (uint64_t)r->root * QP_CELL;
    for (uint32_t i = 0; i < n; i++)
        ((qp_frame *)profile_at(p, cell + 1 + i))->node = (uint64_t)nodes[i] * QP_CELL;
    r->chunk = cell - 1;
    r->top = (uint64_t)(cell + n) * QP_CELL;
    return cell;
}

static qp_counter_block *add_block(profile *p, qp_extent_kind extent, qp_cell owner,
                                   qp_counter_block block)
{
    block.n_cells = 1 + (block.n_values + 7) / 8;
    qp_counter_block *b = profile_at(p, profile_extent(p, extent, owner, block.n_cells));
    *b = block;
    return b;
}

qp_counter_block *profile_bank(profile *p, qp_cell thread, qp_cell method,
                               qp_counter_block_kind kind, uint32_t n_values, uint32_t n_blocks)
{
    return add_block(
        p, QP_EXTENT_BANKS, thread,
        (qp_counter_block){
            .kind = kind, .method = method, .n_values = n_values, .n_blocks = n_blocks});
}

qp_cell profile_context(profile *p, const char *name)
{
    qp_ref text = name ? profile_text(p, name) : 0;
    qp_cell cell = profile_extent(p, QP_EXTENT_CONTEXTS, 0, 1);
    *(qp_context *)profile_at(p, cell) = (qp_context){.name = text, .published = 1};
    return cell;
}

qp_counter_block *profile_share(profile *p, qp_cell context, qp_cell method, uint64_t calls,
                                uint32_t n_values, uint32_t n_blocks)
{
    return add_block(p, QP_EXTENT_SHARES, 0,
                     (qp_counter_block){.kind = QP_COUNTER_BLOCK_SHARE,
                                        .method = method,
                                        .n_values = n_values,
                                        .n_blocks = n_blocks,
                                        .context = context,
                                        .calls = calls});
}

qp_cell profile_source(profile *p, const char *path, uint64_t digest)
{
    qp_ref text = profile_text(p, path);
    qp_cell cell = profile_extent(p, QP_EXTENT_SOURCES, 0, 1);
    *(qp_source_record *)profile_at(p, cell) =
        (qp_source_record){.path = text, .published = 1, .digest = digest, .n_bytes = 100};
    return cell;
}

void profile_balance(profile *p, qp_cell thread, uint64_t entries, uint64_t open)
{
    ((qp_thread_record *)profile_at(p, thread))->n_exits = entries - open;
}

qp_model *profile_load_with(const profile *p, const qp_load_options *o, qp_load_status expected)
{
    qp_model *m;
    qp_error error;
    qp_load_status status = qp_model_load_bytes(p->bytes, profile_bytes(p), o, &m, &error);
    assert_string_equal(error.text, "");
    if (status == QP_LOAD_SALVAGED && expected == QP_LOAD_CLEAN)
        assert_string_equal(m->losses[0], "");
    assert_int_equal(status, expected);
    return m;
}

qp_model *profile_load(const profile *p, qp_load_status expected)
{
    return profile_load_with(p, NULL, expected);
}

qp_model *profile_read(profile *p, qp_load_status expected)
{
    qp_model *m = profile_load(p, expected);
    profile_free(p);
    return m;
}

uint32_t profile_index(const qp_model *m, const char *name)
{
    uint32_t n_found, found = qp_model_method_named(m, name, &n_found);
    assert_int_equal(n_found, 1);
    return found;
}

const qp_model_method *profile_find(const qp_model *m, const char *name)
{
    return &m->methods[profile_index(m, name)];
}

void profile_assert_times(const qp_model *m, const char *name, uint64_t self, uint64_t total)
{
    const qp_figures *f = &profile_find(m, name)->all;
    assert_int_equal(f->self, self);
    assert_int_equal(f->total, total);
}

bool profile_passes(const qp_model *m, const char *check)
{
    qp_check *all;
    size_t n;
    int result = -1;
    assert_true(qp_model_check(m, &all, &n));
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, check) == 0)
            result = all[i].passed;
    qp_free(all);
    assert_int_not_equal(result, -1);
    return result;
}
