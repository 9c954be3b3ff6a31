/* firefox.c: a processed profile of the Firefox Profiler, in the shape of its version 47, which later
 * ones upgrade when they load it.
 *
 * A profile is a sample for each call path, with its self time as weight. A trace is a sample
 * whenever the stack of a thread changes, with the time until the next one as weight, and none while
 * its clock is stopped. The format wants the columns of a thread one after another: unlike others,
 * this writer keeps 16 bytes for each sample. Every thread has tables of its own: of strings (a
 * function's name, then its file), functions, frames (one for each function) and stacks. */
#include <inttypes.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/json.h"
#include "export/timeline/steps.h"

enum { PROCESSED_VERSION = 47, GECKO_VERSION = 28, CATEGORY = 0 };

typedef struct {
    uint32_t function; /* from 0 */
    uint32_t caller;   /* stack + 1; 0: none */
} call_stack;

typedef struct {
    uint64_t at;    /* ns, or units, from the run's start */
    uint32_t stack; /* + 1; 0: nothing is called, or the clock is stopped */
} sample;

typedef struct {
    uint32_t thread;
    uint64_t end;        /* of the last sample */
    qp_buf functions;    /* uint32_t: number of each in the run */
    qp_buf stacks;       /* call_stack */
    qp_buf samples;      /* sample */
    qp_buf open;         /* uint32_t: stacks + 1 of the calls that are open */
    qp_dict function_of; /* number + 1 -> function + 1 */
    qp_dict stack_of;    /* (caller << 32 | function) + 1 -> stack + 1 */
} lane;

typedef struct {
    const qp_steps *from;
    qp_buf lanes; /* lane *, in the order of the first calls */
    qp_json json;
    bool failed; /* no memory */
} firefox;

/* ---- steps to samples ------------------------------------------------------------------------ */

static lane *lane_of(firefox *f, const qp_step *s)
{
    lane *l = *s->data;
    if (l)
        return l;
    lane **place = qp_buf_add(&f->lanes);
    l = place ? qp_alloc_zeroed(1, sizeof *l) : NULL;
    f->failed |= !l;
    if (place)
        *place = l;
    if (!l)
        return NULL;
    l->thread = s->thread;
    qp_buf_init(&l->functions, sizeof(uint32_t));
    qp_buf_init(&l->stacks, sizeof(call_stack));
    qp_buf_init(&l->samples, sizeof(sample));
    qp_buf_init(&l->open, sizeof(uint32_t));
    *s->data = l;
    return l;
}

static void add_sample(firefox *f, lane *l, uint64_t at, uint32_t stack)
{
    sample *x = qp_buf_add(&l->samples);
    f->failed |= !x;
    if (x)
        *x = (sample){at, stack};
    l->end = at;
}

/* From `at` on the thread has this stack. */
static void change_stack(firefox *f, lane *l, uint64_t at, uint32_t stack)
{
    sample *last = l->samples.n ? (sample *)l->samples.items + l->samples.n - 1 : NULL;
    if (last && last->stack == stack)
        return;
    if (last && at <= last->at) /* its stack lasted 0 ns */
        last->stack = stack;
    else
        add_sample(f, l, at, stack);
}

static uint32_t top_of(const lane *l)
{
    return l->open.n ? ((const uint32_t *)l->open.items)[l->open.n - 1] : 0;
}

/* @return its place in the thread's functions + 1 */
static uint32_t function_of(firefox *f, lane *l, uint32_t number)
{
    uint32_t function = qp_dict_get(&l->function_of, (uint64_t)number + 1);
    uint32_t *item = function ? NULL : qp_buf_add(&l->functions);
    if (item) {
        *item = number;
        function = (uint32_t)l->functions.n;
        f->failed |= !qp_dict_put(&l->function_of, (uint64_t)number + 1, function);
    }
    f->failed |= !function;
    return function;
}

