/* otlp.c: the request of OTLP that exports profiles: version 1.11.0 of opentelemetry-proto,
 * profiles.v1development. Each value is a profile of its own, and all of them share a dictionary, in which
 * the message at index 0 is empty. A method is one function and one location, with the same index. */
#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "export/shared/gzip.h"
#include "export/shared/profile.h"
#include "export/shared/protobuf.h"

enum { REQUEST_RESOURCE_PROFILES = 1, REQUEST_DICTIONARY = 2 };
enum { OF_RESOURCE_RESOURCE = 1, OF_RESOURCE_SCOPES = 2, RESOURCE_ATTRIBUTE = 1 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2, VALUE_TEXT = 1 };
enum { OF_SCOPE_SCOPE = 1, OF_SCOPE_PROFILES = 2, SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_TIME = 3, PROFILE_DURATION = 4 };
enum { PROFILE_PERIOD_TYPE = 5, PROFILE_PERIOD = 6, PROFILE_ID = 7 };
enum { TYPE_TYPE = 1, TYPE_UNIT = 2, SAMPLE_STACK = 1, SAMPLE_VALUES = 4 };
enum { TABLE_MAPPING = 1, TABLE_LOCATION, TABLE_FUNCTION, TABLE_LINK, TABLE_STRING };
enum { TABLE_ATTRIBUTE = 6, TABLE_STACK = 7 };
enum { MAPPING_FILE = 4, LOCATION_MAPPING = 1, LOCATION_LINE = 3, LINE_FUNCTION = 1 };
enum { LINE_LINE = 2, FUNCTION_NAME = 1, FUNCTION_FILE = 3, FUNCTION_LINE = 4 };
enum { LINK_TRACE = 1, LINK_SPAN = 2, STACK_LOCATIONS = 1 };

typedef struct {
    const qp_model *m;
    const unsigned char *id;
    qp_proto proto;
    qp_export_path *paths; /* [n_paths] */
    size_t n_paths;
    qp_measure measures[QP_MEASURES];
    uint32_t n_measures;
    uint32_t *place;   /* [n_methods] of its function and location; 0: not used */
    qp_buf used;       /* uint32_t: methods by their place - 1; UINT32_MAX is the rest */
    uint32_t rest;     /* place of the rest; 0: not used */
    qp_buf strings;    /* const char *, borrowed; by their number - 1 */
    qp_dict string_of; /* hash of a text -> its number; texts of one hash are apart */
} otlp;

/* ---- the dictionary ------------------------------------------------------------------------- */

/* @return the number of a text in the table; 0: it is empty */
static uint32_t string(otlp *p, const char *text)
{
    if (!*text)
        return 0;
    const uint64_t key = qp_hash_bytes(QP_HASH_START, text, strlen(text));
    const uint32_t known = qp_dict_get(&p->string_of, key);
    if (known && strcmp(((const char **)p->strings.items)[known - 1], text) == 0)
        return known;
    const char **to = qp_buf_add(&p->strings);
    if (to)
        *to = text;
    p->strings.failed |= !to || !qp_dict_put(&p->string_of, key, (uint32_t)p->strings.n);
    return (uint32_t)p->strings.n;
}

static uint32_t place_of(otlp *p, uint32_t method)
{
    uint32_t *place = method == UINT32_MAX ? &p->rest : &p->place[method];
    if (!*place) {
        uint32_t *to = qp_buf_add(&p->used);
        if (to)
            *to = method;
        *place = (uint32_t)p->used.n;
    }
    return *place;
}

static void write_stack(otlp *p, const qp_export_path *path)
{
    uint32_t frames[QP_EXPORT_FRAMES], n = qp_export_frames(p->m, path->node, frames);
    qp_proto *to = &p->proto;
    qp_proto_begin(to, TABLE_STACK);
    qp_proto_begin(to, STACK_LOCATIONS);
    if (path->is_rest)
        qp_proto_varint(to, place_of(p, UINT32_MAX));
    for (uint32_t i = 0; i < n; i++)
        qp_proto_varint(to, place_of(p, frames[i]));
    qp_proto_end(to);
    qp_proto_end(to);
}

