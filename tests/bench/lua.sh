#!/bin/sh
# lua.sh [BUILD] [PAIRS]: what recording costs a Lua program: qlua over lua-base, run in turn,
# the median of the ratios of processor time; goals from the project's design.
set -eu
unset QPROF LUA_PATH LUA_CPATH LUA_INIT
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:-build}/bin" && pwd)
pairs=${2:-11}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ratio() { # PROGRAM [OPTIONS]
    rm -f "$work"/ratios
    for _ in $(seq "$pairs"); do
        base=$("$bin/lua-base" "$here/$1.lua")
        if [ $# -eq 1 ]; then
            patched=$("$bin/qlua" "$here/$1.lua")
        else
            patched=$(QPROF="-output=$work/profile $2" "$bin/qlua" "$here/$1.lua")
        fi
        rm -f "$work"/profile*
        echo "$patched $base" | awk '{ printf "%.4f\n", $1 / $2 }' >>"$work/ratios"
    done
    sort -n "$work/ratios" | awk '{ r[NR] = $1 } END { printf "%.3f", r[int((NR + 1) / 2)] }'
}

row() { # NAME GOAL_FIB GOAL_MIXED [OPTIONS]
    name=$1 goal_fib=$2 goal_mixed=$3
    shift 3
    printf '%-28s %6s %9s   %6s %9s\n' "$name" "$goal_fib" "$(ratio fib "$@")" \
        "$goal_mixed" "$(ratio mixed "$@")"
}

calls=-collection-granularity=function
printf '%-28s %6s %9s   %6s %9s\n' "qlua / lua-base, $pairs pairs" fib '' mixed ''
printf '%-28s %6s %9s   %6s %9s\n' '' goal measured goal measured
row 'not recording' 1.01 1.01
row 'sampled' 1.06 1.02 "-time=sampled $calls"
row 'counts' 1.12 1.04 "-time=none $calls"
row 'adaptive' 1.25 1.06 "-time=adaptive $calls"
row 'exact' 1.95 1.15 "-time=exact $calls"
row 'counts, blocks and lines' 1.10 1.10 "-time=none -collection-granularity=line"
