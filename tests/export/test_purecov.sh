#!/bin/sh
# test_purecov.sh: a reader that knows the records of PureCoverage's export alone arrives at our
# totals: from the sums that it contains, and from its lines and functions (qii checklist, 48).
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
done
finish
