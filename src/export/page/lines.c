/* lines.c: annotated sources of the profile page: blocks of each function, and the texts. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "export/page/profile.h"
#include "model/figures/figures.h"

bool qp_html_files(qp_out *out, const qp_html *page)
{
    qp_model_file *files;
    size_t n;
    if (!qp_model_files(page->m, &files, &n))
        return false;
    qp_page_table(out, "files");
    for (size_t i = 0; i < n; i++) {
        qp_page_row(out, i > 0);
        qp_page_text(out, files[i].path);
        QP_PAGE_NUMBERS(out, true, qp_model_ns(page->m, files[i].self), files[i].n_methods);
        qp_page_close(out);
    }
    qp_page_close(out);
    qp_free(files);
    return true;
}

enum { FLAG_COUNTED = 1, FLAG_TIMED = 2 };

/* Times are ticks, so that the page adds up those of a line exactly. */
static bool write_blocks(qp_out *out, const qp_model *m, uint32_t method)
{
    qp_block_figures *blocks;
    size_t n;
    if (!qp_model_blocks(m, method, QP_ALL_THREADS, &blocks, &n))
        return false;
    bool is_more = false;
    qp_out_char(out, '[');
    qp_page_text(out, m->methods[method].name);
    qp_out_text(out, ",[");
    for (size_t i = 0; i < n; i++) {
        const qp_block_figures *b = &blocks[i];
        if (b->line <= 0)
            continue;
        QP_PAGE_NUMBERS(out, is_more, (uint64_t)b->line,
                        (b->is_counted ? FLAG_COUNTED : 0u) | (b->is_timed ? FLAG_TIMED : 0u),
                        b->count, b->self, b->total);
        is_more = true;
    }
    qp_out_text(out, "]]");
    qp_free(blocks);
    return true;
}

static bool write_lines(qp_out *out, const qp_model *m, const char *file)
{
    bool is_more = false, is_good = true;
    qp_out_char(out, '[');
    for (uint32_t i = 1; i < m->n_methods && is_good; i++) {
        const qp_model_method *x = &m->methods[i];
        if (!x->n_blocks || (x->file != file && strcmp(x->file, file) != 0))
            continue;
        qp_out_text(out, is_more ? ",\n" : "");
        is_good = write_blocks(out, m, i);
        is_more = true;
    }
    qp_out_char(out, ']');
    return is_good;
}

/* @return the name relative to the root, if the file lies below it */
static const char *shown(const char *file, const char *root)
{
    size_t n = root ? strlen(root) : 0;
    bool is_below = n && strncmp(file, root, n) == 0 && file[n] == '/';
    return is_below ? file + n + 1 : file;
}

bool qp_html_sources(qp_out *out, const qp_html *page)
{
    const qp_export_options *how = page->how;
    qp_model_file *files;
    size_t n;
    bool is_good = qp_model_files(page->m, &files, &n);
    for (size_t i = 0; is_good && i < n; i++) {
        const char *file = files[i].path;
        qp_page_block_of(out, 'l', i);
        is_good = write_lines(out, page->m, file);
        qp_page_block_end(out);
        qp_page_block_of(out, 's', i);
        qp_page_source(
            out, &(qp_page_file){shown(file, how->root), file, qp_model_digest(page->m, file)},
            how->source_path);
        qp_page_block_end(out);
    }
    qp_free(files);
    return is_good;
}
