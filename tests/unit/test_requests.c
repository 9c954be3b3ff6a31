/* test_requests.c: requests of endpoints: what is below them, and how many ended in which way. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/figures/figures.h"
#include "record/run/run.h"
#include "unit/files.h"
#include "unit/trg.h"
#include "unit/vm.h"

static const unsigned char trace_a[16] = {0xA0, 1, 2, 3}, span_a[8] = {0xA1},
                           trace_b[16] = {0xB0, 1, 2, 3}, span_b[8] = {0xB1};

static void begin(const char *endpoint)
{
    qprof_request_begin(endpoint, NULL, NULL);
}

/* The requests of an endpoint; zeros if it has none. */
static qp_endpoint endpoint_of(const qp_model *m, const char *name)
{
    qp_endpoint *all, found = {0};
    size_t n;
    assert_true(qp_model_endpoints(m, &all, &n));
    for (size_t i = 0; i < n; i++)
        if (strcmp(m->methods[all[i].method].name, name) == 0)
            found = all[i];
    qp_free(all);
    return found;
}

#define assert_requests(m, name, n, n_failed, n_cut)                                           \
    do {                                                                                       \
        qp_endpoint e_ = endpoint_of(m, name);                                                 \
        assert_int_equal(e_.requests, n);                                                      \
        assert_int_equal(e_.failed, n_failed);                                                 \
        assert_int_equal(e_.cut, n_cut);                                                       \
    } while (0)

/* ---- the tree ---------------------------------------------------------------------------- */

static void calls_in_a_request_are_below_its_endpoint(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    play(p, "main( 1");
    begin("GET /a");
    play(p, "10 f( 2 g( 4 ) ) f( 2 )");
    qprof_request_end(0);
    play(p, "f( 100 )");
    begin("GET /a");
    play(p, "f( 3 )");
    qprof_request_end(1);
    play(p, ")");
    play_end(p);
    assert_path(p, "main", 1, 1);
    assert_path(p, "main>GET /a", 2, 10);
    assert_path(p, "main>GET /a>f", 3, 7);
    assert_path(p, "main>GET /a>f>g", 1, 4);
    assert_path(p, "main>f", 1, 100);
    assert_requests(p->m, "GET /a", 2, 1, 0);
    qp_endpoint e = endpoint_of(p->m, "GET /a");
    assert_int_equal(e.timed, 2);
    assert_int_equal(e.elapsed_ns, 18 + 3);
    assert_int_equal(e.slowest_ns, 18);
}

/* With an empty stack, a request lasts until its end, whatever the host's loop calls. */
static void a_request_outside_of_calls_lasts_until_its_end(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    begin("a");
    play(p, "f( 1 g( 1 ) ) f( 1 $ f( 1 g( 1 $ f( 1 !");
    qprof_record_fn_exit(0);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    qprof_request_end(0);
    play(p, "f( 1 )");
    play_end(p);
    assert_path(p, "a>f", 4, 4);
    assert_path(p, "a>f>g", 2, 2);
    assert_path(p, "f", 1, 1);
    assert_requests(p->m, "a", 1, 0, 0);
}

static void requests_may_be_nested(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    begin("a");
    play(p, "f( 1");
    begin("b");
    begin("b");
    play(p, "g( 2");
    qprof_request_end(0); /* g( ends with it */
    play(p, "^f h( 4 )");
    qprof_request_end(1);
    play(p, "h( 8 )");
    qprof_request_end(0);
    play(p, "h( 16 )");
    play_end(p);
    assert_path(p, "a>f>b>b>g", 1, 2);
    assert_path(p, "a>f>b>h", 1, 4);
    assert_path(p, "a>f>h", 1, 8);
    assert_path(p, "h", 1, 16);
    assert_requests(p->m, "a", 1, 0, 0);
    assert_requests(p->m, "b", 2, 1, 0);
}

