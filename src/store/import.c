/* import.c: a profile becomes a row of a store, in one transaction. Read qp_store_import first. */
#include <string.h>
#include <unistd.h>

#include "base/os/file.h"
#include "format/layout.h"
#include "format/options.h"
#include "model/model.h"
#include "model/read/read.h"
#include "store/cluster.h"

/* The value of a label, or another text where it has none. */
static void take_label(char to[QP_LABELS_BYTES], const char *labels, const char *name,
                       const char *otherwise)
{
    const size_t n = strlen(name);
    const char *label = qp_name_label(labels, name, n);
    if (label)
        qp_text_format(to, QP_LABELS_BYTES, "%.*s", (int)strcspn(label + n + 1, ","),
                       label + n + 1);
    else
        qp_text_format(to, QP_LABELS_BYTES, "%s", otherwise);
}

/* A run is known by the random number of its file, or by the hash of it where the tool wrote it. What it
 * recorded between two clears, or two cuts of its spool, grows: a later state holds an earlier one. */
static void describe(qp_store_row *d, const qp_model *m, const char *file)
{
    const qp_head *h = qp_image_head(&m->own->image);
    const qp_run_info *run = &m->run;
    *d = (qp_store_row){.file = file,
                        .nonce = h->nonce,
                        .started_at = run->started_at,
                        .clears = (uint64_t)h->cut << 32 | h->clear_count,
                        .dataset = run->dataset,
                        .ended_at = run->ended_at,
                        .labels = run->labels,
                        .unit = run->unit,
                        .clock = run->clock_text,
                        .has_calls = run->has_calls};
    if (!d->ended_at && run->started_at)
        d->ended_at = qp_sum(run->started_at, qp_model_ns(m, run->wall));
    take_label(d->service, run->labels, "service", run->program);
    take_label(d->version, run->labels, "version", "");
    take_label(d->host, run->labels, "host", run->host);
}

/* ---- the transaction ------------------------------------------------------------------------ */

/* SQLite has numbers with a sign; bits come back as they were. */
static void bind_number(sqlite3_stmt *st, int at, uint64_t n)
{
    sqlite3_bind_int64(st, at, (int64_t)n);
}

/* @param sql  finds it by its identity
 * @return 0: it is not there; else its number. *is_later: what is there has all that this one has */
static int64_t find_known(const qp_store_addition *x, const char *sql, bool *is_later,
                          qp_error *error)
{
    const qp_store_row *d = x->d;
    int64_t number = 0;
    sqlite3_stmt *st = qp_store_prepare(x->s, sql, error);
    if (!st)
        return -1;
    bind_number(st, 1, d->nonce);
    bind_number(st, 2, d->started_at);
    bind_number(st, 3, d->clears);
    if (sqlite3_step(st) == SQLITE_ROW) {
        const uint64_t dataset = (uint64_t)sqlite3_column_int64(st, 1),
                       ended_at = (uint64_t)sqlite3_column_int64(st, 2),
                       calls = (uint64_t)sqlite3_column_int64(st, 3);
        number = sqlite3_column_int64(st, 0);
        *is_later = dataset != d->dataset     ? dataset > d->dataset
                    : ended_at != d->ended_at ? ended_at > d->ended_at
                                              : calls >= x->calls;
    }
    sqlite3_finalize(st);
    return number;
}

bool qp_store_run_for(const qp_store *s, const char *sql, int64_t number, int64_t second,
                      qp_error *error)
{
    sqlite3_stmt *st = qp_store_prepare(s, sql, error);
    if (st) {
        sqlite3_bind_int64(st, 1, number);
        if (second)
            sqlite3_bind_int64(st, 2, second);
    }
    const bool is_good = st && qp_store_step(s, st, error);
    sqlite3_finalize(st);
    return is_good;
}

bool qp_store_remove_row(const qp_store *s, int64_t number, qp_error *error)
{
    return qp_store_run_for(s, "DELETE FROM slow WHERE profile = ?", number, 0, error) &&
           qp_store_run_for(s, "DELETE FROM profile WHERE profile = ?", number, 0, error);
}

