/* pprof.c: imports pprof's profile.proto. A sample is a call path with labels that name its
 * thread.
 *
 * Messages refer to each other by ids and by indices into the table of strings, so list_all()
 * lists them before the samples are read. Start reading at read_sample(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/import/gather.h"
#include "model/import/pprof_fields.h"

typedef struct {
    const unsigned char *at, *end;
    bool is_bad; /* what is at `at` is no field, or leads out of the message */
} wire;

typedef enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 } wire_kind;

typedef struct {
    uint32_t number;
    wire_kind kind;
    uint64_t value; /* of all but bytes */
    wire bytes;     /* what it holds, itself a message or packed numbers */
} wire_field;

static inline wire wire_of(const void *bytes, size_t n_bytes)
{
    const unsigned char *at = bytes;
    return (wire){at, at + n_bytes, false};
}

enum { TYPES_MAX = 64 }; /* at most */

typedef struct {
    uint64_t type, unit; /* places of strings */
} pprof_type;

typedef struct {
    uint64_t name, system_name, file;
    uint32_t first_line;
    uint32_t method; /* 0: not used so far */
} pprof_function;

typedef struct {
    uint64_t mapping, address;
    size_t first_line, n_lines; /* in lines, innermost first */
    uint32_t method;            /* of one without lines */
} pprof_location;

typedef struct {
    uint64_t function;
    uint32_t line;
} pprof_line;

typedef struct {
    qp_import *im;
    const unsigned char *begin;
    qp_error *error;
    qp_buf strings; /* wire */
    qp_buf texts;   /* const char *: the strings that were used */
    qp_buf samples; /* wire */
    qp_buf functions, locations, lines;
    qp_buf mappings;                              /* uint64_t, the string of its file */
    qp_dict function_of, location_of, mapping_of; /* id -> number */
    pprof_type types[TYPES_MAX];
    uint32_t n_types, time_type, calls_type, samples_type, pc_samples_type;
    pprof_type period_type;
    uint64_t scale; /* of time_type's values */
    uint64_t default_type;
    uint64_t missing_text; /* the last place of a string that is not there; 0: none */
    uint64_t n_frames_left, n_negative;
    qp_buf path; /* uint64_t, locations of a sample, innermost first */
} pprof;

/* ---- the wire format --------------------------------------------------------------------- */

static bool wire_varint(wire *w, uint64_t *value)
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

static bool take_fixed(wire *w, unsigned n_bytes, uint64_t *value)
{
    *value = 0;
    if ((size_t)(w->end - w->at) < n_bytes)
        return false;
    for (unsigned i = 0; i < n_bytes; i++)
        *value |= (uint64_t)*w->at++ << 8 * i;
    return true;
}

static bool take_bytes(wire *w, wire *bytes)
{
    uint64_t n;
    if (!wire_varint(w, &n) || n > (uint64_t)(w->end - w->at))
        return false;
    *bytes = wire_of(w->at, (size_t)n);
    w->at += n;
    return true;
}

static bool wire_next(wire *w, wire_field *f)
{
    const unsigned char *begin = w->at;
    uint64_t key;
    if (w->is_bad || !wire_varint(w, &key))
        return false;
    *f = (wire_field){.number = (uint32_t)(key >> 3), .kind = (wire_kind)(key & 7)};
    bool is_good = key >> 3 > 0 && key >> 3 < 1u << 29;
    if (is_good)
        is_good = f->kind == WIRE_VARINT    ? wire_varint(w, &f->value)
                  : f->kind == WIRE_FIXED64 ? take_fixed(w, 8, &f->value)
                  : f->kind == WIRE_FIXED32 ? take_fixed(w, 4, &f->value)
                  : f->kind == WIRE_BYTES   ? take_bytes(w, &f->bytes)
                                            : false;
    if (!is_good) {
        w->is_bad = true;
        w->at = begin;
    }
    return is_good;
}

/* ---- errors ------------------------------------------------------------------------------ */

static bool refuse(pprof *p, const unsigned char *at, const char *what)
{
    return qp_error_fail(p->error, "at byte %zu of its unpacked data: %s",
                         (size_t)(at - p->begin), what);
}

