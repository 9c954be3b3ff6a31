/* pprof.c: pprof's profile.proto, compressed: a sample a call path, with all that the run
 * measured of it; the thread and the innermost endpoint are labels. A path whose function has timed lines is a sample a line.
 *
 * Strings are not looked up but placed: first the fixed ones, then the threads' names, then name
 * and file of each method that is used. */
#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/wide.h"
#include "export/shared/gzip.h"
#include "export/shared/profile.h"
#include "export/shared/protobuf.h"
#include "model/import/pprof_fields.h"

/* The fixed strings. */
enum {
    STRING_EMPTY,
    STRING_MEASURE, /* one for each */
    STRING_COUNT = STRING_MEASURE + QP_MEASURES,
    STRING_UNIT,
    STRING_NANOSECONDS,
    STRING_BYTES,
    STRING_METRIC_UNIT,
    STRING_INTERRUPT_CLOCK,
    STRING_PROGRAM,
    STRING_THREAD,
    STRING_REST,
    STRING_ENDPOINT,
    N_STRINGS
};

/* The id of the function QP_EXPORT_REST, and of its location: beyond those of methods. */
enum { REST = 0x7FFFFFFF };

/* Where a method is: at its first line, or at a line that has time. A location of pprof is a place in native
 * code: with an inlined method goes that of its caller. */
typedef struct {
    uint32_t method, line;
    uint32_t caller; /* number of its location; 0: it is not inlined */
} location;

typedef struct {
    const qp_model *m;
    qp_gzip *z;                     /* where it goes; else... */
    qp_buf *whole;                  /* ... here: bytes */
    const qp_export_limits *limits; /* of `whole` */
    bool has_rest;
    qp_proto proto;                   /* the message that is being written */
    qp_measure measures[QP_MEASURES]; /* the values of a sample; time is the last */
    uint32_t n_measures;
    uint32_t *place;     /* [n_methods] id of its function; 0: not used */
    uint32_t n_used;     /* methods */
    qp_buf locations;    /* location; the id is the index + 1 */
    qp_dict location_of; /* method, line -> id */
    qp_dict inlined_of;  /* id of the caller, id of the same without caller -> id */
    qp_shares shares;
    uint32_t *
        endpoints; /* [n_nodes] method of the innermost endpoint; 0: none; NULL: there are none */
} pprof;

/* Begin a message of the profile. */
static qp_proto *begin(pprof *p, uint32_t field)
{
    qp_proto_begin(&p->proto, field);
    return &p->proto;
}

/* Write what is complete. */
static void flush(pprof *p)
{
    qp_proto_end_all(&p->proto);
    const size_t n = p->proto.bytes.n;
    void *to = n && p->whole && p->whole->n <= p->limits->n_bytes ? qp_buf_add_many(p->whole, n)
                                                                  : NULL;
    if (to)
        memcpy(to, p->proto.bytes.items, n);
    if (p->z)
        qp_gzip_bytes(p->z, p->proto.bytes.items, n);
    qp_proto_clear(&p->proto);
}

static void write_count(pprof *p, uint32_t field, uint64_t value)
{
    qp_proto_count(&p->proto, field, value);
    flush(p);
}

