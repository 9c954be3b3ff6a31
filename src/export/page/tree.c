/* tree.c: the call tree of the profile page: the paths of a run, or those of two runs.
 *
 * A million call paths are too large for JSON. The column of each figure is written as a whole,
 * because columns compress best. */
#include "export/page/profile.h"
#include "export/shared/gzip.h"

/* A figure of a row; rows begin at 1, callers before callees. */
typedef uint64_t (*column)(const qp_html *page, uint32_t row);

#define COLUMN(name, value)                                                                    \
    static uint64_t name(const qp_html *page, uint32_t i)                                      \
    {                                                                                          \
        return value;                                                                          \
    }
COLUMN(node_parent, i - page->m->nodes[i].parent)
COLUMN(node_method, page->m->nodes[i].method)
COLUMN(node_calls, page->m->nodes[i].f.calls)
COLUMN(node_self, page->m->nodes[i].f.self)
COLUMN(path_parent, i - page->paths[i].parent)
COLUMN(path_function, page->paths[i].method)
COLUMN(path_calls, page->paths[i].sides[QP_DIFF_NEW].calls)
COLUMN(path_self, page->paths[i].sides[QP_DIFF_NEW].self)
COLUMN(base_calls, page->paths[i].sides[QP_DIFF_BASE].calls)
COLUMN(base_self, page->paths[i].sides[QP_DIFF_BASE].self)

static const column of_one[] = {node_parent, node_method, node_calls, node_self, NULL};
static const column of_two[] = {path_parent, path_function, path_calls, path_self,
                                base_calls,  base_self,     NULL};

uint32_t qp_html_nodes(const qp_html *page)
{
    return page->paths ? page->n_paths : page->m->n_nodes;
}

bool qp_html_tree(qp_out *out, const qp_html *page)
{
    uint32_t n = qp_html_nodes(page);
    qp_out_text(out, "<script type=\"application/gzip;base64\" id=\"nodes\">");
    qp_gzip *z = qp_gzip_new_base64(out);
    if (!z)
        return false;
    for (const column *c = page->paths ? of_two : of_one; *c; c++)
        for (uint32_t i = 1; i < n; i++)
            qp_gzip_varint(z, (*c)(page, i));
    qp_gzip_end(z);
    qp_page_block_end(out);
    return true;
}
