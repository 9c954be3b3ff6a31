/* check.c: `qprof check`: what must be true of every profile, one line each. */
#include "base/containers/alloc.h"
#include "cli/show/show.h"
#include "model/figures/figures.h"

/* Checks, and how many of them failed. */
typedef struct {
    bool passed;
    const qp_check *checks; /* [n] */
    size_t n, n_failed;
} document;

typedef struct {
    qp_check check;
    const char *detail, *result, *shown; /* in text: the claim, or what is wrong */
} check_row;

#define AT(member) QP_FIELD_AT(check_row, member)
static const qp_field fields[] = {
    {"name", "Check", "name of the check", QP_FIELD_TEXT, AT(check.name)},
    {"passed", NULL, "the claim holds", QP_FIELD_YES, AT(check.passed)},
    {"result", "Result", NULL, QP_FIELD_WORD, AT(result),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_HOT},
    {"claim", NULL, "what must be true", QP_FIELD_TEXT, AT(check.claim)},
    {"checked", "Looked at", "things that were looked at", QP_FIELD_COUNT, AT(check.n_checked),
     .rank = 1},
    {"failed", NULL, "things of which it is not true", QP_FIELD_COUNT, AT(check.n_failed)},
    {"detail", NULL, "the first of them, \"\" if the check passed", QP_FIELD_TEXT, AT(detail)},
    {"shown", "Claim", NULL, QP_FIELD_TEXT, AT(shown), .flags = QP_FIELD_NO_JSON},
    {.key = NULL}};
#undef AT

static check_row row_of(const qp_check *c)
{
    return (check_row){*c, c->detail, c->passed ? "ok" : "FAILED",
                       c->passed ? c->claim : c->detail};
}

static void write_checks(qp_json *json, const void *row)
{
    const document *d = row;
    for (size_t i = 0; i < d->n; i++) {
        check_row check = row_of(&d->checks[i]);
        qp_row_json(json, NULL, fields, QP_FIELDS_ALL, &check);
    }
}

static const qp_field document_fields[] = {
    {"passed", NULL, "all checks passed", QP_FIELD_YES, QP_FIELD_AT(document, passed)},
    {"checks", NULL, "every check", QP_FIELD_ROWS, .sub = fields, .write = write_checks},
    {.key = NULL}};

static bool print_text(const qp_cli *cli, const document *d)
{
    const qp_screen *s = &cli->screen;
    qp_listing l;
    qp_listing_begin(&l, s, fields, "name result checked shown", QP_FIELDS_ALL,
                     (qp_unit){"", 1, 0});
    for (size_t i = 0; i < d->n; i++) {
        check_row row = row_of(&d->checks[i]);
        qp_listing_row(&l, &row, d->checks[i].passed ? QP_STYLE_GOOD : QP_STYLE_BAD);
    }
    bool is_good = qp_listing_end(&l, 0);
    qp_screen_name(s, cli->path, 0);
    if (d->n_failed)
        qp_out_format(s->out, ": %zu of %zu checks FAILED\n", d->n_failed, d->n);
    else
        qp_out_format(s->out, ": all %zu checks passed\n", d->n);
    return is_good;
}

static void write_csv(qp_out *out, const document *d)
{
    qp_csv csv;
    qp_csv_begin(&csv, out, fields, "name:check passed checked failed detail", QP_FIELDS_ALL,
                 "");
    for (size_t i = 0; i < d->n; i++) {
        check_row row = row_of(&d->checks[i]);
        qp_csv_row(&csv, &row);
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
    const document d = {n_failed == 0, checks, n, n_failed};
    if (is_good && cli->args.format == QP_FORMAT_JSON)
        qp_document_json(&cli->out, document_fields, &d);
    else if (is_good && cli->args.format == QP_FORMAT_CSV)
        write_csv(&cli->out, &d);
    else if (is_good)
        is_good = print_text(cli, &d);
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
    .schemas = (const qp_schema[]){{"check", document_fields}, {.name = NULL}},
    .run = run_check};
