/* slow.c: `qprof trace slow`: the slowest calls of a function, with the trees of their callees. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/json.h"
#include "base/text/unit.h"
#include "cli/trace/trace.h"
#include "replay/calls/calls.h"

enum { DEPTH_MOST = 64 }; /* of an inner tree, as it is printed */

typedef struct {
    qp_trace_view *view;
    qp_cli *cli;
    qp_slow slow;
    const char *name;
} report;

/* By its display name, or its bare name. */
static bool is_wanted(void *to, uint32_t method)
{
    const report *r = to;
    const qp_trace_method *m = qp_trace_view_method(r->view, method);
    return strcmp(m->name, r->name) == 0 || strcmp(m->bare_name, r->name) == 0;
}

static const char *how(const qp_slow_call *c)
{
    return c->is_cut                     ? ", began before the trace"
           : c->end == QP_END_UNFINISHED ? ", unfinished"
           : c->end == QP_END_UNWOUND    ? ", did not return"
           : c->end == QP_END_LOST       ? ", its end is missing"
                                         : "";
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_node(const report *r, const qp_slow_call *c, uint32_t node, unsigned depth)
{
    const qp_calltree_node *n = qp_calltree_at(&c->tree, node);
    qp_out *out = r->cli->screen.out;
    char total[QP_NUMBER_BYTES], self[QP_NUMBER_BYTES], number[QP_NUMBER_BYTES],
        percent[QP_NUMBER_BYTES];
    double share = c->total ? 100.0 * (double)n->self / (double)c->total : 0;
    qp_out_format(out, "  %12s %5s %%  %12s self  ",
                  qp_unit_time(total, qp_trace_view_ns(r->view, n->total)),
                  qp_unit_percent(percent, n->total, c->total),
                  qp_unit_time(self, qp_trace_view_ns(r->view, n->self)));
    qp_out_repeat(out, ' ', 2 * (size_t)depth);
    qp_screen_style(&r->cli->screen, qp_style_of_percent(share));
    qp_screen_name(&r->cli->screen, qp_trace_view_method(r->view, n->method)->name, 0);
    qp_screen_style(&r->cli->screen, QP_STYLE_PLAIN);
    if (n->calls > 1)
        qp_out_format(out, " x %s", qp_unit_count(number, n->calls));
    qp_out_char(out, '\n');
}

static bool is_shown(const report *r, const qp_slow_call *c, uint32_t node, unsigned depth)
{
    const qp_calltree_node *n = qp_calltree_at(&c->tree, node);
    return depth < DEPTH_MOST &&
           100.0 * (double)n->total >= r->cli->args.min_percent * (double)c->total;
}

/* Print the tree, without recursion, but for subtrees that are too small. */
static void print_tree(const report *r, const qp_slow_call *c)
{
    unsigned depth = 0;
    for (uint32_t node = 1; node;) {
        const qp_calltree_node *n = qp_calltree_at(&c->tree, node);
        bool is_down = is_shown(r, c, node, depth);
        if (is_down)
            print_node(r, c, node, depth);
        if (is_down && n->first_child) {
            node = n->first_child;
            depth++;
            continue;
        }
        while (depth && !n->next) {
            n = qp_calltree_at(&c->tree, n->parent);
            depth--;
        }
        node = depth ? n->next : 0;
    }
}

static void print_call(const report *r, uint32_t i)
{
    const qp_slow_call *c = r->slow.calls[i];
    char total[QP_NUMBER_BYTES], at[QP_NUMBER_BYTES], thread[256];
    const qp_screen *s = &r->cli->screen;
    qp_out_format(s->out, "\n%" PRIu32 ". %s at %s on thread ", i + 1,
                  qp_unit_time(total, qp_trace_view_ns(r->view, c->total)),
                  qp_unit_time(at, qp_trace_view_moment(r->view, c->raw)));
    qp_screen_name(s, qp_trace_view_thread(r->view, c->thread, thread, sizeof thread), 0);
    qp_out_format(s->out, "%s\n", how(c));
    print_tree(r, c);
}

static void print_text(const report *r)
{
    char number[QP_NUMBER_BYTES];
    qp_screen_name(&r->cli->screen, r->name, 0);
    qp_out_format(r->cli->screen.out, ": %s%s\n",
                  qp_unit_things(number, r->slow.n_seen, "call"),
                  r->slow.n < r->slow.n_seen ? "; the slowest:" : "");
    for (uint32_t i = 0; i < r->slow.n; i++)
        print_call(r, i);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_nodes(const report *r, qp_json *json, const qp_slow_call *c)
{
    qp_json_begin(json, "nodes", '[');
    for (uint32_t i = 1; i < c->tree.nodes.n; i++) {
        const qp_calltree_node *n = qp_calltree_at(&c->tree, i);
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "id", i);
        qp_json_count(json, "parent", n->parent);
        qp_json_text(json, "method", qp_trace_view_method(r->view, n->method)->name);
        qp_json_count(json, "calls", n->calls);
        qp_json_count(json, "total", qp_trace_view_ns(r->view, n->total));
        qp_json_count(json, "self", qp_trace_view_ns(r->view, n->self));
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_json(const report *r)
{
    qp_json json;
    qp_json_init(&json, &r->cli->out);
    qp_json_begin(&json, NULL, '{');
    qp_json_text(&json, "method", r->name);
    qp_json_count(&json, "calls", r->slow.n_seen);
    qp_json_text(&json, "unit", "ns");
    qp_json_begin(&json, "slowest", '[');
    for (uint32_t i = 0; i < r->slow.n; i++) {
        const qp_slow_call *c = r->slow.calls[i];
        qp_json_begin(&json, NULL, '{');
        qp_json_count(&json, "at", qp_trace_view_moment(r->view, c->raw));
        qp_json_count(&json, "thread", qp_trace_view_ordinal(r->view, c->thread));
        qp_json_count(&json, "total", qp_trace_view_ns(r->view, c->total));
        qp_json_count(&json, "self", qp_trace_view_ns(r->view, c->self));
        qp_json_bool(&json, "complete", !c->is_cut && c->end <= QP_END_UNWOUND);
        write_nodes(r, &json, c);
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

/* ---- the command ----------------------------------------------------------------------------- */

static int print(const report *r, int status)
{
    if (!r->slow.n_seen)
        return qp_cli_fail(r->cli, "%s: no call of %s; qprof trace stat -n 0 lists all",
                           r->view->paths[0], r->name);
    if (r->cli->args.format == QP_FORMAT_JSON)
        write_json(r);
    else
        print_text(r);
    return status;
}

static int run_slow(qp_cli *cli)
{
    qp_trace_view view;
    qp_spans x;
    report r = {.view = &view, .cli = cli};
    uint64_t limit = cli->args.limit;
    if (limit == 0 || limit > QP_SLOW_MOST)
        return qp_cli_fail(cli, "--limit=%" PRIu64 ": expected 1 to %d", limit, QP_SLOW_MOST);
    if (!qp_trace_view_open(&view, cli, &r.name))
        return QP_EXIT_UNUSABLE;
    if (!qp_slow_init(&r.slow, (uint32_t)limit)) {
        qp_trace_view_close(&view);
        return qp_cli_fail_memory(cli);
    }
    r.slow.is_wanted = is_wanted;
    r.slow.to = &r;
    const qp_span_sink sink = qp_slow_sink(&r.slow);
    int status = qp_trace_view_play(&view, &x, &sink);
    if (status != QP_EXIT_UNUSABLE)
        status = r.slow.failed ? qp_cli_fail_memory(cli) : print(&r, status);
    qp_slow_fini(&r.slow, &x);
    qp_spans_fini(&x);
    qp_trace_view_close(&view);
    return status;
}

const qp_command qp_command_trace_slow = {
    .name = "trace slow",
    .operands = "FUNCTION FILE [PROFILE]",
    .summary = "the slowest calls of a function, with what each of them called",
    .about = "Shows the longest calls of a function, each with its time in the run, its "
             "thread, and the tree of its callees with their times in that call. A call inside "
             "another call of the same function is part of it.",
    .flags =
        (const qp_flag[]){QP_COUNT("limit", 'n', limit, "5", "number of calls"),
                          {"min-percent", 0, QP_FLAG_PERCENT, "P", QP_FLAG_AT(min_percent), "1",
                           "least part of the call, in percent, that a row has"},
                          QP_FLAG_THREAD,
                          QP_TRACE_FLAGS_WINDOW,
                          QP_WORD("format", 0, "text|json", format, NULL, "form of the output"),
                          QP_FLAGS_COMMON},
    .examples = "qprof trace slow handle_request run.qtrace\n"
                "qprof trace slow -n 1 --min-percent=0 parse run.qtrace",
    .run = run_slow};
