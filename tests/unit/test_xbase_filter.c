/* test_xbase_filter.c tests xbase/filter.c: what section 4 of the specification of traces says,
 * in its words and its example. Events and entries are words: letter and name, "iLEN"; "O": the
 * return of the frame on top; "B2": two frames end without returning; "2:" before it: on thread
 * 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "xbase/xbase.h"

enum { THREADS = 3, NAMES = 16, TEXT = 4096, BLOCKS = 64 };

typedef struct {
    qp_filter filter;
    qp_filter_thread threads[THREADS];
    char names[NAMES][8];
    uint32_t n_names;
    uint64_t now;
    const char *excluded;
    unsigned n_blocks; /* that may be taken */
    char text[TEXT];
    bool is_detailed; /* the text also has times, lines and values */
    void *blocks[BLOCKS];
    unsigned n_taken;
} stage;

static uint32_t id_of(stage *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_names; i++)
        if (strcmp(s->names[i], name) == 0)
            return i + 1;
    assert_true(s->n_names < NAMES && strlen(name) < sizeof s->names[0]);
    strcpy(s->names[s->n_names++], name);
    return s->n_names;
}

static void write_entry(void *to, const qp_filter_thread *th, const qp_filter_event *e,
                        const char *params, size_t n_bytes)
{
    stage *s = to;
    size_t n = strlen(s->text);
    n += (size_t)snprintf(s->text + n, TEXT - n, "%s", n ? " " : "");
    if (th->ordinal != 1)
        n += (size_t)snprintf(s->text + n, TEXT - n, "%u:", th->ordinal);
    n += (size_t)snprintf(s->text + n, TEXT - n, "%c%s", e->op, s->names[e->method - 1]);
    if (s->is_detailed)
        snprintf(s->text + n, TEXT - n, "@%u/%u(%.*s)", (unsigned)e->time_ms, e->line,
                 (int)n_bytes, params);
}

static bool is_excluded(void *to, const qp_filter_thread *th, uint32_t method)
{
    stage *s = to;
    char thread[2] = {(char)('0' + th->ordinal), '\0'};
    return s->excluded &&
           (qp_pri_list_has(s->excluded, s->names[method - 1], strlen(s->names[method - 1])) ||
            qp_pri_list_has(s->excluded, thread, 1));
}

static void *take(void *to)
{
    stage *s = to;
    if (s->n_taken == s->n_blocks)
        return NULL;
    s->blocks[s->n_taken] = aligned_alloc(16, QP_FILTER_BLOCK);
    return s->blocks[s->n_taken++];
}

/* One word of what happens. Each takes a millisecond. */
static void put(stage *s, const char *word)
{
    bool has_thread = word[1] == ':';
    qp_filter_thread *th = &s->threads[has_thread ? word[0] - '1' : 0];
    word += has_thread ? 2 : 0;
    char name[8];
    snprintf(name, sizeof name, "%s", word + 1);
    char *at = strchr(name, '/');
    qp_filter_event e = {*word, 0, at ? (uint32_t)atoi(at + 1) : 0, ++s->now};
    if (at)
        *at = '\0';
    if (*word == 'B')
        qp_filter_unwind(&s->filter, th, strtoull(word + 1, NULL, 10));
    else if (*word == 'L')
        qp_filter_line(th, (uint32_t)atoi(word + 1));
    else if (*word == 'P' || *word == 'R')
        qp_filter_value(&s->filter, th, *word == 'R', word + 1, strlen(word + 1));
    else {
        e.method = word[1] ? id_of(s, name) : 0;
        qp_filter_event_put(&s->filter, th, &e);
    }
}

static void play(stage *s, const char *words)
{
    char copy[TEXT], *rest = copy;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        put(s, word);
}

static void begin(stage *s, uint32_t mode, bool has_builtins)
{
    memset(s, 0, sizeof *s);
    s->filter = (qp_filter){.mode = mode,
                            .has_builtins = has_builtins,
                            .has_params = true,
                            .write = write_entry,
                            .is_excluded = is_excluded,
                            .take = take,
                            .to = s};
    s->n_blocks = BLOCKS;
    for (uint32_t i = 0; i < THREADS; i++)
        s->threads[i].ordinal = i + 1;
}

