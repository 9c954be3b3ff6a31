#!/bin/sh
# adaptive.sh: adaptive times of eight programs beside exact ones: the first functions, the large ones, intervals, and the price
#
# adaptive.sh [OPTION...]: of tests/bench/adaptive.py, which says what each verdict is. FENNEL and TEAL name the sources
# of these compilers. Five minutes, on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/../.."
. tests/packages.sh
need_packages "the comparison" python3 lua-check lua-ldoc lua-dkjson lua-inspect lua-basexx lua-penlight
[ -x build/bin/qlua ] || build_tree "qprof" build --preset release
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/bench/adaptive.py build "$@"
