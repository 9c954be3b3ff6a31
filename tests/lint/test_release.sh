#!/bin/sh
# test_release.sh: programs that were compiled with the last release run with this library, and all
# files state one version.
#   - lint/libqprof.abi is the interface of the last release; functions may only be added to it, and
#     no type that programs share with the library changes. What libcprof adds, lint.symbols holds.
#   - Proved by an interface with one mistake each: a function, a parameter and a field that this
#     library lacks.
# A change that must be is named in lint/libqprof.suppr, with its reason.
set -eu
mistakes=0
fail() {
    echo "test_release.sh: $*"
    mistakes=1
}

sh "$QPROF_SOURCE/tools/release.sh" --versions >versions
[ "$(awk '{ print $2 }' versions | sort -u | wc -l)" -eq 1 ] || fail "several versions:" "$(cat versions)"
version=$(awk 'NR == 1 { print $2 }' versions)
[ "$(LD_LIBRARY_PATH=$QPROF_LIB "$QPROF_BIN/qprof" --version)" = "qprof $version" ] ||
    fail "the tool is not of version $version"

command -v abidiff >/dev/null || {
    [ $mistakes = 0 ] || exit 1
    echo "abidiff is missing (abigail-tools): the interface was not compared"
    exit 77
}
released=$QPROF_SOURCE/tests/lint/libqprof.abi

sh "$QPROF_SOURCE/tools/release.sh" --interface "$QPROF_LIB/libqprof.so" >built.abi

# Another version of abidw chooses another of two names of one type: only what harms is compared then.
version_of() { sed -n "1s/.*<abi-corpus version='\([^']*\)'.*/\1/p" "$1"; }
harmless=--harmless
[ "$(version_of built.abi)" = "$(version_of "$released")" ] || harmless=

# compare INTERFACE: what programs that were compiled with it would miss, in the file report
compare() {
    abidiff $harmless --no-added-syms --suppressions "$QPROF_SOURCE/tests/lint/libqprof.suppr" \
        "$1" built.abi >report
}

compare "$released" || fail "not the interface of the last release:" "$(cat report)"

# finds WHAT SED_PROGRAM TEXT: the report of the interface that SED_PROGRAM changed names TEXT
finds() {
    sed "$2" "$released" >planted.abi
    cmp -s planted.abi "$released" && fail "$1: nothing planted"
    compare planted.abi && fail "$1: not found"
    grep -qF "$3" report || fail "$1: not named:" "$(cat report)"
}
int=$(sed -n "s/.*<type-decl name='int' .* id='\([^']*\)'.*/type-id='\1'/p" "$released")
finds "a function that is gone" "s/qprof_mark\>/qprof_gone/g" "qprof_gone"
finds "a parameter of another type" \
    "/function-decl name='qprof_mark'/,/function-decl>/s/<parameter [^>]*>/<parameter $int\/>/" \
    "qprof_mark"
finds "a field elsewhere" \
    "/class-decl name='qprof_InitInfo'/,/class-decl>/s/layout-offset-in-bits='192'/layout-offset-in-bits='256'/" \
    "qprof_InitInfo"
exit $mistakes