static bool refuse_damage(pprof *p, const wire *w)
{
    return refuse(p, w->at, "a field that is damaged or cut off");
}

/* ---- messages ---------------------------------------------------------------------------- */

enum { FIELDS = 8 }; /* numbers of fields that messages of numbers have here */

/* The numbers of a message, by field. */
static bool read_numbers(pprof *p, wire w, uint64_t numbers[FIELDS])
{
    memset(numbers, 0, FIELDS * sizeof *numbers);
    for (wire_field f; wire_next(&w, &f);)
        if (f.number < FIELDS)
            numbers[f.number] = f.value;
    return !w.is_bad || refuse_damage(p, &w);
}

static bool read_type(pprof *p, wire w, pprof_type *out)
{
    uint64_t n[FIELDS];
    bool is_good = read_numbers(p, w, n);
    *out = (pprof_type){n[TYPE_TYPE], n[TYPE_UNIT]};
    return is_good;
}

static bool read_sample_type(pprof *p, wire w)
{
    if (p->n_types == TYPES_MAX)
        return refuse(p, w.at, "more than 64 sample types");
    return read_type(p, w, &p->types[p->n_types++]);
}

/* Remember an item under its id. */
static void put(pprof *p, qp_dict *index, uint64_t id, const qp_buf *items)
{
    p->im->failed |= items->failed || !qp_dict_put(index, id, (uint32_t)items->n);
}

static bool read_mapping(pprof *p, wire w)
{
    uint64_t n[FIELDS], *file = qp_buf_add(&p->mappings);
    bool is_good = read_numbers(p, w, n);
    if (file)
        *file = n[MAPPING_FILE];
    put(p, &p->mapping_of, n[MAPPING_ID], &p->mappings);
    return is_good;
}

/* The number of a line; 0 if a line table cannot hold it. */
static uint32_t line_number(uint64_t value)
{
    return value <= INT32_MAX ? (uint32_t)value : 0;
}

static bool read_function(pprof *p, wire w)
{
    uint64_t n[FIELDS];
    bool is_good = read_numbers(p, w, n);
    pprof_function *to = qp_buf_add(&p->functions);
    if (to)
        *to = (pprof_function){.name = n[FUNCTION_NAME],
                               .system_name = n[FUNCTION_SYSTEM_NAME],
                               .file = n[FUNCTION_FILE],
                               .first_line = line_number(n[FUNCTION_LINE])};
    put(p, &p->function_of, n[FUNCTION_ID], &p->functions);
    return is_good;
}

static bool read_line(pprof *p, wire w)
{
    uint64_t n[FIELDS];
    pprof_line *to = qp_buf_add(&p->lines);
    bool is_good = read_numbers(p, w, n);
    if (to)
        *to = (pprof_line){n[LINE_FUNCTION], line_number(n[LINE_LINE])};
    return is_good;
}

static bool read_location(pprof *p, wire w)
{
    uint64_t n[FIELDS];
    size_t first_line = p->lines.n;
    bool is_good = read_numbers(p, w, n);
    for (wire_field f; is_good && wire_next(&w, &f);)
        is_good = f.number != LOCATION_LINE || read_line(p, f.bytes);
    pprof_location *to = is_good ? qp_buf_add(&p->locations) : NULL;
    if (to)
        *to = (pprof_location){.mapping = n[LOCATION_MAPPING],
                               .address = n[LOCATION_ADDRESS],
                               .first_line = first_line,
                               .n_lines = p->lines.n - first_line};
    if (is_good)
        put(p, &p->location_of, n[LOCATION_ID], &p->locations);
    return is_good;
}

static bool keep_bytes(qp_buf *to, wire bytes)
{
    wire *w = qp_buf_add(to);
    if (w)
        *w = bytes;
    return true;
}

static bool read_field(pprof *p, const wire_field *f)
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

