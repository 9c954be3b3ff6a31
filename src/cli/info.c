/* info.c: `qprof info`: everything that a profile says about its run. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/table_text.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/header.h"
#include "cli/info_marks.h"
#include "cli/view.h"
#include "export/run_json.h"

static void print_field(const qp_screen *s, const char *label, const char *text)
{
    if (!*text)
        return;
    qp_header_label(s, label);
    qp_screen_name(s, text, 0);
    qp_out_char(s->out, '\n');
}

static void print_setup(const qp_screen *s, const qp_model *m)
{
    const qp_run *run = &m->run;
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
    print_field(s, "threads", run->is_virtual ? "virtual threads" : "system threads");
    snprintf(text, sizeof text, "%s%s%s", qp_unit_size(a, run->file_bytes),
             run->memory_limit_bytes ? " of at most " : "",
             run->memory_limit_bytes ? qp_unit_size(b, run->memory_limit_bytes) : "");
    print_field(s, "size", text);
    if (run->cost_caller_milliticks + run->cost_inside_milliticks) {
        uint64_t cost = run->cost_caller_milliticks + run->cost_inside_milliticks;
        /* A call costs some ticks: of a thousand calls the sum converts without loss. */
        snprintf(text, sizeof text, "%s for 1,000 calls, estimated at the start",
                 qp_view_amount(m, a, cost));
        print_field(s, "cost", text);
    }
}

static bool print_diagnostics(const qp_screen *s, const qp_model *m)
{
    char count[QP_NUMBER_BYTES];
    qp_table t;
    if (m->run.n_diagnostics == 0)
        return true;
    qp_table_init(&t);
    qp_table_column(&t, "Diagnostic", QP_ALIGN_LEFT, 0);
    qp_table_column(&t, "Count", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Kind", QP_ALIGN_LEFT, 1);
    qp_table_column(&t, "Counts", QP_KEEP_BEGIN, 0);
    for (size_t i = 0; i < m->run.n_diagnostics; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        qp_style style = d->kind == 'L' ? QP_STYLE_BAD : QP_STYLE_PLAIN;
        qp_table_plain(&t, style, d->name);
        qp_table_plain(&t, style, qp_unit_count(count, d->count));
        qp_table_plain(&t, style,
                       d->kind == 'L'   ? "loss"
                       : d->kind == 'R' ? "repaired"
                       : d->kind == 'H' ? "host"
                       : d->kind == 'E' ? "environment"
                                        : "normal");
        qp_table_plain(&t, QP_STYLE_PLAIN, d->text);
    }
    qp_out_char(s->out, '\n');
    bool is_good = qp_table_print(&t, s, 0);
    qp_table_fini(&t);
    return is_good;
}

static bool print_text(const qp_cli *cli, const qp_model *m)
{
    const qp_screen *s = &cli->screen;
    qp_header_text(s, m, cli->path, false);
    print_setup(s, m);
    for (size_t i = 0; i < m->run.n_notes; i++)
        print_field(s, m->run.notes[i].is_message ? "message" : "annotation",
                    m->run.notes[i].text);
    for (size_t i = 0; i < m->n_losses; i++)
        print_field(s, "damaged", m->losses[i]);
    return qp_info_marks_text(s, m) && print_diagnostics(s, m);
}

static void write_csv(qp_cli *cli, const qp_model *m)
{
    qp_out_text(&cli->out, "diagnostic,count,kind,text\r\n");
    for (size_t i = 0; i < m->run.n_diagnostics; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        qp_text_csv(&cli->out, d->name);
        qp_out_format(&cli->out, ",%" PRIu64 ",%c,", d->count, d->kind);
        qp_text_csv(&cli->out, d->text);
        qp_out_text(&cli->out, "\r\n");
    }
}

static int run_info(qp_cli *cli)
{
    const char *file;
    qp_model *m;
    qp_json json;
    if (!qp_cli_operands(cli, NULL, &file))
        return QP_EXIT_UNUSABLE;
    int status = qp_cli_load(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    if (cli->args.format == QP_FORMAT_JSON) {
        qp_json_init(&json, &cli->out);
        qp_json_begin(&json, NULL, '{');
        qp_run_json(&json, m);
        qp_info_marks_json(&json, m);
        qp_json_end(&json, '}');
    } else if (cli->args.format == QP_FORMAT_CSV) {
        write_csv(cli, m);
    } else if (!print_text(cli, m)) {
        status = qp_cli_fail_memory(cli);
    }
    qp_model_free(m);
    return status;
}

static const qp_flag flags[] = {QP_FLAG_SAMPLE_INDEX, QP_FLAG_FORMAT, QP_FLAGS_COMMON};

const qp_command qp_command_info = {
    .name = "info",
    .operands = "[FILE]",
    .summary = "the run: options, sizes, notes, what fired, what was lost",
    .about = "Shows what a profile says about its run: how it was made, its annotations, what\n"
             "triggers and event triggers left as marks, every diagnostic that is not 0 and, "
             "of a damaged file, what could not be read.",
    .flags = flags,
    .examples = "qprof info run.qprof\n"
                "qprof info --format=json run.qprof | jq .diagnostics",
    .run = run_info};
