#!/bin/sh
# test_speedscope.sh: speedscope itself, in a headless browser, shows our figures: of its own format
# and of the others that it reads.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need jq jq
need chromium chromium
need_modules
[ -d "$QPROF_BUILD/web/node_modules/playwright-core" ] || { echo "the pages were built without npm"; exit 77; }

export_profile speedscope run
claim "threads together" same 'all threads 32000' "$(jq -r '.profiles[] | "\(.name) \(.endValue)"' run.speedscope)"
qprof export --force --to=speedscope --threads -o run.speedscope run.qprof
claim "time of the first thread" same 25000 "$(jq '.profiles[0].endValue' run.speedscope)"
claim "threads" same '.main_1. .co_2.' "$(jq -r '[.profiles[].name] | join(" ")' run.speedscope)"
claim "what is opened is closed, in the right order" same true "$(jq '
    [.profiles[] | reduce .events[] as $e ({open: [], is_good: true, at: 0};
        if $e.at < .at then .is_good = false else .at = $e.at end
        | if $e.type == "O" then .open += [$e.frame]
          elif .open[-1] == $e.frame then .open |= .[:-1]
          else .is_good = false end)
     | .is_good and .open == []] | all' run.speedscope)"
export_profile speedscope hostile
claim "hostile names are JSON" jq -e '.profiles[0].endValue == 13000' hostile.speedscope
export_profile speedscope deep
claim "depth is not limited" jq -e '.profiles[0].events | length == 10002' deep.speedscope

# Of callgrind's callers and callees it makes a tree, which it cannot if f calls itself.
qprof export --to=speedscope -o run.speedscope.json --thread=1 run.qprof
qprof export --to=folded -o run.folded --thread=1 run.qprof
qprof export --to=pprof -o run.pb.gz --thread=1 run.qprof
qprof export --to=callgrind -o callgrind.out.1 plain.qprof
record lines.qprof 'main(' ':1' 9 'g(' 7 ')' ':2' 2 '#1*5' '#2*1' ')'
qprof export --to=callgrind -o callgrind.out.2 lines.qprof
qprof export --to=pprof -o lines.pb.gz lines.qprof
qprof export --to=pprof -o samples.pb.gz --thread=1 samples.qprof
qprof export --to=chrome -o run.trace.json --thread=1 run.qprof
qprof export --to=cpuprofile -o run.cpuprofile --thread=1 run.qprof
MODULES=$modules CHROMIUM=$(command -v chromium-headless-shell || command -v chromium) node "$root/tests/export/speedscope.mjs" \
    run.speedscope.json run.folded run.pb.gz run.trace.json run.cpuprofile callgrind.out.1 \
    callgrind.out.2 lines.pb.gz samples.pb.gz >seen 2>&1
for file in run.speedscope.json run.folded run.pb.gz run.trace.json run.cpuprofile; do
    claim "speedscope shows own and total time of $file" same \
        "main 14 25, f 7 10, g 3 5, leaf 1 1" "$(sed -n "s/^$file: //p" seen)"
done
claim "speedscope shows own and total time of callgrind.out.1" same \
    "main 14 25, f 7 10, g 3 3, leaf 1 1" "$(sed -n 's/^callgrind.out.1: //p' seen)"
claim "... and with a third event, executions of lines" same "main 11 18, g 7 7" \
    "$(sed -n 's/^callgrind.out.2: //p' seen)"
claim "... and of pprof's samples a line" same "main 11 18, g 7 7" "$(sed -n 's/^lines.pb.gz: //p' seen)"
claim "... and of a run that was sampled" same "f 9000 11000, main 3000 14000, g 2000 6000" \
    "$(sed -n 's/^samples.pb.gz: //p' seen)"
[ "$failures" = 0 ] || cat seen
finish
