/* test_process.c: fork and its relatives, exec. reliability.md 2.13, R11. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/calls.h"
#include "unit/play.h"

/* A child that does everything it should not. */
static void misbehave(void)
{
    for (size_t i = 0; i < n_good_calls; i++)
        good_calls[i].call();
    for (size_t i = 0; i < n_bad_calls; i++)
        bad_calls[i].call();
    qprof_shutdown();
}

static void assert_only_the_parents_figures(play_ctx *p)
{
    play(p, "2 ) 4 )");
    play_end(p);
    assert_flat(p, "main", 1, 15, 8);
    assert_flat(p, "f", 1, 7, 7);
    assert_int_equal(p->m->run.calls, 2);
    assert_int_equal(p->m->run.n_diagnostics, 0);
    assert_int_equal(play_count_files(".qprof"), 1);
}

static void a_forked_child_records_nothing(void **state)
{
    play_ctx *p = play_start(state, "");
    qprof_thread *handle = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "main( 4 f( 5");
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        int is_running = qprof_is_running();
        unsigned wants = qprof_wants();
        qprof_entry(handle, 1, 1);
        qprof_exit(handle, 0);
        misbehave();
        exit(is_running || wants); /* exit handlers and all */
    }
    assert_int_equal(play_child_status(child), 0);
    assert_only_the_parents_figures(p);
}

static void a_child_of_a_child_records_nothing(void **state)
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 4 f( 5");
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        int grandchild = fork(), status = 0;
        if (grandchild == 0) {
            misbehave();
            exit(0);
        }
        waitpid(grandchild, &status, 0);
        exit(status ? 1 : 0);
    }
    assert_int_equal(play_child_status(child), 0);
    assert_only_the_parents_figures(p);
}

static void a_raw_clone_records_nothing(void **state)
{
    play_ctx *p = play_start(state, "");
    qprof_thread *handle = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "main( 4 f( 5");
    fflush(NULL);
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); /* no fork handlers run */
    if (child == 0) {
        qprof_entry(handle, 1, 1);
        qprof_exit(handle, 0);
        qprof_record_fn_entry(1, 1);
        qprof_record_fn_exit(0);
        misbehave();
        _exit(0);
    }
    assert_int_equal(play_child_status((int)child), 0);
    assert_only_the_parents_figures(p);
}

static void a_child_of_vfork_and_posix_spawn_do_no_harm(void **state)
{
    play_ctx *p = *state;
    char *argv[] = {(char *)"true", NULL}, *envp[] = {NULL};
    pid_t spawned;
    play_begin(p, "");
    play(p, "main( 4 f( 5");
    int child = vfork();
    if (child == 0) {
        execve("/bin/true", argv, envp);
        _exit(1);
    }
    assert_int_equal(play_child_status(child), 0);
    assert_int_equal(posix_spawn(&spawned, "/bin/true", NULL, NULL, argv, envp), 0);
    assert_int_equal(play_child_status(spawned), 0);
    assert_only_the_parents_figures(p);
}

static void a_forked_child_may_initialise_itself(void **state)
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 4 f( 5");
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        int code = qprof_initialize("-output=child.profile", NULL);
        qprof_record_fn_entry(1, 1);
        qprof_shutdown();
        exit(code != 0);
    }
    assert_int_equal(play_child_status(child), 0);
    play_ctx reader = {0};
    play_read(&reader, "child.profile");
    assert_int_equal(reader.m->run.calls, 1);
    qp_model_free(reader.m);
    assert_only_the_parents_figures(p);
}

static void a_followed_child_has_a_file_of_its_own(void **state) /* qii 5 */
{
    play_ctx *p = *state;
    assert_int_equal(qprof_initialize("-filename-prefix=data.%p -follow-child-processes", NULL),
                     0);
    play(p, "main( 4 f( 5");
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        int is_running = qprof_is_running();
        play(p, "g( 3 ) ) )");
        exit(!is_running);
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, "2 ) 4 )");
    qprof_shutdown();
    char name[64];
    snprintf(name, sizeof name, "data.%d.qprof", (int)getpid());
    play_read(p, name);
    assert_flat(p, "main", 1, 15, 8);
    assert_absent(p, "g");
    snprintf(name, sizeof name, "data.%d.qprof", child);
    play_read(p, name);
    assert_int_equal(p->m->run.pid, child);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "g").calls, 1);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "g").self, 3);
    assert_absent(p, "main"); /* cleared: the parent's calls are the parent's */
}

