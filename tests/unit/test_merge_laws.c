/* test_merge_laws.c: sums of random profiles are the same in whatever order and groups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "format/layout.h"
#include "model/cover/cover.h"
#include "unit/files.h"

enum { LINE_BYTES = 512, LINES_MAX = 4096 };

static const qp_line three_blocks[] = {{0, 15}, {7, 16}, {12, 15}};
static const qp_jump ways[] = {{0, 2}, {1, 0}};
static const unsigned char falls[] = {1, 0, 0};

/* ---- random profiles --------------------------------------------------------------------- */

static uint64_t dice;

static uint32_t roll(uint32_t n)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice >> 33) % n;
}

/* A run counts the jumps of a method everywhere, or its blocks: another run may do
 * otherwise. */
static uint32_t counts_blocks; /* bits by the method's id */

static bool is_by_jumps(profile *p, qp_cell method)
{
    const qp_method *m = profile_at(p, method);
    return m->jumps && !(counts_blocks >> m->id & 1);
}

static qp_node *node_at(profile *p, qp_cell cell)
{
    return profile_at(p, cell);
}

static qp_cell random_method(profile *p, uint64_t id)
{
    char name[8];
    snprintf(name, sizeof name, "f%u", roll(4));
    qp_cell cell = profile_method(p, id, name, roll(2) ? "K" : NULL, roll(2) ? "a.lua" : NULL);
    qp_method *m = profile_at(p, cell);
    m->lines = profile_lines(p, three_blocks, 3);
    m->jumps = roll(2) ? profile_jumps(p, ways, 2, falls, 3) : 0;
    return cell;
}

static qp_cell last_node; /* some path of the profile, perhaps that of the thread's creator */

static void random_node(profile *p, qp_cell th, qp_cell parent, qp_cell method, uint64_t *calls)
{
    uint64_t n_calls = roll(3), self = n_calls ? roll(1000) : 0;
    qp_cell cell = profile_node(p, th, parent, method, n_calls, self);
    qp_node *n = node_at(p, cell);
    uint32_t mode = profile_head(p)->time_mode;
    if (mode == QP_TIME_EXACT && n_calls) {
        n->self_min = self / n_calls;
        n->self_max = self - n->self_min * (n_calls - 1);
    } else if (mode == QP_TIME_SAMPLED) {
        n->self_max = roll(50);
    } else if (mode == QP_TIME_ADAPTIVE) {
        n->n_calls = n_calls += 62;
        n->self_min = roll(100);
        n->self_max = (uint64_t)roll(1000000) << 8 | roll(4);
    }
    *calls += n_calls;
    last_node = roll(2) ? cell : last_node;
    if (roll(3) == 0) {
        qp_node_more *more = profile_more(p, th, cell);
        more->n_skips = roll(5);
        more->counts = roll(5);
        more->samples = profile_head(p)->pc_period ? roll(5) : 0;
        *calls += more->n_skips;
        if (profile_head(p)->flags & QP_FLAG_WAITS && self)
            profile_metrics(p, th, more)->off = roll((uint32_t)self);
    }
    for (unsigned i = 0; i < 2; i++)
        if (roll(5) < 2)
            random_node(p, th, cell, method, calls);
}

static void random_banks(profile *p, qp_cell th, qp_cell method)
{
    uint32_t n = is_by_jumps(p, method) ? 2 : 3;
    uint64_t *counters = profile_bank(p, th, method, QP_COUNTER_BLOCK_COUNTS, n, 3)->values;
    for (uint32_t k = 0; k < n; k++)
        counters[k] = roll(9);
    uint64_t *times = profile_bank(p, th, method, QP_COUNTER_BLOCK_TIMES, 7, 3)->values;
    for (uint32_t k = 0; k < 6; k++)
        times[k] = 0;
    times[6] = roll(8);
}

