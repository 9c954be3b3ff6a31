/* cover_versions.c: has a source file another text in a profile than in the set? By digests of the
 * texts where both are known, else by the line tables of methods with equal names. */
#include <string.h>

#include "base/alloc.h"
#include "model/cover_set.h"

typedef struct qp_cover_set_private set_private;

enum { IS_EQUAL = 1, IS_OTHER };

/* A comparison of a profile with the set. */
typedef struct {
    set_private *own;
    const qp_model *m;
    const char *what;
    qp_dict same;  /* hash of identity: some method of the profile has it */
    qp_dict named; /* hash of file and names: how many methods of the profile have them */
    qp_dict files; /* hash of a path: IS_* */
    char *error;
} comparison;

static uint64_t hash_file(const char *file)
{
    return qp_cover_text_hash(QP_HASH_START, file);
}

static bool is_compared(const qp_model_method *k)
{
    return (k->flags & QP_METHOD_REGISTERED) && k->file[0] && k->n_blocks;
}

/* @return false: no memory */
static bool find_other(comparison *v, const char *file, uint32_t run)
{
    const qp_cover_run *runs = v->own->runs.items;
    if (!v->error[0])
        qp_text_format(v->error, QP_ERROR_BYTES,
                       "%.160s is another version in %.120s than in %.120s: counts of "
                       "different texts do not add up; --force adds what agrees",
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
        uint32_t at = qp_cover_text_of(v->own, t->path);
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
        uint64_t same = qp_cover_same_hash(k), named = qp_cover_named_hash(k);
        uint32_t n = qp_dict_get(&v->named, named) + !qp_dict_get(&v->same, same);
        is_ok = qp_dict_put(&v->same, same, 1) && qp_dict_put(&v->named, named, n);
    }
    return is_ok;
}

static uint64_t same_hash(const qp_cover_method *c)
{
    return qp_cover_same_hash(&(qp_model_method){.bare_name = c->bare_name,
                                                 .class_name = c->class_name,
                                                 .module = c->module,
                                                 .file = c->file,
                                                 .lines = c->lines,
                                                 .n_blocks = c->n_blocks});
}

/* A method that only the profile has, and one with the same names that only the set has: the same
 * method in two versions? Where functions may be missing because they were never called, only if
 * the names leave no doubt. @return the method of the set + 1; 0: none */
static uint32_t find_changed(comparison *v, const qp_model_method *k)
{
    uint32_t found = 0, n_named = 0, next;
    bool is_complete = v->own->set.is_coverage && v->m->run.is_coverage;
    uint64_t named = qp_cover_named_hash(k);
    for (uint32_t at = qp_dict_get(&v->own->named, named); at; at = next) {
        const qp_cover_method *c = qp_cover_method_at(v->own, at - 1);
        next = qp_cover_extra_at(v->own, at - 1)->next_named;
        if (!qp_cover_is_named(c, k) || !c->n_blocks)
            continue;
        if (qp_cover_is_same_lines(c, k))
            return 0;
        n_named++;
        if (!qp_dict_get(&v->same, same_hash(c)))
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
        is_ok = !at || find_other(v, k->file, qp_cover_extra_at(v->own, at - 1)->run);
    }
    return is_ok;
}

bool qp_cover_versions(set_private *own, const qp_model *m, const char *what, bool *is_other,
                       char error[QP_ERROR_BYTES])
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
