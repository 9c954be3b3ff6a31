/* test_qii_blocks.c: executions of blocks, whatever else happens, against a naive oracle. */
#include <signal.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/play.h"

enum { METHODS = 4, BLOCKS = 3, DEPTH_MAX = 6, STEPS = 4000, TRACKS = 2 };
static const qprof_LineInfo table[BLOCKS] = {{0, 10}, {4, 11}, {8, 12}};

/* What a host that knows everything would have counted. */
typedef struct {
    uint64_t counts[METHODS][BLOCKS];
    uint64_t n_no_frame, n_out_of_range;
    int stacks[TRACKS][DEPTH_MAX];
    int depths[TRACKS];
    bool is_stopped;
} oracle;

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void enter(bool is_virtual, int method, int depth, int track)
{
    qprof_MethodID id = (qprof_MethodID)method + 1;
    if (is_virtual)
        qprof_record_fn_entry_vt(id, (qprof_StackID)depth, (VthreadID)track + 1);
    else
        qprof_record_fn_entry(id, (qprof_StackID)depth);
}

static void leave(bool is_virtual, int depth, int track)
{
    if (is_virtual)
        qprof_record_fn_exit_vt((qprof_StackID)depth, (VthreadID)track + 1);
    else
        qprof_record_fn_exit((qprof_StackID)depth);
}

/* The last method has no line table. A block can be none of its method's. */
static void count(oracle *o, bool is_virtual, int track, int block, uint64_t n)
{
    int depth = o->depths[track];
    if (is_virtual)
        qprof_record_bb_counts_vt(block, n, (VthreadID)track + 1);
    else
        qprof_record_bb_counts(block, n);
    if (!depth) {
        o->n_no_frame++;
    } else if (n) {
        int method = o->stacks[track][depth - 1];
        bool is_known = block >= 0 && block < BLOCKS && method < METHODS - 1;
        o->n_out_of_range += !is_known;
        if (is_known && !o->is_stopped)
            o->counts[method][block] += n;
    }
}

static void step(oracle *o, bool is_virtual, uint32_t *seed)
{
    int track = is_virtual ? (int)(next_random(seed) % TRACKS) : 0;
    int *depth = &o->depths[track];
    uint32_t what = next_random(seed) % 64;
    if (what < 12 && *depth < DEPTH_MAX) {
        int method = (int)(next_random(seed) % METHODS);
        o->stacks[track][(*depth)++] = method;
        enter(is_virtual, method, *depth, track);
    } else if (what < 22 && *depth > 0) {
        leave(is_virtual, --*depth, track);
    } else if (what == 22) {
        o->is_stopped = !o->is_stopped;
        o->is_stopped ? qprof_stop_recording() : qprof_start_recording();
    } else if (what == 23 && next_random(seed) % 16 == 0) {
        qprof_clear_data();
        memset(o->counts, 0, sizeof o->counts);
    } else {
        int block = (int)(next_random(seed) % (BLOCKS + 2)) - 1;
        count(o, is_virtual, track, block, next_random(seed) % 4);
    }
}

static void assert_as_counted(play_ctx *p, const oracle *o, bool is_once)
{
    for (uint32_t i = 1; i < p->m->n_methods; i++) {
        qp_block_figures *blocks;
        size_t n;
        if (p->m->methods[i].name[0] != 'm' ||
            !qp_model_blocks(p->m, i, QP_ALL_THREADS, &blocks, &n))
            continue;
        const uint64_t *counts = o->counts[p->m->methods[i].name[1] - '0'];
        for (size_t b = 0; b < n; b++)
            assert_int_equal(blocks[b].count, is_once ? counts[b] > 0 : counts[b]);
        qp_free(blocks);
    }
}

