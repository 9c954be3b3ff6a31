/* test_callees.c tests record/tree/tree.c: how the callees of a call path are found. Few are a ring of which
 * one after the other is looked at; more have an index, so that a call costs the same however many there are. */
#include "record/run/run.h"
#include "record/tree/tree.h"
#include "unit/play.h"

enum { RING = 8, METHODS = 300 };

static void call(qprof_thread *th, uintptr_t method)
{
    qprof_entry(th, method, 2);
    qprof_exit(th, 1);
}

/* The index of what the function on top has called; 0: it has none. */
static uint32_t index_of_top(const qprof_thread *th)
{
    const qprof_frame *top = QPROF_FRAME_AT(th, th->pulse->top);
    const qprof_node *n = qp_node_at(th, qp_frame_path(top));
    return n->more ? QPROF_CELL(th, qp_node_more, n->more)->kids : 0;
}

static void many_callees_have_an_index_and_few_have_none(void **state)
{
    play_ctx *p = play_start(state, "-time=none");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_entry(th, METHODS + 1, 1);
    for (uintptr_t method = 1; method <= METHODS; method++) {
        call(th, method);
        if (method <= RING)
            assert_int_equal(index_of_top(th), 0);
        else
            assert_int_not_equal(index_of_top(th), 0);
    }
    for (uintptr_t method = METHODS; method; method--)
        call(th, method);
    qprof_exit(th, 0);
    play_end(p);
    const qp_model *m = p->m;
    uint32_t n_twice = 0;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++)
        n_twice += m->nodes[i].f.calls == 2;
    assert_int_equal(n_twice, METHODS);
    assert_int_equal(m->n_nodes - m->n_threads, METHODS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(many_callees_have_an_index_and_few_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
