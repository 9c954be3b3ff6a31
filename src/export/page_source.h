/* page_source.h: source texts in pages. */
#ifndef QP_EXPORT_PAGE_SOURCE_H
#define QP_EXPORT_PAGE_SOURCE_H

#include <stdint.h>

#include "base/out.h"

typedef struct {
    const char *shown; /* relative if it lies below the root */
    const char *file;  /* as the profile names it */
    uint64_t digest;   /* of the text that was recorded; 0: not known */
} qp_page_file;

/** {"missing":why not,"changed":since it was recorded,"lines":[text,...]}
 *
 * A page is sent to others, and a profile may come from anybody: a file that the profile's maker
 * may not have seen is shown only where the user said that sources are. */
void qp_page_source(qp_out *out, const qp_page_file *f, const char *source_path);

#endif
