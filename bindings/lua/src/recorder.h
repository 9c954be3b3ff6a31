/* recorder.h: what the files of the Lua module qprof share.
 *
 * A state of Lua has one recorder, in its registry. Each of its coroutines that has run has a stack, in a
 * table whose weak keys are the coroutines. Names and ids of functions are in a table whose weak
 * keys are the functions. */
#ifndef QPROF_LUA_RECORDER_H
#define QPROF_LUA_RECORDER_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdint.h>

#include "qprof/embed.h"

/* ---- versions of Lua --------------------------------------------------------------------- */

#if LUA_VERSION_NUM < 502
#define LUA_HOOKTAILCALL LUA_HOOKCALL /* announced as a call */
#define lua_rawlen       lua_objlen
#endif
#ifndef LUA_LOADED_TABLE
#define LUA_LOADED_TABLE "_LOADED"
#endif

/* LuaJIT loads modules that were compiled for Lua 5.1. */
#if LUA_VERSION_NUM < 502
extern int is_luajit;
#else
enum { is_luajit = 0 };
#endif

/* Where a frame is on its stack: two that are open differ. The interpreter tells it with each event. In LuaJIT it is
 * an offset, and a function with "..." moves up when its call has been announced. */
typedef uintptr_t place;
#define PLACE(ar)               ((place)(ar)->i_ci & (is_luajit ? 0xffff : UINTPTR_MAX))
#define IS_ABOVE(at, frame)     (is_luajit ? (at) > (frame) : (at) != (frame))
#define TAKES_PLACE_OF(new, at) (is_luajit ? (new) <= (at) : (new) == (at))

/* ---- what is recorded -------------------------------------------------------------------- */

enum { RESUMES_NOTHING, RESUMES_ARGUMENT, RESUMES_UPVALUE };

/* What is known of a function. Closures of the same code share it. */
typedef struct function {
    struct function *next;
    qprof_MethodID id; /* 0: not recorded, because it is of this module */
    char resumes;      /* a coroutine: RESUMES_* */
    char is_declared;  /* block 0 is the line where it is declared */
    int first_line, n_lines;
    int blocks[]; /* [n_lines] the block that is the line; -1: none */
} function;

/* A call that is open. */
typedef struct {
    place place;
    qprof_token
        token; /* of the innermost call that is recorded: this one, or one below; 0: none */
    const function *function; /* NULL: there was no memory for it */
} open_call;

/* A coroutine, or the main program. */
typedef struct {
    struct recorder *recorder;
    qprof_stack own, *stack; /* of the main program: that of the VM */
    open_call *calls;        /* [n_calls] of n_room, outermost first */
    size_t n_calls, n_room;
    int user_mask, user_count; /* of the hook that the program has set; 0: none */
} coroutine;

/* Of a state of Lua. */
typedef struct recorder {
    qprof_vm vm;
    char is_on, wants_lines;
    char is_fresh; /* no run has begun yet */
    function *functions;
} recorder;

/* ---- functions.c ------------------------------------------------------------------------- */

/** What is known of the function of an activation.
 *
 * @return NULL: no memory */
const function *function_of(lua_State *L, recorder *r, lua_Debug *ar);
/** A run begins: no function is known. */
void functions_begin(lua_State *L, recorder *r);
void functions_free(recorder *r);

/* ---- calls.c ----------------------------------------------------------------------------- */

/** Make the tables of coroutines and of their hooks. */
void calls_open(lua_State *L);
/** Record what this coroutine, and those that it creates, call from now on.
 *
 * @param has_open_frames  and the calls that are open */
void calls_begin(lua_State *L, recorder *r, int has_open_frames);
/** End the calls of the coroutine that runs. Its hook is again what the program has set.
 *
 * @return 0: another hook has taken the place of ours */
int calls_end(lua_State *L, recorder *r);
/** A request begins in the function that runs, and ends there: a function of this module calls them. */
void calls_enter_request(lua_State *L, recorder *r, const char *name, const char *traceparent);
void calls_leave_request(lua_State *L, recorder *r, int has_failed);
/** debug.sethook and debug.gethook while a run is on: the hook is called by ours. */
int calls_set_hook(lua_State *L);
int calls_get_hook(lua_State *L);

/* ---- module.c ---------------------------------------------------------------------------- */

recorder *recorder_of(lua_State *L);
/** Is it a function of this module? */
int module_has(lua_CFunction f);

/* Keys of the registry. */
extern const char coroutines_key, hooks_key, gethook_key, functions_key, recorder_key;

/** Push the value that the registry has of a key. */
static inline void push_registered(lua_State *L, const char *key)
{
    lua_pushlightuserdata(L, (void *)key);
    lua_rawget(L, LUA_REGISTRYINDEX);
}

/** Give the registry a table with weak keys. */
static inline void register_weak_table(lua_State *L, const char *key)
{
    lua_pushlightuserdata(L, (void *)key);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

#endif
