#!/bin/sh
# test_library.sh [BUILD]: the library `qlua`: what its functions answer, recorded or not; lines that
# are counted up to a stop, from a start on, and up to a snapshot; areas that change while the program
# runs.
#
# library/main.lua by hand. Calls of `work` at lines 9 and 11 (stopped), in rounds 1, 2, 5 and 6 of the
# loop (3 and 4 are stopped), and after the snapshot at lines 24 and 29: 5, then 7. Round 3 stops in
# the middle of line 14, which four rounds begin; round 5 starts in the middle of line 15, which three
# begin. In the snapshot the frames are in lines 28, 31 and 23; later lines are not in it.
# library/narrow.lua: the area comes before the second of three calls of `inside`, 2 + 4 + 6 rounds,
# and of two calls of `outside`, 3 + 5 rounds; the main chunk, outside of it, is counted up to the next
# call of a Lua function, which is in line 14.
. "$(dirname "$0")/lib.sh"
PATH=$bin:$PATH

# counted FILE LUA LINE...: those of the lines that have counts
counted() {
    file=$1 path=$2
    shift 2
    "$bin/qprof" annotate --format=json "$file" | jq -r --arg path "$path" --arg lines "$*" '
        ($lines | split(" ") | map(tonumber)) as $lines |
        [.files[] | select(.path == $path) | .lines[] |
            select(.count > 0 and (.line | IN($lines[]))) | "\(.line):\(.count)"] | join(" ")'
}

# same WHAT EXPECTED ACTUAL
same() {
    [ "$2" = "$3" ] || complain "${collect:-not recorded}: $1: $3, not $2"
}

# Is it running and recording; stop, stop, recording; start, start, recording; event; snapshot.
answers() {
    head -n 5 "$1" | tr '\t\n' '  '
}

# Wrong arguments.
errors() {
    tail -n +6 "$1" | grep -o 'main.lua:.*'
}

cp "$source"/tests/lua/library/* "$tmp"
cd "$tmp"
cat >errors.expected <<'END'
main.lua:34: bad argument #1 to 'event' (events of programs are 40000 to 65535)
main.lua:35: bad argument #1 to 'event' (number expected, got string)
main.lua:36: bad argument #2 to 'counter' (number expected, got no value)
main.lua:37: bad argument #2 to 'counter' (out of range)
main.lua:38: bad argument #1 to 'mark' (string expected, got table)
main.lua:39: bad argument #1 to 'snapshot' (string expected, got table)
END

collect=
"$bin/qlua" main.lua >run.out
same answers "false false false false false false false false false false " "$(answers run.out)"
errors run.out | diff errors.expected - || complain "errors"

lines="3 11 13 14 15 16 24 28 29 32"
for collect in profile coverage profile,coverage,trace; do
    rm -f half.qprof
    record "-collect=$collect" run main.lua
    same answers "true true true false false true false true true true " "$(answers run.out)"
    errors run.out | diff errors.expected - || complain "errors"
    # shellcheck disable=SC2086
    same "lines of the snapshot" "3:5 13:4 14:4 15:3 16:4 28:1" "$(counted half.qprof main.lua $lines)"
    # shellcheck disable=SC2086
    same "lines" "3:7 13:4 14:4 15:3 16:4 24:1 28:1 29:1 32:1" "$(counted run.qprof main.lua $lines)"
    same "calls of work" 7 "$("$bin/qprof" report --format=json run.qprof |
        jq '.methods[] | select(.name == "work") | .hits')"
    same "marks and events" "half way, 40000 once" "$("$bin/qprof" info --format=json run.qprof |
        jq -r '"\(.marks[0].name), \(.events[0] | if .count == 1 then "\(.event) once" else . end)"')"
    case $collect in
    *trace*)
        same "counters" "queue 7 queue -2" "$("$bin/qprof" trace dump --format=json run.qprof |
            jq -rs '[.[] | select(.op == "count") | "\(.text) \(.number)"] | join(" ")')"
        ;;
    esac

    record "-collect=$collect -apply=yes" run narrow.lua
    [ "$code" -eq 0 ] || complain "$collect: narrow.lua: $(cat run.out)"
    same "lines under a new area" "2:12 3:12 7:3 8:3 11:1 12:1 13:1 14:1" \
        "$(counted run.qprof narrow.lua 2 3 7 8 11 12 13 14 15 16)"
done
finish
