/* info.c: `qprof info`: what a profile has about its run. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/wide.h"
#include "cli/show/show.h"
#include "format/layout.h"

static void print_field(const qp_screen *s, const char *label, const char *text)
{
    if (!*text)
        return;
    qp_header_label(s, label);
    qp_screen_name(s, text, 0);
    qp_out_char(s->out, '\n');
}

static void print_threads(const qp_screen *s, const qp_model *m)
{
    char text[160], count[QP_NUMBER_BYTES];
    uint64_t n = 0;
    for (uint32_t i = 1; i < m->n_threads; i++)
        n += m->threads[i].creator ? m->threads[i].n_lives : 0;
    snprintf(text, sizeof text, "%s%s%s%s",
             m->run.is_virtual ? "virtual threads" : "system threads", n ? "; " : "",
             n ? qp_unit_count(count, n) : "",
             n ? " are shown below the calls that created them" : "");
    print_field(s, "threads", text);
}

static void print_setup(const qp_screen *s, const qp_model *m)
{
    const qp_run_info *run = &m->run;
    char text[256], a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES];
    print_field(s, "module", run->module);
    print_field(s, "label", run->label);
    print_field(s, "options", run->options);
    print_field(s, "trace", run->trace_file);
    print_field(s, "machine", run->host);
    print_field(s, "recorder", run->version);
    snprintf(text, sizeof text, "%s, dataset %" PRIu32 "%s%s", run->state_text, run->dataset,
             run->is_at_exit ? ", written at exit without a shutdown" : "",
             run->is_recording ? "" : ", recording is off");
    print_field(s, "state", text);
    print_field(s, "detail", run->grain_text);
    print_field(s, "clock reads",
                strcmp(run->reads_text, "wait") == 0 ? "wait for earlier loads"
                : strcmp(run->reads_text, "overlap") == 0
                    ? "overlap earlier loads"
                    : "not measured: whether they wait for earlier loads");
    print_threads(s, m);
    snprintf(text, sizeof text, "%s%s%s", qp_unit_size(a, run->file_bytes),
             run->memory_limit_bytes ? " of at most " : "",
             run->memory_limit_bytes ? qp_unit_size(b, run->memory_limit_bytes) : "");
    print_field(s, "size", text);
    if (run->cost_total && run->calls) { /* of a thousand calls the sum converts without loss */
        uint64_t ns =
            qp_product_share(qp_model_ns(m, run->cost_total), 1000, run->calls / 2, run->calls);
        snprintf(text, sizeof text, "%s for 1,000 calls, on average", qp_unit_time(a, ns));
        print_field(s, "cost", text);
    }
}

/* ---- diagnostics ----------------------------------------------------------------------------- */

typedef struct {
    qp_run_diagnostic d;
    char letter[2];
    const char *kind, *word;
} diagnostic_row;

#define AT(member) QP_FIELD_AT(diagnostic_row, member)
static const qp_field diagnostic_fields[] = {
    {"diagnostic", "Diagnostic", NULL, QP_FIELD_TEXT, AT(d.name), .flags = QP_FIELD_HOT},
    {"count", "Count", NULL, QP_FIELD_COUNT, AT(d.count), .flags = QP_FIELD_HOT},
    {"kind", NULL, NULL, QP_FIELD_WORD, AT(kind)},
    {"word", "Kind", NULL, QP_FIELD_WORD, AT(word), .flags = QP_FIELD_HOT, .rank = 1},
    {"text", "Counts", NULL, QP_FIELD_TEXT, AT(d.text)},
    {.key = NULL}};
#undef AT

