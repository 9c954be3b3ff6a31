#!/bin/sh
# test_metrics.sh: metrics of the host, in reports, sums, stores and cuts, and in every format that can hold them, as
# its own tool reads them.
. "$(dirname "$0")/lib.sh"
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
need jq jq
PATH=$QPROF_BIN:$PATH

# Each of 20 rounds reads 10 times 50 rows in list(), and 1 in item().
cat >rows.lua <<'END'
local qlua = require("qlua")
local pages = tonumber(arg[1])
local rows, hits = qlua.metric("rows", "rows"), qlua.metric("cache hits")
assert(rows == qlua.metric("rows") and rows ~= hits)
local function read(n) qlua.add(rows, n) end
local function list() for page = 1, pages do read(50.9) end end
local function item() read(1) qlua.add(hits) end
for i = 1, 20 do list() item() end
END
claim "without a recorder" ends 0 qlua rows.lua 10
QPROF="-output=run.qprof -labels=version=1" qlua rows.lua 10
QPROF="-output=more.qprof -labels=version=2" qlua rows.lua 12
metric() { # METRIC NAME FIGURE: of a function
    qprof report --metric="$1" --format=json run.qprof |
        jq "[.methods[] | select(.name == \"$2\") | .$3] | add"
}
claim "self of the function that reads" same 10020 "$(metric rows read self)"
claim "total of list()" same 10000 "$(metric rows list total)"
claim "self of list()" same 0 "$(metric rows list self)"
claim "total of item()" same 20 "$(metric rows item total)"
claim "another metric" same 20 "$(metric "cache hits" item self)"
claim "calls stay" same 220 "$(metric rows read calls)"
claim "the whole and its unit" same '[10020,"rows","rows"]' \
    "$(qprof report --metric=rows --format=json run.qprof | jq -c '.run | [.total, .unit, .clock]')"
claim "without a unit the name is it" same '"cache hits"' \
    "$(qprof report --metric="cache hits" --format=json run.qprof | jq .run.unit)"
claim "info has the sums" same '[["rows","rows",10020],["cache hits",null,20]]' \
    "$(qprof info --format=json run.qprof | jq -c '[.metrics[] | [.metric, .unit, .sum]]')"
claim "the tree" same 10020 "$(qprof tree --metric=rows --format=json run.qprof | jq '[.nodes[].self] | add')"
claim "detail: callers of read" same '[["item",20],["list",10000]]' "$(qprof detail read --metric=rows --format=json run.qprof |
    jq -c '[.callers[] | [.name, .time]] | sort')"
claim "diff: 20 times 2 pages of 50 more" same 2000 "$(qprof diff --metric=rows --format=json run.qprof more.qprof |
    jq '.rows[] | select(.name == "read") | .self.change')"
qprof merge -o sum.qprof run.qprof more.qprof
claim "a sum adds them" same '[22040,40]' "$(qprof info --format=json sum.qprof | jq -c '[.metrics[].sum]')"
claim "the page" ends 0 qprof html --metric=rows -o rows.html run.qprof
claim "the page names the unit" grep -q '"unit":"rows"' rows.html
claim "what it says first" grep -qF 'itself has 100.0 % of the rows' rows.html
claim "and the command that shows it" grep -qF 'qprof report --metric=rows --filter=read run.qprof' rows.html
claim "the figure is in what that prints" grep -Eq '^read +220 +10,020 +100\.0' "$(qprof report --metric=rows --filter=read run.qprof >out && echo out)"
qprof html --metric="cache hits" -o hits.html run.qprof
claim "also where the name is two words" grep -qF "qprof report '--metric=cache hits' --filter=item run.qprof" hits.html
claim "an unknown metric" same "qprof report: run.qprof: no metric x (available: rows, cache hits)" \
    "$(qprof report --metric=x run.qprof 2>&1)"
claim "two values" ends 2 qprof report --metric=rows --sample-index=bytes run.qprof
QPROF="-output=none.qprof" qlua -e 'local t = {}'
claim "a run without metrics" same "qprof report: none.qprof: no metric rows: the host defined none" \
    "$(qprof report --metric=rows none.qprof 2>&1)"
