/* sqlite.c: a database: what is known of the run, its threads, functions, call paths and
 * blocks, and views that answer what is usually asked.
 *
 * It is made in memory and written as a whole, so that the same profile gives the same bytes. */
#include <sqlite3.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "export/shared/profile.h"
#include "export/shared/protobuf.h"
#include "model/figures/figures.h"

static const char tables[] =
    "CREATE TABLE run (program TEXT, host TEXT, pid INTEGER, options TEXT, recorder TEXT,"
    " state TEXT, unit TEXT, time TEXT, clock TEXT, granularity TEXT, virtual_threads INTEGER,"
    " started_at INTEGER, ended_at INTEGER, duration INTEGER, stopped INTEGER, total INTEGER,"
    " calls INTEGER, sample_period_ns INTEGER, pc_period_ns INTEGER);"
    "CREATE TABLE diagnostics (name TEXT PRIMARY KEY, kind TEXT, meaning TEXT, count INTEGER);"
    "CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT);"
    "CREATE TABLE threads (id INTEGER PRIMARY KEY, name TEXT, system_id INTEGER, alive INTEGER,"
    " suspended INTEGER, open_frames INTEGER, calls INTEGER, total INTEGER);"
    "CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT, class TEXT, module TEXT,"
    " file TEXT, line INTEGER, type TEXT, calls INTEGER, self INTEGER, total INTEGER,"
    " min INTEGER, max INTEGER, self_half INTEGER, total_half INTEGER, counts INTEGER,"
    " samples INTEGER, interrupts INTEGER);"
    "CREATE TABLE paths (id INTEGER PRIMARY KEY, parent INTEGER, depth INTEGER,"
    " thread INTEGER REFERENCES threads, function INTEGER REFERENCES functions, outermost "
    "INTEGER,"
    " open INTEGER, calls INTEGER, hits INTEGER, skips INTEGER, self INTEGER, total INTEGER,"
    " min INTEGER, max INTEGER, counts INTEGER, samples INTEGER, interrupts INTEGER);"
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
    " FROM functions WHERE calls > 0 OR total > 0 OR interrupts > 0"
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
    " SELECT p.id, t.name AS thread, s.stack, p.calls, p.self, p.total, p.interrupts"
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

