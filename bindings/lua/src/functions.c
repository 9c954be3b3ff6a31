/* functions.c: functions become methods of the recorder when they are first called.
 *
 * Closures of the same code are one method: code with the same source, first and last line. A C
 * function is known by its address. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

const char functions_key; /* function, or what its code is known by -> its `function` */

void functions_free(recorder *r)
{
    while (r->functions) {
        function *next = r->functions->next;
        free(r->functions);
        r->functions = next;
    }
}

void functions_begin(lua_State *L, recorder *r)
{
    functions_free(r);
    register_weak_table(L, &functions_key);
}

/* ---- names ------------------------------------------------------------------------------- */

/* The name of the value at the top as a field of a loaded module: "string.format", "print".
 * @return whether it has one */
static int name_of_module(lua_State *L, char *name, size_t n_bytes)
{
    int top = lua_gettop(L), found = 0;
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushnil(L);
    while (!found && lua_istable(L, top + 1) && lua_next(L, top + 1)) {
        if (lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1)) {
            lua_pushnil(L);
            while (!found && lua_next(L, -2)) {
                if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, top)) {
                    const char *module = lua_tostring(L, -4);
                    int is_global = strcmp(module, "_G") == 0;
                    snprintf(name, n_bytes, "%s%s%s", is_global ? "" : module,
                             is_global ? "" : ".", lua_tostring(L, -2));
                    found = 1;
                }
                lua_pop(L, 1);
            }
        }
        lua_settop(L, found ? top : top + 2);
    }
    lua_settop(L, top);
    return found;
}

static const char *file_of(const lua_Debug *ar)
{
    if (*ar->what == 'C')
        return NULL;
    return *ar->source == '@' ? ar->source + 1 : ar->short_src;
}

/* The function is at the top. */
static void name_function(lua_State *L, lua_Debug *ar, char *name, size_t n_bytes)
{
    if (strcmp(ar->what, "main") == 0) {
        snprintf(name, n_bytes, "main chunk of %s", file_of(ar));
    } else if (!name_of_module(L, name, n_bytes)) {
        lua_getinfo(L, "n", ar);
        if (ar->name && *ar->name)
            snprintf(name, n_bytes, "%s", ar->name);
        else if (*ar->what == 'C')
            snprintf(name, n_bytes, "C function");
        else
            snprintf(name, n_bytes, "function at line %d", ar->linedefined);
    }
}

/* ---- descriptions ------------------------------------------------------------------------ */

/* Push the table whose keys are the lines of the function at the top that have code.
 * @param first, last  set to those of its code */
static void push_lines(lua_State *L, const lua_Debug *ar, int *first, int *last)
{
    lua_Debug code;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">L", &code);
    *first = ar->linedefined;
    *last = ar->lastlinedefined;
    if (*ar->what != 'm' || !lua_istable(L, -1))
        return;
    *first = 1; /* of a main chunk it is not told */
    *last = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        int line = (int)lua_tointeger(L, -2);
        *last = line > *last ? line : *last;
    }
}

/* Is it a line that begins with the word "end"? */
static int is_end(const char *line)
{
    line += strspn(line, " \t");
    return strncmp(line, "end", 3) == 0 && line[3] != '_' && !isalnum((unsigned char)line[3]);
}

/* Is the last line of a function its "end" alone? The return that the compiler adds there is often never
 * reached, and it is not in the source. */
static int ends_with_end(const lua_Debug *ar)
{
    char line[256];
    int n = 1, is_so = 0;
    if (ar->lastlinedefined <= ar->linedefined || *ar->source == '=')
        return 0;
    if (*ar->source != '@') {
        const char *text = ar->source;
        for (; text && n < ar->lastlinedefined; n++)
            text = (text = strchr(text, '\n')) ? text + 1 : NULL;
        return text && is_end(text);
    }
    FILE *file = fopen(ar->source + 1, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (n == ar->lastlinedefined) {
            is_so = is_end(line);
            break;
        }
        n += strchr(line, '\n') != NULL;
    }
    if (file)
        fclose(file);
    return is_so;
}

