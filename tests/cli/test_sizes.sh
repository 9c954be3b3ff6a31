#!/bin/sh
# test_sizes.sh: every command's work grows as its input does: instructions for inputs of sizes 1, 2 and 4
#
# What four times as much takes more than twice as much may be three times what twice as much takes more than once: 2 if
# work is linear, 2.3 if it is n log n, 4 if it is quadratic. A fourth of the commands; with SIZES=all, as
# tests/long.sh sizes has it, all of them.
set -eu
PATH=$QPROF_BIN:$PATH
export PATH
unset QPROF
command -v valgrind >/dev/null || {
    echo "test_sizes.sh: valgrind is missing"
    exit 77
}

# Live profiles of this test are here, and go with its folder.
XDG_RUNTIME_DIR=$PWD/runtime
export XDG_RUNTIME_DIR
mkdir -m 700 runtime

cat >made.lua <<'END'
local n = tonumber(arg[1])
local parts, at = {}, {}
for i = 1, n do
    parts[i] = ("local function f%d(x, g)\n  if x > %d then\n    return g and g(x, nil) or x\n  end\n  return x\nend\nt[%d] = f%d\n")
        :format(i, i % 7, i, i)
end
for i = 1, n, 50 do
    local name = ("part%d.lua"):format(i)
    local file = io.open(name, "w")
    file:write("local t = ...\n", table.concat(parts, "", i, math.min(i + 49, n)))
    file:close()
    assert(loadfile(name))(at)
end
local qlua = require("qlua")
for i = 1, n, 2 do -- the callees call nothing: a format that has a graph has these paths
    qlua.request("GET /" .. i % 9, nil, at[i], i % 11, at[i + 1])
    at[i](i % 5, at[(i * 7) % n + 1])
end
END

for n in 100 200 400; do
    mkdir "$n"
    (
        cd "$n"
        QPROF="-output=run.qprof -collect=profile,coverage -time=exact -slowest=9 -trace-output=run.qtrace" qlua ../made.lua "$n"
        QPROF="-output=base.qprof -collect=profile,coverage -time=exact" qlua ../made.lua "$n"
        qprof merge -o sum.qprof run.qprof base.qprof
        qprof export --to=pprof -o run.pb.gz run.qprof
        qprof export --to=callgrind -o callgrind.out run.qprof
        qprof trace convert --to=dbf -o RUN.PRF run.qtrace run.qprof
        qprof trace convert --to=delimited -o run.txt run.qtrace run.qprof
        qprof trace convert -o run.qtrace.zst run.qtrace run.qprof
        qprof store import one.db base.qprof
        qprof store import two.db run.qprof base.qprof
    ) >/dev/null 2>log || {
        cat log
        exit 1
    }
done

# instructions N COMMAND...: of the command in the folder of that size
instructions() {
    (
        cd "$1"
        shift
        rm -rf kept* changed.db*
        cp two.db changed.db
        status=0
        valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=valgrind.log "$QPROF_BIN/qprof" "$@" >/dev/null 2>err || status=$?
        [ "$status" -le 1 ] || {
            echo "qprof $*: status $status" >&2
            cat err >&2
            exit 1
        }
        sed -n 's/.*Collected : //p' valgrind.log
    )
}

failed=0
n_lines=0
while read -r words; do
    n_lines=$((n_lines + 1))
    [ "${SIZES:-}" = all ] || [ $((n_lines % 4)) -eq 0 ] || continue
    # shellcheck disable=SC2086  # words of a command
    set -- $words
    one=$(instructions 100 "$@")
    two=$(instructions 200 "$@")
    four=$(instructions 400 "$@")
    first=$((two - one))
    second=$((four - two))
    allowed=$((3 * first + one / 50))
    verdict=ok
    [ "$second" -le "$allowed" ] || {
        verdict="grows faster"
        failed=1
    }
    printf '%-52s %11d %11d %11d  %s\n' "$words" "$one" "$two" "$four" "$verdict"
done <<'END'
report run.qprof
report --format=json run.qprof
report --threads run.qprof
report run.pb.gz
report callgrind.out
tree run.qprof
tree --format=json run.qprof
detail f5 run.qprof
annotate f5 run.qprof
info run.qprof
check run.qprof
summary run.qprof
requests run.qprof
requests --slowest run.qprof
locks run.qprof
list run.qprof
list --by=statement run.qprof
cover report run.qprof
cover report --functions run.qprof
cover summary run.qprof
cover annotate part1.lua run.qprof
cover context run.qprof
cover merge -o kept run.qprof base.qprof
cover diff base.qprof run.qprof
cover export --to=lcov run.qprof
cover export --to=cobertura run.qprof
cover export --to=json run.qprof
diff base.qprof run.qprof
diff --paths base.qprof run.qprof
merge -o kept run.qprof base.qprof
export --to=pprof -o kept run.qprof
export --to=callgrind run.qprof
export --to=folded run.qprof
export --to=speedscope run.qprof
export --to=firefox run.qprof
export --to=json run.qprof
export --to=perfetto run.qprof
export --to=dot run.qprof
html -o kept run.qprof
html -o kept base.qprof run.qprof
html -o kept --trace=run.qtrace run.qprof
trace dump run.qtrace
trace dump RUN.PRF
trace dump run.txt
trace dump run.qtrace.zst
trace stat run.qtrace
trace flow run.qtrace
trace slow f5 run.qtrace
trace profile -o kept run.qtrace
trace export --to=chrome run.qtrace
trace export --to=perfetto -o kept run.qtrace
trace export --to=firefox run.qtrace
trace convert --to=csv run.qtrace
trace convert --to=dbf -o KEPT.PRF --force run.qtrace
store import one.db run.qprof
store list two.db
store top two.db
store tree two.db
store requests two.db
store slow two.db
store series --by=service two.db
store dead two.db
store check two.db
store export -o kept two.db
store roll --before=2100-01-01 changed.db
store remove --before=2100-01-01 changed.db
END
exit $failed
