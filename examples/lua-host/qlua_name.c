/* qlua_name.c: gives functions the names that a Lua programmer uses, and tells those of a chunk
 * apart.
 *
 * First choice is the name in a loaded module, then the name in the code that makes the
 * function, qlua_closure.c. Both only read. */
#define LUA_CORE
#include "lprefix.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lauxlib.h"
#include "lfunc.h"
#include "lualib.h"
#include "qlua_glue.h"

/* ---- modules that are loaded ------------------------------------------------------------- */

static const char *key_text(const Node *n)
{
    return keyisshrstr(n) ? getstr(keystrval(n)) : NULL;
}

static const Table *table_field(const Table *t, const char *key)
{
    for (unsigned i = 0; t && i < (unsigned)sizenode(t); i++) {
        const Node *n = gnode(t, i);
        if (ttistable(gval(n)) && key_text(n) && strcmp(key_text(n), key) == 0)
            return hvalue(gval(n));
    }
    return NULL;
}

static int is_same_function(const TValue *a, const TValue *b)
{
    if (ttypetag(a) == LUA_VCCL && ttypetag(b) == LUA_VLCF)
        return clCvalue(a)->f == fvalue(b);
    if (ttypetag(a) != ttypetag(b))
        return 0;
    return ttypetag(a) == LUA_VLCF ? fvalue(a) == fvalue(b)
                                   : ttypetag(a) == LUA_VLCL && clLvalue(a) == clLvalue(b);
}

int qlua_is_method(const Proto *p)
{
    return p->numparams > 0 && p->sizelocvars > 0 &&
           strcmp(getstr(p->locvars[0].varname), "self") == 0;
}

/* The best name found so far. */
typedef struct {
    const TValue *f;
    const char *module; /* preferred */
    int is_own;         /* best comes from that module */
    char best[QLUA_NAME_BYTES];
} name_search;

static void consider_name(name_search *s, const char *table, const char *mark, const char *key)
{
    char name[QLUA_NAME_BYTES];
    int is_global = strcmp(table, LUA_GNAME) == 0;
    int is_own = s->module && strcmp(table, s->module) == 0;
    snprintf(name, sizeof name, "%s%s%s", is_global ? "" : table, is_global ? "" : mark, key);
    size_t length = strlen(name), best = strlen(s->best);
    if (s->best[0] && is_own == s->is_own &&
        (length > best || (length == best && strcmp(name, s->best) >= 0)))
        return;
    if (s->best[0] && s->is_own && !is_own)
        return;
    s->is_own = is_own;
    memcpy(s->best, name, sizeof name);
}

static void search_table(name_search *s, const Table *t, const char *name, const char *mark)
{
    for (unsigned i = 0; t && i < (unsigned)sizenode(t); i++) {
        const Node *n = gnode(t, i);
        if (key_text(n) && is_same_function(gval(n), s->f))
            consider_name(s, name, mark, key_text(n));
    }
}

/* Methods of userdata: luaL_newmetatable keeps their metatables in the registry. */
static void search_metatables(name_search *s, const Table *registry)
{
    for (unsigned i = 0; i < (unsigned)sizenode(registry); i++) {
        const Node *n = gnode(registry, i);
        const char *type = key_text(n);
        if (type == NULL || !ttistable(gval(n)) || strcmp(type, LUA_LOADED_TABLE) == 0)
            continue;
        type = strcmp(type, LUA_FILEHANDLE) == 0 ? "file" : type;
        search_table(s, hvalue(gval(n)), type, ":");
        search_table(s, table_field(hvalue(gval(n)), "__index"), type, ":");
    }
}

/* How require looks for modules: package.searchers is a list. */
static void search_searchers(name_search *s, const Table *loaded)
{
    const Table *list = table_field(table_field(loaded, LUA_LOADLIBNAME), "searchers");
    for (unsigned i = 0; list && i < qlua_array_size(list); i++) {
        const TValue searcher = qlua_array_at(list, i);
        if (is_same_function(&searcher, s->f))
            snprintf(s->best, sizeof s->best, "package.searchers[%u]", i + 1);
    }
}

int qlua_name_loaded(lua_State *L, const TValue *f, const char *module, char *name)
{
    name_search s = {.f = f, .module = module};
    if (!ttistable(&G(L)->l_registry))
        return 0;
    const char *mark = ttisLclosure(f) && qlua_is_method(clLvalue(f)->p) ? ":" : ".";
    const Table *registry = hvalue(&G(L)->l_registry);
    const Table *loaded = table_field(registry, LUA_LOADED_TABLE);
    for (unsigned i = 0; loaded && i < (unsigned)sizenode(loaded); i++) {
        const Node *n = gnode(loaded, i);
        if (key_text(n) && ttistable(gval(n)))
            search_table(&s, hvalue(gval(n)), key_text(n), mark);
    }
    if (s.best[0] == '\0' && !ttisLclosure(f)) {
        search_metatables(&s, registry);
        search_searchers(&s, loaded);
    }
    if (s.best[0] == '\0')
        return 0;
    memcpy(name, s.best, sizeof s.best);
    return 1;
}

