/* html.h: what the parts of the profile page share. web/src/profile/data.ts is the other side of all
 * that they write. */
#ifndef QP_EXPORT_HTML_H
#define QP_EXPORT_HTML_H

#include "export/profile.h"
#include "model/diff.h"

typedef struct {
    const qp_model *m;
    qp_diff *functions, *paths; /* NULL: one run is shown */
    const qp_export_options *how;
} qp_html;

/* ---- html_tree.c --------------------------------------------------------------------------- */

/* The call tree: columns of varints, compressed; too large for JSON. @return false: no memory */
bool qp_html_tree(qp_out *out, const qp_html *page);
uint32_t qp_html_nodes(const qp_html *page); /* the run's root is one */

/* ---- html_diff.c --------------------------------------------------------------------------- */

/* Compare, if there is a run to compare with. @return false: see error */
bool qp_html_compare(qp_html *page, char error[QP_ERROR_BYTES]);
void qp_html_compare_end(qp_html *page);
/* ,"methods":[...] and ,"changes":[...], a row of each for a function of either run. */
void qp_html_changes(qp_out *out, const qp_html *page);

/* ---- html_lines.c -------------------------------------------------------------------------- */

/* ,"files":[...] of the index; then a block for the figures and one for the text of each.
 * @return false: no memory */
bool qp_html_files(qp_out *out, const qp_html *page);
bool qp_html_sources(qp_out *out, const qp_html *page);

#endif
