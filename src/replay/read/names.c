/* names.c: cells of records to numbers. */
#include "replay/read/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/read/read.h"

/* Find what is at a cell; if it is not known, add it. @return NULL: no memory */
static void *entry_at(qp_names *t, qp_names_kind kind, uint32_t cell, uint32_t *number)
{
    qp_buf *items = &t->items[kind];
    *number = cell ? qp_dict_get(&t->by_cell[kind], cell) : 0;
    if (*number)
        return (char *)items->items + *number * items->item_bytes;
    void *item = items->n < UINT32_MAX ? qp_buf_add(items) : NULL;
    *number = item ? (uint32_t)items->n - 1 : 0;
    bool is_added = item && (!cell || qp_dict_put(&t->by_cell[kind], cell, *number));
    t->failed |= !is_added;
    return item;
}

/* @param index  receives the index in the model of what has no number yet; 0: none
 * @return the number; 0: none */
static uint32_t find(const qp_names *t, qp_names_kind kind, uint32_t cell, qp_tag tag,
                     uint32_t *index)
{
    uint32_t number = cell ? qp_dict_get(&t->by_cell[kind], cell) : 0;
    *index = number || !cell || !t->model ? 0 : qp_index_at(t->model->own, cell, tag);
    return number;
}

/* @return a text of the arena, never NULL */
static const char *made(qp_names *t, const char *text)
{
    t->failed |= !text;
    return text ? text : "";
}

/* @param before  the text before; it stays if it is the same */
static const char *copy(qp_names *t, qp_name text, const char *before)
{
    if (before && strlen(before) == text.n_bytes && !memcmp(before, text.bytes, text.n_bytes))
        return before;
    char *to = text.n_bytes ? qp_arena_take(&t->texts, text.n_bytes + 1, 1) : NULL;
    t->failed |= text.n_bytes && !to;
    if (!to)
        return "";
    memcpy(to, text.bytes, text.n_bytes);
    return to;
}

bool qp_names_init(qp_names *t, const qp_model *model)
{
    uint32_t number;
    *t = (qp_names){.model = model,
                    .items = {[QP_NAMES_METHOD] = QP_BUF(qp_trace_method),
                              [QP_NAMES_PATH] = QP_BUF(qp_trace_path),
                              [QP_NAMES_THREAD] = QP_BUF(qp_trace_thread),
                              [QP_NAMES_TEXT] = QP_BUF(const char *)}};
    qp_trace_method *m = entry_at(t, QP_NAMES_METHOD, 0, &number);
    qp_trace_thread *th = entry_at(t, QP_NAMES_THREAD, 0, &number);
    const char **text = entry_at(t, QP_NAMES_TEXT, 0, &number);
    entry_at(t, QP_NAMES_PATH, 0, &number); /* what is not known, then the root */
    entry_at(t, QP_NAMES_PATH, 0, &number);
    if (t->failed)
        return false;
    *m = (qp_trace_method){"<unknown>", "<unknown>", "", "", "", "", 0, 0, 0};
    *th = (qp_trace_thread){.name = "<unknown>", .given = ""};
    *text = "?";
    return true;
}

void qp_names_fini(qp_names *t)
{
    qp_arena_fini(&t->texts);
    qp_dict_fini(&t->thread_of_root);
    for (size_t i = 0; i < sizeof t->items / sizeof *t->items; i++) {
        qp_free(t->items[i].items);
        qp_dict_fini(&t->by_cell[i]);
    }
}

/* ---- methods ----------------------------------------------------------------------------- */

/* class.name, or the name alone, as in reports of profiles. */
static const char *display_name(qp_names *t, const qp_trace_method *m)
{
    const char *name = m->bare_name;
    if (!*m->bare_name && !(m->flags & QP_METHOD_REGISTERED))
        name = qp_arena_format(&t->texts, "UnnamedFunction%" PRIx64, m->id);
    else if (*m->class_name)
        name = qp_arena_format(&t->texts, "%s.%s", m->class_name, m->bare_name);
    return made(t, name);
}

