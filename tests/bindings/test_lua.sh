#!/bin/sh
# test_lua.sh: bindings/lua for each interpreter of this machine. Its promises; and calls of each function equal to
# those that a debug hook counts in the same run.
set -eu
interpreters=
for lua in lua5.1 lua5.2 lua5.3 lua5.4 luajit; do
    if command -v $lua >/dev/null && pkg-config --exists $lua; then interpreters="$interpreters $lua"; fi
done
[ -n "$interpreters" ] || { echo "test_lua.sh: no Lua with its headers"; exit 77; }
work=$PWD tests=$QPROF_SOURCE/tests/bindings
qprof=$QPROF_BIN/qprof

# calls FILE NAME: its calls
calls() {
    "$qprof" report --format=json --limit=0 "$1" | jq --arg name "$2" '[.methods[] | select(.name == $name) | .calls] | add'
}
is() {
    [ "$2" = "$3" ] || { printf '%s: %s: %s, and not %s\n' "$lua" "$1" "$2" "$3"; exit 1; }
}

claims() {
    "$lua" "$tests/lua_claims.lua"
    is "calls of f, 7 of them in a pause" "$(calls claims.qprof f)" 30
    is "calls before the snapshot" "$(calls so-far.qprof f)" 30
    is "calls of a function that errors end" "$(calls claims.qprof outer)" 6
    is "tail calls" "$(calls claims.qprof countdown)" 100
    is "calls in a coroutine" "$(calls claims.qprof numbers)" 1
    is "calls in a coroutine of before" "$(calls claims.qprof later)" 1
    is "calls of a C function" "$(calls claims.qprof coroutine.yield)" 10
    is "calls in the second run" "$(calls second.qprof f)" 3
    # 23 of these calls are in no pause, three of them with 1
    "$qprof" annotate --format=json claims.qprof >lines.json
    is "lines of f" "$(jq -c '[.files[] | select(.path | endswith("lua_claims.lua")).lines[] |
        select(.line >= 24 and .line <= 29) | [.line, .count]]' lines.json)" \
        "[[24,23],[25,20],[27,3],[28,3],[29,1]]"
    "$qprof" tree --format=json claims.qprof >tree.json
    is "its label" "$("$qprof" report --format=json claims.qprof | jq -c .run.labels)" '["kind=a \"label\" \\"]'
    is "every call of f is below the main chunk" "$(jq -c '(.methods | map({(.id | tostring): .name}) | add) as $name |
        [.nodes[] | select($name[.method | tostring] == "f")] | length' tree.json)" 1
    n_levels=1
    if [ "$lua" = lua5.1 ]; then n_levels=2; fi # it announces the call before the frame is replaced
    is "tail calls stay on their level" "$(jq -c '(.methods | map({(.id | tostring): .name}) | add) as $name |
        [.nodes[] | select($name[.method | tostring] == "countdown")] | length' tree.json)" "$n_levels"
    for file in *.qprof; do "$qprof" check "$file" >/dev/null; done
}

requests() {
    "$lua" "$tests/lua_requests.lua"
    "$qprof" check requests.qprof >/dev/null
    "$qprof" check --host requests.qprof >check.log || { echo "$lua:"; cat check.log; exit 1; }
    "$qprof" requests --format=json requests.qprof >requests.json
    co='"co 5,1,1",' # one is left
    if "$lua" -e 'os.exit(_VERSION == "Lua 5.1" and 1 or 0)'; then :; else co=; fi
    is "requests" "$(jq -c '[.endpoints[] | "\(.endpoint) \(.requests),\(.failed),\(.cut)"] | sort' requests.json)" \
        "[\"GET /0 100,0,0\",\"GET /1 100,0,0\",\"GET /first 1,0,0\",\"GET /outside 1,0,0\",$co\"failing 4,4,0\",\"inner 1,0,0\",\"nested 1,1,0\",\"not callable 1,1,0\",\"outer 1,0,0\"]"
    is "the slowest" "$(jq -r '.endpoints[] | select(.endpoint == "GET /1") | .slowest_trace' requests.json)" \
        0af7651916cd43dd8448eb211c80319c
    below() { # ENDPOINT FUNCTION: calls below it
        "$qprof" report --endpoint="$1" --format=json --limit=0 requests.qprof |
            jq --arg name "$2" '[.methods[] | select(.name == $name) | .hits] | add'
    }
    is "calls below an endpoint" "$(below 'GET /1' handle),$(below 'GET /1' work),$(below failing inner)" 100,100,4
    is "calls below the first" "$("$qprof" report --endpoint='GET /first' --format=json requests.qprof | jq '[.methods[].hits] | add')" 2
    is "calls that follow a request" "$(below 'GET /outside' work)" 1
    is "calls in a coroutine of a request" "$(below outer work)" 1
}

