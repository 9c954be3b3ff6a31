#!/bin/sh
# peers.sh: each row of docs/performance.md that is present records all calls of its programs
#
# It needs root or sudo where peers are not installed; what cannot be installed is left out by name. Two minutes.
set -eu
exec "$(dirname "$0")/../bench/peers.sh" --short "$@"
