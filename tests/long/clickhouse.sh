#!/bin/sh
# clickhouse.sh [BUILD]: a store on two real servers of ClickHouse: the same bytes as one in a file, 200 killed pushes, killed servers
#
# Debian 12's packages are downloaded with a state of apt of its own, once, and unpacked into build/clickhouse.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
sh "$root/tests/clickhouse.sh" unpack "$root/build/clickhouse"
export QPROF_SOURCE="$root" QPROF_BUILD="$build" QPROF_BIN="$build/bin" QPROF_LIB="$build/lib"
KILLS=${KILLS:-200} QPROF_CLICKHOUSE=$root/build/clickhouse sh "$root/tests/cli/test_clickhouse.sh"
rm -rf "$build/tests/run/long.clickhouse"
mkdir -p "$build/tests/run/long.clickhouse"
cd "$build/tests/run/long.clickhouse"
sh "$root/tests/install/test_fleet.sh"
