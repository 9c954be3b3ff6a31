/* rows.h: the rows of a function table: which methods, in which order, in which columns. */
#ifndef QP_CLI_ROWS_H
#define QP_CLI_ROWS_H

#include "base/table_text.h"
#include "cli/cli.h"
#include "cli/view.h"

/* What --sort takes, and what a function table can be sorted by, in the same order. */
#define QP_SORT_WORDS "self|total|calls|avg|max|name"
typedef enum {
    QP_SORT_SELF,
    QP_SORT_TOTAL,
    QP_SORT_CALLS,
    QP_SORT_AVERAGE,
    QP_SORT_MAX,
    QP_SORT_NAME
} qp_sort;

/* Methods that are to be shown, sorted, and what their percentages are of. Without times --sort=self
 * means calls.
 * @param rows  [*n] methods; free with qp_free()
 * @return false: no memory */
bool qp_rows_select(const qp_args *args, qp_view *v, uint32_t **rows, size_t *n);

/* A table of rows[0..n); of none, why there are none. @return false: no memory */
bool qp_rows_print(const qp_cli *cli, const qp_view *v, const uint32_t *rows, size_t n);

#endif
