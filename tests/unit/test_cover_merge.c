/* test_cover_merge.c: profiles add up: spec/qii.md 12.2 item 5 and qii 45, and a property:
 * whatever order runs are added in, the picture is what was walked. */
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "unit/runs.h"

static run counted(const char *name, const char *file, const int *lines, uint32_t n,
                   const uint64_t *counts, uint64_t digest)
{
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell m = run_method(&r, name, file, lines, n);
    run_calls(&r, m, counts[0]);
    run_counts(&r, m, counts, n);
    if (digest)
        profile_source(r.p, file, digest);
    return r;
}

static run f_of(uint64_t a, uint64_t b, uint64_t digest)
{
    return counted("f", "a.lua", RUN_LINES(1, 2), (uint64_t[]){a, b}, digest);
}

static void equal_methods_add_up(void **state)
{
    (void)state;
    qp_cover_set *s = runs_set();
    runs_add(s, f_of(1, 0, 0), "one.qprof");
    runs_add(s, f_of(2, 5, 77), "two.qprof");
    runs_add(s, f_of(0, 0, 77), "three.qprof");
    runs_add(s, counted("new", "b.lua", RUN_LINES(1), (uint64_t[]){4}, 0), "four.qprof");
    assert_int_equal(s->n_methods, 2);
    assert_int_equal(s->n_runs, 4);
    assert_string_equal(s->runs[3].what, "four.qprof");
    qp_cover *c = runs_picture(s, NULL);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_int_equal(runs_line(f, 1)->count, 3);
    assert_int_equal(runs_line(f, 2)->count, 5);
    assert_int_equal(runs_function(f, "f")->calls, 3);
    assert_int_equal(f->digest, 77);
    assert_int_equal(runs_line(runs_file(c, "b.lua"), 1)->count, 4);
    qp_cover_free(c);
}

static void sums_that_are_too_large_stay_at_the_largest(void **state)
{
    (void)state;
    qp_cover_set *s = runs_set();
    for (unsigned i = 0; i < 3; i++)
        runs_add(s, f_of(1, UINT64_MAX / 2 + 1, 0), "run.qprof");
    qp_cover *c = runs_picture(s, NULL);
    assert_true(runs_line(runs_file(c, "a.lua"), 2)->count == UINT64_MAX);
    assert_int_equal(runs_line(runs_file(c, "a.lua"), 1)->count, 3);
    qp_cover_free(c);
}

static void a_source_with_another_digest_is_refused(void **state)
{
    (void)state;
    qp_cover_set *s = runs_set();
    runs_add(s, f_of(1, 1, 77), "one.qprof");
    runs_refuse(s, f_of(1, 1, 78), "two.qprof",
                "a.lua is another version in two.qprof than in one.qprof: counts of different "
                "texts do not add up");
    assert_int_equal(s->n_runs, 1); /* nothing was added */
    runs_add(s, f_of(1, 1, 77), "three.qprof");
    qp_cover *c = runs_picture(s, NULL);
    assert_int_equal(runs_line(runs_file(c, "a.lua"), 1)->count, 2);
    qp_cover_free(c);
}

/* Without digests: f has moved. With equal digests, that is how it was loaded. */
static void without_digests_line_tables_tell_versions(void **state)
{
    (void)state;
    qp_cover_set *s = runs_set();
    runs_add(s, f_of(1, 1, 0), "one.qprof");
    runs_refuse(s, counted("f", "a.lua", RUN_LINES(2, 3), (uint64_t[]){1, 1}, 0), "two.qprof",
                "a.lua is another version in two.qprof than in one.qprof");
    runs_add(s, counted("g", "a.lua", RUN_LINES(2, 3), (uint64_t[]){1, 1}, 0), "three.qprof");
    runs_add(s, counted("f", "b.lua", RUN_LINES(2, 3), (uint64_t[]){1, 1}, 0), "four.qprof");
    qp_cover_set_free(s);
    s = runs_set();
    runs_add(s, f_of(1, 1, 5), "one.qprof");
    runs_add(s, counted("f", "a.lua", RUN_LINES(2, 3), (uint64_t[]){1, 1}, 5), "two.qprof");
    qp_cover_set_free(s);
}

