/* cover_set.c: adds up the counters of profiles. Start reading at qp_cover_set_add(): all steps
 * that may fail come before the first figure changes. */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "format/layout.h"
#include "model/cover/cover.h"
#include "model/read/read.h"

enum { NONE = UINT32_MAX };

/* The part of a method that the set does not show. */
typedef struct {
    uint32_t next_same;  /* a method whose identity has the same hash: index + 1; 0: none */
    uint32_t next_named; /* a method of this file whose names have the same hash: the same */
    uint32_t run;        /* that it came with: index */
} extra;

typedef struct qp_cover_set_private {
    qp_cover_set set; /* what the caller sees */
    qp_arena arena;
    qp_buf methods, extras, contexts, texts, runs, warnings;
    qp_dict same, named; /* hash of identity, of file and names: index of a method + 1 */
    qp_dict paths;       /* hash of a path: index of a text + 1 */
    qp_dict names;       /* hash of a context's name: its index + 1 */
    qp_dict shares;      /* index of a method << 32 | of a context: index of the share + 1 */
    bool is_full;        /* out of memory: nothing more can be added */
} set_private;

/* A method of a profile on its way into the set. */
typedef struct {
    uint32_t method;         /* of the profile */
    uint32_t to;             /* of the set; NONE: left out */
    const qp_jumps *jumps;   /* what `values` count */
    uint64_t calls, entries; /* see qp_cover_method */
    uint32_t n_values;
    uint64_t *values; /* NULL: nothing was counted */
    bool is_whole;    /* its areas are of routines alone: its calls count as blocks */
} addend;

/* One profile that is being added. */
typedef struct {
    set_private *own;
    const qp_model *m;
    const char *what;
    const char *rest; /* the context of what no context has; "": none */
    qp_arena arena;   /* until it is added */
    addend *addends;
    size_t n_addends;
    uint32_t *contexts;    /* [m->own->n_contexts] of the set */
    uint32_t head_context; /* of what no share has; NONE: no context */
    bool *is_other;        /* [m->n_methods] in a file of another version */
    bool has_counters;
} addition;

static qp_cover_method *method_at(set_private *own, uint32_t i)
{
    return (qp_cover_method *)own->methods.items + i;
}

static extra *extra_at(set_private *own, uint32_t i)
{
    return (extra *)own->extras.items + i;
}

/* ---- identity ---------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return qp_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_names(const qp_model_method *k)
{
    uint64_t hash = hash_text(QP_HASH_START, k->file);
    return hash_text(hash_text(hash_text(hash, k->bare_name), k->class_name), k->module);
}

static uint64_t hash_identity(const qp_model_method *k)
{
    return qp_hash_bytes(hash_names(k), k->lines, k->n_blocks * sizeof *k->lines);
}

static bool is_named(const qp_cover_method *a, const qp_model_method *b)
{
    return strcmp(a->bare_name, b->bare_name) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->class_name, b->class_name) == 0 && strcmp(a->module, b->module) == 0;
}

static bool has_same_lines(const qp_cover_method *a, const qp_model_method *b)
{
    return qp_lines_agree(a->lines, a->n_blocks, b->lines, b->n_blocks);
}

/* ---- counting ---------------------------------------------------------------------------- */

static uint64_t entry_jumps(const addend *a, bool *is_known)
{
    uint64_t calls = 0;
    for (uint32_t k = 0; a->jumps && k < a->jumps->n_jumps; k++)
        if (a->jumps->jumps[k].from_block == QP_JUMP_ENTRY) {
            *is_known = true;
            calls = qp_sum(calls, a->values ? a->values[k] : 0);
        }
    return calls;
}

