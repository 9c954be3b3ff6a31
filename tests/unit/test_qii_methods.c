/* test_qii_methods.c: registration, the callback, line tables, spec/qii.md sections 2 and 7. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "unit/play.h"

static const qprof_LineInfo seed_table[] = {{0, 15}, {7, 16}, {12, 19}};

static int n_asked;
static qprof_MethodID asked_for;
static pthread_t asked_on;
static const char *register_as; /* NULL: the callback registers nothing */
static qprof_MethodID method_while_asked;

static void answer(qprof_MethodID id)
{
    n_asked++;
    asked_for = id;
    asked_on = pthread_self();
    method_while_asked = qprof_current_method_id();
    if (register_as)
        qprof_register_method_id(id, register_as, "Queue", 0, "queue.scr", seed_table, 3);
}

static void begin_with_callback(play_ctx *p, const char *name)
{
    n_asked = 0;
    register_as = name;
    p->n_methods = 0;
    assert_int_equal(qprof_initialize("-output=run.qprof", answer), 0);
}

static void *enter_unknown(void *unused)
{
    (void)unused;
    qprof_record_fn_entry(0x77, 1);
    qprof_record_fn_exit(0);
    return NULL;
}

static void the_callback_is_asked_once_on_the_entering_thread(void **state) /* qii 16 */
{
    play_ctx *p = *state;
    pthread_t other;
    begin_with_callback(p, "pop");
    qprof_record_fn_entry(play_method(p, "main"), 1);
    assert_int_equal(n_asked, 0);
    assert_int_equal(pthread_create(&other, NULL, enter_unknown, NULL), 0);
    pthread_join(other, NULL);
    assert_int_equal(n_asked, 1);
    assert_int_equal(asked_for, 0x77);
    assert_true(pthread_equal(asked_on, other));
    assert_int_equal(method_while_asked, 0); /* before the entry counts */
    enter_unknown(NULL);
    assert_int_equal(n_asked, 1);
    assert_int_equal(qprof_diagnostic("unknown_method"), 0);
    play_end(p);
    assert_flat(p, "Queue.pop", 2, 0, 0);
}

static void a_method_that_is_never_registered_has_a_placeholder(void **state) /* qii 17 */
{
    play_ctx *p = *state;
    begin_with_callback(p, NULL);
    enter_unknown(NULL);
    enter_unknown(NULL);
    assert_int_equal(n_asked, 1);
    assert_int_equal(qprof_diagnostic("unknown_method"), 1);
    play_peek(p);
    assert_flat(p, "UnnamedFunction77", 2, 0, 0);
    qprof_register_method_id(0x77, "late", NULL, 0, "late.scr", seed_table, 3);
    enter_unknown(NULL);
    assert_int_equal(qprof_diagnostic("method_reregistered"), 0);
    assert_int_equal(qprof_line_at(0x77, 8), 16);
    play_end(p);
    assert_flat(p, "late", 3, 0, 0);
    assert_absent(p, "UnnamedFunction77");
    assert_int_equal(n_asked, 1);
}

static void without_a_callback_unknown_ids_get_a_placeholder(void **state) /* qii 18 */
{
    play_ctx *p = play_start(state, "");
    enter_unknown(NULL);
    assert_int_equal(qprof_diagnostic("unknown_method"), 1);
    play_end(p);
    assert_flat(p, "UnnamedFunction77", 1, 0, 0);
}

static void everything_registered_is_copied(void **state) /* qii 19 */
{
    play_ctx *p = *state;
    char *name = strdup("name"), *class_name = strdup("Class"), *file = strdup("file.scr");
    qprof_LineInfo *table = malloc(sizeof seed_table);
    memcpy(table, seed_table, sizeof seed_table);
    play_begin(p, "");
    qprof_register_method_id(5, name, class_name, 0, file, table, 3);
    memset(name, 'x', 4);
    memset(class_name, 'x', 5);
    memset(file, 'x', 8);
    memset(table, 0x55, sizeof seed_table);
    free(name);
    free(class_name);
    free(file);
    free(table);
    qprof_record_fn_entry(5, 1);
    assert_int_equal(qprof_line_at(5, 12), 19);
    play_end(p);
    assert_flat(p, "Class.name", 1, 0, 0);
    const qp_model_method *m = &p->m->methods[qp_model_method_named(p->m, "Class.name", NULL)];
    assert_string_equal(m->file, "file.scr");
    assert_string_equal(m->bare_name, "name");
    assert_string_equal(m->class_name, "Class");
    assert_int_equal(m->first_line, 15);
    assert_int_equal(m->n_blocks, 3);
    assert_int_equal(m->lines[1].line, 16);
}

