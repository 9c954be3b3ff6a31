/* kept.c: `qprof requests --slowest` and --show: the requests that were kept whole, and the calls of one of them
 * in their order. Neither recurses: calls may be nested a million deep. */
#include "cli/profile/kept.h"

#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/json.h"
#include "base/text/text.h"

enum { HEX_BYTES = 33, INDENT_MOST = 60, RUNS_MOST = 64, HAS_TRACE = 512, HAS_WAITS = 1024 };

typedef struct {
    const char *endpoint, *outcome, *thread;
    qp_kept_request r;
    uint64_t number, begun_ns, off_ns, suspended_ns, waiting_ns, missing, thread_ordinal;
    char trace[HEX_BYTES], span[HEX_BYTES], elapsed[QP_NUMBER_BYTES], waiting[QP_NUMBER_BYTES],
        begun[QP_NUMBER_BYTES];
    const char *trace_text, *span_text, *elapsed_text, *waiting_text, *begun_text;
} row;

/* A line of --show: calls of the same shape that follow each other. */
typedef struct {
    const char *function;
    uint64_t depth, calls, begin_ns, total_ns, off_ns, suspended_ns;
} call_row;

/* Calls that a line sums up lie at equal distances. */
typedef struct {
    size_t end; /* of the first */
    size_t stride, n;
} run;

typedef struct {
    qp_document about;
    const qp_cli *cli;
    row *all; /* [n] */
    size_t n;
    unsigned has;
    const row *shown; /* of --show */
    qp_kept_call *calls;
    size_t n_calls;
    call_row *lines;
    size_t n_lines;
} document;

#define AT(member) QP_FIELD_AT(row, member)
#define REQUEST_FIELDS                                                                         \
    {"number", "No.", "its number, for --show", QP_FIELD_COUNT, AT(number)},                   \
        {"endpoint", "Endpoint", "name of the endpoint", QP_FIELD_NAME, AT(endpoint)},         \
        {"elapsed_ns", NULL, "from begin to end, in ns", QP_FIELD_COUNT, AT(r.elapsed_ns)},    \
        {"elapsed",     "Elapsed",        NULL,                                                \
         QP_FIELD_WORD, AT(elapsed_text), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},         \
        {"waiting",     "Waiting",        NULL,                                                \
         QP_FIELD_WORD, AT(waiting_text), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},         \
        {"off_ns", NULL, "the part of it off the processor", QP_FIELD_COUNT, AT(off_ns)},      \
        {"suspended_ns", NULL, "the part in which its thread was suspended or not recorded",   \
         QP_FIELD_COUNT, AT(suspended_ns)},                                                    \
        {"calls", "Calls", "calls that began in it", QP_FIELD_COUNT, AT(r.n_calls)},           \
        {"outcome",     "Outcome",   "how it ended",                                           \
         QP_FIELD_WORD, AT(outcome), .words = "ended|failed|cut"},                             \
        {"begun_ns", NULL, "when it began, since the start of the run, in ns", QP_FIELD_COUNT, \
         AT(begun_ns)},                                                                        \
        {"begun",       "Begun at",     NULL,                                                  \
         QP_FIELD_WORD, AT(begun_text), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},           \
        {"begun_at", NULL, "the same, UTC", QP_FIELD_MOMENT, AT(r.begun_at)},                  \
        {"window", NULL, "number of the window in which it ended, from 0", QP_FIELD_COUNT,     \
         AT(r.window)},                                                                        \
        {"thread", NULL, "number of its thread", QP_FIELD_COUNT, AT(thread_ordinal)},          \
        {"thread_name", NULL, "name of its thread", QP_FIELD_TEXT, AT(thread)},                \
        {"missing", "Missing", "entries and exits that were not kept", QP_FIELD_COUNT,         \
         AT(missing)},                                                                         \
        {"trace",       "Trace",        "its trace id, in hexadecimal digits",                 \
         QP_FIELD_TEXT, AT(trace_text), .flags = QP_FIELD_NULLABLE | QP_FIELD_DIM,             \
         .rank = 1},                                                                           \
    {                                                                                          \
        "span", NULL, "its span id", QP_FIELD_TEXT, AT(span_text), .flags = QP_FIELD_NULLABLE  \
    }
static const qp_field fields[] = {REQUEST_FIELDS, {.key = NULL}};
#undef AT

