#!/bin/sh
# test_install.sh: an installed tree can be moved and is found by pkg-config and by CMake, see hosts.sh.
set -eu
rm -rf prefix moved host-* ./*.qprof
cmake --install "$QPROF_BUILD" --prefix "$PWD/prefix" >install.log
mv prefix moved
prefix=$PWD/moved
libdir=$(dirname "$(find "$prefix" -name libqprof.a)")

for wanted in include/qprof.h include/qprof/inline.h include/cprof.h bin/qprof share/qprof/qprof_stub.c \
    share/qprof/examples/minivm/minivm.patch; do
    [ -e "$prefix/$wanted" ] || { echo "test_install.sh: no $wanted"; exit 1; }
done
! grep -rIlF "$QPROF_SOURCE" "$prefix" ||
    { echo "test_install.sh: these name the source folder"; exit 1; }

export PATH="$prefix/bin:$PATH" LD_LIBRARY_PATH="$libdir" PKG_CONFIG_PATH="$libdir/pkgconfig" CMAKE_PREFIX_PATH="$prefix"
. "$QPROF_SOURCE/tests/install/hosts.sh"