/* ---- many forks while threads record ----------------------------------------------------- */

enum { N_FORKS = 200, N_RECORDERS = 3 };

static int is_over;

static void *record_until_over(void *unused)
{
    uintptr_t n = 0;
    (void)unused;
    for (; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); n++) {
        qprof_record_fn_entry(1 + n % 7, 1 + n % 50);
        qprof_record_fn_entry(2, 100);
        qprof_record_fn_exit(1 + n % 50);
        if (n % 11 == 0)
            qprof_record_fn_exit(0);
        if (n % 64 == 0)
            qprof_register_method_id(1000 + n, "m", NULL, 0, "f", NULL, 0);
        if (n % 512 == 0)
            sched_yield();
    }
    return (void *)(2 * n);
}

static void *save_until_over(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        qprof_save_data_to_file("saved.qprof");
        unlink("saved.qprof");
        qprof_stop_recording();
        qprof_start_recording();
        sched_yield();
    }
    return NULL;
}

static void forks_while_threads_record_neither_hang_nor_lose(void **state) /* C14 */
{
    play_ctx *p = *state;
    pthread_t threads[N_RECORDERS], saver;
    uint64_t n_entries = 0;
    is_over = 0;
    qprof_set_clock(NULL);
    play_begin(p, "");
    for (int i = 0; i < N_RECORDERS; i++)
        pthread_create(&threads[i], NULL, record_until_over, NULL);
    pthread_create(&saver, NULL, save_until_over, NULL);
    for (int i = 0; i < N_FORKS; i++) {
        int child = fork();
        if (child == 0) {
            qprof_record_fn_entry(1, 1);
            qprof_save_data();
            qprof_shutdown();
            _exit(0);
        }
        assert_int_equal(play_child_status(child), 0);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < N_RECORDERS; i++) {
        void *n;
        pthread_join(threads[i], &n);
        n_entries += (uintptr_t)n;
    }
    pthread_join(saver, NULL);
    play_end(p);
    assert_int_equal(p->m->run.calls, n_entries);
}

typedef struct {
    play_ctx *p;
    pthread_barrier_t is_ready, is_over;
} held;

/* A thread that lost its processor between counting an exit and popping its frame. */
static void *stand_in_an_exit(void *arg)
{
    held *h = arg;
    play(h->p, "main( f(");
    qprof_pulse *pulse = qprof_thread_handle(QPROF_INLINE_VERSION)->pulse;
    __atomic_fetch_or(&pulse->top, QPROF_TOP_BUSY, __ATOMIC_RELAXED);
    pulse->n_exits++;
    pthread_barrier_wait(&h->is_ready);
    pthread_barrier_wait(&h->is_over);
    return NULL;
}

static void an_event_that_is_half_done_at_the_end_is_said_to_be(void **state)
{
    held h = {.p = *state};
    pthread_t thread;
    pthread_barrier_init(&h.is_ready, NULL, 2);
    pthread_barrier_init(&h.is_over, NULL, 2);
    play_begin(h.p, "");
    assert_int_equal(pthread_create(&thread, NULL, stand_in_an_exit, &h), 0);
    pthread_barrier_wait(&h.is_ready);
    play_end(h.p); /* all checks pass */
    assert_true(h.p->m->threads[1].n_drift > 0);
    pthread_barrier_wait(&h.is_over);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_forked_child_records_nothing),
        PLAY_TEST(a_child_of_a_child_records_nothing),
        PLAY_TEST(a_raw_clone_records_nothing),
        PLAY_TEST(a_child_of_vfork_and_posix_spawn_do_no_harm),
        PLAY_TEST(a_forked_child_may_initialise_itself),
        PLAY_TEST(a_followed_child_has_a_file_of_its_own),
        PLAY_TEST(forks_while_threads_record_neither_hang_nor_lose),
        PLAY_TEST(an_event_that_is_half_done_at_the_end_is_said_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
