/* alloc.c: the one place where the tool gets memory. */
#include "base/containers/alloc.h"

#include <stdlib.h>
#include <string.h>

static uint64_t n_calls, fail_at;
static bool fails_for_ever;

static bool is_to_fail(void)
{
    n_calls++;
    return fail_at && (n_calls == fail_at || (fails_for_ever && n_calls > fail_at));
}

void *qp_alloc(size_t n, size_t bytes)
{
    return qp_realloc(NULL, n, bytes);
}

void *qp_alloc_zeroed(size_t n, size_t bytes)
{
    return is_to_fail() ? NULL : calloc(n ? n : 1, bytes ? bytes : 1);
}

void *qp_realloc(void *p, size_t n, size_t bytes)
{
    size_t total;
    if (is_to_fail() || __builtin_mul_overflow(n, bytes, &total))
        return NULL;
    return realloc(p, total ? total : 1);
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
    return n_calls;
}
