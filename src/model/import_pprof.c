/* import_pprof.c: pprof's profile.proto. A sample is a call path, its labels say which thread.
 *
 * Messages refer to each other by ids and by places in the table of strings: import_pprof_list.c
 * lists them, here the samples are walked. Read read_sample first. */
#include "model/import_pprof.h"

#include <string.h>

#include "base/alloc.h"
#include "model/pprof_fields.h"

enum { NO_TYPE = QP_PPROF_TYPES, FRAMES_A_BYTE = 16, FRAMES_LEAST = 4096 };

/* ---- methods --------------------------------------------------------------------------------- */

/* The module of what is in a mapping. */
static const char *module_of(qp_pprof *p, uint64_t mapping)
{
    uint32_t at = mapping ? qp_dict_get(&p->mapping_of, mapping) : 0;
    return at ? qp_import_base_name(qp_pprof_text(p, *QP_IMPORT_AT(p->mappings, uint64_t, at)))
              : "";
}

static uint32_t method_of_function(qp_pprof *p, qp_pprof_function *fn, uint64_t mapping)
{
    const char *name = qp_pprof_text(p, fn->name);
    if (!fn->method)
        fn->method = qp_import_method_add(
            p->im, &(qp_import_method){.name = *name ? name : qp_pprof_text(p, fn->system_name),
                                       .file = qp_pprof_text(p, fn->file),
                                       .module = module_of(p, mapping),
                                       .first_line = fn->first_line});
    return fn->method;
}

/* Code that nobody gave a name to has its address for one. */
static uint32_t method_of_address(qp_pprof *p, qp_pprof_location *at)
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

/* ---- which values ---------------------------------------------------------------------------- */

static uint32_t type_named(qp_pprof *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_types; i++)
        if (strcmp(qp_pprof_text(p, p->types[i].type), name) == 0)
            return i;
    return NO_TYPE;
}

static qp_import_unit unit_named(qp_pprof *p, uint64_t place)
{
    const char *unit = qp_pprof_text(p, place);
    return qp_import_unit_of(unit, strlen(unit));
}

static qp_import_unit unit_at(qp_pprof *p, uint32_t type)
{
    return unit_named(p, p->types[type].unit);
}

static void list_types(qp_pprof *p, char *to, size_t room)
{
    to[0] = '\0';
    for (uint32_t i = 0; i < p->n_types; i++) {
        size_t n = strlen(to);
        qp_text_format(to + n, room - n, "%s%.40s", i ? ", " : "",
                       qp_pprof_text(p, p->types[i].type));
    }
}

/* What was asked for, else the profile's own choice, else the first time, else the last value. */
static uint32_t choose_time(qp_pprof *p)
{
    if (p->im->wanted)
        return type_named(p, p->im->wanted);
    uint32_t chosen =
        p->default_type ? type_named(p, qp_pprof_text(p, p->default_type)) : NO_TYPE;
    for (uint32_t i = 0; i < p->n_types && chosen == NO_TYPE; i++)
        if (unit_at(p, i).is_time)
            chosen = i;
    return chosen == NO_TYPE ? p->n_types - 1 : chosen;
}

static void describe_types(qp_pprof *p, const char *all)
{
    qp_head *h = &p->im->head;
    const qp_pprof_type *t = &p->types[p->time_type];
    qp_import_unit unit = unit_at(p, p->time_type);
    const char *name = qp_pprof_text(p, t->type);
    bool is_cpu = strcmp(name, "cpu") == 0;
    p->scale = unit.scale;
    h->clock_kind = !unit.is_time ? QP_CLOCK_COUNTS
                    : is_cpu      ? QP_CLOCK_USER_KERNEL
                                  : QP_CLOCK_ELAPSED;
    h->clock_source = unit.is_time ? QP_SOURCE_HOST : QP_SOURCE_UNITS;
    h->time_mode = p->time_type == p->calls_type     ? QP_TIME_NONE
                   : p->samples_type == NO_TYPE      ? QP_TIME_EXACT
                   : p->time_type == p->samples_type ? QP_TIME_EXACT
                                                     : QP_TIME_SAMPLED;
    h->flags |= p->calls_type == NO_TYPE ? QP_FLAG_NO_CALLS : 0;
    if (!unit.is_time && p->time_type != p->calls_type)
        qp_import_note(p->im, "counts are %.60s in %.60s", name, qp_pprof_text(p, t->unit));
    uint32_t n_read = p->calls_type != p->time_type && p->calls_type != NO_TYPE ? 2 : 1;
    n_read += h->time_mode == QP_TIME_SAMPLED;
    n_read += p->interrupts_type != NO_TYPE;
    if (p->n_types > n_read)
        qp_import_note(p->im, "the values %.60s were taken of %.300s", name, all);
}

/* The period is that of the samples; of the interrupts of a PC command, if there are no samples. */
static bool has_interrupts(qp_pprof *p)
{
    const char *clock = qp_pprof_text(p, p->period_type.type);
    return p->samples_type == NO_TYPE && unit_named(p, p->period_type.unit).is_time &&
           (strcmp(clock, "cpu") == 0 || strcmp(clock, "wall") == 0);
}

