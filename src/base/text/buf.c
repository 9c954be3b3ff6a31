/* buf.c: arrays that double. */
#include "base/text/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"

enum { FIRST_ITEMS = 16 };

void qp_buf_init(qp_buf *b, size_t item_bytes)
{
    *b = (qp_buf){.item_bytes = item_bytes};
}

/* Room for n more items. @return false: no memory */
static bool reserve(qp_buf *b, size_t n)
{
    size_t room = b->room ? b->room : FIRST_ITEMS;
    while (room - b->n < n && room <= SIZE_MAX / 2)
        room *= 2;
    void *items = room - b->n < n ? NULL : qp_realloc(b->items, room, b->item_bytes);
    b->failed = !items;
    if (items) {
        b->items = items;
        b->room = room;
    }
    return items != NULL;
}

void *qp_buf_add_many(qp_buf *b, size_t n)
{
    if (b->failed || (b->room - b->n < n && !reserve(b, n)))
        return NULL;
    void *first = (char *)b->items + b->n * b->item_bytes;
    b->n += n;
    memset(first, 0, n * b->item_bytes);
    return first;
}

void *qp_buf_add(qp_buf *b)
{
    return qp_buf_add_many(b, 1);
}

uint32_t qp_buf_keyed(qp_buf *b, qp_dict *numbers, uint64_t key, bool *is_new)
{
    uint32_t number = qp_dict_get(numbers, key);
    *is_new = !number && qp_buf_add(b);
    if (!*is_new)
        return number;
    b->failed = !qp_dict_put(numbers, key, (uint32_t)b->n);
    *is_new = !b->failed;
    return b->failed ? 0 : (uint32_t)b->n;
}

void *qp_buf_take(qp_buf *b, size_t *n)
{
    void *items = b->items ? b->items : qp_alloc(0, 1);
    *n = b->n;
    if (b->failed || !items) {
        qp_free(items);
        items = NULL;
        *n = 0;
    }
    *b = (qp_buf){.item_bytes = b->item_bytes};
    return items;
}

char *qp_text_format(char *to, size_t room, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to, room, format, arguments);
    va_end(arguments);
    return to;
}

char *qp_text_read(int fd, size_t max_bytes, size_t *n_bytes, const char **why)
{
    enum { PIECE = 1 << 16 };
    qp_buf text = QP_BUF(char);
    ssize_t n = 1;
    while (n > 0 && text.n <= max_bytes) {
        char *to = qp_buf_add_many(&text, PIECE);
        do
            n = to ? read(fd, to, PIECE) : 0;
        while (n < 0 && errno == EINTR);
        text.n -= to ? PIECE - (size_t)(n > 0 ? n : 0) : 0;
    }
    *why = n < 0                ? strerror(errno)
           : text.n > max_bytes ? "it is too large"
                                : "there is not enough memory to read it";
    char *end = n < 0 || text.n > max_bytes ? NULL : qp_buf_add(&text);
    if (!end) {
        qp_free(text.items);
        return NULL;
    }
    *end = '\0';
    *n_bytes = text.n - 1;
    return text.items;
}

char *qp_text_file(const char *path, size_t max_bytes, size_t *n_bytes, const char **why)
{
    int fd = qp_file_open(path, why);
    char *text = fd >= 0 ? qp_text_read(fd, max_bytes, n_bytes, why) : NULL;
    if (fd >= 0)
        close(fd);
    return text;
}
