# lib.sh: what the tests of the bindings share.

# follow_guide PAGE: the commands of docs/PAGE, its blocks of shell, work in this folder, one after the other
follow_guide() {
    awk '/^```shell$/ { is_in = 1; next } /^```$/ { is_in = 0 } is_in' "$QPROF_SOURCE/docs/$1" >guide.sh
    [ -s guide.sh ]
    PATH=$QPROF_BIN:$PATH sh -ex guide.sh >guide.out 2>&1 || { echo "docs/$1: its commands fail:"; cat guide.out; exit 1; }
}
