#!/bin/sh
# test_packages.sh: debian/ agrees with the rest of the tree
#   - each file of cmake --install is in one package, or named by debian/not-installed
#   - each pattern of a package matches a file, of those or of what debian/rules adds
#   - debian/*.symbols have what the libraries export
#   - debian/changelog begins with the version of CMakeLists.txt
set -eu
mistakes=0
fail() {
    echo "test_packages.sh: $*"
    mistakes=1
}
debian=$QPROF_SOURCE/debian
rm -rf prefix
cmake --install "$QPROF_BUILD" --prefix "$PWD/prefix" >install.log

# ---- files ----------------------------------------------------------------------------------------

# Debian's folder of libraries is usr/lib/TRIPLET. What debian/rules adds to that: the Lua modules.
(cd prefix && find . '(' -type f -o -type l ')') | sed -E 's|^\./|usr/|; s|^usr/lib(64)?/([a-z0-9_]+-linux-[a-z0-9]+/)?|usr/lib/TRIPLET/|' \
    >installed
echo usr/lib/TRIPLET/lua/5.4/qprof.so >added
[ -e prefix/bin/qlua ] || printf '%s\n' usr/bin/qlua usr/share/man/man1/qlua.1 >>added # no source of Lua
cat installed added >files

# A pattern of debhelper is that of sh, for a file or a folder; its * does not match a slash.
: >taken
for list in "$debian"/*.install "$debian/not-installed"; do
    while read -r pattern _; do
        regex=$(printf '%s' "$pattern" | sed 's/[.+]/\\&/g; s/\*/[^\/]*/g')
        grep -E "^$regex(/|\$)" files >matched || fail "${list##*/}: nothing is $pattern"
        sed "s|\$| ${list##*/}|" matched >>taken
    done <"$list"
done
# What a package leaves out (dh_install -X) is in not-installed alone.
awk 'NR == FNR { if ($2 == "not-installed") out[$1] = 1; next }
    $2 == "not-installed" || !($1 in out) { n[$1]++; by[$1] = by[$1] " " $2 }
    END { for (file in n) if (n[file] > 1) print file by[file] }' taken taken >twice
[ ! -s twice ] || fail "in several packages:" "$(cat twice)"
cut -d ' ' -f 1 taken | LC_ALL=C sort -u >named
LC_ALL=C sort -u files | LC_ALL=C comm -23 - named >forgotten
[ ! -s forgotten ] || fail "in no package, see debian/*.install:" "$(cat forgotten)"

# ---- symbols and version --------------------------------------------------------------------------

version=$(sed -n 's/^project(qprof VERSION \([0-9.]*\).*/\1/p' "$QPROF_SOURCE/CMakeLists.txt")
for name in qprof cprof; do
    nm -D --defined-only "$QPROF_LIB/lib$name.so" | awk '{ print $3 }' | sed 's/@@*/ /' |
        awk '{ print " " $1 "@" ($2 ? $2 : $1) }' | LC_ALL=C sort >exported
    sed -n 's/^\( [^ ]*\) .*/\1/p' "$debian/lib${name}1.symbols" | LC_ALL=C sort >listed
    LC_ALL=C comm -23 exported listed | sed "s/\$/ $version/" >missing
    [ ! -s missing ] || fail "add to debian/lib${name}1.symbols:" "$(cat missing)"
    LC_ALL=C comm -13 exported listed >gone
    [ ! -s gone ] || fail "no function of lib$name, see debian/lib${name}1.symbols:" "$(cat gone)"
done
packaged=$(sed -n '1s/^qprof (\([^)]*\)).*/\1/p' "$debian/changelog")
[ "$packaged" = "$version" ] || fail "debian/changelog has version $packaged, and CMakeLists.txt $version"
exit $mistakes
