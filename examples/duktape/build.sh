#!/bin/sh
# build.sh: builds a duk that records, bin/duk in DIR.
#
# usage: build.sh [DIR]   (default: build/duktape in this checkout)
#
# It names and installs the packages that are missing, builds libqprof and qprof, fetches Debian's
# source of Duktape 2.7, applies duktape-2.7.patch and builds. CFLAGS are added to its options.
set -eu
dir=${1:-}
[ -z "$dir" ] || { mkdir -p "$dir" && dir=$(cd "$dir" && pwd); }
cd "$(dirname "$0")"
. ../adapter.sh
work=${dir:-$qprof/build/duktape}
mkdir -p "$work/bin"

need_packages "Duktape" build-essential cmake dpkg-dev patch
build_library
if ! cmp -s duktape-2.7.patch "$work/applied.patch"; then
    fetch duktape "$work/tree"
    run "$work/patch.log" patch -s -N -r - -d "$work/tree" -p1 -i "$PWD/duktape-2.7.patch"
    cp duktape-2.7.patch "$work/applied.patch"
fi
cp profile.h profile.c "$work/tree/src/"

say "Building duk ..."
command=$PWD/command.sh
cd "$work/tree"
# shellcheck disable=SC2086  # options
run "$work/build.log" nice sh "$command" "$work/bin/duk" ${CFLAGS:-} -I"$qprof/include" "$qprof/build/lib/libqprof.a" -lpthread
say "Done: $work/bin/duk"
