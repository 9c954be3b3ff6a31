#!/bin/sh
# test_qlua.sh: coverage of real programs, several runs together, through the tool: what lcov,
# gcovr, xmllint and PureCoverage's reader count is what cover report counts.
. "$(dirname "$0")/lib.sh"
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
need lcov lcov
need gcovr gcovr
need xmllint libxml2-utils
need jq jq
lcov_options
gcovr=$(gcovr_format) || { echo "$gcovr"; exit 77; }
PATH=$QPROF_BIN:$PATH

# Relative names: these programs lie below the folder of the test.
cp "$root"/tests/lua/programs/*.lua .
for program in *.lua; do
    qprof run -o "${program%.lua}.qprof" -collect=coverage -- qlua "$program" >run.out 2>&1
done
qprof cover report --format=json *.qprof >report.json 2>report.err
# all: what lib.sh calls hits, of the report
all=$(jq -r '.totals | "lines \(.lines_hit) \(.lines)", "functions \(.functions_hit) \(.functions)",
    "branches \(.branches_hit) \(.branches)"' report.json)
jq -r '.files[].path' report.json >paths
claim "all programs are there" same '' "$(ls *.lua | grep -vxFf paths)"
claim "some lines, functions and branches were missed, some not" jq -e '.totals
    | .lines_hit > 100 and .lines > .lines_hit and .functions_hit > 10
      and .branches_hit > 10 and .branches > .branches_hit' report.json
for format in lcov cobertura gcovr sonarqube luacov purecov json; do
    claim "$format is written" ends 0 qprof cover export --to=$format -o out.$format *.qprof
done

[ "$gcovr" = gcovr ] || qprof cover export --force --to=gcovr --gcovr7 -o out.gcovr *.qprof

lcov $branches $ignored --summary out.lcov >lcov.out 2>lcov.err
# without code that has no file
in_files=$(jq -r '[.files[] | select(.path | startswith("[") | not)] |
    "lines \([.[].lines[] | select(.hits > 0)] | length) \([.[].lines[]] | length)",
    "functions \([.[].functions[] | select(.hits > 0)] | length) \([.[].functions[]] | length)",
    "branches \([.[].branches[] | select(.hits > 0)] | length) \([.[].branches[]] | length)"' report.json)
claim "lcov counts the same" same "$in_files" \
    "$(sed -n 's/^ *\([a-z]*\)\.*: .*% (\([0-9]*\) of \([0-9]*\) .*/\1 \2 \3/p' lcov.out)"
claim "lcov has nothing to complain about" same '' "$(grep -v '^Reading' lcov.err)"
claim "lcov is given absolute paths" grep -qx "SF:$PWD/errors.lua" out.lcov
claim "gcovr counts the same" same "$all" "$(gcovr -r . -a out.gcovr --json-summary - 2>/dev/null |
    jq -r '"lines \(.line_covered) \(.line_total)",
        "functions \(.function_covered) \(.function_total)",
        "branches \(.branch_covered) \(.branch_total)"')"
xpath() { xmllint --nonet --xpath "$1" "$2"; }
claim "Cobertura has the same" same "$all" "$(
    echo "lines $(xpath 'count(//class/lines/line[@hits > 0])' out.cobertura)" \
        "$(xpath 'count(//class/lines/line)' out.cobertura)"
    echo "functions $(xpath 'count(//method[lines/line/@hits > 0])' out.cobertura)" \
        "$(xpath 'count(//method)' out.cobertura)"
    echo "branches $(xpath 'string(/coverage/@branches-covered)' out.cobertura)" \
        "$(xpath 'string(/coverage/@branches-valid)' out.cobertura)")"
claim "PureCoverage's export has the same" same "$all" "$(awk -F '\t' '$1 == "to" {
    print "lines", $5 - $4, $5; print "functions", $7 - $6, $7 }' out.purecov
    echo "$all" | grep branches)"
claim "luacov has as many lines" same "$(jq .totals.lines_hit report.json)" "$(grep -v : out.luacov |
    tr ' ' '\n' | grep -c '[1-9]')"
claim "JSON is that of cover report" same "$(jq .totals,.files report.json)" \
    "$(jq .totals,.files out.json)"
finish