/* ---- the module that a main chunk is ----------------------------------------------------- */

static const qlua_module *modules; /* under the lock; never freed: one a module name */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The local that the chunk returns, or "". */
static const char *returned_local(const Proto *p)
{
    for (int pc = p->sizecode - 1; pc >= 0; pc--) {
        Instruction i = p->code[pc];
        int is_one =
            GET_OPCODE(i) == OP_RETURN1 || (GET_OPCODE(i) == OP_RETURN && GETARG_B(i) == 2);
        const char *local = is_one ? luaF_getlocalname(p, GETARG_A(i) + 1, pc) : NULL;
        if (local)
            return local;
    }
    return "";
}

static const qlua_module *find_module(const char *name, const char *local)
{
    pthread_mutex_lock(&lock);
    const qlua_module *it = modules;
    while (it && (strcmp(it->name, name) != 0 || strcmp(it->local, local) != 0))
        it = it->next;
    qlua_module *new = it ? NULL : malloc(sizeof *new);
    if (new) {
        *new = (qlua_module){modules, strdup(name), strdup(local)};
        if (new->name &&new->local)
            it = modules = new;
    }
    pthread_mutex_unlock(&lock);
    return it;
}

/* require calls a main chunk with the names of the module and the file. */
static const qlua_module *module_of_chunk(CallInfo *ci, const Proto *p)
{
    if (p->linedefined != 0 || !qlua_is_vararg(p) || p->source == NULL)
        return NULL;
    const TValue *name = s2v(qlua_func(ci) + 1), *file = s2v(qlua_func(ci) + 2);
    if (!ttisstring(name) || !ttisstring(file) || getstr(p->source)[0] != '@' ||
        strcmp(getstr(p->source) + 1, qlua_text(file)) != 0)
        return NULL;
    return qlua_name_required(qlua_text(name), p);
}

const qlua_module *qlua_name_required(const char *name, const Proto *p)
{
    return find_module(name, returned_local(p));
}

const qlua_module *qlua_name_module(lua_State *L, CallInfo *ci, const Proto *p)
{
    if (p->qcode && p->qcode->is_known)
        return p->qcode->module;
    return qlua_top(L) - qlua_func(ci) > 2 ? module_of_chunk(ci, p) : NULL;
}

/* ---- the functions of a chunk ------------------------------------------------------------ */

/* A function of a chunk; its place among the others tells equal ones apart. */
typedef struct {
    qlua_code *code;
    int line;
    uint64_t name; /* hash; 0: nameless */
    int order;     /* in the text */
} chunk_function;

typedef struct {
    chunk_function *functions; /* [n] */
    int n;
} chunk_functions;

static uint64_t hash_name(const char *name)
{
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a */
    for (; name && *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001B3u;
    return name ? hash | 1 : 0;
}

static int count_functions(const Proto *p)
{
    int n = p->sizep;
    for (int i = 0; i < p->sizep; i++)
        n += count_functions(p->p[i]);
    return n;
}

/* A function inside of another one comes after it, as in the text. */
static void add_function(chunk_functions *all, Proto *p)
{
    qlua_code *code = qlua_code_record(p);
    if (code) {
        all->functions[all->n] =
            (chunk_function){code, p->linedefined, hash_name(code->name), all->n};
        all->n++;
    }
    for (int i = 0; i < p->sizep; i++)
        add_function(all, p->p[i]);
}

static int compare_lines(const void *a, const void *b)
{
    const chunk_function *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->order > y->order) - (x->order < y->order);
}

static int compare_names(const void *a, const void *b)
{
    const chunk_function *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return compare_lines(a, b);
}

/* Number the functions of each line, and those of one name on a line. Text without a file has
 * no lines that mean anything. */
static void number_functions(const Proto *p, int has_lines)
{
    chunk_functions all = {calloc((size_t)count_functions(p) + 1, sizeof *all.functions), 0};
    if (all.functions == NULL)
        return;
    for (int i = 0; i < p->sizep; i++)
        add_function(&all, p->p[i]);
    qsort(all.functions, (size_t)all.n, sizeof *all.functions, compare_lines);
    for (int i = 1; i < all.n; i++) {
        const chunk_function *f = &all.functions[i];
        f->code->place = f->line == f[-1].line ? f[-1].code->place + 1 : 0;
    }
    qsort(all.functions, (size_t)all.n, sizeof *all.functions, compare_names);
    for (int i = 1; i < all.n; i++) {
        const chunk_function *f = &all.functions[i];
        int is_twin = f->name == f[-1].name && (f->line == f[-1].line || !has_lines);
        f->code->n_twins = is_twin ? f[-1].code->n_twins + 1 : 0;
    }
    free(all.functions);
}

