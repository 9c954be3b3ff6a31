#!/bin/sh
# lua.sh [BUILD] [PAIRS] [ROWS]: what recording costs a Lua program: qlua over lua-base, run in
# turn, the median of the ratios of processor time; goals from the project's design. For
# comparison, a line hook of unpatched Lua, and, as the floor of sampling, a thread beside it that
# wakes 1,000 times a second and does nothing. ROWS: only those whose names hold this text.
set -eu
unset QPROF LUA_PATH LUA_CPATH LUA_INIT
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
bin=$build/bin
pairs=${2:-11}
rows=${3:-}
export LUA_CPATH="$build/examples/lua-host/?.so"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ratio() { # PROGRAM HOOK HOST [OPTIONS]
    rm -f "$work"/ratios
    for _ in $(seq "$pairs"); do
        base=$("$bin/lua-base" "$here/$1.lua")
        patched=$(QPROF=${4:+"-output=$work/profile $4"} BENCH_HOOK=$2 \
            "$bin/$3" ${2:+-l hooks} "$here/$1.lua" 2>"$work/printed")
        rm -f "$work"/profile*
        echo "$patched $base" | awk '{ printf "%.4f\n", $1 / $2 }' >>"$work/ratios"
    done
    sort -n "$work/ratios" | awk '{ r[NR] = $1 } END { printf "%.3f", r[int((NR + 1) / 2)] }'
}

row() { # NAME GOAL_FIB GOAL_MIXED HOOK HOST [OPTIONS]
    name=$1 goal_fib=$2 goal_mixed=$3
    shift 3
    case "$name" in *"$rows"*) ;; *) return 0 ;; esac
    printf '%-28s %6s %9s   %6s %9s\n' "$name" "$goal_fib" "$(ratio fib "$@")" \
        "$goal_mixed" "$(ratio mixed "$@")"
}

calls=-collection-granularity=function
printf '%-28s %6s %9s   %6s %9s\n' "over lua-base, $pairs pairs" fib '' mixed ''
printf '%-28s %6s %9s   %6s %9s\n' '' goal measured goal measured
row 'not recording' 1.01 1.01 '' qlua
row 'sampling' 1.06 1.02 '' qlua "-collect=samples -pc='REAL 1000'"
row 'lua-base: sampling, floor' '' '' waking lua-base
row 'sampled times' '' '' '' qlua "-time=sampled $calls"
row 'counts' 1.12 1.04 '' qlua "-time=none $calls"
row 'adaptive' 1.25 1.06 '' qlua "-time=adaptive $calls"
row 'exact' 1.95 1.15 '' qlua "-time=exact $calls"
row 'counts, blocks and lines' 1.10 1.10 '' qlua "-time=none -collection-granularity=line"
row 'coverage' 1.05 1.03 '' qlua "-collect=coverage"
row 'coverage, once' 1.05 1.03 '' qlua "-collect=coverage -cover=once"
row 'coverage of functions' 1.05 1.03 '' qlua "-collect=coverage $calls"
row 'coverage, 1,000 contexts/s' 1.15 1.15 contexts qlua "-collect=coverage"
row 'lua-base: empty line hook' '' '' empty lua-base
row 'lua-base: hook marks lines' '' '' mark lua-base
