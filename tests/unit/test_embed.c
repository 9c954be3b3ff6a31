/* test_embed.c: qprof/embed.h, the front door, as runtimes use it. Times are in ns of a clock of the
 * test's own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "unit/vm.h"

/* a( 10 b( 5 c( 1 error, caught in a: 3 ), and a tail call of b to c. */
static void calls_ends_and_errors(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_stack *s = &vm->main;
    qprof_MethodID a = define("a"), b = define("b"), c = define("c");
    qprof_token ta = qprof_enter(s, 0, a);
    play_clock_add(10);
    qprof_token tb = qprof_enter(s, ta, b);
    play_clock_add(5);
    qprof_enter(s, tb, c);
    play_clock_add(1);
    qprof_unwind(s, ta);
    play_clock_add(3);
    tb = qprof_enter(s, qprof_top(s), b);
    play_clock_add(2);
    tb = qprof_tail(s, tb, c);
    play_clock_add(4);
    qprof_leave(s, tb);
    qprof_leave(s, ta);
    assert_null(s->outside);
    play_clock_add(100);       /* outside of the VM */
    ta = qprof_enter(s, 0, a); /* and an error that leaves it */
    play_clock_add(7);
    qprof_unwind(s, 0);
    assert_null(s->outside);
    qprof_vm_close(vm);
    play_end(*state);
    assert_flat(*state, "a", 2, 32, 20);
    assert_flat(*state, "b", 2, 8, 7);
    assert_flat(*state, "c", 2, 5, 5);
    assert_path(*state, "a>c", 1, 4);
    assert_path(*state, "a>b>c", 1, 1);
}

/* Native code, the collector and a finalizer nest, in all modes of frames. */
static void calls_that_the_library_keeps(void **state)
{
    static const char *const modes[] = {
        exact, "-output=run.qprof -log-file=none -time=none",
        "-output=run.qprof -log-file=none -collect=profile,trace"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        qprof_vm *vm = first_vm(modes[i]);
        qprof_stack *s = &vm->main;
        qprof_MethodID a = define("a"), n = define("n"), f = define("f");
        for (int k = 0; k < 3; k++) {
            qprof_push(s, n);
            qprof_token ta = qprof_enter(s, qprof_top(s), a);
            qprof_push(s, QPROF_METHOD_GC);
            qprof_push(s, f);
            qprof_pop(s, f);
            qprof_pop(s, QPROF_METHOD_GC);
            qprof_leave(s, ta);
            qprof_push(s, f); /* which raises an error: it is never left */
            qprof_pop(s, n);
            assert_null(s->outside);
        }
        qprof_push(s, n);
        qprof_pop(s, a); /* not open */
        qprof_pop(s, n);
        assert_int_equal(qprof_diagnostic("exit_unknown_id"), 1);
        qprof_vm_close(vm);
        play_end(*state);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "n").calls, 4);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "f").calls, 6);
        const qp_model *m = ((play_ctx *)*state)->m;
        assert_int_equal(m->n_nodes - m->n_threads, 5); /* n, n a, n a gc, n a gc f, n f */
    }
}

