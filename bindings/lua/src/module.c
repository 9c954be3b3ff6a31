/* module.c: the functions of the module qprof. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

const char recorder_key; /* the recorder, a userdata */
#if LUA_VERSION_NUM < 502
int is_luajit;
#endif

recorder *recorder_of(lua_State *L)
{
    push_registered(L, &recorder_key);
    recorder *r = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return r;
}

static int answer(lua_State *L, int is_so)
{
    lua_pushboolean(L, is_so);
    return 1;
}

/* ---- options ----------------------------------------------------------------------------- */

static void add_quoted(luaL_Buffer *b, const char *text)
{
    luaL_addchar(b, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            luaL_addchar(b, '\\');
        luaL_addchar(b, *text);
    }
    luaL_addchar(b, '"');
}

/* Replace the table at the top, {output = "run.qprof", open_frames = false}, by the text of its options. */
static int push_options(lua_State *L)
{
    int has_open_frames = 1, table = lua_gettop(L);
    lua_pushliteral(L, "");
    for (lua_pushnil(L); lua_next(L, table);) {
        luaL_Buffer b;
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        char value[32];
        if (strcmp(name, "open_frames") == 0) {
            has_open_frames = lua_toboolean(L, -1);
            lua_pop(L, 1);
            continue;
        }
        snprintf(value, sizeof value, "%s", lua_toboolean(L, -1) ? "yes" : "no");
        const char *text = lua_isboolean(L, -1) ? value : lua_tostring(L, -1);
        luaL_argcheck(L, text != NULL, 1, "options are texts, numbers and booleans");
        lua_pushvalue(L, table + 1);
        luaL_buffinit(L, &b);
        luaL_addstring(&b, " -");
        for (; *name; name++)
            luaL_addchar(&b, (char)(*name == '_' ? '-' : *name));
        luaL_addchar(&b, '=');
        add_quoted(&b, text);
        luaL_pushresult(&b);
        lua_concat(L, 2);
        lua_replace(L, table + 1);
        lua_pop(L, 1);
    }
    lua_replace(L, table);
    return has_open_frames;
}

/* ---- a run ------------------------------------------------------------------------------- */

/* The program's hooks are called by ours from now on. debug is another table if it was replaced. */
static void take_debug_library(lua_State *L)
{
    lua_getglobal(L, "debug");
    if (lua_istable(L, -1)) {
        lua_pushlightuserdata(L, (void *)&gethook_key);
        lua_getfield(L, -2, "gethook");
        lua_rawset(L, LUA_REGISTRYINDEX);
        lua_pushcfunction(L, calls_set_hook);
        lua_setfield(L, -2, "sethook");
        lua_pushcfunction(L, calls_get_hook);
        lua_setfield(L, -2, "gethook");
    }
    lua_pop(L, 1);
}

/* A hook that the program has set with debug.sethook before: push what set it again. @return 0: it is of
 * C code */
static int push_own_hook(lua_State *L)
{
    lua_getglobal(L, "debug");
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "gethook");
        lua_remove(L, -2);
        lua_call(L, 0, 3);
        return lua_isfunction(L, -3);
    }
    return 0;
}

/* Push jit.version, or nil. @return 0: nil, because it is another interpreter */
static int push_luajit_version(lua_State *L)
{
    lua_getglobal(L, "jit");
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "version");
        lua_remove(L, -2);
        if (lua_type(L, -1) == LUA_TSTRING && strncmp(lua_tostring(L, -1), "LuaJIT", 6) == 0)
            return 1;
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    return 0;
}

/* What the interpreter executes: the global arg. */
static void name_program(lua_State *L)
{
    const char *words[64], *script = NULL, *host = LUA_RELEASE;
    int n = 0, top = lua_gettop(L), arg = top + 2;
    if (push_luajit_version(L))
        host = lua_tostring(L, -1);
    lua_getglobal(L, "arg");
    if (lua_istable(L, -1)) {
        lua_rawgeti(L, arg, 0);
        script = lua_tostring(L, -1);
        for (; n < 64; n++) {
            lua_rawgeti(L, arg, n + 1);
            words[n] = lua_tostring(L, -1);
            if (!words[n])
                break;
            if (!lua_checkstack(L, 4))
                break;
        }
    }
    qprof_set_program(script, n, words, host);
    lua_settop(L, top);
}

