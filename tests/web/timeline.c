/* timeline.c PICTURE page|items: a timeline that is made up, as the page of a profile or as
 * JSON.
 *
 * "small" is a table, so that figures can be worked out by hand; "many" and "large" are drawn,
 * with 20,000 and a million calls, and as many pauses: the page of the large one leaves the shortest out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/json.h"
#include "export/export.h"
#include "format/builder.h"

enum { MAIN = 1, WORKER, COROUTINE, THREADS = COROUTINE };
enum { FUNCTIONS = 40 };

/* ---- a table ----------------------------------------------------------------------------- */

#define MS UINT64_C(1000000)

static const qp_timeline_item small_items[] = {
    {QP_TIMELINE_CALL, MAIN, 1, 0, 0, 1000 * MS, NULL, 0, 0},
    {QP_TIMELINE_CALL, MAIN, 2, 1, 100 * MS, 300 * MS, NULL, 0, 0},
    {QP_TIMELINE_CALL, MAIN, 2, 2, 150 * MS, 100 * MS, NULL, 0, 0}, /* calls itself */
    {QP_TIMELINE_CALL, MAIN, 3, 3, 200 * MS, 1, NULL, 0, 0},        /* a nanosecond */
    {QP_TIMELINE_CALL, MAIN, 3, 1, 600 * MS, 200 * MS, NULL, 0, 0},
    {QP_TIMELINE_CALL, WORKER, 4, 0, 300 * MS, 100 * MS, NULL, 0, 0},
    {QP_TIMELINE_CALL, WORKER, 4, 0, 500 * MS, 100 * MS, NULL, 0, 0},
    {QP_TIMELINE_CALL, COROUTINE, 5, 0, 0, 800 * MS, NULL, 0, 0},
    {QP_TIMELINE_CALL, COROUTINE, 3, 1, 100 * MS, 400 * MS, NULL, 0, 0},
    {QP_TIMELINE_PAUSE, COROUTINE, 0, 0, 200 * MS, 100 * MS, NULL, 0, 0}, /* in both */
    {QP_TIMELINE_PAUSE, COROUTINE, 0, 0, 600 * MS, 100 * MS, NULL, 0, 0}, /* in the outer one */
    {QP_TIMELINE_MARKER, 0, 0, 0, 250 * MS, 0, "<b>first</b> request\n", 0, 0},
    {QP_TIMELINE_MARKER, WORKER, 0, 0, 550 * MS, 0, "second", 0, 0},
    {QP_TIMELINE_COUNTER, 0, 0, 0, 0, 0, "heap", 10, 0},
    {QP_TIMELINE_COUNTER, 0, 0, 0, 400 * MS, 0, "heap", 4000, 0},
    {QP_TIMELINE_COUNTER, 0, 0, 0, 900 * MS, 0, "heap", 500, 0},
};

static bool each_of_table(void *from, qp_timeline_take *take, void *to,
                          qp_timeline_limit *limit)
{
    (void)from;
    (void)limit;
    for (size_t i = 0; i < sizeof small_items / sizeof *small_items; i++)
        if (!take(to, &small_items[i]))
            return false;
    return true;
}

/* ---- drawn by lot ------------------------------------------------------------------------ */

typedef struct {
    uint64_t state;
    uint32_t n_wanted, n;
    bool has_pauses;
    qp_timeline_take *take;
    void *to;
} lot;

static uint32_t chance(lot *l)
{
    l->state ^= l->state << 13;
    l->state ^= l->state >> 7;
    l->state ^= l->state << 17;
    return (uint32_t)(l->state >> 32);
}

/* A call, with calls inside: callees end before their callers, as a trace tells it. */
static bool draw_call(lot *l, uint32_t thread, uint32_t depth, uint64_t begin, uint64_t end)
{
    uint64_t at = begin;
    while (depth < 20 && l->n < l->n_wanted && end - at > 40) {
        uint64_t from = at + chance(l) % ((end - at) / 4 + 1);
        uint64_t to = from + 1 + chance(l) % ((end - from) * 3 / 4 + 1);
        if (to > end)
            break;
        if (!draw_call(l, thread, depth + 1, from, to))
            return false;
        at = to;
    }
    l->n++;
    return l->take(l->to,
                   &(qp_timeline_item){QP_TIMELINE_CALL, thread, 1 + chance(l) % FUNCTIONS,
                                       depth, begin, end - begin, NULL, 0, 0}) &&
           (!l->has_pauses ||
            l->take(l->to, &(qp_timeline_item){QP_TIMELINE_PAUSE, thread, 0, 0, begin,
                                               1 + chance(l) % 100000, NULL, 0, 0}));
}

