/* test_charge.c tests model/charge.c, charge_match.c and what fold.c makes of them: the worked
 * results of spec/sampling.md through a profile, a naive sum over random trees, the matcher that
 * looks at each path by itself as an oracle for the one that goes down the tree, and the recorder's
 * own figures of the same run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "code/pattern.h"
#include "format/builder.h"
#include "model/charge.h"
#include "model/fold.h"
#include "unit/play.h"
#include "unit/profile.h"

enum { NAME_BYTES = 64 };

/* ---- stacks in words: "u.main m.f ?" is outermost first, ? is foreign code ------------------ */

/* Methods by their words. */
typedef struct {
    profile *p;
    char words[32][NAME_BYTES];
    qp_cell cells[32];
    int n;
} vocabulary;

static qp_cell method_of(vocabulary *v, const char *word, int n_bytes)
{
    char module[NAME_BYTES] = "", procedure[NAME_BYTES] = "native";
    for (int i = 0; i < v->n; i++)
        if (strncmp(v->words[i], word, (size_t)n_bytes) == 0 && !v->words[i][n_bytes])
            return v->cells[i];
    bool is_foreign = word[0] == '?';
    snprintf(v->words[v->n], NAME_BYTES, "%.*s", n_bytes, word);
    if (!is_foreign)
        sscanf(v->words[v->n], "%63[^.].%63s", module, procedure);
    qp_cell cell =
        profile_method(v->p, (uint64_t)v->n + 1, procedure, *module ? module : NULL, NULL);
    ((qp_method *)profile_at(v->p, cell))->flags |= is_foreign ? QP_METHOD_PSEUDO : 0;
    v->cells[v->n++] = cell;
    return cell;
}

/* One path per word, the last one with an interrupt. */
static qp_model *one_stack(const char *text)
{
    vocabulary v = {.p = profile_new()};
    qp_cell th = profile_thread(v.p);
    qp_cell node = ((qp_thread_record *)profile_at(v.p, th))->root;
    while (*(text += strspn(text, " "))) {
        int n = (int)strcspn(text, " ");
        node = profile_node(v.p, th, node, method_of(&v, text, n), 1, 10);
        text += n;
    }
    profile_more(v.p, th, node)->samples = 1;
    qp_model *m = profile_load(v.p, QP_LOAD_CLEAN);
    profile_free(v.p);
    return m;
}

static void apply(qp_charges *c, const qp_model *m, const char *pattern)
{
    qp_parse_error error;
    qp_charge_status status = qp_charges_init(c, m, pattern, false, &error);
    if (status != QP_CHARGE_OK)
        fail_msg("%s: %u: %s", pattern, error.column, error.message);
}

static const char *name_of(const qp_charges *c, uint32_t node, char *to)
{
    const qp_model_node *n = &c->m->nodes[node];
    if (!qp_charge_is_procedure(c->m, node))
        return "foreignPcs";
    sprintf(to, "%s.%s", c->modules[n->method], c->m->methods[n->method].bare_name);
    return to;
}

/* A pattern that means the same and is too large to be written out. */
static void repeat(const char *pattern, char *to)
{
    static const int often[] = {1100, 700, 350, 270};
    static qp_pattern p;
    qp_parse_error error;
    qp_parse parse = QP_PARSE_ROOM;
    for (size_t k = 0; k < sizeof often / sizeof *often && parse == QP_PARSE_ROOM; k++) {
        char *at = to;
        for (int i = 0; i < often[k]; i++)
            at += sprintf(at, "%s%s", i ? "|" : "", pattern);
        parse = qp_pattern_parse(&p, to, &error);
    }
    assert_int_equal(parse, QP_PARSE_OK);
}

/* Claim: "m.q", "foreignPcs", or "-" for not counted; the same if the pattern is too large to be
 * written out. */
static void assert_charged(const char *pattern, const char *stack, const char *wanted)
{
    char name[2 * NAME_BYTES], large[64 * 1024];
    qp_model *m = one_stack(stack);
    repeat(pattern, large);
    for (int is_large = 0; is_large < 2; is_large++) {
        qp_charges c;
        apply(&c, m, is_large ? large : pattern);
        uint32_t charged = c.nodes[m->n_nodes - 1];
        const char *got = charged == QP_CHARGE_SKIPPED ? "-" : name_of(&c, charged, name);
        if (strcmp(got, wanted) != 0)
            fail_msg("%s on %s charges %s, not %s", pattern, stack, got, wanted);
        qp_charges_fini(&c);
    }
    qp_model_free(m);
}