claim "wrong arguments raise errors" ends 0 qlua -e 'local q = require "qlua"
    local m = q.metric("m")
    for _, f in ipairs { function() q.metric("") end, function() q.add(0, 1) end, function() q.add(17, 1) end,
        function() q.add(m, -1) end, function() q.add(m, 0/0) end, function() q.add("x") end } do assert(not pcall(f)) end'

# ---- formats ---------------------------------------------------------------------------------------
for format in pprof callgrind speedscope folded cpuprofile firefox perfetto csv; do
    claim "$format" ends 0 qprof export --to=$format --metric=rows -o run.$format run.qprof
done
claim "folded stacks" same 10020 "$(awk '{ n += $NF } END { print n }' run.folded)"
claim "folded stacks: a path" same 10000 "$(sed -n 's/.*;list;read \([0-9]*\)$/\1/p' run.folded)"
claim "speedscope: a profile beside that of time" same '["nanoseconds","none"] 10020' \
    "$(jq -r '"\([.profiles[].unit] | unique) \([.profiles[] | select(.name | endswith(", rows")) | .endValue] | add)"' run.speedscope)"
claim "callgrind: the events" same "events: wall_ns Calls rows" "$(grep '^events:' run.callgrind | cut -d ' ' -f 1-4)"
claim "callgrind: the summary" same 10020 "$(awk '/^summary:/ { print $4 }' run.callgrind)"
claim "callgrind: self costs add up to it" same 10020 \
    "$(awk '/^calls=/ { getline; next } /^[0-9]+ [0-9 ]+$/ { n += $4 } END { print n }' run.callgrind)"
qprof export --to=callgrind --metric="cache hits" -o hits.callgrind run.qprof
claim "callgrind: a name is one word" same "cache_hits" "$(awk '/^events:/ { print $4 }' hits.callgrind)"
if command -v callgrind_annotate >/dev/null; then
    claim "callgrind, read by its own tool" same 10,020 \
        "$(callgrind_annotate --show=rows --sort=rows run.callgrind | sed -n 's/^ *\([0-9,]*\) .*PROGRAM TOTALS.*/\1/p')"
fi
if command -v go >/dev/null; then
    claim "pprof: the sum" same 10020 "$(go tool pprof -sample_index=rows -top run.pprof 2>/dev/null |
        sed -n 's/.* of \([0-9]*\)rows total.*/\1/p')"
fi
claim "pprof, read back by qprof" same 10020 "$(qprof report --sample-index=rows --format=json run.pprof |
    jq '[.methods[] | select(.name == "read") | .self] | add')"
qprof export --to=pprof -o plain.pprof run.qprof
claim "pprof: times are beside it" same "$(qprof report --format=json plain.pprof | jq .run.total)" \
    "$(qprof report --format=json run.pprof | jq .run.total)"
claim "two values of one format" ends 2 qprof export --to=folded --metric=rows --calls run.qprof

# ---- stores and cuts -------------------------------------------------------------------------------
claim "a store takes them" ends 0 qprof store import store.db run.qprof more.qprof
claim "and adds them up" same 22040 "$(qprof store tree --metric=rows --format=json store.db | jq '[.nodes[].self] | add')"
claim "top as well" same 22040 "$(qprof store top --metric=rows --format=json store.db | jq '[.methods[] | select(.name == "read") | .self] | add')"
claim "the difference of two versions" same 2000 "$(qprof store diff --metric=rows --base=1 --new=2 --format=json store.db |
    jq '.rows[] | select(.name == "read") | .self.change')"
mkdir cuts
cat >long.lua <<'END'
local qlua = require("qlua")
local function read(n) qlua.add(qlua.metric("rows"), n) end
for n = 1, 4 do read(10 ^ n) qlua.snapshot() end
read(7)
END
QPROF="-output=long.qprof -spool=cuts -spool-every=0" qlua long.lua
claim "what each cut has" same "10 100 1000 10000 7" "$(for cut in cuts/*.qprof; do
    qprof info --format=json "$cut" | jq '.metrics[0].sum'; done | paste -s -d ' ')"
finish
