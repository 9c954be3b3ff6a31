#!/bin/sh
# suite.sh DIR [BUILD]: Lua's official test suite under qlua; DIR holds testes/ of its version.
#
# By hand: the suite is no part of this project and writes into DIR. Portable tests, then the
# complete ones (_port), each not recorded, with -time=exact, adaptive and none, with coverage of
# lines, of functions, with both, with frames kept by tail calls alone, with coverage and with samples; every profile that
# any of the processes leaves must pass `qprof check`. SUITE_MODES and SUITE_KINDS choose.
set -eu
unset QPROF LUA_PATH LUA_CPATH LUA_INIT

usage='usage: suite.sh DIR [BUILD]'
suite=$(cd "${1:?$usage}/testes" && pwd)
build=$(cd "${2:-build}" && pwd)
headers=$build/examples/lua-host
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

cd "$suite"
mkdir -p "$work/headers"
cp "$headers"/base/*.h "$headers"/include/*.h "$work/headers"
make -s -C libs LUA_DIR="$work/headers" >/dev/null
# Lua wants an input that is open and cannot be sought.
mkfifo "$work/in"
ulimit -S -s 1000

run_suite() {
    kind=$1 mode=$2
    case $kind in
    portable) set -- -e"_U=true" all.lua ;;
    complete) set -- -W -e"_port=true" all.lua ;;
    esac
    mkdir "$work/profiles"
    case $mode in
    off) unset QPROF ;;
    coverage) export QPROF="-output=$work/profiles/%p.%n.qprof -collect=coverage" ;;
    functions) export QPROF="-output=$work/profiles/%p.%n.qprof -collect=coverage -collection-granularity=function" ;;
    both) export QPROF="-output=$work/profiles/%p.%n.qprof -collect=profile,coverage" ;;
    kept) export QPROF="-output=$work/profiles/%p.%n.qprof -tail-calls=keep" ;;
    kept_*) export QPROF="-output=$work/profiles/%p.%n.qprof -tail-calls=keep -collect=${mode#kept_}" ;;
    *) export QPROF="-output=$work/profiles/%p.%n.qprof -time=$mode" ;;
    esac
    began=$(date +%s.%N)
    code=0
    "$build/bin/qlua" "$@" 0<>"$work/in" >"$work/out" 2>&1 || code=$?
    took=$(echo "$(date +%s.%N) - $began" | bc)
    unset QPROF
    result=ok
    grep -q '^final OK !!!' "$work/out" && [ $code -eq 0 ] || result="FAIL (exit $code)"
    n=0
    for profile in "$work"/profiles/*.qprof*; do
        [ -e "$profile" ] || continue
        n=$((n + 1))
        "$build/bin/qprof" check "$profile" >"$work/check" 2>&1 || {
            result="FAIL (check)"
            cat "$work/check"
        }
    done
    [ "$result" = ok ] || { failed=1; tail -n 20 "$work/out"; }
    printf '%-9s %-21s %7.2f s  %3d profiles  %s\n' "$kind" "$mode" "$took" "$n" "$result"
    rm -rf "$work/profiles"
}

for kind in ${SUITE_KINDS:-portable complete}; do
    for mode in ${SUITE_MODES:-off none adaptive exact coverage functions both kept kept_profile,coverage kept_samples}; do
        run_suite "$kind" "$mode"
    done
done
exit $failed