static bool list_all(pprof *p, wire w)
{
    for (wire_field f; wire_next(&w, &f);)
        if (!read_field(p, &f))
            return false;
    if (w.is_bad)
        return refuse_damage(p, &w);
    p->texts.failed |= p->strings.n && !qp_buf_add_many(&p->texts, p->strings.n);
    p->im->failed |= p->strings.failed || p->texts.failed || p->samples.failed ||
                     p->functions.failed || p->locations.failed || p->lines.failed ||
                     p->mappings.failed;
    return true;
}

/* The text of a string; each is copied once. */
static const char *text_at(pprof *p, uint64_t place)
{
    if (place >= p->strings.n && place > p->missing_text)
        p->missing_text = place;
    if (place >= p->strings.n || p->im->failed)
        return "";
    const char **text = (const char **)p->texts.items + place;
    const wire *w = (const wire *)p->strings.items + place;
    if (!*text)
        *text = qp_import_text(p->im, w->at, (size_t)(w->end - w->at));
    return *text ? *text : "";
}

/* ---- is it one? -------------------------------------------------------------------------- */

/* Whether a field of a profile has the kind that its number requires. */
static bool is_kind_right(const wire_field *f)
{
    static const unsigned messages = 1u << PROFILE_SAMPLE_TYPE | 1u << PROFILE_SAMPLE |
                                     1u << PROFILE_MAPPING | 1u << PROFILE_LOCATION |
                                     1u << PROFILE_FUNCTION | 1u << PROFILE_STRING |
                                     1u << PROFILE_PERIOD_TYPE;
    if (f->number == PROFILE_COMMENT) /* packed or not */
        return f->kind == WIRE_BYTES || f->kind == WIRE_VARINT;
    return f->number <= PROFILE_LAST &&
           f->kind == (messages >> f->number & 1 ? WIRE_BYTES : WIRE_VARINT);
}

bool qp_import_pprof_fits(const unsigned char *bytes, size_t n_bytes)
{
    enum { ENOUGH = 3 };
    wire w = wire_of(bytes, n_bytes);
    uint32_t n_fields = 0;
    for (wire_field f; wire_next(&w, &f); n_fields++)
        if (!is_kind_right(&f))
            return false;
    return n_fields >= ENOUGH;
}

enum { NO_TYPE = TYPES_MAX, FRAMES_A_BYTE = 16, FRAMES_LEAST = 4096 };

/* ---- methods ----------------------------------------------------------------------------- */

/* The module of what is in a mapping. */
static const char *module_of(pprof *p, uint64_t mapping)
{
    uint32_t at = mapping ? qp_dict_get(&p->mapping_of, mapping) : 0;
    return at ? qp_import_base_name(text_at(p, *QP_IMPORT_AT(p->mappings, uint64_t, at))) : "";
}

static uint32_t method_of_function(pprof *p, pprof_function *fn, uint64_t mapping)
{
    const char *name = text_at(p, fn->name);
    if (!fn->method)
        fn->method = qp_import_method_add(
            p->im, &(qp_import_method){.name = *name ? name : text_at(p, fn->system_name),
                                       .file = text_at(p, fn->file),
                                       .module = module_of(p, mapping),
                                       .first_line = fn->first_line});
    return fn->method;
}

/* Code without a name is named by its address. */
static uint32_t method_of_address(pprof *p, pprof_location *at)
{
    char name[32];
    if (!at->method) {
        qp_text_format(name, sizeof name, "0x%llx", (unsigned long long)at->address);
        const char *text = qp_import_text(p->im, name, strlen(name));
        at->method = qp_import_method_add(
            p->im,
            &(qp_import_method){.name = text, .file = "", .module = module_of(p, at->mapping)});
    }
    return at->method;
}

/* ---- which values ------------------------------------------------------------------------ */

static uint32_t type_named(pprof *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_types; i++)
        if (strcmp(text_at(p, p->types[i].type), name) == 0)
            return i;
    return NO_TYPE;
}

static qp_import_unit unit_named(pprof *p, uint64_t place)
{
    const char *unit = text_at(p, place);
    return qp_import_unit_of(unit, strlen(unit));
}

static qp_import_unit unit_at(pprof *p, uint32_t type)
{
    return unit_named(p, p->types[type].unit);
}