/* A generator g that a begins and resumes once, and b resumes: a( 2 g( 5 ) 1 g( 7 c( 3 ) ) ) b( g( 11 ) ). */
static void resumes_are_no_calls(void **state)
{
    static const char *const modes[] = {
        exact,
        "-output=run.qprof -log-file=none -time=none",
        "-output=run.qprof -log-file=none -time=adaptive",
        "-output=run.qprof -log-file=none -collect=profile,trace",
        "-output=run.qprof -log-file=none -collect=coverage",
        "-output=run.qprof -log-file=none -time=exact -check-host=yes"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        qprof_vm *vm = first_vm(modes[i]);
        qprof_stack *s = &vm->main;
        qprof_MethodID a = define("a"), b = define("b"), c = define("c"), g = define("g");
        qprof_token ta = qprof_enter(s, 0, a);
        play_clock_add(2);
        qprof_token tg = qprof_enter(s, ta, g);
        play_clock_add(5);
        qprof_suspend(s, tg);
        play_clock_add(1);
        tg = qprof_resume(s, ta, g);
        play_clock_add(7);
        qprof_token tc = qprof_enter(s, tg, c);
        play_clock_add(3);
        qprof_leave(s, tc);
        qprof_suspend(s, tg);
        qprof_leave(s, ta);
        assert_null(s->outside);
        qprof_token tb = qprof_enter(s, 0, b);
        tg = qprof_resume(s, tb, g);
        play_clock_add(11);
        qprof_leave(s, tg);
        qprof_leave(s, tb);
        qprof_leave(s, qprof_resume(s, 0, g)); /* from outside of the VM */
        assert_null(s->outside);
        qprof_vm_close(vm);
        play_end(*state);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "g").calls, 1);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "g").resumes, 3);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "a").resumes, 0);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "c").calls, 1);
        if (strstr(modes[i], "exact")) {
            assert_flat(*state, "g", 1, 26, 23);
            assert_path(*state, "a>g", 1, 12);
            assert_path(*state, "b>g", 0, 11);
            assert_int_equal(play_figures(*state, QP_ALL_THREADS, "g").max, 11);
        }
        const qp_model *m = ((play_ctx *)*state)->m;
        bool has_paths = !strstr(modes[i], "coverage"); /* else a, b, c, g */
        assert_int_equal(m->n_nodes - m->n_threads,
                         has_paths ? 6 : 4); /* a, a g, a g c, b, b g, g */
    }
}

/* A trigger that acts from the second call on does not take a resume for it. */
static void triggers_do_not_count_resumes(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_stack *s = &vm->main;
    qprof_MethodID a = define("a"), g = define("g");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    assert_int_equal(qprof_trigger_set_pass(t, 1), 0);
    assert_int_equal(qprof_trigger_add_routine(t, "g", 1), 0);
    assert_int_equal(qprof_trigger_initial_status(0), 1);
    qprof_token ta = qprof_enter(s, 0, a);
    qprof_token tg = qprof_enter(s, ta, g);
    assert_int_equal(qprof_trigger_thread_status(), 0);
    for (int i = 0; i < 3; i++) {
        qprof_suspend(s, tg);
        tg = qprof_resume(s, ta, g);
        assert_int_equal(qprof_trigger_thread_status(), 0);
    }
    qprof_leave(s, tg);
    tg = qprof_enter(s, ta, g);
    assert_int_equal(qprof_trigger_thread_status(), 1);
    qprof_leave(s, tg);
    qprof_leave(s, ta);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "g").calls, 2);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "g").hits, 1);
}

/* An id is used for two functions in turn, below a caller with few callees and one with many, and a
 * function gets its name late. */
static void functions_end_and_change_names(void **state)
{
    enum { MANY = 12, ID = 77, LATE = 78, TIMES = 5 };
    static const char *const modes[] = {
        exact, "-output=run.qprof -log-file=none -time=none",
        "-output=run.qprof -log-file=none -time=adaptive",
        "-output=run.qprof -log-file=none -collect=profile,trace"};
    static const char *const names[] = {"old", "middle", "new"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        qprof_vm *vm = first_vm(modes[i]);
        qprof_stack *s = &vm->main;
        qprof_MethodID few = define("few"), many = define("many");
        qprof_token t = qprof_enter(s, 0, many);
        for (int k = 0; k < MANY; k++)
            qprof_leave(s, qprof_enter(s, t, define("other")));
        qprof_leave(s, t);
        qprof_register_method_id(LATE, "anonymous", NULL, 0, "a.src", NULL, 0);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            qprof_register_method_id(ID, names[n], NULL, 0, "a.src", NULL, 0);
            for (int k = 0; k < TIMES; k++) {
                t = qprof_enter(s, 0, k % 2 ? few : many);
                qprof_leave(s, qprof_enter(s, t, ID));
                qprof_leave(s, qprof_enter(s, t, ID));
                qprof_leave(s, qprof_enter(s, t, LATE));
                qprof_leave(s, t);
            }
            qprof_unload(ID);
        }
        qprof_rename(LATE, "late", "Class");
        assert_int_equal(qprof_diagnostic("bad_method_id"), 0);
        qprof_unload(ID); /* none has it */
        qprof_rename(0, "none", NULL);
        qprof_rename(QPROF_METHOD_GC, "none", NULL);
        assert_int_equal(qprof_diagnostic("bad_method_id"), 3);
        assert_int_equal(qprof_diagnostic("method_reregistered"), 0);
        qprof_vm_close(vm);
        play_end(*state);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            assert_int_equal(play_figures(*state, QP_ALL_THREADS, names[n]).calls, 2 * TIMES);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "Class.late").calls, 3 * TIMES);
    }
}

