#!/bin/sh
# packages.sh: the Debian packages are built in a bare Debian 12, pass lintian, and work in another one
#
# packages.sh [--once] [--keep=FOLDER] [--packages=FOLDER]: they are built twice, in different folders, and must be
# equal, byte by byte; --once leaves the second build out. --keep saves the packages; --packages uses those that are
# built already. The tree that is built is the last commit. What is printed is kept in
# tests/long/results/packages.txt.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/packages.sh"
. "$root/tests/bare_tree.sh"

fail() {
    echo "packages: $*" >&2
    exit 1
}

builds="first second"
keep=
given=
for word; do
    case $word in
    --once) builds=first ;;
    --keep=*) keep=${word#--keep=} ;;
    --packages=*) given=${word#--packages=} ;;
    *) fail "$word: unknown option" ;;
    esac
done
begin_trees "the test of packages" 6000
result=$work/result
say() {
    echo "$*" | tee -a "$result"
}
[ -z "$(git -C "$root" status --porcelain)" ] || echo "Changes that are not committed are left out."
git -C "$root" rev-parse --short HEAD >"$work/commit"
make_tree bookworm "$work/user"

# quietly TREE MINUTES COMMAND: what it prints is shown if it fails
quietly() {
    in_tree "$@" >"$work/log" 2>&1 || {
        tail -n 40 "$work/log"
        fail "failed: $3"
    }
}

# ---- built ------------------------------------------------------------------------------------------

build_packages() {
    cp -a "$work/user" "$work/builder"
    echo "Installing what the build needs ..."
    mkdir -p "$work/builder/srv/first/qprof" "$work/builder/srv/second/another-name"
    for folder in first/qprof second/another-name; do
        git -C "$root" archive HEAD | tar -x -C "$work/builder/srv/$folder"
    done
    quietly "$work/builder" 30 "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        install build-essential lintian jq && cd /srv/first/qprof && DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        --no-install-recommends build-dep ./ && useradd -m builder && chown -R builder /srv"
    for build in $builds; do
        options="parallel=$(nproc)"
        [ $build = first ] || options="$options nocheck" # the tests have passed
        echo "Building, the $build time ..."
        began=$(date +%s)
        quietly "$work/builder" 60 "su builder -c 'cd /srv/$build/*/ && DEB_BUILD_OPTIONS=\"$options\" nice dpkg-buildpackage -us -uc'"
        echo "... $((($(date +%s) - began + 59) / 60)) minutes"
        cp "$work/log" "$work/log-$build"
    done
    say "Built by dpkg-buildpackage, not as root: $(cd "$work/builder/srv/first" && ls ./*.deb | grep -vc dbgsym) packages"
    say "Tests in the build: $(sed -n 's/^\(100% tests passed.*\)/\1/p' "$work/log-first")"
    in_tree "$work/builder" 30 "su builder -c 'cd /srv/first && lintian --fail-on error,warning --info *.changes'" || fail "lintian has complaints"
    say "lintian: no error and no warning"
    if [ "$builds" != first ]; then
        for file in "$work"/builder/srv/first/*.deb; do
            cmp "$file" "$work/builder/srv/second/${file##*/}" || fail "${file##*/}: the builds differ"
        done
        say "Built twice, in folders of other names: equal, byte by byte"
    else
        say "A second build, and its comparison, are left out."
    fi
    if [ -n "$keep" ]; then
        mkdir -p "$keep"
        cp "$work"/builder/srv/first/*.* "$keep"
    fi
}

if [ -n "$given" ]; then
    made=$given
    say "The packages are given; lintian and the comparison of two builds are left out."
else
    build_packages
    made=$work/builder/srv/first
fi

# ---- installed and used -------------------------------------------------------------------------------

mkdir -p "$work/user/srv/packages"
for package in "$made"/*.deb; do
    case $package in *-dbgsym_*) ;; *) cp "$package" "$work/user/srv/packages" ;; esac
done
git -C "$root" archive HEAD bindings tests/install tests/long/packages |
    tar -x -C "$work/user/srv"
echo "Using them ..."
in_tree "$work/user" 60 "sh -eu /srv/tests/long/packages/use.sh" >"$work/used" 2>"$work/errors" || {
    cat "$work/used" "$work/errors" | tail -n 40
    fail "the packages do not work"
}
cat "$work/used" | tee -a "$result"
mkdir -p "$root/tests/long/results"
{
    echo "./tests/long.sh packages, of commit $(cat "$work/commit"):"
    cat "$result"
} >"$root/tests/long/results/packages.txt"
echo "packages: passed"
