/* page.h: the fixed parts of an HTML report, made from web/ when the tool is built.
 *
 * A report is: head, title, style, </head><body>, what readers without JavaScript see, JSON that
 * the first picture needs, script, the rest of the JSON, </body></html>. */
#ifndef QP_EXPORT_PAGE_H
#define QP_EXPORT_PAGE_H

#include <stddef.h>

typedef struct {
    const char *text; /* ASCII, no NUL at its end */
    size_t n_bytes;
} qp_page_part;

typedef struct {
    qp_page_part head, style, script; /* text NULL: this build has no pages */
} qp_page;

extern const qp_page qp_page_cover;

#endif
