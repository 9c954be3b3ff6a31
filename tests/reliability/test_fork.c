/* test_fork.c: forked children that continue the run, -follow-child-processes. Times are in ns of the
 * test's own clock, which a child continues. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qprof/embed.h"
#include "unit/files.h"
#include "unit/play.h"

static const char follows[] = "-follow-child-processes";

static void begin(play_ctx *p, const char *options)
{
    char all[256];
    snprintf(all, sizeof all, "%s %s", follows, options);
    play_begin(p, all);
}

static int fork_now(void)
{
    fflush(NULL);
    return fork();
}

/* Read the profile of a child. */
static void read_child(play_ctx *p, int child)
{
    char name[64];
    snprintf(name, sizeof name, "run.qprof.%d", child);
    play_read(p, name);
    assert_int_equal(p->m->run.pid, child);
}

static uint64_t calls_of(play_ctx *p, const char *method)
{
    return play_figures(p, QP_ALL_THREADS, method).calls;
}

/* ---- what is open ------------------------------------------------------------------------ */

/* main( 4 f( 5 fork, then the child 2 g( 3 ) 1 ) 6 ) and the parent 20 ) 40 ). */
static void a_child_continues_what_is_open(void **state)
{
    static const char *const modes[] = {"-time=exact", "-time=exact -record-min-max",
                                        "-time=exact -collect=profile,coverage"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        play_ctx *p = *state;
        unlink("run.qprof");
        begin(p, modes[i]);
        play(p, "main( 4 f( 5 ");
        int child = fork_now();
        if (child == 0) {
            play(p, "2 g( 3 ) 1 ) 6 )");
            exit(0);
        }
        assert_int_equal(play_child_status(child), 0);
        play(p, "20 ) 40 )");
        play_end(p);
        assert_flat(p, "main", 1, 69, 44);
        assert_flat(p, "f", 1, 25, 25);
        assert_absent(p, "g");
        read_child(p, child);
        assert_string_equal(p->m->run.state_text, "sealed");
        assert_flat(p, "main", 0, 12, 6);
        assert_flat(p, "f", 0, 6, 3);
        assert_path(p, "main>f>g", 1, 3);
        assert_int_equal(p->m->run.calls, 1);
        assert_int_equal(p->m->run.n_diagnostics, 0);
    }
}

/* Three children of one parent, which calls g before, between and after. */
static void a_merge_counts_every_call_once(void **state)
{
    static const char *const scores[] = {"g( 1 ) ) )", "g( 2 ) g( 2 ) ) )", "h( g( 3 ) ) ) )"};
    play_ctx *p = *state;
    int children[3];
    begin(p, "");
    play(p, "main( g( 1 ) f( ");
    for (int i = 0; i < 3; i++) {
        children[i] = fork_now();
        if (children[i] == 0) {
            play(p, scores[i]);
            exit(0);
        }
        assert_int_equal(play_child_status(children[i]), 0);
        play(p, "g( 10 )");
    }
    play(p, ") g( 100 ) )");
    play_end(p);
    assert_int_equal(calls_of(p, "g"), 5);
    qp_merge *s = qp_merge_new();
    sum_add(s, p->m, "run.qprof");
    for (int i = 0; i < 3; i++) {
        read_child(p, children[i]);
        sum_add(s, p->m, "child");
    }
    qp_model_free(p->m);
    p->m = sum_finish(s, "sum.qprof");
    assert_flat(p, "g", 9, 139, 139);
    assert_flat(p, "main", 1, 139, 0);
    assert_flat(p, "f", 1, 38, 0);
    assert_path(p, "main>g", 2, 101);
    assert_path(p, "main>f>g", 6, 35);
    assert_path(p, "main>f>h>g", 1, 3);
    assert_int_equal(p->m->run.calls, 12);
}

