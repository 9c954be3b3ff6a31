#!/bin/sh
# test_python.sh: bindings/python, built for the python3 of this machine. Its promises; and calls of each
# function, resumes included, equal to those that the profiler of the standard library counts.
set -eu
python=/usr/bin/python3
"$python" -c 'import setuptools, sys, sysconfig, os
assert sys.version_info[:2] == (3, 11)
assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || {
    echo "test_python.sh: no Python 3.11 with python3-dev and python3-setuptools"
    exit 77
}
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
work=$PWD
(cd "$QPROF_SOURCE/bindings/python" &&
    QPROF_LIBRARY=$QPROF_LIB/libqprof.a "$python" setup.py -q build --build-base "$work/build") >build.log 2>&1 || {
    cat build.log
    exit 1
}
! grep -E 'warning: .*\[-W' build.log
PYTHONPATH=$(echo "$work"/build/lib.*)
export PYTHONPATH
tests=$QPROF_SOURCE/tests/bindings

mkdir claims
(cd claims && "$python" "$tests/python_claims.py")

# same NAME PROGRAM...: both counters agree, and the program prints the same
same() {
    name=$1
    shift
    "$python" "$tests/python_calls.py" lsprof "$name.json" "$@" >"$name.out1"
    "$python" "$tests/python_calls.py" qprof "$name.qprof" "$@" >"$name.out2"
    cmp "$name.out1" "$name.out2"
    "$QPROF_BIN/qprof" report --format=json --limit=0 "$name.qprof" >"$name.report"
    echo "$name: $("$python" "$tests/python_calls.py" compare "$name.json" "$name.report")"
    "$QPROF_BIN/qprof" check "$name.qprof" >/dev/null
}
same tokenize -m tokenize "$tests/python_claims.py"
same programs "$tests/python_programs.py"
for module in pygments docutils; do
    "$python" -c "import $module" 2>/dev/null || continue
    case $module in
    pygments) same pygments -m pygments -l python -f html "$tests/python_claims.py" ;;
    docutils) same docutils -m docutils --report=5 "$QPROF_SOURCE/README.md" ;;
    esac
done