static void what_began_a_request_cuts_it(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    play(p, "main( f( 1");
    begin("returned");
    play(p, "g( 2 ) ) 1 f( f( 1");
    begin("unwound");
    play(p, "g( 1 ^main 1 h( 1 )");
    begin("outer");
    play(p, "f( 1");
    begin("inner");
    play(p, "1");
    qprof_request_end(0);
    qprof_request_end(0);
    qprof_request_end(0); /* none is open */
    begin("at the end");
    play(p, "f( 1");
    play_end(p);
    assert_path(p, "main", 1, 2);
    assert_path(p, "main>h", 1, 1);
    assert_requests(p->m, "returned", 1, 0, 1);
    assert_requests(p->m, "unwound", 1, 0, 1);
    assert_requests(p->m, "outer", 1, 0, 0);
    assert_requests(p->m, "inner", 1, 0, 0);
    assert_requests(p->m, "at the end", 1, 0, 1);
    assert_int_equal(play_file_diagnostic(p, "request_unbegun"), 1);
}

/* What the function that began a request executes itself are its own blocks. */
static void blocks(void **state, int with_token)
{
    static const qprof_LineInfo lines[] = {{0, 1}, {4, 2}, {8, 3}};
    play_ctx *p = play_start(state, "-time=exact");
    play_register(p, "main", 0, lines, 3);
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_token t = QPROF_NO_TOKEN;
    if (with_token)
        t = qprof_token_enter(th, QPROF_NO_TOKEN, play_method(p, "main"));
    else
        play(p, "main(");
    play(p, "#0*2");
    begin("a");
    begin("b");
    play(p, "#1*5");
    qprof_request_end(0);
    play(p, "#1*1");
    qprof_request_end(0);
    play(p, "#2*1");
    if (with_token)
        qprof_token_leave(th, t);
    else
        play(p, ")");
    play_end(p);
    assert_block(p, "main", 0, 2, 0, 0);
    assert_block(p, "main", 1, 6, 0, 0);
    assert_block(p, "main", 2, 1, 0, 0);
    assert_int_equal(play_file_diagnostic(p, "bb_out_of_range"), 0);
    assert_requests(p->m, "a", 1, 0, 0);
}

static void blocks_are_of_the_function_that_began_a_request(void **state)
{
    blocks(state, 0);
}

static void blocks_are_of_the_token_that_began_a_request(void **state)
{
    blocks(state, 1);
}

/* ---- tokens ------------------------------------------------------------------------------ */

/* A host keeps the token of the frame that begins a request, and calls with it. */
static void tokens(play_ctx *p, const char *options)
{
    qprof_vm *vm = first_vm(options);
    qprof_stack *s = &vm->main;
    qprof_MethodID f = define("f"), g = define("g");
    qprof_token main = qprof_enter(s, 0, define("main"));
    for (int i = 0; i < 3; i++) {
        qprof_request_begin_of(s->th, "a", i == 1 ? trace_a : NULL, i == 1 ? span_a : NULL);
        for (int k = 0; k < 2; k++) {
            qprof_token t = qprof_enter(s, main, f);
            qprof_token u = qprof_enter(s, t, g);
            play_clock_add(i == 1 ? 40 : 1);
            qprof_leave(s, u);
            qprof_leave(s, t);
        }
        if (i == 2) { /* an error is caught where the request began */
            qprof_enter(s, qprof_enter(s, main, f), g);
            qprof_unwind(s, main);
        }
        qprof_request_end_of(s->th, i == 2);
        qprof_leave(s, qprof_enter(s, main, g));
    }
    qprof_token t = qprof_enter(s, main, f);
    qprof_request_begin_of(s->th, "a", NULL, NULL);
    qprof_leave(s, qprof_enter(s, t, g));
    qprof_leave(s, t); /* cuts it */
    qprof_leave(s, qprof_enter(s, main, g));
    qprof_leave(s, main);
    qprof_vm_close(vm);
    play_end(p);
    assert_path(p, "main>a>f>g", 7, strstr(options, "time=exact") ? 84 : 0);
    assert_path(p, "main>a>f", 7, 0);
    assert_path(p, "main>f>a>g", 1, 0);
    assert_path(p, "main>g", 4, 0);
    assert_requests(p->m, "a", 4, 1, 1);
    qp_endpoint e = endpoint_of(p->m, "a");
    assert_int_equal(e.slowest_ns, 80);
    assert_true(e.has_trace);
    assert_memory_equal(e.trace, trace_a, 16);
    assert_memory_equal(e.span, span_a, 8);
}

