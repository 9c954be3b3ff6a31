#!/bin/sh
# test_collector.sh [BUILD]: the collector is a callee of the function in which it began, and its
# finalizers are its callees, in every mode; --gc=caller gives both to that function; how often it
# worked is no difference between two runs.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/collector"

# Call paths with their calls, by hand from the program, without what begins and ends the state.
phases() {
    cat <<'END'
<Garbage collector> 1
<Garbage collector>;release 1
<Garbage collector>;release;clean 1
anonymous 1
anonymous;collect 1
anonymous;collect;collectgarbage 1
anonymous;collect;collectgarbage;<Garbage collector> 1
anonymous;collect;collectgarbage;<Garbage collector>;release 1
anonymous;collect;collectgarbage;<Garbage collector>;release;clean 1
anonymous;drop 2
anonymous;drop;setmetatable 2
anonymous;pcall 1
anonymous;pcall;collect 1
anonymous;pcall;collect;collectgarbage 1
anonymous;pcall;collect;collectgarbage;<Garbage collector> 1
anonymous;pcall;collect;collectgarbage;<Garbage collector>;broken 1
anonymous;pcall;collect;collectgarbage;<Garbage collector>;broken;clean 1
anonymous;pcall;collect;collectgarbage;<Garbage collector>;broken;error 1
main;collect 2
main;collect;collectgarbage 2
main;collect;collectgarbage;<Garbage collector> 2
main;collect;collectgarbage;<Garbage collector>;broken 1
main;collect;collectgarbage;<Garbage collector>;broken;clean 1
main;collect;collectgarbage;<Garbage collector>;broken;error 1
main;collect;collectgarbage;<Garbage collector>;release 2
main;collect;collectgarbage;<Garbage collector>;release;clean 2
main;collect;collectgarbage;<Garbage collector>;yields 1
main;collect;collectgarbage;<Garbage collector>;yields;coroutine.yield 1
main;collectgarbage 2
main;collectgarbage;<Garbage collector> 1
main;coroutine.wrap 1
main;coroutine.wrap function 1
main;drop 5
main;drop;setmetatable 5
main;step 2
main;step;collectgarbage 2
main;step;collectgarbage;<Garbage collector> 2
main;switch 2
main;switch;collectgarbage 2
main;switch;collectgarbage;<Garbage collector> 2
END
}