/* Lines 1 to 5 of out/a.lua come from line 3 of a.fnl, none, 4 (and 5), 4, and line 4 of b.fnl: A is 0, C is 1, D is -1,
 * E is 2; each segment has what changes of column, source, line and its column. */
#define MAP_TEXT                                                                               \
    "{\"version\": 3, \"x\": [{\"y\": \"]}\\\"\"}, 1.5e3, null], \"sources\": "                \
    "[\"../src/a.fnl\", \".\\/b\\u002efnl\", "                                                 \
    "null],\"mappings\":\"AAEA;;AACA,CACA;AADA;ACAA\"}"

static void set_map(const char *file, const char *text, int wanted)
{
    size_t n = strlen(text);
    char *copy = malloc(n + !n); /* no byte more than its length */
    memcpy(copy, text, n);
    assert_int_equal(qprof_set_source_map(file, copy, n), wanted);
    free(copy);
}

static void assert_place(play_ctx *p, const char *name, const char *file, const char *lines)
{
    uint32_t n_found, at = qp_model_method_named(p->m, name, &n_found);
    assert_int_equal(n_found, 1);
    char found[100] = "";
    for (uint32_t i = 0; i < p->m->methods[at].n_blocks; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d ",
                 (int)p->m->methods[at].lines[i].line);
    assert_string_equal(p->m->methods[at].file, file);
    assert_string_equal(found, lines);
}

static void source_maps_lead_to_the_sources(void **state)
{
    static const qprof_LineInfo all[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 99}},
                                late[] = {{0, 11}, {1, 12}};
    static const char in_parts[] =
        "{\"version\":3,\"sections\":[{\"offset\":{\"line\":0,\"column\":0},\"map\":{"
        "\"version\":3,"
        "\"sourceRoot\":\"../x/\",\"sources\":[\"./y/../a.fnl\"],\"mappings\":\"AAAA\"}},"
        "{\"offset\":{\"line\":10,\"column\":0},\"map\":{\"version\":3,\"sources\":[\"/abs/"
        "c.fnl\"],"
        "\"mappings\":\"AAAA;AACA\"}}]}";
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "{\"version\":3}",
                                      "{\"version\":2,\"sources\":[],\"mappings\":\"\"}",
                                      "{\"version\":3,\"sources\":[\"a\"],\"mappings\":\"A!\"}",
                                      "{\"version\":3,\"sources\":[\"a\"],\"mappings\":\"AA\"}",
                                      "{\"version\":3,\"sections\":[{\"offset\":{\"line\":"
                                      "4000000000},\"map\":{\"sources\":[],"
                                      "\"mappings\":\"\"}}]}"};
    qprof_vm *vm = first_vm(exact);
    set_map("out/a.lua", MAP_TEXT, 0);
    set_map("out/p.lua", in_parts, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        set_map("out/bad.lua", bad[i], QPROF_E_SYNTAX);
    for (size_t n = 0; n < sizeof MAP_TEXT - 2;
         n++) { /* cut anywhere: refused, and no byte more is read */
        char cut[sizeof MAP_TEXT];
        memcpy(cut, MAP_TEXT, n);
        cut[n] = '\0';
        set_map("out/bad.lua", cut, QPROF_E_SYNTAX);
    }
    assert_int_equal(qprof_set_source_map(NULL, "", 0), QPROF_E_ARG);
    qprof_define("f", NULL, "out/a.lua", all, 6);
    qprof_define("g", NULL, "out/a.lua", all + 4, 1);
    qprof_define("h", NULL, "out/a.lua", all + 1, 1);
    qprof_define("i", NULL, "out/bad.lua", all, 2);
    qprof_define("j", NULL, "out/p.lua", all, 1);
    qprof_MethodID k = qprof_define("k", NULL, "out/p.lua", late, 2);
    assert_int_equal(qprof_line_at(k, 1), 2);
    qprof_vm_close(vm);
    play_end(*state);
    assert_place(*state, "f", "src/a.fnl", "3 3 4 4 4 4 ");
    assert_place(*state, "g", "out/b.fnl", "4 ");
    assert_place(*state, "h", "out/a.lua", "2 ");
    assert_place(*state, "i", "out/bad.lua", "1 2 ");
    assert_place(*state, "j", "x/a.fnl", "1 ");
    assert_place(*state, "k", "/abs/c.fnl", "1 2 ");
}

