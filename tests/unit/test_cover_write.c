/* test_cover_write.c: a coverage set that was written and read again is the same set. */
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/cover/cover.h"
#include "unit/files.h"

static const qp_line three_blocks[] = {{0, 15}, {7, 16}, {12, 15}};
/* Block 0 jumps to block 2 or falls into block 1, which jumps back. */
static const qp_jump ways[] = {{0, 2}, {1, 0}};
static const qp_jump entered_ways[] = {{0, 2}, {1, 0}, {QP_JUMP_ENTRY, 0}};
static const unsigned char falls[] = {1, 0, 0};

/* ---- runs -------------------------------------------------------------------------------- */

typedef struct {
    profile *p;
    qp_cell thread;
} run;

static run begin_run(const char *program, uint32_t collect)
{
    run r = {.p = profile_new()};
    qp_head *h = profile_head(r.p);
    h->minor = QP_MINOR;
    h->collect = collect;
    h->time_mode = QP_TIME_NONE;
    h->program = profile_text(r.p, program);
    h->label = profile_text(r.p, "a label");
    r.thread = profile_thread(r.p);
    return r;
}

static qp_cell add_method(run *r, const char *name, const char *file, const qp_jump *jumps,
                          uint32_t n_jumps)
{
    static uint64_t id;
    qp_cell method = profile_method(r->p, ++id, name, "Klass", file);
    qp_method *m = profile_at(r->p, method);
    m->lines = profile_lines(r->p, three_blocks, 3);
    m->module = profile_text(r->p, "a module");
    if (jumps)
        m->jumps = profile_jumps(r->p, jumps, n_jumps, falls, 3);
    return method;
}

static void add_bank(run *r, qp_cell method, const uint64_t *values, uint32_t n)
{
    qp_counter_block *b = profile_bank(r->p, r->thread, method, QP_COUNTER_BLOCK_COUNTS, n, 3);
    memcpy(b->values, values, n * sizeof *values);
}

/* Something of everything: counters of blocks, of jumps, of jumps with entries; a method that
 * was skipped at times, one that was never called, one without counters; two contexts. */
static run first_run(void)
{
    run r = begin_run("one", QP_COLLECT_PROFILE | QP_COLLECT_COVERAGE);
    qp_cell blocks = add_method(&r, "blocks", "a.lua", NULL, 0);
    qp_cell jumps = add_method(&r, "jumps", "a.lua", ways, 2);
    qp_cell entered = add_method(&r, "entered", "b.lua", entered_ways, 3);
    add_method(&r, "never", "b.lua", entered_ways, 3);
    qp_cell plain = add_method(&r, "plain", "a.lua", NULL, 0);
    add_bank(&r, blocks, (uint64_t[]){3, 0, 1ull << 40}, 3);
    add_bank(&r, jumps, (uint64_t[]){4, 9}, 2);
    add_bank(&r, entered, (uint64_t[]){1, 2, 5}, 3);
    profile_node(r.p, r.thread, 0, blocks, 3, 0);
    qp_cell node = profile_node(r.p, r.thread, 0, jumps, 4, 0);
    profile_more(r.p, r.thread, node)->n_skips = 2;
    profile_node(r.p, r.thread, node, plain, 7, 0);
    profile_balance(r.p, r.thread, 16, 0);
    qp_cell unnamed = profile_context(r.p, NULL), red = profile_context(r.p, "red"),
            blue = profile_context(r.p, "blue \x1b[31m\"");
    memcpy(profile_share(r.p, unnamed, jumps, 1, 2, 3)->values, (uint64_t[]){1, 2},
           2 * sizeof(uint64_t));
    memcpy(profile_share(r.p, red, jumps, 3, 2, 3)->values, (uint64_t[]){3, -1ull},
           2 * sizeof(uint64_t));
    profile_head(r.p)->context = blue;
    profile_source(r.p, "a.lua", 0xABCDEF);
    return r;
}