static void a_token_resumes_in_the_requests_that_its_frame_began(void **state)
{
    static const char *const modes[] = {
        "-time=exact", "-time=none", "-time=exact -collect=profile,trace -trace-mode=overwrite",
        "-time=exact -max-route-depth=0 -check-host=yes"};
    char options[200];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        snprintf(options, sizeof options, "-output=run.qprof -log-file=none %s", modes[i]);
        tokens(*state, options);
        qp_model *m = ((play_ctx *)*state)->m;
        assert_int_equal(m->run.calls, 7 + 7 + 1 + 4 + 4 + 1 + 1);
    }
}

/* A host calls with 0, because no frame of its own is open. What is outside of the requests has time nowhere. */
static void requests_outside_of_all_calls_mount_their_stack(void **state)
{
    static const char *const modes[] = {"", "-check-host=yes", "-max-route-depth=0"};
    char options[200];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        snprintf(options, sizeof options, "-output=run.qprof -log-file=none -time=exact %s",
                 modes[i]);
        qprof_vm *vm = first_vm(options);
        qprof_stack *s = &vm->main;
        qprof_MethodID f = define("f"), g = define("g");
        for (int k = 0; k < 3; k++) {
            qprof_enter_request(s, "a", NULL);
            play_clock_add(1);
            qprof_token t = qprof_enter(s, 0, f);
            play_clock_add(10);
            qprof_enter_request(s, "b", NULL); /* in a call */
            qprof_leave(s, qprof_enter(s, t, g));
            qprof_leave_request(s, 1);
            assert_non_null(s->outside);
            qprof_leave(s, t);
            qprof_enter_request(s, "c", NULL); /* in a request alone */
            play_clock_add(4);
            qprof_leave_request(s, 0);
            assert_non_null(s->outside);
            play_clock_add(1);
            qprof_leave_request(s, k == 1);
            assert_null(s->outside);
            play_clock_add(1000);
            qprof_leave(s, qprof_enter(s, 0, g));
            assert_null(s->outside);
        }
        qprof_vm_close(vm);
        play_ctx *p = *state;
        play_end(p);
        assert_path(p, "a", 3, 6);
        assert_path(p, "a>f", 3, 30);
        assert_path(p, "a>f>b>g", 3, 0);
        assert_path(p, "a>c", 3, 12);
        assert_path(p, "g", 3, 0);
        assert_requests(p->m, "a", 3, 1, 0);
        assert_requests(p->m, "b", 3, 3, 0);
        assert_requests(p->m, "c", 3, 0, 0);
    }
}

static void a_traceparent_is_read_as_w3c_has_it(void **state)
{
    static const char good[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    static const unsigned char trace[16] = {0x0A, 0xF7, 0x65, 0x19, 0x16, 0xCD, 0x43, 0xDD,
                                            0x84, 0x48, 0xEB, 0x21, 0x1C, 0x80, 0x31, 0x9C},
                               span[8] = {0xB7, 0xAD, 0x6B, 0x71, 0x69, 0x20, 0x33, 0x31};
    static const struct {
        int at;
        const char *text;
    } wrong[] = {{0, "ff"}, {0, "0g"}, {2, "_"},  {3, "0A"}, {35, "_"},
                 {34, "x"}, {52, "_"}, {36, ":"}, {53, "g"}, {54, "G"}};
    unsigned char t[16], s[8];
    char text[80];
    (void)state;
    assert_true(qprof_read_traceparent(good, t, s));
    assert_memory_equal(t, trace, 16);
    assert_memory_equal(s, span, 8);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        strcpy(text, good);
        memcpy(text + wrong[i].at, wrong[i].text, strlen(wrong[i].text));
        assert_false(qprof_read_traceparent(text, t, s));
    }
    for (size_t n = 0; n < strlen(good); n++) {
        snprintf(text, sizeof text, "%.*s", (int)n, good);
        assert_false(qprof_read_traceparent(text, t, s));
    }
    assert_false(qprof_read_traceparent(NULL, t, s));
    snprintf(text, sizeof text, "%s-more", good); /* version 0 has nothing more */
    assert_false(qprof_read_traceparent(text, t, s));
    memcpy(text, "01", 2);
    assert_true(qprof_read_traceparent(text, t, s));
    text[55] = '.';
    assert_false(qprof_read_traceparent(text, t, s));
    text[55] = 0;
    memcpy(text + 53, "00", 2); /* no flag is set */
    assert_true(qprof_read_traceparent(text, t, s));
    memset(text + 3, '0', 32);
    assert_false(qprof_read_traceparent(text, t, s)); /* no trace */
    memcpy(text, good, 55);
    memset(text + 36, '0', 16);
    assert_false(qprof_read_traceparent(text, t, s)); /* no span */
}