/* Add up the counter blocks that count the method's jumps; of blocks, if none does. */
static bool sum_counters(addition *x, addend *a)
{
    const qp_model_private *m = x->m->own;
    const qp_model_counter_block *first = qp_counter_block_first(m, a->method),
                                 *end = m->counter_blocks + m->n_counter_blocks;
    uint32_t n_blocks = x->m->methods[a->method].n_blocks;
    a->jumps = qp_counter_block_jumps(m, a->method);
    bool has_any = false, has_jumps = false;
    for (const qp_model_counter_block *b = first; b < end && b->method == a->method; b++) {
        has_any |= b->counters->kind == QP_COUNTER_BLOCK_COUNTS;
        has_jumps |= b->counters->kind == QP_COUNTER_BLOCK_COUNTS && a->jumps &&
                     b->counters->n_values == a->jumps->n_jumps;
    }
    if (has_any && !has_jumps)
        a->jumps = NULL;
    a->n_values = a->jumps ? a->jumps->n_jumps : n_blocks;
    if (!has_any)
        return true;
    a->values = qp_arena_take(&x->arena, a->n_values, sizeof *a->values);
    for (const qp_model_counter_block *b = first;
         a->values && b < end && b->method == a->method; b++) {
        if (b->counters->kind != QP_COUNTER_BLOCK_COUNTS ||
            b->counters->n_values != a->n_values)
            continue;
        for (uint32_t k = 0; k < a->n_values; k++)
            a->values[k] = qp_sum(a->values[k], qp_counter_block_value(b, k));
        a->entries = qp_sum(a->entries, b->calls);
    }
    return a->values != NULL;
}

static bool count_method(addition *x, addend *a)
{
    if (!sum_counters(x, a))
        return false;
    const qp_figures *f = &x->m->methods[a->method].all;
    bool is_known = false;
    uint64_t entered = entry_jumps(a, &is_known);
    if (x->m->run.is_virtual && a->values)
        a->entries = f->calls;
    if (is_known || !a->jumps || !a->values)
        a->entries = 0;
    a->calls = is_known && a->values ? entered : f->hits;
    x->has_counters |= a->values != NULL;
    return true;
}

/* A method whose areas are of routines alone (triggers 8.3): its blocks are not counted, so
 * each counts as executed once a call. Its branches are unknown. */
static bool count_whole(addition *x, addend *a)
{
    const qp_model_method *k = &x->m->methods[a->method];
    bool is_due = x->m->run.is_coverage || x->has_counters;
    if (!is_due || !(k->flags & QP_METHOD_ROUTINE) || a->values)
        return true;
    a->is_whole = true;
    a->jumps = NULL;
    a->n_values = k->n_blocks;
    a->values = a->calls ? qp_arena_take(&x->arena, a->n_values, sizeof *a->values) : NULL;
    for (uint32_t i = 0; a->values && i < a->n_values; i++)
        a->values[i] = a->calls;
    return a->values || !a->calls;
}

/* Count all methods. Those outside the areas are left out, unless they have counts of
 * before. */
static bool count(addition *x)
{
    bool is_ok = true;
    x->addends = qp_arena_take(&x->arena, x->m->n_methods, sizeof *x->addends);
    for (uint32_t i = 1; x->addends && i < x->m->n_methods; i++) {
        const qp_model_method *k = &x->m->methods[i];
        if (!(k->flags & QP_METHOD_REGISTERED) || k->flags & QP_METHOD_PSEUDO)
            continue;
        addend *a = &x->addends[x->n_addends];
        a->method = i;
        if (!count_method(x, a))
            return false;
        x->n_addends += !(k->flags & QP_METHOD_EXCLUDED) || a->values || a->calls;
    }
    for (size_t i = 0; is_ok && i < x->n_addends; i++)
        is_ok = count_whole(x, &x->addends[i]);
    return is_ok && x->addends;
}

/* ---- finding places in the set ----------------------------------------------------------- */

/* A method of the set with equal names; with equal lines, or in another version of its file one
 * whose blocks are as many and follow each other alike. */
