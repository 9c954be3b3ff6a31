#!/bin/sh
# fuzz.sh: random input for an hour: whole commands about damaged files, and each parser
#
# fuzz.sh [SECONDS [NAME...]]: so long for each program tests/fuzz/fuzz_NAME.c, 300 if not said. What is found stays
# below build/fuzz/found/NAME, and serves the next run.
set -eu
cd "$(dirname "$0")/../.."
. tests/packages.sh
need_packages "random input" build-essential cmake libcmocka-dev clang libclang-rt-dev zlib1g-dev libsqlite3-dev libzstd-dev
seconds=${1:-300}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(ls tests/fuzz | sed -n 's/^fuzz_\(.*\)\.c$/\1/p')
build_targets=fuzz_tests
build_tree "for random input" build/fuzz --preset fuzz
programs=$PWD/build/fuzz/bin found=$PWD/build/fuzz/found failed=
for name; do
    mkdir -p "$found/$name" "$found/work/$name"
    cd "$found/work/$name"
    echo "fuzz_$name, $seconds s"
    "$programs/fuzz_$name" -max_total_time="$seconds" -max_len=4096 -timeout=30 -rss_limit_mb=4096 -print_final_stats=1 \
        "$found/$name" >log 2>&1 || failed="$failed $name"
    sed -n 's/^stat::number_of_executed_units: */    runs: /p; /^SUMMARY/p' log
done
[ -z "$failed" ] || { echo "FAILED:$failed; see build/fuzz/found/work/NAME/log"; exit 1; }
