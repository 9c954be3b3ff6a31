/* listing.c: see listing.h. */
#include "cli/show/show.h"

enum { TAB_COLUMNS = 4 };

void qp_listing_line(char *to, size_t n_bytes, const qp_source *source, uint32_t line)
{
    size_t at = 0;
    uint32_t n = source && line && line <= source->n_lines ? source->line_bytes[line - 1] : 0;
    for (uint32_t i = 0; i < n && at + TAB_COLUMNS < n_bytes; i++) {
        char c = source->lines[line - 1][i];
        if (c == '\t')
            do
                to[at++] = ' ';
            while (at % TAB_COLUMNS);
        else if (c != '\r' && c != '\0')
            to[at++] = c;
    }
    to[at] = '\0';
}
