# lib.sh: what the tests of the tool share. Sourced in a folder of the test's own.
set -u
bin=${QPROF_BIN:-${1:?the build folder}/bin}
lib=${QPROF_LIB:-${1:-}/lib}
here=$(cd "$(dirname "$0")" && pwd)
root=${QPROF_SOURCE:-$(cd "$here/../.." && pwd)}
PATH=$bin:$PATH
export LC_ALL=C TZ=UTC
for tool in qprof jq; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 1; }
done
unset QPROF NO_COLOR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Process ids are reused: only the live profiles of this test are there, and they go with it.
export XDG_RUNTIME_DIR="$work/runtime"
mkdir -m 700 "$XDG_RUNTIME_DIR"

${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$root/include" "$here/host.c" "$lib/libqprof.a" -lpthread \
    -o score || exit 1

. "$root/tests/claims.sh"

# record FILE WORDS...: play a score
record() {
    record_file=$1
    shift
    QPROF="-output=$record_file" ./score "$@"
}

# sql DATABASE STATEMENT...: run them, and print the rows
sql() {
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for statement in sys.argv[2:]:
    for row in db.execute(statement):
        print(*row)
db.commit()' "$@"
}
