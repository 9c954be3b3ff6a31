/* lua_hooks.c: a module for lua-base and qlua that the bench of Lua programs loads: `-l hooks`.
 *
 * $BENCH_HOOK says what it does: "empty" sets a line hook that does nothing, "calls" a hook of calls
 * and returns that does nothing; "mark" sets a line hook that marks the line in a
 * table of its file, as a coverage tool for the stock interpreter would;
 * "contexts" begins another context of qlua 1,000 times a second and says at the end how often;
 * "waking" has a thread that wakes 1,000 times a second and does nothing. */
#define _GNU_SOURCE
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

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

static void at_close(lua_State *L, lua_CFunction f)
{
    lua_newuserdatauv(L, 0, 0);
    lua_newtable(L);
    lua_pushcfunction(L, f);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    luaL_ref(L, LUA_REGISTRYINDEX);
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
    at_close(L, stop_contexts);
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

/* ---- a thread that wakes ----------------------------------------------------------------- */

static pthread_t waking;
static int must_stop;

static void *wake(void *unused)
{
    enum { PERIOD_NS = 1000000, SECOND_NS = 1000000000 };
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    while (!__atomic_load_n(&must_stop, __ATOMIC_RELAXED)) {
        t.tv_nsec += PERIOD_NS;
        if (t.tv_nsec >= SECOND_NS) {
            t.tv_nsec -= SECOND_NS;
            t.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
    return unused;
}

static int stop_waking(lua_State *L)
{
    (void)L;
    __atomic_store_n(&must_stop, 1, __ATOMIC_RELAXED);
    pthread_join(waking, NULL);
    return 0;
}

static void start_waking(lua_State *L)
{
    if (pthread_create(&waking, NULL, wake, NULL))
        luaL_error(L, "hooks: no thread");
    at_close(L, stop_waking);
}

int luaopen_hooks(lua_State *L);

int luaopen_hooks(lua_State *L)
{
    const char *what = getenv("BENCH_HOOK");
    if (what && strcmp(what, "empty") == 0)
        lua_sethook(L, do_nothing, LUA_MASKLINE, 0);
    else if (what && strcmp(what, "calls") == 0)
        lua_sethook(L, do_nothing, LUA_MASKCALL | LUA_MASKRET, 0);
    else if (what && strcmp(what, "mark") == 0)
        lua_sethook(L, mark_line, LUA_MASKLINE, 0);
    else if (what && strcmp(what, "contexts") == 0)
        start_contexts(L);
    else if (what && strcmp(what, "waking") == 0)
        start_waking(L);
    return 0;
}