static void end(stage *s)
{
    for (unsigned i = 0; i < s->n_taken; i++)
        free(s->blocks[i]);
}

static void assert_mode(uint32_t mode, bool has_builtins, const char *events,
                        const char *expected)
{
    stage s;
    begin(&s, mode, has_builtins);
    play(&s, events);
    assert_string_equal(s.text, expected);
    end(&s);
}

/* MAIN (hooks) calls LEN (no hooks) and SUB (hooks). */
#define EXAMPLE "iMAIN IMAIN iLEN oLEN iSUB ISUB O oSUB O oMAIN"

static void mode_0_writes_nothing(void **state) /* trace 1 */
{
    (void)state;
    assert_mode(0, true, EXAMPLE, "");
    assert_mode(8 + 1024 + 4096, true, EXAMPLE, "");
}

static void filtered_each_call_gives_one_i_and_one_o(void **state) /* trace 2, 3 */
{
    (void)state;
    assert_mode(1, true, EXAMPLE, "IMAIN ILEN OLEN ISUB OSUB OMAIN");
    assert_mode(1, false, EXAMPLE, "IMAIN ISUB OSUB OMAIN");
    assert_mode(1025, true, EXAMPLE, "IMAIN ILEN OLEN ISUB OSUB OMAIN");
    assert_mode(3073, true, EXAMPLE, "IMAIN ILEN OLEN ISUB OSUB OMAIN");
}

static void unfiltered_both_ends_are_seen(void **state) /* trace 4, 5 */
{
    (void)state;
    const char *all = "iMAIN IMAIN iLEN oLEN iSUB ISUB OSUB oSUB OMAIN oMAIN";
    assert_mode(4105, true, EXAMPLE, all);
    assert_mode(5129, true, EXAMPLE, all);
    assert_mode(7177, true, EXAMPLE, all);
    assert_mode(4105, true, "IMAIN O", "IMAIN OMAIN"); /* it was not announced */
    assert_mode(4105, false, EXAMPLE, "iMAIN IMAIN iSUB ISUB OSUB oSUB OMAIN oMAIN");
}

static void the_letters_follow_both_bits(void **state) /* trace 29 */
{
    (void)state;
    assert_mode(4097, true, EXAMPLE, "IMAIN ISUB OSUB OMAIN");
    assert_mode(9, true, EXAMPLE, "IMAIN iLEN oLEN ISUB OSUB OMAIN");
    assert_mode(9, false, EXAMPLE, "IMAIN ISUB OSUB OMAIN");
}

static void threads_do_not_disturb_each_other(void **state) /* trace 6, 7 */
{
    (void)state;
    assert_mode(1, true, "1:iA 2:iA 1:IA 2:IA 2:iB 1:O 1:oA 2:oB 2:O 2:oA",
                "IA 2:IA OA 2:IB 2:OB 2:OA");
    assert_mode(1, true, "1:iA 2:IA 1:oA 2:O", "2:IA IA OA 2:OA");
}

static void a_break_leaves_calls_without_return(void **state) /* trace 8, 9 */
{
    (void)state;
    const char *events = "IMAIN iSUB ISUB iSUB2 ISUB2 B2 O";
    assert_mode(1, true, events, "IMAIN ISUB ISUB2 OMAIN");
    assert_mode(4105, true, events, "IMAIN iSUB ISUB iSUB2 ISUB2 OMAIN");
    /* a protected call without hooks continues after it */
    assert_mode(1, true, "IMAIN iPCALL ISUB iSUB2 ISUB2 B2 oPCALL O",
                "IMAIN IPCALL ISUB ISUB2 OPCALL OMAIN");
    /* an error in a callee without hooks: one frame ends, in the way of a return */
    assert_mode(1, true, "IMAIN iPCALL ISUB iERROR O oPCALL O",
                "IMAIN IPCALL ISUB IERROR OSUB OPCALL OMAIN");
}

static void a_builtin_that_calls_back_is_around_its_callback(void **state) /* trace 30 */
{
    (void)state;
    assert_mode(1, true, "IMAIN iAEVAL IBLOCK O IBLOCK O oAEVAL O",
                "IMAIN IAEVAL IBLOCK OBLOCK IBLOCK OBLOCK OAEVAL OMAIN");
    assert_mode(1, true, "IMAIN iAEVAL iBLOCK IBLOCK O oBLOCK oAEVAL O",
                "IMAIN IAEVAL IBLOCK OBLOCK OAEVAL OMAIN");
    assert_mode(1, false, "IMAIN iAEVAL IBLOCK O oAEVAL O", "IMAIN IBLOCK OBLOCK OMAIN");
}