static bool next_diagnostic(const void *document, size_t *at, void *to)
{
    const qp_run_info *run = &((const qp_document *)document)->m->run;
    diagnostic_row *row = to;
    if (*at == run->n_diagnostics)
        return false;
    row->d = run->diagnostics[(*at)++];
    row->letter[0] = row->d.kind;
    row->kind = row->letter;
    row->word = row->d.kind == 'L'   ? "loss"
                : row->d.kind == 'R' ? "repaired"
                : row->d.kind == 'H' ? "host"
                : row->d.kind == 'E' ? "environment"
                                     : "normal";
    return true;
}

static qp_style diagnostic_style(const void *row)
{
    return ((const diagnostic_row *)row)->d.kind == 'L' ? QP_STYLE_BAD : QP_STYLE_PLAIN;
}

static const qp_rows diagnostics =
    QP_ROWS(diagnostic_fields, diagnostic_row, next_diagnostic, .style = diagnostic_style);

static void write_csv(qp_cli *cli, const void *document)
{
    qp_rows_csv(&cli->out, &diagnostics, document, "diagnostic count kind text", QP_FIELDS_ALL,
                "");
}

/* ---- marks and events ------------------------------------------------------------------------ */

enum { SHOWN_MAX = 20, FIELD_BYTES = 64 };

typedef char field[FIELD_BYTES];

static const char *event_text(uint32_t event, char *to)
{
    const char *name = qp_event_name(event);
    if (!event || name[0])
        return name;
    snprintf(to, FIELD_BYTES, "%" PRIu32, event);
    return to;
}

static const char *object_text(const qp_run_marker *k, char *to)
{
    if (k->method[0] || !k->object)
        return k->method;
    snprintf(to, FIELD_BYTES, "%" PRIu64, k->object);
    return to;
}

static const char *value_text(const qp_run_marker *k, char *to)
{
    char number[QP_NUMBER_BYTES];
    to[0] = '\0';
    if (strcmp(k->value_unit, "ns") == 0)
        snprintf(to, FIELD_BYTES, "%s", qp_unit_time(number, k->value));
    else if (k->value_unit[0])
        snprintf(to, FIELD_BYTES, "%s %s", qp_unit_count(number, k->value), k->value_unit);
    return to;
}

/* A mark of a trigger, an action, an event trigger or the host. */
typedef struct {
    qp_run_marker mark;
    uint64_t at;
    const char *thread, *event, *object, *value;
    char event_bytes[FIELD_BYTES], object_bytes[FIELD_BYTES], value_bytes[FIELD_BYTES];
} mark_row;

#define AT(member) QP_FIELD_AT(mark_row, member)
static const qp_field mark_fields[] = {
    {"at_ns", "At", "from the start of the run", QP_FIELD_COUNT, AT(at)},
    {"at", "At", NULL, QP_FIELD_SPAN, AT(at), .flags = QP_FIELD_NO_JSON},
    {"thread", "Thread", "name of the thread; null: none", QP_FIELD_NAME, AT(thread),
     .flags = QP_FIELD_NULLABLE, .rank = 2},
    {"name", "Mark", "of the trigger, or the text of the host", QP_FIELD_NAME, AT(mark.name)},
    {"kind", "Of", "what made the mark", QP_FIELD_WORD, AT(mark.kind), .rank = 1,
     .words = "user|trigger|action|event-trigger"},
    {"event", "Event", "event of an event trigger", QP_FIELD_WORD, AT(event),
     .flags = QP_FIELD_NULLABLE, .rank = 1},
    {"object", NULL, "id of a method or of a thread; 0: none", QP_FIELD_COUNT, AT(mark.object)},
    {"object_name", "Object", NULL, QP_FIELD_NAME, AT(object), .flags = QP_FIELD_NO_JSON},
    {"method", NULL, "name of the method that is the object", QP_FIELD_NAME, AT(mark.method),
     .flags = QP_FIELD_NULLABLE},
    {"value", NULL, "value of the event", QP_FIELD_COUNT, AT(mark.value)},
    {"value_text", "Value", NULL, QP_FIELD_WORD, AT(value),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"value_unit", NULL, "unit of the value; null: no value", QP_FIELD_WORD,
     AT(mark.value_unit), .flags = QP_FIELD_NULLABLE, .words = "ns|frames|%"},
    {.key = NULL}};
