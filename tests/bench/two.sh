#!/bin/sh
# two.sh BUILD [ROUNDS]: what two threads that record cost each other: the processor time of a thread
# beside another one over that of the same thread alone. The goal is 1.1; the row "nothing" is what two
# processors of this machine cost each other.
set -eu
build=$(cd "${1:?usage: two.sh BUILD [ROUNDS]}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -std=c11 -D_GNU_SOURCE -I"$root/include" "$root/tests/bench/two.c" \
    "$build/lib/libqprof.a" -lpthread -o "$work/two"
"$work/two" "${2:-21}"
