/* groups.c: functions added up by source file, class or module. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "cli/show/show.h"
#include "model/read/read.h"

static const char *key_of(qp_group_by by, const qp_model_method *m)
{
    return by == QP_BY_FILE ? m->file : by == QP_BY_CLASS ? m->class_name : m->module;
}

/* Time with callees: of calls that are not inside another one of the same group. */
static bool add_totals(qp_groups *g, const uint32_t *group_of)
{
    const qp_model *m = g->about.m;
    qp_group *groups = g->all.items;
    uint32_t *n_open = qp_alloc_zeroed(g->all.n + 1, sizeof *n_open);
    for (qp_walk w = {.m = m}; n_open && qp_walk_next(&w);) {
        const qp_model_node *n = &m->nodes[w.node];
        uint32_t group = group_of[n->method];
        bool is_chosen = g->v.thread == QP_ALL_THREADS || n->thread == g->v.thread;
        if (!group)
            continue;
        if (!w.is_entry)
            n_open[group]--;
        else if (n_open[group]++ == 0 && is_chosen)
            groups[group - 1].total += qp_view_total(&g->v, w.node);
    }
    qp_free(n_open);
    return n_open != NULL;
}

static void add_method(qp_group *to, const qp_figures *f)
{
    to->functions++;
    to->calls += f->calls;
    to->hits += f->hits;
    to->skips += f->skips;
    to->self += f->self;
}

static bool gather(qp_groups *g, const qp_args *args)
{
    const qp_model *m = g->about.m;
    uint32_t *group_of = qp_alloc_zeroed(m->n_methods, sizeof *group_of);
    qp_dict names = {0};
    bool is_good = group_of != NULL;
    for (uint32_t i = 1; is_good && i < m->n_methods; i++) {
        const qp_figures *f = &g->v.flat[i];
        if (!f->hits && !f->resumes && !f->self && !(args->has_skips && f->skips))
            continue;
        const char *key = key_of(g->by, &m->methods[i]);
        group_of[i] = qp_find_or_name(&names, &g->all, offsetof(qp_group, name), &g->texts,
                                      *key ? key : "(none)");
        is_good = group_of[i] != 0;
        if (is_good)
            add_method((qp_group *)g->all.items + group_of[i] - 1, f);
    }
    is_good = is_good && add_totals(g, group_of);
    qp_dict_fini(&names);
    qp_free(group_of);
    return is_good;
}

static int compare(const void *a, const void *b, void *data)
{
    const qp_groups *g = data;
    const qp_group *x = a, *y = b;
    int order = g->sort == QP_SORT_TOTAL   ? QP_ORDER(y->total, x->total)
                : g->sort == QP_SORT_CALLS ? QP_ORDER(y->calls, x->calls)
                : g->sort == QP_SORT_NAME  ? 0
                                           : QP_ORDER(y->self, x->self);
    return order ? order : strcmp(x->name, y->name);
}

/* Keep those that the flags want, in order. */
static void choose(qp_groups *g, const qp_args *args)
{
    qp_group *all = g->all.items;
    uint64_t whole_self = 0, whole_total = 0;
    size_t n = 0;
    for (size_t i = 0; i < g->all.n; i++) {
        whole_self += all[i].self;
        whole_total += all[i].total;
    }
    bool is_of_rows = args->percent == QP_PERCENT_OF_ROWS;
    for (size_t i = 0; i < g->all.n; i++) {
        qp_group *x = &all[i];
        bool is_enough =
            qp_view_is_enough(&g->v, args, qp_view_percent(x->self, g->v.whole), x->total);
        x->self_percent = qp_view_percent(x->self, is_of_rows ? whole_self : g->v.whole);
        x->total_percent = qp_view_percent(x->total, is_of_rows ? whole_total : g->v.whole);
        x->average = x->hits ? qp_model_ns(g->about.m, x->self / x->hits) : 0;
        x->self = qp_model_ns(g->about.m, x->self);
        x->total = qp_model_ns(g->about.m, x->total);
        if (args->filter && !strstr(x->name, args->filter))
            continue;
        g->n_small += !is_enough;
        if (is_enough)
            all[n++] = *x;
    }
    g->all.n = n;
    if (n)
        qsort_r(all, n, sizeof *all, compare, g);
}

