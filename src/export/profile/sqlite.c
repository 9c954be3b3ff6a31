/* sqlite.c: a database: what is known of the run, its threads, functions, call paths and
 * blocks, and views that answer what is usually asked.
 *
 * It is made in memory and written as a whole, so that the same profile gives the same bytes. */
#include <sqlite3.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "export/shared/profile.h"
#include "export/shared/protobuf.h"
#include "export/shared/run_rows.h"
#include "model/figures/figures.h"

static const char tables[] =
    "CREATE TABLE run (program TEXT, host TEXT, pid INTEGER, options TEXT, recorder TEXT,"
    " state TEXT, unit TEXT, time TEXT, clock TEXT, granularity TEXT, virtual_threads INTEGER,"
    " started_at INTEGER, ended_at INTEGER, duration INTEGER, stopped INTEGER, total INTEGER,"
    " calls INTEGER, sample_period_ns INTEGER, pc_period_ns INTEGER, script TEXT,"
    " arguments TEXT, working_directory TEXT, interpreter TEXT, labels TEXT);"
    "CREATE TABLE diagnostics (name TEXT PRIMARY KEY, kind TEXT, meaning TEXT, count INTEGER);"
    "CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT);"
    "CREATE TABLE threads (id INTEGER PRIMARY KEY, name TEXT, system_id INTEGER, alive INTEGER,"
    " suspended INTEGER, open_frames INTEGER, calls INTEGER, total INTEGER);"
    "CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT, class TEXT, module TEXT,"
    " file TEXT, line INTEGER, type TEXT, calls INTEGER, self INTEGER, total INTEGER,"
    " min INTEGER, max INTEGER, self_half INTEGER, total_half INTEGER, counts INTEGER,"
    " samples INTEGER, pc_samples INTEGER, resumes INTEGER,"
    " bytes INTEGER, bytes_total INTEGER, objects INTEGER, objects_total INTEGER,"
    " freed_bytes INTEGER, freed_objects INTEGER, self_off INTEGER, total_off INTEGER);"
    "CREATE TABLE paths (id INTEGER PRIMARY KEY, parent INTEGER, depth INTEGER,"
    " thread INTEGER REFERENCES threads, function INTEGER REFERENCES functions, outermost "
    "INTEGER,"
    " open INTEGER, calls INTEGER, hits INTEGER, skips INTEGER, self INTEGER, total INTEGER,"
    " min INTEGER, max INTEGER, counts INTEGER, samples INTEGER, pc_samples INTEGER,"
    " resumes INTEGER, bytes INTEGER, bytes_total INTEGER, objects INTEGER, objects_total "
    "INTEGER,"
    " freed_bytes INTEGER, freed_objects INTEGER, self_off INTEGER, total_off INTEGER);"
    "CREATE TABLE blocks (function INTEGER REFERENCES functions, number INTEGER, line INTEGER,"
    " code_offset INTEGER, count INTEGER, self INTEGER, total INTEGER,"
    " PRIMARY KEY (function, number)) WITHOUT ROWID;"
    "CREATE INDEX paths_by_parent ON paths (parent);"
    "CREATE INDEX paths_by_function ON paths (function);";

static const char views[] =
    /* functions, most self time first */
    "CREATE VIEW top AS SELECT name, file, line, calls, self,"
    " round(100.0 * self / nullif((SELECT total FROM run), 0), 1) AS self_percent, total,"
    " round(100.0 * total / nullif((SELECT total FROM run), 0), 1) AS total_percent"
    " FROM functions WHERE calls > 0 OR total > 0 OR pc_samples > 0"
    " ORDER BY self DESC, calls DESC, id;"
    /* callers: the part of the function's total that each of them got */
    "CREATE VIEW callers AS SELECT f.name AS function, c.name AS caller, sum(p.calls) AS calls,"
    " sum(p.outermost * p.total) AS total"
    " FROM paths p JOIN paths q ON q.id = p.parent JOIN functions f ON f.id = p.function"
    " JOIN functions c ON c.id = q.function GROUP BY p.function, q.function"
    " ORDER BY p.function, total DESC, q.function;"
    /* source lines: executions of the block that was executed most, times of all */
    "CREATE VIEW lines AS SELECT f.file, b.line, max(b.count) AS count, sum(b.self) AS self,"
    " sum(b.total) AS total FROM blocks b JOIN functions f ON f.id = b.function"
    " WHERE f.file <> '' AND b.line > 0 GROUP BY f.file, b.line ORDER BY f.file, b.line;"
    /* paths as collapsed stacks */
    "CREATE VIEW stacks AS WITH RECURSIVE s(id, stack) AS ("
    " SELECT p.id, f.name FROM paths p JOIN functions f ON f.id = p.function WHERE p.depth = 2"
    " UNION ALL SELECT p.id, s.stack || ';' || f.name"
    " FROM s JOIN paths p ON p.parent = s.id JOIN functions f ON f.id = p.function)"
    " SELECT p.id, t.name AS thread, s.stack, p.calls, p.self, p.total, p.pc_samples"
    " FROM s JOIN paths p ON p.id = s.id JOIN threads t ON t.id = p.thread;";

