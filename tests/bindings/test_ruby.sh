#!/bin/sh
# test_ruby.sh: bindings/ruby, built for the ruby of this machine. Its promises; calls of each method, C method, block and
# class body equal to those that a TracePoint counts in another run; lines equal to those of Coverage.
set -eu
command -v ruby >/dev/null && ruby -rmkmf -e 'exit File.exist?("#{$hdrdir}/ruby.h")' 2>/dev/null || {
    echo "test_ruby.sh: no Ruby with ruby-dev"
    exit 77
}
work=$PWD tests=$QPROF_SOURCE/tests/bindings qprof=$QPROF_BIN/qprof
mkdir build
(cd build && QPROF_LIBRARY=$QPROF_LIB/libqprof.a ruby "$QPROF_SOURCE/bindings/ruby/ext/qprof/extconf.rb" && make) >build.log 2>&1 || {
    cat build.log
    exit 1
}
! grep -E 'warning: .*\[-W' build.log
mkdir -p lib/qprof
cp build/recorder.so lib/qprof/
cp -r "$QPROF_SOURCE/bindings/ruby/lib" .
RUBYLIB=$work/lib
export RUBYLIB
unset RUBYOPT QPROF
. "$tests/lib.sh"

calls() { # FILE NAME [MEMBER]
    "$qprof" report --format=json --limit=0 "$1" |
        jq --arg name "$2" "[.methods[] | select(.name == \$name) | .${3:-calls}] | add"
}
is() {
    [ "$2" = "$3" ] || { printf '%s: %s, and not %s\n' "$1" "$2" "$3"; exit 1; }
}

mkdir claims
(
    cd claims
    ruby -W0 "$tests/ruby_claims.rb"
    # before the pause: 1 + 10 + 5 + 1 + 1 + 2 + 50, and 1 with a TracePoint, for the other one's error comes before the
    # method begins; 7 in the pause, 1 after it
    is "calls of f" "$(calls claims.qprof 'Object#f')" 79
    is "calls before the snapshot" "$(calls so-far.qprof 'Object#f')" 79
    is "a method that was open" "$(calls claims.qprof 'Object#open_before' resumes)" 1
    is "its calls" "$(calls claims.qprof 'Object#open_before')" 0
    is "calls that exceptions end" "$(calls claims.qprof 'Object#outer')" 5
    is "calls in a fiber" "$(calls claims.qprof 'Object#numbers')" 1
    is "yields of fibers" "$(calls claims.qprof 'Fiber.yield')" 53
    is "calls in threads" "$(calls claims.qprof 'Object#waits')" 4
    is "methods that are open" "$("$qprof" report --format=json --limit=0 open.qprof |
        jq -c '[.methods[] | select(.resumes > 0) | [.name, .resumes]] | sort')" \
        '[["<main>",1],["Array#each",1],["Opens#each_of",2],["Opens#rescues",1],["block in <class:Opens>",1]]'
    "$qprof" tree --format=json open.qprof >tree.json
    below() { # NAME: its callers
        jq -c --arg name "$1" '(.methods | map({(.id | tostring): .name}) | add) as $name_of |
            (.nodes | map({(.id | tostring): .}) | add) as $node |
            [.nodes[] | select($name_of[.method | tostring] == $name) | $name_of[$node[.parent | tostring].method | tostring] // "-"] | unique' tree.json
    }
    is "after methods that were open" "$(below 'Opens#later') $(below 'Object#after_deep')" \
        '["block in <class:Opens>"] ["<main>"]'
    "$qprof" tree --format=json claims.qprof >tree.json
    is "after the stack overflowed" "$(below 'Object#after_deep')" '["<main>"]'
    is "who calls numbers" "$(below 'Object#numbers')" '["block in <main>"]'
    is "calls in the second run" "$(calls second.qprof 'Object#f')" 3
    is "its label" "$("$qprof" report --format=json claims.qprof | jq -c .run.labels)" '["kind=a \"label\" \\"]'
    is "calls in a run that an error ends" "$(calls error.qprof 'Object#f')" 1
    is "calls in a parent" "$(calls alone.qprof 'Object#f')" 1
    is "calls in a parent that is followed" "$(calls forks.qprof 'Object#f')" 1
    is "calls in its child" "$(calls child.qprof 'Object#f')" 3
    is "methods of classes without names" "$(calls stress.qprof '#<Class:Object>#anonymous')" 3
    is "methods of single objects" "$(calls stress.qprof '#<Object>.single')" 20
    is "calls after a compaction" "$(calls stress.qprof 'Object#f')" 31
    for file in *.qprof; do "$qprof" check "$file" >/dev/null; done
)