bool qp_groups_init(qp_groups *g, const qp_args *args, const qp_model *m, uint32_t thread,
                    uint64_t limit)
{
    *g = (qp_groups){.about = {m, thread},
                     .by = (qp_group_by)args->cover.by,
                     .sort = (qp_sort)args->sort,
                     .all = QP_BUF(qp_group)};
    if (!m->run.has_times && g->sort == QP_SORT_SELF)
        g->sort = QP_SORT_CALLS;
    if (!qp_view_init(&g->v, m, thread, args->has_subtract) || !gather(g, args))
        return false;
    choose(g, args);
    g->n = limit && limit < g->all.n ? (size_t)limit : g->all.n;
    return true;
}

void qp_groups_fini(qp_groups *g)
{
    qp_free(g->all.items);
    qp_arena_fini(&g->texts);
    qp_view_fini(&g->v);
}

#define AT(member) QP_FIELD_AT(qp_group, member)
static const qp_field group_fields[] = {
    {"name", "", "source file, class or module as registered; (none): functions without one",
     QP_FIELD_NAME, AT(name), .flags = QP_FIELD_HOT},
    {"functions", "Functions", "functions with calls or time", QP_FIELD_COUNT, AT(functions)},
    {"calls", "Calls", "hits + skips", QP_FIELD_COUNT, AT(calls), .needs = QP_HAS_CALLS},
    {"hits", "Hits", "calls that were recorded", QP_FIELD_COUNT, AT(hits)},
    {"skips", "Skips", "calls while recording was off", QP_FIELD_COUNT, AT(skips)},
    {"self", "Self", "time in the functions themselves, in the run's unit", QP_FIELD_TIME,
     AT(self), .needs = QP_HAS_TIMES},
    {"self_percent", "Self %", "self in percent of the run, or with --percent=rows of all rows",
     QP_FIELD_PERCENT, AT(self_percent), .flags = QP_FIELD_HOT, .needs = QP_HAS_TIMES},
    {"total", "Total",
     "time including what they called; a call inside another one of the row counted once",
     QP_FIELD_TIME, AT(total), .needs = QP_HAS_TIMES},
    {"total_percent", "Total %", "total in percent of the same", QP_FIELD_PERCENT,
     AT(total_percent), .needs = QP_HAS_TIMES},
    {"average", "Avg", "average self time of one call", QP_FIELD_SPAN, AT(average), .rank = 4,
     .needs = QP_HAS_TIMES | QP_HAS_CALLS},
    {.key = NULL}};
#undef AT

static bool next_group(const void *data, size_t *at, void *to)
{
    const qp_groups *g = data;
    if (*at == g->n)
        return false;
    *(qp_group *)to = ((const qp_group *)g->all.items)[(*at)++];
    return true;
}

static unsigned has_figures(const void *data, const void *row)
{
    (void)row;
    return qp_run_has_any(&((const qp_groups *)data)->about.m->run);
}

const qp_rows qp_group_rows = QP_ROWS(group_fields, qp_group, next_group, .has = has_figures);

bool qp_groups_print(const qp_cli *cli, const qp_groups *g)
{
    static const char *const titles[] = {"Function", "File", "Class", "Module"};
    qp_field fields[sizeof group_fields / sizeof *group_fields];
    const qp_group *all = g->all.items;
    char columns[120];
    uint64_t largest = 0;
    qp_listing l;
    memcpy(fields, group_fields, sizeof fields);
    fields[0].title = titles[g->by];
    for (size_t i = 0; i < g->n; i++)
        largest = all[i].total > largest ? all[i].total : largest;
    qp_text_format(columns, sizeof columns,
                   "name functions calls %s self self_percent total total_percent average",
                   cli->args.has_skips ? "skips" : "");
    if (!g->n) {
        qp_out_text(cli->screen.out,
                    g->n_small ? "Nothing has that much of the time.\n"
                               : "No function was called, or none matches the filter.\n");
        return true;
    }
    qp_listing_begin(&l, &cli->screen, fields, columns, qp_run_has(&g->about.m->run),
                     qp_unit_for(largest, qp_view_is_time(g->about.m), cli->args.unit));
    for (size_t i = 0; i < g->n; i++)
        qp_listing_row(&l, &all[i], qp_style_of_percent(all[i].self_percent));
    return qp_listing_end(&l, 0);
}
