/* merge.c: profiles go into a sum one after the other, and the sum becomes a file. What is added how:
 * merge_head.c, merge_tree.c, merge_banks.c. */
#include "model/merge.h"

#include <string.h>

#include "base/alloc.h"
#include "format/builder.h"
#include "model/merge_parts.h"

qp_merge *qp_merge_new(void)
{
    qp_merge *s = qp_alloc_zeroed(1, sizeof *s);
    if (!s)
        return NULL;
    qp_arena_init(&s->arena);
    qp_buf_init(&s->methods, sizeof(qp_merge_method));
    qp_buf_init(&s->threads, sizeof(qp_merge_thread));
    qp_buf_init(&s->nodes, sizeof(qp_merge_node));
    qp_buf_init(&s->banks, sizeof(qp_merge_bank));
    qp_buf_init(&s->contexts, sizeof(const char *));
    qp_buf_init(&s->shares, sizeof(qp_merge_share));
    qp_buf_init(&s->texts, sizeof(qp_merge_text));
    qp_buf_init(&s->notes, sizeof(qp_run_note));
    return s;
}

void qp_merge_free(qp_merge *s)
{
    if (!s)
        return;
    qp_buf *const bufs[] = {&s->methods,  &s->threads, &s->nodes, &s->banks,
                            &s->contexts, &s->shares,  &s->texts, &s->notes};
    qp_dict *const dicts[] = {&s->method_of, &s->thread_of, &s->context_of,
                              &s->text_of,   &s->child_of,  &s->share_of};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        qp_free(bufs[i]->items);
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++)
        qp_dict_fini(dicts[i]);
    for (unsigned i = 0; i < QP_MERGE_BANK_KINDS; i++)
        qp_dict_fini(&s->bank_of[i]);
    qp_arena_fini(&s->arena);
    qp_free(s);
}

uint32_t qp_merge_named(const qp_dict *table, const qp_buf *items, size_t name_at,
                        const char *name)
{
    uint32_t at = qp_dict_get(table, qp_hash_bytes(QP_HASH_START, name, strlen(name)));
    if (!at)
        return QP_MERGE_NONE;
    const char *known;
    memcpy(&known, (const char *)items->items + (at - 1) * items->item_bytes + name_at,
           sizeof known);
    return strcmp(known, name) == 0 ? at - 1 : QP_MERGE_NONE;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static bool add_all(qp_merge_addition *x)
{
    return qp_merge_add_methods(x) && qp_merge_add_threads(x) && qp_merge_add_nodes(x) &&
           qp_merge_add_banks(x) && qp_merge_add_contexts(x) && qp_merge_add_texts(x);
}

bool qp_merge_add(qp_merge *s, const qp_model *m, const char *what, bool is_forced,
                  char error[QP_ERROR_BYTES])
{
    error[0] = '\0';
    if (!s->is_spoilt && !qp_merge_agrees(s, m, what, is_forced, error))
        return false;
    qp_merge_addition x = {s,
                           m,
                           qp_alloc(m->n_methods, sizeof *x.methods),
                           qp_alloc(m->n_threads, sizeof *x.threads),
                           qp_alloc(m->n_nodes, sizeof *x.nodes),
                           qp_alloc(m->own->n_contexts, sizeof *x.contexts)};
    s->is_spoilt |= !x.methods || !x.threads || !x.nodes || !x.contexts;
    if (!s->is_spoilt)
        qp_merge_add_head(s, m, what);
    s->is_spoilt = s->is_spoilt || !add_all(&x);
    s->n_runs++;
    qp_free(x.methods);
    qp_free(x.threads);
    qp_free(x.nodes);
    qp_free(x.contexts);
    if (s->is_spoilt)
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: there is not enough memory to add it",
                       what);
    return !s->is_spoilt;
}