static void a_child_of_a_child_continues_as_well(void **state)
{
    play_ctx *p = *state;
    int ends[2], grandchild, status = 0;
    assert_int_equal(pipe(ends), 0);
    begin(p, "");
    play(p, "a( 1 b( 2 ");
    int child = fork_now();
    if (child == 0) {
        play(p, "c( 3 ");
        grandchild = fork_now();
        if (grandchild == 0) {
            play(p, "d( 4 ) 5 ) ) )");
            exit(0);
        }
        waitpid(grandchild, &status, 0);
        if (write(ends[1], &grandchild, sizeof grandchild) != sizeof grandchild)
            exit(2);
        play(p, ") 6 ) )");
        exit(status != 0);
    }
    assert_int_equal(play_child_status(child), 0);
    assert_int_equal(read(ends[0], &grandchild, sizeof grandchild), sizeof grandchild);
    play(p, ") )");
    play_end(p);
    assert_int_equal(p->m->run.calls, 2);
    read_child(p, child);
    assert_flat(p, "a", 0, 9, 0);
    assert_flat(p, "b", 0, 9, 6);
    assert_flat(p, "c", 1, 3, 3);
    assert_absent(p, "d");
    read_child(p, grandchild);
    assert_flat(p, "a", 0, 9, 0);
    assert_flat(p, "c", 0, 9, 5);
    assert_flat(p, "d", 1, 4, 4);
    close(ends[0]);
    close(ends[1]);
}

/* Of a tree of 20,000 paths the child has those that are open; they are called again. */
static void a_child_of_a_large_tree_has_the_open_paths(void **state)
{
    enum { N_PATHS = 20000 };
    play_ctx *p = *state;
    struct stat st;
    char name[64];
    begin(p, "");
    play(p, "main( f( ");
    qprof_MethodID many = 1000;
    for (int i = 0; i < N_PATHS; i++) {
        qprof_record_fn_entry(many + (qprof_MethodID)(i % 100), 0x6000);
        qprof_record_fn_entry(many + (qprof_MethodID)(i / 100), 0x7000);
        qprof_record_fn_exit((uintptr_t)(p->first_id + p->id_step));
    }
    play(p, "g( ");
    int child = fork_now();
    if (child == 0) {
        play(p, "h( 1 ) ) g( 2 ) f( 3 ) ) g( 4 ) )");
        exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, ") ) )");
    play_end(p);
    assert_int_equal(p->m->run.calls, 3 + 2 * N_PATHS);
    read_child(p, child);
    assert_path(p, "main>f>g>h", 1, 1);
    assert_path(p, "main>f>g", 1, 2);
    assert_path(p, "main>f>f", 1, 3);
    assert_path(p, "main>g", 1, 4);
    assert_int_equal(p->m->run.calls, 4);
    assert_int_equal(p->m->n_nodes - p->m->n_threads, 6);
    snprintf(name, sizeof name, "run.qprof.%d", child);
    assert_int_equal(stat(name, &st), 0);
    assert_true(st.st_blocks * 512 < N_PATHS * 64 / 2); /* the rest is a hole */
}

