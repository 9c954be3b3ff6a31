/* test_sample_instructions.c: what a sampled program leaves if it is killed at any instruction:
 * each interrupt that was credited before is there once, on its call path; the one under way is
 * there as a whole or not at all. The test itself makes the samples: no timer interferes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "qprof/inline.h"
#include "unit/stepped.h"

/* Of record/sample/samples.h, whose names are not those of the model. */
void qp_samples_note(qprof_thread *th, uint64_t ticks, uint64_t n_interrupts, uint64_t off);

enum { METHODS = C + 1, DEPTHS = 40, THREADS = 3 };

/* Interrupts by the depth and the method of the procedure that runs; 0 and 0 have those of the
 * empty stack. */
typedef struct {
    uint64_t of[DEPTHS][METHODS];
    uint64_t critical, all;
} counts;

/* What the child tells the test. An event credits what waits, and is announced before it
 * begins. */
typedef struct {
    counts begun, done;
    bool is_folded; /* there is no room for paths: only the sum is known */
} tally;
static tally unshared, *shared = &unshared; /* what the child did, in a page that both see */

/* The naive stacks. */
static struct {
    unsigned method[DEPTHS], depth;
    uint64_t n_waiting;
} naive[THREADS];
static unsigned vt; /* 0: the OS thread's events */
static unsigned n_critical;
static uint64_t n_next = 1;

static void credit(uint64_t n)
{
    unsigned depth = naive[vt].depth;
    if (n_critical)
        shared->begun.critical += n;
    else
        shared->begun.of[depth][depth ? naive[vt].method[depth - 1] : 0] += n;
    shared->begun.all += n;
}

static void event_begins(void)
{
    credit(naive[vt].n_waiting);
    naive[vt].n_waiting = 0;
}

static void event_is_over(void)
{
    shared->done = shared->begun;
}

/* ---- what is stepped through ------------------------------------------------------------- */

/* A pass of the sampler: PC samples that wait for the next event. Each time there are
 * others. */
static void interrupt(void)
{
    naive[vt].n_waiting += n_next;
    qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), 0, n_next++, 0);
}

static void in(unsigned method)
{
    unsigned depth = naive[vt].depth + 1;
    event_begins();
    if (vt)
        qprof_record_fn_entry_vt(method, depth, vt);
    else
        qprof_record_fn_entry(method, depth);
    event_is_over();
    naive[vt].method[depth - 1] = method;
    naive[vt].depth = depth;
}

static void back_to(unsigned depth)
{
    event_begins();
    if (vt)
        qprof_record_fn_exit_vt(depth, vt);
    else
        qprof_record_fn_exit(depth);
    event_is_over();
    naive[vt].depth = depth;
}

static void interrupt_at_once(unsigned n)
{
    event_begins();
    credit(n);
    qprof_pc_sample(n);
    event_is_over();
}

static void interrupt_everywhere(void)
{
    interrupt();
    in(A);
    interrupt();
    in(B);
    interrupt();
    interrupt(); /* two passes, one event */
    in(C);
    in(A);
    interrupt_at_once(5); /* this path was never looked up before */
    back_to(2);
    interrupt();
    in(C);
    interrupt();
    back_to(0);
    interrupt();
    in(B);
    back_to(0);
    interrupt_at_once(2);
}

static void go_deep(void)
{
    vt = 1;
    for (unsigned i = 0; i < DEPTHS - 4; i++)
        in(1 + i % 3);
}

/* The first look for a path of many frames, and the next ones. */
static void interrupt_in_the_deep(void)
{
    interrupt();
    in(C);
    interrupt();
    back_to(20);
    interrupt();
    back_to(1);
    interrupt();
    back_to(0);
}

/* Only the border of the outermost section is an event. */
static void enter_critical(void)
{
    if (!n_critical)
        event_begins();
    qprof_pc_enter_critical();
    event_is_over();
    n_critical++;
}

static void leave_critical(void)
{
    if (n_critical == 1)
        event_begins();
    qprof_pc_leave_critical();
    event_is_over();
    n_critical--;
}

static void be_critical(void)
{
    in(A);
    interrupt();
    enter_critical();
    interrupt();
    in(B);
    interrupt_at_once(3);
    enter_critical();
    interrupt();
    leave_critical();
    interrupt();
    leave_critical();
    interrupt();
    back_to(0);
}

static void switch_threads(void)
{
    for (unsigned i = 0; i < 10; i++) {
        vt = 1 + i % 2;
        in(1 + i % 3);
        interrupt();
    }
    vt = 1;
    back_to(2);
    vt = 2;
    back_to(0);
}

/* Methods that were never called, until memory is full. */
static void fill_memory(void)
{
    shared->is_folded = true;
    in(A);
    back_to(0);
    for (uintptr_t id = 1000; id < 100000 && !qprof_diagnostic("tree_overflow"); id++) {
        qprof_record_fn_entry(id, 1);
        qprof_pc_sample(1);
        qprof_record_fn_exit(0);
        shared->begun.all++;
    }
    event_is_over();
}

static void stop_and_start(void)
{
    in(A);
    interrupt();
    in(B);
    qprof_stop_recording();
    interrupt(); /* not attributed: recording is stopped */
    naive[vt].n_waiting = 0;
    in(C);
    qprof_start_recording();
    back_to(1);
    interrupt();
    back_to(0);
}

/* What waits when sampling ends has happened before. */
static void end_sampling(void)
{
    in(A);
    interrupt();
    qprof_pc_off();
    in(B);
    back_to(0);
}

