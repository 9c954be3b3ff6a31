#!/bin/sh
# gcov.sh: how much of the recorder its tests run: lines and branches
#
# gcov.sh [LINES BRANCHES]: the percentages below which it fails; 99 and 95 if not given. gcov.sh figures [LINES BRANCHES]: of
# what has been run before. It also fails if a line was not run that has no reason in tests/long/gcov/unreached.txt.
# What processes ran that were killed does not count. build/gcov/not-run.txt has every line and branch that was not run.
set -eu
cd "$(dirname "$0")/../.."
. tests/packages.sh
build=$PWD/build/gcov
if [ "${1:-}" = figures ]; then
    shift
    exec python3 tests/long/gcov/figures.py "$build" "${1:-99}" "${2:-95}"
fi
need_packages "gcov" build-essential cmake libcmocka-dev zlib1g-dev libsqlite3-dev libzstd-dev python3
rooms="unit model threads kill reliability cprof cli lua stub"
# What steps through instructions, what compares all memory that is written, and what records nothing.
left_out='single_step|threads\.apart|random_config|cli\.(diff|gate|import|merge|mistakes|names|push|schema|serve|store)'
# The compiler's fork() forgets what handlers of fork() ran in the child.
build_tree "with --coverage" build/gcov -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -g1" \
    -DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic -fprofile-abs-path -fno-builtin-fork -include $PWD/tests/long/gcov/exit.h"
find "$build" -name '*.gcda' -delete
# Hosts that scripts compile get the counters of the library too, and write them down like the tests.
tools=$build/tools
mkdir -p "$tools"
for compiler in cc gcc c++ g++; do
    path=$(PATH=/usr/bin:/bin command -v $compiler) || continue # not a cache, which would look for it in PATH
    case $compiler in *++) include= ;; *) include="-include '$PWD/tests/long/gcov/exit.h'" ;; esac
    printf '#!/bin/sh\nexec "%s" %s "$@" -lgcov\n' "$path" "$include" >"$tools/$compiler"
    chmod +x "$tools/$compiler"
done
# Processes that may open no file, or may not write to it, report nothing on their standard error.
GCOV_ERROR_FILE=$build/errors.log PATH=$tools:$PATH QPROF_MODEL_EVENTS=${QPROF_MODEL_EVENTS:-300000} \
    ctest --test-dir "$build" -L "^($(echo $rooms | tr ' ' '|'))\$" -E "$left_out" -j "$(nproc)" --output-on-failure >"$build/tests.log" 2>&1 ||
    sed -n '/tests FAILED/,$p' "$build/tests.log"
mkdir -p "$build/faults"
(cd "$build/faults" && GCOV_ERROR_FILE=$build/errors.log FAULTS=${FAULTS:-25} "$build/tests/test_reliability_faults" >"$build/faults.log" 2>&1) ||
    tail -n 20 "$build/faults.log"
exec python3 tests/long/gcov/figures.py "$build" "${1:-99}" "${2:-95}"
