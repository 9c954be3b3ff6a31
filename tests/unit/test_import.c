/* test_import.c: profiles of pprof and callgrind as ours; model/import*.c. Figures are worked
 * out by hand from what the lines and messages say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <stdio.h>
#include <sys/resource.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/unit.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

/* ---- helpers ----------------------------------------------------------------------------- */

static qp_model *load_as(const void *bytes, size_t n_bytes, const char *sample_type)
{
    qp_error error;
    const qp_load_options o = {.sample_type = sample_type};
    qp_model *m;
    qp_check *checks;
    size_t n;
    qp_load_status status = qp_model_load_bytes(bytes, n_bytes, &o, &m, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, QP_LOAD_CLEAN);
    assert_true(m->run.is_imported);
    assert_true(qp_model_check(m, &checks, &n));
    for (size_t i = 0; i < n; i++)
        assert_true(checks[i].passed);
    qp_free(checks);
    return m;
}

static qp_model *load(const char *text)
{
    return load_as(text, strlen(text), NULL);
}

static void assert_method(const qp_model *m, const char *name, uint64_t calls, uint64_t self,
                          uint64_t total)
{
    const qp_figures *f = &profile_find(m, name)->all;
    assert_int_equal(f->calls, calls);
    assert_int_equal(f->self, self);
    assert_int_equal(f->total, total);
}

static void assert_refused(const void *bytes, size_t n_bytes, const char *error)
{
    qp_error found;
    qp_model *m;
    assert_int_equal(qp_model_load_bytes(bytes, n_bytes, NULL, &m, &found), QP_LOAD_UNUSABLE);
    assert_string_equal(found.text, error);
    assert_null(m);
}

static bool has_note(const qp_model *m, const char *part)
{
    bool is_found = false;
    for (size_t i = 0; i < m->run.n_notes; i++)
        is_found |= strstr(m->run.notes[i].text, part) != NULL;
    return is_found;
}

/* ---- callgrind --------------------------------------------------------------------------- */

#define HEAD "# callgrind format\nversion: 1\ncreator: t-1\ncmd: /bin/prog x\npid: 7\n"

static void costs_and_calls_are_those_of_the_file(void **state)
{
    (void)state;
    qp_model *m = load(HEAD "events: Ir\n"
                            "ob=(1) /bin/prog\nfl=(1) a.c\nfn=(1) main\n1 5\n+1 10\n"
                            "cfn=(2) f\ncalls=3 7\n* 60\n"
                            "fn=(2)\n7 20\ncob=(2) /lib/libx.so\ncfi=(3) b.c\ncfn=(4) leaf\n"
                            "calls=6 2\n9 40\n"
                            "ob=(2)\nfl=(3)\nfn=(4)\n2 40\n");
    assert_method(m, "main", 0, 15, 75);
    assert_method(m, "f", 3, 20, 60);
    assert_method(m, "leaf", 6, 40, 40);
    assert_int_equal(m->run.total, 75);
    assert_string_equal(m->run.unit, "counts");
    assert_string_equal(m->run.program, "prog");
    assert_int_equal(m->run.pid, 7);
    assert_false(m->run.has_paths);
    assert_string_equal(profile_find(m, "f")->module, "prog");
    assert_string_equal(profile_find(m, "leaf")->module, "libx.so");
    assert_string_equal(profile_find(m, "leaf")->file, "b.c");
    assert_int_equal(profile_find(m, "f")->first_line, 7);
    assert_true(has_note(m, "call paths are estimated"));
    qp_line_figures *lines;
    size_t n;
    assert_true(qp_model_lines(m, "a.c", profile_index(m, "main"), QP_ALL_THREADS, &lines, &n));
    assert_int_equal(n, 2);
    assert_int_equal(lines[1].line, 2);
    assert_int_equal(lines[1].self, 10);
    assert_int_equal(lines[1].total, 70);
    qp_free(lines);
    qp_model_free(m);
}

