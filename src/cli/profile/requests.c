/* requests.c: `qprof requests`: how many requests each endpoint had, how they ended, how long they took. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "cli/show/show.h"

/* of QP_FLAG_SORT_REQUESTS */
typedef enum { BY_TOTAL, BY_REQUESTS, BY_FAILED, BY_CUT, BY_MEAN, BY_SLOWEST, BY_NAME } order;

enum { HEX_BYTES = 33 };

typedef struct {
    const char *endpoint;
    qp_endpoint e;
    uint64_t total, total_off;    /* in the run's unit */
    uint64_t mean_ns, slowest_ns; /* QP_FIELD_NONE: none was timed */
    double percent;               /* total, of the run */
    char mean[QP_NUMBER_BYTES], slowest[QP_NUMBER_BYTES], trace[HEX_BYTES], span[HEX_BYTES];
    const char *mean_text, *slowest_text, *trace_text, *span_text;
} row;

typedef struct {
    qp_document about;
    order by;
    row *all; /* [n] in order */
    size_t n;
    unsigned has;
} document;

enum { HAS_OPEN = 256, HAS_TRACES = 512 };

#define AT(member) QP_FIELD_AT(row, member)
static const qp_field fields[] = {
    {"endpoint", "Endpoint", "name of the endpoint", QP_FIELD_NAME, AT(endpoint),
     .flags = QP_FIELD_HOT},
    {"requests", "Requests", "requests that are over", QP_FIELD_COUNT, AT(e.requests)},
    {"failed", "Failed", "of these: the host said that they failed", QP_FIELD_COUNT,
     AT(e.failed)},
    {"cut", "Cut", "of these: left open by the function that began them, or by the program",
     QP_FIELD_COUNT, AT(e.cut)},
    {"open", "Open", "requests that are not over", QP_FIELD_COUNT, AT(e.open),
     .needs = HAS_OPEN},
    {"total", "Total", "time of the endpoint's calls, in the run's unit", QP_FIELD_TIME,
     AT(total), .needs = QP_HAS_TIMES},
    {"total_off", "Waiting", "the part of it off the processor", QP_FIELD_TIME, AT(total_off),
     .flags = QP_FIELD_OPTIONAL, .needs = QP_HAS_WAITS},
    {"total_percent", "Total %", "total in percent of the run", QP_FIELD_PERCENT, AT(percent),
     .flags = QP_FIELD_HOT, .needs = QP_HAS_TIMES},
    {"timed", NULL, "requests whose elapsed time is known", QP_FIELD_COUNT, AT(e.timed)},
    {"elapsed_ns", NULL, "sum of these times, from begin to end, in ns", QP_FIELD_COUNT,
     AT(e.elapsed_ns)},
    {"mean_ns", NULL, "their average", QP_FIELD_COUNT, AT(mean_ns), .flags = QP_FIELD_NULLABLE},
    {"mean", "Mean", NULL, QP_FIELD_WORD, AT(mean_text),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"slowest_ns", NULL, "the longest of them", QP_FIELD_COUNT, AT(slowest_ns),
     .flags = QP_FIELD_NULLABLE},
    {"slowest", "Slowest", NULL, QP_FIELD_WORD, AT(slowest_text),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"slowest_at", NULL, "when that one began, UTC", QP_FIELD_MOMENT, AT(e.slowest_at)},
    {"slowest_trace", "its trace", "its trace id, in hexadecimal digits", QP_FIELD_TEXT,
     AT(trace_text), .flags = QP_FIELD_NULLABLE | QP_FIELD_DIM, .rank = 1, .needs = HAS_TRACES},
    {"slowest_span", NULL, "its span id", QP_FIELD_TEXT, AT(span_text),
     .flags = QP_FIELD_NULLABLE, .needs = HAS_TRACES},
    {.key = NULL}};
#undef AT

static bool next_row(const void *data, size_t *at, void *to)
{
    const document *d = data;
    if (*at == d->n)
        return false;
    row *r = to;
    *r = d->all[(*at)++];
    r->mean_text = r->mean;
    r->slowest_text = r->slowest;
    r->trace_text = r->trace;
    r->span_text = r->span;
    return true;
}

