#!/bin/sh
# parked.sh BUILD [SECONDS]: what the sampler at 1 kHz costs beside 10,000 parked virtual threads, and
# beside none; 2 % of a core is the goal. For comparison: a thread that wakes as often and does nothing.
set -eu
build=$(cd "${1:?usage: parked.sh BUILD [SECONDS]}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
${CC:-cc} -O2 -std=c11 -D_GNU_SOURCE -I"$root/include" "$root/tests/bench/parked.c" \
    "$build/lib/libqprof.a" -lpthread -o parked
for command in 'VIRTUAL 1000' 'REAL 1000'; do
    for host in '0 idle' '10000 idle' '0 busy' '10000 busy'; do
        printf '%-14s %-12s ' "$command" "$host"
        # shellcheck disable=SC2086 # two words
        QPROF="-output=run.qprof -collect=samples -pc='$command'" ./parked "${2:-5}" $host
        rm -f run.qprof
    done
done
