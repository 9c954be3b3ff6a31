#!/bin/sh
# soak.sh [BUILD]: 10 million chunks loaded by one Lua program: bounded file, losses reported
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
exec sh "$root/tests/lua/test_soak.sh" "${1:-$root/build}" 10000000 16M
