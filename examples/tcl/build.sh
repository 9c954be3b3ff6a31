#!/bin/sh
# build.sh: builds a tclsh that records, bin/tclsh in DIR.
#
# usage: build.sh [DIR]   (default: build/tcl in this checkout)
#
# It names and installs the packages that are missing, builds libqprof and qprof, fetches Debian's
# source of Tcl 8.6, applies tcl-8.6.patch and builds. The script library stays in DIR.
set -eu
dir=${1:-}
[ -z "$dir" ] || { mkdir -p "$dir" && dir=$(cd "$dir" && pwd); }
cd "$(dirname "$0")"
. ../adapter.sh
work=${dir:-$qprof/build/tcl}
mkdir -p "$work"

need_packages "Tcl" build-essential cmake dpkg-dev patch zlib1g-dev
build_library
if ! cmp -s tcl-8.6.patch "$work/applied.patch"; then
    fetch tcl8.6 "$work/tree"
    run "$work/patch.log" patch -s -N -r - -d "$work/tree" -p1 -i "$PWD/tcl-8.6.patch"
    (cd "$work/tree/unix" && CFLAGS="-O2 -I$qprof/include" run "$work/configure.log" \
        ./configure --disable-shared --enable-threads --prefix="$work/installed")
    cp tcl-8.6.patch "$work/applied.patch"
fi
for file in tclProfile.h tclProfile.c; do
    cmp -s $file "$work/tree/generic/$file" || cp $file "$work/tree/generic/"
done

say "Building Tcl ..."
cd "$work/tree/unix"
libraries=$(sed -n 's/^LIBS[ \t]*=//p' Makefile)
run "$work/build.log" nice make -j "$(nproc)" LIBS="$libraries $qprof/build/lib/libqprof.a -lpthread" tclsh
mkdir -p "$work/bin"
cp tclsh "$work/bin/tclsh.real"
cat >"$work/bin/tclsh" <<END
#!/bin/sh
TCL_LIBRARY=\${TCL_LIBRARY:-$work/tree/library} exec "$work/bin/tclsh.real" "\$@"
END
chmod +x "$work/bin/tclsh"
say "Done: $work/bin/tclsh"
