/* report.c: short reports: calls by module while the program runs, the PC samples, and the hottest
 * methods at the end. Read qp_live_summary_print, qp_pc_list and qp_summary_print first. */
#include "record/report/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/mapping.h"
#include "base/os/thread.h"
#include "base/text/text.h"
#include "code/pattern.h"
#include "record/clock/clock.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"

/* ---- calls by module --------------------------------------------------------------------- */
/* Sums by method use fields of the method records that are free between two control calls
 * (calls_now, calls_next), so nothing is allocated, however often it is called. */

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

static bool counts_its_entries(const qp_method *m)
{
    const qp_jumps *jumps = qp_method_jumps(m);
    for (uint32_t i = 0; jumps && i < jumps->n_jumps; i++)
        if (jumps->jumps[i].from_block == QP_JUMP_ENTRY)
            return true;
    return false;
}

static bool add_entries(QP_UNUSED void *unused, QP_UNUSED qp_cell cell, const qp_node *n)
{
    qp_method *m = qp_at(&qp_recorder.space, n->method);
    if (n->method && !counts_its_entries(m))
        m->calls_now += qp_node_calls(n);
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

static module_row *row_of_module(module_table *t, qp_ref module, qp_cell method)
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
    module_row *row = row_of_module(t, module ? module : qp_recorder_head()->module, method);
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

static void print_module(int fd, const char *name, const module_row *row)
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

static void add_module(module_row *sum, const module_row *row)
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
        qp_walk_nodes(r, add_entries, NULL);
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
        print_module(fd, qp_texts_at(&qp_recorder.texts, table.rows[i].module), &table.rows[i]);
        add_module(&all, &table.rows[i]);
    }
    const module_row *others = &table.rows[MODULES_MAX];
    if (others->n_calls || others->n_in[0])
        print_module(fd, "other modules", others);
    add_module(&all, others);
    if (table.n > 1)
        print_module(fd, "all", &all);
    qp_signal_hold_end(&hold);
}

/* ---- PC samples -------------------------------------------------------------------------- */

typedef struct {
    uint64_t shallow, deep, seen; /* seen: the last path that counted it */
    qp_cell method;
} procedure_row;

typedef struct {
    procedure_row *rows; /* [n_rows + 1] by the ordinal of the method */
    uint64_t n_rows, n_paths;
    uint64_t counted, skipped, foreign;
} procedure_table;

static procedure_row *row_of_procedure(procedure_table *t, qp_cell method)
{
    const qp_method *m = qp_at(&qp_recorder.space, method);
    procedure_row *r = &t->rows[m->ordinal <= t->n_rows ? m->ordinal : 0];
    r->method = method;
    return r;
}

static void add_samples(void *to, const qp_pc_attribution *c)
{
    procedure_table *t = to;
    t->n_paths++;
    if (!c->is_counted) {
        t->skipped += c->n;
        return;
    }
    t->counted += c->n;
    if (c->charged == QP_PATTERN_FOREIGN)
        t->foreign += c->n;
    else
        row_of_procedure(t, c->frames[c->charged])->shallow += c->n;
    for (uint32_t i = 0; i < c->n_deep; i++) {
        procedure_row *r =
            qp_pc_is_procedure(c->frames[i]) ? row_of_procedure(t, c->frames[i]) : NULL;
        if (r && r->seen != t->n_paths) {
            r->deep += c->n;
            r->seen = t->n_paths;
        }
    }
}

static int compare_names(const procedure_row *a, const procedure_row *b)
{
    const char *x, *y;
    int n_x = qp_pc_module(a->method, &x), n_y = qp_pc_module(b->method, &y);
    int order = memcmp(x, y, (size_t)(n_x < n_y ? n_x : n_y));
    if (!order)
        order = n_x - n_y;
    return order ? order
                 : strcmp(qp_pc_procedure_name(a->method), qp_pc_procedure_name(b->method));
}

static bool comes_before(const procedure_row *a, const procedure_row *b, bool is_deep)
{
    uint64_t x = is_deep ? a->deep : a->shallow, y = is_deep ? b->deep : b->shallow;
    return x != y ? x > y : compare_names(a, b) < 0;
}

