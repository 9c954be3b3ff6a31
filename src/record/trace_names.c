/* trace_names.c: the dictionary of a .qtrace file. Read qp_sink_need first. */
#include <string.h>

#include "base/atomic.h"
#include "record/trace_file_parts.h"

enum {
    FRESH_BYTES = 40 * 1024, /* of new names, from which on they are written */
    TEXT_BYTES = 4096,       /* of one name */
    ENTRY_BYTES = 4 * (TEXT_BYTES + 3) + 6 * QP_VARINT_MAX
};

_Static_assert(2 * (FRESH_BYTES + ENTRY_BYTES) <= QP_SINK_NAMES_BYTES,
               "the names of two packets fit one");

bool qp_sink_write_names(qp_trace_sink *s)
{
    qp_sink_packet *p = s->names;
    uint32_t n_fresh = p->head.n_bytes - s->n_before;
    uint32_t n_entries = p->head.n_records - s->n_entries_before;
    if (!n_fresh)
        return true;
    p->head.kind = QP_PACKET_NAMES;
    if (!qp_sink_write(s, p, false))
        return false;
    s->n_names++;
    memmove(p->bytes, p->bytes + s->n_before, n_fresh);
    s->n_before = p->head.n_bytes = n_fresh;
    s->n_entries_before = p->head.n_records = n_entries;
    return true;
}

/* Room for one entry. @return false: there is none, the file cannot be written */
static bool begin_entry(qp_trace_sink *s, qp_names_kind kind)
{
    qp_sink_packet *p = s->names;
    if (p->head.n_bytes - s->n_before >= FRESH_BYTES && !qp_sink_write_names(s))
        return false;
    p->bytes[p->head.n_bytes++] = (unsigned char)kind;
    p->head.n_records++;
    return true;
}

static void add_number(qp_trace_sink *s, uint64_t number)
{
    qp_sink_packet *p = s->names;
    p->head.n_bytes += (uint32_t)qp_pack_varint(number, p->bytes + p->head.n_bytes);
}

static void add_text(qp_trace_sink *s, qp_ref ref)
{
    qp_sink_packet *p = s->names;
    const char *text = qp_texts_at(&qp_run.texts, ref);
    size_t n = strnlen(text, TEXT_BYTES);
    add_number(s, n);
    memcpy(p->bytes + p->head.n_bytes, text, n);
    p->head.n_bytes += (uint32_t)n;
}

bool qp_sink_need_text(qp_trace_sink *s, qp_ref ref)
{
    unsigned char bit = (unsigned char)(1u << ref % 8);
    if (!ref || s->texts[ref / 8] & bit)
        return true;
    if (!begin_entry(s, QP_NAMES_TEXT))
        return false;
    s->texts[ref / 8] |= bit;
    add_number(s, ref);
    add_text(s, ref);
    return true;
}

static uint64_t first_line(const qp_method *m)
{
    const qp_lines *lines = m->lines ? qp_at_ref(&qp_run.space, m->lines) : NULL;
    return lines && lines->n_lines && lines->lines[0].line > 0 ? (uint64_t)lines->lines[0].line
                                                               : 0;
}

static bool add_method(qp_trace_sink *s, qp_cell cell)
{
    const qp_method *m = qp_at(&qp_run.space, cell);
    bool is_late = !qp_method_is_registered(&qp_run.methods, cell);
    if (!begin_entry(s, QP_NAMES_METHOD))
        return false;
    s->n_late += is_late;
    s->known[cell] = (qp_pack_path){is_late ? QP_SINK_LATE : 0, QP_SINK_METHOD};
    add_number(s, cell);
    add_number(s, m->id);
    add_number(s, qp_load(&m->flags));
    add_number(s, is_late ? 0 : first_line(m));
    add_text(s, is_late ? 0 : m->name);
    add_text(s, is_late ? 0 : m->class_name);
    add_text(s, is_late ? 0 : m->file);
    add_text(s, is_late ? 0 : m->module);
    return true;
}

static bool need_method(qp_trace_sink *s, qp_cell cell)
{
    return !cell || s->known[cell].method || add_method(s, cell);
}

