#!/bin/sh
# demo.sh: from a fresh checkout to the profile of a real Lua program.
#
# What it needs is installed (and named before), the recorder, the tool and the patched Lua are
# built into build/, then luacheck is recorded while it checks the 39 sources of Penlight. Both
# programs are Debian's own packages. Nothing outside build/ is written.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh

say() {
    if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
        printf '\n\033[1m%s\033[0m\n\n' "$1"
    else
        printf '\n%s\n\n' "$1"
    fi
}

# show COMMAND...: the command as it is typed, and what it prints
show() {
    say "\$ $*"
    "$@"
}

need_packages "the demonstration" build-essential cmake dpkg-dev patch libreadline-dev \
    lua-check lua-penlight nodejs npm zlib1g-dev libsqlite3-dev libzstd-dev
build_tree "libqprof, qprof and qlua" build --preset release
if [ ! -x build/bin/qlua ]; then
    sed -n '/left out/,/^$/p' build/build.log
    exit 1
fi

# luacheck is packaged for Lua 5.1 only, and runs on 5.4 as it is.
LUA_PATH="/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua"
LUA_PATH="$LUA_PATH;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
export LUA_PATH
unset QPROF LUA_INIT LUA_PATH_5_4 LUA_CPATH LUA_CPATH_5_4

profile=build/demo.qprof
findings=build/demo-luacheck.txt
rm -f "$profile"
say "\$ build/bin/qprof run -o $profile -- build/bin/qlua /usr/bin/luacheck /usr/share/lua/5.4/pl"
status=0
build/bin/qprof run -o "$profile" -- build/bin/qlua /usr/bin/luacheck --no-color \
    /usr/share/lua/5.4/pl >"$findings" || status=$?
# 1: luacheck has found something
if [ "$status" -gt 1 ] || ! grep -q '^Total: .* in 39 files$' "$findings"; then
    tail -n 5 "$findings"
    echo "luacheck itself did not work: it ended with status $status"
    exit 1
fi

show build/bin/qprof tree --hottest --min-percent=5 "$profile"
show build/bin/qprof annotate "$profile"

say "What luacheck said is in $findings. Next:"
echo "    build/bin/qprof report --sort=total $profile"
