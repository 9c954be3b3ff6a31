/* profile_pprof.c: pprof's profile.proto, compressed: a sample a call path, with its calls and its
 * own time; the thread is a label.
 *
 * Strings are not looked up but placed: first the fixed ones, then the threads' names, then name
 * and file of each method that is used. */
#include "base/alloc.h"
#include "export/gzip.h"
#include "export/profile.h"
#include "export/protobuf.h"

/* Fields of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_TYPE = 14,
    TYPE_TYPE = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5
};

/* The fixed strings. */
enum {
    STRING_EMPTY,
    STRING_CALLS,
    STRING_COUNT,
    STRING_TIME,
    STRING_UNIT,
    STRING_PROGRAM,
    STRING_THREAD,
    N_STRINGS
};

typedef struct {
    const qp_model *m;
    qp_gzip *z;
    uint32_t *place; /* [n_methods] id of its function and its location; 0: not used */
    uint32_t n_used;
} pprof;

static void write_message(pprof *p, uint32_t field, const qp_proto *message)
{
    qp_proto head;
    qp_proto_init(&head);
    qp_proto_head(&head, field, message->n);
    qp_gzip_bytes(p->z, head.bytes, head.n);
    qp_gzip_bytes(p->z, message->bytes, message->n);
}

static void write_count(pprof *p, uint32_t field, uint64_t value)
{
    qp_proto count;
    qp_proto_init(&count);
    qp_proto_count(&count, field, value);
    qp_gzip_bytes(p->z, count.bytes, count.n);
}

static void write_type(pprof *p, uint32_t field, uint32_t type, uint32_t unit)
{
    qp_proto message;
    qp_proto_init(&message);
    qp_proto_count(&message, TYPE_TYPE, type);
    qp_proto_count(&message, TYPE_UNIT, unit);
    write_message(p, field, &message);
}

/* ---- samples --------------------------------------------------------------------------------- */

static uint32_t place_of(pprof *p, uint32_t method)
{
    if (!p->place[method])
        p->place[method] = ++p->n_used;
    return p->place[method];
}

static void write_sample(pprof *p, const qp_export_path *path)
{
    uint32_t frames[QP_EXPORT_FRAMES];
    qp_proto sample, packed;
    qp_proto_init(&sample);
    qp_proto_init(&packed);
    for (uint32_t i = 0, n = qp_export_frames(p->m, path->node, frames); i < n; i++)
        qp_proto_varint(&packed, place_of(p, frames[i]));
    qp_proto_message(&sample, SAMPLE_LOCATION, &packed);
    qp_proto_init(&packed);
    qp_proto_varint(&packed, path->calls);
    if (p->m->run.has_times)
        qp_proto_varint(&packed, qp_model_ns(p->m, path->self));
    qp_proto_message(&sample, SAMPLE_VALUE, &packed);
    qp_proto_init(&packed);
    qp_proto_count(&packed, LABEL_KEY, STRING_THREAD);
    qp_proto_count(&packed, LABEL_TEXT, N_STRINGS + p->m->nodes[path->node].thread - 1);
    qp_proto_message(&sample, SAMPLE_LABEL, &packed);
    write_message(p, PROFILE_SAMPLE, &sample);
}

/* ---- what samples refer to ------------------------------------------------------------------- */

static void write_mapping(pprof *p)
{
    qp_proto mapping;
    qp_proto_init(&mapping);
    qp_proto_count(&mapping, MAPPING_ID, 1);
    qp_proto_count(&mapping, MAPPING_FILE, STRING_PROGRAM);
    qp_proto_count(&mapping, MAPPING_HAS_FUNCTIONS, 1);
    qp_proto_count(&mapping, MAPPING_HAS_FILES, 1);
    qp_proto_count(&mapping, MAPPING_HAS_LINES, 1);
    write_message(p, PROFILE_MAPPING, &mapping);
}

