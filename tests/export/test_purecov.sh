#!/bin/sh
# test_purecov.sh: a reader that knows the records of PureCoverage's export alone arrives at our
# totals: from the sums that it contains, and from its lines and functions (qii checklist, 48). So
# does the tool, which reads the export back.
. "$(dirname "$0")/lib.sh"

# read_export: sums over the files, the folders, and over what the lines and functions say
read_export() {
    awk -F '\t' '
        function expect(what, is, wanted) {
            if (is != wanted) print "line " NR ": " what " is " is ", not " wanted }
        function end_file(   line) {
            for (line in best) { lines++; if (best[line] == 0) unused_lines++ }
            split("", best) }
        /^#/ || /^$/ { next }
        $1 == "to" { n_to++; for (i = 2; i <= 9; i++) to[i] = $i }
        $1 == "di" { dirs++; n_files = 0; for (i = 2; i <= 8; i++) { di[i] += $(i + 1) }; wanted = $9 }
        $1 == "edi" { expect("number of files", n_files, wanted) }
        $1 == "fi" { n_files++; files++; for (i = 2; i <= 7; i++) fi[i] += $(i + 1) }
        $1 == "efi" { end_file() }
        $1 == "fu" { calls = $7; is_dead = 0; n_blocks = $4; n_bl = 0 }
        $1 == "efu" {
            # all its blocks are on dead lines: in no total
            if (n_bl && n_blocks == 0) next
            funcs++
            if (calls == 0) unused_funcs++ }
        $1 == "li" {
            count = $3 == "TEST" || $3 == "INSP" ? 1 : $3
            if (!($2 in best) || best[$2] < count) best[$2] = count }
        $1 == "bl" { n_bl++ }
        $1 !~ /^(to|di|edi|fi|efi|fu|efu|li|bl)$/ { print "line " NR ": keyword " $1 }
        END {
            expect("number of to records", n_to, 1)
            for (i = 2; i <= 7; i++) {
                expect("sum of files, field " i, fi[i] + 0, to[i])
                expect("sum of folders, field " i, di[i] + 0, to[i]) }
            expect("unused lines", unused_lines + 0, to[4]); expect("lines", lines + 0, to[5])
            expect("unused functions", unused_funcs + 0, to[6])
            expect("functions", funcs + 0, to[7])
            expect("files", files + 0, to[8]); expect("folders", dirs + 0, to[9])
            print to[2], to[3], to[4], to[5], to[6], to[7], to[8] }' "$1"
}
# missed PICTURE NAME: all that were not hit, and all
missed() { echo "$(($(total "$1" "$2") - $(total "$1" "$2_hit"))) $(total "$1" "$2")"; }

for picture in empty small large hostile; do
    write $picture purecov >$picture.pcx
    claim "the export of $picture parses back to our totals" same \
        "$(missed $picture blocks) $(missed $picture lines) $(missed $picture functions) \
$(total $picture files)" "$(read_export $picture.pcx)"
    # functions that were never called count as executed there where a line of theirs is marked
    "$QPROF_BIN/qprof" cover export --to=purecov -o back.pcx --force $picture.pcx 2>/dev/null
    [ $picture = empty ] ||
        claim "the tool reads $picture back: the same totals" same \
            "$(sed -n 's/^to\t//p' $picture.pcx | cut -f1-4,6-)" \
            "$(sed -n 's/^to\t//p' back.pcx | cut -f1-4,6-)"
done

# report FILE: lines, missed lines, functions, missed functions, calls
report() {
    "$QPROF_BIN/qprof" cover report --format=json "$1" 2>err | jq -r '.totals |
        "\(.lines) \(.lines - .lines_hit) \(.functions) \(.functions - .functions_hit) \(.calls)"'
}
cat >by-hand.pcx <<'END'
# an export as another program would write it: a line without a block, a block of three lines

to	1	3	2	6	1	2	1	1
di	src	1	3	2	6	1	2	1
fi	a.c	1	3	2	6	1	2
fu	main	0	2	0	4	7
bl	10	12	5
li	10	5
li	11	5
li	12	5
bl	14	14	7
li	14	7
efu
fu	unused	1	1	2	2	0
li	20	0
bl	20	20	0
li	21	0
efu
efi
edi
END
claim "an export by hand: 6 lines, 2 missed; 2 functions, 1 missed; 7 calls" same "6 2 2 1 7" \
    "$(report by-hand.pcx)"
claim "its lines have their counts" same "10:5 11:5 12:5 14:7 20:0 21:0" \
    "$("$QPROF_BIN/qprof" cover export --to=lcov by-hand.pcx | sed -n 's/^DA:\(.*\),\(.*\)/\1:\2/p' |
        xargs)"
"$QPROF_BIN/qprof" cover merge -o twice.qprof by-hand.pcx by-hand.pcx 2>/dev/null
claim "it can be merged" same "6 2 2 1 14" "$(report twice.qprof)"
claim "it says where it comes from" grep -q "imported *from PureCoverage export$" <<END
$("$QPROF_BIN/qprof" info by-hand.pcx)
END

# refused TEXT FILE: the message is that line
refused() {
    "$QPROF_BIN/qprof" cover report "$2" >out 2>err
    claim "$1" same "qprof cover report: $2: $1" "$(cat err)"
}
head -n 11 by-hand.pcx >cut.pcx
refused "line 11: it is cut off" cut.pcx
grep -v '^to\|^edi\|^di' by-hand.pcx >part.pcx
claim "a part of an export is one" same "6 2 2 1 7" "$(report part.pcx)"
sed 's/^efi/fn/' by-hand.pcx >bad.pcx
refused "line 19: not a record of PureCoverage's export, or not in its place" bad.pcx
sed 's/^li	11	5/li	11	many/' by-hand.pcx >bad.pcx
refused "line 9: expected a line and a count" bad.pcx
sed '/^fi/d' by-hand.pcx >bad.pcx
refused "line 5: a function outside of a file" bad.pcx
finish
