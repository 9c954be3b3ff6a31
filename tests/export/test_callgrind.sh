#!/bin/sh
# test_callgrind.sh: callgrind_annotate's figures are ours, own and inclusive, recursion included;
# KCachegrind reads the file without a warning.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need callgrind_annotate valgrind

# rows FILE WORDS...: "time calls function" of its table
rows() {
    rows_file=$1
    shift
    callgrind_annotate --threshold=100 --auto=no "$@" "$rows_file" 2>complaints |
        sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%) *\([0-9,]*\) ([ 0-9.]*%) *\(.*\)$/\1 \2 \3/p' | tr -d ,
}
export_profile callgrind run
cat >wanted <<'END'
32000 6 PROGRAM TOTALS
14000 1 score.src:main
7000 2 score.src:f
7000 1 score.src:co
3000 1 score.src:g
1000 1 score.src:leaf;1 2
END
rows run.callgrind >found
claim "own times and calls" diff -u wanted found
claim "nothing to complain about" same '' "$(cat complaints)"
cat >wanted <<'END'
???:.co_2. 7000 1
???:.main_1. 25000 5
PROGRAM TOTALS 32000 6
score.src:co 7000 1
score.src:f 10000 3
score.src:g 5000 2
score.src:leaf;1 2 1000 1
score.src:main 25000 5
END
rows run.callgrind --inclusive=yes | sed 's/^\([0-9]*\) \([0-9]*\) \(.*\)/\3 \1 \2/' | sort >found
claim "inclusive times and calls are totals, f once" diff -u wanted found
claim "f was called twice, by main and g" same "1 1" "$(sed -n '/^cfn=(4)/{n;s/^calls=\([0-9]*\) .*/\1/p}' \
    run.callgrind | xargs)"

export_profile callgrind hostile
claim "each of seven hostile names is a name" same 7 "$(rows hostile.callgrind |
    grep -c '^1000 1 score.src:')"
claim "... without a malformed line" same '' "$(cat complaints)"
export_profile callgrind deep
claim "depth is no limit" same "f 1000 5000" "$(rows deep.callgrind --inclusive=yes |
    sed -n 's/^\([0-9]*\) \([0-9]*\) score.src:f$/f \1 \2/p')"

# KCachegrind says on its standard error what it stumbles over, and which function it opens with.
look() {
    HOME=$PWD XDG_RUNTIME_DIR=$PWD QT_QPA_PLATFORM=xcb timeout 60 xvfb-run -a dbus-run-session -- \
        sh -c 'kcachegrind "$1" 2>seen & pid=$!
               for i in $(seq 100); do grep -q ^Selected seen && break; sleep 0.2; done
               kill $pid' sh "$1" >/dev/null 2>&1
    grep -q '^Selected' seen || { cat seen; return 1; }
    ! grep '^Loading' seen
}
if command -v kcachegrind xvfb-run dbus-run-session xauth >/dev/null; then
    claim "KCachegrind opens it without a warning" look run.callgrind
    claim "... and the one with hostile names" look hostile.callgrind
    finish
else
    finish || exit 1
    echo "kcachegrind, xvfb, xauth or dbus-daemon is not installed"
    exit 77
fi
