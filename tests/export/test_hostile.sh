#!/bin/sh
# test_hostile.sh: names of all kinds leave every format whole: valid UTF-8, no control character,
# nothing that opens a tag.
. "$(dirname "$0")/lib.sh"
need jq jq
need xmllint libxml2-utils

has_none() { ! LC_ALL=C.UTF-8 grep -nP "$1" "$2"; }
for format in lcov lcov2 cobertura gcovr sonarqube luacov json purecov; do
    write hostile $format >out
    claim "$format is UTF-8" iconv -f UTF-8 -t UTF-8 -o copy out
    claim "$format has no control character" has_none \
        '[\x00-\x08\x0B-\x1F\x7F\x{80}-\x{9F}]' out
    case $format in
    cobertura | sonarqube)
        claim "$format is well-formed" xmllint --nonet --noout --huge out
        claim "$format opens no tag of a name" has_none '<(script|!--|!\[CDATA)' out
        ;;
    gcovr | json) claim "$format is JSON" jq -e . out ;;
    lcov* | luacov | purecov)
        claim "$format has no character that turns the writing direction" has_none '\x{202E}' out
        claim "$format keeps a tab only between fields" same 0 \
            "$(grep -c "$(printf 'tab\tbetween')" out)"
        ;;
    esac
done
write hostile json >out
claim "no name is lost" same "$(($(total hostile functions) / 2))" \
    "$(jq '[.files[].functions[].name] | unique | length' out)"
claim "the longest name is whole" same 65535 "$(jq '[.files[].functions[].name | length] | max' out)"
claim "the picture is about what it says" same '"quoted" '"'twice'" \
    "$(jq -r '.files[0].functions[0].name' out)"
finish