static void random_contexts(profile *p, qp_cell method)
{
    qp_cell cells[3];
    for (unsigned i = 0; i < 3; i++) {
        char name[8] = "";
        if (i)
            snprintf(name, sizeof name, "t%u", roll(2) + 2 * i);
        cells[i] = profile_context(p, i ? name : NULL);
    }
    uint32_t n = is_by_jumps(p, method) ? 2 : 3;
    qp_counter_block *b = profile_share(p, cells[roll(3)], method, roll(3), n, 3);
    for (unsigned k = 0; k < n; k++)
        b->values[k] = (uint64_t)0 - roll(2) + roll(4);
    profile_head(p)->context = cells[roll(3)];
}

static profile *random_profile(qp_time_mode mode)
{
    profile *p = profile_new();
    qp_head *h = profile_head(p);
    qp_cell methods[4];
    h->time_mode = mode;
    h->flags |= roll(4) ? QP_FLAG_WAITS : 0;
    h->clock_source = roll(2) ? QP_SOURCE_TSC : QP_SOURCE_NS;
    h->tick_1 = h->clock_source == QP_SOURCE_TSC ? 1000 + roll(1000) : 0;
    h->ns_1 = h->tick_1 ? 1000 : 0;
    h->started_at = 1 + roll(100);
    h->ended_at = h->started_at + roll(100);
    h->cost_entry = roll(5000);
    h->cost_inside = roll(5000);
    h->n_passes = roll(10);
    h->sample_ns = roll(10000);
    h->diagnostics[roll(QP_D_COUNT)] = roll(5);
    h->program = profile_text(p, roll(2) ? "one" : "two");
    if (roll(2)) { /* those that have a PC command have the same */
        h->collect = QP_COLLECT_PROFILE | QP_COLLECT_SAMPLES;
        h->pc_kind = QP_PC_VIRTUAL;
        h->pc_period = 1000000;
        h->pc_pattern = profile_text(p, "a.f0->*");
        h->n_critical = roll(3);
    }
    counts_blocks = roll(32) & roll(32);
    for (unsigned i = 0; i < 4; i++)
        methods[i] = random_method(p, i + 1);
    for (unsigned t = 0, n = 1 + roll(3); t < n; t++) {
        char name[8];
        uint64_t calls = 0;
        qp_cell th = profile_thread(p);
        snprintf(name, sizeof name, "t%u", roll(3));
        ((qp_thread_record *)profile_at(p, th))->name = roll(2) ? profile_text(p, name) : 0;
        ((qp_thread_record *)profile_at(p, th))->creator = t && roll(3) ? last_node : 0;
        for (unsigned i = 0; i < 3; i++)
            random_node(p, th, 0, methods[roll(4)], &calls);
        random_banks(p, th, methods[roll(4)]);
        profile_balance(p, th, calls, 0);
    }
    if (roll(2))
        random_contexts(p, methods[roll(4)]);
    return p;
}

/* ---- a model as lines that do not depend on any order ------------------------------------ */

typedef struct {
    char text[LINES_MAX][LINE_BYTES];
    size_t n;
} lines;

static void __attribute__((format(printf, 2, 3))) say(lines *to, const char *format, ...)
{
    va_list list;
    assert_true(to->n < LINES_MAX);
    va_start(list, format);
    vsnprintf(to->text[to->n++], LINE_BYTES, format, list);
    va_end(list);
}

