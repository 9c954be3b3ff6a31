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
failures=0

${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$root/include" "$here/host.c" "$lib/libqprof.a" -lpthread \
    -o score || exit 1

# claim TEXT COMMAND...: the command succeeds
claim() {
    claim_text=$1
    shift
    if ! "$@" >claim.out 2>&1; then
        failures=$((failures + 1))
        echo "NOT SO: $claim_text"
        sed 's/^/    /' claim.out
    fi
}

# same EXPECTED ACTUAL
same() { [ "$1" = "$2" ] || { printf 'expected: %s\nactual:   %s\n' "$1" "$2"; return 1; }; }

# ends STATUS COMMAND...: runs it into out and err, with that exit status
ends() {
    ends_status=$1
    shift
    "$@" >out 2>err
    same "$ends_status" $?
}

# says PATTERN COMMAND...: one line on standard error that fits, exit status 2
says() {
    says_pattern=$1
    shift
    ends 2 "$@" || return 1
    same 1 "$(wc -l <err | tr -d ' ')" || { cat err; return 1; }
    grep -Eq -- "$says_pattern" err || { cat err; return 1; }
}

# record FILE WORDS...: play a score
record() {
    record_file=$1
    shift
    QPROF="-output=$record_file" ./score "$@"
}

finish() {
    [ "$failures" = 0 ] && echo "all claims hold"
    [ "$failures" = 0 ]
}