static void deep_stacks_continue(void **state)
{
    enum { DEPTH = 20000 };
    play_ctx *p = *state;
    begin(p, "");
    qprof_MethodID f = play_method(p, "f"), g = play_method(p, "g");
    for (uintptr_t i = 1; i <= DEPTH; i++)
        qprof_record_fn_entry(f, i);
    int child = fork_now();
    if (child == 0) {
        qprof_record_fn_entry(g, DEPTH + 1);
        play_clock_add(7);
        qprof_record_fn_exit(DEPTH / 2);
        play_clock_add(2);
        qprof_record_fn_exit(0);
        exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_int_equal(p->m->run.calls, DEPTH);
    read_child(p, child);
    assert_flat(p, "g", 1, 7, 7);
    assert_flat(p, "f", 0, 9, 2);
}

/* ---- handles, tokens, threads of the host -------------------------------------------------- */

static qprof_MethodID define(const char *name)
{
    return qprof_define(name, NULL, "a.src", NULL, 0);
}

static qprof_vm *first_vm(const char *options)
{
    static qprof_vm vm;
    char all[256];
    snprintf(all, sizeof all, "-output=run.qprof -log-file=none %s %s", follows, options);
    unlink("run.qprof");
    qprof_set_clock(play_clock);
    assert_int_equal(qprof_vm_open(&vm, all), 1);
    return &vm;
}

/* main( a( creates co, which runs c( d( until it yields ) b( fork: the child resumes co and closes the
 * VM. With frames and without; where blocks are counted the whole tree is copied. */
static void tokens_and_stacks_of_before_the_fork_are_valid(void **state)
{
    static const char *const modes[] = {"-time=exact",
                                        "-time=none",
                                        "-time=exact -collect=profile,trace",
                                        "-time=exact -check-host=yes",
                                        "-time=exact -cover=hits",
                                        "-time=exact -collection-granularity=line"};
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        qprof_vm *vm = first_vm(modes[i]);
        qprof_stack co, late, *main = &vm->main;
        qprof_MethodID a = define("a"), b = define("b"), c = define("c"), d = define("d");
        qprof_token tm = qprof_enter(main, 0, define("main")), ta = qprof_enter(main, tm, a);
        qprof_stack_create(&co, main);
        qprof_stack_create(&late, main);
        qprof_leave(main, ta);
        qprof_switch(vm, &co);
        qprof_token tc = qprof_enter(&co, 0, c), td = qprof_enter(&co, tc, d);
        play_clock_add(1000);
        qprof_switch(vm, main);
        qprof_token tb = qprof_enter(main, tm, b);
        int child = fork_now();
        if (child == 0) {
            play_clock_add(1);
            qprof_switch(vm, &co);
            play_clock_add(2);
            qprof_leave(&co, td);
            td = qprof_enter(&co, qprof_top(&co), d);
            play_clock_add(3);
            qprof_leave(&co, td);
            play_clock_add(4);
            qprof_leave(&co, tc);
            qprof_switch(vm, main);
            qprof_stack_end(vm, &co);
            qprof_switch(vm, &late);
            qprof_token t = qprof_enter(&late, 0, define("late"));
            play_clock_add(5);
            qprof_leave(&late, t);
            qprof_switch(vm, main);
            qprof_stack_end(vm, &late);
            play_clock_add(6);
            qprof_leave(main, tb);
            play_clock_add(7);
            qprof_leave(main, qprof_enter(main, tm, a));
            qprof_leave(main, tm);
            qprof_vm_close(vm);
            _exit(0); /* the last user has ended the run */
        }
        assert_int_equal(play_child_status(child), 0);
        qprof_stack_end(vm, &co);
        qprof_leave(main, tb);
        qprof_leave(main, tm);
        qprof_vm_close(vm);
        play_end(p);
        assert_int_equal(p->m->run.calls, 5);
        read_child(p, child);
        assert_string_equal(p->m->run.state_text, "sealed");
        assert_int_equal(p->m->run.calls, 3); /* d, late, a */
        assert_int_equal(p->m->run.n_diagnostics, 0);
        assert_int_equal(calls_of(p, "d"), 1);
        assert_int_equal(calls_of(p, "late"), 1);
        assert_int_equal(calls_of(p, "a"), 1);
        assert_int_equal(calls_of(p, "b"), 0);
        if (strstr(modes[i], "exact")) {
            assert_flat(p, "d", 1, 5, 5);
            assert_flat(p, "c", 0, 9, 4);
            assert_flat(p, "b", 0, 7, 7);
            assert_flat(p, "late", 1, 5, 5);
        }
        char name[64];
        snprintf(name, sizeof name, "run.qprof.%d", child);
        unlink(name);
    }
}