/* qlua reports every call itself. Push why the module is not used there. @return 0: it is another interpreter */
static int push_why_not(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "_PRELOAD");
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "qlua");
        lua_remove(L, -2);
    }
    int is_qlua = lua_isfunction(L, -1);
    lua_pop(L, 1);
    if (is_qlua)
        lua_pushliteral(L, "qlua records without this module, by qprof run or if QPROF is set");
    return is_qlua;
}

/* @return 1: a run is on; 0: none was asked for; else the reason is at the top */
static int begin(lua_State *L, const char *options, int has_open_frames)
{
    recorder *r = recorder_of(L);
    int has_hook = lua_gethook(L) != NULL && r->is_fresh;
    if (r->is_on) {
        lua_pushliteral(L, "qprof is recording already");
        return -1;
    }
    if (push_why_not(L))
        return -1;
    if (has_hook && !push_own_hook(L)) {
        lua_pushliteral(L, "another profiler or debugger has the debug hook");
        return -1;
    }
    name_program(L);
    int opened = qprof_vm_open(&r->vm, options);
    if (opened < 0) {
        lua_pushstring(L, qprof_error_text());
        return -1;
    }
    if (!opened)
        return 0;
    r->is_on = 1;
    r->wants_lines = (qprof_wants() & QPROF_WANT_BLOCKS) != 0;
    functions_begin(L, r);
    if (r->is_fresh)
        take_debug_library(L);
    r->is_fresh = 0;
    if (has_hook) { /* hook, mask and count are at the top */
        lua_pushcfunction(L, calls_set_hook);
        lua_insert(L, -4);
        lua_call(L, 3, 0);
    }
    calls_begin(L, r, has_open_frames);
    return 1;
}

static void end(lua_State *L, recorder *r)
{
    if (!r->is_on)
        return;
    r->is_on = 0;
    if (!calls_end(L, r))
        fputs("qprof: another debug hook has replaced the recorder's: what was called from "
              "then on is not recorded\n",
              stderr);
    qprof_vm_close(&r->vm);
}

/* ---- the functions ------------------------------------------------------------------------ */

/* qprof.start(options): begin a run. Options are a text or a table. */
static int lib_start(lua_State *L)
{
    int has_open_frames = 1;
    lua_settop(L, 1);
    if (lua_istable(L, 1))
        has_open_frames = push_options(L);
    if (begin(L, luaL_optstring(L, 1, ""), has_open_frames) < 0)
        return luaL_error(L, "%s", lua_tostring(L, -1));
    return 0;
}

/* qprof.stop(): end the run and write its file. */
static int lib_stop(lua_State *L)
{
    end(L, recorder_of(L));
    return 0;
}

static int lib_running(lua_State *L)
{
    return answer(L, recorder_of(L)->is_on);
}

static int lib_recording(lua_State *L)
{
    return answer(L, qprof_is_recording());
}

static int lib_pause(lua_State *L)
{
    return answer(L, qprof_stop_recording());
}

static int lib_resume(lua_State *L)
{
    return answer(L, qprof_start_recording());
}

static int lib_snapshot(lua_State *L)
{
    const char *file = luaL_optstring(L, 1, NULL);
    return answer(L, file ? qprof_save_data_to_file(file) : qprof_save_data());
}

static int lib_context(lua_State *L)
{
    return answer(L, qprof_context(luaL_optstring(L, 1, NULL)) == 0);
}

static int lib_mark(lua_State *L)
{
    qprof_add_annotation(luaL_checkstring(L, 1));
    return 0;
}

/* Coroutines may yield in the protected call; in Lua 5.1 and LuaJIT they may not. */
#if LUA_VERSION_NUM < 502
#define PROTECTED_CALL(L, n, context) lua_pcall((L), (n), LUA_MULTRET, 0)
typedef int call_context;
#else
#define PROTECTED_CALL(L, n, context)                                                          \
    lua_pcallk((L), (n), LUA_MULTRET, 0, (context), continue_request)
#endif
#if LUA_VERSION_NUM == 502
typedef int call_context;
#elif LUA_VERSION_NUM > 502
typedef lua_KContext call_context;
#endif

enum { NAME = 1, TRACEPARENT, FUNCTION };

