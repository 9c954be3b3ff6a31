#!/bin/sh
# mutation.sh: changes of the event path that the unit and model tests do not notice, 95 % must be noticed
#
# mutation.sh [N [SEED]]: N changes, 200 if not said, drawn by a seed that is printed. mutation.sh again: those that survived
# the last time. The tests are built in build/mutation from a copy of the sources. What survives is printed as FILE:LINE:
# BEFORE -> AFTER, and fails unless tests/long/mutation/equivalent.txt has the line with its reason.
set -eu
cd "$(dirname "$0")/../.."
. tests/packages.sh
need_packages "mutation" build-essential cmake libcmocka-dev zlib1g-dev libsqlite3-dev libzstd-dev python3
exec python3 tests/long/mutation/mutate.py "${1:-200}" "${2:-1}"
