/* methods.c: the methods of a profile: names, line tables, and which records mean the same. */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "format/layout.h"
#include "model/read/read.h"

/* Room for all names made here: in a damaged file two long texts may be the names of millions
 * of methods. */
enum { NAME_BYTES_ON_AVERAGE = 256, NAMES_MIN = 1 << 16 };

const char *qp_load_text(qp_model_private *own, qp_ref ref)
{
    const char *text = ref ? qp_image_text(&own->image, ref) : "";
    own->n_losses[QP_LOSS_texts] += text == NULL;
    return text ? text : "";
}

/* "class.name"; the bare name where there is no class, or no room for so many long names. */
static const char *display_name(qp_model_private *own, const qp_model_method *m)
{
    enum { PLACEHOLDER_BYTES = 40 };
    char *to = own->names + own->names_used;
    size_t room = own->names_room - own->names_used;
    if (!(m->flags & QP_METHOD_REGISTERED) && !m->bare_name[0]) {
        if (room < PLACEHOLDER_BYTES)
            return "UnnamedFunction";
        qp_text_format(to, PLACEHOLDER_BYTES, "UnnamedFunction%llx", (unsigned long long)m->id);
    } else {
        if (!m->class_name[0] || room < strlen(m->class_name) + strlen(m->bare_name) + 2)
            return m->bare_name;
        qp_text_format(to, room, "%s.%s", m->class_name, m->bare_name);
    }
    own->names_used += strlen(to) + 1;
    return to;
}

static const char *type_of(const qp_model_private *own, const qp_model_method *m)
{
    const qp_head *h = qp_image_head(&own->image);
    if (m->flags & QP_METHOD_ENDPOINT)
        return "Endpoint";
    if (m->flags & QP_METHOD_PSEUDO)
        return "System";
    if (m->flags & QP_METHOD_BLOCKS)
        return "Sys Block";
    if (m->flags & QP_METHOD_WAITS)
        return "Sys Wait";
    if (h->user_clock != h->clock_kind)
        return "Timed";
    return m->n_blocks && h->grain != QP_GRAIN_FUNCTION && !(m->flags & QP_METHOD_ROUTINE)
               ? "Line"
               : "Function";
}

/* @param n_left  entries that tables may still have: in a sound file no two share their
 * bytes */
static void read_table(qp_model_private *own, qp_model_method *m, qp_ref ref, uint64_t *n_left)
{
    if (!ref)
        return;
    const qp_lines *t = qp_bytes_lines(qp_image_bytes(&own->image), ref);
    if (!t || t->n_lines > *n_left) {
        own->n_losses[QP_LOSS_tables]++;
        return;
    }
    *n_left -= t->n_lines;
    m->lines = t->lines;
    m->sizes = qp_lines_sizes(t);
    m->n_blocks = t->n_lines;
    for (uint32_t i = 0; i < t->n_lines; i++) {
        int32_t line = t->lines[i].line;
        if (line > 0 && (!m->first_line || (uint32_t)line < m->first_line))
            m->first_line = (uint32_t)line;
    }
}

static void read_method(qp_model_private *own, qp_model_method *m, const qp_method *r,
                        uint64_t *n_left)
{
    m->id = r->id;
    m->flags = r->flags & ~(uint32_t)QP_METHOD_CLAIMED;
    m->ordinal = r->ordinal;
    m->bare_name = m->class_name = m->file = m->module = "";
    if (r->flags & QP_METHOD_REGISTERED) { /* else it may not be complete yet */
        m->bare_name = qp_load_text(own, r->name);
        m->class_name = qp_load_text(own, r->class_name);
        m->file = qp_load_text(own, r->file);
        m->module = qp_load_text(own, r->module);
        read_table(own, m, r->lines, n_left);
    }
    m->name = display_name(own, m);
    m->type = type_of(own, m);
}

