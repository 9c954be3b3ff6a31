/* test_trace_instructions.c: what a program that records a trace leaves if it is killed at any
 * instruction. A child is stepped through what leaves records, and so is the thread that writes
 * them; wherever its memory has changed, the trace is read as that of a process that has died
 * there. All events are in it but the one in flight, and what found no room is counted. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/atomic.h"
#include "format/trace.h"
#include "qprof.h"
#include "replay/calls/calls.h"
#include "unit/leavings.h"

enum { A = 1, B, C, HOOKED, EXCLUDED, METHODS };
enum { SLOTS = 1024, DEPTH_MAX = 64, VTS = 4, LOG_MAX = 4 * SLOTS, STATES_MIN = 3 };
#define OUTPUT "steps.qprof"
#define STREAM "steps.qtrace"
static const char *const names[] = {"", "a", "b", "c", "h", "x"};

/* What the child tells the test: its events, two characters each, the thread and what it did.
 * Those up to `done` are over, those after `begun` have not begun. */
typedef struct {
    char live_file[300];
    unsigned done, begun;
    char log[LOG_MAX];
} tally;
static tally *shared;

/* ---- the child: announces everything before it does it ----------------------------------- */

typedef struct {
    unsigned depth;
    bool is_logged[DEPTH_MAX];
} stack;
static stack stacks[VTS];
static VthreadID vt; /* 0: the OS thread's events */
static bool is_off;

static void say(char what, unsigned n)
{
    for (unsigned at = shared->begun; n-- > 0 && at + 2 < LOG_MAX; at += 2) {
        shared->log[at] = (char)('0' + vt);
        shared->log[at + 1] = what;
        shared->begun = at + 2;
    }
}

static void done(void)
{
    shared->done = shared->begun;
}

static void in(uintptr_t method)
{
    stack *s = &stacks[vt];
    bool is_logged = method != EXCLUDED && !is_off;
    s->is_logged[s->depth++] = is_logged;
    say(names[method][0], is_logged);
    if (vt)
        qprof_record_fn_entry_vt(method, s->depth, vt);
    else
        qprof_record_fn_entry(method, s->depth);
    done();
}

static unsigned pop_to(unsigned depth)
{
    stack *s = &stacks[vt];
    unsigned n = 0;
    while (s->depth > depth)
        n += s->is_logged[--s->depth];
    return n;
}

/* Back to the frame at this depth. */
static void back_to(unsigned depth)
{
    bool is_unwound = stacks[vt].depth > depth + 1;
    say(is_unwound ? '!' : ')', pop_to(depth));
    if (vt)
        qprof_record_fn_exit_vt(depth, vt);
    else
        qprof_record_fn_exit(depth);
    done();
}

/* ---- what is stepped through ------------------------------------------------------------- */

static void call_and_return(void)
{
    in(A);
    in(B);
    in(C);
    back_to(2);
    in(C);
    in(B);
    in(C);
    back_to(1); /* four frames end */
    in(B);
    back_to(0);
}

static void set_triggers(void)
{
    qprof_trigger *on = qprof_trigger_create("on", QPROF_TRIGGER_ON);
    qprof_trigger_add_method(on, HOOKED, 1);
    qprof_area *area = qprof_area_create("without", QPROF_AREA_EXCLUDE, QPROF_LEVEL_ROUTINES);
    qprof_area_add(area, QPROF_ELEM_ROUTINE, names[EXCLUDED], 1);
}

static void unwind_what_is_hooked(void)
{
    in(A);
    in(HOOKED);
    in(B);
    in(EXCLUDED);
    in(C);
    in(HOOKED);
    in(A);
    back_to(1); /* six frames end, two of them with something to do */
    back_to(0);
}

static void switch_threads(void)
{
    for (unsigned i = 0; i < 12; i++) {
        vt = 1 + i % 2;
        if (i < 8)
            in(i % 3 ? A : B);
        else
            back_to(i < 10 ? 1 : 0);
    }
}

static void end_a_thread(void)
{
    vt = 1;
    in(A);
    in(B);
    vt = 2;
    in(C);
    vt = 1;
    say('!', pop_to(0));
    qprof_thread_destroy_vt(vt);
    done();
    in(A); /* another life of its row */
    vt = 2;
    back_to(0);
}

