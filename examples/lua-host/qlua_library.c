/* qlua_library.c: the library `qlua`, with which a program names what it does and controls when
 * it is recorded. Without a run the functions have no effect; only wrong arguments raise
 * errors. */
#define LUA_CORE
#include "lprefix.h"

#include <math.h>

#include "lauxlib.h"
#include "ldo.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "qlua_glue.h"

#include "qprof.h"

static int answer(lua_State *L, int is_done)
{
    lua_pushboolean(L, is_done);
    return 1;
}

/* qlua.running(): true if a run is on. */
static int lib_running(lua_State *L)
{
    return answer(L, qprof_is_running());
}

/* qlua.recording(): true if the recording flag is on. */
static int lib_recording(lua_State *L)
{
    return answer(L, qprof_is_recording());
}

/* qlua.start(), qlua.stop(): set the recording flag. True: it changed. */
static int lib_start(lua_State *L)
{
    int is_changed = qprof_start_recording();
    qlua_settle(L);
    return answer(L, is_changed);
}

static int lib_stop(lua_State *L)
{
    int is_changed = qprof_stop_recording();
    qlua_settle(L);
    return answer(L, is_changed);
}

/* qlua.mark(text) */
static int lib_mark(lua_State *L)
{
    qprof_mark(luaL_checkstring(L, 1));
    return 0;
}

/* qlua.message(text): an annotation of the run, with its moment. */
static int lib_message(lua_State *L)
{
    qprof_add_annotation(luaL_checkstring(L, 1));
    return 0;
}

/* qlua.counter(name, value): rounded down. */
static int lib_counter(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_Integer value = 0;
    if (lua_isinteger(L, 2))
        value = lua_tointeger(L, 2);
    else
        luaL_argcheck(L, lua_numbertointeger(l_mathop(floor)(luaL_checknumber(L, 2)), &value),
                      2, "out of range");
    qprof_counter(name, value);
    return 0;
}

/* The call path of the function at a level; 1: the one that calls. @return 0: it is not known */
static uint64_t path_at(const lua_State *L, lua_Integer level)
{
    const CallInfo *ci = L->ci;
    uint64_t here = L->qstack.th ? qprof_thread_path(L->qstack.th) : 0;
    for (; ci != NULL && level > 0; level--)
        ci = ci->previous;
    return ci ? qprof_path_of_token(here, ci->qtoken) : 0;
}

/* A number that is not negative, rounded down. */
static uint64_t check_amount(lua_State *L, int at)
{
    lua_Integer value = 0;
    if (lua_isinteger(L, at))
        value = lua_tointeger(L, at);
    else
        luaL_argcheck(L, lua_numbertointeger(l_mathop(floor)(luaL_checknumber(L, at)), &value),
                      at, "out of range");
    luaL_argcheck(L, value >= 0, at, "negative");
    return (uint64_t)value;
}

/* qlua.metric(name, unit or nil): its number, for qlua.add. */
static int lib_metric(lua_State *L)
{
    int number = qprof_metric_create(luaL_checkstring(L, 1), luaL_optstring(L, 2, NULL));
    luaL_argcheck(L, number != QPROF_E_ARG, 1, "no name");
    luaL_argcheck(L, number != QPROF_E_LIMIT, 1, "too many metrics");
    lua_pushinteger(L, number);
    return 1;
}

/* qlua.add(metric, n or nil): add n, or 1, for the function that calls. */
static int lib_add(lua_State *L)
{
    lua_Integer metric = luaL_checkinteger(L, 1);
    uint64_t n = lua_isnoneornil(L, 2) ? 1 : check_amount(L, 2);
    luaL_argcheck(L, metric > 0 && metric <= QPROF_METRICS, 1, "no metric");
    if (L->qstack.th)
        qprof_record_metric_of(L->qstack.th, path_at(L, 1), (int)metric, n);
    return 0;
}

/* qlua.path(level or nil): the call path of the function at that level, for qlua.wait_end(); 1, or nil: the one
 * that calls. 0: it is not known. */
static int lib_path(lua_State *L)
{
    lua_Integer level = luaL_optinteger(L, 1, 1);
    luaL_argcheck(L, level >= 0, 1, "negative");
    lua_pushinteger(L, (lua_Integer)path_at(L, level));
    return 1;
}

