/* luacov.c: luacov.stats.out: for each file its last line, then a count for every line.
 * A profile may claim any number of lines: MAX_LINES limits what is written.
 *
 * luacov takes a number only if a blank follows, so one also follows the last. It finds out itself
 * which lines have code; the others get 0. */
#include <inttypes.h>

#include "base/text/text.h"
#include "export/shared/coverage.h"

enum { MAX_LINES = 1000000 };

/* How many of the lines that have code are written? */
static uint32_t count_lines(const qp_cover_file *f)
{
    uint32_t n = f->n_lines;
    while (n > 0 && f->lines[n - 1].line > MAX_LINES)
        n--;
    return n;
}

static void write_counts(qp_out *out, const qp_cover_file *f, uint32_t n)
{
    uint32_t line = 1;
    for (uint32_t i = 0; i < n; i++, line++) {
        const qp_cover_line *l = &f->lines[i];
        for (; line < l->line; line++)
            qp_out_text(out, "0 ");
        qp_out_format(out, "%" PRIu64 " ",
                      qp_cover_is_live(l) ? qp_cover_hits(l->is_hit, l->count) : 0);
    }
    qp_out_char(out, '\n');
}

bool qp_cover_luacov(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                     qp_error *error)
{
    (void)o;
    (void)error;
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        uint32_t n = count_lines(f);
        if (n == 0)
            continue;
        qp_out_format(out, "%" PRIu32 ":", f->lines[n - 1].line);
        qp_text_line(out, f->path, "");
        qp_out_char(out, '\n');
        write_counts(out, f, n);
    }
    return true;
}
