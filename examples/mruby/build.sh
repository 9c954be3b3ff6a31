#!/bin/sh
# build.sh: builds an mruby that records, bin/mruby in DIR.
#
# usage: build.sh [DIR]   (default: build/mruby in this checkout)
#
# It names and installs the packages that are missing, builds libqprof and qprof, fetches Debian's
# source of mruby 3.1, applies mruby-3.1.patch and builds. What is in DIR already is built again only
# where it has changed.
set -eu
dir=${1:-}
[ -z "$dir" ] || { mkdir -p "$dir" && dir=$(cd "$dir" && pwd); }
cd "$(dirname "$0")"
. ../adapter.sh
work=${dir:-$qprof/build/mruby}
mkdir -p "$work"

need_packages "mruby" build-essential cmake dpkg-dev patch ruby
build_library
if ! cmp -s mruby-3.1.patch "$work/applied.patch"; then
    fetch mruby "$work/tree"
    run "$work/patch.log" patch -s -N -r - -d "$work/tree" -p1 -i "$PWD/mruby-3.1.patch"
    cp mruby-3.1.patch "$work/applied.patch"
fi
cmp -s profile.h "$work/tree/include/mruby/profile.h" || cp profile.h "$work/tree/include/mruby/"
cmp -s profile.c "$work/tree/src/profile.c" || cp profile.c "$work/tree/src/"

say "Building mruby ..."
cp build_config.rb "$work/" # mruby writes a file beside it
export MRUBY_CONFIG="$work/build_config.rb"
export QPROF_CFLAGS="-I$qprof/include" QPROF_LIBS="$qprof/build/lib/libqprof.a -lpthread"
cd "$work/tree"
run "$work/build.log" nice ruby ./minirake -j "$(nproc)"
mkdir -p "$work/bin"
cp build/host/bin/mruby build/host/bin/mirb "$work/bin/"
say "Done: $work/bin/mruby"
