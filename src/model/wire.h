/* wire.h: the fields of a message of protocol buffers, one at a time, from bytes of unknown origin. */
#ifndef QP_MODEL_WIRE_H
#define QP_MODEL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const unsigned char *at, *end;
    bool is_bad; /* what is at `at` is no field, or leads out of the message */
} qp_wire;

typedef enum {
    QP_WIRE_VARINT = 0,
    QP_WIRE_FIXED64 = 1,
    QP_WIRE_BYTES = 2,
    QP_WIRE_FIXED32 = 5
} qp_wire_kind;

typedef struct {
    uint32_t number;
    qp_wire_kind kind;
    uint64_t value; /* of all but bytes */
    qp_wire bytes;  /* what it holds, itself a message or packed numbers */
} qp_wire_field;

static inline qp_wire qp_wire_of(const void *bytes, size_t n_bytes)
{
    const unsigned char *at = bytes;
    return (qp_wire){at, at + n_bytes, false};
}

/* A number of 1 to 10 bytes. @return false: the end, or is_bad */
bool qp_wire_varint(qp_wire *w, uint64_t *value);

/* @return false: the end, or is_bad; then `at` is where the field begins */
bool qp_wire_next(qp_wire *w, qp_wire_field *f);

#endif
