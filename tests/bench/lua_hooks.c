/* lua_hooks.c: a module for lua-base and qlua that the bench of Lua programs loads: `-l hooks`.
 *
 * $BENCH_HOOK says what it does: "empty" sets a line hook that does nothing; "mark" one that
 * marks the line in a table of its file, as a coverage tool for the stock interpreter would;
 * "contexts" begins another context of qlua 1,000 times a second and says at the end how often. */
#define _GNU_SOURCE
#include <lauxlib.h>
#include <lua.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { MAX_FILES = 64, MAX_LINES = 10000 };

static struct {
    const char *source; /* of the live chunk */
    unsigned char is_marked[MAX_LINES];
} files[MAX_FILES];

static void do_nothing(lua_State *L, lua_Debug *ar)
{
    (void)L;
    (void)ar;
}

static void mark_line(lua_State *L, lua_Debug *ar)
{
    static int last;
    lua_getinfo(L, "S", ar);
    int i = files[last].source == ar->source ? last : 0;
    while (i < MAX_FILES && files[i].source && files[i].source != ar->source)
        i++;
    if (i == MAX_FILES || ar->currentline < 0 || ar->currentline >= MAX_LINES)
        return;
    files[i].source = ar->source;
    files[i].is_marked[ar->currentline] = 1;
    last = i;
}

/* ---- contexts ---------------------------------------------------------------------------- */

static lua_State *main_state;
static int context_function; /* reference in the registry */
static unsigned n_switches;

static void begin_context(lua_State *L, lua_Debug *ar)
{
    static const char *const names[] = {"first", "second", "third", "fourth", "fifth"};
    (void)ar;
    lua_sethook(L, NULL, 0, 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, context_function);
    lua_pushstring(L, names[n_switches++ % 5]);
    lua_call(L, 1, 0);
}

static void on_alarm(int number)
{
    (void)number;
    lua_sethook(main_state, begin_context, LUA_MASKCOUNT, 1);
}

/* The state is closed. */
static int stop_contexts(lua_State *L)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    (void)L;
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
    fprintf(stderr, "%u\n", n_switches);
    return 0;
}

static void start_contexts(lua_State *L)
{
    main_state = L;
    lua_newuserdatauv(L, 0, 0);
    lua_newtable(L);
    lua_pushcfunction(L, stop_contexts);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    luaL_ref(L, LUA_REGISTRYINDEX);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_getfield(L, -1, "qlua");
    lua_call(L, 0, 1);
    lua_getfield(L, -1, "context");
    context_function = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pop(L, 2);
    signal(SIGALRM, on_alarm);
    struct itimerval each_ms = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &each_ms, NULL);
}

int luaopen_hooks(lua_State *L);

int luaopen_hooks(lua_State *L)
{
    const char *what = getenv("BENCH_HOOK");
    if (what && strcmp(what, "empty") == 0)
        lua_sethook(L, do_nothing, LUA_MASKLINE, 0);
    else if (what && strcmp(what, "mark") == 0)
        lua_sethook(L, mark_line, LUA_MASKLINE, 0);
    else if (what && strcmp(what, "contexts") == 0)
        start_contexts(L);
    return 0;
}