static uint32_t find_method(addition *x, const addend *a, bool by_lines, bool *has_namesake)
{
    const qp_model_method *k = &x->m->methods[a->method];
    set_private *own = x->own;
    uint32_t at = by_lines ? qp_dict_get(&own->same, hash_identity(k))
                           : qp_dict_get(&own->named, hash_names(k));
    for (; at;
         at = by_lines ? extra_at(own, at - 1)->next_same : extra_at(own, at - 1)->next_named) {
        const qp_cover_method *c = method_at(own, at - 1);
        if (!is_named(c, k))
            continue;
        *has_namesake = true;
        bool fits = by_lines ? has_same_lines(c, k) : c->n_blocks == k->n_blocks;
        if (fits && qp_jumps_agree(c->jumps, a->jumps))
            return at - 1;
    }
    return NONE;
}

static bool link_method(set_private *own, const qp_model_method *k, uint32_t at)
{
    uint64_t same = hash_identity(k), named = hash_names(k);
    extra *x = extra_at(own, at);
    x->next_same = qp_dict_get(&own->same, same);
    x->next_named = qp_dict_get(&own->named, named);
    x->run = (uint32_t)own->runs.n - 1;
    return qp_dict_put(&own->same, same, at + 1) && qp_dict_put(&own->named, named, at + 1);
}

static bool new_method(addition *x, addend *a)
{
    set_private *own = x->own;
    const qp_model_method *k = &x->m->methods[a->method];
    uint32_t at = (uint32_t)own->methods.n;
    qp_cover_method *c = qp_buf_add(&own->methods);
    if (!c || !qp_buf_add(&own->extras))
        return false;
    *c = (qp_cover_method){
        .name = qp_arena_text(&own->arena, k->name),
        .bare_name = qp_arena_text(&own->arena, k->bare_name),
        .class_name = qp_arena_text(&own->arena, k->class_name),
        .module = qp_arena_text(&own->arena, k->module),
        .file = qp_arena_text(&own->arena, k->file),
        .flags = k->flags,
        .n_blocks = k->n_blocks,
        .lines = qp_arena_copy(&own->arena, k->lines, k->n_blocks, sizeof *k->lines),
        .jumps = a->jumps ? qp_arena_copy(&own->arena, a->jumps, 1,
                                          qp_jumps_bytes(a->jumps->n_jumps, a->jumps->n_blocks))
                          : NULL,
        .n_values = a->n_values,
    };
    a->to = at;
    return c->name && c->bare_name && c->class_name && c->module && c->file && c->lines &&
           (c->jumps || !a->jumps) && link_method(own, k, at);
}

/* Warn of a method of another version of a source, whose lines belong to another text. */
static bool warn(addition *x, const addend *a, bool has_namesake)
{
    const qp_model_method *k = &x->m->methods[a->method];
    char **to = qp_buf_add(&x->own->warnings);
    if (to)
        *to = qp_arena_format(&x->own->arena, "%s: %s of %s %s: its figures are left out",
                              k->file, k->name, x->what,
                              has_namesake ? "has other blocks than before"
                                           : "is not in the version that came first");
    return to && *to;
}

static bool place_method(addition *x, addend *a)
{
    bool has_namesake = false;
    a->to = find_method(x, a, true, &has_namesake);
    if (a->to == NONE && x->is_other[a->method])
        a->to = find_method(x, a, false, &has_namesake);
    if (a->to == NONE && x->is_other[a->method])
        return warn(x, a, has_namesake);
    if (a->to == NONE && !new_method(x, a))
        return false;
    qp_cover_method *c = method_at(x->own, a->to);
    if (a->values && !c->values)
        c->values = qp_arena_take(&x->own->arena, c->n_values, sizeof *c->values);
    return !a->values || c->values;
}

/* ---- contexts ---------------------------------------------------------------------------- */

/* @return its index; NONE: no memory */
static uint32_t place_context(set_private *own, const char *name)
{
    uint32_t at = qp_find_or_name(&own->names, &own->contexts, 0, &own->arena, name);
    own->contexts.failed |= !at;
    return at ? at - 1 : NONE;
}

