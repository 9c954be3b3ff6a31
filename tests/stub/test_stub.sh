#!/bin/sh
# test_stub.sh: a host with libqprof_stub.a finds the collector or says in one line why it has none, and
# is none the worse for it. What the collectors of another version, of another machine and with a symbol
# less are, is made here.
set -eu
cc="cc -O2 -Wall -Wextra -Werror -I$QPROF_SOURCE/include"
made=$QPROF_BUILD/made/qprof_stub.c
library=$(readlink -f "$QPROF_LIB/libqprof.so.1")
unset QPROF QPROF_COLLECTOR QPROF_COLLECTOR_VERBOSE
mistakes=0
fail() {
    echo "test_stub.sh: $*"
    mistakes=1
}

# says WHAT TEXT COMMAND...: its one line on standard output
says() {
    what=$1 wanted=$2
    shift 2
    rm -f ./*.qprof
    found=$("$@" 2>stderr </dev/null) || fail "$what: exit status $?"
    case $found in
    $wanted) ;;
    *) fail "$what: says '$found', wanted '$wanted'" ;;
    esac
    [ ! -s stderr ] || fail "$what: prints $(cat stderr)"
}
n_calls() { # FILE METHOD
    "$QPROF_BIN/qprof" report --format=json "$1" |
        jq "[.methods[] | select(.name == \"$2\") | .calls] | add"
}
leaves() { # WHAT FILE CALLS
    [ "$(n_calls "$2" inner)" = "$3" ] || fail "$1: '$(n_calls "$2" inner)' calls, not $3"
}

$cc "$QPROF_SOURCE/tests/stub/host.c" "$QPROF_LIB/libqprof_stub.a" -ldl -lpthread -o host

# ---- found ----------------------------------------------------------------------------------------

says "by variable" "1 " env QPROF_COLLECTOR="$library" ./host calls
leaves "by variable" host.qprof 1000
says "by path" "1 " env LD_LIBRARY_PATH="$QPROF_LIB" ./host calls
leaves "by path" host.qprof 1000
says "threads" "1 " env QPROF_COLLECTOR="$library" ./host threads
[ "$(n_calls host.qprof inner)" = 8000 ] || fail "threads: $(n_calls host.qprof inner) calls"
says "fork" "1 " env QPROF_COLLECTOR="$library" ./host fork
leaves "fork, parent" host.qprof 1000
leaves "fork, child" child.qprof 1000
env QPROF_COLLECTOR="$library" QPROF_COLLECTOR_VERBOSE=1 ./host calls >stdout 2>stderr
grep -qx "qprof: collector $library, version .*" stderr || fail "verbose: $(cat stderr)"

# ---- absent, or not usable ------------------------------------------------------------------------

says "absent" "-9 no collector: libqprof.so.1: cannot open shared object file: *" ./host calls
says "no file" "-9 no collector: /none.so: cannot open shared object file: *" \
    env QPROF_COLLECTOR=/none.so ./host calls
says "relative" "-9 no collector: libqprof.so.1: QPROF_COLLECTOR is not an absolute path" \
    env QPROF_COLLECTOR=libqprof.so.1 ./host calls
echo "not a library" >text.so
says "a text" "-9 no collector: $PWD/text.so: *" env QPROF_COLLECTOR="$PWD/text.so" ./host calls
says "a text, threads" "-9 no collector: *" env QPROF_COLLECTOR="$PWD/text.so" ./host threads
QPROF_COLLECTOR=/none.so QPROF_COLLECTOR_VERBOSE=1 ./host calls >stdout 2>stderr
grep -q '^qprof: no collector: /none.so: ' stderr || fail "verbose: $(cat stderr)"

nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' >exported
fake() { # FILE VERSION: a collector that has all names of `wanted_names`
    {
        grep -vxE 'qprof_(version|thread_new|(thread|token)_mount)' wanted_names | sed 's/.*/int &(void) { return 0; }/'
        echo "static long closed[32];"
        echo "void *qprof_thread_new(void *th) { return th ? th : closed; }"
        echo "void *qprof_thread_mount(void *th) { return th ? th : closed; }"
        echo "void *qprof_token_mount(void *th) { return th ? th : closed; }"
        echo "const char *qprof_version(void) { return \"$2\"; }"
    } >fake.c
    cc -shared -fPIC -w fake.c -o "$1"
}
cp exported wanted_names
fake version.so 77.1.0
says "another version" "-9 no collector: $PWD/version.so: wrong version: 77.1.0, and the program needs 0.*" \
    env QPROF_COLLECTOR="$PWD/version.so" ./host calls
