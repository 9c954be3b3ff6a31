/* live_summary.c: calls by module while the program runs. Read qp_live_summary_print first.
 *
 * Sums by method use fields of the method records that are free between two control calls
 * (calls_now, calls_next), so nothing is allocated, however often it is called. */
#include "record/report/report.h"

#include <stdio.h>

#include "base/atomic.h"
#include "base/os/thread.h"
#include "base/text/text.h"
#include "record/run/run.h"

enum { MODULES_MAX = 64, N_CLASSES = 5, CALLED = 1 };

typedef struct {
    qp_ref module; /* 0: further modules than have rows */
    qp_cell first; /* of its methods */
    uint64_t n_calls, n_hit;
    uint64_t n_in[N_CLASSES]; /* functions with 0, < 10, < 100, < 1000 and more calls */
} module_row;

typedef struct {
    module_row rows[MODULES_MAX + 1]; /* the last one: all others */
    unsigned n;
} module_table;

/* ---- calls of methods -------------------------------------------------------------------- */

static bool counts_its_entries(const qp_method *m)
{
    const qp_jumps *jumps = qp_method_jumps(m);
    for (uint32_t i = 0; jumps && i < jumps->n_jumps; i++)
        if (jumps->jumps[i].from_block == QP_JUMP_ENTRY)
            return true;
    return false;
}

static bool add_path(QP_UNUSED void *unused, QP_UNUSED qp_cell cell, const qp_node *n)
{
    qp_method *m = qp_at(&qp_recorder.space, n->method);
    if (n->method && !counts_its_entries(m))
        m->calls_now += qp_load(&n->n_calls);
    return true;
}

static bool add_counters(QP_UNUSED void *unused, qp_counter_block *b)
{
    if (b->kind != QP_COUNTER_BLOCK_COUNTS)
        return true;
    qp_method *m = qp_at(&qp_recorder.space, b->method);
    const qp_jumps *jumps = qp_method_jumps(m);
    const qp_counter_block *base = b->base ? qp_at(&qp_recorder.space, b->base) : NULL;
    for (uint32_t i = 0; i < b->n_values; i++) {
        uint64_t n = qp_load(&b->values[i]) - (base ? qp_load(&base->values[i]) : 0);
        if (n)
            m->calls_next = CALLED; /* perhaps entered while nothing was recorded */
        if (jumps && i < jumps->n_jumps && jumps->jumps[i].from_block == QP_JUMP_ENTRY)
            m->calls_now += n;
    }
    return true;
}

/* ---- sums by module ---------------------------------------------------------------------- */

static module_row *row_of(module_table *t, qp_ref module, qp_cell method)
{
    unsigned i = 0;
    while (i < t->n && t->rows[i].module != module)
        i++;
    if (i == t->n && t->n < MODULES_MAX)
        t->rows[t->n++] = (module_row){.module = module, .first = method};
    if (method < t->rows[i].first)
        t->rows[i].first = method;
    return &t->rows[i];
}

static void take_method(module_table *t, qp_cell method)
{
    qp_method *m = qp_at(&qp_recorder.space, method);
    uint32_t flags = qp_observe(&m->flags);
    uint64_t calls = m->calls_now;
    bool is_hit = calls || m->calls_next;
    m->calls_now = m->calls_next = 0;
    if ((flags & QP_METHOD_PSEUDO) || !(is_hit || (flags & QP_METHOD_REGISTERED)))
        return;
    unsigned class = 0;
    for (uint64_t bound = 1; class < N_CLASSES - 1 && calls >= bound; bound *= 10)
        class ++;
    qp_ref module = qp_load(&m->module);
    module_row *row = row_of(t, module ? module : qp_recorder_head()->module, method);
    row->n_calls += calls;
    row->n_hit += is_hit;
    row->n_in[class]++;
}

/* In the order of their first registration; not by qsort(), which may take memory from the host's
 * heap. */
static void sort_rows(module_table *t)
{
    for (unsigned i = 1; i < t->n; i++)
        for (unsigned j = i; j && t->rows[j].first < t->rows[j - 1].first; j--) {
            module_row later = t->rows[j - 1];
            t->rows[j - 1] = t->rows[j];
            t->rows[j] = later;
        }
}

/* ---- printing ---------------------------------------------------------------------------- */

static void print_row(int fd, const char *name, const module_row *row)
{
    uint64_t n = 0;
    char shown[32];
    qp_plain(name, sizeof shown, shown, sizeof shown);
    for (unsigned i = 0; i < N_CLASSES; i++)
        n += row->n_in[i];
    dprintf(fd, "%-31s %14llu %7llu %7llu %9llu %6.1f %7llu %7llu %7llu %7llu %7llu\n", shown,
            (unsigned long long)row->n_calls, (unsigned long long)row->n_hit,
            (unsigned long long)(n - row->n_hit), (unsigned long long)n,
            n ? 100.0 * (double)row->n_hit / (double)n : 100.0,
            (unsigned long long)row->n_in[0], (unsigned long long)row->n_in[1],
            (unsigned long long)row->n_in[2], (unsigned long long)row->n_in[3],
            (unsigned long long)row->n_in[4]);
}

static void add_row(module_row *sum, const module_row *row)
{
    sum->n_calls += row->n_calls;
    sum->n_hit += row->n_hit;
    for (unsigned i = 0; i < N_CLASSES; i++)
        sum->n_in[i] += row->n_in[i];
}

void qp_live_summary_print(int fd)
{
    static module_table table; /* under the control lock */
    module_row all = {0};
    table = (module_table){.n = 0};
    const qp_thread_record *r;
    for (uint32_t i = 0; (r = qp_walk_records(&i, true)) != NULL;) {
        qp_walk_nodes(r, add_path, NULL);
        qp_walk_counter_blocks(r, add_counters, NULL);
    }
    qp_method_walk walk = {0};
    for (qp_cell cell; (cell = qp_walk_methods(&walk)) != 0;)
        take_method(&table, cell);
    sort_rows(&table);
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGPIPE);
    dprintf(fd, "%-31s %14s %7s %7s %9s %6s %7s %7s %7s %7s %7s\n", "Module", "Calls", "Hit",
            "Missed", "Functions", "Hit %", "0", "<10", "<100", "<1000", ">=1000");
    for (unsigned i = 0; i < table.n; i++) {
        print_row(fd, qp_texts_at(&qp_recorder.texts, table.rows[i].module), &table.rows[i]);
        add_row(&all, &table.rows[i]);
    }
    const module_row *others = &table.rows[MODULES_MAX];
    if (others->n_calls || others->n_in[0])
        print_row(fd, "other modules", others);
    add_row(&all, others);
    if (table.n > 1)
        print_row(fd, "all", &all);
    qp_signal_hold_end(&hold);
}
