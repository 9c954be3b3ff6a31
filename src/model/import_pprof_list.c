/* import_pprof_list.c: the messages of a profile.proto, whatever order they come in. */
#include <string.h>

#include "model/import_pprof.h"
#include "model/pprof_fields.h"

/* ---- errors ---------------------------------------------------------------------------------- */

bool qp_pprof_refuse(qp_pprof *p, const unsigned char *at, const char *what)
{
    qp_text_format(p->error, QP_ERROR_BYTES, "at byte %zu of its unpacked data: %s",
                   (size_t)(at - p->begin), what);
    return false;
}

bool qp_pprof_refuse_damage(qp_pprof *p, const qp_wire *w)
{
    return qp_pprof_refuse(p, w->at, "a field that is damaged or cut off");
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool read_type(qp_pprof *p, qp_wire w, qp_pprof_type *out)
{
    *out = (qp_pprof_type){0, 0};
    for (qp_wire_field f; qp_wire_next(&w, &f);) {
        if (f.number == TYPE_TYPE)
            out->type = f.value;
        else if (f.number == TYPE_UNIT)
            out->unit = f.value;
    }
    return !w.is_bad || qp_pprof_refuse_damage(p, &w);
}

static bool read_sample_type(qp_pprof *p, qp_wire w)
{
    if (p->n_types == QP_PPROF_TYPES)
        return qp_pprof_refuse(p, w.at, "more than 64 sample types");
    return read_type(p, w, &p->types[p->n_types++]);
}

/* Remember an item under its id. */
static void put(qp_pprof *p, qp_dict *index, uint64_t id, const qp_buf *items)
{
    p->im->failed |= items->failed || !qp_dict_put(index, id, (uint32_t)items->n);
}

static bool read_mapping(qp_pprof *p, qp_wire w)
{
    uint64_t id = 0, *file = qp_buf_add(&p->mappings);
    for (qp_wire_field f; qp_wire_next(&w, &f);) {
        if (f.number == MAPPING_ID)
            id = f.value;
        else if (f.number == MAPPING_FILE && file)
            *file = f.value;
    }
    put(p, &p->mapping_of, id, &p->mappings);
    return !w.is_bad || qp_pprof_refuse_damage(p, &w);
}

/* Lines beyond what a table of ours can hold are not known. */
static uint32_t line_number(uint64_t value)
{
    return value <= INT32_MAX ? (uint32_t)value : 0;
}

static bool read_function(qp_pprof *p, qp_wire w)
{
    uint64_t id = 0;
    qp_pprof_function fn = {0};
    for (qp_wire_field f; qp_wire_next(&w, &f);) {
        switch (f.number) {
        case FUNCTION_ID:
            id = f.value;
            break;
        case FUNCTION_NAME:
            fn.name = f.value;
            break;
        case FUNCTION_SYSTEM_NAME:
            fn.system_name = f.value;
            break;
        case FUNCTION_FILE:
            fn.file = f.value;
            break;
        case FUNCTION_LINE:
            fn.first_line = line_number(f.value);
            break;
        default:
            break;
        }
    }
    qp_pprof_function *to = qp_buf_add(&p->functions);
    if (to)
        *to = fn;
    put(p, &p->function_of, id, &p->functions);
    return !w.is_bad || qp_pprof_refuse_damage(p, &w);
}

static bool read_line(qp_pprof *p, qp_wire w)
{
    qp_pprof_line *to = qp_buf_add(&p->lines);
    for (qp_wire_field f; qp_wire_next(&w, &f);) {
        if (f.number == LINE_FUNCTION && to)
            to->function = f.value;
        else if (f.number == LINE_LINE && to)
            to->line = line_number(f.value);
    }
    return !w.is_bad || qp_pprof_refuse_damage(p, &w);
}

static bool read_location(qp_pprof *p, qp_wire w)
{
    uint64_t id = 0;
    qp_pprof_location at = {.first_line = p->lines.n};
    for (qp_wire_field f; qp_wire_next(&w, &f);) {
        if (f.number == LOCATION_ID)
            id = f.value;
        else if (f.number == LOCATION_MAPPING)
            at.mapping = f.value;
        else if (f.number == LOCATION_ADDRESS)
            at.address = f.value;
        else if (f.number == LOCATION_LINE && !read_line(p, f.bytes))
            return false;
    }
    at.n_lines = p->lines.n - at.first_line;
    qp_pprof_location *to = qp_buf_add(&p->locations);
    if (to)
        *to = at;
    put(p, &p->location_of, id, &p->locations);
    return !w.is_bad || qp_pprof_refuse_damage(p, &w);
}

static bool keep_bytes(qp_buf *to, qp_wire bytes)
{
    qp_wire *w = qp_buf_add(to);
    if (w)
        *w = bytes;
    return true;
}

static bool read_field(qp_pprof *p, const qp_wire_field *f)
{
    switch (f->number) {
    case PROFILE_SAMPLE_TYPE:
        return read_sample_type(p, f->bytes);
    case PROFILE_SAMPLE:
        return keep_bytes(&p->samples, f->bytes);
    case PROFILE_MAPPING:
        return read_mapping(p, f->bytes);
    case PROFILE_LOCATION:
        return read_location(p, f->bytes);
    case PROFILE_FUNCTION:
        return read_function(p, f->bytes);
    case PROFILE_STRING:
        return keep_bytes(&p->strings, f->bytes);
    case PROFILE_TIME:
        p->im->head.started_at = f->value <= INT64_MAX ? f->value : 0;
        return true;
    case PROFILE_DURATION:
        p->im->head.end_raw = f->value <= INT64_MAX ? f->value : 0;
        return true;
    case PROFILE_PERIOD_TYPE:
        return read_type(p, f->bytes, &p->period_type);
    case PROFILE_PERIOD:
        p->im->head.sample_period = f->value <= INT64_MAX ? f->value : 0;
        return true;
    case PROFILE_DEFAULT_TYPE:
        p->default_type = f->value;
        return true;
    default:
        return true;
    }
}

bool qp_pprof_list(qp_pprof *p, qp_wire w)
{
    for (qp_wire_field f; qp_wire_next(&w, &f);)
        if (!read_field(p, &f))
            return false;
    if (w.is_bad)
        return qp_pprof_refuse_damage(p, &w);
    p->texts.failed |= p->strings.n && !qp_buf_add_many(&p->texts, p->strings.n);
    p->im->failed |= p->strings.failed || p->texts.failed || p->samples.failed ||
                     p->functions.failed || p->locations.failed || p->lines.failed ||
                     p->mappings.failed;
    return true;
}

/* Each is copied once. */
const char *qp_pprof_text(qp_pprof *p, uint64_t place)
{
    if (place >= p->strings.n && place > p->missing_text)
        p->missing_text = place;
    if (place >= p->strings.n || p->im->failed)
        return "";
    const char **text = (const char **)p->texts.items + place;
    const qp_wire *w = (const qp_wire *)p->strings.items + place;
    if (!*text)
        *text = qp_import_text(p->im, w->at, (size_t)(w->end - w->at));
    return *text ? *text : "";
}

/* ---- is it one? ------------------------------------------------------------------------------ */

/* The kind that a field of a profile has, by its number. */
static bool is_kind_right(const qp_wire_field *f)
{
    static const unsigned messages = 1u << PROFILE_SAMPLE_TYPE | 1u << PROFILE_SAMPLE |
                                     1u << PROFILE_MAPPING | 1u << PROFILE_LOCATION |
                                     1u << PROFILE_FUNCTION | 1u << PROFILE_STRING |
                                     1u << PROFILE_PERIOD_TYPE;
    if (f->number == PROFILE_COMMENT) /* packed or not */
        return f->kind == QP_WIRE_BYTES || f->kind == QP_WIRE_VARINT;
    return f->number <= PROFILE_LAST &&
           f->kind == (messages >> f->number & 1 ? QP_WIRE_BYTES : QP_WIRE_VARINT);
}

bool qp_import_pprof_fits(const unsigned char *bytes, size_t n_bytes)
{
    enum { ENOUGH = 3 };
    qp_wire w = qp_wire_of(bytes, n_bytes);
    uint32_t n_fields = 0;
    for (qp_wire_field f; qp_wire_next(&w, &f); n_fields++)
        if (!is_kind_right(&f))
            return false;
    return n_fields >= ENOUGH;
}