/* A function and its one location; their texts are at and behind `string`. */
static void write_function(pprof *p, uint32_t id, uint32_t string, uint32_t first_line)
{
    qp_proto function, location, line;
    qp_proto_init(&function);
    qp_proto_count(&function, FUNCTION_ID, id);
    qp_proto_count(&function, FUNCTION_NAME, string);
    qp_proto_count(&function, FUNCTION_SYSTEM_NAME, string);
    qp_proto_count(&function, FUNCTION_FILE, string + 1);
    qp_proto_count(&function, FUNCTION_LINE, first_line);
    write_message(p, PROFILE_FUNCTION, &function);

    qp_proto_init(&line);
    qp_proto_count(&line, LINE_FUNCTION, id);
    qp_proto_count(&line, LINE_LINE, first_line);
    qp_proto_init(&location);
    qp_proto_count(&location, LOCATION_ID, id);
    qp_proto_count(&location, LOCATION_MAPPING, 1);
    qp_proto_message(&location, LOCATION_LINE, &line);
    write_message(p, PROFILE_LOCATION, &location);
}

static bool write_string(pprof *p, const char *text)
{
    size_t n;
    char *clean = qp_proto_text(text, &n);
    qp_proto head;
    if (!clean)
        return false;
    qp_proto_init(&head);
    qp_proto_head(&head, PROFILE_STRING, n);
    qp_gzip_bytes(p->z, head.bytes, head.n);
    qp_gzip_bytes(p->z, clean, n);
    qp_free(clean);
    return true;
}

static bool write_strings(pprof *p, const uint32_t *used)
{
    const qp_model *m = p->m;
    const char *const fixed[N_STRINGS] = {
        [STRING_EMPTY] = "",
        [STRING_CALLS] = "calls",
        [STRING_COUNT] = "count",
        [STRING_TIME] = qp_export_time_name(m),
        [STRING_UNIT] = m->run.clock_kind <= QP_CLOCK_USER_KERNEL ? "nanoseconds" : m->run.unit,
        [STRING_PROGRAM] = m->run.program,
        [STRING_THREAD] = m->run.is_virtual ? "vthread" : "thread"};
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < N_STRINGS; i++)
        is_good = write_string(p, fixed[i]);
    for (uint32_t i = 1; is_good && i < m->n_threads; i++)
        is_good = write_string(p, m->threads[i].name);
    for (uint32_t i = 1; is_good && i <= p->n_used; i++)
        is_good = write_string(p, m->methods[used[i]].name) &&
                  write_string(p, m->methods[used[i]].file);
    return is_good;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void write_types(pprof *p)
{
    const qp_run *run = &p->m->run;
    uint32_t type = run->has_times ? STRING_TIME : STRING_CALLS;
    uint32_t unit = run->has_times ? STRING_UNIT : STRING_COUNT;
    write_type(p, PROFILE_SAMPLE_TYPE, STRING_CALLS, STRING_COUNT);
    if (run->has_times)
        write_type(p, PROFILE_SAMPLE_TYPE, STRING_TIME, STRING_UNIT);
    write_type(p, PROFILE_PERIOD_TYPE, type, unit);
    write_count(p, PROFILE_PERIOD, 1);
    write_count(p, PROFILE_DEFAULT_TYPE, type);
    write_count(p, PROFILE_TIME, run->started_at);
    if (run->ended_at > run->started_at)
        write_count(p, PROFILE_DURATION, run->ended_at - run->started_at);
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
        write_function(p, i, N_STRINGS + m->n_threads - 1 + 2 * (i - 1),
                       m->methods[used[i]].first_line);
    bool is_written = write_strings(p, used);
    qp_free(used);
    return is_written;
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    pprof p = {.m = m, .z = qp_gzip_new(out)};
    qp_export_path *paths = NULL;
    size_t n_paths = 0;
    p.place = qp_alloc_zeroed(m->n_methods, sizeof *p.place);
    bool is_written = p.z && p.place && qp_export_paths(m, o->thread, &paths, &n_paths);
    if (is_written) {
        write_types(&p);
        for (size_t i = 0; i < n_paths; i++)
            write_sample(&p, &paths[i]);
        is_written = write_functions(&p);
    }
    if (p.z)
        qp_gzip_end(p.z);
    qp_free(p.place);
    qp_free(paths);
    return is_written || qp_export_fails(error);
}

const qp_exporter qp_export_pprof = {
    .name = "pprof",
    .suffix = ".pb.gz",
    .summary = "go tool pprof, Pyroscope, Parca, Perfetto, speedscope",
    .limits = "lines within functions, paths deeper than 1,024 frames",
    .is_binary = true,
    .write = write};