#define AT(member) QP_FIELD_AT(call_row, member)
static const qp_field call_fields[] = {
    {"depth", NULL, "calls around it; of the request itself 0", QP_FIELD_COUNT, AT(depth)},
    {"function", NULL, "name of the function", QP_FIELD_NAME, AT(function)},
    {"calls", NULL, "calls of the same shape, one after the other, that this line sums up",
     QP_FIELD_COUNT, AT(calls), .least = 1},
    {"begin_ns", NULL, "when the first of them began, since the begin of the request",
     QP_FIELD_COUNT, AT(begin_ns)},
    {"total_ns", NULL, "elapsed time of all of them, with callees and waits", QP_FIELD_COUNT,
     AT(total_ns)},
    {"off_ns", NULL, "the part of it off the processor", QP_FIELD_COUNT, AT(off_ns)},
    {"suspended_ns", NULL, "the part in which the thread was suspended or not recorded",
     QP_FIELD_COUNT, AT(suspended_ns)},
    {.key = NULL}};
#undef AT

static bool next_row(const void *data, size_t *at, void *to)
{
    const document *d = data;
    if (*at == d->n)
        return false;
    row *r = to;
    *r = d->all[(*at)++];
    r->trace_text = r->trace;
    r->span_text = r->span;
    r->elapsed_text = r->elapsed;
    r->waiting_text = r->waiting;
    r->begun_text = r->begun;
    return true;
}

static bool next_call(const void *data, size_t *at, void *to)
{
    const document *d = data;
    if (*at == d->n_lines)
        return false;
    *(call_row *)to = d->lines[(*at)++];
    return true;
}

static bool next_shown(const void *data, size_t *at, void *to)
{
    const document *d = data;
    size_t i = (size_t)(d->shown - d->all);
    return !(*at)++ && next_row(d, &i, to);
}

static const qp_rows rows = QP_ROWS(fields, row, next_row);
static const qp_rows shown_rows = QP_ROWS(fields, row, next_shown);
static const qp_rows call_rows = QP_ROWS(call_fields, call_row, next_call);

const qp_field qp_kept_list_fields[] = {{"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
                                        {"requests", NULL,
                                         "requests that were kept whole, the slowest first",
                                         QP_FIELD_ROWS, .rows = &rows},
                                        {.key = NULL}};
const qp_field qp_kept_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"requests", NULL, "the request", QP_FIELD_ROWS, .rows = &shown_rows},
    {"calls", NULL, "its calls in their order, the request itself first", QP_FIELD_ROWS,
     .rows = &call_rows},
    {.key = NULL}};

/* ---- gathering --------------------------------------------------------------------------- */

static row row_of(const qp_model *m, const qp_kept_request *r, size_t number)
{
    const qp_model_thread *th = &m->threads[r->thread];
    row x = {.endpoint = m->methods[r->method].name,
             .outcome = r->is_cut       ? "cut"
                        : r->has_failed ? "failed"
                                        : "ended",
             .thread = th->name,
             .thread_ordinal = th->ordinal,
             .r = *r,
             .number = number,
             .begun_ns = qp_model_ns(m, r->begun),
             .off_ns = qp_model_ns(m, r->off),
             .suspended_ns = qp_model_ns(m, r->suspended),
             .missing = r->n_before + r->n_after,
             .waiting = "-"};
    x.waiting_ns = x.off_ns + x.suspended_ns;
    qp_unit_time(x.elapsed, r->elapsed_ns);
    if (x.waiting_ns)
        qp_unit_time(x.waiting, x.waiting_ns);
    qp_unit_time(x.begun, x.begun_ns);
    if (r->has_trace) {
        qp_requests_hex(x.trace, r->trace, sizeof r->trace);
        qp_requests_hex(x.span, r->span, sizeof r->span);
    }
    return x;
}

static bool gather(document *d, const qp_model *m)
{
    qp_kept_request *found;
    bool is_good = qp_model_kept_requests(m, &found, &d->n) &&
                   (d->all = qp_alloc(d->n + 1, sizeof *d->all)) != NULL;
    for (size_t i = 0; is_good && i < d->n; i++) {
        d->all[i] = row_of(m, &found[i], i + 1);
        d->has |= found[i].has_trace ? HAS_TRACE : 0u;
    }
    qp_free(found);
    return is_good;
}

/* ---- calls of the same shape --------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return qp_hash_bytes(hash, &value, sizeof value);
}

/* A call that has a larger part of its request is a line of its own. */
enum { LARGE = 50 };