/* qlua.wait_begin(): the moment, for qlua.wait_end(). */
static int lib_wait_begin(lua_State *L)
{
    lua_pushinteger(L, L->qstack.th ? (lua_Integer)qprof_wait_begin(L->qstack.th) : 0);
    return 1;
}

/* qlua.wait_end(begun, lock, waiter or nil, holder or nil): a wait for a lock is over. */
static int lib_wait_end(lua_State *L)
{
    uint64_t begun = (uint64_t)luaL_checkinteger(L, 1);
    const char *lock = luaL_checkstring(L, 2);
    uint64_t waiter = (uint64_t)luaL_optinteger(L, 3, 0),
             holder = (uint64_t)luaL_optinteger(L, 4, 0);
    if (L->qstack.th)
        qprof_wait_end(L->qstack.th, begun, lock, waiter, holder);
    return 0;
}

/* qlua.event(id): raise an event of the program, for event triggers. True: a run is on. */
static int lib_event(lua_State *L)
{
    lua_Integer id = luaL_checkinteger(L, 1);
    luaL_argcheck(L, id >= QPROF_EV_USER_FIRST && id <= QPROF_EV_USER_LAST, 1,
                  "events of programs are 40000 to 65535");
    int is_raised = qprof_user_event((qprof_event_t)id) == 0;
    qlua_settle(L);
    return answer(L, is_raised);
}

/* qlua.context(name or nil): what runs from now on belongs to it. True: it is recorded. */
static int lib_context(lua_State *L)
{
    return answer(L, qlua_border(L, qprof_context, luaL_optstring(L, 1, NULL)) == 0);
}

static int save(const char *file)
{
    return file ? qprof_save_data_to_file(file) : qprof_save_data();
}

/* qlua.snapshot(file or nil): write a dataset. True: it was written. */
static int lib_snapshot(lua_State *L)
{
    return answer(L, qlua_border(L, save, luaL_optstring(L, 1, NULL)) == 1);
}

/* ---- requests ---------------------------------------------------------------------------- */

enum { NAME = 1, TRACEPARENT, HANDLER, FUNCTION };

/* The function has returned, perhaps after yields, or failed: pass on what it did. An error was handled where it
 * was raised, so that a traceback shows that place; it is thrown on without another call of the handler. */
static int end_request(lua_State *L, int status, lua_KContext context)
{
    (void)context;
    qprof_request_end(status != LUA_OK && status != LUA_YIELD);
    if (status != LUA_OK && status != LUA_YIELD)
        luaD_throw(L, status);
    return lua_gettop(L) - HANDLER;
}

/* qlua.request(name, traceparent or nil, f, ...): call f(...) as a request of an endpoint. Its results. */
static int lib_request(lua_State *L)
{
    unsigned char trace[16], span[8];
    const char *name = luaL_checkstring(L, NAME),
               *parent = luaL_optstring(L, TRACEPARENT, NULL);
    int has_trace = qprof_read_traceparent(parent, trace, span), has_handler = L->errfunc != 0;
    luaL_checkany(L, FUNCTION - 1);
    if (has_handler) {
        setobjs2s(L, qlua_top(L), restorestack(L, L->errfunc));
        qlua_top(L)++;
    } else {
        lua_pushnil(L);
    }
    lua_insert(L, HANDLER);
    qprof_request_begin(name, has_trace ? trace : NULL, has_trace ? span : NULL);
    return end_request(L,
                       lua_pcallk(L, lua_gettop(L) - FUNCTION, LUA_MULTRET,
                                  has_handler ? HANDLER : 0, 0, end_request),
                       0);
}

static int open_library(lua_State *L)
{
    static const luaL_Reg functions[] = {{"add", lib_add},
                                         {"context", lib_context},
                                         {"counter", lib_counter},
                                         {"event", lib_event},
                                         {"mark", lib_mark},
                                         {"message", lib_message},
                                         {"metric", lib_metric},
                                         {"path", lib_path},
                                         {"recording", lib_recording},
                                         {"request", lib_request},
                                         {"running", lib_running},
                                         {"snapshot", lib_snapshot},
                                         {"start", lib_start},
                                         {"stop", lib_stop},
                                         {"wait_begin", lib_wait_begin},
                                         {"wait_end", lib_wait_end},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}

void qlua_preload(lua_State *L);

/* Called by luaL_openlibs: require "qlua" finds the library. */
void qlua_preload(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_library);
    lua_setfield(L, -2, "qlua");
    lua_pop(L, 1);
}
