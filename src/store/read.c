/* read.c: chooses profiles of a store, adds them up, checks them. Read qp_store_sum first. */
#include <string.h>

#include "format/layout.h"
#include "format/options.h"
#include "model/read/read.h"
#include "store/cluster.h"

/* ---- choosing ------------------------------------------------------------------------------- */

static bool is_any(const char *wanted, const char *text)
{
    return !wanted || strcmp(wanted, text) == 0;
}

/* @param label  "NAME=VALUE" */
static bool has_label(const qp_store_profile *p, const char *label)
{
    const size_t n = strlen(label), n_name = strcspn(label, "=");
    const char *found = qp_name_label(p->labels, label, n_name);
    if (!found && strncmp(label, "service=", n_name + 1) == 0)
        return strcmp(p->service, label + n_name + 1) == 0;
    if (!found && strncmp(label, "host=", n_name + 1) == 0)
        return strcmp(p->host, label + n_name + 1) == 0;
    return found && strcspn(found, ",") == n && memcmp(found, label, n) == 0;
}

static bool fits_in_time(const qp_store_profile *p, const qp_store_filter *f)
{
    if (!p->ended_at)
        return f->has_undated || (!f->since && !f->until);
    return p->ended_at >= f->since && (!f->until || p->ended_at < f->until);
}

static bool fits(const qp_store_profile *p, const qp_store_filter *f)
{
    bool is_chosen =
        is_any(f->service, p->service) && is_any(f->version, p->version) && fits_in_time(p, f);
    for (size_t i = 0; is_chosen && i < f->n_labels; i++)
        is_chosen = has_label(p, f->labels[i]);
    return is_chosen;
}

/* Text is the statement's until the next step. */
static qp_store_profile read_profile(sqlite3_stmt *st)
{
    return (qp_store_profile){.number = sqlite3_column_int64(st, 0),
                              .ended_at = (uint64_t)sqlite3_column_int64(st, 1),
                              .service = qp_store_text(st, 2),
                              .version = qp_store_text(st, 3),
                              .host = qp_store_text(st, 4),
                              .labels = qp_store_text(st, 5),
                              .file = qp_store_text(st, 6),
                              .calls = (uint64_t)sqlite3_column_int64(st, 7),
                              .self = (uint64_t)sqlite3_column_int64(st, 8),
                              .n_paths = (uint64_t)sqlite3_column_int64(st, 9),
                              .n_bytes = (uint64_t)sqlite3_column_int64(st, 10),
                              .unit = qp_store_text(st, 11),
                              .clock = qp_store_text(st, 12),
                              .has_calls = sqlite3_column_int(st, 13) != 0};
}

static bool keep(const qp_store_profile *p, qp_buf *profiles, qp_arena *arena)
{
    qp_store_profile *to = qp_buf_add(profiles);
    if (!to)
        return false;
    *to = *p;
    const char **const texts[] = {&to->service, &to->version, &to->host, &to->labels,
                                  &to->file,    &to->unit,    &to->clock};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = qp_arena_text(arena, *texts[i]);
        if (!*texts[i])
            return false;
    }
    return true;
}

static bool choose_of_servers(qp_cluster *c, const qp_store_filter *filter, qp_buf *profiles,
                              qp_arena *arena, qp_error *error)
{
    if (!qp_cluster_rows_read(c, error))
        return false;
    const qp_cluster_row *rows = c->visible.items;
    bool is_good = true;
    for (size_t i = 0; is_good && i < c->visible.n; i++)
        is_good = !fits(&rows[i].p, filter) || keep(&rows[i].p, profiles, arena);
    return is_good || qp_error_fail(error, "out of memory");
}

bool qp_store_choose(qp_store *s, const qp_store_filter *filter, qp_buf *profiles,
                     qp_arena *arena, qp_error *error)
{
    if (s->cluster)
        return choose_of_servers(s->cluster, filter, profiles, arena, error);
    int code = SQLITE_DONE;
    bool is_good = true;
    sqlite3_stmt *st = qp_store_prepare(
        s,
        "SELECT profile, ended_at, service, version, host, labels, file, calls, self, paths,"
        " length(segment) + length(records) + ifnull(length(counters), 0), unit, clock, "
        "has_calls"
        " FROM profile ORDER BY profile",
        error);
    while (st && is_good && (code = sqlite3_step(st)) == SQLITE_ROW) {
        const qp_store_profile p = read_profile(st);
        if (fits(&p, filter) && !keep(&p, profiles, arena))
            is_good = qp_error_fail(error, "out of memory");
    }
    if (st && is_good && code != SQLITE_DONE)
        is_good = qp_store_fail(s, error);
    sqlite3_finalize(st);
    return st && is_good;
}

