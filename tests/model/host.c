/* host.c: what a random program is run on: two profilers, one clock, one set of methods. What
 * an operation must know (open frames, live threads) is asked of the naive profiler, so that
 * the recorder cannot lead it astray. */
#include "model/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/host_rules.h"
#include "model/operations.h"

enum { NESTED_MAX = 2 }; /* the recorder allows four */

static uint64_t clock_ns; /* what the library reads */

uint64_t host_clock(void)
{
    return clock_ns;
}

void host_clock_show(host *d)
{
    clock_ns = d->n.now;
}

void host_clock_pass(host *d, uint64_t ns)
{
    if (d->holds_time)
        return;
    d->n.now += ns;
    host_clock_show(d);
}

/* Calls that are not events of the running thread see the clock where it was. */
void host_clock_land(host *d)
{
    d->n.now += d->jump;
    d->jump = 0;
    host_clock_show(d);
}

/* ---- methods ----------------------------------------------------------------------------- */

uint64_t host_method(unsigned index)
{
    index %= HOST_METHODS;
    /* pointers, small numbers, and two that differ in their upper half only */
    return index % 3 == 0   ? UINT64_C(0x7f3500001000) + 64 * index
           : index % 3 == 1 ? 3 + index
                            : (UINT64_C(5) << 40) * index + 9;
}

void host_register(uint64_t id, int n_blocks, bool is_sorted, bool has_texts)
{
    qprof_LineInfo table[40];
    for (int i = 0; i < n_blocks; i++)
        table[i] = (qprof_LineInfo){is_sorted ? 4 * i : 4 * (n_blocks - i), 10 + i};
    qprof_register_method_id(id, has_texts ? "m" : NULL, has_texts ? "C" : NULL, 0,
                             has_texts ? "file" : NULL, n_blocks ? table : NULL, n_blocks);
}

static host *answering;

void host_begin(host *d)
{
    answering = d;
}

/* The event that asks has changed nothing yet, but its thread runs. */
void host_answer(qprof_MethodID id)
{
    host *d = answering;
    if (d->n.o.answer_blocks >= 0) {
        host_register(id, d->n.o.answer_blocks, true, true);
        if (d->is_entering)
            naive_register(&d->n, id, d->n.o.answer_blocks, true);
    }
    if (!d->is_entering || d->n_nested == NESTED_MAX)
        return;
    d->n_nested++;
    naive_mount(&d->n, d->vt);
    operations_reenter(d, id);
    d->is_entering = true;
    d->n_nested--;
}

/* ---- threads ----------------------------------------------------------------------------- */

uint64_t host_vt(unsigned index)
{
    index %= HOST_VIRTUAL;
    return index % 2 ? UINT64_C(0x7ffe00000000) + 4096 * index : 1 + index;
}

/* The handle of the thread that runs; asking creates the thread. */
qprof_thread *host_handle(host *d)
{
    if (!d->handle) {
        host_clock_land(d);
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

void host_entry(host *d, uint64_t method, uint64_t id)
{
    d->is_entering = true;
    if (d->is_inline)
        qprof_entry(host_handle(d), method, id);
    else if (d->n.o.is_virtual)
        qprof_record_fn_entry_vt(method, id, d->vt);
    else
        qprof_record_fn_entry(method, id);
    d->is_entering = false;
    naive_entry(&d->n, d->vt, method, id);
    host_triggers_settle(d);
    d->result->n_events++;
}

void host_exit(host *d, uint64_t id)
{
    if (d->is_inline)
        qprof_exit(host_handle(d), id);
    else if (d->n.o.is_virtual)
        qprof_record_fn_exit_vt(id, d->vt);
    else
        qprof_record_fn_exit(id);
    naive_exit(&d->n, d->vt, id);
    host_triggers_settle(d);
    d->result->n_events++;
}

size_t host_depth(const host *d)
{
    const naive_thread *th = naive_live(&d->n, d->vt);
    return th ? th->depth : 0;
}

/* ---- comparing --------------------------------------------------------------------------- */

comparison host_comparison(host *d)
{
    bool is_complete = !d->was_stopped;
    compare_depth depth_of = d->mode == RUN_NONE ? COMPARE_CALLS : COMPARE_TIMES;
    if (d->mode == RUN_ADAPTIVE && d->shares_rows)
        depth_of = COMPARE_CALLS;
    else if (d->mode == RUN_ADAPTIVE)
        depth_of = is_complete && !d->was_cleared ? COMPARE_FIRST : COMPARE_CALLS;
    return (comparison){depth_of,
                        (d->mode == RUN_EXACT || d->mode == RUN_COUNTS) && !d->is_spool,
                        d->shares_rows,
                        is_complete,
                        0,
                        d->result->difference,
                        DRIVER_TEXT};
}

void host_compare(host *d, const char *file)
{
    comparison c = host_comparison(d);
    naive_derive(&d->n);
    compare_file(&c, &d->n, file);
    d->result->n_compared += c.n_nodes;
    d->result->n_snapshots++;
    unlink(file);
}
