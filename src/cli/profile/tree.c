/* tree.c: `qprof tree`: the call tree, the parts of it that matter. No recursion: trees may be
 * millions of levels deep. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "cli/show/show.h"
#include "model/figures/figures.h"

enum {
    GUIDE_LEVELS = 40, /* deeper rows have a number instead */
    LONGEST_CYCLE = 4, /* functions in turn that are collapsed */
    ROWS_SHOWN = 400   /* without --limit */
};

typedef struct {
    qp_document about;
    const qp_view *v;
} document;

/* A node that waits to be printed. */
typedef struct {
    uint32_t node, level;
    bool is_last; /* of its siblings that are shown */
} entry;

typedef struct {
    const qp_cli *cli;
    const qp_view *v;
    qp_listing listing;
    uint64_t smallest;     /* ticks of total that a row has at least */
    uint64_t *calls_below; /* [n_nodes] in a run without times; else NULL */
    bool *is_on_path;      /* [n_nodes] --hottest: only these; else NULL */
    uint32_t deepest;      /* levels shown; 0: all */
    entry *stack;
    size_t n_stack, room;
    bool *guides; /* [GUIDE_LEVELS] has more siblings to come */
    uint64_t n_rows, n_left_out;
    bool has_failed;
} walk;

/* Time with descendants or, in a run without times, calls with descendants. */
static uint64_t weight(const walk *w, uint32_t node)
{
    return w->calls_below ? w->calls_below[node] : qp_view_total(w->v, node);
}

/* The same, without time off the processor: what siblings are sorted by. */
static uint64_t run_weight(const walk *w, uint32_t node)
{
    uint64_t whole = weight(w, node), off = w->v->m->nodes[node].f.off_total;
    return w->calls_below || off > whole ? whole : whole - off;
}

static bool sum_calls(walk *w)
{
    const qp_model *m = w->v->m;
    w->calls_below = qp_alloc_zeroed(m->n_nodes, sizeof *w->calls_below);
    for (uint32_t i = m->n_nodes; w->calls_below && i-- > 1;) {
        w->calls_below[i] += m->nodes[i].f.calls;
        w->calls_below[m->nodes[i].parent] += w->calls_below[i];
    }
    return w->calls_below != NULL;
}

static bool is_shown(const walk *w, uint32_t node)
{
    return weight(w, node) >= w->smallest && (!w->is_on_path || w->is_on_path[node]);
}

static int compare_weight(const void *a, const void *b, void *data)
{
    uint32_t node_x = ((const entry *)a)->node, node_y = ((const entry *)b)->node;
    uint64_t x = run_weight(data, node_x), y = run_weight(data, node_y);
    if (x == y) {
        x = weight(data, node_x);
        y = weight(data, node_y);
    }
    return x == y ? 0 : x > y ? -1 : 1;
}

/* Children of a node onto the stack, the heaviest on top. @return how many */
static size_t push_children(walk *w, uint32_t node, uint32_t level)
{
    const qp_model_node *nodes = w->v->m->nodes;
    size_t first = w->n_stack;
    for (uint32_t kid = nodes[node].first_child; kid; kid = nodes[kid].next_sibling) {
        if (!is_shown(w, kid)) {
            w->n_left_out++;
            continue;
        }
        if (w->n_stack == w->room) {
            size_t room = w->room ? w->room * 2 : 256;
            entry *stack = qp_realloc(w->stack, room, sizeof *stack);
            w->has_failed |= !stack;
            if (!stack)
                return 0;
            w->stack = stack;
            w->room = room;
        }
        w->stack[w->n_stack++] = (entry){kid, level, false};
    }
    size_t n = w->n_stack - first;
    if (n == 0)
        return 0;
    qsort_r(w->stack + first, n, sizeof *w->stack, compare_weight, w);
    w->stack[w->n_stack - 1].is_last = true;
    for (size_t i = 0; i < n / 2; i++) {
        entry swapped = w->stack[first + i];
        w->stack[first + i] = w->stack[w->n_stack - 1 - i];
        w->stack[w->n_stack - 1 - i] = swapped;
    }
    return n;
}

