/* names.c: the methods and call paths of a store, whose rows are only ever added: row n has the number n, and
 * names rows before it alone. */
#include <limits.h>
#include <string.h>

#include "format/layout.h"
#include "format/trace.h"
#include "store/internal.h"

/* ---- tables of methods --------------------------------------------------------------------- */

/* Numbers of 32 bits, lowest byte first. */
static void put_words(qp_buf *out, const void *words, size_t n)
{
    unsigned char *to = n ? qp_buf_add_many(out, 4 * n) : NULL;
    for (size_t i = 0; to && i < n; i++) {
        uint32_t word;
        memcpy(&word, (const char *)words + 4 * i, sizeof word);
        for (unsigned k = 0; k < 4; k++)
            to[4 * i + k] = (unsigned char)(word >> 8 * k);
    }
}

/* The first words: how many lines, jumps and blocks of the jumps follow, and what else. */
enum { N_LINES, FLAGS, N_JUMPS, N_FALLS, HEAD_WORDS };
enum { HAS_SIZES = 1, HAS_JUMPS = 2 };

void qp_store_tables_write(const qp_builder_code *code, qp_buf *out)
{
    const qp_jumps *jumps = code->jumps;
    const uint32_t head[HEAD_WORDS] = {code->n_lines,
                                       (code->sizes ? HAS_SIZES : 0) | (jumps ? HAS_JUMPS : 0),
                                       jumps ? jumps->n_jumps : 0, jumps ? jumps->n_blocks : 0};
    put_words(out, head, HEAD_WORDS);
    put_words(out, code->lines, 2 * (size_t)code->n_lines);
    put_words(out, code->sizes, code->sizes ? code->n_lines : 0);
    if (jumps) {
        put_words(out, jumps->jumps, 2 * (size_t)jumps->n_jumps);
        char *falls = jumps->n_blocks ? qp_buf_add_many(out, jumps->n_blocks) : NULL;
        if (falls)
            memcpy(falls, (const char *)&jumps->jumps[jumps->n_jumps], jumps->n_blocks);
    }
}

static void take_words(const unsigned char **at, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++, *at += 4) {
        const uint32_t word = *at[0] | (uint32_t)(*at)[1] << 8 | (uint32_t)(*at)[2] << 16 |
                              (uint32_t)(*at)[3] << 24;
        memcpy((char *)to + 4 * i, &word, sizeof word);
    }
}

bool qp_store_tables_read(const unsigned char *at, size_t n_bytes, qp_arena *arena,
                          qp_builder_code *code)
{
    uint32_t head[HEAD_WORDS];
    if (n_bytes < sizeof head)
        return false;
    take_words(&at, head, HEAD_WORDS);
    const uint64_t n_lines = head[N_LINES], n_sizes = head[FLAGS] & HAS_SIZES ? n_lines : 0,
                   n_jumps = head[N_JUMPS], n_falls = head[N_FALLS];
    const bool has_jumps = head[FLAGS] & HAS_JUMPS;
    if (n_bytes != sizeof head + 8 * n_lines + 4 * n_sizes + 8 * n_jumps + n_falls)
        return false;
    qp_line *lines = qp_arena_take(arena, n_lines, sizeof *lines);
    uint32_t *sizes = qp_arena_take(arena, n_sizes, sizeof *sizes);
    qp_jumps *jumps =
        qp_arena_take(arena, 1, sizeof *jumps + qp_jumps_bytes(head[N_JUMPS], head[N_FALLS]));
    if (!lines || !sizes || !jumps)
        return false;
    take_words(&at, lines, 2 * n_lines);
    take_words(&at, sizes, n_sizes);
    *jumps = (qp_jumps){.n_jumps = head[N_JUMPS], .n_blocks = head[N_FALLS]};
    take_words(&at, jumps->jumps, 2 * n_jumps);
    memcpy(&jumps->jumps[n_jumps], at, n_falls);
    code->lines = lines;
    code->n_lines = head[N_LINES];
    code->sizes = head[FLAGS] & HAS_SIZES ? sizes : NULL;
    code->jumps = has_jumps ? jumps : NULL;
    return true;
}

/* ---- checksums of rows --------------------------------------------------------------------- */

enum { NUMBER_BYTES = 8 };
static const uint64_t no_bytes = UINT64_C(0xCBF29CE484222325);

/* FNV-1a of 64 bits. */
static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001B3);
    return sum;
}

static uint64_t add_number(uint64_t sum, uint64_t n)
{
    unsigned char bytes[NUMBER_BYTES];
    for (unsigned i = 0; i < NUMBER_BYTES; i++)
        bytes[i] = (unsigned char)(n >> 8 * i);
    return add_bytes(sum, bytes, NUMBER_BYTES);
}

static uint64_t sum_of_method(size_t number, const qp_builder_code *code, const void *tables,
                              size_t n_bytes)
{
    const char *const texts[] = {code->name, code->class_name, code->module, code->file};
    uint64_t sum = add_number(no_bytes, number);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sum = add_bytes(sum, texts[i], strlen(texts[i]) + 1);
    return add_bytes(add_number(add_number(sum, code->flags), code->id), tables, n_bytes);
}

