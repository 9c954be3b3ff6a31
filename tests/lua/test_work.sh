#!/bin/sh
# test_work.sh [BUILD]: executed instructions of functions and lines, beside Lua's own count hook.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/work"

echo 'dofile("work.lua")()' >"$tmp/main.lua"
functions() { # NAME: "line instructions" of work.lua's functions
    "$bin/qprof" report --format=json "$tmp/$1.qprof" |
        jq -r '.methods[] | select(.file == "work.lua" and (.name | startswith("main chunk") | not)) |
            "\(.line)\t\(.instructions)"' | sort -n
}
"$bin/lua-base" hook.lua | sort -n >"$tmp/hook"
[ "$(wc -l <"$tmp/hook")" -eq 8 ] || complain "the hook saw other functions: $(cat "$tmp/hook")"
for options in "" "-time=none" "-time=adaptive"; do
    record "$options" work "$tmp/main.lua"
    functions work >"$tmp/found"
    cmp -s "$tmp/hook" "$tmp/found" || complain "$options: $(diff "$tmp/hook" "$tmp/found")"
done

# The lines of a function have what it has.
of_lines=$("$bin/qprof" annotate --format=json choose "$tmp/work.qprof" | jq '[.files[].lines[].instructions] | add')
of_function=$(awk '$1 == 4 { print $2 }' "$tmp/hook")
[ "$of_lines" = "$of_function" ] || complain "lines of choose have $of_lines, not $of_function"
"$bin/qprof" annotate "$tmp/work.qprof" | grep -q '^ *Count  *Instr  *Line  Source' || complain "annotate has no column"
"$bin/qprof" report --sort=instructions "$tmp/work.qprof" >"$tmp/report"
grep -q ' Instructions  ' "$tmp/report" || complain "report has no column"

# Of two runs there is twice as much; of a pattern, and of single threads, nothing is known.
cp "$tmp/work.qprof" "$tmp/again.qprof"
"$bin/qprof" merge -o "$tmp/both.qprof" "$tmp/work.qprof" "$tmp/again.qprof" >/dev/null
functions both >"$tmp/found"
awk '{ print $1 "\t" 2 * $2 }' "$tmp/hook" | cmp -s - "$tmp/found" || complain "merge: $(cat "$tmp/found")"
"$bin/qprof" report --format=json --thread=1 "$tmp/work.qprof" | jq -e 'all(.methods[]; has("instructions") | not)' \
    >/dev/null || complain "instructions of one thread"
if "$bin/qprof" report --sort=instructions --focus=sum "$tmp/work.qprof" >/dev/null 2>"$tmp/why"; then
    complain "instructions below a focus"
fi
grep -q 'no instructions of functions are known' "$tmp/why" || complain "$(cat "$tmp/why")"

# Without lines no blocks are counted.
record "-collection-granularity=function" plain "$tmp/main.lua"
functions plain | grep -vq null && complain "instructions without counted blocks"
finish