static void put_numbers(database *x, const uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_number(x, true, numbers[i]);
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

static void put_texts(database *x, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_text(x, texts[i]);
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

static void put_calls(database *x, uint64_t calls)
{
    put_number(x, x->m->run.has_calls, calls);
}

static void put_interrupts(database *x, uint64_t interrupts)
{
    put_number(x, x->m->run.pc_period_ns > 0, interrupts);
}

static void put_extremes(database *x, const qp_figures *f)
{
    bool is_known = x->m->run.has_min_max && f->min <= f->max;
    put_number(x, is_known, is_known ? qp_model_ns(x->m, f->min) : 0);
    put_number(x, is_known, is_known ? qp_model_ns(x->m, f->max) : 0);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void fill_run(database *x)
{
    const qp_model *m = x->m;
    const qp_run_info *run = &m->run;
    const char *const texts[] = {run->options,   run->version,        run->state_text,
                                 run->unit,      run->time_mode_text, run->clock_text,
                                 run->grain_text};
    const uint64_t numbers[] = {run->is_virtual,
                                run->started_at,
                                run->ended_at,
                                qp_model_ns(m, run->wall),
                                qp_model_ns(m, run->stopped),
                                qp_model_ns(m, run->total)};
    begin_rows(x, "INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    put_text(x, run->program);
    put_text(x, run->host);
    put_number(x, true, run->pid);
    put_texts(x, texts, COUNT(texts));
    put_numbers(x, numbers, COUNT(numbers));
    put_calls(x, run->calls);
    put_number(x, run->sample_period_ns > 0, run->sample_period_ns);
    put_interrupts(x, run->pc_period_ns);
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
    begin_rows(x, "INSERT INTO threads VALUES (?,?,?,?,?,?,?,?)");
    for (uint32_t i = 1; i < x->m->n_threads; i++) {
        const qp_model_thread *th = &x->m->threads[i];
        const uint64_t numbers[] = {th->system_id, th->is_alive, th->is_suspended,
                                    th->depth,     th->calls,    qp_model_ns(x->m, th->total)};
        if (thread != QP_ALL_THREADS && thread != i)
            continue;
        put_number(x, true, th->ordinal);
        put_text(x, th->name);
        put_numbers(x, numbers, COUNT(numbers));
        end_row(x);
    }
    end_rows(x);
}

/* .root. is function 0, without figures: it would count everything again. */
static void fill_functions(database *x, const qp_figures *flat)
{
    begin_rows(x, "INSERT INTO functions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 0; i < x->m->n_methods; i++) {
        static const qp_figures none = {.min = UINT64_MAX};
        const qp_model_method *method = &x->m->methods[i];
        const qp_figures *f = i == QP_ROOT_METHOD ? &none : &flat[i];
        const char *const texts[] = {method->name, method->class_name, method->module,
                                     method->file};
        const uint64_t before[] = {qp_model_ns(x->m, f->self), qp_model_ns(x->m, f->total)};
        const uint64_t after[] = {qp_model_ns(x->m, f->self_half),
                                  qp_model_ns(x->m, f->total_half), f->counts, f->samples};
        if (!x->numbers[i] && i != QP_ROOT_METHOD)
            continue;
        put_number(x, true, x->numbers[i]);
        put_texts(x, texts, COUNT(texts));
        put_number(x, method->first_line > 0, method->first_line);
        put_text(x, method->type);
        put_calls(x, f->calls);
        put_numbers(x, before, COUNT(before));
        put_extremes(x, f);
        put_numbers(x, after, COUNT(after));
        put_interrupts(x, f->interrupts);
        end_row(x);
    }
    end_rows(x);
}

static void fill_paths(database *x, uint32_t thread)
{
    begin_rows(x, "INSERT INTO paths VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (uint32_t i = 1; x->status == SQLITE_OK && i < x->m->n_nodes; i++) {
        const qp_model_node *n = &x->m->nodes[i];
        const qp_figures *f = &n->f;
        const uint64_t place[] = {i,
                                  n->parent,
                                  n->depth,
                                  x->m->threads[n->thread].ordinal,
                                  x->numbers[n->method],
                                  n->is_outermost,
                                  n->is_open};
        const uint64_t times[] = {qp_model_ns(x->m, f->self), qp_model_ns(x->m, f->total)};
        if (thread != QP_ALL_THREADS && thread != n->thread)
            continue;
        put_numbers(x, place, COUNT(place));
        put_calls(x, f->calls);
        put_calls(x, f->hits);
        put_calls(x, f->skips);
        put_numbers(x, times, COUNT(times));
        put_extremes(x, f);
        put_number(x, true, f->counts);
        put_number(x, true, f->samples);
        put_interrupts(x, f->interrupts);
        end_row(x);
    }
    end_rows(x);
}

static void fill_blocks_of(database *x, uint32_t method, uint32_t thread)
{
    qp_block_figures *blocks;
    size_t n;
    if (!qp_model_blocks(x->m, method, thread, &blocks, &n)) {
        note_status(x, SQLITE_NOMEM);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const qp_block_figures *b = &blocks[i];
        put_number(x, true, x->numbers[method]);
        put_number(x, true, i);
        put_number(x, b->line > 0, (uint64_t)b->line);
        put_number(x, b->code_offset >= 0, (uint64_t)b->code_offset);
        put_number(x, b->is_counted, b->count);
        put_number(x, b->is_timed, qp_model_ns(x->m, b->self));
        put_number(x, b->is_timed, qp_model_ns(x->m, b->total));
        end_row(x);
    }
    qp_free(blocks);
}

static void fill_blocks(database *x, uint32_t thread)
{
    begin_rows(x, "INSERT INTO blocks VALUES (?,?,?,?,?,?,?)");
    for (uint32_t i = 1; x->status == SQLITE_OK && i < x->m->n_methods; i++)
        fill_blocks_of(x, i, thread);
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

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o, qp_error *error)
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
        qp_export_fails(error);
    else
        qp_error_fail(error, "SQLite: %s", sqlite3_errstr(x.status));
    sqlite3_free(bytes);
    sqlite3_close(x.db);
    return bytes != NULL;
}

const qp_exporter qp_export_sqlite = {
    .name = "sqlite",
    .suffix = ".sqlite",
    .summary = "a database: tables of functions, paths, threads, blocks; views top, callers, "
               "lines, stacks",
    .limits = "jumps between blocks, numbers above 2^63 - 1",
    .is_binary = true,
    .has_functions = true,
    .write = write};
