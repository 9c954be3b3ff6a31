/* error.h: why something was refused: one text for a person, and where the mistake is. */
#ifndef QP_BASE_TEXT_ERROR_H
#define QP_BASE_TEXT_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum { QP_ERROR_BYTES = 512 };

typedef struct {
    int code;              /* 0: no error; otherwise what the function that set it documents */
    unsigned line, column; /* from 1, columns in bytes; 0: unknown */
    char text[QP_ERROR_BYTES]; /* one line without its end; "": no error */
} qp_error;

/* Replace code and text; line and column stay. Text that does not fit is cut. The arguments may
 * point into *e. @return code */
int qp_error_set(qp_error *e, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int qp_error_set_list(qp_error *e, int code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* The same with code -1. @return false */
bool qp_error_fail(qp_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return the code of a call that fails. */
#define QP_TRY(call)                                                                           \
    do {                                                                                       \
        int code_of_call = (call);                                                             \
        if (code_of_call)                                                                      \
            return code_of_call;                                                               \
    } while (0)

/* Put the place before the text: "FILE:LINE:COLUMN: text", as far as it is known. Of a long name
 * the end is kept, so that the text fits.
 * @param file  NULL: the text came from no file: "column COLUMN: text" @return e->code */
int qp_error_locate(qp_error *e, const char *file);

#endif
