/* functions.c: functions become methods of the recorder when they are first called.
 *
 * Two pieces of code of the same file, name, first and last line are one method: those of a closure that is
 * created several times, and of a file that several requests load. */
#include "recorder.h"

#include <zend_closures.h>

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

/* Its name: "strlen", "Shop\Basket::add", "Shop\{closure:12}", "{file lib.php}". */
static void write_name(const zend_function *called, char *name, size_t n_bytes)
{
    const zend_string *own = called->common.function_name;
    const zend_class_entry *scope = called->common.scope;
    const char *class_name = scope ? ZSTR_VAL(scope->name) : "", *colons = scope ? "::" : "";
    if (!own) {
        const char *file = base_name(ZSTR_VAL(called->op_array.filename));
        snprintf(name, n_bytes, is_eval(file) ? "{eval %.*s}" : "{file %.*s}",
                 (int)strcspn(file, " "), file);
    } else if (called->common.fn_flags & ZEND_ACC_CLOSURE &&
               called->type == ZEND_USER_FUNCTION && ZSTR_LEN(own) >= 9 &&
               strcmp(ZSTR_VAL(own) + ZSTR_LEN(own) - 9, "{closure}") == 0) {
        if (scope == zend_ce_closure)
            class_name = colons = ""; /* it is bound to no class */
        snprintf(name, n_bytes, "%s%s%.*s:%u}", class_name, colons, (int)ZSTR_LEN(own) - 1,
                 ZSTR_VAL(own), called->op_array.line_start);
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
    const zend_class_entry *scope = called->common.scope;
    uint64_t hash = mix(0, own ? ZSTR_HASH((zend_string *)own) : 1);
    hash = mix(hash, scope ? ZSTR_HASH(scope->name) : 2);
    if (called->type != ZEND_USER_FUNCTION)
        return hash;
    hash = mix(hash, ZSTR_HASH(called->op_array.filename));
    return mix(hash, (uint64_t)called->op_array.line_start << 32 | called->op_array.line_end);
}

static int is_same(const function *f, const zend_function *called, const char *name)
{
    if (called->type != ZEND_USER_FUNCTION)
        return !f->file && strcmp(f->name, name) == 0;
    return f->file && f->first_line == called->op_array.line_start &&
           f->last_line == called->op_array.line_end &&
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
static void define(function *f)
{
    const qprof_LineInfo declared = {-1, (int)f->first_line};
    f->run = recorder.run;
    f->id = qprof_define(f->name, NULL, f->file, f->file ? &declared : NULL, f->file != NULL);
}

function *functions_find(const zend_function *called)
{
    char name[512];
    uint64_t hash = hash_of(called);
    function *f = table.n_lists ? table.lists[hash & (table.n_lists - 1)] : NULL;
    write_name(called, name, sizeof name);
    while (f && (f->hash != hash || !is_same(f, called, name)))
        f = f->next;
    if (f && f->run == recorder.run)
        return f;
    uint64_t begun = qprof_work_begin();
    if (!f)
        f = add(called, hash, name);
    if (f)
        define(f);
    qprof_work_end(begun);
    return f;
}
