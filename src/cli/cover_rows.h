/* cover_rows.h: the rows of a coverage table: all, folders or modules, files, functions. */
#ifndef QP_CLI_COVER_ROWS_H
#define QP_CLI_COVER_ROWS_H

#include "cli/args.h"
#include "model/cover.h"

/* What --view and --sort take, in the same order. */
#define QP_COVER_VIEW_WORDS "file|module"
enum { QP_VIEW_FILE, QP_VIEW_MODULE };
#define QP_COVER_SORT_WORDS "name|missed|percent|lines|calls"

typedef enum {
    QP_ROW_ALL,
    QP_ROW_FOLDER,
    QP_ROW_MODULE,
    QP_ROW_FILE,
    QP_ROW_FUNCTION
} qp_cover_row_kind;

typedef struct {
    qp_cover_row_kind kind;
    unsigned depth;
    const char *path;   /* of the folder or file; name of the module; "" of all */
    const char *parent; /* the folder that the row stands below, "" if none */
    const qp_cover_function *function; /* NULL: of a function's rows only */
    const qp_cover_totals *totals;
} qp_cover_row;

typedef struct {
    qp_cover_row *items; /* [n] the one of all comes last */
    size_t n;
    void *own; /* of the maker: figures of modules */
} qp_cover_rows;

/* @return false: no memory */
bool qp_cover_rows_make(qp_cover_rows *rows, const qp_args *args, const qp_cover *c);
void qp_cover_rows_free(qp_cover_rows *rows);

/* What stands in the first column: below a folder, its path without the folder's. */
void qp_cover_row_name(const qp_cover_row *row, char *to, size_t n_bytes);

#endif