/* ---- the specification ----------------------------------------------------------------------- */

#define SEED "(m.a->m.b->*|m.c)->(*->m.d|m.e->*)"

static void the_worked_results_hold_of_a_profile(void **state) /* sampling 40 */
{
    (void)state;
    static const char *const rows[][3] = {
        {":$arymod.$findarraydscr", "u.main u.f $arymod.newarrayn $arymod.$findarraydscr",
         "$arymod.newarrayn"},
        {":$arymod.newarrayn->$arymod.$findarraydscr",
         "u.main $arymod.donewupperbound $arymod.newarrayn $arymod.$findarraydscr",
         "$arymod.donewupperbound"},
        {SEED, "m.a m.b m.x m.e m.q", "m.q"},
        {SEED, "m.c m.x m.e", "-"},
        {SEED, "m.c m.x m.d", "m.d"},
        {SEED, "m.c m.e m.z", "m.z"},
        {SEED, "m.a m.b m.d", "m.d"},
        {"m.a", "m.a m.b", "-"},
        {"m.a->m.b", "m.a m.x m.b", "-"},
        {"m.a->*->m.b", "m.a m.b", "m.b"},
        {"m.a->*", "m.a", "m.a"},
        {"m->*", "x.p m.q y.z", "y.z"},
        {"*", "", "foreignPcs"},
        {"m.a:->*", "m.a m.b m.a m.c", "m.a"},
        {"x->m:->n", "x.p m.p1 m.p2 n.q", "m.p2"},
        {"x->:m->n", "x.p m.p1 m.p2 n.q", "x.p"},
        {":m", "x.p m.p1 m.p2", "x.p"},
        {"m.p1->:m", "x.p m.p1 m.p2", "m.p1"},
        {":m.p:", "a.z m.p", "a.z"},
        {":m.p", "m.p", "foreignPcs"},
        {"m.z: | :m.b", "m.a m.b", "m.a"},
        {"m.a:->m.b: | m.b", "m.a m.b", "m.a"},
        /* the rules besides */
        {"m.b", "m.a m.b", "m.b"},
        {"m->n", "m.a m.b m.c n.q", "n.q"},
        {"m->n", "m.a x.p n.q", "-"},
        {"M.A->$ARYMOD.New", "m.a $arymod.NEW", "$arymod.NEW"},
        {":m.a->*", "m.a m.b", "foreignPcs"},
        {"m.a", "m.a ?", "-"},
        {"m.a->*", "m.a ?", "foreignPcs"},
        {"m.a:->*", "m.a ?", "m.a"},
        {"*", "m.a ?", "foreignPcs"},
        {"m.a", "", "-"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_charged(rows[i][0], rows[i][1], rows[i][2]);
}

static uint64_t shallow_of(const qp_charge_row *rows, size_t n, const char *module,
                           const char *procedure, uint64_t *deep)
{
    *deep = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].module, module) == 0 && strcmp(rows[i].procedure, procedure) == 0) {
            *deep = rows[i].deep;
            return rows[i].shallow;
        }
    return 0;
}

/* m.a calls m.b, which calls m.a, which calls x.c: 1, 2, 4 and 8 interrupts, 16 with nobody. */
static qp_model *recursive_run(void)
{
    vocabulary v = {.p = profile_new()};
    static const char *const words[] = {"m.a", "m.b", "m.a", "x.c"};
    qp_cell th = profile_thread(v.p);
    qp_cell node = ((qp_thread_record *)profile_at(v.p, th))->root;
    profile_more(v.p, th, node)->samples = 16;
    for (int i = 0; i < 4; i++) {
        node = profile_node(v.p, th, node, method_of(&v, words[i], 3), 1, 10);
        profile_more(v.p, th, node)->samples = 1u << i;
    }
    profile_head(v.p)->pc_period = 1000000;
    profile_head(v.p)->n_critical = 32;
    qp_model *m = profile_load(v.p, QP_LOAD_CLEAN);
    profile_free(v.p);
    return m;
}

