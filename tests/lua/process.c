/* process.c: a module for qlua that forks: fork() returns the child's pid, or 0 in the child; wait(pid)
 * its exit code; leave(code) ends a process without exit handlers; run(file, ...) becomes another program. */
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int lib_fork(lua_State *L)
{
    fflush(NULL);
    lua_pushinteger(L, fork());
    return 1;
}

static int lib_wait(lua_State *L)
{
    int status = 0;
    waitpid((pid_t)luaL_checkinteger(L, 1), &status, 0);
    lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 1;
}

static int lib_leave(lua_State *L)
{
    _exit((int)luaL_checkinteger(L, 1));
}

static int lib_run(lua_State *L)
{
    execl(luaL_checkstring(L, 1), luaL_checkstring(L, 1), (char *)NULL);
    return luaL_error(L, "not run");
}

int luaopen_process(lua_State *L)
{
    static const luaL_Reg functions[] = {{"fork", lib_fork},
                                         {"wait", lib_wait},
                                         {"leave", lib_leave},
                                         {"run", lib_run},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
