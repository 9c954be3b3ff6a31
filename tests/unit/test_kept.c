/* test_kept.c: -slowest: which requests are kept whole, and what of them. Times are of the test's clock. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/figures/figures.h"
#include "unit/files.h"
#include "unit/vm.h"

static const unsigned char trace_a[16] = {0xA0, 1, 2, 3}, span_a[8] = {0xA1};

static void begin(const char *endpoint)
{
    qprof_request_begin(endpoint, NULL, NULL);
}

/* A request in which f runs for so long. */
static void request(play_ctx *p, const char *endpoint, int ns)
{
    char score[40];
    snprintf(score, sizeof score, "f( %d )", ns);
    begin(endpoint);
    play(p, score);
    qprof_request_end(0);
}

/* The kept requests, the slowest first: "a 9, b 7 failed". */
static const char *list(const qp_model *m)
{
    static char text[4096];
    qp_kept_request *all;
    size_t n, used = 0;
    text[0] = '\0';
    assert_true(qp_model_kept_requests(m, &all, &n));
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %llu%s", i ? ", " : "",
                                 all[i].endpoint, (unsigned long long)all[i].elapsed_ns,
                                 all[i].is_cut       ? " cut"
                                 : all[i].has_failed ? " failed"
                                                     : "");
    qp_free(all);
    return text;
}

static qp_kept_request kept(const qp_model *m, size_t which)
{
    qp_kept_request *all, found;
    size_t n;
    assert_true(qp_model_kept_requests(m, &all, &n));
    assert_true(which < n);
    found = all[which];
    qp_free(all);
    return found;
}

/* The calls of one of them: "a 0+9 f 1+8", indented by a dot a level; waits in brackets. */
static const char *calls(const qp_model *m, size_t which, bool has_times)
{
    static char text[8192];
    qp_kept_calls found;
    size_t used = 0;
    const qp_kept_request r = kept(m, which);
    assert_true(qp_model_kept_calls(m, &r, &found));
    const qp_kept_call *all = found.items;
    const size_t n = found.n;
    for (size_t i = 0; i < n && used < sizeof text - 100; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s%s", i ? " " : "",
                                 (int)all[i].depth, "..........", all[i].name);
        if (has_times)
            used += (size_t)snprintf(text + used, sizeof text - used, " %llu+%llu",
                                     (unsigned long long)all[i].begin,
                                     (unsigned long long)all[i].total);
        if (has_times && all[i].suspended)
            used += (size_t)snprintf(text + used, sizeof text - used, "[%llu]",
                                     (unsigned long long)all[i].suspended);
    }
    qp_kept_calls_fini(&found);
    return text;
}

/* ---- which --------------------------------------------------------------------------------- */

/* 5, 9; 7 in place of 5; 9 in place of 7; the last 9 is not slower than one of them. */
static void the_slowest_of_each_endpoint_are_kept(void **state)
{
    static const int ns[] = {5, 9, 7, 9, 1, 9};
    play_ctx *p = play_start(state, "-time=exact -slowest=2");
    play(p, "main(");
    for (int i = 0; i < 6; i++) {
        request(p, "a", ns[i]);
        play_clock_add(100);
    }
    request(p, "b", 3);
    play(p, ")");
    play_end(p);
    assert_string_equal(list(p->m), "a 9, a 9, b 3");
    assert_int_equal(kept(p->m, 0).begun_ns, 105);
    assert_int_equal(kept(p->m, 1).begun_ns, 5 + 9 + 7 + 300);
    assert_int_equal(play_file_diagnostic(p, "request_unkept"), 0);
}

static void one_of_each_endpoint_is_kept(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1");
    for (int i = 0; i < 20; i++)
        request(p, i % 2 ? "a" : "b", (i * 7) % 20 + 1);
    play_end(p);
    /* of b 0, 14, 8, 2, 16 and so on; of a 7, 1, 15, 9, 3, 17, ..., 19 */
    assert_string_equal(list(p->m), "a 20, b 19");
}

