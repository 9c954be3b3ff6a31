#!/bin/sh
# trace-full.sh [BUILD]: 100 million calls at full speed, traced with the default options and with a small buffer
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build}
"$root/tests/bench/trace_full.sh" "$build" 100000000
"$root/tests/bench/trace_full.sh" "$build" 100000000 -trace-memory=1M -trace-full=wait
