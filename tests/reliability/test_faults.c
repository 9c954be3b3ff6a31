/* test_faults.c: the system and the recorder's own memory fail, at one call or from one call on, wherever a run asks
 * them for something. reliability.md 5.3 and 5.4.
 *
 * A run ends, never by a signal, and what it leaves under its name is a profile that is whole: the model checks its
 * accounts. FAULTS in the environment is how many calls of each kind fail, one after the other, spread over all;
 * "all": every one. SCENARIO: a part of the runs that are tried. In a debugger, set detach-on-fork off; or
 * test_reliability_faults SCENARIO KIND NUMBER [once]: one run in this process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/pool.h"
#include "base/containers/trie.h"
#include "qprof/embed.h"
#include "qprof/events.h"
#include "qprof/requests.h"
#include "qprof/sampling.h"
#include "qprof/trace.h"
#include "qprof/triggers.h"
#include "record/clock/clock.h"
#include "record/ring/ring.h"
#include "record/ring/rings.h"
#include "record/tree/tree.h"
#include "unit/calls.h"
#include "unit/play.h"

enum { FAULTS_USUAL = 2, SECONDS = 60, DEEP = 700 };

/* ---- what fails ------------------------------------------------------------------------------ */

/* Of the system, and where the recorder asks itself for memory. tests/CMakeLists.txt wraps the same names. */
#define KINDS                                                                                  \
    X(open64)                                                                                  \
    X(fstat64)                                                                                 \
    X(lstat64)                                                                                 \
    X(stat64)                                                                                  \
    X(read)                                                                                    \
    X(pread64)                                                                                 \
    X(write)                                                                                   \
    X(pwrite64)                                                                                \
    X(mmap64)                                                                                  \
    X(mprotect)                                                                                \
    X(ftruncate64)                                                                             \
    X(fallocate64)                                                                             \
    X(rename)                                                                                  \
    X(link)                                                                                    \
    X(linkat)                                                                                  \
    X(fcntl64)                                                                                 \
    X(pthread_create)                                                                          \
    X(timer_create)                                                                            \
    X(getrusage)                                                                               \
    X(getrandom)                                                                               \
    X(mkdir)                                                                                   \
    X(flock)                                                                                   \
    X(copy_file_range)                                                                         \
    X(posix_spawn)                                                                             \
    X(getcwd)                                                                                  \
    X(pthread_setspecific)                                                                     \
    X(qp_extent_claim)                                                                         \
    X(qp_tree_more)                                                                            \
    X(qp_tree_aux_cell)                                                                        \
    X(qp_tree_overflow)                                                                        \
    X(qp_tree_metrics)                                                                         \
    X(qp_tree_requests)                                                                        \
    X(qp_tree_add)                                                                             \
    X(qp_pages_take)                                                                           \
    X(qp_texts_add)                                                                            \
    X(qp_pool_take)                                                                            \
    X(qp_trie_put)                                                                             \
    X(qp_slab_take)                                                                            \
    X(qp_blob_take)                                                                            \
    X(qp_cells_take)                                                                           \
    X(qp_rings_take)                                                                           \
    X(qp_counter_block_new)                                                                    \
    X(qp_stack_above)                                                                          \
    X(qp_stack_first)                                                                          \
    X(qp_methods_register)

#define X(name) KIND_##name,
typedef enum { KINDS N_KINDS } kind;
#undef X
#define X(name) #name,
static const char *const kind_names[] = {KINDS};
#undef X

static struct {
    bool is_on, is_for_ever;
    unsigned kind;
    uint32_t at; /* 1: the first call */
    uint32_t n[N_KINDS];
} fault;

static bool fails(kind k)
{
    if (!__atomic_load_n(&fault.is_on, __ATOMIC_RELAXED))
        return false;
    uint32_t n = __atomic_add_fetch(&fault.n[k], 1, __ATOMIC_RELAXED);
    return fault.kind == k && fault.at && (fault.is_for_ever ? n >= fault.at : n == fault.at);
}

