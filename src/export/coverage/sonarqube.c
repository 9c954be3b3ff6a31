/* sonarqube.c: SonarQube's generic test coverage: each line covered or not, its branches. */
#include <inttypes.h>

#include "base/text/text.h"
#include "export/shared/coverage.h"

static void write_line(qp_out *out, const qp_cover_line *l)
{
    qp_out_format(out, "<lineToCover lineNumber=\"%" PRIu32 "\" covered=\"%s\"", l->line,
                  l->is_hit ? "true" : "false");
    if (l->n_branches)
        qp_out_format(out, " branchesToCover=\"%" PRIu32 "\" coveredBranches=\"%" PRIu32 "\"",
                      l->n_branches, l->n_branches_hit);
    qp_out_text(out, "/>\n");
}

bool qp_cover_sonarqube(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                        qp_error *error)
{
    (void)o;
    (void)error;
    qp_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<coverage version=\"1\">\n");
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        qp_out_text(out, "<file path=\"");
        qp_text_xml(out, f->path);
        qp_out_text(out, "\">\n");
        for (uint32_t k = 0; k < f->n_lines; k++)
            if (qp_cover_is_live(&f->lines[k]))
                write_line(out, &f->lines[k]);
        qp_out_text(out, "</file>\n");
    }
    qp_out_text(out, "</coverage>\n");
    return true;
}
