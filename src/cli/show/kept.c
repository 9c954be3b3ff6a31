/* kept.c: requests that were kept whole, of a profile or a store: their list, and the calls of one of them in their
 * order. Neither recurses: calls may be nested a million deep. */
#include "cli/show/show.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/glob.h"
#include "base/text/json.h"
#include "base/text/text.h"

enum { HEX_BYTES = 33, INDENT_MOST = 60, RUNS_MOST = 64, HAS_TRACE = 512, HAS_WAITS = 1024 };

typedef struct {
    const char *outcome;
    qp_kept_request r;
    qp_kept_origin from;
    size_t at; /* of the set */
    uint64_t waiting_ns, missing;
    char trace[HEX_BYTES], span[HEX_BYTES], elapsed[QP_NUMBER_BYTES], waiting[QP_NUMBER_BYTES],
        begun[QP_NUMBER_BYTES];
    const char *trace_text, *span_text, *elapsed_text, *waiting_text, *begun_text;
} row;

/* A line of --show: calls of the same shape that follow each other. */
typedef struct {
    const char *function;
    uint64_t depth, calls, begin_ns, total_ns, off_ns, suspended_ns;
} call_row;

/* A mark, an annotation or a message while the request was open. */
typedef struct {
    const char *kind, *text, *at_text;
    uint64_t at_ns; /* since the begin of the request */
    char at[QP_NUMBER_BYTES];
} moment_row;

/* Calls that a line sums up lie at equal distances. */
typedef struct {
    size_t end; /* of the first */
    size_t stride, n;
} run;

typedef struct {
    qp_document about; /* of a store: without a model */
    const qp_cli *cli;
    const qp_kept_set *set;
    row *all; /* [n] those that are chosen, up to the limit */
    size_t n, n_chosen;
    unsigned has;
    const row *shown; /* of --show */
    qp_kept_calls calls;
    call_row *lines;
    size_t n_lines;
    qp_buf moments; /* moment_row; of a profile */
} document;

#define AT(member) QP_FIELD_AT(row, member)
#define REQUEST_FIELDS                                                                         \
    {"number", "No.", "its number, for --show", QP_FIELD_COUNT, AT(from.number)},              \
        {"endpoint", "Endpoint", "name of the endpoint", QP_FIELD_NAME, AT(r.endpoint)},       \
        {"elapsed_ns", NULL, "from begin to end, in ns", QP_FIELD_COUNT, AT(r.elapsed_ns)},    \
        {"elapsed",     "Elapsed",        NULL,                                                \
         QP_FIELD_WORD, AT(elapsed_text), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},         \
        {"waiting",     "Waiting",        NULL,                                                \
         QP_FIELD_WORD, AT(waiting_text), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},         \
        {"off_ns", NULL, "the part of it off the processor", QP_FIELD_COUNT, AT(r.off_ns)},    \
        {"suspended_ns", NULL, "the part in which its thread was suspended or not recorded",   \
         QP_FIELD_COUNT, AT(r.suspended_ns)},                                                  \
        {"calls", "Calls", "calls that began in it", QP_FIELD_COUNT, AT(r.n_calls)},           \
        {"outcome",     "Outcome",   "how it ended",                                           \
         QP_FIELD_WORD, AT(outcome), .words = "ended|failed|cut"},                             \
        {"begun_ns", NULL, "when it began, since the start of the run, in ns", QP_FIELD_COUNT, \
         AT(r.begun_ns)},                                                                      \
        {"begun",       "Begun at",     NULL,                                                  \
         QP_FIELD_WORD, AT(begun_text), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},           \
        {"begun_at", NULL, "the same, UTC", QP_FIELD_MOMENT, AT(r.begun_at)},                  \
        {"window", NULL, "number of the window in which it ended, from 0", QP_FIELD_COUNT,     \
         AT(r.window)},                                                                        \
        {"thread", NULL, "number of its thread", QP_FIELD_COUNT, AT(r.thread_ordinal)},        \
        {"thread_name", NULL, "name of its thread", QP_FIELD_TEXT, AT(r.thread)},              \
        {"missing", "Missing", "entries and exits that were not kept", QP_FIELD_COUNT,         \
         AT(missing)},                                                                         \
        {"trace",       "Trace",        "its trace id, in hexadecimal digits",                 \
         QP_FIELD_TEXT, AT(trace_text), .flags = QP_FIELD_NULLABLE | QP_FIELD_DIM,             \
         .rank = 1},                                                                           \
    {                                                                                          \
        "span", NULL, "its span id", QP_FIELD_TEXT, AT(span_text), .flags = QP_FIELD_NULLABLE  \
    }
