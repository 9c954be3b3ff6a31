# claims.sh: what a test script says and how it ends. Sourced in a folder of the test's own.
failures=0

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

finish() {
    [ "$failures" = 0 ] && echo "all claims hold"
    [ "$failures" = 0 ]
}

# without_checksums FILE: as a recorder of minor 0 wrote it; then the test may change bytes (docs/formats/qprof.md)
without_checksums() {
    flags_above_8=$(od -An -tu1 -j41 -N1 "$1")
    printf "\\$(printf %o $((flags_above_8 & 127)))" | dd of="$1" bs=1 seek=41 conv=notrunc status=none
    printf '\0\0\0\0' | dd of="$1" bs=1 seek=524 conv=notrunc status=none
}
