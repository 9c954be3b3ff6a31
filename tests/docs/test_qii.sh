#!/bin/sh
# test_qii.sh: the interpreter of docs/qii.md works and its profile has the figures that
# the page promises; every other piece of C on the page compiles.
#
# fib(10): a call with n < 2 ends at once, another one makes two calls. Calls c(n) = 1 + c(n - 1) +
# c(n - 2), c(0) = c(1) = 1, so c(10) = 177; of these 88 make calls.
set -eu
page=$QPROF_SOURCE/docs/qii.md
rm -f block-*.c ./*.qprof
awk '/^```c$/ { file = "block-" ++n ".c"; next } /^```$/ { file = "" } file { print >file }' "$page"

flags="-std=c11 -Wall -Wextra -Werror -I$QPROF_SOURCE/include"
for block in block-*.c; do
    if ! grep -q '^#include <qprof.h>' "$block"; then
        { echo '#include <qprof.h>'; cat "$block"; } >whole.c
        # shellcheck disable=SC2086
        ${CC:-cc} $flags -c whole.c -o whole.o || { echo "in $block"; exit 1; }
    fi
done

# shellcheck disable=SC2086
${CC:-cc} $flags block-1.c "$QPROF_LIB/libqprof.a" -pthread -o tiny
same() {
    [ "$2" = "$3" ] || { echo "test_qii.sh: $1: $3, not $2"; exit 1; }
}
same "printed" 55 "$(./tiny)"
"$QPROF_BIN/qprof" check tiny.qprof >/dev/null
"$QPROF_BIN/qprof" report --format=json tiny.qprof >report.json
same "calls of fib" 177 "$(jq '.methods[] | select(.name == "fib") | .calls' report.json)"
same "calls of main" 1 "$(jq '.methods[] | select(.name == "main") | .calls' report.json)"
"$QPROF_BIN/qprof" annotate --format=json tiny.qprof >lines.json
same "counts of lines" "1:1 2:1 5:177 6:88 7:88 8:88" "$(jq -r '
    [.files[] | select(.path == "tiny.src") | .lines[] | "\(.line):\(.count)"] | join(" ")' lines.json)"
