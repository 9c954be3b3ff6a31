#!/bin/sh
# long_mruby.sh: examples/mruby as its README builds it: mruby's own test suite while it records, calls of every
# function beside an independent count, its guide, and what recording costs.
set -eu
work=$PWD tests=$QPROF_SOURCE/tests/bindings
unset QPROF
. "$QPROF_SOURCE/tests/packages.sh"
. "$tests/lib.sh"
need_packages "the adapter of mruby" jq python3

sh "$QPROF_SOURCE/examples/mruby/build.sh" "$work/built" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
export MRUBY_CONFIG="$work/built/build_config.rb"

# rake TREE WORD...
rake() {
    (cd "$1" && shift && nice ruby ./minirake -j 2 "$@" >"$work/rake.log" 2>&1) || { tail -n 20 "$work/rake.log"; exit 1; }
}

# The same source without the patch, and another one that counts. All three have the same options.
cp -r built/mruby plain
rake plain all test:build
cp -r built/mruby counting
sh "$tests/mruby_count.sh" counting
QPROF_CFLAGS=-DMRB_USE_DEBUG_HOOK rake counting all test:build
QPROF_CFLAGS="-I$QPROF_SOURCE/include" QPROF_LIBS="$QPROF_LIB/libqprof.a -lpthread" rake built/tree all test:build
plain=plain/build/host/bin counting=counting/build/host/bin recording=built/tree/build/host/bin

# agree NAME PROGRAM WORD...: the same output from all builds, the same calls, and no mistake of the integration
agree() {
    name=$1 program=$2
    shift 2
    "$plain/$program" "$@" 2>&1 | sed 's/Time: .*//' >plain.out
    MRUBY_COUNTS=$name.counts "$counting/$program" "$@" >counting.out 2>&1
    "$recording/$program" "$@" 2>&1 | sed 's/Time: .*//' >stopped.out
    cmp plain.out stopped.out
    QPROF=-output=$name.qprof "$recording/$program" "$@" 2>&1 | sed 's/Time: .*//' >recording.out
    cmp plain.out recording.out
    QPROF="-output=$name-host.qprof -check-host=yes" "$recording/$program" "$@" >/dev/null 2>&1
    "$QPROF_BIN/qprof" check --host "$name-host.qprof" >check.log || { cat check.log; exit 1; }
    "$QPROF_BIN/qprof" check "$name.qprof" >check.log || { cat check.log; exit 1; }
    "$QPROF_BIN/qprof" report --format=json --limit=0 "$name.qprof" >"$name.json"
    echo "$name: $(python3 "$tests/mruby_compare.py" "$name.counts" "$name.json")"
}

echo "mruby $(dpkg-parsechangelog -l built/mruby/debian/changelog -S Version)"
agree suite mrbtest
grep -E 'Total|KO|Crash' recording.out
benchmark=$PWD/built/mruby/benchmark
agree renderer mruby "$benchmark/bm_ao_render.rb"
agree calls mruby "$tests/mruby_calls.rb"

# The programs of mruby itself, in processes of their own.
mkdir processes
QPROF="-filename-prefix=$work/processes/%p" rake built/tree test:run:bin
echo "bintests: $(grep -E '  *OK:' rake.log | tr -d ' '), $(find processes -name '*.qprof' | wc -l) profiles"

mkdir guide
(cd guide && export QPROF_SOURCE && PATH=$work/built/bin:$PATH follow_guide mruby.md)
echo "the guide: ok"

# seconds COMMAND...: processor time of the user
seconds() {
    python3 -c 'import os, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(os.times().children_user)' "$@"
}
echo
echo "Processor time beside the unpatched mruby, median of 5 rounds"
echo "| | stopped | recording | calls only | counts only |"
echo "|---|---|---|---|---|"
for program in fib blocks render; do
    for round in 1 2 3 4 5; do
        set -- "$tests/mruby_bench.rb" $program
        seconds "$plain/mruby" "$@" | tr '\n' ' '
        seconds "$recording/mruby" "$@" | tr '\n' ' '
        for options in "" "-collection-granularity=function" "-collection-granularity=function -time=none"; do
            rm -f bench.qprof
            QPROF="-output=bench.qprof $options" seconds "$recording/mruby" "$@" | tr '\n' ' '
        done
        echo
    done >times
    python3 - $program times <<'END'
import statistics, sys
rows = [[float(x) for x in line.split()] for line in open(sys.argv[2])]
ratios = [statistics.median(r[i] / r[0] for r in rows) for i in range(1, 5)]
print("| %s | %s |" % (sys.argv[1], " | ".join("%.2f" % r for r in ratios)))
END
done
