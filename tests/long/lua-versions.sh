#!/bin/sh
# lua-versions.sh: qlua made of every Lua of Debian's suites, and the tests of it
#
# lua-versions.sh [DIR...]: DIR is a source of Lua; without words the sources of lua5.4 and lua5.5 in bookworm, trixie
# and sid are fetched, by an apt state below build/lua-versions/. A source that the archive does not hand out is named
# and left out. Where SUITE_DIR/RELEASE/testes exists, as SUITE_DIR/5.4.7/testes, Lua's own test suite runs as well.
# Fifteen minutes for each.
set -eu
cd "$(dirname "$0")/../.."
. tests/packages.sh
need_packages "the test of Lua's releases" build-essential cmake dpkg-dev patch libreadline-dev jq bc
work=$PWD/build/lua-versions
mkdir -p "$work"
failed=

if [ $# -eq 0 ]; then
    for from in bookworm/lua5.4 trixie/lua5.4 sid/lua5.4 sid/lua5.5; do
        package=${from#*/} tree=$work/${from%/*}-${from#*/}/source
        if sh examples/fetch-source.sh "$package" "$tree" "${from%/*}" 2>"$work/why"; then
            set -- "$@" "$tree"
        else
            echo "left out: $package of ${from%/*}: $(head -n 1 "$work/why")"
        fi
    done
fi

for source; do
    release=$(cat "$source"/lua.h "$source"/src/lua.h 2>/dev/null |
        sed -nE 's/^#define[ \t]+LUA_VERSION_(MINOR|RELEASE)(_N)?[ \t]+"?([0-9]+).*/\3/p' | tr '\n' .)
    release=5.${release%.}
    folder=$work/$release
    build_tree "qlua of Lua $release" "$folder" --preset release -DQPROF_LUA_SRC="$source"
    if ctest --test-dir "$folder" -L '^lua$' --output-on-failure >"$folder/tests.log" 2>&1; then
        echo "Lua $release: $(grep 'tests passed' "$folder/tests.log")"
    else
        grep -E 'FAIL|\(Failed\)' "$folder/tests.log" | head -n 20
        failed="$failed $release"
    fi
    [ -d "${SUITE_DIR:-}/$release/testes" ] || continue
    sh tests/lua/suite.sh "$SUITE_DIR/$release" "$folder" >"$folder/suite.log" || failed="$failed suite of $release"
    cat "$folder/suite.log"
done

[ -z "$failed" ] || { echo "FAILED:$failed"; exit 1; }
echo "lua-versions: passed"
