/* csv.c: a row a call path, callers before callees, with all that is known of it. */
#include "export/shared/profile.h"
#include "export/shared/run_rows.h"

bool qp_export_csv(const qp_model *m, qp_out *out, const qp_export_options *o, qp_error *error)
{
    qp_csv csv;
    (void)error;
    qp_csv_begin(
        &csv, out, qp_path_fields,
        "id:path parent depth thread thread_name function class module file line calls "
        "hits skips self total min max self_half total_half counts samples "
        "pc_samples resumes self_run self_off total_run total_off bytes bytes_total objects "
        "objects_total freed_bytes freed_bytes_total freed_objects freed_objects_total",
        qp_run_has_any(&m->run), m->run.unit);
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        if (o->thread != QP_ALL_THREADS && m->nodes[i].thread != o->thread)
            continue;
        qp_path_row row = qp_path_row_of(m, i, 0);
        qp_figures_row_blank(&row.figures, &m->run);
        qp_csv_row(&csv, &row);
    }
    return true;
}
