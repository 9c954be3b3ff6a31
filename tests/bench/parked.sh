#!/bin/sh
# parked.sh BUILD [SECONDS]: what the sampler at 1 kHz costs beside 10,000 parked virtual threads; 2 % of
# a core is the goal.
set -eu
build=$(cd "${1:?usage: parked.sh BUILD [SECONDS]}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
${CC:-cc} -O2 -std=c11 -D_GNU_SOURCE -I"$root/include" "$root/tests/bench/parked.c" \
    "$build/lib/libqprof.a" -lpthread -o parked
for command in 'VIRTUAL 1000' 'REAL 1000'; do
    for collect in samples profile; do
        printf '%-14s %-8s ' "$command" "$collect"
        QPROF="-output=$collect.qprof -collect=$collect -pc='$command'" ./parked "${2:-5}"
        rm -f ./*.qprof
    done
done
