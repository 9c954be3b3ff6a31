#!/bin/sh
# fresh-machine.sh [--suite=NAME] [--demo] [WORD...]: both commands of the README in a bare Debian 12
#
# The tree is made by debootstrap, has what a plain container has (/proc and a few devices, but no /sys)
# and holds a clean clone of the last commit. Both scripts install what they need themselves. --suite
# takes another release than bookworm; --demo leaves tests/run.sh out; words go to tests/run.sh.
#
# Where packages come from, and through which proxy, is read from this machine's apt. The mounts are in a
# namespace of their own: they and all processes in it end with this script, whatever ends it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/packages.sh"

MINUTES=90
MEGABYTES=8000
suite=bookworm
words=
commands="./examples/demo.sh ./tests/run.sh"

fail() {
    echo "fresh-machine: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --suite=*) suite=${1#--suite=} ;;
    --demo) commands=./examples/demo.sh ;;
    -*) fail "$1: unknown option" ;;
    *) words="$words $1" ;;
    esac
    shift
done

[ "$(id -u)" -eq 0 ] || fail "only root can make and enter a tree of its own: run it as root"
need_packages "the fresh machine" debootstrap git util-linux
command -v debootstrap >/dev/null || fail "debootstrap is missing"
unshare --mount --pid --fork true 2>/dev/null ||
    fail "this machine does not allow mounts: a container needs the capability SYS_ADMIN"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/fresh-machine.XXXXXX")
inside=
end() {
    [ -z "$inside" ] || { kill "$inside" && wait "$inside" || :; } 2>/dev/null
    rm -rf --one-file-system "$work"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
free=$(df --output=avail -m "$work" | tail -n 1)
[ "$free" -ge $MEGABYTES ] || fail "$work: $free MB free of $MEGABYTES; name another folder by TMPDIR"
tree=$work/tree

# ---- a bare system ----------------------------------------------------------------------------------

# mirror ENDING: the first mirror of this machine's apt whose address ends so
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
        sed -n "\|/$1/*\$|{p;q}"
}
archive=$(mirror debian)
security=$(mirror debian-security)
[ -n "$archive" ] || fail "this machine's apt has no mirror of Debian"
eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
export http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}"

echo "Making a bare Debian, $suite, in $tree ..."
debootstrap --variant=minbase "$suite" "$tree" "$archive" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log"
    fail "debootstrap failed"
}
{
    echo "deb $archive $suite main"
    echo "deb $archive $suite-updates main"
    [ -z "$security" ] || echo "deb $security $suite-security main"
} >"$tree/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(http|https|Retries|Check-)' >"$tree/etc/apt/apt.conf.d/90host" || :
cp /etc/resolv.conf /etc/hosts "$tree/etc/"

# npm has certificates of its own: this machine's are named to it
set -- HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    http_proxy="$http_proxy" https_proxy="$https_proxy"
certificates=/etc/ssl/certs/ca-certificates.crt
if [ -f $certificates ]; then
    cp $certificates "$tree/etc/host-certificates.crt"
    set -- "$@" NODE_EXTRA_CA_CERTS=/etc/host-certificates.crt
fi
registry=$(npm config get registry 2>/dev/null || :)
[ -z "$registry" ] || set -- "$@" npm_config_registry="$registry"

# ---- the project in it ------------------------------------------------------------------------------

[ -z "$(git -C "$root" status --porcelain)" ] || echo "Changes that are not committed are left out."
git clone -q --no-hardlinks "$root" "$tree/srv/qprof"

# enter COMMAND: in the tree, with nothing of this machine but its kernel and network
cat >"$work/enter" <<'END'
tree=$1 minutes=$2 command=$3
shift 3
mount -t proc proc "$tree/proc"
mount -t tmpfs -o mode=755 tmpfs "$tree/dev"
for device in null zero full random urandom tty; do
    : >"$tree/dev/$device"
    mount --bind "/dev/$device" "$tree/dev/$device"
done
mkdir "$tree/dev/pts" "$tree/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
mount -t tmpfs tmpfs "$tree/dev/shm"
ln -s pts/ptmx "$tree/dev/ptmx"
ln -s /proc/self/fd "$tree/dev/fd"
for n in 0:stdin 1:stdout 2:stderr; do
    ln -s "/proc/self/fd/${n%:*}" "$tree/dev/${n#*:}"
done
exec timeout --kill-after=10 "${minutes}m" chroot "$tree" env -i "$@" sh -c "cd /srv/qprof && exec $command"
END

for command in $commands; do
    [ "$command" = ./examples/demo.sh ] || command="$command$words"
    echo
    echo "== $command"
    began=$(date +%s)
    unshare --mount --pid --fork --kill-child \
        sh -eu "$work/enter" "$tree" $MINUTES "$command" "$@" </dev/null &
    inside=$! # wait is what a signal interrupts
    wait "$inside" || fail "$command: failed in a bare $suite (exit $?)"
    inside=
    echo "== $command: passed in $((($(date +%s) - began + 59) / 60)) minutes"
done
echo "fresh-machine: passed"
