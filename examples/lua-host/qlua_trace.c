/* qlua_trace.c: both ends of a call, with lines and, if wanted, values, for traces of the
 * Xbase++ kind.
 *
 * Values are described without a call of a metamethod and without allocation. */
#define LUA_CORE
#include "lprefix.h"

#include <stdio.h>
#include <string.h>

#include "lapi.h"
#include "ltm.h"
#include "qlua_glue.h"

enum { VALUES_MAX = 16, VALUE_BYTES = 128 };

int qlua_has_values;

int qlua_line_before(const Proto *p, const Instruction *pc)
{
    int line = luaG_getfuncline(p, pcRel(pc, p));
    return line > 0 ? line : 0;
}

/* The current line of a frame; 0: none. */
static int line_of(const CallInfo *ci)
{
    return isLua(ci) ? qlua_line_before(ci_func(ci)->p, ci->u.l.savedpc) : 0;
}

/* A string in quotes; a long one is cut. */
static void describe_string(const TValue *v, char *to)
{
    size_t n = tsslen(tsvalue(v)), most = VALUE_BYTES - sizeof "\"...\"";
    snprintf(to, VALUE_BYTES, "\"%.*s%s\"", (int)(n < most ? n : most), qlua_text(v),
             n > most ? "..." : "");
}

/* @param to  [VALUE_BYTES]. @return the name of its type */
static const char *describe(const TValue *v, char *to)
{
    const char *type = ttypename(ttype(v));
    switch (ttype(v)) {
    case LUA_TNIL:
        snprintf(to, VALUE_BYTES, "nil");
        break;
    case LUA_TBOOLEAN:
        snprintf(to, VALUE_BYTES, ttistrue(v) ? "true" : "false");
        break;
    case LUA_TNUMBER:
        if (ttisinteger(v))
            snprintf(to, VALUE_BYTES, LUA_INTEGER_FMT, ivalue(v));
        else
            snprintf(to, VALUE_BYTES, LUA_NUMBER_FMT, fltvalue(v));
        break;
    case LUA_TSTRING:
        describe_string(v, to);
        break;
    case LUA_TLIGHTUSERDATA:
        snprintf(to, VALUE_BYTES, "%s: %p", type, pvalue(v));
        break;
    default:
        if (iscollectable(v))
            snprintf(to, VALUE_BYTES, "%s: %p", type, (void *)gcvalue(v));
        else
            snprintf(to, VALUE_BYTES, "%s", type);
    }
    return type;
}

static void trace_parameters(StkId first, StkId end)
{
    char value[VALUE_BYTES];
    for (int i = 0; first + i < end && i < VALUES_MAX; i++) {
        const char *type = describe(s2v(first + i), value);
        qprof_trace_parameter(i + 1, type, value, NULL);
    }
}

static void trace_results(StkId first, int n)
{
    char value[VALUE_BYTES];
    for (int i = 0; i < n && i < VALUES_MAX; i++) {
        const char *type = describe(s2v(first + i), value);
        qprof_trace_result(type, value);
    }
}

void qlua_trace_call(lua_State *L, const CallInfo *ci, size_t method, int line)
{
    if (qlua_has_values)
        trace_parameters(qlua_func(ci) + 1, qlua_top(L));
    qprof_trace_call(method, line);
}

void qlua_trace_entry(lua_State *L, CallInfo *ci, size_t method)
{
    if (ci->previous->qtoken == 0)
        qprof_begin(&L->qstack);
    qlua_trace_call(L, ci, method, line_of(ci->previous));
    qlua_entry(L, ci, method);
}

/* The function that made the tail call has ended: report its exit, but not its return. */
void qlua_trace_tail(lua_State *L, CallInfo *ci)
{
    size_t method = qlua_frame_method(L, ci);
    qprof_token_leave(L->qstack.th, ci->qtoken);
    qlua_trace_call(L, ci, method, line_of(ci->previous));
    qlua_entry(L, ci, method);
}

void qlua_trace_exit(lua_State *L, CallInfo *ci, StkId results, int n_results)
{
    const CallInfo *caller = ci->previous;
    qlua_kept ended = {ci->qtoken, qlua_frame_method(L, ci), line_of(ci)};
    for (int is_last = 0, is_lua = isLua(ci) != 0; !is_last; is_lua = 1) {
        is_last = ci->qkept == 0;
        qlua_kept next = is_last ? (qlua_kept){0, 0, line_of(caller)} : qlua_keep_pop(L, ci);
        if (is_lua)
            qprof_trace_line(ended.line);
        if (qlua_has_values)
            trace_results(results, n_results);
        qprof_token_leave(L->qstack.th, ended.token);
        qprof_trace_return(ended.method, next.line);
        ended = next;
    }
    if (caller->qtoken == 0)
        qprof_end(&L->qstack);
}