static void what_did_not_begin_does_not_return(void **state) /* trace 32 */
{
    (void)state;
    assert_mode(1, true, "O oA IMAIN O O oMAIN", "IMAIN OMAIN");
    assert_mode(4105, true, "oA O iB oB", "iB oB");
    stage s; /* entered while the trace was off, and the other way round */
    begin(&s, 0, true);
    play(&s, "iA IA");
    s.filter.mode = 1;
    play(&s, "iB IB");
    s.filter.mode = 0;
    play(&s, "iC IC O oC O oB");
    s.filter.mode = 1;
    play(&s, "O oA");
    assert_string_equal(s.text, "IB OB");
    end(&s);
}

static void settings_take_effect_at_the_next_entry(void **state)
{
    (void)state;
    stage s;
    begin(&s, 4105, true);
    play(&s, "iA IA");
    s.filter.mode = 1;
    play(&s, "iB IB O oB iC oC O oA");
    assert_string_equal(s.text, "iA IA IB OB IC OC OA oA");
    end(&s);
}

static void the_excluded_are_absent_and_what_they_call_is_not(void **state) /* trace 12 */
{
    (void)state;
    stage s;
    begin(&s, 1, true);
    s.excluded = "SUB,LEN 2";
    play(&s, "IMAIN iLEN oLEN iSUB ISUB iX IX O oX O oSUB O 2:IMAIN 2:iX 2:oX 2:O 3:IA 3:O");
    assert_string_equal(s.text, "IMAIN IX OX OMAIN 3:IA 3:OA");
    end(&s);
    begin(&s, 4105, true);
    s.excluded = "SUB";
    play(&s, "IMAIN iSUB ISUB iX IX O oX O oSUB O");
    assert_string_equal(s.text, "IMAIN iX IX OX oX OMAIN");
    end(&s);
}

static void lines_and_times_are_those_of_their_side(void **state)
{
    (void)state;
    stage s;
    begin(&s, 1, true);
    s.is_detailed = true;
    /* times: 1 IMAIN, 2 L, 3 i, 4 I, 5 O, 6 o, 7 i, 8 o, 9 O */
    play(&s, "IMAIN/10 L12 iSUB/12 ISUB/30 O oSUB/12 iLEN/13 oLEN/14 O");
    assert_string_equal(s.text, "IMAIN@1/10() ISUB@4/30() OSUB@5/30() ILEN@7/13() OLEN@8/14() "
                                "OMAIN@9/12()");
    end(&s);
    begin(&s, 4105, true);
    s.is_detailed = true;
    play(&s, "IMAIN/10 iSUB/12 ISUB/30 L31 L32 O oSUB/13");
    assert_string_equal(s.text, "IMAIN@1/10() iSUB@2/12() ISUB@3/30() OSUB@6/32() oSUB@7/13()");
    end(&s);
}

static void values_belong_to_the_next_entry_and_return(void **state)
{
    (void)state;
    stage s;
    begin(&s, 1, true);
    s.is_detailed = true;
    play(&s, "P1 Pab iSUB ISUB P7 iLEN R3 oLEN Rx O oSUB iB oB");
    assert_string_equal(s.text,
                        "ISUB@4/0(1, ab) ILEN@6/0(7) OLEN@8/0(3) OSUB@10/0(x) IB@12/0() "
                        "OB@13/0()");
    end(&s);
    begin(&s, 4105, true);
    s.is_detailed = true;
    play(&s, "P1 iSUB ISUB Rx O oSUB P2 IB O");
    assert_string_equal(s.text, "iSUB@2/0(1) ISUB@3/0() OSUB@5/0(x) oSUB@6/0() IB@8/0(2) "
                                "OB@9/0()");
    end(&s);
    begin(&s, 1, true);
    s.is_detailed = true;
    s.filter.has_params = false;
    play(&s, "P1 ISUB Rx O");
    assert_string_equal(s.text, "ISUB@2/0() OSUB@4/0()");
    assert_int_equal(s.n_taken, 1);
    end(&s);
}

