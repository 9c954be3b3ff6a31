/* trace_firefox.c: a processed profile of the Firefox Profiler with real time: a sample whenever what a
 * thread does changes, as heavy as the time until the next one; none while its clock stands.
 *
 * Its columns want all samples of a thread at once: unlike others, this one keeps 16 bytes for each
 * entry and exit. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/dict.h"
#include "export/firefox.h"
#include "export/trace.h"

typedef struct {
    uint64_t at;    /* ns from the run's start */
    uint32_t stack; /* + 1; 0: nothing is called, or the clock stands */
} sample;

typedef struct {
    const qp_names *names;
    uint32_t number;     /* of the thread */
    uint64_t stood;      /* ticks, as far as there are samples for it */
    qp_buf functions;    /* uint32_t: method of each */
    qp_buf stacks;       /* qp_firefox_stack */
    qp_buf samples;      /* sample */
    qp_dict function_of; /* method + 1 -> function + 1 */
    qp_dict stack_of;    /* caller << 32 | function -> stack + 1 */
} lane;

typedef struct {
    qp_trace_export *x;
    qp_buf lanes; /* lane *, in the order of first events */
    bool failed;  /* no memory */
} firefox;

/* ---- while it is read ------------------------------------------------------------------------ */

static lane *lane_of(firefox *f, qp_span_thread *th)
{
    lane *l = th->own;
    if (l)
        return l;
    lane **place = qp_buf_add(&f->lanes);
    l = place ? qp_alloc_zeroed(1, sizeof *l) : NULL;
    f->failed |= !l;
    if (place)
        *place = l;
    if (!l)
        return NULL;
    l->names = qp_trace_names(f->x->trace);
    l->number = th->number;
    qp_buf_init(&l->functions, sizeof(uint32_t));
    qp_buf_init(&l->stacks, sizeof(qp_firefox_stack));
    qp_buf_init(&l->samples, sizeof(sample));
    th->own = l;
    return l;
}

static void put(firefox *f, lane *l, uint64_t raw, uint32_t stack)
{
    uint64_t at = qp_trace_moment(qp_trace_about(f->x->trace), raw);
    sample *last = l->samples.n ? (sample *)l->samples.items + l->samples.n - 1 : NULL;
    if (last && last->stack == stack)
        return;
    if (last && at <= last->at) { /* nothing lasted 0 ns */
        last->stack = stack;
        return;
    }
    last = qp_buf_add(&l->samples);
    f->failed |= !last;
    if (last)
        *last = (sample){at, stack};
}

static uint32_t top_stack(const qp_span_thread *th)
{
    return th->depth ? th->spans[th->depth - 1].tag : 0;
}

/* A thread that goes on: what its clock stood for is nobody's time. */
static void note_pause(firefox *f, lane *l, const qp_span_thread *th, uint32_t stack)
{
    if (th->stood == l->stood)
        return;
    put(f, l, th->stands_since, 0);
    put(f, l, th->stands_since + (th->stood - l->stood), stack);
    l->stood = th->stood;
}

static uint32_t function_of(firefox *f, lane *l, uint32_t method)
{
    uint32_t function = qp_dict_get(&l->function_of, (uint64_t)method + 1);
    uint32_t *item = function ? NULL : qp_buf_add(&l->functions);
    if (item) {
        *item = method;
        function = (uint32_t)l->functions.n;
        f->failed |= !qp_dict_put(&l->function_of, (uint64_t)method + 1, function);
    }
    f->failed |= !function;
    return function - 1;
}

static uint32_t stack_of(firefox *f, lane *l, uint32_t caller, uint32_t method)
{
    uint32_t function = function_of(f, l, method);
    uint64_t key = ((uint64_t)caller << 32 | function) + 1;
    uint32_t stack = qp_dict_get(&l->stack_of, key);
    qp_firefox_stack *item = stack || f->failed ? NULL : qp_buf_add(&l->stacks);
    if (item) {
        *item = (qp_firefox_stack){function, caller};
        stack = (uint32_t)l->stacks.n;
        f->failed |= !qp_dict_put(&l->stack_of, key, stack);
    }
    f->failed |= !stack;
    return stack;
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    firefox *f = to;
    lane *l = lane_of(f, th);
    uint32_t caller = th->depth > 1 ? s[-1].tag : 0;
    if (!l || f->failed)
        return;
    note_pause(f, l, th, caller);
    s->tag = stack_of(f, l, caller, s->method);
    put(f, l, s->raw, s->tag);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    firefox *f = to;
    lane *l = lane_of(f, th);
    (void)end;
    if (!l || f->failed)
        return;
    note_pause(f, l, th, s->tag);
    bool stands = th->is_parked || th->is_off;
    put(f, l, stands ? th->stands_since : th->raw, th->depth > 1 && !stands ? s[-1].tag : 0);
}

