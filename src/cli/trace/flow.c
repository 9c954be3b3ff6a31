/* flow.c: `qprof trace flow`: the calls of each thread, in order.
 *
 * Threads run concurrently and are printed one after the other: the first one while the trace is
 * read; lines of the others wait in memory. If these are too many, those of the last threads are
 * dropped and the trace is read again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/text.h"
#include "base/text/unit.h"
#include "cli/trace/trace.h"
#include "replay/calls/calls.h"

enum { WAITING_MOST = 64 << 20, INDENT_MOST = 60 };

typedef struct {
    uint64_t n_lines;
    qp_buf lines; /* qp_flow_line, that wait */
    bool is_dropped;
} lane;

typedef struct {
    qp_trace_view *view;
    qp_cli *cli;
    qp_flow flow;
    qp_buf lanes;     /* lane, by index of the thread */
    size_t n_printed; /* threads that are complete */
    size_t n_waiting; /* lines that wait */
    bool has_title;   /* a thread was printed */
} printer;

/* ---- lines ----------------------------------------------------------------------------------- */

static void print_title(printer *p, uint32_t thread)
{
    char text[256];
    qp_out_text(p->cli->screen.out, p->has_title ? "\n" : "");
    p->has_title = true;
    qp_screen_style(&p->cli->screen, QP_STYLE_HEAD);
    qp_out_text(p->cli->screen.out, "Thread ");
    qp_screen_name(&p->cli->screen, qp_trace_view_thread(p->view, thread, text, sizeof text),
                   0);
    qp_screen_style(&p->cli->screen, QP_STYLE_PLAIN);
    qp_out_char(p->cli->screen.out, '\n');
}

static void print_times(const printer *p, const qp_flow_line *l)
{
    qp_out *out = p->cli->screen.out;
    char total[QP_NUMBER_BYTES], each[QP_NUMBER_BYTES], number[QP_NUMBER_BYTES];
    uint64_t ns = qp_trace_view_ns(p->view, l->total);
    if (l->n > 1)
        qp_out_format(out, " x %s", qp_unit_count(number, l->n));
    qp_out_format(out, "  %s", qp_unit_time(total, ns));
    if (l->n > 1)
        qp_out_format(out, ", %s each", qp_unit_time(each, ns / l->n));
    if (!l->is_whole)
        qp_out_text(out, ", cut");
}

static void print_line(const printer *p, const qp_flow_line *l)
{
    const qp_screen *s = &p->cli->screen;
    uint64_t ns = qp_trace_view_moment(p->view, l->raw);
    qp_out_format(s->out, "%10" PRIu64 ".%06" PRIu64 " ms  ", ns / 1000000, ns % 1000000);
    qp_out_repeat(s->out, ' ', 2 * l->depth < INDENT_MOST ? 2 * l->depth : INDENT_MOST);
    if (l->kind == QP_FLOW_END)
        qp_out_text(s->out, "} ");
    qp_screen_name(s, qp_trace_view_method(p->view, l->method)->name, 0);
    if (l->kind == QP_FLOW_BEGIN)
        qp_out_text(s->out, " {");
    else
        print_times(p, l);
    qp_out_char(s->out, '\n');
}

/* ---- threads --------------------------------------------------------------------------------- */

static lane *lane_of(printer *p, uint32_t index)
{
    while (p->lanes.n <= index) {
        lane *l = qp_buf_add(&p->lanes);
        if (!l)
            return NULL;
        qp_buf_init(&l->lines, sizeof(qp_flow_line));
    }
    return (lane *)p->lanes.items + index;
}

static void drop(printer *p, lane *l)
{
    p->n_waiting -= l->lines.n;
    qp_free(l->lines.items);
    qp_buf_init(&l->lines, sizeof(qp_flow_line));
    l->is_dropped = true;
}

