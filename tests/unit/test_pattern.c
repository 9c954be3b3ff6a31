/* test_pattern.c tests code/pattern.c and pattern_match.c: the worked results of
 * spec/sampling.md section 4, its rules one by one, and a naive expander on random patterns and
 * stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/pattern.h"
#include "unit/patterns.h"

enum { FRAMES_MAX = 64, NAME_BYTES = 64, NO_MATCH = -2, FOREIGN = QP_PATTERN_FOREIGN };

/* ---- stacks in words: "u.main m.f ?" is outermost first, ? is foreign code --------------- */

typedef struct {
    const qp_pattern *p;
    char modules[FRAMES_MAX][NAME_BYTES], procedures[FRAMES_MAX][NAME_BYTES];
    uint32_t n;
    bool is_foreign;
} words;

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const words *w = to;
    return qp_pattern_name_fits(w->p, item, w->modules[frame], w->procedures[frame]);
}

static void read_stack(words *w, const char *text)
{
    *w = (words){0};
    while (*(text += strspn(text, " "))) {
        int n = (int)strcspn(text, " ");
        if (text[0] == '?')
            w->is_foreign = true;
        else
            sscanf(text, "%63[^.].%63[^ ]", w->modules[w->n], w->procedures[w->n]);
        w->n++;
        text += n;
    }
}

typedef struct {
    int64_t charged; /* NO_MATCH: not counted */
    uint32_t n_deep;
} result;

static result match(const qp_pattern *p, words *w)
{
    static uint64_t scratch[1 << 16];
    const qp_pattern_stack stack = {w->n, w->is_foreign, frame_fits, w};
    result r = {NO_MATCH, 0};
    w->p = p;
    assert_true(qp_pattern_scratch(p, w->n) <= sizeof scratch);
    qp_pattern_answer m =
        qp_pattern_match(p, &stack, scratch, sizeof scratch, &r.charged, &r.n_deep);
    assert_int_not_equal(m, QP_PATTERN_NO_MEMORY);
    return m == QP_PATTERN_YES ? r : (result){NO_MATCH, 0};
}

static qp_pattern parsed; /* large */

static result match_texts(const char *pattern, const char *stack, words *w)
{
    qp_error error;
    if (qp_pattern_parse(&parsed, pattern, &error) != QP_PARSE_OK)
        fail_msg("%s: %u: %s", pattern, error.column, error.text);
    read_stack(w, stack);
    return match(&parsed, w);
}

/* Claim: "m.q", "foreignPcs", or "-" for not counted. */
static void assert_charged(const char *pattern, const char *stack, const char *wanted)
{
    words w;
    result r = match_texts(pattern, stack, &w);
    char got[2 * NAME_BYTES] = "-";
    if (r.charged >= 0)
        snprintf(got, sizeof got, "%s.%s", w.modules[r.charged], w.procedures[r.charged]);
    else if (r.charged == FOREIGN)
        snprintf(got, sizeof got, "foreignPcs");
    if (strcmp(got, wanted) != 0)
        fail_msg("%s on %s charges %s, not %s", pattern, stack, got, wanted);
}

static void assert_deep(const char *pattern, const char *stack, uint32_t n_deep)
{
    words w;
    assert_int_equal(match_texts(pattern, stack, &w).n_deep, n_deep);
}

/* ---- the specification ------------------------------------------------------------------- */

static void the_worked_results_hold(void **state) /* sampling 40 */
{
    (void)state;
    for (size_t i = 0; i < n_pattern_results; i++)
        assert_charged(pattern_results[i].pattern, pattern_results[i].stack,
                       pattern_results[i].charged);
}

static void names_stand_where_the_rules_say(void **state) /* sampling 17 to 25 */
{
    (void)state;
    assert_charged("m.b", "m.a m.b", "m.b"); /* 17, 21 */
    assert_charged("*->m.b", "m.a m.b", "m.b");
    assert_charged("m.b", "m.b m.a", "-");
    assert_charged("m.a->m.b", "m.a m.b", "m.b");     /* 18 */
    assert_charged("m.a->*", "m.a m.b m.c", "m.c");   /* 20 */
    assert_charged("m.x|m.b", "m.a m.b", "m.b");      /* 22 */
    assert_charged("m->n", "m.a m.b m.c n.q", "n.q"); /* 24 */
    assert_charged("m->n", "m.a x.p n.q", "-");
    assert_charged("M.A->$ARYMOD.New", "m.a $arymod.NEW", "$arymod.NEW"); /* 25 */
    assert_charged("\"a b\".\"operator+()\"", "x.y z.z", "-");
}

