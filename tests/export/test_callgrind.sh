#!/bin/sh
# test_callgrind.sh: callgrind_annotate's figures are ours, own and inclusive, recursion included,
# by function and by line; KCachegrind reads the file without a warning, with and without jumps.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need callgrind_annotate valgrind
need jq jq

# rows FILE WORDS...: "time calls function" of its table
rows() {
    rows_file=$1
    shift
    callgrind_annotate --threshold=100 --auto=no "$@" "$rows_file" 2>complaints |
        sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%) *\([0-9,]*\) ([ 0-9.]*%) *\(.*\)$/\1 \2 \3/p' | tr -d ,
}
export_profile callgrind run
cat >wanted <<'END'
32000 6 PROGRAM TOTALS
14000 1 score.src:main
7000 2 score.src:f
7000 1 score.src:co
3000 1 score.src:g
1000 1 score.src:leaf;1 2
END
rows run.callgrind >found
claim "self times and calls" diff -u wanted found
claim "nothing to complain about" same '' "$(cat complaints)"
cat >wanted <<'END'
???:all threads 32000 6
PROGRAM TOTALS 32000 6
score.src:co 7000 1
score.src:f 10000 3
score.src:g 5000 2
score.src:leaf;1 2 1000 1
score.src:main 25000 5
END
rows run.callgrind --inclusive=yes | sed 's/^\([0-9]*\) \([0-9]*\) \(.*\)/\3 \1 \2/' | sort >found
claim "inclusive times and calls are totals, f once" diff -u wanted found
claim "f was called twice, by main and g" same "1 1" "$(sed -n '/^cfn=(4)/{n;s/^calls=\([0-9]*\) .*/\1/p}' \
    run.callgrind | xargs)"

# Uncounted calls, and calls that a call pattern does not attribute: callgrind_annotate gives the costs
# after "calls=0" to the caller.
export_profile callgrind samples
cat >wanted <<'END'
20000000 20 PROGRAM TOTALS
9000000 9 score.src:f
6000000 6 score.src:co
3000000 3 score.src:main
2000000 2 score.src:g
END
rows samples.callgrind >found
claim "calls that were not counted: self times and samples" diff -u wanted found
cat >wanted <<'END'
???:all threads 20000000 20
PROGRAM TOTALS 20000000 20
score.src:co 6000000 6
score.src:f 11000000 11
score.src:g 6000000 6
score.src:main 14000000 14
END
rows samples.callgrind --inclusive=yes | sed 's/^\([0-9]*\) \([0-9]*\) \(.*\)/\3 \1 \2/' | sort >found
claim "... and inclusive ones" diff -u wanted found
claim "... without a complaint" same '' "$(cat complaints)"
claim "... and imported again they are uncounted" same 'false 0,co 6000000,f 9000000,g 2000000,main 3000000' \
    "$(qprof report --format=json samples.callgrind | jq -r '"\(.run.has_calls) \(.run.calls)",
        (.methods | sort_by(.name)[] | "\(.name) \(.self)")' | paste -sd ,)"
claim "... which export --help says" grep -q 'calls were not counted (each caller has one)' <<END
$(qprof export --help | tr -s ' \n' '  ')
END
qprof export --to=callgrind --when='score.g->*' run.qprof >when.callgrind
printf '5000 2 PROGRAM TOTALS\n3000 1 score.src:g\n2000 1 score.src:f\n' >wanted
rows when.callgrind >found
claim "a call pattern: who is charged" diff -u wanted found
claim "... and their callers" same '5000 2' "$(rows when.callgrind --inclusive=yes |
    sed -n 's/ score.src:main$//p')"

cp "$root/tests/export/callgrind_prog.c" prog.c
${CC:-cc} -g -O1 prog.c -o prog
valgrind --tool=callgrind --callgrind-out-file=theirs.callgrind ./prog >/dev/null 2>&1
qprof export --to=callgrind -o back.callgrind theirs.callgrind
for words in '' --inclusive=yes; do
    for name in theirs back; do # shellcheck disable=SC2086
        callgrind_annotate --threshold=100 --auto=no $words $name.callgrind |
            sed -n 's/^ *\([0-9,]*\) ([^)]*).*prog\.c:\(leaf\|cheap\|dear\|main\)\( .*\)*$/\2 \1/p' |
            sort -u >$name.rows # twice: without the current folder, and, of callees, with it
    done
    claim "what valgrind recorded, imported and exported, $words" diff -u theirs.rows back.rows
    claim "... has four functions" same 4 "$(wc -l <back.rows | tr -d ' ')"
done

export_profile callgrind hostile
claim "each of thirteen hostile names is a name" same 13 "$(rows hostile.callgrind |
    grep -c '^1000 1 score.src:')"
claim "... without a malformed line" same '' "$(cat complaints)"
record blank.qprof 'main(' 1 '  (' 2 ')' ')'
export_profile callgrind blank
claim "a name of blanks is one" same '1000 1 score.src:main,2000 1 score.src:???' \
    "$(rows blank.callgrind | grep score | sort -n | paste -sd ,)"
