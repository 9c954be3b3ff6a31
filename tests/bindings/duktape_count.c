/* duktape_count.c: an independent count of calls, compiled into an unpatched Duktape by duktape_count.sh.
 *
 * Every call passes duk__handle_call_raw(), which counts when it has found the target. The file
 * DUKTAPE_COUNTS gets a line for each function: kind, name, file, line of its first instruction, count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_ROWS = 1 << 16 };

static struct {
    char text[300];
    unsigned long n;
} count_rows[COUNT_ROWS];

static void count_write(void)
{
    const char *file = getenv("DUKTAPE_COUNTS");
    FILE *out = file ? fopen(file, "w") : NULL;
    for (int i = 0; out && i < COUNT_ROWS; i++)
        if (count_rows[i].n)
            fprintf(out, "%s\t%lu\n", count_rows[i].text, count_rows[i].n);
    if (out)
        fclose(out);
}

static const char *count_property(duk_hthread *thr, duk_hobject *f, duk_small_uint_t name)
{
    duk_tval *v = duk_hobject_find_entry_tval_ptr_stridx(thr->heap, f, name);
    return v && DUK_TVAL_IS_STRING(v)
               ? (const char *)DUK_HSTRING_GET_DATA(DUK_TVAL_GET_STRING(v))
               : "";
}

static void count_call(duk_hthread *thr, duk_hobject *f)
{
    static int is_begun;
    char text[300];
    unsigned long hash = 5381;
    if (!is_begun++)
        atexit(count_write);
    if (!f) {
        strcpy(text, "C\t\t\t0");
    } else if (DUK_HOBJECT_IS_COMPFUNC(f)) {
        duk_tval *v =
            duk_hobject_find_entry_tval_ptr_stridx(thr->heap, f, DUK_STRIDX_INT_PC2LINE);
        const duk_uint32_t *lines =
            v ? (duk_uint32_t *)DUK_HBUFFER_FIXED_GET_DATA_PTR(
                    thr->heap, (duk_hbuffer_fixed *)DUK_TVAL_GET_BUFFER(v))
              : NULL;
        snprintf(text, sizeof text, "JS\t%.80s\t%.150s\t%lu",
                 count_property(thr, f, DUK_STRIDX_NAME),
                 count_property(thr, f, DUK_STRIDX_FILE_NAME),
                 lines ? (unsigned long)lines[1] : 0ul);
    } else {
        snprintf(text, sizeof text, "C\t%.80s\t\t0", count_property(thr, f, DUK_STRIDX_NAME));
    }
    for (const char *c = text; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    while (count_rows[hash % COUNT_ROWS].n &&
           strcmp(count_rows[hash % COUNT_ROWS].text, text) != 0)
        hash++;
    strcpy(count_rows[hash % COUNT_ROWS].text, text);
    count_rows[hash % COUNT_ROWS].n++;
}
