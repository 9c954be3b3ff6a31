/* top.c: `qprof top`: what a running program does now, refreshed until it ends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/text/shell.h"
#include "cli/show/show.h"
#include "model/model.h"

enum { LINES_AROUND = 6 };
static const double SHORTEST_WAIT = 0.01; /* seconds; a reading takes time as well */

/* What is new since the reading before, of one method. */
typedef struct {
    uint32_t method;
    uint64_t run, off, calls;
} change;

typedef struct {
    qp_model *m;
    uint64_t at; /* monotonic ns of the reading */
} reading;

static int compare_changes(const void *a, const void *b)
{
    const change *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? 1 : -1;
    if (x->off != y->off)
        return x->off < y->off ? 1 : -1;
    return x->calls == y->calls ? 0 : x->calls < y->calls ? 1 : -1;
}

/* The same method in the reading before: mostly at the same index. 0: it is new. */
static uint32_t method_before(const qp_model *before, const qp_model_method *x, uint32_t index)
{
    if (index < before->n_methods && before->methods[index].ordinal == x->ordinal)
        return index;
    for (uint32_t i = 1; i < before->n_methods; i++)
        if (before->methods[i].ordinal == x->ordinal)
            return i;
    return 0;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0; /* it shrinks when the program clears its figures */
}

static change *find_changes(const qp_model *now, const qp_model *before, size_t *n)
{
    change *all = qp_alloc(now->n_methods, sizeof *all);
    *n = 0;
    for (uint32_t i = 1; all && i < now->n_methods; i++) {
        static const qp_figures none;
        uint32_t old = method_before(before, &now->methods[i], i);
        const qp_figures *f = &now->methods[i].all;
        const qp_figures *g = old ? &before->methods[old].all : &none;
        uint64_t self = grown(f->self, g->self), off = grown(f->off, g->off);
        off = off < self ? off : self;
        change c = {i, self - off, off, grown(f->calls, g->calls)};
        if (self || c.calls)
            all[(*n)++] = c;
    }
    if (all)
        qsort(all, *n, sizeof *all, compare_changes);
    return all;
}

/* ---- one screen ---------------------------------------------------------------------------- */

/* Which threads there are, or what their figures are of. */
static void print_threads(const qp_screen *s, const qp_model *m)
{
    char a[QP_NUMBER_BYTES];
    uint32_t n_open = 0;
    /* coverage keeps no stacks, and a process that samples itself does not publish them */
    bool has_stacks = m->run.has_paths && !(m->run.is_stack_only && m->run.has_times);
    for (uint32_t i = 1; i < m->n_threads; i++)
        n_open +=
            m->threads[i].is_alive && !m->threads[i].is_suspended && m->threads[i].depth > 0;
    if (*m->run.focus) { /* whose threads are joined */
        qp_out_text(s->out, "in ");
        qp_screen_name(s, m->run.focus, 0);
        return;
    }
    if (has_stacks)
        qp_out_format(s->out, "%" PRIu32 " of ", n_open);
    qp_out_format(s->out, "%s%s", qp_unit_things(a, qp_view_threads(m), "thread"),
                  has_stacks ? " at work" : "");
}

static void print_head(const qp_screen *s, const qp_model *m, const change *sum,
                       uint64_t span_ns)
{
    char a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES];
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_header_program(s, m->run.program, m->run.script);
    qp_screen_style(s, QP_STYLE_PLAIN);
    qp_out_format(s->out, ", process %" PRIu64 ", running for %s\n", m->run.pid,
                  qp_view_amount(m, a, m->run.wall));
    double seconds = (double)span_ns / 1e9;
    if (m->run.has_calls)
        qp_out_format(s->out, "%s calls/s, ",
                      qp_unit_count(a, (uint64_t)((double)sum->calls / seconds)));
    if (m->run.has_waits)
        qp_out_format(s->out, "%s %% of the time running in functions, %s %% waiting, ",
                      qp_unit_percent(a, qp_model_ns(m, sum->run), span_ns),
                      qp_unit_percent(b, qp_model_ns(m, sum->off), span_ns));
    else if (m->run.has_times && qp_view_is_time(m))
        qp_out_format(s->out, "%s %% of the time in functions, ",
                      qp_unit_percent(b, qp_model_ns(m, sum->run), span_ns));
    print_threads(s, m);
    qp_out_format(s->out, "%s\n\n", m->run.is_recording ? "" : "; recording is off");
}