# same NAME PROGRAM...: both counters agree
same() {
    name=$1
    shift
    "$lua" "$tests/lua_calls.lua" "$name" "$@" >"$name.out" || true
    "$qprof" report --format=json --limit=0 "$name.qprof" |
        jq -r '[.methods[] | select(.calls > 0 and .line > 0 and .file != "" and (.name | startswith("main chunk") | not))
            | {key: "\(.file):\(.line)", calls}] | group_by(.key)[] | "\(.[0].key) \([.[].calls] | add)"' |
        LC_ALL=C sort >"$name.found"
    LC_ALL=C sort "$name.calls" >"$name.wanted"
    [ -s "$name.wanted" ]
    diff "$name.wanted" "$name.found" | head -n 20 >differs
    [ ! -s differs ] || { echo "$lua: $name: the counters differ:"; cat differs; exit 1; }
    echo "$lua: $name: $(wc -l <"$name.found") functions agree"
}

cat >loops.lua <<'END'
local function add(a, b) return a + b end
local function loop(n) local s = 0 for i = 1, n do s = add(s, i) end return s end
for i = 1, 20 do loop(1000) end
local t = {}
for i = 1, 500 do t[i] = (i * 7919) % 1009 end
table.sort(t, function(a, b) return a < b end)
local function walk(n) if n > 0 then coroutine.yield(n) walk(n - 1) end end
for n in coroutine.wrap(function() walk(50) end) do add(n, n) end
local object = setmetatable({}, {__index = function(_, key) return key .. "!" end, __add = function() return 1 end})
for i = 1, 30 do assert(object["k" .. i] == "k" .. i .. "!" and object + 1 == 1) end
print(select("#", ("a,b,c"):gsub("%w", function(c) return c:upper() end)))
END
cat >foreign.c <<'END'
#include <lua.h>
static void ignore(lua_State *L, lua_Debug *ar) { (void)L; (void)ar; }
int luaopen_foreign(lua_State *L) { lua_sethook(L, ignore, LUA_MASKCALL, 0); return 0; }
END
cat >replaced.lua <<'END'
local qprof, sethook, n = require("qprof"), debug.sethook, 0
local function f() end
qprof.start("-output=replaced.qprof")
for i = 1, 3 do f() end
sethook(function() n = n + 1 end, "c") -- not by the function that the module has put in its place
for i = 1, 4 do f() end
qprof.stop()
assert(n >= 4)
END
for lua in $interpreters; do
    mkdir "$work/$lua"
    cd "$work/$lua"
    make -s -C "$QPROF_SOURCE/bindings/lua" LUA="$lua" OUT="$PWD" QPROF_LIBRARY="$QPROF_LIB/libqprof.a" CFLAGS="-O2 -Wall -Wextra -Werror"
    LUA_CPATH="$PWD/?.so;;"
    export LUA_CPATH
    claims
    requests
    same loops ../loops.lua
    # 20 times 1,000 and 50 calls, also where a compiler could leave them out
    is "calls in loops" "$(calls loops.qprof add)" 20050
    "$lua" ../replaced.lua 2>error
    is "a hook that is replaced" "$(grep -c '^qprof: another debug hook has replaced' error)" 1
    is "calls until then" "$(calls replaced.qprof f)" 3
    cc -shared -fPIC $(pkg-config --cflags $lua) ../foreign.c -o foreign.so
    is "a hook of C code" "$("$lua" -e 'require("foreign") print(select(2, pcall(require("qprof").start, "")))')" \
        "another profiler or debugger has the debug hook"
    # started by the command line, ended by os.exit
    echo 'local function g() end for i = 1, 5 do g() end os.exit(3)' >ends.lua
    QPROF=-output=ends.qprof "$lua" -lqprof ends.lua && exit 1 || is "its status" $? 3
    is "calls of g" "$(calls ends.qprof g)" 5
    is "a wrong option ends no program" "$(QPROF=-time=wrong "$lua" -lqprof -e 'print(1)' 2>error)" 1
    grep -q '^qprof: -time=wrong: .*nothing is recorded$' error