/* The one child that is shown; 0: none or several. */
static uint32_t only_child(const walk *w, uint32_t node)
{
    const qp_model_node *nodes = w->v->m->nodes;
    uint32_t only = 0;
    for (uint32_t kid = nodes[node].first_child; kid; kid = nodes[kid].next_sibling) {
        if (is_shown(w, kid) && only)
            return 0;
        if (is_shown(w, kid))
            only = kid;
    }
    return only;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Guides of a row into `to`. */
static void print_guides(const walk *w, char *to, size_t n_bytes, const entry *e)
{
    const qp_screen *s = &w->cli->screen;
    size_t n = 0;
    to[0] = '\0';
    if (e->level > GUIDE_LEVELS) {
        char count[QP_NUMBER_BYTES];
        snprintf(to, n_bytes, "[%s deep] ", qp_unit_count(count, e->level));
        return;
    }
    for (uint32_t i = 1; i < e->level; i++)
        n += (size_t)snprintf(to + n, n_bytes - n, "%s",
                              w->guides[i] ? qp_screen_sign(s, QP_SIGN_PIPE) : "   ");
    if (e->level > 0)
        snprintf(to + n, n_bytes - n, "%s",
                 qp_screen_sign(s, e->is_last ? QP_SIGN_LAST : QP_SIGN_FORK));
}

/* The columns in front of the call tree, from left to right. */
typedef struct {
    double percent, percent_half;
    uint64_t total, off, self, calls, resumes, total_half, self_half, bytes_total, bytes;
} figures_row;

#define AT(member)   QP_FIELD_AT(figures_row, member)
#define HALF(member) QP_FIELD_HALF(figures_row, member)
static const qp_field columns[] = {
    {"percent", "Total %", NULL, QP_FIELD_PERCENT, AT(percent), HALF(percent_half),
     .flags = QP_FIELD_HOT, .needs = QP_HAS_TIMES},
    {"total", "Total", NULL, QP_FIELD_TIME, AT(total), HALF(total_half), .rank = 1,
     .needs = QP_HAS_TIMES},
    {"total_off", "Wait", NULL, QP_FIELD_TIME, AT(off), .rank = 2,
     .needs = QP_HAS_TIMES | QP_HAS_WAITS},
    {"self", "Self", NULL, QP_FIELD_TIME, AT(self), HALF(self_half), .rank = 2,
     .needs = QP_HAS_TIMES},
    {"bytes_total", "Bytes total", NULL, QP_FIELD_COUNT, AT(bytes_total), .rank = 4,
     .needs = QP_HAS_MEMORY},
    {"bytes", "Bytes", NULL, QP_FIELD_COUNT, AT(bytes), .rank = 5, .needs = QP_HAS_MEMORY},
    {"calls", "Calls", NULL, QP_FIELD_COUNT, AT(calls), .rank = 3, .needs = QP_HAS_CALLS},
    {"resumes", "Resumes", NULL, QP_FIELD_COUNT, AT(resumes), .rank = 3, .needs = QP_HAS_CALLS},
    {.key = NULL}};
#undef AT
#undef HALF

static bool has_resumes(const qp_model *m)
{
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++)
        if (m->nodes[i].f.resumes)
            return true;
    return false;
}

/* Its intervals are those of the node. */
static void add_figures(walk *w, uint32_t node, uint64_t self, uint64_t calls, uint64_t resumes,
                        uint64_t bytes)
{
    uint64_t total = qp_view_total(w->v, node), off = w->v->m->nodes[node].f.off_total;
    const qp_view *v = w->v;
    const qp_figures *f = &v->m->nodes[node].f;
    double percent = qp_view_percent(total, v->whole);
    const figures_row row = {percent,
                             qp_view_percent(f->total_half, v->whole),
                             qp_model_ns(v->m, total),
                             qp_model_ns(v->m, off),
                             qp_model_ns(v->m, self),
                             calls,
                             resumes,
                             qp_model_ns(v->m, f->total_half),
                             qp_model_ns(v->m, f->self_half),
                             f->memory_total.bytes,
                             bytes};
    w->listing.is_dim = f->total_half > total;
    qp_listing_row(&w->listing, &row, qp_style_of_percent(percent));
    w->n_rows++;
}

