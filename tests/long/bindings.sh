#!/bin/sh
# bindings.sh: the packages of each language work in an empty environment; what recording costs beside the language's own tools
#
# bindings.sh [LANGUAGE...]: tests/bindings/long_LANGUAGE.sh, all by default. What it prints is kept in
# tests/bindings/results/LANGUAGE.txt.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
languages=${*:-$(ls tests/bindings/long_*.sh | sed 's/.*long_\(.*\)\.sh/\1/')}
cmake --preset release >/dev/null
cmake --build build --target qprof_shared qprof_static qprof_tool --parallel "$(nproc)" >/dev/null
cmake --build build --target qlua --parallel "$(nproc)" >/dev/null 2>&1 || echo "qlua cannot be built here"
mkdir -p tests/bindings/results
for language in $languages; do
    work=$(mktemp -d)
    echo "== $language"
    (cd "$work" && QPROF_SOURCE=$root QPROF_BUILD=$root/build QPROF_BIN=$root/build/bin QPROF_LIB=$root/build/lib \
        sh "$root/tests/bindings/long_$language.sh") >"$work/result" || {
        cat "$work/result"
        echo "bindings.sh: $language failed; its files are in $work"
        exit 1
    }
    cat "$work/result"
    cp "$work/result" "tests/bindings/results/$language.txt"
    rm -rf --one-file-system "$work"
done