#undef AT

static bool next_mark(const void *document, size_t *at, void *to)
{
    const qp_model *m = ((const qp_document *)document)->m;
    mark_row *row = to;
    if (*at == m->run.n_markers)
        return false;
    const qp_run_marker *k = &row->mark;
    row->mark = m->run.markers[(*at)++];
    row->at = qp_model_ns(m, k->at);
    row->thread = k->thread ? m->threads[k->thread].name : "";
    row->event = event_text(k->event, row->event_bytes);
    row->object = object_text(k, row->object_bytes);
    row->value = value_text(k, row->value_bytes);
    return true;
}

/* The first ones, for people. */
static bool next_shown_mark(const void *document, size_t *at, void *row)
{
    return *at < SHOWN_MAX && next_mark(document, at, row);
}

static const qp_rows marks = QP_ROWS(mark_fields, mark_row, next_mark);
static const qp_rows shown_marks = QP_ROWS(mark_fields, mark_row, next_shown_mark);

/* An event that the host raised. */
typedef struct {
    qp_run_event event;
    const char *name;
    char name_bytes[FIELD_BYTES];
} event_row;

#define AT(member) QP_FIELD_AT(event_row, member)
static const qp_field event_fields[] = {
    {"event", NULL, "number of the event", QP_FIELD_COUNT, AT(event.event), .least = 40000},
    {"name", "Event", NULL, QP_FIELD_WORD, AT(name), .flags = QP_FIELD_NO_JSON},
    {"count", "Raised", "how often the host raised it", QP_FIELD_COUNT, AT(event.count),
     .least = 1},
    {.key = NULL}};
#undef AT

static bool next_event(const void *document, size_t *at, void *to)
{
    const qp_run_info *run = &((const qp_document *)document)->m->run;
    event_row *row = to;
    if (*at == run->n_events)
        return false;
    row->event = run->events[(*at)++];
    row->name = event_text(row->event.event, row->name_bytes);
    return true;
}

static const qp_rows events = QP_ROWS(event_fields, event_row, next_event);

/* An annotation or a message. */
typedef struct {
    const char *kind, *text;
    uint64_t at;
    bool has_moment;
} note_row;

#define AT(member) QP_FIELD_AT(note_row, member)
static const qp_field note_fields[] = {
    {"kind", NULL, "of the host, or of the recorder", QP_FIELD_WORD, AT(kind),
     .words = "annotation|message"},
    {"has_moment", NULL, "whether its moment is known", QP_FIELD_YES, AT(has_moment)},
    {"at_ns", NULL, "from the start of the run; 0: not known", QP_FIELD_COUNT, AT(at)},
    {"text", NULL, NULL, QP_FIELD_TEXT, AT(text)},
    {.key = NULL}};
#undef AT

static bool next_note(const void *document, size_t *at, void *to)
{
    const qp_model *m = ((const qp_document *)document)->m;
    if (*at == m->run.n_notes)
        return false;
    const qp_run_note *note = &m->run.notes[(*at)++];
    *(note_row *)to = (note_row){note->is_message ? "message" : "annotation", note->text,
                                 qp_model_ns(m, note->at), note->has_moment};
    return true;
}

static const qp_rows notes = QP_ROWS(note_fields, note_row, next_note);

/* A metric of the host. */
#define AT(member) QP_FIELD_AT(qp_run_metric, member)
static const qp_field metric_fields[] = {
    {"metric", "Metric", "name of the metric", QP_FIELD_NAME, AT(name)},
    {"unit", "Unit", "unit of its values; null: none", QP_FIELD_NAME, AT(unit),
     .flags = QP_FIELD_NULLABLE},
    {"sum", "Sum", "of all call paths", QP_FIELD_COUNT, AT(sum)},
    {.key = NULL}};