/* @param lines  gets the line table, to be freed: each line is a block. @return NULL: no memory */
static function *describe_lines(lua_State *L, const recorder *r, const lua_Debug *ar,
                                qprof_LineInfo **lines, int *n)
{
    int first, last;
    push_lines(L, ar, &first, &last);
    size_t n_lines = last >= first ? (size_t)(last - first) + 1 : 0;
    function *f = calloc(1, sizeof *f + n_lines * sizeof *f->blocks);
    *lines = malloc((n_lines + 1) * sizeof **lines);
    *n = 0;
    if (r->wants_lines && ends_with_end(ar))
        last--;
    if (f && *lines) {
        f->first_line = first;
        f->n_lines = last - first + 1;
        f->is_declared = ar->linedefined > 0;
        if (f->is_declared)
            (*lines)[(*n)++] = (qprof_LineInfo){-1, ar->linedefined};
        for (int i = 0; i < f->n_lines; i++) {
            lua_rawgeti(L, -1, first + i);
            f->blocks[i] = lua_toboolean(L, -1) ? *n : -1;
            lua_pop(L, 1);
            if (f->blocks[i] >= 0)
                (*lines)[(*n)++] = (qprof_LineInfo){i, first + i};
        }
    }
    lua_pop(L, 1);
    return f;
}

static function *describe(lua_State *L, const recorder *r, lua_Debug *ar)
{
    char name[256];
    qprof_LineInfo *lines = NULL;
    int n = 0;
    lua_CFunction address = lua_tocfunction(L, -1);
    function *f =
        *ar->what == 'C' ? calloc(1, sizeof *f) : describe_lines(L, r, ar, &lines, &n);
    if (f && !(address && module_has(address))) {
        name_function(L, ar, name, sizeof name);
        if (*ar->what == 'C' && lua_getupvalue(L, -1, 1)) {
            if (lua_isthread(L, -1)) {
                f->resumes = RESUMES_UPVALUE;
                snprintf(name, sizeof name, "coroutine.wrap: resume");
            }
            lua_pop(L, 1);
        }
        if (strcmp(name, "coroutine.resume") == 0)
            f->resumes = RESUMES_ARGUMENT;
        f->id = qprof_define(name, NULL, file_of(ar), lines, n);
    }
    free(lines);
    return f;
}

/* Push what functions of the same code have in common. The function is at the top. */
static void push_identity(lua_State *L, const lua_Debug *ar)
{
    lua_CFunction address = lua_tocfunction(L, -1);
    if (address)
        lua_pushlightuserdata(L, (void *)(uintptr_t)address);
    else if (*ar->what == 'C')
        lua_pushvalue(L, -1);
    else
        lua_pushfstring(L, "%d:%d:%s", ar->linedefined, ar->lastlinedefined, ar->source);
}

/* The table of functions and the function are at the top. */
static function *add(lua_State *L, recorder *r, lua_Debug *ar)
{
    lua_getinfo(L, "S", ar);
    push_identity(L, ar);
    lua_pushvalue(L, -1);
    lua_rawget(L, -4);
    function *f = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (!f) {
        lua_insert(L, -2); /* the function at the top */
        f = describe(L, r, ar);
        lua_insert(L, -2);
        if (!f) {
            lua_pop(L, 1);
            return NULL;
        }
        f->next = r->functions;
        r->functions = f;
        lua_pushlightuserdata(L, f);
        lua_rawset(L, -4);
    } else {
        lua_pop(L, 1);
    }
    lua_pushvalue(L, -1);
    lua_pushlightuserdata(L, f);
    lua_rawset(L, -4);
    return f;
}

const function *function_of(lua_State *L, recorder *r, lua_Debug *ar)
{
    push_registered(L, &functions_key);
    lua_getinfo(L, "f", ar);
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    const function *f = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (!f)
        f = add(L, r, ar);
    lua_pop(L, 2);
    return f;
}
