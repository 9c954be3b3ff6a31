/* store.c: the database of a store: opening, its schema, its versions. */
#include "store/cluster.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"

enum {
    APPLICATION = 0x71707374, /* "qpst" */
    PATIENCE_MS = 60 * 1000   /* that a command waits for another one that writes */
};

/* Step i brings a store of version i to version i + 1. Append only. */
static const char *const steps[] = {
    "CREATE TABLE method (method INTEGER PRIMARY KEY, name TEXT NOT NULL, class TEXT NOT NULL,"
    " module TEXT NOT NULL, file TEXT NOT NULL, flags INTEGER NOT NULL, id INTEGER NOT NULL,"
    " tables BLOB NOT NULL);"
    "CREATE TABLE path (path INTEGER PRIMARY KEY, parent INTEGER NOT NULL,"
    " method INTEGER NOT NULL, thread TEXT, creator INTEGER NOT NULL);"
    "CREATE TABLE profile (profile INTEGER PRIMARY KEY AUTOINCREMENT, nonce INTEGER NOT NULL,"
    " started_at INTEGER NOT NULL, clears INTEGER NOT NULL, dataset INTEGER NOT NULL,"
    " ended_at INTEGER NOT NULL, service TEXT NOT NULL, version TEXT NOT NULL,"
    " host TEXT NOT NULL, labels TEXT NOT NULL, file TEXT NOT NULL, calls INTEGER NOT NULL,"
    " self INTEGER NOT NULL, unit TEXT NOT NULL, paths INTEGER NOT NULL, segment BLOB NOT NULL,"
    " records BLOB NOT NULL, UNIQUE (nonce, started_at, clears));"
    "CREATE INDEX profile_by_time ON profile (ended_at);",
    "ALTER TABLE profile ADD COLUMN clock TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE profile ADD COLUMN has_calls INTEGER NOT NULL DEFAULT 1;",
    "CREATE TABLE rolled (nonce INTEGER NOT NULL, started_at INTEGER NOT NULL,"
    " clears INTEGER NOT NULL, dataset INTEGER NOT NULL, ended_at INTEGER NOT NULL,"
    " calls INTEGER NOT NULL, profile INTEGER NOT NULL,"
    " PRIMARY KEY (nonce, started_at, clears)) WITHOUT ROWID;",
    "ALTER TABLE method ADD COLUMN sum INTEGER;" /* NULL: of a row from before */
    "ALTER TABLE path ADD COLUMN sum INTEGER;",
    "ALTER TABLE profile ADD COLUMN counters BLOB;", /* NULL: they are among the records */
    "CREATE TABLE slow (request INTEGER PRIMARY KEY AUTOINCREMENT, profile INTEGER NOT NULL,"
    " endpoint TEXT NOT NULL, thread TEXT NOT NULL, elapsed INTEGER NOT NULL,"
    " begun_at INTEGER NOT NULL, begun INTEGER NOT NULL, ordinal INTEGER NOT NULL,"
    " flags INTEGER NOT NULL, window INTEGER NOT NULL, off INTEGER NOT NULL,"
    " suspended INTEGER NOT NULL, calls INTEGER NOT NULL, before INTEGER NOT NULL,"
    " after INTEGER NOT NULL, trace BLOB NOT NULL, span BLOB NOT NULL, sum INTEGER NOT NULL,"
    " steps BLOB NOT NULL);"
    "CREATE INDEX slow_by_profile ON slow (profile);"};
enum { VERSION = sizeof steps / sizeof *steps };

/* ---- statements ---------------------------------------------------------------------------- */

static bool has_failed;

bool qp_store_note_failure(void)
{
    has_failed = true;
    return false;
}

bool qp_store_has_failed(void)
{
    return has_failed;
}

bool qp_store_fail(const qp_store *s, qp_error *error)
{
    qp_store_note_failure();
    const int code = sqlite3_errcode(s->db) & 0xFF;
    return code == SQLITE_BUSY
               ? qp_error_fail(error, "another command has written to it for a minute")
           : code == SQLITE_READONLY
               ? qp_error_fail(error, "it and its folder must be writable")
           : code == SQLITE_NOTADB ? qp_error_fail(error, "not a store of qprof")
           : code == SQLITE_CORRUPT
               ? qp_error_fail(error, "damaged (%s)", sqlite3_errmsg(s->db))
               : qp_error_fail(error, "%s", sqlite3_errmsg(s->db));
}