/* leaf costs 30 below cheap and 90 below dear, so each gets its part of the callee. */
static void costs_go_to_callers_as_their_calls_cost(void **state)
{
    (void)state;
    qp_model *m = load(HEAD "events: Ir\nfl=a.c\nfn=main\n1 1\n"
                            "cfn=cheap\ncalls=1 1\n1 31\ncfn=dear\ncalls=1 1\n1 91\n"
                            "fn=cheap\n2 1\ncfn=leaf\ncalls=8 1\n2 30\n"
                            "fn=dear\n3 1\ncfn=leaf\ncalls=8 1\n3 90\n"
                            "fn=leaf\n4 40\ncfn=deep\ncalls=4 1\n4 80\nfn=deep\n5 80\n");
    qp_edge *edges;
    size_t n;
    assert_method(m, "main", 0, 1, 123);
    assert_method(m, "cheap", 1, 1, 31);
    assert_method(m, "dear", 1, 1, 91);
    assert_method(m, "leaf", 16, 40, 120);
    assert_method(m, "deep", 4, 80, 80);
    assert_true(qp_model_callers(m, profile_index(m, "leaf"), QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 2);
    assert_int_equal(edges[0].method, profile_index(m, "dear"));
    assert_int_equal(edges[0].time, 90);
    assert_int_equal(edges[1].time, 30);
    qp_free(edges);
    uint32_t n_deep = 0;
    for (uint32_t i = 1; i < m->n_nodes; i++) /* 80 * 1/4 and 80 * 3/4 */
        if (m->nodes[i].method == profile_index(m, "deep"))
            assert_int_equal(m->nodes[i].f.self, n_deep++ ? 20 : 60);
    assert_int_equal(n_deep, 2);
    qp_model_free(m);
}

/* Recursion: costs are counted once, and every circle ends. */
static void circles_end(void **state)
{
    (void)state;
    qp_model *m = load(HEAD "events: Ir\nfl=a.c\nfn=main\n1 0\ncfn=f\ncalls=1 1\n1 30\n"
                            "fn=f\n2 10\ncfn=f\ncalls=4 1\n2 25\ncfn=g\ncalls=5 1\n2 20\n"
                            "fn=g\n3 20\ncfn=f\ncalls=2 1\n3 15\n");
    assert_method(m, "main", 0, 0, 30);
    assert_method(m, "f", 7, 10, 30);
    assert_method(m, "g", 5, 20, 20);
    qp_model_free(m);
    m = load(HEAD "events: Ir\nfl=a.c\nfn=a\n1 3\ncfn=b\ncalls=1 1\n1 9\n"
                  "fn=b\n1 6\ncfn=a\ncalls=1 1\n1 9\n"); /* no call from outside */
    assert_method(m, "a", 1, 3, 9);
    assert_method(m, "b", 1, 6, 6);
    qp_model_free(m);
    m = load(HEAD "events: Ir\nfl=a.c\nfn=f\n2 1\ncfn=f'2\ncalls=1 1\n2 5\nfn=f'2\n2 5\n");
    assert_method(m, "f", 1, 6, 6); /* --separate-recs */
    qp_model_free(m);
}

/* 2^60 call paths: each of 60 functions calls the next one from two others. */
static void paths_are_bounded(void **state)
{
    (void)state;
    enum { LEVELS = 60, TEXT = 32768 };
    char *text = qp_alloc(TEXT, 1);
    assert_non_null(text);
    size_t at = (size_t)(stpcpy(text, HEAD "events: Ir\nfl=a.c\n") - text);
    for (unsigned i = 0; i < LEVELS;
         i++) { /* by hand: level i costs 1 a function, and all below */
        unsigned below = 2 * (LEVELS - 1 - i);
        for (char side = 'a'; side <= 'b'; side++) {
            qp_text_format(text + at, TEXT - at, "fn=%c%u\n1 1\n", side, i);
            at += strlen(text + at);
            for (char to = 'a'; to <= 'b' && below; to++) {
                qp_text_format(text + at, TEXT - at, "cfn=%c%u\ncalls=1 1\n1 %u\n", to, i + 1,
                               below / 4 ? below / 4 : 1);
                at += strlen(text + at);
            }
        }
    }
    qp_model *m = load(text);
    assert_int_equal(m->run.total, 2 * LEVELS);
    assert_int_equal(profile_find(m, "a59")->all.calls, 2);
    assert_int_equal(profile_find(m, "a59")->all.self, 1);
    qp_model_free(m);
    qp_free(text);
}

static void time_is_the_event_that_is_read(void **state)
{
    (void)state;
    static const char text[] = "version: 1\ncreator: xdebug 3\ncmd: a.php\npositions: line\n"
                               "events: Memory Time_(10ns)\nfl=a.php\nfn={main}\n1 7 25\n";
    qp_model *m = load(text);
    assert_string_equal(m->run.unit, "ns");
    assert_method(m, "{main}", 0, 250, 250);
    assert_true(has_note(m, "only Time_(10ns) was read"));
    qp_model_free(m);
    m = load_as(text, sizeof text - 1, "Memory");
    assert_method(m, "{main}", 0, 7, 7);
    assert_string_equal(m->run.unit, "counts");
    qp_model_free(m);
}

static void damaged_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"events: Ir\nfn=(9)\n", "line 2: a compressed name that no line before has explained"},
        {"events: Ir\n1 2\n", "line 2: costs before the first function"},
        {"version: 1\nfn=f\n1 2\n", "line 3: costs before the line \"events:\""},
        {"version: 1\n", "line 1: it ends without a line \"events:\""},
        {"events: Ir\nfn=f\nhello\n", "line 3: not a line of callgrind's format"},
        {"events: Ir\nfn=f\n1 18446744073709551616\n",
         "line 3: expected a number, of 64 bits at most"},
        {"events: Ir\nfn=f\n+ 1\n", "line 3: expected a place in the code"},
        {"events: Ir\nfn=f\ncalls=1 1\n", "line 3: calls without a line \"cfn=\" before"},
        {"events:\nfn=f\n", "line 1: there is no event at all here"},
        {"events: Ir\nfn=f\n1 9223372036854775807\n2 1\n",
         "its figures or call paths are more than a profile can hold"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(bad[i].text, strlen(bad[i].text), bad[i].error);
}

