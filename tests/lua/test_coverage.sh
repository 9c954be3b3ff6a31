#!/bin/sh
# test_coverage.sh [BUILD]: coverage says what hooks saw on unpatched Lua, for every program in
# programs/ and contexts/: the lines that were hit, how often, both ways of every conditional
# jump, and which lines ran in which context.
. "$(dirname "$0")/lib.sh"

# hooked DIR PROGRAM: what the oracle says of a run, in $tmp/oracle.tsv
hooked() {
    rm -f "$tmp/oracle.tsv"
    ORACLE_LINES=1 ORACLE="$tmp/oracle.tsv" LUA_CPATH="$oracle/?.so" \
        "$bin/lua-base" -l oracle "$2" a b >"$tmp/hooked.out" 2>&1 || true
}

# Ways of one line are compared without their order. Chunks from strings and functions have other
# names in qlua: where they came from.
normalize() {
    awk -F '\t' -v OFS='\t' '
        { sub(/^(\[string .*\]|\(load\))/, "[string]", $2) }
        $1 == "line" && $3 > n[$2] { n[$2] = $3 }
        $1 == "seen" { hit[$2]; context[$2 OFS $3]; has_contexts = has_contexts || $3 != "" }
        $1 == "way" || $1 == "both" { print }
        $1 == "hit" { hit[$2] }
        END {
            for (line in hit) print "hit", line
            for (line in n) print "count", line, n[line]
            for (key in context) if (has_contexts) print "context", key
        }' | LC_ALL=C sort
}

# equal EXPECTED ACTUAL: but for jumps of which the hook knows only the sum of both ways
equal() {
    awk -F '\t' '
        FILENAME == ARGV[1] && $1 != "both" { wanted[$0]++; next }
        FILENAME == ARGV[1] { sums[$2 FS $3]++; next }
        wanted[$0] > 0 { wanted[$0]--; next }
        $1 == "way" { split($3, way, " "); key = $2 FS way[1] + way[2] }
        $1 == "way" && sums[key] > 0 { sums[key]--; next }
        { print "only qlua: " $0; differs = 1 }
        END {
            for (key in sums) if (sums[key] > 0) wanted["both" FS key] = 1
            for (row in wanted) if (wanted[row] > 0) { print "only hooks: " row; differs = 1 }
            exit differs
        }' "$1" "$2"
}

said_by_qprof() {
    "$bin/qprof" cover report --format=json "$1" 2>"$tmp/printed" | jq -r '
        .contexts as $names | .files[] | .file as $file |
        (.lines[] | select(.hits > 0) |
            ["hit", "\($file):\(.line)"], ["line", "\($file):\(.line)", .hits]),
        (.branches | group_by([.line, .block])[] | select(map(.hits) | add > 0) |
            ["way", "\($file):\(.[0].line)", (map(.hits | tostring) | join(" "))]),
        (.contexts[] | ["seen", "\($file):\(.line)", $names[.context]]) | @tsv'
}

compare() { # FOLDER PROGRAM
    hooked "$1" "$2"
    normalize <"$tmp/oracle.tsv" >"$tmp/expected"
    for collected in coverage profile,coverage; do
        record "-collect=$collected" run "$2" a b
        said_by_qprof "$tmp/run.qprof" | normalize >"$tmp/actual"
        equal "$tmp/expected" "$tmp/actual" ||
            complain "$2, -collect=$collected: coverage differs"
        "$bin/qprof" check "$tmp/run.qprof" >"$tmp/check" || {
            cat "$tmp/check"
            complain "$2, -collect=$collected: check"
        }
    done
    echo "$2: $(cut -f 1 "$tmp/expected" | sort | uniq -c | tr -s ' \n' ' ')"
}

for folder in programs contexts; do
    cd "$source/tests/lua/$folder"
    for program in *.lua; do
        compare "$folder" "$program"
    done
done
finish