static bool insert_row(const qp_store_addition *x, qp_error *error)
{
    const qp_store_row *d = x->d;
    sqlite3_stmt *st = qp_store_prepare(x->s,
                                        "INSERT INTO profile (nonce, started_at, clears,"
                                        " dataset, ended_at, service, version, host, labels,"
                                        " file, unit, clock, has_calls, calls, self, paths,"
                                        " segment, records, counters)"
                                        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                        error);
    if (!st)
        return false;
    const uint64_t numbers[] = {d->nonce, d->started_at, d->clears, d->dataset, d->ended_at};
    const char *const texts[] = {d->service, d->version, d->host, d->labels,
                                 d->file,    d->unit,    d->clock};
    enum {
        N_NUMBERS = sizeof numbers / sizeof *numbers,
        N_TEXTS = sizeof texts / sizeof *texts
    };
    int at = 0;
    for (int i = 0; i < N_NUMBERS; i++)
        bind_number(st, ++at, numbers[i]);
    for (int i = 0; i < N_TEXTS; i++)
        qp_store_bind_text(st, ++at, texts[i]);
    bind_number(st, ++at, d->has_calls);
    bind_number(st, ++at, x->calls);
    bind_number(st, ++at, x->self);
    bind_number(st, ++at, qp_merge_n_paths(x->one));
    sqlite3_bind_blob64(st, ++at, x->segment.items, x->segment.n, SQLITE_STATIC);
    sqlite3_bind_blob64(st, ++at, x->records.items, x->records.n, SQLITE_STATIC);
    sqlite3_bind_blob64(st, ++at, x->counters.items, x->counters.n, SQLITE_STATIC);
    const bool is_good = qp_store_step(x->s, st, error);
    sqlite3_finalize(st);
    return is_good;
}

/* Give methods and paths the numbers that they have in the store. @return false: no memory */
static bool number_all(qp_store *s, const qp_merge *one, uint32_t *methods, uint32_t *paths)
{
    for (uint32_t i = 0; i < qp_merge_n_methods(one); i++) {
        const qp_builder_code code = qp_merge_method_at(one, i);
        methods[i] = qp_merge_put_method(s->known, &code);
        if (methods[i] == QP_MERGE_NONE)
            return false;
    }
    for (uint32_t i = 0; i < qp_merge_n_paths(one); i++) {
        qp_merge_path path;
        uint64_t unused[QP_PATH_COLUMNS];
        qp_merge_path_at(one, i, &path, unused);
        path.parent = path.thread ? 0 : paths[path.parent];
        path.method = path.thread ? 0 : methods[path.method];
        path.creator = path.creator ? paths[path.creator - 1] + 1 : 0;
        paths[i] = qp_merge_put_path(s->known, &path);
        if (paths[i] == QP_MERGE_NONE)
            return false;
    }
    return true;
}

/* New methods and paths, and the columns that name them. @return false: see error */
static bool write_columns(qp_store_addition *x, qp_error *error)
{
    qp_store *s = x->s;
    qp_buf bytes = QP_BUF(unsigned char), counters = QP_BUF(unsigned char);
    const size_t n_methods = qp_merge_n_methods(s->known), n_paths = qp_merge_n_paths(s->known);
    uint32_t *methods = qp_alloc(qp_merge_n_methods(x->one), sizeof *methods),
             *paths = qp_alloc(qp_merge_n_paths(x->one), sizeof *paths);
    bool is_good = methods && paths && number_all(s, x->one, methods, paths) &&
                   qp_segment_write(x->one, methods, paths, &bytes) &&
                   qp_segment_pack(bytes.items, bytes.n, &x->segment) &&
                   qp_counters_write(x->one, methods, paths, &counters) &&
                   qp_segment_pack(counters.items, counters.n, &x->counters);
    qp_free(methods);
    qp_free(paths);
    qp_free(bytes.items);
    qp_free(counters.items);
    return is_good ? qp_store_names_write(s, n_methods, n_paths, error)
                   : qp_error_fail(error, "out of memory");
}

bool qp_store_put(qp_store_addition *x, qp_error *error)
{
    return qp_store_learn(x->s, error) && write_columns(x, error) && insert_row(x, error) &&
           (!x->m || qp_store_put_kept(x->s, x->m, sqlite3_last_insert_rowid(x->s->db), error));
}

