#!/bin/sh
# peers.sh [BUILD] [--short] [--write] [--rounds=N] [--part=native|interpreters] [--only=REGEX] [--json=FILE]
#
# What others cost and what qprof costs, in one run: three native programs and the programs fib and mixed of
# five interpreters, rows in turn. --write makes docs/performance.md and its plots of the figures;
# --short makes one short round and fails unless each row that is present recorded all calls. It takes
# ten minutes, --short two.
#
# Peers come from Debian, and are installed by root. Those that Debian does not have are measured if a variable
# names their sources: SPALL, TRACY, MICROPROFILE, EASY_PROFILER, REMOTERY, LUACOV. What is missing is left out by name.
set -eu
cd "$(dirname "$0")/../.."
. tests/packages.sh

case "${1:-}" in
-* | '') build=build ;;
*)
    build=$1
    shift
    ;;
esac
need_packages "the programs" build-essential cmake dpkg-dev patch libreadline-dev pkg-config nodejs npm \
    zlib1g-dev libsqlite3-dev libzstd-dev python3
[ -x "$build/bin/qlua" ] && [ -f "$build/examples/lua-host/hooks.so" ] ||
    build_tree "qprof, which the peers are compared with," "$build" --preset release

peers="binutils uftrace clang libclang-rt-dev lttng-tools liblttng-ust-dev babeltrace2 python3-yappi
    python3-coverage perl libdevel-nytprof-perl php-cli php-xdebug php-pcov ruby ruby-prof ruby-stackprof"
# shellcheck disable=SC2086 # a list of names
(need_packages "the comparison" $peers) >&2 || for package in $peers; do
    (need_packages "the comparison" "$package") >/dev/null || echo "peers.sh: no package $package" >&2
done
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/bench/peers/main.py "$build" "$@"
