#!/bin/sh
# test_single_file.sh: tools/amalgamate.py writes the recorder as one file, which gives a runtime the same figures
# as the library, with threads and without. A library of the next version, made of that file, records for a
# host of this version; one with another inline header stays closed, and its report begins with the reason.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed; tests/run.sh installs it"; exit 77; }
unset QPROF QPROF_COLLECTOR
mistakes=0
fail() {
    echo "test_single_file.sh: $*"
    mistakes=1
}
mkdir one made
cd made
python3 "$QPROF_SOURCE/tools/amalgamate.py" ../one
cp "$QPROF_SOURCE"/examples/minivm/* .
patch -s -p1 minivm.c <minivm.patch
cc -std=c11 -O1 -I"$QPROF_SOURCE/include" minivm.c "$QPROF_LIB/libqprof.a" -pthread -o library
sed 's|<qprof/embed.h>|"qprof.h"|; s|"qprof/embed.h"|"qprof.h"|' minivm.c >single.c

# figures PROGRAM: what minivm executes, as a table without times
figures() {
    for program in fib errors generators; do
        rm -f run.qprof
        QPROF="-output=run.qprof -collect=profile,coverage -time=none" "$1" "$program.mini"
        "$QPROF_BIN/qprof" report --format=json run.qprof |
            jq -c '([.methods[] | [.name, .calls]] | sort), .diagnostics'
    done
}
figures ./library >wanted
[ "$(wc -l <wanted)" = 9 ] || fail "the library: $(cat wanted)"
for words in -O1 "-O1 -DQPROF_NO_THREADS"; do
    # shellcheck disable=SC2086
    cc -std=gnu11 $words -c ../one/qprof.c -o qprof.o
    # shellcheck disable=SC2086
    cc -std=c11 $words -I../one single.c qprof.o -pthread -o single
    figures ./single | diff wanted - || fail "$words: other figures than those of the library"
done
! nm qprof.o | grep ' U pthread_create$' || fail "QPROF_NO_THREADS: it can start a thread"
rm -f run.qprof
QPROF="-output=run.qprof -time=sampled" ./single fib.mini >/dev/null
"$QPROF_BIN/qprof" report --format=json run.qprof | jq -e '.diagnostics.sampler_unavailable > 0' >/dev/null ||
    fail "QPROF_NO_THREADS: -time=sampled is not reported"
nm -g --defined-only qprof.o | awk '$3 !~ /^qp(rof)?_/ { print $3 }' >foreign
[ ! -s foreign ] || fail "names of the host's: $(cat foreign)"

# ---- the next version -----------------------------------------------------------------------------

major=$(sed -n 's/^project(qprof VERSION \([0-9]*\).*/\1/p' "$QPROF_SOURCE/CMakeLists.txt")
cc -O1 -I"$QPROF_SOURCE/include" "$QPROF_SOURCE/tests/stub/host.c" "$QPROF_LIB/libqprof_stub.a" -ldl -lpthread -o host
next() { # FILE SED: a collector with the version MAJOR.99.0 and one more function
    sed "$2" ../one/qprof.c >next.c
    echo 'int qprof_of_the_next_version(void); int qprof_of_the_next_version(void) { return 1; }' >>next.c
    cc -O0 -fPIC -shared -DQPROF_VERSION_TEXT="\"$major.99.0\"" -I../one next.c -pthread -o "$1"
}
next next.so ''
found=$(QPROF_COLLECTOR=$PWD/next.so ./host calls)
[ "$found" = "1 " ] || fail "the next version: says '$found'"
"$QPROF_BIN/qprof" report --format=json host.qprof >report.json
jq -e '[.methods[] | select(.name == "inner") | .calls] == [1000]' report.json >/dev/null ||
    fail "the next version: other figures"
sed 's/^#define QPROF_INLINE_VERSION .*/#define QPROF_INLINE_VERSION 999u/' ../one/qprof.h >qprof.h
cp ../one/qprof.c other.c # beside the other header
cc -O0 -fPIC -shared other.c -pthread -o header.so
rm -f host.qprof
found=$(QPROF_COLLECTOR=$PWD/header.so ./host calls)
case $found in
"-2 "*version*) ;;
*) fail "another inline header: says '$found'" ;;
esac
"$QPROF_BIN/qprof" report host.qprof | head -n 12 | grep -q inline_version ||
    fail "another inline header: the report does not begin with the reason"
exit $mistakes