mkdir requests
(
    cd requests
    ruby -W0 "$tests/ruby_requests.rb"
    "$qprof" requests --format=json requests.qprof >requests.json
    is "requests" "$(jq -c '[.endpoints[] | [.endpoint, .requests, .failed, .cut]] | sort' requests.json)" \
        '[["GET /even",50,10,0],["GET /first",1,0,0],["GET /inner",1,0,0],["GET /odd",50,10,0],["GET /outer",1,0,0],["break",1,0,0],["fiber",5,1,1],["thread",40,0,0],["throw",1,0,0]]'
    is "their trace" "$(jq -r '[.endpoints[].slowest_trace // empty] | unique[]' requests.json)" 0af7651916cd43dd8448eb211c80319c
    below() { # ENDPOINT METHOD
        "$qprof" report --endpoint="$1" --format=json requests.qprof |
            jq --arg name "$2" '[.methods[] | select(.name == $name) | .hits] | add'
    }
    # half of 100 requests, of which a fifth calls leaf once
    is "calls below endpoints" "$(below 'GET /odd' 'Object#leaf'),$(below 'GET /odd' 'Object#fail_at'),$(below 'GET /outer' 'Object#leaf'),$(below fiber 'Object#leaf')" 90,30,3,9
    is "all calls of leaf" "$(calls requests.qprof 'Object#leaf')" $((1 + 1 + 180 + 3 + 9 + 40 + 1))
    "$qprof" check --host requests.qprof >/dev/null
    "$qprof" check requests.qprof >/dev/null
)

same_counts() { # NAME: both counters agree, and both runs of the program printed the same
    cmp "$1.out1" "$1.out2"
    "$qprof" report --format=json --limit=0 "$1.qprof" >"$1.report"
    echo "$1:"
    ruby "$tests/ruby_calls.rb" compare "$1.json" "$1.report"
    "$qprof" check "$1.qprof" >/dev/null
}
ruby -W0 "$tests/ruby_calls.rb" trace programs.json "$tests/ruby_programs.rb" >programs.out1
ruby -W0 "$tests/ruby_calls.rb" qprof programs.qprof "$tests/ruby_programs.rb" >programs.out2
same_counts programs
if command -v kramdown >/dev/null; then
    ruby -W0 "$tests/ruby_calls.rb" both kramdown "$(command -v kramdown)" "$QPROF_SOURCE/docs/python.md" >kramdown.out1
    kramdown "$QPROF_SOURCE/docs/python.md" >kramdown.out2
    same_counts kramdown
fi

same_lines() { # NAME SCRIPT...
    name=lines_$1
    shift
    ruby -W0 "$tests/ruby_cover.rb" coverage "$name.json" "$@" >"$name.out1"
    ruby -W0 "$tests/ruby_cover.rb" qprof "$name.qprof" "$@" >"$name.out2"
    cmp "$name.out1" "$name.out2"
    "$qprof" cover export --to=json -o "$name.cover" "$name.qprof"
    echo "$name:"
    ruby "$tests/ruby_cover.rb" compare "$name.json" "$name.cover"
}
same_lines programs "$tests/ruby_programs.rb"

# started by the command line, ended by an exit, an error or a signal
echo 'def g; end; at_exit { 2.times { g } }; 5.times { g }; exit 3' >ends.rb
QPROF=-output=ends.qprof ruby -rqprof ends.rb && exit 1 || is "its status" $? 3
is "calls of g" "$(calls ends.qprof 'Object#g')" 7
echo 'def g; end; 5.times { g }; Process.kill(:INT, $$); sleep' >signal.rb
QPROF=-output=signal.qprof ruby -rqprof signal.rb 2>error && exit 1 || :
is "calls before a signal" "$(calls signal.qprof 'Object#g')" 5
is "a wrong option ends no program" "$(QPROF=-time=wrong ruby -rqprof -e 'puts 1' 2>error)" 1
grep -q '^qprof: -time=wrong: .*nothing is recorded$' error
is "a program that only requires it" "$(ruby -e 'require "qprof"; p Qprof.running?')" false

# the gem is built, installed where there is none, and does what the guide says
mkdir guide
cp -r "$QPROF_SOURCE/bindings" "$QPROF_SOURCE/include" "$QPROF_SOURCE/src" "$QPROF_SOURCE/tools" "$QPROF_SOURCE/LICENSE" \
    "$QPROF_SOURCE/CMakeLists.txt" guide
(
    cd guide
    unset RUBYLIB
    export GEM_HOME="$work/gems" HOME="$work/guide"
    QPROF_LIBRARY=$QPROF_LIB/libqprof.a follow_guide ruby.md
    # fib(15), fib(10), and of the fiber fib(0) to fib(2): 1973 + 177 + 1 + 1 + 3
    is "calls of fib in the example" "$(calls bindings/ruby/run.qprof 'Object#fib')" 2155
    is "lines of fib" "$("$qprof" annotate --format=json bindings/ruby/lines.qprof |
        jq -c '[.files[] | select(.path | endswith("example.rb")).lines[] | select(.line == 7) | .count]')" '[2155]'
)
