#!/bin/sh
# test_random_config.sh [BUILD [SEED SEED]]: random programs under random triggers, actions, areas and
# stops: profile, coverage and trace have the calls and lines that config/random.lua works out, and a
# profile that is made of the trace has the times of the run's own.
#
# Not compared: lines that hold ends of functions and loops or the main chunk, which it does not follow.
. "$(dirname "$0")/lib.sh"
seed=${2:-1} last=${3:-20}

said_by_qprof() {
    "$bin/qprof" report --threads --format=json "$1" |
        jq -r '.methods[] | select(.hits > 0 and (.name | test("^f[0-9]$"))) | "call \(.name) \(.hits)"' |
        LC_ALL=C sort
    "$bin/qprof" cover report --format=json "$1" 2>remarks |
        jq -r '.files[].lines[] | select(.hits > 0) | "line \(.line) \(.hits)"'
}

only_statements() {
    awk 'NR == FNR { if (/^(end|do|local function|local qlua|collect)/ || $0 == "pcall(f0)") other[NR]; next }
        !($1 == "line" && $2 in other)' program.lua -
}

said_by_trace() {
    "$bin/qprof" trace dump --format=json "$1" 2>remarks |
        jq -r 'select(.op == "entry" and (.method | test("^f[0-9]$"))) | .method' | LC_ALL=C sort |
        uniq -c | awk '{ print "call", $2, $1 }'
}

# A profile in which no block was counted has no lines, of routines neither.
wanted() {
    if [ "$1" = profile ] && ! grep -q '^line' expected; then
        grep '^call'
    else
        sed 's/^routine/line/' | sort -k1,1 -k2,2V
    fi
}

# figures PROFILE: of all functions that have some. Work of the recorder itself, 2 us for a function, may
# be its caller's in one of the profiles.
figures() {
    "$bin/qprof" report --threads --format=json "$1" |
        jq -c '[.methods[] | select(.hits > 0 or .self > 2000) | {name, line, hits, self, total}] | sort'
}

same_figures() {
    jq -e --slurp 'map(map([.name, .line, .hits])) | .[0] == .[1]' "$1" "$2" >same &&
        jq -e --slurp 'transpose | all(.[]; (.[0].self - .[1].self | fabs) < 2000 and
            (.[0].total - .[1].total | fabs) < 20000)' "$1" "$2" >same
}

cd "$tmp"
while [ "$seed" -le "$last" ]; do
    "$bin/lua-base" "$source/tests/lua/config/random.lua" "$seed" program.lua rules.conf expected
    for collect in profile coverage profile,coverage,trace; do
        record "-config=rules.conf -collect=$collect" run program.lua
        [ -f run.qprof ] || [ -s expected ] || continue # no profile: there was nothing to write
        wanted "$collect" <expected | only_statements >statements
        said_by_qprof run.qprof | wanted "$collect" | only_statements | diff statements - ||
            complain "seed $seed: $collect differs (< worked out, > recorded)"
        "$bin/qprof" check run.qprof >checked || complain "seed $seed: $collect: $(cat checked)"
    done
    if [ -f run.qprof ]; then
        grep '^call' expected >calls.expected || :
        said_by_trace run.qprof | diff calls.expected - || complain "seed $seed: the trace differs"
        "$bin/qprof" trace profile -o again.qprof run.qprof >made || complain "seed $seed: $(cat made)"
        figures run.qprof >figures.run
        figures again.qprof >figures.again
        same_figures figures.run figures.again ||
            complain "seed $seed: figures of the trace differ: $(diff figures.run figures.again)"
        rm -f again.qprof
    fi
    seed=$((seed + 1))
done
finish