static void add_row(walk *w, const entry *e)
{
    char guides[GUIDE_LEVELS * 8 + 64], name[QP_NAME_BYTES], place[QP_NAME_BYTES];
    char whole[4096], text[sizeof guides + sizeof name + sizeof place];
    const qp_model *m = w->v->m;
    const qp_model_node *node = &m->nodes[e->node];
    print_guides(w, guides, sizeof guides, e);
    if (node->method == QP_ROOT_METHOD) {
        const qp_model_thread *th = &m->threads[node->thread];
        qp_text_fit(name, sizeof name, th->name, QP_NAME_COLUMNS, 0);
        snprintf(text, sizeof text, "thread %" PRIu32 " %s", th->ordinal, name);
        add_figures(w, e->node, 0, th->calls, 0, node->f.memory.bytes);
    } else {
        const qp_model_method *method = &m->methods[node->method];
        qp_text_fit(name, sizeof name, method->name, QP_NAME_COLUMNS, 0);
        qp_view_place(whole, sizeof whole, method);
        qp_text_fit(place, sizeof place, whole, QP_NAME_COLUMNS, 1);
        snprintf(text, sizeof text, "%s%s%s%s", guides, name, *place ? "  " : "", place);
        add_figures(w, e->node, qp_view_self(w->v, e->node), node->f.calls, node->f.resumes,
                    node->f.memory.bytes);
    }
    qp_table_cell(&w->listing.table, QP_STYLE_PLAIN, text);
    if (e->level > 0 && e->level <= GUIDE_LEVELS)
        w->guides[e->level] = !e->is_last;
}

/* Does the path below `node` repeat itself, level by level, with a cycle of `length` functions?
 * @param end  the last node that repeats @return levels that do */
static uint64_t repeats(const walk *w, uint32_t node, uint32_t length, uint32_t *end)
{
    const qp_model_node *nodes = w->v->m->nodes;
    uint32_t follower = node, ahead = node;
    uint64_t n = 0;
    for (uint32_t i = 0; i < length; i++)
        if (!(ahead = only_child(w, ahead)))
            return 0;
    while (ahead && nodes[ahead].method == nodes[follower].method) {
        *end = ahead;
        n++;
        follower = only_child(w, follower);
        ahead = only_child(w, ahead);
    }
    return n;
}

/* One row in place of a path that repeats itself. @return its last node, 0: it does not */
static uint32_t collapse(walk *w, const entry *e)
{
    const qp_model *m = w->v->m;
    char text[4096], name[QP_NAME_BYTES], count[QP_NUMBER_BYTES], guides[GUIDE_LEVELS * 8 + 64];
    uint64_t self = 0, calls = 0, resumes = 0, bytes = 0, n = 0;
    uint32_t end = 0, length = 0;
    while (n < 3 * (uint64_t)length + 3 && length < LONGEST_CYCLE)
        n = repeats(w, e->node, ++length, &end);
    if (n < 3 * (uint64_t)length + 3)
        return 0;
    for (uint32_t i = end; i != e->node; i = m->nodes[i].parent) {
        self += qp_view_self(w->v, i);
        calls += m->nodes[i].f.calls;
        resumes += m->nodes[i].f.resumes;
        bytes += m->nodes[i].f.memory.bytes;
    }
    uint32_t kid = only_child(w, e->node);
    entry collapsed = {kid, e->level + 1, true};
    print_guides(w, guides, sizeof guides, &collapsed);
    int at = snprintf(text, sizeof text, "%s%s %s more levels of ", guides,
                      qp_screen_sign(&w->cli->screen, QP_SIGN_MORE),
                      qp_unit_count(count, n + length - 1));
    for (uint32_t i = 0, node = e->node; i < length; i++, node = only_child(w, node)) {
        const char *whole = m->methods[m->nodes[node].method].name;
        qp_text_fit(name, sizeof name, whole, QP_NAME_COLUMNS, 0);
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", i ? ", " : "", name);
    }
    if (e->level < GUIDE_LEVELS)
        w->guides[e->level + 1] = false;
    add_figures(w, kid, self, calls, resumes, bytes);
    qp_table_cell(&w->listing.table, QP_STYLE_DIM, text);
    return end;
}