/* ---- adding up ------------------------------------------------------------------------------ */

typedef struct {
    qp_store *s;
    const qp_store_names *names; /* the store's */
    qp_segment segment;
    qp_merge *sum;
    sqlite3_stmt *row;
    const qp_store_profile *end; /* of the profiles that are read */
    bool *has_path;              /* [names.paths.n] a profile has it */
    uint32_t *
        places; /* [names.paths.n] in the sum, of those that a profile has; else QP_MERGE_NONE */
    uint32_t *methods;                  /* [names.methods.n] the same */
    uint64_t *columns[QP_PATH_COLUMNS]; /* [names.paths.n] sums; NULL: 0 so far */
} reading;

/* @return [n] of QP_MERGE_NONE; NULL: no memory */
static uint32_t *places_for(size_t n)
{
    uint32_t *places = qp_alloc(n, sizeof *places);
    for (size_t i = 0; places && i < n; i++)
        places[i] = QP_MERGE_NONE;
    return places;
}

static bool begin(reading *x, qp_store *s, const qp_store_profile *end, qp_error *error)
{
    *x = (reading){.s = s, .names = &s->names, .sum = qp_merge_new(), .end = end};
    qp_segment_init(&x->segment);
    if (s->cluster ? !qp_cluster_names_read(s->cluster, &s->names, error)
                   : !qp_store_names_read(s, 0, 0, &s->names, error))
        return false;
    if (!s->cluster)
        x->row = qp_store_prepare(
            s, "SELECT segment, records, counters FROM profile WHERE profile = ?", error);
    x->has_path = qp_alloc_zeroed(x->names->paths.n, sizeof *x->has_path);
    x->places = places_for(x->names->paths.n);
    x->methods = places_for(x->names->methods.n);
    if (!x->sum || !x->has_path || !x->places || !x->methods)
        return qp_error_fail(error, "out of memory");
    return x->row || s->cluster;
}

static void end(reading *x)
{
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        qp_free(x->columns[k]);
    sqlite3_finalize(x->row);
    qp_segment_fini(&x->segment);
    qp_free(x->has_path);
    qp_free(x->places);
    qp_free(x->methods);
}

enum { SEGMENT, RECORDS, COUNTERS }; /* of `row` */

static bool fail_profile(const qp_store_profile *p, const char *why, qp_error *error)
{
    qp_store_note_failure();
    return qp_error_fail(error, "%.200s, profile %lld of the store: %.200s", p->file,
                         (long long)p->number, why);
}

/* The same of a profile on servers. */
static bool unpack_parts(reading *x, const qp_store_profile *p, int column, qp_error *error)
{
    const qp_cluster_parts *parts =
        qp_cluster_parts_of(x->s->cluster, p, (size_t)(x->end - p), true, error);
    return parts && (qp_segment_unpack(
                         &x->segment, column == RECORDS ? parts->records : parts->counters,
                         column == RECORDS ? parts->n_record_bytes : parts->n_counter_bytes) ||
                     fail_profile(p, "damaged", error));
}

/* Unpack a column of a profile's row, into x->segment.bytes, which is empty if the row has NULL there.
 * @return false: see error */
static bool unpack(reading *x, const qp_store_profile *p, int column, qp_error *error)
{
    if (x->s->cluster)
        return unpack_parts(x, p, column, error);
    sqlite3_bind_int64(x->row, 1, p->number);
    const int code = sqlite3_step(x->row);
    bool is_good = code == SQLITE_ROW;
    if (code == SQLITE_DONE)
        fail_profile(p, "another command has removed it", error);
    else if (!is_good)
        qp_store_fail(x->s, error);
    else if (column == COUNTERS && sqlite3_column_type(x->row, column) == SQLITE_NULL)
        x->segment.n_bytes = 0;
    else if (!qp_segment_unpack(&x->segment, sqlite3_column_blob(x->row, column),
                                (size_t)sqlite3_column_bytes(x->row, column)))
        is_good = fail_profile(p, "damaged", error);
    sqlite3_reset(x->row);
    return is_good;
}

/* Of a profile on servers methods alone. @return false: see error */
static bool read_columns(reading *x, const qp_store_profile *p, qp_error *error)
{
    if (x->s->cluster)
        return qp_cluster_methods(x->s->cluster, p, (size_t)(x->end - p), &x->segment, error);
    return unpack(x, p, SEGMENT, error) &&
           (qp_segment_read(&x->segment, x->names->methods.n, x->names->paths.n) ||
            fail_profile(p, "its columns are damaged", error));
}