#define FAULTY(type, name, failed, error, parameters, arguments)                               \
    type __real_##name parameters;                                                             \
    type __wrap_##name parameters;                                                             \
    type __wrap_##name parameters                                                              \
    {                                                                                          \
        if (!fails(KIND_##name))                                                               \
            return __real_##name arguments;                                                    \
        if (error)                                                                             \
            errno = error;                                                                     \
        return failed;                                                                         \
    }

FAULTY(int, open64, -1, EMFILE, (const char *path, int flags, int mode), (path, flags, mode))
FAULTY(int, fstat64, -1, EIO, (int fd, void *to), (fd, to))
FAULTY(int, lstat64, -1, EACCES, (const char *path, void *to), (path, to))
FAULTY(int, stat64, -1, EACCES, (const char *path, void *to), (path, to))
FAULTY(ssize_t, read, -1, EIO, (int fd, void *to, size_t n), (fd, to, n))
FAULTY(ssize_t, pread64, -1, EIO, (int fd, void *to, size_t n, long at), (fd, to, n, at))
FAULTY(ssize_t, write, -1, ENOSPC, (int fd, const void *from, size_t n), (fd, from, n))
FAULTY(ssize_t, pwrite64, -1, ENOSPC, (int fd, const void *from, size_t n, long at),
       (fd, from, n, at))
FAULTY(void *, mmap64, MAP_FAILED, ENOMEM,
       (void *at, size_t n, int prot, int flags, int fd, long from),
       (at, n, prot, flags, fd, from))
FAULTY(int, mprotect, -1, ENOMEM, (void *at, size_t n, int prot), (at, n, prot))
FAULTY(int, ftruncate64, -1, EFBIG, (int fd, long n), (fd, n))
FAULTY(int, fallocate64, -1, ENOSPC, (int fd, int mode, long from, long n), (fd, mode, from, n))
FAULTY(int, rename, -1, EROFS, (const char *from, const char *to), (from, to))
FAULTY(int, link, -1, EPERM, (const char *from, const char *to), (from, to))
FAULTY(int, linkat, -1, EPERM, (int a, const char *from, int b, const char *to, int flags),
       (a, from, b, to, flags))
FAULTY(int, fcntl64, -1, EMFILE, (int fd, int what, long argument), (fd, what, argument))
FAULTY(int, pthread_create, EAGAIN, 0,
       (pthread_t * t, const void *attributes, void *(*run)(void *), void *argument),
       (t, attributes, run, argument))
FAULTY(int, timer_create, -1, EAGAIN, (clockid_t clock, void *event, timer_t *timer),
       (clock, event, timer))
FAULTY(int, getrusage, -1, EINVAL, (int who, void *to), (who, to))
FAULTY(ssize_t, getrandom, -1, ENOSYS, (void *to, size_t n, unsigned flags), (to, n, flags))
FAULTY(int, mkdir, -1, EACCES, (const char *path, mode_t mode), (path, mode))
FAULTY(int, flock, -1, ENOLCK, (int fd, int what), (fd, what))
FAULTY(ssize_t, copy_file_range, -1, EXDEV,
       (int from, void *at, int to, void *to_at, size_t n, unsigned flags),
       (from, at, to, to_at, n, flags))
FAULTY(int, posix_spawn, ENOMEM, 0,
       (pid_t * pid, const char *path, const void *actions, const void *attributes, void *words,
        void *variables),
       (pid, path, actions, attributes, words, variables))
FAULTY(char *, getcwd, NULL, ENOENT, (char *to, size_t n), (to, n))
FAULTY(int, pthread_setspecific, ENOMEM, 0, (pthread_key_t key, const void *value),
       (key, value))

FAULTY(qp_cell, qp_extent_claim, 0, 0,
       (qp_space * s, qp_extent_kind k, qp_cell owner, uint32_t n, qp_reserve room),
       (s, k, owner, n, room))
FAULTY(qp_node_more *, qp_tree_more, NULL, 0, (qprof_thread * th, qp_cell node), (th, node))
FAULTY(qp_cell, qp_tree_aux_cell, 0, 0, (qprof_thread * th), (th))
FAULTY(qp_cell, qp_tree_overflow, 0, 0, (qprof_thread * th, qp_cell parent), (th, parent))
FAULTY(qp_node_metrics *, qp_tree_metrics, NULL, 0, (qprof_thread * th, qp_cell node),
       (th, node))
FAULTY(qp_node_requests *, qp_tree_requests, NULL, 0, (qprof_thread * th, qp_cell node),
       (th, node))
FAULTY(qp_cell, qp_tree_add, 0, 0, (qprof_thread * th, qp_cell parent, qp_cell method),
       (th, parent, method))
FAULTY(void *, qp_pages_take, NULL, 0, (size_t n), (n))
FAULTY(qp_ref, qp_texts_add, 0, 0, (qp_texts * t, const char *text), (t, text))
FAULTY(uint32_t, qp_pool_take, 0, 0, (qp_pool * p, size_t n), (p, n))
FAULTY(uint32_t, qp_trie_put, 0, 0, (qp_trie t, uint32_t root, uint64_t key, uint32_t leaf),
       (t, root, key, leaf))
FAULTY(qp_cell, qp_slab_take, 0, 0,
       (qp_space * s, qp_slab *slab, qp_extent_kind k, uint32_t n, qp_reserve room),
       (s, slab, k, n, room))
FAULTY(qp_ref, qp_blob_take, 0, 0, (qp_space * s, qp_slab *slab, uint64_t n), (s, slab, n))
FAULTY(qp_cell, qp_cells_take, 0, 0,
       (qp_space * s, qp_cell *newest, qp_extent_kind k, qp_cell owner, uint32_t n,
        uint32_t first, qp_reserve room),
       (s, newest, k, owner, n, first, room))
FAULTY(qp_ring *, qp_rings_take, NULL, 0, (void), ())
FAULTY(qp_cell, qp_counter_block_new, 0, 0,
       (qp_cell * newest, qp_cell thread, const qp_counter_block *from), (newest, thread, from))
FAULTY(qprof_frame *, qp_stack_above, NULL, 0, (qprof_thread * th, qprof_frame *top), (th, top))
FAULTY(qprof_frame *, qp_stack_first, NULL, 0, (qprof_thread * th), (th))
FAULTY(qp_registration, qp_methods_register, QP_NO_ROOM, 0,
       (qp_methods * m, const qp_method_info *info), (m, info))

/* ---- runs ------------------------------------------------------------------------------------ */

static void begin(const char *options, bool is_virtual)
{
    char all[512];
    snprintf(all, sizeof all, "-output=run.qprof %s", options);
    qprof_InitInfo info = {0, all, NULL, is_virtual};
    qprof_initialize_ex(&info);
}

static void call_all(void)
{
    for (size_t i = 0; i < n_good_calls; i++)
        good_calls[i].call();
}

/* More paths and frames than the first extents have room for. */
static void climb(void)
{
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    for (uintptr_t i = 0; i < DEEP; i++) {
        qprof_entry(th, 1 + i * 7 % 40, 1000 + i);
        if (i % 16 == 0)
            qprof_record_bb_counts((int)(i % 3), 2);
    }
    qprof_check_depth(DEEP);
    qprof_exit(th, 1000 + DEEP / 2);
    for (uintptr_t i = DEEP / 2; i > 1; i--)
        qprof_exit(th, 1000 + i - 1);
    qprof_exit(th, 0);
    for (uintptr_t i = 1; i <= 60; i++) {
        qprof_entry(th, i, 5);
        qprof_record_counts(3);
        qprof_exit(th, 0);
    }
}

static void name_methods(void)
{
    static const qprof_LineInfo lines[] = {{0, 1}, {4, 2}, {8, 3}};
    static const qprof_JumpInfo jumps[] = {{-1, 0}, {0, 1}, {0, 2}};
    static const unsigned char falls[] = {0, 1, 0};
    for (uintptr_t i = 1; i <= 60; i++) {
        char name[32], file[32];
        snprintf(name, sizeof name, "f%ju", (uintmax_t)i);
        snprintf(file, sizeof file, "file%ju.src", (uintmax_t)i % 7);
        qprof_register_method_id(i, name, "Class", 0, file, lines, 3);
        qprof_register_jumps(i, jumps, 3, falls);
        qprof_counter_bank(i);
    }
    qprof_set_module("another");
    qprof_rename(5, "renamed", "Other");
    qprof_register_source("file1.src", "text of it\n", 11);
    qprof_set_source_map(
        "file2.src",
        "{\"version\":3,\"sources\":[\"a.ts\"],\"names\":[],\"mappings\":\"AAAA;AACA\"}", 66);
}

static void request_calls(void)
{
    static const unsigned char trace[16] = {1}, span[8] = {2};
    for (int i = 0; i < 3; i++) {
        qprof_request_begin(i ? "GET /a" : "POST /b", trace, span);
        qprof_record_fn_entry(3, 50);
        qprof_request_begin(NULL, NULL, NULL);
        qprof_record_fn_entry(4, 51);
        qprof_request_end(0);
        qprof_record_fn_exit(0);
        qprof_request_end(1);
    }
}

static void frames(const char *options)
{
    begin(options, false);
    name_methods();
    climb();
    call_all();
    request_calls();
    qprof_context("first");
    climb();
    qprof_context("second");
    climb();
    qprof_context("first");
    call_all();
    qprof_shutdown();
}

static void exact_frames(void)
{
    frames("-time=exact -cover=hits -allocations=yes -summary=none");
}

static void adaptive_frames(void)
{
    qprof_set_clock(NULL);
    frames("-time=adaptive -write-summary-file=yes -write-export-file=yes -run-at-save=true");
}

static void sampled_frames(void)
{
    qprof_set_clock(NULL);
    frames("-time=sampled -pc='REAL 1000' -clear-on-save=yes -spool=spool -spool-every=0");
}

static void user_time(void)
{
    qprof_set_clock(NULL);
    frames("-clock=user -time-blocking-functions=elapsed");
}

static void checked_frames(void)
{
    frames("-check-host=yes -time=none -collection-granularity=function");
}

static void threads_without_rows(void)
{
    begin("-thread-rows=3 -time=exact -slowest=2/1s", true);
    name_methods();
    for (VthreadID round = 0; round < 3; round++)
        for (VthreadID vt = 1; vt < 12; vt++) {
            qprof_record_fn_entry_vt(vt, 10, vt);
            qprof_request_begin_vt("GET", NULL, NULL, vt);
            qprof_record_fn_entry_vt(2, 11, vt);
            qprof_record_bb_counts_vt(1, 2, vt);
            if (round)
                qprof_request_end_vt(0, vt);
            qprof_record_fn_exit_vt(round == 2 ? 0 : 10, vt);
        }
    call_all();
    for (VthreadID vt = 1; vt < 12; vt++)
        qprof_thread_destroy_vt(vt);
    qprof_shutdown();
}

/* The inner one has the outer one's path where there is no room for its own. */
static void requests_in_requests(void)
{
    begin("-time=exact -slowest=2/1s", false);
    qprof_record_fn_entry(1, 10);
    qprof_request_begin("GET", NULL, NULL);
    qprof_request_begin("GET", NULL, NULL);
    qprof_record_fn_entry(2, 11);
    qprof_record_fn_exit(0);
    qprof_shutdown();
}

static void coroutines(const char *options)
{
    static qprof_vm vm;
    static qprof_stack stacks[4];
    qprof_MethodID f[4];
    vm = (qprof_vm){0};
    if (qprof_vm_open(&vm, options) <= 0)
        return;
    for (int i = 0; i < 4; i++)
        f[i] = qprof_define((const char *[]){"a", "b", "c", "d"}[i], NULL, "x.src", NULL, 0);
    qprof_token t = qprof_enter(&vm.main, 0, f[0]);
    for (int i = 0; i < 4; i++) {
        qprof_stack_create(&stacks[i], &vm.main);
        qprof_stack *before = qprof_switch(&vm, &stacks[i]);
        qprof_token a = qprof_enter(&stacks[i], 0, f[1]);
        qprof_allocated(&stacks[i], 100);
        qprof_freed(&stacks[i], 50);
        a = qprof_tail(&stacks[i], a, f[2]);
        qprof_push(&stacks[i], f[3]);
        qprof_suspend(&stacks[i], a);
        qprof_switch(&vm, before);
    }
    for (int i = 0; i < 4; i++) {
        qprof_stack *before = qprof_switch(&vm, &stacks[i]);
        qprof_pop(&stacks[i], f[3]);
        qprof_unwind(&stacks[i], 0);
        qprof_switch(&vm, before);
        qprof_stack_end(&vm, &stacks[i]);
    }
    qprof_resized(&vm.main, 10, 20);
    qprof_unload(f[3]);
    qprof_register_code(f[0], (const void *)&coroutines, 16);
    qprof_leave(&vm.main, t);
    qprof_new_phase("two");
    qprof_vm_close(&vm);
}

static void own_coroutines(void)
{
    coroutines("-output=run.qprof -log-file=none -time=exact -allocations=yes -jitdump=yes");
}

static void shared_coroutines(void)
{
    coroutines("-output=run.qprof -log-file=none -time=none -thread-rows=1");
}

static void *record_a_little(void *unused)
{
    for (uintptr_t i = 0; i < 300; i++) {
        qprof_record_fn_entry(1 + i % 9, 1);
        qprof_mark("here");
        qprof_record_fn_exit(0);
    }
    return unused;
}

static void fork_and_join(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, record_a_little, NULL) == 0)
        pthread_join(thread, NULL);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        record_a_little(NULL);
        call_all();
        qprof_shutdown();
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void trace_to_a_file(void)
{
    qprof_set_clock(NULL);
    begin("-trace-output=t.qtrace -trace-buffer=16K -follow-child-processes=yes", false);
    name_methods();
    record_a_little(NULL);
    fork_and_join();
    climb();
    call_all();
    qprof_shutdown();
}

static void trace_in_memory(void)
{
    begin("-collect=profile,trace -trace-buffer=16K", false);
    name_methods();
    climb();
    qprof_trace_dump("dump2.qtrace");
    fork_and_join();
    qprof_shutdown();
}

static void trace_of_fields(void)
{
    qprof_set_clock(NULL);
    begin("-trace=TABLE.PRF", false);
    name_methods();
    record_a_little(NULL);
    qprof_trace_set("OUTFILE", "OTHER.PRF");
    qprof_trace_save("settings.pri");
    qprof_trace_load("settings.pri");
    qprof_trace_start("SECOND.PRF");
    climb();
    qprof_trace_flush();
    qprof_trace_stop();
    qprof_trace_start(NULL);
    call_all();
    qprof_shutdown();
}

static void samples_alone(void)
{
    static qprof_PcTotals totals;
    uint64_t shallow, deep;
    int column;
    qprof_set_clock(NULL);
    begin("-collect=samples -pc='REAL 50, WHEN f1;' -pc-signal=yes", false);
    name_methods();
    for (int i = 0; i < 3; i++) {
        climb();
        qprof_record_fn_entry(1, 1);
        qprof_record_fn_entry(999, 2);
        qprof_pc_sample(2);
        qprof_record_fn_exit(0);
        qprof_pc_enter_critical();
        qprof_pc_leave_critical();
    }
    qprof_pc_totals(&totals);
    qprof_pc_procedure(1, &shallow, &deep);
    qprof_pc_list("list.txt");
    qprof_PcPattern *pattern = qprof_pc_pattern_compile("f1 then f2", &column);
    if (pattern)
        qprof_pc_pattern_free(pattern);
    qprof_pc_command("VIRTUAL, 1000;", &column);
    qprof_pc_off();
    qprof_shutdown();
}

static void triggers(void)
{
    static const char *const lines[] = {"trigger quiet off : f3",
                                        "trigger loud on : f4",
                                        "action save dump enter : f5",
                                        "area part only calls : f1 f2 f6",
                                        "event-trigger a event=fn-entry object=f2 action=dump",
                                        "event-trigger b event=fn-exit object=f2",
                                        "event-trigger c event=40001 when=\"depth >= 1\""};
    begin("-triggers=yes", false);
    name_methods();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        qprof_config_line(lines[i]);
    qprof_trigger *t = qprof_trigger_create("made", QPROF_TRIGGER_ON);
    qprof_trigger_add_method(t, 7, 1);
    qprof_trigger_add_routine(t, "f8", 1);
    qprof_area *a = qprof_area_create("own", 0, 0);
    qprof_area_add_method(a, 9, 1);
    qprof_trg_on();
    qprof_TrgID id = qprof_trg_find("a");
    qprof_trg_set_object(id, "f3");
    qprof_trg_set_name(id, "renamed");
    qprof_trg_symbol("symbol", 0, &fault);
    climb();
    qprof_user_event(40001);
    qprof_trg_event(40001);
    call_all();
    qprof_trg_reset(id);
    qprof_trg_off();
    qprof_trigger_destroy(t);
    qprof_area_destroy(a);
    qprof_shutdown();
}

static void two_runs(void)
{
    for (int i = 0; i < 2; i++) {
        begin(i ? "-time=none -collect=coverage" : "-save-data-on-signals=yes -perf-map=yes",
              i);
        name_methods();
        call_all();
        qprof_shutdown();
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"exact", exact_frames},          {"adaptive", adaptive_frames},
    {"sampled", sampled_frames},      {"user", user_time},
    {"checked", checked_frames},      {"rows", threads_without_rows},
    {"coroutines", own_coroutines},   {"shared", shared_coroutines},
    {"stream", trace_to_a_file},      {"memory", trace_in_memory},
    {"fields", trace_of_fields},      {"samples", samples_alone},
    {"triggers", triggers},           {"runs", two_runs},
    {"nested", requests_in_requests},
};

/* ---- the claims ------------------------------------------------------------------------------ */

static unsigned n_wrong;

#define wrong(...) (n_wrong++, print_error(__VA_ARGS__), print_error("\n"))

static void remove_all(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && unlink(name) != 0) {
            remove_all(name);
            rmdir(name);
        }
    }
    if (d)
        closedir(d);
}