/* Stacks that share a handle have tokens on no path of it. */
static void stacks_that_share_a_handle_continue(void **state)
{
    enum { N = 12 };
    play_ctx *p = *state;
    qprof_vm *vm = first_vm("-time=exact -thread-rows=2");
    qprof_stack stacks[N], *main = &vm->main;
    qprof_token tokens[N], tm = qprof_enter(main, 0, define("main"));
    qprof_MethodID f = define("f"), g = define("g");
    for (int i = 0; i < N; i++) {
        qprof_stack_create(&stacks[i], main);
        qprof_switch(vm, &stacks[i]);
        tokens[i] = qprof_enter(&stacks[i], 0, f);
        tokens[i] = qprof_enter(&stacks[i], tokens[i], i % 2 ? f : g);
        qprof_switch(vm, main);
    }
    int child = fork_now();
    if (child == 0) {
        for (int i = 0; i < N; i++) {
            qprof_switch(vm, &stacks[i]);
            play_clock_add(1);
            qprof_leave(&stacks[i], qprof_enter(&stacks[i], tokens[i], g));
            qprof_leave(&stacks[i], tokens[i]);
            qprof_switch(vm, main);
        }
        qprof_leave(main, tm);
        exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
    qprof_vm_close(vm);
    play_end(p);
    assert_int_equal(p->m->run.calls, 1 + 2 * N);
    read_child(p, child);
    assert_int_equal(calls_of(p, "g"), N);
    assert_int_equal(p->m->run.calls, N);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").self, N / 2);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "g").self, N / 2);
}

static void virtual_threads_continue(void **state)
{
    play_ctx *p = *state;
    char options[64];
    snprintf(options, sizeof options, "%s -time=exact", follows);
    play_begin_vt(p, options);
    play(p, "@a main( 4 f( 5 @b co( 6 h( 7 @a ");
    int child = fork_now();
    if (child == 0) {
        play(p, "1 g( 2 @b 3 ) 4 g( 5 ) @a 6 ) 7 ) ) @b )");
        exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, ") ) @b ) )");
    play_end(p);
    assert_int_equal(p->m->run.calls, 4);
    read_child(p, child);
    assert_int_equal(p->m->run.calls, 2);
    assert_path(p, "main>f", 0, 7); /* a thread runs until the first event of another one */
    assert_path(p, "main>f>g", 1, 5);
    assert_path(p, "co>h", 0, 1);
    assert_path(p, "co", 0, 10);
    assert_path(p, "co>g", 1, 5);
    assert_int_equal(p->m->run.n_diagnostics, 0);
}

static void counters_that_hosts_increment_continue(void **state)
{
    static const qprof_LineInfo table[] = {{0, 11}, {4, 12}};
    play_ctx *p = *state;
    begin(p, "-collect=profile,coverage");
    play_register(p, "f", 0, table, 2);
    play(p, "f( ");
    uint64_t *counters = qprof_counter_bank(play_method(p, "f"));
    const uint32_t *changes = qprof_changes();
    assert_non_null(counters);
    counters[1] += 100;
    uint32_t n_cleared = changes[1];
    int child = fork_now();
    counters[1] += child ? 10 : 3; /* by the same pointer */
    if (child == 0) {
        bool is_good =
            qprof_counter_bank(play_method(p, "f")) == counters && changes[1] != n_cleared;
        play(p, "#0*2 )");
        exit(!is_good);
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, ")");
    play_end(p);
    assert_block(p, "f", 1, 110, 0, 0);
    read_child(p, child);
    assert_block(p, "f", 0, 2, 0, 0);
    assert_block(p, "f", 1, 3, 0, 0);
}

/* ---- several OS threads -------------------------------------------------------------------- */

typedef struct {
    play_ctx *p;
    pthread_barrier_t is_open, is_forked;
} other;

static void *stand_open(void *arg)
{
    other *o = arg;
    qprof_thread_create(77);
    qprof_record_fn_entry(play_method(o->p, "outer"), 1);
    qprof_record_fn_entry(play_method(o->p, "inner"), 2);
    pthread_barrier_wait(&o->is_open);
    pthread_barrier_wait(&o->is_forked);
    qprof_record_fn_exit(0);
    return NULL;
}

static void threads_that_did_not_fork_have_ended(void **state)
{
    play_ctx *p = *state;
    other o = {.p = p};
    pthread_t thread;
    begin(p, "-time=exact");
    play_method(p, "outer");
    play_method(p, "inner");
    play(p, "main( 1 f( 2 ");
    pthread_barrier_init(&o.is_open, NULL, 2);
    pthread_barrier_init(&o.is_forked, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, stand_open, &o), 0);
    pthread_barrier_wait(&o.is_open);
    int child = fork_now();
    if (child == 0) {
        qprof_thread_create(77); /* as if the host had a new thread of this id */
        play(p, "3 g( 4 ) ) )");
        exit(0);
    }
    pthread_barrier_wait(&o.is_forked);
    pthread_join(thread, NULL);
    assert_int_equal(play_child_status(child), 0);
    play(p, ") )");
    play_end(p);
    assert_int_equal(p->m->run.calls, 4);
    read_child(p, child);
    assert_int_equal(p->m->run.calls, 1);
    assert_absent(p, "outer");
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "inner").self, 0);
    assert_path(p, "main>f", 0, 3);
    assert_path(p, "main>f>g", 1, 4);
    assert_int_equal(p->m->run.n_diagnostics, 0);
}