/* Drop the lines of the last thread that has any: the next reading prints it. */
static void drop_last(printer *p)
{
    for (size_t i = p->lanes.n; i-- > p->n_printed + 1;) {
        lane *l = (lane *)p->lanes.items + i;
        if (l->lines.n) {
            drop(p, l);
            return;
        }
    }
}

static void take_line(void *to, const qp_span_thread *th, const qp_flow_line *line)
{
    printer *p = to;
    lane *l = lane_of(p, th->index);
    if (!l) {
        p->flow.failed = true;
        return;
    }
    if (th->index < p->n_printed || l->is_dropped)
        return;
    if (th->index == p->n_printed) {
        if (!l->n_lines++)
            print_title(p, th->number);
        print_line(p, line);
        return;
    }
    l->n_lines++;
    qp_flow_line *waiting = qp_buf_add(&l->lines);
    p->flow.failed |= !waiting;
    if (waiting)
        *waiting = *line;
    if (++p->n_waiting > WAITING_MOST / sizeof(qp_flow_line))
        drop_last(p);
}

/* Print the waiting lines, thread by thread, up to a thread whose lines were dropped.
 * @return false: there is one */
static bool print_waiting(printer *p, const qp_spans *x)
{
    for (size_t i = p->n_printed; i < p->lanes.n; i++) {
        lane *l = (lane *)p->lanes.items + i;
        if (l->is_dropped) {
            p->n_printed = i;
            return false;
        }
        if (l->lines.n)
            print_title(p, ((qp_span_thread **)x->threads.items)[i]->number);
        for (size_t k = 0; k < l->lines.n; k++)
            print_line(p, (const qp_flow_line *)l->lines.items + k);
        qp_free(l->lines.items);
        qp_buf_init(&l->lines, sizeof(qp_flow_line));
    }
    return true;
}

/* Read the trace once. @return false: to be read again for the threads that are missing */
static bool read_once(printer *p, int *status)
{
    qp_spans x;
    p->flow = (qp_flow){.to = p, .line = take_line};
    p->n_waiting = 0;
    const qp_span_sink sink = qp_flow_sink(&p->flow);
    *status = qp_trace_view_play(p->view, &x, &sink);
    qp_flow_end(&p->flow, &x);
    if (p->flow.failed && *status != QP_EXIT_UNUSABLE)
        *status = qp_cli_fail_memory(p->cli);
    bool is_done = *status == QP_EXIT_UNUSABLE || print_waiting(p, &x);
    qp_spans_fini(&x);
    return is_done;
}

static void free_lanes(printer *p)
{
    for (size_t i = 0; i < p->lanes.n; i++)
        qp_free(((lane *)p->lanes.items)[i].lines.items);
    qp_free(p->lanes.items);
    qp_buf_init(&p->lanes, sizeof(lane));
}

static int run_flow(qp_cli *cli)
{
    qp_trace_view view;
    printer p = {.view = &view, .cli = cli};
    int status = QP_EXIT_CLEAN;
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    qp_buf_init(&p.lanes, sizeof(lane));
    while (!read_once(&p, &status)) {
        free_lanes(&p);
        if (!qp_trace_view_again(&view)) {
            status = QP_EXIT_UNUSABLE;
            break;
        }
    }
    free_lanes(&p);
    qp_trace_view_close(&view);
    return status;
}

const qp_command qp_command_trace_flow = {
    .name = "trace flow",
    .operands = "FILE [PROFILE]",
    .summary = "calls of each thread in order, repetitions collapsed",
    .about =
        "Prints the calls of each thread in order of time, indented by depth, with the time of "
        "each. Consecutive calls of the same shape are one line with a count. A call with too "
        "many inner calls for that has one line for its begin and one for its end.",
    .flags = (const qp_flag[]){QP_FLAG_THREAD, QP_TRACE_FLAGS_WINDOW, QP_FLAGS_COMMON},
    .examples = "qprof trace flow --thread=1 run.qtrace | less\n"
                "qprof trace flow --since=2s --until=2.1s run.qtrace",
    .run = run_flow};
