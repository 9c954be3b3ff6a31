#!/bin/sh
# long_tcl.sh: examples/tcl as its README builds it: calls of every command beside Tcl's own trace in an unpatched
# Tcl, files of Tcl's test suite while it records, its guide, and what recording costs.
set -eu
work=$PWD tests=$QPROF_SOURCE/tests/bindings
unset QPROF
. "$QPROF_SOURCE/tests/packages.sh"
. "$tests/lib.sh"
need_packages "the adapter of Tcl" jq python3
sh "$QPROF_SOURCE/examples/tcl/build.sh" "$work/built" >build.log || { cat build.log; exit 1; }
cp -r built/tcl8.6 plain
(cd plain/unix && CFLAGS=-O2 ./configure --disable-shared --enable-threads && nice make -j 2 tclsh libtclstub8.6.a) >plain.log 2>&1 ||
    { tail -n 20 plain.log; exit 1; }
gcc -O1 -fPIC -shared -DUSE_TCL_STUBS -Iplain/generic -Iplain/unix "$tests/tcl_count.c" plain/unix/libtclstub8.6.a -o libtclcount.so
export TCL_LIBRARY="$work/plain/library"
plain=plain/unix/tclsh recording=built/bin/tclsh
: >empty.tcl

# agree NAME PROGRAM WORD...: the same output, the same calls, no mistake of the integration
agree() {
    name=$1
    shift
    for program in "$*" empty.tcl; do
        [ "$program" = empty.tcl ] && of=empty || of=$name
        rm -rf html $of.counts $of.qprof
        # shellcheck disable=SC2086  # a program and its words
        TCL_COUNTS=$of.counts TCL_COUNT_LIBRARY=$work/libtclcount.so $plain "$tests/tcl_wrap.tcl" $program >plain.out 2>&1
        rm -rf html
        # shellcheck disable=SC2086
        QPROF="-output=$of.qprof -check-host=yes" $recording "$tests/tcl_wrap.tcl" $program >recording.out 2>&1
        cmp plain.out recording.out
        "$QPROF_BIN/qprof" check --host $of.qprof >check.log || { cat check.log; exit 1; }
        "$QPROF_BIN/qprof" report --format=json --limit=0 $of.qprof >$of.json
    done
    echo "$name: $(python3 "$tests/tcl_compare.py" $name.counts empty.counts $name.json empty.json)"
}

echo "Tcl $(dpkg-parsechangelog -l plain/debian/changelog -S Version)"
agree calls "$tests/tcl_calls.tcl"
agree manual plain/tools/tcltk-man2html.tcl --srcdir=built --htmldir=html --tcl --useversion=8.6

files="proc.test coroutine.test oo.test apply.test tailcall.test eval.test uplevel.test namespace.test interp.test error.test
list.test string.test dict.test for.test while.test if.test set.test incr.test upvar.test rename.test switch.test cmdAH.test
cmdIL.test lsearch.test lset.test join.test split.test foreach.test result.test"
mkdir profiles
$recording plain/tests/all.tcl -file "$files" | sed '/^Tests/d' >stopped.out
QPROF="-filename-prefix=$work/profiles/%p" $recording plain/tests/all.tcl -file "$files" | sed '/^Tests/d' >recording.out
cmp stopped.out recording.out
for file in profiles/*.qprof; do "$QPROF_BIN/qprof" check "$file" >/dev/null; done
echo "its test suite: $(grep Total recording.out | cut -f 2-9 | tr '\t' ' '), $(find profiles -name '*.qprof' | wc -l) profiles"

# Calls of files of the test suite that have no interpreter of their own, in which Tcl's trace is not set, and that rename no
# commands: it names them otherwise. They run alone, in an empty folder, whose files they count.
plain=$work/plain/unix/tclsh recording=$work/built/bin/tclsh.real
run_suite() { # NAME PROGRAM
    for way in plain recording; do
        rm -rf alone
        mkdir alone
        (cd alone && case $way in
            plain) TCL_COUNTS=$work/$1.counts TCL_COUNT_LIBRARY=$work/libtclcount.so $plain "$tests/tcl_wrap.tcl" "$2" ;;
            recording) QPROF="-output=$work/$1.qprof" $recording "$tests/tcl_wrap.tcl" "$2" ;;
            esac) >$way.out 2>&1 </dev/null
    done
    cmp plain.out recording.out
    "$QPROF_BIN/qprof" report --format=json --limit=0 "$1.qprof" >"$1.json"
}
run_suite empty-suite "$work/empty.tcl"
for name in append apply assocd binary case compExpr compExpr-old concat dict dstring eval expr-old for foreach format get if if-old incr \
    incr-old indexObj join lindex linsert list listObj llength lrange lrepeat lreplace lsearch lset mathop obj parseExpr parseOld \
    rename result scan set set-old split string stringComp stringObj unknown utf var while; do
    run_suite "suite-$name" "$work/plain/tests/$name.test"
    python3 "$tests/tcl_compare.py" "suite-$name.counts" empty-suite.counts "suite-$name.json" empty-suite.json >suite.log || {
        echo "$name:"
        cat suite.log
        exit 1
    }
    cat suite.log >>suite.all
    rm "suite-$name".*
done
awk '{ calls += $3 } END { print "calls of its test suite: " NR " files, " calls " calls, 0 differ" }' suite.all

mkdir guide
(cd guide && export QPROF_SOURCE && PATH=$work/built/bin:$PATH follow_guide tcl.md)
echo "the guide: ok"

python3 - "$plain" built/bin/tclsh.real "$tests/tcl_fib.tcl" <<'END'
import os, statistics, subprocess, sys
def seconds(program, options=None):
    before = os.times().children_user
    subprocess.run([program, sys.argv[3]], env={**os.environ, **(options or {})}, check=True)
    return os.times().children_user - before
rows = []
for _ in range(5):
    plain = seconds(sys.argv[1])
    rows.append((seconds(sys.argv[2]) / plain, seconds(sys.argv[2], {"QPROF": "-output=fib.qprof"}) / plain))
print("fib, beside the unpatched Tcl, median of 5 rounds: stopped %.2f, recording %.2f" %
      tuple(statistics.median(column) for column in zip(*rows)))
END