static void colons_change_who_is_charged(void **state) /* sampling 26 to 32, 41 */
{
    (void)state;
    assert_charged("m.b:->*", "m.a m.b m.c", "m.b"); /* 26 */
    assert_deep("m.b:->*", "m.a m.b m.c", 2);
    assert_charged(":m.b->*", "m.a m.b m.c", "m.a"); /* 27 */
    assert_deep(":m.b->*", "m.a m.b m.c", 1);
    assert_charged(":m.a->*", "m.a m.b", "foreignPcs"); /* 28 */
    assert_deep(":m.a->*", "m.a m.b", 0);
    assert_charged("m.a:->m.b:", "m.a m.b", "m.a");      /* 29 */
    assert_charged("(m.x:|m.a)->m.b", "m.a m.b", "m.b"); /* 30 */
    assert_charged("m.a:->*", "m.a m.a m.a m.c", "m.a"); /* 32 */
    assert_deep("m.a:->*", "m.a m.a m.a m.c", 3);
    assert_charged(":m->*", "x.p m.a m.b n.q", "x.p"); /* 41 */
    assert_deep("m.b", "m.a m.a m.b", 3);
}

static void foreign_code_is_one_unnamed_frame(void **state) /* sampling 34 */
{
    (void)state;
    assert_charged("m.a", "m.a ?", "-");
    assert_charged("m.a->*", "m.a ?", "foreignPcs");
    assert_deep("m.a->*", "m.a ?", 1);
    assert_charged("m.a:->*", "m.a ?", "m.a");
    assert_charged("m.a", "", "-");
}

static void assert_refused(const char *pattern, qp_parse code, unsigned column)
{
    qp_error error;
    assert_int_equal(qp_pattern_parse(&parsed, pattern, &error), code);
    assert_int_equal(error.column, column);
    assert_true(error.text[0] != '\0');
}

static void mistakes_are_refused_at_their_column(void **state) /* sampling 33 */
{
    (void)state;
    assert_refused("*:", QP_PARSE_SYNTAX, 2);
    assert_refused(":*", QP_PARSE_SYNTAX, 2);
    assert_refused("(m.a):", QP_PARSE_SYNTAX, 6);
    assert_refused(":(m.a)", QP_PARSE_SYNTAX, 2);
    assert_refused("m.a->()", QP_PARSE_SYNTAX, 7);
    assert_refused("m.a->", QP_PARSE_SYNTAX, 6);
    assert_refused("->m.a", QP_PARSE_SYNTAX, 1);
    assert_refused("(m.a", QP_PARSE_SYNTAX, 5);
    assert_refused("m.a)", QP_PARSE_SYNTAX, 4);
    assert_refused("m.a m.b", QP_PARSE_SYNTAX, 5);
    assert_refused("m.", QP_PARSE_SYNTAX, 3);
    assert_refused("m.a|", QP_PARSE_SYNTAX, 5);
    assert_refused("\"m", QP_PARSE_SYNTAX, 1);
    assert_refused("", QP_PARSE_SYNTAX, 1);
    assert_refused("m.a # m.b", QP_PARSE_SYNTAX, 5);
}

/* 2 to the power of 30 expanded threads. */
static void thirty_nested_alternatives_are_nothing_special(void **state) /* sampling 43 */
{
    (void)state;
    char pattern[1024] = "", stack[1024] = "", caller[1100];
    for (int i = 0; i < 30; i++) {
        strcat(pattern, i ? "->(m.a|m.b)" : "(m.a|m.b)");
        strcat(stack, "m.b ");
    }
    assert_charged(pattern, stack, "m.b");
    strcpy(caller, ":m.x|");
    strcat(caller, pattern);
    assert_charged(caller, stack, "m.b");
    char deep[4096] = "";
    for (int i = 0; i < 200; i++)
        strcat(deep, "(m.a->");
    strcat(deep, "*");
    for (int i = 0; i < 200; i++)
        strcat(deep, "|m.b)");
    assert_charged(deep, "m.b", "m.b");
}

/* ---- a naive expander -------------------------------------------------------------------- */

enum { THREADS_MAX = 256, LENGTH_MAX = 24 };

typedef struct {
    uint16_t items[LENGTH_MAX];
    int n;
} thread;

typedef struct {
    thread list[THREADS_MAX];
    int n;
    bool is_too_large;
} expansion;

static void append(expansion *to, const thread *a, const thread *b)
{
    if (to->n == THREADS_MAX || a->n + b->n > LENGTH_MAX) {
        to->is_too_large = true;
        return;
    }
    thread *t = &to->list[to->n++];
    *t = *a;
    memcpy(t->items + t->n, b->items, (size_t)b->n * sizeof *b->items);
    t->n += b->n;
}

/* All threads of an item, in order. @return from malloc */
static expansion *expand(const qp_pattern *p, uint16_t index)
{
    const qp_item *item = &p->items[index];
    const thread empty = {{0}, 0};
    expansion *all = calloc(1, sizeof *all);
    if (item->kind < QP_ITEM_THREAD) {
        all->list[0] = (thread){{index}, 1};
        all->n = 1;
        return all;
    }
    if (item->kind == QP_ITEM_THREAD)
        append(all, &empty, &empty);
    for (uint16_t c = item->first; c; c = p->items[c].next) {
        expansion *of_child = expand(p, c);
        all->is_too_large |= of_child->is_too_large;
        if (item->kind == QP_ITEM_ANY) {
            for (int i = 0; i < of_child->n; i++)
                append(all, &empty, &of_child->list[i]);
        } else {
            expansion *product = calloc(1, sizeof *product);
            product->is_too_large = all->is_too_large;
            for (int i = 0; i < all->n; i++)
                for (int k = 0; k < of_child->n; k++)
                    append(product, &all->list[i], &of_child->list[k]);
            free(all);
            all = product;
        }
        free(of_child);
    }
    return all;
}