qp_merge_size qp_merge_measure(const qp_merge *s)
{
    qp_merge_size size = {.n_runs = s->n_runs};
    for (size_t i = 0; i < s->threads.n; i++) {
        const qp_merge_thread *th = QP_MERGE_AT(s->threads, const qp_merge_thread, i);
        size.n_threads += th->last_node != th->root;
    }
    for (size_t i = 0; i < s->nodes.n; i++) {
        const qp_merge_node *n = QP_MERGE_AT(s->nodes, const qp_merge_node, i);
        size.calls = qp_sum(size.calls, qp_sum(n->hits, n->skips));
    }
    return size;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_head(qp_builder *b, const qp_merge *s)
{
    qp_head *h = qp_builder_head(b);
    qp_ref *const texts[QP_MERGE_N_TEXTS] = {
        &h->program, &h->options, &h->host, &h->module, &h->label, &h->version, &h->pc_pattern};
    *h = s->head;
    h->tick_1 = h->ns_1 = 1; /* its ticks are nanoseconds */
    h->begun_raw = 1;
    h->end_raw = qp_sum(1, s->wall);
    h->stopped_total = s->stopped;
    for (unsigned i = 0; i < QP_MERGE_N_TEXTS; i++)
        *texts[i] = qp_builder_text(b, s->texts_kept[i]);
    for (size_t i = 0; i < s->notes.n; i++) {
        const qp_run_note *note = QP_MERGE_AT(s->notes, const qp_run_note, i);
        qp_builder_note(b, note->is_message ? QP_NOTE_MESSAGE : QP_NOTE_ANNOTATION, note->text);
    }
}

static void write_methods(qp_builder *b, const qp_merge *s)
{
    for (size_t i = 0; i < s->methods.n; i++) {
        const qp_merge_method *m = QP_MERGE_AT(s->methods, const qp_merge_method, i);
        bool is_placeholder = !(m->flags & QP_METHOD_REGISTERED);
        const qp_builder_code code = {.id = is_placeholder ? m->id : i + 1,
                                      .flags = m->flags,
                                      .name = m->name,
                                      .class_name = m->class_name,
                                      .file = m->file,
                                      .module = m->module,
                                      .lines = m->lines,
                                      .n_lines = m->n_blocks,
                                      .jumps = m->jumps};
        qp_builder_method(b, &code);
    }
}

/* The thread's call paths, callers first: the chain goes from the newest to the oldest. */
static void write_nodes(qp_builder *b, qp_merge *s, const qp_merge_thread *th, uint32_t *order)
{
    qp_merge_node *nodes = s->nodes.items;
    size_t n = 0;
    for (uint32_t i = th->last_node; i != th->root; i = nodes[i].before)
        order[n++] = i;
    nodes[th->root].number = 0;
    if (nodes[th->root].interrupts)
        qp_builder_node_more(b, 0, 0, nodes[th->root].interrupts);
    for (uint32_t number = 1; n > 0; number++) {
        qp_merge_node *node = &nodes[order[--n]];
        const qp_node figures = {.n_calls = node->hits,
                                 .self = node->self,
                                 .self_min = node->min,
                                 .self_max = node->max};
        node->number = number;
        qp_builder_node(b, nodes[node->parent].number, node->method + 1, &figures);
        if (node->skips || node->counts || node->interrupts)
            qp_builder_node_more(b, node->skips, node->counts, node->interrupts);
    }
}

static void write_banks(qp_builder *b, const qp_merge *s, const qp_merge_thread *th)
{
    for (uint32_t i = th->last_bank; i != QP_MERGE_NONE;) {
        const qp_merge_bank *bank = QP_MERGE_AT(s->banks, const qp_merge_bank, i);
        uint64_t *values = qp_builder_bank(
            b, bank->kind == QP_MERGE_TIMES ? QP_BANK_TIMES : QP_BANK_COUNTS, bank->method + 1,
            QP_MERGE_AT(s->methods, const qp_merge_method, bank->method)->n_blocks,
            bank->n_values);
        if (values)
            memcpy(values, bank->values, bank->n_values * sizeof *values);
        i = bank->before;
    }
}

static void write_threads(qp_builder *b, qp_merge *s, uint32_t *order)
{
    for (size_t i = 0; i < s->threads.n; i++) {
        const qp_merge_thread *th = QP_MERGE_AT(s->threads, const qp_merge_thread, i);
        qp_thread_record r = th->sums;
        r.name = qp_builder_text(b, th->name);
        r.state = QP_THREAD_ENDED;
        qp_builder_thread(b, &r);
        write_nodes(b, s, th, order);
        write_banks(b, s, th);
    }
}

/* What no share has belongs to nobody: head.context stays 0. */
static void write_contexts(qp_builder *b, const qp_merge *s)
{
    for (size_t i = 0; i < s->contexts.n; i++)
        qp_builder_context(b, *QP_MERGE_AT(s->contexts, const char *const, i), 0);
    for (size_t i = 0; i < s->shares.n; i++) {
        const qp_merge_share *share = QP_MERGE_AT(s->shares, const qp_merge_share, i);
        int64_t *values = qp_builder_share(
            b, share->context + 1, share->method + 1, share->calls,
            QP_MERGE_AT(s->methods, const qp_merge_method, share->method)->n_blocks,
            share->n_values);
        if (values && share->n_values)
            memcpy(values, share->values, share->n_values * sizeof *values);
    }
    for (size_t i = 0; i < s->texts.n; i++) {
        const qp_merge_text *t = QP_MERGE_AT(s->texts, const qp_merge_text, i);
        qp_builder_source(b, t->path, t->digest, t->n_bytes);
    }
}

bool qp_merge_write(qp_merge *s, const char *path, char error[QP_ERROR_BYTES])
{
    qp_builder *b = s->is_spoilt ? NULL : qp_builder_new(0);
    uint32_t *order = b ? qp_alloc(s->nodes.n, sizeof *order) : NULL;
    bool is_good = false;
    if (order) {
        write_head(b, s);
        write_methods(b, s);
        write_threads(b, s, order);
        write_contexts(b, s);
        is_good = qp_builder_finish(b, path, error);
    } else {
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: there is not enough memory to write it",
                       path);
    }
    qp_free(order);
    qp_builder_free(b);
    return is_good;
}
