/* doctor.c: `qprof version` and `qprof doctor`: facts, and what to do about those that are wrong. */
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "cli/show/show.h"

void qp_fact_add(qp_facts *f, const char *topic, const char *format, ...)
{
    va_list list;
    if (f->n == QP_FACTS_MOST)
        return;
    qp_fact *fact = &f->all[f->n++];
    *fact = (qp_fact){.topic = topic};
    va_start(list, format);
    vsnprintf(fact->text, sizeof fact->text, format, list);
    va_end(list);
}

void qp_fact_advise(qp_facts *f, qp_fact_state state, const char *format, ...)
{
    va_list list;
    qp_fact *fact = &f->all[f->n - 1];
    fact->state = state;
    f->n_notes += state == QP_FACT_NOTE;
    f->n_problems += state == QP_FACT_PROBLEM;
    va_start(list, format);
    vsnprintf(fact->advice, sizeof fact->advice, format, list);
    va_end(list);
}

/* ---- forms ----------------------------------------------------------------------------------- */

typedef struct {
    bool passed;
    const qp_facts *facts;
} document;

typedef struct {
    const char *topic, *state, *text, *advice;
} fact_row;

#define AT(member) QP_FIELD_AT(fact_row, member)
static const qp_field fields[] = {
    {"topic", NULL, "what it is about", QP_FIELD_WORD, AT(topic)},
    {"state", NULL, "note: recordings work, with a limit; problem: they do not", QP_FIELD_WORD,
     AT(state), .words = "ok|note|problem"},
    {"text", NULL, "what is so", QP_FIELD_TEXT, AT(text)},
    {"advice", NULL, "what to do, \"\" if nothing", QP_FIELD_TEXT, AT(advice)},
    {.key = NULL}};
#undef AT

static bool next_fact(const void *data, size_t *at, void *to)
{
    static const char *const states[] = {"ok", "note", "problem"};
    const document *d = data;
    if (*at == d->facts->n)
        return false;
    const qp_fact *f = &d->facts->all[(*at)++];
    *(fact_row *)to = (fact_row){f->topic, states[f->state], f->text, f->advice};
    return true;
}

static const qp_rows rows = QP_ROWS(fields, fact_row, next_fact);

static const qp_field document_fields[] = {
    {"passed", NULL, "nothing keeps a recording from working", QP_FIELD_YES,
     QP_FIELD_AT(document, passed)},
    {"facts", NULL, "each fact", QP_FIELD_ROWS, .rows = &rows},
    {.key = NULL}};

static void print_fact(const qp_screen *s, const qp_fact *f)
{
    enum { INDENT = 14 };
    const char *word = f->state == QP_FACT_PROBLEM ? "problem:" : "note:";
    char shown[4 * sizeof f->text]; /* the variable QPROF may hold anything */
    qp_text_terminal(shown, sizeof shown, f->text, NULL);
    qp_header_label(s, f->topic);
    qp_help_text(s, shown, INDENT, INDENT);
    if (!*f->advice)
        return;
    qp_out_repeat(s->out, ' ', INDENT);
    qp_screen_text(s, f->state == QP_FACT_PROBLEM ? QP_STYLE_BAD : QP_STYLE_WARM, word);
    qp_text_terminal(shown, sizeof shown, f->advice, NULL);
    qp_help_text(s, shown, INDENT, INDENT + (unsigned)strlen(word));
}

static bool print_text(const qp_cli *cli, const void *data)
{
    const qp_facts *f = ((const document *)data)->facts;
    char notes[QP_NUMBER_BYTES], problems[QP_NUMBER_BYTES];
    for (size_t i = 0; i < f->n; i++)
        print_fact(&cli->screen, &f->all[i]);
    if (cli->command == &qp_command_version)
        return true;
    if (f->n_problems)
        qp_out_format(cli->screen.out, "\nA recording will not work: %s, %s\n",
                      qp_unit_things(problems, f->n_problems, "problem"),
                      qp_unit_things(notes, f->n_notes, "note"));
    else
        qp_out_format(cli->screen.out, "\nRecordings work here: no problem, %s\n",
                      qp_unit_things(notes, f->n_notes, "note"));
    return true;
}

static void write_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &rows, data, "topic state text advice", QP_FIELDS_ALL, "");
}

static int print(qp_cli *cli, const qp_facts *f)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    document d = {.passed = !f->n_problems, .facts = f};
    int status = qp_output_print(cli, &forms, &d);
    return status == QP_EXIT_CLEAN && !d.passed ? QP_EXIT_FAILED : status;
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int run_version(qp_cli *cli)
{
    static qp_facts f;
    if (cli->args.n_operands)
        return qp_cli_fail(cli, "%s: takes no operand", cli->args.operands[0]);
    qp_facts_of_build(&f);
    return print(cli, &f);
}

static int run_doctor(qp_cli *cli)
{
    static qp_facts f;
    if (cli->args.n_operands)
        return qp_cli_fail(cli, "%s: takes no operand", cli->args.operands[0]);
    qp_facts_of_build(&f);
    qp_facts_of_machine(&f);
    return print(cli, &f);
}

static const qp_flag flags[] = {QP_FLAG_FORMAT, QP_FLAGS_COMMON};
static const qp_schema schemas[] = {{"doctor", document_fields}, {.name = NULL}};

const qp_command qp_command_version = {
    .name = "version",
    .operands = "",
    .summary = "version of the tool, and what it was built with",
    .about = "Shows the version of the tool, the commit if it was built in the repository, the "
             "format of its profiles, and what it was built with.",
    .flags = flags,
    .examples = "qprof version\nqprof version --format=json",
    .schemas = schemas,
    .run = run_version};

const qp_command qp_command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "what this build and this machine can do, and what to mend",
    .about =
        "Shows facts that matter to recordings: this build, the clock and its price, limits "
        "of memory and files, where profiles lie while a program runs and what killed "
        "programs left, the variable QPROF, and rights. What is wrong has a line that says "
        "what to do. Exit status 1: something keeps a recording in this folder from working.",
    .flags = flags,
    .examples =
        "qprof doctor\nqprof doctor --format=json | jq '.facts[] | select(.state != \"ok\")'",
    .schemas = schemas,
    .run = run_doctor};