/* Coroutines: a request stays with its stack, and what it creates is in its total. */
static void a_request_stays_with_its_coroutine(void **state)
{
    qprof_vm *vm = first_vm(exact);
    qprof_MethodID f = define("f");
    qprof_stack one, two;
    qprof_token main = qprof_enter(&vm->main, 0, define("main"));
    qprof_stack_create(&one, &vm->main);
    qprof_stack_create(&two, &vm->main);
    qprof_stack *const stacks[] = {&one, &two};
    qprof_token first[2];
    for (int i = 0; i < 2; i++) {
        qprof_stack *before = qprof_switch(vm, stacks[i]);
        first[i] = qprof_enter(stacks[i], qprof_top(stacks[i]), f);
        qprof_request_begin_of(stacks[i]->th, i ? "b" : "a", NULL, NULL);
        play_clock_add(1);
        qprof_switch(vm, before);
    }
    play_clock_add(100);
    for (int i = 0; i < 2; i++) {
        qprof_stack *before = qprof_switch(vm, stacks[i]);
        play_clock_add(i ? 10 : 20);
        if (!i) { /* a coroutine of the request */
            qprof_stack child;
            qprof_stack_create(&child, &one);
            qprof_switch(vm, &child);
            qprof_token t = qprof_enter(&child, qprof_top(&child), define("g"));
            play_clock_add(5);
            qprof_leave(&child, t);
            qprof_switch(vm, &one);
            qprof_stack_end(vm, &child);
        }
        qprof_request_end_of(stacks[i]->th, i);
        qprof_leave(stacks[i], first[i]);
        qprof_switch(vm, before);
        qprof_stack_end(vm, stacks[i]);
    }
    qprof_leave(&vm->main, main);
    qprof_vm_close(vm);
    play_end(*state);
    play_ctx *p = *state;
    assert_requests(p->m, "a", 1, 0, 0);
    assert_requests(p->m, "b", 1, 1, 0);
    assert_int_equal(endpoint_of(p->m, "a").slowest_ns, 1 + 1 + 100 + 20 + 5);
    assert_int_equal(endpoint_of(p->m, "b").slowest_ns, 1 + 100 + 25 + 10);
    assert_true(qp_model_join_threads(&p->m));
    assert_path(p, "main>f>a>g", 1, 5);
    assert_flat(p, "a", 1, 26, 21);
    assert_flat(p, "b", 1, 11, 11);
}

/* Virtual threads of QII, with few rows: those that wait are parked, and their requests with them. */
static void parked_threads_keep_their_requests(void **state)
{
    static const char *const vts[] = {"a", "b", "c", "d"};
    play_ctx *p = *state;
    play_begin_vt(p, "-time=exact -thread-rows=2");
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
    play_end(p);
    assert_path(p, "f>e>g", 8, 8);
    assert_path(p, "f>h", 4, 4);
    assert_requests(p->m, "e", 4, 1, 0);
}

/* ---- names ------------------------------------------------------------------------------- */

static void wrong_use_is_harmless_and_counted(void **state)
{
    play_ctx *p = *state;
    char *name = malloc(64 * 1024 + 1);
    assert_non_null(name);
    memset(name, 'x', 64 * 1024);
    name[64 * 1024] = '\0';
    qprof_request_begin("before the run", NULL, NULL);
    qprof_request_end(0);
    qprof_request_begin_of(NULL, "no handle", NULL, NULL);
    qprof_request_end_of(NULL, 0);
    play_begin(p, "-time=exact");
    qprof_request_begin_vt("wrong mode", NULL, NULL, 1);
    qprof_request_end(0);
    for (int i = 0; i < 2; i++) {
        begin(NULL);
        begin("");
        begin(name);
        begin("\x01\xFF\n<&\"");
        for (int k = 0; k < 4; k++)
            qprof_request_end(0);
    }
    play(p, "f( 1 )");
    play_end(p);
    free(name);
    assert_int_equal(play_file_diagnostic(p, "request_unbegun"), 1);
    assert_int_equal(play_file_diagnostic(p, "wrong_mode"), 1);
    assert_int_equal(play_file_diagnostic(p, "e_arg"), 4);
    assert_requests(p->m, "<other>", 4, 0, 0);
    assert_requests(p->m, "\x01\xFF\n<&\"", 2, 0, 0);
    qp_endpoint *all;
    size_t n;
    assert_true(qp_model_endpoints(p->m, &all, &n));
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_true(strlen(p->m->methods[all[i].method].name) < 256);
    qp_free(all);
}