static bool each_of_lot(void *from, qp_timeline_take *take, void *to, qp_timeline_limit *limit)
{
    (void)limit;
    const uint32_t *n_wanted = from;
    lot l = {.state = 88172645463325252u, .n_wanted = *n_wanted, .take = take, .to = to};
    l.has_pauses = l.n_wanted > 20000;
    uint64_t at[THREADS + 1] = {0};
    for (uint32_t i = 0; l.n < l.n_wanted; i++) {
        uint32_t thread = 1 + i % THREADS;
        uint64_t begin = at[thread] + chance(&l) % 5000, end = begin + 1 + chance(&l) % 100000;
        if (!draw_call(&l, thread, 0, begin, end))
            return false;
        at[thread] = end;
    }
    return true;
}

/* ---- a profile of these threads and functions -------------------------------------------- */

static qp_model *make_model(void)
{
    char name[32];
    qp_error error;
    const char *const threads[] = {"main", "worker", "coroutine"};
    const char *why;
    void *bytes = NULL;
    size_t n_bytes;
    qp_model *m = NULL;
    qp_builder *b = qp_builder_new(0);
    qp_head *h = b ? qp_builder_head(b) : NULL;
    if (!h)
        return NULL;
    h->clock_source = QP_SOURCE_NS;
    h->begun_raw = 1;
    h->end_raw = UINT64_C(1000000001);
    h->program = qp_builder_text(b, "traced");
    for (uint32_t i = 1; i <= FUNCTIONS; i++) {
        snprintf(name, sizeof name, "function_%" PRIu32, i);
        qp_builder_method(
            b, &(qp_builder_code){
                   .id = i, .flags = QP_METHOD_REGISTERED, .name = name, .file = "traced.lua"});
    }
    for (size_t i = 0; i < THREADS; i++) {
        qp_thread_record r = {.state = QP_THREAD_ENDED, .n_lives = 1, .n_exits = 1};
        r.name = qp_builder_text(b, threads[i]);
        qp_builder_thread(b, &r);
        qp_builder_node(b, 0, (uint32_t)i + 1, &(qp_node){.n_calls = 1 + 1000 * i, .self = 1});
        qp_builder_node_more(b, 0, 0, 0, 1000 * i); /* that many entries were resumes */
    }
    if (qp_builder_bytes(b, &bytes, &n_bytes, &why))
        qp_model_load_bytes(bytes, n_bytes, NULL, &m, &error);
    qp_free(bytes);
    qp_builder_free(b);
    return m;
}

/* ---- what is written --------------------------------------------------------------------- */

static bool write_item(void *to, const qp_timeline_item *item)
{
    static const char *const kinds[] = {"call", "pause", "mark", "counter"};
    qp_json *json = to;
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "kind", kinds[item->kind]);
    qp_json_count(json, "thread", item->thread);
    qp_json_count(json, "method", item->method);
    qp_json_count(json, "depth", item->depth);
    qp_json_count(json, "begin", item->begin);
    qp_json_count(json, "end", item->begin + item->duration);
    qp_json_end(json, '}');
    return true;
}

static bool write_items(qp_out *out, const qp_timeline *t)
{
    qp_json json;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '[');
    bool is_good = t->each(t->from, write_item, &json, NULL);
    qp_json_end(&json, ']');
    return is_good;
}

static bool note_end(void *to, const qp_timeline_item *item)
{
    uint64_t *end = to;
    if (item->begin + item->duration > *end)
        *end = item->begin + item->duration;
    return true;
}

int main(int argc, char **argv)
{
    uint32_t n = argc == 3 && strcmp(argv[1], "large") == 0 ? 1000000 : 20000;
    bool is_small = argc == 3 && strcmp(argv[1], "small") == 0;
    qp_error error = {0};
    qp_timeline t = {.from = &n, .each = is_small ? each_of_table : each_of_lot};
    qp_model *m = make_model();
    qp_out out;
    bool is_good = m && argc == 3 && t.each(t.from, note_end, &t.end, NULL);
    qp_out_init(&out, 1);
    if (is_good && strcmp(argv[2], "items") == 0)
        is_good = write_items(&out, &t);
    else if (is_good)
        is_good = qp_export_html(
            m, &out, &(qp_export_options){.name = "traced.qprof", .timeline = &t}, &error);
    is_good &= !qp_out_close(&out);
    if (!is_good)
        fprintf(stderr, "timeline: %s\n", error.text);
    qp_model_free(m);
    return !is_good;
}
