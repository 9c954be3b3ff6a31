rockspec_format = "3.0"
package = "qprof"
version = "0.2.0-1"
source = {url = "git+file://."}
description = {
    summary = "Exact profiles and coverage of Lua programs",
    detailed = "Calls, C functions, coroutines, lines, coverage. For Lua 5.1 to 5.4 and LuaJIT, on Linux.",
    license = "MIT",
}
supported_platforms = {"linux"}
dependencies = {"lua >= 5.1"}
build = {
    type = "make",
    build_variables = {CFLAGS = "$(CFLAGS)", LUA_INCDIR = "$(LUA_INCDIR)", OUT = "built"},
    install_variables = {LIBDIR = "$(LIBDIR)", OUT = "built"},
}
