/* list_rows.h: what `qprof list` counts, of procedures and of statements. */
#ifndef QP_CLI_LIST_ROWS_H
#define QP_CLI_LIST_ROWS_H

#include "base/arena.h"
#include "cli/list_scope.h"
#include "model/cover.h"

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

/* One for each; modules and procedures as call patterns name them: model/charge.h. Texts live as long
 * as the arena, the set and c. @param to  items are to be freed with qp_free() @return false: no
 * memory */
bool qp_list_procedures(const qp_list_scope *scope, const qp_cover_set *set, qp_arena *arena,
                        qp_list_rows *to);
bool qp_list_statements(const qp_list_scope *scope, const qp_cover *c, qp_arena *arena,
                        qp_list_rows *to);

/* Add up what belongs together at this level; most first. */
void qp_list_break_down(qp_list_rows *r, unsigned by);

#endif