/* The class, else the file's name without folders and suffix. */
static const char *pattern_module(qp_names *t, const qp_trace_method *m)
{
    const char *slash = strrchr(m->file, '/'), *base = slash ? slash + 1 : m->file;
    const char *dot = strrchr(base, '.');
    if (*m->class_name || !dot || dot == base)
        return *m->class_name ? m->class_name : base;
    return made(t, qp_arena_format(&t->texts, "%.*s", (int)(dot - base), base));
}

uint32_t qp_names_add_method(qp_names *t, uint32_t cell, const qp_method_names *names)
{
    uint32_t number;
    qp_trace_method *item = entry_at(t, QP_NAMES_METHOD, cell, &number);
    if (!item)
        return 0;
    const qp_trace_method old = *item;
    qp_trace_method m = {
        .id = names->id, .flags = names->flags, .first_line = names->first_line};
    m.bare_name = copy(t, names->name, old.bare_name);
    m.class_name = copy(t, names->class_name, old.class_name);
    m.file = copy(t, names->file, old.file);
    m.module = copy(t, names->module, old.module);
    bool is_same = old.name && m.bare_name == old.bare_name && m.file == old.file &&
                   m.class_name == old.class_name && m.flags == old.flags;
    m.name = is_same ? old.name : display_name(t, &m);
    m.pattern_module = is_same ? old.pattern_module : pattern_module(t, &m);
    *item = m;
    return number;
}

static qp_name name_of(const char *text)
{
    return (qp_name){text, strlen(text)};
}

uint32_t qp_names_method(qp_names *t, uint32_t cell)
{
    uint32_t index, number = find(t, QP_NAMES_METHOD, cell, QP_TAG_METHOD, &index);
    if (!index)
        return number;
    const qp_model_method *m = &t->model->methods[index];
    return qp_names_add_method(t, cell,
                               &(qp_method_names){m->id, m->flags, m->first_line,
                                                  name_of(m->bare_name), name_of(m->class_name),
                                                  name_of(m->file), name_of(m->module)});
}

/* ---- paths ------------------------------------------------------------------------------- */

/* @param parent  number, 0: not known */
static uint32_t add_path(qp_names *t, uint32_t cell, uint32_t parent, uint32_t caller_cell,
                         uint32_t method_cell)
{
    uint32_t number, depth = qp_names_path_at(t, parent)->depth + 1;
    uint32_t method = qp_names_method(t, method_cell);
    if (!method) /* its name comes later */
        method = qp_names_add_method(t, method_cell, &(qp_method_names){.id = 0});
    qp_trace_path *item = entry_at(t, QP_NAMES_PATH, cell, &number);
    if (item)
        *item = (qp_trace_path){parent, method, depth, caller_cell, method_cell};
    return number;
}

uint32_t qp_names_add_path(qp_names *t, uint32_t cell, uint32_t parent_cell,
                           uint32_t method_cell)
{
    uint32_t number = qp_dict_get(&t->by_cell[QP_NAMES_PATH], cell);
    if (number || !cell)
        return number;
    if (!method_cell) {
        t->failed |= !qp_dict_put(&t->by_cell[QP_NAMES_PATH], cell, QP_PATH_ROOT);
        return QP_PATH_ROOT;
    }
    uint32_t parent = parent_cell ? qp_names_path(t, parent_cell) : QP_PATH_ROOT;
    return add_path(t, cell, parent, parent_cell, method_cell);
}

/* Take a call path of the profile, and its callers that are unknown. */
static uint32_t take_path(qp_names *t, uint32_t node)
{
    const qp_model *m = t->model;
    const qp_cell *cells = m->own->node_cells;
    qp_buf missing;
    uint32_t number = 0;
    qp_buf_init(&missing, sizeof(uint32_t));
    for (; node && !number; node = number ? node : m->nodes[node].parent) {
        number = m->nodes[node].method == QP_ROOT_METHOD
                     ? QP_PATH_ROOT
                     : qp_dict_get(&t->by_cell[QP_NAMES_PATH], cells[node]);
        uint32_t *item = number ? NULL : qp_buf_add(&missing);
        if (item)
            *item = node;
    }
    t->failed |= missing.failed;
    for (size_t i = missing.n; i-- > 0;) {
        uint32_t at = ((const uint32_t *)missing.items)[i];
        number = add_path(t, cells[at], number, cells[m->nodes[at].parent],
                          m->own->method_cells[m->nodes[at].method]);
    }
    qp_free(missing.items);
    return number;
}

