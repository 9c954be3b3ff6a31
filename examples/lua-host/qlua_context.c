/* qlua_context.c: borders in time: between two contexts, so that each test has its own lines,
 * and between a snapshot and what follows it.
 *
 * A frame that is in the middle of a block at a border began before it and continues after it:
 * it is counted as left, then as joined. After the first border a coroutine is counted as left
 * while it is suspended. Frames of states that other OS threads run at that moment are not:
 * what they execute next belongs to the context in which they were entered. */
#define LUA_CORE
#include "lprefix.h"

#include "qlua_glue.h"

static int is_used; /* there was a border; atomic */

void qlua_note_frames(const lua_State *L, const CallInfo *to, int is_joined)
{
    if (L->qnoted)
        return;
    for (const CallInfo *ci = L->ci; ci != to; ci = ci->previous) {
        if (isLua(ci) && ci->qcode && !(G(L)->qgated && ci->qshut))
            qlua_code_left(ci->qcode, ci->u.l.savedpc, is_joined);
    }
}

void qlua_note_state(lua_State *main_state, int is_joined)
{
    for (GCObject *o = G(main_state)->allgc; o; o = o->next) {
        if (o->tt == LUA_VTHREAD)
            qlua_note_frames(gco2th(o), &gco2th(o)->base_ci, is_joined);
    }
}

/* ---- coroutines -------------------------------------------------------------------------- */

void qlua_context_resume(lua_State *L)
{
    L->qfrom = G(L)->qrunning;
    G(L)->qrunning = L;
    if (L->qnoted) {
        L->qnoted = 0;
        qlua_note_frames(L, &L->base_ci, 1);
    }
}

void qlua_context_suspend(lua_State *L)
{
    G(L)->qrunning = L->qfrom;
    L->qfrom = NULL;
    if (l_unlikely(__atomic_load_n(&is_used, __ATOMIC_RELAXED)) && qlua_is_counting()) {
        qlua_note_frames(L, &L->base_ci, 0);
        L->qnoted = 1;
    }
}

void qlua_context_forget(lua_State *L)
{
    for (lua_State **link = &G(L)->qrunning; *link; link = &(*link)->qfrom) {
        if (*link == L) {
            *link = L->qfrom;
            break;
        }
    }
}

/* The coroutines that yielded, and those that failed, whose frames stay until they are
 * closed. */
static void note_suspended(lua_State *main_state, int is_joined)
{
    for (GCObject *o = G(main_state)->allgc; o; o = o->next) {
        lua_State *L = o->tt == LUA_VTHREAD ? gco2th(o) : NULL;
        if (L == NULL || L->status == LUA_OK)
            continue;
        qlua_note_frames(L, &L->base_ci, is_joined);
        L->qnoted = 1;
    }
}

/* The coroutine that runs, those that resumed it, and the main one. */
static void note_running(lua_State *main_state, int is_joined)
{
    int is_main_done = 0;
    for (lua_State *L = G(main_state)->qrunning; L; L = L->qfrom) {
        qlua_note_frames(L, &L->base_ci, is_joined);
        is_main_done |= L == main_state;
    }
    if (!is_main_done)
        qlua_note_frames(main_state, &main_state->base_ci, is_joined);
}

/* Whether the state runs on a stack of its own without having been resumed. */
static int is_apart(const lua_State *L)
{
    const lua_State *at = G(L)->qrunning;
    while (at && at != L)
        at = at->qfrom;
    return at == NULL && L != qlua_main(G(L));
}

int qlua_border(const lua_State *L, int (*act)(const char *), const char *text)
{
    if (!qlua_is_counting())
        return act(text);
    if (!__atomic_exchange_n(&is_used, 1, __ATOMIC_RELAXED))
        qlua_states_visit(note_suspended, 0);
    const CallInfo *to = is_apart(L) ? &L->base_ci : L->ci;
    qlua_states_visit(note_running, 0);
    qlua_note_frames(L, to, 0);
    int result = act(text);
    qlua_states_visit(note_running, 1);
    qlua_note_frames(L, to, 1);
    return result;
}
