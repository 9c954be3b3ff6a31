/* test_instructions.c: what a recording program leaves if it is killed at any instruction. A child is
 * stepped through rare events one instruction at a time; wherever its file has changed, the file
 * is read as that of a process that has died there. */
#include <fcntl.h>
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

#include "base/alloc.h"
#include "format/layout.h"
#include "model/check.h"
#include "model/model.h"
#include "qprof.h"
#include "qprof/triggers.h"

enum { A = 1, B, C, HOOKED, OTHER_HOOKED, EXCLUDED, NEW, STATES_MIN = 5 };

/* What the child tells the test. */
typedef struct {
    char live_file[300];
    uint64_t entries_begun, entries_done, exits_begun, exits_done;
} tally;
static tally *told;

static uintptr_t depth;
static VthreadID vt; /* 0: the system thread's events */

static void in(uintptr_t method)
{
    told->entries_begun++;
    if (vt)
        qprof_record_fn_entry_vt(method, ++depth, vt);
    else
        qprof_record_fn_entry(method, ++depth);
    told->entries_done++;
}

/* Back to the frame at this depth. */
static void back_to(uintptr_t d)
{
    told->exits_begun++;
    depth = d;
    if (vt)
        qprof_record_fn_exit_vt(d, vt);
    else
        qprof_record_fn_exit(d);
    told->exits_done++;
}

/* ---- what is stepped through ----------------------------------------------------------------- */

typedef struct {
    const char *options;
    bool is_virtual;
    void (*prepare)(void);
    void (*play)(void);
} program;

static void call_and_return(void)
{
    in(A);
    in(B);
    qprof_record_counts(5);
    in(C);
    back_to(2);
    in(C);
    in(B);
    in(C);
    back_to(1); /* four frames end */
    in(B);
    back_to(0);
}

static void call_an_unknown_method(void)
{
    in(A);
    in(NEW);
    back_to(0);
}

/* No stack grows from here on. */
static void fill_memory(void)
{
    vt = 1;
    in(A);
    back_to(0);
    vt = 2;
    for (uintptr_t id = 1000; id < 100000 && !qprof_diagnostic("tree_overflow"); id++) {
        in(id);
        back_to(0);
    }
    vt = 1;
}

/* Of these the last ones are only counted. */
static void call_deeply(void)
{
    for (unsigned i = 0; i < 12; i++)
        in(i % 2 ? A : B);
}

static void fill_and_call_deeply(void)
{
    fill_memory();
    call_deeply();
}

static void unwind_from_the_deep(void)
{
    back_to(depth - 1);
    back_to(2);
    call_deeply();
    back_to(0);
}

static void end_a_deep_thread(void)
{
    qprof_thread_destroy_vt(vt);
    depth = 0;
}

static void outgrow_the_first_stack(void)
{
    vt = 1;
    call_deeply();
    back_to(0);
}

static void switch_threads(void)
{
    uintptr_t depths[3] = {0};
    for (unsigned i = 0; i < 12; i++) {
        vt = 1 + i % 2;
        depth = depths[vt];
        if (i < 8)
            in(i % 3 ? A : B);
        else
            back_to(i < 10 ? 1 : 0);
        depths[vt] = depth;
    }
    qprof_thread_destroy_vt(2);
}

static void set_triggers(void)
{
    qprof_trigger *off = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger *other = qprof_trigger_create("other", QPROF_TRIGGER_ON);
    qprof_trigger_add_method(off, HOOKED, 1);
    qprof_trigger_add_method(other, OTHER_HOOKED, 1);
    qprof_area *area = qprof_area_create("without", QPROF_AREA_EXCLUDE, QPROF_LEVEL_ROUTINES);
    qprof_area_add(area, QPROF_ELEM_ROUTINE, "excluded", 1);
}

static void unwind_what_is_hooked(void)
{
    in(A);
    in(HOOKED);
    in(B);
    in(EXCLUDED);
    in(C);
    in(OTHER_HOOKED);
    in(A);
    in(B);
    back_to(1); /* seven frames end, two of them with something to do */
    back_to(0);
}

static void call_often(void)
{
    for (unsigned i = 0; i < 20; i++)
        call_and_return();
}

static void clear_below_calls(void)
{
    in(A);
    in(B);
    qprof_clear_data();
    in(C);
    back_to(0);
}

static void time_blocks(void)
{
    in(A);
    qprof_record_bb_time(0);
    qprof_record_bb_counts(1, 3);
    in(B);
    qprof_record_bb_time(1);
    in(C);
    qprof_record_bb_time(0);
    back_to(1);
    qprof_record_bb_time(1);
    back_to(0);
}