bool qp_store_execute(const qp_store *s, const char *sql, qp_error *error)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || qp_store_fail(s, error);
}

sqlite3_stmt *qp_store_prepare(const qp_store *s, const char *sql, qp_error *error)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
        qp_store_fail(s, error);
    return st;
}

bool qp_store_step(const qp_store *s, sqlite3_stmt *st, qp_error *error)
{
    const bool is_done = sqlite3_step(st) == SQLITE_DONE || qp_store_fail(s, error);
    sqlite3_reset(st);
    return is_done;
}

void qp_store_bind_text(sqlite3_stmt *st, int at, const char *text)
{
    sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
}

const char *qp_store_text(sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text ? text : "";
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool read_number(const qp_store *s, const char *sql, int64_t *n, qp_error *error)
{
    sqlite3_stmt *st = qp_store_prepare(s, sql, error);
    const bool is_read = st && sqlite3_step(st) == SQLITE_ROW;
    if (is_read)
        *n = sqlite3_column_int64(st, 0);
    else if (st)
        qp_store_fail(s, error);
    sqlite3_finalize(st);
    return is_read;
}

/* Which version it has; 0: nothing is in it yet. @return false: see error */
static bool read_version(const qp_store *s, int64_t *version, qp_error *error)
{
    int64_t application, n_tables;
    if (!read_number(s, "PRAGMA application_id", &application, error) ||
        !read_number(s, "PRAGMA user_version", version, error) ||
        !read_number(s, "SELECT count(*) FROM sqlite_master", &n_tables, error))
        return false;
    if (application != APPLICATION && (application || *version || n_tables))
        return qp_error_fail(error, "a database, but not a store of qprof");
    return *version <= VERSION ||
           qp_error_fail(error,
                         "made by a newer qprof: its version is %lld, this one reads up to %d",
                         (long long)*version, (int)VERSION);
}

/* In a transaction: two commands may do it at once. */
static bool migrate(const qp_store *s, qp_error *error)
{
    char mark[96];
    int64_t version = 0;
    if (!qp_store_execute(s, "BEGIN IMMEDIATE", error))
        return false;
    bool is_good = read_version(s, &version, error);
    for (int64_t i = version; is_good && i < VERSION; i++)
        is_good = qp_store_execute(s, steps[i], error);
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION, VERSION);
    is_good =
        is_good && qp_store_execute(s, mark, error) && qp_store_execute(s, "COMMIT", error);
    if (!is_good)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return is_good;
}