static void assert_row(const qp_charge_row *r, const char *module, const char *procedure,
                       uint64_t shallow, uint64_t deep)
{
    assert_string_equal(r->module, module);
    assert_string_equal(r->procedure, procedure);
    assert_int_equal(r->shallow, shallow);
    assert_int_equal(r->deep, deep);
}

static void deep_counts_are_of_distinct_procedures(void **state) /* sampling 8, 9, 10, 11, 35 */
{
    (void)state;
    qp_model *m = recursive_run();
    qp_charges c;
    qp_charge_row *rows;
    qp_charge_totals t = {0};
    size_t n;
    apply(&c, m, "");
    assert_true(qp_charges_list(&c, QP_ALL_THREADS, false, &rows, &n, &t));
    assert_int_equal(n, 3);
    assert_row(&rows[0], "m", "a", 5, 15);
    assert_row(&rows[1], "m", "b", 2, 14);
    assert_row(&rows[2], "x", "c", 8, 8);
    assert_int_equal(t.occurred, 63);
    assert_int_equal(t.counted, 63);
    assert_int_equal(t.skipped, 0);
    assert_int_equal(t.critical, 32);
    assert_int_equal(t.foreign, 16);
    qp_free(rows);
    t = (qp_charge_totals){0};
    assert_true(qp_charges_list(&c, 1, true, &rows, &n, &t));
    assert_int_equal(n, 2);
    assert_row(&rows[0], "m", "", 7, 15);
    assert_row(&rows[1], "x", "", 8, 8);
    assert_int_equal(t.counted, 31); /* critical sections are of no thread */
    qp_free(rows);
    qp_charges_fini(&c);
    qp_model_free(m);
}

static void a_colon_moves_charges_and_skips_nothing(void **state) /* sampling 26, 31, 44 */
{
    (void)state;
    qp_model *m = recursive_run();
    qp_charges c;
    qp_charge_row *rows;
    qp_charge_totals t = {0};
    size_t n;
    apply(&c, m, "m.b:->*");
    assert_true(qp_charges_list(&c, QP_ALL_THREADS, false, &rows, &n, &t));
    assert_int_equal(n, 2); /* x.c was called by m.b */
    assert_row(&rows[0], "m", "a", 0, 14);
    assert_row(&rows[1], "m", "b", 14, 14);
    assert_int_equal(t.occurred, 63);
    assert_int_equal(t.counted, 46);
    assert_int_equal(t.skipped, 17);
    assert_int_equal(t.foreign, 0);
    qp_free(rows);
    qp_charges_fini(&c);
    qp_model_free(m);
}

static void a_mistake_names_its_column(void **state) /* sampling 33 */
{
    (void)state;
    qp_model *m = one_stack("m.a");
    qp_charges c;
    qp_parse_error error;
    assert_int_equal(qp_charges_init(&c, m, "m.a->()", true, &error), QP_CHARGE_SYNTAX);
    assert_int_equal(error.column, 7);
    qp_charges_fini(&c);
    qp_model_free(m);
}

static void modules_are_classes_or_files(void **state)
{
    (void)state;
    static const struct {
        const char *class_name, *file, *module;
    } known[] = {
        {"K", "src/a.lua", "K"}, {NULL, "src/a.b.lua", "a.b"},     {NULL, "a.lua", "a"},
        {NULL, "a.lua", "a"},    {NULL, "src/.hidden", ".hidden"}, {NULL, "src.d/make", "make"},
        {NULL, NULL, ""}};
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    for (uint64_t i = 0; i < 7; i++)
        profile_node(p, th, 0,
                     profile_method(p, i + 1, "f", known[i].class_name, known[i].file), 1, 1);
    qp_model *m = profile_load(p, QP_LOAD_CLEAN);
    qp_charges c;
    apply(&c, m, "");
    for (int i = 0; i < 7; i++)
        assert_string_equal(c.modules[i + 1], known[i].module);
    qp_charges_fini(&c);
    qp_model_free(m);
    profile_free(p);
}

/* ---- random trees ---------------------------------------------------------------------------- */

static uint64_t seed = 20261121;

static unsigned pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

static void write_any(char **at, int depth);