static void walk_tree(walk *w, uint64_t most)
{
    while (w->n_stack > 0 && !w->has_failed) {
        entry e = w->stack[--w->n_stack];
        if (w->n_rows >= most) {
            w->n_left_out += w->n_stack + 1;
            return;
        }
        add_row(w, &e);
        if (w->deepest && e.level + 1 >= w->deepest)
            continue;
        uint32_t end = collapse(w, &e);
        push_children(w, end ? end : e.node, e.level + (end ? 2 : 1));
    }
}

/* ---- text ---------------------------------------------------------------------------------- */

static bool start(walk *w, const qp_cli *cli, const qp_view *v)
{
    const qp_model *m = v->m;
    uint64_t whole = m->run.has_times ? v->whole : m->run.calls;
    *w = (walk){.cli = cli, .v = v, .deepest = (uint32_t)cli->args.depth};
    w->smallest = (uint64_t)((double)whole * cli->args.min_percent / 100.0);
    w->guides = qp_alloc_zeroed(GUIDE_LEVELS + 1, sizeof *w->guides);
    const char *shown =
        has_resumes(m) ? NULL : "percent total total_off self bytes_total bytes calls";
    qp_listing_begin(&w->listing, &cli->screen, columns, shown, qp_run_has(&m->run),
                     qp_view_unit(m, v->whole, cli->args.unit));
    qp_table_column(&w->listing.table, "Call tree", QP_KEEP_BEGIN, 0);
    return w->guides && (m->run.has_times || sum_calls(w));
}

/* The roots: the threads or, if a single one made calls, what it called. */
static void push_roots(walk *w, uint32_t thread)
{
    const qp_model *m = w->v->m;
    uint32_t n_busy = 0, busy = 0;
    for (uint32_t i = 1; i < m->n_threads; i++)
        if (m->threads[i].calls || m->threads[i].total) {
            n_busy++;
            busy = i;
        }
    uint32_t only = thread != QP_ALL_THREADS ? thread
                    : m->run.joined          ? m->run.joined
                    : n_busy == 1            ? busy
                                             : 0;
    push_children(w, only ? m->threads[only].root : QP_ROOT_NODE, 0);
}

/* Show the hottest path only. @return false: no memory */
static bool keep_hottest(walk *w, uint32_t thread)
{
    const qp_model *m = w->v->m;
    uint32_t *path;
    size_t n;
    if (!qp_model_hottest_path(m, thread, &path, &n))
        return false;
    w->is_on_path = qp_alloc_zeroed(m->n_nodes, sizeof *w->is_on_path);
    for (size_t i = 0; w->is_on_path && i < n; i++)
        w->is_on_path[path[i]] = true;
    if (w->is_on_path && n)
        w->is_on_path[m->nodes[path[0]].parent] = true;
    qp_free(path);
    return w->is_on_path != NULL;
}

/* Why there is no row. @param has_some  rows that are not shown */
static const char *none_reason(const qp_model *m, bool has_some)
{
    return !m->run.is_profile
               ? "No call paths were recorded, only functions: see qprof report and "
                 "qprof cover report.\n"
           : has_some && qp_view_is_time(m) ? "No branch has that much of the time.\n"
           : has_some                       ? "No branch is that large.\n"
                                            : "No function was called.\n";
}

