/* qlua_cost.c: what recording a call costs in Lua's own loop. The recorder asks for calls of a function that
 * does nothing, of Lua and of C, with and without events; they run in a state of their own and leave nothing
 * in the profile. */
#define LUA_CORE
#include "lprefix.h"

#include "lauxlib.h"
#include "qlua_glue.h"

enum { CALLS = 500 };

static const char program[] = "local begin, n, f = ...; f = f or function() end; begin(); "
                              "for i = 1, n do f() end";

typedef struct {
    lua_State *L; /* its program is on top of the stack */
    void (*loop)(lua_State *, CallInfo *);
    qprof_token caller;
    size_t function; /* 0: nothing is reported */
    int is_native, n_left;
} measurement;

static measurement *current;

/* Called by the program: from here on its loop reports calls, from the frame of the program. */
static int begin(lua_State *L)
{
    L->ci->previous->qtoken = current->caller;
    if (current->is_native && current->function) {
        L->qon = 1; /* so that this call ends as one that was reported */
        L->ci->qtoken = qprof_enter(&L->qstack, current->caller, current->function);
    }
    return 0;
}

/* The last call ends as if nothing were reported, and so does the program. */
static int nothing(lua_State *L)
{
    if (--current->n_left == 0)
        L->qon = 0;
    return 0;
}

static void execute(void *data, qprof_thread *th, qprof_token caller, size_t function)
{
    measurement *it = data;
    lua_State *L = it->L;
    Proto *p = clLvalue(s2v(qlua_top(L) - 1))->p;
    qprof_thread *closed = L->qstack.th;
    it->caller = caller;
    it->function = function;
    it->n_left = CALLS;
    p->p[0]->qid = function;
    L->qstack.th = th;
    qlua_loop = function ? it->loop : luaV_execute;
    lua_pushvalue(L, -1);
    lua_pushcfunction(L, begin);
    lua_pushinteger(L, CALLS);
    if (it->is_native)
        lua_pushcfunction(L, nothing);
    lua_call(L, 2 + it->is_native, 0);
    L->qstack.th = closed;
    L->qon = 0;
    p->p[0]->qid = 0;
}

void qlua_cost_measure(void)
{
    measurement it = {.L = qlua_scratch_state(), .loop = qlua_loop};
    void (*usual)(lua_State *, CallInfo *) = qlua_loop;
    int was_apart = qlua_is_apart;
    if (it.L == NULL)
        return;
    it.L->qon = 0;
    lua_gc(it.L, LUA_GCSTOP);
    if (luaL_loadstring(it.L, program) == LUA_OK) {
        Proto *p = clLvalue(s2v(qlua_top(it.L) - 1))->p;
        if (qlua_loop == qlua_execute_gated)
            it.loop = qlua_execute_calls; /* what the gate needs beside is little */
        qlua_is_apart = 0;
        p->qid = 1; /* any: its own call is not reported */
        qlua_code_ignore(p);
        qlua_code_ignore(p->p[0]);
        current = &it;
        qprof_measure_calls(execute, &it, CALLS, 0);
        it.is_native = qlua_cfunction_scratch(nothing, 1);
        if (it.is_native)
            qprof_measure_calls(execute, &it, CALLS, 1);
        current = NULL;
        qlua_loop = usual;
        p->qid = 0;
    }
    lua_close(it.L);
    qlua_is_apart = was_apart;
}