static void write_primary(char **at, int depth)
{
    unsigned kind = pick(depth > 0 ? 10 : 7);
    if (kind == 0) {
        *at += sprintf(*at, "*");
    } else if (kind < 7) {
        *at += sprintf(*at, "%s%c", pick(5) ? "" : ":", "mx"[pick(2)]);
        if (kind < 5)
            *at += sprintf(*at, ".%c", "ab"[pick(2)]);
        *at += sprintf(*at, "%s", pick(5) ? "" : ":");
    } else {
        *at += sprintf(*at, "(");
        write_any(at, depth - 1);
        *at += sprintf(*at, ")");
    }
}

static void write_any(char **at, int depth)
{
    for (unsigned i = 0, n = 1 + pick(2); i < n; i++) {
        *at += sprintf(*at, "%s", i ? "|" : "");
        for (unsigned k = 0, length = 1 + pick(3); k < length; k++) {
            *at += sprintf(*at, "%s", k ? "->" : "");
            write_primary(at, depth);
        }
    }
}

enum { NODES = 60, WORDS = 7 };

/* Two threads; no caller calls the same procedure on two paths. */
static qp_model *random_run(void)
{
    static const char *const words[WORDS] = {"m.a", "m.b", "x.a", "x.b", "y.a", "y.b", "?"};
    vocabulary v = {.p = profile_new()};
    qp_cell threads[2] = {profile_thread(v.p), profile_thread(v.p)};
    qp_cell cells[NODES + 2];
    int above[NODES + 2] = {0}, word_of[NODES + 2], thread_of[NODES + 2] = {0, 1};
    for (int i = 0; i < NODES + 2; i++) {
        int parent = i < 2 ? i : (int)pick((unsigned)i), word = (int)pick(WORDS);
        for (int k = 2; k < i; k++)
            if (above[k] == parent && word_of[k] == word)
                parent = k;
        above[i] = parent;
        word_of[i] = i < 2 ? -1 : word;
        thread_of[i] = i < 2 ? i : thread_of[parent];
        qp_cell th = threads[thread_of[i]];
        cells[i] = i < 2 ? ((qp_thread_record *)profile_at(v.p, th))->root
                         : profile_node(v.p, th, cells[parent],
                                        method_of(&v, words[word], (int)strlen(words[word])),
                                        1 + pick(3), 1 + pick(100));
        if (pick(3))
            profile_more(v.p, th, cells[i])->samples = pick(50);
    }
    profile_head(v.p)->pc_period = 1000;
    qp_model *m = profile_load(v.p, QP_LOAD_CLEAN);
    profile_free(v.p);
    return m;
}

typedef struct {
    const qp_model *m;
    const qp_pattern *p;
    const char *const *modules;
    uint32_t frames[NODES + 2], n;
} path;

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const path *x = to;
    uint32_t method = x->m->nodes[x->frames[frame]].method;
    return qp_charge_is_procedure(x->m, x->frames[frame]) &&
           qp_pattern_name_fits(x->p, item, x->modules[method],
                                x->m->methods[method].bare_name);
}

/* Figures of the spec's sections 2 and 4, path by path. */
typedef struct {
    uint64_t shallow[WORDS + 1], deep[WORDS + 1]; /* by method */
    qp_charge_totals t;
    uint64_t total; /* ticks of what counts */
} naive;

static void read_path(path *x, uint32_t node)
{
    x->n = 0;
    for (uint32_t at = node; x->m->nodes[at].method; at = x->m->nodes[at].parent)
        x->n++;
    uint32_t n = x->n;
    for (uint32_t at = node; n; at = x->m->nodes[at].parent)
        x->frames[--n] = at;
}

static void add_naively(naive *to, path *x, uint32_t node)
{
    static uint64_t scratch[1 << 16];
    uint64_t n = x->m->nodes[node].f.interrupts;
    int64_t charged;
    uint32_t n_deep;
    bool has[WORDS + 1] = {false};
    read_path(x, node);
    bool is_foreign = x->n && !qp_charge_is_procedure(x->m, node);
    const qp_pattern_stack stack = {x->n, is_foreign, frame_fits, x};
    to->t.occurred += n;
    if (qp_pattern_match(x->p, &stack, scratch, sizeof scratch, &charged, &n_deep) !=
        QP_PATTERN_YES) {
        to->t.skipped += n;
        return;
    }
    to->t.counted += n;
    to->total += x->n ? x->m->nodes[node].f.self : 0;
    if (charged >= 0 && qp_charge_is_procedure(x->m, x->frames[charged]))
        to->shallow[x->m->nodes[x->frames[charged]].method] += n;
    else
        to->t.foreign += n;
    for (uint32_t i = 0; i < n_deep; i++) {
        uint32_t method = x->m->nodes[x->frames[i]].method;
        if (qp_charge_is_procedure(x->m, x->frames[i]) && !has[method])
            to->deep[method] += n;
        has[method] = true;
    }
}