static void play_randomly(play_ctx *p, const char *options, bool is_virtual, uint32_t seed)
{
    oracle o = {0};
    is_virtual ? play_begin_vt(p, options) : play_begin(p, options);
    for (int i = 0; i < METHODS; i++)
        qprof_register_method_id((qprof_MethodID)i + 1, (const char[]){'m', (char)('0' + i), 0},
                                 NULL, 0, "f", i < METHODS - 1 ? table : NULL,
                                 i < METHODS - 1 ? BLOCKS : 0);
    for (int i = 0; i < STEPS; i++)
        step(&o, is_virtual, &seed);
    bool has_blocks = !strstr(options, "granularity=function");
    assert_int_equal(qprof_diagnostic("bb_no_frame"), o.n_no_frame);
    assert_int_equal(qprof_diagnostic("bb_out_of_range"), has_blocks ? o.n_out_of_range : 0);
    play_end(p);
    if (!has_blocks)
        memset(o.counts, 0, sizeof o.counts);
    assert_as_counted(p, &o, strstr(options, "once"));
    assert_int_equal(remove("run.qprof"), 0);
}

static void a_block_count_is_exact_whatever_else_happens(void **state)
{
    static const char *const options[] = {"-time=none",
                                          "-time=exact",
                                          "-time=adaptive",
                                          "-collect=coverage",
                                          "-collect=coverage -cover=once",
                                          "-cover=once -time=none",
                                          "-time=none -collection-granularity=function"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (uint32_t seed = 1; seed <= 6; seed++)
            play_randomly(*state, options[i], seed % 2, seed);
}

static void a_count_beyond_64_bits_stays_at_the_largest(void **state)
{
    play_ctx *p = *state;
    play_begin(p, "");
    play_register(p, "f", 0, table, BLOCKS);
    qprof_record_fn_entry(play_method(p, "f"), 1);
    qprof_record_bb_counts(1, UINT64_MAX - 3);
    qprof_record_bb_counts(1, 3);
    assert_int_equal(qprof_diagnostic("saturated"), 0);
    qprof_record_bb_counts(1, 1);
    assert_int_equal(qprof_diagnostic("saturated"), 1);
    play_end(p);
    assert_block(p, "f", 1, UINT64_MAX, 0, 0);
}

/* ---- a signal handler that counts --------------------------------------------------------- */

#ifdef __x86_64__
enum { TRAP_FLAG = 0x100, CALLS = 20 };
static volatile uint64_t n_handled;

static void count_in_handler(int signal)
{
    (void)signal;
    n_handled++;
    qprof_record_bb_counts(1, 1);
}

/* The processor raises the signal after each instruction. */
static void a_signal_handler_that_counts_loses_nothing_at_any_instruction(void **state)
{
    play_ctx *p = *state;
    const struct sigaction act = {.sa_handler = count_in_handler};
    struct sigaction before;
    play_begin(p, "-time=none");
    play_register(p, "f", 0, table, BLOCKS);
    qprof_record_fn_entry(play_method(p, "f"), 1);
    qprof_record_bb_counts(1, 1); /* the path has its counters from now on */
    assert_int_equal(sigaction(SIGTRAP, &act, &before), 0);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
    for (volatile int i = 0; i < CALLS; i++)
        qprof_record_bb_counts(1, 1);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG);
    sigaction(SIGTRAP, &before, NULL);
    assert_true(n_handled > 20 * CALLS);
    assert_int_equal(qprof_diagnostic("reentrant"), 0);
    play_end(p);
    assert_block(p, "f", 1, 1 + CALLS + n_handled, 0, 0);
}
#endif

/* The time of a request is the endpoint's until it ends, whatever is marked meanwhile. */
static void a_mark_leaves_a_request_its_time(void **state)
{
    static const qprof_LineInfo lines[] = {{0, 1}, {4, 2}};
    play_ctx *p = play_start(state, "-time=exact");
    play_register(p, "main", 0, lines, 2);
    play(p, "main( :0 3");
    qprof_request_begin("a", NULL, NULL);
    play(p, "5 :1 7");
    qprof_request_end(0);
    play(p, "2 )");
    play_end(p);
    assert_path(p, "main", 1, 3 + 2);
    assert_path(p, "main>a", 1, 5 + 7);
    assert_block(p, "main", 0, 0, 3, 3 + 5);
    assert_block(p, "main", 1, 0, 2, 7 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_mark_leaves_a_request_its_time),
        PLAY_TEST(a_block_count_is_exact_whatever_else_happens),
        PLAY_TEST(a_count_beyond_64_bits_stays_at_the_largest),
#ifdef __x86_64__
        PLAY_TEST(a_signal_handler_that_counts_loses_nothing_at_any_instruction),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
