#!/bin/sh
# test_soak.sh [BUILD [CHUNKS [LIMIT]]]: of a program that loads ever more chunks, each under a name of its own, no
# call is lost, the file stays within -memory-limit, and what did not fit is reported.
. "$(dirname "$0")/lib.sh"
n=${2:-50000}
limit=${3:-2M}
cd "$source/tests/lua/soak"

record "-memory-limit=$limit" soak chunks.lua "$n"
[ "$code" -eq 0 ] || complain "the program ended with $code: $(cat "$tmp/soak.out")"
"$bin/qprof" check "$tmp/soak.qprof" >/dev/null || complain "qprof check finds mistakes"
[ "$(calls "$tmp/soak.qprof" load)" = "$n" ] || complain "calls of load are not $n"
named=$("$bin/qprof" report --limit=0 --format=json "$tmp/soak.qprof" |
    jq '[.methods[] | select(.name | test("^main chunk of chunk |^<overflow>$|^$")) | .calls] | add')
# of the last methods the names may not have fitted, nor those of two of Lua's own
[ "$named" -ge "$n" ] && [ "$named" -le $((n + 2)) ] ||
    complain "calls of chunks and of <overflow> are $named, not $n"
"$bin/qprof" info --format=json "$tmp/soak.qprof" |
    jq -e '.run.file_bytes <= .run.memory_limit_bytes and .diagnostics.method_limit > 0' >/dev/null ||
    complain "the file is larger than its limit, or the loss is not reported"
cat "$tmp/soak.out"
finish
