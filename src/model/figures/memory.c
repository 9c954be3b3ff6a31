/* memory.c: what was allocated, or a metric of the host, in the place of time, so that every report and page can
 * show it. */
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

static void describe(qp_run_info *run, const char *unit, const char *what)
{
    run->unit = unit;
    run->clock_text = what;
    run->source_text = "";
    run->time_mode = QP_TIME_EXACT;
    run->time_mode_text = "exact";
    run->clock_kind = QP_CLOCK_COUNTS;
    run->has_times = true;
    run->has_min_max = run->is_estimated = run->has_memory = false;
    run->has_waits = false;
    run->wall = run->stopped = 0;
    run->sample_period_ns = run->sample_period_reached_ns = run->n_passes = 0;
    run->coarse_period = 0;
}

/* What qp_figures.metric has takes the place of time. @return false: no memory */
static bool replace_times(qp_model_private *own, const char *unit, const char *what)
{
    describe(&own->model.run, unit, what);
    own->has_units = true;
    qp_free(own->self_variance);
    qp_free(own->total_variance);
    own->self_variance = own->total_variance = NULL;
    for (uint32_t i = 0; i < own->model.n_nodes; i++) {
        qp_figures *f = &own->nodes[i].f;
        *f = (qp_figures){.calls = f->calls,
                          .hits = f->hits,
                          .skips = f->skips,
                          .resumes = f->resumes,
                          .self = f->metric,
                          .counts = f->counts,
                          .pc_samples = f->pc_samples,
                          .min = UINT64_MAX};
    }
    for (uint32_t i = 1; i < own->model.n_threads; i++)
        own->threads[i].calls = own->threads[i].resumes = 0;
    if (!qp_derive_totals(own))
        return false;
    qp_load_sums(own);
    qp_run_info *run = &own->model.run; /* recording adds nothing to them */
    run->cost_total = run->cost_skipped = run->cost_caller_milliticks =
        run->cost_inside_milliticks = 0;
    return true;
}

static bool take_memory(qp_model_private *own, bool is_objects)
{
    for (uint32_t i = 0; i < own->model.n_nodes; i++) {
        qp_figures *f = &own->nodes[i].f;
        f->metric = is_objects ? f->memory.objects : f->memory.bytes;
    }
    return replace_times(own, is_objects ? "objects" : "bytes",
                         is_objects ? "allocated objects" : "allocated bytes");
}

bool qp_model_choose(qp_model *m, const char *value, qp_error *error)
{
    static const char *const names[][2] = {{"bytes", "alloc_space"},
                                           {"objects", "alloc_objects"}};
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(value, names[i][0]) != 0 && strcmp(value, names[i][1]) != 0)
            continue;
        if (!m->run.has_memory)
            return qp_error_fail(error, "no allocations were recorded (-allocations=yes)");
        return take_memory(m->own, i == 1) || qp_error_fail(error, "out of memory");
    }
    return strcmp(value, "time") == 0 ||
           qp_error_fail(error, "no value %.100s (available: time, bytes, objects)", value);
}

/* ---- metrics of the host ------------------------------------------------------------------- */

/* @return always false; the error lists the metrics */
static bool refuse(const qp_run_info *run, const char *name, qp_error *error)
{
    char names[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < run->n_metrics && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "",
                              run->metrics[i].name);
    return run->n_metrics
               ? qp_error_fail(error, "no metric %.100s (available: %s)", name, names)
               : qp_error_fail(error, "no metric %.100s: the host defined none", name);
}

bool qp_model_choose_metric(qp_model *m, const char *name, bool is_beside, qp_error *error)
{
    qp_model_private *own = m->own;
    size_t number = 0;
    while (number < m->run.n_metrics && strcmp(m->run.metrics[number].name, name) != 0)
        number++;
    if (number == m->run.n_metrics)
        return refuse(&m->run, name, error);
    for (uint32_t i = 0; i < m->n_nodes; i++)
        own->nodes[i].f.metric = 0;
    for (size_t i = 0; i < own->values.n; i++) {
        const qp_model_values *v = (const qp_model_values *)own->values.items + i;
        qp_figures *f = &own->nodes[v->node].f;
        f->metric = qp_sum(f->metric, v->values.sums[number]);
    }
    const qp_run_metric *metric = &m->run.metrics[number];
    if (is_beside)
        own->model.run.metric = metric;
    return is_beside ||
           replace_times(own, *metric->unit ? metric->unit : metric->name, metric->name) ||
           qp_error_fail(error, "out of memory");
}