/* The numbers are those of the row. @param thread  NULL: it is no root */
static uint64_t sum_of_path(size_t number, int64_t parent, int64_t method, const char *thread,
                            int64_t creator)
{
    const uint64_t numbers[] = {number, (uint64_t)parent, (uint64_t)method, (uint64_t)creator};
    uint64_t sum = no_bytes;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sum = add_number(sum, numbers[i]);
    return thread ? add_bytes(sum, thread, strlen(thread) + 1) : sum;
}

/* Rows from before there were checksums have none. */
static bool is_sum(sqlite3_stmt *st, int column, uint64_t sum)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL ||
           sqlite3_column_int64(st, column) == (int64_t)sum;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool fail_row(qp_error *error, const char *what, size_t number)
{
    qp_store_note_failure();
    return qp_error_fail(error, "damaged: %s %zu is not valid", what, number);
}

static bool read_method(sqlite3_stmt *st, qp_store_names *names, size_t number, qp_error *error)
{
    enum { ROW, NAME, CLASS, MODULE, SOURCE, METHOD_FLAGS, ID, TABLES, SUM };
    qp_arena *a = &names->arena;
    qp_builder_code *code = qp_buf_add(&names->methods);
    if (!code || sqlite3_column_int64(st, ROW) != (int64_t)number)
        return fail_row(error, "method", number);
    *code = (qp_builder_code){.id = (uint64_t)sqlite3_column_int64(st, ID),
                              .flags = (uint32_t)sqlite3_column_int64(st, METHOD_FLAGS),
                              .name = qp_arena_text(a, qp_store_text(st, NAME)),
                              .class_name = qp_arena_text(a, qp_store_text(st, CLASS)),
                              .module = qp_arena_text(a, qp_store_text(st, MODULE)),
                              .file = qp_arena_text(a, qp_store_text(st, SOURCE))};
    const void *tables = sqlite3_column_blob(st, TABLES);
    const size_t n_bytes = (size_t)sqlite3_column_bytes(st, TABLES);
    return (code->name && code->class_name && code->module && code->file && tables &&
            is_sum(st, SUM, sum_of_method(number, code, tables, n_bytes)) &&
            qp_store_tables_read(tables, n_bytes, a, code)) ||
           fail_row(error, "method", number);
}

/* @param n_methods  of the store */
static bool read_path(sqlite3_stmt *st, qp_store_names *names, size_t number, size_t n_methods,
                      qp_error *error)
{
    enum { ROW, PARENT, METHOD, THREAD, CREATOR, SUM };
    qp_merge_path *path = qp_buf_add(&names->paths);
    const bool is_root = sqlite3_column_type(st, THREAD) != SQLITE_NULL;
    const int64_t parent = sqlite3_column_int64(st, PARENT),
                  method = sqlite3_column_int64(st, METHOD),
                  creator = sqlite3_column_int64(st, CREATOR), at = (int64_t)number;
    const bool is_good =
        path && number < UINT32_MAX && sqlite3_column_int64(st, ROW) == at && creator >= 0 &&
        creator < at &&
        (is_root ? parent == at
                 : parent >= 1 && parent < at && method >= 1 && method <= (int64_t)n_methods);
    if (!is_good)
        return fail_row(error, "call path", number);
    *path = (qp_merge_path){.parent = (uint32_t)parent - 1,
                            .method = is_root ? 0 : (uint32_t)method - 1,
                            .creator = is_root ? (uint32_t)creator : 0};
    if (is_root)
        path->thread = qp_arena_text(&names->arena, qp_store_text(st, THREAD));
    if (is_root && !path->thread)
        return qp_error_fail(error, "out of memory");
    return is_sum(st, SUM, sum_of_path(number, parent, method, path->thread, creator)) ||
           fail_row(error, "call path", number);
}

static bool read_rows(const qp_store *s, const char *sql, bool is_path, size_t n_before,
                      size_t n_methods, qp_store_names *names, qp_error *error)
{
    sqlite3_stmt *st = qp_store_prepare(s, sql, error);
    bool is_good = st != NULL;
    int code = SQLITE_ROW;
    if (st)
        sqlite3_bind_int64(st, 1, (int64_t)n_before);
    while (is_good && (code = sqlite3_step(st)) == SQLITE_ROW) {
        n_before++;
        is_good = is_path ? read_path(st, names, n_before, n_methods, error)
                          : read_method(st, names, n_before, error);
    }
    if (is_good && code != SQLITE_DONE)
        is_good = qp_store_fail(s, error);
    sqlite3_finalize(st);
    return is_good;
}

void qp_store_names_init(qp_store_names *names)
{
    *names =
        (qp_store_names){.methods = QP_BUF(qp_builder_code), .paths = QP_BUF(qp_merge_path)};
    qp_arena_init(&names->arena);
}