static void long_values_are_cut_at_a_whole_character(void **state)
{
    (void)state;
    stage s;
    begin(&s, 1, true);
    qp_filter_thread *th = &s.threads[0];
    for (unsigned i = 0; i < 3000; i++)
        qp_filter_value(&s.filter, th, false, "\xc3\xa4", 2);
    assert_int_equal(s.filter.n_cut, 3000 - QP_FILTER_VALUES / 4); /* "ä, " are 4 bytes */
    put(&s, "IA");
    end(&s);
}

static void without_memory_calls_are_counted_and_the_rest_stays_right(void **state)
{
    (void)state;
    stage s;
    begin(&s, 1, true);
    s.n_blocks = 1;
    for (unsigned i = 0; i < 1000; i++)
        put(&s, "IA");
    s.text[0] = '\0';
    for (unsigned i = 0; i < 1000; i++)
        put(&s, i < 990 ? "O" : "L1");
    assert_true(s.filter.n_cut > 0);
    s.text[0] = '\0';
    put(&s, "B9");
    play(&s, "O IB O");
    assert_string_equal(s.text, "OA IB OB");
    end(&s);
}

static void after_a_reset_open_calls_are_forgotten(void **state)
{
    (void)state;
    stage s;
    begin(&s, 1, true);
    play(&s, "IMAIN ISUB iLEN");
    qp_filter_reset(&s.filter, &s.threads[0]);
    play(&s, "oLEN O O IB O");
    assert_string_equal(s.text, "IMAIN ISUB ILEN IB OB");
    end(&s);
}

/* Whatever comes: each return has its entry before it, on its thread, once. */
static void any_events_leave_no_return_without_entry(void **state)
{
    (void)state;
    static const char letters[] = "iIOoBLR";
    static const uint32_t modes[] = {1, 9, 4097, 4105, 0};
    srand(7);
    for (unsigned round = 0; round < 300; round++) {
        stage s;
        begin(&s, 1, round % 2);
        for (unsigned i = 0; i < 200; i++) {
            char word[16];
            s.filter.mode = round % 3 ? 4105 : modes[rand() % 5];
            snprintf(word, sizeof word, "%d:%c%d", 1 + rand() % 2, letters[rand() % 7],
                     rand() % 4);
            if (word[2] == 'O')
                word[3] = '\0';
            put(&s, word);
            for (unsigned t = 0; t < 2; t++) {
                int n[NAMES][2] = {{0}};
                char copy[TEXT], *rest = copy;
                snprintf(copy, sizeof copy, "%s", s.text);
                for (char *w; (w = strtok_r(rest, " ", &rest)) != NULL;) {
                    bool is_2 = w[1] == ':';
                    if (is_2 != (t == 1))
                        continue;
                    w += is_2 ? 2 : 0;
                    int *balance = n[atoi(w + 1)];
                    balance[0] += *w == 'i' || *w == 'I' ? 1 : -1;
                    assert_true(balance[0] >= 0);
                }
            }
            if (strlen(s.text) > TEXT - 64)
                break;
        }
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mode_0_writes_nothing),
        cmocka_unit_test(filtered_each_call_gives_one_i_and_one_o),
        cmocka_unit_test(unfiltered_both_ends_are_seen),
        cmocka_unit_test(the_letters_follow_both_bits),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(a_break_leaves_calls_without_return),
        cmocka_unit_test(a_builtin_that_calls_back_is_around_its_callback),
        cmocka_unit_test(what_did_not_begin_does_not_return),
        cmocka_unit_test(settings_take_effect_at_the_next_entry),
        cmocka_unit_test(the_excluded_are_absent_and_what_they_call_is_not),
        cmocka_unit_test(lines_and_times_are_those_of_their_side),
        cmocka_unit_test(values_belong_to_the_next_entry_and_return),
        cmocka_unit_test(long_values_are_cut_at_a_whole_character),
        cmocka_unit_test(without_memory_calls_are_counted_and_the_rest_stays_right),
        cmocka_unit_test(after_a_reset_open_calls_are_forgotten),
        cmocka_unit_test(any_events_leave_no_return_without_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
