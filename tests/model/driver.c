/* driver.c: decoding bytes into calls of the interface, made to the recorder and told to the naive
 * profiler. What an operation needs to know (open frames, live threads) it asks the naive one, so
 * that the recorder cannot lead it astray. Read driver_run first, then the table of operations. */
#include "model/driver.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/compare.h"
#include "model/naive.h"
#include "qprof.h"

enum {
    N_METHODS = 28,
    N_REGISTERED = 14, /* at the start; the others are met unknown */
    N_VIRTUAL = 12,
    MAX_THREADS = 60,
    MAX_DEPTH = 6000,
    MAX_SNAPSHOTS = 5
};

typedef enum { IDS_UP, IDS_DOWN, IDS_RANDOM, IDS_CONSTANT, IDS_FEW, N_ID_POLICIES } id_policy;
typedef enum { RUN_EXACT, RUN_ADAPTIVE, RUN_NONE, RUN_COUNTS } run_mode;

typedef struct {
    naive n;
    driver_result *result;
    run_mode mode;
    id_policy ids;
    bool is_inline;
    bool was_stopped, was_cleared;
    bool
        holds_time; /* the last call may or may not have been an event: no time passes after it */
    uint64_t jump;        /* ns that the clock is behind */
    uint64_t vt;          /* the virtual thread that runs */
    uint64_t host_id;     /* system mode: bound by the last create; 0: none */
    qprof_thread *handle; /* of the thread that runs; NULL: to be asked for */
    unsigned n_snapshots;
} driver;

typedef struct {
    uint8_t what, a, b, c;
} operation;

static uint64_t clock_ns; /* what the library reads */

static uint64_t read_clock(void)
{
    return clock_ns;
}

static void set_clock(driver *d)
{
    clock_ns = d->n.now;
}

static void advance(driver *d, uint64_t ns)
{
    if (d->holds_time)
        return;
    d->n.now += ns;
    set_clock(d);
}

/* Calls that are no events of the running thread see the clock where it was. */
static void end_jump(driver *d)
{
    d->n.now += d->jump;
    d->jump = 0;
    set_clock(d);
}

/* ---- methods -------------------------------------------------------------------------------- */

static uint64_t method_id(unsigned index)
{
    index %= N_METHODS;
    /* pointers, small numbers, and two that differ in their upper half only */
    return index % 3 == 0   ? UINT64_C(0x7f3500001000) + 64 * index
           : index % 3 == 1 ? 3 + index
                            : (UINT64_C(5) << 40) * index + 9;
}

static void register_method(uint64_t id, int n_blocks, bool is_sorted, bool has_texts)
{
    qprof_LineInfo table[40];
    for (int i = 0; i < n_blocks; i++)
        table[i] = (qprof_LineInfo){is_sorted ? 4 * i : 4 * (n_blocks - i), 10 + i};
    qprof_register_method_id(id, has_texts ? "m" : NULL, has_texts ? "C" : NULL, 0,
                             has_texts ? "file" : NULL, n_blocks ? table : NULL, n_blocks);
}

static int answer_blocks; /* what the callback registers; -1: nothing */

static void answer(qprof_MethodID id)
{
    if (answer_blocks >= 0)
        register_method(id, answer_blocks, true, true);
}

/* ---- threads -------------------------------------------------------------------------------- */

static uint64_t vt_id(unsigned index)
{
    index %= N_VIRTUAL;
    return index % 2 ? UINT64_C(0x7ffe00000000) + 4096 * index : 1 + index;
}

/* The handle of the thread that runs; asking creates the thread. */
static qprof_thread *handle(driver *d)
{
    if (!d->handle) {
        end_jump(d);
        if (d->n.o.is_virtual) {
            d->handle = qprof_thread_handle_vt(d->vt, QPROF_INLINE_VERSION);
            qprof_thread_mount(d->handle);
        } else {
            d->handle = qprof_thread_handle(QPROF_INLINE_VERSION);
        }
        naive_mount(&d->n, d->vt);
    }
    return d->handle;
}

static void record_entry(driver *d, uint64_t method, uint64_t id)
{
    if (d->is_inline)
        qprof_entry(handle(d), method, id);
    else if (d->n.o.is_virtual)
        qprof_record_fn_entry_vt(method, id, d->vt);
    else
        qprof_record_fn_entry(method, id);
    naive_entry(&d->n, d->vt, method, id);
    d->result->n_events++;
}

