#!/bin/sh
# fresh-machine.sh [--suite=NAME] [--demo] [WORD...]: both commands of the README in a bare Debian, 12 or another
#
# The tree holds a clean clone of the last commit. Both scripts install what they need themselves. --suite
# takes another release than bookworm; --demo leaves tests/run.sh out; words go to tests/run.sh.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/packages.sh"
. "$root/tests/bare_tree.sh"

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

begin_trees "the fresh machine" $MEGABYTES
tree=$work/tree
make_tree "$suite" "$tree"

# ---- the project in it ------------------------------------------------------------------------------

[ -z "$(git -C "$root" status --porcelain)" ] || echo "Changes that are not committed are left out."
git clone -q --no-hardlinks "$root" "$tree/srv/qprof"

for command in $commands; do
    [ "$command" = ./examples/demo.sh ] || command="$command$words"
    echo
    echo "== $command"
    began=$(date +%s)
    in_tree "$tree" $MINUTES "cd /srv/qprof && exec $command" || fail "$command: failed in a bare $suite (exit $?)"
    echo "== $command: passed in $((($(date +%s) - began + 59) / 60)) minutes"
done
echo "fresh-machine: passed"