static void assert_sums(const qp_model *m, const qp_charges *c, const naive *wanted,
                        const char *pattern)
{
    qp_charge_row *rows;
    size_t n;
    qp_charge_totals t = {0};
    assert_true(qp_charges_list(c, QP_ALL_THREADS, false, &rows, &n, &t));
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i];
        uint64_t deep, shallow = shallow_of(rows, n, c->modules[i], k->bare_name, &deep);
        if (k->flags & QP_METHOD_PSEUDO)
            continue;
        if (shallow != wanted->shallow[i] || deep != wanted->deep[i])
            fail_msg("%s: %s: %d, %d deep; expected %d, %d", pattern, k->name, (int)shallow,
                     (int)deep, (int)wanted->shallow[i], (int)wanted->deep[i]);
        assert_true(deep >= shallow);
    }
    assert_memory_equal(&t, &wanted->t, sizeof t);
    qp_free(rows);
}

/* A view has the time and the interrupts of what counts, and no more. */
static void assert_view(qp_model *m, const qp_charges *c, const naive *wanted,
                        const char *pattern)
{
    uint64_t interrupts = 0;
    assert_true(qp_model_fold(&m, &(qp_fold){.charged = c->nodes, .when = pattern}));
    for (uint32_t i = 1; i < m->n_nodes; i++)
        interrupts += m->nodes[i].f.interrupts;
    assert_int_equal(interrupts, wanted->t.counted);
    assert_int_equal(m->run.total, wanted->total);
    assert_string_equal(m->run.when, pattern);
    for (uint32_t i = 1; i < m->n_methods; i++)
        if (!(m->methods[i].flags & QP_METHOD_PSEUDO))
            assert_int_equal(m->methods[i].all.interrupts, wanted->shallow[i]);
    qp_model_free(m);
}

static void random_trees_sum_up_as_path_by_path(void **state)
{
    (void)state;
    static qp_pattern p;
    int n_skipped = 0, n_moved = 0;
    for (int round = 0; round < 4000; round++) {
        char pattern[4096], *at = pattern;
        qp_parse_error error;
        qp_charges c;
        qp_model *m = random_run();
        write_any(&at, 3);
        assert_int_equal(qp_pattern_parse(&p, pattern, &error), QP_PARSE_OK);
        apply(&c, m, pattern);
        naive wanted = {0};
        path x = {.m = m, .p = &p, .modules = c.modules};
        for (uint32_t i = 1; i < m->n_nodes; i++) {
            add_naively(&wanted, &x, i);
            n_skipped += c.nodes[i] == QP_CHARGE_SKIPPED;
            n_moved += c.nodes[i] != QP_CHARGE_SKIPPED && c.nodes[i] != i;
        }
        assert_sums(m, &c, &wanted, pattern);
        assert_view(m, &c, &wanted, pattern);
        qp_charges_fini(&c);
    }
    assert_true(n_skipped > 1000 && n_moved > 1000); /* the patterns mean something */
}

/* ---- views ----------------------------------------------------------------------------------- */

/* m.a calls m.b (10 each), which calls m.a, which calls x.c. */
static void a_view_charges_time_and_keeps_callers(void **state)
{
    (void)state;
    qp_model *m = recursive_run();
    qp_charges c;
    apply(&c, m, "m.b:->*");
    assert_true(qp_model_fold(&m, &(qp_fold){.charged = c.nodes, .when = "m.b:->*"}));
    qp_charges_fini(&c);
    assert_int_equal(m->n_nodes, 4); /* run, thread, m.a, m.b */
    assert_int_equal(m->run.total, 30);
    assert_int_equal(m->run.unfolded_total, 40);
    assert_int_equal(m->run.calls, 1); /* of m.b; others are charged to it */
    const qp_figures *a = &profile_find(m, "m.a")->all, *b = &profile_find(m, "m.b")->all;
    assert_int_equal(a->self, 0);
    assert_int_equal(a->total, 30);
    assert_int_equal(a->calls, 0);
    assert_int_equal(b->self, 30);
    assert_true(profile_find(m, "m.b")->has_hidden);
    qp_model_free(m);
}

