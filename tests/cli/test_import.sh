#!/bin/sh
# test_import.sh: profiles of other tools: what qprof exported comes back with the same figures; what
# callgrind and Go recorded has the figures that their own tools show.
. "$(dirname "$0")/lib.sh"

# f is recursive through g
record run.qprof 'main(' 10 'f(' 5 'g(' 3 'f(' 2 ')' ')' ')' 4 'g(' 1 ')' ')'

# figures FILE: "function calls self total" in ns, sorted
figures() {
    qprof report --format=json --limit=0 "$@" |
        jq -r '.methods[] | "\(.name) \(.calls) \(.self) \(.total)"' | sort
}
# paths FILE: "calls self total depth function", in order
paths() {
    qprof export --to=folded "$@"
    qprof export --to=folded --calls "$@"
}
figures run.qprof >wanted
claim "the profile has functions" test -s wanted
qprof export --to=pprof -o run.pb.gz run.qprof
figures run.pb.gz >found
claim "pprof and back: the same figures" diff -u wanted found
claim "... and the same call paths" same "$(paths run.qprof)" "$(paths run.pb.gz)"
gunzip -c run.pb.gz >run.pb
figures --when='"".g' run.qprof >wanted_g
qprof export --to=pprof --when='"".g' -o g.pb.gz run.qprof
figures g.pb.gz >found
claim "... of a view, also of callers that have no calls" diff -u wanted_g found
figures run.pb >found
claim "... compressed or not" diff -u wanted found
qprof export --to=callgrind -o callgrind.out.1 run.qprof
claim "callgrind and back: the same calls and self times" same "$(cut -d" " -f1-3 wanted)" \
    "$(figures callgrind.out.1 | cut -d" " -f1-3)"
record plain.qprof 'main(' 10 'f(' 5 'g(' 3 ')' 'h(' 2 'g(' 6 ')' ')' ')' 4 'g(' 1 ')' ')'
qprof export --to=callgrind -o callgrind.out.2 plain.qprof
claim "... and without recursion the same figures" same "$(figures plain.qprof)" \
    "$(figures callgrind.out.2)"
claim "... marked as estimated" grep -q 'call paths are estimated from callers and callees' <<END
$(qprof report callgrind.out.1)
END
for file in run.pb.gz callgrind.out.1 callgrind.out.2; do
    claim "$file passes the check" sh -c "qprof check $file >/dev/null"
done
for file in run.pb.gz callgrind.out.2; do
    base=run.qprof
    [ $file = run.pb.gz ] || base=plain.qprof
    claim "$file differs in nothing" same 0 "$(qprof diff --format=json $base $file |
        jq '[.rows[] | select(.state != "same")] | length')"
done
qprof merge -o sum.qprof run.pb.gz run.pb >/dev/null
claim "imports can be merged" same "main 2" "$(figures sum.qprof | sed -n 's/^\(main [0-9]*\) .*/\1/p')"
claim "two words: the file is distinguished from the function" grep -q '^ *calls' <<END
$(qprof detail main run.pb.gz)
END
claim "another value can be chosen" same "calls were counted" "$(qprof report --sample-index=calls \
    run.pb.gz | grep -q 'exact calls, no times' && echo calls were counted)"
claim "a wrong value is named with those there are" same \
    "qprof report: run.pb.gz: it has no values cpu; it has calls, wall" \
    "$(qprof report --sample-index=cpu run.pb.gz 2>&1)"

head -c 100 run.pb.gz >cut.pb.gz
claim "a damaged file is one line" same \
    "qprof report: cut.pb.gz: its compressed data are damaged or cut off" \
    "$(qprof report cut.pb.gz 2>&1)"

head -n 14 callgrind.out.2 >cut.out
claim "so is one that was cut off between two lines" same \
    "qprof report: cut.out: line 14: it is cut off" "$(qprof report cut.out 2>&1 | cut -d: -f1-4 |
        sed 's/\(cut off\).*/\1/')"
claim "a limit that other tools do not have is not mentioned" same "" "$(qprof info run.pb.gz |
    grep 'at most')"

# ---- what others recorded ----------------------------------------------------------------------

cp "$root/tests/export/callgrind_prog.c" prog.c
if command -v valgrind callgrind_annotate >/dev/null; then
    ${CC:-cc} -g -O1 prog.c -o prog
    valgrind --tool=callgrind --callgrind-out-file=cg.out ./prog >/dev/null 2>&1
    callgrind_annotate --threshold=100 --auto=no cg.out |
        sed -n 's/^ *\([0-9,]*\) ([^)]*).*prog.c:\([a-z]*\).*/\2 \1/p' | tr -d , | sort >wanted
    qprof report --format=json --limit=0 cg.out |
        jq -r '.methods[] | select(.file | endswith("prog.c")) | "\(.name) \(.self)"' | sort >found
    claim "own costs are those of callgrind_annotate" diff -u wanted found
    n_lines=$(wc -l <cg.out) n_taken=0
    for n in 30 200 1000 $((n_lines - 20)); do
        head -n $n cg.out >cut.out
        ! qprof report cut.out >/dev/null 2>&1 || n_taken=$((n_taken + 1))
    done
    claim "wherever it is cut off it is refused" same 0 $n_taken
    claim "calls are those of the program" same "100 100 200" "$(qprof report --format=json \
        --limit=0 cg.out | jq -r '[.methods[] | select(.name == "cheap", .name == "dear",
            .name == "leaf") | .calls] | sort | join(" ")')"
    claim "... and pass the check" sh -c "qprof check cg.out >/dev/null"
else
    echo "valgrind is not installed: callgrind's own output is not tried"
fi
if command -v go >/dev/null; then
    export HOME="$PWD" GOFLAGS=-mod=mod GOTOOLCHAIN=local
    go run "$root/tests/export/busy.go" cpu.pb.gz
    go tool pprof -top -nodecount=1000 -nodefraction=0 -unit=ns cpu.pb.gz 2>/dev/null |
        sed '1,/flat%/d' | awk '{ sub("ns", "", $1); sub("ns", "", $4); print $6, $1, $4 }' |
        sort >wanted
    qprof report --format=json --limit=0 cpu.pb.gz |
        jq -r '.methods[] | "\(.name) \(.self) \(.total)"' | sort >found
    claim "a Go profile's times are those of go tool pprof" diff -u wanted found
    claim "... a sample represents the 10 ms between two of them" grep -q 'one in 10.000 ms' <<END
$(qprof report cpu.pb.gz)
END
    claim "... its calls are not known" grep -q 'calls were not counted' <<END
$(qprof report cpu.pb.gz)
END
else
    echo "go is not installed: a profile of Go is not tried"
fi
finish