static bool print_text(const qp_cli *cli, const void *data)
{
    const qp_view *v = ((const document *)data)->v;
    walk w;
    uint64_t most = cli->args.limit == UINT64_MAX ? ROWS_SHOWN
                    : cli->args.limit             ? cli->args.limit
                                                  : UINT64_MAX;
    char count[QP_NUMBER_BYTES];
    bool is_good = start(&w, cli, v);
    qp_header_text(&cli->screen, v->m, cli->path, cli->args.has_subtract);
    if (is_good && cli->args.is_hottest)
        is_good = keep_hottest(&w, v->thread);
    if (is_good && v->m->run.is_profile) {
        push_roots(&w, v->thread);
        walk_tree(&w, most);
        is_good = !w.has_failed;
    }
    if (is_good && w.n_rows == 0)
        qp_out_text(cli->screen.out, none_reason(v->m, w.n_left_out > 0));
    else if (is_good)
        is_good = qp_table_print(&w.listing.table, &cli->screen, 0);
    if (is_good && w.n_left_out && !w.is_on_path)
        qp_out_format(
            cli->screen.out, "%s %s hidden; show them with --min-percent=0 --limit=0\n",
            qp_unit_count(count, w.n_left_out), w.n_left_out == 1 ? "branch" : "branches");
    qp_table_fini(&w.listing.table);
    qp_free(w.guides);
    qp_free(w.stack);
    qp_free(w.is_on_path);
    qp_free(w.calls_below);
    return is_good;
}

/* ---- JSON, CSV: every node, parents first ---------------------------------------------------- */

typedef struct {
    uint32_t id, thread;
    qp_model_node node;
    qp_model_method method;
    uint64_t self, total, self_off, total_off;
} node_row;

#define AT(member) QP_FIELD_AT(node_row, member)
static const qp_field node_fields[] = {
    {"id", NULL, "number, greater than its parent's", QP_FIELD_COUNT, AT(id), .least = 1},
    {"parent", NULL, "id of the caller; 0: the run", QP_FIELD_COUNT, AT(node.parent)},
    {"method", NULL, "id in methods; 0: the root of a thread", QP_FIELD_COUNT, AT(node.method)},
    {"thread", NULL, "number of the thread", QP_FIELD_COUNT, AT(thread), .least = 1},
    {"calls", NULL, "hits + skips", QP_FIELD_COUNT, AT(node.f.calls)},
    {"hits", NULL, "calls that were recorded", QP_FIELD_COUNT, AT(node.f.hits)},
    {"resumes", NULL, "how often a suspended call was continued; no part of calls",
     QP_FIELD_COUNT, AT(node.f.resumes)},
    {"self", NULL, "time in the method itself, in the run's unit", QP_FIELD_TIME, AT(self)},
    {"total", NULL, "time including the methods it called", QP_FIELD_TIME, AT(total)},
    {"self_off", NULL, "part of self off the processor", QP_FIELD_TIME, AT(self_off),
     .flags = QP_FIELD_OPTIONAL, .needs = QP_HAS_WAITS},
    {"total_off", NULL, "part of total off the processor", QP_FIELD_TIME, AT(total_off),
     .flags = QP_FIELD_OPTIONAL, .needs = QP_HAS_WAITS},
    {"", NULL, NULL, QP_FIELD_PART, AT(node.f), .sub = qp_memory_fields},
    {"open", NULL, "has an open frame", QP_FIELD_YES, AT(node.is_open)},
    {.key = NULL}};

/* A row of CSV names its method, where JSON has a list of methods. */
static const qp_field csv_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = node_fields},
    {"depth", NULL, NULL, QP_FIELD_COUNT, AT(node.depth)},
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_name_fields},
    {.key = NULL}};
#undef AT

static bool next_node(const void *data, size_t *at, void *row)
{
    const qp_view *v = ((const document *)data)->v;
    const qp_model *m = v->m;
    uint32_t i = (uint32_t)*at + 1;
    while (v->thread != QP_ALL_THREADS && i < m->n_nodes && m->nodes[i].thread != v->thread)
        i++;
    if (i >= m->n_nodes)
        return false;
    *at = i;
    const qp_model_node *node = &m->nodes[i];
    *(node_row *)row = (node_row){.id = i,
                                  .thread = m->threads[node->thread].ordinal,
                                  .node = *node,
                                  .method = m->methods[node->method],
                                  .self = qp_model_ns(m, qp_view_self(v, i)),
                                  .total = qp_model_ns(m, qp_view_total(v, i)),
                                  .self_off = qp_model_ns(m, node->f.off),
                                  .total_off = qp_model_ns(m, node->f.off_total)};
    return true;
}