static void more_endpoints_than_allowed_are_others(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -endpoints=3");
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d", i % 5);
        begin(name);
        qprof_request_end(i % 2);
    }
    play_end(p);
    assert_requests(p->m, "e0", 4, 2, 0);
    assert_requests(p->m, "e2", 4, 2, 0);
    assert_requests(p->m, "e3", 0, 0, 0);
    assert_requests(p->m, "<other>", 8, 4, 0);
    assert_int_equal(play_file_diagnostic(p, "endpoint_limit"), 8);
}

/* ---- files ------------------------------------------------------------------------------- */

/* A clear takes what is over; a request that is open counts where it ends, with all of its time. */
static void datasets_add_up(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    play(p, "main( 1");
    for (int i = 0; i < 3; i++) {
        begin("a");
        play(p, "f( 5 )");
        qprof_request_end(i == 0);
    }
    begin("a");
    play(p, "f( 7 )");
    play_peek(p);
    assert_requests(p->m, "a", 3, 1, 0);
    assert_int_equal(endpoint_of(p->m, "a").open, 1);
    qprof_clear_data();
    play(p, "f( 9 )");
    qprof_request_end(1);
    begin("a");
    play_end(p);
    assert_requests(p->m, "a", 2, 1, 1);
    assert_int_equal(endpoint_of(p->m, "a").slowest_ns, 16);
}

static void a_stopped_recording_counts_no_requests(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    begin("a");
    qprof_stop_recording();
    qprof_request_end(0);
    begin("a");
    qprof_start_recording();
    qprof_request_end(0);
    begin("a");
    qprof_request_end(0);
    play_end(p);
    assert_requests(p->m, "a", 2, 0, 0);
}

static void sums_are_the_same_in_any_order(void **state)
{
    play_ctx *p = *state;
    qp_model *runs[2];
    for (int i = 0; i < 2; i++) {
        unlink("run.qprof");
        play_begin(p, "-time=exact");
        play(p, "main( 1");
        qprof_request_begin("a", i ? trace_b : trace_a, i ? span_b : span_a);
        play(p, i ? "f( 30 )" : "f( 20 )");
        qprof_request_end(i);
        begin(i ? "b" : "c");
        play(p, ")");
        play_end(p);
        runs[i] = p->m;
        p->m = NULL;
    }
    for (int order = 0; order < 2; order++) {
        qp_merge *s = qp_merge_new();
        sum_add(s, runs[order != 0], "first");
        sum_add(s, runs[order == 0], "second");
        qp_model *m = sum_finish(s, "sum.qprof");
        assert_requests(m, "a", 2, 1, 0);
        assert_requests(m, "b", 1, 0, 1);
        assert_requests(m, "c", 1, 0, 1);
        qp_endpoint e = endpoint_of(m, "a");
        assert_int_equal(e.elapsed_ns, 50);
        assert_int_equal(e.slowest_ns, 30);
        assert_memory_equal(e.trace, trace_b, 16);
        qp_model_free(m);
        unlink("sum.qprof");
    }
    qp_model_free(runs[0]);
    qp_model_free(runs[1]);
}

/* A process that is killed: what was open is cut. */
static void a_killed_process_leaves_its_requests(void **state)
{
    play_ctx *p = *state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        play_begin(p, "-time=exact");
        play(p, "main( 1");
        for (int i = 0; i < 5; i++) {
            begin("a");
            play(p, "f( 1 )");
            qprof_request_end(i == 4);
        }
        begin("a");
        play(p, "f( 1");
        FILE *f = fopen("live", "w");
        fputs(qprof_live_file(), f);
        fclose(f);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    char path[512] = "";
    FILE *f = fopen("live", "r");
    assert_non_null(f);
    assert_non_null(fgets(path, sizeof path, f));
    fclose(f);
    play_read(p, path);
    assert_requests(p->m, "a", 6, 1, 1);
    unlink(path);
}

