#!/bin/sh
# sizes.sh: the work of every command grows as its input does: instructions for sizes 1, 2 and 4
#
# The test cli.sizes has a fourth of the commands. It takes the build in build/, or in QPROF_BUILD.
set -eu
cd "$(dirname "$0")/../.."
QPROF_BIN=${QPROF_BUILD:-$PWD/build}/bin
export QPROF_BIN
script=$PWD/tests/cli/test_sizes.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
SIZES=all sh "$script"