/* In a plain profile what was never called is absent: two functions of one name may be two. */
static void namesakes_of_plain_profiles_are_no_versions(void **state)
{
    (void)state;
    qp_cover_set *s = runs_set();
    for (int i = 0; i < 2; i++) {
        run r = run_new(QP_COLLECT_PROFILE);
        qp_cell both = run_method(&r, "f", "a.lua", RUN_LINES(1));
        qp_cell one = run_method(&r, "f", "a.lua", &(int){5 + i}, 1);
        run_counts(&r, both, RUN_VALUES(1));
        run_counts(&r, one, RUN_VALUES(1));
        runs_add(s, r, i ? "two.qprof" : "one.qprof");
    }
    assert_int_equal(s->n_methods, 3);
    assert_false(s->is_coverage);
    qp_cover_set_free(s);
}

/* qii 45: a function whose blocks differ keeps the data of the run that came first. One that
 * only the other text has (g) would be on lines of another text. */
static void forced_methods_with_other_blocks_keep_the_first_figures(void **state)
{
    (void)state;
    qp_cover_set *s = runs_set();
    runs_add(s, f_of(1, 0, 77), "one.qprof");
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell f = run_method(&r, "f", "a.lua", RUN_LINES(1, 2, 3));
    qp_cell g = run_method(&r, "g", "a.lua", RUN_LINES(9));
    run_counts(&r, f, RUN_VALUES(50, 50, 50));
    run_counts(&r, g, RUN_VALUES(6));
    profile_source(r.p, "a.lua", 78);
    runs_add_with(s, r, "two.qprof", &(qp_cover_add_options){.is_forced = true});
    /* as many blocks, on other lines: they add up */
    r = counted("f", "a.lua", RUN_LINES(4, 5), (uint64_t[]){10, 20}, 79);
    runs_add_with(s, r, "three.qprof", &(qp_cover_add_options){.is_forced = true});
    assert_int_equal(s->n_warnings, 2);
    assert_string_equal(
        s->warnings[0],
        "a.lua: f of two.qprof has other blocks than before: its figures are left "
        "out");
    assert_string_equal(s->warnings[1],
                        "a.lua: g of two.qprof is not in the version that came first: its "
                        "figures are left out");
    qp_cover *c = runs_picture(s, &(qp_cover_options){.is_unadjusted = true});
    const qp_cover_file *file = runs_file(c, "a.lua");
    assert_int_equal(file->n_functions, 1);
    assert_int_equal(file->n_lines, 2);
    assert_int_equal(runs_line(file, 1)->count, 11);
    assert_int_equal(runs_line(file, 2)->count, 20);
    assert_int_equal(file->digest, 77);
    assert_int_equal(c->n_warnings, 2);
    qp_cover_free(c);
}

static void layers_say_which_run_hit_a_line(void **state)
{
    (void)state;
    const qp_cover_add_options o = {.is_layered = true};
    qp_cover_set *s = runs_set();
    runs_add_with(s, f_of(1, 0, 0), "one.qprof", &o);
    runs_add_with(s, f_of(2, 5, 0), "two.qprof", &o);
    runs_add(s, f_of(4, 0, 0), "three.qprof");
    qp_cover *c = runs_picture(s, NULL);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_int_equal(c->n_contexts, 3);
    assert_string_equal(c->contexts[0], "");
    assert_string_equal(c->contexts[1], "one.qprof");
    assert_int_equal(runs_touch(c, f, 1, "one.qprof"), 1);
    assert_int_equal(runs_touch(c, f, 1, "two.qprof"), 2);
    assert_int_equal(runs_touch(c, f, 1, ""), 4);
    assert_int_equal(runs_touch(c, f, 2, "one.qprof"), 0);
    assert_int_equal(runs_touch(c, f, 2, "two.qprof"), 5);
    assert_int_equal(runs_line(f, 1)->count, 7);
    qp_cover_free(c);
}

