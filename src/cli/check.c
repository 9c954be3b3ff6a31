/* check.c: `qprof check`: what must be true of every profile, one line each. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/table_text.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/view.h"
#include "model/check.h"

static bool print_text(const qp_cli *cli, const qp_check *checks, size_t n, size_t n_failed)
{
    const qp_screen *s = &cli->screen;
    char a[QP_NUMBER_BYTES];
    qp_table t;
    qp_table_init(&t);
    qp_table_column(&t, "Check", QP_ALIGN_LEFT, 0);
    qp_table_column(&t, "Result", QP_ALIGN_LEFT, 0);
    qp_table_column(&t, "Looked at", QP_ALIGN_RIGHT, 1);
    qp_table_column(&t, "Claim", QP_KEEP_BEGIN, 0);
    for (size_t i = 0; i < n; i++) {
        const qp_check *c = &checks[i];
        qp_table_plain(&t, QP_STYLE_PLAIN, c->name);
        qp_table_plain(&t, c->passed ? QP_STYLE_GOOD : QP_STYLE_BAD,
                       c->passed ? "ok" : "FAILED");
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(a, c->n_checked));
        qp_table_cell(&t, QP_STYLE_PLAIN, c->passed ? c->claim : c->detail);
    }
    bool is_good = qp_table_print(&t, s, 0);
    qp_table_fini(&t);
    qp_screen_name(s, cli->path, 0);
    if (n_failed)
        qp_out_format(s->out, ": %zu of %zu checks FAILED\n", n_failed, n);
    else
        qp_out_format(s->out, ": all %zu checks passed\n", n);
    return is_good;
}

static void write_json(qp_cli *cli, const qp_check *checks, size_t n, size_t n_failed)
{
    qp_json json;
    qp_json_init(&json, &cli->out);
    qp_json_begin(&json, NULL, '{');
    qp_json_bool(&json, "passed", n_failed == 0);
    qp_json_begin(&json, "checks", '[');
    for (size_t i = 0; i < n; i++) {
        qp_json_begin(&json, NULL, '{');
        qp_json_text(&json, "name", checks[i].name);
        qp_json_bool(&json, "passed", checks[i].passed);
        qp_json_text(&json, "claim", checks[i].claim);
        qp_json_count(&json, "checked", checks[i].n_checked);
        qp_json_count(&json, "failed", checks[i].n_failed);
        qp_json_text(&json, "detail", checks[i].detail);
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

static void write_csv(qp_cli *cli, const qp_check *checks, size_t n)
{
    qp_out_text(&cli->out, "check,passed,checked,failed,detail\r\n");
    for (size_t i = 0; i < n; i++) {
        qp_text_csv(&cli->out, checks[i].name);
        qp_out_format(&cli->out, ",%s,%" PRIu64 ",%" PRIu64 ",",
                      checks[i].passed ? "yes" : "no", checks[i].n_checked, checks[i].n_failed);
        qp_text_csv(&cli->out, checks[i].detail);
        qp_out_text(&cli->out, "\r\n");
    }
}

static int run_check(qp_cli *cli)
{
    const char *file;
    qp_model *m;
    qp_check *checks = NULL;
    size_t n = 0, n_failed = 0;
    if (!qp_cli_operands(cli, NULL, &file))
        return QP_EXIT_UNUSABLE;
    int status = qp_cli_load(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    bool is_good = qp_model_check(m, &checks, &n);
    for (size_t i = 0; i < n && is_good; i++)
        n_failed += !checks[i].passed;
    if (is_good && cli->args.format == QP_FORMAT_JSON)
        write_json(cli, checks, n, n_failed);
    else if (is_good && cli->args.format == QP_FORMAT_CSV)
        write_csv(cli, checks, n);
    else if (is_good)
        is_good = print_text(cli, checks, n, n_failed);
    if (!is_good)
        status = qp_cli_fail_memory(cli);
    else if (n_failed)
        status = QP_EXIT_FAILED;
    qp_free(checks);
    qp_model_free(m);
    return status;
}

static const qp_flag flags[] = {QP_FLAG_FORMAT, QP_FLAGS_COMMON};

const qp_command qp_command_check = {
    .name = "check",
    .operands = "[FILE]",
    .summary = "does everything in the profile agree?",
    .about =
        "Checks what must be true of every profile, whoever wrote it: that every call that\n"
        "began has ended or is open, that times add up, that links lead somewhere. A live or\n"
        "unsealed profile is allowed the event in flight of each thread.\n"
        "Exit status 1: a check failed.",
    .flags = flags,
    .examples = "qprof check run.qprof\n"
                "qprof check --format=json run.qprof | jq '.checks[] | select(.passed | not)'",
    .run = run_check};