static void stop_and_start(void)
{
    in(A);
    qprof_stop_recording();
    is_off = true;
    in(B);
    in(C);
    qprof_start_recording();
    is_off = false;
    in(A);
    back_to(2);
    back_to(0);
}

static void want_values(void)
{
    qprof_area_set_parameters(qprof_area_find("all-lines"), 1);
    call_and_return();
}

static void say_more(void)
{
    in(A);
    say('*', 1);
    qprof_mark("here");
    done();
    say('$', 1);
    qprof_counter("queue", 7);
    done();
    qprof_trace_parameter(1, "string", "longer than what one record of a text holds", "first");
    say('&', 1); /* it belongs to the entry */
    in(B);
    say('&', 1);
    qprof_trace_result("string", "and the result is longer than that as well");
    done();
    in(C);
    back_to(2);
    back_to(1);
    back_to(0);
}

static void call_until(unsigned n_events)
{
    while (shared->done / 2 < n_events) {
        in(A);
        back_to(0);
    }
}

/* The oldest records, which are those of more than calls, are about to be replaced. */
static void fill_a_ring(void)
{
    want_values();
    say_more();
    call_until(SLOTS);
}

static void go_round(void)
{
    say_more();
    call_until(SLOTS + 20);
}

static void fill_a_stream(void)
{
    call_until(SLOTS - 15);
}

/* The last ones find no room, until the writer has made some. */
static void lose(void)
{
    for (unsigned i = 0; i < 20; i++)
        in(A);
    raise(SIGSTOP);
    in(B);
    in(C);
}

static void stay_in_calls(void)
{
    call_and_return();
    in(A);
    in(B);
}