enum { N_FORKS = 20, N_RECORDERS = 2, N_CALLS = 50 };
static int is_over;

static void *record_until_over(void *unused)
{
    (void)unused;
    for (uintptr_t n = 0; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); n++) {
        qprof_record_fn_entry(1 + n % 97, 1);
        qprof_record_fn_entry(100 + n / 97 % 97, 2);
        qprof_record_fn_exit(n % 5 ? 1 : 0);
        qprof_record_fn_exit(0);
        if (n % 64 == 0 && n < 200000)
            qprof_register_method_id(1000 + n, "m", "c", 0, "f", NULL, 0);
    }
    return NULL;
}

/* Each child calls methods that the others are registering, and its file passes all checks. */
static void forks_while_threads_record_give_whole_files(void **state)
{
    play_ctx *p = *state;
    pthread_t threads[N_RECORDERS];
    int children[N_FORKS], statuses[N_FORKS];
    is_over = 0;
    qprof_set_clock(NULL);
    begin(p, "-time=exact");
    qprof_record_fn_entry(1, 1);
    for (int i = 0; i < N_RECORDERS; i++)
        pthread_create(&threads[i], NULL, record_until_over, NULL);
    for (int i = 0; i < N_FORKS; i++) {
        int child = fork_now();
        if (child == 0) {
            for (uintptr_t k = 0; k < N_CALLS; k++) {
                qprof_record_fn_entry(1000 + 64 * k, 2);
                qprof_record_fn_exit(1);
            }
            qprof_shutdown();
            _exit(0);
        }
        children[i] = child;
        statuses[i] = play_child_status(child);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < N_RECORDERS; i++)
        pthread_join(threads[i], NULL);
    play_end(p);
    for (int i = 0; i < N_FORKS; i++) {
        assert_int_equal(statuses[i], 0);
        read_child(p, children[i]);
        assert_int_equal(p->m->run.calls, N_CALLS);
    }
}

/* ---- how children end ---------------------------------------------------------------------- */

/* @return the path of the child's live file. It calls f once; then it ends in one of these ways. */
typedef enum { BY_EXIT_NOW, BY_EXEC, BY_SIGNAL } leaving;

static void leave_by(leaving how)
{
    char *argv[] = {(char *)"true", NULL}, *envp[] = {NULL};
    if (how == BY_EXEC)
        execve("/bin/true", argv, envp);
    if (how == BY_SIGNAL)
        kill(getpid(), SIGKILL);
    _exit(0);
}

