#!/bin/sh
# test_samples.sh: samples, PC samples and uncounted calls, in the formats that tests of
# their own do not look at: what each holds, and what is asked for in place of times.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
. "$root/tests/export/sums.sh"
need dot graphviz

# ---- formats of one value -----------------------------------------------------------------------------
cat >wanted <<'END'
main 3
main;f 5
main;f;g 2
main;f;g;f 4
co 6
END
qprof export --to=folded --samples samples.qprof >found
claim "folded: samples that times were estimated from" diff -u wanted found
printf '.root. 2\nmain 3\nmain;f 5\n' >wanted
qprof export --to=folded --samples both.qprof >found
claim "... PC samples of a run that has times, those in no procedure too" diff -u wanted found
for format in speedscope chrome firefox cpuprofile; do
    qprof export --to=$format --threads --samples -o samples.$format samples.qprof
done
claim "speedscope" same '[14,6]' "$(jq -c '[.profiles[].endValue]' samples.speedscope)"
claim "trace events" same '[14,6]' "$(jq -c '[.traceEvents[] | select(.ph == "E")] | group_by(.tid)
    | map(map(.ts) | max)' samples.chrome)"
claim "Firefox" same '[[3,5,2,4],[6]]' "$(jq -c '[.threads[].samples.weight]' samples.firefox)"
claim ".cpuprofile" same 20 "$(jq '.timeDeltas | add' samples.cpuprofile)"
claim "trace events have PC samples besides" same '5 3' "$(qprof export --to=chrome both.qprof |
    jq -r '[.traceEvents[] | select(.ph == "E").args.pc_samples] | map(select(. != 2)) | join(" ")')"
claim "uncounted calls cannot be shown" says '^qprof export: --calls: the calls of this run were not counted$' \
    qprof export --to=folded --calls samples.qprof
claim "... nor samples of a run without" says '^qprof export: --samples: this run has none .qprof run --pc takes them.$' \
    qprof export --to=folded --samples run.qprof
claim "a format with all values needs no choice" says '--calls is for formats of one value; csv has times and calls' \
    qprof export --to=csv --calls run.qprof
claim "... of samples neither" says '--samples is for formats of one value' qprof export --to=sqlite --samples both.qprof
claim "one of two" says 'cannot be combined' qprof export --to=folded --calls --samples both.qprof

# ---- tables -------------------------------------------------------------------------------------------
for name in samples both; do
    export_profile sqlite $name
    export_profile csv $name
    export_profile quantify $name
    export_profile dot $name
    export_profile perfetto $name
done
ask() { sqlite3 "$1.sqlite" "$2"; }
printf 'f||9000000|9|9\nco||6000000|6|6\nmain||3000000|3|3\ng||2000000|2|2\n' >wanted
ask samples 'SELECT t.name, t.calls, t.self, f.samples, f.pc_samples FROM top t JOIN functions f
    ON f.name = t.name ORDER BY t.self DESC' >found
claim "SQLite: calls are NULL, samples are there" diff -u wanted found
claim "... PC samples of paths add up to those of list" same "$(qprof list --samples --format=json both.qprof |
    jq -r '.summary | .counted + (.skipped // 0)')" "$(ask both 'SELECT sum(pc_samples) FROM paths')"
claim "... with the period" same '1000000' "$(ask both 'SELECT pc_period_ns FROM run')"
claim "CSV: calls are empty, samples are there" same 'f||9000000|9' "$(sqlite3 :memory: \
    '.import --csv samples.csv p' "SELECT function, max(calls), sum(self_ns), sum(samples) FROM p
    WHERE function = 'f'")"
claim "... and PC samples" same 'main|1|3' "$(sqlite3 :memory: '.import --csv both.csv p' \
    "SELECT function, calls, pc_samples FROM p WHERE function = 'main'")"
claim "JSON" same '[["co",6],["f",9],["g",2],["main",3]]' "$(qprof export --to=json samples.qprof |
    jq -c '[.methods[1:][] | [.name, .pc_samples] | select(.[1] > 0)] | sort')"
claim "Perfetto: followers are samples" same '3 5 2 4 6' "$(protoc -I "$root/tests/export" \
    --decode=perfetto.protos.Trace perfetto.proto <samples.perfetto |
    awk '$1 == "follower_weights:" { print $2 }' | paste -sd ' ')"
claim "... calls and PC samples" same '0 2 1 3 1 5' "$(protoc -I "$root/tests/export" \
    --decode=perfetto.protos.Trace perfetto.proto <both.perfetto |
    awk '$1 == "follower_weights:" { print $2 }' | paste -sd ' ')"

# ---- graphs -------------------------------------------------------------------------------------------
claim "dot: functions without counted calls are drawn" same 'co f g main' "$(dot -Tjson samples.dot |
    jq -r '[.objects[].label | split("\\n")[0] | select(. != ".root.")] | sort | join(" ")')"
claim "... and no call is claimed" same 0 "$(grep -c '[0-9] call' samples.dot)"

# Only leaf has time, and calls were not counted: a function that only called is a function all the same.
{
    printf 'string_table: "%s"\n' '' samples count cpu nanoseconds start main leaf
    echo 'sample_type { type: 1 unit: 2 } sample_type { type: 3 unit: 4 }'
    echo 'sample { location_id: [3, 2, 1] value: [7, 70000] }'
    for i in 1 2 3; do
        echo "location { id: $i line { function_id: $i } } function { id: $i name: $((i + 4)) }"
    done
} | pprof_text --encode >leaf.qprof
export_profile quantify leaf
claim "Quantify: every caller is a function" same '' "$(awk -F '\t' '$1 == "Function" { is[$2] = 1 }
    $1 == "Caller" && !is[$3] && $3 != ".root." { print $3 }' leaf.quantify)"
claim "... with its total" same '70000 70000 70000' "$(awk -F '\t' '$1 == "Function" { print $6 }' \
    leaf.quantify | paste -sd ' ')"
export_profile sqlite leaf
claim "SQLite: view top has them" same 'leaf|70000|70000,start|0|70000,main|0|70000' \
    "$(ask leaf 'SELECT name, self, total FROM top' | paste -sd ,)"
export_profile dot leaf
claim "dot draws them" same 4 "$(dot -Tjson leaf.dot | jq '.objects | length')"
qprof export --to=callgrind --when='score.g->*' run.qprof >when.callgrind
claim "callgrind: a caller that is not charged has its calls" grep -q '^fn=([0-9]*) main' when.callgrind
finish
