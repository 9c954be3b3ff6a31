/* cluster_names.c: the methods and call paths of all servers, in the order in which they came. See cluster.h; read
 * qp_cluster_names_read first. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/search.h"
#include "store/cluster.h"

/* A method, or a path, of one server. */
typedef struct {
    uint64_t hash, number, at; /* number and place of the profile that brought it */
    uint64_t parent, method, creator;
    const char *thread; /* path: of a root; else NULL */
    qp_builder_code code;
    uint32_t index;
    enum { FRESH, OPEN, PLACED } state;
} name;

static int compare_hashes(const void *a, const void *b)
{
    const name *x = a, *y = b;
    return x->hash != y->hash       ? QP_ORDER(x->hash, y->hash)
           : x->number != y->number ? QP_ORDER(x->number, y->number)
                                    : QP_ORDER(x->at, y->at);
}

static int compare_arrivals(const void *a, const void *b)
{
    const name *x = *(const name *const *)a, *y = *(const name *const *)b;
    return x->number != y->number ? QP_ORDER(x->number, y->number)
           : x->at != y->at       ? QP_ORDER(x->at, y->at)
                                  : QP_ORDER(x->hash, y->hash);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool read_method(qp_answer *a, name *to, qp_arena *arena)
{
    qp_builder_code *code = &to->code;
    size_t n;
    to->hash = qp_answer_number(a, sizeof(uint64_t));
    to->number = qp_answer_number(a, sizeof(uint64_t));
    to->at = qp_answer_number(a, sizeof(uint32_t));
    code->flags = (uint32_t)qp_answer_number(a, sizeof(uint32_t));
    code->id = qp_answer_number(a, sizeof(uint64_t));
    code->name = qp_answer_text(a, arena);
    code->class_name = qp_answer_text(a, arena);
    code->module = qp_answer_text(a, arena);
    code->file = qp_answer_text(a, arena);
    const unsigned char *tables = qp_answer_bytes(a, &n);
    return !a->is_bad && code->name && code->class_name && code->module && code->file &&
           qp_store_tables_read(tables, n, arena, code);
}

static bool read_path(qp_answer *a, name *to, qp_arena *arena)
{
    to->hash = qp_answer_number(a, sizeof(uint64_t));
    to->number = qp_answer_number(a, sizeof(uint64_t));
    to->at = qp_answer_number(a, sizeof(uint32_t));
    to->parent = qp_answer_number(a, sizeof(uint64_t));
    to->method = qp_answer_number(a, sizeof(uint64_t));
    to->creator = qp_answer_number(a, sizeof(uint64_t));
    const bool is_root = qp_answer_number(a, 1);
    const char *thread = qp_answer_text(a, arena);
    to->thread = is_root ? thread : NULL;
    return !a->is_bad && thread;
}

/* @param to  of name */
static bool read_names(qp_shard *sh, const char *table, const char *columns, bool is_path,
                       qp_buf *to, qp_arena *arena, qp_error *error)
{
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_body_format(&body, "SELECT %s FROM %s.%s FORMAT RowBinary", columns, sh->database,
                   table);
    bool is_good = qp_shard_ask(sh, &body, &answer, error);
    qp_answer a = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&a)) {
        name *one = qp_buf_add(to);
        is_good =
            (one && (is_path ? read_path(&a, one, arena) : read_method(&a, one, arena))) ||
            qp_shard_fail_answer(sh, error);
    }
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

static bool is_same_table(const void *a, const void *b, size_t n)
{
    return !n || memcmp(a, b, n) == 0;
}

/* Of one hash: is it really one thing? */
static bool is_same(const name *a, const name *b)
{
    const qp_builder_code *x = &a->code, *y = &b->code;
    if (!x->name)
        return a->parent == b->parent && a->method == b->method && a->creator == b->creator &&
               !a->thread == !b->thread && (!a->thread || strcmp(a->thread, b->thread) == 0);
    return strcmp(x->name, y->name) == 0 && strcmp(x->class_name, y->class_name) == 0 &&
           strcmp(x->module, y->module) == 0 && strcmp(x->file, y->file) == 0 &&
           x->flags == y->flags && x->n_lines == y->n_lines &&
           is_same_table(x->lines, y->lines, x->n_lines * sizeof *x->lines);
}

/* Keep of each hash the row that came first. @return false: see error */
static bool join_same(qp_buf *names, const char *what, qp_error *error)
{
    size_t n = 0;
    name *all = names->items;
    if (names->n)
        qsort(all, names->n, sizeof *all, compare_hashes);
    for (size_t i = 0; i < names->n; i++) {
        if (!n || all[n - 1].hash != all[i].hash)
            all[n++] = all[i];
        else if (!is_same(&all[n - 1], &all[i]))
            return qp_store_note_failure() ||
                   qp_error_fail(error, "damaged: two %s have the hash %llx", what,
                                 (unsigned long long)all[i].hash);
    }
    names->n = n;
    return true;
}

static name *find(const qp_buf *names, uint64_t hash)
{
    name *all = names->items;
    const size_t i = QP_SEARCH(all, names->n, hash, hash);
    return i < names->n && all[i].hash == hash ? &all[i] : NULL;
}

/* ---- placing -------------------------------------------------------------------------------- */

