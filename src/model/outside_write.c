/* outside_write.c: what was found from outside becomes a profile. Names come from the process's own
 * profile, which is read once more, at the end. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "code/methods.h"
#include "format/builder.h"
#include "format/diagnostics.h"
#include "model/outside_parts.h"
#include "model/private.h"

typedef struct {
    qp_outside *o;
    const qp_model *m;
    qp_builder *b;
    qp_dict by_id;    /* the host's id -> method of the model */
    qp_dict unknown;  /* ids that have no record -> number of a method of the builder */
    uint32_t *number; /* [m->n_methods] of the builder; 0: not used so far */
} writer;

/* ---- methods --------------------------------------------------------------------------------- */

static bool index_ids(writer *w)
{
    bool is_good = true;
    for (uint32_t i = 1; i < w->m->n_methods && is_good; i++)
        is_good = qp_dict_put(&w->by_id, w->m->methods[i].id, i);
    return is_good;
}

/* What only keeps its stack has no record of a pseudo-method, either. */
static uint32_t unknown_method(writer *w, uint64_t id)
{
    uint32_t known = qp_dict_get(&w->unknown, id);
    qp_builder_code code = {.id = id};
    if (known)
        return known;
    if (qp_method_is_pseudo(id)) {
        code.flags = QP_METHOD_PSEUDO | QP_METHOD_REGISTERED;
        code.name = qp_method_pseudo_name(id);
    }
    known = qp_builder_method(w->b, &code);
    return known && qp_dict_put(&w->unknown, id, known) ? known : 0;
}

/* @return number of the builder; 0: no memory */
static uint32_t method_of(writer *w, uint64_t method)
{
    uint32_t i = w->o->is_stack_only ? qp_dict_get(&w->by_id, method)
                                     : qp_index_at(w->m->own, method, QP_TAG_METHOD);
    if (!i)
        return unknown_method(w, w->o->is_stack_only ? method : 0);
    const qp_model_method *k = &w->m->methods[i];
    if (!w->number[i])
        w->number[i] = qp_builder_method(w->b, &(qp_builder_code){.id = k->id,
                                                                  .flags = k->flags,
                                                                  .name = k->bare_name,
                                                                  .class_name = k->class_name,
                                                                  .file = k->file,
                                                                  .module = k->module,
                                                                  .lines = k->lines,
                                                                  .n_lines = k->n_blocks});
    return w->number[i];
}

/* ---- threads --------------------------------------------------------------------------------- */

static void begin_thread(writer *w, qp_cell cell)
{
    uint32_t i = qp_index_at(w->m->own, cell, QP_TAG_THREAD);
    qp_thread_record r = {.n_lives = 1, .state = QP_THREAD_ENDED, .has_host_id = i != 0};
    if (i) {
        const qp_model_thread *th = &w->m->threads[i];
        r.name = qp_builder_text(w->b, th->name);
        r.host_id = th->host_id;
        r.vt_id = th->vt_id;
        r.system_id = th->system_id;
    }
    qp_builder_thread(w->b, &r);
}

/* Callers were found before what they call. @return false: no memory */
static bool write_thread(writer *w, const qp_outside_thread *th)
{
    qp_outside_node *nodes = w->o->nodes.items;
    begin_thread(w, th->cell);
    nodes[th->root].number = 0;
    if (nodes[th->root].n)
        qp_builder_node_more(w->b, 0, 0, nodes[th->root].n);
    for (uint32_t i = nodes[th->root].next; i; i = nodes[i].next) {
        uint32_t method = method_of(w, nodes[i].method);
        if (!method)
            return false;
        nodes[i].number = qp_builder_node(w->b, nodes[nodes[i].parent].number, method,
                                          &(qp_node){.self_min = UINT64_MAX});
        if (nodes[i].n)
            qp_builder_node_more(w->b, 0, 0, nodes[i].n);
    }
    return true;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void write_head(writer *w, uint64_t n_missed)
{
    const qp_outside *o = w->o;
    const qp_run *run = &w->m->run;
    qp_head *h = qp_builder_head(w->b);
    uint64_t lasted = o->last_at - o->first_at;
    char *pattern = o->command.pattern ? qp_alloc_text(o->command.pattern) : NULL;
    if (pattern)
        pattern[o->command.n_pattern] = '\0';
    h->flags = QP_FLAG_RECORDING | (run->is_virtual ? QP_FLAG_VIRTUAL : 0);
    h->time_mode = QP_TIME_NONE;
    h->clock_source = QP_SOURCE_NS;
    h->grain = run->grain;
    h->pointer_bytes = run->pointer_bytes;
    h->pid = o->pid;
    h->started_at = o->started_at;
    h->ended_at = qp_clock_wall();
    h->begun_raw = 1;
    h->end_raw = 1 + lasted;
    h->collect = QP_COLLECT_SAMPLES;
    h->pc_kind = o->command.kind;
    h->pc_period = h->sample_period = o->command.period_us * 1000;
    if (o->command.kind == QP_PC_VIRTUAL)
        h->pc_reached = h->pc_period + (o->n_interrupts ? o->unmade_ns / o->n_interrupts : 0);
    h->pc_pattern = qp_builder_text(w->b, pattern);
    h->n_passes = o->n_passes;
    h->sample_ns = lasted + qp_outside_measure(o).reached_ns;
    h->diagnostics[QP_D_sample_lost] = o->n_torn;
    h->diagnostics[QP_D_overrun] = n_missed;
    h->diagnostics[QP_D_clamped_options] = o->command.is_raised;
    h->program = qp_builder_text(w->b, run->program);
    h->host = qp_builder_text(w->b, run->host);
    h->module = qp_builder_text(w->b, run->module);
    h->label = qp_builder_text(w->b, run->label);
    h->version = qp_builder_text(w->b, run->version);
    qp_builder_note(w->b, QP_NOTE_MESSAGE,
                    "sampled from outside: critical sections cannot be told apart");
    if (qp_outside_measure(o).is_hidden)
        qp_builder_note(w->b, QP_NOTE_MESSAGE,
                        "the process showed no stack: all interrupts are foreign");
    qp_free(pattern);
}

static bool write_all(writer *w, uint64_t n_missed)
{
    if (!w->b || !w->number || !index_ids(w))
        return false;
    write_head(w, n_missed);
    for (size_t i = 0; i < w->o->threads.n; i++)
        if (!write_thread(w, QP_OUTSIDE_AT(w->o->threads, qp_outside_thread, i)))
            return false;
    return true;
}

bool qp_outside_write(qp_outside *o, uint64_t n_missed, const char *path,
                      char error[QP_ERROR_BYTES])
{
    qp_model *m;
    if (qp_model_load_fd(o->fd, o->path, NULL, &m, error) == QP_LOAD_UNUSABLE)
        return false;
    writer w = {.o = o, .m = m, .b = qp_builder_new(0)};
    w.number = qp_alloc_zeroed(m->n_methods, sizeof *w.number);
    qp_dict_init(&w.by_id);
    qp_dict_init(&w.unknown);
    bool is_good = write_all(&w, n_missed);
    if (is_good)
        is_good = qp_builder_finish(w.b, path, error);
    else
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: there is not enough memory to write it",
                       path);
    qp_dict_fini(&w.by_id);
    qp_dict_fini(&w.unknown);
    qp_free(w.number);
    qp_builder_free(w.b);
    qp_model_free(m);
    return is_good;
}