static void tell(void *to, qp_span_thread *th, const qp_span_event *e)
{
    firefox *f = to;
    lane *l = th->own;
    (void)e;
    if (l && !f->failed)
        note_pause(f, l, th, top_stack(th));
}

/* ---- when it was read ------------------------------------------------------------------------ */

static qp_firefox_function function_at(const void *of, size_t i)
{
    const lane *l = of;
    const qp_trace_method *m =
        qp_names_method_at(l->names, ((const uint32_t *)l->functions.items)[i]);
    return (qp_firefox_function){m->name, m->file, m->first_line};
}

static qp_firefox_stack stack_at(const void *of, size_t i)
{
    return ((const qp_firefox_stack *)((const lane *)of)->stacks.items)[i];
}

/* Times are ms. */
static void write_samples(qp_json *json, const lane *l)
{
    const sample *x = l->samples.items;
    size_t n = l->samples.n;
    qp_json_begin(json, "samples", '{');
    qp_json_begin(json, "stack", '[');
    for (size_t i = 0; i < n; i++)
        if (x[i].stack)
            qp_json_count(json, NULL, x[i].stack - 1);
        else
            qp_json_null(json, NULL);
    qp_json_end(json, ']');
    qp_json_begin(json, "time", '[');
    for (size_t i = 0; i < n; i++)
        qp_json_decimal(json, NULL, x[i].at, 6);
    qp_json_end(json, ']');
    qp_json_begin(json, "weight", '[');
    for (size_t i = 0; i < n; i++)
        qp_json_decimal(json, NULL, i + 1 < n && x[i].stack ? x[i + 1].at - x[i].at : 0, 6);
    qp_json_end(json, ']');
    qp_json_text(json, "weightType", "tracing-ms");
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

static void write_all(const firefox *f, qp_out *out)
{
    const qp_trace_info *info = qp_trace_about(f->x->trace);
    qp_json json;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_firefox_meta(&json, info->program, info->started_at);
    qp_json_begin(&json, "threads", '[');
    for (size_t i = 0; i < f->lanes.n; i++) {
        const lane *l = ((lane *const *)f->lanes.items)[i];
        const qp_trace_thread *th = qp_names_thread_at(l->names, l->number);
        const qp_firefox_tables tables = {l, l->functions.n, l->stacks.n, function_at,
                                          stack_at};
        if (!l->stacks.n) /* a thread without samples is refused */
            continue;
        qp_json_begin(&json, NULL, '{');
        qp_firefox_thread(&json, info->pid, th->ordinal, th->name, i == 0);
        write_samples(&json, l);
        qp_firefox_write(&json, &tables);
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

static void free_lane(lane *l)
{
    if (!l)
        return;
    qp_free(l->functions.items);
    qp_free(l->stacks.items);
    qp_free(l->samples.items);
    qp_dict_fini(&l->function_of);
    qp_dict_fini(&l->stack_of);
    qp_free(l);
}

static bool write(qp_trace_export *x, qp_out *out)
{
    firefox f = {.x = x};
    const qp_span_sink sink = {&f, enter, leave, tell};
    qp_buf_init(&f.lanes, sizeof(lane *));
    bool is_played = qp_trace_export_play(x, &sink) && !f.failed;
    if (is_played)
        write_all(&f, out);
    for (size_t i = 0; i < f.lanes.n; i++)
        free_lane(((lane **)f.lanes.items)[i]);
    qp_free(f.lanes.items);
    return is_played;
}

const qp_trace_exporter qp_trace_export_firefox = {
    .name = "firefox",
    .suffix = ".firefox.json",
    .summary = "profiler.firefox.com: a processed profile, a sample at each entry and exit",
    .write = write};