static void clear_between(void)
{
    in(A);
    interrupt();
    in(B);
    memset(&shared->done, 0, sizeof shared->done);
    qprof_clear_data();
    memset(&shared->begun, 0, sizeof shared->begun);
    interrupt();
    in(C);
    interrupt();
    back_to(0);
}

static void shut_down(void)
{
    in(A);
    in(B);
    interrupt();
    event_begins();
    qprof_shutdown();
}

/* ---- what must be true ------------------------------------------------------------------- */

static void is_one_of(const char *where, const char *what, uint64_t done, uint64_t there,
                      uint64_t begun)
{
    if (there != done && there != begun)
        fail_msg("%s: %s: %ju PC samples, expected %ju or %ju", where, what, (uintmax_t)there,
                 (uintmax_t)done, (uintmax_t)begun);
}

static uint64_t lost(const qp_model *m)
{
    for (size_t i = 0; i < m->run.n_diagnostics; i++)
        if (strcmp(m->run.diagnostics[i].name, "sample_lost") == 0)
            return m->run.diagnostics[i].count;
    return 0;
}

/* PC samples that the file has, but that no event has credited yet: they are on the path on top. */
static uint64_t waiting_at(const qp_model *m, uint32_t node)
{
    const qp_model_thread *th = &m->threads[m->nodes[node].thread];
    uint32_t top = th->n_frames ? th->frames[th->n_frames - 1] : th->root;
    return node == top ? th->n_waiting : 0;
}

static void compare_with_tally(const qp_model *m, const char *where)
{
    counts there = {.critical = m->run.n_critical, .all = m->run.n_critical + lost(m)};
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        uint64_t method = n->depth > 1 ? m->methods[n->method].id : 0;
        uint64_t n_credited = n->f.pc_samples - waiting_at(m, i);
        there.all += n_credited;
        if (n->depth - 1 < DEPTHS && method < METHODS)
            there.of[n->depth - 1][method] += n_credited;
    }
    is_one_of(where, "in all", shared->done.all, there.all, shared->begun.all);
    if (shared->is_folded)
        return;
    is_one_of(where, "critical", shared->done.critical, there.critical, shared->begun.critical);
    for (unsigned depth = 0; depth < DEPTHS; depth++)
        for (unsigned k = 0; k < METHODS; k++) {
            char what[60];
            snprintf(what, sizeof what, "method %u at depth %u", k, depth);
            is_one_of(where, what, shared->done.of[depth][k], there.of[depth][k],
                      shared->begun.of[depth][k]);
        }
}

static void kill_everywhere(const char *what, stepped_program p, const char *options)
{
    char words[160], title[160];
    snprintf(words, sizeof words, "%s '-pc=REAL 3600000000' -output=steps.qprof", options);
    snprintf(title, sizeof title, "%s, %s", what, options);
    p.options = words;
    p.judge = compare_with_tally;
    memset(shared, 0, sizeof *shared);
    stepped_everywhere(title, &p);
}

/* With the stack only, and with counted calls. */
static void kill_twice(const char *what, stepped_program p)
{
    kill_everywhere(what, p, "-collect=samples");
    kill_everywhere(what, p, "-time=exact");
}

#define KILLED(name, ...)                                                                      \
    static void name(void **state)                                                             \
    {                                                                                          \
        (void)state;                                                                           \
        kill_twice(#name, (stepped_program){__VA_ARGS__});                                     \
    }

KILLED(samples_of_new_paths, .play = interrupt_everywhere)
KILLED(samples_of_known_paths, .prepare = interrupt_everywhere, .play = interrupt_everywhere)
KILLED(samples_of_a_deep_stack, .is_virtual = true, .prepare = go_deep,
       .play = interrupt_in_the_deep)
KILLED(critical_sections, .play = be_critical)
KILLED(switches, .is_virtual = true, .play = switch_threads)
KILLED(a_stop, .play = stop_and_start)
KILLED(a_clear, .prepare = interrupt_everywhere, .play = clear_between)

static void samples_without_memory(void **state)
{
    const stepped_program p = {.prepare = fill_memory, .play = interrupt_everywhere};
    (void)state;
    kill_everywhere("samples_without_memory", p, "-collect=samples -memory-limit=1M");
    kill_everywhere("samples_without_memory", p, "-time=none -memory-limit=1M");
}

static void samples_beside_sampled_times(void **state)
{
    (void)state;
    kill_everywhere("samples_beside_sampled_times",
                    (stepped_program){.play = interrupt_everywhere},
                    "-time=sampled -sample-period=3600000000");
}

static void an_end_of_sampling(void **state)
{
    (void)state;
    kill_everywhere("an_end_of_sampling", (stepped_program){.play = end_sampling},
                    "-collect=samples");
}

static void a_shutdown(void **state)
{
    (void)state;
    kill_everywhere("a_shutdown", (stepped_program){.play = shut_down}, "-collect=samples");
}

static bool share_tally(void)
{
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED;
}

STEPPED_MAIN(share_tally() && stepped_prepare(), cmocka_unit_test(samples_of_new_paths),
             cmocka_unit_test(samples_of_known_paths),
             cmocka_unit_test(samples_of_a_deep_stack), cmocka_unit_test(critical_sections),
             cmocka_unit_test(switches), cmocka_unit_test(samples_without_memory),
             cmocka_unit_test(a_stop), cmocka_unit_test(a_clear),
             cmocka_unit_test(samples_beside_sampled_times),
             cmocka_unit_test(an_end_of_sampling), cmocka_unit_test(a_shutdown))