/* A window is the time in which requests end, from the start of the run on. */
static void each_window_has_its_slowest(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1/1s");
    request(p, "a", 50);
    request(p, "a", 40);
    request(p, "b", 30);
    play_clock_add(1000000000 - 200);
    request(p, "a", 10); /* still in the first one */
    begin("a");          /* begins in it */
    play(p, "f( 200 )");
    qprof_request_end(0);
    request(p, "a", 20);
    play_clock_add(2000000000);
    request(p, "a", 5);
    play_end(p);
    assert_string_equal(list(p->m), "a 200, a 50, b 30, a 5");
    assert_int_equal(kept(p->m, 0).window, 1);
    assert_int_equal(kept(p->m, 1).window, 0);
    assert_int_equal(kept(p->m, 3).window, 3);
}

static void failed_and_cut_requests_are_kept(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=3");
    play(p, "main( f(");
    qprof_request_begin("a", trace_a, span_a);
    play(p, "g( 9 ) ) 1");
    begin("b");
    play(p, "g( 5 )");
    qprof_request_end(1);
    play(p, "f(");
    begin("outer");
    begin("inner");
    play(p, "g( 4 ^main 3");
    begin("last");
    play(p, "g( 2");
    play_end(p);
    assert_string_equal(list(p->m),
                        "a 9 cut, b 5 failed, outer 4 cut, inner 4 cut, last 2 cut");
    assert_memory_equal(kept(p->m, 0).trace, trace_a, 16);
    assert_memory_equal(kept(p->m, 0).span, span_a, 8);
    assert_string_equal(calls(p->m, 2, true), "outer 0+4 .inner 0+4 ..g 0+4");
    assert_string_equal(calls(p->m, 4, true), "last 0+2 .g 0+2");
}

static void others_are_an_endpoint(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1 -endpoints=1");
    for (int i = 0; i < 6; i++) {
        char name[2] = {(char)('a' + i % 3), '\0'};
        request(p, name, 10 + i);
    }
    play_end(p);
    assert_string_equal(list(p->m), "<other> 15, a 13");
}

/* ---- what ---------------------------------------------------------------------------------- */

static void the_calls_of_a_request_are_in_their_order(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1");
    play(p, "main( 7");
    begin("a");
    play(p, "1 f( 2 g( 3 ) 1 g( 1 ) ) 5 h( f( g( 1 ^h 4 )");
    qprof_request_end(0);
    play(p, "f( 1 ) )");
    play_end(p);
    assert_path(p, "main>a>f>g", 2, 4);
    assert_string_equal(calls(p->m, 0, true),
                        "a 0+18 .f 1+7 ..g 3+3 ..g 7+1 .h 13+5 ..f 13+1 ...g 13+1");
    assert_int_equal(kept(p->m, 0).n_calls, 6);
}

static void a_nested_request_has_its_part(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1");
    begin("a");
    play(p, "1 f( 2");
    begin("b");
    begin("b");
    play(p, "g( 4 )");
    qprof_request_end(0);
    play(p, "8");
    qprof_request_end(0);
    play(p, "g( 16 ) )");
    qprof_request_end(0);
    request(p, "c", 1);
    play_end(p);
    assert_string_equal(list(p->m), "a 31, b 12, c 1");
    assert_string_equal(calls(p->m, 0, true),
                        "a 0+31 .f 1+30 ..b 3+12 ...b 3+4 ....g 3+4 ..g 15+16");
    assert_string_equal(calls(p->m, 1, true), "b 0+12 .b 0+4 ..g 0+4");
}