static bool place_contexts(addition *x)
{
    const qp_model_private *m = x->m->own;
    x->contexts = qp_arena_take(&x->arena, m->n_contexts, sizeof *x->contexts);
    if (!x->contexts)
        return false;
    for (uint32_t i = 0; i < m->n_contexts; i++) {
        const char *name = m->contexts[i].name;
        x->contexts[i] = place_context(x->own, name[0] ? name : x->rest);
    }
    uint32_t head = qp_context_at(m, qp_image_head(&m->image)->context);
    x->head_context = NONE;
    if (head < m->n_contexts)
        x->head_context = x->contexts[head];
    else if (x->rest[0])
        x->head_context = place_context(x->own, x->rest);
    return !x->own->contexts.failed;
}

/* @return false: no memory */
static bool place_share(set_private *own, uint32_t method, uint32_t context)
{
    qp_cover_method *c = method_at(own, method);
    uint64_t key = (uint64_t)method << 32 | context;
    if (context == NONE || qp_dict_get(&own->shares, key))
        return true;
    bool is_full = (c->n_shares & (c->n_shares - 1)) == 0; /* room is for a power of 2 */
    if (is_full) {
        size_t room = c->n_shares ? 2 * c->n_shares : 1;
        qp_cover_share *wider = qp_arena_take(&own->arena, room, sizeof *wider);
        if (!wider)
            return false;
        if (c->n_shares)
            memcpy(wider, c->shares, c->n_shares * sizeof *wider);
        c->shares = wider;
    }
    int64_t *values = qp_arena_take(&own->arena, c->n_values, sizeof *values);
    if (!values || !qp_dict_put(&own->shares, key, (uint32_t)c->n_shares + 1))
        return false;
    c->shares[c->n_shares++] = (qp_cover_share){.context = context, .values = values};
    return true;
}

static qp_cover_share *share_of(set_private *own, uint32_t method, uint32_t context)
{
    uint32_t at = qp_dict_get(&own->shares, (uint64_t)method << 32 | context);
    return &method_at(own, method)->shares[at - 1];
}

static bool share_fits(const addend *a, const qp_model_share *s)
{
    return !s->counters->n_values || s->counters->n_values == a->n_values;
}

static bool place_shares(addition *x, const addend *a)
{
    const qp_model_private *m = x->m->own;
    const qp_model_share *end = m->shares + m->n_shares;
    bool is_ok = place_share(x->own, a->to, x->head_context);
    for (const qp_model_share *s = qp_share_first(m, a->method);
         is_ok && s < end && s->method == a->method; s++)
        if (share_fits(a, s))
            is_ok = place_share(x->own, a->to, x->contexts[s->context]);
    return is_ok;
}

/* ---- texts, runs ------------------------------------------------------------------------- */

/* The index + 1 of the text of a source; 0: none, and *hash is free for it. */
static uint32_t text_of(const set_private *own, const char *path, uint64_t *hash)
{
    return qp_find_named(&own->paths, &own->texts, offsetof(qp_cover_text, path), path, hash);
}

/* The first text whose digest is known is kept. */
static bool place_text(set_private *own, const qp_model_text *t)
{
    size_t n = own->texts.n;
    uint32_t at = qp_find_or_name(&own->paths, &own->texts, offsetof(qp_cover_text, path),
                                  &own->arena, t->path);
    if (!at)
        return false;
    qp_cover_text *to = (qp_cover_text *)own->texts.items + at - 1;
    if (own->texts.n > n)
        to->run = (uint32_t)own->runs.n - 1;
    if (!to->digest) {
        to->digest = t->digest;
        to->n_bytes = t->n_bytes;
    }
    return true;
}

static bool place_run(addition *x)
{
    const qp_run_info *run = &x->m->run;
    qp_cover_run *to = qp_buf_add(&x->own->runs);
    if (!to)
        return false;
    *to = (qp_cover_run){.what = qp_arena_text(&x->own->arena, x->what),
                         .program = qp_arena_text(&x->own->arena, run->program),
                         .label = qp_arena_text(&x->own->arena, run->label),
                         .script = qp_arena_text(&x->own->arena, run->script),
                         .labels = qp_arena_text(&x->own->arena, run->labels),
                         .started_at = run->started_at,
                         .pid = run->pid};
    return to->what && to->program && to->label && to->script && to->labels;
}

