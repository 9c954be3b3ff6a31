/* pm_parts.h: what the prompt knows, and what its commands do. */
#ifndef QP_CLI_PM_PARTS_H
#define QP_CLI_PM_PARTS_H

#include "base/arena.h"
#include "cli/config_file.h"
#include "cli/pm_read.h"
#include "model/charge.h"

typedef struct {
    qp_cli *cli;
    qp_config_file config; /* of --config: its areas alone */
    qp_arena texts;
    unsigned n_includes;
    const char *files[QP_LIST_MOST]; /* [n_files] the statistics */
    size_t n_files;
    char command[QP_CHARGE_COMMAND_BYTES]; /* PC command of their interrupts; "": none */
    qp_list modules, no_modules, areas, no_areas;
    const char *pc;     /* NULL: none */
    const char *report; /* NULL: the screen */
    bool has_calls, has_counts, by_module;
    bool has_failed, must_quit;
} qp_pm;

/* A message on standard error. */
void qp_pm_complain(qp_pm *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Commands. @param rest  behind the name; "": nothing */
void qp_pm_add(qp_pm *p, const char *rest);
void qp_pm_load(qp_pm *p, const char *rest);
void qp_pm_save(qp_pm *p, const char *rest);
void qp_pm_list(qp_pm *p, const char *rest);
void qp_pm_calls(qp_pm *p, const char *rest);
void qp_pm_counts(qp_pm *p, const char *rest);
void qp_pm_nocalls(qp_pm *p, const char *rest);
void qp_pm_nocounts(qp_pm *p, const char *rest);
void qp_pm_module(qp_pm *p, const char *rest);
void qp_pm_procedure(qp_pm *p, const char *rest);
void qp_pm_monitormodule(qp_pm *p, const char *rest);
void qp_pm_nomonitormodule(qp_pm *p, const char *rest);
void qp_pm_monitorarea(qp_pm *p, const char *rest);
void qp_pm_nomonitorarea(qp_pm *p, const char *rest);
void qp_pm_pc(qp_pm *p, const char *rest);
void qp_pm_execute(qp_pm *p, const char *rest);
void qp_pm_info(qp_pm *p, const char *rest);

#endif