/* All but the call paths. @return free with qp_model_free(); NULL: see error */
static qp_model *read_records(reading *x, const qp_store_profile *p, qp_error *error)
{
    qp_model *m = NULL;
    if (!unpack(x, p, RECORDS, error))
        return NULL;
    const qp_load_status status =
        qp_model_load_bytes(x->segment.bytes.items, x->segment.n_bytes, NULL, &m, error);
    if (status == QP_LOAD_CLEAN)
        return m;
    fail_profile(p, status == QP_LOAD_SALVAGED ? m->losses[0] : error->text, error);
    qp_model_free(m);
    return NULL;
}

/* On servers counters name what the profile lists. */
static bool read_counters_of_servers(reading *x, const qp_store_profile *p, qp_merge *sum,
                                     qp_error *error)
{
    qp_cluster *c = x->s->cluster;
    const qp_cluster_parts *parts =
        qp_cluster_parts_of(c, p, (size_t)(x->end - p), true, error);
    if (!parts || !unpack(x, p, COUNTERS, error))
        return false;
    uint32_t *methods = qp_alloc(parts->n_methods, sizeof *methods),
             *roots = qp_alloc(parts->n_roots, sizeof *roots);
    const qp_store_places places = {.methods = methods,
                                    .paths = roots,
                                    .n_methods = parts->n_methods,
                                    .n_paths = parts->n_roots};
    bool is_good = (methods && roots) || qp_error_fail(error, "out of memory");
    for (size_t i = 0; is_good && i < parts->n_methods; i++) {
        const uint32_t at = qp_cluster_place_of(&c->methods, parts->methods[i] & ~UINT64_C(1));
        methods[i] = at == QP_MERGE_NONE ? at : x->methods[at];
    }
    for (size_t i = 0; is_good && i < parts->n_roots; i++) {
        const uint32_t at = qp_cluster_place_of(&c->paths, parts->roots[i]);
        roots[i] = at == QP_MERGE_NONE ? at : x->places[at];
    }
    is_good =
        is_good && (qp_counters_add(x->segment.bytes.items, x->segment.n_bytes, &places, sum) ||
                    fail_profile(p, "its counters are damaged", error));
    qp_free(methods);
    qp_free(roots);
    return is_good;
}

/* @param sum  NULL: only look whether they can be read @return false: see error */
static bool read_counters(reading *x, const qp_store_profile *p, qp_merge *sum, qp_error *error)
{
    if (x->s->cluster)
        return read_counters_of_servers(x, p, sum, error);
    const qp_store_places places = {.methods = x->methods,
                                    .paths = x->places,
                                    .n_methods = x->names->methods.n,
                                    .n_paths = x->names->paths.n};
    return unpack(x, p, COUNTERS, error) &&
           (!x->segment.n_bytes ||
            qp_counters_add(x->segment.bytes.items, x->segment.n_bytes, &places, sum) ||
            fail_profile(p, "its counters are damaged", error));
}

/* The methods of the profile in its order, as merging adds them. @return false: no memory */
static bool add_methods(reading *x)
{
    const qp_builder_code *codes = x->names->methods.items;
    for (size_t i = 0; i < x->segment.n_methods; i++) {
        const uint64_t value = x->segment.methods[i];
        const size_t at = (size_t)(value / 2 - 1);
        qp_builder_code code = codes[at];
        code.flags |= value & 1 ? QP_METHOD_MISSED : 0;
        if (x->methods[at] != QP_MERGE_NONE && !(value & 1))
            continue;
        x->methods[at] = qp_merge_put_method(x->sum, &code);
        if (x->methods[at] == QP_MERGE_NONE)
            return false;
    }
    return true;
}

/* @return false: no memory */
static bool add_columns(reading *x)
{
    const qp_segment *segment = &x->segment;
    const size_t n = x->names->paths.n;
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++) {
        const uint64_t start = qp_path_column_start(segment->mode, (qp_path_column)k);
        const bool is_pair = segment->mode == QP_TIME_ADAPTIVE && k >= QP_PATH_LOW;
        if (x->columns[k] || (!segment->columns[k] && !is_pair))
            continue;
        x->columns[k] = qp_alloc_zeroed(n, sizeof *x->columns[k]);
        if (!x->columns[k])
            return false;
        for (size_t i = 0; start && i < n; i++)
            x->columns[k][i] = start;
    }
    for (size_t i = 0; i < segment->n_paths; i++)
        x->has_path[segment->paths[i]] = true;
    qp_path_columns_add(segment->mode, x->columns, (const uint64_t *const *)segment->columns,
                        segment->paths, segment->n_paths);
    return true;
}

