/* csv.c: a row a call path, callers before callees, with all that is known of it. */
#include <inttypes.h>

#include "base/text/text.h"
#include "export/shared/profile.h"

static void write_texts(qp_out *out, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        qp_out_char(out, ',');
        qp_text_csv(out, texts[i]);
    }
}

/* Fields are empty where nothing is known. */
static void write_counts(qp_out *out, bool is_known, const uint64_t *counts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        qp_out_char(out, ',');
        if (is_known)
            qp_out_format(out, "%" PRIu64, counts[i]);
    }
}

static void write_times(const qp_model *m, qp_out *out, bool is_known, const uint64_t *ticks,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t time = qp_model_ns(m, ticks[i]);
        write_counts(out, is_known, &time, 1);
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
    qp_out_format(out, ",%" PRIu32, x->first_line);
    write_counts(out, m->run.has_calls, (const uint64_t[]){f->calls, f->hits, f->skips}, 3);
    write_times(m, out, true, (const uint64_t[]){f->self, f->total}, 2);
    write_times(m, out, has_min_max, (const uint64_t[]){f->min, f->max}, 2);
    write_times(m, out, true, (const uint64_t[]){f->self_half, f->total_half}, 2);
    write_counts(out, true, (const uint64_t[]){f->counts, f->samples}, 2);
    write_counts(out, m->run.pc_period_ns, &f->interrupts, 1);
    qp_out_text(out, "\r\n");
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o, qp_error *error)
{
    const char *unit = m->run.unit;
    (void)error;
    qp_out_format(out,
                  "path,parent,depth,thread,thread_name,function,class,module,file,line,calls,"
                  "hits,skips,self_%s,total_%s,min_%s,max_%s,self_half_%s,total_half_%s,counts,"
                  "samples,interrupts\r\n",
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