static void a_second_registration_and_id_zero_are_ignored_and_counted(void **state) /* qii 20 */
{
    play_ctx *p = play_start(state, "");
    qprof_register_method_id(5, "first", NULL, 0, "f", seed_table, 3);
    qprof_register_method_id(5, "second", NULL, 0, "f", NULL, 0);
    qprof_register_method_id(0, "zero", NULL, 0, "f", NULL, 0);
    qprof_register_method_id(UINTPTR_MAX, "reserved", NULL, 0, "f", NULL, 0);
    qprof_register_method_id(UINTPTR_MAX - 11, "reserved", NULL, 0, "f", NULL, 0);
    assert_int_equal(qprof_diagnostic("method_reregistered"), 1);
    assert_int_equal(qprof_diagnostic("bad_method_id"), 3);
    qprof_register_method_id(UINTPTR_MAX - 16, "not reserved", NULL, 0, "f", NULL, 0);
    assert_int_equal(qprof_diagnostic("bad_method_id"), 3);
    qprof_record_fn_entry(5, 1);
    assert_int_equal(qprof_line_at(5, 0), 15);
    play_end(p);
    assert_flat(p, "first", 1, 0, 0);
    assert_absent(p, "second");
}

static void entries_of_a_bad_id_stand_on_the_stack_anonymously(void **state) /* qii 20 */
{
    play_ctx *p = play_start(state, "");
    qprof_MethodID main_id = play_method(p, "main");
    qprof_record_fn_entry(main_id, 1);
    qprof_record_fn_entry(0, 2);
    play_clock_add(3);
    qprof_record_fn_entry(UINTPTR_MAX - 1, 3);
    play_clock_add(4);
    qprof_record_fn_exit(2);
    play_clock_add(5);
    qprof_record_fn_exit(1);
    assert_int_equal(qprof_current_method_id(), main_id);
    assert_int_equal(qprof_diagnostic("bad_method_id"), 2);
    play_end(p);
    assert_flat(p, "main", 1, 12, 0);
    assert_flat(p, "UnnamedFunction0", 2, 12, 12);
}

static void pseudo_methods_need_no_registration(void **state) /* qii 21 */
{
    play_ctx *p = *state;
    const qprof_MethodID ids[] = {QPROF_METHOD_GC, QPROF_METHOD_COMPILER, QPROF_METHOD_LOADER,
                                  QPROF_METHOD_NATIVE};
    assert_int_equal(QPROF_METHOD_GC, UINTPTR_MAX - 15);
    assert_int_equal(QPROF_METHOD_NATIVE, UINTPTR_MAX - 12);
    play_begin(p, "");
    play(p, "main( 1");
    for (int i = 0; i < 4; i++) {
        qprof_record_fn_entry(ids[i], 900);
        play_clock_add(10 + i);
        qprof_record_fn_exit(100); /* main's */
    }
    play_peek(p);
    assert_flat(p, "<Garbage collector>", 1, 10, 10);
    assert_flat(p, "<Compiler>", 1, 11, 11);
    assert_flat(p, "<Loader>", 1, 12, 12);
    assert_flat(p, "<Native>", 1, 13, 13);
    qprof_register_method_id(QPROF_METHOD_GC, "sweep", "Heap", 0, "heap.scr", seed_table, 3);
    assert_int_equal(qprof_line_at(QPROF_METHOD_GC, 9), 16);
    play_end(p);
    assert_flat(p, "Heap.sweep", 1, 10, 10);
    assert_absent(p, "<Garbage collector>");
    assert_int_equal(qprof_diagnostic("bad_method_id"), 0);
    assert_int_equal(qprof_diagnostic("unknown_method"), 0);
    assert_int_equal(qprof_diagnostic("method_reregistered"), 0);
}

static void lines_are_found_at_all_boundaries_of_the_seeds_table(void **state) /* qii 22 */
{
    static const int expected[][3] = {/* offset, line, block */
                                      {-5, 15, 0}, {0, 15, 0},         {6, 15, 0},
                                      {7, 16, 1},  {11, 16, 1},        {12, 19, 2},
                                      {13, 19, 2}, {2147483647, 19, 2}};
    static const qprof_LineInfo late[] = {{10, 3}, {20, 2}};
    play_start(state, "");
    qprof_register_method_id(5, "f", NULL, 0, "f", seed_table, 3);
    qprof_register_method_id(6, "late", NULL, 0, "f", late, 2);
    qprof_register_method_id(7, "no table", NULL, 0, "f", NULL, 3);
    qprof_register_method_id(8, "empty table", NULL, 0, "f", seed_table, 0);
    qprof_register_method_id(9, "negative table", NULL, 0, "f", seed_table, -1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(qprof_line_at(5, expected[i][0]), expected[i][1]);
        assert_int_equal(qprof_block_at(5, expected[i][0]), expected[i][2]);
    }
    assert_int_equal(qprof_line_at(6, 0), 3); /* before the first entry: the first */
    assert_int_equal(qprof_line_at(6, 20), 2);
    for (qprof_MethodID id = 7; id <= 10; id++) { /* 10: unknown */
        assert_int_equal(qprof_line_at(id, 0), -1);
        assert_int_equal(qprof_block_at(id, 0), -1);
    }
}

