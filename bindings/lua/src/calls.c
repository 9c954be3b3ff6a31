/* calls.c: the debug hook, and the open calls of each coroutine. Read on_event() first.
 *
 * Not every call that ends is announced: errors end some, and LuaJIT tells nothing of C functions. So a
 * call names the frame that calls, and a return the frame that ends; what is above it has ended. */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

const char coroutines_key; /* coroutine -> its record */
const char hooks_key;      /* coroutine -> the hook that the program has set */
const char gethook_key;    /* debug.gethook as it was before */

/* The coroutine that ran last on this OS thread: the registry is asked about others only. */
static _Thread_local struct {
    lua_State *L;
    coroutine *record;
} last;

/* ---- coroutines -------------------------------------------------------------------------- */

static int free_coroutine(lua_State *L)
{
    coroutine *c = lua_touserdata(L, 1);
    if (last.record == c)
        last.record = NULL;
    if (c->stack == &c->own && c->recorder->is_on)
        qprof_stack_end(&c->recorder->vm, &c->own);
    free(c->calls);
    c->calls = NULL;
    c->n_calls = c->n_room = 0;
    return 0;
}

void calls_open(lua_State *L)
{
    register_weak_table(L, &coroutines_key);
    register_weak_table(L, &hooks_key);
    lua_newtable(L);
    lua_pushcfunction(L, free_coroutine);
    lua_setfield(L, -2, "__gc");
    lua_setfield(L, LUA_REGISTRYINDEX, "qprof coroutine");
}

/* The coroutine's record, which is made if there is none. */
static coroutine *record_of(lua_State *L, recorder *r)
{
    push_registered(L, &coroutines_key);
    int is_main = lua_pushthread(L);
    lua_rawget(L, -2);
    coroutine *c = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (!c) {
        lua_pushthread(L);
        c = lua_newuserdata(L, sizeof *c);
        memset(c, 0, sizeof *c);
        c->recorder = r;
        c->stack = is_main ? &r->vm.main : &c->own;
        qprof_stack_create(&c->own, r->vm.running);
        lua_getfield(L, LUA_REGISTRYINDEX, "qprof coroutine");
        lua_setmetatable(L, -2);
        lua_rawset(L, -3);
    }
    lua_pop(L, 1);
    return c;
}

/* ---- open calls -------------------------------------------------------------------------- */

static qprof_token token_below(const coroutine *c)
{
    return c->n_calls ? c->calls[c->n_calls - 1].token : 0;
}

static void close_top(coroutine *c)
{
    const open_call *call = &c->calls[--c->n_calls];
    if (call->function && call->function->id)
        qprof_leave(c->stack, call->token);
}

/* End what is above a frame. One that is not known was there before: all that is known has ended. */
static void close_above(coroutine *c, place frame)
{
    while (c->n_calls && IS_ABOVE(c->calls[c->n_calls - 1].place, frame))
        close_top(c);
}

static void close_all(coroutine *c)
{
    while (c->n_calls)
        close_top(c);
}

static int has_room(coroutine *c)
{
    if (c->n_calls < c->n_room)
        return 1;
    size_t n = c->n_room ? 2 * c->n_room : 64;
    open_call *calls = realloc(c->calls, n * sizeof *calls);
    if (!calls)
        return 0;
    c->calls = calls;
    c->n_room = n;
    return 1;
}

static void open_one(coroutine *c, place frame, const function *f, int is_resume)
{
    qprof_token token = token_below(c);
    if (!has_room(c))
        return; /* its callees are then those of its caller */
    if (f && f->id)
        token = is_resume ? qprof_resume(c->stack, token, f->id)
                          : qprof_enter(c->stack, token, f->id);
    c->calls[c->n_calls++] = (open_call){frame, token, f};
}

static void close_one(coroutine *c, place frame)
{
    size_t n = c->n_calls;
    while (n && IS_ABOVE(c->calls[n - 1].place, frame))
        n--;
    while (n && c->n_calls >= n)
        close_top(c);
}

static void count_line(const coroutine *c, int line)
{
    const function *f = c->n_calls ? c->calls[c->n_calls - 1].function : NULL;
    unsigned at = f ? (unsigned)(line - f->first_line) : 0;
    if (f && at < (unsigned)f->n_lines && f->blocks[at] >= 0)
        qprof_record_bb_counts(f->blocks[at], 1);
}