/* Calls of one shape call the same functions in the same order. @return [n]; NULL: no memory */
static uint64_t *shapes_of(const qp_kept_call *calls, size_t n)
{
    uint64_t *shapes = qp_alloc(n + 1, sizeof *shapes);
    for (size_t i = n; shapes && i--;) {
        uint64_t shape = mix(QP_HASH_START, calls[i].method);
        for (size_t k = i + 1; k <= i + calls[i].n_below; k += calls[k].n_below + (size_t)1)
            shape = mix(shape, shapes[k]);
        shapes[i] = shape;
    }
    return shapes;
}

/* How many calls from i on have the same shape, before a call that the caller of i did not make. */
static size_t run_length(const qp_kept_call *calls, const uint64_t *shapes, size_t n, size_t i)
{
    size_t stride = calls[i].n_below + (size_t)1, length = 1;
    const uint64_t large = calls->total / LARGE;
    for (size_t k = i + stride; k < n && calls[i].total <= large && calls[k].total <= large &&
                                calls[k].depth == calls[i].depth && shapes[k] == shapes[i] &&
                                calls[k].n_below == calls[i].n_below;
         k += stride)
        length++;
    return length;
}

/* Add up the calls at i and those of the runs around it. */
static call_row line_of(const qp_model *m, const qp_kept_call *calls, size_t i, const run *runs,
                        size_t n_runs)
{
    uint64_t n = 1, total = 0, off = 0, suspended = 0;
    for (size_t k = 0; k < n_runs; k++)
        n *= runs[k].n;
    for (uint64_t c = 0; c < n; c++) {
        uint64_t rest = c;
        size_t at = i;
        for (size_t k = 0; k < n_runs; rest /= runs[k++].n)
            at += rest % runs[k].n * runs[k].stride;
        total += calls[at].total;
        off += calls[at].off_total;
        suspended += calls[at].suspended_total;
    }
    return (call_row){.function = m->methods[calls[i].method].name,
                      .depth = calls[i].depth,
                      .calls = n,
                      .begin_ns = qp_model_ns(m, calls[i].begin),
                      .total_ns = qp_model_ns(m, total),
                      .off_ns = qp_model_ns(m, off),
                      .suspended_ns = qp_model_ns(m, suspended)};
}

/* Each run doubles the calls of a line at least: there are few. */
static bool collapse(document *d)
{
    const qp_model *m = d->about.m;
    const qp_kept_call *calls = d->calls;
    run runs[RUNS_MOST];
    size_t n_runs = 0;
    uint64_t *shapes = shapes_of(calls, d->n_calls);
    d->lines = shapes ? qp_alloc(d->n_calls + 1, sizeof *d->lines) : NULL;
    for (size_t i = 0; d->lines && i < d->n_calls;) {
        if (n_runs && i == runs[n_runs - 1].end) {
            n_runs--;
            i += runs[n_runs].stride * (runs[n_runs].n - 1);
            continue;
        }
        size_t stride = calls[i].n_below + (size_t)1;
        size_t length = run_length(calls, shapes, d->n_calls, i);
        if (length > 1 && n_runs < RUNS_MOST)
            runs[n_runs++] = (run){i + stride, stride, length};
        d->lines[d->n_lines++] = line_of(m, calls, i, runs, n_runs);
        i++;
    }
    qp_free(shapes);
    return d->lines != NULL;
}

/* ---- text ---------------------------------------------------------------------------------- */

static bool print_list(const qp_cli *cli, const void *data)
{
    const document *d = data;
    qp_header_text(&cli->screen, d->about.m, cli->path, false);
    if (!d->n) {
        qp_out_text(
            cli->screen.out,
            "No request was kept whole: record with -slowest=8/60s, for example. Profiles that "
            "were merged have none.\n");
        return true;
    }
    bool has_missing = false;
    for (size_t i = 0; i < d->n; i++)
        has_missing |= d->all[i].missing != 0;
    return qp_rows_text(&cli->screen, &rows, d,
                        !has_missing
                            ? "number endpoint elapsed waiting calls outcome begun trace"
                            : "number endpoint elapsed waiting calls missing outcome "
                              "begun trace",
                        qp_run_has(&d->about.m->run) | d->has, QP_UNIT_NONE);
}