static void record_exit(driver *d, uint64_t id)
{
    if (d->is_inline)
        qprof_exit(handle(d), id);
    else if (d->n.o.is_virtual)
        qprof_record_fn_exit_vt(id, d->vt);
    else
        qprof_record_fn_exit(id);
    naive_exit(&d->n, d->vt, id);
    d->result->n_events++;
}

static size_t depth(const driver *d)
{
    const naive_thread *th = naive_live(&d->n, d->vt);
    return th ? th->depth : 0;
}

static uint64_t id_at(const driver *d, size_t level) /* of an open frame, from 0 */
{
    return naive_live(&d->n, d->vt)->frames[level].id;
}

static uint64_t next_id(const driver *d, operation op)
{
    uint64_t level = depth(d);
    switch (d->ids) {
    case IDS_UP:
        return 1000 + level;
    case IDS_DOWN:
        return UINT64_C(0x7fff00000000) - 48 * level;
    case IDS_RANDOM:
        return (d->n.now * UINT64_C(0x9E3779B97F4A7C15) ^ op.b) | 1;
    case IDS_CONSTANT:
        return 77;
    default:
        return 1 + op.b % 5;
    }
}

/* ---- operations ----------------------------------------------------------------------------- */

static void enter(driver *d, operation op)
{
    /* few methods often, all of them sometimes */
    unsigned index = op.c < 200 ? op.a % 5 : op.a;
    if (depth(d) < MAX_DEPTH)
        record_entry(d, method_id(index), next_id(d, op));
}

static void exit_to_caller(driver *d, operation op)
{
    size_t level = depth(d);
    (void)op;
    if (level)
        record_exit(d, level > 1 ? id_at(d, level - 2) : 0);
}

static void exit_deeper(driver *d, operation op)
{
    size_t level = depth(d);
    if (level)
        record_exit(d, id_at(d, level * op.a / 256));
}

static void exit_unknown(driver *d, operation op)
{
    record_exit(d, UINT64_C(0xDEAD00000000) + op.a);
}

static void exit_to_own(driver *d, operation op)
{
    size_t level = depth(d);
    (void)op;
    if (level)
        record_exit(d, id_at(d, level - 1));
}

static void exit_all(driver *d, operation op)
{
    (void)op;
    record_exit(d, 0);
}

/* Recursion over one or two methods, far enough to fill chunks of the stack. */
static void enter_many(driver *d, operation op)
{
    for (unsigned i = 0; i < 4u * op.a && depth(d) < MAX_DEPTH; i++) {
        d->n.now += op.c % 4;
        set_clock(d);
        record_entry(d, method_id(op.b + (op.c & 8 ? i % 2 : 0)), next_id(d, op));
    }
}

static void exit_many(driver *d, operation op)
{
    for (unsigned i = 0; i < 4u * op.a && depth(d); i++)
        exit_to_caller(d, op);
}

static void enter_strange(driver *d, operation op)
{
    static const uint64_t strange[] = {0,
                                       UINT64_MAX,
                                       UINT64_MAX - 11,
                                       UINT64_MAX - 12,
                                       UINT64_MAX - 15,
                                       UINT64_MAX - 14,
                                       UINT64_MAX - 16};
    if (depth(d) < MAX_DEPTH)
        record_entry(d, strange[op.a % 7], op.b < 128 ? next_id(d, op) : 0);
}

static void enter_with_id_zero(driver *d, operation op)
{
    if (depth(d) < MAX_DEPTH)
        record_entry(d, method_id(op.a), 0);
}

static void register_one(driver *d, operation op)
{
    int n_blocks = op.b % 33;
    bool is_sorted = n_blocks < 2 || op.c < 200;
    uint64_t id = op.c == 255 ? 0 : op.c == 254 ? UINT64_MAX - op.b % 20 : method_id(op.a);
    register_method(id, n_blocks, is_sorted, op.c & 1);
    naive_register(&d->n, id, n_blocks, is_sorted);
}

static void count(driver *d, operation op)
{
    uint64_t n = op.b < 8 ? (uint64_t)op.a << 35 : op.a;
    if (d->n.o.is_virtual)
        qprof_record_counts_vt(n, d->vt);
    else
        qprof_record_counts(n);
    naive_counts(&d->n, d->vt, n);
    d->result->n_events++;
}

