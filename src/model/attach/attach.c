/* attach.c: stacks of a running process, read from its live profile. Start reading at
 * qp_attach_pass().
 *
 * The file is read and not mapped, so that cutting it cannot end the tool by a signal. Threads
 * run while they are read. A thread's top word tells which frames are complete, and a frame's
 * path is one word; only copying a stack without paths may take longer than the stack stays
 * unchanged. */
#include "model/attach/attach.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "base/text/buf.h"
#include "code/code.h"
#include "code/pattern.h"
#include "format/builder.h"
#include "format/layout.h"
#include "model/model.h"
#include "model/read/read.h"

/* A call path that was found on a stack. */
typedef struct {
    uint64_t method; /* cell of its record or, of the stack alone, the host's id */
    uint64_t n;      /* PC samples */
    uint32_t parent; /* index; a root has itself */
    uint32_t next;   /* of the same thread, 0: none */
    uint32_t same;   /* the node before it with the same hash, + 1; 0: none */
    uint32_t number; /* while it is written */
} qp_attach_node;

typedef struct {
    qp_cell cell;
    uint32_t root, last; /* nodes */
} qp_attach_thread;

/* An OS thread: its CPU time at the previous pass, and the part without an interrupt so far. */
typedef struct {
    uint64_t seen_ns, due_ns;
} qp_attach_os_thread;

struct qp_attach {
    uint64_t pid;
    char path[512];
    int fd;
    bool is_stack_only, may_hide_stack, has_frames;
    qp_head head; /* as of the last pass */
    char *text;   /* of the command, which points into it */
    qp_pc_command command;
    qp_buf rows;     /* qp_stretch of cells: where thread records are */
    uint64_t n_seen; /* cells searched so far */
    qp_buf threads, nodes, os_threads;
    qp_dict thread_of;    /* cell -> index + 1 */
    qp_dict node_of;      /* cell, or hash of caller and method -> index + 1 */
    qp_dict os_thread_of; /* system id -> index + 1 */
    qp_buf stack[2];      /* uint64_t: methods of the two copies, outermost first */
    qp_buf scratch;       /* bytes of the file */
    uint64_t n_passes, n_interrupts, n_torn;
    uint64_t unmade_ns; /* CPU time without an interrupt because passes came too late */
    uint64_t first_at, last_at,
        running_at;      /* monotonic ns of passes; of the last check of /proc */
    uint64_t started_at; /* ns since 1970 */
};

#define QP_ATTACH_AT(buf, type, i) ((type *)(buf).items + (i))

enum {
    TRIES = 16, /* of a torn sample */
    THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL,
    LOOK_NS = 50 * 1000000, /* between checks that the process runs */
    DEPTH_MAX = 1 << 20,    /* frames that are copied */
    DUE_MAX = 64 /* periods of CPU time that wait for a pass that finds the thread running */
};

/* ---- reading ----------------------------------------------------------------------------- */

static bool read_cells(const qp_attach *o, uint64_t cell, size_t n, void *to)
{
    return qp_file_read_at(o->fd, to, n * QP_CELL, cell * QP_CELL) == n * QP_CELL;
}

static bool read_extent(const qp_attach *o, uint64_t cell, qp_extent *e)
{
    return read_cells(o, cell, 1, e) && e->magic == QP_EXTENT_MAGIC && e->self == cell &&
           e->nonce == (o->head.nonce ^ cell) && e->n_cells;
}

/* Find the extents of thread records, which never move. An extent without a header is being
 * claimed and is read again at the next pass. */
static void find_rows(qp_attach *o)
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

/* ---- paths ------------------------------------------------------------------------------- */

static qp_attach_node *node_at(qp_attach *o, uint32_t i)
{
    return QP_ATTACH_AT(o->nodes, qp_attach_node, i);
}

static qp_attach_thread *thread_at(qp_attach *o, uint32_t i)
{
    return QP_ATTACH_AT(o->threads, qp_attach_thread, i);
}

/* @return UINT32_MAX: no memory */
static uint32_t add_node(qp_attach *o, uint32_t thread, uint32_t parent, uint64_t method,
                         uint64_t key)
{
    uint32_t index = (uint32_t)o->nodes.n, same = qp_dict_get(&o->node_of, key);
    qp_attach_node *n = qp_buf_add(&o->nodes);
    if (!n || !qp_dict_put(&o->node_of, key, index + 1))
        return UINT32_MAX;
    *n = (qp_attach_node){.method = method, .parent = parent, .same = same};
    qp_attach_thread *th = thread_at(o, thread);
    node_at(o, th->last)->next = index;
    th->last = index;
    return index;
}

