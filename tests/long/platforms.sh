#!/bin/sh
# platforms.sh: the unit tests pass on 32-bit x86, musl, AArch64, and s390x, which is big-endian
#
# platforms.sh [PLATFORM...]: all without words. AArch64 and s390x run under qemu-user. It needs root or sudo
# where compilers are not installed; libraries of the machines are unpacked below build/platforms/. A test program
# that skips tests is named with them. Fifteen minutes.
set -eu
cd "$(dirname "$0")/../.."
. tests/packages.sh
work=$PWD/build/platforms
[ $# -gt 0 ] || set -- i386 musl aarch64 s390x
mkdir -p "$work"

# packages_of ARCHITECTURE WORD...: apt-get WORD... for a machine that is not this one, in the current folder
packages_of() {
    of=$work/apt-$1
    if [ ! -f "$of/is_ready" ]; then
        mkdir -p "$of/lists/partial" "$of/cache/archives/partial"
        : >"$of/status"
        from=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
            sed -n 's|/debian/* | |p' | head -n 1)
        [ -n "$from" ] || { echo "platforms.sh: no mirror of Debian in this machine's apt"; exit 1; }
        for kind in deb deb-src; do
            echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
                "${from% *}/debian ${from#* } main"
        done >"$of/sources.list"
    fi
    cat >"$of/apt.conf" <<-EOF
	Dir::State "$of"; Dir::State::status "$of/status"; Dir::Cache "$of/cache";
	Dir::Etc::sourcelist "$of/sources.list"; Dir::Etc::sourceparts "/dev/null";
	APT::Architecture "$1"; APT::Architectures "$1"; APT::Sandbox::User "";
	EOF
    shift
    [ -f "$of/is_ready" ] || APT_CONFIG=$of/apt.conf apt-get -q update >"$of/log" 2>&1
    : >"$of/is_ready"
    APT_CONFIG=$of/apt.conf apt-get -q "$@" >>"$of/log" 2>&1 || { tail "$of/log"; exit 1; }
}

# sysroot_of PLATFORM ARCHITECTURE: the libraries that the test programs are linked with
sysroot_of() {
    [ ! -d "$work/root-$1" ] || return 0
    rm -rf "$work/new"
    mkdir -p "$work/new/deb"
    cd "$work/new/deb"
    packages_of "$2" download libcmocka0 libcmocka-dev zlib1g-dev libsqlite3-dev libzstd-dev
    for package in *.deb; do
        dpkg -x "$package" ..
    done
    cd "$work"
    rm -rf new/deb
    find new '(' -name 'libz.so' -o -name 'libzstd.so' -o -name 'libsqlite3.so' ')' -delete
    mv new "root-$1"
}

# The same libraries for musl are built from their sources.
sysroot_of_musl() {
    [ ! -d "$work/root-musl" ] || return 0
    rm -rf "$work/new"
    mkdir -p "$work/new/src" "$work/new/usr/include" "$work/new/usr/lib"
    cd "$work/new/src"
    packages_of "$(dpkg --print-architecture)" source cmocka zlib sqlite3 libzstd
    (cd zlib-*/ && CC=musl-gcc ./configure --static && make libz.a && cp libz.a ../../usr/lib &&
        cp zlib.h zconf.h ../../usr/include) >zlib.log 2>&1 || { tail zlib.log; exit 1; }
    (cd libzstd-*/lib && make libzstd.a CC=musl-gcc && cp libzstd.a ../../../usr/lib &&
        cp zstd.h ../../../usr/include) >zstd.log 2>&1 || { tail zstd.log; exit 1; }
    (cd cmocka-*/ && cmake -S . -B made -DCMAKE_C_COMPILER=musl-gcc -DWITH_STATIC_LIB=ON &&
        cmake --build made --target cmocka-static && cp "$(find made -name 'libcmocka*.a')" \
        ../../usr/lib/libcmocka.a && cp include/cmocka.h ../../usr/include) >cmocka.log 2>&1 ||
        { tail cmocka.log; exit 1; }
    (cd sqlite3-*/ && ./configure && make sqlite3.c sqlite3.h && musl-gcc -O2 -c sqlite3.c \
        -DSQLITE_OMIT_LOAD_EXTENSION && ar rcs ../../usr/lib/libsqlite3.a sqlite3.o &&
        cp sqlite3.h ../../usr/include) >sqlite3.log 2>&1 || { tail sqlite3.log; exit 1; }
    cd "$work"
    rm -rf new/src
    mv new root-musl
}

need_packages "the test of platforms" build-essential cmake dpkg-dev debian-archive-keyring
# one_platform NAME
one_platform() {
    case $1 in
    i386)
        need_packages "$1" gcc-i686-linux-gnu libc6-dev-i386-cross
        sysroot_of "$1" i386 ;;
    musl)
        need_packages "$1" musl-tools linux-libc-dev tcl
        sysroot_of_musl ;;
    aarch64)
        need_packages "$1" gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
        sysroot_of "$1" arm64 ;;
    s390x)
        need_packages "$1" gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static
        sysroot_of "$1" s390x ;;
    *) echo "platforms.sh: $1: unknown; it can be i386, musl, aarch64 or s390x"; exit 2 ;;
    esac
    cd "$work/../.."
    QPROF_SYSROOT=$work/root-$1 cmake --toolchain "$PWD/cmake/$1.cmake" -B "$work/$1" -DQPROF_HTML=OFF \
        -DQPROF_EXAMPLES=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo >"$work/$1.log" 2>&1 &&
        QPROF_SYSROOT=$work/root-$1 cmake --build "$work/$1" --parallel "$(nproc)" --target unit_tests \
            --target qprof_static >>"$work/$1.log" 2>&1 || {
        echo "platforms.sh: $1: the build failed:"
        grep -E 'error|undefined' "$work/$1.log" | head -n 20
        return 1
    }
    echo "platforms.sh: $1"
    ctest --test-dir "$work/$1" -R '^unit\.' --output-on-failure --parallel "$(nproc)" </dev/null |
        tee "$work/$1.tests" | grep -vE '^ *(Start|[0-9]+/)|^$|^Test project' || :
    grep -h '  SKIPPED' "$work/$1"/Testing/Temporary/LastTest.log | sort | uniq -c || :
    grep -q '^100% tests passed' "$work/$1.tests"
}

failed=
for platform; do
    (one_platform "$platform") || failed="$failed $platform"
done
[ -z "$failed" ] || { echo "platforms.sh: failed:$failed"; exit 1; }
echo "platforms.sh: the unit tests pass on: $*"