done

# LuaJIT finds the modules of Lua 5.1
if [ -d "$work/lua5.1" ] && [ -d "$work/luajit" ]; then
    lua=luajit
    mkdir "$work/luajit-5.1"
    cd "$work/luajit-5.1"
    LUA_CPATH="$work/lua5.1/?.so;;"
    claims
    requests
    same loops ../loops.lua
    is "the interpreter" "$("$qprof" report --format=json claims.qprof | jq -r '.run.interpreter' | cut -d ' ' -f 1)" LuaJIT
fi

# qlua records once, and not by the module
if [ -d "$work/lua5.4" ] && [ -x "$QPROF_BIN/qlua" ]; then
    lua=qlua
    cd "$work/lua5.4"
    LUA_CPATH="$PWD/?.so;;"
    QPROF=-output=qlua.qprof "$QPROF_BIN/qlua" -lqprof ../loops.lua >qlua.out 2>error
    is "calls in loops" "$(calls qlua.qprof add)" 20050
    is "what it says" "$(cat error)" "qprof: qlua records without this module, by qprof run or if QPROF is set"
    is "start()" "$("$QPROF_BIN/qlua" -e 'print(select(2, pcall(require("qprof").start, "")))')" \
        "qlua records without this module, by qprof run or if QPROF is set"
fi

# programs of others
cd "$work"
cat >penlight.lua <<'END'
local lexer, pretty, List = require("pl.lexer"), require("pl.pretty"), require("pl.List")
local n = 0
for name in pairs({lexer = 1, List = 1, pretty = 1}) do
    local file = io.open(package.searchpath and package.searchpath("pl." .. name, package.path) or "/usr/share/lua/5.1/pl/" .. name .. ".lua")
    for kind, value in lexer.lua(file:read("*a")) do n = n + #kind + #tostring(value) end
    file:close()
end
local list = List.range(1, 200):map(function(x) return x * x % 17 end):sort():filter(function(x) return x > 3 end)
print(n, #pretty.write({list = list, text = "x"}))
END
for lua in $interpreters; do
    cd "$work/$lua"
    LUA_CPATH="$PWD/?.so;;"
    if "$lua" -e 'require("pl.lexer")' >/dev/null 2>&1; then same penlight ../penlight.lua; fi
    if "$lua" -e 'require("luacheck.options") require("lfs")' >/dev/null 2>&1; then
        same luacheck "$(command -v luacheck)" --no-config --no-cache "$tests/lua_claims.lua" "$tests/lua_calls.lua"
    fi
done

# the commands of the guide
if command -v lua5.4 >/dev/null && pkg-config --exists lua5.4; then
    . "$tests/lib.sh"
    mkdir -p "$work/guide"
    cp -r "$QPROF_SOURCE/bindings" "$QPROF_SOURCE/include" "$work/guide"
    (unset LUA_CPATH && cd "$work/guide" && QPROF_LIBRARY=$QPROF_LIB/libqprof.a follow_guide lua-module.md)
fi

# the rock installs what works, with the recorder's sources
command -v luarocks >/dev/null || exit 0
cp -r "$QPROF_SOURCE/bindings/lua" "$work/rock"
mkdir -p "$work/rock/recorder/qprof"
python3 "$QPROF_SOURCE/tools/amalgamate.py" "$work/rock/recorder"
echo '#include "../qprof.h"' >"$work/rock/recorder/qprof/embed.h"
cd "$work/rock"
luarocks lint qprof-*.rockspec
luarocks --lua-version 5.1 --tree "$work/tree" make CFLAGS="-O0 -fPIC" >make.log 2>&1 || { cat make.log; exit 1; }
lua=lua5.1
LUA_CPATH="$work/tree/lib/lua/5.1/?.so" QPROF=-output=example.qprof lua5.1 -lqprof example.lua >example.out
is "what the example prints" "$(cat example.out)" "$(printf '6765\t338350\tdone')"
is "calls of fib(20)" "$(calls example.qprof fib)" 21891
