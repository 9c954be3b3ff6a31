/* test_trace_xbase.c: threads that record at once into one .PRF file, while settings change and
 * the file is flushed, and virtual threads that move between OS threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qprof.h"
#include "unit/files.h"
#include "xbase/xbase.h"

enum { THREADS = 4, ROUNDS = 2000, DEPTH = 5, MOVES = 3000, ORDINALS = 16, FILES = 20 };

static void call_deeper(qprof_StackID id, unsigned depth)
{
    if (!depth)
        return;
    qprof_trace_call(depth, (int)depth);
    qprof_record_fn_entry(depth, id + 1);
    call_deeper(id + 1, depth - 1);
    qprof_record_fn_exit(id);
    qprof_trace_return(depth, (int)depth);
}

static void *record(void *unused)
{
    (void)unused;
    qprof_record_fn_entry(100, 1);
    for (unsigned i = 0; i < ROUNDS; i++)
        call_deeper(1, DEPTH);
    qprof_record_fn_exit(0);
    return NULL;
}

/* What a file holds of each thread is calls within calls. @param is_cut some may be open at its
 * end
 * @return calls, over all threads */
static unsigned count_calls(const char *path, bool is_cut)
{
    static qp_prf_reader reader;
    static char open_calls[ORDINALS][64][32];
    const char *why;
    qp_prf_row row;
    unsigned depth[ORDINALS] = {0}, n = 0;
    assert_true(qp_prf_reader_open(&reader, path, &why));
    while (qp_prf_reader_next(&reader, &row)) {
        assert_true(row.thread > 0 && row.thread < ORDINALS && row.call_bytes < 32);
        unsigned *d = &depth[row.thread];
        char name[32];
        memcpy(name, row.call, row.call_bytes);
        name[row.call_bytes] = '\0';
        if (row.op == 'I') {
            assert_true(*d < 64);
            strcpy(open_calls[row.thread][(*d)++], name);
            n++;
        } else {
            assert_int_equal(row.op, 'O');
            assert_true(*d > 0);
            assert_string_equal(open_calls[row.thread][--*d], name);
        }
    }
    assert_int_equal(reader.n_damaged, 0);
    qp_prf_reader_close(&reader);
    for (unsigned i = 0; i < ORDINALS && !is_cut; i++)
        assert_int_equal(depth[i], 0);
    return n;
}

static void threads_do_not_disturb_each_other(void **state) /* trace 6, 7 */
{
    (void)state;
    pthread_t threads[THREADS];
    assert_int_equal(qprof_initialize("-output=run.qprof -trace=T.PRF", NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record, NULL), 0);
    for (unsigned i = 0; i < 50; i++) {
        assert_int_equal(qprof_trace_set("OPERATIONMODE", i % 2 ? "1" : "1025"), 0);
        assert_int_equal(qprof_trace_set("OUTFLUSHEVERY", i % 3 ? "10" : "77"), 0);
        assert_int_equal(qprof_trace_flush(), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(qprof_diagnostic("trace_lost"), 0);
    qprof_shutdown();
    assert_int_equal(count_calls("T.PRF", false), THREADS * (ROUNDS * DEPTH + 1));
}

static void traces_begin_and_end_while_threads_record(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    char name[16];
    assert_int_equal(qprof_initialize("-output=run.qprof", NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record, NULL), 0);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "T%u.PRF", i);
        assert_int_equal(qprof_trace_start(name), 0);
        assert_int_equal(qprof_trace_flush(), 0);
        assert_int_equal(qprof_trace_stop(), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    qprof_shutdown();
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "T%u.PRF", i);
        assert_true(count_calls(name, true) <= THREADS * (ROUNDS * DEPTH + 1));
    }
}

/* ---- a virtual thread that moves --------------------------------------------------------- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_moves;

/* Each takes the thread by turns, for one event. */
static void *move(void *unused)
{
    (void)unused;
    for (bool is_over = false; !is_over;) {
        pthread_mutex_lock(&turn);
        is_over = n_moves >= MOVES;
        if (!is_over && n_moves % 6 < 3)
            qprof_record_fn_entry_vt(1 + n_moves % 6, 10 + n_moves % 6, 77);
        else if (!is_over)
            qprof_record_fn_exit_vt(n_moves % 6 == 5 ? 0 : 14 - n_moves % 6, 77);
        n_moves += !is_over;
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

static void a_thread_that_moves_comes_in_its_order(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    qprof_InitInfo info = {0, "-output=run.qprof -trace=T.PRF", NULL, 1};
    n_moves = 0;
    assert_int_equal(qprof_initialize_ex(&info), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, move, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(qprof_diagnostic("trace_lost"), 0);
    qprof_shutdown_vt(77);
    assert_int_equal(count_calls("T.PRF", false), MOVES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(threads_do_not_disturb_each_other),
        FILES_TEST(traces_begin_and_end_while_threads_record),
        FILES_TEST(a_thread_that_moves_comes_in_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
