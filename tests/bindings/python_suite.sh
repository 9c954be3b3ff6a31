#!/bin/sh
# python_suite.sh [MODULE...]: calls of Python's own tests equal those that the profiler of the standard library counts.
#
# The package qprof must be in PYTHONPATH. Modules whose calls differ between two counts without qprof are named, and not compared.
# Tests may fail: then they fail alike. Left out by default: modules with threads, of which that profiler counts one, and those that wait
# for other processes.
set -eu
python=${QPROF_PYTHON:-/usr/bin/python3} tests=$QPROF_SOURCE/tests/bindings
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
export NO_GC=1 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
[ $# -gt 0 ] || set -- abc argparse array ast base64 binascii binop bisect bool builtin bytes charmapcodec class cmath cmd codecs \
    collections colorsys compare complex configparser contains contextlib contextlib_async copy copyreg csv dataclasses \
    decorators defaultdict deque descrtut dict dictcomps dictviews difflib dis enumerate exception_hierarchy exception_variations \
    except_star fnmatch format frozen funcattrs functools generator_stop generators \
    genericalias genericpath genexps getopt glob global grammar hash heapq hmac html htmlparser index int \
    isinstance iter iterlen keyword keywordonlyarg lambda linecache list listcomps locale math memoryview \
    metaclass minidom named_expressions netrc numeric_tower opcodes operator optparse ordered_dict patma pep646_syntax pkg \
    plistlib pow property quopri raise range re reprlib richcmp rlcompleter scope set setcomps shelve shlex \
    slice sort stat string string_literals stringprep strptime struct structseq subclassinit super symtable tabnanny \
    textwrap tokenize traceback tuple type_comments typechecks typing ucn unary unpack unpack_ex urlparse userdict userlist \
    userstring uu weakset with yield_from xml_dom_minicompat zipapp
compared=0 calls=0 functions=0 differ=0 varying='' absent=''
for name; do
    # where an exception is thrown into an inner generator the profiler of 3.11 takes callers for returned
    case $name-$version in generators-3.11 | yield_from-3.11) continue ;; esac
    if ! "$python" -c "import test.test_$name" >/dev/null 2>&1; then
        absent="$absent $name"
        continue
    fi
    for counter in lsprof again qprof; do
        run=$counter
        [ $counter = again ] && run=lsprof
        timeout -k 10 100 "$python" "$tests/python_calls.py" $run suite.$counter -m unittest "test.test_$name" >suite.out 2>&1 </dev/null || :
        [ -s suite.$counter ] || break
    done
    if [ ! -s suite.again ] || ! cmp -s suite.lsprof suite.again; then
        varying="$varying $name"
    elif [ ! -s suite.qprof ]; then
        echo "$name: no profile"
        tail -n 20 suite.out
        exit 1
    else
        "$QPROF_BIN/qprof" report --format=json --limit=0 suite.qprof >suite.report
        "$python" "$tests/python_calls.py" compare suite.lsprof suite.report >suite.log || {
            echo "$name:"
            cat suite.log
        }
        # the last line is "N functions, N calls, N differ"
        set -- $(tail -n 1 suite.log | tr -d ,)
        functions=$((functions + $1)) calls=$((calls + $3)) differ=$((differ + $5)) compared=$((compared + 1))
    fi
    rm -f suite.*
done
echo "Python's own tests: $compared modules, $functions functions, $calls calls, $differ functions differ"
[ -z "$varying" ] || echo "They differ between two counts without qprof:$varying"
[ -z "$absent" ] || echo "Not in this version:$absent"
[ $differ -eq 0 ]