static void begin_faults(unsigned k, uint32_t at, bool is_for_ever)
{
    fault.kind = k;
    fault.at = at;
    fault.is_for_ever = is_for_ever;
    __atomic_store_n(&fault.is_on, true, __ATOMIC_RELAXED);
}

static int run_one(char **words, bool is_for_ever)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        for (unsigned k = 0; k < N_KINDS; k++)
            if (strcmp(scenarios[i].name, words[0]) == 0 &&
                strcmp(kind_names[k], words[1]) == 0) {
                begin_faults(k, (uint32_t)atoi(words[2]), is_for_ever);
                scenarios[i].run();
                return 0;
            }
    return 2;
}

/* A run in a process of its own. @param n  the calls of each kind that it made */
static void run(size_t i, unsigned k, uint32_t at, bool is_for_ever, uint32_t *n)
{
    remove_all(".");
    assert_int_equal(mkdir("runtime", 0700),
                     0); /* what remains of a run does not fill the memory of the machine */
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        alarm(SECONDS);
        for (int signal_number = 1; signal_number < SIGSYS; signal_number++)
            signal(signal_number, SIG_DFL); /* those of the test's library */
        begin_faults(k, at, is_for_ever);
        scenarios[i].run();
        __atomic_store_n(&fault.is_on, false, __ATOMIC_RELAXED);
        _exit(write(ends[1], fault.n, sizeof fault.n) != sizeof fault.n);
    }
    close(ends[1]);
    uint32_t found[N_KINDS] = {0};
    ssize_t got = read(ends[0], found, sizeof found);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status || got != sizeof found)
        wrong("%s, %s %u %s: status %x", scenarios[i].name, kind_names[k], at,
              is_for_ever ? "and on" : "once", (unsigned)status);
    if (n)
        memcpy(n, found, sizeof found);
    if (!play_file_exists("run.qprof"))
        return;
    qp_error error;
    qp_model *m = NULL;
    if (qp_model_load("run.qprof", NULL, &m, &error) == QP_LOAD_UNUSABLE)
        wrong("%s, %s %u: %s", scenarios[i].name, kind_names[k], at, error.text);
    qp_model_free(m);
}