static unsigned has_figures(const void *data, const void *row)
{
    (void)row;
    return qp_run_has_any(&((const document *)data)->v->m->run);
}

static const qp_rows nodes = QP_ROWS(node_fields, node_row, next_node, .has = has_figures);
static const qp_rows csv_nodes = QP_ROWS(csv_fields, node_row, next_node);

typedef struct {
    uint32_t id;
    qp_model_method method;
} method_row;

static const qp_field method_fields[] = {
    {"id", NULL, "number that nodes use", QP_FIELD_COUNT, QP_FIELD_AT(method_row, id)},
    {"", NULL, NULL, QP_FIELD_PART, QP_FIELD_AT(method_row, method),
     .sub = qp_method_name_fields},
    {.key = NULL}};

static bool next_method(const void *data, size_t *at, void *row)
{
    const qp_model *m = ((const document *)data)->about.m;
    if (*at == m->n_methods)
        return false;
    *(method_row *)row = (method_row){(uint32_t)*at, m->methods[*at]};
    ++*at;
    return true;
}

static const qp_rows methods = QP_ROWS(method_fields, method_row, next_method);

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"nodes", NULL, "call paths, parents first", QP_FIELD_ROWS, .rows = &nodes},
    {"methods", NULL, "methods that nodes name", QP_FIELD_ROWS, .rows = &methods},
    {.key = NULL}};

static void write_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &csv_nodes, data,
                "id parent thread depth name:function file line calls self total self_off "
                "total_off bytes bytes_total objects objects_total resumes",
                qp_run_has_any(&((const document *)data)->about.m->run),
                ((const document *)data)->about.m->run.unit);
}

/* ---- the command --------------------------------------------------------------------------- */

static int show(qp_cli *cli, const qp_subject *s)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    qp_view v;
    int status = qp_view_init(&v, s->m, s->thread, cli->args.has_subtract)
                     ? qp_output_print(cli, &forms, &(document){{s->m, s->thread}, &v})
                     : qp_cli_fail_memory(cli);
    qp_view_fini(&v);
    return status;
}

const qp_command qp_command_tree = {
    .name = "tree",
    .operands = "[FILE]",
    .summary = "the call tree",
    .about =
        "Shows the call tree, the heaviest branch first. Total is the time of a call path with "
        "everything below it; percentages are of the time of the run, or of the thread. A path "
        "that repeats itself is collapsed into one row. JSON and CSV hold all nodes.",
    .flags =
        (const qp_flag[]){
            QP_YES("hottest", 0, is_hottest, "hottest path alone"),
            {"min-percent", 'p', QP_FLAG_REAL, "P", QP_FLAG_AT(min_percent), "1",
             "least part of the time, in percent, that a branch has"},
            QP_COUNT("depth", 'd', depth, NULL, "maximum number of levels; 0: all"),
            QP_COUNT("limit", 'n', limit, NULL, "maximum number of rows; 0: all (default 400)"),
            QP_FLAG_WHEN,
            QP_FLAGS_COLLAPSE,
            QP_FLAG_THREAD,
            QP_FLAG_THREADS_APART,
            QP_FLAG_MERGE_THREADS,
            QP_FLAG_UNIT,
            QP_FLAG_SUBTRACT,
            QP_FLAG_FORMAT,
            QP_FLAGS_COMMON},
    .examples = "qprof tree --hottest\n"
                "qprof tree --min-percent=5 run.qprof\n"
                "qprof tree --thread=2 --depth=4 run.qprof",
    .schemas = (const qp_schema[]){{"tree", document_fields}, {.name = NULL}},
    .threads = QP_THREADS_JOINED_IN_TEXT,
    .run = qp_cli_show,
    .show = show};