/* The time in which others run is that of the call in which the coroutine was suspended. */
static void suspended_coroutines_wait(void **state)
{
    qprof_vm *vm = first_vm("-output=run.qprof -log-file=none -time=exact -slowest=4");
    qprof_MethodID f = define("f"), yield = define("yield");
    qprof_stack stacks[2];
    qprof_token first[2], waits[2];
    for (int i = 0; i < 2; i++) {
        qprof_stack_create(&stacks[i], &vm->main);
        qprof_stack *before = qprof_switch(vm, &stacks[i]);
        qprof_request_begin_of(stacks[i].th, i ? "b" : "a", NULL, NULL);
        first[i] = qprof_enter(&stacks[i], qprof_top(&stacks[i]), f);
        play_clock_add(1);
        waits[i] = qprof_enter(&stacks[i], first[i], yield);
        qprof_switch(vm, before);
    }
    play_clock_add(100);
    for (int i = 0; i < 2; i++) {
        qprof_stack *before = qprof_switch(vm, &stacks[i]);
        qprof_leave(&stacks[i], waits[i]);
        play_clock_add(i ? 10 : 20);
        qprof_leave(&stacks[i], first[i]);
        qprof_request_end_of(stacks[i].th, 0);
        qprof_switch(vm, before);
        qprof_stack_end(vm, &stacks[i]);
    }
    qprof_vm_close(vm);
    play_end(*state);
    const qp_model *m = ((play_ctx *)*state)->m;
    assert_string_equal(list(m), "b 131, a 122");
    assert_string_equal(calls(m, 1, true), "a 0+122 .f 0+122 ..yield 1+101[101]");
    assert_string_equal(calls(m, 0, true), "b 0+131 .f 0+131 ..yield 1+120[120]");
    qp_kept_calls found;
    const qp_kept_request a = kept(m, 1);
    assert_true(qp_model_kept_calls(m, &a, &found));
    assert_int_equal(found.n_waits, 1);
    assert_int_equal(found.waits[0].begin, 1);
    assert_int_equal(found.waits[0].duration, 101);
    assert_false(found.waits[0].is_off);
    qp_kept_calls_fini(&found);
}

/* The events in line, with the processor's clock: the same steps. */
static void steps_in_line_are_the_same(void **state, bool with_tokens, const char *options)
{
    play_ctx *p = *state;
    enum { CALLS = 700 };
    static const char round_trip[] = " .f ..g ..g .f ..g ..g";
    static char wanted[8192];
    unlink("run.qprof");
    qprof_set_clock(NULL);
    play_begin(p, options);
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    uintptr_t f = play_method(p, "f"), g = play_method(p, "g"), id = 1000;
    qprof_token main = with_tokens
                           ? qprof_token_enter(th, QPROF_NO_TOKEN, play_method(p, "main"))
                           : QPROF_NO_TOKEN;
    if (!with_tokens)
        qprof_entry(th, play_method(p, "main"), id);
    qprof_request_begin_of(th, "a", NULL, NULL);
    for (int i = 0; i < CALLS; i++) {
        qprof_token t = QPROF_NO_TOKEN;
        if (with_tokens)
            t = qprof_token_enter(th, main, f);
        else
            qprof_entry(th, f, id + 1);
        for (int k = 0; k < 2; k++)
            if (with_tokens) {
                qprof_token_leave(th, qprof_token_enter(th, t, g));
            } else {
                qprof_entry(th, g, id + 2);
                qprof_exit(th, id + 1);
            }
        if (with_tokens)
            qprof_token_leave(th, t);
        else
            qprof_exit(th, id);
    }
    qprof_request_end_of(th, 0);
    if (with_tokens)
        qprof_token_leave(th, main);
    else
        qprof_exit(th, 0);
    play_end(p);
    assert_path(p, "main>a>f>g", 2 * CALLS, play_figures(p, QP_ALL_THREADS, "g").self);
    assert_int_equal(kept(p->m, 0).n_calls, 3 * CALLS);
    assert_int_equal(kept(p->m, 0).n_before + kept(p->m, 0).n_after, 0);
    strcpy(wanted, "a");
    for (size_t i = 0; i < 10; i++)
        strcat(wanted, round_trip);
    assert_memory_equal(calls(p->m, 0, false), wanted, strlen(wanted));
}

