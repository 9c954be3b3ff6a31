# score.sh: profiles for the tests of the profile exporters. Sourced after lib.sh.
#
# run.qprof is a score of which every figure is worked out here, in us:
#                       calls  self  total
#   main                    1    14     25
#     f                     2     7     10   once below main, once below g
#       g                   1     3      5
#     leaf;1 2              1     1      1
#   co, on a second thread  1     7      7
#                           6    32
PATH=$QPROF_BIN:$PATH
${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$root/include" "$root/tests/cli/host.c" \
    "$QPROF_LIB/libqprof.a" -lpthread -o score || exit 1

# record FILE WORDS...: play a score
record() {
    record_file=$1
    shift
    QPROF="-output=$record_file" ./score "$@"
}
record run.qprof 'main(' 10 'f(' 5 'g(' 3 'f(' 2 ')' ')' ')' 4 'leaf;1 2(' 1 ')' ')' \
    thread 'co(' 7 ')'
# the same without a second thread and without recursion
record plain.qprof 'main(' 14 'f(' 7 'g(' 3 ')' ')' 'leaf(' 1 ')' ')'
record hostile.qprof 'main(' "$(printf 'two\nlines')(" 1 ')' "$(printf '\033[2J\377')(" 1 ')' \
    '</script>"&(' 1 ')' 'fn=(1) x(' 1 ')' '(7) y(' 1 ')' 'semi;colon 12(' 1 ')' \
    "$(printf 'calls=1 1\n5 5')(" 1 ')' ')'
record deep.qprof 'main(' 1 'f*5000(' 1 ')*5000' ')'

# export_profile FORMAT NAME: NAME.FORMAT of NAME.qprof
export_profile() { qprof export --to="$1" -o "$2.$1" "$2.qprof"; }