static void list_types(pprof *p, char *to, size_t room)
{
    to[0] = '\0';
    for (uint32_t i = 0; i < p->n_types; i++) {
        size_t n = strlen(to);
        qp_text_format(to + n, room - n, "%s%.40s", i ? ", " : "",
                       text_at(p, p->types[i].type));
    }
}

/* The wanted type, else the profile's default, else the first of a time, else the last. */
static uint32_t choose_time(pprof *p)
{
    if (p->im->wanted)
        return type_named(p, p->im->wanted);
    uint32_t chosen = p->default_type ? type_named(p, text_at(p, p->default_type)) : NO_TYPE;
    for (uint32_t i = 0; i < p->n_types && chosen == NO_TYPE; i++)
        if (unit_at(p, i).is_time)
            chosen = i;
    return chosen == NO_TYPE ? p->n_types - 1 : chosen;
}

static void describe_types(pprof *p, const char *all)
{
    qp_head *h = &p->im->head;
    const pprof_type *t = &p->types[p->time_type];
    qp_import_unit unit = unit_at(p, p->time_type);
    const char *name = text_at(p, t->type);
    p->scale = unit.scale;
    qp_import_clock(p->im, unit, strcmp(name, "cpu") == 0);
    h->time_mode = p->time_type == p->calls_type     ? QP_TIME_NONE
                   : p->samples_type == NO_TYPE      ? QP_TIME_EXACT
                   : p->time_type == p->samples_type ? QP_TIME_EXACT
                                                     : QP_TIME_SAMPLED;
    h->flags |= p->calls_type == NO_TYPE ? QP_FLAG_NO_CALLS : 0;
    if (!unit.is_time && p->time_type != p->calls_type)
        qp_import_note(p->im, "counts are %.60s in %.60s", name, text_at(p, t->unit));
    uint32_t n_read = p->calls_type != p->time_type && p->calls_type != NO_TYPE ? 2 : 1;
    n_read += h->time_mode == QP_TIME_SAMPLED;
    n_read += p->pc_samples_type != NO_TYPE;
    if (p->n_types > n_read)
        qp_import_note(p->im, "the values %.60s were taken of %.300s", name, all);
}

/* The period is that of the samples; of the PC samples of a PC command, if there are no
 * samples. */
static bool has_pc_samples(pprof *p)
{
    const char *clock = text_at(p, p->period_type.type);
    return p->samples_type == NO_TYPE && unit_named(p, p->period_type.unit).is_time &&
           (strcmp(clock, "cpu") == 0 || strcmp(clock, "wall") == 0);
}

static bool choose_types(pprof *p)
{
    char all[QP_ERROR_BYTES - 160];
    list_types(p, all, sizeof all);
    if (!p->n_types)
        return refuse(p, p->begin, "there are no sample types");
    p->calls_type = type_named(p, "calls");
    p->samples_type = type_named(p, "samples");
    p->pc_samples_type = has_pc_samples(p) ? type_named(p, "pc_samples") : NO_TYPE;
    p->time_type = choose_time(p);
    if (p->time_type == NO_TYPE)
        qp_error_fail(p->error, "it has no values %.60s; it has %s", p->im->wanted, all);
    else
        describe_types(p, all);
    return p->time_type != NO_TYPE;
}

/* ---- samples ----------------------------------------------------------------------------- */

/* The numbers of a field that may be packed. @return false: damaged */
static bool take_numbers(pprof *p, const wire_field *f, qp_buf *to)
{
    wire w = f->bytes;
    uint64_t value = f->value;
    bool is_packed = f->kind == WIRE_BYTES;
    while (!is_packed || wire_varint(&w, &value)) {
        uint64_t *number = qp_buf_add(to);
        if (number)
            *number = value;
        if (!is_packed)
            break;
    }
    return (!is_packed || w.at == w.end) || refuse_damage(p, &w);
}

/* A sample without its path. */
typedef struct {
    uint64_t values[TYPES_MAX];
    uint32_t n_values;
    const char *thread; /* NULL: not named */
} sample;