static void a_view_without_colons_leaves_out_the_rest(void **state)
{
    (void)state;
    qp_model *m = recursive_run();
    qp_charges c;
    apply(&c, m, "m.a");
    assert_true(qp_model_fold(&m, &(qp_fold){.charged = c.nodes, .when = "m.a"}));
    qp_charges_fini(&c);
    assert_int_equal(m->n_nodes, 5);
    assert_int_equal(m->run.total, 20);
    assert_int_equal(profile_find(m, "m.a")->all.calls, 2);
    assert_int_equal(profile_find(m, "m.a")->all.self, 20);
    assert_int_equal(profile_find(m, "m.a")->all.interrupts, 5);
    assert_int_equal(profile_find(m, "m.b")->all.self, 0);
    assert_int_equal(profile_find(m, "m.b")->all.total, 10);
    assert_int_equal(profile_find(m, "x.c")->all.total, 0);
    qp_model_free(m);
}

/* ---- the recorder ---------------------------------------------------------------------------- */

static void sample_a_score(void)
{
    qprof_pc_sample(3);
}

static void play_sampled(play_ctx *p)
{
    static const char *const parts[] = {"a( b(", ") b( c(", ") ) a( a(", ") c(", ") ) )", "b("};
    sample_a_score(); /* before the first entry: of the thread's root */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        play(p, parts[i]);
        sample_a_score();
    }
    qprof_record_fn_entry(QPROF_METHOD_NATIVE, 999);
    sample_a_score();
    play(p, ".");
    qprof_pc_enter_critical();
    sample_a_score();
    qprof_pc_leave_critical();
}

/* What the recorder says of a run with the pattern, before it ends. */
typedef struct {
    uint64_t shallow[3], deep[3];
    qprof_PcTotals t;
} recorded;

static void read_recorder(play_ctx *p, recorded *r)
{
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            qprof_pc_procedure(play_method(p, names[i]), &r->shallow[i], &r->deep[i]), 0);
    assert_int_equal(qprof_pc_totals(&r->t), 0);
}

static void assert_model_says(play_ctx *p, const recorded *r, const char *pattern)
{
    static const char *const names[] = {"a", "b", "c"};
    qp_charges c;
    qp_charge_row *rows;
    qp_charge_totals t = {0};
    size_t n;
    apply(&c, p->m, pattern);
    assert_true(qp_charges_list(&c, QP_ALL_THREADS, false, &rows, &n, &t));
    for (int i = 0; i < 3; i++) {
        uint64_t deep;
        assert_int_equal(shallow_of(rows, n, "score", names[i], &deep), r->shallow[i]);
        assert_int_equal(deep, r->deep[i]);
    }
    assert_int_equal(t.occurred, r->t.occurred);
    assert_int_equal(t.counted, r->t.counted);
    assert_int_equal(t.skipped, r->t.skipped);
    assert_int_equal(t.critical, r->t.critical);
    assert_int_equal(t.foreign, r->t.foreign);
    qp_free(rows);
    qp_charges_fini(&c);
}

