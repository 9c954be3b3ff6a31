/* host_check.c: -check-host: mistakes that only the order of the events shows. Read look_at_exit
 * first.
 *
 * A mistake is counted where no right host can be: an id that is open already, an exit of what is
 * not open, a frame that ends without the host's doing. What is known of a thread's events so far is
 * a cell of its own in the file. */
#include <fcntl.h>
#include <unistd.h>

#include "base/atomic.h"
#include "record/event/event.h"
#include "record/tree/tree.h"

enum { N_DEAD = 4, SEARCH_MAX = 4096, SHORT_SEARCH = 64, CHILD_FD_MIN = 1000 };

typedef enum { BEGUN, ENTERED, LEFT, NAMED_ITSELF } last_event;

/* What is known of a thread. */
typedef struct {
    uint32_t n_lives; /* of the row, when this was begun */
    uint8_t last;     /* last_event */
    uint8_t guess;    /* 1 + the mistake that an id open twice shows so far; 0: none is */
    bool has_fallen, has_risen; /* stack ids of callees, compared with their callers' */
    uint32_t n_guessed;
    uint32_t next_dead;
    uint64_t twice, twice_depth; /* that id, and the depth of its second frame */
    uint64_t dead[N_DEAD]; /* ids and tokens of frames that ended with a frame below them */
} check;
_Static_assert(sizeof(check) <= QP_CELL, "a cell");

static check *check_of(qprof_thread *th)
{
    qp_cell *cell = &qp_own_of(th)->check;
    if (!*cell)
        *cell = qp_tree_aux_cell(th);
    check *c = *cell ? QPROF_CELL(th, check, *cell) : NULL;
    uint32_t n_lives = qp_record_of(th)->n_lives;
    if (c && c->n_lives != n_lives)
        *c = (check){.n_lives = n_lives};
    return c;
}

void qp_host_note(qp_host_mistake what, const qprof_thread *th, qp_cell method, qp_cell other,
                  uint64_t depth)
{
    qp_finding *f = &qp_recorder_head()->findings[what];
    if (qp_fetch_add(&f->count, 1))
        return;
    qp_store(&f->method, method);
    qp_store(&f->other, other);
    qp_store(&f->depth, (uint32_t)depth);
    qp_store(&f->thread, th ? qp_record_of(th)->ordinal : 0);
}

uint64_t qp_host_depth(const qprof_thread *th, const qprof_frame *top)
{
    uint64_t n = 0 - qp_request_depth(th, (qprof_frame *)(uintptr_t)top);
    if (!qp_own_of(th)->has_token)
        return n + qp_stack_depth(th, top) + th->pulse->n_deep;
    qp_cell root = qp_record_of(th)->root;
    for (qp_cell at = qp_frame_path(top); at != root; at = qp_node_at(th, at)->parent)
        n++;
    return n;
}

static qp_cell method_of(const qprof_thread *th, const qprof_frame *f)
{
    return f->node ? qp_frame_node(th, f)->method : 0;
}

static void note_at(qp_host_mistake what, const qprof_thread *th, const qprof_frame *top,
                    qp_cell other)
{
    qp_host_note(what, th, method_of(th, top), other, qp_host_depth(th, top));
}

/* Is the thread driven by the OS thread that reports? */
static void look_at_driver(const qprof_thread *th, const qprof_frame *top)
{
    uint32_t driver = QPROF_LOAD(th->os_thread);
    if (qp_here.epoch != qp_recorder.epoch || driver != qp_here.ordinal)
        note_at(driver ? QP_HOST_other_os_thread : QP_HOST_unmounted_thread, th, top, 0);
}

/* ---- stack ids --------------------------------------------------------------------------- */

static void remember_dead(check *c, uint64_t id)
{
    c->dead[c->next_dead++ % N_DEAD] = id;
}

static bool is_dead(const check *c, uint64_t id)
{
    for (unsigned i = 0; i < N_DEAD; i++)
        if (c->dead[i] == id)
            return true;
    return false;
}

