#!/bin/sh
# test_gcovr.sh: gcovr reads our JSON, counts what we count, adds up, and makes its own reports of
# it that count the same.
. "$(dirname "$0")/lib.sh"
need gcovr gcovr
need xmllint libxml2-utils
need jq jq
format=$(gcovr_format) || { echo "$format"; exit 77; }

# summary WORDS...: what hits prints, as gcovr counts it
summary() {
    gcovr -r . "$@" --json-summary - 2>complaints |
        jq -r '("line", "function", "branch") as $k
               | $k + (if $k == "branch" then "es" else "s" end)
                 + " \(.[$k + "_covered"]) \(.[$k + "_total"])"'
}
xpath() { xmllint --nonet --xpath "$1" "$2"; }

for picture in small large; do
    write $picture $format >$picture.json
    cp $picture.json $picture.copy
    sources $picture
    claim "gcovr sees all of $picture" same "$(hits $picture)" "$(summary -a $picture.json)"
    claim "... and has nothing to complain about" same '' "$(grep -v '(INFO)' complaints)"
    claim "gcovr adds $picture to itself" same "$(hits $picture)" \
        "$(summary -a $picture.json -a $picture.copy)"
    gcovr -r . -a $picture.json -a $picture.copy --json twice.json 2>/dev/null
    claim "... and every count doubles" same \
        "$(jq '[.files[].lines[].count] | add * 2' $picture.json)" \
        "$(jq '[.files[].lines[].count] | add' twice.json)"
    gcovr -r . -a $picture.json --html-details $picture.html --html-self-contained \
        --cobertura $picture.xml --sonarqube $picture.sonar --csv $picture.csv \
        >/dev/null 2>complaints
    claim "all reports of gcovr can be made" same '' "$(grep -v '(INFO)' complaints)"
    claim "its Cobertura report has our lines" same "$(total $picture lines_hit)" \
        "$(xpath 'string(/coverage/@lines-covered)' $picture.xml)"
    claim "its SonarQube report has our lines" same "$(total $picture lines)" \
        "$(xpath 'count(//lineToCover)' $picture.sonar)"
    claim "its HTML report has our lines" grep -q ">$(total $picture lines)</" $picture.html
done

# Format 0.6 is 0.3 with three more keys. Of main.lua's functions main, which has 4 of 4 blocks that count and one that
# is marked, work, which has 4 of 5, and the work that was never called:
write small gcovr >small.5
write small gcovr7 >small.7
claim "gcovr 5 and 7 read the same figures" same "$(jq -cS '.files' small.5)" "$(jq -cS '.files
    | del(.[].functions[] | .returned_count, .blocks_percent) | del(.[].lines[].branches[].blockno)' small.7)"
claim "... of formats 0.3 and 0.6" same '0.3 0.6' "$(jq -r '."gcovr/format_version"' small.5 small.7 | xargs)"

claim "... percentages of blocks" same '100 80 0' "$(jq -r '.files[] | select(.file == "main.lua").functions[].blocks_percent' small.7 | xargs)"

write hostile $format >hostile.json
claim "gcovr sees all of hostile names" same "$(hits hostile)" "$(summary -a hostile.json)"
finish
