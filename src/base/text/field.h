/* field.h: one table of fields for the rows of a report. The columns of text, the keys of JSON, the
 * header of CSV and the JSON schema all follow from it.
 *
 * A row is a struct; a field names a value and where in the struct it lies. A command fills one row
 * after the other and gives it to the writer of the form that the user wants:
 *
 *     static const qp_field fields[] = {
 *         {"name", "Function", "display name", QP_FIELD_NAME, QP_FIELD_AT(row, name)},
 *         {"calls", "Calls", "calls of it", QP_FIELD_COUNT, QP_FIELD_AT(row, calls)},
 *         {.key = NULL}};
 *
 * Times in a row are in the run's unit, not in ticks. */
#ifndef QP_BASE_TEXT_FIELD_H
#define QP_BASE_TEXT_FIELD_H

#include "base/text/json.h"
#include "base/text/table_text.h"
#include "base/text/unit.h"

typedef enum {
    QP_FIELD_NAME,    /* const char *: a text of the host, cut at its end in columns */
    QP_FIELD_PLACE,   /* the same: "file:line", cut at its beginning */
    QP_FIELD_TEXT,    /* the same, whole where there is room */
    QP_FIELD_WORD,    /* const char *: a text of the tool */
    QP_FIELD_CHOICE,  /* an enum: which of `words`; an empty one is null */
    QP_FIELD_COUNT,   /* unsigned, 1 to 8 bytes */
    QP_FIELD_CHANGE,  /* signed, 4 or 8 bytes */
    QP_FIELD_TIME,    /* uint64_t: a column is in one unit, which its head names */
    QP_FIELD_SPAN,    /* uint64_t: a time in the unit that fits it */
    QP_FIELD_PERCENT, /* double */
    QP_FIELD_YES,     /* bool; in text `words` or "" */
    QP_FIELD_MOMENT,  /* uint64_t: ns since 1970; 0: null */
    QP_FIELD_PART,    /* a struct whose fields, `sub`, are fields of this row */
    QP_FIELD_OBJECT, /* a struct with the fields `sub`; if QP_FIELD_NULLABLE a pointer to one; or what
                      * `write` writes */
    QP_FIELD_ROWS, /* an array: `rows`, or rows with the fields `sub`: QP_FIELD_ITEMS, or what `write`
                    * writes */
    QP_FIELD_TEXTS, /* an array of texts: QP_FIELD_ITEMS, or what `write` writes */
    QP_FIELD_COUNTS /* counts that are not 0, by name, which `write` writes */
} qp_field_kind;

enum {
    QP_FIELD_NULLABLE = 1, /* UINT64_MAX and, of texts, "" are null */
    QP_FIELD_OPTIONAL = 2, /* the key is missing where the rows do not have what it needs */
    QP_FIELD_HOT = 4,      /* the column is in the style of the row */
    QP_FIELD_NO_JSON = 8,  /* only in text and CSV */
    QP_FIELD_BLANK = 16,   /* in text nothing, instead of "-", where there is no number */
    QP_FIELD_RIGHT = 32,   /* a text that is aligned as numbers are */
    QP_FIELD_DIM = 64,     /* the column is dim, as places are */
    QP_FIELD_UNIT = 128,   /* a change of a time: CSV adds the unit to its name */
    QP_FIELD_SIGNED = 256, /* a percentage that may be less than 0 */
    QP_FIELDS_MOST = 40    /* columns of a table */
};
#define QP_FIELD_NONE                                                                          \
    UINT64_MAX /* a number that is null: empty in CSV, "-" in text; a percentage: -1 */

typedef struct qp_field {
    const char *key;   /* of JSON and CSV; NULL ends a table. CSV adds the unit to a time's */
    const char *title; /* of the column; "±": the sign of intervals; NULL: as the key */
    const char *help;  /* a noun phrase, for the schema */
    qp_field_kind kind;
    uint16_t at, bytes; /* of the row: QP_FIELD_AT */
    uint16_t least;     /* value that is allowed */
    uint16_t flags, rank /* of the column: see table_text.h */;
    unsigned needs;    /* bits of what the rows must have, else the field is left out */
    const char *words; /* "a|b": all values; "^…": their pattern; of QP_FIELD_YES its text */
    const struct qp_field *sub;
    void (*write)(qp_json *json, const void *row); /* elements, into the open bracket */
    const struct qp_rows *rows;         /* of QP_FIELD_ROWS, in place of sub and write */
    uint16_t item_bytes, n_at, n_bytes; /* of the items that `at` points to */
    uint16_t
        half_at; /* in text, of a time, span or percentage: half of its interval, as large and
                       * in the same struct; digits that it leaves open are not shown. 0: exact */
} qp_field;

