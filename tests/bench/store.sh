#!/bin/sh
# store.sh BUILD [PROFILES [FILES]]: what stores of real profiles take, on disk and in time: in a file, on one server of ClickHouse and on
# two (left out where tests/clickhouse.sh cannot unpack it). luacheck checks one of FILES of its own sources after another, as a
# request, with labels of versions and hosts; a row is a call path of a profile. With RECORDINGS=FOLDER the profiles are kept there, and
# taken from there the next time. store.py says what is measured; docs/store.md shows the result.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?the build folder}" && pwd)
n=${2:-320}
n_sources=${3:-1000}
PATH=$build/bin:$PATH
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY QPROF
[ -f /usr/share/lua/5.1/luacheck/main.lua ] || { echo "luacheck is not installed (lua-check)"; exit 77; }
work=$(mktemp -d)
end_all() {
    for pid in $(cat "$work"/server?/pid 2>/dev/null); do kill -9 "$pid" 2>/dev/null || :; done
    rm -rf "$work"
}
trap end_all EXIT
recordings=${RECORDINGS:-$work/recordings}
mkdir -p "$recordings"
cd "$recordings"
export LUA_PATH='/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua'
find /usr/share/lua/5.1/luacheck /usr/share/lua/5.1/pl -name '*.lua' 2>/dev/null | sort |
    awk 'NR % 5 == 1 || '"$n_sources"' > 90' | head -n "$n_sources" >"$work/sources"
cat >"$work/check.lua" <<'END'
local qlua = require("qlua")
local file = table.remove(arg, 1)
arg = { [0] = "luacheck", "--no-color", "--no-cache", file }
os.exit = error
qlua.request("check " .. file:match("([^/]+)/[^/]*$"), nil, pcall, dofile, "/usr/bin/luacheck")
END

# A line of numbers from 1 to n, each with a source file, a version and a host.
i=0
while [ $i -lt "$n" ] && [ ! -e done ]; do
    i=$((i + 1))
    source=$(sed -n "$((i * 7 % $(wc -l <"$work/sources") + 1))p" "$work/sources")
    QPROF="-output=p$i.qprof -labels=service=lint,version=1.$((i % 4)),host=h$((i % 16)) -quiet" \
        qlua "$work/check.lua" "$source" >/dev/null 2>&1 || :
done
: >done

# start N PORT
start() { sh "$root/tests/clickhouse.sh" start "$root/build/clickhouse" "$work/server$1" "$2"; }
set -- "$work/s.db"
if sh "$root/tests/clickhouse.sh" unpack "$root/build/clickhouse"; then
    # shellcheck disable=SC2046  # three numbers
    set -- $(sh "$root/tests/clickhouse.sh" ports 3)
    start 1 "$1" && start 2 "$2" && start 3 "$3"
    pid() { cat "$work/server$1/pid"; }
    set -- "$work/s.db" "clickhouse:http://127.0.0.1:$1/bench=$(pid 1)" \
        "clickhouse:http://127.0.0.1:$2/bench,http://127.0.0.1:$3/bench=$(pid 2),$(pid 3)"
fi
python3 "$root/tests/bench/store.py" "$@"
