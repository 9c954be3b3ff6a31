#!/bin/sh
# test_libcprof.sh: the host of docs/libcprof.md works with libcprof and its coverage has the figures
# that the page promises; every other piece of C on the page compiles.
set -eu
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
page=$QPROF_SOURCE/docs/libcprof.md
rm -f block-*.c ./*.pcv
awk '/^```c$/ { file = "block-" ++n ".c"; next } /^```$/ { file = "" } file { print >file }' "$page"

flags="-std=c11 -Wall -Wextra -Werror -I$QPROF_SOURCE/include"
for block in block-*.c; do
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -c "$block" -o block.o || { echo "in $block"; exit 1; }
done

# shellcheck disable=SC2086
${CC:-cc} $flags block-1.c "$QPROF_LIB/libcprof.a" -pthread -o abs
./abs
same() {
    [ "$2" = "$3" ] || { echo "test_libcprof.sh: $1: $3, not $2"; exit 1; }
}
"$QPROF_BIN/qprof" cover report --format=json abs.pcv >report.json 2>remarks
same "functions" "1 of 2" "$(jq -r '.totals | "\(.functions_hit) of \(.functions)"' report.json)"
same "lines" "3 of 4" "$(jq -r '.totals | "\(.lines_hit) of \(.lines)"' report.json)"
same "counts of lines" "2:3 3:1 4:3 7:0" \
    "$(jq -r '[.files[].lines[] | "\(.line):\(.hits)"] | join(" ")' report.json)"
"$QPROF_BIN/qprof" cover context abs.src:3 abs.pcv >contexts 2>>remarks
grep -q 'negative numbers' contexts || { echo "test_libcprof.sh: who hit line 3?"; exit 1; }
! grep -q 'positive numbers' contexts || { echo "test_libcprof.sh: who else hit line 3?"; exit 1; }
