/* pc_figures.c: the exported functions that show PC samples, and those of call patterns. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/guard.h"
#include "base/os/mapping.h"
#include "record/control/control.h"
#include "record/report/report.h"
#include "record/sample/sample.h"

/* In libcprof the functions exist, as hosts may look up any name, and do nothing. */
static int unsupported(void)
{
    return qp_guard_refuse(QPROF_E_UNSUPPORTED, "libcprof does not sample");
}

/* ---- figures ----------------------------------------------------------------------------- */

/* As qp_guard_begin(), of a run that had a PC command. */
static int begin_figures(const char *function)
{
    int code = qp_guard_begin(function);
    if (!code && !qp_recorder_head()->pc_period)
        code = qp_guard_end(QPROF_E_STATE, "no PC command was given");
    return code;
}

static void add_totals(void *to, const qp_pc_attribution *c)
{
    qprof_PcTotals *t = to;
    t->occurred += c->n;
    *(c->is_counted ? &t->counted : &t->skipped) += c->n;
    if (c->is_counted && c->charged == QP_PATTERN_FOREIGN)
        t->foreign += c->n;
}

int qprof_pc_totals(qprof_PcTotals *totals)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return unsupported();
    if (!totals)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_pc_totals: totals is NULL");
    QP_TRY(begin_figures("qprof_pc_totals"));
    const qp_head *h = qp_recorder_head();
    uint64_t n_passes = qp_load(&h->n_passes);
    qprof_PcTotals t = {.kind = (int)h->pc_kind,
                        .critical = qp_load(&h->n_critical),
                        .interval = (unsigned long)(h->pc_period / 1000)};
    t.measured = n_passes && h->sample_period == h->pc_period
                     ? (unsigned long)(qp_load(&h->sample_ns) / n_passes / 1000)
                     : 0;
    if (!qp_pc_each(add_totals, &t))
        return qp_guard_end(QPROF_E_MEMORY, "qprof_pc_totals: out of memory");
    t.occurred += t.critical; /* with every pattern */
    t.counted += t.critical;
    *totals = t;
    return qp_guard_end(0, "");
}

typedef struct {
    qp_cell method;
    uint64_t shallow, deep;
} procedure;

static void add_procedure(void *to, const qp_pc_attribution *c)
{
    procedure *p = to;
    if (!c->is_counted)
        return;
    if (c->charged >= 0 && c->frames[c->charged] == p->method)
        p->shallow += c->n;
    for (uint32_t i = 0; i < c->n_deep; i++)
        if (c->frames[i] == p->method) {
            p->deep += c->n;
            return;
        }
}

int qprof_pc_procedure(qprof_MethodID id, uint64_t *shallow, uint64_t *deep)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return unsupported();
    QP_TRY(begin_figures("qprof_pc_procedure"));
    procedure p = {.method = qp_methods_find(&qp_recorder.methods, id)};
    if (!p.method || !qp_pc_is_procedure(p.method))
        return qp_guard_end(QPROF_E_NOTFOUND, "qprof_pc_procedure: unknown method");
    if (!qp_pc_each(add_procedure, &p))
        return qp_guard_end(QPROF_E_MEMORY, "qprof_pc_procedure: out of memory");
    if (shallow)
        *shallow = p.shallow;
    if (deep)
        *deep = p.deep;
    return qp_guard_end(0, "");
}

int qprof_pc_list(const char *file)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return unsupported();
    int code = begin_figures("qprof_pc_list");
    if (code)
        return code;
    int fd = qp_report_open(file);
    fd = fd ? fd : 1; /* -summary=none, but the report is asked for */
    code = fd < 0 ? QPROF_E_IO : qp_pc_list(fd);
    if (fd > 2)
        close(fd);
    return qp_guard_end(code, code == QPROF_E_IO ? "qprof_pc_list: the file cannot be opened"
                                                 : "qprof_pc_list: out of memory");
}

/* ---- patterns ---------------------------------------------------------------------------- */

struct qprof_PcPattern {
    qp_pattern pattern;
};

qprof_PcPattern *qprof_pc_pattern_compile(const char *text, int *error_column)
{
    qp_error error = {0};
    int host_errno = errno;
    if (error_column)
        *error_column = 0;
    if (QP_PRODUCT_IS_COVERAGE) {
        unsupported();
        return NULL;
    }
    qprof_PcPattern *p = text ? qp_pages_take(sizeof *p) : NULL;
    if (p && qp_pattern_parse(&p->pattern, text, &error) != QP_PARSE_OK) {
        qp_pages_drop(p, sizeof *p);
        p = NULL;
    }
    errno = host_errno;
    if (error_column && !p)
        *error_column = (int)error.column;
    if (!p)
        qp_guard_refuse(text ? QPROF_E_SYNTAX : QPROF_E_ARG,
                        error.text[0] ? error.text : "qprof_pc_pattern_compile: no text");
    return p;
}

typedef struct {
    const qprof_PcPattern *p;
    const char *const *frames;
} named_stack;

/* The frame is "module.procedure"; its last dot separates them. */
static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const named_stack *s = to;
    char module[256];
    const char *name = s->frames[frame];
    const char *dot = name ? strrchr(name, '.') : NULL;
    size_t n = dot ? (size_t)(dot - name) : name ? strlen(name) : 0;
    if (!name || n >= sizeof module)
        return false;
    memcpy(module, name, n);
    module[n] = '\0';
    return qp_pattern_name_fits(&s->p->pattern, item, module, dot ? dot + 1 : "");
}

int qprof_pc_pattern_match(const qprof_PcPattern *p, const char *const *frames, int n,
                           int *charged)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return unsupported();
    int64_t frame;
    uint32_t n_deep;
    int host_errno = errno;
    if (!p || n < 0 || (n && !frames))
        return qp_guard_refuse(QPROF_E_ARG, "qprof_pc_pattern_match: bad argument");
    size_t n_bytes = qp_pattern_scratch(&p->pattern, (uint32_t)n);
    void *scratch = qp_pages_take(n_bytes);
    if (!scratch)
        return qp_guard_refuse(QPROF_E_MEMORY, "qprof_pc_pattern_match: out of memory");
    named_stack s = {p, frames};
    const qp_pattern_stack stack = {(uint32_t)n, n && !frames[n - 1], frame_fits, &s};
    qp_pattern_answer m =
        qp_pattern_match(&p->pattern, &stack, scratch, n_bytes, &frame, &n_deep);
    qp_pages_drop(scratch, n_bytes);
    errno = host_errno;
    if (m == QP_PATTERN_YES && charged)
        *charged = (int)frame;
    return m == QP_PATTERN_YES;
}

void qprof_pc_pattern_free(qprof_PcPattern *p)
{
    int host_errno = errno;
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_pages_drop(p, sizeof *p);
    errno = host_errno;
}
