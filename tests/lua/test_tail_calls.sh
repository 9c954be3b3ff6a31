#!/bin/sh
# test_tail_calls.sh [BUILD]: -tail-calls=keep: the frame of a function that makes a tail call stays until the
# callee returns. Trees and counts are worked out by hand from the programs below.
. "$(dirname "$0")/lib.sh"
cd "$tmp"

# paths FILE FUNCTION: what was called below the main chunk, one path a line, with its calls;
# of coroutines: what their functions called, after a colon
paths() {
    "$bin/qprof" tree --format=json --min-percent=0 "$1" | jq -r '
        (.methods | map({key: (.id | tostring), value: .name}) | from_entries) as $name |
        reduce .nodes[] as $n ({}; .[$n.id | tostring] =
            {path: ((.[$n.parent | tostring].path // "") + "/" + ($name[$n.method | tostring] // "")), calls: $n.calls}) |
        .[] | select(.calls > 0) | "\(.path) \(.calls)"' | grep -v "Garbage" |
        sed -n -e 's|^.*/main chunk of [a-z]*.lua/||p;t' -e '/^\/\.root\.\/lua/d' -e 's|^/\.root\./|:|p' | LC_ALL=C sort
}

# sums FILE: the paths of all threads together
sums() {
    paths "$1" | awk '{ n[$1] += $2 } END { for (p in n) print p, n[p] }' | LC_ALL=C sort
}

# expect WHAT: the text on standard input is what the file "got" has
expect() {
    diff - got >differences || { cat differences; complain "$1"; }
}

# is WHAT GOT WANTED
is() {
    [ "$2" = "$3" ] || complain "$1: $2, not $3"
}

# sound NAME: the profile passes check, and no exit named a frame that was not open
sound() {
    "$bin/qprof" check "$tmp/$1.qprof" >checked || { cat checked; complain "$1: check"; }
    "$bin/qprof" info --format=json "$tmp/$1.qprof" >info.json
    is "$1: exits of unknown frames" "$(jq '.diagnostics | (.exit_unknown_id // 0) + (.exit_empty_stack // 0)' info.json)" 0
}

# hits FILE NAME: hits and skips
hits() {
    "$bin/qprof" report --show-skips --format=json "$1" |
        jq -r --arg name "$2" '[.methods[] | select(.name == $name)] | "\(map(.hits) | add // 0) \(map(.skips) | add // 0)"'
}

# figures FILE: calls, hits and skips of each function, and counts of lines
figures() {
    "$bin/qprof" report --show-skips --limit=0 --format=json "$1" |
        jq -r '.methods[] | select(.name | test("Garbage|^lua|__gc|main chunk") | not) | "\(.name) \(.calls) \(.hits) \(.skips)"' | LC_ALL=C sort
    "$bin/qprof" annotate --format=json "$1" | jq -r '.files[].lines[] | "line \(.line) \(.count)"'
}

# ---- triggers, areas, focus ------------------------------------------------------------------------

cat >handler.lua <<'END'
local function impl(n) local t = {} for i = 1, n do t[i] = i end return #t end
local function handler(n) return impl(n) end
local function main() local s = 0 for i = 1, 10 do s = s + handler(i) end return s end
local sum = main()
assert(sum == 55)
END
printf '%s\n' 'initial-status off' 'trigger t on : handler' >on.conf
printf '%s\n' 'trigger t off : handler' >off.conf
printf '%s\n' 'initial-status off' 'trigger t on work=3 : handler' >three.conf
printf '%s\n' 'area a include : handler' >area.conf
for mode in "" -time=adaptive -time=none -time=sampled -collection-granularity=function \
    -collection-granularity=basic-block -collect=profile,coverage "-collect=profile,trace -trace-mode=overwrite" \
    -allocations=yes -check-host=yes; do
    record "-config=on.conf $mode" today handler.lua
    sound today
    is "$mode: handler as today" "$(hits today.qprof handler)" "10 0"
    is "$mode: impl as today" "$(hits today.qprof impl)" "0 10"
    record "-config=on.conf -tail-calls=keep $mode" kept handler.lua
    sound kept
    is "$mode: handler, kept" "$(hits kept.qprof handler)" "10 0"
    is "$mode: impl, kept" "$(hits kept.qprof impl)" "10 0"
    is "$mode: main, kept" "$(hits kept.qprof main)" "0 1"
done
record "-config=off.conf -tail-calls=keep" kept handler.lua
is "off: impl" "$(hits kept.qprof impl)" "0 10"
is "off: main" "$(hits kept.qprof main)" "1 0"
record "-config=three.conf -tail-calls=keep" kept handler.lua
is "work=3: impl" "$(hits kept.qprof impl)" "3 7"
"$bin/qprof" run -tail-calls=keep --config=on.conf -o by_run.qprof -- "$bin/qlua" handler.lua >by_run.out 2>&1 || complain "qprof run"
is "qprof run: impl" "$(hits by_run.qprof impl)" "10 0"

# The lines of impl are executed while the trigger is on; its tables belong to the only function in the area.
line_count() {
    "$bin/qprof" annotate --format=json "$1" | jq "[.files[].lines[] | select(.line == $2) | .count] | add // 0"
}
record "-config=on.conf" today handler.lua
is "line of impl as today" "$(line_count today.qprof 1)" 0
record "-config=on.conf -tail-calls=keep" kept handler.lua
is "line of impl, kept" "$(line_count kept.qprof 1)" 55
objects() {
    "$bin/qprof" report --format=json --sort=bytes "$1" | jq '[.methods[] | select(.name == "handler") | .objects] | add // 0'
}
record "-config=area.conf -allocations=yes" today handler.lua
is "objects of the area as today" "$(objects today.qprof)" 0
record "-config=area.conf -allocations=yes -tail-calls=keep" kept handler.lua
[ "$(objects kept.qprof)" -ge 20 ] || complain "objects of the area, kept: $(objects kept.qprof)"
record "" today handler.lua
"$bin/qprof" report --focus=handler --format=json today.qprof >focus.json
is "focus as today" "$(jq -c '[.methods[] | select(.name == "impl") | .calls]' focus.json)" "[]"
record "-tail-calls=keep" kept handler.lua
"$bin/qprof" report --focus=handler --format=json kept.qprof >focus.json
is "focus, kept" "$(jq -c '[.methods[] | select(.name == "impl") | .calls]' focus.json)" "[10]"

# ---- a loop, and the limit of a chain ---------------------------------------------------------------

# chain N: f calls itself N times; the first 200 of these frames are kept, and the rest replaces the 201st
cat >chain.lua <<'END'
local n_left = ...
local function f(n) if n > 0 then return f(n - 1) end return "end" end
assert(f(tonumber(n_left)) == "end")
local function after() end
after()
END
for n in 0 199 200 201 1000000; do
    record "-tail-calls=keep -time=none" chain chain.lua $n
    is "chain of $n: exit" "$code" 0
    sound chain
    is "chain of $n: calls" "$(calls chain.qprof f)" $((n + 1))
    paths chain.qprof >got
    is "chain of $n: its paths" "$(grep -c '^f' got)" $((n < 200 ? n + 1 : 201))
    is "chain of $n: what comes after" "$(grep after got)" "after 1"
    wanted=$((n - 200)) said=$("$bin/qprof" info chain.qprof | sed -n 's/.*-tail-calls=keep: \([0-9]*\) tail calls replaced.*/\1/p')
    is "chain of $n: replaced" "${said:-0}" $((wanted > 0 ? wanted : 0))
done
[ "$(stat -c %s chain.qprof)" -lt 1000000 ] || complain "a loop of a million: $(stat -c %s chain.qprof) bytes"

# ---- errors and coroutines --------------------------------------------------------------------------

cat >ends.lua <<'END'
local function boom() error("x") end
local function fails() return boom() end
local function twice() return fails() end
local function caught() return pcall(twice) end
local function ok() return 1 end
local function outer() return ok() end
local function describe() return ok() end
local function handler() return describe() end
local function handled() return xpcall(fails, handler) end
local function catches() pcall(twice) return outer() end
local function chain() return catches() end
local function main()
  caught() caught()
  handled()
  chain()
  outer()
end
main()
END
record "-tail-calls=keep" ends ends.lua
sound ends
paths ends.qprof >got
expect "errors" <<'END'
main 1
main/caught 2
main/caught/pcall 2
main/caught/pcall/twice 2
main/caught/pcall/twice/fails 2
main/caught/pcall/twice/fails/boom 2
main/caught/pcall/twice/fails/boom/error 2
main/chain 1
main/chain/catches 1
main/chain/catches/outer 1
main/chain/catches/outer/ok 1
main/chain/catches/pcall 1
main/chain/catches/pcall/twice 1
main/chain/catches/pcall/twice/fails 1
main/chain/catches/pcall/twice/fails/boom 1
main/chain/catches/pcall/twice/fails/boom/error 1
main/handled 1
main/handled/xpcall 1
main/handled/xpcall/fails 1
main/handled/xpcall/fails/boom 1
main/handled/xpcall/fails/boom/error 1
main/handled/xpcall/fails/boom/error/handler 1
main/handled/xpcall/fails/boom/error/handler/describe 1
main/handled/xpcall/fails/boom/error/handler/describe/ok 1
main/outer 1
main/outer/ok 1
END

cat >threads.lua <<'END'
local function ok() return 1 end
local function late() return ok() end
local function inner() coroutine.yield(1) return late() end
local function body() return inner() end
local function boom() error("x") end
local function fails() coroutine.yield(1) return boom() end
local function failing() return fails() end
local function main()
  for i = 1, 2 do local co = coroutine.create(body) coroutine.resume(co) coroutine.resume(co) end
  local closed = coroutine.create(body)
  coroutine.resume(closed) coroutine.close(closed)
  local lost = coroutine.create(body)
  coroutine.resume(lost)
  lost = nil collectgarbage()
  local co = coroutine.create(failing)
  coroutine.resume(co) coroutine.resume(co) coroutine.close(co)
  late()
end
main()
END
record "-tail-calls=keep" threads threads.lua
sound threads
sums threads.qprof | grep -v '^main/coroutine' >got
expect "coroutines" <<'END'
:body 4
:body/inner 4
:body/inner/coroutine.yield 4
:body/inner/late 2
:body/inner/late/ok 2
:failing 1
:failing/fails 1
:failing/fails/boom 1
:failing/fails/boom/error 1
:failing/fails/coroutine.yield 1
main 1
main/collectgarbage 1
main/late 1
main/late/ok 1
END

# ---- against the same programs without tail calls ----------------------------------------------------

# `return (f(x))` is no tail call: recorded as always, it must give the same tree and the same figures.
cat >random.lua <<'END'
local seed, depth = tonumber((...)), 12
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648 local r = seed // 65536 % n return r end
local A, B, C, D
local function leaf(n) if random(5) == 0 then error("x") end return n end
local function go(n)
  local way = random(4)
  if way == 0 then return A(n - 1) elseif way == 1 then return B(n - 1) elseif way == 2 then return C(n - 1) end
  return D(n - 1)
end
function A(n) if n < 1 then return leaf(n) end return go(n) end
function B(n) if n < 1 then return leaf(n) end go(n - 4) return go(n) end
function C(n) if n < 1 then return leaf(n) end pcall(go, n - 3) return A(n - 1) end
function D(n)
  if n < 1 then return leaf(n) end
  if random(3) == 0 then coroutine.yield(n) end
  if random(4) == 0 then return select(1, n) end
  return go(n)
end
local function run(n)
  local co = coroutine.create(go)
  for _ = 1, 1 + random(4) do
    if coroutine.status(co) == "suspended" then coroutine.resume(co, n) end
  end
  if random(2) == 0 then return coroutine.close(co) end
  return n
end
collectgarbage("stop")
for i = 1, 60 do run(i % depth) end
END
sed 's/return \([A-Za-z.]*([^()]*)\)/return (\1)/g' random.lua >plain.lua
is "lines without tail calls" "$(diff random.lua plain.lua | grep -c "^>")" 9
printf '%s\n' 'initial-status off' 'trigger t on : B' >some.conf
printf '%s\n' 'trigger t off pass=2 work=5 cycling=yes : A' 'trigger u on : C' >cycle.conf
printf '%s\n' 'area a exclude : go' >excluded.conf
printf '%s\n' 'area a include : A' 'area b include lines : C' >included.conf
for seed in 1 2 3; do
    for config in none some cycle excluded included; do
        options="-time=none"
        [ $config = none ] || options="$options -config=$config.conf"
        record "$options" usual plain.lua $seed
        sums usual.qprof >wanted
        figures usual.qprof >wanted.figures
        record "$options -tail-calls=keep" kept random.lua $seed
        is "$seed, $config: exit" "$code" 0
        sound kept
        sums kept.qprof >got
        [ $config != none ] || [ "$(wc -l <got)" -gt 100 ] || complain "$seed: only $(wc -l <got) paths"
        expect "$seed, $config: trees" <wanted
        figures kept.qprof >got
        expect "$seed, $config: hits, skips and lines" <wanted.figures
    done
done

# ---- traces: both ends of each call, also of kept ones ------------------------------------------------

cat >calls.lua <<'END'
local function impl(n)
  return n + 1
end
local function handler(n)
  return impl(n)
end
local function main()
  handler(1)
  return handler(2)
end
main()
END
printf '%s\r\n' TIMELINE=0 HUMANREADABLE=1 OPERATIONMODE=4105 PARAMLIST=1 >calls.pri
QPROF="-output=calls.qprof -trace=calls.PRF -pri=calls.pri -tail-calls=keep" "$bin/qlua" calls.lua || complain "traced: exit $?"
tr -d '\r' <calls.PRF | sed -n '/"I","main"/,/"O","main"/s/^1,//p' >got
expect "trace" <<'END'
"I","main",7,""
"i","handler",8,"1"
"I","handler",4,""
"i","impl",5,"1"
"I","impl",1,""
"O","impl",2,"2"
"o","impl",5,""
"O","handler",5,"2"
"o","handler",8,""
"i","handler",9,"2"
"I","handler",4,""
"i","impl",5,"2"
"I","impl",1,""
"O","impl",2,"3"
"o","impl",5,""
"O","handler",5,"3"
"o","handler",9,""
"O","main",9,"3"
END

# Each call in a stream: those that a trace found closed are those of the profile.
for program in ends threads; do
    case $program in
    ends) open=0 failed="boom error fails twice" ;;
    threads) open=0 failed="body boom coroutine.yield error failing fails inner" ;;
    esac
    record "-tail-calls=keep -collect=profile,trace -trace-output=$tmp/$program.qtrace" $program $program.lua
    sound $program
    "$bin/qprof" trace stat --limit=0 --format=json $program.qtrace >stat.json
    is "$program: calls without an end" "$(jq '[.calls[].incomplete] | add' stat.json)" $open
    is "$program: calls that an error ended" "$(jq -r '[.calls[] | select(.unwound > 0) | .name] | sort | join(" ")' stat.json)" "$failed"
    jq -r '.calls[] | select(.name | test("Garbage|lua|gc") | not) | "\(.name) \(.calls)"' stat.json | LC_ALL=C sort >traced
    "$bin/qprof" report --limit=0 --format=json $program.qprof |
        jq -r '.methods[] | select(.name | test("Garbage|lua|gc") | not) | "\(.name) \(.calls)"' | LC_ALL=C sort >got
    [ -s traced ] || complain "$program: nothing was traced"
    diff traced got || complain "$program: calls of the trace (<) and of the profile (>)"
done
finish
