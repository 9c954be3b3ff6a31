#!/bin/sh
# test_python.sh: bindings/python, built for the python3 of this machine, or for QPROF_PYTHON. Its promises; calls of each
# function, resumes included, equal to those that the profiler of the standard library counts; lines,
# statements and branches equal to those of coverage.py.
set -eu
python=${QPROF_PYTHON:-/usr/bin/python3}
"$python" -c 'import setuptools, sys, sysconfig, os
assert (3, 11) <= sys.version_info[:2] <= (3, 14)
assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || {
    echo "test_python.sh: no Python 3.11 to 3.14 with python3-dev and python3-setuptools"
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
(cd claims && "$python" "$tests/python_claims.py" && "$python" "$tests/python_claims_cover.py" &&
    "$python" "$tests/python_claims_tools.py")

# programs CHECK: CHECK NAME ROOT PROGRAM... for programs that are installed, and for copies of modules
programs() {
    libraries=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    mkdir -p copies
    for name in ast difflib dis pickle textwrap tokenize argparse; do
        cp "$libraries/$name.py" "copies/my_$name.py"
    done
    sed 's/^import \(ast\|difflib\|dis\|pickle\|textwrap\|tokenize\)$/import my_\1 as \1/' \
        "$tests/python_programs.py" >copies/programs.py
    PYTHONPATH=$PYTHONPATH:$PWD/copies "$1" programs copies copies/programs.py
    for module in pygments docutils; do
        folder=$("$python" -c "import os, $module; print(os.path.dirname($module.__file__))" 2>/dev/null) || continue
        case $module in
        pygments) "$1" pygments "$folder" -m pygments -l python -f html "$tests/python_calls.py" ;;
        docutils) "$1" docutils "$folder" -m docutils --report=5 "$QPROF_SOURCE/README.md" ;;
        esac
    done
}

same_calls() { # NAME ROOT PROGRAM...: both counters agree, and the program prints the same
    name=calls_$1
    shift 2
    "$python" "$tests/python_calls.py" lsprof "$name.json" "$@" >"$name.out1"
    "$python" "$tests/python_calls.py" qprof "$name.qprof" "$@" >"$name.out2"
    cmp "$name.out1" "$name.out2"
    "$QPROF_BIN/qprof" report --format=json --limit=0 "$name.qprof" >"$name.report"
    echo "$name:"
    "$python" "$tests/python_calls.py" compare "$name.json" "$name.report"
    "$QPROF_BIN/qprof" check "$name.qprof" >/dev/null
}
programs same_calls

"$python" -c 'import coverage' 2>/dev/null || {
    echo "coverage is not compared: no coverage.py"
    exit 0
}

same_lines() { # NAME ROOT PROGRAM...
    name=lines_$1 root=$2
    shift 2
    "$python" "$tests/python_cover.py" coverage "$name.json" "$root" "$@" >"$name.out1"
    "$python" "$tests/python_cover.py" qprof "$name.qprof" "$root" "$@" >"$name.out2"
    cmp "$name.out1" "$name.out2"
    "$QPROF_BIN/qprof" cover export --to=json -o "$name.cover" "$name.qprof"
    echo "$name:"
    SHOWN=9 "$python" "$tests/python_cover.py" compare "$name.json" "$name.cover"
}
programs same_lines