static void the_coarsest_granularity_is_that_of_the_sum(void **state)
{
    (void)state;
    qp_cover_set *s = runs_set();
    runs_add(s, f_of(1, 1, 0), "one.qprof");
    run r = f_of(1, 1, 0);
    profile_head(r.p)->grain = QP_GRAIN_FUNCTION;
    profile_head(r.p)->collect |= QP_COLLECT_ONCE;
    runs_add(s, r, "two.qprof");
    assert_int_equal(s->grain, QP_GRAIN_FUNCTION);
    assert_true(s->is_once);
    qp_cover *c = runs_picture(s, NULL);
    assert_int_equal(c->totals.lines, 0);
    assert_int_equal(c->totals.functions_hit, 1);
    qp_cover_free(c);
}

/* ---- whatever the order, the picture is what was walked ---------------------------------- */

enum {
    METHODS = 5,
    BLOCKS = 6,
    JUMPS = 2 * BLOCKS + 2,
    CONTEXTS = 4,
    RUNS = 4,
    THREADS = 2,
    LINES = 9
};

static const char *const context_names[CONTEXTS] = {"", "t1", "t2", "t3"};

typedef struct {
    char name[8];
    const char *file;
    int lines[BLOCKS];
    qp_jump jumps[JUMPS];
    char falls[BLOCKS + 1];
    uint32_t n_blocks, n_jumps, left; /* left: counter of the exit in mid-block 0; then 1, … */
    bool has_entry;
} code;

/* What was walked: by the naive hand. */
typedef struct {
    uint64_t blocks[METHODS][BLOCKS][CONTEXTS];
    uint64_t ways[METHODS][JUMPS], falls[METHODS][BLOCKS];
    uint64_t calls[METHODS];
} truth;

/* What one run counts. */
typedef struct {
    int64_t counters[METHODS][THREADS][CONTEXTS][JUMPS];
    int64_t calls[METHODS][THREADS][CONTEXTS];
} counters;

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static void invent(code *k, unsigned i)
{
    snprintf(k->name, sizeof k->name, "f%u", i);
    k->file = i % 2 ? "a.lua" : "lib/b.lua";
    k->n_blocks = 1 + draw(BLOCKS);
    k->n_jumps = 0;
    for (uint32_t b = 0; b < k->n_blocks; b++) {
        k->lines[b] = 1 + (int)draw(LINES);
        k->falls[b] = b + 1 < k->n_blocks && draw(4) ? '1' : '0';
    }
    k->falls[k->n_blocks] = '\0';
    for (uint32_t n = draw(BLOCKS); n > 0; n--)
        k->jumps[k->n_jumps++] = (qp_jump){(int)draw(k->n_blocks), (int)draw(k->n_blocks)};
    k->left = k->n_jumps;
    for (uint32_t b = 0; b < k->n_blocks; b++)
        k->jumps[k->n_jumps++] = (qp_jump){QP_JUMP_LEFT, (int)b};
    k->has_entry = draw(2);
    if (k->has_entry)
        k->jumps[k->n_jumps++] = (qp_jump){QP_JUMP_ENTRY, 0};
}

/* One call, in which the context may change. @return the context at its end */
static unsigned walk(const code *k, unsigned i, unsigned thread, unsigned context,
                     bool has_contexts, counters *c, truth *t)
{
    enum { STEPS = 12 };
    uint32_t b = 0;
    t->calls[i]++;
    if (k->has_entry)
        c->counters[i][thread][context][k->n_jumps - 1]++;
    else
        c->calls[i][thread][context]++;
    for (unsigned step = 0;; step++) {
        t->blocks[i][b][context]++;
        if (has_contexts && !draw(6)) {
            c->counters[i][thread][context][k->left + b]++;
            context = draw(CONTEXTS);
            c->counters[i][thread][context][k->left + b]--;
        }
        uint32_t way = draw(k->left + 2);
        bool is_jump = way < k->left && (uint32_t)k->jumps[way].from_block == b;
        if (step == STEPS || (!is_jump && !draw(8))) {
            c->counters[i][thread][context][k->left + b]++;
            return context;
        }
        if (is_jump) {
            c->counters[i][thread][context][way]++;
            t->ways[i][way]++;
            b = (uint32_t)k->jumps[way].to_block;
        } else if (k->falls[b] == '1') {
            t->falls[i][b++]++;
        } else {
            return context;
        }
    }
}