/* The same program, other figures, another method. */
static run second_run(void)
{
    run r = begin_run("two", QP_COLLECT_COVERAGE | QP_COLLECT_ONCE);
    profile_head(r.p)->grain = QP_GRAIN_BLOCK;
    qp_cell jumps = add_method(&r, "jumps", "a.lua", ways, 2);
    qp_cell entered = add_method(&r, "entered", "b.lua", entered_ways, 3);
    qp_cell other = add_method(&r, "other", "c.lua", entered_ways, 3);
    add_bank(&r, jumps, (uint64_t[]){1, 1}, 2);
    add_bank(&r, entered, (uint64_t[]){UINT64_MAX, 0, 1}, 3);
    add_bank(&r, other, (uint64_t[]){0, 0, 1}, 3);
    profile_node(r.p, r.thread, 0, jumps, 1, 0);
    profile_balance(r.p, r.thread, 1, 0);
    qp_cell red = profile_context(r.p, "red"), green = profile_context(r.p, "green");
    memcpy(profile_share(r.p, red, entered, 0, 3, 3)->values, (uint64_t[]){0, 0, 1},
           3 * sizeof(uint64_t));
    profile_head(r.p)->context = green;
    profile_source(r.p, "c.lua", 7);
    return r;
}

/* ---- sets -------------------------------------------------------------------------------- */

static void add_model(qp_cover_set *s, const qp_model *m, const char *what)
{
    qp_error error;
    bool is_good = qp_cover_set_add(s, m, what, NULL, &error);
    assert_string_equal(error.text, "");
    assert_true(is_good);
}

static void add_run(qp_cover_set *s, run r, const char *what)
{
    qp_model *m = profile_load(r.p, QP_LOAD_CLEAN);
    add_model(s, m, what);
    qp_model_free(m);
    profile_free(r.p);
}

static qp_cover_set *new_set(void)
{
    qp_cover_set *s = qp_cover_set_new();
    assert_non_null(s);
    return s;
}

static void write_set(const qp_cover_set *s, const char *path)
{
    qp_error error;
    bool is_good = qp_cover_set_write(s, path, &error);
    assert_string_equal(error.text, "");
    assert_true(is_good);
}

static void add_file(qp_cover_set *s, const char *path)
{
    qp_model *m = files_read(path);
    add_model(s, m, path);
    qp_model_free(m);
}

/* ---- equality, field by field ------------------------------------------------------------ */

static const qp_cover_method *method_of(const qp_cover_set *s, const char *name)
{
    for (size_t i = 0; i < s->n_methods; i++)
        if (strcmp(s->methods[i].bare_name, name) == 0)
            return &s->methods[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static const qp_cover_share *share_of(const qp_cover_set *s, const qp_cover_method *m,
                                      const char *context)
{
    for (size_t i = 0; i < m->n_shares; i++)
        if (strcmp(s->contexts[m->shares[i].context], context) == 0)
            return &m->shares[i];
    return NULL;
}

static void assert_same_values(const void *a, const void *b, uint32_t n)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a && n)
        assert_memory_equal(a, b, n * sizeof(uint64_t));
}

static void assert_same_jumps(const qp_jumps *a, const qp_jumps *b)
{
    assert_int_equal(a != NULL, b != NULL);
    if (!a)
        return;
    assert_int_equal(a->n_jumps, b->n_jumps);
    assert_int_equal(a->n_blocks, b->n_blocks);
    assert_memory_equal(a->jumps, b->jumps, a->n_jumps * sizeof(qp_jump) + a->n_blocks);
}

static void assert_same_shares(const qp_cover_set *a, const qp_cover_method *x,
                               const qp_cover_set *b, const qp_cover_method *y)
{
    assert_int_equal(x->n_shares, y->n_shares);
    for (size_t i = 0; i < x->n_shares; i++) {
        const qp_cover_share *s = &x->shares[i];
        const qp_cover_share *t = share_of(b, y, a->contexts[s->context]);
        assert_non_null(t);
        assert_true(s->calls == t->calls);
        assert_same_values(s->values, t->values, x->n_values);
    }
}

