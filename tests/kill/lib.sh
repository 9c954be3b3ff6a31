# lib.sh: programs of qlua that are killed while they write a number a round. Sourced in a folder of the
# test's own, which has program.lua.
trap '' PIPE # a program whose reader is gone continues until it is killed
mkfifo lines
export XDG_RUNTIME_DIR="$PWD/runtime"
mkdir -p runtime

# kill_after ROUNDS OPTIONS: the file that program.lua leaves, killed after so many rounds, is $profile; it
# exists and passes its check
kill_after() {
    QPROF="$2" "$QPROF_BIN/qlua" program.lua > lines &
    child=$!
    head -n "$1" < lines > /dev/null &
    wait $!
    kill -9 $child 2> /dev/null || true
    wait $child 2> /dev/null || true
    for profile in runtime/qprof-*/"$child".*; do break; done
    test -f "$profile" || { echo "after $1 rounds, $2: no profile was left"; exit 1; }
    "$QPROF_BIN/qprof" check "$profile" > report.txt 2>&1 || {
        echo "after $1 rounds, $2: qprof check fails:"
        cat report.txt
        exit 1
    }
}