static size_t read_file(const char *path, void *to, size_t n_bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, n_bytes, f);
    fclose(f);
    return n;
}

/* What perf reads: the map as text, the dump by the offsets of its specification. */
static void native_code_is_named_for_perf(void **state)
{
    static const unsigned char code[] = {0x90, 0x90, 0xC3, 1, 2};
    char path[64], text[256], wanted[256];
    unsigned char d[512];
    uint64_t w;
    uint32_t u;
    unlink("run.qprof");
    qprof_vm vm;
    assert_int_equal(
        qprof_vm_open(&vm, "-output=run.qprof -log-file=none -perf-map=yes -jitdump=yes"), 1);
    qprof_MethodID f = qprof_define("f\ng", "C", "a.src", NULL, 0), g = define("g");
    qprof_register_code(f, code, 3);
    qprof_register_code(g, code + 3, 2);
    qprof_register_code(0, code, 3);
    qprof_register_code(g, NULL, 3);
    qprof_register_code(g, code, 0);
    assert_int_equal(qprof_diagnostic("bad_method_id"), 1);
    assert_int_equal(qprof_diagnostic("e_arg"), 2);
    assert_int_equal(qprof_diagnostic("e_io"), 0);
    qprof_leave(&vm.main, qprof_enter(&vm.main, 0, f));
    qprof_vm_close(&vm);
    play_end(*state);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    text[read_file(path, text, sizeof text - 1)] = '\0';
    unlink(path);
    snprintf(wanted, sizeof wanted, "%lx 3 C.f g\n%lx 2 g\n", (unsigned long)(uintptr_t)code,
             (unsigned long)(uintptr_t)(code + 3));
    assert_string_equal(text, wanted);
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    /* a head of 40 bytes; 56 bytes, "C.f g", 3 bytes; 56 bytes, "g", 2 bytes */
    assert_int_equal(read_file(path, d, sizeof d), 40 + 56 + 6 + 3 + 56 + 2 + 2);
    unlink(path);
    memcpy(&u, d, 4);
    assert_int_equal(u, 0x4A695444);
    memcpy(&u, d + 20, 4);
    assert_int_equal(u, getpid());
    memcpy(&u, d + 40 + 4, 4); /* bytes of the record */
    assert_int_equal(u, 56 + 6 + 3);
    memcpy(&w, d + 40 + 24, 8);
    assert_int_equal(w, (uintptr_t)code);
    memcpy(&w, d + 40 + 40, 8);
    assert_int_equal(w, 3);
    assert_string_equal((char *)d + 40 + 56, "C.f g");
    assert_memory_equal(d + 40 + 56 + 6, code, 3);
    memcpy(&w, d + 40 + 65 + 48, 8); /* number of the second one */
    assert_int_equal(w, 1);
    assert_memory_equal(d + 40 + 65 + 56 + 2, code + 3, 2);
}

