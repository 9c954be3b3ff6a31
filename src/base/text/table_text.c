/* table_text.c: measure all cells, choose the columns that fit, print. */
#include "base/text/table_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "base/text/unit.h"

enum { GAP = 2, NARROWEST = 12 };

struct qp_table_cell {
    size_t at; /* in bytes */
    uint32_t width;
    qp_style style;
};

void qp_table_init(qp_table *t)
{
    *t = (qp_table){0};
}

void qp_table_begin(qp_table *t, const qp_column *columns, unsigned n)
{
    qp_table_init(t);
    memcpy(t->columns, columns, n * sizeof *columns);
    t->n_columns = n;
}

void qp_table_fini(qp_table *t)
{
    qp_free(t->bytes);
    qp_free(t->cells);
    qp_table_init(t);
}

void qp_table_column(qp_table *t, const char *head, qp_align align, unsigned rank)
{
    t->columns[t->n_columns++] = (qp_column){head, align, rank};
}

static bool make_room(qp_table *t, size_t n_bytes)
{
    if (t->n_cells == t->cell_room) {
        size_t room = t->cell_room ? t->cell_room * 2 : 256;
        struct qp_table_cell *cells = qp_realloc(t->cells, room, sizeof *cells);
        t->has_failed |= !cells;
        if (!cells)
            return false;
        t->cells = cells;
        t->cell_room = room;
    }
    if (t->room - t->n_bytes < n_bytes) {
        size_t room = (t->room + n_bytes) * 2;
        char *bytes = qp_realloc(t->bytes, room, 1);
        t->has_failed |= !bytes;
        if (!bytes)
            return false;
        t->bytes = bytes;
        t->room = room;
    }
    return true;
}

void qp_table_plain(qp_table *t, qp_style style, const char *text)
{
    size_t n_bytes = strlen(text) + 1;
    if (!make_room(t, n_bytes))
        return;
    memcpy(t->bytes + t->n_bytes, text, n_bytes);
    t->cells[t->n_cells++] =
        (struct qp_table_cell){t->n_bytes, (uint32_t)qp_text_width(text), style};
    t->n_bytes += n_bytes;
}

void qp_table_count(qp_table *t, uint64_t n)
{
    char text[QP_NUMBER_BYTES];
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, n));
}

void qp_table_cell(qp_table *t, qp_style style, const char *text)
{
    size_t most = strlen(text) * 4 + 1; /* \xNN for every byte; \u{NNNN} for three */
    if (!make_room(t, most))
        return;
    size_t width, n = qp_text_terminal(t->bytes + t->n_bytes, most, text, &width);
    t->cells[t->n_cells++] = (struct qp_table_cell){t->n_bytes, (uint32_t)width, style};
    t->n_bytes += n + 1;
}

void qp_table_name(qp_table *t, qp_style style, const char *text)
{
    char fitted[QP_NAME_BYTES];
    bool is_end = t->columns[t->n_cells % t->n_columns].align == QP_KEEP_END;
    qp_text_fit(fitted, sizeof fitted, text, QP_NAME_COLUMNS, is_end);
    qp_table_cell(t, style, fitted);
}

/* Columns of the screen that a line takes; a width of 0 is a column left out. */
static size_t line_width(const qp_table *t, const size_t *widths)
{
    size_t sum = 0;
    for (unsigned c = 0; c < t->n_columns; c++)
        sum += widths[c] ? widths[c] + GAP : 0;
    return sum ? sum - GAP : 0;
}

/* Leave out the columns of the highest rank, one at a time, then cut flexible ones, the widest
 * first, until a line fits. */
static void fit_columns(const qp_table *t, size_t *widths, size_t limit)
{
    while (line_width(t, widths) > limit) {
        unsigned worst = t->n_columns;
        for (unsigned c = 0; c < t->n_columns; c++)
            if (widths[c] && t->columns[c].rank > 0 &&
                (worst == t->n_columns || t->columns[c].rank >= t->columns[worst].rank))
                worst = c;
        if (worst == t->n_columns)
            break;
        widths[worst] = 0;
    }
    for (size_t line = line_width(t, widths); line > limit; line = line_width(t, widths)) {
        unsigned widest = t->n_columns;
        for (unsigned c = 0; c < t->n_columns; c++)
            if (t->columns[c].align > QP_ALIGN_LEFT && widths[c] > NARROWEST &&
                (widest == t->n_columns || widths[c] > widths[widest]))
                widest = c;
        if (widest == t->n_columns)
            return;
        size_t excess = line - limit, most = widths[widest] - NARROWEST;
        widths[widest] -= excess < most ? excess : most;
    }
}

static void print_cell(const qp_table *t, const qp_screen *s, unsigned column, size_t width,
                       const char *text, qp_style style, bool is_last)
{
    char fitted[4096];
    qp_align align = t->columns[column].align;
    size_t taken = qp_text_width(text);
    if (taken > width && align > QP_ALIGN_LEFT) {
        qp_text_fit(fitted, sizeof fitted, text, width, align == QP_KEEP_END);
        text = fitted;
        taken = qp_text_width(text);
    }
    size_t fill = taken < width ? width - taken : 0;
    if (align == QP_ALIGN_RIGHT)
        qp_out_repeat(s->out, ' ', fill);
    qp_screen_text(s, style, text);
    if (align != QP_ALIGN_RIGHT && !is_last)
        qp_out_repeat(s->out, ' ', fill);
}

/* Of a row, or of the heads. */
static const char *cell_text(const qp_table *t, const struct qp_table_cell *row,
                             unsigned column)
{
    return row ? t->bytes + row[column].at : t->columns[column].head;
}

static void print_line(const qp_table *t, const qp_screen *s, const size_t *widths,
                       unsigned indent, const struct qp_table_cell *row)
{
    unsigned last = t->n_columns; /* no blanks at the ends of lines */
    while (last > 0 && (widths[last - 1] == 0 || *cell_text(t, row, last - 1) == '\0'))
        last--;
    qp_out_repeat(s->out, ' ', indent);
    for (unsigned c = 0; c < last; c++) {
        if (widths[c] == 0)
            continue;
        print_cell(t, s, c, widths[c], cell_text(t, row, c), row ? row[c].style : QP_STYLE_HEAD,
                   c + 1 == last);
        if (c + 1 < last)
            qp_out_repeat(s->out, ' ', GAP);
    }
    qp_out_char(s->out, '\n');
}

bool qp_table_print(const qp_table *t, const qp_screen *s, unsigned indent)
{
    size_t widths[QP_TABLE_COLUMNS];
    if (t->has_failed)
        return false;
    for (unsigned c = 0; c < t->n_columns; c++)
        widths[c] = qp_text_width(t->columns[c].head);
    for (size_t i = 0; i < t->n_cells; i++)
        if (t->cells[i].width > widths[i % t->n_columns])
            widths[i % t->n_columns] = t->cells[i].width;
    if (s->n_columns > indent)
        fit_columns(t, widths, s->n_columns - indent);
    print_line(t, s, widths, indent, NULL);
    for (size_t i = 0; i + t->n_columns <= t->n_cells; i += t->n_columns)
        print_line(t, s, widths, indent, t->cells + i);
    return true;
}

bool qp_table_end(qp_table *t, const qp_screen *s, unsigned indent)
{
    bool is_good = qp_table_print(t, s, indent);
    qp_table_fini(t);
    return is_good;
}
