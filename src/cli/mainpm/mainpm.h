/* mainpm.h: what the files of `qprof list` and of the prompt `qprof pm` share. */
#ifndef QP_CLI_MAINPM_MAINPM_H
#define QP_CLI_MAINPM_MAINPM_H

#include "base/containers/alloc.h"
#include "cli/config/config.h"
#include "cli/show/show.h"
#include "config/match.h"
#include "model/cover/cover.h"

/* ---- the scope of a list -------------------------------------------------------------------- */

/* Which procedures `qprof list` reports: --module, --area, --no-module, --no-area. If any module or
 * area is wanted, only what one of them holds is reported; what is not wanted is always left out. */
typedef struct {
    const qp_args *args;
    qp_config_file file; /* of --config */
    qp_buf parts;        /* elements of the areas that were named */
} qp_list_scope;

/* Read what the flags say. @return QP_EXIT_CLEAN; else said why not.
 * Call qp_list_scope_fini() in any case */
int qp_list_scope_init(qp_list_scope *s, const qp_cli *cli);
void qp_list_scope_fini(qp_list_scope *s);

/* Is it in the report? @param module  as call patterns name it: qp_attribution_module_text() */
bool qp_list_scope_has(const qp_list_scope *s, const char *module,
                       const qp_match_method *method);

/* The same of a method of a profile. @param scope  a qp_list_scope */
bool qp_list_scope_has_method(const void *scope, const char *module,
                              const qp_model_method *method);

/* The area of a title, which is its name in a file of which the areas were read.
 * @param why  [n_bytes] one line if there is none, that says which there are @return NULL: none */
const qp_config_object *qp_list_area(const qp_config_file *file, const char *title, char *why,
                                     size_t n_bytes);

/* ---- the rows of a list --------------------------------------------------------------------- */

enum { QP_LIST_BY_PROCEDURE, QP_LIST_BY_MODULE, QP_LIST_BY_STATEMENT };

/* A module, a procedure or a statement. Only of statements is `executions` known. */
typedef struct {
    const char *module, *procedure, *file;
    uint32_t line;
    uint64_t calls, procedures, procedures_called;
    uint64_t statements, executed, executions;
} qp_list_row;

typedef struct {
    qp_list_row *items; /* [n] */
    size_t n;
} qp_list_rows;

/* One for each; modules and procedures as call patterns name them: model/figures/figures.h. Texts live as long
 * as the arena, the set and c. @param to  items are to be freed with qp_free() @return false: no
 * memory */
bool qp_list_procedures(const qp_list_scope *scope, const qp_cover_set *set, qp_arena *arena,
                        qp_list_rows *to);
bool qp_list_statements(const qp_list_scope *scope, const qp_cover *c, qp_arena *arena,
                        qp_list_rows *to);

/* Add up what belongs together at this level; most first. */
void qp_list_break_down(qp_list_rows *r, unsigned by);

/* ---- lines of commands ---------------------------------------------------------------------- */

enum { QP_PM_LINE_BYTES = 1 << 16 };

typedef struct {
    int fd; /* borrowed */
    char bytes[4096];
    size_t n, at;
    unsigned line;    /* of the last one read, from 1 */
    bool is_too_long; /* it was cut */
} qp_pm_source;

/* The next line, without its end. @param to [QP_PM_LINE_BYTES] @return false: there are no more */
bool qp_pm_read(qp_pm_source *s, char *to);

/* Names of `names`, which ends with NULL, that begin with a word in any case; a whole name is the
 * only one. @param first  index of the first of them @return how many */
size_t qp_pm_match(const char *const *names, const char *word, size_t n_bytes, size_t *first);

/* Does the word begin this name, in any case? */
bool qp_pm_begins(const char *name, const char *word, size_t n_bytes);

/* ---- the prompt ----------------------------------------------------------------------------- */

typedef struct {
    qp_cli *cli;
    qp_config_file config; /* of --config: its areas alone */
    qp_arena texts;
    unsigned n_includes;
    const char *files[QP_LIST_MOST]; /* [n_files] the statistics */
    size_t n_files;
    char command[QP_ATTRIBUTION_COMMAND_BYTES]; /* PC command of their interrupts; "": none */
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