/* Put a path into the sum, after the paths that it names. @return false: see error */
static bool place_path(reading *x, size_t i, qp_error *error)
{
    qp_merge_path path = ((const qp_merge_path *)x->names->paths.items)[i];
    const bool is_sound =
        path.thread ? !path.creator || x->has_path[path.creator - 1]
                    : x->has_path[path.parent] && x->methods[path.method] != QP_MERGE_NONE;
    if (!is_sound)
        return qp_error_fail(error, "damaged: call path %zu lacks what it names", i + 1) ||
               qp_store_note_failure();
    if (path.thread) {
        path.creator = path.creator ? x->places[path.creator - 1] + 1 : 0;
    } else {
        path.parent = x->places[path.parent];
        path.method = x->methods[path.method];
    }
    x->places[i] = qp_merge_put_path(x->sum, &path);
    return x->places[i] != QP_MERGE_NONE || qp_error_fail(error, "out of memory");
}

static void add_figures(reading *x, size_t i)
{
    uint64_t figures[QP_PATH_COLUMNS];
    const qp_merge_path *path = (const qp_merge_path *)x->names->paths.items + i;
    const qp_time_mode mode = qp_merge_time_mode(x->sum);
    for (unsigned k = 0; k < QP_PATH_COLUMNS; k++)
        figures[k] =
            x->columns[k] ? x->columns[k][i] : qp_path_column_start(mode, (qp_path_column)k);
    if (!path->thread)
        qp_merge_path_add(x->sum, x->places[i], figures);
}

/* What each server has adds up as a profile does. @return false: see error */
static bool add_servers(reading *x, const qp_store_profile *profiles, size_t n, qp_error *error)
{
    bool is_good = true;
    for (unsigned i = 0; is_good && i < x->s->cluster->n_shards; i++)
        is_good =
            qp_cluster_sums(x->s->cluster, i, profiles, n, &x->segment, error) &&
            (!x->segment.n_paths || add_columns(x) || qp_error_fail(error, "out of memory"));
    return is_good;
}

/* The columns of all, then their paths, then their other records: methods and paths are in the order that
 * merging gives them. */
static bool add_all(reading *x, const qp_store_profile *profiles, size_t n, bool is_forced,
                    qp_error *error)
{
    bool is_good = true;
    size_t n_alike = 0; /* of one mode of time */
    for (size_t i = 0; is_good && i < n; i++) {
        is_good = read_columns(x, &profiles[i], error);
        if (i == 0 && is_good)
            qp_merge_expect(x->sum, x->segment.mode);
        if (is_good && x->segment.mode != qp_merge_time_mode(x->sum))
            break; /* their records do not add up, and say so below */
        if (is_good && (!add_methods(x) || !add_columns(x)))
            is_good = qp_error_fail(error, "out of memory");
        n_alike = i + 1;
    }
    if (is_good && x->s->cluster)
        is_good = add_servers(x, profiles, n_alike, error);
    for (size_t i = 0; is_good && i < x->names->paths.n; i++)
        is_good = !x->has_path[i] || place_path(x, i, error);
    for (size_t i = 0; is_good && i < n; i++) {
        qp_model *m = read_records(x, &profiles[i], error);
        is_good = m && qp_merge_add(x->sum, m, profiles[i].file, is_forced, error) &&
                  read_counters(x, &profiles[i], x->sum, error);
        qp_model_free(m);
    }
    for (size_t i = 0; is_good && i < x->names->paths.n; i++)
        if (x->has_path[i])
            add_figures(x, i);
    return is_good;
}

qp_merge *qp_store_sum(qp_store *s, const qp_store_profile *profiles, size_t n, bool is_forced,
                       qp_error *error)
{
    reading x;
    error->text[0] = '\0';
    const bool is_good =
        begin(&x, s, profiles + n, error) && add_all(&x, profiles, n, is_forced, error);
    end(&x);
    if (is_good)
        return x.sum;
    qp_merge_free(x.sum);
    return NULL;
}

/* ---- keeping -------------------------------------------------------------------------------- */

/* Whether a profile names what its paths name. */
static bool is_closed(reading *x)
{
    const qp_merge_path *paths = x->names->paths.items;
    const qp_segment *segment = &x->segment;
    bool is_good = true;
    for (size_t i = 0; i < segment->n_paths; i++)
        x->has_path[segment->paths[i]] = true;
    for (size_t i = 0; is_good && i < segment->n_paths; i++) {
        const qp_merge_path *path = &paths[segment->paths[i]];
        is_good = path->thread ? !path->creator || x->has_path[path->creator - 1]
                               : x->has_path[path->parent];
    }
    for (size_t i = 0; i < segment->n_paths; i++)
        x->has_path[segment->paths[i]] = false;
    return is_good;
}