/* @return UINT32_MAX: no memory */
static uint32_t thread_of(qp_attach *o, qp_cell cell)
{
    uint32_t known = qp_dict_get(&o->thread_of, cell);
    if (known)
        return known - 1;
    qp_attach_thread *th = qp_buf_add(&o->threads);
    qp_attach_node *root = qp_buf_add(&o->nodes);
    if (!th || !root || !qp_dict_put(&o->thread_of, cell, (uint32_t)o->threads.n))
        return UINT32_MAX;
    uint32_t index = (uint32_t)o->nodes.n - 1;
    *root = (qp_attach_node){.parent = index};
    *th = (qp_attach_thread){cell, index, index};
    return (uint32_t)o->threads.n - 1;
}

static void credit(qp_attach *o, uint32_t node)
{
    if (node == UINT32_MAX)
        return;
    node_at(o, node)->n++;
    o->n_interrupts++;
}

/* ---- of what records call paths ---------------------------------------------------------- */

/* The cells of a path up to one that is known, or to the root, go onto o->stack[0]. Callers
 * have smaller cells. @return the caller of the outermost of them; UINT32_MAX: a damaged
 * path */
static uint32_t known_above(qp_attach *o, uint32_t thread, qp_cell cell)
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

static uint32_t node_of_cell(qp_attach *o, uint32_t thread, qp_cell cell)
{
    uint32_t node = known_above(o, thread, cell);
    for (size_t i = o->stack[0].n; i-- > 0 && node != UINT32_MAX;) {
        uint64_t kept = *QP_ATTACH_AT(o->stack[0], uint64_t, i);
        node = add_node(o, thread, node, kept >> 32, (qp_cell)kept);
    }
    return node;
}

/* A frame that was popped meanwhile was on top a moment ago: its path is as true. */
static bool take_path(qp_attach *o, uint32_t thread, const qp_thread_record *r)
{
    qp_frame f;
    uint64_t top = r->top & ~QP_TOP_BUSY;
    bool has_token = top & QP_TOP_TOKEN;
    if (!has_token && (!read_cells(o, top / QP_CELL, 1, &f) || !f.node))
        return false;
    uint32_t node = node_of_cell(o, thread, (qp_cell)((has_token ? top : f.node) / QP_CELL));
    o->has_frames = true;
    credit(o, node);
    return node != UINT32_MAX;
}

/* ---- of what only keeps the stack -------------------------------------------------------- */

/* Append the methods of n frames from a cell on to the copy. */
static bool copy_frames(qp_attach *o, qp_buf *copy, qp_cell first, uint32_t n)
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

/* Copy the frames of the chunks below this one, then its own up to a cell. Slot 0 of a chunk
 * replaces the last slot of the chunk below it; slot 0 of the outermost chunk is the root's. */
static bool copy_chunks(qp_attach *o, qp_buf *copy, qp_cell chunk, qp_cell last)
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

/* Whether both copies have the same callers of the frame that is on top in the first. */
static bool is_whole(const qp_attach *o)
{
    const qp_buf *a = &o->stack[0], *b = &o->stack[1];
    size_t n_callers = a->n ? a->n - 1 : 0;
    return b->n >= n_callers &&
           (!n_callers || memcmp(a->items, b->items, n_callers * sizeof(uint64_t)) == 0);
}

static qp_cell frame_on_top(const qp_thread_record *r)
{
    return (qp_cell)((r->top & ~QP_TOP_BUSY) / QP_CELL);
}

static bool copy_stack(qp_attach *o, const qp_thread_record *r, qp_cell cell)
{
    qp_thread_record again;
    return copy_chunks(o, &o->stack[0], r->chunk, frame_on_top(r)) &&
           read_cells(o, cell, THREAD_CELLS, &again) &&
           copy_chunks(o, &o->stack[1], again.chunk, frame_on_top(&again)) && is_whole(o);
}

static uint32_t callee_of(qp_attach *o, uint32_t thread, uint32_t parent, uint64_t method)
{
    uint64_t key = qp_hash_bytes(qp_hash_bytes(QP_HASH_START, &parent, sizeof parent), &method,
                                 sizeof method);
    for (uint32_t at = qp_dict_get(&o->node_of, key); at; at = node_at(o, at - 1)->same)
        if (node_at(o, at - 1)->parent == parent && node_at(o, at - 1)->method == method)
            return at - 1;
    return add_node(o, thread, parent, method, key);
}