/* ---- the hook ---------------------------------------------------------------------------- */

static void on_event(lua_State *L, lua_Debug *ar);

static int is_ours(lua_State *L)
{
    return lua_gethook(L) == on_event;
}

/* The hook of a coroutine: for our events while a run is on, and those of the program's hook. */
static void set_hook(lua_State *L, const recorder *r, const coroutine *c)
{
    int mask = c ? c->user_mask : 0;
    if (r->is_on)
        mask |= LUA_MASKCALL | LUA_MASKRET | (r->wants_lines ? LUA_MASKLINE : 0);
    lua_sethook(L, mask ? on_event : NULL, mask, c ? c->user_count : 0);
}

/* @param of  at the top. Coroutines inherit the hook of the library debug, but not the function that it calls */
static int has_no_hook(lua_State *L, lua_State *of)
{
    int is_so = lua_gethook(of) == NULL;
    push_registered(L, &gethook_key);
    if (!is_so && lua_isfunction(L, -1)) {
        lua_pushvalue(L, -2);
        lua_call(L, 1, 1);
        is_so = lua_isnil(L, -1);
    }
    lua_pop(L, 1);
    return is_so;
}

/* A coroutine that was created before the run is about to be resumed. */
static void hook_resumed(lua_State *L, recorder *r, const function *f, lua_Debug *ar)
{
    if (f->resumes == RESUMES_ARGUMENT) {
        if (!lua_getlocal(L, ar, 1))
            return;
    } else {
        lua_getinfo(L, "f", ar);
        if (lua_getupvalue(L, -1, 1))
            lua_remove(L, -2);
    }
    lua_State *resumed = lua_tothread(L, -1);
    if (resumed && !is_ours(resumed) && has_no_hook(L, resumed))
        set_hook(resumed, r, NULL);
    lua_pop(L, 1);
}

static void on_call(lua_State *L, coroutine *c, lua_Debug *ar)
{
    lua_Debug caller;
    place frame = PLACE(ar);
    while (c->n_calls && TAKES_PLACE_OF(frame, c->calls[c->n_calls - 1].place))
        close_top(c); /* a tail call replaces it, or an error has ended it */
    if (!lua_getstack(L, 1, &caller))
        close_all(c);
    else if (PLACE(&caller)) /* 0: of a tail call */
        close_above(c, PLACE(&caller));
#if LUA_VERSION_NUM == 502 || LUA_VERSION_NUM == 503
    if (ar->event == LUA_HOOKTAILCALL &&
        c->n_calls) { /* it takes the place of its caller soon */
        frame = c->calls[c->n_calls - 1].place;
        close_top(c);
    }
#endif
    const function *f = function_of(L, c->recorder, ar);
    if (f && f->resumes)
        hook_resumed(L, c->recorder, f, ar);
    open_one(c, frame, f, 0);
    if (c->recorder->wants_lines && f && f->is_declared)
        qprof_record_bb_counts(0, 1); /* the line where it is declared */
}

/* As the library debug does. */
static void call_user_hook(lua_State *L, const coroutine *c, const lua_Debug *ar)
{
#if LUA_VERSION_NUM < 502
    static const char *const names[] = {"call", "return", "line", "count", "tail return"};
    static const int masks[] = {LUA_MASKCALL, LUA_MASKRET, LUA_MASKLINE, LUA_MASKCOUNT,
                                LUA_MASKRET};
#else
    static const char *const names[] = {"call", "return", "line", "count", "tail call"};
    static const int masks[] = {LUA_MASKCALL, LUA_MASKRET, LUA_MASKLINE, LUA_MASKCOUNT,
                                LUA_MASKCALL};
#endif
    if (!(c->user_mask & masks[ar->event]))
        return;
    push_registered(L, &hooks_key);
    lua_pushthread(L);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    lua_pushstring(L, names[ar->event]);
    if (ar->event == LUA_HOOKLINE)
        lua_pushinteger(L, ar->currentline);
    else
        lua_pushnil(L);
    lua_call(L, 2, 0);
}

