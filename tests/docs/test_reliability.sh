#!/bin/sh
# test_reliability.sh: docs/reliability.md has 81 rows, numbered, and each test that it names exists.
set -eu
page=$QPROF_SOURCE/docs/reliability.md
awk -F'|' '/^\| [0-9]/ { print $2 + 0 }' "$page" >numbers
seq 81 | cmp -s - numbers || { echo "the rows are not 1 to 81:"; seq 81 | diff - numbers; exit 1; }
missing=
for name in $(awk -F'|' '/^\| [0-9]/ { print $6 }' "$page" | tr ', ' '\n\n' | sed -n 's/^`\(.*\)`$/\1/p' | sort -u); do
    room=${name%%.*} test=${name#*.}
    [ -f "$QPROF_SOURCE/tests/$room/test_$test.c" ] || [ -f "$QPROF_SOURCE/tests/$room/test_$test.sh" ] || missing="$missing $name"
done
[ -z "$missing" ] || { echo "docs/reliability.md names tests that do not exist:$missing"; exit 1; }
awk -F'|' '/^\| [0-9]/ && $6 !~ /`|none yet/ { print "no test, and not said:" $0; bad = 1 } END { exit bad }' "$page"
