/* qlua_poll.c: samples from Lua's own stack: -collect=samples.
 *
 * No stack is kept besides CallInfo. A sample sets a hook of the thread's handle; the loop
 * tests the hook at every entry and exit, and only if it is set looks the frames up, from the
 * last one whose path is known. */
#define LUA_CORE
#include "lprefix.h"

#include "ldo.h"
#include "qlua_glue.h"

int qlua_is_polling;

static qprof_thread never_due = {.gate = QPROF_GATE_OPEN | QPROF_HOOK_STACK};

/* The path of a frame: walk down to a frame with a known path, then up again. */
static unsigned path_of(lua_State *L, CallInfo *at)
{
    CallInfo *ci = at;
    while (ci != &L->base_ci && ci->qtoken == 0)
        ci = ci->previous;
    unsigned path = (unsigned)ci->qtoken;
    while (ci != at) {
        ci = ci->next;
        path = qprof_path(L->qstack.th, path, qlua_frame_method(L, ci));
        ci->qtoken = path;
    }
    return path;
}

void qlua_poll_sample(lua_State *L, CallInfo *at)
{
    if (L->qstack.th->gate == 0)
        qprof_begin(&L->qstack);
    if (L->qstack.th->gate == 0)
        L->qstack.th = &never_due; /* recording has ended */
    else
        qprof_sample_path(L->qstack.th, path_of(L, at));
}

/* Name the functions of a chunk when it begins: when a sample finds one of them, the chunk may
 * have returned, or run on the stack of another coroutine. */
static inline void name_chunk(lua_State *L, CallInfo *ci)
{
    Proto *p = ci_func(ci)->p;
    if (l_unlikely(p->linedefined == 0 && p->sizep > 0 && p->qcode == NULL))
        qlua_name_chunk(L, ci, p, qlua_name_module(L, ci, p));
}

static inline void call(lua_State *L, StkId func, int n_results)
{
    CallInfo *ci = luaD_precall(L, func, n_results);
    if (ci == NULL)
        return;
    ci->callstatus |= CIST_FRESH;
    ci->qtoken = 0;
    name_chunk(L, ci);
    qlua_execute(L, ci);
}

static __attribute__((noinline)) void call_outermost(lua_State *L, StkId func, int n_results)
{
    qprof_begin(&L->qstack);
    call(L, func, n_results);
    qprof_end(&L->qstack);
}

/* After the outermost function C code may run for long: the state must not stay mounted. */
void qlua_poll_call(lua_State *L, StkId func, int n_results)
{
    if (l_unlikely(L->ci == &L->base_ci && L->ci->qtoken == 0))
        call_outermost(L, func, n_results);
    else {
        qlua_poll(L, L->ci); /* a C function, or the collector */
        call(L, func, n_results);
    }
}

/* ---- the collector ----------------------------------------------------------------------- */

qlua_collection qlua_poll_collect(lua_State *L)
{
    CallInfo *ci = L->ci;
    qlua_collection it = {NULL, NULL, ci->qtoken, 0};
    if (ci == &L->base_ci)
        it.is_begun = (lu_byte)qprof_begin(&L->qstack);
    else
        qlua_poll(L, ci);
    if (!L->qstack.outside || L->qstack.th == &never_due)
        return it;
    it.L = L;
    it.token = ci->qtoken; /* looked up by now, or 0 */
    ci->qtoken = qprof_path(L->qstack.th, path_of(L, ci), QPROF_METHOD_GC);
    return it;
}

void qlua_poll_collected(const qlua_collection *it)
{
    lua_State *L = it->L;
    qlua_poll(L, L->ci);
    L->ci->qtoken = it->token;
    if (it->is_begun)
        qprof_end(&L->qstack);
}