static void steps_of_tokens_in_line_are_the_same(void **state)
{
    steps_in_line_are_the_same(state, true, "-time=exact -slowest=1 -elapsed-source=monotonic");
    steps_in_line_are_the_same(state, true, "-time=exact -slowest=1");
}

static void steps_of_stack_ids_in_line_are_the_same(void **state)
{
    steps_in_line_are_the_same(state, false,
                               "-time=exact -slowest=1 -elapsed-source=monotonic");
    steps_in_line_are_the_same(state, false, "-time=exact -slowest=1");
}

/* ---- bounds -------------------------------------------------------------------------------- */

/* -memory-limit=1M: 16 KiB for what is kept, 32 parts; 8 KiB, or two chunks of 255 steps, for the steps of a
 * thread. A begin and 2,000 calls are 4,001 steps, of which the last chunk has 176 and the one before 255. */
static void a_long_request_loses_its_first_part(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1 -memory-limit=1M");
    begin("a");
    play(p, "f(");
    for (int i = 0; i < 2000; i++)
        play(p, "g( 1 )");
    play(p, ")");
    qprof_request_end(0);
    play_end(p);
    const qp_kept_request r = kept(p->m, 0);
    /* its begin, f, 4,000 steps of g, and the end of f */
    assert_int_equal(r.n_before, 4003 - 178 - 255);
    assert_int_equal(r.n_after, 0);
    assert_int_equal(r.elapsed_ns, 2000);
    assert_memory_equal(calls(p->m, 0, true), "a 0+2000 .f 1784+216 ..g", 24);
}

/* All of the calls that are open where the known part begins. */
static void open_calls_of_a_cut_begin_are_known(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1 -memory-limit=1M");
    begin("a");
    play(p, "f( g( h( f(");
    for (int i = 0; i < 1000; i++)
        play(p, "g( 1 )");
    play(p, ") ) ) )");
    qprof_request_end(0);
    play_end(p);
    /* a and its four calls, 2,000 steps of g, four ends: 2,009; the eighth chunk has 2009 - 7 * 255 */
    assert_int_equal(kept(p->m, 0).n_before, 6 * 255);
    static const char begun[] = "a .f ..g ...h ....f .....g .....g";
    assert_memory_equal(calls(p->m, 0, false), begun, strlen(begun));
}

/* Each takes a part, of 32. */
static void requests_without_room_are_counted(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1 -memory-limit=1M");
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d", i);
        request(p, name, 1 + i);
    }
    play_end(p);
    qp_kept_request *all;
    size_t n;
    assert_true(qp_model_kept_requests(p->m, &all, &n));
    qp_free(all);
    assert_int_equal(n, 32);
    assert_int_equal(play_file_diagnostic(p, "request_unkept"), 8);
}

/* Those of the second window take the place of the oldest ones. */
static void earlier_windows_give_way(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=1/1s -memory-limit=1M");
    for (int i = 0; i < 42; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d", i);
        if (i == 32)
            play_clock_add(1000000000);
        request(p, name, 100 + i);
    }
    play_end(p);
    qp_kept_request *all;
    size_t n;
    assert_true(qp_model_kept_requests(p->m, &all, &n));
    assert_int_equal(n, 32);
    for (size_t i = 0; i < n; i++) /* e41 to e10 */
        assert_int_equal(all[i].elapsed_ns, 141 - i);
    qp_free(all);
    assert_int_equal(play_file_diagnostic(p, "request_unkept"), 0);
}

/* ---- files --------------------------------------------------------------------------------- */

