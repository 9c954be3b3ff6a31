#!/bin/sh
# spool.sh BUILD [ROUNDS]: how long a cut of the spool stops a host with 16 MiB of call paths, and, for comparison, a save and a clear.
# As root the measured thread goes before others, so that the longest gap is not that of another program.
set -eu
build=$(cd "${1:?usage: spool.sh BUILD [ROUNDS]}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
${CC:-cc} -O2 -std=c11 -D_GNU_SOURCE -I"$root/include" "$root/tests/bench/spool.c" "$build/lib/libqprof.a" -lpthread -o spool
mkdir folder
for how in nothing cut clear; do
    options=-output=run.qprof
    [ $how != cut ] || options="-spool=folder -spool-every=0 -api-handler-signals=SIGUSR1 -spool-limit=128M"
    QPROF="-quiet $options" ./spool "${2:-100}" $how
    rm -f run.qprof*
done
