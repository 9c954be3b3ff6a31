/* test_model_live.c: profiles of running processes: found by pid, read while they change. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "model/model.h"
#include "unit/profile.h"

enum { READS = 100 };

/* Field 22 of /proc/PID/stat of a process whose name has no blanks. */
static uint64_t start_of(pid_t pid)
{
    char path[64];
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int i = 1; i < 22; i++)
        assert_int_equal(fscanf(f, "%*s"), 0);
    assert_int_equal(fscanf(f, "%llu", &start), 1);
    fclose(f);
    return start;
}

typedef struct {
    profile *p;
    qp_cell thread, frames, f;
    char folder[32], path[128];
} live;

/* f is open; the file lies where a process with this id would put it. */
static live begin(pid_t pid)
{
    live l = {.p = profile_new(), .folder = "/tmp/qprof-test-XXXXXX"};
    qp_head *h = profile_head(l.p);
    h->state = QP_LIVE;
    h->pid = (uint64_t)pid;
    h->pid_start = start_of(pid);
    h->begun_raw = qp_clock_monotonic();
    h->end_raw = h->ended_at = 0;
    l.thread = profile_thread(l.p);
    ((qp_thread_record *)profile_at(l.p, l.thread))->offset = h->begun_raw;
    l.f = profile_node(l.p, l.thread, 0, profile_method(l.p, 1, "f", NULL, NULL), 1, 0);
    l.frames = profile_stack(l.p, l.thread, &l.f, 1);
    assert_non_null(mkdtemp(l.folder));
    setenv("XDG_RUNTIME_DIR", l.folder, 1);
    snprintf(l.path, sizeof l.path, "%s/qprof-%u", l.folder, (unsigned)getuid());
    assert_int_equal(mkdir(l.path, 0700), 0);
    snprintf(l.path + strlen(l.path), 64, "/%d.%llu.qprof", (int)pid,
             (unsigned long long)h->pid_start);
    int fd = open(l.path, O_CREAT | O_RDWR, 0600);
    assert_int_equal(write(fd, l.p->bytes, profile_bytes(l.p)), profile_bytes(l.p));
    close(fd);
    return l;
}

static void end(live *l)
{
    unlink(l->path);
    *strrchr(l->path, '/') = '\0';
    rmdir(l->path);
    rmdir(l->folder);
    unsetenv("XDG_RUNTIME_DIR");
    profile_free(l->p);
}

static void a_live_profile_is_found_by_its_process(void **state)
{
    (void)state;
    live l = begin(getpid());
    char path[256], pid[32];
    qp_error error;
    assert_true(qp_live_path((uint64_t)getpid(), false, path, sizeof path));
    assert_string_equal(path, l.path);
    qp_live_file *files;
    size_t n;
    bool is_listed = false;
    assert_true(qp_live_list(false, &files, &n));
    for (size_t i = 0; i < n; i++)
        is_listed |= strcmp(files[i].path, l.path) == 0;
    assert_true(is_listed);
    qp_free(files);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    uint64_t before = qp_clock_monotonic() - profile_head(l.p)->begun_raw;
    qp_model *m;
    assert_int_equal(qp_model_load(pid, NULL, &m, &error), QP_LOAD_CLEAN);
    uint64_t after = qp_clock_monotonic() - profile_head(l.p)->begun_raw;
    assert_int_equal(m->run.state, QP_RUN_LIVE);
    /* the open frame runs on up to the moment of reading */
    assert_in_range(profile_find(m, "f")->all.self, before, after);
    assert_true(profile_passes(m, "accounting_identity"));
    qp_model_free(m);
    end(&l);
}

static void a_process_that_does_not_record_has_none(void **state)
{
    (void)state;
    char path[256];
    qp_error error;
    qp_model *m;
    assert_false(qp_live_path(1, false, path, sizeof path));
    assert_string_equal(path, "");
    assert_int_equal(qp_model_load("1", NULL, &m, &error), QP_LOAD_UNUSABLE);
    assert_non_null(strstr(error.text, "no such file or recording process"));
    assert_int_equal(qp_model_load("99999999999999999999", NULL, &m, &error), QP_LOAD_UNUSABLE);
}

/* Another process has the id now: the one that wrote the file is gone. */
static void a_reused_process_id_is_not_alive(void **state)
{
    (void)state;
    live l = begin(getpid());
    profile_head(l.p)->pid_start++;
    qp_model *m = profile_load(l.p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.state, QP_RUN_CRASHED);
    qp_model_free(m);
    end(&l);
}

/* Calls and returns from f to a new frame on f's own path, as fast as it goes. */
static void record_for_ever(const char *path, qp_cell thread, qp_cell frames, qp_cell f)
{
    int fd = open(path, O_RDWR);
    unsigned char *base =
        mmap(NULL, QP_CELL * PROFILE_CELLS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    qp_thread_record *r = (qp_thread_record *)(void *)(base + (size_t)thread * QP_CELL);
    qp_node *n = (qp_node *)(void *)(base + (size_t)f * QP_CELL);
    for (;;) {
        __atomic_store_n(&n->n_calls, n->n_calls + 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&r->top, (uint64_t)(frames + 2) * QP_CELL, __ATOMIC_SEQ_CST);
        __atomic_store_n(&r->n_exits, r->n_exits + 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&r->top, (uint64_t)(frames + 1) * QP_CELL, __ATOMIC_SEQ_CST);
    }
}

static void a_profile_that_changes_meanwhile_passes_all_checks(void **state)
{
    (void)state;
    live l = begin(getpid());
    ((qp_frame *)profile_at(l.p, l.frames + 2))->node = (uint64_t)l.f * QP_CELL;
    int fd = open(l.path, O_RDWR);
    assert_int_equal(pwrite(fd, l.p->bytes, profile_bytes(l.p), 0), profile_bytes(l.p));
    close(fd);
    pid_t child = fork();
    if (child == 0)
        record_for_ever(l.path, l.thread, l.frames, l.f);
    for (int i = 0; i < READS; i++) {
        qp_error error;
        qp_model *m;
        assert_int_equal(qp_model_load(l.path, NULL, &m, &error), QP_LOAD_CLEAN);
        assert_true(profile_passes(m, "accounting_identity"));
        assert_true(profile_passes(m, "open_frames"));
        qp_model_free(m);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_live_profile_is_found_by_its_process),
        cmocka_unit_test(a_process_that_does_not_record_has_none),
        cmocka_unit_test(a_reused_process_id_is_not_alive),
        cmocka_unit_test(a_profile_that_changes_meanwhile_passes_all_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
