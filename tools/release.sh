#!/bin/sh
# release.sh VERSION: makes the tree that of a release; see "A release" in CONTRIBUTING.md.
# release.sh --versions: prints each file that states the version, and what it states.
# release.sh --interface LIBRARY: prints what programs can see of LIBRARY.
set -eu
cd "$(dirname "$0")/.."

# In each of these the first number of three parts is the version; people write the other two.
files="CMakeLists.txt bindings/lua/qprof-*.rockspec bindings/php/src/module.c
    bindings/python/pyproject.toml bindings/ruby/qprof.gemspec bindings/rust/Cargo.toml"
changes="CHANGELOG.md debian/changelog"
number='[0-9]+\.[0-9]+\.[0-9]+'

# version_of FILE
version_of() {
    case $1 in
    CHANGELOG.md) grep -E "^## $number" "$1" ;;
    *) cat "$1" ;;
    esac | grep -oE "$number" | head -n 1
}

# interface LIBRARY
interface() {
    abidw --headers-dir include --drop-private-types --exported-interfaces-only \
        --drop-undefined-syms --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed \
        --no-parameter-names "$1"
}

case ${1-} in
--versions)
    for file in $files $changes; do
        echo "$file $(version_of "$file")"
    done
    ;;
--interface)
    interface "${2:?the library}"
    ;;
*)
    echo "${1-}" | grep -qxE "$number" || {
        echo "release.sh: expected a version such as 1.2.3" >&2
        exit 2
    }
    taken=$(mktemp)
    trap 'rm -f "$taken"' EXIT
    interface build/lib/libqprof.so >"$taken"
    for file in $changes; do
        [ "$(version_of "$file")" = "$1" ] || {
            echo "release.sh: $file: add an entry for $1 first" >&2
            exit 1
        }
    done
    for file in $files; do
        sed -i -E "0,/$number/s//$1/" "$file"
    done
    rockspec=bindings/lua/qprof-$1-1.rockspec
    [ -e "$rockspec" ] || git mv bindings/lua/qprof-*.rockspec "$rockspec"
    mv "$taken" tests/lint/libqprof.abi
    ;;
esac
