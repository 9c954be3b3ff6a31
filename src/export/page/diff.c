/* diff.c: the profile page of two runs: the functions and threads of either, how they differ, and
 * the call paths of both in one tree. */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "export/page/profile.h"

/* ---- call paths ------------------------------------------------------------------------------ */

typedef struct {
    const qp_html *page;
    qp_buf paths;       /* qp_html_path */
    qp_dict by_caller;  /* parent and method -> path */
    qp_dict by_creator; /* root of a thread and the path that created it -> a caller's number */
    uint32_t n_created; /* of these */
    const qp_model *m;  /* the run that is added */
    qp_diff_side side;
    uint32_t *functions; /* [m->n_methods] rows */
    uint32_t *to;        /* [m->n_nodes] paths; 0: nothing was recorded there */
} join;

/* What takes the caller's place in by_caller: threads of one name that were created in different places
 * have outermost paths of their own. @return 0: no memory */
static uint32_t caller_of(join *j, uint32_t parent, uint32_t creator)
{
    const uint64_t key = (uint64_t)parent << 32 | creator;
    uint32_t number = creator ? qp_dict_get(&j->by_creator, key) : parent;
    if (number)
        return number;
    number = UINT32_MAX - j->n_created++; /* no path has it */
    return qp_dict_put(&j->by_creator, key, number) ? number : 0;
}

/* @return 0: no memory */
static uint32_t path_below(join *j, uint32_t parent, uint32_t creator, uint32_t method)
{
    bool is_new;
    const uint32_t caller = caller_of(j, parent, creator);
    uint32_t number = caller ? qp_buf_keyed(&j->paths, &j->by_caller,
                                            (uint64_t)caller << 32 | method, &is_new)
                             : 0;
    if (number && is_new)
        ((qp_html_path *)j->paths.items)[number - 1] =
            (qp_html_path){.parent = parent, .creator = creator, .method = method};
    return number ? number - 1 : 0;
}

/* The path below which an outermost path of a thread is shown; 0: it has no creator, or a thread's root. */
static uint32_t creator_of(const join *j, uint32_t node)
{
    const uint32_t creator = qp_html_creator(j->page, j->m, node), path = j->to[creator];
    return creator && path >= j->page->threads->n_rows ? path : 0;
}

/* Add a path. A function without a row has figures of 0, and so has all below it; a path that
 * nothing was recorded for is left out, and its callees are put below its caller. */
static bool add_node(join *j, uint32_t i)
{
    const qp_model_node *n = &j->m->nodes[i];
    uint32_t function = j->functions[n->method];
    if (n->method == QP_ROOT_METHOD) {
        j->to[i] = qp_diff_thread(j->page->threads, j->m->threads[n->thread].name);
        return true;
    }
    j->to[i] = j->to[n->parent];
    if (!function || !j->to[n->parent] ||
        !(n->f.calls || n->f.total || n->f.memory_total.bytes))
        return true;
    j->to[i] = path_below(j, j->to[n->parent], creator_of(j, i), function);
    if (!j->to[i])
        return false;
    qp_html_path *path = (qp_html_path *)j->paths.items + j->to[i];
    path->sides[j->side].calls += n->f.calls;
    path->sides[j->side].self += n->f.self;
    path->sides[j->side].off += n->f.off;
    path->sides[j->side].bytes += n->f.memory.bytes;
    path->sides[j->side].objects += n->f.memory.objects;
    return true;
}

static bool add_run(join *j, const qp_model *m, qp_diff_side side)
{
    j->m = m;
    j->side = side;
    j->functions = qp_alloc_zeroed(m->n_methods, sizeof *j->functions);
    j->to = qp_alloc_zeroed(m->n_nodes, sizeof *j->to);
    bool is_good = j->functions && j->to;
    for (uint32_t i = 1; is_good && i < m->n_methods; i++)
        j->functions[i] = qp_diff_function(j->page->functions, side, i);
    for (uint32_t i = 1; is_good && i < m->n_nodes; i++)
        is_good = add_node(j, i);
    qp_free(j->functions);
    qp_free(j->to);
    return is_good;
}

/* Threads that share a name are one. */
static bool join_paths(qp_html *page)
{
    size_t n;
    join j = {.page = page, .paths = QP_BUF(qp_html_path)};
    bool is_good = qp_buf_add_many(&j.paths, page->threads->n_rows) &&
                   add_run(&j, page->how->base, QP_DIFF_BASE) &&
                   add_run(&j, page->m, QP_DIFF_NEW);
    qp_dict_fini(&j.by_caller);
    qp_dict_fini(&j.by_creator);
    page->paths = qp_buf_take(&j.paths, &n);
    page->n_paths = (uint32_t)n;
    return is_good && page->paths;
}

bool qp_html_compare(qp_html *page, qp_error *error)
{
    if (!page->how->base)
        return true;
    page->functions = page->how->functions;
    page->threads = page->how->threads;
    return join_paths(page) || qp_error_fail(error, "out of memory");
}

void qp_html_compare_end(qp_html *page)
{
    qp_free(page->paths);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void write_method(qp_out *out, const qp_diff_row *row, uint32_t i)
{
    (void)i;
    QP_PAGE_TEXTS(out, false, row->name, row->module, row->file);
    QP_PAGE_NUMBERS(out, true, row->line, row->calls.sides[QP_DIFF_NEW],
                    row->self.sides[QP_DIFF_NEW], row->total.sides[QP_DIFF_NEW],
                    1, /* shortest and longest call: none */
                    0, 0, 0);
}

static void write_change(qp_out *out, const qp_diff_row *row, uint32_t i)
{
    (void)i;
    const qp_diff_figure *figures[] = {&row->calls, &row->self, &row->total, &row->self_run,
                                       &row->total_run};
    enum { RUN_TIMES = 3 };
    qp_page_number(out, false, row->state);
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        if (k >= RUN_TIMES)
            qp_page_number(out, true, figures[k]->sides[QP_DIFF_NEW]);
        QP_PAGE_NUMBERS(out, true, figures[k]->sides[QP_DIFF_BASE], figures[k]->noise);
    }
}

/* What only one of the runs knows of a thread, its number, state and depth, is left out. */
static void write_thread(qp_out *out, const qp_diff_row *row, uint32_t root)
{
    qp_page_text(out, row->name);
    QP_PAGE_NUMBERS(out, true, root, row->total.sides[QP_DIFF_NEW],
                    row->calls.sides[QP_DIFF_NEW], 0, 0, 0, 0, 0,
                    row->total.sides[QP_DIFF_BASE], row->calls.sides[QP_DIFF_BASE]);
}

/* Row i of a comparison is function i of the page, or the thread whose root is path i. */
static void write_rows(qp_out *out, const qp_diff *d, const char *key, uint32_t first,
                       void (*write)(qp_out *out, const qp_diff_row *row, uint32_t i))
{
    qp_page_table(out, key);
    for (uint32_t i = first; i < d->n_rows; i++) {
        qp_page_row(out, i > first);
        write(out, &d->rows[i], i);
        qp_page_close(out);
    }
    qp_page_close(out);
}

void qp_html_changes(qp_out *out, const qp_html *page)
{
    write_rows(out, page->functions, "methods", 0, write_method);
    write_rows(out, page->functions, "changes", 0, write_change);
    write_rows(out, page->threads, "threads", 1, write_thread);
}