/* a( 2, a coroutine c( 4, a 3 ), the coroutine 5 ). */
static void coroutines_have_stacks_of_their_own(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_stack co;
    qprof_MethodID a = define("a"), c = define("c");
    qprof_stack_new(&co);
    qprof_token ta = qprof_enter(&vm->main, 0, a);
    play_clock_add(2);
    qprof_stack *before = qprof_switch(vm, &co);
    assert_ptr_equal(before, &vm->main);
    qprof_token tc = qprof_enter(&co, 0, c);
    play_clock_add(4);
    assert_ptr_equal(qprof_switch(vm, before), &co);
    play_clock_add(3);
    qprof_leave(&vm->main, ta);
    assert_null(vm->main.outside);
    play_clock_add(1000);
    before = qprof_switch(vm, &co); /* resumed from outside of the VM */
    play_clock_add(5);
    qprof_leave(&co, tc);
    qprof_switch(vm, before);
    assert_null(co.outside);
    qprof_stack_end(vm, &co);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "a").self, 5);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "c").self, 9);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "c").calls, 1);
}

static int is_tsc; /* the clock of the next test */

static uint64_t clock_now(void)
{
    return is_tsc ? qprof_ticks() : qp_clock_monotonic();
}

/* Ticks that pass. @return at most as many as have passed */
static uint64_t work(void)
{
    uint64_t begin = clock_now(), passed = 0;
    while (passed < 100000)
        passed = clock_now() - begin;
    return passed;
}

/* The time between the entry of a native function and its switch is of the stack that it continues, where
 * no other event of it came in between, and where the clock is the processor's counter. */
static void a_switch_by_a_native_function_is_at_its_entry(void **state)
{
    static qprof_vm vm;
    qprof_stack co;
    for (int has_callee = 0; has_callee < 2; has_callee++) {
        unlink("run.qprof");
        qprof_set_clock(NULL);
        is_tsc = qprof_vm_open(&vm, "-output=run.qprof -elapsed-source=tsc") == 1;
        if (!is_tsc)
            assert_int_equal(qprof_vm_open(&vm, "-output=run.qprof"), 1);
        qprof_MethodID resume = define("resume"), c = define("c");
        qprof_stack_new(&co);
        qprof_token main = qprof_enter(&vm.main, 0, define("main"));
        uint64_t passed = 0;
        for (int i = 0; i < 3; i++) { /* the first time, the new stack is begun out of line */
            qprof_token t = qprof_enter(&vm.main, main, resume);
            if (has_callee) {
                qprof_push(&vm.main, c);
                qprof_pop(&vm.main, c);
            }
            if (i)
                passed += work();
            qprof_stack *before = qprof_switch_by(&vm, &co, t);
            if (!i)
                qprof_enter(&co, 0, define("body"));
            qprof_switch(&vm, before);
            qprof_leave(&vm.main, t);
        }
        qprof_leave(&vm.main, main);
        qprof_stack_end(&vm, &co);
        qprof_vm_close(&vm);
        play_end(*state);
        const char *owner = is_tsc && !has_callee ? "body" : "resume";
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "resume").calls, 3);
        assert_true(play_figures(*state, QP_ALL_THREADS, owner).self >= passed);
        assert_true(passed >= 200000);
    }
}

enum { STACKS = 3, TURNS = 3 };

/* A stack of the test below continues: f( g( 1 | 1 | ) 2 ), where each | is the end of a turn. */
static void take_turn(qprof_vm *vm, qprof_stack *s, const qprof_MethodID id[2],
                      qprof_token t[2], unsigned turn)
{
    qprof_stack *before = qprof_switch(vm, s);
    if (turn == 0) {
        t[0] = qprof_enter(s, 0, id[0]);
        t[1] = qprof_enter(s, t[0], id[1]);
    }
    if (turn < 2) {
        play_clock_add(1);
    } else {
        qprof_leave(s, t[1]);
        play_clock_add(2);
        qprof_leave(s, t[0]);
    }
    qprof_switch(vm, before);
    play_clock_add(100); /* in main */
}

/* With one row, which the VM's first stack has, all others share another one. A stack that continues after another
 * one resumes its calls: at the second turn and the third. */