claim "... and its line is well-formed" same '' "$(cat complaints)"
export_profile callgrind deep
claim "depth is not limited" same "f 1000 5000" "$(rows deep.callgrind --inclusive=yes |
    sed -n 's/^\([0-9]*\) \([0-9]*\) score.src:f$/f \1 \2/p')"

# main has 11 us self time: 4 before the first mark and 5 after it belong to its second line, 2 to its
# third's; g is all in its first line.
record lines.qprof 'main(' 4 ':1' 5 'g(' 1 ':0' 3 ')' ':2' 2 'g(' 2 ':0' 1 ')' '#1*5' '#2*1' ')'
export_profile callgrind lines
seq 30 | sed 's/^/code /' >score.src
cat >wanted <<'END'
0 1 0 code 1
9000 0 5 code 2
2000 0 1 code 3
7000 2 0 code 11
END
callgrind_annotate --threshold=100 lines.callgrind score.src 2>complaints | sed -n 's/([ 0-9.]*%)//g
    s/^ *\([0-9,]*\)  *\([0-9,]*\)  *\([0-9,]*\)  *\(code .*\)/\1 \2 \3 \4/p' | tr -d , >found
claim "self times, calls and executions of lines" diff -u wanted found
claim "... without a complaint" same '' "$(cat complaints)"
claim "own costs of lines add up to the function's" same 11000 "$(sed -n '/^fn=.*main$/,/^c/p' \
    lines.callgrind | awk 'NF == 4 { n += $2 } END { print n }')"
claim "the head has the sums" grep -qx 'summary: 18000 3 6' lines.callgrind

# Twelve rounds in two calls. `if` is true for 4 and 8, then for 4: nine of twelve jump on to the
# next round; ten rounds are not first ones. 12 > 10 once: three tests, two of which end the loop.
cat >jumps.lua <<'END'
local function main(n)
    local sum = 0
    for i = 1, n do
        if i % 4 == 0 then
            sum = sum + i
        end
    end
    while sum > 10 do
        sum = sum - 10
    end
    return sum
end
main(8)
main(4)
END
if [ -x "$QPROF_BIN/qlua" ]; then
    qprof run -o jumps.qprof -- qlua jumps.lua >run.out 2>&1
    export_profile callgrind jumps
    claim "no jumps unless they are asked for" same '' "$(grep '^j' jumps.callgrind)"
    qprof export --force --to=callgrind --callgrind-jumps -o jumps.callgrind jumps.qprof
    claim "jumps: taken, of how many, where to; a line that has a place alone" same \
        'jcnd=0/2 8,3,jcnd=9/12 3,4,jcnd=10/12 4,3,jcnd=2/3 11,8,jump=1 8,9' \
        "$(sed -n '/^j/{p;n;p;}' jumps.callgrind | paste -sd ,)"
    claim "jumps cost nothing" same "$(qprof report --format=json jumps.qprof | jq .run.total)" \
        "$(awk '/^summary/ { print $2 }' jumps.callgrind)"
    claim "callgrind_annotate passes over them" same '2 12' \
        "$(callgrind_annotate --threshold=100 jumps.callgrind jumps.lua 2>complaints |
        sed -n 's/([ 0-9.]*%)//g; /local function main\|for i =/s/^ *[0-9,]* *[0-9]* *\([0-9]*\) .*/\1/p' |
        paste -sd ' ')$(cat complaints)"
    qprof run -o cover.qprof -collect=coverage -- qlua jumps.lua >run.out 2>&1
    export_profile callgrind cover
    claim "a run without times has calls and executions" same 'summary: 3 40' \
        "$(grep '^summary' cover.callgrind)"
fi
claim "other formats have no jumps" ends 2 qprof export --to=pprof --callgrind-jumps -o no run.qprof

# KCachegrind says on its standard error what it stumbles over, and that it opens with main.
look() {
    HOME=$PWD XDG_RUNTIME_DIR=$PWD QT_QPA_PLATFORM=xcb timeout 60 xvfb-run -a dbus-run-session -- \
        sh -c 'kcachegrind "$1" 2>seen & pid=$!
               for i in $(seq 100); do grep -q ^Selected seen && break; sleep 0.2; done
               kill $pid' sh "$1" >/dev/null 2>&1
    grep -q '^Selected' seen || { cat seen; return 1; }
    ! grep '^Loading' seen
}
if command -v kcachegrind xvfb-run dbus-run-session xauth >/dev/null; then
    claim "KCachegrind opens it without a warning" look run.callgrind
    claim "... and the one with hostile names" look hostile.callgrind
    claim "... and the one without counted calls" look samples.callgrind
    claim "... and the one with costs of lines" look lines.callgrind
    [ ! -e jumps.callgrind ] || claim "... and the one with jumps" look jumps.callgrind
    finish
else
    finish || exit 1
    echo "kcachegrind, xvfb, xauth or dbus-daemon is not installed"
    exit 77
fi