/* Of the `n` frames on top, which end by one event, only the first may have ended itself: remember
 * the lowest others, which a right host has ended too. */
static void remember_ends(check *c, const qprof_thread *th, qprof_frame *top, uint64_t n)
{
    qp_stack_cursor at = qp_stack_from(th, top);
    for (uint64_t i = 0; i < n; i++, qp_stack_down(th, &at))
        if (i && i + N_DEAD >= n)
            remember_dead(c, at.f->stack_id);
}

/* Frames above the innermost one with this id. @return -1: not among the first max */
static int64_t frames_above(const qprof_thread *th, qprof_frame *top, uint64_t id, uint64_t max)
{
    qp_stack_cursor at = qp_stack_from(th, top);
    uint64_t depth = qp_stack_depth(th, top);
    for (uint64_t n = 0; n < depth && n < max; n++, qp_stack_down(th, &at))
        if (at.f->stack_id == id && !(at.f->flags & QPROF_FRAME_ZERO))
            return (int64_t)n;
    return -1;
}

/* The same for an id that is entered. Where ids rise or fall all the way there is nothing
 * to search. @return -1: it is not open, as far as was searched */
static int64_t twin_of(check *c, qprof_thread *th, qprof_frame *top, uint64_t id)
{
    bool rises = id > top->stack_id, falls = id < top->stack_id;
    bool is_new = (rises && !c->has_fallen) || (falls && !c->has_risen);
    c->has_risen |= rises;
    c->has_fallen |= falls;
    if (is_new)
        return -1;
    return frames_above(th, top, id, c->has_risen && c->has_fallen ? SHORT_SEARCH : SEARCH_MAX);
}

/* These two make most ids seem open twice: what follows from them is not looked at. */
static bool is_known(qp_host_mistake what)
{
    return qp_load(&qp_recorder_head()->findings[what].count) != 0;
}

/* An id is entered that is open. Unless the exits show that both frames are, the first one has ended,
 * and the frames above it. */
static void note_twin(check *c, const qprof_thread *th, const qprof_frame *top, qp_cell method,
                      uint64_t id, int64_t above)
{
    uint64_t depth = qp_stack_depth(th, top);
    if (is_known(QP_HOST_stack_id_twice))
        return;
    if (!above && c->last == NAMED_ITSELF) {
        note_at(QP_HOST_exit_names_leaver, th, top, method);
        return;
    }
    qp_host_mistake guess = above ? QP_HOST_missed_unwind : QP_HOST_missed_tail_call;
    if (is_known(QP_HOST_exit_names_leaver) ||
        (c->guess && (c->guess != guess + 1 || c->twice != id)))
        return; /* what follows from the first one */
    if (!c->guess)
        c->n_guessed = 0;
    c->guess = (uint8_t)(guess + 1);
    c->twice = id;
    c->twice_depth = depth + 1;
    c->n_guessed++;
    note_at(guess, th, top, method);
}

static void look_at_entry(qprof_thread *th, qprof_frame *top, qp_cell method, uint64_t id)
{
    check *c = check_of(th);
    look_at_driver(th, top);
    if (!c)
        return;
    bool has_ids = id && !qp_own_of(th)->uses_tokens && !th->pulse->n_deep;
    int64_t above = has_ids && qp_stack_depth(th, top) ? twin_of(c, th, top, id) : -1;
    if (above >= 0)
        note_twin(c, th, top, method, id, above);
    c->last = ENTERED;
}

/* Both frames of an id that is open twice are alive: an exit has named the one or its callee. */
static void correct_guess(check *c, const qprof_thread *th, const qprof_frame *top)
{
    qp_finding *f = &qp_recorder_head()->findings[c->guess - 1];
    qp_fetch_add(&f->count, -(uint64_t)c->n_guessed);
    qp_finding *right = &qp_recorder_head()->findings[QP_HOST_stack_id_twice];
    note_at(QP_HOST_stack_id_twice, th, top, method_of(th, top));
    qp_fetch_add(&right->count, c->n_guessed - 1);
    c->guess = 0;
}