/* Cut at the end of a line, a file reads well: its sums tell. */
static void a_file_that_was_cut_off_is_refused(void **state)
{
    (void)state;
    static const char begin[] = "events: wall_ns\nsummary: 12\nfl=a.c\nfn=f\n1 4\n",
                      end[] = "cfn=g\ncalls=1 1\n2 6\nfn=g\n3 6\n",
                      whole[] = "events: Ir\nsummary: 12\nfl=a.c\nfn=f\n1 11\n";
    char text[200];
    assert_refused(begin, sizeof begin - 1,
                   "line 5: it is cut off: the costs up to here are 4 wall_ns, and its summary "
                   "says 12");
    qp_text_format(text, sizeof text, "%s%s", begin, end); /* 4 + 6; two times, each rounded */
    qp_model_free(load(text));
    assert_refused(
        whole, sizeof whole - 1,
        "line 5: it is cut off: the costs up to here are 11 Ir, and its summary says "
        "12");
    qp_text_format(text, sizeof text, "%stotals: 11\n", whole); /* the end is there */
    qp_model_free(load(text));
    static const char before_cost[] = "events: Ir\nfl=a.c\nfn=f\n1 4\ncfn=g\ncalls=1 1\n";
    assert_refused(before_cost, sizeof before_cost - 1,
                   "line 6: it is cut off: it ends before what the calls cost");
    /* of the event that is read; of two parts; one after the costs may be anything */
    static const char parts[] = "events: Bytes Time_(10ns)\npart: 1\nsummary: 900 3\n"
                                "fl=a.c\nfn=f\n1 0 3\npart: 2\nsummary: 900 4\nfn=f\n1 0 4\n",
                      after[] = "events: Ir\nfl=a.c\nfn=f\n1 4\n\nsummary: 70\n";
    qp_model_free(load(parts));
    qp_model_free(load(after));
}

static void calls_that_were_not_counted_are_not_known(void **state)
{
    (void)state;
    qp_model *m =
        load(HEAD "events: Ir\nfl=a.c\nfn=f\n1 5\ncfn=g\ncalls=0 1\n1 2\nfn=g\n1 2\n");
    assert_false(m->run.has_calls);
    assert_true(qp_figures_is_seen(&profile_find(m, "f")->all));
    qp_model_free(m);
}

/* ---- pprof ------------------------------------------------------------------------------- */

/* calls/count and wall/nanoseconds: main:7 > main:8 > f:9 with 3 and 20 on thread w, main:7
 * with 1 and 10. */