static void print_line(const qp_screen *s, const call_row *l, qp_unit unit)
{
    char begin[QP_NUMBER_BYTES], total[QP_NUMBER_BYTES], waiting[QP_NUMBER_BYTES] = "";
    char calls[QP_NUMBER_BYTES];
    uint64_t waits = l->off_ns + l->suspended_ns;
    if (waits)
        qp_unit_number(waiting, waits, unit);
    qp_out_format(s->out, "%12s %12s %12s  ", qp_unit_number(begin, l->begin_ns, unit),
                  qp_unit_number(total, l->total_ns, unit), waiting);
    qp_out_repeat(s->out, ' ', 2 * l->depth < INDENT_MOST ? 2 * l->depth : INDENT_MOST);
    qp_screen_name(s, l->function, 0);
    if (l->calls > 1)
        qp_out_format(s->out, " x %s", qp_unit_count(calls, l->calls));
    qp_out_char(s->out, '\n');
}

static void print_missing(const qp_screen *s, const qp_kept_request *r)
{
    char number[QP_NUMBER_BYTES];
    if (r->n_before)
        qp_header_line(s, "missing",
                       "its first %s calls and returns; calls that were open then begin late",
                       qp_unit_count(number, r->n_before));
    if (r->n_after)
        qp_header_line(s, "missing", "its last %s calls and returns",
                       qp_unit_count(number, r->n_after));
}

static bool print_calls(const qp_cli *cli, const void *data)
{
    const document *d = data;
    const row *r = d->shown;
    const qp_screen *s = &cli->screen;
    char moment[QP_MOMENT_BYTES];
    qp_unit unit = qp_unit_for(r->r.elapsed_ns, true, cli->args.unit);
    qp_header_text(s, d->about.m, cli->path, false);
    qp_header_line(s, "request", "%s, %s%s", r->endpoint, r->elapsed,
                   r->r.is_cut       ? ", cut"
                   : r->r.has_failed ? ", failed"
                                     : "");
    qp_header_line(s, "began", "%s, %s after the start, on thread %s",
                   qp_header_moment(moment, r->r.begun_at), r->begun, r->thread);
    if (r->waiting_ns)
        qp_header_line(s, "waiting", "%s", r->waiting);
    if (r->r.has_trace)
        qp_header_line(s, "trace", "%s, span %s", r->trace, r->span);
    print_missing(s, &r->r);
    qp_out_char(s->out, '\n');
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_out_format(s->out, "%*s%s %*s%s %*s%s  Function\n", 10 - (int)strlen(unit.suffix) + 1,
                  "At", unit.suffix, 8 - (int)strlen(unit.suffix) + 4, "Elapsed", unit.suffix,
                  8 - (int)strlen(unit.suffix) + 4, "Waiting", unit.suffix);
    qp_screen_style(s, QP_STYLE_PLAIN);
    for (size_t i = 0; i < d->n_lines; i++)
        print_line(s, &d->lines[i], unit);
    return true;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void write_list(qp_cli *cli, const void *data)
{
    const document *d = data;
    qp_rows_csv(
        &cli->out, &rows, d,
        "number endpoint elapsed_ns off_ns suspended_ns calls outcome begun_ns begun_at "
        "window thread thread_name missing trace span",
        qp_run_has_any(&d->about.m->run), d->about.m->run.unit);
}

static void write_calls(qp_cli *cli, const void *data)
{
    const document *d = data;
    qp_rows_csv(&cli->out, &call_rows, d,
                "depth function calls begin_ns total_ns off_ns suspended_ns",
                qp_run_has_any(&d->about.m->run), d->about.m->run.unit);
}

/* ---- a timeline ---------------------------------------------------------------------------- */

static void write_event(qp_json *json, const document *d, const row *r, const qp_kept_call *c)
{
    const qp_model *m = d->about.m;
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "ph", "X");
    qp_json_text(json, "name", m->methods[c->method].name);
    qp_json_decimal(json, "ts", r->begun_ns + qp_model_ns(m, c->begin), 3); /* in us */
    qp_json_decimal(json, "dur", qp_model_ns(m, c->total), 3);
    qp_json_count(json, "pid", m->run.pid);
    qp_json_count(json, "tid", r->number);
    if (c->off || c->suspended) {
        qp_json_begin(json, "args", '{');
        qp_json_count(json, "off_ns", qp_model_ns(m, c->off));
        qp_json_count(json, "suspended_ns", qp_model_ns(m, c->suspended));
        qp_json_end(json, '}');
    }
    qp_json_end(json, '}');
}

