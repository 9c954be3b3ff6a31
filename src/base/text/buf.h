/* buf.h: arrays and texts that grow. Growing is sticky: write freely, test `failed` once. */
#ifndef QP_BASE_TEXT_BUF_H
#define QP_BASE_TEXT_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/containers/dict.h"

typedef struct {
    void *items; /* free with qp_free(), or take */
    size_t n, room, item_bytes;
    bool failed; /* no memory: what came after is missing */
} qp_buf;

void qp_buf_init(qp_buf *b, size_t item_bytes);
#define QP_BUF(type) ((qp_buf){.item_bytes = sizeof(type)}) /* an empty one */

/* Append a zeroed item. @return it, until the next call; NULL: no memory */
void *qp_buf_add(qp_buf *b);
/* The same for n > 0 items in a row. */
void *qp_buf_add_many(qp_buf *b, size_t n);

/* The number, from 1, of the item that a key leads to; a new key gets a new zeroed item.
 * @param numbers  of the keys
 * @param is_new   receives whether the item is
 * @return 0: no memory, and b->failed */
uint32_t qp_buf_keyed(qp_buf *b, qp_dict *numbers, uint64_t key, bool *is_new);

/* Item i, which is added with all before it if need be. @return until the next call; NULL: no
 * memory */
static inline void *qp_buf_at(qp_buf *b, size_t i)
{
    bool is_there = i < b->n || qp_buf_add_many(b, i - b->n + 1);
    return is_there ? (char *)b->items + i * b->item_bytes : NULL;
}

/* The items, yours now: free with qp_free(). NULL only if failed, and then all is freed. */
void *qp_buf_take(qp_buf *b, size_t *n);

/* A text of bounded length: always ends with NUL, cut if it does not fit. @return to */
char *qp_text_format(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* All that a descriptor has, with NUL after it; or a plain file of this name.
 * @return [*n_bytes] free with qp_free(); NULL: see why */
char *qp_text_read(int fd, size_t max_bytes, size_t *n_bytes, const char **why);
char *qp_text_file(const char *path, size_t max_bytes, size_t *n_bytes, const char **why);

#endif