static void name_path(const qp_model *m, uint32_t node, char *to)
{
    const qp_model_node *n = &m->nodes[node];
    if (n->method == QP_ROOT_METHOD) {
        const qp_model_thread *th = &m->threads[n->thread];
        *to = '\0';
        if (th->creator)
            name_path(m, th->creator, to);
        snprintf(to + strlen(to), LINE_BYTES - strlen(to), "%s%s", th->creator ? ">>" : "",
                 th->name);
        return;
    }
    const qp_model_method *k = &m->methods[n->method];
    name_path(m, n->parent, to);
    snprintf(to + strlen(to), LINE_BYTES - strlen(to), ">%s@%s", k->name, k->file);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Of blocks: whichever of two methods of one name it is, jumps or none, the line says the
 * rest. */
static void say_blocks(lines *to, const qp_model *m, uint32_t method)
{
    qp_block_figures *blocks;
    size_t n;
    for (uint32_t t = 0; t < m->n_threads; t++) {
        assert_true(qp_model_blocks(m, method, t, &blocks, &n));
        for (size_t i = 0; i < n; i++)
            if (blocks[i].is_counted || blocks[i].is_timed)
                say(to, "block %s@%s %s %zu: %llu %d", m->methods[method].name,
                    m->methods[method].file, m->threads[t].name, i,
                    (unsigned long long)blocks[i].count, blocks[i].is_timed);
        qp_free(blocks);
    }
}

static void say_shares(lines *to, const qp_model *m)
{
    qp_error error;
    qp_cover_set *s = qp_cover_set_new();
    assert_true(qp_cover_set_add(s, m, "sum", NULL, &error));
    for (size_t i = 0; i < s->n_methods; i++)
        for (size_t k = 0; k < s->methods[i].n_shares; k++) {
            const qp_cover_method *c = &s->methods[i];
            const qp_cover_share *share = &c->shares[k];
            for (uint32_t v = 0; v < c->n_values; v++)
                if (share->calls || share->values[v])
                    say(to, "share %s@%s %d %s: %lld %lld", c->name, c->file, c->jumps != NULL,
                        s->contexts[share->context], (long long)share->calls,
                        (long long)share->values[v]);
        }
    qp_cover_set_free(s);
}

static void say_run(lines *to, const qp_model *m)
{
    const qp_run_info *r = &m->run;
    say(to, "clock %s PC %llu %d WHEN %s critical %llu", r->source_text,
        (unsigned long long)r->pc_period_ns, r->is_pc_real, r->pc_pattern,
        (unsigned long long)r->n_critical);
    say(to, "run %s %llu %llu wall %llu costs %llu %llu passes %llu", r->program,
        (unsigned long long)r->started_at, (unsigned long long)r->ended_at,
        (unsigned long long)r->wall, (unsigned long long)r->cost_caller_milliticks,
        (unsigned long long)r->cost_inside_milliticks, (unsigned long long)r->n_passes);
    for (size_t i = 0; i < r->n_diagnostics; i++)
        say(to, "diagnostic %s %llu", r->diagnostics[i].name,
            (unsigned long long)r->diagnostics[i].count);
    for (size_t i = 0; i < r->n_notes; i++)
        say(to, "note %s", r->notes[i].text);
}

/* The intervals are sums of fractions: their last digit depends on the order of addition. */
static void describe(lines *to, const qp_model *m)
{
    static char path[LINE_BYTES];
    to->n = 0;
    say_run(to, m);
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const qp_figures *f = &m->nodes[i].f;
        name_path(m, i, path);
        say(to, "%.400s: %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", path,
            (unsigned long long)f->hits, (unsigned long long)f->skips,
            (unsigned long long)f->self, (unsigned long long)f->total,
            (unsigned long long)f->min, (unsigned long long)f->max,
            (unsigned long long)f->counts, (unsigned long long)f->samples,
            (unsigned long long)f->pc_samples,
            (unsigned long long)(m->run.has_waits ? f->off : 0));
    }
    for (uint32_t i = 1; i < m->n_methods; i++)
        say_blocks(to, m, i);
    say_shares(to, m);
    qsort(to->text, to->n, LINE_BYTES, compare_texts);
}

static void assert_same(const qp_model *a, const qp_model *b)
{
    static lines x, y;
    describe(&x, a);
    describe(&y, b);
    for (size_t i = 0; i < x.n && i < y.n; i++)
        assert_string_equal(x.text[i], y.text[i]);
    assert_int_equal(x.n, y.n);
}

/* ---- algebra ----------------------------------------------------------------------------- */

enum { N_RANDOM = 400 };

static void begin_dice(qp_time_mode mode, unsigned i)
{
    dice = mode * 1000003u + i;
}