grep -vx qprof_cold_leave exported >wanted_names
fake missing.so 0.1.0
says "a missing symbol" "-9 no collector: $PWD/missing.so: missing symbol qprof_cold_leave" \
    env QPROF_COLLECTOR="$PWD/missing.so" ./host calls
grep -vx qprof_mark exported >wanted_names
fake older.so 0.0.9 # lacks what the events do not need: it is used
says "an older collector" "0 *" env QPROF_COLLECTOR="$PWD/older.so" ./host calls

# Of a machine that this one is not: an ELF header with another class, then with another machine.
cp "$library" class.so
chmod u+w class.so
cp class.so machine.so
printf '\001' | dd of=class.so bs=1 seek=4 conv=notrunc status=none
printf '\026\000' | dd of=machine.so bs=1 seek=18 conv=notrunc status=none # S/390
for kind in class machine; do
    says "another $kind" "-9 no collector: $PWD/$kind.so: wrong architecture: *" \
        env QPROF_COLLECTOR="$PWD/$kind.so" ./host calls
done

# ---- a program with more rights than its user -----------------------------------------------------

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    folder=$(mktemp -d)
    cp host "$folder"
    cp "$library" "$folder/libqprof.so.1"
    chmod 755 "$folder"
    chmod 4755 "$folder/host"
    for way in "QPROF_COLLECTOR=$folder/libqprof.so.1" "LD_LIBRARY_PATH=$folder"; do
        says "set-user-id" "-9 no collector: libqprof.so.1: cannot open *" setpriv --reuid=65534 \
            --regid=65534 --clear-groups env "$way" QPROF_COLLECTOR_VERBOSE=1 "$folder/host" calls
        chmod 755 "$folder/host"
        (cd "$folder" && chmod 777 . && setpriv --reuid=65534 --regid=65534 --clear-groups \
            env "$way" ./host calls) | grep -qx '1 ' || fail "without set-user-id, $way: not found"
        chmod 4755 "$folder/host"
    done
    rm -rf "$folder"
else
    echo "test_stub.sh: the set-user-id program is left out: this is not root"
fi

# ---- a host of another version of the inline header -----------------------------------------------

cp -r "$QPROF_SOURCE/include" older
sed -i 's/^#define QPROF_INLINE_VERSION .*/#define QPROF_INLINE_VERSION 1u/' older/qprof/inline.h
cc -O2 -Iolder "$QPROF_SOURCE/tests/stub/host.c" "$made" -ldl -lpthread -o older-host
says "an older host" "-2 *version*" env QPROF_COLLECTOR="$library" ./older-host calls
"$QPROF_BIN/qprof" report host.qprof | head -n 12 | grep -q inline_version ||
    fail "an older host: the report does not begin with the reason"

# ---- other tools watch the hooks --------------------------------------------------------------------

