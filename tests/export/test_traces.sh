#!/bin/sh
# test_traces.sh: what others show of an exported trace is what happened in it: speedscope of a Chrome
# trace, protoc of a trace of Perfetto, the Firefox Profiler of its own format.
. "$(dirname "$0")/lib.sh"
PATH=$QPROF_BIN:$PATH
need jq jq
need protoc protobuf-compiler
need chromium chromium
need_modules
[ -d "$QPROF_BUILD/web/node_modules/playwright-core" ] || { echo "the pages were built without npm"; exit 77; }

# Thread 1: main 0 to 100 us, f 10 to 40, in it g 20 to 25; f 50 to 60; h 65 to 70 does not return.
# Thread 2: other 5 to 30 us.
"$QPROF_BUILD/tests/trace_write" run.qtrace 4 100000 \
    '@1 main( 10000 f( 10000 g( 5000 ) 15000 ) 10000 f( 10000 ) 5000 h( 5000 !1 *done 30000 )' \
    '@2 5000 other( 25000 )'
for format in chrome perfetto firefox; do
    qprof trace export --to=$format -o run.$format run.qtrace
done
# own and total time of each function, us
wanted='main 55 100
f 35 40
g 5 5
h 5 5'
qprof trace profile -o run.qprof run.qtrace >/dev/null
claim "the profile of the trace" same "$wanted" "$(qprof report --format=json --thread=1 run.qprof |
    jq -r '[.methods[] | select(.calls > 0)] | sort_by(-.self, .name)[]
        | "\(.name) \(.self / 1000) \(.total / 1000)"')"

# ---- Chrome ---------------------------------------------------------------------------------------
MODULES=$modules CHROMIUM=$(command -v chromium-headless-shell || command -v chromium) node "$root/tests/export/speedscope.mjs" run.chrome >seen 2>&1
claim "speedscope shows them" same "$(echo "$wanted" | sort)" \
    "$(sed -n 's/^run.chrome: //p' seen | tr ',' '\n' | sed 's/^ //' | sort)"
"$QPROF_BUILD/tests/trace_write" ties.qtrace 4 100000 \
    '@1 a( b( 5123 c( ) ) d( 5001 ) 1 e( 7 f( 5 g( 11 ) ) ) 2 )'
qprof trace export --to=chrome -o ties.chrome ties.qtrace
MODULES=$modules CHROMIUM=$(command -v chromium-headless-shell || command -v chromium) node "$root/tests/export/speedscope.mjs" ties.chrome >>seen 2>&1
claim "... if they begin or end at once" same 'b 5.12 5.12, d 5 5, g 0.011 0.011, e 0.007 0.023, f 0.005 0.016, a 0.003 10.15' \
    "$(sed -n 's/^ties.chrome: //p' seen)"
MODULES=$modules node "$root/tests/export/devtools.mjs" ties.chrome run.chrome >>seen 2>&1
claim "developer tools show them" same 'main 100, f 30, g 5, f 10, h 5' "$(sed -n 's/^run.chrome .main_1.: //p; s/^run.chrome [^:]*1[^:]*: //p' seen | head -n 1)"
[ "$failures" = 0 ] || cat seen

# ---- Perfetto -------------------------------------------------------------------------------------
protoc -I "$root/tests/export" --decode=perfetto.protos.Trace perfetto.proto <run.perfetto >decoded
claim "no field is unknown to Perfetto" same 0 "$(grep -cE '^ *[0-9]+:' decoded)"
claim "... slices have their times" same "$wanted" "$(awk '
    $1 == "iid:" { iid = $2 }
    $1 == "name:" { gsub(/"/, "", $2); if (iid) names[iid] = $2; iid = 0 }
    $1 == "timestamp:" { at = $2 }
    $1 == "type:" { type = $2 }
    $1 == "track_uuid:" { track = $2 }
    $1 == "name_iid:" { name = $2 }
    /^}/ && type == "TYPE_SLICE_BEGIN" {
        if (depth[track]) self[stack[track, depth[track]]] += at - last[track]
        stack[track, ++depth[track]] = names[name]
        begin[track, depth[track]] = last[track] = at
    }
    /^}/ && type == "TYPE_SLICE_END" {
        top = stack[track, depth[track]]
        self[top] += at - last[track]
        total[top] += at - begin[track, depth[track]--]
        last[track] = at
    }
    /^}/ { type = "" }
    END { for (name in self) if (name != "other") print name, self[name] / 1000, total[name] / 1000 }' decoded |
    sort -k2,2nr -k1,1)"

# ---- Firefox --------------------------------------------------------------------------------------
claim "Firefox: the time until the next sample" \
    same '[[0,10],[10,10],[20,5],[25,15],[40,10],[50,10],[60,5],[65,5],[70,30],[100,0]]' \
    "$(jq -c '.threads[0].samples | [.time, .weight] | transpose | map(map(. * 1000 | round))' run.firefox)"
need_profiler_cli
functions() {
    cli thread functions --thread "$1" --limit 0 --json | jq -r '[.functions[]
        | {name, self: (.selfSamples * 1e6 | round / 1000), total: (.totalSamples * 1e6 | round / 1000)}]
        | sort_by(-.self, .name)[] | "\(.name) \(.self) \(.total)"'
}
cli_load run.firefox
claim "the Firefox Profiler shows own and total times" same "$wanted" "$(functions t-0)"
claim "... of the second thread" same 'other 25 25' "$(functions t-1)"
cli stop test >/dev/null

# a thread that waits in between: coroutines of qlua, by the figures of its profile
cat >wait.lua <<'END'
local function spin(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end
local co = coroutine.wrap(function() for i = 1, 5 do spin(20000) coroutine.yield() end end)
for i = 1, 5 do spin(50000) co() end
END
QPROF="-output=wait.qprof -collect=profile,trace -elapsed-source=monotonic" qlua wait.lua
qprof trace export --to=firefox -o wait.firefox wait.qprof
cli_load wait.firefox
for thread in 0 1; do
    number=$(jq -r ".threads[$thread].tid" wait.firefox | cut -d . -f 2)
    claim "Firefox: $(jq -r ".threads[$thread].name" wait.firefox) has no time while it is suspended" same \
        "$(qprof report --format=json --thread="$number" wait.qprof |
            jq -r '[.methods[] | select(.self > 0)] | sort_by(-.self)[0] | "\(.name) \(.self / 1000)"')" \
        "$(functions t-$thread | sed -n '1s/ [^ ]*$//p')"
done
cli stop test >/dev/null
finish
