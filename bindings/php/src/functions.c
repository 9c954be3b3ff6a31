/* functions.c: functions become methods of the recorder when they are first called.
 *
 * Two pieces of code of the same file, name, first and last line are one method: those of a closure that is
 * created several times, and of a file that several requests load. */
#include "recorder.h"

static struct {
    function **lists; /* [n_lists], a power of two */
    size_t n_lists, n;
} table;

void functions_free(void)
{
    for (size_t i = 0; i < table.n_lists; i++) {
        while (table.lists[i]) {
            function *f = table.lists[i];
            table.lists[i] = f->next;
            free(f->name);
            free(f->file);
            blocks_forget(f);
            free(f);
        }
    }
    free(table.lists);
    memset(&table, 0, sizeof table);
}

/* ---- names ------------------------------------------------------------------------------- */

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static int is_eval(const char *file)
{
    return strstr(file, ") : eval()'d code") != NULL;
}

/* Closures of one piece of code are one function, to whatever class they are bound. */
static int is_closure(const zend_function *called)
{
    return called->type == ZEND_USER_FUNCTION &&
           (called->common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE)) ==
               ZEND_ACC_CLOSURE;
}

/* "Shop\{closure:12}"; since PHP 8.4 "{closure:Shop\Basket::add():12}", or its file. */
static void write_closure_name(const zend_string *own, uint32_t line, char *name,
                               size_t n_bytes)
{
#if PHP_VERSION_ID >= 80400
    const char *where = ZSTR_VAL(own) + strlen("{closure:");
    (void)line;
    snprintf(name, n_bytes, "{closure:%s", *where == '/' ? base_name(where) : where);
#else
    snprintf(name, n_bytes, "%.*s:%u}", (int)ZSTR_LEN(own) - 1, ZSTR_VAL(own), line);
#endif
}

/* Its name: "strlen", "Shop\Basket::add", "{file lib.php}"; or that of a closure. */
static void write_name(const zend_function *called, char *name, size_t n_bytes)
{
    const zend_string *own = called->common.function_name;
    const zend_class_entry *scope = called->common.scope;
    const char *class_name = scope ? ZSTR_VAL(scope->name) : "", *colons = scope ? "::" : "";
    if (!own) {
        const char *file = base_name(ZSTR_VAL(called->op_array.filename));
        snprintf(name, n_bytes, is_eval(file) ? "{eval %.*s}" : "{file %.*s}",
                 (int)strcspn(file, " "), file);
    } else if (is_closure(called)) {
        write_closure_name(own, called->op_array.line_start, name, n_bytes);
    } else {
        /* the name of a class without one contains its file, after a zero */
        snprintf(name, n_bytes, "%s%s%s", class_name, colons, ZSTR_VAL(own));
    }
}

/* ---- the table --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const zend_function *called)
{
    const zend_string *own = called->common.function_name;
    const zend_class_entry *scope = is_closure(called) ? NULL : called->common.scope;
    uint64_t hash = mix(0, own ? ZSTR_HASH((zend_string *)own) : 1);
    hash = mix(hash, scope ? ZSTR_HASH(scope->name) : 2);
    if (called->type != ZEND_USER_FUNCTION)
        return hash;
    hash = mix(hash, ZSTR_HASH(called->op_array.filename));
    hash = mix(hash, called->op_array.last);
    return mix(hash, (uint64_t)called->op_array.line_start << 32 | called->op_array.line_end);
}

static int is_same(const function *f, const zend_function *called, const char *name)
{
    if (called->type != ZEND_USER_FUNCTION)
        return !f->file && strcmp(f->name, name) == 0;
    return f->file && f->first_line == called->op_array.line_start &&
           f->last_line == called->op_array.line_end &&
           f->n_instructions == called->op_array.last &&
           strcmp(f->file, ZSTR_VAL(called->op_array.filename)) == 0 &&
           strcmp(f->name, name) == 0;
}

static int grow(void)
{
    size_t n = table.n_lists ? 2 * table.n_lists : 1024;
    function **lists = calloc(n, sizeof *lists);
    if (!lists)
        return 0;
    for (size_t i = 0; i < table.n_lists; i++) {
        while (table.lists[i]) {
            function *f = table.lists[i];
            table.lists[i] = f->next;
            f->next = lists[f->hash & (n - 1)];
            lists[f->hash & (n - 1)] = f;
        }
    }
    free(table.lists);
    table.lists = lists;
    table.n_lists = n;
    return 1;
}

static function *add(const zend_function *called, uint64_t hash, const char *name)
{
    if (table.n >= table.n_lists && !grow())
        return NULL;
    function *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->hash = hash;
    f->name = strdup(name);
    if (called->type == ZEND_USER_FUNCTION) {
        f->first_line = called->op_array.line_start;
        f->last_line = called->op_array.line_end;
        f->n_instructions = called->op_array.last;
        f->file = strdup(ZSTR_VAL(called->op_array.filename));
    }
    if (!f->name || (called->type == ZEND_USER_FUNCTION && !f->file)) {
        free(f->name);
        free(f->file);
        free(f);
        return NULL;
    }
    f->next = table.lists[hash & (table.n_lists - 1)];
    table.lists[hash & (table.n_lists - 1)] = f;
    table.n++;
    return f;
}

/* A run meets a function for the first time. */
static void define(function *f, const zend_function *called)
{
    qprof_LineInfo declared = {-1, (int)f->first_line}, *lines = NULL;
    int has_blocks = f->file && recorder.has_lines &&
                     called->op_array.refcount && /* else opcache shares it */
                     cover_has(f->file);
    blocks_forget(f);
    f->run = recorder.run;
    f->id = 0;
    f->changes = *recorder.changes - 1;
    f->has_entry = has_blocks && !recorder.has_calls;
    f->is_counted = 0;
    if (!has_blocks && !recorder.has_calls)
        return;
    if (has_blocks && recorder.wants & QPROF_WANT_LINES)
        lines = blocks_find(&called->op_array, f, (recorder.wants & QPROF_WANT_COVERAGE) != 0);
    f->id = qprof_define(f->name, NULL, f->file,
                         !f->file ? NULL
                         : lines  ? lines
                                  : &declared,
                         !f->file ? 0
                         : lines  ? f->n_blocks + 1
                                  : 1);
    if (lines || f->has_entry)
        f->is_counted = (char)blocks_register(f);
    free(lines);
}

int functions_is_called(const zend_op_array *code)
{
    for (size_t i = 0; i < table.n_lists; i++) {
        for (const function *f = table.lists[i]; f; f = f->next) {
            if (f->run == recorder.run && f->file && f->first_line == code->line_start &&
                f->last_line == code->line_end &&
                strcmp(f->file, ZSTR_VAL(code->filename)) == 0)
                return 1;
        }
    }
    return 0;
}

function *functions_find(const zend_function *called)
{
    char name[512];
    uint64_t hash = hash_of(called);
    function *f = table.n_lists ? table.lists[hash & (table.n_lists - 1)] : NULL;
    write_name(called, name, sizeof name);
    while (f && (f->hash != hash || !is_same(f, called, name)))
        f = f->next;
    if (f && f->run == recorder.run) {
        if (recorder.has_lines && f->file)
            lines_prepare(f, (zend_op_array *)&called->op_array);
        return f;
    }
    uint64_t begun = qprof_work_begin();
    if (!f)
        f = add(called, hash, name);
    if (f)
        define(f, called);
    if (f && recorder.has_lines && f->file)
        lines_prepare(f, (zend_op_array *)&called->op_array);
    qprof_work_end(begun);
    return f;
}
