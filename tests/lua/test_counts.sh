#!/bin/sh
# test_counts.sh [BUILD]: qlua reports exactly the calls and line counts that a debug hook
# counts on unpatched Lua, for every program in programs/; its output is unchanged, its profile
# passes check. So it is with -tail-calls=keep, which changes paths and no count.
. "$(dirname "$0")/lib.sh"

# What the profile says, in the oracle's words: see oracle.c. A file of "?" is stripped code,
# whose line only the name tells. The hook is set after the libraries are opened and does not
# see what runs when a state is closed, nor the collector.
said_by_qprof() {
    "$bin/qprof" report --format=json "$1" | jq -r '.methods[] |
        if (.name | test("^(<Garbage collector>|lua|luaopen_.*|file:__gc|package.__gc)$")) then empty
        elif .file == "" then ["c", .name, .calls]
        elif .file == "?" then ["lua", .name, .calls]
        elif (.name | startswith("main chunk of ")) then ["lua", "\(.file):0", .calls]
        else ["lua", "\(.file):\(.line)", .calls] end | @tsv'
    "$bin/qprof" annotate --format=json "$1" | jq -r '.files[] | .path as $path | .lines[] |
        ["line", "\($path):\(.line)", .count] | @tsv'
}

# Sum calls, take the maximum of lines; C functions that no standard module holds are "other".
# Chunks from strings and functions have other names in qlua: where they came from.
normalize() {
    grep '^c	' "$tmp/oracle.tsv" | cut -f 2 | sort -u >"$tmp/known_c"
    awk -F '\t' -v OFS='\t' -v known="$tmp/known_c" '
        BEGIN { while ((getline name < known) > 0) is_known[name] = 1 }
        $1 == "c" && !($2 in is_known) { $2 = "other" }
        $1 != "c" { sub(/^(\[string .*\]|\(load\))/, "[string]", $2) }
        $3 == 0 { next }
        $1 == "header" { $1 = "line" }
        { key = $1 OFS $2 }
        $1 == "line" { if ($3 > n[key]) n[key] = $3; next }
        { n[key] += $3 }
        END { for (key in n) print key, n[key] }' | LC_ALL=C sort
}

compare() {
    program=$1
    for kind in calls lines; do
        rm -f "$tmp/$kind.tsv"
        code=0
        if [ $kind = lines ]; then export ORACLE_LINES=1; else unset ORACLE_LINES; fi
        ORACLE="$tmp/$kind.tsv" LUA_CPATH="$oracle/?.so" \
            "$bin/lua-base" -l oracle "$program" a b >"$tmp/hooked.out" 2>&1 || code=$?
    done
    grep '^lua\|^c' "$tmp/calls.tsv" >"$tmp/oracle.tsv"
    grep '^line\|^header' "$tmp/lines.tsv" >>"$tmp/oracle.tsv"
    expected_code=0
    "$bin/lua-base" "$program" a b >"$tmp/plain.out" 2>&1 || expected_code=$?
    sed -i 's|lua-base|qlua|' "$tmp/plain.out"
    normalize <"$tmp/oracle.tsv" >"$tmp/expected"
    for options in "" -tail-calls=keep; do
        record "$options" run "$program" a b
        [ "$code" -eq "$expected_code" ] || complain "$program $options: exit $code, not $expected_code"
        diff "$tmp/plain.out" "$tmp/run.out" || complain "$program $options: its output changes"
        said_by_qprof "$tmp/run.qprof" | normalize >"$tmp/actual"
        diff "$tmp/expected" "$tmp/actual" || complain "$program $options: counts differ (< hook, > qlua)"
        "$bin/qprof" check "$tmp/run.qprof" >"$tmp/check" || {
            cat "$tmp/check"
            complain "$program $options: check"
        }
    done
    echo "$program: $(wc -l <"$tmp/expected") counts"
}

cd "$programs"
for program in *.lua; do
    compare "$program"
done
finish
