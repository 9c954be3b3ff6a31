# sums.sh: what every format holds, added up by a program that knows the format. Sourced after score.sh.
need jq jq
need sqlite3 sqlite3
need protoc protobuf-compiler
formats=$(qprof export --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\) .*/\1/p')

# sum FORMAT FILE: all self times, in the run's unit
sum() {
    case $1 in
    pprof)
        gunzip -c "$2" | protoc --decode=Profile pprof.proto 2>/dev/null |
            awk '$1 == "value:" { last = $2 } $1 == "}" { n += last; last = 0 } END { print n }' ;;
    callgrind)
        awk '/^calls=/ { getline; next } /^[0-9]+ [0-9 ]+$/ { n += $2 } END { print n }' "$2" ;;
    folded) awk '{ n += $NF } END { print n }' "$2" ;;
    speedscope) jq '[.profiles[].endValue] | add' "$2" ;;
    dot) sed -n 's/.*label="\.root\..*F+D \([0-9.,]*\) \([mu]\)s .*/\1 \2/p' "$2" | tr -d '.,' |
        awk '{ print $2 == "m" ? $1 * 1000 : $1 }' ;;
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
