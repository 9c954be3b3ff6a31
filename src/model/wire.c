/* wire.c: see wire.h. */
#include "model/wire.h"

bool qp_wire_varint(qp_wire *w, uint64_t *value)
{
    enum { MOST_BITS = 64 };
    const unsigned char *at = w->at;
    *value = 0;
    for (unsigned shift = 0; at < w->end && shift < MOST_BITS; shift += 7) {
        *value |= (uint64_t)(*at & 0x7F) << shift;
        if (*at++ < 0x80) {
            w->at = at;
            return true;
        }
    }
    w->is_bad = w->at < w->end;
    return false;
}

static bool take_fixed(qp_wire *w, unsigned n_bytes, uint64_t *value)
{
    *value = 0;
    if ((size_t)(w->end - w->at) < n_bytes)
        return false;
    for (unsigned i = 0; i < n_bytes; i++)
        *value |= (uint64_t)*w->at++ << 8 * i;
    return true;
}

static bool take_bytes(qp_wire *w, qp_wire *bytes)
{
    uint64_t n;
    if (!qp_wire_varint(w, &n) || n > (uint64_t)(w->end - w->at))
        return false;
    *bytes = qp_wire_of(w->at, (size_t)n);
    w->at += n;
    return true;
}

bool qp_wire_next(qp_wire *w, qp_wire_field *f)
{
    const unsigned char *begin = w->at;
    uint64_t key;
    if (w->is_bad || !qp_wire_varint(w, &key))
        return false;
    *f = (qp_wire_field){.number = (uint32_t)(key >> 3), .kind = (qp_wire_kind)(key & 7)};
    bool is_good = key >> 3 > 0 && key >> 3 < 1u << 29;
    if (is_good)
        is_good = f->kind == QP_WIRE_VARINT    ? qp_wire_varint(w, &f->value)
                  : f->kind == QP_WIRE_FIXED64 ? take_fixed(w, 8, &f->value)
                  : f->kind == QP_WIRE_FIXED32 ? take_fixed(w, 4, &f->value)
                  : f->kind == QP_WIRE_BYTES   ? take_bytes(w, &f->bytes)
                                               : false;
    if (!is_good) {
        w->is_bad = true;
        w->at = begin;
    }
    return is_good;
}