static void stacks_beyond_the_rows_share_one(void **state)
{
    static const struct {
        const char *options;
        unsigned resumes; /* of f, as of g */
        unsigned rows;    /* with that of the first stack */
        bool stops;       /* recording, for the second turns */
    } cases[] = {{"-time=exact", 6, 2, false},
                 {"-time=none", 6, 2, false},
                 {"-time=adaptive", 6, 2, false},
                 {"-time=exact -collect=profile,coverage", 6, 2, false},
                 {"-time=exact -collect=profile,trace", 0, 4,
                  false}, /* each stack has a row of its own */
                 {"-time=exact -check-host=yes", 0, 4, false},
                 {"-time=exact", 6, 2, true}}; /* no call is skipped: the stacks have begun */
    char options[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(options, sizeof options, "-output=run.qprof -log-file=none -thread-rows=1 %s",
                 cases[i].options);
        qprof_vm *vm = first_vm(options);
        qprof_MethodID id[2] = {define("f"), define("g")};
        qprof_stack stacks[STACKS];
        qprof_token tokens[STACKS][2];
        qprof_token main = qprof_enter(&vm->main, 0, define("main"));
        for (unsigned k = 0; k < STACKS; k++)
            qprof_stack_new(&stacks[k]);
        for (unsigned turn = 0; turn < TURNS; turn++) {
            if (cases[i].stops && turn == 1)
                assert_int_equal(qprof_stop_recording(), 1);
            if (cases[i].stops && turn == 2)
                assert_int_equal(qprof_start_recording(), 1);
            for (unsigned k = 0; k < STACKS; k++)
                take_turn(vm, &stacks[k], id, tokens[k], turn);
        }
        for (unsigned k = 0; k < STACKS; k++)
            qprof_stack_end(vm, &stacks[k]);
        qprof_leave(&vm->main, main);
        qprof_vm_close(vm);
        play_end(*state);
        qp_figures f = play_figures(*state, QP_ALL_THREADS, "f");
        qp_figures g = play_figures(*state, QP_ALL_THREADS, "g");
        assert_int_equal(f.calls, STACKS);
        assert_int_equal(g.calls, STACKS);
        assert_int_equal(f.resumes, cases[i].resumes);
        assert_int_equal(g.resumes, cases[i].resumes);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "main").calls, 1);
        if (strstr(cases[i].options, "exact")) {
            assert_int_equal(f.self, STACKS * 2);
            assert_int_equal(g.self, STACKS * (cases[i].stops ? 1 : 2));
            assert_int_equal(f.max, 2);
        }
        assert_int_equal(((play_ctx *)*state)->m->n_threads - 1, cases[i].rows);
        assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    }
}

enum { CROWD = 100, FUNCTIONS = 6, DEPTH_MAX = 12, STEPS = 20000 };

typedef struct {
    qprof_stack s;
    qprof_token tokens[DEPTH_MAX];
    unsigned depth;
} crowd_stack;

static uint32_t seed;

static unsigned below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}

/* One event of a stack that runs. */
static void random_event(crowd_stack *c, const qprof_MethodID *id, unsigned *calls)
{
    unsigned what = below(10), f = below(FUNCTIONS);
    if (what < 5 && c->depth < DEPTH_MAX) {
        c->tokens[c->depth] = qprof_enter(&c->s, c->depth ? c->tokens[c->depth - 1] : 0, id[f]);
        c->depth++;
        calls[f]++;
    } else if (what < 8 && c->depth) {
        qprof_leave(&c->s, c->tokens[--c->depth]);
    } else if (what == 8 && c->depth > 1) {
        c->depth = 1 + below(c->depth - 1);
        qprof_unwind(&c->s, c->tokens[c->depth - 1]);
    } else if (c->depth) {
        qprof_push(&c->s, id[f]);
        qprof_pop(&c->s, id[f]);
        calls[f]++;
    }
}

/* Stacks that continue at random, in rows of their own and in one that they share: each function has the calls
 * that were made, in every mode. */