# paths NAME OPTIONS...: call paths of a profile and their calls; the state's own are left out
paths() {
    name=$1
    shift
    "$bin/qprof" tree --format=json "$@" "$tmp/$name.qprof" | jq -r '
        (.methods | map({(.id | tostring): (.name | sub("^lua$"; "main") |
            sub("^main chunk of .*"; "main") | sub("^argument 1 of coroutine.wrap at .*"; "anonymous"))}) | add) as $names |
        (.nodes | map({(.id | tostring): .}) | add) as $nodes |
        def path: if .method == 0 then [] else
            ($nodes[.parent | tostring] // {method: 0} | path) + [$names[.method | tostring]] end;
        .nodes[] | select(.method != 0) | [(path | join(";")), .calls] | join(" ")' |
        sed -n 's/^main;main;/main;/; /^main 1$/d; /^main;main 1$/d; /luaopen_\|__gc/d; /^main;<Garbage/d; p' |
        LC_ALL=C sort
}

for options in "-time=exact" "-time=adaptive" "-time=sampled" "-time=none" \
    "-collection-granularity=function" "-collect=profile,coverage" "-check-host=yes"; do
    record "$options" run phases.lua
    [ "$code" -eq 0 ] || { cat "$tmp/run.out"; complain "$options: exit $code"; }
    phases | LC_ALL=C sort >"$tmp/expected"
    paths run >"$tmp/actual"
    diff "$tmp/expected" "$tmp/actual" || complain "$options: call paths (< by hand)"
    "$bin/qprof" check "$tmp/run.qprof" >"$tmp/check" || { cat "$tmp/check"; complain "$options: check"; }
    [ "$("$bin/qprof" report --format=json "$tmp/run.qprof" |
        jq -c '.diagnostics | del(.unwound, .sampler_overrun, .overrun, .throttled)')" = '{}' ] ||
        complain "$options: diagnostics"
done
"$bin/qprof" check --host "$tmp/run.qprof" >"$tmp/check" || { cat "$tmp/check"; complain "check --host"; }

# ---- --gc=caller: the collector's nodes are gone, what they called is called by their callers -----

record "-time=exact" run phases.lua
phases | sed '/<Garbage collector> [0-9]*$/d; s/<Garbage collector>;//' | LC_ALL=C sort >"$tmp/expected"
paths run --gc=caller >"$tmp/actual"
diff "$tmp/expected" "$tmp/actual" || complain "call paths of --gc=caller (< by hand)"

"$bin/qprof" report --format=json "$tmp/run.qprof" >"$tmp/apart.json"
"$bin/qprof" report --format=json --gc=caller "$tmp/run.qprof" >"$tmp/caller.json"
jq -e -n --slurpfile apart "$tmp/apart.json" --slurpfile caller "$tmp/caller.json" '
    def self($name): [.methods[] | select(.name == $name) | .self] | add // 0;
    $apart[0] as $a | $caller[0] as $c |
    $a.run.collector == ($a | self("<Garbage collector>")) and $a.run.collector > 0 and
    $a.run.collector_total > $a.run.collector and ($a.run.collector_in_callers | not) and
    ($c | self("<Garbage collector>")) == 0 and $c.run.collector == $a.run.collector and
    $c.run.collector_in_callers and $c.run.total == $a.run.total and
    $c.run.hidden == 0 and ($c | self("clean")) == ($a | self("clean")) and
    ([$c.methods[] | select(.name == "collectgarbage") | .min] == [null])' >"$tmp/jq" ||
    complain "figures of --gc=caller"
# All but the collections at both ends of the state, whose callers are `lua` and nothing, began in
# collectgarbage.
"$bin/qprof" tree --format=json "$tmp/run.qprof" >"$tmp/tree.json"
jq -e -n --slurpfile tree "$tmp/tree.json" --slurpfile caller "$tmp/caller.json" '
    $tree[0] as $t | ($t.methods | map({(.id | tostring): .name}) | add) as $names |
    ($t.nodes | map({(.id | tostring): $names[.method | tostring]}) | add) as $name_of |
    [$t.nodes[] | select($names[.method | tostring] == "collectgarbage" or
        ($names[.method | tostring] == "<Garbage collector>" and
         $name_of[.parent | tostring] == "collectgarbage")) | .self] | add as $sum |
    [$caller[0].methods[] | select(.name == "collectgarbage") | .self] | add - $sum | fabs <= 20' \
    >"$tmp/jq" || complain "time of collectgarbage with its collections"
"$bin/qprof" report "$tmp/run.qprof" | grep -q '^  collector   .* % of the time (.*); .* % with finalizers$' ||
    complain "head of the report"
"$bin/qprof" report --gc=caller "$tmp/run.qprof" |
    grep -q '^  collector   .* % with finalizers; included in its callers$' || complain "head of --gc=caller"

# ---- samples from Lua's own stack ------------------------------------------------------------------

record "-collect=samples" samples churn.lua restart
"$bin/qprof" check "$tmp/samples.qprof" >"$tmp/check" || { cat "$tmp/check"; complain "check of samples"; }

# ---- a difference in the collector's calls is none ---------------------------------------------------

record "-time=none" stopped churn.lua stop
record "-time=none" running churn.lua restart
few=$(calls "$tmp/stopped.qprof" "<Garbage collector>")
many=$(calls "$tmp/running.qprof" "<Garbage collector>")
[ "$few" -lt "$many" ] || complain "the collector did not run"
# churn 20, collectgarbage, main chunk, lua, luaopen_* 10, file:__gc 3, in 5.4 also package.__gc
others=37
[ "$lua" = 5.4 ] || others=36
for by in "" --threads --paths; do
    "$bin/qprof" diff $by --format=json "$tmp/stopped.qprof" "$tmp/running.qprof" >"$tmp/diff.json"
    jq -e --argjson few "$few" --argjson many "$many" --argjson n "$others" '.whole.calls.base == $n + $few and
        .whole.calls.new == $n + $many and .whole.calls.noise == $many - $few and .rows == [] and
        .states.changed + .states.new + .states.gone == 0' "$tmp/diff.json" >"$tmp/jq" || {
        cat "$tmp/diff.json"
        complain "diff $by"
    }
done
finish