/* The rows of a report, for every form of it. */
typedef struct qp_rows {
    const qp_field *fields;
    size_t bytes; /* of a row */
    /* Fill a row, which is zeroed; its texts are borrowed from data or lie in the row itself.
     * @param data  of a QP_FIELD_ROWS where the field lies in its row
     * @param at    0 for the first row; next() moves it on
     * @return false: there are no more rows */
    bool (*next)(const void *data, size_t *at, void *row);
    qp_style (*style)(const void *row); /* in text, of fields with QP_FIELD_HOT; NULL: plain */
    unsigned (*has)(const void *data, const void *row); /* in JSON, what it has; NULL: all */
} qp_rows;

enum { QP_ROW_BYTES = 8192 };
/* sizeof(type), which may be at most QP_ROW_BYTES. */
#define QP_ROW_SIZE(type)                                                                      \
    sizeof(struct {                                                                            \
        _Static_assert(sizeof(type) <= QP_ROW_BYTES, "a row is too large");                    \
        type row;                                                                              \
    })
/* Rows of a type; `.style =` and `.has =` may follow. */
#define QP_ROWS(table, type, next_row, ...)                                                    \
    {                                                                                          \
        .fields = table, .bytes = QP_ROW_SIZE(type), .next = next_row, __VA_ARGS__             \
    }

#define QP_FIELD_AT(type, member)                                                              \
    .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)
#define QP_FIELD_HALF(type, member) .half_at = offsetof(type, member)
/* An array that the row points to, and the member with its length. */
#define QP_FIELD_ITEMS(type, member, length)                                                   \
    QP_FIELD_AT(type, member), .item_bytes = sizeof *((type *)0)->member,                      \
                               .n_at = offsetof(type, length),                                 \
                               .n_bytes = sizeof(((type *)0)->length)

/* Fields of a table that a form shows, those of QP_FIELD_PART among them. */
typedef struct {
    struct {
        const qp_field *field;
        size_t at;        /* of the row */
        const char *name; /* [n_name] head of the CSV column */
        int n_name;
    } items[QP_FIELDS_MOST];
    size_t n;
} qp_field_list;

/* @param order  keys with a blank between; "key:name" gives the CSV column another name; NULL: all, in
 *               the order of the table
 * @param has    bits; a field that needs others is left out; QP_FIELDS_ALL: none is */
qp_field_list qp_fields_choose(const qp_field *fields, const char *order, unsigned has);
#define QP_FIELDS_ALL (~0u)

/* A number, a claim or a moment. @param at  where it lies */
uint64_t qp_field_count(const qp_field *f, const void *at);

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Write the row's members into the object that is open. */
void qp_fields_json(qp_json *json, const qp_field *fields, unsigned has, const void *row);
/* Write the row as an object. @param key  NULL: an element of an array, or the whole */
void qp_row_json(qp_json *json, const char *key, const qp_field *fields, unsigned has,
                 const void *row);
/* Write a whole document. */
void qp_document_json(qp_out *out, const qp_field *fields, const void *row);
/* Write the JSON Schema of such an object. */
void qp_fields_schema(qp_out *out, const qp_field *fields, const char *title);

/* ---- CSV ------------------------------------------------------------------------------------- */

typedef struct {
    qp_out *out;
    qp_field_list list;
} qp_csv;

/* Write the header. @param unit  of times: "ns", "counts", … */
void qp_csv_begin(qp_csv *csv, qp_out *out, const qp_field *fields, const char *order,
                  unsigned has, const char *unit);
void qp_csv_row(const qp_csv *csv, const void *row);
/* Write the header and all rows. */
void qp_rows_csv(qp_out *out, const qp_rows *rows, const void *data, const char *order,
                 unsigned has, const char *unit);

/* ---- text ------------------------------------------------------------------------------------ */

typedef struct {
    const qp_screen *screen;
    qp_table table;
    qp_field_list list;
    qp_unit unit;    /* of QP_FIELD_TIME */
    bool is_dim;     /* the rows that are added: all their fields are */
    bool has_halves; /* there is a column of intervals */
    char heads[QP_TABLE_COLUMNS][48];
} qp_listing;

/* Begin a table of text. @param unit  of its columns of times */
void qp_listing_begin(qp_listing *l, const qp_screen *s, const qp_field *fields,
                      const char *order, unsigned has, qp_unit unit);
/* Give a column another title. */
void qp_listing_title(qp_listing *l, const char *key, const char *title);
/* Add a row. @param style  of the fields with QP_FIELD_HOT */
void qp_listing_row(qp_listing *l, const void *row, qp_style style);
/* Add all rows. */
void qp_listing_rows(qp_listing *l, const qp_rows *rows, const void *data);
/* Print the table and free it. @return false: no memory */
bool qp_listing_end(qp_listing *l, unsigned indent);
/* Print a table of all rows. @return false: no memory */
bool qp_rows_text(const qp_screen *s, const qp_rows *rows, const void *data, const char *order,
                  unsigned has, qp_unit unit);

#endif
