/* folded.c: collapsed stacks, a path a line: "main;work;leaf 20". For flamegraph.pl, inferno
 * and everything that reads their input.
 *
 * ';' and the last number of a line mean something: names have ':' for the one, and a '_' before a
 * number at their end, which a reader of differences would take for a count. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "export/shared/profile.h"

/* Where a blank and a number end the name; its end: nowhere. */
static size_t number_at_end(const char *name)
{
    size_t n = strlen(name), at = n;
    while (at > 0 && strchr("0123456789.", name[at - 1]))
        at--;
    return at > 0 && at < n && name[at - 1] == ' ' ? at - 1 : n;
}

static void write_name(qp_out *out, const char *name)
{
    size_t blank = number_at_end(name), n;
    for (size_t at = 0; name[at]; at += n) {
        uint32_t code;
        n = qp_text_char(name + at, strlen(name + at), &code);
        if (name[at] == ';')
            qp_out_char(out, ':');
        else if (at == blank)
            qp_out_char(out, '_');
        else if (name[at] == '\n')
            qp_out_char(out, ' ');
        else {
            char piece[8] = "";
            memcpy(piece, name + at, n);
            qp_text_line(out, piece, "");
        }
    }
}

bool qp_export_folded(const qp_model *m, qp_out *out, const qp_export_options *o,
                      qp_error *error)
{
    qp_export_path *paths;
    size_t n_paths;
    uint32_t frames[QP_EXPORT_FRAMES], n_threads = 0;
    qp_measure measure = qp_export_measure(m, o);
    if (!qp_export_paths(m, o->thread, &paths, &n_paths))
        return qp_error_fail(error, "out of memory");
    for (uint32_t i = 1; i < m->n_threads; i++)
        n_threads += qp_export_has_thread(m, i, o);
    for (size_t i = 0; i < n_paths; i++) {
        const qp_export_path *p = &paths[i];
        uint64_t value = qp_measure_units(measure, m, qp_measure_self(measure, &p->f));
        if (value == 0)
            continue;
        if (n_threads > 1) {
            write_name(out, qp_export_thread_name(m, m->nodes[p->node].thread));
            qp_out_char(out, ';');
        }
        for (uint32_t k = qp_export_frames(m, p->node, frames); k-- > 0;) {
            write_name(out, m->methods[frames[k]].name);
            qp_out_char(out, k ? ';' : ' ');
        }
        qp_out_format(out, "%" PRIu64 "\n", value);
    }
    qp_free(paths);
    return true;
}