static void write_method(otlp *p, uint32_t place)
{
    const uint32_t method = ((const uint32_t *)p->used.items)[place - 1];
    const bool is_rest = method == UINT32_MAX;
    const qp_model_method *x = is_rest ? NULL : &p->m->methods[method];
    qp_proto *to = &p->proto;
    qp_proto_begin(to, TABLE_FUNCTION);
    qp_proto_count(to, FUNCTION_NAME, string(p, is_rest ? QP_EXPORT_REST : x->name));
    qp_proto_count(to, FUNCTION_FILE, string(p, is_rest ? "" : x->file));
    qp_proto_count(to, FUNCTION_LINE, is_rest ? 0 : x->first_line);
    qp_proto_end(to);
    qp_proto_begin(to, TABLE_LOCATION);
    qp_proto_count(to, LOCATION_MAPPING, 1);
    qp_proto_begin(to, LOCATION_LINE);
    qp_proto_count(to, LINE_FUNCTION, place);
    qp_proto_count(to, LINE_LINE, is_rest ? 0 : x->first_line);
    qp_proto_end(to);
    qp_proto_end(to);
}

static void write_empty(qp_proto *to, uint32_t table)
{
    qp_proto_begin(to, table);
    qp_proto_end(to);
}

/* The tables, in any order, each in its own. */
static void write_dictionary(otlp *p)
{
    static const unsigned char zero[16];
    qp_proto *to = &p->proto;
    qp_proto_begin(to, REQUEST_DICTIONARY);
    write_empty(to, TABLE_STACK);
    for (size_t i = 0; i < p->n_paths; i++)
        write_stack(p, &p->paths[i]);
    write_empty(to, TABLE_FUNCTION);
    write_empty(to, TABLE_LOCATION);
    for (uint32_t i = 1; i <= p->used.n; i++)
        write_method(p, i);
    write_empty(to, TABLE_MAPPING);
    qp_proto_begin(to, TABLE_MAPPING);
    qp_proto_count(to, MAPPING_FILE, string(p, p->m->run.program));
    qp_proto_end(to);
    qp_proto_begin(to, TABLE_LINK);
    qp_proto_bytes(to, LINK_TRACE, zero, 16);
    qp_proto_bytes(to, LINK_SPAN, zero, 8);
    qp_proto_end(to);
    write_empty(to, TABLE_ATTRIBUTE);
    qp_proto_text(to, TABLE_STRING, "");
    for (size_t i = 0; i < p->strings.n; i++)
        qp_proto_text(to, TABLE_STRING, ((const char **)p->strings.items)[i]);
    qp_proto_end(to);
}

/* ---- the profiles --------------------------------------------------------------------------- */

static void write_type(otlp *p, uint32_t field, qp_measure x)
{
    const char *unit = x == QP_MEASURE_METRIC      ? qp_metric_unit(p->m->run.metric)
                       : x != QP_MEASURE_TIME      ? x == QP_MEASURE_BYTES ? "bytes" : "count"
                       : qp_measure_is_ns(x, p->m) ? "nanoseconds"
                                                   : p->m->run.unit;
    qp_proto_begin(&p->proto, field);
    qp_proto_count(&p->proto, TYPE_TYPE, string(p, qp_export_measure_name(p->m, x)));
    qp_proto_count(&p->proto, TYPE_UNIT, string(p, unit));
    qp_proto_end(&p->proto);
}

static void write_samples(otlp *p, qp_measure x)
{
    qp_proto *to = &p->proto;
    for (size_t i = 0; i < p->n_paths; i++) {
        const uint64_t value = qp_measure_units(x, p->m, qp_measure_self(x, &p->paths[i].f));
        if (!value)
            continue;
        qp_proto_begin(to, PROFILE_SAMPLE);
        qp_proto_count(to, SAMPLE_STACK, i + 1);
        qp_proto_begin(to, SAMPLE_VALUES);
        qp_proto_varint(to, value);
        qp_proto_end(to);
        qp_proto_end(to);
    }
}

static void write_profile(otlp *p, qp_measure x)
{
    const qp_run_info *run = &p->m->run;
    unsigned char id[QP_EXPORT_ID_BYTES];
    qp_proto *to = &p->proto;
    memcpy(id, p->id, sizeof id);
    id[QP_EXPORT_ID_BYTES - 1] = (unsigned char)(id[QP_EXPORT_ID_BYTES - 1] + x);
    qp_proto_begin(to, OF_SCOPE_PROFILES);
    write_type(p, PROFILE_TYPE, x);
    write_samples(p, x);
    qp_proto_fixed(to, PROFILE_TIME, run->started_at);
    qp_proto_count(to, PROFILE_DURATION,
                   run->ended_at > run->started_at ? run->ended_at - run->started_at : 0);
    if (x == QP_MEASURE_TIME && run->time_mode == QP_TIME_SAMPLED && run->sample_period_ns) {
        write_type(p, PROFILE_PERIOD_TYPE, x);
        qp_proto_count(to, PROFILE_PERIOD, run->sample_period_ns);
    }
    qp_proto_bytes(to, PROFILE_ID, id, sizeof id);
    qp_proto_end(to);
}