typedef struct {
    const qp_model *m;
    uint32_t *numbers; /* of functions */
    sqlite3 *db;
    sqlite3_stmt *insert; /* the row that is being filled */
    int column;           /* of it, the last that is */
    int status;           /* the first failure; SQLITE_OK: none */
} database;

static void note_status(database *x, int status)
{
    if (x->status == SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW)
        x->status = status;
}

static void execute(database *x, const char *sql)
{
    if (x->status == SQLITE_OK)
        note_status(x, sqlite3_exec(x->db, sql, NULL, NULL, NULL));
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void begin_rows(database *x, const char *sql)
{
    x->column = 0;
    if (x->status == SQLITE_OK)
        note_status(x, sqlite3_prepare_v2(x->db, sql, -1, &x->insert, NULL));
}

/* NULL where nothing is known; integers of SQLite have a sign. */
static void put_number(database *x, bool is_known, uint64_t n)
{
    sqlite3_int64 number = n < INT64_MAX ? (sqlite3_int64)n : INT64_MAX;
    x->column++;
    if (x->status == SQLITE_OK)
        note_status(x, is_known ? sqlite3_bind_int64(x->insert, x->column, number)
                                : sqlite3_bind_null(x->insert, x->column));
}

static void put_text(database *x, const char *text)
{
    size_t n;
    char *clean = qp_clean_text(text, &n);
    x->column++;
    if (!clean)
        note_status(x, SQLITE_NOMEM);
    if (x->status == SQLITE_OK)
        note_status(x, sqlite3_bind_text64(x->insert, x->column, clean, n, SQLITE_TRANSIENT,
                                           SQLITE_UTF8));
    qp_free(clean);
}

static void end_row(database *x)
{
    if (x->status == SQLITE_OK)
        note_status(x, sqlite3_step(x->insert));
    if (x->status == SQLITE_OK)
        note_status(x, sqlite3_reset(x->insert));
    x->column = 0;
}

static void end_rows(database *x)
{
    sqlite3_finalize(x->insert);
    x->insert = NULL;
}

/* Lines begin at 1, offsets of code at 0. */
static void put_field(database *x, const qp_field *f, const void *at)
{
    if (f->kind <= QP_FIELD_WORD) {
        put_text(x, *(const char *const *)at);
        return;
    }
    bool is_change = f->kind == QP_FIELD_CHANGE, is_line = strcmp(f->key, "line") == 0;
    int64_t change = is_change ? *(const int32_t *)at : 0;
    uint64_t n = is_change ? (uint64_t)change : qp_field_count(f, at);
    put_number(x, change >= 0 && n != QP_FIELD_NONE && (n || !is_line), n);
}

static void put_fields(database *x, const qp_field_list *list, const void *row)
{
    for (size_t i = 0; i < list->n; i++)
        put_field(x, list->items[i].field, (const char *)row + list->items[i].at);
}

static void put_row(database *x, const qp_field_list *list, const void *row)
{
    put_fields(x, list, row);
    end_row(x);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void fill_run(database *x)
{
    const qp_field_list list = qp_fields_choose(
        qp_run_fields,
        "program host pid options recorder state unit time clock granularity virtual_threads "
        "started_at ended_at duration stopped total calls sample_period_ns pc_period_ns "
        "script arguments working_directory interpreter",
        QP_FIELDS_ALL);
    qp_run_row row = qp_run_row_of(x->m);
    row.run.calls = row.run.has_calls ? row.run.calls : QP_FIELD_NONE;
    if (!row.run.sample_period_ns)
        row.run.sample_period_ns = QP_FIELD_NONE;
    if (!row.run.pc_period_ns)
        row.run.pc_period_ns = QP_FIELD_NONE;
    begin_rows(x, "INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    put_fields(x, &list, &row);
    put_text(x, row.run.labels);
    end_row(x);
    end_rows(x);
}

static void fill_remarks(database *x)
{
    const qp_run_info *run = &x->m->run;
    begin_rows(x, "INSERT INTO diagnostics VALUES (?,?,?,?)");
    for (size_t i = 0; i < run->n_diagnostics; i++) {
        const qp_run_diagnostic *d = &run->diagnostics[i];
        const char kind[] = {d->kind, '\0'};
        put_text(x, d->name);
        put_text(x, kind);
        put_text(x, d->text);
        put_number(x, true, d->count);
        end_row(x);
    }
    end_rows(x);
    begin_rows(x, "INSERT INTO notes VALUES (?,?)");
    for (size_t i = 0; i < run->n_notes; i++) {
        put_number(x, true, i + 1);
        put_text(x, run->notes[i].text);
        end_row(x);
    }
    end_rows(x);
}

static void fill_threads(database *x, uint32_t thread)
{
    const qp_field_list list = qp_fields_choose(
        qp_thread_fields, "number name system_id alive suspended open_frames calls total",
        QP_FIELDS_ALL);
    begin_rows(x, "INSERT INTO threads VALUES (?,?,?,?,?,?,?,?)");
    for (uint32_t i = 1; i < x->m->n_threads; i++) {
        qp_thread_row row;
        qp_thread_row_fill(&row, x->m, i);
        if (thread == QP_ALL_THREADS || thread == i)
            put_row(x, &list, &row);
    }
    end_rows(x);
}

/* .root. is function 0, without figures: it would count everything again. */
static void fill_functions(database *x, const qp_figures *flat)
{
    static const qp_figures none = {.min = UINT64_MAX};
    const qp_field_list list =
        qp_fields_choose(qp_method_fields,
                         "name class module file line type calls self total min max self_half "
                         "total_half counts samples pc_samples resumes bytes bytes_total "
                         "objects objects_total freed_bytes freed_objects self_off total_off",
                         QP_FIELDS_ALL);
    begin_rows(
        x,
        "INSERT INTO functions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < x->m->n_methods; i++) {
        if (!x->numbers[i] && i != QP_ROOT_METHOD)
            continue;
        qp_method_row row = qp_method_row_of(x->m, i, i == QP_ROOT_METHOD ? &none : &flat[i]);
        qp_figures_row_blank(&row.figures, &x->m->run);
        put_number(x, true, x->numbers[i]);
        put_row(x, &list, &row);
    }
    end_rows(x);
}

static void fill_paths(database *x, uint32_t thread)
{
    const qp_field_list list =
        qp_fields_choose(qp_path_fields,
                         "id parent depth thread method outermost open calls hits skips self "
                         "total min max counts samples pc_samples resumes bytes bytes_total "
                         "objects objects_total freed_bytes freed_objects self_off total_off",
                         QP_FIELDS_ALL);
    begin_rows(
        x, "INSERT INTO paths VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 1; x->status == SQLITE_OK && i < x->m->n_nodes; i++) {
        const qp_model_node *n = &x->m->nodes[i];
        if (thread != QP_ALL_THREADS && thread != n->thread)
            continue;
        qp_path_row row = qp_path_row_of(x->m, i, x->numbers[n->method]);
        qp_figures_row_blank(&row.figures, &x->m->run);
        put_row(x, &list, &row);
    }
    end_rows(x);
}

static void fill_blocks_of(database *x, uint32_t method, uint32_t thread,
                           const qp_field_list *list)
{
    qp_block_figures *blocks;
    size_t n;
    if (!qp_model_blocks(x->m, method, thread, &blocks, &n)) {
        note_status(x, SQLITE_NOMEM);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        qp_block_figures row = qp_block_row_of(x->m, &blocks[i]);
        if (!row.is_timed)
            row.self = row.total = QP_FIELD_NONE;
        put_number(x, true, x->numbers[method]);
        put_number(x, true, i);
        put_row(x, list, &row);
    }
    qp_free(blocks);
}

static void fill_blocks(database *x, uint32_t thread)
{
    const qp_field_list list =
        qp_fields_choose(qp_block_fields, "line offset count self total", QP_FIELDS_ALL);
    begin_rows(x, "INSERT INTO blocks VALUES (?,?,?,?,?,?,?)");
    for (uint32_t i = 1; x->status == SQLITE_OK && i < x->m->n_methods; i++)
        fill_blocks_of(x, i, thread, &list);
    end_rows(x);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void fill(database *x, uint32_t thread)
{
    qp_figures *flat = qp_alloc_zeroed(x->m->n_methods, sizeof *flat);
    bool is_numbered = qp_export_numbers(x->m, thread, &x->numbers);
    if (!is_numbered || !flat || !qp_model_flat(x->m, thread, flat))
        note_status(x, SQLITE_NOMEM);
    execute(x, tables);
    execute(x, views);
    execute(x, "BEGIN");
    fill_run(x);
    fill_remarks(x);
    fill_threads(x, thread);
    if (x->status == SQLITE_OK)
        fill_functions(x, flat);
    fill_paths(x, thread);
    fill_blocks(x, thread);
    execute(x, "COMMIT");
    qp_free(x->numbers);
    qp_free(flat);
}

bool qp_export_sqlite(const qp_model *m, qp_out *out, const qp_export_options *o,
                      qp_error *error)
{
    database x = {.m = m};
    unsigned char *bytes = NULL;
    sqlite3_int64 n_bytes = 0;
    x.status = sqlite3_open(":memory:", &x.db);
    fill(&x, o->thread);
    if (x.status == SQLITE_OK) {
        bytes = sqlite3_serialize(x.db, "main", &n_bytes, 0);
        x.status = bytes ? SQLITE_OK : SQLITE_NOMEM;
    }
    if (bytes)
        qp_out_bytes(out, (const char *)bytes, (size_t)n_bytes);
    else if (x.status == SQLITE_NOMEM)
        qp_error_fail(error, "out of memory");
    else
        qp_error_fail(error, "SQLite: %s", sqlite3_errstr(x.status));
    sqlite3_free(bytes);
    sqlite3_close(x.db);
    return bytes != NULL;
}
