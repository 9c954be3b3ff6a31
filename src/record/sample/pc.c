/* pc.c: reading the PC command of a run. */
#include "record/sample/sample.h"

#include <stdio.h>

int qp_pc_begin(qp_error *error)
{
    qp_head *h = qp_recorder_head();
    qp_pc_command command;
    qp_error mistake;
    char pattern[sizeof qp_recorder.options.pool];
    uint64_t period_before = h->pc_period;
    h->pc_period = 0;
    h->pc_pattern = 0;
    h->pc_kind = 0;
    h->pc_reached = 0;
    qp_recorder.is_pc_on = false;
    if (QP_PRODUCT_IS_COVERAGE || !(h->collect & QP_COLLECT_SAMPLES))
        return 0;
    qp_parse code =
        qp_pc_parse(qp_option_text(&qp_recorder.options, QP_OPT_pc), &command, &mistake);
    if (code != QP_PARSE_OK) {
        qp_error_fail(error, "-pc: column %u: %.150s", mistake.column, mistake.text);
        return code == QP_PARSE_ROOM ? QPROF_E_LIMIT : QPROF_E_SYNTAX;
    }
    snprintf(pattern, sizeof pattern, "%.*s", (int)command.n_pattern,
             command.pattern ? command.pattern : "");
    h->pc_pattern = qp_texts_add(&qp_recorder.texts, pattern);
    h->pc_kind = (uint32_t)command.kind;
    h->pc_period = command.period_us * 1000;
    if (command.is_raised && h->pc_period != period_before)
        qp_count(&qp_recorder.space, QP_D_clamped_options);
    qp_recorder.is_pc_on = true;
    return 0;
}
