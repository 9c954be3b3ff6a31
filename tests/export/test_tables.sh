#!/bin/sh
# test_tables.sh: profiles as tables: CSV that SQLite imports, JSON that fits its schema, the export
# file of Quantify.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need jq jq
need sqlite3 sqlite3
golden=$root/tests/export/golden

# ---- CSV ------------------------------------------------------------------------------------------
export_profile csv run
tr -d '\r' <run.csv >found
claim "CSV is as worked out by hand" diff -u "$golden/run.csv" found
ask() { sqlite3 :memory: ".import --csv $1 paths" "$2" 2>&1; }
claim "SQLite imports it" same 'f|2|7000,main|1|14000' "$(ask run.csv "
    SELECT function, sum(calls), sum(self_ns) FROM paths WHERE function IN ('f', 'main')
    GROUP BY function ORDER BY function" | paste -sd ,)"
export_profile csv hostile
claim "hostile names: all rows, all of the time" same '15|13000' "$(ask hostile.csv \
    'SELECT count(*), sum(self_ns) FROM paths')"
claim "... newlines stay" same 1 "$(ask hostile.csv \
    "SELECT count(*) FROM paths WHERE function = 'two' || char(10) || 'lines'")"
claim "... and no control character but these" same 0 \
    "$(tr -d '\r\n\t' <hostile.csv | LC_ALL=C grep -c '[[:cntrl:]]')"
record formula.qprof '=1+1(' 1 ')' '@f(' 1 ')'
export_profile csv formula
claim "formulas are none" same "'=1+1 '@f" "$(ask formula.csv \
    'SELECT function FROM paths WHERE calls > 0' | paste -sd ' ')"

# ---- JSON -----------------------------------------------------------------------------------------
fits() {
    qprof export --to=json "$1" >out.json &&
        same '' "$(jq -r --slurpfile schema "$root/docs/schema/export.json" \
            -f "$root/tests/cli/schema.jq" out.json 2>&1 | head -5)"
}
record counted.qprof 'main(' ':1' 3 '#2*5' ')'
QPROF="-output=none.qprof -time=none" ./score 'main(' ')'
for profile in *.qprof; do
    claim "JSON of $profile fits its schema" fits "$profile"
done
export_profile json run
qprof report --format=json run.qprof >report.json
# but for the arguments, which exports leave out
claim "run, threads, losses are those of the report" same \
    "$(jq -S '[(.run | .arguments = null), .threads, .losses]' report.json)" \
    "$(jq -S '[.run, .threads, .losses]' run.json)"
claim "methods are those of the report" \
    same "$(jq -S '[.methods[] | del(.average_total, .self_percent, .total_percent)] | sort_by(.name)' report.json)" \
    "$(jq -S '[.methods[1:][] | del(.id, .blocks) | select(.calls > 0)] | sort_by(.name)' run.json)"
claim "no function is the recorder's own" same '.root. co f g leaf;1 2 main' \
    "$(jq -r '[.methods[].name] | [.[0]] + (.[1:] | sort) | join(" ")' run.json)"
record known.qprof 'main(' 'never?' ')'
export_profile json known
claim "one that was never called is there, and ids are positions" same '[[0,".root."],[1,"main"],[2,"never"]]' \
    "$(jq -c '[.methods[] | [.id, .name]]' known.json)"
QPROF="-output=small.qprof -memory-limit=1m" ./score 'main(' 'f*40000(' 1 ')*40000' ')'
export_profile json small
claim "what did not fit is there" same '[true,true]' "$(jq -c '[.methods as $m
    | .methods[] | select(.name == "<overflow>") | (.calls > 0, $m[.id].name == .name)]' small.json)"
QPROF="-output=estimated.qprof -time=adaptive" ./score 'main(' $(yes 'f( 1 ) f( 9 ) f( 2 ) g( 5 )' | head -1000) ')'
export_profile json estimated
intervals() { jq -c '[.methods[] | select(.name != ".root.") | [.name, .self_half]] | sort'; }
claim "intervals of estimates are those of the report" same \
    "$(qprof report --format=json estimated.qprof | intervals)" "$(intervals <estimated.json)"
claim "... which export --help says" grep -q 'Intervals of estimated times are in csv, json and sqlite' <<END
$(qprof export --help)
END
claim "paths have methods, callers, figures" same 'f < g < f < main 1 2000 2000' "$(jq -r '
    def way($nodes; $names): . as $n | $names[$n.method],
        ($nodes[$n.parent - 1] | select(.method > 0) | way($nodes; $names));
    [.methods[].name] as $names | .nodes as $nodes | $nodes[5]
    | "\([way($nodes; $names)] | join(" < ")) \(.calls) \(.self) \(.total)"' run.json)"
export_profile json counted
claim "blocks have counts and times" same '[[1,0,0],[2,0,3000],[3,5,0]]' "$(jq -c \
    '.methods[] | select(.name == "main").blocks | map([.line, .count, .self])' counted.json)"
qprof export --to=json --thread=2 run.qprof >one.json
claim "one thread" same '[2,1,7000]' "$(jq -c '[.threads[0].number, ([.nodes[].calls] | add),
    .methods[0].self]' one.json)"

# ---- Quantify -------------------------------------------------------------------------------------
export_profile quantify run
awk -F '\t' -v OFS='\t' '$1 == "Program" { $3 = "PID"; $4 = "HOST"; $6 = "VERSION" }
    { sub(/qprof [0-9.]+/, "qprof VERSION"); print }' run.quantify >found
claim "Quantify's export file is as worked out by hand" diff -u "$golden/run.quantify" found
export_profile quantify hostile
claim "hostile names: every record has its fields" same 'Caller 5,Comment 2,Function 8,Keyword 6 7 9,Program 6' \
    "$(awk -F '\t' '{ seen[$1 " " NF] } END { for (s in seen) print s }' hostile.quantify | sort |
        awk '$1 == last { printf " %s", $2; next } { printf "%s%s", last ? "," : "", $0; last = $1 }')"
claim "... and none is a formula" same "'=1+1 '@f()" "$(awk -F '\t' '$1 == "Function" { print $2 }' \
    hostile.quantify | grep '[=@]' | grep -v ^fn | grep -v ^calls | paste -sd ' ')"
claim "... and control nothing" same 0 \
    "$(tr -d '\t\n' <hostile.quantify | LC_ALL=C grep -c '[[:cntrl:]]')"
claim "... with all of the time" same 13000 \
    "$(awk -F '\t' '$1 == "Function" { n += $5 } END { print n }' hostile.quantify)"
claim "time of hidden functions is .root.'s" grep -qx "$(printf 'Function\t.root.\t\t0\t14000\t32000\t\t')" <<END
$(qprof export --to=quantify --hide=main run.qprof)
END
record tab.qprof "$(printf 'a\tb')(" 1 ')'
claim "tabs become blanks" grep -q "^$(printf 'Function\ta b\tscore.src')" <<END
$(qprof export --to=quantify tab.qprof)
END
finish