#undef AT

static bool next_metric(const void *document, size_t *at, void *to)
{
    const qp_run_info *run = &((const qp_document *)document)->m->run;
    if (*at == run->n_metrics)
        return false;
    *(qp_run_metric *)to = run->metrics[(*at)++];
    return true;
}

static const qp_rows metrics = QP_ROWS(metric_fields, qp_run_metric, next_metric);

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"metrics", NULL, "metrics of the host", QP_FIELD_ROWS, .rows = &metrics},
    {"messages", NULL, "annotations and messages, oldest first, with their moments",
     QP_FIELD_ROWS, .rows = &notes},
    {"marks", NULL, "marks in the order of their time", QP_FIELD_ROWS, .rows = &marks},
    {"events", NULL, "events that the host raised", QP_FIELD_ROWS, .rows = &events},
    {.key = NULL}};

/* ---- the command ----------------------------------------------------------------------------- */

/* A table below an empty line; nothing if it has no rows. */
static bool print_rows(const qp_screen *s, const qp_rows *rows, const void *document, size_t n,
                       const char *order)
{
    if (n)
        qp_out_char(s->out, '\n');
    return !n ||
           qp_rows_text(s, rows, document, order, QP_FIELDS_ALL, qp_unit_for(0, true, NULL));
}

/* "message     at 1.2 ms: text" */
static void print_note(const qp_screen *s, const qp_model *m, const qp_run_note *note)
{
    char moment[QP_NUMBER_BYTES];
    qp_header_label(s, note->is_message ? "message" : "annotation");
    if (note->has_moment)
        qp_out_format(s->out, "at %s: ", qp_unit_time(moment, qp_model_ns(m, note->at)));
    qp_screen_name(s, note->text, 0);
    qp_out_char(s->out, '\n');
}

static bool print_text(const qp_cli *cli, const void *document)
{
    const qp_screen *s = &cli->screen;
    const qp_model *m = ((const qp_document *)document)->m;
    const qp_run_info *run = &m->run;
    char n[QP_NUMBER_BYTES];
    qp_header_text(s, m, cli->path, false);
    print_setup(s, m);
    for (size_t i = 0; i < run->n_notes; i++)
        print_note(s, m, &run->notes[i]);
    for (size_t i = 0; i < m->n_losses; i++)
        print_field(s, "damaged", m->losses[i]);
    bool is_good = print_rows(s, &shown_marks, document, run->n_markers,
                              "at thread name kind event object_name value_text");
    if (run->n_markers > SHOWN_MAX)
        qp_out_format(s->out, "%s more; --format=json has all\n",
                      qp_unit_things(n, run->n_markers - SHOWN_MAX, "mark"));
    is_good = is_good && print_rows(s, &metrics, document, run->n_metrics, "metric sum unit");
    return is_good && print_rows(s, &events, document, run->n_events, "name count") &&
           print_rows(s, &diagnostics, document, run->n_diagnostics,
                      "diagnostic count word text");
}

static int show(qp_cli *cli, const qp_subject *subject)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    return qp_output_print(cli, &forms, &(qp_document){subject->m, QP_ALL_THREADS});
}

const qp_command qp_command_info = {
    .name = "info",
    .operands = "[FILE]",
    .summary = "the run: options, sizes, notes, marks, losses",
    .about = "Shows what a profile says about its run: how it was made, its annotations, what "
             "triggers and event triggers left as marks, every diagnostic that is not 0 and, "
             "of a damaged file, what could not be read.",
    .flags = (const qp_flag[]){QP_FLAG_SAMPLE_INDEX, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof info run.qprof\n"
                "qprof info --format=json run.qprof | jq .diagnostics",
    .schemas = (const qp_schema[]){{"info", document_fields}, {.name = NULL}},
    .run = qp_cli_show,
    .show = show};
