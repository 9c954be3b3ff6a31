# bare_tree.sh: a bare Debian in a folder, made by debootstrap. Sourced by tests of tests/long that have root and a
# function fail.
#
# A tree has what a plain container has: /proc and a few devices, but no /sys. Where packages come from, and
# through which proxy, is read from this machine's apt.

# begin_trees WHAT_FOR MEGABYTES: work is a folder for them, which is removed when the script ends
begin_trees() {
    [ "$(id -u)" -eq 0 ] || fail "only root can make and enter a tree of its own: run it as root"
    need_packages "$1" debootstrap git util-linux
    command -v debootstrap >/dev/null || fail "debootstrap is missing"
    unshare --mount --pid --fork true 2>/dev/null ||
        fail "this machine does not allow mounts: a container needs the capability SYS_ADMIN"
    work=$(mktemp -d "${TMPDIR:-/var/tmp}/qprof-trees.XXXXXX")
    inside=
    trap end_trees EXIT
    trap 'exit 1' HUP INT TERM
    free=$(df --output=avail -m "$work" | tail -n 1)
    [ "$free" -ge "$2" ] || fail "$work: $free MB free of $2; name another folder by TMPDIR"
}

# Of the signals that end a process, unshare heeds this one alone.
end_trees() {
    [ -z "$inside" ] || { kill -KILL "$inside" && wait "$inside" || :; } 2>/dev/null
    rm -rf --one-file-system "$work"
}

# mirror ENDING: the first mirror of this machine's apt whose address ends so
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
        sed -n "\|/$1/*\$|{p;q}"
}

# make_tree SUITE FOLDER
make_tree() {
    suite=$1
    tree=$2
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
        [ "$suite" = sid ] || echo "deb $archive $suite-updates main" # sid has no others
        [ -z "$security" ] || [ "$suite" = sid ] || echo "deb $security $suite-security main"
    } >"$tree/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(http|https|Retries|Check-)' >"$tree/etc/apt/apt.conf.d/90host" || :
    cp /etc/resolv.conf /etc/hosts "$tree/etc/"
    echo force-unsafe-io >"$tree/etc/dpkg/dpkg.cfg.d/unsafe-io" # a tree need not survive a crash

    # npm has certificates of its own: this machine's are named to it
    certificates=/etc/ssl/certs/ca-certificates.crt
    registry=$(npm config get registry 2>/dev/null || :)
    {
        echo "HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8"
        echo "http_proxy='$http_proxy' https_proxy='$https_proxy'"
        [ ! -f $certificates ] || echo "NODE_EXTRA_CA_CERTS=/etc/host-certificates.crt"
        [ -z "$registry" ] || echo "npm_config_registry='$registry'"
    } >"$tree/etc/host-environment"
    [ ! -f $certificates ] || cp $certificates "$tree/etc/host-certificates.crt"
}

# in_tree FOLDER MINUTES COMMAND: run by sh in the tree, with nothing of this machine but its kernel and network.
# Its mounts are in a namespace of their own: they and all processes in it end with the command, or with this
# script, whatever ends it.
in_tree() {
    [ -f "$work/enter" ] || cat >"$work/enter" <<'END_OF_ENTER'
tree=$1 minutes=$2 command=$3
mount -t proc proc "$tree/proc"
mount -t tmpfs -o mode=755 tmpfs "$tree/dev"
for device in null zero full random urandom tty; do
    : >"$tree/dev/$device"
    mount --bind "/dev/$device" "$tree/dev/$device"
done
mkdir "$tree/dev/pts" "$tree/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$tree/dev/shm"
ln -s pts/ptmx "$tree/dev/ptmx"
ln -s /proc/self/fd "$tree/dev/fd"
for n in 0:stdin 1:stdout 2:stderr; do
    ln -s "/proc/self/fd/${n%:*}" "$tree/dev/${n#*:}"
done
exec timeout --kill-after=10 "${minutes}m" chroot "$tree" env -i sh -c "set -a && . /etc/host-environment && set +a && $command"
END_OF_ENTER
    unshare --mount --pid --fork --kill-child sh -eu "$work/enter" "$@" </dev/null &
    inside=$! # wait is what a signal interrupts
    if wait "$inside"; then status=0; else status=$?; fi
    inside=
    return $status
}