static const qp_field fields[] = {REQUEST_FIELDS, {.key = NULL}};
static const qp_field store_fields[] = {
    REQUEST_FIELDS,
    {"service", "Service", "the label `service` of its profile, or the program", QP_FIELD_NAME,
     AT(from.service)},
    {"version", "Version", "the label `version`; \"\": none", QP_FIELD_NAME, AT(from.version)},
    {"host", "Host", "the label `host`, or the machine", QP_FIELD_NAME, AT(from.host),
     .rank = 1},
    {"profile", NULL, "number of its profile in the store", QP_FIELD_COUNT, AT(from.profile),
     .least = 1},
    {.key = NULL}};
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

#define AT(member) QP_FIELD_AT(moment_row, member)
static const qp_field moment_fields[] = {
    {"at_ns", NULL, "since the begin of the request", QP_FIELD_COUNT, AT(at_ns)},
    {"at", "At", NULL, QP_FIELD_WORD, AT(at_text), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"kind", "Of", "what made it", QP_FIELD_WORD, AT(kind),
     .words = "user|trigger|action|event-trigger|annotation|message"},
    {"text", "Mark", "its name, or its text", QP_FIELD_NAME, AT(text)},
    {.key = NULL}};
#undef AT

static bool next_moment(const void *data, size_t *at, void *to)
{
    const document *d = data;
    if (*at == d->moments.n)
        return false;
    moment_row *r = to;
    *r = ((const moment_row *)d->moments.items)[(*at)++];
    r->at_text = r->at;
    return true;
}

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
static const qp_rows store_rows = QP_ROWS(store_fields, row, next_row);
static const qp_rows store_shown_rows = QP_ROWS(store_fields, row, next_shown);
static const qp_rows call_rows = QP_ROWS(call_fields, call_row, next_call);
static const qp_rows moment_rows = QP_ROWS(moment_fields, moment_row, next_moment);

#define LIST_OF(of)                                                                            \
    {                                                                                          \
        "requests", NULL, "requests that were kept whole, the slowest first", QP_FIELD_ROWS,   \
            .rows = &(of)                                                                      \
    }
#define ONE_OF(of)                                                                             \
    {"requests", NULL, "the request", QP_FIELD_ROWS, .rows = &(of)},                           \
    {                                                                                          \
        "calls", NULL, "its calls in their order, the request itself first", QP_FIELD_ROWS,    \
            .rows = &call_rows                                                                 \
    }
const qp_field qp_kept_list_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part}, LIST_OF(rows), {.key = NULL}};
const qp_field qp_kept_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    ONE_OF(shown_rows),
    {"marks", NULL,
     "marks of its thread or of none, annotations and messages, in the order of their time",
     QP_FIELD_ROWS, .rows = &moment_rows},
    {.key = NULL}};
const qp_field qp_kept_store_list_fields[] = {LIST_OF(store_rows), {.key = NULL}};
const qp_field qp_kept_store_fields[] = {ONE_OF(store_shown_rows), {.key = NULL}};

/* ---- gathering --------------------------------------------------------------------------- */

void qp_kept_hex(char *to, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = '\0';
}

