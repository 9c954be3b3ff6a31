/* html_tree.c: the call tree of the profile page: the paths of a run, or those of two runs.
 *
 * A million call paths are too large for JSON. Each figure of all paths stands together, because that
 * is how they compress best. */
#include "export/gzip.h"
#include "export/html.h"
#include "export/page.h"

/* A figure of a row; rows begin at 1, and callers stand before callees. */
typedef uint64_t (*column)(const qp_html *page, uint32_t row);

static uint64_t node_parent(const qp_html *page, uint32_t i)
{
    return i - page->m->nodes[i].parent;
}

static uint64_t node_method(const qp_html *page, uint32_t i)
{
    return page->m->nodes[i].method;
}

static uint64_t node_calls(const qp_html *page, uint32_t i)
{
    return page->m->nodes[i].f.calls;
}

static uint64_t node_self(const qp_html *page, uint32_t i)
{
    return page->m->nodes[i].f.self;
}

static uint64_t path_parent(const qp_html *page, uint32_t i)
{
    return i - page->paths[i].parent;
}

static uint64_t path_function(const qp_html *page, uint32_t i)
{
    return page->paths[i].method;
}

static uint64_t path_calls(const qp_html *page, uint32_t i)
{
    return page->paths[i].sides[QP_DIFF_NEW].calls;
}

static uint64_t path_self(const qp_html *page, uint32_t i)
{
    return page->paths[i].sides[QP_DIFF_NEW].self;
}

static uint64_t base_calls(const qp_html *page, uint32_t i)
{
    return page->paths[i].sides[QP_DIFF_BASE].calls;
}

static uint64_t base_self(const qp_html *page, uint32_t i)
{
    return page->paths[i].sides[QP_DIFF_BASE].self;
}

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
