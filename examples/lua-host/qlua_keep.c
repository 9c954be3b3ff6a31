/* qlua_keep.c: -tail-calls=keep. The frame of a function that makes a tail call stays until the callee
 * returns.
 *
 * Lua has one CallInfo for all functions of a chain of tail calls. Its `qtoken` is that of the last of
 * them, `qkept` how many frames before it are kept. These lie in a stack of the state, `qkeep`: those of
 * all frames, in their order. */
#define LUA_CORE
#include "lprefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qlua_glue.h"
#include "qprof.h"

/* Memory stays bounded: a loop may be written as a tail call. CHAIN_MAX fits into `qkept`. */
enum { CHAIN_MAX = 200, STATE_MAX = 1 << 20, FIRST_ROOM = 16 };

struct qlua_keep {
    unsigned n, n_room;
    qlua_kept frames[]; /* [n_room] */
};

static uint64_t n_replaced; /* tail calls that were not kept for lack of room; atomic */

int qlua_keep_is_wanted(void)
{
    const char *text = qprof_get_option("tail-calls");
    return text && strcmp(text, "keep") == 0;
}

/* @return the state's stack, with room for one more; NULL: there is none */
static struct qlua_keep *make_room(lua_State *L)
{
    struct qlua_keep *keep = L->qkeep;
    if (keep && keep->n < keep->n_room)
        return keep;
    unsigned n = keep ? 2 * keep->n_room : FIRST_ROOM;
    if (n > STATE_MAX)
        return NULL;
    struct qlua_keep *grown = realloc(keep, sizeof *keep + n * sizeof *keep->frames);
    if (grown == NULL)
        return NULL;
    if (keep == NULL)
        grown->n = 0;
    grown->n_room = n;
    return L->qkeep = grown;
}

int qlua_keep_tail(lua_State *L, CallInfo *ci, const Proto *from, const Instruction *pc)
{
    if (ci->qtoken == QPROF_NO_TOKEN)
        return 0;
    struct qlua_keep *keep = ci->qkept < CHAIN_MAX ? make_room(L) : NULL;
    if (keep == NULL) {
        __atomic_fetch_add(&n_replaced, 1, __ATOMIC_RELAXED);
        return 0;
    }
    size_t method = qlua_frame_method(L, ci);
    int line = qlua_is_tracing ? qlua_line_before(from, pc) : 0;
    if (qlua_is_tracing)
        qlua_trace_call(L, ci, method, line);
    qprof_token token = qprof_token_enter(L->qstack.th, ci->qtoken, method);
    if (token == QPROF_NO_TOKEN)
        return 1; /* recording has stopped: what the callee calls belongs to the frame below it */
    keep->frames[keep->n++] = (qlua_kept){ci->qtoken, from->qid, line};
    ci->qkept++;
    ci->qtoken = token;
    return 1;
}

qlua_kept qlua_keep_pop(lua_State *L, CallInfo *ci)
{
    ci->qkept--;
    return L->qkeep->frames[--L->qkeep->n];
}

void qlua_keep_unwind(lua_State *L, const CallInfo *to)
{
    for (CallInfo *ci = L->ci; ci != to; ci = ci->previous) {
        L->qkeep->n -= ci->qkept;
        ci->qkept = 0;
    }
}

void qlua_keep_free(lua_State *L)
{
    free(L->qkeep);
    L->qkeep = NULL;
}

void qlua_keep_finish(void)
{
    uint64_t n = __atomic_load_n(&n_replaced, __ATOMIC_RELAXED);
    char text[160];
    if (n == 0)
        return;
    snprintf(
        text, sizeof text,
        "-tail-calls=keep: %llu tail calls replaced a frame, because %d are kept in a chain "
        "and %d in a coroutine",
        (unsigned long long)n, CHAIN_MAX, STATE_MAX);
    qprof_add_annotation(text);
}

/* ---- frames while calls are traced or kept ------------------------------------------------ */

void qlua_special_entry(lua_State *L, CallInfo *ci, size_t method)
{
    ci->qkept = 0;
    if (qlua_is_tracing)
        qlua_trace_entry(L, ci, method);
    else
        qlua_entry(L, ci, method);
}

void qlua_special_exit(lua_State *L, CallInfo *ci, StkId results, int n_results)
{
    if (qlua_is_tracing) {
        qlua_trace_exit(L, ci, results, n_results);
    } else if (ci->qtoken) {
        qprof_leave(&L->qstack, ci->qtoken);
        while (ci->qkept)
            qprof_leave(&L->qstack, qlua_keep_pop(L, ci).token);
    }
}
