/* test_sums.c: statistics, profile, flow and slowest calls of a trace, against hand-worked
 * values and a naive oracle that keeps every call. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/calls/calls.h"
#include "unit/tracks.h"

static const char *const file = "sums.qtrace";

static qp_trace *open_track(track *t, const char *events, uint64_t end)
{
    qp_error error;
    const track *const tracks[] = {t};
    track_init(t, 0);
    track_play(t, events);
    track_write(tracks, 1, file, 100, end, NULL);
    qp_trace *trace = qp_trace_open(file, &error);
    if (!trace)
        fail_msg("%s", error.text);
    return trace;
}

static const qp_call_stat *row_named(const qp_stats *s, const qp_names *names, const char *name)
{
    for (size_t i = 0; i < s->rows.n; i++) {
        const qp_call_stat *r = (const qp_call_stat *)s->rows.items + i;
        if (strcmp(qp_names_method_at(names, r->method)->name, name) == 0)
            return r;
    }
    fail_msg("no row %s", name);
    return NULL;
}

/* ---- statistics -------------------------------------------------------------------------- */

static void statistics_of_a_recursive_call_are_right(void **state) /* trace 26 */
{
    static track t;
    qp_stats s;
    qp_spans x;
    (void)state;
    /* f 10 with an f of 3 in it, then f 4: total 14, net 7 + 3 + 4 */
    qp_trace *trace = open_track(&t, "@1 f( 5 f( 3 ) 2 ) f( 4 ) g( 1 f( 6", 40);
    qp_stats_init(&s, false);
    const qp_span_sink sink = qp_stats_sink(&s);
    qp_trace_spans(trace, &x, &sink);
    assert_true(qp_trace_play(trace, &x, NULL, NULL));
    const qp_call_stat *f = row_named(&s, qp_trace_names(trace), "f");
    assert_int_equal(f->calls, 4);
    assert_int_equal(f->n_complete, 3);
    assert_int_equal(f->n_incomplete, 1);
    assert_int_equal(f->total, 10 + 4 + 25); /* the last one from 15 to the end at 40 */
    assert_int_equal(f->self, 7 + 3 + 4 + 25);
    assert_int_equal(f->min, 3);
    assert_int_equal(f->max, 10);
    assert_int_equal(qp_call_stat_average(f), 5); /* (10 + 3 + 4) / 3 */
    assert_int_equal(qp_call_stat_quantile(f, 0.5), 4);
    assert_int_equal(qp_call_stat_quantile(f, 1), 10);
    const qp_call_stat *g = row_named(&s, qp_trace_names(trace), "g");
    assert_int_equal(g->n_complete, 0);
    assert_int_equal(g->self, 1);
    qp_spans_fini(&x);
    qp_stats_fini(&s);
    qp_trace_close(trace);
    track_fini(&t);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void percentiles_are_known_to_a_32nd(void **state)
{
    enum { N = 20000 };
    static uint64_t values[N];
    qp_histogram h = {0};
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = seed >> (20 + (seed & 31)); /* of very different sizes */
        assert_true(qp_histogram_add(&h, values[i]));
    }
    qsort(values, N, sizeof *values, compare);
    for (unsigned percent = 1; percent <= 100; percent++) {
        uint64_t exact = values[N * percent / 100 - 1],
                 found = qp_histogram_quantile(&h, N, percent / 100.0);
        uint64_t apart = found > exact ? found - exact : exact - found;
        assert_true(apart <= exact / 16 + 1);
    }
    free(h.counts);
}

/* ---- the naive oracle -------------------------------------------------------------------- */

enum { CALLS = 4000, METHODS = 3, DEPTH = 8 };

typedef struct {
    char path[64]; /* letters of the methods, outermost first */
    uint64_t begin, end;
    int parent; /* call */
} naive_call;

static naive_call calls[CALLS];
static int n_calls;

/* Events as text, and the same calls kept one by one. @return ticks at the end, all calls
 * ended */
static uint64_t make_random(char *events, size_t room, uint64_t seed)
{
    int open[DEPTH], depth = 0;
    uint64_t now = 0;
    size_t n = (size_t)snprintf(events, room, "@1");
    n_calls = 0;
    while (n + 200 < room) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned pick = (unsigned)(seed >> 33) % 100, ticks = (unsigned)(seed >> 45) % 50;
        if (pick < 50 && depth < DEPTH && n_calls < CALLS) {
            naive_call *c = &calls[n_calls];
            char method = (char)('a' + (seed >> 25) % METHODS);
            size_t deep = depth ? strlen(calls[open[depth - 1]].path) : 0;
            memset(c->path, 0, sizeof c->path);
            memcpy(c->path, depth ? calls[open[depth - 1]].path : "", deep);
            c->path[deep] = method;
            c->parent = depth ? open[depth - 1] : -1;
            c->begin = now;
            open[depth++] = n_calls++;
            n += (size_t)snprintf(events + n, room - n, " %c(", method);
        } else if (pick < 90 && depth) {
            calls[open[--depth]].end = now;
            n += (size_t)snprintf(events + n, room - n, " )");
        } else if (pick < 93 && depth > 1) {
            calls[open[--depth]].end = now;
            calls[open[--depth]].end = now;
            n += (size_t)snprintf(events + n, room - n, " !2");
        } else {
            now += ticks;
            n += (size_t)snprintf(events + n, room - n, " %u", ticks);
        }
    }
    while (depth) {
        calls[open[--depth]].end = now;
        n += (size_t)snprintf(events + n, room - n, " )");
    }
    return now;
}

