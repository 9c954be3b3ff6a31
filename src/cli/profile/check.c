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
    {"checked", "Checked", "things that were looked at", QP_FIELD_COUNT, AT(check.n_checked),
     .rank = 1},
    {"failed", NULL, "things of which it is not true", QP_FIELD_COUNT, AT(check.n_failed)},
    {"detail", NULL, "the first of them, \"\" if the check passed", QP_FIELD_TEXT, AT(detail)},
    {"shown", "Claim", NULL, QP_FIELD_TEXT, AT(shown), .flags = QP_FIELD_NO_JSON},
    {.key = NULL}};
#undef AT

static bool next_check(const void *data, size_t *at, void *row)
{
    const document *d = data;
    if (*at == d->n)
        return false;
    const qp_check *c = &d->checks[(*at)++];
    *(check_row *)row = (check_row){*c, c->detail, c->passed ? "ok" : "FAILED",
                                    c->passed ? c->claim : c->detail};
    return true;
}

static qp_style style_of(const void *row)
{
    return ((const check_row *)row)->check.passed ? QP_STYLE_GOOD : QP_STYLE_BAD;
}

static const qp_rows rows = QP_ROWS(fields, check_row, next_check, .style = style_of);

static const qp_field document_fields[] = {
    {"passed", NULL, "all checks passed", QP_FIELD_YES, QP_FIELD_AT(document, passed)},
    {"checks", NULL, "every check", QP_FIELD_ROWS, .rows = &rows},
    {.key = NULL}};

static bool print_text(const qp_cli *cli, const void *data)
{
    const qp_screen *s = &cli->screen;
    const document *d = data;
    bool is_good =
        qp_rows_text(s, &rows, d, "name result checked shown", QP_FIELDS_ALL, QP_UNIT_NONE);
    qp_screen_name(s, cli->path, 0);
    if (d->n_failed)
        qp_out_format(s->out, ": %zu of %zu checks FAILED\n", d->n_failed, d->n);
    else
        qp_out_format(s->out, ": all %zu checks passed\n", d->n);
    return is_good;
}

static void write_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &rows, data, "name:check passed checked failed detail",
                QP_FIELDS_ALL, "");
}

static int show(qp_cli *cli, const qp_subject *subject)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    qp_check *checks = NULL;
    document d = {.n = 0};
    if (!qp_model_check(subject->m, &checks, &d.n))
        return qp_cli_fail_memory(cli);
    for (size_t i = 0; i < d.n; i++)
        d.n_failed += !checks[i].passed;
    d.checks = checks;
    d.passed = d.n_failed == 0;
    int status = qp_output_print(cli, &forms, &d);
    qp_free(checks);
    return status == QP_EXIT_CLEAN && d.n_failed ? QP_EXIT_FAILED : status;
}

const qp_command qp_command_check = {
    .name = "check",
    .operands = "[FILE]",
    .summary = "checks of the consistency of a profile",
    .about = "Checks what must be true of every profile: every call that began has ended or is "
             "open, times add up, links are valid. A live or unsealed profile is allowed the "
             "event in flight of each thread. Exit status 1: a check failed.",
    .flags = (const qp_flag[]){QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof check run.qprof\n"
                "qprof check --format=json run.qprof | jq '.checks[] | select(.passed | not)'",
    .schemas = (const qp_schema[]){{"check", document_fields}, {.name = NULL}},
    .run = qp_cli_show,
    .show = show};