static void assert_same_method(const qp_cover_method *x, const qp_cover_method *y)
{
    assert_string_equal(x->name, y->name);
    assert_string_equal(x->bare_name, y->bare_name);
    assert_string_equal(x->class_name, y->class_name);
    assert_string_equal(x->module, y->module);
    assert_string_equal(x->file, y->file);
    assert_int_equal(x->flags, y->flags);
    assert_int_equal(x->n_blocks, y->n_blocks);
    assert_memory_equal(x->lines, y->lines, x->n_blocks * sizeof *x->lines);
    assert_same_jumps(x->jumps, y->jumps);
    assert_true(x->calls == y->calls);
    assert_true(x->entries == y->entries);
    assert_int_equal(x->is_counted, y->is_counted);
    assert_int_equal(x->n_values, y->n_values);
    assert_same_values(x->values, y->values, x->n_values);
}

/* All but the runs: a file that was written is a run of its own. */
static void assert_same_set(const qp_cover_set *a, const qp_cover_set *b)
{
    assert_int_equal(a->n_methods, b->n_methods);
    assert_int_equal(a->n_contexts, b->n_contexts);
    assert_int_equal(a->n_texts, b->n_texts);
    assert_int_equal(a->grain, b->grain);
    assert_int_equal(a->is_once, b->is_once);
    assert_int_equal(a->is_coverage, b->is_coverage);
    for (size_t i = 0; i < a->n_methods; i++) {
        const qp_cover_method *x = &a->methods[i], *y = method_of(b, x->bare_name);
        assert_same_method(x, y);
        assert_same_shares(a, x, b, y);
    }
    for (size_t i = 0; i < a->n_texts; i++) {
        assert_string_equal(a->texts[i].path, b->texts[i].path);
        assert_true(a->texts[i].digest == b->texts[i].digest);
        assert_true(a->texts[i].n_bytes == b->texts[i].n_bytes);
    }
}

/* ---- claims ------------------------------------------------------------------------------ */

static void a_set_that_was_written_is_read_as_it_was(void **state)
{
    (void)state;
    qp_cover_set *before = new_set(), *after = new_set();
    add_run(before, first_run(), "first.pcv");
    add_run(before, second_run(), "second.pcv");
    write_set(before, "both.pcv");
    add_file(after, "both.pcv");
    assert_same_set(before, after);
    /* worked out by hand: the runs above */
    const qp_cover_method *jumps = method_of(after, "jumps");
    assert_int_equal(jumps->calls, 5);
    assert_int_equal(jumps->entries, 7);
    assert_int_equal(jumps->values[0], 5);
    assert_int_equal(jumps->values[1], 10);
    const qp_cover_share *red = share_of(after, jumps, "red");
    assert_int_equal(red->calls, 3);
    assert_true(red->values[0] == 3 && red->values[1] == -1);
    const qp_cover_share *blue = share_of(after, jumps, "blue \x1b[31m\"");
    assert_true(blue->values[0] == 0 && blue->values[1] == 8);
    const qp_cover_method *entered = method_of(after, "entered");
    assert_int_equal(entered->calls, 6);
    assert_true(entered->values[0] == UINT64_MAX); /* saturated */
    assert_int_equal(method_of(after, "plain")->calls, 7);
    assert_null(method_of(after, "never")->values);
    assert_true(after->is_once && after->is_coverage);
    assert_int_equal(after->grain, QP_GRAIN_BLOCK);
    qp_cover_set_free(before);
    qp_cover_set_free(after);
}