/* What another tool does not know. */
static bool warn_of_notes(addition *x)
{
    const qp_run_info *run = &x->m->run;
    bool is_ok = true;
    for (size_t i = 0; is_ok && run->is_imported && i < run->n_notes; i++) {
        char **to = run->notes[i].is_message ? qp_buf_add(&x->own->warnings) : NULL;
        if (to)
            *to = qp_arena_format(&x->own->arena, "%s: %s", x->what, run->notes[i].text);
        is_ok = !run->notes[i].is_message || (to && *to);
    }
    return is_ok;
}

static bool place_all(addition *x)
{
    const qp_model_private *m = x->m->own;
    bool is_ok = place_run(x) && place_contexts(x) && warn_of_notes(x);
    for (size_t i = 0; is_ok && i < m->n_texts; i++)
        is_ok = place_text(x->own, &m->texts[i]);
    for (size_t i = 0; is_ok && i < x->n_addends; i++) {
        addend *a = &x->addends[i];
        is_ok = place_method(x, a) && (a->to == NONE || place_shares(x, a));
    }
    return is_ok;
}

/* ---- versions ---------------------------------------------------------------------------- */

enum { IS_EQUAL = 1, IS_OTHER };

/* A comparison of a profile with the set. */
typedef struct {
    set_private *own;
    const qp_model *m;
    const char *what;
    qp_dict same;  /* hash of identity: some method of the profile has it */
    qp_dict named; /* hash of file and names: how many methods of the profile have them */
    qp_dict files; /* hash of a path: IS_* */
    qp_error *error;
} comparison;

static uint64_t hash_file(const char *file)
{
    return hash_text(QP_HASH_START, file);
}

static bool is_compared(const qp_model_method *k)
{
    return (k->flags & QP_METHOD_REGISTERED) && k->file[0] && k->n_blocks;
}

/* @return false: no memory */
static bool find_other(comparison *v, const char *file, uint32_t run)
{
    const qp_cover_run *runs = v->own->runs.items;
    if (!v->error->text[0])
        qp_error_fail(v->error,
                      "%.160s is another version in %.120s than in %.120s: counts of "
                      "different texts do not add up; --force-merge adds what agrees",
                      file, v->what, runs[run].what);
    return qp_dict_put(&v->files, hash_file(file), IS_OTHER);
}

static bool compare_texts(comparison *v)
{
    const qp_model_private *m = v->m->own;
    const qp_cover_text *texts = v->own->texts.items;
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < m->n_texts; i++) {
        const qp_model_text *t = &m->texts[i];
        uint64_t hash;
        uint32_t at = text_of(v->own, t->path, &hash);
        if (!at || !t->digest || !texts[at - 1].digest)
            continue;
        if (t->digest == texts[at - 1].digest && t->n_bytes == texts[at - 1].n_bytes)
            is_ok = qp_dict_put(&v->files, hash_file(t->path), IS_EQUAL);
        else
            is_ok = find_other(v, t->path, texts[at - 1].run);
    }
    return is_ok;
}

static bool index_methods(comparison *v)
{
    bool is_ok = true;
    for (uint32_t i = 1; is_ok && i < v->m->n_methods; i++) {
        const qp_model_method *k = &v->m->methods[i];
        if (!is_compared(k))
            continue;
        uint64_t same = hash_identity(k), named = hash_names(k);
        uint32_t n = qp_dict_get(&v->named, named) + !qp_dict_get(&v->same, same);
        is_ok = qp_dict_put(&v->same, same, 1) && qp_dict_put(&v->named, named, n);
    }
    return is_ok;
}

static uint64_t hash_in_set(const qp_cover_method *c)
{
    return hash_identity(&(qp_model_method){.bare_name = c->bare_name,
                                            .class_name = c->class_name,
                                            .module = c->module,
                                            .file = c->file,
                                            .lines = c->lines,
                                            .n_blocks = c->n_blocks});
}

/* A method that only the profile has, and one with the same names that only the set has: the
 * same method in two versions? Where functions may be missing because they were never called,
 * only if the names leave no doubt. @return the method of the set + 1; 0: none */
