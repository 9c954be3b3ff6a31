#!/bin/sh
# long_lua.sh: calls of Lua's own test suite equal those that a hook of calls counts in another run of the unpatched interpreter: of the
# module qprof in that interpreter, and of qlua of the same release. Then: what the module costs beside hooks that do nothing.
#
# The suite is in no package: SUITE_DIR/RELEASE/testes holds it, as SUITE_DIR/5.4.4/testes, of the release of lua5.4.
set -eu
. "$QPROF_SOURCE/tests/packages.sh"
need_packages "the Lua module" lua5.1 liblua5.1-0-dev lua5.4 liblua5.4-dev luajit libluajit-5.1-dev jq pkg-config >&2
unset QPROF LUA_PATH LUA_CPATH LUA_INIT 2>/dev/null || :
work=$PWD tests=$QPROF_SOURCE/tests/bindings
release=$(lua5.4 -v | cut -d ' ' -f 2)
echo "Lua $release"
make -s -C "$QPROF_SOURCE/bindings/lua" LUA=lua5.4 OUT="$work" QPROF_LIBRARY="$QPROF_LIB/libqprof.a" CFLAGS="-O2"
cc -O1 -fPIC -shared $(pkg-config --cflags lua5.4) "$tests/lua_count.c" -o lua_count.so

# sums FILE: "FILE:LINE CALLS" of functions; chunks from strings and functions have other names in qlua
sums() {
    sed 's/^\[string .*\]:/[string]:/; s/^(load):/[string]:/' "$1" | grep -v '^=*?:' |
        awk '{ n = $NF; sub(/ [0-9]+$/, ""); calls[$0] += n } END { for (key in calls) print key, calls[key] }' | LC_ALL=C sort
}
# run NAME FILE COMMAND...: one file of the suite, in a copy of it
run() {
    name=$1 file=$2
    shift 2
    rm -rf suite
    cp -r "$SUITE_DIR/$release/testes" suite
    sed -i '/^do *-- testing single trace of coroutines/,/^end/d' suite/coroutine.lua # it sets a hook
    (cd suite && timeout -k 10 300 nice "$@" "$file" >"../$name.out" 2>&1 </dev/null) || echo "status $?" >>"$name.out"
}
recorded() { # PROFILE
    "$QPROF_BIN/qprof" report --format=json --limit=0 "$1" | jq -r '.methods[] |
        select(.calls > 0 and .line > 0 and .file != "" and (.name | startswith("main chunk") | not)) | "\(.file):\(.line) \(.calls)"' >sums
    sums sums
}
# compare WHO COMMAND...: files of the suite; those whose calls differ between two counts, and those of LEFT_OUT, are not compared
compare() {
    who=$1 files=0 functions=0 calls=0 differ=0 varying=
    shift
    for path in "$SUITE_DIR/$release"/testes/*.lua; do
        file=${path##*/}
        case " $LEFT_OUT " in *" ${file%.lua} "*) continue ;; esac
        for count in one two; do
            LUA_CPATH="$work/?.so;;" LUA_COUNTS=$work/$count run $count "$file" lua5.4 -llua_count
            sums $count >$count.sums
        done
        [ -s one.sums ] || continue
        cmp -s one.sums two.sums || { varying="$varying ${file%.lua}"; continue; }
        LUA_CPATH="$work/?.so;;" QPROF=-output=$work/run.qprof run recorded "$file" "$@"
        recorded run.qprof >found.sums
        "$QPROF_BIN/qprof" check run.qprof >/dev/null
        if ! diff one.sums found.sums >differs; then
            echo "$who: ${file%.lua}: (< the hook, > qprof)"
            head -n 20 differs
            differ=$((differ + 1))
        fi
        files=$((files + 1)) functions=$((functions + $(wc -l <one.sums)))
        calls=$((calls + $(awk '{ n += $NF } END { print n }' one.sums)))
        rm -f run.qprof
    done
    echo "Lua's own tests, $who: $files files, $functions functions, $calls calls, $differ files differ"
    [ -z "$varying" ] || echo "They differ between two counts without qprof:$varying"
    [ $differ -eq 0 ]
}
if [ -d "${SUITE_DIR:-}/$release/testes" ]; then
    # as all.lua without _port, without what takes a gigabyte; the seed is the suite's otherwise
    export LUA_INIT="_soft, _port, _nomsg = true, true, true math.randomseed(7)"
    # db and locals set hooks, which end the count; gc depends on when the collector runs; the others run all files, or take gigabytes
    LEFT_OUT="all main heavy db locals gc"
    compare "the module" lua5.4 -lqprof
    # how deep C calls may be nested, and when the collector runs, is of each interpreter's
    LEFT_OUT="$LEFT_OUT cstack gengc"
    if [ "$("$QPROF_BIN/qlua" -v 2>/dev/null | cut -d ' ' -f 2)" = "$release" ]; then
        compare qlua "$QPROF_BIN/qlua"
    else
        echo "qlua is left out: it is not built, or of another release"
    fi
    unset LUA_INIT
else
    echo "Lua's own tests are left out: no SUITE_DIR/$release/testes"
fi

echo
echo "Processor time, beside hooks that do nothing: medians of seven runs in turn, as multiples of the plain interpreter; $(uname -m), $(nproc) processors"
python3 "$QPROF_SOURCE/tests/bench/lua_module.py" "$QPROF_BUILD" lua5.1 lua5.4 luajit