static int block_number(operation op)
{
    return op.b == 255 ? -1 : op.b == 254 ? INT_MAX : op.b == 253 ? INT_MIN : op.b % 34;
}

static void count_block(driver *d, operation op)
{
    int block = block_number(op);
    if (d->n.o.is_virtual)
        qprof_record_bb_counts_vt(block, op.a, d->vt);
    else
        qprof_record_bb_counts(block, op.a);
    naive_bb_counts(&d->n, d->vt, block, op.a);
    d->result->n_events++;
}

static void mark_block(driver *d, operation op)
{
    int block = block_number(op);
    if (d->mode == RUN_ADAPTIVE || d->mode == RUN_NONE)
        return;
    if (d->n.o.is_virtual)
        qprof_record_bb_time_vt(block, d->vt);
    else
        qprof_record_bb_time(block);
    naive_bb_time(&d->n, d->vt, block);
    d->result->n_events++;
}

/* The next event is another virtual thread's. */
static void switch_thread(driver *d, operation op)
{
    end_jump(d);
    if (d->n.o.is_virtual) {
        uint64_t vt = vt_id(op.a);
        if (vt != d->vt && (naive_live(&d->n, vt) || d->n.n_threads < MAX_THREADS)) {
            d->vt = vt;
            d->handle = NULL;
        }
    }
}

static void create_thread(driver *d, operation op)
{
    end_jump(d);
    if (d->n.n_threads >= MAX_THREADS - N_VIRTUAL)
        return;
    if (d->n.o.is_virtual) {
        uint64_t vt = vt_id(op.a);
        qprof_thread_create_vt(1u + op.b, vt);
        naive_create(&d->n, vt);
        d->handle = vt == d->vt ? NULL : d->handle;
        d->holds_time = true;
    } else if (d->n.current < 0 || d->host_id) { /* a thread without an id keeps its record */
        d->host_id = d->host_id ? d->host_id : 100u + op.a % 3;
        qprof_thread_create(d->host_id);
        naive_create(&d->n, d->host_id);
        d->handle = NULL;
    }
}

static void destroy_thread(driver *d, operation op)
{
    end_jump(d);
    if (d->n.n_threads >= MAX_THREADS - N_VIRTUAL)
        return;
    if (d->n.o.is_virtual) {
        uint64_t vt = op.b == 255 ? 999999 : vt_id(op.a);
        qprof_thread_destroy_vt(vt);
        naive_destroy(&d->n, vt);
        d->handle = vt == d->vt ? NULL : d->handle;
    } else {
        uint64_t id = op.b < 230 && d->host_id ? d->host_id : 500;
        qprof_thread_destroy(id);
        naive_destroy(&d->n, id);
        if (id == d->host_id) {
            d->host_id = 0;
            d->handle = NULL;
        }
    }
}

static void switch_recording(driver *d, operation op)
{
    end_jump(d);
    d->n.now++; /* a stop that takes no time is none */
    set_clock(d);
    bool stops = d->n.is_recording;
    int changed = stops ? qprof_stop_recording() : qprof_start_recording();
    bool expected = stops ? naive_stop(&d->n) : naive_start(&d->n);
    if (changed != expected)
        snprintf(d->result->difference, DRIVER_TEXT, "recording %s: changed is %d, expected %d",
                 stops ? "stopped" : "started", changed, expected);
    d->n.now++;
    set_clock(d);
    d->was_stopped = true;
    if (op.a == 255 && op.b > 200) {
        qprof_disable_recording();
        naive_disable(&d->n);
    }
}

static void clear(driver *d, operation op)
{
    (void)op;
    end_jump(d);
    qprof_clear_data();
    naive_clear(&d->n);
    d->was_cleared = true;
}

static comparison comparison_of(driver *d)
{
    bool is_complete = !d->was_stopped;
    compare_depth depth_of = d->mode == RUN_NONE ? COMPARE_CALLS : COMPARE_TIMES;
    if (d->mode == RUN_ADAPTIVE)
        depth_of = is_complete && !d->was_cleared ? COMPARE_FIRST : COMPARE_CALLS;
    return (comparison){depth_of,
                        d->mode == RUN_EXACT || d->mode == RUN_COUNTS,
                        is_complete,
                        0,
                        d->result->difference,
                        DRIVER_TEXT};
}

static void compare_saved(driver *d, const char *file)
{
    comparison c = comparison_of(d);
    naive_derive(&d->n);
    compare_file(&c, &d->n, file);
    d->result->n_compared += c.n_nodes;
    d->result->n_snapshots++;
    unlink(file);
}

