#!/bin/sh
# spool.sh [BUILD]: nothing lost and nothing twice: 200 kills of recorders, imports and pushes, 10,000 files, a million hosts
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
KILLS=200 FILES=10000
export KILLS FILES
ctest --test-dir "$build" -R '^cli\.(spool|store|push)$' --output-on-failure
