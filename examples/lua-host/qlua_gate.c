/* qlua_gate.c: counting in place while recording can be off: triggers, stops, areas.
 *
 * Whether a frame is counted is decided at its entry, and again after each call that it makes,
 * because only calls change it. If it changes in the middle of a block, the counters of frames
 * left or joined there record it. When qlua_changes changes while the program runs, the gated
 * loop takes over: at the next entry of a Lua function, or at once if Lua code caused the
 * change. */
#define LUA_CORE
#include "lprefix.h"

#include "lgc.h"
#include "qlua_glue.h"

void qlua_turn(CallInfo *ci)
{
    if (ci->qcode)
        qlua_code_left(ci->qcode, ci->u.l.savedpc, ci->qshut);
    ci->qshut = !ci->qshut;
}

void qlua_gated_tail(lua_State *L, CallInfo *ci, const Proto *from, const Instruction *pc)
{
    if (ci->qtoken == 0)
        qlua_entry_lua(L, ci);
    else if (qlua_is_keeping && qlua_keep_tail(L, ci, from, pc))
        return;
    else if (qlua_is_tracing)
        qlua_trace_tail(L, ci);
    else
        qlua_entry_tail(L, ci);
}

void qlua_gated_leave(lua_State *L, CallInfo *ci, StkId results, int n_results)
{
    if (qlua_is_special)
        qlua_special_exit(L, ci, results, n_results);
    else if (ci->qtoken)
        qlua_exit(L, ci);
    if (G(L)->qgated)
        qlua_look(L, ci);
}

void qlua_gated_collected(lua_State *L)
{
    CallInfo *ci = L->ci;
    if (isLua(ci) && ci->qshut == qprof_is_counting(L->qstack.th))
        qlua_turn(ci);
}

/* ---- changes ----------------------------------------------------------------------------- */

/* Other loops have run so far. If they did not report calls, their frames have no token, like
 * the base level. They are counted; the trap makes their loops change over. */
static void adopt_frames(lua_State *L)
{
    for (CallInfo *ci = L->ci; ci != &L->base_ci; ci = ci->previous) {
        ci->qshut = 0;
        ci->qkept = 0;
        if (!L->qon)
            ci->qtoken = 0;
        if (isLua(ci))
            ci->u.l.trap = 1;
    }
    qlua_report_calls(L);
}

static void adopt(global_State *g)
{
    for (GCObject *o = g->allgc; o; o = o->next) {
        if (o->tt == LUA_VTHREAD)
            adopt_frames(gco2th(o));
    }
    g->qgated = 1;
}

/* Areas select the methods that are counted. Frames of methods that are no longer counted are
 * left, frames of the others are joined. After a clear no frame need be left. */
static void move_counters(global_State *g)
{
    unsigned int clear = __atomic_load_n(&qlua_changes[1], __ATOMIC_RELAXED);
    if (g->qclear == clear)
        qlua_note_state(qlua_main(g), 0);
    g->qclear = clear;
    for (GCObject *o = g->allgc; o; o = o->next) {
        if (o->tt == LUA_VPROTO && gco2p(o)->qcode)
            qlua_code_point(gco2p(o));
    }
    qlua_note_state(qlua_main(g), 1);
}

void qlua_change(lua_State *L, CallInfo *aside)
{
    global_State *g = G(L);
    int was_reporting = L->qon;
    g->qchange = __atomic_load_n(qlua_changes, __ATOMIC_ACQUIRE);
    qlua_choose_loop();
    if (!g->qgated)
        adopt(g);
    if (aside)
        aside->qshut = 1; /* it is in no block */
    move_counters(g);
    if (aside && !was_reporting)
        qlua_entry_lua(L, aside);
}

int qlua_leaves_loop(lua_State *L, CallInfo *ci)
{
    if (__atomic_load_n(qlua_changes, __ATOMIC_RELAXED) == 0) {
        qlua_code_method(L, ci, ci_func(ci)->p);
        return 0;
    }
    if (qlua_is_changed(L))
        qlua_change(L, ci);
    return 1;
}