/* A reader meets the schema that it knows, or none. */
static bool prepare_access(const qp_store *s, qp_store_access access, qp_error *error)
{
    int64_t version = 0;
    sqlite3_busy_timeout(s->db, PATIENCE_MS);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (!qp_store_execute(s, "PRAGMA trusted_schema = OFF", error) ||
        !read_version(s, &version, error))
        return false;
    if (access == QP_STORE_READ && !qp_store_execute(s, "PRAGMA query_only = ON", error))
        return false;
    if (access == QP_STORE_READ)
        return version == VERSION ||
               qp_error_fail(error, version ? "made by an older qprof (the next import "
                                              "brings it up to date)"
                                            : "not a store of qprof");
    /* what is committed is on the disk, for push removes the files then */
    return qp_store_execute(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", error) &&
           (version == VERSION || migrate(s, error));
}

/* Is something written that is in the journal alone? */
static bool has_journal(const char *path)
{
    char journal[4096];
    struct stat st;
    return snprintf(journal, sizeof journal, "%s-wal", path) >= (int)sizeof journal ||
           (stat(journal, &st) == 0 && st.st_size > 0);
}

/* SQLite takes missing pages for empty ones, and a single byte for an empty file. What its journal has may be longer than the file. */
static bool is_cut(const char *path, int fd)
{
    enum { PAGE_BYTES_AT = 16, N_PAGES_AT = 28, HEAD_BYTES = 32 };
    unsigned char head[HEAD_BYTES];
    const char *unused;
    uint64_t n_bytes;
    if (has_journal(path) || !qp_file_is_plain(fd, &n_bytes, &unused) || !n_bytes)
        return false;
    if (qp_file_read_at(fd, head, sizeof head, 0) != sizeof head)
        return n_bytes < sizeof head;
    const uint64_t page = (uint64_t)head[PAGE_BYTES_AT] << 8 | head[PAGE_BYTES_AT + 1],
                   n_pages = (uint64_t)head[N_PAGES_AT] << 24 | head[N_PAGES_AT + 1] << 16 |
                             head[N_PAGES_AT + 2] << 8 | head[N_PAGES_AT + 3];
    return memcmp(head, "SQLite format 3", HEAD_BYTES / 2) == 0 &&
           n_bytes < n_pages * (page == 1 ? 65536 : page);
}

/* SQLite would open a pipe, and wait. */
static bool is_file(const char *path, qp_store_access wanted, qp_error *error)
{
    const char *why;
    if (!*path)
        return qp_error_fail(error, "the store has no name");
    if (wanted == QP_STORE_WRITE && access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    int fd = qp_file_open(path, &why);
    if (fd < 0)
        return qp_error_fail(error, "%s", why);
    const bool is_whole =
        !is_cut(path, fd) || qp_error_fail(error, "damaged: it was cut short");
    close(fd);
    return is_whole;
}

/* SQLite takes "", ":memory:" and "file:..." for other things than files of these names.
 * @return a buffer */
static char *name_file(const char *path)
{
    const size_t n_bytes = strlen(path) + sizeof "./";
    char *name = qp_alloc(n_bytes, 1);
    if (name)
        snprintf(name, n_bytes, "%s%s", *path == '/' ? "" : "./", path);
    return name;
}

/* The URI of a file that does not change, for which SQLite makes no files beside it. @return a buffer */
static char *name_constant(const char *path)
{
    static const char start[] = "file:", end[] = "?immutable=1";
    const size_t n_bytes = strlen(path) * 3 + sizeof "./" + sizeof start + sizeof end;
    char *name = qp_alloc(n_bytes, 1);
    if (!name)
        return NULL;
    size_t n = (size_t)snprintf(name, n_bytes, "%s%s", start, *path == '/' ? "" : "./");
    for (const char *c = path; *c; c++)
        n += (size_t)snprintf(name + n, n_bytes - n, strchr("%?#", *c) ? "%%%02x" : "%c",
                              (unsigned char)*c);
    snprintf(name + n, n_bytes - n, "%s", end);
    return name;
}

static bool is_writable(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    return snprintf(folder, sizeof folder, "%.*s.", slash ? (int)(slash - path + 1) : 0, path) <
               (int)sizeof folder &&
           access(path, W_OK) == 0 && access(folder, W_OK) == 0;
}

/* Readers open it for writing too where they may: the last one to close it removes the journal. */
static bool connect(qp_store *s, const char *path, qp_store_access wanted, qp_error *error)
{
    const bool is_constant =
        wanted == QP_STORE_READ && !is_writable(path) && !has_journal(path);
    const int flags = is_constant               ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                      : wanted == QP_STORE_READ ? SQLITE_OPEN_READWRITE
                                                : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    char *name = is_constant ? name_constant(path) : name_file(path);
    const int code = name ? sqlite3_open_v2(name, &s->db, flags, NULL) : SQLITE_NOMEM;
    qp_free(name);
    return code == SQLITE_OK ||
           (s->db ? qp_store_fail(s, error) : qp_error_fail(error, "out of memory"));
}

qp_store *qp_store_open(const char *path, qp_store_access access, qp_error *error)
{
    qp_store *s = qp_alloc_zeroed(1, sizeof *s);
    error->text[0] = '\0';
    if (s)
        qp_store_names_init(&s->names);
    bool is_good = s ? is_file(path, access, error) : qp_error_fail(error, "out of memory");
    const mode_t mask = umask(0077); /* for its owner alone, as profiles are */
    if (is_good)
        is_good = connect(s, path, access, error) && prepare_access(s, access, error);
    umask(mask);
    if (is_good)
        return s;
    qp_store_close(s);
    return NULL;
}

qp_store *qp_store_connect(const char *to, qp_store_access access, const qp_store_servers *how,
                           qp_error *error)
{
    qp_store *s = qp_alloc_zeroed(1, sizeof *s);
    error->text[0] = '\0';
    if (!s)
        return qp_error_fail(error, "out of memory"), NULL;
    qp_store_names_init(&s->names);
    s->cluster = qp_cluster_open(to, access, how, error);
    if (s->cluster)
        return s;
    qp_store_close(s);
    return NULL;
}

void qp_store_close(qp_store *s)
{
    if (!s)
        return;
    qp_cluster_close(s->cluster);
    sqlite3_close(s->db);
    qp_merge_free(s->known);
    qp_store_names_fini(&s->names);
    qp_free(s);
}
