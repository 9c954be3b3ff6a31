/* play.c: the player. It keeps its own stack of ids, as an interpreter keeps its frames, so
 * that a score says returns and unwinds and not ids. Read play() first. */
#include "unit/play.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"

static uint64_t now_ns;

uint64_t play_clock(void)
{
    return __atomic_load_n(&now_ns, __ATOMIC_RELAXED);
}

void play_clock_set(uint64_t ns)
{
    __atomic_store_n(&now_ns, ns, __ATOMIC_RELAXED);
}

void play_clock_add(int64_t ns)
{
    __atomic_fetch_add(&now_ns, (uint64_t)ns, __ATOMIC_RELAXED);
}

/* ---- a test's frame ---------------------------------------------------------------------- */

int play_setup(void **state)
{
    play_ctx *p = calloc(1, sizeof *p);
    const char *base = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%.40s/qprof-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(p->folder) || chdir(p->folder))
        return -1;
    unsetenv("QPROF");
    p->first_id = 100;
    p->id_step = 1;
    p->n_threads = 1;
    play_clock_set(1000000000);
    qprof_set_clock(play_clock);
    *state = p;
    return 0;
}

static void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && unlink(name))
            remove_folder(name);
    }
    closedir(d);
    rmdir(path);
}

int play_teardown(void **state)
{
    play_ctx *p = *state;
    qprof_shutdown();
    qprof_set_clock(NULL);
    qp_model_free(p->m);
    for (int i = 0; i < PLAY_THREADS; i++) {
        free(p->threads[i].ids);
        free(p->threads[i].methods);
    }
    if (chdir("/"))
        return -1;
    remove_folder(p->folder);
    free(p);
    return 0;
}

/* ---- playing ----------------------------------------------------------------------------- */

static void begin(play_ctx *p, const char *options, bool is_virtual)
{
    char words[1024];
    snprintf(words, sizeof words, "-output=run.qprof %s", options);
    qprof_InitInfo info = {0, words, NULL, is_virtual};
    assert_int_equal(qprof_initialize_ex(&info), 0);
    p->is_virtual = is_virtual;
    p->n_methods = 0;
    p->n_threads = is_virtual ? 0 : 1;
    p->current = 0;
    for (int i = 0; i < PLAY_THREADS; i++)
        p->threads[i].depth = 0;
}

void play_begin(play_ctx *p, const char *options)
{
    begin(p, options, false);
}

void play_begin_vt(play_ctx *p, const char *options)
{
    begin(p, options, true);
}

static int method_index(play_ctx *p, const char *name)
{
    for (int i = 0; i < p->n_methods; i++)
        if (strcmp(p->methods[i], name) == 0)
            return i;
    assert_true(p->n_methods < PLAY_METHODS);
    snprintf(p->methods[p->n_methods], sizeof p->methods[0], "%s", name);
    return p->n_methods++;
}

static qprof_MethodID method_id(int index)
{
    return 0x1000 + 16 * (qprof_MethodID)index;
}

qprof_MethodID play_method(play_ctx *p, const char *name)
{
    int n_before = p->n_methods, index = method_index(p, name);
    if (index == n_before)
        qprof_register_method_id(method_id(index), name, NULL, 0, "score", NULL, 0);
    return method_id(index);
}

void play_register(play_ctx *p, const char *name, int flags, const qprof_LineInfo *table, int n)
{
    qprof_register_method_id(method_id(method_index(p, name)), name, NULL, flags, "score",
                             table, n);
}

static VthreadID vt_id(int index)
{
    return 0x500000 + 64 * (VthreadID)index;
}

static int thread_index(play_ctx *p, const char *name)
{
    for (int i = 0; i < p->n_threads; i++)
        if (strcmp(p->threads[i].name, name) == 0)
            return i;
    assert_true(p->n_threads < PLAY_THREADS);
    snprintf(p->threads[p->n_threads].name, sizeof p->threads[0].name, "%s", name);
    return p->n_threads++;
}

VthreadID play_vt(play_ctx *p, const char *name)
{
    return vt_id(thread_index(p, name));
}

static void enter(play_ctx *p, const char *name)
{
    play_thread *th = &p->threads[p->current];
    if (th->depth == th->room) {
        th->room = th->room ? 2 * th->room : 64;
        th->ids = realloc(th->ids, th->room * sizeof *th->ids);
        th->methods = realloc(th->methods, th->room * sizeof *th->methods);
    }
    qprof_MethodID method = play_method(p, name);
    uintptr_t id = (uintptr_t)(p->first_id + (intptr_t)th->depth * p->id_step);
    th->methods[th->depth] = method_index(p, name);
    th->ids[th->depth++] = id;
    if (p->is_virtual)
        qprof_record_fn_entry_vt(method, id, vt_id(p->current));
    else
        qprof_record_fn_entry(method, id);
}

static void leave(play_ctx *p, uintptr_t id, size_t depth_after)
{
    p->threads[p->current].depth = depth_after;
    if (p->is_virtual)
        qprof_record_fn_exit_vt(id, vt_id(p->current));
    else
        qprof_record_fn_exit(id);
}