static bool add_path(qp_trace_sink *s, qp_cell cell, qp_cell caller, qp_cell method)
{
    if (!begin_entry(s, QP_NAMES_PATH))
        return false;
    add_number(s, cell);
    add_number(s, caller);
    add_number(s, method);
    s->known[cell] = (qp_pack_path){caller ? caller : QP_SINK_ROOT, method};
    return true;
}

static bool add_thread(qp_trace_sink *s, qp_cell cell)
{
    const qp_thread_record *r = qp_at(&qp_run.space, cell);
    qp_cell root = qp_load(&r->root);
    bool is_new = root && s->known[root].caller != QP_SINK_ROOT;
    if ((is_new && !add_path(s, root, 0, 0)) || !begin_entry(s, QP_NAMES_THREAD))
        return false;
    s->known[cell].method = qp_load(&r->n_lives);
    add_number(s, cell);
    add_number(s, r->ordinal);
    add_number(s, qp_load(&r->host_id));
    add_number(s, qp_load(&r->vt_id));
    add_number(s, qp_load(&r->system_id));
    add_number(s, root);
    add_text(s, qp_observe(&r->name));
    return true;
}

static bool need_thread(qp_trace_sink *s, qp_cell cell)
{
    const qp_thread_record *r = qp_at(&qp_run.space, cell);
    return !cell || s->known[cell].method == qp_load(&r->n_lives) || add_thread(s, cell);
}

/* The thread of an outermost path, where no record said it. */
static bool need_owner(qp_trace_sink *s, qp_cell root)
{
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        const qprof_thread *th = qp_threads_at(i);
        if (qp_observe(&th->pulse) && qp_load(&qp_record_of(th)->root) == root)
            return need_thread(s, qp_record_cell(th));
    }
    return true;
}

/* A path, behind its callers: on the way up to one that is known each says which is the next. */
static bool need_path(qp_trace_sink *s, qp_cell cell)
{
    qp_cell callee = 0;
    while (cell && !s->known[cell].method) {
        const qp_node *n = qp_at(&qp_run.space, cell);
        if (!n->parent) {
            if (s->known[cell].caller != QP_SINK_ROOT && !need_owner(s, cell))
                return false;
            break;
        }
        s->known[cell].caller = callee;
        callee = cell;
        cell = n->parent;
    }
    while ((cell = callee)) {
        const qp_node *n = qp_at(&qp_run.space, cell);
        callee = s->known[cell].caller;
        if (!need_method(s, n->method) || !add_path(s, cell, n->parent, n->method))
            return false;
    }
    return true;
}

bool qp_sink_need(qp_trace_sink *s, const qp_trace_record *r)
{
    switch (qp_trace_op_of(r)) {
    case QP_TRACE_ENTRY:
        return need_path(s, r->a) && need_method(s, r->b);
    case QP_TRACE_EXIT:
        return need_path(s, r->b);
    case QP_TRACE_SWITCH:
        return need_thread(s, r->a) && need_path(s, r->b);
    case QP_TRACE_PARK:
        return need_thread(s, r->a);
    case QP_TRACE_GATE:
        return need_path(s, r->b);
    case QP_TRACE_MARK:
    case QP_TRACE_COUNTER:
        return qp_sink_need_text(s, r->a);
    case QP_TRACE_CALL:
    case QP_TRACE_RETURN:
        return need_method(s, r->a);
    case QP_TRACE_SAMPLE:
        return need_path(s, r->a);
    default:
        return true;
    }
}

bool qp_sink_add_late_names(qp_trace_sink *s)
{
    bool is_good = true;
    for (uint32_t i = 0; is_good && qp_threads_at(i); i++) {
        const qprof_thread *th = qp_threads_at(i);
        if (qp_observe(&th->pulse) && s->known[qp_record_cell(th)].method)
            is_good = add_thread(s, qp_record_cell(th));
    }
    uint64_t n_cells = s->n_late ? qp_load(&qp_run_head()->n_cells) : 0;
    for (qp_cell cell = 0; is_good && cell < n_cells; cell++)
        if (s->known[cell].caller == QP_SINK_LATE && s->known[cell].method == QP_SINK_METHOD &&
            qp_method_is_registered(&qp_run.methods, cell))
            is_good = add_method(s, cell);
    return is_good && qp_sink_write_names(s);
}