static bool read_label(pprof *p, wire w, sample *s)
{
    uint64_t n[FIELDS];
    char name[40];
    bool is_good = read_numbers(p, w, n);
    const char *word = text_at(p, n[LABEL_KEY]);
    bool is_virtual = strcmp(word, "vthread") == 0;
    if (!is_virtual && strcmp(word, "thread") != 0)
        return is_good;
    p->im->head.flags |= is_virtual ? QP_FLAG_VIRTUAL : 0;
    qp_text_format(name, sizeof name, "thread %llu", (unsigned long long)n[LABEL_NUMBER]);
    s->thread =
        n[LABEL_TEXT] ? text_at(p, n[LABEL_TEXT]) : qp_import_text(p->im, name, strlen(name));
    return is_good;
}

static bool read_values(pprof *p, const wire_field *f, sample *s)
{
    wire w = f->bytes;
    uint64_t value = f->value;
    bool is_packed = f->kind == WIRE_BYTES;
    while (s->n_values < TYPES_MAX && (!is_packed || wire_varint(&w, &value))) {
        p->n_negative += value > INT64_MAX;
        s->values[s->n_values++] = value > INT64_MAX ? 0 : value;
        if (!is_packed)
            break;
    }
    return !w.is_bad || refuse_damage(p, &w);
}

static uint64_t value_of(const sample *s, uint32_t type)
{
    return type < TYPES_MAX && type < s->n_values ? s->values[type] : 0;
}

/* Where a walk along a sample's path is. */
typedef struct {
    uint32_t thread, node;
    uint32_t method, line; /* of the innermost frame so far */
    uint64_t self, stamp;
} walk;

static void enter(pprof *p, walk *w, uint32_t method, uint32_t at_line)
{
    w->node = qp_import_child(p->im, w->node, method);
    w->method = method;
    w->line = at_line;
    qp_import_line *l = qp_import_line_of(p->im, w->thread, method, at_line);
    if (l && l->stamp != w->stamp) { /* in a recursion a line has the time once */
        l->stamp = w->stamp;
        l->total += w->self;
    }
}

/* Enter the frames of a location; inlined functions come after their callers. */
static bool enter_location(pprof *p, walk *w, pprof_location *at)
{
    if (!at->n_lines)
        enter(p, w, method_of_address(p, at), 0);
    for (size_t i = at->n_lines; i-- > 0;) {
        const pprof_line *l = (const pprof_line *)p->lines.items + at->first_line + i;
        uint32_t id = qp_dict_get(&p->function_of, l->function);
        if (!id)
            return false;
        pprof_function *fn = QP_IMPORT_AT(p->functions, pprof_function, id);
        enter(p, w, method_of_function(p, fn, at->mapping), l->line);
    }
    return true;
}

static bool walk_path(pprof *p, const unsigned char *where, const sample *s, uint64_t stamp)
{
    walk w = {.thread = qp_import_thread(p->im, s->thread ? s->thread : "all threads"),
              .stamp = stamp};
    w.node = qp_import_root(p->im, w.thread);
    bool has_times = p->im->head.time_mode != QP_TIME_NONE;
    if (has_times && __builtin_mul_overflow(value_of(s, p->time_type), p->scale, &w.self))
        w.self = UINT64_MAX; /* too much, which is reported later */
    for (size_t i = p->path.n; i-- > 0 && !p->im->failed && !p->im->is_too_much;) {
        uint32_t id = qp_dict_get(&p->location_of, ((const uint64_t *)p->path.items)[i]);
        if (!id)
            return refuse(p, where, "a sample at a location that is not there");
        pprof_location *at = QP_IMPORT_AT(p->locations, pprof_location, id);
        if (at->n_lines + 1 > p->n_frames_left)
            return refuse(p, where, "more frames of calls than can be true");
        p->n_frames_left -= at->n_lines + 1;
        if (!enter_location(p, &w, at))
            return refuse(p, where, "a location in a function that is not there");
    }
    qp_import_line *l = qp_import_line_of(p->im, w.thread, w.method, w.line);
    if (l)
        l->self += w.self;
    if (w.method)
        qp_import_charge(p->im, w.node,
                         &(qp_import_figures){.calls = value_of(s, p->calls_type),
                                              .self = w.self,
                                              .samples = value_of(s, p->samples_type),
                                              .pc_samples = value_of(s, p->pc_samples_type)});
    return true;
}