static uint32_t find_changed(comparison *v, const qp_model_method *k)
{
    uint32_t found = 0, n_named = 0, next;
    bool is_complete = v->own->set.is_coverage && v->m->run.is_coverage;
    uint64_t named = hash_names(k);
    for (uint32_t at = qp_dict_get(&v->own->named, named); at; at = next) {
        const qp_cover_method *c = method_at(v->own, at - 1);
        next = extra_at(v->own, at - 1)->next_named;
        if (!is_named(c, k) || !c->n_blocks)
            continue;
        if (has_same_lines(c, k))
            return 0;
        n_named++;
        if (!qp_dict_get(&v->same, hash_in_set(c)))
            found = at;
    }
    bool is_clear = is_complete || (n_named == 1 && qp_dict_get(&v->named, named) == 1);
    return is_clear ? found : 0;
}

static bool compare_methods(comparison *v)
{
    bool is_ok = index_methods(v);
    for (uint32_t i = 1; is_ok && i < v->m->n_methods; i++) {
        const qp_model_method *k = &v->m->methods[i];
        if (!is_compared(k) || qp_dict_get(&v->files, hash_file(k->file)))
            continue;
        uint32_t at = find_changed(v, k);
        is_ok = !at || find_other(v, k->file, extra_at(v->own, at - 1)->run);
    }
    return is_ok;
}

static bool find_versions(set_private *own, const qp_model *m, const char *what, bool *is_other,
                          qp_error *error)
{
    comparison v = {.own = own, .m = m, .what = what, .error = error};
    bool is_ok = compare_texts(&v) && compare_methods(&v);
    for (uint32_t i = 1; is_ok && i < m->n_methods; i++)
        is_other[i] = qp_dict_get(&v.files, hash_file(m->methods[i].file)) == IS_OTHER;
    qp_dict_fini(&v.same);
    qp_dict_fini(&v.named);
    qp_dict_fini(&v.files);
    return is_ok;
}

/* ---- a set ------------------------------------------------------------------------------- */

qp_cover_set *qp_cover_set_new(void)
{
    set_private *own = qp_alloc_zeroed(1, sizeof *own);
    if (!own)
        return NULL;
    own->methods = QP_BUF(qp_cover_method);
    own->extras = QP_BUF(extra);
    own->contexts = QP_BUF(const char *);
    own->texts = QP_BUF(qp_cover_text);
    own->runs = QP_BUF(qp_cover_run);
    own->warnings = QP_BUF(char *);
    own->set.grain = QP_GRAIN_LINE;
    own->set.is_coverage = own->set.has_calls = true;
    own->set.own = own;
    return &own->set;
}

void qp_cover_set_free(qp_cover_set *s)
{
    if (!s)
        return;
    set_private *own = s->own;
    qp_buf *const bufs[] = {&own->methods, &own->extras, &own->contexts,
                            &own->texts,   &own->runs,   &own->warnings};
    qp_dict *const dicts[] = {&own->same, &own->named, &own->paths, &own->names, &own->shares};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        qp_free(bufs[i]->items);
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++)
        qp_dict_fini(dicts[i]);
    qp_arena_fini(&own->arena);
    qp_free(own);
}

/* Show what is in the buffers: they may have moved. @param is_added  all of the newest run is there */
static void show(set_private *own, bool is_added)
{
    qp_cover_set *s = &own->set;
    s->methods = own->methods.items;
    s->contexts = own->contexts.items;
    s->texts = own->texts.items;
    s->runs = own->runs.items;
    s->warnings = own->warnings.items;
    if (!is_added)
        return;
    s->n_methods = own->methods.n;
    s->n_contexts = own->contexts.n;
    s->n_texts = own->texts.n;
    s->n_runs = own->runs.n;
    s->n_warnings = own->warnings.n;
}

/* ---- adding ------------------------------------------------------------------------------ */