static void write_type(pprof *p, uint32_t field, uint32_t type, uint32_t unit)
{
    qp_proto *to = begin(p, field);
    qp_proto_count(to, TYPE_TYPE, type);
    qp_proto_count(to, TYPE_UNIT, unit);
    flush(p);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The number of its function. */
static uint32_t use_method(pprof *p, uint32_t method)
{
    if (!p->place[method])
        p->place[method] = ++p->n_used;
    return p->place[method];
}

/* The string of its name; that of its file is the next one. */
static uint32_t string_of(pprof *p, uint32_t method)
{
    return N_STRINGS + p->m->n_threads - 1 + 2 * (use_method(p, method) - 1);
}

/* @return its id; 0: no memory */
static uint32_t location_at(pprof *p, uint32_t method, uint32_t line)
{
    bool is_new;
    uint32_t id =
        qp_buf_keyed(&p->locations, &p->location_of, (uint64_t)method << 32 | line, &is_new);
    if (is_new) {
        ((location *)p->locations.items)[id - 1] = (location){method, line, 0};
        use_method(p, method);
    }
    return id;
}

static uint32_t inlined_at(pprof *p, uint32_t base, uint32_t caller)
{
    bool is_new;
    uint32_t id =
        qp_buf_keyed(&p->locations, &p->inlined_of, (uint64_t)caller << 32 | base, &is_new);
    if (is_new) {
        location *all = p->locations.items;
        all[id - 1] = (location){all[base - 1].method, all[base - 1].line, caller};
    }
    return id;
}

/* The location of the frame i, and of those above it that are inlined there, from frame `first` on. */
static uint32_t location_of_frames(pprof *p, const uint32_t *frames, uint32_t first, uint32_t i,
                                   uint32_t line)
{
    uint32_t caller = 0, id = 0;
    for (;; i--, caller = id) {
        id = location_at(p, frames[i], i ? p->m->methods[frames[i]].first_line : line);
        id = caller && id ? inlined_at(p, id, caller) : id;
        if (i == first || !id)
            return id;
    }
}

static void write_label(qp_proto *to, uint32_t key, uint32_t text)
{
    qp_proto_begin(to, SAMPLE_LABEL);
    qp_proto_count(to, LABEL_KEY, key);
    qp_proto_count(to, LABEL_TEXT, text);
    qp_proto_end(to);
}

/* @param line    of the innermost frame; the lines of the calls in the others are not known
 * @param values  [n_measures] */
static void write_sample(pprof *p, uint32_t node, uint32_t line, bool is_rest,
                         const uint64_t *values)
{
    uint32_t frames[QP_EXPORT_FRAMES];
    qp_proto *to = begin(p, PROFILE_SAMPLE);
    qp_proto_begin(to, SAMPLE_LOCATION);
    if (is_rest)
        qp_proto_varint(to, REST);
    p->has_rest |= is_rest;
    for (uint32_t i = 0, first = 0, n = qp_export_frames(p->m, node, frames); i < n; i++) {
        if ((p->m->methods[frames[i]].flags & QP_METHOD_INLINED) && i + 1 < n)
            continue;
        qp_proto_varint(to, location_of_frames(p, frames, first, i, line));
        first = i + 1;
    }
    qp_proto_end(to);
    qp_proto_begin(to, SAMPLE_VALUE);
    for (uint32_t i = 0; i < p->n_measures; i++)
        qp_proto_varint(to, values[i]);
    qp_proto_end(to);
    if (!p->m->run.joined)
        write_label(to, STRING_THREAD, N_STRINGS + p->m->nodes[node].thread - 1);
    if (p->endpoints && p->endpoints[node])
        write_label(to, STRING_ENDPOINT, string_of(p, p->endpoints[node]));
    flush(p);
}

/* The part of n that belongs to the first `ticks` of `all`. */
static uint64_t portion(uint64_t n, uint64_t ticks, uint64_t all)
{
    return all ? qp_product_share(n, ticks, 0, all) : 0;
}

/* Lines have time, and with it samples; the rest, calls and PC samples are where the function begins:
 * parts that add up to what the path has. */
static void write_path(pprof *p, const qp_export_path *path)
{
    const qp_model_node *n = &p->m->nodes[path->node];
    uint64_t self = path->f.self, done = 0, part, left[QP_MEASURES], any = 0;
    uint32_t line;
    for (uint32_t i = 0; i < p->n_measures; i++)
        left[i] =
            qp_measure_units(p->measures[i], p->m, qp_measure_self(p->measures[i], &path->f));
    while (p->m->run.has_times && !p->limits &&
           qp_shares_next(&p->shares, n->method, n->thread, self - done, &line, &part)) {
        uint64_t values[QP_MEASURES] = {0};
        for (uint32_t i = 0; i < p->n_measures; i++) {
            qp_measure x = p->measures[i];
            if (x != QP_MEASURE_TIME && x != QP_MEASURE_SAMPLES)
                continue;
            uint64_t whole = qp_measure_units(x, p->m, qp_measure_self(x, &path->f));
            values[i] = portion(whole, done + part, self) - portion(whole, done, self);
            left[i] -= values[i];
        }
        done += part;
        write_sample(p, path->node, line, false, values);
    }
    for (uint32_t i = 0; i < p->n_measures; i++)
        any |= left[i];
    if (any)
        write_sample(p, path->node, p->m->methods[n->method].first_line, path->is_rest, left);
}

/* ---- what samples refer to ------------------------------------------------------------------- */

static void write_mapping(pprof *p)
{
    qp_proto *to = begin(p, PROFILE_MAPPING);
    qp_proto_count(to, MAPPING_ID, 1);
    qp_proto_count(to, MAPPING_FILE, STRING_PROGRAM);
    qp_proto_count(to, MAPPING_HAS_FUNCTIONS, 1);
    qp_proto_count(to, MAPPING_HAS_FILES, 1);
    qp_proto_count(to, MAPPING_HAS_LINES, 1);
    flush(p);
}

/* @param string  of its name; its file is the next one */
static void write_function(pprof *p, uint32_t id, uint32_t string, uint32_t first_line)
{
    qp_proto *to = begin(p, PROFILE_FUNCTION);
    qp_proto_count(to, FUNCTION_ID, id);
    qp_proto_count(to, FUNCTION_NAME, string);
    qp_proto_count(to, FUNCTION_SYSTEM_NAME, string);
    qp_proto_count(to, FUNCTION_FILE, string + 1);
    qp_proto_count(to, FUNCTION_LINE, first_line);
    flush(p);
}

static void write_locations(pprof *p)
{
    for (size_t i = 0; i < p->locations.n; i++) {
        const location *l = (const location *)p->locations.items + i;
        qp_proto *to = begin(p, PROFILE_LOCATION);
        qp_proto_count(to, LOCATION_ID, i + 1);
        qp_proto_count(to, LOCATION_MAPPING, 1);
        for (;; l = (const location *)p->locations.items + l->caller - 1) {
            qp_proto_begin(to, LOCATION_LINE);
            qp_proto_count(to, LINE_FUNCTION, p->place[l->method]);
            qp_proto_count(to, LINE_LINE, l->line);
            qp_proto_end(to);
            if (!l->caller)
                break;
        }
        flush(p);
    }
}

static void write_rest(pprof *p)
{
    qp_proto *to = begin(p, PROFILE_FUNCTION);
    qp_proto_count(to, FUNCTION_ID, REST);
    qp_proto_count(to, FUNCTION_NAME, STRING_REST);
    qp_proto_count(to, FUNCTION_SYSTEM_NAME, STRING_REST);
    flush(p);
    to = begin(p, PROFILE_LOCATION);
    qp_proto_count(to, LOCATION_ID, REST);
    qp_proto_count(to, LOCATION_MAPPING, 1);
    qp_proto_begin(to, LOCATION_LINE);
    qp_proto_count(to, LINE_FUNCTION, REST);
    flush(p);
}

static void write_string(pprof *p, const char *text)
{
    qp_proto_text(&p->proto, PROFILE_STRING, text);
    flush(p);
}

static void write_strings(pprof *p, const uint32_t *used)
{
    const qp_model *m = p->m;
    bool is_ns = qp_measure_is_ns(QP_MEASURE_TIME, m);
    const char *fixed[N_STRINGS] = {[STRING_EMPTY] = "",
                                    [STRING_COUNT] = "count",
                                    [STRING_UNIT] = is_ns ? "nanoseconds" : m->run.unit,
                                    [STRING_NANOSECONDS] = "nanoseconds",
                                    [STRING_BYTES] = "bytes",
                                    [STRING_METRIC_UNIT] = qp_metric_unit(m->run.metric),
                                    [STRING_INTERRUPT_CLOCK] =
                                        m->run.is_pc_real ? "wall" : "cpu",
                                    [STRING_PROGRAM] = m->run.program,
                                    [STRING_REST] = QP_EXPORT_REST,
                                    [STRING_ENDPOINT] = "endpoint",
                                    [STRING_THREAD] = m->run.is_virtual ? "vthread" : "thread"};
    for (qp_measure x = 0; x < QP_MEASURES; x++)
        fixed[STRING_MEASURE + x] = qp_export_measure_name(m, x);
    for (uint32_t i = 0; i < N_STRINGS; i++)
        write_string(p, fixed[i]);
    for (uint32_t i = 1; i < m->n_threads; i++)
        write_string(p, qp_export_thread_name(m, i));
    for (uint32_t i = 1; i <= p->n_used; i++) {
        write_string(p, m->methods[used[i]].name);
        write_string(p, m->methods[used[i]].file);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void write_measure(pprof *p, uint32_t field, qp_measure x)
{
    write_type(p, field, STRING_MEASURE + x,
               x == QP_MEASURE_TIME     ? STRING_UNIT
               : x == QP_MEASURE_BYTES  ? STRING_BYTES
               : x == QP_MEASURE_METRIC ? STRING_METRIC_UNIT
                                        : STRING_COUNT);
}

/* What lies between two samples, or PC samples; else each unit was seen. */
static void write_period(pprof *p)
{
    const qp_run_info *run = &p->m->run;
    qp_measure last = p->measures[p->n_measures - 1];
    uint64_t sampled = run->is_stack_only ? run->pc_period_ns : run->sample_period_ns;
    if (run->time_mode == QP_TIME_SAMPLED && sampled) {
        write_measure(p, PROFILE_PERIOD_TYPE, QP_MEASURE_TIME);
        write_count(p, PROFILE_PERIOD, sampled);
    } else if (run->pc_period_ns) {
        write_type(p, PROFILE_PERIOD_TYPE, STRING_INTERRUPT_CLOCK, STRING_NANOSECONDS);
        write_count(p, PROFILE_PERIOD, run->pc_period_ns);
    } else {
        write_measure(p, PROFILE_PERIOD_TYPE, last);
        write_count(p, PROFILE_PERIOD, 1);
    }
}

/* Elapsed time as reports have it; else that of the calendar, in which days may lie between runs. */
static uint64_t duration_of(const qp_model *m)
{
    const qp_run_info *run = &m->run;
    if (run->clock_kind == QP_CLOCK_ELAPSED && run->wall)
        return qp_model_ns(m, run->wall);
    return run->ended_at > run->started_at ? run->ended_at - run->started_at : 0;
}

static void write_head(pprof *p)
{
    const qp_run_info *run = &p->m->run;
    for (uint32_t i = 0; i < p->n_measures; i++)
        write_measure(p, PROFILE_SAMPLE_TYPE, p->measures[i]);
    write_period(p);
    write_count(p, PROFILE_DEFAULT_TYPE, STRING_MEASURE + p->measures[p->n_measures - 1]);
    write_count(p, PROFILE_TIME, run->started_at);
    write_count(p, PROFILE_DURATION, duration_of(p->m));
    write_mapping(p);
}

/* Methods by their place. @return false: no memory */
static bool write_functions(pprof *p)
{
    const qp_model *m = p->m;
    uint32_t *used = qp_alloc_zeroed((size_t)p->n_used + 1, sizeof *used);
    if (!used)
        return false;
    for (uint32_t i = 1; i < m->n_methods; i++)
        used[p->place[i]] = i;
    for (uint32_t i = 1; i <= p->n_used; i++)
        write_function(p, i, string_of(p, used[i]), m->methods[used[i]].first_line);
    write_locations(p);
    if (p->has_rest)
        write_rest(p);
    write_strings(p, used);
    qp_free(used);
    return !p->proto.bytes.failed;
}

/* Of a path: that of its own method, or of what is above it, across the coroutines that it created.
 * @return false: no memory */
static bool find_endpoints(pprof *p)
{
    const qp_model *m = p->m;
    bool has_any = false;
    for (uint32_t i = 1; i < m->n_methods; i++)
        has_any |= (m->methods[i].flags & QP_METHOD_ENDPOINT) != 0;
    if (!has_any)
        return true;
    p->endpoints = qp_alloc_zeroed(m->n_nodes, sizeof *p->endpoints);
    for (uint32_t i = 1; p->endpoints && i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        uint32_t at = n->parent == QP_ROOT_NODE ? m->threads[n->thread].creator : 0;
        for (; at; at = m->nodes[at].parent ? m->nodes[at].parent
                                            : m->threads[m->nodes[at].thread].creator)
            if (m->methods[m->nodes[at].method].flags & QP_METHOD_ENDPOINT)
                break;
        p->endpoints[i] = m->methods[n->method].flags & QP_METHOD_ENDPOINT ? n->method
                          : n->parent ? p->endpoints[n->parent]
                          : at        ? m->nodes[at].method
                                      : 0;
    }
    return p->endpoints != NULL;
}

/* @param thread  the only one, or QP_ALL_THREADS. @return false: no memory */
static bool write_all(pprof *p, uint32_t thread, qp_export_limits *limits)
{
    const qp_model *m = p->m;
    qp_export_path *paths = NULL;
    size_t n_paths = 0;
    p->n_measures = qp_export_measures(m, p->measures);
    p->place = qp_alloc_zeroed(m->n_methods, sizeof *p->place);
    qp_proto_init(&p->proto);
    qp_shares_init(&p->shares, m);
    bool is_written =
        p->place && find_endpoints(p) && qp_export_paths(m, thread, &paths, &n_paths) &&
        (!limits || qp_export_cut(m, limits->n_samples, limits->depth, paths, &n_paths));
    if (is_written) {
        write_head(p);
        for (size_t i = 0; i < n_paths; i++)
            write_path(p, &paths[i]);
        is_written = !p->shares.failed && !p->locations.failed && write_functions(p);
    }
    if (limits && is_written)
        qp_export_note_cut(m, paths, n_paths, limits);
    qp_proto_fini(&p->proto);
    qp_shares_fini(&p->shares);
    qp_dict_fini(&p->location_of);
    qp_dict_fini(&p->inlined_of);
    qp_free(p->locations.items);
    qp_free(p->place);
    qp_free(p->endpoints);
    qp_free(paths);
    return is_written;
}

bool qp_export_pprof(const qp_model *m, qp_out *out, const qp_export_options *o,
                     qp_error *error)
{
    pprof p = {.m = m, .z = qp_gzip_new(out, false), .locations = QP_BUF(location)};
    const bool is_written = p.z && write_all(&p, o->thread, NULL);
    if (p.z)
        qp_gzip_end(p.z);
    return is_written || qp_error_fail(error, "out of memory");
}

bool qp_export_pprof_within(const qp_model *m, qp_export_limits *limits, qp_buf *to)
{
    pprof p = {.m = m, .whole = to, .limits = limits, .locations = QP_BUF(location)};
    return write_all(&p, QP_ALL_THREADS, limits) && !to->failed;
}
