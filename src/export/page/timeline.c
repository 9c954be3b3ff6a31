/* timeline.c: the timeline of the profile page. web/src/profile/spans.ts is the other side.
 *
 * Calls and pauses go into the page by thread and time, in columns of varints as the call tree. Where there
 * are more than QP_TIMELINE_CALLS the shortest are left out: the trace is played once, and each time twice as many
 * are held the shortest are dropped. Then it is played again to add up all calls by slices of time:
 * figures never come from a part of the calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/text/buf.h"
#include "export/page/profile.h"
#include "export/shared/gzip.h"

/* ---- the longest ----------------------------------------------------------------------------- */

/* More would make the page slow. */
enum { MOST_POINTS = 50000 };

/* A call, or a pause. */
typedef enum { THREAD, METHOD, DEPTH, BEGIN, DURATION, SELF, SPAN_FIGURES } span_figure;
typedef struct {
    uint64_t of[SPAN_FIGURES];
} span;

enum { STEP_BITS = 3, STEPS = 64 << STEP_BITS }; /* durations by their first four bits */

static uint32_t step_of(uint64_t duration)
{
    if (duration < 1u << STEP_BITS)
        return (uint32_t)duration;
    uint32_t bits = 63 - (uint32_t)__builtin_clzll(duration);
    uint32_t next = (uint32_t)(duration >> (bits - STEP_BITS)) & ((1u << STEP_BITS) - 1);
    return ((bits - STEP_BITS + 1) << STEP_BITS) + next;
}

/* The longest of many: all of the longer steps, and of the shortest one that is kept those that came
 * first. */
typedef struct {
    qp_buf spans; /* span, in the order in which they came */
    uint64_t n;   /* that came */
    uint64_t n_of[STEPS];
    uint32_t least; /* step of the shortest that may be kept */
} longest;

static uint64_t shortest_of(uint32_t step)
{
    uint64_t low = step & ((1u << STEP_BITS) - 1);
    return step < 1u << STEP_BITS ? low
                                  : (low + (1u << STEP_BITS)) << ((step >> STEP_BITS) - 1);
}

static uint64_t n_left_out(const longest *l)
{
    return l->n - l->spans.n;
}

/* Drop those that are too short. Steps rise with what comes, so that none of them is wanted later. */
static void drop_short(longest *l)
{
    span *items = l->spans.items;
    uint64_t room = QP_TIMELINE_CALLS;
    uint32_t step = STEPS;
    size_t n = 0;
    while (step > 0 && l->n_of[step - 1] <= room)
        room -= l->n_of[--step];
    l->least = step ? step - 1 : 0;
    for (size_t i = 0; i < l->spans.n; i++) {
        uint32_t at = step_of(items[i].of[DURATION]);
        bool is_kept = at >= step || (at == l->least && room);
        room -= is_kept && at < step;
        if (is_kept)
            items[n++] = items[i];
    }
    l->spans.n = n;
}

