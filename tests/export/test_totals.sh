#!/bin/sh
# test_totals.sh: in every format that `qprof export --help` names, all self times add up to the total
# of `qprof report --format=json`; the same profile gives the same bytes; a failed export leaves
# no file. Each sum is made from what the format holds, by a program that knows it.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
. "$root/tests/export/sums.sh"

export_profile pprof both
mv both.pprof both.pb.gz
claim "there are formats" test "$(echo "$formats" | wc -l)" -ge 14
for format in $formats; do
    [ $format != html ] || continue # a page: tests/web reads its numbers
    for options in run plain deep hostile samples both both.pb.gz 'run --thread=2' 'run --focus=f' \
        'run --hide=main' 'run --hide=*' 'run --when=score.f->*'; do
        # shellcheck disable=SC2086
        set -- $options
        profile=$1.qprof
        [ -e "$profile" ] || profile=$1
        shift
        qprof export --force --to=$format "$@" -o out.$format "$profile" || failures=$((failures + 1))
        total=$(qprof report --format=json "$@" "$profile" | jq "if \"$*\" == \"--thread=2\"
            then .threads[0].total else .run.total end")
        claim "$format of $options has all of the time" same "$total" "$(sum $format out.$format)"
    done
    qprof export --to=$format run.qprof >first
    qprof export --to=$format run.qprof >second
    claim "$format is the same every time" cmp first second
    claim "$format is written whole or not at all" same 'no file' "$(
        trap '' XFSZ
        ulimit -f 0
        qprof export --to=$format -o failed.$format run.qprof 2>/dev/null || echo no file)"
    claim "... nothing is left of it" same '' "$(find . -name '*failed*')"
done
finish