const qp_path_entry *qp_names_path_miss(qp_names *t, qp_path_entry *cache, uint32_t cell)
{
    qp_path_entry *e = &cache[cell & (QP_PATH_CACHE - 1)];
    uint32_t node, number = find(t, QP_NAMES_PATH, cell, QP_TAG_NODE, &node);
    if (node)
        number = take_path(t, node);
    const qp_trace_path *p = qp_names_path_at(t, number);
    *e = (qp_path_entry){number ? cell : 0, number, p->caller_cell, p->method_cell};
    return e;
}

/* ---- threads ----------------------------------------------------------------------------- */

static const char *thread_name(qp_names *t, const char *start, uint32_t ordinal)
{
    return made(t, qp_arena_format(&t->texts, ".%s_%" PRIu32 ".", start, ordinal));
}

uint32_t qp_names_add_thread(qp_names *t, uint32_t cell, const qp_trace_thread *th,
                             qp_name given)
{
    uint32_t number;
    qp_trace_thread *item = entry_at(t, QP_NAMES_THREAD, cell, &number);
    if (!item)
        return 0;
    const qp_trace_thread old = *item;
    *item = *th;
    if (th->root_cell)
        t->failed |= !qp_dict_put(&t->thread_of_root, th->root_cell, cell);
    item->given = copy(t, given, old.given);
    item->is_started = old.is_started || *item->given;
    item->name = *item->given ? item->given
                 : old.name   ? old.name
                              : thread_name(t, "thread", th->ordinal);
    return number;
}

uint32_t qp_names_thread(qp_names *t, uint32_t cell)
{
    uint32_t index, number = find(t, QP_NAMES_THREAD, cell, QP_TAG_THREAD, &index);
    if (!index)
        return number;
    const qp_model_thread *th = &t->model->threads[index];
    return qp_names_add_thread(t, cell,
                               &(qp_trace_thread){.host_id = th->host_id,
                                                  .vt_id = th->vt_id,
                                                  .system_id = th->system_id,
                                                  .ordinal = th->ordinal},
                               name_of(th->name));
}

void qp_names_start(qp_names *t, uint32_t thread, uint32_t method)
{
    qp_trace_thread *th = (qp_trace_thread *)t->items[QP_NAMES_THREAD].items + thread;
    if (!thread || th->is_started)
        return;
    th->is_started = true;
    th->name = thread_name(t, qp_names_method_at(t, method)->name, th->ordinal);
}

uint32_t qp_names_path_thread(qp_names *t, qp_path_entry *cache, uint32_t path_cell)
{
    uint32_t path = qp_names_path_entry_in(t, cache, path_cell)->number, cell = path_cell;
    for (; path > QP_PATH_ROOT; path = qp_names_path_at(t, path)->parent)
        cell = qp_names_path_at(t, path)->caller_cell;
    return path == QP_PATH_ROOT ? qp_dict_get(&t->thread_of_root, cell) : 0;
}

/* ---- texts ------------------------------------------------------------------------------- */

uint32_t qp_names_add_text(qp_names *t, uint32_t ref, qp_name text)
{
    uint32_t number;
    const char **item = entry_at(t, QP_NAMES_TEXT, ref, &number);
    if (item && !*item)
        *item = copy(t, text, NULL);
    return number;
}

const char *qp_names_text(qp_names *t, uint32_t ref)
{
    uint32_t number = qp_dict_get(&t->by_cell[QP_NAMES_TEXT], ref);
    const char *text = number || !t->model ? NULL : qp_image_text(&t->model->own->image, ref);
    return text ? text : ((const char *const *)t->items[QP_NAMES_TEXT].items)[number];
}