static run record(const code *all, const counters *c, unsigned last_context, bool has_contexts)
{
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell threads[THREADS] = {r.thread, profile_thread(r.p)}, contexts[CONTEXTS] = {0};
    for (unsigned x = 0; has_contexts && x < CONTEXTS; x++)
        contexts[x] = profile_context(r.p, x ? context_names[x] : NULL);
    for (unsigned i = 0; i < METHODS; i++) {
        const code *k = &all[i];
        qp_cell m = run_method(&r, k->name, k->file, k->lines, k->n_blocks);
        run_jumps(&r, m, k->jumps, k->n_jumps, k->falls);
        int64_t shares[CONTEXTS][JUMPS] = {0}, calls[CONTEXTS] = {0};
        for (unsigned t = 0; t < THREADS; t++) {
            uint64_t values[JUMPS] = {0};
            uint64_t n_calls = 0;
            for (unsigned x = 0; x < CONTEXTS; x++) {
                for (uint32_t j = 0; j < k->n_jumps; j++) {
                    values[j] += (uint64_t)c->counters[i][t][x][j];
                    shares[x][j] += c->counters[i][t][x][j];
                }
                n_calls += (uint64_t)c->calls[i][t][x];
                calls[x] += c->calls[i][t][x];
            }
            r.thread = threads[t];
            run_counts(&r, m, values, k->n_jumps);
            run_calls(&r, m, n_calls);
        }
        for (unsigned x = 0; has_contexts && x < CONTEXTS; x++)
            if (x != last_context)
                run_share(&r, contexts[x], m, (uint64_t)calls[x], shares[x], k->n_jumps);
    }
    profile_head(r.p)->context = contexts[last_context];
    return r;
}

static void assert_line(const code *all, const truth *t, bool has_contexts, const qp_cover *c,
                        const qp_cover_file *f, const qp_cover_line *l)
{
    uint64_t most = 0, most_of[CONTEXTS] = {0}, n_ways = 0;
    uint32_t n_blocks = 0, n_hit = 0, n_branches = 0;
    for (unsigned i = 0; i < METHODS; i++)
        for (uint32_t b = 0; b < all[i].n_blocks && strcmp(all[i].file, f->path) == 0; b++) {
            uint64_t sum = 0, n_out = 0;
            if ((uint32_t)all[i].lines[b] != l->line)
                continue;
            for (unsigned x = 0; x < CONTEXTS; x++) {
                sum += t->blocks[i][b][x];
                if (t->blocks[i][b][x] > most_of[x])
                    most_of[x] = t->blocks[i][b][x];
            }
            most = sum > most ? sum : most;
            n_blocks++;
            n_hit += sum > 0;
            uint64_t taken = 0;
            for (uint32_t j = 0; j < all[i].left; j++)
                if ((uint32_t)all[i].jumps[j].from_block == b) {
                    n_out++;
                    taken += t->ways[i][j];
                }
            if (!n_out || n_out + (all[i].falls[b] == '1') < 2)
                continue;
            n_branches += (uint32_t)n_out + (all[i].falls[b] == '1');
            n_ways += taken + t->falls[i][b];
        }
    assert_int_equal(l->count, most);
    assert_int_equal(l->n_blocks, n_blocks);
    assert_int_equal(l->n_blocks_hit, n_hit);
    assert_int_equal(l->is_partial, n_hit > 0 && n_hit < n_blocks);
    assert_int_equal(l->n_branches, n_branches);
    for (uint32_t i = 0; i < l->n_branches; i++)
        n_ways -= f->branches[l->first_branch + i].count;
    assert_int_equal(n_ways, 0);
    for (unsigned x = 0; has_contexts && x < CONTEXTS; x++)
        assert_int_equal(runs_touch(c, f, l->line, context_names[x]), most_of[x]);
}

