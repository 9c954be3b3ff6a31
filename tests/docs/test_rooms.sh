#!/bin/sh
# test_rooms.sh [--write]: the map of rooms in docs/architecture.md is that of tests/lint/layers.txt.
# With --write it is made so. The comparison is tried first on a page with a wrong row.
set -eu
source_folder=${QPROF_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
law=$source_folder/tests/lint/layers.txt
page=$source_folder/docs/architecture.md
begin='<!-- rooms: made from tests/lint/layers.txt by tests/docs/test_rooms.sh --write -->'
end='<!-- end of rooms -->'

# map LAW: the table, a row for each room
map() {
    echo "| room | task | may use, besides itself |"
    echo "|---|---|---|"
    awk '
        /^room / {
            room = $2
            sub(/:$/, "", room)
            folder = room ~ /^(include|bindings|examples)/ ? room : "src/" room
            sub(/^[^:]*:[ ]*/, "")
            may = $0
            gsub(/ /, ", ", may) }
        /^what / { sub(/^what /, ""); print "| `" folder "` | " $0 " | " (may == "" ? "–" : may) " |" }
    ' "$1"
}

# map_of PAGE: the table that it has
map_of() {
    awk -v begin="$begin" -v end="$end" '
        $0 == end { is_inside = 0 }
        is_inside { print }
        $0 == begin { is_inside = 1 }' "$1"
}

if [ "${1:-}" = --write ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    map "$law" >"$work/map"
    awk -v begin="$begin" -v end="$end" -v map="$work/map" '
        $0 == end { is_inside = 0 }
        !is_inside { print }
        $0 == begin { is_inside = 1; while ((getline line <map) > 0) print line }' "$page" >"$work/page"
    cat "$work/page" >"$page"
    exit 0
fi

printf 'room include:\nwhat Headers.\nroom base/os: include a/.\nwhat Clocks.\n' >law
{
    printf '%s\n| room | task | may use, besides itself |\n|---|---|---|\n' "$begin"
    printf '| `include` | Headers. | – |\n| `src/base/os` | Clocks. | include, a/. |\n%s\n' "$end"
} >good.md
sed 's/Clocks/Old clocks/' good.md >bad.md
map law >wanted
map_of good.md | cmp -s - wanted && ! map_of bad.md | cmp -s - wanted ||
    { echo "test_rooms.sh: the comparison itself is wrong"; exit 1; }

map "$law" >wanted
map_of "$page" >found
diff -u found wanted || {
    echo "docs/architecture.md has another map than tests/lint/layers.txt: tests/docs/test_rooms.sh --write"
    exit 1
}
