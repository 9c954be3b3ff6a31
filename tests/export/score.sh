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
# thirteen names, each with a call of 1 us
record hostile.qprof 'main(' "$(printf 'two\nlines')(" 1 ')' "$(printf '\033[2J\377')(" 1 ')' \
    '</script>"&(' 1 ')' 'fn=(1) x(' 1 ')' '(7) y(' 1 ')' 'semi;colon 12(' 1 ')' \
    "$(printf 'calls=1 1\n5 5')(" 1 ')' '=1+1(' 1 ')' '@f()(' 1 ')' '-->]]><!--(' 1 ')' \
    "$(printf 'a\tb\\"')(" 1 ')' "$(printf '\342\200\256live\302\205')(" 1 ')' \
    "$(head -c 65535 /dev/zero | tr '\0' n)(" 1 ')' ')'
record deep.qprof 'main(' 1 'f*5000(' 1 ')*5000' ')'

# samples.qprof: PC samples alone, one a ms, and no calls: 3 in main, 5 in f, 2 in g, 4 in the f that g
# called, 6 in co on a second thread; both.qprof: 2 in no procedure, 3 in main, 5 in f, with exact times,
# which are of lines: main 9 us in its second, 4 in its third; f 2
# The PC samples are the score's own: the interval is one that no machine is too slow for, and the file
# is set afterwards to a ms (pc_period and sample_period in docs/formats/qprof.md).
sampled='-collect=samples '
record_pc() {
    record_file=$1
    shift
    QPROF="-output=$record_file $sampled-pc='VIRTUAL 1000000000'" ./score "$@"
    without_checksums "$record_file"
    for place in 312 216; do
        printf '\100\102\017\0\0\0\0\0' |
            dd of="$record_file" bs=1 seek=$place conv=notrunc status=none
    done
}
record_pc samples.qprof 'main(' %3 'f(' %5 'g(' %2 'f(' %4 ')' ')' ')' ')' thread 'co(' %6 ')'
sampled=
record_pc both.qprof 'main(' :1 9 %3 'f(' 2 %5 ')' :2 4 ')' %2

# pprof_text --encode|--decode: text into the fields of pprof.proto, or back
pprof_text() { protoc -I "$root/tests/export" "$1=Profile" pprof.proto; }

# export_profile FORMAT NAME: NAME.FORMAT of NAME.qprof
export_profile() { qprof export --force --to="$1" -o "$2.$1" "$2.qprof"; }