/* A clear forgets those that are over; the one that is open is kept with all of its calls. */
static void a_clear_forgets_what_was_kept(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=2");
    request(p, "a", 50);
    begin("a");
    play(p, "f( 7 )");
    play_peek(p);
    assert_string_equal(list(p->m), "a 50");
    qprof_clear_data();
    play(p, "g( 9 )");
    qprof_request_end(0);
    request(p, "a", 3);
    play_end(p);
    assert_string_equal(list(p->m), "a 16, a 3");
    assert_string_equal(calls(p->m, 0, true), "a 0+16 .f 0+7 .g 7+9");
}

static void a_stopped_recording_keeps_nothing(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=2");
    qprof_stop_recording();
    request(p, "a", 50);
    qprof_start_recording();
    begin("a");
    play(p, "f( 1 )");
    qprof_stop_recording();
    play(p, "g( 10 )");
    qprof_start_recording();
    play(p, "f( 2 )");
    qprof_request_end(0);
    play_end(p);
    assert_string_equal(list(p->m), "a 13");
    assert_int_equal(kept(p->m, 0).suspended_ns, 10);
}

static void a_killed_process_leaves_them(void **state)
{
    play_ctx *p = *state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        play_begin(p, "-time=exact -slowest=2");
        request(p, "a", 5);
        request(p, "a", 6);
        FILE *f = fopen("live", "w");
        fputs(qprof_live_file(), f);
        fclose(f);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    char path[512] = "";
    FILE *f = fopen("live", "r");
    assert_non_null(f);
    assert_non_null(fgets(path, sizeof path, f));
    fclose(f);
    play_read(p, path);
    assert_string_equal(list(p->m), "a 6, a 5");
    assert_string_equal(calls(p->m, 0, true), "a 0+6 .f 0+6");
    unlink(path);
}

static void a_forked_child_keeps_its_own(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -slowest=2 -follow-child-processes=yes");
    play(p, "main( 1");
    request(p, "a", 8);
    begin("a");
    play(p, "f( 2");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        play(p, "g( 1 ) )");
        qprof_request_end(0);
        request(p, "b", 4);
        request(p, "a", 3);
        FILE *f = fopen("child", "w");
        fputs(qprof_live_file(), f);
        fclose(f);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    play(p, ") 1");
    qprof_request_end(1);
    play_end(p);
    assert_string_equal(list(p->m), "a 8, a 3 failed");
    char path[512] = "";
    FILE *f = fopen("child", "r");
    assert_non_null(f);
    assert_non_null(fgets(path, sizeof path, f));
    fclose(f);
    play_read(p, path);
    assert_string_equal(list(p->m), "b 4, a 3");
    unlink(path);
}

static void parked_threads_and_later_ones_do_no_harm(void **state)
{
    static const char *const vts[] = {"a", "b", "c", "d"};
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact -thread-rows=2 -slowest=4");
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4; i++) {
            char score[40];
            snprintf(score, sizeof score, "@%s %s 1", vts[i], round ? "g( 1 )" : "f(");
            play(p, score);
            if (round == 0)
                qprof_request_begin_vt("e", NULL, NULL, play_vt(p, vts[i]));
            if (round == 2)
                qprof_request_end_vt(i == 3, play_vt(p, vts[i]));
            if (round == 2)
                play(p, "h( 1 ) )");
        }
    play(p, "@a f(");
    qprof_request_begin_vt("e", NULL, NULL, play_vt(p, "a"));
    play(p, "g( 5 )");
    qprof_request_end_vt(0, play_vt(p, "a"));
    play(p, ")");
    play_end(p);
    assert_path(p, "f>e>g", 9, 13);
    assert_string_equal(list(p->m), "e 5"); /* of the others the length is not known */
}

enum { THREADS = 4, ROUNDS = 500 };

static void *answer(void *unused)
{
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        qprof_request_begin_of(th, i % 2 ? "a" : "b", trace_a, span_a);
        for (int k = 0; k < i % 100; k++) {
            qprof_entry(th, 77, 10);
            qprof_exit(th, k ? 9 : 0);
        }
        qprof_request_end_of(th, 0);
    }
    return NULL;
}