/* An exit that ends `above` frames, or none. */
static void exit_to(check *c, qprof_thread *th, qprof_frame *top, uint64_t above)
{
    qp_finding *leaver = &qp_recorder_head()->findings[QP_HOST_exit_names_leaver];
    uint64_t depth = qp_stack_depth(th, top);
    bool is_leaf = c->last == ENTERED && above < 2;
    bool is_twin = c->guess && depth == c->twice_depth;
    if (is_leaf)
        qp_fetch_add(&leaver->n_looked, 1);
    if (is_leaf && !above && !is_twin && !is_known(QP_HOST_stack_id_twice) &&
        !qp_fetch_add(&leaver->found, 1)) {
        qp_store(&leaver->method, method_of(th, top));
        qp_store(&leaver->depth, (uint32_t)depth);
        qp_store(&leaver->thread, qp_record_of(th)->ordinal);
    }
    if (is_twin && (above == 1 || (is_leaf && !above)))
        correct_guess(c, th, top);
    remember_ends(c, th, top, above);
    if (depth - above < c->twice_depth)
        c->guess = 0;
    c->last = above ? LEFT : NAMED_ITSELF;
}

static void look_at_exit(qprof_thread *th, qprof_frame *top, uint64_t id)
{
    check *c = check_of(th);
    uint64_t depth = qp_stack_depth(th, top);
    look_at_driver(th, top);
    if (!c || th->pulse->n_deep)
        return;
    int64_t above = !id ? (int64_t)depth : frames_above(th, top, id, UINT64_MAX);
    if (above < 0 && depth == 1) /* the host's loop has called it */
        above = 1;
    if (above >= 0 && (depth || !id)) {
        exit_to(c, th, top, (uint64_t)above);
        return;
    }
    note_at(is_dead(c, id) ? QP_HOST_missed_switch : QP_HOST_frame_not_open, th, top, 0);
    c->guess = 0;
    c->last = LEFT;
}

/* ---- tokens ------------------------------------------------------------------------------ */

/* The root of a call path of any thread. @return 0: it is no path */
static qp_cell root_of(const qprof_thread *th, qp_cell path)
{
    qp_cell parent, end = (qp_cell)qp_load(&qp_recorder_head()->n_cells);
    if (path < QP_HEAD_CELLS || path >= end)
        return 0;
    for (; (parent = qp_node_at(th, path)->parent) != 0; path = parent)
        if (parent >= path)
            return 0;
    return path;
}

/* The host's open calls above that of a token. @return -1: it is not open */
static int64_t calls_above(qprof_thread *th, qprof_frame *top, qprof_token token)
{
    qp_cell root = qp_record_of(th)->root, path = (qp_cell)(token >> 6);
    if (!qp_own_of(th)->has_token)
        return token == ((uint64_t)root << 6 | QPROF_TOP_TOKEN)
                   ? (int64_t)qp_stack_depth(th, top)
                   : frames_above(th, top, token, UINT64_MAX);
    int64_t n = 0;
    qp_cell at = qp_frame_path(top);
    for (; at > path; at = qp_node_at(th, at)->parent)
        n += !qp_method_is_endpoint(qp_node_at(th, at)->method);
    return at == path && (token & 63) == QPROF_TOP_TOKEN ? n : -1;
}

static qp_host_mistake mistake_of(const check *c, const qprof_thread *th, qprof_token token)
{
    qp_cell root = (token & 63) == QPROF_TOP_TOKEN ? root_of(th, (qp_cell)(token >> 6)) : 0;
    bool is_foreign = root && root != qp_record_of(th)->root;
    return is_foreign || is_dead(c, token) ? QP_HOST_missed_switch : QP_HOST_frame_not_open;
}