/* Each request has a track: requests may overlap, and be parts of others. @return false: no memory */
static bool write_track(qp_json *json, const document *d, const row *r)
{
    qp_kept_call *calls;
    size_t n;
    char name[256], number[QP_NUMBER_BYTES];
    bool is_good = qp_model_kept_calls(d->about.m, &r->r, &calls, &n);
    qp_text_format(name, sizeof name, "%s %s", qp_unit_count(number, r->number), r->endpoint);
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "ph", "M");
    qp_json_text(json, "name", "thread_name");
    qp_json_count(json, "pid", d->about.m->run.pid);
    qp_json_count(json, "tid", r->number);
    qp_json_begin(json, "args", '{');
    qp_json_text(json, "name", name);
    qp_json_end(json, '}');
    qp_json_end(json, '}');
    for (size_t i = 0; is_good && i < n; i++)
        write_event(json, d, r, &calls[i]);
    qp_free(calls);
    return is_good;
}

/* Trace events, as `qprof trace export --to=chrome` writes them. */
static bool write_timeline(const void *data, qp_out *out, qp_error *error)
{
    const document *d = *(document *const *)data;
    qp_json json;
    bool is_good = true;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_text(&json, "displayTimeUnit", "ns");
    qp_json_begin(&json, "traceEvents", '[');
    for (size_t i = 0; is_good && i < d->n; i++)
        if (!d->shown || d->shown == &d->all[i])
            is_good = write_track(&json, d, &d->all[i]);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    return is_good || qp_error_fail(error, "not enough memory");
}

/* ---- the command --------------------------------------------------------------------------- */

/* The request of --show or --trace-id. @return NULL: there is none, a message was printed */
static const row *find(const qp_cli *cli, const document *d)
{
    const qp_kept_args *a = &cli->args.kept;
    if (!a->trace_id && a->shown >= 1 && a->shown <= d->n)
        return &d->all[a->shown - 1];
    for (size_t i = 0; a->trace_id && i < d->n; i++)
        if (strcasecmp(d->all[i].trace, a->trace_id) == 0)
            return &d->all[i];
    if (!d->n)
        qp_cli_fail(cli, "%s: no request was kept whole (record with -slowest)", cli->path);
    else if (a->trace_id)
        qp_cli_fail(cli, "--trace-id=%s: no kept request has it (see --slowest)", a->trace_id);
    else
        qp_cli_fail(cli, "--show=%llu: not a number from 1 to %zu (see --slowest)",
                    (unsigned long long)a->shown, d->n);
    return NULL;
}

bool qp_kept_hint(const qp_cli *cli, const qp_model *m)
{
    qp_kept_request *all;
    size_t n;
    char number[QP_NUMBER_BYTES];
    bool is_good = qp_model_kept_requests(m, &all, &n);
    if (is_good && n)
        qp_out_format(cli->screen.out, "\n%s of them %s kept whole: qprof requests --slowest\n",
                      qp_unit_count(number, n), n == 1 ? "was" : "were");
    qp_free(all);
    return is_good;
}

int qp_kept_show(qp_cli *cli, const qp_subject *s)
{
    static const qp_forms list = {print_list, qp_kept_list_fields, write_list},
                          whole = {print_calls, qp_kept_fields, write_calls};
    document d = {.about = {s->m, s->thread}, .cli = cli};
    const qp_kept_args *a = &cli->args.kept;
    bool is_whole = a->shown || a->trace_id, is_timeline = cli->args.to || cli->args.output;
    if (is_timeline && qp_output_format(cli, "chrome") < 0)
        return QP_EXIT_UNUSABLE;
    int status = QP_EXIT_UNUSABLE;
    bool has_memory = gather(&d, s->m);
    if (has_memory && is_whole && (d.shown = find(cli, &d)) != NULL)
        has_memory =
            qp_model_kept_calls(s->m, &d.shown->r, &d.calls, &d.n_calls) && collapse(&d);
    if (!has_memory)
        status = qp_cli_fail_memory(cli);
    else if (is_timeline && d.n && (!is_whole || d.shown))
        status = qp_output_write(cli, cli->args.output, write_timeline, &(document *){&d});
    else if (is_timeline && !is_whole)
        find(cli, &d);
    else if (!is_whole || d.shown)
        status = qp_output_print(cli, is_whole ? &whole : &list, &d);
    qp_free(d.all);
    qp_free(d.calls);
    qp_free(d.lines);
    return status;
}
