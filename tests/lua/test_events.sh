#!/bin/sh
# test_events.sh [BUILD]: event triggers that a configuration file gives qlua: slow calls and what
# happened around them, depth, memory, rates; what fired is in the profile, in traces, in exports.
. "$(dirname "$0")/lib.sh"
cd "$tmp"

# marks NAME MARK: how many marks of that name are in NAME.qprof
marks() {
    "$bin/qprof" info --format=json "$1.qprof" | jq --arg mark "$2" '[.marks[] | select(.name == $mark)] | length'
}
# expect WHAT EXPECTED ACTUAL
expect() { [ "$2" = "$3" ] || complain "$1: expected $2, got $3"; }

# ---- a call that takes longer --------------------------------------------------------------------
cat >slow.lua <<'END'
local function pause(seconds)
  local ends = os.clock() + seconds
  repeat for i = 1, 1000000 do end until os.clock() > ends -- few calls: the rings hold them
end
local function request(i)
  if i == 7 then pause(0.5) end
end
local function answer(i) request(i) end
for i = 1, 20 do answer(i) end
END
cat >slow.conf <<'END'
trigger all on : answer
event-trigger slow   event=fn-exit object=request longer=400ms action=snapshot deferred=no
event-trigger window event=fn-exit object=request longer=400ms action=dump
event-trigger never  event=fn-exit object=request longer=3600s
triggering on
END
QPROF="-output=slow-%n.qprof -collect=profile,trace -config=slow.conf" "$bin/qlua" slow.lua ||
    complain "slow.lua fails"
expect "calls that took long" 1 "$(marks slow-1 slow)"
expect "the same, deferred" 1 "$(marks slow-1 window)"
expect "calls that took an hour" 0 "$(marks slow-1 never)"
expect "what the mark says of it" '"request","fn-exit","ns",true,true' "$("$bin/qprof" info --format=json slow-1.qprof |
    jq -r '.run.duration as $whole | .marks[] | select(.name == "slow") |
        [.method, .event, .value_unit, (.value >= 400e6 and .value < $whole), (.at_ns <= $whole and .thread != null)] | @csv')"
expect "the snapshot's label" slow "$("$bin/qprof" info --format=json slow-0.qprof | jq -r .run.label)"
expect "calls when it was taken" 7 "$(calls slow-0.qprof request)"
expect "calls at the end" 20 "$(calls slow-1.qprof request)"
# the window around it: in the snapshot's rings and in the file of the dump, whose name is the dataset's
"$bin/qprof" trace dump --format=json slow-0.qprof | jq -r 'select(.op == "entry") | .method' >ring.out
expect "requests in the snapshot's rings" 7 "$(grep -cx request ring.out)"
expect "one of them paused" 1 "$(grep -cx pause ring.out)"
ls slow-*.qtrace >files.out
expect "files of the dump" 1 "$(wc -l <files.out | tr -d ' ')"
"$bin/qprof" trace dump --format=json "$(cat files.out)" | jq -r 'select(.op == "entry") | .method' >dump.out
grep -qx pause dump.out || complain "the slow call is not in the dump"
# marks are in the trace, and in the timelines that are made of it
expect "marks in the trace" 1 "$("$bin/qprof" trace dump slow-1.qprof | grep -c 'mark  *slow')"
for form in chrome perfetto; do
    "$bin/qprof" trace export --to=$form -o "slow.$form" slow-1.qprof || complain "no $form"
    grep -aq slow "slow.$form" || complain "no mark in the timeline for $form"
done
"$bin/qprof" info slow-1.qprof | grep -Eq '^ *[0-9.]+ m?s .* slow  *event-trigger  *fn-exit  *request  *[0-9.]+ m?s' ||
    complain "info does not show the mark"
"$bin/qprof" report slow-1.qprof | grep -q 'fired .*marks; qprof info' || complain "report says nothing of marks"

# ---- depth ---------------------------------------------------------------------------------------
cat >deep.lua <<'END'
local function down(n) if n > 1 then down(n - 1) return 1 end return 0 end
down(3) down(8) down(5) down(9)
END
# below the C function lua and the main chunk: down(n) opens frames 3 to n + 2
cat >deep.conf <<'END'
event-trigger deep  event=fn-entry object=down depth=10
event-trigger first event=fn-entry object=down depth=5 disable=yes chain=then
event-trigger then  event=fn-entry object=down depth=5 status=disabled
triggering on
END
record "-config=$tmp/deep.conf" deep deep.lua
expect "entries from 10 frames on" 3 "$(marks deep deep)" # down(8): 1, down(9): 2
expect "the first with 5 frames" 1 "$(marks deep first)"
expect "those after it" 16 "$(marks deep then)" # 1 + 6 + 3 + 7 are as deep, less the first
expect "how deep they were" '10 10 11' "$("$bin/qprof" info --format=json deep.qprof |
    jq -r '[.marks[] | select(.name == "deep") | .value | tostring] | join(" ")')"

# ---- memory --------------------------------------------------------------------------------------
cat >memory.lua <<'END'
for i = 1, 20000 do load("local function f" .. i .. "() end f" .. i .. "()", "=chunk" .. i)() end
END
cat >memory.conf <<'END'
event-trigger half event=memory used=50% action=stop deferred=no disable=yes
triggering on
END
record "-memory-limit=4M -config=$tmp/memory.conf" memory memory.lua
expect "half of the memory is used once" 1 "$(marks memory half)"
expect "how much it was" '"memory","%",true' "$("$bin/qprof" info --format=json memory.qprof |
    jq -r '.marks[] | [.event, .value_unit, .value >= 50] | @csv')"
"$bin/qprof" info --format=json memory.qprof | jq -e '.run.recording == false' >/dev/null ||
    complain "recording continues after half of the memory"

# ---- rates ---------------------------------------------------------------------------------------
cat >rate.lua <<'END'
local function tick() end
for i = 1, 10000 do tick() end
END
cat >rate.conf <<'END'
event-trigger few event=fn-entry object=tick rate=3/s
triggering on
END
record "-config=$tmp/rate.conf" rate rate.lua
expect "hits at 3 a second" 3 "$(marks rate few)" # the second begins with the first of them

# ---- one file, a profile and its trace --------------------------------------------------------------
cat >part.lua <<'END'
local function inner(x) return x + 1 end
local function quiet(x) local y = inner(x) return y end
local function loud(x) local y = inner(x) return y end
for i = 1, 5 do quiet(i) loud(i) end
END
cat >part.conf <<'END'
trigger hush off : quiet
area mine include lines : file:part.lua
END
record "-collect=profile,trace -config=$tmp/part.conf" part part.lua
expect "hits of inner" 5 \
    "$("$bin/qprof" report --format=json part.qprof | jq '[.methods[] | select(.name == "inner") | .hits] | add')"
expect "entries of inner in the trace" 5 "$("$bin/qprof" trace dump --format=json part.qprof |
    jq -r 'select(.op == "entry") | .method' | grep -cx inner)"

finish
