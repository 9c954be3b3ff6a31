/* check.c: `qprof check`: what must be true of every profile, one line each; with --host, mistakes of
 * the integration that made it. */
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

/* ---- --host ---------------------------------------------------------------------------------- */

typedef struct {
    bool passed, was_checked;
    const qp_host_finding *findings; /* [n] */
    size_t n;
} host_document;

#define AT(member) QP_FIELD_AT(qp_host_finding, member)
static const qp_field host_fields[] = {
    {"name", "Mistake", "name of the mistake", QP_FIELD_TEXT, AT(name)},
    {"step", "Step", "step of docs/embedding.md", QP_FIELD_COUNT, AT(step)},
    {"chapter", NULL, "title of the step", QP_FIELD_TEXT, AT(chapter)},
    {"count", "Count", "how often it was found", QP_FIELD_COUNT, AT(count)},
    {"what", NULL, "what is wrong", QP_FIELD_TEXT, AT(what)},
    {"advice", NULL, "what to do", QP_FIELD_TEXT, AT(advice)},
    {"method", NULL, "function of the first place, \"\" if it is unknown", QP_FIELD_TEXT,
     AT(method)},
    {"file", NULL, "its source", QP_FIELD_TEXT, AT(file)},
    {"line", NULL, "line at which it begins, 0 if it is unknown", QP_FIELD_COUNT, AT(line)},
    {"depth", NULL, "frames open at the first place, 0 if unknown", QP_FIELD_COUNT, AT(depth)},
    {"thread", NULL, "number of its thread, 0 if unknown", QP_FIELD_COUNT, AT(thread)},
    {"wanted", NULL, "wrong_depth: the host's depth", QP_FIELD_COUNT, AT(wanted)},
    {.key = NULL}};
#undef AT

static bool next_finding(const void *data, size_t *at, void *row)
{
    const host_document *d = data;
    if (*at == d->n)
        return false;
    *(qp_host_finding *)row = d->findings[(*at)++];
    return true;
}

static const qp_rows host_rows = QP_ROWS(host_fields, qp_host_finding, next_finding);

static const qp_field host_document_fields[] = {
    {"passed", NULL, "no mistake was found", QP_FIELD_YES, QP_FIELD_AT(host_document, passed)},
    {"was_checked", NULL, "it was recorded with -check-host", QP_FIELD_YES,
     QP_FIELD_AT(host_document, was_checked)},
    {"findings", NULL, "every mistake", QP_FIELD_ROWS, .rows = &host_rows},
    {.key = NULL}};

static void print_place(const qp_screen *s, const qp_host_finding *f)
{
    if (!f->method[0])
        return;
    qp_out_text(s->out, ", first in ");
    qp_screen_name(s, f->method, 0);
    if (f->file[0] && f->line) {
        qp_out_text(s->out, " (");
        qp_screen_name(s, f->file, 0);
        qp_out_format(s->out, ":%u)", f->line);
    }
}

/* One line: what, where first, how often, what to do, and the step. */
static void print_finding(const qp_screen *s, const qp_host_finding *f)
{
    qp_out_format(s->out, "step %u, %s: %s: %s; %llu time%s", f->step, f->chapter, f->name,
                  f->what, (unsigned long long)f->count, f->count == 1 ? "" : "s");
    print_place(s, f);
    if (f->wanted || f->depth)
        qp_out_format(s->out, ", %u frames open", f->depth);
    if (f->wanted)
        qp_out_format(s->out, " and %llu in the host", (unsigned long long)f->wanted);
    if (f->thread)
        qp_out_format(s->out, ", thread %u", f->thread);
    qp_out_format(s->out, ". %c%s.\n", f->advice[0] - 'a' + 'A', f->advice + 1);
}

static bool print_host(const qp_cli *cli, const void *data)
{
    const qp_screen *s = &cli->screen;
    const host_document *d = data;
    for (size_t i = 0; i < d->n; i++)
        print_finding(s, &d->findings[i]);
    qp_screen_name(s, cli->path, 0);
    if (d->n)
        qp_out_format(s->out, ": %zu kind%s of mistakes in the integration\n", d->n,
                      d->n == 1 ? "" : "s");
    else
        qp_out_text(s->out, ": no mistake of the integration was found\n");
    if (d->n > 1)
        qp_out_text(s->out, "Start with the first one: the others may follow from it.\n");
    if (!d->was_checked)
        qp_out_text(s->out, "A run with -check-host=yes finds more.\n");
    return true;
}

static void write_host_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &host_rows, data, "name step count method what advice",
                QP_FIELDS_ALL, "");
}

static int show_host(qp_cli *cli, const qp_model *m)
{
    static const qp_forms forms = {print_host, host_document_fields, write_host_csv};
    qp_host_finding *findings;
    host_document d = {.was_checked = qp_model_host_was_checked(m)};
    if (!qp_model_host(m, &cli->args.folders, &findings, &d.n))
        return qp_cli_fail_memory(cli);
    d.findings = findings;
    d.passed = d.n == 0;
    int status = qp_output_print(cli, &forms, &d);
    qp_free(findings);
    return status == QP_EXIT_CLEAN && d.n ? QP_EXIT_FAILED : status;
}

static int show(qp_cli *cli, const qp_subject *subject)
{
    if (cli->args.is_host)
        return show_host(cli, subject->m);
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
    .about =
        "Checks what must be true of every profile: every call that began has ended or is "
        "open, times add up, links are valid. A live or unsealed profile is allowed the "
        "event in flight of each thread. With --host, looks for mistakes of the program that "
        "embeds the library, and names the step of docs/embedding.md; a run with "
        "QPROF=-check-host=yes finds most. Exit status 1: a check failed, or a mistake was "
        "found.",
    .flags =
        (const qp_flag[]){
            QP_YES("host", 0, is_host, "mistakes of the integration instead of checks"),
            QP_FLAG_SOURCE_PATH, QP_FLAG_MAX_MEMORY, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof check run.qprof\n"
                "qprof check --host run.qprof\n"
                "qprof check --format=json run.qprof | jq '.checks[] | select(.passed | not)'",
    .schemas = (const qp_schema[]){{"check", document_fields},
                                   {"check-host", host_document_fields},
                                   {.name = NULL}},
    .run = qp_cli_show,
    .show = show};
