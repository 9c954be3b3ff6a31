/* coverage.c: what writers of coverage share: see coverage.h. */
#include "export/shared/coverage.h"

#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"

uint64_t qp_cover_timestamp(const qp_cover *c)
{
    uint64_t newest = 0;
    for (size_t i = 0; i < c->n_runs; i++)
        newest = c->runs[i].started_at > newest ? c->runs[i].started_at : newest;
    return newest / 1000000000;
}

const char *qp_cover_test_name(const qp_cover *c, const qp_cover_export_options *o)
{
    return o->test ? o->test : c->n_runs ? c->runs[0].program : "";
}

/* ---- folders --------------------------------------------------------------------------------- */

uint32_t *qp_cover_by_dir(const qp_cover *c)
{
    uint32_t *order = qp_alloc(c->n_files, sizeof *order);
    size_t *place = qp_alloc_zeroed(c->n_dirs + 1, sizeof *place); /* of a folder's next file */
    if (order && place) {
        for (size_t i = 0; i < c->n_files; i++)
            place[c->files[i].dir + 1]++;
        for (size_t i = 1; i <= c->n_dirs; i++)
            place[i] += place[i - 1];
        for (size_t i = 0; i < c->n_files; i++)
            order[place[c->files[i].dir]++] = (uint32_t)i;
    } else {
        qp_free(order);
        order = NULL;
    }
    qp_free(place);
    return order;
}

size_t qp_cover_dir_end(const qp_cover *c, const uint32_t *order, size_t at,
                        qp_cover_totals *totals)
{
    uint32_t dir = c->files[order[at]].dir;
    *totals = (qp_cover_totals){.dirs = 1};
    for (; at < c->n_files && c->files[order[at]].dir == dir; at++)
        qp_cover_totals_add(totals, &c->files[order[at]].totals);
    return at;
}

/* ---- functions ------------------------------------------------------------------------------- */

uint32_t qp_cover_start_line(const qp_cover_file *f, const qp_cover_function *x)
{
    uint32_t i =
        x->first_line && !x->is_dead ? qp_cover_line_from(f, x->first_line) : f->n_lines;
    while (i < f->n_lines && !qp_cover_is_live(&f->lines[i]))
        i++;
    return i < f->n_lines && f->lines[i].line <= x->last_line ? f->lines[i].line : 0;
}

static uint64_t hash_name(const qp_cover_function *x)
{
    return qp_hash_bytes(QP_HASH_START, x->name, strlen(x->name));
}

static uint64_t hash_place(const qp_cover_function *x)
{
    return qp_hash_bytes(hash_name(x), &x->first_line, sizeof x->first_line);
}

/* One more of this key. @return false: no memory */
static bool count_key(qp_dict *t, uint64_t key)
{
    return qp_dict_put(t, key, qp_dict_get(t, key) + 1);
}

/* The name of the n-th function with this name and line. @return NULL: no memory */
static char *name_twin(const qp_cover_function *x, uint32_t n)
{
    size_t room = strlen(x->name) + 32;
    char *name = qp_alloc(room, 1);
    if (name && n == 1)
        qp_text_format(name, room, "%s:%" PRIu32, x->name, x->first_line);
    else if (name)
        qp_text_format(name, room, "%s:%" PRIu32 "#%" PRIu32, x->name, x->first_line, n);
    return name;
}

const char **qp_cover_names(const qp_cover_file *f)
{
    const char **names = qp_alloc_zeroed(f->n_functions, sizeof *names);
    bool is_good = names != NULL;
    qp_dict same = {0}, placed = {0};
    for (uint32_t i = 0; is_good && i < f->n_functions; i++)
        is_good = count_key(&same, hash_name(&f->functions[i]));
    for (uint32_t i = 0; is_good && i < f->n_functions; i++) {
        const qp_cover_function *x = &f->functions[i];
        names[i] = x->name;
        if (qp_dict_get(&same, hash_name(x)) == 1)
            continue;
        is_good = count_key(&placed, hash_place(x));
        if (is_good)
            names[i] = name_twin(x, qp_dict_get(&placed, hash_place(x)));
        is_good = is_good && names[i];
    }
    qp_dict_fini(&same);
    qp_dict_fini(&placed);
    if (!is_good) {
        qp_cover_names_free(f, names);
        names = NULL;
    }
    return names;
}

void qp_cover_names_free(const qp_cover_file *f, const char **names)
{
    for (uint32_t i = 0; names && i < f->n_functions; i++)
        if (names[i] != f->functions[i].name)
            qp_free(names[i]);
    qp_free(names);
}