/* A row of the table. */
typedef struct {
    double percent, wait_percent;
    uint64_t rate, self; /* calls a second; so far */
    const char *name, *place;
} change_row;

#define AT(member) QP_FIELD_AT(change_row, member)
static const qp_field columns[] = {
    {"percent", "Self %", NULL, QP_FIELD_PERCENT, AT(percent), .flags = QP_FIELD_HOT,
     .needs = QP_HAS_TIMES},
    {"run_percent", "Run %", NULL, QP_FIELD_PERCENT, AT(percent), .flags = QP_FIELD_HOT,
     .needs = QP_HAS_WAITS},
    {"wait_percent", "Wait %", NULL, QP_FIELD_PERCENT, AT(wait_percent), .needs = QP_HAS_WAITS},
    {"rate", "Calls/s", NULL, QP_FIELD_COUNT, AT(rate), .needs = QP_HAS_CALLS},
    {"self", "Self so far", NULL, QP_FIELD_SPAN, AT(self), .rank = 2, .needs = QP_HAS_TIMES},
    {"name", "Function", NULL, QP_FIELD_NAME, AT(name), .flags = QP_FIELD_HOT},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .rank = 1},
    {.key = NULL}};
#undef AT

static bool print_changes(const qp_cli *cli, const qp_model *m, const change *all, size_t n,
                          uint64_t span_ns)
{
    char place[2048];
    size_t most = cli->args.limit ? (size_t)cli->args.limit : SIZE_MAX;
    bool has_times = m->run.has_times && qp_view_is_time(m);
    if (cli->screen.is_terminal && cli->screen.n_rows > LINES_AROUND &&
        most > cli->screen.n_rows - LINES_AROUND)
        most = cli->screen.n_rows - LINES_AROUND;
    qp_listing l;
    qp_listing_begin(&l, &cli->screen, columns,
                     m->run.has_waits ? "run_percent wait_percent rate self name place"
                                      : "percent rate self name place",
                     (has_times ? QP_HAS_TIMES : 0) | (m->run.has_calls ? QP_HAS_CALLS : 0) |
                         (m->run.has_waits ? QP_HAS_WAITS : 0),
                     qp_unit_for(0, true, NULL));
    for (size_t i = 0; i < n && i < most; i++) {
        const qp_model_method *x = &m->methods[all[i].method];
        const change_row row = {
            .percent = qp_view_percent(qp_model_ns(m, all[i].run), span_ns),
            .wait_percent = qp_view_percent(qp_model_ns(m, all[i].off), span_ns),
            .rate = (uint64_t)((double)all[i].calls * 1e9 / (double)span_ns),
            .self = qp_model_ns(m, x->all.self),
            .name = x->name,
            .place = qp_view_place(place, sizeof place, x)};
        qp_listing_row(&l, &row, qp_style_of_percent(row.percent));
    }
    return qp_listing_end(&l, 0);
}

/* Figures are of the moment that the run's clock was read at, where it can be read from here.
 * @return ns, >= 1 */
static uint64_t span_between(const reading *now, const reading *before)
{
    uint64_t ran = qp_model_ns(now->m, grown(now->m->run.wall, before->m->run.wall));
    uint64_t span = qp_view_is_time(now->m) && ran ? ran : now->at - before->at;
    return span ? span : 1;
}

