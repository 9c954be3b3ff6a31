/* buf.c: arrays that double. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_ITEMS = 16 };

void qp_buf_init(qp_buf *b, size_t item_bytes)
{
    *b = (qp_buf){.item_bytes = item_bytes};
}

void *qp_buf_add(qp_buf *b)
{
    if (b->failed)
        return NULL;
    if (b->n == b->room) {
        size_t room = b->room ? b->room * 2 : FIRST_ITEMS;
        void *items = qp_realloc(b->items, room, b->item_bytes);
        if (!items) {
            b->failed = true;
            return NULL;
        }
        b->items = items;
        b->room = room;
    }
    void *item = (char *)b->items + b->n++ * b->item_bytes;
    memset(item, 0, b->item_bytes);
    return item;
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
