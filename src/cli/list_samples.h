/* list_samples.h: the part of `qprof list` about interrupts of the PC command, of one run or more. */
#ifndef QP_CLI_LIST_SAMPLES_H
#define QP_CLI_LIST_SAMPLES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "cli/list_scope.h"
#include "model/charge.h"

typedef struct {
    const qp_list_scope *scope; /* NULL: all procedures */
    bool by_module;
    bool has_command;                      /* some run had a PC command */
    char command[QP_CHARGE_COMMAND_BYTES]; /* of all that had one */
    qp_buf rows;                           /* qp_charge_row, of names in `names` */
    qp_arena names;
    qp_charge_totals totals;
    const char *kind, *pattern, *thread; /* of all runs; thread NULL: all of them */
    uint64_t period_ns;                  /* asked for */
    uint64_t passes, passes_ns;          /* of the samplers; 0: unknown */
} qp_list_samples;

void qp_list_samples_init(qp_list_samples *s, const qp_list_scope *scope, bool by_module);
void qp_list_samples_fini(qp_list_samples *s);

/* Add a run that cli loaded, by the pattern of --when or else the run's own.
 * @return QP_EXIT_CLEAN, or QP_EXIT_UNUSABLE: said why */
int qp_list_samples_add(const qp_cli *cli, qp_list_samples *s, const qp_model *m);

/* Two tables and a summary. @param most  rows of one table alone; 0: all of both
 * @return false: no memory */
bool qp_list_samples_print(const qp_cli *cli, qp_list_samples *s, size_t most);
/* "rows" and "summary". */
void qp_list_samples_write(qp_json *json, qp_list_samples *s);

#endif