/* @return the stack of the function called on `caller`, + 1 */
static uint32_t stack_of(firefox *f, lane *l, uint32_t caller, uint32_t number)
{
    uint32_t function = function_of(f, l, number) - 1;
    uint64_t key = ((uint64_t)caller << 32 | function) + 1;
    uint32_t found = qp_dict_get(&l->stack_of, key);
    call_stack *item = found || f->failed ? NULL : qp_buf_add(&l->stacks);
    if (item) {
        *item = (call_stack){function, caller};
        found = (uint32_t)l->stacks.n;
        f->failed |= !qp_dict_put(&l->stack_of, key, found);
    }
    f->failed |= !found;
    return found;
}

static void take_enter(firefox *f, lane *l, const qp_step *s)
{
    uint32_t stack = stack_of(f, l, top_of(l), s->function), *open = qp_buf_add(&l->open);
    f->failed |= !open;
    if (!open)
        return;
    *open = stack;
    if (!s->f) {
        change_stack(f, l, s->at, stack);
        return;
    }
    uint64_t at = l->end;
    add_sample(f, l, at, stack);
    l->end = at + s->self;
}

static void take(void *to, const qp_step *s)
{
    firefox *f = to;
    lane *l = f->failed ? NULL : s->kind == QP_STEP_ENTER ? lane_of(f, s) : *s->data;
    if (!l)
        return;
    if (s->kind == QP_STEP_ENTER) {
        take_enter(f, l, s);
    } else if (s->kind == QP_STEP_LEAVE && l->open.n) {
        l->open.n--;
        if (!s->f)
            change_stack(f, l, s->until, s->is_paused ? 0 : top_of(l));
    } else if (s->kind == QP_STEP_PAUSE) {
        change_stack(f, l, s->at, 0);
        change_stack(f, l, s->until, top_of(l));
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

static void write_same(qp_json *json, const char *key, size_t n, int64_t value)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_change(json, NULL, value);
    qp_json_end(json, ']');
}

static void write_nulls(qp_json *json, const char *key, size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_null(json, NULL);
    qp_json_end(json, ']');
}

static void write_flags(qp_json *json, const char *key, size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_bool(json, NULL, false);
    qp_json_end(json, ']');
}

static void write_series(qp_json *json, const char *key, size_t n, size_t first, size_t step)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_count(json, NULL, first + step * i);
    qp_json_end(json, ']');
}

/* A number that counts from 1, from 0; null for 0. */
static void write_place(qp_json *json, uint32_t number)
{
    if (number)
        qp_json_count(json, NULL, number - 1);
    else
        qp_json_null(json, NULL);
}

static void write_empty(qp_json *json, const char *table, const char *const *columns, size_t n)
{
    qp_json_begin(json, table, '{');
    for (size_t i = 0; i < n; i++)
        write_same(json, columns[i], 0, 0);
    qp_json_count(json, "length", 0);
    qp_json_end(json, '}');
}

/* ---- tables ---------------------------------------------------------------------------------- */

static qp_step_function function_at(const firefox *f, const lane *l, size_t i)
{
    return f->from->function(f->from, ((const uint32_t *)l->functions.items)[i]);
}

static void write_lines(firefox *f, const char *key, const lane *l)
{
    qp_json_begin(&f->json, key, '[');
    for (size_t i = 0; i < l->functions.n; i++) {
        uint32_t line = function_at(f, l, i).line;
        if (line)
            qp_json_count(&f->json, NULL, line);
        else
            qp_json_null(&f->json, NULL);
    }
    qp_json_end(&f->json, ']');
}

static void write_strings(firefox *f, const lane *l)
{
    qp_json_begin(&f->json, "stringArray", '[');
    for (size_t i = 0; i < l->functions.n; i++) {
        qp_json_text(&f->json, NULL, function_at(f, l, i).name);
        qp_json_text(&f->json, NULL, function_at(f, l, i).file);
    }
    qp_json_end(&f->json, ']');
}

