#!/bin/sh
# test_memory.sh: allocated bytes and objects, in every format that can hold them, as its own tool reads
# them; and in place of time in reports.
. "$(dirname "$0")/lib.sh"
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
need jq jq
need sqlite3 sqlite3
PATH=$QPROF_BIN:$PATH

QPROF="-output=run.qprof -allocations=yes" qlua "$root/tests/lua/memory/work.lua"
qprof export --to=json run.qprof >run.json
bytes=$(jq '[.nodes[].bytes] | add' run.json)
objects=$(jq '[.nodes[].objects] | add' run.json)
of_tables=$(jq '[.methods[] | select(.name == "tables") | .bytes] | add' run.json)
claim "the sums of .root. are those of all paths" same "[$bytes,$objects,$bytes]" \
    "$(jq -c '.methods[0] | [.bytes, .objects, .bytes_total]' run.json)"
claim "something was allocated" test "$bytes" -gt 1000000

qprof export --to=sqlite -o run.db run.qprof
claim "SQLite: paths" same "$bytes|$objects" "$(sqlite3 run.db 'SELECT sum(bytes), sum(objects) FROM paths')"
claim "SQLite: functions" same "$of_tables" \
    "$(sqlite3 run.db "SELECT sum(bytes) FROM functions WHERE name = 'tables'")"
qprof export --to=csv run.qprof >run.csv
claim "CSV" same "$bytes" "$(sqlite3 :memory: '.import --csv run.csv p' 'SELECT sum(bytes) FROM p')"
for format in folded speedscope; do
    qprof export --to=$format --bytes run.qprof >bytes.$format
done
claim "folded stacks" same "$bytes" "$(awk '{ n += $NF } END { print n }' bytes.folded)"
claim "speedscope: of one value" same "$bytes" "$(jq '[.profiles[].endValue] | add' bytes.speedscope)"
claim "speedscope: its unit" same '["bytes"]' "$(jq -c '[.profiles[].unit] | unique' bytes.speedscope)"
qprof export --to=speedscope run.qprof >run.speedscope
claim "speedscope: profiles of bytes follow those of time" same "$bytes" \
    "$(jq '[.profiles[] | select(.unit == "bytes") | .endValue] | add' run.speedscope)"
qprof export --to=firefox run.qprof >run.firefox
# what no call allocated has no stack there
claim "Firefox: allocations" same "$(jq '[.nodes[] | select(.method != 0) | .bytes] | add' run.json)" \
    "$(jq '[.threads[].nativeAllocations // {weight: []} | .weight[]] | add' run.firefox)"
claim "Firefox: their stacks exist" jq -e '[.threads[] | .stackTable.length as $n |
    .nativeAllocations // {stack: []} | .stack[] < $n] | all' run.firefox
qprof export --to=callgrind run.qprof >run.callgrind
claim "callgrind: the events" same "events: wall_ns Calls Bytes Objects" \
    "$(grep '^events:' run.callgrind | cut -d ' ' -f 1-5)"
claim "callgrind: the summary" same "$bytes $objects" "$(awk '/^summary:/ { print $4, $5 }' run.callgrind)"
claim "callgrind: self costs add up to it" same "$bytes" \
    "$(awk '/^calls=/ { getline; next } /^[0-9]+ [0-9 ]+$/ { n += $4 } END { print n }' run.callgrind)"
claim "formats of several values refuse --bytes" ends 2 qprof export --to=pprof --bytes run.qprof
qprof export --to=pprof -o run.pprof run.qprof
if command -v go >/dev/null; then
    claim "pprof: bytes" same "$bytes" "$(go tool pprof -sample_index=alloc_space -unit=B -top run.pprof 2>/dev/null |
        sed -n 's/.* of \([0-9]*\)B total.*/\1/p')"
    claim "pprof: objects" same "$objects" "$(go tool pprof -sample_index=alloc_objects -top run.pprof 2>/dev/null |
        sed -n 's/.* of \([0-9]*\) total.*/\1/p')"
fi
claim "pprof, read back by qprof" same "$of_tables" "$(qprof report --sample-index=alloc_space --format=json run.pprof |
    jq '[.methods[] | select(.name == "tables") | .self] | add')"

