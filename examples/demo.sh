#!/bin/sh
# demo.sh: from a fresh checkout to the profile of a real Lua program.
#
# It names and installs the packages that are missing, builds the recorder, the tool and the patched Lua
# into build/, records luacheck while it checks the 39 sources of Penlight, and records luacheck's
# parser once more, call by call. Both programs are Debian packages. Only build/ is written.
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

# show COMMAND...: print the command and run it
show() {
    say "\$ $*"
    "$@"
}

need_packages "the demonstration" build-essential cmake dpkg-dev patch libreadline-dev \
    lua-check lua-penlight zlib1g-dev libsqlite3-dev libzstd-dev
want_packages "the demonstration" nodejs npm libmicrohttpd-dev
build_tree "libqprof, qprof and qlua" build --preset release
if [ ! -x build/bin/qlua ]; then
    echo "build/bin/qprof is ready. The rest of the demonstration needs qlua, which is left out:"
    sed -n '/qlua and lua-base are left out/,/^$/p' build/build.log
    exit 1
fi

# luacheck is packaged for Lua 5.1 only, and runs on 5.4 as it is.
LUA_PATH="/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua"
LUA_PATH="$LUA_PATH;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
export LUA_PATH
unset QPROF LUA_INIT LUA_PATH_5_4 LUA_CPATH LUA_CPATH_5_4

findings=build/demo-luacheck.txt

# record OPTION...: record luacheck with these options of qprof run
record() {
    command="build/bin/qprof run $* -- build/bin/qlua /usr/bin/luacheck --no-color /usr/share/lua/5.4/pl"
    say "\$ $command"
    status=0
    $command >"$findings" || status=$?
    # 1: luacheck found something to report
    if [ "$status" -gt 1 ] || ! grep -q '^Total: .* in 39 files$' "$findings"; then
        tail -n 5 "$findings"
        echo "luacheck failed: status $status"
        exit 1
    fi
}

profile=build/demo.qprof
rm -f "$profile" build/demo-parser.*
record -o "$profile"
show build/bin/qprof tree --hottest --min-percent=5 "$profile"
show build/bin/qprof annotate "$profile"

cat >build/demo-parser.conf <<'END'
# time is recorded while the parser runs, and each of its calls is traced
trigger parsing on : luacheck.parser.parse
initial-status off
END
show cat build/demo-parser.conf
record --config=build/demo-parser.conf -o build/demo-parser.qprof -trace-output=build/demo-parser.qtrace
show build/bin/qprof trace slow --limit=1 --min-percent=15 luacheck.parser.parse build/demo-parser.qtrace
if grep -q 'HTML reports are left out' build/build.log; then
    say "The page with the flame graphs is left out: the warning of the build has the reason."
else
    show build/bin/qprof html --trace=build/demo-parser.qtrace -o build/demo-parser.html build/demo-parser.qprof
fi

say "The output of luacheck is in $findings. Next:"
echo "    build/bin/qprof report --sort=total $profile"