/* By arrival. @return [n] a buffer; NULL: no memory */
static name **in_order(const qp_buf *names)
{
    name *all = names->items, **order = qp_alloc(names->n, sizeof *order);
    for (size_t i = 0; order && i < names->n; i++)
        order[i] = &all[i];
    if (order)
        qsort(order, names->n, sizeof *order, compare_arrivals);
    return order;
}

static bool fail_path(const name *path, qp_error *error)
{
    qp_store_note_failure();
    return qp_error_fail(error, "damaged: call path %llx names what is not there",
                         (unsigned long long)path->hash);
}

/* @return false: see error */
static bool place_one(name *path, const qp_buf *methods, const qp_buf *paths, qp_buf *to,
                      qp_error *error)
{
    const name *parent = path->thread ? NULL : find(paths, path->parent),
               *method = path->thread ? NULL : find(methods, path->method),
               *creator = path->thread && path->creator ? find(paths, path->creator) : NULL;
    if (!path->thread && (!parent || !method))
        return fail_path(path, error);
    path->index = (uint32_t)to->n;
    path->state = PLACED;
    qp_merge_path *out = to->n < UINT32_MAX - 1 ? qp_buf_add(to) : NULL;
    if (!out)
        return qp_error_fail(error, "out of memory");
    *out = (qp_merge_path){.parent = path->thread ? path->index : parent->index,
                           .method = method ? method->index : 0,
                           .thread = path->thread,
                           .creator = creator ? creator->index + 1 : 0};
    return true;
}

/* What a path names comes before it. Clocks have no part in the order, but commands that import at once have. */
static bool place(name *path, const qp_buf *methods, const qp_buf *paths, qp_buf *to,
                  qp_buf *open, qp_error *error)
{
    for (name *at = path; at && at->state != PLACED;) {
        name **slot = at->state == FRESH ? qp_buf_add(open) : NULL;
        if (!slot)
            return at->state == OPEN ? fail_path(at, error)
                                     : qp_error_fail(error, "out of memory");
        *slot = at;
        at->state = OPEN;
        const uint64_t needs = at->thread ? at->creator : at->parent;
        name *next = needs ? find(paths, needs) : NULL;
        if ((needs || !at->thread) && !next)
            return fail_path(at, error);
        at = next;
    }
    bool is_good = true;
    for (; is_good && open->n; open->n--)
        is_good = place_one(((name **)open->items)[open->n - 1], methods, paths, to, error);
    return is_good;
}

/* @param places  receives the hashes, which ascend */
static bool keep_places(const qp_buf *names, qp_buf *places)
{
    const name *all = names->items;
    places->n = 0;
    qp_cluster_place *to = names->n ? qp_buf_add_many(places, names->n) : NULL;
    for (size_t i = 0; to && i < names->n; i++)
        to[i] = (qp_cluster_place){.hash = all[i].hash, .index = all[i].index};
    return to || !names->n;
}

static bool place_all(qp_cluster *c, qp_buf *methods, qp_buf *paths, qp_store_names *names,
                      qp_error *error)
{
    qp_buf open = QP_BUF(name *);
    name **methods_in_order = in_order(methods), **paths_in_order = in_order(paths);
    bool is_good =
        (methods_in_order && paths_in_order) || qp_error_fail(error, "out of memory");
    for (size_t i = 0; is_good && i < methods->n; i++) {
        qp_builder_code *code = qp_buf_add(&names->methods);
        methods_in_order[i]->index = (uint32_t)i;
        if (code)
            *code = methods_in_order[i]->code;
        is_good = code || qp_error_fail(error, "out of memory");
    }
    for (size_t i = 0; is_good && i < paths->n; i++)
        is_good = place(paths_in_order[i], methods, paths, &names->paths, &open, error);
    if (is_good && (!keep_places(methods, &c->methods) || !keep_places(paths, &c->paths)))
        is_good = qp_error_fail(error, "out of memory");
    qp_free(methods_in_order);
    qp_free(paths_in_order);
    qp_free(open.items);
    return is_good;
}

bool qp_cluster_names_read(qp_cluster *c, qp_store_names *names, qp_error *error)
{
    static const char of_methods[] =
        "method, number, at, flags, id, name, class, module, file, tables";
    static const char of_paths[] = "path, number, at, parent, method, creator, is_root, thread";
    qp_buf methods = QP_BUF(name), paths = QP_BUF(name);
    bool is_good = true;
    if (c->has_names)
        return true;
    for (unsigned i = 0; is_good && i < c->n_shards; i++)
        is_good = read_names(&c->shards[i], "qprof_path", of_paths, true, &paths, &names->arena,
                             error);
    /* after the paths: what they name was there before them */
    for (unsigned i = 0; is_good && i < c->n_shards; i++)
        is_good = read_names(&c->shards[i], "qprof_method", of_methods, false, &methods,
                             &names->arena, error);
    is_good = is_good && join_same(&methods, "functions", error) &&
              join_same(&paths, "call paths", error) &&
              place_all(c, &methods, &paths, names, error);
    qp_free(methods.items);
    qp_free(paths.items);
    c->has_names = is_good;
    return is_good;
}

uint32_t qp_cluster_place_of(const qp_buf *places, uint64_t hash)
{
    const qp_cluster_place *all = places->items;
    const size_t i = QP_SEARCH(all, places->n, hash, hash);
    return i < places->n && all[i].hash == hash ? all[i].index : QP_MERGE_NONE;
}