/* Recorded with the pattern, and recorded without it and applied then. */
static void a_pattern_gives_afterwards_what_it_gave_while_recording(void **state)
{
    play_ctx *p = *state;
    static const char *const patterns[] = {"",
                                           "*",
                                           "score.b",
                                           "score.a->*",
                                           ":score.b",
                                           "score.b:->*",
                                           "score.a->score.a",
                                           ":score.a->score.c | score.b:->*",
                                           "score",
                                           "(score.a|score.b)->*->score.c"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (int is_stack_only = 0; is_stack_only < 2; is_stack_only++) {
            const char *only = is_stack_only ? "-collect=samples " : "";
            char options[256];
            recorded r;
            snprintf(options, sizeof options, "%s-pc='REAL 3600000000 %s%s%s'", only,
                     *patterns[i] ? "WHEN " : "", patterns[i], *patterns[i] ? ";" : "");
            unlink("run.qprof");
            play_begin(p, options);
            play_sampled(p);
            read_recorder(p, &r);
            play_end(p);
            assert_string_equal(p->m->run.pc_pattern, patterns[i]);
            assert_model_says(p, &r, p->m->run.pc_pattern);
            snprintf(options, sizeof options, "%s-pc='REAL 3600000000'", only);
            unlink("run.qprof");
            play_begin(p, options);
            play_sampled(p);
            play_end(p);
            assert_model_says(p, &r, patterns[i]);
        }
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Quadratic, it would be 10 to the power of 11 steps. */
static void a_path_of_300000_frames_is_nothing_special(void **state)
{
    enum { DEEP = 300000 };
    (void)state;
    char error[QP_BUILDER_ERROR_BYTES];
    qp_builder *b = qp_builder_new(0);
    qp_head *h = qp_builder_head(b);
    h->clock_source = QP_SOURCE_NS;
    h->collect = QP_COLLECT_SAMPLES;
    h->pc_period = 1000000;
    const qp_builder_code codes[] = {
        {.id = 1, .flags = QP_METHOD_REGISTERED, .name = "a", .class_name = "m"},
        {.id = 2, .flags = QP_METHOD_REGISTERED, .name = "b", .class_name = "x"}};
    uint32_t methods[] = {qp_builder_method(b, &codes[0]), qp_builder_method(b, &codes[1])};
    qp_builder_thread(b, &(qp_thread_record){.state = QP_THREAD_ENDED});
    for (uint32_t i = 0, node = 0; i < DEEP; i++) {
        node = qp_builder_node(b, node, methods[i % 2], &(qp_node){.self_min = UINT64_MAX});
        qp_builder_node_more(b, 0, 0, 1);
    }
    assert_true(qp_builder_finish(b, "deep.qprof", error));
    qp_builder_free(b);
    qp_model *m;
    assert_int_equal(qp_model_load("deep.qprof", NULL, &m, error), QP_LOAD_CLEAN);
    qp_charges c;
    qp_charge_row *rows;
    qp_charge_totals t = {0};
    size_t n;
    apply(&c, m, "m.a:->*->x.b");
    assert_true(qp_charges_list(&c, QP_ALL_THREADS, false, &rows, &n, &t));
    assert_int_equal(t.counted, DEEP / 2);
    assert_row(&rows[0], "m", "a", DEEP / 2, DEEP / 2);
    /* the first interrupt of x.b is charged to m.a before any x.b was active */
    assert_row(&rows[1], "x", "b", 0, DEEP / 2 - 1);
    qp_free(rows);
    qp_charges_fini(&c);
    qp_model_free(m);
}

static void without_memory_there_is_nothing(void **state)
{
    (void)state;
    qp_model *m = recursive_run();
    bool is_done = false;
    for (uint64_t n = 1; !is_done; n++) {
        qp_charges c;
        qp_charge_row *rows = NULL;
        qp_charge_totals t = {0};
        qp_parse_error error;
        size_t n_rows;
        qp_alloc_fail_after(n, true);
        qp_charge_status status = qp_charges_init(&c, m, "m.a->*", true, &error);
        is_done = status == QP_CHARGE_OK &&
                  qp_charges_list(&c, QP_ALL_THREADS, false, &rows, &n_rows, &t);
        qp_alloc_fail_after(0, false);
        assert_true(is_done || status != QP_CHARGE_SYNTAX);
        qp_free(rows);
        qp_charges_fini(&c);
        assert_true(n < 50);
    }
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_results_hold_of_a_profile),
        cmocka_unit_test(deep_counts_are_of_distinct_procedures),
        cmocka_unit_test(a_colon_moves_charges_and_skips_nothing),
        cmocka_unit_test(a_mistake_names_its_column),
        cmocka_unit_test(modules_are_classes_or_files),
        cmocka_unit_test(random_trees_sum_up_as_path_by_path),
        cmocka_unit_test(a_view_charges_time_and_keeps_callers),
        cmocka_unit_test(a_view_without_colons_leaves_out_the_rest),
        PLAY_TEST(a_pattern_gives_afterwards_what_it_gave_while_recording),
        PLAY_TEST(a_path_of_300000_frames_is_nothing_special),
        cmocka_unit_test(without_memory_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
