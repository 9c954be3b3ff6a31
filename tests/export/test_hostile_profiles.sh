#!/bin/sh
# test_hostile_profiles.sh: names of all kinds, of hosts and in files of other tools, leave every format
# of profiles whole: valid UTF-8, nothing that steers a terminal, no tag, no formula, all of the time.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
. "$root/tests/export/sums.sh"

# No host can say NUL in a name, but a file can: five functions, 1 us each.
{
    echo 'sample_type { type: 1 unit: 2 }'
    printf 'string_table: "%s"\n' '' cpu nanoseconds 'nul\000in it' '\377\376 no UTF-8' \
        '</script><script>alert(1)' '=HYPERLINK(1)' '\033]0;title\007'
    for i in 1 2 3 4 5; do
        echo "sample { location_id: $i value: 1000 } location { id: $i line { function_id: $i } }"
        echo "function { id: $i name: $((i + 2)) filename: $((i + 2)) }"
    done
} >whole.txt
pprof_text --encode <whole.txt >foreign.qprof 2>complaints || cat complaints
claim "the foreign profile is read" same 5000 "$(qprof report --format=json foreign.qprof | jq .run.total)"

has_none() { ! LC_ALL=C.UTF-8 grep -qaP "$1" "$2"; }
for name in hostile foreign; do
    for format in $formats; do
        claim "$format of $name is written" qprof export --to=$format -o $name.$format $name.qprof
        case $format in
        pprof) gunzip -c $name.pprof | pprof_text --decode >$name.text 2>complaints ;;
        perfetto)
            protoc -I "$root/tests/export" --decode=perfetto.protos.Trace perfetto.proto \
                <$name.perfetto >$name.text ;;
        sqlite) sqlite3 $name.sqlite 'SELECT name, file FROM functions' >$name.text ;;
        *) cp $name.$format $name.text ;;
        esac
        claim "$format of $name is UTF-8" iconv -f UTF-8 -t UTF-8 -o copy $name.text
        case $format in
        pprof | perfetto) # protoc shows bytes as \ooo
            claim "$format of $name steers no terminal" has_none '\\[01][0-7][0-7](?<!\\012)' $name.text ;;
        *) claim "$format of $name steers no terminal" has_none \
            '[\x00-\x08\x0B\x0C\x0E-\x1F\x7F\x{80}-\x{9F}]' $name.text ;;
        esac
        case $format in
        html) claim "the page of $name has no tag of a name" has_none '<script>alert|</script>"' \
            $name.html ;;
        *)
            claim "$format of $name has all of the time" same \
                "$(qprof report --format=json $name.qprof | jq .run.total)" "$(sum $format $name.$format)" ;;
        esac
        case $format in
        csv | quantify) claim "$format of $name has no formula" has_none '(^|,"|\t)[=@]' $name.text ;;
        callgrind | folded | dot | quantify)
            claim "$format of $name turns no writing direction" has_none '\x{202E}' $name.text ;;
        esac
    done
done
claim "the longest name is whole" same 65535 "$(jq '[.methods[].name | length] | max' hostile.json)"
claim "... in pprof" same 65535 "$(gunzip -c hostile.pprof | pprof_text --decode |
    grep -ao '"n*"' | tr -d '"' | awk '{ if (length > n) n = length } END { print n }')"
claim "a NUL is shown, and no name ends at it" same 'nul?in it' "$(jq -r '.methods[] | .name' foreign.json |
    grep nul)"
finish
