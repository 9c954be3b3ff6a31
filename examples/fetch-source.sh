#!/bin/sh
# fetch-source.sh: fetches the source of a package of Debian, with its patches, into TREE.
#
# usage: fetch-source.sh PACKAGE TREE [SUITE]
#
# apt uses a state of its own beside TREE: the machine's lists, sources and caches do not change, and
# root is not needed. Of the machine's sources only those of Debian itself, or of Ubuntu or Raspbian, are used, as deb-src.
# If TREE exists, nothing happens. SUITE is another release of Debian, as sid.
set -eu

package=${1:?usage: fetch-source.sh PACKAGE TREE}
tree=${2:?usage: fetch-source.sh PACKAGE TREE}
suite=${3:-}

fail() {
    echo "fetch-source.sh: $*" >&2
    exit 1
}

[ -d "$tree" ] && exit 0
work=$(dirname "$tree")
mkdir -p "$work"
work=$(cd "$work" && pwd)
for tool in apt-get dpkg-source; do
    command -v $tool >/dev/null || fail "$tool is not installed (packages apt, dpkg-dev)"
done

# Entries of the distribution itself: a path that ends in /debian, /debian-security, /ubuntu or the like, or a list of mirrors.
# deb822 files, a paragraph each, then one-line lists; commented and disabled ones do not count.
derive_sources() {
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -r "$file" ] && awk '
            function flush() {
                if (types ~ /(^| )deb( |$)/ && uris ~ /\/(debian(-security)?|ubuntu(-ports)?|raspbian)(\.list)?\/?( |$)/ && !off) {
                    print "Types: deb-src"; printf "%s\n", text }
                types = uris = text = name = ""; off = 0 }
            /^[ \t]*$/ { flush(); next }
            /^#/ { next }
            /^[^ \t]/ { name = tolower($1) }
            name == "types:" { sub(/^[^:]*:[ \t]*/, ""); types = types " " $0; next }
            name == "uris:" { value = $0; sub(/^[^:]*:/, "", value); uris = uris " " value }
            name == "enabled:" && tolower($2) == "no" { off = 1 }
            name == "architectures:" { next }
            { text = text $0 "\n" }
            END { flush() }' "$file"
    done >"$parts/debian.sources"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -r "$file" ] && awk '
            $1 == "deb" && $0 ~ /\/(debian(-security)?|ubuntu(-ports)?|raspbian)(\.list)?\/? / { sub(/^[ \t]*deb/, "deb-src"); print }
        ' "$file"
    done >"$parts/debian.list"
}

apt=$work/apt
parts=$apt/sources
mkdir -p "$parts" "$apt/lists/partial" "$apt/cache/archives/partial"
derive_sources || true
if [ -n "$suite" ]; then # of the archive itself alone: other folders of a mirror do not have each suite
    archive=$(cat "$parts"/debian.* | grep -oE '[a-z+]+:[^ ]*/debian/?( |$)' | head -n 1)
    : >"$parts/debian.sources"
    echo "${archive:+deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main}" \
        >"$parts/debian.list"
fi
grep -qs . "$parts/debian.sources" "$parts/debian.list" ||
    fail "no source of Debian or Ubuntu in /etc/apt/sources.list or /etc/apt/sources.list.d"

private() {
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$parts" \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" \
        -o APT::Sandbox::User= "$@"
}
private update >"$apt/log" 2>&1 || fail "apt-get update failed: $(grep -m 1 '^E:' "$apt/log")"
(cd "$apt" && private source --download-only "$package") >>"$apt/log" 2>&1 ||
    fail "cannot fetch the source package $package: $(grep -m 1 '^E:' "$apt/log")"

rm -rf "$apt/tree"
set -- "$apt/$package"_*.dsc
[ $# -eq 1 ] || fail "more than one version of $package in $apt: remove that folder"
dpkg-source --no-check -x "$1" "$apt/tree" >>"$apt/log" 2>&1 ||
    fail "dpkg-source cannot unpack $1"
mv "$apt/tree" "$tree"