static const char *attribute_name(const char *name)
{
    return strcmp(name, "service") == 0   ? "service.name"
           : strcmp(name, "version") == 0 ? "service.version"
           : strcmp(name, "host") == 0    ? "host.name"
                                          : name;
}

/* Keys are unique: a label of the user with the name of an attribute of ours comes later, and is the one. */
static bool is_replaced(const qp_run_info *run, size_t at, const qp_export_label *label,
                        qp_export_label *later)
{
    while (qp_export_label_next(run, &at, later))
        if (strcmp(attribute_name(later->name), attribute_name(label->name)) == 0)
            return true;
    return false;
}

static void write_attribute(qp_proto *to, const qp_export_label *label)
{
    qp_proto_begin(to, RESOURCE_ATTRIBUTE);
    qp_proto_text(to, KEY_VALUE_KEY, attribute_name(label->name));
    qp_proto_begin(to, KEY_VALUE_VALUE);
    qp_proto_text(to, VALUE_TEXT, label->value);
    qp_proto_end(to);
    qp_proto_end(to);
}

/* @return false: no memory */
static bool write_resource(const qp_model *m, qp_proto *to)
{
    qp_export_label *label = qp_alloc(2, sizeof *label);
    size_t at = 0;
    if (!label)
        return false;
    qp_proto_begin(to, OF_RESOURCE_RESOURCE);
    while (qp_export_label_next(&m->run, &at, label))
        if (!is_replaced(&m->run, at, label, label + 1))
            write_attribute(to, label);
    qp_proto_end(to);
    qp_free(label);
    return true;
}

static bool write_request(otlp *p)
{
    qp_proto *to = &p->proto;
    qp_proto_begin(to, REQUEST_RESOURCE_PROFILES);
    if (!write_resource(p->m, to))
        return false;
    qp_proto_begin(to, OF_RESOURCE_SCOPES);
    qp_proto_begin(to, OF_SCOPE_SCOPE);
    qp_proto_text(to, SCOPE_NAME, "qprof");
    qp_proto_text(to, SCOPE_VERSION, QPROF_VERSION_TEXT);
    qp_proto_end(to);
    for (uint32_t i = p->n_measures; i-- > 0;) /* time is the last, and shown first */
        write_profile(p, p->measures[i]);
    qp_proto_end_all(to);
    write_dictionary(p);
    return !to->bytes.failed && !p->strings.failed && !p->used.failed;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* @param to  receives the request, not compressed. @return false: no memory */
static bool write_within(const qp_model *m, const unsigned char *id, qp_export_limits *limits,
                         qp_buf *to)
{
    otlp p = {.m = m, .id = id, .used = QP_BUF(uint32_t), .strings = QP_BUF(const char *)};
    p.n_measures = qp_export_measures(m, p.measures);
    p.place = qp_alloc_zeroed(m->n_methods, sizeof *p.place);
    qp_proto_init(&p.proto);
    bool is_good = p.place && qp_export_paths(m, QP_ALL_THREADS, &p.paths, &p.n_paths) &&
                   qp_export_cut(m, limits->n_samples, limits->depth, p.paths, &p.n_paths) &&
                   write_request(&p);
    if (is_good)
        qp_export_note_cut(m, p.paths, p.n_paths, limits);
    qp_free(to->items);
    *to = p.proto.bytes;
    qp_dict_fini(&p.string_of);
    qp_free(p.strings.items);
    qp_free(p.used.items);
    qp_free(p.place);
    qp_free(p.paths);
    return is_good;
}

bool qp_export_otlp(const qp_model *m, const unsigned char id[QP_EXPORT_ID_BYTES],
                    qp_export_limits *limits, qp_buf *to, qp_error *error)
{
    qp_buf request = QP_BUF(unsigned char);
    bool is_good = write_within(m, id, limits, &request);
    while (is_good && request.n > limits->n_bytes && limits->n_samples > 1) {
        limits->n_samples /= 2;
        is_good = write_within(m, id, limits, &request);
    }
    const bool fits = request.n <= limits->n_bytes;
    is_good = is_good && fits && qp_gzip_pack(request.items, request.n, to);
    qp_free(request.items);
    return is_good ||
           qp_error_fail(error,
                         fits ? "out of memory"
                              : "cannot be cut to what the server takes: names are too long");
}
