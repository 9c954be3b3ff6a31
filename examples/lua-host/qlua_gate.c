/* qlua_gate.c: what is counted in place, where recording may stand: triggers, stops, areas.
 *
 * Whether a frame is counted is settled when it is entered, and again when a call that it made has
 * ended: only calls change it. Where it changes in mid-block, counters of frames that were left or
 * joined there say so. What is wanted may become another while the program runs; then the gated loop
 * takes over, at the next entry of a Lua function, or at once if Lua code asked for it. */
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

void qlua_gated_tail(lua_State *L, CallInfo *ci)
{
    if (ci->qid == 0)
        qlua_entry_lua(L, ci);
    else if (qlua_is_tracing)
        qlua_trace_tail(L, ci);
    else
        qlua_entry_tail(L, ci);
}

void qlua_gated_leave(lua_State *L, CallInfo *ci, StkId results, int n_results)
{
    if (qlua_is_tracing)
        qlua_trace_exit(L, ci, results, n_results);
    else if (ci->qid)
        qlua_exit(L, ci);
    if (G(L)->qgated)
        qlua_look(L, ci);
}

/* ---- changes ------------------------------------------------------------------------------- */

/* Other loops have run so far, and may have told no calls: the frames that are there have no ids then,
 * like the base level. They are counted; the trap makes their loops look. */
static void adopt_frames(lua_State *L)
{
    for (CallInfo *ci = L->ci; ci != &L->base_ci; ci = ci->previous) {
        ci->qshut = 0;
        if (L->qth == NULL)
            ci->qid = 0;
        if (isLua(ci))
            ci->u.l.trap = 1;
    }
    qlua_tell(L);
}

static void adopt(global_State *g)
{
    for (GCObject *o = g->allgc; o; o = o->next) {
        if (o->tt == LUA_VTHREAD)
            adopt_frames(gco2th(o));
    }
    g->qgated = 1;
}

/* Areas say which methods are counted: frames of those that are not any longer were left, those of
 * others are joined. Where all counters have been zeroed, nothing is left to be left. */
static void move_counters(global_State *g)
{
    unsigned int clear = __atomic_load_n(&qlua_changes[1], __ATOMIC_RELAXED);
    if (g->qclear == clear)
        qlua_note_state(g->mainthread, 0);
    g->qclear = clear;
    for (GCObject *o = g->allgc; o; o = o->next) {
        if (o->tt == LUA_VPROTO && gco2p(o)->qcode)
            qlua_code_point(gco2p(o));
    }
    qlua_note_state(g->mainthread, 1);
}

void qlua_change(lua_State *L, CallInfo *aside)
{
    global_State *g = G(L);
    int was_telling = L->qth != NULL;
    g->qchange = __atomic_load_n(qlua_changes, __ATOMIC_ACQUIRE);
    qlua_choose_loop();
    if (!g->qgated)
        adopt(g);
    if (aside)
        aside->qshut = 1; /* it is in no block */
    move_counters(g);
    if (aside && !was_telling)
        qlua_entry_lua(L, aside);
}

int qlua_leaves_loop(lua_State *L, CallInfo *ci)
{
    if (__atomic_load_n(qlua_changes, __ATOMIC_RELAXED) == 0) {
        qlua_code_method(L, ci, clLvalue(s2v(ci->func))->p);
        return 0;
    }
    if (qlua_is_changed(L))
        qlua_change(L, ci);
    return 1;
}