static void leave_to(play_ctx *p, const char *name)
{
    play_thread *th = &p->threads[p->current];
    int method = method_index(p, name);
    for (size_t d = th->depth; d-- > 0;) {
        if (th->methods[d] == method) {
            leave(p, th->ids[d], d + 1);
            return;
        }
    }
    fail_msg("^%s: no such frame is open", name);
}

static void block_event(play_ctx *p, const char *word)
{
    char *rest;
    int block = (int)strtol(word + 1, &rest, 10);
    uint64_t n = *rest == '*' ? strtoull(rest + 1, NULL, 10) : 1;
    VthreadID vt = vt_id(p->current);
    if (*word == '#')
        p->is_virtual ? qprof_record_bb_counts_vt(block, n, vt)
                      : qprof_record_bb_counts(block, n);
    else
        p->is_virtual ? qprof_record_bb_time_vt(block, vt) : qprof_record_bb_time(block);
}

static void count_event(play_ctx *p, uint64_t n)
{
    if (p->is_virtual)
        qprof_record_counts_vt(n, vt_id(p->current));
    else
        qprof_record_counts(n);
}

static void play_word(play_ctx *p, char *word)
{
    play_thread *th = &p->threads[p->current];
    size_t n = strlen(word);
    if (*word >= '0' && *word <= '9') {
        play_clock_add(strtoll(word, NULL, 10));
    } else if (word[0] == ')') {
        assert_true(th->depth > 0);
        leave(p, th->depth > 1 ? th->ids[th->depth - 2] : 0, th->depth - 1);
    } else if (word[0] == '^') {
        leave_to(p, word + 1);
    } else if (word[0] == '.') {
        leave(p, th->ids[th->depth - 1], th->depth);
    } else if (word[0] == '!') {
        leave(p, PLAY_UNKNOWN_ID, 0);
    } else if (word[0] == '$') {
        leave(p, 0, 0);
    } else if (word[0] == '+') {
        count_event(p, strtoull(word + 1, NULL, 10));
    } else if (word[0] == '@') {
        p->current = thread_index(p, word + 1);
    } else if (word[0] == ':' || word[0] == '#') {
        block_event(p, word);
    } else {
        assert_int_equal(word[n - 1], '(');
        word[n - 1] = '\0';
        enter(p, word);
    }
}

void play(play_ctx *p, const char *score)
{
    char copy[1024], *rest = copy;
    assert_true(strlen(score) < sizeof copy);
    strcpy(copy, score);
    for (char *word; (word = strsep(&rest, " "));)
        if (*word)
            play_word(p, word);
}

/* ---- reading ----------------------------------------------------------------------------- */

static void check_invariants(const qp_model *m)
{
    qp_check *checks;
    size_t n;
    char failed[256] = "";
    assert_true(qp_model_check(m, &checks, &n));
    for (size_t i = 0; i < n; i++)
        if (!checks[i].passed)
            snprintf(failed, sizeof failed, "%s: %s", checks[i].name, checks[i].detail);
    qp_free(checks);
    if (*failed)
        fail_msg("%s", failed);
}

void play_read(play_ctx *p, const char *file)
{
    qp_error error;
    qp_model_free(p->m);
    p->m = NULL;
    qp_load_status status = qp_model_load(file, NULL, &p->m, &error);
    if (status == QP_LOAD_UNUSABLE)
        fail_msg("%s", error.text);
    if (status == QP_LOAD_SALVAGED)
        fail_msg("%s: %s", file,
                 p->m->n_losses ? p->m->losses[0] : "salvaged, but no loss reported");
    check_invariants(p->m);
}

void play_end(play_ctx *p)
{
    qprof_shutdown();
    play_read(p, "run.qprof");
}

play_ctx *play_start(void **state, const char *options)
{
    play_ctx *p = *state;
    play_begin(p, options);
    return p;
}

play_ctx *play_run(void **state, const char *options, const char *score)
{
    play_ctx *p = play_start(state, options);
    play(p, score);
    play_end(p);
    return p;
}

void play_peek(play_ctx *p)
{
    unlink("peek.qprof");
    assert_int_equal(qprof_save_data_to_file("peek.qprof"), 1);
    play_read(p, "peek.qprof");
}

/* ---- claims ------------------------------------------------------------------------------ */

static uint32_t find_method(play_ctx *p, const char *name)
{
    for (uint32_t i = 1; i < p->m->n_methods; i++)
        if (strcmp(p->m->methods[i].name, name) == 0)
            return i;
    return 0;
}

qp_figures play_figures(play_ctx *p, uint32_t thread, const char *method)
{
    uint32_t index = strcmp(method, ".root.") ? find_method(p, method) : QP_ROOT_METHOD;
    if (!index && strcmp(method, ".root."))
        fail_msg("no method is called %s", method);
    qp_figures *flat = calloc(p->m->n_methods, sizeof *flat);
    bool is_done = qp_model_flat(p->m, thread, flat);
    qp_figures f = flat[index];
    free(flat);
    assert_true(is_done);
    return f;
}

