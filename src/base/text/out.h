/* out.h: where the tool's output goes. The one home of formatted printing.
 *
 * A sink is sticky: write freely, test once with qp_out_close(). After the first error it drops
 * everything, so that a reader that has ended costs nothing more. */
#ifndef QP_BASE_TEXT_OUT_H
#define QP_BASE_TEXT_OUT_H

#include <stddef.h>

typedef struct {
    int fd;    /* borrowed */
    int error; /* errno of the first failed write; 0: none */
    size_t n_bytes;
    char bytes[1 << 16];
} qp_out;

void qp_out_init(qp_out *out, int fd);

void qp_out_bytes(qp_out *out, const char *bytes, size_t n_bytes);
void qp_out_text(qp_out *out, const char *text);
void qp_out_char(qp_out *out, char c);
void qp_out_repeat(qp_out *out, char c, size_t n);
/* Lines of any length; longer than 4 KiB they are cut. */
void qp_out_format(qp_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write what is buffered. */
void qp_out_flush(qp_out *out);

/* Flush. @return 0, or the errno of the first write that failed; EPIPE: the reader has ended */
int qp_out_close(qp_out *out);

#endif
