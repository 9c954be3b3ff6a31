/* diff_values.c: what all forms of a comparison write of a row: its figure, changes, and path. */
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "cli/compare/diff.h"
#include "cli/show/show.h"

const qp_diff_figure *qp_diff_main_figure(const qp_comparison *c, const qp_diff_row *row)
{
    return c->sort == QP_DIFF_TOTAL   ? qp_diff_total(c->diff, row)
           : c->sort == QP_DIFF_CALLS ? &row->calls
                                      : qp_diff_self(c->diff, row);
}

uint64_t qp_diff_size(int64_t change)
{
    return (uint64_t)(change < 0 ? -change : change);
}

char *qp_diff_value(const qp_comparison *c, char *to, uint64_t value)
{
    char count[QP_NUMBER_BYTES];
    if (c->is_time)
        return qp_unit_time(to, value);
    snprintf(to, QP_NUMBER_BYTES, "%s %s", qp_unit_count(count, value), c->unit_text);
    return to;
}

char *qp_diff_amount(const qp_comparison *c, char *to, int64_t change)
{
    char value[QP_NUMBER_BYTES];
    qp_diff_value(c, value, qp_diff_size(change));
    snprintf(to, QP_NUMBER_BYTES, "%s%.60s", change < 0 ? "-" : change > 0 ? "+" : "", value);
    return to;
}

char *qp_diff_percent(char *to, const qp_diff_figure *f)
{
    uint64_t base = f->sides[QP_DIFF_BASE];
    int64_t change = qp_diff_change(f);
    if (base)
        snprintf(to, QP_NUMBER_BYTES, "%+.1f", (double)change * 100.0 / (double)base);
    else
        snprintf(to, QP_NUMBER_BYTES, "%s", change ? "-" : "+0.0");
    return to;
}

char *qp_diff_path(const qp_comparison *c, const qp_diff_row *row, char *to, size_t n_bytes)
{
    static const char more[] = "... > ";
    size_t at = n_bytes - 1;
    to[at] = '\0';
    for (const char *between = ""; row; between = " > ") {
        char name[QP_NAME_BYTES];
        qp_text_fit(name, sizeof name, row->name, QP_NAME_COLUMNS, 0);
        size_t n = strlen(name), n_between = strlen(between);
        if (at < n + n_between + sizeof more) {
            at -= sizeof more - 1;
            memcpy(to + at, more, sizeof more - 1);
            break;
        }
        at -= n_between;
        memcpy(to + at, between, n_between);
        at -= n;
        memcpy(to + at, name, n);
        row = row->parent ? &c->diff->rows[row->parent] : NULL;
    }
    return memmove(to, to + at, n_bytes - at);
}