static qp_import_result add_row(qp_store_addition *x, qp_error *error)
{
    static const char by_row[] = "SELECT profile, dataset, ended_at, calls FROM profile"
                                 " WHERE nonce = ? AND started_at = ? AND clears = ?";
    static const char in_sum[] =
        "SELECT profile, r.dataset, r.ended_at, r.calls FROM rolled r JOIN profile USING"
        " (profile) WHERE r.nonce = ? AND r.started_at = ? AND r.clears = ?";
    qp_store *s = x->s;
    bool is_later = false;
    const int64_t rolled = find_known(x, in_sum, &is_later, error);
    if (rolled > 0 && !is_later) {
        qp_error_fail(error, "%.300s: an earlier state of its run is in the sum of an hour",
                      x->d->file);
        return QP_IMPORT_REFUSED;
    }
    const int64_t known = rolled ? rolled : find_known(x, by_row, &is_later, error);
    if (known > 0 && is_later)
        return QP_IMPORT_KNOWN;
    const bool is_good = known >= 0 && (!known || qp_store_remove_row(s, known, error)) &&
                         qp_store_put(x, error);
    return !is_good ? QP_IMPORT_FAILED : known ? QP_IMPORT_REPLACED : QP_IMPORT_ADDED;
}

static qp_import_result add(qp_store_addition *x, qp_error *error)
{
    qp_store *s = x->s;
    if (!qp_store_execute(s, "BEGIN IMMEDIATE", error))
        return QP_IMPORT_FAILED;
    qp_import_result result = add_row(x, error);
    if (result != QP_IMPORT_FAILED && qp_store_execute(s, "COMMIT", error))
        return result;
    /* what is known is not what the store has */
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    qp_merge_free(s->known);
    s->known = NULL;
    return QP_IMPORT_FAILED;
}

/* ---- the profile ---------------------------------------------------------------------------- */

void qp_store_add_up(qp_store_addition *x)
{
    for (uint32_t i = 0; i < qp_merge_n_paths(x->one); i++) {
        qp_merge_path path;
        uint64_t figures[QP_PATH_COLUMNS];
        qp_merge_path_at(x->one, i, &path, figures);
        x->calls = qp_sum(x->calls, qp_sum(figures[QP_PATH_HITS], figures[QP_PATH_SKIPS]));
        x->self = qp_sum(x->self, figures[QP_PATH_SELF]);
    }
}

bool qp_store_pack_records(qp_store_addition *x, qp_error *error)
{
    void *bytes;
    size_t n;
    if (!qp_merge_bytes(x->one, false, &bytes, &n, error))
        return false;
    const bool is_good = qp_segment_pack(bytes, n, &x->records);
    qp_free(bytes);
    return is_good || qp_error_fail(error, "out of memory");
}

qp_model *qp_store_load(const char *file, bool *is_damaged, qp_error *error)
{
    qp_model *m;
    const qp_load_status status = qp_model_load(file, NULL, &m, error);
    *is_damaged = status != QP_LOAD_CLEAN && access(file, R_OK) == 0 &&
                  !qp_alloc_has_failed() && !qp_file_read_error();
    if (status == QP_LOAD_SALVAGED)
        qp_error_fail(error, "%.300s: damaged (%.150s)", file, m->losses[0]);
    else if (status == QP_LOAD_CLEAN && m->run.state == QP_RUN_LIVE)
        qp_error_fail(error, "%.300s: its process is still recording", file);
    else if (status == QP_LOAD_CLEAN)
        return m;
    qp_model_free(m);
    return NULL;
}

qp_import_result qp_store_import(qp_store *s, const char *file, uint64_t *calls,
                                 qp_error *error)
{
    qp_store_row *d = qp_alloc(1, sizeof *d);
    qp_store_addition x = {.s = s,
                           .d = d,
                           .records = QP_BUF(unsigned char),
                           .segment = QP_BUF(unsigned char),
                           .counters = QP_BUF(unsigned char),
                           .one = qp_merge_new()};
    error->text[0] = '\0';
    bool is_damaged = false;
    qp_model *m = d && x.one ? qp_store_load(file, &is_damaged, error) : NULL;
    qp_import_result result = is_damaged ? QP_IMPORT_REFUSED : QP_IMPORT_UNREAD;
    if (!d || !x.one)
        qp_error_fail(error, "%.300s: out of memory", file);
    if (m && qp_merge_add(x.one, m, file, false, error)) {
        x.m = m;
        describe(d, m, file);
        qp_store_add_up(&x);
        result = !qp_store_pack_records(&x, error) ? QP_IMPORT_FAILED
                 : s->cluster                      ? qp_cluster_add(&x, error)
                                                   : add(&x, error);
    }
    if (calls)
        *calls = x.calls;
    qp_model_free(m);
    qp_merge_free(x.one);
    qp_free(x.records.items);
    qp_free(x.segment.items);
    qp_free(x.counters.items);
    qp_free(d);
    return result;
}