static void snapshot(driver *d, operation op)
{
    (void)op;
    if (d->n_snapshots++ >= MAX_SNAPSHOTS)
        return;
    end_jump(d);
    int is_written = qprof_save_data_to_file("snapshot.qprof");
    if (is_written != d->n.has_data) {
        snprintf(d->result->difference, DRIVER_TEXT, "saving returned %d, but there %s data",
                 is_written, d->n.has_data ? "was" : "was no");
        return;
    }
    if (is_written)
        compare_saved(d, "snapshot.qprof");
    if (is_written && d->n.o.clears_on_save) {
        naive_clear(&d->n);
        d->was_cleared = true;
    }
}

static void jump_back(driver *d, operation op)
{
    if (d->mode != RUN_EXACT || d->jump || !d->n.is_recording || d->n.current < 0)
        return;
    d->jump = 1 + op.a;
    d->n.now -= d->jump;
    set_clock(d);
}

static void land(driver *d, operation op)
{
    (void)op;
    end_jump(d);
}

/* Calls that must change nothing but a counter. */
static void misuse(driver *d, operation op)
{
    uint64_t *wrong_mode = &d->n.diagnostics[NAIVE_WRONG_MODE];
    if (d->n.o.is_virtual) {
        qprof_record_fn_entry(method_id(op.a), 1);
        qprof_record_fn_exit(0);
        qprof_record_counts(op.b);
        qprof_record_bb_time(op.b);
        qprof_thread_destroy(op.b);
        *wrong_mode += 5;
    } else {
        qprof_record_fn_entry_vt(method_id(op.a), 1, op.b);
        qprof_record_fn_exit_vt(0, op.b);
        qprof_record_counts_vt(op.b, op.a);
        qprof_record_bb_counts_vt(op.b, 1, op.a);
        qprof_thread_create_vt(op.a, op.b);
        *wrong_mode += 5;
    }
    qprof_initialize("-time=none", NULL);
    qprof_get_option(NULL);
    qprof_add_annotation(NULL);
    qprof_line_at(method_id(op.a), op.b - 100);
    qprof_block_at(op.a, INT_MIN);
}

static void ask_current(driver *d, operation op)
{
    (void)op;
    if (!naive_live(&d->n, d->vt))
        return;
    uint64_t expected = naive_current_method(&d->n, d->vt);
    uint64_t got =
        d->n.o.is_virtual ? qprof_current_method_id_vt(d->vt) : qprof_current_method_id();
    if (expected && got != expected)
        snprintf(d->result->difference, DRIVER_TEXT,
                 "the current method is %" PRIx64 ", expected %" PRIx64, got, expected);
    d->holds_time = d->n.o.is_virtual;
}

static const struct {
    unsigned weight; /* of 256 */
    void (*run)(driver *, operation);
    const char *name;
    bool is_event;
} operations[] = {
    {104, enter, "enter", true},
    {72, exit_to_caller, "exit to the caller", true},
    {9, exit_deeper, "exit deeper", true},
    {4, exit_unknown, "exit with an unknown id", true},
    {3, exit_to_own, "exit to the top frame", true},
    {2, exit_all, "exit with id 0", true},
    {1, enter_many, "enter many", true},
    {1, exit_many, "exit many", true},
    {2, enter_strange, "enter a strange method", true},
    {2, enter_with_id_zero, "enter with id 0", true},
    {8, register_one, "register", false},
    {9, count, "count", true},
    {9, count_block, "count a block", true},
    {9, mark_block, "mark a block", true},
    {9, switch_thread, "switch", false},
    {2, create_thread, "create a thread", false},
    {1, destroy_thread, "destroy a thread", false},
    {1, switch_recording, "stop or start", false},
    {1, clear, "clear", false},
    {1, snapshot, "save", false},
    {2, jump_back, "the clock jumps back", false},
    {2, land, "the clock is right again", false},
    {1, misuse, "misuse", false},
    {1, ask_current, "ask for the current method", false},
};

static unsigned decode(uint8_t what)
{
    unsigned index = 0, sum = 0;
    while (what >= (sum += operations[index].weight))
        index++;
    return index;
}

