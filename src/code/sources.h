/* sources.h: which text each source file had when its code was loaded. */
#ifndef QP_CODE_SOURCES_H
#define QP_CODE_SOURCES_H

#include <stdbool.h>

#include "code/texts.h"

typedef struct {
    qp_space *space;
    qp_texts *texts;
    qp_slab slab;
    qp_cell root; /* index block: ref of the path -> record */
} qp_sources;

/* @return false: no room */
bool qp_sources_begin(qp_sources *s, qp_space *space, qp_texts *texts);

/* Keep length and digest of a text; what was said of the file before is replaced.
 * @return false: no room. Threads: one at a time. */
bool qp_sources_add(qp_sources *s, const char *path, const void *text, uint64_t n_bytes);

/* The same of a text whose digest is known. */
bool qp_sources_put(qp_sources *s, const char *path, uint64_t digest, uint64_t n_bytes);

#endif