static row row_of(const qp_kept_request *r, const qp_kept_origin *from)
{
    row x = {.outcome = r->is_cut       ? "cut"
                        : r->has_failed ? "failed"
                                        : "ended",
             .r = *r,
             .from = *from,
             .missing = r->n_before + r->n_after,
             .waiting = "-"};
    x.waiting_ns = r->off_ns + r->suspended_ns;
    qp_unit_time(x.elapsed, r->elapsed_ns);
    if (x.waiting_ns)
        qp_unit_time(x.waiting, x.waiting_ns);
    qp_unit_time(x.begun, r->begun_ns);
    if (r->has_trace) {
        qp_kept_hex(x.trace, r->trace, sizeof r->trace);
        qp_kept_hex(x.span, r->span, sizeof r->span);
    }
    return x;
}

/* Add a moment that lies in the request. @param at  ns since the start of the run */
static void add_moment(document *d, const char *kind, const char *text, uint64_t at)
{
    const qp_kept_request *r = &d->shown->r;
    const bool is_in = at >= r->begun_ns && at - r->begun_ns <= r->elapsed_ns;
    moment_row *to = is_in ? qp_buf_add(&d->moments) : NULL;
    if (to) {
        *to = (moment_row){.kind = kind, .text = text, .at_ns = at - r->begun_ns};
        qp_unit_time(to->at, to->at_ns);
    }
}

