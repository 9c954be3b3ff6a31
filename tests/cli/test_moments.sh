#!/bin/sh
# test_moments.sh: messages and marks have their moments: in info, in a request that was kept whole, and in a trace.
. "$(dirname "$0")/lib.sh"
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
PATH=$QPROF_BIN:$PATH

cat >server.lua <<'END'
local qlua = require("qlua")
qlua.message("begins")
local function work(text)
    for i = 1, 1000 do tostring(i) end
    if text then qlua.message(text) qlua.mark(text .. " marked") end
end
qlua.request("GET /plain", nil, work)
qlua.request("GET /noted", nil, work, "in the request")
qlua.message("ends")
END
QPROF="-output=run.qprof -slowest=8/60s" qlua server.lua
qprof info --format=json run.qprof >info.json
claim "info: the texts in their order" same '[["annotation","begins",true],["annotation","in the request",true],["annotation","ends",true]]' \
    "$(jq -c '[.messages[] | [.kind, .text, .has_moment]]' info.json)"
claim "info: moments ascend, within the run" jq -e '[.messages[].at_ns] as $at | $at == ($at | sort) and $at[0] > 0 and
    $at[2] < .run.duration' info.json
claim "info, as text" grep -q '^ *annotation  *at .*s: in the request$' <<END
$(qprof info run.qprof)
END
show() { # ENDPOINT
    number=$(qprof requests --slowest --format=json run.qprof | jq ".requests[] | select(.endpoint == \"$1\") | .number")
    qprof requests --show="$number" --format=json run.qprof
}
show "GET /noted" >noted.json
claim "the request has what happened in it" same '[["annotation","in the request"],["user","in the request marked"]]' \
    "$(jq -c '[.marks[] | [.kind, .text]]' noted.json)"
claim "within its time" jq -e '.requests[0].elapsed_ns as $n | [.marks[].at_ns | . > 0 and . <= $n] | all' noted.json
claim "another request has none" same '[]' "$(show "GET /plain" | jq -c .marks)"
claim "as text" grep -q '  annotation  in the request$' <<END
$(qprof requests --show="$(jq '.requests[0].number' noted.json)" run.qprof)
END
claim "on a timeline" same '["annotation","in the request"]' "$(qprof requests --show="$(jq '.requests[0].number' noted.json)" \
    --to=chrome run.qprof | jq -c '[.traceEvents[] | select(.ph == "i") | [.cat, .name]][0]')"
QPROF="-output=traced.qprof -trace-output=traced.qtrace" qlua server.lua
claim "in the trace, between entries and exits" same "begins|in the request|in the request marked|ends" \
    "$(qprof trace dump --format=json traced.qtrace | jq -r 'select(.op == "mark") | .text' | paste -s -d '|')"
claim "on the timeline of other tools" same 1 "$(qprof trace export --to=chrome -o - traced.qtrace | grep -c 'in the request"')"
claim "the page with its timeline" ends 0 qprof html --trace=traced.qtrace -o page.html traced.qprof
finish