static uint64_t total_of(int call)
{
    return calls[call].end - calls[call].begin;
}

static uint64_t self_of(int call)
{
    uint64_t self = total_of(call);
    for (int i = 0; i < n_calls; i++)
        self -= calls[i].parent == call ? total_of(i) : 0;
    return self;
}

static void check_stats(qp_trace *trace)
{
    qp_stats s;
    qp_spans x;
    qp_stats_init(&s, false);
    const qp_span_sink sink = qp_stats_sink(&s);
    qp_trace_spans(trace, &x, &sink);
    assert_true(qp_trace_play(trace, &x, NULL, NULL));
    for (char method = 'a'; method < 'a' + METHODS; method++) {
        const char name[2] = {method, 0};
        uint64_t n = 0, total = 0, self = 0, min = UINT64_MAX, max = 0;
        for (int i = 0; i < n_calls; i++) {
            const char *path = calls[i].path, *first = strchr(path, method);
            if (path[strlen(path) - 1] != method)
                continue;
            n++;
            total += first[1] ? 0 : total_of(i);
            self += self_of(i);
            min = total_of(i) < min ? total_of(i) : min;
            max = total_of(i) > max ? total_of(i) : max;
        }
        if (!n)
            continue;
        const qp_call_stat *r = row_named(&s, qp_trace_names(trace), name);
        assert_int_equal(r->calls, n);
        assert_int_equal(r->total, total);
        assert_int_equal(r->self, self);
        assert_int_equal(r->min, min);
        assert_int_equal(r->max, max);
    }
    qp_spans_fini(&x);
    qp_stats_fini(&s);
}

static void node_path(const qp_model *m, uint32_t node, char *to)
{
    char letters[DEPTH + 2];
    int n = 0;
    for (; m->nodes[node].method; node = m->nodes[node].parent)
        letters[n++] = m->methods[m->nodes[node].method].name[0];
    for (; n > 0; n--)
        *to++ = letters[n - 1];
    *to = '\0';
}

static void check_profile(const char *path)
{
    qp_error error;
    char name[64];
    qp_model *m;
    uint64_t n_seen = 0;
    assert_int_equal(qp_model_load(path, NULL, &m, &error), QP_LOAD_CLEAN);
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        uint64_t n = 0, self = 0, total = 0, min = UINT64_MAX, max = 0;
        if (m->nodes[i].method == QP_ROOT_METHOD)
            continue;
        node_path(m, i, name);
        for (int k = 0; k < n_calls; k++) {
            if (strcmp(calls[k].path, name) != 0)
                continue;
            n++;
            self += self_of(k);
            total += total_of(k);
            min = self_of(k) < min ? self_of(k) : min;
            max = self_of(k) > max ? self_of(k) : max;
        }
        assert_int_equal(m->nodes[i].f.calls, n);
        assert_int_equal(m->nodes[i].f.self, self);
        assert_int_equal(m->nodes[i].f.total, total);
        assert_int_equal(m->nodes[i].f.min, min);
        assert_int_equal(m->nodes[i].f.max, max);
        n_seen += n;
    }
    assert_int_equal(n_seen, n_calls);
    qp_model_free(m);
}

static void sums_are_those_of_a_naive_oracle(void **state)
{
    static track t;
    char events[4000];
    qp_error error;
    qp_span_counts counts;
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        uint64_t end = make_random(events, sizeof events, seed);
        qp_trace *trace = open_track(&t, events, end);
        check_stats(trace);
        qp_trace_close(trace);
        trace = qp_trace_open(file, &error);
        remove("sums.qprof");
        assert_true(qp_trace_profile(trace, NULL, "sums.qprof", NULL, &counts, &error));
        assert_int_equal(counts.n_calls, n_calls);
        qp_trace_close(trace);
        check_profile("sums.qprof");
        track_fini(&t);
    }
}

/* ---- flow -------------------------------------------------------------------------------- */

static char lines[4096];

static void take_line(void *to, const qp_span_thread *th, const qp_flow_line *l)
{
    const qp_names *names = to;
    size_t n = strlen(lines);
    (void)th;
    snprintf(lines + n, sizeof lines - n, "%s%*s%s", n ? "|" : "", (int)l->depth, "",
             qp_names_method_at(names, l->method)->name);
    n = strlen(lines);
    if (l->kind == QP_FLOW_BEGIN)
        snprintf(lines + n, sizeof lines - n, "{");
    else
        snprintf(lines + n, sizeof lines - n, "%s*%" PRIu64 "=%" PRIu64,
                 l->kind == QP_FLOW_END ? "}" : "", l->n, l->total);
}

