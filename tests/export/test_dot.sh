#!/bin/sh
# test_dot.sh: the call graph: exact text, and what Graphviz reads and draws of it.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need dot graphviz
need jq jq

# edges FILE: "CALLER > CALLEE THICKNESS", a line an edge, as dot sees it; * is highlighted
edges() {
    dot -Tjson "$1" | jq -r '[.objects[].label | split("\\n")[0]] as $names | .edges[]
        | "\($names[.tail]) > \($names[.head]) \(.penwidth)\(if .color == "#c2410c" then "*" else "" end)"' |
        sort
}
export_profile dot run
claim "the graph is as worked out by hand" diff -u "$root/tests/export/golden/run.dot" run.dot
cat >wanted <<'END'
.root. > co 2.14
.root. > main 6.36*
f > g 1.67
g > f 0.50
main > f 2.84
main > leaf;1 2 0.73
END
edges run.dot >found
claim "dot reads functions and the thickness of edges" diff -u wanted found
dot -Tsvg run.dot >run.svg 2>complaints
claim "dot draws it" grep -q '<svg' run.svg
claim "... and complains of nothing" same '' "$(cat complaints)"

qprof export --to=dot --focus=f run.qprof >f.dot
claim "a focus is 100 %" grep -q '"f\\n2 calls\\nF 7.000 us (70.0 %)\\nF+D 10.000 us (100.0 %)"' f.dot
claim "... and the root of the graph" same '.root. > f 8.00*' "$(edges f.dot | head -1)"
qprof export --to=dot --calls --thread=1 run.qprof >calls.dot
claim "calls in place of times: f has most" same '.root. > main 2.00*,main > f 2.00*' \
    "$(edges calls.dot | grep '\*' | paste -sd ,)"

# 30 functions below main: 20 have most time, main among them
words=
for i in $(seq 10 39); do words="$words f$i( $i )"; done
# shellcheck disable=SC2086
record wide.qprof 'main(' $words ')'
export_profile dot wide
claim "20 functions and .root." same 21 "$(grep -c '^  f[0-9]* \[' wide.dot)"
claim "main says how many are left out" grep -q '"main.*\\n19 of 30 callees shown"' wide.dot
claim "the ones with least time are" same 0 "$(grep -c '"f20\\n' wide.dot)"
claim "... the others are not" same 1 "$(grep -c '"f21\\n' wide.dot)"

export_profile dot hostile
dot -Tsvg hostile.dot >hostile.svg 2>complaints
claim "hostile names are drawn" grep -q '</svg>' hostile.svg
claim "... as they are" grep -qF '&lt;/script&gt;&quot;&amp;' hostile.svg
claim "... and nothing is complained of" same '' "$(cat complaints)"
claim "... and control nothing" same 0 "$(tr -d '\n' <hostile.dot | LC_ALL=C grep -c '[[:cntrl:]]')"
export_profile dot deep
claim "depth is not limited" same '.root. > main 8.00*' "$(edges deep.dot | head -1)"
finish