/* Nearly always equal texts are one text: the recorder stores each once. */
static bool is_same_text(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

static bool is_same(const qp_model_method *a, const qp_model_method *b)
{
    return is_same_text(a->bare_name, b->bare_name) &&
           is_same_text(a->class_name, b->class_name) && is_same_text(a->file, b->file) &&
           is_same_text(a->module, b->module) && a->flags == b->flags &&
           a->n_blocks == b->n_blocks &&
           (!a->n_blocks || memcmp(a->lines, b->lines, a->n_blocks * sizeof(qp_line)) == 0);
}

/* The beginnings of names tell most methods apart; reading all of a long one each time costs
 * too much. */
static uint64_t hash_of(const qp_model_method *m)
{
    enum { BEGINNING = 64 };
    uint64_t hash =
        qp_hash_bytes(QP_HASH_START, m->bare_name, strnlen(m->bare_name, BEGINNING));
    hash = qp_hash_bytes(hash, m->file, strnlen(m->file, BEGINNING));
    return qp_hash_bytes(hash, m->lines, m->n_blocks * sizeof(qp_line));
}

/* The equal method of an earlier record; else this one.
 * @return 0: no memory */
static uint32_t same_or_new(qp_model_private *own, qp_dict *known, uint32_t fresh)
{
    const qp_model_method *m = &own->methods[fresh];
    if (!(m->flags & QP_METHOD_REGISTERED))
        return fresh; /* two unknown methods are not the same */
    uint64_t hash = hash_of(m);
    uint32_t earlier = qp_dict_get(known, hash);
    if (earlier)
        return is_same(&own->methods[earlier], m) ? earlier : fresh;
    return qp_dict_put(known, hash, fresh) ? fresh : 0;
}

static bool read_span(qp_model_private *own, const qp_model_extent *s, qp_dict *known,
                      bool merge_same, uint64_t *n_left)
{
    for (uint32_t i = 1; i <= s->n_used; i++) {
        const qp_method *r = qp_image_cell(&own->image, s->cell + i);
        uint32_t fresh = own->model.n_methods;
        if (!r->published)
            continue;
        if (r->published != 1 || fresh == 1u << QP_TAG_SHIFT) {
            own->n_losses[QP_LOSS_methods]++;
            continue;
        }
        read_method(own, &own->methods[fresh], r, n_left);
        uint32_t agreed = merge_same ? same_or_new(own, known, fresh) : fresh;
        if (!agreed)
            return false;
        qp_index_put(own, s->cell + i, QP_TAG_METHOD, agreed);
        if (agreed == fresh)
            own->method_cells[own->model.n_methods++] = s->cell + i;
    }
    return true;
}

bool qp_load_methods(qp_model_private *own, bool merge_same)
{
    uint64_t n = 1 + qp_count_records(own, QP_EXTENT_METHODS, 1);
    n = n < 1u << QP_TAG_SHIFT ? n : 1u << QP_TAG_SHIFT;
    own->names_room = NAMES_MIN + n * NAME_BYTES_ON_AVERAGE;
    own->names = qp_alloc_zeroed(own->names_room, 1);
    own->methods = qp_alloc_zeroed(n, sizeof *own->methods);
    own->method_cells = qp_alloc_zeroed(n, sizeof *own->method_cells);
    if (!own->names || !own->methods || !own->method_cells)
        return false;
    own->methods[QP_ROOT_METHOD] =
        (qp_model_method){.name = ".root.",
                          .bare_name = ".root.",
                          .class_name = "",
                          .module = "",
                          .file = "",
                          .type = "System",
                          .flags = QP_METHOD_REGISTERED | QP_METHOD_PSEUDO};
    own->model.n_methods = 1;
    own->model.methods = own->methods;
    qp_dict known = {0};
    uint64_t n_left = own->image.file_bytes / sizeof(qp_line);
    bool is_read = true;
    for (size_t i = 0; is_read && i < own->n_spans; i++)
        if (own->spans[i].kind == QP_EXTENT_METHODS)
            is_read = read_span(own, &own->spans[i], &known, merge_same, &n_left);
    qp_dict_fini(&known);
    return is_read;
}

/* ---- names ------------------------------------------------------------------------------- */

uint32_t qp_find_named(const qp_dict *table, const qp_buf *items, size_t name_at,
                       const char *name, uint64_t *hash)
{
    *hash = qp_hash_bytes(QP_HASH_START, name, strlen(name));
    for (uint32_t at; (at = qp_dict_get(table, *hash)) != 0; ++*hash) {
        const char *known, *item = (const char *)items->items + (at - 1) * items->item_bytes;
        memcpy(&known, item + name_at, sizeof known);
        if (strcmp(known, name) == 0)
            return at;
    }
    return 0;
}

uint32_t qp_find_or_name(qp_dict *table, qp_buf *items, size_t name_at, qp_arena *arena,
                         const char *name)
{
    uint64_t hash;
    uint32_t at = qp_find_named(table, items, name_at, name, &hash);
    if (at)
        return at;
    const char *copy = qp_arena_text(arena, name);
    char *item = copy ? qp_buf_add(items) : NULL;
    if (!item || !qp_dict_put(table, hash, (uint32_t)items->n))
        return 0;
    memcpy(item + name_at, &copy, sizeof copy);
    return (uint32_t)items->n;
}

static uint32_t find_named(const qp_model *m, const char *name, unsigned pass,
                           uint32_t *n_found)
{
    uint32_t first = 0;
    *n_found = 0;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i];
        bool fits = pass == 0   ? strcmp(k->name, name) == 0
                    : pass == 1 ? strcmp(k->bare_name, name) == 0
                                : strstr(k->name, name) != NULL;
        if (!fits)
            continue;
        ++*n_found;
        if (!first || k->ordinal < m->methods[first].ordinal)
            first = i;
    }
    return first;
}

uint32_t qp_model_method_named(const qp_model *m, const char *name, uint32_t *n_found)
{
    enum { PASSES = 3 };
    uint32_t found = 0, n = 0;
    for (unsigned pass = 0; !found && name[0] && pass < PASSES; pass++)
        found = find_named(m, name, pass, &n);
    if (n_found)
        *n_found = n;
    return found;
}