static void call_and_count(void)
{
    for (uintptr_t method = A; method <= B; method++) {
        uint64_t *bank = qprof_counter_bank(method);
        in(method);
        if (bank)
            bank[0]++;
    }
    back_to(0);
}

static void count_in_a_context(void)
{
    qprof_context("one");
    call_and_count();
}

static void change_contexts(void)
{
    call_and_count();
    in(C);
    qprof_context("two");
    call_and_count();
    qprof_context("one");
}

static void shut_down(void)
{
    qprof_shutdown();
}

static void call_and_stay(void)
{
    call_often();
    in(A);
    in(B);
}

static void stop_and_start(void)
{
    in(A);
    qprof_stop_recording();
    in(B);
    in(C);
    qprof_start_recording();
    in(A);
    back_to(0);
}

/* ---- stepping -------------------------------------------------------------------------------- */

static void run(const program *p)
{
    static const qprof_LineInfo lines[] = {{0, 1}, {8, 2}};
    static const char *const names[] = {"a", "b", "c", "hooked", "other", "excluded"};
    qprof_InitInfo info = {.initial_options = p->options, .usingVirtualThreads = p->is_virtual};
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    if (qprof_initialize_ex(&info))
        _exit(9);
    for (uintptr_t id = A; id < NEW; id++)
        qprof_register_method_id(id, names[id - A], NULL, 0, "file", lines, 2);
    snprintf(told->live_file, sizeof told->live_file, "%s", qprof_live_file());
    if (p->prepare)
        p->prepare();
    raise(SIGSTOP);
    p->play();
    raise(SIGSTOP);
    qprof_shutdown();
    _exit(0);
}

/* The file as it is now, and as it was when it was read last. */
typedef struct {
    int fd;
    const unsigned char *now;
    unsigned char *was;
    size_t n_bytes;
} leavings;

static void open_leavings(leavings *x)
{
    struct stat s;
    x->fd = open(told->live_file, O_RDONLY | O_CLOEXEC);
    assert_true(x->fd >= 0);
    assert_int_equal(fstat(x->fd, &s), 0);
    x->n_bytes = (size_t)s.st_size;
    x->now = mmap(NULL, x->n_bytes, PROT_READ, MAP_SHARED, x->fd, 0);
    assert_ptr_not_equal(x->now, MAP_FAILED);
    x->was = test_calloc(1, x->n_bytes);
}

static void close_leavings(leavings *x)
{
    munmap((void *)x->now, x->n_bytes);
    close(x->fd);
    test_free(x->was);
}

static size_t used_bytes(const leavings *x)
{
    uint64_t n = ((const qp_head *)x->now)->n_cells * QP_CELL;
    return n < x->n_bytes ? (size_t)n : x->n_bytes;
}

static void read_leavings(const leavings *x, const char *what, unsigned n)
{
    char error[QP_ERROR_BYTES];
    qp_model *m;
    qp_check *checks;
    size_t n_checks;
    uint64_t entries = 0, exits = 0, n_unsettled = 0;
    ((qp_head *)x->was)->pid_start++; /* as if it had died */
    qp_load_status status = qp_model_load_bytes(x->was, x->n_bytes, NULL, &m, error);
    ((qp_head *)x->was)->pid_start--;
    if (status != QP_LOAD_CLEAN)
        fail_msg("%s, killed behind instruction %u: %s", what, n,
                 m && m->n_losses ? m->losses[0] : error);
    assert_int_equal(m->run.state, QP_RUN_CRASHED);
    assert_true(qp_model_check(m, &checks, &n_checks));
    for (size_t i = 0; i < n_checks; i++)
        if (!checks[i].passed)
            fail_msg("%s, killed behind instruction %u: %s: %s", what, n, checks[i].name,
                     checks[i].detail);
    for (uint32_t i = 1; i < m->n_threads; i++) {
        const qp_model_thread *th = &m->threads[i];
        entries +=
            th->n_in_tree + th->n_folded + th->n_deep_total + th->n_dropped + th->n_cleared;
        exits += th->n_exits;
        n_unsettled += th->n_unsettled;
    }
    if (entries < told->entries_done || entries > told->entries_begun + n_unsettled ||
        exits < told->exits_done || exits > told->exits_begun)
        fail_msg("%s, killed behind instruction %u: %ju entries of %ju to %ju, %ju exits of "
                 "%ju to %ju",
                 what, n, (uintmax_t)entries, (uintmax_t)told->entries_done,
                 (uintmax_t)told->entries_begun, (uintmax_t)exits, (uintmax_t)told->exits_done,
                 (uintmax_t)told->exits_begun);
    qp_free(checks);
    qp_model_free(m);
}