static void look_at_token(qprof_thread *th, qprof_frame *top, qprof_token token, bool and_it,
                          bool is_exit)
{
    check *c = check_of(th);
    look_at_driver(th, top);
    if (!c || th->pulse->n_deep || (token & 7) == QP_TOKEN_OF_DEEP)
        return;
    int64_t above = calls_above(th, top, token);
    bool is_unwind = is_exit && !and_it;
    if (above < 0) {
        note_at(mistake_of(c, th, token), th, top, 0);
    } else if (above && !is_unwind) {
        bool is_tail = c->last == LEFT || (above == 1 && !is_exit);
        remember_dead(c,
                      qp_own_of(th)->has_token ? top->node | QPROF_TOP_TOKEN : top->stack_id);
        note_at(is_tail ? QP_HOST_missed_tail_call : QP_HOST_missed_unwind, th, top, 0);
    }
    if (is_exit)
        c->last = LEFT;
}

/* ---- forked children --------------------------------------------------------------------- */

int qp_host_child;

void qp_host_forked(qprof_thread *th)
{
    static qprof_pulse none;
    int fd = fcntl(qp_recorder.space.map.fd, F_DUPFD_CLOEXEC, CHILD_FD_MIN);
    if (fd < 0)
        return;
    qp_host_child = fd;
    qp_gate_plain = qp_gate_vt = QP_GATE_CLOSED; /* asked by the exported functions */
    if (th == &qp_closed_thread)
        return;
    *th = (qprof_thread){.gate = QP_HOOK_CHECK, .pulse = &none};
}

void qp_host_in_child(void)
{
    uint64_t count = 0;
    off_t at = (off_t)offsetof(qp_head, findings[QP_HOST_forked_child].count);
    int fd = qp_host_child;
    qp_host_child = 0;
    if (pread(fd, &count, sizeof count, at) == (ssize_t)sizeof count && ++count)
        count = (uint64_t)pwrite(fd, &count, sizeof count, at);
    close(fd);
}

/* ---- in front of the events ---------------------------------------------------------------- */

/* @return the top frame, in an event; NULL: none can be */
static qprof_frame *look(qprof_thread *th)
{
    if (qp_is_open(th))
        return qp_event_look(th);
    if (qp_host_child)
        qp_host_in_child();
    return NULL;
}

static void enter_id(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    qprof_frame *top = look(th);
    if (top) {
        look_at_entry(th, top, qp_methods_find(&qp_recorder.methods, method), id);
        qp_event_end(th, top);
    }
    qp_event_enter_id(th, method, id);
}

static void exit_id(qprof_thread *th, uintptr_t id)
{
    qprof_frame *top = look(th), *frames = top ? qp_stack_unfold(th, top) : NULL;
    if (frames)
        look_at_exit(th, frames, id);
    if (top)
        qp_event_end(th, frames ? frames : qp_busy_top(th));
    qp_event_exit_id(th, id);
}

static void host_token(qprof_thread *th, qprof_token token, bool and_it, bool is_exit)
{
    qprof_frame *top = look(th);
    if (!top)
        return;
    if (token != QPROF_NO_TOKEN)
        look_at_token(th, top, token, and_it, is_exit);
    qp_event_end(th, top);
}

static qprof_token enter_above(qprof_thread *th, qprof_token caller, uintptr_t method)
{
    host_token(th, caller, false, false);
    qprof_token token = qp_event_enter_above(th, caller, method);
    check *c = qp_is_open(th) ? check_of(th) : NULL;
    if (c)
        c->last = ENTERED;
    return token;
}

static void leave_token(qprof_thread *th, qprof_token token)
{
    host_token(th, token, true, true);
    qp_event_leave_token(th, token);
}

void qp_host_check(bool is_on)
{
    static const qp_event_calls checked = {enter_id, exit_id, enter_above, leave_token},
                                usual = {qp_event_enter_id, qp_event_exit_id,
                                         qp_event_enter_above, qp_event_leave_token};
    qp_on_unwind = host_token;
    qp_on_event = is_on ? checked : usual;
}