static bool read_sample(pprof *p, wire w, uint64_t stamp)
{
    const unsigned char *where = w.at;
    sample s = {.n_values = 0};
    p->path.n = 0;
    for (wire_field f; wire_next(&w, &f);) {
        bool is_good = f.number == SAMPLE_LOCATION ? take_numbers(p, &f, &p->path)
                       : f.number == SAMPLE_VALUE  ? read_values(p, &f, &s)
                       : f.number == SAMPLE_LABEL  ? read_label(p, f.bytes, &s)
                                                   : true;
        if (!is_good)
            return false;
    }
    p->im->failed |= p->path.failed;
    return w.is_bad ? refuse_damage(p, &w) : walk_path(p, where, &s, stamp);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Whether all strings are there: they come last, so a file that was cut off lacks some. */
static bool is_whole(const pprof *p)
{
    if (p->missing_text)
        qp_error_fail(p->error,
                      "it is damaged or cut off: a name is its string %llu, and it has %zu",
                      (unsigned long long)p->missing_text, p->strings.n);
    return !p->missing_text;
}

static void describe_period(pprof *p)
{
    qp_head *h = &p->im->head;
    qp_import_unit unit = unit_named(p, p->period_type.unit);
    if (__builtin_mul_overflow(h->sample_period, unit.scale, &h->sample_period))
        h->sample_period = 0;
    if (h->time_mode == QP_TIME_SAMPLED) { /* the run may have slept between samples */
        h->n_passes = p->im->sums.samples;
        h->sample_ns = p->im->sums.self;
        return;
    }
    if (p->pc_samples_type != NO_TYPE) {
        bool is_cpu = strcmp(text_at(p, p->period_type.type), "cpu") == 0;
        h->pc_period = h->sample_period;
        h->pc_kind = is_cpu ? QP_PC_VIRTUAL : QP_PC_REAL;
    }
    h->sample_period = 0;
}

static void describe_run(pprof *p)
{
    qp_import *im = p->im;
    const uint64_t *file = p->mappings.n ? p->mappings.items : NULL;
    im->program = file ? qp_import_base_name(text_at(p, *file)) : "";
    im->recorder = "pprof";
    if (im->head.started_at)
        im->head.ended_at = im->head.started_at + im->head.end_raw;
    describe_period(p);
    if (p->n_negative)
        qp_import_note(im, "%llu negative values of a difference were taken for 0",
                       (unsigned long long)p->n_negative);
}

bool qp_import_pprof(qp_import *im, const unsigned char *bytes, size_t n_bytes, qp_error *error)
{
    pprof p = {.im = im,
               .begin = bytes,
               .error = error,
               .strings = QP_BUF(wire),
               .texts = QP_BUF(const char *),
               .samples = QP_BUF(wire),
               .functions = QP_BUF(pprof_function),
               .locations = QP_BUF(pprof_location),
               .lines = QP_BUF(pprof_line),
               .mappings = QP_BUF(uint64_t),
               .n_frames_left = (uint64_t)n_bytes * FRAMES_A_BYTE + FRAMES_LEAST,
               .path = QP_BUF(uint64_t)};
    bool is_read = list_all(&p, wire_of(bytes, n_bytes)) && (im->failed || choose_types(&p));
    for (size_t i = 0; is_read && i < p.samples.n && !im->failed && !im->is_too_much; i++)
        is_read = read_sample(&p, ((const wire *)p.samples.items)[i], i + 1);
    is_read = is_read && (im->failed || is_whole(&p));
    if (is_read)
        describe_run(&p);
    qp_buf *const all[] = {&p.strings,   &p.texts, &p.samples,  &p.functions,
                           &p.locations, &p.lines, &p.mappings, &p.path};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        qp_free(all[i]->items);
    qp_dict_fini(&p.function_of);
    qp_dict_fini(&p.location_of);
    qp_dict_fini(&p.mapping_of);
    return is_read;
}
