/* summary.c: the hottest methods, from the trees in memory. Read qp_summary_print first. */
#include "record/report/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/mapping.h"
#include "base/os/thread.h"
#include "base/text/text.h"
#include "record/clock/clock.h"
#include "record/run/run.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"

enum { ROWS = 10 };

typedef struct {
    qp_cell method; /* 0: not called */
    uint64_t n_calls;
    int64_t self;
} method_sum;

/* Ticks of a path: its self time; adaptive: including its callees. */
static int64_t ticks_of(const qp_node *n)
{
    qp_spread spread;
    int64_t ticks = (int64_t)n->self;
    if (qp_recorder_head()->time_mode != QP_TIME_ADAPTIVE)
        return ticks;
    memcpy(&spread, &n->self_max, sizeof spread);
    uint64_t later = n->n_calls > QPROF_ADAPTIVE_FIRST ? n->n_calls - QPROF_ADAPTIVE_FIRST : 0;
    if (spread.n_timed)
        ticks += (int64_t)((double)n->self_min / spread.n_timed * (double)later);
    return ticks;
}

/* @param sums  [n_methods + 1] by the ordinal of the method; 0: the roots */
static method_sum *sum_of(method_sum *sums, const qp_node *n)
{
    const qp_method *m = n->method ? qp_at(&qp_recorder.space, n->method) : NULL;
    method_sum *sum = &sums[m ? m->ordinal : 0];
    sum->method = n->method;
    return sum;
}

static bool add_path(void *sums, QP_UNUSED qp_cell cell, const qp_node *n)
{
    sum_of(sums, n)->n_calls += n->n_calls;
    sum_of(sums, n)->self += ticks_of(n);
    if (qp_recorder_head()->time_mode == QP_TIME_ADAPTIVE && n->parent)
        sum_of(sums, qp_at(&qp_recorder.space, n->parent))->self -= ticks_of(n);
    return true;
}

static void add_tree(method_sum *sums, const qprof_thread *th)
{
    const qp_thread_record *r = qp_record_of(th);
    qp_walk_nodes(r, add_path, sums);
    if (!r->chunk || qp_recorder_head()->time_mode != QP_TIME_EXACT)
        return;
    qp_stack_cursor c = {QPROF_CELL(th, qprof_frame, th->pulse->top & ~QPROF_TOP_BUSY),
                         r->chunk};
    do                 /* frames that are open at the end */
        if (c.f->node) /* 0 with samples alone: never sampled */
            sum_of(sums, qp_at(&qp_recorder.space, c.f->node))->self += (int64_t)c.f->self;
    while (qp_stack_down(th, &c));
}

static double milliseconds(int64_t ticks)
{
    const qp_head *h = qp_recorder_head();
    if (h->clock_source == QP_SOURCE_TSC && h->tick_1 > h->tick_0)
        return (double)ticks * (double)(h->ns_1 - h->ns_0) / (double)(h->tick_1 - h->tick_0) /
               1e6;
    return (double)ticks / 1e6;
}

static void print_row(int fd, const method_sum *sum, int64_t all)
{
    const qp_method *m = qp_at(&qp_recorder.space, sum->method);
    const char *class_name = qp_texts_at(&qp_recorder.texts, m->class_name);
    char name[64];
    if (m->name)
        snprintf(name, sizeof name, "%s%s%s", class_name, class_name[0] ? "." : "",
                 qp_texts_at(&qp_recorder.texts, m->name));
    else
        snprintf(name, sizeof name, "UnnamedFunction%llx", (unsigned long long)m->id);
    qp_plain(name, sizeof name, name, sizeof name);
    dprintf(fd, "%12.3f ms %5.1f %% %12llu  %s\n", milliseconds(sum->self),
            all ? 100.0 * (double)sum->self / (double)all : 0.0,
            (unsigned long long)sum->n_calls, name);
}

static void print_methods(int fd, method_sum *sums, uint64_t n_methods)
{
    int64_t all = 0;
    sums[0] = (method_sum){0}; /* the roots */
    for (uint64_t i = 1; i <= n_methods; i++)
        all += sums[i].self > 0 ? sums[i].self : (sums[i].self = 0);
    dprintf(fd, "%15s %7s %12s  %s\n", "self", "", "calls", "method");
    for (unsigned row = 0; row < ROWS; row++) {
        uint64_t best = 0;
        for (uint64_t i = 1; i <= n_methods; i++)
            if (sums[i].self > sums[best].self ||
                (sums[i].self == sums[best].self && sums[i].n_calls > sums[best].n_calls))
                best = i;
        if (!sums[best].n_calls && !sums[best].self)
            return;
        print_row(fd, &sums[best], all);
        sums[best] = (method_sum){0};
    }
}

static void print_losses(int fd)
{
    const char *lead = "qprof: noticed";
    for (unsigned i = 0; i < QP_D_COUNT; i++) {
        uint64_t n = qp_load(&qp_recorder_head()->diagnostics[i]);
        if (!n || qp_diagnostic_kinds[i] == 'N')
            continue;
        dprintf(fd, "%s %s=%llu", lead, qp_diagnostic_names[i], (unsigned long long)n);
        lead = ",";
    }
    if (lead[0] == ',')
        dprintf(fd, "\n");
}

int qp_report_open(const char *file)
{
    char path[2 * QP_PATH_MAX];
    struct stat st;
    const char *name = file ? file : qp_option_text(&qp_recorder.options, QP_OPT_summary);
    if (file && strcmp(file, "-") == 0)
        return 1;
    if (!file && (!name[0] || strcmp(name, "stderr") == 0 || strcmp(name, "yes") == 0))
        return 2;
    if (!file && (strcmp(name, "none") == 0 || strcmp(name, "no") == 0))
        return 0;
    snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : qp_recorder.folder,
             name[0] == '/' ? "" : "/", name);
    int fd =
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void qp_summary_print(const char *file)
{
    int fd = qp_report_open(NULL);
    if (fd <= 0)
        return;
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGPIPE);
    if (file[0])
        dprintf(fd, "qprof: %s\n", file);
    else
        dprintf(fd, "qprof: nothing was recorded, no file was written\n");
    uint64_t n_methods = qp_recorder_head()->n_methods;
    size_t n_bytes = (n_methods + 1) * sizeof(method_sum);
    method_sum *sums = file[0] ? qp_pages_take(n_bytes) : NULL;
    for (uint32_t i = 0; sums && qp_threads_at(i); i++)
        if (qp_observe(&qp_threads_at(i)->pulse))
            add_tree(sums, qp_threads_at(i));
    if (sums)
        print_methods(fd, sums, n_methods);
    qp_pages_drop(sums, n_bytes);
    if (!QP_PRODUCT_IS_COVERAGE && file[0] && qp_recorder_head()->pc_period)
        qp_pc_list(fd);
    print_losses(fd);
    qp_signal_hold_end(&hold);
    if (fd != 2)
        close(fd);
}