$cc "$QPROF_SOURCE/tests/stub/probed.c" "$made" -ldl -o probed
cat >probed.gdb <<'END'
set pagination off
set debuginfod enabled off
break -probe-stap qprof:define
commands
silent
printf "define %s|%s|%s\n", (char *)$_probe_arg1, (char *)$_probe_arg2, (char *)$_probe_arg3
continue
end
break -probe-stap qprof:function__entry
commands
silent
printf "entry %s %s %d\n", (char *)$_probe_arg1, (char *)$_probe_arg2, $_probe_arg3
continue
end
break -probe-stap qprof:function__return
commands
silent
printf "return %s\n", (char *)$_probe_arg1
continue
end
break -probe-stap qprof:resume
commands
silent
printf "resume %d\n", $_probe_arg0 == $first
continue
end
run
END
sed -i 's/^printf "define/set $first = $first ? $first : $_probe_arg0\n&/; s/^break.*:define/set $first = 0\n&/' probed.gdb
{
    echo "define f|C|a.src"
    echo "define g||b.src"
    echo "entry C.f a.src 7"
    for i in 1 2 3; do
        printf 'entry g b.src 0\nentry C.f a.src 7\nreturn C.f\nreturn g\n'
    done
    printf 'resume 1\nreturn C.f\nentry g b.src 0\nreturn g\n'
} >wanted
gdb -q -batch -x probed.gdb ./probed 2>gdb.err | grep -E '^(define|entry|return|resume) ' >found || :
diff wanted found || fail "probes: gdb finds the lines >, wanted <; $(tail -n 1 gdb.err)"

cc -shared -fPIC "$QPROF_SOURCE/tests/stub/agent.c" -o agent.so
for way in "" -DQPROF_STUB_NO_PROBES; do
    # shellcheck disable=SC2086
    $cc $way "$QPROF_SOURCE/tests/stub/probed.c" "$made" -ldl -o probed
    rm -f agent.out
    env QPROF_PERF_MAP=1 INTEL_JIT_PROFILER64="$PWD/agent.so" INTEL_JIT_PROFILER32="$PWD/agent.so" \
        sh -c 'echo $$ >pid; exec ./probed'
    map=/tmp/perf-$(cat pid).map
    [ "$(cut -d ' ' -f 2- "$map")" = "d g" ] || fail "perf's map $way: $(cat "$map")"
    start=$(nm probed | sed -n 's/^0*\([0-9a-f]*\) r code$/\1/p')
    case $(cut -d ' ' -f 1 "$map") in
    *"${start#"${start%???}"}") ;; # the program lies anywhere: the offset in its page
    *) fail "perf's map $way: $(cat "$map"), code is at $start" ;;
    esac
    rm -f "$map"
    [ "$(cat agent.out)" = "13 1000 g 1 13 0 b.src" ] || fail "the JIT agent $way: $(cat agent.out)"
done
! readelf -n probed | grep -q stapsdt || fail "QPROF_STUB_NO_PROBES: there are probes"
sh -c 'echo $$ >pid; exec ./probed'
[ ! -e "/tmp/perf-$(cat pid).map" ] || fail "there is a map without QPROF_PERF_MAP"

# ---- the file, its size, its cost -----------------------------------------------------------------

for standard in gnu89 c99 c11; do
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        $compiler -std=$standard -Wall -Wextra -Werror -I"$QPROF_SOURCE/include" -c "$made" -o stub.o ||
            fail "$compiler -std=$standard"
    done
done
nm -g --defined-only "$QPROF_LIB/libqprof_stub.a" | awk 'NF == 3 && $3 != "_.stapsdt.base" { print $3 }' |
    sort >found
sort exported | diff - found || fail "libqprof_stub.a has not the names of libqprof.so (<)"
n_bytes=$(size "$QPROF_LIB/libqprof_stub.a" | awk 'NR == 2 { print $1 + $2 }')
[ "$n_bytes" -le 12288 ] || fail "libqprof_stub.a: $n_bytes bytes of code and data"

# a pair and its loop: 22 instructions with gcc 12, of which the empty loop has 3
if command -v valgrind >/dev/null; then
    $cc "$QPROF_SOURCE/tests/stub/cost.c" "$QPROF_LIB/libqprof_stub.a" -ldl -o cost
    for n in 100000 200000; do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null ./cost $n 2>&1 |
            sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
    done >instructions
    n_pair=$(($(tail -n 1 instructions) - $(head -n 1 instructions)))
    [ $n_pair -le 2400000 ] || fail "a pair of closed events: $n_pair instructions for 100,000"
    echo "test_stub.sh: $n_bytes bytes; $n_pair instructions for 100,000 pairs"
fi
exit $mistakes
