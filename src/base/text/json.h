/* json.h: writing JSON. The writer sets commas and line ends, the caller chooses the shape. */
#ifndef QP_BASE_TEXT_JSON_H
#define QP_BASE_TEXT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/out.h"

enum { QP_JSON_DEPTH = 16 };

typedef struct {
    qp_out *out;
    unsigned depth;
    bool is_line; /* all of it on one line; the caller may set it at the beginning */
    bool has_items[QP_JSON_DEPTH]; /* of the array or object at this depth */
} qp_json;

void qp_json_init(qp_json *json, qp_out *out);

/* `key` NULL: an element of an array, or the whole. Rows begin on a line of their own. */
void qp_json_begin(qp_json *json, const char *key, char bracket); /* '{' or '[' */
void qp_json_end(qp_json *json, char bracket);                    /* '}' or ']' */
/* Begin an element of an array, on a line of its own; the caller writes it to json->out. */
void qp_json_row(qp_json *json);
void qp_json_text(qp_json *json, const char *key, const char *value); /* NULL: null */
/* The parts of a text between commas, as elements of an array; each is cut to 4 KiB. */
void qp_json_parts(qp_json *json, const char *text);
void qp_json_count(qp_json *json, const char *key, uint64_t value);
void qp_json_change(qp_json *json, const char *key, int64_t value);
void qp_json_number(qp_json *json, const char *key, double value); /* finite */
/* value / 10^n_digits, exact: "12.345" of 12345 and 3. At most 18 digits. */
void qp_json_decimal(qp_json *json, const char *key, uint64_t value, unsigned n_digits);
void qp_json_bool(qp_json *json, const char *key, bool value);
/* ns since 1970 as a text in UTC, for they do not fit a double; 0: null */
void qp_json_moment(qp_json *json, const char *key, uint64_t ns);
void qp_json_null(qp_json *json, const char *key);

#endif
