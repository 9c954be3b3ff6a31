/* dbf.c: headers, fields and memo blocks, to and from bytes. */
#include "xbase/dbf.h"

#include <string.h>

/* ---- bytes --------------------------------------------------------------------------------- */

static void put_low(unsigned char *to, uint32_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static void put_high(unsigned char *to, uint32_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = (unsigned char)(value >> (8 * (n - 1 - i)));
}

static uint32_t get_low(const unsigned char *from, unsigned n)
{
    uint32_t value = 0;
    while (n--)
        value = value << 8 | from[n];
    return value;
}

static uint32_t get_high(const unsigned char *from, unsigned n)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value = value << 8 | from[i];
    return value;
}

/* ---- writing ------------------------------------------------------------------------------- */

uint32_t qp_dbf_place(qp_dbf_field *fields, unsigned n_fields)
{
    uint32_t at = 1;
    for (unsigned i = 0; i < n_fields; i++) {
        fields[i].at = at;
        at += fields[i].n_bytes;
    }
    return at;
}

uint32_t qp_dbf_head_bytes(unsigned n_fields)
{
    return QP_DBF_HEAD_BYTES + QP_DBF_FIELD_BYTES * n_fields + 1 + QP_DBF_LINK_BYTES;
}

void qp_dbf_put_head(unsigned char *to, const qp_dbf_field *fields, unsigned n_fields,
                     uint32_t n_records, qp_dbf_day day)
{
    const qp_dbf_field *last = &fields[n_fields - 1];
    memset(to, 0, qp_dbf_head_bytes(n_fields));
    to[0] = QP_DBF_VISUAL;
    to[1] = day.year;
    to[2] = day.month;
    to[3] = day.day;
    put_low(to + 4, n_records, 4);
    put_low(to + 8, qp_dbf_head_bytes(n_fields), 2);
    put_low(to + 10, last->at + last->n_bytes, 2);
    unsigned char *field = to + QP_DBF_HEAD_BYTES;
    for (unsigned i = 0; i < n_fields; i++, field += QP_DBF_FIELD_BYTES) {
        memcpy(field, fields[i].name, strlen(fields[i].name));
        field[11] = (unsigned char)fields[i].kind;
        put_low(field + 12, fields[i].at, 4);
        field[16] = fields[i].n_bytes;
        to[28] |= fields[i].kind == 'M' ? 2 : 0;
    }
    *field = '\r';
}

