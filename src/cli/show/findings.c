/* findings.c: what a run says first, for the end of `qprof run` and for `qprof summary`. */
#include <ctype.h>

#include "cli/show/show.h"

void qp_findings_find(const qp_model *m, const char *path, const qp_model *since,
                      const char *since_path, qp_finding_list *to)
{
    to->n = qp_model_findings(m, path, since, since_path, to->all);
}

static bool next_finding(const void *data, size_t *at, void *row)
{
    const qp_finding_list *list = data;
    if (*at == list->n)
        return false;
    const qp_run_finding *f = &list->all[(*at)++];
    *(qp_finding_row *)row = (qp_finding_row){f->percent, f->figure, f->text, f->command};
    return true;
}

#define AT(member) QP_FIELD_AT(qp_finding_row, member)
static const qp_field fields[] = {
    {"percent", NULL, "how much of the run it weighs", QP_FIELD_PERCENT, AT(percent)},
    {"figure", NULL, "the figure in text and in the output of command", QP_FIELD_WORD,
     AT(figure)},
    {"text", NULL, "a sentence without its full stop", QP_FIELD_TEXT, AT(text)},
    {"command", NULL, "for a shell: shows the figure", QP_FIELD_TEXT, AT(command)},
    {.key = NULL}};
#undef AT

const qp_rows qp_finding_rows = QP_ROWS(fields, qp_finding_row, next_finding);

void qp_findings_print(const qp_screen *s, const qp_finding_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const qp_run_finding *f = &list->all[i];
        char first[2] = {(char)toupper((unsigned char)f->text[0]), '\0'};
        qp_out_format(s->out, "  %s", first);
        qp_screen_name(s, f->text + 1, 0);
        qp_out_text(s->out, ".\n      ");
        qp_screen_style(s, QP_STYLE_DIM);
        qp_screen_name(s, f->command, 0);
        qp_screen_style(s, QP_STYLE_PLAIN);
        qp_out_char(s->out, '\n');
    }
}
