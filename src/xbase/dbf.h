/* dbf.h: the bytes of FoxPro tables (DBF) and of their memo files (FPT).
 *
 * Visual FoxPro's variant, 0x30, is written; that, 0x03 and 0xF5 are read. They may be damaged:
 * no function reads beyond the bytes that it was given. */
#ifndef QP_XBASE_DBF_H
#define QP_XBASE_DBF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QP_DBF_PLAIN = 0x03,
    QP_DBF_VISUAL = 0x30,
    QP_DBF_MEMO = 0xF5,
    QP_DBF_END = 0x1A, /* one byte after the last record */
    QP_DBF_FIELDS = 255,
    QP_DBF_HEAD_BYTES = 32,
    QP_DBF_FIELD_BYTES = 32,
    QP_DBF_LINK_BYTES = 263,
    QP_MEMO_HEAD_BYTES = 512,
    QP_MEMO_BLOCK_BYTES = 64,
    QP_MEMO_TEXT_HEAD = 8,
    QP_MEMO_TEXT = 1 /* kind of a block */
};

typedef struct {
    char name[12];   /* with a NUL */
    char kind;       /* C, N, M, ... */
    uint8_t n_bytes; /* in the record */
    uint32_t at;     /* displacement in the record; 0 is the delete flag */
} qp_dbf_field;

/* A day, as headers have it. */
typedef struct {
    uint8_t year; /* less 1900 */
    uint8_t month, day;
} qp_dbf_day;

typedef struct {
    qp_dbf_day day;     /* of the last change, by the header: any bytes */
    uint32_t n_records; /* by the header: the file may have fewer */
    uint32_t header_bytes, record_bytes;
    unsigned n_fields;
    qp_dbf_field fields[QP_DBF_FIELDS];
} qp_dbf;

/* ---- writing ------------------------------------------------------------------------------- */

/* Place the fields in a row. @return bytes of a record */
uint32_t qp_dbf_place(qp_dbf_field *fields, unsigned n_fields);

/* @return bytes of a header of that many fields */
uint32_t qp_dbf_head_bytes(unsigned n_fields);

/* Write the header of placed fields. @param to [qp_dbf_head_bytes(n_fields)] */
void qp_dbf_put_head(unsigned char *to, const qp_dbf_field *fields, unsigned n_fields,
                     uint32_t n_records, qp_dbf_day day);

/* Write a number at the right of its field. @return false: it does not fit, and the largest number
 * that does is written */
bool qp_dbf_put_number(char *to, unsigned width, uint64_t value);

/* Write a text, cut at a whole character of UTF-8, and blanks up to the width. */
void qp_dbf_put_text(char *to, unsigned width, const char *text, size_t n_bytes);

/* @return bytes of the longest beginning of text that takes at most `room` and cuts no character */
size_t qp_dbf_cut(const char *text, size_t n_bytes, size_t room);

void qp_dbf_put_block(char *to, uint32_t block);

/* Write the head of a memo file; of one text in it. @param to [512]; [8] */
void qp_memo_put_head(unsigned char *to, uint32_t next_block);
void qp_memo_put_text_head(unsigned char *to, uint32_t n_bytes);
/* @return blocks that a text takes */
uint32_t qp_memo_blocks(size_t n_bytes);

/* ---- reading ------------------------------------------------------------------------------- */

/* Read a header of n_bytes. @return NULL, or what is wrong: static text */
const char *qp_dbf_read_head(qp_dbf *t, const void *head, size_t n_bytes);

/* @return NULL: no such field */
const qp_dbf_field *qp_dbf_find(const qp_dbf *t, const char *name);

/* Find the text of a field in its record. @return bytes, without the blanks at its end */
size_t qp_dbf_text(const qp_dbf_field *f, const char *record, const char **text);

/* Read a whole number; decimals are cut. @return false: the field has none */
bool qp_dbf_number(const qp_dbf_field *f, const char *record, uint64_t *number);

/* @return the block of a memo field, binary or digits; 0: none */
uint32_t qp_dbf_block(const qp_dbf_field *f, const char *record);

/* @return bytes of a block, by the head of the memo file; 0: it is none. @param head [512] */
uint32_t qp_memo_block_bytes(const void *head);
/* @return bytes of the text whose 8 bytes of head these are; 0: no text */
uint32_t qp_memo_text_bytes(const void *text_head);

#endif