static void record(lua_State *L, coroutine *c, lua_Debug *ar)
{
    recorder *r = c->recorder;
    if (r->vm.running != c->stack)
        qprof_switch(&r->vm, c->stack);
    switch (ar->event) {
    case LUA_HOOKCALL:
#if LUA_VERSION_NUM >= 502
    case LUA_HOOKTAILCALL:
#endif
        on_call(L, c, ar);
        break;
    case LUA_HOOKRET:
        close_one(c, PLACE(ar));
        break;
    case LUA_HOOKLINE:
        close_above(c, PLACE(ar));
        if (r->wants_lines)
            count_line(c, ar->currentline);
        break;
    default:
        break;
    }
}

static void on_event(lua_State *L, lua_Debug *ar)
{
    if (last.L != L || !last.record) {
        last.record = record_of(L, recorder_of(L));
        last.L = L;
    }
    coroutine *c = last.record;
    if (c->recorder->is_on)
        record(L, c, ar);
    else if (!c->user_mask)
        set_hook(L, c->recorder, c);
    if (c->user_mask)
        call_user_hook(L, c, ar);
}

/* ---- what it costs ----------------------------------------------------------------------- */

enum { MEASURED_CALLS = 500 };

typedef struct {
    lua_State *L;
    coroutine *c;
    int loop, callee; /* where they are on its stack */
    function *described;
} measurement;

/* The recorder asks for calls of a function that does nothing, with and without the hook. */
static void execute(void *data, qprof_thread *th, qprof_token caller, qprof_MethodID id)
{
    measurement *m = data;
    lua_Debug ar;
    qprof_thread *before = m->c->stack->th;
    lua_getstack(m->L, 0, &ar);
    m->described->id = id;
    m->c->stack->th = th;
    m->c->n_calls = 0;
    if (has_room(m->c))
        m->c->calls[m->c->n_calls++] = (open_call){PLACE(&ar), caller, NULL};
    if (id)
        set_hook(m->L, m->c->recorder, m->c);
    else
        lua_sethook(m->L, NULL, 0, 0);
    lua_pushvalue(m->L, m->loop);
    lua_pushinteger(m->L, MEASURED_CALLS);
    lua_pushvalue(m->L, m->callee);
    lua_pcall(m->L, 2, 0, 0);
    lua_sethook(m->L, NULL, 0, 0);
    m->c->n_calls = 0;
    m->c->stack->th = before;
}

static int do_nothing(lua_State *L)
{
    (void)L;
    return 0;
}

/* The value at the top is that function, until the run ends. */
static void describe_as(lua_State *L, function *f)
{
    push_registered(L, &functions_key);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, f);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

static void measure(lua_State *L, coroutine *c)
{
    static const char text[] =
        "local function f() end return function(n, f) for i = 1, n do f() end end, f";
    static function unrecorded, callee;
    int top = lua_gettop(L), user_mask = c->user_mask;
    qprof_stack *running = c->recorder->vm.running;
    measurement m = {L, c, top + 1, top + 2, &callee};
    lua_sethook(L, NULL, 0, 0);
    c->recorder->vm.running =
        c->stack; /* neither a switch nor the program's hook is a part of it */
    c->user_mask = 0;
    if (luaL_loadstring(L, text) == 0 && lua_pcall(L, 0, 2, 0) == 0) {
        describe_as(L, &callee);
        lua_insert(L, -2);
        describe_as(L, &unrecorded);
        lua_insert(L, -2);
        qprof_measure_calls(execute, &m, MEASURED_CALLS, 0);
        lua_pushcfunction(L, do_nothing);
        lua_replace(L, m.callee);
        describe_as(L, &callee);
        qprof_measure_calls(execute, &m, MEASURED_CALLS, 1);
    }
    c->recorder->vm.running = running;
    c->user_mask = user_mask;
    lua_settop(L, top);
}

/* ---- begin and end ----------------------------------------------------------------------- */

/* Calls that are open when a run begins continue in it. The function that begins it is at level 0; the
 * outermost one is the interpreter's. */