static int step(pid_t child, int how)
{
    int status;
    assert_int_equal(ptrace(how, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool has_stopped_by(int status, int signal)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

static void kill_everywhere(const char *what, const program *p)
{
    leavings x;
    unsigned n = 0, n_states = 0;
    int status;
    memset(told, 0, sizeof *told);
    depth = vt = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        run(p);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(has_stopped_by(status, SIGSTOP));
    open_leavings(&x);
    while (has_stopped_by(status = step(child, PTRACE_SINGLESTEP), SIGTRAP)) {
        n++;
        size_t n_used = used_bytes(&x);
        if (memcmp(x.now, x.was, n_used) == 0)
            continue;
        memcpy(x.was, x.now, n_used);
        read_leavings(&x, what, n);
        n_states++;
    }
    assert_true(has_stopped_by(status, SIGSTOP));
    printf("%s: %u instructions, %u states\n", what, n, n_states);
    assert_true(n_states > STATES_MIN);
    close_leavings(&x);
    status = step(child, PTRACE_CONT);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void kill_in_every_mode(const char *what, program p, const char *more)
{
    static const char *const modes[] = {"-time=none", "-time=exact", "-time=adaptive"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char words[128], title[128];
        snprintf(words, sizeof words, "%s %s -output=steps.qprof", modes[i], more);
        snprintf(title, sizeof title, "%s, %s", what, modes[i]);
        p.options = words;
        kill_everywhere(title, &p);
    }
}

#define KILLED(name, ...)                                                                      \
    static void name(void **state)                                                             \
    {                                                                                          \
        (void)state;                                                                           \
        kill_in_every_mode(#name, __VA_ARGS__);                                                \
    }
#define PROGRAM(...) ((program){__VA_ARGS__})

KILLED(first_calls, PROGRAM(.play = call_and_return), "")
KILLED(later_calls, PROGRAM(.prepare = call_and_return, .play = call_and_return), "")
KILLED(an_unknown_method, PROGRAM(.play = call_an_unknown_method), "")
KILLED(a_stack_that_grows, PROGRAM(.is_virtual = true, .play = outgrow_the_first_stack), "")
KILLED(switches, PROGRAM(.is_virtual = true, .play = switch_threads), "")
KILLED(ends_of_frames_that_are_only_counted,
       PROGRAM(.is_virtual = true, .prepare = fill_and_call_deeply,
               .play = unwind_from_the_deep),
       "-memory-limit=1M")
KILLED(the_end_of_a_deep_thread,
       PROGRAM(.is_virtual = true, .prepare = fill_and_call_deeply, .play = end_a_deep_thread),
       "-memory-limit=1M")
KILLED(triggers, PROGRAM(.prepare = set_triggers, .play = unwind_what_is_hooked), "")
KILLED(block_times, PROGRAM(.play = time_blocks), "")
KILLED(contexts, PROGRAM(.prepare = count_in_a_context, .play = change_contexts),
       "-collect=profile,coverage")
KILLED(a_clear, PROGRAM(.prepare = call_often, .play = clear_below_calls), "")
KILLED(a_stop, PROGRAM(.play = stop_and_start), "")

static void a_shutdown(void **state)
{
    (void)state;
    kill_everywhere("a_shutdown", &PROGRAM("-output=steps.qprof", .prepare = call_and_stay,
                                           .play = shut_down));
}

/* The instructions of a sanitizer are not those that users run, and ten times as many. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

int main(void)
{
    if (IS_SANITIZED) {
        puts("with a sanitizer there is another event path: stepped through without one");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_calls),
        cmocka_unit_test(later_calls),
        cmocka_unit_test(an_unknown_method),
        cmocka_unit_test(a_stack_that_grows),
        cmocka_unit_test(switches),
        cmocka_unit_test(ends_of_frames_that_are_only_counted),
        cmocka_unit_test(the_end_of_a_deep_thread),
        cmocka_unit_test(triggers),
        cmocka_unit_test(block_times),
        cmocka_unit_test(contexts),
        cmocka_unit_test(a_clear),
        cmocka_unit_test(a_shutdown),
        cmocka_unit_test(a_stop),
    };
    unsetenv("QPROF");
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return told != MAP_FAILED ? cmocka_run_group_tests(tests, NULL, NULL) : 99;
}