static int by_moment(const void *a, const void *b)
{
    const moment_row *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* A store has none. @return false: no memory */
static bool gather_moments(document *d)
{
    const qp_model *m = d->about.m;
    d->moments = QP_BUF(moment_row);
    for (size_t i = 0; m && i < m->run.n_markers; i++) {
        const qp_run_marker *k = &m->run.markers[i];
        if (!k->thread || m->threads[k->thread].ordinal == d->shown->r.thread_ordinal)
            add_moment(d, k->kind, k->name, qp_model_ns(m, k->at));
    }
    for (size_t i = 0; m && i < m->run.n_notes; i++) {
        const qp_run_note *note = &m->run.notes[i];
        if (note->has_moment)
            add_moment(d, note->is_message ? "message" : "annotation", note->text,
                       qp_model_ns(m, note->at));
    }
    if (d->moments.n)
        qsort(d->moments.items, d->moments.n, sizeof(moment_row), by_moment);
    return !d->moments.failed;
}

bool qp_kept_is_chosen(const qp_cli *cli, const char *endpoint)
{
    const qp_list *globs = &cli->args.fold.endpoints;
    bool is_chosen = !globs->n;
    for (size_t i = 0; !is_chosen && i < globs->n; i++)
        is_chosen = qp_glob_fits_name(globs->items[i], endpoint);
    return is_chosen;
}

/* How many rows the list has at most. */
static uint64_t limit_of(const document *d)
{
    enum { ROWS = 25 };
    const qp_args *a = &d->cli->args;
    const bool is_one = a->kept.shown != UINT64_MAX || a->kept.trace_id;
    if (is_one || !d->set->origins || !a->limit)
        return UINT64_MAX;
    return a->limit == UINT64_MAX && a->format == QP_FORMAT_TEXT && !a->to ? ROWS : a->limit;
}

/* Numbers are those of all, whatever is chosen of them. */
static bool gather(document *d)
{
    const qp_kept_set *set = d->set;
    const uint64_t most = limit_of(d);
    d->all = qp_alloc(set->n + 1, sizeof *d->all);
    for (size_t i = 0; d->all && i < set->n; i++) {
        const qp_kept_origin counted = {
            .number = i + 1, .service = "", .version = "", .host = ""};
        if (!qp_kept_is_chosen(d->cli, set->requests[i].endpoint))
            continue;
        d->n_chosen++;
        if (d->n == most)
            continue;
        d->all[d->n] = row_of(&set->requests[i], set->origins ? &set->origins[i] : &counted);
        d->all[d->n++].at = i;
        d->has |= set->requests[i].has_trace ? HAS_TRACE : 0u;
    }
    return d->all != NULL;
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
static call_row line_of(const qp_kept_call *calls, size_t i, const run *runs, size_t n_runs)
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
    return (call_row){.function = calls[i].name,
                      .depth = calls[i].depth,
                      .calls = n,
                      .begin_ns = calls[i].begin,
                      .total_ns = total,
                      .off_ns = off,
                      .suspended_ns = suspended};
}

/* Each run doubles the calls of a line at least: there are few. */
static bool collapse(document *d)
{
    const qp_kept_call *calls = d->calls.items;
    run runs[RUNS_MOST];
    size_t n_runs = 0;
    uint64_t *shapes = shapes_of(calls, d->calls.n);
    d->lines = shapes ? qp_alloc(d->calls.n + 1, sizeof *d->lines) : NULL;
    for (size_t i = 0; d->lines && i < d->calls.n;) {
        if (n_runs && i == runs[n_runs - 1].end) {
            n_runs--;
            i += runs[n_runs].stride * (runs[n_runs].n - 1);
            continue;
        }
        size_t stride = calls[i].n_below + (size_t)1;
        size_t length = run_length(calls, shapes, d->calls.n, i);
        if (length > 1 && n_runs < RUNS_MOST)
            runs[n_runs++] = (run){i + stride, stride, length};
        d->lines[d->n_lines++] = line_of(calls, i, runs, n_runs);
        i++;
    }
    qp_free(shapes);
    return d->lines != NULL;
}

/* ---- text ---------------------------------------------------------------------------------- */

static bool print_store_list(const qp_screen *s, const document *d, bool has_missing)
{
    char left[QP_NUMBER_BYTES];
    const bool is_good = qp_rows_text(
        s, &store_rows, d,
        !has_missing ? "number endpoint service version host elapsed waiting calls outcome "
                       "trace"
                     : "number endpoint service version host elapsed waiting calls missing "
                       "outcome trace",
        d->has, QP_UNIT_NONE);
    if (d->n_chosen > d->n)
        qp_out_format(s->out, "and %s more; --limit=0 shows all\n",
                      qp_unit_count(left, d->n_chosen - d->n));
    return is_good;
}

static bool print_list(const qp_cli *cli, const void *data)
{
    const document *d = data;
    if (d->about.m)
        qp_header_text(&cli->screen, d->about.m, cli->path, false);
    if (!d->n) {
        qp_out_text(cli->screen.out,
                    d->set->n ? "No request that was kept whole has such an endpoint."
                              : d->set->none);
        qp_out_char(cli->screen.out, '\n');
        return true;
    }
    bool has_missing = false;
    for (size_t i = 0; i < d->n; i++)
        has_missing |= d->all[i].missing != 0;
    if (!d->about.m)
        return print_store_list(&cli->screen, d, has_missing);
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

static void print_origin(const qp_cli *cli, const qp_kept_origin *from)
{
    const qp_screen *s = &cli->screen;
    qp_header_line(s, "store", "%s, profile %llu", cli->path,
                   (unsigned long long)from->profile);
    qp_header_line(s, "service", "%s%s%s, on host %s", from->service,
                   *from->version ? ", version " : "", from->version, from->host);
}

static bool print_calls(const qp_cli *cli, const void *data)
{
    const document *d = data;
    const row *r = d->shown;
    const qp_screen *s = &cli->screen;
    char moment[QP_MOMENT_BYTES];
    qp_unit unit = qp_unit_for(r->r.elapsed_ns, true, cli->args.unit);
    if (d->about.m)
        qp_header_text(s, d->about.m, cli->path, false);
    else
        print_origin(cli, &r->from);
    qp_header_line(s, "request", "%s, %s%s", r->r.endpoint, r->elapsed,
                   r->r.is_cut       ? ", cut"
                   : r->r.has_failed ? ", failed"
                                     : "");
    qp_header_line(s, "began", "%s, %s after the start, on thread %s",
                   qp_header_moment(moment, r->r.begun_at), r->begun, r->r.thread);
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
    if (d->moments.n)
        qp_out_char(s->out, '\n');
    return !d->moments.n ||
           qp_rows_text(s, &moment_rows, d, "at kind text", QP_FIELDS_ALL, QP_UNIT_NONE);
}

/* ---- CSV ----------------------------------------------------------------------------------- */

#define COLUMNS                                                                                \
    "number endpoint elapsed_ns off_ns suspended_ns calls outcome begun_ns begun_at window "   \
    "thread thread_name missing trace span"

static void write_list(qp_cli *cli, const void *data)
{
    const document *d = data;
    const qp_model *m = d->about.m;
    if (m)
        qp_rows_csv(&cli->out, &rows, d, COLUMNS, qp_run_has_any(&m->run), m->run.unit);
    else
        qp_rows_csv(&cli->out, &store_rows, d, COLUMNS " service version host profile",
                    QP_FIELDS_ALL, "ns");
}

static void write_calls(qp_cli *cli, const void *data)
{
    const document *d = data;
    const qp_model *m = d->about.m;
    qp_rows_csv(&cli->out, &call_rows, d,
                "depth function calls begin_ns total_ns off_ns suspended_ns",
                m ? qp_run_has_any(&m->run) : QP_FIELDS_ALL, m ? m->run.unit : "ns");
}

/* ---- a timeline ---------------------------------------------------------------------------- */

static uint64_t process_of(const document *d, const row *r)
{
    return d->about.m ? d->about.m->run.pid : r->from.profile;
}

static void write_event(qp_json *json, const document *d, const row *r, const qp_kept_call *c)
{
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "ph", "X");
    qp_json_text(json, "name", c->name);
    qp_json_decimal(json, "ts", r->r.begun_ns + c->begin, 3); /* in us */
    qp_json_decimal(json, "dur", c->total, 3);
    qp_json_count(json, "pid", process_of(d, r));
    qp_json_count(json, "tid", r->from.number);
    if (c->off || c->suspended) {
        qp_json_begin(json, "args", '{');
        qp_json_count(json, "off_ns", c->off);
        qp_json_count(json, "suspended_ns", c->suspended);
        qp_json_end(json, '}');
    }
    qp_json_end(json, '}');
}

static void write_moment(qp_json *json, const document *d, const row *r, const moment_row *k)
{
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "ph", "i");
    qp_json_text(json, "s", "t");
    qp_json_text(json, "name", k->text);
    qp_json_text(json, "cat", k->kind);
    qp_json_decimal(json, "ts", r->r.begun_ns + k->at_ns, 3);
    qp_json_count(json, "pid", process_of(d, r));
    qp_json_count(json, "tid", r->from.number);
    qp_json_end(json, '}');
}

