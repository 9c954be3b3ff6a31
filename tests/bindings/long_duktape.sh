#!/bin/sh
# long_duktape.sh: examples/duktape as its README builds it: calls of every function beside an independent count, in a
# program of calls of all kinds and in UglifyJS, a planted mistake, its guide, and what recording costs.
set -eu
work=$PWD tests=$QPROF_SOURCE/tests/bindings
unset QPROF
. "$QPROF_SOURCE/tests/packages.sh"
. "$tests/lib.sh"
need_packages "the adapter of Duktape" jq python3 node-uglify-js libjs-underscore
sh "$QPROF_SOURCE/examples/duktape/build.sh" "$work/built" >build.log || { cat build.log; exit 1; }

# compile TREE OUTPUT [OPTION...]
compile() {
    (cd "$1" && shift && nice sh "$QPROF_SOURCE/examples/duktape/command.sh" "$@")
}
cp -r built/duktape plain
compile plain "$work/duk-plain"
# Array.prototype.sort() chooses at random what it compares: not in the builds whose calls are compared.
cp -r plain counting
cp -r built/tree recording
cp -r built/tree mistaken
for tree in counting recording; do
    sed -i 's/^#undef DUK_USE_GET_RANDOM_DOUBLE$/#define DUK_USE_GET_RANDOM_DOUBLE(ud) 0.5/' $tree/src/duk_config.h
done
sh "$tests/duktape_count.sh" counting
compile counting "$work/duk-counting"
sed -i 's/^ *qprof_unwind(s, act->parent->profile_token);$/;/' mistaken/src/profile.h
for tree in recording mistaken; do
    compile $tree "$work/duk-$tree" -I"$QPROF_SOURCE/include" "$QPROF_LIB/libqprof.a" -lpthread
done

# agree NAME FILE...: the same output from all builds, the same calls, and no mistake of the integration
agree() {
    name=$1
    shift
    DUKTAPE_COUNTS=$name.counts ./duk-counting "$@" >counting.out 2>&1
    ./duk-recording "$@" >stopped.out 2>&1
    cmp counting.out stopped.out
    QPROF=-output=$name.qprof ./duk-recording "$@" >recording.out 2>&1
    cmp counting.out recording.out
    QPROF="-output=$name-host.qprof -check-host=yes" ./duk-recording "$@" >recording.out 2>&1
    cmp counting.out recording.out
    "$QPROF_BIN/qprof" check --host $name-host.qprof >check.log || { cat check.log; exit 1; }
    "$QPROF_BIN/qprof" check $name.qprof >check.log || { cat check.log; exit 1; }
    "$QPROF_BIN/qprof" report --format=json --limit=0 $name.qprof >$name.json
    echo "$name: $(python3 "$tests/duktape_compare.py" $name.counts $name.json)"
}

# UglifyJS compresses Underscore. Files named on the command line are executed one after the other.
library=/usr/share/nodejs/uglify-js/lib
echo 'var exports = {}, domprops = [];' >begin.js
python3 -c 'import json, sys; print("var input = %s;" % json.dumps(open(sys.argv[1]).read()))' \
    /usr/share/javascript/underscore/underscore.js >input.js
echo 'var result = minify(input); if (result.error) throw result.error; print(result.code);' >compress.js
echo 'var result = minify(input, { compress: false }); if (result.error) throw result.error;' >mangle.js
uglify=begin.js
for file in utils ast transform parse scope compress output sourcemap mozilla-ast propmangle minify; do
    uglify="$uglify $library/$file.js"
done

echo "Duktape $(dpkg-parsechangelog -l plain/debian/changelog -S Version)"
agree calls "$tests/duktape_calls.js"
# shellcheck disable=SC2086  # files
agree uglify $uglify input.js compress.js

# Every fifth program of Duktape's own tests, which are in no package: DUKTAPE_SUITE is a folder like tests/ecmascript of its repository.
# A program that does not count alike in two runs is not compared, nor is one that does not end in ten seconds, nor one that calls a C
# function by two names, of which the recorder knows the first.
if [ -d "${DUKTAPE_SUITE:-}" ]; then
    : >own.all
    for file in $(find "$DUKTAPE_SUITE" -name 'test-*.js' | LC_ALL=C sort | awk 'NR % 5 == 0' | grep -v typedarray-constructor-inheritance); do
        rm -f own.counts own.again own.qprof
        DUKTAPE_COUNTS=own.counts timeout 10 ./duk-counting "$file" >own.out 2>&1 </dev/null || :
        DUKTAPE_COUNTS=own.again timeout 10 ./duk-counting "$file" >own.out 2>&1 </dev/null || :
        [ -s own.counts ] && [ -s own.again ] || continue
        LC_ALL=C sort own.counts >own.counts.sorted
        LC_ALL=C sort own.again | cmp -s - own.counts.sorted || continue
        QPROF=-output=own.qprof timeout 60 ./duk-recording "$file" >own.out 2>&1 </dev/null || :
        "$QPROF_BIN/qprof" report --format=json --limit=0 own.qprof >own.json
        python3 "$tests/duktape_compare.py" own.counts own.json >own.log || { echo "$file:"; cat own.log; }
        head -n 1 own.log >>own.all
    done
    awk '{ n++; functions += $1; calls += $3; differ += $5 } END {
        print "its own tests: " n " programs, " functions " functions, " calls " calls, " differ + 0 " differ" }' own.all
else
    echo "its own tests are left out: no DUKTAPE_SUITE"
fi

QPROF="-output=mistaken.qprof -check-host=yes" ./duk-mistaken "$tests/duktape_calls.js" >mistaken.out 2>&1
"$QPROF_BIN/qprof" check --host mistaken.qprof >mistaken.log && exit 1
echo "where errors end no frames: $(grep -o 'missed_unwind' mistaken.log)"

mkdir guide
(cd guide && export QPROF_SOURCE && PATH=$work/built/bin:$PATH follow_guide duktape.md)
echo "the guide: ok"

echo
echo "Processor time beside the unpatched Duktape, median of 5 rounds"
python3 - "fib=$tests/duktape_fib.js" "uglify=$uglify input.js mangle.js" <<'END'
import os, statistics, subprocess, sys
def seconds(program, files, options=None):
    before = os.times().children_user
    if options is not None:
        if os.path.exists("bench.qprof"):
            os.remove("bench.qprof")
        options = {"QPROF": "-output=bench.qprof " + options}
    subprocess.run([program] + files, env={**os.environ, **(options or {})}, check=True, stdout=subprocess.DEVNULL)
    return os.times().children_user - before
print("| | stopped | recording | counts only |\n|---|---|---|---|")
for argument in sys.argv[1:]:
    name, files = argument.split("=", 1)
    rows = []
    for _ in range(5):
        plain = seconds("./duk-plain", files.split())
        rows.append([seconds("built/bin/duk", files.split(), o) / plain for o in (None, "", "-time=none")])
    print("| %s | %s |" % (name, " | ".join("%.2f" % statistics.median(column) for column in zip(*rows))))
END