static void what_children_leave_without_an_exit_is_their_live_file(void **state)
{
    play_ctx *p = *state;
    for (leaving how = BY_EXIT_NOW; how <= BY_SIGNAL; how++) {
        char path[256] = "", parents[256];
        int ends[2];
        unlink("run.qprof");
        assert_int_equal(pipe(ends), 0);
        begin(p, "-time=exact");
        play(p, "main( 4 ");
        snprintf(parents, sizeof parents, "%s", qprof_live_file());
        int child = fork_now();
        if (child == 0) {
            play(p, "1 f( 2 ) 3 ");
            qprof_record_fn_entry(play_method(p, "g"), 0x6000);
            size_t n = strlen(qprof_live_file()) + 1;
            if (write(ends[1], qprof_live_file(), n) == (ssize_t)n)
                leave_by(how);
            _exit(1);
        }
        assert_true(read(ends[0], path, sizeof path) > 1);
        waitpid(child, NULL, 0);
        assert_string_not_equal(path, parents);
        assert_string_equal(qprof_live_file(), parents);
        play_read(p, path);
        assert_string_equal(p->m->run.state_text, "unsealed");
        assert_int_equal(p->m->run.pid, child);
        assert_path(p, "main>f", 1, 2);
        assert_path(p, "main", 0, 4);
        assert_int_equal(calls_of(p, "g"), 1);
        unlink(path);
        play(p, ")");
        play_end(p);
        assert_int_equal(p->m->run.calls, 1);
        assert_int_equal(play_count_files(".qprof"), 1);
        close(ends[0]);
        close(ends[1]);
    }
}

static void a_child_that_calls_nothing_leaves_no_file(void **state)
{
    play_ctx *p = *state;
    begin(p, "");
    play(p, "main( ");
    int child = fork_now();
    if (child == 0)
        exit(0);
    assert_int_equal(play_child_status(child), 0);
    play(p, ")");
    play_end(p);
    char name[64];
    snprintf(name, sizeof name, "run.qprof.%d", child);
    assert_false(play_file_exists(name));
}

static void datasets_of_a_child_are_numbered_from_0(void **state)
{
    play_ctx *p = *state;
    char name[64];
    assert_int_equal(qprof_initialize("-output=d%n.%p -clear-on-save -follow-child-processes "
                                      "-log-file=none",
                                      NULL),
                     0);
    play(p, "main( f( ) ");
    assert_int_equal(qprof_save_data(), 1);
    qprof_add_annotation("the parent's");
    play(p, "f( ) ");
    int child = fork_now();
    if (child == 0) {
        play(p, "g( ) ");
        qprof_save_data();
        play(p, "g( ) g( ) )");
        exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, ")");
    qprof_shutdown();
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "d%d.%d", i, child);
        play_read(p, name);
        assert_int_equal(p->m->run.calls, i + 1);
        assert_int_equal(calls_of(p, "g"), i + 1);
        assert_int_equal(p->m->run.n_notes, 0);
    }
}

/* ---- states of the run ---------------------------------------------------------------------- */

/* main( 4 stop 8 [fork] 16 start 2 f( 1 ) ): a child that starts again has no part of the pause. */
static void a_stop_lasts_in_the_child(void **state)
{
    play_ctx *p = *state;
    begin(p, "-time=exact");
    play(p, "main( 4 ");
    qprof_stop_recording();
    play_clock_add(8);
    int child = fork_now();
    if (child == 0) {
        int was_recording = qprof_is_recording();
        play(p, "16 f( 32 ) ");
        qprof_start_recording();
        play(p, "2 f( 1 ) )");
        exit(was_recording);
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, "64 ");
    qprof_start_recording();
    play(p, "128 )");
    play_end(p);
    assert_flat(p, "main", 1, 132, 132);
    assert_int_equal(p->m->run.stopped, 72);
    read_child(p, child);
    assert_flat(p, "main", 0, 3, 2);
    assert_flat(p, "f", 2, 1, 1);
    assert_skips(p, "f", 1, 1);
    assert_int_equal(p->m->run.stopped, 48);
    assert_int_equal(p->m->run.wall, 51);
}

static void on_unknown(qprof_MethodID method)
{
    static int child;
    if (method == 0x5000) /* in the middle of an entry */
        child = fork_now();
    qprof_register_method_id(method, child ? "of the parent" : "of the child", NULL, 0, "f",
                             NULL, 0);
    if (method == 0x6000 && child)
        assert_int_equal(play_child_status(child), 0);
}

