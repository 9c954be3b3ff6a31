/* listing.h: lines of source text in a table. */
#ifndef QP_CLI_LISTING_H
#define QP_CLI_LISTING_H

#include "model/lines.h"

/* A line without its end, tabs as blanks; "" where the source, which may be NULL, has none.
 * @param line  from 1 */
void qp_listing_line(char *to, size_t n_bytes, const qp_source *source, uint32_t line);

#endif