/* Shares are signed and add up modulo 2^64, so subtracting and adding again is exact. */
static void add_signed(int64_t *to, uint64_t n, int sign)
{
    *to = (int64_t)((uint64_t)*to + (sign > 0 ? n : 0 - n));
}

static void add_share(qp_cover_share *to, const addend *a, const qp_cover_method *c,
                      const qp_counter_block *b, int sign)
{
    uint64_t calls = b->calls;
    bool is_entry = false;
    for (uint32_t k = 0; a->is_whole && k < c->n_values; k++)
        add_signed(&to->values[k], calls, sign);
    for (uint32_t k = 0; k < b->n_values; k++) {
        add_signed(&to->values[k], b->values[k], sign);
        if (!c->jumps || c->jumps->jumps[k].from_block != QP_JUMP_ENTRY)
            continue;
        calls = is_entry ? calls + b->values[k] : b->values[k];
        is_entry = true;
    }
    add_signed(&to->calls, calls, sign);
}

/* What is in no share of the profile belongs to the last context. */
static void add_shares(addition *x, const addend *a, qp_cover_method *c)
{
    const qp_model_private *m = x->m->own;
    qp_cover_share *last = NULL;
    if (x->head_context != NONE) {
        last = share_of(x->own, a->to, x->head_context);
        add_signed(&last->calls, a->calls, 1);
        for (uint32_t k = 0; a->values && k < a->n_values; k++)
            add_signed(&last->values[k], a->values[k], 1);
    }
    for (const qp_model_share *s = qp_share_first(m, a->method), *end = m->shares + m->n_shares;
         s < end && s->method == a->method; s++) {
        if (!share_fits(a, s))
            continue;
        if (last)
            add_share(last, a, c, s->counters, -1);
        add_share(share_of(x->own, a->to, x->contexts[s->context]), a, c, s->counters, 1);
    }
}

static void add_method(addition *x, const addend *a)
{
    qp_cover_method *c = method_at(x->own, a->to);
    c->calls = qp_sum(c->calls, a->calls);
    c->skips = qp_sum(c->skips, x->m->methods[a->method].all.skips);
    c->is_seen |= qp_figures_is_seen(&x->m->methods[a->method].all);
    c->entries = qp_sum(c->entries, a->entries);
    for (uint32_t k = 0; a->values && k < a->n_values; k++)
        c->values[k] = qp_sum(c->values[k], a->values[k]);
    bool is_missed = x->m->run.is_coverage || (x->has_counters && !a->calls && !a->entries);
    c->is_counted |= a->values || is_missed;
    add_shares(x, a, c);
}

static void add_figures(addition *x)
{
    qp_cover_set *s = &x->own->set;
    const qp_run_info *run = &x->m->run;
    for (size_t i = 0; i < x->n_addends; i++)
        if (x->addends[i].to != NONE)
            add_method(x, &x->addends[i]);
    s->grain = run->grain < s->grain ? run->grain : s->grain;
    s->is_once |= run->is_once;
    s->is_coverage &= run->is_coverage;
    s->has_calls &= run->has_calls;
}

bool qp_cover_set_add(qp_cover_set *s, const qp_model *m, const char *what,
                      const qp_cover_add_options *o, qp_error *error)
{
    addition x = {.own = s->own, .m = m, .what = what};
    bool is_forced = o && o->is_forced;
    x.rest = o && o->is_layered ? what : "";
    error->text[0] = '\0';
    x.is_other = qp_arena_take(&x.arena, m->n_methods, sizeof *x.is_other);
    bool is_ok = !s->own->is_full && x.is_other &&
                 find_versions(s->own, m, what, x.is_other, error) &&
                 (!error->text[0] || is_forced);
    if (is_ok) {
        error->text[0] = '\0';
        is_ok = count(&x) && place_all(&x);
        s->own->is_full = !is_ok;
        if (is_ok)
            add_figures(&x);
        show(s->own, is_ok);
    }
    qp_arena_fini(&x.arena);
    if (!is_ok && !error->text[0])
        qp_error_fail(error, "%.300s: there is not enough memory to add it", what);
    return is_ok;
}