/* Threads that end requests at the same time. */
static void threads_keep_their_requests(void **state)
{
    play_ctx *p = *state;
    pthread_t threads[THREADS];
    qprof_set_clock(NULL);
    play_begin(p, "-time=exact -slowest=3");
    qprof_register_method_id(77, "f", NULL, 0, "a.src", NULL, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, answer, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    play_end(p);
    qp_kept_request *all;
    size_t n;
    assert_true(qp_model_kept_requests(p->m, &all, &n));
    assert_true(n == 6 || play_file_diagnostic(p, "request_unkept"));
    for (size_t i = 0; i + 1 < n; i++)
        assert_true(all[i].elapsed_ns >= all[i + 1].elapsed_ns);
    for (size_t i = 0; i < n; i++) {
        assert_memory_equal(all[i].trace, trace_a, 16);
        assert_true(all[i].n_calls < 100);
    }
    qp_free(all);
}

/* ---- options ------------------------------------------------------------------------------- */

static void wrong_options_are_refused(void **state)
{
    static const char *const wrong[] = {"0",    "x",      "8/",     "8/60",  "8/0s", "/60s",
                                        "8/1d", "8/60sx", "8/60s/", "10001", "-1",   "8/ 60s"};
    static const char *const others[] = {"-time=none", "-time=sampled", "-clock=user",
                                         "-time-blocking-functions=user", "-collect=samples"};
    char options[200];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(options, sizeof options, "-output=run.qprof -log-file=none '-slowest=%s'",
                 wrong[i]);
        qprof_InitInfo info = {0, options, NULL, 0};
        assert_int_equal(qprof_initialize_ex(&info), QPROF_E_OPTION);
        assert_non_null(strstr(qprof_error_text(), "expected N or N/TIME"));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(options, sizeof options, "-output=run.qprof -log-file=none -slowest=1 %s",
                 others[i]);
        qprof_InitInfo info = {0, options, NULL, 0};
        assert_int_equal(qprof_initialize_ex(&info), QPROF_E_OPTION);
        assert_non_null(strstr(qprof_error_text(), "needs -time=exact"));
    }
}

static void all_units_of_time_are_known(void **state)
{
    static const char *const good[] = {"1/1s", "8/5m", "10000/10000h", "3"};
    play_ctx *p = *state;
    char options[100];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(options, sizeof options, "-slowest=%s -time=adaptive", good[i]);
        unlink("run.qprof");
        play_begin(p, options);
        request(p, "a", 4);
        play_end(p);
        assert_string_equal(list(p->m), "a 4");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(the_slowest_of_each_endpoint_are_kept),
        PLAY_TEST(one_of_each_endpoint_is_kept),
        PLAY_TEST(each_window_has_its_slowest),
        PLAY_TEST(failed_and_cut_requests_are_kept),
        PLAY_TEST(others_are_an_endpoint),
        PLAY_TEST(the_calls_of_a_request_are_in_their_order),
        PLAY_TEST(a_nested_request_has_its_part),
        PLAY_TEST(suspended_coroutines_wait),
        PLAY_TEST(steps_of_tokens_in_line_are_the_same),
        PLAY_TEST(steps_of_stack_ids_in_line_are_the_same),
        PLAY_TEST(a_long_request_loses_its_first_part),
        PLAY_TEST(open_calls_of_a_cut_begin_are_known),
        PLAY_TEST(requests_without_room_are_counted),
        PLAY_TEST(earlier_windows_give_way),
        PLAY_TEST(a_clear_forgets_what_was_kept),
        PLAY_TEST(a_stopped_recording_keeps_nothing),
        PLAY_TEST(a_killed_process_leaves_them),
        PLAY_TEST(a_forked_child_keeps_its_own),
        PLAY_TEST(parked_threads_and_later_ones_do_no_harm),
        PLAY_TEST(threads_keep_their_requests),
        PLAY_TEST(wrong_options_are_refused),
        PLAY_TEST(all_units_of_time_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
