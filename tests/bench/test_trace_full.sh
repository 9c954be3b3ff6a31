#!/bin/sh
# test_trace_full.sh: calls at full speed are in their trace, or a message says what was lost and why.
set -eu
command -v jq >/dev/null || { echo "jq is not installed (Debian package jq)"; exit 77; }
command -v "${CC:-cc}" >/dev/null || { echo "a C compiler is not installed (Debian package gcc)"; exit 77; }
script="$QPROF_SOURCE/tests/bench/trace_full.sh"

# expects TEXT CALLS [OPTIONS...]: a line of what the script prints
expects() {
    text=$1
    shift
    "$script" "$QPROF_BUILD" "$@" >seen
    grep -q "$text" seen || { cat seen; echo "expected: $text"; exit 1; }
}

expects 'in the profile 1400001, in the trace 1400001, of them cut 0, lost 0 records' 1400000
expects 'in the profile 1400001, in the trace 1400001, of them cut 0, lost 0 records' 1400000 \
    -trace-memory=256K -trace-full=wait
expects 'in the profile 1400001' 1400000 -trace-memory=16K # what is lost is explained, or the script fails