/* A forked child has its own: what was open in the parent is the parent's. */
static void a_forked_child_counts_its_own(void **state)
{
    play_ctx *p = play_start(state, "-time=exact -follow-child-processes=yes");
    play(p, "main( 1");
    begin("a");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        qprof_request_end(0);
        for (int i = 0; i < 3; i++) {
            begin("b");
            play(p, "f( 1 )");
            qprof_request_end(i == 2);
        }
        begin("a");
        qprof_request_end(0);
        FILE *f = fopen("child", "w");
        fputs(qprof_live_file(), f);
        fclose(f);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    qprof_request_end(1);
    play_end(p);
    assert_requests(p->m, "a", 1, 1, 0);
    assert_requests(p->m, "b", 0, 0, 0);
    char path[512] = "";
    FILE *f = fopen("child", "r");
    assert_non_null(f);
    assert_non_null(fgets(path, sizeof path, f));
    fclose(f);
    play_read(p, path);
    assert_requests(p->m, "a", 1, 0, 0);
    assert_requests(p->m, "b", 3, 1, 0);
    unlink(path);
}

/* ---- frames ------------------------------------------------------------------------------ */

/* The endpoint's frame has the stack id of its caller: an exit to it, also one in line, means that the host is in the
 * function that began the request. */
static void an_exit_in_line_to_the_caller_ends_no_request(void **state)
{
    play_ctx *p = play_start(state, "-time=none");
    qprof_MethodID main_id = play_method(p, "main"), f = play_method(p, "f");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_entry(th, main_id, 1);
    begin("a");
    qprof_exit(th, 1); /* an error was caught in main, which was on top */
    qprof_entry(th, f, 2);
    qprof_exit(th, 1);
    qprof_exit(th, 1);
    qprof_request_end(0);
    qprof_exit(th, 0);
    assert_int_equal(qprof_diagnostic("request_unbegun"), 0);
    play_end(p);
    assert_path(p, "main>a>f", 1, 0);
    assert_requests(p->m, "a", 1, 0, 0);
}

/* The outermost one has no caller: exits of the whole stack do not end it. */
static void an_exit_in_line_of_all_frames_ends_no_request(void **state)
{
    play_ctx *p = play_start(state, "-time=none");
    qprof_MethodID f = play_method(p, "f");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    begin("a");
    for (int i = 0; i < 2; i++) {
        qprof_entry(th, f, 2);
        qprof_exit(th, 0);
        qprof_exit(th, 0);
    }
    qprof_request_end(0);
    assert_int_equal(qprof_diagnostic("request_unbegun"), 0);
    play_end(p);
    assert_path(p, "a>f", 2, 0);
    assert_requests(p->m, "a", 1, 0, 0);
}

/* The host counts its own calls, not the requests among them. */
static void the_depth_that_the_host_states_is_without_requests(void **state)
{
    for (int with_tokens = 0; with_tokens < 2; with_tokens++) {
        unlink("run.qprof");
        play_ctx *p = play_start(state, "-time=none");
        qprof_MethodID f = play_method(p, "f");
        qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
        const qp_finding *wrong = &qp_recorder_head()->findings[QP_HOST_wrong_depth];
        qprof_token t = with_tokens ? qprof_token_enter(th, QPROF_NO_TOKEN, f) : 0;
        if (!with_tokens)
            qprof_entry(th, f, 1);
        begin("a");
        begin("b");
        t = with_tokens ? qprof_token_enter(th, qprof_token_top(th), f) : t;
        if (!with_tokens)
            qprof_entry(th, f, 2);
        begin("c");
        qprof_check_depth(2);
        qprof_check_depth_of(th, 2);
        assert_int_equal(wrong->count, 0);
        qprof_check_depth(5);
        qprof_check_depth_of(th, 6);
        assert_int_equal(wrong->count, 2); /* with what was found first */
        assert_int_equal(wrong->wanted, 5);
        assert_int_equal(wrong->found, 2);
        play_end(p);
        p->n_methods = 0;
    }
}