static void the_order_makes_no_difference(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_RANDOM; i++) {
        qp_time_mode mode = (qp_time_mode)(i % (QP_TIME_NONE + 1));
        begin_dice(mode, i);
        profile *a = random_profile(mode), *b = random_profile(mode);
        qp_merge *there = qp_merge_new(), *back = qp_merge_new();
        sum_add_profile(there, a, "a");
        sum_add_profile(there, b, "b");
        sum_add_profile(back, b, "b");
        sum_add_profile(back, a, "a");
        qp_model *x = sum_finish(there, "x.qprof"), *y = sum_finish(back, "y.qprof");
        assert_same(x, y);
        qp_model_free(x);
        qp_model_free(y);
        profile_free(a);
        profile_free(b);
    }
}

static void the_grouping_makes_no_difference(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_RANDOM; i++) {
        qp_time_mode mode = (qp_time_mode)(i % (QP_TIME_NONE + 1));
        begin_dice(mode, i);
        profile *p[3] = {random_profile(mode), random_profile(mode), random_profile(mode)};
        qp_merge *left = qp_merge_new(), *right = qp_merge_new(), *all = qp_merge_new();
        for (unsigned k = 0; k < 2; k++)
            sum_add_profile(left, p[k], k ? "b" : "a");
        qp_model *ab = sum_finish(left, "ab.qprof");
        for (unsigned k = 1; k < 3; k++)
            sum_add_profile(right, p[k], k == 1 ? "b" : "c");
        qp_model *bc = sum_finish(right, "bc.qprof");
        left = qp_merge_new();
        sum_add(left, ab, "ab");
        sum_add_profile(left, p[2], "c");
        right = qp_merge_new();
        sum_add_profile(right, p[0], "a");
        sum_add(right, bc, "bc");
        for (unsigned k = 0; k < 3; k++)
            sum_add_profile(all, p[k], (const char *[]){"a", "b", "c"}[k]);
        qp_model *x = sum_finish(left, "x.qprof"), *y = sum_finish(right, "y.qprof"),
                 *z = sum_finish(all, "z.qprof");
        assert_same(x, y);
        assert_same(x, z);
        qp_model *models[] = {ab, bc, x, y, z};
        for (unsigned k = 0; k < 5; k++)
            qp_model_free(models[k]);
        for (unsigned k = 0; k < 3; k++)
            profile_free(p[k]);
    }
}

static void a_sum_of_one_is_that_one_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_RANDOM; i++) {
        qp_time_mode mode = (qp_time_mode)(i % (QP_TIME_NONE + 1));
        begin_dice(mode, i);
        profile *a = random_profile(mode);
        qp_merge *once = qp_merge_new(), *twice = qp_merge_new();
        sum_add_profile(once, a, "a");
        qp_model *x = sum_finish(once, "x.qprof");
        sum_add(twice, x, "x.qprof");
        qp_model *y = sum_finish(twice, "y.qprof");
        assert_same(x, y);
        qp_model_free(x);
        qp_model_free(y);
        profile_free(a);
    }
}

static void without_memory_there_is_no_sum(void **state)
{
    qp_error error;
    (void)state;
    bool is_done = false;
    begin_dice(QP_TIME_EXACT, 7);
    profile *a = random_profile(QP_TIME_EXACT);
    random_contexts(a, random_method(a, 9));
    qp_model *m = profile_load(a, QP_LOAD_CLEAN);
    for (uint64_t n = 1; !is_done; n++) {
        qp_alloc_fail_after(n, n % 2);
        qp_merge *s = qp_merge_new();
        is_done = s && qp_merge_add(s, m, "a.qprof", false, &error) &&
                  qp_merge_write(s, "sum.qprof", &error);
        qp_alloc_fail_after(0, false);
        qp_merge_free(s);
        assert_int_equal(access("sum.qprof", F_OK) == 0, is_done);
        if (s && !is_done)
            assert_non_null(strstr(error.text, "there is not enough memory to "));
    }
    qp_model_free(m);
    profile_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(the_order_makes_no_difference),
        FILES_TEST(the_grouping_makes_no_difference),
        FILES_TEST(a_sum_of_one_is_that_one_again),
        FILES_TEST(without_memory_there_is_no_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