/* @return false: no memory */
static bool add_span(longest *l, const qp_timeline_item *item)
{
    uint32_t step = step_of(item->duration);
    l->n++;
    l->n_of[step]++;
    if (step < l->least)
        return true;
    if (l->spans.n >= 2 * (size_t)QP_TIMELINE_CALLS)
        drop_short(l);
    span *s = qp_buf_add(&l->spans);
    if (s)
        *s = (span){
            {item->thread, item->method, item->depth, item->begin, item->duration, item->self}};
    return s != NULL;
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* A mark, or a value of a counter. */
typedef struct {
    uint32_t thread;
    uint64_t at, value;
    const char *name;
} point;

typedef struct {
    const qp_model *m;
    qp_arena names;
    longest calls, pauses;
    qp_buf marks, counters; /* point */
    uint64_t n_points_left_out;
    qp_timeline_limit limit;   /* of calls */
    qp_timeline_slices slices; /* where calls or pauses are left out */
} picture;

static bool add_call(picture *p, const qp_timeline_item *item)
{
    bool is_added = add_span(&p->calls, item);
    p->limit.least = shortest_of(p->calls.least);
    return is_added;
}

static bool add_point(picture *p, qp_buf *points, const qp_timeline_item *item)
{
    if (points->n >= MOST_POINTS) {
        p->n_points_left_out++;
        return true;
    }
    const char *name = qp_arena_text(&p->names, item->name);
    point *x = name ? qp_buf_add(points) : NULL;
    if (x)
        *x = (point){item->thread, item->begin, item->value, name};
    return x != NULL;
}

static bool take_item(void *to, const qp_timeline_item *item)
{
    picture *p = to;
    if (item->thread >= p->m->n_threads || item->method >= p->m->n_methods)
        return true;
    switch (item->kind) {
    case QP_TIMELINE_CALL:
        return add_call(p, item);
    case QP_TIMELINE_PAUSE:
        return add_span(&p->pauses, item);
    case QP_TIMELINE_MARKER:
        return add_point(p, &p->marks, item);
    default:
        return add_point(p, &p->counters, item);
    }
}

static bool take_all(picture *p, const qp_timeline *t)
{
    if (!t->each(t->from, take_item, p, &p->limit))
        return false;
    p->calls.n += p->limit.n_shorter;
    drop_short(&p->calls);
    drop_short(&p->pauses);
    bool are_all = !n_left_out(&p->calls) && !n_left_out(&p->pauses);
    return are_all || !t->slice || t->slice(t->from, &p->slices);
}

/* ---- in order -------------------------------------------------------------------------------- */

/* By thread and time, callers before callees. */
static int compare_spans(const void *a, const void *b)
{
    const span *x = a, *y = b;
    int c = QP_ORDER(x->of[THREAD], y->of[THREAD]);
    c = c ? c : QP_ORDER(x->of[BEGIN], y->of[BEGIN]);
    return c ? c : QP_ORDER(x->of[DEPTH], y->of[DEPTH]);
}

static int compare_marks(const void *a, const void *b)
{
    const point *x = a, *y = b;
    int c = QP_ORDER(x->at, y->at);
    c = c ? c : QP_ORDER(x->thread, y->thread);
    return c ? c : strcmp(x->name, y->name);
}

/* Values of one counter together. */
static int compare_counters(const void *a, const void *b)
{
    const point *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    c = c ? c : QP_ORDER(x->thread, y->thread);
    return c ? c : QP_ORDER(x->at, y->at);
}

static void sort(qp_buf *items, int (*compare)(const void *a, const void *b))
{
    if (items->n)
        qsort(items->items, items->n, items->item_bytes, compare);
}

/* ---- the block ------------------------------------------------------------------------------- */

static uint32_t root_of(const picture *p, uint32_t thread)
{
    return thread ? p->m->threads[thread].root : 0;
}

/* How many of the spans from *at on are of a thread; *at is moved to the one after them. */
static size_t count_of(const qp_buf *spans, size_t *at, uint32_t thread)
{
    const span *items = spans->items;
    size_t begin = *at;
    while (*at < spans->n && items[*at].of[THREAD] == thread)
        (*at)++;
    return *at - begin;
}

/* The same of rows of slices. */
static size_t rows_of(const qp_timeline_slices *s, size_t *at, uint32_t thread)
{
    size_t begin = *at;
    while (*at < s->n_rows && s->rows[*at].thread == thread)
        (*at)++;
    return *at - begin;
}

static void write_threads(qp_out *out, const picture *p)
{
    size_t call = 0, pause = 0, row = 0;
    bool is_more = false;
    qp_page_table(out, "threads");
    for (uint32_t i = 0; i < p->m->n_threads; i++) {
        size_t n_calls = count_of(&p->calls.spans, &call, i),
               n_pauses = count_of(&p->pauses.spans, &pause, i),
               n_rows = rows_of(&p->slices, &row, i);
        if (!n_calls && !n_pauses && !n_rows)
            continue;
        qp_page_row(out, is_more);
        QP_PAGE_NUMBERS(out, false, root_of(p, i), n_calls, n_pauses, n_rows);
        qp_page_close(out);
        is_more = true;
    }
    qp_page_close(out);
}

/* [thread, at, value, name] of each. */
static void write_points(qp_out *out, const picture *p, const char *key, const qp_buf *points)
{
    const point *x = points->items;
    qp_page_table(out, key);
    for (size_t i = 0; i < points->n; i++) {
        qp_page_row(out, i > 0);
        QP_PAGE_NUMBERS(out, false, root_of(p, x[i].thread), x[i].at);
        qp_out_format(out, ",%" PRId64 ",", (int64_t)x[i].value);
        qp_page_text(out, x[i].name);
        qp_page_close(out);
    }
    qp_page_close(out);
}

/* A begin is the distance from the one before on the same thread. */
static void write_column(qp_gzip *z, const qp_buf *spans, span_figure figure)
{
    const span *x = spans->items;
    for (size_t i = 0; i < spans->n; i++) {
        bool is_distance = figure == BEGIN && i && x[i].of[THREAD] == x[i - 1].of[THREAD];
        qp_gzip_varint(z, x[i].of[figure] - (is_distance ? x[i - 1].of[BEGIN] : 0));
    }
}

/* Slices as distances on the same thread. */
static void write_rows(qp_gzip *z, const qp_timeline_slices *s)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        bool is_distance = i && s->rows[i].thread == s->rows[i - 1].thread;
        qp_gzip_varint(z, s->rows[i].slice - (is_distance ? s->rows[i - 1].slice : 0));
    }
    for (size_t i = 0; i < s->n_rows; i++)
        qp_gzip_varint(z, s->rows[i].method);
    for (size_t i = 0; i < s->n_rows; i++)
        qp_gzip_varint(z, s->rows[i].began);
    for (size_t i = 0; i < s->n_rows; i++)
        qp_gzip_varint(z, s->rows[i].ended);
    for (size_t i = 0; i < s->n_rows; i++)
        qp_gzip_varint(z, s->rows[i].self);
    for (size_t i = 0; i < s->n_rows; i++)
        qp_gzip_varint(z, s->rows[i].total);
}