/* A Shell sort, because the C library's qsort may take memory from the host's heap. */
static void sort(procedure_row *rows, uint64_t n, bool is_deep)
{
    for (uint64_t gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (uint64_t i = gap; i < n; i++) {
            procedure_row kept = rows[i];
            uint64_t at = i;
            for (; at >= gap && comes_before(&kept, &rows[at - gap], is_deep); at -= gap)
                rows[at] = rows[at - gap];
            rows[at] = kept;
        }
}

static double percent(const procedure_table *t, uint64_t n)
{
    return t->counted ? 100.0 * (double)n / (double)t->counted : 0;
}

static void print_procedure(int fd, const procedure_table *t, const procedure_row *r)
{
    const char *given;
    char module[128], name[256];
    int n = qp_pc_module(r->method, &given);
    qp_plain(given, (size_t)n, module, sizeof module);
    qp_plain(qp_pc_procedure_name(r->method), sizeof name, name, sizeof name);
    dprintf(fd, "%-20s %-28s %10llu %5.1f%% %10llu %5.1f%%\n", module, name,
            (unsigned long long)r->shallow, percent(t, r->shallow), (unsigned long long)r->deep,
            percent(t, r->deep));
}

static void print_table(int fd, const procedure_table *t, uint64_t n, bool is_deep)
{
    bool is_foreign_due = t->foreign != 0;
    dprintf(fd, "\nBy %s count\n%-20s %-28s %10s %6s %10s %6s\n", is_deep ? "deep" : "shallow",
            "Module", "Procedure", "Shallow", "%", "Deep", "%");
    for (uint64_t i = 0; i <= n; i++) {
        bool is_here = i == n || (!is_deep && t->rows[i].shallow < t->foreign);
        if (is_foreign_due && is_here) {
            dprintf(fd, "%-20s %-28s %10llu %5.1f%%\n", "foreignPcs", "",
                    (unsigned long long)t->foreign, percent(t, t->foreign));
            is_foreign_due = false;
        }
        if (i < n)
            print_procedure(fd, t, &t->rows[i]);
    }
}

static void print_summary(int fd, const procedure_table *t)
{
    const qp_head *h = qp_recorder_head();
    uint64_t critical = qp_load(&h->n_critical), n_passes = qp_load(&h->n_passes);
    char pattern[512];
    qp_plain(qp_texts_at(&qp_recorder.texts, h->pc_pattern), sizeof pattern, pattern,
             sizeof pattern);
    dprintf(fd,
            "\nPC samples: %llu occurred, %llu counted, %llu skipped, %llu in critical "
            "sections, %llu foreign\n%s, every %llu us",
            (unsigned long long)(t->counted + t->skipped), (unsigned long long)t->counted,
            (unsigned long long)t->skipped, (unsigned long long)critical,
            (unsigned long long)t->foreign, h->pc_kind == QP_PC_REAL ? "REAL" : "VIRTUAL",
            (unsigned long long)(h->pc_period / 1000));
    if (n_passes && h->sample_period == h->pc_period)
        dprintf(fd, ", measured %llu us",
                (unsigned long long)(qp_load(&h->sample_ns) / n_passes / 1000));
    dprintf(fd, "%s%s\n", pattern[0] ? "\nWHEN " : "", pattern);
}

int qp_pc_list(int fd)
{
    procedure_table t = {.n_rows = qp_load(&qp_recorder_head()->n_methods)};
    size_t n_bytes = (t.n_rows + 1) * sizeof *t.rows;
    t.rows = qp_pages_take(n_bytes);
    bool is_read = t.rows && qp_pc_each(add_samples, &t);
    if (is_read) {
        qp_signal_hold hold;
        t.counted += qp_load(&qp_recorder_head()->n_critical);
        uint64_t n = 0;
        for (uint64_t i = 0; i <= t.n_rows; i++)
            if (t.rows[i].shallow || t.rows[i].deep)
                t.rows[n++] = t.rows[i];
        qp_signal_hold_begin(&hold, SIGPIPE);
        for (int is_deep = 0; is_deep < 2; is_deep++) {
            sort(t.rows, n, is_deep);
            print_table(fd, &t, n, is_deep);
        }
        print_summary(fd, &t);
        qp_signal_hold_end(&hold);
    }
    qp_pages_drop(t.rows, n_bytes);
    return is_read ? 0 : QPROF_E_MEMORY;
}

/* ---- the hottest methods ----------------------------------------------------------------- */

enum { ROWS = 10 };

typedef struct {
    qp_cell method; /* 0: not called */
    uint64_t n_calls;
    int64_t self;
} method_sum;

/* Ticks of a path: its self time; adaptive: including its callees. */
static int64_t ticks_of(const qp_node *n)
{
    if (qp_recorder_head()->time_mode != QP_TIME_ADAPTIVE)
        return (int64_t)(n->parent ? n->self
                                   : n->self_max); /* the root's has time outside of calls */
    const qp_node_more *more = n->more ? qp_at(&qp_recorder.space, n->more) : NULL;
    const qp_node_timing *timing =
        more && more->timing ? qp_at(&qp_recorder.space, more->timing) : NULL;
    return (int64_t)qp_path_time_of(n, timing, n->n_calls).ticks;
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
    sum_of(sums, n)->n_calls += qp_node_calls(n);
    sum_of(sums, n)->self += ticks_of(n);
    if (qp_recorder_head()->time_mode == QP_TIME_ADAPTIVE && n->parent)
        sum_of(sums, qp_at(&qp_recorder.space, n->parent))->self -= ticks_of(n);
    return true;
}

static void add_tree(method_sum *sums, const qprof_thread *th)
{
    qp_walk_nodes(qp_record_of(th), add_path, sums);
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
        dprintf(fd, "%s %s=%llu", lead, qp_diagnostic_name((qp_diagnostic)i),
                (unsigned long long)n);
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
        dprintf(fd, "qprof: no file was written\n");
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
