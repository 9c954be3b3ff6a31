/* pc.c: the PC command of a run, and matching its pattern with the paths of a running program. Read
 * attribute first.
 *
 * Paths are only added and never move, so they can be walked while others record. */
#include "record/sample/sample.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/os/mapping.h"
#include "code/pattern.h"
#include "record/run/run.h"

int qp_pc_begin(qp_error *error)
{
    qp_head *h = qp_recorder_head();
    qp_pc_command command;
    qp_error mistake;
    char pattern[sizeof qp_recorder.options.pool];
    uint64_t period_before = h->pc_period;
    h->pc_period = 0;
    h->pc_pattern = 0;
    h->pc_kind = 0;
    h->pc_reached = 0;
    h->n_passes = h->sample_ns = 0; /* of another command */
    qp_recorder.is_pc_on = false;
    if (QP_PRODUCT_IS_COVERAGE || !(h->collect & QP_COLLECT_SAMPLES))
        return 0;
    qp_parse code =
        qp_pc_parse(qp_option_text(&qp_recorder.options, QP_OPT_pc), &command, &mistake);
    if (code != QP_PARSE_OK) {
        qp_error_fail(error, "-pc: column %u: %.150s", mistake.column, mistake.text);
        return code == QP_PARSE_ROOM ? QPROF_E_LIMIT : QPROF_E_SYNTAX;
    }
    snprintf(pattern, sizeof pattern, "%.*s", (int)command.n_pattern,
             command.pattern ? command.pattern : "");
    h->pc_pattern = qp_texts_add(&qp_recorder.texts, pattern);
    h->pc_kind = (uint32_t)command.kind;
    h->pc_period = command.period_us * 1000;
    if (command.is_raised && h->pc_period != period_before)
        qp_count(&qp_recorder.space, QP_D_clamped_options);
    qp_recorder.is_pc_on = true;
    return 0;
}

/* ---- methods as patterns name them ------------------------------------------------------- */

typedef struct {
    qp_pattern *pattern; /* NULL: every stack counts */
    qp_cell *frames;     /* [n_room] */
    uint64_t n_room;
    void *scratch; /* [n_scratch] */
    size_t n_scratch;
    bool has_failed;
    void (*visit)(void *to, const qp_pc_attribution *c);
    void *to;
} inspector;

static const qp_method *method_at(qp_cell cell)
{
    return qp_at(&qp_recorder.space, cell);
}

bool qp_pc_is_procedure(qp_cell method)
{
    return method && !(qp_load(&method_at(method)->flags) & QP_METHOD_PSEUDO);
}

const char *qp_pc_procedure_name(qp_cell method)
{
    return qp_texts_of(&qp_recorder.texts, &method_at(method)->name);
}

