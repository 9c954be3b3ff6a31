#!/bin/sh
# test_totals.sh: in every format that `qprof export --help` names, all own times add up to the total
# of `qprof report --format=json`; the same profile gives the same bytes; a failed export leaves
# no file. Each sum is made from what the format holds, by a program that knows it.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need jq jq
need sqlite3 sqlite3
need protoc protobuf-compiler

# sum FORMAT FILE: all own times, in the run's unit
sum() {
    case $1 in
    pprof)
        gunzip -c "$2" | protoc --decode=Profile pprof.proto 2>/dev/null |
            awk '$1 == "value:" && ++k % 2 == 0 { n += $2 } END { print n }' ;;
    callgrind)
        awk '/^calls=/ { getline; next } /^[0-9]+ [0-9]+ [0-9]+$/ { n += $2 } END { print n }' "$2" ;;
    folded) awk '{ n += $NF } END { print n }' "$2" ;;
    speedscope) jq '[.profiles[].endValue] | add' "$2" ;;
    dot) sed -n 's/.*label="\.root\..*F+D \([0-9.,]*\) us .*/\1/p' "$2" | tr -d '.,' ;;
    quantify) awk -F '\t' '$1 == "Function" { n += $5 } END { print n }' "$2" ;;
    csv) sqlite3 :memory: ".import --csv $2 paths" 'SELECT sum(self_ns) FROM paths' ;;
    json) jq '[.nodes[].self] | add' "$2" ;;
    cpuprofile) jq '[.timeDeltas[] * 1000 | round] | add' "$2" ;;
    chrome) jq '[.traceEvents[] | select(.ph == "E")] | group_by(.tid)
        | map(map(.ts * 1000 | round) | max) | add' "$2" ;;
    firefox) jq '[.threads[].samples.weight[] * 1e6 | round] | add' "$2" ;;
    perfetto)
        protoc -I "$root/tests/export" --decode=perfetto.protos.Trace perfetto.proto <"$2" |
            awk '$1 == "primary_weight:" { n += $2 } END { print n }' ;;
    sqlite) sqlite3 "$2" 'SELECT sum(self) FROM paths' ;;
    esac
}
cat >pprof.proto <<'END'
syntax = "proto3";
message Profile { repeated Sample sample = 2; }
message Sample { repeated int64 value = 2; }
END

# a name of 64 KB
record long.qprof 'main(' 2 "$(head -c 65536 /dev/zero | tr '\0' n)(" 3 ')' ')'
formats=$(qprof export --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\) .*/\1/p')
claim "there are formats" test "$(echo "$formats" | wc -l)" -ge 14
for format in $formats; do
    [ $format != html ] || continue # a page: tests/web reads its numbers
    for options in run plain deep long 'run --thread=2' 'run --focus=f' 'run --hide=main'; do
        # shellcheck disable=SC2086
        set -- $options
        profile=$1.qprof
        shift
        qprof export --to=$format "$@" -o out.$format "$profile" || failures=$((failures + 1))
        total=$(qprof report --format=json "$@" "$profile" | jq "if \"$*\" == \"--thread=2\"
            then .threads[0].total else .run.total end")
        claim "$format of $options has all of the time" same "$total" "$(sum $format out.$format)"
    done
    qprof export --to=$format run.qprof >first
    qprof export --to=$format run.qprof >second
    claim "$format is the same every time" cmp first second
    claim "$format is written whole or not at all" same 'no file' "$(
        trap '' XFSZ
        ulimit -f 0
        qprof export --to=$format -o failed.$format run.qprof 2>/dev/null || echo no file)"
    claim "... nothing is left of it" same '' "$(find . -name '*failed*')"
done
finish