/* Parents first: what they return is named after them. */
static void name_inner(const Proto *p, const qlua_module *module, const char *origin)
{
    char name[QLUA_NAME_BYTES];
    qlua_closure_begin(p);
    for (int pc = 0; pc < p->sizecode; pc++) {
        Instruction i = p->code[pc];
        if (GET_OPCODE(i) != OP_CLOSURE || GETARG_Bx(i) >= p->sizep)
            continue;
        Proto *inner = p->p[GETARG_Bx(i)];
        qlua_code *code = qlua_code_record(inner);
        if (code == NULL)
            continue;
        code->module = module;
        code->origin = origin;
        code->is_known = 1;
        qlua_naming naming = code->name ? QLUA_NAMELESS : qlua_closure_name(p, pc, inner, name);
        if (naming != QLUA_NAMELESS)
            code->name = strdup(name);
        code->is_named = naming == QLUA_NAMED;
    }
    for (int i = 0; i < p->sizep; i++)
        name_inner(p->p[i], module, origin);
}

/* ---- text that comes from no file -------------------------------------------------------- */

/* A chunk from a string has its text as its name, unless the program gave it one: one word. A
 * chunk from a function has the name of `load`. */
static int is_text(const char *source)
{
    return strcmp(source, "=(load)") == 0 ||
           (source[0] != '@' && source[0] != '=' &&
            source[strspn(source, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-./\\:@$+")] != '\0');
}

/* Where the chunk came from: the place that calls it first, as a rule the one that loaded it.
 * @return NULL: it has a name, or no Lua function calls it */
static const char *origin_of(const lua_State *L, const CallInfo *ci, const Proto *p)
{
    char file[LUA_IDSIZE], text[QLUA_NAME_BYTES];
    if (ci == NULL || p->linedefined != 0 || p->source == NULL || !is_text(getstr(p->source)))
        return NULL;
    do {
        ci = ci->previous;
    } while (ci && ci != &L->base_ci && !isLua(ci));
    if (ci == NULL || !isLua(ci))
        return NULL;
    const Proto *caller = ci_func(ci)->p;
    if (caller->qcode && caller->qcode->origin)
        return caller->qcode->origin;
    snprintf(text, sizeof text, "[string from %.*s:%d]", QLUA_NAME_BYTES - 32,
             qlua_name_source(caller, file),
             luaG_getfuncline(caller, pcRel(ci->u.l.savedpc, caller)));
    const qlua_module *it = find_module(text, "");
    return it ? it->name : NULL;
}

void qlua_name_chunk(lua_State *L, CallInfo *ci, Proto *p, const qlua_module *module)
{
    qlua_code *code = qlua_code_record(p);
    if (code == NULL || code->is_known)
        return;
    code->is_known = 1;
    code->module = module;
    code->origin = origin_of(L, ci, p);
    name_inner(p, module, code->origin);
    number_functions(p, code->origin == NULL);
    if (p->linedefined == 0 && p->source && getstr(p->source)[0] == '@' && !qlua_is_covering)
        qlua_cover_loaded(getstr(p->source) + 1, NULL, 1); /* so that reports may show it */
}

/* ---- the name of a function -------------------------------------------------------------- */

const char *qlua_name_source(const Proto *p, char *file)
{
    if (p->qcode && p->qcode->origin)
        return p->qcode->origin;
    if (p->source == NULL)
        return "?";
    if (getstr(p->source)[0] == '@')
        return getstr(p->source) + 1;
    luaO_chunkid(file, getstr(p->source), tsslen(p->source));
    return file;
}

/* Replace the module's own local by its name: M.f becomes module.f. */
static void name_in_module(const qlua_code *code, char *name)
{
    const qlua_module *module = code->module;
    size_t n = module ? strlen(module->local) : 0;
    if (n && code->is_named && strncmp(code->name, module->local, n) == 0 &&
        strpbrk(code->name + n, ".:") == code->name + n)
        snprintf(name, QLUA_NAME_BYTES, "%s%s", module->name, code->name + n);
    else
        snprintf(name, QLUA_NAME_BYTES, "%s", code->name);
}

int qlua_name_plain(const Proto *p, char *name)
{
    const qlua_code *code = p->qcode;
    if (code && code->is_named)
        name_in_module(code, name);
    else if (code && code->module && p->linedefined == 0)
        snprintf(name, QLUA_NAME_BYTES, "%s", code->module->name);
    else
        return 0;
    return 1;
}

void qlua_name_code(lua_State *L, CallInfo *ci, const Proto *p, char *name)
{
    const qlua_code *code = p->qcode;
    const char *module = code && code->module ? code->module->name : NULL;
    char file[LUA_IDSIZE];
    if (p->linedefined == 0) {
        snprintf(name, QLUA_NAME_BYTES, "main chunk of %s", qlua_name_source(p, file));
        return;
    }
    if (ci && qlua_name_loaded(L, s2v(qlua_func(ci)), module, name))
        return;
    if (code && code->name)
        name_in_module(code, name);
    else if (code && code->origin)
        snprintf(name, QLUA_NAME_BYTES, "function of %s", code->origin);
    else
        snprintf(name, QLUA_NAME_BYTES, "%s:%d", qlua_name_source(p, file), p->linedefined);
    size_t n = strlen(name);
    if (code && code->n_twins)
        snprintf(name + n, QLUA_NAME_BYTES - n, "#%d", code->n_twins + 1);
}
