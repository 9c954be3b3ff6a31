#!/bin/sh
# test_headers.sh: a public header needs no other, in the oldest languages a host may use, and is
# still harmless when it comes twice.
set -u
mistakes=0
flags="-fsyntax-only -Wall -Wextra -Wshadow -Werror -I$QPROF_SOURCE/include"
n_compilers=0

compile() { # COMPILER LANGUAGE STANDARD
    command -v "$1" >/dev/null || return
    pedantic=-pedantic
    [ "$3" != gnu89 ] || pedantic=-Wdeclaration-after-statement # the extensions are those of C99
    n_compilers=$((n_compilers + 1))
    for header in "$QPROF_SOURCE"/include/*.h "$QPROF_SOURCE"/include/*/*.h; do
        name=${header#"$QPROF_SOURCE"/include/}
        printf '#include "%s"\n#include "%s"\nextern int nothing;\n' "$name" "$name" |
            $1 $flags $pedantic -x "$2" -std="$3" - || {
            echo "test_headers.sh: $name does not compile: $1 -std=$3"
            mistakes=1
        }
    done
}

for compiler in gcc clang; do
    compile $compiler c gnu89
    compile $compiler c c99
    compile $compiler c c11
    compile $compiler c gnu17
done
for compiler in g++ clang++; do
    compile $compiler c++ c++11
    compile $compiler c++ c++17
    compile $compiler c++ c++20
done
[ $n_compilers -gt 0 ] || { echo "test_headers.sh: no compiler"; exit 77; }
exit $mistakes