static void shut_down(void)
{
    say('!', pop_to(0));
    qprof_shutdown();
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Events as they are in a trace, in the words of the log. */
typedef struct {
    qp_names *names;
    char log[LOG_MAX];
    unsigned n;
} retold;

static void add(retold *x, const qp_span_thread *th, char what)
{
    assert_true(x->n + 2 <= LOG_MAX);
    x->log[x->n++] = (char)('0' + qp_names_thread_at(x->names, th->number)->vt_id);
    x->log[x->n++] = what;
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    retold *x = to;
    if (!(s->flags & QP_SPAN_CUT))
        add(x, th, qp_names_method_at(x->names, s->method)->name[0]);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    if (end != QP_END_UNFINISHED && !(s->flags & QP_SPAN_SKIPPED))
        add(to, th, ")!?"[end]);
}

static void event(void *to, qp_span_thread *th, const qp_span_event *e)
{
    if (e->op == QP_TRACE_MARKER && strcmp(e->name, "here") != 0)
        return; /* of a trigger */
    if (e->op == QP_TRACE_COUNTER)
        assert_int_equal(e->value, 7);
    if (e->op == QP_TRACE_VALUE)
        assert_non_null(strstr(e->text, "longer than"));
    if (e->op == QP_TRACE_MARKER || e->op == QP_TRACE_COUNTER || e->op == QP_TRACE_VALUE)
        add(to, th, e->op == QP_TRACE_MARKER ? '*' : e->op == QP_TRACE_COUNTER ? '$' : '&');
}

typedef struct {
    const char *what;
    unsigned n; /* instructions so far */
    const char *options, *stream;
    bool is_virtual;
    bool is_round; /* the oldest records have been replaced */
    bool holds_writer;
    bool loses; /* entries */
    void (*prepare)(void);
    void (*play)(void);
} program;

static bool ends_at(const program *p, const retold *x, uint64_t n_missing, unsigned end)
{
    if (p->loses)
        return x->n / 2 + n_missing == end / 2;
    bool is_all = p->is_round ? x->n <= end && x->n / 2 + DEPTH_MAX >= SLOTS : x->n == end;
    return !n_missing && is_all && memcmp(shared->log + end - x->n, x->log, x->n) == 0;
}

/* Does what was read end with an event that may be the last one? */
static void compare(const program *p, const retold *x, uint64_t n_missing)
{
    for (unsigned end = shared->done; end <= shared->begun; end += 2)
        if (ends_at(p, x, n_missing, end))
            return;
    fail_msg("%s, killed after instruction %u: %ju records missing\nread %.*s\ndone %.*s\n"
             "begun %.*s",
             p->what, p->n, (uintmax_t)n_missing, (int)x->n, x->log, (int)shared->done,
             shared->log, (int)(shared->begun - shared->done), shared->log + shared->done);
}

static void read_trace(const program *p, const char *profile)
{
    static retold x;
    qp_error error;
    uint64_t n_places;
    qp_spans spans;
    qp_trace *t = qp_trace_open(p->stream ? p->stream : profile, &error);
    bool is_good = t && (!p->stream || qp_trace_join(t, profile, &error));
    if (!is_good && !shared->done && strstr(error.text, "no raw trace is in it")) {
        qp_trace_close(t); /* there is no ring yet */
        return;
    }
    if (!is_good)
        fail_msg("%s, killed after instruction %u: %s", p->what, p->n, error.text);
    x = (retold){.names = qp_trace_names(t)};
    qp_trace_spans(t, &spans, &(qp_span_sink){&x, enter, leave, event});
    assert_true(qp_trace_play(t, &spans, NULL, NULL));
    const qp_trace_losses *lost = qp_trace_lost(t);
    if (lost->n_damaged || lost->n_packets || (spans.counts.n_unmatched && !p->is_round))
        fail_msg("%s, killed after instruction %u: %ju damaged, %ju unmatched", p->what, p->n,
                 (uintmax_t)(lost->n_damaged + lost->n_packets),
                 (uintmax_t)spans.counts.n_unmatched);
    compare(p, &x, qp_trace_missing(t, &spans.counts, NULL, &n_places));
    qp_spans_fini(&spans);
    qp_trace_close(t);
}

/* ---- stepping ---------------------------------------------------------------------------- */

static void run(const program *p)
{
    qprof_InitInfo info = {.initial_options = p->options, .usingVirtualThreads = p->is_virtual};
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    if (qprof_initialize_ex(&info))
        _exit(9);
    for (uintptr_t id = A; id < METHODS; id++)
        qprof_register_method_id(id, names[id], NULL, 0, "file", NULL, 0);
    snprintf(shared->live_file, sizeof shared->live_file, "%s", qprof_live_file());
    vt = p->is_virtual;
    if (p->prepare)
        p->prepare();
    raise(SIGSTOP);
    p->play();
    raise(SIGSTOP);
    qprof_shutdown();
    _exit(0);
}

/* It is about to play. @param writer receives the thread that writes the trace, before it
 * begins to; 0: there is none, or it is not stepped */
static pid_t start(const program *p, pid_t *writer)
{
    int status;
    unsigned long id = 0;
    memset(shared, 0, sizeof *shared);
    unlink(OUTPUT);
    unlink(STREAM);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        run(p);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (p->holds_writer)
        ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACECLONE);
    status = leavings_step(child, PTRACE_CONT);
    if (p->holds_writer) {
        assert_int_equal(status >> 8, SIGTRAP | PTRACE_EVENT_CLONE << 8);
        ptrace(PTRACE_GETEVENTMSG, child, NULL, &id);
        assert_int_equal(waitpid((pid_t)id, &status, __WALL), (pid_t)id);
        status = leavings_step(child, PTRACE_CONT);
    }
    *writer = (pid_t)id;
    assert_true(leavings_stopped_by(status, SIGSTOP));
    return child;
}

static bool has_grown(const program *p, off_t *n_bytes)
{
    struct stat s = {.st_size = 0};
    off_t before = *n_bytes;
    if (p->stream)
        stat(p->stream, &s);
    return (*n_bytes = s.st_size) != before;
}