int qp_pc_module(qp_cell method, const char **module)
{
    const qp_method *m = method_at(method);
    *module = qp_texts_of(&qp_recorder.texts, &m->class_name);
    if ((*module)[0])
        return (int)strlen(*module);
    const char *file = qp_texts_of(&qp_recorder.texts, &m->file);
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    const char *dot = strrchr(base, '.');
    *module = base;
    return (int)(dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const inspector *x = to;
    char module[256];
    const char *name;
    if (!qp_pc_is_procedure(x->frames[frame]))
        return false;
    int n = qp_pc_module(x->frames[frame], &name);
    if (n >= (int)sizeof module)
        return false;
    memcpy(module, name, (size_t)n);
    module[n] = '\0';
    return qp_pattern_name_fits(x->pattern, item, module,
                                qp_pc_procedure_name(x->frames[frame]));
}

/* ---- memory ------------------------------------------------------------------------------ */

static bool grow(void **p, size_t *n_bytes, size_t wanted)
{
    if (wanted <= *n_bytes)
        return true;
    qp_pages_drop(*p, *n_bytes);
    *n_bytes = wanted * 2;
    *p = qp_pages_take(*n_bytes);
    if (!*p)
        *n_bytes = 0;
    return *p != NULL;
}

static bool make_room(inspector *x, uint32_t n_frames)
{
    size_t n_bytes = x->n_room * sizeof(qp_cell);
    void *frames = x->frames;
    bool has_frames = grow(&frames, &n_bytes, ((size_t)n_frames + 1) * sizeof(qp_cell));
    x->frames = frames;
    x->n_room = n_bytes / sizeof(qp_cell);
    return has_frames && (!x->pattern || grow(&x->scratch, &x->n_scratch,
                                              qp_pattern_scratch(x->pattern, n_frames)));
}

/* ---- one path ---------------------------------------------------------------------------- */

static const qp_node *node_at(qp_cell cell)
{
    return qp_at(&qp_recorder.space, cell);
}

static bool read_path(inspector *x, qp_cell cell, uint32_t *n_frames)
{
    uint32_t n = 0;
    for (qp_cell at = cell; node_at(at)->parent; at = node_at(at)->parent)
        n++;
    *n_frames = n;
    if (!make_room(x, n))
        return false;
    for (qp_cell at = cell; n; at = node_at(at)->parent)
        x->frames[--n] = node_at(at)->method;
    return true;
}

static bool attribute(inspector *x, qp_cell cell, uint64_t n, qp_pc_attribution *c)
{
    uint32_t n_frames;
    if (!read_path(x, cell, &n_frames))
        return false;
    bool is_foreign = n_frames && !qp_pc_is_procedure(x->frames[n_frames - 1]);
    *c = (qp_pc_attribution){
        .n = n, .is_counted = true, .frames = x->frames, .n_frames = n_frames};
    if (!x->pattern) {
        c->n_deep = n_frames;
        c->charged = !n_frames || is_foreign ? QP_PATTERN_FOREIGN : (int64_t)n_frames - 1;
        return true;
    }
    const qp_pattern_stack stack = {n_frames, is_foreign, frame_fits, x};
    qp_pattern_answer m =
        qp_pattern_match(x->pattern, &stack, x->scratch, x->n_scratch, &c->charged, &c->n_deep);
    c->is_counted = m == QP_PATTERN_YES;
    if (c->is_counted && c->charged >= 0 && !qp_pc_is_procedure(x->frames[c->charged]))
        c->charged = QP_PATTERN_FOREIGN;
    return m != QP_PATTERN_NO_MEMORY;
}

/* ---- all of them ------------------------------------------------------------------------- */

static bool visit_path(void *to, qp_cell cell, const qp_node *n)
{
    inspector *x = to;
    qp_cell more = qp_observe(&n->more);
    const qp_node_more *m = more ? qp_at(&qp_recorder.space, more) : NULL;
    uint64_t n_samples = m ? qp_load(&m->samples) : 0;
    qp_pc_attribution c;
    if (!n_samples)
        return true;
    x->has_failed = !attribute(x, cell, n_samples, &c);
    if (!x->has_failed)
        x->visit(x->to, &c);
    return !x->has_failed;
}

bool qp_pc_each(void (*visit)(void *to, const qp_pc_attribution *c), void *to)
{
    inspector x = {.visit = visit, .to = to};
    qp_error unused;
    const qp_head *h = qp_recorder_head();
    if (h->pc_pattern) {
        x.pattern = qp_pages_take(sizeof *x.pattern);
        x.has_failed =
            !x.pattern ||
            qp_pattern_parse(x.pattern, qp_texts_at(&qp_recorder.texts, h->pc_pattern),
                             &unused) != QP_PARSE_OK;
    }
    const qp_thread_record *r;
    for (uint32_t i = 0; !x.has_failed && (r = qp_walk_records(&i, true)) != NULL;)
        qp_walk_nodes(r, visit_path, &x);
    qp_pages_drop(x.pattern, sizeof *x.pattern);
    qp_pages_drop(x.frames, x.n_room * sizeof(qp_cell));
    qp_pages_drop(x.scratch, x.n_scratch);
    return !x.has_failed;
}