/* What a request ends, it ends at once: triggers on changes of a status need no further event. */
static void the_end_of_a_request_is_followed_by_its_events(void **state)
{
    play_ctx *p = play_start(state, "");
    assert_int_equal(qprof_config_line("trigger quiet off : quiet"), 0);
    qprof_TrgID status = trg_must((trg){.event = QPROF_EV_STATUS});
    assert_int_equal(qprof_trg_on(), 0);
    play(p, "main(");
    begin("a");
    play(p, "quiet(");
    assert_hits(status, 1);
    qprof_request_end(0); /* and what it has called */
    assert_hits(status, 2);
}

/* ---- threads ----------------------------------------------------------------------------- */

enum { VT = 5 };

static void *enter_elsewhere(void *method)
{
    qprof_record_fn_entry_vt((uintptr_t)method, 20, VT);
    qprof_record_fn_exit_vt(10, VT);
    return NULL;
}

static void *end_elsewhere(void *unused)
{
    (void)unused;
    qprof_request_end_vt(0, VT);
    return NULL;
}

static void do_elsewhere(void *(*what)(void *), uintptr_t argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, what, (void *)argument), 0);
    pthread_join(thread, NULL);
}

/* A virtual thread is not held by the OS thread that began or ended its last request. */
static void another_os_thread_may_go_on_with_a_request(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-time=none");
    uintptr_t f = play_method(p, "f");
    qprof_record_fn_entry_vt(play_method(p, "main"), 10, VT);
    qprof_request_begin_vt("a", NULL, NULL, VT);
    do_elsewhere(enter_elsewhere, f);
    do_elsewhere(end_elsewhere, 0);
    qprof_request_begin_vt("b", NULL, NULL, VT);
    qprof_request_end_vt(1, VT);
    do_elsewhere(enter_elsewhere, f);
    qprof_request_begin_vt("c", NULL, NULL, VT);
    begin("d"); /* of the virtual thread that was named last */
    do_elsewhere(enter_elsewhere, f);
    qprof_request_begin_vt("e", NULL, NULL, VT);
    qprof_request_end(0);
    do_elsewhere(enter_elsewhere, f);
    assert_int_equal(qprof_diagnostic("vt_conflict"), 0);
    play_end(p);
    assert_path(p, "main>a>f", 1, 0);
    assert_path(p, "main>f", 1, 0);
    assert_path(p, "main>c>d>f", 2, 0);
    assert_requests(p->m, "a", 1, 0, 0);
    assert_requests(p->m, "b", 1, 1, 0);
    assert_requests(p->m, "d", 1, 0, 1);
    assert_requests(p->m, "e", 1, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(calls_in_a_request_are_below_its_endpoint),
        PLAY_TEST(a_request_outside_of_calls_lasts_until_its_end),
        PLAY_TEST(requests_may_be_nested),
        PLAY_TEST(what_began_a_request_cuts_it),
        PLAY_TEST(blocks_are_of_the_function_that_began_a_request),
        PLAY_TEST(blocks_are_of_the_token_that_began_a_request),
        PLAY_TEST(a_token_resumes_in_the_requests_that_its_frame_began),
        PLAY_TEST(requests_outside_of_all_calls_mount_their_stack),
        cmocka_unit_test(a_traceparent_is_read_as_w3c_has_it),
        PLAY_TEST(a_request_stays_with_its_coroutine),
        PLAY_TEST(parked_threads_keep_their_requests),
        PLAY_TEST(wrong_use_is_harmless_and_counted),
        PLAY_TEST(more_endpoints_than_allowed_are_others),
        PLAY_TEST(datasets_add_up),
        PLAY_TEST(a_stopped_recording_counts_no_requests),
        PLAY_TEST(sums_are_the_same_in_any_order),
        PLAY_TEST(a_killed_process_leaves_its_requests),
        PLAY_TEST(a_forked_child_counts_its_own),
        PLAY_TEST(an_exit_in_line_to_the_caller_ends_no_request),
        PLAY_TEST(an_exit_in_line_of_all_frames_ends_no_request),
        PLAY_TEST(the_depth_that_the_host_states_is_without_requests),
        PLAY_TEST(the_end_of_a_request_is_followed_by_its_events),
        PLAY_TEST(another_os_thread_may_go_on_with_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
