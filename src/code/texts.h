/* texts.h: the texts of a profile file, each stored once. */
#ifndef QP_CODE_TEXTS_H
#define QP_CODE_TEXTS_H

#include "format/space.h"

enum { QP_TEXT_MAX = 64 * 1024 };

typedef struct {
    qp_space *space;
    qp_slab blobs;
    qp_slab blocks; /* of the index, shared with other indices of the same owner */
    qp_cell root;   /* index block; 0: none yet */
} qp_texts;

/* Store a text; longer than QP_TEXT_MAX: cut, with "...#<hash>" at its end, and counted.
 * The length is fixed first and the bytes are copied once: a host that changes them meanwhile
 * gets garbage, never an overrun.
 * @param text  NULL: none
 * @return 0: NULL, "" or no room. Threads: any. */
qp_ref qp_texts_add(qp_texts *t, const char *text);

/* The text of a ref; "" for 0. Valid as long as the file. */
const char *qp_texts_at(const qp_texts *t, qp_ref ref);

/* The same of a place that another thread may be storing into. */
const char *qp_texts_of(const qp_texts *t, const qp_ref *place);

/* A zeroed index block; 0: no room. For qp_trie. */
uint32_t qp_texts_block(void *texts);

#endif