bool qp_dbf_put_number(char *to, unsigned width, uint64_t value)
{
    uint64_t most = 1;
    for (unsigned i = 0; i < width; i++)
        most *= 10;
    bool fits = value < most;
    value = fits ? value : most - 1;
    memset(to, ' ', width);
    do {
        to[--width] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return fits;
}

size_t qp_dbf_cut(const char *text, size_t n_bytes, size_t room)
{
    if (n_bytes <= room)
        return n_bytes;
    size_t n = room;
    while (n && room - n < 3 && ((unsigned char)text[n] & 0xC0) == 0x80)
        n--;
    return ((unsigned char)text[n] & 0xC0) == 0x80 ? room : n; /* no UTF-8: bytes */
}

void qp_dbf_put_text(char *to, unsigned width, const char *text, size_t n_bytes)
{
    size_t n = qp_dbf_cut(text, n_bytes, width);
    memcpy(to, text, n);
    memset(to + n, ' ', width - n);
}

void qp_dbf_put_block(char *to, uint32_t block)
{
    put_low((unsigned char *)to, block, 4);
}

void qp_memo_put_head(unsigned char *to, uint32_t next_block)
{
    memset(to, 0, QP_MEMO_HEAD_BYTES);
    put_high(to, next_block, 4);
    put_high(to + 6, QP_MEMO_BLOCK_BYTES, 2);
}

void qp_memo_put_text_head(unsigned char *to, uint32_t n_bytes)
{
    put_high(to, QP_MEMO_TEXT, 4);
    put_high(to + 4, n_bytes, 4);
}

uint32_t qp_memo_blocks(size_t n_bytes)
{
    return (uint32_t)((n_bytes + QP_MEMO_TEXT_HEAD + QP_MEMO_BLOCK_BYTES - 1) /
                      QP_MEMO_BLOCK_BYTES);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* @return bytes that the header takes; 0: the 32 bytes begin no table */
static uint32_t header_bytes(const unsigned char *h)
{
    uint32_t n_bytes = get_low(h + 8, 2);
    bool is_known = h[0] == QP_DBF_PLAIN || h[0] == QP_DBF_VISUAL || h[0] == QP_DBF_MEMO;
    return is_known && n_bytes > QP_DBF_HEAD_BYTES && get_low(h + 10, 2) > 1 ? n_bytes : 0;
}

const char *qp_dbf_read_head(qp_dbf *t, const void *head, size_t n_bytes)
{
    const unsigned char *h = head;
    if (n_bytes < QP_DBF_HEAD_BYTES || !header_bytes(h) || header_bytes(h) > n_bytes)
        return "not a FoxPro table, or cut off in its header";
    *t = (qp_dbf){.day = {h[1], h[2], h[3]}, .n_records = get_low(h + 4, 4)};
    t->header_bytes = get_low(h + 8, 2);
    t->record_bytes = get_low(h + 10, 2);
    uint32_t next = 1; /* FoxPro 2.x leaves the displacement empty */
    for (uint32_t at = QP_DBF_HEAD_BYTES;
         at + QP_DBF_FIELD_BYTES <= t->header_bytes && h[at] != '\r' && h[at];
         at += QP_DBF_FIELD_BYTES) {
        qp_dbf_field *f = &t->fields[t->n_fields];
        if (t->n_fields++ == QP_DBF_FIELDS)
            return "a table of more than 255 fields";
        memcpy(f->name, h + at, 11);
        f->kind = (char)h[at + 11];
        f->n_bytes = h[at + 16];
        f->at = next;
        next += f->n_bytes;
    }
    if (!t->n_fields || next > t->record_bytes)
        return "a table whose fields do not fit its records";
    return NULL;
}

const qp_dbf_field *qp_dbf_find(const qp_dbf *t, const char *name)
{
    for (unsigned i = 0; i < t->n_fields; i++)
        if (strcmp(t->fields[i].name, name) == 0)
            return &t->fields[i];
    return NULL;
}

size_t qp_dbf_text(const qp_dbf_field *f, const char *record, const char **text)
{
    size_t n = f->n_bytes;
    *text = record + f->at;
    while (n && ((*text)[n - 1] == ' ' || (*text)[n - 1] == '\0'))
        n--;
    return n;
}

bool qp_dbf_number(const qp_dbf_field *f, const char *record, uint64_t *number)
{
    const char *at = record + f->at, *end = at + f->n_bytes;
    uint64_t value = 0;
    while (at < end && *at == ' ')
        at++;
    bool has_digit = at < end && *at >= '0' && *at <= '9';
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (at < end && *at == '.')
        for (at++; at < end && *at >= '0' && *at <= '9';)
            at++;
    while (at < end && (*at == ' ' || *at == '\0'))
        at++;
    *number = value;
    return has_digit && at == end;
}

uint32_t qp_dbf_block(const qp_dbf_field *f, const char *record)
{
    uint64_t number = 0;
    if (f->n_bytes == 4)
        return get_low((const unsigned char *)record + f->at, 4);
    return qp_dbf_number(f, record, &number) && number <= UINT32_MAX ? (uint32_t)number : 0;
}

uint32_t qp_memo_block_bytes(const void *head)
{
    return get_high((const unsigned char *)head + 6, 2);
}

uint32_t qp_memo_text_bytes(const void *text_head)
{
    const unsigned char *h = text_head;
    return get_high(h, 4) == QP_MEMO_TEXT ? get_high(h + 4, 4) : 0;
}
