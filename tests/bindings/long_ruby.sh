#!/bin/sh
# long_ruby.sh: the gem of bindings/ruby is built and installed without network where nothing else is, and its example runs
# there. Calls of each method equal those that ruby-prof counts, and those of a TracePoint on the tests of gems that come
# with Ruby. Then: how much slower programs run, beside other tools.
set -eu
. "$QPROF_SOURCE/tests/packages.sh"
need_packages "the Ruby gem" ruby ruby-dev ruby-prof kramdown ruby-kramdown ruby-test-unit >&2
unset RUBYLIB RUBYOPT QPROF 2>/dev/null || :
PATH=$QPROF_BIN:$PATH
tests=$QPROF_SOURCE/tests/bindings
ruby --version

git -C "$QPROF_SOURCE" ls-files bindings/ruby include src tools LICENSE CMakeLists.txt >files
mkdir checkout
tar -C "$QPROF_SOURCE" -cf - -T files | tar -C checkout -xf -
(cd checkout/bindings/ruby && gem build -q qprof.gemspec) >build.log 2>&1 || { cat build.log; exit 1; }
mv checkout/bindings/ruby/qprof-*.gem .
cp checkout/bindings/ruby/example.rb .
rm -rf checkout # a gem needs nothing of it
# GEM_PATH: no gem of the system is seen
(export GEM_HOME="$PWD/gems" GEM_PATH="$PWD/gems" HOME="$PWD"
    gem install --local --no-document -q qprof-*.gem >install.log 2>&1 || { cat install.log; exit 1; }
    QPROF=-output=example.qprof ruby -rqprof example.rb >out)
grep -q '^sum 328354$' out
# fib(15), fib(10), and of the fiber fib(0) to fib(2): 1973 + 177 + 1 + 1 + 3
qprof report --format=json --limit=0 example.qprof |
    jq -e '[.methods[] | {(.name): .calls}] | add | .["Object#fib"] == 2155 and .["Enumerator#next"] == 100' >/dev/null
qprof check example.qprof >/dev/null
echo "installed and run: $(ls qprof-*.gem)"
RUBYLIB=$(echo "$PWD"/gems/gems/qprof-*/lib)
export RUBYLIB

same_counts() { # NAME
    qprof report --format=json --limit=0 "$1.qprof" >"$1.report" && qprof check "$1.qprof" >/dev/null &&
        echo "$1:" && ruby "$tests/ruby_calls.rb" compare "$1.json" "$1.report"
}
# as_ruby_prof NAME SCRIPT...: calls that ruby-prof counts in one run are those of qprof in another one. ruby-prof 1.4 knows
# a method by its class's address times 16 plus its name's number. It adds up methods for which this is equal, which
# depends on where memory lies: it counts again, up to four times.
as_ruby_prof() {
    name=$1 tries=5
    shift
    ruby -W0 "$tests/ruby_calls.rb" qprof "$name.qprof" "$@" >"$name.out2"
    while :; do
        ruby -W0 "$tests/ruby_calls.rb" prof "$name.json" "$@" >"$name.out1"
        cmp "$name.out1" "$name.out2"
        tries=$((tries - 1))
        if (same_counts "$name") >same.log; then break; fi
        [ $tries -gt 0 ] || { cat same.log; exit 1; }
        echo "(ruby-prof again, because it adds up methods: $(sed -n 's/.*"\(.*[#.].*\)", "", 0.*/\1/p' same.log | paste -sd ' '))"
    done
    cat same.log
}
# as_traced NAME SCRIPT...: calls that a TracePoint counts are those of qprof in the same run
as_traced() {
    name=$1
    shift
    ruby -W0 "$tests/ruby_calls.rb" both "$name" "$@" >"$name.out"
    same_counts "$name"
}
echo
PRELOAD_RUBY_PROF=1
export PRELOAD_RUBY_PROF
as_ruby_prof ruby_prof_programs "$tests/ruby_programs.rb"
as_ruby_prof ruby_prof_kramdown "$(command -v kramdown)" "$QPROF_SOURCE/docs/python.md"
unset PRELOAD_RUBY_PROF
as_traced tests_of_rss "$tests/ruby_suite.rb" rss
NO_GC=1
export NO_GC
as_traced tests_of_minitest "$tests/ruby_suite.rb" minitest

# Ruby's own tests, from Debian's archive: those without other processes, without threads, in which the counter loses calls, and without a method
# and a block on one line, which are one to the counter. Their classes may print anything.
. "$tests/sources.sh"
source=ruby$(ruby -e 'puts RUBY_VERSION[/\d+\.\d+/]')
for version in $(apt-cache madison "$source" | awk '{print $3}' | sort -urV); do
    fetch --download-only --tar-only source "$source=$version" >>apt.log 2>&1 && break
done
archive=$(echo "$source"_*.orig.tar.xz)
if [ -s "$archive" ]; then
    tar -xf "$archive"
    export BY_PLACE=1
    for name in alias arity autoload basicinstructions bignum call case clone comparable complex complex2 complexrational condition \
        const continuation defined encoding enum enumerator env eval exception fiber flip float ifunless iterator \
        lazy_enumerator literal method method_cache mixed_unicode_escapes module_subclasses nomethod_error \
        not object objectspace path pattern_matching pipe pow rational refinement sleep sprintf \
        string_memory stringchar struct super symbol syntax time trace undef unicode_escape variable weakmap whileuntil; do
        file=$(echo "$PWD"/ruby-*/test/ruby/"test_$name.rb")
        [ -f "$file" ] || continue
        if ! timeout -k 10 120 ruby -W0 "$tests/ruby_calls.rb" both own "$tests/ruby_suite.rb" "$file" >own.out 2>&1 </dev/null ||
            ! grep -q ' tests, ' own.out; then
            left_out="${left_out:-} $name"
            continue
        fi
        (same_counts own) >own.log 2>&1 || { echo "$name:"; head -n 10 own.log; }
        tail -n 1 own.log >>own.all
        rm -f own.qprof own.json
    done
    awk '{ n += $1; calls += $3; differ += $5 } END {
        print "Ruby'"'"'s own tests: " NR " files, " n " functions, " calls " calls, " differ " functions differ" }' own.all
    [ -z "${left_out:-}" ] || echo "They do not end here in two minutes:$left_out"
    unset BY_PLACE
else
    echo "Ruby's own tests are left out: no source"
fi
unset NO_GC

same_lines() { # NAME SCRIPT...
    name=$1
    shift
    ruby -W0 "$tests/ruby_cover.rb" coverage "$name.json" "$@" >"$name.out1"
    ruby -W0 "$tests/ruby_cover.rb" qprof "$name.qprof" "$@" >"$name.out2"
    cmp "$name.out1" "$name.out2"
    qprof cover export --to=json -o "$name.cover" "$name.qprof"
    echo "$name:"
    ruby "$tests/ruby_cover.rb" compare "$name.json" "$name.cover"
}
same_lines lines_kramdown "$(command -v kramdown)" "$QPROF_SOURCE/docs/python.md"

echo
echo "Slow-down in processor time, median of ${ROUNDS:-11} rounds; $(uname -m), $(nproc) processors"
ruby "$tests/ruby_bench.rb" "--rounds=${ROUNDS:-11}"