static void run_operation(driver *d, operation op)
{
    unsigned index = decode(op.what);
    if (operations[index].is_event) {
        if (!d->n.o.is_virtual && d->n.current < 0 && d->n.n_threads >= MAX_THREADS)
            return;
        uint64_t ns = op.c % 8 == 7 ? 1000u * op.b : op.c % 8;
        advance(d, ns);
        d->holds_time = false;
    }
    operations[index].run(d, op);
}

/* ---- a run ---------------------------------------------------------------------------------- */

static bool begin(driver *d, const uint8_t *head)
{
    static const char *const modes[] = {"exact", "adaptive", "none", "exact -clock=counts"};
    char options[256];
    naive_options o = {.is_virtual = head[0] & 1,
                       .ignores_unknown_exits = (head[0] & 6) == 6,
                       .records = (head[0] & 56) != 56,
                       .clears_on_save = head[0] & 64};
    d->mode = head[1] < 140   ? RUN_EXACT
              : head[1] < 180 ? RUN_ADAPTIVE
              : head[1] < 215 ? RUN_NONE
                              : RUN_COUNTS;
    o.has_times = d->mode != RUN_NONE;
    o.is_counts_clock = d->mode == RUN_COUNTS;
    o.answer_blocks = head[2] & 1 ? -1 : head[2] % 32;
    d->ids = head[3] % N_ID_POLICIES;
    d->is_inline = head[4] & 1;
    d->vt = vt_id(0);
    d->was_stopped = !o.records;
    answer_blocks = o.answer_blocks;
    naive_init(&d->n, &o, UINT64_C(1) << 40);
    set_clock(d);
    qprof_set_clock(read_clock);
    snprintf(options, sizeof options,
             "-output=run.qprof -time=%s -unknown-exit=%s -record-data=%s"
             " -clear-on-save=%s",
             modes[d->mode], o.ignores_unknown_exits ? "ignore" : "unroll",
             o.records ? "yes" : "no", o.clears_on_save ? "yes" : "no");
    qprof_InitInfo info = {0, options, head[2] & 2 ? NULL : answer, o.is_virtual};
    if (head[2] & 2)
        d->n.o.answer_blocks = -1;
    int code = qprof_initialize_ex(&info);
    if (code)
        snprintf(d->result->difference, DRIVER_TEXT, "initialise: %s: %s", qprof_strerror(code),
                 qprof_error_text());
    for (unsigned i = 0; i < N_REGISTERED && !code; i++) {
        register_method(method_id(i), (int)(i % 33), true, true);
        naive_register(&d->n, method_id(i), (int)(i % 33), true);
    }
    return code == 0;
}

static void end(driver *d)
{
    end_jump(d);
    comparison c = comparison_of(d);
    if (!*d->result->difference)
        compare_diagnostics(&c, &d->n);
    qprof_shutdown();
    bool is_same = !*d->result->difference;
    if (is_same && d->n.has_data)
        compare_saved(d, "run.qprof");
    else if (is_same && access("run.qprof", F_OK) == 0)
        snprintf(d->result->difference, DRIVER_TEXT, "a run without data left a file");
    unlink("run.qprof");
    unlink("snapshot.qprof");
}

bool driver_run(const uint8_t *bytes, size_t n_bytes, driver_result *out)
{
    uint8_t head[DRIVER_HEAD_BYTES] = {0};
    driver d = {.result = out};
    memset(out, 0, sizeof *out);
    size_t n_head = n_bytes < sizeof head ? n_bytes : sizeof head;
    memcpy(head, bytes, n_head);
    if (begin(&d, head)) {
        for (size_t i = n_head; i + DRIVER_OP_BYTES <= n_bytes && !*out->difference;
             i += DRIVER_OP_BYTES)
            run_operation(&d, (operation){bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]});
        end(&d);
    }
    qprof_set_clock(NULL);
    naive_fini(&d.n);
    return !*out->difference;
}

void driver_print(const uint8_t *bytes, size_t n_bytes)
{
    printf("head:");
    for (size_t i = 0; i < DRIVER_HEAD_BYTES && i < n_bytes; i++)
        printf(" %02x", bytes[i]);
    printf("\n");
    for (size_t i = DRIVER_HEAD_BYTES; i + DRIVER_OP_BYTES <= n_bytes; i += DRIVER_OP_BYTES)
        printf("  %02x %02x %02x %02x  %s\n", bytes[i], bytes[i + 1], bytes[i + 2],
               bytes[i + 3], operations[decode(bytes[i])].name);
}
