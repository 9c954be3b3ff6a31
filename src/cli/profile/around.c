/* around.c: the functions of a source file as they begin and end, line by line. */
#include "cli/profile/around.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/text/table_text.h"
#include "base/text/text.h"
#include "cli/show/show.h"

enum { CALLERS_SHOWN = 3 };

static int compare_ranges(const void *a, const void *b)
{
    const qp_range *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->last != y->last)
        return x->last > y->last ? -1 : 1;
    return (x->method > y->method) - (x->method < y->method);
}

static int compare_pairs(const void *a, const void *b)
{
    const qp_pair *x = a, *y = b;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return (x->caller > y->caller) - (x->caller < y->caller);
}

/* A function that was loaded several times is there once, with the figures of all. */
static void merge_twins(qp_around *a)
{
    const qp_model_method *methods = a->view.m->methods;
    size_t n = 0;
    for (size_t i = 0; i < a->n_ranges; i++) {
        const qp_range *r = &a->ranges[i], *before = n ? &a->ranges[n - 1] : NULL;
        if (!before || before->first != r->first || before->last != r->last ||
            strcmp(methods[before->method].name, methods[r->method].name) != 0) {
            a->ranges[n++] = *r;
            continue;
        }
        qp_figures *sum = &a->view.flat[before->method], *f = &a->view.flat[r->method];
        sum->calls += f->calls;
        sum->self += f->self;
        sum->total += f->total;
    }
    a->n_ranges = n;
}

bool qp_around_init(qp_around *a, const qp_model *m, const char *file, uint32_t method,
                    uint32_t thread)
{
    *a = (qp_around){0};
    bool is_good = qp_view_init(&a->view, m, thread, false) &&
                   qp_model_pairs(m, thread, &a->pairs, &a->n_pairs);
    a->ranges = qp_alloc(m->n_methods, sizeof *a->ranges);
    a->open = qp_alloc(m->n_methods, sizeof *a->open);
    if (!is_good || !a->ranges || !a->open)
        return false;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        qp_range *r = &a->ranges[a->n_ranges];
        r->method = i;
        if ((method == 0 || method == i) && strcmp(m->methods[i].file, file) == 0 &&
            qp_method_range(&m->methods[i], &r->first, &r->last))
            a->n_ranges++;
    }
    qsort(a->ranges, a->n_ranges, sizeof *a->ranges, compare_ranges);
    qsort(a->pairs, a->n_pairs, sizeof *a->pairs, compare_pairs);
    merge_twins(a);
    return true;
}

void qp_around_fini(qp_around *a)
{
    qp_view_fini(&a->view);
    qp_free(a->pairs);
    qp_free(a->ranges);
    qp_free(a->open);
}

size_t qp_around_go(qp_around *a, uint32_t line)
{
    size_t before = a->n_begun;
    while (a->n_open && a->ranges[a->open[a->n_open - 1]].last < line)
        a->n_open--;
    for (; a->n_begun < a->n_ranges && a->ranges[a->n_begun].first <= line; a->n_begun++)
        if (a->ranges[a->n_begun].last >= line)
            a->open[a->n_open++] = a->n_begun;
    return a->n_begun - before;
}

uint32_t qp_around_method(const qp_around *a)
{
    return a->n_open ? a->ranges[a->open[a->n_open - 1]].method : QP_ROOT_METHOD;
}

char *qp_around_figures(const qp_around *a, uint32_t method, char *to, size_t n_bytes)
{
    const qp_model *m = a->view.m;
    const qp_figures *f = &a->view.flat[method];
    char name[QP_NAME_BYTES], calls[QP_NUMBER_BYTES], self[QP_NUMBER_BYTES],
        total[QP_NUMBER_BYTES], of_self[QP_NUMBER_BYTES], of_total[QP_NUMBER_BYTES];
    qp_text_fit(name, sizeof name, m->methods[method].name, QP_NAME_COLUMNS, 0);
    qp_unit_things(calls, f->calls, "call");
    if (!m->run.has_times) {
        snprintf(to, n_bytes, "%s: %s", name, calls);
        return to;
    }
    snprintf(to, n_bytes, "%s: %s, self %s (%s %%), total %s (%s %%)", name, calls,
             qp_view_amount(m, self, f->self), qp_unit_percent(of_self, f->self, a->view.whole),
             qp_view_amount(m, total, f->total),
             qp_unit_percent(of_total, f->total, a->view.whole));
    return to;
}

/* The first pair of a callee, or where it would be. */
static size_t pairs_of(const qp_around *a, uint32_t callee)
{
    return QP_SEARCH(a->pairs, a->n_pairs, callee, callee);
}

char *qp_around_callers(const qp_around *a, uint32_t method, char *to, size_t n_bytes)
{
    char name[QP_NAME_BYTES], calls[QP_NUMBER_BYTES];
    size_t first = pairs_of(a, method), n = 0, at = 0;
    to[0] = '\0';
    while (first + n < a->n_pairs && a->pairs[first + n].callee == method)
        n++;
    for (size_t i = 0; i < n && i < CALLERS_SHOWN; i++) {
        const qp_pair *p = &a->pairs[first + i];
        qp_text_fit(name, sizeof name, a->view.m->methods[p->caller].name, QP_NAME_COLUMNS / 2,
                    0);
        at += (size_t)snprintf(to + at, n_bytes - at, "%s%s (%s)", i ? ", " : "called by ",
                               name, qp_unit_count(calls, p->calls));
    }
    if (n > CALLERS_SHOWN)
        snprintf(to + at, n_bytes - at, " and %s more",
                 qp_unit_count(calls, n - CALLERS_SHOWN));
    return to;
}
