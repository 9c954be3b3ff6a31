/* quantify.c: the export file of Quantify: a record a line, of a keyword and fields with a
 * tab between them. The first lines say what the fields are. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "export/shared/profile.h"
#include "model/figures/figures.h"

/* A field of text; tabs are between fields only, and spreadsheets open such files. @return false: no memory */
static bool write_field(qp_out *out, const char *text)
{
    char *field = qp_alloc_text(text);
    if (!field)
        return false;
    for (char *tab = strchr(field, '\t'); tab; tab = strchr(tab, '\t'))
        *tab = ' ';
    qp_out_text(out, qp_text_is_formula(text) ? "\t'" : "\t");
    qp_text_line(out, field, "");
    qp_free(field);
    return true;
}

static void write_number(qp_out *out, uint64_t number)
{
    qp_out_format(out, "\t%" PRIu64, number);
}

static bool write_head(const qp_model *m, qp_out *out)
{
    const qp_run_info *run = &m->run;
    bool is_ns = strcmp(run->unit, "ns") == 0;
    qp_out_text(out, "Comment\tqprof " QPROF_VERSION_TEXT ", times in ");
    qp_out_text(out, run->unit);
    qp_out_text(out, "\nKeyword\tProgram\tname\tpid\tmachine\tclock rate\tversion\n"
                     "Keyword\tFunction\tname\tfile\tcalls\ttime\tF+D\tmin\tmax\n"
                     "Keyword\tCaller\tfunction\tcaller\tcalls\tpropagated\nProgram");
    bool is_written = write_field(out, run->program);
    write_number(out, run->pid);
    is_written = is_written && write_field(out, run->host);
    write_number(out, is_ns ? 1000000000 : 1);
    is_written = is_written && write_field(out, run->version);
    qp_out_char(out, '\n');
    return is_written;
}

static bool write_function(const qp_model *m, qp_out *out, uint32_t method, const qp_figures *f)
{
    const qp_model_method *x = &m->methods[method];
    qp_out_text(out, "Function");
    bool is_written = write_field(out, x->name) && write_field(out, x->file);
    write_number(out, f->calls);
    write_number(out, qp_model_ns(m, f->self));
    write_number(out, qp_model_ns(m, f->total));
    if (m->run.has_min_max && f->min <= f->max) {
        write_number(out, qp_model_ns(m, f->min));
        write_number(out, qp_model_ns(m, f->max));
    } else
        qp_out_text(out, "\t\t");
    qp_out_char(out, '\n');
    return is_written;
}

static bool write_caller(const qp_model *m, qp_out *out, const qp_pair *edge)
{
    qp_out_text(out, "Caller");
    bool is_written = write_field(out, m->methods[edge->callee].name) &&
                      write_field(out, m->methods[edge->caller].name);
    write_number(out, edge->calls);
    write_number(out, qp_model_ns(m, edge->time));
    qp_out_char(out, '\n');
    return is_written;
}

/* .root. has the sums of all; it is a function if hidden callees left it self time. */
static void keep_self_of_root(const qp_model *m, qp_figures *flat)
{
    qp_figures *root = &flat[QP_ROOT_METHOD];
    root->calls = root->max = 0;
    root->min = UINT64_MAX;
    for (uint32_t i = 1; i < m->n_methods; i++)
        root->self -= flat[i].self;
}

bool qp_export_quantify(const qp_model *m, qp_out *out, const qp_export_options *o,
                        qp_error *error)
{
    qp_pair *edges = NULL;
    size_t n_edges = 0, at = 0;
    bool *is_listed = NULL;
    qp_figures *flat = qp_alloc_zeroed(m->n_methods, sizeof *flat);
    bool is_written = flat && qp_model_flat(m, o->thread, flat) &&
                      qp_export_methods(m, o->thread, &is_listed) &&
                      qp_model_caller_pairs(m, o->thread, &edges, &n_edges) &&
                      write_head(m, out);
    if (is_written) {
        keep_self_of_root(m, flat);
        is_listed[QP_ROOT_METHOD] = flat[QP_ROOT_METHOD].self > 0;
    }
    for (uint32_t i = 0; is_written && i < m->n_methods; i++) {
        is_written = !is_listed[i] || write_function(m, out, i, &flat[i]);
        for (; is_written && at < n_edges && edges[at].callee == i; at++)
            is_written = !is_listed[i] || write_caller(m, out, &edges[at]);
    }
    qp_free(is_listed);
    qp_free(edges);
    qp_free(flat);
    return is_written || qp_error_fail(error, "out of memory");
}
