/* qlua_name.c: gives functions the names that a Lua programmer uses.
 *
 * First choice is the name in a loaded module, then the name in the code that defines the
 * function: `local function f`, `M.f = `, `{f = `, `function Class:f`. Both only read. */
#define LUA_CORE
#include "lprefix.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lauxlib.h"
#include "lfunc.h"
#include "lopcodes.h"
#include "ltable.h"
#include "lualib.h"
#include "qlua_glue.h"

enum { MAX_PATH_PARTS = 4 }; /* of a table: a.b.c.d.f */

/* ---- modules that are loaded ------------------------------------------------------------- */

static const char *key_text(const Node *n)
{
    return keyisshrstr(n) ? getstr(keystrval(n)) : NULL;
}

static const Table *table_field(const Table *t, const char *key)
{
    for (int i = 0; t && i < sizenode(t); i++) {
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

static int is_method(const Proto *p)
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
    for (int i = 0; t && i < sizenode(t); i++) {
        const Node *n = gnode(t, i);
        if (key_text(n) && is_same_function(gval(n), s->f))
            consider_name(s, name, mark, key_text(n));
    }
}

/* Methods of userdata: luaL_newmetatable keeps their metatables in the registry. */
static void search_metatables(name_search *s, const Table *registry)
{
    for (int i = 0; i < sizenode(registry); i++) {
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
    for (unsigned int i = 0; list && i < luaH_realasize(list); i++) {
        if (is_same_function(&list->array[i], s->f))
            snprintf(s->best, sizeof s->best, "package.searchers[%u]", i + 1);
    }
}

int qlua_name_loaded(lua_State *L, const TValue *f, const char *module, char *name)
{
    name_search s = {.f = f, .module = module};
    if (!ttistable(&G(L)->l_registry))
        return 0;
    const char *mark = ttisLclosure(f) && is_method(clLvalue(f)->p) ? ":" : ".";
    const Table *registry = hvalue(&G(L)->l_registry);
    const Table *loaded = table_field(registry, LUA_LOADED_TABLE);
    for (int i = 0; loaded && i < sizenode(loaded); i++) {
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

/* ---- names in the code that defines a function ------------------------------------------- */

static const char *constant_text(const Proto *p, int k)
{
    return k < p->sizek && ttisstring(&p->k[k]) ? svalue(&p->k[k]) : NULL;
}

static const char *upvalue_text(const Proto *p, int i)
{
    TString *name = i < p->sizeupvalues ? p->upvalues[i].name : NULL;
    return name ? getstr(name) : NULL;
}

/* PARENT.KEY, or the one of them that exists. */
static int join_names(char *out, const char *table, const char *mark, const char *key)
{
    if (key == NULL)
        return 0;
    int has_table = table && table[0];
    snprintf(out, QLUA_NAME_BYTES, "%s%s%s", has_table ? table : "", has_table ? mark : "",
             key);
    return 1;
}

/* A field of an upvalue; those of _ENV are the globals. */
static int join_upvalue(const Proto *p, char *out, int upvalue, const char *mark,
                        const char *key)
{
    const char *table = upvalue_text(p, upvalue);
    return join_names(out, table && strcmp(table, "_ENV") == 0 ? "" : table, mark, key);
}

static int name_register(const Proto *p, int pc, int reg, int n_parts, char *out);

static int stores_register(Instruction i, int reg)
{
    return !TESTARG_k(i) && GETARG_C(i) == reg;
}

/* Where the code stores register `reg` with instruction pc. */
static int name_store(const Proto *p, int pc, int reg, const char *mark, int n_parts, char *out)
{
    Instruction i = p->code[pc];
    char table[QLUA_NAME_BYTES] = "";
    switch (GET_OPCODE(i)) {
    case OP_SETTABUP:
        return stores_register(i, reg) &&
               join_upvalue(p, out, GETARG_A(i), mark, constant_text(p, GETARG_B(i)));
    case OP_SETFIELD:
        if (!stores_register(i, reg) || GETARG_A(i) == reg)
            return 0;
        name_register(p, pc, GETARG_A(i), n_parts - 1, table);
        return join_names(out, table, mark, constant_text(p, GETARG_B(i)));
    case OP_SETUPVAL:
        return GETARG_A(i) == reg && join_names(out, "", "", upvalue_text(p, GETARG_B(i)));
    case OP_MOVE:
        return GETARG_B(i) == reg &&
               join_names(out, "", "", luaF_getlocalname(p, GETARG_A(i) + 1, pc + 1));
    default:
        return 0;
    }
}

static int writes_register(Instruction i, int reg)
{
    OpCode op = GET_OPCODE(i);
    if (op == OP_CALL || op == OP_TFORCALL || op == OP_VARARG || op == OP_LOADNIL)
        return GETARG_A(i) <= reg;
    return testAMode(op) && GETARG_A(i) == reg;
}

/* A new table: named by the first local, field or upvalue that it is assigned to. */
static int name_constructed(const Proto *p, int pc, int reg, int n_parts, char *out)
{
    for (; pc + 1 < p->sizecode && !writes_register(p->code[pc + 1], reg); pc++) {
        const char *local = luaF_getlocalname(p, reg + 1, pc + 1);
        if (local)
            return join_names(out, "", "", local);
        if (name_store(p, pc + 1, reg, ".", n_parts, out))
            return 1;
    }
    return 0;
}

/* The name of the table in a register, from the instruction that put it there. */
static int name_register(const Proto *p, int pc, int reg, int n_parts, char *out)
{
    const char *local = luaF_getlocalname(p, reg + 1, pc);
    if (local)
        return join_names(out, "", "", local);
    if (n_parts <= 0)
        return 0;
    int at = pc - 1;
    while (at >= 0 && !writes_register(p->code[at], reg))
        at--;
    if (at < 0)
        return 0;
    Instruction i = p->code[at];
    char table[QLUA_NAME_BYTES] = "";
    switch (GET_OPCODE(i)) {
    case OP_GETTABUP:
        return join_upvalue(p, out, GETARG_B(i), ".", constant_text(p, GETARG_C(i)));
    case OP_GETUPVAL:
        return join_names(out, "", "", upvalue_text(p, GETARG_B(i)));
    case OP_GETFIELD:
        name_register(p, at, GETARG_B(i), n_parts - 1, table);
        return join_names(out, table, ".", constant_text(p, GETARG_C(i)));
    case OP_NEWTABLE:
        return name_constructed(p, pc, reg, n_parts - 1, out);
    default:
        return 0;
    }
}

/* The closure that instruction pc makes. */
static int name_closure(const Proto *p, int pc, const Proto *inner, char *out)
{
    int reg = GETARG_A(p->code[pc]);
    if (pc + 1 < p->sizecode &&
        name_store(p, pc + 1, reg, is_method(inner) ? ":" : ".", MAX_PATH_PARTS, out))
        return 1;
    return join_names(out, "", "", luaF_getlocalname(p, reg + 1, pc + 1));
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
    if (p->linedefined != 0 || !p->is_vararg || p->source == NULL)
        return NULL;
    const TValue *name = s2v(ci->func + 1), *file = s2v(ci->func + 2);
    if (!ttisstring(name) || !ttisstring(file) || getstr(p->source)[0] != '@' ||
        strcmp(getstr(p->source) + 1, svalue(file)) != 0)
        return NULL;
    return qlua_name_required(svalue(name), p);
}

const qlua_module *qlua_name_required(const char *name, const Proto *p)
{
    return find_module(name, returned_local(p));
}

const qlua_module *qlua_name_module(lua_State *L, CallInfo *ci, const Proto *p)
{
    if (p->qcode && p->qcode->module)
        return p->qcode->module;
    return L->top - ci->func > 2 ? module_of_chunk(ci, p) : NULL;
}

/* Functions without a name are identified by their first line, and by their order on that
 * line. */
static void number_twins(const Proto *p)
{
    for (int i = 1; i < p->sizep; i++) {
        int n = 0;
        for (int k = i; k-- > 0 && p->p[k]->linedefined == p->p[i]->linedefined;)
            n += p->p[k]->qcode == NULL || p->p[k]->qcode->name == NULL;
        qlua_code *code = n ? qlua_code_record(p->p[i]) : NULL;
        if (code)
            code->n_twins = n;
    }
}

void qlua_name_inner(const Proto *p, const qlua_module *module)
{
    char name[QLUA_NAME_BYTES];
    for (int pc = 0; pc < p->sizecode; pc++) {
        Instruction i = p->code[pc];
        if (GET_OPCODE(i) != OP_CLOSURE || GETARG_Bx(i) >= p->sizep)
            continue;
        Proto *inner = p->p[GETARG_Bx(i)];
        int has_name = name_closure(p, pc, inner, name);
        qlua_code *code = has_name || module ? qlua_code_record(inner) : NULL;
        if (code == NULL)
            continue;
        code->module = module;
        if (has_name && code->name == NULL)
            code->name = strdup(name);
    }
    number_twins(p);
}

static void name_all(const Proto *p, const qlua_module *module)
{
    qlua_name_inner(p, module);
    for (int i = 0; i < p->sizep; i++)
        name_all(p->p[i], module);
}

void qlua_name_chunk(lua_State *L, CallInfo *ci, Proto *p)
{
    qlua_code *code = qlua_code_record(p);
    if (code == NULL)
        return;
    code->module = qlua_name_module(L, ci, p);
    name_all(p, code->module);
}

/* ---- the name of a function -------------------------------------------------------------- */

const char *qlua_name_source(const Proto *p, char *file)
{
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
    if (n && strncmp(code->name, module->local, n) == 0 &&
        strpbrk(code->name + n, ".:") == code->name + n)
        snprintf(name, QLUA_NAME_BYTES, "%s%s", module->name, code->name + n);
    else
        snprintf(name, QLUA_NAME_BYTES, "%s", code->name);
}

void qlua_name_code(lua_State *L, CallInfo *ci, const Proto *p, char *name)
{
    const qlua_code *code = p->qcode;
    const char *module = code && code->module ? code->module->name : NULL;
    char file[LUA_IDSIZE];
    if (p->linedefined == 0)
        snprintf(name, QLUA_NAME_BYTES, "main chunk of %s", qlua_name_source(p, file));
    else if (ci && qlua_name_loaded(L, s2v(ci->func), module, name))
        return;
    else if (code && code->name)
        name_in_module(code, name);
    else if (code && code->n_twins)
        snprintf(name, QLUA_NAME_BYTES, "%s:%d#%d", qlua_name_source(p, file), p->linedefined,
                 code->n_twins + 1);
    else
        snprintf(name, QLUA_NAME_BYTES, "%s:%d", qlua_name_source(p, file), p->linedefined);
}
