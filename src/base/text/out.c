/* out.c: a buffered sink on a file descriptor that remembers its first error. */
#include "base/text/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void qp_out_init(qp_out *out, int fd)
{
    out->fd = fd;
    out->error = 0;
    out->n_bytes = 0;
}

void qp_out_flush(qp_out *out)
{
    size_t at = 0;
    while (!out->error && at < out->n_bytes) {
        ssize_t n = write(out->fd, out->bytes + at, out->n_bytes - at);
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            out->error = n == 0 ? EIO : errno;
    }
    out->n_bytes = 0;
}

void qp_out_bytes(qp_out *out, const char *bytes, size_t n_bytes)
{
    while (n_bytes > 0 && !out->error) {
        size_t n = sizeof out->bytes - out->n_bytes;
        n = n < n_bytes ? n : n_bytes;
        memcpy(out->bytes + out->n_bytes, bytes, n);
        out->n_bytes += n;
        bytes += n;
        n_bytes -= n;
        if (out->n_bytes == sizeof out->bytes)
            qp_out_flush(out);
    }
}

void qp_out_text(qp_out *out, const char *text)
{
    qp_out_bytes(out, text, strlen(text));
}

void qp_out_char(qp_out *out, char c)
{
    qp_out_bytes(out, &c, 1);
}

void qp_out_repeat(qp_out *out, char c, size_t n)
{
    while (n-- > 0)
        qp_out_char(out, c);
}

void qp_out_format(qp_out *out, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > 0)
        qp_out_bytes(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

int qp_out_close(qp_out *out)
{
    qp_out_flush(out);
    return out->error;
}