static void stacks_at_random_have_exact_calls(void **state)
{
    static const char *const modes[] = {"-time=exact -thread-rows=1",
                                        "-time=none -thread-rows=20",
                                        "-time=adaptive -thread-rows=1",
                                        "-collect=coverage -thread-rows=1",
                                        "-collect=profile,trace -thread-rows=1",
                                        "-time=exact"};
    static crowd_stack crowd[CROWD];
    char options[120], name[] = "f0";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        unsigned calls[FUNCTIONS] = {0};
        qprof_MethodID id[FUNCTIONS];
        snprintf(options, sizeof options, "-output=run.qprof -log-file=none %s", modes[i]);
        qprof_vm *vm = first_vm(options);
        seed = (uint32_t)i + 1;
        for (unsigned f = 0; f < FUNCTIONS; f++) {
            name[1] = (char)('0' + f);
            id[f] = define(name);
        }
        for (unsigned k = 0; k < CROWD; k++) {
            crowd[k].depth = 0;
            qprof_stack_new(&crowd[k].s);
        }
        qprof_token main = qprof_enter(&vm->main, 0, define("main"));
        for (unsigned step = 0; step < STEPS; step++) {
            crowd_stack *c = &crowd[below(CROWD)];
            qprof_stack *before = qprof_switch(vm, &c->s);
            for (unsigned n = below(6); n; n--)
                random_event(c, id, calls);
            qprof_switch(vm, before);
            if (below(50))
                continue;
            qprof_stack_end(vm, &c->s);
            c->depth = 0;
        }
        qprof_leave(&vm->main, main);
        qprof_vm_close(vm);
        play_end(*state);
        for (unsigned f = 0; f < FUNCTIONS; f++) {
            name[1] = (char)('0' + f);
            assert_int_equal(play_figures(*state, QP_ALL_THREADS, name).calls, calls[f]);
        }
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "main").calls, 1);
        assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    }
}

/* A VM that runs inside another one is the second user: its close does not end the run. */
static void vms_nest(void **state)
{
    qprof_vm *outer = first_vm(exact), inner;
    qprof_MethodID a = define("a"), b = define("b");
    qprof_token ta = qprof_enter(&outer->main, 0, a);
    play_clock_add(10);
    assert_int_equal(qprof_vm_open(&inner, "-time=none"), 1); /* too late for options */
    for (int i = 0; i < 2; i++) {
        qprof_token tb = qprof_enter(&inner.main, 0, b);
        play_clock_add(7);
        qprof_leave(&inner.main, tb);
        play_clock_add(1);
    }
    qprof_vm_close(&inner);
    qprof_vm_close(&inner);
    assert_true(qprof_is_running());
    play_clock_add(3);
    qprof_leave(&outer->main, ta);
    qprof_vm_close(outer);
    assert_false(qprof_is_running());
    play_end(*state);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "a").self, 15);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "b").self, 14);
    assert_int_equal(play_file_diagnostic(*state, "wrong_mode"), 0);
}

/* Three runs one after another. Counters of the first one are written to for ever: it harms nothing, and
 * no later run has it. */
static void vms_in_turn_and_counters_that_are_kept(void **state)
{
    const qprof_LineInfo lines[] = {{0, 1}};
    uint64_t *kept[4];
    for (int run = 0; run < 4; run++) {
        qprof_vm *vm = first_vm(exact);
        qprof_MethodID a = qprof_define("a", NULL, "a.src", lines, 1);
        kept[run] = qprof_counter_bank(a);
        assert_non_null(kept[run]);
        qprof_token ta = qprof_enter(&vm->main, 0, a);
        ++*kept[run];
        for (int i = 0; i < run; i++)
            *kept[i] += 1000;
        qprof_leave(&vm->main, ta);
        qprof_shutdown(); /* of the host's own: no user is asked */
        ++*kept[run];
        qprof_vm_close(vm);
        play_end(*state);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "a").calls, 1);
        assert_block(*state, "a", 0, 1, 0, 0);
        assert_int_equal(play_file_diagnostic(*state, "wrong_mode"), 0);
    }
}

enum { THREADS = 4, ROUNDS = 50, CALLS = 20 };

