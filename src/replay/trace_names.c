/* trace_names.c: the dictionary of a .qtrace file, as its packets bring it. */
#include "replay/trace_parts.h"

/* What is left of a payload; `at` NULL: it made no sense. */
typedef struct {
    const unsigned char *at, *end;
} cursor;

static uint64_t take_number(cursor *c)
{
    uint64_t value = 0;
    size_t n = c->at ? qp_unpack_varint(c->at, (size_t)(c->end - c->at), &value) : 0;
    c->at = n ? c->at + n : NULL;
    return value;
}

static uint32_t take_cell(cursor *c)
{
    uint64_t value = take_number(c);
    if (value > UINT32_MAX)
        c->at = NULL;
    return (uint32_t)value;
}

static qp_name take_text(cursor *c)
{
    uint64_t n = take_number(c);
    if (!c->at || n > (size_t)(c->end - c->at)) {
        c->at = NULL;
        return (qp_name){"", 0};
    }
    qp_name text = {(const char *)c->at, (size_t)n};
    c->at += n;
    return text;
}

static void take_method(qp_names *t, cursor *c)
{
    qp_method_names m;
    uint32_t cell = take_cell(c);
    m.id = take_number(c);
    m.flags = take_cell(c);
    m.first_line = take_cell(c);
    m.name = take_text(c);
    m.class_name = take_text(c);
    m.file = take_text(c);
    m.module = take_text(c);
    if (c->at && cell)
        qp_names_add_method(t, cell, &m);
}

static void take_path(qp_names *t, cursor *c)
{
    uint32_t cell = take_cell(c), caller = take_cell(c), method = take_cell(c);
    if (c->at && cell)
        qp_names_add_path(t, cell, caller, method);
}

static void take_thread(qp_names *t, cursor *c)
{
    qp_trace_thread th = {0};
    uint32_t cell = take_cell(c);
    th.ordinal = take_cell(c);
    th.host_id = take_number(c);
    th.vt_id = take_number(c);
    th.system_id = take_number(c);
    th.root_cell = take_cell(c);
    qp_name given = take_text(c);
    if (c->at && cell)
        qp_names_add_thread(t, cell, &th, given);
}

static void take_string(qp_names *t, cursor *c)
{
    uint32_t ref = take_cell(c);
    qp_name text = take_text(c);
    if (c->at && ref)
        qp_names_add_text(t, ref, text);
}

void qp_packet_names(qp_trace *t, const unsigned char *payload, size_t n_bytes,
                     uint32_t n_entries)
{
    cursor c = {payload, payload + n_bytes};
    while (n_entries-- > 0 && c.at && c.at < c.end) {
        switch ((qp_names_kind)*c.at++) {
        case QP_NAMES_METHOD:
            take_method(&t->names, &c);
            break;
        case QP_NAMES_PATH:
            take_path(&t->names, &c);
            break;
        case QP_NAMES_THREAD:
            take_thread(&t->names, &c);
            break;
        case QP_NAMES_TEXT:
            take_string(&t->names, &c);
            break;
        default:
            c.at = NULL;
        }
    }
    t->losses.n_damaged += c.at == NULL;
}
