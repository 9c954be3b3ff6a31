#!/bin/sh
# test_perfetto.sh: traces for Perfetto hold only fields of its format, and the paths, times,
# calls and threads that we know. perfetto.proto is the part of the format's description that we use.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need protoc protobuf-compiler
need jq jq

# decode FILE: as text
decode() { protoc -I "$root/tests/export" --decode=perfetto.protos.Trace perfetto.proto <"$1"; }

cat >stacks.awk <<'END'
# "THREAD PATH WEIGHT MORE", a line a sample, of what protoc decodes; numbers are looked up
$2 == "{" { level[++depth] = $1; if ($1 == "packet") n = more = iid = 0 }
$1 == "}" {
    if (level[depth] == "stack_sample")
        print thread[task], stack[callstack], weight, follower
    depth--
}
$1 == "iid:" { iid = $2; if (level[depth] == "callstacks") stack[iid] = "" }
$1 == "str:" && level[depth] == "function_names" { name[iid] = text() }
$1 == "frame_ids:" { stack[iid] = stack[iid] (stack[iid] == "" ? "" : ";") name[$2] }
$1 == "tid:" && level[depth] == "thread" { tid = $2 }
$1 == "thread_name:" { thread[tid] = text() }
$1 == "name:" && level[depth] == "stack_sample_async_context_descriptors" { thread[iid] = text() }
$1 == "tid:" || $1 == "async_id:" { task = $2 }
$1 == "callstack_iid:" { callstack = $2 }
$1 == "primary_weight:" { weight = $2; follower = "" }
$1 == "follower_weights:" { follower = $2 }
function text(s) { s = $0; sub(/^[^"]*"/, "", s); sub(/"$/, "", s); return s }
END
stacks() { decode "$1" | awk -f stacks.awk; }
unknown() { decode "$1" | grep -cE '^ *[0-9]+[:{ ]'; }

export_profile perfetto run
cat >wanted <<'END'
.main_1. main 14000 1
.main_1. main;f 5000 1
.main_1. main;f;g 3000 1
.main_1. main;f;g;f 2000 1
.main_1. main;leaf;1 2 1000 1
.co_2. co 7000 1
END
stacks run.perfetto >found
claim "samples are as worked out by hand" diff -u wanted found
claim "counters have names and units" same 'calls UNIT_COUNT wall UNIT_NANOSECONDS' \
    "$(decode run.perfetto | awk '$1 == "name:" || $1 == "unit:" { gsub(/"/, ""); print $2 }' |
        paste -sd ' ')"
claim "frames have file and line" same 1 \
    "$(decode run.perfetto | grep -A 1 'source_path_iid' | grep -c 'line_number: 21')"
# process; 2 counters, 2 threads, 5 functions of 3 packets, 6 paths of 2
claim "only the first packet clears" same '1 1,31 2' "$(decode run.perfetto |
    awk '$1 == "sequence_flags:" { n[$2]++ } END { print n[1], 1 "," n[2], 2 }')"
for name in run hostile deep; do
    export_profile perfetto $name
    claim "no field of $name is unknown" same 0 "$(unknown $name.perfetto)"
done
claim "hostile names: all of the time" same 13000 \
    "$(stacks hostile.perfetto | awk '{ n += $(NF - 1) } END { print n }')"
claim "paths of 5,001 frames end at 1,024" same '1024 2000' "$(stacks deep.perfetto |
    awk '{ n = split($2, frames, ";"); if (n > most) most = n; all += $3 } END { print most, all }')"
qprof export --to=perfetto --thread=2 run.qprof >one.perfetto
claim "one thread" same '.co_2. co 7000 1' "$(stacks one.perfetto)"
QPROF="-output=none.qprof -time=none" ./score 'main(' 'f(' ')' 'f(' ')' ')'
export_profile perfetto none
claim "a run without times has calls" same '.main_1. main 1,.main_1. main;f 2' \
    "$(stacks none.perfetto | sed 's/ $//' | paste -sd ,)"

# virtual threads
if [ -x "$QPROF_BIN/qlua" ]; then
    cat >co.lua <<'END'
local function body() for i = 1, 3 do coroutine.yield(i) end end
for i = 1, 2 do
    local co = coroutine.create(body)
    while coroutine.status(co) ~= "dead" do coroutine.resume(co) end
end
END
    QPROF="-output=co.qprof" "$QPROF_BIN/qlua" co.lua
    export_profile perfetto co
    claim "no field of a run of coroutines is unknown" same 0 "$(unknown co.perfetto)"
    qprof report --format=json co.qprof | jq -r '.threads[] | select(.calls > 0)
        | "\(.name) \(.calls)"' | sort >wanted
    stacks co.perfetto | awk '{ n[$1] += $NF } END { for (name in n) print name, n[name] }' |
        sort >found
    claim "virtual threads are async contexts" diff -u wanted found
    claim "... of that kind" same "$(wc -l <wanted | tr -d ' ')" \
        "$(decode co.perfetto | grep -c 'kind: "virtual thread"')"
fi
finish