static void files_add_up_like_the_runs_themselves(void **state)
{
    (void)state;
    qp_cover_set *direct = new_set(), *one = new_set(), *both = new_set();
    add_run(direct, first_run(), "first.pcv");
    add_run(direct, second_run(), "second.pcv");
    add_run(one, first_run(), "first.pcv");
    write_set(one, "one.pcv");
    add_file(both, "one.pcv");
    add_run(both, second_run(), "second.pcv");
    assert_same_set(direct, both);
    qp_cover_set_free(direct);
    qp_cover_set_free(one);
    qp_cover_set_free(both);
}

/* A call on a thread that has no counters is not an execution of the block that begins the
 * method. */
static void calls_without_counters_stay_without(void **state)
{
    (void)state;
    qp_cover_set *before = new_set(), *after = new_set();
    run r = begin_run("one", QP_COLLECT_PROFILE);
    qp_cell jumps = add_method(&r, "jumps", "a.lua", ways, 2);
    add_bank(&r, jumps, (uint64_t[]){2, 0}, 2);
    profile_node(r.p, r.thread, 0, jumps, 2, 0);
    profile_balance(r.p, r.thread, 2, 0);
    qp_cell other = profile_thread(r.p);
    profile_node(r.p, other, 0, jumps, 5, 0);
    profile_balance(r.p, other, 5, 0);
    add_run(before, r, "first.pcv");
    assert_int_equal(method_of(before, "jumps")->calls, 7);
    assert_int_equal(method_of(before, "jumps")->entries, 2);
    write_set(before, "one.pcv");
    add_file(after, "one.pcv");
    assert_same_set(before, after);
    qp_cover_set_free(before);
    qp_cover_set_free(after);
}

static void a_written_set_says_where_it_comes_from(void **state)
{
    (void)state;
    qp_cover_set *s = new_set();
    run r = first_run();
    profile_head(r.p)->started_at = 1767323045000000000; /* 2026-01-02 03:04:05 UTC */
    profile_head(r.p)->ended_at = 1767323046000000000;
    add_run(s, r, "first.pcv");
    add_run(s, second_run(), "second.pcv");
    write_set(s, "both.pcv");
    qp_model *m = files_read("both.pcv");
    assert_string_equal(m->run.program, "several programs");
    assert_string_equal(m->run.label, "a label");
    assert_int_equal(m->run.n_notes, 2);
    assert_string_equal(m->run.notes[0].text,
                        "merged from first.pcv (one, process 4000000000, label a label, "
                        "started 2026-01-02 03:04:05 UTC)");
    qp_model_free(m);
    qp_cover_set_free(s);
}

static void an_empty_set_makes_an_empty_profile(void **state)
{
    (void)state;
    qp_cover_set *before = new_set(), *after = new_set();
    write_set(before, "none.pcv");
    add_file(after, "none.pcv");
    assert_int_equal(after->n_methods, 0);
    qp_cover_set_free(before);
    qp_cover_set_free(after);
}

static void a_set_that_cannot_be_written_leaves_nothing(void **state)
{
    qp_error error;
    (void)state;
    qp_cover_set *s = new_set();
    add_run(s, first_run(), "first.pcv");
    assert_false(qp_cover_set_write(s, "no/such/folder.pcv", &error));
    assert_string_equal(error.text, "no/such/folder.pcv: no such folder");
    bool is_done = false;
    for (uint64_t n = 1; !is_done; n++) {
        qp_alloc_fail_after(n, n % 2);
        is_done = qp_cover_set_write(s, "out.pcv", &error);
        qp_alloc_fail_after(0, false);
        assert_int_equal(access("out.pcv", F_OK) == 0, is_done);
        if (!is_done)
            assert_string_equal(error.text, "out.pcv: there is not enough memory to write it");
    }
    qp_cover_set_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(a_set_that_was_written_is_read_as_it_was),
        FILES_TEST(files_add_up_like_the_runs_themselves),
        FILES_TEST(calls_without_counters_stay_without),
        FILES_TEST(a_written_set_says_where_it_comes_from),
        FILES_TEST(an_empty_set_makes_an_empty_profile),
        FILES_TEST(a_set_that_cannot_be_written_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
