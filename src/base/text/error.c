/* error.c: see error.h. */
#include "base/text/error.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 100 }; /* of a file, in a text that a host may cut at 256 bytes */

int qp_error_set_list(qp_error *e, int code, const char *format, va_list args)
{
    char text[QP_ERROR_BYTES];
    vsnprintf(text, sizeof text, format, args);
    memcpy(e->text, text, sizeof text);
    e->code = code;
    return code;
}

int qp_error_set(qp_error *e, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    qp_error_set_list(e, code, format, args);
    va_end(args);
    return code;
}

bool qp_error_fail(qp_error *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    qp_error_set_list(e, -1, format, args);
    va_end(args);
    return false;
}

int qp_error_locate(qp_error *e, const char *file)
{
    if (!file)
        return qp_error_set(e, e->code, "column %u: %s", e->column, e->text);
    size_t n = strlen(file);
    const char *cut = n > NAME_BYTES ? "..." : "";
    file += n > NAME_BYTES ? n - NAME_BYTES : 0;
    if (!e->line)
        return qp_error_set(e, e->code, "%s%s: %s", cut, file, e->text);
    if (!e->column)
        return qp_error_set(e, e->code, "%s%s:%u: %s", cut, file, e->line, e->text);
    return qp_error_set(e, e->code, "%s%s:%u:%u: %s", cut, file, e->line, e->column, e->text);
}
