/* cover_luacov.c: luacov.stats.out: for each file its last line, then a count for every line.
 *
 * luacov takes a number only if a blank follows, so there is one behind the last, too. It finds
 * out by itself which lines have code: 0 is all that it is told of the others. */
#include <inttypes.h>

#include "base/text.h"
#include "export/cover.h"

static void write_counts(qp_out *out, const qp_cover_file *f)
{
    uint32_t line = 1;
    for (uint32_t i = 0; i < f->n_lines; i++, line++) {
        const qp_cover_line *l = &f->lines[i];
        for (; line < l->line; line++)
            qp_out_text(out, "0 ");
        qp_out_format(out, "%" PRIu64 " ",
                      qp_cover_is_live(l) ? qp_cover_hits(l->is_hit, l->count) : 0);
    }
    qp_out_char(out, '\n');
}

static bool write(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    (void)o;
    (void)error;
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        if (f->n_lines == 0)
            continue;
        qp_out_format(out, "%" PRIu32 ":", f->lines[f->n_lines - 1].line);
        qp_text_line(out, f->path, "");
        qp_out_char(out, '\n');
        write_counts(out, f);
    }
    return true;
}

const qp_cover_exporter qp_cover_luacov = {
    .name = "luacov",
    .suffix = ".stats.out",
    .summary = "statistics of luacov: its reports, and adding to its runs",
    .limits = "which lines have code, branches, functions, blocks, contexts",
    .needs_lines = true,
    .write = write};
