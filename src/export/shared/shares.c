/* shares.c: self times of call paths on source lines. */
#include "export/shared/profile.h"

#include "base/containers/alloc.h"
#include "model/figures/figures.h"

/* Lines of a function, and how much of them no path has yet. */
typedef struct {
    qp_line_figures *lines;
    size_t n, at;
} rest;

void qp_shares_init(qp_shares *s, const qp_model *m)
{
    *s = (qp_shares){.m = m, .rests = QP_BUF(rest)};
}

void qp_shares_fini(qp_shares *s)
{
    for (size_t i = 0; i < s->rests.n; i++)
        qp_free(((rest *)s->rests.items)[i].lines);
    qp_free(s->rests.items);
    qp_dict_fini(&s->index);
}

/* @return NULL: no memory */
static rest *rest_of(qp_shares *s, uint32_t method, uint32_t thread)
{
    uint64_t key = (uint64_t)thread << 32 | method;
    uint32_t at = qp_dict_get(&s->index, key);
    if (at)
        return (rest *)s->rests.items + at - 1;
    rest *r = qp_buf_add(&s->rests);
    const char *file = s->m->methods[method].file;
    bool is_good = r && qp_dict_put(&s->index, key, (uint32_t)s->rests.n) &&
                   (!*file || qp_model_lines(s->m, file, method, thread, &r->lines, &r->n));
    s->failed |= !is_good;
    return is_good ? r : NULL;
}

bool qp_shares_next(qp_shares *s, uint32_t method, uint32_t thread, uint64_t self,
                    uint32_t *line, uint64_t *part)
{
    rest *r = self && !s->failed ? rest_of(s, method, thread) : NULL;
    while (r && r->at < r->n && r->lines[r->at].self == 0)
        r->at++;
    if (!r || r->at == r->n)
        return false;
    qp_line_figures *l = &r->lines[r->at];
    *line = l->line;
    *part = l->self < self ? l->self : self;
    l->self -= *part;
    return true;
}