static void write_functions(firefox *f, const lane *l)
{
    qp_json *json = &f->json;
    size_t n = l->functions.n;
    qp_json_begin(json, "funcTable", '{');
    write_series(json, "name", n, 0, 2);
    write_flags(json, "isJS", n);
    write_flags(json, "relevantForJS", n);
    write_same(json, "resource", n, -1);
    write_series(json, "fileName", n, 1, 2);
    write_lines(f, "lineNumber", l);
    write_nulls(json, "columnNumber", n);
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

static void write_frames(firefox *f, const lane *l)
{
    qp_json *json = &f->json;
    size_t n = l->functions.n;
    qp_json_begin(json, "frameTable", '{');
    write_same(json, "address", n, -1);
    write_same(json, "inlineDepth", n, 0);
    write_same(json, "category", n, CATEGORY);
    write_same(json, "subcategory", n, 0);
    write_series(json, "func", n, 0, 1);
    write_nulls(json, "nativeSymbol", n);
    write_same(json, "innerWindowID", n, 0);
    write_nulls(json, "implementation", n);
    write_lines(f, "line", l);
    write_nulls(json, "column", n);
    write_nulls(json, "optimizations", n);
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

static void write_stacks(firefox *f, const lane *l)
{
    qp_json *json = &f->json;
    const call_stack *x = l->stacks.items;
    size_t n = l->stacks.n;
    qp_json_begin(json, "stackTable", '{');
    qp_json_begin(json, "frame", '[');
    for (size_t i = 0; i < n; i++)
        qp_json_count(json, NULL, x[i].function);
    qp_json_end(json, ']');
    qp_json_begin(json, "prefix", '[');
    for (size_t i = 0; i < n; i++)
        write_place(json, x[i].caller);
    qp_json_end(json, ']');
    write_same(json, "category", n, CATEGORY);
    write_same(json, "subcategory", n, 0);
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

/* Times are ms; those of another unit are numbers of samples. */
static void write_samples(firefox *f, const lane *l)
{
    qp_json *json = &f->json;
    const sample *x = l->samples.items;
    size_t n = l->samples.n;
    unsigned n_digits = f->from->is_ns ? 6 : 0;
    qp_json_begin(json, "samples", '{');
    qp_json_begin(json, "stack", '[');
    for (size_t i = 0; i < n; i++)
        write_place(json, x[i].stack);
    qp_json_end(json, ']');
    qp_json_begin(json, "time", '[');
    for (size_t i = 0; i < n; i++)
        qp_json_decimal(json, NULL, x[i].at, n_digits);
    qp_json_end(json, ']');
    qp_json_begin(json, "weight", '[');
    for (size_t i = 0; i < n; i++) {
        uint64_t end = i + 1 < n ? x[i + 1].at : l->end;
        qp_json_decimal(json, NULL, x[i].stack ? end - x[i].at : 0, n_digits);
    }
    qp_json_end(json, ']');
    qp_json_text(json, "weightType", n_digits ? "tracing-ms" : "samples");
    qp_json_count(json, "length", n);
    qp_json_end(json, '}');
}

/* ---- the document ---------------------------------------------------------------------------- */

static void write_meta(firefox *f)
{
    qp_json *json = &f->json;
    qp_json_begin(json, "meta", '{');
    qp_json_decimal(json, "interval", 1, 3); /* how long the last sample is drawn, ms */
    qp_json_decimal(json, "startTime", f->from->started_at, 6);
    qp_json_count(json, "processType", 0);
    qp_json_text(json, "product", f->from->program);
    qp_json_text(json, "importedFrom", "qprof " QPROF_VERSION_TEXT);
    qp_json_count(json, "stackwalk", 1);
    qp_json_count(json, "version", GECKO_VERSION);
    qp_json_count(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    qp_json_bool(json, "symbolicated", true);
    qp_json_begin(json, "categories", '[');
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "name", "Function");
    qp_json_text(json, "color", "blue");
    qp_json_begin(json, "subcategories", '[');
    qp_json_text(json, NULL, "Other");
    qp_json_end(json, ']');
    qp_json_end(json, '}');
    qp_json_end(json, ']');
    write_same(json, "markerSchema", 0, 0);
    qp_json_end(json, '}');
    write_same(json, "libs", 0, 0);
    write_same(json, "pages", 0, 0);
}

static void write_thread_head(firefox *f, const lane *l, bool is_main)
{
    qp_json *json = &f->json;
    const qp_step_thread th = f->from->thread(f->from, l->thread);
    char process[24], tid[48];
    qp_text_format(process, sizeof process, "%" PRIu64, f->from->pid);
    qp_text_format(tid, sizeof tid, "%s.%" PRIu32, process, th.ordinal);
    qp_json_text(json, "processType", "default");
    qp_json_count(json, "processStartupTime", 0);
    qp_json_null(json, "processShutdownTime");
    qp_json_count(json, "registerTime", 0);
    qp_json_null(json, "unregisterTime");
    write_same(json, "pausedRanges", 0, 0);
    qp_json_text(json, "name", th.name);
    qp_json_bool(json, "isMainThread", is_main);
    qp_json_text(json, "pid", process);
    qp_json_text(json, "tid", tid);
}

static void write_thread(firefox *f, const lane *l, bool is_main)
{
    static const char *const markers[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    static const char *const resources[] = {"lib", "name", "host", "type"};
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"};
    qp_json_begin(&f->json, NULL, '{');
    write_thread_head(f, l, is_main);
    write_samples(f, l);
    write_empty(&f->json, "markers", markers, sizeof markers / sizeof *markers);
    write_stacks(f, l);
    write_frames(f, l);
    write_functions(f, l);
    write_strings(f, l);
    write_empty(&f->json, "resourceTable", resources, sizeof resources / sizeof *resources);
    write_empty(&f->json, "nativeSymbols", symbols, sizeof symbols / sizeof *symbols);
    qp_json_end(&f->json, '}');
}

static void write_all(firefox *f)
{
    qp_json_begin(&f->json, NULL, '{');
    write_meta(f);
    qp_json_begin(&f->json, "threads", '[');
    for (size_t i = 0; i < f->lanes.n; i++) {
        const lane *l = ((lane *const *)f->lanes.items)[i];
        write_thread(f, l, f->from->m ? l->thread == 1 : i == 0);
    }
    qp_json_end(&f->json, ']');
    qp_json_end(&f->json, '}');
}

static void free_lane(lane *l)
{
    if (!l)
        return;
    qp_free(l->functions.items);
    qp_free(l->stacks.items);
    qp_free(l->samples.items);
    qp_free(l->open.items);
    qp_dict_fini(&l->function_of);
    qp_dict_fini(&l->stack_of);
    qp_free(l);
}

static bool write(const qp_steps *from, qp_out *out)
{
    firefox f = {.from = from};
    qp_json_init(&f.json, out);
    qp_buf_init(&f.lanes, sizeof(lane *));
    bool is_played = from->play(from, take, &f) && !f.failed;
    if (is_played)
        write_all(&f);
    for (size_t i = 0; i < f.lanes.n; i++)
        free_lane(((lane **)f.lanes.items)[i]);
    qp_free(f.lanes.items);
    return is_played;
}

static bool write_profile(const qp_model *m, qp_out *out, const qp_export_options *o,
                          char error[QP_ERROR_BYTES])
{
    return qp_steps_of_profile(m, o, out, write, error);
}

const qp_exporter qp_export_firefox = {.name = "firefox",
                                       .suffix = ".firefox.json",
                                       .summary = "profiler.firefox.com: a processed profile",
                                       .limits = "calls and interrupts beside times, lines "
                                                 "within functions",
                                       .has_measure = true,
                                       .has_samples = true,
                                       .write = write_profile};

const qp_trace_exporter qp_trace_export_firefox = {
    .name = "firefox",
    .suffix = ".firefox.json",
    .summary = "profiler.firefox.com: a processed profile, a sample at each entry and exit",
    .write = write};