static bool choose_types(qp_pprof *p)
{
    char all[QP_ERROR_BYTES - 160];
    list_types(p, all, sizeof all);
    if (!p->n_types)
        return qp_pprof_refuse(p, p->begin, "there are no sample types");
    p->calls_type = type_named(p, "calls");
    p->samples_type = type_named(p, "samples");
    p->interrupts_type = has_interrupts(p) ? type_named(p, "interrupts") : NO_TYPE;
    p->time_type = choose_time(p);
    if (p->time_type == NO_TYPE)
        qp_text_format(p->error, QP_ERROR_BYTES, "it has no values %.60s; it has %s",
                       p->im->wanted, all);
    else
        describe_types(p, all);
    return p->time_type != NO_TYPE;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The numbers of a field that may be packed. @return false: damaged */
static bool take_numbers(qp_pprof *p, const qp_wire_field *f, qp_buf *to)
{
    qp_wire w = f->bytes;
    uint64_t value = f->value;
    bool is_packed = f->kind == QP_WIRE_BYTES;
    while (!is_packed || qp_wire_varint(&w, &value)) {
        uint64_t *number = qp_buf_add(to);
        if (number)
            *number = value;
        if (!is_packed)
            break;
    }
    return (!is_packed || w.at == w.end) || qp_pprof_refuse_damage(p, &w);
}

/* What a sample says of itself, but its path. */
typedef struct {
    uint64_t values[QP_PPROF_TYPES];
    uint32_t n_values;
    const char *thread; /* NULL: it does not say */
} sample;

static bool read_label(qp_pprof *p, qp_wire w, sample *s)
{
    uint64_t key = 0, text = 0, number = 0;
    char name[40];
    for (qp_wire_field f; qp_wire_next(&w, &f);) {
        if (f.number == LABEL_KEY)
            key = f.value;
        else if (f.number == LABEL_TEXT)
            text = f.value;
        else if (f.number == LABEL_NUMBER)
            number = f.value;
    }
    const char *word = qp_pprof_text(p, key);
    bool is_virtual = strcmp(word, "vthread") == 0;
    if (!is_virtual && strcmp(word, "thread") != 0)
        return !w.is_bad || qp_pprof_refuse_damage(p, &w);
    p->im->head.flags |= is_virtual ? QP_FLAG_VIRTUAL : 0;
    qp_text_format(name, sizeof name, "thread %llu", (unsigned long long)number);
    s->thread = text ? qp_pprof_text(p, text) : qp_import_text(p->im, name, strlen(name));
    return !w.is_bad || qp_pprof_refuse_damage(p, &w);
}

static bool read_values(qp_pprof *p, const qp_wire_field *f, sample *s)
{
    qp_wire w = f->bytes;
    uint64_t value = f->value;
    bool is_packed = f->kind == QP_WIRE_BYTES;
    while (s->n_values < QP_PPROF_TYPES && (!is_packed || qp_wire_varint(&w, &value))) {
        p->n_negative += value > INT64_MAX;
        s->values[s->n_values++] = value > INT64_MAX ? 0 : value;
        if (!is_packed)
            break;
    }
    return !w.is_bad || qp_pprof_refuse_damage(p, &w);
}

static uint64_t value_of(const sample *s, uint32_t type)
{
    return type < QP_PPROF_TYPES && type < s->n_values ? s->values[type] : 0;
}

/* Where a walk along a sample's path is. */
typedef struct {
    uint32_t thread, node;
    uint32_t method, line; /* of the innermost frame so far */
    uint64_t self, stamp;
} walk;

static void enter(qp_pprof *p, walk *w, uint32_t method, uint32_t at_line)
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

/* The frames of a location: what was inlined comes after what it was inlined into. */
static bool enter_location(qp_pprof *p, walk *w, qp_pprof_location *at)
{
    if (!at->n_lines)
        enter(p, w, method_of_address(p, at), 0);
    for (size_t i = at->n_lines; i-- > 0;) {
        const qp_pprof_line *l = (const qp_pprof_line *)p->lines.items + at->first_line + i;
        uint32_t id = qp_dict_get(&p->function_of, l->function);
        if (!id)
            return false;
        qp_pprof_function *fn = QP_IMPORT_AT(p->functions, qp_pprof_function, id);
        enter(p, w, method_of_function(p, fn, at->mapping), l->line);
    }
    return true;
}

static bool walk_path(qp_pprof *p, const unsigned char *where, const sample *s, uint64_t stamp)
{
    walk w = {.thread = qp_import_thread(p->im, s->thread ? s->thread : "all threads"),
              .stamp = stamp};
    w.node = qp_import_root(p->im, w.thread);
    bool has_times = p->im->head.time_mode != QP_TIME_NONE;
    if (has_times && __builtin_mul_overflow(value_of(s, p->time_type), p->scale, &w.self))
        w.self = UINT64_MAX; /* too much, which is said later */
    for (size_t i = p->path.n; i-- > 0 && !p->im->failed && !p->im->is_too_much;) {
        uint32_t id = qp_dict_get(&p->location_of, ((const uint64_t *)p->path.items)[i]);
        if (!id)
            return qp_pprof_refuse(p, where, "a sample at a location that is not there");
        qp_pprof_location *at = QP_IMPORT_AT(p->locations, qp_pprof_location, id);
        if (at->n_lines + 1 > p->n_frames_left)
            return qp_pprof_refuse(p, where, "more frames of calls than can be true");
        p->n_frames_left -= at->n_lines + 1;
        if (!enter_location(p, &w, at))
            return qp_pprof_refuse(p, where, "a location in a function that is not there");
    }
    qp_import_line *l = qp_import_line_of(p->im, w.thread, w.method, w.line);
    if (l)
        l->self += w.self;
    if (w.method)
        qp_import_charge(p->im, w.node,
                         &(qp_import_figures){.calls = value_of(s, p->calls_type),
                                              .self = w.self,
                                              .samples = value_of(s, p->samples_type),
                                              .interrupts = value_of(s, p->interrupts_type)});
    return true;
}

static bool read_sample(qp_pprof *p, qp_wire w, uint64_t stamp)
{
    const unsigned char *where = w.at;
    sample s = {.n_values = 0};
    p->path.n = 0;
    for (qp_wire_field f; qp_wire_next(&w, &f);) {
        bool is_good = f.number == SAMPLE_LOCATION ? take_numbers(p, &f, &p->path)
                       : f.number == SAMPLE_VALUE  ? read_values(p, &f, &s)
                       : f.number == SAMPLE_LABEL  ? read_label(p, f.bytes, &s)
                                                   : true;
        if (!is_good)
            return false;
    }
    p->im->failed |= p->path.failed;
    return w.is_bad ? qp_pprof_refuse_damage(p, &w) : walk_path(p, where, &s, stamp);
}

static bool read_samples(qp_pprof *p)
{
    for (size_t i = 0; i < p->samples.n && !p->im->failed && !p->im->is_too_much; i++)
        if (!read_sample(p, ((const qp_wire *)p->samples.items)[i], i + 1))
            return false;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The strings come last: a file that was cut off between two messages lacks some. */
static bool is_whole(const qp_pprof *p)
{
    if (p->missing_text)
        qp_text_format(p->error, QP_ERROR_BYTES,
                       "it is damaged or cut off: a name is its string %llu, and it has %zu",
                       (unsigned long long)p->missing_text, p->strings.n);
    return !p->missing_text;
}

static void describe_period(qp_pprof *p)
{
    qp_head *h = &p->im->head;
    qp_import_unit unit = unit_named(p, p->period_type.unit);
    if (__builtin_mul_overflow(h->sample_period, unit.scale, &h->sample_period))
        h->sample_period = 0;
    if (h->time_mode == QP_TIME_SAMPLED) { /* the run may have slept between them */
        h->n_passes = p->im->sums.samples;
        h->sample_ns = p->im->sums.self;
        return;
    }
    if (p->interrupts_type != NO_TYPE) {
        bool is_cpu = strcmp(qp_pprof_text(p, p->period_type.type), "cpu") == 0;
        h->pc_period = h->sample_period;
        h->pc_kind = is_cpu ? QP_PC_VIRTUAL : QP_PC_REAL;
    }
    h->sample_period = 0;
}

static void describe_run(qp_pprof *p)
{
    qp_import *im = p->im;
    const uint64_t *file = p->mappings.n ? p->mappings.items : NULL;
    im->program = file ? qp_import_base_name(qp_pprof_text(p, *file)) : "";
    im->recorder = "pprof";
    if (im->head.started_at)
        im->head.ended_at = im->head.started_at + im->head.end_raw;
    describe_period(p);
    if (p->n_negative)
        qp_import_note(im, "%llu negative values of a difference were taken for 0",
                       (unsigned long long)p->n_negative);
}

bool qp_import_pprof(qp_import *im, const unsigned char *bytes, size_t n_bytes, char *error)
{
    qp_pprof p = {.im = im, .begin = bytes, .error = error};
    p.n_frames_left = (uint64_t)n_bytes * FRAMES_A_BYTE + FRAMES_LEAST;
    qp_buf_init(&p.strings, sizeof(qp_wire));
    qp_buf_init(&p.texts, sizeof(const char *));
    qp_buf_init(&p.samples, sizeof(qp_wire));
    qp_buf_init(&p.functions, sizeof(qp_pprof_function));
    qp_buf_init(&p.locations, sizeof(qp_pprof_location));
    qp_buf_init(&p.lines, sizeof(qp_pprof_line));
    qp_buf_init(&p.mappings, sizeof(uint64_t));
    qp_buf_init(&p.path, sizeof(uint64_t));
    bool is_read = qp_pprof_list(&p, qp_wire_of(bytes, n_bytes)) &&
                   (im->failed || (choose_types(&p) && read_samples(&p) && is_whole(&p)));
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
