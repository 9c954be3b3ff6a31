/* profile_csv.c: a row a call path, callers before callees, with all that is known of it. */
#include <inttypes.h>

#include "base/text.h"
#include "export/profile.h"

static void write_texts(qp_out *out, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        qp_out_char(out, ',');
        qp_text_csv(out, texts[i]);
    }
}

static void write_path(const qp_model *m, qp_out *out, uint32_t path)
{
    const qp_model_node *n = &m->nodes[path];
    const qp_model_method *x = &m->methods[n->method];
    const qp_model_thread *th = &m->threads[n->thread];
    const qp_figures *f = &n->f;
    const char *const texts[] = {x->name, x->class_name, x->module, x->file};
    bool has_min_max = m->run.has_min_max && f->min <= f->max;
    qp_out_format(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, path, n->parent,
                  n->depth, th->ordinal);
    write_texts(out, &th->name, 1);
    write_texts(out, texts, sizeof texts / sizeof *texts);
    qp_out_format(out, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                  x->first_line, f->calls, f->hits, f->skips, qp_model_ns(m, f->self),
                  qp_model_ns(m, f->total));
    if (has_min_max)
        qp_out_format(out, ",%" PRIu64 ",%" PRIu64, qp_model_ns(m, f->min),
                      qp_model_ns(m, f->max));
    else
        qp_out_text(out, ",,");
    qp_out_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\r\n",
                  qp_model_ns(m, f->self_half), qp_model_ns(m, f->total_half), f->counts,
                  f->samples);
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    const char *unit = m->run.unit;
    (void)error;
    qp_out_format(out,
                  "path,parent,depth,thread,thread_name,function,class,module,file,line,calls,"
                  "hits,skips,self_%s,total_%s,min_%s,max_%s,self_half_%s,total_half_%s,counts,"
                  "samples\r\n",
                  unit, unit, unit, unit, unit, unit);
    for (uint32_t i = 1; i < m->n_nodes; i++)
        if (o->thread == QP_ALL_THREADS || m->nodes[i].thread == o->thread)
            write_path(m, out, i);
    return true;
}

const qp_exporter qp_export_csv = {.name = "csv",
                                   .suffix = ".csv",
                                   .summary = "spreadsheets and databases: a row a call path",
                                   .limits = "figures of lines and blocks, facts about the run",
                                   .write = write};
