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

enum { PROCESSED_VERSION = 47, GECKO_VERSION = 28 };

typedef struct {
    uint32_t function; /* from 0 */
    uint32_t caller;   /* stack + 1; 0: none */
} call_stack;

typedef struct {
    uint64_t at;    /* ns, or units, from the run's start */
    uint32_t stack; /* + 1; 0: nothing is called, or the clock is stopped */
} sample;

typedef struct {
    uint64_t at, bytes;
    uint32_t stack; /* + 1 */
} allocation;

typedef struct {
    uint32_t thread;
    uint64_t end;        /* of the last sample */
    qp_buf allocations;  /* allocation: one a call path */
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
    *l = (lane){.thread = s->thread,
                .functions = QP_BUF(uint32_t),
                .stacks = QP_BUF(call_stack),
                .samples = QP_BUF(sample),
                .open = QP_BUF(uint32_t),
                .allocations = QP_BUF(allocation)};
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

/* @return the stack of the function called on `caller`, + 1 */
static uint32_t stack_of(firefox *f, lane *l, uint32_t caller, uint32_t number)
{
    bool is_new;
    uint32_t function =
        qp_buf_keyed(&l->functions, &l->function_of, (uint64_t)number + 1, &is_new);
    if (is_new)
        ((uint32_t *)l->functions.items)[function - 1] = number;
    uint64_t key = ((uint64_t)caller << 32 | function) + 1;
    uint32_t stack = function ? qp_buf_keyed(&l->stacks, &l->stack_of, key, &is_new) : 0;
    f->failed |= !stack;
    if (stack && is_new)
        ((call_stack *)l->stacks.items)[stack - 1] = (call_stack){function - 1, caller};
    return stack;
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
    if (s->f->memory.bytes) {
        allocation *x = qp_buf_add(&l->allocations);
        f->failed |= !x;
        if (x)
            *x = (allocation){at, s->f->memory.bytes, stack};
    }
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

/* What a column has in row i. */
typedef enum {
    INDEX,   /* i */
    EVEN,    /* 2 * i */
    ODD,     /* 2 * i + 1 */
    ZERO,    /* also the only category */
    NOWHERE, /* -1 */
    NOTHING,
    NO,
    LINE, /* of a function */
    STACK_FUNCTION,
    STACK_CALLER,
    SAMPLE_STACK,
    SAMPLE_TIME,
    SAMPLE_WEIGHT,
    ALLOCATION_STACK,
    ALLOCATION_TIME,
    ALLOCATION_WEIGHT
} cell;

typedef struct {
    const char *name;
    cell cell;
} column;

static qp_step_function function_at(const firefox *f, const lane *l, size_t i)
{
    return f->from->function(f->from, ((const uint32_t *)l->functions.items)[i]);
}

static void write_number(qp_json *json, bool is_known, uint32_t number)
{
    if (is_known)
        qp_json_count(json, NULL, number);
    else
        qp_json_null(json, NULL);
}

static uint64_t weight_of(const lane *l, size_t i)
{
    const sample *x = (const sample *)l->samples.items + i;
    uint64_t end = i + 1 < l->samples.n ? x[1].at : l->end;
    return x->stack ? end - x->at : 0;
}

/* Times are ms; those of another unit are numbers of samples. */
static void write_cell(firefox *f, const lane *l, const column *c, size_t i)
{
    qp_json *json = &f->json;
    const call_stack *stacks = l->stacks.items;
    const sample *samples = l->samples.items;
    const allocation *allocations = l->allocations.items;
    unsigned n_digits = f->from->is_ns ? 6 : 0;
    uint32_t line = c->cell == LINE ? function_at(f, l, i).line : 0;
    switch (c->cell) {
    case INDEX:
    case EVEN:
    case ODD:
        qp_json_count(json, NULL, c->cell == INDEX ? i : 2 * i + (c->cell == ODD));
        break;
    case ZERO:
    case NOWHERE:
        qp_json_change(json, NULL, c->cell == ZERO ? 0 : -1);
        break;
    case NO:
        qp_json_bool(json, NULL, false);
        break;
    case NOTHING:
    case LINE:
        write_number(json, line != 0, line);
        break;
    case STACK_FUNCTION:
        write_number(json, true, stacks[i].function);
        break;
    case STACK_CALLER:
        write_number(json, stacks[i].caller != 0, stacks[i].caller - 1);
        break;
    case SAMPLE_STACK:
        write_number(json, samples[i].stack != 0, samples[i].stack - 1);
        break;
    case SAMPLE_TIME:
        qp_json_decimal(json, NULL, samples[i].at, n_digits);
        break;
    case SAMPLE_WEIGHT:
        qp_json_decimal(json, NULL, weight_of(l, i), n_digits);
        break;
    case ALLOCATION_STACK:
        write_number(json, true, allocations[i].stack - 1);
        break;
    case ALLOCATION_TIME:
        qp_json_decimal(json, NULL, allocations[i].at, n_digits);
        break;
    case ALLOCATION_WEIGHT:
        qp_json_count(json, NULL, allocations[i].bytes);
        break;
    }
}

/* Write the columns of a table, up to one without a name; the table stays open. */
static void begin_table(firefox *f, const lane *l, const char *name, const column *columns,
                        size_t n)
{
    qp_json_begin(&f->json, name, '{');
    for (const column *c = columns; c->name; c++) {
        qp_json_begin(&f->json, c->name, '[');
        for (size_t i = 0; i < n; i++)
            write_cell(f, l, c, i);
        qp_json_end(&f->json, ']');
    }
}

static void write_table(firefox *f, const lane *l, const char *name, const column *columns,
                        size_t n)
{
    begin_table(f, l, name, columns, n);
    qp_json_count(&f->json, "length", n);
    qp_json_end(&f->json, '}');
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const column function_columns[] = {
    {"name", EVEN},    {"isJS", NO},         {"relevantForJS", NO},     {"resource", NOWHERE},
    {"fileName", ODD}, {"lineNumber", LINE}, {"columnNumber", NOTHING}, {NULL, NOTHING}};
static const column frame_columns[] = {{"address", NOWHERE},
                                       {"inlineDepth", ZERO},
                                       {"category", ZERO},
                                       {"subcategory", ZERO},
                                       {"func", INDEX},
                                       {"nativeSymbol", NOTHING},
                                       {"innerWindowID", ZERO},
                                       {"implementation", NOTHING},
                                       {"line", LINE},
                                       {"column", NOTHING},
                                       {"optimizations", NOTHING},
                                       {NULL, NOTHING}};
static const column stack_columns[] = {{"frame", STACK_FUNCTION},
                                       {"prefix", STACK_CALLER},
                                       {"category", ZERO},
                                       {"subcategory", ZERO},
                                       {NULL, NOTHING}};
static const column sample_columns[] = {
    {"stack", SAMPLE_STACK}, {"time", SAMPLE_TIME}, {"weight", SAMPLE_WEIGHT}, {NULL, NOTHING}};
static const column allocation_columns[] = {{"stack", ALLOCATION_STACK},
                                            {"time", ALLOCATION_TIME},
                                            {"weight", ALLOCATION_WEIGHT},
                                            {NULL, NOTHING}};
/* of tables without rows */
static const column marker_columns[] = {
    {"data", NOTHING},  {"name", NOTHING},     {"startTime", NOTHING}, {"endTime", NOTHING},
    {"phase", NOTHING}, {"category", NOTHING}, {NULL, NOTHING}};
static const column resource_columns[] = {
    {"lib", NOTHING}, {"name", NOTHING}, {"host", NOTHING}, {"type", NOTHING}, {NULL, NOTHING}};
static const column symbol_columns[] = {{"libIndex", NOTHING},
                                        {"address", NOTHING},
                                        {"name", NOTHING},
                                        {"functionSize", NOTHING},
                                        {NULL, NOTHING}};

static void write_samples(firefox *f, const lane *l)
{
    begin_table(f, l, "samples", sample_columns, l->samples.n);
    bool is_bytes = f->from->m && f->from->measure == QP_MEASURE_BYTES;
    qp_json_text(&f->json, "weightType",
                 f->from->is_ns ? "tracing-ms"
                 : is_bytes     ? "bytes"
                                : "samples");
    qp_json_count(&f->json, "length", l->samples.n);
    qp_json_end(&f->json, '}');
}

/* What each path itself allocated, all at one moment. */
static void write_allocations(firefox *f, const lane *l)
{
    if (!l->allocations.n)
        return;
    begin_table(f, l, "nativeAllocations", allocation_columns, l->allocations.n);
    qp_json_text(&f->json, "weightType", "bytes");
    qp_json_count(&f->json, "length", l->allocations.n);
    qp_json_end(&f->json, '}');
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

static void write_empty(qp_json *json, const char *list)
{
    qp_json_begin(json, list, '[');
    qp_json_end(json, ']');
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
    write_empty(json, "markerSchema");
    qp_json_end(json, '}');
    write_empty(json, "libs");
    write_empty(json, "pages");
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
    write_empty(json, "pausedRanges");
    qp_json_text(json, "name", th.name);
    qp_json_bool(json, "isMainThread", is_main);
    qp_json_text(json, "pid", process);
    qp_json_text(json, "tid", tid);
}

static void write_thread(firefox *f, const lane *l, bool is_main)
{
    qp_json_begin(&f->json, NULL, '{');
    write_thread_head(f, l, is_main);
    write_samples(f, l);
    write_allocations(f, l);
    write_table(f, l, "markers", marker_columns, 0);
    write_table(f, l, "stackTable", stack_columns, l->stacks.n);
    write_table(f, l, "frameTable", frame_columns, l->functions.n);
    write_table(f, l, "funcTable", function_columns, l->functions.n);
    write_strings(f, l);
    write_table(f, l, "resourceTable", resource_columns, 0);
    write_table(f, l, "nativeSymbols", symbol_columns, 0);
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
    qp_free(l->allocations.items);
    qp_dict_fini(&l->function_of);
    qp_dict_fini(&l->stack_of);
    qp_free(l);
}

bool qp_trace_export_firefox(const qp_steps *from, qp_out *out)
{
    firefox f = {.from = from, .lanes = QP_BUF(lane *)};
    qp_json_init(&f.json, out);
    bool is_played = from->play(from, take, &f) && !f.failed;
    if (is_played)
        write_all(&f);
    for (size_t i = 0; i < f.lanes.n; i++)
        free_lane(((lane **)f.lanes.items)[i]);
    qp_free(f.lanes.items);
    return is_played;
}

bool qp_export_firefox(const qp_model *m, qp_out *out, const qp_export_options *o,
                       qp_error *error)
{
    return qp_steps_of_profile(m, o, out, qp_trace_export_firefox, error);
}
