#!/bin/sh
# test_hosts.sh: hosts and the two libraries.
#   - one host that binds by name runs with either, unchanged
#   - a program that is linked with both, in either way, in C and in C++, has separate data
#   - a host that was linked with libqprof, its inline path included, runs with libcprof when that
#     is loaded first
set -eu
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
include=-I$QPROF_SOURCE/include
here=$QPROF_SOURCE/tests/cprof
fail() {
    echo "test_hosts.sh: $*"
    exit 1
}

# calls FILE FUNCTION: its calls
calls() {
    "$QPROF_BIN/qprof" cover report --format=json "$1" 2>>remarks | jq -r --arg name "$2" \
        '[.files[].functions[] | select(.name == $name) | .hits] | add // "none"'
}
# hits FILE LINE: executions
hits() {
    "$QPROF_BIN/qprof" cover report --format=json "$1" 2>>remarks |
        jq -r --argjson line "$2" '.files[].lines[] | select(.line == $line) | .hits'
}
# is FOUND WANTED WHAT
is() {
    [ "$1" = "$2" ] || fail "$3: $1, not $2"
}

# ---- by name --------------------------------------------------------------------------------------

cc $include "$here/host.c" -o host -ldl
names=$(nm -D --defined-only "$QPROF_LIB/libcprof.so" | awk '{ print $3 }' | grep -o '^cprof_[a-z_]*')
./host "$QPROF_LIB/libqprof.so" -output=host.qprof || fail "libqprof: the host fails: $?"
./host "$QPROF_LIB/libcprof.so" -output=host.pcv $names || fail "libcprof: the host fails: $?"
for file in host.qprof host.pcv; do
    is "$(calls $file f)" 5 "$file: calls of f"
    is "$(calls $file main)" 1 "$file: calls of main"
    is "$(calls $file never)" 0 "$file: calls of never"
    is "$(hits $file 12)" 3 "$file: line 12"
done

# ---- both in one program --------------------------------------------------------------------------

# both HOW COMPILER...
both() {
    how=$1
    shift
    rm -f both both.qprof both.pcv
    "$@" $include -Wall -Wextra -Werror -o both || fail "$how: does not link"
}
ran() {
    LD_LIBRARY_PATH=$QPROF_LIB ./both >summary || fail "$how: fails: $?"
    is "$(calls both.qprof f)" 3 "$how: libqprof's calls of f"
    is "$(calls both.qprof g)" none "$how: libqprof's calls of g"
    is "$(calls both.pcv g)" 5 "$how: libcprof's calls of g"
    is "$(calls both.pcv f)" none "$how: libcprof's calls of f"
    grep -Eq '^both +5 +1 +0 +1 +100\.0 ' summary || fail "$how: the summary is $(cat summary)"
}
# libraries LINK_WORDS: those of this build, libqprof first
shared="$QPROF_LIB/libqprof.so $QPROF_LIB/libcprof.so"
static="$QPROF_LIB/libqprof.a $QPROF_LIB/libcprof.a -pthread"
both "shared" cc "$here/both.c" $shared
ran
both "static" cc "$here/both.c" $static
ran
both "libqprof static, libcprof shared" cc "$here/both.c" "$QPROF_LIB/libqprof.a" \
    "$QPROF_LIB/libcprof.so" -pthread
ran
if command -v c++ >/dev/null; then
    both "C++" c++ -std=c++11 -x c++ "$here/both.c" -x none $static
    ran
fi

# a host may use names of ours: hidden symbols of the archives meet no other object
cat >own.c <<'END'
int qp_run = 7, qp_state = 8;
int qp_texts_add(void);
int qp_texts_add(void) { return qp_run + qp_state; }
END
cc -c own.c -o own.o
both "names of the host" cc "$here/both.c" own.o $static
ran

# ---- loaded before libqprof ------------------------------------------------------------------------

cat >inline.c <<'END'
#include <qprof.h>
int main(void)
{
    if (qprof_initialize(0, 0) != 0)
        return 1;
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_register_method_id(1, "f", 0, QPROF_METHOD_FLAGS_NONE, "inline.x", 0, 0);
    for (int i = 0; i < 9; i++) {
        qprof_entry(th, 1, 1);
        qprof_exit(th, 0);
    }
    qprof_shutdown();
    return 0;
}
END
cc $include inline.c "$QPROF_LIB/libqprof.so" -o inline
CPROF=-output=inline.pcv LD_LIBRARY_PATH=$QPROF_LIB LD_PRELOAD=$QPROF_LIB/libcprof.so ./inline ||
    fail "the inline host fails with libcprof loaded first"
is "$(calls inline.pcv f)" 9 "inline path with libcprof: calls of f"

if [ -x "$QPROF_BIN/qlua" ]; then
    cat >script.lua <<'END'
local function add(a, b)
    return a + b
end
local function never()
    return 1
end
local sum = 0
for i = 1, 10 do
    sum = add(sum, i)
end
if sum ~= 55 then
    error("wrong")
end
END
    CPROF=-output=lua.pcv LD_LIBRARY_PATH=$QPROF_LIB LD_PRELOAD=$QPROF_LIB/libcprof.so \
        "$QPROF_BIN/qlua" script.lua || fail "qlua fails with libcprof loaded first"
    [ -f lua.pcv ] || fail "qlua with libcprof leaves no profile"
    is "$(calls lua.pcv add)" 10 "qlua with libcprof: calls of add"
    is "$(calls lua.pcv never)" 0 "qlua with libcprof: calls of never"
    is "$(hits lua.pcv 9)" 10 "qlua with libcprof: line 9"
    is "$(hits lua.pcv 12)" 0 "qlua with libcprof: line 12"
fi