void assert_flat_on(play_ctx *p, uint32_t thread, const char *method, uint64_t calls,
                    uint64_t total, uint64_t self)
{
    qp_figures f = play_figures(p, thread, method);
    if (f.calls != calls || f.total != total || f.self != self)
        fail_msg("%s: calls %ju, total %ju, self %ju; expected %ju, %ju, %ju", method,
                 (uintmax_t)f.calls, (uintmax_t)f.total, (uintmax_t)f.self, (uintmax_t)calls,
                 (uintmax_t)total, (uintmax_t)self);
}

void assert_flat(play_ctx *p, const char *method, uint64_t calls, uint64_t total, uint64_t self)
{
    assert_flat_on(p, QP_ALL_THREADS, method, calls, total, self);
}

void assert_min_max(play_ctx *p, const char *method, uint64_t min, uint64_t max)
{
    qp_figures f = play_figures(p, QP_ALL_THREADS, method);
    if (f.min != min || f.max != max)
        fail_msg("%s: min %ju, max %ju; expected %ju, %ju", method, (uintmax_t)f.min,
                 (uintmax_t)f.max, (uintmax_t)min, (uintmax_t)max);
}

void assert_skips(play_ctx *p, const char *method, uint64_t hits, uint64_t skips)
{
    qp_figures f = play_figures(p, QP_ALL_THREADS, method);
    assert_int_equal(f.hits, hits);
    assert_int_equal(f.skips, skips);
    assert_int_equal(f.calls, hits + skips);
}

void assert_counts(play_ctx *p, const char *method, uint64_t own, uint64_t total)
{
    qp_figures f = play_figures(p, QP_ALL_THREADS, method);
    assert_int_equal(f.counts, own);
    assert_int_equal(f.counts_total, total);
}

void assert_block(play_ctx *p, const char *method, size_t block, uint64_t count, uint64_t self,
                  uint64_t total)
{
    qp_block_figures *blocks;
    size_t n;
    assert_true(qp_model_blocks(p->m, find_method(p, method), QP_ALL_THREADS, &blocks, &n));
    assert_true(block < n);
    qp_block_figures b = blocks[block];
    qp_free(blocks);
    if (b.count != count || b.self != self || b.total != total)
        fail_msg("%s block %zu: count %ju, self %ju, total %ju; expected %ju, %ju, %ju", method,
                 block, (uintmax_t)b.count, (uintmax_t)b.self, (uintmax_t)b.total,
                 (uintmax_t)count, (uintmax_t)self, (uintmax_t)total);
}

/* Does the node lie at the end of this path, counted from its thread's root? */
static bool is_at_path(const qp_model *m, uint32_t node, const char *path)
{
    size_t n = strlen(path);
    while (n) {
        size_t begin = n;
        while (begin && path[begin - 1] != '>')
            begin--;
        const char *name = m->methods[m->nodes[node].method].name;
        if (m->nodes[node].depth < 2 || strlen(name) != n - begin ||
            memcmp(name, path + begin, n - begin))
            return false;
        node = m->nodes[node].parent;
        n = begin ? begin - 1 : 0;
    }
    return m->nodes[node].depth == 1;
}

void assert_path(play_ctx *p, const char *path, uint64_t calls, uint64_t self)
{
    uint64_t n_calls = 0, own = 0, n_found = 0;
    for (uint32_t i = 1; i < p->m->n_nodes; i++) {
        if (is_at_path(p->m, i, path)) {
            n_calls += p->m->nodes[i].f.calls;
            own += p->m->nodes[i].f.self;
            n_found++;
        }
    }
    if (!n_found || n_calls != calls || own != self)
        fail_msg("%s: %ju nodes, calls %ju, self %ju; expected %ju, %ju", path,
                 (uintmax_t)n_found, (uintmax_t)n_calls, (uintmax_t)own, (uintmax_t)calls,
                 (uintmax_t)self);
}

void assert_absent(play_ctx *p, const char *method)
{
    uint32_t index = find_method(p, method);
    if (index && p->m->methods[index].all.calls)
        fail_msg("%s has %ju calls", method, (uintmax_t)p->m->methods[index].all.calls);
}

uint64_t play_file_diagnostic(play_ctx *p, const char *name)
{
    for (size_t i = 0; i < p->m->run.n_diagnostics; i++)
        if (strcmp(p->m->run.diagnostics[i].name, name) == 0)
            return p->m->run.diagnostics[i].count;
    return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

bool play_file_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

int play_count_files(const char *suffix)
{
    int n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));) {
        size_t length = strlen(e->d_name), tail = strlen(suffix);
        if (*e->d_name != '.' && length >= tail && !strcmp(e->d_name + length - tail, suffix))
            n++;
    }
    closedir(d);
    return n;
}

int play_child_status(int pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        fail_msg("child ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}
