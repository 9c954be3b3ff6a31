/* html_diff.c: the profile page of two runs: the functions of either, and how they differ. */
#include "base/buf.h"
#include "export/html.h"
#include "export/page.h"

static bool compare(qp_diff **d, qp_diff_kind kind, const qp_html *page)
{
    *d = qp_diff_new(kind, false);
    return *d && qp_diff_add(*d, QP_DIFF_BASE, page->how->base, QP_ALL_THREADS) &&
           qp_diff_add(*d, QP_DIFF_NEW, page->m, QP_ALL_THREADS) && qp_diff_finish(*d);
}

bool qp_html_compare(qp_html *page, char error[QP_ERROR_BYTES])
{
    if (!page->how->base)
        return true;
    if (!compare(&page->functions, QP_DIFF_FUNCTIONS, page) ||
        !compare(&page->paths, QP_DIFF_PATHS, page))
        return qp_export_fails(error);
    return true;
}

void qp_html_compare_end(qp_html *page)
{
    qp_diff_free(page->functions);
    qp_diff_free(page->paths);
}

static void write_method(qp_out *out, const qp_diff_row *row)
{
    const uint64_t figures[] = {row->line,
                                row->calls.sides[QP_DIFF_NEW],
                                row->self.sides[QP_DIFF_NEW],
                                row->total.sides[QP_DIFF_NEW],
                                1, /* shortest and longest call: none */
                                0,
                                0,
                                0};
    qp_page_text(out, row->name);
    qp_out_char(out, ',');
    qp_page_text(out, row->module);
    qp_out_char(out, ',');
    qp_page_text(out, row->file);
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        qp_page_number(out, true, figures[k]);
}

static void write_change(qp_out *out, const qp_diff_row *row)
{
    const qp_diff_figure *figures[] = {&row->calls, &row->self, &row->total};
    qp_page_number(out, false, row->state);
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        qp_page_number(out, true, figures[k]->sides[QP_DIFF_BASE]);
        qp_page_number(out, true, figures[k]->noise);
    }
}

/* Row i of a comparison of functions is function i: both count them as they come. */
static void write_rows(qp_out *out, const qp_html *page, const char *key,
                       void (*write)(qp_out *out, const qp_diff_row *row))
{
    qp_out_format(out, ",\"%s\":[", key);
    for (uint32_t i = 0; i < page->functions->n_rows; i++) {
        qp_out_text(out, i ? ",\n[" : "[");
        write(out, &page->functions->rows[i]);
        qp_out_char(out, ']');
    }
    qp_out_char(out, ']');
}

void qp_html_changes(qp_out *out, const qp_html *page)
{
    write_rows(out, page, "methods", write_method);
    write_rows(out, page, "changes", write_change);
}