static void a_fork_in_the_callback_continues_the_entry(void **state)
{
    play_ctx *p = *state;
    int pid = getpid();
    qprof_set_clock(play_clock);
    assert_int_equal(qprof_initialize("-output=run.qprof -follow-child-processes -time=exact "
                                      "-log-file=none",
                                      on_unknown),
                     0);
    play(p, "main( 1 ");
    qprof_record_fn_entry(0x5000, 0x5000);
    play_clock_add(2);
    if (getpid() != pid) {
        qprof_record_fn_exit(0);
        exit(0);
    }
    qprof_record_fn_entry(0x6000, 0x6000);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_int_equal(p->m->run.calls, 3);
    assert_int_equal(play_count_files(".qprof"), 1);
}

/* No live file can be made: the limit of file sizes is lower than the parent's file is long. */
static void a_child_without_a_file_records_in_memory(void **state)
{
    play_ctx *p = *state;
    struct rlimit old, low = {8192, RLIM_INFINITY};
    begin(p, "-time=exact");
    play(p, "main( 4 f( 5 ");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    int child = fork_now();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    if (child == 0) {
        bool is_in_memory = !qprof_live_file()[0];
        play(p, "1 g( 2 ) ) )");
        exit(!is_in_memory);
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, ") )");
    play_end(p);
    read_child(p, child);
    assert_path(p, "main>f>g", 1, 2);
    assert_path(p, "main>f", 0, 1);
    assert_int_equal(play_file_diagnostic(p, "no_crash_safety"), 1);
}

/* With the machine's clock, in modes that need threads of the recorder's own. */
static void all_modes_of_time_continue(void **state)
{
    static const char *const modes[] = {
        "-time=adaptive", "-time=sampled", "-time=exact -clock=user+kernel",
        "-time=exact -allocations", "-time=exact -pc='VIRTUAL 1000'"};
    play_ctx *p = *state;
    if (!PLAY_CHILD_MAY_START_THREADS)
        skip();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        unlink("run.qprof");
        begin(p, modes[i]);
        qprof_set_clock(NULL);
        play(p, "main( f( ) f( ");
        int child = fork_now();
        if (child == 0) {
            for (int k = 0; k < 1000; k++)
                play(p, "g( h( ) )");
            play(p, ") f( ) )");
            exit(0);
        }
        assert_int_equal(play_child_status(child), 0);
        play(p, ") )");
        play_end(p);
        assert_int_equal(p->m->run.calls, 3);
        read_child(p, child);
        assert_int_equal(p->m->run.calls, 2001);
        assert_int_equal(calls_of(p, "g"), 1000);
        assert_int_equal(calls_of(p, "f"), 1);
        assert_int_equal(play_file_diagnostic(p, "clock_backwards"), 0);
        assert_true(p->m->run.total <= p->m->run.wall);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_child_continues_what_is_open),
        PLAY_TEST(a_merge_counts_every_call_once),
        PLAY_TEST(a_child_of_a_child_continues_as_well),
        PLAY_TEST(a_child_of_a_large_tree_has_the_open_paths),
        PLAY_TEST(deep_stacks_continue),
        PLAY_TEST(tokens_and_stacks_of_before_the_fork_are_valid),
        PLAY_TEST(stacks_that_share_a_handle_continue),
        PLAY_TEST(virtual_threads_continue),
        PLAY_TEST(counters_that_hosts_increment_continue),
        PLAY_TEST(threads_that_did_not_fork_have_ended),
        PLAY_TEST(forks_while_threads_record_give_whole_files),
        PLAY_TEST(what_children_leave_without_an_exit_is_their_live_file),
        PLAY_TEST(a_child_that_calls_nothing_leaves_no_file),
        PLAY_TEST(datasets_of_a_child_are_numbered_from_0),
        PLAY_TEST(a_stop_lasts_in_the_child),
        PLAY_TEST(a_fork_in_the_callback_continues_the_entry),
        PLAY_TEST(a_child_without_a_file_records_in_memory),
        PLAY_TEST(all_modes_of_time_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
