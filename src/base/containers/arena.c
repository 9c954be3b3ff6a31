/* arena.c: blocks of memory, each at least as large as what is asked for. */
#include "base/containers/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"

/* What is not taken is poisoned, or AddressSanitizer would see whole blocks only. */
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h> /* does nothing where the sanitizer is off */
#else
#define ASAN_POISON_MEMORY_REGION(at, n_bytes)   ((void)(at), (void)(n_bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, n_bytes) ((void)(at), (void)(n_bytes))
#endif

enum { ALIGNMENT = 16, BLOCK_BYTES = 64 * 1024 };

typedef struct qp_arena_block {
    struct qp_arena_block *next;
    size_t n_used, n_bytes;
    _Alignas(ALIGNMENT) unsigned char bytes[];
} block;

void qp_arena_init(qp_arena *a)
{
    a->blocks = NULL;
}

void qp_arena_fini(qp_arena *a)
{
    for (block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        qp_free(b);
    }
    a->blocks = NULL;
}

static block *add_block(qp_arena *a, size_t n_bytes)
{
    size_t room = n_bytes < BLOCK_BYTES ? BLOCK_BYTES : n_bytes;
    block *b = qp_alloc_zeroed(1, sizeof *b + room);
    if (!b)
        return NULL;
    *b = (block){.next = a->blocks, .n_bytes = room};
    ASAN_POISON_MEMORY_REGION(b->bytes, room);
    a->blocks = b;
    return b;
}

void *qp_arena_take(qp_arena *a, size_t n, size_t bytes)
{
    size_t asked;
    if (__builtin_mul_overflow(n, bytes, &asked) || asked > SIZE_MAX / 2)
        return NULL;
    size_t wanted = (asked + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    block *b = a->blocks;
    if (!b || b->n_bytes - b->n_used < wanted)
        b = add_block(a, wanted);
    if (!b)
        return NULL;
    void *taken = b->bytes + b->n_used;
    b->n_used += wanted;
    ASAN_UNPOISON_MEMORY_REGION(taken, asked);
    return taken;
}

void *qp_arena_copy(qp_arena *a, const void *items, size_t n, size_t bytes)
{
    void *copy = qp_arena_take(a, n, bytes);
    if (copy && n && bytes)
        memcpy(copy, items, n * bytes);
    return copy;
}

char *qp_arena_text(qp_arena *a, const char *text)
{
    return qp_arena_copy(a, text, strlen(text) + 1, 1);
}

char *qp_arena_format(qp_arena *a, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n_bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = n_bytes < 0 ? NULL : qp_arena_take(a, (size_t)n_bytes + 1, 1);
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)n_bytes + 1, format, arguments);
    va_end(arguments);
    return text;
}