/* Each request has a track: requests may overlap, and be parts of others. @return false: see error */
static bool write_track(qp_json *json, const document *d, const row *r, qp_error *error)
{
    qp_kept_calls calls;
    char name[256], number[QP_NUMBER_BYTES];
    if (!d->set->calls_of(d->set, r->at, &calls, error))
        return qp_kept_calls_fini(&calls), false;
    qp_text_format(name, sizeof name, "%s %s", qp_unit_count(number, r->from.number),
                   r->r.endpoint);
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "ph", "M");
    qp_json_text(json, "name", "thread_name");
    qp_json_count(json, "pid", process_of(d, r));
    qp_json_count(json, "tid", r->from.number);
    qp_json_begin(json, "args", '{');
    qp_json_text(json, "name", name);
    qp_json_end(json, '}');
    qp_json_end(json, '}');
    for (size_t i = 0; i < calls.n; i++)
        write_event(json, d, r, &calls.items[i]);
    for (size_t i = 0; i < d->moments.n; i++) /* of the one that is shown */
        write_moment(json, d, r, (const moment_row *)d->moments.items + i);
    qp_kept_calls_fini(&calls);
    return true;
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
            is_good = write_track(&json, d, &d->all[i], error);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    return is_good;
}

/* ---- the command --------------------------------------------------------------------------- */

