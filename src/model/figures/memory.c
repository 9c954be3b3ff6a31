/* memory.c: what was allocated in the place of time, so that every report and page can show it. */
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

static void describe(qp_run_info *run, bool is_objects)
{
    run->unit = is_objects ? "objects" : "bytes";
    run->clock_text = is_objects ? "allocated objects" : "allocated bytes";
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

/* @return false: no memory */
static bool take_memory(qp_model_private *own, bool is_objects)
{
    describe(&own->model.run, is_objects);
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
                          .self = is_objects ? f->memory.objects : f->memory.bytes,
                          .counts = f->counts,
                          .pc_samples = f->pc_samples,
                          .min = UINT64_MAX};
    }
    for (uint32_t i = 1; i < own->model.n_threads; i++)
        own->threads[i].calls = own->threads[i].resumes = 0;
    if (!qp_derive_totals(own))
        return false;
    qp_load_sums(own);
    qp_run_info *run = &own->model.run; /* recording allocates nothing */
    run->cost_total = run->cost_caller_milliticks = run->cost_inside_milliticks = 0;
    return true;
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