static void open_frames(lua_State *L, coroutine *c)
{
    lua_Debug ar;
    int level = 1;
    while (lua_getstack(L, level, &ar))
        level++;
    for (level -= 2; level > 0; level--) {
        if (lua_getstack(L, level, &ar) && PLACE(&ar)) /* 0: of a tail call */
            open_one(c, PLACE(&ar), function_of(L, c->recorder, &ar), 1);
    }
}

void calls_begin(lua_State *L, recorder *r, int has_open_frames)
{
    last.record = NULL;
    coroutine *c = record_of(L, r);
    c->n_calls = 0;
    if (c->stack == &c->own)
        qprof_stack_new(&c->own);
    measure(L, c);
    if (r->vm.running != c->stack)
        qprof_switch(&r->vm, c->stack);
    if (has_open_frames)
        open_frames(L, c);
    set_hook(L, r, c);
}

int calls_end(lua_State *L, recorder *r)
{
    int is_hooked = is_ours(L);
    coroutine *c = record_of(L, r);
    close_all(c);
    if (is_hooked)
        set_hook(L, r, c);
    return is_hooked;
}

/* ---- requests ---------------------------------------------------------------------------- */

/* The coroutine that runs; it may have had no event yet. */
static coroutine *running_of(lua_State *L, recorder *r)
{
    coroutine *c = record_of(L, r);
    if (r->vm.running != c->stack)
        qprof_switch(&r->vm, c->stack);
    return c;
}

void calls_enter_request(lua_State *L, recorder *r, const char *name, const char *traceparent)
{
    qprof_enter_request(running_of(L, r)->stack, name, traceparent);
}

void calls_leave_request(lua_State *L, recorder *r, int has_failed)
{
    lua_Debug ar;
    coroutine *c = running_of(L, r);
    if (lua_getstack(L, 0, &ar))
        close_above(c, PLACE(&ar)); /* an error has ended them */
    qprof_leave_request(c->stack, has_failed);
}

/* ---- the program's hook ------------------------------------------------------------------ */

/* @param at  set to the index of the first argument after the coroutine. @return the coroutine */
static lua_State *coroutine_argument(lua_State *L, int *at)
{
    *at = lua_isthread(L, 1) ? 2 : 1;
    return lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
}

int calls_set_hook(lua_State *L)
{
    int at, mask = 0;
    recorder *r = recorder_of(L);
    lua_State *of = coroutine_argument(L, &at);
    int count = (int)luaL_optinteger(L, at + 2, 0);
    if (!lua_isnoneornil(L, at)) {
        const char *letters = luaL_checkstring(L, at + 1);
        luaL_checktype(L, at, LUA_TFUNCTION);
        mask = (strchr(letters, 'c') ? LUA_MASKCALL : 0) |
               (strchr(letters, 'r') ? LUA_MASKRET : 0) |
               (strchr(letters, 'l') ? LUA_MASKLINE : 0) | (count > 0 ? LUA_MASKCOUNT : 0);
    }
    luaL_checkstack(of, 10, "hook");
    coroutine *c = record_of(of, r);
    c->user_mask = mask;
    c->user_count = mask & LUA_MASKCOUNT ? count : 0;
    push_registered(L, &hooks_key);
    lua_pushthread(of);
    lua_xmove(of, L, of != L);
    if (mask)
        lua_pushvalue(L, at);
    else
        lua_pushnil(L);
    lua_rawset(L, -3);
    set_hook(of, r, c);
    return 0;
}

int calls_get_hook(lua_State *L)
{
    int at;
    char letters[4], *end = letters;
    lua_State *of = coroutine_argument(L, &at);
    if (lua_gethook(of) && !is_ours(of)) {
        lua_pushliteral(L, "external hook");
        return 1;
    }
    luaL_checkstack(of, 10, "hook");
    const coroutine *c = record_of(of, recorder_of(L));
    push_registered(L, &hooks_key);
    lua_pushthread(of);
    lua_xmove(of, L, of != L);
    lua_rawget(L, -2);
    if (c->user_mask & LUA_MASKCALL)
        *end++ = 'c';
    if (c->user_mask & LUA_MASKRET)
        *end++ = 'r';
    if (c->user_mask & LUA_MASKLINE)
        *end++ = 'l';
    lua_pushlstring(L, letters, (size_t)(end - letters));
    lua_pushinteger(L, c->user_count);
    return 3;
}