static bool write_spans(qp_out *out, const picture *p)
{
    qp_out_text(out, "<script type=\"application/gzip;base64\" id=\"spans\">");
    qp_gzip *z = qp_gzip_new(out, true);
    if (!z)
        return false;
    write_column(z, &p->calls.spans, DEPTH);
    write_column(z, &p->calls.spans, METHOD);
    write_column(z, &p->calls.spans, BEGIN);
    write_column(z, &p->calls.spans, DURATION);
    write_column(z, &p->pauses.spans, BEGIN);
    write_column(z, &p->pauses.spans, DURATION);
    if (p->slices.rows) {
        write_column(z, &p->calls.spans, SELF);
        write_rows(z, &p->slices);
    }
    qp_gzip_end(z);
    qp_page_block_end(out);
    return true;
}

static bool write_picture(qp_out *out, picture *p, const qp_timeline *t)
{
    sort(&p->calls.spans, compare_spans);
    sort(&p->pauses.spans, compare_spans);
    sort(&p->marks, compare_marks);
    sort(&p->counters, compare_counters);
    qp_page_block(out, "timeline");
    qp_out_format(out, "{\"begin\":%" PRIu64 ",\"end\":%" PRIu64, t->begin, t->end);
    qp_out_format(out, ",\"lost\":%" PRIu64, t->n_lost);
    if (t->about) {
        qp_out_text(out, ",\"about\":");
        qp_page_text(out, t->about);
    }
    qp_out_format(out, ",\"callsLeftOut\":%" PRIu64, n_left_out(&p->calls));
    qp_out_format(out, ",\"pausesLeftOut\":%" PRIu64, n_left_out(&p->pauses));
    qp_out_format(out, ",\"pointsLeftOut\":%" PRIu64, p->n_points_left_out);
    qp_out_format(out, ",\"slice\":%" PRIu64, p->slices.width);
    qp_out_format(out, ",\"ticks50\":%" PRIu64, t->ns_of_ticks);
    write_threads(out, p);
    write_points(out, p, "marks", &p->marks);
    write_points(out, p, "counters", &p->counters);
    qp_out_char(out, '}');
    qp_page_block_end(out);
    return write_spans(out, p);
}

bool qp_html_timeline(qp_out *out, const qp_html *page)
{
    const qp_timeline *t = page->timeline;
    if (!t)
        return true;
    picture p = {.m = page->m,
                 .calls.spans = QP_BUF(span),
                 .pauses.spans = QP_BUF(span),
                 .marks = QP_BUF(point),
                 .counters = QP_BUF(point)};
    bool is_good = take_all(&p, t) && write_picture(out, &p, t);
    qp_free(p.calls.spans.items);
    qp_free(p.pauses.spans.items);
    qp_free(p.marks.items);
    qp_free(p.counters.items);
    qp_arena_fini(&p.names);
    qp_free(p.slices.rows);
    return is_good;
}