static bool take_stack(qp_attach *o, uint32_t thread, const qp_thread_record *r)
{
    qp_thread_record now = *r;
    qp_cell cell = thread_at(o, thread)->cell;
    bool is_good = copy_stack(o, &now, cell);
    for (unsigned i = 1; i < TRIES && !is_good; i++)
        is_good = read_cells(o, cell, THREAD_CELLS, &now) && copy_stack(o, &now, cell);
    uint32_t node = thread_at(o, thread)->root;
    for (size_t i = 0; is_good && i < o->stack[0].n && node != UINT32_MAX; i++)
        node = callee_of(o, thread, node, *QP_ATTACH_AT(o->stack[0], uint64_t, i));
    o->has_frames |= is_good && o->stack[0].n;
    if (is_good)
        credit(o, node);
    return is_good;
}

/* ---- PC samples -------------------------------------------------------------------------- */

/* @return NULL: no memory */
static qp_attach_os_thread *os_thread_of(qp_attach *o, uint64_t system_id)
{
    bool is_new;
    uint32_t number = qp_buf_keyed(&o->os_threads, &o->os_thread_of, system_id, &is_new);
    qp_attach_os_thread *th =
        number ? QP_ATTACH_AT(o->os_threads, qp_attach_os_thread, number - 1) : NULL;
    if (is_new)
        th->seen_ns = qp_task_cpu(o->pid, system_id);
    return th;
}

/* Whether a thread is due an interrupt. By CPU time: if it runs, for time that it had used
 * before the previous pass. The system updates that figure at its ticks, and when the thread
 * itself reads it: the current figure would favour threads that read it. */