/* Step a thread of it until it stops by itself, or everything is in the file. */
static void step_through(program *p, leavings *x, pid_t thread, const qp_ring *until_taken)
{
    unsigned n_states = 0;
    off_t n_bytes = 0;
    int status;
    while (leavings_stopped_by(status = leavings_step(thread, PTRACE_SINGLESTEP), SIGTRAP)) {
        p->n++;
        bool has_changed = leavings_look(x);
        if (has_grown(p, &n_bytes) || has_changed) {
            read_trace(p, x->path);
            n_states++;
        }
        if (until_taken && qp_observe(&until_taken->tail) == until_taken->head)
            break;
    }
    assert_true(until_taken || leavings_stopped_by(status, SIGSTOP));
    printf("%s: %u instructions, %u states\n", p->what, p->n, n_states);
    assert_true(n_states > STATES_MIN);
}

static const qp_ring *ring_of(const leavings *x)
{
    const qp_head *h = (const void *)x->now;
    for (size_t cell = QP_HEAD_CELLS; cell < h->n_cells; cell++) {
        const qp_extent *e = (const void *)(x->now + cell * QP_CELL);
        if (e->magic == QP_EXTENT_MAGIC && e->self == cell && e->kind == QP_EXTENT_RING)
            return (const void *)(e + 1);
    }
    fail_msg("no ring");
    return NULL;
}

static void kill_everywhere(program p)
{
    leavings x;
    pid_t writer, child = start(&p, &writer);
    leavings_open(&x, shared->live_file);
    step_through(&p, &x, child, NULL);
    if (writer && !p.loses)
        step_through(&p, &x, writer, ring_of(&x));
    if (writer)
        ptrace(PTRACE_DETACH, writer, NULL, NULL);
    if (p.loses) {
        const qp_ring *ring = ring_of(&x);
        while (qp_observe(&ring->tail) != ring->head)
            sched_yield(); /* until the writer has made room */
        step_through(&p, &x, child, NULL);
    }
    leavings_close(&x);
    int status = leavings_step(child, PTRACE_CONT);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define KILLED(name, more, ...)                                                                \
    static void name(void **state)                                                             \
    {                                                                                          \
        (void)state;                                                                           \
        kill_everywhere((program){.what = #name,                                               \
                                  .options = "-collect=profile,trace -trace-buffer=16K "       \
                                             "-output=" OUTPUT more,                           \
                                  __VA_ARGS__});                                               \
    }

KILLED(first_calls, "", .play = call_and_return)
KILLED(later_calls, "", .prepare = call_and_return, .play = call_and_return)
KILLED(later_calls_without_times, " -time=none", .prepare = call_and_return,
       .play = call_and_return)
KILLED(triggers, "", .prepare = set_triggers, .play = unwind_what_is_hooked)
KILLED(switches, "", .is_virtual = true, .play = switch_threads)
KILLED(the_end_of_a_thread, "", .is_virtual = true, .play = end_a_thread)
KILLED(a_stop, "", .play = stop_and_start)
KILLED(marks_and_values, "", .prepare = want_values, .play = say_more)
KILLED(a_ring_that_goes_round, "", .is_round = true, .prepare = fill_a_ring, .play = go_round)

#define STREAMED_WITH(name, words, ...)                                                        \
    KILLED(name, " -trace-output=" STREAM words, .stream = STREAM, __VA_ARGS__)
#define STREAMED(name, ...) STREAMED_WITH(name, "", __VA_ARGS__)

STREAMED(packets, .holds_writer = true, .play = call_and_return)
STREAMED(packets_of_values, .holds_writer = true, .prepare = want_values, .play = say_more)
STREAMED_WITH(a_ring_that_is_full, " -trace-memory=16K", .holds_writer = true, .loses = true,
              .prepare = fill_a_stream, .play = lose)
STREAMED(the_end_of_a_stream, .prepare = stay_in_calls, .play = shut_down)

static bool share_tally(void)
{
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED;
}

STEPPED_MAIN(share_tally(), cmocka_unit_test(first_calls), cmocka_unit_test(later_calls),
             cmocka_unit_test(later_calls_without_times), cmocka_unit_test(triggers),
             cmocka_unit_test(switches), cmocka_unit_test(the_end_of_a_thread),
             cmocka_unit_test(a_stop), cmocka_unit_test(marks_and_values),
             cmocka_unit_test(a_ring_that_goes_round), cmocka_unit_test(packets),
             cmocka_unit_test(packets_of_values), cmocka_unit_test(a_ring_that_is_full),
             cmocka_unit_test(the_end_of_a_stream))
