/* alloc.c: the one place where the tool gets memory. An arena has blocks, each at least as large as
 * what is asked for. */
#include "base/containers/alloc.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

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

/* Threads may take and free memory at once. Limits and failures are set while there is one. */
static uint64_t n_calls, fail_at;
static bool fails_for_ever;

static uint64_t n_taken; /* bytes */
static uint64_t limit_from, limit_bytes, limit_reached;

void qp_alloc_limit(uint64_t n_bytes)
{
    limit_from = qp_load(&n_taken);
    limit_bytes = n_bytes;
    limit_reached = 0;
}

void qp_alloc_limit_change(uint64_t n_bytes)
{
    limit_bytes = limit_bytes ? n_bytes : 0;
}

uint64_t qp_alloc_limit_reached(void)
{
    return limit_reached;
}

static bool is_over_limit(uint64_t n_before, uint64_t n_bytes)
{
    bool is_over = limit_bytes && n_bytes > n_before &&
                   qp_load(&n_taken) - n_before + n_bytes > limit_from + limit_bytes;
    if (is_over)
        qp_store(&limit_reached, limit_bytes);
    return is_over;
}

/* @param n_before  bytes of the block that it replaces @return p */
static void *counted(void *p, uint64_t n_before)
{
    if (p)
        qp_fetch_add(&n_taken, malloc_usable_size(p) - n_before);
    return p;
}

static bool has_failed;

bool qp_alloc_has_failed(void)
{
    return qp_load(&has_failed);
}

/* @return p */
static void *noted(void *p)
{
    if (QP_UNLIKELY(!p))
        qp_store(&has_failed, true);
    return p;
}

static bool is_to_fail(void)
{
    uint64_t n = qp_fetch_add(&n_calls, 1) + 1;
    return fail_at && (n == fail_at || (fails_for_ever && n > fail_at));
}

void *qp_alloc(size_t n, size_t bytes)
{
    return qp_realloc(NULL, n, bytes);
}

void *qp_alloc_zeroed(size_t n, size_t bytes)
{
    size_t total;
    if (is_to_fail() || __builtin_mul_overflow(n, bytes, &total) || is_over_limit(0, total))
        return noted(NULL);
    return noted(counted(calloc(total ? total : 1, 1), 0));
}

void *qp_realloc(void *p, size_t n, size_t bytes)
{
    size_t total, n_before = p ? malloc_usable_size(p) : 0;
    if (is_to_fail() || __builtin_mul_overflow(n, bytes, &total) ||
        is_over_limit(n_before, total))
        return noted(NULL);
    return noted(counted(realloc(p, total ? total : 1), n_before));
}

char *qp_alloc_text(const char *text)
{
    size_t n_bytes = strlen(text) + 1;
    char *copy = qp_alloc(n_bytes, 1);
    if (copy)
        memcpy(copy, text, n_bytes);
    return copy;
}

void qp_free(const void *p)
{
    if (p)
        qp_fetch_add(&n_taken, 0 - malloc_usable_size((void *)(uintptr_t)p));
    free((void *)(uintptr_t)p);
}

void qp_alloc_fail_after(uint64_t n, bool for_ever)
{
    n_calls = 0;
    fail_at = n;
    fails_for_ever = for_ever;
}

uint64_t qp_alloc_count(void)
{
    return qp_load(&n_calls);
}

/* ---- arenas -------------------------------------------------------------------------------- */

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