/* Print why the request is not there. @return NULL */
static const row *refuse(const qp_cli *cli, const document *d)
{
    const qp_kept_args *a = &cli->args.kept;
    if (!d->set->n)
        qp_cli_fail(cli, "%s: no request was kept whole (record with -slowest)", cli->path);
    else if (!d->n)
        qp_cli_fail(cli, "%s: no request that was kept whole has such an endpoint", cli->path);
    else if (a->trace_id)
        qp_cli_fail(cli, "--trace-id=%s: no kept request has it (see --slowest)", a->trace_id);
    else if (d->set->origins)
        qp_cli_fail(cli, "--show=%llu: no request that is chosen has this number",
                    (unsigned long long)a->shown);
    else
        qp_cli_fail(cli, "--show=%llu: not a number from 1 to %zu (see --slowest)",
                    (unsigned long long)a->shown, d->set->n);
    return NULL;
}

/* The request of --show or --trace-id. @return NULL: there is none, a message was printed */
static const row *find(const qp_cli *cli, const document *d)
{
    const qp_kept_args *a = &cli->args.kept;
    for (size_t i = 0; i < d->n; i++) {
        const row *r = &d->all[i];
        if (a->trace_id ? strcasecmp(r->trace, a->trace_id) == 0 : r->from.number == a->shown)
            return r;
    }
    return refuse(cli, d);
}

/* @return an exit status */
static int show(qp_cli *cli, document *d)
{
    static const qp_forms forms[2][2] = {{{print_list, qp_kept_list_fields, write_list},
                                          {print_calls, qp_kept_fields, write_calls}},
                                         {{print_list, qp_kept_store_list_fields, write_list},
                                          {print_calls, qp_kept_store_fields, write_calls}}};
    const qp_kept_args *a = &cli->args.kept;
    qp_error error = {0};
    const bool is_whole = a->shown != UINT64_MAX || a->trace_id,
               is_timeline = cli->args.to || cli->args.output;
    if (is_whole && (d->shown = find(cli, d)) == NULL)
        return QP_EXIT_UNUSABLE;
    if (is_whole && !gather_moments(d))
        return qp_cli_fail_memory(cli);
    if (is_timeline && !d->n)
        return refuse(cli, d), QP_EXIT_UNUSABLE;
    if (is_timeline)
        return qp_output_write(cli, cli->args.output, write_timeline, &(document *){d});
    if (is_whole && !d->set->calls_of(d->set, d->shown->at, &d->calls, &error))
        return qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    if (is_whole && !collapse(d))
        return qp_cli_fail_memory(cli);
    return qp_output_print(cli, &forms[d->about.m == NULL][is_whole], d);
}

int qp_kept_show(qp_cli *cli, const qp_kept_set *set)
{
    document d = {.about = {set->m, QP_ALL_THREADS}, .cli = cli, .set = set};
    const char *trace = cli->args.kept.trace_id;
    if ((cli->args.to || cli->args.output) && qp_output_format(cli, "chrome") < 0)
        return QP_EXIT_UNUSABLE;
    if (trace && !*trace)
        return qp_cli_fail(cli, "--trace-id=: expected the digits of a trace id");
    const int status = gather(&d) ? show(cli, &d) : qp_cli_fail_memory(cli);
    qp_free(d.all);
    qp_kept_calls_fini(&d.calls);
    qp_free(d.lines);
    qp_free(d.moments.items);
    return status;
}