/* Bind the first n items to frames that end at `end`, trying the choices of the specification
 * in its order. */
static bool bind_naively(const qp_pattern *p, const words *w, const thread *t, int n,
                         uint32_t end, uint32_t *begins, uint32_t *ends)
{
    if (n == 0)
        return true;
    const qp_item *item = &p->items[t->items[n - 1]];
    uint32_t longest = 0;
    while (longest < end) {
        uint32_t frame = end - 1 - longest;
        bool is_foreign = w->is_foreign && frame + 1 == w->n;
        if (item->kind != QP_ITEM_STAR &&
            (is_foreign ||
             !qp_pattern_name_fits(p, item, w->modules[frame], w->procedures[frame])))
            break;
        longest++;
    }
    if (item->kind == QP_ITEM_PROCEDURE && longest > 1)
        longest = 1;
    uint32_t least = item->kind == QP_ITEM_STAR ? 0 : 1;
    for (uint32_t i = least; i <= longest; i++) {
        uint32_t taken = item->kind == QP_ITEM_STAR ? i : longest + least - i;
        begins[n - 1] = end - taken;
        ends[n - 1] = end;
        if (bind_naively(p, w, t, n - 1, end - taken, begins, ends))
            return true;
    }
    return false;
}

static result match_naively(const qp_pattern *p, const words *w, const expansion *all)
{
    uint32_t begins[LENGTH_MAX], ends[LENGTH_MAX];
    for (int i = 0; i < all->n; i++) {
        const thread *t = &all->list[i];
        if (!bind_naively(p, w, t, t->n, w->n, begins, ends))
            continue;
        for (int k = 0; k < t->n; k++) {
            const qp_item *item = &p->items[t->items[k]];
            if (item->is_caller_charged)
                return (result){(int64_t)begins[k] - 1, begins[k]};
            if (item->is_charged)
                return (result){(int64_t)ends[k] - 1, ends[k]};
        }
        if (w->n == 0 || w->is_foreign)
            return (result){FOREIGN, w->n ? w->n - 1 : 0};
        return (result){(int64_t)w->n - 1, w->n};
    }
    return (result){NO_MATCH, 0};
}

/* ---- random pairs ------------------------------------------------------------------------ */

static void write_stack(words *w)
{
    w->n = pattern_pick(8);
    w->is_foreign = w->n && pattern_pick(6) == 0;
    for (uint32_t i = 0; i < w->n; i++) {
        snprintf(w->modules[i], NAME_BYTES, "%c", "mxy"[pattern_pick(3)]);
        snprintf(w->procedures[i], NAME_BYTES, "%c", "ab"[pattern_pick(2)]);
    }
}

static void random_patterns_match_as_their_expansion(void **state)
{
    (void)state;
    enum { PAIRS = 1000000, STACKS = 25 };
    int n_pairs = 0, n_counted = 0, n_colons = 0;
    while (n_pairs < PAIRS) {
        char pattern[4096], *at = pattern;
        qp_error error;
        pattern_write(&at, 3);
        assert_int_equal(qp_pattern_parse(&parsed, pattern, &error), QP_PARSE_OK);
        expansion *all = expand(&parsed, parsed.root);
        for (int i = 0; i < STACKS && !all->is_too_large; i++, n_pairs++) {
            words w;
            write_stack(&w);
            result got = match(&parsed, &w), wanted = match_naively(&parsed, &w, all);
            if (got.charged != wanted.charged || got.n_deep != wanted.n_deep)
                fail_msg("pair %d: %s: charged %d, %u deep; expected %d, %u", n_pairs, pattern,
                         (int)got.charged, got.n_deep, (int)wanted.charged, wanted.n_deep);
            n_counted += wanted.charged != NO_MATCH;
            n_colons += wanted.charged >= 0 && wanted.charged + 1 < (int64_t)w.n;
        }
        free(all);
    }
    assert_true(n_counted > PAIRS / 10 &&
                n_colons > PAIRS / 100); /* the pairs mean something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_results_hold),
        cmocka_unit_test(names_stand_where_the_rules_say),
        cmocka_unit_test(colons_change_who_is_charged),
        cmocka_unit_test(foreign_code_is_one_unnamed_frame),
        cmocka_unit_test(mistakes_are_refused_at_their_column),
        cmocka_unit_test(thirty_nested_alternatives_are_nothing_special),
        cmocka_unit_test(random_patterns_match_as_their_expansion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