static bool is_due(qp_attach *o, uint64_t system_id)
{
    uint64_t period = o->command.period_us * 1000;
    if (o->command.kind == QP_PC_REAL)
        return true;
    qp_attach_os_thread *c = os_thread_of(o, system_id);
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

static void look_at(qp_attach *o, qp_cell cell, const qp_thread_record *r)
{
    if (r->state != QP_THREAD_ALIVE || r->suspended_at || !r->root || !r->chunk ||
        r->has_host_id == QP_ROW_EARLIER)
        return;
    uint32_t thread = is_due(o, r->system_id) ? thread_of(o, cell) : UINT32_MAX;
    if (thread == UINT32_MAX)
        return;
    bool is_good = o->is_stack_only ? take_stack(o, thread, r) : take_path(o, thread, r);
    o->n_torn += !is_good;
}

static void look_at_all(qp_attach *o)
{
    for (size_t i = 0; i < o->rows.n; i++) {
        qp_stretch s = *QP_ATTACH_AT(o->rows, qp_stretch, i);
        for (uint64_t cell = s.begin; cell + THREAD_CELLS <= s.end; cell += THREAD_CELLS) {
            qp_thread_record r;
            if (!read_cells(o, cell, THREAD_CELLS, &r) || !r.state)
                break; /* records are made in turn */
            look_at(o, (qp_cell)cell, &r);
        }
    }
}

bool qp_attach_pass(qp_attach *o)
{
    uint64_t now = qp_clock_monotonic();
    if (!read_cells(o, 0, QP_HEAD_CELLS, &o->head) || o->head.state != QP_LIVE)
        return false;
    if (now - o->running_at >= LOOK_NS) {
        o->running_at = now;
        if (!qp_live_is_running(o->pid, o->head.pid_start))
            return false;
    }
    find_rows(o);
    if (o->head.flags & QP_FLAG_RECORDING)
        look_at_all(o);
    o->n_passes++;
    o->first_at = o->first_at ? o->first_at : now;
    o->last_at = now;
    return true;
}

qp_attach_figures qp_attach_measure(const qp_attach *o)
{
    uint64_t lasted = o->last_at - o->first_at;
    return (qp_attach_figures){.period_ns = o->command.period_us * 1000,
                               .reached_ns = o->n_passes > 1 ? lasted / (o->n_passes - 1) : 0,
                               .n_passes = o->n_passes,
                               .n_interrupts = o->n_interrupts,
                               .n_torn = o->n_torn,
                               .is_real = o->command.kind == QP_PC_REAL,
                               .is_raised = o->command.is_raised,
                               .is_hidden = o->may_hide_stack && !o->has_frames};
}

/* ---- opening ----------------------------------------------------------------------------- */

static bool refuse(qp_error *error, uint64_t pid, const char *why)
{
    return qp_error_fail(error, "process %llu: %s", (unsigned long long)pid, why);
}

static bool open_file(qp_attach *o, qp_error *error)
{
    char reason[QP_ERROR_BYTES / 2];
    const char *why;
    bool is_there = qp_live_path(o->pid, false, o->path, sizeof o->path);
    o->fd = is_there ? qp_file_open(o->path, &why) : -1;
    if (o->fd < 0) {
        qp_live_why(o->pid, reason, sizeof reason);
        return refuse(error, o->pid, reason);
    }
    const qp_image image = {.bytes = (unsigned char *)&o->head, .file_bytes = sizeof o->head};
    if (!read_cells(o, 0, QP_HEAD_CELLS, &o->head) || !qp_image_check_head(&image, error))
        return refuse(error, o->pid, error->text);
    uint32_t collect = o->head.collect ? o->head.collect : QP_COLLECT_PROFILE;
    o->is_stack_only = !(collect & ~(QP_COLLECT_SAMPLES | QP_COLLECT_STACK));
    o->may_hide_stack = collect == QP_COLLECT_SAMPLES;
    if (!qp_live_is_running(o->pid, o->head.pid_start) || o->head.state != QP_LIVE)
        return refuse(error, o->pid, "it has ended");
    if (!o->is_stack_only && !(collect & QP_COLLECT_PROFILE))
        return refuse(error, o->pid, "it records coverage alone and keeps no stack");
    if (o->command.kind == QP_PC_VIRTUAL && !qp_task_cpu(o->pid, o->pid))
        return refuse(error, o->pid,
                      "the system does not say what CPU time its threads take; use --pc=REAL");
    return true;
}

qp_attach *qp_attach_open(uint64_t pid, const char *command, qp_error *error)
{
    qp_attach *o = qp_alloc_zeroed(1, sizeof *o);
    if (!o) {
        refuse(error, pid, "there is not enough memory");
        return NULL;
    }
    *o = (qp_attach){.pid = pid,
                     .fd = -1,
                     .n_seen = QP_HEAD_CELLS,
                     .started_at = qp_clock_wall(),
                     .rows = QP_BUF(qp_stretch),
                     .threads = QP_BUF(qp_attach_thread),
                     .nodes = QP_BUF(qp_attach_node),
                     .os_threads = QP_BUF(qp_attach_os_thread),
                     .stack = {QP_BUF(uint64_t), QP_BUF(uint64_t)},
                     .scratch = QP_BUF(qp_frame)};
    o->text = qp_alloc_text(command);
    if (!o->text)
        refuse(error, pid, "there is not enough memory");
    else if (qp_pc_parse(o->text, &o->command, error) != QP_PARSE_OK)
        qp_error_fail(error, "--pc: column %u: %s", error->column, error->text);
    else if (open_file(o, error))
        return o;
    qp_attach_free(o);
    return NULL;
}

void qp_attach_free(qp_attach *o)
{
    if (!o)
        return;
    qp_buf *const bufs[] = {&o->rows,     &o->threads,  &o->nodes,  &o->os_threads,
                            &o->stack[0], &o->stack[1], &o->scratch};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        qp_free(bufs[i]->items);
    qp_dict_fini(&o->thread_of);
    qp_dict_fini(&o->node_of);
    qp_dict_fini(&o->os_thread_of);
    if (o->fd >= 0)
        close(o->fd);
    qp_free(o->text);
    qp_free(o);
}

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct {
    qp_attach *o;
    const qp_model *m;
    qp_builder *b;
    qp_dict by_id;    /* the host's id -> method of the model */
    qp_dict unknown;  /* ids that have no record -> number of a method of the builder */
    uint32_t *number; /* [m->n_methods] of the builder; 0: not used so far */
} writer;

/* ---- methods ----------------------------------------------------------------------------- */

/* The number of a method without a record. Processes that only keep their stack also have no
 * records of pseudo-methods. */
static uint32_t unknown_method(writer *w, uint64_t id)
{
    uint32_t known = qp_dict_get(&w->unknown, id);
    qp_builder_code code = {.id = id};
    if (known)
        return known;
    if (qp_method_is_pseudo(id)) {
        code.flags = QP_METHOD_PSEUDO | QP_METHOD_REGISTERED;
        code.name = qp_method_pseudo_name(id);
    }
    known = qp_builder_method(w->b, &code);
    return known && qp_dict_put(&w->unknown, id, known) ? known : 0;
}

/* @return number of the builder; 0: no memory */
static uint32_t method_of(writer *w, uint64_t method)
{
    uint32_t i = w->o->is_stack_only ? qp_dict_get(&w->by_id, method)
                                     : qp_index_at(w->m->own, method, QP_TAG_METHOD);
    if (!i)
        return unknown_method(w, w->o->is_stack_only ? method : 0);
    const qp_model_method *k = &w->m->methods[i];
    if (!w->number[i])
        w->number[i] = qp_builder_method(w->b, &(qp_builder_code){.id = k->id,
                                                                  .flags = k->flags,
                                                                  .name = k->bare_name,
                                                                  .class_name = k->class_name,
                                                                  .file = k->file,
                                                                  .module = k->module,
                                                                  .lines = k->lines,
                                                                  .n_lines = k->n_blocks,
                                                                  .sizes = k->sizes});
    return w->number[i];
}

/* ---- threads ----------------------------------------------------------------------------- */

static void begin_thread(writer *w, qp_cell cell)
{
    uint32_t i = qp_index_at(w->m->own, cell, QP_TAG_THREAD);
    qp_thread_record r = {.n_lives = 1, .state = QP_THREAD_ENDED, .has_host_id = i != 0};
    if (i) {
        const qp_model_thread *th = &w->m->threads[i];
        r.name = qp_builder_text(w->b, th->name);
        r.host_id = th->host_id;
        r.vt_id = th->vt_id;
        r.system_id = th->system_id;
    }
    qp_builder_thread(w->b, &r);
}

/* Callers have smaller indices than what they call. @return false: no memory */
static bool write_thread(writer *w, const qp_attach_thread *th)
{
    qp_attach_node *nodes = w->o->nodes.items;
    begin_thread(w, th->cell);
    nodes[th->root].number = 0;
    if (nodes[th->root].n)
        qp_builder_node_more(w->b, 0, 0, nodes[th->root].n, 0);
    for (uint32_t i = nodes[th->root].next; i; i = nodes[i].next) {
        uint32_t method = method_of(w, nodes[i].method);
        if (!method)
            return false;
        nodes[i].number = qp_builder_node(w->b, nodes[nodes[i].parent].number, method,
                                          &(qp_node){.self_min = UINT64_MAX});
        if (nodes[i].n)
            qp_builder_node_more(w->b, 0, 0, nodes[i].n, 0);
    }
    return true;
}

/* ---- the run ----------------------------------------------------------------------------- */

static void write_head(writer *w, uint64_t n_missed)
{
    const qp_attach *o = w->o;
    const qp_run_info *run = &w->m->run;
    qp_head *h = qp_builder_head(w->b);
    uint64_t lasted = o->last_at - o->first_at;
    char *pattern = o->command.pattern ? qp_alloc_text(o->command.pattern) : NULL;
    if (pattern)
        pattern[o->command.n_pattern] = '\0';
    h->flags = QP_FLAG_RECORDING | (run->is_virtual ? QP_FLAG_VIRTUAL : 0);
    h->time_mode = QP_TIME_NONE;
    h->clock_source = QP_SOURCE_NS;
    h->grain = run->grain;
    h->pointer_bytes = run->pointer_bytes;
    h->pid = o->pid;
    h->started_at = o->started_at;
    h->ended_at = qp_clock_wall();
    h->begun_raw = 1;
    h->end_raw = 1 + lasted;
    h->collect = QP_COLLECT_SAMPLES;
    h->pc_kind = o->command.kind;
    h->pc_period = h->sample_period = o->command.period_us * 1000;
    if (o->command.kind == QP_PC_VIRTUAL)
        h->pc_reached = h->pc_period + (o->n_interrupts ? o->unmade_ns / o->n_interrupts : 0);
    h->pc_pattern = qp_builder_text(w->b, pattern);
    h->n_passes = o->n_passes;
    h->sample_ns = lasted + qp_attach_measure(o).reached_ns;
    h->diagnostics[QP_D_sample_lost] = o->n_torn;
    h->diagnostics[QP_D_overrun] = n_missed;
    h->diagnostics[QP_D_clamped_options] = o->command.is_raised;
    h->program = qp_builder_text(w->b, run->program);
    h->host = qp_builder_text(w->b, run->host);
    h->module = qp_builder_text(w->b, run->module);
    h->label = qp_builder_text(w->b, run->label);
    h->script = qp_builder_text(w->b, run->script);
    h->arguments = qp_builder_text(w->b, run->arguments);
    h->folder = qp_builder_text(w->b, run->folder);
    h->host_version = qp_builder_text(w->b, run->host_version);
    h->labels = qp_builder_text(w->b, run->labels);
    h->version = qp_builder_text(w->b, run->version);
    qp_builder_note(w->b, QP_NOTE_MESSAGE,
                    "sampled from another process: critical sections are not known");
    if (qp_attach_measure(o).is_hidden)
        qp_builder_note(w->b, QP_NOTE_MESSAGE,
                        "the process showed no stack: all PC samples are foreign");
    qp_free(pattern);
}

static bool write_all(writer *w, uint64_t n_missed)
{
    if (!w->b || !w->number)
        return false;
    for (uint32_t i = 1; i < w->m->n_methods; i++)
        if (!qp_dict_put(&w->by_id, w->m->methods[i].id, i))
            return false;
    write_head(w, n_missed);
    for (size_t i = 0; i < w->o->threads.n; i++)
        if (!write_thread(w, QP_ATTACH_AT(w->o->threads, qp_attach_thread, i)))
            return false;
    return true;
}

bool qp_attach_write(qp_attach *o, uint64_t n_missed, const char *path, qp_error *error)
{
    qp_model *m;
    if (qp_model_load_fd(o->fd, o->path, NULL, &m, error) == QP_LOAD_UNUSABLE)
        return false;
    writer w = {.o = o,
                .m = m,
                .b = qp_builder_new(0),
                .number = qp_alloc_zeroed(m->n_methods, sizeof *w.number)};
    bool is_good = write_all(&w, n_missed);
    if (is_good)
        is_good = qp_builder_finish(w.b, path, error);
    else
        qp_error_fail(error, "%.300s: there is not enough memory to write it", path);
    qp_dict_fini(&w.by_id);
    qp_dict_fini(&w.unknown);
    qp_free(w.number);
    qp_builder_free(w.b);
    qp_model_free(m);
    return is_good;
}

/* ---- what threads are in ------------------------------------------------------------------- */

/* The index of the method of a node; 0: it has no record. */
static uint32_t model_method(const qp_attach *o, const qp_model *m, uint64_t method)
{
    uint32_t i = 0;
    if (!o->is_stack_only)
        return qp_index_at(m->own, method, QP_TAG_METHOD);
    for (uint32_t k = 1; k < m->n_methods && !i; k++)
        i = m->methods[k].id == method ? k : 0;
    return i;
}

static const char *name_of(const qp_attach *o, const qp_model *m, const qp_attach_node *n)
{
    uint32_t i = model_method(o, m, n->method);
    bool is_pseudo = o->is_stack_only && qp_method_is_pseudo(n->method);
    return i ? m->methods[i].name : is_pseudo ? qp_method_pseudo_name(n->method) : "";
}

size_t qp_attach_now(qp_attach *o, qp_model **m, qp_attach_place *to, size_t n_most)
{
    qp_error unused;
    size_t n = 0;
    o->command.kind = QP_PC_REAL; /* each thread, and at once */
    for (size_t i = 0; i < o->nodes.n; i++)
        node_at(o, (uint32_t)i)->n = 0;
    if (!qp_attach_pass(o) ||
        qp_model_load_fd(o->fd, o->path, NULL, m, &unused) == QP_LOAD_UNUSABLE) {
        *m = NULL;
        return 0;
    }
    for (uint32_t i = 0; i < o->threads.n; i++) {
        const qp_attach_thread *th = thread_at(o, i);
        uint32_t at = node_at(o, th->root)->next;
        while (at && !node_at(o, at)->n)
            at = node_at(o, at)->next;
        if (!at || n++ >= n_most)
            continue;
        const qp_attach_node *top = node_at(o, at);
        to[n - 1] = (qp_attach_place){
            .thread = qp_index_at((*m)->own, th->cell, QP_TAG_THREAD),
            .method = model_method(o, *m, top->method),
            .name = name_of(o, *m, top),
            .caller = top->parent == th->root ? "" : name_of(o, *m, node_at(o, top->parent))};
    }
    return n;
}