static void an_unsorted_table_keeps_its_indices(void **state) /* section 7 */
{
    static const qprof_LineInfo unsorted[] = {{12, 19}, {0, 15}, {7, 16}, {7, 99}};
    play_ctx *p = play_start(state, "");
    qprof_register_method_id(5, "f", NULL, 0, "f", unsorted, 4);
    assert_int_equal(qprof_diagnostic("unsorted_line_table"), 1);
    assert_int_equal(qprof_line_at(5, 3), 15);
    assert_int_equal(qprof_block_at(5, 3), 1);
    assert_int_equal(qprof_line_at(5, 11), 99); /* the last entry whose offset is <= 11 */
    assert_int_equal(qprof_block_at(5, 11), 3);
    assert_int_equal(qprof_line_at(5, 12), 19);
    assert_int_equal(qprof_block_at(5, 12), 0);
    qprof_record_fn_entry(5, 1);
    qprof_record_bb_counts(0, 4); /* index 0 as the host gave it */
    play_end(p);
    assert_block(p, "f", 0, 4, 0, 0);
    assert_int_equal(p->m->methods[qp_model_method_named(p->m, "f", NULL)].lines[0].line, 19);
}

static void ids_wider_than_32_bits_work_everywhere(void **state) /* qii 55 */
{
    play_ctx *p = *state;
    const uintptr_t high = (uintptr_t)1 << 40;
    if (sizeof(uintptr_t) < 8)
        skip();
    play_begin_vt(p, "");
    qprof_register_method_id(high + 1, "one", NULL, 0, "f", NULL, 0);
    qprof_register_method_id(2 * high + 1, "two", NULL, 0, "f", NULL, 0);
    qprof_thread_create_vt(high + 7, high + 9);
    qprof_record_fn_entry_vt(high + 1, high + 3, high + 9);
    qprof_record_fn_entry_vt(2 * high + 1, 2 * high + 3, high + 9);
    qprof_record_fn_entry_vt(high + 1, 3, high + 9);
    play_clock_add(5);
    qprof_record_fn_exit_vt(high + 3, high + 9);
    assert_int_equal(qprof_current_method_id_vt(high + 9), high + 1);
    assert_int_equal(qprof_current_method_id_vt(9), 0);
    play_end(p);
    assert_flat(p, "one", 2, 5, 5);
    assert_flat(p, "two", 1, 5, 0);
    assert_int_equal(p->m->threads[1].host_id, high + 7);
    assert_int_equal(p->m->threads[1].vt_id, high + 9);
}

static void methods_belong_to_the_module_of_their_registration(void **state) /* glossary */
{
    play_ctx *p = play_start(state, "-program-name=prog");
    qprof_register_method_id(1, "a", NULL, 0, "f", NULL, 0);
    qprof_set_module("library");
    qprof_register_method_id(2, "b", NULL, 0, "f", NULL, 0);
    qprof_set_module(NULL);
    qprof_register_method_id(3, "c", NULL, 0, "f", NULL, 0);
    for (qprof_MethodID id = 1; id <= 3; id++)
        qprof_record_fn_entry(id, id);
    play_end(p);
    const char *const modules[][2] = {{"a", "prog"}, {"b", "library"}, {"c", "prog"}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t method = qp_model_method_named(p->m, modules[i][0], NULL);
        assert_string_equal(p->m->methods[method].module, modules[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(the_callback_is_asked_once_on_the_entering_thread),
        PLAY_TEST(a_method_that_is_never_registered_has_a_placeholder),
        PLAY_TEST(without_a_callback_unknown_ids_get_a_placeholder),
        PLAY_TEST(everything_registered_is_copied),
        PLAY_TEST(a_second_registration_and_id_zero_are_ignored_and_counted),
        PLAY_TEST(entries_of_a_bad_id_stand_on_the_stack_anonymously),
        PLAY_TEST(pseudo_methods_need_no_registration),
        PLAY_TEST(lines_are_found_at_all_boundaries_of_the_seeds_table),
        PLAY_TEST(an_unsorted_table_keeps_its_indices),
        PLAY_TEST(ids_wider_than_32_bits_work_everywhere),
        PLAY_TEST(methods_belong_to_the_module_of_their_registration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