static bool check_profile(reading *x, const qp_store_profile *p, qp_error *error)
{
    qp_model *m = read_records(x, p, error);
    const qp_cluster_row *row =
        x->s->cluster ? qp_cluster_row_of(x->s->cluster, p->number) : NULL;
    const bool is_read =
        m && read_counters(x, p, NULL, error) && read_columns(x, p, error) &&
        (!row || qp_cluster_sums(x->s->cluster, row->shard, p, 1, &x->segment, error));
    const bool is_one = is_read && x->segment.mode == m->run.time_mode;
    qp_model_free(m);
    if (!is_read)
        return false;
    if (!is_one)
        return fail_profile(p, "its columns are of another mode of time", error);
    if (!is_closed(x))
        return fail_profile(p, "a call path lacks its caller", error);
    return (qp_segment_calls(&x->segment) == p->calls &&
            qp_segment_self(&x->segment) == p->self && x->segment.n_paths == p->n_paths) ||
           fail_profile(p, "its sums are not those that it came with", error);
}

/* What SQLite found, on one line, without its rulers. */
static bool fail_database(const char *text, qp_error *error)
{
    static const char ruler[] = "*** ";
    const char *line = strncmp(text, ruler, sizeof ruler - 1) == 0 ? strchr(text, '\n') : NULL;
    qp_error_fail(error, "damaged: SQLite says: %.300s", line ? line + 1 : text);
    for (char *c = error->text; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    return qp_store_note_failure();
}

static bool check_database(const qp_store *s, qp_error *error)
{
    sqlite3_stmt *st = qp_store_prepare(s, "PRAGMA integrity_check(1)", error);
    bool is_good = st && (sqlite3_step(st) == SQLITE_ROW || qp_store_fail(s, error));
    if (is_good && strcmp(qp_store_text(st, 0), "ok") != 0)
        is_good = fail_database(qp_store_text(st, 0), error);
    sqlite3_finalize(st);
    return is_good;
}

/* The requests that were kept whole, and their calls. @return how many mistakes there are */
static size_t check_kept(qp_store *s, const qp_store_profile *profiles, size_t n,
                         void (*show)(void *to, const char *mistake), void *to)
{
    qp_buf requests = QP_BUF(qp_store_kept);
    qp_arena arena;
    qp_error error = {.text = ""};
    qp_arena_init(&arena);
    const bool is_read = qp_store_kept_requests(s, profiles, n, &requests, &arena, &error);
    size_t n_wrong = !is_read;
    if (!is_read)
        show(to, error.text);
    for (size_t i = 0; is_read && i < requests.n; i++) {
        qp_kept_calls calls;
        const qp_store_kept *x = (const qp_store_kept *)requests.items + i;
        if (!qp_store_kept_calls(s, x->number, &calls, &arena, &error)) {
            show(to, error.text);
            n_wrong++;
        }
        qp_kept_calls_fini(&calls);
    }
    qp_free(requests.items);
    qp_arena_fini(&arena);
    return n_wrong;
}

size_t qp_store_check(qp_store *s, const qp_store_profile *profiles, size_t n,
                      void (*show)(void *to, const char *mistake), void *to)
{
    reading x;
    qp_error error = {.text = ""};
    size_t n_wrong = !s->cluster && !check_database(s, &error);
    if (n_wrong)
        show(to, error.text);
    if (begin(&x, s, profiles + n, &error)) {
        for (size_t i = 0; i < n; i++) {
            error.text[0] = '\0';
            if (check_profile(&x, &profiles[i], &error))
                continue;
            show(to, error.text);
            n_wrong++;
        }
    } else {
        show(to, error.text);
        n_wrong++;
    }
    end(&x);
    qp_merge_free(x.sum);
    return n_wrong + check_kept(s, profiles, n, show, to);
}

bool qp_store_remove(qp_store *s, const qp_store_profile *profiles, size_t n, qp_error *error)
{
    if (s->cluster)
        return qp_cluster_remove(s->cluster, profiles, n, error);
    if (!qp_store_execute(s, "BEGIN IMMEDIATE", error))
        return false;
    bool is_good = true;
    for (size_t i = 0; is_good && i < n; i++)
        is_good = qp_store_remove_row(s, profiles[i].number, error);
    is_good = is_good && qp_store_execute(s, "COMMIT", error);
    if (!is_good)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return is_good;
}
