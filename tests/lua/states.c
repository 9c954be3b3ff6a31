/* states.c: a module for qlua that runs a file in several states at once, each on an OS thread
 * of its own: require("states").run(n, file); true: all went well. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>

enum { MAX_STATES = 64 };

static void *run_state(void *file)
{
    lua_State *L = luaL_newstate();
    if (L == NULL)
        return file;
    luaL_openlibs(L);
    int status = luaL_dofile(L, file);
    lua_close(L);
    return status == LUA_OK ? NULL : file;
}

static int lib_run(lua_State *L)
{
    pthread_t threads[MAX_STATES];
    int n = (int)luaL_checkinteger(L, 1), is_good = 1;
    const char *file = luaL_checkstring(L, 2);
    luaL_argcheck(L, n > 0 && n <= MAX_STATES, 1, "1 to 64 states");
    for (int i = 0; i < n; i++) {
        if (pthread_create(&threads[i], NULL, run_state, (void *)file) != 0)
            return luaL_error(L, "no thread");
    }
    for (int i = 0; i < n; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        is_good = is_good && failed == NULL;
    }
    lua_pushboolean(L, is_good);
    return 1;
}

int luaopen_states(lua_State *L);

int luaopen_states(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, lib_run);
    lua_setfield(L, -2, "run");
    return 1;
}
