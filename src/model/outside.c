/* outside.c: stacks of a running process, read from its live profile. Read qp_outside_pass first.
 *
 * The file is read and not mapped, as everywhere in the tool: who cuts it does no harm. A thread
 * goes on while it is looked at. Its top word says which frames are whole, and a frame's path is
 * one word; only a stack without paths takes longer to copy than it may stay as it is. */
#include "model/outside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/task.h"
#include "model/image.h"
#include "model/live.h"
#include "model/outside_parts.h"

enum {
    TRIES = 16, /* of a torn sample */
    THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL,
    LOOK_NS = 50 * 1000000, /* is the process still there? */
    DEPTH_MAX = 1 << 20,    /* frames that are copied */
    DUE_MAX = 64 /* periods of CPU time that wait for a pass that finds the thread running */
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_cells(const qp_outside *o, uint64_t cell, size_t n, void *to)
{
    return qp_file_read_at(o->fd, to, n * QP_CELL, cell * QP_CELL) == n * QP_CELL;
}

static bool read_extent(const qp_outside *o, uint64_t cell, qp_extent *e)
{
    return read_cells(o, cell, 1, e) && e->magic == QP_EXTENT_MAGIC && e->self == cell &&
           e->nonce == (o->head.nonce ^ cell) && e->n_cells;
}

/* Thread records lie in extents that are never moved. One that is being claimed has no header yet:
 * it is looked at again. */
static void find_rows(qp_outside *o)
{
    qp_extent e;
    while (o->n_seen < o->head.n_cells && read_extent(o, o->n_seen, &e)) {
        if (e.kind == QP_EXTENT_THREADS) {
            qp_stretch *s = qp_buf_add(&o->rows);
            if (s)
                *s = (qp_stretch){o->n_seen + 1, o->n_seen + e.n_cells};
        }
        o->n_seen += e.n_cells;
    }
}

/* ---- paths ----------------------------------------------------------------------------------- */

static qp_outside_node *node_at(qp_outside *o, uint32_t i)
{
    return QP_OUTSIDE_AT(o->nodes, qp_outside_node, i);
}

static qp_outside_thread *thread_at(qp_outside *o, uint32_t i)
{
    return QP_OUTSIDE_AT(o->threads, qp_outside_thread, i);
}

/* @return UINT32_MAX: no memory */
static uint32_t add_node(qp_outside *o, uint32_t thread, uint32_t parent, uint64_t method,
                         uint64_t key)
{
    uint32_t index = (uint32_t)o->nodes.n, same = qp_dict_get(&o->node_of, key);
    qp_outside_node *n = qp_buf_add(&o->nodes);
    if (!n || !qp_dict_put(&o->node_of, key, index + 1))
        return UINT32_MAX;
    *n = (qp_outside_node){.method = method, .parent = parent, .same = same};
    qp_outside_thread *th = thread_at(o, thread);
    node_at(o, th->last)->next = index;
    th->last = index;
    return index;
}

/* @return UINT32_MAX: no memory */
static uint32_t thread_of(qp_outside *o, qp_cell cell)
{
    uint32_t known = qp_dict_get(&o->thread_of, cell);
    if (known)
        return known - 1;
    qp_outside_thread *th = qp_buf_add(&o->threads);
    qp_outside_node *root = qp_buf_add(&o->nodes);
    if (!th || !root || !qp_dict_put(&o->thread_of, cell, (uint32_t)o->threads.n))
        return UINT32_MAX;
    uint32_t index = (uint32_t)o->nodes.n - 1;
    *root = (qp_outside_node){.parent = index};
    *th = (qp_outside_thread){cell, index, index};
    return (uint32_t)o->threads.n - 1;
}

static void credit(qp_outside *o, uint32_t node)
{
    if (node == UINT32_MAX)
        return;
    node_at(o, node)->n++;
    o->n_interrupts++;
}

/* ---- of what records call paths -------------------------------------------------------------- */

/* The cells of a path up to one that is known, or to the root, go onto o->stack[0]. Callers have
 * smaller cells. @return the caller of the outermost of them; UINT32_MAX: a damaged path */
static uint32_t known_above(qp_outside *o, uint32_t thread, qp_cell cell)
{
    qp_node n;
    o->stack[0].n = 0;
    for (;;) {
        uint32_t known = qp_dict_get(&o->node_of, cell);
        if (known)
            return known - 1;
        if (!read_cells(o, cell, 1, &n) || n.parent >= cell)
            return UINT32_MAX;
        if (!n.parent)
            return thread_at(o, thread)->root;
        uint64_t *kept = qp_buf_add(&o->stack[0]);
        if (!kept)
            return UINT32_MAX;
        *kept = (uint64_t)n.method << 32 | cell;
        cell = n.parent;
    }
}

static uint32_t node_of_cell(qp_outside *o, uint32_t thread, qp_cell cell)
{
    uint32_t node = known_above(o, thread, cell);
    for (size_t i = o->stack[0].n; i-- > 0 && node != UINT32_MAX;) {
        uint64_t kept = *QP_OUTSIDE_AT(o->stack[0], uint64_t, i);
        node = add_node(o, thread, node, kept >> 32, (qp_cell)kept);
    }
    return node;
}

/* A frame that was popped meanwhile was on top a moment ago: its path is as true. */
static bool take_path(qp_outside *o, uint32_t thread, const qp_thread_record *r)
{
    qp_frame f;
    if (!read_cells(o, r->top & ~QP_TOP_BUSY, 1, &f) || !f.node)
        return false;
    uint32_t node = node_of_cell(o, thread, f.node);
    o->has_frames = true;
    credit(o, node);
    return node != UINT32_MAX;
}

/* ---- of what only keeps the stack ------------------------------------------------------------ */

/* Methods of n frames from a cell on, behind what is in the copy. */
static bool copy_frames(qp_outside *o, qp_buf *copy, qp_cell first, uint32_t n)
{
    o->scratch.n = 0;
    if (!n)
        return true;
    if (copy->n + n > DEPTH_MAX)
        return false;
    qp_frame *frames = qp_buf_add_many(&o->scratch, n);
    uint64_t *to = frames ? qp_buf_add_many(copy, n) : NULL;
    if (!to || !read_cells(o, first, n, frames))
        return false;
    for (uint32_t i = 0; i < n; i++)
        to[i] = frames[i].method_id;
    return true;
}

/* The frames of a chunk up to a cell, behind those of the chunks below it, whose last slot its slot
 * 0 stands for; the outermost slot is the root's. */
static bool copy_chunks(qp_outside *o, qp_buf *copy, qp_cell chunk, qp_cell last)
{
    qp_extent e[64]; /* the first is the innermost; they double up to a MiB */
    unsigned n = 0;
    for (qp_cell cell = chunk; cell && n < sizeof e / sizeof *e; cell = e[n - 1].prev) {
        if (!read_extent(o, cell, &e[n]) || e[n].kind != QP_EXTENT_FRAMES || e[n].n_cells < 4 ||
            (n && e[n].base_depth >= e[n - 1].base_depth))
            return false;
        n++;
    }
    copy->n = 0;
    if (!n || e[n - 1].prev || last <= chunk || last >= chunk + e[0].n_cells)
        return false;
    while (n-- > 0) {
        qp_cell first = e[n].self + 1 + (e[n].prev == 0);
        qp_cell end = n ? e[n].self + e[n].n_cells - 1 : last + 1;
        if (end > first && !copy_frames(o, copy, first, end - first))
            return false;
    }
    return true;
}

/* Do both copies agree in the callers of what is on top in the first? */
static bool is_whole(const qp_outside *o)
{
    const qp_buf *a = &o->stack[0], *b = &o->stack[1];
    size_t n_callers = a->n ? a->n - 1 : 0;
    return b->n >= n_callers &&
           (!n_callers || memcmp(a->items, b->items, n_callers * sizeof(uint64_t)) == 0);
}

static bool copy_stack(qp_outside *o, const qp_thread_record *r, qp_cell cell)
{
    qp_thread_record again;
    return copy_chunks(o, &o->stack[0], r->chunk, r->top & ~QP_TOP_BUSY) &&
           read_cells(o, cell, THREAD_CELLS, &again) &&
           copy_chunks(o, &o->stack[1], again.chunk, again.top & ~QP_TOP_BUSY) && is_whole(o);
}

static uint32_t callee_of(qp_outside *o, uint32_t thread, uint32_t parent, uint64_t method)
{
    uint64_t key = qp_hash_bytes(qp_hash_bytes(QP_HASH_START, &parent, sizeof parent), &method,
                                 sizeof method);
    for (uint32_t at = qp_dict_get(&o->node_of, key); at; at = node_at(o, at - 1)->same)
        if (node_at(o, at - 1)->parent == parent && node_at(o, at - 1)->method == method)
            return at - 1;
    return add_node(o, thread, parent, method, key);
}

static bool take_stack(qp_outside *o, uint32_t thread, const qp_thread_record *r)
{
    qp_thread_record now = *r;
    qp_cell cell = thread_at(o, thread)->cell;
    bool is_good = copy_stack(o, &now, cell);
    for (unsigned i = 1; i < TRIES && !is_good; i++)
        is_good = read_cells(o, cell, THREAD_CELLS, &now) && copy_stack(o, &now, cell);
    uint32_t node = thread_at(o, thread)->root;
    for (size_t i = 0; is_good && i < o->stack[0].n && node != UINT32_MAX; i++)
        node = callee_of(o, thread, node, *QP_OUTSIDE_AT(o->stack[0], uint64_t, i));
    o->has_frames |= is_good && o->stack[0].n;
    if (is_good)
        credit(o, node);
    return is_good;
}

/* ---- interrupts ------------------------------------------------------------------------------ */

/* @return NULL: no memory */
static qp_outside_carrier *carrier_of(qp_outside *o, uint64_t system_id)
{
    uint32_t known = qp_dict_get(&o->carrier_of, system_id);
    if (known)
        return QP_OUTSIDE_AT(o->carriers, qp_outside_carrier, known - 1);
    qp_outside_carrier *c = qp_buf_add(&o->carriers);
    if (!c || !qp_dict_put(&o->carrier_of, system_id, (uint32_t)o->carriers.n))
        return NULL;
    *c = (qp_outside_carrier){.seen_ns = qp_task_cpu(o->pid, system_id)};
    return c;
}

/* Is a thread due an interrupt? By CPU time: while it runs, of time that it had used before the
 * pass before. The system brings that figure up to date at its ticks, and when the thread itself
 * asks for it: the figure of this moment would favour who asks. */
static bool is_due(qp_outside *o, uint64_t system_id)
{
    uint64_t period = o->command.period_us * 1000;
    if (o->command.kind == QP_PC_REAL)
        return true;
    qp_outside_carrier *c = carrier_of(o, system_id);
    if (!c)
        return false;
    bool is_due = c->due_ns >= period && qp_task_is_running(o->pid, system_id);
    uint64_t now = qp_task_cpu(o->pid, system_id);
    if (is_due)
        c->due_ns -= period;
    if (now > c->seen_ns) {
        c->due_ns += now - c->seen_ns;
        c->seen_ns = now;
    }
    if (c->due_ns > DUE_MAX * period) {
        o->unmade_ns += c->due_ns - DUE_MAX * period;
        c->due_ns = DUE_MAX * period;
    }
    return is_due;
}

static void look_at(qp_outside *o, qp_cell cell, const qp_thread_record *r)
{
    if (r->state != QP_THREAD_ALIVE || r->parked_at || !r->root || !r->chunk ||
        r->has_host_id == QP_ROW_EARLIER)
        return;
    uint32_t thread = is_due(o, r->system_id) ? thread_of(o, cell) : UINT32_MAX;
    if (thread == UINT32_MAX)
        return;
    bool is_good = o->is_stack_only ? take_stack(o, thread, r) : take_path(o, thread, r);
    o->n_torn += !is_good;
}

static void look_at_all(qp_outside *o)
{
    for (size_t i = 0; i < o->rows.n; i++) {
        qp_stretch s = *QP_OUTSIDE_AT(o->rows, qp_stretch, i);
        for (uint64_t cell = s.begin; cell + THREAD_CELLS <= s.end; cell += THREAD_CELLS) {
            qp_thread_record r;
            if (!read_cells(o, cell, THREAD_CELLS, &r) || !r.state)
                break; /* they are made in turn */
            look_at(o, (qp_cell)cell, &r);
        }
    }
}

static bool is_running(qp_outside *o, uint64_t now)
{
    if (now - o->running_at < LOOK_NS)
        return true;
    o->running_at = now;
    return qp_live_is_running(o->pid, o->head.pid_start);
}

bool qp_outside_pass(qp_outside *o)
{
    uint64_t now = qp_clock_monotonic();
    if (!read_cells(o, 0, QP_HEAD_CELLS, &o->head) || o->head.state != QP_LIVE ||
        !is_running(o, now))
        return false;
    find_rows(o);
    if (o->head.flags & QP_FLAG_RECORDING)
        look_at_all(o);
    o->n_passes++;
    o->first_at = o->first_at ? o->first_at : now;
    o->last_at = now;
    return true;
}

qp_outside_figures qp_outside_measure(const qp_outside *o)
{
    uint64_t lasted = o->last_at - o->first_at;
    return (qp_outside_figures){.period_ns = o->command.period_us * 1000,
                                .reached_ns = o->n_passes > 1 ? lasted / (o->n_passes - 1) : 0,
                                .n_passes = o->n_passes,
                                .n_interrupts = o->n_interrupts,
                                .n_torn = o->n_torn,
                                .is_real = o->command.kind == QP_PC_REAL,
                                .is_raised = o->command.is_raised,
                                .is_hidden = o->may_hide_stack && !o->has_frames};
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool refuse(char *error, const char *format, unsigned long long pid, const char *why)
{
    snprintf(error, QP_ERROR_BYTES, format, pid, why);
    return false;
}

static bool parse(const char *text, qp_pc_command *command, char *error)
{
    qp_parse_error mistake;
    if (qp_pc_parse(text, command, &mistake) == QP_PARSE_OK)
        return true;
    snprintf(error, QP_ERROR_BYTES, "--pc: column %u: %s", mistake.column, mistake.message);
    return false;
}

static bool open_file(qp_outside *o, char *error)
{
    char reason[QP_ERROR_BYTES / 2];
    const char *why;
    bool is_there = qp_live_path(o->pid, false, o->path, sizeof o->path);
    o->fd = is_there ? qp_file_open(o->path, &why) : -1;
    if (o->fd < 0) {
        qp_live_why(o->pid, reason, sizeof reason);
        return refuse(error, "process %llu: %s", o->pid, reason);
    }
    const qp_image image = {.bytes = (unsigned char *)&o->head, .file_bytes = sizeof o->head};
    if (!read_cells(o, 0, QP_HEAD_CELLS, &o->head) || !qp_image_check_head(&image, reason))
        return refuse(error, "process %llu: %s", o->pid, reason);
    uint32_t collect = o->head.collect ? o->head.collect : QP_COLLECT_PROFILE;
    o->is_stack_only = !(collect & ~(QP_COLLECT_SAMPLES | QP_COLLECT_STACK));
    o->may_hide_stack = collect == QP_COLLECT_SAMPLES;
    if (!qp_live_is_running(o->pid, o->head.pid_start) || o->head.state != QP_LIVE)
        return refuse(error, "process %llu: %s", o->pid, "it has ended");
    if (!o->is_stack_only && !(collect & QP_COLLECT_PROFILE))
        return refuse(error, "process %llu: %s", o->pid,
                      "it records coverage alone and keeps no stack");
    if (o->command.kind == QP_PC_VIRTUAL && !qp_task_cpu(o->pid, o->pid))
        return refuse(error, "process %llu: %s", o->pid,
                      "the system does not say what CPU time its threads take; use --pc=REAL");
    return true;
}

qp_outside *qp_outside_open(uint64_t pid, const char *command, char error[QP_ERROR_BYTES])
{
    qp_outside *o = qp_alloc_zeroed(1, sizeof *o);
    if (!o) {
        refuse(error, "process %llu: %s", pid, "there is not enough memory");
        return NULL;
    }
    o->pid = pid;
    o->fd = -1;
    o->n_seen = QP_HEAD_CELLS;
    o->started_at = qp_clock_wall();
    qp_buf_init(&o->rows, sizeof(qp_stretch));
    qp_buf_init(&o->threads, sizeof(qp_outside_thread));
    qp_buf_init(&o->nodes, sizeof(qp_outside_node));
    qp_buf_init(&o->carriers, sizeof(qp_outside_carrier));
    qp_buf_init(&o->stack[0], sizeof(uint64_t));
    qp_buf_init(&o->stack[1], sizeof(uint64_t));
    qp_buf_init(&o->scratch, QP_CELL);
    qp_dict_init(&o->thread_of);
    qp_dict_init(&o->node_of);
    qp_dict_init(&o->carrier_of);
    o->text = qp_alloc_text(command);
    if (!o->text)
        refuse(error, "process %llu: %s", pid, "there is not enough memory");
    else if (parse(o->text, &o->command, error) && open_file(o, error))
        return o;
    qp_outside_free(o);
    return NULL;
}

void qp_outside_free(qp_outside *o)
{
    if (!o)
        return;
    qp_buf *const bufs[] = {&o->rows,     &o->threads,  &o->nodes,  &o->carriers,
                            &o->stack[0], &o->stack[1], &o->scratch};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        qp_free(bufs[i]->items);
    qp_dict_fini(&o->thread_of);
    qp_dict_fini(&o->node_of);
    qp_dict_fini(&o->carrier_of);
    if (o->fd >= 0)
        close(o->fd);
    qp_free(o->text);
    qp_free(o);
}
