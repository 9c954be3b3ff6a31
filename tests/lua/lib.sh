# lib.sh: for the scripts of this folder. Sets source, bin, programs, oracle (its folder), lua (5.4 or 5.5).
set -eu
unset QPROF LUA_PATH LUA_CPATH LUA_INIT
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${QPROF_BUILD:-${1:?usage: $0 BUILD}}
bin=$build/bin
oracle=$build/examples/lua-host
programs=$source/tests/lua/programs
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0

for needed in qlua lua-base qprof; do
    [ -x "$bin/$needed" ] || { echo "$needed is not built"; exit 77; }
done
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

lua=$("$bin/lua-base" -e 'io.write(_VERSION:sub(5))')

# complain TEXT...: one more failure
complain() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# record OPTIONS NAME ARGS...: qlua ARGS in the current folder; profile in $tmp/NAME.qprof,
# output in $tmp/NAME.out, exit code in $code
record() {
    options=$1 name=$2
    shift 2
    rm -f "$tmp/$name.qprof"
    code=0
    QPROF="-output=$tmp/$name.qprof $options" "$bin/qlua" "$@" >"$tmp/$name.out" 2>&1 || code=$?
}

# calls FILE NAME: calls of the method of this name in a profile
calls() {
    "$bin/qprof" report --format=json "$1" |
        jq --arg name "$2" '[.methods[] | select(.name == $name) | .calls] | add // 0'
}

finish() {
    [ "$failures" -eq 0 ] || exit 1
}