static void check_flow(const char *events, const char *expected)
{
    static track t;
    qp_spans x;
    qp_trace *trace = open_track(&t, events, 0);
    qp_flow flow = {.to = qp_trace_names(trace), .line = take_line};
    const qp_span_sink sink = qp_flow_sink(&flow);
    lines[0] = '\0';
    qp_trace_spans(trace, &x, &sink);
    assert_true(qp_trace_play(trace, &x, NULL, NULL));
    qp_flow_end(&flow, &x);
    assert_false(flow.failed);
    assert_string_equal(lines, expected);
    qp_spans_fini(&x);
    qp_trace_close(trace);
    track_fini(&t);
}

static void repeats_of_one_shape_are_one_line(void **state) /* trace 28 */
{
    (void)state;
    check_flow("@1 m( a( 1 ) a( 2 ) b( 4 ) a( 8 ) )", "m*1=15| a*2=3| b*1=4| a*1=8");
    /* loops of another length are the same shape */
    check_flow("@1 m( f( g( 1 ) g( 1 ) ) f( g( 1 ) ) )", "m*1=3| f*2=3|  g*3=3");
    check_flow("@1 m( f( g( 1 ) ) f( h( 1 ) ) f( h( 1 ) ) )",
               "m*1=3| f*1=1|  g*1=1| f*2=2|  h*2=2");
}

static void a_call_with_too_much_in_it_has_two_lines_and_memory_is_bounded(void **state)
{
    enum { N = 6000 };
    static track t;
    qp_spans x;
    qp_names names;
    (void)state;
    assert_true(qp_names_init(&names, NULL));
    track_init(&t, 0);
    track_play(&t, "@1 main(");
    for (int i = 0; i < N; i++)
        track_play(&t, i % 2 ? "a( 1 )" : "b( 1 )");
    track_play(&t, ")");
    track_name(&t, &names);
    qp_flow flow = {.to = &names, .line = take_line};
    const qp_span_sink sink = qp_flow_sink(&flow);
    lines[0] = '\0';
    qp_spans_init(&x, &names, &sink);
    qp_spans_put(&x, 0, t.records, t.n);
    qp_spans_end(&x, 0);
    qp_flow_end(&flow, &x);
    assert_int_equal(strncmp(lines, "main{| b*1=1| a*1=1| b*1=1", 26), 0);
    qp_spans_fini(&x);
    qp_names_fini(&names);
    track_fini(&t);
}

/* ---- slow -------------------------------------------------------------------------------- */

static bool is_f(void *to, uint32_t method)
{
    return strcmp(qp_names_method_at(to, method)->name, "f") == 0;
}

static void the_slowest_calls_have_their_own_trees(void **state)
{
    static track t;
    qp_spans x;
    qp_slow s;
    (void)state;
    qp_trace *trace =
        open_track(&t, "@1 f( 1 ) f( 2 g( 3 h( 4 ) ) g( 5 ) f( 1 ) ) m( f( 9 ) ) f( 3 )", 0);
    assert_true(qp_slow_init(&s, 2));
    s.is_wanted = is_f;
    s.to = qp_trace_names(trace);
    const qp_span_sink sink = qp_slow_sink(&s);
    qp_trace_spans(trace, &x, &sink);
    assert_true(qp_trace_play(trace, &x, NULL, NULL));
    assert_int_equal(s.n_seen, 4);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.calls[0]->total, 15);
    assert_int_equal(s.calls[0]->self, 2);
    assert_int_equal(s.calls[0]->raw, 1);
    assert_int_equal(s.calls[1]->total, 9);
    const qp_calltree *tree = &s.calls[0]->tree;
    const qp_calltree_node *g = qp_calltree_at(tree, qp_calltree_at(tree, 1)->first_child);
    assert_int_equal(g->calls, 2);
    assert_int_equal(g->total, 12);
    assert_int_equal(g->self, 8);
    assert_int_equal(qp_calltree_at(tree, g->first_child)->total, 4);
    assert_int_equal(qp_calltree_at(tree, g->next)->total, 1); /* the f inside */
    qp_slow_fini(&s, &x);
    qp_spans_fini(&x);
    qp_trace_close(trace);
    track_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_of_a_recursive_call_are_right),
        cmocka_unit_test(percentiles_are_known_to_a_32nd),
        cmocka_unit_test(sums_are_those_of_a_naive_oracle),
        cmocka_unit_test(repeats_of_one_shape_are_one_line),
        cmocka_unit_test(a_call_with_too_much_in_it_has_two_lines_and_memory_is_bounded),
        cmocka_unit_test(the_slowest_calls_have_their_own_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