static uint32_t n_places(uint32_t n)
{
    const char *wanted = getenv("FAULTS");
    uint32_t most = !wanted                      ? FAULTS_USUAL
                    : strcmp(wanted, "all") == 0 ? n
                                                 : (uint32_t)strtoul(wanted, NULL, 10);
    return most < n ? most : n;
}

static void a_run_survives_whatever_fails(void **state)
{
    char folder[128];
    const play_ctx *p = *state;
    snprintf(folder, sizeof folder, "%s/runtime", p->folder);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    const char *only = getenv("SCENARIO");
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        uint32_t n[N_KINDS];
        if (only && !strstr(scenarios[i].name, only))
            continue;
        run(i, 0, 0, false, n);
        if (i == 0)
            assert_true(play_file_exists("run.qprof"));
        for (unsigned k = 0; k < N_KINDS; k++)
            for (uint32_t j = 0, most = n_places(n[k]); j < most; j++) {
                uint32_t at = 1 + (uint32_t)((uint64_t)j * n[k] / most);
                run(i, k, at, false, NULL);
                run(i, k, at, true, NULL);
            }
    }
    unsetenv("XDG_RUNTIME_DIR");
    remove_all(".");
    assert_int_equal(n_wrong, 0);
}

int main(int argc, char **argv)
{
    if (argc > 3)
        return run_one(argv + 1, argc == 4);
    const struct CMUnitTest tests[] = {PLAY_TEST(a_run_survives_whatever_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