static qp_style style_of(const void *r)
{
    return qp_style_of_percent(((const row *)r)->percent);
}

static unsigned has_figures(const void *data, const void *r)
{
    (void)r;
    return qp_run_has_any(&((const document *)data)->about.m->run) | HAS_OPEN | HAS_TRACES;
}

static const qp_rows rows =
    QP_ROWS(fields, row, next_row, .style = style_of, .has = has_figures);

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"endpoints", NULL, "endpoints in the order of --sort", QP_FIELD_ROWS, .rows = &rows},
    {.key = NULL}};

/* ---- gathering --------------------------------------------------------------------------- */

static row row_of(const qp_model *m, const qp_endpoint *e)
{
    const qp_figures *f = &m->methods[e->method].all;
    row r = {.endpoint = m->methods[e->method].name,
             .e = *e,
             .total = qp_model_ns(m, f->total),
             .total_off = qp_model_ns(m, f->off_total),
             .percent = qp_view_percent(f->total, m->run.total),
             .mean_ns = e->timed ? e->elapsed_ns / e->timed : QP_FIELD_NONE,
             .slowest_ns = e->timed ? e->slowest_ns : QP_FIELD_NONE,
             .mean = "-",
             .slowest = "-"};
    if (e->timed) {
        qp_unit_time(r.mean, r.mean_ns);
        qp_unit_time(r.slowest, r.slowest_ns);
    }
    if (e->has_trace) {
        qp_kept_hex(r.trace, e->trace, sizeof e->trace);
        qp_kept_hex(r.span, e->span, sizeof e->span);
    }
    return r;
}

static uint64_t key_of(const row *r, order by)
{
    const uint64_t keys[] = {[BY_TOTAL] = r->total,
                             [BY_REQUESTS] = r->e.requests,
                             [BY_FAILED] = r->e.failed,
                             [BY_CUT] = r->e.cut,
                             [BY_MEAN] = r->e.timed ? r->mean_ns : 0,
                             [BY_SLOWEST] = r->e.slowest_ns,
                             [BY_NAME] = 0};
    return keys[by];
}

static int compare(const void *a, const void *b, void *data)
{
    const row *x = a, *y = b;
    const order by = ((const document *)data)->by;
    int most = QP_ORDER(key_of(y, by), key_of(x, by));
    return most ? most : strcmp(x->endpoint, y->endpoint);
}

static bool gather(const qp_cli *cli, document *d)
{
    size_t n;
    qp_endpoint *found;
    const qp_model *m = d->about.m;
    if (!qp_model_endpoints(m, &found, &n))
        return false;
    d->all = qp_alloc(n + 1, sizeof *d->all);
    for (size_t i = 0; d->all && i < n; i++) {
        if (!qp_kept_is_chosen(cli, m->methods[found[i].method].name))
            continue;
        d->all[d->n++] = row_of(m, &found[i]);
        d->has |= (found[i].open ? HAS_OPEN : 0u) | (found[i].has_trace ? HAS_TRACES : 0u);
    }
    if (d->all && d->n)
        qsort_r(d->all, d->n, sizeof *d->all, compare, d);
    qp_free(found);
    return d->all != NULL;
}

/* ---- those that were kept whole ------------------------------------------------------------ */

static bool calls_of(const qp_kept_set *set, size_t i, qp_kept_calls *out, qp_error *error)
{
    return qp_model_kept_calls(set->m, &set->requests[i], out) ||
           qp_error_fail(error, "not enough memory");
}

static int show_kept(qp_cli *cli, const qp_model *m)
{
    qp_kept_request *all;
    qp_kept_set set = {.m = m,
                       .none = "No request was kept whole: record with -slowest=8/60s, for "
                               "example. Profiles that were merged have none.",
                       .calls_of = calls_of};
    const bool is_good = qp_model_kept_requests(m, &all, &set.n);
    set.requests = all;
    const int status = is_good ? qp_kept_show(cli, &set) : qp_cli_fail_memory(cli);
    qp_free(all);
    return status;
}

/* Say how many there are, if there are any. @return false: no memory */
static bool print_hint(const qp_cli *cli, const qp_model *m)
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