# ---- beside time -----------------------------------------------------------------------------------
qprof tree --format=json run.qprof >tree.json
claim "the tree: all paths" same "[$bytes,$objects]" "$(jq -c '[([.nodes[].bytes] | add), ([.nodes[].objects] | add)]' tree.json)"
claim "the tree: with what they called" same "$bytes" "$(jq '[.nodes[] | select(.parent == 0) | .bytes_total] | add' tree.json)"
claim "CSV of the tree" same "$bytes" "$(qprof tree --format=csv run.qprof >tree.csv &&
    sqlite3 :memory: '.import --csv tree.csv p' 'SELECT sum(bytes) FROM p')"
counted() { echo "$1" | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta'; }
claim "the tree as text has a column" grep -q 'Bytes total  *Bytes ' <<END
$(qprof tree run.qprof)
END
claim "annotate: of the function" grep -q "\* allocated $(counted "$of_tables") bytes in " <<END
$(qprof annotate tables run.qprof)
END
claim "detail" grep -q "allocated  *$(counted "$of_tables") bytes in " <<END
$(qprof detail tables run.qprof)
END

# ---- in place of time ------------------------------------------------------------------------------
for value in bytes alloc_space; do
    qprof report --sample-index=$value --format=json run.qprof >value.json
    claim "$value: self" same "$of_tables" "$(jq '[.methods[] | select(.name == "tables") | .self] | add' value.json)"
    claim "$value: the whole and its unit" same "[$bytes,\"bytes\"]" "$(jq -c '.run | [.total, .unit]' value.json)"
done
claim "objects" same "$objects" "$(qprof report --sample-index=objects --format=json run.qprof | jq .run.total)"
claim "the tree" same "$bytes" "$(qprof tree --sample-index=bytes --format=json run.qprof | jq '[.nodes[].self] | add')"
claim "no difference" same '[]' "$(qprof diff --sample-index=bytes --format=json run.qprof run.qprof |
    jq -c '[.rows[].self.change] | unique')"
claim "the page" ends 0 qprof html --sample-index=bytes -o bytes.html run.qprof
claim "the page names the unit" grep -q '"unit":"bytes"' bytes.html
qprof report --sample-index=bytes run.qprof >value.text
claim "no time and no clock is in the head" sh -c '! grep -q "of the time\|clock:\|waiting" value.text'
claim "nor in JSON" same '[false,0,[]]' "$(qprof report --sample-index=bytes --format=json run.qprof |
    jq -c '[.run.waits_known, .run.off, [.methods[] | select(has("self_off"))]]')"
claim "an unknown value" same "qprof report: run.qprof: no value x (available: time, bytes, objects)" \
    "$(qprof report --sample-index=x run.qprof 2>&1)"
QPROF=-output=plain.qprof qlua -e 'local t = {}'
claim "a run without allocations" same "qprof report: plain.qprof: no allocations were recorded (-allocations=yes)" \
    "$(qprof report --sample-index=bytes plain.qprof 2>&1)"
claim "and its order" ends 2 qprof report --sort=bytes plain.qprof

# ---- waiting, as another value ------------------------------------------------------------------------
cat >nap.lua <<'END'
local function nap() io.popen("sleep 0.05"):close() end
nap() nap()
END
QPROF=-output=nap.qprof qlua nap.lua
qprof export --to=sqlite -o nap.db nap.qprof
off=$(qprof report --format=json nap.qprof | jq '[.methods[].self_off] | add')
claim "it waited" test "$off" -gt 50000000
claim "SQLite: functions" same "$off" "$(sqlite3 nap.db 'SELECT sum(self_off) FROM functions')"
claim "SQLite: with what they called" same "$(qprof report --format=json nap.qprof | jq '.methods[] | select(.name == "nap") | .total_off')" \
    "$(sqlite3 nap.db "SELECT total_off FROM functions WHERE name = 'nap'")"
claim "the tree" same "$(qprof report --format=json nap.qprof | jq '.methods[] | select(.name == "nap") | .total_off')" \
    "$(qprof tree --format=json nap.qprof | jq '(.methods[] | select(.name == "nap") | .id) as $id | [.nodes[] | select(.method == $id) | .total_off] | add')"
claim "annotate: of the function" grep -q '\* waiting .*, with what it called ' <<END
$(qprof annotate nap nap.qprof)
END

claim "most bytes first" same "$(jq -r '[.methods[1:][]] | max_by(.bytes) | .name' run.json)" \
    "$(qprof report --sort=bytes --format=json run.qprof | jq -r '.methods[0].name')"
finish