static const char pprof[] =
    "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"
    "\x12\x0e\x0a\x02\x02\x01\x12\x02\x03\x14\x1a\x04\x08\x08\x10\x09"
    "\x12\x07\x0a\x01\x01\x12\x02\x01\x0a"
    "\x1a\x04\x08\x01\x28\x05"
    "\x22\x0a\x08\x01\x10\x01\x22\x04\x08\x01\x10\x07"
    "\x22\x10\x08\x02\x10\x01\x22\x04\x08\x02\x10\x09\x22\x04\x08\x01\x10\x08"
    "\x2a\x08\x08\x01\x10\x06\x20\x05\x28\x03"
    "\x2a\x06\x08\x02\x10\x07\x20\x05"
    "\x32\x00\x32\x05"
    "calls\x32\x05"
    "count\x32\x04"
    "wall\x32\x0bnanoseconds\x32\x01p\x32\x04main\x32\x01"
    "f\x32\x06thread\x32\x01w";

static void samples_are_call_paths(void **state)
{
    (void)state;
    qp_model *m = load_as(pprof, sizeof pprof - 1, NULL);
    assert_int_equal(m->n_threads, 3);
    assert_string_equal(m->threads[1].name, "w");
    assert_string_equal(m->threads[2].name, "all threads");
    assert_method(m, "main", 1, 10, 30); /* main is inlined in main: counted once */
    assert_method(m, "f", 3, 20, 20);
    assert_int_equal(m->threads[1].total, 20);
    assert_string_equal(m->run.program, "p");
    assert_string_equal(profile_find(m, "f")->file, "p");
    assert_string_equal(profile_find(m, "f")->module, "p");
    assert_int_equal(profile_find(m, "main")->first_line, 3);
    assert_true(m->run.has_calls && m->run.has_paths && m->run.has_times);
    qp_line_figures *lines;
    size_t n;
    assert_true(qp_model_lines(m, "p", profile_index(m, "main"), QP_ALL_THREADS, &lines, &n));
    assert_int_equal(n, 3); /* 3: declared; 7: 10, with callees 30; 8: 20 of callees */
    assert_int_equal(lines[1].line, 7);
    assert_int_equal(lines[1].self, 10);
    assert_int_equal(lines[1].total, 30);
    assert_int_equal(lines[2].self, 0);
    assert_int_equal(lines[2].total, 20);
    qp_free(lines);
    qp_model_free(m);
}

/* samples/count and cpu/nanoseconds: f with 4 samples and 40 ms, in 1 s that it mostly
 * slept. */
static const char slept[] = "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"
                            "\x12\x0a\x0a\x01\x01\x12\x05\x04\x80\xb4\x89\x13"
                            "\x22\x06\x08\x01\x22\x02\x08\x01"
                            "\x2a\x04\x08\x01\x10\x05"
                            "\x32\x00\x32\x07"
                            "samples\x32\x05"
                            "count\x32\x03"
                            "cpu\x32\x0bnanoseconds\x32\x01"
                            "f\x50\x80\x94\xeb\xdc\x03\x60\x80\xad\xe2\x04";

static void the_interval_is_what_a_sample_stands_for(void **state)
{
    (void)state;
    qp_model *m = load_as(slept, sizeof slept - 1, NULL);
    assert_int_equal(m->run.total, 40000000);
    assert_int_equal(m->run.wall, 1000000000);
    assert_int_equal(m->run.n_passes, 4);
    assert_int_equal(m->run.sample_period_reached_ns, 10000000);
    assert_int_equal(m->run.sample_period_ns, 10000000);
    assert_int_equal(m->run.file_bytes, sizeof slept - 1);
    qp_model_free(m);
}

static void a_sample_type_can_be_chosen(void **state)
{
    (void)state;
    qp_model *m = load_as(pprof, sizeof pprof - 1, "calls");
    assert_false(m->run.has_times);
    assert_int_equal(profile_find(m, "f")->all.calls, 3);
    qp_model_free(m);
    qp_error error;
    const qp_load_options o = {.sample_type = "cpu"};
    assert_int_equal(qp_model_load_bytes(pprof, sizeof pprof - 1, &o, &m, &error),
                     QP_LOAD_UNUSABLE);
    assert_string_equal(error.text, "it has no values cpu; it has calls, wall");
}

