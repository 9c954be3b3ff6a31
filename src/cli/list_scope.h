/* list_scope.h: which procedures `qprof list` reports: --module, --area, --no-module, --no-area.
 *
 * If any module or area is wanted, only what one of them holds is reported; what is not wanted is
 * left out in any case. */
#ifndef QP_CLI_LIST_SCOPE_H
#define QP_CLI_LIST_SCOPE_H

#include "cli/config_file.h"
#include "config/match.h"

typedef struct {
    const qp_args *args;
    qp_config_file file; /* of --config */
    qp_buf parts;        /* elements of the areas that were named */
} qp_list_scope;

/* Read what the flags say. @return QP_EXIT_CLEAN; else said why not.
 * Call qp_list_scope_fini() in any case */
int qp_list_scope_init(qp_list_scope *s, const qp_cli *cli);
void qp_list_scope_fini(qp_list_scope *s);

/* Is it in the report? @param module  as call patterns name it: qp_charge_module_text() */
bool qp_list_scope_has(const qp_list_scope *s, const char *module,
                       const qp_match_method *method);

/* The area of a title, which is its name in a file of which the areas were read.
 * @param why  [n_bytes] one line if there is none, that says which there are @return NULL: none */
const qp_config_rule *qp_list_area(const qp_config_file *file, const char *title, char *why,
                                   size_t n_bytes);

#endif