static void *run_vms(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        qprof_vm vm;
        assert_int_equal(qprof_vm_open(&vm, ""), 1);
        qprof_MethodID f = define("f");
        for (int k = 0; k < CALLS; k++)
            qprof_leave(&vm.main, qprof_enter(&vm.main, 0, f));
        qprof_vm_close(&vm);
    }
    return unused;
}

static void vms_in_threads(void **state)
{
    pthread_t threads[THREADS];
    uint64_t n_calls = 0;
    qprof_vm *vm = first_vm("-output=run.qprof -log-file=none -time=none");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_vms, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    qprof_vm_close(vm);
    play_end(*state);
    const qp_model *m = ((play_ctx *)*state)->m;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++)
        n_calls += m->nodes[i].f.hits;
    assert_int_equal(n_calls, THREADS * ROUNDS * CALLS);
}

/* Users that begin and end runs at the same moments: each one that opens is recorded. */
static void the_last_close_and_the_next_open_meet(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_vms, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_false(qprof_is_running());
}

/* No recording is asked for: every function is harmless. */
static void nothing_is_recorded_unasked(void **state)
{
    qprof_vm vm;
    qprof_stack co;
    (void)state;
    unsetenv("QPROF");
    assert_int_equal(qprof_vm_open(&vm, NULL), 0);
    qprof_MethodID a = define("a");
    assert_int_equal(a, 0);
    qprof_stack_new(&co);
    for (int i = 0; i < 2; i++) {
        qprof_token t = qprof_enter(&vm.main, 0, a);
        assert_true(t == QPROF_NO_TOKEN);
        qprof_token inner = qprof_enter(&vm.main, t, a);
        qprof_stack *before = qprof_switch(&vm, &co);
        qprof_switch(&vm, before);
        qprof_push(&vm.main, a);
        qprof_pop(&vm.main, a);
        qprof_unwind(&vm.main, t);
        inner = qprof_tail(&vm.main, inner, a);
        qprof_leave(&vm.main, inner);
        qprof_leave(&vm.main, t);
        assert_null(vm.main.outside);
    }
    qprof_stack_end(&vm, &co);
    qprof_vm_close(&vm);
    setenv("QPROF", exact, 1);
    qprof_set_clock(play_clock);
    assert_int_equal(qprof_vm_open(&vm, NULL), 1);
    qprof_vm_close(&vm);
    unsetenv("QPROF");
    assert_true(play_file_exists("run.qprof"));
}

/* A host of another version, and a run without an event, each leave a file that says so. */
static void what_went_wrong_leaves_a_file(void **state)
{
    unlink("run.qprof");
    assert_int_equal(qprof_open(QPROF_INLINE_VERSION + 1, exact), QPROF_E_VERSION);
    assert_false(qprof_is_running());
    assert_non_null(strstr(qprof_error_text(), "version"));
    play_read(*state, "run.qprof");
    assert_int_equal(play_file_diagnostic(*state, "inline_version"), 1);
    assert_int_equal(play_file_diagnostic(*state, "no_events"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(calls_ends_and_errors),
        PLAY_TEST(calls_that_the_library_keeps),
        PLAY_TEST(resumes_are_no_calls),
        PLAY_TEST(triggers_do_not_count_resumes),
        PLAY_TEST(functions_end_and_change_names),
        PLAY_TEST(source_maps_lead_to_the_sources),
        PLAY_TEST(native_code_is_named_for_perf),
        PLAY_TEST(coroutines_have_stacks_of_their_own),
        PLAY_TEST(a_switch_by_a_native_function_is_at_its_entry),
        PLAY_TEST(stacks_beyond_the_rows_share_one),
        PLAY_TEST(stacks_at_random_have_exact_calls),
        PLAY_TEST(vms_nest),
        PLAY_TEST(vms_in_turn_and_counters_that_are_kept),
        PLAY_TEST(vms_in_threads),
        PLAY_TEST(the_last_close_and_the_next_open_meet),
        PLAY_TEST(nothing_is_recorded_unasked),
        PLAY_TEST(what_went_wrong_leaves_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
