/* metrics.c: the metrics of the host: their names, and their sums. */
#include <stdio.h>

#include "base/containers/alloc.h"
#include "model/read/read.h"

enum { NAME_BYTES = 16 };

/* A metric whose name is missing has its number for a name. */
static void add_values(qp_model_private *own)
{
    for (size_t i = 0; i < own->values.n; i++) {
        const qp_model_values *v = (const qp_model_values *)own->values.items + i;
        for (unsigned k = 0; k < QP_METRICS; k++)
            own->metrics[k].sum = qp_sum(own->metrics[k].sum, v->values.sums[k]);
    }
    for (unsigned k = 0; k < QP_METRICS; k++) {
        qp_run_metric *metric = &own->metrics[k];
        char *name = own->metric_names + (size_t)k * NAME_BYTES;
        if (metric->sum || metric->name)
            own->model.run.n_metrics = k + 1;
        if (metric->name)
            continue;
        snprintf(name, NAME_BYTES, "metric %u", k + 1);
        metric->name = name;
        metric->unit = "";
    }
}

bool qp_load_metrics(qp_model_private *own)
{
    const qp_bytes all = qp_image_bytes(&own->image);
    const qp_metric *metric;
    unsigned n_left = QP_METRICS; /* a circular list would never end */
    own->metrics = qp_alloc_zeroed(QP_METRICS, sizeof *own->metrics);
    own->metric_names = qp_alloc_zeroed(QP_METRICS, NAME_BYTES);
    if (!own->metrics || !own->metric_names)
        return false;
    for (qp_ref ref = qp_image_head(&own->image)->metrics; ref; ref = metric->next) {
        metric = qp_bytes_at(all, ref, sizeof *metric);
        if (!metric || n_left-- == 0 || metric->number - 1 >= QP_METRICS) {
            own->n_losses[QP_LOSS_notes]++;
            break;
        }
        qp_run_metric *to = &own->metrics[metric->number - 1];
        to->name = qp_load_text(own, metric->name);
        to->unit = qp_load_text(own, metric->unit);
    }
    add_values(own);
    own->model.run.metrics = own->metrics;
    return true;
}