static void assert_truth(const code *all, const truth *t, bool has_contexts, const qp_cover *c)
{
    for (size_t i = 0; i < c->n_files; i++)
        for (uint32_t k = 0; k < c->files[i].n_lines; k++)
            assert_line(all, t, has_contexts, c, &c->files[i], &c->files[i].lines[k]);
    for (unsigned i = 0; i < METHODS; i++) {
        const qp_cover_function *f = runs_function(runs_file(c, all[i].file), all[i].name);
        assert_int_equal(f->calls, t->calls[i]);
        assert_int_equal(f->is_hit, t->calls[i] > 0);
    }
    assert_int_equal(c->totals.functions, METHODS);
}

static void the_picture_is_what_was_walked(void **state)
{
    enum { ROUNDS = 150 };
    (void)state;
    static counters c[RUNS];
    static truth t;
    for (unsigned round = 0; round < ROUNDS; round++) {
        code all[METHODS] = {0};
        unsigned last[RUNS], first = round % RUNS;
        bool has_contexts[RUNS], has_any = false;
        seed = round + 1;
        memset(c, 0, sizeof c);
        memset(&t, 0, sizeof t);
        for (unsigned i = 0; i < METHODS; i++)
            invent(&all[i], i);
        for (unsigned r = 0; r < RUNS; r++) {
            last[r] = 0;
            has_contexts[r] = round % 3 && draw(3);
            has_any |= has_contexts[r];
            for (unsigned n = draw(40); n > 0; n--) {
                unsigned i = draw(METHODS);
                last[r] = walk(&all[i], i, draw(THREADS), last[r], has_contexts[r], &c[r], &t);
            }
        }
        qp_cover_set *s = runs_set();
        for (unsigned i = 0; i < RUNS; i++) { /* in another order each round */
            unsigned r = round % 2 ? (first + i) % RUNS : (first + RUNS - i) % RUNS;
            runs_add(s, record(all, &c[r], last[r], has_contexts[r]), "run.qprof");
        }
        qp_cover *picture = runs_picture(s, NULL);
        assert_truth(all, &t, has_any, picture);
        qp_cover_free(picture);
    }
}

/* After an error the set has what it had, and can be asked. */
static void without_memory_a_set_stays_what_it_was(void **state)
{
    (void)state;
    qp_error error;
    run r = counted("g", "b.lua", RUN_LINES(1, 2, 3), (uint64_t[]){1, 2, 3}, 9);
    qp_model *m = profile_load(r.p, QP_LOAD_CLEAN);
    for (uint64_t n = 1, is_done = 0; !is_done; n++) {
        qp_cover_set *s = runs_set();
        runs_add(s, f_of(1, 0, 77), "one.qprof");
        qp_alloc_fail_after(n, false);
        bool is_added = qp_cover_set_add(s, m, "two.qprof", NULL, &error);
        is_done = qp_alloc_count() < n;
        qp_alloc_fail_after(0, false);
        assert_int_equal(is_added, is_done);
        assert_int_equal(s->n_runs, is_added ? 2 : 1);
        qp_cover *c = runs_picture(s, NULL);
        assert_int_equal(c->n_files, is_added ? 2 : 1);
        assert_int_equal(runs_line(runs_file(c, "a.lua"), 1)->count, 1);
        qp_cover_free(c);
    }
    qp_model_free(m);
    profile_free(r.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_methods_add_up),
        cmocka_unit_test(sums_that_are_too_large_stay_at_the_largest),
        cmocka_unit_test(a_source_with_another_digest_is_refused),
        cmocka_unit_test(without_digests_line_tables_tell_versions),
        cmocka_unit_test(namesakes_of_plain_profiles_are_no_versions),
        cmocka_unit_test(forced_methods_with_other_blocks_keep_the_first_figures),
        cmocka_unit_test(layers_say_which_run_hit_a_line),
        cmocka_unit_test(the_coarsest_granularity_is_that_of_the_sum),
        cmocka_unit_test(the_picture_is_what_was_walked),
        cmocka_unit_test(without_memory_a_set_stays_what_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