/* The function has returned or failed: pass on what it did. */
static int end_request(lua_State *L, int status, call_context is_begun)
{
    int has_failed = status != 0 && status != LUA_YIELD;
    recorder *r = recorder_of(L);
    if (r->is_on && is_begun)
        calls_leave_request(L, r, has_failed);
    return has_failed ? lua_error(L) : lua_gettop(L) - TRACEPARENT;
}

/* It returns after yields. */
#if LUA_VERSION_NUM == 502
static int continue_request(lua_State *L)
{
    int is_begun = 0, status = lua_getctx(L, &is_begun);
    return end_request(L, status, is_begun);
}
#elif LUA_VERSION_NUM > 502
#define continue_request end_request
#endif

/* qprof.request(name, traceparent or nil, f, ...): call f(...) as a request of an endpoint. Its results. */
static int lib_request(lua_State *L)
{
    const char *name = luaL_checkstring(L, NAME);
    const char *traceparent = luaL_optstring(L, TRACEPARENT, NULL);
    luaL_checkany(L, FUNCTION);
    recorder *r = recorder_of(L);
    call_context is_begun = r->is_on;
    if (is_begun)
        calls_enter_request(L, r, name, traceparent);
    return end_request(L, PROTECTED_CALL(L, lua_gettop(L) - FUNCTION, is_begun), is_begun);
}

static const luaL_Reg functions[] = {{"context", lib_context},
                                     {"mark", lib_mark},
                                     {"pause", lib_pause},
                                     {"recording", lib_recording},
                                     {"request", lib_request},
                                     {"resume", lib_resume},
                                     {"running", lib_running},
                                     {"snapshot", lib_snapshot},
                                     {"start", lib_start},
                                     {"stop", lib_stop},
                                     {NULL, NULL}};

int module_has(lua_CFunction f)
{
    for (const luaL_Reg *known = functions; known->name; known++)
        if (known->func == f)
            return 1;
    return f == calls_set_hook || f == calls_get_hook;
}

/* ---- the module -------------------------------------------------------------------------- */

static int free_recorder(lua_State *L)
{
    recorder *r = lua_touserdata(L, 1);
    end(L, r);
    functions_free(r);
    return 0;
}

static recorder *new_recorder(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)&recorder_key);
    recorder *r = lua_newuserdata(L, sizeof *r);
    memset(r, 0, sizeof *r);
    qprof_stack_new(&r->vm.main);
    r->vm.running = &r->vm.main;
    r->is_fresh = 1;
    lua_newtable(L);
    lua_pushcfunction(L, free_recorder);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
    calls_open(L);
    return r;
}

/* Does the interpreter load the module for its option -l, and no program? */
static int is_of_command_line(lua_State *L)
{
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "S", &ar);
        if (*ar.what != 'C')
            return 0;
    }
    return 1;
}

/* As lua -lqprof does. A wrong option must not end the program that would have run. */
static void begin_of_command_line(lua_State *L)
{
    int top = lua_gettop(L);
    const char *variable = getenv(qprof_environment()); /* then the recorder prints mistakes */
    lua_getglobal(L, "arg");
    int has_name = lua_istable(L, -1);
    if (push_why_not(L))
        fprintf(stderr, "qprof: %s\n", lua_tostring(L, -1));
    else if (begin(L, has_name ? "-filename-prefix=%s.%p" : "", 0) < 0 &&
             !(variable && *variable))
        fprintf(stderr, "qprof: %s: nothing is recorded\n", lua_tostring(L, -1));
    lua_settop(L, top);
}

__attribute__((visibility("default"))) int luaopen_qprof(lua_State *L);

int luaopen_qprof(lua_State *L)
{
#if LUA_VERSION_NUM < 502
    is_luajit = push_luajit_version(L);
    lua_pop(L, 1);
#endif
    if (!recorder_of(L))
        new_recorder(L);
    lua_newtable(L);
    for (const luaL_Reg *known = functions; known->name; known++) {
        lua_pushcfunction(L, known->func);
        lua_setfield(L, -2, known->name);
    }
    lua_pushstring(L, qprof_version());
    lua_setfield(L, -2, "version");
    if (is_of_command_line(L))
        begin_of_command_line(L);
    return 1;
}