/* @param at  of a byte that becomes another */
static void assert_change_refused(size_t at, char to, const char *error)
{
    char bytes[sizeof pprof];
    memcpy(bytes, pprof, sizeof bytes);
    bytes[at] = to;
    assert_refused(bytes, sizeof bytes - 1, error);
}

static void damaged_messages_are_named(void **state)
{
    (void)state;
    assert_change_refused(16, 9,
                          "at byte 14 of its unpacked data: a sample at a location that "
                          "is not there");
    assert_refused(pprof, 40,
                   "at byte 37 of its unpacked data: a field that is damaged or cut off");
    assert_refused(pprof, 91, /* between two messages */
                   "it is damaged or cut off: a name is its string 8, and it has 0");
    assert_refused(pprof, 135,
                   "it is damaged or cut off: a name is its string 8, and it has 7");
    assert_refused("\x1f\x8b\x08\x00", 4, "its compressed data are damaged or cut off");
}

/* ---- both -------------------------------------------------------------------------------- */

/* Whatever allocation fails: a clean no, or all of it. */
static void no_memory_is_said(void **state)
{
    (void)state;
    static const char text[] = HEAD "events: Ir\nfl=a.c\nfn=f\n1 5\ncfn=g\ncalls=1 1\n1 2\n"
                                    "fn=g\n1 2\n";
    static const char cover[] = "di\t.\t1\t1\t1\t1\t1\t1\t1\nfi\ta.c\t1\t1\t1\t1\t1\t1\n"
                                "fu\tf\t1\t1\t1\t2\t7\nbl\t3\t3\t0\nli\t3\tTEST\nli\t4\t1\n"
                                "efu\nefi\nedi\n";
    static const char bare[] = "di\t.\t0\t0\t0\t0\t0\t0\t0\nfi\ta.c\t0\t0\t0\t0\t0\t0\n"
                               "fu\tf\t0\t0\t0\t0\t7\nefu\nefi\nedi\n"; /* no block */
    static const char luacov[] = "2:none.lua\n1 0 \n";
    const struct {
        const void *bytes;
        size_t n;
    } inputs[] = {{text, sizeof text - 1},
                  {pprof, sizeof pprof - 1},
                  {cover, sizeof cover - 1},
                  {bare, sizeof bare - 1},
                  {luacov, sizeof luacov - 1}};
    for (unsigned i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        bool is_read = false;
        for (uint64_t n = 1; !is_read && n < 1000; n++) {
            qp_error error;
            qp_model *m;
            qp_alloc_fail_after(n, true);
            is_read = qp_model_load_bytes(inputs[i].bytes, inputs[i].n, NULL, &m, &error) !=
                      QP_LOAD_UNUSABLE;
            qp_alloc_fail_after(0, false);
            assert_true(is_read || strstr(error.text, "not enough memory"));
            qp_model_free(m);
        }
        assert_true(is_read);
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

static size_t put_field(unsigned char *to, unsigned field, const unsigned char *bytes, size_t n)
{
    size_t at = 0;
    to[at++] = (unsigned char)(field << 3 | 2);
    for (size_t left = n; left > 127; left >>= 7)
        to[at++] = (unsigned char)(left | 128);
    to[at] = (unsigned char)n;
    for (size_t left = n; left > 127; left >>= 7)
        to[at] = (unsigned char)(left >> 7);
    at++;
    memcpy(to + at, bytes, n);
    return at + n;
}

/* A location of 1,600 inlined calls, twice in each of 500 samples, below a depth of its own each time:
 * 1.6 million call paths in 140 KB. */
static size_t make_deep(unsigned char *to)
{
    enum { INLINED = 1600, FRAMES = 2, SAMPLES = 500 };
    static unsigned char part[INLINED * 4 + 2], sample[1000];
    static const char *const strings[] = {"", "cpu", "nanoseconds", "f"};
    size_t n = put_field(to, 1, (const unsigned char *)"\x08\x01\x10\x02", 4), n_part = 0;
    part[n_part++] = 0x08; /* the location's id */
    part[n_part++] = 1;
    for (unsigned i = 0; i < INLINED; i++)
        n_part += put_field(part + n_part, 4, (const unsigned char *)"\x08\x01", 2);
    n += put_field(to + n, 4, part, n_part);
    n += put_field(to + n, 4, (const unsigned char *)"\x08\x02\x22\x02\x08\x02", 6);
    for (unsigned i = 0; i < SAMPLES; i++) { /* innermost first */
        memset(part, 1, FRAMES);
        memset(part + FRAMES, 2, i);
        n_part = put_field(sample, 1, part, FRAMES + i);
        n_part += put_field(sample + n_part, 2, (const unsigned char *)"\x05", 1);
        n += put_field(to + n, 2, sample, n_part);
    }
    n += put_field(to + n, 5, (const unsigned char *)"\x08\x02\x10\x03", 4);
    n += put_field(to + n, 5, (const unsigned char *)"\x08\x01\x10\x03", 4);
    for (unsigned i = 0; i < 4; i++)
        n += put_field(to + n, 6, (const unsigned char *)strings[i], strlen(strings[i]));
    return n;
}

/* 100 MB of zeros in 100 KB. */
static size_t make_packed(unsigned char *to, size_t room)
{
    static unsigned char zeros[1 << 20];
    z_stream z = {.next_out = to, .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    for (unsigned i = 0; i < 100; i++) {
        z.next_in = zeros;
        z.avail_in = sizeof zeros;
        assert_true(deflate(&z, i < 99 ? Z_NO_FLUSH : Z_FINISH) >= Z_OK);
    }
    assert_true(z.avail_out > 0);
    deflateEnd(&z);
    return z.total_out;
}

static void an_import_ends_at_its_limit_of_memory(void **state)
{
    enum { ROOM = 200000, SLACK_KB = 16 << 10 };
    static unsigned char deep[ROOM], packed[ROOM];
    static const char text[] = HEAD "events: Ir\nfl=a.c\nfn=f\n1 5\ncfn=g\ncalls=1 1\n1 2\n"
                                    "fn=g\n1 2\n";
    const struct {
        const void *bytes;
        size_t n, max_memory; /* 0: the default */
        size_t limit;         /* that is reached; 0: it is read */
    } inputs[] = {{deep, make_deep(deep), 0, (256 << 20) + make_deep(deep) * 64},
                  {deep, make_deep(deep), 32 << 20, 32 << 20},
                  {packed, make_packed(packed, ROOM), 32 << 20, 32 << 20},
                  {text, sizeof text - 1, 4096, 4096},
                  {text, sizeof text - 1, 32 << 20, 0},
                  {text, sizeof text - 1, 0, 0},
                  {pprof, sizeof pprof - 1, 0, 0}};
    struct rusage before, after;
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        qp_error error;
        qp_model *m;
        char wanted[100], limit[QP_NUMBER_BYTES];
        const qp_load_options o = {.max_memory = inputs[i].max_memory};
        getrusage(RUSAGE_SELF, &before);
        qp_load_status status =
            qp_model_load_bytes(inputs[i].bytes, inputs[i].n, &o, &m, &error);
        getrusage(RUSAGE_SELF, &after);
        snprintf(wanted, sizeof wanted,
                 "reading it takes more than %s of memory; --max-memory=SIZE allows more",
                 qp_unit_size(limit, inputs[i].limit));
        assert_int_equal(status, inputs[i].limit ? QP_LOAD_UNUSABLE : QP_LOAD_CLEAN);
        if (status == QP_LOAD_UNUSABLE)
            assert_string_equal(error.text, wanted);
        else
            qp_model_free(m);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        assert_true(after.ru_maxrss - before.ru_maxrss <
                    (long)(inputs[i].limit >> 10) + SLACK_KB);
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_and_calls_are_those_of_the_file),
        cmocka_unit_test(costs_go_to_callers_as_their_calls_cost),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(paths_are_bounded),
        cmocka_unit_test(time_is_the_event_that_is_read),
        cmocka_unit_test(damaged_lines_are_named),
        cmocka_unit_test(a_file_that_was_cut_off_is_refused),
        cmocka_unit_test(calls_that_were_not_counted_are_not_known),
        cmocka_unit_test(samples_are_call_paths),
        cmocka_unit_test(the_interval_is_what_a_sample_stands_for),
        cmocka_unit_test(a_sample_type_can_be_chosen),
        cmocka_unit_test(damaged_messages_are_named),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(an_import_ends_at_its_limit_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
