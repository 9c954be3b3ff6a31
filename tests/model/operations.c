/* operations.c: what a random program may do. Read the table at the end first. */
#include "model/operations.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "model/host_rules.h"

static uint64_t id_at(const host *d, size_t level) /* of an open frame, from 0 */
{
    return naive_live(&d->n, d->vt)->frames[level].id;
}

static uint64_t next_id(const host *d, operation op)
{
    uint64_t level = host_depth(d);
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

/* With -unknown-exit=ignore only the last 4096 frames are searched, reliability.md 2.6. */
static bool has_room(const host *d)
{
    return host_depth(d) < (d->n.o.ignores_unknown_exits ? 4000 : HOST_MAX_DEPTH);
}

static void enter(host *d, operation op)
{
    /* few methods often, all of them sometimes */
    unsigned index = op.c < 200 ? op.a % 5 : op.a;
    if (has_room(d))
        host_entry(d, host_method(index), next_id(d, op));
}

static void exit_to_caller(host *d, operation op)
{
    size_t level = host_depth(d);
    (void)op;
    if (level)
        host_exit(d, level > 1 ? id_at(d, level - 2) : 0);
}

static void exit_deeper(host *d, operation op)
{
    size_t level = host_depth(d);
    if (level)
        host_exit(d, id_at(d, level * op.a / 256));
}

static void exit_unknown(host *d, operation op)
{
    host_exit(d, UINT64_C(0xDEAD00000000) + op.a);
}

static void exit_to_own(host *d, operation op)
{
    size_t level = host_depth(d);
    (void)op;
    if (level)
        host_exit(d, id_at(d, level - 1));
}

static void exit_all(host *d, operation op)
{
    (void)op;
    host_exit(d, 0);
}

/* Recursion over one or two methods, far enough to fill chunks of the stack. */
static void enter_many(host *d, operation op)
{
    for (unsigned i = 0; i < 4u * op.a && has_room(d); i++) {
        d->n.now += op.c % 4;
        host_clock_show(d);
        host_entry(d, host_method(op.b + (op.c & 8 ? i % 2 : 0)), next_id(d, op));
    }
}

static void exit_many(host *d, operation op)
{
    for (unsigned i = 0; i < 4u * op.a && host_depth(d); i++)
        exit_to_caller(d, op);
}

static void enter_strange(host *d, operation op)
{
    static const uint64_t strange[] = {0,
                                       UINT64_MAX,
                                       UINT64_MAX - 11,
                                       UINT64_MAX - 12,
                                       UINT64_MAX - 15,
                                       UINT64_MAX - 14,
                                       UINT64_MAX - 16};
    if (has_room(d))
        host_entry(d, strange[op.a % 7], op.b < 128 ? next_id(d, op) : 0);
}

static void enter_with_id_zero(host *d, operation op)
{
    if (has_room(d))
        host_entry(d, host_method(op.a), 0);
}

static void register_one(host *d, operation op)
{
    int n_blocks = op.b % 33;
    bool is_sorted = n_blocks < 2 || op.c < 200;
    uint64_t id = op.c == 255 ? 0 : op.c == 254 ? UINT64_MAX - op.b % 20 : host_method(op.a);
    host_register(id, n_blocks, is_sorted, op.c & 1);
    naive_register(&d->n, id, n_blocks, is_sorted);
}

static void count(host *d, operation op)
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

static void count_block(host *d, operation op)
{
    int block = block_number(op);
    if (!op.a && !host_depth(d)) /* no executions of no method: nothing, or a mistake? */
        return;
    if (d->n.o.is_virtual)
        qprof_record_bb_counts_vt(block, op.a, d->vt);
    else
        qprof_record_bb_counts(block, op.a);
    naive_bb_counts(&d->n, d->vt, block, op.a);
    d->result->n_events++;
}

static void mark_block(host *d, operation op)
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
static void switch_thread(host *d, operation op)
{
    host_clock_land(d);
    if (d->n.o.is_virtual) {
        uint64_t vt = host_vt(op.a);
        if (vt != d->vt && (naive_live(&d->n, vt) || d->n.n_threads < HOST_MAX_THREADS)) {
            d->vt = vt;
            d->handle = NULL;
        }
    }
}

static void create_thread(host *d, operation op)
{
    host_clock_land(d);
    if (d->n.n_threads >= HOST_MAX_THREADS - HOST_VIRTUAL)
        return;
    if (d->n.o.is_virtual) {
        uint64_t vt = host_vt(op.a);
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

static void destroy_thread(host *d, operation op)
{
    host_clock_land(d);
    if (d->n.n_threads >= HOST_MAX_THREADS - HOST_VIRTUAL)
        return;
    if (d->n.o.is_virtual) {
        uint64_t vt = op.b == 255 ? 999999 : host_vt(op.a);
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

static void switch_recording(host *d, operation op)
{
    host_clock_land(d);
    d->n.now++; /* a stop that takes no time is none */
    host_clock_show(d);
    bool stops = d->n.is_recording;
    int changed = stops ? qprof_stop_recording() : qprof_start_recording();
    bool expected = stops ? naive_stop(&d->n) : naive_start(&d->n);
    if (changed != expected)
        snprintf(d->result->difference, DRIVER_TEXT, "recording %s: changed is %d, expected %d",
                 stops ? "stopped" : "started", changed, expected);
    d->n.now++;
    host_clock_show(d);
    d->was_stopped = true;
    if (op.a == 255 && op.b > 200) {
        qprof_disable_recording();
        naive_disable(&d->n);
    }
}

static void clear(host *d, operation op)
{
    (void)op;
    host_clock_land(d);
    qprof_clear_data();
    naive_clear(&d->n);
    d->was_cleared = true;
}

static void snapshot(host *d, operation op)
{
    (void)op;
    if (d->n_snapshots++ >= HOST_MAX_SNAPSHOTS)
        return;
    host_clock_land(d);
    naive_pass_current(&d->n);
    char name[64] = "snapshot.qprof";
    int is_written = d->is_spool ? qprof_save_data() && host_triggers_dataset(name, sizeof name)
                                 : qprof_save_data_to_file(name);
    if (is_written ? !d->n.has_data && !d->n.may_have_data && !d->is_spool : d->n.has_data) {
        snprintf(d->result->difference, DRIVER_TEXT, "saving returned %d, but there %s data",
                 is_written, d->n.has_data ? "was" : "was no");
        return;
    }
    if (is_written)
        host_compare(d, name);
    if (is_written && d->n.o.clears_on_save) {
        naive_clear(&d->n);
        d->was_cleared = true;
    }
}

static void jump_back(host *d, operation op)
{
    const naive_thread *th = naive_live(&d->n, d->vt);
    if (d->mode != RUN_EXACT || d->jump || !d->n.is_recording || d->n.is_gate_closed || !th)
        return;
    if (d->has_triggers) /* what a thread's status makes of a clock that went back is open */
        return;
    if (d->n.current < 0 || th != &d->n.threads[d->n.current]) /* the next event is a switch */
        return;
    if (!th->has_read || th->seen != d->n.now) /* calls since may have read the clock, or not */
        return;
    d->jump = 1 + op.a;
    d->n.now -= d->jump;
    host_clock_show(d);
}

static void land(host *d, operation op)
{
    (void)op;
    host_clock_land(d);
}

/* Calls that must change nothing but a counter. */
static void misuse(host *d, operation op)
{
    uint64_t *wrong_mode = &d->n.diagnostics[NAIVE_WRONG_MODE];
    if (d->n.o.is_virtual) {
        qprof_record_fn_entry(host_method(op.a), 1);
        qprof_record_fn_exit(0);
        qprof_record_counts(op.b);
        qprof_record_bb_time(op.b);
        qprof_thread_destroy(op.b);
        *wrong_mode += 5;
    } else {
        qprof_record_fn_entry_vt(host_method(op.a), 1, op.b);
        qprof_record_fn_exit_vt(0, op.b);
        qprof_record_counts_vt(op.b, op.a);
        qprof_record_bb_counts_vt(op.b, 1, op.a);
        qprof_thread_create_vt(op.a, op.b);
        *wrong_mode += 5;
    }
    qprof_initialize("-time=none", NULL);
    qprof_get_option(NULL);
    qprof_add_annotation(NULL);
    qprof_line_at(host_method(op.a), op.b - 100);
    qprof_block_at(op.a, INT_MIN);
}

static void ask_current(host *d, operation op)
{
    (void)op;
    host_triggers_ask(d);
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

void operations_reenter(host *d, uint64_t random)
{
    static void (*const kinds[])(host *, operation) = {
        enter,        enter, enter,       exit_to_caller, exit_to_caller,     exit_deeper,
        exit_unknown, count, count_block, mark_block,     enter_with_id_zero, register_one};
    const uint64_t vt = d->vt;
    qprof_thread *handle = d->handle;
    random = (random ^ d->n.now) * UINT64_C(0x9E3779B97F4A7C15);
    if (random >> 62 == 0)
        switch_thread(d, (operation){.a = (uint8_t)(random >> 50)});
    for (uint64_t n = random >> 60 & 3; n > 0; n--) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const operation op = {0, (uint8_t)(random >> 56), (uint8_t)(random >> 48),
                              (uint8_t)(random >> 40)};
        host_clock_pass(d, op.c % 4);
        kinds[(random >> 32) % (sizeof kinds / sizeof *kinds)](d, op);
    }
    if (d->vt != vt) {
        d->vt = vt;
        d->handle = handle;
    }
}

const operation_kind operations[] = {
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
    {6, register_one, "register", false},
    {8, count, "count", true},
    {8, count_block, "count a block", true},
    {8, mark_block, "mark a block", true},
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
    {3, host_triggers_change, "change rules", false},
    {2, host_triggers_gate, "the gate", false},
};