static bool print_screen(qp_cli *cli, const reading *now, const reading *before)
{
    size_t n;
    uint64_t span = span_between(now, before);
    change sum = {0};
    change *all = find_changes(now->m, before->m, &n);
    if (!all)
        return false;
    for (size_t i = 0; i < n; i++) {
        sum.run += all[i].run;
        sum.off += all[i].off;
        sum.calls += all[i].calls;
    }
    if (cli->screen.is_terminal)
        qp_out_text(&cli->out, "\033[H\033[J");
    print_head(&cli->screen, now->m, &sum, span);
    bool is_sampled = now->m->run.has_calls || now->m->run.has_times, is_good = true;
    if (is_sampled)
        is_good = print_changes(cli, now->m, all, n, span);
    else
        qp_out_format(&cli->out,
                      "Only the stack is published: qprof run --pid=%" PRIu64 " samples it\n",
                      now->m->run.pid);
    if (!cli->screen.is_terminal)
        qp_out_char(&cli->out, '\n');
    qp_out_flush(&cli->out);
    qp_free(all);
    return is_good;
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* @return false: it is not live any more, or damaged beyond use */
static bool read_now(qp_cli *cli, reading *r)
{
    qp_error error;
    r->m = NULL;
    r->at = qp_clock_monotonic();
    if (qp_model_load(cli->path, NULL, &r->m, &error) == QP_LOAD_UNUSABLE)
        return false;
    if (r->m->run.state == QP_RUN_LIVE && qp_collapse_apply(cli, &r->m))
        return true;
    qp_model_free(r->m);
    r->m = NULL;
    return false;
}

/* Wait for the next reading. @return false: a signal came */
static bool wait_interval(const qp_cli *cli)
{
    double seconds = cli->args.interval > SHORTEST_WAIT ? cli->args.interval : SHORTEST_WAIT;
    return qp_interrupt_sleep(qp_clock_monotonic() + (uint64_t)(seconds * 1e9));
}

static int watch(qp_cli *cli, reading *before)
{
    reading now;
    char ran[QP_NUMBER_BYTES];
    uint64_t n_shown = 0;
    bool is_good = true;
    while (is_good && !cli->out.error && wait_interval(cli)) {
        if (!read_now(cli, &now)) {
            qp_out_format(
                &cli->out, "Process %" PRIu64 " has ended; it was seen running for %s\n",
                before->m->run.pid, qp_view_amount(before->m, ran, before->m->run.wall));
            return QP_EXIT_CLEAN;
        }
        is_good = print_screen(cli, &now, before);
        qp_model_free(before->m);
        *before = now;
        if (cli->args.count && ++n_shown >= cli->args.count)
            break;
    }
    return is_good ? QP_EXIT_CLEAN : qp_cli_fail_memory(cli);
}

/* Without an operand: the only process that records. */
static bool find_process(const qp_cli *cli, char *path, size_t n_bytes)
{
    qp_live_file *files = NULL;
    size_t n = 0;
    char list[512] = "";
    if (qp_live_list(false, &files, &n) && n == 1)
        snprintf(path, n_bytes, "%" PRIu64, files[0].pid);
    for (size_t i = 0; i < n && i < 16; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), " %" PRIu64, files[i].pid);
    if (n == 0)
        qp_cli_fail(cli,
                    "no process of yours is recording (start one with: qprof run -- PROGRAM)");
    else if (n > 1)
        qp_cli_fail(cli, "specify a process; these are recording:%s", list);
    qp_free(files);
    return n == 1;
}

static int run_top(qp_cli *cli)
{
    const char *file;
    char only[32];
    reading first = {0};
    if (!qp_cli_operands(cli, NULL, &file))
        return QP_EXIT_UNUSABLE;
    if (!file && !find_process(cli, only, sizeof only))
        return QP_EXIT_UNUSABLE;
    int status = qp_cli_load_collapsed(cli, file ? file : only, &first.m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    first.at = qp_clock_monotonic();
    if (first.m->run.state != QP_RUN_LIVE) {
        char report[4096 + 64] = "qprof report";
        if (!qp_shell_add_file(report, sizeof report, cli->path))
            snprintf(report, sizeof report, "qprof report %s", cli->path);
        status = qp_cli_fail(cli, "%s: has ended (its profile: %s)", cli->path, report);
    } else {
        qp_interrupt_take();
        if (!cli->screen.is_terminal && cli->args.count == 0)
            cli->args.count = 1;
        status = watch(cli, &first);
    }
    qp_model_free(first.m);
    return status;
}

const qp_command qp_command_top = {
    .name = "top",
    .operands = "[PID]",
    .summary = "what a running program does now",
    .about = "Shows which functions a running program spends its time in, between two readings "
             "of its profile; the program is not stopped or slowed. 100 % is one thread that "
             "runs, or waits, all the time. Without PID: the one process that is recording.",
    .flags =
        (const qp_flag[]){
            {"interval", 'i', QP_FLAG_REAL, "SECONDS", QP_FLAG_AT(interval), "1",
             "time between two screens, in seconds"},
            QP_COUNT(
                "count", 'c', count, NULL,
                "maximum number of screens; 0: no limit (default 0; 1 if not on a terminal)"),
            QP_COUNT("limit", 'n', limit, "20", "maximum number of rows; 0: all"),
            QP_FLAG_ENDPOINT,
            QP_FLAGS_COMMON},
    .examples = "qprof top 4242\n"
                "qprof top --interval=0.5 --count=10 4242 | cat",
    .run = run_top};
