#!/bin/sh
# long.sh [NAME [WORD...]]: a test that takes too long for every run. Without a name: the list of them.
#
# A test is a script tests/long/NAME.sh; its second line says what it shows.
set -eu
folder=$(dirname "$0")/long

if [ $# -eq 0 ]; then
    for file in "$folder"/*.sh; do
        sed -n '2s/^# \([a-z-]*\)\.sh/    \1/p' "$file"
    done
    exit 0
fi
name=$1
shift
if [ ! -f "$folder/$name.sh" ]; then
    echo "long.sh: $name: no such test; these exist:"
    "$0"
    exit 2
fi
exec sh "$folder/$name.sh" "$@"
