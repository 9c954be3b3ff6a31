/* pc_list.c: the report of the PC command: all procedures by shallow, then by deep count. Read
 * qp_pc_list first. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/os/mapping.h"
#include "base/os/thread.h"
#include "base/text/text.h"
#include "code/pattern.h"
#include "record/report/report.h"
#include "record/sample/sample.h"

typedef struct {
    uint64_t shallow, deep, seen; /* seen: the last path that counted it */
    qp_cell method;
} row;

typedef struct {
    row *rows; /* [n_rows + 1] by the ordinal of the method */
    uint64_t n_rows, n_paths;
    uint64_t counted, skipped, foreign;
} table;

static row *row_of(table *t, qp_cell method)
{
    const qp_method *m = qp_at(&qp_recorder.space, method);
    row *r = &t->rows[m->ordinal <= t->n_rows ? m->ordinal : 0];
    r->method = method;
    return r;
}

static void add_path(void *to, const qp_pc_attribution *c)
{
    table *t = to;
    t->n_paths++;
    if (!c->is_counted) {
        t->skipped += c->n;
        return;
    }
    t->counted += c->n;
    if (c->charged == QP_PATTERN_FOREIGN)
        t->foreign += c->n;
    else
        row_of(t, c->frames[c->charged])->shallow += c->n;
    for (uint32_t i = 0; i < c->n_deep; i++) {
        row *r = qp_pc_is_procedure(c->frames[i]) ? row_of(t, c->frames[i]) : NULL;
        if (r && r->seen != t->n_paths) {
            r->deep += c->n;
            r->seen = t->n_paths;
        }
    }
}

/* ---- order ------------------------------------------------------------------------------- */

static int compare_names(const row *a, const row *b)
{
    const char *x, *y;
    int n_x = qp_pc_module(a->method, &x), n_y = qp_pc_module(b->method, &y);
    int order = memcmp(x, y, (size_t)(n_x < n_y ? n_x : n_y));
    if (!order)
        order = n_x - n_y;
    return order ? order
                 : strcmp(qp_pc_procedure_name(a->method), qp_pc_procedure_name(b->method));
}

static bool comes_before(const row *a, const row *b, bool is_deep)
{
    uint64_t x = is_deep ? a->deep : a->shallow, y = is_deep ? b->deep : b->shallow;
    return x != y ? x > y : compare_names(a, b) < 0;
}

/* A Shell sort, because the C library's qsort may take memory from the host's heap. */
static void sort(row *rows, uint64_t n, bool is_deep)
{
    for (uint64_t gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (uint64_t i = gap; i < n; i++) {
            row kept = rows[i];
            uint64_t at = i;
            for (; at >= gap && comes_before(&kept, &rows[at - gap], is_deep); at -= gap)
                rows[at] = rows[at - gap];
            rows[at] = kept;
        }
}

/* ---- text -------------------------------------------------------------------------------- */

static double percent(const table *t, uint64_t n)
{
    return t->counted ? 100.0 * (double)n / (double)t->counted : 0;
}

static void print_row(int fd, const table *t, const row *r)
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

static void print_table(int fd, const table *t, uint64_t n, bool is_deep)
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
            print_row(fd, t, &t->rows[i]);
    }
}

static void print_summary(int fd, const table *t)
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
    table t = {.n_rows = qp_load(&qp_recorder_head()->n_methods)};
    size_t n_bytes = (t.n_rows + 1) * sizeof *t.rows;
    t.rows = qp_pages_take(n_bytes);
    bool is_read = t.rows && qp_pc_each(add_path, &t);
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
