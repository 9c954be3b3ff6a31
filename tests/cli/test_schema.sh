#!/bin/sh
# test_schema.sh: every JSON output has the shape of its schema, and the checker sees what differs.
. "$(dirname "$0")/lib.sh"

problems() { jq -r --slurpfile schema "$root/docs/schema/$1.json" -f "$here/schema.jq" "$2"; }
fits() {
    found=$(problems "$1" "$2" 2>&1 | head -5)
    same '' "$found"
}

record exact.qprof '[a' 'k(' 1 ')' ']!' 'main(' 10 'f(' '#0*3' 5 ')' 'g(' ')' ')' "$(printf 'odd\377\033(')" 1 ')'
QPROF='-slowest=2 -output=slowest.qprof' ./score '[a' 'k(' 1 ')' ']!' '[a' 'k(' 2 'f(' 1 ')' ')' ']'
qprof requests --show=1 --format=json slowest.qprof > out.json
claim "requests --show fits its schema" fits requests-show out.json
qprof store import slow.db slowest.qprof >/dev/null
qprof store slow --format=json slow.db > out.json
claim "store slow fits its schema" fits store-slow out.json
qprof store slow --show=1 --format=json slow.db > out.json
claim "store slow --show fits its schema" fits store-slow-show out.json
for mode in adaptive sampled none; do
    QPROF="-time=$mode -output=$mode.qprof" ./score 'main(' 10 'f(' 5 ')' ')'
done
QPROF=-output=counts.qprof\ -clock=counts ./score 'main(' 'f(' ')' ')'
qprof run -o killed.qprof -- ./score 'main(' 10 'f(' kill 2>/dev/null

for profile in *.qprof; do
    for command in report tree annotate info check; do
        qprof $command --format=json "$profile" > out.json
        claim "$command of $profile fits its schema" fits $command out.json
        claim "$command of $profile holds something" test -s out.json
    done
    qprof requests --format=json "$profile" > out.json
    claim "requests of $profile fits its schema" fits requests out.json
    qprof requests --slowest --format=json "$profile" > out.json
    claim "requests --slowest of $profile fits its schema" fits requests-slowest out.json
    for form in '' --routes=2; do
        qprof detail f $form "$profile" --format=json > out.json
        claim "detail $form of $profile fits its schema" fits detail out.json
    done
done

for form in '' --paths --threads --sort=total; do
    for base in exact adaptive none; do
        qprof diff $form --format=json $base.qprof exact.qprof > out.json
        claim "diff $form of $base and exact fits its schema" fits diff out.json
    done
done
qprof diff --format=json --base exact.qprof sampled.qprof --new exact.qprof > out.json
claim "diff of several runs fits its schema" fits diff out.json

for limits in --fail-if-slower=1 --fail-if-more=calls:0 '--fail-if-slower=1 --fail-if-more=calls:0'; do
    qprof diff $limits --format=json --base exact.qprof sampled.qprof --new exact.qprof > out.json 2>/dev/null
    claim "diff $limits fits its schema" fits diff out.json
    claim "diff $limits has a gate" jq -e .gate.verdict out.json
done

# ---- the schemas are made of the tool's tables of fields ------------------------------------------
for name in requests locks report report-by tree detail annotate info check doctor summary list list-live diff export trace-stat store-list store-series store-dead \
    store-slow store-slow-show requests-slowest requests-show \
    cover cover-check cover-context cover-summary cover-diff cover-changes; do
    schema=$root/docs/schema/$name.json
    claim "docs/schema/$name.json: made by qprof help --schema=$name" sh -c \
        "qprof help --schema=$name | cmp - '$schema'"
done

# ---- the checker itself ---------------------------------------------------------------------------
qprof report --format=json exact.qprof > good.json
jq 'del(.run.unit)' good.json > bad.json
claim "a field that is missing is seen" same '.run.unit: is missing' "$(problems report bad.json)"
jq '.methods[1].calls = "3"' good.json > bad.json
claim "another type is seen" same '.methods[1].calls: is string, not integer' "$(problems report bad.json)"
jq '.methods[0].weight = 3' good.json > bad.json
claim "a field too many is seen" same '.methods[0].weight: is not in the schema' "$(problems report bad.json)"
jq '.run.state = "lost"' good.json > bad.json
claim "a word that is none is seen" same '.run.state: lost' "$(problems report bad.json)"
jq '.diagnostics.x = 0' good.json > bad.json
claim "a number out of range is seen" same '.diagnostics.x: 0 < 1' "$(problems report bad.json)"
finish
