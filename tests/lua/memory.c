/* memory.c: a module for qlua that runs a file in a state whose allocator counts:
 * require("memory").run(file) returns the bytes and the blocks that were allocated since the state was
 * complete, and whether all went well. A block that grows adds the difference to the bytes. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>

typedef struct {
    size_t n_bytes, n_blocks;
} counts;

static void *allocate(void *data, void *block, size_t old_bytes, size_t new_bytes)
{
    counts *c = data;
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    void *got = realloc(block, new_bytes);
    if (got == NULL)
        return NULL;
    if (block == NULL)
        c->n_blocks++;
    if (block == NULL || new_bytes > old_bytes)
        c->n_bytes += new_bytes - (block == NULL ? 0 : old_bytes);
    return got;
}

static int lib_run(lua_State *L)
{
    counts c = {0, 0};
    const char *file = luaL_checkstring(L, 1);
#if LUA_VERSION_NUM >= 505
    lua_State *inner = lua_newstate(allocate, &c, luaL_makeseed(L));
#else
    lua_State *inner = lua_newstate(allocate, &c);
#endif
    if (inner == NULL)
        return luaL_error(L, "no state");
    counts complete = c;
    luaL_openlibs(inner);
    int status = luaL_dofile(inner, file);
    lua_close(inner);
    lua_pushinteger(L, (lua_Integer)(c.n_bytes - complete.n_bytes));
    lua_pushinteger(L, (lua_Integer)(c.n_blocks - complete.n_blocks));
    lua_pushboolean(L, status == LUA_OK);
    return 3;
}

int luaopen_memory(lua_State *L);

int luaopen_memory(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, lib_run);
    lua_setfield(L, -2, "run");
    return 1;
}