/* ---- the command ------------------------------------------------------------------------- */

static bool print_text(const qp_cli *cli, const void *data)
{
    const document *d = data;
    const qp_model *m = d->about.m;
    uint64_t largest = 0;
    qp_header_text(&cli->screen, m, cli->path, false);
    if (!d->n) {
        qp_out_text(cli->screen.out, "No request was recorded: the host did not begin any.\n");
        return true;
    }
    for (size_t i = 0; i < d->n; i++)
        largest = d->all[i].total > largest ? d->all[i].total : largest;
    return qp_rows_text(&cli->screen, &rows, d,
                        "endpoint requests failed cut open total total_off total_percent mean "
                        "slowest slowest_trace",
                        qp_run_has(&m->run) | d->has,
                        qp_unit_for(largest, qp_view_is_time(m), cli->args.unit)) &&
           print_hint(cli, m);
}

static void write_csv(qp_cli *cli, const void *data)
{
    const document *d = data;
    qp_rows_csv(&cli->out, &rows, d,
                "endpoint requests failed cut open total total_off total_percent timed "
                "elapsed_ns mean_ns slowest_ns slowest_at slowest_trace slowest_span",
                has_figures(d, NULL), d->about.m->run.unit);
}

static int show(qp_cli *cli, const qp_subject *s)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    const qp_kept_args *kept = &cli->args.kept;
    if (kept->is_list || kept->shown != UINT64_MAX || kept->trace_id || cli->args.to ||
        cli->args.output)
        return show_kept(cli, s->m);
    document d = {.about = {s->m, s->thread}, .by = (order)cli->args.sort};
    if (!s->m->run.has_times && d.by == BY_TOTAL)
        d.by = BY_REQUESTS;
    int status = gather(cli, &d) ? qp_output_print(cli, &forms, &d) : qp_cli_fail_memory(cli);
    qp_free(d.all);
    return status;
}

const qp_command qp_command_requests = {
    .name = "requests",
    .operands = "[FILE]",
    .summary = "the requests of a server by endpoint: counts, times, the slowest",
    .about =
        "Lists the endpoints of a server whose host says when a request begins and ends. Every "
        "request is counted. Cut are those that were left open by the function that began "
        "them, or by the program. Total is the time of their calls, with those of coroutines "
        "that they created; Mean and Slowest are elapsed times, from begin to end. report, "
        "tree, html, export and diff show the calls of one endpoint with --endpoint=NAME.",
    .flags =
        (const qp_flag[]){
            QP_YES("slowest", 0, kept.is_list,
                   "the requests that were kept whole, which -slowest asks for"),
            QP_FLAGS_KEPT_ONE,
            {"endpoint", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(fold.endpoints), NULL,
             "requests of these endpoints; may be repeated"},
            QP_TEXT("to", 0, "chrome", to,
                    "a timeline of that request, or with --slowest of all that were kept, for "
                    "Perfetto, Chrome and speedscope"),
            QP_TEXT("output", 'o', "FILE", output, "its file; default: standard output"),
            QP_FLAG_FORCE,
            QP_FLAG_FORMAT,
            QP_FLAG_UNIT,
            QP_FLAG_SORT_REQUESTS,
            QP_FLAG_MAX_MEMORY,
            QP_FLAGS_COMMON},
    .examples =
        "qprof requests                          the newest profile here\n"
        "qprof requests --sort=slowest run.qprof\n"
        "qprof requests --slowest run.qprof\n"
        "qprof requests --show=1 run.qprof\n"
        "qprof requests --slowest --to=chrome -o slowest.json run.qprof\n"
        "qprof tree --endpoint='GET /a' run.qprof\n"
        "qprof requests --format=json run.qprof | jq '.endpoints[] | select(.failed > 0)'",
    .schemas = (const qp_schema[]){{"requests", document_fields},
                                   {"requests-slowest", qp_kept_list_fields},
                                   {"requests-show", qp_kept_fields},
                                   {.name = NULL}},
    .run = qp_cli_show,
    .show = show,
    .threads = QP_THREADS_JOINED};
