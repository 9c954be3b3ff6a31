/* table_text.h: tables of text with aligned columns.
 *
 * Cells are given row by row. On a terminal that is too narrow the columns of the highest rank
 * are left out, then flexible ones are cut. Nothing is printed before all cells are known. */
#ifndef QP_BASE_TEXT_TABLE_TEXT_H
#define QP_BASE_TEXT_TABLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/screen.h"

enum {
    QP_TABLE_COLUMNS = 16,
    QP_NAME_COLUMNS = 80, /* of a name in a table; names of hosts have up to 64 KiB */
    QP_NAME_BYTES = 640   /* room for so much of it */
};

typedef enum {
    QP_ALIGN_RIGHT = 0,
    QP_ALIGN_LEFT = 1,
    QP_KEEP_BEGIN = 3, /* left; may be cut at the end */
    QP_KEEP_END = 5    /* left; may be cut at the beginning */
} qp_align;

typedef struct {
    const char *head;
    qp_align align;
    unsigned rank; /* 0: always shown; higher ones are left out first */
} qp_column;

typedef struct {
    qp_column columns[QP_TABLE_COLUMNS];
    unsigned n_columns;
    bool has_failed; /* no memory: nothing is printed */
    char *bytes;     /* all cells, each ended by NUL */
    size_t n_bytes, room;
    struct qp_table_cell *cells;
    size_t n_cells, cell_room;
} qp_table;

void qp_table_init(qp_table *t);
/* The same with columns [n]. */
void qp_table_begin(qp_table *t, const qp_column *columns, unsigned n);
void qp_table_fini(qp_table *t);
void qp_table_column(qp_table *t, const char *head, qp_align align, unsigned rank);

/* The next cell of the row; a row begins by itself. The text is escaped for a terminal. */
void qp_table_cell(qp_table *t, qp_style style, const char *text);
/* A name, cut to QP_NAME_COLUMNS where the column may be cut: one long name does not push all rows apart. */
void qp_table_name(qp_table *t, qp_style style, const char *text);
/* The same for a text of the tool, which is not escaped. */
void qp_table_plain(qp_table *t, qp_style style, const char *text);
/* A number, plain. */
void qp_table_count(qp_table *t, uint64_t n);

/* @param indent  columns before each line
 * @return false: there was no memory for it */
bool qp_table_print(const qp_table *t, const qp_screen *s, unsigned indent);
/* The same, then qp_table_fini(). */
bool qp_table_end(qp_table *t, const qp_screen *s, unsigned indent);

#endif