void qp_store_names_fini(qp_store_names *names)
{
    qp_free(names->methods.items);
    qp_free(names->paths.items);
    qp_arena_fini(&names->arena);
}

bool qp_store_names_read(const qp_store *s, size_t n_methods, size_t n_paths,
                         qp_store_names *names, qp_error *error)
{
    n_methods += names->methods.n;
    n_paths += names->paths.n;
    const size_t n_known = names->methods.n;
    const bool is_good =
        read_rows(s,
                  "SELECT method, name, class, module, file, flags, id, tables, sum FROM method"
                  " WHERE method > ? ORDER BY method",
                  false, n_methods, 0, names, error) &&
        read_rows(s,
                  "SELECT path, parent, method, thread, creator, sum FROM path WHERE path > ?"
                  " ORDER BY path",
                  true, n_paths, n_methods + names->methods.n - n_known, names, error);
    if (!is_good) {
        qp_store_names_fini(names);
        qp_store_names_init(names);
    }
    return is_good;
}

bool qp_store_learn(qp_store *s, qp_error *error)
{
    qp_store_names names;
    s->known = s->known ? s->known : qp_merge_new();
    if (!s->known)
        return qp_error_fail(error, "out of memory");
    size_t n_methods = qp_merge_n_methods(s->known), n_paths = qp_merge_n_paths(s->known);
    qp_store_names_init(&names);
    bool is_good = qp_store_names_read(s, n_methods, n_paths, &names, error);
    const qp_builder_code *methods = names.methods.items;
    const qp_merge_path *paths = names.paths.items;
    for (size_t i = 0; is_good && i < names.methods.n; i++)
        is_good = qp_merge_put_method(s->known, &methods[i]) == n_methods++ ||
                  fail_row(error, "method", n_methods);
    for (size_t i = 0; is_good && i < names.paths.n; i++)
        is_good = qp_merge_put_path(s->known, &paths[i]) == n_paths++ ||
                  fail_row(error, "call path", n_paths);
    qp_store_names_fini(&names);
    return is_good;
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool write_method(const qp_store *s, sqlite3_stmt *st, uint32_t i, qp_error *error)
{
    qp_buf tables = QP_BUF(unsigned char);
    qp_builder_code code = qp_merge_method_at(s->known, i);
    qp_store_tables_write(&code, &tables);
    code.id = code.flags & QP_METHOD_REGISTERED ? 0 : code.id;
    code.flags &= ~(uint32_t)QP_METHOD_MISSED;
    sqlite3_bind_int64(st, 1, i + 1ll);
    qp_store_bind_text(st, 2, code.name);
    qp_store_bind_text(st, 3, code.class_name);
    qp_store_bind_text(st, 4, code.module);
    qp_store_bind_text(st, 5, code.file);
    sqlite3_bind_int64(st, 6, code.flags);
    sqlite3_bind_int64(st, 7, (int64_t)code.id);
    sqlite3_bind_blob64(st, 8, tables.items, tables.n, SQLITE_TRANSIENT);
    sqlite3_bind_int64(st, 9, (int64_t)sum_of_method(i + 1ul, &code, tables.items, tables.n));
    const bool is_good =
        tables.failed ? qp_error_fail(error, "out of memory") : qp_store_step(s, st, error);
    qp_free(tables.items);
    return is_good;
}

static bool write_path(const qp_store *s, sqlite3_stmt *st, uint32_t i, qp_error *error)
{
    qp_merge_path path;
    uint64_t unused[QP_PATH_COLUMNS];
    qp_merge_path_at(s->known, i, &path, unused);
    sqlite3_bind_int64(st, 1, i + 1ll);
    const int64_t parent = path.parent + 1ll, method = path.thread ? 0 : path.method + 1ll;
    sqlite3_bind_int64(st, 2, parent);
    sqlite3_bind_int64(st, 3, method);
    if (path.thread)
        qp_store_bind_text(st, 4, path.thread);
    else
        sqlite3_bind_null(st, 4);
    sqlite3_bind_int64(st, 5, path.creator);
    sqlite3_bind_int64(
        st, 6, (int64_t)sum_of_path(i + 1ul, parent, method, path.thread, path.creator));
    return qp_store_step(s, st, error);
}

bool qp_store_names_write(const qp_store *s, size_t n_methods, size_t n_paths, qp_error *error)
{
    sqlite3_stmt *method =
        qp_store_prepare(s, "INSERT INTO method VALUES (?,?,?,?,?,?,?,?,?)", error);
    sqlite3_stmt *path =
        method ? qp_store_prepare(s, "INSERT INTO path VALUES (?,?,?,?,?,?)", error) : NULL;
    bool is_good = method && path;
    for (size_t i = n_methods; is_good && i < qp_merge_n_methods(s->known); i++)
        is_good = write_method(s, method, (uint32_t)i, error);
    for (size_t i = n_paths; is_good && i < qp_merge_n_paths(s->known); i++)
        is_good = write_path(s, path, (uint32_t)i, error);
    sqlite3_finalize(method);
    sqlite3_finalize(path);
    return is_good;
}
