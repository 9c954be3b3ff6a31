/* whole.c: what is missing in a profile: a gate must not judge a part as if it were all of a run. */
#include <stdio.h>
#include <string.h>

#include "base/text/unit.h"
#include "cli/core/cli.h"

/* Losses of what no figure is made of. */
static bool is_beside(const char *name)
{
    static const char *const beside[] = {"trace_lost", "trace_unwritten", "marks_lost",
                                         "actions_dropped", "creator_lost"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (strcmp(name, beside[i]) == 0)
            return true;
    return false;
}

static const qp_run_diagnostic *first_loss(const qp_run_info *run)
{
    for (size_t i = 0; i < run->n_diagnostics; i++)
        if (run->diagnostics[i].kind == 'L' && !is_beside(run->diagnostics[i].name))
            return &run->diagnostics[i];
    return NULL;
}

bool qp_cli_is_whole(const qp_model *m, int status, char why[QP_WHY_BYTES])
{
    const qp_run_info *run = &m->run;
    const qp_run_diagnostic *loss = first_loss(run);
    char lost[QP_NUMBER_BYTES], all[QP_NUMBER_BYTES];
    if (status == QP_EXIT_SALVAGED)
        snprintf(why, QP_WHY_BYTES, "is damaged");
    else if (run->state == QP_RUN_CRASHED)
        snprintf(why, QP_WHY_BYTES, "was not completed: the program was killed");
    else if (run->state == QP_RUN_LIVE)
        snprintf(why, QP_WHY_BYTES, "is not completed: the program is still running");
    else if (run->calls_lost)
        snprintf(why, QP_WHY_BYTES, "lost %s of %s calls: it was full, or they were too deep",
                 qp_unit_count(lost, run->calls_lost),
                 qp_unit_count(all, run->calls + run->calls_lost));
    else if (loss)
        snprintf(why, QP_WHY_BYTES, "is not complete: %s %s", qp_unit_count(lost, loss->count),
                 loss->text);
    else
        return true;
    return false;
}
